"""The windmill of the paper on learned Fourier features: blades of two classes in a square."""

import numpy as np

from random_features.errors import UserError
from rfstudy.fields import Count


def generate(n, d, random, *, blades: Count):
    """Return X (n, 2) float32, uniform on [-1, 1]^2, and y (n,), the sign of sin(blades x angle).

    Bullins, Zhang and Zhang, Not-So-Random Features, ICLR 2018, Figure 1, which shows the set and gives no formula.
    ``blades`` is the number of blades of either class. Raise ``UserError`` if d is not 2.
    """
    if d != 2:
        raise UserError(f"the windmill lies in the plane: it has 2 columns, not {d}")
    X = random.uniform(-1, 1, (n, 2)).astype(np.float32)
    horizontal, vertical = X.T.astype(np.float64)
    return X, np.where(np.sin(blades * np.arctan2(vertical, horizontal)) >= 0, 1, -1)
