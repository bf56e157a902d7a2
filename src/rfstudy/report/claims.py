"""Claims of the papers, tested on measured rows: each a function from rows to a verdict and its evidence.

The verdicts are holds, fails, partly and not run. A difference counts if it is more than ``estimates.SIGMAS`` standard
errors; a claim about many points holds if it does at all of them and fails if it does at none. The functions are in one
module a paper; here are their names and the table of their verdicts.
"""

from __future__ import annotations

import pandas as pd

from rfstudy.report import claims_of_slsrff, claims_of_slsrff_grid, claims_of_survey
from rfstudy.report.estimates import SIGMAS
from rfstudy.report.notes import notes
from rfstudy.report.typeset import Table

#: Functions by the id of the claim: tidy rows -> (verdict, evidence).
CLAIMS = {**claims_of_survey.CLAIMS, **claims_of_slsrff.CLAIMS, **claims_of_slsrff_grid.CLAIMS}


def table(frame, spec, methods, datasets, claims) -> Table:
    """One row a claim: what it says and its test, both from the reference data, the verdict and the evidence."""
    texts = claims.set_index("claim_id")
    rows = []
    for identifier in spec["claims"]:
        verdict, evidence = CLAIMS[identifier](frame)
        text = texts.loc[identifier]
        rows.append(
            {"claim": identifier, "says": text["claim"], "test": text["test"], "verdict": verdict, "evidence": evidence}
        )
    remarks = [
        f"A difference counts from {SIGMAS:g} standard errors on, where the test names nothing else.",
        *notes(frame, spec, methods, datasets),
    ]
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks)
