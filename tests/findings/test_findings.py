"""docs/findings.md is held by the tables that it names: each is made of the shipped rows, and read."""

import pytest

from rfstudy.report.catalogue import specification

from . import eerf, nsrf, slsrff, study, survey
from .page import Finding, findings, sentences
from .shipped import ROOT, report_rows, shipped, table_of

PAGE = findings((ROOT / "docs" / "findings.md").read_text(encoding="utf-8"))

#: What a finding rests on, by paper and lead.
HELD = {(of.HELD.paper, lead): basis for of in (slsrff, survey, eerf, nsrf, study) for lead, basis in of.HELD.items()}


@pytest.mark.parametrize("finding", PAGE, ids=lambda finding: f"{finding.paper}: {finding.lead}")
def test_a_finding_rests_on_tables_of_shipped_rows(finding):
    for name in finding.tables:
        spec = specification(report_rows.REPORTS, finding.paper, name)
        assert spec["form"] == "tables"
        assert shipped(spec["experiments"])


@pytest.mark.parametrize("finding", [each for each in PAGE if each[:2] in HELD], ids=lambda each: each.lead)
def test_a_finding_is_what_its_tables_say(finding):
    HELD[finding[:2]].check(lambda name: table_of(finding.paper, name), finding.text)


def test_every_finding_is_held():
    leads = [finding[:2] for finding in PAGE]
    assert len(set(leads)) == len(leads)
    assert set(leads) == set(HELD)


@pytest.mark.parametrize("finding", PAGE, ids=lambda finding: f"{finding.paper}: {finding.lead}")
def test_every_sentence_is_one_that_its_test_was_written_for(finding):
    assert [" ".join(sentence.split()[:3]) for sentence in sentences(finding)] == HELD[finding[:2]].openings


def test_a_paper_has_few_findings():
    of_paper = [sum(finding.paper == paper for finding in PAGE) for paper in {finding.paper for finding in PAGE}]
    assert max(of_paper) <= 6


def test_a_page_is_read_item_by_item():
    page = "# T\n\n## Features (`eerf`)\n\n* **One.** It is\n  so. (`a-text`)\n* **Two:** not. (`a-text`, `b-tuned`)\n"
    assert findings(page) == [
        Finding("eerf", "One", "**One.** It is so. (`a-text`)", ["a-text"]),
        Finding("eerf", "Two", "**Two:** not. (`a-text`, `b-tuned`)", ["a-text", "b-tuned"]),
    ]
    several = Finding("eerf", "One", "**One:** it is 1.5. As so, (2) is. (`a-text`)", ["a-text"])
    assert sentences(several) == ["It is 1.5.", "As so, (2) is."]
    with pytest.raises(ValueError, match="not enough values"):
        findings("## Features (`eerf`)\n\n* **One.** Without a table.\n")
