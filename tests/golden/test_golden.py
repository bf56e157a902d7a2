"""The measured tables and figures have the same numbers and verdicts as their golden copies."""

import golden
import pytest


@pytest.mark.parametrize("paper", golden.PAPERS)
def test_outputs_equal_their_golden_copies(paper, shipped):
    assert golden.check([f"{paper}/*"], shipped) == []


def test_a_pattern_that_selects_nothing_is_no_agreement(shipped):
    (line,) = golden.check(["scorecard"], shipped)
    assert line == "no output is called scorecard: the names are paper/output, e.g. survey/table-07-text"


def test_a_changed_number_and_a_moved_point_are_found():
    old, new = {"value": [1.0, 2.0, "holds"]}, {"value": [1.0, 2.1, "fails"]}
    assert len(list(golden.differences(old, new, "a table"))) == 2
    old, new = [["points", [[0.0, 1.0], [1.0, 2.0]]]], [["points", [[0.0, 1.0], [1.0, 2.1]]]]
    assert len(list(golden.differences(old, new, "a figure"))) == 2
