"""Understand a file: its table and target, the kind of task, and the use of each column."""

from hashlib import sha256
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from random_features.compare import reading, recipe
from random_features.compare.columns import MISSING, formats_of, said
from random_features.errors import UserError, nearest

#: The fewest rows of a table, of a class, and the fewest groups.
FEWEST_ROWS, FEWEST_OF_A_CLASS, FEWEST_GROUPS = 50, 10, 5

#: What a cell may hold that no contestant takes.
MANY = "lists, structures or bytes"

#: Distinct whole numbers from 0 or 1 up to which a target is taken for classes, and the most classes.
MOST_CLASS_NUMBERS, MOST_CLASSES = 20, 200

#: The share of distinct texts from which a column is taken for names or free text.
FREE_TEXT = 0.5


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
    asked |= {"target": target, "missing": [] if missing is None else [each for each in missing.split(",") if each]}
    raw = reading.read(path, asked)
    sparse = issparse(raw.table)
    target = target or ("label" if raw.how["kind"] == "LIBSVM" else None)
    names = [f"f{j}" for j in range(raw.table.shape[1])] if sparse else list(raw.table.columns)
    names += ["label"] * (raw.labels is not None)
    some = ", ".join(map(str, names if len(names) < 9 else [*names[:6], "...", f"{names[-1]} ({len(names)} in all)"]))
    if target is None:
        raise UserError(f"{path}: state the column to predict: --target COLUMN; it has {some}")
    ways = dict(each.partition("=")[::2] for each in formats)
    stated = [("--target", target), ("--group", group), ("--time", time), *(("--drop", each) for each in drop)]
    for option, name in [*stated, *(("--format", each) for each in ways)]:
        if name is not None and name not in names:
            near = "".join(f"did you mean {each}? " for each in nearest(name, names))
            raise UserError(f"{option} {name}: {path} has no such column; {near}it has {some}")
    if target in (*drop, group, time):
        raise UserError(f"--target {target}: the column is also dropped, a group or a time")
    if sparse and (group or time or drop):
        raise UserError(f"{path}: a sparse table has no --group, --time or --drop")
    settings = {"asked": asked, "how": raw.how, "sha256": sha256(reading.content(path)).hexdigest(),
                "target": target, "group": group, "time": time, "drop": list(drop)}  # fmt: skip
    reading.content.cache_clear()
    changed, settings["formats"] = list(raw.notes), {}
    if not sparse:
        settings["formats"], notes = formats_of(raw.table.drop(columns=list(drop)), ways, raw.formats, decimal, path)
        changed += notes
    where = f"{path}: the target {target!r}"
    table = recipe.typed(raw.table, settings["formats"])
    labels = recipe.target_of(table, raw, target)
    if settings["formats"].get(target) == "text" and missing is None:
        words = sorted({each for each in labels.dropna().unique() if each.lower() in MISSING})
        if words:
            ask = f"--missing '{','.join(words)}' leaves its rows out, --missing '' takes it for a label"
            raise UserError(f"{where} has the text {words[0]!r}: {ask}")
    if time and not sparse:
        kind = table[time].dtype
        if kind.kind not in "iufmM" and not hasattr(kind, "tz"):
            known = table[time].dropna()
            raise UserError(f"--time {time}: its values are no times, such as {str(next(iter(known), ''))[:40]!r}")
    settings |= task_of(labels, task, where)
    if settings["task"] != task:
        other = "regression" if settings["task"] == "classes" else "classes"
        if labels.dtype.kind in "iuf" and labels.nunique() <= MOST_CLASS_NUMBERS and (labels.dropna() % 1 == 0).all():
            changed.append(f"{target!r}, few whole numbers, is taken for {settings['task']}; --task {other} changes it")
    settings["metric"] = metric_of(metric, settings)
    described, settings["columns"] = [], None
    if not sparse:
        described, settings["columns"] = columns_of(table, {target: "target", group: "group", time: "order"}, drop)
    table, y, groups, left_out = recipe.question(raw, settings, table)
    check(table, y, groups, settings, path, described)
    notes = [f"read as {raw.how['words']}", f"{len(y):,} rows, {len(names):,} columns"]
    notes += [f"{name!r}: {said(how)}" for name, how in settings["formats"].items() if how not in ("number", "text")]
    changed += [f"{n:,} rows are left out: {why}" for why, n in left_out.items() if n]
    out = [each["column"] for each in described if each["use"].startswith("left out:") and each["column"] not in drop]
    changed += [f"columns left out: {', '.join(out[:8])}{', ...' if len(out) > 8 else ''}"] * (len(out) > 0)
    changed += [f"{each['column']!r}:{each['use'].partition(';')[2]}" for each in described if ";" in each["use"]]
    if settings["task"] == "classes":
        shares = 100 * np.bincount(y) / len(y)
        shown = [f"{name} ({share:.3g} %)" for name, share in zip(settings["classes"], shares, strict=True)]
        notes.append(f"{target}: {len(shown)} classes: {', '.join(shown[:5])}{', ...' if len(shown) > 5 else ''}")
    else:
        notes.append(f"{target}: a regression, mean {y.mean():.4g}, standard deviation {y.std():.4g}")
    return Question(table, y, groups, settings, printable(notes), printable(changed), described)


def printable(texts: list[str]) -> list[str]:
    """Return texts without what steers a terminal."""
    return ["".join(each if each.isprintable() else "?" for each in text) for text in texts]


def metric_of(metric, settings) -> str:
    """Return the metric of a task, by default its first."""
    known = recipe.METRICS[settings["task"]]
    binary = settings["task"] != "classes" or len(settings["classes"]) == 2
    if metric and (metric not in known or (metric in ("auc", "average-precision") and not binary)):
        some = known if binary else known[:3]
        raise UserError(f"--metric {metric}: this target has {', '.join(some)}")
    return metric or known[0]


def check(table, y, groups, settings, path, described) -> None:
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
    if settings["task"] == "regression" and np.abs(y).max() > 1e150:
        raise UserError(f"{path}: the target {target!r} has a value of {np.abs(y).max():g}; at most 1e+150 is compared")
    if settings["task"] == "classes" and settings["time"] and len(np.unique(y[: len(y) // 2])) < 2:
        raise UserError(f"--time: the first half of the rows has one class of {target!r}; start later")


def task_of(labels: pd.Series, task: str, where: str) -> dict:
    """Return the task of a target, "classes" or "regression", and its classes; ``task`` is that, or "auto"."""
    known = labels.dropna()
    if holds_many(labels):
        raise UserError(f"{where} holds {MANY}; name another column")
    if labels.dtype.kind in "mM" or hasattr(labels.dtype, "tz"):
        raise UserError(f"{where} holds dates: make a number of it first, such as days since a date")
    numeric = known.dtype.kind in "iuf"
    if task == "auto":
        values = known.unique() if numeric else []
        few = numeric and len(values) <= MOST_CLASS_NUMBERS and (known % 1 == 0).all()
        few = few and (len(values) <= 2 or (values.min() in (0, 1) and values.max() <= MOST_CLASS_NUMBERS))
        task = "classes" if not numeric or few else "regression"
    if task == "regression":
        if not numeric:
            example = str(next(iter(known), ""))[:40]
            raise UserError(f"{where} holds text such as {example!r}: a regression needs numbers; state --format")
        return {"task": task, "classes": None}
    counts = recipe.as_classes(known).value_counts()
    if len(counts) > MOST_CLASSES:
        raise UserError(f"{where} has {len(counts)} labels; {MOST_CLASSES} are the most: is it an identifier?")
    return {"task": task, "classes": sorted(counts.index[counts >= FEWEST_OF_A_CLASS].tolist())}


def columns_of(table, special: dict, drop) -> tuple[list[dict], dict[str, list[str]]]:
    """Return what happens to each column of a table, and the names of the columns of each kind."""
    kinds: dict[str, list[str]] = {"numbers": [], "dates": [], "categories": []}
    described = []
    for name in table.columns:
        column = table[name]
        many, missing = holds_many(column), int(column.isna().sum())
        distinct = 0 if many else column.nunique()
        if name in special or name in drop:
            use = special.get(name, "left out: dropped")
        elif many:
            use = f"left out: {MANY}"
        elif distinct < 2 and not (distinct == 1 and missing):
            use = "left out: constant"
        else:
            kind, use = use_of(column, distinct)
            if kind:
                kinds[kind].append(name)
                if missing:
                    use += ", missing as a category" if kind == "categories" else ", missing: the mean and an indicator"
        found = {"column": name, "type": str(column.dtype), "distinct": distinct, "missing": missing}
        described.append(found | {"use": use})
    return described, kinds


def use_of(column: pd.Series, distinct: int) -> tuple[str | None, str]:
    """Return the kind of a column, or None if it is left out, and its use in words."""
    known = column.dropna()
    if column.dtype.kind == "M" or hasattr(column.dtype, "tz"):
        return "dates", "a date: seconds, month, day of the week, hour"
    if column.dtype.kind in "iufbm" or pd.api.types.is_numeric_dtype(column.dtype):
        if distinct == len(column) == known.max() - known.min() + 1 and (known % 1 == 0).all():
            return None, "left out; it numbers the rows, and is left out"
        far = int((column.abs() > reading.MOST).sum()) if column.dtype.kind == "f" else 0
        return "numbers", f"a number, standardised{f'; {far:,} values above {reading.MOST:g} are missing' * (far > 0)}"
    if distinct > recipe.CATEGORIES and distinct > FREE_TEXT * len(known):
        return None, "left out: nearly every value is different (a name, an identifier or free text)"
    few = f"the {recipe.CATEGORIES} most frequent of " if distinct > recipe.CATEGORIES else ""
    return "categories", f"{few}{distinct} categories, a column each"


def holds_many(column: pd.Series) -> bool:
    """Return whether the cells of a column hold more than one value, or bytes."""
    return column.dtype.kind == "O" and isinstance(next(iter(column.dropna()), None), list | dict | np.ndarray | bytes)
