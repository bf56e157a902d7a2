r"""EERF's scores compared with the spectrum of the target and with their expectation, on synthetic data (Shahrampour,
Beirami and Tarokh, AAAI 2018, Theorem 1 and the text after equation 7).

The rows are normal, :math:`x \sim N(0, \tau^2 I)`, and the target is made of the first candidates of the pool:
:math:`y = \sum_{k \le K} c_k \cos(w_k^T x + b_k)`. Its spectrum on the pool is :math:`|c_k|` there and 0 elsewhere,
and the score of a candidate :math:`\sqrt 2 \cos(w_j^T x + b_j)` has the expectation

.. math:: S_j = \sum_k \frac{c_k}{\sqrt 2} \Big( \cos(b_k - b_j)\, e^{-\tau^2 |w_k - w_j|^2 / 2}
   + \cos(b_k + b_j)\, e^{-\tau^2 |w_k + w_j|^2 / 2} \Big).
"""

import numpy as np

from random_features.arrays import seed_sequence
from random_features.kernels import make_kernel
from rfstudy.study.engine import Cell, Job, Measured
from rfstudy.study.job import Part


def check(spec: Part) -> None:
    """Raise ``ValueError`` if the target has more terms than the pool has candidates."""
    if spec.grid["terms"] > spec.grid["candidates"]:
        raise ValueError("terms must be at most candidates: the target is made of the pool's first")


def cells(job: Job) -> list[Cell]:
    """Return one cell per entry, repeat and place: tau at one n, and n at one tau."""
    grid = job.spec.grid
    fixed = {key: grid[key] for key in ("dimension", "candidates", "terms")}
    places = [("input_scale", scale, grid["rows"], scale) for scale in grid["input_scales"]]
    places += [("rows", n, n, grid["fixed_input_scale"]) for n in grid["sample_sizes"]]
    return [
        Cell(entry, {"axis": axis, "at": at, "repeat": repeat}, fixed | {"n_train": n, "input_scale": scale})
        for entry in job.spec.methods
        for repeat in job.spec.repeats
        for axis, at, n, scale in places
    ]


def measure(
    job: Job, entry: dict, *, axis: str, at: float, repeat: int, n_train: int, input_scale: float, dimension: int,
    candidates: int, terms: int,
) -> Measured:  # fmt: skip
    """Return the row of one cell: the correlation of scores and spectrum along tau, the largest deviation along n."""
    # all places of a repeat have the same candidates
    own = entry | {"options": entry["options"] | {"n_candidates": candidates}}
    axes = ("energy pool", dimension, candidates, repeat)
    phi = job.entry_map(own, make_kernel(job.spec.kernel), candidates, *axes)
    pool = phi.draw(dimension, dtype=np.float64).pool_
    frequencies, phases = pool.frequencies, pool.phases
    rng = np.random.default_rng(seed_sequence(job.spec.seed, "energy", dimension, n_train, input_scale, repeat))
    X = input_scale * rng.standard_normal((n_train, dimension))
    coefficients = rng.uniform(0.5, 1.5, terms)
    y = np.cos(X @ frequencies[:terms].T + phases[:terms]) @ coefficients
    scores = sum(y[part] @ features for part, features in pool.blocks(X)) / n_train
    if axis == "rows":
        deviation = np.abs(scores - expected_scores(frequencies, phases, coefficients, input_scale))
        metric, value = "score_deviation", deviation.max()
    else:
        spectrum = np.pad(coefficients, (0, candidates - terms))
        metric, value = "score_spectrum_correlation", np.corrcoef(np.abs(scores), spectrum)[0, 1]
    settings = {"terms": terms, "input_scale": input_scale}
    row = {"dataset": f"cosines-d{dimension}", "n_features": candidates, "d": dimension, "settings": settings}
    return [row | {"metric": metric, "value": float(value)}], {}


def expected_scores(frequencies, phases, coefficients, input_scale: float) -> np.ndarray:
    """Return the expectations S (J,) of the scores for the target of the first candidates, as in the module's
    formula.
    """
    K = len(coefficients)

    def products(sign):
        distances = ((frequencies[:, None, :] - sign * frequencies[None, :K, :]) ** 2).sum(axis=2)
        angles = phases[:, None] - sign * phases[None, :K]
        return np.cos(angles) * np.exp(-0.5 * input_scale**2 * distances)

    return (products(1.0) + products(-1.0)) @ coefficients / np.sqrt(2.0)
