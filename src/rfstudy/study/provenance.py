"""Record the provenance of a number: versions, commit, machine, threads and command of the run that computed it."""

import hashlib
import json
import os
import platform
import resource
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

from rfstudy import tidy
from rfstudy.files import digest_of, read_record_file, record_file, write_arrays, write_record, write_text
from rfstudy.study.code import SOURCE
from rfstudy.study.journal import key_of

#: Folders and files whose uncommitted edits make a result belong to no commit.
TRACKED = ("src", "config", "rules", "Snakefile", "data/reference")

#: The file that a download adds checksums to: an addition changes no number, because the content stays the same.
LOCK = "config/sources.lock.yaml"

#: The modules that do the arithmetic, and their packages.
ARITHMETIC = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn", "torch": "torch"}


class Run:
    """One execution of a stage: its record is taken at the start and completed when its rows are written."""

    def __init__(self, stage: str, spec, threads: int, device: str = "cpu"):
        self.clock, self.processor = time.perf_counter(), time.process_time()
        self.record = {
            "stage": stage,
            "spec_hash": key_of([vars(part) for part in spec] if isinstance(spec, list) else spec),
            "command": f"python -m rfstudy {shlex.join(sys.argv[1:])}",
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "threads": threads,
            **code_state(),
            "versions": {"python": platform.python_version(), **versions()},
            "cpu": processor_name(),
            "cores": os.cpu_count(),
            "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
            "gpu": gpu_name() if device != "cpu" else "",
            "system": f"{platform.system()} {platform.release()}",
        }
        self.id = key_of(self.record, os.getpid(), time.time_ns())[:12]

    def finished(self) -> dict:
        """Return the record with what the process has taken so far: wall time and processor time in seconds, and its
        largest memory. The load average is that of the machine.
        """
        if "blas" not in self.record:
            self.record["blas"] = linear_algebra()  # of the libraries that are loaded after something was computed
        cost = {
            "wall_time_s": round(time.perf_counter() - self.clock, 2),
            "processor_time_s": round(time.process_time() - self.processor, 2),
            "load_average": round(os.getloadavg()[0], 2),
            "peak_memory_mb": peak_memory_mb(),
        }
        return {"run": self.id, **self.record, **cost}


def code_state() -> dict:
    """Return the commit of the checkout and whether code, configuration or reference data differ from it.

    New entries in the lock of sources do not count as a difference. Outside a checkout there is no commit, and
    everything counts as uncommitted.
    """

    def git(*arguments):
        how = {"cwd": SOURCE.parent, "text": True, "stderr": subprocess.DEVNULL, "timeout": 30}
        return subprocess.check_output(["git", *arguments], **how).strip()

    try:
        commit = git("rev-parse", "HEAD")
        changed = git("status", "--porcelain", "--", *TRACKED, f":!{LOCK}")
        removed = [line for line in git("diff", "--numstat", "HEAD", "--", LOCK).splitlines() if line.split()[1] != "0"]
        return {"commit": commit, "uncommitted": bool(changed or removed)}
    except (OSError, subprocess.SubprocessError):
        return {"commit": "", "uncommitted": True}


@cache
def versions() -> dict[str, str]:
    """Return the versions of the numerical libraries."""
    return {module: version(package) for module, package in ARITHMETIC.items()}


def linear_algebra() -> list[str]:
    """Return the linear algebra and threading libraries that this process has loaded, with their versions."""
    from threadpoolctl import threadpool_info

    return sorted({f"{pool['internal_api']} {pool.get('version') or ''}".strip() for pool in threadpool_info()})


def peak_memory_mb() -> int:
    """Return the largest resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 if sys.platform != "darwin" else 1024) // 1024


def gpu_name() -> str:
    """Return the name of the GPU that torch uses, or an empty text."""
    import torch  # a job without a GPU need not wait for it

    return torch.cuda.get_device_name() if torch.cuda.is_available() else ""


def processor_name() -> str:
    """Return the name of the processor as reported by the operating system."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def read_records(results_file) -> dict[str, dict]:
    """Return the provenance records next to a results file, by run."""
    return {run["run"]: run for run in read_record_file(record_file(results_file))["runs"]}


def write_results(rows, records: dict[str, dict], out, arrays: dict | None = None, out_arrays=None) -> None:
    """Write the results of a job: its rows, its arrays if there is a file for them, and the record of both."""
    digests = {}
    if out_arrays is not None:
        write_arrays(arrays, out_arrays)
        digests[Path(out_arrays).name] = digest_of(out_arrays)
    tidy.write(rows, out, records, digests)


def write_choices(chosen: dict, record: dict, out) -> None:
    """Write choices by data set as JSON, after the record of the run that made them."""
    text = json.dumps(chosen, indent=2) + "\n"
    write_record({Path(out).name: hashlib.sha256(text.encode()).hexdigest()}, {record["run"]: record}, out)
    write_text(text, out)
