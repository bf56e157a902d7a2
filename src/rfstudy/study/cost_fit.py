"""Fit the model of ``study/cost.py`` to the records of finished jobs.

A block is an experiment x data set x method of the preset that made the records. Its seconds are those of its runs. The
seconds per amount of each unit are non-negative, and fit the logarithms of the seconds of all blocks together. With the
factor of the model, 90 % of the jobs would have finished within their request; a job has all methods of a data set.

The jobs of a calibration run (``data/calibration.csv``: processor time and largest memory of each) are blocks too. The
memory of a kind in a stage is fitted to them alone.
"""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from rfstudy.data.registry import rows_of_chunk
from rfstudy.data.tasks import without
from rfstudy.files import read_json, read_record_file, write_text
from rfstudy.study import cost, plan
from rfstudy.study.provenance import read_records

#: The share of recorded jobs that would have finished within the time that they request. The others start again with
#: twice the time and keep their cells. For 95 % all jobs would request a fifth more.
ENOUGH_TIME = 0.9

#: The share of recorded jobs of a kind that would have had enough memory.
ENOUGH_MEMORY = 0.95

#: Seconds of the jobs whose factor counts: a job requests as much more than a multiple of what is expected.
LONG = 60.0 * cost.START_MINUTES

#: How much the seconds of an experiment, or of a data set, are drawn to those of all: this many jobs.
DRAWN = 0.5

#: MB between the stated data of jobs from which on their memory says how it grows.
LARGE_MB = 300

#: Columns of the file of a calibration run.
COLUMNS = ("stage", "job", "seconds", "memory_mb")

#: Shortest time that counts, in seconds: below it, imports and the load of the machine decide.
SHORTEST = 5.0


def fit(study, measured, calibration, out) -> dict:
    """Write the model that fits the records in a folder and the jobs of a calibration run best, and return it.

    ``study`` is the configuration under which they were made.
    """
    jobs_seen = list(calibrated(study, calibration))
    found = [*blocks_of(study, Path(measured)), *(each[:4] for each in jobs_seen)]
    blocks = pd.DataFrame(found, columns=["stage", "job", "seconds", "work"])
    keys = sorted({key for work in blocks.work for key in work})
    matrix = np.array([[work.get(key, 0.0) for key in keys] for work in blocks.work])
    seconds = np.maximum(blocks.seconds.to_numpy(), SHORTEST)
    scale = matrix.max(axis=0)
    found = fitted(matrix / scale, seconds)
    per_amount = dict(zip(keys, found / scale, strict=True))
    units = Counter(unit for work in blocks.work for unit in {key.partition("/")[0] for key in work})
    model = {
        "source": "python -m rfstudy plan --fit: data/measured and data/calibration.csv, one thread of busy machines",
        "units": dict(sorted(units.items())),
        "seconds": {key: float(f"{value:.3g}") for key, value in (per_amount | typical(per_amount)).items() if value},
        "largest": {key: float(f"{value:.3g}") for key, value in zip(keys, scale, strict=True)},
    }
    expected = np.array([cost.seconds_of(work, model)[0] for work in blocks.work])
    jobs = blocks.assign(expected=expected, seconds=seconds).groupby(["stage", "job"])[["seconds", "expected"]].sum()
    jobs = jobs[(jobs.seconds > LONG) & (jobs.expected > 0)].reset_index()
    jobs["ratio"] = jobs.seconds / jobs.expected
    model["times"] = {}
    for stage, alike in jobs.groupby(jobs.stage.replace(cost.LIKE)):
        model["times"][stage], jobs.loc[alike.index, "ratio"] = times_of(alike)
    ratios = jobs.ratio * (1 - LONG / jobs.seconds)
    model["factor"] = round(ratios.quantile(ENOUGH_TIME), 2)
    model["jobs"] = {stage: int(number) for stage, number in jobs.stage.value_counts().items()}
    model["memory"] = memory_of(jobs_seen)
    write_text(json.dumps(model, indent=1) + "\n", out)
    return model


def times_of(jobs: pd.DataFrame) -> tuple[dict, np.ndarray]:
    """Return how many times the seconds of their work the jobs of an experiment, of a data set and of a stage took, and
    the rest of each job without its own record: what a new job may take.
    """
    names = jobs.job.str.extract(r"(?P<experiment>\S+) \('(?P<dataset>[^']*)'").assign(stage=jobs.stage)
    columns = pd.get_dummies(names, prefix_sep=" ", dtype=float).assign(all=1.0)
    drawn = np.diag(np.where(columns.columns == "all", 1e-6, DRAWN))
    logs = np.log(jobs.ratio.to_numpy())
    solve = np.linalg.solve(columns.T.to_numpy() @ columns.to_numpy() + drawn, columns.T.to_numpy())
    hat, effects = columns.to_numpy() @ solve, np.exp(solve @ logs)
    rest = np.exp((logs - hat @ logs) / (1 - np.diag(hat)))
    return {name: float(f"{value:.3g}") for name, value in zip(columns.columns, effects, strict=True)}, rest


def memory_of(jobs: list) -> dict:
    """Return, by stage and kind, the memory (MB) of a job without data, and that for each MB of its stated data; a
    constant where the records have no large data. 95 % of the records, or their largest, are below.
    """
    found = {}
    seen = [(f"{stage} {kind}", mb, of_data) for stage, *_, kind, mb, of_data in jobs if mb]
    frame = pd.DataFrame(seen)
    for name, of_kind in frame.groupby(0):
        peak, data = of_kind[1].to_numpy(float), of_kind[2].to_numpy(float)
        slopes = [1.0, *([] if np.ptp(data) < LARGE_MB else [max(0.1, np.polyfit(data, peak, 1)[0])])]
        bases = [np.quantile(peak - slope * data, ENOUGH_MEMORY, method="higher") for slope in slopes]
        # both cover the records: the one that requests less
        base, slope = min(zip(bases, slopes, strict=True), key=lambda both: both[0] + both[1] * data.mean())
        found[name] = {"mb": max(0, round(base)), "per_mb": round(float(slope), 2), "largest": round(data.max())}
        found[name]["jobs"] = len(of_kind)
    return found


def calibrated(study, path):
    """Yield stage, name, seconds, work, kind, largest memory and stated memory of data of the jobs of a calibration."""
    tasks, settings = study.registry.tasks, study.settings
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        stage, (name, _, which) = row["stage"], row["job"].partition("/")
        seconds, mb = float(row["seconds"]), float(row["memory_mb"])
        if not which:
            n, d = rows_of_chunk(tasks, name) if stage == "stream" else cost.rows_of(tasks[name], settings)
            yield stage, f"{name} ('',)", seconds, cost.amounts(f"{stage} rows", 1, n, d), "rows", mb, 0
            continue
        experiment = study.chosen[name]
        for shard in plan.shards_of(stage, experiment, settings):
            if shard.name == which:
                work = cost.work_of_shard(stage, experiment, shard, tasks, settings)
                _, of_data = cost.stated(stage, shard, tasks, settings)
                yield stage, f"{name} {shard.datasets}", seconds, work, experiment["kind"], mb, of_data


def write_calibration(results: Path, prepared: Path, benchmarks: Path, out: Path) -> None:
    """Write the processor time and the largest memory of the finished jobs of a run; those of a chunk, which has no
    record, are from Snakemake's benchmark. Jobs of earlier calibrations that were not run again stay.
    """
    known = pd.read_csv(out, dtype=str) if out.exists() else pd.DataFrame(columns=COLUMNS)
    rows = {(stage, job): (float(seconds), mb) for stage, job, seconds, mb in known.itertuples(index=False)}
    for path in sorted(results.glob("*/*/*.provenance.json")):
        stage, job = path.parent.name, f"{path.parents[1].name}/{path.name.removesuffix('.provenance.json')}"
        runs = [run for run in read_record_file(path)["runs"] if run["stage"] == stage and "processor_time_s" in run]
        if runs:
            rows[stage, job] = sum(map(unloaded, runs)), max(run["peak_memory_mb"] for run in runs)
    for path in sorted(prepared.glob("*/facts.json")):
        run = read_json(path)["provenance"]
        rows["preprocess", path.parent.name] = unloaded(run), run["peak_memory_mb"]
    for path in sorted(benchmarks.glob("*-*.tsv")):
        chunk = pd.read_csv(path, sep="\t").iloc[-1]
        rows["stream", path.stem.rpartition("-")[0]] = chunk.cpu_time, round(chunk.max_rss)
    lines = [f"{stage},{job},{seconds:.2f},{mb}" for (stage, job), (seconds, mb) in rows.items()]
    write_text("\n".join([",".join(COLUMNS), *lines]) + "\n", out)


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
    """Yield stage, job (an experiment on a data set), seconds and work of every block of rows that has records."""
    for name, experiment in study.chosen.items():
        rows = measured / f"{name}.csv.xz"
        if not rows.exists():
            continue
        times = seconds_by_block(rows, bool(experiment["datasets"]))
        settings = study.settings | {"shard_by": ["experiment", "dataset", "method"]}
        whole = without(experiment, "shard_by")
        for stage in ("train", "measure", "time"):
            for shard in plan.shards_of(stage, whole, settings):
                named = [(part.dataset, entry["method"]) for part in shard.parts for entry in part.methods]
                blocks = {(stage, *each) for each in named}
                if blocks and blocks <= set(times):
                    work = cost.work_of_shard(stage, whole, shard, study.registry.tasks, settings)
                    yield stage, f"{name} {shard.datasets}", sum(times[block] for block in blocks), work


def seconds_by_block(rows: Path, has_data: bool) -> dict[tuple, float]:
    """Return the seconds of jobs by stage, data set (empty for an experiment without data) and method.

    The seconds of a run of several blocks are divided by their rows.
    """
    table = pd.read_csv(rows, usecols=["run", "dataset", "method"], dtype=str, keep_default_na=False)
    runs = read_records(rows)
    found = defaultdict(float)
    for run, of_run in table[table.method != ""].groupby("run"):
        stage = {"generate": "train"}.get(runs[run]["stage"], runs[run]["stage"])
        for (dataset, method), number in of_run.groupby(["dataset", "method"]).size().items():
            found[stage, dataset if has_data else "", method] += unloaded(runs[run]) * number / len(of_run)
    return found


def unloaded(run: dict) -> float:
    """Return the seconds that a run would have taken had its machine done nothing else.

    This is its processor time on one thread. Older records lack it; the load of the machine is used instead.
    """
    if run["threads"] == 1 and "processor_time_s" in run:
        return run["processor_time_s"]
    return run["wall_time_s"] / max(1.0, run["load_average"] / run["cores"])


def typical(per_amount: dict) -> dict:
    """Return the largest seconds per amount of maps and of learners: for those without records."""
    found = defaultdict(float)
    for key, value in per_amount.items():
        unit, _, measure = key.partition("/")
        if (family := unit.partition(" ")[0]) in ("map", "learner"):
            found[f"{family} any/{measure}"] = max(found[f"{family} any/{measure}"], value)
    return dict(found)
