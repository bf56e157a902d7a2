r"""A kernel matrix that is nearer to the exact one and predicts worse, in fractions that can be checked by hand: a
counter-example to "a better approximation means a lower risk" (survey, Proposition 1 and Appendix A).

Kernel ridge regression predicts :math:`f(x) = k(x, X) (K + n \lambda I)^{-1} y` at a new point x. The exact kernel is
given by its matrix on the training points and on x; an approximation has one feature more, v on all of these points, so
that :math:`E = \tilde K - K = v v^T` and :math:`\epsilon = \tilde k(x, X) - k(x, X) = v_x v^T`. E has rank one: all of
its unitarily invariant norms are :math:`|v|^2`, whichever the proposition means. With
:math:`w = (K + n \lambda I)^{-1} k(X, x)` the proof compares :math:`T = \langle y, E w - \epsilon \rangle`.

All pairs of features with the stated entries are tried under what the proof assumes: E is positive semi-definite,
:math:`\lambda \le \lambda_1(\tilde K_1) \le \lambda_1(\tilde K_2)`, no T is negative, and the first approximation is
nearer, :math:`\|E_1\| < \|E_2\|` and :math:`\|\epsilon_1\| \le \|\epsilon_2\|`. It is a counter-example if its
prediction is farther both from that of the exact kernel and from the target.
"""

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rfstudy.study.engine import Cell, Job, Measured
from rfstudy.study.job import Part

#: Eigenvalues are compared in floating point, up to this: those of matrices with entries around 1 are exact to 1e-15.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Problem:
    """Kernel ridge regression on n points and one new point, in fractions."""

    gram: np.ndarray  # (n + 1, n + 1), the new point last
    labels: np.ndarray  # (n,)
    target: Fraction
    penalty: Fraction


@dataclass(frozen=True)
class Approximation:
    """A kernel with one feature more, and its results at the new point."""

    feature: np.ndarray  # (n + 1,), the new point last
    gram: np.ndarray  # (n + 1, n + 1)
    displaced: np.ndarray  # E w (n,)
    epsilon: np.ndarray  # (n,)
    values: dict[str, Fraction]  # by metric
    largest_eigenvalue: float


def check(spec: Part) -> None:
    """Raise ``ValueError`` for a matrix that is not a kernel matrix, or does not match the labels."""
    gram, n = np.array(spec.grid["gram"], dtype=object), len(spec.grid["labels"])
    if gram.shape != (n + 1, n + 1) or (gram != gram.T).any():
        raise ValueError(f"gram must be a symmetric matrix with a row for each of the {n} labels and one more")
    if np.linalg.eigvalsh(gram.astype(float)).min() <= 0:
        raise ValueError("gram must be positive definite, as the proof assumes")


def cells(job: Job) -> list[Cell]:
    """Return one cell: the whole search."""
    return [Cell({}, {"repeat": repeat}, job.spec.grid) for repeat in job.spec.repeats]


def measure(
    job: Job, entry: dict, *, repeat: int, gram: list, labels: list, target: float, penalty: float, entries: list
) -> Measured:
    """Return the rows of the counter-example with the largest difference of the risks, and the arrays for a picture of
    the vectors in T. The nearer approximation is the variant "nearer" and the other is "farther", both with their
    fractions. Further rows count the pairs that are counter-examples.
    """
    problem = Problem(fractions(gram), fractions(labels), Fraction(str(target)), Fraction(str(penalty)))
    pairs = admissible(approximations(problem, fractions(entries)), problem)
    found = [pair for pair in pairs if is_counter_example(*pair)]
    n = len(labels)
    shared = {"dataset": f"points-{n}", "n_train": n, "n_test": 1}
    share = shared | {"metric": "counter_example_pct"}
    if not pairs:
        return [share | {"status": "failed", "settings": {"reason": "no pair to compare"}}], {}
    share |= {"value": 100.0 * len(found) / len(pairs)}
    share |= {"settings": {"pairs": len(pairs), "counter_examples": len(found)}}
    if not found:
        return [share], {}
    rows, arrays = [share], {"labels": problem.labels.astype(float)}
    for name, own in zip(("nearer", "farther"), max(found, key=by_difference), strict=True):
        rows += [
            shared | {"variant": name, "metric": metric, "value": float(value), "settings": stated(problem, own, value)}
            for metric, value in own.values.items()
        ]
        arrays |= {f"displaced-{name}": own.displaced.astype(float), f"epsilon-{name}": own.epsilon.astype(float)}
    return rows, arrays


def fractions(numbers: list) -> np.ndarray:
    """Return the numbers of an array as the fractions that their decimals state: 1/10 for 0.1."""
    return np.vectorize(lambda number: Fraction(str(number)), otypes=[object])(numbers)


def approximations(problem: Problem, entries: np.ndarray) -> list[Approximation]:
    """Return the exact kernel with one feature more, for every feature with these entries. Two features that differ
    only in sign give the same kernel, so one of them is kept.
    """
    features = itertools.product(entries, repeat=len(problem.gram))
    different = {max(v, tuple(-entry for entry in v)): None for v in features if any(v[:-1])}
    return [approximation(problem, np.array(v)) for v in different]


def approximation(problem: Problem, feature: np.ndarray) -> Approximation:
    """Return the kernel with one feature more, v (n + 1,), and its results."""
    own, epsilon = feature[:-1], feature[-1] * feature[:-1]
    gram = problem.gram + np.outer(feature, feature)
    exact, approximate = (weights_of_labels(problem, each) for each in (problem.gram, gram))
    displaced = (own @ exact) * own
    predicted = approximate @ problem.labels
    values = {
        "kernel_distance": own @ own,
        "cross_kernel_distance_squared": epsilon @ epsilon,
        "alignment_with_labels": problem.labels @ (displaced - epsilon),
        "prediction_deviation": abs(predicted - exact @ problem.labels),
        "excess_risk": (predicted - problem.target) ** 2,
    }
    eigenvalues = np.linalg.eigvalsh(gram[:-1, :-1].astype(float))
    return Approximation(feature, gram, displaced, epsilon, values, float(eigenvalues[-1]))


def admissible(tried: list[Approximation], problem: Problem) -> list[tuple[Approximation, Approximation]]:
    """Return the pairs of a nearer and a farther approximation that satisfy the assumptions of the proof."""
    smallest = float(problem.penalty)
    allowed = [a for a in tried if a.values["alignment_with_labels"] >= 0 and a.largest_eigenvalue >= smallest]
    return [
        (one, other)
        for one, other in itertools.permutations(allowed, 2)
        if one.values["kernel_distance"] < other.values["kernel_distance"]
        and one.values["cross_kernel_distance_squared"] <= other.values["cross_kernel_distance_squared"]
        and one.largest_eigenvalue <= other.largest_eigenvalue + ROUNDING
    ]


def is_counter_example(nearer: Approximation, farther: Approximation) -> bool:
    """Return whether the nearer approximation is worse: farther from the prediction of the exact kernel, and with a
    larger risk.
    """
    return all(nearer.values[metric] > farther.values[metric] for metric in ("prediction_deviation", "excess_risk"))


def by_difference(pair: tuple[Approximation, Approximation]) -> tuple:
    """Return the key whose maximum selects the counter-example to show: the difference of the risks, then the simplest
    fractions.
    """
    nearer, farther = (own.values for own in pair)
    plain = sum(value.denominator for value in (*nearer.values(), *farther.values()))
    return nearer["excess_risk"] - farther["excess_risk"], -plain


def stated(problem: Problem, own: Approximation, value: Fraction) -> dict:
    """Return the settings of a row: the value as a fraction, and everything needed to check it."""
    settings = {
        "gram": problem.gram[:-1, :-1],
        "cross": problem.gram[-1, :-1],
        "labels": problem.labels,
        "feature": own.feature,
        "approximate_gram": own.gram[:-1, :-1],
    }
    settings = {name: values.astype(str).tolist() for name, values in settings.items()}
    shift = len(problem.labels) * problem.penalty
    return settings | {"exact": str(value), "target": str(problem.target), "shift": str(shift)}


def weights_of_labels(problem: Problem, gram: np.ndarray) -> np.ndarray:
    """Return (K + n lambda I)^(-1) k(X, x) (n,) in fractions, for the matrix of all points: by elimination without
    pivoting, because no pivot of a positive definite matrix vanishes.
    """
    n = len(problem.labels)
    rows = np.column_stack([gram[:n, :n] + n * problem.penalty * np.eye(n, dtype=object), gram[:n, n]])
    for i in range(n):
        rows[i] = rows[i] / rows[i, i]
        others = np.arange(n) != i
        rows[others] = rows[others] - np.outer(rows[others, i], rows[i])
    return rows[:, -1]
