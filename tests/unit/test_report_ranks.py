"""Mean ranks over data sets: the tests against scipy and by hand, what few data sets cannot say, and the figures."""

import itertools

import numpy as np
import pandas as pd
import pytest
import report_rows
from scipy import stats

from rfstudy import tidy
from rfstudy.report import ranks
from rfstudy.report.compare import holm
from rfstudy.report.plots import critical_difference

ERROR = "approximation_error_frobenius"


def made(n_datasets, n_methods, seed=0):
    values = np.random.default_rng(seed).normal(size=(n_datasets, n_methods))
    return pd.DataFrame(values, index=[f"set{i}" for i in range(n_datasets)], columns=list("abcdefghij")[:n_methods])


def in_order(n_datasets, n_methods):
    """Scores that rise from method to method on every data set, no two differences of a pair being equal."""
    table = made(n_datasets, n_methods)
    steps = np.arange(1, n_datasets + 1)[:, None] * np.arange(n_methods) * 10.0
    return table + steps


def test_friedmans_test_by_hand_and_by_scipy():
    # ranks on five data sets: a 1 1 1 2 1, b 2 2 3 1 2, c 3 3 2 3 3; their sums are 6, 10 and 14
    table = pd.DataFrame({"a": [1, 1, 1, 2, 1], "b": [2, 2, 3, 1, 2], "c": [3, 3, 2, 3, 3]}, dtype=float)
    found = ranks.ranking(table, ERROR)
    assert found.ranks.to_dict() == {"a": 6 / 5, "b": 10 / 5, "c": 14 / 5}
    by_hand = 12 / (5 * 3 * 4) * (6**2 + 10**2 + 14**2) - 3 * 5 * 4
    assert found.chi_square == pytest.approx(by_hand)
    assert found.p_value == pytest.approx(stats.chi2.sf(by_hand, 2))
    # what is better high is ranked the other way round
    assert ranks.ranking(table, "accuracy_pct").ranks.to_dict() == {"c": 6 / 5, "b": 10 / 5, "a": 14 / 5}


@pytest.mark.parametrize("seed", range(5))
def test_the_tests_are_those_of_scipy_with_holms_correction(seed):
    table = made(9, 4, seed)
    found = ranks.ranking(table, ERROR)
    assert (found.chi_square, found.p_value) == pytest.approx(stats.friedmanchisquare(*table.to_numpy().T))
    pairs = list(itertools.combinations(table.columns, 2))
    adjusted = holm([stats.wilcoxon(table[a], table[b]).pvalue for a, b in pairs])
    for pair, p_value in zip(pairs, adjusted, strict=True):
        assert found.pairs[frozenset(pair)] == p_value
        assert found.differ(*pair) == found.differ(*pair[::-1]) == (p_value < 0.05)


def test_wilcoxons_test_by_hand():
    # six differences of one sign: 2 of the 2^6 signs are as extreme; three such pairs, by Holm times 3
    found = ranks.ranking(in_order(6, 3), ERROR)
    assert list(found.pairs.values()) == pytest.approx([3 * 2 / 2**6] * 3)
    assert found.ranks.index.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("n_methods", [3, 4, 9])
def test_so_few_data_sets_cannot_tell_any_two_apart_and_so_many_can(n_methods):
    needed = ranks.datasets_needed(n_methods)
    for n_datasets in (needed - 1, needed):
        found = ranks.ranking(in_order(n_datasets, n_methods), ERROR)
        smallest = ranks.smallest_p_value(n_datasets, n_methods)
        assert min(found.pairs.values()) == pytest.approx(smallest)
        assert (found.alike == [tuple(found.ranks.index)]) == (n_datasets < needed)
        assert found.differ("a", "b") == (n_datasets >= needed)
    assert found.alike == []


def test_methods_that_tie_everywhere_are_alike():
    table = made(8, 3)
    table["b"] = table["a"]
    found = ranks.ranking(table, ERROR)
    assert found.ranks["a"] == found.ranks["b"]
    assert found.pairs[frozenset("ab")] == 1.0
    same = table.assign(c=table["a"])
    assert ranks.friedman(same) == (0.0, 1.0)
    assert ranks.ranking(same, ERROR).alike == [("a", "b", "c")]


def test_runs_of_methods_that_are_alike_are_the_longest_ones():
    everything = frozenset(map(frozenset, itertools.combinations("abcde", 2)))
    rank = pd.Series(range(1, 6), index=list("abcde"), dtype=float)

    def alike(*differ):
        p_values = {pair: 0.01 if pair in set(map(frozenset, differ)) else 1.0 for pair in everything}
        return ranks.Ranking(rank, ("x",), (), 1.0, 0.1, p_values).alike

    assert alike() == [tuple("abcde")]
    assert alike("ae") == [tuple("abcd"), tuple("bcde")]
    assert alike("ae", "ad", "be") == [tuple("abc"), tuple("bcd"), tuple("cde")]
    assert alike("ab") == [tuple("bcde")]
    # b and d differ, whoever stands between them
    assert alike("bd", "ad") == [tuple("abc"), tuple("cde")]
    assert alike(*everything) == []


def test_demsars_table_of_the_two_tailed_nemenyi_test():
    printed = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}
    for n_methods, quantile in printed.items():
        distance = quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * 14))
        assert ranks.critical_difference(14, n_methods) == pytest.approx(distance, abs=1e-3)


def test_a_data_set_without_a_score_of_every_method_is_left_out_and_said():
    table = made(7, 3)
    table.loc["set2", "b"] = np.nan
    found = ranks.ranking(table, ERROR)
    assert found.left_out == ("set2",)
    assert found.datasets == tuple(f"set{i}" for i in (0, 1, 3, 4, 5, 6))
    assert found.ranks.to_dict() == ranks.ranking(table.drop("set2"), ERROR).ranks.to_dict()


def test_under_five_data_sets_or_three_methods_there_is_no_test():
    for table in (made(4, 3), made(8, 2)):
        found = ranks.ranking(table, ERROR)
        assert np.isnan(found.p_value)
        assert found.pairs == {}
        assert found.alike == []
        assert len(found.ranks) == table.shape[1]
    assert ranks.ranking(made(5, 3), ERROR).pairs


def test_a_score_is_the_mean_over_sizes_and_repeats_of_logarithms_where_it_is_no_percentage():
    shared = {"dataset": "eeg", "status": "ok", "axis": "", "variant": ""}
    errors = {("rff", "2d"): [0.1, 0.4], ("rff", "4d"): [0.2, 0.1], ("orf", "2d"): [0.3, 0.3], ("orf", "4d"): [0.1]}
    rows = [
        shared | {"method": m, "n_features_label": s, "repeat": i, "metric": ERROR, "value": value}
        for (m, s), values in errors.items()
        for i, value in enumerate(values)
    ]
    found = ranks.scores(tidy.frame(rows), {"metric": ERROR}, ["rff", "orf", "qmc"], ["2d", "4d"])
    assert found.columns.tolist() == ["rff", "orf"]
    assert found.loc["eeg", "rff"] == pytest.approx(np.log([0.1, 0.4, 0.2, 0.1]).mean())
    assert found.loc["eeg", "orf"] == pytest.approx(np.log([0.3, 0.1]).mean())  # the repeat with both sizes
    points = [row | {"metric": "accuracy_pct", "value": 100 * row["value"]} for row in rows]
    found = ranks.scores(tidy.frame(points), {"metric": "accuracy_pct"}, ["rff", "orf"], ["2d", "4d"])
    assert found.loc["eeg"].tolist() == pytest.approx([20.0, 20.0])


# --- figures ----------------------------------------------------------------------------------------------------------

DIAGRAM = report_rows.spec_of("critical-difference-text")


def diagram(rows, **changes):
    return critical_difference.draw(report_rows.context_of(rows), DIAGRAM | changes)


def test_what_few_data_sets_cannot_say_is_said():
    three = dict(itertools.islice(report_rows.TASKS.items(), 3))
    picture = diagram(report_rows.made_rows(three))
    assert len(picture.figure.axes) == 6
    told = " ".join(picture.notes)
    assert "No test under 5 data sets (here 3): ranks tell of these data sets alone." in told
    assert "Friedman" not in told
    one = diagram(report_rows.made_rows({"eeg": report_rows.TASKS["eeg"]}))
    assert one.figure.axes == []
    assert "Not drawn: approximation error, small s" in " ".join(one.notes)


def test_a_data_set_with_a_missing_map_is_named():
    rows = [row for row in report_rows.made_rows() if (row["dataset"], row["method"]) != ("skin", "gq")]
    picture = diagram(rows)
    assert picture.figure.axes[0].get_title().endswith("(7 sets)")
    assert "Left out, since not every map has a score: approximation error, small s: skin;" in " ".join(picture.notes)
