"""Tables of named columns: what a file says, and those of the arena against their catalogue and another reader."""

import csv
import math
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from random_features.errors import UserError
from rfstudy.data import download, parse, registry

KNOWN = registry.load(Path(__file__).parents[2] / "config")
MIRROR = os.environ.get("RFSTUDY_MIRROR", "")
CATALOGUE = Path(MIRROR) / "tab-catalogue.csv"

ROWS = [("1.5", "b", "x", "?"), ("-200", "a", "y", "3"), ("2", "", "x", ""), ("4", "a", "y", "7")]


def read(tmp_path, text, **task):
    path = tmp_path / "table.txt"
    path.write_text(text, encoding="utf-8-sig")
    return parse.read_files([path], {"parser": "named", **task})


@pytest.mark.parametrize("form", ["names", "attributes", "numbers"])
def test_a_table_is_read_by_the_names_of_its_columns(tmp_path, form):
    names = ["0", "1", "2", "3"] if form == "numbers" else ["size", "kind", "side", "target"]
    head = {
        "names": ";".join(names) + "\n",
        "attributes": "% text\n@relation r\n" + "".join(f"@ATTRIBUTE '{name}' real\n" for name in names) + "@data\n",
        "numbers": "",
    }[form]
    text = head + "".join(";".join(row) + "\n" for row in ROWS)
    columns = {"target": names[3], "categorical": [names[1]], "dropped": [names[2]], "missing": ["?", "", "-200"]}
    header = {"header_lines": 1} if form == "names" else {}
    X, labels = read(tmp_path, text, separator=";", columns=columns, **header)
    assert labels.tolist() == ["3", "7"]  # the others have no label
    # the missing number is the median, of one number here; a column for each text that is there
    assert X.tolist() == [[4, 1], [4, 1]]
    columns |= {"target": names[2], "dropped": [names[3]], "dropped_rows": [3], "missing": ["", "-200"]}
    X, labels = read(tmp_path, text, separator=";", columns=columns, **header)
    assert labels.tolist() == ["x", "y", "x"]
    assert X.tolist() == [[1.5, 0, 1], [1.75, 1, 0], [2, 0, 0]]


def test_only_the_listed_texts_are_missing_and_a_comma_may_separate_decimals(tmp_path):
    text = "a;b\n1,5;NA\nNA;x\n2,5;x\n"
    columns = {"target": "b", "missing": ["NaN"], "decimal": ","}
    with pytest.raises(UserError, match="could not convert string to float: 'NA'"):
        read(tmp_path, text, separator=";", header_lines=1, columns=columns)
    X, labels = read(tmp_path, text.replace("\nNA;", "\nNaN;"), separator=";", header_lines=1, columns=columns)
    assert (X.tolist(), labels.tolist()) == ([[1.5], [2.0], [2.5]], ["NA", "x", "x"])


def cells_of(path, entry):
    """Return the names of the columns of a table and its cells, read without pandas."""
    lines = path.read_text(encoding=entry["encoding"]).splitlines()
    names = None
    if entry["format"] == "arff":
        start = next(i for i, line in enumerate(lines) if line.strip().lower() == "@data")
        names = [re.split(r"[\s']+", line)[1] for line in lines[:start] if line.lower().startswith("@attribute")]
        lines = lines[start + 1 :]
    if entry["separator"] == "whitespace":
        table = [line.split() for line in lines if line.strip()]
    else:
        table = list(csv.reader(lines, delimiter={"comma": ",", "semicolon": ";"}[entry["separator"]]))
    table = [[cell.strip() for cell in row] for row in table if row]
    if entry["format"] == "csv" and entry["header"] == "yes":
        names, *table = table
    return names or list(map(str, range(len(table[0])))), table


@pytest.mark.slow
@pytest.mark.skipif(not CATALOGUE.is_file(), reason="no mirror")
@pytest.mark.parametrize("name", [name for name in KNOWN.tasks if name.startswith("tab-")])
def test_a_table_of_the_arena_is_what_its_catalogue_and_another_reader_say(tmp_path, name):
    task = KNOWN.tasks[name]
    (entry,) = (row for row in csv.DictReader(CATALOGUE.open(encoding="utf-8")) if row["name"] == name)
    download.run(name, KNOWN.sources[name], tmp_path, lock_path=tmp_path / "lock.yaml", mirror=MIRROR)
    X, y, _, _ = parse.read_task(task, tmp_path, tmp_path)
    assert X.shape == (task["n"], task["d"])
    assert len(y) == int(entry["n_rows"])
    assert task["target"] == entry["task"]
    assert bool(entry["n_classes"]) == (task["target"] != "regression")
    if entry["n_classes"]:
        counts = Counter(y.tolist())
        assert (len(counts), min(counts.values())) == (int(entry["n_classes"]), int(entry["smallest_class"]))
    if entry["format"] == "libsvm":
        assert X.shape[1] == int(entry["n_features"])
        return
    given, path = task["columns"], tmp_path / task["files"]["all"][0]
    table, _ = parse.named_table(path, task)
    assert table.shape == (int(entry["n_rows"]), int(entry["n_features"]))
    assert table.isna().to_numpy().sum() == int(entry["missing_cells"])
    names, cells = cells_of(path, entry)
    missing, target = given.get("missing", []), names.index(given["target"])
    dropped = set(given.get("dropped_rows", []))
    cells = [row for i, row in enumerate(cells) if i not in dropped and row[target] not in missing]
    others = [i for i, each in enumerate(names) if i != target and each not in given.get("dropped", [])]
    assert len(cells) == len(X)
    assert len(others) == int(entry["n_features"])
    assert sum(row[i] in missing for row in cells for i in others) == int(entry["missing_cells"])
    column = 0
    for i in others:
        texts = [row[i] for row in cells]
        if names[i] in given.get("categorical", []):
            for text in sorted(set(texts) - set(missing)):
                assert X[:, column].tolist() == [each == text for each in texts]
                column += 1
            continue
        numbers = [math.nan if each in missing else float(each.replace(",", ".")) for each in texts]
        there = np.isfinite(numbers)
        assert np.array_equal(X[there, column], np.asarray(numbers, dtype=np.float32)[there])
        assert len(set(X[~there, column])) == (not there.all())
        column += 1
    assert column == task["d"]
    if not entry["n_classes"]:
        assert np.array_equal(y, [float(row[target].replace(",", ".")) for row in cells])
