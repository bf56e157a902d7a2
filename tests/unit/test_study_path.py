"""The path across the interpolation threshold: where its peak stands, and every size against a map of its own."""

import numpy as np
import pandas as pd
import pytest
import study_toys as toys

from random_features.errors import UserError
from random_features.kernels import Gaussian
from random_features.maps import make_map
from rfstudy.scores import approximation_error
from rfstudy.study.kinds import path

GRID = {"rows": 30, "ratios": [0.1, 0.25, 0.5, 0.75, 1, 1.5, 3], "penalty": 1e-12, "penalties": [1e-6, 0.1], "draws": 1}
LAYOUTS = ({"method": "rff", "variant": "", "options": {}},
           {"method": "rff", "variant": "phase", "options": {"layout": "phase"}})  # fmt: skip


def job_of(folder, X, y, repeats=(0,), **grid):
    spec = toys.part(
        experiment="toy",
        kind="path",
        dataset="made",
        kernel={"name": "gaussian"},
        seed=3,
        device="cpu",
        preprocess=["none"],
        bandwidth={"rule": "fixed", "length_scale": 2.0},
        split=None,
        max_rows=None,
        methods=list(LAYOUTS),
        repeats=list(repeats),
        grid=GRID | grid,
    )
    toys.write_data(folder / "made", X, y)
    return toys.job("measure", spec, folder / "made", folder / "journal")


def measured(job):
    rows = [
        own | {"variant": cell.entry["variant"]} for cell in path.cells(job) for own in path.measure(job, cell, None)[0]
    ]
    return pd.DataFrame(rows)


def noise(n=60, d=4, seed=0):
    """Points whose labels have nothing to do with them: all of the error at the threshold is variance."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)).astype(np.float32), rng.permutation(np.repeat([-1, 1], n // 2))


def curve(rows, **wanted):
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    return rows.groupby(rows["n_columns"] / rows["n_train"])["value"].mean()


def test_the_test_error_peaks_where_columns_are_as_many_as_rows(tmp_path):
    rows = measured(job_of(tmp_path, *noise(), repeats=range(6)))
    for variant in ("", "phase"):
        own = rows[(rows["variant"] == variant) & (rows["metric"] == "mse") & (rows["learner"] == path.STATED)]
        tested, trained = curve(own, split="test"), curve(own, split="train")
        assert tested.idxmax() == 1.0
        # below the threshold no interpolation, beyond it nothing else
        assert trained[trained.index < 1].min() > 1e-3
        assert trained[trained.index > 1].max() < 1e-6
        least = curve(rows[rows["variant"] == variant], metric="smallest_singular_value")
        assert least.idxmin() == 1.0
        # a penalty that the training rows choose leaves no peak
        tuned = curve(rows[rows["variant"] == variant], metric="mse", learner=path.CHOSEN, split="test")
        assert tuned[1.0] < 0.2 * tested[1.0]


def test_every_size_is_that_of_a_map_of_its_own(tmp_path):
    job = job_of(tmp_path, *noise(), penalty=1e-3)
    rows = measured(job)
    sample = job.samples.of(0, ["none"])
    X_train = sample.X_train.astype(np.float64)
    seed = path.seed_of(3, "path", "made", "rff", 0)
    for s in (3, 15, 90):
        phi = make_map("rff", kernel=Gaussian(2.0), n_components=s, device="cpu", random_state=seed).fit(X_train)
        Z, Z_test = phi.transform(X_train), phi.transform(sample.X_test.astype(np.float64))
        own = rows[(rows["n_features"] == s) & (rows["variant"] == "")].fillna({"learner": ""})
        own = own.set_index(["metric", "split", "learner"])["value"].to_dict()
        expected = approximation_error(Gaussian(2.0)(X_train), Z @ Z.T)
        assert own["approximation_error_frobenius", "train", ""] == pytest.approx(expected, rel=1e-9)
        coef = np.linalg.lstsq(
            np.vstack([Z, np.sqrt(30 * 1e-3) * np.eye(2 * s)]),
            np.concatenate([sample.y_train, np.zeros(2 * s)]),
            rcond=None,
        )[0]
        for part, features, labels in (("train", Z, sample.y_train), ("test", Z_test, sample.y_test)):
            error = np.mean((features @ coef - labels) ** 2)
            assert own["mse", part, path.STATED] == pytest.approx(error, rel=1e-8)
        wrong = 100 * np.mean(np.where(Z_test @ coef > 0, 1, -1) != sample.y_test)
        assert own["error_pct", "test", path.STATED] == pytest.approx(wrong)


@pytest.mark.parametrize("kinds", [1, 2])
def test_the_first_frequencies_are_taken_of_every_kind_of_column(kinds):
    # column j of kind k is the number 10 k + j
    features = np.concatenate([np.arange(4.0) + 10 * kind for kind in range(kinds)])[None]
    first = path.first_frequencies(features, 2, 4)
    np.testing.assert_allclose(first[0] / np.sqrt(2), [10 * kind + j for kind in range(kinds) for j in (0, 1)])


def test_the_chosen_penalty_has_the_least_error_of_refits():
    rng = np.random.default_rng(4)
    Z, y, grid = rng.normal(size=(10, 6)), rng.choice([-1.0, 1.0], 10), [1e-4, 1e-2, 1.0]
    found = path.penalties_of(path.decompose(Z), y, {"penalty": 1e-8, "penalties": grid})
    errors = []
    for penalty in grid:
        held_out = []
        for i in range(10):
            Zi, yi = np.delete(Z, i, 0), np.delete(y, i)
            coef = np.linalg.solve(Zi.T @ Zi + 10 * penalty * np.eye(6), Zi.T @ yi)
            held_out.append((y[i] - Z[i] @ coef) ** 2)
        errors.append(np.mean(held_out))
    best = grid[int(np.argmin(errors))]
    assert found[path.STATED] == {"penalty": 1e-8}
    assert found[path.CHOSEN]["penalty"] == best
    assert ("at_edge" in found[path.CHOSEN]) == (best in (grid[0], grid[-1]))


def test_more_training_rows_than_asked_for_are_drawn_from(tmp_path):
    job = job_of(tmp_path, *noise(), rows=10)
    rows = measured(job)
    assert set(rows["n_train"]) == {10}
    assert rows["n_features"].max() == 30
    drawn = [path.training_rows(job.spec, 30, 10, i) for i in range(2)]
    assert all(len(set(each)) == 10 for each in drawn)
    assert drawn[0].tolist() != drawn[1].tolist()
    assert path.training_rows(job.spec, 8, 10, 0).tolist() == list(range(8))


def test_the_paths_of_a_repeat_are_told_apart_as_repeats(tmp_path):
    job = job_of(tmp_path, *noise(), repeats=(0, 2), draws=3)
    assert [cell.coordinates["repeat"] for cell in path.cells(job)][::2] == [0, 1, 2, 6, 7, 8]


def test_a_data_set_without_two_classes_is_refused(tmp_path):
    X, _ = noise()
    job = job_of(tmp_path, X, np.linspace(0.0, 1.0, 60))
    with pytest.raises(UserError, match="has not two classes"):
        path.measure(job, path.cells(job)[0], None)


def test_a_map_whose_frequencies_depend_on_one_another_is_refused():
    with pytest.raises(ValueError, match="not of gq, orf"):
        path.check(toys.part(methods=[{"method": "orf"}, {"method": "rff"}, {"method": "gq"}]))
