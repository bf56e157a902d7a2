"""Warnings about a file, each with its evidence."""

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, cross_val_predict
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from random_features.alarm import alarm
from random_features.compare import recipe
from random_features.compare.contest import OutOfTime
from random_features.compare.question import Question

#: Rows and encoded columns that the checks of the order look at, and rows that look for leaks.
MOST_ROWS, MOST_COLUMNS, LEAK_ROWS = 10_000, 100, 4000

#: Shares from which a warning is given: of duplicated rows, of the loss of a guess that one column removes, and of
#: the loss that blocked folds have more than random ones.
DUPLICATES, GIVEN_AWAY, ORDER = 0.02, 0.8, 0.1

#: The share of an equal size below which a class is small.
UNEQUAL = 0.4

#: Blocks of consecutive rows.
BLOCKS = 10


def found(question: Question, seconds: float = np.inf) -> list[dict]:
    """Return the warnings about a file, dicts of "warning" and "evidence".

    The checks that do not end within so many seconds are named.
    """
    warned = [{"warning": "how it was read", "evidence": each} for each in question.changed]
    checks = {"unequal classes": unequal, "duplicated rows": duplicates, "a column gives away the target": given_away,
              "rows in order": order}  # fmt: skip
    left = [*checks][: 1 if issparse(question.table) else None]
    try:
        with alarm(min(seconds, 1e9), OutOfTime()):
            while left:
                evidence = checks[left[0]](question)
                name = left.pop(0)
                warned += [{"warning": name, "evidence": evidence}] if evidence else []
    except OutOfTime:
        warned.append({"warning": "not checked", "evidence": f"{', '.join(left)}: the budget is short"})
    return warned


def small_test(n_test: int, n: int) -> list[dict]:
    """Return a warning if groups or times leave few of n rows for the test part."""
    few = n_test < min(recipe.TEST_SHARE / 2 * n, recipe.MOST_TEST_ROWS)
    evidence = f"{n_test:,} of {n:,} rows, as --group or --time cuts the table: the intervals are wide"
    return [{"warning": "small test part", "evidence": evidence}] * few


def unequal(question):
    """Warn of a class that has much fewer rows than the others."""
    shares = np.bincount(question.y) / len(question.y) if question.settings["classes"] else np.ones(1)
    if shares.min() < UNEQUAL / len(shares):
        smallest = f"{question.settings['classes'][shares.argmin()]!r} has {100 * shares.min():.3g} % of the rows"
        ways = f": the error hardly counts them; --metric {' or '.join(recipe.RARE[len(shares) > 2])} does"
        return smallest + ways * (question.settings["metric"] == "error")


def duplicates(question):
    """Warn of rows that repeat another row, unless groups keep them together."""
    used = [each for each in question.columns if each["kind"]]
    twice = question.table[[each["column"] for each in used]].duplicated(keep=False).mean()
    are_many = np.log([each["distinct"] for each in used]).sum() > np.log(10 * len(question.y))  # could be different
    if question.groups is None and twice > DUPLICATES and are_many:
        return f"{100 * twice:.1f} % of the rows have the columns of another row; state --group if they belong together"


def held_out(model, X, y, cut):
    """Return the errors of a classifier, or the squared errors of a regression, on rows that were held out."""
    y = y - y.mean() if y.dtype.kind == "f" else y  # trees lose what is far smaller than the squares of targets
    P = cross_val_predict(model, X, y, cv=cut)
    return (P - y) ** 2 if y.dtype.kind == "f" else (y != P).astype(np.float64)


def given_away(question):
    """Warn of columns from each of which alone a small tree predicts the target: all are looked at, dates too."""
    is_class, rows = question.settings["task"] == "classes", recipe.sample(np.arange(len(question.y)), LEAK_ROWS)
    table, y = recipe.rows_of(question.table, rows), question.y[rows]
    groups = None if question.groups is None or len(set(question.groups[rows])) < 2 else question.groups[rows]
    folds = (KFold if groups is None else GroupKFold)(2, shuffle=True, random_state=0)
    halves = list(folds.split(rows, groups=groups))
    tree = (DecisionTreeClassifier if is_class else DecisionTreeRegressor)(max_leaf_nodes=256, random_state=0)
    guess, leaks = held_out(recipe.model("guess", {}, question.settings["task"]), y[:, None], y, halves).mean(), []
    for each in question.columns:
        if each["kind"]:
            column = table[each["column"]]
            is_text = each["kind"] == "categories"
            X = pd.factorize(column)[0][:, None] if is_text else recipe.as_numbers(column.to_frame())
            if (removed := 1 - held_out(tree, X, y, halves).mean() / guess) > GIVEN_AWAY:
                leaks.append(f"{each['column']!r} alone removes {100 * removed:.1f} % of the loss of a guess")
    return f"{'; '.join(leaks[:5])}; is it known when you predict?" if leaks else None


def order(question):
    """Warn if consecutive rows resemble each other: trees err more on blocks of rows than on random rows."""
    settings, task, n = question.settings, question.settings["task"], len(question.y)
    if settings["time"] or question.groups is not None:
        return None
    rows = np.arange(0, n, -(-n // MOST_ROWS))
    y = question.y[rows]
    if task == "classes" and (np.diff(question.y) != 0).sum() <= 2 * len(settings["classes"]):
        return "the file is sorted by the target, so that an order in time cannot be checked"
    X = recipe.encoder(settings).fit_transform(recipe.rows_of(question.table, rows), y)
    X = X[:, np.random.default_rng(0).permutation(X.shape[1])[:MOST_COLUMNS]]
    rounds = max(5, 120 // len(settings["classes"] or "12"))  # each class has trees of its own
    trees = recipe.model("boosting", {"max_iter": rounds, "max_leaf_nodes": 15, "early_stopping": False}, task)
    blocks = np.arange(len(y)) * BLOCKS // len(y)
    random = KFold(5, shuffle=True, random_state=0)
    # two distant blocks are held out together
    blocked, shuffled = (held_out(trees, X, y, cut) for cut in (PredefinedSplit(blocks % 5), random))
    guess = held_out(recipe.model("guess", {}, task), X, y, random).mean()
    more = np.array([(blocked - shuffled)[blocks == block].mean() for block in range(BLOCKS)])
    if more.mean() > ORDER * guess and more.mean() > 2.5 * more.std(ddof=1) / np.sqrt(BLOCKS):
        a, b = (f"{recipe.score(each, 'error' if task == 'classes' else 'rmse'):.3g}" for each in (blocked, shuffled))
        return f"trees have the error {a} on blocks of rows, {b} on random rows; state --time or --group, or expect {a}"
