"""Two classes in columns of 0 and 1, the blades of a windmill seen through categories: a stand-in of one-hot data."""

import numpy as np

from rfstudy.data.plane import NOISE, blades_of, points_of
from rfstudy.fields import Count, Share

#: Number of attributes: the columns are their categories, and a row has one category of each attribute set.
N_ATTRIBUTES = 14


def generate(n, d, random, *, blades: Count, positives: Share):
    """Return X (n, d) float32 and y (n,) of +1 for a share ``positives`` and -1 for the rest.

    Each attribute is a direction of the plane, cut into categories with equal numbers of rows. ``blades`` is the
    number of blades of either class.
    """
    points, y = points_of(n, random, lambda angle: blades_of(angle, blades, positives))
    sizes = np.full(N_ATTRIBUTES, d // N_ATTRIBUTES)
    sizes[: d % N_ATTRIBUTES] += 1
    directions = random.uniform(0, np.pi, N_ATTRIBUTES)
    X = np.zeros((n, d), dtype=np.float32)
    for direction, size, first in zip(directions, sizes, np.cumsum(sizes) - sizes, strict=True):
        position = points @ [np.cos(direction), np.sin(direction)] + random.normal(0, NOISE, n)
        rank = np.argsort(np.argsort(position))
        X[np.arange(n), first + rank * size // n] = 1.0
    return X, y
