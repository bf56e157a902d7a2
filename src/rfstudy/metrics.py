"""Error measures of kernel approximation and prediction: the numbers that the papers print."""

from __future__ import annotations

import numpy as np
import scipy.linalg


def approximation_error(exact, approximate, norm: str = "frobenius", *, ridge: float | None = None) -> float:
    """Relative error of an approximate kernel matrix, ``|K - K~| / |K|``, or its spectral approximation factor.

    Parameters
    ----------
    exact, approximate : ndarray of shape (n, m)
    norm : "frobenius" (survey, section 6.1), "spectral" (slsrff, Figure 1), "sup" (largest entry) or
        "l2" (root mean square of the entries; the same ratio as "frobenius"), or "delta_spectral": the smallest D with
        (1 - D) (K + r I) <= K~ + r I <= (1 + D) (K + r I) in the order of symmetric matrices (survey, Definition 1),
        for positive semidefinite K of shape (n, n)
    ridge : r > 0, only for "delta_spectral", and needed there (the survey's lambda in Theorem 7, n lambda in Theorem 8)

    Returns
    -------
    float, without unit
    """
    exact = np.asarray(exact, dtype=np.float64)
    difference = exact - np.asarray(approximate, dtype=np.float64)
    if (norm == "delta_spectral") != (ridge is not None):
        raise ValueError("the norm 'delta_spectral' needs a ridge, and no other norm takes one")
    if norm == "delta_spectral":
        # the extreme eigenvalues of (K~ - K) v = e (K + r I) v are those of the whitened difference
        eigenvalues = scipy.linalg.eigh(difference, exact + ridge * np.eye(len(exact)), eigvals_only=True)
        return float(np.abs(eigenvalues).max())
    measures = {
        "frobenius": np.linalg.norm,
        "spectral": lambda A: np.linalg.norm(A, 2),
        "sup": lambda A: np.abs(A).max(),
        "l2": lambda A: np.sqrt(np.mean(A**2)),
    }
    if norm not in measures:
        raise ValueError(f"norm must be one of {', '.join([*measures, 'delta_spectral'])}, got {norm!r}")
    measure = measures[norm]
    return float(measure(difference) / measure(exact))


def class_index(decision: np.ndarray) -> np.ndarray:
    """Index of the predicted class from decision values of shape (..., c): shape (...).

    One column decides by its sign (a zero is the first class), several by the largest value.
    """
    if decision.shape[-1] == 1:
        return (decision[..., 0] > 0).astype(np.intp)
    return decision.argmax(axis=-1)


def accuracy_pct(y_true, y_predicted) -> float:
    """Share of equal labels in percent.

    Like all scores below it takes two arrays of one shape (n,), n >= 1, and raises ``ValueError`` for others: they
    would be broadcast to a number that means nothing.
    """
    y_true, y_predicted = _pair(y_true, y_predicted)
    return float(100.0 * np.mean(y_true == y_predicted))


def error_pct(y_true, y_predicted) -> float:
    """Share of labels that differ, in percent."""
    y_true, y_predicted = _pair(y_true, y_predicted)
    return float(100.0 * np.mean(y_true != y_predicted))


def mse(y_true, y_predicted) -> float:
    """Mean squared error, in the squared unit of the target."""
    y_true, y_predicted = _pair(y_true, y_predicted, np.float64)
    return float(np.mean((y_true - y_predicted) ** 2))


def rmse(y_true, y_predicted) -> float:
    """Root of the mean squared error, in the unit of the target."""
    return float(np.sqrt(mse(y_true, y_predicted)))


def relative_error(y_true, y_predicted) -> float:
    """``|y - f| / |y|``, Euclidean norms over all rows, without unit; ``ValueError`` where all targets are zero."""
    y_true, y_predicted = _pair(y_true, y_predicted, np.float64)
    length = np.linalg.norm(y_true)
    if length == 0:
        raise ValueError("all targets are zero: there is no error relative to them")
    return float(np.linalg.norm(y_true - y_predicted) / length)


def _pair(y_true, y_predicted, dtype=None):
    y_true, y_predicted = np.asarray(y_true, dtype=dtype), np.asarray(y_predicted, dtype=dtype)
    if y_true.ndim != 1 or y_true.shape != y_predicted.shape or y_true.size == 0:
        raise ValueError(
            f"targets and predictions must have one shape (n,), got {y_true.shape} and {y_predicted.shape}"
        )
    return y_true, y_predicted
