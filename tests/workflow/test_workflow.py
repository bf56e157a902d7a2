"""The workflow as a user runs it: planning, running, resuming, rerunning after an edit, and its error messages."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest

from random_features.arrays import seed_of
from random_features.kernels import Gaussian
from random_features.maps import make_map
from rfstudy import tidy
from rfstudy.study.journal import Log
from rfstudy.study.provenance import read_records

COMPUTE = ("stream", "preprocess", "tune", "train", "measure", "time")


def planned(output: str) -> dict[str, int]:
    """Jobs by rule, from the job table that a dry-run prints."""
    table = output.split("Job stats:")[1]
    return {name: int(count) for name, count in re.findall(r"^(\w+)\s+(\d+)\s*$", table, re.MULTILINE)}


@pytest.mark.parametrize(("preset", "most"), [("quick", 129), ("laptop", 1499), ("paper", 1499)])
def test_a_dry_run_of_every_preset_stays_within_its_budget_of_jobs(workspace, preset, most):
    done = workspace.snakemake("--dry-run", "--cores", "2", "--configfile", f"config/presets/{preset}.yaml")
    jobs = planned(done.stdout)
    of_stages = {stage: sum(n for rule, n in jobs.items() if rule.split("_")[0] == stage) for stage in COMPUTE}
    # of one chunk `preprocess` makes the rows
    assert all(number for stage, number in of_stages.items() if (preset, stage) != ("quick", "stream"))
    assert (jobs["total"] if preset == "quick" else sum(of_stages.values())) <= most


def test_a_figure_that_is_named_computes_only_its_own_data_sets(workspace):
    done = workspace.snakemake("--dry-run", "--cores", "2", "figures/quick/survey/figure-09-text.pdf")
    part = "survey-gaussian-text.ijcnn1.cod-rna.covtype.letter-am-nz"
    messages = re.findall(r"^Job \d+: (\w+ \S+)", done.stdout, re.MULTILINE)
    assert set(messages) == {
        "preprocess 21", f"tune {part}/all:", f"train {part}/all:", f"time {part}/ijcnn1:", f"collect {part}:",
        "figure quick/survey/figure-09-text",
    }  # fmt: skip


def comparable(results: Path) -> pd.DataFrame:
    """Rows of a results file without what may differ between two runs: the run itself and the times."""
    table = tidy.read(results)
    return table[~table["metric"].str.match("(time|cpu)_")].drop(columns="run").reset_index(drop=True)


def assert_same_results(one: Path, other: Path) -> None:
    """Equal rows; errors to 1e-5 relative, accuracies to two test rows."""
    left, right = comparable(one), comparable(other)
    columns = [c for c in left.columns if c not in ("value", "settings")]
    pd.testing.assert_frame_equal(left[columns], right[columns])
    assert list(left["value"].isna()) == list(right["value"].isna())
    measured = left["value"].notna()
    two_rows = (200.0 / left["n_test"].astype("Float64")).fillna(0).astype(float)
    tolerance = two_rows.where(left["metric"].eq("accuracy_pct"), 1e-5 * left["value"].abs())
    assert (((left["value"] - right["value"]).abs() <= tolerance) | ~measured).all()


def test_the_small_study_ends_in_complete_tables_and_figures(finished):
    results = tidy.read(finished.folder / "results/quick/survey-gaussian-text.csv")
    # 2 data sets x 4 methods x 3 sizes x 2 repeats
    assert len(results[results["metric"].eq("approximation_error_frobenius")]) == 2 * 4 * 3 * 2
    accuracies = results[results["metric"].eq("accuracy_pct")]
    # of one of the learners the command line asks for fewer repeats
    assert accuracies.groupby("learner").size().to_dict() == {"ridge": 2 * 4 * 3 * 2, "svm": 2 * 4 * 3 * 1}
    # every preset takes times of examples: one data set, four methods, two sizes, three rounds, by two clocks
    times = results[results["metric"].str.match("(time|cpu)_transform_s")]
    assert times.groupby("method").size().to_dict() == dict.fromkeys(["rff", "qmc", "sorf", "lsrff"], 2 * 3 * 2)
    assert set(times["dataset"]) == {"eeg"}
    assert results.loc[results["method"].ne(""), "status"].eq("ok").all()
    assert results["stand_in"].ne("").all()
    # every row, facts included, points to the record of a run
    assert set(results["run"]) == set(read_records(finished.folder / "results/quick/survey-gaussian-text.csv"))
    drawn = {p.name for p in (finished.folder / "figures/quick/survey").iterdir()}
    for name in ("figure-09-text.pdf", "figure-10-text.png", "table-06-facts-text.md", "table-07-text.tex"):
        assert name in drawn


def test_nothing_is_left_to_do_after_a_run(finished):
    done = finished.snakemake("--dry-run", "--cores", "2", *finished.arguments)
    assert "Nothing to be done" in done.stdout + done.stderr


#: The rule that draws the figures of the small study.
FIGURES = "draw_quick_survey"


def test_times_are_taken_when_nothing_else_is_left_to_run(finished):
    """A timed job has all cores, and waits for the learners of all shards."""
    assert finished.log.index("rule time:") > finished.log.rindex("(Rule: train)")
    finished_at = [finished.log.index(f"(Rule: {rule})") for rule in ("time", "collect", FIGURES)]
    assert finished_at == sorted(finished_at)
    # the log has what the message of the job stands for
    block = finished.log[finished.log.index("rule time:") :].split("Finished jobid")[0]
    assert re.search(r"^ *threads: 2$", block, re.MULTILINE)


def test_the_console_says_what_is_done_how_far_it_is_and_how_long_it_takes(finished):
    jobs = planned(finished.log)
    number = jobs.pop("total")
    left = r"(?P<left>, (?:about [\d.]+ (?:min|h)|under a minute) left)?"
    far = rf"\[ *(?P<finished>\d+) of {number}, (?P<clock>\d+:\d\d){left}\] (?P<what>.+)"
    lines = [re.fullmatch(far, line) for line in finished.console]
    said = [line["what"] for line in lines if line]
    for stage in {rule.split("_")[0] for rule in jobs}:
        of_stage = [what for what in said if what.startswith((f"{stage} ", f"{stage}:"))]
        assert len(of_stage) == sum(count for rule, count in jobs.items() if rule.split("_")[0] == stage)
    assert "train survey-gaussian-text/eeg.lsrff: 9 cells on eeg" in said
    assert said[-1] == "done"
    # nothing but the head, a line a job, one more for those that took long, and where the log is
    told = [line for line in said[:-1] if not line.startswith("done in ")]
    assert len(told) == number
    others = [line for line, match in zip(finished.console, lines, strict=True) if not match]
    assert others[-1].startswith("Complete log(s): ")
    assert f"{number} jobs: " in others[-2]
    assert len(others) <= 3
    # from five finished jobs and 20 s on it says how long the rest will take
    late = [line for line in lines if line and line["clock"] > "0:20" and int(line["finished"]) > 5]
    assert all(line["left"] for line in late if line["what"] != "done")


ALL = {f"{dataset}.{method}" for dataset in ("eeg", "skin") for method in ("rff", "qmc", "sorf", "lsrff")}
OF_EEG = {name for name in ALL if name.startswith("eeg")}

#: Modules that are edited at their end; the shards whose jobs of train run again, those of tune, and those of time.
#: What stands behind an edited job in the chain runs again, too.
EDITS = [
    # all maps share a penalty, which is chosen with all of them
    (("random_features/maps/quasi.py",), ALL, {"eeg", "skin"}, {"eeg"}),
    (("random_features/learners/svm.py",), ALL, {"eeg", "skin"}, {"eeg"}),
    (("rfstudy/data/steps/standard_rows.py",), OF_EEG, {"eeg"}, {"eeg"}),
    (("rfstudy/study/time.py",), set(), set(), {"eeg"}),
    # what none of them reruns, all of them together do not
    (
        (
            "random_features/maps/registry.py",
            "rfstudy/study/kinds/decay.py",
            "rfstudy/study/bandwidths/median.py",
            "rfstudy/report/tables/grid.py",
        ),
        *(set(), set(), set()),
    ),
]


@pytest.mark.parametrize(
    ("modules", "shards", "tuned", "timed"), EDITS, ids=[" ".join(modules) for modules, *_ in EDITS]
)
def test_editing_a_module_reruns_exactly_its_users(finished, modules, shards, tuned, timed):
    before = {path: path.read_text() for path in (finished.folder / "src" / module for module in modules)}
    try:
        for path, text in before.items():
            path.write_text(text + "\nEDITED = True\n")
        done = finished.snakemake("--dry-run", "--cores", "2", *finished.arguments)
    finally:
        for path, text in before.items():
            path.write_text(text)
    assert planned_shards(done) == {"train": shards, "tune": tuned, "time": timed}


def planned_shards(done) -> dict[str, set[str]]:
    """The shards by stage whose jobs a dry-run lists."""
    found = {stage: rf"^Job \d+: {stage} [\w-]+/([\w.-]+):" for stage in ("train", "tune", "time")}
    return {stage: set(re.findall(pattern, done.stdout, re.MULTILINE)) for stage, pattern in found.items()}


@pytest.mark.parametrize(
    ("setting", "shards", "tuned", "timed"),
    [("seed=7", ALL, {"eeg", "skin"}, {"eeg"}), ("time={shortest: 0.1}", set(), set(), {"eeg"})],
)
def test_a_changed_setting_reruns_exactly_its_users(finished, setting, shards, tuned, timed):
    done = finished.snakemake("--dry-run", "--cores", "2", *finished.arguments, setting)
    assert planned_shards(done) == {"train": shards, "tune": tuned, "time": timed}


def cells_in(journal) -> dict[str, tuple]:
    """The cells, and the records of runs, in the files of a journal: which file has each, and where."""
    found = ((key, path, start) for path in sorted(journal.glob("*.cells")) for key, start, _ in Log(path).records())
    return {key: (path.name, start) for key, path, start in found}


def is_a_job(process) -> bool:
    """Whether a process runs a stage."""
    try:
        return "rfstudy" in process.cmdline()
    except psutil.Error:
        return False


def test_a_workflow_that_is_killed_takes_its_jobs_along_and_the_next_ends_in_the_same_table(finished, workspace):
    """What is left of the killed one is a lock, which --unlock removes, and a journal. The run that is killed has one
    core, the whole one two: their numbers are the same.
    """
    results = "results/quick/survey-gaussian-text.csv"
    arguments = ["--cores", "1", results, "--config", *finished.small]
    process = subprocess.Popen(
        [sys.executable, "-m", "snakemake", *arguments], cwd=workspace.folder, env=workspace.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    journal = workspace.folder / "results/quick/.journal/generate"
    while len(cells_in(journal)) < 3 and process.poll() is None:
        time.sleep(0.01)
    jobs = [each for each in psutil.Process(process.pid).children(recursive=True) if is_a_job(each)]
    watched = {each.environ().get("RFSTUDY_WORKFLOW") for each in jobs}
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert watched == {str(process.pid)}
    _, alive = psutil.wait_procs(jobs, timeout=20)
    assert not [each for each in alive if each.status() != psutil.STATUS_ZOMBIE]
    assert not (workspace.folder / results).exists()
    kept = cells_in(journal)
    locked = workspace.snakemake(*arguments, "--rerun-incomplete", check=False)
    assert locked.returncode != 0
    assert "--unlock" in locked.stdout + locked.stderr
    workspace.snakemake("--unlock")
    workspace.snakemake(*arguments, "--rerun-incomplete")
    for space, name in ((workspace, "killed.csv"), (finished, "whole.csv")):
        tidy.write(tidy.read(space.folder / results).sort_values(list(tidy.KEY)), workspace.folder / name)
    assert_same_results(workspace.folder / "killed.csv", workspace.folder / "whole.csv")
    assert kept.items() <= cells_in(journal).items()
    assert not [path for path in workspace.folder.rglob(".partial-*") if ".snakemake" not in path.parts]


def told(done) -> list[str]:
    """What a refused plan says, which is all that it says."""
    assert done.returncode == 1
    output = done.stdout + done.stderr
    assert not re.search(r"Traceback|\.smk|WorkflowError|Exception", output)
    lines = [line for line in output.splitlines() if line and not line.startswith("Config file")]
    assert len(lines) < 10
    return lines


def test_mistakes_in_the_settings_are_a_line_each_and_nothing_else(workspace):
    lines = told(workspace.snakemake("--dry-run", "--config", "repeat=3", "seed=x", check=False))
    assert [line.partition(":")[0] for line in lines] == ["--config", "--config"]


SLIPS = {
    "seed: 1\nseed: 2\n": "line 2: the key 'seed' is given twice",
    None: "cannot be read: No such file or directory",
}


@pytest.mark.parametrize("content", SLIPS)
def test_a_slip_in_a_file_of_the_command_line_is_told_with_its_line(workspace, content):
    """Snakemake reads it first, and says of none of them which and where."""
    (workspace.folder / "good.yaml").write_text("seed: 1\n")
    if content is not None:
        (workspace.folder / "mine.yaml").write_text(content)
    workspace.environment["PYTHONPATH"] = str(workspace.folder / "src")
    (line,) = told(workspace.snakemake("--cores", "1", "--configfile", "good.yaml", "mine.yaml", check=False))
    assert line.startswith(f"mine.yaml: {SLIPS[content]}")


def test_a_slip_in_the_settings_of_the_repository_is_told_with_its_line(workspace):
    config = workspace.folder / "config" / "config.yaml"
    config.write_text(config.read_text("utf-8") + "seeds: [1\n", "utf-8")
    (line,) = told(workspace.snakemake("--dry-run", check=False))
    assert re.match(r"config/config\.yaml: line \d+: did not find expected", line)


def test_ctrl_c_while_the_plan_is_made_is_a_line(workspace):
    path, here = workspace.folder / "rules/publish.smk", workspace.folder / "here"
    wait = f"__import__('pathlib').Path({str(here)!r}).touch()\n__import__('time').sleep(60)\n\n\n"
    path.write_text(wait + path.read_text("utf-8"), "utf-8")
    with (workspace.folder / "output").open("w+") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--dry-run"], cwd=workspace.folder, env=workspace.environment,
            stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            # whoever runs the tests in the background may ignore it
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        while not here.exists() and process.poll() is None:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all that run there
        assert process.wait(30) != 0
        output.seek(0)
        lines = output.read().splitlines()
    assert lines[-1] == "interrupted; the same command goes on from what is finished"
    assert not [line for line in lines if re.search(r"Traceback|KeyboardInterrupt|File \"", line)]


def test_targets_that_nothing_is_drawn_for_are_an_error(workspace):
    # of the survey the figures of facts would be left, which need no rows
    done = workspace.snakemake("--dry-run", "nsrf", "--config", "only_experiments=slsrff-text", check=False)
    assert done.returncode == 1
    assert not re.search(r"Traceback|Exception", done.stdout + done.stderr)
    assert done.stderr.splitlines()[-1] == (
        "nothing to do: no table or figure paper=nsrf is drawn from quick rows of slsrff-text alone; ask for rows, "
        "e.g. results/quick/slsrff-text.csv"
    )


def test_rows_of_an_experiment_that_is_not_in_the_run_are_an_error(workspace):
    target = "results/quick/slsrff-code-large.csv"  # of original data only
    done = workspace.snakemake("--dry-run", target, "--config", "only_experiments=slsrff-code,slsrff-text", check=False)
    assert done.returncode == 1
    assert not re.search(r"Traceback|Exception", done.stdout + done.stderr)
    assert done.stderr.splitlines()[-1] == (
        "no experiment of this run (quick) is called 'slsrff-code-large'; did you mean slsrff-code? "
        "known are slsrff-code, slsrff-text"
    )


def test_a_folder_with_braces_in_its_path_is_refused_in_a_line(workspace, tmp_path):
    folder = tmp_path / "a{b}"
    folder.mkdir()
    for name in ("Snakefile", "rules", "config", "src"):
        (folder / name).symlink_to(workspace.folder / name)
    shutil.copy(workspace.folder / "Snakefile", folder / "copy")
    (folder / "Snakefile").unlink()
    (folder / "copy").rename(folder / "Snakefile")
    workspace.folder = folder
    (line,) = told(workspace.snakemake("--dry-run", check=False))
    assert "Snakemake takes the braces in this path for wildcards" in line


def test_a_mirror_is_no_input_of_a_number(workspace, tmp_path):
    """Set, changed or unset, it reruns nothing; braces in its path are part of its name."""
    mirror = tmp_path / "{mirror}"
    (mirror / "toy").mkdir(parents=True)
    content = b"a,1\n" * 3 + b"b,2\n" * 3
    (mirror / "toy" / "toy.csv").write_bytes(content)
    sources = workspace.folder / "config/sources.yaml"
    sources.write_text(
        sources.read_text()
        + f"""
toy:
  title: Toy
  citation: Toy
  licence: none
  page: https://example.org
  files:
    toy.csv: {{sha256: {hashlib.sha256(content).hexdigest()}, bytes: 24, addresses: [{{url: "http://127.0.0.1:9/toy"}}]}}
"""
    )
    record = "data/raw/toy/record.json"
    workspace.snakemake("--cores", "1", record, "--config", f"mirror={mirror}")
    assert (workspace.folder / "data/raw/toy/toy.csv").read_bytes() == content
    for setting in (["mirror="], [f"mirror={tmp_path}"]):
        done = workspace.snakemake("--dry-run", "--cores", "1", record, "--config", *setting)
        assert "Nothing to be done" in done.stdout + done.stderr


def test_missing_data_become_skipped_rows_when_they_are_allowed(workspace):
    sources = workspace.folder / "config/sources.yaml"
    # a port of this machine that nothing listens on: no test asks the real addresses
    sources.write_text(re.sub(r"https?://[^\s/]+", "http://127.0.0.1:9", sources.read_text()))
    settings = (
        "preset=laptop", "only_experiments=survey-gaussian-text", "only_datasets=eeg", "only_methods=rff,qmc",
        "shard_by=[experiment]",
    )  # fmt: skip
    rows, table = "results/laptop/survey-gaussian-text.csv", "figures/laptop/survey/table-07-text.md"
    refused = workspace.snakemake("--cores", "1", rows, "--config", *settings, check=False)
    assert refused.returncode != 0
    log = (workspace.folder / "logs/download/eeg.log").read_text()
    assert "data/raw/eeg/EEG Eye State.arff" in log
    assert "RFSTUDY_MIRROR" in log
    workspace.snakemake("--cores", "2", rows, table, "--config", *settings, "allow_missing=true")
    rows = tidy.read(workspace.folder / rows)
    assert rows["status"].eq("skipped").all()
    assert rows["settings"].str.contains("reason").all()
    assert set(rows["method"]) == {"", "rff", "qmc"}


def test_stand_ins_are_not_published(finished):
    done = finished.rfstudy(
        "publish", "--out", "measured.csv.xz", "results/quick/survey-gaussian-text.csv", check=False
    )
    assert done.returncode == 1
    assert "are of stand-ins; nothing is published" in done.stderr
    assert not (finished.folder / "measured.csv.xz").exists()


def test_features_of_another_task_go_through_the_chain(workspace, page, plain):
    """Images, their histograms of gradients, ten principal components of these, features of twice as many: extracted
    once, split and fitted by repeat, and computed again here.
    """
    (task,) = page("adding-a-dataset.md").blocks("yaml", "As features of another task")
    tasks = workspace.folder / "config/datasets.yaml"
    tasks.write_text(f"{tasks.read_text(encoding='utf-8')}\n{task}", encoding="utf-8")
    steps = ["standard", {"pca": {"n_components": 10}}]
    line = f"    mnist-1-7-hog: {{preprocess: {json.dumps(steps)}}}\n"
    workspace.insert("config/experiments/slsrff.yaml", line, before="    magic04: {preprocess: [minmax]}\n")
    settings = (
        "only_experiments=slsrff-text", "only_datasets=mnist-1-7-hog", "only_methods=rff", "only_sizes=2d", "repeats=2",
    )  # fmt: skip
    results = "results/quick/slsrff-text.csv"
    done = workspace.snakemake("--cores", "2", results, "--config", *settings)
    assert planned(done.stdout + done.stderr)["preprocess"] == 2  # the images, and once their features
    rows = tidy.read(workspace.folder / results)
    assert rows["status"].eq("ok").all()
    assert rows["stand_in"].str.startswith("hog of ").all()
    measured = rows[rows["method"].eq("rff")]
    assert set(measured["d"]) == {10}
    assert set(measured["n_features"]) == {20}
    assert len(measured) == 2 * 2
    for row in plain(measured):
        X, y, X_test, y_test = workspace.split_rows("mnist-1-7-hog", row.repeat, steps)
        assert X.shape == (row.n_train, 10)
        kernel, seed = Gaussian(np.sqrt(0.5)), seed_of(row.seed, "features", "mnist-1-7-hog", "rff", 20, row.repeat)
        phi = make_map("rff", kernel, n_components=20, device="cpu", random_state=seed).fit(X)
        Z, Z_test = phi.transform(X).astype(float), phi.transform(X_test).astype(float)
        if row.metric == "accuracy_pct":
            shift = len(Z) * json.loads(row.settings)["penalty"] * np.eye(40)
            decision = Z_test @ np.linalg.solve(Z.T @ Z + shift, Z.T @ y)
            expected = 100 * np.mean(np.where(decision > 0, 1, -1) == y_test)
            assert row.value == pytest.approx(expected, abs=200 / row.n_test)
        else:
            assert row.metric == "approximation_error_spectral"
            exact = kernel(X.astype(float))  # fewer rows than the error is measured on at most
            error = np.linalg.norm(exact - Z @ Z.T, 2) / np.linalg.norm(exact, 2)
            assert row.value == pytest.approx(error, rel=1e-4)
