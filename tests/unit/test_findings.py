"""docs/findings.md is held by the tables that it names: each is made of the shipped rows, and read.

A finding is an item of the page: a lead in bold, its sentences, and in brackets at its end the tables that carry its
numbers. Whoever adds one adds what it rests on here, under its paper and lead, as a function of ``table(name)``, which
gives a table of the paper as machines read it.
"""

import importlib
import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from rfstudy.report.catalogue import specification
from rfstudy.report.context import Context

ROOT = Path(__file__).resolve().parents[2]
loaded = importlib.util.spec_from_file_location("report_rows", Path(__file__).parent / "report_rows.py")
report_rows = importlib.util.module_from_spec(loaded)
loaded.loader.exec_module(report_rows)


class Finding(NamedTuple):
    """One item of the page: its paper, the lead in bold, all its words, and the tables that it names."""

    paper: str
    lead: str
    text: str
    tables: list[str]


def findings(page: str) -> list[Finding]:
    """The items of a page, by the papers of its sections."""
    found = []
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        (paper,) = re.findall(r"\(`(\w+)`\)$", heading)
        for item in re.split(r"^\* ", body, flags=re.MULTILINE)[1:]:
            text = " ".join(item.split())
            lead = re.match(r"\*\*(.+?)[.:]\*\*", text)[1]
            (tables,) = re.findall(r"\(((?:`[a-z0-9-]+`(?:, )?)+)\)$", text)
            found.append(Finding(paper, lead, text, re.findall(r"`([a-z0-9-]+)`", tables)))
    return found


PAGE = findings((ROOT / "docs" / "findings.md").read_text(encoding="utf-8"))


def shipped(experiments) -> list[Path]:
    """The files of those experiments that come with the repository; what is not there reads "not run" in a table."""
    files = [ROOT / "data" / "measured" / f"{name}.csv.xz" for name in experiments]
    return [path for path in files if path.exists()]


@cache
def context(*experiments) -> Context:
    files = shipped(experiments)
    looks, tasks = report_rows.METHODS, report_rows.REGISTERED
    return Context.read(files, list(experiments), looks, tasks, report_rows.REFERENCE)


@cache
def table_of(paper: str, name: str):
    """A table of the shipped rows, as machines read it."""
    spec = specification(report_rows.REPORTS, paper, name)
    kind = importlib.import_module(f"rfstudy.report.tables.{spec['kind']}")
    return report_rows.as_computed(kind.make(context(*spec["experiments"]), spec))


def printed_accuracies(table, text):
    """Verdicts on the printed accuracies under the code's protocol, and that the text's learns nothing on EEG."""
    code = table("table-03-cells-code")["verdict"].value_counts()
    compared = code.drop(["not comparable", "not run"], errors="ignore")
    told = [int(number) for number in re.findall(r"(\d+) of the (\d+) printed cells", text)[0]]
    assert told == [code["reproduced"], compared.sum()]
    noisy, differ = (int(re.search(pattern, text)[1]) for pattern in (r"(\d+) are too noisy", r"and (\d+) differ"))
    assert (noisy, differ) == (code["too noisy"], code.get("better", 0) + code.get("worse", 0))
    cells = table("table-03-cells-code")
    assert (cells.loc[cells["verdict"] == "too noisy", "in_standard_errors"].abs() < 3).all()
    text_cells = table("table-03-cells-text")
    eeg = text_cells[(text_cells["data_set"] == "EEG") & (text_cells["method"] == "RFF")]
    assert eeg["ours"].max() - eeg["ours"].min() < 1.0  # whatever the number of features


#: What a finding rests on, by paper and lead.
HELD = {
    ("slsrff", "The printed accuracies come out under `code`, not under `text`"): printed_accuracies,
}

#: Findings that no test reads yet: the list may only get shorter.
NOT_HELD = {
    ("slsrff", "The gain is a smaller penalty"),
    ("slsrff", "Resampling as the text describes it gains nothing"),
    ("slsrff", "The surrogate is not an upper bound, as used"),
    ("slsrff", "The theory's sample sizes are not what is needed"),
    ("survey", "Approximation"),
    ("survey", "Prediction"),
    ("survey", "Theory"),
}


@pytest.mark.parametrize("finding", PAGE, ids=lambda finding: f"{finding.paper}: {finding.lead}")
def test_a_finding_rests_on_tables_of_shipped_rows(finding):
    for name in finding.tables:
        spec = specification(report_rows.REPORTS, finding.paper, name)
        assert spec["form"] == "tables"
        assert shipped(spec["experiments"])


@pytest.mark.parametrize("finding", [each for each in PAGE if each[:2] in HELD], ids=lambda each: each.lead)
def test_a_finding_is_what_its_tables_say(finding):
    HELD[finding[:2]](lambda name: table_of(finding.paper, name), finding.text)


def test_every_finding_is_held_or_listed_as_not():
    leads = [finding[:2] for finding in PAGE]
    assert len(set(leads)) == len(leads)
    assert set(leads) == set(HELD) | NOT_HELD
    assert not set(HELD) & NOT_HELD


def test_a_paper_has_few_findings():
    of_paper = [sum(finding.paper == paper for finding in PAGE) for paper in {finding.paper for finding in PAGE}]
    assert max(of_paper) <= 6


def test_a_page_is_read_item_by_item():
    page = "# T\n\n## Features (`eerf`)\n\n* **One.** It is\n  so. (`a-text`)\n* **Two:** not. (`a-text`, `b-tuned`)\n"
    assert findings(page) == [
        Finding("eerf", "One", "**One.** It is so. (`a-text`)", ["a-text"]),
        Finding("eerf", "Two", "**Two:** not. (`a-text`, `b-tuned`)", ["a-text", "b-tuned"]),
    ]
    with pytest.raises(ValueError, match="not enough values"):
        findings("## Features (`eerf`)\n\n* **One.** Without a table.\n")
