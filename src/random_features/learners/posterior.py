r"""Gaussian processes by ridge regression: amplitude, variances, draws of functions and the marginal likelihood.

Ridge regression is the mean of a Gaussian process with the covariance :math:`a\, k` and noise of the variance
:math:`a \mu` with :math:`\mu = n \lambda`. The amplitude a maximises the marginal likelihood, which has a closed form.
On features the covariance is that of :math:`\phi(x)^T w + b` with w ~ N(0, a I) and a flat prior of b. Everything then
follows from the D x D system of the ``Sums`` (Rasmussen and Williams 2006, section 2.1 and equation 2.43).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from random_features.learners.linear_model import LinearModel
from random_features.learners.ridge import Sums
from random_features.learners.targets import average
from random_features.tensors import cast, cholesky, like, namespace, solve_triangular


@dataclass(frozen=True)
class Posterior:
    """A Gaussian process after training.

    Attributes
    ----------
    factor : ndarray (D, D) of features, (n, n) of a kernel
        The lower Cholesky factor of the system.
    shift : float
        mu, which the diagonal of the system contains.
    n_rows : float
        The number of training rows, or the sum of their weights.
    amplitude : ndarray (c,)
        a for every target.
    log_likelihood : float
        The log marginal likelihood of all targets.
    centre : ndarray (D,) or None
        The mean of the features; None of a kernel, whose intercept is known.
    """

    factor: np.ndarray
    shift: float
    n_rows: float
    amplitude: np.ndarray
    log_likelihood: float
    centre: np.ndarray | None = None

    @property
    def noise(self) -> np.ndarray:
        """Return the standard deviation of the noise of one row, (c,)."""
        return (self.amplitude * self.shift) ** 0.5

    def std(self, values, diagonal=None):
        """Return standard deviations (m, c) of the functions, without noise.

        ``values`` are features (m, D), or kernel values (m, n) times the roots of weights, with ``diagonal`` k(x, x).
        """
        values = cast(like(values, self.factor), "float64")
        if self.centre is None:
            variances = like(diagonal, values) - (solve_triangular(self.factor, values.T) ** 2).sum(axis=0)
        else:
            reduced = solve_triangular(self.factor, (values - self.centre).T)
            variances = self.shift * ((reduced**2).sum(axis=0) + 1.0 / self.n_rows)
        return (variances.clip(0.0)[:, None] * self.amplitude) ** 0.5

    def draw_weights(self, model: LinearModel, rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw coefficients (D, c, size) and intercepts (c, size) of functions from the posterior on features."""
        noise = like(rng.standard_normal((len(self.factor), model.coef.shape[1] * size)), self.factor)
        deviations = solve_triangular(self.factor, noise, transposed=True).reshape(*model.coef.shape, size)
        deviations *= self.noise[:, None]
        means = like(rng.standard_normal((model.coef.shape[1], size)), noise) * self.noise[:, None] / self.n_rows**0.5
        along = namespace(noise).tensordot(self.centre, deviations, 1)
        return model.coef[:, :, None] + deviations, model.intercept[:, None] - along + means


def of_features(sums: Sums, penalty: float) -> Posterior | None:
    """Return the posterior of functions of features from their ``Sums``, with the scaling "mean" of the penalty.

    None where it has no amplitude: at penalty 0, for a single row, and where weights add up to 1 or less.
    """
    if penalty == 0 or sums.n_rows <= 1 or sums.count < 2:
        return None
    n, shift = sums.n_rows, float(sums.n_rows * penalty)
    centre, mean = sums.cross[:, -1] / n, sums.targets / n
    xp = namespace(sums.gram)
    system = sums.gram - xp.outer(n * centre, centre)
    rhs = sums.cross[:, :-1] - xp.outer(n * centre, mean)
    xp.einsum("ii->i", system)[:] += shift
    factor = cholesky(system)
    explained = (solve_triangular(factor, rhs) ** 2).sum(axis=0)
    squares = (sums.squares - n * mean**2 - explained) / shift
    rest = (n - 1 - len(factor)) * np.log(shift)
    return _with_amplitude(factor, shift, n, squares, n - 1, rest, centre + sums.zero)


def of_kernel(K, Y, penalty: float, weights=None) -> Posterior | None:
    """Return the posterior of functions on the matrix K (n, n) of a kernel, around the means of Y (n, c).

    None for a single row, which is its own mean.
    """
    if len(Y) < 2:
        return None
    weights = like(np.ones(len(Y)) if weights is None else weights, Y)
    n, roots = float(weights.sum()), weights[:, None] ** 0.5
    shift = n * penalty
    factor = cholesky(roots * K * roots.T + like(shift * np.eye(len(K)), K))
    squares = (solve_triangular(factor, roots * (Y - average(Y, weights))) ** 2).sum(axis=0)
    return _with_amplitude(factor, shift, n, squares, n, xlogy(n - len(K), shift))


def _with_amplitude(factor, shift, n_rows, squares, degrees, rest, centre=None):
    """Return the posterior whose amplitude maximises the likelihood: squares over their degrees of freedom.

    ``rest`` is what the log of a determinant has beyond the one of the system.
    """
    xp = namespace(factor)
    log_det = 2.0 * float(xp.log(xp.diagonal(factor)).sum()) + rest
    amplitude = (squares / degrees).clip(np.finfo(np.float64).tiny)
    log_likelihood = -0.5 * (degrees * (xp.log(2.0 * np.pi * amplitude) + 1.0) + log_det).sum()
    return Posterior(factor, shift, float(n_rows), amplitude, float(log_likelihood), centre)
