"""Friedman's first test function with noise: smooth, and the lowest possible error is known."""

import numpy as np

from random_features.errors import UserError
from rfstudy.fields import Positive

#: Columns on which the target depends.
RELEVANT = 5


def generate(n, d, random, *, noise: Positive):
    """Return X (n, d) float32, uniform on [0, 1]^d, and y (n,), a function of the first five columns and normal noise.

    The function is 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 (J. H. Friedman, Multivariate adaptive regression
    splines, Annals of Statistics 19, 1991). ``noise`` is the standard deviation, which no predictor's root mean squared
    error can beat. Raise ``UserError`` if there are fewer than five columns.
    """
    from sklearn.datasets import make_friedman1

    if d < RELEVANT:
        raise UserError(f"Friedman's function has {RELEVANT} columns or more, not {d}")
    X, y = make_friedman1(n, d, noise=noise, random_state=int(random.integers(2**31)))
    return X.astype(np.float32), y
