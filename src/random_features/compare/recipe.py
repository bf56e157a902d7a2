"""From a file to a score: read it, split its rows, encode its columns, fit a model and score it.

``best.py`` holds a copy of this module, so that it repeats what ``compare`` did. It imports no other part of the study.
"""

import bz2
import gzip
import hashlib
import io
import lzma
import re
import sys
import zipfile
from functools import lru_cache, partial
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from scipy.io import arff
from scipy.sparse import issparse
from sklearn import dummy, ensemble, linear_model
from sklearn import model_selection as selection
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_svmlight_file
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler

from random_features import make_map
from random_features.kernels import Gaussian
from random_features.machines import KernelMachineClassifier, KernelMachineRegressor

#: Rows below which the recommendation is cross-validated, and the folds.
FEW_ROWS, FEW_FOLDS = 1000, 5

#: The share of the test part, and its largest number of rows.
TEST_SHARE, MOST_TEST_ROWS = 0.2, 20_000

#: The columns from which LIBSVM data stay sparse, and the share of stored numbers below which they do.
SPARSE_COLUMNS, SPARSE_SHARE = 500, 0.1

#: The largest number of a column that counts, that of float32, and of a target, whose square is taken.
MOST, MOST_OF_TARGET = 3.4e38, 1e150

#: The most frequent categories of a column that have a column of their own.
CATEGORIES = 30

#: The first bytes of compressed files, and how they are opened; those of a .zip archive.
COMPRESSED = {rb"\x1f\x8b": gzip.open, rb"BZh[1-9]1AY&SY": bz2.open, rb"\xfd7zXZ": lzma.open}
ZIP = b"PK\x03\x04"

#: The most bytes of a table or of an unpacked file, and the most columns of LIBSVM data.
MOST_BYTES, MOST_COLUMNS = 2**31, 10_000_000

# --- reading ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def content(path) -> bytes:
    """Return the bytes of a file, unpacked if it is compressed; of a .zip archive those of its only member."""
    found = Path(path).read_bytes()
    for start, opened in COMPRESSED.items():
        if re.match(start, found):
            return unpacked(opened(io.BytesIO(found)))
    if found.startswith(ZIP):
        archive = zipfile.ZipFile(io.BytesIO(found))
        names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
        if not any(name.endswith(".npy") for name in names):
            if len(names) != 1:
                raise ValueError(f"the archive has {', '.join(names[:10]) or 'no file'}; unpack the table")
            return unpacked(archive.open(names[0]))
    return found


def unpacked(stream) -> bytes:
    """Return what a compressed stream holds. Raise ``ValueError`` above ``MOST_BYTES``."""
    found = bytearray()
    while chunk := stream.read(2**20):
        found += chunk
        if len(found) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES:,} bytes; unpack it yourself")
    return bytes(found)


def read(path, how):
    """Return the table of a file, a frame or a csr matrix, and its labels where they are apart from the table (else
    None). ``how`` has the format and the options of its reader.
    """
    stream, options = io.BytesIO(content(path)), how["options"]
    if how["format"] == "LIBSVM":
        X, y = load_svmlight_file(stream, dtype=np.float32)
        if X.shape[1] > MOST_COLUMNS:
            raise ValueError(f"it has a column {X.shape[1]:,}; number them anew, up to {MOST_COLUMNS:,}")
        stays = X.shape[1] > SPARSE_COLUMNS and X.nnz < SPARSE_SHARE * np.prod(X.shape)
        if stays and not np.isfinite(X.data).all():
            raise ValueError(f"it has a number that is missing or above {MOST:g}; drop or rescale its column")
        return (X, y) if stays else (pd.DataFrame(X.toarray()).rename(columns="f{}".format).assign(label=y), None)
    if how["format"] == "text":
        frame = pd.read_csv(stream, **options)
    elif how["format"] == "Parquet":
        frame = read_parquet(stream)
    elif how["format"] == "ARFF":
        frame = pd.DataFrame(arff.loadarff(io.StringIO(stream.getvalue().decode(**options)))[0])
        for name in frame.columns[[kind.kind == "O" for kind in frame.dtypes]]:
            frame[name] = frame[name].str.decode("utf-8").replace("?", None)
    else:
        frame = read_arrays(stream)
    frame.columns = frame.columns.astype(str)
    return frame.copy(), None  # in one piece: thousands of columns apart are slow to take rows of


def read_parquet(stream):
    """Return the table of a Parquet file, with the names of its index as columns, and numbers and dates as such."""
    from pyarrow import parquet

    about = parquet.read_metadata(stream)
    stored = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    check_bytes(max(stored, 8 * about.num_rows * about.num_columns))
    frame = pd.read_parquet(stream)
    if named := [name for name in frame.index.names if name is not None]:
        frame = frame.reset_index(named)
    for name, column in frame.items():
        if pd.api.types.infer_dtype(column, skipna=True) == "decimal":
            frame[name] = column.astype(np.float64)
        elif isinstance(column.dtype, pd.PeriodDtype):
            frame[name] = column.dt.to_timestamp()
    return frame


def read_arrays(stream):
    """Return the table of an ``.npz``: a column for each vector, and for each column of an array."""
    check_bytes(sum(member.file_size for member in zipfile.ZipFile(stream).infolist()))
    with np.load(stream, allow_pickle=False) as arrays:
        columns = [
            (name if values.ndim == 1 else f"{name}{j + 1}", column)
            for name, values in ((name, arrays[name]) for name in arrays.files)
            for j, column in enumerate(values.reshape(len(values), -1).T)
        ]
    if found := [name for name, column in columns if column.dtype.kind == "c"]:
        raise ValueError(f"{found[0]} has complex numbers; save their real and imaginary parts")
    frame = pd.DataFrame({j: column for j, (_, column) in enumerate(columns)})
    frame.columns = [name for name, _ in columns]
    return frame


def check_bytes(number):
    """Raise ``ValueError`` for a table of more than ``MOST_BYTES``."""
    if number > MOST_BYTES:
        raise ValueError(f"its columns have more than {MOST_BYTES:,} bytes; save fewer rows or columns")


def question(path, settings, found=None):
    """Return the table, the targets y (n,) and the groups and times of the rows (or None), without rows left out.

    Classes are numbered in the order of ``settings["classes"]``. Rows are sorted by time where one is named. ``found``
    is what was read already.
    """
    table, labels = found or read(path, settings["how"])
    y = pd.Series(np.asarray(table[settings["target"]] if labels is None else labels))
    if settings["task"] == "classes":
        y = as_labels(y).map({name: code for code, name in enumerate(settings["classes"])})
    y = pd.to_numeric(y, errors="coerce").to_numpy(np.float64)
    rows = np.flatnonzero(np.isfinite(y))
    if settings["time"]:
        rows = rows[np.argsort(as_times(table[settings["time"]]).to_numpy()[rows], kind="stable")]
    groups = table[settings["group"]].astype(str).to_numpy()[rows] if settings["group"] else None
    table = table[rows] if issparse(table) else table.iloc[rows].reset_index(drop=True)
    y = y[rows].astype(int) if settings["task"] == "classes" else y[rows]
    return table, y, groups


def as_labels(column):
    """Return labels as text: whole numbers without a decimal point, missing ones as None."""
    if column.dtype.kind == "f" and (column.dropna() % 1 == 0).all() and column.abs().max() < 2**63:
        column = column.astype("Int64")
    return column.astype(object).where(column.notna(), None).map(lambda label: None if label is None else str(label))


def as_times(column):
    """Return a column as numbers that order the rows: dates as seconds."""
    if column.dtype.kind in "iuf":
        return column.astype(np.float64)
    dates = pd.to_datetime(column, errors="coerce", utc=True, format="mixed")
    return (dates - pd.Timestamp(0, tz="UTC").as_unit("s")).dt.total_seconds()


# --- columns ----------------------------------------------------------------------------------------------------------


def date_parts(frame):
    """Return columns of numbers for each column of dates: seconds, month, day of the week, hour."""
    parts = []
    for name in frame.columns:
        dates = pd.to_datetime(frame[name], errors="coerce", utc=True, format="mixed")
        parts += [as_times(frame[name]), dates.dt.month, dates.dt.day_of_week, dates.dt.hour]
    return np.column_stack(parts).astype(np.float64)


def as_text(frame):
    """Return columns of categories as text, with a missing value as a category of its own."""
    return frame.astype(object).where(frame.notna(), "missing").astype(str)


def as_numbers(frame):
    """Return columns of numbers and truth values as an array in float64, with NaN for missing and too large ones."""
    values = frame.to_numpy(np.float64, na_value=np.nan)
    return np.where(np.abs(values) <= MOST, values, np.nan)


def positions(names, frame):
    """Return the positions of columns. scikit-learn takes quadratic time to look up their names."""
    return np.flatnonzero(frame.columns.isin(names))


def encoder(columns):
    """Return a transformer of the table into float32 columns; ``columns`` has the names of each kind, or is None for a
    sparse table.
    """
    if columns is None:
        return MaxAbsScaler()
    scaled = [SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler()]
    categories = OneHotEncoder(
        max_categories=CATEGORIES, handle_unknown="infrequent_if_exist", sparse_output=False, dtype=np.float32
    )
    steps = {"numbers": (as_numbers, *scaled), "dates": (date_parts, *scaled), "categories": (as_text, categories)}
    kinds = [
        (kind, make_pipeline(FunctionTransformer(first), *others), partial(positions, columns[kind]))
        for kind, (first, *others) in steps.items()
    ]
    return make_pipeline(ColumnTransformer(kinds), FunctionTransformer(np.asarray, kw_args={"dtype": np.float32}))


# --- splits, models and scores ----------------------------------------------------------------------------------------


def split(y, groups, task, in_time, *, share=None, folds=None):
    """Return pairs of training and test rows: one with a ``share`` of the rows for tests, or one for each of ``folds``.

    Classes are stratified, groups kept together. Rows ``in_time`` are tested on what follows the training rows.
    """
    rows, n_test = np.arange(len(y)), None if folds else min(MOST_TEST_ROWS, int(share * len(y)))
    if in_time:
        cuts = list(selection.TimeSeriesSplit(folds or 2, test_size=n_test).split(rows))
        return cuts if folds else cuts[-1:]
    if folds:
        by_class = selection.StratifiedKFold if task == "classes" else selection.KFold
        cut = selection.GroupKFold(folds) if groups is not None else by_class(folds, shuffle=True, random_state=0)
    elif groups is not None:
        cut = selection.GroupShuffleSplit(1, test_size=share, random_state=0)
    else:
        by_class = selection.StratifiedShuffleSplit if task == "classes" else selection.ShuffleSplit
        cut = by_class(1, test_size=n_test, random_state=0)
    return list(cut.split(rows, y, groups))


def final_parts(y, groups, task, in_time):
    """Return the pairs of training and test rows of the final score: one, or one for each fold of few rows."""
    if len(y) < FEW_ROWS:
        return split(y, groups, task, in_time, folds=FEW_FOLDS)
    ((train, test),) = split(y, groups, task, in_time, share=TEST_SHARE)
    return [(train, test[:MOST_TEST_ROWS])]


def sample(rows, n):
    """Return at most n of the rows, drawn at random with a fixed seed."""
    return rows if n is None or len(rows) <= n else np.sort(np.random.default_rng(0).permutation(rows)[:n])


def model(name, settings, task):
    """Return the unfitted predictor of a contestant: a baseline, "exact-kernel", or the name of a map."""
    classes = task == "classes"
    if name == "guess":
        return dummy.DummyClassifier() if classes else dummy.DummyRegressor()
    if name == "linear" and classes:
        return linear_model.LogisticRegression(C=1 / settings["penalty"], max_iter=200, tol=1e-3)
    if name == "linear":
        return linear_model.Ridge(settings["penalty"])
    if name == "boosting":
        trees = ensemble.HistGradientBoostingClassifier if classes else ensemble.HistGradientBoostingRegressor
        return trees(**{"max_iter": 300, "early_stopping": True, "random_state": 0} | settings)
    kernel = features = Gaussian(settings["length_scale"])
    if name != "exact-kernel":
        features = make_map(name, kernel, n_components=settings["n_components"], random_state=0, **settings["options"])
    machine = KernelMachineClassifier if classes else KernelMachineRegressor
    return machine(features, penalties=settings["penalties"])


def losses(predicted, y, task):
    """Return the loss of every row: 1 for a wrong class, else 0; the squared error of a number."""
    return np.asarray(predicted != y if task == "classes" else (predicted - y) ** 2, dtype=np.float64)


def score(values, task):
    """Return the score of losses: the error in percent, or the root of the mean squared error."""
    return 100 * values.mean() if task == "classes" else np.sqrt(values.mean())


def part_losses(table, y, train, test, settings, name, chosen, most_rows=None):
    """Return the losses of test rows under a pipeline that is fitted to (at most ``most_rows``) training rows."""
    pipeline = fitted(table, y, sample(train, most_rows), settings, name, chosen)
    return losses(pipeline.predict(rows_of(table, test)), y[test], settings["task"])


def fitted(table, y, rows, settings, name, chosen):
    """Return the pipeline of a contestant, fitted to rows. A penalty at which these rows have no solution, because it
    was chosen on others, grows tenfold.
    """
    pipeline = make_pipeline(encoder(settings["columns"]), model(name, chosen, settings["task"]))
    try:
        return pipeline.fit(rows_of(table, rows), y[rows])
    except np.linalg.LinAlgError:
        if "penalties" not in chosen:
            raise
    return fitted(table, y, rows, settings, name, chosen | {"penalties": [10 * each for each in chosen["penalties"]]})


def final_losses(table, y, groups, settings, name, chosen, most_rows=None):
    """Return the losses of all rows of the test parts."""
    parts, how = final_parts(y, groups, settings["task"], bool(settings["time"])), (settings, name, chosen, most_rows)
    return np.concatenate([part_losses(table, y, *rows, *how) for rows in parts])


def rows_of(table, rows):
    """Return rows of a frame or of a csr matrix."""
    return table[rows] if issparse(table) else table.iloc[rows]


def repeat(file, settings, name, chosen, most_rows):
    """Print the test score of a pipeline; with the argument ``--all-rows`` fit it to all rows and write best.joblib.

    Predictions of a classifier are positions in ``settings["classes"]``.
    """
    if hashlib.sha256(content(file)).hexdigest() != settings["sha256"]:
        sys.exit(f"{file}: was changed since the comparison; compare it again")
    table, y, groups = question(file, settings)
    if "--all-rows" in sys.argv:
        rows = sample(np.arange(len(y)), most_rows)
        joblib.dump(fitted(table, y, rows, settings, name, chosen), "best.joblib")
        print(f"best.joblib: {name}, fitted to {len(rows)} rows; load it with joblib where best.py can be imported")
    else:
        found = final_losses(table, y, groups, settings, name, chosen, most_rows)
        print(f"test score: {score(found, settings['task']):.4g} on {len(found)} rows")
