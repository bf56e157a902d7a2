"""The paired test: against the formula by hand, against enumeration, and on data whose answer is known."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from rfstudy import tidy
from rfstudy.report.aggregate import by_repeat
from rfstudy.report.compare import MIN_REPEATS, Estimate, family, holm, is_effect, overlap_of, paired, with_verdicts
from rfstudy.report.context import Context

ERROR = "approximation_error_frobenius"


def series(values, start=0):
    return pd.Series(np.asarray(values, dtype=float), index=range(start, start + len(values)))


def by_hand(a, b, n_train, n_test):
    """The corrected resampled t-test of Nadeau and Bengio, as in their paper: loops and scipy's t."""
    differences = [x - y for x, y in zip(a, b, strict=True)]
    n = len(differences)
    mean = sum(differences) / n
    variance = sum((each - mean) ** 2 for each in differences) / (n - 1)
    t = mean / math.sqrt((1 / n + n_test / n_train) * variance)
    return mean, 2 * stats.t.sf(abs(t), n - 1)


@pytest.mark.parametrize(("n_train", "n_test"), [(100, 100), (200, 100), (90, 10)])
def test_the_corrected_test_is_the_formula(n_train, n_test):
    a, b = np.random.default_rng(0).standard_normal((2, 10))
    found = paired(a, b, n_test / n_train)
    assert (found.value, found.p) == pytest.approx(by_hand(a, b, n_train, n_test), rel=1e-10)
    assert found.error == pytest.approx(np.sqrt(0.1 + n_test / n_train) * (a - b).std(ddof=1))


def test_without_overlap_it_is_the_paired_t_test():
    a, b = np.random.default_rng(0).standard_normal((2, 10))
    expected = stats.ttest_rel(a, b)
    ends = expected.confidence_interval(0.95)
    found = paired(a, b)
    assert found[:3] == pytest.approx(((a - b).mean(), ends.low, ends.high), rel=1e-9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-10)
    assert paired(a - b) == found


def test_differences_that_do_not_vary():
    a = np.array([0.1, 0.2, 0.3, 0.7, 0.9])
    assert paired(a, a, 1.0) == Estimate(0.0, 0.0, 0.0, 0.0, 1.0, 5, df=4.0)
    # a + 0.1 - a is 0.1 but for rounding
    found = paired(a + 0.1, a)
    assert (found.error, found.p, found.low) == (0.0, 0.0, found.value)


def test_cells_are_compared_over_the_repeats_that_both_have():
    one, other = series(np.arange(12.0) + 1), series(np.arange(12.0) ** 1.1, start=2)
    assert paired(one, other, 0.5) == paired(one[range(2, 12)], other[range(2, 12)].to_numpy(), 0.5)
    few = paired(one[: MIN_REPEATS - 1], one[:4] - 1)
    assert (few.value, few.error, few.n) == (1.0, 0.0, 4)
    assert all(map(math.isnan, (few.low, few.high, few.p)))
    assert not is_effect(few, "accuracy_pct")
    assert paired(one[:MIN_REPEATS], one[:5] - 1).p == 0.0
    assert math.isnan(paired(one[:1], one[:1]).error)
    assert paired(one[:3], one[5:]).n == 0
    rows = tidy.frame([{"method": "rff", "repeat": 0, "value": 1.0, "status": "ok"}] * 2)
    with pytest.raises(ValueError, match="must differ in their repeat"):
        by_repeat(rows)


@pytest.mark.parametrize(
    ("difference", "p_value", "metric", "expected"),
    [
        (0.501, 0.049, "accuracy_pct", True), (-0.501, 0.049, "accuracy_pct", True),
        (0.5, 0.001, "accuracy_pct", False), (0.501, 0.05, "accuracy_pct", False),
        (0.001, 0.049, ERROR, True), (5.0, math.nan, "accuracy_pct", False),
    ],
)  # fmt: skip
def test_an_effect_passes_and_exceeds_half_a_point(difference, p_value, metric, expected):
    assert is_effect(Estimate(difference, p=p_value, n=10), metric) == expected


def test_holm_by_hand_and_of_statsmodels_without_the_missing_ones():
    # ordered 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1 is 0.04, 0.06, 0.06, 0.04; never to decrease, the last is 0.06
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []
    p_values = np.array([0.04, np.nan, 0.001, 0.04, 0.2, 0.9, np.nan])
    tested = ~np.isnan(p_values)
    assert holm(p_values)[tested] == pytest.approx(multipletests(p_values[tested], method="holm")[1])
    assert np.isnan(holm(p_values)[~tested]).all()
    # what could not be tested is no member of a family
    tests = {name: Estimate(1.0, p=p, n=10) for name, p in (("a", 0.02), ("b", math.nan), ("c", 0.03))}
    adjusted = {name: test.p for name, test in family(tests).items()}
    assert (adjusted["a"], adjusted["c"]) == pytest.approx((0.04, 0.04))
    assert math.isnan(adjusted["b"])


def rows_of(n_train=60, n_test=40, metric="accuracy_pct", learner="ridge", dataset="d", **columns):
    shared = {
        "experiment": "e", "dataset": dataset, "method": "rff", "metric": metric, "learner": learner, "repeat": 0,
        "value": 1.0, "status": "ok", "n_train": n_train, "n_test": n_test,
    }  # fmt: skip
    return tidy.frame([shared | columns])


def overlap(rows, facts=None, tasks=None):
    reported = [] if facts is None else [rows_of(metric="fact_rows", learner="", split="all", **facts)]
    return overlap_of(rows, Context(pd.concat([rows, *reported]), {}, tasks or {}))


def test_random_splits_overlap_by_the_rows_that_were_used():
    half, fixed = {"settings": {"split": "half"}}, {"settings": {"split": "published"}}
    assert overlap(rows_of(), half) == pytest.approx(40 / 60)
    assert overlap(rows_of(metric="mse"), {"settings": {"split": "random"}}) == pytest.approx(40 / 60)
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
    with pytest.raises(ValueError, match="lack the numbers of training and test rows"):
        overlap(rows_of(n_test=None), {"settings": {"split": "half"}})
    with pytest.raises(ValueError, match="within one data set"):
        overlap(pd.concat([rows_of(), rows_of(dataset="other")]))


def verdict_on(metric="accuracy_pct", **numbers):
    """The judgement on one cell."""
    known = ["published", "published_std", "published_error", "published_n", "rounding", "value", "std", "error", "n"]
    cell = dict.fromkeys(known, math.nan) | {"metric": metric, "comparable": True, "too_noisy": False} | numbers
    return with_verdicts(pd.DataFrame([cell])).iloc[0]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ({"published_std": 0.6, "published_n": 9, "rounding": 0.005, "std": 0.8, "n": 4}, (0.2, 0.4, 0.005)),
        # a standard error is the published one
        ({"published_error": 0.2, "std": 0.8, "n": 4}, (0.2, 0.4)),
        # ours in place of a missing one, over the paper's repeats if they are known
        ({"published_n": 16, "std": 0.8, "n": 4}, (0.2, 0.4)),
        ({"std": 0.8, "n": 4}, (0.4, 0.4)),
        ({"error": 0.3, "n": 0}, (0.3, 0.3)),
        # theirs for a single repeat of ours
        *((of | {"published_n": 9, "n": 1}, (0.2, 0.6)) for of in ({"published_std": 0.6}, {"published_error": 0.2})),
    ],
)
def test_the_standard_error_has_both_spreads_and_the_rounding(numbers, expected):
    assert verdict_on(published=80.0, value=81.0, **numbers)["standard_error"] == pytest.approx(math.hypot(*expected))


@pytest.mark.parametrize(
    ("numbers", "freedom"),
    [
        ({"std": 0.8, "n": 5, "published_error": 0.0, "published_n": 10}, 4),
        *(({"std": 0.8, "n": 10, "published_n": 10} | of, 18) for of in ({}, {"published_std": 0.8})),
        ({"published_std": 0.8, "published_n": 10, "n": 1, "std": math.nan}, 0.8**4 * 1.1**2 / (0.8**4 * 1.01 / 9)),
        ({"std": 0.8, "n": 5, "published_error": 0.2}, (0.128 + 0.04) ** 2 / (0.128**2 / 4)),
    ],
)
def test_the_half_width_is_that_of_students_t_with_welchs_degrees_of_freedom(numbers, freedom):
    found, expected = verdict_on(published=80.0, value=81.0, **numbers), stats.t.ppf(1 - 0.0027 / 2, freedom)
    assert found["half_width"] / found["standard_error"] == pytest.approx(expected, rel=1e-6)


def test_a_single_repeat_without_any_spread_is_too_noisy():
    alone = verdict_on(published=80.0, rounding=0.005, value=85.0, n=1)
    assert (alone["verdict"], alone["difference"]) == ("too noisy", 5.0)
    assert math.isnan(alone["standard_error"])
    assert verdict_on(published=80.0, published_std=0.5, published_n=10, value=85.0, n=1)["verdict"] == "better"
    assert verdict_on(published=80.0, value=85.0, std=0.5, n=3)["verdict"] == "better"


@pytest.mark.parametrize(("numbers", "difference", "verdict"), [
    ({"value": math.nan}, math.nan, "not run"), ({"published": math.nan}, math.nan, "not comparable"),
    ({"comparable": False}, 1.0, "not comparable"), ({"too_noisy": True}, 1.0, "too noisy"),
])  # fmt: skip
def test_what_is_missing_lost_or_other_data_is_not_judged(numbers, difference, verdict):
    found = verdict_on(**{"published": 80.0, "published_error": 0.1, "value": 81.0, "error": 0.1} | numbers)
    assert found["verdict"] == verdict
    assert found["difference"] == pytest.approx(difference, nan_ok=True)
    assert math.isnan(found["margin"]) == (verdict != "too noisy")


@pytest.mark.parametrize(("difference", "error", "verdict"), [
    (0.49, 0.0, "reproduced"), (0.51, 0.0, "better"), (-0.49, 0.0, "reproduced"), (-0.51, 0.0, "worse"),
    # three standard errors above the margin: 0.6, 0.9
    (0.59, 0.2, "reproduced"), (0.61, 0.2, "better"), (-0.89, 0.3, "reproduced"), (-0.91, 0.3, "worse"),
    # and above twice the margin: 0.999, 1.002
    (0.1, 0.333, "reproduced"), (0.1, 0.334, "too noisy"), (1.0, 0.334, "too noisy"), (1.01, 0.334, "better"),
])  # fmt: skip
def test_the_borders_of_the_verdicts(difference, error, verdict):
    found = verdict_on(published=80.0, published_error=error, value=80.0 + difference, error=0.0)
    assert (found["verdict"], found["margin"], found["standard_error"]) == (verdict, 0.5, error)


@pytest.mark.parametrize(("ours", "verdict"), [(100.0, "reproduced"), (101.0, "not comparable")])
def test_counts_are_the_same_or_of_other_data(ours, verdict):
    found = verdict_on("n_test", published=100.0, rounding=0.5, value=ours, n=0)
    assert (found["verdict"], found["difference"], found["margin"]) == (verdict, ours - 100.0, 0.0)
    assert math.isnan(found["standard_error"])
