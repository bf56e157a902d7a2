"""Understand a file: its table and target, the kind of task, and the use of each column."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from random_features.compare import reading, recipe
from random_features.compare.columns import MISSING, formats_of
from random_features.errors import UserError, nearest

#: The fewest rows of a table, of a class, and the fewest groups.
FEWEST_ROWS, FEWEST_OF_A_CLASS, FEWEST_GROUPS = 50, 10, 5

#: What a cell may hold that no contestant takes.
MANY = "lists, structures or bytes"

#: Distinct whole numbers from 0 or 1 up to which a target is taken for classes, from which they may be counts, and the
#: most classes.
MOST_CLASS_NUMBERS, FEWEST_COUNTS, MOST_CLASSES = 20, 6, 200

#: The share of distinct texts from which a column is taken for names or free text, and the largest target.
FREE_TEXT, LARGEST_TARGET = 0.5, 1e150


class Question(NamedTuple):
    """A file as ``compare`` understood it.

    Attributes
    ----------
    table : frame or csr matrix (n, columns), without rows that are left out
    y : ndarray (n,), numbers of classes or targets of a regression
    groups : ndarray (n,) or None
    settings : what ``best.py`` needs to read the same rows
    notes : what was understood about the file, one line each
    changed : the decisions that changed values or rows, or could be others
    columns : one dict per column of the file: column, type, distinct, missing, use
    """

    table: object
    y: np.ndarray
    groups: np.ndarray | None
    settings: dict
    notes: list[str]
    changed: list[str]
    columns: list[dict]


def understand(path, target=None, *, task="auto", drop=(), group=None, time=None, metric=None, formats=(), missing=None,
               decimal=None, **asked) -> Question:  # fmt: skip
    """Return what a file asks; the options are those of the command. Raise ``UserError``, in one line, for what cannot
    be answered, or what an option must decide.
    """
    asked |= {"target": target, "missing": list(filter(None, (missing or "").split(",")))}
    raw = reading.read(path, asked)
    target = target or ("label" if raw.how["kind"] == "LIBSVM" else None)
    ways = dict(each.partition("=")[::2] for each in formats)
    check_names(raw.names, target, group, time, drop, ways, path)
    if issparse(raw.table) and (group or time or drop):
        raise UserError(f"{path}: a sparse table has no --group, --time or --drop")
    settings = {"asked": asked, "how": raw.how, "target": target, "group": group, "time": time, "drop": list(drop),
                "formats": {}}  # fmt: skip
    changed = list(raw.notes)
    if not issparse(raw.table):
        kept = raw.table.drop(columns=list(drop))
        settings["formats"], notes = formats_of(kept, raw.formats | ways, decimal, path)
        changed += notes
    table = recipe.typed(raw.table, settings["formats"])
    labels = recipe.target_of(table, raw, target)
    words = {each for each in labels.dropna() if isinstance(each, str) and each.lower() in MISSING}
    if words and missing is None:
        ask = f"--missing '{','.join(sorted(words))}' leaves its rows out, --missing '' takes it for a label"
        raise UserError(f"{path}: the target {target!r} has the text {min(words)!r}: {ask}")
    if time and not recipe.is_date(table[time]) and table[time].dtype.kind not in "iufm":
        example = str(next(iter(table[time].dropna()), ""))[:40]
        raise UserError(f"--time {time}: its values are no times, such as {example!r}")
    settings |= task_of(labels, task, f"{path}: the target {target!r}")
    if settings["task"] != task and few_whole_numbers(labels.dropna()) and labels.nunique() > 2:
        other = "regression" if settings["task"] == "classes" else "classes"
        changed.append(f"{target!r}, few whole numbers, is taken for {settings['task']}; --task {other} changes it")
    settings["metric"] = metric_of(metric, settings)
    described, settings["columns"] = [], None
    if not issparse(table):
        uses = dict.fromkeys(drop, "left out: dropped") | {target: "target", group: "group", time: "order"}
        described = [described_column(name, column, uses.get(name)) for name, column in table.items()]
        of_kind = pd.DataFrame(described).groupby("kind")["column"].agg(list).to_dict()
        settings["columns"] = {kind: of_kind.get(kind, []) for kind in recipe.KINDS}
    table, y, groups, left_out = recipe.question(raw, settings, table)
    check(y, groups, settings, path, described)
    notes = [f"read as {raw.how['words']}", f"{len(y):,} rows, {len(raw.names):,} columns"]
    changed += [f"{n:,} rows are left out: {why}" for why, n in left_out.items() if n]
    out = [f"{each['column']!r} ({each['use'][10:]})" for each in described
           if each["use"].startswith("left out") and each["column"] not in drop]  # fmt: skip
    if settings["columns"]:
        far = {name: int((np.abs(table[name].to_numpy(float, na_value=np.nan)) > reading.MOST).sum())
               for name in settings["columns"]["numbers"]}  # fmt: skip
        changed += [f"{name!r}: {n:,} values above {reading.MOST:g} are missing" for name, n in far.items() if n]
    changed += [f"columns left out: {', '.join(out[:8])}{', ...' * (len(out) > 8)}"] * bool(out)
    if settings["task"] == "classes":
        shares = zip(settings["classes"], 100 * np.bincount(y) / len(y), strict=True)
        shown = [f"{name} ({share:.3g} %)" for name, share in shares]
        notes.append(f"{target}: {len(shown)} classes: {', '.join(shown[:5])}{', ...' * (len(shown) > 5)}")
    else:
        notes.append(f"{target}: a regression, mean {y.mean():.4g}, standard deviation {y.std():.4g}")
    return Question(table, y, groups, settings, printable(notes), printable(changed), described)


def printable(texts: list[str]) -> list[str]:
    """Return texts without what steers a terminal."""
    return ["".join(each if each.isprintable() else "?" for each in text) for text in texts]


def check_names(names, target, group, time, drop, ways, path) -> None:
    """Raise ``UserError`` for a column of an option that a file does not have, or that has two uses."""
    some = ", ".join(names if len(names) < 9 else [*names[:6], "...", f"{names[-1]} ({len(names)} in all)"])
    if target is None:
        raise UserError(f"{path}: state the column to predict: --target COLUMN; it has {some}")
    stated = [("--target", target), ("--group", group), ("--time", time)]
    for option, name in [*stated, *(("--drop", each) for each in drop), *(("--format", each) for each in ways)]:
        if name is not None and name not in names:
            near = "".join(f"did you mean {each}? " for each in nearest(name, names))
            raise UserError(f"{option} {name}: {path} has no such column; {near}it has {some}")
    if target in (*drop, group, time):
        raise UserError(f"--target {target}: the column is also dropped, a group or a time")


def metric_of(metric, settings) -> str:
    """Return the metric of a task, by default its first."""
    known = recipe.METRICS[settings["task"]][: 3 if len(settings["classes"] or "12") > 2 else None]
    if metric and metric not in known:
        raise UserError(f"--metric {metric}: this target has {', '.join(known)}")
    return metric or known[0]


def check(y, groups, settings, path, described) -> None:
    """Raise ``UserError`` for a table that is too small, or has nothing to predict from."""
    target = settings["target"]
    if len(y) < FEWEST_ROWS or (y == y[0]).all():
        kind = "finite number" if settings["task"] == "regression" else f"class of {FEWEST_OF_A_CLASS} rows or more"
        few = f"{len(y)} rows with a {kind}, {len(set(y))} different"
        raise UserError(f"{path}: the target {target!r} has {few}; at least {FEWEST_ROWS}, 2 different, are needed")
    if groups is not None and len(set(groups)) < FEWEST_GROUPS:
        raise UserError(f"--group: the column has {len(set(groups))} groups; at least {FEWEST_GROUPS} are needed")
    if settings["columns"] is not None and not any(settings["columns"].values()):
        why = "; ".join(f"{each['column']!r} is {each['use']}" for each in described if each["column"] != target)[:300]
        raise UserError(f"{path}: no column is left to predict {target!r} from: {why}. Make numbers of texts first, "
                        "for example with TfidfVectorizer, and save them with scipy.sparse.save_npz")  # fmt: skip
    if settings["task"] == "regression" and np.abs(y).max() > LARGEST_TARGET:
        raise UserError(f"{path}: the target {target!r} has a value of {np.abs(y).max():g}; at most 1e+150 is compared")
    if settings["task"] == "classes" and settings["time"] and len(np.unique(y[: len(y) // 2])) < 2:
        raise UserError(f"--time: the first half of the rows has one class of {target!r}; start later")


def few_whole_numbers(known: pd.Series) -> bool:
    """Return whether numbers are whole, and few of them differ."""
    return known.dtype.kind in "iuf" and known.nunique() <= MOST_CLASS_NUMBERS and bool((known % 1 == 0).all())


def task_of(labels: pd.Series, task: str, where: str) -> dict:
    """Return the task of a target, "classes" or "regression", and its classes; ``task`` is that, or "auto"."""
    known = labels.dropna()
    if holds_many(labels):
        raise UserError(f"{where} holds {MANY}; name another column")
    if recipe.is_date(labels) or labels.dtype.kind == "m":
        raise UserError(f"{where} holds dates: make a number of it first, such as days since a date")
    if task == "auto":
        rows = known.value_counts().sort_index() if few_whole_numbers(known) else known[:0]
        jumps = np.diff(rows)  # counts are many at one number, and fewer on both sides, but for noise
        steps = np.sign(jumps[np.abs(jumps) > 3 * np.sqrt(rows.max())])
        is_count = len(rows) >= FEWEST_COUNTS and rows.max() > 10 * rows.min() and (np.diff(steps) <= 0).all()
        few = 0 < len(rows) <= 2 or (min(rows.index, default=-1) in (0, 1) and rows.index.max() <= MOST_CLASS_NUMBERS)
        task = "classes" if known.dtype.kind not in "iuf" or (few and not is_count) else "regression"
    if task == "regression":
        if known.dtype.kind not in "iuf":
            example = str(next(iter(known), ""))[:40]
            raise UserError(f"{where} holds text such as {example!r}: a regression needs numbers; state --format")
        return {"task": task, "classes": None}
    counts = recipe.as_classes(known).value_counts()
    if len(counts) > MOST_CLASSES:
        raise UserError(f"{where} has {len(counts)} labels; {MOST_CLASSES} are the most: is it an identifier?")
    return {"task": task, "classes": sorted(counts.index[counts >= FEWEST_OF_A_CLASS].tolist())}


def described_column(name: str, column: pd.Series, use: str | None) -> dict:
    """Return what happens to a column: its kind, if it predicts, and its use in words."""
    many, missing, kind = holds_many(column), int(column.isna().sum()), None
    distinct = 0 if many else column.nunique()
    if many:
        use = use or f"left out: {MANY}"
    elif distinct < 2 and not (distinct == 1 and missing):
        use = use or "left out: constant"
    elif use is None:
        kind, known = recipe.kind_of(column), column.dropna()
        use = {"dates": "seconds, month, day of the week and hour", "numbers": "a number, standardised"}.get(kind)
        if kind == "numbers" and distinct == len(column) == known.max() - known.min() + 1 and (known % 1 == 0).all():
            kind, use = None, "left out: numbers the rows"
        elif kind == "categories":
            use = f"{min(distinct, recipe.CATEGORIES)} of {distinct} categories, a column each"
            if distinct > max(recipe.CATEGORIES, FREE_TEXT * len(known)):
                kind, use = None, "left out: nearly every value is different (a name, an identifier or free text)"
    found = {"column": name, "type": str(column.dtype), "distinct": distinct, "missing": missing}
    return found | {"kind": kind, "use": use}


def holds_many(column: pd.Series) -> bool:
    """Return whether the cells of a column hold more than one value, or bytes."""
    return column.dtype.kind == "O" and isinstance(next(iter(column.dropna()), None), list | dict | np.ndarray | bytes)
