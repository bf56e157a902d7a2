"""Features whose weights are fitted to kernel values at pairs of rows: CLR-RFF and SES.

They are compressed by geodesic ascent (CLR-RFF) or reweighted by shrunken least squares (SES).
"""

from typing import ClassVar

import numpy as np
import torch
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from random_features.arrays import decomposing
from random_features.maps.candidates import CandidateMap
from random_features.tensors import cast, dtype_name, empty, namespace, on_host

#: A step of the geodesic ascent that turns the approximation by less than this angle is rounding error.
SMALLEST_STEP = 1e-7

#: Pairs of rows per feature in the least squares of SES.
PAIRS_PER_FEATURE = 10


class CompressedFourier(CandidateMap):
    r"""Compressed low-rank features: a few weighted candidates that approximate the kernel of all of them.

    Candidate j gives the vector :math:`r_j \in R^V` of its products z_j(x) z_j(x') / J at V random pairs of rows, and
    the sum r of all J vectors is the candidates' kernel at these pairs. Greedy iterative geodesic ascent finds weights
    :math:`w \ge 0` with at most s that are not zero and :math:`\sum_j w_j r_j \approx r`; the features are
    :math:`\sqrt{w_j / J}\, z_j(x)`. (The survey's equation (25) lacks the square of the error and takes the pairs from
    [J] instead of [n].) Time O(s J V) to fit, memory J V numbers, O(D d) per row. From a tensor on a GPU, the
    products are computed there; in each step J numbers come to the host.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the steps of the ascent and greatest number of features; D <= s columns.
    n_candidates : int, default None
        J >= s; None is 10 s. The paper uses 5000.
    n_pairs : int, default 20000
        V, pairs of rows, drawn independently.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    learned_ : dict
        ``indices`` and ``weights`` of the candidates in use, (D,).

    References
    ----------
    Agrawal, Campbell, Huggins and Broderick, Data-dependent compression of random features for large-scale kernel
    approximation, AISTATS 2019; Campbell and Broderick, Bayesian coreset construction via greedy iterative
    geodesic ascent, ICML 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.compression import CompressedFourier
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> phi = CompressedFourier(n_components=50, n_candidates=500, n_pairs=2000, random_state=0).fit(X)
    >>> phi.transform(X).shape[1] <= 50
    True
    """

    _learns_on_device = True

    n_pairs: int = 20_000

    def _learn(self, X, y, rng):
        _, products = pair_products(self.pool_, X, self.n_pairs, rng)
        # the weights do not depend on the unit, squares in which leave the range of float32
        products *= 2.0 ** -float(np.frexp(float(max(products.max(), -products.min())))[1])
        indices, weights = geodesic_ascent(products, self.n_components)
        return {"indices": indices, "weights": np.sqrt(weights / len(products))}


class SteinEffectFourier(CandidateMap):
    r"""Stein-effect features: Monte Carlo features, reweighted by least squares that shrink towards equal weights.

    At 10 s random pairs of rows (x, x'), the weights of s features :math:`z_j(x) = \sqrt 2 \cos(w_j^T x + b_j)` are

    .. math:: \beta = \arg\min_{\beta \ge 0} \sum_{(x, x')} \Big( \sum_j \beta_j z_j(x) z_j(x') - k(x, x') \Big)^2
       + \lambda\, \|\beta - \tfrac1s 1\|^2

    and the features :math:`\sqrt{\beta_j}\, z_j(x)` with beta_j > 0. This is our reading of the paper's idea, for which
    no code is public: the pairs, their number and the non-negative least squares are ours. Time O(s^3) to fit, O(D d)
    per row.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s; D <= s columns.
    penalty : float, default 1.0
        lambda > 0.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    learned_ : dict
        ``indices`` and ``weights`` (sqrt(beta)) of the features in use, (D,).

    References
    ----------
    Chang, Li, Yang and Poczos, Data-driven random Fourier features using Stein effect, IJCAI 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.compression import SteinEffectFourier
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> SteinEffectFourier(n_components=50, random_state=0).fit_transform(X).shape[1] <= 50
    True
    """

    candidates_per_feature = 1

    n_candidates: ClassVar[None] = None
    penalty: float = 1.0

    def _learn(self, X, y, rng):
        pairs, products = pair_products(self.pool_, X, PAIRS_PER_FEATURE * self.n_components, rng)
        differences = (X[pairs[:, 0]] - X[pairs[:, 1]]).astype(np.float64)
        exact = self.kernel_(differences, np.zeros((1, X.shape[1])))[:, 0]
        weights = shrunken_weights(products.T.astype(np.float64), exact, self.penalty)
        indices = np.flatnonzero(weights)
        return {"indices": indices, "weights": np.sqrt(weights[indices])}


def pair_products(pool, X, n_pairs: int, rng: np.random.Generator):
    """Draw random pairs (V, 2) of rows; return them and z_j(x) z_j(x') of all features of a pool at them, (J, V).

    The products are an array, or a tensor where X is.
    """
    pairs = rng.integers(X.shape[0], size=(n_pairs, 2))
    products = empty((n_pairs, pool.n_columns), dtype_name(X), X)
    for part, first in pool.blocks(X[pairs[:, 0]]):
        products[part] = first
    for part, second in pool.blocks(X[pairs[:, 1]]):
        products[part] *= second
    return pairs, products.T


def geodesic_ascent(vectors, n_steps: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Return sparse weights >= 0 whose combination of vectors approximates the sum of all (GIGA).

    Every step turns the current combination, on the unit sphere, along the geodesic towards the vector that points best
    in the direction of the sum. The distance to the sum never grows.

    Parameters
    ----------
    vectors : ndarray or tensor of shape (J, V)
    n_steps : int
        Steps, and the greatest number of vectors in use.

    Returns
    -------
    indices : int ndarray of shape (m,), m <= n_steps
    weights : float64 ndarray of shape (m,), > 0, on the vectors as given

    Raises
    ------
    ValueError
        If the sum of the vectors is zero.

    References
    ----------
    Campbell and Broderick, ICML 2018.

    Examples
    --------
    >>> geodesic_ascent(np.array([[3.0, 0.0], [0.0, 3.0], [1.0, 1.0]]), n_steps=1)
    (array([2]), array([4.]))
    """
    double = namespace(vectors).float64
    if double is np.float64:  # einsum adds in float64 without a copy of the vectors in float64
        lengths = np.sqrt(np.einsum("jv,jv->j", vectors, vectors, dtype=np.float64))
    else:
        lengths = on_host(torch.linalg.vector_norm(vectors, dim=1, dtype=double))
    total = vectors.sum(0, dtype=double)
    total_length = float(namespace(vectors).linalg.norm(total))
    if not total_length > 0:
        raise ValueError("the vectors sum to zero: there is no direction to approximate")
    inverse_lengths = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    def cosines_with(j):
        return on_host(vectors @ vectors[j]) * (inverse_lengths * inverse_lengths[j])

    to_total = on_host(vectors @ cast(total, dtype_name(vectors))) * (inverse_lengths / total_length)
    chosen = int(np.argmax(to_total))
    weights = np.zeros(len(vectors))
    weights[chosen] = 1.0
    to_current = cosines_with(chosen)
    cosine = to_total[chosen]
    for _ in range(n_steps - 1):
        across = np.sqrt(np.clip(1.0 - to_current**2, 0.0, None))
        usable = (across > SMALLEST_STEP) & (lengths > 0)
        gains = np.divide(to_total - cosine * to_current, across, out=np.full_like(across, -np.inf), where=usable)
        chosen = int(np.argmax(gains))
        if not gains[chosen] > SMALLEST_STEP:
            break
        towards = to_total[chosen] - cosine * to_current[chosen]
        back = cosine - to_total[chosen] * to_current[chosen]
        share = min(1.0, towards / (towards + back))
        length = np.sqrt((1 - share) ** 2 + share**2 + 2 * share * (1 - share) * to_current[chosen])
        to_current = ((1 - share) * to_current + share * cosines_with(chosen)) / length
        cosine = ((1 - share) * cosine + share * to_total[chosen]) / length
        weights *= (1 - share) / length
        weights[chosen] += share / length
    indices = np.flatnonzero(weights)
    return indices, weights[indices] * inverse_lengths[indices] * (total_length * cosine)


def shrunken_weights(products: np.ndarray, values: np.ndarray, penalty: float) -> np.ndarray:
    r"""Return the weights :math:`\beta \ge 0` with the least :math:`\|A \beta - h\|^2 + \lambda \|\beta - 1/s\|^2`.

    Parameters
    ----------
    products : ndarray of shape (r, s)
        A.
    values : ndarray of shape (r,)
        h.
    penalty : float
        lambda > 0.

    Returns
    -------
    float64 ndarray of shape (s,); 1 / s everywhere if all would be zero
    """
    n_weights = products.shape[1]
    gram = products.T @ products
    gram[np.diag_indices_from(gram)] += penalty
    with decomposing(n_weights):
        factor = cholesky(gram)
    right = products.T @ values + penalty / n_weights
    weights, _ = nnls(factor, solve_triangular(factor, right, trans="T"))
    # Without a positive weight there would be no feature: the result is the point that the penalty shrinks to.
    return weights if weights.any() else np.full(n_weights, 1.0 / n_weights)
