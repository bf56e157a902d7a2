"""Exact kernels: the matrices that random features approximate, and what a feature map has to know of them.

A kernel is a small immutable object. Kernels with a spectral representation also say how their frequencies are
distributed, coordinate by coordinate, and which function of the projections makes the features:
``k(x, y) = E[cos(w . (x - y))]`` for shift-invariant kernels (``activation`` is None, the map's layout decides),
``k(x, y) = 2 E[a(w . x) a(w . y)]`` for a kernel with an activation a.

``make_kernel`` builds a kernel from the mapping that an experiment has for it. A length scale may be a rule that data
complete (``length_scales.RULES``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from numbers import Integral
from typing import ClassVar

import numpy as np
import torch
from scipy.sparse import issparse
from scipy.special import ndtri
from sklearn.metrics.pairwise import (
    check_pairwise_arrays,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)
from sklearn.utils import check_scalar
from sklearn.utils.extmath import row_norms

from random_features.arrays import block_rows, exponential, product, row_blocks
from random_features.errors import UserError, did_you_mean
from random_features.length_scales import RULES, check_length_scale

#: The kernels by the names that experiments use: the class, and the parameters that an experiment has to state. The
#: table is a literal, so that a configuration can be checked against it without importing this module.
KERNELS = {
    "gaussian": {"class": "Gaussian", "parameters": ("length_scale",)},
    "laplacian": {"class": "Laplacian", "parameters": ("length_scale",)},
    "cauchy": {"class": "Cauchy", "parameters": ("length_scale",)},
    "arc_cosine": {"class": "ArcCosine", "parameters": ("order",), "id": "arccos{order}"},
    "neural_tangent": {"class": "NeuralTangent", "parameters": ()},
    "polynomial": {"class": "Polynomial", "parameters": ("degree", "coef0")},
    "linear": {"class": "Linear", "parameters": ()},
    "circle": {"class": "Circle", "parameters": ("decay", "terms"), "id": "circle-{decay}"},
}


def make_kernel(kernel: Mapping) -> Kernel:
    """The kernel of a mapping: its ``name`` in ``KERNELS`` and all of its parameters.

    Parameters
    ----------
    kernel : mapping
        E.g. ``{"name": "gaussian", "length_scale": 0.7}``; the length scale is in the units of the data.

    Raises
    ------
    UserError
        A ``ValueError``, for an unknown name, an unknown or missing parameter, or a value outside its range
        (``TypeError`` for one of another type).

    Examples
    --------
    >>> from random_features.kernels import make_kernel
    >>> make_kernel({"name": "polynomial", "degree": 2, "coef0": 1.0})
    Polynomial(degree=2, coef0=1.0)
    """
    if "name" not in kernel:
        raise UserError(f"a kernel needs a name, got {dict(kernel)}; there are {', '.join(KERNELS)}")
    name = kernel["name"]
    if name not in KERNELS:
        raise UserError(f"no kernel is called {name!r}{did_you_mean(name, KERNELS)}; there are {', '.join(KERNELS)}")
    known = KERNELS[name]["parameters"]
    has = f"it has {', '.join(known)}" if known else "it has none"
    for parameter in kernel:
        if parameter not in ("name", *known):
            raise UserError(f"the kernel {name} has no parameter {parameter!r}{did_you_mean(parameter, known)}; {has}")
    missing = [parameter for parameter in known if parameter not in kernel]
    if missing:
        raise UserError(f"the kernel {name} needs {' and '.join(missing)}, got {dict(kernel)}; {has}")
    return globals()[KERNELS[name]["class"]](**{parameter: kernel[parameter] for parameter in known})


class Kernel(ABC):
    """A positive definite kernel; subclasses are frozen dataclasses whose fields are the parameters.

    ``name`` is the id that tables and the registry of maps use.
    """

    name: str

    @abstractmethod
    def __call__(self, X, Y=None) -> np.ndarray:
        """The kernel matrix of shape (n, m) for X (n, d) and Y (m, d); Y None means X."""

    def against(self, Y, rows: int, device, dtype):
        """The kernel values of many blocks of rows with one Y (m, d), for what must be fast.

        Parameters
        ----------
        Y : array-like of shape (m, d)
        rows : int
            Rows of a block at most.
        device : torch.device
        dtype : torch.float32 or torch.float64
            Of the values, which are computed in float64 up to their last rounding or two.

        Returns
        -------
        A function of a tensor X (r, d) on ``device``, r <= ``rows``, that returns the tensor ``kernel(X, Y)`` (r, m)
        there, valid until its next call.
        """
        Y = np.asarray(Y, dtype=np.float64)
        return lambda X: torch.from_numpy(self(X.cpu().double().numpy(), Y)).to(device, dtype)

    def get_params(self, deep: bool = True) -> dict:
        """The constructor's parameters by name (scikit-learn's convention, so that ``clone`` works)."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def set_params(self, **params) -> Kernel:
        """A kernel with other parameters; this one, which others may share, stays as it is.

        Raises ``ValueError`` for a parameter that the kernel does not have, or a value outside its range.
        """
        known = self.get_params()
        for name in params:
            if name not in known:
                has = f"{did_you_mean(name, known)}; it has {', '.join(known) or 'none'}"
                raise ValueError(f"the kernel {self.name} has no parameter {name!r}{has}")
        return replace(self, **params)

    def completed_by(self, X) -> Kernel:
        """The kernel for data X (n, d), an array or a csr matrix: with a number where the length scale is a rule."""
        rule = self.get_params().get("length_scale")
        return self.set_params(length_scale=RULES[rule](X)) if isinstance(rule, str) else self


class SpectralKernel(Kernel):
    """A kernel that is an expectation over frequencies with independent coordinates of one distribution."""

    #: None for shift-invariant kernels; else a function (projections, out) of two torch tensors of shape
    #: (n, s) that writes the activation of the projections into ``out``.
    activation: ClassVar = None

    @abstractmethod
    def frequency_quantile(self, probabilities) -> np.ndarray:
        """Quantiles of one coordinate of the frequencies, elementwise for probabilities inside (0, 1)."""

    @abstractmethod
    def draw_frequencies(self, rng: np.random.Generator, shape) -> np.ndarray:
        """Independent frequencies, float64 of the given shape (..., d)."""


class GaussianSpectrum(SpectralKernel):
    """A kernel with frequencies N(0, ``frequency_scale``^2 I): what orthogonal and structured maps need."""

    @property
    @abstractmethod
    def frequency_scale(self) -> float:
        """Standard deviation of one coordinate of the frequencies."""

    def frequency_quantile(self, probabilities):
        return self.frequency_scale * ndtri(probabilities)

    def draw_frequencies(self, rng, shape):
        return self.frequency_scale * rng.standard_normal(shape)


class Scaled(Kernel):
    """A kernel of x / l and y / l, with a field ``length_scale`` that is a number or a rule."""

    @property
    def ell(self) -> float:
        """l as a number; ``ValueError`` while it is a rule that waits for data."""
        if isinstance(self.length_scale, str):
            raise ValueError(
                f"length_scale={self.length_scale!r} waits for data: a map learns it when it is fitted, and"
                " kernel.completed_by(X) is the kernel with the number"
            )
        return self.length_scale


@dataclass(frozen=True)
class Gaussian(Scaled, GaussianSpectrum):
    r"""The Gaussian kernel :math:`k(x, y) = \exp(-\|x - y\|^2 / (2 \ell^2))`.

    Parameters
    ----------
    length_scale : float, "median" or "scale", default 1.0
        :math:`\ell > 0`, in the units of the data; scikit-learn's ``gamma`` is 1 / (2 l^2). A map
        that is fitted learns the median distance between rows, or what ``gamma="scale"`` is there. Raises
        ``ValueError`` when it is not positive.

    Notes
    -----
    The frequencies are N(0, I / l^2) (Bochner's theorem; Rahimi and Recht, NIPS 2007, Figure 1).

    Examples
    --------
    >>> from random_features.kernels import Gaussian
    >>> Gaussian(length_scale=2.0)([[0.0, 0.0]], [[2.0, 0.0]]).round(4)
    array([[0.6065]])
    """

    length_scale: float | str = 1.0
    name: ClassVar[str] = "gaussian"

    def __post_init__(self):
        check_length_scale(self.length_scale)

    @property
    def frequency_scale(self) -> float:
        return 1.0 / self.ell

    def __call__(self, X, Y=None):
        return rbf_kernel(*self._nearby(*check_pairwise_arrays(X, Y)), gamma=0.5 / self.ell**2)

    def _nearby(self, X, Y):
        """X and Y, both moved by the mean of X where they lie so many length scales from the origin that rounding would
        take half of the digits of a squared distance, which is found as |x|^2 - 2 x.y + |y|^2.
        """
        farthest = np.sqrt(max(row_norms(rows, squared=True).max() for rows in (X, Y)))
        if farthest * np.finfo(np.float64).eps ** 0.25 < self.ell or issparse(X) or issparse(Y):
            return X, Y
        centre = X.mean(axis=0, dtype=np.float64)
        moved = (X - centre).astype(X.dtype, copy=False)
        return moved, moved if Y is X else (Y - centre).astype(Y.dtype, copy=False)

    def against(self, Y, rows, device, dtype):
        # The exponents are one matrix product, [u, |u|^2, 1] with [v, -1/2, -|v|^2 / 2], for u and v the rows of X and
        # of Y in length scales, seen from the mean of Y so that |u|^2 is not large beside |u - v|^2.
        Y = np.asarray(Y, dtype=np.float64)
        (m, d), centre = Y.shape, Y.mean(axis=0)
        v = (Y - centre) / self.ell
        right = np.concatenate([v.T, np.full((1, m), -0.5), -0.5 * (v**2).sum(axis=1)[None]])
        right, centre = torch.from_numpy(right).to(device), torch.from_numpy(centre).to(device)
        left = torch.ones(rows, d + 2, device=device, dtype=torch.float64)
        exponents = torch.empty(rows, m, device=device, dtype=torch.float64)
        rounded = torch.empty(rows, m, device=device, dtype=dtype) if dtype != torch.float64 else None

        def values(X):
            block, result = left[: len(X)], exponents[: len(X)]
            u = block[:, :d]
            torch.sub(X, centre, out=u).div_(self.ell)
            torch.sum(u * u, dim=1, out=block[:, d])
            product(block, right, result)
            if rounded is not None:
                result = rounded[: len(X)].copy_(result)
            exponential(result, result)
            return result

        return values


@dataclass(frozen=True)
class Laplacian(Scaled, SpectralKernel):
    r"""The Laplacian kernel :math:`k(x, y) = \exp(-\|x - y\|_1 / \ell)`.

    Parameters
    ----------
    length_scale : float, "median" or "scale", default 1.0
        :math:`\ell > 0`, in the units of the data, or a rule as for :class:`Gaussian`. Raises ``ValueError`` when it is
        not positive.

    Notes
    -----
    The coordinates of the frequencies are independent with the Cauchy density :math:`\ell / (\pi (1 + \ell^2 w^2))`
    (Rahimi and Recht, NIPS 2007, Figure 1). They have no moments.

    Examples
    --------
    >>> from random_features.kernels import Laplacian
    >>> Laplacian(length_scale=2.0)([[0.0, 0.0]], [[2.0, 2.0]]).round(4)
    array([[0.1353]])
    """

    length_scale: float | str = 1.0
    name: ClassVar[str] = "laplacian"

    def __post_init__(self):
        check_length_scale(self.length_scale)

    def frequency_quantile(self, probabilities):
        return np.tan(np.pi * (np.asarray(probabilities) - 0.5)) / self.ell

    def draw_frequencies(self, rng, shape):
        return rng.standard_cauchy(shape) / self.ell

    def __call__(self, X, Y=None):
        X, Y = check_pairwise_arrays(X, Y)
        return laplacian_kernel(X, Y, gamma=1.0 / self.ell).astype(X.dtype, copy=False)


@dataclass(frozen=True)
class Cauchy(Scaled, SpectralKernel):
    r"""The Cauchy kernel :math:`k(x, y) = \prod_j 1 / (1 + (x_j - y_j)^2 / \ell^2)`.

    Parameters
    ----------
    length_scale : float, "median" or "scale", default 1.0
        :math:`\ell > 0`, in the units of the data, or a rule as for :class:`Gaussian`. Raises ``ValueError`` when it is
        not positive.

    Notes
    -----
    The coordinates of the frequencies are independent with the Laplace density :math:`\ell e^{-\ell |w|} / 2` (Rahimi
    and Recht, NIPS 2007, Figure 1).

    Examples
    --------
    >>> from random_features.kernels import Cauchy
    >>> Cauchy(length_scale=2.0)([[0.0, 0.0]], [[2.0, 2.0]])
    array([[0.25]])
    """

    length_scale: float | str = 1.0
    name: ClassVar[str] = "cauchy"

    def __post_init__(self):
        check_length_scale(self.length_scale)

    @property
    def frequency_scale(self) -> float:
        """Standard deviation of one coordinate of the frequencies."""
        return np.sqrt(2.0) / self.ell

    def frequency_quantile(self, probabilities):
        centred = np.asarray(probabilities) - 0.5
        return -np.sign(centred) * np.log1p(-2.0 * np.abs(centred)) / self.ell

    def draw_frequencies(self, rng, shape):
        return rng.laplace(scale=1.0 / self.ell, size=shape)

    def __call__(self, X, Y=None):
        X, Y = check_pairwise_arrays(X, Y)
        product = np.ones((len(X), len(Y)), dtype=X.dtype)
        for x, y in zip(X.T, Y.T, strict=True):
            product *= 1.0 + (np.subtract.outer(x, y) / self.ell) ** 2
        return 1.0 / product


@dataclass(frozen=True)
class ArcCosine(GaussianSpectrum):
    r"""The arc-cosine kernel of order b, :math:`k(x, y) = \|x\|^b \|y\|^b J_b(\theta) / \pi`.

    .. math:: J_0 = \pi - \theta, \quad J_1 = \sin\theta + (\pi - \theta) \cos\theta, \quad
       J_2 = 3 \sin\theta \cos\theta + (\pi - \theta) (1 + 2 \cos^2\theta)

    with theta the angle between x and y, pi / 2 where one of them is zero.

    Parameters
    ----------
    order : {0, 1, 2}, default 1
        b. Raises ``ValueError`` for another one.

    Notes
    -----
    The kernel is :math:`2\, E[a(w^T x)\, a(w^T y)]` with w ~ N(0, I) and the activation a(u) = max(0, u)^b; for order
    0 the Heaviside step with a(0) = 1/2 (Cho and Saul, NIPS 2009, equation (1)). The survey's equation (6) lacks the
    factor 2.

    Examples
    --------
    >>> from random_features.kernels import ArcCosine
    >>> ArcCosine(order=0)([[1.0, 0.0]], [[0.0, 3.0]])
    array([[0.5]])
    >>> ArcCosine(order=1).name
    'arccos1'
    """

    order: int = 1

    def __post_init__(self):
        if self.order not in (0, 1, 2):
            raise ValueError(f"order must be 0, 1 or 2, got {self.order!r}")

    @property
    def name(self) -> str:
        """ "arccos0", "arccos1" or "arccos2": the orders differ in what features they allow."""
        return f"arccos{self.order}"

    @property
    def frequency_scale(self) -> float:
        return 1.0

    def activation(self, projections, out):
        """Write max(0, projections)^b, for order 0 the step, into ``out``; tensors of one shape."""
        if self.order == 0:
            torch.sign(projections, out=out)
            out.add_(1.0).mul_(0.5)
            return
        torch.clamp(projections, min=0.0, out=out)
        if self.order == 2:
            out.square_()

    def __call__(self, X, Y=None):
        return _of_angles(X, Y, self._at)

    def _at(self, theta, lengths):
        """The kernel at angles and products of lengths."""
        cosine, sine = np.cos(theta), np.sin(theta)
        if self.order == 0:
            angular = np.pi - theta
        elif self.order == 1:
            angular = sine + (np.pi - theta) * cosine
        else:
            angular = 3.0 * sine * cosine + (np.pi - theta) * (1.0 + 2.0 * cosine**2)
        return lengths**self.order * angular / np.pi


@dataclass(frozen=True)
class NeuralTangent(Kernel):
    r"""The neural tangent kernel of a ReLU network with one hidden layer.

    .. math:: k(x, y) = \|x\| \|y\| \, [u \kappa_0(u) + \kappa_1(u)], \qquad u = \cos\theta,

    with kappa_0 and kappa_1 the arc-cosine kernels of orders 0 and 1 on unit vectors (the survey, section 2.2; Bietti
    and Mairal, NeurIPS 2019). kappa_1 comes from the gradient of the output weights, u kappa_0 from that of the hidden
    weights.

    Examples
    --------
    >>> from random_features.kernels import NeuralTangent
    >>> NeuralTangent()([[3.0, 4.0]])
    array([[50.]])
    """

    name: ClassVar[str] = "neural_tangent"

    def __call__(self, X, Y=None):
        return _of_angles(X, Y, self._at)

    def _at(self, theta, lengths):
        """The kernel at angles and products of lengths."""
        angular = 2.0 * np.cos(theta) * (np.pi - theta) + np.sin(theta)
        return lengths * angular / np.pi


@dataclass(frozen=True)
class Polynomial(Kernel):
    r"""The polynomial kernel :math:`k(x, y) = (\langle x, y \rangle + c)^p`.

    Parameters
    ----------
    degree : int, default 2
        p >= 1.
    coef0 : float, default 1.0
        c >= 0; a negative one would not be positive definite.

    Examples
    --------
    >>> from random_features.kernels import Polynomial
    >>> Polynomial(degree=2, coef0=1.0)([[1.0, 2.0]], [[1.0, 1.0]])
    array([[16.]])
    """

    degree: int = 2
    coef0: float = 1.0
    name: ClassVar[str] = "polynomial"

    def __post_init__(self):
        for name in ("degree", "coef0"):
            if isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} must be a number, got {getattr(self, name)!r}")
        check_scalar(self.degree, "degree", Integral, min_val=1)
        if not 0 <= self.coef0 < np.inf:
            raise ValueError(f"coef0 must be finite and at least 0, got {self.coef0!r}")

    def __call__(self, X, Y=None):
        return polynomial_kernel(X, Y, degree=self.degree, gamma=1.0, coef0=self.coef0)


@dataclass(frozen=True)
class Linear(Kernel):
    r"""The linear kernel :math:`k(x, y) = \langle x, y \rangle`.

    Notes
    -----
    It is :math:`2\, E[a(w^T x)\, a(w^T y)]` with :math:`a(u) = u / \sqrt 2` and w uniform on the scaled unit vectors
    :math:`\sqrt d\, e_1, \dots, \sqrt d\, e_d`: the features are the columns of the data.

    Examples
    --------
    >>> from random_features.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    name: ClassVar[str] = "linear"

    def activation(self, projections, out):
        """Write projections / sqrt(2) into ``out``; tensors of one shape."""
        torch.mul(projections, 0.5**0.5, out=out)

    def draw_frequencies(self, rng: np.random.Generator, shape) -> np.ndarray:
        """Unit vectors times sqrt(d), float64 of ``shape`` (s, d): columns drawn with replacement."""
        n_frequencies, n_features = shape
        return np.sqrt(n_features) * np.eye(n_features)[rng.integers(n_features, size=n_frequencies)]

    def __call__(self, X, Y=None):
        return linear_kernel(X, Y)


#: Unnormalised laws of the harmonics j = 1, 2, ... of :class:`Circle`: those whose kernel matrices of n points have the
#: eigenvalues lambda_i ~ n exp(-c i), n i^(-2t) with t = 1, and n / i.
DECAYS = {
    "exponential": lambda j: np.exp(-0.5 * j),
    "polynomial": lambda j: j**-2.0,
    "slowest": lambda j: 1.0 / j,
}

#: Harmonics that are computed together.
HARMONICS_BLOCK = 1024


@dataclass(frozen=True)
class Circle(SpectralKernel):
    r"""The kernel :math:`k(x, y) = \sum_j \mu_j \cos(2 \pi j (x - y))` on the circle [0, 1), of known eigenvalues.

    With x uniform on [0, 1) its eigenfunctions are :math:`\cos(2 \pi j x)` and :math:`\sin(2 \pi j x)` with the
    eigenvalues :math:`\mu_j / 2`, and :math:`\mu` is the law of the frequencies :math:`2 \pi j`; k(x, x) = 1. Data
    have one column.

    Parameters
    ----------
    decay : {"exponential", "polynomial", "slowest"}
        How mu falls: as exp(-j / 2), j^-2 or 1 / j. Raises ``ValueError`` for another one.
    terms : int
        The number of harmonics, at least 1.

    Notes
    -----
    The decays are those of Table 1 of Liu et al., AAAI 2020.

    Examples
    --------
    >>> from random_features.kernels import Circle
    >>> Circle("slowest", 2)([[0.0]], [[0.5]]).round(4)
    array([[-0.3333]])
    >>> Circle("slowest", 2).name
    'circle-slowest'
    """

    decay: str
    terms: int
    #: What maps have to know: shift-invariant, frequencies of a law of its own.
    like: ClassVar[str] = "laplacian"

    def __post_init__(self):
        if self.decay not in DECAYS:
            raise ValueError(f"decay must be one of {', '.join(DECAYS)}, got {self.decay!r}")
        check_scalar(self.terms, "terms", Integral, min_val=1)

    @property
    def name(self) -> str:
        """ "circle-exponential", "circle-polynomial" or "circle-slowest"."""
        return f"circle-{self.decay}"

    def frequencies(self) -> np.ndarray:
        """All frequencies 2 pi j, shape (terms,)."""
        return 2.0 * np.pi * np.arange(1, self.terms + 1)

    def frequency_quantile(self, probabilities):
        cumulated = np.cumsum(spectrum(self.decay, self.terms))
        return self.frequencies()[np.searchsorted(cumulated[:-1], probabilities)]

    def draw_frequencies(self, rng, shape):
        return rng.choice(self.frequencies(), size=shape, p=spectrum(self.decay, self.terms))

    def __call__(self, X, Y=None):
        X = np.asarray(X, dtype=np.float64)
        Y = X if Y is None else np.asarray(Y, dtype=np.float64)
        frequencies, weights = self.frequencies(), np.sqrt(spectrum(self.decay, self.terms))
        K = np.zeros((len(X), len(Y)))
        for part in row_blocks(self.terms, HARMONICS_BLOCK):
            K += harmonics(X, frequencies[part], weights[part]) @ harmonics(Y, frequencies[part], weights[part]).T
        return K


@cache
def spectrum(decay: str, terms: int) -> np.ndarray:
    """The law of the harmonics 1 to ``terms`` that falls as ``decay`` says: (terms,), sums to 1, read-only."""
    law = DECAYS[decay](np.arange(1.0, terms + 1))
    law /= law.sum()
    law.flags.writeable = False
    return law


def harmonics(X: np.ndarray, frequencies: np.ndarray, weights) -> np.ndarray:
    """[a_j cos(w_j x) | a_j sin(w_j x)] for X (n, 1), w (m,) and a (m,) or one number; shape (n, 2 m)."""
    angles = X * frequencies
    return np.concatenate([np.cos(angles) * weights, np.sin(angles) * weights], axis=1)


#: Cosines this near to 1 or -1 lose half of their digits on the way to the angle.
NEARLY_PARALLEL = 1e-6


def _of_angles(X, Y, function):
    """The matrix (n, m) of a function of angles and products of lengths, which takes some rows of both at once: what it
    computes on the way is several times as large as its result.
    """
    X, Y = check_pairwise_arrays(X, Y)
    matrix = np.empty((len(X), len(Y)), dtype=X.dtype)
    for part in row_blocks(len(X), block_rows(8 * len(Y))):
        matrix[part] = function(*_angles(X[part], Y))
    return matrix


def _angles(X, Y):
    """Angles between rows and products of their lengths, (n, m) float64.

    A zero vector is taken as orthogonal to all others. Angles of nearly parallel rows come from the difference of their
    directions, accurate to rounding, and are exactly 0 for equal rows.
    """
    X, Y = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
    x_lengths, y_lengths = np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1)
    lengths = np.outer(x_lengths, y_lengths)
    x_units = X / np.where(x_lengths > 0, x_lengths, 1.0)[:, None]
    y_units = Y / np.where(y_lengths > 0, y_lengths, 1.0)[:, None]
    cosines = np.clip(x_units @ y_units.T, -1.0, 1.0)
    angles = np.arccos(cosines)
    nearly_parallel = np.abs(cosines) > 1.0 - NEARLY_PARALLEL
    for row in np.flatnonzero(nearly_parallel.any(axis=1)):
        x, y = x_units[row], y_units[nearly_parallel[row]]
        angles[row, nearly_parallel[row]] = 2.0 * np.arctan2(
            np.linalg.norm(x - y, axis=1), np.linalg.norm(x + y, axis=1)
        )
    return angles, lengths
