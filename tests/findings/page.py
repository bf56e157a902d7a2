"""docs/findings.md as items: a lead in bold, its sentences, and in brackets at its end the tables that carry its
numbers.
"""

import re
from typing import NamedTuple


class Finding(NamedTuple):
    """One item of the page: its paper, the lead in bold, all its words, and the tables that it names."""

    paper: str
    lead: str
    text: str
    tables: list[str]


def sentences(finding: Finding) -> list[str]:
    """The sentences of a finding after its lead, without the tables in brackets."""
    _, _, body = finding.text.partition(":**" if ":**" in finding.text else ".**")
    body = body.rpartition("(`")[0].strip()
    return re.split(r"(?<=[.]) (?=[A-Z])", body[:1].upper() + body[1:])


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
