"""Selections of tidy rows, and means over repeats.

Rows whose status is not ok never enter a mean. They are counted next to it, so that a table can show the values that a
mean lacks.
"""

import json
from collections.abc import Iterable
from functools import cache

import numpy as np
import pandas as pd

from rfstudy import tidy

#: The columns that identify a cell: one mean over repeats.
CELL = [column for column in tidy.KEY if column != "repeat"]


def select(frame: pd.DataFrame, **wanted) -> pd.DataFrame:
    """Return the rows in which every named column has the value wanted, or one of a list; None means any value."""
    keep = np.ones(len(frame), dtype=bool)
    for column, value in wanted.items():
        if isinstance(value, str):
            keep &= frame[column].to_numpy() == value
        elif value is not None:
            keep &= frame[column].isin(list(value)).to_numpy(dtype=bool)
    return frame[keep]


def of_quantity(frame: pd.DataFrame, quantity: dict) -> pd.DataFrame:
    """Return the rows of a quantity: the rows of its ``metric``, and of ``learner``, ``split`` and ``kernel`` if
    named."""
    return select(frame, **{column: quantity.get(column) for column in ("metric", "learner", "split", "kernel")})


def measured(frames: Iterable[pd.DataFrame], experiments: list[str]) -> pd.DataFrame:
    """Return the measured rows of experiments in tidy frames.

    If a data set was measured under several presets, only the preset with the most values is used: means over different
    protocols would be meaningless.
    """
    own = [select(frame, origin="measured", experiment=experiments) for frame in frames]
    frame = pd.concat([tidy.frame([]), *own], ignore_index=True)
    if frame["preset"].nunique() < 2:
        return frame
    what = ["experiment", "dataset", "preset"]
    counts = frame.assign(ok=frame["status"] == "ok").groupby(what)["ok"].sum()
    largest = set(counts.groupby(level=what[:2]).idxmax())
    return frame[[each in largest for each in frame[what].itertuples(index=False, name=None)]]


def facts_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with facts about the data that preprocessing found."""
    return frame[frame["metric"].str.startswith("fact_")]


def settings_of(frame: pd.DataFrame) -> list[dict]:
    """Return the ``settings`` of every row as a dict for reading only, empty if there are none."""
    return [_parsed(text) for text in frame["settings"].tolist()]


def have_setting(settings: pd.Series, name: str) -> pd.Series:
    """Return whether a setting of this name is there, and true, among the ``settings`` of each row."""
    return settings.isin([text for text in settings.unique() if _parsed(text).get(name)])


@cache
def _parsed(settings: str) -> dict:
    return json.loads(settings) if settings else {}


def reasons(frame: pd.DataFrame) -> list[str]:
    """Return the distinct reasons why rows are not ok, in order of appearance, without the id of their method."""
    frame = frame[frame["status"] != "ok"]
    rows = zip(frame["method"], settings_of(frame), strict=True)
    return list(dict.fromkeys(s["reason"].removeprefix(f"{method}: ") for method, s in rows if s.get("reason")))


def summarise(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the mean and the spread over repeats of every cell.

    There is one row per cell, with the columns of ``CELL`` and

    * ``mean``, ``std`` (ddof = 1; missing for a single repeat) and ``n`` of the repeats that are ok,
    * ``n_failed`` and ``n_skipped``, the repeats that are not.

    No two rows are the same measurement: ``collect`` and ``publish`` refuse them.
    """
    return by_cell(with_status(frame), CELL, mean=("value", "mean"), std=("value", "std"), **COUNTS)


#: Counts of the rows of a cell that are ok and that are not (see ``with_status``), as arguments of pandas' ``agg``.
COUNTS = {"n": ("ok", "sum"), "n_failed": ("failed", "sum"), "n_skipped": ("skipped", "sum")}


def with_status(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with values only where a row is ok, and the columns ``ok``, ``failed`` and ``skipped``."""
    status = {each: frame["status"] == each for each in ("ok", "failed", "skipped")}
    return frame.assign(value=frame["value"].where(status["ok"]), **status)


def by_cell(
    frame: pd.DataFrame, columns: list[str], *, quartiles: bool = False, **aggregations: tuple[str, str]
) -> pd.DataFrame:
    """Return a row for every combination of values of columns, with the aggregations that pandas' ``agg`` takes.

    With ``quartiles``, the median of the values is the column ``mean``, with the quartiles ``lower`` and ``upper``.
    """
    groups = frame.groupby(columns, dropna=False, sort=False)
    cells = groups.agg(**aggregations) if aggregations else pd.DataFrame(index=groups.size().index)
    if quartiles:
        ends = {"lower": 0.25, "mean": 0.5, "upper": 0.75}
        cells = cells.assign(**{name: groups["value"].quantile(share) for name, share in ends.items()})
    return cells.reset_index()


def differing_columns(frame: pd.DataFrame, columns: list[str]) -> list[str]:
    """Return the columns with several values; all columns if the frame has no rows."""
    return [column for column in columns if frame[column].nunique(dropna=False) != 1]


def columns_asked_for(rows: pd.DataFrame) -> pd.Series:
    """Return the number of columns that each row asked for: Nyström drops some where its kernel matrix has a lower
    rank.
    """
    per_feature = (rows["n_columns"] / rows["n_features"]).groupby([rows["method"], rows["variant"]]).transform("max")
    return (rows["n_features"] * per_feature).round().astype(int)


def method_order(frame: pd.DataFrame, listed: list[str]) -> list[tuple[str, str]]:
    """Return (method, variant) of every method in the frame: the listed ones in that order, then the others by name."""
    order = {method: position for position, method in enumerate(listed)}
    pairs = set(zip(frame["method"], frame["variant"], strict=True))
    return sorted(pairs, key=lambda pair: (order.get(pair[0], len(order)), pair))


def methods_shown(frame: pd.DataFrame, listed: list[str]) -> list[tuple[str, str]]:
    """Return the same as ``method_order``, or the listed methods if there are no rows."""
    return method_order(frame, listed) or [(method, "") for method in listed]


def by_repeat(frame: pd.DataFrame) -> pd.Series:
    """Return the values of one cell that are ok, by repeat; ``ValueError`` if the rows belong to several cells."""
    ok = frame["status"].to_numpy() == "ok"
    repeats = frame["repeat"].to_numpy()[ok].astype(int)
    if len(set(repeats)) < len(repeats):
        raise ValueError("the rows of one cell must differ in their repeat")
    return pd.Series(frame["value"].to_numpy()[ok], index=repeats)
