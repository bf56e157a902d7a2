# Pure helpers: the registries, the settings of this run, the shards of an experiment, their paths, and the code that
# a step depends on. No rule here.
import hashlib
import json
import os
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(workflow.basedir)
CONFIG = ROOT / "config"
LOCK = "envs/requirements.lock"
sys.path.insert(0, str(ROOT / "src"))

from rfstudy.data import registry as data_registry
from rfstudy.data.entries import in_use
from random_features.errors import gathered
from rfstudy.files import read_yaml, write_text
from rfstudy.report import catalogue
from rfstudy.study import code as package_code
from rfstudy.study import plan, selection
from rfstudy.study.job import code_roots, searched
from rfstudy.study.job import sizes as experiment_sizes
from rfstudy.models import suggestion
from rfstudy import outputs


def tell_shortly(kind, error, trace):
    """What is printed of an error that nobody has caught: of Ctrl-C while the plan is made one line."""
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted; the same command goes on from what is finished", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


sys.excepthook = tell_shortly


def stop_at(problems):
    """End the workflow with what is wrong, and nothing else, where anything is."""
    if problems:
        sys.exit("\n".join(problems))


# read before the workflow engine reads it, which does not say where a mistake is
PROBLEMS = []
with gathered(PROBLEMS):
    read_yaml(CONFIG / "config.yaml")
stop_at(PROBLEMS)


configfile: "config/config.yaml"


def load_study():
    """Return the configuration and the reports of this run, all of it checked before the DAG is built."""
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

# where files are had from is no parameter of a job: whatever a mirror holds, their checksums are the same
if SETTINGS["mirror"]:
    os.environ.update(RFSTUDY_MIRROR=SETTINGS["mirror"])

# by this a job knows the workflow that it belongs to, and ends when that is gone
os.environ.update(RFSTUDY_WORKFLOW=str(os.getpid()))

PRESET = SETTINGS["preset"]
RESULTS = f"results/{PRESET}"
PREPARED = f"data/prepared/{SETTINGS['data']}"
EMBEDDED = SETTINGS["data"] == "embedded"
TASKS = {name: in_use(task, embedded=EMBEDDED) for name, task in REGISTRY.tasks.items()}

# the stages that compute
STAGES = ("tune", "generate", "train", "measure", "time")

# those of them that use what ``tune`` chose
TUNED = ("generate", "train", "time")

# a timed job has the machine to itself: nothing else of this workflow runs beside it
ALL_CORES = workflow.resource_settings.cores or 2


wildcard_constraints:
    dataset="[a-z0-9-]+",
    number="[0-9]+",
    experiment="[a-z0-9.-]+",
    shard="[a-z0-9.-]+",
    source="[a-z0-9-]+",
    paper="survey|eerf|nsrf|slsrff|study",


KNOWN_MODULES = ROOT / ".snakemake" / "rfstudy-code" / "modules.json"
package_code.load_known(KNOWN_MODULES)


@cache
def code_of(*modules):
    """The file that holds the hash of the code that modules run; it changes where an edit changes what they do."""
    return os.path.relpath(package_code.stamp(ROOT / ".snakemake" / "rfstudy-code", *modules), ROOT)


@cache
def experiment_of(name):
    """An experiment, or its part on the data sets that follow its name: ``survey-gaussian-text.eeg.skin``."""
    name, *datasets = name.split(".")
    if name not in EXPERIMENTS:
        stop_at([f"no experiment of this run ({PRESET}) is called {name!r}; {suggestion(name, EXPERIMENTS)}"])
    own = EXPERIMENTS[name]
    return own | {"datasets": {each: own["datasets"][each] for each in datasets}} if datasets else own


@cache
def shards_of(stage, experiment):
    """The shards of a stage in an experiment, by name; empty where the stage has nothing to do."""
    of_all = {"tune": plan.tune_shards, "time": plan.time_shards}
    if stage not in of_all and stage not in plan.stages_of(experiment_of(experiment)):
        return {}
    return {shard.name: shard for shard in of_all.get(stage, plan.shards)(experiment_of(experiment), SETTINGS)}


def shard_of(stage, wildcards):
    """The shard that a job of a stage works on."""
    return shards_of(stage, wildcards.experiment)[wildcards.shard]


def stage_code(stage):
    """An input function: the code of a stage's job, with its kind, maps, learners and steps.

    A part of an experiment has the code of all of it, whose file is there when the plan begins.
    """

    def file(wildcards):
        name, *datasets = wildcards.experiment.split(".")
        shards = shards_of(stage, name).values() if datasets else [shard_of(stage, wildcards)]
        return code_of_shards(stage, *shards)

    return file


@cache
def code_of_shards(stage, *shards):
    """The code of a stage's job on shards."""
    parts = [part for shard in shards for part in parts_of_shard(stage, shard)]
    return code_of(f"rfstudy.study.{stage}", *{root for part in parts for root in code_roots(stage, part.stated())})


def stage_parts(stage, wildcards):
    """What a stage is told of a shard: one part a data set."""
    return parts_of_shard(stage, shard_of(stage, wildcards))


@cache
def parts_of_shard(stage, shard):
    """What a stage is told of a shard: one part a data set."""
    return plan.parts_of(stage, EXPERIMENTS[shard.experiment], shard, SETTINGS)


def stage_work(stage):
    """A parameter function: what the job of a stage does, as a hash (see rules/console.smk)."""
    return lambda wildcards: work_hash([work_of(stage, wildcards.experiment, wildcards.shard)])


# what jobs do, as the text of their work files, by its hash
WORK = {}


def work_hash(work):
    """The hash of what a job does. Snakemake keeps it and runs the job again when it changes.

    A change of a setting or of a map's default is found in this way alone. Snakemake compares no parameter that is a
    function of threads, so these are an option of the command.
    """
    text = compact(work)
    key = hashlib.sha256(text.encode()).hexdigest()
    WORK[key] = text
    return key


def work_of(stage, experiment, name):
    """The arguments of a stage's ``run`` for a shard,"""
    shard, stem = shards_of(stage, experiment)[name], f"{RESULTS}/{experiment}/{stage}/{name}"
    work = {
        "parts": [part.stated() for part in parts_of_shard(stage, shard)],
        "prepared_dirs": [f"{PREPARED}/{dataset}" for dataset in shard.datasets if dataset],
        "journal": f"{RESULTS}/.journal/{stage}/{experiment}.{name}.cells",
        "out": f"{stem}.{'json' if stage == 'tune' else 'csv'}",
    }
    if stage in TUNED:
        work["tuned"] = tuned_files(experiment, shard)
    if stage in ("generate", "measure"):
        work["out_arrays"] = f"{stem}.npz"
    if stage == "train":
        work["arrays_file"] = f"{RESULTS}/{experiment}/generate/{name}.npz"
    return work


def stage_data(stage):
    """A parameter function, for the message of a job: the data sets of a shard."""

    def where(wildcards):
        named = [part.dataset for part in stage_parts(stage, wildcards) if part.dataset]
        return f"on {', '.join(named)}" if named else "without data"

    return where


def stage_maps(stage):
    """A parameter function, for the message of a job: how many entries of maps a shard has."""
    return lambda wildcards: counted(max(len(part.methods) for part in stage_parts(stage, wildcards)), "map")


def stage_cells(stage):
    """A parameter function, for the message of a job: how many cells a shard has in all its data sets.

    A grid has one for each map, size and repeat, and where it is trained for each learner; a timed job has one a round.
    """

    def cells_of(part):
        if stage == "time":
            return part.time["rounds"]
        repeats = part.repeats.values() if stage == "train" else [part.repeats]
        places = sum(len(entry.get("sweep", {}).get("values", [None])) for entry in part.methods)
        return places * len(experiment_sizes(part.sizes, 1)) * sum(map(len, repeats))

    unit = "round" if stage == "time" else "cell"
    return lambda wildcards: counted(sum(map(cells_of, stage_parts(stage, wildcards))), unit)


def counted(number, thing):
    """A number of things in words: 1 map, 9 maps."""
    return f"{number:,} {thing}{'s' * (number != 1)}"


def stage_choices(wildcards):
    """A parameter function, for the message of a job: what ``tune`` chooses."""
    chosen = [quantity for part in stage_parts("tune", wildcards) for quantity in searched(part.search)]
    return ", ".join(dict.fromkeys(chosen))


def stage_prepared(stage):
    """An input function: what ``preprocess`` writes for the data sets of a job."""

    def files(wildcards):
        return [path for dataset in filter(None, shard_of(stage, wildcards).datasets) for path in prepared(dataset)]

    return files


def prepared(dataset):
    """What ``preprocess`` writes for a data set."""
    return [f"{PREPARED}/{dataset}/{name}" for name in FILES_OF_TASK]


FILES_OF_TASK = ("X.npy", "y.npy", "facts.json")


def stage_tuned(stage):
    """An input function: what ``tune`` chose for the data sets of a job; nothing where there is nothing to choose."""
    return lambda wildcards: tuned_files(wildcards.experiment, shard_of(stage, wildcards))


def tuned_files(experiment, shard):
    """The files with the choices for a shard of an experiment."""
    return sorted({chosen_file(experiment, each) for each in shard.datasets}) if shards_of("tune", experiment) else []


@cache
def chosen_file(experiment, dataset):
    """The file with the choices of an experiment on a data set.

    An earlier experiment with the same work on a data set has made the choice already. A part of an experiment
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
    """What ``tune`` is told of an experiment on one data set."""
    shard = next(each for each in shards_of("tune", experiment).values() if dataset in each.datasets)
    return plan.tune_part(plan.on_dataset(experiment_of(experiment), dataset), dataset, shard, SETTINGS)


def stage_memory(stage):
    """A resource function: the memory of a job in MB, more with every attempt."""
    return lambda wildcards, attempt: needs_of(stage, shard_of(stage, wildcards))["mem_mb"] * attempt


def stage_minutes(stage):
    """A resource function: the run time of a job; one that is killed resumes from its journal."""
    return lambda wildcards, attempt: needs_of(stage, shard_of(stage, wildcards))["runtime"] * attempt


@cache
def needs_of(stage, shard):
    """Memory and run time of the first attempt of a job."""
    return plan.resources(stage, EXPERIMENTS[shard.experiment], shard, REGISTRY.tasks, SETTINGS)


# GPUs that a job asks for: none unless the configuration may use one
GPUS = 1 if SETTINGS["device"] == "cuda" else 0


def rows_of(dataset):
    """Rows and columns of a task that a run works with: the size that resources are asked for."""
    return plan.rows_of(REGISTRY.tasks[dataset], SETTINGS)


def memory_of_rows(dataset):
    """The memory in MB of a job that makes the rows of a task whole."""
    n, d = rows_of(dataset)
    return int(700 + 24 * n * d / 2**20)


def compact(document):
    """JSON for the command line, in one stable form."""
    return json.dumps(document, separators=(",", ":"))


# the experiments of a run that names none of their outputs
ASKED_FOR = [name for name, experiment in EXPERIMENTS.items() if selection.is_asked_for(experiment, SETTINGS)]


def shard_results(name):
    """The rows of all jobs of an experiment, of all its stages."""
    stages = (*plan.stages_of(experiment_of(name)), "time")
    return [f"{RESULTS}/{name}/{stage}/{shard}.csv" for stage in stages for shard in shards_of(stage, name)]


def shard_arrays(name):
    """The arrays that an experiment's kind measures with its rows; what maps learn stays with their shards."""
    return [path.removesuffix(".csv") + ".npz" for path in shard_results(name) if "/measure/" in path]


def collected_facts(name):
    """What ``preprocess`` found of the data sets of an experiment."""
    return [f"{PREPARED}/{dataset}/facts.json" for dataset in experiment_of(name)["datasets"]]


def collect_work(name):
    """The arguments of the ``run`` of ``collect`` for an experiment."""
    return {
        "specs": [part.stated() for part in plan.facts_parts(experiment_of(name), SETTINGS)],
        "shard_files": shard_results(name),
        "prepared_dirs": [str(Path(path).parent) for path in collected_facts(name)],
        "array_files": shard_arrays(name),
        "out": f"{RESULTS}/{name}.csv",
        "out_arrays": f"{RESULTS}/{name}.npz",
    }


def local_files(wildcards):
    """The files of a source that are on this machine, where they are there: an edit of one is a rerun."""
    files = REGISTRY.sources[wildcards.source]["files"].values()
    paths = [os.path.expanduser(entry["path"]) for entry in files if "path" in entry]
    return [path for path in paths if os.path.exists(path)]


def raw_record(wildcards):
    """The download that a task, or its extractor, needs; an embedded stand-in has none, and what is no file neither."""
    source = data_registry.source_of(TASKS[wildcards.dataset])
    return f"data/raw/{source}/record.json" if source else []


def listed_rows(wildcards):
    """The list of the rows that a paper used of a source; nothing for all other tasks, and for an embedded stand-in."""
    name = data_registry.list_of_rows(TASKS[wildcards.dataset])
    return f"data/reference/{name}" if name else []


def base_files(wildcards):
    """The prepared data of the task that a task is made of; nothing for all others."""
    base = data_registry.base_of(TASKS[wildcards.dataset])
    return prepared(base) if base else []


def chunk_files(wildcards):
    """The chunks of a streamed task that are made by jobs of their own; of one chunk there is none."""
    number = data_registry.n_chunks(TASKS[wildcards.dataset])
    return [f"{PREPARED}/{wildcards.dataset}/chunk-{i}.npz" for i in range(number)] if number > 1 else []


def preprocess_memory(wildcards):
    """The memory in MB that the rows of a task are made in; those of a stream are never whole, but its chunks."""
    streamed = TASKS[wildcards.dataset].get("streamed")
    if streamed:
        columns = REGISTRY.tasks[streamed["base"]]["d"]
        return int(1000 + 4 * data_registry.rows_per_chunk(streamed) * columns / 2**20)
    return memory_of_rows(wildcards.dataset)


def preprocess_code(wildcards):
    """The package files that make the rows of a task, its generator or extractor included, found by name."""
    return code_of_tasks(wildcards.dataset)


@cache
def code_of_tasks(*datasets):
    """The package files that make the rows of tasks."""
    own = [module for name in datasets for module in data_registry.code_of(TASKS[name])]
    return code_of("rfstudy.data.preprocess", *sorted({*own}))


# the tasks that one job prepares; one that is made from files, or from another task, has a job of its own
TOGETHER = [dataset for dataset in SETTINGS.get("prepared_together", []) if "generator" in TASKS[dataset]]


def list_code():
    """Write the code hash of every job: Snakemake looks once, early, which files there are in a folder."""
    for name in EXPERIMENTS:
        for stage in STAGES:
            shards = shards_of(stage, name).values()
            for some in {tuple(shards), *((shard,) for shard in shards)} - {()}:
                code_of_shards(stage, *some)
    for dataset in REGISTRY.tasks:
        code_of_tasks(dataset)


# a job that parses this again finds them written
if workflow.is_main_process and not PROBLEMS:
    with gathered(PROBLEMS):
        list_code()


stop_at(PROBLEMS)
