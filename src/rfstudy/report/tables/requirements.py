"""How many features leverage sampling needs: the bounds of Liu et al. (AAAI 2020) next to measurements."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import methods_shown, select, settings_of
from rfstudy.report.cells import absent, exponent, method_cell
from rfstudy.report.context import Context
from rfstudy.report.estimates import SIGMAS, power_law
from rfstudy.report.notes import notes
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


def make(
    context: Context,
    *,
    paper: str,
    published: str,
    methods: list[str],
) -> Table:
    """The stated bounds on the number of features and what was needed at every n, by decay and way of sampling."""
    frame = context.rows
    printed = select(context.published, paper=paper, experiment=published, metric="required_features_bound")
    bounds, needed = stated_bounds(printed), features_needed(frame)
    formulas = {decay_of(name): name.split(": ", 1)[1] for name in printed["dataset"]}
    rows = []
    for decay, formula in formulas.items():
        of_decay = select(needed, decay=decay)
        for method, variant in methods_shown(of_decay, methods):
            ours, bound = select(of_decay, method=method, variant=variant), bounds.get((decay, method), "")
            met = ours.dropna(subset="s")["n"].to_numpy(dtype=float)
            power, stated = growth_of_need(ours), power_law(met, BOUNDS[bound](met)) if bound else None
            cells = {row.n: _needed(row.s, row.largest) for row in ours.itertuples()}
            verdict = "not run" if bound else "no claim"
            if power and stated:
                verdict = "holds" if power.value <= stated.value + SIGMAS * power.error else "fails"
            rows.append(
                {
                    "eigenvalues": formula,
                    "method": method_cell(context, method, variant),
                    "stated": bound,
                    **{f"needed, n = {n}": cells.get(n, NOT_RUN) for n in sorted(set(needed["n"]))},
                    "power of n": exponent(power),
                    "power of the bound": Cell(f"{stated.value:.2f}", {"": stated.value}) if stated else "",
                    "verdict": verdict,
                }
            )
    remarks = [*_tolerance(frame), NEED_VERDICT_NOTE, *_circle(frame)]
    return Table(pd.DataFrame(rows), remarks + notes(frame, {"paper": paper}, context))


def _needed(s: float, largest: int) -> Cell:
    """What was needed; of what was not met the largest size that is not enough."""
    return Cell(size_text(s, largest), {"": s, "more than": largest if np.isnan(s) else None, "remark": ""})


def _tolerance(frame: pd.DataFrame) -> list[str]:
    tolerances = {s["tolerance"] for s in settings_of(select(frame, metric="risk"))}
    return [NEED_NOTE.format(tolerance=100 * max(tolerances))] if tolerances else []


def _circle(frame: pd.DataFrame) -> list[str]:
    rows = select(frame, metric="risk")
    if not len(rows):
        return []
    first = settings_of(rows)[0]
    return [
        "Data: x uniform on a circle, labels -1 and +1 whose mean is a sum of three harmonics; kernels of "
        f"{first['terms']:,} harmonics, the polynomial decay with t = 1. Repeats: {rows['repeat'].nunique()}, draws of "
        f"a map in each: {first['draws']}."
    ]
