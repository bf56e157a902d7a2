"""The command line: one subcommand per rule of the workflow, ``python -m rfstudy <stage> ...``.

Everything a stage needs comes as options, mappings in a JSON file, so that a line of a log can be pasted and run.
Stages are imported when they are called: ``--help`` answers at once.
"""

import atexit
import contextlib
import gc
import importlib
import os
import sys
import threading
from functools import partial, reduce
from pathlib import Path
from time import sleep

import click

from random_features.__main__ import maps, run
from random_features.compare.command import compare
from random_features.errors import UserError
from rfstudy import __version__
from rfstudy.files import read_choices, read_json, read_yaml
from rfstudy.study.code import load_as_planned
from rfstudy.study.job import merge, read_parts

#: Seconds between two checks of the process of the workflow.
LOOK_SECONDS = 2.0

EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
EXISTING_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


#: The option that names the folder of the configuration.
CONFIG = click.option(
    "--config", "folder", type=EXISTING_FOLDER, default="config", show_default=True, help="The configuration."
)

#: The option that gives a job the code with which it was planned.
CODE = click.option(
    "--code",
    type=EXISTING_FILE,
    callback=lambda context, option, path: path and load_as_planned(path),
    expose_value=False,
    help="File with the hashes of the modules that run: none may have been edited since the plan was made.",
)


def read_work(context, option, path):
    """Return the content of a work file. One that cannot be read, or of another form, is an error of the argument."""
    stage = context.command.name
    try:
        work = read_json(path)
        if not isinstance(work, list) or not all(
            isinstance(each, dict) and each.get("stage") == stage and isinstance(each.get("out"), str) for each in work
        ):
            raise ValueError(f"it is no list of mappings, each with the stage {stage!r} and a path 'out'")
        return work
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{path} is no work file: {error}; the workflow writes it before its jobs") from error


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(version=__version__, prog_name="rfstudy")
def commands():
    """Random features for kernel methods: regenerate and check four papers, stage by stage."""


def stage_command(name: str, package: str, summary: str) -> None:
    """Add the subcommand of a rule; its work file lists stages and the arguments of their ``run``, one by one."""

    @commands.command(name, help=f"{summary} WORK is a file that the workflow writes.")
    @click.argument("work", callback=read_work)
    @CODE
    def command(work, threads=None):
        for arguments in work:
            stage = arguments.pop("stage")
            print(f"{stage} {arguments['out']}", flush=True)
            if threads and stage != "time":  # timed work has its own number of threads
                arguments["threads"] = threads
            importlib.import_module(f"rfstudy.{package}.{stage}").run(**arguments_of(stage, arguments))

    if name in ("tune", "train", "measure", "time"):
        threads = click.option("--threads", type=click.IntRange(min=1), help="Threads; those of time are in its work.")
        threads(command)


def arguments_of(stage: str, stated: dict) -> dict:
    """Return the arguments of a stage, with the content of the files that its work file names."""
    found = {key: read_parts(stated[key]) for key in ("parts", "specs") if key in stated}
    if "tuned" in stated:
        found["chosen"] = {dataset: of for path in stated.pop("tuned") for dataset, of in read_choices(path).items()}
    if stage == "download":  # the content is the same with any mirror
        found["mirror"] = os.environ.get("RFSTUDY_MIRROR")
    if stage == "preprocess":
        from rfstudy.study.provenance import Run

        found["record_of"] = Run(stage, stated["task"], 1, stated.get("device", "cpu")).finished
    if stage == "draw":
        from rfstudy.data.entries import read_tasks

        found |= {"methods": read_yaml(stated["methods"]), "tasks": read_tasks(stated["tasks"])}
    return stated | found


for _name, _package, _summary in (
    ("download", "data", "Fetch the files of a source and check their content."),
    ("preprocess", "data", "Make the rows of tasks (from files, by a generator, from others) and facts about them."),
    ("tune", "study", "Choose by validation what an experiment leaves to a search."),
    ("train", "study", "Draw and fit the maps of shards, and train and test learners on their features."),
    ("measure", "study", "Measure what is no grid of accuracies: variances of estimates, memory, rates of errors."),
    ("time", "study", "Take the times of all methods of an experiment on a data set, in rounds."),
    ("collect", "study", "Put the shards of an experiment together."),
    ("publish", "study", "Replace the blocks of the shipped measurements by finished real-data rows."),
    ("draw", "report", "Draw tables and figures from the rows of experiments and the published numbers."),
):
    stage_command(_name, _package, _summary)


#: The options that select a run, as Snakemake has them.
CONFIGFILE = click.option("--configfile", type=EXISTING_FILE, default="config/presets/paper.yaml", show_default=True)
SETTINGS = click.option(
    "--config", "settings", multiple=True, metavar="KEY=VALUE", help="A key of the configuration; repeatable."
)


#: The option that names the table that a command writes.
TABLE = click.option("--out", type=FILE, help="The CSV file, in results/<preset> by default.")


def study_of(configfile, settings):
    """Return the configuration of a run: ``config.yaml``, a file and ``KEY=VALUE`` laid over each other."""
    import yaml

    from rfstudy.planning.config import load_study, restore_names

    try:
        given = {key: yaml.safe_load(value) for key, value in (each.split("=", 1) for each in settings)}
    except (ValueError, yaml.YAMLError) as error:
        raise click.BadParameter(f"{', '.join(settings)}: write KEY=VALUE, in YAML", param_hint="--config") from error
    restore_names(given, settings)
    files = "config/config.yaml", configfile
    laid = partial(merge, null_removes=False)  # as Snakemake lays them
    return load_study(reduce(laid, [*map(read_yaml, files), given]), Path("config"), files)


@commands.command()
@CONFIGFILE
@SETTINGS
@TABLE
def design(configfile, settings, out):
    """Write what a run computes as one table, a row per entry, size and learner of a job, and print its totals."""
    from rfstudy.planning import design as stage

    study = study_of(configfile, settings)
    out = out or Path("results", study.settings["preset"], "design.csv")
    print(stage.write(stage.table(study, Path(), Path("config")), out), f"\n\nThe table: {out}")


@commands.command()
@CONFIGFILE
@SETTINGS
@TABLE
@click.option("--fit", is_flag=True, help="Fit the model to the shipped records of CONFIGFILE instead of planning.")
def plan(configfile, settings, out, fit):
    """Print what the jobs of a run request and are expected to take, per stage, and write them as one table."""
    from rfstudy.planning import cost_fit, cost_plan
    from rfstudy.planning.jobs import Jobs

    study = study_of(configfile, settings)
    if fit:
        print(cost_fit.fit(study, "data/measured", "config/slices.csv", "config/costs.json")["factor"])
        return
    print(cost_plan.write(Jobs(study, Path()), out or Path("results", study.settings["preset"], "plan.csv")))


@commands.command()
@CODE
@click.option("--root", type=EXISTING_FOLDER, default=".", show_default=True, help="Folder of the repository.")
@click.option("--out", type=FILE, required=True, help="File that lists what the pictures were made from.")
def render(root, out):
    """Write README.md, its pictures and the pages of docs that have templates from the shipped measurements."""
    from rfstudy import render as stage

    stage.run(root, out)


@commands.command()
@click.argument("what", nargs=-1, required=True)
def trace(what):
    """Print the rows, the run, the commit and the command behind a NUMBER, a cell (COLUMN=VALUE ...), or both."""
    from rfstudy.trace import trace as trace_of

    number = "" if "=" in what[0] else what[0]
    stated = [each.partition("=") for each in what[bool(number) :]]
    if not all(separator for _, separator, _ in stated):
        raise UserError("after the number come columns and their values, such as experiment=arena dataset=eeg")
    print(trace_of(number, {column: value for column, _, value in stated}))


@commands.command()
@click.argument("collection", type=EXISTING_FOLDER)
def index(collection):
    """Write the index page of a COLLECTION of tables and figures, such as figures/quick."""
    from rfstudy import index as stage

    print(f"All tables and figures: {stage.run(collection)}")


@commands.command()
@CONFIG
@click.argument("presets", nargs=-1)
def check(folder, presets):
    """Build every kernel, map, learner and kind that the experiments of PRESETS (by default all) name, once, and check
    the entries of tables and figures, and that claims have functions.
    """
    from rfstudy.outputs import configured, ids_of_claims
    from rfstudy.planning.check import problem_of, problems_of_preset
    from rfstudy.planning.config import stop_at
    from rfstudy.report.catalogue import modules_of
    from rfstudy.report.claims import registry
    from rfstudy.study.kinds.registry import KINDS

    *_, experiments, outputs = configured(folder)
    modules = [name for one in outputs for name in modules_of(one)] + [f"rfstudy.study.kinds.{kind}" for kind in KINDS]
    broken = dict.fromkeys(problem_of(importlib.import_module, {"name": name}) for name in modules)
    stop_at(list(filter(None, broken)))
    for paper in sorted({each["paper"] for each in outputs if "claims" in each}):
        stop_at(registry.problems(paper, ids_of_claims(folder, paper), experiments))
    named = presets or [path.stem for path in sorted((folder / "presets").glob("*.yaml"))]
    found = [(problem, preset) for preset in named for problem in problems_of_preset(folder, preset)]
    presets_with = {problem: ", ".join(preset for other, preset in found if other == problem) for problem, _ in found}
    stop_at([f"{presets}: {problem}" for problem, presets in presets_with.items()])
    print(f"no problem in the presets {', '.join(named)}")


commands.add_command(maps)
commands.add_command(CODE(compare))


@commands.command()
@click.argument("file", type=EXISTING_FILE)
@click.option("--target", help="Column to predict; LIBSVM files name it themselves.")
@click.option("--name", help="Id of the task; by default the name of the file.")
@CONFIG
def add(file, target, name, folder):
    """Add the table in FILE to the study: the YAML of its source, its task and an experiment."""
    from rfstudy.add import add as run

    run(file, target, folder, name)


@commands.command()
@click.argument("page", type=EXISTING_FILE, default="config/README.md")
def readme(page):
    """Write the tables of PAGE (by default config/README.md) and the JSON schemas in ``schemas`` next to it from the
    models that check the configuration.
    """
    from rfstudy import readme as stage
    from rfstudy import schemas

    stage.run(page)
    schemas.run(Path(page).parent / "schemas")


def end_with_the_workflow():
    """End this process when the workflow that started it is gone. Do nothing if no workflow started it.

    A killed workflow cannot end its jobs. They would continue, write where the next run works, and use its processors.
    ``rules/common.smk`` leaves the number of its process in the environment.
    """
    if number := os.environ.get("RFSTUDY_WORKFLOW"):
        import psutil

        for workflow in (each for each in psutil.Process().parents() if str(each.pid) == number):
            threading.Thread(target=wait_for_the_end_of, args=(workflow,), daemon=True).start()


def wait_for_the_end_of(workflow):
    """End this process, and those that it started, when another process is gone. Finished cells are in the journal."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        # a process that has ended is still listed until its parent waits for it
        while workflow.is_running() and workflow.status() != psutil.STATUS_ZOMBIE:
            sleep(LOOK_SECONDS)
    said = "error: the workflow that started this job is gone, so the job ends; the next one resumes"
    print(said, file=sys.stderr, flush=True)
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            child.kill()
    os._exit(1)


def main():
    """Run a subcommand. An error that a user can fix is one line without a traceback."""
    # The imports of a stage make some 250,000 objects that live as long as the process. The garbage collector would
    # scan them hundreds of times while they are made, and once more at the end: a third of the time of a short job.
    gc.set_threshold(50_000, 20, 100)
    atexit.register(gc.freeze)
    end_with_the_workflow()
    run(commands)
