"""Multinomial logistic regression on the features of rows that are too many to be held: approximation and both errors.

The prepared rows are read through a memory map and their features made block by block, again in every pass, so that
memory does not grow with n; where all features fit into the stated budget they are kept. One cell is a map for one
kernel on so many rows, the first of the training part; a fit leaves checkpoints, from which it goes on.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated, Any, TypedDict

import numpy as np
from annotated_types import Predicate
from tqdm import tqdm

from random_features.errors import NotDefinedError
from random_features.kernels import KERNELS, make_kernel
from random_features.learners.boehning import GAP_TOLERANCE, fit_on_stream
from random_features.learners.streams import keep_within
from rfstudy.fields import Count, Positive, Some, distinct
from rfstudy.scores import approximation_error
from rfstudy.study.engine import Cell, Job, Timed, entry_map, feature_seed
from rfstudy.study.job import Part, kernel_id
from rfstudy.study.sample import Sample, Samples, approximation_rows

STAGES = ("measure",)
NEEDS_DATA = True
METRICS = ("approximation_error_frobenius", "train_error_pct", "error_pct")

#: Two matrices of 8,192 columns, the factor and what it is made from, a chunk of the features, and the budget.
RESOURCES = {"mb": 5000, "minutes": 240}


class Sweeps(TypedDict):
    """Numbers of training rows, penalties, and the methods that run at them."""

    n_train: list[Count]
    penalty: list[Positive]
    methods: Annotated[list[str], Predicate(distinct)]


class Grid(TypedDict):
    """The `kernels`, training `rows` (the first ones, at most all), `n_features` (s), rows of the kernel matrix
    (`approximation_rows`), the `penalty` of the mean loss, the training rows that are timed (`timed_rows`), and
    `sweeps`: other numbers of rows and other penalties, at which some methods run for the first kernel.
    """

    kernels: Annotated[list[dict[str, Any]], *Some]
    rows: Count
    n_features: Count
    approximation_rows: Count
    penalty: Positive
    timed_rows: Count
    sweeps: Sweeps


class MappedRows(Samples):
    """The first rows of the training part and the test part, both on the disk: nothing is copied."""

    def of(self, repeat: int, preprocess: list, own_split: dict | None = None) -> Sample:
        """The rows; ``own_split`` says how many train (``n_train``)."""
        data, n_all = self.prepared, self.prepared.facts["n_train"]
        n = own_split["n_train"]
        return Sample(data.X[:n], data.y[:n], data.X[n_all:], data.y[n_all:], capped=n < n_all)


def kernels(spec: Part) -> list[tuple[dict, list[dict]]]:
    """Every kernel, with the entries that approximate it."""
    return [(kernel, spec.methods) for kernel in spec.grid["kernels"]]


def check(spec: Part) -> None:
    """Raise ``ValueError`` for preprocessing, which rows of a stream have behind them, and for kernels of entries."""
    if spec.preprocess not in ([], ["none"]):
        raise ValueError(f"the rows of a stream are taken as they are prepared, not after {spec.preprocess}")
    if any("kernel" in entry for entry in spec.methods):
        raise ValueError("the kernels of a stream stand in its grid: every entry is run for each of them")


def cells(job: Job) -> list[Cell]:
    """One cell an entry and kernel and, of those that sweep, place on an axis."""
    grid, entries = job.spec.grid, job.spec.methods
    swept = [entry for entry in entries if entry["method"] in grid["sweeps"]["methods"]]
    places = [(axis, value) for axis in ("n_train", "penalty") for value in grid["sweeps"][axis]]
    return [
        cell
        for repeat in job.spec.repeats
        for cell in (
            *(cell_of(job, entry, kernel, repeat) for kernel in grid["kernels"] for entry in entries),
            *(swept_cell(job, entry, axis, value, repeat) for entry in swept for axis, value in places),
        )
    ]


def swept_cell(job: Job, entry: dict, axis: str, value: float, repeat: int) -> Cell:
    """The cell of an entry at a place of an axis, for the first kernel."""
    cell = cell_of(job, entry, job.spec.grid["kernels"][0], repeat, **{axis: value})
    return replace(cell, columns=cell.columns | {"axis": axis, "at": value})


def cell_of(job: Job, entry: dict, kernel: dict, repeat: int, n_train=None, penalty=None) -> Cell:
    """The cell of an entry for a kernel; the grid says what is left open."""
    grid, has_width = job.spec.grid, "length_scale" in KERNELS[kernel["name"]]["parameters"]
    conditions = {key: grid[key] for key in ("n_features", "approximation_rows")}
    conditions |= {"kernel": kernel, "bandwidth": job.spec.bandwidth if has_width else None}
    at = {"kernel": kernel_id(kernel), "n_train": n_train or grid["rows"], "penalty": penalty or grid["penalty"]}
    return Cell(entry, at | {"repeat": repeat}, conditions, {"kernel": at["kernel"], "repeat": repeat})


def measure(job: Job, cell: Cell, checkpoints) -> tuple[list[dict], dict]:
    """The error of the kernel matrix, the errors on training and test rows, and the passes over the training rows."""
    conditions = cell.conditions
    sample, kernel, settings = rows_and_kernel(job, cell)
    shared = sample.size_columns | {
        "n_features": conditions["n_features"],
        "n_features_label": str(conditions["n_features"]),
    }
    shared |= {"settings": settings}
    phi = map_of(job, cell, kernel)
    try:
        phi.fit(sample.X_train, sample.y_train)
    except (NotDefinedError, np.linalg.LinAlgError) as error:
        status = "skipped" if isinstance(error, NotDefinedError) else "failed"
        because = {"status": status, "settings": settings | {"reason": str(error)}}
        return [shared | because | {"metric": metric} for metric in METRICS], {}
    shared |= {"n_columns": phi.n_columns_}
    with tqdm(desc=cell.name, file=sys.stderr, unit=" passes", mininterval=5) as bar:
        train, model, classes = fitted(phi, sample, cell.coordinates["penalty"], checkpoints, shown_by(bar))
    solved = {"penalty": cell.coordinates["penalty"], "solver": model.solver, "tolerance": GAP_TOLERANCE}
    solved |= {} if model.converged else {"converged": False}
    of_learner = shared | {"learner": "logistic", "settings": settings | solved}
    errors = {
        ("train_error_pct", "train"): error_of(job, train, sample.y_train, model, classes),
        ("error_pct", "test"): error_of(
            job, lambda: phi.transform_blocks(sample.X_test), sample.y_test, model, classes
        ),
        ("passes", "train"): model.n_iter,
    }
    told = shared | {"settings": settings | {"rows": min(conditions["approximation_rows"], len(sample.y_train))}}
    approximation = kernel_error(job, cell, phi, kernel, sample.X_train)
    rows = [told | {"metric": "approximation_error_frobenius", "split": "train", "value": approximation}]
    rows += [of_learner | {"metric": m, "split": split, "value": value} for (m, split), value in errors.items()]
    return rows, {}


def rows_and_kernel(job: Job, cell: Cell):
    """The rows of a cell, its kernel, and what its rows say of both."""
    n_train = min(cell.coordinates["n_train"], job.data.facts["n_train"])
    samples, repeat, split = MappedRows(job.data, job.spec), cell.coordinates["repeat"], {"n_train": n_train}
    sample = samples.of(repeat, job.spec.preprocess, split)
    settings = {"options": cell.entry["options"], "capped": sample.capped}
    told = dict(cell.conditions["kernel"])
    if cell.conditions["bandwidth"]:
        told["length_scale"] = samples.length_scale(repeat, job.spec.preprocess, cell.conditions["bandwidth"], split)
        settings["length_scale"] = told["length_scale"]
    return sample, make_kernel(told), settings


def map_of(job: Job, cell: Cell, kernel):
    """The unfitted map of a cell."""
    spec, s = job.spec, cell.conditions["n_features"]
    seed = feature_seed(spec, cell.entry, s, cell.coordinates["repeat"])
    return entry_map(spec, cell.entry, kernel, s, seed)


def shown_by(bar):
    """What a bar shows of a fit: the passes over the rows, and how near it is."""

    def show(passes: int, gap: float, objective: float) -> None:
        bar.set_postfix_str(f"gap {gap:.1e} of {objective:.4f}", refresh=False)
        bar.update(passes - bar.n)

    return show


def fitted(phi, sample: Sample, penalty: float, checkpoints=None, progress=None):
    """The features of the training rows as a stream, from memory where they fit; the model; and the sorted classes."""
    classes, labels = np.unique(sample.y_train, return_inverse=True)
    n, D = len(labels), phi.n_columns_
    train = keep_within(lambda: phi.transform_blocks(sample.X_train), n, D)
    how = {"n_columns": D, "checkpoints": checkpoints, "progress": progress}
    return train, fit_on_stream(train, labels.astype(np.uint8), len(classes), penalty, **how), classes


def error_of(job: Job, features, y, model, classes) -> float:
    """The error in percent of a model on a stream of features with the labels y (n,)."""
    decision = (model.decision(block) for _, block in features())
    predicted = np.concatenate([job.data.target.decode(each, classes) for each in decision])
    return job.data.target.evaluate("error_pct", y, predicted)


def kernel_error(job: Job, cell: Cell, phi, kernel, X_train) -> float:
    """The relative error of the kernel matrix of some training rows, the same for all methods and kernels."""
    chosen = approximation_rows(
        job.spec, cell.coordinates["repeat"], len(X_train), cell.conditions["approximation_rows"]
    )
    X = np.asarray(X_train[np.sort(chosen)])
    Z = phi.transform(X).astype(np.float64)
    return approximation_error(kernel(X.astype(np.float64)), Z @ Z.T, "frobenius")


def timed(job: Job, chosen: dict) -> list[Timed]:
    """What ``time`` takes the times of: all work on so many rows, as it is streamed, for every map and kernel."""
    grid = job.spec.grid
    every = [(kernel, entry) for kernel in grid["kernels"] for entry in job.spec.methods]
    return [timed_cell(job, cell_of(job, entry, kernel, 0, n_train=grid["timed_rows"])) for kernel, entry in every]


def timed_cell(job: Job, cell: Cell) -> Timed:
    """One phase: to draw and to learn the map, to fit on streamed features, and to predict the test rows."""
    sample, kernel, settings = rows_and_kernel(job, cell)
    s = cell.conditions["n_features"]

    def total():
        phi = map_of(job, cell, kernel).fit(sample.X_train, sample.y_train)
        _, model, classes = fitted(phi, sample, cell.coordinates["penalty"])
        error_of(job, lambda: phi.transform_blocks(sample.X_test), sample.y_test, model, classes)

    columns = sample.size_columns | {"n_features": s, "n_features_label": str(s), "kernel": cell.coordinates["kernel"]}
    rounds = job.spec.time["rounds"]
    return Timed(cell.entry, columns, {"total": total}, settings=settings, rounds=rounds)
