"""The claims of a paper with their verdicts."""

import pandas as pd

from rfstudy.report.aggregate import select
from rfstudy.report.claims.points import CASES, MEANING
from rfstudy.report.claims.registry import claims_of, judged
from rfstudy.report.claims.rows import Rows
from rfstudy.report.typeset import Table


def claims(context, *, paper, protocol, claims, learner=None, brief=False) -> Table:
    """Return a row per claim: its text, verdict and evidence, and for machines its test."""
    texts, tests = context.texts("claims").set_index("claim_id"), claims_of(paper)
    measured = select(context.rows, learner=["", learner]) if learner is not None else context.rows
    table, rows, used = [], Rows(measured, measured, context, paper), set()
    for identifier in claims:
        verdict, evidence, datasets = judged(identifier, rows, protocol, brief)
        used |= datasets
        text, stricter = texts.loc[identifier], tests[identifier].stricter
        test = f"{text['test']} (here: {stricter})" if stricter else text["test"]
        row = {"claim": identifier, "says": text["claim"], "test": test, "verdict": verdict, "evidence": evidence}
        table.append(row)
    frame = pd.DataFrame(table)
    meaning = "; ".join(f"{verdict}, {MEANING[verdict]}" for verdict in MEANING if (frame["verdict"] == verdict).any())
    notes = [f"Verdicts: {meaning}."] if meaning else []
    notes += [CASES] if any(tests[identifier].at != "every" for identifier in claims) else []
    return Table(frame, notes, hidden=("test",), shown=select(measured, dataset=sorted(used)))
