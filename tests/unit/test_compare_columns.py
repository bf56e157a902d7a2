"""The rows and columns of a comparison: its parts, its encoded columns, and the task."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from compare_tables import ROWS, saved, table
from scipy.spatial.distance import pdist
from sklearn.preprocessing import StandardScaler

from random_features.compare import contest as contests
from random_features.compare import recipe, warnings
from random_features.compare.question import understand
from random_features.compare.run import compare
from random_features.errors import UserError


def test_groups_stay_together_and_times_are_tested_on_later_rows(tmp_path):
    days = np.random.default_rng(1).permutation(1500)
    frame = table("linear", 1500).assign(shop=np.arange(1500) % 30, site=np.maximum(days - 1495, 0), day=days)
    path = saved(tmp_path, frame.assign(month=days // 400, old=np.minimum(days // 40, 4), late=np.minimum(days, 300)))
    group, most, time = {"group": "shop"}, {"group": "site"}, {"time": "day"}
    for how in (group, most, time, {"time": "month"}, time | group, time | most):
        asked = understand(path, "y", **how)
        times = recipe.times_of(asked.table, asked.settings)
        names = np.arange(1500) if asked.groups is None else asked.groups
        last = pd.Series(np.arange(1500) if "group" in how else times).groupby(names).max()
        parts = recipe.final_parts(asked.table, asked.y, asked.groups, asked.settings)
        assert bool(warnings.small_test(len(parts[1]), len(asked.y))) == ("site" in how.values())
        cuts = recipe.split(asked.y, asked.groups, times, folds=5)
        for train, test in [parts, *cuts]:
            assert len(train) >= len(test)  # no group of most rows is held out
            assert not set(names[train]) & set(names[test])
            assert "time" not in how or last[names[train]].max() < last[names[test]].min()
        held = np.concatenate([test for _, test in cuts])
        assert len(held) == len(set(held))  # every row counts once
        few = names[parts[0]]  # one or four groups, or many
        assert recipe.split(asked.y[parts[0]], few, None, folds=5) or len(set(few)) == 1
        assert "shop" in asked.settings["columns"]["numbers"] or "group" in how
        assert how.get("time") != "day" or list(asked.table["day"]) == list(range(1500))
    for how in (time | {"group": "old"}, {"time": "late"}):
        asked = understand(path, "y", **how)
        with pytest.raises(UserError, match=f"--time {how['time']}: most rows have the last time or group; name an"):
            recipe.final_parts(asked.table, asked.y, asked.groups, asked.settings)
    times = np.repeat([0, 1, 2, 3], [3, 297, 150, 150])  # no contestant learns from three rows
    assert [len(train) for train, _ in recipe.split(asked.y[:600], None, times, folds=5)] == [300, 450]


def test_rows_without_a_group_or_a_time_make_no_class(tmp_path):
    labels = ["odd"] * 15 + ["yes", "no", "no"] * 100
    path = saved(tmp_path, frame := table("linear", 315).assign(y=labels, day=np.r_[[np.nan] * 15, np.arange(300) % 9]))
    for option in ("group", "time"):
        assert understand(path, "y", **{option: "day"}).settings["classes"] == ["no", "yes"]  # the rarer is found
    with pytest.raises(UserError, match="has 45 rows with a class of 10 rows or more and a time, 2 different"):
        understand(saved(tmp_path, frame[:60]), "y", time="day")


def test_the_penalty_of_groups_is_chosen_on_groups_that_are_held_out(tmp_path):
    losses, group = [], np.arange(600) % 30
    for rng in map(np.random.default_rng, range(4)):
        places, effects = rng.standard_normal((30, 3)), rng.standard_normal(30)
        frame = pd.DataFrame(places[group] + 0.01 * rng.standard_normal((600, 3)), columns=list("abc"))
        frame = frame.assign(group=group, y=frame["a"] + effects[group])  # effects that other groups do not have
        asked = understand(saved(tmp_path, frame), "y", group="group")
        contest = contests.Contest(asked, np.arange(600), tmp_path / str(len(losses)))
        contest.run(unit := contests.Unit("exact-kernel", contest.n_train, None))
        by_rows = contest.error(unit.name, contest.tuned(unit.name, contest.start), contest.parts, unit.n)[0]
        losses.append(contest.results[0].losses.mean() / by_rows)
    assert min(losses) < 0.98 < max(losses) < 1 + 1e-9


def test_the_test_rows_are_seen_by_no_validation_part(tmp_path, monkeypatch):
    asked = understand(saved(tmp_path, table("linear")), "y")
    train, test = recipe.final_parts(asked.table, asked.y, None, asked.settings)
    assert sorted([*train, *test]) == list(range(ROWS))
    taken, rows_of = [], recipe.rows_of
    monkeypatch.setattr(recipe, "rows_of", lambda table, rows: taken.append(rows) or rows_of(table, rows))
    parts, groups = contests.validation_parts(asked, train)
    assert not set(np.concatenate(taken)) & set(test)
    assert len(groups) == sum(len(part.y_held) for part in parts) == len(train)


def test_a_validation_part_of_one_class_is_left_out(tmp_path):
    days = np.arange(600)
    for metric, y, parts in (("error", days // 100 % 2, 4), ("auc", days // 100 % 2, 2), ("auc", days < 80, 0)):
        frame = table("linear", 600).assign(day=days, y=np.where(y, "yes", "no"))
        asked = understand(saved(tmp_path, frame), "y", time="day", metric=metric)
        with nullcontext() if parts else pytest.raises(UserError, match="one class in every part"):
            assert len(contests.validation_parts(asked, days[:480])[0]) == parts
    with pytest.raises(UserError, match="--metric auc: the test part has one class"):
        compare(tmp_path / "table.csv", "y", time="day", metric="auc", out=tmp_path / "out")


def test_a_table_of_many_numbers_is_trained_on_as_many_rows_as_fit(tmp_path, monkeypatch):
    asked = understand(saved(tmp_path, table("linear", 3000)), "y")
    (whole, *_), _ = contests.validation_parts(asked, np.arange(3000))
    monkeypatch.setattr(contests, "MOST_NUMBERS", whole.X.shape[1] * (1500 + len(whole.y_held)))
    (part, *_), _ = contests.validation_parts(asked, np.arange(3000))
    assert (len(whole.y), len(part.y), len(part.y_held)) == (2000, 1500, len(whole.y_held))
    monkeypatch.setattr(contests, "MOST_NUMBERS", 1)
    (part, *_), _ = contests.validation_parts(asked, np.arange(3000))
    assert len(part.y) == contests.WIDTH_ROWS == contests.Contest(asked, np.arange(3000), tmp_path).n_final


def test_the_encoder_fills_scales_and_ignores_unknown_categories():
    days = pd.to_datetime(["2024-01-01", "2024-01-02", None, "2024-02-01"])
    frame = pd.DataFrame({"n": [1.0, None, 3.0, np.inf], "e": np.nan, "c": ["a", "b", None, "a"], "d": days})
    columns = {"numbers": ["n", "e"], "dates": ["d"], "seasons": ["d"], "categories": ["c"]}
    np.testing.assert_array_equal(recipe.seasons(frame[["d"]]), [[0, 0], [1, 0], [np.nan, np.nan], [3, 0]])
    fitted = recipe.encoder({"columns": columns, "task": "regression"}).fit(frame)
    X = fitted.transform(frame)
    assert X.dtype == np.float32
    assert np.isfinite(X).all()
    new = fitted.transform(pd.DataFrame({"n": [2.0], "e": 1.0, "c": ["new"], "d": pd.to_datetime(["2030-01-01"])}))
    assert new.shape == (1, X.shape[1])
    assert new[0, -3:].sum() == 0


def test_spikes_do_not_shrink_the_other_rows_and_stay_far():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(5.0, 2.0, 2000), rng.random(2000) < 0.1, np.full(2000, 3.0)])
    X[0, 0] = np.nan
    plain = np.nan_to_num(StandardScaler().fit_transform(X))  # no value is that far
    np.testing.assert_allclose(recipe.Standardised().fit_transform(X)[:, :3], plain, atol=1e-12)
    spiked = np.column_stack([X[:, 0], np.where(rng.random(2000) < 0.1, rng.normal(size=2000), 0.0)])
    spiked[1] = 1e6
    found = recipe.Standardised().fit(spiked).transform(spiked)
    assert (found[1, :2] > 1e5).all()
    assert found[0, [0, 2]].tolist() == pytest.approx([0, 1])  # a missing cell
    assert found[2:, 1].std() > 0.5  # most cells are zero
    # one value at 20 quartile ranges, 27 deviations, adds 27^2 / 2000 to a variance of 1
    np.testing.assert_allclose(found[2:, 0].std(), (1 + 27**2 / 2000) ** -0.5, rtol=0.02)


def test_columns_without_effect_are_divided_by_long_length_scales_in_units_that_other_rows_have():
    X = np.random.default_rng(0).normal(size=(600, 6)).astype(np.float32)
    y = np.sin(3 * X[:, 0]) * np.cos(3 * X[:, 1])  # no kernel of all columns sees it, and no column does alone
    for rows in (slice(0, 300), slice(300, 600)):
        scales = recipe.Scaled(relevance=True).fit(X[rows], y[rows]).length_scales_
        assert scales[2:].min() > 5 * scales[:2].max()
        np.testing.assert_allclose(np.median(pdist(X / scales)), 1, rtol=0.1)
    assert recipe.Scaled().fit(X, y).length_scales_.ndim == 0


@pytest.mark.parametrize("name", ["guess", "boosting", "linear", "exact-kernel"])
def test_the_origin_of_the_target_changes_no_prediction(name):
    X = np.random.default_rng(0).normal(size=(300, 2)).astype(np.float32)
    chosen = {} if name == "boosting" else {"penalty": 1e-3, "penalties": 1e-3, "length_scale": 1.0}
    model, y = recipe.model(name, chosen, "regression"), X[:, 0].astype(np.float64)
    at_0, far = (model.fit(X, y + origin).predict(X) for origin in (0, 1e9))
    np.testing.assert_allclose(far - 1e9, at_0, atol=1e-4)


@pytest.mark.parametrize(("values", "task"), [
    ([1e300, 2e300] * 50, "classes"),
    (np.repeat(np.arange(7), [60, 90, 40, 20, 9, 4, 2]), "regression"),  # counts
    ([0, 1] * 50, "classes"), (np.arange(200) % 20, "classes"), (18 + np.arange(200) % 15, "regression"),
    (np.arange(200) % 25, "regression"),
    (np.linspace(0, 1, 100), "regression"), (["a", "b"] * 50, "classes"), ([True, False] * 50, "classes"),
])  # fmt: skip
def test_the_task_is_inferred(tmp_path, values, task):
    path = saved(tmp_path, pd.DataFrame({"x": np.arange(len(values)) * 0.5, "y": values}))
    asked, other = understand(path, "y"), {"classes": "regression", "regression": "classes"}[task]
    assert asked.settings["task"] == task
    words = f"'y', few whole numbers, is taken for {task}; --task {other} changes it"
    assert (words in asked.changed) == (isinstance(values, np.ndarray) and 2 < len(set(values)) <= 20)


@pytest.mark.parametrize("is_class", [False, True])
def test_many_categories_predict_by_their_means_on_other_rows(is_class):
    rng = np.random.default_rng(0)
    code = rng.integers(0, 300, (2, 3000))
    y = rng.standard_normal(300)[code[0]] + 0.3 * rng.standard_normal(3000)
    y, frame = (y > 0).astype(int) if is_class else y, pd.DataFrame(code.T.astype(str), columns=["shop", "noise"])
    settings = {"columns": {"categories": ["shop", "noise"]}, "task": "classes" if is_class else "regression"}
    encoder = recipe.encoder(settings)
    learned, new = encoder.fit_transform(frame[:2000], y[:2000])[:, -2:], encoder.transform(frame[2000:])[:, -2:]
    for found, target in ((learned, y[:2000]), (new, y[2000:])):
        known, noise, _ = np.corrcoef(found.T, target)[-1]
        assert known > 0.6
        assert abs(noise) < 0.1  # a training row does not give its own target away
    assert encoder.transform(frame[:1].assign(shop="new")).shape == (1, 62)
    assert recipe.encoder(settings | {"group": "shop"}).fit_transform(frame[:50], y[:50]).shape == (50, 60)
