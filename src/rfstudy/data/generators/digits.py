"""scikit-learn's 1,797 images of 8 x 8 pixels: the bundled stand-in for images of digits and letters."""

import numpy as np


def generate(n, d, random):
    """Return X (1797, 64) uint8, the 17 grey levels spread over 0 to 255 as in MNIST, and labels 0 to 9.

    The set is fixed: the numbers of rows and columns and the random generator are ignored. The label map chooses rows.
    """
    from sklearn.datasets import load_digits

    X, labels = load_digits(return_X_y=True)
    return np.round(X * (255 / 16)).astype(np.uint8), labels
