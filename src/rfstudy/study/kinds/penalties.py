"""Accuracy of ridge regression by the penalty, and by the penalty over the mean squared length of the features.

Features that are a times longer have the same ridge regression under a penalty a^2 times larger. The effect of a
penalty therefore depends on its ratio to the mean squared length of the features of the training rows, which is 1 for
plain random Fourier features. Maps that differ only in the length of their features have the same curve against this
ratio. Against the penalty alone their curves are apart.
"""

import itertools

import numpy as np

from random_features.learners import streams
from random_features.learners.shifted import solve_shifted
from rfstudy.study.engine import Job, Measured
from rfstudy.study.job import size_of


def measure(job: Job, entry: dict, *, multiple_of_d: int, repeat: int, penalties: list[float]) -> Measured:
    """Return the mean squared length of the features of one map, and the accuracy at every penalty on both axes. If the
    system is singular at a penalty, its row says so.
    """
    sample, kernel, length_scale = job.sample_and_kernel(repeat)
    target, n = job.data.target, len(sample.y_train)
    s, label = size_of("multiples_of_d", multiple_of_d, sample.X_train.shape[1])
    phi = job.feature_map(entry, kernel, s, repeat).fit(sample.X_train, sample.y_train)
    Y, classes = target.encode(sample.y_train)
    mean = Y.mean(axis=0)
    (gram,), (cross,) = streams.grams_by_group(
        lambda: phi.transform_blocks(sample.X_train), Y - mean, np.zeros(n, dtype=int), 1, phi.n_columns_
    )
    squared_length = float(np.trace(gram)) / n
    settings = {"length_scale": length_scale, "preprocess": job.spec.preprocess, "options": entry["options"]}
    settings |= {"capped": sample.capped, "mean_squared_length": squared_length}
    shared = sample.size_columns | {"n_features": s, "n_features_label": label, "n_columns": phi.n_columns_}
    shared |= {"settings": settings}
    rows = [shared | {"split": "train", "metric": "mean_squared_length", "value": squared_length}]
    factors = {"penalty": 1.0, "effective_penalty": squared_length}
    shifts = np.concatenate([factor * np.array(penalties) for factor in factors.values()])
    coef = solve_shifted(gram, cross, shifts)  # (2 g, D, c)
    blocks = (block for _, block in phi.transform_blocks(sample.X_test))
    predicted = np.concatenate([np.einsum("nd,gdc->gnc", each, coef, optimize=True) for each in blocks], axis=1)
    for (axis, at), decision in zip(itertools.product(factors, penalties), predicted + mean, strict=True):
        row = shared | {"split": "test", "learner": "ridge", "metric": "accuracy_pct", "axis": axis, "at": at}
        if np.isnan(decision).any():
            rows.append(row | {"status": "failed", "settings": settings | {"reason": "the ridge system is singular"}})
            continue
        rows.append(row | {"value": target.evaluate("accuracy_pct", sample.y_test, target.decode(decision, classes))})
    return rows, {}
