"""The format of a column of texts (see ``texts``): one for the whole column, found by pandas or asked for."""

import calendar
import re

import numpy as np
import pandas as pd

from random_features.compare.columns import LARGEST_EXACT, is_text
from random_features.compare.texts import (
    COMPACT,
    MISSING,
    SIGN_OF,
    SPANS,
    in_ascii,
    is_number,
    numbers,
    parsed,
    units_of,
)
from random_features.errors import UserError, gathered

#: The share of numbers or dates of a column from which other texts are mistakes, and from which they are missing.
MOSTLY, OFTEN = 0.8, 0.5

#: Columns of one format whose first value is shown, wordings from which numbers with words are codes, and the year from
#: which the median date is taken for one of this calendar.
NOTED, MOST_FORMS, EARLIEST = 10, 10, 1500

#: Formats that are tried, and others. If both of a pair of ``BEFORE`` fit, the first is taken; others are asked for.
#: A user who asks for a format of ``EITHER`` gets the one that more texts have: 2:08 next to 1:02:08 may be minutes. Of
#: two decimal signs that as many have, the file decides.
FORMATS = ("number", "number,", "hours", "h:mm:ss", "ratio", "iso", "iso+zone")
OTHERS = ("whole", "bool", "duration", "text")
EITHER = {"number": tuple(SIGN_OF), "hours": tuple(SPANS), "iso": ("iso", "iso+zone")}
BEFORE = (("hours", "ratio"), ("h:mm:ss", "ratio"), *((how, "number") for how in COMPACT if "%d" in how))

#: Dates, and times of day that may follow them.
DATES = (
    "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d",
    "%Y.%m.%d", "%Y%m%d", "%Y年%m月%d日", "%d %b %Y", "%d. %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%d%b%Y",
    "%d/%b/%Y", "%b %Y", "%b-%Y", "%m/%Y", "%m-%Y", "%Y/%m", "%Y年%m月", "%YM%m", "%Y-M%m",
)  # fmt: skip
TIMES = (" %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", " %Hh%M", " %Hh%M:%S", ":%H:%M:%S")

#: A decimal point that is none between thousands; a point, or a number that may be a date.
DECIMAL, POINT_OR_DATE = r"\.\d{0,2}(?!\d)|\.\d{4}|(?<!\d)0?\.|\d{4}\.", r"\.|^(?:19|20)\d{6}$"

#: A code with words, such as 8001 Zürich. Numbers with words; marks next to numbers: limits (<0.5), notes (5*, 5 (H)).
CODE = r"(\d{4,6}) ([^\W\d]\D+)"
IN_WORDS = r"(\d+([.,]\d+)? ?[^\W\d]+[.,]? ?){2,}"
NEXT_TO_NUMBERS = r"^[<>≤≥~≈±△▲▼]+ ?| ?[*†‡]+$| ?\([A-Za-z*]{1,2}\)$"

#: A quarter or a week; a month, as spreadsheets write it (May-21); the start of a date in Chinese characters or Hangul,
#: and of any, also with the name of a month.
PERIOD = (
    r"(?:19|20)\d\d[-/ ]?(?:Q|K?W|T)\d{1,2}\b|(?:Q|K?W|T) ?\d{1,2}[-/ ](?:19|20)\d\d"
    r"|[1-4][.a-z]* (?:[Qq]uart|[Tt]rim)[a-z]*\.? (?:19|20)\d\d"
)
MONTH = rf"(?:{'|'.join(calendar.month_abbr[1:])})[a-z]?\.?"
EASTERN = r"\d{4} ?[年년] ?\d"
LIKE_A_DATE = (
    r"\[?(?:[^\W\d]{2,10}\.?,? |\d\d?:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?,? )?"
    r"(?:(?:\d\d?|\d{4})([-./ ] ?)\d{1,2}\1(?:\d{4}|\d\d?)(?=$|T\d|[\W_])(?!\1)"
    rf"|\d{{1,4}}[-./ ]?{MONTH},?[-./ ]?\d{{1,4}}$|{MONTH} \d\d?,? \d\d$"
    r"|\d{1,2}(?:\.|st|nd|rd|th)?[-/ ][^\W\d]{3,9}\.?,?[-/ ]\d{4}|[^\W\d]{3,9} \d{1,2}(?:(?:st|nd|rd|th),?|,) \d{4}"
    rf"|[^\W\d]{{3,9}} \d{{1,2}} \d{{1,2}}:\d\d|(?i:\d\d?-{MONTH}|{MONTH}[- ]\d\d)$|{PERIOD}|{EASTERN}"
    r"|(?:0?[1-9]|[12]\d|3[01])\. ?(?:0?[1-9]|1[0-2])\.$)"
)


def formats_of(frame, given: dict, decimal: str | None, missing, target=None) -> tuple[dict, dict, list, list]:
    """Return the format of each column of texts, the units of numbers, doubts about formats that the user states and
    about years, and notes on formats that changed values.

    ``given`` has the formats of columns that the user or the file states, ``decimal`` the decimal sign or None,
    ``missing`` the texts that are missing values in all columns. A ``target`` that is mostly NA or the like is text.

    >>> frame = pd.DataFrame({"x": ["1.356", "closed"], "y": ["0,5", "1,5"]})
    >>> formats_of(frame, {"x": "number"}, None, [])[0]
    {'x': 'number,', 'y': 'number,'}
    >>> formats_of(pd.DataFrame({"x": ["2565-02-22", "2564-03-01"]}), {"x": "iso"}, None, [])[2]
    ["'x': '2565-02-22' is read as the year 2565: write dates of other calendars as Gregorian ones"]
    """
    doubts, notes, questions = [], [], []
    distinct, fits, found, units = {}, {}, {}, {}
    for name, column in frame.items():
        if not is_text(column):
            continue
        counts = column[~column.isin(["", *missing])].dropna().astype(str).value_counts(sort=False)
        distinct[name] = in_ascii(pd.Series(counts.index, dtype=str, name=name))
        with gathered(questions):
            if name in given:
                fits[name] = stated(name, distinct[name], given[name])
                if fits[name] != ["text"]:
                    note_missing(name, counts[parsed(distinct[name], fits[name][0]).isna().to_numpy()], doubts)
            elif counts.max() == len(frame) and not re.fullmatch(r"-?\d+([.,]\d\d?)?", counts.index[0]):
                fits[name] = ["text"]  # a constant is left out: no question is asked about it
            else:
                fits[name] = fits_of(name, counts, notes, name == target)
    clear = [name for name, how in fits.items() if how in (["number"], ["number,"]) and has_sign(distinct[name])]
    signs = {decimal} if decimal else {SIGN_OF[fits[name][0]] for name in clear}
    of_two_signs = [name for name, how in fits.items() if how == ["number", "number,"] and len(signs) != 1]
    # one is asked about the sign for all, unless an answer to other questions may show it
    asked = [name for name in fits if name not in of_two_signs[int(not questions) :]]
    for name in asked:
        with gathered(questions):
            is_stated = name in given and len(fits[name]) == 1
            found[name] = fits[name][0] if is_stated else the_one(name, distinct[name], fits[name], signs)
    for name in (name for name, how in found.items() if how in (*SIGN_OF, "whole")):
        with gathered(questions):
            units[name] = units_of(distinct[name], found[name], name in given)
    if questions:
        raise UserError("\n* ".join([f"{len(questions)} columns need an answer:"] * (len(questions) > 1) + questions))
    for name, how in found.items():
        if how.startswith(("%", "iso")) and len(distinct[name]):
            days, now = parsed(distinct[name], how), pd.Timestamp.now()
            latest, middle = distinct[name][days.idxmax()], days.dt.year.median()
            if "%y" in how and days.max() > now:
                example = f"{latest!r} is read as {days.max():%Y}: 68 is 2068, and 69 is 1969"
                doubts.append(f"{name!r}: {example}; write years of four digits if that is wrong")
            if not EARLIEST <= middle <= now.year + 100:  # 9999 may mean missing
                example = f"{latest!r} is read as the year {days.max().year}"
                doubts.append(f"{name!r}: {example}: write dates of other calendars as Gregorian ones")
    shown = [name for name, how in found.items() if name not in given or how in (*SPANS, *SIGN_OF)]  # chosen here
    notes += changes({name: distinct[name] for name in shown}, found)
    return found, units, doubts, notes


def note_missing(name: str, absent: pd.Series, notes: list[str]) -> None:
    """Add a note on the texts of a column that are missing values, if any; ``absent`` has the rows of each."""
    if len(absent):
        shown = ", ".join(text[:40] for text in absent.index[:3])
        notes.append(f"{name!r}: texts that are missing values: {absent.sum():,} ({shown})")


def stated(name: str, texts: pd.Series, how: str) -> list[str]:
    """Return the format that a user names for a column; of two that have one name, the one of more texts. Of numbers
    it is both if as many texts have them, with other values.

    >>> stated("x", pd.Series(["1.356", "690", "closed"]), "number"), stated("x", pd.Series(["1,5", "?"]), "number")
    (['number', 'number,'], ['number,'])
    """
    if "%" not in how and how not in (*FORMATS, *OTHERS):
        raise UserError(f"--format {name}={how}: there is no such format; a column has {', '.join(FORMATS)}, text, or "
                        "dates such as %d.%m.%Y")  # fmt: skip
    if how == "text" or (how == "number" and plain_numbers(texts) is not None):
        return [how]
    try:
        values = {each: parsed(texts, each) for each in EITHER.get(how, [how])}
    except ValueError as error:
        raise UserError(f"--format {name}={how}: {error}") from None
    ways = {each: found.notna().sum() for each, found in values.items()}
    if len(texts) and not any(ways.values()):
        raise UserError(f"--format {name}={how}: no value has it, such as {texts[0]!r}")
    first, *others = [each for each, number in ways.items() if number == max(ways.values())]
    return [first] + [each for each in others if how == "number" and not values[first].equals(values[each])]


def has_sign(texts: pd.Series) -> bool:
    """Return whether a text has a decimal sign, or one that could be."""
    return texts.str.contains("[.,]").any()


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
        options = " or ".join(f"--format '{name}={each}'" for each in fits)
        example = next(filter(re.compile(r"\d").search, texts))
        raise UserError(f"the column {name!r}, such as {example!r}, has two meanings: {options}")
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
            # 5 in brackets is -5, or a note
            changed = changed.sort_values(key=lambda each: ~each.str.contains("(", regex=False), kind="stable")
            read = [f"{name!r}: {each!r} is read as {values[j]}{unit}" for j, each in changed[:1].items()]
            examples.setdefault(how, []).extend(read)
    for how, read in sorted(examples.items(), key=lambda each: each[0] in SIGN_OF):  # numbers last
        notes += read[:NOTED]
        if more := read[NOTED:]:
            notes.append(f"more columns have the format {how!r}: {len(more):,}, down to {more[-1]}")
    return notes


def fits_of(name: str, counts: pd.Series, notes: list[str], is_target: bool) -> list[str]:
    """Return the formats that fit a column, two if they give different values; missing values are noted. ``counts`` has
    the rows of each text.

    >>> days, times = ([f"{number:02d}.{end}" for number in range(1, 31)] for end in (11, 40))
    >>> [fits_of("x", pd.Series(1, texts), [], is_target=False) for texts in (days, times[:23], times)]
    [['number', '%d.%m'], ['number', 'hours'], ['number']]
    """
    absent = counts[counts.index.str.lower().isin(MISSING)]
    every, counts = counts.sum(), counts.drop(absent.index)
    if counts[counts.index.str.contains(r"\d")].sum() < max(1, OFTEN * (every if is_target else counts.sum())):
        return ["text"]
    texts = pd.Series(counts.index, dtype=str)
    if re.fullmatch(CODE, texts[0]) and are_codes(texts):
        notes.append(f"{name!r}: codes with words, such as {texts[0]!r}: text")
        return ["text"]
    values = values_by_format(texts)
    fits = [how for how, found in values.items() if found.notna().all()]
    fits = [how for how in fits if not any(first in fits and how == second for first, second in BEFORE)]
    if not fits:
        ask_about(name, counts, absent, values)
        return ["text"]
    if fits == ["%Y/%m"] and all((int(each[5:]) - int(each[:4])) % 100 == 1 for each in texts):
        return ["text"]  # seasons such as 2010/11
    year_first = re.sub("%d(.)%m(.)%y", r"%y\1%m\2%d", fits[0])
    if year_first != fits[0] and parsed(texts, year_first).notna().all():
        first, last = texts.str.extract(r"(\d+)\D\d+\D(\d+)").nunique()
        fits += [year_first] * (first < last)  # there are fewer years than days
    if fits[0] in SIGN_OF:
        digits = in_ascii(texts[texts.str.fullmatch(r"[-+]?\d+")])
        if digits.str.contains(r"^[-+]?0\d").any() or any(abs(int(each)) > LARGEST_EXACT for each in digits):
            notes.append(f"{name!r}: whole numbers with a zero in front or beyond 2^53: text")
            return ["text"]
        if len(set(numbers(texts, SIGN_OF[fits[0]])[1])) > 1 and parsed(texts, "h:mm:ss").notna().all():
            may_be_codes = texts.str.fullmatch(r"[\d.]+ ?[DHMS]").all()  # as debit and credit in German, 5.20 S
            return ["h:mm:ss", "text"] if may_be_codes else ["h:mm:ss"]  # 45m and 2h
        if texts.str.fullmatch(r"\d\d\.\d\d").all() and texts.str.startswith("0").any():  # 09.40 or 04.11
            ways = [how for how in ("hours", "%d.%m") if (parsed(texts, how).notna() | texts.eq("29.02")).all()]
            if ways:
                return [fits[0], *ways]
        if texts.str.fullmatch(r"\d-?").all() and texts.str.endswith("-").any():
            return [fits[0], "text"]  # 3- may be a mark at school
    note_missing(name, absent, notes)
    return fits


def are_codes(texts: pd.Series) -> bool:
    """Return whether texts are codes of one length with several words; years with words are none."""
    parts = texts.str.extract(f"^{CODE}$")
    is_one_length = parts[0].notna().all() and parts[0].str.len().nunique() == 1
    return is_one_length and parts[1].nunique() > 1 and not parts[0].str.fullmatch(r"(19|20)\d\d").all()


def plain_numbers(texts: pd.Series) -> pd.Series | None:
    """Return texts as numbers with decimal points if they have no other meaning, or None."""
    plain = pd.to_numeric(texts, errors="coerce").astype(np.float64)
    is_clear = texts.str.contains(DECIMAL).any() or not texts.str.contains(POINT_OR_DATE).any()
    some = texts[:100].tolist()
    is_clear &= not any(all(re.fullmatch(pattern, each) for each in some) for pattern in COMPACT.values())
    return plain if plain.notna().all() and is_clear else None


def values_by_format(texts: pd.Series) -> dict:
    """Return the values of texts by each format that more than half of them have; equal values count once."""
    if (plain := plain_numbers(texts)) is not None:  # as most columns are, and other formats take long
        return {"number": plain}
    some, values = texts.iloc[:: max(1, len(texts) // 100)], {}
    times = TIMES if some.str.contains(r"\d[:h]\d").any() else [""]
    days = [date + time for date in DATES for time in times if "%d" in date or not time]
    for how in [*FORMATS[:2], *COMPACT, *FORMATS[2:], *days]:
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
                        f"{absent} is for all columns; or correct the file")  # fmt: skip
    such, are_days = f"the column {name!r}, such as {counts.index[0]!r},", counts.index.str.match(LIKE_A_DATE)
    are_words = counts.index.str.fullmatch(IN_WORDS) & ~counts.index.str.match(EASTERN)
    forms = counts.index.str.replace(r"[\d.,]+", "", regex=True).nunique()
    if counts[are_words].sum() > MOSTLY * counts.sum() and forms <= MOST_FORMS:
        ways = f"write durations as 6h 40m, others in columns of their own, or state --format '{name}=text'"
        raise UserError(f"{such} has several numbers with words: {ways}")
    if len(days := pd.Series(counts.index[are_days])) > OFTEN * len(counts):
        shapes = days.str.replace(r"\d+", "0", regex=True).str.replace(r"[^\W\d]+", "a", regex=True)
        some = days[~shapes.duplicated()].tolist()
        ways = f"state --format '{name}=%d.%m.%Y %H:%M' with its codes (of strftime)"
        ways = "write the first day of each in the file" if re.match(PERIOD, some[0]) else ways
        ways = f"{' and '.join(map(repr, some[:2]))} have two formats; write one in the file" if some[1:] else ways
        such = f"the column {name!r}, such as {some[0]!r},"
        raise UserError(f"{such} looks like dates: {ways}, or --format '{name}=text'")
