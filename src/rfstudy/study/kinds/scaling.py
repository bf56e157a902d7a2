"""What a map costs as s and d grow: CPU seconds to draw it and to map a number of rows, and the bytes that it keeps.

The report fits powers of s and of d to these numbers and sets them beside the complexities that the survey states
(Table II). Times are those of the processor, on one thread, after a warm-up, and a row is the shortest of several runs:
an exponent is about the work, and whatever disturbs a run makes it longer.
"""

from __future__ import annotations

import time
from dataclasses import is_dataclass

import numpy as np
import torch

from rfstudy.arrays import seed_of, seed_sequence, threads_in_use
from rfstudy.study.cells import entry_map

#: Runs are repeated until they have taken this long together, so that short ones are many.
ENOUGH_SECONDS = 0.05


def cells(spec: dict) -> list[dict]:
    """One cell a pair of d and s: along s at one d, and along d at one s."""
    grid = spec["grid"]
    along_s = [(grid["fixed_dimension"], s) for s in grid["n_features"]]
    along_d = [(d, grid["fixed_n_features"]) for d in grid["dimensions"]]
    return [{"d": d, "n_features": s, "rows": grid["rows"]} for d, s in dict.fromkeys([*along_s, *along_d])]


def measure(spec: dict, entry: dict, cell: dict) -> list[dict]:
    """Rows of one cell: the two times and the bytes."""
    d, s = cell["d"], cell["n_features"]
    X = np.random.default_rng(seed_sequence(spec["seed"], "scaling", d)).standard_normal((cell["rows"], d))
    X = (X / np.sqrt(d)).astype(np.float32)
    phi = entry_map(spec, entry, s, seed_of(spec["seed"], "scaling", entry["method"], d, s))
    draw_s, transform_s = [], []
    phi.restore(d).transform(X)
    while len(draw_s) < spec["timing_runs"] or sum(draw_s) + sum(transform_s) < ENOUGH_SECONDS:
        start = time.process_time()
        phi.restore(d)
        drawn = time.process_time()
        phi.transform(X)
        draw_s.append(drawn - start)
        transform_s.append(time.process_time() - drawn)
    shared = {
        "dataset": f"made-d{d}",
        "n_features": s,
        "n_features_label": str(s),
        "n_columns": phi.n_columns_,
        "n_train": cell["rows"],
        "d": d,
        "settings": {"threads": threads_in_use(), "timing_runs": len(draw_s)},
    }
    return [
        shared | {"metric": "time_draw_s", "value": min(draw_s), "unit": "s"},
        shared | {"metric": "time_transform_s", "value": min(transform_s), "unit": "s"},
        shared | {"metric": "stored_bytes", "value": stored_bytes(phi), "unit": "B"},
    ]


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
