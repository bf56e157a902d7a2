"""From risks by size to the number of features that is needed: the rows of the kind ``requirement``."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.estimates import Power, power_law

#: What one requirement is for.
PLACE = ["decay", "n", "method", "variant"]


def features_needed(frame: pd.DataFrame) -> pd.DataFrame:
    """The smallest size from which on the mean risk stays within the tolerance of that of the exact kernel.

    Returns ``PLACE``, ``s`` (missing where the largest size is not within the tolerance either), ``largest``, the
    largest size that was measured, ``step``, the largest ratio of two sizes that follow each other, and ``exact``, the
    mean risk of the exact kernel; one row a decay, n, method and variant.
    """
    rows = select(frame, metric=["risk", "risk_exact"], status="ok")
    rows = rows.assign(
        n=rows["n_train"],
        decay=rows["kernel"].str.removeprefix("circle-"),
        tolerance=[s.get("tolerance", np.nan) for s in settings_of(rows)],
    )
    found = []
    for place, cell in rows.groupby(PLACE, sort=False):
        exact = select(cell, metric="risk_exact")["value"].mean()
        risks = select(cell, metric="risk").groupby("n_features")["value"].mean().sort_index()
        outside = np.flatnonzero(risks.to_numpy() > (1.0 + cell["tolerance"].iloc[0]) * exact)
        first = outside[-1] + 1 if len(outside) else 0
        s = float(risks.index[first]) if first < len(risks) else np.nan
        sizes = risks.index.to_numpy(dtype=float)
        step = np.max(sizes[1:] / sizes[:-1], initial=1.0)
        own = {"s": s, "largest": risks.index.max(), "step": step, "exact": exact}
        found.append(dict(zip(PLACE, place, strict=True)) | own)
    return pd.DataFrame(found, columns=[*PLACE, "s", "largest", "step", "exact"])


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
