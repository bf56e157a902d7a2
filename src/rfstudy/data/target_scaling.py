"""Scalings of the targets of a regression, fitted on the training targets of a repeat.

A scaling is a function of this file, named in ``datasets.yaml`` with its keyword arguments: ``target_scaling:
{interval: {low: -1, high: 1}}``. It returns the function that is applied to training and test targets. Errors are those
of the scaled targets.
"""

from collections.abc import Callable

import numpy as np

Scaling = Callable[[np.ndarray], np.ndarray]


def interval(y_train, *, low: float, high: float) -> Scaling:
    """Return the linear map that takes the range of training targets (n_train,) to [low, high].

    It does not clip: test targets outside the training range leave the interval. If all targets are equal, they become
    its middle.
    """
    least, most = float(y_train.min()), float(y_train.max())
    if least == most:
        return lambda y: np.full(len(y), (low + high) / 2)
    return lambda y: low + (high - low) * ((y - least) / (most - least))


def fitted(scaling: dict, y_train: np.ndarray) -> Scaling:
    """Return a scaling, a mapping from its name to its parameters, fitted on training targets (n_train,)."""
    ((name, parameters),) = scaling.items()
    return globals()[name](y_train, **parameters)
