"""Base classes of the maps that choose among candidate features, and the targets that candidates are scored against."""

from abc import abstractmethod
from math import ceil
from numbers import Integral, Real
from typing import ClassVar, Literal

import numpy as np
from sklearn.utils import check_scalar, column_or_1d
from sklearn.utils.multiclass import type_of_target

from random_features.arrays import check_numbers
from random_features.errors import NotDefinedError
from random_features.maps.pool import PoolMap
from random_features.tensors import cast, like, on_host


class CandidateMap(PoolMap):
    r"""Base class: J candidates are drawn, a subclass chooses some and weights them in ``_learn``.

    The candidates are :math:`\sqrt 2 \cos(w_j^T x + b_j)`, or :math:`\sqrt 2\, a(w_j^T x)` for a kernel with an
    activation a: for the arc-cosine kernels with w_j ~ N(0, I), for the linear kernel the d columns of the data, times
    sqrt(d). Their mean product is the kernel. The features are the chosen candidates times their weights.

    Attributes
    ----------
    pool_ : Pool
        The candidates.
    learned_ : dict
        ``indices``: int (D,), the candidates in use; ``weights``: float64 (D,), D <= s.
    """

    #: Candidates per feature if ``n_candidates`` is None.
    candidates_per_feature = 10

    layout: ClassVar[str] = "phase"
    n_candidates: int | None = None

    def _check_options(self):
        if self.n_candidates is None:
            return
        if self.kernel_.name == "linear":
            raise ValueError("n_candidates must be None for the linear kernel: the candidates are the columns")
        check_scalar(self.n_candidates, "n_candidates", Integral, min_val=self.n_components)

    def _draw_frequencies(self, n_features, rng):
        if self.kernel_.name == "linear":
            if self.n_components > n_features:
                raise NotDefinedError(
                    f"{self.method}: the candidates of the linear kernel are the {n_features} columns, "
                    f"fewer than n_components={self.n_components}"
                )
            return np.sqrt(n_features) * np.eye(n_features)
        n_candidates = self.n_candidates or self.candidates_per_feature * self.n_components
        return self.kernel_.draw_frequencies(rng, (n_candidates, n_features))

    def _pool_scale(self, n_frequencies):
        return np.sqrt(2.0)


class AlignedMap(CandidateMap):
    """Base class of the maps that score the candidates by their correlation with the targets.

    The score of a candidate z is :math:`\\sum_c (\\sum_i Y_{ic} z(x_i))^2` with the columns of ``target_columns``.
    ``_rank`` of a subclass returns what the scores imply for maps of any size up to its own, and ``_part`` the part
    that a map of one size uses. If the number of candidates is stated, all sizes share the pool and its scores.

    From a tensor on a GPU, scores are computed there. The targets are coded, and the scores ranked, on the host.
    """

    _requires_y = True
    _learns_on_device = True

    scoring_fraction: Real = 1.0
    scoring_rows: Literal["random", "first"] = "random"
    center_targets: bool = True
    task: Literal["auto", "classification", "regression"] = "auto"

    @abstractmethod
    def _rank(self, scores, rng) -> dict:
        """Return what follows from the scores (J,), as arrays by name, for maps of any size up to this one."""

    @abstractmethod
    def _part(self, ranked: dict, n_components: int) -> dict:
        """Return the indices and weights of the candidates for a map of one size, from the result of ``_rank``."""

    def _learn(self, X, y, rng):
        ranked = self._rank(self._alignments(X, y, rng), rng)
        return ranked | self._part(ranked, self.n_components)

    def prefix(self, n_components: int):
        """Return the fitted map of a smaller size, from the same pool and scores; ``n_candidates`` has to be stated."""
        smaller = self._shortened(n_components)
        if smaller.n_candidates is None:
            raise NotImplementedError(
                f"{self.method}: without n_candidates a smaller map has another pool, and a prefix of the features of "
                "this one is not that map; fit that"
            )
        return smaller._complete(self.learned_ | smaller._part(self.learned_, n_components))

    def _check_options(self):
        super()._check_options()
        check_scalar(self.scoring_fraction, "scoring_fraction", Real, min_val=0, max_val=1, include_boundaries="right")
        if self.scoring_rows != "random" and self.scoring_fraction == 1:
            raise ValueError("scoring_rows is of a scoring_fraction below 1, which chooses rows: state both or neither")

    def _alignments(self, X, y, rng, pool=None):
        """Return the scores of the candidates of a pool, by default all, float64 (J,), from a share of the rows."""
        targets = target_columns(y, self.task, centred=self.center_targets)
        if self.scoring_fraction < 1:
            n_scored = ceil(self.scoring_fraction * X.shape[0])
            rows = slice(n_scored) if self.scoring_rows == "first" else np.sort(rng.permutation(X.shape[0])[:n_scored])
            X, targets = X[rows], targets[rows]
        blocks = (pool or self.pool_).blocks(X)
        return alignment_scores(sum(target_sums(targets[part], features) for part, features in blocks))


def target_sums(targets: np.ndarray, features) -> np.ndarray:
    """Return the products (c, J) of targets (n, c) with features (n, J), an array or tensor, in float64."""
    return on_host(like(targets, features).T @ cast(features, "float64"))


def alignment_scores(sums: np.ndarray, others=0.0) -> np.ndarray:
    """Return the squared length of each column of ``sums`` (c, J), plus ``others`` (J,): float64 (J,).

    Where squares would leave the range of float64, all scores are divided by one power of 4, which keeps their ratios.
    """
    largest = max(np.abs(sums).max(), np.sqrt(np.max(others)))
    if not np.isfinite(largest):
        raise ValueError("the products of targets and features overflow: scale the targets, or the data")
    exponent = int(np.frexp(largest)[1] / 400) * 400
    return (np.ldexp(sums, -exponent) ** 2).sum(axis=0) + np.ldexp(others, -2 * exponent)


@np.errstate(over="ignore", invalid="ignore")  # of targets near the end of float64, which scikit-learn also casts
def target_columns(y, task: str = "auto", *, centred: bool = True) -> np.ndarray:
    """Return targets as numeric columns, to be correlated with features.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of any type, or numbers.
    task : {"auto", "classification", "regression"}
        "auto" treats floating-point targets that are not all integers as targets of a regression, others as labels.
    centred : bool
        Whether to subtract the mean from each column; the columns of three classes or more are always centred.

    Returns
    -------
    float64 ndarray of shape (n, c): one column for numbers; one for two classes, -1 and +1 in their sorted order; one
    per class otherwise, 1 for its rows.

    Examples
    --------
    >>> target_columns(["a", "b", "b", "b"], centred=False).T
    array([[-1.,  1.,  1.,  1.]])
    >>> target_columns([0.5, 2.0, 0.5]).T
    array([[-0.5,  1. , -0.5]])
    """
    y = column_or_1d(np.asarray(check_numbers(y, "y")))
    if task == "regression" or (task == "auto" and type_of_target(y) == "continuous"):
        columns = y.astype(np.float64)[:, None]
    else:
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) > 2:
            columns, centred = np.equal.outer(codes, np.arange(len(classes))).astype(np.float64), True
        else:
            columns = 2.0 * codes[:, None] - 1.0
    # rounding may put the mean of equal numbers off them
    return columns - np.where(np.ptp(columns, axis=0) > 0, columns.mean(axis=0), columns[0]) if centred else columns
