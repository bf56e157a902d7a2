"""Share among the tests of the study: a small experiment as configuration, synthetic data, and the stages as the rules
call them.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

from rfstudy import tidy
from rfstudy.data import prepared
from rfstudy.files import read_choices
from rfstudy.planning import config, plan
from rfstudy.planning.models import with_steps
from rfstudy.study import train, tune
from rfstudy.study.engine import IRRELEVANT, Job
from rfstudy.study.job import NAMES, Part, merge, read_parts, searched
from rfstudy.study.journal import Journal
from rfstudy.study.provenance import Run
from rfstudy.study.sample import Samples, load_prepared

SETTINGS = {
    "preset": "toy", "seed": 3, "device": "cpu", "mirror": "", "allow_missing": False, "only_experiments": [],
    "only_datasets": [], "only_methods": [], "only_sizes": [], "data": "embedded", "repeats": 4,
    "largest_multiple_of_d": None, "most_values": None, "max_rows": None,
    "search": {"penalty": {"tune_per": "cell"}, "max_rows": 1000},
    "learners": {}, "time": {"rounds": 3, "again": 0, "shortest": 1e-6, "datasets": "all", "sizes": None, "threads": 1},
    "shard_by": ["experiment"], "threads": 1,
}  # fmt: skip

RIDGE = {"scaling": "mean", "center": "targets", "penalties": [1e-6, 1e-3, 0.1, 10.0], "n_folds": 4}
SVM = {"C": [0.1, 1, 10], "n_folds": 3}

EXPERIMENT = {
    "name": "toy", "title": "A toy", "paper": "survey", "kind": "grid", "protocol": "text",
    "kernel": {"name": "gaussian"}, "datasets": {"made": {}}, "preprocess": ["none"], "methods": [{"method": "rff"}],
    "sizes": {"multiples_of_d": [2]}, "bandwidth": {"rule": "fixed", "length_scale": 2.0},
    "approximation": {"norm": "frobenius", "rows": 20}, "learners": {"ridge": RIDGE},
}  # fmt: skip

#: An accuracy grid as a file of the configuration has it.
GRID = """
base:
  title: A grid
  paper: survey
  kind: grid
  protocol: text
  kernel: {name: gaussian}
  datasets: {eeg: {preprocess: [minmax]}, skin: {preprocess: [standard]}}
  methods: [{method: rff}, {method: orf}]
  sizes: {multiples_of_d: [2]}
  approximation: {norm: frobenius, rows: 10}
  learners:
    ridge: {scaling: mean, center: none, penalties: [1], n_folds: 5}
    svm: {C: [1], n_folds: 5}
"""

#: An experiment without data.
THEORY = """
theory:
  title: Errors
  paper: survey
  kind: decay
  protocol: text
  kernel: {name: gaussian, length_scale: 1}
  methods: [{method: rff}, {method: orf}]
  grid: {dimensions: [4, 8], rows: 10, n_features: [8], norms: [sup], ridge: 0.1}
"""


def theory(settings=None, **changes) -> dict:
    """The experiment without data with other keys, as a run has it."""
    experiment = yaml.safe_load(THEORY)["theory"] | {"name": "theory"} | changes
    return config.select({"theory": experiment}, SETTINGS | (settings or {}), {"eeg"}).get("theory", {})


def selected(settings=None, **changes) -> dict:
    """The toy with changes laid over it, as a run has it; null removes a key."""
    toy = with_steps(merge(EXPERIMENT, changes))
    toy = {key: value for key, value in toy.items() if value is not None}
    return config.select({"toy": toy}, SETTINGS | (settings or {}), set(toy["datasets"])).get("toy", {})


def parts(stage: str, toy: dict, settings=None) -> list[Part]:
    """Return the arguments of a stage for all shards, as JSON has them."""
    settings = SETTINGS | (settings or {})
    (shard,) = plan.shards_of(stage, toy, settings)
    return as_read(shard.parts)


def part(**fields) -> Part:
    """A part with the names of the toy, and these fields."""
    names = {"preset": "toy", "paper": "survey", "experiment": "toy", "protocol": "text", "kind": "grid"}
    return Part(**names | {"kernel": {"name": "gaussian"}, "seed": 3, "device": "cpu"} | fields)


def as_read(parts: list[Part]) -> list[Part]:
    """Parts of a plan as a job reads them from its work file."""
    return read_parts(json.loads(json.dumps([part.stated() for part in parts])))


def write_data(folder: Path, X, y, **facts) -> Path:
    """A data set as ``preprocess`` leaves it; halves, unless ``n_train_published`` says otherwise."""
    X, y, n_train = np.asarray(X, dtype=np.float32), np.asarray(y), facts.get("n_train_published")
    known = {
        "status": "ok", "stand_in": "made", "split": "published" if n_train else "half", "n": len(y), "d": X.shape[1],
        "n_train": n_train or (len(y) + 1) // 2, "n_test": len(y) - (n_train or (len(y) + 1) // 2),
        "n_train_published": n_train, "target": "regression" if y.dtype == np.float64 else "binary",
        "sha256": prepared.digest(X, y, n_train), "facts": {},
    }  # fmt: skip
    prepared.write(folder, known | facts, X, y)
    return folder


def lose(folder: Path) -> None:
    """Let the source of a data set be missing."""
    facts = json.loads((folder / "facts.json").read_text()) | {"status": "skipped", "reason": "not to be had"}
    prepared.write_facts(facts, folder)


def labelled(n: int = 80, d: int = 5, seed: int = 0):
    """Points (n, d) and labels -1 and +1: the side of a plane, with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return X, np.where(X[:, 0] + 0.1 * rng.normal(size=n) > 0, 1, -1)


def job(stage: str, spec: Part, folder: Path, journal: Path) -> Job:
    """One job of a stage, as ``engine.jobs`` makes it."""
    data = load_prepared(folder)
    return Job(stage, spec, Journal(journal), Run(stage, spec, 1), data, Samples(data, spec))


def run_grid(toy: dict, prepared: dict[str, Path], folder: Path):
    """Rows of maps and of learners, and what ``tune`` chose where there is something to choose."""
    journal, chosen = folder / "journal", {}

    def folders(stage_parts):
        return [prepared[part.dataset] for part in stage_parts]

    if searched(toy.get("search", {})):
        shards = parts("tune", toy)
        tune.run(shards, folders(shards), journal / "tune", folder / "tune.json", 1)
        chosen = read_choices(folder / "tune.json")
    shards = parts("train", toy)
    train.run(shards, folders(shards), chosen, journal / "train", folder / "train.csv", 1)
    rows = tidy.read(folder / "train.csv")
    of_maps = rows["learner"].eq("")
    return rows[of_maps].reset_index(drop=True), rows[~of_maps].reset_index(drop=True), chosen


def settings_of(rows) -> list[dict]:
    """The settings of rows, in their order."""
    return [json.loads(text) for text in rows["settings"]]


def measured(kind, job, cell) -> tuple[list[dict], dict]:
    """The rows of a cell with the columns that they share, and its arrays, from what its key has."""
    job = replace(job, spec=job.spec | dict.fromkeys(set(IRRELEVANT) - set(NAMES)))
    rows, arrays = kind.measure(job, cell.entry, **cell.coordinates, **cell.conditions)
    return [cell.shared_columns | row for row in rows], arrays
