"""What it costs to fit a map as s and n grow: CPU seconds of the fit, of the features, and of the scores alone.

A map that samples frequencies by scores of the data maps the rows with a pool of frequencies, scores the pool and draws
from it; plain random Fourier features draw and look at no data. The report fits powers of s and of n to the times and
sets them beside the complexities that Liu et al. state (AAAI 2020, section 3.2). Times are taken as in ``scaling``.
"""

from __future__ import annotations

import time

import numpy as np

from rfstudy.arrays import seed_of, seed_sequence, threads_in_use
from rfstudy.maps.leverage import ScoredPoolMap
from rfstudy.study.cells import entry_map

#: Runs are repeated until they have taken this long together, so that short ones are many.
ENOUGH_SECONDS = 0.05

#: Rows of the warm-up: libraries are loaded and buffers exist when the first run begins.
WARM_UP_ROWS = 64


def cells(spec: dict) -> list[dict]:
    """One cell a pair of n and s: along s at one n, and along n at one s; the dimension is one throughout."""
    grid = spec["grid"]
    along_s = [(grid["rows"], s) for s in grid["n_features"]]
    along_n = [(n, grid["fixed_n_features"]) for n in grid["sample_sizes"]]
    d = grid["fixed_dimension"]
    return [{"d": d, "n_features": s, "rows": n} for n, s in dict.fromkeys([*along_s, *along_n])]


def measure(spec: dict, entry: dict, cell: dict) -> list[dict]:
    """Rows of one cell: the times of the fit, of mapping the rows and, of a map that has scores, of the scores."""
    n, d, s = cell["rows"], cell["d"], cell["n_features"]
    X, y = labelled_points(spec["seed"], n, d)
    phi = entry_map(spec, entry, s, seed_of(spec["seed"], "fitting", entry["method"], n, s))
    phi.fit(X[:WARM_UP_ROWS], y[:WARM_UP_ROWS]).transform(X[:WARM_UP_ROWS])
    timed = {"time_fit_s": lambda: phi.fit(X, y), "time_transform_s": lambda: phi.transform(X)}
    if isinstance(phi, ScoredPoolMap):
        timed["time_scores_s"] = scores_alone(entry_map(spec, entry, s, phi.random_state), X, y)
    shared = {
        "dataset": f"made-n{n}",
        "n_features": s,
        "n_features_label": str(s),
        "n_columns": phi.n_columns_,
        "n_train": n,
        "d": d,
        "unit": "s",
    }
    rows = []
    for metric, work in timed.items():
        seconds, runs = shortest(work, spec["timing_runs"])
        settings = {"threads": threads_in_use(), "timing_runs": runs}
        rows.append(shared | {"metric": metric, "value": seconds, "settings": settings})
    return rows


def labelled_points(seed: int, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal points (n, d), float32, about one length scale apart, and labels -1 and +1 (n,): the side of a plane."""
    X = np.random.default_rng(seed_sequence(seed, "fitting", n, d)).standard_normal((n, d))
    return (X / np.sqrt(d)).astype(np.float32), np.where(X[:, 0] > 0, 1, -1)


def scores_alone(phi, X: np.ndarray, y: np.ndarray):
    """A function that scores the whole pool of a map as ``fit`` does, on features of the rows that are ready."""
    phi.draw(X.shape[1], dtype=X.dtype)
    blocks = list(phi.pool_.blocks(X))
    return lambda: phi.pool_scores(blocks, y, n_rows=len(X))


def shortest(work, runs: int) -> tuple[float, int]:
    """CPU seconds of the shortest of at least ``runs`` runs of a function, and how many there were."""
    times: list[float] = []
    while len(times) < runs or sum(times) < ENOUGH_SECONDS:
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times), len(times)
