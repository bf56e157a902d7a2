"""A pipeline reads the frames of tomorrow with the meaning that columns had in its file, or refuses them."""

import re
import warnings
from datetime import datetime, time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from compare_tables import saved
from messy_files import arff

from random_features.compare import recipe
from random_features.compare.columns import converted
from random_features.compare.question import understand
from random_features.errors import UserError

HALVES = np.arange(100) % 2
Y = 3.0 * HALVES + 0.01 * (np.arange(100) % 7)
ONCE = "a frame of pandas with the columns of the file, each once; it got"


def learned(path, **how):
    """Return a question about a file and a linear pipeline that is fitted to it."""
    asked = understand(path, "y", **how)
    labels = recipe.labels_of(asked.y, asked.settings)
    return asked, recipe.fitted(asked.table, labels, asked.settings, "linear", {"penalty": 1e-3})


def written(path, x):
    """Write a file with a column x of two values, or of all cells, in turn."""
    x = np.where(HALVES, x[1], x[0]) if len(x) == 2 else x
    return saved(path, pd.DataFrame({"x": x, "z": np.arange(100) % 3 / 10, "y": Y}), sep=";")


TEXT, DATE, HOURS, DURATION = ({"formats": [f"x={how}"]} for how in ("text", "%d.%m.%Y", "hours", "duration"))

#: Two cells, options, and whether pandas leaves no doubt about its values.
CELLS = {
    "truth": (("true", "false"), {}, True), "capitals": (("TRUE", "FALSE"), {}, True),
    "spellings": (["true", "false", "True", "FALSE"] * 25, {}, False),
    "country": (("NA", "DE"), {}, True), "none": (("None", "Full"), {}, True), "h.m": (("9.40", "14.30"), HOURS, False),
    "two missing": (["NA", "a", "None", "b"] * 25, {}, False), "also blank": (["NA", "a", "", "b"] * 25, {}, False),
    "zeros": (("007", "012"), {}, True), "both": (["007", "7", "12", "012"] * 25, {}, False),
    "codes": (("1", "2"), TEXT, True), "decimals": (("1.50", "1e5"), TEXT, True),
    "beyond 2^53": ((str(2**60), str(2**60 + 1)), {}, True),
    "digits of a date": (("20210203", "20230903"), {}, True), "date": (("03.02.2021", "05.03.2022"), DATE, True),
    **{f"thousands{how}": (("1.000", "9.001"), {"decimal": ",", "formats": how}, False) for how in ("", ["x=number"])},
    "hours": (("1:30", "2:00"), {}, True), "number": (("1.5", "2.5"), {}, True), "euro": (("1,5 €", "2,5 €"), {}, True),
    "absent number": (["-999", "1", "-999.0", "2"] * 25, {"missing": "-999"}, True),
    "absent text": (["unknown", "a", "unknown", "b"] * 25, {"missing": "unknown"}, True),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_a_frame_as_text_or_as_pandas_reads_it_is_predicted_as_the_file_was_learned(tmp_path, name):
    cells, how, is_clear = CELLS[name]
    asked, model = learned(path := written(tmp_path, cells), **how)
    expected = model.predict(asked.table)
    text = pd.read_csv(path, sep=";", dtype=str, keep_default_na=False)
    np.testing.assert_array_equal(model.predict(text), expected)
    np.testing.assert_array_equal(model.predict(text.set_axis([" x", "z ", 2020], axis=1)), expected)  # no target
    rows, learner = [text[j : j + 1] for j in range(4)], model[-1][-1]
    columns = model[:-1].transform(text[:4])
    np.testing.assert_array_equal(np.vstack([model[:-1].transform(row) for row in rows]), columns)
    # of the same columns BLAS sums one row in another order than many rows, each term of a sum rounded in float32
    terms = abs(columns) @ abs(learner.coef_) + abs(learner.intercept_)
    bound = (columns.shape[1] + 1) * np.finfo(np.float32).eps * terms
    assert (abs(np.concatenate([model.predict(row) for row in rows]) - expected[:4]) <= bound).all()
    typed = pd.read_csv(path, sep=";")
    if is_clear:
        np.testing.assert_array_equal(model.predict(typed), expected)
    else:
        with pytest.raises(UserError, match=r"read the file with dtype=str, keep_default_na=False"):
            model.predict(typed)


def test_a_blank_among_codes_changes_no_other_row(tmp_path):
    asked, model = learned(path := written(tmp_path, ("1", "2")), **TEXT)
    typed = pd.read_csv(path, sep=";").astype({"x": float})
    typed.loc[0, "x"] = None
    with pytest.warns(UserWarning, match=r"\[''\] are not in the file"):
        np.testing.assert_array_equal(model.predict(typed)[1:], model.predict(asked.table)[1:])


#: Learned cells, and values of tomorrow that they do not explain.
REFUSED = {
    "seconds": (("20210203", "20230903"), 1612310400), "days": (("03.02.2021", "05.03.2022"), 18000),
    "times": (("1.5", "2.5"), pd.Timestamp("2021-02-03")), "times of texts": (("a", "b"), pd.Timestamp("2021-02-03")),
    "lost digits": ((str(2**60), str(2**60 + 1)), float(2**60)), "hours": (("1:30", "2:00"), 1.5),
    "zone": (("2021-02-03", "2021-02-04"), pd.Timestamp("2021-02-03", tz="UTC")),
    "no zone": (("2021-02-03T02:00:00Z", "2021-02-04T02:00:00Z"), pd.Timestamp("2021-02-03")),
    "shares": (("5%", "6%"), 0.05), "another unit": (("5 kg", "6 kg"), 5000),
    "list": (("a", "b"), ["a"]), "array": (("1.5", "2.5"), np.ones(3)), "structure": (("a", "b"), {"a": 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_values_that_no_text_explains_are_refused(tmp_path, name):
    cells, value = REFUSED[name]
    _, model = learned(written(tmp_path, cells), **(DATE if name == "days" else {}))
    with pytest.raises(UserError, match=r"column 'x' has .* read the file with dtype=str"):
        model.predict(pd.DataFrame({"x": [value], "z": [0.1]}))


@pytest.mark.parametrize(("cells", "text"), [
    (("03.02.2021", "05.03.2022"), "2021/02/03"), (("1.5", "2.5"), "2021/02/03"), (("1:30", "2:00"), "2021/02/03"),
    (("5 kg", "6 kg"), "5000 g"), (("5%", "6%"), "0.05"), (("1.5", "2.5"), "50%"), (("5 €", "6"), "5 $"),
    (("1.5", "2.5"), "5 €"), (("50 min", "0 days 00:40:00"), "50"), (("5°W", "6°W"), "5°E"), (("2k", "3k"), "2M"),
    (("1.5", "2.5"), "9,787E-05"),
])  # fmt: skip
def test_a_text_in_another_format_or_unit_is_missing_with_a_warning(tmp_path, cells, text):
    _, model = learned(written(tmp_path, cells), **{"03.02.2021": DATE, "50 min": DURATION}.get(cells[0], {}))
    with pytest.warns(UserWarning, match=rf"column 'x': \['{re.escape(text)}'\] are not in the format"):
        found = model.predict(pd.DataFrame({"x": [text, "", "n/a"], "z": "0.1"}))
    np.testing.assert_array_equal(found, found[1])


#: Values of tomorrow of a column of whole numbers in a file without a decimal sign, and what they mean; None has no
#: single meaning.
WHOLE = {"1,234": None, "12.345 €": None, 1.234: None, "1,5": 1.5, "1.5": 1.5, 1.5: 1.5, "1.234.567": 1234567, 12: 12}


@pytest.mark.parametrize("value", WHOLE)
def test_a_number_with_two_meanings_is_refused_where_the_file_showed_whole_numbers(tmp_path, value):
    frame = pd.DataFrame({"x": 3 + HALVES, "y": 100 * HALVES + np.arange(100) % 7})
    asked, model = learned(saved(tmp_path, frame))
    assert asked.settings["formats"]["x"] == "whole"
    if WHOLE[value] is None:
        with pytest.raises(UserError, match=r"column 'x' had whole numbers, and '.*' is about one or a"):
            model.predict(pd.DataFrame({"x": [value]}))
    else:
        found = model.predict(pd.DataFrame({"x": [value, value]}))
        np.testing.assert_allclose(found, model.predict(pd.DataFrame({"x": [WHOLE[value]] * 2})))


def test_whole_numbers_of_a_file_with_decimal_points_have_the_same_sign(tmp_path):
    asked, model = learned(written(tmp_path, ("3", "4")))
    assert asked.settings["formats"]["x"] == "number"
    found = model.predict(pd.DataFrame({"x": ["1,234", "1.234"], "z": "0.1"}))
    np.testing.assert_allclose(found, model.predict(pd.DataFrame({"x": [1234, 1.234], "z": 0.1})))
    with pytest.raises(UserError, match="'z' had no marks between thousands, and '1,592' is about one or a thousand"):
        model.predict(pd.DataFrame({"x": ["3"], "z": ["1,592"]}))  # its column has decimals
    _, model = learned(written(tmp_path, ("1,234", "2,345")))
    model.predict(pd.DataFrame({"x": ["0.234", "1.5", "1234.567"], "z": "0.1"}))
    for value in ("1.234", 1.234):  # its column has commas
        with pytest.raises(UserError, match=r"'x' had no decimals, and '1\.234' is about one or a thousand"):
            model.predict(pd.DataFrame({"x": [value], "z": ["0.1"]}))


def test_texts_that_the_file_does_not_have_are_warned_of(tmp_path):
    asked, model = learned(written(tmp_path, ("a", "b")))
    with pytest.warns(UserWarning, match=r"column 'x': \['e', 'd', 'c'\] are not in the file: a rare") as found:
        model.predict(pd.DataFrame({"x": ["e", "a", "d", "c", "f", ""], "z": ["0.1", "", "9", "-1", "0.3", "-0.2"]}))
    assert "'z': 9.0 is far from all values of the file: is it right?; cells are missing" in str(found[1].message)
    assert len(found) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(asked.table)
        _, model = learned(written(tmp_path, ("missing", "")))
        found = model.predict(pd.DataFrame({"x": ["missing", ""], "z": "0.1"}))
    np.testing.assert_allclose(found, [0, 3], atol=0.1)


@pytest.mark.parametrize(("given", "words"), [
    (pd.DataFrame.to_numpy, ONCE), (lambda frame: type("Other", (), {"columns": [*frame]}), ONCE),
    (lambda frame: pd.concat([frame, frame["x"]], axis=1), f"{ONCE} 'x' twice"),
    (lambda frame: frame.rename(columns=str.upper), "the columns .* lacks 'z', 'x'"),
    (lambda frame: frame[:0], "one row or more"),
])  # fmt: skip
def test_a_frame_that_has_not_each_column_once_or_no_row_is_refused(tmp_path, given, words):
    asked, model = learned(written(tmp_path, ("a", "b")))
    with pytest.raises(UserError, match=f"predict needs {words}"):
        model.predict(given(asked.table))


def test_columns_of_a_parquet_file_may_come_as_text(tmp_path):
    days = pd.date_range("2024-01-01", periods=100, tz="Europe/Berlin")
    frame = pd.DataFrame({"flag": HALVES == 1, "k": 1 + HALVES, "day": days, "length": days - days[0], "y": Y})
    frame = frame.assign(day_alone=days.date, a=np.where(np.arange(100) % 3, HALVES, -999), code=20240101 + HALVES)
    frame.to_parquet(tmp_path / "t.parquet")
    missing = "-999,absent,86400000000000"  # a day has as many nanoseconds
    asked, model = learned(tmp_path / "t.parquet", missing=missing, formats=["k=text", "code=%Y%m%d"])
    assert asked.table["a"].isna().sum() == 34
    kinds = {"numbers": ["flag", "length", "a"], "dates": ["day", "day_alone", "code"], "categories": ["k"]}
    assert asked.settings["columns"] == kinds
    assert sum("no cell has it" in each for each in asked.changed) == 2
    offsets = frame.assign(day=[datetime.fromisoformat(str(day)) for day in days])  # summer time begins
    for given in (frame, frame.astype(str), offsets):
        np.testing.assert_array_equal(model.predict(given), model.predict(asked.table))
    with pytest.raises(UserError, match=r"the column 'a' has .*, and its format is 'hours'"):
        understand(tmp_path / "t.parquet", "y", formats=["a=hours"])


def test_a_parquet_file_may_have_and_be_read_with_the_types_of_pyarrow(tmp_path):
    frame = pd.DataFrame({"cost": [None, *(Decimal(k % 7) / 2 for k in range(99))], "flag": HALVES == 1, "y": Y})
    frame["clock"] = [time(7 + k % 9, 30) for k in range(100)]
    frame["day"] = pd.date_range("2024-01-01", periods=100).astype("datetime64[ns]")
    frame.to_parquet(path := tmp_path / "t.parquet")
    asked, model = learned(path)
    assert asked.settings["columns"]["numbers"] == ["cost", "flag", "clock"]
    expected = model.predict(asked.table)
    for backend in ("pyarrow", "numpy_nullable"):
        typed = pd.read_parquet(path, dtype_backend=backend)
        np.testing.assert_allclose(model.predict(typed), expected)
        typed.to_parquet(other := tmp_path / backend)
        assert learned(other, missing="absent")[0].settings["columns"]["dates"] == ["day"]


@pytest.mark.parametrize("kind", ["?", "e", "g", ">f8", ">i2", "boolean", "Int8", "Float64", "double[pyarrow]"])
def test_columns_and_targets_may_be_numbers_of_any_type(tmp_path, kind):
    frame, path = pd.DataFrame({"a": HALVES, "y": HALVES}), tmp_path / "t.npz"
    if len(kind) < 4:
        np.savez(path, **{name: column.to_numpy(kind) for name, column in frame.items()})
    else:
        frame.astype(kind).to_parquet(path)
    asked, model = learned(path)
    np.testing.assert_array_equal(model.predict(asked.table).astype(float), HALVES)


def test_fractions_may_be_classes(tmp_path):
    asked, model = learned(saved(tmp_path, pd.DataFrame({"a": HALVES, "y": HALVES / 2})), task="classes")
    assert list(model.predict(asked.table)) == ["0.0", "0.5"] * 50


OTHERS = {"separator": ";", "quote": "none", "header": "yes", "encoding": "utf-8"}


@pytest.mark.parametrize("kind", ["Parquet", "npz", "ARFF"])
@pytest.mark.parametrize("option", OTHERS)
def test_an_option_that_does_not_apply_to_a_file_is_refused(tmp_path, kind, option):
    frame = pd.DataFrame({"a": np.arange(100) / 2, "y": Y})
    path = tmp_path / f"t.{kind.lower()}"
    writers = {"Parquet": frame.to_parquet, "npz": lambda to: np.savez(to, **frame)}
    writers.get(kind, lambda to: to.write_text(arff(frame)))(path)
    if (kind, option) == ("ARFF", "encoding"):
        understand(path, "y", encoding="utf-8")
        return
    with pytest.raises(UserError, match=f"--{option}: .* is a file of the kind {kind}, to which it does not apply"):
        understand(path, "y", **{option: OTHERS[option]})


@pytest.mark.parametrize("stated", ["missing absent", "missing -1", "missing -5,4", "decimal ,"])
def test_an_option_without_effect_is_noted(tmp_path, stated):
    option, value = stated.split()
    asked = understand(written(tmp_path, ("a", "b")), "y", **{option: value})
    assert any(each.startswith(f"--{option} {value}: no ") for each in asked.changed)


def test_texts_of_missing_values_are_looked_for_in_one_more_reading(tmp_path, monkeypatch):
    calls, typed = [], recipe.typed
    monkeypatch.setattr(recipe, "typed", lambda *how: calls.append(how) or typed(*how))
    asked = understand(written(tmp_path, (["-999", "1"] * 50)), "y", missing="-999,absent,-999.0,0.20")
    assert len(calls) == 2
    assert [each for each in asked.changed if "no cell has it" in each] == ["--missing absent: no cell has it"]


def test_whether_seconds_are_read_does_not_depend_on_other_rows():
    texts = pd.Series(["2:08", "1:02:08", "2:08", "2:08"])
    for how in ("hours", "h:mm:ss"):
        alone = [converted(texts[[j]], how).iloc[0] for j in range(4)]
        np.testing.assert_array_equal(converted(texts, how), alone)
