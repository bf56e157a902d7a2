"""Methods against a baseline, repeat by repeat: differences of percentages in points, ratios of everything else.

All methods of a repeat see the same split, so the pairs vary less than the methods do. A cell shows the mean over the
repeats with one standard deviation of the paired differences (of a ratio: of its logarithm). That describes the repeats
and tests nothing: splits of the same rows overlap, so a standard error would be too small. Times by rounds are compared
round by round, by the median with the quartiles.
"""

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import CELL, by_cell, differing_columns, select
from rfstudy.report.times import ROUND, ratios

#: What two compared cells have in common: all but their method; a size is the same if its label is.
PLACE = [column for column in CELL if column not in ("kernel", "method", "variant", "n_features")]


def compared(frame: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Return each cell of a frame of one quantity compared with that of the method ``baseline`` at the same place.

    Returns the columns of ``CELL`` (without ``at`` of rounds) and those that ``times.summarise`` gives: ``mean``,
    ``lower``, ``upper``, ``n`` (pairs), ``n_failed`` and ``n_skipped`` (0), ``rounds`` and ``machine_busy``. Cells of
    the baseline itself, and cells that share no repeat with it, are left out.
    """
    ok = select(frame, status="ok")
    of_baseline = select(ok, method=baseline, variant="")
    others = ok[(ok["method"] != baseline) | (ok["variant"] != "")]
    is_round = others["axis"] == ROUND
    found = [_by_repeat(others[~is_round], of_baseline), _by_round(others[is_round], of_baseline)]
    return pd.concat([each for each in found if len(each)] or found[:1], ignore_index=True)


def no_difference(metric: str) -> float:
    """Return the value of no difference: 0 points of a percentage, 1 times anything else."""
    return 0.0 if fact_of(metric).is_percentage else 1.0


def _by_repeat(others: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    shared = [*differing_columns(pd.concat([others[PLACE], baseline[PLACE]]), PLACE), "repeat"]
    pairs = others.merge(baseline[[*shared, "value"]], on=shared, suffixes=("", "_other"), validate="many_to_one")
    points = all(fact_of(metric).is_percentage for metric in pairs["metric"].unique())
    if not points:  # zero, such as a time below the resolution of the clock, has no ratio
        pairs = pairs[(pairs[["value", "value_other"]] > 0).all(axis=1)]
    gap = pairs["value"] - pairs["value_other"] if points else np.log(pairs["value"] / pairs["value_other"])
    cells = by_cell(pairs.assign(gap=gap), CELL, mean=("gap", "mean"), std=("gap", "std"), n=("gap", "size"))
    spread = cells.pop("std").fillna(0.0)
    ends = {"mean": cells["mean"], "lower": cells["mean"] - spread, "upper": cells["mean"] + spread}
    shown = ends if points else {name: np.exp(end) for name, end in ends.items()}
    return cells.assign(**shown, n_failed=0, n_skipped=0, rounds=0, machine_busy=False)


def _by_round(others: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    place, cells = ([column for column in columns if column != "at"] for columns in (PLACE, CELL))
    found = ratios(others, baseline, place, cells).reset_index()
    found = found.rename(columns={"value": "mean", "low": "lower", "high": "upper"})
    busy = found["reason"] == "machine busy"
    found = found.assign(at=np.nan, n_failed=0, n_skipped=0, rounds=found["n"], machine_busy=busy)
    return found.drop(columns=["error", "p", "reason", "index"], errors="ignore")
