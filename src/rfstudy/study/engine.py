"""The one loop over cells: it resumes, records where numbers come from, and reports progress.

A *cell* is an entry (a map with its options, or none) with its coordinates (size, repeat, round, position on an axis)
and its conditions (preprocessing, bandwidth, penalty). It yields rows of the tidy table and named arrays. The journal
keeps a finished cell under the hash of all that decides it: the entry with all its options, coordinates and conditions,
the description of the job without its names, the facts about the data, the code, and the versions of the libraries that
do the arithmetic. A long cell may write checkpoints; after a kill it continues from them.
"""

import itertools
import sys
from dataclasses import dataclass, field
from typing import Self

from tqdm import tqdm

from random_features.arrays import resolve_device, seed_of, set_threads
from random_features.errors import UserError
from random_features.kernels import make_kernel
from random_features.kernels.base import Kernel
from random_features.maps.registry import REGISTRY, make_map, resolved_options
from rfstudy import tidy
from rfstudy.data import prepared
from rfstudy.study.code import code_hash
from rfstudy.study.job import NAMES, Part, code_roots, own_kernel, without
from rfstudy.study.journal import Checkpoints, Journal, key_of
from rfstudy.study.provenance import Run, versions, write_results
from rfstudy.study.rows import entry_columns
from rfstudy.study.sample import Prepared, Sample, Samples, loaded

#: What does not decide a cell: a specification's names, its lists of cells, and what its choices, errors and scores
#: come from, of which a cell has its own share in ``conditions``. Two experiments that share a cell compute it once.
IRRELEVANT = (*NAMES, "methods", "repeats", "sizes", "draws", "grid", "time")
IRRELEVANT += ("learners", "search", "shared_methods", "approximation", "scores")

#: The facts about a data set that decide no cell: its names, what describes its rows, and where they come from. All
#: other facts are part of every key, those that are added later as well.
IRRELEVANT_FACTS = ("task", "label", "stand_in", "reason", "facts", "provenance", prepared.CHECKSUM)


@dataclass(frozen=True)
class Cell:
    """One unit of work that is journalled."""

    entry: dict  # of an experiment's methods; empty where no map is concerned
    coordinates: dict  # JSON-like: size, repeat, position on an axis; what tells the cells of an entry apart
    conditions: dict = field(default_factory=dict)  # JSON-like: preprocessing, bandwidth, penalty, ...
    columns: dict = field(default_factory=dict)  # further columns of the tidy table that its rows share

    @property
    def name(self) -> str:
        """A short id, of one computation within an experiment and data set: what its arrays are filed under."""
        words = [
            "+".join(map(str, value)) if isinstance(value, list) else str(value) for value in self.coordinates.values()
        ]
        return "/".join(filter(None, [name_of(self.entry), *words]))

    @property
    def shared_columns(self) -> dict:
        """The columns of the tidy table that its rows share: those of its entry, of its coordinates and conditions that
        are columns, and ``columns``.
        """
        stated = self.coordinates | self.conditions
        own = {name: stated[name] for name in tidy.COLUMNS if isinstance(stated.get(name), str | int | float)}
        return entry_columns(self.entry) | own | self.columns


@dataclass(frozen=True)
class Timed:
    """What the stage ``time`` takes the times of: an entry, the columns and settings of its rows, and its phases.

    Phases are functions by name, in the order in which they are run; each may be called again and again. Those of a
    learner (``fit``, ``predict``) are rows of that learner. What takes too long for that takes part in the first
    ``rounds`` rounds only.
    """

    entry: dict
    columns: dict
    phases: dict
    learner: str = ""
    settings: dict = field(default_factory=dict)
    rounds: int | None = None


@dataclass
class Work:
    """What cells yielded: rows, arrays by ``<cell>/<name>``, and the provenance records of their runs."""

    rows: list[dict] = field(default_factory=list)
    arrays: dict = field(default_factory=dict)
    records: dict = field(default_factory=dict)

    def add(self, other: Self, dataset: str = "") -> None:
        """Take over what other cells yielded; the data set tells their arrays apart."""
        self.rows += other.rows
        self.arrays |= {"/".join(filter(None, (dataset, name))): value for name, value in other.arrays.items()}
        self.records |= other.records


@dataclass(frozen=True)
class Job:
    """What all cells of one part of a stage's work share."""

    stage: str
    spec: Part
    journal: Journal
    run: Run
    data: Prepared | None = None
    samples: Samples | None = None
    checkpoints: Checkpoints | None = None  # of the cell that is computed

    @property
    def columns(self) -> dict:
        """The columns of the tidy table that all of its rows share."""
        return self.spec.columns | {"stand_in": self.data.facts["stand_in"] if self.data else ""}

    def skipped_row(self, entry: dict, columns: dict) -> dict:
        """A row of an entry, with these columns, that says why there is no number: there are no data."""
        why = {"status": "skipped", "settings": {"reason": self.data.skipped}}
        return self.columns | entry_columns(entry) | why | columns

    def cells(self, **axes: str) -> list[Cell]:
        """Return a cell for every repeat, entry and combination of values of axes.

        ``axes`` name the key of the grid that lists the values of a coordinate. All other keys of the grid are
        conditions.
        """
        conditions = without(self.spec.grid, *axes.values())
        values = list(itertools.product(*(self.spec.grid[key] for key in axes.values())))
        return [
            Cell(entry, dict(zip(axes, each, strict=True)) | {"repeat": repeat}, conditions)
            for repeat in self.spec.repeats
            for entry in self.spec.methods
            for each in values
        ]

    def work_through(self, cells: list[Cell], compute) -> Work:
        """Rows and arrays of all cells: from the journal where a cell is finished, from ``compute`` otherwise.

        Parameters
        ----------
        cells : in the order of their rows
        compute : callable (cell, checkpoints) -> (rows, arrays); rows hold what is particular to the cell, arrays are
            by name; ``checkpoints`` keeps what a long cell would not like to lose

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
        """The content (rows, provenance record) and arrays of a cell: as journalled, or computed and journalled now."""
        key = self.key(cell)
        stored = self.journal.get(key)
        if stored is None:
            checkpoints = Checkpoints(self.journal, key)
            rows, arrays = compute(cell, checkpoints)
            stored = {"rows": rows, "record": self.run.finished()}, arrays
            self.journal.put(key, *stored)
            checkpoints.clear()
        return stored

    def key(self, cell: Cell) -> str:
        """The hash of everything that decides a cell."""
        # the conditions of a cell count in place of what the specification says about all cells
        common = without(self.spec.stated(), *IRRELEVANT, *cell.conditions)
        decided = {"methods": [cell.entry] if cell.entry else []} | common | cell.conditions
        return key_of(
            self.stage,
            common,
            entry_key(cell.entry),
            cell.coordinates,
            cell.conditions,
            without(self.data.facts, *IRRELEVANT_FACTS) if self.data else {},
            code_hash(*code_roots(self.stage, decided)),
            versions(),
        )

    def sample_and_kernel(self, repeat: int) -> tuple[Sample, Kernel, float | None]:
        """The rows of a repeat as the experiment prepares them, its kernel with the length scale that its bandwidth
        rule finds on the training rows, and this length scale; None where the experiment has no rule.
        """
        preprocess, bandwidth = self.spec.preprocess, self.spec.bandwidth
        length_scale = self.samples.length_scale(repeat, preprocess, bandwidth) if bandwidth else None
        own = {"length_scale": length_scale} if bandwidth else {}
        return self.samples.of(repeat, preprocess), make_kernel(self.spec.kernel | own), length_scale

    def feature_map(self, entry: dict, kernel, n_features: int, repeat: int, *draw: int):
        """The unfitted map of an entry in a repeat: data set, method, size, repeat and, where there are several in a
        repeat, the number of the draw alone decide its frequencies, so that experiments of any kind have the same
        features where they have the same map.
        """
        axes = ("features", self.spec.dataset, entry["method"], n_features, repeat, *draw)
        return self.entry_map(entry, kernel, n_features, *axes)

    def entry_map(self, entry: dict, kernel, n_features: int, *axes):
        """The unfitted map of an entry, with ``n_features`` frequencies; the seed of the study and ``axes`` decide its
        draws.
        """
        return make_map(
            entry["method"],
            kernel=kernel,
            n_components=n_features,
            device=self.spec.device,
            random_state=seed_of(self.spec.seed, *axes),
            **entry["options"],
        )


def jobs(stage: str, parts: list[Part], prepared_dirs, journal, threads: int):
    """Yield the jobs of a stage's parts; each part with data has its folder in ``prepared_dirs``.

    The device "auto" is resolved here, so that no cell of a GPU is taken for one of a processor.
    """
    try:
        device = resolve_device(parts[0].device).type
    except RuntimeError as error:  # the machine that made the plan could not know what this one has
        raise UserError(str(error)) from error
    run, cells = Run(stage, parts, threads, device), Journal(journal)
    parts = [spec | {"device": device} for spec in parts]
    without_data = not prepared_dirs and not any(spec.dataset for spec in parts)
    for spec, data in ((spec, None) for spec in parts) if without_data else loaded(parts, prepared_dirs):
        samples = Samples(data, spec) if data else None
        yield Job(stage, spec, cells, run, data, samples)


def name_of(entry: dict) -> str:
    """The name of a method's entry: its id and, if it has them, its variant and its own kernel."""
    return "-".join(filter(None, (entry.get("method"), entry.get("variant"), own_kernel(entry))))


def run_parts(
    stage: str, parts: list[Part], prepared_dirs, journal, threads: int, work_of, out, out_arrays=None
) -> None:
    """Write what the parts of a stage yield: rows, the records of their runs and, where they have a file, arrays.

    ``work_of`` is a function of a job that does its work (``Job.work_through``).
    """
    set_threads(threads)
    done = Work()
    for job in jobs(stage, parts, prepared_dirs, journal, threads):
        done.add(work_of(job), job.spec.dataset)
    write_results(done.rows, done.records, out, done.arrays, out_arrays)


def labelled(row: dict) -> dict:
    """Return a row with the label of its number of features: the number itself, unless the row has another."""
    return {"n_features_label": str(row["n_features"])} | row if "n_features" in row else row


def entry_key(entry: dict) -> dict:
    """What of an entry decides its numbers: the map, and all its options with their defaults written out."""
    if not entry:
        return {}
    return {
        "method": entry["method"],
        "class": REGISTRY[entry["method"]].class_name,
        "options": resolved_options(entry["method"], entry["options"]),
    }


def drawn_and_learned(entry: dict, phi, X, y) -> dict:
    """The phases that complete a map on X (n, d) and y: drawing it and, where it takes anything from data, learning."""
    if not REGISTRY[entry["method"]].data_dependent:
        return {"draw": lambda: phi.draw(X.shape[1], dtype=X.dtype).learn(X)}
    return {"draw": lambda: phi.draw(X.shape[1], dtype=X.dtype), "learn": lambda: phi.learn(X, y)}
