"""The rule that takes times: rounds in which all take turns, work repeated until clocks can read it, and what others do
meanwhile. Clocks and loads are made here where numbers have to come out; one real process burns the processor.
"""

import json
import subprocess
import sys
import types
from dataclasses import replace

import numpy as np
import pytest
import study_toys as toys

from random_features.errors import NotDefinedError
from random_features.maps import make_map
from rfstudy import tidy
from rfstudy.data.target import Target
from rfstudy.metrics import FACTS
from rfstudy.study import time as stage
from rfstudy.study.engine import Job, Timed
from rfstudy.study.kinds import fitting, scaling
from rfstudy.study.time import Rounds, cores_of_others, load_of_machine, long_enough

SHORTEST = 0.02


class Machine:
    """A wall clock, the processor seconds of this process and those of all, moved by the phases that it makes."""

    def __init__(self):
        self.wall = self.own = self.busy = 0.0
        self.others = 0.0  # cores that others keep busy
        self.called: list[str] = []
        self.threads: list[int] = []  # as they were set

    def work(self, seconds: float, cores: float = 1.0):
        self.wall += seconds
        self.own += cores * seconds
        self.busy += (cores + self.others) * seconds

    def phase(self, name: str, seconds: float, cores: float = 1.0):
        def call():
            self.called.append(name)
            self.work(seconds, cores)

        return call


@pytest.fixture
def machine(monkeypatch):
    machine = Machine()
    read = {"perf_counter": lambda: machine.wall, "process_time": lambda: machine.own}
    monkeypatch.setattr(stage, "time", types.SimpleNamespace(**read, sleep=lambda seconds: machine.work(seconds, 0.0)))
    monkeypatch.setattr(stage, "processor_seconds", lambda: machine.own)
    times = types.SimpleNamespace(cpu_times=lambda: types.SimpleNamespace(user=machine.busy, system=0.0, steal=0.0))
    monkeypatch.setattr(stage, "psutil", times)
    monkeypatch.setattr(stage, "set_threads", machine.threads.append)
    return machine


def unit(machine, method, **phases):
    entry = {"method": method, "variant": "", "options": {}}
    made = {name: machine.phase(f"{method}.{name}", *how) for name, how in phases.items()}
    return Timed(entry, {"dataset": "made", "n_features": 4}, made, "ridge", {"length_scale": 2.0})


def test_methods_take_turns_within_a_round_and_rounds_follow_each_other(machine):
    rounds = Rounds([unit(machine, name, draw=(1.0,), fit=(1.0,)) for name in "ABCD"], 1, SHORTEST)
    rounds.best_of(1, 0)
    one_turn = [f"{name}.{phase}" for name in "ABCD" for phase in ("draw", "fit")]
    assert machine.called[: len(one_turn)] == one_turn  # the warm-up, and the round
    orders = []
    for number in range(1, 7):
        machine.called.clear()
        rounds.best_of(1, number)
        # long work is timed right behind a call that is not
        assert machine.called[::2] == machine.called[1::2]
        turns = [name.split(".") for name in machine.called[::2]]
        assert sorted(machine.called[::2]) == sorted(one_turn)
        # the phases of one follow each other, in their order
        assert [phase for _, phase in turns] == ["draw", "fit"] * 4
        orders.append("".join(name for name, _ in turns[::2]))
        assert [name for name, _ in turns[1::2]] == list(orders[-1])
    # nobody is always first, or always behind the same other
    assert len({order[0] for order in orders}) > 1
    assert len({order[order.index("A") - 1] for order in orders}) > 1
    machine.called.clear()
    rounds.best_of(1, 1)
    assert "".join(name.split(".")[0] for name in machine.called[::4]) == orders[0]  # of the round alone
    # a reader finds the rows of every round in the order of the units
    for number in (1, 2):
        rows = rounds.best_of(1, number)
        assert [row["method"] for row in rows] == [name for name in "ABCD" for _ in range(4)]
        assert [row["metric"] for row in rows[:4]] == ["time_draw_s", "cpu_draw_s", "time_fit_s", "cpu_fit_s"]


def test_a_row_is_a_phase_of_a_method_in_a_round_in_wall_and_in_processor_time(machine):
    units = [unit(machine, "A", draw=(0.5, 0.25), fit=(2.0, 3.0)), unit(machine, "B", draw=(1.0,))]
    rounds = Rounds(units, 3, SHORTEST)
    rows = [row for number in range(2) for row in rounds.best_of(1, number)]
    table = tidy.frame([row | {"status": "ok"} for row in rows])
    assert len(table) == 2 * 2 * 3
    assert set(zip(table["axis"], table["at"], strict=True)) == {("round", 0.0), ("round", 1.0)}
    found = table[table["at"] == 1].set_index(["method", "metric"])["value"].to_dict()
    assert found == pytest.approx({
        ("A", "time_draw_s"): 0.5, ("A", "cpu_draw_s"): 0.125, ("A", "time_fit_s"): 2.0, ("A", "cpu_fit_s"): 6.0,
        ("B", "time_draw_s"): 1.0, ("B", "cpu_draw_s"): 1.0,
    })  # fmt: skip
    assert not table.duplicated(list(tidy.KEY)).any()
    assert set(table["unit"]) == {"s"}
    # of a learner are its fit and its predictions
    assert set(table.loc[table["metric"].str.contains("fit"), "learner"]) == {"ridge"}
    assert set(table.loc[table["metric"].str.contains("draw"), "learner"]) == {""}
    assert json.loads(table.iloc[0]["settings"]) == {"length_scale": 2.0, "threads": 3, "calls": 1, "others": 0.0}


def test_a_unit_may_have_its_own_number_of_threads(machine):
    two = [replace(unit(machine, name, fit=(1.0,)), threads=threads) for name, threads in (("A", None), ("B", 2))]
    rounds = Rounds([*two, unit(machine, "C", fit=(1.0,))], 1, SHORTEST)
    for number in range(4):
        machine.called.clear()
        machine.threads.clear()
        rows = rounds.best_of(1, number)
        assert {row["method"]: row["settings"]["threads"] for row in rows} == {"A": 1, "B": 2, "C": 1}
        # every unit warms up on its threads; in a round those of the job come first, and it has them again at the end
        assert machine.threads == ([1, 2, 1] if number == 0 else []) + [1, 2, 1]
        assert machine.called[-1] == "B.fit"


@pytest.mark.parametrize("seconds", [1e-6, 0.0007, 0.019, 0.021, 0.5])
@pytest.mark.parametrize("shortest", [0.004, 0.02])
def test_short_work_is_repeated_until_it_lasts_as_long_as_is_asked(machine, seconds, shortest):
    wall, cpu, calls = long_enough(machine.phase("a", seconds, 2.0), shortest)
    assert (wall, cpu) == pytest.approx((seconds, 2.0 * seconds))  # of one call
    assert calls * seconds >= shortest * (1 - 1e-9)
    assert calls == 1 or calls * seconds <= 2 * shortest
    rounds = Rounds([unit(machine, "A", draw=(seconds,))], 1, shortest)
    rows = rounds.best_of(1, 0)
    assert rows[0]["settings"]["calls"] == pytest.approx(calls, abs=1)
    assert rows[0]["value"] == pytest.approx(seconds)
    machine.called.clear()
    # all other rounds repeat it as often, and long work once more to begin with
    for number in (1, 2):
        assert rounds.best_of(1, number)[0]["settings"]["calls"] == rows[0]["settings"]["calls"]
    assert len(machine.called) == 2 * (rows[0]["settings"]["calls"] + (calls == 1))


def test_the_first_call_is_no_measure_and_long_work_is_called_once_per_round(machine):
    """A call that loads libraries is short later."""
    durations = iter([0.09, *[0.001] * 1000])
    work = Timed({"method": "A", "variant": ""}, {}, {"draw": lambda: machine.work(next(durations))})
    (row, _) = Rounds([work], 1, SHORTEST).best_of(1, 0)
    assert row["settings"]["calls"] >= 20
    assert row["value"] == pytest.approx(0.001)
    Rounds([unit(machine, "B", draw=(0.11,))], 1, SHORTEST).best_of(1, 0)
    assert machine.called == ["B.draw"] * 3  # the warm-up, and the round


def test_work_that_was_slow_because_of_what_ran_before_is_not_measured(machine):
    """Another's work leaves the memory in a state in which the next call takes longer, also in another process."""
    last = []

    def phase(name):
        def call():
            machine.work(0.3 if last == [name] else 1.0)
            last[:] = [name]

        return call

    units = [Timed({"method": name, "variant": ""}, {}, {"transform": phase(name)}) for name in "AB"]
    rounds = Rounds(units, 1, SHORTEST)
    rows = [row for number in range(3) for row in rounds.best_of(1, number)]
    assert [row["value"] for row in rows if row["metric"] == "time_transform_s"] == pytest.approx([0.3] * 6)


def test_work_that_is_quick_by_chance_is_not_taken_at_its_word(machine):
    durations = iter([1e-9, *[0.001] * 1000])
    wall, _cpu, calls = long_enough(lambda: machine.work(next(durations)), SHORTEST)
    assert wall == pytest.approx(0.001, rel=0.11)
    assert calls <= 40


@pytest.mark.parametrize(("others", "machine_busy"), [(0.0, False), (0.2, False), (0.3, True), (1.0, True)])
def test_a_round_next_to_other_work_is_machine_busy(machine, others, machine_busy):
    machine.others = others
    for row in Rounds([unit(machine, "A", draw=(1.0, 4.0))], 1, SHORTEST).best_of(1, 0):
        assert row["settings"]["others"] == pytest.approx(others, abs=0.005)  # our own four threads are none of them
        assert row["settings"].get("machine_busy", False) is machine_busy


@pytest.mark.parametrize(
    ("loads", "attempts", "others", "machine_busy"),
    [
        ([1.0, 0.0, 0.0], 3, 0.0, False),  # done again once, and no more
        ([1.0, 0.8, 0.9], 3, 0.8, True),  # as often as it may be; the round that met the least
        ([1.0, 0.0], 1, 1.0, True),  # never again
        ([0.1, 0.0], 3, 0.1, False),
    ],
)
def test_a_round_is_done_again_while_others_are_at_work(machine, monkeypatch, loads, attempts, others, machine_busy):
    monkeypatch.setattr(stage, "BEFORE", 0.0)
    at, taken = iter(loads), []

    def draw():
        machine.others = next(at)
        taken.append(machine.others)
        machine.work(1.0)

    rounds = Rounds([Timed({"method": "A", "variant": ""}, {}, {"draw": draw}, rounds=1)], 1, SHORTEST)
    rows = rounds.best_of(attempts, 0)
    assert len(taken) == (attempts if machine_busy else taken.index(others) + 1)
    assert rows[0]["settings"]["others"] == pytest.approx(others)
    assert rows[0]["settings"].get("machine_busy", False) is machine_busy


def test_the_load_is_read_before_the_round_too(machine):
    """A process that is at work only while we sleep is met as well."""
    machine.others = 1.0
    start = load_of_machine()
    stage.time.sleep(stage.BEFORE)
    machine.others = 0.0
    machine.work(0.2)
    assert cores_of_others(start) == pytest.approx(0.5)


def test_a_map_that_does_not_exist_has_no_rows_and_stops_nobody(machine):
    def fail():
        raise NotDefinedError("no such map")

    broken = Timed({"method": "B", "variant": ""}, {}, {"draw": machine.phase("B.draw", 1.0), "learn": fail})
    rounds = Rounds([unit(machine, "A", draw=(1.0,)), broken, unit(machine, "C", draw=(1.0,))], 1, SHORTEST)
    assert sorted(row["method"] for row in rounds.best_of(1, 0)) == ["A", "A", "C", "C"]


def test_a_process_that_burns_the_processor_is_noticed(capsys):
    """The one test with real clocks and loads; that an idle machine is none cannot be asked of a machine of others."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        work = Timed({"method": "A", "variant": ""}, {}, {"draw": lambda: sum(range(200_000))})
        rows = Rounds([work], 1, SHORTEST).best_of(2, 5)
    finally:
        process.kill()
        process.wait()
    assert all(row["settings"]["machine_busy"] is True for row in rows)
    assert all(row["settings"]["others"] > stage.OTHERS for row in rows)
    assert "round 5 next to other work" in capsys.readouterr().err


@pytest.fixture
def quick(monkeypatch):
    """Rounds that take as little time as they can."""
    monkeypatch.setattr(stage, "BEFORE", 0.0)


def timed_part(settings=None, **changes):
    how = {"learner": "ridge"} | changes.pop("time", {})
    return toys.parts("time", toys.selected(settings, time=how, **changes), settings)


def run(part, prepared, tmp_path, name="times", chosen=None):
    stage.run(part, [prepared], chosen or {}, tmp_path / "journal", tmp_path / f"{name}.csv")
    return tidy.read(tmp_path / f"{name}.csv")


METHODS = [{"method": "rff"}, {"method": "nystroem"}, {"method": "sgq", "options": {"node": "sqrt_3"}}]


def test_the_times_of_a_grid_are_those_of_its_phases(prepared, tmp_path, quick):
    rows = run(timed_part(methods=METHODS, sizes={"multiples_of_d": [1, 4]}), prepared, tmp_path)
    of_map = {"draw", "transform", "fit", "predict_transform", "predict"}
    phases = {"rff": of_map, "nystroem": of_map | {"learn"}}  # plain features take nothing from the data
    for method, names in phases.items():
        own = rows[rows["method"] == method]
        assert set(own["metric"]) == {f"{clock}_{name}_s" for clock in ("time", "cpu") for name in names}
        assert len(own) == 2 * 2 * len(names) * 3  # clocks, sizes, phases, rounds
    assert set(rows["method"]) == set(phases)  # the map that does not exist for five columns is left out
    assert set(rows["metric"]) <= set(FACTS)
    assert (rows["value"] >= 0).all()
    assert set(rows["at"]) == {0.0, 1.0, 2.0}
    assert set(rows["n_train"]) == {30}
    assert set(rows["n_features_label"]) == {"d", "4d"}
    assert set(rows["kernel"]) == {"gaussian"}
    assert {settings["length_scale"] for settings in toys.settings_of(rows)} == {2.0}
    assert not rows.duplicated(list(tidy.KEY)).any()
    without = run(timed_part(methods=METHODS, time={"learner": None}), prepared, tmp_path, "maps alone")
    assert not set(without["metric"]) & {"time_fit_s", "time_predict_s"}


def test_finished_rounds_are_not_taken_again(prepared, tmp_path, quick, monkeypatch):
    taken, turns = [], Rounds.turns

    def counted(rounds, number):
        if number == 2 and not taken.count(2):
            taken.append(2)
            raise KeyboardInterrupt
        taken.append(number)
        return turns(rounds, number)

    monkeypatch.setattr(Rounds, "turns", counted)
    monkeypatch.setattr(stage, "OTHERS", np.inf)
    part = timed_part()
    with pytest.raises(KeyboardInterrupt):
        run(part, prepared, tmp_path)
    taken.clear()
    taken.append(2)
    rows = run(part, prepared, tmp_path)
    assert taken == [2, 2]
    assert sorted(set(rows["at"])) == [0.0, 1.0, 2.0]
    assert len(set(rows["run"])) == 2
    again = run(part, prepared, tmp_path)
    assert taken == [2, 2]
    assert again.equals(rows)
    # more rounds are taken next to those that there are
    run(timed_part({"time": toys.SETTINGS["time"] | {"rounds": 5}}), prepared, tmp_path)
    assert taken[2:] == [3, 4]


def test_a_machine_busy_round_is_taken_again_when_the_job_is_run_again(prepared, tmp_path, quick, monkeypatch):
    part = timed_part()
    monkeypatch.setattr(stage, "OTHERS", -1.0)
    first = run(part, prepared, tmp_path)
    assert all(settings["machine_busy"] for settings in toys.settings_of(first))
    monkeypatch.setattr(stage, "OTHERS", np.inf)
    second = run(part, prepared, tmp_path)
    assert not any("machine_busy" in settings for settings in toys.settings_of(second))
    assert set(first["run"]).isdisjoint(second["run"])
    assert run(part, prepared, tmp_path).equals(second)


def test_data_that_are_missing_have_no_times(prepared, tmp_path, quick):
    toys.lose(prepared)
    assert len(run(timed_part(), prepared, tmp_path)) == 0


def test_the_timed_phases_are_the_work_that_train_does(prepared, tmp_path, quick, monkeypatch):
    """The model that is fitted and predicts has the accuracy of the experiment, with the penalty that was chosen."""
    changes = {
        "repeats": 2, "methods": METHODS[:2], "learners": {"ridge": {"penalties": [1e-3, 0.1, 10.0]}},
        "search": {"penalty": {"tune_per": "method_and_size"}, "length_scale": {"grid": [0.7, 3.0]}}
        | {"tune_per": "method_and_size"}, "sizes": {"multiples_of_d": [1, 3]},
    }  # fmt: skip
    _, scores, chosen = toys.run_grid(toys.selected(**changes), {"made": prepared}, tmp_path / "grid")
    predicted, decode = [], Target.decode

    def recorded(self, decision, classes):
        predicted.append(decode(self, decision, classes))
        return predicted[-1]

    (part,) = timed_part(**changes)
    job = toys.job("time", part, prepared, tmp_path / "journal")
    units = stage.kind_module("grid").timed(job, chosen["made"])
    monkeypatch.setattr(Target, "decode", recorded)
    assert len(units) == 4
    for each in units:
        for phase in each.phases.values():
            phase()
            phase()  # any number of times
        rows = scores[(scores["method"] == each.entry["method"]) & (scores["repeat"] == 0)]
        row = rows[rows["n_features_label"] == each.columns["n_features_label"]].iloc[0]
        y_test = job.samples.of(0, ["none"]).y_test
        assert 100 * np.mean(predicted[-1] == y_test) == pytest.approx(row["value"], abs=1e-9)
        assert each.settings["length_scale"] == json.loads(row["settings"])["length_scale"]
        assert len(predicted[-1]) == len(y_test)


GRIDS = {
    "fitting": {"rows": 80, "fixed_dimension": 3, "n_features": [4, 8, 16], "fixed_n_features": 8,
                "sample_sizes": [40, 60, 80]},
    "scaling": {"rows": 20, "fixed_dimension": 4, "n_features": [8, 16, 32], "fixed_n_features": 16,
                "dimensions": [4, 8, 12]},
}  # fmt: skip


def of_kind(kind, *methods, **grid):
    methods = [{"method": method, "variant": "", "options": options} for method, options in methods]
    spec = toys.part(kind=kind, kernel={"name": "gaussian", "length_scale": 1}, methods=methods)
    module = {"fitting": fitting, "scaling": scaling}[kind]
    return module.timed(Job("time", spec | {"grid": GRIDS[kind] | grid}, None, None), {})


def test_the_grid_of_fits_varies_s_and_n_one_at_a_time_with_all_methods_together():
    units = of_kind("fitting", ("rff", {}), ("slsrff", {}))
    places = [(u.columns["n_train"], u.columns["n_features"]) for u in units]
    assert places[::2] == places[1::2] == [(80, 4), (80, 8), (80, 16), (40, 8), (60, 8)]
    assert [u.entry["method"] for u in units] == ["rff", "slsrff"] * 5
    ends = of_kind("fitting", ("rff", {}), ends=2)
    assert [(u.columns["n_train"], u.columns["n_features"]) for u in ends] == [(80, 4), (80, 16)]


def test_the_grid_of_costs_varies_s_and_d_one_at_a_time():
    units = of_kind("scaling", ("orf", {}), ends=2)
    assert [(u.columns["d"], u.columns["n_features"]) for u in units] == [(4, 8), (4, 32)]
    places = [(u.columns["d"], u.columns["n_features"]) for u in of_kind("scaling", ("orf", {}))]
    assert (12, 16) in places
    assert len(set(places)) == len(places)
    assert set(units[0].phases) == {"draw", "transform"}
    for phase in units[0].phases.values():
        phase()


def test_only_maps_with_scores_have_a_time_of_them():
    plain, scored = of_kind("fitting", ("rff", {}), ("slsrff", {}))[:2]
    assert "scores" not in plain.phases
    assert list(scored.phases)[-1] == "scores"
    for phase in (*plain.phases.values(), *scored.phases.values()):
        phase()


@pytest.mark.parametrize(("method", "options"), [("lsrff", {"penalty": 0.05}), ("slsrff", {"center_targets": False})])
def test_the_scores_that_are_timed_are_those_of_the_pool(method, options, monkeypatch):
    found, of_method = [], type(make_map(method))
    scores = of_method.pool_scores
    monkeypatch.setattr(of_method, "pool_scores", lambda self, *a, **how: found.append((self, scores(self, *a, **how))))
    each = of_kind("fitting", (method, options))[1]
    each.phases["scores"]()
    # the features of the pool are ready: their time is no time of scores
    monkeypatch.setattr("random_features.maps.pool.Pool.blocks", None)
    each.phases["scores"]()
    (phi, first), (_, second) = found
    n, s = each.columns["n_train"], each.columns["n_features"]
    X = fitting.normal_points(3, n, 3)
    y = np.where(X[:, 0] > 0, 1, -1)
    angles = X.astype(np.float64) @ phi.pool_.frequencies.T
    Z = np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(s)
    if method == "lsrff":
        expected = np.diag(Z.T @ Z @ np.linalg.inv(Z.T @ Z + n * 0.05 * np.eye(2 * s)))
    else:
        expected = (y @ Z) ** 2
    assert first == pytest.approx(expected, rel=1e-4)
    np.testing.assert_array_equal(first, second)
