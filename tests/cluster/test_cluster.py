"""The workflow on a real SLURM that fails in many ways: nothing is lost, nothing runs twice, results are those of a
local run. ``make test-cluster`` runs these tests.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from checkouts import copy_of_repository

from rfstudy.study.journal import KEY, Log

pytestmark = pytest.mark.cluster

WORK = ("shard_by=[experiment,dataset]", "only_experiments=slsrff-text", "only_datasets=eeg,magic04", "repeats=2")
TABLE = "results/quick/slsrff-text.csv"


class Checkout:
    """A copy of the repository, and Snakemake in it."""

    def __init__(self, folder: Path, environment: dict):
        self.folder = copy_of_repository(folder, "profiles")
        self.environment = environment | {"PYTHONPATH": str(folder / "src")}
        self.environment.pop("SNAKEMAKE_PROFILE", None)

    def start(self, *options, config=()):
        """Start Snakemake. A short latency and few looks at the queue make the tests fast."""
        command = [sys.executable, "-m", "snakemake", *options, "--config", *WORK, *config, "--", TABLE]
        self.process = subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return self.process

    def finish(self, process, status: int = 0) -> str:
        """Return the output of Snakemake, which must end with a status."""
        output, _ = process.communicate(timeout=300)
        assert process.returncode == status, output[-3000:]
        return output

    def cells(self) -> dict[str, list[str]]:
        """Return the keys of the finished cells of every job, in their order."""
        journals = self.folder.glob("results/quick/.journal/*/*.cells")
        return {
            f"{path.parent.name}/{path.stem}": [key for key, *_ in Log(path).records() if len(key) == KEY]
            for path in journals
        }

    def values(self) -> pd.DataFrame:
        """Return the results without times and runs."""
        rows = pd.read_csv(self.folder / TABLE)
        rows = rows[rows.unit.fillna("") != "s"].drop(columns=["run"])
        return rows.sort_values(list(rows.columns.drop("value"))).reset_index(drop=True)


SLURM = ("--workflow-profile", "profiles/slurm", "--latency-wait", "5")
SLURM += ("--slurm-init-seconds-before-status-checks", "2")


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """A finished local run."""
    checkout = Checkout(tmp_path_factory.mktemp("local") / "study", dict(os.environ))
    checkout.finish(checkout.start("--cores", "2"))
    return checkout


@pytest.fixture
def study(tmp_path, cluster):
    """A checkout whose Snakemake sees the test cluster."""
    checkout = Checkout(tmp_path / "study", cluster.environment)
    yield checkout
    if checkout.process.poll() is None:  # a test that failed
        checkout.process.send_signal(signal.SIGINT)
        checkout.process.communicate(timeout=120)


@pytest.fixture
def loses_at_most_a_cell(study, local, capsys):
    """A check that a finished run has the results of a local run, and kept all cells that were finished at a fault."""

    def check(fault: str, kept: dict[str, list[str]]):
        cells = study.cells()
        assert all(cells[job][: len(keys)] == keys for job, keys in kept.items())
        # each cell is in the journals once, so that a fault lost at most the cell in work
        found, expected = ({job: len(keys) for job, keys in each.items()} for each in (cells, local.cells()))
        assert found == expected
        pd.testing.assert_frame_equal(study.values(), local.values(), rtol=1e-5)
        with capsys.disabled():
            finished, of_all = (sum(map(len, each.values())) for each in (kept, cells))
            print(f"\n{fault}: {finished} of {of_all} cells were finished and kept; lost: at most the cell in work")

    return check


def of_rule(cluster, rule: str, state: str = "all") -> list[dict]:
    return [job for job in cluster.jobs(state) if rule in job["comment"]]


def test_a_cancelled_job_one_over_its_memory_and_one_over_its_time_run_again(study, cluster, loses_at_most_a_cell):
    # the first attempt of `train` has 150 MB, which importing the libraries exceeds
    profile = study.folder / "profiles" / "slurm" / "profile.v9+.yaml"
    profile.write_text(
        profile.read_text().replace("  time:\n", "  train:\n    mem_mb: 1000 if attempt > 1 else 150\n  time:\n")
    )
    run = study.start(*SLURM)
    timed = cluster.wait(lambda: of_rule(cluster, "time", "R"), 200)[0]
    assert timed["shared"] == "NO"
    cluster.call("scancel", timed["id"])
    slow = cluster.wait(lambda: [job for job in of_rule(cluster, "train", "R") if job["memory"] == "1000M"], 200)[0]
    cluster.wait(lambda: any(study.cells().values()), 60)
    cluster.call("scancel", "--full", "--signal=STOP", slow["id"])
    cluster.call("scontrol", "update", f"jobid={slow['id']}", "endtime=now+2")
    kept = study.cells()
    study.finish(run)
    states = [job["state"] for job in of_rule(cluster, "train")]
    assert states.count("TIMEOUT") == 1
    assert set(states) - {"COMPLETED", "TIMEOUT"}, "no job was over its memory"
    assert {job["state"] for job in of_rule(cluster, "time")} == {"CANCELLED", "COMPLETED"}
    loses_at_most_a_cell("a job over its time", kept)


def test_a_lost_node_loses_no_job(study, cluster, loses_at_most_a_cell):
    run = study.start(*SLURM)
    lost = cluster.wait(lambda: of_rule(cluster, "train", "R"), 200)[0]["node"]
    cluster.wait(lambda: any(study.cells().values()), 60)
    cluster.call("scontrol", "update", f"nodename={lost}", "state=down", "reason=test")
    kept = study.cells()
    # a node that has registered again by itself is not down any more
    subprocess.run(["scontrol", "update", f"nodename={lost}", "state=resume"], env=cluster.environment)
    study.finish(run)
    loses_at_most_a_cell("a lost node", kept)


def test_an_interrupted_run_leaves_no_job_and_one_after_kill_9_names_its_own(study, cluster, loses_at_most_a_cell):
    run = study.start(*SLURM)
    cluster.wait(lambda: any(study.cells().values()), 200)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=120)
    cluster.wait(lambda: not cluster.jobs("PD,R,CF,CG"), 30)
    interrupted = study.cells()

    run = study.start(*SLURM)
    cluster.wait(lambda: study.cells() != interrupted, 200)
    run.kill()
    run.communicate()
    for job in cluster.jobs("R"):
        cluster.call("scontrol", "suspend", job["id"])
    killed = study.cells()
    foreign = cluster.call(
        "sbatch", "--parsable", "--job-name", "rfstudy_other", "--output", "/dev/null", "--wrap", "sleep 300"
    ).strip()
    left = {job["id"] for job in cluster.jobs("PD,R,CF,CG,S")} - {foreign}
    assert left
    said = study.finish(study.start(*SLURM, "--nolock"), 1)  # the killed run left its lock, too
    named = re.search("earlier run of this folder .*: scancel ([0-9 ]+)", said)[1].split()
    assert set(named) == left
    cluster.call("scancel", *named)
    cluster.wait(lambda: not left & {job["id"] for job in cluster.jobs("PD,R,CF,CG,S")}, 60)
    study.finish(study.start(*SLURM, "--nolock"))
    assert foreign in {job["id"] for job in cluster.jobs("PD,R")}
    cluster.call("scancel", foreign)
    loses_at_most_a_cell("Ctrl-C", interrupted)
    loses_at_most_a_cell("kill -9", killed)


def test_the_generic_profile_ends_where_jobs_die_at_launch(study, cluster):
    profile = study.folder / "profiles" / "generic" / "profile.v9+.yaml"
    text = profile.read_text()
    assert "--output logs/cluster/%j.log" in text
    profile.write_text(text.replace("--output logs/cluster/%j.log", "--output /proc/no/%j.log"))
    said = study.finish(study.start("--workflow-profile", "profiles/generic", "--retries", "0"), 1)
    assert "preprocess" in said


def test_the_generic_profile_requests_gpus_and_whole_nodes(study, cluster, local):
    run = study.start("--workflow-profile", "profiles/generic", "--latency-wait", "5", config=["device_from=1"])
    study.finish(run)
    requested = [job["shared"] for job in cluster.jobs() if job["name"].startswith("rfstudy")]
    assert "NO" in requested
    assert "gpu:1" in cluster.call("squeue", "-h", "-t", "all", "-O", "tres-per-job:40")
    pd.testing.assert_frame_equal(study.values(), local.values(), rtol=1e-5)
