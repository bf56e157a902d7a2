"""Weighted rules for the Gaussian integral in d dimensions: sparse grid (SGQ) and spherical-radial rules (SSR).

SGQ is the third-degree Smolyak rule, SSR uses random simplices. A rule replaces the expectation of f over the
frequencies by c f(0) plus the sum of w_i f(omega_i), with weights that sum to 1. The points come in pairs of opposite
sign, which have the same cosine, so that one frequency represents a pair; an arc-cosine kernel needs both.
"""

from typing import ClassVar, Literal

import numpy as np
import torch

from random_features.errors import NotDefinedError
from random_features.hadamard import next_power_of_two
from random_features.maps.montecarlo import haar_rows
from random_features.maps.spectral import SpectralMap, projector, spectral_mapper
from random_features.tensors import constant

#: Butterflies in one random rotation, each after a permutation, as in Munkhoeva et al.
N_BUTTERFLIES = 3


class CubatureMap(SpectralMap):
    """Base class: a subclass draws its points in ``_draw_frequencies`` and sets the two attributes below.

    With p_i the projection of x on frequency i, the features are sqrt(w_i) cos(p_i) and sqrt(w_i) sin(p_i), or
    sqrt(w_i) a(p_i) and sqrt(w_i) a(-p_i) for a kernel with an activation a, and one constant column sqrt(c f(0)) if
    that is not zero.

    Attributes
    ----------
    point_weights_ : float64 ndarray of shape (s,)
        w_i >= 0, one for each pair of opposite points.
    origin_weight_ : float
        c >= 0, the weight of f(0) in the features.
    """

    layout: ClassVar[str] = "cos_sin"

    def _origin_value(self):
        """Return f(0), the square of a feature at a projection of 0."""
        if self.kernel_.activation is None:
            return 1.0
        value = torch.empty(1, dtype=torch.float64, device="cpu")
        self.kernel_.activation(torch.zeros_like(value), value)
        return 2.0 * float(value) ** 2

    def _count_columns(self):
        return 2 * self.n_components + (self.origin_weight_ * self._origin_value() > 0)

    def _mapper(self, rows, device, dtype):
        project, activation = self._scaled_projector(rows, device, dtype), self.kernel_.activation
        at_origin = np.sqrt(self.origin_weight_ * self._origin_value())
        scale = constant(np.sqrt(np.tile(self.point_weights_, 2)), device, dtype)

        def on_both(X):
            projections = project(X)
            return torch.cat([projections, -projections], dim=1)

        of_points = project if activation is None else on_both
        fill_points = spectral_mapper(of_points, scale, activation=activation, pairs=activation is None)

        def fill(X, out):
            fill_points(X, out[:, : len(scale)])
            out[:, len(scale) :] = at_origin

        return fill


class SparseGridQuadrature(CubatureMap):
    r"""Sparse grid quadrature: the Smolyak rule of degree 3, whose points lie on the axes.

    .. math:: k(x, y) \approx w_0 f(0) + 2 a_1 \sum_{j=1}^{d} f(p\, e_j / \ell), \qquad
       a_1 = \frac{1}{2 p^2},\quad w_0 = 1 - \frac{d}{p^2}

    with :math:`f(\omega) = \cos(\omega^T (x - y))`, e_j the unit vectors and any node p: exact for the moments of N(0,
    I) up to degree 3. For w_0 >= 0 it has features [sqrt(2 a_1) cos | sqrt(2 a_1) sin] of the d axes and a constant
    column sqrt(w_0). (The survey's map has a_0 in place of w_0 and the weights in place of their square roots. It
    counts the points p e_j and -p e_j, whose features are the same, separately.)

    With s < d frequencies, s axes are chosen at random. With s > d, each further set of d axes is turned by a random
    rotation of its own, and the rules are averaged. The map is deterministic for s = d. Time O(s) per row for the axes,
    O(s d) for the rotated ones.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies, the origin not counted; D = 2 s columns, and one more where w_0 f(0) > 0.
    node : {"sqrt_d_plus_2", "sqrt_d", "sqrt_3"}
        p. With sqrt(d + 2) also the radial moment of degree 4 is exact, and thus every moment up to degree 5 in the
        mean over rotations. With sqrt(d) the origin has no weight: right for the arc-cosine kernel of order 0, which
        is not smooth there. sqrt(3) is the node of the Gauss-Hermite rule; as w_0 = 1 - d / 3, there are no real
        features for d > 3, and ``fit`` raises ``ValueError``.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    axes_ : int ndarray of shape (min(s, d),)
        The axes in use.
    rotated_ : ndarray of shape (max(s - d, 0), d)
        The frequencies of the rotated rules.

    References
    ----------
    Dao, De Sa and Re, Gaussian quadrature for kernel features, NIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.cubature import SparseGridQuadrature
    >>> phi = SparseGridQuadrature(n_components=3, node="sqrt_d").fit(np.zeros((1, 3)))
    >>> phi.dense_frequencies().round(3)
    array([[1.732, 0.   , 0.   ],
           [0.   , 1.732, 0.   ],
           [0.   , 0.   , 1.732]])
    """

    node: Literal["sqrt_d_plus_2", "sqrt_d", "sqrt_3"] = "sqrt_d_plus_2"

    def _draw_frequencies(self, n_features, rng):
        s, d = self.n_components, n_features
        squared_node = {"sqrt_d_plus_2": d + 2, "sqrt_d": d, "sqrt_3": 3}[self.node]
        self.origin_weight_ = 1.0 - d / squared_node
        if self.origin_weight_ < 0:
            raise NotDefinedError(
                f"sgq with node={self.node!r} has no real features for {d} columns: the weight of the origin is "
                f"1 - d / 3 = {self.origin_weight_:.3g}; use another node"
            )
        self.point_weights_ = np.full(s, (1.0 - self.origin_weight_) / s)
        self._node = self.kernel_.frequency_scale * np.sqrt(squared_node)
        self.axes_ = np.sort(rng.permutation(d)[:s]) if s < d else np.arange(d)
        n_rotated = s - len(self.axes_)
        self.rotated_ = self._cast(self._node * haar_rows(rng, -(-n_rotated // d), d, d).reshape(-1, d)[:n_rotated])

    _takes_sparse_rows = True

    def _projector(self, rows, device, dtype):
        axes, on_rotated = constant(self.axes_, device), projector(self.rotated_, rows, device, dtype)

        def project(X):
            on_axes = X.index_select(1, axes).to_dense() if X.is_sparse else X[:, axes]
            return torch.cat([self._node * on_axes, on_rotated(X)], dim=1)

        return project


class SphericalRadial(CubatureMap):
    r"""Stochastic spherical-radial features: randomly rotated simplices with random radii.

    .. math:: \omega_j = \frac{\rho_j}{\ell} Q v_j, \qquad \rho_j \sim \chi_{d+2}, \qquad
       \tilde k(x, y) = \Big(1 - \frac1s \sum_j \frac{d}{\rho_j^2}\Big) f(0)
       + \frac1s \sum_{j=1}^{s} \frac{d}{\rho_j^2} f(\omega_j)

    with v_1, ..., v_{d+1} the corners of a regular simplex in the unit sphere, Q a random rotation for each d + 1
    frequencies and :math:`f(\omega) = \cos(\omega^T (x - y))`. Exact for polynomials of degree 3, and unbiased, because
    :math:`E[d / \rho^2] = 1`; if s is not a multiple of d + 1, the first s points are used.

    The weight of f(0), which the survey gives without the factor 1 / (d + 1), has the mean 0 and is often negative. No
    real features then have this estimate as their inner product. Therefore:

    * ``transform`` returns features with the weights normalised to the sum 1 and no constant. Their kernel is positive
      semi-definite with k(x, x) = 1 and has a bias that falls with the number of simplices;
    * ``approximate_kernel`` returns, with ``weights="signed"``, the estimate above, and with ``weights="selfnorm"`` the
      inner products of the features.

    For the arc-cosine kernels of orders 1 and 2, f(0) is 0, and both are the unbiased estimate.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies, one for each pair of opposite points; D = 2 s columns.
    weights : {"selfnorm", "signed"}
        What ``approximate_kernel`` computes; the features are the same.
    rotation : {"haar", "butterfly"}
        Uniform rotations, held as a matrix: time O(s d) per row. Or products of Givens rotations in butterfly order
        after random permutations, three times: time O(s log d), memory O(s log d), on the next power of two p >= d
        dimensions (data are padded with zeros, d above becomes p), and uniform only nearly. Sparse data are made dense
        for butterflies, one block of rows at a time.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    signed_origin_weight_ : float
        The weight of f(0) in the signed estimate.

    References
    ----------
    Munkhoeva, Kapushev, Burnaev and Oseledets, Quadrature-based features for kernel approximation, NeurIPS 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.kernels import Gaussian
    >>> from random_features.maps.cubature import SphericalRadial
    >>> X = 0.2 * np.random.default_rng(0).normal(size=(20, 6))
    >>> phi = SphericalRadial(n_components=70, weights="signed", random_state=0).fit(X)
    >>> bool(np.abs(phi.approximate_kernel(X) - Gaussian()(X)).max() < 0.03)
    True
    """

    weights: Literal["selfnorm", "signed"] = "selfnorm"
    rotation: Literal["haar", "butterfly"] = "haar"

    def approximate_kernel(self, X, Y=None):
        """Return the approximate kernel matrix with the weights that ``weights`` names.

        Parameters
        ----------
        X : array-like of shape (n, d)
        Y : array-like of shape (m, d), optional
            X by default.

        Returns
        -------
        ndarray of shape (n, m)
        """
        # ``transform`` would return frames where ``set_output`` of scikit-learn asks for them
        features, *others = (self._features(self._rows_to_map(each)) for each in (X, Y) if each is not None)
        products = features @ (others[0] if others else features).T
        if self._as_fitted().weights == "selfnorm" or self._origin_value() == 0:
            return products
        return (1.0 - self.signed_origin_weight_) * products + self.signed_origin_weight_ * self._origin_value()

    def _draw_frequencies(self, n_features, rng):
        s, d = self.n_components, n_features
        dimension = d if self.rotation == "haar" else next_power_of_two(d)
        n_simplices = -(-s // (dimension + 1))
        radii = np.sqrt(rng.chisquare(dimension + 2, size=s))
        weights = dimension / radii**2
        self.signed_origin_weight_ = 1.0 - weights.mean()
        self.origin_weight_ = 0.0
        self.point_weights_ = weights / (weights.sum() if self._origin_value() > 0 else s)
        self._lengths = self.kernel_.frequency_scale * radii
        if self.rotation == "haar":
            self._permutations = self._angles = None  # of an earlier draw
            directions = (simplex_corners(d) @ haar_rows(rng, n_simplices, d, d)).reshape(-1, d)[:s]
            return self._lengths[:, None] * directions
        shape, levels = (N_BUTTERFLIES, n_simplices, dimension), dimension.bit_length() - 1
        self._permutations = rng.permuted(np.broadcast_to(np.arange(dimension), shape), axis=2)
        self._angles = rng.uniform(0.0, 2.0 * np.pi, size=(N_BUTTERFLIES, levels, n_simplices, dimension // 2))
        return None

    @property
    def _takes_sparse_rows(self):
        return self.rotation == "haar"

    def _projector(self, rows, device, dtype):
        if self.rotation == "haar":
            return super()._projector(rows, device, dtype)
        _, n_simplices, p = self._permutations.shape
        d, s = self.n_features_in_, self.n_components
        permutations = [constant(index, device) for index in self._permutations]
        angles = constant(self._angles, device, dtype)
        cosines, sines = torch.cos(angles), torch.sin(angles)
        on_axis, off_axis = (constant(entries, device, dtype) for entries in _simplex_entries(p))
        lengths = constant(self._lengths, device, dtype)

        def project(X):
            values = torch.zeros(len(X), n_simplices, p, device=device, dtype=dtype)
            values[:, :, :d] = X[:, None, :]
            for butterfly, permutation in enumerate(permutations):
                values = values.gather(2, permutation.expand_as(values))
                for level in range(len(cosines[butterfly])):
                    values = _givens_level(values, cosines[butterfly, level], sines[butterfly, level], 2**level)
            corners = torch.zeros(len(X), n_simplices, p + 1, device=device, dtype=dtype)
            corners[:, :, 1:] = torch.cumsum(values * off_axis, dim=2)
            corners[:, :, :p].add_(values * on_axis)
            return corners.view(len(X), -1)[:, :s].mul_(lengths)

        return project

    def _work_columns(self):
        return 2 * self.n_components


def simplex_corners(d: int) -> np.ndarray:
    """Return the corners of a regular simplex in the unit sphere, (d + 1, d): unit rows with inner products -1 / d."""
    on_axis, off_axis = _simplex_entries(d)
    corners = np.tril(np.broadcast_to(off_axis, (d + 1, d)), k=-1)
    corners[np.arange(d), np.arange(d)] = on_axis
    return corners


def _simplex_entries(d):
    """Return the entries of corners: corner i has ``on_axis[i]`` at i, ``off_axis[j]`` at all j < i, then zeros."""
    remaining = d - np.arange(d)
    on_axis = np.sqrt((d + 1) * remaining / (d * (remaining + 1)))
    return on_axis, -on_axis / remaining


def _givens_level(values, cosines, sines, stride):
    """Rotate the planes of coordinates ``stride`` apart; values (r, blocks, p), angles (blocks, p / 2)."""
    rows, blocks, p = values.shape
    planes = values.view(rows, blocks, p // (2 * stride), 2, stride)
    shape = (blocks, p // (2 * stride), stride)
    cosines, sines = cosines.view(shape), sines.view(shape)
    first, second = planes[:, :, :, 0], planes[:, :, :, 1]
    rotated = torch.stack((first * cosines - second * sines, first * sines + second * cosines), dim=3)
    return rotated.view(rows, blocks, p)
