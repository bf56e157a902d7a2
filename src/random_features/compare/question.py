"""Understand a file: its table and target, the kind of task, and the use of each column."""

import re
from collections import namedtuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from random_features.compare import reading, recipe
from random_features.compare.columns import is_text, values_missing
from random_features.compare.formats import MOST_FORMS, OFTEN, formats_of
from random_features.compare.texts import MISSING, SIGN_OF, is_number
from random_features.errors import UserError, nearest

#: The fewest rows of a table, of a class, and the fewest groups.
FEWEST_ROWS, FEWEST_OF_A_CLASS, FEWEST_GROUPS = 50, 10, 5

#: Distinct whole numbers from 0 or 1 up to which a target is taken for classes, from which they may be counts, and the
#: most classes.
MOST_CLASS_NUMBERS, FEWEST_COUNTS, MOST_CLASSES = 20, 6, 200

#: The share of distinct texts from which a column is taken for names or free text, the shares of distinct whole numbers
#: and of their range that they fill if they number the rows, and the largest target.
FREE_TEXT, NEARLY_ALL, FILLED, LARGEST_TARGET = 0.5, 0.99, 0.5, 1e150

#: Quartile ranges from which one value is far from its median (``recipe.SPIKE`` for one that recurs), and years, which
#: number no rows.
FAR, YEARS = 300, (1800, 2100)

#: Names of identifiers.
IDENTIFIER = re.compile(r"(?i:(.*[ _.-])?(id|uuid|nr|no)\.?|id[ _.-].*)|.*[a-z]I[Dd]")


#: A file as ``compare`` understood it: the table (n, columns) without rows that are left out, a frame or csr matrix; y
#: (n,), numbers of classes or targets of a regression; groups (n,) or None; ``settings``, with which ``best.py`` reads
#: the same rows; ``notes`` on what was understood, one line each; ``changed``, the decisions that changed values or
#: rows, or could be others; and a dict per column of the file: column, type, distinct, missing, kind, use.
Question = namedtuple("Question", "table y groups settings notes changed columns")


def understand(path, target=None, **how) -> Question:
    """Return what a file asks; the options are those of the command. Raise ``UserError``, in one line, for what cannot
    be answered, or what an option must decide.
    """
    asked = {"target": target} | {option: how.pop(option, None) for option in reading.OPTIONS}
    raw = reading.read(path, asked)
    try:
        return understood(raw, asked, **how)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def understood(raw, asked, *, task="auto", drop=(), group=None, time=None, metric=None, formats=(), missing=None,
               decimal=None) -> Question:  # fmt: skip
    """Return what a table asks that was read as it was ``asked``."""
    target = asked["target"] or ("label" if raw.how["kind"] == "LIBSVM" else None)
    missing = [missing] if isinstance(missing, str) else missing or ()
    ways = dict(each.partition("=")[::2] for each in formats)
    check_names(raw, target, group, time, drop, ways)
    formats, units, doubts, read = {}, {}, [], []
    changed, is_sparse = list(raw.notes), issparse(raw.table)
    if is_sparse and (group or time or drop or ways or any(missing)):
        raise UserError("a sparse table has no --group, --time, --drop, --format or --missing")
    absent = [] if is_sparse else [text for given in missing for text in texts_of(given, raw.table)]
    if not is_sparse:
        left = raw.table[sorted(raw.table.columns.drop(list({*drop} - {group, time})), key=lambda name: name != target)]
        given, of_text = raw.formats | ways, left.select_dtypes(exclude="category")
        sign = decimal or ("." if raw.formats else None)  # numbers of ARFF have points
        texts, units, doubts, read = formats_of(of_text, given, sign, absent, target)
        formats = {name: ways.get(name) or recipe.format_of(column) for name, column in left.items()
                   if name not in texts and recipe.kind_of(column) != recipe.MANY} | texts  # fmt: skip
    changed += [f"--missing {each}: no cell is that, so {each.replace(',', ' and ')} are missing" for each in missing
                if "," in each and is_number(each) and each not in absent]  # fmt: skip
    table = recipe.typed(raw.table, formats, absent)
    plain = recipe.typed(raw.table, formats) if absent else None
    changed += [f"--missing {each}: no cell has it" for each in absent if not has_cell(raw.table, plain, formats, each)]
    lost = {} if plain is None else (table.isna().sum() - plain.isna().sum()).loc[lambda each: each > 0]
    shown = [f"{name!r} ({n:,})" for name, n in lost.items()]
    changed += [f"--missing takes cells of {', '.join(shown[:8])}{', ...' * (len(shown) > 8)}"] * bool(shown)
    if decimal and decimal not in map(SIGN_OF.get, formats.values()):
        changed.append(f"--decimal {decimal}: no column has numbers to which it applies")
    if time and table[time].dtype.kind not in "iufmM":
        example = str(next(iter(table[time].dropna()), ""))[:40]
        raise UserError(f"--time {time}: its values are no times, such as {example!r}")
    labels = recipe.target_of(table, raw, target)
    labels = labels if is_sparse else labels[table[[*filter(None, (group, time))]].notna().all(axis=1)]
    found, classes = task_of(labels, task, missing, f"the target {target!r}")
    if found != task and few_whole_numbers(labels.dropna()) and labels.nunique() > 2:
        other = "regression" if found == "classes" else "classes"
        changed.append(f"{target!r}, few whole numbers, is taken for {found}; --task {other} changes it")
    metrics = recipe.METRICS[found][: 3 if len(classes or "12") > 2 else None]
    if metric and metric not in metrics:
        raise UserError(f"--metric {metric}: this target has {', '.join(metrics)}")
    settings = {"asked": asked, "how": raw.how, "target": target, "group": group, "time": time, "formats": formats,
                "units": units, "missing": absent, "task": found, "classes": classes, "metric": metric or metrics[0],
                "columns": None}  # fmt: skip
    described = []
    if not is_sparse:
        seasons = [time] if time and time not in drop and recipe.kind_of(table[time]) == "dates" else []
        uses = dict.fromkeys(drop, "left out: dropped") | {target: "target", group: "group"}
        uses |= {time: f"order{', day of the week and hour' * bool(seasons)}"}
        described = [described_column(name, table[name], uses.get(name), name in ways) for name in table]
        settings["columns"] = {kind: [each["column"] for each in described if each["kind"] == kind]
                               for kind in recipe.KINDS} | ({"seasons": seasons} if seasons else {})  # fmt: skip
        doubts += [f"{each['column']!r}: {each['doubt']}" for each in described if each["doubt"]]
    table, y, groups, left_out = recipe.question(raw, settings, table)
    check(y, groups, settings, described)
    first = [f"rows left out: {n:,} ({why})" for why, n in left_out.items() if n]
    out = [f"{each['column']!r} ({each['use'][10:]})" for each in described
           if each["use"].startswith("left out") and each["column"] not in drop]  # fmt: skip
    first += [f"columns left out: {', '.join(out[:8])}{', ...' * (len(out) > 8)}"] * bool(out)
    of_target = [note for note in read if note.startswith(f"{target!r}: ")]
    # the target and what is lost come first: the console shows a few
    changed = of_target + first + doubts + changed + [note for note in read if note not in of_target]
    notes = [f"read as {raw.how.get('words', raw.how['kind'])}", f"{len(y):,} rows, {len(raw.names):,} columns"]
    if classes:
        shares = zip(classes, 100 * np.bincount(y) / len(y), strict=True)
        shown = [f"{name} ({share:.3g} %)" for name, share in shares]
        notes.append(f"{target}: {len(shown)} classes: {', '.join(shown[:5])}{', ...' * (len(shown) > 5)}")
    else:
        notes.append(f"{target}: a regression, mean {y.mean():.4g}, standard deviation {y.std():.4g}")
    return Question(table, y, groups, settings, printable(notes), printable(changed), described)


def texts_of(missing: str, table) -> list[str]:
    """Return the texts of a ``--missing``: the whole if it is a cell, as -99,9 may be, or else those between commas."""
    whole = "," in missing and any(column.isin([missing]).any() for _, column in table.items() if is_text(column))
    return [missing] if whole else list(filter(None, missing.split(",")))


def has_cell(table, values, formats, text) -> bool:
    """Return whether a cell has a text, or the value of the text in the format of its column."""
    found = any(values[name].isin(values_missing([text], how)).any() for name, how in formats.items() if how != "text")
    return found or any(table[name].astype(object).isin([text]).any() for name in formats)


def printable(texts: list[str]) -> list[str]:
    """Return texts without what steers a terminal."""
    return ["".join(each if each.isprintable() else "?" for each in text) for text in texts]


def check_names(raw, target, group, time, drop, ways) -> None:
    """Raise ``UserError`` for a column of an option that a file does not have, or that has two uses."""
    names, doubt = raw.names, "".join(f"{note}; " for note in raw.notes if "--encoding" in note)
    some = ", ".join(names if len(names) < 9 else [*names[:6], "...", f"{names[-1]} ({len(names)} in all)"])
    if target is None:
        raise UserError(f"state the column to predict: --target COLUMN; it has {some}")
    stated = [("--target", target), ("--group", group), ("--time", time)]
    for option, name in [*stated, *(("--drop", each) for each in drop), *(("--format", each) for each in ways)]:
        if name is not None and name not in names:
            near = "".join(f"did you mean {each}? " for each in nearest(name, names))
            read = f"{raw.how.get('words', raw.how['kind'])}: it has {some}"
            raise UserError(f"{option} {name}: the file has no such column; {near}{doubt}read as {read}")
    if target in (*drop, group, time):
        raise UserError(f"--target {target}: the column is also dropped, a group or a time")


def check(y, groups, settings, described) -> None:
    """Raise ``UserError`` for a table that is too small, or has nothing to predict from."""
    target = settings["target"]
    if len(y) < FEWEST_ROWS or (y == y[0]).all():
        kind = "finite number" if settings["task"] == "regression" else f"class of {FEWEST_OF_A_CLASS} rows or more"
        few = f"{len(y)} rows with a {' and a '.join([kind, *filter(settings.get, ('group', 'time'))])}, {len(set(y))}"
        few += " different" + " (--task regression takes numbers as they are)" * (settings["task"] != "regression")
        empty = next((each["missing"] for each in described if each["column"] == target), 0)
        more = f"; {empty:,} more have none: write a label into empty cells that mean one" if empty else ""
        more *= settings["task"] != "regression"
        raise UserError(f"the target {target!r} has {few}; at least {FEWEST_ROWS}, 2 different, are needed{more}")
    if groups is not None and len(set(groups)) < FEWEST_GROUPS:
        raise UserError(f"--group: the column has {len(set(groups))} groups; at least {FEWEST_GROUPS} are needed")
    if settings["columns"] is not None and not any(settings["columns"].values()):
        why = "; ".join(f"{each['column']!r} is {each['use']}" for each in described if each["column"] != target)[:300]
        raise UserError(f"no column is left to predict {target!r} from: {why}. Make numbers of texts first, "
                        "for example with TfidfVectorizer, and save them with scipy.sparse.save_npz")  # fmt: skip
    if settings["task"] == "regression" and np.abs(y).max() > LARGEST_TARGET:
        raise UserError(f"the target {target!r} has a value of {np.abs(y).max():g}; at most 1e+150 is compared")


def few_whole_numbers(known: pd.Series) -> bool:
    """Return whether numbers are whole, and few of them differ."""
    return known.dtype.kind in "iuf" and known.nunique() <= MOST_CLASS_NUMBERS and bool((known % 1 == 0).all())


def task_of(labels: pd.Series, task: str, missing, where: str) -> tuple[str, list | None]:
    """Return the task of a target, "classes" or "regression", and its classes; ``task`` is that, or "auto"."""
    known, kind = labels.dropna(), recipe.kind_of(labels)
    example, is_numeric = str(next(iter(known), ""))[:40], labels.dtype.kind in "iuf"
    if kind == recipe.MANY:
        raise UserError(f"{where} holds {kind}; name another column")
    if kind == "dates" or labels.dtype.kind == "m":
        raise UserError(f"{where} holds dates: make a number of it first, such as days since a date")
    words = {each for each in known if isinstance(each, str) and each.lower() in MISSING}
    if words and not missing:
        ask = f"--missing '{','.join(sorted(words))}' leaves its rows out, --missing '' takes it for a label"
        raise UserError(f"{where} has the text {min(words)!r}: {ask}")
    if task == "auto":
        rows = known.value_counts().sort_index() if few_whole_numbers(known) else pd.Series(dtype=int)
        jumps = np.diff(rows)  # counts are many at one number, and fewer on both sides, but for noise
        steps = np.sign(jumps[np.abs(jumps) > 3 * np.sqrt(rows.max())])
        is_count = len(rows) >= FEWEST_COUNTS and rows.max() > 10 * rows.min() and (np.diff(steps) <= 0).all()
        few = 0 < len(rows) <= 2 or (min(rows.index, default=-1) in (0, 1) and rows.index.max() <= MOST_CLASS_NUMBERS)
        task = "classes" if not is_numeric or (few and not is_count) else "regression"
    if task == "regression" and not is_numeric:
        raise UserError(f"{where} holds text such as {example!r}: a regression needs numbers; state --format")
    if task == "regression":
        return task, None
    counts = recipe.as_classes(known).value_counts()
    if len(counts) > MOST_CLASSES:
        why = "an identifier is no target, and numbers need one known format in all cells"
        raise UserError(f"{where} has {len(counts)} labels, such as {example!r}; {MOST_CLASSES} are the most: {why}")
    kept = sorted(counts.index[counts >= FEWEST_OF_A_CLASS].tolist())
    return task, sorted(kept, key=counts.to_dict().get, reverse=True) if len(kept) == 2 else kept  # the rarer is found


def numbers_within(name: str, known: pd.Series) -> str:
    """Return advice on the numbers among or within different texts of a column, "" if all are, or wordings are many."""
    texts = known.astype(str)
    are_numbers = texts.map(is_number)
    if OFTEN < are_numbers.mean() < 1:
        return f"; --format '{name}=number' takes numbers, and makes others missing"
    if are_numbers.all() or texts.str.replace(r"\d[\d.,]*", "0", regex=True).nunique() > MOST_FORMS:
        return ""
    example = next((each for each in texts if re.search(r"\d", each)), "")
    return f"; give the numbers in {example[:40]!r} columns of their own if they matter"


def described_column(name: str, column: pd.Series, use: str | None, is_stated: bool) -> dict:
    """Return what happens to a column: its kind, if it predicts, its use in words, and a doubt about it."""
    kind, missing, known, doubt = recipe.kind_of(column), int(column.isna().sum()), column.dropna(), ""
    distinct = 0 if kind == recipe.MANY else known.nunique()
    every = distinct + (missing > 0)  # a missing value is a category of its own
    merged = (every - recipe.CATEGORIES + 1) * (every > recipe.CATEGORIES)
    shown = {"column": name, "type": str(column.dtype), "distinct": distinct, "missing": missing}
    if kind == recipe.MANY:
        use = use or f"left out: {kind}"
    elif distinct < 2 and not (distinct == 1 and missing):
        use = use or "left out: constant"
    elif kind == "categories" and distinct > max(recipe.CATEGORIES, FREE_TEXT * len(known)):
        why = f"nearly every value is different (a name, an identifier or free text){numbers_within(name, known)}"
        use = use or f"left out: {why}"
    elif kind == "categories":
        texts = pd.Series(sorted(map(str, known.unique())), dtype=str)
        alike = texts[texts.str.casefold().str.split().str.join(" ").duplicated(keep=False)].map(repr)
        doubts = []
        if merged and not use:
            doubts = [f"its {merged:,} rarest texts share a column{numbers_within(name, known)}"]
        doubt = "; ".join(doubts + [f"{', '.join(alike[:5])} differ only by case or blanks"] * any(alike))
    elif kind in ("numbers", "dates") and use in (None, "target"):
        values = np.clip(recipe.as_times(known).to_numpy(np.float64), -1e300, 1e300)
        lowest, low, middle, high, highest = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
        far = []
        for end in (lowest, highest):
            away, same = abs(end - middle) / (high - low or np.inf), known[values == end]
            is_open = kind == "dates" and same.iloc[0].year == 9999  # even if half of all end so
            if is_open or away > FAR or (away > recipe.SPIKE and len(same) > 1):  # -999 in many rows
                rows = f" in {len(same):,} rows" * (len(same) > 1)
                far.append(f"{same.iloc[0]}{rows}, {away:,.0f} quartile ranges from its median")
        more = "; else consider its logarithm" if kind == "numbers" and lowest > 0 else ""
        doubt = f"a value, {' and '.join(far)}; if it means missing, --missing{more}" if far else ""
        if max(-lowest, highest) > reading.MOST:
            doubt = f"values above {reading.MOST:g} are missing: {(np.abs(values) > reading.MOST).sum():,}"
        if not use and kind == "numbers" and distinct >= NEARLY_ALL * len(column) and (values % 1 == 0).all():
            in_years = YEARS[0] <= lowest and highest <= YEARS[1]
            if IDENTIFIER.fullmatch(name) or (distinct >= FILLED * (highest - lowest + 1) and not in_years):
                use = None if is_stated else f"left out: numbers the rows; --format {name}=number keeps it"
            else:
                doubt += f"{'; ' * bool(doubt)}whole numbers that nearly all differ; if it is an identifier, --drop it"
    if use:
        return shown | {"kind": None, "use": use, "doubt": doubt if use == "target" else ""}
    categories = f"{every - merged} of {every} categories, a column each"
    dates = "seconds, month, day of the week and hour"
    use = {"numbers": "a number, standardised", "dates": dates, "categories": categories}[kind]
    return shown | {"kind": kind, "use": use, "doubt": doubt}
