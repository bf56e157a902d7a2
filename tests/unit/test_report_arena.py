"""The statistics of the arena: effects by data set, their mean over data sets, verdicts, halves."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from rfstudy.report.tables.arena import (
    Combined,
    combined,
    effects_of,
    errors_of,
    false_verdicts,
    half_of,
    verdicts,
)

TOLERANCE = 1e-6


def naive(effect, variance):
    """Mean and standard error by the formulas of Paule and Mandel and of Hartung and Knapp."""
    k = len(effect)

    def mean_of(tau_squared):
        weights = 1 / (variance + tau_squared)
        return weights, np.sum(weights * effect) / weights.sum()

    def excess(tau_squared):
        weights, mean = mean_of(tau_squared)
        return np.sum(weights * (effect - mean) ** 2) - (k - 1)

    tau_squared = optimize.brentq(excess, 0, 100) if excess(0) > 0 else 0.0
    weights, mean = mean_of(tau_squared)
    return mean, np.sqrt(np.sum(weights * (effect - mean) ** 2) / (k - 1) / weights.sum()), tau_squared


@pytest.mark.parametrize("between", [0.0, 0.2])
def test_the_mean_over_data_sets_is_that_of_paule_mandel_hartung_and_knapp(between):
    rng = np.random.default_rng(7)
    variance = rng.uniform(0.001, 0.01, 20)
    effect = 0.1 + rng.standard_normal(20) * np.sqrt(variance + between**2)
    found = combined(effect, variance)
    mean, error, tau_squared = naive(effect, variance)
    assert found.mean.value == pytest.approx(mean, abs=TOLERANCE)
    assert found.mean.error == pytest.approx(error, abs=TOLERANCE)
    assert found.tau**2 == pytest.approx(tau_squared, abs=TOLERANCE)
    reach = stats.t.ppf(0.975, 19) * error
    assert (found.mean.low, found.mean.high) == pytest.approx((mean - reach, mean + reach), abs=TOLERANCE)
    assert found.mean.p == pytest.approx(2 * stats.t.sf(abs(mean) / error, 19), abs=TOLERANCE)
    new = stats.t.ppf(0.975, 18) * np.sqrt(tau_squared + error**2)
    assert found.new == pytest.approx((mean - new, mean + new), abs=TOLERANCE)
    assert found.p_equivalent == pytest.approx(stats.t.cdf((abs(mean) - np.log(1.02)) / error, 19), abs=TOLERANCE)


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
    variances = [np.full(20, 0.01**2), np.linspace(0.01, 0.05, 20) ** 2]
    rate = false_verdicts(variances, [0.0, 0.02], 400, seed=1)
    assert rate <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert false_verdicts(variances, [0.0, 0.02], 50, seed=1) == false_verdicts(variances, [0.0, 0.02], 50, seed=1)


def test_halves_share_every_stratum():
    names = [f"set-{i}" for i in range(25)]
    datasets = pd.DataFrame({"dataset": names, "stratum": ["small", "large", "small", "labels", "labels"] * 5})
    half = half_of(datasets)
    for _, own in datasets.groupby("stratum"):
        assert abs(2 * half[own["dataset"]].sum() - len(own)) <= 1
    assert half.equals(half_of(datasets.iloc[::-1])[names])
