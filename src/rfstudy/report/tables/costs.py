"""What papers state about the cost of maps that choose their features, beside measurements."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import methods_shown, select, settings_of
from rfstudy.report.cells import exponent, method_cell
from rfstudy.report.context import Context
from rfstudy.report.estimates import largest_half, power_law, varying
from rfstudy.report.notes import notes
from rfstudy.report.times import shortest
from rfstudy.report.typeset import Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("methods", "timed")


#: What is timed, in words, by metric.
TIMED = {"time_fit_s": "fit", "time_transform_s": "features", "time_scores_s": "scores"}

#: What is stated of the time to generate features, by method: by Liu et al. (AAAI 2020; abstract and section 3.2), with
#: what follows from their formulas (equations 3 and 15) for the scores of a pool whose features are there, and by
#: Shahrampour et al. (AAAI 2018; "Empirical Results"), of the choice from a pool of M0.
STATED = {
    ("rff", "time_fit_s"): "O(ns^2)",
    ("lsrff", "time_fit_s"): "O(ns^2 + s^3)",
    ("slsrff", "time_fit_s"): "O(ns^2)",
    ("lsrff", "time_scores_s"): "O(ns^2 + s^3)",
    ("slsrff", "time_scores_s"): "O(ns)",
    ("kprff", "time_fit_s"): "O(d N0 M0 + M0 log M0)",
    ("karff", "time_fit_s"): "O(d N0 M0 + M0 log(1/eps))",
}

POWER_NOTE = (
    "Powers: least squares on the logarithms, ± the standard error of the fit; large s: the larger half of the sizes, "
    "because at small s the times are overhead."
)


def make(context: Context, spec: dict) -> Table:
    """Fitted powers of s and n of the time of a fit, of the features and of the scores alone, beside what is stated.

    What is ``timed`` is told by the entry.
    """
    frame = shortest(context.rows)
    rows = []
    for method, variant in methods_shown(frame, spec["methods"]):
        ours = select(frame, method=method, variant=variant)
        for metric, what in TIMED.items():
            along_s, along_n = (varying(ours, metric, *axes) for axes in (("n_features", "n_train"), _N_AT_S))
            stated = STATED.get((method, metric), "") if method in spec["methods"] else ""
            if not len(along_s) and metric == "time_scores_s" and not stated:
                continue
            large = along_s[along_s["n_features"].isin(largest_half(along_s["n_features"]))]
            rows.append(
                {
                    "method": method_cell(context, method, variant),
                    "timed": what,
                    "stated": stated,
                    "power of s": exponent(power_law(along_s["n_features"], along_s["value"])),
                    "power of s, large s": exponent(power_law(large["n_features"], large["value"])),
                    "power of n": exponent(power_law(along_n["n_train"], along_n["value"])),
                    "seconds at the largest s": _at_largest(along_s),
                }
            )
    remarks = [spec["timed"], POWER_NOTE, *_grid(frame)]
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks + notes(frame, spec, context))


#: n varies, s is held.
_N_AT_S = ("n_train", "n_features")


def _at_largest(along_s: pd.DataFrame) -> float | str:
    return along_s.loc[along_s["n_features"].idxmax(), "value"] if len(along_s) else "not run"


def _grid(frame: pd.DataFrame) -> list[str]:
    fits = select(frame, metric="time_fit_s")
    along_s, along_n = varying(fits, "time_fit_s", "n_features", "n_train"), varying(fits, "time_fit_s", *_N_AT_S)
    if not len(fits):
        return []
    threads = sorted({s["threads"] for s in settings_of(fits)})
    return [
        f"d = {', '.join(map(str, sorted(set(fits['d']))))}; s = {_range(along_s['n_features'])} at n = "
        f"{along_s['n_train'].iloc[0]:,}; n = {_range(along_n['n_train'])} at s = {along_n['n_features'].iloc[0]:,}. "
        f"Threads: {', '.join(map(str, threads))}."
    ]


def _range(values: pd.Series) -> str:
    return f"{values.min():,} to {values.max():,}"
