"""Accuracy of ridge regression by the penalty, and by the penalty over the mean squared length of the features.

Features that are a times longer have the same ridge regression under a penalty a^2 times larger. What a penalty does is
therefore told by the penalty over the mean squared length of the features of the training rows, which is 1 for plain
random Fourier features: maps that differ in the length of their features only have one curve against it, and curves
that lie apart against the penalty alone.
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from random_features.kernels import make_kernel
from random_features.learners import streams
from random_features.learners.shifted import solve_shifted
from rfstudy.fields import Counts, Positives
from rfstudy.study.engine import Cell, Job, entry_map, feature_seed
from rfstudy.study.job import sizes

STAGES = ("measure",)
NEEDS_DATA = True
METRICS = ("accuracy_pct", "mean_squared_length")
RESOURCES = {"mb": 1500, "bytes_per_value": 24, "minutes": 240}


class Grid(TypedDict):
    """`multiples_of_d` (s), and `penalties`: what is added to the diagonal of Z'Z, as it is on the axis `penalty`,
    times the mean squared length of the features on the axis `effective_penalty`.
    """

    multiples_of_d: Counts
    penalties: Positives


def cells(job: Job) -> list[Cell]:
    """One cell an entry, size and repeat."""
    spec = job.spec
    conditions = {
        "preprocess": spec.preprocess,
        "bandwidth": spec.bandwidth,
        "penalties": spec.grid["penalties"],
    }
    return [
        Cell(entry, {"multiple_of_d": multiple, "repeat": repeat}, conditions, {"repeat": repeat})
        for repeat in spec.repeats
        for entry in spec.methods
        for multiple in spec.grid["multiples_of_d"]
    ]


def measure(job: Job, cell: Cell, checkpoints) -> tuple[list[dict], dict]:
    """The mean squared length of the features of one map, and the accuracy at every penalty on both axes; a penalty at
    which the system is singular has a row that says so.
    """
    spec, conditions, repeat = job.spec, cell.conditions, cell.coordinates["repeat"]
    sample, target = job.samples.of(repeat, conditions["preprocess"]), job.data.target
    ((s, label),) = sizes({"multiples_of_d": [cell.coordinates["multiple_of_d"]]}, sample.X_train.shape[1])
    length_scale = job.samples.length_scale(repeat, conditions["preprocess"], conditions["bandwidth"])
    kernel = make_kernel(spec.kernel | {"length_scale": length_scale})
    seed = feature_seed(spec, cell.entry, s, repeat)
    phi = entry_map(spec, cell.entry, kernel, s, seed).fit(sample.X_train, sample.y_train)
    Y, classes = target.encode(sample.y_train)
    mean, squared_length, solve = normal_equations(lambda: phi.transform_blocks(sample.X_train), Y, phi.n_columns_)
    settings = {"length_scale": length_scale, "preprocess": conditions["preprocess"], "options": cell.entry["options"]}
    settings |= {"capped": sample.capped, "mean_squared_length": squared_length}
    shared = sample.size_columns | {"n_features": s, "n_features_label": label, "n_columns": phi.n_columns_}
    shared |= {"settings": settings}
    rows = [shared | {"split": "train", "metric": "mean_squared_length", "value": squared_length}]
    factors = {"penalty": 1.0, "effective_penalty": squared_length}
    shifts = np.concatenate([factor * np.array(conditions["penalties"]) for factor in factors.values()])
    coef = solve(shifts)  # (2 g, D, c)
    predicted = np.concatenate(
        [np.einsum("nd,gdc->gnc", block, coef, optimize=True) for _, block in phi.transform_blocks(sample.X_test)],
        axis=1,
    )
    places = [(axis, at) for axis in factors for at in conditions["penalties"]]
    for (axis, at), decision in zip(places, predicted + mean, strict=True):
        row = shared | {"split": "test", "learner": "ridge", "metric": "accuracy_pct", "axis": axis, "at": at}
        if np.isnan(decision).any():
            rows.append(row | {"status": "failed", "settings": settings | {"reason": "the ridge system is singular"}})
            continue
        value = target.evaluate("accuracy_pct", sample.y_test, target.decode(decision, classes))
        rows.append(row | {"value": value})
    return rows, {}


def normal_equations(blocks, Y: np.ndarray, n_columns: int):
    """The mean of the targets Y (n, c), the mean squared length of the rows of the features, and a function from shifts
    (g,) to the coefficients (g, n_columns, c) of (Z'Z + shift I) w = Z'(y - mean), NaN where that is singular.
    """
    n, mean = len(Y), Y.mean(axis=0)
    (gram,), (cross,) = streams.grams_by_group(blocks, Y - mean, np.zeros(n, dtype=int), 1, n_columns)
    return mean, float(np.trace(gram)) / n, lambda shifts: solve_shifted(gram.copy(), cross, shifts, "nan")
