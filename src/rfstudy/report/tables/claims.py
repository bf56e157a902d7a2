"""The claims of a paper with their verdicts."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import select
from rfstudy.report.claims.compared import Names
from rfstudy.report.claims.judge import judge
from rfstudy.report.claims.points import MEANING
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.typeset import Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("claims",)
OPTIONAL = ("repeats", "learner")


def make(context: Context, spec: dict) -> Table:
    """One row a claim: what it says and its test, both from the reference data, the verdict and the evidence."""
    names = Names(context, spec["paper"])
    texts = context.claims.set_index("claim_id")
    measured = select(context.rows, learner=["", spec["learner"]]) if "learner" in spec else context.rows
    rows = []
    for identifier, entry in spec["claims"].items():
        verdict, evidence = judge(entry, measured, spec["protocol"], names)
        text, stricter = texts.loc[identifier], (entry or {}).get("reason", "")
        test = f"{text['test']} (here: {stricter})" if stricter else text["test"]
        rows.append(
            {"claim": identifier, "says": text["claim"], "test": test, "verdict": verdict, "evidence": evidence}
        )
    found = [verdict for verdict in MEANING if any(row["verdict"] == verdict for row in rows)]
    meaning = "; ".join(f"{verdict}, {MEANING[verdict]}" for verdict in found)
    remarks = [f"Verdicts: {meaning}."] if found else []
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks + notes(measured, spec, context))
