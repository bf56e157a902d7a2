"""The stage train on synthetic data: maps that need targets, that have an estimate of their own, or no map;
what a cell is computed under; sizes that share one map.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
import study_toys as toys
from checkouts import ROOT

from random_features import maps
from random_features.maps.registry import REGISTRY
from rfstudy.planning import config
from rfstudy.study.kinds import grid
from rfstudy.study.kinds.grid import choice_for, conditions_of, grid_cells
from rfstudy.study.train import Training

N_TRAIN, D, LENGTH_SCALE = 40, 5, 2.0


@pytest.fixture
def prepared(tmp_path):
    return toys.write_data(tmp_path / "prepared", *toys.labelled(2 * N_TRAIN, D), n_train_published=N_TRAIN)


def stages(prepared, tmp_path, *methods, **changes):
    """Rows of both stages at s = 2d and 16d, the latter more than there are training rows, in one repeat."""
    svm = toys.SVM | {"C": [1.0], "n_folds": 2}
    changes = {
        "methods": list(methods),
        "sizes": {"multiples_of_d": [2, 16]},
        "learners": {"ridge": {"penalties": [0.01], "n_folds": 2}, "svm": svm},
    } | changes
    return toys.run_grid(toys.selected(repeats=1, **changes), {"made": prepared}, tmp_path)[:2]


def test_an_option_or_a_kernel_that_a_map_does_not_have_is_no_row_but_an_error(prepared, tmp_path):
    with pytest.raises(ValueError, match="mode must be one of"):
        stages(prepared, tmp_path, {"method": "slsrff", "options": {"mode": "resample"}})
    with pytest.raises(ValueError, match="rm does not apply to the kernel gaussian; it supports polynomial"):
        stages(prepared, tmp_path, {"method": "rm"})


def test_every_map_that_approximates_the_gaussian_kernel_is_in_the_surveys_experiments():
    experiments = config.load_experiments(ROOT / "config")
    names = ("survey-gaussian-text", "survey-gaussian-others")
    listed = [e["method"] for name in names for e in experiments[name]["methods"]]
    assert sorted(listed) == sorted(
        name for name, known in REGISTRY.items() if "gaussian" in known.kernels and known.family != "Fourier peaks"
    )


def test_scores_are_those_that_the_experiment_asks_for(prepared, tmp_path):
    _, scores = stages(prepared, tmp_path, {"method": "rff"}, scores=["error_pct", "accuracy_pct"])
    table = scores.pivot(index=["n_features_label", "learner"], columns="metric", values="value")
    assert len(table) == 4
    assert (table["error_pct"] + table["accuracy_pct"]).to_numpy() == pytest.approx(100.0)


RIDGE = {"scaling": "mean", "center": "none", "penalties": [0.1, 1.0], "n_folds": 5}
SPEC = toys.part(learners={"ridge": RIDGE}, sizes={"multiples_of_d": [1, 2]}, repeats=[0])
SPEC |= {"preprocess": ["minmax"], "bandwidth": {"rule": "fixed", "length_scale": 5.0}}


def entry(method="rff", **own):
    return {"method": method, "variant": "", "options": {}, **own}


def test_chosen_steps_count_and_the_number_of_folds_does_not_where_the_penalty_is_given():
    chosen = {"size": {"2d": {"chosen": {"penalty": {"ridge": 0.1}, "preprocess": ["standard"]}, "chosen_on": [0]}}}
    for found, options in ((chosen, {"scaling", "center", "penalties"}), ({}, set(RIDGE))):
        given = conditions_of(SPEC, choice_for(found, entry(), "2d", 0), entry(), "ridge")
        steps = ["standard"] if found else ["minmax"]  # those that were chosen, or the experiment's
        assert (set(given["settings"]), given["preprocess"]) == (options, steps)


def test_cells_have_the_repeats_outermost_and_sizes_in_columns_that_the_map_sees():
    spec = SPEC | {"methods": [entry(), entry("orf")], "preprocess": ["none"]}
    cells = grid_cells(spec | {"repeats": [3, 5]}, {}, 7)
    found = [(c.coordinates["repeat"], c.entry["method"], *c.coordinates["label"]) for c in cells]
    assert found == list(itertools.product((3, 5), ("rff", "orf"), ("d", "2d")))
    assert [c.coordinates["n_features"] for c in cells] == [[7], [14]] * 4
    assert len({cell.name for cell in cells}) == 8
    spec |= {"preprocess": [{"pca": {"n_components": 4}}]}
    reduced = grid_cells(spec, {}, 7)
    assert [c.coordinates["n_features"] for c in reduced[:2]] == [[4], [8]]
    numbers = grid_cells(spec | {"sizes": {"values": [7]}}, {}, 7)
    assert numbers[0].coordinates == {"n_features": [7], "label": ["7"], "repeat": 0}


def test_rows_say_the_columns_and_sizes_that_the_steps_leave(prepared, tmp_path):
    steps = ["standard", {"pca": {"n_components": 3}}]
    for rows in stages(prepared, tmp_path, {"method": "rff"}, preprocess=steps):
        assert set(rows["d"]) == {3}
        assert set(zip(rows["n_features"], rows["n_features_label"], strict=True)) == {(6, "2d"), (48, "16d")}
        assert set(rows["n_columns"]) == {12, 96}


ORDER_0, ORDER_1 = ({"name": "arc_cosine", "order": order} for order in (0, 1))


def test_entries_of_several_kernels_are_cells_and_arrays_of_their_own():
    spec = SPEC | {"kernel": ORDER_0, "preprocess": ["none"], "methods": [entry(), entry(kernel=ORDER_1)]}
    cells = grid_cells(spec | {"sizes": {"multiples_of_d": [1]}}, {}, 7)
    assert [(cell.name, cell.conditions.get("kernel")) for cell in cells] == [
        ("rff/7/d/0", None), ("rff-arccos1/7/d/0", ORDER_1)
    ]  # fmt: skip


POOL = {"method": "kprff", "options": {"n_candidates": 40}}


def test_one_reading_of_a_map_with_prefixes_is_another_cell_than_several(prepared, tmp_path):
    def keys(*multiples):
        spec = part_of(methods=[POOL], sizes={"multiples_of_d": list(multiples)})
        job = toys.job("train", spec, prepared, tmp_path / "journal")
        return {job.key(cell) for cell in grid_cells(spec, {}, D)}

    assert len(keys(1, 2)) == 1
    assert len({*keys(1, 2), *keys(2), *keys(1, 2, 4)}) == 3


def test_the_edge_of_a_choice_is_that_of_its_size(prepared, tmp_path):
    """Sizes with the same choice share a map, but its last step may gain at one of them alone."""
    job = toys.job("train", part_of(methods=[POOL], sizes={"multiples_of_d": [1, 2]}), prepared, tmp_path / "journal")
    gains = {"d": True, "2d": False}
    choices = {at: {"chosen": {"length_scale": 4.0}, "at_edge": {"length_scale": gain}} for at, gain in gains.items()}
    done = Training(job).work({job.spec.dataset: {"method_and_size": {"kprff": choices}}})
    found = [(row["n_features_label"], row["settings"]["at_edge"]["length_scale"]) for row in done.rows]
    assert set(found) == set(gains.items())


def test_a_map_that_fails_says_so_at_every_size_that_it_has(prepared, tmp_path, monkeypatch):
    def fail(*arguments):
        raise np.linalg.LinAlgError("singular matrix")

    monkeypatch.setattr("random_features.maps.alignment.KernelPolarizationFourier.fit", fail)
    errors, scores = stages(prepared, tmp_path, POOL, sizes={"multiples_of_d": [1, 2]})
    assert errors["n_features_label"].tolist() == ["d", "2d"]
    assert sorted(scores["n_features_label"]) == ["2d", "2d", "d", "d"]
    for rows in (errors, scores):
        assert rows["status"].eq("failed").all()
        assert rows["settings"].str.contains("singular matrix").all()


def test_another_learner_takes_a_map_as_it_was_fitted(prepared, tmp_path, monkeypatch):
    """Arrays that a map took from the data are kept with its errors: an edit of a learner fits nothing anew."""
    methods = ({"method": "nystroem"}, {"method": "sgq", "options": {"node": "sqrt_3"}}, {"method": "rff"})
    sizes = {"values": [3], "multiples_of_d": None}
    errors, scores = stages(prepared, tmp_path, *methods, sizes=sizes)
    for method in ("nystroem", "rff"):
        fitted = getattr(maps, REGISTRY[method].class_name)
        monkeypatch.setattr(fitted, "fit", lambda *arguments: pytest.fail("fitted again"))
    svm = toys.SVM | {"C": [1.0], "n_folds": 2}
    learners = {"ridge": {"penalties": [1.0, 0.01], "n_folds": 3}, "svm": svm}
    again, others = stages(prepared, tmp_path, *methods, sizes=sizes, learners=learners)
    pd.testing.assert_frame_equal(again, errors)
    kept = others["learner"].eq("svm")
    pd.testing.assert_frame_equal(others[kept], scores[scores["learner"].eq("svm")])
    assert set(others.loc[~kept, "run"]).isdisjoint(errors["run"])
    assert others["status"].value_counts().to_dict() == {"ok": 4, "skipped": 2}


def part_of(**changes):
    (spec,) = toys.parts("train", toys.selected(repeats=1, **changes))
    return spec


def cells_of(**changes):
    return grid_cells(part_of(**changes), {}, D)


def test_the_sizes_of_a_stated_pool_share_a_cell_and_those_of_an_unstated_one_do_not():
    sizes = {"multiples_of_d": [1, 2], "values": [13]}
    assert [cell.coordinates["n_features"] for cell in cells_of(methods=[POOL], sizes=sizes)] == [[D, 2 * D, 13]]
    assert len(cells_of(methods=[{"method": "kprff"}], sizes=sizes)) == 3


def test_a_cell_of_several_sizes_is_timed_size_by_size():
    spec = part_of(methods=[POOL], sizes={"multiples_of_d": [1, 2]})
    found = {label: {"chosen": {"penalty": {"ridge": value}}} for label, value in (("d", 0.1), ("2d", 1.0))}
    found = {"method_and_size": {"kprff": {label: each | {"chosen_on": [0]} for label, each in found.items()}}}
    (both,) = grid_cells(spec, found, D, "ridge")
    alone = grid_cells(spec, found, D, "ridge", together=False)
    assert (both.coordinates["label"], both.conditions["penalty"]) == (["d", "2d"], [0.1, 1.0])
    assert [(cell.coordinates["label"], cell.conditions["penalty"]) for cell in alone] == [(["d"], 0.1), (["2d"], 1.0)]
    assert [cell.coordinates["n_features"] for cell in alone] == [[D], [2 * D]]


def test_an_entry_and_a_kernel_may_be_another_on_a_data_set():
    methods = [{"method": "rff"}, {"method": "orf", "datasets": {"made": None}}]
    spec = part_of(methods=methods, datasets={"made": {"kernel": {"name": "arc_cosine", "order": 2}}})
    assert spec.kernel == {"name": "arc_cosine", "order": 2}
    assert [entry["method"] for entry in spec.methods] == ["rff"]


def test_another_draw_of_an_entry_is_another_map_under_another_key(prepared, tmp_path):
    spec = part_of(methods=[{"method": "rff"}, {"method": "rff", "variant": "again", "draw": 1}])
    job = toys.job("train", spec, prepared, tmp_path / "journal")
    first, again = grid_cells(spec, {}, 7)
    assert first.coordinates == again.coordinates
    assert grid.map_of(job, first)[0].random_state != grid.map_of(job, again)[0].random_state
    assert job.key(first) != job.key(again)
