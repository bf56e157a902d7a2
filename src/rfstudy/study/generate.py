"""Draw and fit the maps of a shard: what cannot be drawn again, the generation time and the approximation error.

The time is that of fitting the map and of mapping all training rows, block by block, measured in this process after
a warm-up (the survey's "time cost of generating feature mappings", section 6.1). The error is that of the features'
inner products, or of the map's own estimate of the kernel where it has another one (``approximate_kernel``).

A map that does not exist for the data, or whose system of equations has no solution, leaves rows that say so.
"""

from __future__ import annotations

import time

import numpy as np

from rfstudy.arrays import seed_sequence, set_threads
from rfstudy.errors import NotDefinedError
from rfstudy.files import write_arrays
from rfstudy.metrics import approximation_error
from rfstudy.study.cells import (
    KERNELS,
    Cell,
    Conditions,
    cell_map,
    cells_of,
    conditions_of,
    skipped_rows,
    work_through,
)
from rfstudy.study.journal import Journal
from rfstudy.study.provenance import Run, write_records
from rfstudy.study.sample import Sample, load_prepared
from rfstudy.tidy import write

#: Seconds after which a time is not measured again: a long run needs no median.
ENOUGH_SECONDS = 1.0

#: Rows of the warm-up: enough to load every library and start every thread.
WARM_UP_ROWS = 500


def run(spec: dict, prepared_dir, tuned: dict, journal_dir, out, out_arrays, threads: int) -> None:
    """The stage: write a shard's rows, their provenance and the arrays of its data-dependent maps."""
    prepared = load_prepared(prepared_dir)
    error_metric = f"approximation_error_{spec['approximation']['norm']}"
    if prepared.skipped:
        rows = skipped_rows(
            spec,
            prepared,
            [{"metric": error_metric, "split": "train"}, {"metric": "time_feature_s", "split": "train"}],
        )
        arrays, records = {}, {}
    else:
        set_threads(threads)
        this_run = Run("generate", spec, threads)
        warmed: set[str] = set()

        def compute(cell: Cell, given: Conditions, sample: Sample):
            return measure(spec, cell, given, sample, warmed, threads)

        rows, arrays, records = work_through(
            cells_of(spec, prepared.facts["d"], spec["repeats"]),
            compute,
            stage="generate",
            spec=spec,
            conditions=lambda cell: conditions_of(spec, tuned, cell),
            prepared=prepared,
            journal=Journal(journal_dir),
            run=this_run,
        )
    write_arrays(arrays, out_arrays)
    write_records(records, out)
    write(rows, out)


def measure(spec: dict, cell: Cell, given: Conditions, sample: Sample, warmed: set[str], threads: int):
    """Rows (time, error) and learned arrays of one cell; a cell without a map has its reason in their place."""
    shared = sample.size_columns | {"split": "train"}
    settings = {
        "length_scale": given.length_scale,
        "preprocess": given.preprocess,
        "options": cell.entry["options"],
        "capped": sample.capped,
    }
    norm = spec["approximation"]["norm"]
    error_row = shared | {"metric": f"approximation_error_{norm}"}
    time_row = shared | {"metric": "time_feature_s"}
    try:
        phi, seconds, runs = timed_map(spec, cell, sample, given.length_scale, warmed)
    except (NotDefinedError, np.linalg.LinAlgError) as error:
        status = "skipped" if isinstance(error, NotDefinedError) else "failed"
        because = {"status": status, "settings": settings | {"reason": str(error)}}
        return [error_row | because, time_row | because], {status: np.array(str(error))}
    rows = approximation_rows(spec, cell, len(sample.y_train))
    exact = KERNELS[spec["kernel"]](length_scale=given.length_scale)(sample.X_train[rows].astype(np.float64))
    approximate, told = approximate_kernel(phi, sample.X_train[rows])
    columns = {"n_columns": phi.n_columns_}
    return [
        error_row
        | columns
        | {
            "value": approximation_error(exact, approximate, norm),
            "settings": settings | {"rows": len(rows)} | told,
        },
        time_row | columns | {"value": seconds, "settings": settings | {"threads": threads, "timing_runs": runs}},
    ], phi.learned_


def approximate_kernel(phi, X) -> tuple[np.ndarray, dict]:
    """The kernel matrix of X (n, d) as a fitted map has it, (n, n), and the setting that says where it is from."""
    if hasattr(phi, "approximate_kernel"):
        return phi.approximate_kernel(X).astype(np.float64), {"estimate": "approximate_kernel"}
    Z = phi.transform(X).astype(np.float64)
    return Z @ Z.T, {}


def timed_map(spec: dict, cell: Cell, sample: Sample, length_scale: float, warmed: set[str]):
    """As ``time_generation`` on the training rows, after a warm-up for each method."""
    if cell.entry["method"] not in warmed:
        time_generation(spec, cell, sample.X_train[:WARM_UP_ROWS], sample.y_train[:WARM_UP_ROWS], length_scale, 1)
        warmed.add(cell.entry["method"])
    return time_generation(spec, cell, sample.X_train, sample.y_train, length_scale, spec["timing_runs"])


def time_generation(spec: dict, cell: Cell, X, y, length_scale: float, max_runs: int):
    """The fitted map, the median seconds of fitting it and mapping ``X``, and how many runs the median has."""
    times: list[float] = []
    while len(times) < max_runs and sum(times) < ENOUGH_SECONDS:
        start = time.perf_counter()
        phi = cell_map(spec, cell, length_scale).fit(X, y)
        for _block in phi.transform_blocks(X):
            pass
        times.append(time.perf_counter() - start)
    return phi, float(np.median(times)), len(times)


def approximation_rows(spec: dict, cell: Cell, n_train: int) -> np.ndarray:
    """The training rows on which the error is measured: random, the same for all methods and sizes of a repeat."""
    generator = np.random.default_rng(seed_sequence(spec["seed"], "approximation", spec["dataset"], cell.repeat))
    return generator.choice(n_train, min(n_train, spec["approximation"]["rows"]), replace=False)
