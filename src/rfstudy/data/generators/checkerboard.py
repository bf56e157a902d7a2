"""The checkerboard on the sphere of the paper on learned Fourier features: fields between meridians and parallels."""

import numpy as np

from random_features.errors import UserError
from rfstudy.fields import Count


def generate(n, d, random, *, waves: Count, bands: Count):
    """Return X (n, 3) float32, uniform on the sphere, and y (n,): +1 where either cos(waves x longitude) >= 0 or
    sin(bands x theta) >= 0 with the angle theta to the north pole, but not both.

    Bullins, Zhang and Zhang, Not-So-Random Features, ICLR 2018, Figure 1, which shows the set and gives no formula.
    Four waves make eight fields in each band; two bands are the hemispheres. Raise ``UserError`` if d is not 3.
    """
    if d != 3:
        raise UserError(f"the checkerboard lies on the sphere: it has 3 columns, not {d}")
    X = random.standard_normal((n, 3))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    x, y, z = X.T.astype(np.float64)
    meridians = np.cos(waves * np.arctan2(y, x)) >= 0
    band = np.floor(bands * np.arccos(np.clip(z, -1, 1)) / np.pi)
    return X, np.where(meridians ^ (band % 2 == 0), 1, -1)
