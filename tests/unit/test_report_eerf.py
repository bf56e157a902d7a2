"""The values that tables and figures of EERF derive from rows."""

import json

import eerf_rows
import numpy as np
import pandas as pd
import pytest
import report_rows

from rfstudy import tidy
from rfstudy.report import derived, tables
from rfstudy.report.derived import best_on_test
from rfstudy.report.plots.lines import with_errors
from rfstudy.report.tables.times import at_time, within


def made(spec):
    return report_rows.as_read(tables.make(report_rows.context_of([]), spec))


def test_facts_of_several_columns_and_several_sources(monkeypatch):
    # the survey's stated rates: by map and kernel, several theorems in one cell, deduced ones marked
    spec = {"published": "Table III", "paper": "survey", "name": "t", "caption": "c"}
    spec |= {"about": {"method": "map", "kernel": "kernel"}, "says": {"convergence_rate_sup": "rate"}}
    frame, _ = made(spec | {"kind": "facts"})
    assert frame.columns.tolist() == ["map", "kernel", "rate"]
    rate = frame.loc[frame["map"] == "RFF", "rate"].iloc[0]
    assert rate.split("; ")[:2] == ["O_p(|S| sqrt(log s / s))", "O_p(sqrt(log|S| / s))"]
    deduced, text = made(spec | {"kind": "facts", "says": {"required_features_sup": "features"}})
    assert deduced["features"].str.endswith("*").all()
    assert "*: deduced" in text
    with pytest.raises(ValueError, match="Table III of survey says nothing of: rates"):
        made(spec | {"kind": "facts", "says": {"rates": "rate"}})
    monkeypatch.setattr("rfstudy.report.tables.published.facts", lambda context: None)
    with pytest.raises(ValueError, match="facts returned None: it must return a Table or a Picture"):
        made(spec | {"kind": "facts"})


def walk(values, m=100):
    """Errors of LKRF at places on the axis of its penalty, a list of repeats each."""
    shared = {"axis": "divergence", "variant": "divergence", "learner": "ridge", "split": "test"}
    return [
        eerf_rows.row("adult", "karff", "error_pct", value, m, at=at, repeat=repeat, **shared)
        for at, of_place in values.items()
        for repeat, value in enumerate(of_place)
    ]


def test_the_best_of_a_walk_is_that_of_the_mean():
    rows = tidy.frame(walk({0.1: [9, 1], 1.0: [4, 5], 10.0: [3, 8]}))
    found = best_on_test(rows, "divergence", "best")
    place = ["value", "axis", "variant", "settings"]
    assert found[place].to_numpy().tolist() == [[value, "", "best", '{"best_at": 1.0}'] for value in (4, 5)]
    assert found["at"].isna().all()
    # of equal ones the first, and every size and learner by itself
    level = tidy.frame(walk({1.0: [5], 10.0: [5]}) + walk({1.0: [5], 10.0: [4]}, m=50))
    assert best_on_test(level, "divergence", "best")["settings"].tolist() == ['{"best_at": 1.0}', '{"best_at": 10.0}']
    assert best_on_test(rows.assign(metric="accuracy_pct"), "divergence", "best")["value"].tolist() == [3, 8]
    # what no learner scored on the test rows has no best
    assert not len(best_on_test(rows.assign(split="train"), "divergence", "best"))


def test_a_walk_without_values_says_why():
    rows = tidy.frame(walk({1.0: [5], 0.1: [4]}))
    rows = rows.assign(value=np.nan, status="skipped", settings='{"reason": "no file"}')
    (settings,) = best_on_test(rows, "divergence", "best")["settings"]
    assert json.loads(settings) == {"best_at": 0.1, "reason": "no file"}


def test_what_is_derived_has_the_values_and_says_what_it_is():
    row = {"metric": derived.OF_REGRESSION, "value": 12.5, "dataset": "buzz", "status": "ok", "split": "test"}
    found = derived.with_derived(tidy.frame([row]))
    assert found.set_index("metric")["value"].to_dict() == {derived.OF_REGRESSION: 12.5, "error_pct": 12.5}
    tasks = {"buzz": {"target": "regression"}, "adult": {"target": "binary"}}
    asked = [("error_pct", "buzz"), ("error_pct", "adult"), ("accuracy_pct", "buzz")]
    assert [bool(derived.undefined(metric, dataset, tasks)) for metric, dataset in asked] == [True, False, False]
    (note,) = derived.notes_on_derived(tidy.frame([row | {"variant": "best-on-test", "dataset": "adult"}]), tasks)
    assert note.startswith("Best on test: of all values of the divergence penalty the one with the lowest mean error")


def timed(label, errors, seconds):
    own = pd.Series(errors)
    return {"label": label, "n_features": int(label), "errors": own, "error": own.mean(), "time": seconds}


def test_a_curve_is_read_at_a_time_by_repeat():
    points = pd.DataFrame([timed("10", [8.0, 10.0], 1.0), timed("40", [4.0, 2.0], 4.0)])
    for ordered in (points, points[::-1]):  # the order is that of the times
        errors, n_features = at_time(ordered, 2.0)
        assert errors.tolist() == [6.0, 6.0]
        assert n_features == pytest.approx(20)
    assert at_time(points, 1.0)[0].tolist() == [8.0, 10.0]
    assert at_time(points, 4.0)[0].tolist() == [4.0, 2.0]
    assert at_time(points, 0.9) is at_time(points, 4.1) is None


def test_within_a_time_the_best_counts():
    points = pd.DataFrame([timed("10", [8.0], 1.0), timed("20", [9.0], 2.0), timed("40", [4.0], 4.0)])
    assert within(points, 0.9) is None
    assert [within(points, seconds).label for seconds in (3.0, 4.0)] == ["10", "40"]


def test_bars_are_one_standard_error():
    cells = pd.DataFrame({"mean": [10.0, 4.0], "lower": [6.0, 1.0], "upper": [14.0, 16.0], "n": [4, 4]})
    plain = with_errors(cells.assign(rounds=[0, 5]))
    assert plain["lower"].tolist() == [8.0, 1.0]
    assert plain["upper"].tolist() == [12.0, 16.0]
    ratios = with_errors(cells.assign(rounds=0), geometric=True)
    assert ratios["upper"].tolist() == pytest.approx([10 * np.sqrt(1.4), 8.0])
