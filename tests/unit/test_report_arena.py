"""The statistics of the arena: errors, effects by data set, what they say together, verdicts and outcomes."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rfstudy.data import tasks
from rfstudy.report import arena
from rfstudy.report.arena import combined, decided, effects_of, errors_of, outcomes, typical


def test_the_rules_of_blocks_have_the_word_and_others_do_not():
    assert [rule for rule in tasks.SPLITS if "block" in rule] == list(tasks.OF_BLOCKS)


@pytest.mark.parametrize("between", [0.0, 0.2])
def test_the_mean_over_data_sets_is_that_of_a_sample_of_them(between):
    rng = np.random.default_rng(7)
    variance = rng.uniform(0.001, 0.01, 20)
    effect = 0.1 + rng.standard_normal(20) * np.sqrt(variance + between**2)
    found = combined(effect, variance)
    mean, error = sum(effect) / 20, np.sqrt(sum((effect - effect.mean()) ** 2) / 19 / 20)
    tau = np.sqrt(max(0.0, 20 * error**2 - sum(variance) / 20))
    assert (found.mean.value, found.mean.error, found.tau) == pytest.approx((mean, error, tau))
    interval = stats.ttest_1samp(effect, 0.0).confidence_interval(0.95)
    assert (found.mean.low, found.mean.high) == pytest.approx(tuple(interval))
    new = stats.t.ppf(0.975, 18) * np.sqrt(tau**2 + error**2)
    assert found.new == pytest.approx((mean - new, mean + new))


@pytest.mark.parametrize("k", [6, 7, 15, 30])
def test_the_interval_of_the_typical_effect_ends_where_the_signed_rank_test_rejects(k):
    effect = np.random.default_rng(k).normal(0.1, 0.2, k)
    found = typical(effect)
    means = [(a + b) / 2 for a, b in itertools.combinations_with_replacement(effect, 2)]
    assert found.value == pytest.approx(np.median(means))
    for end, inward in ((found.low, 1e-9), (found.high, -1e-9)):
        assert stats.wilcoxon(effect - end - inward, method="exact").pvalue > 0.05
        assert stats.wilcoxon(effect - end + inward, method="exact").pvalue < 0.05
    assert found.p == pytest.approx(stats.wilcoxon(effect, method="exact").pvalue)


def test_a_wild_data_set_does_not_move_the_typical_effect():
    effect = np.r_[np.linspace(-0.01, 0.01, 20), 9.0]
    found = combined(effect, np.zeros(21))
    assert abs(found.typical.value) < 0.005
    assert found.mean.value > 0.4
    assert found.p_equal < 0.05


def test_p_values_of_one_side_are_scipys():
    effect = np.random.default_rng(2).normal(-0.01, 0.01, 12)
    found = combined(effect, np.zeros(12))
    margin = np.log(1.02)
    below = stats.wilcoxon(effect - margin, alternative="less", method="exact").pvalue
    above = stats.wilcoxon(effect + margin, alternative="greater", method="exact").pvalue
    assert found.p_equal == max(below, above)
    assert found.p_lower == stats.wilcoxon(effect, alternative="less", method="exact").pvalue
    assert found.p_higher == stats.wilcoxon(effect, alternative="greater", method="exact").pvalue
    found = combined(np.zeros(12), np.zeros(12))  # effects that are all zero are equal
    assert (found.typical.value, found.typical.low, found.typical.high, found.typical.p) == (0, 0, 0, 1)
    assert found.p_equal < 0.001


def test_the_test_finds_what_it_is_said_to_detect():
    rng = np.random.default_rng(4)
    for sets, tests in ((9, 11), (12, 9), (30, 1)):
        drawn = rng.normal(0.02 * (shift := arena.shift_found(sets, tests)), 0.02, (4000, sets))
        is_found = stats.wilcoxon(drawn, axis=1, method="exact").pvalue < 0.05 / tests
        assert is_found.mean() == pytest.approx(0.8, abs=0.03)  # three standard errors of both simulations
        found = [typical(own) for own in drawn[:400] - 0.02 * shift]  # half-widths of few sets say a little too much
        assert np.mean([arena.detectable(each, tests) for each in found]) == pytest.approx(0.02 * shift, rel=0.07)


def test_p_values_of_rank_correlations_are_those_of_all_orders():
    x = np.array([1.0, 2.0, 3.0, 5.0, 4.0, 7.0, 6.0, 6.0])
    of_t = stats.spearmanr(x, np.arange(8.0))
    rho, p = arena.rank_correlation(x, np.arange(8.0))
    by_order = np.array(list(itertools.permutations(range(8)))) @ stats.rankdata(x)
    assert p == pytest.approx(2 * np.mean(by_order >= by_order[0]))
    assert (rho, p > 1.9 * of_t.pvalue) == (pytest.approx(of_t.statistic), True)
    many = np.random.default_rng(0).normal(size=(2, 30))
    assert arena.rank_correlation(*many)[1] == pytest.approx(stats.spearmanr(*many).pvalue, abs=0.01)


@pytest.mark.parametrize(("tests", "level", "needed"), [(8, 0.025, 9), (7, 0.05, 8), (1, 0.025, 6), (1, 0.0625, 5)])
def test_too_few_sets_can_confirm_nothing(tests, level, needed):
    assert arena.sets_needed(tests, level) == needed
    for sets, enough in ((needed - 1, False), (needed, True)):
        p = stats.wilcoxon(np.arange(1.0, sets + 1), alternative="greater", method="exact").pvalue
        assert (tests * p < level) == enough
    if level == 0.025:
        assert np.isnan(arena.detectable(typical(np.arange(1.0, needed)), tests))
        assert arena.detectable(typical(np.arange(1.0, needed + 1)), tests) > 0


def rows_of(values, metric, n_test=200, dataset="toy"):
    """Rows of a data set: by (method, variant) the values of its folds, at 64 columns."""
    return pd.DataFrame(
        [
            {
                "dataset": dataset, "method": method, "variant": variant, "n_features": 32, "n_columns": 64,
                "repeat": fold, "metric": metric, "value": value, "n_test": n_test, "status": "ok",
            }
            for (method, variant), of in values.items()
            for fold, value in enumerate(of)
        ]
    )  # fmt: skip


def effect_of(rows, method="orf"):
    found = effects_of(errors_of(rows), "rff", [64])
    return found[found["method"] == method].to_dict("records")


def test_an_effect_is_the_mean_over_draws_and_its_variance_the_jackknifes():
    one, first, second = (np.array(each, float) for each in ([1, 2, 4, 3], [2, 2, 5, 4], [4, 2, 6, 5]))
    values = {("orf", ""): one, ("rff", ""): first, ("rff", "control-1"): second}
    (found,) = effect_of(rows_of(values, "mse"))
    assert found["effect"] == pytest.approx(np.log(10) - (np.log(13) + np.log(17)) / 2)
    left_out = np.log(10 - one) - (np.log(13 - first) + np.log(17 - second)) / 2
    assert found["variance"] == pytest.approx(3 / 4 * np.sum((left_out - left_out.mean()) ** 2))
    assert found["folds"] == 4


@pytest.mark.parametrize(
    ("variant", "entry"),
    [("draw-1", ""), ("control-5", ""), ("rpcholesky-draw-23", "rpcholesky"), ("pool-4-draw-2", "pool-4"),
     ("pool-4", "pool-4"), ("distinct", "distinct")],
)  # fmt: skip
def test_a_further_draw_belongs_to_its_entry(variant, entry):
    values = {("lsrff", variant): [1.0, 2.0], ("rff", ""): [1.0, 1.0]}
    errors = errors_of(rows_of(values, "mse"))
    assert set(errors.loc[errors["method"] == "lsrff", "variant"]) == {entry}


def test_wrong_labels_count_with_one_half_where_there_are_enough_test_rows():
    accuracy = {("orf", ""): [80.0, 90.0, 70.0], ("rff", ""): [75.0, 80.0, 70.0]}
    (found,) = effect_of(rows_of(accuracy, "accuracy_pct"))
    assert found["effect"] == pytest.approx(np.log(120.5 / 150.5))
    assert effect_of(rows_of(accuracy, "accuracy_pct", n_test=166)) == []
    few = {("orf", ""): [100.0, 100.0, 100.0], ("rff", ""): [99.5, 100.0, 100.0]}
    assert effect_of(rows_of(few, "accuracy_pct"))[0]["effect"] == pytest.approx(np.log(0.5 / 1.5))


def test_an_unbalanced_set_is_judged_by_the_area_under_the_curve_alone():
    values = {("orf", ""): [90.0, 80.0], ("rff", ""): [80.0, 60.0]}
    both = pd.concat([rows_of(values, metric, dataset="tab-jm1") for metric in ("accuracy_pct", "auc_pct")])
    (found,) = effect_of(both)
    assert found["effect"] == pytest.approx(np.log(0.3 / 0.6))
    assert effect_of(both[both["metric"] == "accuracy_pct"]) == []
    assert effect_of(rows_of(values, "auc_pct")) == []


def test_a_draw_without_a_fold_is_left_out():
    rows = rows_of({("orf", ""): [1.0, 2.0, 3.0], ("orf", "draw-1"): [9.0, 9.0], ("rff", ""): [1.0] * 3}, "mse")
    assert effect_of(rows)[0]["effect"] == pytest.approx(np.log(6 / 3))


def test_a_data_set_enters_a_band_if_it_has_rows_at_all_its_sizes():
    rows = rows_of({("orf", ""): [1.0, 2.0], ("rff", ""): [1.0, 1.0]}, "mse")
    larger = rows.assign(n_features=64, n_columns=128, value=rows["value"] * 2)
    errors = errors_of(pd.concat([rows, larger[larger["method"] == "rff"]]))
    assert effects_of(errors, "rff", [64, 128]).empty
    both = errors_of(pd.concat([rows, larger.assign(value=larger["value"].where(larger["method"] == "rff", 1.0))]))
    found = effects_of(both, "rff", [64, 128])
    assert found["effect"].tolist() == pytest.approx([(np.log(3 / 2) + np.log(2 / 4)) / 2])


def of_sets(effect, error=0.005, k=20):
    """Effects of ``k`` data sets around their mean."""
    return combined(effect + error * np.linspace(-1, 1, k), np.full(k, error**2))


def test_verdicts_follow_from_the_tests():
    maps = [of_sets(-0.1), of_sets(0.1), of_sets(0.0), of_sets(0.01, error=0.1), of_sets(0.01, error=0.002)]
    words = ["better", "worse", "equal", "undecided", arena.NEGLIGIBLE]
    assert decided(maps, maps) == words
    assert decided(maps, [None] * 5) == ["better", "worse", "undecided", "undecided", "worse"]
    assert decided([], []) == []


def test_holms_correction_is_over_the_maps_of_a_band_and_over_the_statements_of_one_kind():
    effect = np.r_[np.linspace(0.01, 0.2, 9), -0.1]
    found = combined(effect, np.zeros(10))
    assert 0.01 < found.typical.p < 0.05
    assert decided([found], [None]) == ["worse"]
    for other in (of_sets(0.0, 0.1), None):  # a map with too few data sets counts
        assert decided([found] + [other] * 9, [None] * 10)[0] == "undecided"
    found = combined(np.r_[np.linspace(0.01, 0.2, 9), -0.07], np.zeros(10))
    assert 0.0125 > found.p_higher > 0.005
    worse, equal = {"says": "worse"}, {"says": "equal"}
    assert outcomes([worse, equal], [(found, None), None])[0] == "confirmed"
    assert outcomes([worse] * 5, [(found, None)] + [None] * 4)[0] == "undecided"


def test_outcomes_of_statements():
    cases = [
        ("better", of_sets(-0.1), "confirmed"), ("better", of_sets(0.1), "contradicted"),
        ("better", of_sets(-0.01, error=0.1), "undecided"), ("better", of_sets(-0.01, error=0.002), arena.NEGLIGIBLE),
        ("worse", of_sets(0.1), "confirmed"), ("worse", of_sets(-0.1), "contradicted"),
        ("equal", of_sets(0.0), "confirmed"), ("equal", of_sets(0.01, error=0.002), arena.NEGLIGIBLE),
        ("equal", of_sets(0.1), "contradicted"), ("equal", of_sets(-0.1), "contradicted"),
        ("equal", of_sets(0.02, error=0.05), "undecided"), ("equal", None, arena.TOO_FEW),
    ]  # fmt: skip
    statements = [{"says": says} for says, _, _ in cases]
    found = [(own, own) if own else None for _, own, _ in cases]
    assert outcomes(statements, found) == [word for *_, word in cases]
    fine, wide = of_sets(0.0), of_sets(0.0, error=0.2)  # equality needs the informative data sets
    found = [outcomes([{"says": "equal"}], [(fine, other)]) for other in (fine, wide, None)]
    assert found == [["confirmed"], ["undecided"], ["undecided"]]
