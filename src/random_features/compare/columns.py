"""The format of a column of texts (see ``texts``): one for the whole column, found by pandas or asked for."""

import io
import re
import warnings

import numpy as np
import pandas as pd

from random_features.compare.texts import (
    BEFORE,
    DATES,
    EITHER,
    FORMATS,
    IN_WORDS,
    LIKE_A_DATE,
    MARKED,
    MISSING,
    NEXT_TO_NUMBERS,
    OTHERS,
    PERIOD,
    SIGN_OF,
    SPANS,
    TIMES,
    WHOLE,
    has_sign,
    in_ascii,
    is_number,
    measured,
    numbers,
    parsed,
    units_of,
)
from random_features.errors import UserError

#: The share of numbers or dates of a column from which other texts are mistakes, and from which they are missing.
MOSTLY, OFTEN = 0.8, 0.5

#: Columns of one format whose first value is shown, and wordings from which numbers with words are codes.
NOTED, MOST_FORMS = 10, 10

#: Whole numbers up to this one are exact in float64.
LARGEST_EXACT = 2**53


# --- a column in its format -------------------------------------------------------------------------------------------


def converted(column: pd.Series, how: str, missing=(), known: dict | list | None = None) -> pd.Series:
    """Return a column in its format, missing where a cell is one of ``missing``; a column that has the type stays.

    ``known`` is None for the file itself. For a later frame it has the texts of the file by their values
    (``texts_by_value``), of other columns the units (``units_of``). Raise ``UserError`` for values of other types,
    unless one text became each of them.
    """
    are_dates = how != "text" and pd.api.types.infer_dtype(column, skipna=True) in ("date", "datetime")
    values = pd.to_datetime(column) if are_dates else column
    kind = "whole" if how == "number" and WHOLE in (known or ()) else how
    if not has_type(values, kind) or (known and "" not in known):
        return values_of(column, how, missing, known)
    if missing and how != "text":
        values = values.mask(values.isin(values_missing(missing, how)))
    return values


def values_missing(texts, how: str) -> pd.Series:
    """Return the values of texts of missing cells in the format of a column; in whole numbers 1,234 has none."""
    texts = pd.Series(texts, dtype=str)
    return parsed(texts[~texts.str.contains(r"[.,]\d{3}")] if how == "whole" else texts, how).dropna()


def has_type(column: pd.Series, how: str) -> bool:
    """Return whether a column has values of a format, and no texts."""
    if column.dtype.kind == "m":
        return how == "duration"
    if column.dtype.kind == "M":
        return how.startswith(("iso", "%")) and (column.dt.tz is not None) == (how == "iso+zone" or "%z" in how)
    if how == "whole" and column.dtype.kind == "f" and (column % 1 > 0).any():
        return False  # pandas reads 1.234 as a number, which may have been one or a thousand
    return pd.api.types.is_numeric_dtype(column) and how in ("number", "whole", "bool")


def values_of(column: pd.Series, how: str, missing, known: dict | list | None) -> pd.Series:
    """Return the values of the cells of a column; texts in another format are missing. Later texts are warned of if
    they are in another format, or are not in the file. Raise ``UserError`` for other cells that have no such value.
    """
    codes, cells = pd.factorize(column.astype(object), use_na_sentinel=False)
    are_texts = np.array([isinstance(cell, str) for cell in cells], bool)
    texts = pd.Series([text_of(cell, column, how, known or {}) for cell in cells], dtype=str, name=column.name)
    is_known = texts.isin(["", *missing])
    if how == "text":
        values, why = texts.astype(object).where(~is_known, None), "are not in the file: a rare category, or none"
        odd = ~values.isin(set().union(*(known or {}).values()))  # None is among them if a cell was missing
    else:
        values = parsed(texts, how, known)
        meaning = " ".join([how, *(unit for unit in known or () if unit not in ("", MARKED, WHOLE))])
        why = f"are not in the format {meaning!r}: missing"
        is_wrong = values.isna() & ~texts.str.lower().isin(MISSING)
        odd = ~is_known & (is_wrong | (~are_texts & (how == "number,")))  # 1.5 was no text with a decimal comma
        if others := cells[odd & ~are_texts].tolist():
            raise refusal(column, others[0], f"and its format is {meaning!r}")
        is_bare = measured(texts, how)[1].eq("") if missing and how in (*SIGN_OF, "whole") else True  # not of 99%
        values = values.mask(is_known | (values.isin(values_missing(missing, how)) & is_bare))
    if known is not None and odd.any():
        warnings.warn(f"the column {column.name!r}: {texts[odd].tolist()[:3]} {why}", stacklevel=2)
    return values.iloc[codes].set_axis(column.index).rename(column.name)


def text_of(cell, column: pd.Series, how: str, known: dict | list) -> str:
    """Return a cell as a text, "" if it is missing: in a column of texts, the one that it was in the file."""
    if isinstance(cell, str) and not known:
        return cell.strip()
    if how != "text":
        is_day = how.startswith("%Y") and isinstance(cell, int | float) and cell % 1 == 0  # 20210203.0
        return "" if pd.isna(cell) else f"{cell:.0f}" if is_day else str(cell).strip()
    texts = known.get(None if pd.isna(cell) else cell, [cell])
    if len(texts) > 1 or column.dtype.kind in "mM" or (isinstance(cell, float) and abs(cell) > LARGEST_EXACT):
        raise refusal(column, cell, f"which may have been a text of {texts}")
    return "" if pd.isna(texts[0]) else str(texts[0]).strip()


def refusal(column: pd.Series, example, why: str) -> UserError:
    """Return the error for a cell of another type than the format of its column."""
    return UserError(f"the column {column.name!r} has {column.dtype} such as {example}, {why}")


def texts_by_value(column: pd.Series) -> dict:
    """Return the texts of a column by the value that pandas reads them as, None for a missing one."""
    texts = pd.Series(column.dropna().unique(), dtype=str)
    read = pd.read_csv(io.StringIO(texts.to_csv(index=False)), dtype=str).iloc[:, 0]
    found = {None: [None]} if column.isna().any() else {}
    for text, is_missing in zip(texts, read.isna(), strict=True):
        value = pd.to_numeric({"true": 1, "false": 0}.get(text.lower(), text), errors="coerce")
        found.setdefault(None if is_missing else text if np.isnan(value) else value, []).append(text)
    return found


def is_text(column: pd.Series) -> bool:
    """Return whether a column has texts."""
    kind = pd.api.types.infer_dtype(column, skipna=True)
    return kind in ("string", "empty") or (kind == "mixed" and isinstance(next(iter(column.dropna())), str))


# --- the format of a column -------------------------------------------------------------------------------------------


def formats_of(frame: pd.DataFrame, given: dict, decimal: str | None, missing) -> tuple[dict, dict, list, list]:
    """Return the format of each column of texts, the units of numbers, doubts about formats that the user states and
    about years, and notes on formats that changed values.

    ``given`` has the formats of columns that the user or the file states, ``decimal`` the decimal sign or None,
    ``missing`` the texts that are missing values in all columns.
    """
    doubts, notes, distinct = [], [], {}

    def fitting(name):
        counts = frame[name][~frame[name].isin(["", *missing])].dropna().astype(str).value_counts(sort=False)
        distinct[name] = in_ascii(pd.Series(counts.index, dtype=str, name=name))
        if name not in given:
            return fits_of(name, counts, notes)
        how = stated(name, distinct[name], given[name])
        if how != "text":
            note_missing(name, counts[parsed(distinct[name], how).isna().to_numpy()], doubts)
        return [how]

    fits = for_each_column(fitting, [name for name, column in frame.items() if is_text(column)])
    clear = [name for name, how in fits.items() if how in (["number"], ["number,"]) and has_sign(distinct[name])]
    signs = {decimal} if decimal else {SIGN_OF[fits[name][0]] for name in clear}
    found = {name: how[0] if name in given else the_one(name, distinct[name], how, signs) for name, how in fits.items()}
    of_numbers = [name for name, how in found.items() if how in (*SIGN_OF, "whole")]
    units = for_each_column(lambda name: units_of(distinct[name], found[name], name in given), of_numbers)
    for name, how in found.items():
        if "%y" in how and (days := parsed(distinct[name], how)).max() > pd.Timestamp.now():
            example = f"{distinct[name][days.idxmax()]!r} is read as {days.max():%Y}"
            doubts.append(
                f"{name!r}: {example}: 68 is 2068, and 69 is 1969; write years of four digits if that is wrong"
            )
    notes += changes({name: texts for name, texts in distinct.items() if name not in given}, found)
    return found, units, doubts, notes


def for_each_column(find, names) -> dict:
    """Return what a function finds for each name; one ``UserError`` has all the questions that it asks."""
    found, questions = {}, []
    for name in names:
        try:
            found[name] = find(name)
        except UserError as error:
            questions.append(str(error))
    if questions:
        raise UserError("\n* ".join([f"{len(questions)} columns need an answer:"] * (len(questions) > 1) + questions))
    return found


def note_missing(name: str, absent: pd.Series, notes: list[str]) -> None:
    """Add a note on the texts of a column that are missing values, if any; ``absent`` has the rows of each."""
    if len(absent):
        shown = ", ".join(text[:40] for text in absent.index[:3])
        notes.append(f"{name!r}: texts that are missing values: {absent.sum():,} ({shown})")


def stated(name: str, texts: pd.Series, how: str) -> str:
    """Return the format that a user names for a column; of two that have one name, the one of more texts."""
    if "%" not in how and how not in (*FORMATS, *OTHERS):
        raise UserError(f"--format {name}={how}: there is no such format; a column has {', '.join(FORMATS)}, text, or "
                        "dates such as %d.%m.%Y")  # fmt: skip
    try:
        ways = {each: parsed(texts, each).notna().sum() for each in EITHER.get(how, [how]) if each != "text"}
    except ValueError as error:
        raise UserError(f"--format {name}={how}: {error}") from None
    if len(texts) and ways and not any(ways.values()):
        raise UserError(f"--format {name}={how}: no value has it, such as {texts[0]!r}")
    return max(ways, key=ways.get, default="text")


def the_one(name: str, texts: pd.Series, fits: list[str], signs: set) -> str:
    """Return the one format of those that fit a column, by the decimal ``signs`` of the file, or ask for it."""
    if fits == ["number"] and not has_sign(texts):
        return "number" if signs == {"."} else "whole"
    if fits == ["number", "number,"]:
        if len(signs) != 1:
            example = next(each for each in texts if re.search(r"\d[.,]\d", each))
            raise UserError(f"is {example!r} in the column {name!r} about one or a thousand times more? "
                            "state --decimal . or --decimal ,")  # fmt: skip
        return fits["," in signs]
    if len(fits) > 1:
        options = " or ".join(f"--format {name}={each}" for each in fits)
        raise UserError(f"the column {name!r}, such as {texts[0]!r}, has two meanings: {options}")
    return fits[0]


def changes(columns: dict, formats: dict) -> list[str]:
    """Return notes on the columns whose texts become other values, with an example for each of the first."""
    examples, notes = {}, []
    for name, texts in columns.items():
        if (how := formats[name]) != "text":
            values, plain = parsed(texts, how), texts.mask(texts.str.fullmatch(r"\d+[eE]\d+"))  # 1E3 may be a code
            is_same = values.eq(pd.to_numeric(plain, errors="coerce"))
            is_same |= (how == "iso") & texts.str.match(r"\d{4}-\d+-\d")  # so may be 1801-12
            changed = texts[values.notna() & ~is_same]
            unit = " hours" if how in SPANS else " UTC, month and hour too" if how == "iso+zone" else ""
            read = [f"{name!r}: {each!r} is read as {values[j]}{unit}" for j, each in changed[:1].items()]
            examples.setdefault(how, []).extend(read)
    for how, read in sorted(examples.items(), key=lambda each: each[0] in SIGN_OF):  # numbers last
        notes += read[:NOTED]
        if more := read[NOTED:]:
            notes.append(f"more columns have the format {how!r}: {len(more):,}, down to {more[-1]}")
    return notes


def fits_of(name: str, counts: pd.Series, notes: list[str]) -> list[str]:
    """Return the formats that fit a column, two if they give different values; missing values are noted. ``counts`` has
    the rows of each text.
    """
    if counts[counts.index.str.contains(r"\d")].sum() < max(1, OFTEN * counts.sum()):
        return ["text"]
    absent = counts[counts.index.str.lower().isin(MISSING)]
    counts = counts.drop(absent.index)
    texts = pd.Series(counts.index, dtype=str)
    values = values_by_format(texts)
    fits = [how for how, found in values.items() if found.notna().all()]
    fits = [how for how in fits if not any(first in fits and how == second for first, second in BEFORE)]
    if not fits:
        ask_about(name, counts, absent, values)
        return ["text"]
    if fits[0] in SIGN_OF:
        digits = in_ascii(texts[texts.str.fullmatch(r"[-+]?\d+")])
        if digits.str.contains(r"^[-+]?0\d").any() or any(abs(int(each)) > LARGEST_EXACT for each in digits):
            notes.append(f"{name!r}: whole numbers with a zero in front or beyond 2^53: text")
            return ["text"]
        if len(set(numbers(texts, SIGN_OF[fits[0]])[1])) > 1 and parsed(texts, "h:mm:ss").notna().all():
            may_be_codes = texts.str.fullmatch(r"[\d.]+ ?[DHMS]").all()  # as debit and credit in German, 5.20 S
            return ["h:mm:ss", "text"] if may_be_codes else ["h:mm:ss"]  # 45m and 2h
        if texts.str.fullmatch(r"\d-?").all() and texts.str.endswith("-").any():
            return [fits[0], "text"]  # 3- may be a mark at school
    note_missing(name, absent, notes)
    return fits


def values_by_format(texts: pd.Series) -> dict:
    """Return the values of texts by each format that more than half of them have; equal values count once."""
    some, values = texts.iloc[:: max(1, len(texts) // 100)], {}
    times = TIMES if some.str.contains(r"\d[:h]\d").any() else [""]
    for how in [*FORMATS, *(date + time for date in DATES for time in times)]:
        if how == "hours" and any(found.notna().all() for found in values.values()):
            break  # numbers, as in most columns, are nothing else
        if parsed(some, how).notna().mean() > OFTEN:
            found = parsed(texts, how)
            values |= {} if any(found.equals(other) for other in values.values()) else {how: found}
    return values


def ask_about(name: str, counts: pd.Series, absent: pd.Series, values: dict) -> None:
    """Ask the user about a column that no format fits, if nearly all of its texts have one, or look like dates."""
    fitted = {how: counts[found.notna().to_numpy()].sum() for how, found in values.items()}
    best = max(fitted, key=fitted.get, default=None)
    if best in SIGN_OF:
        are_numbers = counts.index.str.replace(NEXT_TO_NUMBERS, "", regex=True).map(is_number)
        fitted[best] = counts[values[best].notna().to_numpy() | are_numbers].sum()
    if best and fitted[best] > MOSTLY * counts.sum():
        wrong = counts[values[best].isna().to_numpy()]
        few = f"{wrong.sum():,} of {counts.sum() + absent.sum():,} values of the column {name!r} are"
        what = "no number" if best in SIGN_OF else f"not in the format {best!r}"
        ways = f"--format '{name}={best}' makes them missing, --format '{name}=text' takes all as text"
        absent = " ".join(f"--missing '{each[:40]}'" for each in wrong.index[:3])
        raise UserError(f"{few} {what}, such as {wrong.index[0][:40]!r}: {ways}; "
                        f"{absent} is for all columns")  # fmt: skip
    such, are_words = f"the column {name!r}, such as {counts.index[0]!r},", counts.index.str.fullmatch(IN_WORDS)
    forms = counts.index.str.replace(r"[\d.,]+", "", regex=True).nunique()
    if counts[are_words].sum() > MOSTLY * counts.sum() and forms <= MOST_FORMS:
        ways = f"write durations as 6h 40m, others in columns of their own, or state --format '{name}=text'"
        raise UserError(f"{such} has several numbers with words: {ways}")
    if len(days := pd.Series(counts.index[counts.index.str.match(LIKE_A_DATE)])) > OFTEN * len(counts):
        shapes = days.str.replace(r"\d+", "0", regex=True).str.replace(r"[^\W\d]+", "a", regex=True)
        some = days[~shapes.duplicated()].tolist()
        ways = f"state --format '{name}=%d.%m.%Y %H:%M' with its codes (of strftime)"
        ways = "write the first day of each in the file" if re.match(PERIOD, some[0]) else ways
        ways = f"{' and '.join(map(repr, some[:2]))} have two formats; write one in the file" if some[1:] else ways
        raise UserError(f"{such} looks like dates: {ways}, or --format '{name}=text'")
