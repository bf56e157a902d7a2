"""Ratios of speed and the bars that the project sets itself."""

from rfstudy.report.cells import three_digits
from rfstudy.report.comparisons import comparisons, threads_of
from rfstudy.report.context import Context
from rfstudy.report.times import TOO_WIDE
from rfstudy.report.typeset import Table

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
