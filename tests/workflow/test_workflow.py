"""The workflow as a user runs it: planning, running, resuming, rerunning after an edit, and its error messages."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from itertools import product

import pandas as pd
import pytest

from rfstudy import tidy
from rfstudy.study.journal import Log
from rfstudy.study.provenance import read_records

RESULTS = "results/quick/survey-gaussian-text.csv"
COMPUTE = ("preprocess", "tune", "train", "measure", "time")


def planned(output: str) -> dict[str, int]:
    """Return the jobs by rule, from the job table that Snakemake prints."""
    table = output.split("Job stats:")[1]
    return {name: int(count) for name, count in re.findall(r"^(\w+)\s+(\d+)\s*$", table, re.MULTILINE)}


@pytest.mark.parametrize(("preset", "most"), [("quick", 129), ("laptop", 1499), ("paper", 1499)])
def test_a_dry_run_of_every_preset_stays_within_its_budget_of_jobs(repository, preset, most):
    preset_file = ("--configfile", f"config/presets/{preset}.yaml")
    # the Snakefile finds the package by itself
    done = repository.snakemake("--dry-run", "--cores", "2", *preset_file, PYTHONPATH="")
    jobs = planned(done.stdout)
    of_stages = {stage: sum(n for rule, n in jobs.items() if rule.split("_")[0] == stage) for stage in COMPUTE}
    assert all(of_stages.values())
    assert (jobs["total"] if preset == "quick" else sum(of_stages.values())) <= most


def test_a_figure_that_is_named_computes_only_its_own_data_sets(repository):
    done = repository.snakemake("--dry-run", "--cores", "2", "figures/quick/survey/figure-09-text.pdf")
    part = "survey-gaussian-text.ijcnn1.cod-rna.covtype.letter-am-nz"
    messages = re.findall(r"^Job \d+: (\w+ \S+)", done.stdout, re.MULTILINE)
    assert set(messages) == {
        "preprocess 21", f"tune {part}/all:", f"train {part}/all:", f"time {part}/ijcnn1:", f"collect {part}:",
        "figure quick/survey/figure-09-text",
    }  # fmt: skip


def assert_same_results(left, right) -> None:
    """Equal rows but for their runs; errors to 1e-5 relative, accuracies to two test rows."""
    columns = [c for c in left.columns if c not in ("value", "settings", "run")]
    pd.testing.assert_frame_equal(left[columns], right[columns])
    assert list(left["value"].isna()) == list(right["value"].isna())
    measured = left["value"].notna()
    two_rows = (200.0 / left["n_test"].astype("Float64")).fillna(0).astype(float)
    tolerance = two_rows.where(left["metric"].eq("accuracy_pct"), 1e-5 * left["value"].abs())
    assert (((left["value"] - right["value"]).abs() <= tolerance) | ~measured).all()


def test_the_small_study_ends_in_complete_tables_and_figures(finished):
    results = tidy.read(finished.folder / RESULTS)
    # 2 data sets x 2 methods x 3 sizes x 2 repeats
    assert len(results[results["metric"].eq("approximation_error_frobenius")]) == 2 * 2 * 3 * 2
    accuracies = results[results["metric"].eq("accuracy_pct")]
    # of one of the learners the command line asks for fewer repeats
    assert accuracies.groupby("learner").size().to_dict() == {"ridge": 2 * 2 * 3 * 2, "svm": 2 * 2 * 3 * 1}
    # every preset takes times of examples: one data set, two sizes, three rounds, by two clocks
    times = results[results["metric"].str.match("(time|cpu)_transform_s")]
    assert times.groupby("method").size().to_dict() == dict.fromkeys(["rff", "lsrff"], 2 * 3 * 2)
    assert set(times["dataset"]) == {"eeg"}
    assert results.loc[results["method"].ne(""), "status"].eq("ok").all()
    assert results["stand_in"].ne("").all()
    # every row, facts included, points to the record of a run
    assert set(results["run"]) == set(read_records(finished.folder / RESULTS))
    drawn = {p.name for p in (finished.folder / "figures/quick/survey").iterdir()}
    for name in ("figure-10-text.png", "values-approximation-error-text.md", "table-07-text.tex"):
        assert name in drawn
    assert "figure-09-text.pdf" not in drawn  # none of its data sets was run


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
    # the log has the details behind the message of the job
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
    assert "train survey-gaussian-text/eeg: 30 cells on eeg" in said
    assert said[-1] == "done"
    # nothing but the head, a line a job, and one more for those that took long
    reported = [line for line in said[:-1] if not line.startswith("done in ")]
    assert len(reported) == number
    others = [line for line, match in zip(finished.console, lines, strict=True) if not match]
    assert f"{number} jobs: " in others[-1]
    assert len(others) <= 2
    (timed,) = [what for what in said if what.startswith("time ")]
    assert re.search(r"waits for an idle machine, at most \d+ times as long as without \(\d+ s\)$", timed)


#: Modules that are edited at their end, and a setting; the shards whose jobs of tune and train run again, and those of
#: time. What follows an edited job in the chain runs again, too.
CHANGES = {
    # all maps share a penalty, which is chosen with all of them
    "random_features/maps/leverage.py": (["eeg", "magic04"], ["eeg"]),
    "rfstudy/data/steps/standard_rows.py": (["eeg"], ["eeg"]),
    "rfstudy/study/time.py": ([], ["eeg"]),
    # what none of them reruns, all of them together do not
    "random_features/maps/registry.py random_features/maps/quasi.py rfstudy/study/kinds/decay.py "
    "rfstudy/data/bandwidths/median.py rfstudy/report/tables/accuracy.py": ([], []),
    "seed=7": (["eeg", "magic04"], ["eeg"]),
}


@pytest.mark.parametrize("changed", CHANGES, ids=str)
def test_a_change_reruns_exactly_its_users(finished, changed):
    settings = [word for word in changed.split() if "=" in word]
    modules = (finished.folder / "src" / word for word in changed.split() if word not in settings)
    before = {path: path.read_text() for path in modules}
    try:
        for path, text in before.items():
            path.write_text(text + "\nEDITED = True\n")
        done = finished.snakemake("--dry-run", "--cores", "2", *finished.arguments, *settings)
    finally:
        for path, text in before.items():
            path.write_text(text)
    again = re.findall(r"^Job \d+: (train|tune|time) [\w-]+/([\w.-]+):", done.stdout, re.MULTILINE)
    chosen, timed = CHANGES[changed]
    assert set(again) == {*product(("tune", "train"), chosen), *product(["time"], timed)}


def cells_in(journal) -> dict[str, tuple]:
    """The cells, and the records of runs, in the files of a journal: which file has each, and where."""
    found = ((key, path, start) for path in sorted(journal.glob("*.cells")) for key, start, _ in Log(path).records())
    return {key: (path.name, start) for key, path, start in found}


#: What every Python of a job loads first: when ``train`` has kept three cells, it kills the workflow and waits.
KILLER = """
import os, signal, sys
from pathlib import Path

if "train" in sys.argv and not Path("killed").exists():
    from rfstudy.study.journal import Log

    append, kept = Log.append, []

    def append_and_kill(log, *arguments):
        kept.append(append(log, *arguments))
        if len(kept) == 4:  # the first is the record of the run
            Path("killed").touch()
            os.kill(int(os.environ["RFSTUDY_WORKFLOW"]), signal.SIGKILL)
            signal.pause()
        return kept[-1]

    Log.append = append_and_kill
"""


def test_a_workflow_that_is_killed_takes_its_jobs_along_and_the_next_ends_in_the_same_table(finished, workspace):
    """The killed one leaves a lock, which --unlock removes, and a journal. It has one core, the finished one had two:
    their numbers are the same.
    """
    (workspace.folder / "src/sitecustomize.py").write_text(KILLER)
    arguments = ("--cores", "1", RESULTS, "--rerun-incomplete", "--config", *finished.small, "only_datasets=eeg")
    # this returns when nothing has the output open any more: the waiting job has ended, too
    killed = workspace.snakemake(*arguments, check=False)
    assert killed.returncode == -signal.SIGKILL
    kept = cells_in(workspace.folder / "results/quick/.journal/train")
    assert len(kept) == 4
    assert not (workspace.folder / RESULTS).exists()
    workspace.snakemake("--unlock")
    workspace.snakemake(*arguments)
    of_eeg = []
    for space in (workspace, finished):
        rows = tidy.read(space.folder / RESULTS).sort_values(list(tidy.KEY))
        of_eeg.append(rows[rows["dataset"].eq("eeg") & ~rows["metric"].str.match("(time|cpu)_")].reset_index(drop=True))
    assert_same_results(*of_eeg)
    assert kept.items() <= cells_in(workspace.folder / "results/quick/.journal/train").items()
    assert not [path for path in workspace.folder.rglob(".partial-*") if ".snakemake" not in path.parts]


def refused(done) -> list[str]:
    """Return the lines of a refused plan, which prints nothing else."""
    assert done.returncode == 1
    output = done.stdout + done.stderr
    assert not re.search(r"Traceback|\.smk|WorkflowError|Exception", output)
    lines = [line for line in output.splitlines() if line and not line.startswith("Config file")]
    assert len(lines) < 10
    return lines


def test_mistakes_in_the_settings_are_a_line_each_and_nothing_else(repository):
    lines = refused(repository.snakemake("--dry-run", "--config", "repeat=3", "seed=x", check=False))
    assert [line.partition(":")[0] for line in lines] == ["--config", "--config"]


def test_a_slip_in_a_file_of_the_command_line_is_reported_with_its_line(repository, tmp_path):
    """Snakemake reads it first, and does not say in which file and where the slip is."""
    good, mine = tmp_path / "good.yaml", tmp_path / "mine.yaml"
    good.write_text("seed: 1\n")
    mine.write_text("seed: 1\nseed: 2\n")
    (line,) = refused(repository.snakemake("--cores", "1", "--configfile", str(good), str(mine), check=False))
    assert line.startswith(f"{mine}: line 2: the key 'seed' is given twice")


def test_a_slip_in_the_settings_of_the_repository_is_reported_with_its_line(workspace):
    workspace.insert("config/config.yaml", "seeds: [1\n")
    (line,) = refused(workspace.snakemake("--dry-run", check=False))
    assert re.match(r"config/config\.yaml: line \d+: did not find expected", line)


def test_ctrl_c_while_the_plan_is_made_is_a_line(workspace):
    path = workspace.folder / "rules/publish.smk"
    path.write_text(f"print('here', flush=True)\n__import__('time').sleep(600)\n\n\n{path.read_text('utf-8')}", "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--dry-run"], cwd=workspace.folder, env=workspace.environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        # a shell may ignore it for tests in the background
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert "here\n" in iter(process.stdout.readline, "")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all that run there
    lines = process.stdout.read().splitlines()
    assert process.wait() != 0
    assert lines[-1] == "interrupted; the same command goes on from what is finished"
    assert not [line for line in lines if re.search(r"Traceback|KeyboardInterrupt|File \"", line)]


@pytest.mark.parametrize(
    ("target", "experiments", "message"),
    [
        # of the survey the figures of facts would be left, which need no rows
        ("nsrf", "slsrff-text", "nothing to do: no table or figure paper=nsrf is drawn from quick rows of slsrff-text "
         "alone; ask for rows, e.g. results/quick/slsrff-text.csv"),
        # of original data only
        ("results/quick/slsrff-code-large.csv", "slsrff-code,slsrff-text", "no experiment of this run (quick) is "
         "called 'slsrff-code-large'; did you mean slsrff-code? known are slsrff-code, slsrff-text"),
        ("results/quick/slsrff-text.eeg.skin.csv", "slsrff-text", "no data set of slsrff-text in this run is called "
         "'skin'; known are cod-rna, covtype, eeg, magic04"),
    ],
)  # fmt: skip
def test_a_target_that_is_not_of_this_run_is_an_error(repository, target, experiments, message):
    done = repository.snakemake("--dry-run", target, "--config", f"only_experiments={experiments}", check=False)
    assert done.returncode == 1
    assert not re.search(r"Traceback|Exception", done.stdout + done.stderr)
    assert done.stderr.splitlines()[-1] == message


def test_a_run_that_would_ignore_what_it_is_asked_for_is_refused_in_a_line(repository):
    """Fewer triggers ignore a changed setting."""
    (line,) = refused(repository.snakemake("--dry-run", "--rerun-triggers", "mtime", check=False))
    assert line.startswith("--rerun-triggers: leave it out")


def test_a_selection_of_shipped_rows_is_in_the_name_of_a_file(repository):
    own = ("--config", "only_methods=rff,orf")
    done = repository.snakemake("--dry-run", "figures/measured/survey/figure-09-text.pdf", *own)
    other = "figures/measured/survey/figure-09-text-only-rff-orf.pdf"
    assert f"figure-09-text shows all methods and data sets; {other} shows those selected" in done.stderr
    done = repository.snakemake("--dry-run", "figures/measured/survey/figure-09-text-only-rff-orf.csv", *own)
    assert "figure measured/survey/figure-09-text-only-rff-orf" in done.stdout + done.stderr


def test_a_changed_protocol_is_in_the_name_of_a_file(repository):
    change = "experiments={survey-gaussian-text: {learners: {ridge: {n_folds: 3}}}}"
    done = repository.snakemake("--dry-run", "--cores", "1", "survey_figure_10", "--config", change)
    assert "figures/quick/survey/figure-10-text-with-n-folds-3.pdf" in done.stdout + done.stderr
    assert "figures/quick/survey/figure-10-code.pdf" in done.stdout + done.stderr


@pytest.mark.parametrize("target", ["2024_01", "0", "007", "price #1"])
def test_a_column_has_the_name_that_the_command_line_has(repository, target):
    """Snakemake takes these names for numbers, and the end of the last for a comment of YAML."""
    own = ("--config", "own=Snakefile", f"target={target}")
    done = repository.snakemake("--dry-run", "-p", "--workflow-profile", "none", "compare", *own)
    assert f" --target {shlex.quote(target)} " in done.stdout + done.stderr


def test_a_folder_with_braces_in_its_path_is_refused_in_a_line(repository, tmp_path):
    folder = tmp_path / "a{b}"
    folder.mkdir()
    shutil.copy(repository.folder / "Snakefile", folder)
    for name in ("rules", "config", "src", "envs"):
        (folder / name).symlink_to(repository.folder / name)
    (line,) = refused(repository.snakemake("--dry-run", "--directory", folder, "-s", folder / "Snakefile", check=False))
    assert "Snakemake takes the braces in this path for wildcards" in line


def test_a_mirror_is_no_input_of_a_number(workspace, tmp_path):
    """Unset, it reruns nothing; braces in its path are part of its name."""
    mirror, content = tmp_path / "{mirror}", b"a,1\n" * 3 + b"b,2\n" * 3
    workspace.add_toy(mirror, content)
    record = "data/raw/toy/record.json"
    workspace.snakemake("--cores", "1", record, "--config", f"mirror={mirror}")
    assert (workspace.folder / "data/raw/toy/toy.csv").read_bytes() == content
    done = workspace.snakemake("--dry-run", "--cores", "1", record, "--config", "mirror=")
    assert "Nothing to be done" in done.stdout + done.stderr


def test_missing_data_become_skipped_rows_when_they_are_allowed(workspace):
    workspace.go_offline()
    settings = (
        "preset=laptop", "only_experiments=survey-gaussian-text", "only_datasets=eeg", "only_methods=rff,qmc",
        "shard_by=[experiment]",
    )  # fmt: skip
    rows, table = "results/laptop/survey-gaussian-text.csv", "figures/laptop/survey/table-07-text.md"
    workspace.snakemake("--cores", "2", rows, table, "--config", *settings, "allow_missing=true")
    rows = tidy.read(workspace.folder / rows)
    assert rows["status"].eq("skipped").all()
    assert rows["settings"].str.contains("reason").all()
    assert set(rows["method"]) == {"", "rff", "qmc"}
