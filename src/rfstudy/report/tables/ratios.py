"""Ratios of speed and the bars that the project sets itself.

A ratio is that of the times of two sides by rounds. The settings of the rows of one side name the others that it is
compared with and the largest ratio that it may have (``at_most``, by method and variant of the other side), or the
seconds that it may take (``at_most_s``).
"""

import pandas as pd

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.cells import three_digits
from rfstudy.report.context import Context
from rfstudy.report.times import TOO_WIDE, by_rounds, ratio
from rfstudy.report.typeset import Table

#: What the two sides of a comparison have in common, and what tells them apart.
TOGETHER = ["dataset", "kernel", "n_features_label", "learner", "metric"]
SIDE = ["method", "variant"]

#: The columns of a comparison.
COLUMNS = (
    "what", "d", "s", "against", "ratio", "lower quartile", "upper quartile", "at most", "verdict", "seconds",
    "seconds of the other",
)  # fmt: skip


def comparisons(frame: pd.DataFrame) -> pd.DataFrame:
    """Return all comparisons of an experiment that were measured, in the order of its rows.

    The verdict is "kept", "missed", or what stands in the way of one (``Estimate.reason`` of the ratio); the seconds of
    both sides are medians.
    """
    rounds = select(by_rounds(frame), status="ok")
    rounds = rounds[rounds["metric"].str.startswith("time_")]
    found = []
    for _, together in rounds.groupby(TOGETHER, sort=False):
        sides = {"-".join(filter(None, side)): rows for side, rows in together.groupby(SIDE, sort=False)}
        for own in sides.values():
            settings = settings_of(own)[0]
            others = {
                settings_of(sides[other])[0]["what"]: (sides[other], bar)
                for other, bar in settings.get("at_most", {}).items()
                if other in sides
            }
            if "at_most_s" in settings:
                others[f"{settings['at_most_s']:g} s"] = own.assign(value=settings["at_most_s"]), 1.0
            for against, (other, bar) in others.items():
                times = ratio(own, other)
                if times is None:
                    continue
                verdict = times.reason or ("kept" if times.value <= bar else "missed")
                seconds = own["value"].median(), other["value"].median()
                place = settings["what"], *own[["d", "n_features"]].iloc[0], against
                found.append((*place, *times[:3], bar, verdict, *seconds))
    return pd.DataFrame(found, columns=COLUMNS).astype({"d": "Int64", "s": "Int64"})


def threads_of(frame: pd.DataFrame) -> str:
    """Return a sentence on the threads of the rows, or an empty text."""
    threads = sorted({s["threads"] for s in settings_of(frame) if "threads" in s})
    return f"Threads: {', '.join(map(str, threads))}." if threads else ""


#: The note under the comparisons of speed.
RATIOS_NOTE = (
    "A ratio is the median of the ratios by round, in which the two sides take turns; a verdict needs quartiles no "
    f"more than {TOO_WIDE:.0%} of it apart, and rounds without other work on the machine."
)


def make(context: Context) -> Table:
    """Return comparisons of speed: the time of one side over that of the other, with the bar that it must keep."""
    table = comparisons(context.rows)
    numbers = ["ratio", "lower quartile", "upper quartile", "at most", "seconds", "seconds of the other"]
    table[numbers] = table[numbers].map(three_digits)
    return Table(table, [*filter(None, [threads_of(context.rows)]), RATIOS_NOTE])
