"""One method against another, repeat by repeat: differences of percentages in points, ratios of everything else.

All methods of a repeat see the same split, so the pairs vary less than the methods do. What is shown is the mean over
the repeats with one standard deviation of the paired differences (of a ratio: of its logarithm), which describes the
repeats and tests nothing: splits of the same rows overlap, and a standard error would be too small. Times by rounds
are compared round by round, by the median with the quartiles.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import CELL, by_cell, select, telling
from rfstudy.report.times import ROUND, ratio

#: What two cells have in common that are compared: all but whose they are; a size is the same where its label is.
PLACE = [column for column in CELL if column not in ("kernel", "method", "variant", "n_features")]


def compared(frame: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Every cell of a frame of one quantity against that of a method at the same place.

    Returns the columns of ``CELL`` (without ``at`` of rounds) and those that ``times.summarise`` gives: ``mean``,
    ``lower``, ``upper``, ``n`` (pairs), ``n_failed`` and ``n_skipped`` (0), ``rounds`` and ``contended``. Cells of the
    baseline itself, and cells that share no repeat with it, are left out.
    """
    ok = select(frame, status="ok")
    of_baseline = select(ok, method=baseline, variant="")
    others = ok[(ok["method"] != baseline) | (ok["variant"] != "")]
    is_round = others["axis"] == ROUND
    found = [_by_repeat(others[~is_round], of_baseline), _by_round(others[is_round], of_baseline)]
    return pd.concat([each for each in found if len(each)] or found[:1], ignore_index=True)


def no_difference(metric: str) -> float:
    """What stands for no difference: 0 points of a percentage, 1 times anything else."""
    return 0.0 if fact_of(metric).is_percentage else 1.0


def _by_repeat(others: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    told = telling(pd.concat([others, baseline]), PLACE)
    pairs = others.merge(
        baseline[[*told, "repeat", "value"]], on=[*told, "repeat"], suffixes=("", "_other"), validate="many_to_one"
    )
    points = pairs["metric"].map(lambda metric: fact_of(metric).is_percentage).astype(bool)
    if (pairs.loc[~points, ["value", "value_other"]] <= 0).any(axis=None):
        raise ValueError("a ratio needs positive values")
    logarithm = np.log(pairs["value"].where(~points, 1.0) / pairs["value_other"].where(~points, 1.0))
    pairs["gap"] = (pairs["value"] - pairs["value_other"]).where(points, logarithm)
    cells = by_cell(pairs, CELL, mean=("gap", "mean"), std=("gap", "std"), n=("gap", "size"))
    spread, points = cells["std"].fillna(0.0), cells["metric"].map(lambda metric: fact_of(metric).is_percentage)
    ends = {"mean": cells["mean"], "lower": cells["mean"] - spread, "upper": cells["mean"] + spread}
    shown = {name: end.where(points.astype(bool), np.exp(end)) for name, end in ends.items()}
    return cells.drop(columns="std").assign(**shown, n_failed=0, n_skipped=0, rounds=0, contended=False)


def _by_round(others: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    place = [column for column in PLACE if column != "at"]
    cells = [column for column in CELL if column != "at"]
    held = dict(list(baseline.groupby(place, dropna=False, sort=False)))
    found = []
    for key, rows in others.groupby(cells, dropna=False, sort=False):
        named = dict(zip(cells, key, strict=True))
        other = held.get(tuple(named[column] for column in place))
        pair = ratio(rows, other) if other is not None else None
        if pair:
            n = len(set(rows["at"]) & set(other["at"]))
            ends = {"at": np.nan, "mean": pair.value, "lower": pair.low, "upper": pair.high}
            counts = {"n": n, "n_failed": 0, "n_skipped": 0, "rounds": n, "contended": pair.reason == "contended"}
            found.append(named | ends | counts)
    return pd.DataFrame(found)
