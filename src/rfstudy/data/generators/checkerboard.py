"""The checkerboard on the sphere of the paper on learned Fourier features: fields between meridians and the equator."""

import numpy as np

from random_features.errors import UserError
from rfstudy.fields import Count


def generate(n, d, random, *, waves: Count):
    """Return X (n, 3) float32, uniform on the sphere, and y (n,): +1 where cos(waves x longitude) >= 0 or the point
    lies on the northern hemisphere, but not both.

    With the angle theta to the north pole the northern hemisphere is where sin(2 theta) >= 0. Bullins, Zhang and Zhang,
    Not-So-Random Features, ICLR 2018, Figure 1, which shows the set and gives no formula; four waves make eight fields
    on each hemisphere. Raise ``UserError`` if d is not 3.
    """
    if d != 3:
        raise UserError(f"the checkerboard lies on the sphere: it has 3 columns, not {d}")
    X = random.standard_normal((n, 3))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    x, y, z = X.T.astype(np.float64)
    meridians = np.cos(waves * np.arctan2(y, x)) >= 0
    return X, np.where(meridians ^ (z >= 0), 1, -1)
