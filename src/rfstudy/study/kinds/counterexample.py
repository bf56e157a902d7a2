r"""A kernel matrix that is nearer to the exact one and predicts worse, in fractions that can be checked by hand: a
counter-example to "a better approximation means a lower risk" (survey, Proposition 1 and Appendix A).

Kernel ridge regression predicts :math:`f(x) = k(x, X) (K + n \lambda I)^{-1} y` at a new point x. The exact kernel is
given by its matrix on the training points and on x; an approximation has one feature more, v on all of these points, so
that :math:`E = \tilde K - K = v v^T` and :math:`\epsilon = \tilde k(x, X) - k(x, X) = v_x v^T`. E has rank one: all of
its unitarily invariant norms are :math:`|v|^2`, whichever the proposition means. With
:math:`w = (K + n \lambda I)^{-1} k(X, x)` the proof compares :math:`T = \langle y, E w - \epsilon \rangle`.

All pairs of features with the stated entries are tried under what the proof assumes: E is positive semi-definite,
:math:`\lambda \le \lambda_1(\tilde K_1) \le \lambda_1(\tilde K_2)`, no T is negative, and the first approximation is
nearer, :math:`\|E_1\| < \|E_2\|` and :math:`\|\epsilon_1\| \le \|\epsilon_2\|`. It is a counter-example where its
prediction is farther both from that of the exact kernel and from the target.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, TypedDict

import numpy as np
from annotated_types import MinLen

from rfstudy.fields import Positive, Some
from rfstudy.study.engine import Cell, Job
from rfstudy.study.job import Part

STAGES = ("measure",)
NEEDS_DATA = False
RESOURCES = {"mb": 500, "minutes": 10}

#: Eigenvalues are compared in floating point, up to this: those of matrices with entries around 1 are exact to 1e-15.
ROUNDING = 1e-12


class Grid(TypedDict):
    """The kernel matrix of the training points and, last, of a new one (`gram`), the `labels` of the training points,
    the `target` at the new one, lambda (`penalty`), and the possible `entries` of an added feature.
    """

    gram: Annotated[list[Annotated[list[float], MinLen(2)]], MinLen(2)]
    labels: Annotated[list[float], MinLen(1)]
    target: float
    penalty: Positive
    entries: Annotated[list[float], *Some]


@dataclass(frozen=True)
class Problem:
    """Kernel ridge regression on n points and one new point, in fractions."""

    gram: tuple[tuple[Fraction, ...], ...]  # (n, n)
    cross: tuple[Fraction, ...]  # (n,), of the new point
    labels: tuple[Fraction, ...]
    target: Fraction
    penalty: Fraction

    @property
    def shift(self) -> Fraction:
        """n lambda."""
        return len(self.labels) * self.penalty


@dataclass(frozen=True)
class Approximation:
    """A kernel with one feature more, and what comes of it at the new point."""

    feature: tuple[Fraction, ...]  # (n + 1,), the new point last
    gram: tuple[tuple[Fraction, ...], ...]
    distance: Fraction  # |E|
    cross_distance: Fraction  # |epsilon|^2
    alignment: Fraction  # T
    deviation: Fraction  # of the prediction from that of the exact kernel
    risk: Fraction  # squared deviation from the target
    largest_eigenvalue: float


def check(spec: Part) -> None:
    """Raise ``ValueError`` for a matrix that is none of a kernel, or does not go with the labels."""
    gram, n = np.array(spec.grid["gram"], dtype=object), len(spec.grid["labels"])
    if gram.shape != (n + 1, n + 1) or (gram != gram.T).any():
        raise ValueError(f"gram must be a symmetric matrix with a row for each of the {n} labels and one more")
    if np.linalg.eigvalsh(gram.astype(float)).min() <= 0:
        raise ValueError("gram must be positive definite, as the proof assumes")


def cells(job: Job) -> list[Cell]:
    """One cell: the whole search."""
    return [Cell({}, {"repeat": repeat}, dict(job.spec.grid), {"repeat": repeat}) for repeat in job.spec.repeats]


def measure(job: Job, cell: Cell, checkpoints) -> tuple[list[dict], dict]:
    """Rows of the counter-example with the largest difference of the risks, the nearer approximation as variant
    "nearer" and the other as "farther", with their fractions; of how many pairs are counter-examples; and what a
    picture of the vectors in T needs.
    """
    problem = problem_of(cell.conditions)
    tried = approximations(problem, [fraction(entry) for entry in cell.conditions["entries"]])
    pairs = admissible(tried, problem)
    found = [(one, other) for one, other in pairs if is_counter_example(one, other)]
    n = len(problem.labels)
    shared = {"dataset": f"points-{n}", "n_train": n, "n_test": 1}
    share = shared | {"metric": "counter_example_pct"} | share_of(len(found), len(pairs))
    if not found:
        return [share], {}
    pair = dict(zip(("nearer", "farther"), max(found, key=by_difference), strict=True))
    rows = [
        shared | {"variant": name, "metric": metric, "value": float(value), "settings": told(problem, own, value)}
        for name, own in pair.items()
        for metric, value in values_of(own).items()
    ]
    return [share, *rows], vectors(problem, pair)


def share_of(found: int, pairs: int) -> dict:
    """How many of the pairs are counter-examples, in percent; or that there was nothing to compare."""
    if not pairs:
        return {"status": "failed", "settings": {"reason": "no pair to compare"}}
    return {"value": 100.0 * found / pairs, "settings": {"pairs": pairs, "counter_examples": found}}


def problem_of(grid: dict) -> Problem:
    """The problem that a grid states, in the fractions that its numbers are written as."""
    *gram, last = [[fraction(entry) for entry in row] for row in grid["gram"]]
    return Problem(
        tuple(tuple(row[:-1]) for row in gram),
        tuple(last[:-1]),
        tuple(fraction(label) for label in grid["labels"]),
        fraction(grid["target"]),
        fraction(grid["penalty"]),
    )


def fraction(number: float) -> Fraction:
    """The fraction that a number is written as: 0.1 is 1/10."""
    return Fraction(str(number))


def approximations(problem: Problem, entries: list[Fraction]) -> list[Approximation]:
    """The exact kernel with one feature more, for every feature with these entries; of two that differ in their sign,
    and are the same kernel, one.
    """
    features = itertools.product(entries, repeat=len(problem.labels) + 1)
    different = {max(v, tuple(-entry for entry in v)): None for v in features if any(v[:-1])}
    return [approximation(problem, v) for v in different]


def approximation(problem: Problem, feature: tuple[Fraction, ...]) -> Approximation:
    """What comes of one feature more, v (n + 1,)."""
    *own, new = feature
    gram = tuple(
        tuple(entry + a * b for entry, b in zip(row, own, strict=True))
        for row, a in zip(problem.gram, own, strict=True)
    )
    epsilon = [new * a for a in own]
    cross = [k + e for k, e in zip(problem.cross, epsilon, strict=True)]
    predicted = dot(cross, solved(gram, problem.shift, problem.labels))
    exact = dot(problem.cross, solved(problem.gram, problem.shift, problem.labels))
    moved = displaced(problem, feature)
    return Approximation(
        feature,
        gram,
        dot(own, own),
        dot(epsilon, epsilon),
        dot(problem.labels, [m - e for m, e in zip(moved, epsilon, strict=True)]),
        abs(predicted - exact),
        (predicted - problem.target) ** 2,
        float(np.linalg.eigvalsh(np.array(gram, dtype=float))[-1]),
    )


def displaced(problem: Problem, feature: tuple[Fraction, ...]) -> list[Fraction]:
    """E w (n,) of a feature."""
    own, w = feature[:-1], solved(problem.gram, problem.shift, problem.cross)
    return [dot(own, w) * a for a in own]


def admissible(tried: list[Approximation], problem: Problem) -> list[tuple[Approximation, Approximation]]:
    """The pairs of a nearer and a farther approximation that keep what the proof assumes."""
    allowed = [a for a in tried if a.alignment >= 0 and a.largest_eigenvalue >= float(problem.penalty)]
    return [
        (one, other)
        for one, other in itertools.permutations(allowed, 2)
        if one.distance < other.distance
        and one.cross_distance <= other.cross_distance
        and one.largest_eigenvalue <= other.largest_eigenvalue + ROUNDING
    ]


def is_counter_example(nearer: Approximation, farther: Approximation) -> bool:
    """Whether the nearer approximation is worse: farther from the prediction of the exact kernel, and of more risk."""
    return nearer.deviation > farther.deviation and nearer.risk > farther.risk


def by_difference(pair: tuple[Approximation, Approximation]) -> tuple:
    """What the counter-example that is told has most of: the difference of the risks, then the plainest fractions."""
    nearer, farther = pair
    plain = sum(value.denominator for own in pair for value in values_of(own).values())
    return nearer.risk - farther.risk, -plain


def values_of(own: Approximation) -> dict[str, Fraction]:
    """The metrics of an approximation."""
    return {
        "kernel_distance": own.distance,
        "cross_kernel_distance_squared": own.cross_distance,
        "alignment_with_labels": own.alignment,
        "prediction_deviation": own.deviation,
        "excess_risk": own.risk,
    }


def told(problem: Problem, own: Approximation, value: Fraction) -> dict:
    """The settings of a row: the value as a fraction, and all that it can be checked with."""
    return {
        "exact": str(value),
        "gram": [[str(entry) for entry in row] for row in problem.gram],
        "cross": [str(entry) for entry in problem.cross],
        "labels": [str(label) for label in problem.labels],
        "target": str(problem.target),
        "shift": str(problem.shift),
        "feature": [str(entry) for entry in own.feature],
        "approximate_gram": [[str(entry) for entry in row] for row in own.gram],
    }


def vectors(problem: Problem, pair: dict[str, Approximation]) -> dict[str, np.ndarray]:
    """The labels (n,) and, of each of a pair, E w and epsilon (n,), by name."""
    found = {"labels": problem.labels}
    for name, own in pair.items():
        *feature, new = own.feature
        found |= {f"displaced-{name}": displaced(problem, own.feature), f"epsilon-{name}": [new * a for a in feature]}
    return {name: np.array(entries, dtype=float) for name, entries in found.items()}


def dot(x, y) -> Fraction:
    """The inner product of two vectors of fractions."""
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def solved(matrix, shift: Fraction, rhs) -> list[Fraction]:
    """The solution x (n,) of (A + shift I) x = b in fractions, for a positive definite A (n, n): elimination without
    pivoting, none of whose pivots vanishes.
    """
    n = len(rhs)
    rows = [[*row, b] for row, b in zip(matrix, rhs, strict=True)]
    for i in range(n):
        rows[i][i] += shift
    for i in range(n):
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for j in range(n):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]
