"""How the error of an approximate kernel matrix falls as s grows, in several norms, on made points (survey, Table III).

The points are normal with the scale at which two of them lie about one length scale apart in every dimension; all maps
and sizes of a repeat see the same points. The report fits the power of s and compares it with the stated rates.
"""

from __future__ import annotations

import itertools

import numpy as np

from rfstudy.arrays import seed_of, seed_sequence
from rfstudy.metrics import approximation_error
from rfstudy.study.cells import KERNELS, entry_map


def cells(spec: dict) -> list[dict]:
    """One cell a dimension and repeat; it holds all sizes."""
    grid = spec["grid"]
    fixed = {key: grid[key] for key in ("n_features", "rows", "norms", "ridge")}
    return [{"d": d, "repeat": r, **fixed} for d, r in itertools.product(grid["dimensions"], spec["repeats"])]


def measure(spec: dict, entry: dict, cell: dict) -> list[dict]:
    """Rows of one cell: the error in every norm at every size."""
    d, n = cell["d"], cell["rows"]
    rng = np.random.default_rng(seed_sequence(spec["seed"], "decay", d, cell["repeat"]))
    X = rng.standard_normal((n, d)) / np.sqrt(2 * d)
    exact = KERNELS[spec["kernel"]](length_scale=1.0)(X)
    rows = []
    for s in cell["n_features"]:
        seed = seed_of(spec["seed"], "decay", entry["method"], d, s, cell["repeat"])
        phi = entry_map(spec, entry, s, seed).fit(X)
        Z = phi.transform(X)
        approximate = Z @ Z.T
        for norm in cell["norms"]:
            # the penalty of kernel ridge regression, n times lambda, is what the survey adds to the diagonal
            ridge = {"ridge": n * cell["ridge"]} if norm == "delta_spectral" else {}
            rows.append(
                {
                    "dataset": f"points-d{d}",
                    "n_features": s,
                    "n_features_label": str(s),
                    "n_columns": phi.n_columns_,
                    "n_train": n,
                    "d": d,
                    "repeat": cell["repeat"],
                    "metric": f"approximation_error_{norm}",
                    "value": approximation_error(exact, approximate, norm, **ridge),
                    "settings": ridge,
                }
            )
    return rows
