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


def accuracy_pct(y_true, y_predicted) -> float:
    """Share of equal labels in percent; the arrays have shape (n,)."""
    return float(100.0 * np.mean(np.asarray(y_true) == np.asarray(y_predicted)))
