"""The one join of printed and measured numbers: which rows meet, what is said of each, and that nothing is left out."""

import copy
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import report_rows
import yaml
from matplotlib.colors import to_rgb

from rfstudy import tidy
from rfstudy.outputs import load_reports
from rfstudy.report import published
from rfstudy.report.aggregate import settings_of
from rfstudy.report.matching import compared, unmatched
from rfstudy.report.plots import printed as plot
from rfstudy.report.scorecard import VERDICTS
from rfstudy.study.config import ConfigurationError

HERE = Path(__file__).parent

CONFIG = HERE.parents[1] / "config"
SCORECARD = yaml.safe_load((CONFIG / "scorecard.yaml").read_text(encoding="utf-8"))
PRINTED = published.load(report_rows.REFERENCE, report_rows.METHODS, report_rows.REGISTERED)
SPEC = report_rows.spec_of("scorecard-all", "slsrff")


def surrogate(protocol, **columns):
    """Rows of one protocol of the surrogate leverage paper."""
    return report_rows.surrogate_rows(experiment=f"slsrff-{protocol}", protocol=protocol, **columns)


def facts(protocol="text"):
    rows = report_rows.fact_rows(duplicate_rows=3)
    return report_rows.changed(rows, lambda row: True, experiment=f"slsrff-{protocol}", paper="slsrff")


def found(rows, spec=SPEC, **only):
    """What is compared, by protocol, place without table and kernel."""
    cells = compared(report_rows.context_of(rows), spec, **only)
    places = [
        (each.protocol, *(getattr(each.place, k) for k in ("dataset", "size", "method", "metric"))) for each in cells
    ]
    assert len(set(places)) == len(places)
    return dict(zip(places, cells, strict=True))


# --- the mapping ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", ["survey", "eerf", "nsrf", "slsrff"])
def test_every_printed_number_stands_in_one_entry(paper):
    assert list(unmatched(PRINTED, paper, SCORECARD[paper])) == []


def test_a_number_that_no_entry_has_or_two_have_is_named():
    mapping = copy.deepcopy(SCORECARD["slsrff"])
    del mapping["numbers"][1]["metrics"]["accuracy_pct"]
    mapping["not_scored"].append({"table": "Table 3", "metrics": ["time_feature_s"], "why": "twice"})
    assert list(unmatched(PRINTED, "slsrff", mapping)) == [("Table 3", "accuracy_pct"), ("Table 3", "time_feature_s")]


def test_the_names_of_the_mapping_exist():
    for paper, of_paper in SCORECARD.items():
        of_printed = PRINTED[PRINTED["paper"] == paper]
        for entry in (*of_paper["numbers"], *of_paper["not_scored"]):
            places = of_printed[of_printed["experiment"] == entry["table"]]
            assert len(places), entry["table"]
            assert set(entry.get("metrics", [])) <= set(places["metric"])
            if isinstance(entry.get("metrics"), dict):
                for quantity in entry["metrics"].values():
                    assert quantity.get("over", "rff") in set(places["method"]) | {"rff"}


def config_with(tmp_path, change):
    """A copy of the configuration whose scorecard ``change`` was made to."""
    shutil.copytree(CONFIG, tmp_path / "config")
    shutil.copytree(report_rows.REFERENCE, tmp_path / "data" / "reference")  # claims are looked up there
    document = copy.deepcopy(SCORECARD)
    change(document)
    (tmp_path / "config" / "scorecard.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    return tmp_path / "config"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("experiments", {"text": "slsrff-txt"}, "slsrff, Table 2: there is no experiment 'slsrff-txt'; .*slsrff-text"),
        ("experiments", {"txt": "slsrff-text"}, "txt"),
        ("repeat", 10, "repeat: not a key here; .*repeats"),
        ("metrics", {"n_dims": {"colum": "d"}}, "colum: not a key here"),
    ],
)
def test_what_is_wrong_with_the_mapping_is_named(tmp_path, key, value, message):
    config = config_with(tmp_path, lambda document: document["slsrff"]["numbers"][0].update({key: value}))
    with pytest.raises(ConfigurationError, match=message):
        load_reports(config, report_rows.EXPERIMENTS, report_rows.METHODS, report_rows.REGISTERED)


def test_tables_get_the_numbers_of_their_printed_table_and_scorecards_all():
    (entry,) = report_rows.spec_of("table-03-cells-code", "slsrff")["scorecard"]["numbers"]
    assert entry["table"] == "Table 3"
    assert SPEC["scorecard"] == SCORECARD["slsrff"]
    assert "scorecard" not in report_rows.spec_of("ablation-code", "slsrff")


# --- the join ---------------------------------------------------------------------------------------------------------


def test_printed_and_measured_numbers_meet_in_their_cell():
    rows = surrogate("text", tasks=["eeg"], sizes=(1, 2)) + surrogate("code", tasks=["eeg"], sizes=(2,), gain=5.0)
    cells = found(rows)
    # 116 accuracies, 87 ratios of times and 12 counts under each of three protocols
    assert Counter(protocol for protocol, *_ in cells) == dict.fromkeys(("text", "code", "tuned"), 215)
    for protocol, size, gain in (("text", "d", 0.0), ("text", "2d", 0.0), ("code", "2d", 5.0)):
        each = cells[protocol, "eeg", size, "lsrff", "accuracy_pct"]
        values = [
            row["value"]
            for row in rows
            if (row["protocol"], row["n_features_label"], row["method"], row["metric"])
            == (protocol, size, "lsrff", "accuracy_pct")
        ]
        assert each.ours[:3] == (pytest.approx(np.mean(values)), pytest.approx(np.std(values, ddof=1)), 10)
        assert each.score.difference == pytest.approx(np.mean(values) - {"d": 68.78, "2d": 72.59}[size])
        assert each.score.error == pytest.approx(
            np.sqrt(({"d": 0.97, "2d": 1.51}[size] ** 2 + np.var(values, ddof=1)) / 10 + 0.005**2)
        )
        assert abs(each.ours.value - (82 - 14 / np.sqrt(int(size[:-1] or 1)) + gain)) < 0.6
    assert cells["code", "eeg", "d", "lsrff", "accuracy_pct"].score.verdict == "not run"
    assert cells["tuned", "eeg", "d", "lsrff", "accuracy_pct"].ours is None


def test_variants_other_learners_and_splits_are_other_numbers():
    rows = surrogate("text", tasks=["eeg"], sizes=(2,), methods=["rff"])
    others = [
        {"variant": "identity"}, {"learner": "svm"}, {"split": "train"}, {"experiment": "slsrff-ablation"},
        {"dataset": "magic04"}, {"n_features_label": "4d"}, {"method": "qmc"},
    ]  # fmt: skip
    place = ("text", "eeg", "2d", "rff", "accuracy_pct")
    alone = found(rows)[place].ours
    added = [row | {"value": 0.0} | other for other in others for row in rows if row["metric"] == "accuracy_pct"]
    assert found(rows + added)[place].ours == alone
    assert found(added)[place].ours is None


def test_times_are_ratios_to_a_method_that_is_no_cell_itself():
    cells = found(surrogate("text", tasks=["eeg"], sizes=(128,)), table="Table 3", of={"metric": "time_feature_s"})
    assert "rff" not in {method for *_, method, _ in cells}
    each = cells["text", "eeg", "128d", "lsrff", "time_feature_s"]
    assert (each.over, each.published.value) == ("rff", pytest.approx(3.91 / 0.82))
    assert each.ours.value == pytest.approx(1 + 0.02 * 128, rel=0.1)


def test_a_ratio_by_rounds_has_the_error_of_its_median():
    rounds = {"rff": [1.0] * 5, "lsrff": [4.4, 4.6, 4.7, 4.8, 5.0]}
    rows = []
    for row in surrogate("text", tasks=["eeg"], sizes=(128,), methods=list(rounds), repeats=1):
        if row["metric"] == "time_feature_s":
            phases = (("time_draw_s", 0.0), ("time_transform_s", 1.0))
            rows += [
                row | {"metric": phase, "value": share * value, "axis": "round", "at": at}
                for phase, share in phases
                for at, value in enumerate(rounds[row["method"]])
            ]
    each = found(rows)["text", "eeg", "128d", "lsrff", "time_feature_s"]
    assert (each.ours.value, each.ours.lower, each.ours.upper, each.ours.rounds) == (4.7, 4.6, 4.8, 5)
    error = 0.2 / 1.349 * np.sqrt(np.pi / 10)
    assert each.ours.error == pytest.approx(error)
    # of the paper, which has ten repeats, the spread is ours
    assert each.score.error == pytest.approx(np.sqrt(1.5 * error**2 + each.published.rounding**2))
    told = report_rows.changed(rows, lambda row: row["at"] == 2, settings={"contended": True})
    assert found(told)["text", "eeg", "128d", "lsrff", "time_feature_s"].score.verdict == "not comparable"


def test_counts_are_those_of_the_facts_and_only_equal_ones_are_reproduced():
    capped = surrogate("text", tasks=["eeg"], sizes=(1,), settings={"capped": True})
    cells = found(facts() + report_rows.changed(capped, lambda row: True, n_train=5, n_test=5))
    assert cells["text", "eeg", "", "", "n_train"].ours.value == 7490
    assert cells["text", "eeg", "", "", "n_train"].score.verdict == "reproduced"
    other = cells["text", "cod-rna", "", "", "n_test"]
    assert (other.score.difference, other.score.verdict) == (271617 - 157413, "not comparable")
    # the columns of the same data are the paper's
    assert cells["text", "cod-rna", "", "", "n_dims"].score.verdict == "reproduced"
    assert cells["code", "eeg", "", "", "n_train"].score.verdict == "not run"
    stand_in = report_rows.changed(facts(), lambda row: True, stand_in="made (stand-in for it)")
    assert found(stand_in)["text", "eeg", "", "", "n_train"].score[:1] == (None,)
    assert found(stand_in)["text", "eeg", "", "", "n_train"].score.verdict == "not comparable"


def test_capped_rows_stand_ins_and_other_data_are_not_comparable():
    rows = surrogate("text", tasks=["eeg", "magic04", "cod-rna"], sizes=(2,))
    rows = report_rows.changed(rows, lambda row: row["dataset"] == "eeg", settings={"capped": True})
    rows = report_rows.changed(rows, lambda row: row["dataset"] == "magic04", stand_in="made (stand-in for magic04)")
    cells = found(rows)
    scores = {name: cells["text", name, "2d", "rff", "accuracy_pct"].score for name in ("eeg", "magic04", "cod-rna")}
    assert {score.verdict for score in scores.values()} == {"not comparable"}
    assert [score.difference is None for score in scores.values()] == [False, True, False]


def test_what_has_no_experiment_is_there_once_and_not_run():
    metrics = {"approximation_error_frobenius": {}, "time_total_s": {"over": "rff"}}
    entry = {"table": "Table IX", "not_run": "it has no experiment yet", "metrics": metrics}
    spec = {"paper": "survey", "experiments": ["e"], "scorecard": {"numbers": [entry]}}
    of_images = compared(report_rows.context_of([]), spec)
    assert Counter(each.place.metric for each in of_images) == {"approximation_error_frobenius": 27, "time_total_s": 24}
    assert {(each.protocol, each.why, each.score.verdict) for each in of_images} == {
        ("", "it has no experiment yet", "not run")
    }


def test_an_entry_may_be_about_one_of_several_kernels():
    entry = {"table": "Table IX", "kernel": "arccos0", "experiments": {"text": "e"}, "metrics": {"error_pct": {}}}
    spec = {"paper": "survey", "experiments": ["e"], "scorecard": {"numbers": [entry]}}
    assert {each.place.kernel for each in found([], spec).values()} == {"arccos0"}
    assert len(found([], spec)) == 9


# --- the table and the picture ----------------------------------------------------------------------------------------


def made(rows, tmp_path, paper="slsrff"):
    """The scorecard of a paper as people read it, and its Markdown file."""
    results = [report_rows.written(tmp_path, rows)] if rows else []
    return report_rows.as_read(report_rows.made(report_rows.spec_of("scorecard-all", paper), results))


def test_the_scorecard_has_one_number_a_cell(tmp_path):
    rows = surrogate("text", tasks=["eeg"], sizes=(1, 2)) + facts()
    frame, text = made(rows, tmp_path)
    assert len(frame) == 645
    row = frame[(frame["s"] == "d") & (frame["method"] == "QMC") & (frame["quantity"] == "ridge accuracy")].iloc[0]
    told = row[["protocol", "table", "data set", "published", "published spread", "confidence", "repeats"]]
    assert [str(cell) for cell in told] == ["text", "Table 3", "EEG", "67.83", "0.73", "verbatim", "10"]
    assert float(row["difference"]) == pytest.approx(float(row["ours"]) - 67.83, abs=0.006)
    assert float(row["in standard errors"]) == pytest.approx(
        float(row["difference"]) / float(row["standard error"]), abs=0.1
    )
    values = [
        row["value"]
        for row in rows
        if (row.get("n_features_label"), row.get("method"), row["metric"]) == ("d", "qmc", "accuracy_pct")
    ]
    ours = [float(row["ours"]), float(row["our spread"])]
    assert ours == pytest.approx([np.mean(values), np.std(values, ddof=1)], abs=0.0051)
    for column in ("published", "published spread", "ours", "our spread", "difference", "margin", "standard error"):
        assert all(cell == "" or np.isfinite(float(cell)) for cell in frame[column])
    assert set(frame["verdict"]) <= set(VERDICTS)
    tallies = frame.groupby("protocol")["verdict"].value_counts()
    for protocol in ("text", "code", "tuned"):
        (line,) = [line for line in text.splitlines() if line.startswith(f"- Protocol {protocol}, 215 printed cells: ")]
        for verdict, number in tallies[protocol].items():
            assert f"{verdict} {number}" in line
    assert "text, Section 5.1" in text
    of_accuracy = frame[frame["quantity"] == "ridge accuracy"]
    lost = of_accuracy[(of_accuracy["s"] == "128d") & (of_accuracy["method"] == "LS-RFF")].iloc[0]
    assert (lost["published"], lost["confidence"], lost["verdict"]) == ("", "lost", "not run")


def test_the_remark_says_what_a_number_must_not_be_compared_for(tmp_path):
    rows = surrogate("text", tasks=["eeg", "cod-rna", "magic04", "covtype"], sizes=(128, 16))
    rows = report_rows.changed(
        rows, lambda row: row["dataset"] == "magic04", settings={"capped": True}, n_train=5, n_test=7
    )
    rows = report_rows.changed(rows, lambda row: row["dataset"] == "covtype", stand_in="made (stand-in for covtype)")
    frame, _ = made(rows + facts(), tmp_path)
    of_text = frame[frame["protocol"] == "text"]

    def remark(dataset, size, method="RFF", quantity="ridge accuracy"):
        rows = of_text[(of_text["data set"] == dataset) & (of_text["s"] == size) & (of_text["method"] == method)]
        return rows[rows["quantity"] == quantity]["remark"].iloc[0]

    assert remark("EEG", "16d") == ""
    assert remark("EEG", "128d", "LS-RFF").startswith("the printed number is lost")
    assert remark("cod-RNA", "128d") == "other test rows"
    assert remark("magic04", "128d") == "capped at 5 training and 7 test rows"
    assert remark("covtype", "16d") == "made stand-in"
    assert remark("cod-RNA", "", "", "test rows") == "other test rows"


def test_the_picture_has_a_panel_a_quantity_and_protocol():
    rows = surrogate("text", tasks=["eeg", "magic04", "cod-rna"]) + surrogate("code", tasks=["eeg"]) + facts()
    context = report_rows.context_of(rows)
    picture = plot.draw(context, report_rows.spec_of("printed-against-ours-all", "slsrff"))
    titles = [ax.get_title() for ax in picture.figure.axes]
    assert sorted(titles) == sorted(
        [
            "ridge accuracy (%), text", "ridge accuracy (%), code", "generation time over that of RFF, text",
            "generation time over that of RFF, code", "rows and columns of the data, text",
            "rows and columns of the data, code",
        ]
    )  # fmt: skip
    assert picture.figure.get_figwidth() <= 7.17
    cells = [each for each in compared(context, SPEC) if each.score.difference is not None]
    drawn = Counter()
    for ax in picture.figure.axes:
        quantity, protocol = ax.get_title().rsplit(", ", 1)
        own = [each for each in cells if each.protocol == protocol and plot._panel_of(each, context.styles) == quantity]
        assert ax.get_xlim() == ax.get_ylim()
        for bars in ax.containers:
            points = {tuple(point) for point in bars.lines[0].get_xydata()}
            expected = {
                (each.published.value, each.ours.value) for each in own if each.score.verdict == bars.get_label()
            }
            assert points == expected
            assert to_rgb(bars.lines[0].get_color()) == to_rgb(plot.MARKS[bars.get_label()].colour)
            drawn[bars.get_label()] += len(bars.lines[0].get_xdata())
        low, high = ax.get_ylim()
        assert all(low < value < high for each in own for value in (each.published.value, each.ours.value))
        assert [ax.get_xscale(), ax.get_yscale()] == ["linear" if "%" in quantity else "log"] * 2
    assert drawn == Counter(each.score.verdict for each in cells)
    assert any(note.startswith(f"Shown, {len(cells)} printed cells: ") for note in picture.notes)
    hidden = 645 - len(cells)
    assert any(
        note.startswith(f"Not shown, for there is nothing to compare, {hidden} printed cells") for note in picture.notes
    )


def test_a_picture_without_rows_says_so():
    picture = plot.draw(report_rows.context_of([]), report_rows.spec_of("printed-against-ours-all", "slsrff"))
    assert not picture.figure.axes
    assert not picture.figure.legends
    empty, note = (text.get_text().replace("\n", " ") for text in picture.figure.texts)
    assert empty == "Nothing to show."
    assert note.endswith("645 printed cells: not run 645.")
    # of stand-ins there is no difference: they have a verdict, and neither a panel nor a mark in the legend
    rows = [row | {"stand_in": "made (stand-in for EEG)"} for row in surrogate("text", tasks=["eeg"])]
    picture = plot.draw(report_rows.context_of(rows), report_rows.spec_of("printed-against-ours-all", "slsrff"))
    assert not picture.figure.axes
    assert not picture.figure.legends
    (note,) = picture.notes
    assert note.startswith("Not shown, for there is nothing to compare, 645 printed cells: not run")
    assert "not comparable" in note


def test_every_verdict_that_has_a_difference_has_a_mark_of_its_own():
    assert set(plot.MARKS) == set(VERDICTS) - {"not run"}
    assert len({mark.marker for mark in plot.MARKS.values()}) == len(plot.MARKS)
    assert len({mark.colour for mark in plot.MARKS.values()}) == len(plot.MARKS)


def test_the_printed_numbers_are_those_of_the_reference():
    numbers = PRINTED[(PRINTED["paper"] == "slsrff") & (PRINTED["experiment"] == "Table 3")]
    printed = {
        (d, s, m, q): v
        for d, s, m, q, v in numbers[["dataset", "n_features_label", "method", "metric", "value"]].itertuples(
            index=False
        )
    }
    cells = found([], of={"metric": "accuracy_pct"})
    told = {place[1:]: each.published.value for place, each in cells.items() if each.published and place[0] == "text"}
    assert told == {place: value for place, value in printed.items() if place[3] == "accuracy_pct" and value == value}
    assert sum("printed" in s for s in settings_of(numbers)) == 231


def test_the_made_rows_are_a_tidy_table():
    tidy.frame(surrogate("text", tasks=["eeg"], sizes=(1,)) + facts())
