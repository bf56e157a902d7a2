"""Tables of what Liu et al. (AAAI 2020) state about leverage sampling, beside measurements: its cost and its needs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import method_order, select, settings_of
from rfstudy.report.estimates import SIGMAS, largest_half, power_law, varying
from rfstudy.report.looks import look
from rfstudy.report.notes import notes
from rfstudy.report.requirements import features_needed, growth_of_need, told_size
from rfstudy.report.tables_of_theory import exponent
from rfstudy.report.times import shortest
from rfstudy.report.typeset import Table

#: What is timed, in words, by metric.
TIMED = {"time_fit_s": "fit", "time_transform_s": "features", "time_scores_s": "scores"}

#: What the paper states of the time to generate features (abstract and section 3.2), by method, and what follows from
#: its formulas (equations 3 and 15) for the scores of a pool whose features are there.
STATED = {
    ("rff", "time_fit_s"): "O(ns^2)",
    ("lsrff", "time_fit_s"): "O(ns^2 + s^3)",
    ("slsrff", "time_fit_s"): "O(ns^2)",
    ("lsrff", "time_scores_s"): "O(ns^2 + s^3)",
    ("slsrff", "time_scores_s"): "O(ns)",
}

#: The bounds of Table 1 as printed: functions of n. The polynomial decay that is measured has t = 1.
BOUNDS = {
    "log^2 n": lambda n: np.log(n) ** 2,
    "sqrt(n) loglog n": lambda n: np.sqrt(n) * np.log(np.log(n)),
    "n^(1/(4t)) log n": lambda n: n**0.25 * np.log(n),
    "sqrt(n) log n": lambda n: np.sqrt(n) * np.log(n),
}

COST_NOTE = (
    "CPU time, shortest of several runs. fit: drawing the frequencies, which is all that RFF does; of the others also "
    "the features of a pool of s, their scores, and the drawing from them. features: mapping the n rows afterwards. "
    "scores: the scores alone, of features that are ready. Stated: for generating s features; of the scores, what "
    "their formulas cost."
)
POWER_NOTE = (
    "Powers: least squares on the logarithms, ± the standard error of the fit; large s: the larger half of the sizes, "
    "because at small s the times are overhead."
)
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


def costs(frame, spec, methods, datasets, published) -> Table:
    """Fitted powers of s and n of the time of a fit, of the features and of the scores alone, beside what is stated."""
    frame = shortest(frame)
    rows = []
    for method, variant in method_order(frame, spec["methods"]) or [(method, "") for method in spec["methods"]]:
        ours = select(frame, method=method, variant=variant)
        for metric, what in TIMED.items():
            along_s, along_n = (varying(ours, metric, *axes) for axes in (("n_features", "n_train"), _N_AT_S))
            stated = STATED.get((method, metric), "")
            if not len(along_s) and metric == "time_scores_s" and not stated:
                continue
            large = along_s[along_s["n_features"].isin(largest_half(along_s["n_features"]))]
            rows.append(
                {
                    "method": look(method, methods, variant).label,
                    "timed": what,
                    "stated": stated,
                    "power of s": exponent(power_law(along_s["n_features"], along_s["value"])),
                    "power of s, large s": exponent(power_law(large["n_features"], large["value"])),
                    "power of n": exponent(power_law(along_n["n_train"], along_n["value"])),
                    "seconds at the largest s": _at_largest(along_s),
                }
            )
    remarks = [COST_NOTE, POWER_NOTE, *_grid(frame)]
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks + notes(frame, spec, methods, datasets))


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


def requirements(frame, spec, methods, datasets, published) -> Table:
    """The stated bounds on the number of features beside what was needed at every n, by decay and way of sampling."""
    printed = select(published, paper=spec["paper"], experiment=spec["published"], metric="required_features_bound")
    needed = features_needed(frame)
    sizes = sorted(set(needed["n"]))
    rows = []
    for decay in dict.fromkeys(_decay(name) for name in printed["dataset"]):
        about = printed[[_decay(name) == decay for name in printed["dataset"]]]
        of_decay = select(needed, decay=decay)
        for method, variant in method_order(of_decay, spec["methods"]) or [(m, "") for m in spec["methods"]]:
            ours = select(of_decay, method=method, variant=variant).set_index("n")
            texts = [s["text"] for s in settings_of(select(about, method=method))]
            bound = texts[0].removeprefix("s >= ") if texts else ""
            met = ours["s"].dropna()
            power = growth_of_need(ours.reset_index())
            stated = power_law(met.index, BOUNDS[bound](met.index.to_numpy(dtype=float))) if bound else None
            row = {
                "eigenvalues": _formula(about["dataset"].iloc[0]),
                "method": look(method, methods, variant).label,
                "stated": bound,
            }
            row |= {
                f"needed, n = {n}": told_size(ours.loc[n, "s"], ours.loc[n, "largest"])
                if n in ours.index
                else "not run"
                for n in sizes
            }
            row |= {
                "power of n": exponent(power),
                "power of the bound": f"{stated.exponent:.2f}" if stated else "",
                "verdict": _verdict(power, stated, bound),
            }
            rows.append(row)
    remarks = [*_tolerance(frame), NEED_VERDICT_NOTE, *_circle(frame)]
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks + notes(frame, spec, methods, datasets))


def _decay(printed: str) -> str:
    """ "exponential" of "eigenvalue decay exponential: lambda_i ~ n exp(-c i), c > 0"."""
    return printed.split(":")[0].split()[-1]


def _formula(printed: str) -> str:
    return printed.split(": ", 1)[1]


def _verdict(power, stated, bound: str) -> str:
    if not bound:
        return "no claim"
    if power is None or stated is None:
        return "not run"
    return "holds" if power.exponent <= stated.exponent + SIGMAS * power.error else "fails"


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
