"""The jobs that the rules make of a plan: what each reads, writes, asks for and receives, and their order."""

import json
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest
from checkouts import ROOT

from random_features.compare.contestants import MAPS
from random_features.maps.registry import REGISTRY
from rfstudy.files import read_yaml
from rfstudy.study.code import REGISTRIES, file_of

#: A logger that prints all that Snakemake says of a job: a dry-run has only its message.
LOGGER = """
import gc
import json

from snakemake.workflow import Workflow
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent


class LogHandler(LogHandlerBase):
    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def __post_init__(self):
        pass

    def emit(self, record):
        if getattr(record, "event", None) == LogEvent.JOB_INFO:
            found = {key: getattr(record, key) for key in ("rule_name", "priority", "threads", "shellcmd", "rule_msg")}
            found |= {key: list(getattr(record, key)) for key in ("input", "output", "log")}
            found |= {key: dict(getattr(record, key).items()) for key in ("wildcards", "resources")}
            workflow = next(each for each in gc.get_objects() if isinstance(each, Workflow))
            (job,) = [job for job in workflow.dag.jobs if workflow.dag.jobid(job) == record.jobid]
            work = job.params.get("job", job.params).get("work")
            found["work"] = json.loads(workflow.globals["JOBS"].work[work]) if work else []
            print("JOB", json.dumps(found))
"""

#: The study that is planned: original data, a search, times, an experiment without data, and features of another task.
SELECTION = (
    "only_experiments=survey-gaussian-text,survey-gaussian-code,survey-gaussian-others,theory-variance,slsrff-text",
    "only_methods=rff,lsrff,slsrff", "repeats=2", "device=cpu",
)  # fmt: skip

#: Named targets that are planned next to that of everything.
TARGETS = ("publish_all", "slsrff", "slsrff_table_02")

PREPARED = [f"data/prepared/original/eeg/{name}" for name in ("X.npy", "y.npy", "facts.json")]
FACTS, TEXT = PREPARED[-1], "results/laptop/survey-gaussian-text"


class Planned:
    """The jobs of a dry-run."""

    def __init__(self, space, *arguments):
        package = space.folder / "plugins/snakemake_logger_plugin_jobs"
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text(LOGGER)
        options = ("--dry-run", "--cores", "2", *arguments, "--logger", "jobs")
        done = space.snakemake(*options, PYTHONPATH=f"{space.folder / 'plugins'}:{space.folder / 'src'}")
        found = [json.loads(line[4:]) for line in done.stdout.splitlines() if line.startswith("JOB ")]
        self.jobs = [SimpleNamespace(**each, words=words_of(each["shellcmd"])) for each in found]
        for job in self.jobs:
            job.code = listed(space.folder, option(job, "--code"))

    def named(self, rule: str, **wildcards):
        """The one job of a rule with these wildcards."""
        of_rule = (job for job in self.jobs if job.rule_name == rule)
        (found,) = (job for job in of_rule if wildcards.items() <= job.wildcards.items())
        return found


def listed(folder: Path, files: list[str]) -> set[str]:
    """The modules that files list, each with the hash of its code."""
    lines = [line for path in files for line in (folder / path).read_text().splitlines()]
    return {line.split("  ")[1] for line in lines}


def words_of(command: str | None) -> list[str]:
    """The words of a command after the name of the program, without its log."""
    words = shlex.split((command or "").partition(" > ")[0])
    return words[words.index("rfstudy") + 1 :] if "rfstudy" in words else []


def option(job, name: str) -> list[str]:
    """The values of an option, in the order in which they are given."""
    return [after for word, after in zip(job.words, job.words[1:], strict=False) if word == name]


def data_of(job) -> list[str]:
    """The inputs of a job that are no printed numbers."""
    return [path for path in job.input if not path.startswith("data/reference/")]


@pytest.fixture(scope="module")
def plan(repository):
    preset = ("--configfile", "config/presets/laptop.yaml")
    return Planned(repository, "all", *TARGETS, *preset, "--config", *SELECTION)


#: One job of each rule: its wildcards, what it reads next to printed numbers, and what it writes.
JOBS = {
    "download": ({"source": "eeg"}, [], ["data/raw/eeg/record.json"]),
    "preprocess": ({"dataset": "eeg"}, ["data/raw/eeg/record.json"], PREPARED),
    "tune": (
        {"experiment": "survey-gaussian-text", "shard": "eeg"}, [FACTS],
        [f"{TEXT}/tune/eeg.json", f"{TEXT}/tune/eeg.provenance.json"],
    ),
    "train": (
        {"experiment": "survey-gaussian-text", "shard": "eeg.lsrff"}, [FACTS, f"{TEXT}/tune/eeg.json"],
        [f"{TEXT}/train/eeg.lsrff{ending}" for ending in (".csv", ".provenance.json")],
    ),
    "time": (
        {"experiment": "survey-gaussian-text", "shard": "eeg"}, [FACTS, f"{TEXT}/tune/eeg.json"],
        [f"{TEXT}/time/eeg{ending}" for ending in (".csv", ".provenance.json")],
    ),
    "measure": (
        {"experiment": "theory-variance", "shard": "rff"}, [],
        [f"results/laptop/theory-variance/measure/rff{ending}" for ending in (".csv", ".provenance.json", ".npz")],
    ),
    "publish": ({"experiment": TEXT.split("/")[-1]}, [f"{TEXT}.csv", f"{TEXT}.provenance.json"], [f"{TEXT}.published"]),
}  # fmt: skip


@pytest.mark.parametrize("rule", JOBS)
def test_a_job_reads_and_writes_what_its_stage_does(plan, rule):
    wildcards, reads, writes = JOBS[rule]
    job = plan.named(rule, **wildcards)
    assert data_of(job) == reads
    assert job.output == writes


def test_a_task_of_listed_rows_is_made_anew_when_their_list_changes(plan):
    job = plan.named("preprocess", dataset="letter-am-nz")
    assert set(job.input) - set(data_of(job)) == {"data/reference/letter_survey_rows.csv"}
    assert job.work[0]["reference_dir"] == "data/reference"


def test_an_experiment_is_put_together_from_all_its_jobs_and_data(plan):
    job, of = plan.named("collect", experiment="slsrff-text"), "results/laptop/slsrff-text"
    datasets = ["eeg", "cod-rna", "covtype", "magic04"]
    shards = [f"{dataset}.{method}" for dataset in datasets for method in ("rff", "lsrff", "slsrff")]
    rows = [f"{of}/train/{shard}.csv" for shard in shards]
    rows += [f"{of}/time/{dataset}.csv" for dataset in datasets]
    facts = [f"data/prepared/original/{dataset}/facts.json" for dataset in datasets]
    assert data_of(job) == rows + facts
    assert job.output == [f"{of}.csv", f"{of}.provenance.json", f"{of}.npz"]
    job, of = plan.named("collect", experiment="theory-variance"), "results/laptop/theory-variance"
    assert data_of(job) == [f"{of}/measure/rff.csv", f"{of}/measure/rff.npz"]


#: Arguments of stages that name files that are read, and folders of such files.
READ = ("methods", "tasks", "results_file")
FOLDERS = ("raw_dir", "base_dir")


def test_every_path_that_a_stage_receives_is_an_input_or_an_output_of_its_job(plan):
    for job in plan.jobs:
        for work in job.work:
            read = [work[name] for name in READ if name in work] + work.get("results", [])
            assert set(read) <= set(job.input), job.rule_msg
            inside = [each for each in job.output if Path(work["out"]) in (Path(each), *Path(each).parents)]
            assert inside or job.rule_name == "publish", job.rule_msg
            for path in filter(None, map(work.get, FOLDERS)):
                assert [each for each in job.input if Path(path) in Path(each).parents], job.rule_msg


def test_a_command_is_that_of_its_rule_and_works_on_what_the_job_is_named_after(plan):
    for job in plan.jobs:
        if not job.words:
            continue
        rule, stage = job.rule_name.split("_")[0], job.words[0]
        assert stage == {"table": "draw", "figure": "draw"}.get(rule, rule)
        assert len(option(job, "--code")) == 1, job.rule_msg
        module = {"draw": "report", "download": "data", "preprocess": "data"}.get(stage, "study")
        assert f"rfstudy.{module}.{stage}" in job.code, job.rule_msg
        assert job.work[-1]["stage"] == stage
        if stage in ("tune", "train", "measure", "time", "collect"):
            assert [Path(job.words[1]).name] == [f"{job.wildcards.get('shard', 'collect')}.work.json"]
    assert plan.named("download", source="eeg").work[0]["source_id"] == "eeg"
    assert not [job.rule_msg for job in plan.jobs for work in job.work if work.get("allow_missing")]
    assert plan.named("publish", experiment="slsrff-text").work[0]["out"] == "data/measured/slsrff-text.csv.xz"


def test_a_job_reads_the_code_of_what_it_runs_and_of_nothing_else(plan):
    def code(rule, **wildcards):
        return plan.named(rule, **wildcards).code

    of_text = {"experiment": "survey-gaussian-text"}
    lsrff, rff = (code("train", **of_text, shard=f"eeg.{method}") for method in ("lsrff", "rff"))
    learners = {"random_features.learners.ridge", "random_features.learners.svm"}
    assert {"random_features.maps.leverage", *learners, "rfstudy.data.steps.standard_rows"} <= lsrff
    assert "random_features.maps.leverage" not in rff
    assert "random_features.learners.svm" in code("tune", **of_text, shard="eeg")
    assert "rfstudy.study.train" in rff
    assert {"random_features.maps.leverage", "rfstudy.study.kinds.grid"} <= code("time", **of_text, shard="eeg")
    assert "rfstudy.study.kinds.variance" in code("measure", experiment="theory-variance", shard="rff")
    assert "rfstudy.data.parse" in code("preprocess", dataset="eeg")
    assert {"rfstudy.report.plots.lines", "rfstudy.report.tables.accuracy"} <= code("draw_laptop_survey")
    table = code("table", paper="slsrff", name="table-02-text")
    assert "rfstudy.report.tables.data" in table
    assert "rfstudy.report.plots.lines" not in table


def test_pages_and_a_comparison_read_the_code_and_the_facts_that_they_load_by_name(repository):
    planned = Planned(repository, "render", "compare", "--config", "own=config/slices.csv")
    render, compare = planned.named("render"), planned.named("compare")
    claims = {f"rfstudy.report.claims.{path.stem}" for path in ROOT.glob("src/rfstudy/report/claims/[a-z]*.py")}
    assert claims <= render.code
    read = [*ROOT.glob("config/experiments/*.yaml"), *map(file_of, REGISTRIES)]
    assert {str(path.relative_to(ROOT)) for path in read} <= set(render.input)
    assert {f"random_features.maps.{REGISTRY[name].module}" for name in MAPS} <= compare.code


def test_jobs_ask_for_what_they_need(plan):
    """Choices come first, times last, alone, and on all cores; the time of a task is that of one thread."""
    asked = {}
    for job in plan.jobs:
        if "shard" in job.wildcards:
            asked.setdefault(job.rule_name, []).append((job.priority, job.threads))
    assert {rule: set(of) for rule, of in asked.items()} == {
        "tune": {(1, 1)}, "train": {(0, 1)}, "measure": {(0, 1)}, "time": {(-1, 2)},
    }  # fmt: skip
    assert plan.named("download", source="eeg").resources["download"] == 1
    small, large = (
        plan.named("train", experiment="slsrff-text", shard=f"{dataset}.rff").resources
        for dataset in ("eeg", "covtype")
    )
    assert 700 < small["mem_mb"] < large["mem_mb"]
    assert 5 <= small["runtime"] <= large["runtime"] < 240
    small, large = (plan.named("preprocess", dataset=dataset).resources for dataset in ("eeg", "covtype"))
    assert 700 < small["mem_mb"] < large["mem_mb"]


def test_an_output_is_drawn_from_the_rows_of_its_experiments_and_the_published_numbers(plan):
    published = sorted(f"data/reference/{path.name}" for path in (ROOT / "data/reference").glob("*.csv"))
    for job in (plan.named("table", paper="slsrff", name="table-02-text"), plan.named("draw_laptop_slsrff")):
        rows, records = "results/laptop/slsrff-text.csv", "results/laptop/slsrff-text.provenance.json"
        assert job.work[0]["results"] == [rows]
        facts = ["config/methods.yaml", "config/datasets.yaml", "src/rfstudy/metrics.py"]
        assert data_of(job) == [rows, records, *facts]
        assert sorted(set(job.input) - set(data_of(job))) == published


def test_a_paper_is_drawn_by_one_job_and_a_named_output_alone(plan):
    assert plan.named("slsrff").input == ["figures/laptop/pages/slsrff"]
    drawn = [job for job in plan.jobs if job.rule_name.startswith("draw_")]
    assert sorted(path for job in drawn for path in job.output) == sorted(plan.named("all").input)
    endings = ("csv", "md", "tex", "txt")
    assert plan.named("slsrff_table_02").input == [f"figures/laptop/slsrff/table-02-text.{each}" for each in endings]
    names = ("survey-gaussian-text", "survey-gaussian-code", "survey-gaussian-others", "theory-variance", "slsrff-text")
    assert set(plan.named("publish_all").input) == {f"results/laptop/{name}.published" for name in names}


def test_a_choice_is_made_for_the_maps_that_share_it(plan):
    """The penalty that maps share is one at which all of them have a solution, so that other maps choose anew."""
    for name in ("survey-gaussian-text", "survey-gaussian-others", "survey-gaussian-code", "slsrff-text"):
        own = [job for job in plan.jobs if job.wildcards.get("experiment") == name and job.rule_name == "train"]
        assert own
        for job in own:
            dataset = job.wildcards["shard"].split(".")[0]
            chosen = [f"results/laptop/{name}/tune/{dataset}.json"] if name.startswith("survey") else []
            assert [path for path in job.input if "/tune/" in path] == chosen


@pytest.fixture(scope="module")
def embedded(new_workspace, page):
    """A plan of stand-ins, on a GPU, of one job an experiment, and of the shipped measurements; a task of it is
    features of another."""
    space = new_workspace("embedded")
    (space.folder / "data/measured").symlink_to(ROOT / "data/measured")
    (task,) = page("adding-a-dataset.md").blocks("yaml", "As features of another task")
    space.insert("config/datasets.yaml", task)
    line = "    mnist-1-7-hog: {preprocess: [minmax]}\n"
    space.insert("config/experiments/slsrff.yaml", line, before="    magic04: {preprocess: [minmax]}\n")
    of = ("only_methods=rff,sorf", "shard_by=[experiment]", "device=cuda")
    return Planned(space, "all", "measured_figures", "--config", *of)


def test_a_job_of_several_data_sets_reads_all_of_them(embedded):
    datasets = {"eeg", "cod-rna", "covtype", "mnist-1-7-hog", "magic04"}
    job = embedded.named("train", experiment="slsrff-text")
    assert {Path(path).parent.name for path in job.input if path.startswith("data/prepared/")} == datasets
    assert job.resources["gpu"] == 1


def test_stand_ins_need_no_download_and_features_of_a_task_are_made_of_it(embedded):
    assert "download" not in {job.rule_name for job in embedded.jobs}
    assert data_of(embedded.named("preprocess_together")) == []
    job = embedded.named("preprocess", dataset="mnist-1-7-hog")
    assert data_of(job) == ["data/prepared/embedded/mnist-1-7/facts.json"]


def test_an_extractor_that_needs_weights_gets_them_a_gpu_and_the_time_that_it_takes(repository):
    target = "data/prepared/original/cifar10-vgg/facts.json"
    of = ("only_experiments=survey-images-text", "device=cuda")
    plan = Planned(repository, target, "--configfile", "config/presets/paper.yaml", "--config", *of)
    job = plan.named("preprocess", dataset="cifar10-vgg")
    assert data_of(job) == ["data/raw/vgg16-bn/record.json", "data/prepared/original/cifar10/facts.json"]
    folders = (job.work[0]["raw_dir"], job.work[0]["base_dir"])
    assert folders == ("data/raw/vgg16-bn", "data/prepared/original/cifar10")
    assert job.work[0]["device"] == "cuda"
    assert (job.resources["gpu"], job.resources["runtime"]) == (1, 240)
    assert {f"rfstudy.data.{name}" for name in ("extractors.vgg", "finetuning", "networks", "images")} <= job.code
    others = plan.named("preprocess", dataset="cifar10")
    assert (others.resources["gpu"], others.resources["runtime"]) == (0, 60)


def test_one_job_prepares_the_stand_ins_that_a_preset_lists_and_none_that_needs_files(embedded, plan):
    listed = read_yaml(ROOT / "config/presets/quick.yaml")["prepared_together"]
    job = embedded.named("preprocess_together")
    assert {Path(path).parent.name for path in job.output} == set(listed)
    assert {"rfstudy.data.generators.numeric", "rfstudy.data.generators.windmill"} <= job.code
    assert "rfstudy.data.extractors.hog" not in job.code
    alone = {job.wildcards["dataset"] for job in embedded.jobs if job.rule_name == "preprocess"}
    assert alone >= {"mnist-1-7", "mnist-1-7-hog", "cifar10-auto-truck"}
    assert not alone & set(listed)
    assert "preprocess_together" not in {job.rule_name for job in plan.jobs}


def test_the_shipped_measurements_are_drawn_from_themselves(embedded):
    drawn = [job for job in embedded.jobs if job.rule_name.startswith("draw_measured")]
    shipped = {f"data/measured/{path.name}" for path in (ROOT / "data/measured").glob("*.csv.xz")}
    for job in drawn:
        rows = [path for path in data_of(job) if path.endswith((".csv", ".csv.xz"))]
        assert set(rows) <= shipped
        assert rows == job.work[0]["results"]


def test_a_command_stays_short(embedded, plan):
    commands = [job.shellcmd for job in (*embedded.jobs, *plan.jobs) if job.shellcmd]
    assert max(map(len, commands)) < 4096
