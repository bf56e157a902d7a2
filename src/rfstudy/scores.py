"""Error measures of kernel approximation and prediction, as published in the papers."""

import numpy as np

from random_features.errors import NotDefinedError, check_choice


def approximation_error(exact, approximate, norm: str = "frobenius", *, ridge: float | None = None) -> float:
    """Return the relative error of an approximate kernel matrix, ``|K - K~| / |K|``, or its spectral approximation
    factor.

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
    float, without unit; ``ValueError`` for matrices of two shapes or with NaN or infinity, and for K = 0
    """
    exact, approximate = np.asarray(exact, dtype=np.float64), np.asarray(approximate, dtype=np.float64)
    if exact.ndim != 2 or exact.shape != approximate.shape:
        raise ValueError(f"the matrices must have one shape (n, m), got {exact.shape} and {approximate.shape}")
    difference = exact - approximate
    if not np.isfinite(difference).all():
        raise ValueError("the matrices hold NaN or infinity")
    if (norm == "delta_spectral") != (ridge is not None):
        raise ValueError("the norm 'delta_spectral' needs a ridge, and no other norm takes one")
    if norm == "delta_spectral":
        import scipy.linalg  # only this norm needs it

        # the extreme eigenvalues of (K~ - K) v = e (K + r I) v are those of the whitened difference
        eigenvalues = scipy.linalg.eigh(difference, exact + ridge * np.eye(len(exact)), eigvals_only=True)
        return float(np.abs(eigenvalues).max())
    measures = {
        "frobenius": np.linalg.norm,
        "spectral": lambda A: np.linalg.norm(A, 2),
        "sup": lambda A: np.abs(A).max(),
        "l2": lambda A: np.sqrt(np.mean(A**2)),
    }
    check_choice("norm", norm, [*measures, "delta_spectral"])
    measure = measures[norm]
    size = measure(exact) if exact.size else 0.0
    if not 0 < size < np.inf:
        raise ValueError(f"there is no error relative to a matrix of norm {size:g}")
    return float(measure(difference) / size)


def accuracy_pct(y_true, y_predicted) -> float:
    """Return the share of equal labels in percent.

    Like all scores below it takes two arrays of one shape (n,), n >= 1, without NaN or infinity, and raises
    ``ValueError`` for others, which would give a meaningless number.
    """
    y_true, y_predicted = _pair(y_true, y_predicted)
    return float(100.0 * np.mean(y_true == y_predicted))


def error_pct(y_true, y_predicted) -> float:
    """Return the share of labels that differ, in percent."""
    y_true, y_predicted = _pair(y_true, y_predicted)
    return float(100.0 * np.mean(y_true != y_predicted))


def auc_pct(y_true, decision) -> float:
    """Return the area under the ROC curve, in percent, of decision values (n,) that are larger for the larger of two
    labels. Raise ``NotDefinedError`` unless both are there.
    """
    from sklearn.metrics import roc_auc_score  # only this score needs it

    y_true, decision = _pair(y_true, decision)
    if len(np.unique(y_true)) != 2:
        raise NotDefinedError("the ROC curve needs two labels among the test rows")
    return float(100.0 * roc_auc_score(y_true, decision))


def mse(y_true, y_predicted) -> float:
    """Return the mean squared error, in the squared unit of the target."""
    y_true, y_predicted = _pair(y_true, y_predicted, np.float64)
    return float(np.mean((y_true - y_predicted) ** 2))


def rmse(y_true, y_predicted) -> float:
    """Return the root of the mean squared error, in the unit of the target."""
    return float(np.sqrt(mse(y_true, y_predicted)))


def relative_error(y_true, y_predicted) -> float:
    """Return ``|y - f| / |y|``, Euclidean norms over all rows, without unit. Raise ``ValueError`` if all targets are
    zero.
    """
    y_true, y_predicted = _pair(y_true, y_predicted, np.float64)
    if (length := np.linalg.norm(y_true)) == 0:
        raise ValueError("all targets are zero: there is no error relative to them")
    return float(np.linalg.norm(y_true - y_predicted) / length)


def relative_squared_error_pct(y_true, y_predicted) -> float:
    """Return ``100 |y - f|^2 / |y|^2``, in percent: the square of ``relative_error``, with the same ``ValueError``."""
    return 100.0 * relative_error(y_true, y_predicted) ** 2


def _pair(y_true, y_predicted, dtype=None):
    y_true, y_predicted = np.asarray(y_true, dtype=dtype), np.asarray(y_predicted, dtype=dtype)
    if y_true.ndim != 1 or y_true.shape != y_predicted.shape or y_true.size == 0:
        raise ValueError(
            f"targets and predictions must have one shape (n,), got {y_true.shape} and {y_predicted.shape}"
        )
    if any(y.dtype.kind == "f" and not np.isfinite(y).all() for y in (y_true, y_predicted)):
        raise ValueError("the targets or the predictions hold NaN or infinity")
    return y_true, y_predicted
