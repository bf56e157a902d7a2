"""An ablation on made rows: what is carried over, what a step changes, which changes count, and the controls."""

import numpy as np
import pandas as pd
import report_rows

from rfstudy import tidy
from rfstudy.report.compare import is_effect, paired
from rfstudy.report.tables.comparisons import Reached, course, gain_changes, gain_of

SPEC = report_rows.spec_of("ablation-code", "slsrff")
OTHERS = ["lsrff", "slsrff"]


def reached(rows):
    return course(tidy.frame(rows), SPEC["steps"], SPEC["methods"])


def changes(steps):
    return gain_changes({m: [gain_of(m, step, SPEC["baselines"]) for step in steps] for m in OTHERS})


def test_a_method_without_rows_at_a_step_stays_where_it_was():
    steps = reached(report_rows.step_rows(tasks=["eeg"]))
    carried = [[method for method, each in step.items() if each.carried] for step in steps]
    assert carried == [[]] * 6 + [["rff", "qmc"]] * 4
    pd.testing.assert_series_equal(steps[9]["rff"].values, steps[5]["rff"].values)
    assert len(steps[9]["lsrff"].values) == 10


def test_nobody_is_carried_over_a_step_that_was_not_run_or_failed():
    failed = {"status": "failed", "value": None, "settings": {"reason": "singular"}}
    rows = [row for row in report_rows.step_rows(tasks=["eeg"]) if row["variant"] != "bandwidth"]
    rows = [row | failed if (row["variant"], row["method"]) == ("keep", "lsrff") else row for row in rows]
    steps = reached(rows)
    assert not any(each.carried or len(each.values) for each in (*steps[2].values(), steps[6]["lsrff"]))
    assert not len(gain_of("lsrff", steps[6], SPEC["baselines"]))
    assert len(gain_of("slsrff", steps[6], SPEC["baselines"]))
    # no change of a gain into or out of what is missing
    found = {(list(SPEC["steps"])[position], method) for position, method in changes(steps)}
    missing = {("bandwidth", "lsrff"), ("no-factor-n", "slsrff"), ("keep", "lsrff"), ("columns", "lsrff")}
    assert not missing & found
    assert ("columns", "slsrff") in found


def test_of_errors_the_lower_baseline_is_the_better_one_and_a_gain_is_positive():
    errors = {name: Reached(pd.Series([value] * 5)) for name, value in (("rff", 9.0), ("orf", 8.0), ("kprff", 7.0))}
    assert set(gain_of("kprff", errors, ["rff", "orf"], sign=-1.0)) == {1.0}
    assert set(gain_of("kprff", errors, ["rff", "orf"])) == {-2.0}


def test_changes_of_a_gain_have_the_variance_of_the_splits():
    rng = np.random.default_rng(7)
    gains = {"lsrff": [pd.Series(gain + rng.standard_normal(10)) for gain in (0.0, 2.0)]}
    for overlap, is_one in ((0.0, True), (1.0, False)):
        ((place, test),) = gain_changes(gains, overlap).items()
        assert place == (1, "lsrff")
        assert test == paired(gains["lsrff"][1], gains["lsrff"][0], overlap)
        assert is_effect(test, "accuracy_pct") == is_one
