"""What the stages share in working through the cells of a shard: the map of a cell, its key, and the loop.

A cell is one method at one size and repeat. ``work_through`` is the one place that resumes, records and reports
progress; a stage supplies the computation.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field

import numpy as np
from tqdm import tqdm

from rfstudy import kernels
from rfstudy.arrays import seed_of
from rfstudy.data.modules import code_of_steps
from rfstudy.maps.registry import make_map
from rfstudy.study import code
from rfstudy.study.journal import Journal, key_of
from rfstudy.study.provenance import Run
from rfstudy.study.sample import Prepared, Sample, base_row, draw_sample
from rfstudy.study.spec import merge, sizes

KERNELS = {"gaussian": kernels.Gaussian}


#: What does not decide a cell: a specification's names and its lists of cells. Two experiments that contain the same
#: cell compute it once.
IRRELEVANT = ("preset", "paper", "experiment", "protocol", "methods", "repeats", "sizes")

#: What a specification says about all cells, and ``Conditions`` about one.
IN_CONDITIONS = ("length_scale", "preprocess", "learners")


@dataclass(frozen=True)
class Cell:
    """One method (an entry of the experiment) at one size and repeat."""

    entry: dict
    n_features: int
    label: str
    repeat: int

    @property
    def name(self) -> str:
        """A short id, unique within an experiment and data set."""
        return f"{name_of(self.entry)}/{self.label}/{self.repeat}"


def name_of(entry: dict) -> str:
    """The name of a method's entry: its id and, if it has one, its variant."""
    return "-".join(filter(None, (entry["method"], entry["variant"])))


@dataclass(frozen=True)
class Conditions:
    """What a cell is computed under, beside its map."""

    preprocess: list[str]
    length_scale: float
    learner: dict = field(default_factory=dict)  # the learner's options; empty where nothing is trained
    penalty: float | None = None  # the penalty, or C, that ``tune`` chose; None where the cell chooses


def conditions_of(spec: dict, tuned: dict, cell: Cell, learner: str = "") -> Conditions:
    """The conditions of a cell: what its entry has of its own, else what ``tune`` chose, else the experiment's.

    ``tuned`` holds the choices for all methods, or under "methods" those for every method and size; it is empty where
    nothing was chosen.
    """
    entry = cell.entry
    chosen = tuned.get("methods", {}).get(name_of(entry), {}).get(cell.label, {})
    shared = {kind: of.get(cell.label) for kind, of in tuned.get("penalties", {}).items()}
    options = merge(spec["learners"][learner], entry.get("learners", {}).get(learner, {})) if learner else {}
    penalty = None if learner and spec["tuning"] == "per_cell" else chosen.get("penalties", shared).get(learner)
    if penalty is not None:
        options.pop("n_folds", None)  # of a choice that is made
    return Conditions(
        preprocess=entry.get("preprocess") or chosen.get("preprocess") or spec["preprocess"],
        length_scale=entry.get("length_scale")
        or chosen.get("length_scale")
        or spec["length_scale"]
        or tuned["length_scale"],
        learner=options,
        penalty=penalty,
    )


def cells_of(spec: dict, d: int, repeats: list[int]) -> list[Cell]:
    """All cells of a shard, repeats outermost, so that a repeat's data are loaded once."""
    return [
        Cell(entry, n_features, label, repeat)
        for repeat in repeats
        for entry in spec["methods"]
        for n_features, label in sizes(spec["sizes"], d)
    ]


def cell_map(spec: dict, cell: Cell, length_scale: float):
    """The unfitted feature map of a cell; its seed depends on data set, method, size and repeat alone."""
    seed = seed_of(spec["seed"], "features", spec["dataset"], cell.entry["method"], cell.n_features, cell.repeat)
    return entry_map(spec, cell.entry, cell.n_features, seed, length_scale)


def entry_map(spec: dict, entry: dict, n_features: int, seed: int, length_scale: float = 1.0):
    """The unfitted feature map of an experiment's entry, with ``n_features`` frequencies."""
    return make_map(
        entry["method"],
        kernel=KERNELS[spec["kernel"]](length_scale=length_scale),
        n_components=n_features,
        device=spec["device"],
        random_state=seed,
        **entry["options"],
    )


def work_through(cells, compute, *, stage, spec, conditions, prepared: Prepared, journal: Journal, run: Run):
    """Rows and arrays of all cells: from the journal where a cell is finished, from ``compute`` otherwise.

    Parameters
    ----------
    cells : list of Cell
    compute : callable (cell, conditions, sample) -> (rows, arrays); rows hold what is particular to the cell
    stage : name of the stage's module, part of the key of a cell
    conditions : callable cell -> Conditions, part of the key
    run : rows carry its id; records of earlier runs come back with the rows that they computed

    Returns
    -------
    rows : list of dict; arrays : dict by ``cell/name``; records : provenance records by run
    """
    common = {key: value for key, value in spec.items() if key not in IRRELEVANT + IN_CONDITIONS}
    samples = LatestSample(prepared, spec)
    rows, arrays, records = [], {}, {}
    for cell in tqdm(cells, desc=f"{spec['dataset']}: {stage}", file=sys.stderr, mininterval=5):
        given = conditions(cell)
        key = key_of(
            stage,
            common,
            {name: cell.entry[name] for name in ("method", "options", "map")},
            cell.n_features,
            cell.repeat,
            asdict(given),
            prepared.facts["sha256"],
            code_of(stage, cell, given.preprocess),
        )
        stored = journal.get(key)
        if stored is None:
            cell_rows, cell_arrays = compute(cell, given, samples.of(cell.repeat, given.preprocess))
            stored = {"rows": cell_rows, "record": run.finished()}, cell_arrays
            journal.put(key, *stored)
        content, cell_arrays = stored
        record = content["record"]
        records[record["run"]] = record
        shared = base_row(spec, prepared) | {
            "run": record["run"],
            "method": cell.entry["method"],
            "variant": cell.entry["variant"],
            "n_features": cell.n_features,
            "n_features_label": cell.label,
            "repeat": cell.repeat,
        }
        rows.extend(shared | row for row in content["rows"])
        arrays.update({f"{cell.name}/{name}": value for name, value in cell_arrays.items()})
    return rows, arrays, records


def code_of(stage: str, cell: Cell, steps: list) -> str:
    """The digest of the code that computes a cell: the stage's, the map's own and that of its preprocessing steps."""
    return code.digest(f"study.{stage}", f"maps.{cell.entry['map'].split('.')[0]}", *code_of_steps(steps))


class LatestSample:
    """The sample that is worked on; another repeat or scaling forgets the one before."""

    def __init__(self, prepared: Prepared, spec: dict):
        self.prepared, self.spec = prepared, spec
        self.drawn, self.sample = None, None

    def of(self, repeat: int, preprocess: list[str]) -> Sample:
        """The sample of a repeat under these preprocessing steps."""
        if (repeat, preprocess) != self.drawn:
            self.sample = draw_sample(self.prepared, self.spec | {"preprocess": preprocess}, repeat)
            self.drawn = repeat, preprocess
        return self.sample


def cell_arrays(arrays: dict[str, np.ndarray], cell: Cell) -> dict[str, np.ndarray]:
    """The arrays that ``work_through`` collected for one cell, by name."""
    prefix = cell.name + "/"
    return {key[len(prefix) :]: value for key, value in arrays.items() if key.startswith(prefix)}


def skipped_rows(spec: dict, prepared: Prepared, measurements: list[dict]) -> list[dict]:
    """One row a method, size and measurement that says why there is no number."""
    d = prepared.facts["d"]
    return [
        base_row(spec, prepared)
        | {
            "method": cell.entry["method"],
            "variant": cell.entry["variant"],
            "n_features": cell.n_features,
            "n_features_label": cell.label,
            "status": "skipped",
            "settings": {"reason": prepared.skipped},
            **measurement,
        }
        for cell in cells_of(spec, d, [0])
        for measurement in measurements
    ]
