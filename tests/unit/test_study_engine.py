"""The one loop over cells: it resumes, keeps arrays and checkpoints, and says which run computed what; and the keys."""

from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pytest
import study_toys as toys
import torch

from random_features import arrays
from random_features.errors import UserError
from random_features.kernels import KERNELS, make_kernel
from rfstudy import tidy
from rfstudy.study import collect, engine, measure
from rfstudy.study.engine import Cell, Job, Work, kind_cells
from rfstudy.study.job import kernel_id
from rfstudy.study.journal import Journal
from rfstudy.study.kinds import decay
from rfstudy.study.kinds.grid import grid_cells
from rfstudy.study.kinds.registry import KINDS
from rfstudy.study.provenance import Run
from rfstudy.study.time import Rounds, take_times
from rfstudy.study.tune import Member, Search

ENTRIES = [{"method": "rff", "variant": variant, "options": {}} for variant in ("", "b")]
SPEC = toys.part(preset="quick", kind="decay", kernel={"name": "gaussian", "length_scale": 1}, repeats=[0])
SPEC |= {"methods": ENTRIES, "grid": {"dimensions": [2], "rows": 10, "n_features": [4], "norms": ["sup"], "ridge": 0.1}}


def job(folder, **changes):
    return Job("measure", SPEC | changes, Journal(folder / "journal"), Run("measure", SPEC, 1))


CELLS = [Cell(ENTRIES[0], {"place": i, "repeat": 0}) for i in range(4)]


def rows_of(cell):
    place = cell.coordinates["place"]
    return [{"metric": "mse", "value": float(place)}], {"weights": np.full(2, place)}


def test_rows_say_what_cells_share_and_arrays_are_filed_under_their_cells(tmp_path):
    cells = [*CELLS[:2], Cell({}, {"place": 7}, columns={"repeat": 5})]
    done = job(tmp_path).work_through(cells, lambda cell, _: rows_of(cell))
    table = tidy.frame(done.rows)
    assert table["value"].tolist() == [0.0, 1.0, 7.0]
    assert table["method"].tolist() == ["rff", "rff", ""]
    assert table["repeat"].tolist()[2] == 5
    assert set(table["kernel"]) == {"gaussian"}
    assert set(table["experiment"]) == {"toy"}
    assert set(table["run"]) == set(done.records)
    assert sorted(done.arrays) == ["7/weights", "rff/0/0/weights", "rff/1/0/weights"]
    assert done.arrays["rff/1/0/weights"].tolist() == [1, 1]
    together = Work()
    together.add(done, "eeg")
    together.add(done, "skin")
    assert len(together.rows) == 6
    assert {f"skin/{name}" for name in done.arrays} < set(together.arrays)


def test_a_second_run_computes_what_the_first_left_undone_and_both_are_named(tmp_path):
    computed, killed = [], [2]

    def compute(cell, _checkpoints):
        if [cell.coordinates["place"]] == killed:
            killed.clear()
            raise KeyboardInterrupt
        computed.append(cell.coordinates["place"])
        return rows_of(cell)

    with pytest.raises(KeyboardInterrupt):
        job(tmp_path).work_through(CELLS, compute)
    assert computed == [0, 1]
    done = job(tmp_path).work_through(CELLS, compute)
    assert computed == [0, 1, 2, 3]
    # in the order of the cells, also if another job computed them; with the record of that run
    assert [row["value"] for row in done.rows] == [0.0, 1.0, 2.0, 3.0]
    first, second = done.rows[0]["run"], done.rows[2]["run"]
    assert [row["run"] for row in done.rows] == [first, first, second, second]
    assert first != second
    assert set(done.records) == {first, second}
    assert all(record["run"] == name for name, record in done.records.items())
    assert len(done.arrays) == 4


def test_checkpoints_belong_to_the_key_of_their_cell(tmp_path):
    """A cell that an earlier code or configuration began starts again."""

    def begin(cell, checkpoints):
        checkpoints.append(round=1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job(tmp_path).work_through(CELLS[:1], begin)
    seen = []

    def look(cell, checkpoints):
        seen.append(len(checkpoints.load()))
        return rows_of(cell)

    job(tmp_path, seed=4).work_through(CELLS[:1], look)
    job(tmp_path).work_through(CELLS[:1], look)
    assert seen == [0, 1]


def test_arrays_of_any_kind_reach_the_file_of_their_shard_and_that_of_the_experiment(tmp_path, monkeypatch):
    picture = {"curve": np.linspace(0, 1, 5), "image": np.zeros((2, 3, 4), dtype=np.uint8), "count": np.int64(3)}

    def measured(job, entry, *, repeat, **conditions):
        return [{"dataset": "points", "repeat": repeat, "metric": "mse", "value": 1.0}], picture

    monkeypatch.setattr(decay, "measure", measured)
    files = []
    for number, entry in enumerate(SPEC.methods):
        out = tmp_path / f"{number}.csv"
        part = SPEC | {"methods": [entry], "repeats": [0, 1]}
        measure.run([part], [], tmp_path / "journal", out, out.with_suffix(".npz"), 1)
        files.append(out)
    with np.load(files[0].with_suffix(".npz"), allow_pickle=False) as stored:
        assert sorted(stored) == sorted(f"rff/2/{repeat}/{name}" for repeat in (0, 1) for name in picture)
    arrays = [path.with_suffix(".npz") for path in files]
    collect.run([], files, [], arrays, tmp_path / "all.csv", tmp_path / "all.npz")
    with np.load(tmp_path / "all.npz", allow_pickle=False) as stored:
        assert len(stored) == 2 * 2 * 3
        for name, value in picture.items():
            found = stored[f"rff-b/2/1/{name}"]
            assert found.dtype == value.dtype
            np.testing.assert_array_equal(found, value)
    assert len(tidy.read(tmp_path / "all.csv")) == 4


def test_the_id_of_a_kernel_in_rows_is_the_name_of_the_kernel():
    values = {"length_scale": 0.5, "order": 2, "degree": 3, "coef0": 1.0, "decay": "slowest", "terms": 4}
    values |= {"nu": 1.5, "exponent": 0.7}
    for name, entry in KERNELS.items():
        own = values | ({"decay": 1.5} if name == "generalised_cauchy" else {})
        kernel = {"name": name} | {parameter: own[parameter] for parameter in entry.parameters}
        assert kernel_id(kernel) == make_kernel(kernel).name


BASE = {
    "methods": [{"method": "rff"}, {"method": "slsrff", "options": {"mode": "text"}}], "preprocess": ["minmax"],
    "sizes": {"multiples_of_d": [2, 4]}, "bandwidth": {"rule": "median", "rows": 50, "length_scale": None},
    "learners": {"svm": toys.SVM}, "time": {"learner": "ridge"},
}  # fmt: skip


def keys(prepared, stage, settings=None, facts=None, **changes) -> set[str]:
    """The keys of all cells of ``maps``, of their learners (``train``) or of one candidate a cell (``tune``)."""
    settings = {"repeats": 2} | (settings or {})
    toy = toys.selected(settings, **{key: changes.get(key, BASE.get(key)) for key in {*BASE, *changes}})
    rule = "tune" if stage == "tune" else "train"
    (spec,) = toys.parts(rule, toy, settings)
    work = toys.job(rule, spec, prepared, prepared / "journal")
    work = replace(work, data=replace(work.data, facts=work.data.facts | (facts or {})))
    if stage != "tune":
        names = spec.learners if stage == "train" else [""]
        return {work.key(cell) for name in names for cell in grid_cells(spec, {}, 3, name)}
    values = {"length_scale": 1.0}
    return {
        work.key(cell)
        for entry in spec.methods
        for learner in spec.learners
        for cell in Search(work).cells(Member(entry, "2d", spec.repeats), values, learner, {})
    }


SEARCH = {"length_scale": {"grid": [1.0, 2.0], "tune_per": "cell"}, "max_rows": 30}


def entries(rff=None, slsrff=None, **both) -> dict:
    """The two methods with changes of their own, and of both."""
    slsrff = {"options": {"mode": "text"}} | (slsrff or {})
    return {"methods": [{"method": "rff"} | (rff or {}) | both, {"method": "slsrff"} | slsrff | both]}


def learners(ridge=None, svm=None) -> dict:
    return {"learners": {"ridge": ridge or {}, "svm": toys.SVM | (svm or {})}}


#: The stages whose cells changes are about.
ALL, LATER = "maps train tune", "train tune"

#: Changes that change numbers, and the stages whose cells they change.
DECIDING = {
    "seed": ({"settings": {"seed": 4}}, ALL),
    "device": ({"settings": {"device": "cuda"}}, ALL),
    "cap": ({"settings": {"max_rows": 10}}, ALL),
    "kernel": ({"kernel": {"name": "cauchy"}}, ALL),
    "preprocess": ({"preprocess": ["standard"]}, ALL),
    "step's parameter": ({"preprocess": ["minmax", {"pca": {"n_components": 2}}]}, ALL),
    "bandwidth rule": ({"bandwidth": {"rule": "neighbour", "k": 2, "length_scale": None}}, "maps train"),
    "bandwidth parameter": ({"bandwidth": {"rule": "median", "rows": 51, "length_scale": None}}, "maps train"),
    "split": ({"datasets": {"made": {"split": {"rule": "random", "n_train": 9}}}}, ALL),
    "method": ({"methods": [{"method": "orf"}, {"method": "ssf"}]}, ALL),
    "options": (entries({"options": {"layout": "phase"}}, {"options": {"mode": "code"}}), ALL),
    "entry's preprocess": (entries(preprocess=["unit"]), ALL),
    "entry's length scale": (entries(length_scale=3.0), ALL),
    "size": ({"sizes": {"multiples_of_d": [3]}}, "maps train"),
    "norm": ({"approximation": {"norm": "sup", "rows": 20}}, "maps"),
    "rows of the error": ({"approximation": {"norm": "frobenius", "rows": 19}}, "maps"),
    "penalties": (learners({"penalties": [1.0]}, {"C": [3]}), LATER),
    "folds": (learners({"n_folds": 2}, {"n_folds": 2}), LATER),
    "scaling": (learners({"scaling": "sum"}, {"intercept": "unpenalised"}), LATER),
    "solver": ({"settings": {"learners": {"svm": {"solver": "newton"}, "ridge": {"center": "both"}}}}, LATER),
    "entry's learner": (entries(learners={"ridge": {"center": "none"}, "svm": {"n_folds": 2}}), "train"),
    "scores": ({"scores": ["error_pct"]}, "train"),
    "rows of the search": ({"search": SEARCH | {"max_rows": 29}}, "tune"),
    "rows": ({"facts": {"sha256": "1"}}, ALL),
    "task's split": ({"facts": {"split": "published"}}, ALL),
    "task's counts": ({"facts": {"n_train": 5}}, ALL),
    "task's target": ({"facts": {"target": "classes"}}, ALL),
    "scaling of the target": ({"facts": {"target_scaling": {"interval": {"low": 0}}}}, ALL),
    "rows that are missing": ({"facts": {"left_out": {"test": 3}}}, ALL),
    "a fact that nobody has thought of": ({"facts": {"weather": "rain"}}, ALL),
}

#: Changes of names, of what else there is to do, and of what a cell has a choice of its own of.
IDLE = {
    "names": ({"name": "other", "title": "Other", "paper": "eerf", "protocol": "code"}, ALL),
    "preset": ({"settings": {"preset": "paper"}}, ALL),
    "shards": ({"settings": {"shard_by": ["experiment", "dataset"], "threads": 8}}, ALL),
    "variants": (entries({"variant": "a"}, {"variant": "b"}), ALL),
    "a default, written out": (
        entries({"options": {"layout": "cos_sin"}}, {"options": {"mode": "text", "identity": False}}), ALL,
    ),
    "times": ({"time": None, "settings": {"time": toys.SETTINGS["time"] | {"rounds": 9}}}, ALL),
    "learners": ({"learners": {"ridge": {"scaling": "sum"}}}, "maps"),
    "norm": ({"approximation": {"norm": "sup", "rows": 20}}, LATER),
    "scores": ({"scores": ["error_pct"]}, "maps tune"),
    "entry's learner": (entries(learners={"ridge": {"center": "none"}}), "maps"),
    "repeats of a learner": (learners(ridge={"repeats": 2}, svm={"repeats": 2}), ALL),
    "grid of the search": ({"search": SEARCH | {"length_scale": {"grid": [5.0], "tune_per": "cell"}}}, ALL),
    "who shares a penalty": ({"search": SEARCH | {"penalty": {"tune_per": "method_and_size"}}}, "maps train"),
    "facts": ({"facts": {"facts": {"spikes": 3}, "stand_in": "other"}}, ALL),
}  # fmt: skip

CHANGES = [(*each, cases is DECIDING) for cases in (DECIDING, IDLE) for each in cases.values()]


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "stages", "decides"), CHANGES, ids=[*DECIDING, *IDLE])
def test_what_changes_a_number_changes_the_keys_of_all_cells_and_nothing_else(prepared, changes, stages, decides):
    for stage in stages.split():
        before, after = keys(prepared, stage, search=SEARCH), keys(prepared, stage, **({"search": SEARCH} | changes))
        assert not before & after if decides else before == after, stage


def test_another_repeat_or_size_adds_cells_and_moves_none(prepared):
    for stage in ("maps", "train"):
        few = keys(prepared, stage)
        assert few < keys(prepared, stage, settings={"repeats": 3})
        assert few < keys(prepared, stage, sizes={"multiples_of_d": [2, 4, 8]})
        assert few < keys(prepared, stage, methods=[*BASE["methods"], {"method": "orf"}])
        assert len(few) == (8 if stage == "maps" else 16)
    # stages have keys of their own
    assert not keys(prepared, "maps") & keys(prepared, "train")
    assert not keys(prepared, "train") & keys(prepared, "tune", search=SEARCH)


@pytest.mark.parametrize("library", ["numpy", "scipy", "scikit-learn", "torch"])
def test_another_version_of_what_does_the_arithmetic_discards_all_cells(prepared, monkeypatch, library):
    """As a new lock of the environment brings one; another version of anything else discards nothing."""
    before = keys(prepared, "maps")

    def other(name):
        return "99.0" if name == library else version(name)

    monkeypatch.setattr("rfstudy.study.provenance.version", other)
    engine.versions.cache_clear()
    try:
        assert not before & keys(prepared, "maps")
        library = "pandas"
        engine.versions.cache_clear()
        assert before == keys(prepared, "maps")
    finally:
        engine.versions.cache_clear()


def test_times_of_another_processor_are_taken_again(prepared, counted, monkeypatch):
    before = timing_keys(prepared)
    monkeypatch.setattr("rfstudy.study.time.processor_name", lambda: "another one")
    assert not before & timing_keys(prepared)


@pytest.mark.parametrize("kind", ["variance", "decay", "surrogate", "requirement"])
def test_every_key_of_a_kinds_grid_is_in_the_keys_of_its_cells(kind):
    """Each value of the grid in turn; a list loses its last value or is doubled, a number becomes another."""
    grids = {
        "variance": {"distances": [0.5, 1.5], "dimensions": [4, 8], "multiples_of_d": [2, 3], "draws": 4},
        "decay": {"rows": 30, "dimensions": [3, 4], "n_features": [16, 64], "norms": ["sup", "l2"], "ridge": 0.1},
        "surrogate": {"dimensions": [2, 3], "sample_sizes": [20, 30], "penalties": [0.1, 1.0], "draws": 30},
        "requirement": {
            "decays": ["polynomial", "slowest"], "sample_sizes": [24, 30], "n_features": [2, 8], "terms": 10,
            "draws": 2, "test_rows": 40, "tolerance": 0.05,
        },
    }  # fmt: skip
    spec = SPEC | {"kind": kind} | ({"kernel": {"name": "circle"}} if kind == "requirement" else {})

    def all_keys(grid):
        work = Job("measure", spec | {"grid": grid}, None, None)
        return {work.key(cell) for cell in kind_cells(work)}

    before = all_keys(grids[kind])
    assert set(grids[kind]) == set(KINDS[kind].grid.__annotations__)
    for name, value in grids[kind].items():
        after = all_keys(grids[kind] | {name: value[:1] if isinstance(value, list) else value * 2})
        assert after != before, name
        # an axis loses cells, everything else is another number in all of them
        assert after < before or not after & before, name


def timing_keys(prepared, settings=None, chosen=None, **changes):
    settings = {"repeats": 1} | (settings or {})
    toy = toys.selected(settings, **(BASE | {"methods": [{"method": "rff"}]} | changes))
    (spec,) = toys.parts("time", toy, settings)
    work = toys.job("time", spec, prepared, prepared / "journal")
    return {row["value"] for row in take_times(work, {"made": chosen} if chosen else {}).rows}


@pytest.fixture
def counted(monkeypatch):
    """Rounds that take no time, each with a number of its own: a round from the journal keeps the one it had."""
    numbers = iter(range(10**6))

    def best_of(self, attempts, number):
        return [{"metric": "time_draw_s", "axis": "round", "at": number, "value": float(next(numbers)), "settings": {}}]

    monkeypatch.setattr(Rounds, "best_of", best_of)


CHOICE = {"experiment": {"chosen": {"length_scale": 2.0}, "chosen_on": [0]}}


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"time": {"threads": 2}},
        {"preprocess": ["standard"]},
        {"bandwidth": {"rule": "median", "rows": 51, "length_scale": None}},
        {"methods": [{"method": "rff"}, {"method": "orf"}]},
        {"methods": [{"method": "rff", "variant": "named"}]},  # rows say it
        {"methods": [{"method": "rff", "length_scale": 3.0}]},
        {"methods": [{"method": "rff", "preprocess": ["unit"]}]},
        {"methods": [{"method": "rff", "options": {"layout": "phase"}}]},
        {"sizes": {"multiples_of_d": [2]}},
        {"time": {"learner": "svm"}},
        {"settings": {"max_rows": 10}},
        {"chosen": CHOICE},
    ],
    ids=str,
)
def test_what_is_timed_together_is_in_the_key_of_a_round(prepared, counted, changes):
    before = timing_keys(prepared)
    assert len(before) == 3
    assert timing_keys(prepared) == before
    assert not timing_keys(prepared, **changes) & before


def test_auto_is_a_device_before_it_is_in_a_key(prepared, monkeypatch):
    """Cells of a machine with a GPU and of one without are no cells of each other."""
    monkeypatch.setattr("rfstudy.study.provenance.gpu_name", lambda: "a GPU")

    def keys_on(device, is_there):
        monkeypatch.setattr("torch.cuda.is_available", lambda: is_there)
        monkeypatch.setattr("torch.cuda.device_count", lambda: int(is_there))
        shards = toys.parts("train", toys.selected({"device": device}), {"device": device})
        (work,) = engine.jobs("train", shards, [prepared], prepared / "j", 1)
        return [work.key(cell) for cell in grid_cells(work.spec, {}, 3)]

    assert keys_on("auto", False) == keys_on("cpu", True)
    assert keys_on("auto", True) == keys_on("cuda", True) != keys_on("cpu", True)


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_a_job_without_memory_on_a_gpu_takes_smaller_blocks_and_then_the_cpu(tmp_path, monkeypatch, capsys, failures):
    monkeypatch.setattr("random_features.arrays._gpu_share", 4)
    monkeypatch.setattr("torch.cuda.empty_cache", lambda: None)
    seen = []

    def work_of(job):
        def compute(cell, _):
            seen.append((job.spec.device, cell.name, arrays._gpu_share))
            if cell is CELLS[1] and len(seen) <= 1 + failures:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
            return [{"value": 1.0}], {}

        return job.work_through(CELLS, compute)

    assert len(engine.in_memory(work_of, job(tmp_path, device="cuda")).rows) == len(CELLS)
    tries = [each for each in seen if each[1] == CELLS[1].name]
    assert tries == [("cuda" if i < 3 else "cpu", CELLS[1].name, 4 ** (i + 1)) for i in range(failures + 1)]
    assert [name for _, name, _ in seen].count(CELLS[0].name) == 1  # it stays where it was computed
    log = capsys.readouterr().err
    assert log.count("Tried to allocate 20.00 MiB.") == failures
    assert ("on the CPU" in log) == (failures == 3)


def test_other_errors_on_a_gpu_end_the_job(tmp_path):
    def work_of(job):
        raise RuntimeError("an illegal memory access was encountered")

    with pytest.raises(RuntimeError, match="illegal"):
        engine.in_memory(work_of, job(tmp_path, device="cuda"))


def test_a_device_that_is_not_there_ends_a_job_at_its_start(prepared, monkeypatch):
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    shards = toys.parts("train", toys.selected({"device": "cuda"}), {"device": "cuda"})
    with pytest.raises(UserError, match="device='cuda': PyTorch sees 0 CUDA devices; use 'auto' or 'cpu'"):
        next(engine.jobs("train", shards, [prepared], prepared / "journal", 1))


def test_missing_data_leave_a_row_for_each_entry_and_metric(tmp_path, monkeypatch):
    X, y = toys.labelled()
    data = toys.write_data(tmp_path, X, y)
    toys.lose(data)
    monkeypatch.setitem(KINDS, "decay", replace(KINDS["decay"], metrics=("one", "two")))  # a kind that names metrics
    for repeats in ([1, 2], [0]):  # of two jobs the first alone says so: rows of both would be there twice
        part = SPEC | {"dataset": "made", "repeats": repeats}
        measure.run([part], [data], tmp_path / "journal", tmp_path / "o.csv", tmp_path / "o.npz", 1)
        rows = tidy.read(tmp_path / "o.csv")
        assert len(rows) == (4 if repeats == [0] else 0)
    assert rows["variant"].tolist() == ["", "", "b", "b"]
    assert rows["metric"].tolist() == ["one", "two"] * 2
    assert rows["status"].eq("skipped").all()
    assert rows["settings"].str.contains("not to be had").all()
