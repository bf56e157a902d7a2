"""README.md and the pages of docs are what their templates make of the shipped measurements."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest
from checkouts import ROOT

from random_features.errors import UserError
from rfstudy import render
from rfstudy.report.aggregate import select


@pytest.mark.parametrize(("page", "template"), render.PAGES.items())
def test_a_page_is_what_its_template_makes_of_the_shipped_rows(shipped, page, template):
    assert render.rendered(shipped, template) == (ROOT / page).read_text(encoding="utf-8")


def test_the_pictures_show_the_shipped_rows(shipped):
    for name in render.PICTURES:
        with render.Image.open(ROOT / "docs" / "pictures" / name) as picture:
            assert picture.text["Source"] == render.digest(shipped, name)


def test_a_sentence_that_no_longer_holds_stops_the_build():
    assert render.holds("README.md.j2", True, "it is so") == ""
    with pytest.raises(UserError, match=r"no longer say that it is so: .* docs/README\.md\.j2"):
        render.holds("README.md.j2", False, "it is so")


def test_counts_of_verdicts_are_those_of_the_cells(shipped):
    cells = shipped.table("slsrff", "table-03-cells-code")
    found = render.accuracies(shipped, "code")
    assert found["reproduced"] == (cells["verdict"] == "reproduced").sum()
    assert found["compared"] == (~cells["verdict"].isin(["not comparable", "not run"])).sum()


@pytest.mark.parametrize("paper", render.PAPERS)
def test_the_verdicts_on_the_page_of_a_paper_add_up(paper):
    text = (ROOT / "docs" / "papers" / f"{paper}.md").read_text("utf-8")
    for total in ("results", "claims"):
        table = re.search(rf"^\|.* {total} \|\n\| --- .*\n((?:\|.*\n)+)", text, re.MULTILINE)[1]
        for line in table.splitlines():
            *counts, whole = [int(cell) for cell in line.split("|") if cell.strip().isdecimal()]
            assert sum(counts) == whole > 0
    claims = select(pd.read_csv(ROOT / "data" / "reference" / "claims.csv", dtype=str), paper=paper)["claim_id"]
    assert re.findall(rf'^\| <a id="({paper}-\d+)"></a>\1 \(', text, re.MULTILINE) == sorted(claims)


def longest_sentence(text: str) -> int:
    """The number of words of the longest sentence of a page, without code, comments and links."""
    text = re.sub(r"```.*?```|<!--.*?-->|\]\(.*?\)", " ", text, flags=re.DOTALL)
    blocks = re.split(r"\n\n|\n\* |[|#\n]*\n[|#]+|\|", text)
    sentences = [sentence for block in blocks for sentence in re.split(r"[.!?]\**\s", block)]
    return max(len(re.findall(r"\w[\w.,%-]*", sentence)) for sentence in sentences)


def test_rows_effects_and_single_values_of_a_table():
    records = [("rff", 2, 0.7, 0.01), ("orf", 2, -0.7, 0.04), ("orf", 4, 0.05, 0.01)]
    table = pd.DataFrame(records, columns=["method", "size", "value", "p_value"])
    assert list(render.rows(table, method="orf", size=["2", "4"])["size"]) == [2, 4]
    assert render.one(table, method="orf", size="4") == 0.05
    with pytest.raises(ValueError, match="size 1"):
        render.one(table, method="orf")
    assert [len(render.effects(table, sign)) for sign in (0, 1, -1)] == [2, 1, 1]


def test_the_evidence_is_short_and_names_tables_that_are_made(shipped):
    evidence = (ROOT / "docs" / "evidence.md").read_text("utf-8")
    named = re.findall(r"`([a-z0-9-]+)` \(\[\w+\]\(papers/(\w+)\.md\)\)", evidence)
    of_study = r"`([a-z0-9-]+)` in `figures/measured/study`|`figures/measured/study/([a-z0-9-]+)\.md`"
    named += [(one or other, "study") for one, other in re.findall(of_study, evidence)]
    assert len(named) > 10
    assert len(evidence.split()) <= 1600
    for name, paper in named:
        assert shipped.spec(paper, name)["form"] == "tables"


def test_findings_are_short_and_each_names_its_evidence():
    findings, evidence = ((ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("findings", "evidence"))
    places = {heading.lower().replace(" ", "-") for heading in re.findall(r"^### (.+)$", evidence, re.MULTILINE)}
    assert places == set(re.findall(r"evidence\.md#([\w-]+)", findings))
    assert findings.count("](pictures/") == 3
    assert len(findings.split()) <= 700


#: What a reader sees first, and reads on a phone, by template: the part before a heading.
FIRST = {"README.md.j2": "## Gallery", "findings.md.j2": None, "which-map.md.j2": None}
assert set(FIRST) <= set(render.PAGES.values())

#: Numbers of a text that are no results: levels of tests, names with letters, and numbers of the papers.
NAMES = re.compile(r"\b\d+ % intervals|(?:Table|Figure|D =) [\d,]+|[\w-]*[A-Za-z][\w-]*\d\w*|\d+[a-z]\b")


@pytest.mark.parametrize(("template", "end"), FIRST.items())
def test_every_number_of_the_first_pages_comes_from_rows(template, end):
    text = (ROOT / "docs" / template).read_text("utf-8").partition(end or "\0")[0]
    text = re.sub(r"```.*?```|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<!--.*?-->|\]\(.*?\)|`[^`]*`", " ", text, flags=re.DOTALL)
    assert re.findall(r".*\d.*", NAMES.sub("", text)) == []


@pytest.mark.parametrize("page", [page for page in render.PAGES if "measurements" not in page])
def test_no_sentence_of_a_page_has_more_than_35_words_and_none_of_the_first_pages_more_than_30(page):
    text, template = (ROOT / page).read_text("utf-8"), render.PAGES[page]
    assert longest_sentence(text) <= 35
    assert template not in FIRST or longest_sentence(text.partition(FIRST[template] or "\0")[0]) <= 30


def test_the_first_screen_is_short_and_its_lines_print_the_number_that_they_state(capsys):
    screen = (ROOT / "README.md").read_text("utf-8").partition("## Gallery")[0]
    assert len(screen.splitlines()) <= 35
    assert "`make quick`" in screen
    assert "`make test`" in screen
    assert screen.count("](docs/pictures/") == 1
    lines = re.search(r"```python\n(.*?)```", screen, re.DOTALL)[1]
    assert lines.count("\n") <= 8
    exec(lines, {})
    assert float(capsys.readouterr().out) == pytest.approx(float(lines.rpartition("# ")[2]), abs=0.005)


def test_the_hours_of_an_experiment_are_those_of_all_its_runs(shipped, monkeypatch):
    monkeypatch.setattr(shipped, "runs", lambda experiment: [{"wall_time_s": 1800.0}, {"wall_time_s": 5400.0}])
    assert shipped.hours("survey-gaussian-text") == 2.0


def test_errors_at_equal_columns_are_ratios(shipped):
    rows = select(shipped.context("survey-gaussian-text", "survey-gaussian-others").rows, dataset="ijcnn1", status="ok")
    rows = select(rows[rows["n_columns"].eq(88)], method=["rff", "nystroem"], metric="approximation_error_frobenius")
    mean = rows.groupby("method")["value"].mean()
    assert render.at_equal_columns(shipped, "nystroem")["ijcnn1", 88] == mean["nystroem"] / mean["rff"]


def said(outcomes, sets):
    """The sentence about 15 statements on so many new data sets, with these outcomes."""
    made = {"map": "Nyström", "statement": ["better"] * 8 + ["equal"] * 7, "largest_d": 256, "predicted": 0.5}
    table = pd.DataFrame(made | {"sets": sets, "outcome": outcomes})
    return render.on_new_sets(SimpleNamespace(table=lambda paper, name: table))


def test_pages_say_how_many_statements_on_new_data_sets_are_confirmed():
    end, start = "of at least 9 new data sets count so far.", "Of 15 statements about them,"
    assert said(["fewer than 6 sets"] * 15, 2) == f"No statement is confirmed yet: 2 {end}"
    assert said(["undecided"] * 15, 8) == f"No statement is confirmed yet: 8 {end}"
    several = ["contradicted", "confirmed", "different, negligibly", "undecided", "contradicted"] + ["undecided"] * 10
    named = "2 are confirmed (Nyström and Nyström better with up to 256 columns)"
    expected = "We had predicted 7.5, too many."
    assert said(several, 8) == f"{start} {named}, 2 contradicted and 11 undecided. {expected}"
    named = "1 is confirmed (Nyström better with up to 256 columns)"
    one = ["confirmed"] + ["undecided"] * 14
    assert said(one, 9) == f"{start} {named}, 0 contradicted and 14 undecided. {expected}"
    assert said(["undecided"] * 15, 9) == f"{start} 0 are confirmed, 0 contradicted and 15 undecided. {expected}"
