"""Where a number comes from: versions, commit, machine, threads and command of the run that computed it."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from rfstudy.files import read_json, write_json
from rfstudy.study.code import PACKAGE
from rfstudy.study.journal import key_of

#: Folders and files whose uncommitted edits make a result one of no commit.
TRACKED = ("src", "config", "rules", "Snakefile")


class Run:
    """One execution of a stage: its record is taken at the start and completed when its rows are written."""

    def __init__(self, stage: str, spec, threads: int, device: str = "cpu"):
        self.clock = time.perf_counter()
        self.record = {
            "stage": stage,
            "spec_hash": key_of(spec),
            "command": f"python -m rfstudy {shlex.join(sys.argv[1:])}",
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "threads": threads,
            **code_state(),
            **machine_state(device),
        }
        self.id = key_of(self.record, os.getpid(), time.time_ns())[:12]

    def finished(self) -> dict:
        """The record with the wall time so far, in seconds, and the load average that it met."""
        wall = round(time.perf_counter() - self.clock, 2)
        return {"run": self.id, **self.record, "wall_time_s": wall, "load_average": round(os.getloadavg()[0], 2)}


def code_state() -> dict:
    """The commit of the checkout and whether tracked code differs from it; empty outside a checkout."""
    root = PACKAGE.parents[1]

    def git(*arguments):
        return subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=30
        ).stdout.strip()

    try:
        commit = git("rev-parse", "HEAD")
        return {"commit": commit, "uncommitted": bool(git("status", "--porcelain", "--", *TRACKED))}
    except (OSError, subprocess.SubprocessError):
        return {"commit": "", "uncommitted": True}


def machine_state(device: str) -> dict:
    """Processor, memory, GPU, and the versions and BLAS that do the arithmetic."""
    import numpy
    import scipy
    import sklearn
    import torch
    from threadpoolctl import threadpool_info

    blas = sorted({f"{pool['internal_api']} {pool.get('version') or ''}".strip() for pool in threadpool_info()})
    use_gpu = device != "cpu" and torch.cuda.is_available()
    return {
        "versions": {
            "python": platform.python_version(),
            **{module.__name__: module.__version__ for module in (numpy, scipy, sklearn, torch)},
        },
        "blas": blas,
        "cpu": processor_name(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "gpu": torch.cuda.get_device_name() if use_gpu else "",
        "system": f"{platform.system()} {platform.release()}",
    }


def processor_name() -> str:
    """The processor as the operating system calls it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor()


def record_file(results_file) -> Path:
    """The provenance file that belongs to a results file."""
    path = Path(results_file)
    return path.with_name(path.name.split(".csv")[0] + ".provenance.json")


def read_records(results_file) -> dict[str, dict]:
    """The provenance records beside a results file, by run."""
    return {r["run"]: r for r in read_json(record_file(results_file))}


def write_records(records: dict[str, dict], results_file) -> None:
    """Write provenance records beside a results file, sorted by run."""
    write_json([records[run] for run in sorted(records)], record_file(results_file))
