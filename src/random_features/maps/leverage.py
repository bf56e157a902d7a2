"""Random Fourier features chosen and weighted by scores of the data: ridge leverage scores (LS-RFF).

A pool of frequencies, s of them in both papers, is drawn from the kernel's spectral measure; every feature of the pool
gets a score from the data. Two readings of the method exist. The text resamples the pool by the scores and weights the
result. The code that the published numbers come from keeps the whole pool and only weights it. The other modes lie
between the two and change one difference at a time.
"""

from abc import abstractmethod
from typing import Literal

import numpy as np

from random_features.arrays import float32_is_harmless
from random_features.maps.pool import PoolMap
from random_features.tensors import cast, cholesky, diagonal_of_inverse, namespace, on_host, solve_triangular, zeros

#: Modes that score cosine and sine separately, and those among them that reorder the frequencies as the code does.
COLUMN_MODES = ("columns", "sorted", "code", "trace", "permuted")
SORTED_MODES = ("sorted", "code")
#: The trace of a Gram matrix over the ridge below which the ridge alone is inverted.
NEGLIGIBLE = 1e-8


class ScoredPoolMap(PoolMap):
    """Base class: a subclass scores the columns of the pool's feature matrix in ``pool_scores``.

    From a tensor on a GPU, scores are computed there. The scores come to the host, where NumPy draws.

    With q the scores divided by their sum,

    * ``mode="text"``: q per frequency (the scores of its cosine and sine are added), s frequencies are drawn from q
      with replacement, and a frequency i has the weight sqrt(1 / (s q_i)): the expectation over the draw is the kernel
      of the pool, of ``pool_multiple`` s frequencies;
    * ``mode="keep"``: nothing is drawn, the whole pool stays with these weights;
    * ``mode="columns"``: q per column of [cos(Wx) | sin(Wx)] / sqrt(s), and column i has the weight
      sqrt(1 / (2 s q_i));
    * ``mode="sorted"``: q per column of [cos(Wx + b) | sin(Wx + b)] / sqrt(s); all 2 s columns are sorted by falling q,
      the frequencies of the first s get the cosine and the frequencies of the last s the sine, with b in the old order;
    * ``mode="code"``: as "sorted", with the weight sqrt(1 / q_i). The factor 1 / (2 s) that importance weights need is
      missing, so the features are about sqrt(2 s) times longer than the features of RFF.

    1 / q_i has no bounded mean for the scores of single columns. The mode "columns" therefore lengthens the features,
    which acts as a smaller penalty. Two controls separate this effect from the information in the scores:

    * ``mode="trace"``: as "columns", with all weights divided by the root mean square length of the features over the
      rows of ``fit``: the trace of the kernel matrix is the number of rows, as with RFF;
    * ``mode="permuted"``: as "columns", with the weights in a random order: as long, and without the scores.

    Attributes
    ----------
    pool_ : Pool
        ``pool_multiple`` s frequencies.
    n_distinct_ : int
        Different frequencies among those in use.
    learned_ : dict
        ``indices``: int (s,) frequencies of the pool, or (2 s,) columns of its feature matrix in the modes that score
        columns; ``weights``: float64 of the same shape.
    """

    _learns_on_device = True

    mode: Literal["text", "keep", "columns", "sorted", "code", "trace", "permuted"] = "text"
    pool_multiple: int = 1

    @abstractmethod
    def pool_scores(self, blocks, y=None, *, n_rows: int) -> np.ndarray:
        """Return a score >= 0 for every column of the pool's features, float64 (``pool_.n_columns``,).

        ``fit`` computes the same from the data. Here the features are ready, and the pool has been drawn.

        Parameters
        ----------
        blocks : iterable of (slice, ndarray of shape (rows, ``pool_.n_columns``))
            The features of n rows, as ``pool_.blocks`` gives them.
        y : array-like of shape (n,), optional
            Targets; maps that do not learn from them ignore them.
        n_rows : int
            n.
        """

    def _check_options(self):
        if self.mode in COLUMN_MODES and not self._has_pairs():
            raise ValueError(f"mode={self.mode!r} is defined for the layout 'cos_sin' and shift-invariant kernels only")
        if self.mode != "text" and self.pool_multiple > 1:
            raise ValueError(f"mode={self.mode!r} keeps the whole pool: pool_multiple is of the mode 'text'")

    def _has_phases(self):
        return super()._has_phases() or self.mode in SORTED_MODES

    def _draw_frequencies(self, n_features, rng):
        return self.kernel_.draw_frequencies(rng, (self.n_components * self.pool_multiple, n_features))

    def _pool_scale(self, n_frequencies):
        return 1.0 / np.sqrt(n_frequencies) if self._has_pairs() else np.sqrt(2.0 / n_frequencies)

    def _learn(self, X, y, rng):
        scores = self.pool_scores(self.pool_.blocks(X), y, n_rows=X.shape[0])
        if not scores.max() > 0:
            raise ValueError(f"{self.method}: every feature of the pool has the score 0, so that none can be drawn")
        # A score of 0 would be an infinite weight if nothing is drawn.
        scores = np.maximum(scores, np.finfo(np.float64).eps * scores.max())
        if self._has_pairs() and self.mode not in COLUMN_MODES:
            scores = scores.reshape(2, -1).sum(axis=0)
        probabilities = scores / scores.sum()
        weights = np.sqrt(1.0 / probabilities)
        if self.mode != "code":
            weights /= np.sqrt(self.n_components if self.mode == "text" else len(weights))
        if self.mode == "trace":
            squares = sum(column_squares(features) for _, features in self.pool_.blocks(X))
            weights /= np.sqrt(squares @ weights**2 / X.shape[0])  # the root mean square length of the features
        elif self.mode == "permuted":
            weights = rng.permutation(weights)
        indices = np.argsort(weights, kind="stable") if self.mode in SORTED_MODES else np.arange(len(scores))
        if self.mode == "text":
            indices = rng.choice(len(scores), size=self.n_components, p=probabilities)
        return {"indices": indices, "weights": weights[indices]}

    @property
    def n_distinct_(self) -> int:
        """Return how many different frequencies are in use; one that was drawn several times is one feature."""
        return len(np.unique(self.learned_["indices"] % len(self.pool_.frequencies)))

    def _use(self, learned):
        if self.mode in COLUMN_MODES:
            self.chosen_ = self.pool_.reordered(learned["indices"], learned["weights"])
        else:
            super()._use(learned)


def column_squares(features) -> np.ndarray:
    """Return the sums of the squares of the columns of an array or tensor (n, D), in float64 (D,)."""
    return on_host((cast(features, "float64") ** 2).sum(0))


class LeverageScoreFourier(ScoredPoolMap):
    r"""Leverage-score random Fourier features: frequencies in proportion to their ridge leverage scores.

    With Z (n, D) the features of a pool of s frequencies, the scores are

    .. math:: p_i = [Z^T Z (Z^T Z + n \lambda I)^{-1}]_{ii}

    and q = p / sum(p). The option ``mode`` says how they are used. In the mode "text" the map is unbiased: given the
    pool its expectation is the pool's kernel, which is unbiased itself. Set-up O(n s^2 + s^3), streamed over blocks of
    rows; O(s d) per row.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies.
    mode : {"text", "keep", "columns", "sorted", "code", "trace", "permuted"}
        "text" draws s frequencies from q (cosine and sine scored together) and weights them by sqrt(1 / (s q_i)).
        "code" follows the code behind the published numbers: all 2 s columns of the pool stay, cosine and sine are
        scored apart and sorted by falling score, and column i is multiplied by sqrt(1 / q_i) without the 1 / (2 s) of
        an importance weight. The others lie between the two: "keep" draws nothing and keeps the weights of "text";
        "columns" also scores cosine and sine apart, with weights sqrt(1 / (2 s q_i)); "sorted" also reorders the
        frequencies as "code" does. "trace" and "permuted" are controls of "columns".
    pool_multiple : int, default 1
        Frequencies of the pool over s; more than 1 in the mode "text" only. The papers use a pool of s.
    penalty : float, default 0.05
        lambda > 0, the mean-scaled ridge penalty of the scores.
    layout : {"cos_sin", "phase"}
        D = 2 s or D = s columns; "phase" in the modes "text" and "keep" only.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    pool_ : Pool
        The frequencies that are scored.
    learned_ : dict
        ``indices`` and ``weights``, see above.

    References
    ----------
    Li, Ton, Oglic and Sejdinovic, Towards a unified analysis of random Fourier features, ICML 2019, Algorithm 1;
    Liu et al., AAAI 2020, equation (3).

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.leverage import LeverageScoreFourier
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> phi = LeverageScoreFourier(n_components=50, random_state=0).fit(X)
    >>> phi.transform(X).shape, phi.learned_["indices"].shape
    ((200, 100), (50,))
    """

    penalty: float = 0.05

    def pool_scores(self, blocks, y=None, *, n_rows):
        penalty = self._as_fitted().penalty
        ridge = n_rows * penalty
        if n_rows <= self.pool_.n_columns:
            features = [features for _, features in blocks]
            return row_leverage_scores(namespace(features[0]).concatenate(features), ridge)
        gram = None
        for _, features in blocks:
            rows, flat = len(features), cast(features.reshape(-1), "float64")
            if not float32_is_harmless(rows, float(flat @ flat), rows * penalty):  # their share of ridge
                features = cast(features, "float64")
            gram = zeros((self.pool_.n_columns, self.pool_.n_columns), features) if gram is None else gram
            gram += features.T @ features
        return ridge_leverage_scores(gram, ridge)


def ridge_leverage_scores(gram, ridge: float) -> np.ndarray:
    """Return the diagonal of ``gram @ inv(gram + ridge * I)``.

    ``gram`` is an array or tensor, positive semi-definite, and overwritten.
    """
    diagonal = namespace(gram).einsum("ii->i", gram)
    if float(diagonal.sum()) < NEGLIGIBLE * ridge:  # the difference from 1 would have few digits, or none
        return on_host(diagonal / ridge)
    diagonal += ridge
    return 1.0 - ridge * on_host(diagonal_of_inverse(cholesky(gram)))


def row_leverage_scores(features, ridge: float) -> np.ndarray:
    """Return ``ridge_leverage_scores`` of Z'Z for features Z (n, D) with n <= D, from the smaller matrix ZZ'.

    Z'Z (Z'Z + ridge I)^-1 = Z' (ZZ' + ridge I)^-1 Z; neither side of the first form is made.
    """
    features = 1.0 * cast(features, "float64")
    system = features @ features.T
    namespace(system).einsum("ii->i", system)[:] += ridge
    return column_squares(solve_triangular(cholesky(system), features))
