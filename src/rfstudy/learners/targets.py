"""Targets as columns of numbers: labels become columns of -1 and +1, decision values become labels again.

Two classes take one column (+1 is the class that sorts last), more take one column a class (one against the
rest, decided by the largest decision value), and a regression target is its own column. Ridge, SVM and the exact
learners share this.
"""

from __future__ import annotations

import numpy as np


def encode_labels(y) -> tuple[np.ndarray, np.ndarray]:
    """Labels of shape (n,) as columns of -1 and +1.

    Returns
    -------
    columns : float64 ndarray of shape (n, 1) for two classes, (n, n_classes) for more
    classes : the sorted labels; what ``decode_labels`` takes

    Raises ``ValueError`` where there are missing labels or fewer than two classes.

    >>> encode_labels(["ham", "spam", "ham"])[0].ravel()
    array([-1.,  1., -1.])
    """
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"labels must have shape (n,), got {y.shape}")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("the labels hold NaN or infinity")
    classes, index = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"a classifier needs two classes, the labels hold {classes.tolist()}")
    if len(classes) == 2:
        return 2.0 * index[:, None] - 1.0, classes
    return np.where(index[:, None] == np.arange(len(classes)), 1.0, -1.0), classes


def decode_labels(decision, classes) -> np.ndarray:
    """Labels (n,) that belong to decision values of shape (n, c); ``classes`` as ``encode_labels`` gave them."""
    return np.asarray(classes)[class_index(np.asarray(decision))]


def class_index(decision: np.ndarray) -> np.ndarray:
    """Index of the predicted class from decision values of shape (..., c): shape (...).

    One column decides by its sign (a zero is the first class), several by the largest value.
    """
    if decision.shape[-1] == 1:
        return (decision[..., 0] > 0).astype(np.intp)
    return decision.argmax(axis=-1)


def as_columns(y) -> np.ndarray:
    """Numeric targets of shape (n,) or (n, c) as a finite float64 array of shape (n, c).

    Raises ``ValueError`` for another shape, no rows, NaN or infinity.
    """
    columns = np.asarray(y, dtype=np.float64)
    if columns.ndim == 1:
        columns = columns[:, None]
    if columns.ndim != 2 or columns.size == 0:
        raise ValueError(f"targets must have shape (n,) or (n, c) with n, c >= 1, got {np.shape(y)}")
    if not np.isfinite(columns).all():
        raise ValueError("the targets hold NaN or infinity")
    return columns


def sign_columns(y) -> np.ndarray:
    """As ``as_columns`` for columns that may hold nothing but -1 and +1, and must hold both.

    Raises ``ValueError`` that names the first column with other values or with one class only.
    """
    columns = as_columns(y)
    for j, column in enumerate(columns.T):
        if not np.isin(column, (-1.0, 1.0)).all():
            raise ValueError(f"column {j} of the targets holds values other than -1 and +1; use encode_labels")
        if (column == column[0]).all():
            raise ValueError(f"column {j} of the targets holds one class only ({column[0]:+.0f})")
    return columns
