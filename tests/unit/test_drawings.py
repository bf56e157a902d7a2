"""What a run draws, from which rows, and into which files."""

import pytest
import report_rows

from rfstudy.drawings import Drawings, category_of


def report(name, form, *experiments, paper="survey"):
    return {"name": f"{name}-text", "id": name, "form": form, "paper": paper, "experiments": list(experiments)}


TABLE, FIGURE = report("table-01", "tables", "survey-a"), report("figure-01", "figures", "survey-a", "survey-b")
FACTS, SPEED = report("facts", "tables"), report("speed", "figures", "speed", paper="study")
ELSEWHERE = report("table-02", "tables", "survey-c", "survey-b")


@pytest.fixture
def drawings():
    """A run of two experiments and of one on demand; rows of one of the two, and of a third, are shipped."""
    return Drawings(
        [TABLE, FIGURE, FACTS, SPEED, ELSEWHERE],
        "quick",
        frozenset({"survey-a", "survey-b", "speed"}),
        frozenset({"survey-a", "survey-b"}),
        frozenset({"survey-b", "survey-d"}),
    )


def test_a_run_draws_what_it_has_all_rows_of(drawings):
    assert drawings.wanted("quick") == [TABLE, FIGURE, FACTS]
    assert drawings.wanted("quick", form="tables") == [TABLE, FACTS]
    assert drawings.wanted("quick", on_demand=True, paper="study") == [SPEED]
    assert drawings.wanted("quick", paper="study") == []


def test_of_the_shipped_rows_all_is_drawn_that_has_any_or_needs_none(drawings):
    assert drawings.wanted("measured") == [FIGURE, FACTS, ELSEWHERE]
    assert drawings.rows("measured", [FIGURE, ELSEWHERE]) == ["data/measured/survey-b.csv.xz"]
    assert drawings.rows("quick", [FIGURE, TABLE]) == ["results/quick/survey-a.csv", "results/quick/survey-b.csv"]


def test_files_and_pages_stand_by_collection_and_paper(drawings):
    stem = "figures/quick/survey/table-01-text"
    assert drawings.files("quick", id="table-01") == [f"{stem}.{ending}" for ending in ("csv", "md", "tex", "txt")]
    assert drawings.pages("measured") == [
        f"results/measured/report/survey/{name}-text.html" for name in ("figure-01", "facts", "table-02")
    ]


def test_a_job_draws_what_rests_on_the_same_rows_and_of_shipped_ones_a_whole_form(drawings):
    assert drawings.jobs("tables") == {
        "tables_survey_a": ("quick", [TABLE]),
        "tables_survey": ("quick", [FACTS]),
        "tables_survey_c_b": ("quick", [ELSEWHERE]),
        "tables_measured": ("measured", [FACTS, ELSEWHERE]),
    }
    assert drawings.jobs("figures") == {
        "figures_survey_a_b": ("quick", [FIGURE]),
        "figures_study_speed": ("quick", [SPEED]),
        "figures_measured": ("measured", [FIGURE]),
    }


def test_the_report_shows_what_holds_printed_numbers_against_ours_first_and_then_the_papers():
    parts = {}
    for report in report_rows.REPORTS:
        parts.setdefault(category_of(report), []).append((report["paper"], report["id"]))
    first, *papers = sorted(parts)
    assert first == "1 Scorecard"
    assert {name for _, name in parts[first]} == {"scorecard", "printed-against-ours"}
    assert len(parts[first]) == 2 * 4
    assert [{paper for paper, _ in parts[each]} for each in papers] == [
        {"survey"}, {"eerf"}, {"nsrf"}, {"slsrff"}, {"study"},
    ]  # fmt: skip
