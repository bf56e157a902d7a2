"""Every row that the stages write, against the naive twin: small experiments of each kind and protocol.

The experiments share one journal, as those of a preset do: a cell that is taken for another one shows as a wrong row.
The last tests hold that each experiment shows what it is there for, so that no change of the made data blinds it.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from rfstudy.arrays import set_threads

from . import adapter, chain, kinds

#: What tells rows apart.
KEY = (
    "dataset", "method", "variant", "n_features_label", "axis", "at", "repeat", "split", "learner", "metric",
)  # fmt: skip


# --- made data --------------------------------------------------------------------------------------------------------


def made(n: int, d: int, *, seed: int, n_classes: int = 2, noise: float = 0.3, constant: bool = False, **known):
    """Columns of different location and length; the classes are the sign, or the thirds, of a noisy wave across two of
    them. ``constant``: the last column does not vary in the published training rows, and does in the others.
    """
    generator = np.random.default_rng(seed)
    U = generator.standard_normal((n, d))
    wave = np.sin(2 * U[:, 0]) + U[:, 1] * U[:, 0] / 2 + noise * generator.standard_normal(n)
    X = U * 4.0 ** np.arange(d) / 4 + np.arange(d)
    if constant:
        X[: known["n_train"], -1] = 1.5
    y = np.searchsorted(np.quantile(wave, np.arange(1, n_classes) / n_classes), wave)
    labels = np.array([-1, 1]) if n_classes == 2 else np.arange(n_classes) + 4
    return chain.Data(X.astype(np.float32), labels[y], **known)


PENALTIES = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0]
RIDGE = {"scaling": "mean", "center": "targets", "penalties": PENALTIES, "n_folds": 5}
SVM = {"C": [0.1, 1, 10, 100], "n_folds": 3}
FACTS = {
    "minimum_train": -3.25, "minimum_test": 2, "class_order_train": "mixed", "spike_rows": 3,
    "spike_rule": "far off", "constant_columns_test": [2, 3],
}  # fmt: skip

SINGULAR = chain.Grid(
    name="twin-singular",
    protocol="text",
    data={"plane": made(130, 2, seed=6, noise=0.1, n_train=64)},
    scaling={"plane": ["standard"]},
    methods=[
        {"method": "rff"},
        {"method": "gq", "options": {"n_nodes": 2}},
        {
            "method": "gq",
            "variant": "hopeless",
            "options": {"n_nodes": 2},
            "learners": {"ridge": {"penalties": [1e-25, 1e-20]}},
        },
        {"method": "lsrff", "variant": "hopeless", "options": {"penalty": 1e-300}, "length_scale": 1e6},
    ],
    sizes={"values": [8, 16]},
    bandwidth={"value": 0.8},
    learners={"ridge": RIDGE | {"penalties": [1e-25, 1e-20, 0.3, 3.0]}},
    tuning="shared",
)

TUNED = chain.Grid(
    name="twin-tuned",
    protocol="tuned",
    data={"halves": made(121, 4, seed=1)},
    scaling={"halves": ["minmax"]},
    methods=[
        {"method": "rff"},
        {"method": "lsrff", "variant": "code", "options": {"mode": "code", "penalty": 0.05}},
        {"method": "slsrff", "options": {"mode": "text"}},
    ],
    sizes={"values": [6, 11]},
    # equal scalings and nearly equal length scales: what is as good as another
    bandwidth={
        "grid": [0.3, 1, 1.00001, 3],
        "scalings": [["standard_rows"], ["minmax"], ["none", "minmax"], ["standard"]],
    },
    learners={"ridge": RIDGE | {"center": "both", "penalties": PENALTIES[::2], "n_folds": 3}, "svm": SVM},
    tuning="per_method",
    svm_repeats=1,
    norm="l2",
    repeats=4,
)  # fmt: skip

GRIDS = {
    # the survey's text: one bandwidth and one penalty a size for everyone, of plain random Fourier features
    "text": chain.Grid(
        name="twin-text",
        protocol="text",
        data={"halves": made(121, 4, seed=1, stand_in="made (stand-in for nothing)", facts=FACTS)},
        scaling={"halves": ["minmax"]},
        methods=[
            {"method": "rff"},
            {"method": "qmc", "options": {"sequence": "halton"}},
            {"method": "lsrff", "options": {"mode": "text", "penalty": 0.01}},
            {"method": "slsrff", "options": {"mode": "text", "center_targets": False}},
            {"method": "ssr", "options": {"weights": "signed"}},
            {"method": "sgq", "options": {"node": "sqrt_3"}},
        ],
        sizes={"multiples_of_d": [1, 2, 8]},
        bandwidth={"grid": [0.1, 0.2, 0.8, 0.80001], "multiple_of_d": 2},  # two of which are as good
        learners={"ridge": RIDGE, "svm": SVM},
        tuning="shared",
        error_rows=40,
        repeats=3,
        svm_limit=3000,
    ),
    # every cell its own penalty; three classes, published parts, choices on a part of the training rows
    "per-cell": chain.Grid(
        name="twin-per-cell",
        protocol="text",
        data={"parts": made(140, 5, seed=2, n_classes=3, n_train=80, constant=True)},
        scaling={"parts": ["standard", "minmax_symmetric"]},
        methods=[
            {"method": "rff"},
            {"method": "rff", "variant": "phase", "options": {"layout": "phase"}},
            {"method": "slsrff"},
            {"method": "nystroem"},
        ],
        sizes={"multiples_of_d": [2, 3]},
        bandwidth={"grid": [0.2, 0.5, 1.0], "multiple_of_d": 3},
        learners={"ridge": RIDGE, "svm": SVM | {"n_folds": 2}},
        tuning="per_cell",
        tuning_cap=50,
        svm_solver="auto",
        error_rows=30,
        norm="sup",
    ),
    # the code of a group: rows standardised, no factor n, centred labels; a cap that reaches both parts, one, or none
    "code": chain.Grid(
        name="twin-code",
        protocol="code",
        data={
            "halves": made(121, 4, seed=1),
            "parts": made(100, 4, seed=3, n_train=40),
            "few": made(70, 4, seed=5),
        },
        scaling={"halves": ["standard_rows"], "parts": ["standard"], "few": ["standard_rows"]},
        methods=[
            {"method": "rff"},
            {"method": "sgq", "options": {"node": "sqrt_3"}},
            {"method": "lsrff", "options": {"mode": "code", "penalty": 0.05}},
            {"method": "slsrff", "options": {"mode": "code", "center_targets": False}},
            {"method": "slsrff", "variant": "identity", "options": {"mode": "code", "identity": True}},
        ],
        sizes={"multiples_of_d": [1, 2, 4]},
        largest_multiple_of_d={"parts": 2, "few": 1},
        bandwidth={"value": 1.0},
        learners={"ridge": RIDGE | {"scaling": "sum", "n_folds": 3}},
        tuning="per_cell",
        norm="spectral",
        cap=52,
    ),
    # scaling, bandwidth and penalty of every method at every size, for all repeats or for every repeat by itself
    "tuned": TUNED,
    "tuned-per-cell": replace(
        TUNED,
        name="twin-tuned-per-cell",
        sizes={"values": [6]},
        learners={"ridge": TUNED.learners["ridge"]},
        tuning="per_cell",
        tuning_cap=45,
        repeats=3,
    ),
    # from text to code, one decision at a time, beside an entry that is in no step
    "walk": chain.Grid(
        name="twin-walk",
        protocol="code",
        data={"halves": made(121, 4, seed=1), "parts": made(90, 4, seed=3, n_train=40)},
        scaling={"halves": ["minmax"], "parts": ["minmax"]},
        methods=[
            {"method": "rff"},
            {"method": "slsrff", "options": {"mode": "text", "center_targets": False}},
            {
                "method": "rff",
                "variant": "smaller-penalty",
                "scaling": {"halves": ["standard_rows"]},
                "length_scale": 1.5,
                "learners": {"ridge": {"scaling": "per_column"}},
            },
        ],
        steps=[
            {"name": "text"},
            {"name": "rows", "scaling": {"halves": ["standard_rows"]}},
            {"name": "bandwidth", "length_scale": 2.0},
            {"name": "no-factor-n", "learners": {"ridge": {"scaling": "sum"}}},
            {"name": "centred", "learners": {"ridge": {"center": "both"}}},
            {"name": "folds", "learners": {"ridge": {"n_folds": 3}}},
            {"name": "code", "methods": ["slsrff"], "options": {"mode": "code"}},
        ],
        sizes={"multiples_of_d": [3]},
        bandwidth={"value": 0.5**0.5},
        learners={"ridge": RIDGE | {"center": "none"}},
        tuning="per_cell",
    ),
    # a map with equal features: the penalty that is best for others leaves its system singular; a map without a fit
    "singular": SINGULAR,
    "singular-per-cell": replace(SINGULAR, name="twin-singular-per-cell", tuning="per_cell"),
    # nothing to choose from where the data could not be had
    "missing": chain.Grid(
        name="twin-missing",
        protocol="text",
        data={
            "nowhere": made(20, 4, seed=1, missing="the address does not answer"),
            "parts": made(90, 4, seed=3, n_train=40),
        },
        scaling={"nowhere": ["none"], "parts": ["none"]},
        methods=[{"method": "rff"}],
        sizes={"multiples_of_d": [1]},
        bandwidth={"value": 4.0},
        learners={"ridge": RIDGE, "svm": SVM},
        tuning="shared",
        svm_solver="liblinear",
    ),
}  # fmt: skip


MEASUREMENTS = {
    "variance": kinds.Measurement(
        kind="variance",
        name="twin-variance",
        paper="survey",
        methods=[
            {"method": "rff"},
            {"method": "sorf"},
            {"method": "qmc", "variant": "sobol", "options": {"sequence": "sobol"}},
            {"method": "ssr", "variant": "signed", "options": {"weights": "signed"}},
        ],
        axes={"distances": [0.3, 1.5], "dimensions": [3, 4], "multiples_of_d": [2], "draws": 12},
    ),
    "decay": kinds.Measurement(
        kind="decay",
        name="twin-decay",
        paper="survey",
        methods=[{"method": "rff"}, {"method": "orf"}],
        axes={
            "rows": 25, "dimensions": [2, 5], "n_features": [8, 32], "ridge": 0.01,
            "norms": ["sup", "l2", "frobenius", "spectral", "delta_spectral"],
        },
    ),
    "surrogate": kinds.Measurement(
        kind="surrogate",
        name="twin-surrogate",
        methods=[{"method": "slsrff"}, {"method": "slsrff", "variant": "identity", "options": {"identity": True}}],
        axes={"dimensions": [2, 3], "sample_sizes": [10, 20], "penalties": [0.001, 1.0], "draws": 15},
    ),
    "requirement": kinds.Measurement(
        kind="requirement",
        name="twin-requirement",
        kernel="circle",
        circle=adapter.circle,
        methods=[
            {"method": "rff"},
            {"method": "lsrff", "options": {"mode": "text"}},
            {"method": "slsrff", "options": {"mode": "text", "center_targets": False}},
            {"method": "lsrff", "variant": "whole", "options": {"pool": "whole"}},
            {"method": "slsrff", "variant": "whole", "options": {"pool": "whole", "identity": True}},
        ],
        axes={
            "decays": ["exponential", "polynomial", "slowest"], "sample_sizes": [20, 30],
            "n_features": [4, 8, 16, 32], "terms": 40, "draws": 2, "test_rows": 25, "tolerance": 0.05,
        },
    ),
    "memory": kinds.Measurement(
        kind="scaling",
        name="twin-memory",
        paper="survey",
        methods=[{"method": "rff"}, {"method": "rff", "variant": "phase", "options": {"layout": "phase"}}],
        axes={"rows": 10, "fixed_dimension": 8, "n_features": [16, 32], "fixed_n_features": 16, "dimensions": [4, 8]},
    ),
}  # fmt: skip


# --- the comparison ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Everything here is small: threads would wait for each other."""
    set_threads(1)


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    """One folder of finished cells for all experiments of these tests."""
    return tmp_path_factory.mktemp("journal")


@pytest.fixture(scope="module")
def twins():
    """The twin's rows by experiment, each computed once."""
    computed = {}

    def of(study):
        if study.name not in computed:
            twin = chain if isinstance(study, chain.Grid) else kinds
            computed[study.name] = twin.rows(study)
        return computed[study.name]

    return of


def by_key(rows: list[dict]) -> dict[tuple, dict]:
    """The rows by what tells them apart; no two may be alike in that."""
    found = {}
    for row in rows:
        key = tuple(round(value, 12) if isinstance(value, float) else value for value in map(row.get, KEY))
        assert key not in found, f"two rows of {key}"
        found[key] = row
    return found


def assert_same_rows(found: list[dict], expected: list[dict]) -> None:
    """Row by row: every column equal, numbers to rounding, accuracies to the test rows that hang on rounding."""
    found, expected = by_key(found), by_key(expected)
    assert set(found) == set(expected)
    for key, row in found.items():
        assert_same_row(row, expected[key], key)


def assert_same_row(row: dict, twin: dict, key: tuple) -> None:
    """One row of the stages and the twin's."""
    row, twin = dict(row), dict(twin)
    settings, twin_settings = dict(row.pop("settings")), dict(twin.pop("settings"))
    assert set(settings) == set(twin_settings), key
    assert twin_settings.pop("reason", "") in settings.pop("reason", ""), key
    assert settings == twin_settings, key
    slack = 100 * twin.pop("doubtful", 0) / twin.get("n_test", 1) + 1e-9 if row["metric"] == "accuracy_pct" else 1e-12
    for column in ("value", "spread"):
        value = twin.pop(column, None)
        assert row.pop(column, None) == (None if value is None else pytest.approx(value, rel=1e-5, abs=slack)), key
    assert row == twin, key


@pytest.mark.parametrize("name", GRIDS)
def test_every_row_of_a_grid(name, tmp_path, journal, twins):
    assert_same_rows(adapter.rows_of_the_chain(GRIDS[name], tmp_path, journal), twins(GRIDS[name]))


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_every_row_of_a_measurement(name, tmp_path, journal, twins):
    assert_same_rows(adapter.rows_of_the_chain(MEASUREMENTS[name], tmp_path, journal), twins(MEASUREMENTS[name]))


@pytest.mark.parametrize("name", ["text", "missing"])
def test_one_job_a_method_and_repeat_gives_the_same_rows(name, tmp_path, twins):
    found = adapter.rows_of_the_chain(GRIDS[name], tmp_path, tmp_path / "journal", cut="many")
    assert_same_rows(found, twins(GRIDS[name]))


# --- what the experiments show ----------------------------------------------------------------------------------------


@pytest.fixture
def shown(twins):
    """By experiment and metric: the twin's rows, settings beside the columns."""

    def of(name, metric="accuracy_pct"):
        rows = twins({**GRIDS, **MEASUREMENTS}[name])
        return [{**row["settings"], **row} for row in rows if row["metric"] == metric]

    return of


def values(rows: list[dict], *names: str) -> set:
    """What rows have in one column or setting, or in several."""
    found = {tuple(tuple(v) if isinstance(v := row.get(name), list) else v for name in names) for row in rows}
    return {value for (value,) in found} if len(names) == 1 else found


def test_shown_by_the_text(shown):
    scores, errors = shown("text"), shown("text", "approximation_error_frobenius")
    ridge = [row for row in scores if row["learner"] == "ridge" and row["status"] == "ok"]
    assert values(scores, "n_train", "n_test") == {(61, 60)}  # an odd number of rows: the larger half trains
    assert values(scores, "solver") == {"primal", "dual", "newton", None}
    assert values(scores, "learner", "status") == {(f, s) for f in ("ridge", "svm") for s in ("ok", "skipped")}
    assert any("columns are over" in row.get("reason", "") for row in scores)
    assert values([row for row in scores if row["learner"] == "svm"], "repeat") == {0, 1}
    assert values(ridge, "repeat") == {0, 1, 2}
    assert len(values(ridge, "penalty")) > 1  # by size
    assert values(ridge, "length_scale") == {0.80001}  # of equally good ones the largest
    assert values(ridge, "shared_by", "chosen_on") == {("size", (0, 1, 2))}
    assert values(errors, "shared_by", "chosen_on") == {("experiment", (0, 1, 2))}
    assert values(errors, "estimate") == {None, "approximate_kernel"}
    assert values(errors, "rows") == {40, None}
    assert values(shown("text", "fact_class_order"), "split", "detail") == {("train", '"mixed"')}


def test_shown_by_choices_per_cell(shown):
    cell = ("method", "variant", "n_features_label")
    for name, learner, chosen in (
        ("per-cell", "ridge", "penalty"),
        ("per-cell", "svm", "C"),
        ("code", "ridge", "penalty"),
    ):
        rows = [row for row in shown(name) if row["learner"] == learner]
        assert len(values(rows, *cell, chosen)) > len(values(rows, *cell))  # differ between repeats
        assert len(values(rows, chosen)) > 2
        assert values([row for row in rows if row["status"] == "ok"], "shared_by", "chosen_on") == {("cell", None)}


def test_shown_by_the_cap(shown):
    rows = shown("code")
    assert values(rows, "dataset", "n_train", "n_test", "capped") == {
        ("halves", 52, 52, True),
        ("parts", 40, 52, True),
        ("few", 35, 35, False),
    }
    assert values(rows, "capped", "status") == {(c, s) for c in (True, False) for s in ("ok", "skipped")}


def test_shown_by_methods_that_choose_for_themselves(shown):
    rows = [row for row in shown("tuned") if row["learner"] == "ridge"]
    assert len(values(rows, "preprocess", "length_scale")) > 2
    # of equally good ones the scaling that is named first and the largest length scale
    assert values(rows, "preprocess") == {("minmax",), ("standard",)}
    assert values(rows, "length_scale") == {0.3, 1.00001, 3}
    assert len(values(rows, "penalty")) > 1
    # one choice an entry and size, for all repeats
    own = ("method", "n_features_label")
    assert len(values(rows, *own)) == len(values(rows, *own, "preprocess", "length_scale", "penalty")) == 6
    assert values(rows, "repeat") == {0, 1, 2, 3}
    # made on three of them, which every row says
    assert values(rows, "shared_by", "chosen_on") == {("method_and_size", (0, 1, 2))}


def test_shown_by_cells_that_choose_for_themselves(shown):
    rows = shown("tuned-per-cell")
    assert values(rows, "shared_by", "chosen_on") == {("cell", None)}
    for names in (("preprocess",), ("length_scale",), ("penalty",)):
        assert len(values(rows, "method", *names)) > len(values(rows, "method"))  # differ between repeats
    # the rows of a search are a part of those that train
    assert values(rows, "n_train") == {61}
    assert GRIDS["tuned-per-cell"].tuning_cap < 61


def test_shown_by_the_walk(shown):
    rows = [row for row in shown("walk") if row["repeat"] == 0]
    scalings = {(row["dataset"], row["method"], row["variant"]): row["preprocess"] for row in rows}
    assert scalings["halves", "rff", "text"] == ["minmax"]
    assert scalings["halves", "rff", "folds"] == ["standard_rows"]
    assert scalings["parts", "rff", "folds"] == ["minmax"]
    assert scalings["parts", "rff", "smaller-penalty"] == ["minmax"]
    assert {variant for _, method, variant in scalings if method == "slsrff"} == {
        step["name"] for step in GRIDS["walk"].steps
    }
    assert ("halves", "rff", "code") not in scalings
    # every change of the learner changes a number somewhere
    numbers = [
        [(row["value"], row["penalty"]) for row in shown("walk") if row["variant"] == step]
        for step in ("bandwidth", "no-factor-n", "centred", "folds")
    ]
    assert all(one != other for one, other in itertools.pairwise(numbers))


def test_shown_by_singular_systems(shown):
    rows = shown("singular")
    raised = [row for row in rows if "singular_at" in row]
    assert values(raised, "singular_at", "penalty") == {(1e-20, 0.3)}  # the next of the grid, not its last
    assert values(raised, "method", "variant") == {("gq", None)}
    failed = [row for row in rows if row["status"] == "failed"]
    assert values(failed, "method", "variant") == {("gq", "hopeless"), ("lsrff", "hopeless")}
    assert values(shown("singular", "approximation_error_frobenius"), "status", "method") >= {("failed", "lsrff")}
    alone = shown("singular-per-cell")
    assert values([row for row in alone if row["method"] == "rff"], "penalty") >= {1e-20}
    assert values([row for row in alone if row["method"] == "gq"], "penalty") == {0.3, None}
    assert all("singular_at" not in row for row in alone)


def test_shown_by_missing_data(shown):
    rows = shown("missing")
    assert values(rows, "dataset", "status", "repeat") == {
        ("nowhere", "skipped", None),
        ("parts", "ok", 0),
        ("parts", "ok", 1),
    }


def test_shown_by_the_kinds(shown):
    walks = {}
    for row in shown("requirement", "risk"):
        walks.setdefault((row["dataset"], row["method"], row.get("variant")), set()).add(row["n_features"])
    assert {max(sizes) for sizes in walks.values()} >= {8, 16}  # some need more than others before they are confirmed
    assert values(shown("surrogate", "total_leverage"), "at", "rule") >= {
        (0.001, "fixed"),
        (10**-0.5, "n^(-1/2)"),
    }
    assert any(0 < share < 1 for share in values(shown("surrogate", "leverage_ratio_below"), "value"))
    assert len(values(shown("variance", "kernel_bias"), "value")) == len(shown("variance", "kernel_bias"))
    # bytes of 16 frequencies of 8 columns, without and with phases
    assert {8 * 16 * 4, (8 + 1) * 16 * 4} <= values(shown("memory", "stored_bytes"), "value")
