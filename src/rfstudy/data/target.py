"""The target of a task: its encoding as columns of numbers, the predictions of decision values, and its scores.

| kind | a learner is given | a validation scores | metrics |
|---|---|---|---|
| binary | one column of -1 and +1 (+1 is the class that sorts last) | accuracy | accuracy_pct; error_pct |
| classes | a column a class, one against the rest (two classes: as binary) | accuracy | accuracy_pct; error_pct |
| regression | the numbers | mse | mse, rmse, relative_error, relative_squared_error_pct |
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass

import numpy as np

from random_features.learners.targets import class_index
from rfstudy import scores

KINDS = ("binary", "classes", "regression")

#: What predictions of labels, and of numbers, can be evaluated by.
OF_LABELS = {"accuracy_pct": scores.accuracy_pct, "error_pct": scores.error_pct}
OF_NUMBERS = {
    "mse": scores.mse,
    "rmse": scores.rmse,
    "relative_error": scores.relative_error,
    "relative_squared_error_pct": scores.relative_squared_error_pct,
}


def make_target(kind: str) -> Target:
    """The target of a kind: "binary", "classes" or "regression"; ``ValueError`` for another."""
    return Target(kind)


@dataclass(frozen=True)
class Target:
    """The target of a task; ``ValueError`` for a kind that does not exist.

    >>> target = Target("binary")
    >>> Y, classes = target.encode(["ham", "spam", "ham"])
    >>> Y.ravel()
    array([-1.,  1., -1.])
    >>> predicted = target.decode([[-0.3], [0.8], [0.1]], classes)
    >>> round(target.evaluate("accuracy_pct", ["ham", "spam", "ham"], predicted), 2)
    66.67
    """

    kind: str

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"a target is one of {', '.join(KINDS)}, got {self.kind!r}")

    @property
    def score(self) -> str:
        """What a validation goes by: "accuracy" (more is better) or "mse" (less is better)."""
        return "mse" if self.kind == "regression" else "accuracy"

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that are reported where none are asked for."""
        return tuple(OF_NUMBERS) if self.kind == "regression" else ("accuracy_pct",)

    def encode(self, y) -> tuple[np.ndarray, np.ndarray | None]:
        """Targets (n,) as float64 columns (n, c) for a learner, and the sorted classes, None of a regression.

        Raises ``ValueError`` for missing values, another shape, labels that are no integers or texts, and another
        number of classes than the kind has.
        """
        if self.kind == "regression":
            return encode_numbers(y), None
        columns, classes = encode_labels(y)
        if self.kind == "binary" and len(classes) != 2:
            raise ValueError(
                f"a binary target has two classes, the labels hold {len(classes)}: {classes[:10].tolist()}"
            )
        return columns, classes

    def decode(self, decision, classes) -> np.ndarray:
        """Predictions (n,) that belong to decision values (n, c): labels, or numbers where ``classes`` is None."""
        if self.kind != "regression":
            return decode_labels(decision, classes)
        decision = np.asarray(decision, dtype=np.float64)
        if decision.ndim != 2 or decision.shape[1] != 1 or classes is not None:
            raise ValueError(f"a regression predicts one column of numbers without classes, got shape {decision.shape}")
        return decision[:, 0]

    def evaluate(self, metric: str, y_true, predictions) -> float:
        """The value of a metric on targets and predictions (n,); ``ValueError`` for a metric that does not apply."""
        measures = OF_NUMBERS if self.kind == "regression" else OF_LABELS
        if metric not in measures:
            raise ValueError(f"{metric!r} is no metric of a {self.kind} target; known are {', '.join(measures)}")
        return measures[metric](y_true, predictions)


def encode_labels(y) -> tuple[np.ndarray, np.ndarray]:
    """Labels of shape (n,) as columns of -1 and +1.

    Returns
    -------
    columns : float64 ndarray of shape (n, 1) for two classes, (n, n_classes) for more
    classes : the sorted labels; what ``decode_labels`` takes

    Raises ``ValueError`` where labels are missing, or are neither integers (of any type, 1.0 among them) nor texts, and
    where there are fewer than two classes.

    >>> encode_labels(["ham", "spam", "ham"])[0].ravel()
    array([-1.,  1., -1.])
    """
    classes, index = np.unique(_labels(y), return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"a classifier needs two classes, the labels hold {classes.tolist()}")
    if len(classes) == 2:
        return 2.0 * index[:, None] - 1.0, classes
    return np.where(index[:, None] == np.arange(len(classes)), 1.0, -1.0), classes


def decode_labels(decision, classes) -> np.ndarray:
    """Labels (n,) that belong to decision values of shape (n, c); ``classes`` as ``encode_labels`` gave them.

    Raises ``ValueError`` for another number of columns, and for NaN, which decides nothing.
    """
    decision, classes = np.asarray(decision), np.asarray(classes)
    n_columns = 1 if len(classes) == 2 else len(classes)
    if decision.ndim != 2 or decision.shape[1] != n_columns:
        raise ValueError(f"{len(classes)} classes are decided by (n, {n_columns}) values, got shape {decision.shape}")
    if np.isnan(decision).any():
        raise ValueError("the decision values hold NaN")
    return classes[class_index(decision)]


def encode_numbers(y) -> np.ndarray:
    """Numbers of shape (n,) as a float64 column (n, 1).

    Raises ``ValueError`` for another shape, NaN or infinity, masked values, and for what are no numbers: complex ones,
    times and texts.
    """
    if np.asarray(y).dtype.kind not in "biufO" or np.ma.is_masked(y):
        raise ValueError(f"a regression target must be real numbers, none masked, got {np.asarray(y).dtype}")
    y = np.asarray(y, dtype=np.float64)
    if y.ndim != 1 or y.size == 0:
        raise ValueError(f"a regression target must have shape (n,) with n >= 1, got {y.shape}")
    if not np.isfinite(y).all():
        raise ValueError("the target holds NaN or infinity")
    return y[:, None]


def _labels(y):
    if np.ma.is_masked(y):
        raise ValueError("the labels hold masked values")
    whole, y = np.asarray(y), np.asarray(y) if isinstance(y, np.ndarray) else np.array(y, dtype=object)
    if whole.dtype.kind != "U":  # NumPy turns numbers in a list with texts into texts: such a list is checked as given
        y = whole
    if y.ndim != 1:
        raise ValueError(f"labels must have shape (n,), got {y.shape}")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("the labels hold NaN or infinity")
    odd = []
    if y.dtype.kind == "f":
        odd = y[y != np.rint(y)]
    elif y.dtype.kind == "O":  # as pandas keeps texts; a mixture of texts and numbers has no order
        sort = str if len(y) and isinstance(y[0], str) else numbers.Integral
        odd = [label for label in y if not isinstance(label, sort)]
    elif y.dtype.kind not in "biuSTU":
        odd = y
    if len(odd):
        raise ValueError(f"labels must be integers or texts, got {odd[0]!s}")
    return whole
