"""The cost of jobs: the model, the requests and their limits, and shards sized by it."""

import math
from collections import Counter

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
    """Return the jobs of a stage in an experiment."""
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


@pytest.mark.parametrize("learner", sorted(cost.OF_MATRICES))
def test_predictors_with_a_kernel_matrix_request_its_memory(paper, learner):
    part = jobs_of(paper, "measure", "yardsticks")[0].parts[0]
    own, plain = (part | {"grid": {"learners": [each], "most_rows": 10_000}} for each in (learner, "linear"))
    more = cost.memory_of(own, 10_000, 8) - cost.memory_of(plain, 10_000, 8)
    assert more == pytest.approx(KINDS["controls"].bytes_per_pair * 1e8 / 2**20)


def test_the_plan_knows_how_the_exact_kernel_is_solved():
    assert KINDS["controls"].by_cholesky == yardsticks.BY_CHOLESKY == yardsticks.MOST_ROWS
    assert KINDS["controls"].rank == yardsticks.RANK


def test_a_split_that_caps_the_rows_caps_the_work():
    task, settings = {"n": 90_000, "d": 7, "source": {}}, {"data": "original", "max_rows": 40_000}
    assert cost.rows_of(task, settings) == (80_000, 7)
    assert cost.rows_of(task, settings, {"rule": "folds", "n_rows": 30_000}) == (30_000, 7)


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


def test_the_fit_finds_the_seconds_that_made_the_records():
    rng = np.random.default_rng(0)
    amounts = rng.uniform(0.01, 1, (200, 3))
    truth = np.array([30.0, 100.0, 5.0])
    found = cost_fit.fitted(amounts, amounts @ truth * rng.lognormal(0, 0.05, 200))
    np.testing.assert_allclose(found, truth, rtol=0.1)


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


def test_the_request_covers_the_quantile_of_the_records():
    assert cost.requested_minutes(600, MODEL) == 1 + math.ceil(10 * MODEL["factor"])
    assert cost.requested_minutes(10, MODEL) == 5


def test_the_plan_adds_up():
    jobs = {
        "stage": ["train", "train", "tune"], "job": ["a", "b", "c"], "mem_mb": [1024, 2048, 1024],
        "runtime": [60, 120, 30], "gpu": [0, 1, 0], "expected": [1800, 3600, 0],
    }  # fmt: skip
    whole = cost_plan.totals(pd.DataFrame(jobs), threads=2)["all"].to_dict()
    assert whole == {
        "jobs": 3, "CPU hours requested": 7.0, "CPU hours expected": 3.0, "GiB hours requested": 5.5,
        "longest request (min)": 120, "largest memory (MB)": 2048, "GPU jobs": 1,
        "CPU hours expected of GPU jobs": 2.0, "without records": 1,
    }  # fmt: skip


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


def test_an_experiment_and_a_data_set_have_their_times():
    slow, rows = {"one": 1.0, "two": 8.0}, {"eeg": 1.0, "skin": 3.0, "a8a": 1.0}
    names = [(e, d) for e in slow for d in rows for _ in range(4)]
    ratios = [slow[e] * rows[d] for e, d in names]
    times, rest = cost_fit.times_of(pd.DataFrame(names, columns=["experiment", "dataset"]).assign(ratio=ratios))
    assert times["experiment two"] / times["experiment one"] == pytest.approx(8, rel=0.2)
    assert times["dataset skin"] / times["dataset eeg"] == pytest.approx(3, rel=0.2)
    assert rest == pytest.approx(np.ones(len(rest)), rel=0.2)
