"""Files are read in every form of table: what is needed to read them is found, and asked for where two readings fit."""

import bz2
import gzip
import lzma
import os
from datetime import time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from compare_tables import saved
from messy_files import FRAME, GOOD, RNG, ROWS, arff, packed, text
from refusals import message, messages
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from random_features.compare import reading, recipe, texts
from random_features.compare.question import understand

FORMS = {
    **{f"separator-{ord(sign)}": text(sep=sign) for sign in ",\t;|"},
    "decimal-comma.csv": text(sep=";", decimal=","),
    "quoted.csv": text(quoting=1),
    "apostrophes.csv": text(quotechar="'", quoting=1),
    "mark.csv": b"\xef\xbb\xbf" + text(),
    "utf-16.csv": FRAME.to_csv(index=False).encode("utf-16"),
    "windows.csv": text().replace(b"\n", b"\r\n"),
    **{f"packed.csv.{kind.__name__}": kind.compress(text()) for kind in (gzip, bz2, lzma)},
    "packed.zip": packed(text()),
    "packed-folder.zip": packed(text(), "data/", "data/table.csv", "__MACOSX/data/._table.csv"),
    "stated.csv": b"sep=;\n" + text(sep=";"),
    "preamble.csv": b"Export\n\nPrinted today\n" + text(),
    # separators of lines for Python, not for the table
    **{f"title-{ord(mark)}.csv": f"Export{mark}of{mark}sales\n".encode() + text() for mark in "\u2028\x0c\x0b\x85"},
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_table_is_read_as_the_same_question(tmp_path, name):
    (tmp_path / name).write_bytes(FORMS[name])
    asked = understand(tmp_path / name, "price")
    assert asked.settings["task"] == "regression"
    np.testing.assert_allclose(asked.y, FRAME["price"])
    assert asked.settings["columns"] == {"numbers": ["size"], "dates": ["day"], "categories": ["colour", "sold"]}
    pd.testing.assert_series_equal(asked.table["colour"].astype(object), FRAME["colour"].astype(object))


#: Names of columns, and encodings: with umlauts, like the first bytes of an archive, and of a line that is long.
NAMES = {
    "utf-8": ("größe", "utf-8"), "windows": ("größe", "cp1252"), "zip": ("PK", "utf-8"), "bz2": ("BZh", "utf-8"),
    "long": ("long" * 2**16, "utf-8"),
}  # fmt: skip


@pytest.mark.parametrize("kind", NAMES)
def test_a_column_may_have_any_name(tmp_path, kind):
    name, encoding = NAMES[kind]
    path = saved(tmp_path, FRAME.rename(columns={"size": name}), encoding=encoding)
    assert name in understand(path, "price").table.columns


@pytest.mark.parametrize("header", [True, False])
def test_a_table_of_texts_alone_has_a_header_if_its_first_cells_do_not_recur(tmp_path, header):
    rows = pd.DataFrame({"cap": RNG.choice(list("ab"), 80), "odour": RNG.choice(list("xy"), 80)})
    assert len(reading.read(saved(tmp_path, rows, header=header), {}).table) == 80


def test_notes_do_not_write_to_the_terminal(tmp_path):
    (tmp_path / "t.csv").write_bytes(GOOD.replace(b"price", b"pr\x1b[31mice"))
    notes = understand(tmp_path / "t.csv", "pr\x1b[31mice").notes
    assert notes[0].startswith("read as text, utf-8, ")
    assert "\x1b" not in "".join(notes)


def test_arrays_arff_and_libsvm(tmp_path):
    X, y = RNG.normal(size=(ROWS, 3)).round(3), np.arange(ROWS) % 2
    np.savez(tmp_path / "t.npz", X=X, y=y)
    asked = understand(tmp_path / "t.npz", "y")
    np.testing.assert_array_equal(asked.table[["X1", "X2", "X3"]], X)
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"), zero_based=False)
    asked = understand(tmp_path / "t.svm")
    np.testing.assert_allclose(asked.table[["f0", "f1", "f2"]], X, rtol=1e-6)
    assert asked.settings["classes"] == [0, 1]
    frame = pd.DataFrame(X, columns=["a0", "a1", "a2"]).assign(y=np.where(y, "yes", "no"))
    (tmp_path / "t.arff").write_text(arff(frame, y="{no,yes}"))
    asked = understand(tmp_path / "t.arff", "y")
    np.testing.assert_array_equal(asked.table[["a0", "a1", "a2"]], X)
    np.testing.assert_array_equal(asked.y, y)
    (tmp_path / "t.arff").write_text(arff(frame.assign(a0="?"), y="{no,yes}"))
    assert understand(tmp_path / "t.arff", "y").columns[0]["use"] == "left out: constant"
    dump_svmlight_file(sparse.random(ROWS, 5000, 0.01, random_state=0), y, str(tmp_path / "t.svm"))
    asked = understand(tmp_path / "t.svm")
    assert (sparse.issparse(asked.table), asked.settings["columns"]) == (True, None)


@pytest.fixture
def parquet(tmp_path):
    """The path of a Parquet file."""
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow, of the extra compare")
    return tmp_path / "t.parquet"


def test_parquet_with_an_index_decimals_and_times_is_read_whole(parquet):
    exact, days = FRAME["price"].map(lambda price: Decimal(str(price))), pd.to_datetime(FRAME["day"])
    times = pd.Series([None, *(time(7 + i // 60, i % 60, 30) for i in range(1, ROWS))])
    none, months = pd.Series(dtype="Int64"), days.dt.to_period("M")
    frame = FRAME.assign(price=exact, when=days, month=months, clock=times, none=none)
    frame.set_index(["day", "size"]).to_parquet(parquet)
    asked = understand(parquet, "price")
    np.testing.assert_allclose(asked.y, FRAME["price"])
    kinds = {"numbers": ["size", "sold", "clock"], "dates": ["day", "when", "month"], "categories": ["colour"]}
    assert asked.settings["columns"] == kinds
    hours = [np.nan, *(7 + (i + 0.5) / 60 for i in range(1, ROWS))]
    np.testing.assert_allclose(asked.table["clock"], hours)


@pytest.mark.parametrize("frame", [{"x": np.zeros(10**5), "price": 1.0}, {"text": ["a" * 10**6] * 60, "price": 1.0}])
def test_parquet_that_unpacks_to_too_much_is_refused(parquet, monkeypatch, frame):
    pd.DataFrame(frame).to_parquet(parquet)
    monkeypatch.setattr(reading, "MOST_BYTES", 5 * 10**5)
    assert parquet.stat().st_size < reading.MOST_BYTES
    assert "its columns have more than 500,000 bytes" in message(understand, parquet, "price")


def test_columns_of_lists_and_bytes_are_left_out(parquet):
    cells = {"list": [1, 2], "struct": {"a": 1}, "bytes": b"12-3", "arrays": np.ones(2)}
    frame = FRAME.assign(**{name: [cell] * ROWS for name, cell in cells.items()}).astype({"colour": "category"})
    frame.to_parquet(parquet)
    asked = understand(parquet, "price")
    assert [each["column"] for each in asked.columns if "lists, structures" in each["use"]] == list(cells)
    assert "holds lists, structures or bytes" in message(understand, parquet, "struct")


DAYS = [pd.Timestamp("2021-01-05") + pd.Timedelta(days=7 * i) for i in range(ROWS)]
MORNINGS, HALF = [d + pd.Timedelta("9h30min") for d in DAYS], np.arange(ROWS) / 2
FRENCH = ["janv.", "févr.", "mars", "avril", "mai", "juin", "juil.", "août", "sept.", "octobre", "nov.", "décembre"]
GERMAN = ["Januar", "Feb.", "März", "April", "Mai", "Juni", "Juli", "August", "Sept.", "Oktober", "Nov.", "Dezember"]
ARABIC, WIDE = (str.maketrans("0123456789.", digits) for digits in ("٠١٢٣٤٥٦٧٨٩٫", "０１２３４５６７８９．"))

#: Columns of texts, and what they mean: the format, and the values.
MEANINGS = {
    **{how: ([f"{d:{how}}" for d in DAYS], how, DAYS)
       for how in ("%d.%m.%Y", "%d.%m.%y", "%Y%m%d", "%d%m%Y", "%Y%m%d%H")},
    **{how: ([f"{d:{how}}" for d in MORNINGS], how, MORNINGS)
       for how in ("%Y%m%d %H:%M", "%d/%m/%Y %Hh%M", "%d/%b/%Y:%H:%M:%S", "%Y%m%d%H%M", "%Y%m%d%H%M%S")},
    **{how: ([f"{d:{how}}" for d in DAYS], how, [d.replace(day=1) for d in DAYS])
       for how in ("%b-%Y", "%Y/%m", "%m-%Y", "%Y年%m月", "%YM%m", "%Y-M%m")},
    "czech-dates": ([f"{d.day}. {d.month}. {d.year}" for d in DAYS], "%d.%m.%Y", DAYS),
    "hungarian-dates": ([f"{d:%Y. %m. %d.} 9:30" for d in DAYS], "%Y.%m.%d %H:%M", MORNINGS),
    "local-times": ([f"{d:%d.%m.%Y, %H:%M}{' Uhr' * (d.day % 2)}" for d in MORNINGS], "%d.%m.%Y %H:%M", MORNINGS),
    "no-dates": ([*["0000-00-00"] * 9, *(f"{d:%Y-%m-%d}" for d in DAYS[9:])], "iso", [*[pd.NaT] * 9, *DAYS[9:]]),
    "zones": ([(f"{d.date()}T02:00:00+02:00", f"{d.date()} 02:00:00.0+02", f"{d.date()} 00:00:00 UTC",
                f"{d:%Y%m%dT000000Z}", f"{d.date()} 00:00:00 GMT")[d.day % 5] for d in DAYS], "iso+zone", DAYS),
    "french-months": ([f"{d.day}{'er' * (d.day == 1)} {FRENCH[d.month - 1]} {d.year}" for d in DAYS], "%d %b %Y", DAYS),
    "other-months": (["3 mrt. 2021", "3 de mayo de 2021", "3 maj 2021", "3 stycznia 2021 r.", "3 Ağu 2021",
                      "3 Mrz 2021"] * 10, "%d %b %Y", [pd.Timestamp(2021, m, 3) for m in (3, 5, 5, 1, 8, 3)] * 10),
    "ordinal-days": ([f"{d.day}{('th', 'st of')[d.day == 1]} {d:%B %Y}" for d in DAYS], "%d %b %Y", DAYS),
    "months": (["2021-Mar", "March, 2021", "Mar2021", "Mar/2021"] * 15, "%b %Y", [pd.Timestamp(2021, 3, 1)] * 60),
    "arabic-dates": ([f"{d:%Y/%m/%d}".translate(ARABIC) for d in DAYS], "%Y/%m/%d", DAYS),
    "afternoons": ([f"{d:%m/%d/%Y} 9:30\u202f{('p. m.', 'PM')[d.day % 2]}" for d in DAYS], "%m/%d/%Y %I:%M %p",
                   [d + pd.Timedelta("21h30min") for d in DAYS]),
    "german-months": ([f"{d.day}. {GERMAN[d.month - 1]} {d.year}" for d in DAYS], "%d. %b %Y", DAYS),
    "sas-times": ([f"{d:%d%b%Y}:09:30:00".upper() for d in DAYS], "%d%b%Y:%H:%M:%S", MORNINGS),
    "japanese-dates": ([f"{d.year}年{d.month}月{d.day}日" for d in DAYS], "%Y年%m月%d日", DAYS),
    "times-of-day": ([f"{1 + i % 12}{f':{i:02d}' * (i > 0)}{(' AM', 'a.m.')[i % 2]}" for i in range(ROWS)], "hours",
                     [(1 + i % 12) % 12 + i / 60 for i in range(ROWS)]),
    "french-times-of-day": ([f"{i % 24}h" + f"{i:02d}" * (i > 0) for i in range(ROWS)], "hours",
                            np.arange(ROWS) % 24 + np.arange(ROWS) / 60),
    "laps": ([f"1:{i % 60:02d}.5" for i in range(ROWS)], "h:mm:ss", (60.5 + np.arange(ROWS) % 60) / 3600),
    "uhr": ([f"{i % 24}.30 Uhr" for i in range(ROWS)], "hours", np.arange(ROWS) % 24 + 0.5),
    "dilutions": ([f"1:{10 + i}" for i in range(ROWS)], "ratio", 1 / np.arange(10.0, 10 + ROWS)),
    "accounting": ([(f"$({i}.50)", f"({i}.50) $")[i % 2] for i in range(ROWS)], "number", -0.5 - np.arange(ROWS)),
    "durations": ([f"{('', '1d ', '1.')[i % 3]}{20 + i}:30:00" for i in range(ROWS)], "h:mm:ss",
                  [20.5 + i + 24 * (i % 3 > 0) for i in range(ROWS)]),
    "hours-and-minutes": ([f"{i % 3}h {i:02d}m" for i in range(ROWS)], "h:mm:ss",
                          np.arange(ROWS) % 3 + np.arange(ROWS) / 60),
    "days-to-seconds": (["6d 12h", "0m19s", "1H18M12S", "45m", "2 days, 3 hours", "1 Tag 2 Std. 30 Min.", "1 h 6 min",
                         "2 dagar 1 timme", "1 godz. 30 min", "2 jours", "3 horas", "90 Sek."] * 5, "h:mm:ss",
                        [156, 19 / 3600, 1.3 + 12 / 3600, 0.75, 51, 26.5, 1.1, 49, 1.5, 48, 3, 0.025] * 5),
    "day-and-days": (["1 day", "2 days"] * (ROWS // 2), "h:mm:ss", [24, 48] * (ROWS // 2)),
    "ratios": ([f"{v + 1}:1" for v in HALF], "ratio", HALF + 1),
    **{cell: ([cell.format(i) for i in range(1, ROWS + 1)], how, 1037 + x + 1000 * np.arange(ROWS))
       for cell, how, x in (("{}.037,5", "number,", 0.5), ("R$ {}.037,5", "number,", 0.5), ("{},037.5", "number", 0.5),
                            *((f"{{}}{mark}", "number", 0) for mark in ("\u202f037", ",037円", ",037 sq ft")))},
    "beds": ([f"{i} bed{'s' * (i != 1)}" for i in range(ROWS)], "number", np.arange(ROWS)),
    **{f"unit-{unit}": ([f"{i},50 {unit}" for i in range(ROWS)], "number,", 0.5 + np.arange(ROWS))
       for unit in ("€", "¤", "Mio.", "Mio. €", "Mrd. USD", "l/100 km", "mm Hg", "m^2", '"', "'")},
    **{f"sign-{left}{right}": ([f"{left}{i}.5{right}" for i in range(ROWS)], "number", np.arange(ROWS) + 0.5)
       for left, right in (("$", ""), ("\\", ""), ("AED ", ""), ("PLN", ""), ("", "％"), ('="', '"'))},
    "percent": ([(f"{i}.5%", f"%{i}.5")[i % 2] for i in range(ROWS)], "number", np.arange(ROWS) + 0.5),
    "minus": ([f"\u200e\u2212{v + 1}" for v in HALF], "number", -HALF - 1),
    **{cell: ([cell.format(v + 1) for v in HALF], "number", -HALF - 1) for cell in ("{}-", "({})")},
    "no-cents": ([(f"{i},-", f"1.0{i},– Kr.", f"Kr. {i},--", f"{i},50- Kr.")[i % 4] for i in range(10, 10 + ROWS)],
                 "number,", [(i, 1000 + i, i, -i - 0.5)[i % 4] for i in range(10, 10 + ROWS)]),
    "no-rappen": ([(f"CHF {i}.-", f"1'0{i}.—", f"{i}-")[i % 3] for i in range(10, 10 + ROWS)], "number",
                  [(i, 1000 + i, -i)[i % 3] for i in range(10, 10 + ROWS)]),
    "lakhs": ([f"₹{i},23,456.5" for i in range(1, ROWS + 1)], "number", 1e5 * np.arange(1, ROWS + 1) + 23456.5),
    "rupees": ([f"Rs. {i},23,456/-" for i in range(1, ROWS + 1)], "number", 1e5 * np.arange(1, ROWS + 1) + 23456.0),
    "other-digits": ([f"{i}.5".translate((ARABIC, WIDE)[i % 2]) for i in range(ROWS)], "number", np.arange(ROWS) + 0.5),
    "degrees": ([f"{i}.5{('℃', '°C')[i % 2]}" for i in range(ROWS)], "number", np.arange(ROWS) + 0.5),
    **{name: (cells, "text", cells) for name, cells in {
        "codes-of-places": ["8001 Zürich", "9000 St. Gallen", "1012 AB"] * 20, "words": ["None", "NA", "-"] * 20,
        "no-durations": [f"PT0{i % 9}" for i in range(ROWS)], "halves": [f"{i % 9}½" for i in range(ROWS)],
        "beyond-2^53": [str(2**60 + i) for i in range(ROWS)], "zeros-in-front": ["01", "1"] * 30,
        "feet-and-inches": ["5'10\"", "O'Neil \"0\""] * 30, "apostrophes": ["'s-Gravenhage", "Delft"] * 30,
        "seasons": ["2009/10", "2010/11", "2011/12"] * 20}.items()},
    "mostly-missing": (["NA"] * 40 + [*map(str, HALF[40:])], "number", [np.nan] * 40 + [*HALF[40:]]),
    "question-marks": (["?", "－", "\\N", *map(str, HALF[3:])], "number", [np.nan] * 3 + [*HALF[3:]]),
}  # fmt: skip


@pytest.mark.parametrize("name", MEANINGS)
def test_a_column_has_one_meaning(tmp_path, name):
    texts, how, values = MEANINGS[name]
    path = saved(tmp_path, pd.DataFrame({"x": texts, "z": HALF + 0.25, "y": HALF**2}), sep=";")
    raw, asked = reading.read(path, {"target": "y"}), understand(path, "y")
    assert asked.settings["formats"]["x"] == how
    found = recipe.typed(raw.table, asked.settings["formats"])["x"]
    if isinstance(values[0], str):
        assert found.tolist() == values
    else:
        pd.testing.assert_series_equal(found, pd.Series(values, name="x"), check_dtype=False, rtol=1e-9)
    assert how == "text" or asked.changed or name in ("minus", "other-digits")
    assert ("whole numbers with a zero in" in "".join(asked.changed)) == (name in ("beyond-2^53", "zeros-in-front"))


@pytest.mark.parametrize(
    ("texts", "how", "words"),
    [
        ([f"14.05.{40 + i}" for i in range(ROWS)], (), "'14.05.68' is read as 2068: 68 is 2068, and 69 is 1969"),
        (["14.05.68", "01.02.50"] * 30, ["x=%d.%m.%y"], "'14.05.68' is read as 2068"),
        (["1E3", "10E2", "204"] * 20, (), "'1E3' is read as 1000"),
        ([*map(str, HALF[2:]), "k.A.", "few"], ["x=number"], "'x': texts that are missing values: 2 (k.A., few)"),
        ([*(str(d.date()) for d in DAYS[1:]), "9999-12-31"], (), "a value, 9999-12-31 00:00:00, 14,"),
        ([*(str(d.date()) for d in DAYS[30:]), *["9999-12-31"] * 30], (), "9999-12-31 00:00:00 in 30 rows"),
        ([*["-999"] * 3, *map(str, HALF[4:]), "9e4"], (), "'x': a value, -999.0 in 3 rows, 69 quartile ranges from"),
        (["-", *(f"no {i}" for i in range(35)), *["no 1"] * 24], (), "give the numbers in 'no 0' columns"),
        (["", *(f"no {i}" for i in range(30)), *["no 1"] * 29], (), "its 2 rarest texts share a column; give the num"),
        ([*map(str, HALF[:40]), *["none of it"] * 20], (), "free text); --format 'x=number' takes numbers, and"),
        ([*map(str, range(0, 413, 7)), "99999"], (), "if it means missing, --missing; whole numbers that nearly all"),
        ([f"{1801 + i}-12" for i in range(ROWS)], (), "'1801-12' is read as 1801-12-01"),
        (["1 234", "(5)", "–"] * 20, (), "'x': '(5)' is read as -5"),
        (["1:45.3", "2:08.1", "DNF"] * 20, ["x=h:mm:ss"], "'x': '1:45.3' is read as 0.029"),
        ([f"{d:%Y-%m-%d}T00:00:00+02:00" for d in DAYS], (), "2021-01-04 22:00:00 UTC, month and hour too"),
    ],
)
def test_a_reading_that_may_be_wrong_is_noted(tmp_path, texts, how, words):
    path = saved(tmp_path, pd.DataFrame({"x": texts, "z": HALF + 0.25, "y": [*HALF[:58] ** 2, -1e5, -1e5]}))
    notes = "".join(understand(path, "y", formats=how).changed)
    assert words in notes
    assert "'y': a value, -100000.0 in 2 rows" in notes


#: Columns that have no one meaning, and words of the question.
QUESTIONS = {
    "days-or-months": (["-", *(f"0{1 + i % 9}/0{1 + i % 7}/2021" for i in range(ROWS - 1))],
                       "'x', such as '01/01/2021', has two meanings: --format 'x=%d/%m/%Y' or --format 'x=%m/%d/%Y'"),
    "days-or-years": ([f"23/0{1 + i % 9}/{2 + i % 27:02d}" for i in range(ROWS)],
                      "'x=%d/%m/%y' or --format 'x=%y/%m/%d'"),
    "thousands-or-decimals": ([f"{1 + i}.125" for i in range(ROWS)], "state --decimal . or --decimal ,"),
    "another-type-late": ([*map(str, HALF[:-1]), "12x5"], "1 of 60 values of the column 'x' are no number, such as"),
    "other-dates": ([f"{d:%d.%m.%Y} um 9 Uhr" for d in DAYS], "looks like dates: state --format 'x="),
    **{f"or-{other}": ([f"{d:{'%d.%m.%Y' if d.month % 2 else other}}" for d in DAYS],
                       f"'05.01.2021' and '{DAYS[4]:{other}}' have two formats; write one in")
       for other in ("%Y-%m-%d", "%d.%m.%Y 09:30")},
    "at-once": (["at once", *(f"{d:%d.%m.%Y}" for d in DAYS[1:40]), *["later"] * 20], "as '12.01.2021', looks"),
    "months-in-words": ([f"{d.day} kesäkuuta {2000 + i}" for i, d in enumerate(DAYS)], "looks like dates: state --"),
    **{how: ([f"{d:{how}}" for d in DAYS], "looks like dates: state --format")
       for how in ("%a, %d %b %Y", "%A, %B %d, %Y", "[%d/%b/%Y:%H:%M:%S +0100]", "%b-%y", "%d-%b", "%Y年%m月%d日%H時",
                   "%d.%m.", "%d. %m.", "%Y-%b-%d", "%d %b %y", "%H:%M %d.%m.%Y", "%Y-%m-%d_%H-%M", "%Y년 %m월 %d일")},
    **{how: ([f"{d:{how}}" for d in DAYS], f"--format 'x=number' or --format 'x={how}'") for how in ("%Y%m", "%m.%Y")},
    "quarters-weeks": ([f"{2000 + i}-{'QW'[i % 2]}{1 + i % 4}" for i in range(ROWS)], "dates: write the first day"),
    "quarters-in-words": ([f"{1 + i % 4}. Quartal {2000 + i}" for i in range(ROWS)], "dates: write the first day"),
    "danish-hours": ([f"{i % 9} t {i} min" for i in range(ROWS)], "has several numbers with words: write durations"),
    "minutes-or-hours": ([*(f"{2 + i % 9}:{i:02d}" for i in range(ROWS - 1)), "1:02:08"], "1 of 60 values"),
    "another-unit": ([*(f"{v} g" for v in HALF[:-1]), "12.5 kg"], "several units, such as ['g', 'kg']: write them in"),
    "lacking-units": ([*map(str, HALF[:-1]), "1.2k"], "--format 'x=text' or 'x=number', by which '1.2k' is 1.2"),
    "grades": (["2", "3-"] * (ROWS // 2), "has two meanings: --format 'x=number' or --format 'x=text'"),
    "codes": (["1D", "2H", "2.50 H"] * (ROWS // 3), "has two meanings: --format 'x=h:mm:ss' or --format 'x=text'"),
    "limits": (["<0.5", "1.5", "2.5"] * (ROWS // 3), "20 of 60 values of the column 'x' are no number, such as '<0.5'"),
    "percent-and-shares": (["5%", *map(str, HALF[1:])], "several units, such as ['', '%']"),
}  # fmt: skip


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_has_two_meanings_is_asked_for(tmp_path, name):
    texts, words = QUESTIONS[name]
    path = saved(tmp_path, pd.DataFrame({"x": texts, "z": np.arange(ROWS) % 7, "y": np.arange(ROWS) % 2}))
    for how in [()] + [["x=number"]] * ("several units" in words):
        asked = message(understand, path, "y", formats=how)
        assert words in asked
        assert "several units" not in words or "'x=number'" not in asked  # it would ask again
    for how in ["text"] + ["number"] * ("'x=number'" in words):
        assert understand(path, "y", formats=[f"x={how}"]).settings["formats"]["x"] == how


def test_a_change_of_type_after_many_lines_is_seen(tmp_path):
    values = [*map(str, np.arange(3000) / 2), "unknown", "n.n. 5"]
    frame = pd.DataFrame({"x": values, "z": values, "y": np.arange(3002) % 2})
    frame["day"], frame["sold"] = np.resize(["03/02/2021", "04/02/2021"], (2, 3002))
    path = saved(tmp_path, frame.assign(one="03/02/2021", two="2021-Q1", weight=["1 kg", "2 g"] * 1501))
    first, of_x, _, *others = messages(understand, path, "y")  # about all columns at once
    assert first.endswith("5 columns need an answer:")
    assert "1 of 3,002 values of the column 'x' are no number, such as 'n.n. 5'" in of_x
    known = ["x=number", "z=text"]
    assert messages(understand, path, "y", formats=known)[1:] == others
    for asked, name in zip(others, ("day", "sold", "weight"), strict=True):
        assert f"column {name!r}" in asked
    known += ["day=%d/%m/%Y", "sold=%d/%m/%Y", "weight=text"]
    assert understand(path, "y", formats=known).table["x"].isna().sum() == 2


def test_labels_that_may_be_missing_are_asked_for(tmp_path):
    path = saved(tmp_path, pd.DataFrame({"x": np.tile(HALF, 3), "y": ["None", "NA", "NA", "1", "2"] * 35 + [*"31425"]}))
    words = "--missing 'NA,None' leaves its rows out, --missing '' takes it for a label"
    assert words in message(understand, path, "y")
    assert understand(path, "y", missing="").settings["classes"] == ["1", "2", "NA", "None"]
    asked = understand(path, "y", missing="NA,None")
    assert len(asked.y) == ROWS + 12
    assert asked.changed[:2] == ["rows left out: 105 (no target)", "rows left out: 3 (classes of few rows: 3, 4, 5)"]


def test_a_missing_value_may_have_a_decimal_comma(tmp_path):
    frame = pd.DataFrame({"x": ["-9,999", "9,0", "2,5"] * 20, "z": ["9999%", "9998%", "9%"] * 20, "y": HALF})
    asked = understand(saved(tmp_path, frame, sep=";"), "y", missing=("-9,999", "absent,9999"))
    assert asked.settings["missing"] == ["-9,999", "absent", "9999"]
    assert asked.table[["x", "z"]].isna().sum().tolist() == [20, 0]
    assert "--missing takes cells of 'x' (20)" in asked.changed


#: Two numbers and a target, the lines of a file with 60 rows.
LINES = [f"{v + 1},{v / 4},{v * v}" for v in HALF]

#: Files with the same three columns of numbers, and words of the notes.
SHAPES = {
    "index-without-a-name": (["a,b,y", *(f"r{i},{line}" for i, line in enumerate(LINES))], "a name less"),
    "empty-first-names": ([",,a,b,y", *(f"{i},r{i},{line}" for i, line in enumerate(LINES))], "'(column 1)' (numbers"),
    "rulers": (["+---+", "a|b|y", "---+---", *(line.replace(",", "|") for line in LINES)], "of a count left out: 2"),
    "query": (["a|b|y", "---+---", *(line.replace(",", "|") for line in LINES), "(60 rows)"], "of a count left out: 2"),
    "comma-at-every-end": (["a,b,y,", *(f"{line}," for line in LINES)], "without a name left out: 1"),
    "glued": (["a,b,y", *(f"{line}," for line in LINES[:30]), "a,b,y", *(f"{line}," for line in LINES[30:])],
              "that repeat the names of the columns: 1"),
    "units": (["a,b,y", "cm,-,EUR", ",Avg,Max", *LINES], "has units or texts (Avg, Max)"),
    "no-units": (["a,b,y", ",NA,", *LINES], "rows left out: 1 (no target)"),
    "limits": (["s,a,b,y", "LOD,0.1,,1", *(f"r{i % 3},{line}" for i, line in enumerate(LINES))], "has limits (0.1, 1)"),
    "groups-of-names": (["Sales,,Out", "a,b,y", *LINES], "lines left out above the names: 1 ('Sales, Out')"),
    "titles-filled-up": (["Sales,,", ",,", "a,b,y", *LINES], "lines left out above the names: 2 ('Sales')"),
    "footnotes-filled-up": (["a,b,y", *LINES[:9], ",,", *LINES[9:], ",,", "From us,,"],
                            "lines left out below the rows: 2 ('From us')"),
    "totals-of-one-column": (["a,b,y", *LINES, ",,71000"], "lines left out below the rows: 1 ('71000')"),
    **{f"totals-{word}": (["a,b,y", *LINES, f"{word},442.5,71000"], f"line of totals left out: '{word}, 442.5, 71000'")
       for word in ("Total", "Summa", "Gesamtsumme", "Grand total")},
    "totals-without-a-word": (["a,b,y", *LINES, ',221.250,"17,552.5"'], "line of totals left out: '221.250, 17,"),
    "means": (["a,b,y", *LINES, "Durchschnitt,3.69,292.5"], "line of totals left out: 'Durchschnitt"),
    "statistics": (["a,b,y", *LINES, "SD,2.18,266", "Summe,221.25,17552.5", "Max,7.375,870", "Mean,3.69,293"], "'Max"),
    "totals-first": (["a,b,y", "Total,221.25,17552.5", *LINES], "line of totals left out: 'Total, 221.25"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_lines_that_are_no_rows_are_left_out_and_noted(tmp_path, name):
    lines, words = SHAPES[name]
    (path := tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    asked = understand(path, "y")
    np.testing.assert_allclose(asked.y, HALF**2)
    np.testing.assert_allclose(asked.table[["a", "b"]], np.column_stack([HALF + 1, HALF / 4]))
    assert [note for note in asked.changed if words in note]
    assert name == "units" or "has units" not in "".join(asked.changed)


def test_rows_with_many_missing_cells_and_subtotals_are_kept(tmp_path):
    lines = [*LINES[:30], "Total,2,3", *LINES[30:-2], "North Total,2,3", "Total for A,2,3", ",,5", ",,6"]
    (path := tmp_path / "t.csv").write_text("a,b,y\n" + ",,4\n" + "\n".join(lines) + "\n")
    assert len((asked := understand(path, "y", formats=["a=number"])).y) == ROWS + 4
    assert "lines that begin with 'Total' are rows: 3; remove them if they are totals" in asked.changed
    answers = saved(tmp_path, pd.DataFrame({"c": [*"nj"] * 29 + [*"nn"], "y": HALF}))  # n for no is no number of rows
    assert "lines that begin with" not in "".join(understand(answers, "y").changed)


#: Encodings, words, and what they cannot be in Windows-1252, if they are asked about.
ENCODINGS = {
    "cp932": (["東京", "大阪", "札幌"], "is no text in cp1252"), "cp1250": (["mały", "Łódź"], "'ma³y' is no"),
    "windows-1252": (["Köln", "KÃ¶ln"], "'KÃ¶ln' is"),
    "cp1251": (["Казань"], "'Êàçàíü' is no"), "mac_roman": (["München"], "'MŸnchen' is"), "gbk": (["北京市"], "is no"),
    "cp1252": (["créée", "Góðæri", "l’été", "kWh/m²a", "9 m³h", "n° «à la»", "¿Qué?", "jäääär", "prixÉté"], None),
}  # fmt: skip


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_encoding_that_is_neither_utf_8_nor_windows_1252_is_asked_for(tmp_path, encoding):
    words, asked = ENCODINGS[encoding]
    frame = pd.DataFrame({"x": np.resize(words, ROWS), "z": np.arange(ROWS) % 7, "y": HALF})
    path = saved(tmp_path, frame, encoding=encoding)
    assert not asked or asked in message(understand, path, "y")
    assert set(understand(path, "y", encoding=encoding if asked else None).table["x"]) == set(words)


def test_a_note_is_given_for_ten_columns_of_one_format_the_target_and_years_to_come_first(tmp_path):
    texts = pd.DataFrame({f"x{j}": [f"{v},5" for v in range(ROWS)] for j in range(30)})
    texts = texts.assign(one=1, y=texts["x0"], day=["14.05.68", "01.02.50"] * (ROWS // 2))
    texts.loc[0, "x0"] = "k.A."
    notes = understand(saved(tmp_path, texts, sep=";"), "y").changed
    assert len(notes) == 15
    assert notes[2].startswith("'day': '14.05.68' is read as 2068")
    assert notes[:2] == ["'y': '0,5' is read as 0.5", "columns left out: 'one' (constant)"]
    assert notes[-1] == "more columns have the format 'number,': 21, down to 'x29': '0,5' is read as 0.5"


def test_columns_without_names_are_numbered_and_names_that_are_numbers_are_asked_for(tmp_path):
    (path := tmp_path / "t.csv").write_bytes(text(header=False))
    asked = understand(path, "c5")
    assert (list(asked.table.columns), len(asked.y)) == (["c1", "c2", "c3", "c4", "c5"], ROWS)
    rows = "\n".join(LINES)
    path.write_text(f"2019,2020,2021\n{rows}\n")
    assert len(understand(path, "2021").y) == ROWS
    assert "state --header yes or --header no" in message(understand, path, None)
    assert len(understand(path, "c3", header="no").y) == ROWS + 1


def test_a_quote_that_swallows_lines_is_asked_for(tmp_path):
    lines = [f"{i % 7},w{i % 3},{v}" for i, v in enumerate(HALF)]
    lines[10], lines[40] = f'3,"open,{HALF[10]}', f'4,"close,{HALF[40]}'
    (path := tmp_path / "t.csv").write_text("a,b,y\n" + "\n".join(lines) + "\n")
    assert "quotes have line ends inside (30), or are unpaired: --quote none" in message(understand, path, "y")
    assert len(understand(path, "y", quote="none").y) == ROWS
    path.write_text("a,b,y\n" + "\n".join(f'{v},"so \\"{i}\\", a \\\\",{v}' for i, v in enumerate(HALF)) + "\n")
    assert understand(path, "y").table["b"][0] == 'so "0", a \\'
    (path := tmp_path / "m.csv").write_text("a,b,y\n" + "\n".join(f'{v},"two\nlines",{v}' for v in HALF) + "\n")
    asked = understand(path, "y")
    assert len(asked.y) == ROWS
    assert "line ends inside quotes, part of cells: 60" in asked.changed


def test_a_file_that_two_separators_cut_is_asked_for(tmp_path):
    (path := tmp_path / "t.csv").write_text("a,b;c,y\n" + "\n".join(f"{v},u;w,{v}" for v in HALF) + "\n")
    assert "commas and semicolons both cut all lines" in message(understand, path, "y")
    assert list(understand(path, "y", separator=",").table.columns) == ["a", "b;c", "y"]
    path.write_text("a\tb\ty\n" + "\n".join(f"{v}\tu, w\t{v}" for v in HALF) + "\n")  # commas would skip the names
    for separator in (None, "\t", "\\t", "tabs"):
        assert list(understand(path, "y", separator=separator).table.columns) == ["a", "b", "y"]
    assert "--separator tab: write one character, or" in message(understand, path, "y", separator="tab")


def test_sparse_files_and_nominal_values_in_quotes(tmp_path):
    head = "@relation t\n% note\n@attribute 'a b' numeric\n@attribute c {'red, dark',blue}\n@attribute y {no,'it\\'s'}"
    colours, labels = ["blue", '"red, dark"'], ["no", "'it\\'s'"]
    dense = [f"{v},{colours[i % 2]},{labels[i % 2]}" for i, v in enumerate(HALF)]
    (path := tmp_path / "t.arff").write_text("\n".join([head, "@data", *dense[:5], "% another", *dense[5:]]))
    asked = understand(path, "y")
    assert asked.settings["classes"] == ["it's", "no"]
    assert asked.table["c"].tolist() == ["blue", "red, dark"] * 30
    lines = ["{" + f"0 {v}" + (", 1 blue, 2 'it\\'s'" if i % 2 else "") + "}" for i, v in enumerate(HALF)]
    (path := tmp_path / "s.arff").write_text("\n".join([head, "@data", *lines]))
    asked = understand(path, "y")
    assert asked.table["c"].tolist() == ["red, dark", "blue"] * 30
    np.testing.assert_array_equal(asked.table["a b"], HALF)
    sparse.save_npz(tmp_path / "m.npz", X := sparse.random(80, 900, 0.02, format="csr", random_state=0))
    asked = understand(tmp_path / "m.npz", "f3", task="regression")
    assert sparse.issparse(asked.table)
    assert asked.table.shape[1] == 899  # the target predicts nothing
    np.testing.assert_array_equal(asked.y, X[:, 3].toarray().ravel())


@pytest.mark.parametrize("head", ["<DATE>,<OPEN>,y", "[mm],{g},y", "[a],{,y"])
def test_names_in_brackets_are_no_markup(tmp_path, head):
    (path := tmp_path / "t.csv").write_text(f"{head}\n" + "".join(f"{j % 7},{j % 5},{j * 1.5}\n" for j in range(60)))
    assert understand(path, "y").settings["columns"]["numbers"] == head.split(",")[:2]


def test_a_file_name_need_not_be_utf_8(tmp_path):
    (path := tmp_path / os.fsdecode(b"gr\xf6\xdfe.csv")).write_bytes(text())
    assert len(understand(path, "price").y) == ROWS


def test_a_format_that_was_stated_is_taken(tmp_path):
    path = saved(tmp_path, pd.DataFrame({"x": [f"{i}.125" for i in range(1, 61)], "y": HALF**2 + 0.1}))
    for how, first in (("number,", 1125.0), ("number", 1.125)):
        assert understand(path, "y", formats=[f"x={how}"]).table["x"].iloc[0] == first
    known, of_dates = "there is no such format; a column has number, number,,", "no value has it, such as '1.125'"
    for how, words in {"%d.%m.%Y": of_dates, "%G-W%V": "ISO", "numbers": known, "number,,": known, "": known}.items():
        assert f"--format x={how}: {words}" in message(understand, path, "y", formats=[f"x={how}"])
    days = {"%A %d %B %Y": "lundi 3 mai 2021", "%a, %d. %m. %Y": "Mo., 3. 5. 2021", "den %d %B %Y": "den 3 maj 2021"}
    assert {texts.parsed(pd.Series(each), how)[0] for how, each in days.items()} == {pd.Timestamp(2021, 5, 3)}
    assert [*map(texts.is_number, ("1.234,5 kg/m3", "1.23,5"))] == [True, False]
