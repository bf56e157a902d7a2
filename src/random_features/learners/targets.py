"""Targets in the form that a learner takes: columns of finite numbers, for a support vector machine of -1 and +1."""

import numpy as np
import torch

from random_features.arrays import check_numbers
from random_features.errors import NotDefinedError
from random_features.tensors import cast, namespace, on_host


def as_columns(y):
    """Return numeric targets of shape (n,) or (n, c) as a finite float64 array of shape (n, c); of a tensor a tensor.

    Raises ``ValueError`` for another shape, no rows, NaN or infinity.
    """
    y = check_numbers(y, "targets")
    columns = y.detach().double() if isinstance(y, torch.Tensor) else np.asarray(y, dtype=np.float64)
    columns = columns[:, None] if columns.ndim == 1 else columns
    if columns.ndim != 2 or 0 in columns.shape:
        raise ValueError(f"targets must have shape (n,) or (n, c) with n, c >= 1, got {tuple(np.shape(y))}")
    if not namespace(columns).isfinite(columns).all():
        raise ValueError("the targets hold NaN or infinity")
    return columns


def as_weights(weights, n_rows: int, *, all_zero: bool = False) -> np.ndarray | None:
    """Return weights of the rows as float64 (n,), or None; a row of weight 2 counts as two rows.

    Raises ``ValueError`` for another shape, negative or infinite ones, and unless ``all_zero`` where none is positive.
    """
    if weights is None:
        return None
    weights = np.asarray(on_host(check_numbers(weights, "weights")), dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"weights must have the shape {(n_rows,)}, got {weights.shape}")
    if not np.isfinite(weights).all() or weights.min() < 0 or not (all_zero or weights.any()):
        raise ValueError("weights must be finite, none negative, and not all zero")
    return weights


def average(values, weights=None):
    """Return the mean of values (n, ...) over the rows, by weights (n,) if there are some."""
    if weights is None:
        return values.mean(axis=0)
    return (values * weights.reshape(-1, *[1] * (values.ndim - 1))).sum(axis=0) / weights.sum()


def sign_columns(y):
    """Return the columns of ``as_columns``, which may hold only -1 and +1, and must hold both.

    Raises ``ValueError`` that names the first column with other values or with one class only.
    """
    columns = as_columns(y)
    for j, column in enumerate(columns.T):
        if not (abs(column) == 1.0).all():
            raise ValueError(f"column {j} of the targets holds values other than -1 and +1")
        if (column == column[0]).all():
            raise NotDefinedError(f"column {j} of the targets holds one class only ({column[0]:+.0f})")
    return columns


def log_partition(decision):
    """Return the log of the sum of the exponentials of decision values (..., c), for one column also of 0; (..., 1)."""
    xp = namespace(decision)
    if decision.shape[-1] == 1:
        return decision.clip(0.0) + xp.log1p(xp.exp(-abs(decision)))
    largest = xp.amax(decision, -1, keepdims=True)
    return largest + xp.log(xp.exp(decision - largest).sum(axis=-1, keepdims=True))


def class_index(decision):
    """Return the index of the predicted class from decision values of shape (..., c): shape (...).

    One column decides by its sign (a zero is the first class), several by the largest value.
    """
    return cast(decision[..., 0] > 0, "int64") if decision.shape[-1] == 1 else decision.argmax(axis=-1)
