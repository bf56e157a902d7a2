"""The jobs of a run as the rules ask for them: their inputs, the arguments of their ``run`` and what they request.

The workflow imports this module when it parses, so it loads no numerical library.
"""
# ruff: noqa: B019 (the one object with cached methods lives as long as the process: rules ask for the same several times)

import csv
import hashlib
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from rfstudy.data import registry as data_registry
from rfstudy.data.entries import in_use
from rfstudy.data.tasks import IN_ORDER, rows_per_chunk
from rfstudy.files import read_json, write_text
from rfstudy.models import suggestion
from rfstudy.planning import cost, plan
from rfstudy.planning.config import Study, is_asked_for
from rfstudy.planning.plan import Shard
from rfstudy.study import code
from rfstudy.study.job import Part, code_roots, searched

#: The suffixes of the files of rows, and of those that each stage writes.
OF_ROWS = ["csv", "provenance.json"]
ENDINGS = {"tune": ["json", "provenance.json"], "train": OF_ROWS, "measure": [*OF_ROWS, "npz"], "time": OF_ROWS}

#: The stages that use the choices of ``tune``.
TUNED = ("train", "time")


def counted(number: int, thing: str) -> str:
    """Return a number of things in words: 1 map, 9 maps."""
    return f"{number:,} {thing}{'s' * (number != 1)}"


def visible_gpus() -> int:
    """Return the number of GPUs that the driver of this machine shows, without PyTorch."""
    return len(list(Path("/proc/driver/nvidia/gpus").glob("*")))


def jobs_in_queue(root: Path) -> list[str]:
    """Return a message about the jobs that a killed run of a folder left in SLURM's queue, if there are any.

    They have the user, the folder and the beginning of the name that the profiles give them.
    """
    command = ["squeue", "--noheader", "--me", "--format", "%A|%j|%Z"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    jobs = (line.split("|", 2) for line in output.splitlines())
    left = [job for job, name, where in jobs if name.startswith("rfstudy") and Path(where).resolve() == root.resolve()]
    what = f"{len(left)} jobs of an earlier run of this folder are still in the queue"
    return [f"{what}: wait until they are done, or cancel them: scancel {' '.join(left)}"] if left else []


def seconds_in(benchmark: str | None) -> float | None:
    """Return the seconds that a job took the last time, from its benchmark; None if there is none."""
    try:
        lines = Path(benchmark).read_text(encoding="utf-8").splitlines()
        return float(next(csv.DictReader(lines, delimiter="\t"))["s"])
    except (TypeError, OSError, ValueError, KeyError, StopIteration, csv.Error):
        return None


def named(name: str, known: dict, what: str):
    """Return the entry of a name in a target; end the workflow with a message if there is none."""
    if name not in known:
        sys.exit(f"no {what} is called {name!r}; {suggestion(name, known)}")
    return known[name]


class Jobs:
    """The jobs of a run.

    Attributes
    ----------
    results, prepared : folders of results and of prepared data
    tasks : the entries of tasks that are in use: their own, or those of their stand-ins
    asked_for : the experiments of a run that names none of their outputs
    papers : the experiments of one job, by paper, if a preset has one job for each paper
    work : the work of jobs, as the text of their work files, by its hash
    """

    def __init__(self, study: Study, root: Path):
        self.libraries = hashlib.sha256((root / "envs" / "requirements.lock").read_bytes()).hexdigest()
        self.root, self.code_folder = root, root / ".snakemake" / "rfstudy-code"
        code.load_known(self.code_folder / "modules.json")
        self.settings, self.registry, self.experiments, self.changes = study.settings, study.registry, *study[-2:]
        self.results = f"results/{self.settings['preset']}"
        self.prepared = f"data/prepared/{self.settings['data']}"
        embedded = self.settings["data"] == "embedded"
        self.tasks = {name: in_use(task, embedded=embedded) for name, task in self.registry.tasks.items()}
        self.asked_for = [name for name, each in self.experiments.items() if is_asked_for(each, self.settings)]
        self.papers: dict[str, list[str]] = {}
        if self.settings["shard_by"] == ["paper"]:
            for name in self.asked_for:
                self.papers.setdefault(self.experiments[name]["paper"], []).append(name)
        self.work: dict[str, str] = {}
        self.costs = read_json(root / "config" / "costs.json")

    @cache
    def code_of(self, *modules: str) -> str:
        """Return the file that lists the code that modules run, a parameter of a job.

        Its name has the hash of its content: an edit that changes the code's behaviour gives another file, and a rerun.
        """
        return os.path.relpath(code.stamp(self.code_folder, *modules), self.root)

    def code_of_tasks(self, *datasets: str) -> str:
        """Return the code that makes the rows of tasks, including their generators and extractors, found by name."""
        own = {module for name in datasets for module in data_registry.code_of(self.tasks[name])}
        return self.code_of("rfstudy.data.preprocess", *sorted(own))

    def work_hash(self, work: list[dict]) -> str:
        """Return the hash of a job's work. Snakemake keeps it and runs the job again when it changes.

        Only this hash detects a change of a setting or of a map's default. Snakemake does not compare parameters that
        are functions of threads, so threads are an option of the command.
        """
        text = json.dumps(work, separators=(",", ":"))
        key = hashlib.sha256(text.encode()).hexdigest()
        self.work[key] = text
        return key

    def write_work(self, params) -> None:
        """Write the work file of a job, which can be too large for a command line. ``params`` are those of the job."""
        if work := params.get("job", params).get("work"):
            write_text(self.work[work], params.file, only_if_changed=True, sync=False)

    # --- The rows of tasks --------------------------------------------------------------------------------------------

    def facts_file(self, dataset: str) -> str:
        """Return the file with the facts about a data set and the checksum of its rows, which is written last."""
        return f"{self.prepared}/{dataset}/facts.json"

    def local_files(self, wildcards) -> list[str]:
        """Return the local files of a source that exist: an edit of one causes a rerun."""
        files = named(wildcards.source, self.registry.sources, "source")["files"].values()
        paths = [os.path.expanduser(entry["path"]) for entry in files if "path" in entry]
        return [path for path in paths if os.path.exists(path)]

    def raw_record(self, wildcards):
        """Return the download that a task, or its extractor, needs; none for an embedded stand-in or without files."""
        source = data_registry.source_of(named(wildcards.dataset, self.tasks, "data set"))
        return f"data/raw/{source}/record.json" if source else []

    def listed_rows(self, wildcards):
        """Return the list of the rows of a source that a paper used; none for other tasks and for stand-ins."""
        rows = self.tasks[wildcards.dataset].get("rows", IN_ORDER)
        return [] if rows == IN_ORDER else f"data/reference/{rows}"

    def base_files(self, wildcards):
        """Return the prepared data of the task from which a task is made; none for other tasks."""
        base = data_registry.base_of(self.tasks[wildcards.dataset])
        return self.facts_file(base) if base else []

    def preprocess_work(self, dataset: str, input) -> dict:
        """Return the arguments of the ``run`` of ``preprocess`` for a task."""
        task = self.tasks[dataset]
        folders = {f"{key}_dir": str(Path(input[key]).parent) if input.get(key) else None for key in ("raw", "base")}
        device = self.settings["device"] if data_registry.wants_gpu(task) else "cpu"
        more = {"reference_dir": "data/reference", "device": device, "out": f"{self.prepared}/{dataset}"}
        return {"stage": "preprocess", "task_id": dataset, "task": task} | folders | more

    def download_work(self, source: str) -> dict:
        """Return the arguments of the ``run`` of ``download`` for a source."""
        arguments = {"source_id": source, "source": self.registry.sources[source], "out": f"data/raw/{source}"}
        more = {"lock_path": "config/sources.lock.yaml", "allow_missing": self.settings["allow_missing"]}
        return {"stage": "download"} | arguments | more

    def memory_of_rows(self, dataset: str) -> int:
        """Return the memory in MB to make the rows of a task: all at once, or chunk by chunk those of a stream."""
        if streamed := self.tasks[dataset].get("streamed"):
            return int(1000 + 4 * rows_per_chunk(streamed) * self.registry.tasks[streamed["base"]]["d"] / 2**20)
        n, d = cost.rows_of(self.registry.tasks[dataset], self.settings)
        return int(700 + 24 * n * d / 2**20)

    def needs_of_rows(self, key: str, wildcards, attempt: int) -> int:
        """Return what a job that makes the rows of a task requests, as ``needs`` does."""
        task = self.tasks[wildcards.dataset]
        needed = {"mem_mb": self.memory_of_rows(wildcards.dataset), "runtime": data_registry.minutes_of(task)}
        return cost.grown(needed, attempt, self.settings)[key]

    def too_large(self) -> list[str]:
        """Return the jobs of experiments that exceed the limits of the configuration, and what to change."""
        return [
            problem
            for name in ([] if self.papers else self.asked_for)  # the jobs of a paper are short
            for stage in ENDINGS
            for shard in self.shards_of(stage, name).values()
            for problem in cost.too_large(f"{stage} {name}/{shard.name}", self.resources(stage, shard), self.settings)
        ]

    # --- Experiments and shards ---------------------------------------------------------------------------------------

    @cache
    def experiment_of(self, name: str) -> dict:
        """Return an experiment, or its part on the data sets that follow its name: ``survey-gaussian-text.eeg.skin``.

        End the workflow with a message if the run has no such experiment, or the experiment no such data set.
        """
        name, *datasets = name.split(".")
        own = named(name, self.experiments, f"experiment of this run ({self.settings['preset']})")
        kept = {each: named(each, own["datasets"], f"data set of {name} in this run") for each in datasets}
        return own | {"datasets": kept} if datasets else own

    @cache
    def shards_of(self, stage: str, experiment: str) -> dict[str, Shard]:
        """Return the shards of a stage in an experiment, by name; empty if the stage has nothing to do."""
        own = self.experiment_of(experiment)
        found = cost.sized(stage, own, self.registry.tasks, self.settings, self.costs)
        return {shard.name: shard for shard in found}

    @cache
    def resources(self, stage: str, shard: Shard) -> dict:
        """Return the memory and run time of the first attempt at a shard, its expected seconds and its GPUs."""
        experiment = self.experiments[shard.parts[0].experiment]
        return cost.needs(stage, experiment, shard, self.registry.tasks, self.settings, self.costs)

    def tuned_files(self, stage: str, experiment: str, shard: Shard) -> list[str]:
        """Return the files with the choices for a stage's job on a shard; none if there is nothing to choose."""
        chosen = self.shards_of("tune", experiment).values() if stage in TUNED else ()
        names = [each.name for each in chosen if {*each.datasets} & {*shard.datasets}]
        return sorted(f"{self.results}/{experiment}/tune/{name}.json" for name in names)

    # --- The jobs of stages -------------------------------------------------------------------------------------------

    def work_of(self, job) -> list[tuple[str, Shard]]:
        """Return the work of a job: an experiment with a shard, or with all shards of each experiment of a paper.

        ``job`` has the wildcards of its rule: ``stage``, ``experiment`` and ``shard``, or ``stage`` and ``paper``.
        """
        if not hasattr(job, "paper"):
            shards = self.shards_of(job.stage, job.experiment)
            return [(job.experiment, named(job.shard, shards, f"job of {job.stage} in {job.experiment}"))]
        return [(name, shard) for name in self.papers[job.paper] for shard in self.shards_of(job.stage, name).values()]

    def inputs(self, job) -> list[str]:
        """Return the input of a job: the facts about prepared data, with the checksum of the rows, and the choices."""
        work = self.work_of(job)
        datasets = dict.fromkeys(dataset for _, shard in work for dataset in shard.datasets if dataset)
        tuned = {path for each in work for path in self.tuned_files(job.stage, *each)}
        return [*map(self.facts_file, datasets), *sorted(tuned)]

    def needs(self, key: str, job, attempt: int) -> int:
        """Return what a job requests ("mem_mb", "runtime", ...): more with every attempt, up to the limits of the
        configuration; a killed job resumes from its journal.
        """
        of_shards = [self.resources(job.stage, shard) for _, shard in self.work_of(job)]
        return cost.grown(cost.of_all(of_shards, self.costs), attempt, self.settings)[key]

    def params(self, job) -> dict:
        """Return the code that a job runs, the hash of its work (see rules/console.smk), the versions of libraries and,
        for its message, the amount of its work and its data.
        """
        work = self.work_of(job)
        parts = [part for _, shard in work for part in shard.parts]
        loaded = {root for part in parts for root in code_roots(job.stage, part.stated())}
        return {
            "code": self.code_of(f"rfstudy.study.{job.stage}", *sorted(loaded)),
            "work": self.work_hash([self.arguments(job.stage, *each) for each in work]),
            "libraries": self.libraries,
            "words": words_of(job.stage, parts, sum(self.resources(job.stage, shard)["expected"] for _, shard in work)),
        }

    def stages_of_papers(self) -> list[tuple[str, str]]:
        """Return the stages and papers with a job for all shards of the paper."""
        every = [(stage, paper) for paper in self.papers for stage in ENDINGS]
        return [(stage, paper) for stage, paper in every if any(self.shards_of(stage, n) for n in self.papers[paper])]

    def outputs_of_paper(self, job) -> list[str]:
        """Return the outputs of the job of a stage for a paper."""
        stems = [f"{self.results}/{name}/{job.stage}/{shard.name}" for name, shard in self.work_of(job)]
        return [f"{stem}.{ending}" for stem in stems for ending in ENDINGS[job.stage]]

    def arguments(self, stage: str, experiment: str, shard: Shard) -> dict:
        """Return a stage and the arguments of its ``run`` for a shard. At ``device: auto`` a job that requests no GPU
        computes on the CPU; times are measured where the configuration says.
        """
        on_cpu = self.settings["device"] == "auto" and stage != "time" and not self.resources(stage, shard)["gpu"]
        device = {"device": "cpu" if on_cpu else self.settings["device"]}
        stem = f"{self.results}/{experiment}/{stage}/{shard.name}"
        found = {
            "stage": stage,
            "parts": [(part | device).stated() for part in shard.parts],
            "prepared_dirs": [f"{self.prepared}/{dataset}" for dataset in shard.datasets if dataset],
            "journal": f"{self.results}/.journal/{stage}/{experiment}.{shard.name}.cells",
            "out": f"{stem}.{ENDINGS[stage][0]}",
        }
        if stage in TUNED:
            found["tuned"] = self.tuned_files(stage, experiment, shard)
        if "npz" in ENDINGS[stage]:
            found["out_arrays"] = f"{stem}.npz"
        return found

    # --- The tables of experiments ------------------------------------------------------------------------------------

    def collected(self, *names: str) -> dict[str, list[str]]:
        """Return the input of ``collect``: the rows, arrays and facts about data of experiments. The arrays are those
        that a kind measures; those that maps learn stay with their shards.
        """
        jobs = [(f"{name}/{s}/{shard}", s) for name in names for s in ENDINGS for shard in self.shards_of(s, name)]
        stems = [(f"{self.results}/{stem}", ENDINGS[stage]) for stem, stage in jobs]
        datasets = dict.fromkeys(dataset for name in names for dataset in self.experiment_of(name)["datasets"])
        rows, arrays = ([f"{stem}.{end}" for stem, endings in stems if end in endings] for end in ("csv", "npz"))
        return {"rows": rows, "arrays": arrays, "facts": list(map(self.facts_file, datasets))}

    def collect_work(self, *names: str) -> str:
        """Return the hash of the work of ``collect`` for experiments."""
        work = []
        for name in names:
            files, stem = self.collected(name), f"{self.results}/{name}"
            specs = [part.stated() for part in plan.facts_parts(self.experiment_of(name), self.settings)]
            inputs = {"specs": specs, "shard_files": files["rows"], "array_files": files["arrays"]}
            inputs |= {"prepared_dirs": [str(Path(path).parent) for path in files["facts"]]}
            work.append({"stage": "collect"} | inputs | {"out": f"{stem}.csv", "out_arrays": f"{stem}.npz"})
        return self.work_hash(work)

    def to_publish(self, name: str) -> list[str]:
        """Return the rows of an experiment, or a part of it, and their record; end the workflow if they are not those
        of its protocol.
        """
        if own := self.changes.get(name.partition(".")[0]):
            changed = f"this run changes its protocol ({', '.join(map('.'.join, own))})"
            sys.exit(f"{self.results}/{name}.published: {changed}: leave this out, or add an experiment of its own")
        return [f"{self.results}/{name}.{ending}" for ending in OF_ROWS]

    def publish_work(self, name: str) -> str:
        """Return the hash of the work of ``publish`` for an experiment, or a part of it."""
        out = f"data/measured/{name.partition('.')[0]}.csv.xz"
        return self.work_hash([{"stage": "publish", "results_file": f"{self.results}/{name}.csv", "out": out}])


def words_of(stage: str, parts: list[Part], expected: int) -> str:
    """Return the amount of a job's work and its data, in words; of timed work also the expected seconds."""
    datasets = list(dict.fromkeys(part.dataset for part in parts if part.dataset))
    if stage == "tune":
        what = ", ".join(dict.fromkeys(quantity for part in parts for quantity in searched(part.search)))
    elif stage == "train":
        what = counted(sum(map(plan.number_of_cells, parts)), "cell")
    else:
        what = counted(max(len(part.methods) for part in parts), "map")
    where = ", ".join(datasets) if len(datasets) < 10 else f"{len(datasets)} data sets"
    found = f"{what} on {where}" if datasets else f"{what} without data"
    if stage == "time":
        most = 1 + max(part.time["again"] for part in parts)
        found += f"; waits for an idle machine, at most {most} times as long as without ({expected} s)"
    return found
