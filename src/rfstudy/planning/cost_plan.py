"""Say what a run costs before anything is computed: what its jobs request and are expected to use, per stage."""

from pathlib import Path

import pandas as pd

from rfstudy.planning.config import stop_at
from rfstudy.planning.jobs import ENDINGS, Jobs

#: Jobs of a plan that are printed one by one.
LARGEST = 10


def jobs_of(jobs: Jobs) -> pd.DataFrame:
    """Return the jobs of a run whose files are missing, the longest first: stage, job, requests, ``expected`` seconds.

    They belong to the experiments that a run makes if no output is named. Raise ``UserError`` for jobs over the
    limits of the configuration, and if there is none.
    """
    found = [
        {"stage": stage, "job": f"{name}/{shard.name}"} | jobs.resources(stage, shard)
        for name in jobs.asked_for
        for stage in ENDINGS
        for shard in jobs.shards_of(stage, name).values()
        if not Path(jobs.root, jobs.arguments(stage, name, shard)["out"]).exists()
    ]
    stop_at(jobs.too_large() or ([] if found else ["nothing to submit: the files of all jobs are there"]))
    return pd.DataFrame(found).sort_values(["runtime", "job"], ascending=[False, True], ignore_index=True)


def totals(jobs: pd.DataFrame, threads: int) -> pd.DataFrame:
    """Return the cost of the jobs of each stage, a column each, and of all in the last column.

    >>> asked = {"stage": ["train", "train", "tune"], "mem_mb": [1024, 2048, 1024], "runtime": [60, 120, 30]}
    >>> print(totals(pd.DataFrame(asked | {"gpu": [0, 1, 0], "expected": [1800, 3600, 0]}), threads=2).to_string())
                                     train    tune     all
    jobs                               2.0     1.0     3.0
    CPU hours requested                6.0     1.0     7.0
    CPU hours expected                 3.0     0.0     3.0
    GiB hours requested                5.0     0.5     5.5
    longest request (min)            120.0    30.0   120.0
    largest memory (MB)             2048.0  1024.0  2048.0
    GPU jobs                           1.0     0.0     1.0
    CPU hours expected of GPU jobs     2.0     0.0     2.0
    without records                    0.0     1.0     1.0
    """
    stages = {**dict(list(jobs.groupby("stage"))), "all": jobs}
    return pd.DataFrame({stage: cost_of(own, threads) for stage, own in stages.items()}, dtype=object)


def cost_of(jobs: pd.DataFrame, threads: int) -> dict:
    """Return the number of jobs of so many threads, their CPU hours and GiB hours, and how many request a GPU."""
    hours, expected, on_gpu = jobs.runtime / 60, threads * jobs.expected / 3600, jobs.gpu > 0
    return {
        "jobs": len(jobs),
        "CPU hours requested": round(threads * hours.sum(), 1),
        "CPU hours expected": round(expected.sum(), 1),
        "GiB hours requested": round((hours * jobs.mem_mb / 1024).sum(), 1),
        "longest request (min)": jobs.runtime.max(),
        "largest memory (MB)": jobs.mem_mb.max(),
        "GPU jobs": on_gpu.sum(),
        "CPU hours expected of GPU jobs": round(expected[on_gpu].sum(), 1),
        "without records": (jobs.expected == 0).sum(),
    }


def write(jobs: Jobs, out: Path) -> str:
    """Write the jobs of a run as CSV, and return their costs and the largest of them as text."""
    found = jobs_of(jobs)
    out.parent.mkdir(parents=True, exist_ok=True)
    found.to_csv(out, index=False)
    largest = found.head(LARGEST)[["stage", "job", "runtime", "mem_mb", "expected"]].to_string(index=False)
    table = totals(found, jobs.settings["threads"]).to_markdown()
    return f"{table}\n\nThe largest jobs (minutes, MB, expected seconds):\n{largest}\n\nAll jobs: {out}"
