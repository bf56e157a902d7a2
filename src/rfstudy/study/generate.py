"""Draw and fit the maps of a shard; write their approximation errors and what their seeds cannot reproduce.

The error is that of the inner products of the features, or of the map's own estimate of the kernel
(``approximate_kernel``). A map that may draw a frequency more than once has a row with the number of different ones. A
map that does not exist for the data, or whose system of equations has no solution, has rows with that reason.
"""

from functools import partial

import numpy as np

from random_features.errors import NotDefinedError
from rfstudy.scores import approximation_error
from rfstudy.study.engine import Cell, Job, Work, run_parts, work_through
from rfstudy.study.job import Part
from rfstudy.study.kinds.grid import cell_settings, grid_cells, map_of, prefixes, sample_of, skipped_rows
from rfstudy.study.rows import status_of
from rfstudy.study.sample import approximation_rows


def run(parts: list[Part], prepared_dirs, chosen: dict, journal, out, out_arrays, threads: int) -> None:
    """The stage: write a shard's rows, their provenance and the arrays of its data-dependent maps.

    ``chosen`` holds what ``tune`` found, by data set; it is empty where nothing was searched.
    """

    def work_of(job: Job) -> Work:
        spec = job.spec
        if job.data.skipped:
            missing = [{"metric": metric_of(spec), "split": "train"}]
            return Work(skipped_rows(spec, job.data, spec.repeats, missing))
        cells = grid_cells(spec, chosen.get(spec.dataset, {}), job.data.facts["d"], spec.repeats)
        return work_through(job, cells, partial(measure, job))

    run_parts("generate", parts, prepared_dirs, journal, threads, work_of, out, out_arrays)


def metric_of(spec: Part) -> str:
    """The metric of the approximation error of a part."""
    return f"approximation_error_{spec.approximation['norm']}"


def measure(job: Job, cell: Cell, checkpoints) -> tuple[list[dict], dict]:
    """The error rows and learned arrays of one cell; a cell without a map has its reason in their place."""
    spec, repeat = job.spec, cell.coordinates["repeat"]
    sample = sample_of(job.samples, cell)
    row = sample.size_columns | {"split": "train", "metric": metric_of(spec)}
    phi, kernel, length_scale = map_of(spec, cell, job.samples)
    settings = cell_settings(cell, length_scale, sample.capped)
    try:
        phi.fit(sample.X_train, sample.y_train, checkpoints)
    except (NotDefinedError, np.linalg.LinAlgError) as error:
        status = status_of(error)
        because = {"status": status, "settings": settings | {"reason": str(error)}}
        return [row | size | because for _, size in prefixes(None, cell)], {status: np.array(str(error))}
    X = sample.X_train[approximation_rows(spec, repeat, len(sample.y_train), spec.approximation["rows"])]
    exact = kernel(X.astype(np.float64))
    rows = []
    for prefix, size in prefixes(phi, cell):
        approximate, told = approximate_kernel(prefix, X)
        value = approximation_error(exact, approximate, spec.approximation["norm"])
        told = {"settings": settings | {"rows": len(X)} | told}
        columns = row | size | {"n_columns": prefix.n_columns_}
        rows.append(columns | {"value": value} | told)
        if hasattr(prefix, "n_distinct_"):
            rows.append(columns | {"metric": "distinct_features", "value": prefix.n_distinct_, "settings": settings})
    return rows, phi.learned_


def approximate_kernel(phi, X) -> tuple[np.ndarray, dict]:
    """The kernel matrix of X (n, d) as a fitted map has it, (n, n), and the setting that says where it is from."""
    if hasattr(phi, "approximate_kernel"):
        return phi.approximate_kernel(X).astype(np.float64), {"estimate": "approximate_kernel"}
    Z = phi.transform(X).astype(np.float64)
    return Z @ Z.T, {}
