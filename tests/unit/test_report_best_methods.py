"""Lists of best methods, on data whose answer is known."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from verdict_rows import row

from rfstudy import tidy
from rfstudy.report.tables.accuracy import best_of

ERROR = "approximation_error_frobenius"


def scores(values: dict, metric="accuracy_pct", sizes=("2d", "4d")) -> pd.DataFrame:
    """Tidy rows from ``{method: array (repeats, sizes)}``."""
    rows = [
        row(metric, value, method=method, n_features_label=size, repeat=repeat, split="test")
        for method, array in values.items()
        for repeat, of_repeat in enumerate(array)
        for size, value in zip(sizes, of_repeat, strict=True)
    ]
    return tidy.frame(rows)


def best_methods(frame, metric="accuracy_pct", sizes=("2d", "4d"), overlap=0.0):
    return best_of(frame, metric, {"all": list(sizes)}, overlap)["all"]


@pytest.mark.slow
def test_false_winners_are_rare():
    # Nine equal methods, 40 times. That the best is chosen by the same data raises the level of 5 %, that all eight
    # others must be beaten lowers it. At 5 % the count has mean 2 and standard deviation 1.4: 6 is almost 3 above.
    rng = np.random.default_rng(4)
    alone = 0
    for _ in range(40):
        frame = scores({str(m): rng.standard_normal((10, 1)) for m in range(9)}, sizes=["2d"])
        alone += len(best_methods(frame, sizes=["2d"]).methods) == 1
    assert alone <= 6


def test_incomplete_methods_are_left_out_and_incomplete_repeats_dropped():
    rng = np.random.default_rng(6)
    frame = scores({m: level + rng.standard_normal((10, 2)) for m, level in (("rff", 50), ("orf", 60), ("qmc", 99))})
    bad = frame["method"].eq("qmc") & frame["n_features_label"].eq("4d") & frame["repeat"].lt(6)
    frame.loc[bad, "status"] = "failed"
    one = frame["method"].eq("rff") & frame["n_features_label"].eq("2d") & frame["repeat"].eq(9)
    best = best_methods(frame[~one])
    assert best.methods == (("orf", ""),)
    assert best.left_out == {("qmc", ""): 4}
    assert best.repeats == 9


def test_only_one_comparison_at_a_time():
    frame = scores({"rff": np.ones((8, 2))})
    other = frame.assign(dataset="skin")
    with pytest.raises(ValueError, match="within one dataset"):
        best_methods(pd.concat([frame, other]))


def test_an_exact_map_is_the_best_one():
    errors = {"rff": np.random.default_rng(3).uniform(0.1, 0.2, (8, 2)), "nystroem": np.zeros((8, 2))}
    best = best_methods(scores(errors, ERROR), ERROR)
    assert (best.verdict, best.methods) == ("listed", (("nystroem", ""),))
    both = best_methods(scores(errors | {"exact": np.zeros((8, 2))}, ERROR), ERROR)
    assert set(both.methods) == {("nystroem", ""), ("exact", "")}


@pytest.mark.parametrize(("metric", "value"), [("time_feature_s", 0.0), ("mse", 0.0), (ERROR, -0.1)])
def test_what_has_no_logarithm_is_refused(metric, value):
    with pytest.raises(ValueError, match=f"{metric} must be positive"):
        best_methods(scores({"rff": np.array([[1.0, value]])}, metric), metric)


def test_groups_of_sizes_are_one_family():
    # two comparisons with p = 0.03: each by itself passes, both together do not
    at_3 = float(stats.t.isf(0.03 / 2, 7)) / math.sqrt(7)
    behind = at_3 + np.resize([-1.0, 1.0], 8)
    frame = scores({"best": np.full((8, 2), 90.0), "other": np.stack([90 - behind, 90 - behind], axis=1)})
    assert best_methods(frame, sizes=["2d"]).methods == (("best", ""),)
    both = best_of(frame, "accuracy_pct", {"small": ["2d"], "large": ["4d"]})
    assert all(set(best.methods) == {("best", ""), ("other", "")} for best in both.values())
    assert both["small"].p["other", ""] == pytest.approx(0.06)


def test_splits_that_overlap_leave_more_methods_on_the_list():
    rng = np.random.default_rng(9)
    frame = scores({"rff": 80 + rng.standard_normal((10, 2)), "orf": 82 + rng.standard_normal((10, 2))})
    assert len(best_methods(frame).methods) == 1
    assert len(best_methods(frame, overlap=1.0).methods) == 2
