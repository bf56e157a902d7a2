"""Means and the test behind "best methods", on data whose answer is known."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rfstudy import tidy
from rfstudy.metrics import lower_is_better
from rfstudy.report.aggregate import (
    best_methods,
    holm,
    measured,
    method_order,
    paired_test,
    reasons,
    select,
    settings_of,
    summarise,
)

#: Four repeats of two methods at one size; one repeat failed and one was skipped.
ROWS = """\
origin,preset,paper,experiment,protocol,dataset,kernel,method,n_features,n_features_label,repeat,split,metric,value,status,settings
measured,laptop,survey,e,text,eeg,gaussian,rff,28,2d,0,test,accuracy_pct,80,ok,
measured,laptop,survey,e,text,eeg,gaussian,rff,28,2d,1,test,accuracy_pct,82,ok,
measured,laptop,survey,e,text,eeg,gaussian,rff,28,2d,2,test,accuracy_pct,87,ok,
measured,laptop,survey,e,text,eeg,gaussian,rff,28,2d,3,test,accuracy_pct,,failed,"{""reason"": ""singular""}"
measured,laptop,survey,e,text,eeg,gaussian,orf,28,2d,0,test,accuracy_pct,90,ok,
measured,laptop,survey,e,text,eeg,gaussian,orf,28,2d,1,test,accuracy_pct,0,skipped,"{""reason"": ""too large""}"
"""


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return tidy.read(path)


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


def test_means_are_over_ok_rows_and_the_others_are_counted(rows):
    cells = summarise(rows).set_index("method")
    assert cells.loc["rff", ["n", "n_failed", "n_skipped"]].tolist() == [3, 1, 0]
    assert cells.loc["rff", "mean"] == 83.0
    # deviations -3, -1, 4: (9 + 1 + 16) / (3 - 1)
    assert cells.loc["rff", "std"] == pytest.approx(np.sqrt(13.0), rel=1e-15)
    # the skipped row of orf carries a 0, which must not enter
    assert cells.loc["orf", ["mean", "n", "n_skipped"]].tolist() == [90.0, 1, 1]
    assert np.isnan(cells.loc["orf", "std"])
    assert reasons(rows) == ["singular", "too large"]


def test_a_measurement_that_is_there_twice_is_refused(rows):
    twice = pd.concat([rows, rows.iloc[:1]])
    with pytest.raises(ValueError, match=r"1 rows repeat a measurement, e\.g\. accuracy_pct of rff on eeg at 2d"):
        summarise(twice)
    with pytest.raises(ValueError, match="repeat a measurement"):
        best_methods(twice, "accuracy_pct", ["2d"])


def test_select_takes_one_value_or_several_and_leaves_none_alone(rows):
    assert len(select(rows, method="rff", learner=None)) == 4
    assert len(select(rows, method=["rff", "orf"], status="ok")) == 4
    assert len(select(rows, method="rm")) == 0


def test_settings_are_dicts(rows):
    assert settings_of(rows)[2:4] == [{}, {"reason": "singular"}]


def test_methods_come_in_the_order_listed_then_by_name(rows):
    assert method_order(rows, ["rff"]) == [("rff", ""), ("orf", "")]
    assert method_order(rows, []) == [("orf", ""), ("rff", "")]


def test_directions():
    assert lower_is_better("approximation_error_frobenius")
    assert lower_is_better("time_feature_s")
    assert not lower_is_better("train_accuracy_pct")
    with pytest.raises(ValueError, match="fact_rows"):
        lower_is_better("fact_rows")


def test_paired_test_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 10))
    mean, p = paired_test(a, b)
    assert mean == pytest.approx((a - b).mean())
    assert p == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-10)


def test_paired_test_of_differences_that_do_not_vary():
    a = np.array([0.1, 0.2, 0.3, 0.7])
    assert paired_test(a, a) == (0.0, 1.0)
    # a + 0.1 - a is 0.1 but for rounding
    assert paired_test(a + 0.1, a)[1] == 0.0


def test_holm_by_hand():
    # ordered 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1 is 0.04, 0.06, 0.06, 0.04; never to decrease, the last is 0.06
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


def test_a_clear_winner_is_listed_alone_and_a_tie_with_it():
    rng = np.random.default_rng(1)
    common = rng.standard_normal((10, 1))
    noise = {m: 0.1 * rng.standard_normal((10, 2)) for m in ("rff", "orf", "qmc")}
    # rff is 5 points below the others: 50 standard deviations of the noise
    frame = scores({"rff": 80 + common + noise["rff"], "orf": 85 + common + noise["orf"]})
    best = best_methods(frame, "accuracy_pct", ["2d", "4d"])
    assert (best.verdict, best.methods, best.repeats) == ("listed", (("orf", ""),), 10)
    # orf and qmc have equal means by construction, so p = 1
    equal = 85 + common + noise["qmc"]
    frame = scores({"rff": 80 + common + noise["rff"], "orf": equal, "qmc": equal[:, ::-1]})
    best = best_methods(frame, "accuracy_pct", ["2d", "4d"])
    assert set(best.methods) == {("orf", ""), ("qmc", "")}
    assert best.adjusted[("rff", "")] < 1e-6


def test_errors_are_best_low_and_every_size_weighs_the_same():
    # orf is 10 times better at 4d, rff twice at 2d, where errors are a hundred times as large: in logarithms orf wins
    rff = np.tile([1.0, 0.1], (10, 1))
    orf = np.tile([2.0, 0.01], (10, 1))
    best = best_methods(
        scores({"rff": rff, "orf": orf}, "approximation_error_frobenius"), "approximation_error_frobenius", ["2d", "4d"]
    )
    assert best.methods == (("orf", ""),)


def test_pairing_finds_a_difference_that_the_split_hides():
    rng = np.random.default_rng(2)
    split = 3.0 * rng.standard_normal((10, 1))
    small = 0.05 * rng.standard_normal((2, 10, 2))
    frame = scores({"rff": 80 + split + small[0], "orf": 80.5 + split + small[1]})
    assert best_methods(frame, "accuracy_pct", ["2d", "4d"]).methods == (("orf", ""),)
    # unpaired, half a point against a spread of three is nothing
    assert stats.ttest_ind(80 + split[:, 0], 80.5 + split[:, 0]).pvalue > 0.5


def test_five_that_cannot_be_told_apart_are_no_list():
    values = 80 + np.random.default_rng(3).standard_normal((10, 2))
    frame = scores(dict.fromkeys("abcde", values))
    assert best_methods(frame, "accuracy_pct", ["2d", "4d"]).verdict == "none stands out"
    four = select(frame, method=["a", "b", "c", "d"])
    assert best_methods(four, "accuracy_pct", ["2d", "4d"]).verdict == "listed"


def test_false_winners_are_rare():
    # Nine equal methods, 40 times. That the best is chosen by the same data raises the level of 5 %, that all eight
    # others must be beaten lowers it. At 5 % the count has mean 2 and standard deviation 1.4: 6 is almost 3 above.
    rng = np.random.default_rng(4)
    alone = 0
    for _ in range(40):
        frame = scores({str(m): rng.standard_normal((10, 1)) for m in range(9)}, sizes=["2d"])
        alone += len(best_methods(frame, "accuracy_pct", ["2d"]).methods) == 1
    assert alone <= 6


def test_too_few_repeats_give_no_verdict():
    values = 80 + np.random.default_rng(5).standard_normal((7, 2))
    best = best_methods(scores({"rff": values, "orf": values + 9}), "accuracy_pct", ["2d", "4d"])
    assert best.verdict == "no verdict"
    assert best.left_out == {("rff", ""): 7, ("orf", ""): 7}
    assert best_methods(scores({"rff": values}), "accuracy_pct", ["16d"]).verdict == "not run"
    one = 80 + np.random.default_rng(5).standard_normal((10, 2))
    assert best_methods(scores({"rff": one}), "accuracy_pct", ["2d", "4d"]).verdict == "no verdict"


def test_incomplete_methods_are_left_out_and_incomplete_repeats_dropped():
    rng = np.random.default_rng(6)
    frame = scores({m: level + rng.standard_normal((10, 2)) for m, level in (("rff", 50), ("orf", 60), ("qmc", 99))})
    bad = frame["method"].eq("qmc") & frame["n_features_label"].eq("4d") & frame["repeat"].lt(3)
    frame.loc[bad, "status"] = "failed"
    one = frame["method"].eq("rff") & frame["n_features_label"].eq("2d") & frame["repeat"].eq(9)
    best = best_methods(frame[~one], "accuracy_pct", ["2d", "4d"])
    assert best.methods == (("orf", ""),)
    assert best.left_out == {("qmc", ""): 7}
    assert best.repeats == 9


def test_only_one_comparison_at_a_time():
    frame = scores({"rff": np.ones((8, 2))})
    other = frame.assign(dataset="skin")
    with pytest.raises(ValueError, match="within one dataset"):
        best_methods(pd.concat([frame, other]), "accuracy_pct", ["2d", "4d"])
    with pytest.raises(ValueError, match="must be positive"):
        best_methods(frame.assign(metric="error_pct", value=0.0), "error_pct", ["2d", "4d"])


def test_the_preset_with_the_most_values_speaks_for_a_data_set(rows, tmp_path):
    more = pd.concat([rows, select(rows, method="rff", repeat=None).iloc[:1].assign(preset="paper")])
    elsewhere = rows.assign(dataset="skin", preset="paper")
    published = rows.assign(origin="published")
    path = tmp_path / "all.csv"
    tidy.write(pd.concat([more, elsewhere, published, rows.assign(experiment="other")]), path)
    frame = measured([path], ["e"])
    assert frame.groupby("dataset")["preset"].unique().map(list).to_dict() == {"eeg": ["laptop"], "skin": ["paper"]}
    assert len(frame) == 2 * len(rows)
    assert measured([], ["e"]).empty


def test_the_fixture_is_a_tidy_table():
    table = pd.read_csv(io.StringIO(ROWS))
    assert set(table.columns) < set(tidy.COLUMNS)
    assert [json.loads(s)["reason"] for s in table["settings"].dropna()] == ["singular", "too large"]
