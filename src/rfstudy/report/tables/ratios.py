"""Ratios of speed beside the bars that the project sets itself."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.cells import three_digits
from rfstudy.report.comparisons import comparisons, threads_of
from rfstudy.report.context import Context
from rfstudy.report.times import TOO_WIDE
from rfstudy.report.typeset import Table

#: What stands under the comparisons of speed.
RATIOS_NOTE = (
    "A ratio is the median of the ratios by round, in which the two sides take turns; a verdict needs quartiles no "
    f"more than {TOO_WIDE:.0%} of it apart, and rounds beside which no other work ran."
)


def make(context: Context, spec: dict) -> Table:
    """Comparisons of speed: time of the one side over that of the other, with the bar that the project sets itself."""
    frame = context.rows
    found = comparisons(frame)
    columns = {
        "what": [each.what for each in found],
        "d": [each.d for each in found],
        "s": [each.n_features for each in found],
        "against": [each.against for each in found],
        "ratio": [three_digits(each.ratio.value) for each in found],
        "lower quartile": [three_digits(each.ratio.low) for each in found],
        "upper quartile": [three_digits(each.ratio.high) for each in found],
        "at most": [three_digits(each.at_most) for each in found],
        "verdict": [each.verdict for each in found],
        "seconds": [three_digits(each.seconds) for each in found],
        "seconds of the other": [three_digits(each.seconds_other) for each in found],
    }
    table = pd.DataFrame(columns).astype({"d": "Int64", "s": "Int64"})
    return Table(spec["name"], table, spec["caption"], [*filter(None, [threads_of(frame)]), RATIOS_NOTE])
