"""A column in its format (see ``texts``), of the file and of later frames."""

import io
import warnings

import numpy as np
import pandas as pd

from random_features.compare.texts import MISSING, SIGN_OF, measured, parsed
from random_features.errors import UserError

#: Whole numbers up to this one are exact in float64.
LARGEST_EXACT = 2**53

#: What ``units_of`` would return for a column that has no texts in the file.
PLAIN = [""], "marks between thousands"


def converted(column: pd.Series, how: str, missing=(), known: dict | tuple | None = None) -> pd.Series:
    """Return a column in its format, missing where a cell is one of ``missing``; a column that has the type stays.

    ``known`` is None for the file itself. For a later frame it has the texts of the file by their values
    (``texts_by_value``), of other columns what ``units_of`` returns. Raise ``UserError`` for values of other types,
    unless one text became each of them.
    """
    are_dates = how != "text" and pd.api.types.infer_dtype(column, skipna=True) in ("date", "datetime")
    try:
        values = pd.to_datetime(column) if are_dates else column
    except ValueError:  # with several offsets, or with and without one: as texts
        values = column
    units, lacks = known if known and how != "text" else PLAIN
    kind = "whole" if how == "number" and lacks == "decimals" else how
    if not has_type(values, kind) or "" not in units:
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


def values_of(column: pd.Series, how: str, missing, known: dict | tuple | None) -> pd.Series:
    """Return the values of the cells of a column; texts in another format are missing. Later texts are warned of if
    they are in another format, or are not in the file. Raise ``UserError`` for other cells that have no such value.
    """
    try:
        codes, cells = pd.factorize(column.astype(object), use_na_sentinel=False)
    except TypeError:  # of lists and structures
        example = next((cell for cell in column if cell.__hash__ is None), "tuples of them")
        raise refusal(column, example, "a list or a structure: a cell has one value") from None
    are_texts = np.array([isinstance(cell, str) for cell in cells], bool)
    texts = pd.Series([text_of(cell, column, how, known or {}) for cell in cells], dtype=str, name=column.name)
    is_known = texts.isin(["", *missing])
    if how == "text":
        values, why = texts.astype(object).where(~is_known, None), "are not in the file: a rare category, or none"
        odd = ~values.isin(set().union(*(known or {}).values()))  # None is among them if a cell was missing
    else:
        values = parsed(texts, how, known)
        meaning = " ".join([how, *filter(None, (known or PLAIN)[0])])
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


def text_of(cell, column: pd.Series, how: str, known: dict | tuple) -> str:
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
    shown = " ".join(str(example).split())[:60]
    return UserError(f"the column {column.name!r} has {column.dtype} such as {shown}, {why}")


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
