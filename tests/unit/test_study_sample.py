"""The rows of a repeat: split, capped and preprocessed as the data's facts and the specification say."""

import json

import numpy as np
import pytest

from rfstudy.data.split import split
from rfstudy.study.cells import Cell, code_of
from rfstudy.study.sample import draw_sample, load_prepared

N, D = 60, 5
SPEC = {"seed": 3, "max_rows": None, "preprocess": ["none"]}


def prepared_as(tmp_path, rule, **facts):
    """Prepared data whose targets are the numbers of the rows, in halves."""
    generator = np.random.default_rng(0)
    np.save(tmp_path / "X.npy", generator.normal(size=(N, D)).astype(np.float32))
    np.save(tmp_path / "y.npy", np.arange(N) / 2)
    facts = {"status": "ok", "split": rule, "n_train_published": None, "d": D} | facts
    (tmp_path / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    return load_prepared(tmp_path)


def test_a_random_split_takes_the_counts_of_the_facts(tmp_path):
    prepared = prepared_as(tmp_path, "random", n_train=30, n_test=20)
    for repeat in (0, 1):
        sample = draw_sample(prepared, SPEC, repeat)
        train, test = split(N, None, repeat, 3, "random", (30, 20))
        assert sample.y_train.tolist() == (train / 2).tolist()
        assert sample.y_test.tolist() == (test / 2).tolist()
        np.testing.assert_array_equal(sample.X_test, prepared.X[test])
        # rows that the split leaves out are no cap
        assert not sample.capped
        assert sample.size_columns == {"n_train": 30, "n_test": 20, "d": D}


def test_numbers_stay_numbers_under_a_cap(tmp_path):
    sample = draw_sample(prepared_as(tmp_path, "half"), SPEC | {"max_rows": 7}, 0)
    assert (sample.y_train.dtype, len(sample.y_train), len(sample.y_test), sample.capped) == (np.float64, 7, 7, True)
    train, test = split(N, None, 0, 3, "half")
    assert np.isin(2 * sample.y_train, train).all()
    assert np.isin(2 * sample.y_test, test).all()


def test_the_columns_are_those_after_the_steps_which_only_training_rows_decide(tmp_path):
    prepared = prepared_as(tmp_path, "random", n_train=30, n_test=20)
    sample = draw_sample(prepared, SPEC | {"preprocess": ["minmax", {"pca": {"n_components": 2}}]}, 0)
    assert sample.size_columns["d"] == 2
    assert sample.X_train.dtype == np.float32
    train, test = split(N, None, 0, 3, "random", (30, 20))
    X = prepared.X.astype(np.float64)
    X = (X - X[train].min(0)) / np.ptp(X[train], axis=0)
    _, _, directions = np.linalg.svd(X[train] - X[train].mean(0))
    expected = (X[test] - X[train].mean(0)) @ directions[:2].T
    np.testing.assert_allclose(np.abs(sample.X_test), np.abs(expected), atol=1e-5)


def test_the_code_of_a_cell_is_that_of_its_steps():
    cell = Cell({"map": "montecarlo.RandomFourier"}, 4, "d", 0)
    digests = [code_of("train", cell, steps) for steps in (["none"], ["minmax"], [{"pca": {"n_components": 2}}])]
    assert len(set(digests)) == 3
    assert code_of("train", cell, [{"pca": {"n_components": 5}}]) == digests[2]


@pytest.mark.parametrize("rule", ["half", "published"])
def test_the_other_splits_ask_for_no_counts(tmp_path, rule):
    sample = draw_sample(prepared_as(tmp_path, rule, n_train_published=40), SPEC, 0)
    assert len(sample.y_train) == {"half": 30, "published": 40}[rule]
    assert len(sample.y_train) + len(sample.y_test) == N
