"""Fit the model of ``planning/cost.py`` to the records of finished jobs.

A block is an experiment x data set x method of the preset that made the records. Its seconds are those of its runs. The
seconds per amount of each unit are non-negative, and fit the logarithms of the seconds of all blocks together. Single
cells of learners (``config/slices.csv``) are blocks as well: they have sizes that no shipped row has. With the factor
of the model, 90 % of the jobs would have finished within their request; a job has all methods of a data set.
"""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from rfstudy.data.tasks import without
from rfstudy.files import write_text
from rfstudy.planning import cost, plan
from rfstudy.study.job import sizes
from rfstudy.study.provenance import read_records

#: The share of recorded jobs that would have finished within the time that they request. The others start again with
#: twice the time and keep their cells. For 95 % all jobs would request a fifth more.
ENOUGH_TIME = 0.9

#: Seconds of the jobs whose factor counts: a job requests as much more than a multiple of what is expected.
LONG = 60.0 * cost.START_MINUTES

#: How much the seconds of an experiment, or of a data set, are drawn to those of all: this many jobs.
DRAWN = 0.5

#: Shortest time that counts, in seconds: below it, imports and the load of the machine decide.
SHORTEST = 5.0


def fit(study, measured, slices, out) -> dict:
    """Write the model that fits the records in a folder and the ``slices`` best, and return it.

    ``study`` is the configuration under which the records were made.
    """
    every, of_job = [*blocks_of(study, Path(measured)), *slices_of(slices)], ["stage", "experiment", "dataset"]
    blocks = pd.DataFrame(every, columns=[*of_job, "seconds", "work"])
    keys = sorted({key for work in blocks.work for key in work})
    matrix = np.array([[work.get(key, 0.0) for key in keys] for work in blocks.work])
    seconds = np.maximum(blocks.seconds.to_numpy(), SHORTEST)
    scale = matrix.max(axis=0)
    per_amount = dict(zip(keys, fitted(matrix / scale, seconds) / scale, strict=True))
    model = {
        "source": "python -m rfstudy plan --fit: data/measured and config/slices.csv, one thread of busy machines",
        "seconds": {key: float(f"{value:.3g}") for key, value in (per_amount | typical(per_amount)).items()},
        "times": {},
    }
    expected = np.array([cost.seconds_of(work, model) for work in blocks.work])
    jobs = blocks.assign(expected=expected, seconds=seconds).groupby(of_job)[["seconds", "expected"]].sum()
    jobs = jobs[(jobs.seconds > LONG) & (jobs.expected > 0)].reset_index()
    jobs["ratio"] = jobs.seconds / jobs.expected
    for stage, alike in jobs.groupby("stage"):
        model["times"][stage], jobs.loc[alike.index, "ratio"] = times_of(alike)
    ratios = jobs.ratio * (1 - LONG / jobs.seconds)
    model["factor"] = round(ratios.quantile(ENOUGH_TIME), 2)
    model["jobs"] = {stage: int(number) for stage, number in jobs.stage.value_counts().items()}
    write_text(json.dumps(model, indent=1) + "\n", out)
    return model


def times_of(jobs: pd.DataFrame) -> tuple[dict, np.ndarray]:
    """Return how many times the seconds of their work the jobs of an experiment and of a data set took, and the rest of
    each job without its own record: what a new job may take.

    >>> slow, rows = {"one": 1.0, "two": 8.0}, {"eeg": 1.0, "skin": 3.0, "a8a": 1.0}
    >>> jobs = [(e, d, slow[e] * rows[d]) for e in slow for d in rows for _ in range(4)]
    >>> times, rest = times_of(pd.DataFrame(jobs, columns=["experiment", "dataset", "ratio"]))
    >>> for name, value in times.items():  # drawn to the others: 7.3 and 2.8 times as long, not 8 and 3
    ...     print(name, value)
    experiment one 0.369
    experiment two 2.71
    dataset a8a 0.708
    dataset eeg 0.708
    dataset skin 1.99
    all 4.08
    >>> print(rest.min().round(2), rest.max().round(2))
    0.93 1.11
    """
    columns = pd.get_dummies(jobs[["experiment", "dataset"]], prefix_sep=" ", dtype=float).assign(all=1.0)
    drawn = np.diag(np.where(columns.columns == "all", 1e-6, DRAWN))
    logs = np.log(jobs.ratio.to_numpy())
    solve = np.linalg.solve(columns.T.to_numpy() @ columns.to_numpy() + drawn, columns.T.to_numpy())
    hat, effects = columns.to_numpy() @ solve, np.exp(solve @ logs)
    rest = np.exp((logs - hat @ logs) / (1 - np.diag(hat)))
    return {name: float(f"{value:.3g}") for name, value in zip(columns.columns, effects, strict=True)}, rest


def fitted(amounts, seconds):
    """Return the non-negative seconds per amount (k,) of ``amounts`` (blocks, k) that fit the logarithms of ``seconds``
    (blocks,) best. An amount that no block needs is 0.
    """

    def residuals(logs):
        return np.log(amounts @ np.exp(logs) + 1e-3) - np.log(seconds)

    def jacobian(logs):
        parts = amounts * np.exp(logs)
        return parts / (parts.sum(axis=1, keepdims=True) + 1e-3)

    # at its largest amount no unit alone takes much longer than the longest of its blocks
    most = np.log(2 * np.where(amounts > 0, seconds[:, None], 0).max(axis=0))
    solution = least_squares(residuals, np.minimum(most - 1, 2), jacobian, bounds=(-20, most), loss="soft_l1").x
    return np.where(solution > -12, np.exp(solution), 0.0)


def blocks_of(study, measured: Path):
    """Yield stage, experiment, data set, seconds and work of every block of rows that has records and all of its sizes.
    The data set is empty if the experiment has none.
    """
    for name, experiment in study.chosen.items():
        rows = measured / f"{name}.csv.xz"
        if not rows.exists():
            continue
        columns = ["run", "dataset", "method", "n_features_label"]
        table = pd.read_csv(rows, usecols=columns, dtype=str, keep_default_na=False)
        times = seconds_by_block(table, read_records(rows), bool(experiment["datasets"]))
        # the labels of the sizes that the rows have, by data set and method
        shipped = defaultdict(set, table.groupby(["dataset", "method"]).n_features_label.agg(set).to_dict())
        settings = study.settings | {"shard_by": ["experiment", "dataset", "method"]}
        whole = without(experiment, "shard_by")
        for stage in ("train", "measure", "time"):
            for shard in plan.shards_of(stage, whole, settings):
                (part,) = shard.parts
                blocks = {(stage, part.dataset, entry["method"]) for entry in part.methods}
                seconds = sum(times.get(block, np.inf) for block in blocks)
                lacking = [
                    each
                    for entry in (part.methods if stage == "train" else [])
                    for each in named_sizes(part, entry, study) - shipped[part.dataset, entry["method"]]
                ]
                if blocks and seconds < np.inf and not lacking:
                    work = cost.work_of_shard(stage, whole, shard, study.registry.tasks, settings)
                    yield stage, name, part.dataset, seconds, work


def named_sizes(part, entry: dict, study) -> set[str]:
    """Return the labels of the sizes at which a part has an entry."""
    _, d = cost.sides_of(part, study.registry.tasks, study.settings)
    return {label for _, label in sizes(part.sizes or {}, d) if label in (entry.get("only_sizes") or [label])}


def slices_of(slices):
    """Yield the same of every cell in a file of slices: a learner that chose its penalty there, or was given one.

    A tolerance of 0 is the learner's own.
    """
    for cell in pd.read_csv(slices, comment="#").itertuples():
        stops, chooses = {"tolerance": cell.tolerance}, cell.penalty == "chosen"
        work = cost.work_of_fits(cell.learner, stops, 1, cell.n_train, cell.n_columns, chooses)
        yield "train", cell.experiment, cell.dataset, cell.seconds, work


def seconds_by_block(table: pd.DataFrame, runs: dict[str, dict], has_data: bool) -> dict[tuple, float]:
    """Return the seconds of jobs by stage, data set (empty for an experiment without data) and method.

    The seconds of a run of several blocks are divided by their rows. A run on a machine with a GPU takes infinite
    seconds here, as its processor does not have all of the work.

    >>> run = {"stage": "generate", "gpu": "", "threads": 1, "processor_time_s": 90.0}
    >>> runs = {"a": run, "b": run | {"processor_time_s": 30.0}, "g": run | {"gpu": "H200", "stage": "time"}}
    >>> methods = ["rff", "rff", "orf", "", "", "rff", "rff"]
    >>> table = pd.DataFrame({"run": list("aaaaabg"), "dataset": "eeg", "method": methods})
    >>> for block, seconds in seconds_by_block(table, runs, has_data=True).items():
    ...     print(*block, seconds)
    train eeg orf 30.0
    train eeg rff 90.0
    time eeg rff inf
    >>> seconds_by_block(table, runs, has_data=False)["train", "", "rff"]
    90.0
    """
    found = defaultdict(float)
    for run, of_run in table[table.method != ""].groupby("run"):
        stage = {"generate": "train"}.get(runs[run]["stage"], runs[run]["stage"])
        for (dataset, method), number in of_run.groupby(["dataset", "method"]).size().items():
            seconds = np.inf if runs[run]["gpu"] else unloaded(runs[run]) * number / len(of_run)
            found[stage, dataset if has_data else "", method] += seconds
    return found


def unloaded(run: dict) -> float:
    """Return the seconds that a run would have taken had its machine done nothing else.

    This is its processor time on one thread. Older records lack it; the load of the machine is used instead.

    >>> run = {"threads": 1, "wall_time_s": 60.0, "load_average": 4.0, "cores": 2}
    >>> unloaded(run), unloaded(run | {"load_average": 1.0}), unloaded(run | {"processor_time_s": 50.0})
    (30.0, 60.0, 50.0)
    >>> unloaded(run | {"processor_time_s": 50.0, "threads": 2})
    30.0
    """
    if run["threads"] == 1 and "processor_time_s" in run:
        return run["processor_time_s"]
    return run["wall_time_s"] / max(1.0, run["load_average"] / run["cores"])


def typical(per_amount: dict) -> dict:
    """Return the largest seconds per amount of maps and of learners: for those without records.

    >>> typical({"map rff/nD": 1.0, "map orf/nD": 2.0, "learner svm to 0.01/nD": 3.0, "time grid/nD": 9.0})
    {'map any/nD': 2.0, 'learner any/nD': 3.0}
    """
    found = pd.Series(per_amount).filter(regex="^(map|learner) ")
    return found.groupby(found.index.str.replace(" .*/", " any/", regex=True), sort=False).max().to_dict()
