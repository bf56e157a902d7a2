"""Comparisons of speed: from the rounds of two sides to the ratio of their times, and whether it keeps its bar.

The rows of the one side say against which others it is held, and the largest ratio that it may have (``at_most`` of the
settings, by method and variant of the other side), or the seconds that it may take (``at_most_s``).
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from rfstudy.report.aggregate import settings_of
from rfstudy.report.compare import Estimate
from rfstudy.report.times import by_rounds, ratio

#: What the two sides of a comparison have in common, and what tells them apart.
TOGETHER = ["dataset", "kernel", "n_features_label", "learner", "metric"]
SIDE = ["method", "variant"]


class Comparison(NamedTuple):
    """Two sides, the ratio of their times, and the largest that it may be."""

    what: str
    against: str
    d: int | None
    n_features: int | None
    ratio: Estimate
    at_most: float
    seconds: float  # medians
    seconds_other: float

    @property
    def verdict(self) -> str:
        """ "kept", "missed", or what stands in the way of a verdict."""
        return self.ratio.reason or ("kept" if self.ratio.value <= self.at_most else "missed")


def comparisons(frame: pd.DataFrame) -> list[Comparison]:
    """All comparisons of an experiment that were measured, in the order of its rows."""
    rounds = by_rounds(frame)
    rounds = rounds[rounds["metric"].str.startswith("time_") & (rounds["status"] == "ok")]
    found = []
    for _, together in rounds.groupby(TOGETHER, sort=False):
        sides = {"-".join(filter(None, side)): rows for side, rows in together.groupby(SIDE, sort=False)}
        for own in sides.values():
            told = settings_of(own)[0]
            found += [
                compared(own, sides[other], settings_of(sides[other])[0]["what"], bar)
                for other, bar in told.get("at_most", {}).items()
                if other in sides
            ]
            if "at_most_s" in told:
                found.append(compared(own, own.assign(value=told["at_most_s"]), f"{told['at_most_s']:g} s", 1.0))
    return [each for each in found if each.ratio is not None]


def compared(own: pd.DataFrame, other: pd.DataFrame, against: str, at_most: float) -> Comparison:
    """One comparison of two cells by rounds; its ratio is None where they share no round."""
    d, n_features = (None if pd.isna(value) else int(value) for value in own[["d", "n_features"]].iloc[0])
    medians = own["value"].median(), other["value"].median()
    return Comparison(settings_of(own)[0]["what"], against, d, n_features, ratio(own, other), at_most, *medians)


def threads_of(frame: pd.DataFrame) -> str:
    """A sentence on the threads of the rows, or an empty text."""
    threads = sorted({s["threads"] for s in settings_of(frame) if "threads" in s})
    return f"Threads: {', '.join(map(str, threads))}." if threads else ""
