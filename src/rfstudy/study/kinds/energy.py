r"""EERF's scores beside the spectrum of the target and beside their expectation, on made data (Shahrampour, Beirami and
Tarokh, AAAI 2018, Theorem 1 and what follows equation 7).

The rows are normal, :math:`x \sim N(0, \tau^2 I)`, and the target is made of the first candidates of the pool:
:math:`y = \sum_{k \le K} c_k \cos(w_k^T x + b_k)`. Its spectrum on the pool is :math:`|c_k|` there and 0 elsewhere,
and the score of a candidate :math:`\sqrt 2 \cos(w_j^T x + b_j)` has the expectation

.. math:: S_j = \sum_k \frac{c_k}{\sqrt 2} \Big( \cos(b_k - b_j)\, e^{-\tau^2 |w_k - w_j|^2 / 2}
   + \cos(b_k + b_j)\, e^{-\tau^2 |w_k + w_j|^2 / 2} \Big).
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from random_features.arrays import seed_of, seed_sequence
from random_features.kernels import make_kernel
from rfstudy.fields import Count, Counts, Positive, Positives
from rfstudy.study.engine import Cell, Job, entry_map
from rfstudy.study.job import Part

STAGES = ("measure",)
NEEDS_DATA = False
RESOURCES = {"mb": 2000, "minutes": 60}


class Grid(TypedDict):
    """`dimension` (d), `candidates` of the pool, `terms` of the target, `input_scales` of the rows at n = `rows`, and
    `sample_sizes` (n) at the `fixed_input_scale`.
    """

    dimension: Count
    candidates: Count
    terms: Count
    rows: Count
    input_scales: Positives
    fixed_input_scale: Positive
    sample_sizes: Counts


def check(spec: Part) -> None:
    """Raise ``ValueError`` where the target has more terms than the pool candidates."""
    if spec.grid["terms"] > spec.grid["candidates"]:
        raise ValueError("terms must be at most candidates: the target is made of the pool's first")


def cells(job: Job) -> list[Cell]:
    """One cell an entry, repeat and place: tau at one n, and n at one tau."""
    grid = job.spec.grid
    fixed = {key: grid[key] for key in ("dimension", "candidates", "terms")}
    places = [("input_scale", scale, grid["rows"], scale) for scale in grid["input_scales"]]
    places += [("rows", n, n, grid["fixed_input_scale"]) for n in grid["sample_sizes"]]
    return [
        Cell(entry, {"axis": axis, "at": at, "repeat": repeat}, fixed | {"rows": n, "input_scale": scale})
        for entry in job.spec.methods
        for repeat in job.spec.repeats
        for axis, at, n, scale in places
    ]


def measure(job: Job, cell: Cell, checkpoints) -> tuple[list[dict], dict]:
    """The row of one cell: the correlation of scores and spectrum along tau, the largest deviation along n."""
    conditions, repeat, axis = cell.conditions, cell.coordinates["repeat"], cell.coordinates["axis"]
    d, n, scale = conditions["dimension"], conditions["rows"], conditions["input_scale"]
    frequencies, phases, pool = candidates_of(job.spec, cell)
    rng = np.random.default_rng(seed_sequence(job.spec.seed, "energy", d, n, scale, repeat))
    X = scale * rng.standard_normal((n, d))
    coefficients = rng.uniform(0.5, 1.5, conditions["terms"])
    y = np.cos(X @ frequencies[: conditions["terms"]].T + phases[: conditions["terms"]]) @ coefficients
    scores = sum(y[part] @ features for part, features in pool.blocks(X)) / n
    if axis == "rows":
        deviation = np.abs(scores - expected_scores(frequencies, phases, coefficients, scale))
        metric, value = "score_deviation", deviation.max()
    else:
        spectrum = np.zeros(len(frequencies))
        spectrum[: conditions["terms"]] = coefficients
        metric, value = "score_spectrum_correlation", np.corrcoef(np.abs(scores), spectrum)[0, 1]
    row = {
        "dataset": f"cosines-d{d}",
        "n_features": conditions["candidates"],
        "n_features_label": str(conditions["candidates"]),
        "n_train": n,
        "d": d,
        "repeat": repeat,
        "axis": axis,
        "at": cell.coordinates["at"],
        "settings": {"terms": conditions["terms"], "input_scale": scale},
    }
    return [row | {"metric": metric, "value": float(value)}], {}


def candidates_of(spec: Part, cell: Cell):
    """The pool of an entry's map, the same at all places of a repeat: frequencies (J, d), phases (J,) and features."""
    n_candidates = cell.conditions["candidates"]
    seed = seed_of(spec.seed, "energy pool", cell.conditions["dimension"], n_candidates, cell.coordinates["repeat"])
    entry = cell.entry | {"options": cell.entry["options"] | {"n_candidates": n_candidates}}
    phi = entry_map(spec, entry, make_kernel(spec.kernel), n_candidates, seed)
    pool = phi.draw(cell.conditions["dimension"], dtype=np.float64).pool_
    return pool.frequencies, pool.phases, pool


def expected_scores(frequencies, phases, coefficients, input_scale: float) -> np.ndarray:
    """The expectations S (J,) of the scores for the target of the first candidates, as in the module's formula."""
    K = len(coefficients)

    def products(sign):
        distances = ((frequencies[:, None, :] - sign * frequencies[None, :K, :]) ** 2).sum(axis=2)
        angles = phases[:, None] - sign * phases[None, :K]
        return np.cos(angles) * np.exp(-0.5 * input_scale**2 * distances)

    return (products(1.0) + products(-1.0)) @ coefficients / np.sqrt(2.0)
