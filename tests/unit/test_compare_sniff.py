"""Files are read in every form of table: what is needed to read them is found; broken ones are refused in one line."""

import bz2
import gzip
import io
import lzma
import os
import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from random_features.compare import recipe
from random_features.compare.question import understand
from random_features.compare.sniff import sniff
from random_features.errors import UserError

ROWS = 60
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(10, 2, ROWS).round(2),
        "colour": RNG.choice(["red", "blue", "green; dark"], ROWS),
        "day": pd.date_range("2024-01-01", periods=ROWS).strftime("%Y-%m-%d"),
        "sold": np.arange(ROWS) % 3 == 0,
        "price": RNG.normal(100, 20, ROWS).round(1),
    }
)


def text(**how):
    return FRAME.to_csv(index=False, **how).encode(how.pop("encoding", "utf-8"))


def packed(data, *names):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names or ["table.csv"]:
            archive.writestr(name, b"" if name.endswith("/") else data)
    return stream.getvalue()


def encrypted(data):
    archive = bytearray(packed(data))
    for start, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        archive[archive.find(start) + flags] |= 1
    return bytes(archive)


def damaged(data):
    return data[:40] + bytes(20) + data[60:]


def arrays(**named):
    stream = io.BytesIO()
    np.savez(stream, **named)
    return stream.getvalue()


FORMS = {
    "comma.csv": text(),
    "tab.tsv": text(sep="\t"),
    "semicolon.csv": text(sep=";"),
    "decimal-comma.csv": text(sep=";", decimal=","),
    "pipe.txt": text(sep="|"),
    "quoted.csv": text(quoting=1),
    "apostrophes.csv": text(quotechar="'", quoting=1),
    "mark.csv": b"\xef\xbb\xbf" + text(),
    "utf-16.csv": FRAME.to_csv(index=False).encode("utf-16"),
    "windows.csv": text().replace(b"\n", b"\r\n"),
    "packed.csv.gz": gzip.compress(text()),
    "packed.csv.bz2": bz2.compress(text()),
    "packed.csv.xz": lzma.compress(text()),
    "packed.zip": packed(text()),
    "packed-folder.zip": packed(text(), "data/", "data/table.csv", "__MACOSX/data/._table.csv"),
    "title.csv": b"A table of sales\n" + text(),
    "preamble.csv": b"Export\n\nPrinted today\n" + text(),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_table_is_read_as_the_same_question(tmp_path, name):
    (tmp_path / name).write_bytes(FORMS[name])
    asked = understand(tmp_path / name, "price")
    assert asked.settings["task"] == "regression"
    np.testing.assert_allclose(asked.y, FRAME["price"])
    assert asked.settings["columns"] == {"numbers": ["size", "sold"], "dates": ["day"], "categories": ["colour"]}
    pd.testing.assert_series_equal(asked.table["colour"].astype(object), FRAME["colour"].astype(object))


def test_the_encoding_of_umlauts_is_found(tmp_path):
    frame = FRAME.rename(columns={"size": "größe"})
    for encoding in ("utf-8", "cp1252"):
        (tmp_path / "t.csv").write_bytes(frame.to_csv(index=False).encode(encoding))
        assert "größe" in understand(tmp_path / "t.csv", "price").table.columns


def test_columns_without_names_are_numbered(tmp_path):
    (tmp_path / "t.data").write_bytes(text(header=False))
    asked = understand(tmp_path / "t.data", "c5")
    assert list(asked.table.columns) == ["c1", "c2", "c3", "c4", "c5"]
    assert len(asked.y) == ROWS


@pytest.mark.parametrize("header", [True, False])
def test_a_table_of_texts_alone_has_a_header_if_its_first_cells_do_not_recur(tmp_path, header):
    rows = pd.DataFrame({"cap": RNG.choice(list("ab"), 80), "odour": RNG.choice(list("xy"), 80)})
    rows.to_csv(tmp_path / "t.csv", index=False, header=header)
    assert sniff(tmp_path / "t.csv")["options"]["header"] == (0 if header else None)


@pytest.mark.parametrize("mark", ["\u2028", "\x0c", "\x0b", "\x85"])
def test_a_title_with_another_line_separator_costs_no_row(tmp_path, mark):
    (tmp_path / "t.csv").write_text(f"Export{mark}of{mark}sales\n" + FRAME.to_csv(index=False), encoding="utf-8")
    assert len(understand(tmp_path / "t.csv", "price").y) == ROWS


def test_notes_do_not_write_to_the_terminal(tmp_path):
    (tmp_path / "t.csv").write_bytes(GOOD.replace(b"price", b"pr\x1b[31mice"))
    assert "\x1b" not in "".join(understand(tmp_path / "t.csv", "pr\x1b[31mice").notes)


def test_arrays_arff_and_libsvm(tmp_path):
    X, y = RNG.normal(size=(ROWS, 3)).round(3), np.arange(ROWS) % 2
    np.savez(tmp_path / "t.npz", X=X, y=y)
    asked = understand(tmp_path / "t.npz", "y")
    np.testing.assert_array_equal(asked.table[["X1", "X2", "X3"]], X)
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"), zero_based=False)
    asked = understand(tmp_path / "t.svm")
    np.testing.assert_allclose(asked.table[["f0", "f1", "f2"]], X, rtol=1e-6)
    assert asked.settings["classes"] == ["0", "1"]
    lines = ["@relation t", *(f"@attribute a{j} numeric" for j in range(3)), "@attribute y {no,yes}", "@data"]
    lines += [",".join([*map(str, row), ["no", "yes"][label]]) for row, label in zip(X, y, strict=True)]
    (tmp_path / "t.arff").write_text("\n".join(lines))
    asked = understand(tmp_path / "t.arff", "y")
    np.testing.assert_array_equal(asked.table[["a0", "a1", "a2"]], X)
    np.testing.assert_array_equal(asked.y, y)


def test_the_first_bytes_of_text_are_not_taken_for_an_archive(tmp_path):
    for name in ("PK", "BZh"):
        FRAME.rename(columns={"size": name}).to_csv(tmp_path / "t.csv", index=False)
        assert name in understand(tmp_path / "t.csv", "price").table.columns


def test_lines_may_be_long(tmp_path):
    FRAME.rename(columns={"size": "long" * 2**16}).to_csv(tmp_path / "t.csv", index=False)
    assert len(understand(tmp_path / "t.csv", "price").table.columns[0]) == 2**18


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_regular_file_is_refused(tmp_path, kind):
    {"folder": os.mkdir, "pipe": os.mkfifo}[kind](tmp_path / "t.csv")
    with pytest.raises(UserError, match="name a file"):
        sniff(tmp_path / "t.csv")


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(recipe, "MOST_BYTES", 1000)
    for name, content in {"t.csv": gzip.compress(GOOD), "t.npz": arrays(x=np.ones(200), price=np.arange(200))}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError, match="more than 1,000 bytes"):
            understand(tmp_path / name, "price")


def test_wide_libsvm_stays_sparse(tmp_path):
    X = sparse.random(ROWS, 5000, 0.01, random_state=0)
    dump_svmlight_file(X, np.arange(ROWS) % 2, str(tmp_path / "t.svm"))
    asked = understand(tmp_path / "t.svm")
    assert sparse.issparse(asked.table)
    assert asked.settings["columns"] is None


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow, of the extra compare")
    days = pd.to_datetime(FRAME["day"])
    FRAME.assign(day=days, month=days.dt.to_period("M")).to_parquet(tmp_path / "t.parquet")
    assert understand(tmp_path / "t.parquet", "price").settings["columns"]["dates"] == ["day", "month"]


def test_parquet_with_an_index_and_decimals_is_read_whole(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow, of the extra compare")
    exact = FRAME.assign(price=FRAME["price"].map(lambda price: Decimal(str(price))))
    exact.set_index(["day", "size"]).to_parquet(tmp_path / "t.parquet")
    asked = understand(tmp_path / "t.parquet", "price")
    np.testing.assert_allclose(asked.y, FRAME["price"])
    assert asked.settings["columns"] == {"numbers": ["size", "sold"], "dates": ["day"], "categories": ["colour"]}


@pytest.mark.parametrize("frame", [{"x": np.zeros(10**5), "price": 1.0}, {"text": ["a" * 10**6] * 60, "price": 1.0}])
def test_parquet_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch, frame):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow, of the extra compare")
    pd.DataFrame(frame).to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(recipe, "MOST_BYTES", 5 * 10**5)
    assert (tmp_path / "t.parquet").stat().st_size < recipe.MOST_BYTES
    with pytest.raises(UserError, match="its columns have more than 500,000 bytes"):
        understand(tmp_path / "t.parquet", "price")


def test_columns_of_lists_and_bytes_are_left_out(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow, of the extra compare")
    cells = {"list": [1, 2], "struct": {"a": 1}, "bytes": b"12-3", "arrays": np.ones(2)}
    frame = FRAME.assign(**{name: [cell] * ROWS for name, cell in cells.items()}).astype({"colour": "category"})
    frame.to_parquet(tmp_path / "t.parquet")
    asked = understand(tmp_path / "t.parquet", "price")
    assert [each["column"] for each in asked.columns if "lists, structures" in each["use"]] == list(cells)
    with pytest.raises(UserError, match="holds lists, structures or bytes"):
        understand(tmp_path / "t.parquet", "struct")


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([*RNG.random(3000).round(6), "12.5 kg"], "'x': 1 of 3,001 values are no number, such as '12.5 kg'"),
        ([*range(20)] * 30 + ["n.n."], "'x': 1 of 601 values are no number, such as 'n.n.'"),
        ([f"{i},037.50" for i in range(60)], "'x': numbers with commas between thousands"),
        ([f"{i % 24}:30" for i in range(60)], "'x': times of day"),
        ([*RNG.random(99), 3.5e38], "'x': 1 values above 3.4e+38 as missing"),
    ],
)
def test_a_column_with_a_few_bad_cells_is_noted_on_the_console(tmp_path, column, words):
    frame = pd.DataFrame({"x": column, "z": np.arange(len(column)), "y": np.arange(len(column)) % 2})
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = understand(tmp_path / "t.csv", "y")
    assert [note for note in asked.notes if words in note]
    assert np.isfinite(recipe.encoder(asked.settings["columns"]).fit_transform(asked.table)).all()


def target(values, **more):
    return pd.DataFrame({"x": np.arange(len(values)), "y": values, **more}).to_csv(index=False).encode()


GOOD = text()
#: Broken files: the content, options, and words of the one line that says what is wrong.
BROKEN = {
    "missing": (None, {}, "no such file"),
    "empty": (b"", {}, "empty"),
    "blank": (b"\n\n  \n", {}, "empty"),
    "header-alone": (b"a,b,price\n", {}, "0 rows"),
    "few-rows": (b"\n".join(GOOD.splitlines()[:40]), {}, "39 rows"),
    "unknown-target": (GOOD, {"target": "prise"}, "no such column; did you mean price? it has "),
    "unknown-drop": (GOOD, {"drop": ["colr"]}, "--drop colr"),
    "unknown-group": (GOOD, {"group": "shop"}, "--group shop"),
    "unknown-time": (GOOD, {"time": "when"}, "--time when"),
    "time-of-texts": (GOOD, {"time": "colour"}, "60 values are no time, such as"),
    "time-of-truth": (GOOD, {"time": "sold"}, "60 values are no time, such as"),
    "one-wrong-time": (GOOD.replace(b"2024-01-31", b"Jan 31st?"), {"time": "day"}, "1 values are no time"),
    "huge-target": (target(np.arange(60) * 1e299), {"target": "y"}, "at most 1e+150"),
    "huge-classes": (target([1e300, 2e300] * 30), {"target": "y", "task": "regression"}, "at most 1e+150"),
    "no-target": (GOOD, {"target": None}, "--target COLUMN"),
    "target-dropped": (GOOD, {"drop": ["price"]}, "also dropped"),
    "constant-target": (target([1] * 60), {"target": "y"}, "60 rows with a class of 10 rows or more, 1 different"),
    "empty-target": (target([None] * 60), {"target": "y"}, "0 rows with a class"),
    "one-class": (target(["a"] * 59 + ["b"]), {"target": "y"}, "59 rows with a class of 10 rows or more, 1 different"),
    "small-classes": (target([*range(15)] * 5 + [*"ab"] * 15), {"target": "y"}, "30 rows with a class"),
    "identifier": (target([f"n{i // 2}" for i in range(900)]), {"target": "y", "task": "classes"}, "identifier"),
    "text-regression": (target(list("ab") * 30), {"target": "y", "task": "regression"}, "needs numbers"),
    "few-targets": (target([1.5, 2.5, 3.5] * 10 + [None] * 40), {"target": "y"}, "30 rows with a finite number"),
    "infinite-targets": (target([np.inf] * 57 + [1.5, 2.5, 3.5]), {"target": "y"}, "3 rows with a finite number"),
    "other-target-of-libsvm": (b"1 2000:1\n2 1:1\n" * 60, {"target": "price"}, "has no such column; it has label"),
    "no-columns-left": (target(list("ab") * 30), {"target": "y", "drop": ["x"]}, "no column is left"),
    "one-column": (b"y\n" + b"1\n" * 60, {"target": "y"}, "no separator"),
    "prose": ("\n".join(f"word {'and word ' * i}" for i in range(60)).encode(), {}, "no separator"),
    "ragged": (b"x,price\n" + b"1,2\n" * 300 + b"1,2,3,4\n", {}, "Expected 2 fields"),
    "repeated-names": (b"price,b,price\n" + b"1,2,3\n" * 60, {}, "two columns are called 'price'"),
    "repeated-arrays": (arrays(X=np.ones((60, 3)), X1=np.ones(60), price=np.arange(60)), {}, "called 'X1'"),
    "complex-arrays": (arrays(z=np.ones(60, complex), price=np.arange(60)), {}, "z has complex numbers"),
    "long-line": (b"x" * 2**22 + b"\n1,2", {}, "its first line has more than"),
    "infinite-libsvm": (b"1 2000:1e39\n2 1:1\n" * 60, {}, "above 3.4e+38"),
    "wide-libsvm": (b"1 2000000000:1\n2 1:1\n" * 60, {}, "a column 2,000,000,000"),
    "binary": (bytes(range(256)) * 20, {}, "neither text"),
    "cut-gz": (gzip.compress(GOOD)[:-20], {}, "cannot be unpacked"),
    "cut-xz": (lzma.compress(GOOD)[:-20], {}, "cannot be unpacked"),
    "cut-bz2": (bz2.compress(GOOD)[:-20], {}, "cannot be unpacked"),
    "cut-zip": (packed(GOOD)[:-30], {}, "cannot be unpacked"),
    "damaged-gz": (damaged(gzip.compress(GOOD)), {}, "cannot be unpacked"),
    "damaged-zip": (packed(GOOD).replace(GOOD[:9], GOOD[:8] + b"x"), {}, "cannot be unpacked"),
    "encrypted-zip": (encrypted(GOOD), {}, "encrypted"),
    "two-in-zip": (packed(GOOD, "README", "table.csv"), {}, "has README, table.csv"),
    "empty-zip": (packed(b""), {}, "empty"),
    "cut-parquet": (b"PAR1" + b"x" * 50, {}, "Parquet"),
    "bad-arff": (b"@relation t\n@attribute x numeric\n@data\n1,2,3\n" + b"a\n" * 60, {"target": "x"}, "ARFF"),
    "pickle-npz": (None, {"target": "y"}, "allow_pickle"),
    "one-group": (target(list("ab") * 30, g=1, z=list(range(60))), {"target": "y", "group": "g"}, "groups"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_in_one_line_and_nothing_is_written(tmp_path, name):
    content, options, words = BROKEN[name]
    path = tmp_path / "t.csv"  # its name is in the message
    if content is not None:
        path.write_bytes(content)
    if name == "pickle-npz":
        with open(path, "wb") as stream:
            np.savez(stream, x=np.array([{}, None] * 30), y=np.arange(60))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UserError) as error:
        understand(path, **{"target": "price", **options})
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert sorted(tmp_path.iterdir()) == before
