"""How many features leverage sampling needs: the bounds of Liu et al. (AAAI 2020) beside measurements."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import methods_shown, select, settings_of
from rfstudy.report.cells import absent, exponent, method_cell
from rfstudy.report.claims.points import verdict_on
from rfstudy.report.context import Context
from rfstudy.report.estimates import SIGMAS, power_law
from rfstudy.report.notes import notes
from rfstudy.report.requirements import BOUNDS, decay_of, features_needed, growth_of_need, told_size
from rfstudy.report.typeset import Cell, Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("published", "methods")


NEED_NOTE = (
    "Needed: the smallest s from which on the mean risk of ridge regression at lambda = n^(-1/2) is within "
    "{tolerance:g} % of that of the exact kernel on the same data. The theorem behind the bounds allows a loss of "
    "2 lambda. whole: frequencies drawn from the whole law, as in the theorems (the surrogate with its identity term); "
    "otherwise from a pool of s, as in the algorithms (without it)."
)

NEED_VERDICT_NOTE = (
    "Power of n: ± the standard error of the fit and of the steps between sizes. Power of the bound: of its formula, "
    f"fitted over the same n. Verdict: a bound holds unless what is needed grows faster than it by {SIGMAS:g} standard "
    "errors; its constant is not stated."
)


def make(context: Context, spec: dict) -> Table:
    """The stated bounds on the number of features beside what was needed at every n, by decay and way of sampling."""
    frame = context.rows
    printed = select(
        context.published, paper=spec["paper"], experiment=spec["published"], metric="required_features_bound"
    )
    needed = features_needed(frame)
    sizes = sorted(set(needed["n"]))
    rows = []
    for decay in dict.fromkeys(decay_of(name) for name in printed["dataset"]):
        about = printed[[decay_of(name) == decay for name in printed["dataset"]]]
        of_decay = select(needed, decay=decay)
        for method, variant in methods_shown(of_decay, spec["methods"]):
            ours = select(of_decay, method=method, variant=variant).set_index("n")
            texts = [s["text"] for s in settings_of(select(about, method=method))]
            bound = texts[0].removeprefix("s >= ") if texts else ""
            met = ours["s"].dropna()
            power = growth_of_need(ours.reset_index())
            stated = power_law(met.index, BOUNDS[bound](met.index.to_numpy(dtype=float))) if bound else None
            row = {
                "eigenvalues": _formula(about["dataset"].iloc[0]),
                "method": method_cell(context, method, variant),
                "stated": bound,
            }
            row |= {
                f"needed, n = {n}": _needed(ours.loc[n, "s"], ours.loc[n, "largest"])
                if n in ours.index
                else absent("not run", "more than")
                for n in sizes
            }
            row |= {
                "power of n": exponent(power),
                "power of the bound": Cell(f"{stated.exponent:.2f}", {"": stated.exponent}) if stated else "",
                "verdict": _verdict(power, stated, bound),
            }
            rows.append(row)
    remarks = [*_tolerance(frame), NEED_VERDICT_NOTE, *_circle(frame)]
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks + notes(frame, spec, context))


def _needed(s: float, largest: int) -> Cell:
    """What was needed; of what was not met the largest size that is not enough."""
    return Cell(told_size(s, largest), {"": s, "more than": largest if np.isnan(s) else None, "remark": ""})


def _formula(printed: str) -> str:
    return printed.split(": ", 1)[1]


def _verdict(power, stated, bound: str) -> str:
    if not bound:
        return "no claim"
    if power is None or stated is None:
        return "not run"
    return verdict_on([power.exponent <= stated.exponent + SIGMAS * power.error])


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
