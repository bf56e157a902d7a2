"""Broken files, and options that do not fit, are refused in one line."""

import bz2
import gzip
import lzma
import os

import numpy as np
import pandas as pd
import pytest
from messy_files import GOOD, arrays, encrypted, packed
from refusals import message

from random_features.compare import reading
from random_features.compare.question import understand


def target(values, **more):
    return pd.DataFrame({"x": np.arange(len(values)) % 7, "y": values, **more}).to_csv(index=False).encode()


WORDS = [f"many words {i}" for i in range(300)]

#: Broken files: the content, options, and words of the one line that says what is wrong.
BROKEN = {
    "missing": (None, {}, "no such file"),
    "blank": (b"\n\n  \n", {}, "empty"),
    "header-alone": (b"a,b,price\n", {}, "0 rows"),
    "few-rows": (b"\n".join(GOOD.splitlines()[:40]), {}, "39 rows"),
    "unknown-target": (GOOD, {"target": "prise"}, "did you mean price? read as text, utf-8, separated by commas"),
    "unknown-windows": (GOOD.replace(b"colour", b"T\xf8\xedda"), {"target": "Třída"}, "--encoding decides; read"),
    "unknown-drop": (GOOD, {"drop": ["colr"]}, "--drop colr"),
    **{f"unknown-{option}": (GOOD, {option: "shop"}, f"--{option} shop") for option in ("group", "time")},
    **{f"time-of-{name}": (GOOD, {"time": name}, "its values are no times, such as") for name in ("colour", "sold")},
    "one-wrong-time": (GOOD.replace(b"2024-01-31", b"31st?"), {"time": "day"}, "1 of 60 values of the column 'day'"),
    "huge-target": (target(np.arange(60) * 1e299), {"target": "y"}, "at most 1e+150"),
    "huge-classes": (target([1e300, 2e300] * 30), {"target": "y", "task": "regression"}, "at most 1e+150"),
    "no-target": (GOOD, {"target": None}, "--target COLUMN"),
    "target-dropped": (GOOD, {"drop": ["price"]}, "also dropped"),
    "empty-target": (target([None] * 60), {"target": "y"}, "0 rows with a class"),
    "one-class": (target(["a"] * 59 + ["b"]), {"target": "y"}, "59 rows with a class of 10 rows or more, 1 different"),
    "blank-labels": (target(["x"] * 60 + [None] * 70), {"target": "y"}, "; 70 more have none: write a label into"),
    "small-classes": (target([*range(15)] * 5 + [*"ab"] * 15), {"target": "y"}, "30 rows with a class"),
    "labels": (target(WORDS), {"target": "y"}, "has 300 labels, such as 'many words 0'; 200 are the most"),
    "dates": (target([None, *pd.date_range("2021-01-05", periods=59)]), {"target": "y"}, "holds dates"),
    "text-regression": (target(list("ab") * 30), {"target": "y", "task": "regression"}, "needs numbers"),
    "few-targets": (target([1.5, 2.5, 3.5] * 10 + [None] * 40), {"target": "y"}, "30 rows with a finite number"),
    "infinite-targets": (target([np.inf] * 57 + [1.5, 2.5, 3.5]), {"target": "y"}, "57 rows with a class"),
    "other-target-of-libsvm": (b"1 2000:1\n2 1:1\n" * 60, {"target": "price"}, "column; read as LIBSVM: it has f0"),
    "no-columns-left": (target(list("ab") * 30), {"target": "y", "drop": ["x"]}, "no column is left"),
    "words": (target([0, 1] * 30, x=WORDS[:60]), {"target": "y"}, "free text); give the numbers in 'many words 0'"),
    "one-column": (b"y\n" + b"1\n" * 60, {"target": "y"}, "; is it a table? state --separator"),
    "prose": ("\n".join(f"word {'and word ' * i}" for i in range(60)).encode(), {}, "no separator"),
    "ragged": (b"# a b c\nx,z,price\n" + b"1,a 2,3\n" * 60 + b"1,2,3,4\n", {}, "line 63 has 4 cells between commas"),
    "short-lines": (b"x,z,price\n" + b"1,2,3\n" * 60 + b"1,2\n" * 3, {}, "62 has 2 cells between commas, others 3 (2 "),
    "repeated-names": (b"price,b,price\n" + b"1,2,3\n" * 60, {}, "two columns are called 'price'"),
    "repeated-arrays": (arrays(X=np.ones((60, 3)), X1=np.ones(60), price=np.arange(60)), {}, "called 'X1'"),
    "complex-arrays": (arrays(z=np.ones(60, complex), price=np.arange(60)), {}, "z has complex numbers"),
    "long-line": (b"x" * 2**22 + b"\n1,2", {}, "no separator of columns"),
    "infinite-libsvm": (b"1 2000:1e39\n2 1:1\n" * 60, {}, "above 3.4e+38"),
    "wide-libsvm": (b"1 2000000000:1\n2 1:1\n" * 60, {}, "a column 2,000,000,000"),
    "json-lines": (b'{"x": 1, "y": 2}\n' * 60, {}, "JSON; save its table as CSV"),
    "json-records": (b'[{"x": 1},\n {"x": 2}]\n', {}, "JSON; save its table as CSV"),
    "json-rows": (b"[[1, 2], [3, 4]]", {}, "JSON; save its table as CSV"),
    "html": (b"<!DOCTYPE html>\n<html>" + b"<td>1</td><td>2</td>\n" * 60, {}, "HTML or XML; save its table as CSV"),
    "html-table": (b"<table>\n<tr>" + b"<td>1</td><td>2</td>\n" * 60, {}, "HTML or XML; save its table as CSV"),
    "xml": (b'<?xml version="1.0"?>\n<rows>' + b"<td>1</td>\n" * 60, {}, "HTML or XML; save its table as CSV"),
    "no-mark": ("x,y\n1,2\n".encode("utf-16-le"), {}, "text without --encoding, such as utf-16-le"),
    "binary": (bytes(range(256)) * 20, {}, "neither Parquet nor .npz, nor text without --encoding"),
    **{f"cut-{kind.__name__}": (kind.compress(GOOD)[:-20], {}, "cannot be unpacked") for kind in (gzip, lzma, bz2)},
    "cut-zip": (packed(GOOD)[:-30], {}, "cannot be unpacked"),
    "damaged-gz": (gzip.compress(GOOD)[:40] + bytes(20) + gzip.compress(GOOD)[60:], {}, "cannot be unpacked"),
    "damaged-zip": (packed(GOOD).replace(GOOD[:9], GOOD[:8] + b"x"), {}, "cannot be unpacked"),
    "encrypted-zip": (encrypted(GOOD), {}, "encrypted"),
    "two-in-zip": (packed(GOOD, "README", "table.csv"), {}, "t.csv: the archive has README, table.csv"),
    "empty-zip": (packed(b""), {}, "empty"),
    "workbook": (packed(b"", "xl/workbook.xml", "[Content_Types].xml"), {}, "t.csv: it is a workbook; save its sheet"),
    "cut-parquet": (b"PAR1" + b"x" * 50, {}, "Parquet"),
    "bad-arff": (b"@relation t\n@attribute x numeric\n@data\n1,2,3\n" + b"a\n" * 60, {"target": "x"}, "ARFF"),
    "pickle-npz": (arrays(x=np.array([{}, None] * 30), y=np.arange(60)), {"target": "y"}, "allow_pickle"),
    "one-group": (target(list("ab") * 30, g=1, z=list(range(60))), {"target": "y", "group": "g"}, "groups"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_in_one_line_and_nothing_is_written(tmp_path, name):
    content, options, words = BROKEN[name]
    path = tmp_path / "t.csv"  # its name is in the message
    if content is not None:
        path.write_bytes(content)
    before = sorted(tmp_path.iterdir())
    assert words in message(understand, path, **{"target": "price", **options})
    assert sorted(tmp_path.iterdir()) == before
    path.write_bytes(GOOD)
    assert message(understand, path / "x", target="price").endswith("x: there is no such file")


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_regular_file_is_refused(tmp_path, kind):
    {"folder": os.mkdir, "pipe": os.mkfifo}[kind](tmp_path / "t.csv")
    assert "name a file" in message(understand, tmp_path / "t.csv", "price")


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 1000)
    for name, content in {"t.csv": gzip.compress(GOOD), "t.npz": arrays(x=np.ones(200), price=np.arange(200))}.items():
        (tmp_path / name).write_bytes(content)
        assert "more than 1,000 bytes" in message(understand, tmp_path / name, "price")
