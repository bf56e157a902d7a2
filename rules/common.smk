# Pure helpers: the registries, the settings of this run, the shards of an experiment, their paths, and the code that
# a step depends on. No rule here.
import json
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

ROOT = Path(workflow.basedir)
CONFIG = ROOT / "config"
LOCK = "envs/requirements.lock"
sys.path.insert(0, str(ROOT / "src"))

from rfstudy.data import registry as data_registry
from rfstudy.data.modules import code_of_steps
from rfstudy.errors import UserError
from rfstudy.maps import registry as map_registry
from rfstudy.report import catalogue
from rfstudy.study import code as package_code
from rfstudy.study import spec as specs


def checked(document, schema):
    """A configuration document that its schema accepts; a wrong key is named in the error."""
    validate(document, CONFIG / "schemas" / f"{schema}.schema.yaml", set_default=False)
    return document


def load_study():
    """Settings, sources, tasks, experiments and reports of this run, all validated before the DAG is built."""
    settings = checked(specs.load_settings(config, CONFIG), "config")
    settings["mirror"] = settings["mirror"] or os.environ.get("RFSTUDY_MIRROR", "")
    for path in sorted((CONFIG / "experiments").glob("*.yaml")):
        checked(specs.read_yaml(path), "experiments")
    for name in ("sources", "datasets", "methods", "figures"):
        checked(specs.read_yaml(CONFIG / f"{name}.yaml"), name)
    registry = data_registry.load(CONFIG)
    experiments = specs.select(
        specs.load_experiments(CONFIG),
        settings,
        {name: f"{entry.module}.{entry.class_name}" for name, entry in map_registry.REGISTRY.items()},
        set(registry.tasks),
    )
    return settings, registry, experiments, catalogue.specifications(specs.read_yaml(CONFIG / "figures.yaml"))


try:
    SETTINGS, REGISTRY, EXPERIMENTS, REPORTS = load_study()
    SHARDS = {(name, shard.name): shard for name, e in EXPERIMENTS.items() for shard in specs.shards(e, SETTINGS)}
except UserError as error:
    raise WorkflowError(str(error)) from error

PRESET = SETTINGS["preset"]
RESULTS = f"results/{PRESET}"
PREPARED = f"data/prepared/{SETTINGS['data']}"

# a timed job has the machine to itself: nothing else of this workflow runs beside it
ALL_CORES = workflow.resource_settings.cores or 2


wildcard_constraints:
    dataset="[a-z0-9-]+",
    experiment="[a-z0-9-]+",
    shard="[a-z0-9.-]+",
    source="[a-z0-9-]+",
    collection="[a-z0-9-]+",
    paper="survey|eerf|nsrf|slsrff|study",
    report="[a-z0-9-]+",


def code_of(stage, methods=(), steps=()):
    """The package files that a stage runs, with those of the methods of a shard and of the preprocessing steps of its
    data set; an edit of one is a rerun.
    """
    modules = [stage, *(f"maps.{map_registry.REGISTRY[method].module}" for method in methods), *code_of_steps(steps)]
    return [os.path.relpath(path, ROOT) for path in package_code.import_closure(*modules)]


def methods_of(wildcards):
    """The methods of a shard."""
    shard = SHARDS[wildcards.experiment, wildcards.shard]
    return [EXPERIMENTS[wildcards.experiment]["methods"][i]["method"] for i in shard.methods]


def steps_of(wildcards):
    """The preprocessing steps that an experiment applies to the data set of a job."""
    return specs.steps_of(EXPERIMENTS[wildcards.experiment], dataset_of(wildcards))


def tuned_methods(wildcards):
    """The methods that the choices of an experiment are made with."""
    return sorted({entry["method"] for entry in specs.tuned_methods(EXPERIMENTS[wildcards.experiment])})


def measure_code(wildcards):
    """The package files of ``measure``, of the kind of an experiment, which it imports by name, and of its methods."""
    kind = f"study.kinds.{EXPERIMENTS[wildcards.experiment]['kind']}"
    return sorted({*code_of("study.measure"), *code_of(kind, methods_of(wildcards))})


def dataset_of(wildcards):
    """The data set of a shard, or of a path that names it."""
    return getattr(wildcards, "dataset", None) or SHARDS[wildcards.experiment, wildcards.shard].dataset


def prepared_files(wildcards):
    """What ``preprocess`` writes for the data set of a job."""
    return prepared(dataset_of(wildcards))


def prepared(dataset):
    """What ``preprocess`` writes for a data set."""
    return [f"{PREPARED}/{dataset}/{name}" for name in ("X.npy", "y.npy", "facts.json")]


def tuned_file(wildcards):
    """What ``tune`` chose for the data set of a shard: for its experiment, or for an earlier one with the same work.
    Nothing where an experiment leaves nothing to choose.
    """
    if not specs.is_tuned(EXPERIMENTS[wildcards.experiment], SETTINGS):
        return []
    dataset = dataset_of(wildcards)
    own = specs.tune_spec(EXPERIMENTS[wildcards.experiment], dataset, SETTINGS)
    name = next(
        name
        for name, experiment in EXPERIMENTS.items()
        if specs.is_grid(experiment)
        and dataset in experiment["datasets"]
        and specs.same_choices(specs.tune_spec(experiment, dataset, SETTINGS), own)
    )
    return f"{RESULTS}/{name}/tune/{dataset}.json"


def tuned_option(wildcards, input):
    """The option that tells a stage of what was chosen."""
    return f"--tuned {input.tuned}" if input.get("tuned") else ""


def rows_of(dataset):
    """Rows and columns of a task as its registry entry states them: the size that resources are asked for."""
    task = REGISTRY.tasks[dataset]
    # generated rows are the same in every preset
    n, d = (1000, 128) if SETTINGS["data"] == "embedded" and "generator" not in task else (task["n"], task["d"])
    return min(n, 2 * (SETTINGS["max_rows"] or n)), d


def memory_mb(wildcards, attempt):
    """Memory of a compute job: libraries, the rows in float32 a few times over, Gram matrices of the largest size."""
    n, d = rows_of(dataset_of(wildcards))
    s, _label = specs.sizes(specs.sizes_of(EXPERIMENTS[wildcards.experiment], dataset_of(wildcards)), d)[-1]
    gram = 8 * min(2 * s, n) ** 2
    svm = 40 * min(2 * s * n, SETTINGS["max_svm_entries"] or 1e8)
    return int((900 + (16 * n * d + 10 * gram + svm) / 2**20) * attempt)


def minutes(wildcards, attempt):
    """Run time that a compute job asks for; a job that is killed resumes from its journal."""
    return 240 * attempt


def timed(wildcards):
    """Whether a job of ``measure`` takes times."""
    return specs.is_timed(EXPERIMENTS[wildcards.experiment])


def gpus(wildcards):
    """GPUs that a job asks for: none unless the configuration may use one."""
    return 1 if SETTINGS["device"] == "cuda" else 0


def compact(document):
    """JSON for the command line, in one stable form."""
    return json.dumps(document, separators=(",", ":"))


def results_of(collection, experiment):
    """The rows that a report is drawn from: this run's, those that ship with the repository, or the benchmarks'."""
    if collection == "measured":
        return f"data/measured/{experiment}.csv.xz"
    return f"results/{collection}/{experiment}.csv"


def available(collection, report):
    """Whether this run, or the repository, has the experiment of a table or figure."""
    wanted = catalogue.experiments_of(report)
    if collection == "measured":
        return all((ROOT / results_of(collection, experiment)).exists() for experiment in wanted)
    if collection == "benchmarks":
        return wanted == ["speed"]
    return set(wanted) <= set(EXPERIMENTS)


def drawn(collection, **wanted):
    """Files of the tables and figures of a collection ("measured" or the preset) whose entries match ``wanted``."""
    return [
        f"figures/{collection}/{report['paper']}/{name}"
        for report in REPORTS
        if available(collection, report) and all(report[key] == value for key, value in wanted.items())
        for name in catalogue.outputs(report)
    ]


def report_of(wildcards):
    """The catalogue's entry of an output."""
    return next(r for r in REPORTS if (r["paper"], r["name"]) == (wildcards.paper, wildcards.report))


def report_inputs(wildcards):
    """The rows that an output is drawn from."""
    return [results_of(wildcards.collection, e) for e in catalogue.experiments_of(report_of(wildcards))]


def shard_results(wildcards):
    """The rows of all shards of an experiment, of all its stages."""
    names = [name for experiment, name in SHARDS if experiment == wildcards.experiment]
    return expand(
        "{results}/{experiment}/{stage}/{shard}.csv",
        results=RESULTS,
        experiment=wildcards.experiment,
        stage=["generate", "train"] if specs.is_grid(EXPERIMENTS[wildcards.experiment]) else ["measure"],
        shard=names,
    )


def raw_record(wildcards):
    """The download that a task is parsed from; an embedded stand-in has none, and what is no file neither."""
    source = REGISTRY.tasks[wildcards.dataset].get("source")
    return f"data/raw/{source}/record.json" if source and SETTINGS["data"] != "embedded" else []


def base_files(wildcards):
    """The prepared data of the task that a task is features of; nothing for all others."""
    task = REGISTRY.tasks[wildcards.dataset]
    return prepared(task["features_of"]["task"]) if "features_of" in task else []


def preprocess_code(wildcards):
    """The package files that make the rows of a task, its generator or extractor included, found by name."""
    own = data_registry.code_of(REGISTRY.tasks[wildcards.dataset], embedded=SETTINGS["data"] == "embedded")
    return sorted({path for module in ("data.preprocess", *own) for path in code_of(module)})


BENCHMARKS = ["dense-map", "structured-maps", "landmarks", "sketches", "crossover", "ridge-path", "planning"]
BENCHMARKED_MAPS = ["rff", "sorf", "rom", "fastfood", "scrf", "pmodel", "rm", "ts", "trp", "nystroem"]
