"""The parts of the papers have ids of their own, states by their rows, and causes where rows are missing."""

from types import SimpleNamespace

import pandas as pd
import pytest
from checkouts import ROOT

from rfstudy import paper_pages, tidy

TASKS = {
    "eeg": {"n": 14_980},
    "cod-rna": {"not_comparable": {"test": "other test rows"}},
    "hog": {"not_comparable": "other features"},
}
WANTED = "experiment=toy; dataset={}; method=rff|orf; metric=accuracy_pct; repeats=2"


def wanted(datasets):
    return {"rows": WANTED.format(datasets)}


def state(found, **part):
    """The state of a part and why, from rows of a toy experiment."""
    part = {"output": "", "deviation": "", "cause": "no file"} | wanted("eeg") | part
    context = SimpleNamespace(rows=tidy.frame(found))
    shipped = SimpleNamespace(tasks=TASKS, context=lambda *names: context)
    return paper_pages.state_of_rows(SimpleNamespace(paper="survey", **part), shipped)


def rows(methods=("rff", "orf"), **columns):
    """Two repeats of methods on a data set."""
    shared = {"experiment": "toy", "dataset": "eeg", "metric": "accuracy_pct", "split": "test", "status": "ok"}
    shared |= {"n_train": 7490, "n_test": 7490, "value": 80.0} | columns
    return [shared | {"method": method, "repeat": repeat} for method in methods for repeat in (0, 1)]


ALL = rows()


@pytest.mark.parametrize(
    ("rows", "part", "expected"),
    [
        (ALL, {}, ("full", "")),
        (ALL, {"deviation": "another solver"}, ("deviation", "another solver")),
        (ALL, {"deviation": "other data: ours"}, ("other data", "ours")),
        (ALL[:3], {}, ("deviation", "1 of 2 repeats in places; no file")),
        (ALL[:2], {}, ("deviation", "none of orf; no file")),
        *(([], of, ("missing", "no file")) for of in ({}, {"rows": ""})),
        *((rows(**of), {}, ("missing", "no file")) for of in ({"stand_in": "digits"}, {"status": "failed"})),
        (rows(settings={"capped": True}), {}, ("deviation", "capped at 7,490 training and 7,490 test rows")),
        (rows(dataset="cod-rna"), wanted("cod-rna"), ("deviation", "other test rows")),
        (rows(dataset="hog"), wanted("hog"), ("other data", "other features")),
        (ALL + rows(["rff"], dataset="hog"), wanted("eeg|hog"), ("deviation", "other features; 3 of 4 cells; no file")),
    ],
)
def test_the_state_of_a_part_follows_from_its_rows(rows, part, expected):
    assert state(rows, **part) == expected


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["holds", "not testable"], ("full", "holds")),
        (["fails", "partly", "fails"], ("full", "fails, partly")),
        (["not run", "not testable"], ("cannot be tested", "why 1")),
        (["not run"], ("missing", "no file")),
    ],
)
def test_the_state_of_a_claim_follows_from_its_verdicts(verdicts, expected):
    readings = pd.DataFrame({"verdict": verdicts, "reason": [f"why {i}" for i in range(len(verdicts))]})
    assert paper_pages.state_of_claim(SimpleNamespace(cause="no file"), readings) == expected


def test_each_part_is_listed_once_and_each_missing_one_has_a_cause():
    parts = pd.read_csv(ROOT / "data/reference/checklist.csv", dtype=str, keep_default_na=False)
    claims = pd.read_csv(ROOT / "data/reference/claims.csv", dtype=str)
    assert len(parts) == 416
    assert parts["id"].is_unique
    assert set(parts.loc[parts["category"] == "claim", "id"]) == set(claims["claim_id"])
    page = (ROOT / "docs/checklist.md").read_text("utf-8")
    cells = [[cell.strip() for cell in line.split(" | ")] for line in page.splitlines() if line.startswith("| ")]
    cells = [row for row in cells if len(row) == 6 and row[4] in paper_pages.STATES]
    assert len(cells) == 416
    for *place, reached, why in cells:
        assert (reached == "full") or len(why.strip(" |")) > 10, place
        assert not [word for word in ("not done", "not run", "not yet", "todo") if word in why.lower()], place
