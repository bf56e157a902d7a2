"""Printed numbers beside ours: the rule of the scorecard, and the tables of accuracies, times and verdicts."""

import pytest
import report_rows


def table(name, rows, tmp_path):
    """A table of the surrogate leverage paper as people read it, and the text of its Markdown file."""
    results = [report_rows.written(tmp_path, rows)] if rows else []
    return report_rows.as_read(report_rows.made(report_rows.spec_of(name, "slsrff"), results))


def at(frame, **wanted):
    """The one row with these cells."""
    for column, value in wanted.items():
        frame = frame[frame[column.replace("_", " ")] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_accuracies_and_times_in_the_form_of_the_paper(tmp_path):
    rows = report_rows.surrogate_rows(tasks=["eeg", "magic04"], sizes=(1, 128), gain=5.0)
    rows = [r for r in rows if r["dataset"] != "magic04" or r["repeat"] < 3]
    frame, text = table("table-03-text", rows, tmp_path)
    printed = at(frame, data_set="EEG", s="128d", source="published")
    assert printed["RFF"] == "79.79 ± 0.49 (0.82 ± 0.05)"
    assert printed["LS-RFF"] == "lost (3.91 ± 0.09*)"
    assert printed["SLS-RFF"] == "91.02 ± 0.32* (0.96 ± 0.03*)"
    # a bullet where each of both methods gains on each baseline: not at d, and not with too few repeats on magic04
    marked = frame[frame["SLS-RFF"].str.startswith("•")]
    assert marked[["data set", "s", "source"]].to_numpy().tolist() == [["EEG", "128d", "measured"]]
    assert marked["LS-RFF"].str.startswith("•").all()
    assert not marked["RFF"].str.startswith("•").any()
    assert "Measured cells with it: 1." in text


@pytest.mark.parametrize("name", ["table-03-text", "table-03-cells-text", "table-03-times-text"])
def test_printed_numbers_are_no_input_of_ours(name, tmp_path):
    frame, _ = table(name, [], tmp_path)
    if name == "table-03-text":
        assert (frame[frame["source"] == "measured"].iloc[:, 3:] == "not run").all(axis=None)
    else:
        assert (frame[["ours", "verdict"]] == "not run").all(axis=None)
