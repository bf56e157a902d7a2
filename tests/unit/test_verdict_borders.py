"""The verdict of every table on small made rows with known answers, just inside and just outside of every border."""

import itertools

import numpy as np
import pytest
from verdict_rows import accuracies, around, printed, row

pytestmark = pytest.mark.slow


ACCURACY = {"metric": "accuracy_pct", "learner": "ridge", "split": "test"}
SCORES = {"kind": "scores", "repeats": 1, "datasets": ["eeg"], "methods": ["rff", "lsrff"], "sizes": ["2d"]}
SCORES |= {"quantity": ACCURACY}
STD = {"spread_kind": "std over 10 runs"}

#: Without a printed spread a single repeat gets no verdict: five of one value have none of their own.
OURS = accuracies("lsrff", "2d", [80.0] * 5)


def score_of(tabulated, value, rows=OURS, **columns):
    """Verdict, margin and standard error on one printed cell, with these ``columns``."""
    table, _ = tabulated(SCORES, rows, [printed("accuracy_pct", value, method="lsrff", n_features="2d", **columns)])
    assert len(table) == 1
    return tuple(table.loc[0, ["verdict", "margin", "standard error"]])


def of_metric(metric, values, method="lsrff", **columns):
    shared = {"method": method, "n_features_label": "2d"} | columns
    return [row(metric, value, repeat=repeat, **shared) for repeat, value in enumerate(values)]


@pytest.mark.parametrize(("value", "error"), [("80", "0.5"), ("80.0", "0.05"), ("8e1", "5.0")])
def test_half_a_printed_unit_is_an_error(tabulated, value, error):
    assert score_of(tabulated, value)[2] == error


def test_what_is_not_comparable_has_no_margin(tabulated):
    for columns in ({"stand_in": "made (stand-in for eeg)"}, {"settings": {"capped": True}, "n_train": 5, "n_test": 5}):
        assert score_of(tabulated, "80.00", [each | columns for each in OURS]) == ("not comparable", "", "")
    assert score_of(tabulated, "", confidence="lost")[0] == "not comparable"
    assert score_of(tabulated, "80.00", accuracies("rff", "2d", [80.0]))[0] == "not run"
    failed = {"value": None, "status": "failed"}
    assert score_of(tabulated, "80.00", [each | failed for each in OURS])[0] == "not run"


def ratio_of(tabulated, printed_values, ours):
    """Verdict, margin, standard error and "ours" of the ratio of two printed times; ``ours`` are pairs by repeat."""
    published = [
        printed("time_feature_s", value, method=method, n_features="2d", spread="0.0", **STD)
        for method, value in zip(("lsrff", "rff"), printed_values, strict=True)
    ]
    rows = [
        each
        for method, values in zip(("lsrff", "rff"), zip(*ours, strict=True), strict=True)
        for each in of_metric("time_feature_s", values, method)
    ]
    table, _ = tabulated(SCORES | {"quantity": {"metric": "time_feature_s"}}, rows, published)
    assert table["method"].tolist() == ["lsrff"]
    return tuple(table.loc[0, ["verdict", "margin", "standard error", "ours"]])


def test_times_are_compared_as_ratios(tabulated):
    for ours, verdict in {2.19: "reproduced", 2.21: "worse", 1.81: "reproduced", 1.79: "better"}.items():
        # the rounding is 4.0005 / 1.9995 - 2 = 0.0008
        assert ratio_of(tabulated, ("4.000", "2.000"), [(3 * ours, 3.0)] * 5)[:3] == (verdict, "0.2", "0.001")


def test_a_ratio_is_that_of_a_repeat_and_its_rounding_the_farthest(tabulated):
    # ratios 2 and 4, not 14 / 6: mean 3, standard deviation sqrt(2), which the paper's ten repeats have as well;
    # (3 + 0.5) / (1 - 0.5) - 3 = 4
    found = ratio_of(tabulated, ("3", "1"), [(10.0, 5.0), (4.0, 1.0)])
    assert found == ("too noisy", "0.3", str(round(np.sqrt(2 / 10 + 2 / 2 + 4**2), 3)), "3.00 ± 1.41")


def test_a_ratio_to_what_may_be_zero_is_lost(tabulated):
    # 0.00 and 0.005 may both be printed for nothing
    assert ratio_of(tabulated, ("4.0", "0.0"), [(4.0, 1.0)])[0] == "not comparable"
    assert ratio_of(tabulated, ("4.000", "0.100"), [(40.0, 1.0)] * 5)[0] == "reproduced"


BULLETS = {
    "kind": "accuracy_and_time", "repeats": 1, "datasets": ["eeg"], "methods": ["rff", "qmc", "lsrff", "slsrff"],
    "baselines": ["rff", "qmc"], "sizes": ["2d"], "quantity": ACCURACY, "time": {"metric": "time_feature_s"},
}  # fmt: skip


def is_marked(tabulated, **gains):
    """Return whether the cell has its bullet; ``gains`` over the baselines' 80 points."""
    values = {"rff": [0.0] * 8, "qmc": [0.0] * 8, "lsrff": around(9.0), "slsrff": around(9.0)} | gains
    rows = [each for m, of in values.items() for each in accuracies(m, "2d", [80 + gain for gain in of])]
    table, text = tabulated(BULLETS, rows)
    cells = table[table["source"] == "measured"].iloc[0]
    marked = {method for method in BULLETS["methods"] if cells[method].startswith("•")}
    assert marked in (set(), {"lsrff", "slsrff"})
    assert f"Measured cells with it: {int(bool(marked))}." in text
    return bool(marked)


@pytest.mark.parametrize("method", ["lsrff", "slsrff"])
def test_a_bullet_needs_five_per_cent_of_each_pair_after_holm(tabulated, method):
    # four pairs, of which two hang together: p = 0.049 / 2 and 0.051 / 2 of paired t-tests with 7 degrees of freedom
    assert is_marked(tabulated, **{method: around(1.0791)})
    assert not is_marked(tabulated, **{method: around(1.0681)})
    assert not is_marked(tabulated, **{method: around(-9.0)})


def test_a_bullet_needs_half_a_point_and_five_repeats(tabulated):
    assert is_marked(tabulated, lsrff=around(0.501, by=0.001))
    assert not is_marked(tabulated, lsrff=around(0.499, by=0.001))
    assert is_marked(tabulated, lsrff=around(15.0, n=5))
    assert not is_marked(tabulated, lsrff=around(15.0, n=4))


@pytest.mark.parametrize("baseline", ["rff", "qmc"])
def test_a_bullet_needs_both_baselines_beaten(tabulated, baseline):
    assert not is_marked(tabulated, **{baseline: [9.5] * 8})
    assert is_marked(tabulated, **{baseline: [7.0] * 8})


ERROR = "approximation_error_frobenius"
WINNERS = {
    "kind": "best_methods", "paper": "survey", "datasets": ["eeg"], "methods": [], "groups": {"all": ["2d", "4d"]},
    "repeats": 1, "criteria": [ACCURACY | {"label": "ridge"}],
}  # fmt: skip


def best_of(tabulated, values, winners="none", spec=WINNERS, make=accuracies):
    """Methods listed as measured, and the agreement with ``winners``; ``values`` by method, at both sizes alike."""
    rows = [
        each
        for (method, of), size in itertools.product(values.items(), ("2d", "4d"))
        for each in make(method, size, of[size] if isinstance(of, dict) else of)
    ]
    published = [printed("best_methods_accuracy_lr", winners, paper="survey", n_features="2d;4d")]
    table, _ = tabulated(spec, rows, published)
    (heading,) = [name for name in table.columns if name not in ("data set", "source")]
    cells = table.set_index("source")[heading]
    return cells["measured"], cells["agreement"]


def behind(*means, n=8):
    """A best method, 90 throughout, and others that are behind it by a mean."""
    return {"best": [90.0] * n} | {f"m{i}": [90 - by for by in around(mean, n)] for i, mean in enumerate(means)}


@pytest.mark.parametrize(
    ("means", "listed"),
    [
        ([0.8990], "best"),  # p = 0.049
        ([0.8886], "best, m0"),  # p = 0.051
        # Holm over two comparisons: p = 0.024 and 0.04 both count, 0.026 and 0.04 neither, nor the smaller alone
        ([1.0847, 0.9512], "best"),
        ([1.0635, 0.9512], "best, m1, m0"),
        ([1.0847, 0.8886], "best, m1"),
        # p = 0.0166 of three
        ([1.1833, 0.8469, 0.8469], "best, m1, m2"),
        ([1.1799, 0.8469, 0.8469], "best, m1, m2, m0"),
    ],
)
def test_who_is_not_significantly_worse_is_listed(tabulated, means, listed):
    assert best_of(tabulated, behind(*means))[0] == listed
    twice = WINNERS | {"criteria": 2 * WINNERS["criteria"]}  # whose rows count once
    assert best_of(tabulated, behind(*means), spec=twice)[0] == listed


def test_five_methods_are_too_many(tabulated):
    assert best_of(tabulated, behind(0.1, 0.1, 0.1))[0] == "best, m0, m1, m2"
    assert best_of(tabulated, behind(0.1, 0.1, 0.1, 0.1)) == ("undecided", "undecided")
    equal = {method: [90.0] * 8 for method in ("rff", "orf", "qmc", "ssf", "gq")}
    assert best_of(tabulated, equal) == ("-", "neither names one")


def test_a_verdict_needs_five_repeats_that_all_share(tabulated):
    assert best_of(tabulated, behind(9.0, n=5))[0] == "best"
    assert best_of(tabulated, behind(9.0, n=4)) == ("no verdict", "")
    # a repeat that lacks a size is not complete
    assert best_of(tabulated, behind(n=5) | {"m0": {"2d": [81.0] * 5, "4d": [81.0] * 4}})[0] == "no verdict"
    # a method with four is left out, one that misses another repeat of five takes the others' with it
    assert best_of(tabulated, behind(9.0, n=5) | {"better": [99.0] * 4})[0] == "best"
    six = behind(9.0, n=6) | {"better": [99.0] * 6}
    assert best_of(tabulated, six | {"better": [None] + [99.0] * 5})[0] == "better"
    assert best_of(tabulated, six | {"better": [None] + [99.0] * 5, "best": [90.0] * 5})[0] == "no verdict"


def test_a_score_is_the_mean_over_the_sizes(tabulated):
    values = {"even": [60.0] * 8, "uneven": {"2d": around(30.0), "4d": around(94.0)}}
    assert best_of(tabulated, values)[0] == "uneven"
    assert best_of(tabulated, values | {"uneven": {"2d": around(30.0), "4d": around(86.0)}})[0] == "even"


def test_errors_are_compared_by_their_logarithms(tabulated):
    def make(method, size, values):
        return of_metric(ERROR, values, method, n_features_label=size)

    spec = WINNERS | {"criteria": [{"metric": ERROR, "label": "error"}]}
    flat = {"even": around(2.0, by=0.001)}
    # geometric means 1.9 and 2.1; the arithmetic mean is larger in both
    for last, best in ((3.61, "uneven"), (4.41, "even")):
        values = flat | {"uneven": {"2d": [1.0] * 8, "4d": [last] * 8}}
        assert best_of(tabulated, values, spec=spec, make=make)[0] == best


@pytest.mark.parametrize(
    ("winners", "agreement"),
    [("best;m0", "same"), ("best", "overlap"), ("m0;other", "overlap"), ("other", "differs"), ("none", "differs")],
)
def test_two_lists_are_the_same_overlap_or_differ(tabulated, winners, agreement):
    assert best_of(tabulated, behind(0.1, 9.0), winners) == ("best, m0", agreement)


def test_a_list_of_other_data_agrees_with_nothing(tabulated):
    def make(method, size, values):
        return accuracies(method, size, values, stand_in="made (stand-in for eeg)")

    assert best_of(tabulated, behind(9.0), "best", make=make) == ("best", "not comparable")


ABLATION = {
    "kind": "ablation", "datasets": ["eeg"], "methods": ["rff", "qmc", "lsrff", "slsrff"], "baselines": ["rff", "qmc"],
    "repeats": 1, "sizes": ["32d"], "quantity": ACCURACY, "steps": {"a": "first", "b": "second"},
    "controls": [{"method": "rff", "variant": "c", "label": "control", "step": "b", "against": ["lsrff"]}],
}  # fmt: skip
TURNS = "Steps that change a gain"


def ablated(tabulated, n=8, **values):
    """The table and the steps that change a gain; ``values`` are those of the second step, at the first all are 80."""
    rows = []
    for method in ABLATION["methods"]:
        rows += accuracies(method, "32d", [80.0] * n, variant="a")
        rows += accuracies(method, "32d", values.get(method, [80.0] * n), variant="b")
    rows += accuracies("rff", "32d", values.get("control", []), variant="c")
    table, text = tabulated(ABLATION, rows)
    reported = [line for line in text.splitlines() if TURNS in line]
    return table.set_index("step"), reported[0].split("gain: ", 1)[1] if reported else None


@pytest.mark.parametrize(
    ("gains", "reported"),
    [
        # Holm over two methods: p = 0.024 and 0.04 count, 0.026 and 0.04 do not
        ((1.0847, 0.9512), "eeg: second (lsrff +1.08, slsrff +0.95)."),
        ((1.0635, 0.9512), "eeg: none."),
        ((-1.0847, 0.8886), "eeg: second (lsrff -1.08)."),
    ],
)
def test_a_step_changes_a_gain_at_five_per_cent_after_holm(tabulated, gains, reported):
    values = dict(zip(("lsrff", "slsrff"), ([80 + by for by in around(gain)] for gain in gains), strict=True))
    assert ablated(tabulated, **values)[1] == reported


def test_a_family_is_one_data_set(tabulated):
    spec = ABLATION | {"methods": ["rff", "lsrff"], "baselines": ["rff"], "datasets": ["eeg", "magic04"]}
    rows = []
    for dataset, gain in (("eeg", 0.9512), ("magic04", 1.0635)):
        for variant, method in itertools.product("ab", ("rff", "lsrff")):
            values = around(80 + gain) if (variant, method) == ("b", "lsrff") else [80.0] * 8
            rows += accuracies(method, "32d", values, variant=variant, dataset=dataset)
    _, text = tabulated(spec, rows)
    assert "eeg: second (lsrff +0.95); magic04: second (lsrff +1.06)." in text


def test_differences_have_holm_s_p_value_from_five_repeats_on(tabulated):
    # p = 0.0125, the smallest of four changes and of four gains; of two turns it is 0.025
    table, reported = ablated(tabulated, lsrff=around(81.2609))
    assert table.loc["second", ["change lsrff", "gain lsrff", "change rff"]].tolist() == [
        "+1.26 (0.050)", "+1.26 (0.050)", "+0.00 (1.000)",
    ]  # fmt: skip
    assert reported == "eeg: second (lsrff +1.26)."
    # a control is one of the changes: 5 times 0.0125
    table, _ = ablated(tabulated, lsrff=around(81.2609), control=around(81.2609))
    assert table.loc["second", "change lsrff"] == "+1.26 (0.062)"
    table, reported = ablated(tabulated, n=4, lsrff=around(85.0, n=4))
    assert reported is None
    assert table.loc["second", "change lsrff"] == "+5.00"
    assert ablated(tabulated, n=5, lsrff=around(85.0, n=5))[0].loc["second", "change lsrff"].endswith(")")


def test_a_step_has_to_change_a_gain_by_half_a_point(tabulated):
    assert ablated(tabulated, lsrff=around(80.501, by=0.001))[1] == "eeg: second (lsrff +0.50)."
    assert ablated(tabulated, lsrff=around(80.499, by=0.001))[1] == "eeg: none."


def test_a_gain_is_over_the_more_accurate_baseline_and_a_control_minus_its_method(tabulated):
    table, _ = ablated(tabulated, lsrff=[85.0] * 8, qmc=around(82.0), control=around(81.0))
    assert table.loc["second", "gain lsrff"] == "+3.00 (<0.001)"
    table, _ = ablated(tabulated, lsrff=[85.0] * 8, qmc=around(78.0), control=around(81.0))
    assert table.loc["second", "gain lsrff"] == "+5.00 (<0.001)"
    assert table.loc["control: control (change from lsrff)", "change rff"] == "-4.00 (<0.001)"


EQUAL_TIME = {
    "kind": "equal_time", "datasets": ["eeg"], "methods": ["lsrff"], "baseline": "rff", "quantity": ACCURACY,
    "times": {"lsrff": "time_fit_s", "rff": "time_train_s"},
}  # fmt: skip


def timed(method, size, metric, seconds, values):
    """Accuracies of a method at a size, and rounds of its time."""
    shared = {"method": method, "n_features_label": size, "n_features": int(size), "axis": "round", "repeat": None}
    rounds = [row(metric, seconds, at=at, **shared) for at in (0, 1, 2)]
    return rounds + accuracies(method, size, values, n_features=int(size))


def test_p_values_at_equal_time_are_corrected_by_holm(tabulated):
    # p = 0.0125 in one of two comparisons at as many features; in as much time plain features were not measured
    rows = timed("rff", "8", "time_train_s", 1.0, [80.0] * 8) + timed("rff", "16", "time_train_s", 2.0, [80.0] * 8)
    rows += timed("lsrff", "8", "time_fit_s", 3.0, around(81.2609))
    rows += timed("lsrff", "16", "time_fit_s", 4.0, around(80.0))
    table, _ = tabulated(EQUAL_TIME, rows)
    assert table["minus rff at M"].tolist() == ["+1.26 (0.025)", "+0.00 (1.000)"]
    assert table["M of rff at equal time"].tolist() == ["beyond rff at 16"] * 2
    # between two sizes both comparisons are tested: four in all
    rows += timed("rff", "32", "time_train_s", 5.0, [80.0] * 8)
    table, _ = tabulated(EQUAL_TIME, rows)
    assert table["minus rff at equal time"].tolist() == ["+1.26 (0.050)", "+0.00 (1.000)"]


@pytest.mark.parametrize("zero", [("lsrff", "rff"), ("rff",), ("lsrff",)])
def test_times_of_zero_are_no_times(tabulated, zero):
    rows = timed("rff", "8", "time_train_s", float("rff" not in zero), [80.0] * 8)
    rows += timed("lsrff", "8", "time_fit_s", float("lsrff" not in zero), [80.0] * 8)
    assert tabulated(EQUAL_TIME, rows)[0]["method"].tolist() == ["not timed"]
