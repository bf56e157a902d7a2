"""From a table to a score: choose its rows, encode its columns, fit a model and score it. ``best.py`` repeats this."""

import hashlib
import sys
from functools import partial

import joblib
import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn import dummy, ensemble, linear_model, metrics
from sklearn import model_selection as selection
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler

from random_features import __version__, make_map
from random_features.compare import reading
from random_features.compare.columns import LARGEST_EXACT, converted
from random_features.kernels import Gaussian
from random_features.machines import KernelMachineClassifier, KernelMachineRegressor

#: The share of the test part, and its largest number of rows.
TEST_SHARE, MOST_TEST_ROWS = 0.2, 20_000

#: The most frequent categories of a column that have a column of their own.
CATEGORIES = 30

#: The scale of the month, the day of the week and the hour of a date.
CALENDAR = 0.3

#: Trees of boosting, and rounds without a gain after which it stops: it stops long before the last tree.
BOOSTING = {"max_iter": 5000, "early_stopping": True, "n_iter_no_change": 20, "random_state": 0}

#: Metrics of classes and of numbers, the first by default; less is better for the losses of each.
METRICS = {
    "classes": ("error", "balanced-error", "log-loss", "auc", "average-precision"), "regression": ("rmse", "mae"),
}  # fmt: skip

# --- rows -------------------------------------------------------------------------------------------------------------


def typed(table, formats):
    """Return a frame whose columns of texts have the meaning of their formats; a sparse table stays."""
    if issparse(table):
        return table
    found = table.copy(deep=False)
    for name, how in formats.items():
        if name in found:
            found[name] = converted(found[name], how)
    for name, column in found.items():
        if column.dtype.kind in "iu" and len(column) and max(abs(int(column.min())), int(column.max())) > LARGEST_EXACT:
            found[name] = column.astype(str)
    return found


def question(raw, settings, table=None):
    """Return the table, the targets y (n,), the groups or None, and the numbers of rows left out by their reasons.

    Classes are numbered in the order of ``settings["classes"]``. Rows are sorted by time where one is named. The typed
    ``table`` may be there already.
    """
    table = typed(raw.table, settings["formats"]) if table is None else table
    y = as_classes(target_of(table, raw, settings["target"]))
    if settings["task"] == "classes":
        y = y.map({name: code for code, name in enumerate(settings["classes"])})
    y = pd.to_numeric(y, errors="coerce").to_numpy(np.float64)
    keep, left_out = np.isfinite(y), {"no target, or a class of few rows": int((~np.isfinite(y)).sum())}
    for key in ("group", "time"):
        if settings[key]:
            known = table[settings[key]].notna().to_numpy()
            left_out[f"no {key}"] = int((keep & ~known).sum())
            keep &= known
    rows = np.flatnonzero(keep)
    if settings["time"]:
        rows = rows[np.argsort(as_times(table[settings["time"]]).to_numpy()[rows], kind="stable")]
    groups = table[settings["group"]].astype(str).to_numpy()[rows] if settings["group"] else None
    table = table[rows] if issparse(table) else table.iloc[rows].reset_index(drop=True)
    return table, y[rows].astype(int) if settings["task"] == "classes" else y[rows], groups, left_out


def target_of(table, raw, target) -> pd.Series:
    """Return the target: a column of the table, the labels of LIBSVM, or a column of a sparse matrix."""
    if not issparse(table):
        return table[target]
    return pd.Series(raw.labels if target == "label" else table[:, [int(target[1:])]].toarray().ravel())


def as_classes(column: pd.Series) -> pd.Series:
    """Return labels: whole numbers as integers, so that 1 and 1.0 are one class; others stay."""
    if column.dtype.kind == "f" and (column.dropna() % 1 == 0).all() and column.abs().max() < 2**53:
        return column.astype("Int64").astype(object).where(column.notna(), None)
    return column


def as_times(column):
    """Return a column as numbers that order the rows: dates and durations as seconds."""
    if column.dtype.kind in "mM" or hasattr(column.dtype, "tz"):
        start = pd.Timedelta(0) if column.dtype.kind == "m" else pd.Timestamp(0, tz=getattr(column.dtype, "tz", None))
        return (column - start).dt.total_seconds()
    return pd.to_numeric(column, errors="coerce").astype(np.float64)


def split(y, groups, task, in_time, *, share=None, folds=None):
    """Return pairs of training and test rows: one with a ``share`` of the rows for tests, or one for each of ``folds``.

    Classes are stratified, groups kept together. Rows ``in_time`` are tested on what follows the training rows; then a
    group is where its last row is.
    """
    rows, n_test = np.arange(len(y)), None if folds else min(MOST_TEST_ROWS, int(share * len(y)))
    if in_time:
        last = rows if groups is None else pd.Series(rows).groupby(groups).transform("max").to_numpy()
        order = np.argsort(last, kind="stable")
        ends = last[order]
        cuts = list(selection.TimeSeriesSplit(folds or 2, test_size=n_test).split(rows))
        bounds = [np.searchsorted(ends, ends[[held[0], held[-1]]]) for _, held in (cuts if folds else cuts[-1:])]
        return [(np.sort(order[:a]), np.sort(order[a : b + 1 if groups is None else len(y)])) for a, b in bounds if a]
    if groups is not None:
        by = selection.StratifiedGroupKFold if task == "classes" else selection.GroupKFold
        cuts = list(by(folds or round(1 / share), shuffle=True, random_state=0).split(rows, y, groups))
        return cuts if folds else cuts[:1]
    if folds:
        by_class = selection.StratifiedKFold if task == "classes" else selection.KFold
        return list(by_class(folds, shuffle=True, random_state=0).split(rows, y))
    by_class = selection.StratifiedShuffleSplit if task == "classes" else selection.ShuffleSplit
    return list(by_class(1, test_size=n_test, random_state=0).split(rows, y))


def sample(rows, n):
    """Return at most n of the rows, drawn at random with a fixed seed."""
    return rows if n is None or len(rows) <= n else np.sort(np.random.default_rng(0).permutation(rows)[:n])


def rows_of(table, rows):
    """Return rows of a frame or of a csr matrix."""
    return table[rows] if issparse(table) else table.iloc[rows]


# --- columns ----------------------------------------------------------------------------------------------------------


def date_parts(frame):
    """Return columns of numbers for each column of dates: seconds, month, day of the week, hour."""
    parts = []
    for name in frame.columns:
        dates = pd.to_datetime(frame[name], utc=True)
        parts += [as_times(dates), dates.dt.month, dates.dt.day_of_week, dates.dt.hour]
    return np.column_stack(parts).astype(np.float64)


def shrunk(X):
    """Return parts of dates, of which month, day of the week and hour count less than the date: in many tables they
    have no effect, and each column without one costs a kernel accuracy.
    """
    return X * np.where(np.arange(X.shape[1]) % 4 == 0, 1.0, CALENDAR)


def as_text(frame):
    """Return columns of categories as text, with a missing value as a category of its own."""
    return frame.astype(object).where(frame.notna(), "missing").astype(str)


def as_numbers(frame):
    """Return columns of numbers and truth values as an array in float64, with NaN for missing and too large ones."""
    frame = frame.apply(lambda column: column.dt.total_seconds() if column.dtype.kind == "m" else column)
    values = frame.to_numpy(np.float64, na_value=np.nan)
    return np.where(np.abs(values) <= reading.MOST, values, np.nan)


def positions(names, frame):
    """Return the positions of columns. scikit-learn takes quadratic time to look up their names."""
    return np.flatnonzero(frame.columns.isin(names))


def encoder(columns):
    """Return a transformer of the table into float32 columns; ``columns`` has the names of each kind, or is None for a
    sparse table.
    """
    if columns is None:
        return MaxAbsScaler()
    # scaled before it is filled: a standardised indicator of few missing cells would be far from all other rows
    scaled = [StandardScaler(), SimpleImputer(add_indicator=True, keep_empty_features=True)]
    categories = OneHotEncoder(
        max_categories=CATEGORIES, handle_unknown="infrequent_if_exist", sparse_output=False, dtype=np.float32
    )
    parts = [*scaled, FunctionTransformer(shrunk)]
    steps = {"numbers": (as_numbers, *scaled), "dates": (date_parts, *parts), "categories": (as_text, categories)}
    kinds = [
        (kind, make_pipeline(FunctionTransformer(first), *others), partial(positions, columns[kind]))
        for kind, (first, *others) in steps.items()
    ]
    return make_pipeline(ColumnTransformer(kinds), FunctionTransformer(np.asarray, kw_args={"dtype": np.float32}))


# --- models and scores ------------------------------------------------------------------------------------------------


def model(name, settings, task):
    """Return the unfitted predictor of a contestant: a baseline, "exact-kernel", or the name of a map."""
    classes = task == "classes"
    if name == "guess":
        return dummy.DummyClassifier(strategy="prior") if classes else dummy.DummyRegressor()
    if name == "linear" and classes:
        return linear_model.LogisticRegression(
            C=1 / settings["penalty"], class_weight=settings.get("class_weight"), max_iter=200, tol=1e-3
        )
    if name == "linear":
        return linear_model.Ridge(settings["penalty"])
    if name == "boosting":
        trees = ensemble.HistGradientBoostingClassifier if classes else ensemble.HistGradientBoostingRegressor
        return trees(**(BOOSTING | settings))
    kernel = features = Gaussian(settings["length_scale"])
    if name != "exact-kernel":
        features = make_map(name, kernel, n_components=settings["n_components"], random_state=0, **settings["options"])
    if not classes:
        return KernelMachineRegressor(features, penalties=settings["penalties"])
    # the fewest errors would choose penalties at which rare classes are never predicted
    how = {"scoring": "squared_error", "class_weight": settings.get("class_weight")}
    return KernelMachineClassifier(features, penalties=settings["penalties"], **how)


def predicted(fitted, X, task):
    """Return predictions (n,) of numbers, or probabilities (n, classes); decision values count as -1 and +1."""
    if task != "classes":
        return fitted.predict(X)
    if hasattr(fitted, "predict_proba"):
        return fitted.predict_proba(X)
    decision = fitted.decision_function(X)
    P = np.clip((np.column_stack([-decision, decision]) if decision.ndim == 1 else decision) / 2 + 0.5, 1e-6, 1)
    return P / P.sum(axis=1, keepdims=True)


def losses(P, y, metric):
    """Return the loss of every row under a metric; their mean is the error, and for auc and average-precision one minus
    the score. ``search`` is the loss of tuning: the squared error, of classes that of their probabilities.
    """
    if P.ndim == 1:
        return np.abs(P - y) if metric == "mae" else (P - y) ** 2
    n, k = P.shape
    if metric == "search":
        return ((P - np.eye(k)[y]) ** 2).sum(axis=1)
    if metric == "log-loss":
        return -np.log(np.clip(P[np.arange(n), y], 1e-9, 1))
    counts = np.bincount(y, minlength=k)
    if metric in ("error", "balanced-error"):
        return (P.argmax(axis=1) != y) * (1.0 if metric == "error" else n / (counts > 0).sum() / counts[y])
    ties = "average" if metric == "auc" else "min"
    rank, among = pd.Series(P[:, 1]).rank(method=ties).to_numpy(), np.empty(n)
    for each in (0, 1):
        among[y == each] = pd.Series(P[y == each, 1]).rank(method=ties)
    others = (rank - among) / counts[1 - y]  # of the other class: the share with a lower score
    if metric == "auc":
        return np.where(y == 1, 1 - others, others) * n / 2 / counts[y]
    above, positive = n - rank + 1, counts[1] - among + 1
    return np.where(y == 1, 1 - positive / above, 0) * n / max(1, counts[1])


def score(values, metric):
    """Return the score of the mean of losses: an error in percent, a root mean squared error, or a share."""
    mean = np.mean(values)
    if metric in ("auc", "average-precision"):
        return 1 - mean
    return np.sqrt(mean) if metric == "rmse" else 100 * mean if metric.endswith("error") else mean


def more_scores(P, y):
    """Return scores of two classes or more of unequal size: balanced accuracy, and of two AUC and average precision."""
    found = {"balanced accuracy": metrics.balanced_accuracy_score(y, P.argmax(axis=1))}
    if P.shape[1] == 2:
        found |= {"AUC": metrics.roc_auc_score(y, P[:, 1])}
        found |= {"average precision": metrics.average_precision_score(y, P[:, 1])}
    return found


def final_parts(y, groups, task, in_time):
    """Return the training and the test rows of the final score."""
    train, test = split(y, groups, task, in_time, share=TEST_SHARE)[0]
    return train, sample(test, MOST_TEST_ROWS)


def fitted(table, labels, settings, name, chosen):
    """Return the pipeline of a contestant, fitted to all rows of a table. A penalty at which these rows have no
    solution, because it was chosen on others, grows tenfold.
    """
    first = FunctionTransformer(typed, kw_args={"formats": settings["formats"]})
    pipeline = make_pipeline(first, encoder(settings["columns"]), model(name, chosen, settings["task"]))
    try:
        return pipeline.fit(table, labels)
    except np.linalg.LinAlgError:
        if "penalties" not in chosen:
            raise
    return fitted(table, labels, settings, name, chosen | {"penalties": [10 * each for each in chosen["penalties"]]})


def labels_of(y, settings):
    """Return the labels of the numbers of classes, or numbers as they are."""
    return y if settings["classes"] is None else np.array(settings["classes"])[y]


def repeat(file, settings, name, chosen, most_rows, version):
    """Print the test score of a pipeline; with ``--all-rows`` fit it to all rows and write best.joblib. Its ``predict``
    takes a frame with the columns of the file, as texts or as pandas reads them, and returns labels or numbers.
    """
    if version != __version__:
        print(f"warning: this is random_features {__version__}; the comparison had {version}", file=sys.stderr)
    if hashlib.sha256(reading.content(file)).hexdigest() != settings["sha256"]:
        sys.exit(f"{file}: was changed since the comparison; compare it again")
    table, y, groups, _ = question(reading.read(file, settings["asked"]), settings)
    if "--all-rows" in sys.argv:
        rows = sample(np.arange(len(y)), most_rows)
        best = fitted(rows_of(table, rows), labels_of(y[rows], settings), settings, name, chosen)
        joblib.dump(best, "best.joblib")
        print(f"best.joblib: {name}, fitted to {len(rows):,} rows")
        return
    train, test = final_parts(y, groups, settings["task"], bool(settings["time"]))
    train = sample(train, most_rows)
    best = fitted(rows_of(table, train), y[train], settings, name, chosen)
    values = losses(predicted(best, rows_of(table, test), settings["task"]), y[test], settings["metric"])
    print(f"test score: {score(values, settings['metric']):.4g} on {len(test)} rows")
