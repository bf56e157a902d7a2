"""Features that are learned in a game between a search for features and the dual variables of a support vector machine.

One player finds the features that align best with weighted targets. The other, the dual variables, moves the weight
to the rows that these features leave close to the margin. ``GameMap`` is the template: it plays the rounds, keeps its
state in checkpoints and replays a finished game. A subclass defines the search (``_searcher``) and how a component
that was found responds to the rows (``_responses``).
"""

import sys
import time
from abc import abstractmethod
from collections.abc import Iterator
from numbers import Real
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.utils import ClassifierTags, check_scalar, column_or_1d

from random_features.arrays import one_blas_thread
from random_features.length_scales import in_length_scales
from random_features.maps.base import RandomFeatureMap
from random_features.tensors import on_host

#: Alternating projections onto the box and the hyperplane after each step of the dual player (Appendix A.2).
ALTERNATIONS = 10

#: Seconds between checkpoints. A killed search loses the work since the last one, and its current round.
CHECKPOINT_SECONDS = 10.0


class Round(NamedTuple):
    """One round of a game: the choice of the dual player, and the response to it.

    ``alpha`` are the n dual variables, ``potentials`` (k,) the potentials of the components that were found, divided by
    n^2. Up to this round ``n_components`` were found. ``payoff`` is the objective of the game, F(alpha, lambda), for
    the mean lambda of this round's components with mass 1.
    """

    number: int
    n_components: int
    alpha: np.ndarray
    potentials: np.ndarray
    payoff: float


class GameMap(RandomFeatureMap):
    r"""Base class of the maps that are learned by no-regret dynamics against the dual of a support vector machine.

    The game is :math:`\min_\lambda \max_\alpha F(\alpha, \lambda) = 1^T \alpha - \frac12 \int v_\alpha\, d\lambda` over
    measures of mass 1 and dual variables in :math:`\{0 \le \alpha \le C, y^T \alpha = 0\}`, with the potential
    :math:`v_\alpha(\omega) = |\sum_i y_i \alpha_i \phi_\omega(x_i)|^2`. Each round finds components :math:`\omega` of
    large potential, and takes a step of projected gradient ascent on alpha against them.

    References
    ----------
    Bullins, Zhang and Zhang, Not-so-random features, ICLR 2018, Algorithm 2.
    """

    C: float = 1.0
    dual_step: Real | None = None

    _requires_y = True
    #: The mass of the measure in the gradient for the dual player: 2 for a component and its opposite.
    _mass = 2.0
    #: The arrays of ``learned_`` with one row per component.
    _component_arrays: ClassVar[tuple[str, ...]]

    @abstractmethod
    def _searcher(self, X):
        """Return a function (weights (n,) float64, round number) -> dict of arrays with a row per component found.

        ``weights`` are y alpha / n; ``potentials`` is one of the arrays, largest first.
        """

    @abstractmethod
    def _responses(self, X, components: dict) -> np.ndarray:
        """Return the responses of components from ``_searcher`` on the rows of X (n, d): complex (n, k)."""

    @abstractmethod
    def _evaluations_per_round(self) -> int:
        """Return the number of evaluations of the potential, with or without its gradient, in a round."""

    def _dual_step(self, n_rows: int) -> float:
        """Return the step of the ascent."""
        return 1.0 / n_rows if self.dual_step is None else self.dual_step

    def _first_dual(self, signs) -> np.ndarray:
        """Return the first point of the dual player."""
        with one_blas_thread():
            return project_to_dual(np.full(len(signs), self.C / 2.0), signs, self.C)

    def _check_options(self):
        check_step("dual_step", self.dual_step)

    @property
    @abstractmethod
    def components_per_round_(self) -> int:
        """Return k, the components that a round finds."""

    @property
    def n_rounds_(self) -> int:
        """Return the number of rounds in which the components in use were found."""
        return -(-self._as_fitted().n_components // self.components_per_round_)

    @property
    def evaluations_(self) -> int:
        """Return the number of evaluations of the potential that it took to find them."""
        return self.n_rounds_ * self._as_fitted()._evaluations_per_round()

    def prefix(self, n_components):
        first = self._shortened(n_components)
        if hasattr(self, "phases_"):
            first.phases_ = self.phases_[:n_components]
        return first._complete(self._components(slice(n_components)))

    def _learn_resumably(self, X, y, rng, checkpoints):
        signs = class_signs(y, self.method)
        found = checkpoints.load() if checkpoints is not None else []
        alpha = found[-1]["alpha"] if found else self._first_dual(signs)
        found = [{name: part for name, part in each.items() if name != "alpha"} for each in found]
        first = sum(len(each["potentials"]) for each in found) // self.components_per_round_
        saved, unsaved = time.monotonic(), len(found)
        # one thread, because the order of a sum depends on the number of threads, and the game on every rounding
        with one_blas_thread():
            search = self._searcher(X)
            for number in self._progress(first):
                components = search(signs * alpha / X.shape[0], number)
                found.append(components)
                alpha = self._ascended(alpha, X, signs, components)
                if checkpoints is not None and time.monotonic() - saved >= CHECKPOINT_SECONDS:
                    checkpoints.append(**joined(found[unsaved:]), alpha=alpha)
                    saved, unsaved = time.monotonic(), len(found)
        return {name: learned[: self.n_components] for name, learned in joined(found).items()}

    def _components(self, part):
        """Return a part of the components that were learned."""
        return {name: self.learned_[name][part] for name in self._component_arrays}

    def _progress(self, first):
        """Return the numbers of the rounds from ``first`` on, with a progress bar if they take long."""
        rounds = range(first, self.n_rounds_)
        try:
            from tqdm import tqdm
        except ImportError:  # the maps alone need no progress bar
            return rounds
        how = {"initial": first, "total": len(rounds) + first, "file": sys.stderr, "mininterval": 5, "delay": 5}
        return tqdm(rounds, desc=f"{self.method} rounds", leave=False, **how)

    def _ascended(self, alpha, X, signs, components):
        """Return the dual player's next choice: a projected step against the mean of the components of a round."""
        responses = self._responses(X, components)
        sums = (signs * alpha) @ responses
        gradient = 1.0 - self._mass * signs * (responses @ sums.conj()).real / len(sums)
        return project_to_dual(alpha + self._dual_step(X.shape[0]) * gradient, signs, self.C)

    def _rows_of_game(self, X):
        """Return rows X (n, d) after the checks, an array or csr matrix in the type and length scales of learning."""
        return in_length_scales(on_host(self._rows_to_map(X)).astype(self._dtype, copy=False), self.length_scales_)

    def replay(self, X, y) -> Iterator[Round]:
        """Return the rounds of the game on the rows that the map was fitted on, without a search.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
            As in ``fit``; with other rows, the game that the components found would have led to.

        Returns
        -------
        iterator of ``Round``, first to last
        """
        X = self._rows_of_game(X)
        return self._as_fitted()._replayed(X, class_signs(y, self.method))

    def _replayed(self, X, signs):
        alpha, k = self._first_dual(signs), self.components_per_round_
        for number, start in enumerate(range(0, self.n_components, k)):
            components = self._components(slice(start, start + k))
            potentials = components["potentials"]
            payoff = float(alpha.sum() - 0.5 * X.shape[0] ** 2 * potentials.mean())
            yield Round(number, start + len(potentials), alpha, potentials, payoff)
            with one_blas_thread():
                alpha = self._ascended(alpha, X, signs, components)

    def best_response(self, X, y, alpha) -> dict:
        """Search as in one more round; return the components of large potential at dual variables ``alpha`` (n,).

        The smallest payoff F(alpha, lambda) is at most ``alpha.sum() - n^2 potentials[0] / 2``, and equal to it if the
        search has found the greatest potential.

        Returns
        -------
        dict of arrays, a row for each component, as in ``learned_``
        """
        X, fitted = self._rows_of_game(X), self._as_fitted()
        with one_blas_thread():
            return fitted._searcher(X)(class_signs(y, self.method) * alpha / X.shape[0], self.n_rounds_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def joined(parts: list[dict]) -> dict:
    """Join dicts of arrays with the same names into one dict, the arrays one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def class_signs(y, method: str) -> np.ndarray:
    """Return -1.0 for rows of the first class in sorted order and +1.0 for the second; ``ValueError`` for three."""
    classes, codes = np.unique(column_or_1d(np.asarray(on_host(y))), return_inverse=True)
    if len(classes) > 2:
        raise ValueError(f"{method} learns from two classes, got {len(classes)}; fit one map for each pair")
    return 2.0 * codes - 1.0


def check_step(name: str, value) -> None:
    """Raise ``ValueError`` or ``TypeError`` unless ``value`` is None or a number >= 0."""
    if value is not None:
        check_scalar(value, name, Real, min_val=0)


def project_to_dual(alpha: np.ndarray, signs: np.ndarray, C: float) -> np.ndarray:
    r"""Return a point of :math:`\{0 \le \alpha \le C, y^T \alpha = 0\}` near to ``alpha`` by alternating projections.

    Parameters
    ----------
    alpha : ndarray of shape (n,)
    signs : ndarray of shape (n,), -1 and +1
    C : upper end of the box

    Returns
    -------
    ndarray of shape (n,), on the hyperplane; its distance from the box falls geometrically with ``ALTERNATIONS``

    References
    ----------
    Bullins, Zhang and Zhang, Not-so-random features, ICLR 2018, Algorithm 3.
    """
    for _ in range(ALTERNATIONS):
        alpha = np.clip(alpha, 0.0, C)
        alpha = alpha - (signs @ alpha / len(alpha)) * signs
    return alpha
