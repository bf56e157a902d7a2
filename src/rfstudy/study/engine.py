"""Work through cells: resume finished ones, record where numbers come from, and report progress.

A *cell* is an entry (a map with its options, or none) with its coordinates (size, repeat, round, position on an axis)
and its conditions (preprocessing, bandwidth, penalty). It yields rows of the tidy table and named arrays. The journal
keeps a finished cell under a hash of everything that decides it. This includes the entry with all its options, the
coordinates and the conditions. It also includes the description of the job without its names, the facts about the data,
the code, and the versions of the numerical libraries. A long cell may write checkpoints; after a kill it continues from
them.
"""

import itertools
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Protocol, Self

import torch
from tqdm import tqdm

from random_features.arrays import seed_of, set_threads, use_smaller_blocks
from random_features.errors import NotDefinedError, UserError
from random_features.kernels import make_kernel
from random_features.kernels.base import Kernel
from random_features.maps.registry import REGISTRY, make_map, resolved_options
from random_features.tensors import resolve_device
from rfstudy import tidy
from rfstudy.data import prepared
from rfstudy.data.tasks import without
from rfstudy.study.code import code_hash
from rfstudy.study.job import NAMES, Part, code_roots, own_kernel
from rfstudy.study.journal import Checkpoints, Journal, key_of
from rfstudy.study.kinds.registry import KINDS
from rfstudy.study.provenance import Run, versions, write_results
from rfstudy.study.sample import Prepared, Sample, Samples, loaded

#: Fields that do not decide a cell: the names of a specification, its lists of cells, and the sources of its choices,
#: errors and scores. A cell has its own share of these in ``conditions``. Two experiments that share a cell compute it
#: once.
IRRELEVANT = (*NAMES, "methods", "repeats", "sizes", "draws", "grid", "time")
IRRELEVANT += ("learners", "search", "shared_methods", "approximation", "scores")

#: Facts about a data set that decide no cell: its names, the description of its rows, and their provenance. All other
#: facts are part of every key, including facts that are added later.
IRRELEVANT_FACTS = ("task", "label", "stand_in", "reason", "facts", "provenance", prepared.CHECKSUM)


#: Words of the errors that say that the memory of a GPU does not suffice.
OUT_OF_MEMORY = ("out of memory", "ALLOC_FAILED")

#: The rows of a cell, and its arrays by name.
Measured = tuple[list[dict], dict]


@dataclass(frozen=True)
class Cell:
    """A unit of work whose result the journal keeps."""

    entry: dict  # of an experiment's methods; empty if there is no map
    coordinates: dict  # JSON-like: size, repeat, position on an axis; they distinguish the cells of an entry
    conditions: dict = field(default_factory=dict)  # JSON-like: preprocessing, bandwidth, penalty, ...
    columns: dict = field(default_factory=dict)  # further columns of the tidy table that its rows share

    @property
    def name(self) -> str:
        """Return the short id of the cell within an experiment and data set. The arrays of the cell are filed under
        it.
        """
        values = [value if isinstance(value, list) else [value] for value in self.coordinates.values()]
        return "/".join(filter(None, [name_of(self.entry), *("+".join(map(str, each)) for each in values)]))

    @property
    def shared_columns(self) -> dict:
        """Return the columns of the tidy table that the rows of the cell share. They are the columns of the entry,
        those coordinates and conditions that are columns, and ``columns``.
        """
        stated = self.coordinates | self.conditions
        own = {name: stated[name] for name in tidy.COLUMNS if isinstance(stated.get(name), str | int | float)}
        return entry_columns(self.entry) | own | self.columns


@dataclass(frozen=True)
class Timed:
    """An entry that the stage ``time`` measures, with the columns and settings of its rows, and its phases.

    Phases are functions by name, in the order in which they run. Each can be called many times. The phases of a learner
    (``fit``, ``predict``) are rows of that learner. An entry that takes too long takes part in the first ``rounds``
    rounds only. ``threads`` replaces the number of the job.
    """

    entry: dict
    columns: dict
    phases: dict
    learner: str = ""
    settings: dict = field(default_factory=dict)
    rounds: int | None = None
    threads: int | None = None


@dataclass
class Work:
    """The results of cells: rows, arrays by ``<cell>/<name>``, and the provenance records of their runs."""

    rows: list[dict] = field(default_factory=list)
    arrays: dict = field(default_factory=dict)
    records: dict = field(default_factory=dict)

    def add(self, other: Self, dataset: str = "") -> None:
        """Add the results of other cells. The name of the data set keeps their arrays apart."""
        self.rows += other.rows
        self.arrays |= {"/".join(filter(None, (dataset, name))): value for name, value in other.arrays.items()}
        self.records |= other.records


@dataclass(frozen=True)
class Job:
    """The state that all cells of one part of a stage's work share."""

    stage: str
    spec: Part
    journal: Journal
    run: Run
    data: Prepared | None = None
    samples: Samples | None = None
    on_gpu: Self | None = None  # the same job on a GPU whose memory did not suffice: cells that it finished stay
    checkpoints: Checkpoints | None = None  # of the cell that is computed

    @property
    def columns(self) -> dict:
        """Return the columns of the tidy table that all rows of the job share."""
        return self.spec.columns | {"stand_in": self.data.facts["stand_in"] if self.data else ""}

    def skipped_rows(self, places: Iterable[tuple[dict, dict]]) -> Work:
        """Return a row for each pair of an entry and columns that says why there is no number: the data set is missing.
        Each row covers all repeats, and is written by the shard with the first of them.
        """
        why = self.columns | {"status": "skipped", "settings": {"reason": self.data.skipped}}
        return Work([why | entry_columns(entry) | own for entry, own in places if 0 in self.spec.repeats])

    def cells(self, **axes: str) -> list[Cell]:
        """Return a cell for every repeat, entry and combination of values of axes.

        ``axes`` name the key of the grid that lists the values of a coordinate. All other keys of the grid are
        conditions.
        """
        spec, conditions = self.spec, without(self.spec.grid, *axes.values())
        values = itertools.product(*(spec.grid[key] for key in axes.values()))
        places = [dict(zip(axes, each, strict=True)) for each in values]
        found = itertools.product(spec.repeats, spec.methods, places)
        return [Cell(entry, place | {"repeat": repeat}, conditions) for repeat, entry, place in found]

    def work_through(self, cells: list[Cell], compute) -> Work:
        """Return the rows and arrays of all cells. A finished cell comes from the journal; ``compute`` does the others.

        Parameters
        ----------
        cells : in the order of their rows
        compute : callable (cell, checkpoints) -> (rows, arrays); rows hold what is particular to the cell, arrays are
            by name; a long cell saves its progress in ``checkpoints``

        Returns
        -------
        Work
        """
        done = Work()
        title = " ".join(filter(None, (self.spec.experiment, self.spec.dataset, self.stage)))
        for cell in tqdm(cells, desc=title, file=sys.stderr, mininterval=5):
            content, arrays = self.finished(cell, compute)
            record = content["record"]
            own = self.columns | {"run": record["run"]} | cell.shared_columns
            done.records[record["run"]] = record
            done.rows += [labelled(own | row) for row in content["rows"]]
            done.arrays |= {f"{cell.name}/{name}": value for name, value in arrays.items()}
        return done

    def finished(self, cell: Cell, compute) -> tuple[dict, dict]:
        """Return the content (rows, provenance record) and arrays of a cell. Compute and journal them if the journal
        lacks them.
        """
        key = self.key(cell)
        stored = self.journal.get(key) or (self.on_gpu and self.journal.get(self.on_gpu.key(cell)))
        if not stored:
            checkpoints = Checkpoints(self.journal, key)
            rows, arrays = compute(cell, checkpoints)
            stored = {"rows": rows, "record": self.run.finished()}, arrays
            self.journal.put(key, *stored)
            checkpoints.clear()
        return stored

    def key(self, cell: Cell) -> str:
        """Return the hash of everything that decides a cell."""
        # the conditions of a cell replace what the specification says about all cells
        common = without(self.spec.stated(), *IRRELEVANT, *cell.conditions)
        decided = {"methods": [cell.entry] if cell.entry else []} | common | cell.conditions
        facts = without(self.data.facts, *IRRELEVANT_FACTS) if self.data else {}
        own = entry_key(cell.entry), cell.coordinates, cell.conditions
        return key_of(self.stage, common, *own, facts, code_hash(*code_roots(self.stage, decided)), versions())

    def sample_and_kernel(self, repeat: int, conditions: dict | None = None) -> tuple[Sample, Kernel, float | None]:
        """Return the prepared rows of a repeat, the kernel and its length scale. The conditions of a cell replace what
        the experiment says: steps, split, kernel, length scale, bandwidth rule.

        The rule finds the length scale on the training rows. It is None if there is neither a rule nor a number.
        """
        given = vars(self.spec) | {"length_scale": None} | (conditions or {})
        preprocess, split, length_scale = given["preprocess"], given["split"], given["length_scale"]
        if given["bandwidth"]:
            length_scale = self.samples.length_scale(repeat, preprocess, given["bandwidth"], split)
        own = {} if length_scale is None else {"length_scale": length_scale}
        return self.samples.of(repeat, preprocess, split), make_kernel(given["kernel"] | own), length_scale

    def feature_map(self, entry: dict, kernel, n_features: int, repeat: int, *draw: int):
        """Return the unfitted map of an entry in a repeat. Its frequencies depend only on the data set, method, size
        and repeat, and on the number of the draw if a repeat has several. Experiments of any kind therefore have the
        same features where they have the same map.
        """
        axes = ("features", self.spec.dataset, entry["method"], n_features, repeat, *draw)
        return self.entry_map(entry, kernel, n_features, *axes)

    def entry_map(self, entry: dict, kernel, n_features: int, *axes):
        """Return the unfitted map of an entry, with ``n_features`` frequencies. The seed of the study and ``axes``
        decide its draws.
        """
        own = {"device": self.spec.device, "random_state": seed_of(self.spec.seed, *axes)}
        return make_map(entry["method"], kernel, n_components=n_features, **entry["options"] | own)


def jobs(stage: str, parts: list[Part], prepared_dirs, journal, threads: int):
    """Yield the jobs of a stage's parts. Each part with data has its folder in ``prepared_dirs``.

    The device "auto" is resolved here, so that a cell computed on a GPU is never taken for one computed on a processor.
    """
    try:
        device = resolve_device(parts[0].device).type
    except RuntimeError as error:  # the machine that made the plan may have other devices than this one
        raise UserError(str(error)) from error
    run, cells = Run(stage, parts, threads, device), Journal(journal)
    parts = [spec | {"device": device} for spec in parts]
    without_data = not prepared_dirs and not any(spec.dataset for spec in parts)
    for spec, data in ((spec, None) for spec in parts) if without_data else loaded(parts, prepared_dirs):
        yield Job(stage, spec, cells, run, data, Samples(data, spec) if data else None)


def in_memory(work_of, job: Job):
    """Return ``work_of(job)``, which may run out of the memory of a GPU that other jobs use, too.

    The cells that are left are then computed in smaller blocks, and at last on the CPU.
    """
    if job.spec.device == "cpu":
        return work_of(job)
    for then in ("in smaller blocks", "in smaller blocks", "on the CPU"):
        try:
            return work_of(job)
        except RuntimeError as error:
            if not any(words in str(error) for words in OUT_OF_MEMORY):
                raise
            print(f"{job.spec.experiment} {job.spec.dataset}, from here {then}: {error}", file=sys.stderr)
        torch.cuda.empty_cache()  # not above, where the error holds the tensors of the cell
        use_smaller_blocks()
    return work_of(replace(job, spec=job.spec | {"device": "cpu"}, on_gpu=job))


class KindModule(Protocol):
    """The functions of the module of a kind (``study/kinds``). ``registry.KINDS`` has the facts that planning needs.

    A kind with a stage has ``measure``, and a kind whose times are measured has ``timed``. The others are optional.
    """

    def cells(self, job: Job) -> list[Cell]:
        """Return the cells of a part, if the entry of the kind has no ``axes``. ``job.data`` is None in a check, and
        for a kind without data.
        """

    def measure(self, job: Job, entry: dict, **at) -> Measured:
        """Return the rows and the arrays of one cell, by its coordinates and conditions."""

    def timed(self, job: Job, chosen: dict) -> list[Timed]:
        """Return the units that the stage ``time`` measures, with the choices of ``tune`` for the data set."""

    def kernels(self, spec: Part) -> list[tuple[dict, list[dict]]]:
        """Return every kernel with its entries, where the grid completes or names kernels."""

    def check(self, spec: Part) -> None:
        """Raise ``ValueError`` for what the types of the grid cannot say."""


def kind_module(kind: str) -> KindModule:
    """Import a kind by its name, so that a change of one kind does not affect another, and return its module."""
    return import_module(f"rfstudy.study.kinds.{kind}")


def kind_cells(job: Job) -> list[Cell]:
    """Return the cells of a job's kind: one for each combination of its axes, or those that its module lists."""
    axes = KINDS[job.spec.kind].axes
    return kind_module(job.spec.kind).cells(job) if axes is None else job.cells(**axes)


def name_of(entry: dict) -> str:
    """Return the name of a method's entry: its id with its variant and its own kernel, if it has them."""
    return "-".join(filter(None, (entry.get("method"), entry.get("variant"), own_kernel(entry))))


def run_parts(
    stage: str, parts: list[Part], prepared_dirs, journal, threads: int, work_of, out, out_arrays=None
) -> None:
    """Write the results of a stage's parts: rows, the records of their runs and, if there is a file for them, arrays.

    ``work_of`` is a function of a job that does its work (``Job.work_through``).
    """
    set_threads(threads)
    done = Work()
    for job in jobs(stage, parts, prepared_dirs, journal, threads):
        done.add(in_memory(work_of, job), job.spec.dataset)
    write_results(done.rows, done.records, out, done.arrays, out_arrays)


def labelled(row: dict) -> dict:
    """Return a row with a label for its number of features. The label is the number itself unless the row has
    another.
    """
    return {"n_features_label": str(row["n_features"])} | row if "n_features" in row else row


def entry_key(entry: dict) -> dict:
    """Return what decides the numbers of an entry: the map, and all its options with the defaults written out."""
    if not entry:
        return {}
    options = resolved_options(entry["method"], entry["options"])
    own = {"method": entry["method"], "class": REGISTRY[entry["method"]].class_name, "options": options}
    return own | ({"draw": entry["draw"]} if "draw" in entry else {})


def drawn_and_learned(entry: dict, phi, X, y) -> dict:
    """Return the phases that complete a map on X (n, d) and y: draw and, if the map depends on data, learn."""
    if not REGISTRY[entry["method"]].data_dependent:
        return {"draw": lambda: phi.draw(X.shape[1], dtype=X.dtype).learn(X)}
    return {"draw": lambda: phi.draw(X.shape[1], dtype=X.dtype), "learn": lambda: phi.learn(X, y)}


# --- the columns of the tidy table that an entry and its values decide ------------------------------------------------


def entry_columns(entry: dict) -> dict:
    """Return the columns that name an entry; the kernel is included only if the entry has its own."""
    of_kernel = {"kernel": own_kernel(entry)} if "kernel" in entry else {}
    return {"method": entry.get("method", ""), "variant": entry.get("variant", "")} | of_kernel


def without_value(error: Exception, settings: dict) -> dict:
    """Return the status of a row without a value, and its settings with the reason. The status is "skipped" if a map, a
    learner or a metric is not defined, and "failed" if a system of equations has no solution.
    """
    status = "skipped" if isinstance(error, NotDefinedError) else "failed"
    return {"status": status, "settings": settings | {"reason": str(error)}}


def row_of(shared: dict, target, metric: str, *of_test) -> dict:
    """Return a row, with these columns, of a metric's value on test rows (``Target.evaluate``), or the row without it
    and the reason.
    """
    shared = shared | {"metric": metric}
    try:
        return shared | {"value": target.evaluate(metric, *of_test)}
    except NotDefinedError as error:
        return shared | without_value(error, shared["settings"])


def solver_of(model) -> dict:
    """Return the settings that name the solver of a model, and say so if it did not converge."""
    return {"solver": model.solver} | ({} if model.converged else {"converged": False})


def rows_of(shared: dict, values: dict[str, float]) -> list[dict]:
    """Return a row for each value, by its metric, with these columns."""
    return [shared | {"metric": metric, "value": float(value)} for metric, value in values.items()]
