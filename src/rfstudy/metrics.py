"""Error measures of kernel approximation and prediction: the numbers that the papers print."""

from __future__ import annotations

import numpy as np


def approximation_error(exact, approximate, norm: str = "frobenius") -> float:
    """Relative error of an approximate kernel matrix, ``|K - K~| / |K|``.

    Parameters
    ----------
    exact, approximate : ndarray of shape (n, m)
    norm : "frobenius" (survey, section 6.1), "spectral" (slsrff, Figure 1), "sup" (largest entry) or
        "l2" (root mean square of the entries; the same ratio as "frobenius")

    Returns
    -------
    float, without unit
    """
    exact = np.asarray(exact, dtype=np.float64)
    difference = exact - np.asarray(approximate, dtype=np.float64)
    measures = {
        "frobenius": np.linalg.norm,
        "spectral": lambda A: np.linalg.norm(A, 2),
        "sup": lambda A: np.abs(A).max(),
        "l2": lambda A: np.sqrt(np.mean(A**2)),
    }
    if norm not in measures:
        raise ValueError(f"norm must be one of {', '.join(measures)}, got {norm!r}")
    measure = measures[norm]
    return float(measure(difference) / measure(exact))


def accuracy_pct(y_true, y_predicted) -> float:
    """Share of equal labels in percent; the arrays have shape (n,)."""
    return float(100.0 * np.mean(np.asarray(y_true) == np.asarray(y_predicted)))
