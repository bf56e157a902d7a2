"""The cost to fit a map as s and n grow: the times of its phases and, if it has scores, of these alone.

A map that samples frequencies by scores of the data maps the rows with a pool of frequencies, scores the pool and draws
from it; plain random Fourier features draw without looking at data. The report fits powers of s and of n to the times
and compares them with the complexities that Liu et al. state (AAAI 2020, section 3.2).
"""

import numpy as np

from random_features.arrays import seed_sequence
from random_features.kernels import make_kernel
from rfstudy.study.engine import Job, Timed, drawn_and_learned
from rfstudy.study.job import spread


def timed(job: Job, chosen: dict) -> list[Timed]:
    """Return the units that ``time`` measures: every map at every pair of n and s (``pairs_in``)."""
    spec, d = job.spec, job.spec.grid["fixed_dimension"]
    pairs = pairs_in(spec.grid, "rows", "sample_sizes")
    return [timed_map(job, entry, f"made-n{n}", n, d, s) for n, s in pairs for entry in spec.methods]


def pairs_in(grid: dict, fixed: str, values: str) -> list[tuple[int, int]]:
    """Return pairs of a quantity and s, each once: every s at the fixed value, and all values at the fixed s. If a few
    sizes are asked for, return only these, at the fixed value.
    """
    found = [(grid[fixed], s) for s in spread(grid["n_features"], grid.get("ends"))]
    found += [] if "ends" in grid else [(value, grid["fixed_n_features"]) for value in grid[values]]
    return list(dict.fromkeys(found))


def timed_map(job: Job, entry: dict, dataset: str, n: int, d: int, s: int) -> Timed:
    """Return the phases of one map of s features on n rows; ``scores`` works on features of the pool that are ready.

    The labels, -1 and +1, give the side of a plane on which a row is.
    """
    X = normal_points(job.spec.seed, n, d)
    y = np.where(X[:, 0] > 0, 1, -1)

    def unfitted():
        return job.entry_map(entry, make_kernel(job.spec.kernel), s, "fitting", entry["method"], n, s)

    phi = unfitted()
    phases = drawn_and_learned(entry, phi, X, y) | {"transform": lambda: phi.transform(X)}
    if hasattr(phi, "pool_scores"):
        scored, kept = unfitted().draw(d, dtype=X.dtype), []

        def scores():
            if not kept:
                kept.extend(scored.pool_.blocks(X))
            scored.pool_scores(kept, y, n_rows=n)

        phases["scores"] = scores
    return Timed(entry, {"dataset": dataset, "n_features": s, "n_train": n, "d": d}, phases)


def normal_points(seed: int, n: int, d: int) -> np.ndarray:
    """Return normal points (n, d), float32, about one length scale apart."""
    X = np.random.default_rng(seed_sequence(seed, "points", n, d)).standard_normal((n, d), dtype=np.float32)
    return X / np.float32(np.sqrt(d))
