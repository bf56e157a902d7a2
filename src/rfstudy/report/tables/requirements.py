"""How many features leverage sampling needs: the bounds of Liu et al. (AAAI 2020) next to measurements."""

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import methods_shown, select, settings_of
from rfstudy.report.cells import absent, exponent, method_cell
from rfstudy.report.context import Context
from rfstudy.report.estimates import SIGMAS, power_law
from rfstudy.report.requirements import BOUNDS, decay_of, features_needed, growth_of_need, size_text, stated_bounds
from rfstudy.report.typeset import Cell, Table

#: The cell of an n that was not run.
NOT_RUN = absent("not run", "more than")

NEED_NOTE = (
    "Needed: the smallest s from which on the mean risk of ridge regression at lambda = n^(-1/2) is within "
    "{tolerance:g} % of that of the exact kernel on the same data. The theorem behind the bounds allows a loss of "
    "2 lambda. whole: frequencies drawn from the whole distribution, as in the theorems (the surrogate with its "
    "identity term); otherwise from a pool of s, as in the algorithms (without it)."
)

NEED_VERDICT_NOTE = (
    "Power of n: ± the standard error of the fit and of the steps between sizes. Power of the bound: of its formula, "
    f"fitted over the same n. Verdict: a bound holds unless what is needed grows faster than it by {SIGMAS:g} standard "
    "errors; its constant is not stated."
)

DATA_NOTE = (
    "Data: x uniform on a circle, labels -1 and +1 whose mean is a sum of three harmonics; kernels of {terms:,} "
    "harmonics, the polynomial decay with t = 1. Repeats: {repeats}, draws of a map in each: {draws}."
)


def make(context: Context, *, paper: str, published: str, methods: list[str]) -> Table:
    """Return the stated bounds on the number of features and what was needed at every n.

    A row per decay of the eigenvalues and way of sampling.
    """
    frame, rows = context.rows, []
    printed = select(context.published, paper=paper, experiment=published, metric="required_features_bound")
    bounds, needed = stated_bounds(printed), features_needed(frame)
    for formula in printed["dataset"].unique():
        of_decay = select(needed, decay=decay_of(formula))
        for method, variant in methods_shown(of_decay, methods):
            ours, bound = select(of_decay, method=method, variant=variant), bounds.get((decay_of(formula), method), "")
            met = ours.dropna(subset="s")["n"].to_numpy(dtype=float)
            power, stated = growth_of_need(ours), power_law(met, BOUNDS[bound](met)) if bound else None
            cells = {row.n: _needed(row.s, row.largest) for row in ours.itertuples()}
            verdict = "not run" if bound else "no claim"
            if power and stated:
                verdict = "holds" if power.value <= stated.value + SIGMAS * power.error else "fails"
            rows.append(
                {
                    "eigenvalues": formula.split(": ", 1)[1],
                    "method": method_cell(context, method, variant),
                    "stated": bound,
                    **{f"needed, n = {n}": cells.get(n, NOT_RUN) for n in sorted(set(needed["n"]))},
                    "power of n": exponent(power),
                    "power of the bound": Cell(f"{stated.value:.2f}", {"": stated.value}) if stated else "",
                    "verdict": verdict,
                }
            )
    risks = select(frame, metric="risk")
    settings, remarks = settings_of(risks), [NEED_VERDICT_NOTE]
    if settings:
        about = settings[0] | {"repeats": risks["repeat"].nunique()}
        tolerance = 100 * max(each["tolerance"] for each in settings)
        remarks = [NEED_NOTE.format(tolerance=tolerance), NEED_VERDICT_NOTE, DATA_NOTE.format(**about)]
    return Table(pd.DataFrame(rows), remarks, shown=frame)


def _needed(s: float, largest: int) -> Cell:
    """Return the cell of a requirement; of one that was not met, the largest size that is not enough."""
    return Cell(size_text(s, largest), {"": s, "more than": largest if np.isnan(s) else None, "remark": ""})
