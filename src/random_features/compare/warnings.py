"""Warnings about a file, each with its evidence."""

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import KFold, PredefinedSplit, cross_val_predict
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from random_features.alarm import alarm
from random_features.compare import recipe
from random_features.compare.contest import OutOfTime
from random_features.compare.question import Question

#: Rows and encoded columns that the checks of the order look at, and rows that look for leaks.
MOST_ROWS, MOST_COLUMNS, LEAK_ROWS = 10_000, 100, 4000

#: Shares from which a warning is given: of duplicated rows, of the loss of a guess that one column removes, and of
#: the loss that blocked folds have more than random ones.
DUPLICATES, GIVEN_AWAY, ORDER = 0.02, 0.97, 0.1

#: Quartile ranges from which a value is far.
FAR = 300

#: Blocks of consecutive rows.
BLOCKS = 10


def found(question: Question, seconds: float = np.inf) -> list[dict]:
    """Return the warnings about a file, dicts of "warning" and "evidence".

    The checks that do not end within so many seconds are named.
    """
    warned = [{"warning": "how it was read", "evidence": each} for each in question.changed]
    checks = {"duplicates across folds": duplicates, "a column gives away the target": given_away,
              "heavy tails": heavy_tails, "rows in order": order}  # fmt: skip
    names = [] if issparse(question.table) else list(checks)
    try:
        with alarm(min(seconds, 1e9), OutOfTime()):
            while names:
                evidence = checks[names[0]](question)
                warned += [{"warning": names[0], "evidence": evidence}] if evidence else []
                names.pop(0)
    except OutOfTime:
        warned.append({"warning": "not checked", "evidence": f"{', '.join(names)}: the budget is short"})
    return warned


def predictors(question: Question) -> list[str]:
    """Return the names of the columns that predict."""
    return [name for names in question.settings["columns"].values() for name in names]


def duplicates(question):
    """Warn of test rows whose columns are equal to those of a training row, unless groups keep them together."""
    hashes = pd.util.hash_pandas_object(question.table[predictors(question)], index=False).to_numpy()
    settings = question.settings
    train, test = recipe.final_parts(question.y, question.groups, settings["task"], bool(settings["time"]))
    known = np.isin(hashes[test], hashes[train])
    distinct = [each["distinct"] for each in question.columns if each["kind"]]
    if known.mean() > DUPLICATES and np.log(distinct).sum() > np.log(10 * len(known)):
        copies = f"{100 * known.mean():.1f} % of the test rows have the columns of a training row"
        return f"{copies}; state --group if they belong together"


def given_away(question):
    """Warn of columns from each of which alone a small tree predicts the target: all are looked at, dates too."""
    task, rows = question.settings["task"], np.random.default_rng(0).permutation(len(question.y))[:LEAK_ROWS]
    y, half = question.y[rows], len(rows) // 2
    trees = DecisionTreeClassifier if task == "classes" else DecisionTreeRegressor
    scale, leaks = guess_loss(y, task), []
    for name in predictors(question):
        column = question.table[name].iloc[rows]
        is_text = name in question.settings["columns"]["categories"]
        x = pd.factorize(column)[0] if is_text else recipe.as_times(column).to_numpy(np.float64)
        tree = trees(max_leaf_nodes=256, random_state=0).fit(x[:half, None], y[:half])
        loss = hard_losses(tree.predict(x[half:, None]), y[half:], task).mean()
        if loss < (1 - GIVEN_AWAY) * scale:
            leaks.append(f"{name!r} alone removes {100 * (1 - loss / scale):.1f} % of the loss of a guess")
    return f"{'; '.join(leaks[:5])}; is it known when you predict?" if leaks else None


def hard_losses(predicted, y, task):
    """Return the errors of predicted classes, or the squared errors of numbers."""
    return np.asarray(predicted != y if task == "classes" else (predicted - y) ** 2, dtype=np.float64)


def guess_loss(y, task) -> float:
    """Return the mean loss of the most frequent class or the mean."""
    return hard_losses(np.bincount(y).argmax() if task == "classes" else y.mean(), y, task).mean()


def heavy_tails(question):
    """Warn of columns of numbers with values far from the others."""
    frame = question.table[question.settings["columns"]["numbers"]]
    X = pd.DataFrame(recipe.as_numbers(frame), columns=frame.columns)
    low, middle, high = X.quantile([0.25, 0.5, 0.75]).to_numpy()
    most = ((X - middle).abs() / np.where(high > low, high - low, np.inf)).max()
    if (most > FAR).any():
        worst = f"{most.idxmax()!r} has a value {most.max():,.0f} quartile ranges from its median"
        return f"{(most > FAR).sum()} columns; {worst}; consider its logarithm"


def order(question):
    """Warn if consecutive rows resemble each other: trees err more on blocks of rows than on random rows."""
    if question.settings["time"] or question.groups is not None:
        return None
    task, n = question.settings["task"], len(question.y)
    rows = np.arange(0, n, -(-n // MOST_ROWS))
    y = question.y[rows]
    if task == "classes" and (np.diff(question.y) != 0).sum() <= 2 * len(np.unique(question.y)):
        return "the file is sorted by the target, so that an order in time cannot be checked"
    X = recipe.encoder(question.settings["columns"]).fit_transform(recipe.rows_of(question.table, rows))
    X = X[:, np.random.default_rng(0).permutation(X.shape[1])[:MOST_COLUMNS]]
    trees = HistGradientBoostingClassifier if task == "classes" else HistGradientBoostingRegressor
    rounds = 120 // len(np.unique(y)) if task == "classes" else 60  # each class has trees of its own
    trees = trees(max_iter=max(5, rounds), max_leaf_nodes=15, random_state=0, early_stopping=False)
    blocks = np.arange(len(y)) * BLOCKS // len(y)
    # two distant blocks are held out together
    cuts = PredefinedSplit(blocks % 5), KFold(5, shuffle=True, random_state=0)
    blocked, shuffled = (hard_losses(cross_val_predict(trees, X, y, cv=cut), y, task) for cut in cuts)
    more = np.array([(blocked - shuffled)[blocks == block].mean() for block in range(BLOCKS)])
    if more.mean() > ORDER * guess_loss(y, task) and more.mean() > 2.5 * more.std(ddof=1) / np.sqrt(BLOCKS):
        a, b = (f"{recipe.score(each, 'error' if task == 'classes' else 'rmse'):.3g}" for each in (blocked, shuffled))
        return f"trees have the error {a} on blocks of rows, {b} on random rows; state --time or --group, or expect {a}"
