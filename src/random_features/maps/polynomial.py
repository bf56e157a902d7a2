"""Random features for the polynomial kernel: random Maclaurin, tensor sketch and tensorised random projections.

All three (RM, TS and TRP) have s real columns and are unbiased.
"""

from functools import partial
from math import comb
from typing import Literal

import numpy as np
import torch

from random_features.hadamard import random_signs
from random_features.kernels.polynomial import Polynomial
from random_features.maps.base import RandomFeatureMap
from random_features.tensors import constant, write


class PolynomialMap(RandomFeatureMap):
    """Base class of the maps for :class:`~random_features.kernels.Polynomial`, with D = s columns."""

    default_kernel = Polynomial()

    def _count_columns(self):
        return self.n_components

    def _growth(self):
        return self.kernel_.degree

    def _augmented_columns(self, n_features):
        """Return the columns of (sqrt(coef0), x), whose linear kernel to the power of the degree is the kernel."""
        return n_features + (self.kernel_.coef0 > 0)

    def _augment(self, X):
        if self.kernel_.coef0 == 0:
            return X
        return torch.nn.functional.pad(X, (1, 0), value=self.kernel_.coef0**0.5)

    def _augmented_product(self, X):
        """Return a function of B (d or d + 1, m): the augmented rows of X (r, d), dense or sparse, times B."""
        if not X.is_sparse or self.kernel_.coef0 == 0:
            return partial(torch.matmul, self._augment(X))
        return lambda B: (X @ B[1:]).add_(B[0], alpha=self.kernel_.coef0**0.5)


class RandomMaclaurin(PolynomialMap):
    r"""Random Maclaurin features: every feature samples one power of the kernel's series.

    .. math:: \phi_i(x) = \sqrt{\frac{a_N}{s\, P(N)}} \prod_{q=1}^{N} r_{iq}^T x, \qquad N \sim P, \qquad
       a_N = \binom{p}{N} c^{\,p - N}

    with r_iq random signs and a_N the coefficients of :math:`(u + c)^p`. P(N) is proportional to 2^-(N + 1) over the
    powers that the kernel has; over all powers, as in Kar and Karnick, some columns would be zero. With :math:`m =
    \|x\|^2 \|y\|^2 + 2 \langle x, y \rangle^2 - 2 \sum_j x_j^2 y_j^2` the variance of an entry of the approximate
    kernel matrix is :math:`\frac1s [\sum_N a_N^2 m^N / P(N) - k^2]`. Time O(s d) times the mean power per row.

    Parameters
    ----------
    kernel : Polynomial, default None
        None is ``Polynomial(2, 1.0)``.
    n_components : int, default 100
        s; D = s columns.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    powers_ : int ndarray of shape (s,)
        N, falling.

    References
    ----------
    Kar and Karnick, Random feature maps for dot product kernels, AISTATS 2012, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.kernels import Polynomial
    >>> from random_features.maps.polynomial import RandomMaclaurin
    >>> X = np.eye(3)
    >>> Z = RandomMaclaurin(Polynomial(2), n_components=20000, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - Polynomial(2)(X)).max() < 0.2)
    True
    """

    _takes_sparse_rows = True

    def _draw(self, n_features, rng):
        degree, s = self.kernel_.degree, self.n_components
        coefficients = maclaurin_coefficients(degree, self.kernel_.coef0)
        probabilities = power_probabilities(coefficients)
        # In falling order, so that the columns with a q-th factor are the first ones.
        self.powers_ = np.sort(rng.choice(degree + 1, size=s, p=probabilities))[::-1]
        ratios = np.divide(coefficients, probabilities, out=np.zeros(degree + 1), where=probabilities > 0)
        self._scales = np.sqrt(ratios[self.powers_] / s)
        widths = [np.count_nonzero(self.powers_ > factor) for factor in range(self.powers_[0])]
        self.signs_ = [random_signs(rng, (n_features, width)) for width in widths]

    def _mapper(self, rows, device, dtype):
        signs = [constant(factor, device, dtype) for factor in self.signs_]
        scales = constant(self._scales, device, dtype)

        def fill(X, out):
            out.copy_(scales.expand_as(out))
            for factor in signs:
                out[:, : factor.shape[1]].mul_(X @ factor)

        return fill


class TensorSketch(PolynomialMap):
    r"""Tensor sketch: the circular convolution of independent count sketches.

    .. math:: \phi(x) = \mathcal F^{-1} \Big( \prod_{q=1}^{p} \mathcal F\, C_q \tilde x \Big), \qquad
       \tilde x = (\sqrt c, x)

    where the count sketch C_q adds entry j of its argument, with a random sign, to the entry h_q(j) of its result, h_q
    uniform on s entries. Time O(d + s log s) times the degree per row, memory O(d). Sparse data are made dense, one
    block of rows at a time.

    For the degree 2, with :math:`u = \langle \tilde x, \tilde y \rangle`, :math:`D = \sum_j \tilde x_j^2 \tilde y_j^2`,
    :math:`P = \|\tilde x\|^2 \|\tilde y\|^2 - D` and :math:`R = u^2 - D`, the variance of an entry of the approximate
    kernel matrix is :math:`\frac1s [2 u^2 (P + R) + P^2 + R^2] + \frac{c_s}{s^2} 2 P R`, with c_s = 1 for odd s and 2
    for even s.

    Parameters
    ----------
    kernel : Polynomial, default None
        None is ``Polynomial(2, 1.0)``.
    n_components : int, default 100
        s; D = s columns.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    hashes_ : int ndarray of shape (p, d + 1)
        h_q; d columns for coef0 = 0.
    signs_ : int8 ndarray like ``hashes_``

    References
    ----------
    Pham and Pagh, Fast and scalable polynomial kernels via explicit feature maps, KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.kernels import Polynomial
    >>> from random_features.maps.polynomial import TensorSketch
    >>> X = np.eye(3)
    >>> Z = TensorSketch(Polynomial(2), n_components=20000, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - Polynomial(2)(X)).max() < 0.2)
    True
    """

    def _draw(self, n_features, rng):
        shape = (self.kernel_.degree, self._augmented_columns(n_features))
        self.hashes_ = rng.integers(self.n_components, size=shape)
        self.signs_ = random_signs(rng, shape)

    def _mapper(self, rows, device, dtype):
        hashes = constant(self.hashes_, device)
        signs = constant(self.signs_, device, dtype)

        def sketch(columns, q):
            # Sums into rows of the transposed result are contiguous.
            sums = torch.zeros(self.n_components, columns.shape[1], device=device, dtype=dtype)
            return torch.fft.rfft(sums.index_add_(0, hashes[q], columns * signs[q, :, None]).T)

        def fill(X, out):
            columns = self._augment(X).T.contiguous()
            product = sketch(columns, 0)
            for q in range(1, len(hashes)):
                product *= sketch(columns, q)
            out.copy_(torch.fft.irfft(product, n=self.n_components))

        return fill


class TensorisedProjection(PolynomialMap):
    r"""Tensorised random projections: products of random-sign projections of the augmented data.

    .. math:: \phi_i(x) = s^{-1/2} \prod_{q=1}^{p} r_{iq}^T \tilde x, \qquad \tilde x = (\sqrt c, x)

    with r_iq random signs. With :math:`m = \|\tilde x\|^2 \|\tilde y\|^2 + 2 \langle \tilde x, \tilde y \rangle^2 - 2
    \sum_j \tilde x_j^2 \tilde y_j^2` the variance of an entry of the approximate kernel matrix is :math:`\frac1s (m^p -
    k^2)`. (The power is fixed here. The survey's appendix samples it by Maclaurin coefficients, which describes RM.)
    Time O(p s d) per row.

    Complex entries are uniform on 1, -1, i and -i. The features are the real and the imaginary parts of s / 2 products,
    times :math:`\sqrt{2 / s}`. With :math:`S = \sum_j \tilde x_j^2 \tilde y_j^2`, the variance for even s is

    .. math:: \frac1s \big[ (\|\tilde x\|^2 \|\tilde y\|^2 + \langle \tilde x, \tilde y \rangle^2 - S)^p
       + (2 \langle \tilde x, \tilde y \rangle^2 - S)^p - 2 k^2 \big],

    less than with real signs for higher degrees and data of one sign.

    Parameters
    ----------
    kernel : Polynomial, default None
        None is ``Polynomial(2, 1.0)``.
    n_components : int, default 100
        s; D = s columns.
    entries : {"real", "complex"}
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    signs_ : int8 ndarray of shape (p, d + 1, s)
        r; d rows for coef0 = 0. With complex entries (2, p, d + 1, s / 2), the real and the imaginary parts.

    References
    ----------
    Meister, Sarlos and Woodruff, Tight dimensionality reduction for sketching low degree polynomial kernels, NeurIPS
    2019; Wacker, Ohana and Filippone, Complex-to-real sketches for tensor products, AISTATS 2023 (arXiv 2202.02031);
    Wacker, Kanagawa and Filippone, Improved random features for dot product kernels, 2022 (arXiv 2201.08712).

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.kernels import Polynomial
    >>> from random_features.maps.polynomial import TensorisedProjection
    >>> X = np.eye(3)
    >>> Z = TensorisedProjection(Polynomial(2), n_components=20000, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - Polynomial(2)(X)).max() < 0.2)
    True
    """

    _takes_sparse_rows = True

    entries: Literal["real", "complex"] = "real"

    def _draw(self, n_features, rng):
        shape = (self.kernel_.degree, self._augmented_columns(n_features), self.n_components)
        if self.entries == "real":
            self.signs_ = random_signs(rng, shape)
        else:
            quarter = rng.integers(4, size=(*shape[:2], -(-shape[2] // 2)))
            self.signs_ = np.stack([np.round(part(np.pi / 2 * quarter)) for part in (np.cos, np.sin)]).astype(np.int8)

    def _work_columns(self):
        return (1 if self.entries == "real" else 3) * self.n_components

    def _mapper(self, rows, device, dtype):
        signs = constant(self.signs_, device, dtype)
        if self.entries == "complex":
            return self._complex_mapper(signs)
        scale = self.n_components**-0.5

        def fill(X, out):
            times = self._augmented_product(X)
            write(torch.mul, times(signs[0]), scale, out=out)
            for factor in signs[1:]:
                out.mul_(times(factor))

        return fill

    def _complex_mapper(self, signs):
        scale, half = (2.0 / self.n_components) ** 0.5, signs.shape[-1]

        def fill(X, out):
            times = self._augmented_product(X)
            products = [torch.complex(times(real), times(imaginary)) for real, imaginary in zip(*signs, strict=True)]
            features = scale * torch.stack(products).prod(dim=0)
            out[:, :half] = features.real
            out[:, half:] = features.imag[:, : out.shape[1] - half]  # an odd number of columns ends with a real part

        return fill


def maclaurin_coefficients(degree: int, coef0: float) -> np.ndarray:
    """Return the coefficients a_0, ..., a_p of (u + c)^p in powers of u, float64 of shape (p + 1,)."""
    return np.array([comb(degree, power) * float(coef0) ** (degree - power) for power in range(degree + 1)])


def power_probabilities(coefficients: np.ndarray) -> np.ndarray:
    """Return the probabilities P(N) of the powers 0, ..., p: 2^-(N + 1), scaled, where the coefficient is not zero."""
    halves = np.where(coefficients > 0, 0.5 ** (1.0 + np.arange(len(coefficients))), 0.0)
    return halves / halves.sum()
