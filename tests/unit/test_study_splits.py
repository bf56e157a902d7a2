"""Splits of entries of their own: by blocks of rows, without some rows, with folds that follow the blocks."""

import json

import numpy as np
import pytest
import study_toys as toys
import torch
from checkouts import ROOT
from linear_problems import stream
from scipy.spatial.distance import cdist
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from xrfm import xRFM

from random_features.kernels import make_kernel
from random_features.learners.ridge import cross_validate_ridge, fit_ridge
from rfstudy.data.split import block_of_row, fold_of_block, split
from rfstudy.data.target import Target
from rfstudy.planning import config
from rfstudy.study import yardsticks
from rfstudy.study.engine import Cell, kind_cells
from rfstudy.study.kinds import controls, grid, penalties
from rfstudy.study.sample import Sample

N, D = 120, 3

#: Where the exact kernel computes: with arrays, with tensors, and on a GPU.
DEVICES = ["cpu", pytest.param(torch.device("cpu"), id="tensors"), pytest.param("cuda", marks=pytest.mark.cuda)]

RIDGE = toys.RIDGE | {"n_folds": 3}
BLOCKS = {"rule": "blocks", "n_blocks": 12}
STEPS = [
    {"name": "all"},
    {"name": "blocks", "split": BLOCKS},
    {"name": "late", "split": {"rule": "last_blocks", "n_blocks": 12}},
    {"name": "without", "split": {"without": [3, 17, 90]}},
]


@pytest.fixture
def prepared(tmp_path):
    return toys.write_data(tmp_path / "prepared", *toys.labelled(N, D))


def job_of(prepared, tmp_path, stage="train", **changes):
    toy = toys.selected(steps=STEPS, learners={"ridge": RIDGE}, **changes)
    (spec,) = toys.parts(stage, toy)
    return toys.job(stage, spec, prepared, tmp_path / "journal"), toy


def controls_job(folder, tmp_path, *learners):
    """A job of yardsticks on the splits of the steps."""
    unused = dict.fromkeys(("sizes", "approximation", "search"))
    return job_of(folder, tmp_path, "measure", kind="controls", grid={"learners": learners}, **unused)[0]


def rows_behind(prepared, sample_X):
    """Which rows of the data set some rows are."""
    return cdist(sample_X, np.load(prepared / "X.npy")).argmin(axis=1)


def test_every_entry_trains_and_tests_on_the_rows_of_its_own_split(prepared, tmp_path):
    job, _ = job_of(prepared, tmp_path)
    whole = job.samples.of(1, ["none"])
    blocks = job.samples.of(1, ["none"], BLOCKS)
    assert np.array_equal(rows_behind(prepared, blocks.X_train), split(N, None, 1, 3, "blocks", n_blocks=12)[0])
    without = job.samples.of(1, ["none"], {"without": [3, 17, 90]})
    for part in ("X_train", "X_test"):
        kept = [row for row in rows_behind(prepared, getattr(whole, part)) if row not in (3, 17, 90)]
        assert rows_behind(prepared, getattr(without, part)).tolist() == kept
    assert not without.capped
    # a split that is the same in all repeats is one sample
    late = {"rule": "last_blocks", "n_blocks": 12}
    assert job.samples.of(0, ["none"], late) is job.samples.of(3, ["none"], late)
    assert job.samples.of(0, ["none"], BLOCKS) is not job.samples.of(3, ["none"], BLOCKS)


def test_rows_say_how_they_were_split_and_an_entry_without_a_split_shares_its_cells(prepared, tmp_path):
    _, toy = job_of(prepared, tmp_path, repeats=2)
    errors, scores, _ = toys.run_grid(toy, {"made": prepared}, tmp_path)
    for table in (errors, scores):
        reported = {
            row.variant: (own.get("split"), own.get("split_options"))
            for row, own in zip(table.itertuples(), toys.settings_of(table), strict=True)
        }
        assert reported == {
            "all": (None, None),
            "blocks": ("blocks", {"n_blocks": 12}),
            "late": ("last_blocks", {"n_blocks": 12}),
            # a step keeps what those before it changed
            "without": ("last_blocks", {"n_blocks": 12, "without": [3, 17, 90]}),
        }
    assert scores.groupby("variant")["n_train"].unique().map(list).to_dict()["blocks"] == [60]
    plain = toys.selected(learners={"ridge": RIDGE}, repeats=2)
    _, plain, _ = toys.run_grid(plain, {"made": prepared}, tmp_path / "plain")
    assert scores.loc[scores["variant"] == "all", "value"].tolist() == plain["value"].tolist()


@pytest.mark.parametrize("folds", ["rows", "blocks"])
def test_folds_follow_the_blocks_where_the_split_says_so(prepared, tmp_path, folds):
    """The penalty of every cell is the one that the folds written out here choose."""
    tried = np.geomspace(1e-6, 10, 29).tolist()
    methods, learners = [{"method": "rff", "split": BLOCKS}], {"ridge": RIDGE | {"penalties": tried}}
    toy = toys.selected(methods=methods, split={"folds": folds}, learners=learners)
    _, scores, _ = toys.run_grid(toy, {"made": prepared}, tmp_path)
    job = toys.job("train", toys.parts("train", toy)[0], prepared, tmp_path / "j")
    expected = []
    for repeat in range(4):
        sample = job.samples.of(repeat, ["none"], BLOCKS | {"folds": folds})
        block = block_of_row(N, 12)[rows_behind(prepared, sample.X_train)]
        assert (sample.train_blocks is None) == (folds == "rows")
        fold = fold_of_block(block if folds == "blocks" else np.arange(60), 3, 3, "train", repeat)
        (cell,) = grid.grid_cells(job.spec | {"repeats": [repeat]}, {}, D, "ridge")
        phi = grid.map_of(job, cell)[0].fit(sample.X_train)
        Z, Y = phi.transform(sample.X_train), sample.y_train[:, None].astype(float)
        means = cross_validate_ridge(stream(Z), Y, tried, fold, n_columns=Z.shape[1]).mean(axis=1)
        expected.append(max(value for value, mean in zip(tried, means, strict=True) if mean > means.max() - 1e-9))
    assert [json.loads(text)["penalty"] for text in scores["settings"]] == expected


def rows_and_sample(job, cell):
    """The rows of yardsticks, and the training and test rows that they are about."""
    sample = job.samples.of(cell.coordinates["repeat"], ["none"], cell.conditions["split"])
    return toys.measured(controls, job, cell)[0], sample


def test_controls_against_what_they_are(prepared, tmp_path):
    job = controls_job(prepared, tmp_path, "nearest_neighbour", "majority")
    cells = controls.cells(job)
    assert [(cell.coordinates["variant"], cell.coordinates["repeat"]) for cell in cells] == [
        (step["name"], repeat) for repeat in range(4) for step in STEPS
    ]
    for cell in cells:
        rows, sample = rows_and_sample(job, cell)
        nearest = sample.y_train[cdist(sample.X_test, sample.X_train).argmin(axis=1)]
        most = 1 if (sample.y_train == 1).mean() > 0.5 else -1
        found = {(row["metric"], row.get("learner"), row["split"]): row["value"] for row in rows}
        assert found == {
            ("class_share_pct", None, "train"): pytest.approx(100 * (sample.y_train == 1).mean()),
            ("class_share_pct", None, "test"): pytest.approx(100 * (sample.y_test == 1).mean()),
            ("accuracy_pct", "nearest_neighbour", "test"): pytest.approx(100 * (nearest == sample.y_test).mean()),
            ("accuracy_pct", "majority", "test"): pytest.approx(100 * (sample.y_test == most).mean()),
            ("auc_pct", "nearest_neighbour", "test"): pytest.approx(
                np.mean([100 * (nearest == each)[sample.y_test == each].mean() for each in (-1, 1)])
            ),
            ("auc_pct", "majority", "test"): 50.0,
        }
        assert {(row["variant"], row["repeat"]) for row in rows} == {tuple(cell.coordinates.values())}


def test_yardsticks_of_test_rows_of_one_class_have_no_roc_curve(tmp_path):
    X, y = toys.labelled(N, D)
    job = controls_job(toys.write_data(tmp_path / "sorted", X, np.sort(y)), tmp_path, "majority")
    late = next(cell for cell in controls.cells(job) if cell.coordinates["variant"] == "late")
    rows = {row["metric"]: row for row in toys.measured(controls, job, late)[0] if row.get("learner")}
    assert rows["auc_pct"]["status"] == "skipped"
    assert rows["auc_pct"]["settings"]["reason"] == "the ROC curve needs two labels among the test rows"
    assert rows["accuracy_pct"]["value"] in (0.0, 100.0)


def test_yardsticks_of_a_regression_are_means_lines_and_trees(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, D)).astype(np.float32)
    folder = toys.write_data(tmp_path / "numbers", X, X[:, 0] + 0.1 * rng.normal(size=N), target="regression")
    job = controls_job(folder, tmp_path, "majority", "linear", "boosting")
    rows, sample = rows_and_sample(job, controls.cells(job)[0])
    found = {row["learner"]: row["value"] for row in rows}
    assert {row["metric"] for row in rows} == {"rmse"}
    assert found["majority"] == pytest.approx(np.sqrt(np.mean((sample.y_test - sample.y_train.mean()) ** 2)))
    assert found["linear"] < 0.15 < found["boosting"] < found["majority"]


def test_the_linear_classifier_chooses_its_penalty_on_random_folds():
    """A class of two kinds, one after the other: in folds in this order, a kind that was not seen tests."""
    rng = np.random.default_rng(8)
    centres = np.repeat([[0, 0, 0], [1.5, 0, 0], [0, 1.5, 0], [0, 0, 1.5]], [200, 100, 100, 100], axis=0)
    X, y = centres + 0.3 * rng.normal(size=(500, 3)), np.repeat([0, 1], [200, 300])
    test = rng.permutation(500)[:100]
    train = np.setdiff1d(np.arange(500), test)
    sample = Sample(X[train], y[train], X[test], y[test], capped=False)
    predicted, _, _ = yardsticks.predicted("linear", sample, Target("binary"), 1)
    assert (predicted == y[test]).mean() > 0.9


@pytest.mark.parametrize("most", [15000, 100])
@pytest.mark.parametrize("device", DEVICES)
def test_the_exact_kernel_is_the_regression_of_the_settings_that_it_reports(device, most, monkeypatch):
    monkeypatch.setattr(yardsticks, "BY_CHOLESKY", most)
    monkeypatch.setattr(yardsticks, "block_rows", lambda bytes_per_row, device: most)
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 2))
    y = np.where(np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=400) > 0, 7, 3)
    sample = Sample(X[:300], y[:300], X[300:], y[300:], capped=False)
    predicted, found, settings = yardsticks.predicted("exact_kernel", sample, Target("binary"), 1, device=device)
    kernel = make_kernel({"name": "gaussian", "length_scale": settings["length_scale"]})
    shifted = kernel(X[:300]) + 300 * settings["penalty"] * np.eye(300)
    decision = kernel(X[300:], X[:300]) @ np.linalg.solve(shifted, np.where(y[:300] == 7, 1.0, -1.0))
    assert np.array_equal(predicted, np.where(decision > 0, 7, 3))
    assert found[:, 0] == pytest.approx(decision, abs=1e-5)  # conjugate gradients end at 1e-6
    assert ("steps" in settings) == (most < 300)
    linear = yardsticks.predicted("linear", sample, Target("binary"), 1)[0]
    assert (predicted == y[300:]).mean() > 0.85 > (linear == y[300:]).mean()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("splits", "held_out"), [(1, 0.5), (3, 0.25)])
def test_the_exact_kernel_chooses_as_a_grid_search_over_its_splits_does(splits, held_out, device):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 2))
    y = np.sin(2 * X[:, 0]) + 0.5 * rng.normal(size=300)
    sample, penalties = Sample(X[:200], y[:200], X[200:], y[200:], capped=False), 4.0 ** np.arange(3, -11, -1)
    how = {"factors": [4, 1, 0.25], "penalties": penalties.tolist(), "splits": splits, "held_out": held_out}
    *_, settings = yardsticks.predicted("exact_kernel", sample, Target("regression"), 1, 200, device=device, **how)
    order, fitted = np.random.default_rng(1), round(200 * (1 - held_out))
    rows = order.permutation(200)
    gammas = 0.5 / (np.array([4, 1, 0.25]) * yardsticks.median_distance(X[rows], order)) ** 2
    tried, cv = {"gamma": gammas, "alpha": penalties * fitted}, ShuffleSplit(splits, test_size=held_out, random_state=0)
    search = GridSearchCV(KernelRidge(kernel="rbf"), tried, scoring="neg_mean_squared_error", cv=cv)
    search.fit(X[rows], y[rows] - y[:200].mean())
    assert settings["penalty"] * fitted == pytest.approx(search.best_params_["alpha"])
    assert 0.5 / settings["length_scale"] ** 2 == pytest.approx(search.best_params_["gamma"])


@pytest.mark.parametrize("kind", ["regression", "classes"])
def test_conjugate_gradients_fit_the_exact_kernel_as_cholesky_does(monkeypatch, kind):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(500, 2))
    signal = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=500)
    y = 1000 + signal if kind == "regression" else np.digitize(signal, [-1, 1])
    sample, target = Sample(X[:400], y[:400], X[400:], y[400:], capped=False), Target(kind)
    direct, _, settings = yardsticks.predicted("exact_kernel", sample, target, 1, 400)
    assert "residual" not in settings
    monkeypatch.setattr(yardsticks, "BY_CHOLESKY", 100)
    streamed, _, own = yardsticks.predicted("exact_kernel", sample, target, 1, 400)
    assert own.pop("residual") <= yardsticks.TOLERANCE
    assert own.pop("steps") > 0
    assert own == settings
    if kind == "classes":
        assert np.array_equal(streamed, direct)
    else:
        assert np.allclose(streamed, direct, atol=1e-3)
        assert np.sqrt(np.mean((streamed - y[400:]) ** 2)) < 0.15 * np.std(y)
    assert yardsticks.predicted("exact_kernel", sample, target, 1, 200)[2]["rows"] == 200


@pytest.mark.parametrize("options", [{}, {"mode": "code"}])
def test_the_walk_over_penalties_is_one_fit_each(prepared, tmp_path, options):
    axes = {"multiples_of_d": [2, 4], "penalties": [1e-3, 0.1, 10.0]}
    method = {"method": "lsrff" if options else "rff", "options": options}
    unused = dict.fromkeys(("sizes", "approximation", "search", "learners"))
    (spec,) = toys.parts("measure", toys.selected(kind="penalties", grid=axes, methods=[method], **unused))
    job = toys.job("measure", spec, prepared, tmp_path / "journal")
    cells = kind_cells(job)
    assert len(cells) == 4 * 2
    for cell in cells[:2]:
        rows, _ = toys.measured(penalties, job, cell)
        sample = job.samples.of(cell.coordinates["repeat"], ["none"])
        at = {"n_features": [cell.coordinates["multiple_of_d"] * D], "repeat": cell.coordinates["repeat"]}
        own = {"preprocess": ["none"], "length_scale": 2.0, "bandwidth": None}
        phi = grid.map_of(job, Cell(cell.entry, at, own))[0].fit(sample.X_train, sample.y_train)
        Z, T = (phi.transform(X) for X in (sample.X_train, sample.X_test))
        squared = float((Z.astype(float) ** 2).sum() / len(Z))
        (length,) = [row["value"] for row in rows if row["metric"] == "mean_squared_length"]
        assert length == pytest.approx(squared, rel=1e-6)
        assert (squared == pytest.approx(1, rel=1e-5)) == (not options)
        for row in rows[1:]:
            penalty = row["at"] * (squared if row["axis"] == "effective_penalty" else 1)
            Y = sample.y_train[:, None].astype(float)
            model = fit_ridge(stream(Z), Y, penalty, n_columns=Z.shape[1], scaling="sum")
            predicted = np.where(model.decision(T)[:, 0] > 0, 1, -1)
            assert row["value"] == pytest.approx(100 * (predicted == sample.y_test).mean())
        places = [(row["axis"], row["at"]) for row in rows[1:]]
        assert places == [(axis, at) for axis in ("penalty", "effective_penalty") for at in axes["penalties"]]


def test_the_shipped_splits_take_the_rows_that_the_page_names():
    experiments = config.load_experiments(ROOT / "config")
    spikes = [experiments[name] for name in experiments if name.startswith("eeg-spikes")]
    assert len(spikes) == 3
    for experiment in spikes:
        taken = {tuple(entry["split"]["without"]) for entry in experiment["methods"] if "split" in entry}
        assert taken == {(898, 10386, 11509, 13179)}


@pytest.mark.parametrize("kind", ["regression", "binary", "classes"])
def test_xrfm_is_the_package_on_standardised_targets_and_gives_labels_back(kind):
    X = np.random.default_rng(9).normal(size=(500, 3)).astype(np.float32)
    signal = np.sin(2 * X[:, 0]) + X[:, 1]
    classes = np.where(signal > 0, 7, 3) if kind == "binary" else np.digitize(signal, [-1, 1])
    y = 1000 + 50 * signal if kind == "regression" else classes
    sample, target = Sample(X[:400], y[:400], X[400:], y[400:], capped=False), Target(kind)
    predicted, decision, settings = yardsticks.predicted("xrfm", sample, target, 1, 300)
    assert settings == {"rows": 300}
    rows = np.random.default_rng(1).permutation(400)[:300]
    validated, fitted = rows[:60], rows[60:]
    of_targets = np.unique(y, return_inverse=True)[1].astype(np.int64)
    if kind == "regression":
        of_targets = ((y - y[rows].mean()) / y[rows].std()).astype(np.float32)
    model = xRFM(device="cpu", verbose=False, random_state=1)
    model.fit(X[fitted], of_targets[fitted], X[validated], of_targets[validated])
    if kind == "regression":
        assert predicted == pytest.approx(model.predict(X[400:])[:, 0] * y[rows].std() + y[rows].mean(), rel=1e-4)
        assert np.sqrt(np.mean((predicted - y[400:]) ** 2)) < 0.2 * np.std(y)
        assert decision is None
        return
    assert np.array_equal(predicted, np.unique(y)[model.predict(X[400:])])
    assert (predicted == y[400:]).mean() > 0.9
    assert (decision is None) == (kind == "classes")
    if kind == "binary":
        assert np.array_equal(predicted == 7, decision > 0.5)
