"""Frequencies that share their random numbers along diagonals: signed circulant blocks (SCRF) and the P-model.

A block is stored as the numbers that generate it and applied by the fast Fourier transform; neither map holds W.
"""

from typing import Literal

import torch
from scipy.fft import next_fast_len

from random_features.hadamard import next_power_of_two, random_signs, walsh_hadamard
from random_features.maps.spectral import SpectralMap
from random_features.tensors import constant, write


class SignedCirculant(SpectralMap):
    r"""Signed circulant random features: circulant blocks of order d with random signs.

    .. math:: W = C D \;\text{(input)} \quad\text{or}\quad D C \;\text{(output) per block}, \qquad
       C_{ij} = c_{(j - i) \bmod d},\; c_j \sim p \text{ i.i.d.},
       \qquad \phi(x) = s^{-1/2} [\cos(Wx) \,|\, \sin(Wx)]

    with D a diagonal of random signs and p the distribution of one coordinate of the frequencies. Every row of W is
    distributed as a frequency of RFF, so that the map is unbiased; the rows of a block depend on each other. If s is
    not a multiple of d, the first s rows are used. Time O(s log d) per row, memory O(s). Sparse data are made dense,
    one block of rows at a time.

    With output signs, which the cosine does not see, an entry of the approximate Gaussian kernel matrix has for full
    blocks, :math:`z = \|x - y\| / \ell` and r_l the circular autocorrelation of x - y at lag l, divided by that at lag
    0, the variance

    .. math:: \frac{1}{s} \Big[ \frac{(1 - e^{-z^2})^2}{2} + e^{-z^2} \sum_{l=1}^{d-1} (\cosh(z^2 r_l) - 1) \Big],

    more than the variance of RFF (the survey's section 3.1 says the same as RFF) and eight times as much for a constant
    x - y with z = 1.3, d = 8. Input signs take the correlation out of x - y.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies.
    sign_side : {"input", "output"}
        The side of the signs: at the columns of C (Zhang et al., AISTATS 2019, their implementation) or at its rows
        (Feng, Hu and Liao).
    layout : {"cos_sin", "phase"}
        D = 2 s or D = s columns.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    generators_ : ndarray of shape (blocks, d)
        c.
    signs_ : int8 ndarray of shape (blocks, d)
        The diagonals of D.

    References
    ----------
    Feng, Hu and Liao, Random feature mapping with signed circulant matrix projection, IJCAI 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.kernels import Gaussian
    >>> from random_features.maps.circulant import SignedCirculant
    >>> X = np.random.default_rng(0).normal(size=(20, 6))
    >>> Z = SignedCirculant(Gaussian(3.0), n_components=4000, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - Gaussian(3.0)(X)).max() < 0.06)
    True
    """

    sign_side: Literal["input", "output"] = "input"

    def _draw_frequencies(self, n_features, rng):
        shape = (-(-self.n_components // n_features), n_features)
        self.generators_ = self.kernel_.draw_coordinates(rng, shape)
        self.signs_ = random_signs(rng, shape)

    def _work_columns(self):
        return self.generators_.size

    def _projector(self, rows, device, dtype):
        n_blocks, d = self.generators_.shape
        signs = constant(self.signs_, device, dtype)
        spectrum = torch.fft.rfft(constant(self.generators_, device, dtype)).conj()

        def project(X):
            values = X[:, None, :] * signs if self.sign_side == "input" else X[:, None, :]
            products = torch.fft.irfft(torch.fft.rfft(values) * spectrum, n=d)
            if self.sign_side == "output":
                products *= signs
            return products.reshape(len(X), n_blocks * d)[:, : self.n_components]

        return project


class PModel(SpectralMap):
    r"""P-model features: frequencies recycled from one budget of Gaussian numbers.

    .. math:: W = \frac{1}{\ell} G D_1 H D_0, \qquad
       G_{ij} = g_{(j - i) \bmod p} \;\text{(circulant)} \quad\text{or}\quad
       G_{ij} = g_{i - j + p - 1} \;\text{(Toeplitz)}, \qquad \phi(x) = s^{-1/2} [\cos(Wx) \,|\, \sin(Wx)]

    with g independent N(0, 1), H the orthonormal Hadamard matrix of order p >= d (data are padded with zeros), and D_0
    and D_1 diagonals of random signs, which take the correlation out of the data. Row i of G is P_i^T g with
    orthonormal columns of P_i, so it is N(0, I) and the map is unbiased. (Columns of unit length, as the survey says,
    would not exclude a correlation inside a row.) Circulant blocks of p rows, each with its own numbers, are stacked to
    s rows; a Toeplitz matrix has s rows and s + p - 1 numbers.

    Given D_0 and D_1, and with :math:`z = \|x - y\| / \ell`, :math:`v = D_1 H D_0 (x - y)` and
    :math:`\rho_{ij} = v^T P_i^T P_j v / \|v\|^2`, an entry of the approximate kernel matrix has the variance

    .. math:: \frac{(1 - e^{-z^2})^2}{2 s} + \frac{1}{s^2} \sum_{i \ne j} e^{-z^2} (\cosh(z^2 \rho_{ij}) - 1).

    Time O(s log p) per row for circulant blocks, O((s + p) log(s + p)) for a Toeplitz matrix; memory O(s + p). Sparse
    data are made dense, one block of rows at a time.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies.
    structure : {"circulant", "toeplitz"}
    layout : {"cos_sin", "phase"}
        D = 2 s or D = s columns.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    generators_ : ndarray of shape (blocks, p) or (1, s + p - 1)
        g.
    signs_ : int8 ndarray of shape (2, p)
        The diagonals of D_0 and D_1.

    References
    ----------
    Choromanski and Sindhwani, Recycling randomness with structure for sublinear time kernel expansions, ICML 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.circulant import PModel
    >>> phi = PModel(n_components=10, structure="toeplitz", random_state=0).fit(np.zeros((1, 4)))
    >>> phi.generators_.shape, phi.dense_frequencies().shape
    ((1, 13), (10, 4))
    """

    structure: Literal["circulant", "toeplitz"] = "circulant"

    def _draw_frequencies(self, n_features, rng):
        p = next_power_of_two(n_features)
        self.signs_ = random_signs(rng, (2, p))
        shape = (-(-self.n_components // p), p) if self.structure == "circulant" else (1, self.n_components + p - 1)
        self.generators_ = self.kernel_.draw_coordinates(rng, shape)

    def _work_columns(self):
        return self.generators_.size

    def _projector(self, rows, device, dtype):
        s, p, d = self.n_components, self.signs_.shape[1], self.n_features_in_
        buffers = torch.empty(rows, p, device=device, dtype=dtype), torch.empty(rows, p, device=device, dtype=dtype)
        signs = constant(self.signs_, device, dtype)
        # A row of a circulant matrix is a correlation with the data; of a Toeplitz matrix the convolution at i + p - 1,
        # which a transform of s + p - 1 numbers or more gives without wrapping.
        is_circulant = self.structure == "circulant"
        length, first = (p, 0) if is_circulant else (next_fast_len(s + p - 1, real=True), p - 1)
        spectrum = torch.fft.rfft(constant(self.generators_, device, dtype), n=length)
        spectrum = spectrum.conj() if is_circulant else spectrum

        def project(X):
            values, work = (buffer[: len(X)] for buffer in buffers)
            values[:, d:] = 0
            write(torch.mul, X, signs[0, :d], out=values[:, :d])
            values, _ = walsh_hadamard(values, work)
            values.mul_(signs[1])
            products = torch.fft.irfft(torch.fft.rfft(values[:, None, :], n=length) * spectrum, n=length)
            return products.view(len(X), -1)[:, first : first + s]

        return project
