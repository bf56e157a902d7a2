"""The common part of the kernel machines: parameters, the choice of the penalty, coefficients, decision values."""

import warnings
from copy import deepcopy
from functools import partial
from numbers import Integral

import numpy as np
import torch
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from random_features import tensors
from random_features.arrays import check_numbers, check_same_columns, gains_on_gpu, generator_of, is_sparse, row_blocks
from random_features.errors import check_choice, suggestion
from random_features.kernels.base import Kernel
from random_features.learners.gram import fit_kernel_ridge, ridge_scores_on_gram
from random_features.learners.kernel_ridge import fit_kernel_ridge_by_tiles, predict_by_tiles
from random_features.learners.logistic import cross_validate_logistic, fit_logistic
from random_features.learners.penalties import check_grid, effective_penalties, inner_penalty
from random_features.learners.ridge import cross_validate_ridge, fit_ridge, ridge_sums, solve_ridge
from random_features.learners.svm import cross_validate_svm, fit_svm
from random_features.learners.targets import as_weights
from random_features.maps.base import RandomFeatureMap
from random_features.maps.registry import REGISTRY
from random_features.maps.stated import BY_NAME, as_kernel
from random_features.pivoted_cholesky import kernel_matrix
from random_features.tensors import from_library, like, on_host

#: Rows whose kernel values are computed at once.
BLOCK_ROWS = 2048

#: Rows up to which the matrix of an exact kernel is held, 2.4 GB with its copies. With more rows, conjugate
#: gradients compute it in every step, until the residual is smaller than the tolerance.
MOST_HELD, TOLERANCE = 10_000, 1e-4

#: Parts of the rows that choose the penalty: each of ``FOLDS`` is held out once; of an exact kernel one part only.
FOLDS = 3


#: The losses of machines with a map: the proper score that compares penalties of equal accuracy, the functions that fit
#: and that cross-validate, and their options. LIBLINEAR's tolerance would leave a row of weight 2 and the row twice
#: 1e-4 apart.
LOSSES = {
    "squared": ("mse", fit_ridge, cross_validate_ridge, {"center": "both"}),
    "logistic": ("log_loss", fit_logistic, cross_validate_logistic, {"intercept": "unpenalised"}),
    "squared_hinge": ("mse", fit_svm, cross_validate_svm, {"solver": "newton"}),
}


def as_given(values, X):
    """Return values as a tensor on the device of X where this is a tensor, or of another library; else as an array."""
    return like(values, from_library(X))


class Unless:
    """A method that exists unless a function of the machine returns why not; the ``AttributeError`` says it."""

    def __init__(self, refused, method):
        self.refused, self.method = refused, method

    def __get__(self, machine, owner=None):
        if machine is not None and (reason := self.refused(machine)):
            raise AttributeError(reason)
        return self.method.__get__(machine, owner)


def not_in_parts(machine) -> str:
    """Return why a machine cannot learn from one part of the rows after the other, or an empty text."""
    if not machine._has_map() or REGISTRY[machine.features.method].data_dependent:
        return "partial_fit needs a map that learns nothing from data, such as make_map('orf', Gaussian(1.0))"
    if np.size(machine.penalties) != 1:
        return "partial_fit needs one penalty: choose it by fit on some of the rows"
    if getattr(machine, "loss", "squared") != "squared" or isinstance(getattr(machine, "class_weight", None), str):
        return "partial_fit needs loss='squared', whose sums add up, and a class_weight that is not 'balanced'"
    return ""


class KernelMachine(BaseEstimator):
    """The common part of the classifier and the regressor."""

    loss = "squared"
    #: The scores that compare penalties: equal ones by the next.
    _scores = ("mse",)

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
            self.features = self._kernel().with_params(**stated)
        return self

    def _kernel(self):
        """Return the exact kernel as it was stated; ``TypeError`` for anything else."""
        try:
            return as_kernel(self.features)
        except TypeError:
            got, hint = self.features, "put other transformers in front, in a pipeline"
            if isinstance(got, str):
                hint = f"make_map({got!r}) is a map" if got in REGISTRY else suggestion(got, BY_NAME)
            elif isinstance(got, type) and issubclass(got, RandomFeatureMap | Kernel):
                hint = f"write {got.__name__}()"
            where = "a map of make_map or a kernel of random_features.kernels"
            raise TypeError(f"features must be {where}, got {got!r}: {hint}") from None

    def _has_map(self):
        return isinstance(self.features, RandomFeatureMap)

    def _forget(self):
        """Forget an earlier fit, so that one that fails leaves a machine that is not fitted, and no mixture."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _checked(self, X, y, sample_weight, reset=True, **checks):
        """Return X where it is computed with, y and the weights of the rows (or None), without rows of weight 0.

        X is a tensor on a device, or an array or csr matrix; y and the weights are arrays. Only a later part, without
        ``reset``, may have no other rows.
        """
        y, sample_weight = self._on_host(y, sample_weight)
        X = self._rows(X, getattr(self.features, "n_components", 0) ** 2, reset=reset)
        y = tensors.checked_targets(y, X.shape[0], **checks)
        weights = as_weights(sample_weight, X.shape[0], all_zero=not reset)
        if weights is None or weights.all():
            return X, y, weights
        if self.__sklearn_tags__().input_tags.pairwise:
            raise ValueError("kernel='precomputed' takes no rows of weight 0: leave them out of the matrix")
        return X[weights > 0], y[weights > 0], weights[weights > 0]

    @staticmethod
    def _on_host(y, sample_weight):
        """Return targets and the weights of their rows as arrays; errors are as in ``check_numbers``."""
        return on_host(check_numbers(y, "y")), on_host(check_numbers(sample_weight, "sample_weight"))

    def _rows(self, X, products=0, *, reset=False):
        """Return rows X (n, d) after the checks, where they are computed with: a tensor, an array or a csr matrix."""
        if not reset:
            check_is_fitted(self, "model_")
        X = tensors.checked_rows(self, X, getattr(self.features, "device", "auto"), reset=reset)
        if not isinstance(X, torch.Tensor):
            return self._placed(X, products)
        tensors.check_finite(X)
        return X.detach()

    def _placed(self, X, products):
        """Return X, or an array X as a tensor on the GPU that the map states, or that gains by so many products."""
        stated = getattr(self.features, "device", "cpu")
        gains = stated != "auto" or gains_on_gpu(*X.shape, products)
        device = tensors.resolve_device(stated if gains and not is_sparse(X) else "cpu")
        return X if device.type == "cpu" else tensors.as_tensor(X, device)

    def _fit_columns(self, X, y, Y, weights):
        """Learn the features and the penalty for the columns of Y (n, c), and return the model.

        Who calls it sets ``model_`` last: a fit that fails leaves a machine that is not fitted.
        """
        Y = like(Y, X)
        check_choice("loss", self.loss, LOSSES)
        penalties = check_grid(self.penalties, "penalties", zero_allowed=self.loss == "squared")
        if len(penalties) > 1 and len(Y) < 2:
            raise ValueError("1 sample cannot choose among penalties: state one penalty, or give more rows")
        groups = self._groups(y, len(penalties) > 1 and hasattr(self, "classes_"))
        if hasattr(self, "classes_"):
            y = np.char.mod("class %09d", y)  # a text is a label, a number may be taken for a value
        if self._has_map():
            check_same_columns(self, getattr(self.features, "landmarks", None), "landmarks")
            features = clone(self.features)
            if getattr(features, "task", "") == "auto":
                features.set_params(task="classification" if hasattr(self, "classes_") else "regression")
            self.map_ = features.fit(X, y)
            of_folds = [(features, groups)]
            one_by_one = [np.where(groups == fold, 0, -1) for fold in np.unique(groups)]
            if len(penalties) > 1 and self._learns_from_targets():
                of_folds = [(clone(features).fit(X[fold < 0], y[fold < 0]), fold) for fold in one_by_one]
            elif self.loss == "squared_hinge":
                of_folds = [(features, fold) for fold in one_by_one]
            fit, scores_of = self._on_features(X, Y, penalties, of_folds, weights)
        elif self.loss != "squared":
            raise ValueError(f"loss={self.loss!r} needs a map, such as make_map('nystroem', kernel)")
        else:
            fit, scores_of = self._on_kernel(X, y, Y, penalties, groups, weights)
        chosen = inner_penalty(scores_of, penalties, self._scores) if len(penalties) > 1 else penalties[0]
        self.penalty_ = float(chosen)
        model = fit(self.penalty_)
        if not model.converged:
            warnings.warn(f"{model.solver} stopped before it met its tolerance", ConvergenceWarning, stacklevel=3)
        return model

    def _groups(self, y, stratified):
        """Return the part of each row (n,): random ones, by class where a class would be in one of them only."""
        rng = np.random.default_rng if isinstance(self.random_state, Integral) else generator_of
        groups = rng(self.random_state).integers(0, FOLDS, len(y))
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

    def _values(self, X):
        """Yield (slice, features or kernel values with the training rows) of blocks of rows of X (n, d)."""
        if hasattr(self, "map_"):
            return self.map_.transform_blocks(X)
        return ((rows, kernel_matrix(self.kernel_, X[rows], self.X_)) for rows in row_blocks(X.shape[0], BLOCK_ROWS))

    def _sums(self, X, Y, weights):
        """Return the ``Sums`` of the features of X (n, d) with targets Y (n, c)."""
        stream = partial(self.map_.transform_blocks, X)
        return ridge_sums(stream, like(Y, X), n_columns=self.map_.n_columns_, weights=weights)

    def _learns_from_targets(self) -> bool:
        """Return whether the features are learned from targets: on the rows that they saw, they predict too well."""
        kernel = self.features._kernel_object() if self._has_map() else self._kernel()
        return getattr(self.features, "_requires_y", False) or getattr(kernel, "length_scale", None) == "ard"

    def _on_features(self, X, Y, penalties, of_folds, weights):
        """Return functions of a penalty, that fits, and of a score, whose values on held-out rows it returns.

        ``of_folds`` are fitted maps with the folds (n,) that they serve.
        """
        _, fit, cross_validate, options = LOSSES[self.loss]
        of_rows = np.ones(len(Y)) if weights is None else weights

        def setting(penalty, held_out=-1):
            """Return the penalty, or C of a support vector machine, whose loss is a sum over the rows that train."""
            total = (of_rows * (held_out == -1)).sum()
            return 1.0 / (total * penalty) if self.loss == "squared_hinge" else penalty

        def by(learner, phi, penalty, *folds, **how):
            how |= {"n_columns": phi.n_columns_, "weights": weights, **options}
            return learner(partial(phi.transform_blocks, X), Y, setting(penalty, *folds), *folds, **how)

        def scores(score):
            return np.hstack([by(cross_validate, phi, penalties, folds, score=score) for phi, folds in of_folds])

        return lambda penalty: by(fit, self.map_, penalty), scores

    def _on_kernel(self, X, y, Y, penalties, groups, weights):
        """Return the functions of ``_on_features`` for the exact kernel."""
        self.kernel_, self.X_ = self._kernel().completed_by(X, y), deepcopy(X)
        if X.shape[0] > MOST_HELD:
            if len(penalties) > 1:
                raise ValueError(
                    f"the exact kernel of more than {MOST_HELD:,} rows needs one penalty: choose it on fewer"
                )
            how = {"tolerance": TOLERANCE, "weights": weights}
            return lambda penalty: fit_kernel_ridge_by_tiles(self.kernel_, X, Y, penalty, **how), None
        K = compared = kernel_matrix(self.kernel_, X)
        folds = np.where(groups == 0, 0, -1)  # one part: each penalty costs a factorisation
        trains = folds < 0
        if len(penalties) > 1 and self._learns_from_targets():
            compared = kernel_matrix(self._kernel().completed_by(X[trains], y[trains]), X)
        total = (trains if weights is None else weights[trains]).sum()
        shifts = [effective_penalties(penalties, total, "mean", 1)]
        return (
            lambda penalty: fit_kernel_ridge(K, Y, penalty, weights=weights),
            lambda score: ridge_scores_on_gram(compared, Y, shifts, folds, trains[:, None], score, "targets", weights),
        )

    def _add(self, X, Y, weights):
        """Return the model of all rows so far and their sums. Who calls it keeps both last."""
        sums = getattr(self, "sums_", None)
        if sums is not None and not (len(Y) if weights is None else weights.any()):
            return self.model_, sums
        if sums is None:
            map_ = clone(self.features).fit(X)
            if map_.learned_:
                raise ValueError("partial_fit needs a kernel that waits for no data: state its length scale")
            self.map_, self.penalty_ = map_, float(check_grid(self.penalties, "penalties", zero_allowed=True)[0])
        new = self._sums(X, Y, weights)
        sums = new if sums is None else sums + new
        return solve_ridge(sums, self.penalty_), sums

    def _goes_on(self) -> bool:
        """Return whether ``partial_fit`` was called before; if not, forget a ``fit``, and note the parameters.

        ``ValueError`` if they have changed since.
        """
        stated = self._stated()
        if not hasattr(self, "sums_"):
            if hasattr(self, "model_"):
                warnings.warn("partial_fit begins anew, without the rows of fit: call it for them, too", stacklevel=3)
            self._forget()
            self.stated_ = stated
            return False
        if changed := [name for name in stated if stated[name] != self.stated_.get(name)]:
            raise ValueError(
                f"{', '.join(changed)} changed since the first partial_fit: clone the machine to begin anew"
            )
        return True

    def _stated(self) -> dict[str, str]:
        """Return the parameters but for seeds as texts, which are equal for equal values."""
        params = self.get_params() | {"features": type(self.features), "penalties": np.ravel(self.penalties).tolist()}
        params |= {name: sorted(value.items(), key=repr) for name, value in params.items() if isinstance(value, dict)}
        return {name: repr(value) for name, value in params.items() if not name.endswith("random_state")}

    def _decide(self, given):
        """Return the decision values (n, c) of the rows of X (n, d), a tensor of a tensor."""
        X = self._rows(given)
        if not hasattr(self, "map_") and len(self.model_.coef) > MOST_HELD:
            return as_given(predict_by_tiles(self.kernel_, self.X_, self.model_, X), given)
        decisions = (self.model_.decision(values) for _, values in self._values(X))
        return as_given(tensors.concatenated(decisions), given)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._has_map() and self.features.__sklearn_tags__().input_tags.pairwise
        return tags
