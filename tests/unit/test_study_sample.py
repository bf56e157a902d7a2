"""The rows of a repeat: split, capped and preprocessed as the data's facts and the specification say."""

import numpy as np
import pytest
import study_toys as toys

from random_features.errors import UserError
from rfstudy.data.bandwidths import median
from rfstudy.data.prepared import digest, write
from rfstudy.data.split import split
from rfstudy.study import sample
from rfstudy.study.sample import Samples, draw_sample, load_prepared

N, D = 60, 5
SPEC = toys.part(seed=3, max_rows=None)


def prepared_as(tmp_path, rule, **facts):
    """Prepared data whose targets are the numbers of the rows, in halves."""
    X, y = np.random.default_rng(0).normal(size=(N, D)).astype(np.float32), np.arange(N) / 2
    facts = {"status": "ok", "split": rule, "n_train_published": None, "n": N, "d": D} | facts
    facts["sha256"] = digest(X, y, facts["n_train_published"])
    write(tmp_path, facts, X, y)
    return load_prepared(tmp_path)


def test_a_random_split_takes_the_counts_of_the_facts(tmp_path):
    prepared = prepared_as(tmp_path, "random", n_train=30, n_test=20)
    for repeat in (0, 1):
        sample = draw_sample(prepared, SPEC, repeat, ["none"])
        train, test = split(N, None, repeat, 3, "random", (30, 20))
        assert sample.y_train.tolist() == (train / 2).tolist()
        assert sample.y_test.tolist() == (test / 2).tolist()
        np.testing.assert_array_equal(sample.X_test, prepared.X[test])
        # rows that the split leaves out are no cap
        assert not sample.capped
        assert sample.size_columns == {"n_train": 30, "n_test": 20, "d": D}


@pytest.mark.parametrize(
    ("how", "n_folds"),
    [({"rule": "folds", "n_folds": 5}, 5), ({"rule": "block_folds", "n_blocks": 5}, 5), ({"rule": "folds"}, 10)],
)
@pytest.mark.parametrize("n_rows", [None, 30, 40])
def test_folds_of_some_rows_test_each_of_them_once(tmp_path, how, n_folds, n_rows):
    prepared, of = prepared_as(tmp_path, "half"), how | ({"n_rows": n_rows} if n_rows else {})
    *samples, again = [draw_sample(prepared, SPEC, repeat, ["none"], of) for repeat in range(n_folds + 1)]
    assert again.y_test.tolist() == samples[0].y_test.tolist()
    tests = np.concatenate([sample.y_test for sample in samples])
    assert len(set(tests)) == len(tests) == (n_rows or N)
    for each in samples:
        assert set(each.y_train) | set(each.y_test) == set(tests)
        assert len(each.y_train) + len(each.y_test) == (n_rows or N)
        assert len(each.y_test) == (n_rows or N) / n_folds
        if how["rule"] == "block_folds":  # neighbours among the rows in use test together
            rank = np.searchsorted(np.sort(tests), each.y_test)
            assert rank.tolist() == list(range(rank[0], rank[0] + len(rank)))


@pytest.mark.parametrize("n_rows", [None, 30])
def test_published_folds_are_those_of_the_rows_in_use(tmp_path, n_rows):
    prepared = prepared_as(tmp_path, "half", fold_of_row="201" * (N // 3))
    how = {"rule": "folds"} | ({"n_rows": n_rows} if n_rows else {})
    tests = [draw_sample(prepared, SPEC, repeat, ["none"], how).y_test for repeat in range(3)]
    assert [set(2 * rows % 3) for rows in tests] == [{1.0}, {2.0}, {0.0}]
    assert sum(map(len, tests)) == (n_rows or N)


def test_blocks_of_some_rows_are_held_out_whole(tmp_path):
    how = {"rule": "block_folds", "n_blocks": 5, "n_rows": 30, "folds": "blocks"}
    sample = draw_sample(prepared_as(tmp_path, "half"), SPEC, 2, ["none"], how)
    assert sample.train_blocks.tolist() == [block for block in (0, 1, 3, 4) for _ in range(6)]


def test_rows_that_a_substitute_leaves_out_make_fewer_than_published(tmp_path):
    some = {"substitutes": ["some"]}
    reported = {"a": {}, "b": some | {"left_out": {"test": 0}}, "c": some | {"left_out": {"test": 3}}}
    for name, facts in reported.items():
        assert draw_sample(prepared_as(tmp_path / name, "half", **facts), SPEC, 0, ["none"]).capped == (name == "c")


def test_numbers_stay_numbers_under_a_cap(tmp_path):
    sample = draw_sample(prepared_as(tmp_path, "half"), SPEC | {"max_rows": 7}, 0, ["none"])
    assert (sample.y_train.dtype, len(sample.y_train), len(sample.y_test), sample.capped) == (np.float64, 7, 7, True)
    train, test = split(N, None, 0, 3, "half")
    assert np.isin(2 * sample.y_train, train).all()
    assert np.isin(2 * sample.y_test, test).all()


@pytest.mark.parametrize("rule", ["half", "first_blocks", "last_blocks", "blocks"])
def test_a_cap_draws_other_rows_in_every_repeat(tmp_path, rule):
    samples = Samples(prepared_as(tmp_path, "half", n_train=30, n_test=30), SPEC | {"max_rows": 35})
    some, others = (samples.of(repeat, ["none"], {"rule": rule, "n_blocks": 3}).y_train.tolist() for repeat in (1, 0))
    assert some != others


def test_the_columns_are_those_after_the_steps_which_only_training_rows_decide(tmp_path):
    prepared = prepared_as(tmp_path, "random", n_train=30, n_test=20)
    sample = draw_sample(prepared, SPEC, 0, ["minmax", {"pca": {"n_components": 2}}])
    assert sample.size_columns["d"] == 2
    assert sample.X_train.dtype == np.float32
    train, test = split(N, None, 0, 3, "random", (30, 20))
    X = prepared.X.astype(np.float64)
    X = (X - X[train].min(0)) / np.ptp(X[train], axis=0)
    _, _, directions = np.linalg.svd(X[train] - X[train].mean(0))
    expected = (X[test] - X[train].mean(0)) @ directions[:2].T
    np.testing.assert_allclose(np.abs(sample.X_test), np.abs(expected), atol=1e-5)


def test_an_experiment_may_split_in_another_way_than_its_task(tmp_path):
    prepared = prepared_as(tmp_path, "random", n_train=30, n_test=20)
    halves = draw_sample(prepared, SPEC | {"split": {"rule": "half"}}, 0, ["none"])
    assert (len(halves.y_train), len(halves.y_test)) == (30, 30)
    # counts that it does not state are the task's
    fewer = draw_sample(prepared, SPEC | {"split": {"rule": "random", "n_train": 8}}, 0, ["none"])
    assert (len(fewer.y_train), len(fewer.y_test)) == (8, 20)
    assert not fewer.capped


@pytest.mark.parametrize("kept", ["all", "one"])
def test_samples_are_kept_while_they_are_small(tmp_path, monkeypatch, kept):
    if kept == "one":
        monkeypatch.setattr(sample, "KEPT_BYTES", 1)
    samples = Samples(prepared_as(tmp_path, "half"), SPEC)
    first = samples.of(0, ["none"])
    assert samples.of(0, ["none"]) is first
    other = samples.of(0, ["minmax"])
    assert other.X_train.max() == 1.0
    assert samples.of(1, ["minmax"]).y_train.tolist() != other.y_train.tolist()
    assert (samples.of(0, ["none"]) is first) == (kept == "all")
    np.testing.assert_array_equal(samples.of(0, ["none"]).X_train, first.X_train)


def test_the_oldest_sample_makes_room(tmp_path, monkeypatch):
    samples = Samples(prepared_as(tmp_path, "half"), SPEC)
    first = samples.of(0, ["none"])
    assert first.nbytes == N * D * 4 + first.y_train.nbytes + first.y_test.nbytes
    monkeypatch.setattr(sample, "KEPT_BYTES", 2 * first.nbytes)
    second, third = samples.of(1, ["none"]), samples.of(2, ["none"])
    assert samples.of(1, ["none"]) is second
    assert samples.of(2, ["none"]) is third
    assert samples.of(0, ["none"]) is not first


def test_the_range_of_the_targets_is_that_of_the_training_rows_of_the_repeat(tmp_path):
    scaling = {"interval": {"low": -1, "high": 1}}
    prepared = prepared_as(tmp_path, "random", n_train=20, n_test=30, target_scaling=scaling)
    for repeat in (0, 1):
        sample = draw_sample(prepared, SPEC, repeat, ["none"])
        train, test = (prepared.y[rows] for rows in split(N, None, repeat, 3, "random", (20, 30)))
        middle, half = (train.max() + train.min()) / 2, np.ptp(train) / 2
        np.testing.assert_allclose(sample.y_train, (train - middle) / half, rtol=0, atol=1e-15)
        np.testing.assert_allclose(sample.y_test, (test - middle) / half, rtol=0, atol=1e-15)
        assert (sample.y_train.min(), sample.y_train.max()) == (-1.0, 1.0)


@pytest.mark.parametrize(("length", "factor"), [(100.0, 1e308), (1e-10, 1e-320)])
def test_a_factor_that_leaves_no_length_scale_is_named(tmp_path, monkeypatch, length, factor):
    monkeypatch.setattr(median, "length_scale", lambda X, rng: length)
    samples = Samples(prepared_as(tmp_path, "half"), SPEC)
    assert samples.length_scale(0, ["none"], {"rule": "median"}) == length
    with pytest.raises(UserError, match=r"the rule median gives the length scale (inf|0\.0); is its factor meant\?"):
        samples.length_scale(0, ["none"], {"rule": "median", "factor": factor})
