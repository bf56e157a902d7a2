"""From an entry and rows to a verdict: the rows that a claim rests on, its tests, and what cannot speak for it."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pandas as pd

from rfstudy.report.aggregate import select
from rfstudy.report.claims import compared, entries, forms
from rfstudy.report.claims.compared import Names
from rfstudy.report.claims.points import Part, conclude, joined
from rfstudy.report.claims.words import named
from rfstudy.report.notes import absence, comparability

#: Metrics of predictions, which other rows or labels than the paper's make others.
PREDICTIONS = {"accuracy_pct", "error_pct"}


def judge(entry: dict | None, frame: pd.DataFrame, protocol: str, names: Names) -> tuple[str, str]:
    """Verdict and evidence on one claim.

    Parameters
    ----------
    entry : of the paper's claims; None for a claim that has none, which is not run
    frame : measured rows, times summed as printed
    protocol : the one whose experiments the claim is tested on
    names : registries of methods and data sets, and the paper
    """
    if not entry or not entries.experiments_of(entry, protocol):
        return "not run", ""
    rows = select(frame, experiment=entries.experiments_of(entry, protocol))
    tests = [tested(test, rows, names, entry) for test in entries.tests_of(entry)]
    beside = [replace(tested(test, rows, names, entry), beside=True) for test in entries.beside_of(entry)]
    tests = joined(tests) if entry.get("joined") else tests
    told = entry.get("not_testable", "")
    reason = told if isinstance(told, str) else told.get(protocol, "")
    verdict, evidence = conclude([*tests, *beside], entry.get("needs", "every"), reason)
    return verdict, evidence or why_not_run(entry, rows, names)


def why_not_run(entry: dict, rows: pd.DataFrame, names: Names) -> str:
    """Why the data sets that a claim is about have no rows that speak, by the reason: stand-ins, no data."""
    listed = [test["select"].get("dataset", []) for test in entries.tests_of(entry)]
    datasets = dict.fromkeys(each for of in listed for each in ([of] if isinstance(of, str) else of))
    by_reason: dict[str, list[str]] = {}
    for dataset in datasets:
        own = select(rows, dataset=dataset)
        stands_in = len(own) and (own["stand_in"] != "").all()
        why = "a stand-in" if stands_in else "" if (own["status"] == "ok").any() else absence(own)
        if why not in ("", "not run"):
            by_reason.setdefault(why, []).append(names.dataset(dataset))
    return "; ".join(f"{', '.join(of)}: {why}" for why, of in by_reason.items())


def tested(test: dict, rows: pd.DataFrame, names: Names, entry: dict) -> Part:
    """The points of one test, in words; set aside where their data set cannot speak for the claim."""
    form = function_of(test, names.paper)
    points = form(rows, test, names)
    silent = silent_datasets(test, rows, names, entry)
    points = [
        replace(point, aside=silent.get(point.where.get("dataset"), "")) if not point.aside else point
        for point in points
    ]
    wanted = test["select"].get("dataset", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    run = {name for point in points for name in point.where.get("datasets", [point.where.get("dataset")])}
    there, missing = (
        tuple(names.dataset(dataset) for dataset in wanted if (dataset in run) is is_run) for is_run in (True, False)
    )
    in_errors = any(isinstance(test.get(key), dict) and "standard_errors" in test[key] for key in compared.BORDERS)
    told = named(points, names, test)
    return Part(told, test.get("at", "every"), datasets=there, missing=missing, in_errors=in_errors)


def function_of(test: dict, paper: str):
    """The function of a form, or a paper's own one."""
    if test["form"] == "custom":
        return getattr(import_module(f"rfstudy.report.claims.{paper}"), test["function"])
    return getattr(forms, test["form"])


def silent_datasets(test: dict, rows: pd.DataFrame, names: Names, entry: dict) -> dict[str, str]:
    """Data sets that cannot speak for a claim, and why: those that the entry sets aside, and of a claim about
    accuracies or errors those whose rows or labels are not the paper's (the notes say why), or on which none of its
    methods learned anything."""
    found = dict(entry.get("aside", {}))
    metrics = {test.get("metric"), *(each["metric"] for each in test.get("between", []) if isinstance(each, dict))}
    if metrics & PREDICTIONS:
        sides = [test[key] for key in ("of", "over", "minus", "best", "among", "against") if key in test]
        sides = [each for each in sides if each not in ("second", "median")]
        methods = {who for told in sides for side in compared.sides(told) for who in side.all}
        own = select(compared.of_methods(compared.chosen(rows, test["select"]), methods), metric=list(PREDICTIONS))
        for dataset, of_dataset in own.groupby("dataset", sort=False):
            if comparability(of_dataset, names.context.tasks):
                found.setdefault(dataset, "not comparable")
        for _, dataset in compared.unlearned(rows, own):
            found.setdefault(dataset, "nothing was learned")
    return found
