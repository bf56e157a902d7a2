"""Parsers on tiny files made by hand: what is read, what is refused."""

import re

import numpy as np
import pytest
from refusals import message

from rfstudy.data.parse import encode_labels, read_files, read_rows, read_task


def parse(parser, tmp_path, content, **task):
    """Write a file and parse it; several files where ``content`` is a list."""
    paths = []
    for number, part in enumerate(content if isinstance(content, list) else [content]):
        paths.append(tmp_path / f"part{number}")
        paths[-1].write_bytes(part if isinstance(part, bytes) else part.encode())
    return read_files(paths, task | {"parser": parser})


def read(task, folder, substitutes=None):
    """X, y and the number of training rows of a task whose files are in a folder."""
    return read_task(task, folder, folder, substitutes)[:3]


def idx(array):
    array = np.asarray(array, dtype=np.uint8)
    return bytes([0, 0, 8, array.ndim]) + np.array(array.shape, dtype=">i4").tobytes() + array.tobytes()


HEADER = "@RELATION toy\r\n\r\n@ATTRIBUTE a NUMERIC\r\n@ATTRIBUTE b NUMERIC\r\n@ATTRIBUTE c {0,1}\r\n\r\n"
REMARKS = "% first, 1, 0\n\n1.5,2,0\n   \n  % between\r\n3,4,1%\n%\n5,6,1\n\n% last"
#: A line of names, and two columns that are no features.
NEWS = "url, timedelta, n_tokens_title, LDA_00, shares\nhttp://a/b, 731.0, 12.0, 0.5, 593\nhttp://c, 8, 9, .25, 1e3\n"
OF_NEWS = {"d": 2, "header_lines": 1, "drop_columns": [1, 2]}
IMAGES = np.arange(2 * 2 * 3).reshape(2, 2, 3)
FEATURES_OF_HAR = "  2.8858451e-001 -2.0294171e-002\n -1.3290514e-001  1.0000000e+000\n"


@pytest.mark.parametrize(("parser", "content", "task", "rows", "labels"), [
    # columns count from one, absent ones are zero; integers may be written in other ways
    ("libsvm", "+1 1:0.5 3:-2\n-1.0 2:1 \n2e2\n", {"d": 4}, [[0.5, 0, -2, 0], [0, 1, 0, 0], [0] * 4], [1, -1, 200]),
    ("libsvm", "-0 1:1\n9007199254740992 1:1\n", {"d": 1}, [[1], [1]], [0, 2**53]),
    ("libsvm", "+1 1:0.5 3:-2\n-1 2:1 \n", {"d": 2, "drop_columns": [3]}, [[0.5, 0], [0, 1]], [1, -1]),
    ("table", "1,2.5,g\n-3,4,h\n", {"d": 2}, [[1, 2.5], [-3, 4]], ["g", "h"]),
    ("table", "g,1,2.5\nh,-3,4\n", {"d": 2, "label_column": "first"}, [[1, 2.5], [-3, 4]], ["g", "h"]),
    ("table", "1\t2.5\tg\r\n-3\t4\th\r\n", {"d": 2, "separator": "\t"}, [[1, 2.5], [-3, 4]], ["g", "h"]),
    # numbers as labels stay as they are printed
    ("table", "1,2,07\n3,4,7\n", {"d": 2}, [[1, 2], [3, 4]], ["07", "7"]),
    ("table", NEWS, OF_NEWS, [[12, 0.5], [9, 0.25]], ["593", "1e3"]),
    ("arff", HEADER + "@data\r\n1.5,2,0\r\n3,4,1\r\n", {"d": 2}, [[1.5, 2], [3, 4]], ["0", "1"]),
    ("arff", f"% @DATA\n%\n@DATA\n{REMARKS}", {"d": 2}, [[1.5, 2], [3, 4], [5, 6]], ["0", "1%", "1"]),
    # the header may be in any encoding
    ("arff", b"@RELATION caf\xe9\n@data\n1,2,a\n", {"d": 2}, [[1, 2]], ["a"]),
    ("pair", ["1 2\r\n3 4\r\n\r\n", "5\n1 \n\n"], {"d": 2}, [[1, 2], [3, 4]], ["5", "1"]),
    ("pair", ["1 2\n3 4\n", "a\nNA\n"], {"d": 2}, [[1, 2], [3, 4]], ["a", "NA"]),
    ("pair", [FEATURES_OF_HAR, "5\n1\n"], {"d": 2},
     [[np.float32(0.28858451), np.float32(-0.020294171)], [np.float32(-0.13290514), 1]], ["5", "1"]),
])  # fmt: skip
def test_what_is_read(tmp_path, parser, content, task, rows, labels):
    X, found = parse(parser, tmp_path, content, **task)
    assert X.tolist() == rows
    assert X.dtype == np.float32
    assert found.tolist() == labels
    assert parser != "libsvm" or found.dtype == np.int64


REFUSED = [
    *[("libsvm", f"1 {column}:1\n", 4, "part0") for column in (5, 0, "one", 2**31, 2**63, 10**30)],
    ("libsvm", "1 1:nan\n", 4, "part0"),
    *[("libsvm", f"1 1:1\n{label} 1:1\n", 1, "part0: the label of row 1 is .*, and a class is an integer")
      for label in ("1.5", "-1.4", "0.999999999999", "1e300", "9007199254740994", "nan", "inf")],
    *[("libsvm", empty, 2, "part0 has no rows") for empty in (b"", b"\n\n")],
    ("libsvm", b"1 1:\xe9\n", 2, "part0: could not convert"),
    *[("libsvm", f"1 1:1 # a_b#c\n1 {cell}\n", 4, f"part0: line 2 holds what is no number: 1 {cell}")
      for cell in ("1:6_5", "0_3:2", "1:1.#QNAN")],
    ("table", "1,2,3,g\n", 2, "has 4 columns, not 2 and a label"),
    *[("table", row, 2, "part0") for row in ("1,g\n", "1,x,g\n")],
    ("table", "1,,g\n", 2, "1 cells without a finite number, first in row 0"),
    ("table", "1,2,g\n1,inf,g\n", 2, "1 cells without a finite number, first in row 1"),
    ("table", "1,2,g\n1,2,\n", 2, "1 rows without a label"),
    ("table", b"1,2,\xe9\xff\n", 2, "part0: 'utf-8' codec can't decode"),
    ("table", b"", 2, "part0: No columns"),
    *[("table", separator.join(["1", "2", "a"]), 2, f"no ',' in its first row, but {name}: state the task's separator")
      for separator, name in (("\t", "a tab"), (";", "a semicolon"), (" ", "blanks"))],
    ("arff", HEADER, 2, "no line @DATA"),
    ("arff", b"@RELATION \xe9\n", 2, "part0 has no line @DATA"),
    ("arff", b"@DATA\n1,2,\xe9\xff\n", 2, "part0: 'utf-8' codec can't decode"),
    ("idx", [idx(np.zeros((2, 2, 3))), idx([7])], 6, "2 images, part1 has 1 labels"),
    ("idx", [idx(np.zeros((2, 2, 2))), idx([7, 1])], 6, "has 4 pixels an image, not 6"),
    *[("idx", [other, idx([7, 1])], 6, "no IDX file") for other in (b"P5 2 3", b"")],
    *[("idx", [idx(IMAGES)[:length], idx([0, 1])], 6, f"part0 has {length} bytes, which does not fit its shape")
      for length in (4, 6, 8, 15, 16, 27)],
    ("idx", [idx(np.zeros((0, 2, 2))), idx(np.zeros((0,)))], 4, "part1 must hold one label a row, it has the shape"),
    ("idx", [idx(np.zeros((2, 2, 2))), idx(np.zeros((2, 1)))], 4, "part1 must hold one label a row, it has the shape"),
    ("pair", [FEATURES_OF_HAR, "5\n"], 2, "part0 has 2 rows, part1 has 1 labels"),
    ("pair", [FEATURES_OF_HAR, "5\n1\n"], 3, "part0 has 2 columns and part1 1, not 3 and 1"),
    ("pair", [FEATURES_OF_HAR, "5 1\n1 1\n"], 2, "part0 has 2 columns and part1 2, not 2 and 1"),
    ("pair", [" 1 x\n", "5\n"], 2, "part0 and part1: "),
    ("pair", [" 1 nan\n", "5\n"], 2, "part0 and part1: 1 cells without a finite number"),
    ("pair", ["", "5\n"], 2, "part0: line 1 is blank"),
    ("pair", ["1 2\n\n3 4\n5 6\n", "1\n-1\n1\n"], 2, "part0: line 2 is blank"),
    ("pair", ["1 2\n3 4\n5 6\n", "1\n\n-1\n1\n"], 2, "part1: line 2 is blank"),
    ("pair", ["1 2\r\r3 4\r5 6\r", "1\r-1\r\r1\r"], 2, "part0: line 2 is blank"),
]  # fmt: skip


@pytest.mark.parametrize(("parser", "content", "d", "words"), REFUSED)
def test_what_is_refused_in_one_line(tmp_path, parser, content, d, words):
    assert re.search(words, message(parse, parser, tmp_path, content, d=d))


def test_idx_images_become_rows_of_pixels(tmp_path):
    X, labels = parse("idx", tmp_path, [idx(IMAGES), idx([7, 1])], d=6)
    assert (X.tolist(), X.dtype, labels.tolist()) == (IMAGES.reshape(2, 6).tolist(), np.uint8, [7, 1])


NUMBERS = ["1922.123456789012", "-1.5e-300", "7", "0.1", "1e22"]


@pytest.mark.parametrize(
    ("parser", "line", "options"),
    [
        ("libsvm", "{} 1:2.5", {}),
        ("table", "2.5,{}", {}),
        ("table", "{};2.5", {"label_column": "first", "separator": ";"}),
    ],
)
def test_the_target_of_a_regression_is_exact_to_the_last_digit(tmp_path, parser, line, options):
    (tmp_path / "toy").write_text("".join(line.format(number) + "\n" for number in NUMBERS), encoding="utf-8")
    task = {"parser": parser, "d": 1, "files": {"all": ["toy"]}, "target": "regression"} | options
    X, y, n_train = read(task, tmp_path)
    assert (X.dtype, X.shape, y.dtype, n_train) == (np.float32, (5, 1), np.float64, None)
    assert y.tolist() == [float(number) for number in NUMBERS]


@pytest.mark.parametrize(
    ("label", "words"),
    [("old", "must be a number.*'old'"), ("1_000", "must be a number.*'1_000'"), ("inf", "row 1 has inf")],
)
def test_a_regression_target_is_a_finite_number(tmp_path, label, words):
    (tmp_path / "toy").write_text(f"1,2\n1,{label}\n", encoding="utf-8")
    task = {"parser": "table", "d": 1, "files": {"all": ["toy"]}, "target": "regression"}
    assert re.search(words, message(read, task, tmp_path))


def encoded(mapping, *labels):
    return encode_labels(np.array(labels, dtype=object), mapping)


def test_labels_are_named_left_over_or_dropped():
    y, keep = encoded({"a": 1, "rest": -1}, "b", "a", "c", "a")
    assert (y.tolist(), keep.tolist()) == ([-1, 1, -1, 1], [True] * 4)
    y, keep = encode_labels(np.array([3, 0, 5, 0]), {"0": 0, "3": 9, "rest": "drop"})
    assert (y[keep].tolist(), keep.tolist()) == ([9, 0, 0], [True, True, False, True])
    assert "no entry for '5'; it has ['0', '3']" in message(encode_labels, np.array([3, 0, 5, 0]), {"0": 0, "3": 1})


@pytest.mark.parametrize(
    "missing", ["?", "nan", "NaN", "NA", "N/A", "#n/a", "-nan", "NaT", "1.#QNAN", "null", " ? ", "''", None, np.nan]
)
@pytest.mark.parametrize("rest", [-1, "drop"])
def test_a_missing_label_is_not_one_of_the_other_classes(missing, rest):
    assert "row 1 has no label" in message(encoded, {"1": 1, "rest": rest}, "1", missing, "2")


@pytest.mark.parametrize("label", [" 1", "1 ", "'1'", '"1"', "' 1 '"])
def test_blanks_and_quotes_around_a_label_are_not_part_of_it(label):
    assert encoded({"1": 1, "rest": -1}, label, "'2")[0].tolist() == [1, -1]  # one quote is no pair


@pytest.mark.parametrize("label", ["1.0", "+1", "01", "1e0"])
@pytest.mark.parametrize("rest", [-1, "drop"])
def test_a_named_number_in_another_notation_is_not_one_of_the_other_classes(label, rest):
    words = f"label '{label}' is not one of the rest: it is '1' of the label map"
    assert words in message(encoded, {"1": 1, "rest": rest}, "1", label, "2")
    assert encoded({"1": 1, label: 1, "rest": -1}, "1", label, "2")[0].tolist() == [1, 1, -1]


@pytest.mark.parametrize(("named", "label"), [("true", "True"), ("a", "\uff41"), ("a", "a\u200b"), ("\xe9", "e\u0301")])
def test_a_named_class_that_looks_the_same_is_not_one_of_the_other_classes(named, label):
    found = message(encoded, {named: 1, "rest": -1}, named, label)
    assert f"it is '{named}' of the label map in another notation" in found


LETTERS = {"parser": "table", "label_column": "first", "d": 1, "files": {"all": ["toy"]}, "rows": "rows.csv"}
NAMED = {"parser": "table", "d": 2, "files": {"all": ["toy"]}, "labels": {"NA": 1, "null": -1}}
TWO_PARTS = {"parser": "libsvm", "d": 1, "files": {"train": ["toy"], "test": ["toy.t"]}, "labels": {"1": -1, "2": 1}}
PAIRS = {"train": ["train", "train-labels"], "test": ["test", "test-labels"]}


@pytest.mark.parametrize(("files", "task", "expected"), [
    # a class may be called NA
    ({"toy": "1,2,NA\n3,4,null\n"}, NAMED, ([[1, 2], [3, 4]], [1, -1], None)),
    # published training rows come first
    ({"toy": "1 1:1\n2 1:2\n", "toy.t": "2 1:3\n1 1:4\n1 1:5\n"}, TWO_PARTS,
     ([[1], [2], [3], [4], [5]], [-1, 1, 1, -1, -1], 2)),
    # a dropped class shortens both parts
    ({"train": idx([[[1]], [[2]], [[3]]]), "train-labels": idx([1, 2, 3]),
      "test": idx([[[3]], [[2]]]), "test-labels": idx([3, 2])},
     {"parser": "idx", "d": 1, "files": PAIRS, "labels": {"2": -1, "3": 1, "rest": "drop"}},
     ([[2], [3], [3], [2]], [-1, 1, 1, -1], 2)),
    # listed rows are chosen and ordered
    ({"toy": "A,0\nB,1\nC,2\nD,3\n", "rows.csv": "part,row\ntrain,3\ntest,0\ntrain,1\n"},
     LETTERS | {"labels": {"A": 1, "rest": -1}}, ([[3], [1], [0]], [-1, -1, 1], 2)),
    # they are those of the file, also where some of them are dropped
    ({"toy": "c,0\na,1\nb,2\nc,3\na,4\n", "rows.csv": "part,row\ntrain,4\ntrain,3\ntest,2\ntest,1\n"},
     LETTERS | {"labels": {"a": 1, "b": -1, "rest": "drop"}}, ([[4], [2], [1]], [1, -1, 1], 1)),
    # the first rows of a file in order are the training part
    ({"toy": "2001,1.5,-2\n1999,0,3\n1969,4,5\n"},
     LETTERS | {"rows": "in_order", "d": 2, "n_train": 2, "target": "regression"},
     ([[1.5, -2], [0, 3], [4, 5]], [2001, 1999, 1969], 2)),
])  # fmt: skip
def test_the_rows_of_a_task_come_from_its_files_the_training_rows_first(tmp_path, files, task, expected):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    X, y, n_train = read(task, tmp_path)
    assert (X.tolist(), y.tolist(), n_train) == expected


@pytest.mark.parametrize(
    "content",
    ["", "part,number\ntrain,1\n", "part,row\ntrain,x\n", "part,row\ntrain,-1\n", "part,row\ntrain,1.5\n",
     "part,row\ntrain,1\ntest,1\n", "part,row\ntrain,1\ntst,2\n", f"part,row\ntrain,0\ntest,{10**20}\n"],
)  # fmt: skip
def test_a_choice_of_rows_that_makes_no_sense_is_refused(tmp_path, content):
    (tmp_path / "rows.csv").write_text(content)
    assert "rows.csv" in message(read_rows, tmp_path / "rows.csv")


def test_a_choice_of_rows_that_the_file_does_not_have_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("part,row\ntrain,0\ntest,2\n")
    (tmp_path / "toy").write_text("a,1\nb,2\n")
    found = message(read, LETTERS | {"labels": {"a": 1, "b": -1}}, tmp_path)
    assert "rows.csv names row 2, the file has 2 rows" in found


CIFAR = {
    "parser": "cifar", "d": 12, "files": {"train": ["first", "second"], "test": ["third"]},
    "labels": {"1": -1, "9": 1, "rest": "drop"},
}  # fmt: skip


def cifar_file(path, labels, seed):
    """Images of 2 x 2 pixels in three colours, as (n, 2, 2, 3); the file has a plane for each colour."""
    images = np.random.default_rng(seed).integers(0, 256, (len(labels), 2, 2, 3), dtype=np.uint8)
    rows = [bytes([label]) + image.transpose(2, 0, 1).tobytes() for label, image in zip(labels, images, strict=True)]
    path.write_bytes(b"".join(rows))
    return images


@pytest.fixture
def cifar(tmp_path):
    images = [
        cifar_file(tmp_path / name, labels, seed)
        for seed, (name, labels) in enumerate([("first", [1, 9, 3]), ("second", [9, 4]), ("third", [9, 0, 1, 1])])
    ]
    return tmp_path, np.concatenate(images)


def test_cifar_has_the_colours_of_each_pixel_side_by_side(cifar):
    folder, images = cifar
    X, y, n_train = read(CIFAR, folder)
    assert (X.dtype, n_train) == (np.uint8, 3)
    np.testing.assert_array_equal(X.reshape(-1, 2, 2, 3), images[[0, 1, 3, 5, 7, 8]])
    assert y.tolist() == [-1, 1, 1, 1, -1, -1]


def test_a_cifar_file_of_other_images_is_an_error(cifar):
    for change, words in (({"d": 9}, "third|first"), ({"d": 13}, "no 13 numbers")):
        assert re.search(words, message(read, CIFAR | change, cifar[0]))
    for name in ("first", "second"):
        (cifar[0] / name).write_bytes(b"")
    assert message(read, CIFAR, cifar[0]).startswith("first and second: ")


def test_rows_that_a_substitute_excludes_are_left_out(cifar):
    folder, images = cifar
    (folder / "copy").write_bytes((folder / "third").read_bytes())
    (folder / "third").unlink()
    substitutes = {"third": {"file": "copy", "excluded_rows": [1, 2]}}
    X, y, n_train = read(CIFAR, folder, substitutes)
    np.testing.assert_array_equal(X.reshape(-1, 2, 2, 3), images[[0, 1, 3, 5, 8]])
    assert (y.tolist(), n_train) == ([-1, 1, 1, 1, -1], 3)
    # a row that its label drops is not missing
    for label, n in (("1", 1), ("0", 1), ("4", 0)):
        task = CIFAR | {"labels": {"9": 1, label: -1, "rest": "drop"}}
        assert read_task(task, folder, folder, substitutes)[3] == {"test": n}


@pytest.mark.parametrize(("name", "row"), [("first", 0), ("third", 4)])
def test_a_substitute_takes_the_place_of_one_file(cifar, name, row):
    found = message(read, CIFAR, cifar[0], {name: {"file": name, "excluded_rows": [row]}})
    assert "a substitute takes the place of one file and has its rows" in found
