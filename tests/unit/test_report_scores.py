"""Printed numbers beside ours: the rule of the scorecard, and the tables of accuracies, times and verdicts."""

import pytest
import report_rows


def table(name, rows, tmp_path):
    """A table of the surrogate leverage paper as people read it, and the text of its Markdown file."""
    results = [report_rows.written(tmp_path, rows)] if rows else []
    return report_rows.as_read(report_rows.made(report_rows.spec_of(name, "slsrff"), results))


@pytest.mark.parametrize("name", ["table-03-text", "table-03-cells-text", "table-03-times-text"])
def test_printed_numbers_are_no_input_of_ours(name, tmp_path):
    frame, _ = table(name, [], tmp_path)
    if name == "table-03-text":
        assert (frame[frame["source"] == "measured"].iloc[:, 3:] == "not run").all(axis=None)
    else:
        assert (frame[["ours", "verdict"]] == "not run").all(axis=None)
