"""Jobs that a killed Snakemake left: which are ours, and what is done with them."""

import os
import stat
from pathlib import Path

import pytest

from rfstudy.study import left_behind


@pytest.fixture
def queue(tmp_path, monkeypatch):
    """A folder with a recorded run and a make-believe SLURM, whose queue is a file."""
    root, tools = tmp_path / "study", tmp_path / "bin"
    root.mkdir()
    tools.mkdir()
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    for name, script in {
        "squeue": f"cat {tmp_path}/queue",
        "scancel": f'echo "$@" > {tmp_path}/cancelled; : > {tmp_path}/queue',
    }.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(stat.S_IRWXU)
    left_behind.record_run(root, "1")
    jobs = [("7", "rfstudy_1", root), ("8", "rfstudy_2", root), ("9", "rfstudy_1", tmp_path), ("10", "rfstudy_p", root)]
    (tmp_path / "queue").write_text("".join(f"{job}|{name}|{folder}\n" for job, name, folder in jobs))
    return root


def test_ours_have_this_folder_and_a_recorded_run(queue):
    assert left_behind.jobs_left(queue) == ["7"]
    log = queue / ".snakemake" / "log" / "a.snakemake.log"
    log.parent.mkdir()
    log.write_text("SLURM run ID: rfstudy_p\n")
    assert left_behind.jobs_left(queue) == ["7", "10"]


def test_a_folder_without_runs_asks_no_scheduler(tmp_path, monkeypatch):
    monkeypatch.setattr(left_behind.subprocess, "run", None)
    assert left_behind.settle(tmp_path, "cancel") == []


def test_stop_names_the_jobs_and_the_ways_out(queue):
    (line,) = left_behind.settle(queue, "stop")
    assert " 7;" in line
    assert "running=wait" in line
    assert "running=cancel" in line


def test_cancel_cancels_exactly_ours(queue, capsys):
    assert left_behind.settle(queue, "cancel") == []
    assert (queue.parent / "cancelled").read_text().split() == ["7"]
    assert "cancelled 1 jobs" in capsys.readouterr().err


def test_wait_returns_when_the_queue_is_empty(queue, monkeypatch):
    monkeypatch.setattr(left_behind.time, "sleep", lambda seconds: Path(queue.parent, "queue").write_text(""))
    assert left_behind.settle(queue, "wait") == []


def test_a_scheduler_that_does_not_answer_leaves_nothing(queue, monkeypatch):
    (queue.parent / "bin" / "squeue").write_text("#!/bin/sh\nexit 1\n")
    assert left_behind.jobs_left(queue) == []


@pytest.mark.parametrize("words", ["-np all", "-nq", "--dry-run", "--summary", "--dag", "--lint", "--unlock"])
def test_a_command_that_starts_no_job_leaves_the_jobs_alone(words):
    profile = ["--workflow-profile", "profiles/slurm", "--config", "running=cancel"]
    assert left_behind.only_reads([*words.split(), *profile])
    assert not left_behind.only_reads(["all", "--jobs", "9", *profile])
