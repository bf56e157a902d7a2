"""The median rule: the median distance between two training rows."""

import numpy as np

from random_features.errors import UserError
from random_features.length_scales import MEDIAN_ROWS, median_distance
from rfstudy.fields import Count, Positive


def length_scale(X, rng: np.random.Generator, *, rows: Count = MEDIAN_ROWS, factor: Positive = 1.0) -> float:
    """Return ``factor`` times the median Euclidean distance between pairs of at most ``rows`` random rows of X (n, d).

    Raise ``UserError`` if most rows are equal, so that the median is 0.
    """
    try:
        return factor * median_distance(X, rng, rows)
    except ValueError as error:
        raise UserError(str(error)) from None
