"""Claims of the survey about the maps themselves, tested on measured rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import select
from rfstudy.report.estimates import (
    SIGMAS,
    compared_with_rff,
    lower_variance_verdict,
    of_all,
    of_map,
    pooled,
    power_law,
    tally,
)

NOT_RUN = ("not run", "")

#: survey-56: maps whose variance is stated to be lower than that of RFF, and maps whose variance is not.
LOWER_VARIANCE = ("qmc", "nrff", "mm", "orf", "ssf", "rom", "gq", "sgq", "ssr")
NO_LOWER_VARIANCE = ("fastfood", "pmodel")

#: survey-55: slopes that are fast, dimensions that are small and large, and how close to -1/2 is close.
FAST, SMALL_D, LARGE_D, CLOSE = -0.75, 4, 32, 0.1


def rff_moments(frame: pd.DataFrame) -> tuple[str, str]:
    """survey-50: RFF is unbiased, and its variance is (1 - exp(-z^2))^2 / (2s)."""
    bias, ratio = (of_map(pooled(frame, metric), "rff") for metric in ("kernel_bias", "variance_ratio"))
    if not len(bias):
        return NOT_RUN
    near = (bias["value"].abs() <= SIGMAS * bias["error"]).to_list()
    near += ((ratio["value"] - 1).abs() <= SIGMAS * ratio["error"]).to_list()
    off = _in_errors(ratio["value"] - 1, ratio["error"])
    return of_all(near), (
        f"bias {_in_errors(bias['value'], bias['error'])}; variance over the formula "
        f"{ratio['value'].min():.2f} to {ratio['value'].max():.2f}, off by {off}"
    )


def orf_variance(frame: pd.DataFrame) -> tuple[str, str]:
    """survey-51: ORF has a lower variance than RFF for large d (from 32) and small distances (up to 1), unbiased."""
    ratio, bias = (of_map(pooled(frame, metric), "orf") for metric in ("variance_ratio", "kernel_bias"))
    near = ratio[(ratio["d"] >= 32) & (ratio["distance"] <= 1)]
    if not len(near):
        return NOT_RUN
    lower = near["value"] < 1 - SIGMAS * near["error"]
    unbiased = bias["value"].abs() <= SIGMAS * bias["error"]
    return of_all([*lower, *unbiased]), (
        f"ratio to RFF {near['value'].min():.3f} to {near['value'].max():.3f} at {len(near)} points with d >= 32 and "
        f"z <= 1, lower at {lower.sum()}; bias {_in_errors(bias['value'], bias['error'])}"
    )


def fastfood_moments(frame: pd.DataFrame) -> tuple[str, str]:
    """survey-52: Fastfood is unbiased; its variance exceeds RFF's by at most 6 z^4 / s (exp(-z^2) + z^2 / 3)."""
    bias, ratio = (of_map(pooled(frame, metric), "fastfood") for metric in ("kernel_bias", "variance_ratio"))
    if not len(bias):
        return NOT_RUN
    z2 = ratio["distance"] ** 2
    # the bound over the variance of RFF, in which s cancels
    bound = 6 * z2**2 * (np.exp(-z2) + z2 / 3) / ((1 - np.exp(-z2)) ** 2 / 2)
    within = ratio["value"] - 1 <= bound + SIGMAS * ratio["error"]
    unbiased = bias["value"].abs() <= SIGMAS * bias["error"]
    return of_all([*within, *unbiased]), (
        f"bias {_in_errors(bias['value'], bias['error'])}; ratio to RFF {ratio['value'].min():.2f} to "
        f"{ratio['value'].max():.2f}, at most {((ratio['value'] - 1) / bound).max():.2f} of the excess that is allowed"
    )


def sorf_bias(frame: pd.DataFrame) -> tuple[str, str]:
    """survey-53: the bias of SORF is at most 6 z / sqrt(d)."""
    bias = of_map(pooled(frame, "kernel_bias"), "sorf")
    if not len(bias):
        return NOT_RUN
    share = bias["value"].abs() / (6 * bias["distance"] / np.sqrt(bias["d"].astype(float)))
    clear = tally(bias["value"], bias["error"])
    return of_all(share <= 1), (
        f"largest bias {bias['value'].abs().max():.3f}, at most {share.max():.3f} of the bound; biased beyond the "
        f"sampling error at {clear.lower + clear.higher} of {clear.total} points"
    )


def rom_factors(frame: pd.DataFrame) -> tuple[str, str]:
    """survey-54: ROM with three factors has a smaller squared error than with two, and none larger than with four.

    It holds if three are better than two somewhere and nowhere worse than two or four, and fails if they are nowhere
    better than two.
    """
    errors = pooled(frame, "kernel_mse")
    three = of_map(errors, "rom")
    counts = {}
    for variant in ("two", "four"):
        both = three.merge(of_map(errors, "rom", variant), on=["direction", "d", "n_features", "distance"])
        counts[variant] = tally(both["value_x"] - both["value_y"], np.hypot(both["error_x"], both["error_y"]))
    if not all(each.total for each in counts.values()):
        return NOT_RUN
    worse = counts["two"].higher + counts["four"].higher
    verdict = "fails" if not counts["two"].lower else "partly" if worse else "holds"
    return verdict, (
        f"squared error of three factors lower / even / higher than of two: {counts['two']}, of four: {counts['four']}"
    )


def qmc_slopes(frame: pd.DataFrame) -> tuple[str, str]:
    """survey-55: the error of QMC falls faster than s^(-3/4) for d <= 4, and like s^(-1/2) for large d (from 32)."""
    rows = select(frame, method="qmc", variant="", metric="approximation_error_frobenius", status="ok")
    slopes = {d: power_law(cell["n_features"], cell["value"]) for d, cell in rows.groupby("d")}
    fast = [power.exponent < FAST for d, power in slopes.items() if d <= SMALL_D]
    slow = [abs(power.exponent + 0.5) <= CLOSE for d, power in slopes.items() if d >= LARGE_D]
    if not fast or not slow:
        return NOT_RUN
    of_rff = select(frame, method="rff", variant="", metric="approximation_error_frobenius", status="ok")
    plain = {d: power_law(cell["n_features"], cell["value"]) for d, cell in of_rff.groupby("d")}
    told = [f"d = {d}: {power}" + (f" (RFF {plain[d]})" if d in plain else "") for d, power in slopes.items()]
    return of_all([*fast, *slow]), f"fitted power of s, Frobenius: {', '.join(told)}"


def variance_groups(frame: pd.DataFrame) -> tuple[str, str]:
    """survey-56: nine maps have a lower variance than RFF; Fastfood and the P-model have not.

    Every map by the rule of ``lower_variance_verdict``; the claim holds if it does for all and fails if for none.
    """
    ratios = pooled(frame, "variance_ratio")
    verdicts, told = [], []
    for claim, methods in (("Yes", LOWER_VARIANCE), ("No", NO_LOWER_VARIANCE)):
        for method in methods:
            counts = compared_with_rff(of_map(ratios, method))
            verdict = lower_variance_verdict(counts, claim)
            if verdict != "not run":
                verdicts.append(verdict)
                told.append(f"{method} {verdict} ({counts})")
    if not verdicts:
        return NOT_RUN
    overall = verdicts[0] if len(set(verdicts)) == 1 else "partly"
    return overall, f"lower / even / higher than RFF: {', '.join(told)}"


CLAIMS = {
    "survey-50": rff_moments,
    "survey-51": orf_variance,
    "survey-52": fastfood_moments,
    "survey-53": sorf_bias,
    "survey-54": rom_factors,
    "survey-55": qmc_slopes,
    "survey-56": variance_groups,
}


def _in_errors(differences, errors) -> str:
    """How far a difference goes, in standard errors."""
    return f"at most {(np.abs(differences) / errors).max():.1f} standard errors"
