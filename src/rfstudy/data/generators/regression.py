"""A smooth target with noise over the angle in a random plane: a stand-in for regression of any width."""

import numpy as np

from rfstudy.data.plane import lay_into_columns, points_of
from rfstudy.fields import Count, Positive

#: Share of the target's variance that is noise, which no learner can explain.
NOISE_SHARE = 0.1


def generate(n, d, random, *, waves: Count, mean: float, deviation: Positive):
    """Return X (n, d) float32 and y (n,) float64 with the given mean and standard deviation over all angles.

    The target is a sine of ``waves`` periods of the angle, whose variance is 1 - ``NOISE_SHARE`` of the whole, and
    normal noise.
    """

    def target(angle):
        signal = np.sqrt(2 * (1 - NOISE_SHARE)) * np.sin(waves * angle)
        return mean + deviation * (signal + np.sqrt(NOISE_SHARE) * random.standard_normal(n))

    points, y = points_of(n, random, target)
    return lay_into_columns(points, d, random), y
