"""What docs/adding-a-method.md shows works: its blocks are taken out of the page and the study is run with them."""

import json
import re
import sys

import numpy as np
import pytest
from scipy.stats import chi

from random_features.arrays import seed_of
from rfstudy import tidy

TABLES = [f"figures/quick/survey/values-{name}-text.md" for name in ("approximation-error", "accuracy-ridge")]


def run_study(workspace, methods: str) -> None:
    workspace.snakemake(
        "--cores", "2", *TABLES, "--configfile", "by-method.yaml", "--config", "only_experiments=survey-gaussian-text",
        "only_datasets=skin", "repeats=2", "learners={svm: {repeats: 1}}", f"only_methods={methods}",
    )  # fmt: skip


def error_of_the_example(X, row) -> float:
    """The error that the formula of the page gives on training rows, with the chance that the study gives the map."""
    s, d, length_scale = row.n_features, X.shape[1], json.loads(row.settings)["length_scale"]
    seed = seed_of(row.seed, "features", row.dataset, "stratified", s, row.repeat)
    rng = np.random.default_rng(np.random.RandomState(seed).randint(2**32, size=4, dtype=np.uint32))
    u = rng.standard_normal((s, d))
    r = chi(d).ppf((np.arange(s) + rng.uniform(size=s)) / s)
    projections = X @ (r[:, None] * u / np.linalg.norm(u, axis=1, keepdims=True) / length_scale).T
    approximate = (np.cos(projections[:, None] - projections)).mean(axis=2)
    exact = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2 * length_scale**2))
    return float(np.linalg.norm(approximate - exact) / np.linalg.norm(exact))


def test_the_example_joins_the_tables_and_moves_nobody_elses_numbers(workspace, page, plain):
    (workspace.folder / "by-method.yaml").write_text("shard_by: [experiment, dataset, method]\n")
    run_study(workspace, "rff")
    results = workspace.folder / "results/quick/survey-gaussian-text"
    shards = sorted(results.glob("*/skin.rff.*"))
    assert len(shards) == 7  # rows, records and work files of two stages, and the arrays
    before = {path: path.read_bytes() for path in shards}

    files = workspace.sources()
    module, entry = page("adding-a-method.md").blocks("python")
    (line,) = page("adding-a-method.md").blocks("yaml")
    file = workspace.add(module)
    workspace.insert("src/random_features/maps/registry.py", entry, before="}\n\n#: Other names in use")
    path = workspace.folder / "config/experiments/survey.yaml"
    path.write_text(path.read_text().replace("    - {method: orf}\n", line + "    - {method: orf}\n", 1))
    assert workspace.touched(files) == [
        "config/experiments/survey.yaml",
        "src/random_features/maps/registry.py",
        "src/random_features/maps/stratified.py",
    ]
    run_study(workspace, "rff,stratified")

    rows = tidy.read(workspace.folder / "results/quick/survey-gaussian-text.csv")
    own = rows[rows["method"] == "stratified"]
    assert len(own) == len(rows[rows["method"] == "rff"]) > 0
    assert own["status"].eq("ok").all()
    errors = own[own["metric"].eq("approximation_error_frobenius")]
    assert len(errors) == 3 * 2
    for row in plain(errors):
        X = workspace.split_rows("skin", row.repeat)[0].astype(float)
        assert row.value == pytest.approx(error_of_the_example(X, row), rel=1e-4)
    for table in TABLES:
        text = (workspace.folder / table).read_text(encoding="utf-8")
        assert re.search(r"\| stratified +\| +\d", text)
        assert re.search(r"\| RFF +\| +\d", text)
    # whether the penalty that all share suits the new map is asked, and what follows comes from the journals
    assert before == {path: path.read_bytes() for path in shards}

    workspace.environment["PYTHONPATH"] = str(workspace.folder / "src")
    workspace.run(sys.executable, "-m", "doctest", str(file), check=True)
