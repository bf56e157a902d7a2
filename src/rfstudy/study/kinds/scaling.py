"""What a map costs as s and d grow: the bytes that it keeps, and the times to draw it and to map a number of rows.

The report fits powers of s and of d to these numbers and sets them beside the complexities that the survey states
(Table II).
"""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import TypedDict

import numpy as np
import torch

from random_features.arrays import seed_of, seed_sequence
from random_features.kernels import make_kernel
from rfstudy.fields import Count, Counts
from rfstudy.study.engine import Cell, Job, Timed, entry_map
from rfstudy.study.job import Part, spread

STAGES = ("measure",)
NEEDS_DATA = False
RESOURCES = {"mb": 3000, "minutes": 240}


class Grid(TypedDict):
    """`rows` that are mapped, `n_features` (s) at `fixed_dimension`, and `dimensions` (d) at `fixed_n_features`."""

    rows: Count
    fixed_dimension: Count
    n_features: Counts
    fixed_n_features: Count
    dimensions: Counts


def cells(job: Job) -> list[Cell]:
    """One cell a map and pair of d and s: along s at one d, and along d at one s."""
    return [Cell(entry, at) for entry in job.spec.methods for at in places(job.spec.grid)]


def places(grid: dict) -> list[dict]:
    """The pairs of d and s, each once; where a few sizes are asked for, these at the one d alone."""
    pairs = [(grid["fixed_dimension"], s) for s in spread(grid["n_features"], grid.get("ends"))]
    if "ends" not in grid:
        pairs += [(d, grid["fixed_n_features"]) for d in grid["dimensions"]]
    return [{"d": d, "n_features": s} for d, s in dict.fromkeys(pairs)]


def measure(job: Job, cell: Cell, checkpoints) -> tuple[list[dict], dict]:
    """The one row of a cell: the bytes."""
    phi = map_at(job.spec, cell.entry, cell.coordinates).restore(cell.coordinates["d"])
    return [
        columns_at(cell.coordinates)
        | {"n_columns": phi.n_columns_, "metric": "stored_bytes", "value": stored_bytes(phi)}
    ], {}


def timed(job: Job, chosen: dict) -> list[Timed]:
    """What ``time`` takes the times of: drawing every map, and mapping the rows, at every pair of d and s."""
    return [timed_at(job.spec, entry, at) for at in places(job.spec.grid) for entry in job.spec.methods]


def timed_at(spec: Part, entry: dict, at: dict) -> Timed:
    """The phases of one map at one pair."""
    n, d = spec.grid["rows"], at["d"]
    X = np.random.default_rng(seed_sequence(spec.seed, "scaling", d)).standard_normal((n, d))
    X = (X / np.sqrt(d)).astype(np.float32)
    phi = map_at(spec, entry, at)
    # none of these maps learns from data
    phases = {"draw": lambda: phi.restore(d), "transform": lambda: phi.transform(X)}
    return Timed(entry, columns_at(at) | {"n_train": n}, phases)


def map_at(spec: Part, entry: dict, at: dict):
    """The unfitted map of an entry at one pair."""
    d, s = at["d"], at["n_features"]
    seed = seed_of(spec.seed, "scaling", entry["method"], d, s)
    return entry_map(spec, entry, make_kernel(spec.kernel), s, seed)


def columns_at(at: dict) -> dict:
    """The columns of the tidy table that say where a row stands."""
    d, s = at["d"], at["n_features"]
    return {"dataset": f"made-d{d}", "n_features": s, "n_features_label": str(s), "d": d}


def stored_bytes(phi) -> int:
    """Bytes of all arrays that a fitted map holds, wherever in its attributes; an array held twice counts once."""
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
