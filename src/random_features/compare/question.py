"""Understand a file: its table and target, the kind of task, and the use of each column."""

from hashlib import sha256
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from random_features.compare import recipe
from random_features.compare.sniff import sniff
from random_features.errors import UserError, nearest

#: The fewest rows of a table, and of a class.
FEWEST_ROWS, FEWEST_OF_A_CLASS = 50, 10

#: What a cell may hold that no contestant takes.
MANY = "lists, structures or bytes"

#: Distinct whole numbers up to which a target is taken for classes, and the most classes.
MOST_CLASS_NUMBERS, MOST_CLASSES = 20, 200

#: The share of numbers from which a column with texts is taken for one with mistakes.
NEARLY_NUMBERS = 0.95

#: Texts that are no dates, by what they are and what to do. A column with more than one in twenty is left out.
NO_DATES = {
    r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?": "numbers with commas between thousands: write them without",
    r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?": "times of day: write them as hours",
}

#: The share of distinct texts from which a column is taken for names or free text.
FREE_TEXT = 0.5


class Question(NamedTuple):
    """A file as ``compare`` understood it.

    Attributes
    ----------
    table : frame or csr matrix (n, columns), without rows that have no target
    y : ndarray (n,), numbers of classes or targets of a regression
    groups : ndarray (n,) or None
    settings : what ``best.py`` needs to read the same rows: how, sha256, target, task, classes, group, time, columns
    notes : what was understood about the file, one line each
    columns : one dict per column of the file: column, type, distinct, missing, use
    """

    table: object
    y: np.ndarray
    groups: np.ndarray | None
    settings: dict
    notes: list[str]
    columns: list[dict]


def understand(path, target=None, *, task="auto", drop=(), group=None, time=None) -> Question:
    """Return what a file asks. Raise ``UserError``, in one line, for what cannot be answered."""
    how = sniff(path)
    digest = sha256(recipe.content(path)).hexdigest()
    table, labels = loaded(path, how)
    target = target or ("label" if how["format"] == "LIBSVM" else None)
    names = ["label"] if issparse(table) else list(table.columns)
    some = ", ".join(map(str, names if len(names) < 9 else [*names[:6], "...", f"{names[-1]} ({len(names)} in all)"]))
    if target is None:
        raise UserError(f"{path}: state the column to predict: --target COLUMN; it has {some}")
    stated = [("--target", target), ("--group", group), ("--time", time), *(("--drop", each) for each in drop)]
    for option, name in stated:
        if name is not None and name not in names:
            near = "".join(f"did you mean {each}? " for each in nearest(name, names))
            raise UserError(f"{option} {name}: {path} has no such column; {near}it has {some}")
    if target in (*drop, group, time):
        raise UserError(f"--target {target}: the column is also dropped, a group or a time")
    settings = {"how": how, "sha256": digest, "target": target, "group": group, "time": time, "drop": list(drop)}
    if time is not None:
        known = table[time].dropna()
        never = known.dtype.kind == "b" or holds_many(known)
        wrong = (known if never else known[recipe.as_times(known).isna()]).tolist()
        if wrong:
            raise UserError(f"--time {time}: {len(wrong):,} values are no time, such as {str(wrong[0])[:40]!r}")
    column = pd.Series(labels) if issparse(table) else table[target]
    settings |= target_of(column, task, f"{path}: the target {target!r}")
    described, settings["columns"] = [], None
    if not issparse(table):
        described, settings["columns"] = columns_of(table, {target: "target", group: "group", time: "order"}, drop)
    table, y, groups = recipe.question(path, settings, (table, labels))
    if len(y) < FEWEST_ROWS or (y == y[0]).all():
        kind = "finite number" if settings["task"] == "regression" else f"class of {FEWEST_OF_A_CLASS} rows or more"
        few = f"{len(y)} rows with a {kind}, {len(set(y))} different"
        raise UserError(f"{path}: the target {target!r} has {few}; at least {FEWEST_ROWS}, 2 different, are needed")
    if groups is not None and len(set(groups)) < recipe.FEW_FOLDS:
        raise UserError(f"--group {group}: has {len(set(groups))} groups; at least {recipe.FEW_FOLDS} are needed")
    if settings["columns"] is not None and not any(settings["columns"].values()):
        raise UserError(f"{path}: no column is left to predict {target!r} from")
    if settings["task"] == "regression" and np.abs(y).max() > recipe.MOST_OF_TARGET:
        most = f"{np.abs(y).max():g}; at most {recipe.MOST_OF_TARGET:g} is compared: rescale it"
        raise UserError(f"{path}: the target {target!r} has a value of {most}")
    notes = [f"read as {how['note']}", f"{len(y):,} rows, {table.shape[1] - (labels is None):,} columns"]
    notes += [
        f"warning: {each['column']!r}:{each['use'].partition(';')[2]}" for each in described if ";" in each["use"]
    ]
    if len(y) < len(column):
        notes.append(f"{len(column) - len(y):,} rows left out: no target, or a class of under {FEWEST_OF_A_CLASS} rows")
    if settings["task"] == "classes":
        shares = 100 * np.bincount(y) / len(y)
        shown = [f"{name} ({share:.0f} %)" for name, share in zip(settings["classes"], shares, strict=True)]
        notes.append(f"{target}: {len(shown)} classes: {', '.join(shown[:5])}{', ...' if len(shown) > 5 else ''}")
    else:
        notes.append(f"{target}: a regression, mean {y.mean():.4g}, standard deviation {y.std():.4g}")
    # a file must not steer the terminal
    notes = ["".join(each if each.isprintable() else "?" for each in note) for note in notes]
    return Question(table, y, groups, settings, notes, described)


def loaded(path, how):
    """Return the table and the labels of a file. Every failure of a reader is a ``UserError``."""
    try:
        table, labels = recipe.read(path, how)
        recipe.content.cache_clear()
    except ImportError as error:
        raise UserError(
            f"{path}: a {how['format']} file needs pyarrow: pip install 'random-features[compare]'"
        ) from error
    except Exception as error:  # readers raise errors of many types for files that are cut or damaged
        raise UserError(f"{path}: cannot be read as {how['note']}: {' '.join(str(error).split())[:200]}") from error
    if not issparse(table):
        repeated = table.columns[table.columns.duplicated()]
        if len(repeated):
            raise UserError(f"{path}: two columns are called {repeated[0]!r}; rename one")
    return table, labels


def target_of(labels: pd.Series, task: str, where: str) -> dict:
    """Return the task of a target, "classes" or "regression", and its classes; ``task`` is that, or "auto"."""
    known = labels.dropna()
    if holds_many(labels):
        raise UserError(f"{where} holds {MANY}; name another column")
    numeric = known.dtype.kind in "iuf"
    if task == "auto":
        few = numeric and known.nunique() <= MOST_CLASS_NUMBERS and (known % 1 == 0).all()
        task = "classes" if not numeric or few else "regression"
    if task == "regression":
        if not numeric and pd.to_numeric(known, errors="coerce").isna().mean() > 0.5:
            raise UserError(f"{where} holds text such as {str(known.iloc[0])[:40]!r}: a regression needs numbers")
        return {"task": task, "classes": None}
    counts = recipe.as_labels(labels).value_counts()
    if len(counts) > MOST_CLASSES:
        raise UserError(f"{where} has {len(counts)} labels; {MOST_CLASSES} are the most: is it an identifier?")
    return {"task": task, "classes": sorted(counts.index[counts >= FEWEST_OF_A_CLASS])}


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
    if column.dtype.kind in "iufb" or pd.api.types.is_numeric_dtype(column.dtype):
        far = int((column.abs() > recipe.MOST).sum()) if column.dtype.kind == "f" else 0
        return "numbers", "a number, standardised" + (f"; {far:,} values above {recipe.MOST:g} as missing" * (far > 0))
    known = column.dropna()
    for texts, hint in NO_DATES.items() if column.dtype.kind != "M" else ():
        if known.astype(str).str.fullmatch(texts).mean() > 1 - NEARLY_NUMBERS:
            return None, f"left out; {hint}"
    if column.dtype.kind == "M" or looks_like_dates(known):
        return "dates", "a date: seconds, month, day of the week, hour"
    texts, hint = known[pd.to_numeric(known.astype(str), errors="coerce").isna()], ""
    if 0 < len(texts) < (1 - NEARLY_NUMBERS) * len(known):
        example = f"such as {str(texts.iloc[0])[:40]!r}; correct them"
        hint = f"; {len(texts):,} of {len(known):,} values are no number, {example}"
    if distinct > recipe.CATEGORIES and distinct > FREE_TEXT * len(known):
        return None, f"left out: nearly every value is different (a name, an identifier or free text){hint}"
    few = f"the {recipe.CATEGORIES} most frequent of " if distinct > recipe.CATEGORIES else ""
    return "categories", f"{few}{distinct} categories, a column each{hint}"


def holds_many(column: pd.Series) -> bool:
    """Return whether the cells of a column hold more than one value, or bytes."""
    return column.dtype.kind == "O" and isinstance(next(iter(column.dropna()), None), list | dict | np.ndarray | bytes)


def looks_like_dates(known: pd.Series) -> bool:
    """Return whether texts are dates: they have digits and separators, and pandas reads nearly all of a sample."""
    some = known.astype(str).iloc[:: max(1, len(known) // 200)]
    if not some.str.contains(r"\d{1,4}[-/.:]\d{1,2}", regex=True).mean() > 0.9:
        return False
    return bool(pd.to_datetime(some, errors="coerce", utc=True, format="mixed").notna().mean() > 0.95)
