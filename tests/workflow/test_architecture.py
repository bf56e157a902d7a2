"""What docs/architecture.md shows works: its blocks are applied to a copy of the repository and the rows come out.

Every recipe is held to the number of files that the page states, and its rows to numbers that are computed here in
another way.
"""

import json

import numpy as np
import pytest

from random_features.arrays import seed_of, seed_sequence
from random_features.kernels import Gaussian
from random_features.maps import make_map
from rfstudy import tidy

SEED = 2021


def run(workspace, experiment: str, *settings: str):
    """The rows of one experiment under the quick preset."""
    results = f"results/quick/{experiment}.csv"
    workspace.snakemake("--cores", "2", results, "--config", f"only_experiments={experiment}", *settings)
    return tidy.read(workspace.folder / results)


def test_a_kernel(workspace, page, plain):
    before = workspace.sources()
    (kernel,) = page("architecture.md").blocks("python", "A kernel")
    (experiment,) = page("architecture.md").blocks("yaml", "A kernel")
    workspace.add(kernel)
    workspace.add(experiment)
    assert workspace.touched(before) == ["config/experiments/sinc.yaml", "src/random_features/kernels/sinc.py"]
    rows = run(workspace, "sinc-decay", "repeats=2")

    assert list(rows["repeat"]) == [0, 1]
    assert rows["kernel"].eq("sinc").all()
    for row in plain(rows):
        X = np.random.default_rng(seed_sequence(SEED, "decay", 16, row.repeat)).standard_normal((200, 16)) / np.sqrt(32)
        u = (X[:, None] - X) / 0.25
        exact, twice = (np.prod(np.sinc(factor * u / np.pi), axis=2) for factor in (1, 2))
        variance = (1 + twice - 2 * exact**2) / (
            2 * 256
        )  # of the mean of 256 cosines; of the Gaussian kernel 3.7 times
        assert row.value**2 == pytest.approx(variance.mean() / (exact**2).mean(), rel=0.2)


def test_a_learner(workspace, page, plain):
    before = workspace.sources()
    (module,) = page("architecture.md").blocks("python", "A learner")
    (experiment,) = page("architecture.md").blocks("yaml", "A learner")
    workspace.add(module)
    workspace.add(experiment)
    assert workspace.touched(before) == ["config/experiments/diagonal.yaml", "src/random_features/learners/diagonal.py"]
    rows = run(workspace, "slsrff-diagonal", "only_datasets=magic04", "only_methods=rff", "only_sizes=2d", "repeats=3")

    rows = rows[rows["learner"].eq("diagonal")]
    assert list(rows["repeat"]) == [0, 1, 2]
    for row in plain(rows):
        X, y, X_test, y_test = workspace.split_rows("magic04", row.repeat)
        seed = seed_of(SEED, "features", "magic04", "rff", row.n_features, row.repeat)
        phi = make_map("rff", Gaussian(np.sqrt(0.5)), n_components=row.n_features, device="cpu", random_state=seed)
        Z, Z_test = phi.fit_transform(X).astype(float), phi.transform(X_test).astype(float)
        settings = json.loads(row.settings)
        assert settings["solver"] == "diagonal"
        assert settings["shrinkage"] in (1e-4, 0.01)
        means = [Z[y == label].mean(axis=0) for label in (-1, 1)]
        within = np.concatenate([Z[y == label] - mean for label, mean in zip((-1, 1), means, strict=True)])
        weights = 1 / ((within**2).mean(axis=0) + settings["shrinkage"])
        distances = np.stack([((Z_test - mean) ** 2 * weights).sum(axis=1) for mean in means])
        accuracy = 100 * np.mean(np.where(distances[1] < distances[0], 1, -1) == y_test)
        assert row.value == pytest.approx(accuracy, abs=1e-9)


def test_a_kind_of_experiment(workspace, page, plain):
    before = workspace.sources()
    (module,) = page("architecture.md").blocks("python", "A kind of experiment")
    (experiment,) = page("architecture.md").blocks("yaml", "A kind of experiment")
    workspace.add(module)
    workspace.add(experiment)
    assert workspace.touched(before) == ["config/experiments/spectrum.yaml", "src/rfstudy/study/kinds/spectrum.py"]
    rows = run(workspace, "spectrum-check", "repeats=2")

    rows = rows[rows["metric"].eq("effective_dimension")]
    assert rows.groupby("method").size().to_dict() == {"": 2 * 2, "rff": 2 * 2}
    with np.load(workspace.folder / "results/quick/spectrum-check/measure/magic04.npz") as stored:
        arrays = dict(stored)
    assert set(arrays) == {f"magic04/{cell}/eigenvalues" for cell in ("0", "1", "rff/4096/0", "rff/4096/1")}
    for row in plain(rows):
        X = workspace.split_rows("magic04", row.repeat)[0][:150].astype(float)
        length_scale = json.loads(row.settings)["length_scale"]
        distances = ((X[:, None] - X) ** 2).sum(axis=2)
        K = np.exp(-distances / (2 * length_scale**2))
        expected = np.trace(np.linalg.solve(K + 150 * row.at * np.eye(150), K))
        assert row.value == pytest.approx(expected, rel=0.1 if row.method else 1e-6)
        # the diagonal of the kernel, and of these features, is 1
        name = f"rff/4096/{row.repeat}" if row.method else str(row.repeat)
        assert arrays[f"magic04/{name}/eigenvalues"].sum() == pytest.approx(150, rel=1e-4)
