"""The meaning of the texts of a column: one format for the whole column, found by pandas or asked for.

A format is "number" (1,234.5), "number," (1.234,5), "hours" (9:05 AM, 25:30:00), "ratio" (1.5:1), "iso" (2021-02-03),
the format of a date (%d.%m.%Y), or "text".
"""

import re

import numpy as np
import pandas as pd

from random_features.errors import UserError

#: Texts, in lower case, that are missing values in a column of numbers or dates. The user is asked about labels.
MISSING = {
    "?", "-", "--", "---", "na", "n/a", "n.a.", "n. a.", "k.a.", "k. a.", "k.a", "none", "null", "nan", "nat", "nil",
    "missing", "unknown", ".", "..", "...", "#n/a", "#na", "#nv", "#div/0!", "#value!", "#ref!", "*", "<na>", "n.v.",
    "n.d.", "nd", "s/d", "s.o.", "unbekannt", "inconnu", "keine angabe", "not available", "no data",
}  # fmt: skip

#: Dates, and times of day that may follow them.
DATES = (
    "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d",
    "%Y.%m.%d", "%Y%m%d", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%B %d, %Y", "%b %Y", "%m/%Y",
)  # fmt: skip
TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")

#: The parts of a number: sign, digits with thousands, decimals and exponent, before or after a sign of money or a unit.
DIGITS = {
    ",": r"[-+]?(?:[1-9]\d{0,2}(?:[.'’ ]\d{3})+|\d+)(?:,\d*)?(?:[eE][-+]?\d+)?|[-+]?,\d+",
    ".": r"[-+]?(?:[1-9]\d{0,2}(?:[,'’ ]\d{3})+|\d+)(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+",
}
MONEY = r"[€$£¥₹]|EUR|USD|CHF|GBP"
UNIT = rf"{MONEY}|[%‰°µA-Za-zÄÖÜäöü²³/]{{1,8}}"
NUMBER = {sign: re.compile(rf"(?P<sign>[-+]?)(?P<before>{MONEY})? ?(?P<digits>{digits}) ?(?P<after>{UNIT})?")
          for sign, digits in DIGITS.items()}  # fmt: skip

#: Blanks of numbers that are none of ASCII, and signs that look like a minus.
SIGNS = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2212": "-", "\u2013": "-"})

#: The share of numbers or dates of a column from which other texts are mistakes, and from which they are missing.
MOSTLY, OFTEN = 0.8, 0.5

#: Whole numbers up to this one are exact in float64.
LARGEST_EXACT = 2**53


def is_number(text: str, sign: str = "") -> bool:
    """Return whether a text is a number, with a decimal point or a decimal comma, or with one of them."""
    return any(NUMBER[each].fullmatch(text.translate(SIGNS)) for each in sign or ",.")


def numbers(texts: pd.Series, sign: str) -> pd.Series:
    """Return texts as numbers with a decimal ``sign``, NaN for others. Money and units are dropped."""
    found = pd.to_numeric(texts.astype(object), errors="coerce").astype(np.float64) if sign == "." else None
    rest = texts[found.isna() & (texts != "")] if found is not None else texts
    if len(rest):
        parts = [NUMBER[sign].fullmatch(text.translate(SIGNS)) for text in rest]
        values = [value(part, sign) if part else np.nan for part in parts]
        found = pd.Series(values, rest.index, dtype=np.float64).combine_first(found) if sign == "." else pd.Series(
            values, rest.index, dtype=np.float64)  # fmt: skip
    return found


def value(part, sign: str) -> float:
    """Return the number of a match of ``NUMBER``."""
    digits = re.sub(r"['’ ]|\." if sign == "," else r"['’ ]|,", "", part["digits"]).replace(",", ".")
    return -float(digits) if part["sign"] == "-" else float(digits)


def affixes(texts: pd.Series, sign: str) -> set[str]:
    """Return the money and units of texts that are numbers, "" where one has none."""
    parts = (NUMBER[sign].fullmatch(text.translate(SIGNS)) for text in texts)
    return {(part["before"] or "") + (part["after"] or "") for part in parts if part}


def hours(texts: pd.Series) -> pd.Series:
    """Return times of day and durations in hours, NaN for other texts."""
    text = texts.str.replace(r"\s*([AaPp])\.?[Mm]\.?$", r" \1M", regex=True).str.upper()
    half = text.str.extract(r" ([AP])M$")[0]
    shape = text.str.fullmatch(r"-?(\d+ DAYS?,? )?\d+:\d{2}(:\d{2}(\.\d+)?)?( [AP]M)?|P(\d+D)?(T[\dHMS.]+)?")
    plain = text.where(shape.fillna(False)).str.replace(r" [AP]M$", "", regex=True)
    plain = plain.where(plain.str.count(":") != 1, plain + ":00")
    found = pd.to_timedelta(plain.str.replace("DAY", "day").str.replace("DAYS", "days"), errors="coerce")
    found = found.dt.total_seconds() / 3600
    twelve = found.where((half.isna()) | ((found >= 1) & (found < 13)))
    return (twelve % 12 + 12 * (half == "P")).where(half.notna(), twelve)


def ratios(texts: pd.Series) -> pd.Series:
    """Return ratios such as 1.5:1 as numbers, NaN for other texts."""
    parts = texts.str.extract(r"^(\d+(?:\.\d+)?) ?: ?(\d+(?:\.\d+)?)$").astype(np.float64)
    return parts[0] / parts[1].where(parts[1] != 0)


def dates(texts: pd.Series, how: str) -> pd.Series:
    """Return dates of one format, in UTC where they have a zone, NaT for other texts."""
    how = "ISO8601" if how == "iso" else how
    found = pd.to_datetime(texts.astype(object), format=how, errors="coerce", utc=True)
    return found.dt.tz_localize(None)


def converted(column: pd.Series, how: str) -> pd.Series:
    """Return a column of texts in its format, missing where a text has another. Columns of numbers and dates stay."""
    if not is_text(column):
        return column
    if how == "number" and (found := pd.to_numeric(column, errors="coerce")).notna().sum() == (column != "").sum():
        return found.astype(np.float64)
    texts = column.astype(object).where(column.notna(), "").astype(str).str.strip()
    if how == "text":
        return texts.astype(object).where(texts != "", None)
    distinct = pd.Series(texts.unique(), dtype=object)
    if how in ("number", "number,"):
        found = numbers(distinct, "," if how.endswith(",") else ".")
    elif how in ("hours", "ratio"):
        found = (hours if how == "hours" else ratios)(distinct.astype(str))
    else:
        found = dates(distinct.where(distinct != "", None), how)
    return texts.map(pd.Series(found.to_numpy(), distinct.to_numpy()))


def is_text(column: pd.Series) -> bool:
    """Return whether a column has texts."""
    return pd.api.types.infer_dtype(column, skipna=True) in ("string", "mixed", "empty") and not isinstance(
        next(iter(column.dropna()), ""), list | dict | np.ndarray | bytes | bool)  # fmt: skip


def formats_of(frame: pd.DataFrame, asked: dict, stated: dict, decimal, path) -> tuple[dict, list[str]]:
    """Return the format of each column of texts, and notes on those that changed values.

    ``asked`` has formats by column that the user gave, ``stated`` those of the file, ``decimal`` the decimal sign or
    None.
    """
    found, notes, both = {}, [], {}
    for name in frame.columns[[is_text(column) for _, column in frame.items()]]:
        if name in asked or name in stated:
            found[name] = asked.get(name, stated.get(name))
            continue
        column = frame[name][frame[name].notna() & (frame[name] != "")].astype(str)
        if is_plain(column):
            found[name] = "number"
            continue
        fits, note = fits_of(name, counts := column.value_counts(), path)
        if {"number", "number,"} <= set(fits):
            both[name] = (fits, note)
            continue
        if len(fits) > 1:
            options = " or ".join(f"--format {name}={each}" for each in fits)
            raise UserError(f"{path}: the column {name!r}, such as {counts.index[0]!r}, has two meanings: {options}")
        found[name] = fits[0]
        notes += [f"{name!r}: {each}" for each in note]
    signs = {
        "," if how == "number," else "."
        for name, how in found.items()
        if how.startswith("number")
        and name not in stated
        and frame[name].str.contains(r"\d,\d" if how == "number," else r"\d\.\d").any()
    }
    for name, (_, note) in both.items():
        if not decimal and len(signs) != 1:
            example = next(each for each in frame[name] if re.search(r"\d[.,]\d", each))
            raise UserError(f"{path}: is {example!r} in the column {name!r} about one or a thousand times more? "
                            "state --decimal . or --decimal ,")  # fmt: skip
        sign = decimal or next(iter(signs))
        found[name] = "number," if sign == "," else "number"
        notes.append(f"{name!r}: numbers with the decimal sign {sign!r}{' of the other columns' * (not decimal)}")
        notes += [f"{name!r}: {each}" for each in note]
    return found, notes


def is_plain(column: pd.Series) -> bool:
    """Return whether all texts of a column are numbers with a decimal point, and nothing else: the common case."""
    if not len(column) or not is_number(column.iloc[0], ".") or pd.to_numeric(column, errors="coerce").isna().any():
        return False
    one_of_many = column.str.fullmatch(r"[-+]?[1-9]\d{0,2}(\.\d{3})+|[-+]?\d+").all()  # thousands, or whole numbers
    odd = column.str.match(r"[-+]?0\d") | (column.str.len() > 15)
    return not (odd.any() or (one_of_many and column.str.contains(r"\.|^\d{8}$").any()))


def fits_of(name: str, counts: pd.Series, path) -> tuple[list[str], list[str]]:
    """Return the formats that fit a column, two if they give different values, and notes; ``counts`` are those of its
    distinct texts.
    """
    texts = pd.Series(counts.index, dtype=object).astype(str)
    n, absent = counts.to_numpy(), texts.str.lower().isin(MISSING).to_numpy()
    words, has_digit = texts[absent], texts.str.contains(r"\d").to_numpy()
    if n[has_digit].sum() < OFTEN * n.sum():
        return ["text"], []
    texts, n = texts[~absent].reset_index(drop=True), n[~absent]
    masks = {how: mask for how, mask in candidates(texts).items() if n[mask].sum() > OFTEN * n.sum()}
    fits = [how for how, mask in masks.items() if mask.all()]
    if not fits:
        best = max(masks, key=lambda how: n[masks[how]].sum(), default=None)
        if best and n[masks[best]].sum() > MOSTLY * n.sum():
            wrong = texts[~masks[best]]
            few = f"{n[~masks[best]].sum():,} of {counts.sum():,} values of the column {name!r} are no {said(best)}"
            ways = f"--format '{name}={best}' makes them missing, --format '{name}=text' takes all as text"
            raise UserError(f"{path}: {few}, such as {wrong.iloc[0][:40]!r}: {ways}")
        return ["text"], []
    if fits[0].startswith("number"):
        if texts.str.fullmatch(r"[-+]?0\d+").any():
            return ["text"], [f"{texts[texts.str.match('0.')].iloc[0]!r} begins with a zero: text"]
        sign = "," if fits == ["number,"] else "."
        whole = [each for each in texts if len(each) > 15 and re.fullmatch(r"[-+]?\d+", each)]
        if any(abs(int(each)) > LARGEST_EXACT for each in whole):
            return ["text"], ["whole numbers beyond 2^53: text"]
        signs = affixes(texts, sign) if not pd.to_numeric(texts, errors="coerce").notna().all() else {""}
        if len(signs - {""}) > 1 or ("" in signs and not all(re.fullmatch(MONEY, each) for each in signs - {""})):
            raise UserError(f"{path}: the numbers of the column {name!r} have several units, "
                            f"such as {sorted(signs)[:3]}: give it one, or --format '{name}=text'")  # fmt: skip
        signs -= {""}
        note = [f"{signs.pop()!r} next to the numbers is left out"] if signs else []
        if sign == ",":
            note.append("numbers with a decimal comma")
        elif texts.str.contains(r"\d[,'’ \u00a0\u202f]\d", regex=True).any():
            note.append("numbers with marks between thousands")
        if "%Y%m%d" in fits:
            fits = ["%Y%m%d"]
    else:
        note = []
    if fits[0] not in ("number", "number,"):
        note.append(f"read as {said(fits[0])}")
    if len(words):
        shown = ", ".join(map(repr, words[:4]))
        note.append(f"{counts[words.to_numpy()].sum():,} texts are missing values ({shown})")
    return fits, note


def candidates(texts: pd.Series) -> dict[str, np.ndarray]:
    """Return which distinct texts each format fits, bool arrays; formats with the same values as one before are left
    out.
    """
    plain = pd.to_numeric(texts.astype(object), errors="coerce").notna().to_numpy()
    if plain.all():
        found = {"number": plain}
        grouped = texts.str.fullmatch(r"[-+]?[1-9]\d{0,2}(\.\d{3})+|[-+]?\d+").to_numpy()
        if grouped.all() and texts.str.contains(".", regex=False).any():
            found["number,"] = grouped
        if texts.str.fullmatch(r"(19|20)\d{6}").all() and (parsed := dates(texts, "%Y%m%d").notna()).all():
            found["%Y%m%d"] = parsed.to_numpy()
        return found
    found = {}
    for how, sign in (("number", "."), ("number,", ",")):
        mask = np.array([bool(NUMBER[sign].fullmatch(text.translate(SIGNS))) for text in texts])
        if mask.any():
            found[how] = mask
    if len(found) == 2 and found["number"].all() and found["number,"].all():
        both = [numbers(texts, sign).to_numpy() for sign in ".,"]
        if np.array_equal(*both):
            del found["number,"]
    some = texts.iloc[:: max(1, len(texts) // 100)]
    if some.str.contains(":").mean() > OFTEN:
        found["hours"] = hours(texts).notna().to_numpy()
        if not texts.str.fullmatch(r"\S+:\d{2}").all():
            found["ratio"] = ratios(texts).notna().to_numpy()
    values = {}
    for how in ["iso", *(date + time for date in DATES for time in TIMES)]:
        if dates(some, how).notna().mean() > OFTEN and not (how == "iso" and plain.any()):
            parsed = dates(texts, how)
            if not any(parsed.equals(other) for other in values.values()):
                values[how] = parsed
    for how, parsed in values.items():
        zoned = texts.str.contains(r"\d(?:Z|[+-]\d\d:?\d\d)$", regex=True)
        found[how] = parsed.notna().to_numpy() & (zoned == (zoned.mean() > OFTEN)).to_numpy()
    return {how: mask for how, mask in found.items() if mask.any()}


def said(how: str) -> str:
    """Return a format in words."""
    words = {"number": "number", "number,": "number with a decimal comma", "hours": "time in hours", "ratio": "ratio"}
    return words.get(how, "date (year-month-day)" if how == "iso" else f"date ({how})")
