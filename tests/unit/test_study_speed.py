"""The experiments on speed: what is compared with what, that both sides do the same work, and when they run."""

import copy
import subprocess
import sys
import time as clock
from types import SimpleNamespace

import numpy as np
import pytest
from checkouts import CONFIG

from random_features.kernels import Gaussian, Polynomial
from random_features.learners import svm
from random_features.maps.registry import make_map
from rfstudy import tidy
from rfstudy.planning import config, plan
from rfstudy.report.tables.times import comparisons
from rfstudy.study import time
from rfstudy.study.engine import Job, Timed, name_of
from rfstudy.study.kinds import crossover, speed
from rfstudy.study.peers import PEERS, make_peer

EXPERIMENTS = config.load_experiments(CONFIG)
TASKS = set(config.read_yaml(CONFIG / "datasets.yaml"))


def settings(preset="quick", **changes):
    return config.load_settings(config.read_yaml(CONFIG / "config.yaml") | {"preset": preset}, CONFIG) | changes


def study(name, **changes):
    """An experiment of the study as a run builds it; its data sets are none."""
    return config.select({name: EXPERIMENTS[name]}, settings(**changes), TASKS)[name]


def small(name, **changes):
    """The experiment with data that cost nothing."""
    experiment = copy.deepcopy(study(name, **changes))
    grid = experiment["grid"]
    if "maps" in grid:
        for at, comparison in enumerate(grid["maps"]):
            grid["maps"][at] = comparison | {"rows": 64, "dimension": 8 * at + 8, "n_features": 8 * at + 8}
        grid["ridge"] |= {"rows": 60, "columns": 8, "penalties": [0.1, 1.0], "n_folds": 2}
    else:
        grid |= {"dimensions": [8, 16, 32], "most_entries": 512, "most_rows": 50}
    return experiment


def part(experiment, preset="quick"):
    (shard,) = plan.shards_of("time", experiment, settings(preset))
    (found,) = shard.parts
    return found


def units_of(experiment):
    kind = {"speed": speed, "crossover": crossover}[experiment["kind"]]
    return kind.timed(Job("time", part(experiment), None, None), {})


@pytest.fixture(scope="module")
def sides():
    return units_of(small("speed"))


def test_all_comparisons_of_the_experiment_have_both_sides(sides):
    experiment = study("speed")
    methods = {entry["method"] for entry in experiment["methods"]}
    for comparison in experiment["grid"]["maps"]:
        names = [side.rpartition("-")[0] for side in (*comparison["of"], *comparison["at_most"])]
        assert set(names) <= methods | set(PEERS)
        assert set(names[: len(comparison["of"])]) <= methods
    for unit in sides:
        for other in unit.settings.get("at_most", {}):
            (other,) = [
                u for u in sides if name_of(u.entry) == other and list(u.phases) == list(unit.phases)
                and all(u.columns.get(c) == unit.columns.get(c) for c in ("dataset", "kernel"))
            ]  # fmt: skip
            assert other.settings["what"]


def test_the_sides_of_a_comparison_work_on_as_many_numbers_of_one_type(sides):
    for unit in sides:
        for phase, call in unit.phases.items():
            if phase not in ("transform", "fit_transform"):
                continue
            Z = call()
            if unit.entry.get("method"):  # some transformers of scikit-learn know one type only
                assert Z.dtype == unit.entry["variant"]
            assert len(Z) == 64
            same = [other for other in sides if (other.columns, list(other.phases)) == (unit.columns, [phase])]
            (width,) = {np.shape(other.phases[phase]())[1] for other in same}
            assert Z.shape[1] == width


def test_ridge_is_timed_over_all_penalties_and_folds_against_one_solve_in_double_precision(sides):
    path, one_solve, search = (unit.phases["fit"]() for unit in sides if unit.learner == "ridge")
    assert path.shape == (2, 2)  # penalties, folds
    assert len(search.cv_results_["params"]) == 2
    Z, y = next(unit.phases["fit"].args for unit in sides if unit.entry["variant"] == "one-solve")
    Z = Z.astype(np.float64)
    assert one_solve.dtype == np.float64
    np.testing.assert_allclose(one_solve, np.linalg.solve(Z.T @ Z + np.eye(8), Z.T @ y), rtol=1e-12)


def test_the_chosen_solver_is_compared_with_the_other_at_half_and_at_twice_the_border():
    units = [unit for unit in units_of(small("speed")) if unit.learner == "svm"]
    compared = {
        unit.columns["n_train"] * unit.columns["n_columns"] / svm.LIBLINEAR_ENTRIES: (unit.entry["variant"], *bars)
        for unit in units if (bars := unit.settings.get("at_most"))
    }  # fmt: skip
    assert compared == {0.5: ("liblinear", "newton"), 2: ("newton", "liblinear")}
    assert [unit.phases["fit"]().solver for unit in units] == ["liblinear", "newton"] * 2


def test_only_methods_leaves_out_comparisons_without_their_map():
    units = units_of(small("speed", only_methods=["sorf", "nystroem"]))
    assert {unit.entry.get("method", "") for unit in units} == {"sorf", "nystroem", ""}


@pytest.mark.parametrize(("peer", "method", "kernel"), [
    ("RBFSampler", "rff", Gaussian(0.8)), ("Nystroem", "nystroem", Gaussian(0.8)),
    ("PolynomialCountSketch", "ts", Polynomial(2, 1.0)),
])  # fmt: skip
def test_a_peer_approximates_the_kernel_of_the_map_with_as_many_columns(peer, method, kernel):
    X = np.random.default_rng(0).standard_normal((40, 3)) / 3
    n_features = 40 if method == "nystroem" else 20_000
    theirs = make_peer(peer, kernel, n_features).fit(X).transform(X)
    ours = make_map(method, kernel, n_components=n_features, random_state=0).fit(X)
    # an average of 20,000 draws; with all rows as landmarks it is the kernel
    assert np.abs(theirs @ theirs.T - kernel(X)).max() < 0.05
    assert theirs.shape == (40, ours.n_columns_)


def test_the_bare_arithmetic_is_that_of_random_fourier_features():
    X = np.random.default_rng(0).standard_normal((7, 3)).astype(np.float32)
    peer = make_peer("arithmetic", Gaussian(1.0), 5).fit(X)
    XW = X @ peer.frequencies_.numpy()
    np.testing.assert_allclose(peer.transform(X), np.hstack([np.cos(XW), np.sin(XW)]), atol=1e-6)
    assert peer.transform(X) is not peer.transform(X)


def test_the_crossover_maps_the_same_rows_with_all_maps_and_peers_at_every_d():
    units = units_of(small("crossover-gaussian"))
    methods = ["rff", "sorf", "rom", "fastfood", "scrf", "pmodel"]
    assert [(u.columns["d"], u.entry.get("method") or u.entry["variant"]) for u in units] == [
        (d, name) for d in (8, 16, 32) for name in [*methods, "RBFSampler"]
    ]
    # as many rows as there may be, and as many as the entries allow
    assert [u.columns["n_train"] for u in units[::7]] == [50, 32, 16]
    for unit in units:
        assert unit.phases["transform"]().shape == (unit.columns["n_train"], 2 * unit.columns["d"])
    widths = [u.phases["transform"]().shape[1] for u in units_of(small("crossover-polynomial")) if u.columns["d"] == 8]
    assert widths == [8] * 4


@pytest.mark.parametrize("preset", ["quick", "laptop", "paper"])
@pytest.mark.parametrize("name", ["speed", "crossover-gaussian", "crossover-polynomial"])
def test_every_preset_takes_all_sizes_in_rounds_enough_with_two_threads(name, preset):
    experiment = study(name, preset=preset)
    assert experiment["time"]["threads"] == 2
    spec = part(experiment, preset)
    assert "ends" not in spec.grid
    assert spec.grid == EXPERIMENTS[name]["grid"]
    assert spec.time["rounds"] >= 3


def test_the_stage_writes_rounds_that_the_report_can_compare(tmp_path, monkeypatch):
    planned = []
    fake = SimpleNamespace(run=lambda command, **_: planned.append(command), DEVNULL=None)
    monkeypatch.setattr(speed, "subprocess", fake)
    monkeypatch.setattr(time, "BEFORE", 0.0)
    spec = part(small("speed"))
    spec |= {"time": {"rounds": 4, "again": 0, "shortest": 1e-6, "threads": 1}}
    time.run([spec], [], {}, tmp_path / "journal", tmp_path / "speed.csv")
    rows = tidy.read(tmp_path / "speed.csv")
    assert not rows.duplicated(list(tidy.KEY)).any()
    assert rows["status"].eq("ok").all()
    counts = rows.groupby(["method", "variant", "dataset", "metric"])["at"].nunique()
    long = counts.index.get_level_values("variant") == "grid-search"
    assert set(counts[long]) == {speed.FEW}
    assert set(counts[~long]) == {4}
    found = comparisons(rows)
    # the dense map 3, structured maps 3 at either d, nystroem 2 phases in 2 types and of sparse rows, the sketch,
    # ridge 2 and the plan
    assert len(found) == 3 + 2 * 3 + 2 * 3 + 1 + 2 + 2 + 1
    assert planned[0][1:4] == ["-m", "snakemake", "--dry-run"]
    assert planned[0][-1] == "config/presets/paper.yaml"


def test_what_is_long_takes_part_in_the_first_rounds_only_and_is_not_warmed_up():
    calls = []
    units = [
        Timed({"variant": "long"}, {}, {"fit": lambda: calls.append("long")}, rounds=2),
        Timed({"variant": "short"}, {}, {"fit": lambda: (calls.append("short"), clock.sleep(0.2))}),
    ]
    rounds = time.Rounds(units, 1, 0.02)
    of_round = [{row["variant"] for row in rounds.best_of(1, number)} for number in range(4)]
    assert of_round == [{"long", "short"}, {"long", "short"}, {"short"}, {"short"}]
    assert calls.count("long") == 2
    assert calls.count("short") == 1 + 4 * 2  # to warm up, and twice a round


def test_the_work_of_a_process_that_a_phase_starts_is_its_own():
    burn = "import time\nwhile time.process_time() < 0.5: pass"
    _, _, before = time.load_of_machine()
    _wall, cpu = time.seconds(lambda: subprocess.run([sys.executable, "-c", burn], check=True), 1)
    assert cpu > 0.45
    # read before and after, all of it is this job's: what is left is other processes of the machine
    assert time.processor_seconds() - before >= cpu


def test_an_experiment_on_demand_is_built_and_made_only_where_it_is_named():
    every, named = settings(), settings(only_experiments=["speed"])
    built = config.select(EXPERIMENTS, every, TASKS)
    assert {"speed", "crossover-gaussian"} <= set(built)
    asked = [name for name, experiment in built.items() if config.is_asked_for(experiment, every)]
    assert "survey-gaussian-text" in asked
    assert not [name for name in asked if EXPERIMENTS[name].get("on_demand")]
    assert config.is_asked_for(EXPERIMENTS["speed"], named)
    assert not config.is_asked_for(EXPERIMENTS["crossover-gaussian"], named)
