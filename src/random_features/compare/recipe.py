"""From a table to a score: choose its rows, encode its columns, fit a model and score it. ``best.py`` repeats this."""

import sys
import warnings
from functools import partial
from operator import methodcaller
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from scipy.linalg import LinAlgWarning
from scipy.sparse import issparse
from sklearn import dummy, ensemble, linear_model
from sklearn import model_selection as selection
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler, TargetEncoder

from random_features import __version__, make_map
from random_features.arrays import dense
from random_features.compare import reading
from random_features.compare.columns import LARGEST_EXACT, PLAIN, converted, texts_by_value
from random_features.compare.contestants import has_kernel
from random_features.errors import UserError
from random_features.kernels import Gaussian
from random_features.length_scales import median_distance, relevance
from random_features.machines import KernelMachineClassifier, KernelMachineRegressor

#: The share of the test part, and its largest number of rows.
TEST_SHARE, MOST_TEST_ROWS = 0.2, 20_000

#: The kinds of columns, and the most columns of one with categories. The last one is for all rarer categories.
KINDS, CATEGORIES = ("numbers", "dates", "categories"), 30

#: What cells hold that no contestant takes.
MANY = "lists, structures or bytes"

#: A training row has the mean of its category on the other folds. scikit-learn 1.9 takes folds in place of their seed.
FOLDS_OF_MEANS = {"cv": selection.KFold(5, shuffle=True, random_state=0)}
if TargetEncoder().get_params().get("shuffle") is True:
    FOLDS_OF_MEANS = {"random_state": 0}

#: Quartile ranges from the median up to which a value counts for the mean and the deviation of its column, 27 standard
#: deviations of normal values: a spike would shrink the column to nothing.
SPIKE = 20

#: Rows that find the length scales of columns: more do not find better ones, and take much longer.
RELEVANCE_ROWS = 500

#: Trees of boosting, and rounds without a gain after which it stops: it stops long before the last tree.
BOOSTING = {"max_iter": 5000, "early_stopping": True, "n_iter_no_change": 20, "random_state": 0}

#: Metrics of classes and of numbers, the first by default; less is better for the losses of each.
OF_CLASSES = ("error", "balanced-error", "log-loss", "auc", "average-precision")
METRICS = {"classes": OF_CLASSES, "regression": ("rmse", "mae")}

#: Those that count the classes alike: for two classes, and for more; those that rank rows and need both classes.
RARE, RANKED = (OF_CLASSES[1:], OF_CLASSES[1:2]), OF_CLASSES[3:]

# --- rows -------------------------------------------------------------------------------------------------------------


def typed(table, formats, missing=(), known=None):
    """Return a frame whose columns have the meaning of their formats, which its ``attrs`` note; a sparse table stays.
    ``missing`` and ``known``, by columns, are as for ``converted``.
    """
    if issparse(table):
        return table
    found = pd.DataFrame({
        name: converted(column, formats[name], missing, (known or {}).get(name)) if name in formats else column
        for name, column in table.items()
    })  # fmt: skip
    found.attrs["typed"] = True
    return found


def as_learned(table, formats, missing, known, ends=()):
    """Return a frame with the meaning that its columns had in the file that was learned from. Numbers and dates are
    warned of if they are far from the ``ends`` of their columns there, or missing where no cell was.
    """
    if not formats:
        return table
    is_frame = isinstance(table, pd.DataFrame)
    if is_frame:  # names of a file are texts, without blanks around them
        others = {name: str(name).strip() for name in table if name not in formats}
        table = table.rename(columns={name: text for name, text in others.items() if text in formats})
    if not is_frame or table.columns.has_duplicates:
        wrong = f"{table.columns[table.columns.duplicated()][0]!r} twice" if is_frame else type(table)
        raise UserError(f"predict needs a frame of pandas with the columns of the file, each once; it got {wrong}")
    if lacking := [name for name in formats if name not in table]:
        names = ", ".join(map(repr, lacking[:5])) + ", ..." * (len(lacking) > 5)
        raise UserError(f"predict needs the columns of the file; the frame lacks {names}")
    if table.empty:
        raise UserError("predict needs one row or more; the frame has none")
    table = table[[*formats]]
    if table.attrs.get("typed"):
        return table
    try:
        table = typed(table, formats, missing, known)
    except UserError as error:
        raise UserError(f"{error}; read the file with dtype=str, keep_default_na=False") from None
    for name, (low, high, is_whole) in dict(ends).items():
        values = as_times(table[name]).to_numpy()
        far = np.flatnonzero((values < 2 * low - high) | (values > 2 * high - low))
        odd = [f"{each} is far from all values of the file: is it right?" for each in table[name].iloc[far[:1]]]
        odd += ["cells are missing, and none was in the file"] * bool(is_whole and np.isnan(values).any())
        if odd:
            warnings.warn(f"the column {name!r}: {'; '.join(odd)}", stacklevel=2)
    return table


def format_of(column: pd.Series) -> str:
    """Return the format of a column that has its type in the file; whole numbers beyond 2^53 are text."""
    if column.dtype.kind in "iu" and (column.gt(LARGEST_EXACT) | column.lt(-LARGEST_EXACT)).any():
        return "text"
    if column.dtype.kind == "M" or pd.api.types.infer_dtype(column) in ("date", "datetime"):
        return "iso+zone" if isinstance(column.dtype, pd.DatetimeTZDtype) else "iso"
    how = {"b": "bool", "m": "duration"}.get(column.dtype.kind, "number")
    return "text" if kind_of(column) == "categories" else how


def question(raw, settings, table=None):
    """Return the table, the targets y (n,), the groups or None, and the numbers of rows left out by their reasons.

    Classes are numbered in the order of ``settings["classes"]``. Rows are sorted by time where one is named. The typed
    ``table`` may be there already.
    """
    table = typed(raw.table, settings["formats"], settings["missing"]) if table is None else table
    y = labels = as_classes(target_of(table, raw, settings["target"]))
    if settings["task"] == "classes":
        y = y.map({name: code for code, name in enumerate(settings["classes"])})
    y = pd.to_numeric(y, errors="coerce").to_numpy(np.float64)
    keep = np.isfinite(y)
    odd = labels[~keep & labels.notna()]
    why = "no finite target" if settings["task"] == "regression" else "classes of few rows"
    left_out = {"no target": int(labels.isna().sum()), f"{why}: {', '.join(map(str, odd.unique()[:5]))}": len(odd)}
    for key in filter(settings.get, ("group", "time")):
        known = table[settings[key]].notna().to_numpy()
        left_out[f"no {key}"] = int((keep & ~known).sum())
        keep &= known
    rows = np.flatnonzero(keep)
    if settings["time"]:
        rows = rows[np.argsort(times_of(table, settings, rows), kind="stable")]
    groups = table[settings["group"]].astype(str).to_numpy()[rows] if settings["group"] else None
    y = y[rows].astype(int) if settings["task"] == "classes" else y[rows]
    if issparse(table):
        others = np.arange(table.shape[1]) != raw.names.index(settings["target"])
        return table[rows][:, others].astype(np.float32), y, groups, left_out
    return table.iloc[rows].reset_index(drop=True), y, groups, left_out


def target_of(table, raw, target) -> pd.Series:
    """Return the target: a column of the table."""
    return pd.Series(table[:, [raw.names.index(target)]].toarray().ravel()) if issparse(table) else table[target]


def as_classes(column: pd.Series) -> pd.Series:
    """Return labels: whole numbers as integers, so that 1 and 1.0 are one class; others stay."""
    if column.dtype.kind == "f" and (column.dropna() % 1 == 0).all() and column.abs().max() < LARGEST_EXACT:
        return column.astype("Int64").astype(object).where(column.notna(), None)
    return column


def kind_of(column: pd.Series) -> str:
    """Return the kind of a column: "numbers", truth values and durations too, "dates", "categories", or ``MANY``."""
    if column.dtype.kind == "O" and isinstance(next(iter(column.dropna()), None), list | dict | np.ndarray | bytes):
        return MANY
    numeric = pd.api.types.is_numeric_dtype(column) or column.dtype.kind == "m"
    return "dates" if column.dtype.kind == "M" else "numbers" if numeric else "categories"


def as_times(column):
    """Return a column as numbers that order the rows: dates and durations as seconds."""
    if column.dtype.kind == "M":
        column = pd.to_datetime(column, utc=True) - pd.Timestamp("1970-01-01", tz="UTC")
    return (column / pd.Timedelta(seconds=1) if column.dtype.kind == "m" else column).astype(np.float64)


def times_of(table, settings, rows=slice(None)):
    """Return the times (n,) of rows of a table, None where no column has them."""
    return as_times(table[settings["time"]]).to_numpy()[rows] if settings["time"] else None


def split(y, groups, times, *, folds=None, share=None):
    """Return pairs of training and test rows: one for each of ``folds``, or one with a ``share`` of the rows for tests.

    Classes, whole numbers, are stratified. Groups are kept together: there are at most as many folds, and none tests
    most rows. Rows with ``times`` (n,), or None, are tested on what follows the training rows, at most twice as many
    rows without groups; rows of one time stay together, but a group is where its last row is.
    """
    rows, parts = np.arange(len(y)), folds or round(1 / share)
    if times is not None:
        last = times if groups is None else pd.Series(rows).groupby(groups).transform("max").to_numpy()
        order = np.argsort(last, kind="stable")
        begins = np.flatnonzero(np.diff(last[order])) + 1  # of other times or groups
        cuts = len(y) - len(y) // (parts + bool(folds)) * np.arange(folds or 1, 0, -1)
        starts = [begins[np.abs(begins - each).argmin()] for each in cuts if len(begins)]
        bounds = zip(starts, [*starts[1:], len(y)], strict=False)
        return [(np.sort(order[:a]), np.sort(order[a:b])) for a, b in bounds if a < b <= (2 + (groups is None)) * a]
    parts = parts if groups is None else min(parts, len(set(groups)))
    name = f"{'Stratified' * (y.dtype.kind != 'f')}{'Group' * (groups is not None)}KFold"
    cuts = getattr(selection, name)(parts, shuffle=True, random_state=0).split(rows, y, groups) if parts > 1 else ()
    return [each for each in cuts if 0 < len(each[1]) <= len(each[0])][: folds or 1]


def sample(rows, n):
    """Return at most n of the rows of an array or csr matrix, drawn at random with a fixed seed, in their order."""
    few = n is None or rows.shape[0] <= n
    return rows if few else rows[np.sort(np.random.default_rng(0).permutation(rows.shape[0])[:n])]


def drawn(y, n):
    """Return at most n training rows, and more where a class has fewer than two among them, as one row cannot choose
    a penalty.

    >>> y = np.repeat([0, 1], [5, 20_000])
    >>> np.bincount(y[drawn(y, 100)]).tolist()
    [2, 100]
    """
    rows = sample(np.arange(len(y)), n)
    few = np.flatnonzero(np.bincount(y[rows], minlength=y.max() + 1) < 2) if y.dtype.kind != "f" else ()
    return np.unique(np.concatenate([rows, *(np.flatnonzero(y == code)[:2] for code in few)]))


def rows_of(table, rows):
    """Return rows of a frame or of a csr matrix."""
    return table[rows] if issparse(table) else table.iloc[rows]


# --- columns ----------------------------------------------------------------------------------------------------------


def date_parts(frame):
    """Return columns of numbers for each column of dates: seconds, month, day of the week, hour."""
    dates = [pd.to_datetime(column, utc=True) for _, column in frame.items()]
    parts = [(as_times(each), each.dt.month, each.dt.day_of_week, each.dt.hour) for each in dates]
    return np.column_stack([part for each in parts for part in each]).astype(np.float64)


def seasons(frame):
    """Return columns of numbers for the dates that order the rows: day of the week and hour, which come again."""
    return np.delete(date_parts(frame), [0, 1], axis=1)


def as_text(frame):
    """Return columns of categories as text, with a missing value as a category of its own: no text is empty."""
    return frame.astype(object).where(frame.notna(), "").astype(str)


def as_numbers(frame):
    """Return columns of numbers and truth values as an array in float64, with NaN for missing and too large ones."""
    values = frame.apply(as_times).to_numpy(np.float64, na_value=np.nan)
    return np.where(np.abs(values) <= reading.MOST, values, np.nan)


def positions(names, frame):
    """Return the positions of columns. scikit-learn takes quadratic time to look up their names."""
    return np.flatnonzero(frame.columns.isin(names))


def positions_of_many(names, frame):
    """Return the positions of columns in which more than ``CATEGORIES`` differ."""
    return [j for j in positions(names, frame) if frame.iloc[:, j].nunique(dropna=False) > CATEGORIES]


def encoder(settings):
    """Return a transformer of the table into float32 columns. The ``columns`` of the settings have the names of each
    kind, or are None for a sparse table. Means of other groups are not known, so that groups have none of categories.
    """
    if (columns := settings["columns"]) is None:
        return MaxAbsScaler()
    categories = OneHotEncoder(
        max_categories=CATEGORIES, handle_unknown="infrequent_if_exist", sparse_output=False, dtype=np.float32
    )
    scaled = Standardised()
    steps = {"numbers": (as_numbers, scaled), "dates": (date_parts, scaled), "seasons": (seasons, scaled),
             "categories": (as_text, categories)}  # fmt: skip
    kinds = [(kind, make_pipeline(FunctionTransformer(first), then), partial(positions, columns.get(kind, [])))
             for kind, (first, then) in steps.items()]  # fmt: skip
    many = [] if settings.get("group") else columns.get("categories", [])
    means = TargetEncoder(target_type="continuous" if settings["task"] == "regression" else "auto", **FOLDS_OF_MEANS)
    steps_of_means = make_pipeline(FunctionTransformer(as_text), means, Standardised())
    kinds.append(("means", steps_of_means, partial(positions_of_many, many)))
    return make_pipeline(ColumnTransformer(kinds), FunctionTransformer(np.asarray, kw_args={"dtype": np.float32}))


class Standardised(TransformerMixin, BaseEstimator):
    """Standardise columns by means and deviations that values beyond ``SPIKE`` do not move; these stay far away.
    Missing cells become the mean, with an indicator.
    """

    def fit(self, X, y=None):
        """Learn both from X (n, d), in which cells may be missing."""
        frame = pd.DataFrame(X)
        middle = frame.median()
        low, high = frame.mask(frame.eq(middle)).quantile([0.25, 0.75]).to_numpy()  # most cells may be zero
        width = np.where(high > low, SPIKE * (high - low), np.inf)
        with np.errstate(invalid="ignore"):  # some rows may lack all values of a column
            X = np.clip(X, middle.to_numpy() - width, middle.to_numpy() + width)
            self.scaler_ = StandardScaler().fit(X)
        # scaled before it is filled: a standardised indicator of few missing cells would be far from all other rows
        self.filler_ = SimpleImputer(add_indicator=True, keep_empty_features=True).fit(self.scaler_.transform(X))
        return self

    def transform(self, X):
        """Return X (n, d) in these units."""
        return self.filler_.transform(self.scaler_.transform(X))


class Scaled(TransformerMixin, BaseEstimator):
    """Divide columns by the median distance of some rows, or by length scales that a kernel machine on them finds."""

    def __init__(self, relevance=False):
        self.relevance = relevance

    def fit(self, X, y):
        """Learn the length scales from X (n, d) and the targets y (n,)."""
        X, y = sample(X, RELEVANCE_ROWS), sample(y, RELEVANCE_ROWS)
        try:
            by = np.array(relevance(X, y if y.dtype.kind == "f" else y.astype(str))) if self.relevance else 1.0
            by = by * median_distance(X / by, np.random.default_rng(0))  # in units that other rows have, too
        except ValueError:  # most rows are equal
            by = 1.0
        self.length_scales_ = np.asarray(by, np.float32)
        return self

    def transform(self, X):
        """Return X in its length scales."""
        return X / self.length_scales_


# --- models and scores ------------------------------------------------------------------------------------------------


def model(name, settings, task):
    """Return the unfitted predictor of a contestant: a baseline, "exact-kernel", or the name of a map."""
    is_class, weight = task == "classes", {"class_weight": settings.get("class_weight")}
    if name == "guess":
        return dummy.DummyClassifier(strategy="prior") if is_class else dummy.DummyRegressor()
    if name == "linear" and is_class:
        return linear_model.LogisticRegression(C=1 / settings["penalty"], max_iter=200, tol=1e-3, **weight)
    if name == "linear":
        in_float64 = FunctionTransformer(methodcaller("astype", np.float64), accept_sparse=True)
        return make_pipeline(in_float64, linear_model.Ridge(settings["penalty"]))  # it rounds targets to the type of X
    if name == "boosting":
        trees = ensemble.HistGradientBoostingClassifier if is_class else ensemble.HistGradientBoostingRegressor
        return make_pipeline(FunctionTransformer(dense, accept_sparse=True), trees(**(BOOSTING | settings)))
    features = kernel = Gaussian(settings["length_scale"])
    if name != "exact-kernel":
        features = make_map(name, kernel, n_components=settings["n_components"], random_state=0, **settings["options"])
    if not is_class:
        return KernelMachineRegressor(features, penalties=settings["penalties"])
    # the fewest errors would choose penalties at which rare classes are never predicted
    return KernelMachineClassifier(features, penalties=settings["penalties"], scoring="squared_error", **weight)


def predicted(fitted, X, classes):
    """Return predictions (n,) of numbers, where ``classes`` is None, or probabilities (n, classes), 0 for a class that
    the training rows lack; decision values count as -1 and +1.
    """
    if classes is None:
        return fitted.predict(X)
    if hasattr(fitted, "predict_proba"):
        P = fitted.predict_proba(X)
    else:
        decision = fitted.decision_function(X)
        P = np.clip((np.column_stack([-decision, decision]) if decision.ndim == 1 else decision) / 2 + 0.5, 1e-6, 1)
    every = np.zeros((len(P), len(classes)))
    every[:, fitted.classes_] = P / P.sum(axis=1, keepdims=True)
    return every


def losses(P, y, metric):
    """Return the loss of every row under a metric; their mean is the error, and for auc and average-precision one minus
    the score. ``search`` is the loss of tuning: the squared error, of classes that of their probabilities.

    Where a metric is not a mean over rows, a loss deviates from the mean by the influence of its row: losses vary as
    the metric does. They are NaN where auc or average-precision lacks a class.
    """
    if P.ndim == 1:
        return np.abs(P - y) if metric == "mae" else (P - y) ** 2
    n, k = P.shape
    if metric == "search":
        return ((P - np.eye(k)[y]) ** 2).sum(axis=1)
    if metric == "log-loss":
        return -np.log(np.clip(P[np.arange(n), y], 1e-9, 1))
    counts, wrong = np.bincount(y, minlength=k), 1.0 * (P.argmax(axis=1) != y)
    if metric == "error":
        return wrong
    if metric in RANKED and counts.min() == 0:
        return np.full(n, np.nan)
    scores, ties = pd.Series(P[:, 1]), "min" if metric == "average-precision" else "average"
    rank, among = scores.rank(method=ties).to_numpy(), scores.groupby(y).rank(method=ties).to_numpy()
    if metric == "average-precision":
        above, last = n - rank + 1, scores.rank(method="max").to_numpy(int) - 1
        precision = y * (counts[1] - among + 1) / above
        raised, lowered = (np.cumsum((each / above)[np.argsort(P[:, 1])])[last] for each in (y, precision))
        mean = precision.sum() / counts[1]
        return 1 - mean - n / counts[1] * (y * (precision - mean + raised) - lowered)
    if metric == "auc":
        lower = (rank - among) / counts[1 - y]  # of the other class: the share with a lower score
        wrong = np.where(y == 1, 1 - lower, lower)
    means, present = np.bincount(y, wrong, k) / np.maximum(counts, 1), (counts > 0).sum()
    return means.sum() / present + n / (1 if metric == "auc" else present) / counts[y] * (wrong - means[y])


def score(values, metric):
    """Return the score of the mean of losses: an error in percent, a root mean squared error, or a share."""
    mean = np.mean(values)
    if metric in ("auc", "average-precision"):
        return 1 - mean
    return np.sqrt(mean) if metric == "rmse" else 100 * mean if metric.endswith("error") else mean


def final_parts(table, y, groups, settings):
    """Return the training and the test rows of the final score."""
    for train, test in split(y, groups, times_of(table, settings), share=TEST_SHARE):
        return train, sample(test, MOST_TEST_ROWS)
    raise UserError(f"--time {settings['time']}: most rows have the last time or group; name another column")


def solved(made, chosen, X, y):
    """Return what is ``made`` of settings, fitted. A penalty at which these rows have no solution grows tenfold, and
    boosting does not stop early where the rows that it would hold back cannot have all classes.
    """
    if "learning_rate" in chosen and y.dtype.kind != "f":
        counts = np.unique(y, return_counts=True)[1]
        if counts.min() < 2 or np.ceil(0.1 * len(y)) < len(counts):
            chosen = {"max_iter": 100, "early_stopping": False} | chosen
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)  # of a linear model that hardly shrinks: its score says more
            return made(chosen).fit(X, y)
    except np.linalg.LinAlgError:
        if "penalties" not in chosen:
            raise
    return solved(made, chosen | {"penalties": (10 * np.array(chosen["penalties"])).tolist()}, X, y)


def fitted(table, labels, settings, name, chosen, is_encoded=False):
    """Return the pipeline of a contestant, fitted to all rows of a table; its columns may be encoded already."""
    steps, columns = [], settings["columns"]
    if not is_encoded:
        used = [name for names in (columns or {}).values() for name in names]
        formats = {name: settings["formats"].get(name, "number") for name in used}
        known = {name: texts_by_value(table[name]) if how == "text" else settings.get("units", {}).get(name, PLAIN)
                 for name, how in formats.items()}  # fmt: skip
        times = {name: as_times(table[name]) for kind in KINDS[:2] for name in (columns or {}).get(kind, ())}
        ends = {name: (float(each.min()), float(each.max()), each.notna().all()) for name, each in times.items()}
        learned = {"formats": formats, "missing": settings.get("missing", ()), "known": known, "ends": ends}
        steps = [FunctionTransformer(as_learned, kw_args=learned), encoder(settings)]
    steps += [Scaled(chosen["relevance"])] if has_kernel(name) else []
    return solved(lambda by: make_pipeline(*steps, model(name, by, settings["task"])), chosen, table, labels)


def labels_of(y, settings):
    """Return the labels of the numbers of classes, or numbers as they are."""
    labels = np.array(settings["classes"])
    return y if settings["classes"] is None else (labels.astype(str) if labels.dtype.kind == "f" else labels)[y]


def repeat(file, settings, name, chosen, most_rows, version):
    """Print the test score of a pipeline; with ``--all-rows`` fit it to all rows and write best.joblib next to the
    program. Its ``predict`` takes a frame with the columns of the file, as texts or as pandas reads them, and returns
    labels or numbers.
    """
    if version != __version__:
        print(f"warning: this is random_features {__version__}; the comparison had {version}", file=sys.stderr)
    raw = reading.read(file, settings["asked"])
    if raw.how["sha256"] != settings["how"]["sha256"]:
        sys.exit(f"{file}: was changed since the comparison; compare it again")
    table, y, groups, _ = question(raw, settings)
    if "--all-rows" in sys.argv:
        rows = drawn(y, most_rows)
        best = fitted(rows_of(table, rows), labels_of(y[rows], settings), settings, name, chosen)
        joblib.dump(best, out := Path(sys.argv[0]).with_name("best.joblib"))
        print(f"{out}: {name}, fitted to {len(rows):,} rows")
        return
    train, test = final_parts(table, y, groups, settings)
    train = train[drawn(y[train], most_rows)]
    best = fitted(rows_of(table, train), y[train], settings, name, chosen)
    values = losses(predicted(best, rows_of(table, test), settings["classes"]), y[test], settings["metric"])
    print(f"test score: {score(values, settings['metric']):.4g} on {len(test)} rows")
