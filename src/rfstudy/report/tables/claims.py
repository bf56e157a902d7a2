"""The claims of a paper with their verdicts."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import select
from rfstudy.report.claims.points import MEANING
from rfstudy.report.claims.registry import claims_of, judged
from rfstudy.report.claims.rows import Rows
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.typeset import Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("claims",)
OPTIONAL = ("repeats", "learner")


def make(context: Context, spec: dict) -> Table:
    """One row per claim: what it says and its test, both from the reference data, the verdict and the evidence."""
    texts, claims = context.claims.set_index("claim_id"), claims_of(spec["paper"])
    measured = select(context.rows, learner=["", spec["learner"]]) if "learner" in spec else context.rows
    frame, rows = [], Rows(measured, measured, context, spec["paper"])
    for identifier in spec["claims"]:
        verdict, evidence = judged(identifier, rows, spec["protocol"])
        text, stricter = texts.loc[identifier], claims[identifier].stricter
        test = f"{text['test']} (here: {stricter})" if stricter else text["test"]
        frame.append(
            {"claim": identifier, "says": text["claim"], "test": test, "verdict": verdict, "evidence": evidence}
        )
    found = [verdict for verdict in MEANING if any(row["verdict"] == verdict for row in frame)]
    meaning = "; ".join(f"{verdict}, {MEANING[verdict]}" for verdict in found)
    remarks = [f"Verdicts: {meaning}."] if found else []
    return Table(spec["name"], pd.DataFrame(frame), spec["caption"], remarks + notes(measured, spec, context))
