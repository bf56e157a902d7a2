"""The time to map a row against the number of columns d, at s = d: where fast transforms overtake the dense product.

All maps of an experiment map the same rows, in float32, next to transformers of scikit-learn (``study.peers``).
"""

from dataclasses import replace
from functools import partial

from random_features.kernels import make_kernel
from rfstudy.study.engine import Job, Timed
from rfstudy.study.job import Part, spread
from rfstudy.study.kinds.fitting import normal_points
from rfstudy.study.peers import make_peer


def check(spec: Part) -> None:
    """Raise ``ValueError`` for a peer that does not exist."""
    for name in spec.grid["peers"]:
        make_peer(name, make_kernel(spec.kernel), 1)


def timed(job: Job, chosen: dict) -> list[Timed]:
    """Return the units that ``time`` measures: every map and every peer maps the rows, from the smallest d."""
    grid = job.spec.grid
    return [unit for d in spread(grid["dimensions"], grid.get("ends")) for unit in timed_at(job, d)]


def timed_at(job: Job, d: int) -> list[Timed]:
    """Return the maps and peers at one d, all on the CPU. They are fitted on a few rows, since none of them learns from
    the data.
    """
    spec, on_cpu = job.spec, replace(job, spec=job.spec | {"device": "cpu"})
    grid, kernel = spec.grid, make_kernel(spec.kernel)
    n = min(grid["most_rows"], grid["most_entries"] // d)
    X = normal_points(spec.seed, n, d)
    sides = [(entry, on_cpu.entry_map(entry, kernel, d, "crossover", entry["method"], d)) for entry in spec.methods]
    sides += [({"variant": name}, make_peer(name, kernel, d)) for name in grid["peers"]]
    columns = {"dataset": f"made-d{d}", "n_features": d, "n_train": n, "d": d}
    return [Timed(entry, columns, {"transform": partial(side.fit(X[:10]).transform, X)}) for entry, side in sides]
