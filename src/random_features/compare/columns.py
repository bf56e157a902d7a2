"""The meaning of the texts of a column: one format for the whole column, found by pandas or asked for.

A format is "number" (1,234.5), "number," (1.234,5), "hours" (9:05 AM, 25:30), "h:mm:ss" (25:30:00), "ratio" (1.5:1),
"iso" (2021-02-03), "iso+zone", the format of a date (%d.%m.%Y), "text", or of files with types "bool" and "duration".
"""

import calendar
import io
import re
import warnings

import numpy as np
import pandas as pd

from random_features.errors import UserError

#: Texts, in lower case, that are missing values in a column of numbers or dates. The user is asked about labels.
MISSING = {"?", "-", "--", "---", "na", "n/a", "n.a.", "n. a.", "k.a.", "k. a.", "k.a", "none", "null", "nan", "nat",
           "nil", "missing", "unknown", ".", "..", "...", "#n/a", "#na", "#nv", "#div/0!", "#value!", "#ref!", "*",
           "<na>", "n.v.", "n.d.", "nd", "n/d", "s/d", "s.o.", "nc", "n.c.", "unbekannt", "inconnu", "keine angabe",
           "not available", "no data", "欠測"}  # fmt: skip

#: Dates, and times of day that may follow them.
DATES = (
    "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d",
    "%Y.%m.%d", "%Y年%m月%d日", "%d %b %Y", "%d. %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%d%b%Y",
    "%b %Y", "%m/%Y",
)  # fmt: skip
TIMES = (" %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", " %Hh%M", " %Hh%M:%S", ":%H:%M:%S")

#: How the months begin in English, French, German, Italian, Portuguese and Spanish.
MONTHS = ("jan|ene|gen", "feb|fév|fev", "mar|mär", "apr|avr|abr", "may|mai|mag", "jun|juin|giu", "jul|juil|lug",
          "aug|aoû|ago", "sep|set", "oct|okt|ott|out", "nov", "dec|déc|dez|dic")  # fmt: skip

#: Formats other than dates. If both formats of a pair of ``BEFORE`` fit, the first is taken; others are asked for.
#: A user who asks for a format of ``EITHER`` gets the one that more texts have: 2:08 next to 1:02:08 may be minutes.
FORMATS = ("number", "number,", "%Y%m%d", "hours", "h:mm:ss", "ratio", "iso", "iso+zone")
EITHER = {"hours": ("hours", "h:mm:ss"), "iso": ("iso", "iso+zone")}
BEFORE = (("%Y%m%d", "number"), ("hours", "ratio"))

#: The marks between thousands by the decimal sign of a number, lakhs (1,23,456), money, and units.
MARKS = {",": r"[.'’ ]", ".": r"[,'’ ]"}
LAKHS = r"[1-9]\d?(?:,\d\d)+,\d{3}"
MONEY = r"[A-Z]{0,2}[$£¥\u20a0-\u20bf]|EUR|USD|CHF|GBP|INR|JPY|BRL|Rs\.?|kr\.?|Fr\.?"
UNIT = rf"{MONEY}|[%/A-Za-z\u00b0-\uffdc]{{1,8}}"
NUMBER = {
    sign: rf"^(?P<sign>[-+]?)(?P<before>{MONEY})? ?(?P<digits>[-+]?(?:(?:[1-9]\d{{0,2}}(?:{marks}\d{{3}})+|{LAKHS}|\d+)"
          rf"(?:[{sign}]\d*)?|[{sign}]\d+)(?:[eE][-+]?\d+)?) ?(?P<after>{UNIT})?$"
    for sign, marks in MARKS.items()
}  # fmt: skip

#: The start of a date, also with the name of a month; the end of a time with a zone.
LIKE_A_DATE = (
    r"(?:[^\W\d]{2,10}\.?,? )?(?:\d{1,4}([-./ ])\d{1,2}\1\d{1,4}\b(?!\1)|\d{1,2}\.?[- ][^\W\d]{3,9}\.?[- ]\d{4})"
)
ZONE = r":\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$"

#: Blanks of numbers that are none of ASCII, and signs that look like a minus.
SIGNS = str.maketrans("\u00a0\u202f\u2009\u2212\u2013\uff0d\uff05\uffe5", "   ---%¥")

#: Decimal commas as points; then points make no number.
COMMAS = str.maketrans(",.", ".;")

#: The share of numbers or dates of a column from which other texts are mistakes, and from which they are missing.
MOSTLY, OFTEN = 0.8, 0.5

#: Columns of one format whose first value is shown.
NOTED = 10

#: Whole numbers up to this one are exact in float64.
LARGEST_EXACT = 2**53


def is_number(text: str, signs: str = ".,") -> bool:
    """Return whether a text is a number with one of the decimal signs."""
    return any(re.match(NUMBER[sign], text.translate(SIGNS)) for sign in signs)


def numbers(texts: pd.Series, sign: str) -> tuple[pd.Series, pd.Series]:
    """Return texts as numbers with a decimal ``sign``, NaN for others, and the money or units next to them."""
    plain = pd.to_numeric(texts if sign == "." else texts.str.translate(COMMAS), errors="coerce")
    if plain.notna().all():
        return plain.astype(np.float64), pd.Series("", texts.index)
    rest = texts[plain.isna()].str.translate(SIGNS).str.replace(r"^\((.+)\)$|^([^-]+)-$", r"-\1\2", regex=True)
    parts = rest.str.extract(NUMBER[sign])
    digits = parts["digits"].str.replace(MARKS[sign], "", regex=True).str.replace(",", ".")
    found = plain.astype(np.float64).fillna(pd.to_numeric(parts["sign"] + digits, errors="coerce"))
    return found, parts["before"].fillna("").add(parts["after"].fillna("")).reindex(texts.index, fill_value="")


def hours(texts: pd.Series, seconds: bool) -> pd.Series:
    """Return times of day and durations, all with ``seconds`` or without, in hours, NaN for other texts."""
    spans = r"-?(\d+ days?,? )?\d+:\d\d:\d\d(\.\d+)?|P(\d+D)?(T[\dHMS.]+)?" if seconds else r"-?\d+:\d\d"
    found = pd.to_timedelta(texts.where(texts.str.fullmatch(spans)) + ("" if seconds else ":00"), errors="coerce")
    clock = texts.str.upper().str.replace(r" *([AP])\.?M\.?$", r" \1M", regex=True)
    for how in ("%I:%M %p", "%I:%M:%S %p"):
        found = found.fillna(pd.to_datetime(clock, format=how, errors="coerce") - pd.Timestamp(1900, 1, 1))
    return found.dt.total_seconds() / 3600


def dates(texts: pd.Series, how: str) -> pd.Series:
    """Return dates of one format, in UTC where they have a zone, NaT for other texts."""
    if how.startswith("iso"):
        texts = texts.where(texts.str.contains("[-T]") & (texts.str.contains(ZONE) == (how == "iso+zone")))
    elif how == "%Y%m%d":
        texts = texts.where(texts.str.fullmatch(r"(19|20)\d{6}"))
    for name, starts in zip(calendar.month_abbr[1:], MONTHS if "%b" in how else (), strict=False):
        texts = texts.str.replace(rf"(?i)\b(?:{starts})[^-\d\s.,:/]*\.?", name, regex=True)
    found = pd.to_datetime(texts, format="ISO8601" if how.startswith("iso") else how, errors="coerce", utc=True)
    return found.dt.tz_localize(None)


def parsed(texts: pd.Series, how: str) -> pd.Series:
    """Return texts in a format, missing where they have another."""
    if how.startswith("number"):
        return numbers(texts, how[6:] or ".")[0]
    if how == "ratio":
        parts = texts.str.extract(r"^(\d+(?:\.\d+)?) ?: ?(\d+(?:\.\d+)?)$").astype(np.float64)
        return parts[0] / parts[1].where(parts[1] != 0)
    if how in ("bool", "duration"):
        truth = texts.str.lower().map({"true": 1.0, "false": 0.0})
        return truth if how == "bool" else pd.to_timedelta(texts, errors="coerce")
    return hours(texts, how == "h:mm:ss") if how in EITHER["hours"] else dates(texts, how)


def converted(column: pd.Series, how: str, missing=(), known: dict | None = None) -> pd.Series:
    """Return a column in its format, missing where a text has another or is one of ``missing``; a column of this type
    stays. ``known`` has the texts of the file that a column has its format from (``texts_by_value``).

    Raise ``UserError`` for values of other types, unless there is one text that they were.
    """
    if how == "text":
        return as_texts(column, missing, known or {})
    is_number, kind = pd.api.types.is_numeric_dtype(column), pd.api.types.infer_dtype(column, skipna=True)
    made = pd.to_datetime(column) if kind in ("date", "datetime") else column
    if how.startswith("%Y") and is_number and (column.dropna() % 1 == 0).all():
        made = column.map("{:.0f}".format, na_action="ignore")
    elif kind == "categorical" or (how == "number" and column.dtype == object):
        made = column.astype(object).where(column.isna(), column.astype(str))
    is_typed = (is_number and how in ("number", "bool")) or (made.dtype.kind == "m" and how == "duration")
    if not is_typed and not (pd.api.types.is_datetime64_any_dtype(made) and how.startswith(("iso", "%"))):
        codes, distinct = pd.factorize(made.astype(object).where(made.notna(), "").astype(str).str.strip())
        distinct = pd.Series(distinct, dtype=str)
        values = parsed(distinct, how)
        odd = distinct[values.isna() & ~distinct.isin(["", *missing]) & ~distinct.str.lower().isin(MISSING)].tolist()
        if made.notna().any() and (not is_text(made) or (is_number and odd)):
            wrong = f"the column {column.name!r} has {column.dtype} such as {made.dropna().iloc[0]}"
            raise UserError(f"{wrong}, and its format is {how!r}")
        if odd and known is not None:
            warnings.warn(f"the column {column.name!r}: {odd[:3]} are not in the format {how!r}: missing", stacklevel=2)
        made = values.iloc[codes].set_axis(column.index).rename(column.name)
    return made.mask(made.isin(parsed(pd.Series(missing, dtype=str), how).dropna())) if missing else made


def as_texts(column: pd.Series, missing, known: dict) -> pd.Series:
    """Return a column as texts, None where they are blank or ``missing``, and values as the texts that they were."""

    def text_of(cell):
        texts = known.get(None if pd.isna(cell) else cell, [cell])
        if len(texts) > 1 or column.dtype.kind in "mM" or (isinstance(cell, float) and abs(cell) > LARGEST_EXACT):
            wrong = f"the column {column.name!r} has {column.dtype} such as {cell}"
            raise UserError(f"{wrong}, which may have been a text of {texts}")
        return None if pd.isna(texts[0]) or (text := str(texts[0]).strip()) in ("", *missing) else text

    codes, distinct = pd.factorize(column.astype(object), use_na_sentinel=False)
    return pd.Series([*map(text_of, distinct)], dtype=object).iloc[codes].set_axis(column.index).rename(column.name)


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


def formats_of(frame: pd.DataFrame, given: dict, decimal, missing, path) -> tuple[dict, list[str]]:
    """Return the format of each column of texts, and notes on those that changed values.

    ``given`` has the formats of columns that the user or the file states, ``decimal`` the decimal sign or None,
    ``missing`` the texts that are missing values in all columns.
    """
    found, notes, likewise, two = {}, [], {}, ["number", "number,"]
    known = {name: column[column.notna() & ~column.isin(missing)] for name, column in frame.items() if is_text(column)}
    fits = {name: [given[name]] if name in given else fits_of(name, texts[texts != ""], notes, path)
            for name, texts in known.items()}  # fmt: skip
    signs = {decimal or how[0][6:] or "." for name, how in fits.items() if how[0] in two and how != two
             and known[name].str.contains("[.,]").any()}  # fmt: skip
    for name, how in fits.items():
        texts = pd.Series(known[name].unique(), dtype=str)
        if name in given and how[0] in EITHER:
            how = [max(EITHER[how[0]], key=lambda each: parsed(texts, each).notna().sum())]
        if how == two:
            if not decimal and len(signs) != 1:
                example = next(each for each in texts if re.search(r"\d[.,]\d", each))
                raise UserError(f"{path}: is {example!r} in the column {name!r} about one or a thousand times more? "
                                "state --decimal . or --decimal ,")  # fmt: skip
            how = [two[(decimal or min(signs)) == ","]]
        if len(how) > 1:
            options = " or ".join(f"--format {name}={each}" for each in how)
            raise UserError(f"{path}: the column {name!r}, such as {texts[0]!r}, has two meanings: {options}")
        found[name] = how[0]
        if how[0] != "text" and name in given:
            if parsed(texts, how[0]).isna().all():
                raise UserError(f"--format {name}={how[0]}: no value has it, such as {texts[0]!r}")
        elif how[0] != "text":
            values = parsed(texts, how[0])
            same = values.eq(pd.to_numeric(texts, errors="coerce")) if how[0] in two else ~texts.str.contains(ZONE)
            changed = texts[values.notna() & ~(same & (how[0] in (*two, "iso")))]
            unit = " hours" if how[0] in EITHER["hours"] else ""
            read = [f"{name!r}: {each!r} is read as {values[j]}{unit}" for j, each in changed[:1].items()]
            likewise.setdefault(how[0], []).extend(read)
    for how, read in likewise.items():
        notes += read[:NOTED]
        if more := read[NOTED:]:
            notes.append(f"{len(more):,} more columns have the format {how!r}, down to {more[-1]}")
    return found, notes


def fits_of(name: str, column: pd.Series, notes: list[str], path) -> list[str]:
    """Return the formats that fit a column of texts, two if they give different values; missing values are noted."""
    counts = column.astype(str).value_counts()
    texts, n = pd.Series(counts.index, dtype=str), counts.to_numpy()
    if n[texts.str.contains(r"\d")].sum() < max(1, OFTEN * n.sum()):
        return ["text"]
    absent = texts.str.lower().isin(MISSING)
    words, n_absent = ", ".join(texts[absent][:3]), n[absent].sum()
    texts, n = texts[~absent].reset_index(drop=True), n[~absent]
    some, values = texts.iloc[:: max(1, len(texts) // 100)], {}
    times = TIMES if some.str.contains(r"\d[:h]\d").any() else [""]
    for how in [*FORMATS, *(date + time for date in DATES for time in times)]:
        if len(values) and how in FORMATS[3:4] and any(found.notna().all() for found in values.values()):
            break  # numbers, as in most columns, are nothing else
        if parsed(some, how).notna().mean() > OFTEN:
            found = parsed(texts, how)
            values |= {} if any(found.equals(other) for other in values.values()) else {how: found}
    fits = [how for how, found in values.items() if found.notna().all()]
    fits = [how for how in fits if not any(first in fits and how == second for first, second in BEFORE)]
    if not fits:
        best = max(values, key=lambda how: n[values[how].notna()].sum(), default="text")
        wrong = values[best].isna() if values else absent
        if not values or n[~wrong].sum() <= MOSTLY * n.sum():
            if some.str.match(LIKE_A_DATE).mean() <= OFTEN:
                return ["text"]
            ways = f"state --format '{name}=%d.%m.%Y %H:%M' with its codes (of strftime), or --format '{name}=text'"
            raise UserError(f"{path}: the column {name!r}, such as {some.iloc[0]!r}, looks like dates: {ways}")
        few = f"{n[wrong].sum():,} of {counts.sum():,} values of the column {name!r} are no {best.rstrip(',')}"
        ways = f"--format '{name}={best}' makes them missing, --format '{name}=text' takes all as text"
        examples = ",".join(each[:40] for each in texts[wrong][:3])
        ways += f"; --missing '{examples}' is for all columns"
        raise UserError(f"{path}: {few}, such as {texts[wrong].iloc[0][:40]!r}: {ways}")
    if fits[0].startswith("number"):
        digits = texts[texts.str.fullmatch(r"[-+]?\d+")]
        if digits.str.contains(r"^[-+]?0\d").any() or any(abs(int(each)) > LARGEST_EXACT for each in digits):
            notes.append(f"{name!r}: whole numbers with a zero in front or beyond 2^53: text")
            return ["text"]
        units = sorted(set(numbers(texts, fits[0][6:] or ".")[1]))
        if len(units) > 2 or (len(units) == 2 and (units[0] or not re.fullmatch(MONEY, units[1]))):
            raise UserError(f"{path}: the numbers of the column {name!r} have several units, "
                            f"such as {units[:3]}: give it one, or --format '{name}=text'")  # fmt: skip
    notes += [f"{name!r}: {n_absent:,} texts are missing values ({words})"] if n_absent else []
    return fits
