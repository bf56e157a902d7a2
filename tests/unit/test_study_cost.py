"""The cost of jobs: the model, the requests and their limits, and shards sized by it."""

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rfstudy.files import read_json, read_yaml
from rfstudy.study import config, cost, cost_fit, cost_plan, plan, yardsticks
from rfstudy.study.config import is_asked_for
from rfstudy.study.jobs import Jobs
from rfstudy.study.kinds.registry import KINDS

CONFIG = Path(__file__).parents[2] / "config"
MODEL = read_json(CONFIG / "costs.json")


@pytest.fixture(scope="module")
def paper():
    """The configuration of the paper preset."""
    return config.load_study(read_yaml(CONFIG / "config.yaml") | read_yaml(CONFIG / "presets/paper.yaml"), CONFIG)


def jobs_of(study, stage, name, **settings):
    """Return the jobs of a stage in an experiment."""
    return cost.sized(stage, study.chosen[name], study.registry.tasks, study.settings | settings, MODEL)


def computed(shards):
    """Return how often each data set, method and repeat is computed."""
    parts = [part for shard in shards for part in shard.parts]
    return Counter((p.dataset, repr(entry), repeat) for p in parts for entry in p.methods for repeat in p.repeats)


@pytest.mark.parametrize("minutes", [1, 30, 120, 10_000])
def test_jobs_of_any_length_do_the_same_work_once(paper, minutes):
    for name, experiment in paper.chosen.items():
        for stage in ("tune", "train", "measure"):
            plain = computed(plan.shards_of(stage, experiment, paper.settings))
            assert computed(jobs_of(paper, stage, name, minutes_per_shard=minutes)) == plain, name


def test_jobs_of_one_experiment_have_different_names(paper):
    for name in paper.chosen:
        names = [shard.name for shard in jobs_of(paper, "train", name, minutes_per_shard=10)]
        assert len(set(names)) == len(names)


def test_without_minutes_jobs_are_cut_by_axes_alone(paper):
    name = "survey-gaussian-text"
    found = jobs_of(paper, "train", name, minutes_per_shard=None)
    expected = plan.shards_of("train", paper.chosen[name], paper.settings)
    assert [(shard.name, shard.parts) for shard in found] == [(shard.name, shard.parts) for shard in expected]


def test_the_paper_has_under_700_submissions_of_its_stages(paper):
    stages = ("tune", "train", "measure", "time")
    asked_for = [name for name, each in paper.chosen.items() if is_asked_for(each, paper.settings)]
    assert sum(len(jobs_of(paper, stage, name)) for name in asked_for for stage in stages) < 670


def test_more_rows_columns_and_penalties_cost_more(paper):
    spec = jobs_of(paper, "train", "slsrff-text")[0].parts
    base = cost.seconds_of(cost.work_of("train", spec[0], 1000, 10), MODEL)[0]
    assert cost.seconds_of(cost.work_of("train", spec[0], 2000, 10), MODEL)[0] > base
    assert cost.seconds_of(cost.work_of("train", spec[0], 1000, 20), MODEL)[0] > base
    assert cost.seconds_of(cost.work_of("train", spec[0], 1000, 10, alone=True), MODEL)[0] > base


@pytest.mark.parametrize(
    ("grid", "n", "expected"),
    [
        ({}, 9_000, (9_000, 9_000)),
        ({}, 40_000, (15_000, 15_000)),  # of its rows as many take part
        ({"most_rows": 60_000}, 15_000, (15_000, 15_000)),
        ({"most_rows": 60_000}, 40_000, (40_000, 1_500)),  # in blocks, with a preconditioner
    ],
)
def test_the_exact_kernel_holds_a_matrix_up_to_the_rows_that_it_solves_by_cholesky(grid, n, expected):
    assert cost.matrix_of_kernel("controls", grid, n) == expected


def test_the_plan_knows_how_the_exact_kernel_is_solved():
    assert KINDS["controls"].by_cholesky == yardsticks.BY_CHOLESKY == yardsticks.MOST_ROWS
    assert KINDS["controls"].rank == yardsticks.RANK


def test_a_split_that_caps_the_rows_caps_the_work():
    task, settings = {"n": 90_000, "d": 7, "source": {}}, {"data": "original", "max_rows": 40_000}
    assert cost.rows_of(task, settings) == (80_000, 7)
    assert cost.rows_of(task, settings, {"rule": "folds", "n_rows": 30_000}) == (30_000, 7)


def test_work_without_records_is_marked():
    seen = cost.amounts("map rff", 1, 100, 10)
    assert cost.seconds_of(seen, MODEL)[1] is False
    assert cost.seconds_of(cost.amounts("map rff", 1, 1e9, 1e4), MODEL)[1] is True
    seconds, beyond = cost.seconds_of(cost.amounts("map unheard", 1, 1000, 100), MODEL)
    assert beyond
    assert seconds > 0


def test_attempts_grow_up_to_the_limits():
    needed = {"mem_mb": 3000, "runtime": 50, "gpu": 0}
    settings = {"max_mem_mb": 5000, "max_runtime": None}
    assert [cost.grown(needed, attempt, settings)["mem_mb"] for attempt in (1, 2, 3)] == [3000, 5000, 5000]
    assert cost.grown(needed, 3, settings)["runtime"] == 150


def test_a_job_over_a_limit_is_named_with_what_to_change():
    needed = {"mem_mb": 9000, "runtime": 50}
    (line,) = cost.too_large("train e/d", needed, {"max_mem_mb": 8000, "max_runtime": 60})
    assert line.startswith("train e/d requests mem_mb=9000, more than max_mem_mb=8000: set max_rows")
    assert cost.too_large("train e/d", needed, {"max_mem_mb": None, "max_runtime": None}) == []


@pytest.mark.parametrize(
    ("device", "device_from", "expected"), [("cpu", 1, 0), ("cuda", None, 1), ("auto", None, 0), ("auto", 1, 1)]
)
def test_the_configuration_decides_about_gpus(paper, device, device_from, expected):
    settings = paper.settings | {"device": device, "device_from": device_from}
    shard, experiment = jobs_of(paper, "train", "survey-gaussian-text")[0], paper.chosen["survey-gaussian-text"]
    assert cost.needs("train", experiment, shard, paper.registry.tasks, settings, MODEL)["gpu"] == expected


def test_maps_that_learn_for_long_request_a_gpu_at_any_size(paper):
    settings = paper.settings | {"device": "auto", "device_from": 1e30}
    for name, expected in (("nsrf-text", 1), ("survey-gaussian-text", 0)):
        shards = jobs_of(paper, "train", name)
        needs = [
            cost.needs("train", paper.chosen[name], each, paper.registry.tasks, settings, MODEL)["gpu"]
            for each in shards
        ]
        assert max(needs) == expected


@pytest.mark.parametrize(
    ("stage", "name", "device", "expected"),
    [
        ("train", "survey-gaussian-text", "auto", {"auto", "cpu"}),
        ("tune", "survey-gaussian-text", "auto", {"cpu"}),
        ("measure", "nsrf-combination", "auto", {"cpu"}),
        ("time", "survey-gaussian-text", "auto", {"auto"}),
        ("train", "survey-gaussian-text", "cuda", {"cuda"}),
    ],
)
def test_jobs_that_request_no_gpu_compute_on_the_cpu(paper, stage, name, device, expected):
    jobs = Jobs(paper._replace(settings=paper.settings | {"device": device}), CONFIG.parent)
    found = set()
    for shard in jobs.shards_of(stage, name).values():
        (on,) = {part["device"] for part in jobs.arguments(stage, name, shard)["parts"]}
        assert (on == "cpu") == (not jobs.resources(stage, shard)["gpu"]) or stage == "time"
        found.add(on)
    assert found == expected


def test_the_fit_finds_the_seconds_that_made_the_records():
    rng = np.random.default_rng(0)
    amounts = rng.uniform(0.01, 1, (200, 3))
    truth = np.array([30.0, 100.0, 5.0])
    found = cost_fit.fitted(amounts, amounts @ truth * rng.lognormal(0, 0.05, 200))
    np.testing.assert_allclose(found, truth, rtol=0.1)


def test_the_request_covers_the_quantile_of_the_records():
    assert cost.requested_minutes(600, MODEL) == 1 + math.ceil(10 * MODEL["factor"])
    assert cost.requested_minutes(10, MODEL) == 5


def test_the_plan_adds_up():
    jobs = pd.DataFrame(
        {
            "rule": ["train", "train", "tune"], "job": ["a", "b", "c"], "threads": [2, 2, 1],
            "mem_mb": [1024, 2048, 1024],
            "runtime": [60, 120, 30], "gpu": [0, 1, 0], "expected": [30, 3600, 0], "extrapolated": [0, 1, 0],
        }
    )  # fmt: skip
    whole = cost_plan.totals(jobs, max_runtime=100).set_index("rule").loc["all"]
    assert whole["jobs"] == 3
    assert whole["CPU hours requested"] == 6.5
    assert whole["CPU hours expected"] == 2.0
    assert whole["GiB hours requested"] == 5.5
    assert [whole[key] for key in ("GPU jobs", "under a minute", "over your limits", "without a model")] == [1, 1, 1, 1]


def test_a_page_has_the_newest_table(tmp_path):
    page, table = tmp_path / "page.md", tmp_path / "rules.md"
    page.write_text("a\n<!-- plan: command -->\n| old |\n<!-- end of plan -->\nb\n")
    for text in ("| 1 |\n", "| 2 |\n"):
        table.write_text(text)
        cost_plan.put_into(page, table)
    assert page.read_text() == "a\n<!-- plan: command -->\n\n| 2 |\n\n<!-- end of plan -->\nb\n"


def test_the_memory_of_a_request_is_that_of_records_and_the_stated_one_far_beyond_them():
    model = {"memory": {"train grid": {"mb": 2000, "per_mb": 0.5, "largest": 1000}}}
    known, extrapolated = cost.requested_memory("train", "grid", 9000, 1000, model)
    assert (known, extrapolated) == (math.ceil(2500 * cost.MARGIN + cost.SNAKEMAKE_MB), False)
    assert cost.requested_memory("train", "grid", 9000, 8000, model) == (9000, True)
    # a search without records takes those of training
    assert cost.requested_memory("tune", "grid", 9000, 1000, model) == (known, extrapolated)
    assert cost.requested_memory("measure", "path", 10, 8, model) == (cost.LEAST_MB, True)


def test_the_memory_of_records_grows_as_their_stated_data_do():
    jobs = [("train", "", 1.0, {}, "grid", 500 + 0.4 * data, data) for data in (0, 100, 2000)]
    jobs += [("measure", "", 1.0, {}, "path", mb, 3) for mb in (400, 450)]
    found = cost_fit.memory_of(jobs)
    assert found["train grid"] == {"mb": 500, "per_mb": 0.4, "largest": 2000, "jobs": 3}
    assert found["measure path"]["mb"] == 447  # the largest record, less its data


def test_an_experiment_a_data_set_and_a_stage_have_their_times():
    slow = {"one": 1.0, "two": 8.0}
    rows = {"eeg": 1.0, "skin": 3.0, "a8a": 1.0}
    stages = {"train": 1.0, "tune": 0.5}
    names = [(e, d, s) for e in slow for d in rows for s in stages for _ in range(4)]
    ratios = [slow[e] * rows[d] * stages[s] for e, d, s in names]
    jobs = pd.DataFrame(
        {"stage": [s for *_, s in names], "job": [f"{e} ('{d}',)" for e, d, _ in names], "ratio": ratios}
    )
    times, rest = cost_fit.times_of(jobs)
    assert times["stage train"] / times["stage tune"] == pytest.approx(2, rel=0.2)
    assert times["experiment two"] / times["experiment one"] == pytest.approx(8, rel=0.2)
    assert times["dataset skin"] / times["dataset eeg"] == pytest.approx(3, rel=0.2)
    assert rest == pytest.approx(np.ones(len(rest)), rel=0.2)


def test_the_shipped_calibration_is_of_jobs_that_the_laptop_preset_has():
    given = read_yaml(CONFIG / "config.yaml") | read_yaml(CONFIG / "presets/laptop.yaml")
    path = CONFIG.parent / "data" / "calibration.csv"
    jobs = list(cost_fit.calibrated(config.load_study(given, CONFIG), path))
    assert len(jobs) == len(path.read_text(encoding="utf-8").splitlines()) - 1


def test_a_calibration_has_the_finished_jobs_of_a_run(tmp_path):
    run = {"run": "a", "stage": "tune", "threads": 1, "processor_time_s": 2.5, "peak_memory_mb": 400}
    old = {"run": "b", "stage": "tune", "threads": 1, "wall_time_s": 9}
    records = tmp_path / "results" / "slsrff-text" / "tune" / "eeg.provenance.json"
    facts = tmp_path / "prepared" / "eeg" / "facts.json"
    for path, content in ((records, {"sha256": {}, "runs": [run, old]}), (facts, {"provenance": run})):
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    chunk = tmp_path / "benchmarks" / "mnist8m-made-0.tsv"
    chunk.parent.mkdir()
    chunk.write_text("s\tmax_rss\tcpu_time\n9.0\t313.1\t4.5\n", encoding="utf-8")
    cost_fit.write_calibration(tmp_path / "results", tmp_path / "prepared", chunk.parent, tmp_path / "out.csv")
    rows = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert rows == ["tune,slsrff-text/eeg,2.50,400", "preprocess,eeg,2.50,400", "stream,mnist8m-made,4.50,313"]
