"""The statistics of the arena: effects by data set, their mean over data sets, verdicts, halves."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects

from rfstudy.data import tasks
from rfstudy.report import arena
from rfstudy.report.arena import (
    Combined,
    combined,
    effects_of,
    errors_of,
    false_verdicts,
    half_of,
    verdicts,
)


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
    test = stats.ttest_1samp(effect, 0.0)
    assert found.mean.p == pytest.approx(test.pvalue)
    assert (found.mean.low, found.mean.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
    new = stats.t.ppf(0.975, 18) * np.sqrt(tau**2 + error**2)
    assert found.new == pytest.approx((mean - new, mean + new))
    below = stats.ttest_1samp(effect, np.log(1.02), alternative="less").pvalue
    above = stats.ttest_1samp(effect, -np.log(1.02), alternative="greater").pvalue
    assert found.p_equivalent == pytest.approx(max(below, above))
    both = combined(np.stack([effect, -effect]), variance)
    assert both.mean.value == pytest.approx([mean, -mean])
    assert both.tau == pytest.approx([tau, tau])


def test_the_interval_is_hartung_and_knapps_if_all_weights_are_equal():
    rng = np.random.default_rng(8)
    effect = rng.normal(0.1, 0.2, 12)
    found, peer = combined(effect, np.full(12, 0.01)), combine_effects(effect, np.full(12, 0.01), method_re="iterated")
    assert found.mean.value == pytest.approx(peer.mean_effect_re)
    assert found.mean.error == pytest.approx(peer.sd_eff_w_re_hksj)
    assert found.tau**2 == pytest.approx(peer.tau2, abs=1e-6)


def rows_of(values, metric, n_test=100):
    """Rows of a data set: by method the values of its folds, at 64 columns."""
    return pd.DataFrame(
        [
            {
                "dataset": "toy", "method": method, "variant": "", "n_features": 32, "n_columns": 64, "repeat": fold,
                "metric": metric, "value": value, "n_test": n_test, "status": "ok",
            }
            for method, of in values.items()
            for fold, value in enumerate(of)
        ]
    )  # fmt: skip


def test_an_effect_is_the_ratio_of_summed_errors_and_its_variance_the_jackknifes():
    one, other = np.array([1.0, 2.0, 4.0, 3.0]), np.array([2.0, 2.0, 5.0, 4.0])
    (found,) = effects_of(errors_of(rows_of({"orf": one, "rff": other}, "mse")), "rff").to_dict("records")
    assert found["effect"] == pytest.approx(np.log(10 / 13))
    left_out = [np.log((10 - a) / (13 - b)) for a, b in zip(one, other, strict=True)]
    assert found["variance"] == pytest.approx(3 / 4 * np.sum((left_out - np.mean(left_out)) ** 2))
    assert (found["columns"], found["folds"]) == (64, 4)


def test_wrong_labels_count_with_one_half_where_there_are_enough():
    accuracy = {"orf": [80.0, 90.0, 70.0], "rff": [75.0, 80.0, 70.0]}
    (found,) = effects_of(errors_of(rows_of(accuracy, "accuracy_pct")), "rff").to_dict("records")
    assert found["effect"] == pytest.approx(np.log(60.5 / 75.5))
    assert found["wrong"] == pytest.approx(75)
    assert effects_of(errors_of(rows_of(accuracy, "accuracy_pct", n_test=60)), "rff").empty


def of_sets(effect, error=0.005, k=20):
    """Effects of ``k`` data sets, alternately above and below their mean."""
    return combined(effect + error * np.resize([1, -1], k), np.full(k, error**2))


def test_a_verdict_needs_an_interval_without_zero_or_an_equal_control():
    maps = [of_sets(-0.1), of_sets(0.1), of_sets(0.0), of_sets(0.01, error=0.1)]
    assert verdicts(maps, 3 * [of_sets(0.0)]) == ["better", "worse", "equal", "undecided"]
    for controls in ([], [of_sets(0.0), of_sets(0.0, error=0.2), of_sets(0.0, error=0.3)]):
        assert verdicts(maps, controls) == ["better", "worse", "undecided", "undecided"]
    assert isinstance(maps[0], Combined)


def test_without_a_difference_at_most_one_family_in_twenty_has_a_verdict():
    variances = [np.full(20, 0.01**2), np.geomspace(0.002, 0.1, 20) ** 2]
    for folds in (10_000, 10, 3):
        rate = false_verdicts(variances, [0.0, 0.02], [np.full(20, folds)] * 2, 2000, seed=1)
        assert 0.005 < rate <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)
    again = [false_verdicts(variances, [0.0, 0.02], [np.full(20, 3)] * 2, 50, seed=1) for _ in range(2)]
    assert again[0] == again[1]


def test_the_smallest_of_holms_p_values_decides_a_simulation(monkeypatch):
    ps = iter([np.array([0.01, 0.03, 0.9]), np.array([0.5, 0.04, 0.02])])
    made = of_sets(0.0)
    monkeypatch.setattr(arena, "combined", lambda effect, variance: made._replace(mean=made.mean._replace(p=next(ps))))
    # Holm: 0.02, 0.06 and 0.04
    assert false_verdicts([np.ones(4)] * 2, [0.0] * 2, [np.full(4, 3)] * 2, 3, seed=0) == pytest.approx(2 / 3)


def test_halves_share_every_stratum():
    names = [f"set-{i}" for i in range(25)]
    datasets = pd.DataFrame({"dataset": names, "stratum": ["small", "large", "small", "labels", "labels"] * 5})
    half = half_of(datasets)
    for _, own in datasets.groupby("stratum"):
        assert abs(2 * half[own["dataset"]].sum() - len(own)) <= 1
    assert half.equals(half_of(datasets.iloc[::-1])[names])
