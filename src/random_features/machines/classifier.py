"""The kernel machine for classes."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets

from random_features.arrays import check_numbers
from random_features.errors import check_choice
from random_features.learners.targets import class_index, log_partition
from random_features.machines.base import LOSSES, KernelMachine, Unless, not_in_parts
from random_features.tensors import like, namespace, on_host


def without_probabilities(machine) -> str:
    """Return why a machine knows no probabilities, or an empty text."""
    is_logistic = getattr(machine, "loss_", machine.loss) == "logistic"
    return "" if is_logistic else "predict_proba needs loss='logistic', or CalibratedClassifierCV"


class KernelMachineClassifier(ClassifierMixin, KernelMachine):
    r"""A kernel machine for classes, on random features or on the exact kernel.

    Columns of -1 and +1, one for each class (one for two classes), are the targets of ridge regression or of support
    vector machines; logistic regression is multinomial. All losses are means over the rows, by their weights. The
    intercept of an exact kernel is the mean of the targets.

    Parameters
    ----------
    features, penalties, random_state : as for ``KernelMachineRegressor``
    loss : {"squared", "logistic", "squared_hinge"}, default "squared"
        "squared" adds :math:`\lambda \|w\|^2` to the mean loss, the others half of it; "squared_hinge" is LinearSVC's
        with :math:`C = 1 / (n \lambda)` and no intercept. An exact kernel has the squared loss only.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes, which multiply the weights of the rows. "balanced" gives all classes the same total.
    scoring : {"accuracy", "squared_error", "log_loss"} or None, default None
        What compares penalties on held-out rows, with the weights of the rows: shares of right classes, or the
        loss ("log_loss" for "logistic", "squared_error" for the others). None is "log_loss" or "accuracy". Penalties of
        equal accuracy are compared by the loss.

    Attributes
    ----------
    classes_ : ndarray (c,)
    penalty_, map_, kernel_, model_ : as of ``KernelMachineRegressor``

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.kernels import Gaussian
    >>> from random_features.machines import KernelMachineClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> inside = (X**2).sum(axis=1) < 1
    >>> bool(KernelMachineClassifier(Gaussian(1.0), penalties=1e-5).fit(X, inside).score(X, inside) > 0.95)
    True
    """

    def __init__(self, features, penalties=1e-6, random_state=0, loss="squared", class_weight=None, scoring=None):
        super().__init__(features, penalties, random_state)
        self.loss = loss
        self.class_weight = class_weight
        self.scoring = scoring

    @property
    def _scores(self):
        proper = LOSSES[self.loss][0]
        scoring = self.scoring or ("log_loss" if self.loss == "logistic" else "accuracy")
        check_choice("scoring", scoring, ("accuracy", {"mse": "squared_error"}.get(proper, proper)))
        return ("accuracy", proper) if scoring == "accuracy" else (proper,)

    def fit(self, X, y, sample_weight=None):
        """Fit the machine to X (n, d), an array, csr matrix or tensor, the labels y (n,), and weights (n,) or None."""
        self._forget()
        X, y, weights = self._checked(X, _of_one_kind(on_host(y)), sample_weight)
        check_classification_targets(y)
        self.classes_, index = np.unique(y, return_inverse=True)
        self.loss_ = self.loss
        if len(self.classes_) < 2:
            raise ValueError(f"y holds one class, {self.classes_.tolist()[0]!r}: a classifier needs two")
        self.model_ = self._fit_columns(X, index, self._signs(index), self._with_class_weights(index, weights))
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Add rows to the ones that the machine was fitted to, as ``KernelMachineRegressor.partial_fit`` does.

        The first call needs all ``classes``; later ones may repeat them.
        """
        former = getattr(self, "classes_", None)
        goes_on = self._goes_on()
        classes = on_host(check_numbers(classes, "classes"))
        if goes_on and classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(f"classes={list(classes)} are not the classes of the first call, {self.classes_.tolist()}")
        X, y, weights = self._checked(X, _of_one_kind(on_host(y)), sample_weight, reset=not goes_on)
        if not goes_on:
            classes = former if classes is None else classes
            if classes is None or len(np.unique(classes)) < 2:
                raise ValueError("the first partial_fit needs all classes, at least two: classes=[...]")
            self.classes_, self.loss_ = np.unique(classes), self.loss
        if not (known := np.isin(y, self.classes_)).all():
            raise ValueError(f"y holds {y[~known].tolist()[0]!r}, which is not among the classes of the first call")
        index = np.searchsorted(self.classes_, y)
        self.model_, self.sums_ = self._add(X, self._signs(index), self._with_class_weights(index, weights))
        return self

    partial_fit = Unless(not_in_parts, partial_fit)

    def score(self, X, y, sample_weight=None):
        """Return the accuracy on X (n, d), by the labels y (n,) and weights (n,) or None."""
        y, weights = self._on_host(y, sample_weight)
        return accuracy_score(y, on_host(self.predict(X)), sample_weight=weights)

    def _signs(self, index):
        """Return columns of -1 and +1, one for each class, or one for two classes."""
        Y = np.where(index[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        return Y[:, 1:] if len(self.classes_) == 2 else Y

    def _with_class_weights(self, index, weights):
        if self.class_weight is None:
            return weights
        weights = np.ones(len(index)) if weights is None else weights
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            totals = np.bincount(index, weights)
            factors = totals.sum() / (len(totals) * totals)
        elif isinstance(self.class_weight, dict):
            labels = self.classes_.tolist()  # compute_class_weight of scikit-learn takes the text "1" for a number
            unknown = [each for each in self.class_weight if each not in labels]
            if unknown and not set(labels) <= set(self.class_weight):
                raise ValueError(f"class_weight has {unknown[0]!r}, and the classes of y are {labels[:10]}")
            factors = np.array([self.class_weight.get(label, 1.0) for label in labels], dtype=np.float64)
        else:
            raise ValueError(f"class_weight must be 'balanced', None or a dict by class, got {self.class_weight!r}")
        return weights * factors[index]

    def decision_function(self, X):
        """Return decision values for X (m, d): (m, c), or (m,) for two classes, above 0 for the second."""
        decision = self._decide(X)
        return decision if decision.shape[1] > 1 else decision[:, 0]

    def predict(self, X):
        """Return the predicted labels (n,) for X (n, d); of a tensor a tensor, unless they are text."""
        chosen = class_index(self._decide(X))
        if self.classes_.dtype.kind in "biuf":
            return like(self.classes_, chosen)[chosen]
        return self.classes_[on_host(chosen)]

    def predict_proba(self, X):
        """Return the probabilities of the classes (m, c) for X (m, d), with ``loss="logistic"``."""
        decision = self._decide(X)
        logs, xp = decision - log_partition(decision), namespace(decision)
        return xp.exp(logs if decision.shape[1] > 1 else xp.concatenate([logs - decision, logs], 1))

    predict_proba = Unless(without_probabilities, predict_proba)


def _of_one_kind(y):
    """Return labels; ``ValueError`` if some are missing, or some are text and others not, which NumPy makes text."""
    may_mix = isinstance(y, list | tuple) or getattr(getattr(y, "dtype", None), "kind", "") == "O"
    if may_mix and any(label is None or (str(label) in ("nan", "<NA>") and not isinstance(label, str)) for label in y):
        raise ValueError("y has missing labels: leave their rows out, or give them a class of their own")
    if may_mix and len({isinstance(label, str) for label in y}) > 1:
        raise ValueError("y mixes text and other labels: make all of them text, [str(label) for label in y]")
    return y
