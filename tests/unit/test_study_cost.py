"""The cost of jobs: the model, the requests and their limits, and shards sized by it."""

import itertools
import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from checkouts import ROOT

from random_features.errors import UserError
from rfstudy.files import read_json, read_yaml
from rfstudy.planning import config, cost, cost_fit, cost_plan, plan
from rfstudy.planning.jobs import Jobs
from rfstudy.study import yardsticks
from rfstudy.study.kinds.registry import KINDS

CONFIG = ROOT / "config"
MODEL = read_json(CONFIG / "costs.json")


@pytest.fixture(scope="module")
def paper():
    """The configuration of the paper preset."""
    return config.load_study(read_yaml(CONFIG / "config.yaml") | read_yaml(CONFIG / "presets/paper.yaml"), CONFIG)


def jobs_of(study, stage, name, **settings):
    return cost.sized(stage, study.chosen[name], study.registry.tasks, study.settings | settings, MODEL)


def computed(shards):
    """Return how often each data set, method and repeat is computed."""
    parts = [part for shard in shards for part in shard.parts]
    return Counter((p.dataset, repr(entry), repeat) for p in parts for entry in p.methods for repeat in p.repeats)


@pytest.mark.parametrize("stage", ["tune", "train", "measure"])
def test_jobs_of_any_length_do_the_same_work_once_and_have_different_names(paper, stage):
    for name, experiment in paper.chosen.items():
        expected = computed(plan.shards_of(stage, experiment, paper.settings))
        for minutes in (1, 30, 10_000):
            shards = jobs_of(paper, stage, name, minutes_per_shard=minutes)
            assert computed(shards) == expected, name
            assert len({shard.name for shard in shards}) == len(shards), name


def test_more_rows_columns_and_penalties_cost_more(paper):
    part = jobs_of(paper, "train", "slsrff-text")[0].parts[0]

    def seconds(n, d, **how):
        return cost.seconds_of(cost.work_of("train", part, n, d, **how), MODEL)

    assert seconds(1000, 10) < min(seconds(2000, 10), seconds(1000, 20), seconds(1000, 10, alone=True))


def test_a_size_at_which_an_entry_does_not_run_costs_nothing(paper):
    part = jobs_of(paper, "train", "slsrff-text")[0].parts[0]

    def work(sizes, **own):
        changes = {"methods": [{"method": "rff", "options": {}} | own], "sizes": {"values": sizes}}
        return cost.work_of("train", part | changes, 1000, 10)

    assert work([16, 64], only_sizes=["16"]) == work([16]) != work([16, 64])


def test_a_learner_costs_by_its_training_rows_and_is_left_out_by_them(paper):
    part = jobs_of(paper, "train", "slsrff-text")[0].parts[0]
    own = {"methods": [{"method": "rff", "options": {}}], "sizes": {"values": [16]}, "dataset": "ijcnn1"}
    part |= own | {"learners": {"svm": {"max_entries": 32 * 49_990}}}
    n, _ = cost.sides_of(part, paper.registry.tasks, paper.settings)
    share = cost.share_that_trains(part, n, paper.registry.tasks, paper.settings)
    work = cost.work_of("train", part, n, 22, share=share)
    assert n == 141_691
    assert work["learner svm/nD"] == pytest.approx(len(part.repeats) * 32 * 49_990)
    assert not cost.work_of("train", part, n, 22)["learner svm/nD"]
    first, later = (part | {"learners": {"svm": {"repeats": 2}}, "repeats": cut} for cut in ([0, 1], [2, 3]))
    cells = [cost.work_of("train", each, n, 22)["learner svm/cells"] for each in (first, later)]
    assert cells == [2, 0]  # of a learner that the later repeats do not have


@pytest.mark.parametrize("learner", sorted(cost.OF_MATRICES))
def test_predictors_with_a_kernel_matrix_request_its_memory(paper, learner):
    part = jobs_of(paper, "measure", "yardsticks")[0].parts[0]
    own, plain = (part | {"grid": {"learners": [each], "most_rows": 10_000}} for each in (learner, "linear"))
    more = cost.memory_of(own, 10_000, 8) - cost.memory_of(plain, 10_000, 8)
    assert more == pytest.approx(KINDS["controls"].bytes_per_pair * 1e8 / 2**20)


def test_the_plan_knows_how_the_exact_kernel_is_solved():
    assert KINDS["controls"].by_cholesky == yardsticks.BY_CHOLESKY == yardsticks.MOST_ROWS
    assert KINDS["controls"].rank == yardsticks.RANK


def test_a_map_without_records_takes_as_long_as_the_slowest():
    slowest = max(cost.seconds_of(cost.amounts(f"map {name}", 1, 1000, 100), MODEL) for name in ("rff", "nystroem"))
    assert cost.seconds_of(cost.amounts("map unheard", 1, 1000, 100), MODEL) >= slowest > 0
    assert cost.seconds_of(cost.amounts("measure unheard", 1, 1000, 100), MODEL) == 0


def test_attempts_grow_up_to_the_limits_and_a_job_over_a_limit_is_named():
    needed = {"mem_mb": 3000, "runtime": 50, "gpu": 0}
    settings = {"max_mem_mb": 5000, "max_runtime": None}
    assert [cost.grown(needed, attempt, settings)["mem_mb"] for attempt in (1, 2, 3)] == [3000, 5000, 5000]
    assert cost.grown(needed, 3, settings)["runtime"] == 150
    # one job of several shards works on them one after the other; one without records requests hours alone
    shards = [needed | {"runtime": minutes, "expected": seconds} for minutes, seconds in ((50, 1700), (36, 1200))]
    whole = {"mem_mb": 3000, "runtime": cost.requested_minutes(2900, MODEL), "gpu": 0, "expected": 2900}
    assert cost.of_all(shards, MODEL) == whole
    assert cost.of_all([*shards, needed | {"runtime": 240, "expected": 0}], MODEL) == whole | {"runtime": 240}
    # a job over a limit is named with what to change
    needed = {"mem_mb": 9000, "runtime": 50}
    (line,) = cost.too_large("train e/d", needed, {"max_mem_mb": 8000, "max_runtime": 60})
    assert line.startswith("train e/d requests mem_mb=9000, more than max_mem_mb=8000: set max_rows")
    assert cost.too_large("train e/d", needed, {"max_mem_mb": None, "max_runtime": None}) == []


def gpus(study, name, **settings):
    """Return how many GPUs each job of training in an experiment requests."""
    shards, inputs = jobs_of(study, "train", name), (study.registry.tasks, study.settings | settings, MODEL)
    return [cost.needs("train", study.chosen[name], shard, *inputs)["gpu"] for shard in shards]


@pytest.mark.parametrize(
    ("device", "device_from", "expected"), [("cpu", 1, 0), ("cuda", None, 1), ("auto", None, 0), ("auto", 1, 1)]
)
def test_the_configuration_decides_about_gpus(paper, device, device_from, expected):
    assert set(gpus(paper, "survey-gaussian-text", device=device, device_from=device_from)) == {expected}


@pytest.mark.parametrize(("name", "expected"), [("nsrf-text", 1), ("survey-gaussian-text", 0)])
def test_maps_that_learn_for_long_request_a_gpu_at_any_size(paper, name, expected):
    assert max(gpus(paper, name, device="auto", device_from=1e30)) == expected


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


#: Seconds per amount that make the times of jobs.
USUAL = {"map rff/nD": 1e-6, "learner ridge/cells": 100.0, "learner ridge/nDD": 1e-9}


def fitted_to_jobs(longer, n_datasets, noise, tmp_path, monkeypatch):
    """The model fitted to jobs, and the jobs: experiment, work, its usual seconds, and with ``noise`` as recorded."""
    rng, jobs, blocks = np.random.default_rng(0), [], []
    for (experiment, times), dataset in itertools.product(longer.items(), range(n_datasets)):
        n, columns, fits = 10 ** rng.uniform(3.5, 5), 10 ** rng.uniform(2, 3), rng.integers(1, 20)
        work = cost.amounts("map rff", 5, n, columns) + cost.amounts("learner ridge", fits, n, columns)
        seconds = times * cost.seconds_of(work, {"seconds": USUAL})
        jobs.append((experiment, work, seconds, seconds * rng.lognormal(0, noise)))
        blocks.append(("train", experiment, f"d{dataset}", jobs[-1][-1], work))
    monkeypatch.setattr(cost_fit, "blocks_of", lambda study, measured: blocks[2:])
    monkeypatch.setattr(cost_fit, "slices_of", lambda slices: blocks[:2])
    model = cost_fit.fit(None, tmp_path, None, tmp_path / "costs.json")
    assert read_json(tmp_path / "costs.json") == model
    assert model["jobs"] == {"train": len(blocks)}
    return model, jobs


def expected_of(model, experiment, work):
    new = SimpleNamespace(datasets=("new",))
    return cost.seconds_of_shard("train", {"name": experiment}, new, work, model)


@pytest.mark.parametrize(("slow", "noise", "off"), [(1, 0.0, 1.001), (1, 0.05, 1.1), (3, 0.0, 1.4)])
def test_the_model_expects_the_seconds_that_made_the_records(slow, noise, off, tmp_path, monkeypatch):
    model, jobs = fitted_to_jobs({"e": 1, "slow": slow}, 40, noise, tmp_path, monkeypatch)
    ratios = [expected_of(model, experiment, work) / seconds for experiment, work, seconds, _ in jobs]
    assert 1 / off < min(ratios) <= max(ratios) < off
    times = model["times"]["train"]
    assert times["experiment slow"] / times["experiment e"] == pytest.approx(slow, rel=0.1)


@pytest.mark.parametrize("noise", [0.3, 0.6])
def test_nine_of_ten_new_jobs_finish_within_their_request(noise, tmp_path, monkeypatch):
    model, jobs = fitted_to_jobs({"e": 1}, 200, noise, tmp_path, monkeypatch)
    requests = [60 * cost.requested_minutes(expected_of(model, *job[:2]), model) for job in jobs]
    finished = [job[-1] <= request for job, request in zip(jobs, requests, strict=True)]
    assert 0.88 <= np.mean(finished) <= 0.94


def test_a_block_counts_once_all_of_its_sizes_are_recorded(paper, tmp_path, monkeypatch):
    name, found = "slsrff-code-large", [("rff", "64d"), ("rff", "128d"), ("qmc", "64d"), ("lsrff", "64d")]
    rows = pd.DataFrame(found, columns=["method", "n_features_label"]).assign(run="a", dataset="covtype")
    rows.to_csv(tmp_path / f"{name}.csv.xz", index=False)
    run = {"stage": "train", "gpu": "", "threads": 1, "processor_time_s": 90.0}
    monkeypatch.setattr(cost_fit, "read_records", lambda path: {"a": run})
    ((*place, seconds, work),) = cost_fit.blocks_of(paper, tmp_path)
    assert (place, seconds) == (["train", name, "covtype"], 45.0)
    assert work["map rff/cells"] == 2
    assert work["learner ridge/cells"] == 2 * (1 + cost.SEARCH["ridge"])


def test_a_search_costs_by_its_rounds_and_one_penalty_costs_no_search(paper):
    text, code = ({"method": "nsrf", "options": {"mode": mode}} for mode in ("text", "code"))
    assert 10 * cost.work_of_map(text, 1, 9, 200).total() == cost.work_of_map(code, 1, 9, 200).total()
    one, two = (cost.work_of_fits("l1_svm", {"C": grid}, 1, 9, 9, True) for grid in ([1], [1, 2]))
    assert one["learner l1_svm/cells"] == 1 < two["learner l1_svm/cells"]
    jobs = jobs_of(paper, "train", "nsrf-text", minutes_per_shard=None)
    (job,) = [job for job in jobs if "mnist-1-7.nsrf" in job.name]
    rounds = sum(cost.work_of("train", part, 9, 9)["map nsrf/cells"] for part in job.parts) / (500 * 100 * 10)
    assert rounds == 500  # of its five sizes, the largest has the rounds of the others


def test_slices_are_cells_of_one_learner():
    found = list(cost_fit.slices_of(CONFIG / "slices.csv"))
    assert all(stage == "train" and seconds > 0 and work.total() for stage, _, _, seconds, work in found)
    # of one that searches seven fits more, and of one with a tolerance of its own
    cells = [(place, work) for *place, seconds, work in found if seconds in (13.9, 128.9, 47.4)]
    assert [work.get("learner svm/cells", 0) for _, work in cells] == [8, 0, 0]
    assert [work.get("learner svm to 0.01/nD", 0) for _, work in cells] == [0, 8 * 290_506 * 1728, 0]
    assert cells[2] == (["train", "nsrf-text", "cifar10-auto-deer"], cost.amounts("learner l1_svm", 1, 10_000, 10_000))


def test_the_request_covers_the_quantile_of_the_records():
    assert cost.requested_minutes(600, MODEL) == 1 + math.ceil(10 * MODEL["factor"])
    assert cost.requested_minutes(10, MODEL) == 5


def test_the_page_about_clusters_has_the_plan_of_the_paper_preset(paper, tmp_path):
    """If it fails, put the table that ``python -m rfstudy plan`` prints into the page."""
    jobs = Jobs(paper, CONFIG.parent)
    jobs.root = tmp_path  # where nothing is finished
    found = cost_plan.jobs_of(jobs)
    shown = (CONFIG.parent / "docs/cluster.md").read_text(encoding="utf-8").split("<!-- plan -->\n\n")[1]
    assert cost_plan.totals(found, 1).to_markdown() == shown.split("\n\n")[0]
    done = tmp_path / "results/paper" / found.job[0].replace("/", f"/{found.stage[0]}/")
    done.parent.mkdir(parents=True)
    done.with_name(f"{done.name}.csv").touch()
    assert len(cost_plan.jobs_of(jobs)) == len(found) - 1
    jobs.settings |= {"max_runtime": 60}
    with pytest.raises(UserError, match=r"requests runtime=\d+, more than max_runtime=60"):
        cost_plan.jobs_of(jobs)
