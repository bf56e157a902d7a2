"""Damage to the files between two stages: the reader names a cut, changed or empty file, and a job
that is killed at any moment is finished by the next.
"""

import json
import os
import select
import signal
import subprocess
import sys

import numpy as np
import pytest
import study_toys as toys

from random_features.errors import UserError
from rfstudy import tidy
from rfstudy.data.preprocess import run as preprocess
from rfstudy.files import read_arrays, read_choices
from rfstudy.planning import plan
from rfstudy.study import collect, provenance, train
from rfstudy.study.code import SOURCE
from rfstudy.study.provenance import Run, read_records, record_file, write_results
from rfstudy.study.sample import load_prepared

SEARCH = {"penalty": {"tune_per": "method_and_size"}}
RUN = {"run": "f00d", "uncommitted": False, "stage": "preprocess"}


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """A small grid with a map that learns and a shared choice: every file that the stages hand on."""
    folder = tmp_path_factory.mktemp("chain")
    toy = toys.selected(methods=[{"method": "nystroem"}], search=SEARCH)
    prepared = toys.write_data(folder / "made", *toys.labelled(40, 3), provenance=RUN, facts={"rows_all": 40})
    toys.run_grid(toy, {"made": prepared}, folder)
    facts = toys.as_read(plan.facts_parts(toy, toys.SETTINGS))

    def collected(out, arrays=()):
        collect.run(facts, [folder / "train.csv"], [prepared], arrays, out / "all.csv", out / "all.npz")
        return tidy.read(out / "all.csv")

    def trained(out):
        parts = toys.parts("train", toy)
        chosen = read_choices(folder / "tune.json")
        train.run(parts, [prepared], chosen, folder / "journal/train", out / "train.csv", 1)
        return tidy.read(out / "train.csv")

    return folder, collected, trained


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGE = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: int(0.9 * len(content))],
    "cut at the end of a line": lambda content: b"".join(content.splitlines(keepends=True)[:-1]),
    "flipped": flipped,
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["train.csv", "train.provenance.json", "tune.json"])
def test_a_file_between_two_stages_that_was_cut_or_changed_is_named(chain, tmp_path, name, damage):
    folder, collected, trained = chain
    reader, path = trained if name == "tune.json" else collected, folder / name
    content = path.read_bytes()
    damaged = DAMAGE[damage](content)
    assert damaged != content
    try:
        path.write_bytes(damaged)
        if name.endswith("provenance.json") and damage == "flipped":
            return  # of the records only what they are asked for is checked: runs, and the digests of files
        with pytest.raises(UserError, match=rf"{name}.* remove it"):
            reader(tmp_path)
    finally:
        path.write_bytes(content)
    assert not list(tmp_path.iterdir())
    assert len(reader(tmp_path))


@pytest.mark.parametrize("damage", DAMAGE)
def test_the_table_and_the_arrays_of_an_experiment_are_checked_by_their_reader(chain, tmp_path, damage):
    _, collected, _ = chain
    write_results([], {}, tmp_path / "shard.csv", {"curve": np.arange(300.0)}, tmp_path / "shard.npz")
    collected(tmp_path, [tmp_path / "shard.npz"])
    for name, reader in (("all.csv", tidy.read), ("all.npz", read_arrays)):
        reader(tmp_path / name)
        (tmp_path / name).write_bytes(DAMAGE[damage]((tmp_path / name).read_bytes()))
        with pytest.raises(UserError, match=rf"{name} is not the file that all\.provenance\.json was written for"):
            reader(tmp_path / name)


def test_every_row_of_an_experiment_points_to_a_record_facts_included(chain, tmp_path):
    _, collected, _ = chain
    table = collected(tmp_path)
    records = read_records(tmp_path / "all.csv")
    assert set(table["run"]) == set(records)
    assert records["f00d"] == RUN
    (fact,) = table[table["metric"].eq("fact_rows")].to_dict("records")
    assert (fact["value"], fact["split"], fact["run"], fact["n_train"]) == (40.0, "all", "f00d", 20)
    assert set(table["stand_in"]) == {"made"}
    assert set(table["seed"]) == {toys.SETTINGS["seed"]}


def test_a_row_whose_run_has_no_record_is_an_error(chain, tmp_path):
    folder, collected, _ = chain
    path = record_file(folder / "train.csv")
    content = path.read_text()
    known = json.loads(content)
    try:
        path.write_text(json.dumps(known | {"runs": []}))
        with pytest.raises(ValueError, match=r"rows of run .* have no record"):
            collected(tmp_path)
    finally:
        path.write_text(content)


def test_the_facts_about_data_say_which_run_made_the_rows(tmp_path):
    sizes = {"n": 30, "n_train": 20, "n_test": 10}
    generator = {"name": "windmill", "blades": 3, "n_train": 20, "n_test": 10}
    task = sizes | {"label": "windmill", "split": "published", "d": 2, "target": "binary", "generator": generator}
    run = Run("preprocess", task, 1)
    record = preprocess("made", task, None, tmp_path, reference_dir=tmp_path, record_of=run.finished)
    assert record["provenance"]["run"] == run.id
    assert record["provenance"]["stage"] == "preprocess"
    assert json.loads((tmp_path / "facts.json").read_text())["provenance"] == record["provenance"]


def test_facts_that_could_not_be_counted_are_of_no_run(tmp_path):
    """Nothing was measured, so nothing is published."""
    toy = toys.selected()
    prepared = toys.write_data(tmp_path, *toys.labelled(4, 3), provenance=RUN, status="skipped", reason="gone")
    (spec,) = plan.facts_parts(toy, toys.SETTINGS)
    (row,) = collect.fact_rows(spec, load_prepared(prepared))
    assert (row["status"], row["settings"]) == ("skipped", {"reason": "gone"})
    assert not row.get("run")
    assert collect.record_of_facts(load_prepared(prepared)) == {}


def test_shards_of_two_experiments_are_not_put_together(chain, tmp_path):
    files = [chain[0] / "train.csv", tmp_path / "train.csv"]
    for column, value in {"seed": 7, "preset": "quick", "experiment": "other", "protocol": "code"}.items():
        write_results(tidy.read(files[0]).assign(**{column: value}), read_records(files[0]), files[1])
        with pytest.raises(UserError, match=rf"train.csv is not of the experiment of .*: {column} {value} joins"):
            collect.run([], files, [], [], tmp_path / "all.csv", tmp_path / "all.npz")
        assert not (tmp_path / "all.csv").exists()


def test_data_of_another_task_are_refused(chain, tmp_path):
    """The labels of one data set would stand on the numbers of another."""
    folder, _, _ = chain
    other = toys.write_data(tmp_path / "other", *toys.labelled(40, 3), task="other")
    shards = toys.parts("train", toys.selected(methods=[{"method": "nystroem"}], search=SEARCH))
    for folders, message in (
        ([other], "holds the data of other, not of made"),
        ([], "prepared_dirs: 0 folders are given for 1 data sets"),
        ([other, other], "prepared_dirs: 2 folders are given for 1 data sets"),
    ):
        with pytest.raises(UserError, match=message):
            train.run(shards, folders, {}, tmp_path / "journal", tmp_path / "rows.csv", 1)
    with pytest.raises(UserError, match="holds the data of other, not of made"):
        collect.run(shards, [folder / "train.csv"], [other], [], tmp_path / "all.csv", tmp_path / "all.npz")


def test_one_row_that_two_shards_have_is_an_error(chain, tmp_path):
    folder, _, _ = chain
    files = [folder / "train.csv", tmp_path / "again.csv"]
    write_results(tidy.read(folder / "train.csv")[:1], read_records(folder / "train.csv"), files[1])
    with pytest.raises(ValueError, match="2 rows of the shards measure the same thing twice, first"):
        collect.run([], files, [], [], tmp_path / "all.csv", tmp_path / "all.npz")


def commit(folder):
    """Commit all files of a folder, as a repository, and return the commit."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"], ["rev-parse", "HEAD"]):
        done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_record_says_which_commit_computed_and_whether_the_code_was_another(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "SOURCE", tmp_path / "src")
    (tmp_path / "src" / "rfstudy").mkdir(parents=True)
    (tmp_path / "src" / "rfstudy" / "maps.py").write_text("x = 1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert provenance.code_state() == {"commit": "", "uncommitted": True}
    committed = {"commit": commit(tmp_path), "uncommitted": False}
    assert provenance.code_state() == committed
    (tmp_path / "notes.txt").write_text("no code")
    assert provenance.code_state() == committed
    (tmp_path / "src" / "rfstudy" / "new.py").write_text("y = 1")
    assert provenance.code_state() == committed | {"uncommitted": True}
    (tmp_path / "src" / "rfstudy" / "new.py").unlink()
    for name in ("config", "rules", "data/reference"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a").write_text("z")
        assert provenance.code_state()["uncommitted"]
        (tmp_path / name / "a").unlink()
    (tmp_path / "Snakefile").write_text("z")
    assert provenance.code_state()["uncommitted"]


def test_a_lock_of_sources_that_only_gained_entries_is_committed(tmp_path, monkeypatch):
    """Otherwise a first measurement on newly trusted data could never be published."""
    monkeypatch.setattr(provenance, "SOURCE", tmp_path / "src")
    lock = tmp_path / "config" / "sources.lock.yaml"
    lock.parent.mkdir()
    (tmp_path / "config" / "a").write_text("z")
    commit(tmp_path)
    lock.write_text("toy: {a: 1}\n")
    assert not provenance.code_state()["uncommitted"]
    commit(tmp_path)
    lock.write_text("toy: {a: 1}\nother: {b: 2}\n")
    assert not provenance.code_state()["uncommitted"]
    lock.write_text("toy: {a: 2}\nother: {b: 2}\n")
    assert provenance.code_state()["uncommitted"]


def test_a_job_ends_with_the_workflow_that_started_it(tmp_path):
    """The workflow is killed and cannot say so: its job notices, and takes along what it started."""
    job = (
        "import signal, subprocess, sys\n"
        "from rfstudy import cli\n"
        "cli.LOOK_SECONDS = 0.05\n"
        "cli.end_with_the_workflow()\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        "print(child.pid, flush=True)\n"
        "signal.pause()\n"
    )
    workflow = (
        "import os, subprocess, sys\n"
        "os.environ['RFSTUDY_WORKFLOW'] = str(os.getpid())\n"
        "shell = subprocess.Popen(['bash', '-c', 'true; ' + sys.argv[1] + '; true'])\n"
        "shell.wait()\n"
    )
    (tmp_path / "job.py").write_text(job)
    process = subprocess.Popen(
        [sys.executable, "-c", workflow, f"{sys.executable} {tmp_path}/job.py"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    child = os.pidfd_open(int(process.stdout.readline()))
    process.send_signal(signal.SIGKILL)
    # both streams end when the last process that holds them has
    _, reported = process.communicate(timeout=30)
    assert reported == "error: the workflow that started this job is gone, so the job ends; the next one resumes\n"
    assert select.select([child], [], [], 30)[0], "the child of the job has ended, too"
    os.close(child)


def python(*arguments, **environment):
    """Run Python with the packages of the checkout."""
    environment = os.environ | {"PYTHONPATH": str(SOURCE)} | environment
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("number", ["", "1", "999999999", "of no process"])
def test_a_job_that_no_workflow_started_goes_on(tmp_path, number):
    """Started by hand, or with the number of some other process: the first one of the machine is nobody's workflow, but
    it is an ancestor, and goes on, too.
    """
    job = (
        "import threading; from rfstudy import cli\n"
        "looks = threading.Semaphore(0)\n"
        "cli.sleep = lambda seconds: looks.release()\n"
        "cli.end_with_the_workflow()\n"
        "for _ in range(3 if threading.active_count() > 1 else 0):\n"
        "    looks.acquire()\n"
    )
    done = python("-c", job, RFSTUDY_WORKFLOW=number)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_ends_too_early_is_no_interruption(tmp_path):
    """An EOFError that nobody has expected shows where it is from; it ended without a line, as if by Ctrl-C."""
    job = (
        "import sys; from rfstudy import cli, files\n"
        "def fail(path): raise EOFError('no data left in file')\n"
        "cli.read_choices = fail\n"
        "sys.argv = ['rfstudy', 'train', sys.argv[1]]\n"
        "cli.main()\n"
    )
    work = [{"stage": "train", "out": str(tmp_path / "o"), "tuned": [str(tmp_path / "tune.json")]}]
    (tmp_path / "work.json").write_text(json.dumps(work))
    done = python("-c", job, tmp_path / "work.json")
    assert done.returncode == 1
    assert "EOFError: no data left in file" in done.stderr
