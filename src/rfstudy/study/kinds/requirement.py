r"""The number of features that kernel ridge regression needs, by the decay of the eigenvalues and by the sampling of
frequencies: the empirical companion of Table 1 of Liu et al. (AAAI 2020).

On the circle, with x uniform on [0, 1), the kernel :math:`k(x, x') = \sum_j \mu_j \cos(2 \pi j (x - x'))` has the
eigenfunctions :math:`\cos(2 \pi j x)` and :math:`\sin(2 \pi j x)` with the eigenvalues :math:`\mu_j / 2`, so that the
choice of :math:`\mu` sets the decay of the kernel matrix; and :math:`\mu` is the distribution of the frequencies.
The labels are -1 and +1 with the mean f(x), a sum of three harmonics: f lies in the space of every kernel here, and no
method can have a risk below the mean of 1 - f(x)^2. The penalty is lambda = n^(-1/2), as in the paper's theory.

For every decay and n the sizes s grow until the mean risk, over the repeats and the draws of a map, is within a
tolerance of that of the exact kernel at two consecutive sizes. The first of them is the requirement, the second
confirms it.
"""

import itertools
from dataclasses import dataclass
from typing import Self

import numpy as np

from random_features.arrays import seed_of, seed_sequence
from random_features.kernels import make_kernel
from random_features.kernels.circle import Circle, harmonics, spectrum
from random_features.learners.gram import fit_kernel_ridge
from random_features.learners.ridge import fit_ridge
from random_features.learners.streams import Kept
from random_features.maps.leverage import row_leverage_scores
from rfstudy.data.tasks import without
from rfstudy.study.engine import Cell, Job, Measured
from rfstudy.study.job import Part

#: The mean of the labels: amplitudes of sin(2 pi j x), j = 1, 2, 3. They sum to less than 1, the labels' size.
AMPLITUDES = (0.5, 0.3, 0.15)

#: Number of consecutive sizes at which the risk has to be within the tolerance.
CONFIRMATIONS = 2


def kernels(spec: Part):
    """Yield pairs of a kernel and the entries whose maps are made for it. The decay and the terms are those of the
    grid.
    """
    for decay in spec.grid["decays"]:
        yield spec.kernel | {"decay": decay, "terms": spec.grid["terms"]}, spec.methods


def cells(job: Job) -> list[Cell]:
    """Return one cell per entry, decay and n. It holds all sizes and repeats, because their mean decides how far s
    goes.
    """
    grid = job.spec.grid
    conditions = without(grid, "decays", "sample_sizes") | {"n_test": grid["test_rows"], "repeats": job.spec.repeats}
    return [
        # the variant of an entry is one of the axes of its draws
        Cell(entry, {"decay": decay, "n_train": n, "variant": entry["variant"]}, conditions)
        for entry in job.spec.methods
        for decay, n in itertools.product(grid["decays"], grid["sample_sizes"])
    ]


def measure(
    job: Job, entry: dict, *, decay: str, n_train: int, variant: str, repeats: list[int], n_test: int, **grid
) -> Measured:
    """Return the rows of one cell: the risk of the exact kernel by repeat, and that of the map at every size that was
    reached.

    The risk of a map in a repeat is the mean over its draws.
    """
    seed, method, terms, draws = job.spec.seed, entry["method"], grid["terms"], grid["draws"]
    kernel = make_kernel(job.spec.kernel | {"decay": decay, "terms": terms})
    samples = [Sample.drawn(seed, n_train, n_test, repeat) for repeat in repeats]
    exact = [exact_risk(kernel, sample) for sample in samples]
    shared = {"dataset": f"circle-{decay}-n{n_train}", "kernel": kernel.name, "d": 1, "split": "test"}
    settings = {"penalty": n_train**-0.5, "terms": terms, "draws": draws, "tolerance": grid["tolerance"]}
    shared |= {"learner": "ridge", "settings": settings}
    rows = [
        shared | {"n_features_label": "exact", "repeat": repeat, "metric": "risk_exact", "value": risk}
        for repeat, risk in zip(repeats, exact, strict=True)
    ]
    # the theorems sample frequencies from the whole distribution, and not from a pool of s
    is_whole = entry["options"].get("pool") == "whole"
    distributions = [distribution_of(kernel, sample, entry) if is_whole else None for sample in samples]
    confirmed = 0
    for s in grid["n_features"]:
        risks = []
        for repeat, sample, weights in zip(repeats, samples, distributions, strict=True):
            axes = ("requirement", method, variant, decay, n_train, s, repeat)
            drawn = [drawn_features(job, entry, kernel, sample, weights, s, *axes, draw) for draw in range(draws)]
            risks.append(float(np.mean([ridge_risk(features, sample) for features in drawn])))
        size = {"n_features": s, "n_columns": 2 * s, "metric": "risk"}
        rows += [shared | size | {"repeat": r, "value": risk} for r, risk in zip(repeats, risks, strict=True)]
        confirmed = confirmed + 1 if np.mean(risks) <= (1 + grid["tolerance"]) * np.mean(exact) else 0
        if confirmed == CONFIRMATIONS:
            break
    return rows, {}


@dataclass(frozen=True)
class Sample:
    """Points on the circle with labels, and fresh points with the means of their labels."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    f_test: np.ndarray

    @classmethod
    def drawn(cls, seed: int, n: int, n_test: int, repeat: int) -> Self:
        """Return the sample of a repeat: the same for all decays and maps."""
        rng = np.random.default_rng(seed_sequence(seed, "requirement", n, repeat))
        X, X_test = rng.uniform(size=(n, 1)), rng.uniform(size=(n_test, 1))
        y = np.where(rng.uniform(size=n) < 0.5 * (1.0 + mean_label(X)), 1.0, -1.0)
        return cls(X, y, X_test, mean_label(X_test))

    @property
    def penalty(self) -> float:
        """Return the penalty lambda = n^(-1/2)."""
        return len(self.y) ** -0.5

    def risk(self, predicted: np.ndarray) -> float:
        """Return the expected squared error of predictions at the fresh points, over the labels there."""
        return float(np.mean((predicted - self.f_test) ** 2 + 1.0 - self.f_test**2))


def mean_label(X: np.ndarray) -> np.ndarray:
    """Return the mean label f at points (n, 1), shape (n,)."""
    return sum(a * np.sin(2 * np.pi * j * X[:, 0]) for j, a in enumerate(AMPLITUDES, start=1))


def exact_risk(kernel: Circle, sample: Sample) -> float:
    """Return the risk of kernel ridge regression with the exact kernel matrix."""
    model = fit_kernel_ridge(kernel(sample.X), sample.y, sample.penalty, center="none")
    return sample.risk(model.decision(kernel(sample.X_test, sample.X))[:, 0])


def ridge_risk(features, sample: Sample) -> float:
    """Return the risk of ridge regression on features, a function of points."""
    Z = features(sample.X)
    model = fit_ridge(Kept(Z), sample.y, sample.penalty, n_columns=Z.shape[1], center="none")
    return sample.risk(model.decision(features(sample.X_test))[:, 0])


def drawn_features(job: Job, entry: dict, kernel: Circle, sample: Sample, weights, s: int, *axes):
    """Return the features of one draw of an entry's map, a function of points; ``weights`` are those of
    ``distribution_of``, or None if the map samples from its own pool.
    """
    if weights is not None:
        return weighted_features(kernel, weights, s, np.random.default_rng(seed_of(job.spec.seed, *axes)))
    own = {"penalty": sample.penalty} if entry["method"] == "lsrff" else {}
    phi = job.entry_map(entry | {"options": own | entry["options"]}, kernel, s, *axes)
    return phi.fit(sample.X, sample.y).transform


def weighted_features(kernel: Circle, weights: np.ndarray, s: int, rng: np.random.Generator):
    """Return a function that maps points with s harmonics drawn by weights (terms,); their mean product is the
    kernel.
    """
    chosen = rng.choice(len(weights), size=s, p=weights)
    amplitudes = np.sqrt(spectrum(kernel.decay, kernel.terms)[chosen] / (s * weights[chosen]))
    return lambda X: harmonics(X, kernel.frequencies()[chosen], amplitudes)


def distribution_of(kernel: Circle, sample: Sample, entry: dict) -> np.ndarray:
    """Return the distribution (terms,) that a method samples harmonics from: mu times the ridge leverage, or its
    surrogate.
    """
    n, Z = len(sample.y), harmonics(sample.X, kernel.frequencies(), np.sqrt(spectrum(kernel.decay, kernel.terms)))
    if entry["method"] == "lsrff":
        scores = row_leverage_scores(Z, n * sample.penalty)
    else:
        scores = (sample.y @ Z) ** 2 + entry["options"].get("identity", False) * n * (Z**2).sum(axis=0)
    weights = scores.reshape(2, -1).sum(axis=0)
    return weights / weights.sum()
