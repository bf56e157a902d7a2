"""The kernel machine for numbers, and the Gaussian process of which it is the mean."""

from copy import copy, deepcopy
from functools import partial
from numbers import Integral

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.metrics import r2_score
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from random_features.arrays import check_same_columns, generator_of
from random_features.learners.posterior import of_features, of_kernel
from random_features.learners.targets import average
from random_features.length_scales import LARGEST, SMALLEST
from random_features.machines.base import MOST_HELD, KernelMachine, Unless, as_given, not_in_parts
from random_features.maps.base import RandomFeatureMap
from random_features.maps.registry import make_map, supporting
from random_features.pivoted_cholesky import diagonal, kernel_matrix
from random_features.tensors import cast, cholesky_solve, concatenated, like, namespace, on_host


class KernelMachineRegressor(RegressorMixin, KernelMachine):
    r"""Kernel ridge regression on random features, or on the exact kernel.

    On a map it minimises :math:`\frac1n \|\phi(X) w + b - y\|^2 + \lambda \|w\|^2` over w and b. With an exact
    kernel, b is the mean of y, and only w is chosen, in the space of the kernel. With weights of the rows, the sum of
    squares is weighted, and n is the sum of the weights: a row of weight 2 counts as two rows. The length scale of a
    rule and maps that learn from data count each row once, as ``gamma="scale"`` of scikit-learn does.

    Parameters
    ----------
    features : a map of ``make_map``, or a kernel of ``random_features.kernels``
        Tensors are computed with on their device, arrays on the ``device`` of the map.
        ``kernel__length_scale`` is the length scale of either in a search. A kernel is used exactly. On more than
        10,000 rows its penalty must be one number, and conjugate gradients solve to a residual of 1e-4.
    penalties : float or array of floats, default 1e-6
        :math:`\lambda`, or the grid from which held-out rows choose it, the middle one among equal ones. Features that
        are learned from targets are learned anew without these rows.
    random_state : int, RandomState, Generator or None, default 0
        The seed of the parts of the rows that choose the penalty.
    uncertainty : bool, default False
        Whether ``fit`` keeps what a Gaussian process needs, 8 D^2 bytes, or 8 n^2 for an exact kernel. Its mean is
        this machine, its noise has the variance :math:`n \lambda` times an amplitude that maximises the likelihood.

    Attributes
    ----------
    penalty_ : float
        The penalty in use.
    map_, kernel_ : the fitted map, where ``features`` is one, or the exact kernel
    model_ : LinearModel
        The coefficients.
    posterior_ : ``learners.posterior.Posterior``, with ``uncertainty``
        Its ``amplitude``, ``noise`` and ``log_likelihood``.
    range_ : pair of floats, for several targets of arrays (c,)
        The range of the training targets, to which predictions are clipped: far from all rows a small penalty leaves
        them undetermined.

    Notes
    -----
    Few random Fourier features starve the variance: a function of D features has D degrees of freedom, which many rows
    determine. Where the rows end, the deviation is then too small, and the mean wrong by more than it says. With 3,000
    rows on ten length scales it was 0.5 times the exact one at D = 20, 0.85 times at 100 and 1.02 times at 800. Take
    more features, or ``sample_functions`` of an exact kernel, whose features draw the prior only (Wilson et al.,
    Efficiently sampling functions from Gaussian process posteriors, ICML 2020).

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

    def __init__(self, features, penalties=1e-6, random_state=0, uncertainty=False):
        super().__init__(features, penalties, random_state)
        self.uncertainty = uncertainty

    def fit(self, X, y, sample_weight=None):
        """Fit the machine to X (n, d), an array, csr matrix or tensor, targets y (n,) or (n, c), and weights (n,).

        What it learns from a tensor are tensors on its device. The weights may be None.
        """
        self._forget()
        X, y, weights = self._with_targets(X, y, sample_weight)
        self.range_ = y.min(axis=0), y.max(axis=0)
        Y = y.reshape(len(y), -1)
        # far from 0 the learners would round coarsely, and squares in small or large units leave the range of float64
        origin = average(Y, weights)
        unit = 2.0 ** (np.frexp(abs(Y - origin).max())[1] - 1)
        model = self._fit_columns(X, y, (Y - origin) / unit, weights).in_unit(unit, origin)
        Y = like(Y, X)
        if self.uncertainty and self._has_map():
            self.posterior_ = of_features(self._sums(X, Y, weights), self.penalty_)
        elif self.uncertainty:
            if X.shape[0] > MOST_HELD:
                raise ValueError(f"uncertainty=True holds the matrix of an exact kernel, of at most {MOST_HELD:,} rows")
            self.posterior_ = of_kernel(kernel_matrix(self.kernel_, X), Y, self.penalty_, weights)
            self.rows_ = deepcopy(Y), like(np.sqrt(np.ones(len(Y)) if weights is None else weights)[:, None], X)
        self.model_ = model
        return self

    def partial_fit(self, X, y, sample_weight=None):
        """Add rows to the ones that the machine was fitted to, by ``partial_fit`` too; parameters are as in ``fit``.

        The result is the fit to all rows at once. It needs a map that learns nothing from data, and one penalty. The
        first rows decide whether the map is in float32, and whether the sums are arrays or tensors on a device.
        """
        goes_on = self._goes_on()
        X, y, weights = self._with_targets(X, y, sample_weight, reset=not goes_on)
        if goes_on and np.shape(y)[1:] != np.shape(self.range_[0]):
            raise ValueError(f"y has the shape {y.shape}, which does not go on from {np.shape(self.range_[0])} targets")
        lowest, highest = self.range_ if goes_on else (np.inf, -np.inf)
        model, sums = self._add(X, y if y.ndim > 1 else y[:, None], weights)
        if self.uncertainty:
            self.posterior_ = of_features(sums, self.penalty_)
        ends = y.min(axis=0, initial=np.inf), y.max(axis=0, initial=-np.inf)
        self.range_ = np.minimum(lowest, ends[0]), np.maximum(highest, ends[1])
        self.model_, self.sums_ = model, sums
        return self

    partial_fit = Unless(not_in_parts, partial_fit)

    def score(self, X, y, sample_weight=None):
        """Return R^2 on X (n, d), by the targets y (n,) or (n, c) and weights (n,) or None."""
        y, weights = self._on_host(y, sample_weight)
        return r2_score(y, on_host(self.predict(X)), sample_weight=weights)

    def _with_targets(self, X, y, sample_weight, **checks):
        X, y, weights = self._checked(X, y, sample_weight, y_numeric=True, multi_output=True, **checks)
        y = np.asarray(y, dtype=np.float64)
        largest = abs(y).max(axis=0, initial=0.0)
        if self.uncertainty and ((largest > LARGEST) | (largest > 0) & (largest < SMALLEST)).any():
            raise ValueError("uncertainty=True squares the targets, which leaves the range of float64: scale them")
        return X, y, weights

    def predict(self, X, return_std=False):
        """Return the predictions (n,) or (n, c) for X (n, d), clipped to the range of the training targets.

        They are a tensor on the device of X if X is a tensor, without a gradient, else an array.

        With ``return_std`` it is the mean of the Gaussian process, not clipped, and the standard deviations of its
        functions, of the same shape; ``posterior_.noise`` is the deviation of a target around them.
        """
        decision = self._decide(X)
        if not return_std:
            shaped = self._shaped(decision)
            return shaped.clip(*(like(np.asarray(end), shaped) for end in self.range_))
        posterior, rows, stds = self._posterior(), self._rows(X), []
        for part, values in self._values(rows):
            if hasattr(self, "map_"):
                stds.append(posterior.std(values))
            else:
                roots = self.rows_[1].T
                stds.append(posterior.std(like(values, roots) * roots, diagonal(self.kernel_, rows[part])))
        return self._shaped(decision), self._shaped(as_given(concatenated(stds), X))

    def log_marginal_likelihood(self) -> float:
        """Return the log likelihood of the training targets, at the amplitude that maximises it."""
        return self._posterior().log_likelihood

    def sample_y(self, X, n_samples=1, random_state=0):
        """Return values of random functions from the posterior at X (m, d): (m, n_samples), or (m, c, n_samples)."""
        return self.sample_functions(n_samples, random_state)(X)

    def sample_functions(self, n_functions=1, random_state=0, prior=None):
        """Return random functions from the posterior as one function of X (m, d), for any X.

        It returns (m, n_functions), or (m, c, n_functions) for several targets, and can be pickled. On features the
        weights are drawn. With an exact kernel, the functions are draws from the prior on the features of a map
        ``prior``. An exact solve moves them onto the training rows (Matheron's rule; Wilson et al. 2021, Pathwise
        conditioning of Gaussian processes). The map is "rff" with 2,000 components by default, if it supports the
        kernel; its kernel must be ``kernel_``.
        """
        posterior, rng, n_targets = self._posterior(), generator_of(random_state), self.model_.coef.shape[1]
        check_scalar(n_functions, "n_functions", Integral, min_val=0)
        if prior is not None and (hasattr(self, "map_") or not isinstance(prior, RandomFeatureMap)):
            raise TypeError(f"prior must be a map of make_map, for a machine on an exact kernel only, got {prior!r}")
        if hasattr(self, "map_"):
            return partial(copy(self)._drawn, self.map_, *posterior.draw_weights(self.model_, rng, n_functions), None)
        check_same_columns(self, getattr(prior, "landmarks", None), "landmarks")
        seed, kernel, (Y, roots) = int(rng.integers(2**31)), self.kernel_, self.rows_
        if prior is None and "rff" not in (known := supporting(kernel)):
            raise ValueError(f"the kernel {kernel.name} needs sample_functions(prior=make_map(...)), of {known}")
        phi = make_map("rff", kernel, n_components=2000, random_state=seed) if prior is None else clone(prior)
        features, (isotropic, lengths) = phi.fit(self.X_).transform(self.X_), kernel.isotropic()
        if phi.kernel_ != isotropic or not np.array_equal(phi.length_scales_, lengths):
            raise ValueError(f"prior has the kernel {phi.kernel_}, the machine {kernel}: make the prior with kernel_")
        coef = like(rng.standard_normal((phi.n_columns_, n_targets, n_functions)), Y)
        coef *= posterior.amplitude[:, None] ** 0.5
        intercepts = self.model_.intercept[:, None] + like(np.zeros(n_functions), Y)
        noise = like(rng.standard_normal((len(Y), n_targets, n_functions)), Y) * posterior.noise[:, None]
        prior_values = namespace(Y).tensordot(cast(features, "float64"), coef, 1)
        residuals = Y[:, :, None] - intercepts - prior_values - noise / roots[:, :, None]
        dual = roots * cholesky_solve(posterior.factor, roots * residuals.reshape(len(Y), -1))
        return partial(copy(self)._drawn, phi, coef, intercepts, dual)

    def _drawn(self, phi, coef, intercepts, dual, X):
        """Return the values of random functions at X (m, d): (m, f), or (m, c, f) for several targets.

        They are coefficients (D, c, f) and intercepts (c, f) on the features of a map. With the exact kernel they are
        added to coefficients (n, c f) of kernel values, ``dual``, which are None otherwise.
        """
        rows, values = self._rows(X), []
        for _, Z in phi.transform_blocks(rows):
            values.append(namespace(Z).tensordot(cast(Z, "float64"), like(coef, Z), 1) + like(intercepts, Z))
        values = concatenated(values)
        if dual is not None:
            moved = kernel_matrix(self.kernel_, rows, self.X_) @ like(dual, values)
            values += moved.reshape(values.shape)
        return as_given(self._shaped(values), X)

    def _posterior(self):
        check_is_fitted(self, "model_")
        if not hasattr(self, "posterior_"):
            raise ValueError("deviations and random functions need KernelMachineRegressor(..., uncertainty=True)")
        if self.posterior_ is None:
            raise ValueError("deviations and random functions need two rows, and on a map also a penalty over 0"
                             " and weights with a sum over 1")  # fmt: skip
        return self.posterior_

    def _shaped(self, values):
        return values if np.ndim(self.range_[0]) else values[:, 0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
