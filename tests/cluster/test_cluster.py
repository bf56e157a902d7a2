"""The workflow on a real SLURM that fails in many ways: nothing is lost, nothing runs twice, results are those of a
local run. ``make test-cluster`` runs these tests.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]
WORK = ("shard_by=[experiment,dataset]", "only_experiments=slsrff-text", "only_datasets=eeg,magic04", "repeats=2")
TABLE = "results/quick/slsrff-text.csv"


class Checkout:
    """A copy of the repository, and Snakemake in it."""

    def __init__(self, folder: Path, environment: dict):
        ignored = shutil.ignore_patterns(
            ".git", ".venv", "results", "figures", "logs", "benchmarks", ".snakemake", "prepared", "raw", "measured"
        )
        self.folder = shutil.copytree(ROOT, folder, ignore=ignored)
        self.environment = environment | {"PYTHONPATH": str(folder / "src")}
        self.environment.pop("SNAKEMAKE_PROFILE", None)

    def start(self, *options, config=()):
        """Start Snakemake. A short latency and few looks at the queue make the tests fast."""
        command = [sys.executable, "-m", "snakemake", *options, "--config", *WORK, *config, "--", TABLE]
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def finish(self, process, status: int = 0) -> str:
        """Return the output of Snakemake, which must end with a status."""
        output, _ = process.communicate(timeout=300)
        assert process.returncode == status, output[-3000:]
        return output

    def values(self) -> pd.DataFrame:
        """Return the results without times and runs."""
        rows = pd.read_csv(self.folder / TABLE)
        rows = rows[rows.unit.fillna("") != "s"].drop(columns=["run"])
        return rows.sort_values(list(rows.columns.drop("value"))).reset_index(drop=True)


SLURM = (
    "--workflow-profile",
    "profiles/slurm",
    "--latency-wait",
    "5",
    "--slurm-init-seconds-before-status-checks",
    "2",
)


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The results of a local run."""
    checkout = Checkout(tmp_path_factory.mktemp("local") / "study", dict(os.environ))
    checkout.finish(checkout.start("--cores", "2"))
    return checkout.values()


@pytest.fixture
def study(tmp_path, cluster):
    """A checkout whose Snakemake sees the test cluster."""
    return Checkout(tmp_path / "study", cluster.environment)


def of_rule(cluster, rule: str, state: str = "all") -> list[dict]:
    """Return the jobs of a rule."""
    return [job for job in cluster.jobs(state) if rule in job["comment"]]


def test_a_cancelled_job_and_one_over_its_memory_run_again(study, cluster, local):
    # the first attempt of `train` has 150 MB, which importing the libraries exceeds
    profile = study.folder / "profiles" / "slurm" / "profile.v9+.yaml"
    profile.write_text(
        profile.read_text().replace("  time:\n", "  train:\n    mem_mb: 1000 if attempt > 1 else 150\n  time:\n")
    )
    run = study.start(*SLURM)
    timed = cluster.wait(lambda: of_rule(cluster, "time", "R"), 200)[0]
    assert timed["shared"] == "NO"
    cluster.call("scancel", timed["id"])
    study.finish(run)
    states = {job["state"] for job in of_rule(cluster, "train")}
    assert states - {"COMPLETED"}, "no job was over its memory"
    assert {job["state"] for job in of_rule(cluster, "time")} == {"CANCELLED", "COMPLETED"}
    pd.testing.assert_frame_equal(study.values(), local, rtol=1e-5)


def test_a_lost_node_loses_no_job(study, cluster, local):
    run = study.start(*SLURM)
    lost = cluster.wait(lambda: of_rule(cluster, "train", "R"), 200)[0]["node"]
    cluster.call("scontrol", "update", f"nodename={lost}", "state=down", "reason=test")
    try:
        cluster.call("scontrol", "update", f"nodename={lost}", "state=resume")
        study.finish(run)
    finally:
        subprocess.run(["scontrol", "update", f"nodename={lost}", "state=resume"], env=cluster.environment)
    pd.testing.assert_frame_equal(study.values(), local, rtol=1e-5)


def test_an_interrupted_run_leaves_no_job(study, cluster):
    run = study.start(*SLURM)
    cluster.wait(lambda: of_rule(cluster, "train", "PD,R"), 200)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=120)
    cluster.wait(lambda: not cluster.jobs("PD,R,CF,CG"), 30)


def test_after_kill_9_the_next_run_names_the_jobs_and_cancels_exactly_these(study, cluster, local):
    run = study.start(*SLURM)
    cluster.wait(lambda: of_rule(cluster, "train", "R"), 200)
    run.kill()
    run.communicate()
    for job in cluster.jobs("R"):
        cluster.call("scontrol", "suspend", job["id"])
    foreign = cluster.call(
        "sbatch", "--parsable", "--job-name", "rfstudy_other", "--output", "/dev/null", "--wrap", "sleep 300"
    ).strip()
    left = {job["id"] for job in cluster.jobs("PD,R,CF,CG,S")} - {foreign}
    said = study.finish(study.start(*SLURM), 1)
    assert "running=wait" in said
    assert all(job in said for job in left)
    assert foreign not in said.split("still in the queue:")[1].split(";")[0].split()
    said = study.finish(study.start(*SLURM, "--nolock", config=["running=cancel"]))
    assert "cancelled" in said
    assert foreign in {job["id"] for job in cluster.jobs("PD,R")}
    cluster.call("scancel", foreign)
    pd.testing.assert_frame_equal(study.values(), local, rtol=1e-5)


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
    requested = [job["shared"] for job in cluster.jobs() if job["name"].startswith("rfstudy_")]
    assert "NO" in requested
    assert "gpu:1" in cluster.call("squeue", "-h", "-t", "all", "-O", "tres-per-job:40")
    pd.testing.assert_frame_equal(study.values(), local, rtol=1e-5)
