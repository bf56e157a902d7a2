"""Claims of the papers, tested on measured rows: each a function from rows to a verdict and its evidence.

The verdicts are holds, fails, partly and not run. A difference counts if it is more than ``estimates.SIGMAS`` standard
errors; a claim about many points holds if it does at all of them and fails if it does at none. The functions are in one
module a paper; here are their names.
"""

from __future__ import annotations

from rfstudy.report import claims_of_slsrff, claims_of_slsrff_grid, claims_of_survey

#: Functions by the id of the claim: tidy rows -> (verdict, evidence).
CLAIMS = {**claims_of_survey.CLAIMS, **claims_of_slsrff.CLAIMS, **claims_of_slsrff_grid.CLAIMS}
