"""Read a file as a table: how it is written, decided on the whole file, and its cells.

Text is read by pandas with every cell as text; ``columns`` decides what the texts of a column mean. What fits in two
ways is not guessed: a ``UserError`` names the option that decides.
"""

import bz2
import csv
import gzip
import io
import lzma
import re
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from random_features.compare.columns import is_number
from random_features.errors import UserError

#: The columns from which sparse data stay sparse, and the share of stored numbers below which they do.
SPARSE_COLUMNS, SPARSE_SHARE = 500, 0.1

#: The largest number of a column that counts, that of float32.
MOST = 3.4e38

#: The first bytes of compressed files, and how they are opened; those of a .zip archive.
COMPRESSED = {rb"\x1f\x8b": gzip.open, rb"BZh[1-9]1AY&SY": bz2.open, rb"\xfd7zXZ": lzma.open}
ZIP = b"PK\x03\x04"

#: The most bytes of a table or of an unpacked file, the most columns of sparse data, and the longest cell.
MOST_BYTES, MOST_COLUMNS, LONGEST = 2**31, 10_000_000, 2**22
csv.field_size_limit(LONGEST)  # its own limit is 2**17

#: Separators of the columns of a text, and their names. Blanks come last: any of them separates.
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", r"\s+": "blanks"}

#: Quotes of cells: their names as options; none is tried where quotes hide line ends.
QUOTES = {'"': "double", "'": "single", "": "none"}

LIBSVM_LINE = re.compile(r"[-+]?[\d.][\d.eE+-]*(,\d+)*(\s+(qid:\d+|\d+:[-+\d.eE]+))*\s*(#.*)?")
ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+)\s+(.*)", re.IGNORECASE)


class Raw(NamedTuple):
    """A file before the meaning of its texts is decided.

    Attributes
    ----------
    table : frame, or csr matrix with columns f0, f1, ...
    labels : ndarray (n,) of the labels of a sparse LIBSVM file, else None
    how : how the file is written: its kind, the same in words, and of text the separator and the lines above the rows
    notes : decisions that changed rows or cells
    formats : formats of columns that the file itself states (ARFF)
    """

    table: object
    labels: np.ndarray | None
    how: dict
    notes: list[str]
    formats: dict[str, str]


@lru_cache(maxsize=1)
def content(path) -> bytes:
    """Return the bytes of a file, unpacked if it is compressed; of a .zip archive those of its only member."""
    found = Path(path).read_bytes()
    for start, opened in COMPRESSED.items():
        if re.match(start, found):
            return unpacked(opened(io.BytesIO(found)))
    if found.startswith(ZIP):
        archive = zipfile.ZipFile(io.BytesIO(found))
        names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
        if {"xl/workbook.xml", "mimetype"} & set(names):
            raise UserError(f"{path}: is a workbook; save its sheet as CSV")
        if not any(name.endswith(".npy") for name in names):
            if len(names) != 1:
                raise ValueError(f"the archive has {', '.join(names[:10]) or 'no file'}; unpack the table")
            return unpacked(archive.open(names[0]))
    return found


def unpacked(stream) -> bytes:
    """Return what a compressed stream holds. Raise ``ValueError`` above ``MOST_BYTES``."""
    found = stream.read(MOST_BYTES + 1)
    if len(found) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes; unpack it yourself")
    return found


def read(path, asked: dict) -> Raw:
    """Return a file as it is written; ``asked`` has the user's options (encoding, separator, quote, header, target,
    missing).

    Raise ``UserError`` for a file that is missing, damaged or no table, and for what an option must decide.
    """
    try:
        if Path(path).exists() and not Path(path).is_file():  # a pipe or a device may have no end
            raise UserError(f"{path}: is a folder, a pipe or a device; name a file")
        data = content(path)
        content.cache_clear()
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except UserError:
        raise
    except Exception as error:  # the readers of archives raise errors of many types
        raise UserError(f"{path}: cannot be unpacked ({error}); is it complete?") from error
    if not data.strip():
        raise UserError(f"{path}: the file is empty")
    encoding = asked.get("encoding") or encoding_of(data)
    kind = kind_of(data, encoding)
    if kind == "binary":
        hint = "a workbook; save its sheet as CSV" if data.startswith(b"\xd0\xcf\x11\xe0") else "neither text, Parquet"
        raise UserError(f"{path}: is {hint}{' nor .npz; save it as CSV or Parquet' * hint.startswith('n')}")
    try:
        if kind == "text":
            found = read_text(data.decode(encoding), encoding, asked, path)
        elif kind == "ARFF":
            found = read_arff(data.decode(encoding))
        else:
            found = {"Parquet": read_parquet, "npz": read_arrays, "LIBSVM": read_libsvm}[kind](io.BytesIO(data))
    except ImportError as error:
        raise UserError(f"{path}: a {kind} file needs pyarrow: pip install 'random-features[compare]'") from error
    except UserError:
        raise
    except Exception as error:  # readers raise errors of many types for files that are cut or damaged
        raise UserError(f"{path}: cannot be read as {kind}: {' '.join(str(error).split())[:200]}") from error
    if not sparse.issparse(found.table):
        if asked.get("missing"):
            found = found._replace(table=found.table.mask(found.table.isin(asked["missing"]), ""))
        found.table.columns = found.table.columns.astype(str)
        if len(repeated := found.table.columns[found.table.columns.duplicated()]):
            raise UserError(f"{path}: two columns are called {repeated[0]!r}; rename one")
    elif not np.isfinite(found.table.data).all():
        raise UserError(f"{path}: it has a number that is missing or above {MOST:g}; drop or rescale its column")
    return found


def kind_of(data: bytes, encoding: str) -> str:
    """Return the kind of a file by its content: Parquet, npz, ARFF, LIBSVM, text or binary."""
    if data.startswith(b"PAR1"):
        return "Parquet"
    if data.startswith(ZIP):
        return "npz"
    start = data[:LONGEST].decode(encoding, errors="replace")
    if "\0" in start:
        return "binary"
    lines = [line.strip() for line in start.splitlines()[:-1] or [start] if line.strip()][:2000]
    if any(line.lower().startswith("@relation") for line in lines):
        return "ARFF"
    if all(LIBSVM_LINE.fullmatch(line) for line in lines[:100]) and any(":" in line for line in lines[:100]):
        return "LIBSVM"
    return "text"


def encoding_of(data: bytes) -> str:
    """Return the encoding of a text: that of its mark, UTF-8, or Windows-1252."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        data.decode("utf-8")
        return "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8"
    except UnicodeDecodeError:
        return "cp1252" if not set(data) & {0x81, 0x8D, 0x8F, 0x90, 0x9D} else "latin-1"


# --- text -------------------------------------------------------------------------------------------------------------


class Layout(NamedTuple):
    """A text as a separator and a quote cut it: the lines above the table, its cells per line, the first line with
    another number of cells and this number, and the line ends inside quotes.
    """

    skipped: int
    width: int
    odd: tuple[int, int] | None
    inside: int
    short: bool


def layout(text: str, separator: str, quote: str) -> Layout | None:
    """Return how a separator and a quote cut the whole text; None if most lines have one cell."""
    lines = io.StringIO(text)
    if separator == r"\s+":
        rows = (line.split() for line in lines)
        ends = None
    else:
        quoting = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
        rows = ends = csv.reader(lines, delimiter=separator, quotechar=quote or '"', quoting=quoting,
                                 skipinitialspace=True)  # fmt: skip
    widths, first_lines, n_rows = [], [], 0
    try:
        for row in rows:
            n_rows += 1
            if row:
                widths.append(len(row))
                first_lines.append(ends.line_num if ends else n_rows)
            if n_rows == 1000 and max(widths, default=0) < 2:
                return None
    except csv.Error:
        return None
    if not widths or (width := max(set(widths), key=widths.count)) < 2:
        return None
    start = next(number for number, found in enumerate(widths) if found >= width - 1)
    odd = [number for number in range(start, len(widths)) if widths[number] != width]
    short = odd[:1] == [start] and widths[start] == width - 1
    odd = odd[1:] if short else odd
    wrong = (first_lines[odd[0]], widths[odd[0]]) if odd else None
    return Layout(first_lines[start] - 1, width, wrong, (ends.line_num - n_rows) if ends else 0, short)


def single_quoted(text: str, separator: str) -> bool:
    """Return whether apostrophes quote cells: each one that opens a cell has one that closes it."""
    if "'" not in text:
        return False
    edge = re.escape(separator)
    opened = len(re.findall(rf"(?:^|{edge}) *'", text, re.MULTILINE))
    return 0 < opened == len(re.findall(rf"' *(?:$|{edge})", text, re.MULTILINE))


def read_text(text: str, encoding: str, asked: dict, path) -> Raw:
    """Return a table of text. One separator and one kind of quotes must cut every line into equally many cells."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"
    by_name = {name: sign for sign, name in {**SEPARATORS, **{sign: sign for sign in SEPARATORS}}.items()}
    separators = [by_name.get(asked["separator"], asked["separator"])] if asked.get("separator") else SEPARATORS
    names = {name: sign for sign, name in QUOTES.items()}
    fitting, odd = {}, {}
    for separator in separators:
        if separator == r"\s+" and fitting:
            break
        quotes = [names[asked["quote"]]] if asked.get("quote") else ['"', "'"]
        quotes = [quote for quote in quotes if quote != "'" or asked.get("quote") or single_quoted(text, separator)]
        for quote in quotes:
            cut = layout(text, separator, quote)
            if cut and cut.odd is None:
                fitting[separator] = (quote, cut)
            elif cut:
                odd[separator] = cut
        quote, cut = fitting.get(separator, ('"', odd.get(separator)))
        if cut and quote == '"' and (cut.inside or cut.odd) and not asked.get("quote"):
            plain = layout(text, separator, "")
            if plain and plain.odd is None and separator in fitting:
                ask = "--quote none takes them as text, --quote double as quotes"
                raise UserError(f"{path}: {cut.inside:,} line ends are inside quotes, or quotes are unpaired: {ask}")
            if plain and plain.odd is None:
                fitting[separator] = ("", plain)
    if len(fitting) > 1 and "," in fitting and commas_are_decimal(text, next(each for each in fitting if each != ",")):
        del fitting[","]
    if len(fitting) > 1:
        shown = " and ".join(SEPARATORS[each] for each in fitting)
        raise UserError(f"{path}: {shown} both cut all lines into equally many cells: state --separator")
    if not fitting and odd:
        separator, cut = max(odd.items(), key=lambda pair: pair[1].odd[0])
        line, cells = cut.odd
        where = f"line {line:,} has {cells} cells between {SEPARATORS.get(separator, separator)}, others {cut.width}"
        raise UserError(f"{path}: {where}; correct or remove it, or state --separator or --quote")
    if not fitting:
        raise UserError(f"{path}: no separator of columns was found in {text[:40]!r}; is it a table?")
    ((separator, (quote, cut)),) = fitting.items()
    frame = pd.read_csv(
        io.StringIO(text), sep=separator, quotechar=quote or '"', quoting=0 if quote else csv.QUOTE_NONE, header=None,
        names=range(cut.width), index_col=False, dtype=str, na_filter=False, keep_default_na=False,
        skiprows=cut.skipped, skipinitialspace=True,
    )  # fmt: skip
    frame = frame.fillna("").apply(lambda column: column.str.strip())
    notes = [f"the encoding is taken for {encoding}; --encoding decides"] * (encoding in ("cp1252", "latin-1"))
    if cut.inside:
        notes.append(f"{cut.inside:,} line ends are inside quotes, and part of cells")
    frame, named = with_names(frame, cut, asked, notes, path)
    quoted = f"quotes {quote}" if quote else "no quotes"
    how = f"text, {encoding}, separated by {SEPARATORS.get(separator, repr(separator))}, {quoted}, {named}"
    lines = cut.skipped + named.startswith("names")
    return Raw(frame, None, {"kind": "text", "words": how, "separator": separator, "lines": lines}, notes, {})


def commas_are_decimal(text: str, separator: str) -> bool:
    """Return whether every comma of a text, cut by another separator, is inside a number."""
    cells = re.split(r"\s+|" + separator if separator != r"\s+" else separator, text.replace("|", separator))
    return all(is_number(cell) for cell in {cell for cell in cells if "," in cell})


def with_names(frame, cut: Layout, asked: dict, notes: list[str], path):
    """Return a frame with its names, without repeated headers, units and empty columns, and words about the names."""
    first = frame.iloc[0].tolist()
    if cut.short and not (frame.iloc[1:, -1] == "").all():
        first = ["(no name)", *first[:-1]]
        notes.append("the first line has a name less than the others have cells: the first column has none")
    header = {"yes": True, "no": False}.get(asked.get("header")) if asked.get("header") else None
    if header is None and asked.get("target") is not None:
        header = True if asked["target"] in first else False if asked["target"] in generated(cut.width) else None
    if header is None:
        header = has_header(frame, path)
    if not header:
        frame.columns = generated(cut.width)
        return frame, f"no names: columns are called c1 to c{cut.width}"
    frame = frame.iloc[1:].reset_index(drop=True)
    empty = [j for j, name in enumerate(first) if not name and (frame[j] == "").all()]
    if sum(name == "" for name in first) - len(empty) > 1:
        raise UserError(f"{path}: several columns have no name; name them")
    frame.columns = [name or "(no name)" for name in first]
    frame = frame[[name for j, name in enumerate(frame.columns) if j not in empty]] if empty else frame
    if empty:
        frame.columns = [name for j, name in enumerate(first) if j not in empty]
        notes.append(f"{len(empty)} columns without a name and cells are left out: lines end with a separator")
    again = (frame == frame.columns.to_numpy()).all(axis=1).to_numpy()
    if again.any():
        frame = frame[~again].reset_index(drop=True)
        notes.append(f"{again.sum():,} lines repeat the names of the columns, and are left out")
    if len(frame) > 2 and is_line_of_units(frame):
        notes.append(f"the line below the names has units ({', '.join(filter(None, frame.iloc[0]))[:60]}): left out")
        frame = frame.iloc[1:].reset_index(drop=True)
    return frame, "names in the first line"


def generated(width: int) -> list[str]:
    """Return the names of columns without names."""
    return [f"c{j + 1}" for j in range(width)]


def numbers_below(frame) -> np.ndarray:
    """Return which columns have only numbers, and missing cells, below the first row, bool (columns,)."""
    known = [[cell for cell in column.iloc[1:] if cell] for _, column in frame.items()]
    return np.array([len(cells) > 0 and np.mean([is_number(cell) for cell in cells]) > 0.8 for cells in known])


def is_line_of_units(frame) -> bool:
    """Return whether the first row has no number in the columns of numbers, and a text in most of them."""
    numbers = numbers_below(frame.iloc[:300])
    cells = frame.iloc[0].to_numpy()[numbers]
    return len(cells) > 1 and not any(map(is_number, cells)) and (cells != "").mean() > 0.5 and len(set(cells)) > 1


def has_header(frame, path) -> bool:
    """Return whether the first row has names: a text above numbers, or texts that do not recur."""
    numbers, first, below = numbers_below(frame.iloc[:5000]), frame.iloc[0], frame.iloc[1:]
    is_text = np.array([bool(cell) and not is_number(cell) for cell in first])
    if len(frame) < 2 or (is_text & numbers & first.str.contains(r"\w").to_numpy()).any():
        return True
    recur = any(cell in set(below.iloc[:, j]) for j, cell in enumerate(first) if is_text[j])
    if not numbers.any():
        return not recur and first[first != ""].is_unique and (first == "").sum() < 2
    steps = np.diff(pd.to_numeric(first[numbers], errors="coerce"))
    if not recur and len(steps) > 1 and np.ptp(steps) == 0 and steps[0] != 0:
        shown = ", ".join(first[numbers][:3])
        raise UserError(f"{path}: are {shown}, ... names or the first row? state --header yes or --header no")
    return False


def known(kind: str) -> dict:
    """Return how a file is written that is no text."""
    return {"kind": kind, "words": kind}


# --- other formats ----------------------------------------------------------------------------------------------------


def read_libsvm(stream) -> Raw:
    """Return the table of a LIBSVM file: sparse with its labels apart, or dense with a column "label"."""
    X, y = load_svmlight_file(stream, dtype=np.float32)
    return as_raw(X, "LIBSVM", y)


def as_raw(X, how: str, labels=None, names=None) -> Raw:
    """Return a sparse table: as it is if it is wide and mostly zeros, else dense."""
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(f"it has a column {X.shape[1]:,}; number them anew, up to {MOST_COLUMNS:,}")
    if X.shape[1] > SPARSE_COLUMNS and X.nnz < SPARSE_SHARE * np.prod(X.shape):
        return Raw(sparse.csr_matrix(X), labels, known(how), [], {})
    check_bytes(8 * np.prod(X.shape))
    frame = pd.DataFrame(X.toarray()).rename(columns="f{}".format) if names is None else names
    return Raw(frame if labels is None else frame.assign(label=labels), None, known(how), [], {})


def read_arff(text: str) -> Raw:
    """Return the table of an ARFF file, dense or sparse; its nominal values are texts."""
    lines = [line for line in io.StringIO(text) if line.strip() and not line.lstrip().startswith("%")]
    start = next(number for number, line in enumerate(lines) if line.strip().lower().startswith("@data"))
    found = [match.groups() for line in lines[:start] if (match := ATTRIBUTE.match(line.strip()))]
    names = [re.sub(r"\\(.)", r"\1", name[1:-1]) if name[0] in "'\"" else name for name, _ in found]
    numeric = [kind.split()[0].lower() in ("numeric", "real", "integer") for _, kind in found]
    rows, quote = lines[start + 1 :], '"' if re.search(r'(^|,)\s*"', "".join(lines[start + 1 :]), re.MULTILINE) else "'"
    how = {"quotechar": quote, "escapechar": "\\", "skipinitialspace": True}
    if not rows or not rows[0].lstrip().startswith("{"):
        frame = pd.read_csv(io.StringIO("".join(rows)), header=None, dtype=str, na_filter=False, **how)
        if frame.shape[1] != len(names):
            raise ValueError(f"its lines have {frame.shape[1]} cells, and it names {len(names)} attributes")
        frame = frame.fillna("").apply(lambda column: column.str.strip()).replace("?", "")
        words = "ARFF"
    else:
        zeros = ["0" if one else next(csv.reader([kind.strip(" {}")], **how))[0].strip()
                 for one, (_, kind) in zip(numeric, found, strict=True)]  # fmt: skip
        check_bytes(8 * len(rows) * len(names))
        cells = np.tile(np.array(zeros, dtype=object), (len(rows), 1))
        for row, line in enumerate(csv.reader((line.strip().strip("{}") for line in rows), **how)):
            for entry in filter(None, map(str.strip, line)):
                place, _, value = entry.partition(" ")
                value = value.strip()
                cells[row, int(place)] = "" if value == "?" else value.strip(quote)
        frame, words = pd.DataFrame(cells).astype(str), "sparse ARFF"
    frame.columns = names
    stated = {name: "number" if one else "text" for name, one, (_, kind) in zip(names, numeric, found, strict=True)
              if one or not kind.lower().startswith("date")}  # fmt: skip
    return Raw(frame, None, {"kind": "ARFF", "words": words}, [], stated)


def read_parquet(stream) -> Raw:
    """Return the table of a Parquet file, with the names of its index as columns, and numbers and dates as such."""
    from pyarrow import parquet

    about = parquet.read_metadata(stream)
    stored = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    check_bytes(max(stored, 8 * about.num_rows * about.num_columns))
    frame = pd.read_parquet(stream)
    if named := [name for name in frame.index.names if name is not None]:
        frame = frame.reset_index(named)
    for name, column in frame.items():
        if pd.api.types.infer_dtype(column, skipna=True) == "decimal":
            frame[name] = column.astype(np.float64)
        elif isinstance(column.dtype, pd.PeriodDtype):
            frame[name] = column.dt.to_timestamp()
    return Raw(frame.reset_index(drop=True), None, known("Parquet"), [], {})


def read_arrays(stream) -> Raw:
    """Return the table of an ``.npz``: a matrix of ``scipy.sparse.save_npz``, or a column for each vector, and for each
    column of an array.
    """
    check_bytes(sum(member.file_size for member in zipfile.ZipFile(stream).infolist()))
    with np.load(stream, allow_pickle=False) as arrays:
        if {"format", "shape", "data"} <= set(arrays.files):
            stream.seek(0)
            return as_raw(sparse.load_npz(stream).tocsr().astype(np.float32), "a sparse matrix of SciPy (.npz)")
        columns = [
            (name if values.ndim == 1 else f"{name}{j + 1}", column)
            for name, values in ((name, arrays[name]) for name in arrays.files)
            for j, column in enumerate(values.reshape(len(values), -1).T)
        ]
    if found := [name for name, column in columns if column.dtype.kind == "c"]:
        raise ValueError(f"{found[0]} has complex numbers; save their real and imaginary parts")
    frame = pd.DataFrame({j: column for j, (_, column) in enumerate(columns)})
    frame.columns = [name for name, _ in columns]
    return Raw(frame, None, {"kind": "npz", "words": "arrays of NumPy (.npz)"}, [], {})


def check_bytes(number):
    """Raise ``ValueError`` for a table of more than ``MOST_BYTES``."""
    if number > MOST_BYTES:
        raise ValueError(f"its columns have more than {MOST_BYTES:,} bytes; save fewer rows or columns")
