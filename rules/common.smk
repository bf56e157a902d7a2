# Pure helpers: the registries, the settings of this run, the shards of an experiment, their paths, and the code that
# a step depends on. This file has no rules.
import atexit
import gc
import hashlib
import json
import os
import re
import sys
import uuid
from functools import cache
from pathlib import Path

# Snakemake makes a million objects that live as long as the plan: none is garbage before jobs run (rules/console.smk)
gc.disable()
atexit.register(gc.freeze)

ROOT = Path(workflow.basedir)
CONFIG = ROOT / "config"
LIBRARIES = hashlib.sha256((ROOT / "envs" / "requirements.lock").read_bytes()).hexdigest()
sys.path.insert(0, str(ROOT / "src"))

from rfstudy.data import registry as data_registry
from rfstudy.data.entries import in_use
from random_features.errors import gathered
from rfstudy.files import read_yaml, record_file, write_text
from rfstudy.report import catalogue
from rfstudy.study import code as package_code
from rfstudy.study import cost, left_behind, plan, selection
from rfstudy.study.job import code_roots, searched
from rfstudy.models import suggestion
from rfstudy import outputs


def tell_shortly(kind, error, trace):
    """Print an uncaught error; print one line for Ctrl-C while the plan is made."""
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted; the same command goes on from what is finished", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


sys.excepthook = tell_shortly


def stop_at(problems):
    """End the workflow with its problems, and no other message, if there are any."""
    if problems:
        sys.exit("\n".join(problems))


# read before the workflow engine reads it, because the engine does not report the place of a mistake
PROBLEMS = []
with gathered(PROBLEMS):
    read_yaml(CONFIG / "config.yaml")
stop_at(PROBLEMS)


configfile: "config/config.yaml"


def load_study():
    """Return the configuration and the reports of this run, both checked before the DAG is built."""
    files = dict.fromkeys(["config/config.yaml", *map(str, reversed(workflow.configfiles))])
    with gathered(PROBLEMS):
        study = selection.load_study(config, CONFIG, files)
        reports = outputs.load_reports(CONFIG, study.experiments, study.methods, study.registry.tasks)
    stop_at(PROBLEMS)
    return study, reports


if set("{}") & set(str(ROOT)):
    stop_at([f"{ROOT}: Snakemake takes the braces in this path for wildcards: move the workflow to another folder"])

STUDY, REPORTS = load_study()
SETTINGS, REGISTRY, EXPERIMENTS = STUDY.settings, STUDY.registry, STUDY.chosen

# the origin of files is not a parameter of a job: their checksums are the same with any mirror
if SETTINGS["mirror"]:
    os.environ.update(RFSTUDY_MIRROR=SETTINGS["mirror"])

# a job finds its workflow by this number, and ends when the workflow is gone
os.environ.update(RFSTUDY_WORKFLOW=str(os.getpid()))

# Snakemake knows its executor only after this file; a limit of nodes, and no dry-run, says that it submits jobs
ON_CLUSTER = workflow.resource_settings.nodes is not None
if ON_CLUSTER and workflow.is_main_process and not {"-n", "--dry-run", "--dryrun", "--unlock"} & {*sys.argv}:
    stop_at(left_behind.settle(ROOT, SETTINGS["running"]))
    run = uuid.uuid4().hex
    os.environ.update(RFSTUDY_RUN=run)
    left_behind.record_run(ROOT, run)

PRESET = SETTINGS["preset"]
RESULTS = f"results/{PRESET}"
PREPARED = f"data/prepared/{SETTINGS['data']}"
EMBEDDED = SETTINGS["data"] == "embedded"
COSTS = cost.read_model(CONFIG / "costs.json")
TASKS = {name: in_use(task, embedded=EMBEDDED) for name, task in REGISTRY.tasks.items()}

# the suffixes of the files that each stage writes
ENDINGS = {
    "tune": ["json", "provenance.json"],
    "train": ["csv", "provenance.json"],
    "measure": ["csv", "provenance.json", "npz"],
    "time": ["csv", "provenance.json"],
}

# the stages that use the choices of ``tune``
TUNED = ("train", "time")

# a timed job has the machine to itself. Here it takes all cores; on a cluster its profile asks for a whole node
ALL_CORES = SETTINGS["threads"] if ON_CLUSTER else workflow.resource_settings.cores or 2


wildcard_constraints:
    dataset="[a-z0-9-]+",
    number="[0-9]+",
    experiment="[a-z0-9.-]+",
    shard="[a-z0-9.-]+",
    source="[a-z0-9-]+",
    paper="survey|eerf|nsrf|slsrff|study",


CODE = ROOT / ".snakemake" / "rfstudy-code"
package_code.load_known(CODE / "modules.json")
if workflow.is_main_process:
    atexit.register(package_code.save_known, CODE / "modules.json")


@cache
def code_of(*modules):
    """Return the file that lists the code that modules run, a parameter of a job.

    Its name has the hash of its content: an edit that changes the code's behaviour gives another file, and a rerun.
    """
    return os.path.relpath(package_code.stamp(CODE, *modules), ROOT)


@cache
def experiment_of(name):
    """Return an experiment, or its part on the data sets that follow its name: ``survey-gaussian-text.eeg.skin``."""
    name, *datasets = name.split(".")
    if name not in EXPERIMENTS:
        stop_at([f"no experiment of this run ({PRESET}) is called {name!r}; {suggestion(name, EXPERIMENTS)}"])
    own = EXPERIMENTS[name]
    return own | {"datasets": {each: own["datasets"][each] for each in datasets}} if datasets else own


@cache
def shards_of(stage, experiment):
    """Return the shards of a stage in an experiment, by name; empty if the stage has nothing to do."""
    found = cost.shards_of(stage, experiment_of(experiment), REGISTRY.tasks, SETTINGS, COSTS)
    return {shard.name: shard for shard in found}


@cache
def parts_of(stage, shard):
    """Return the work of a stage on a shard: one part per data set."""
    return plan.parts_of(stage, EXPERIMENTS[shard.experiment], shard, SETTINGS)


@cache
def needs_of(stage, shard):
    """Return the memory and run time of the first attempt of a job, its expected seconds and its GPUs."""
    return cost.needs(stage, EXPERIMENTS[shard.experiment], shard, REGISTRY.tasks, SETTINGS, COSTS)


def facts_file(dataset):
    """Return the file with the facts about a data set and the checksum of its rows; ``preprocess`` writes it last."""
    return f"{PREPARED}/{dataset}/facts.json"


FILES_OF_TASK = ("X.npy", "y.npy", "facts.json")


@cache
def tuned_files(stage, experiment, shard):
    """Return the files with the choices for a stage's job on a shard; none if there is nothing to choose."""
    chosen = shards_of("tune", experiment) if stage in TUNED else {}
    return sorted({chosen_file(experiment, each) for each in shard.datasets}) if chosen else []


@cache
def chosen_file(experiment, dataset):
    """Return the file with the choices of an experiment on a data set.

    An earlier experiment with the same work on a data set has already made the choice. A part of an experiment
    (``survey-gaussian-text.eeg``) makes its own, so that it computes nothing else.
    """
    others = [] if "." in experiment else EXPERIMENTS
    own = tune_part(experiment, dataset)
    for name in (*others, experiment):
        for shard in shards_of("tune", name).values():
            if dataset in shard.datasets and plan.same_choices(tune_part(name, dataset), own):
                return f"{RESULTS}/{name}/tune/{shard.name}.json"


@cache
def tune_part(experiment, dataset):
    """Return the work of ``tune`` for an experiment on one data set."""
    shard = next(each for each in shards_of("tune", experiment).values() if dataset in each.datasets)
    return plan.tune_part(plan.on_dataset(experiment_of(experiment), dataset), dataset, shard, SETTINGS)


# GPUs that the extractor of a task requests: none unless the configuration may use one
GPUS = int(SETTINGS["device"] == "cuda" or (SETTINGS["device"] == "auto" and bool(SETTINGS["device_from"])))


def memory_of_rows(dataset):
    """Return the memory in MB of a job that holds all rows of a task at once."""
    n, d = plan.rows_of(REGISTRY.tasks[dataset], SETTINGS)
    return int(700 + 24 * n * d / 2**20)


def counted(number, thing):
    """Return a number of things in words: 1 map, 9 maps."""
    return f"{number:,} {thing}{'s' * (number != 1)}"


# the work of jobs, as the text of their work files, by its hash
WORK = {}


def work_hash(work):
    """Return the hash of a job's work. Snakemake keeps it and runs the job again when it changes.

    Only this hash detects a change of a setting or of a map's default. Snakemake does not compare parameters that are
    functions of threads, so threads are an option of the command.
    """
    text = json.dumps(work, separators=(",", ":"))
    key = hashlib.sha256(text.encode()).hexdigest()
    WORK[key] = text
    return key


# the experiments of a run that names none of their outputs
ASKED_FOR = [name for name, experiment in EXPERIMENTS.items() if selection.is_asked_for(experiment, SETTINGS)]


def local_files(wildcards):
    """Return the local files of a source that exist: an edit of one causes a rerun."""
    files = REGISTRY.sources[wildcards.source]["files"].values()
    paths = [os.path.expanduser(entry["path"]) for entry in files if "path" in entry]
    return [path for path in paths if os.path.exists(path)]


def raw_record(wildcards):
    """Return the download that a task, or its extractor, needs; none for an embedded stand-in or without files."""
    source = data_registry.source_of(TASKS[wildcards.dataset])
    return f"data/raw/{source}/record.json" if source else []


def listed_rows(wildcards):
    """Return the list of the rows of a source that a paper used; none for other tasks and for embedded stand-ins."""
    name = data_registry.list_of_rows(TASKS[wildcards.dataset])
    return f"data/reference/{name}" if name else []


def base_files(wildcards):
    """Return the prepared data of the task from which a task is made; none for other tasks."""
    base = data_registry.base_of(TASKS[wildcards.dataset])
    return facts_file(base) if base else []


def chunk_files(wildcards):
    """Return the chunks of a streamed task that have their own jobs; none if there is only one chunk."""
    number = data_registry.n_chunks(TASKS[wildcards.dataset])
    return [f"{PREPARED}/{wildcards.dataset}/chunk-{i}.npz" for i in range(number)] if number > 1 else []


def rows_work(stage, dataset, input):
    """Return the common arguments of the stages that make rows of a task, from a source's files or from its base."""
    folders = {f"{key}_dir": str(Path(input[key]).parent) if input.get(key) else None for key in ("raw", "base")}
    return {"stage": stage, "task_id": dataset, "task": TASKS[dataset]} | folders


def preprocess_work(dataset, input):
    """Return the arguments of the ``run`` of ``preprocess`` for a task."""
    device = SETTINGS["device"] if data_registry.wants_gpu(TASKS[dataset]) else "cpu"
    more = {"chunks": list(input.get("chunks", [])), "reference_dir": "data/reference", "device": device}
    return rows_work("preprocess", dataset, input) | more | {"out": f"{PREPARED}/{dataset}"}


def download_work(source):
    """Return the arguments of the ``run`` of ``download`` for a source."""
    arguments = {"source_id": source, "source": REGISTRY.sources[source], "out": f"data/raw/{source}"}
    more = {"lock_path": "config/sources.lock.yaml", "allow_missing": SETTINGS["allow_missing"]}
    return {"stage": "download"} | arguments | more


def preprocess_memory(wildcards):
    """Return the memory in MB to make the rows of a task; a stream is made chunk by chunk."""
    streamed = TASKS[wildcards.dataset].get("streamed")
    if streamed:
        columns = REGISTRY.tasks[streamed["base"]]["d"]
        return int(1000 + 4 * data_registry.rows_per_chunk(streamed) * columns / 2**20)
    return memory_of_rows(wildcards.dataset)


def rows_need(key):
    """Return a resource function of the jobs that make the rows of a task; they request more with every attempt."""

    def needed(wildcards, attempt):
        minutes = data_registry.minutes_of(TASKS[wildcards.dataset])
        return cost.grown({"mem_mb": preprocess_memory(wildcards), "runtime": minutes}, attempt, SETTINGS)[key]

    return needed


@cache
def code_of_tasks(*datasets):
    """Return the code that makes the rows of tasks, including their generators and extractors, found by name."""
    own = [module for name in datasets for module in data_registry.code_of(TASKS[name])]
    return code_of("rfstudy.data.preprocess", *sorted({*own}))


# the tasks that one job prepares; a task made from files, or from another task, has its own job
TOGETHER = [dataset for dataset in SETTINGS.get("prepared_together", []) if "generator" in TASKS[dataset]]
