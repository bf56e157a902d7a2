"""How the error of an approximate kernel matrix falls as s grows, in several norms, on made points (survey, Table III).

The points are normal with the scale at which two of them lie about one length scale apart in every dimension; all maps
and sizes of a repeat see the same points. The report fits the power of s and compares it with the stated rates.
"""

from __future__ import annotations

import itertools
from typing import Annotated, Literal, TypedDict

import numpy as np

from random_features.arrays import seed_of, seed_sequence
from random_features.kernels import make_kernel
from rfstudy.fields import Count, Counts, Positive, Some
from rfstudy.scores import approximation_error
from rfstudy.study.engine import Cell, Job, entry_map

STAGES = ("measure",)
NEEDS_DATA = False
RESOURCES = {"mb": 3000, "minutes": 240}


class Grid(TypedDict):
    """`rows`, `dimensions` (d), `n_features` (s), `norms` of the error, and `ridge`: the penalty lambda that the norm
    of the spectral approximation adds to the diagonal, times the number of rows.
    """

    rows: Count
    dimensions: Counts
    n_features: Counts
    norms: Annotated[list[Literal["sup", "l2", "frobenius", "spectral", "delta_spectral"]], *Some]
    ridge: Positive


def cells(job: Job) -> list[Cell]:
    """One cell a map, dimension and repeat; it holds all sizes."""
    grid = job.spec.grid
    fixed = {key: grid[key] for key in ("n_features", "rows", "norms", "ridge")}
    axes = itertools.product(grid["dimensions"], job.spec.repeats)
    places = [{"d": d, "repeat": repeat} for d, repeat in axes]
    return [Cell(entry, at, fixed) for entry in job.spec.methods for at in places]


def measure(job: Job, cell: Cell, checkpoints) -> tuple[list[dict], dict]:
    """Rows of one cell: the error in every norm at every size."""
    spec, conditions, method = job.spec, cell.conditions, cell.entry["method"]
    d, n, repeat = cell.coordinates["d"], conditions["rows"], cell.coordinates["repeat"]
    rng = np.random.default_rng(seed_sequence(spec.seed, "decay", d, repeat))
    X = rng.standard_normal((n, d)) / np.sqrt(2 * d)
    kernel = make_kernel(spec.kernel)
    exact = kernel(X)
    rows = []
    for s in conditions["n_features"]:
        seed = seed_of(spec.seed, "decay", method, d, s, repeat)
        phi = entry_map(spec, cell.entry, kernel, s, seed).fit(X)
        Z = phi.transform(X)
        approximate = Z @ Z.T
        for norm in conditions["norms"]:
            # the penalty of kernel ridge regression, n times lambda, is what the survey adds to the diagonal
            ridge = {"ridge": n * conditions["ridge"]} if norm == "delta_spectral" else {}
            rows.append(
                {
                    "dataset": f"points-d{d}",
                    "n_features": s,
                    "n_features_label": str(s),
                    "n_columns": phi.n_columns_,
                    "n_train": n,
                    "d": d,
                    "repeat": repeat,
                    "metric": f"approximation_error_{norm}",
                    "value": approximation_error(exact, approximate, norm, **ridge),
                    "settings": ridge,
                }
            )
    return rows, {}
