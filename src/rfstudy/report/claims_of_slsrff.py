"""Claims of Liu et al. (AAAI 2020) about the cost and the theory of surrogate leverage sampling, tested on rows.

They rest on the experiments of the kinds ``fitting``, ``surrogate`` and ``requirement``.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.estimates import SIGMAS, largest_half, of_all, power_law, varying
from rfstudy.report.requirements import features_needed, told_size
from rfstudy.report.times import shortest

NOT_RUN = ("not run", "")

#: slsrff-20 and slsrff-22: the powers that are stated.
COST_POWER, TOTAL_POWER = 2.0, 0.5

#: slsrff-23: the readings of both methods that are held against each other, as the theorems have it first.
READINGS = {"whole": "drawn from the whole law", "": "drawn from a pool of s"}


def sampling_cost(frame: pd.DataFrame) -> tuple[str, str]:
    """slsrff-20: what leverage-RFF takes longer than SLS-RFF grows at least like s^2 once s is large.

    Once s is large: over the larger half of the sizes. A power that is less than two by no more than its error is two.
    """
    frame = shortest(frame)
    times = {
        (method, metric): varying(select(frame, method=method), metric, "n_features", "n_train")
        .set_index("n_features")["value"]
        .sort_index()
        for method in ("lsrff", "slsrff")
        for metric in ("time_fit_s", "time_scores_s")
    }
    difference = times["lsrff", "time_fit_s"] - times["slsrff", "time_fit_s"]
    difference = difference[difference > 0].reindex(largest_half(difference.dropna().index)).dropna()
    power = power_law(difference.index, difference)
    if power is None:
        return NOT_RUN
    scores = {method: _at_large(times[method, "time_scores_s"]) for method in ("lsrff", "slsrff")}
    verdict = "holds" if power.exponent >= COST_POWER - SIGMAS * power.error else "fails"
    return verdict, (
        f"power of s of the difference of the fits {power} for s = {difference.index.min()} to "
        f"{difference.index.max()}; of the scores alone {scores['lsrff']} (leverage) and {scores['slsrff']} (surrogate)"
    )


def _at_large(times: pd.Series) -> str:
    times = times.reindex(largest_half(times.index))
    power = power_law(times.index, times)
    return "not run" if power is None else str(power)


def upper_bound(frame: pd.DataFrame) -> tuple[str, str]:
    """slsrff-21: the surrogate leverage function is at no frequency below the ridge leverage function."""
    least = select(frame, method="slsrff", variant="identity", metric="leverage_ratio_least", status="ok")
    if not len(least):
        return NOT_RUN
    evidence = f"least ratio {least['value'].min():.3f} over {len(least)} samples and penalties"
    without = select(frame, method="slsrff", variant="", metric="leverage_ratio_below", status="ok")
    if len(without):
        worst = select(frame, method="slsrff", variant="", metric="leverage_ratio_least", status="ok")
        share = 100 * without["value"]
        evidence += (
            f"; without the identity term, as in the algorithm, it is below at {share.mean():.0f} % of the frequencies "
            f"({share.min():.0f} to {share.max():.0f} % by sample and penalty), with ratios down to "
            f"{worst['value'].min():.1g}"
        )
    return of_all(least["value"] >= 1.0), evidence


def total_leverage(frame: pd.DataFrame) -> tuple[str, str]:
    """slsrff-22: the total surrogate leverage is at most 2 Tr(K) / (n lambda), and grows no faster than sqrt(n)."""
    rows = select(frame, method="slsrff", variant="identity", status="ok")
    keys = ["dataset", "repeat", "at"]
    wide = rows.pivot_table(index=keys, columns="metric", values="value")
    names = ["total_surrogate_leverage", "total_surrogate_bound", "total_leverage"]
    if not set(names) <= set(wide.columns):
        return NOT_RUN
    total, bound, exact = (wide[name] for name in names)
    share = total / bound
    powers = {}
    totals = select(rows, metric="total_surrogate_leverage")
    theory = totals[[s["rule"] == "n^(-1/2)" for s in settings_of(totals)]]
    for d, cell in theory.groupby("d"):
        powers[d] = power_law(cell["n_train"], cell["value"])
    powers = {d: power for d, power in powers.items() if power is not None}
    if not powers:
        return NOT_RUN
    slopes = [power.exponent <= TOTAL_POWER + SIGMAS * power.error for power in powers.values()]
    told = ", ".join(f"{power} (d = {d})" for d, power in powers.items())
    return of_all([*(share <= 1.0), *slopes]), (
        f"{share.min():.2f} to {share.max():.2f} of the bound; power of n at lambda = n^(-1/2): {told}; it is "
        f"{(total / exact).min():.1f} to {(total / exact).max():.1f} times the total of the ridge leverage function"
    )


def required_features(frame: pd.DataFrame) -> tuple[str, str]:
    """slsrff-23: the surrogate needs at least as many features as exact leverage sampling, at every decay and n.

    The claim compares bounds; here it is tested on what they bound. The verdict is that of frequencies drawn from the
    whole law, as in the theorems, where they were measured.
    """
    needed = features_needed(frame)
    verdicts, told = [], []
    for variant, reading in READINGS.items():
        pair = [select(needed, method=method, variant=variant) for method in ("slsrff", "lsrff")]
        both = pair[0].merge(pair[1], on=["decay", "n"], suffixes=("", "_exact"))
        if not len(both):
            continue
        # a need beyond the largest size is at least any other
        surrogate, exact = (both[name].fillna(np.inf) for name in ("s", "s_exact"))
        verdicts.append(of_all(surrogate >= exact))
        last = both[both["n"] == both["n"].max()]
        sizes = ", ".join(
            f"{decay} {told_size(s, largest)} / {told_size(e, largest_exact)}"
            for decay, s, largest, e, largest_exact in zip(
                last["decay"], last["s"], last["largest"], last["s_exact"], last["largest_exact"], strict=True
            )
        )
        told.append(
            f"{reading}: more / as many / fewer than leverage sampling at {(surrogate > exact).sum()} / "
            f"{(surrogate == exact).sum()} / {(surrogate < exact).sum()} of {len(both)} points; "
            f"needed at n = {both['n'].max()}: {sizes}"
        )
    return (verdicts[0], "; ".join(told)) if verdicts else NOT_RUN


CLAIMS = {
    "slsrff-20": sampling_cost,
    "slsrff-21": upper_bound,
    "slsrff-22": total_leverage,
    "slsrff-23": required_features,
}
