"""The target of a task: its encoding as columns of numbers, the predictions of decision values, and its scores.

| kind | a learner gets | a validation scores | metrics |
|---|---|---|---|
| binary | one column of -1 and +1 (+1 is the class that sorts last) | accuracy | accuracy_pct; error_pct, auc_pct |
| classes | a column per class, one against the rest (two classes: as binary) | accuracy | accuracy_pct; error_pct |
| regression | the numbers | mse | mse, rmse, relative_error, relative_squared_error_pct |
"""

from dataclasses import dataclass

import numpy as np

from random_features.learners.targets import as_columns, class_index
from rfstudy import scores
from rfstudy.metrics import OF_TARGET, problem_of_metric


@dataclass(frozen=True)
class Target:
    """The target of a task, by its kind.

    >>> target = Target("binary")
    >>> Y, classes = target.encode([3, 7, 3])
    >>> Y.ravel()
    array([-1.,  1., -1.])
    >>> predicted = target.decode([[-0.3], [0.8], [0.1]], classes)
    >>> round(target.evaluate("accuracy_pct", [3, 7, 3], predicted), 2)
    66.67
    """

    kind: str

    @property
    def score(self) -> str:
        """Return the score of validation: "accuracy" (more is better) or "mse" (less is better)."""
        return "mse" if self.kind == "regression" else "accuracy"

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the metrics that are reported by default."""
        return OF_TARGET[self.kind] if self.kind == "regression" else ("accuracy_pct",)

    def encode(self, y) -> tuple[np.ndarray, np.ndarray | None]:
        """Return targets (n,) as float64 columns (n, c) for a learner, and the sorted classes (None for a regression).

        Labels are as preprocessing writes them: integers, of a binary target two. Raise ``ValueError`` for a single
        class, and for numbers that are not finite.
        """
        if self.kind == "regression":
            return as_columns(y), None
        classes, index = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"a classifier needs two classes, the labels hold {classes.tolist()}")
        if len(classes) == 2:
            return 2.0 * index[:, None] - 1.0, classes
        return np.where(index[:, None] == np.arange(len(classes)), 1.0, -1.0), classes

    def decode(self, decision, classes) -> np.ndarray:
        """Return the predictions (n,) that belong to decision values (n, c): labels, or numbers without ``classes``.

        Raise ``ValueError`` for another number of columns, and for labels from NaN, which decides nothing.
        """
        decision = np.asarray(decision, dtype=np.float64)
        n_columns = 1 if classes is None or len(classes) == 2 else len(classes)
        if decision.ndim != 2 or decision.shape[1] != n_columns:
            raise ValueError(f"predictions need decision values (n, {n_columns}), got shape {decision.shape}")
        if classes is None:
            return decision[:, 0]
        if np.isnan(decision).any():
            raise ValueError("the decision values hold NaN")
        return classes[class_index(decision)]

    def evaluate(self, metric: str, y_true, predictions, decision=None) -> float:
        """Return a metric of targets and predictions (n,); of two classes also the area under the ROC curve of decision
        values (n, 1). Raise ``ValueError`` for a metric that does not apply.

        >>> labels = ["a", "b", "b", "c"], ["a", "b", "c", "c"]
        >>> [Target("classes").evaluate(metric, *labels) for metric in ("accuracy_pct", "error_pct")]
        [75.0, 25.0]

        Differences of 1, -2 and -2 have the squares 1, 4 and 4, and |y| is 5.

        >>> numbers = [3.0, 0.0, -4.0], [2.0, 2.0, -2.0]
        >>> found = [Target("regression").evaluate(metric, *numbers) for metric in ("mse", "rmse", "relative_error")]
        >>> np.testing.assert_allclose(found, [3.0, 3.0**0.5, 3 / 5], rtol=1e-15)
        """
        if problem := problem_of_metric(self.kind, metric):
            raise ValueError(problem)
        if metric == "auc_pct":
            return scores.auc_pct(y_true, np.ravel(decision))
        return getattr(scores, metric)(y_true, predictions)
