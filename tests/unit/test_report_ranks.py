"""Mean ranks over data sets: the tests against scipy and by hand, what few data sets cannot say, and the figures."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rfstudy import tidy
from rfstudy.report import ranks

ERROR = "approximation_error_frobenius"


def made(n_datasets, n_methods, seed=0):
    values = np.random.default_rng(seed).normal(size=(n_datasets, n_methods))
    return pd.DataFrame(values, index=[f"set{i}" for i in range(n_datasets)], columns=list("abcdefghij")[:n_methods])


def rows_of(errors, metric=ERROR, dataset="eeg"):
    """Rows of {(method, size): values by repeat}."""
    shared = {"dataset": dataset, "status": "ok", "axis": "", "variant": "", "metric": metric}
    return [
        shared | {"method": method, "n_features_label": size, "repeat": repeat, "value": value}
        for (method, size), values in errors.items()
        for repeat, value in enumerate(values)
    ]


def test_friedmans_test_by_hand_and_by_scipy():
    # ranks on five data sets: a 1 1 1 2 1, b 2 2 3 1 2, c 3 3 2 3 3; their sums are 6, 10 and 14
    table = pd.DataFrame({"a": [1, 1, 1, 2, 1], "b": [2, 2, 3, 1, 2], "c": [3, 3, 2, 3, 3]}, dtype=float)
    found = ranks.ranking(table, ERROR)
    assert found.ranks.to_dict() == {"a": 6 / 5, "b": 10 / 5, "c": 14 / 5}
    by_hand = 12 / (5 * 3 * 4) * (6**2 + 10**2 + 14**2) - 3 * 5 * 4
    assert found.p_value == pytest.approx(stats.chi2.sf(by_hand, 2))
    # what is better high is ranked the other way round
    assert ranks.ranking(table, "accuracy_pct").ranks.to_dict() == {"c": 6 / 5, "b": 10 / 5, "a": 14 / 5}


def test_methods_that_tie_everywhere_share_a_rank_and_few_data_sets_have_no_test():
    table = made(8, 3)
    table["b"] = table["a"]
    found = ranks.ranking(table, ERROR)
    assert found.ranks["a"] == found.ranks["b"]
    assert ranks.friedman(table.assign(c=table["a"])) == 1.0
    for few in (made(4, 3), made(8, 2)):
        assert np.isnan(ranks.ranking(few, ERROR).p_value)


def test_demsars_table_of_the_two_tailed_nemenyi_test():
    printed = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}
    for n_methods, quantile in printed.items():
        distance = quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * 14))
        assert ranks.nemenyi(14, n_methods) == pytest.approx(distance, abs=1e-3)


def test_a_data_set_without_a_score_of_every_method_is_left_out_and_said():
    table = made(7, 3)
    table.loc["set2", "b"] = np.nan
    found = ranks.ranking(table, ERROR)
    assert found.datasets == tuple(f"set{i}" for i in (0, 1, 3, 4, 5, 6))
    assert found.ranks.to_dict() == ranks.ranking(table.drop("set2"), ERROR).ranks.to_dict()


def test_a_score_is_the_mean_over_sizes_and_repeats_of_logarithms_where_it_is_no_percentage():
    errors = {("rff", "2d"): [0.1, 0.4], ("rff", "4d"): [0.2, 0.1], ("orf", "2d"): [0.3, 0.3], ("orf", "4d"): [0.1]}
    rows = rows_of(errors)
    found = ranks.scores(tidy.frame(rows), {"metric": ERROR}, ["rff", "orf", "qmc"], ["2d", "4d"])
    assert found.columns.tolist() == ["rff", "orf"]
    assert found.loc["eeg", "rff"] == pytest.approx(np.log([0.1, 0.4, 0.2, 0.1]).mean())
    assert found.loc["eeg", "orf"] == pytest.approx(np.log([0.3, 0.1]).mean())  # the repeat with both sizes
    points = [row | {"metric": "accuracy_pct", "value": 100 * row["value"]} for row in rows]
    found = ranks.scores(tidy.frame(points), {"metric": "accuracy_pct"}, ["rff", "orf"], ["2d", "4d"])
    assert found.loc["eeg"].tolist() == pytest.approx([20.0, 20.0])


def test_an_error_of_zero_ranks_first_and_two_exact_maps_tie():
    by_size = {("rff", "2d"): [0.1] * 3, ("orf", "2d"): [0.0] * 3, ("qmc", "2d"): [1e-20, 0.0, 1e-17]}
    rows = [row for dataset in "abcde" for row in rows_of(by_size, dataset=dataset)]
    table = ranks.scores(tidy.frame(rows), {"metric": ERROR}, ["rff", "orf", "qmc"], ["2d"])
    assert np.isfinite(table.to_numpy()).all()
    assert ranks.ranking(table, ERROR).ranks.to_dict() == {"orf": 1.5, "qmc": 1.5, "rff": 3.0}


@pytest.mark.parametrize(("metric", "value"), [("time_feature_s", 0.0), ("mse", 0.0), (ERROR, -0.1)])
def test_what_has_no_logarithm_is_refused(metric, value):
    rows = tidy.frame(rows_of({("rff", "2d"): [1.0, value]}, metric))
    with pytest.raises(ValueError, match=f"{metric} must be positive"):
        ranks.scores(rows, {"metric": metric}, ["rff"], ["2d"])
