"""Read the original files of a task: features, labels as text, and their map to integers or their numbers.

Every parser is a function ``parse_<name>``: it takes the paths of one part of a task and its entry, and returns ``(X,
labels)``: X (n, d) float32, or uint8 if the file holds bytes, and labels (n,) as the file has them. ``read_task`` puts
the published training rows first.
"""

import io
import math
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from random_features.errors import UserError
from rfstudy.data.tasks import DROP, IN_ORDER

#: The label map's key for every label that it does not name.
REST = "rest"

#: Cells of a table that mark a missing number.
NO_NUMBER = ["", "NA", "NaN", "nan", "null"]

#: Arguments with which pandas reads the cells of a file without column names.
AS_PRINTED = {"header": None, "keep_default_na": False}

#: Texts in lower case that mark a missing label, unless the label map names them.
NO_LABEL = (
    *("", "?", "na", "#na", "n/a", "#n/a", "<na>", "nan", "-nan", "nat", "null", "none"),
    *("1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"),
)

#: Whole numbers up to this one are exact in float64.
LARGEST_EXACT = 2**53


def read_task(task: dict, raw_dir, reference_dir, substitutes: dict | None = None):
    """Return the rows of a task from its original files.

    Parameters
    ----------
    task : dict
        Entry of ``datasets.yaml``.
    raw_dir : path
        Folder of the source's files.
    reference_dir : path
        Folder of the lists of rows (key ``rows`` of a task).
    substitutes : dict, optional
        Files that replace others, by the names of the replaced files. Each has its name, ``file``, and its
        ``excluded_rows``, which are left out.

    Returns
    -------
    X : ndarray (n, d), float32 or uint8
    y : ndarray (n,), int64, or float64 where the target is regression
    n_train : int or None
        Rows of the published training part, which come first; None if a file has no parts.
    left_out : dict
        Rows that substitutes exclude, by part; rows that the label map drops do not count.

    Raises
    ------
    UserError
        Unknown labels, rows of another width, values that are not finite numbers, or a substitute for one of several
        files of a part, whose rows are not known.
    """
    parts, left_out = [], {}
    for part, names in task["files"].items():
        found = {name: known for name, known in (substitutes or {}).items() if name in names}
        paths = [Path(raw_dir) / found.get(name, {"file": name})["file"] for name in names]
        X, labels = read_files(paths, task)
        y, kept = as_numbers(labels) if task.get("target") == "regression" else encode_labels(labels, task["labels"])
        if found:
            excluded = np.array([row for known in found.values() for row in known["excluded_rows"]], dtype=np.int64)
            if len(names) > 1 or (len(excluded) and excluded.max() >= len(X)):
                raise UserError(f"{', '.join(names)}: a substitute takes the place of one file and has its rows")
            left_out[part] = int(kept[excluded].sum())
            kept[excluded] = False
        parts.append((X, y, kept))
    X, y, kept = (np.concatenate(arrays) if len(parts) > 1 else arrays[0] for arrays in zip(*parts, strict=True))
    n_train = None
    if len(parts) == 2:
        n_train = int(parts[0][2].sum())
    elif task.get("rows") == IN_ORDER:
        n_train = task["n_train"]
    elif "rows" in task:  # they are rows of the file, even if some of them are dropped
        rows, n_train = read_rows(Path(reference_dir) / task["rows"])
        if len(rows) and rows.max() >= len(y):
            raise UserError(f"{task['rows']} names row {rows.max()}, the file has {len(y)} rows")
        X, y, kept = X[rows], y[rows], kept[rows]
        n_train = int(kept[:n_train].sum())
    return X if kept.all() else X[kept], y[kept], n_train, left_out


def read_files(paths: list[Path], task: dict):
    """Return X and the labels as text, from the files of one part. Raise ``UserError``, in one line, if they have
    none.
    """
    names = " and ".join(path.name for path in paths)
    try:
        X, labels = globals()[f"parse_{task['parser']}"](paths, task)
    except UserError:
        raise
    except (ValueError, OverflowError) as error:
        raise UserError(f"{names}: {' '.join(str(error).split())}") from error
    if (bad := ~np.isfinite(X)).any():
        raise UserError(f"{names}: {bad.sum()} cells without a finite number, first in row {bad.any(1).argmax()}")
    return X, labels


def read_rows(path: Path) -> tuple[np.ndarray, int]:
    """Return a published choice of rows: a CSV file with the columns part (train, test) and row (from 0), in order.

    Raise ``UserError`` for another part, and for a value that is not a row or appears twice.
    """
    try:
        table = pd.read_csv(path, usecols=["part", "row"], dtype={"row": np.int64})
    except (OSError, ValueError, OverflowError) as error:
        raise UserError(f"{path}: {error}") from error
    rows = table["row"].to_numpy()
    if not table["part"].isin(["train", "test"]).all() or (rows < 0).any() or table["row"].duplicated().any():
        raise UserError(f"{path} must name rows from 0, each once, of the parts train and test")
    is_train = table["part"].eq("train").to_numpy()
    return np.concatenate([rows[is_train], rows[~is_train]]), int(is_train.sum())


def read_folds(path: Path, n: int) -> str:
    """Return the published fold of each of n rows as a text of n digits. The file has a line per row and a column per
    fold, 1 where the row is a test row.

    Raise ``UserError`` unless every row is a test row once, and every fold has some.
    """
    tests = pd.read_csv(path, header=None).to_numpy()
    if len(tests) != n or tests.shape[1] > 10 or not np.isin(tests, (0, 1)).all():
        raise UserError(f"{path.name} has the shape {tests.shape}, not {n} lines of at most 10 times 0 or 1")
    if (tests.sum(1) != 1).any() or not tests.any(0).all():
        raise UserError(f"{path.name}: every row must test in one fold, and every fold have test rows")
    return "".join(map(str, tests.argmax(1)))


def as_numbers(labels) -> tuple[np.ndarray, np.ndarray]:
    """Return labels as finite float64, (n,), and which rows are kept, (n,) bool: all. Otherwise raise ``UserError``,
    which names the first that is not a finite number.
    """
    try:
        y = np.asarray(labels, dtype=np.float64)
    except ValueError as error:
        raise UserError(f"a regression target must be a number: {error}") from error
    # 1_000 is a number in Python only
    if grouped := next((label for label in labels if isinstance(label, str) and "_" in label), None):
        raise UserError(f"a regression target must be a number, not {grouped!r}")
    if (wrong := ~np.isfinite(y)).any():
        raise UserError(f"a regression target must be finite, row {wrong.argmax()} has {y[wrong][0]}")
    return y, ~wrong


def as_integers(labels: np.ndarray, path: Path) -> np.ndarray:
    """Return labels that were read as float64 as integers. Otherwise raise ``UserError``, which names the first that is
    not an integer.
    """
    exact = (labels == np.round(labels)) & (np.abs(labels) <= LARGEST_EXACT)
    if not exact.all():
        row = exact.argmin()
        raise UserError(f"{path.name}: the label of row {row} is {labels[row]:.17g}, and a class is an integer")
    return labels.astype(np.int64)


def encode_labels(labels, mapping: dict) -> tuple[np.ndarray, np.ndarray]:
    """Return integers for labels, (n,) int64, and which rows are kept, (n,) bool.

    ``mapping`` maps the label as text to an integer. Its key "rest" means every other label. Its value "drop" means
    rows to leave out, whose integer is 0. Raise ``UserError`` for a missing label, and for a label that the map does
    not cover.
    """
    codes, printed = pd.factorize(np.asarray(labels), use_na_sentinel=False)
    names = [plain_label(label) for label in printed]
    named, targets = {notation_free(name): name for name in mapping if name != REST}, []
    for code, name in enumerate(names):
        if pd.isna(printed[code]) or (name not in mapping and name.lower() in NO_LABEL):
            ask = "if this is the name of a class, name it in the label map"
            raise UserError(f"row {(codes == code).argmax()} has no label ({str(printed[code])!r}); {ask}")
        if name not in mapping and REST in mapping and (same := named.get(notation_free(name))):
            what = f"it is {same!r} of the label map in another notation"
            raise UserError(f"the label {name!r} is not one of the {REST}: {what}; name it, too")
        targets.append(mapping.get(name, mapping.get(REST)))
    if unknown := sorted(name for name, target in zip(names, targets, strict=True) if target is None):
        raise UserError(f"labels has no entry for {', '.join(map(repr, unknown[:5]))}; it has {list(mapping)}: add it")
    keep = np.array([target != DROP for target in targets], dtype=bool)
    values = np.array([0 if target == DROP else target for target in targets], dtype=np.int64)
    return values[codes], keep[codes]


def notation_free(label: str) -> float | str:
    """Return a label as a number, or as text without differences of case and of Unicode's encodings."""
    try:
        return float(label)
    except ValueError:
        visible = "".join(letter for letter in label if unicodedata.category(letter) != "Cf")
        return unicodedata.normalize("NFKC", visible).casefold()


def plain_label(label) -> str:
    """Return a label as text, without blanks and one pair of quotes around it."""
    text = str(label).strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1].strip() if quoted else text


def parse_libsvm(paths: list[Path], task: dict):
    """Read LIBSVM text: ``label column:value ...``, columns from 1, absent ones are zero.

    A label is a number, exact to the last digit of float64; the label of a class is an integer.
    """
    # importing it takes as long as making a stand-in
    from sklearn.datasets import load_svmlight_file

    (path,) = paths
    with path.open("rb") as stream:  # Python reads 6_5 as 65, and scikit-learn 1.#QNAN as 1 with a comment
        for number, line in enumerate(stream, start=1):
            numbers, comment, _ = line.partition(b"#")
            if b"_" in numbers or (comment and numbers.strip() and not numbers[-1:].isspace()):
                shown = line[:80].decode("latin-1").strip()
                raise UserError(f"{path.name}: line {number} holds what is no number: {shown}")
    how = {"n_features": width(task), "dtype": np.float32, "zero_based": False, "multilabel": False}
    X, labels = load_svmlight_file(str(path), **how)
    if not len(labels):
        raise UserError(f"{path.name} has no rows")
    labels = labels if task.get("target") == "regression" else as_integers(labels, path)
    return without_dropped(X.toarray(), task), labels


def parse_table(paths: list[Path], task: dict):
    """Read text with one row per line, a separator between the cells, and the label in the first or the last cell."""
    return read_table(*paths, task, range(task.get("header_lines", 0)))


def parse_arff(paths: list[Path], task: dict):
    """Read Weka's ARFF with numeric attributes and the label as the last one: a table below the line ``@DATA``. Empty
    lines and those that begin with % are ignored.
    """
    (path,), skipped, in_data = paths, [], False
    # the header may have any encoding; its line @DATA is the same in all of them
    with path.open("rb") as stream:
        for number, line in enumerate(map(bytes.strip, stream)):
            if not in_data or not line or line.startswith(b"%"):
                skipped.append(number)
            in_data = in_data or line.upper() == b"@DATA"
    if not in_data:
        raise UserError(f"{path.name} has no line @DATA")
    return read_table(path, task, skipped)


def parse_named(paths: list[Path], task: dict):
    """Read a table of named columns, some of them texts, with missing cells (see ``named_table``).

    A column of texts becomes one column of 0 and 1 per text, in sorted order, all 0 where the cell is missing. A
    missing number becomes the median of its column, over all rows: parts are not known here.
    """
    table, labels = named_table(*paths, task)
    texts = task["columns"].get("categorical", [])
    numbers = table.drop(columns=texts).astype(np.float64)
    blocks = {name: pd.get_dummies(table[name]) for name in texts}
    blocks |= {name: column.fillna(column.median()) for name, column in numbers.items()}
    return np.column_stack([blocks[name] for name in table]).astype(np.float32), labels.to_numpy()


def named_table(path: Path, task: dict) -> tuple[pd.DataFrame, pd.Series]:
    """Return the columns in use, as texts with NaN for those cells that the task calls missing, and the labels; rows
    without a label are left out.

    The names of the columns are in the first line if there is a line of header, or the names of ARFF's attributes, or
    their numbers from 0.
    """
    given = task["columns"]
    text = path.read_text(encoding="utf-8-sig").replace(given.get("decimal", "."), ".")
    how = {"sep": task.get("separator", ","), "dtype": "str", "skipinitialspace": True, "keep_default_na": False}
    how |= {"na_values": given.get("missing", []), "header": 0 if task.get("header_lines") else None}
    names = re.findall(r"(?im)^@attribute\s+'?([^\s']+)", text)
    table = pd.read_csv(io.StringIO(re.split(r"(?im)^@data\s*$", text)[-1]), **how)
    table.columns = names or table.columns.astype(str)
    table = table.drop(index=given.get("dropped_rows", [])).dropna(subset=[given["target"]])
    labels = table.pop(given["target"])
    return table.drop(columns=given.get("dropped", [])), labels


def parse_idx(paths: list[Path], task: dict):
    """Read MNIST's IDX: a file of images (n, rows, columns) and a file of labels (n,), all bytes."""
    images, labels = (read_idx(path) for path in paths)
    if len(images) != len(labels):
        raise UserError(f"{paths[0].name} has {len(images)} images, {paths[1].name} has {len(labels)} labels")
    if labels.ndim != 1 or not len(labels):
        raise UserError(f"{paths[1].name} must hold one label a row, it has the shape {labels.shape}")
    X = images.reshape(len(images), -1)
    if X.shape[1] != task["d"]:
        raise UserError(f"{paths[0].name} has {X.shape[1]} pixels an image, not {task['d']}")
    return X, labels


def parse_pair(paths: list[Path], task: dict):
    """Read a file of features, one row per line with blanks between the cells, and a file of as many lines with the
    labels.
    """
    X, labels = read_lines(paths[0], "float32", NO_NUMBER), read_lines(paths[1], "str", [])
    if X.shape[1] != width(task) or labels.shape[1] != 1:
        found = f"{paths[0].name} has {X.shape[1]} columns and {paths[1].name} {labels.shape[1]}"
        raise UserError(f"{found}, not {width(task)} and 1")
    if len(X) != len(labels):
        raise UserError(f"{paths[0].name} has {len(X)} rows, {paths[1].name} has {len(labels)} labels")
    return without_dropped(X, task), labels[:, 0]


def read_lines(path: Path, dtype: str, missing: list[str]) -> np.ndarray:
    """Return the cells of a file with blanks between them (n, columns), NaN for those that mark a ``missing`` number.

    Blank lines at the end are ignored.

    Raise ``UserError`` for a blank line between the rows, which would correspond to a row of another file.
    """
    lines = path.read_bytes().rstrip().splitlines() or [b""]
    if blank := next((number for number, line in enumerate(lines, start=1) if not line.strip()), None):
        raise UserError(f"{path.name}: line {blank} is blank: remove it and the line of its row in the other file")
    return pd.read_csv(path, sep=r"\s+", dtype=dtype, na_values=missing, **AS_PRINTED).to_numpy()


def parse_cifar(paths: list[Path], task: dict):
    """Read CIFAR's binary files, one after the other: a byte for the label, then the pixels in red, in green and in
    blue.

    Columns are red, green and blue of each pixel, as images are read elsewhere.
    """
    if task["d"] % 3:
        raise UserError(f"the parser cifar reads images in three colours, which have no {task['d']} numbers")
    records = [np.frombuffer(path.read_bytes(), dtype=np.uint8) for path in paths]
    for path, record in zip(paths, records, strict=True):
        if len(record) % (task["d"] + 1):
            raise UserError(f"{path.name} has {len(record)} bytes, which are no whole number of images and labels")
    rows = np.concatenate(records).reshape(-1, task["d"] + 1)
    planes = rows[:, 1:].reshape(len(rows), 3, -1)
    return planes.transpose(0, 2, 1).reshape(len(rows), -1), rows[:, 0]


def read_table(path: Path, task: dict, skipped: Sequence[int]):
    """Return the features (float32) and labels (text) of a delimited file. Lines are skipped by their numbers from 0.
    Dropped columns may hold anything.
    """
    n_columns = width(task) + 1
    label_column = 0 if task.get("label_column") == "first" else n_columns - 1
    dropped = [number - 1 for number in task.get("drop_columns", [])]
    kept = [column for column in range(n_columns) if column != label_column and column not in dropped]
    types = dict.fromkeys(range(n_columns), "str") | dict.fromkeys(kept, "float32")
    separator = task.get("separator", ",")
    check_separator(path, separator, skipped)
    missing = dict.fromkeys(kept, NO_NUMBER) | {label_column: [""]}  # a class may be called NA
    how = {"sep": separator, "skiprows": skipped, "skipinitialspace": True, "dtype": types, "na_values": missing}
    table = pd.read_csv(path, **how, **AS_PRINTED)
    if table.shape[1] != n_columns:
        raise UserError(f"{path.name} has {table.shape[1]} columns, not {n_columns - 1} and a label: correct d")
    labels = table[label_column]
    if labels.isna().any():
        raise UserError(f"{path.name} has {int(labels.isna().sum())} rows without a label")
    return np.ascontiguousarray(table[kept].to_numpy(dtype=np.float32)), labels.to_numpy()


def check_separator(path: Path, separator: str, skipped: Sequence[int]) -> None:
    """Raise ``UserError`` if the first row of a table has no separator, but another character that often is one."""
    with path.open("rb") as stream:
        rows = (line for number, line in enumerate(stream) if number not in skipped and line.strip())
        first = next(rows, b"").decode("latin-1").strip()
    others = {"a tab": "\t", "a comma": ",", "a semicolon": ";", "blanks": " "}
    found = next((name for name, other in others.items() if other != separator and other in first), "")
    if len(separator) == 1 and separator not in first and found:
        raise UserError(f"{path.name}: no {separator!r} in its first row, but {found}: state the task's separator")


def width(task: dict) -> int:
    """Return the number of columns of a task's files without the column of the labels: its own, and those that it
    drops."""
    return task["d"] + len(task.get("drop_columns", []))


def without_dropped(X: np.ndarray, task: dict) -> np.ndarray:
    """Return X without the columns that the task drops, which are numbered from 1."""
    return np.delete(X, [number - 1 for number in task.get("drop_columns", [])], axis=1)


def read_idx(path: Path) -> np.ndarray:
    """Return an array of bytes in the IDX format. Raise ``UserError`` for another type or a file that is cut off."""
    content = path.read_bytes()
    n_axes = content[3] if len(content) > 3 else 0
    if content[:3] != b"\x00\x00\x08" or not n_axes:
        raise UserError(f"{path.name} is no IDX file of unsigned bytes")
    shape = tuple(np.frombuffer(content[4 : 4 + 4 * n_axes].ljust(4 * n_axes, b"\xff"), dtype=">i4").tolist())
    if min(shape) < 0 or len(content) != 4 + 4 * n_axes + math.prod(shape):
        raise UserError(f"{path.name} has {len(content)} bytes, which does not fit its shape {shape}")
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_axes).reshape(shape)
