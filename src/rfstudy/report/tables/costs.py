"""Cost of maps that choose their features: what papers state, and measurements."""

import pandas as pd

from rfstudy.report.aggregate import methods_shown, select
from rfstudy.report.cells import exponent, method_cell
from rfstudy.report.context import Context
from rfstudy.report.estimates import largest_half, power_law, varying
from rfstudy.report.tables.ratios import threads_of
from rfstudy.report.times import shortest
from rfstudy.report.typeset import Table

#: What is timed, in words, by metric.
TIMED = {"time_fit_s": "fit", "time_transform_s": "features", "time_scores_s": "scores"}

#: Stated times by method: Liu et al. (AAAI 2020; abstract, section 3.2 and, for scores, equations 3 and 15), and
#: Shahrampour et al. (AAAI 2018; "Empirical Results") for the choice from a pool of M0.
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


def make(context: Context, *, methods: list[str], timed: str) -> Table:
    """Return fitted powers of s and n of the times of a fit, of the features and of the scores, and what is stated."""
    frame, rows = shortest(context.rows), []
    for method, variant in methods_shown(frame, methods):
        ours = select(frame, method=method, variant=variant)
        for metric, what in TIMED.items():
            along_s, along_n = _along(ours, metric)
            stated = STATED.get((method, metric), "") if method in methods else ""
            if not len(along_s) and metric == "time_scores_s" and not stated:
                continue
            large = along_s[along_s["n_features"].isin(largest_half(along_s["n_features"]))]
            seconds = along_s.loc[along_s["n_features"].idxmax(), "value"] if len(along_s) else "not run"
            rows.append(
                {
                    "method": method_cell(context, method, variant),
                    "timed": what,
                    "stated": stated,
                    "power of s": exponent(power_law(along_s["n_features"], along_s["value"])),
                    "power of s, large s": exponent(power_law(large["n_features"], large["value"])),
                    "power of n": exponent(power_law(along_n["n_train"], along_n["value"])),
                    "seconds at the largest s": seconds,
                }
            )
    return Table(pd.DataFrame(rows), [timed, POWER_NOTE, *_setting(frame)], shown=frame)


def _along(rows: pd.DataFrame, metric: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of a metric along s at one n, and along n at one s."""
    pairs = ("n_features", "n_train"), ("n_train", "n_features")
    return tuple(varying(rows, metric, over, held) for over, held in pairs)


def _setting(rows: pd.DataFrame) -> list[str]:
    """Return a sentence about the d, s, n and threads of the fits."""
    fits = select(rows, metric="time_fit_s")
    if not len(fits):
        return []
    s, n = _along(fits, "time_fit_s")
    return [
        f"d = {', '.join(map(str, sorted(set(fits['d']))))}; "
        f"s = {s['n_features'].min():,} to {s['n_features'].max():,} at n = {s['n_train'].iloc[0]:,}; "
        f"n = {n['n_train'].min():,} to {n['n_train'].max():,} at s = {n['n_features'].iloc[0]:,}. " + threads_of(fits)
    ]
