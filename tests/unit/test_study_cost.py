"""The cost of jobs: the model, the requests and their limits, and shards sized by it."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rfstudy.files import read_yaml
from rfstudy.study import cost, cost_plan, fit, plan, selection
from rfstudy.study.selection import is_asked_for

CONFIG = Path(__file__).parents[2] / "config"
MODEL = cost.read_model(CONFIG / "costs.json")


@pytest.fixture(scope="module")
def paper():
    """The configuration of the paper preset."""
    return selection.load_study(read_yaml(CONFIG / "config.yaml") | read_yaml(CONFIG / "presets/paper.yaml"), CONFIG)


def jobs_of(study, stage, name, **settings):
    """Return the jobs of a stage in an experiment."""
    return cost.shards_of(stage, study.chosen[name], study.registry.tasks, study.settings | settings, MODEL)


def computed(shards):
    """Return how often each data set, method and repeat is computed."""
    return Counter((d, m, r) for shard in shards for d in shard.datasets for m in shard.methods for r in shard.repeats)


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
    assert jobs_of(paper, "train", name, minutes_per_shard=None) == plan.shards(paper.chosen[name], paper.settings)


def test_the_paper_has_under_700_submissions_of_its_stages(paper):
    stages = ("tune", "train", "measure", "time")
    asked_for = [name for name, each in paper.chosen.items() if is_asked_for(each, paper.settings)]
    assert sum(len(jobs_of(paper, stage, name)) for name in asked_for for stage in stages) < 670


def test_more_rows_columns_and_penalties_cost_more(paper):
    spec = plan.parts_of(
        "train", paper.chosen["slsrff-text"], jobs_of(paper, "train", "slsrff-text")[0], paper.settings
    )
    base = cost.seconds_of(cost.work_of("train", spec[0], 1000, 10), MODEL)[0]
    assert cost.seconds_of(cost.work_of("train", spec[0], 2000, 10), MODEL)[0] > base
    assert cost.seconds_of(cost.work_of("train", spec[0], 1000, 20), MODEL)[0] > base
    assert cost.seconds_of(cost.work_of("train", spec[0], 1000, 10, alone=True), MODEL)[0] > base


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


def test_learned_maps_request_a_gpu_at_any_size(paper):
    settings = paper.settings | {"device": "auto", "device_from": 1e30}
    for name, expected in (("nsrf-text", 1), ("survey-gaussian-text", 0)):
        shards = jobs_of(paper, "train", name)
        needs = [
            cost.needs("train", paper.chosen[name], each, paper.registry.tasks, settings, MODEL)["gpu"]
            for each in shards
        ]
        assert max(needs) == expected


def test_the_fit_finds_the_seconds_that_made_the_records():
    rng = np.random.default_rng(0)
    amounts = rng.uniform(0.01, 1, (200, 3))
    truth = np.array([30.0, 100.0, 5.0])
    found = fit.fitted(amounts, amounts @ truth * rng.lognormal(0, 0.05, 200))
    np.testing.assert_allclose(found, truth, rtol=0.1)


def test_the_request_covers_the_quantile_of_the_records():
    assert cost.requested_minutes("train", 600, MODEL) == 5 + math.ceil(10 * MODEL["factor"]["train"])


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
