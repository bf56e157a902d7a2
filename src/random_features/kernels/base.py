"""Base classes of the kernels: the matrix, the parameters, and the distribution of the frequencies."""

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
import torch
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from scipy.special import ndtri
from sklearn.metrics.pairwise import check_pairwise_arrays

from random_features.arrays import check_numbers, check_same_columns, dense, without_duplicates
from random_features.errors import check_known, check_positive
from random_features.kernels.registry import NAMES, id_of
from random_features.length_scales import LARGEST, RULES, check_length_scale, in_length_scales
from random_features.tensors import as_rows, as_tensor, from_library, needs_gradient, on_host


class Kernel(ABC):
    """A positive definite kernel; subclasses are frozen dataclasses whose annotated fields are the parameters.

    Subclasses state facts without an annotation, which would make a parameter of them. One without an entry in
    ``KERNELS`` states its ``name``, or has the name of its base class.
    """

    #: Whether sparse rows stay sparse in ``_values`` and ``against``; they are made dense otherwise.
    takes_sparse_rows = False

    def __call__(self, X, Y=None) -> np.ndarray | torch.Tensor:
        """Return the kernel matrix of shape (n, m) for X (n, d) and Y (m, d), array-like or sparse; Y None means X.

        Two rows (d,) give one number, which scikit-learn's KernelRidge and KernelPCA ask for, pair by pair. The matrix
        is float32 if both are, else float64; of a tensor X a tensor on its device, which the CPU computes. Raises
        ``ValueError`` for NaN, infinity, masked entries, tensors that require a gradient, values that overflow, and
        shapes or names of columns that do not match, ``TypeError`` for dates.
        """
        if all(isinstance(each, np.ndarray) and each.ndim == 1 for each in (X, Y)):
            return self(X[None], Y[None])[0, 0]
        check_same_columns(X, Y)
        tensors = [each for each in map(from_library, (X, Y)) if each is not None]
        if needs_gradient(*tensors):
            raise ValueError("values of a kernel have no gradient: detach the tensors, or take the features of a map")
        if tensors:
            matrix = self(on_host(X), on_host(Y))
            return matrix if from_library(X) is None else as_tensor(matrix, tensors[0].device)
        rows, others = check_pairwise_arrays(check_numbers(X), check_numbers(Y, "Y"))
        both = [rows] if others is rows else [rows, others]  # the matrix of X with itself is symmetric
        kernel, columns = self.isotropic()
        # quotients would be rounded before their difference, squares leave float32
        if rows.dtype == np.float32 and (columns is not None or not 1e-18 < getattr(self, "ell", 1.0) < 1e18):
            return self(*(each.astype(np.float64) for each in both)).astype(np.float32)
        both = [each if self.takes_sparse_rows else dense(each) for each in map(without_duplicates, both)]
        scaled = [in_length_scales(each, columns) for each in both]
        with np.errstate(over="ignore", invalid="ignore"):  # the result is checked
            matrix = kernel._values(scaled[0], scaled[-1]).astype(rows.dtype, copy=False)
        if getattr(self, "activation", False) is not None and not np.isfinite(matrix).all():  # others are bounded
            raise ValueError(f"values of the kernel {self.name} overflow {matrix.dtype}: scale the data")
        return matrix

    @property
    def name(self) -> str:
        """Return the id that tables and the registry of maps use."""
        names = [(each, NAMES.get(each.__name__)) for each in type(self).__mro__]
        found = [name for each, name in names if each.__module__ == f"{__package__}.{name}"]  # not a user's Polynomial
        if not found:
            raise AttributeError(f"the class {type(self).__name__} of kernels needs a name")
        return id_of(found[0], self.get_params())

    def isotropic(self) -> tuple[Self, np.ndarray | None]:
        """Return a kernel without length scales per column, and these (d,) to divide by first, None if it has none."""
        return self, None

    @abstractmethod
    def _values(self, X, Y) -> np.ndarray:
        """Return the matrix (n, m) of arrays of one type, which have been checked; Y is X where none was passed."""

    def against(self, Y, rows: int, device, dtype):
        """Return a fast function for the kernel values of many blocks of rows with one Y (m, d).

        Parameters
        ----------
        Y : array-like or csr matrix of shape (m, d)
        rows : int
            The largest number of rows of a block.
        device : torch.device
        dtype : torch.float32 or torch.float64
            The type of the values. All but the last one or two roundings are in float64.

        Returns
        -------
        A function of a tensor X (r, d) on ``device``, r <= ``rows``, that returns the tensor ``kernel(X, Y)`` (r, m)
        there, valid until its next call. X may be sparse, as of ``row_reader``, if the kernel ``takes_sparse_rows``.
        """
        Y = check_numbers(Y, "Y")
        Y = Y.astype(np.float64) if issparse(Y) and self.takes_sparse_rows else dense(Y).astype(np.float64)
        return lambda X: torch.from_numpy(self(as_rows(X.cpu().double()), Y)).to(device, dtype)

    def draw_coordinates(self, rng: np.random.Generator, shape) -> np.ndarray:
        """Draw what is left of the frequencies without the factors of ``draw_scales``: independent coordinates."""
        return self.draw_frequencies(rng, shape)

    def draw_scales(self, rng: np.random.Generator, size: int) -> np.ndarray | None:
        """Draw the random factors (size,) of frequencies; None if the coordinates of a frequency are independent."""
        return None

    def get_params(self, deep: bool = True) -> dict:
        """Return the constructor's parameters by name (scikit-learn's convention, so that ``clone`` works)."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def with_params(self, **params) -> Self:
        """Return a kernel with other parameters. This one, which others may share, does not change.

        Raises ``ValueError`` for a parameter that the kernel does not have, or a value outside its range.
        """
        known = self.get_params()
        for name in params:
            check_known(f"the kernel {self.name} has no parameter", name, known, ValueError)
        return replace(self, **params)

    def set_params(self, **params) -> Self:
        """Return ``with_params``, by its former name, with a ``FutureWarning``.

        An estimator of scikit-learn, such as ``SVC(kernel=Gaussian())``, calls it for ``kernel__length_scale`` and does
        not use the result: its kernel stays as it is.
        """
        message = (
            "a kernel does not change: its set_params is now called with_params and returns another kernel, and in a"
            " search of scikit-learn, list kernels: kernel=[Gaussian(1.0), Gaussian(2.0)]; the old name will go"
        )
        warnings.warn(message, FutureWarning, stacklevel=2)
        return self.with_params(**params)

    def completed_by(self, X, y=None) -> Self:
        """Return the kernel for data X (n, d), as for a call or a tensor. A rule for the length scale becomes a number.

        The rule "ard" needs the targets y (n,) or (n, c), and finds a number per column.
        """
        X = check_numbers(X)
        rule = self.get_params().get("length_scale")
        if not isinstance(rule, str):
            return self
        rows = X if isinstance(X, torch.Tensor) else without_duplicates(check_pairwise_arrays(X, None)[0])
        return self.with_params(length_scale=RULES[rule](rows, y))


class SpectralKernel(Kernel):
    """A kernel that is an expectation over frequencies with independent coordinates of one distribution."""

    #: None for shift-invariant kernels; otherwise a function (projections, out) of two torch tensors of shape (n, s)
    #: that writes the activation of the projections into ``out``.
    activation = None

    @abstractmethod
    def frequency_quantile(self, probabilities) -> np.ndarray:
        """Return quantiles of a number of ``draw_coordinates``, elementwise for probabilities inside (0, 1)."""

    @abstractmethod
    def draw_frequencies(self, rng: np.random.Generator, shape) -> np.ndarray:
        """Draw independent frequencies, float64 of the given shape (..., d)."""


class GaussianSpectrum(SpectralKernel):
    """A kernel with frequencies N(0, ``frequency_scale``^2 I), as orthogonal and structured maps need it."""

    @property
    def frequency_scale(self) -> float:
        """Return the standard deviation of a number of ``draw_coordinates``: 1 / l, unless a subclass has another."""
        return 1.0 / self.ell

    def frequency_quantile(self, probabilities):
        return self.frequency_scale * ndtri(probabilities)

    def draw_frequencies(self, rng, shape):
        return self.frequency_scale * rng.standard_normal(shape)


def positive_stable(rng: np.random.Generator, index: float, size) -> np.ndarray:
    """Draw positive stable numbers A with E exp(-t A) = exp(-t^index), 0 < index <= 1 (Kanter, 1975)."""
    angle, exponential = rng.uniform(0.0, np.pi, size), rng.exponential(size=size)
    other = np.sin((1.0 - index) * angle) / exponential
    return np.sin(index * angle) / np.sin(angle) ** (1.0 / index) * other ** ((1.0 - index) / index)


@dataclass(frozen=True)
class Scaled(Kernel):
    """A kernel of x / l and y / l.

    The ``length_scale`` l is a number > 0, an array of d numbers, one per column, or a rule; ``ValueError`` otherwise.
    """

    length_scale: float | str | tuple = 1.0

    def __post_init__(self):
        stated = check_numbers(self.length_scale, "length_scale")
        names = getattr(stated, "index", None)
        if names is not None and not callable(names) and [*names] != [*range(len(names))]:  # a Series of pandas
            raise ValueError("length_scale has names, which a kernel ignores: give length_scale[X.columns].to_numpy()")
        if np.ndim(stated) == 1 and not isinstance(stated, tuple):
            object.__setattr__(self, "length_scale", tuple(np.asarray(on_host(stated)).tolist()))
        elif isinstance(self.length_scale, np.generic) and not isinstance(self.length_scale, float):
            # float32 overflows where it meets the limits, or is squared
            object.__setattr__(self, "length_scale", self.length_scale.item())
        check_length_scale(self.length_scale)

    def isotropic(self):
        if not isinstance(self.length_scale, tuple):
            return self, None
        return replace(self, length_scale=1.0), np.array(self.length_scale)

    @property
    def ell(self) -> float:
        """Return l as a number, or an array (d,); ``ValueError`` if it is a rule that needs data."""
        if isinstance(self.length_scale, tuple):
            return np.array(self.length_scale)
        if isinstance(self.length_scale, str):
            raise ValueError(
                f"length_scale={self.length_scale!r} waits for data: a map learns it when it is fitted, and"
                " kernel.completed_by(X) is the kernel with the number"
            )
        return self.length_scale

    def check_distance(self, farthest: float) -> None:
        """Raise ``ValueError`` for a distance whose square overflows, or does so in length scales."""
        if not farthest <= LARGEST * min(1.0, self.ell):
            raise ValueError(f"distances above {LARGEST:g}, or as many length scales, overflow: scale the data")


@dataclass(frozen=True)
class ScaleMixture(Scaled, GaussianSpectrum):
    r"""A function of :math:`r = \|x - y\| / \ell` that is a mixture of Gaussian kernels of all length scales.

    Its frequencies are normal vectors times one random factor each, :math:`w = \sqrt{R}\, g / \ell`, because
    :math:`k(x, y) = E\, e^{-R r^2 / 2}` (Langrene, Warin and Gruet, 2024, arXiv 2411.02770). A map for the Gaussian
    kernel, orthogonal, structured or quasi-Monte Carlo, becomes one for the mixture by the factors of its frequencies.
    A subclass defines R (``draw_scales`` returns its root) and the kernel as a function of r (``of_distance``).
    """

    def __post_init__(self):
        super().__post_init__()
        for field in fields(self)[1:]:
            check_positive(field.name, getattr(self, field.name))
        if getattr(self, "exponent", 2.0) > 2.0:
            raise ValueError(f"exponent must be at most 2, got {self.exponent!r}: larger ones make no kernel")

    @abstractmethod
    def of_distance(self, r: np.ndarray) -> np.ndarray:
        """Return the kernel at distances r in length scales, elementwise."""

    @abstractmethod
    def draw_scales(self, rng, size):
        """Draw the roots (size,) of R."""

    def draw_coordinates(self, rng, shape):
        return GaussianSpectrum.draw_frequencies(self, rng, shape)

    def draw_frequencies(self, rng, shape):
        return self.draw_coordinates(rng, shape) * self.draw_scales(rng, shape[:-1])[..., None]

    def _values(self, X, Y):
        distances = cdist(X, Y)
        self.check_distance(float(distances.max(initial=0.0)))
        return self.of_distance(distances / self.ell).astype(X.dtype, copy=False)
