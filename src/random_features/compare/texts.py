"""The values of texts in a format.

A format is "number" (1,234.5), "number," (1.234,5), "whole" (1234, in a file that shows no decimal points), "hours"
(9:05 AM, 25:30, 9h05), "h:mm:ss" (25:30:00, 1h 25m), "ratio" (1.5:1), "iso" (2021-02-03), "iso+zone", the format of a
date (%d.%m.%Y), "text", or of files with types "bool" and "duration".
"""

import calendar
import re
from functools import lru_cache

import numpy as np
import pandas as pd

from random_features.errors import UserError

#: Texts, in lower case, that are missing values in a column of numbers or dates. The user is asked about labels.
MISSING = {"?", "-", "--", "---", "na", "n/a", "n.a.", "n. a.", "k.a.", "k. a.", "k.a", "none", "null", "nan", "nat",
           "nil", "missing", "unknown", ".", "..", "...", "#n/a", "#na", "#nv", "#div/0!", "#value!", "#ref!", "*",
           "#num!", "#null!", "<na>", "n.v.", "n.d.", "nd", "n/d", "s/d", "s.o.", "nc", "n.c.", "unbekannt", "inconnu",
           "keine angabe", "not available", "no data", "não informado", "saknas", "brak", "brak danych", "\\n", "欠測",
           "不明", "－", "–", "—", "n.b.", "prefer not to say", "prefer not to answer", "don't know", "don’t know",
           "weiß nicht", "#bezug!", "#wert!", "#zahl!", "#valeur!", "#valor!", "#name?", "0000-00-00",
           "0000-00-00 00:00:00"}  # fmt: skip

#: How the months begin in English, Dutch, French, German, Italian, Polish, Portuguese, Russian, Spanish, Turkish, and
#: the Scandinavian languages.
MONTHS = (
    "jan|ene|gen|sty|янв|oca", "feb|fév|fev|lut|фев|şub", "mar|mär|mrz|maa|mrt|мар", "apr|avr|abr|kwi|апр|nis",
    "may|mai|mag|maj|mei|мая|май", "jun|juin|giu|cze|июн|haz", "jul|juil|lug|lip|июл|tem", "aug|aoû|ago|sie|авг|ağu",
    "sep|set|wrz|сен|eyl", "oct|okt|ott|out|paź|окт|eki", "nov|lis|ноя|kas", "dec|déc|dez|dic|des|gru|дек|ara",
)  # fmt: skip

#: Units of durations in several languages, by their letters; times and durations without seconds and with them, also
#: PT1H25M and 2d 1h 25m, by their formats.
UNITS = {
    "D": "d(ays?)?|tage?n?|dag(ar|en)?|jours?|d[ií]as?|giorn[io]|dni",
    "h": "h((ou)?rs?)?|std|stunden?|tim(mar|me)?|uur|heures?|horas?|or[ae]|godz",
    "m": "m(in(ut[eio])?[nrs]?)?",
    "s": "s(ec(ond)?s?)?|sek(unden?)?",
}
SPANS = {
    "hours": r"-?\d+(:| ?h ?)[0-5]\d|\d+ ?h|\d+[.:][0-5]\d Uhr|([01]?\d|2[0-3])\.[0-5]\d",
    "h:mm:ss": r"-?(\d+ ?d(ays?)?,? |\d+\.)?\d+:\d\d:\d\d(\.\d+)?|\d+:[0-5]\d\.\d+"
    rf"|P(?=\d|T\d)(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?|(?i:-?(\d+(\.\d+)? ?({'|'.join(UNITS.values())})\.?,? ?)+)",
}

#: Dates that are numbers, too, by their formats.
COMPACT = {
    "%Y%m%d": r"(19|20)\d{6}", "%Y%m%d%H": r"(19|20)\d{8}", "%Y%m%d%H%M": r"(19|20)\d{10}",
    "%Y%m%d%H%M%S": r"(19|20)\d{12}", "%d%m%Y": r"\d{4}(19|20)\d\d", "%m%d%Y": r"\d{4}(19|20)\d\d",
    "%Y%m": r"(19|20)\d{4}", "%m.%Y": r"(0[1-9]|1[0-2])\.(19|20)\d\d",
}  # fmt: skip

#: The decimal signs of formats; their marks between thousands; lakhs (1,23,456), money (60,- and 60/- too), and units.
#: IDR and VND are left out: their 80.331 is a thousand times more than a file with decimal points says.
SIGN_OF = {"number": ".", "number,": ","}
MARKS = {",": r"[.'’ ]", ".": r"[,'’ ]"}
LAKHS = r"[1-9]\d?(?:,\d\d)+,\d{3}"
MONEY = r"[A-Z]{0,2}[$£¤¥\u20a0-\u20bf]|EUR|USD|CHF|GBP|INR|JPY|BRL|DKK|NOK|SEK|Rs\.?|[Kk]r\.?|Fr\.?"
MONEY += "|AED|AUD|CAD|CNY|CZK|HKD|ILS|KRW|MXN|MYR|NZD|PHP|PLN|RON|RUB|SAR|SGD|THB|TRY|TWD|UAH|ZAR"
LETTERS = r"(?!(?:Uhr|[AaPp][Mm]|st|nd|rd|th)$|[²³¹¼-¾⅐-⅞])[%/A-Za-z\u00b0-\uffdc]"
UNIT = rf"(?:{LETTERS}{{2,8}}\.? )?(?:{MONEY})|{LETTERS}{{1,8}}\.?|(?:{LETTERS}{{1,6}}/)?[cdkm]?m\^?[23]"
UNIT += "|sq\\.? (?:ft|m)\\.?|[\"″']|''|[lL]/100 ?km|mm Hg"
NUMBER = {
    sign: rf"^(?P<sign>[-+]?)(?P<before>{MONEY}|%)? ?(?P<digits>[-+]?(?:(?:[1-9]\d{{0,2}}(?:{marks}\d{{3}})+"
          rf"(?![\d.,]*[eE][-+]?\d)|{LAKHS}|\d+)(?:[{sign}]\d*)?|[{sign}]\d+)(?:[eE][-+]?\d+)?)"
          rf"(?:(?<=[{sign}])--?|/[-=])? ?(?P<after>{UNIT})?$"
    for sign, marks in MARKS.items()
}  # fmt: skip

#: The end of a time with a zone.
ZONE = r"[:T]\d+(?:\.\d+)?(?:Z| UTC| GMT|[+-]\d\d(?::?\d\d)?)$"

#: Blanks, minus signs, marks and digits of other alphabets, and their twins in ASCII. Shift JIS writes the yen as \.
#: Marks without a width, of copied and of Arabic texts, are left out.
DIGITS = "".join(chr(zero + i) for zero in (0x660, 0x6F0, 0x966, 0x9E6, 0xFF10) for i in range(10))
SIGNS = str.maketrans("\u00a0\u202f\u2007\u2009\u2212\u2011\u2013\u2014－％￥\\．，／：٫٬٪" + DIGITS,
                      "    -----%¥¥.,/:.'%" + "0123456789" * 5, "\u200b\u200e\u200f\u2060\ufeff")  # fmt: skip

#: An hour in the morning or the afternoon, as p.m. or pm.
AM_PM = r"(?i)(?<=\d)\s*([ap])\.? ?m\b\.?"

#: How dates are rewritten for pandas: a pattern of formats; what is replaced in texts, and by what; in the format, too.
REWRITTEN = (
    (r"^%[aA]\.?,? +", r"^[^\W\d]+\.?,? +", "", r"^%[aA]\.?,? +", ""),  # the name of a day, in any language
    # blanks and points that others leave out: 18. 6. 2021.
    (r"%m(\.|$)", r"(?<=\d\.) +(?=\d+(?![\d:h]))|(?<=\d)\.(?=$| \d+[:h])", "",
     r"(?<=\.) +(?=%[mYy])|\.(?=$| %[HI])", ""),
    (" %[HI]", r",(?= \d+:)| Uhr$", "", ",(?= %[HI])| Uhr$", ""),
    ("%p", AM_PM, r" \1M", r"\b *%p", " %p"),
    # 1er mai, 2nd of May 2021, 1 de mayo de 2021
    ("%[bB]", r"(?<=^1)(?:er|º)(?= )|(?<=\d)(?:st|nd|rd|th)\b|(?<= )(?:de|of) | (?:r|г)\.$", "", "%B", "%b"),
    # 2021-May, and May, 2021 and May/2021
    ("^%b %Y$", r"^(\d{4})[-/,. ]+([^\W\d]{3,}\.?)$", r"\2 \1", "", ""),
    ("^%b %Y$", r"^([^\W\d]{3}(?=\d)|[^\W\d]{3,}\.?(?=[/, ]))[/, ]*(\d{4})$", r"\1 \2", "", ""),
    *(("%b", rf"(?i)\b(?:{starts})[^-\d\s.,:/]*\.?", name, "", "")
      for name, starts in zip(calendar.month_abbr[1:], MONTHS, strict=True)),
)  # fmt: skip

#: Decimal commas as points; then points make no number.
COMMAS = str.maketrans(",.", ".;")


@lru_cache(2**12)  # cells recur
def is_number(text: str) -> bool:
    """Return whether a text is a number with one of the decimal signs."""
    return any(re.match(pattern, text.translate(SIGNS)) for pattern in NUMBER.values())


def in_ascii(texts: pd.Series) -> pd.Series:
    """Return texts with the blanks, signs and digits of ASCII."""
    joined = texts.str.cat()
    return texts if joined.isascii() and "\\" not in joined else texts.str.translate(SIGNS)


def numbers(texts: pd.Series, sign: str) -> tuple[pd.Series, pd.Series]:
    """Return texts as numbers with a decimal ``sign``, NaN for others, and the money or units next to them."""
    plain = pd.to_numeric(texts if sign == "." else texts.str.translate(COMMAS), errors="coerce")
    if plain.notna().all():
        return plain.astype(np.float64), pd.Series("", texts.index)
    rest = in_ascii(texts[plain.isna()])
    behind = rf"( ?(?:{MONEY}|%))?"
    rest = rest.str.replace(rf"^([^\d(]*)\((.+)\){behind}$|^([^-]*[^-.,/])-{behind}$", r"-\1\2\3\4\5", regex=True)
    parts = rest.str.extract(NUMBER[sign])
    digits = parts["digits"].str.replace(MARKS[sign], "", regex=True).str.replace(",", ".")
    found = plain.astype(np.float64).fillna(pd.to_numeric(parts["sign"] + digits, errors="coerce"))
    units = parts["before"].fillna("").add(parts["after"].fillna("")).str.normalize("NFKC")  # m² and m2 are one
    return found, units.reindex(texts.index, fill_value="")


def measured(texts: pd.Series, how: str) -> tuple[pd.Series, pd.Series]:
    """Return ``numbers`` in their format, "whole" where no decimal sign of the file was known.

    Raise ``UserError`` for a text such as 1,234, which has two meanings there; 1,5 has one.
    """
    if how != "whole":
        return numbers(texts, SIGN_OF[how])
    (points, units), (commas, others) = (numbers(texts, sign) for sign in ".,")
    if two := texts[points.ne(commas) & points.notna() & commas.notna()].tolist():
        raise UserError(f"the column {texts.name!r} had whole numbers, and {two[0]!r} is about one or a thousand times "
                        "more: write no marks between thousands, and a zero behind decimals")  # fmt: skip
    return points.fillna(commas), units.where(points.notna(), others)


def units_of(texts: pd.Series, how: str, is_stated: bool) -> tuple[list[str], str]:
    """Return the unit of a column of numbers, "" for none, and "" next to money, or next to any but % where the format
    is stated; and what the column lacks of "decimals" and "marks between thousands", "" if it has both or neither.
    Raise ``UserError`` for several units.
    """
    values, units = measured(texts, how)
    found = sorted(set(units[values.notna()])) or [""]
    may_lack = bool(re.fullmatch(MONEY, found[-1])) or (is_stated and found[0] == "" and found[-1] != "%")
    singular = {unit.removesuffix("s") if len(unit) > 2 else unit for unit in found}  # 1 bed, 2 beds; no m and ms
    if len(singular) > 1 + (found[0] == "" and may_lack):
        ways = f"--format '{texts.name}=text'"
        if len(found) == 2 and found[0] == "" and found[1] != "%":
            j = units.eq(found[1]).idxmax()
            ways += f" or '{texts.name}=number', by which {texts[j]!r} is {values[j]:g}"
        raise UserError(f"the numbers of the column {texts.name!r} have several units, such as {found[:3]}: "
                        f"write them in one unit in the file, or {ways}")  # fmt: skip
    sign = SIGN_OF.get(how, ".")
    decimals, marks = (texts.str.contains(pattern).any() for pattern in (rf"\d[{sign}]", rf"\d{MARKS[sign]}\d{{3}}"))
    lacks = "" if marks == decimals else "decimals" if marks else "marks between thousands"
    return found + [""] * may_lack, lacks


def refuse_marks(texts: pd.Series, sign: str, lacks: str) -> None:
    """Raise ``UserError`` for a text such as 1,592 whose comma, or point, the column of a file did not have: it lacks
    decimals, or marks between thousands.
    """
    mark = sign if lacks == "decimals" else "." if sign == "," else ","
    if two := texts[texts.str.contains(rf"^(?!\D*0)[^.,]*(?<!\d)\d{{1,3}}[{mark}]\d{{3}}[^.,\d]*$")].tolist():
        raise UserError(f"the column {texts.name!r} had no {lacks}, and {two[0]!r} is about one or a thousand times "
                        "more: write it as in the file")  # fmt: skip


def hours(texts: pd.Series, how: str) -> pd.Series:
    """Return times of day and durations of one of ``SPANS`` in hours, NaN for other texts."""
    spans = texts.where(texts.str.fullmatch(SPANS[how]))
    spans = spans.str.replace(r"^(\d+:\d+\.)", r"0:\1", regex=True).str.replace(r"\.(?=\d+:)", "d ", regex=True)
    if how == "hours":
        spans = spans.str.removesuffix(" Uhr").str.replace("h$", "h00", regex=True)
        spans = spans.str.replace(" ?h ?|[.]", ":", regex=True) + ":00"
    words = spans.str.lower()
    for letter, names in UNITS.items():
        words = words.str.replace(rf"(?<=\d) ?({names})(?![^\W\d])\.?", letter, regex=True)
    found = pd.to_timedelta(spans.where(spans.str.startswith("P"), words), errors="coerce")
    clock = texts.str.replace(AM_PM, r" \1M", regex=True)
    for of_day in ("%I:%M %p", "%I:%M:%S %p", "%I %p"):
        found = found.fillna(pd.to_datetime(clock, format=of_day, errors="coerce") - pd.Timestamp(1900, 1, 1))
    return found.dt.total_seconds() / 3600


def dates(texts: pd.Series, how: str) -> pd.Series:
    """Return dates of one format, in UTC where they have a zone, NaT for other texts."""
    if how.startswith("iso"):
        texts = texts.where(texts.str.contains("[-T]") & (texts.str.contains(ZONE) == (how == "iso+zone")))
        texts = texts.str.replace(" (?:UTC|GMT)$", "", regex=True)
    elif how in COMPACT:
        texts = texts.where(texts.str.fullmatch(COMPACT[how]))
    for pattern, written, read, code, plain in REWRITTEN:
        if re.search(pattern, how):
            texts, how = texts.str.replace(written, read, regex=True), re.sub(code, plain, how)
    found = pd.to_datetime(texts, format="ISO8601" if how.startswith("iso") else how, errors="coerce", utc=True)
    return found.dt.tz_localize(None)


def parsed(texts: pd.Series, how: str, known=None) -> pd.Series:
    """Return texts in a format, missing where they have another, or another unit than the ``known`` column of numbers
    (``units_of``).
    """
    if how in (*SIGN_OF, "whole"):
        values, found = measured(texts, how)
        if known is None:
            return values
        units, lacks = known
        if how in SIGN_OF and lacks:
            refuse_marks(texts[values.notna()], SIGN_OF[how], lacks)
        return values.where(found.isin(units))
    texts = in_ascii(texts)
    if how == "ratio":
        parts = texts.str.extract(r"^(\d+(?:\.\d+)?) ?: ?(\d+(?:\.\d+)?)$").astype(np.float64)
        return parts[0] / parts[1].where(parts[1] != 0)
    if how == "bool":
        return texts.str.lower().map({"true": 1.0, "false": 0.0})
    if how == "duration":
        return pd.to_timedelta(texts.mask(pd.to_numeric(texts, errors="coerce").notna()), errors="coerce")
    return hours(texts, how) if how in SPANS else dates(texts, how)
