"""Several classes in numeric columns, levels of a wave over the angle in a random plane: a stand-in of any balance."""

from typing import Annotated

import numpy as np
from annotated_types import MinLen

from rfstudy.data.plane import lay_into_columns, points_of
from rfstudy.fields import Count, Positive


def generate(n, d, random, *, waves: Count, shares: Annotated[list[Positive], MinLen(2)]):
    """Return X (n, d) float32 and y (n,) int64 from 0, classes with the given shares of the rows.

    The rows in the order of sin(waves x angle) are cut into the classes, one after the other.
    """

    def target(angle):
        ends = np.rint(np.cumsum(shares) / np.sum(shares) * n)
        rank = np.argsort(np.argsort(np.sin(waves * angle)))
        return np.searchsorted(ends, rank, side="right")

    points, y = points_of(n, random, target)
    return lay_into_columns(points, d, random), y
