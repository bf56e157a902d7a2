"""How numbers stand in the cells of tables."""

from __future__ import annotations

import math

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.estimates import (
    Power,
)
from rfstudy.report.times import median_and_quartiles

#: Means from this on are printed with a power of ten.
LARGE = 1e5


def most_repeats(cells: pd.DataFrame) -> int:
    """The repeats of the cells that have the most; rounds are no repeats."""
    repeated = cells[cells["rounds"] == 0]
    return int(repeated["n"].max()) if len(repeated) else 0


def cell_text(cell: pd.DataFrame, metric: str, full: int) -> str:
    """One cell of ``times.summarise`` as text: mean and standard deviation, or median and quartiles over rounds."""
    by_rounds = len(cell) and cell["rounds"].iloc[0]
    return median_and_quartiles(cell) if by_rounds else mean_and_std(cell, metric, full)


def mean_and_std(cell: pd.DataFrame, metric: str, full: int) -> str:
    """One cell of a grid; repeats that are fewer than elsewhere or not ok are said in it."""
    if not len(cell):
        return "not run"
    ((mean, std, n, failed, skipped),) = cell[["mean", "std", "n", "n_failed", "n_skipped"]].itertuples(index=False)
    missing = [f"{count} {status}" for count, status in ((failed, "failed"), (skipped, "skipped")) if count]
    if not n:
        return ", ".join(missing)
    decimals = 2 if fact_of(metric).is_percentage else max(0, 2 - math.floor(math.log10(mean))) if mean > 0 else 3
    digits = ".1e" if mean >= LARGE else f".{decimals}f"
    text = (f"{mean:{digits}}" + (f" ± {std:{digits}}" if n > 1 else "")).replace("e+0", "e").replace("e+", "e")
    fewer = [f"n = {n}"] if n < full and not missing else missing
    return f"{text} ({', '.join(fewer)})" if fewer else text


def three_digits(value: float) -> float:
    """A number to three significant digits: measured times give no more."""
    return float(f"{value:.3g}")


def exponent(power: Power | None) -> str:
    """A fitted exponent as a cell."""
    return "not run" if power is None else str(power)


def with_error(value: float, error: float) -> str:
    """A number and its standard error, to two digits of the error: "0.0241 ± 0.0018"; rounding is no error."""
    if error <= 1e-12 * max(1.0, abs(value)):
        return f"{value:.3g} ± 0"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"
