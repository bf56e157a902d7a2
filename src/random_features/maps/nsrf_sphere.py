"""Not-so-random features on the sphere: the spherical harmonics with the largest potential, one per round."""

import warnings
from numbers import Integral

import numpy as np
import torch
from scipy.special import sph_harm_y
from sklearn.utils import check_scalar

from random_features.arrays import block_rows, dense, row_blocks
from random_features.errors import NotDefinedError
from random_features.maps.game import GameMap, class_signs
from random_features.tensors import on_host

#: How far from 1 the length of a row may be before a warning about projected rows: some roundings of float32.
LENGTH_TOLERANCE = 1e-5

#: The largest size in bytes of the harmonics of the training rows that are kept for all rounds.
KEPT_BYTES = 2**28


class PeakSearchHarmonics(GameMap):
    r"""Not-so-random features on the sphere in three dimensions: harmonics that a reweighted potential prefers.

    Each round takes the pair of degree l and orders m and -m with the largest potential

    .. math:: v_\alpha(l, m) = \Big|\frac1n \sum_i y_i \alpha_i Y_l^m(x_i)\Big|^2

    of all degrees up to ``degree``; then the dual variables of a support vector machine take a step against it (see
    ``GameMap``). A pair that was taken c times in s rounds has the features :math:`\sqrt{c / s}\, [\mathrm{Re}\,
    Y_l^m(x), \mathrm{Im}\, Y_l^m(x)]`, without the second for m = 0, where it is zero. The pairs are in the order in
    which they were first taken. Time O(n degree^2) per round to learn. Sparse data are made dense.

    Parameters
    ----------
    kernel : kernel object, default None
        Not used: the kernel is learned.
    n_components : int, default 100
        s, the number of rounds.
    C : float, default 1.0
        The upper end of the dual variables.
    dual_step : float, default None
        eta of the ascent on alpha; 0 leaves alpha uniform. None is 1 / n. The gradient is 1 - 2 y Re(conj(F) Y) with
        F = sum_i y_i alpha_i Y(x_i).
    degree : int, default 30
        The largest degree that is searched: 961 harmonics, 496 pairs.
    device : {"auto", "cpu", "cuda"}
        Not used: SciPy computes the harmonics.
    random_state : int, RandomState instance or None
        Not used: nothing is random.

    Attributes
    ----------
    learned_ : dict
        ``degrees``, ``orders`` and ``potentials`` (s,) of the pairs, round by round.
    degrees_, orders_, counts_ : ndarray of shape (p,)
        The pairs in use, and how often each was taken.

    Raises
    ------
    NotDefinedError
        By ``fit``, ``draw`` and ``restore`` for data that do not have three columns. Rows whose length is not 1 are
        projected onto the sphere, with a ``UserWarning``; a row of zeros raises ``ValueError``.

    References
    ----------
    Bullins, Zhang and Zhang, Not-so-random features, ICLR 2018, Appendix A.3.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.nsrf_sphere import PeakSearchHarmonics
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> X /= np.linalg.norm(X, axis=1, keepdims=True)
    >>> phi = PeakSearchHarmonics(n_components=20).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> int(phi.degrees_[0]), int(phi.orders_[0]), phi.transform(X).shape[1] < 40
    (2, 2, True)
    """

    _component_arrays = ("degrees", "orders", "potentials")
    components_per_round_ = 1

    degree: Integral = 30

    def _check_options(self):
        super()._check_options()
        check_scalar(self.degree, "degree", Integral, min_val=0)

    def _draw(self, n_features, rng):
        if n_features != 3:
            raise NotDefinedError(
                f"{self.method}: these are the harmonics of the sphere in 3 dimensions, not in {n_features}"
            )
        self.length_scales_ = None  # of the kernel, which is not used: divided rows would leave the sphere

    def _rows_to_learn(self, X, y, **checks):
        X, y = super()._rows_to_learn(X, y, **checks)
        return self._on_sphere(X), y

    def _rows_to_map(self, X):
        return self._on_sphere(super()._rows_to_map(X))

    def _on_sphere(self, X):
        """Return X as a dense array, or a tensor: with three columns a sparse matrix would save nothing.

        Warn if rows do not have length 1; raise ``ValueError`` for a row without a direction.
        """
        X = X if isinstance(X, torch.Tensor) else dense(X)
        if X.shape[1] != 3:
            return X  # reported elsewhere
        lengths = np.linalg.norm(on_host(X), axis=1)
        if not lengths.all():
            raise ValueError("nsrf_sphere: a row of zeros has no direction and cannot be projected onto the sphere")
        if away := int(np.count_nonzero(np.abs(lengths - 1.0) > LENGTH_TOLERANCE)):
            warnings.warn(
                f"nsrf_sphere: {away} of {len(X)} rows are not of length 1 and are projected onto the sphere; "
                "use the preprocessing step unit, or data on the sphere",
                stacklevel=2,
            )
        return X

    def _evaluations_per_round(self):
        return len(pairs_up_to(self.degree)[0])

    def _searcher(self, X):
        degrees, orders = pairs_up_to(self.degree)
        harmonics = HarmonicsOfRows(X, degrees, orders)

        def search(weights, number):
            potentials = harmonics.potentials(weights)
            best = [int(potentials.argmax())]
            return {"degrees": degrees[best], "orders": orders[best], "potentials": potentials[best]}

        return search

    def _responses(self, X, components):
        return harmonics_at(X, components["degrees"], components["orders"])

    def _use(self, learned):
        pairs = np.stack([learned["degrees"], learned["orders"]])
        distinct, first, counts = np.unique(pairs, axis=1, return_index=True, return_counts=True)
        order = np.argsort(first)
        self.degrees_, self.orders_ = distinct[:, order]
        self.counts_ = counts[order]

    def _count_columns(self):
        return int(2 * len(self.orders_) - np.count_nonzero(self.orders_ == 0))

    def _mapper(self, rows, device, dtype):
        scale = np.sqrt(self.counts_ / self.n_components)
        # the imaginary part of order 0 is zero
        columns = np.stack([np.ones(len(self.orders_)), self.orders_ != 0], axis=1).ravel() > 0

        def fill(X, out):
            values = harmonics_at(X.cpu().numpy(), self.degrees_, self.orders_) * scale
            pairs = np.stack([values.real, values.imag], axis=2).reshape(len(X), -1)
            out.copy_(torch.from_numpy(pairs[:, columns]))

        return fill

    def potential(self, X, y, alpha) -> dict:
        """Return v / n^2 of all pairs up to ``degree`` for X (n, 3), targets y (n,) and dual variables ``alpha`` (n,).

        Returns
        -------
        dict of ndarrays of one length: ``degrees``, ``orders`` (not negative) and ``potentials``
        """
        X = self._rows_of_game(X)
        degrees, orders = pairs_up_to(self._as_fitted().degree)
        potentials = HarmonicsOfRows(X, degrees, orders).potentials(class_signs(y, self.method) * alpha / len(X))
        return {"degrees": degrees, "orders": orders, "potentials": potentials}


class HarmonicsOfRows:
    """The harmonics of given degrees and orders on rows X (n, 3): kept if they are few, otherwise computed again."""

    def __init__(self, X, degrees, orders):
        self.X, self.degrees, self.orders = X, degrees, orders
        bytes_per_row = 16 * len(degrees)
        self.parts = list(row_blocks(len(X), block_rows(bytes_per_row)))
        self.kept = [self._of(part) for part in self.parts] if bytes_per_row * len(X) <= KEPT_BYTES else None

    def _of(self, part):
        return harmonics_at(self.X[part], self.degrees, self.orders)

    def potentials(self, weights: np.ndarray) -> np.ndarray:
        """Return |sum_i w_i Y(x_i)|^2 of each pair for real weights (n,)."""
        blocks = self.kept or map(self._of, self.parts)
        return np.abs(sum(weights[part] @ block for part, block in zip(self.parts, blocks, strict=True))) ** 2


def pairs_up_to(degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return degrees and orders, 0 <= order <= degree, by degree and then by order.

    There is one for each pair of an order and its negative.
    """
    return np.tril_indices(degree + 1)


def harmonics_at(X: np.ndarray, degrees: np.ndarray, orders: np.ndarray) -> np.ndarray:
    r"""Return the spherical harmonics :math:`Y_l^m` in the directions of X (n, 3): complex128 (n, p).

    They are orthonormal on the sphere, whose area is 4 pi; the third coordinate is the axis.
    """
    x, y, z = X.T.astype(np.float64)
    polar, azimuth = np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)
    return sph_harm_y(degrees, orders, polar[:, None], azimuth[:, None])
