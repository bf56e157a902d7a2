"""Fitted rates of the error of the kernel matrix and the stated ones."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import method_order, select, settings_of
from rfstudy.report.cells import absent, exponent, method_cell, span
from rfstudy.report.compare import Estimate
from rfstudy.report.context import Context
from rfstudy.report.estimates import SIGMAS, power_law
from rfstudy.report.notes import notes
from rfstudy.report.typeset import Cell, Table

#: The norms of the measured errors whose rate is stated, and by which name.
STATED_NORMS = {"sup": "sup", "l2": "lr", "delta_spectral": "delta_spectral"}


def make(
    context: Context,
    *,
    paper: str,
    published: str,
    methods: list[str],
    norms: list[str],
) -> Table:
    """The fitted power of s with which the error of the kernel matrix falls, by norm, map and dimension, and the
    powers of the stated rates.
    """
    frame = context.rows
    printed = select(context.published, paper=paper, experiment=published)
    rows = []
    for norm in norms:
        metric = f"approximation_error_{norm}"
        stated = select(printed, metric=f"rate_exponent_in_s_{STATED_NORMS.get(norm, norm)}")
        words = select(printed, metric=f"convergence_rate_{STATED_NORMS.get(norm, norm)}")
        of_norm = select(frame, metric=metric, status="ok")
        if not len(of_norm):
            rows.append({"norm": norm.replace("_", " "), "map": absent("not run")})
        for method, variant in method_order(of_norm, methods):
            powers = sorted(set(_about(stated, method)["value"]))
            texts = [s["text"] for s in settings_of(_about(words, method))]
            for d, cell in select(of_norm, method=method, variant=variant).groupby("d"):
                fitted = power_law(cell["n_features"], cell["value"])
                rows.append(
                    {
                        "norm": norm.replace("_", " "),
                        "map": method_cell(context, method, variant),
                        "d": d,
                        "stated rate": "; ".join(dict.fromkeys(texts)) or "none",
                        "stated power of s": _stated(powers),
                        "fitted power of s": exponent(fitted),
                        "s": span(cell["n_features"].min(), cell["n_features"].max()),
                        "verdict": _rate_verdict(fitted, powers),
                    }
                )
    remarks = [
        "Fitted: least squares on the logarithms of all repeats, ± the standard error of the fit. Relative errors "
        "|K - K~| / |K|; delta spectral: smallest D with (1 - D)(K + n lambda I) <= K~ + n lambda I <= (1 + D)(...).",
        f"Verdict: a stated rate is an upper bound; it holds unless the error falls more slowly by {SIGMAS:g} standard "
        'errors, "faster" where it falls faster by as much. Logarithms are left out of the stated power.',
        *_points(frame),
    ]
    return Table(pd.DataFrame(rows), remarks + notes(frame, {"paper": paper}, context))


def _stated(powers: list[float]) -> Cell:
    """The powers of the stated rates, from the fastest on."""
    if not powers:
        return Cell("none", {"fastest": None, "slowest": None})
    return Cell(", ".join(f"{power:g}" for power in powers), {"fastest": powers[0], "slowest": powers[-1]})


def _about(printed: pd.DataFrame, method: str) -> pd.DataFrame:
    """The printed rows about a map; a row may be about several."""
    return printed[np.array([method in names.split(";") for names in printed["method"]], dtype=bool)]


def _rate_verdict(fitted: Estimate | None, powers: list[float]) -> str:
    if not powers:
        return "no claim"
    if fitted is None:
        return "not run"
    slowest, bound = max(powers), SIGMAS * fitted.error
    faster = fitted.value < min(powers) - bound
    return ("holds" if fitted.value <= slowest + bound else "fails") + ", faster" * faster


def _points(frame: pd.DataFrame) -> list[str]:
    counts = sorted(frame["n_train"].dropna().unique())
    ridges = sorted({s["ridge"] for s in settings_of(frame) if "ridge" in s})
    parts = [f"Normal points: {', '.join(map(str, counts))}"] if counts else []
    parts += [f"n lambda = {', '.join(f'{r:g}' for r in ridges)}"] if ridges else []
    return [f"{'; '.join(parts)}."] if parts else []
