"""scikit-learn's 569 rows of 30 measurements: a bundled stand-in of two classes."""

import numpy as np


def generate(n, d, random):
    """Return X (569, 30) float32 and labels 0 (malignant) and 1 (benign).

    The set is fixed: the numbers of rows and columns and the random generator are ignored.
    """
    from sklearn.datasets import load_breast_cancer

    X, labels = load_breast_cancer(return_X_y=True)
    return X.astype(np.float32), labels
