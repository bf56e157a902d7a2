"""Tables from synthetic rows: their contents next to published values, and the soundness of every format."""

import pandas as pd
import pytest
import report_rows

from rfstudy import tidy
from rfstudy.report import cells
from rfstudy.report.tables.times import comparisons


def table(name, rows, tmp_path, paper="survey"):
    """The table of a specification as people read it, and the text of its Markdown file."""
    results = [report_rows.written(tmp_path, rows)] if rows else []
    return report_rows.as_read(report_rows.made(report_rows.spec_of(name, paper), results))


NUMBERS = ["d", "training rows", "test rows", "random split", "scaling"]


def test_the_registry_speaks_for_what_was_not_measured(tmp_path):
    rows = [row for row in report_rows.fact_rows(duplicate_rows=3) if row["dataset"] != "a8a"]
    frame, text = table("table-06-text", rows, tmp_path)
    reported = frame[frame["source"] == "registered"].set_index("data set")
    assert list(reported.index) == ["a8a", "MNIST", "CIFAR-10", "MNIST-8M"]
    # a stream has the columns of its file and the test part of its base
    assert reported.drop("a8a")[NUMBERS].T.to_dict("list") == {
        "MNIST": ["784", "60000", "10000", "no", "not run"], "CIFAR-10": ["3072", "50000", "10000", "no", "not run"],
        "MNIST-8M": ["784", "8100000", "10000", "no", "not run"],
    }  # fmt: skip
    assert set(reported["differs in"]) == {""}
    assert "- Registered: not measured here; what the registry of the data sets says of them." in text
    of_four = report_rows.changed(rows, lambda row: True, experiment="slsrff-text")
    assert "Registered" not in table("table-02-text", of_four, tmp_path, "slsrff")[1]


def test_what_was_measured_in_place_of_a_data_set_has_its_own_name(tmp_path):
    own = {"dataset": "mnist8m-made", "experiment": "survey-million-text", "d": 100, "n_train": 50000, "n_test": 10000}
    rows = [row | own if row["dataset"] == "a8a" else row for row in report_rows.fact_rows(duplicate_rows=3)]
    frame, text = table("table-06-text", rows, tmp_path)
    assert frame.tail(2)[["data set", "source", *NUMBERS[:3], "differs in"]].to_numpy().tolist() == [
        ["MNIST-8M", "published", "784", "8100000", "10000", ""],
        ["MNIST, deformed", "found", "100", "50000", "10000", "d, training rows"],
    ]
    assert "- Not comparable with the published numbers: cod-RNA (other test rows), MNIST, deformed (the" in text


@pytest.mark.parametrize(("facts", "numbers"), [(True, ["123", "22696", "9865"]), (False, ["200", "9000", "9865"])])
def test_numbers_are_those_of_the_facts_and_without_them_of_measured_rows(tmp_path, facts, numbers):
    rows = [row for row in report_rows.fact_rows(duplicate_rows=3) if facts or row["dataset"] != "a8a"]
    shared = next(row for row in report_rows.fact_rows(duplicate_rows=3) if row["dataset"] == "a8a")
    capped = shared | {"metric": "accuracy_pct", "split": "test", "d": 200, "n_train": 9000}
    frame, _ = table("table-06-text", [*rows, capped, capped | {"repeat": 1, "n_train": 8000}], tmp_path)
    (found,) = frame[frame["data set"].str.startswith("a8a") & (frame["source"] == "found")][NUMBERS[:3]].to_numpy()
    assert found.tolist() == numbers


def test_a_grid_by_sizes_has_the_best_of_each_size_in_bold_and_names_what_was_not_run(tmp_path):
    rows = report_rows.surrogate_rows(tasks=("eeg",), sizes=(1, 2))
    frame, text = table("values-approximation-error-text", rows, tmp_path, "slsrff")
    found = {name: [*cells[["d", "2d"]].to_numpy()] for name, cells in frame.groupby("data set")}
    assert [len(found.pop("EEG")), *(list(cells[0]) for cells in found.values())] == [4, *[["not run"] * 2] * 3]
    bold = [line for line in text.splitlines() if line.startswith("|") and "**" in line]
    assert [("QMC" in line, line.count("**")) for line in bold] == [(True, 4)]


def test_printed_winners_are_no_input_of_the_measured_ones(tmp_path):
    frame, _ = table("table-07-text", [], tmp_path)
    assert (frame.loc[frame["source"] == "measured"].iloc[:, 2:] == "not run").all(axis=None)
    assert (frame.loc[frame["source"] == "agreement"].iloc[:, 2:] == "").all(axis=None)
    skin = frame[(frame["data set"] == "skin") & (frame["source"] == "published")].iloc[0]
    assert skin["approximation, small s"] == "SSF, ROM"


@pytest.mark.parametrize("name", ["table-03-text", "table-03-cells-text", "table-03-times-text"])
def test_printed_numbers_are_no_input_of_ours(name, tmp_path):
    frame, _ = table(name, [], tmp_path, "slsrff")
    ours = frame[frame["source"] == "measured"].iloc[:, 3:] if name == "table-03-text" else frame[["ours", "verdict"]]
    assert (ours == "not run").all(axis=None)


@pytest.mark.parametrize(("bar", "verdict"), [(0.249, "missed"), (0.25, "kept")])
def test_a_ratio_of_speed_keeps_its_bar_up_to_the_bar(bar, verdict):
    shared = {"run": "r", "metric": "time_fit_s", "status": "ok", "axis": "round", "method": ""}
    own = {"variant": "own", "value": 1.0, "settings": {"what": "own", "at_most": {"other": bar}}}
    other = {"variant": "other", "value": 4.0, "settings": {"what": "other"}}
    found = comparisons(tidy.frame([shared | side | {"at": at} for side in (own, other) for at in (0, 1, 2)]))
    assert found[["ratio", "verdict"]].iloc[0].tolist() == [0.25, verdict]


def test_two_means_of_one_place_are_an_error():
    means = pd.DataFrame({"metric": "mse", "method": ["rff", "rff", "orf"], "dataset": ["eeg", "skin", "eeg"]})
    assert set(cells.by_place(means, "method", "dataset")) == {("rff", "eeg"), ("rff", "skin"), ("orf", "eeg")}
    with pytest.raises(ValueError, match="must be unique"):
        cells.by_place(means, "method")
