# The settings of this run, and its jobs (src/rfstudy/planning/jobs.py). This file has no rules.
import atexit
import gc
import os
import re
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

# Snakemake makes a million objects that live as long as the plan: none is garbage before jobs run (rules/console.smk).
# To look for garbage among them took 1.6 of 5.4 seconds of processor time of the dry-run of `paper` (November 2026)
gc.disable()
atexit.register(gc.freeze)

ROOT = Path(workflow.basedir)
CONFIG = ROOT / "config"
sys.path.insert(0, str(ROOT / "src"))

from rfstudy.data import registry as data_registry
from snakemake.settings.types import RerunTrigger

from random_features.errors import gathered
from rfstudy.files import read_yaml, record_file
from rfstudy.report import catalogue
from rfstudy.study import code as package_code
from rfstudy.planning.config import load_study, restore_names
from rfstudy.planning.jobs import Jobs, counted, jobs_in_queue, seconds_in, visible_gpus
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


def refuse_fewer_triggers(self, name, value):
    """Set an attribute of the workflow, except settings with which a changed target, setting or code reruns nothing."""
    if name == "dag_settings" and set(value.rerun_triggers) != RerunTrigger.all():
        stop_at(["--rerun-triggers: leave it out: with fewer, a changed target, setting or code would rerun nothing"])
    object.__setattr__(self, name, value)


# Snakemake hands the triggers over after this file; a profile may have them too
type(workflow).__setattr__ = refuse_fewer_triggers


if set("{}") & set(str(ROOT)):
    stop_at([f"{ROOT}: Snakemake takes the braces in this path for wildcards: move the workflow to another folder"])

# configuration and outputs are checked before the DAG is built
with gathered(PROBLEMS):
    restore_names(config, sys.argv[1:])
    # a file of the user's own is no setting of the study (rules/compare.smk)
    OWN = {key: config.pop(key, None) or "" for key in ("own", "target")}
    STUDY = load_study(config, CONFIG, dict.fromkeys(["config/config.yaml", *map(str, reversed(workflow.configfiles))]))
    REPORTS = outputs.load_reports(CONFIG, STUDY.experiments, STUDY.methods, STUDY.registry.tasks)
stop_at(PROBLEMS)
SETTINGS, REGISTRY = STUDY.settings, STUDY.registry
JOBS = Jobs(STUDY, ROOT)

# the origin of files is not a parameter of a job: their checksums are the same with any mirror
if SETTINGS["mirror"]:
    os.environ.update(RFSTUDY_MIRROR=SETTINGS["mirror"])

# a job finds its workflow by this number, and ends when the workflow is gone
os.environ.update(RFSTUDY_WORKFLOW=str(os.getpid()))

# Snakemake knows its executor only after this file; a limit of nodes says that it submits jobs
ON_CLUSTER = workflow.resource_settings.nodes is not None

PRESET, RESULTS, PREPARED = SETTINGS["preset"], JOBS.results, JOBS.prepared

# a timed job has the machine to itself. Here it takes all cores; on a cluster its profile asks for a whole node
ALL_CORES = SETTINGS["threads"] if ON_CLUSTER else workflow.resource_settings.cores or 2


wildcard_constraints:
    dataset="[a-z0-9-]+",
    experiment="[a-z0-9.-]+",
    shard="[a-z0-9.-]+",
    source="[a-z0-9-]+",
    paper="survey|eerf|nsrf|slsrff|study",


# to parse the modules again took 0.5 of these seconds
if workflow.is_main_process:
    atexit.register(package_code.save_known, JOBS.code_folder / "modules.json")

FILES_OF_TASK = ("X.npy", "y.npy", "facts.json")

# what the jobs request that put tables together, publish or draw
OF_SHORT_JOBS = {"mem_mb": 1000, "runtime": 20}


# GPUs that the extractor of a task requests: none unless the configuration may use one
GPUS = int(SETTINGS["device"] == "cuda" or (SETTINGS["device"] == "auto" and bool(SETTINGS["device_from"])))


# On this machine a few jobs share each GPU: one works on the CPU while another computes there. `--resources gpu=8` lets
# more of them do so; a cluster's profile has limits of its own
VISIBLE_GPUS = visible_gpus()
if VISIBLE_GPUS and not ON_CLUSTER and "gpu" not in workflow.global_resources:
    workflow.register_resource("gpu", 4 * VISIBLE_GPUS)


# the tasks that one job prepares; a task made from files, or from another task, has its own job
TOGETHER = [dataset for dataset in SETTINGS.get("prepared_together", []) if "generator" in JOBS.tasks[dataset]]
