"""The warnings of ``compare`` about a table, each with its evidence."""

import re
import time

import numpy as np
import pandas as pd
import pytest
from compare_tables import saved, table

from random_features.compare import warnings
from random_features.compare.question import understand


def warned(path, **how):
    asked = understand(path, "y", **how)
    return {each["warning"]: each["evidence"] for each in warnings.found(asked)}


CLEAN, GIVEN_AWAY = table("kernel"), "a column gives away the target"

#: Tables with a problem, the warning, and words of its evidence.
PROBLEMS = {
    "twice": (pd.concat([CLEAN, CLEAN[:600]]).sample(frac=1, random_state=0), "duplicated rows", "of another row"),
    "leak": (table("noise").assign(leak=lambda frame: np.exp(frame["y"])), GIVEN_AWAY, "'leak'"),
    "measured-again": (CLEAN.assign(again=CLEAN["y"] + np.random.default_rng(9).normal(0, 0.4, 1200)), GIVEN_AWAY,
                       "'again' alone removes"),
    "far-from-0": (table("noise").assign(leak=lambda frame: np.exp(frame["y"]), y=lambda frame: frame["y"] + 1e9),
                   GIVEN_AWAY, "'leak'"),
    "heavy-tail": (table("linear", 100).assign(tail=np.exp(8 * np.random.default_rng(0).standard_normal(100))),
                   "how it was read", "'tail': a value, .*; else consider its logarithm"),
    "infinite": (CLEAN.assign(leak=CLEAN["y"].where(CLEAN["y"] > -1.0, np.inf)), GIVEN_AWAY, "'leak'"),
    "spellings": (CLEAN.assign(y=["Yes", "no", "yes", "NO"] * 300), "how it was read",
                  "'y': 'NO', 'Yes', 'no', 'yes' differ only by case or blanks"),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_is_noted_with_its_evidence(tmp_path, name):
    frame, warning, evidence = PROBLEMS[name]
    assert re.search(evidence, warned(saved(tmp_path, frame))[warning])


def test_clean_data_have_no_warnings_nor_does_a_column_that_names_groups_give_the_target_away(tmp_path, monkeypatch):
    assert warned(saved(tmp_path, CLEAN)) == {}
    group, rng = np.arange(1200) % 60, np.random.default_rng(0)
    frame = table("noise").assign(place=rng.permutation(60)[group] + 0.5, group=group)
    path = saved(tmp_path, frame.assign(y=rng.standard_normal(60)[group] + 0.1 * frame["y"]))
    assert "'place' alone" in warned(path)[GIVEN_AWAY]
    assert GIVEN_AWAY not in warned(path, group="group")
    monkeypatch.setattr(warnings, "LEAK_ROWS", 40)  # which may be of one group
    assert warned(saved(tmp_path, CLEAN.assign(group=np.maximum(np.arange(1200), 1195))), group="group") == {}


def test_rows_in_order_are_noted_unless_time_is_named(tmp_path):
    rng = np.random.default_rng(0)
    state = np.cumsum(rng.standard_normal((2000, 4)), axis=0)
    label = np.sin(np.arange(2000) / 15) + 0.1 * rng.standard_normal(2000) > 0
    frame = pd.DataFrame(state, columns=list("pqrs")).assign(t=np.arange(2000), y=label)
    path = saved(tmp_path, frame)
    assert "rows in order" in warned(path)
    assert "rows in order" not in warned(path, time="t")
    assert "rows in order" not in warned(saved(tmp_path, frame.sample(frac=1, random_state=0), "shuffled.csv"))


def translated(question):
    try:
        time.sleep(30)
    except Exception:
        raise ValueError("no valid PEP 3118 buffer") from None  # as NumPy does


@pytest.mark.parametrize("check", [lambda question: time.sleep(30), translated])
def test_checks_that_the_budget_does_not_leave_are_named(tmp_path, monkeypatch, check):
    monkeypatch.setattr(warnings, "given_away", check)
    asked = understand(saved(tmp_path, table("kernel")), "y")
    (last,) = warnings.found(asked, 2.0)
    assert last["warning"] == "not checked"
    assert "rows in order" in last["evidence"]


def test_identifiers_are_left_out_or_asked_about_and_named(tmp_path):
    frame, rng = table("linear", 300), np.random.default_rng(0)
    identifiers = rng.choice(10**7, (2, 300), replace=False)
    frame = frame.assign(row=rng.permutation(400)[:300] + 7000, customer_id=identifiers[0], code=identifiers[1])
    frame["year"] = 1801 + np.arange(300) % 299
    frame.loc[0, "code"] = frame.loc[1, "code"]
    asked = understand(path := saved(tmp_path, frame), "y")
    assert asked.settings["columns"]["numbers"] == ["a", "b", "c", "code", "year"]
    (left_out,) = (each for each in asked.changed if each.startswith("columns left out"))
    assert "'row' (numbers the rows; --format row=number keeps it)" in left_out
    assert "'customer_id'" in left_out
    assert "'code': whole numbers that nearly all differ; if it is an identifier, --drop it" in asked.changed
    kept = understand(path, "y", formats=["customer_id=number"]).settings["columns"]["numbers"]
    assert "customer_id" in kept
