"""Frequencies that are products of diagonals and Hadamard matrices: SORF, ROM and Fastfood.

W consists of independent square blocks of order p, the power of two at or above d (data are padded with zeros). A block
is stored as its diagonals, O(p), and applied by the fast transform, O(p log p). No map here ever holds W. If s is not a
multiple of p, the first s rows are used: every row of a block has the same distribution.
"""

from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np
import torch

from random_features.hadamard import next_power_of_two, random_signs, sequency_order, walsh_hadamard
from random_features.maps.spectral import SpectralMap
from random_features.tensors import constant, write


class HadamardBlocksMap(SpectralMap):
    """Base class: a subclass draws the factors of its blocks and lists them.

    Attributes
    ----------
    block_size_ : int
        p.
    """

    @abstractmethod
    def _draw_blocks(self, n_blocks: int, rng: np.random.Generator) -> None:
        """Draw the factors of ``n_blocks`` blocks of order ``block_size_``."""

    @abstractmethod
    def _factors(self) -> list:
        """Return the factors of W in the order of their application; the first must be a diagonal.

        A float array (blocks, p) is a diagonal, an integer array (blocks, p) a permutation (entry i of the result is
        entry ``array[i]``), ``walsh_hadamard`` the orthonormal Hadamard matrix.
        """

    def _draw_frequencies(self, n_features, rng):
        self.block_size_ = next_power_of_two(n_features)
        self._draw_blocks(self._n_blocks(), rng)

    def _n_blocks(self):
        return -(-self.n_components // self.block_size_)

    def _work_columns(self):
        return self._n_blocks() * self.block_size_

    def _projector(self, rows, device, dtype):
        p, d, s = self.block_size_, self.n_features_in_, self.n_components
        shape = (rows, self._n_blocks(), p)
        buffers = torch.empty(shape, device=device, dtype=dtype), torch.empty(shape, device=device, dtype=dtype)
        entry, *rest = self._factors()
        entry = constant(entry, device, dtype)[:, :d]
        steps = [_step(factor, device, dtype) for factor in rest]

        def project(X):
            values, work = (buffer[: len(X)] for buffer in buffers)
            values[:, :, d:] = 0
            write(torch.mul, X[:, None, :], entry, out=values[:, :, :d])
            for step in steps:
                values, work = step(values, work)
            return values.view(len(X), -1)[:, :s]

        return project


def _step(factor, device, dtype):
    """Return a function (values, spare) -> (result, spare) that applies a factor to tensors (r, blocks, p)."""
    if factor is walsh_hadamard:
        return factor
    if factor.dtype.kind == "i":
        offsets = np.arange(len(factor))[:, None] * factor.shape[1]
        flat = constant((factor + offsets).ravel(), device)

        def permute(values, spare):
            rows = len(values)
            write(torch.index_select, values.view(rows, -1), 1, flat, out=spare.view(rows, -1))
            return spare, values

        return permute

    diagonal = constant(factor, device, dtype)
    return lambda values, spare: (values.mul_(diagonal), spare)


class RandomOrthogonalMatrices(HadamardBlocksMap):
    r"""Random orthogonal matrices: a product of t Hadamard matrices and sign diagonals.

    .. math:: W = \frac{\sqrt{p}}{\ell} \prod_{i=1}^{t} H D_i \quad\text{per block},
       \qquad \phi(x) = s^{-1/2} [\cos(Wx) \,|\, \sin(Wx)]

    With t = 3 and the natural order this has the same distribution as SORF. t = 1 has the least variance and the same
    kind of bias. Time O(t s log p) per row, memory O(t s). Sparse data are made dense, one block of rows at a time.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies.
    n_factors : int, default 3
        t >= 1.
    order : {"natural", "sequency"}
        Order of the rows of every H: Sylvester's, or by the number of sign changes (Walsh).
    layout : {"cos_sin", "phase"}
        D = 2 s or D = s columns.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    signs_ : int8 ndarray of shape (t, blocks, p)
        The diagonals, the one that is applied first at index 0.

    References
    ----------
    Choromanski, Rowland and Weller, The unreasonable effectiveness of structured random orthogonal embeddings, NIPS
    2017.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.structured import RandomOrthogonalMatrices
    >>> X = np.random.default_rng(0).normal(size=(10, 6))
    >>> Z = RandomOrthogonalMatrices(n_components=40, n_factors=1, random_state=0).fit_transform(X)
    >>> Z.shape, bool(np.allclose((Z**2).sum(axis=1), 1))
    ((10, 80), True)
    """

    n_factors: int = 3
    order: Literal["natural", "sequency"] = "natural"

    def _draw_blocks(self, n_blocks, rng):
        self.signs_ = random_signs(rng, (self.n_factors, n_blocks, self.block_size_))

    def _factors(self):
        first, *others = self.signs_.astype(np.float64)
        scale, transform = np.sqrt(self.block_size_) * self.kernel_.frequency_scale, [walsh_hadamard]
        if self.order == "sequency":
            transform.append(np.tile(sequency_order(self.block_size_), (self._n_blocks(), 1)))
        return [factor for signs in (first * scale, *others) for factor in (signs, *transform)]


class StructuredOrthogonal(RandomOrthogonalMatrices):
    r"""Structured orthogonal random features: three sign diagonals between Hadamard matrices.

    .. math:: W = \frac{\sqrt{p}}{\ell}\, H D_1 H D_2 H D_3 \quad\text{per block},
       \qquad \phi(x) = s^{-1/2} [\cos(Wx) \,|\, \sin(Wx)]

    with H the orthonormal Hadamard matrix of order p >= d (the survey's formula has d for p). All frequencies have the
    norm sqrt(p) / l, so that the map is biased: ``|E k~ - k| <= 6 z / sqrt(d)`` with ``z = |x - y| / l``. Time
    O(s log p) per row, memory O(s). Sparse data are made dense, one block of rows at a time.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies.
    layout : {"cos_sin", "phase"}
        D = 2 s or D = s columns.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    signs_ : int8 ndarray of shape (3, blocks, p)
        The diagonals, the one that is applied first at index 0.

    References
    ----------
    Yu et al., Orthogonal random features, NIPS 2016, equation (9).

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.structured import StructuredOrthogonal
    >>> phi = StructuredOrthogonal(n_components=64, random_state=0).fit(np.zeros((1, 64)))
    >>> W = phi.dense_frequencies()
    >>> bool(np.allclose(W @ W.T, 64 * np.eye(64)))
    True
    """

    n_factors: ClassVar[int] = 3
    order: ClassVar[str] = "natural"


class Fastfood(HadamardBlocksMap):
    r"""Fastfood: Gaussian frequencies from two Hadamard matrices, a permutation and three diagonals.

    .. math:: W = \frac{\sqrt{p}}{\ell}\, S H G \Pi H B \quad\text{per block},
       \qquad \phi(x) = s^{-1/2} [\cos(Wx) \,|\, \sin(Wx)]

    with H the orthonormal Hadamard matrix of order p >= d, B random signs, Pi a random permutation, G = diag(g) with g
    ~ N(0, I_p), and ``S_ii = r_i / |g|`` with r_i ~ chi_p, which gives the rows the lengths of Gaussian vectors.
    Unbiased. With H of entries +-1, as in the survey's equation (9), the factor is 1 / (l sqrt(p)); without it, as
    published there, ``E|w|^2`` would be d^2 / l^2 instead of d / l^2. Time O(s log p) per row, memory O(s). Sparse
    data are made dense, one block of rows at a time.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies.
    layout : {"cos_sin", "phase"}
        D = 2 s or D = s columns.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    signs_, permutations_, gaussians_, row_scales_ : ndarray of shape (blocks, p)
        B, Pi, G and S.

    References
    ----------
    Le, Sarlos and Smola, Fastfood: approximating kernel expansions in loglinear time, ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.kernels import Gaussian
    >>> from random_features.maps.structured import Fastfood
    >>> X = np.random.default_rng(0).normal(size=(20, 6))
    >>> Z = Fastfood(Gaussian(3.0), n_components=4000, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - Gaussian(3.0)(X)).max() < 0.06)
    True
    """

    def _draw_blocks(self, n_blocks, rng):
        p = self.block_size_
        self.signs_ = random_signs(rng, (n_blocks, p))
        self.permutations_ = rng.permuted(np.tile(np.arange(p), (n_blocks, 1)), axis=1)
        self.gaussians_ = rng.standard_normal((n_blocks, p))
        lengths = np.sqrt(rng.chisquare(p, size=(n_blocks, p)))
        self.row_scales_ = lengths / np.linalg.norm(self.gaussians_, axis=1, keepdims=True)

    def _factors(self):
        scale = np.sqrt(self.block_size_) * self.kernel_.frequency_scale
        after_signs = [walsh_hadamard, self.permutations_, self.gaussians_, walsh_hadamard, self.row_scales_]
        return [self.signs_ * scale, *after_signs]
