"""Multinomial logistic regression on the features of rows that are too many to be held: approximation and both errors.

The prepared rows are read through a memory map and their features made block by block, again in every pass, so that
memory does not grow with n. If all features fit into the stated budget, they are kept. A cell is a map for one kernel
on a number of rows, the first of the training part. A fit writes checkpoints, from which it resumes.
"""

import itertools
import sys
from functools import partial

import numpy as np
from tqdm import tqdm

from random_features.errors import NotDefinedError
from random_features.kernels import KERNELS, make_kernel
from random_features.learners.logistic import GAP_TOLERANCE, fit_on_stream
from random_features.learners.streams import keep_within
from rfstudy.data.target import Target
from rfstudy.scores import approximation_error
from rfstudy.study.engine import Cell, Job, Measured, Timed, solver_of, without_value
from rfstudy.study.job import Part, kernel_id
from rfstudy.study.kinds.registry import KINDS
from rfstudy.study.sample import Prepared, Sample, Samples


class MappedRows(Samples):
    """The first ``n_train`` rows of the training part and the test part, both on the disk: nothing is copied."""

    def __init__(self, data: Prepared, spec: Part, n_train: int):
        super().__init__(data, spec)
        self.n_train = n_train

    def of(self, repeat: int, preprocess: list, own_split: dict | None = None) -> Sample:
        """Return the rows, which are the same in all repeats."""
        data, n_all = self.prepared, self.prepared.facts["n_train"]
        n = min(self.n_train, n_all)
        return Sample(data.X[:n], data.y[:n], data.X[n_all:], data.y[n_all:], capped=n < n_all)


def kernels(spec: Part) -> list[tuple[dict, list[dict]]]:
    """Return every kernel, with the entries that approximate it."""
    return [(kernel, spec.methods) for kernel in spec.grid["kernels"]]


def check(spec: Part) -> None:
    """Raise ``ValueError`` for preprocessing: the rows of a stream are preprocessed already."""
    if spec.preprocess not in ([], ["none"]):
        raise ValueError(f"the rows of a stream are taken as they are prepared, not after {spec.preprocess}")


def cells(job: Job) -> list[Cell]:
    """Return one cell per entry and kernel. Entries that sweep also have one cell per place on an axis, for the first
    kernel.
    """
    spec, (first, *_), sweeps = job.spec, job.spec.grid["kernels"], job.spec.grid["sweeps"]
    work = [(entry, kernel, {}) for kernel in spec.grid["kernels"] for entry in spec.methods]
    places = [{"axis": axis, "at": value} for axis in ("n_train", "penalty") for value in sweeps[axis]]
    swept = [entry for entry in spec.methods if entry["method"] in sweeps["methods"]]
    work += [(entry, first, place) for entry, place in itertools.product(swept, places)]
    return [cell_of(spec, *each, repeat) for repeat in spec.repeats for each in work]


def cell_of(spec: Part, entry: dict, kernel: dict, place: dict, repeat: int) -> Cell:
    """Return the cell of an entry for a kernel, at a place on an axis or with the values of the grid."""
    at = {"kernel": kernel_id(kernel), "n_train": spec.grid["rows"], "penalty": spec.grid["penalty"], "repeat": repeat}
    if place:
        at[place["axis"]] = place["at"]
    bandwidth = spec.bandwidth if KERNELS[kernel["name"]].has_length_scale else None
    conditions = {key: spec.grid[key] for key in ("n_features", "approximation_rows")}
    conditions |= {"parameters": kernel, "bandwidth": bandwidth}
    return Cell(entry, at, conditions, place)


def measure(job: Job, entry: dict, *, kernel: str, n_train: int, penalty: float, repeat: int, **conditions) -> Measured:
    """Return the error of the kernel matrix, the errors on training and test rows, and the passes over the training
    rows.
    """
    sample, exact, settings = rows_and_kernel(job, n_train, repeat, **conditions)
    settings |= {"options": entry["options"]}
    shared = sample.size_columns | {"settings": settings}
    phi = job.feature_map(entry, exact, conditions["n_features"], repeat)
    try:
        phi.fit(sample.X_train, sample.y_train)
    except (NotDefinedError, np.linalg.LinAlgError) as error:
        return [shared | without_value(error, settings) | {"metric": each} for each in KINDS["stream"].metrics], {}
    shared |= {"n_columns": phi.n_columns_}
    with tqdm(desc=f"{entry['method']} {kernel}", file=sys.stderr, unit=" passes", mininterval=5) as bar:
        train, model, classes = fitted(phi, sample, penalty, job.checkpoints, lambda passes: bar.update(passes - bar.n))
    solved = {"penalty": penalty, "tolerance": GAP_TOLERANCE} | solver_of(model)
    test = partial(phi.transform_blocks, sample.X_test)
    errors = {
        ("train_error_pct", "train"): error_pct(job.data.target, train, sample.y_train, model, classes),
        ("error_pct", "test"): error_pct(job.data.target, test, sample.y_test, model, classes),
        ("passes", "train"): model.n_iter,
    }
    # of some training rows, the same for all methods and kernels
    chosen = job.samples.approximation_rows(repeat, len(sample.y_train), conditions["approximation_rows"])
    X = np.asarray(sample.X_train[np.sort(chosen)])
    Z = phi.transform(X).astype(np.float64)
    approximation = approximation_error(exact(X.astype(np.float64)), Z @ Z.T, "frobenius")
    of_error = shared | {"settings": settings | {"rows": len(X)}}
    rows = [of_error | {"metric": "approximation_error_frobenius", "split": "train", "value": approximation}]
    of_learner = shared | {"learner": "logistic", "settings": settings | solved}
    rows += [of_learner | {"metric": m, "split": split, "value": value} for (m, split), value in errors.items()]
    return rows, {}


def rows_and_kernel(job: Job, n_train: int, repeat: int, *, parameters: dict, bandwidth: dict | None, **_):
    """Return the rows of a cell, its kernel, and the settings of both for the tidy table."""
    samples = MappedRows(job.data, job.spec, n_train)
    sample = samples.of(repeat, job.spec.preprocess)
    own = {"length_scale": samples.length_scale(repeat, job.spec.preprocess, bandwidth)} if bandwidth else {}
    return sample, make_kernel(parameters | own), own | {"capped": sample.capped}


def fitted(phi, sample: Sample, penalty: float, checkpoints=None, progress=None):
    """Return the features of the training rows as a stream (kept in memory if they fit), the model, and the sorted
    classes.
    """
    classes, labels = np.unique(sample.y_train, return_inverse=True)
    n, D = len(labels), phi.n_columns_
    train = keep_within(lambda: phi.transform_blocks(sample.X_train), n, D)
    how = {"n_columns": D, "checkpoints": checkpoints, "progress": progress}
    return train, fit_on_stream(train, labels.astype(np.uint8), len(classes), penalty, **how), classes


def error_pct(target: Target, features, y, model, classes) -> float:
    """Return the error in percent of a model on a stream of features with the labels y (n,)."""
    predicted = np.concatenate([target.decode(model.decision(block), classes) for _, block in features()])
    return target.evaluate("error_pct", y, predicted)


def timed(job: Job, chosen: dict) -> list[Timed]:
    """Return the units that ``time`` measures: all streamed work on ``timed_rows`` rows, for every map and kernel."""
    spec, place = job.spec, {"axis": "n_train", "at": job.spec.grid["timed_rows"]}
    pairs = itertools.product(spec.grid["kernels"], spec.methods)
    return [timed_cell(job, cell_of(spec, entry, kernel, place, 0)) for kernel, entry in pairs]


def timed_cell(job: Job, cell: Cell) -> Timed:
    """Return one phase: to draw and to learn the map, to fit on streamed features, and to predict the test rows."""
    spec, entry, at, conditions = job.spec, cell.entry, cell.coordinates, cell.conditions
    sample, kernel, settings = rows_and_kernel(job, at["n_train"], 0, **conditions)
    s = conditions["n_features"]

    def total():
        phi = job.feature_map(entry, kernel, s, 0).fit(sample.X_train, sample.y_train)
        _, model, classes = fitted(phi, sample, at["penalty"])
        test = partial(phi.transform_blocks, sample.X_test)
        error_pct(job.data.target, test, sample.y_test, model, classes)

    columns = sample.size_columns | {"n_features": s, "kernel": at["kernel"]}
    settings |= {"options": entry["options"]}
    return Timed(entry, columns, {"total": total}, settings=settings, rounds=spec.time["rounds"])
