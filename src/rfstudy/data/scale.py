"""Preprocessing steps that are fitted on the training rows and applied to all.

A step is a name, or a mapping from its name to its parameters: ``minmax``, ``{pca: {n_components: 50}}``. It is a file
in ``steps/`` with a function ``fit(X_train, **parameters)`` that returns a callable (n, d) -> (n, d'), and, if d' is
not d, a function ``columns(d, **parameters)`` that returns it.

One convention for data without spread: a column that is constant in the training rows, or a row that is constant where
rows are standardised, becomes 0. Nothing was learned about its scale, and 0 adds nothing to an inner product or a
distance. (MATLAB's mapstd and mapminmax leave such a row or column as it is.) The arithmetic is float64 on blocks of
rows for any type of the data; float64 stays float64, everything else becomes float32.
"""

from collections.abc import Callable, Sequence

import numpy as np

from random_features.arrays import block_rows, row_blocks
from rfstudy.data.modules import load, step_of


def fit_steps(steps: Sequence[str | dict], X_train: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Fit preprocessing steps one after the other on the training rows.

    Parameters
    ----------
    steps : sequence of str or dict
        Names of files in ``steps/``, or mappings ``{name: parameters}``. A step is fitted on the training rows after
        the steps before it.
    X_train : ndarray (n_train, d), n_train >= 1

    Returns
    -------
    callable
        X (n, d) -> (n, ``columns_after(steps, d)``), float64 if X is, else float32. It does not clip: test rows outside
        the training range leave the interval.

    Raises
    ------
    ValueError
        Unknown step (``TypeError`` for another parameter).
    """
    fitted, widths = [], [X_train.shape[1]]

    def apply(X: np.ndarray) -> np.ndarray:
        result = np.empty((len(X), widths[-1]), dtype=np.float64 if X.dtype == np.float64 else np.float32)
        for rows in row_blocks(len(X), block_rows(8 * max(1, X.shape[1]))):
            block = X[rows].astype(np.float64)
            for step in fitted:
                block = step(block)
            result[rows] = block
        return result

    for step in steps:
        name, parameters = step_of(step)
        fitted.append(load("steps", name).fit(apply(X_train), **parameters))
        widths.append(columns_after([step], widths[-1]))
    return apply


def columns_after(steps: Sequence[str | dict], d: int) -> int:
    """Return the columns that a map sees: the number that the steps make of d. Raise ``ValueError`` if they cannot."""
    for name, parameters in map(step_of, steps):
        columns = getattr(load("steps", name), "columns", None)
        d = columns(d, **parameters) if columns else d
    return d
