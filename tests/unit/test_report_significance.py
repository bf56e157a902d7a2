"""Tests between methods: against the formula by hand, against enumeration, and on data whose answer is known."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rfstudy import tidy
from rfstudy.report.aggregate import by_repeat, select
from rfstudy.report.context import Context
from rfstudy.report.significance import (
    MIN_REPEATS,
    Paired,
    all_beat,
    best_methods,
    compare,
    family,
    gain_of,
    holm,
    note_on_tests,
    overlap_of,
    paired_test,
    turns,
)

ERROR = "approximation_error_frobenius"
NOTHING = float("nan")


def scores(values: dict, metric="accuracy_pct", sizes=("2d", "4d")) -> pd.DataFrame:
    """Tidy rows from ``{method: array (repeats, sizes)}``."""
    return tidy.frame(
        [
            {
                "origin": "measured", "experiment": "e", "dataset": "eeg", "kernel": "gaussian", "method": method,
                "n_features_label": size, "repeat": repeat, "split": "test", "metric": metric,
                "value": array[repeat, position], "status": "ok",
            }
            for method, array in values.items()
            for repeat in range(len(array))
            for position, size in enumerate(sizes)
        ]
    )  # fmt: skip


def best_of(frame, metric="accuracy_pct", sizes=("2d", "4d"), overlap=0.0):
    return best_methods(frame, metric, {"all": list(sizes)}, overlap)["all"]


def series(values, start=0):
    return pd.Series(np.asarray(values, dtype=float), index=range(start, start + len(values)))


# --- one test -------------------------------------------------------------------------------------------------------


def by_hand(a, b, n_train, n_test):
    """The corrected resampled t-test of Nadeau and Bengio, as it stands in their paper: loops and scipy's t."""
    differences = [x - y for x, y in zip(a, b, strict=True)]
    n = len(differences)
    mean = sum(differences) / n
    variance = sum((each - mean) ** 2 for each in differences) / (n - 1)
    t = mean / math.sqrt((1 / n + n_test / n_train) * variance)
    return mean, 2 * stats.t.sf(abs(t), n - 1)


@pytest.mark.parametrize(("n_train", "n_test"), [(100, 100), (200, 100), (90, 10)])
def test_the_corrected_test_is_the_formula(n_train, n_test):
    a, b = np.random.default_rng(0).standard_normal((2, 10))
    mean, error, p = paired_test(a, b, n_test / n_train)
    assert (mean, p) == pytest.approx(by_hand(a, b, n_train, n_test), rel=1e-10)
    assert error == pytest.approx(np.sqrt(0.1 + n_test / n_train) * (a - b).std(ddof=1))


def test_without_overlap_it_is_the_paired_t_test():
    a, b = np.random.default_rng(0).standard_normal((2, 10))
    mean, _, p = paired_test(a, b)
    assert mean == pytest.approx((a - b).mean())
    assert p == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-10)


def test_differences_that_do_not_vary():
    a = np.array([0.1, 0.2, 0.3, 0.7])
    assert paired_test(a, a, 1.0) == (0.0, 0.0, 1.0)
    # a + 0.1 - a is 0.1 but for rounding
    assert paired_test(a + 0.1, a)[1:] == (0.0, 0.0)


def test_cells_are_compared_over_the_repeats_that_both_have():
    one, other = series(np.arange(12.0) + 1), series(np.arange(12.0) ** 1.1, start=2)
    test = compare(one, other, 0.5)
    assert test == (*paired_test(one[range(2, 12)], other[range(2, 12)], 0.5), 10)
    few = compare(one[: MIN_REPEATS - 1], one[:4] - 1)
    assert (few.difference, few.repeats) == (1.0, 4)
    assert math.isnan(few.p_value)
    assert not few.stands("accuracy_pct")
    assert not math.isnan(compare(one[:MIN_REPEATS], one[:5] - 1).p_value)
    assert compare(one[:3], one[5:]).repeats == 0
    rows = tidy.frame([{"method": "rff", "repeat": 0, "value": 1.0, "status": "ok"}] * 2)
    with pytest.raises(ValueError, match="must differ in their repeat"):
        by_repeat(rows)


def test_an_interval_leaves_out_zero_where_the_test_passes():
    a, b = np.random.default_rng(3).standard_normal((2, 8))
    expected = stats.ttest_rel(a, b).confidence_interval(0.95)
    assert compare(series(a), series(b)).interval() == pytest.approx((expected.low, expected.high), rel=1e-9)
    wide = compare(series(a), series(b), 1.0).interval()
    assert wide[1] - wide[0] == pytest.approx(np.sqrt((1 / 8 + 1) * 8) * (expected.high - expected.low))
    assert all(map(math.isnan, compare(series(a[:4]), series(b[:4])).interval()))


@pytest.mark.parametrize(
    ("difference", "p_value", "metric", "stands"),
    [
        (0.101, 0.049, "accuracy_pct", True), (-0.101, 0.049, "accuracy_pct", True),
        (0.1, 0.001, "accuracy_pct", False), (0.101, 0.05, "accuracy_pct", False),
        (0.001, 0.049, ERROR, True), (5.0, NOTHING, "accuracy_pct", False),
    ],
)  # fmt: skip
def test_an_effect_passes_and_exceeds_a_tenth_of_a_point(difference, p_value, metric, stands):
    assert Paired(difference, 0.01, p_value, 10).stands(metric) == stands


# --- families -------------------------------------------------------------------------------------------------------


def test_holm_by_hand():
    # ordered 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1 is 0.04, 0.06, 0.06, 0.04; never to decrease, the last is 0.06
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


@pytest.mark.parametrize("m", [1, 2, 3, 5, 6])
def test_holm_is_the_closure_of_bonferroni(m):
    """Rejecting a hypothesis where Bonferroni rejects every set that holds it, over all sets."""
    rng = np.random.default_rng(m)
    for p_values in (rng.random(m) ** 3, np.round(rng.random(m) ** 3, 1)):
        closed = [
            max(
                min(1.0, size * min(p_values[list(chosen)]))
                for size in range(1, m + 1)
                for chosen in itertools.combinations(range(m), size)
                if i in chosen
            )
            for i in range(m)
        ]
        assert holm(p_values) == pytest.approx(closed)


def test_what_could_not_be_tested_is_no_member_of_a_family():
    tests = {name: Paired(1.0, 0.1, p, 10) for name, p in (("a", 0.02), ("b", NOTHING), ("c", 0.03))}
    adjusted = {name: test.p_value for name, test in family(tests).items()}
    assert (adjusted["a"], adjusted["c"]) == pytest.approx((0.04, 0.04))
    assert math.isnan(adjusted["b"])


def test_every_pair_and_size_of_a_data_set_is_in_the_family_of_the_bullets():
    def cell(gain):
        noise = np.resize([-1.0, 1.0], 8)
        values = {"rff": series(np.zeros(8)), "qmc": series(np.zeros(8))}
        return values | {name: series(gain + noise) for name in ("lsrff", "slsrff")}

    def marked(*gains, overlap=0.0):
        return all_beat(dict(enumerate(map(cell, gains))), ["lsrff", "slsrff"], ["rff", "qmc"], "accuracy_pct", overlap)

    # t = gain sqrt(7) at 7 degrees of freedom; p = 0.0115 at 1.2 / sqrt(...), times 4 pairs, and times 8 of two sizes
    just = float(stats.t.isf(0.0124 / 2, 7)) / math.sqrt(7)
    assert marked(just) == {0}
    assert marked(just, 0.0) == set()
    assert marked(float(stats.t.isf(0.0126 / 2, 7)) / math.sqrt(7)) == set()
    assert marked(9.0, 0.0, 9.0) == {0, 2}
    assert marked(-9.0) == set()
    # with halves the standard error is sqrt(1/8 + 1) in place of sqrt(1/8)
    assert marked(3 * just * 1.001, overlap=1.0) == {0}
    assert marked(3 * just * 0.99, overlap=1.0) == set()
    # one method that is no better than one baseline is enough
    values = {"2d": cell(9.0) | {"qmc": series(np.full(8, 8.95))}}
    assert all_beat(values, ["lsrff", "slsrff"], ["rff", "qmc"], "accuracy_pct") == set()
    assert all_beat(values, ["lsrff", "slsrff"], ["rff"], "accuracy_pct") == {"2d"}
    # of an error the lower one is better
    assert all_beat(values, ["rff"], ["lsrff", "slsrff"], ERROR) == {"2d"}


# --- what repeats are -------------------------------------------------------------------------------------------------


def rows_of(n_train=60, n_test=40, metric="accuracy_pct", learner="ridge", dataset="d", **columns):
    shared = {
        "experiment": "e", "dataset": dataset, "method": "rff", "metric": metric, "learner": learner, "repeat": 0,
        "value": 1.0, "status": "ok", "n_train": n_train, "n_test": n_test,
    }  # fmt: skip
    return tidy.frame([shared | columns])


def overlap(rows, facts=None, tasks=None):
    told = [] if facts is None else [rows_of(metric="fact_rows", learner="", split="all", **facts)]
    return overlap_of(rows, Context(pd.concat([rows, *told]), {}, tasks or {}))


def test_random_splits_overlap_by_the_rows_that_were_used():
    half, fixed = {"settings": {"split": "half"}}, {"settings": {"split": "published"}}
    assert overlap(rows_of(), half) == pytest.approx(40 / 60)
    assert overlap(rows_of(), {"settings": {"split": "random"}}) == pytest.approx(40 / 60)
    assert overlap(rows_of(), fixed) == 0.0
    # the facts say it before the registry does, and a row before the facts
    assert overlap(rows_of(), fixed, {"d": {"split": "half"}}) == 0.0
    assert overlap(rows_of(), tasks={"d": {"split": "half"}}) == pytest.approx(40 / 60)
    assert overlap(rows_of(settings={"split": "random"}), fixed) == pytest.approx(40 / 60)
    assert overlap(rows_of()) == 0.0


def test_training_rows_that_a_cap_draws_from_a_published_part_overlap():
    fixed = {"settings": {"split": "published"}, "n_train": 60, "n_test": 40}
    assert overlap(rows_of(30, 20), fixed) == pytest.approx(20 / 30)
    # test rows alone are drawn anew: the training rows are the same
    assert overlap(rows_of(60, 20), fixed) == 0.0
    assert overlap(rows_of(30, 20), tasks={"d": {"split": "published", "n_train": 60}}) == pytest.approx(20 / 30)
    # the registry's rows are not those of a stand-in
    assert overlap(rows_of(30, 20, stand_in="made"), tasks={"d": {"split": "published", "n_train": 60}}) == 0.0


def test_errors_of_the_kernel_matrix_and_times_have_no_training_sets():
    half = {"settings": {"split": "half"}}
    assert overlap(rows_of(metric=ERROR, learner=""), half) == 0.0
    assert overlap(rows_of(metric="time_train_s"), half) == 0.0
    assert overlap(rows_of(status="failed"), half) == 0.0


def test_rows_that_do_not_say_enough_are_refused():
    with pytest.raises(ValueError, match="do not say how many train and test"):
        overlap(rows_of(n_test=None), {"settings": {"split": "half"}})
    with pytest.raises(ValueError, match="within one data set"):
        overlap(pd.concat([rows_of(), rows_of(dataset="other")]))


def test_the_note_says_which_test_it_was():
    both = note_on_tests({"EEG": 1.0, "cod-RNA": 0.0}, "all of it", ["accuracy_pct"])
    assert "splits of the same rows (EEG), the variance is corrected" in both
    assert "only the map varies (cod-RNA), the test is the plain one and holds for these rows" in both
    assert "none under 5 repeats" in both
    assert "Holm's correction is over all of it" in both
    assert "passes at 5% and exceeds 0.1 points." in both
    assert "none under 5 repeats. Holm's" in note_on_tests({}, "all of it", ["accuracy_pct"])
    plain = note_on_tests({"cod-RNA": 0.0}, "all", [ERROR])
    assert "corrected for" not in plain
    assert "points" not in plain
    assert "0.1 points of a percentage" in note_on_tests({"EEG": 1.0}, "all", [ERROR, "accuracy_pct"])


# --- gains ------------------------------------------------------------------------------------------------------------


def test_a_gain_and_its_turns_have_the_variance_of_the_splits():
    rng = np.random.default_rng(7)
    steps = [{name: series(80 + gain + rng.standard_normal(10)) for name in ("rff", "lsrff")} for gain in (0.0, 0.0)]
    steps[1]["lsrff"] = steps[1]["lsrff"] + 2.0
    plain, corrected = (gain_of("lsrff", steps[1], ["rff"], overlap).test for overlap in (0.0, 1.0))
    assert corrected.difference == plain.difference
    assert corrected.error == pytest.approx(plain.error * math.sqrt(11))
    for overlap, is_one in ((0.0, True), (1.0, False)):
        (turn,) = turns(steps, ["a", "b"], ["lsrff"], ["rff"], overlap)
        assert (turn.step, turn.method) == ("b", "lsrff")
        assert turn.test.stands("accuracy_pct") == is_one


# --- best methods -----------------------------------------------------------------------------------------------------


def test_a_clear_winner_is_listed_alone_and_a_tie_with_it():
    rng = np.random.default_rng(1)
    common = rng.standard_normal((10, 1))
    noise = {m: 0.1 * rng.standard_normal((10, 2)) for m in ("rff", "orf", "qmc")}
    # rff is 5 points below the others: 50 standard deviations of the noise
    frame = scores({"rff": 80 + common + noise["rff"], "orf": 85 + common + noise["orf"]})
    best = best_of(frame)
    assert (best.verdict, best.methods, best.repeats) == ("listed", (("orf", ""),), 10)
    # orf and qmc have equal means by construction, so p = 1
    equal = 85 + common + noise["qmc"]
    frame = scores({"rff": 80 + common + noise["rff"], "orf": equal, "qmc": equal[:, ::-1]})
    best = best_of(frame)
    assert set(best.methods) == {("orf", ""), ("qmc", "")}
    assert best.adjusted[("rff", "")] < 1e-6


def test_errors_are_best_low_and_every_size_weighs_the_same():
    # orf is 10 times better at 4d, rff twice at 2d, where errors are a hundred times as large: in logarithms orf wins
    rff = np.tile([1.0, 0.1], (10, 1))
    orf = np.tile([2.0, 0.01], (10, 1))
    best = best_of(scores({"rff": rff, "orf": orf}, ERROR), ERROR)
    assert best.methods == (("orf", ""),)


def test_pairing_finds_a_difference_that_the_split_hides():
    rng = np.random.default_rng(2)
    split = 3.0 * rng.standard_normal((10, 1))
    small = 0.05 * rng.standard_normal((2, 10, 2))
    frame = scores({"rff": 80 + split + small[0], "orf": 80.5 + split + small[1]})
    assert best_of(frame).methods == (("orf", ""),)
    # unpaired, half a point against a spread of three is nothing
    assert stats.ttest_ind(80 + split[:, 0], 80.5 + split[:, 0]).pvalue > 0.5


def test_five_that_cannot_be_told_apart_are_no_list():
    values = 80 + np.random.default_rng(3).standard_normal((10, 2))
    frame = scores(dict.fromkeys("abcde", values))
    assert best_of(frame).verdict == "none stands out"
    four = select(frame, method=["a", "b", "c", "d"])
    assert best_of(four).verdict == "listed"


def test_false_winners_are_rare():
    # Nine equal methods, 40 times. That the best is chosen by the same data raises the level of 5 %, that all eight
    # others must be beaten lowers it. At 5 % the count has mean 2 and standard deviation 1.4: 6 is almost 3 above.
    rng = np.random.default_rng(4)
    alone = 0
    for _ in range(40):
        frame = scores({str(m): rng.standard_normal((10, 1)) for m in range(9)}, sizes=["2d"])
        alone += len(best_of(frame, sizes=["2d"]).methods) == 1
    assert alone <= 6


def test_too_few_repeats_give_no_verdict():
    values = 80 + np.random.default_rng(5).standard_normal((4, 2))
    best = best_of(scores({"rff": values, "orf": values + 9}))
    assert best.verdict == "no verdict"
    assert best.left_out == {("rff", ""): 4, ("orf", ""): 4}
    five = 80 + np.random.default_rng(5).standard_normal((5, 2))
    assert best_of(scores({"rff": five, "orf": five + 9})).methods == (("orf", ""),)
    assert best_of(scores({"rff": values}), sizes=["16d"]).verdict == "not run"
    one = 80 + np.random.default_rng(5).standard_normal((10, 2))
    assert best_of(scores({"rff": one})).verdict == "no verdict"


def test_incomplete_methods_are_left_out_and_incomplete_repeats_dropped():
    rng = np.random.default_rng(6)
    frame = scores({m: level + rng.standard_normal((10, 2)) for m, level in (("rff", 50), ("orf", 60), ("qmc", 99))})
    bad = frame["method"].eq("qmc") & frame["n_features_label"].eq("4d") & frame["repeat"].lt(6)
    frame.loc[bad, "status"] = "failed"
    one = frame["method"].eq("rff") & frame["n_features_label"].eq("2d") & frame["repeat"].eq(9)
    best = best_of(frame[~one])
    assert best.methods == (("orf", ""),)
    assert best.left_out == {("qmc", ""): 4}
    assert best.repeats == 9


def test_only_one_comparison_at_a_time():
    frame = scores({"rff": np.ones((8, 2))})
    other = frame.assign(dataset="skin")
    with pytest.raises(ValueError, match="within one dataset"):
        best_of(pd.concat([frame, other]))
    with pytest.raises(ValueError, match="must be positive"):
        best_of(frame.assign(metric=ERROR, value=0.0), ERROR)


def test_groups_of_sizes_are_one_family():
    # two comparisons with p = 0.03: each by itself passes, both together do not
    at_3 = float(stats.t.isf(0.03 / 2, 7)) / math.sqrt(7)
    behind = at_3 + np.resize([-1.0, 1.0], 8)
    values = {"best": np.full((8, 2), 90.0), "other": np.stack([90 - behind, 90 - behind], axis=1)}
    frame = scores(values)
    assert best_of(frame, sizes=["2d"]).methods == (("best", ""),)
    both = best_methods(frame, "accuracy_pct", {"small": ["2d"], "large": ["4d"]})
    assert all(set(best.methods) == {("best", ""), ("other", "")} for best in both.values())
    assert both["small"].adjusted["other", ""] == pytest.approx(0.06)


def test_a_tenth_of_a_point_makes_no_method_worse():
    values = 80 + np.random.default_rng(8).standard_normal((10, 2))
    assert best_of(scores({"rff": values, "orf": values + 0.09})).methods == (("orf", ""), ("rff", ""))
    assert best_of(scores({"rff": values, "orf": values + 0.11})).methods == (("orf", ""),)


def test_splits_that_overlap_leave_more_methods_on_the_list():
    rng = np.random.default_rng(9)
    frame = scores({"rff": 80 + rng.standard_normal((10, 2)), "orf": 82 + rng.standard_normal((10, 2))})
    assert len(best_of(frame).methods) == 1
    assert len(best_of(frame, overlap=1.0).methods) == 2
