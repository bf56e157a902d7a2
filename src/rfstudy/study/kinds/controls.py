"""Accuracy of a split without a learned model: the nearest training row, the majority of the labels, and their shares.

One nearest neighbour measures how far memory goes. It is hard to beat if test rows have near copies among the training
rows, and falls to chance level if they have none. The majority class of the training rows gives the chance level. The
splits are those of the entries, one per variant, so an experiment of this kind may extend one of the kind ``grid``. The
maps of the entries are not used.
"""

import itertools
from typing import Annotated, Literal, TypedDict

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

from rfstudy.fields import Some
from rfstudy.study.engine import Cell, Job
from rfstudy.study.job import merge

METRICS = ("accuracy_pct", "class_share_pct")
RESOURCES = {"mb": 900, "bytes_per_value": 24, "minutes": 60}


#: Predictors by id: the nearest training row; the most frequent label of the training rows (the smallest if several are
#: equally frequent).
PREDICTORS = {
    "nearest_neighbour": KNeighborsClassifier(n_neighbors=1),
    "majority": DummyClassifier(strategy="most_frequent"),
}


class Grid(TypedDict):
    """`learners`: what predicts, the nearest training row or the majority of the labels."""

    learners: Annotated[list[Literal["nearest_neighbour", "majority"]], *Some]


def cells(job: Job) -> list[Cell]:
    """Return one cell per variant and repeat; each variant has its split."""
    spec = job.spec
    own = {
        entry["variant"]: spec.grid
        | {"preprocess": entry.get("preprocess", spec.preprocess)}
        | {"split": merge(spec.split or {}, entry.get("split", {}))}
        for entry in spec.methods
    }
    places = itertools.product(spec.repeats, own)
    return [Cell({}, {"variant": variant, "repeat": repeat}, own[variant]) for repeat, variant in places]


def measure(
    job: Job, entry: dict, *, variant: str, repeat: int, learners: list, preprocess: list, split: dict
) -> tuple[list[dict], dict]:
    """Return the accuracy of every learner on the test rows, and the share of the last class (in sorted order) in each
    part.
    """
    sample = job.samples.of(repeat, preprocess, split)
    settings = {"preprocess": preprocess, "capped": sample.capped}
    if "rule" in split:
        settings["split"] = split["rule"]
    shared = sample.size_columns | {"settings": settings}
    last = max(sample.y_train.max(), sample.y_test.max())
    rows = [
        shared | {"split": part, "metric": "class_share_pct", "value": 100.0 * float(np.mean(y == last))}
        for part, y in (("train", sample.y_train), ("test", sample.y_test))
    ]
    for learner in learners:
        predicted = PREDICTORS[learner].fit(sample.X_train, sample.y_train).predict(sample.X_test)
        value = job.data.target.evaluate("accuracy_pct", sample.y_test, predicted)
        rows.append(shared | {"split": "test", "learner": learner, "metric": "accuracy_pct", "value": value})
    return rows, {}
