"""Tables and figures of EERF, each made of made rows: what stands there, what is derived, and what is left out."""

import json
from functools import cache

import eerf_rows
import numpy as np
import pandas as pd
import pytest
import report_rows

from rfstudy import tidy
from rfstudy.report import derived, tables
from rfstudy.report.aggregate import select
from rfstudy.report.context import Context
from rfstudy.report.derived import best_on_test, with_derived
from rfstudy.report.panels import NOTHING
from rfstudy.report.plots.curves import with_errors
from rfstudy.report.tables.equal_time import Timed, at_time, curve, within

SPECS = {spec["name"]: spec for spec in report_rows.REPORTS if spec["paper"] == "eerf"}
QUANTITY = {"metric": "error_pct", "learner": "ridge", "split": "test"}


@cache
def measured():
    return tidy.frame(eerf_rows.all_rows())


@cache
def context(*experiments):
    return context_of(select(measured(), experiment=list(experiments)))


def context_of(rows):
    frame = tidy.frame(rows) if isinstance(rows, list) else rows
    return Context(frame, report_rows.METHODS, report_rows.REGISTERED, report_rows.REFERENCE)


def made(spec, rows=None):
    """The table of a specification as people read it, and its Markdown file."""
    own = context(*spec["experiments"]) if rows is None else context_of(rows)
    table = tables.make(own, spec)
    return report_rows.as_read(table)


def computed(spec, rows=None):
    """The table of a specification as machines read it."""
    own = context(*spec["experiments"]) if rows is None else context_of(rows)
    return report_rows.as_computed(tables.make(own, spec))


def drawn(spec, rows=None):
    own = context(*spec["experiments"]) if rows is None else context_of(rows)
    return report_rows.picture(spec, own)


def once(form):
    """The outputs of a form, one an entry: its protocols differ in rows alone."""
    return list({spec["id"]: name for name, spec in SPECS.items() if spec["form"] == form}.values())


@pytest.mark.parametrize("name", once("tables"))
def test_every_table_is_made_of_rows_and_without_any(name):
    frame, text = made(SPECS[name])
    assert len(frame)
    assert SPECS[name]["caption"] in text
    empty, _ = made(SPECS[name], [])
    assert list(empty.columns[:1]) == list(frame.columns[:1])


@pytest.mark.parametrize("name", once("figures"))
def test_every_figure_is_drawn_of_rows_and_without_any(name):
    assert drawn(SPECS[name]).figure.axes
    nothing = drawn(SPECS[name], [])
    assert not nothing.figure.axes
    assert nothing.figure.texts[0].get_text() == NOTHING


def test_facts_of_several_columns_and_several_sources(tmp_path):
    # the survey's stated rates: by map and kernel, several theorems in one cell, deduced ones marked
    spec = {"published": "Table III", "paper": "survey", "name": "t", "caption": "c"}
    spec |= {"about": {"method": "map", "kernel": "kernel"}, "says": {"convergence_rate_sup": "rate"}}
    frame, _ = made(spec | {"kind": "facts"}, [])
    assert frame.columns.tolist() == ["map", "kernel", "rate"]
    rate = frame.loc[frame["map"] == "RFF", "rate"].iloc[0]
    assert rate.split("; ")[:2] == ["O_p(|S| sqrt(log s / s))", "O_p(sqrt(log|S| / s))"]
    deduced, text = made(spec | {"kind": "facts", "says": {"required_features_sup": "features"}}, [])
    assert deduced["features"].str.endswith("*").all()
    assert "*: deduced" in text
    with pytest.raises(ValueError, match="Table III of survey says nothing of: rates"):
        made(spec | {"kind": "facts", "says": {"rates": "rate"}}, [])


def walk(values, dataset="adult", m=100, **columns):
    """Errors of LKRF at places on the axis of its penalty, a list of repeats each."""
    return [
        eerf_rows.row(dataset, "karff", "error_pct", value, m, axis="divergence", at=at, variant="divergence",
                      repeat=repeat, learner="ridge", split="test", **columns)
        for at, of_place in values.items()
        for repeat, value in enumerate(of_place)
    ]  # fmt: skip


def test_the_best_of_a_walk_is_that_of_the_mean():
    rows = tidy.frame(walk({0.1: [9, 1], 1.0: [4, 5], 10.0: [3, 8]}))
    found = best_on_test(rows, "divergence", "best")
    assert found["value"].tolist() == [4, 5]
    assert set(found["axis"]) == {""}
    assert found["at"].isna().all()
    assert set(found["variant"]) == {"best"}
    assert json.loads(found["settings"].iloc[0]) == {"best_at": 1.0}
    # of equal ones the first, and every size and learner by itself
    level = tidy.frame(walk({1.0: [5], 10.0: [5]}) + walk({1.0: [5], 10.0: [4]}, m=50))
    assert best_on_test(level, "divergence", "best")["settings"].tolist() == ['{"best_at": 1.0}', '{"best_at": 10.0}']
    accuracy = rows.assign(metric="accuracy_pct")
    assert best_on_test(accuracy, "divergence", "best")["value"].tolist() == [3, 8]
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
    chosen = tidy.frame([row | {"variant": "best-on-test", "dataset": "adult"}])
    (told,) = derived.notes_on_derived(chosen, tasks)
    assert told.startswith("Best on test: of all values of the divergence penalty the one with the lowest mean error")


def test_the_error_of_a_regression_is_the_unexplained_share():
    rows = [eerf_rows.row("buzz", "rff", "relative_squared_error_pct", 7.0, 100, learner="ridge", split="test")]
    frame = with_derived(tidy.frame(rows))
    assert frame["metric"].tolist() == ["relative_squared_error_pct", "error_pct"]
    assert not len(with_derived(tidy.frame([])))
    _, text = made(SPECS["values-error-ridge-text"])
    assert "Error of a regression, which the paper does not define: 100 |y - f|^2 / |y|^2" in text
    # and is compared with no printed number
    scores = computed(SPECS["scorecard-all"])
    year = scores[(scores["data_set"] == "Year prediction") & (scores["quantity"] == "ridge error")]
    assert set(year["verdict"]) == {"not comparable"}
    assert year["difference"].notna().all()
    assert year["remark"].str.startswith("the paper does not say").all()


def timed(label, errors, seconds):
    return Timed(label, int(label), pd.Series(errors), pd.Series(seconds), False)


def test_a_curve_is_read_at_a_time_by_repeat():
    points = [timed("10", [8.0, 10.0], [1.0]), timed("40", [4.0, 2.0], [4.0])]
    read = at_time(points, 2.0)
    assert read.errors.tolist() == [6.0, 6.0]
    assert read.n_features == pytest.approx(20)
    assert at_time(points, 1.0).errors.tolist() == [8.0, 10.0]
    assert at_time(points, 4.0).errors.tolist() == [4.0, 2.0]
    assert at_time(points, 0.9) is None
    assert at_time(points, 4.1) is None
    # the order is that of the times
    assert at_time(points[::-1], 2.0).errors.tolist() == [6.0, 6.0]


def test_within_a_time_the_best_counts():
    points = [timed("10", [8.0], [1.0]), timed("20", [9.0], [2.0]), timed("40", [4.0], [4.0])]
    assert within(points, 0.9) is None
    assert within(points, 3.0).label == "10"
    assert within(points, 4.0).label == "40"


def test_a_curve_has_what_was_measured_and_timed():
    rows = select(context("eerf-text").rows, dataset="adult")
    points = curve(rows, "kprff", QUANTITY, "time_preprocess_train_s")
    assert [point.label for point in points] == [str(10 * i) for i in range(1, 11)]
    assert points[-1].time == pytest.approx((0.001 + 0.8 + 2.0) * 1.04)
    assert points[0].standard_error > 0
    assert curve(rows, "ses", QUANTITY, "time_train_s") == []
    assert curve(rows, "kprff", QUANTITY | {"learner": "logistic"}, "time_train_s") == []


def test_errors_at_equal_time_are_read_off_the_curve_of_the_baseline():
    frame, _ = made(SPECS["equal-time-text"])
    row = frame[frame["data set"] == "Adult"].iloc[0]
    assert row["M of RFF at equal time"] == "140"
    same, equal = (float(row[name].split()[0]) for name in ("KP-RFF minus RFF at M", "KP-RFF minus RFF at equal time"))
    assert same < equal < 0
    # a baseline that never takes as long is not read
    slow = [
        each | {"value": each["value"] * (100 if each["metric"] == "time_learn_s" else 1)}
        for each in eerf_rows.more_rows()
    ]
    beyond = made(SPECS["equal-time-text"], slow)[0]
    beyond = beyond[beyond["data set"] == "Adult"].iloc[0]
    assert beyond["M of RFF at equal time"] == "beyond RFF at 800"
    assert beyond["KP-RFF minus RFF at equal time"] == ""


def test_bars_are_one_standard_error():
    cells = pd.DataFrame({"mean": [10.0, 4.0], "lower": [6.0, 1.0], "upper": [14.0, 16.0], "n": [4, 4]})
    plain = with_errors(cells.assign(rounds=[0, 5]))
    assert plain["lower"].tolist() == [8.0, 1.0]
    assert plain["upper"].tolist() == [12.0, 16.0]
    ratios = with_errors(cells.assign(rounds=0), geometric=True)
    assert ratios["upper"].tolist() == pytest.approx([10 * np.sqrt(1.4), 8.0])


def test_a_method_that_does_not_walk_is_a_level_line():
    picture = drawn(SPECS["sweep-candidates-text"])
    assert "Level lines with a band: RFF, ORF, which the horizontal axis does not change." in picture.notes
    panels = [ax for ax in picture.figure.axes if ax.get_ylabel().startswith("error")]
    black = report_rows.METHODS["rff"]["colour"]
    level = [line for line in panels[0].lines if line.get_color() == black]
    assert [len(set(line.get_ydata())) for line in level] == [1]
    assert not any("Level" in note for note in drawn(SPECS["figure-01-text"]).notes)
    # what another experiment has of the method is not in the panel
    rows = eerf_rows.pool_rows("candidates")
    alone = drawn(SPECS["sweep-candidates-text"], rows)
    assert [ax.get_ylim() for ax in alone.figure.axes] == [ax.get_ylim() for ax in picture.figure.axes]
