"""Fit the l1-SVM on the features of a map, and return its accuracies as rows. Several kinds of experiments share
this.
"""

import numpy as np

from random_features.arrays import row_blocks
from random_features.learners.l1_svm import fit_l1_svm
from random_features.learners.linear_model import LinearModel
from rfstudy.data.target import Target
from rfstudy.study.engine import Job, solver_of
from rfstudy.study.sample import Sample

#: Number of rows that are mapped, or compared with the training rows, at a time.
BLOCK = 2000


def fit_on(phi, sample: Sample, target: Target, C: float):
    """Return the l1-SVM on the features of a fitted map of the training rows of a sample, of two classes."""
    Y, _ = target.encode(sample.y_train)
    return fit_l1_svm(lambda: phi.transform_blocks(sample.X_train), Y, C, n_columns=phi.n_columns_)


def rows_of_map(job: Job, entry: dict, s: int, repeat: int, C: float, columns: dict) -> list[dict]:
    """Return the rows, with these columns, of the l1-SVM on the features of an entry's map in a repeat."""
    sample, kernel, length_scale = job.sample_and_kernel(repeat)
    phi = job.feature_map(entry, kernel, s, repeat).fit(sample.X_train, sample.y_train)
    settings = {"length_scale": length_scale, "options": entry["options"], "C": C, "capped": sample.capped}
    columns = columns | {"n_columns": phi.n_columns_, "learner": "l1_svm"}
    model = fit_on(phi, sample, job.data.target, C)
    return accuracy_rows(job.data.target, sample, model, phi.transform, columns, settings)


def decided(model, features, X) -> np.ndarray:
    """Return the decision values (n, c) of rows X (n, d). ``features`` maps rows to the input of the model."""
    return np.concatenate([model.decision(features(X[rows])) for rows in row_blocks(len(X), BLOCK)])


def accuracy_rows(
    target: Target, sample: Sample, model: LinearModel, features, columns: dict, settings: dict
) -> list[dict]:
    """Return the rows, with these columns and settings, of a model's accuracy on the test and on the training rows."""
    _, classes = target.encode(sample.y_train)
    shared, rows = sample.size_columns | columns | {"settings": settings | solver_of(model)}, []
    for split, metric in (("test", "accuracy_pct"), ("train", "train_accuracy_pct")):
        X, y = getattr(sample, f"X_{split}"), getattr(sample, f"y_{split}")
        value = target.evaluate("accuracy_pct", y, target.decode(decided(model, features, X), classes))
        rows.append(shared | {"split": split, "metric": metric, "value": value})
    return rows
