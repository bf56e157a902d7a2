"""Find out how a file is to be read: its format, and of text the encoding, separator, quotes, header, decimal sign."""

import csv
import re
from pathlib import Path

import numpy as np
import pandas as pd

from random_features.compare.recipe import ZIP, content
from random_features.errors import UserError

#: Bytes of a text file that are looked at, and of a cell at most.
LOOKED_AT = 2**22
csv.field_size_limit(LOOKED_AT)  # its own limit is 2**17

#: Separators of the columns of a text file, in the order of preference.
SEPARATORS = (",", ";", "\t", "|")

#: Texts of cells that are missing values, next to those that pandas knows.
MISSING = ["?", "-", "--", "na", "N.A.", "missing", "Missing", "."]

LIBSVM_LINE = re.compile(r"[-+]?[\d.][\d.eE+-]*(,\d+)*(\s+(qid:\d+|\d+:[-+\d.eE]+))*\s*(#.*)?")
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")


def sniff(path) -> dict:
    """Return how a file is to be read: its ``format``, the ``options`` of its reader, and a ``note`` in words.

    Raise ``UserError`` for a file that is missing, empty or no table.
    """
    try:
        if Path(path).exists() and not Path(path).is_file():  # a pipe or a device may have no end
            raise UserError(f"{path}: is a folder, a pipe or a device; name a file")
        data = content(path)
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except UserError:
        raise
    except Exception as error:  # the readers of archives raise errors of many types
        raise UserError(f"{path}: cannot be unpacked ({error}); is it complete?") from error
    if not data.strip():
        raise UserError(f"{path}: the file is empty")
    if data.startswith(b"PAR1"):
        return {"format": "Parquet", "options": {}, "note": "Parquet"}
    if data.startswith(ZIP):
        return {"format": "npz", "options": {}, "note": "arrays of NumPy (.npz)"}
    encoding = encoding_of(data)
    start = data[:LOOKED_AT].decode(encoding, errors="replace")
    if b"\0" in data[:LOOKED_AT] and not encoding.startswith("utf-16"):
        raise UserError(f"{path}: is neither text, Parquet nor .npz; save it as CSV or Parquet")
    start = start if len(data) <= LOOKED_AT else start.rpartition("\n")[0]
    lines = {number: line for number, line in enumerate(re.split(r"\r\n|\r|\n", start)) if line.strip()}
    numbers, lines = list(lines), list(lines.values())
    if not lines:
        raise UserError(f"{path}: its first line has more than {LOOKED_AT:,} bytes; save it as Parquet or LIBSVM")
    if any(line.lower().startswith("@relation") for line in lines):
        return {"format": "ARFF", "options": {"encoding": encoding}, "note": f"ARFF, {encoding}"}
    if all(LIBSVM_LINE.fullmatch(line.strip()) for line in lines[:100]) and any(":" in line for line in lines[:100]):
        return {"format": "LIBSVM", "options": {}, "note": "LIBSVM"}
    return sniff_text(lines, numbers, encoding, path)


def encoding_of(data: bytes) -> str:
    """Return the encoding of a text: that of its mark, UTF-8, or Windows-1252."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        data.decode("utf-8")
        return "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8"
    except UnicodeDecodeError:
        return "cp1252" if not set(data) & {0x81, 0x8D, 0x8F, 0x90, 0x9D} else "latin-1"


def sniff_text(lines: list[str], numbers: list[int], encoding: str, path) -> dict:
    """Return how a table of text is to be read, from its first lines that are not blank, and their numbers."""
    few = lines[:200]
    quote = "'" if not any('"' in line for line in few) and re.search(r"(^|[,;\t|])'", "\n".join(few), re.M) else '"'
    separator = separator_of(few, quote)
    if separator is None:
        raise UserError(f"{path}: no separator of columns was found in {few[0][:40]!r}; is it a table?")
    spaces = separator == r"\s+"
    rows = [line.split() for line in few] if spaces else list(csv.reader(few, delimiter=separator, quotechar=quote))
    rows = [[cell.strip() for cell in row] for row in rows]
    commas = [bool(DECIMAL_COMMA.fullmatch(cell)) for row in rows[1:] for cell in row]
    decimal = "," if separator != "," and np.mean(commas or [0]) > 0.05 else "."
    width = max(set(map(len, rows)), key=[len(row) for row in rows].count)
    skipped = next(number for number, row in enumerate(rows) if len(row) >= width - 1)
    rows = rows[skipped:]
    header = has_header(rows, decimal)
    names = pd.Series([name for name in rows[0] if header and name], dtype=object)
    if len(repeated := names[names.duplicated()].tolist()):
        raise UserError(f"{path}: two columns are called {repeated[0]!r}; rename one")
    options = {
        "sep": separator, "quotechar": quote, "encoding": encoding, "decimal": decimal,
        "header": 0 if header else None, "skiprows": numbers[skipped],
        "skipinitialspace": True, "na_values": MISSING, "low_memory": False,
    }  # fmt: skip
    if header and len(rows) > 1 and len(rows[0]) == width - 1:
        options["index_col"] = 0
    elif not header:
        options["names"] = [f"c{j + 1}" for j in range(width)]
    name = {"\t": "tabs", r"\s+": "spaces"}.get(separator, repr(separator))
    names = "names in the first line" if header else f"no names: columns are called c1 to c{width}"
    note = f"text, {encoding}, separated by {name}, quotes {quote}, decimal sign {decimal!r}, {names}"
    return {"format": "text", "options": options, "note": note}


def separator_of(lines: list[str], quote: str) -> str | None:
    """Return the separator that cuts the lines into the same number of columns, at least two; None if none does."""
    best, most = None, 0.0
    for separator in SEPARATORS:
        widths = [len(row) for row in csv.reader(lines, delimiter=separator, quotechar=quote)]
        common = max(set(widths), key=widths.count)
        # a decimal comma also cuts lines into columns: then a semicolon or a tab cuts them, too, and comes later
        share = widths.count(common) / len(widths) + 0.01 * (separator in ";\t|")
        if common > 1 and share > max(most, 0.8):
            best, most = separator, share
    if best is None:
        widths = [len(line.split()) for line in lines]
        best = r"\s+" if min(widths) > 1 and len(set(widths)) <= 2 else None
    return best


def has_header(rows: list[list[str]], decimal: str) -> bool:
    """Return whether the first of some rows of cells has the names of columns.

    It has no number, and it is above numbers, or its cells do not recur, below or in the first row.
    """
    cells = pd.DataFrame([row[:500] for row in rows]).replace("", None)
    numbers = cells.apply(lambda column: pd.to_numeric(column.str.replace(decimal, ".", regex=False), errors="coerce"))
    (first, below), numeric = (cells.iloc[0], cells.iloc[1:]), numbers.notna()
    if below.empty or numeric.iloc[0].any():
        return below.empty
    if first.isna().sum() > 1:
        return False
    named = first.index[first.notna() & ~first.isin(MISSING)]
    above_numbers = numeric.iloc[1:].sum() > 0.8 * below.notna().sum()
    if above_numbers[named].any():
        return True
    return not first.dropna().duplicated().any() and not any(first[j] in set(below[j]) for j in named)
