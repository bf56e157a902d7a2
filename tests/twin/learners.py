"""The learners of the naive twin: every model fitted on its own, on a matrix that is there as a whole."""

from collections.abc import Callable

import numpy as np
from linear_problems import l1_svm, ridge, svm

#: Of a learner: the option that holds its grid, what a row calls the chosen value, and the distance from the boundary,
#: as a share of the largest decision value, below which rounding (or the tolerance of a solver) may change the class.
GRID = {"ridge": "penalties", "svm": "C", "l1_svm": "C"}
CHOSEN = {"ridge": "penalty", "svm": "C", "l1_svm": "C"}
UNSURE = {"ridge": 1e-4, "svm": 2e-3, "l1_svm": 2e-3}


def train(learner: str, options: dict, Z: np.ndarray, Y: np.ndarray, value: float) -> Callable:
    """The function from features to decision values that a learner finds with this penalty, or C."""
    return {"ridge": ridge, "svm": svm, "l1_svm": l1_svm}[learner](options, Z, Y, value)


def coded(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels as columns of -1 and +1, one for two classes (+1 sorts last), else one per class; and the classes."""
    classes = np.unique(y)
    positives = classes[1:] if len(classes) == 2 else classes
    return np.where(y[:, None] == positives, 1.0, -1.0), classes


def predicted(decision: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The class of every row: by the sign of a single column, else by the largest."""
    return classes[(decision[:, 0] > 0).astype(int)] if decision.shape[1] == 1 else classes[decision.argmax(axis=1)]


def accuracy(y: np.ndarray, labels: np.ndarray) -> float:
    """Percent of equal labels."""
    return 100 * np.mean(y == labels)


def doubtful(learner: str, decision: np.ndarray) -> float:
    """Percent of rows whose class hangs on rounding."""
    unsure = margins(decision) < UNSURE[learner] * np.abs(decision).max()
    return 100 * np.mean(unsure) + 1e-9


def margins(decision: np.ndarray) -> np.ndarray:
    """Return how far each row is from another class."""
    if decision.shape[1] == 1:
        return np.abs(decision[:, 0])
    ordered = np.sort(decision, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def cross_validated(learner: str, options: dict, Z: np.ndarray, y: np.ndarray, fold: np.ndarray) -> dict:
    """The accuracies of all folds by value of the grid; NaN where there is no model."""
    of_folds = [scored_on(learner, options, Z, y, fold == k) for k in range(fold.max() + 1)]
    return {value: [scores[value] for scores in of_folds] for value in options[GRID[learner]]}


def scored_on(
    learner: str, options: dict, Z: np.ndarray, y: np.ndarray, held_out: np.ndarray, seen: np.ndarray | None = None
) -> dict[float, float]:
    """Return the accuracy on held-out rows of what the ``seen`` rows train, by default all others, by value of the
    grid; NaN where there is no model.
    """
    (Y, classes), scores, seen = coded(y), {}, ~held_out if seen is None else seen
    for value in options[GRID[learner]]:
        try:
            decide = train(learner, options, Z[seen], Y[seen], value)
            scores[value] = accuracy(y[held_out], predicted(decide(Z[held_out]), classes))
        except np.linalg.LinAlgError:
            scores[value] = np.nan
    return scores


def best(scores: dict[float, list[float]], choice: str = "best") -> float:
    """The value with the best mean score, of equal ones the largest (for the other choice, of those within a standard
    error of the best); ``LinAlgError`` where none has a score in every fold.
    """
    known = {value: np.mean(of_folds) for value, of_folds in scores.items() if not np.isnan(np.sum(of_folds))}
    if not known:
        raise np.linalg.LinAlgError("singular")
    top, margin = max(known, key=known.get), 1e-9
    if choice == "one_standard_error":
        margin += np.std(scores[top], ddof=1) / len(scores[top]) ** 0.5
    return max(value for value, score in known.items() if score > known[top] - margin)


def best_regular(learner: str, options: dict, Z: np.ndarray, Y: np.ndarray, scores: dict):
    """The value with the best score that has a solution on all rows, and the model; others lose their score."""
    while True:
        value = best(scores, options.get("choice", "best"))
        try:
            return value, train(learner, options, Z, Y, value)
        except np.linalg.LinAlgError:
            scores[value] = [np.nan]


def at_edge(value: float, scores: dict[float, list[float]]) -> bool | None:
    """Return None if a smaller and a larger value of a grid have a score in every fold; else whether the last step
    gains more than its standard error.
    """
    known = sorted(other for other, of_folds in scores.items() if not np.isnan(np.sum(of_folds)))
    if len(scores) == 1 or value not in (known[0], known[-1]):
        return None
    if len(known) == 1:
        return False
    steps = np.subtract(scores[value], scores[known[1] if value == known[0] else known[-2]])
    error = np.std(steps, ddof=1) / len(steps) ** 0.5 if len(steps) > 1 else 0.0
    return bool(np.mean(steps) > error + 1e-9)
