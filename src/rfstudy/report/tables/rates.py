"""Fitted rates of the error of the kernel matrix and the stated ones."""

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import method_order, select, settings_of
from rfstudy.report.cells import absent, exponent, method_cell, span
from rfstudy.report.compare import Estimate
from rfstudy.report.context import Context
from rfstudy.report.estimates import SIGMAS, power_law
from rfstudy.report.typeset import Cell, Table

#: The norms of the measured errors whose rate is stated, and by which name.
STATED_NORMS = {"sup": "sup", "l2": "lr", "delta_spectral": "delta_spectral"}

NOTES = (
    "Fitted: least squares on the logarithms of all repeats, ± the standard error of the fit. Relative errors "
    "|K - K~| / |K|; delta spectral: smallest D with (1 - D)(K + n lambda I) <= K~ + n lambda I <= (1 + D)(...).",
    f"Verdict: a stated rate is an upper bound; it holds unless the error falls more slowly by {SIGMAS:g} standard "
    'errors, "faster" where it falls faster by as much. Logarithms are left out of the stated power.',
)


def make(context: Context, *, paper: str, published: str, methods: list[str], norms: list[str]) -> Table:
    """Return the fitted power of s with which the error of the kernel matrix falls, and the powers of stated rates.

    A row per norm, map and dimension.
    """
    frame, rows = context.rows, []
    printed = select(context.published, paper=paper, experiment=published)
    for norm in norms:
        stated_norm, name = STATED_NORMS.get(norm, norm), norm.replace("_", " ")
        stated = select(printed, metric=f"rate_exponent_in_s_{stated_norm}")
        words = select(printed, metric=f"convergence_rate_{stated_norm}")
        of_norm = select(frame, metric=f"approximation_error_{norm}", status="ok")
        rows += [{"norm": name, "map": absent("not run")}] if not len(of_norm) else []
        for method, variant in method_order(of_norm, methods):
            powers = sorted(set(_about(stated, method)["value"]))
            texts = dict.fromkeys(s["text"] for s in settings_of(_about(words, method)))
            values = {"fastest": powers[0], "slowest": powers[-1]} if powers else {"fastest": None, "slowest": None}
            for d, cell in select(of_norm, method=method, variant=variant).groupby("d"):
                fitted = power_law(cell["n_features"], cell["value"])
                rows.append(
                    {
                        "norm": name,
                        "map": method_cell(context, method, variant),
                        "d": d,
                        "stated rate": "; ".join(texts) or "none",
                        "stated power of s": Cell(", ".join(f"{power:g}" for power in powers) or "none", values),
                        "fitted power of s": exponent(fitted),
                        "s": span(cell["n_features"].min(), cell["n_features"].max()),
                        "verdict": _verdict(fitted, powers),
                    }
                )
    return Table(pd.DataFrame(rows), [*NOTES, *_points(frame)], shown=frame)


def _about(printed: pd.DataFrame, method: str) -> pd.DataFrame:
    """Return the published rows about a map; a row may be about several."""
    return printed[np.array([method in names.split(";") for names in printed["method"]], dtype=bool)]


def _verdict(fitted: Estimate | None, powers: list[float]) -> str:
    if not powers:
        return "no claim"
    if fitted is None:
        return "not run"
    fastest, slowest, bound = powers[0], powers[-1], SIGMAS * fitted.error
    verdict = "holds" if fitted.value <= slowest + bound else "fails"
    return f"{verdict}, faster" if fitted.value < fastest - bound else verdict


def _points(frame: pd.DataFrame) -> list[str]:
    counts = sorted(frame["n_train"].dropna().unique())
    ridges = sorted({s["ridge"] for s in settings_of(frame) if "ridge" in s})
    parts = [f"Normal points: {', '.join(map(str, counts))}"] if counts else []
    parts += [f"n lambda = {', '.join(f'{r:g}' for r in ridges)}"] if ridges else []
    return [f"{'; '.join(parts)}."] if parts else []
