"""What the maps that choose among candidate features share: the pool, and the targets they are scored against."""

from __future__ import annotations

from abc import abstractmethod
from math import ceil
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils.multiclass import type_of_target

from rfstudy.arrays import block_rows
from rfstudy.errors import NotDefinedError
from rfstudy.maps.base import SpectralMap

TASKS = ("auto", "classification", "regression")


class CandidateMap(SpectralMap):
    r"""Base class: J candidates are drawn, a subclass chooses some and weights them in ``_choose``.

    The candidates are :math:`\sqrt 2 \cos(w_j^T x + b_j)`, or :math:`\sqrt 2\, a(w_j^T x)` for a kernel with an
    activation a: for the arc-cosine kernels with w_j ~ N(0, I), for the linear kernel the d columns of the data, times
    sqrt(d). Their mean product is the kernel. The features are the chosen candidates times their weights.

    Attributes
    ----------
    pool_frequencies_ : ndarray of shape (J, d)
    pool_phases_ : ndarray of shape (J,)
        Only for shift-invariant kernels.
    learned_ : dict
        ``indices``: int (D,), the candidates in use; ``weights``: float64 (D,), D <= s.
    """

    #: Candidates per feature where ``n_candidates`` is None.
    candidates_per_feature = 10

    def __init__(self, kernel=None, n_components=100, *, n_candidates=None, device="auto", random_state=None):
        super().__init__(kernel, n_components, layout="phase", device=device, random_state=random_state)
        self.n_candidates = n_candidates

    @abstractmethod
    def _choose(self, X, y, rng) -> tuple[np.ndarray, np.ndarray]:
        """Indices and weights of the features; ``_pool_blocks(X)`` iterates over the candidates' values."""

    def _check_options(self):
        super()._check_options()
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
            frequencies = np.sqrt(n_features) * np.eye(n_features)
        else:
            n_candidates = self.n_candidates or self.candidates_per_feature * self.n_components
            frequencies = self.kernel_.draw_frequencies(rng, (n_candidates, n_features))
        self.pool_frequencies_ = self._cast(frequencies)

    def _draw(self, n_features, rng):
        self._draw_frequencies(n_features, rng)
        if self._has_phases():
            self.pool_phases_ = self._cast(rng.uniform(0.0, 2.0 * np.pi, size=len(self.pool_frequencies_)))

    def _learn(self, X, y, rng):
        n_candidates = len(self.pool_frequencies_)
        self._complete({"indices": np.arange(n_candidates), "weights": np.ones(n_candidates)})
        indices, weights = self._choose(X, y, rng)
        return {"indices": indices, "weights": weights}

    def _pool_blocks(self, X):
        """The values of all candidates, as (slice, block of shape (rows, J)) pairs."""
        return self._blocks(X, block_rows(self.n_columns_ * X.itemsize))

    def _use(self, learned):
        indices = learned["indices"]
        # The base class multiplies by sqrt(2 / s), a candidate has the factor sqrt(2).
        self.weights_ = learned["weights"] * np.sqrt(self.n_components)
        self.frequencies_ = self.pool_frequencies_[indices]
        if self._has_phases():
            self.phases_ = self.pool_phases_[indices]

    def _count_columns(self):
        return len(self.weights_)

    def _work_columns(self):
        return len(self.weights_)


class AlignedMap(CandidateMap):
    """Base class of the maps that score the candidates by their correlation with the targets.

    The score of a candidate z is :math:`\\sum_c (\\sum_i Y_{ic} z(x_i))^2` with the columns of ``target_columns``.
    """

    _requires_y = True

    def __init__(
        self,
        kernel=None,
        n_components=100,
        *,
        n_candidates=None,
        scoring_fraction=1.0,
        task="auto",
        device="auto",
        random_state=None,
    ):
        super().__init__(kernel, n_components, n_candidates=n_candidates, device=device, random_state=random_state)
        self.scoring_fraction = scoring_fraction
        self.task = task

    def _check_options(self):
        super()._check_options()
        check_scalar(self.scoring_fraction, "scoring_fraction", Real, min_val=0, max_val=1, include_boundaries="right")
        check_task(self.task)

    def _alignments(self, X, y, rng):
        """The scores of the candidates, float64 (J,), from a random share of the rows."""
        targets = target_columns(y, self.task)
        if self.scoring_fraction < 1:
            rows = np.sort(rng.permutation(len(X))[: ceil(self.scoring_fraction * len(X))])
            X, targets = X[rows], targets[rows]
        sums = np.zeros((targets.shape[1], len(self.pool_frequencies_)))
        for part, values in self._pool_blocks(X):
            sums += targets[part].T @ values
        return (sums**2).sum(axis=0)


def check_task(task: str) -> None:
    """Raise ``ValueError`` for an unknown name."""
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, got {task!r}")


def target_columns(y, task: str = "auto", *, centred: bool = True) -> np.ndarray:
    """Targets as numeric columns, to be correlated with features.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of any type, or numbers.
    task : {"auto", "classification", "regression"}
        "auto" takes floating-point targets that are not all integers as those of a regression, others as labels.
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
    y = np.asarray(y)
    if task == "regression" or (task == "auto" and type_of_target(y) == "continuous"):
        columns = y.astype(np.float64)[:, None]
    else:
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) > 2:
            columns, centred = np.equal.outer(codes, np.arange(len(classes))).astype(np.float64), True
        else:
            columns = 2.0 * codes[:, None] - 1.0
    return columns - columns.mean(axis=0) if centred else columns
