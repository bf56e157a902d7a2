"""Kernel machines as scikit-learn estimators: ridge regression on random features, or on the exact kernel.

They join a map (or a kernel) with the ridge learners, which choose the penalty from a grid and never hold all features.
"""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from random_features.arrays import row_blocks
from random_features.learners.gram import fit_kernel_ridge, ridge_on_gram, scores_on_gram
from random_features.learners.kernel_ridge import fit_streamed_kernel_ridge, predict_streamed
from random_features.learners.penalties import best_penalty, check_grid, effective_penalties
from random_features.learners.ridge import cross_validate_ridge, fit_ridge
from random_features.maps.base import RandomFeatureMap
from random_features.maps.stated import as_kernel

#: Rows whose kernel values are computed at once.
BLOCK_ROWS = 2048

#: Rows up to which the matrix of an exact kernel is held, 2.4 GB with its copies. With more rows, conjugate
#: gradients compute it in every step, until the residual is smaller than the tolerance.
MOST_HELD, TOLERANCE = 10_000, 1e-4

#: Parts of the rows that choose the penalty: each of ``FOLDS`` is held out once; of an exact kernel one part only.
FOLDS = 3


class _KernelMachine(BaseEstimator):
    """The common part of the classifier and the regressor."""

    def __init__(self, features, penalties=1e-6, random_state=0):
        self.features = features
        self.penalties = penalties
        self.random_state = random_state

    def get_params(self, deep=True):
        """Return the parameters by name. Those of the kernel are ``kernel__...``, of a map and of an exact kernel."""
        params = super().get_params(deep=False)
        if deep and hasattr(self.features, "get_params") and not isinstance(self.features, type):
            for name, value in self.features.get_params(deep=True).items():
                of_kernel = name if self._has_map() else f"kernel__{name}"
                params[of_kernel if of_kernel.startswith("kernel__") else f"features__{name}"] = value
        return params

    def set_params(self, **params):
        """Set parameters by the names of ``get_params``; they take effect at the next ``fit``. Return the machine."""
        if "features" in params:
            self.features = params.pop("features")
        former = "features__kernel__" if self._has_map() else "features__"
        of_kernel, own = {}, {}
        for name, value in params.items():
            if name.startswith(former):
                now = f"kernel__{name.removeprefix(former)}"
                warnings.warn(f"{name} is now called {now}; the old name will go", FutureWarning, stacklevel=2)
                name = now
            (of_kernel if name.startswith("kernel__") else own)[name] = value
        super().set_params(**own)
        if of_kernel and self._has_map():
            self.features.set_params(**of_kernel)
        elif of_kernel:
            stated = {name.removeprefix("kernel__"): value for name, value in of_kernel.items()}
            self.features = self._kernel().set_params(**stated)
        return self

    def _kernel(self):
        """Return the exact kernel as it was stated; ``TypeError`` for anything else."""
        try:
            return as_kernel(self.features)
        except TypeError:
            raise TypeError(
                f"features must be a map of make_map or a kernel of random_features.kernels, got {self.features!r}:"
                " put other transformers in front, in a pipeline"
            ) from None

    def _has_map(self):
        return isinstance(self.features, RandomFeatureMap)

    def _forget(self):
        """Forget an earlier fit, so that one that fails leaves a machine that is not fitted, and no mixture."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _fit_columns(self, X, y, Y, score):
        """Learn the features, the penalty and the coefficients for the columns of Y (n, c)."""
        penalties = check_grid(self.penalties, "penalties", zero_allowed=True)
        if len(penalties) > 1 and len(Y) < 2:
            raise ValueError("one row cannot choose among penalties: state one penalty, or give more rows")
        groups = self._groups(y, len(penalties) > 1 and hasattr(self, "classes_"))
        if self._has_map():
            self._fit_map(X, y, Y, penalties, groups, score)
        else:
            self._fit_exact(X, Y, penalties, groups, score)
        return self

    def _groups(self, y, stratified):
        """Return the part of each row (n,): random ones, by class where a class would be in one of them only."""
        groups = np.random.default_rng(self.random_state).integers(0, FOLDS, len(y))
        groups[: 2 * FOLDS] = np.arange(2 * FOLDS)[: len(y)] % FOLDS
        for number in np.unique(y) if stratified else ():
            members = np.flatnonzero(y == number)
            if len(members) == 1:
                raise ValueError(
                    f"1 row of the class {self.classes_.tolist()[number]!r} cannot choose among penalties: state one"
                    " penalty, or leave the class out"
                )
            if (groups[members] == groups[members[0]]).all():
                groups[members] = np.arange(len(members)) % FOLDS
        return groups

    def _fit_map(self, X, y, Y, penalties, groups, score):
        self.map_ = clone(self.features).fit(X, y)
        how = {"n_columns": self.map_.n_columns_, "center": "both"}

        def blocks():
            return self.map_.transform_blocks(X)

        if len(penalties) > 1:
            scores = cross_validate_ridge(blocks, Y, penalties, groups, score=score, **how)
            penalties = [best_penalty(scores, penalties, score)]
        self.penalty_ = float(penalties[0])
        self.model_ = fit_ridge(blocks, Y, self.penalty_, **how)

    def _fit_exact(self, X, Y, penalties, groups, score):
        self.kernel_, self.X_ = self._kernel().completed_by(X), X.copy()
        self.penalty_ = float(penalties[0])
        if X.shape[0] > MOST_HELD:
            if len(penalties) > 1:
                raise ValueError(
                    f"the exact kernel of more than {MOST_HELD:,} rows needs one penalty: choose it on fewer"
                )
            self.model_ = fit_streamed_kernel_ridge(self.kernel_, X, Y, self.penalty_, tolerance=TOLERANCE)
            return
        K = self.kernel_(X).astype(np.float64, copy=False)
        if len(penalties) > 1:
            held_out = np.where(groups == 0, 0, -1)  # one part: each penalty costs a factorisation

            def fit(K, Y, fold):
                return ridge_on_gram(K, Y, effective_penalties(penalties, len(Y), "mean", 1), "targets", "nan")

            scores = scores_on_gram(K, Y, held_out, held_out[:, None] < 0, score, fit)
            self.penalty_ = float(best_penalty(scores, penalties, score))
        self.model_ = fit_kernel_ridge(K, Y, self.penalty_)

    def _decide(self, X):
        """Return the decision values (n, c) of the rows of X (n, d)."""
        check_is_fitted(self, "model_")
        X = validate_data(self, X, accept_sparse="csr", reset=False, dtype=[np.float64, np.float32])
        if hasattr(self, "map_"):
            blocks = (block for _, block in self.map_.transform_blocks(X))
        elif len(self.model_.coef) > MOST_HELD:
            return predict_streamed(self.kernel_, self.X_, self.model_, X)
        else:
            blocks = (self.kernel_(X[rows], self.X_) for rows in row_blocks(X.shape[0], BLOCK_ROWS))
        return np.concatenate([self.model_.decision(block) for block in blocks])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class KernelMachineRegressor(RegressorMixin, _KernelMachine):
    r"""Kernel ridge regression on random features, or on the exact kernel.

    It minimises :math:`\frac1n \|\phi(X) w + b - y\|^2 + \lambda \|w\|^2`.

    Parameters
    ----------
    features : a map of ``make_map``, or a kernel of ``random_features.kernels``
        ``kernel__length_scale`` is the length scale of either in a search. A kernel is used exactly. On more than
        10,000 rows its penalty must be one number, and conjugate gradients solve to a residual of 1e-4.
    penalties : float or array of floats, default 1e-6
        :math:`\lambda`, or the grid from which held-out rows choose it.
    random_state : int, default 0
        The seed of the parts of the rows that choose the penalty.

    Attributes
    ----------
    penalty_ : float
        The penalty in use.
    map_, kernel_ : the fitted map, where ``features`` is one, or the exact kernel
    model_ : LinearModel
        The coefficients.
    range_ : pair of floats
        The range of the training targets, to which predictions are clipped: far from all rows a small penalty leaves
        them undetermined.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features import make_map
    >>> from random_features.machines import KernelMachineRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (200, 1))
    >>> phi = make_map("orf", kernel="rbf", n_components=32, random_state=0)
    >>> machine = KernelMachineRegressor(phi, penalties=[1e-6, 1e-3]).fit(X, np.sin(X[:, 0]))
    >>> bool(machine.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """

    def fit(self, X, y):
        """Fit the machine to X (n, d), an array or csr matrix, and the targets y (n,)."""
        self._forget()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        self.range_ = float(y.min()), float(y.max())
        return self._fit_columns(X, y, y[:, None], "mse")

    def predict(self, X):
        """Return the predictions (n,) for X (n, d), clipped to the range of the training targets."""
        return np.clip(self._decide(X)[:, 0], *self.range_)


class KernelMachineClassifier(ClassifierMixin, _KernelMachine):
    """A classifier by kernel ridge regression on columns of -1 and +1, one for each class (one for two classes).

    Parameters and attributes are those of ``KernelMachineRegressor``, and ``classes_``.

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

    def fit(self, X, y):
        """Fit the machine to X (n, d), an array or csr matrix, and the labels y (n,)."""
        self._forget()
        X, y = validate_data(self, X, _of_one_kind(y), accept_sparse="csr", dtype=[np.float64, np.float32])
        check_classification_targets(y)
        self.classes_, index = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds one class, {self.classes_.tolist()[0]!r}: a classifier needs two")
        Y = np.where(index[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        Y = Y[:, 1:] if len(self.classes_) == 2 else Y
        return self._fit_columns(X, index, Y, "accuracy")

    def predict(self, X):
        """Return the predicted labels (n,) for X (n, d)."""
        decision = self._decide(X)
        return self.classes_[decision.argmax(axis=1) if decision.shape[1] > 1 else (decision[:, 0] > 0).astype(int)]


def _of_one_kind(y):
    """Return labels; ``ValueError`` if some are text and others are not, which NumPy would turn into text."""
    may_mix = isinstance(y, list | tuple) or getattr(getattr(y, "dtype", None), "kind", "") == "O"
    if may_mix and len({isinstance(label, str) for label in y}) > 1:
        raise ValueError("y mixes text and other labels: make all of them text, [str(label) for label in y]")
    return y
