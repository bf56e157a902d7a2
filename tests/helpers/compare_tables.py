"""Tables with and without a signal for the tests of ``compare``, and results of contestants."""

import numpy as np
import pandas as pd

from random_features.compare.contest import Result, Unit

ROWS = 1200


def table(kind, rows=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (rows, 3))
    clean = {"noise": 0 * X[:, 0], "linear": X @ [1, -2, 0.5], "kernel": 3 * np.sin(2 * X[:, 0]) * np.cos(2 * X[:, 1])}
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=clean[kind] + 0.3 * rng.standard_normal(rows))


def saved(folder, frame, name="table.csv", **how):
    frame.to_csv(folder / name, index=False, **how)
    return folder / name


def result(name, losses, seconds=1.0, columns=None):
    return Result(Unit(name, 100, columns), {}, np.asarray(losses, float), seconds)
