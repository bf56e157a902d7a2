"""Find the cluster jobs that a killed Snakemake left behind, so that the next one does not submit their work again.

A job is one of ours if it belongs to this user, was submitted from this folder, and has the name of a run that started
here.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

#: The file with the ids of the runs of a folder that submitted jobs.
RUNS = ".snakemake/rfstudy-runs"

#: Snakemake's logs, and the line in which the SLURM plugin says its own id.
LOGS, OF_PLUGIN = ".snakemake/log/*.log", re.compile(r"SLURM run ID: (\S+)")

#: The options with which Snakemake starts no job.
READING = (
    "dryrun", "unlock", "summary", "detailed_summary", "dag", "rulegraph", "filegraph", "d3dag", "lint", "list_rules",
    "list_target_rules", "list_changes", "list_input_changes", "list_params_changes", "list_untracked",
)  # fmt: skip

#: Seconds between two looks at the queue while waiting.
PAUSE = 10


def record_run(root: Path, run: str) -> None:
    """Record the id of a run before it submits jobs."""
    path = root / RUNS
    path.parent.mkdir(exist_ok=True)
    with open(path, "a", encoding="utf-8") as stream:
        stream.write(f"rfstudy_{run}\n")


def recorded_runs(root: Path) -> set[str]:
    """Return the names of the jobs of all runs that started in a folder."""
    runs = (root / RUNS).read_text(encoding="utf-8").split() if (root / RUNS).exists() else []
    logs = (OF_PLUGIN.findall(path.read_text(encoding="utf-8", errors="replace")) for path in root.glob(LOGS))
    return {*runs, *(name for found in logs for name in found)}


def jobs_left(root: Path) -> list[str]:
    """Return the ids of the jobs in SLURM's queue that runs of a folder left; none where no SLURM answers."""
    runs = recorded_runs(root)
    if not runs:
        return []
    command = ["squeue", "--noheader", "--me", "--states", "PD,R,CG,CF,S,RQ", "--format", "%A|%j|%Z"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    lines = (line.split("|", 2) for line in output.splitlines() if line.count("|") >= 2)
    return [job for job, name, folder in lines if name in runs and os.path.realpath(folder) == os.path.realpath(root)]


def settle(root: Path, how: str) -> list[str]:
    """Deal with the jobs that a killed run left, and return the message with which the workflow stops, if it does.

    ``how`` is "stop" (name them), "wait" (until they are done) or "cancel" (exactly these).
    """
    left = jobs_left(root)
    if left and how == "stop":
        return [
            f"{len(left)} jobs of an earlier run of this folder are still in the queue: {' '.join(left)}; add"
            " --config running=wait to wait for them, or running=cancel to cancel them (finished cells are kept)"
        ]
    if left and how == "cancel":
        subprocess.run(["scancel", *left], check=True)
        print(f"cancelled {len(left)} jobs of an earlier run: {' '.join(left)}", file=sys.stderr)
    while left:
        time.sleep(1 if how == "cancel" else PAUSE)
        left = jobs_left(root)
    return []


def only_reads(arguments: list[str]) -> bool:
    """Return whether Snakemake starts no job with these arguments: a dry-run, a summary, a graph or the like."""
    from snakemake.cli import get_argument_parser  # takes a second, which only a cluster pays

    given, _ = get_argument_parser().parse_known_args(arguments)
    return any(getattr(given, option) for option in READING)
