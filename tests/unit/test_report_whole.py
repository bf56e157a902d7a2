"""The study has all of each paper: an output for every table and figure, and a test for every claim."""

import csv
import re

import pytest
import report_rows
from verdict_rows import PAPERS

from rfstudy import tidy
from rfstudy.metrics import FACTS
from rfstudy.report.catalogue import as_list
from rfstudy.report.claims.nsrf import EIGHT
from rfstudy.report.claims.registry import claims_of, judged, problems
from rfstudy.report.claims.rows import Rows
from rfstudy.report.claims.samples import sides
from rfstudy.report.published import ids_by_name
from rfstudy.study.kinds.registry import KINDS

#: Names in sentences of several data sets, or of one with features of its own, and claims that are tested on others.
NAMES = {"MNIST pairs": EIGHT[:3], "CIFAR-10 pairs": EIGHT[3:], "CIFAR-10": ["cifar10-vgg"]}
ON_OTHERS = ("nsrf-05", "nsrf-26", "nsrf-27", "nsrf-29")

ROMAN = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9}


def printed(name: str) -> list[dict]:
    with open(report_rows.REFERENCE / name, encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def places(paper: str) -> set[str]:
    """The numbered tables and figures of a paper, as ``table-06`` and ``figure-09``."""
    tables = [row["table"] for path in report_rows.REFERENCE.glob(f"{paper}_table*.csv") for row in printed(path.name)]
    figures = [row["figure"] for row in printed("figures.csv") if row["paper"] == paper]
    found = set()
    for name in {*tables, *figures}:
        numbered = re.fullmatch(r"(Table|Figure) ([IVX]+|\d+)", name)
        if numbered:
            form, number = numbered.groups()
            found.add(f"{form.lower()}-{ROMAN.get(number) or int(number):02d}")
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_every_table_and_figure_of_a_paper_has_an_output(paper):
    drawn = [report["id"] for report in report_rows.REPORTS if report["paper"] == paper]
    assert {place for place in places(paper) if not any(name.startswith(place) for name in drawn)} == set()


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_the_names_in_claims_exist(paper, monkeypatch):
    """Experiments, data sets, methods and metrics, as the functions ask for them on no rows."""
    asked = {"datasets": set(), "methods": set(), "metrics": set()}
    select, find, usable = Rows.of, Rows.measured, Rows.usable

    def of(rows, datasets=None, *arguments, **options):
        asked["datasets"] |= set(as_list(datasets or ()))
        return select(rows, datasets, *arguments, **options)

    def measured(rows, metric, *compared):
        asked["methods"] |= {method for each in sides(*compared) for method, _ in each.methods + each.also}
        asked["metrics"] |= {each.metric or metric for each in sides(*compared)}
        return find(rows, metric, *compared)

    def chosen(rows, **columns):
        asked["methods"] |= {columns.get("method", "")}
        asked["metrics"] |= set(as_list(columns.get("metric", ())))
        return usable(rows, **columns)

    for name, spy in (("of", of), ("measured", measured), ("usable", chosen)):
        monkeypatch.setattr(Rows, name, spy)
    rows = Rows(tidy.frame([]), tidy.frame([]), report_rows.context_of([]), paper)
    sentences = {row["claim_id"]: row["datasets"].split(";") for row in printed("claims.csv")}
    ids = ids_by_name(report_rows.REGISTERED)
    for identifier, claim in claims_of(paper).items():
        others, asked["datasets"] = asked["datasets"], set()
        for protocol in claim.experiments:
            assert judged(identifier, rows, protocol)[:2] == ("not run", "")
        named = set().union(*(NAMES.get(name, [ids.get((paper, name))]) for name in sentences[identifier]))
        assert identifier in ON_OTHERS or not asked["datasets"] or named - {None} <= asked["datasets"], identifier
        asked["datasets"] |= others
    kinds = {each["kind"] for each in report_rows.EXPERIMENTS.values()}
    metrics = set(FACTS).union(*(KINDS[kind].metrics or () for kind in kinds))
    assert asked["datasets"] <= set(report_rows.REGISTERED)
    assert asked["methods"] <= {"", *report_rows.METHODS}
    assert asked["metrics"] <= metrics
    assert all(asked.values())


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_of_a_paper_has_a_test_and_is_in_one_table_per_protocol(paper):
    claims = {row["claim_id"] for row in printed("claims.csv") if row["paper"] == paper}
    assert problems(paper, claims, report_rows.EXPERIMENTS) == []
    found = "\n".join(problems(paper, claims ^ {"made-01", min(claims)}, {}))
    assert all(words in found for words in ("made-01 has no function", f"has no '{min(claims)}'", "there is no '"))
    tables = [report for report in report_rows.REPORTS if report["paper"] == paper and report["kind"] == "claims"]
    listed = [(claim, each["protocol"], each.get("learner", "")) for each in tables for claim in each["claims"]]
    assert len(set(listed)) == len(listed)
    assert claims - {claim for claim, *_ in listed} == set()
