"""Times by rounds: from the phases of a round to the times that the papers report, to medians and to ratios.

A round times every phase of every map and learner once, one after the other (``axis`` "round", ``at`` its number).
There is one row for drawing the map, and one each for learning it, mapping the training rows, fitting the learner,
mapping the test rows and predicting, by the clock (``time_<phase>_s``) and of the processor (``cpu_<phase>_s``). All
times of one round met the same state of the machine, so two methods are compared round by round, within one record.
"""

import numpy as np
import pandas as pd

from rfstudy.report import aggregate
from rfstudy.report.aggregate import have_setting, select
from rfstudy.report.compare import Estimate

ROUND = "round"

#: The times that the papers report, as sums of phases, and the rows that they are of. The last phase says whose sum it
#: is; the phases of a map have no learner. A phase in brackets may be missing: a map that takes nothing from data does
#: not learn.
PRINTED = {
    "time_feature_s": (("draw", "[learn]", "transform"), "train"),
    "time_preprocess_s": (("[learn]", "draw"), "train"),
    "time_train_s": (("transform", "fit"), "train"),
    "time_preprocess_train_s": (("draw", "[learn]", "transform", "fit"), "train"),
    "time_test_s": (("predict_transform", "predict"), "test"),
}

#: The costs whose growth is fitted: sums of phases of the processor.
COSTS = {
    "time_draw_s": ("draw",),
    "time_transform_s": ("transform",),
    "time_fit_s": ("[learn]", "draw"),
    "time_scores_s": ("scores",),
}

#: The share of a ratio from which its interquartile range is too wide for a verdict.
TOO_WIDE = 0.25

#: Columns that identify the phases of a map at one set of coordinates and round; phases of a learner have one more.
PLACE = [column for column in aggregate.CELL if column not in ("learner", "metric", "split")] + ["repeat", "run"]


def with_printed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with a row per round for every quantity of ``PRINTED`` whose phases it has."""
    rounds = select(frame, axis=ROUND)
    if not len(rounds):
        return frame
    sums = [_sum(rounds, "time", phases, metric, split) for metric, (phases, split) in PRINTED.items()]
    return pd.concat([frame, *sums], ignore_index=True)


def shortest(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with the costs of ``COSTS``, each the shortest round of the processor, in place of its rounds.

    An exponent is about the work, and any disturbance makes a round longer.
    """
    rounds = select(frame, axis=ROUND)
    if not len(rounds):
        return frame
    sums = pd.concat(_sum(rounds, "cpu", phases, metric, "") for metric, phases in COSTS.items())
    cells = [column for column in [*aggregate.CELL, "repeat"] if column not in ("axis", "at")]
    best = sums.sort_values("value", kind="stable").drop_duplicates(cells).assign(axis="", at=np.nan)
    return pd.concat([frame[frame["axis"] != ROUND], best], ignore_index=True)


def _sum(rounds: pd.DataFrame, clock: str, phases: tuple[str, ...], metric: str, split: str) -> pd.DataFrame:
    """Return one row per round: the sum of its phases, without a value if one of them is not ok."""
    *others, last = phases
    # a merge on all columns takes several times as long
    place = aggregate.differing_columns(rounds, PLACE) or PLACE[:1]
    total = select(rounds, metric=f"{clock}_{last}_s")
    for phase in others:
        part = select(rounds, metric=f"{clock}_{phase.strip('[]')}_s")[[*place, "value", "status", "settings"]]
        how = "left" if phase.startswith("[") else "inner"
        total = total.merge(part, how=how, on=place, suffixes=("", "_of"), validate="many_to_one")
        total["value_of"] = total["value_of"].mask(total["status_of"].isna(), 0.0)
        total = total.fillna({"status_of": "ok", "settings_of": ""})
        is_ok = total["status"] == "ok"
        decides = is_ok & (total["status_of"] != "ok") | machine_busy(total, "settings_of")
        total["status"] = total["status"].mask(is_ok, total["status_of"])
        total["settings"] = total["settings"].mask(decides, total["settings_of"])
        total["value"] += total["value_of"]
        total = total.drop(columns=["value_of", "status_of", "settings_of"])
    return total.assign(metric=metric, split=split)


def machine_busy(rows: pd.DataFrame, column: str = "settings") -> pd.Series:
    """Return whether other work ran during the round of a row, by the ``machine_busy`` of its settings."""
    return have_setting(rows[column], "machine_busy")


def summarise(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the same as ``aggregate.summarise``, and for times by rounds their median and quartiles.

    In addition to its columns (``mean`` is the median over the rounds, ``n`` their number, ``std`` missing) there are
    ``lower`` and ``upper``, the ends of the error bar (one standard deviation, or the quartiles), ``rounds`` (0 for
    means over repeats) and ``machine_busy``.
    """
    is_round = frame["axis"] == ROUND
    means = aggregate.summarise(frame[~is_round])
    spread = means["std"].fillna(0.0)
    means = means.assign(lower=means["mean"] - spread, upper=means["mean"] + spread, rounds=0, machine_busy=False)
    if not is_round.any():
        return means
    rounds = aggregate.with_status(frame[is_round])
    rounds = rounds.assign(machine_busy=machine_busy(rounds), at=np.nan)
    counts = aggregate.COUNTS | {"machine_busy": ("machine_busy", "any")}
    medians = aggregate.by_cell(rounds, aggregate.CELL, quartiles=True, **counts)
    medians = medians.assign(std=np.nan, rounds=medians["n"])[means.columns]
    return pd.concat([means, medians], ignore_index=True) if len(means) else medians


def ratios(one: pd.DataFrame, other: pd.DataFrame, place: list[str], by: list[str]) -> pd.DataFrame:
    """Return the ratios of cells by rounds to the cell of ``other`` at the same coordinates: fields of ``Estimate``.

    A ratio is the median of the ratios by round, with quartiles. Its error is the error of the median of normal ratios,
    whose quartiles are 1.349 standard deviations apart: sqrt(pi / (2 R)) standard deviations for R rounds. The reason
    is "machine busy" if other work ran during a round, and "too noisy" if the quartiles are over ``TOO_WIDE`` of the
    ratio apart or a time is zero. Only rounds of the same record are paired.

    Parameters
    ----------
    one, other : rows of one metric each
    place : columns that a cell and the one it is divided by share
    by : columns that identify a cell of ``one``, the index of the result
    """
    shared = [*place, "run", "at"]
    under = _values(other)[[*shared, "value", "machine_busy"]]
    pairs = _values(one).merge(under, on=shared, suffixes=("", "_other"), validate="many_to_one")
    if not len(pairs):
        return pd.DataFrame(columns=Estimate._fields)
    pairs["value"] /= pairs["value_other"]
    pairs["machine_busy"] |= pairs["machine_busy_other"]
    counts = {"n": ("value", "size"), "busy": ("machine_busy", "any")}
    found = aggregate.by_cell(pairs, by, quartiles=True, **counts).set_index(by)
    found = found.rename(columns={"lower": "low", "mean": "value", "upper": "high"})
    width = found["high"] - found["low"]
    is_clear = (found["value"] > 0) & (width <= TOO_WIDE * found["value"])
    reason = np.select([found["busy"], ~is_clear], ["machine busy", "too noisy"], "")
    error = width / 1.349 * np.sqrt(np.pi / (2 * found["n"]))
    return found.assign(error=error, p=np.nan, reason=reason, df=np.nan)[list(Estimate._fields)]


def ratio(one: pd.DataFrame, other: pd.DataFrame) -> Estimate | None:
    """Return the ratio of two cells by rounds (see ``ratios``); None if the two share no round."""
    found = ratios(one, other, [], ["metric"])
    return Estimate(**found.iloc[0]) if len(found) else None


def _values(rows: pd.DataFrame) -> pd.DataFrame:
    ok = select(rows, axis=ROUND, status="ok")
    return ok.assign(machine_busy=machine_busy(ok))
