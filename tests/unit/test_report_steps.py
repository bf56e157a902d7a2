"""An ablation on made rows: what is carried over, what a step changes, which changes count, and the controls."""

import numpy as np
import pandas as pd
import pytest
import report_rows

from rfstudy import tidy
from rfstudy.report.compare import is_effect
from rfstudy.report.significance import gain_of, turns
from rfstudy.report.steps import controls_of, course

SPEC = report_rows.spec_of("ablation-code", "slsrff")
OTHERS = ["lsrff", "slsrff"]


def reached(rows):
    return course(tidy.frame(rows), SPEC["steps"], SPEC["methods"])


def values_of(steps):
    return [{method: each.values for method, each in now.items()} for now in steps]


def table(rows, tmp_path):
    results = [report_rows.written(tmp_path, rows)] if rows else []
    return report_rows.as_read(report_rows.made(SPEC, results))


def test_the_made_steps_are_those_of_the_catalogue():
    assert list(SPEC["steps"]) == list(report_rows.STEPS)


def test_a_method_without_rows_at_a_step_stays_where_it_was():
    steps = reached(report_rows.step_rows(tasks=["eeg"]))
    carried = [[method for method, each in step.items() if each.carried] for step in steps]
    assert carried == [[]] * 6 + [["rff", "qmc"]] * 4
    pd.testing.assert_series_equal(steps[9]["rff"].values, steps[5]["rff"].values)
    assert len(steps[9]["lsrff"].values) == 10


def test_nobody_is_carried_over_a_step_that_was_not_run_or_failed():
    rows = [row for row in report_rows.step_rows(tasks=["eeg"]) if row["variant"] != "bandwidth"]
    rows = report_rows.changed(
        rows, lambda row: (row["variant"], row["method"]) == ("keep", "lsrff"),
        status="failed", value=None, settings={"reason": "singular"},
    )  # fmt: skip
    steps = reached(rows)
    assert not any(each.carried or len(each.values) for each in steps[2].values())
    assert not steps[6]["lsrff"].carried
    assert not len(steps[6]["lsrff"].values)
    assert gain_of("lsrff", values_of(steps)[6], SPEC["baselines"]) is None
    assert gain_of("slsrff", values_of(steps)[6], SPEC["baselines"]) is not None
    # no change of a gain into or out of what is missing
    found = {(turn.step, turn.method) for turn in turns(values_of(steps), SPEC["steps"], OTHERS, SPEC["baselines"])}
    assert found.isdisjoint(
        {("bandwidth", "lsrff"), ("no-factor-n", "slsrff"), ("keep", "lsrff"), ("columns", "lsrff")}
    )
    assert ("columns", "slsrff") in found


def test_the_gain_is_over_the_better_baseline():
    rows = report_rows.step_rows(tasks=["eeg"])
    rows = [row | {"value": row["value"] + 1.0} if row["method"] == "qmc" else row for row in rows]
    step = values_of(reached(rows))[0]
    gain = gain_of("slsrff", step, SPEC["baselines"])
    assert gain.baseline == "qmc"
    assert gain.test.value == pytest.approx(np.mean(step["slsrff"] - step["qmc"]))
    assert gain.test.value == pytest.approx(-1.5, abs=0.2)
    assert gain.test.p < 0.001


def test_only_the_step_that_changes_the_gain_counts():
    made = dict.fromkeys(report_rows.STEPS, 0.0) | {"code": 9.0}
    values = values_of(reached(report_rows.step_rows(tasks=["eeg"], steps=made)))
    found = turns(values, SPEC["steps"], OTHERS, SPEC["baselines"], overlap=1.0)
    assert len(found) == 18
    told = [(turn.step, turn.method) for turn in found if is_effect(turn.test, "accuracy_pct")]
    assert told == [("code", "lsrff"), ("code", "slsrff")]
    assert found[-1].test.value == pytest.approx(9.0, abs=0.3)
    few = values_of(reached(report_rows.step_rows(tasks=["eeg"], repeats=3)))
    assert turns(few, SPEC["steps"], OTHERS, SPEC["baselines"]) == []


def test_controls_are_held_against_the_step_that_they_name():
    rows = tidy.frame(report_rows.step_rows(tasks=["eeg"]))
    found = {(control["variant"], method): test for control, method, _, test in controls_of(rows, SPEC)}
    assert set(found) == {
        ("smaller-penalty", "lsrff"), ("smaller-penalty", "slsrff"), ("trace", "lsrff"), ("trace", "slsrff"),
        ("permuted", "lsrff"), ("permuted", "slsrff"), ("identity-text", "slsrff"), ("identity-code", "slsrff"),
    }  # fmt: skip
    assert all(abs(test.value) < 0.2 and test.n == 10 for test in found.values())


def test_the_table_shows_steps_changes_gains_and_controls(tmp_path):
    rows = [row for row in report_rows.step_rows() if row["dataset"] != "magic04"]
    rows = [row for row in rows if row["dataset"] != "cod-rna" or row["repeat"] < 3]
    rows = report_rows.changed(rows, lambda row: row["dataset"] == "covtype", settings={"capped": True})
    frame, text = table(rows, tmp_path)
    assert len(frame) == 4 * (10 + 8)
    eeg = frame[frame["data set"] == "EEG"].set_index("step")
    assert list(eeg.index[:10]) == list(SPEC["steps"].values())
    last = eeg.loc["weights not normalised"]
    assert (last["RFF"], last["change RFF"]) == ("as before", "")
    assert last["change SLS-RFF"].startswith("+8.")
    assert last["change SLS-RFF"].endswith(" (<0.001)")
    assert last["gain LS-RFF"].startswith(("+8.", "+9."))
    assert (eeg.iloc[0][["change RFF", "change LS-RFF"]] == "").all()
    control = eeg.loc["control: RFF with smaller penalty, minus SLS-RFF"]
    assert abs(float(control["change RFF"].split(" (")[0])) < 0.2
    assert control["SLS-RFF"] == ""
    # three repeats have means and changes, but no p-value
    few = frame[frame["data set"] == "cod-RNA"].set_index("step").loc["weights not normalised"]
    assert float(few["change SLS-RFF"]) > 8
    assert (frame[frame["data set"] == "magic04"]["SLS-RFF"].iloc[:10] == "not run").all()
    assert "covtype: capped" in set(frame["data set"])
    (sentence,) = [line for line in text.splitlines() if line.startswith("- Steps that change a gain")]
    assert "weights not normalised (LS-RFF +8." in sentence
    assert "EEG: " in sentence
    assert "cod-RNA" not in sentence


def test_the_table_without_any_result_still_says_so(tmp_path):
    frame, text = table([], tmp_path)
    assert (frame[["RFF", "QMC", "LS-RFF", "SLS-RFF"]].isin(["not run", ""])).all(axis=None)
    assert "Steps that change a gain" not in text
