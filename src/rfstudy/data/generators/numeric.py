"""Two classes in numeric columns, the blades of a windmill in a random plane: a stand-in of any width and balance."""

from rfstudy.data.plane import blades_of, lay_into_columns, points_of
from rfstudy.fields import Count, Share


def generate(n, d, random, *, blades: Count, positives: Share):
    """Return X (n, d) float32 and y (n,) of +1 for a share ``positives`` and -1 for the rest.

    ``blades`` is the number of blades of either class.
    """
    points, y = points_of(n, random, lambda angle: blades_of(angle, blades, positives))
    return lay_into_columns(points, d, random), y
