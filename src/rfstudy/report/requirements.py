"""From risks by size to the number of features that is needed, and the bounds that are stated on it: the rows of the
kind ``requirement``."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.estimates import Power, power_law

#: What one requirement is for.
PLACE = ["decay", "n", "method", "variant"]


#: The bounds of Table 1 as printed: functions of n. The polynomial decay that is measured has t = 1.
BOUNDS = {
    "log^2 n": lambda n: np.log(n) ** 2,
    "sqrt(n) loglog n": lambda n: np.sqrt(n) * np.log(np.log(n)),
    "n^(1/(4t)) log n": lambda n: n**0.25 * np.log(n),
    "sqrt(n) log n": lambda n: np.sqrt(n) * np.log(n),
}

#: Of the interval of a requirement.
CONFIDENCE = 0.95


def decay_of(printed: str) -> str:
    """ "exponential" of "eigenvalue decay exponential: lambda_i ~ n exp(-c i), c > 0"."""
    return printed.split(":")[0].split()[-1]


def stated_bounds(published: pd.DataFrame) -> dict[tuple[str, str], str]:
    """The name in ``BOUNDS`` of the bound of every decay and method among printed rows."""
    rows = select(published, metric="required_features_bound")
    texts = [s["text"].removeprefix("s >= ") for s in settings_of(rows)]
    return {
        (decay_of(name), method): text
        for name, method, text in zip(rows["dataset"], rows["method"], texts, strict=True)
    }


def features_needed(frame: pd.DataFrame) -> pd.DataFrame:
    """The smallest size from which on the mean risk stays within the tolerance of that of the exact kernel.

    Returns ``PLACE``, ``s`` (missing where the largest size is not within the tolerance either), ``lower`` and
    ``upper``, the ends of the interval of ``_interval``, ``largest``, the largest size that was measured, ``step``, the
    largest ratio of two sizes that follow each other, and ``exact``, the mean risk of the exact kernel; one row a
    decay, n, method and variant.
    """
    rows = select(frame, metric=["risk", "risk_exact"], status="ok")
    rows = rows.assign(
        n=rows["n_train"],
        decay=rows["kernel"].str.removeprefix("circle-"),
        tolerance=[s.get("tolerance", np.nan) for s in settings_of(rows)],
    )[[*PLACE, "metric", "n_features", "repeat", "value", "tolerance"]]
    found = []
    for place, cell in rows.groupby(PLACE, sort=False):
        exact, risk, tolerance = (
            select(cell, metric="risk_exact"),
            select(cell, metric="risk"),
            cell["tolerance"].iloc[0],
        )
        risks = risk.groupby("n_features")["value"].mean().sort_index()
        within = risks.to_numpy() <= (1.0 + tolerance) * exact["value"].mean()
        sizes = risks.index.to_numpy(dtype=float)
        lower, upper = _interval(risk, exact, tolerance)
        own = {"s": _from_which_on(within, sizes), "lower": lower, "upper": upper, "largest": risks.index.max()}
        own |= {"step": np.max(sizes[1:] / sizes[:-1], initial=1.0), "exact": exact["value"].mean()}
        found.append(dict(zip(PLACE, place, strict=True)) | own)
    return pd.DataFrame(found, columns=[*PLACE, "s", "lower", "upper", "largest", "step", "exact"])


def _from_which_on(holds: np.ndarray, sizes: np.ndarray) -> float:
    """The first of rising sizes from which on something holds; missing where it does not at the last one."""
    first = np.flatnonzero(~holds)[-1] + 1 if not holds.all() else 0
    return float(sizes[first]) if first < len(sizes) else np.nan


def _interval(risk: pd.DataFrame, exact: pd.DataFrame, tolerance: float) -> tuple[float, float]:
    """Between which sizes the requirement lies, by the repeats.

    In every repeat the risk at a size exceeds what is tolerated by so much (by less than nothing, where it is within).
    A 95 % interval of the mean excess by Student's t over the repeats says that a size is enough where it lies below
    zero, and that it is not where it lies above. The requirement is at least the first size from which on none is
    surely too small (``lower``) and at most the first from which on all are surely enough (``upper``: infinite, where
    the largest is not). Missing with one repeat.
    """
    by_repeat = risk.set_index(["repeat", "n_features"])["value"].unstack().sort_index(axis=1)
    allowed = (1.0 + tolerance) * exact.set_index("repeat")["value"]
    excess = by_repeat.sub(allowed, axis=0).dropna()
    repeats = len(excess)
    if repeats < 2:
        return np.nan, np.nan
    mean = excess.mean().to_numpy(dtype=float)
    half = stdtrit(repeats - 1, 0.5 + CONFIDENCE / 2) * excess.std(ddof=1).to_numpy(dtype=float) / np.sqrt(repeats)
    sizes = excess.columns.to_numpy(dtype=float)
    lower, upper = _from_which_on(mean - half <= 0, sizes), _from_which_on(mean + half <= 0, sizes)
    # where even the largest size is surely too small, the requirement lies beyond it
    return float(np.nan_to_num(lower, nan=np.inf)), float(np.nan_to_num(upper, nan=np.inf))


def growth_of_need(needed: pd.DataFrame) -> Power | None:
    """The power of n with which a requirement grows (rows of one place but n), None with fewer than three met.

    A size is known up to the step between sizes only: its logarithm is off by up to a step, evenly, which enters the
    error beside that of the fit.
    """
    met = needed[needed["s"].notna()]
    power = power_law(met["n"], met["s"])
    if power is None:
        return None
    spread = np.log(met["n"].to_numpy(dtype=float))
    of_steps = np.log(met["step"].max()) / np.sqrt(12.0 * ((spread - spread.mean()) ** 2).sum())
    return Power(power.exponent, float(np.hypot(power.error, of_steps)))


def told_size(s: float, largest: int) -> str:
    """A requirement in words; one that was not met is more than the largest size."""
    return f"> {largest}" if np.isnan(s) else f"{s:.0f}"
