"""Features chosen by their alignment with the targets: SLS-RFF, LKRF (KA-RFF) and EERF (KP-RFF).

They are sampled by surrogate leverage scores (SLS-RFF), reweighted under a divergence (KA-RFF, LKRF) or ranked (KP-RFF,
EERF).
"""

from copy import deepcopy
from typing import Literal

import numpy as np
from scipy.optimize import brentq

from random_features.maps.candidates import AlignedMap, alignment_scores, target_columns, target_sums
from random_features.maps.leverage import ScoredPoolMap, column_squares

#: Candidates per feature that are tried in turn until as many as features have a weight.
CANDIDATES = (10, 20, 40, 80, 100)

#: Default of rho, as a multiple of the number of candidates: the value of the authors' example.
RHO_PER_CANDIDATE = 0.005


class SurrogateLeverageFourier(ScoredPoolMap):
    r"""Surrogate-leverage random Fourier features: frequencies in proportion to their alignment with the targets.

    The scores of a pool of s frequencies with features :math:`z_i(X) \in R^n` are

    .. math:: p_i = (y^T z_i(X))^2 + [\,n \|z_i(X)\|^2\,]

    the bracket with ``identity=True``, and q = p / sum(p). For several classes the first term is summed over the
    centred columns of a one-hot coding. The option ``mode`` says how q is used. In the mode "text" the map is unbiased,
    as LS-RFF is. Set-up O(n s) after the features.

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
        Frequencies of the pool over s; more than 1 in the mode "text" only. The paper uses a pool of s.
    identity : bool, default False
        The term that makes the scores an upper bound of the ridge leverage scores (equation 12). The paper's algorithm
        omits it (equations 13 to 15); its theorem does not hold then.
    center_targets : bool, default True
        Whether the mean of the targets is subtracted. The paper's formulas use the labels -1 and +1 unchanged (False),
        which favours low frequencies where the classes are unbalanced.
    task : {"auto", "classification", "regression"}
        "auto" treats floating-point targets that are not all integers as targets of a regression, others as labels.
    layout : {"cos_sin", "phase"}
        D = 2 s or D = s columns; "phase" in the modes "text" and "keep" only.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    pool_ : Pool
        The frequencies that are scored.
    learned_ : dict
        ``indices`` and ``weights`` of the frequencies in use.

    References
    ----------
    Liu, Huang, Chen, Yang and Suykens, Random Fourier features via fast surrogate leverage weighted sampling, AAAI
    2020, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.alignment import SurrogateLeverageFourier
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> phi = SurrogateLeverageFourier(n_components=50, random_state=0).fit(X, X[:, 0] > 0)
    >>> phi.transform(X).shape, phi.learned_["indices"].shape
    ((200, 100), (50,))
    """

    _requires_y = True

    identity: bool = False
    center_targets: bool = True
    task: Literal["auto", "classification", "regression"] = "auto"

    def pool_scores(self, blocks, y=None, *, n_rows):
        fitted = self._as_fitted()
        targets = target_columns(y, fitted.task, centred=fitted.center_targets)
        sums, squares = 0.0, 0.0
        for part, features in blocks:
            sums += target_sums(targets[part], features)
            if fitted.identity:
                squares += column_squares(features)
        scores = alignment_scores(sums, n_rows * squares)
        # Targets that do not vary prefer no feature.
        return scores if scores.any() else np.ones_like(scores)


class KernelAlignmentFourier(AlignedMap):
    r"""Kernel-alignment features (LKRF): a distribution over candidates that aligns the kernel with the targets.

    Of J candidates with the scores :math:`v_j = \sum_c (\sum_i Y_{ic} z_j(x_i))^2` (see ``target_columns`` for the
    columns Y) the map learns

    .. math:: \max_a v^T a \quad\text{over } a \ge 0,\; \sum_j a_j = 1,\; J \sum_j (a_j - 1/J)^2 \le \rho,

    the last being the chi-square divergence from the uniform distribution, by bisection over its multiplier. When a has
    more than s entries that are not zero, s candidates are drawn from a with replacement, so that the expected kernel
    has the weights a; otherwise all of these are used, D <= s. Time O(n J d) to fit, O(D d) per row.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``. For the linear kernel the candidates are the columns of the data.
    n_components : int, default 100
        s, the greatest number of features.
    n_candidates : int, default None
        J >= s; None is 10 s.
    rho : float, default None
        The largest divergence allowed, > 0: about 0 keeps a uniform, J - 1 allows a single candidate. None is 0.005 J,
        as in the authors' example, which leaves about a tenth of the candidates.
    weights : {"uniform", "sqrt"}
        The factor of the features if the whole support of a is used. It is 1 / sqrt(D), as in the authors' code, which
        leaves the weights to the linear model, or sqrt(a_j), whose kernel has the weights a.
    distinct : bool, default False
        Whether all features differ: J grows from 10 s to 100 s until a has s entries that are not zero, and the s
        candidates are drawn without replacement. ``n_candidates`` is None then.
    scoring_fraction : float, default 1.0
        Share of the rows that the scores are computed on: in (0, 1].
    scoring_rows : {"random", "first"}
        Which rows these are.
    center_targets : bool, default True
        Whether the mean of the targets, over all rows, is subtracted; the columns of three classes or more always have
        it subtracted.
    task : {"auto", "classification", "regression"}
        "auto" treats floating-point targets that are not all integers as targets of a regression, others as labels.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    learned_ : dict
        ``indices`` and ``weights`` of the candidates in use, float64 (D,); the ``support`` of a, its ``probabilities``
        there, and s ``draws`` from it.
    n_distinct_ : int
        Different features among those in use.

    References
    ----------
    Sinha and Duchi, Learning kernels with random features, NIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.alignment import KernelAlignmentFourier
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> phi = KernelAlignmentFourier(n_components=50, n_candidates=500, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> phi.transform(X).shape[1] <= 50
    True
    """

    rho: float | None = None
    weights: Literal["uniform", "sqrt"] = "uniform"
    distinct: bool = False

    @property
    def candidates_per_feature(self):
        """Return the number of candidates per feature that are drawn if ``n_candidates`` is None."""
        return CANDIDATES[-1 if self.distinct else 0]

    @property
    def n_distinct_(self) -> int:
        """Return how many different features are in use; a candidate that was drawn several times is one feature."""
        return len(np.unique(self.learned_["indices"]))

    def _check_options(self):
        super()._check_options()
        if self.distinct and (self.n_candidates is not None or self.kernel_.name == "linear"):
            raise ValueError("distinct=True chooses the number of candidates: leave n_candidates None")

    def _learn(self, X, y, rng):
        if not self.distinct:
            return super()._learn(X, y, rng)
        for per_feature in CANDIDATES:
            tried = self.pool_.subset(np.arange(per_feature * self.n_components), 1.0)
            ranked = self._rank(self._alignments(X, y, deepcopy(rng), tried), rng)
            if len(ranked["support"]) >= self.n_components:
                break
        return ranked | self._part(ranked, self.n_components)

    def _rank(self, scores, rng):
        distribution = aligned_distribution(scores, self.rho or RHO_PER_CANDIDATE * len(scores))
        support = np.flatnonzero(distribution)
        again = not self.distinct or len(support) < self.n_components
        draws = rng.choice(len(scores), size=self.n_components, p=distribution, replace=again)
        return {"support": support, "probabilities": distribution[support], "draws": draws}

    def _part(self, ranked, n_components):
        indices = ranked["support"]
        if len(indices) > n_components:
            indices = ranked["draws"][:n_components]
        elif self.weights == "sqrt":
            return {"indices": indices, "weights": np.sqrt(ranked["probabilities"])}
        return {"indices": indices, "weights": np.full(len(indices), len(indices) ** -0.5)}


class KernelPolarizationFourier(AlignedMap):
    r"""Kernel-polarization features (EERF): the candidates that correlate most with the targets.

    Of J candidates with the scores :math:`S_j^2 = \sum_c (\frac1n \sum_i Y_{ic} z_j(x_i))^2` (see ``target_columns``
    for the columns Y) the s with the largest are used, all with the weight 1 / sqrt(s). Time O(n J d) to fit, O(s d)
    per row.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``. For the linear kernel the candidates are the columns of the data.
    n_components : int, default 100
        s; D = s columns.
    n_candidates : int, default None
        J >= s; None is 10 s.
    scoring_fraction : float, default 1.0
        Share of the rows that the scores are computed on: in (0, 1].
    scoring_rows : {"random", "first"}
        Which rows these are.
    center_targets : bool, default True
        Whether the mean of the targets, over all rows, is subtracted; the columns of three classes or more always have
        it subtracted.
    task : {"auto", "classification", "regression"}
        "auto" treats floating-point targets that are not all integers as targets of a regression, others as labels.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    learned_ : dict
        ``indices`` of the candidates by falling score, and their ``weights``; ``order``, the candidates of the map that
        this one is a ``prefix`` of.

    References
    ----------
    Shahrampour, Beirami and Tarokh, On data-dependent random features for improved generalization in supervised
    learning, AAAI 2018, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.alignment import KernelPolarizationFourier
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> KernelPolarizationFourier(n_components=50, random_state=0).fit_transform(X, np.sin(X[:, 0])).shape
    (200, 50)
    """

    def _rank(self, scores, rng):
        return {"order": np.argsort(-scores, kind="stable")[: self.n_components]}

    def _part(self, ranked, n_components):
        return {"indices": ranked["order"][:n_components], "weights": np.full(n_components, n_components**-0.5)}


def aligned_distribution(scores: np.ndarray, rho: float) -> np.ndarray:
    r"""Return the distribution a that maximises ``scores @ a`` within the chi-square divergence rho of the uniform one.

    The maximiser is the projection of :math:`1/J + v / \lambda` onto the simplex for the multiplier lambda at which
    the divergence :math:`J \|a - 1/J\|^2` is rho, or for lambda to 0 where the constraint is not active.

    Parameters
    ----------
    scores : ndarray of shape (J,)
        v; only their differences matter.
    rho : float
        Divergence allowed, > 0.

    Returns
    -------
    float64 ndarray of shape (J,), entries >= 0 that sum to 1

    References
    ----------
    Sinha and Duchi, NIPS 2016.

    Examples
    --------
    >>> aligned_distribution(np.array([3.0, 1.0, 0.0]), rho=10.0)
    array([1., 0., 0.])
    """
    scores = np.asarray(scores, dtype=np.float64) - np.max(scores)
    n = len(scores)
    spread = -scores.min()
    if spread == 0:
        return np.full(n, 1.0 / n)
    scores = scores / spread
    best = (scores == 0) / np.count_nonzero(scores == 0)
    if _divergence(best) <= rho:
        return best

    def at(factor):
        return project_to_simplex(1.0 / n + factor * scores)

    largest = 1.0
    while _divergence(at(largest)) < rho:
        largest *= 2.0
    return at(brentq(lambda factor: _divergence(at(factor)) - rho, 0.0, largest, xtol=1e-15, rtol=1e-12))


def project_to_simplex(point: np.ndarray) -> np.ndarray:
    """Return the nearest point of {a >= 0, sum(a) = 1} to a vector of shape (J,), in O(J log J)."""
    falling = np.sort(point)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, len(point) + 1)
    threshold = excess[np.flatnonzero(falling > excess)[-1]]
    return np.maximum(point - threshold, 0.0)


def _divergence(distribution):
    return len(distribution) * ((distribution - 1.0 / len(distribution)) ** 2).sum()
