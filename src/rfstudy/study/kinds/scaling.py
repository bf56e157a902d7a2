"""The cost of a map as s and d grow: the bytes that it keeps, and the times to draw it and to map a number of rows.

The report fits powers of s and of d to these numbers and compares them with the complexities that the survey states
(Table II).
"""

from dataclasses import is_dataclass

import numpy as np
import torch

from random_features.kernels import make_kernel
from rfstudy.study.engine import Cell, Job, Measured, Timed
from rfstudy.study.kinds.fitting import pairs_in, timed_map

#: Keys of the grid: d while s varies, and the values of d at one s.
AXES = ("fixed_dimension", "dimensions")


def cells(job: Job) -> list[Cell]:
    """Return one cell per map and pair of d and s: along s at one d, and along d at one s."""
    pairs = pairs_in(job.spec.grid, *AXES)
    return [Cell(entry, {"d": d, "n_features": s}) for entry in job.spec.methods for d, s in pairs]


def measure(job: Job, entry: dict, *, d: int, n_features: int) -> Measured:
    """Return the one row of a cell: the bytes."""
    # the draws do not matter
    phi = job.entry_map(entry, make_kernel(job.spec.kernel), n_features).restore(d)
    row = {"dataset": f"made-d{d}", "n_columns": phi.n_columns_}
    return [row | {"metric": "stored_bytes", "value": stored_bytes(phi)}], {}


def timed(job: Job, chosen: dict) -> list[Timed]:
    """Return the units that ``time`` measures: drawing every map, and mapping the rows, at every pair of d and s."""
    methods, n, pairs = job.spec.methods, job.spec.grid["rows"], pairs_in(job.spec.grid, *AXES)
    return [timed_map(job, entry, f"made-d{d}", n, d, s) for d, s in pairs for entry in methods]


def stored_bytes(phi) -> int:
    """Return the bytes of all arrays in the attributes of a fitted map, at any depth. An array held twice counts
    once.
    """
    found: dict[int, int] = {}
    waiting = list(vars(phi).values())
    while waiting:
        value = waiting.pop()
        if isinstance(value, np.ndarray | torch.Tensor):
            found[id(value)] = value.nbytes
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif is_dataclass(value):
            waiting.extend(vars(value).values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
    return sum(found.values())
