"""Accuracy and area under the ROC curve, or root mean squared error, of predictors without a feature map, and the
shares of the classes.

The majority class of the training rows (the mean of the targets in a regression) gives the chance level. The linear
model shows whether the data need a kernel at all, the exact kernel what a map approximates. One nearest neighbour
measures how far memory goes: it is hard to beat if test rows have near copies among the training rows, and falls to
chance level if they have none. The splits are those of the entries, one per variant, so an experiment of this kind may
extend one of the kind ``grid``. The maps of the entries are not used.
"""

import numpy as np

from random_features.arrays import seed_of
from rfstudy.study import yardsticks
from rfstudy.study.engine import Cell, Job, Measured, row_of
from rfstudy.study.job import merge

#: The metrics of a kind of target.
METRICS = {"binary": ("accuracy_pct", "auc_pct"), "classes": ("accuracy_pct",), "regression": ("rmse",)}


def cells(job: Job) -> list[Cell]:
    """Return one cell per variant and repeat; each variant has its split."""
    spec = job.spec
    own = {
        entry["variant"]: spec.grid
        | {"preprocess": entry.get("preprocess", spec.preprocess)}
        | {"split": merge(spec.split or {}, entry.get("split", {}))}
        for entry in spec.methods
    }
    return [Cell({}, {"variant": name, "repeat": repeat}, own[name]) for repeat in spec.repeats for name in own]


def measure(
    job: Job, entry: dict, *, variant: str, repeat: int, learners: list, preprocess: list, split: dict, **how
) -> Measured:
    """Return the accuracy of every learner on the test rows, of two classes the area under the ROC curve, and the share
    of the last class (in sorted order) in each part; in a regression, the root mean squared error alone.
    """
    sample, target, rows = job.samples.of(repeat, preprocess, split), job.data.target, []
    settings = {"preprocess": preprocess, "capped": sample.capped}
    settings |= {"split": split["rule"]} if "rule" in split else {}
    shared = sample.size_columns | {"settings": settings}
    if target.kind != "regression":
        last = max(sample.y_train.max(), sample.y_test.max())
        rows = [
            shared | {"split": part, "metric": "class_share_pct", "value": 100.0 * float(np.mean(y == last))}
            for part, y in (("train", sample.y_train), ("test", sample.y_test))
        ]
    for learner in learners:
        seed = seed_of(job.spec.seed, "yardstick", repeat)
        *predicted, reported = yardsticks.predicted(learner, sample, target, seed, device=job.spec.device, **how)
        own = shared | {"split": "test", "learner": learner, "settings": settings | reported}
        rows += [row_of(own, target, each, sample.y_test, *predicted) for each in METRICS[target.kind]]
    return rows, {}
