"""The command line: one subcommand per rule of the workflow, ``python -m rfstudy <stage> ...``.

Everything a stage needs comes as options, mappings in a JSON file, so that a line of a log can be pasted and run.
Stages are imported when they are called: ``--help`` answers at once.
"""

import atexit
import contextlib
import errno
import gc
import importlib
import json
import os
import sys
import threading
from pathlib import Path
from time import sleep

import click

from random_features.errors import UserError
from rfstudy.files import read_choices, read_json, read_yaml
from rfstudy.study.code import load_as_planned
from rfstudy.study.job import read_parts


class WorkFile(click.ParamType):
    """A JSON file in which the workflow tells a job what to do."""

    name = "file"

    def convert(self, value, param, ctx):
        """Return what the file holds; a file that cannot be read is an error of the argument."""
        try:
            return json.loads(Path(value).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            self.fail(f"{value} is no work file: {error}; the workflow writes it before its jobs", param, ctx)


#: Errors of the disk, and of paths that no file can have, not of the code.
OF_THE_DISK = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOTDIR,
    errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP,
)  # fmt: skip

#: Seconds between two looks at the process of the workflow.
LOOK_SECONDS = 2.0

WORK = WorkFile()
EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
EXISTING_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


#: The option by which a job gets the code that it was planned with.
CODE = click.option(
    "--code",
    type=EXISTING_FILE,
    callback=lambda context, option, path: path and load_as_planned(path),
    expose_value=False,
    help="File with the hashes of the modules that run: none may have been edited since the plan was made.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name=None, version=__import__("rfstudy").__version__, prog_name="rfstudy")
def commands():
    """Random features for kernel methods: regenerate and check four papers, stage by stage."""


@commands.command()
@CODE
@click.option("--source", "source_id", required=True, help="Id of the source (config/sources.yaml).")
@click.option("--spec", type=WORK, required=True, help="JSON file: the source's entry (config/sources.yaml).")
@click.option(
    "--mirror",
    default="",
    envvar="RFSTUDY_MIRROR",
    show_envvar=True,
    help="Folder <mirror>/<dataset>/<file>[.xz|.gz] to look in first.",
)
@click.option("--lock", type=FILE, required=True, help="File that records what was trusted on first use.")
@click.option("--allow-missing", is_flag=True, help="Record a source that cannot be had instead of failing.")
@click.option("--out", type=FOLDER, required=True, help="Folder of the files and their record.json.")
def download(source_id, spec, mirror, lock, allow_missing, out):
    """Fetch the files of a source and check their content."""
    from rfstudy.data import download as stage

    stage.download(source_id, spec, out, lock_path=lock, mirror=mirror or None, allow_missing=allow_missing)


@commands.command()
@click.argument("name", required=False)
def maps(name):
    """List the random feature maps, or say what is known of the one of this NAME."""
    from random_features.maps.registry import described, list_maps

    print(described(name) if name else list_maps())


@commands.command()
@click.option("--spec", type=WORK, required=True, help="JSON file: entries of tasks (config/datasets.yaml), by id.")
@click.option("--raw", type=EXISTING_FOLDER, help="Folder of the downloaded source of a task that needs one.")
@click.option("--base", type=EXISTING_FOLDER, help="Folder of the prepared data that a task is made of.")
@click.option(
    "--chunk", "chunks", type=EXISTING_FILE, multiple=True, help="A chunk of a stream; all of them, in order."
)
@CODE
@click.option("--device", default="cpu", show_default=True, help="Where features are extracted: auto, cpu or cuda.")
@click.option("--reference", type=EXISTING_FOLDER, required=True, help="Folder of the published numbers (row lists).")
@click.option("--out", type=FOLDER, required=True, help="Folder in which each task has one: X.npy, y.npy, facts.json.")
def preprocess(spec, raw, base, chunks, device, reference, out):
    """Make the rows of tasks (from files, by a generator, from another task, from chunks) and the facts about them."""
    from rfstudy.data import preprocess as stage
    from rfstudy.study.provenance import Run

    told = {"reference_dir": reference, "base_dir": base, "chunks": chunks, "device": device}
    for task_id, task in spec.items():
        told_of = Run("preprocess", task, 1, device).finished
        stage.preprocess(task_id, task, raw, out / task_id, told_of=told_of, **told)


@commands.command()
@click.option("--dataset", required=True, help="Id of the task (config/datasets.yaml).")
@click.option("--spec", type=WORK, required=True, help="JSON file: the task's entry (config/datasets.yaml).")
@click.option("--raw", type=EXISTING_FOLDER, help="Folder of the downloaded source, where rows come from a file.")
@click.option("--base", type=EXISTING_FOLDER, required=True, help="Folder of the prepared data that rows are made of.")
@CODE
@click.option("--number", type=click.IntRange(min=0), required=True, help="Of the chunk, from 0.")
@click.option("--out", type=FILE, required=True, help="File of the chunk.")
def stream(dataset, spec, raw, base, number, out):
    """Make one chunk of the rows of a task that is streamed, and its second moment."""
    from rfstudy.data import preprocess as stage

    stage.write_chunk(dataset, spec, number, raw, base, out)


def stage_command(name: str, summary: str) -> None:
    """Add the subcommand of a rule; its work file lists stages and the arguments of their ``run``, shard by shard."""

    @commands.command(name, help=f"{summary} WORK is a file that the workflow writes.")
    @click.argument("work", type=WORK)
    @CODE
    @click.option("--threads", type=click.IntRange(min=1), help="Threads of tune, generate, train and measure.")
    def command(work, threads):
        for arguments in work:
            stage = arguments.pop("stage")
            print(f"{stage} {arguments['out']}", flush=True)
            for key in ("parts", "specs"):
                if key in arguments:
                    arguments[key] = read_parts(arguments[key])
            if "tuned" in arguments:
                chosen = map(read_choices, arguments.pop("tuned"))
                arguments["chosen"] = {dataset: of for choices in chosen for dataset, of in choices.items()}
            if threads and stage != "time":  # what is timed has threads of its own
                arguments["threads"] = threads
            importlib.import_module(f"rfstudy.study.{stage}").run(**arguments)


for _name, _summary in {
    "tune": "Choose by validation what an experiment leaves to a search.",
    "train": "Draw and fit the maps of shards, and train and test learners on their features.",
    "measure": "Measure what is no grid of accuracies: variances of kernel estimates, memory, rates of errors.",
    "time": "Take the times of all methods of an experiment on a data set, in rounds.",
    "collect": "Put the shards of an experiment together.",
}.items():
    stage_command(_name, _summary)


@commands.command()
@CODE
@click.option("--out", type=FILE, required=True, help="Published CSV.xz file whose blocks are replaced.")
@click.argument("results", type=EXISTING_FILE)
def publish(out, results):
    """Replace the blocks of the measurements that ship with the repository by finished real-data rows."""
    from rfstudy.study import publish as stage

    stage.run(results, out)


@commands.command()
@click.option("--outputs", type=EXISTING_FILE, required=True, help="JSON file of the outputs (report.catalogue).")
@click.option("--reference", type=EXISTING_FOLDER, required=True, help="Folder of the published numbers.")
@click.option("--methods", type=EXISTING_FILE, required=True, help="config/methods.yaml")
@click.option("--tasks", type=EXISTING_FILE, required=True, help="config/datasets.yaml")
@CODE
@click.option("--pages", type=FOLDER, help="Folder of the pages for Snakemake's report; without it none are made.")
@click.option("--out", type=FOLDER, required=True, help="Folder in which each paper has one.")
@click.argument("results", type=EXISTING_FILE, nargs=-1)
def draw(outputs, reference, methods, tasks, pages, out, results):
    """Draw tables and figures from the rows of experiments and the published numbers."""
    from rfstudy.data.entries import read_tasks
    from rfstudy.report import draw as stage

    stage.run(read_json(outputs), results, reference, read_yaml(methods), read_tasks(tasks), out, pages)


@commands.command()
@CODE
@click.option("--root", type=EXISTING_FOLDER, default=".", show_default=True, help="Folder of the repository.")
@click.option("--out", type=FILE, required=True, help="File that lists what the pictures were made from.")
def render(root, out):
    """Write README.md from its template and the shipped measurements, and its pictures in docs/pictures."""
    from rfstudy import templates as stage

    stage.run(root, out)


@commands.command()
@click.option(
    "--config", "folder", type=EXISTING_FOLDER, default="config", show_default=True, help="The configuration."
)
@click.argument("presets", nargs=-1)
def check(folder, presets):
    """Build every kernel, map, learner and kind that the experiments of PRESETS (by default all) name, once."""
    from rfstudy.study.build import problems_of_preset

    named = presets or [path.stem for path in sorted((folder / "presets").glob("*.yaml"))]
    problems = [f"{preset}: {problem}" for preset in named for problem in problems_of_preset(folder, preset)]
    if problems:
        raise UserError("\n".join(problems))
    print(f"in order: {', '.join(named)}")


@commands.command()
@click.argument("page", type=EXISTING_FILE, default="config/README.md")
def readme(page):
    """Write the tables of PAGE (by default config/README.md) from the models that check the configuration."""
    from rfstudy import readme as stage

    stage.run(page)


def spare_the_collector():
    """Have the garbage collector look seldom, and not at all at the end.

    What a stage imports makes some 250,000 objects that live as long as the process: by default they are gone through
    hundreds of times while they are made and once more when all is done, a third of the time of a short job.
    """
    gc.set_threshold(50_000, 20, 100)
    atexit.register(gc.freeze)


def end_with_the_workflow():
    """Have this process end when the workflow that started it is gone; nothing where none did.

    A workflow that is killed cannot end its jobs: they would go on, write where the next run works, and take its
    processors. ``rules/common.smk`` leaves the number of its process in the environment.
    """
    number = os.environ.get("RFSTUDY_WORKFLOW")
    if number:
        import psutil

        for workflow in psutil.Process().parents():
            if str(workflow.pid) == number:
                threading.Thread(target=wait_for_the_end_of, args=(workflow,), daemon=True).start()


def wait_for_the_end_of(workflow):
    """End this process, and those that it started, once another one is gone; finished cells are in the journal."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        # one that has ended and that nobody has waited for is still listed
        while workflow.is_running() and workflow.status() != psutil.STATUS_ZOMBIE:
            sleep(LOOK_SECONDS)
    print("error: the workflow that started this job is gone, so the job ends; the next one resumes", file=sys.stderr)
    sys.stderr.flush()
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            child.kill()
    os._exit(1)


def main():
    """Run a subcommand; an error that a user can mend is one line without a traceback."""
    spare_the_collector()
    end_with_the_workflow()
    try:
        commands.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Abort as abort:
        if isinstance(abort.__cause__, EOFError):
            raise abort.__cause__ from None  # a file that ends too early is no interruption
        sys.exit(130)
    except (UserError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in OF_THE_DISK:
            raise
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
