"""The claims of a paper with their verdicts."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.claims import CLAIMS
from rfstudy.report.context import Context
from rfstudy.report.estimates import SIGMAS
from rfstudy.report.notes import notes
from rfstudy.report.typeset import Table

#: The keys of an entry of this kind beside those of all.
SCHEMA = {
    "properties": {"repeats": {"$ref": "#/$defs/repeats"}, "claims": {"$ref": "#/$defs/names"}},
    "required": ["claims"],
}


def make(context: Context, spec: dict) -> Table:
    """One row a claim: what it says and its test, both from the reference data, the verdict and the evidence."""
    frame = context.rows
    texts = context.claims.set_index("claim_id")
    rows = []
    for identifier in spec["claims"]:
        verdict, evidence = CLAIMS[identifier](frame)
        text = texts.loc[identifier]
        rows.append(
            {"claim": identifier, "says": text["claim"], "test": text["test"], "verdict": verdict, "evidence": evidence}
        )
    remarks = [
        f"A difference counts from {SIGMAS:g} standard errors on, where the test names nothing else.",
        *notes(frame, spec, context),
    ]
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks)
