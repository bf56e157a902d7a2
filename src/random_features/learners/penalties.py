"""Penalties: their grid, their scaling with the number of rows, and the choice of one from held-out scores."""

import numpy as np

from random_features.arrays import check_numbers
from random_features.errors import check_choice
from random_features.learners.scoring import gain
from random_features.tensors import on_host


def check_grid(grid, name: str, *, zero_allowed: bool = False) -> np.ndarray:
    """Return a grid of penalties or Cs as float64 (g,); ``ValueError`` unless finite and positive (zero if allowed)."""
    try:
        grid = on_host(check_numbers(grid, name))
        values = np.atleast_1d(np.asarray(grid, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} must be numbers, got {grid!r}: {error}") from None
    lowest = "non-negative" if zero_allowed else "positive"
    good = np.isfinite(values) & ((values >= 0) if zero_allowed else (values > 0))
    if values.ndim != 1 or values.size == 0 or not good.all():
        raise ValueError(f"{name} must be finite and {lowest}, and at least one, got {grid!r}")
    return values


def best_penalty(scores, grid, score: str = "accuracy", choice: str = "best") -> float:
    """Return the value of the grid with the best mean over the folds; the largest of equal ones.

    Parameters
    ----------
    scores : ndarray of shape (len(grid), n_folds), as the ``cross_validate_...`` functions return it
    grid : the penalties (or Cs) of the rows, in any order
    score : "accuracy" (more is better) or "mse" (less is better)
    choice : "best", or "one_standard_error": the largest value whose mean is within one standard error, over the folds,
        of the best one's (Breiman et al. 1984, section 3.4.3): where the score is flat, the simpler model

    Raises
    ------
    ValueError
        Shapes that do not match.
    numpy.linalg.LinAlgError
        No value is left.

    Notes
    -----
    Ties go to the larger value, as in the cross-validation code of the survey's group; the standard error is the
    smaller one's. Means that differ by rounding only (1e-12 relative) are equal. A value whose score is NaN in a fold
    (a singular system) is not chosen.

    Examples
    --------
    >>> best_penalty([[90.0, 80.0], [80.0, 90.0], [70.0, 70.0]], [0.1, 1.0, 10.0])
    1.0
    >>> best_penalty([[92.0, 80.0], [80.0, 90.0], [70.0, 70.0]], [0.1, 1.0, 10.0], choice="one_standard_error")
    1.0
    """
    check_choice("choice", choice, ("best", "one_standard_error"))
    scores, grid = np.asarray(scores, dtype=np.float64), np.asarray(grid, dtype=np.float64)
    if grid.ndim != 1 or scores.ndim != 2 or len(scores) != len(grid) or scores.size == 0:
        raise ValueError(f"scores {scores.shape} do not belong to a grid of shape {grid.shape}")
    scores, grid = scores[np.argsort(grid)], np.sort(grid)
    means = gain(scores.mean(axis=1), score)
    best = _best(means, grid)
    margin = 1e-12 * abs(best)
    if choice == "one_standard_error" and scores.shape[1] > 1:
        margin += scores[np.nanargmax(means)].std(ddof=1) / np.sqrt(scores.shape[1])
    return float(grid[means >= best - margin].max())


def _best(means, grid) -> float:
    """Return the best of means that may be NaN; ``LinAlgError`` if all are."""
    best = np.max(means, where=~np.isnan(means), initial=-np.inf)
    if best == -np.inf:
        raise np.linalg.LinAlgError(f"the system is singular at every value of the grid {list(grid)}")
    return best


def inner_penalty(scores_of, grid, scores) -> float:
    """Return the value of a grid with the best mean over the folds, where equal ones never leave an end to chance.

    Parameters
    ----------
    scores_of : callable
        A score -> held-out scores (len(grid), n_folds).
    grid : ndarray (g,)
    scores : names of scores
        Values that are equal by one are compared by the next. The middle of values that are equal by all is chosen,
        an end of the grid only if it is alone.

    Examples
    --------
    >>> table = {"accuracy": [[97], [96], [97], [97]], "mse": [[0.1], [0.2], [0.2], [0.4]]}
    >>> inner_penalty(table.get, [1e-6, 1e-4, 1e-2, 1.0], ["accuracy", "mse"])
    1e-06
    >>> inner_penalty(table.get, [1e-6, 1e-4, 1e-2, 1.0], ["accuracy"])
    0.01
    """
    left = np.argsort(grid)
    ends = left[[0, -1]]
    for score in scores:
        means = gain(np.mean(scores_of(score), axis=1), score)[left]
        best = _best(means, grid)
        left = left[means >= best - 1e-12 * abs(best)]
        if len(left) == 1:
            return float(grid[left[0]])
    inner = [each for each in left if each not in ends] or left
    return float(grid[inner[len(inner) // 2]])


def edge_of(value: float, grid, scores, score: str = "accuracy") -> bool | None:
    """Return None if a chosen value is inside its grid; at an edge, return whether the last step still gains.

    The last step gains if its score improves by more than one standard error over the folds; with one fold, if it
    improves. A wider grid might then change the choice. The grid has the values with a score in every fold, ``scores``
    (len(grid), n_folds). A grid of one value has no edge.

    >>> grid = [0.1, 1.0, 10.0]
    >>> edge_of(0.1, grid, [[90, 91], [80, 82], [70, 70]]), edge_of(0.1, grid, [[80, 90], [84, 85], [70, 70]])
    (True, False)
    >>> edge_of(1.0, grid, [[80], [90], [85]]), edge_of(1.0, grid, [[float("nan")], [90], [85]])
    (None, True)
    >>> grid, scores = [10.0, 0.1, 1.0, 0.01], [[1.0, 2.0], [3.0, 4.0], [1.0, 1.0], [float("nan"), 5.0]]
    >>> [[edge_of(value, grid, scores, score) for value in grid[:3]] for score in ("accuracy", "mse")]
    [[False, True, None], [False, False, None]]
    >>> edge_of(3.0, [3.0], [[1.0]])

    Steps of 0 and 2 have the mean 1, which is their standard error.

    >>> [edge_of(0.1, [0.1, 1.0], [[5.0 + more, 7.0 + more], [5.0, 5.0]]) for more in (0.0, 0.01)]
    [False, True]
    """
    values, scores = np.asarray(grid, dtype=np.float64), gain(scores, score)
    order = np.argsort(values)
    order = order[~np.isnan(scores[order]).any(axis=1)]
    if len(grid) == 1 or value not in values[order[[0, -1]]]:
        return None
    if len(order) == 1:  # the others have no solution
        return False
    last, inner = order[:2] if value == values[order[0]] else order[:-3:-1]
    steps = scores[last] - scores[inner]
    error = steps.std(ddof=1) / np.sqrt(len(steps)) if len(steps) > 1 else 0.0
    return bool(steps.mean() > error * (1 + 1e-9))  # one fold alone that improves gains its standard error


def effective_penalties(penalties, n_rows: int, scaling: str, n_columns: int) -> np.ndarray:
    """Return the number added to the diagonal of Z'Z, Z of shape (n, D), with D = ``n_columns``.

    It is n penalty for the scaling "mean", penalty for "sum" and penalty / D for "per_column"; ``ValueError`` for any
    other scaling, and for a product over 1.8e308.
    """
    return scaled_grid(penalties, "penalty", scaling, {"mean": n_rows, "sum": 1.0, "per_column": 1.0 / n_columns})


def scaled_grid(values, name: str, scaling: str, factors: dict) -> np.ndarray:
    """Return penalties or Cs (g,) times the factor of a scaling; ``ValueError`` for a product that is not finite."""
    check_choice("scaling", scaling, factors)
    with np.errstate(over="ignore"):
        scaled = np.asarray(values, dtype=np.float64) * factors[scaling]
    if not np.isfinite(scaled).all():
        raise ValueError(f"{name} times {factors[scaling]:g}, by its {scaling=}, must be finite, got {values!r}")
    return scaled
