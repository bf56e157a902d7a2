"""The test between maps that are drawn several times on each split: closed forms, what it finds, what it says."""

import numpy as np
import pandas as pd
import pytest
from report_rows import context_of
from scipy import stats
from verdict_rows import row

from rfstudy.report.compare import Estimate, nested, ranking
from rfstudy.report.tables import power

QUANTITY = {"metric": "accuracy_pct", "learner": "ridge", "split": "test"}
N_TEST = 1000


def drawn(rng, *shape, mean=80.0, of_splits=2.0, of_draws=1.0):
    """Accuracies of a method by split and draw: splits shift all draws alike."""
    return mean + of_splits * rng.standard_normal((*shape[:-1], 1)) + of_draws * rng.standard_normal(shape)


def rows_of(values, method="rff", n_columns=64, blocks=None):
    """Rows of accuracies by split and draw, with errors in blocks of test rows."""
    blocks = [5] * 50 if blocks is None else blocks
    shared = {"method": method, "n_features": n_columns // 2, "n_features_label": str(n_columns), "axis": "draw"}
    shared |= {"n_columns": n_columns, "n_train": N_TEST, "n_test": N_TEST, "learner": "ridge", "split": "test"}
    return [
        row("accuracy_pct", value, repeat=split, at=draw, settings={"errors_by_block": list(blocks)}, **shared)
        for split, of_split in enumerate(values)
        for draw, value in enumerate(of_split)
    ]


def test_on_one_split_it_is_the_test_of_welch():
    rng = np.random.default_rng(0)
    one, other = drawn(rng, 1, 6), drawn(rng, 1, 9, mean=81.0, of_draws=3.0)
    test, welch = nested(one, other), stats.ttest_ind(one[0], other[0], equal_var=False)
    interval = welch.confidence_interval()
    expected = one.mean() - other.mean(), interval.low, interval.high, welch.pvalue, welch.df
    assert (test.value, test.low, test.high, test.p, test.df) == pytest.approx(expected)


def test_the_error_is_that_of_the_draws_for_any_splits():
    one, other = np.array([[1.0, 3.0], [11.0, 13.0]]), np.array([[0.0, 0.0, 0.0], [5.0, 5.0, 5.0]])
    test = nested(one, other)  # variances 2 and 0 within splits, 4 draws of the first
    assert (test.value, test.error, test.df, test.n) == pytest.approx((4.5, np.sqrt(2.0 / 4.0), 2.0, 2))
    assert nested(other, other).p == 1.0
    assert nested(other + 1.0, other).p == 0.0


def test_without_a_difference_it_passes_in_one_of_twenty_and_finds_what_it_detects_in_four_of_five():
    rng = np.random.default_rng(1)
    shape, error = (4000, 10, 5), np.sqrt(2.0 / 50.0)
    one, other = rng.standard_normal((2, *shape)) + 3.0 * rng.standard_normal((10, 1))  # on the same splits
    detectable = Estimate(0.0, error=error, df=80.0).detectable
    for shift, share in ((0.0, 0.05), (detectable, 0.8)):
        found = np.mean(nested(one + shift, other).p < 0.05)
        assert abs(found - share) < 4 * np.sqrt(share * (1 - share) / shape[0])


@pytest.mark.parametrize(
    ("value", "error", "p", "word"),
    [(0.7, 0.1, 0.01, "better"), (-0.7, 0.1, 0.01, "worse"), (0.7, 0.4, 0.06, "undecided"), (0.0, 0.01, 1.0, "equal")],
)
def test_a_ranking_needs_an_effect_and_equality_a_test_of_its_own(value, error, p, word):
    assert ranking(Estimate(value, error=error, p=p, df=80.0), "accuracy_pct") == word
    opposite = {"better": "worse", "worse": "better"}.get(word, word)
    assert ranking(Estimate(value, error=error, p=p, df=80.0), "error_pct") == opposite


def test_the_table_compares_at_equal_columns_and_says_what_varies():
    rng = np.random.default_rng(2)
    base = drawn(rng, 10, 5, of_draws=0.1)
    blocks = [4, 6] * 25  # their deviation is 10 / 7 errors, sqrt(50) times that over the test rows
    rows = rows_of(base) + rows_of(base, n_columns=128)
    rows += rows_of(base.mean(axis=1, keepdims=True) + drawn(rng, 10, 5, mean=2.0, of_splits=0.0), "orf", blocks=blocks)
    rows += [row | {"n_columns": 127} for row in rows_of(base + 0.01, "nystroem", n_columns=128)]  # one dropped
    rows += rows_of(base, "nystroem", n_columns=32)
    spec = {"paper": "study", "datasets": ["eeg"], "methods": ["orf", "nystroem"], "baseline": "rff"}
    table = power.power(context_of(rows), **spec, quantity=QUANTITY).frame
    assert table[["D", "verdict"]].to_numpy().tolist() == [[64, "better"], [128, "equal"]]
    first, second = table.iloc[0], table.iloc[1]
    assert first["test rows"] == pytest.approx(100 * np.sqrt(50 * 50 / 49) / N_TEST, abs=0.01)
    assert (first["draw"], second["draw"]) == pytest.approx((1.0, 0.14), abs=0.3)
    assert first["split"] < 0.5 < base.mean(axis=1).std()
    assert first["detectable"] == pytest.approx((stats.t.ppf(0.975, 44) + stats.t.ppf(0.8, 44)) / np.sqrt(50), rel=0.3)
    assert second["p, new rows"] < 1.0


def test_no_map_is_ranked_where_the_baseline_is_worse_than_naming_a_class():
    fact = {"metric": "fact_neighbours_agree_by_chance", "value": 0.5, "axis": "", "split": "all", "learner": ""}
    rows = rows_of(np.full((10, 5), 40.0)) + rows_of(np.full((10, 5), 45.0), "orf")
    rows += [rows[0] | fact | {"at": None, "settings": {}}]
    spec = {"paper": "study", "datasets": ["eeg"], "methods": ["orf"], "baseline": "rff", "quantity": QUANTITY}
    tasks = {"eeg": {"target": "binary", "published_as": {}, "split": "half"}}
    (found,) = power.power(context_of(rows, tasks=tasks), **spec).frame["verdict"]
    assert found == power.NO_RANKING


def test_the_calibration_passes_and_finds_at_the_rates_that_it_is_made_for():
    rows = rows_of(drawn(np.random.default_rng(3), 10, 40))
    spec = {"paper": "study", "datasets": ["eeg"], "quantity": QUANTITY, "draws": 5, "comparisons": 2000}
    (found,) = power.calibration(context_of(rows), **spec).frame.to_dict("records")
    for name, share in (("passes", 5.0), ("found", 80.0)):
        assert abs(found[name].values[""] - share) < 4 * found[name].values["error"], name


def test_intervals_of_ratios_cover_that_of_the_means_in_nineteen_of_twenty():
    rng, n = np.random.default_rng(4), 1000
    of_splits = 10.0 + rng.standard_normal((4, 1))
    one, other = (mean * of_splits + 0.3 * rng.standard_normal((n, 4, 20)) for mean in (0.8, 1.0))
    found = [power.ratio(pd.DataFrame(a), pd.DataFrame(b)).values for a, b in zip(one, other, strict=True)]
    assert np.mean([each[""] for each in found]) == pytest.approx(0.8, rel=1e-3)
    covered = np.mean([each["low"] < 0.8 < each["high"] for each in found])
    assert abs(covered - 0.95) < 4 * np.sqrt(0.95 * 0.05 / n)
