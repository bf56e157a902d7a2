"""Every row that the stages write, against the naive twin: small experiments of each kind and protocol.

The experiments share one journal, as those of a preset do: a cell that is taken for another one shows as a wrong row.
The last tests hold that each experiment shows what it is there for, so that no change of the made data blinds it.
"""

import itertools
import json
from dataclasses import replace

import pytest

from random_features.arrays import set_threads

from . import adapter, chain, kinds, kinds_on_data
from .experiments import GRIDS, MEASUREMENTS, ON_DATA
from .on_data import OnData
from .search import Choices

#: What tells rows apart.
KEY = (
    "dataset", "kernel", "method", "variant", "n_features_label", "axis", "at", "repeat", "split", "learner", "metric",
)  # fmt: skip

#: The twin of each form of experiments.
TWINS = {chain.Grid: chain, kinds.Measurement: kinds, OnData: kinds_on_data}


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
            computed[study.name] = TWINS[type(study)].rows(study)
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
    if "length_scale" in settings:  # of a rule: computed
        assert settings.pop("length_scale") == pytest.approx(twin_settings.pop("length_scale"), rel=1e-9), key
    assert settings == twin_settings, key
    slack = twin.pop("doubtful", 1e-12)
    for column in ("value", "spread"):
        value = twin.pop(column, None)
        assert row.pop(column, None) == (None if value is None else pytest.approx(value, rel=1e-5, abs=slack)), key
    assert row == twin, key


@pytest.mark.parametrize("name", GRIDS)
def test_every_row_of_a_grid(name, tmp_path, journal, twins):
    assert_same_rows(adapter.rows_of_the_chain(GRIDS[name], tmp_path, journal), twins(GRIDS[name]))


@pytest.mark.parametrize("name", [*MEASUREMENTS, *ON_DATA])
def test_every_row_of_a_measurement(name, tmp_path, journal, twins):
    study = {**MEASUREMENTS, **ON_DATA}[name]
    assert_same_rows(adapter.rows_of_the_chain(study, tmp_path, journal), twins(study))


@pytest.mark.parametrize("name", ["text", "missing", "circles"])
def test_one_job_a_method_and_repeat_gives_the_same_rows(name, tmp_path, twins):
    found = adapter.rows_of_the_chain(GRIDS[name], tmp_path, tmp_path / "journal", cut="many")
    assert_same_rows(found, twins(GRIDS[name]))


# --- what the experiments show ----------------------------------------------------------------------------------------


@pytest.fixture
def shown(twins):
    """By experiment and metric: the twin's rows, settings beside the columns."""

    def of(name, metric="accuracy_pct"):
        rows = twins({**GRIDS, **MEASUREMENTS, **ON_DATA}[name])
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
    assert values(ridge, "tune_per", "chosen_on") == {("size", (0, 1, 2))}
    assert values(errors, "tune_per", "chosen_on") == {("experiment", (0, 1, 2))}
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
        assert values([row for row in rows if row["status"] == "ok"], "tune_per", "chosen_on") == {("cell", None)}


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
    assert values(rows, "tune_per", "chosen_on") == {("method_and_size", (0, 1, 2))}


def test_shown_by_cells_that_choose_for_themselves(shown):
    rows = shown("tuned-per-cell")
    assert values(rows, "tune_per", "chosen_on") == {("cell", None)}
    for names in (("preprocess",), ("length_scale",), ("penalty",)):
        assert len(values(rows, "method", *names)) > len(values(rows, "method"))  # differ between repeats
    # the rows of a search are a part of those that train
    assert values(rows, "n_train") == {61}
    assert GRIDS["tuned-per-cell"].tuning_cap < 61


def test_shown_by_the_steps(shown):
    rows = [row for row in shown("steps") if row["repeat"] == 0]
    scalings = {(row["dataset"], row["method"], row["variant"]): row["preprocess"] for row in rows}
    assert scalings["halves", "rff", "text"] == ["minmax"]
    assert scalings["halves", "rff", "folds"] == ["standard_rows"]
    assert scalings["parts", "rff", "folds"] == ["minmax"]
    assert scalings["parts", "rff", "smaller-penalty"] == ["minmax"]
    assert {variant for _, method, variant in scalings if method == "slsrff"} == {
        step["name"] for step in GRIDS["steps"].steps
    }
    assert ("halves", "rff", "code") not in scalings
    # every change of the learner changes a number somewhere
    numbers = [
        [(row["value"], row["penalty"]) for row in shown("steps") if row["variant"] == step]
        for step in ("bandwidth", "no-factor-n", "centred", "folds")
    ]
    assert all(one != other for one, other in itertools.pairwise(numbers))


def test_shown_by_the_circles(shown):
    rows = shown("circles")
    plain = [row for row in rows if "variant" not in row]
    ruled = [row for row in rows if row.get("variant") == "by-the-rule"]
    # what all share differs between sizes alone, what a method shares between methods
    assert len(values(plain, "preprocess")) == len(values(plain, "n_features_label")) - 1 == 2
    assert values(plain, "repeat", "preprocess", "length_scale") > values(
        plain[:1], "repeat", "preprocess", "length_scale"
    )
    assert len(values(plain, "repeat", "preprocess", "length_scale")) == len(values(plain, "repeat", "preprocess"))
    chosen = [{"method": row["method"], "chosen": json.dumps(row["options"])} for row in plain]
    assert values(chosen, "method", "chosen") == {
        ("rff", "{}"),
        ("slsrff", '{"mode": "code"}'),
        ("kprff", '{"n_candidates": 15}'),
        ("karff", '{"n_candidates": 30, "rho": 0.5}'),
    }
    # an entry that takes part in one search has the scaling and the rule of the experiment
    assert values(ruled, "preprocess") == {("minmax",)}
    assert values(ruled, "length_scale").isdisjoint(values(plain, "length_scale"))
    assert values(rows, "tune_per", "chosen_on") == {("method_and_size", (0, 1, 2))}
    assert len(values(rows, "method", "n_features_label", "penalty")) > len(values(rows, "method", "penalty"))
    kprff = [row for row in rows if row["method"] == "kprff"]
    assert values(kprff, "n_features_label", "learner") == {("2d", "ridge"), ("11", "ridge")}


def test_shown_by_what_is_held_out(shown):
    rows = shown("held-out")
    assert values(rows, "learner", "tune_per") == {("ridge", "method"), ("l1_svm", "method")}
    assert len(values(rows, "method", "length_scale")) == 3
    assert len(values(rows, "length_scale")) == 2
    assert 1e-25 not in values(rows, "penalty")
    # sizes for which other options were chosen do not share a draw
    shares = [row | {"share": row["options"].get("scoring_fraction")} for row in rows if row["method"] == "kprff"]
    by_size = [values([row for row in shares if row["n_features"] == s], "repeat", "share") for s in (5, 10)]
    assert by_size[0] & by_size[1]
    assert by_size[0] != by_size[1]


def test_shown_by_the_walk(shown):
    rows = shown("sweep")
    assert values(rows, "method", "axis", "at", "status") == {
        ("rff", None, None, "skipped"),
        ("rff", None, None, "ok"),
        *(("kprff", "candidates", at, status) for at in (12, 30) for status in ("skipped", "ok")),
        *(("karff", "divergence", at, status) for at in (0.1, 3, 100) for status in ("skipped", "ok")),
    }
    assert values([row for row in rows if row["method"] == "karff"], "n_features") == {4, 12}
    measured = [row for row in rows if row["status"] == "ok"]
    assert values(measured, "method", "tune_per") == {("rff", "method"), ("kprff", "method"), ("karff", "cell")}
    errors = shown("sweep", "approximation_error_frobenius")
    for method, places in (("kprff", 2), ("karff", 3)):
        walked = [row for row in errors if row["method"] == method and row["status"] == "ok" and row["n_features"] == 4]
        assert len(values(walked, "value")) == 2 * places


def test_shown_by_singular_systems(shown):
    rows = shown("singular")
    # the smallest at which all have a solution, for all
    assert values([row for row in rows if row["status"] == "ok"], "penalty", "at_edge") == {(0.3, ("penalty",))}
    failed = [row for row in rows if row["status"] == "failed"]
    assert values(failed, "method", "variant") == {("lsrff", "hopeless")}
    # who has none at any has no say, and fails
    everywhere = shown("singular-everywhere")
    assert values(everywhere, "method", "status", "penalty") == {("rff", "ok", 1e-20), ("gq", "failed", None)}
    assert values(shown("singular", "approximation_error_frobenius"), "status", "method") >= {("failed", "lsrff")}
    alone = shown("singular-per-cell")
    assert values([row for row in alone if row["method"] == "rff"], "penalty") >= {1e-20}
    assert values([row for row in alone if row["method"] == "gq"], "penalty") == {0.3, None}
    failed = [row for row in alone if row["status"] == "failed"]
    assert values(failed, "method", "variant") == {("gq", "hopeless"), ("lsrff", "hopeless")}


def test_shown_by_the_judge_and_the_flat_score(shown):
    errors, scores = shown("judge", "approximation_error_frobenius"), shown("judge")
    study = GRIDS["judge"]
    changed = {
        "judge": replace(study, of_judge={}),
        "choice": replace(study, learners={"ridge": study.learners["ridge"] | {"choice": "best"}}),
    }
    assert values(chosen_in(changed["judge"]), "length_scale") != values(errors, "length_scale")
    first, flat = chosen_in(changed["choice"]), chosen_in(study)
    assert all(one["penalty"]["ridge"] <= other["penalty"]["ridge"] for one, other in zip(first, flat, strict=True))
    assert first != flat
    assert values(scores, "n_features", "penalty") == {
        (s, each["penalty"]["ridge"]) for each, s in zip(flat, (4, 8, 16), strict=True)
    }
    assert values(errors, "at_edge") | values(scores, "at_edge") > {None}
    assert values(shown("judge", "distinct_features"), "method") == {"lsrff"}


def chosen_in(study) -> list[dict]:
    """What the twin chooses for plain features at every size."""
    (dataset,) = study.data
    own = chain.sizes(study, dataset)
    choices = Choices(study, dataset, chain.entries(study, dataset), own)
    return [choices.of({"method": "rff", "options": {}}, size, 0)[0] for size in own]


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
    assert {row["axis"] for row in shown("energy", "score_deviation")} == {"rows"}
    # bytes of 16 frequencies of 8 columns, without and with phases
    assert {8 * 16 * 4, (8 + 1) * 16 * 4} <= values(shown("memory", "stored_bytes"), "value")


def test_shown_by_the_ranking(shown):
    overlaps = {
        (row.get("variant"), row["at"], row["repeat"]): row["value"]
        for row in shown("ranking", "overlap_pct")
        if row["status"] == "ok"
    }
    assert [overlaps["pool", at, 0] for at in (20, 40)] == [40.0, 20.0]  # 8 of all
    assert all(0 < overlaps[how, at, 0] < 100 for how in ("lasso", "omp") for at in (20, 40))
    ranks = shown("ranking", "effective_rank")
    assert len(values(ranks, "value")) > len(values(ranks, "n_features"))
    assert values(shown("ranking", "error_pct"), "dataset", "capped", "status") == {
        ("halves", True, "ok"),
        ("nowhere", None, "skipped"),
    }


def test_shown_by_exact_kernels(shown):
    rows = shown("exact")
    assert values(rows, "kernel", "learner") == {
        ("arccos0", "kernel_svm"), ("arccos1", "kernel_svm"), ("linear", "kernel_svm"), ("gaussian", "kernel_svm"),
        ("gaussian", "l1_svm"),
    }  # fmt: skip
    of_one = [row for row in rows if row["dataset"] == "plane" and row["repeat"] == 0 and "method" not in row]
    assert len(values(of_one, "value")) >= 4
    assert values(rows, "dataset", "n_train", "n_test", "capped") == {("plane", 45, 45, True), ("parts", 40, 45, True)}


def test_shown_by_peaks_and_budgets(shown):
    heights = {
        (row["dataset"], row.get("variant"), row["repeat"], row["at"]): row["value"]
        for row in shown("peaks", "best_potential")
        if row["status"] == "ok"
    }
    assert all(heights[(*place, 12)] >= heights[(*place, 1)] for *place, _ in heights)
    lengths = [row for row in shown("peaks", "selected_norm") if row["status"] == "ok"]
    assert len(values(lengths, "value")) == len(lengths)
    rows = [row for row in shown("evaluations") + shown("few-evaluations") if row["status"] == "ok"]
    spent = [row["options"] | {"method": row["method"], "at": row["at"]} for row in rows]
    assert values(spent, "method", "at", "n_copies", "n_candidates") >= {
        ("kprff", 5, None, 7),
        ("kprff", 12, None, 12),
        ("nsrf", 90, 4, None),
        ("nsrf", 90, 6, None),
        ("nsrf", 250, 12, None),
    }


def test_shown_by_the_game(shown):
    gaps = shown("rounds", "duality_gap")
    assert all(row["value"] > 0 for row in gaps)
    ratios = {
        (row.get("variant"), row["n_features"]): row["value"]
        for row in shown("rounds", "boundary_weight_ratio")
        if row["repeat"] == 0
    }
    assert ratios["uniform", 0] == ratios["uniform", 8] == ratios[None, 0] != ratios[None, 8]
    assert all(row["value"] > 0 for row in shown("rounds", "peak_area"))
    distinct = shown("rounds-on-the-sphere", "distinct_features")
    assert any(row["value"] < row["n_features"] for row in distinct)
    assert not shown("rounds-on-the-sphere", "peak_area")


def test_shown_by_the_path(shown):
    errors = [row for row in shown("path", "mse") if row["status"] == "ok"]
    assert values(errors, "n_train") == {16}
    assert values(errors, "repeat") == {0, 1, 2, 3}  # two draws in each of two repeats
    assert values(errors, "dataset", "capped") == {("halves", True), ("parts", True)}
    assert values(errors, "variant", "n_features", "n_columns") == {
        (variant, s, columns * s) for variant, columns in ((None, 2), ("phase", 1)) for s in (1, 4, 8, 16, 40)
    }
    # the training rows are interpolated beyond the threshold alone
    trained = [row for row in errors if row["learner"] == "ridge" and row["split"] == "train"]
    before, beyond = (
        [row["value"] for row in trained if (row["n_columns"] > 16) == is_beyond] for is_beyond in (False, True)
    )
    assert min(beyond) < 1e-6 < 1e-4 < min(before)
    chosen = [row for row in errors if row["learner"] == "ridge_tuned"]
    assert values(chosen, "penalty") >= {0.03, 0.1}
    assert values(chosen, "at_edge") == {None, ("penalty",)}


def test_shown_by_the_stream(shown):
    errors, passes = shown("stream", "train_error_pct"), shown("stream", "passes")
    places = values([row for row in errors if row["dataset"] == "classes"], "axis", "at", "n_train", "capped")
    assert places == {
        (None, None, 60, True), ("n_train", 20, 20, True), ("n_train", 200, 70, False), ("penalty", 0.1, 60, True),
    }  # fmt: skip
    assert values(errors, "dataset", "n_train") >= {("two", 50), ("two", 20)}
    assert values(errors, "kernel", "method") == {
        (kernel, method) for kernel in ("gaussian", "arccos1") for method in ("rff", "orf", "lsrff")
    }
    assert len(values(errors, "value")) > 10
    # the changes of the gradient that are remembered are all that there were
    assert len(values(passes, "value")) > 3
    assert max(values(passes, "value")) <= 20
