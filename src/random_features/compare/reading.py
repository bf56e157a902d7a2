"""Read a file as a table: how it is written, decided on the whole file, and its cells.

Text is read by pandas with every cell as text; ``formats`` decides what the texts of a column mean. What fits in two
ways is not guessed: a ``UserError`` names the option that decides.
"""

import bz2
import csv
import gzip
import hashlib
import io
import lzma
import re
import statistics
import zipfile
from collections import namedtuple
from itertools import takewhile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from random_features.compare.texts import MISSING, is_number, numbers
from random_features.errors import UserError

#: The columns from which sparse data stay sparse, and the share of stored numbers below which they do.
SPARSE_COLUMNS, SPARSE_SHARE = 500, 0.1

#: The largest number of a column that counts, that of float32.
MOST = 3.4e38

#: The most bytes of a table or of an unpacked file, the most columns of sparse data, and the longest cell.
MOST_BYTES, MOST_COLUMNS, LONGEST = 2**31, 10_000_000, 2**22
csv.field_size_limit(LONGEST)  # its own limit is 2**17

#: Separators of the columns of a text, and quotes of cells, with their names, in the order in which they are tried.
BLANKS = r"\s+"
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", BLANKS: "blanks"}
QUOTES = {"double": '"', "single": "'", "none": ""}

#: Options of files of text; ARFF has an encoding, too.
OPTIONS = ("separator", "quote", "header", "encoding")
ENCODINGS = "state --encoding, such as cp932, cp1250, cp1251 or gb18030"

#: A quote of a cell that a backslash keeps from ending it.
ESCAPED = re.compile(r"""(?:^|[,;|\t]) ?"[^"\n]*\\"(?! ?[,;|\t]|"|$)""", re.M)

#: A line between the names and the rows, as SQL, SAP and Markdown draw it, and the last one of a query, (90 rows).
RULER = re.compile(r"^[-=+|: ]*(---|===)[-=+|: ]*\n|^\(\d+ rows?\)\n\Z", re.M)

LIBSVM_LINE = re.compile(r"[-+]?[\d.][\d.eE+-]*(,\d+)*(\s+(qid:\d+|\d+:[-+\d.eE]+))*\s*(#.*)?")

#: What no text of Windows-1252 has: a sign in a word, but for m³, or five signs and letters with marks in a row. Text
#: of cp1250 (ma³y), of a Macintosh (MŸnchen) or in another alphabet has it.
FOREIGN = re.compile(r"\w{0,9}([ÂÃ][¡-¿]|(?!m³)[A-Za-zß-ÿ][¡¢³¹¼½¾¿‚„†‡ˆ‰ŠŒŽŸ][a-zß-ÿ]|[¡-ÿ]{5})\w{0,9}")

#: How JSON, HTML and XML begin.
MARKED = re.compile(r"\s*(\{\s*\"|\[\s*[\[{]|<(!doctype|html|\?xml|table)\b)", re.I)

#: The first cell of a line of totals, of any statistic, and of limits of measurement next to units; the statistics that
#: are left out next to totals; the most lines of totals and footnotes below the rows.
TOTAL = re.compile(r"((grand |sub-?|sous-)?total(e|s|t| general| général)?|totaal|summ?a|sum|(ins)?gesamt"
                   r"|(end|gesamt|zwischen)?(summe|ergebnis)|somme|i alt|celkem|razem|合計)\W*", re.I)  # fmt: skip
STATISTIC = re.compile(rf"{TOTAL.pattern}|(durchschnitt|mittel(wert)?|mw|ø|average|avg|mean|moyenne|media|promedio"
                       r"|gemiddelde|(min|max)(imum)?|median[ae]?|std\.?( ?dev)?|s\.?d|stabw"
                       r"|standard(abweichung| deviation)|n|anzahl|count)\W*", re.I)  # fmt: skip
LIMIT = re.compile(r"(lo[dq]|mdl|(method )?(detection|quantification|reporting) limit|(nachweis|bestimmungs)grenze"
                   r"|limit(e de| of) (d[ée]tection|quantification))\W*", re.I)  # fmt: skip
OTHERS = ("min", "max", "median", "std", "count")
MOST_BELOW = 5

#: A quoted value of an ARFF file, the line of an attribute, a cell of a line, and an entry of a sparse one.
QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|"""
ATTRIBUTE = re.compile(rf"^\s*@attribute\s+({QUOTED}\S+)\s+(.*)", re.IGNORECASE | re.MULTILINE)
CELL, ENTRY = re.compile(rf"\s*({QUOTED}[^,{{}}]*?)\s*(?:[,}}]|$)"), re.compile(rf"(\d+)\s+({QUOTED}[^\s,}}]+)")


#: A file before the meaning of its texts is decided: a frame or csr matrix, the names of its columns, how it is written
#: (its kind and hash; of text also words, the separator and the lines above the rows), decisions that changed rows or
#: cells, and the formats of columns that the file itself states (ARFF).
Raw = namedtuple("Raw", "table names how notes formats", defaults=((), {}))


def member(stream):
    """Return the only file of a .zip archive, opened; the archive itself if it has arrays."""
    archive = zipfile.ZipFile(stream)
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if {"xl/workbook.xml", "mimetype"} & set(names):
        raise UserError("it is a workbook; save its sheet as CSV")
    if any(name.endswith(".npy") for name in names):
        stream.seek(0)
        return stream
    if len(names) != 1:
        raise UserError(f"the archive has {', '.join(names[:10]) or 'no file'}; unpack the table")
    return archive.open(names[0])


#: The first bytes of compressed files, and how they are opened.
COMPRESSED = {rb"\x1f\x8b": gzip.open, rb"BZh[1-9]1AY&SY": bz2.open, rb"\xfd7zXZ": lzma.open, rb"PK\x03\x04": member}


def content(path) -> bytes:
    """Return the bytes of a file, unpacked if it is compressed."""
    if Path(path).exists() and not Path(path).is_file():  # a pipe or a device may have no end
        raise UserError("is a folder, a pipe or a device; name a file")
    found = Path(path).read_bytes()
    for opened in [opened for start, opened in COMPRESSED.items() if re.match(start, found)]:
        found = opened(io.BytesIO(found)).read(MOST_BYTES + 1)
        if len(found) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES:,} bytes; unpack it yourself")
    return found


def read(path, asked: dict) -> Raw:
    """Return a file as it is written; ``asked`` has the user's options (encoding, separator, quote, header, target).

    Raise ``UserError`` for a file that is missing, damaged or no table, and for what an option must decide.
    """
    kind = None
    try:
        data = content(path)
        if not data.strip():
            raise UserError("the file is empty")
        stated = [option for option in OPTIONS if asked.get(option)]
        asked = asked | {"encoding": asked.get("encoding") or encoding_of(data)}
        kind = "a table"  # until it is known
        kind = kind_of(data, asked["encoding"])
        if kind != "text" and stated and (kind, stated) != ("ARFF", ["encoding"]):
            raise UserError(f"--{stated[0]}: this is a file of the kind {kind}, to which it does not apply")
        is_guessed = kind in ("text", "ARFF") and "encoding" not in stated and asked["encoding"] == "cp1252"
        if odd := is_guessed and FOREIGN.search(data.decode("cp1252")):
            raise UserError(f"{odd[0]!r} is no text of cp1252: {ENCODINGS}; --encoding cp1252 keeps it")
        found = READERS[kind](data, asked)
    except (FileNotFoundError, NotADirectoryError):  # the second for a path below a file
        raise UserError(f"{path}: there is no such file") from None
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    except ImportError as error:
        raise UserError(f"{path}: a {kind} file needs pyarrow: pip install 'random-features[compare]'") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is no text in {asked['encoding']}: {ENCODINGS}") from error
    except Exception as error:  # readers raise errors of many types for files that are cut or damaged
        how = f"read as {kind}" if kind else "unpacked; is it complete?"
        raise UserError(f"{path}: cannot be {how}: {' '.join(str(error).split())[:200]}") from error
    found.how["sha256"] = hashlib.sha256(data).hexdigest()
    names = pd.Index(found.names)
    if names.has_duplicates:
        raise UserError(f"{path}: two columns are called {names[names.duplicated()][0]!r}; rename one")
    if not sparse.issparse(found.table):
        table = found.table.set_axis(names, axis=1)
        # pandas cannot count float16 and longer floats, and NumPy does not know those with missing values
        types = {name: np.float64 for name, each in table.dtypes.items() if each.kind == "f" and each != np.float32}
        found = found._replace(table=table.astype(types))
    return found


def kind_of(data: bytes, encoding: str) -> str:
    """Return the kind of a file by its content: Parquet, npz, ARFF, LIBSVM or text."""
    if data.startswith((b"PAR1", b"PK\x03\x04")):
        return "Parquet" if data.startswith(b"PAR1") else "npz"
    start = data[:LONGEST].decode(encoding, errors="replace")
    if "\0" in start:
        old = data.startswith(b"\xd0\xcf\x11\xe0")
        others = "neither Parquet nor .npz, nor text without --encoding, such as utf-16-le; save other kinds as CSV"
        raise ValueError("a workbook; save its sheet as CSV" if old else others)
    if marked := MARKED.match(start):
        raise ValueError(f"{'JSON' if marked[1][0] in '[{' else 'HTML or XML'}; save its table as CSV")
    lines = [line.strip() for line in start.splitlines()[:-1] or [start] if line.strip()][:2000]
    if any(line.lower().startswith("@relation") for line in lines):
        return "ARFF"
    is_libsvm = all(LIBSVM_LINE.fullmatch(line) for line in lines[:100]) and any(":" in line for line in lines[:100])
    return "LIBSVM" if is_libsvm else "text"


def encoding_of(data: bytes) -> str:
    """Return the encoding of a text: that of its mark, UTF-8, or Windows-1252."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        data.decode("utf-8")
        return "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8"
    except UnicodeDecodeError:
        return "cp1252"


# --- text -------------------------------------------------------------------------------------------------------------


def cut(text: str, separator: str, quote: str) -> SimpleNamespace | None:
    """Return how a separator and a quote cut the whole text; None if most lines have one cell.

    It has both, the lines above the table (``skipped``), its rows, its cells per row (``width``), whether the first row
    has one less (``is_short``), the first row with another number (``wrong``), and the line ends ``inside`` quotes.
    """
    sign = " " if separator == BLANKS else separator

    def reader():
        lines = (" ".join(line.split()) for line in io.StringIO(text)) if separator == BLANKS else io.StringIO(text)
        quoting = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
        return csv.reader(lines, delimiter=sign, skipinitialspace=True, quotechar=quote or '"', quoting=quoting)

    try:
        rows = reader()
        widths = [len(row) * (len(row) > 1 or bool("".join(row).strip())) for row in rows]
    except csv.Error:
        return None
    if (width := statistics.mode([*filter(None, widths)] or [0])) < 2:
        return None
    first = next(j for j, found in enumerate(widths) if found >= max(2, width - 1))
    odd = {j for j, found in enumerate(widths) if found not in (0, width) and j >= first}
    others = {j: row for j, row in enumerate(reader()) if j in odd} if odd else {}
    names = others.get(first) if widths[first] == width - 1 else None  # they may be repeated
    wrong = [j for j, row in others.items() if row != names]
    between = SEPARATORS.get(separator, repr(separator))
    return SimpleNamespace(
        separator=separator, between=between, quote=quote, skipped=first, width=width, is_short=names is not None,
        rows=sum(map(bool, widths[first:])), inside=rows.line_num - len(widths), n_wrong=len(wrong), wrong=wrong and
        f"line {wrong[0] + 1:,} has {widths[wrong[0]]} cells between {between}, others {width}"
        + f" ({len(wrong) - 1:,} more differ)" * (len(wrong) > 1),
    )  # fmt: skip


def cuts_of(text: str, separator: str, quotes) -> list[SimpleNamespace]:
    """Return how a separator cuts a text, with the ``quotes`` asked for, or those that begin a cell and fit, if any."""
    before = ["\n", *(" \t" if separator == BLANKS else (separator, f"{separator} "))]
    signs = [each for each in QUOTES.values() if text.startswith(each) or any(start + each in text for start in before)]
    signs = [QUOTES[quotes]] if quotes else signs
    cuts = [each for each in (cut(text, separator, sign) for sign in signs) if each]
    cuts = [each for each in cuts if quotes or each.quote != "'" or not each.inside]  # two apostrophes on two lines
    fits = [each for each in cuts if not each.wrong]
    clean = [each for each in fits if not each.inside]
    if clean and fits[0].inside and not clean[0].quote:
        ask = "--quote none takes them as text, --quote double as quotes"
        raise UserError(f"quotes have line ends inside ({fits[0].inside:,}), or are unpaired: {ask}")
    return clean[:1] or fits[:1] or cuts


def read_text(data: bytes, asked: dict) -> Raw:
    """Return a table of text. One separator and one kind of quotes must cut every line into equally many cells."""
    encoding, separator, quote = (asked.get(key) for key in ("encoding", "separator", "quote"))
    text = data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"
    if quote != "none" and '\\"' in text and ESCAPED.search(text):  # no quotes of CSV can be cut so
        text = re.sub(r"""\\([\\"])""", lambda found: '""' if found[1] == '"' else "\\", text)
    text, n_rulers = RULER.subn("\n", text)
    if stated := re.match(r"sep=(.)\n", text):  # as spreadsheets write it
        text, separator = text[stated.end() :], separator or stated[1]
    named = {"\\t": "\t"} | {name: sign for sign, name in SEPARATORS.items()}
    separator = named.get(separator, separator)
    if separator and len(separator) > 1 and separator != BLANKS:
        raise UserError(f"--separator {separator}: write one character, or {', '.join(named)}")
    tried = [separator] if separator else [each for each in SEPARATORS if each in text]
    cuts = [each for separator in tried for each in cuts_of(text, separator, quote)]
    if all(each.wrong for each in cuts) and not separator:
        cuts += cuts_of(text, BLANKS, quote)
    fitting = [each for each in cuts if not each.wrong]
    fitting = [each for each in fitting if each.skipped == min(each.skipped for each in fitting)]
    if len(fitting) > 1 and "," not in re.sub(r"\d,\d", "", text):  # decimal commas
        fitting = [each for each in fitting if each.separator != ","]
    if len(fitting) > 1:
        shown = " and ".join(each.between for each in fitting)
        raise UserError(f"{shown} both cut all lines into equally many cells: state --separator")
    if not cuts:
        raise UserError(f"no separator of columns was found in {text[:40]!r}; is it a table? state --separator")
    if not fitting:
        nearest = min(cuts, key=lambda each: each.n_wrong)
        raise UserError(f"{nearest.wrong}; correct or remove it, or state --separator or --quote")
    (how,) = fitting
    frame = pd.read_csv(
        io.StringIO(text), sep=how.separator, quotechar=how.quote or '"', quoting=0 if how.quote else csv.QUOTE_NONE,
        header=None, names=range(how.width), index_col=False, dtype=str, na_filter=False, skiprows=how.skipped,
        skipinitialspace=True,
    )  # fmt: skip
    if len(frame) != how.rows:
        raise UserError(f"{how.rows:,} rows were counted, and {len(frame):,} read; state --quote")
    frame = frame.fillna("").apply(lambda column: column.str.strip())
    notes = [f"the encoding is taken for {encoding}; --encoding decides"] * (encoding == "cp1252")
    notes += [f"line ends inside quotes, part of cells: {how.inside:,}"] * bool(how.inside)
    notes += [f"lines of dashes or of a count left out: {n_rulers:,}"] * bool(n_rulers)
    if '="' in text:  # as spreadsheets keep texts
        given, frame = frame, frame.replace(r'^="([^"]*)"$', r"\1", regex=True)
        n_formulas = int((given != frame).sum().sum())
        note = f'cells such as ="5" that are taken for the text between the quotes: {n_formulas:,}'
        notes += [note] * bool(n_formulas)
    frame, n_above = trimmed(frame, asked.get("target"), notes)
    frame, named = with_names(frame, how.is_short, asked, notes)
    frame = without_totals(frame, notes)
    words = f"text, {encoding}, separated by {how.between}, {'names in the first line' if named else 'no names'}"
    how = {"kind": "text", "words": words, "separator": how.separator, "lines": how.skipped + n_above + named}
    return Raw(frame, frame.columns.tolist(), how, notes)


def trimmed(frame, target: str | None, notes: list[str]):
    """Return a frame without lines that separators fill up, titles and footnotes; and the number of those above. A line
    of names above the one that has the target is a title, too.
    """
    filled = (frame != "").sum(axis=1).to_numpy()
    first = int(np.argmax(filled > 1)) if frame.shape[1] > 2 else 0
    titles, names = ([*row] for row in frame.iloc[[first, min(first + 1, len(frame) - 1)]].to_numpy())
    first += target in names and target not in titles and not any(map(is_number, names))
    last = max(np.flatnonzero(filled > max(1, frame.shape[1] // 2)), default=len(frame) - 1)
    least = min(filter(None, filled[first : last + 1]), default=0)
    if len(frame) - 1 - last > MOST_BELOW or least <= filled[last + 1 :].max(initial=0):
        last = len(frame) - 1
    for where, cut in {"above the names": frame.iloc[:first], "below the rows": frame.iloc[last + 1 :]}.items():
        if len(cut):
            text = ", ".join(filter(None, cut.to_numpy().ravel()))[:60]
            notes.append(f"lines left out {where}: {len(cut)} ({text!r})")
    return frame.iloc[first : last + 1].reset_index(drop=True), first


def without_totals(frame, notes: list[str]):
    """Return a frame without totals and means in its last lines and its first one, and without other statistics next to
    those in the last lines; totals in between are noted.
    """
    if len(frame) <= 2:
        return frame
    last = [label_of(line) for line in frame.iloc[:0:-1][:MOST_BELOW].to_numpy()]  # upwards
    n_below = max(1, len([*takewhile(STATISTIC.fullmatch, last)]))  # the last line may be totals without a word
    rows, below = frame.iloc[:-n_below], frame.iloc[-n_below:]
    found = [row for row, line in below.iterrows() if TOTAL.fullmatch(label_of(line)) or sums_up(rows, line)]
    found += [row for row, line in below.drop(index=found).iterrows() if found and sums_up(rows, line, OTHERS)]
    found += [0] * sums_up(frame.drop(index=[0, *found]), frame.loc[0])
    lines = [", ".join(filter(None, frame.loc[row]))[:60] for row in found]
    notes += [f"line of totals left out: {line!r}" for line in lines]
    frame = frame.drop(index=found)
    labels = frame.iloc[:, 0]
    is_total = labels.str.fullmatch(rf"(.* )?{TOTAL.pattern}", flags=re.I)  # also North Total, and Total of North
    is_total |= labels.str.fullmatch(rf"{TOTAL.pattern}(?<=\W).+", flags=re.I) & ~labels.duplicated(keep=False)
    is_below = labels.index.isin(below.index) & ~labels.isin(rows.iloc[:, 0])  # n may be an answer
    is_statistic = is_below & labels.str.fullmatch(STATISTIC.pattern, flags=re.I)
    if between := labels[is_total | is_statistic].tolist():
        notes.append(f"lines that begin with {between[0]!r} are rows: {len(between):,}; remove them if they are totals")
    return frame.reset_index(drop=True)


def label_of(line) -> str:
    """Return the first cell of a line that is not empty."""
    return next(filter(None, line), "")


def sums_up(rows, line, of=("sum", "mean")) -> bool:
    """Return whether all numbers of a line are statistics of the columns of some rows: one ``of`` these each. One of
    them, or two if the line has no word for it, must be in none of the rows, unless ``of`` are such as the largest.
    """
    found = 0
    for j in (j for j, cell in enumerate(line) if is_number(cell)):
        cell, column = line.iloc[j], rows.iloc[:, j]
        points, commas = (numbers(pd.Series([cell, *column[:100]]), sign)[0] for sign in ".,")
        values = numbers(column, "," if commas.count() > points.count() else ".")[0]
        known, near = values.agg([*of]) if values.count() >= len(values) // 2 else [], []
        for sign, value in ((".", points[0]), (",", commas[0])):  # 1.770 may be the sum of whole numbers
            rounded = 0.5001 * 0.1 ** len("".join(re.findall(rf"[{sign}](\d+)", cell)))
            near += [value] * any(abs(value - each) <= rounded for each in known)
        if not near:
            return False
        found += of == OTHERS or not values.isin(near).any()
    return found >= (1 if STATISTIC.fullmatch(label_of(line)) else 2)


def with_names(frame, is_short: bool, asked: dict, notes: list[str]):
    """Return a frame with its names, without repeated names, units and empty columns, and whether names were there."""
    first, generated = frame.iloc[0].tolist(), [f"c{j + 1}" for j in range(frame.shape[1])]
    if is_short and (frame.iloc[1:, -1] != "").any():
        first = ["", *first[:-1]]
        notes.append("the first line has a name less than the others have cells: the first column has none")
    header, target = asked.get("header"), asked.get("target")
    if header == "no" or (not header and target not in first and (target in generated or not has_names(frame))):
        return frame.set_axis(generated, axis=1), False
    empty = np.array([not name and (frame[j][1:] == "").all() for j, name in enumerate(first)])
    names = np.array([name or f"(column {j + 1})" for j, name in enumerate(first)], dtype=object)[~empty]
    notes += [f"empty columns without a name left out: {empty.sum()}"] * bool(any(empty))
    again = (frame == frame.iloc[0]).all(axis=1)
    notes += [f"lines left out that repeat the names of the columns: {again.sum() - 1:,}"] * bool(again.sum() > 1)
    frame = frame.loc[~again, ~empty].set_axis(names, axis=1).reset_index(drop=True)
    of_numbers = frame[MOST_BELOW:300].map(is_number).astype(float).mean() > 0.8
    for line, top in zip(*(each[:MOST_BELOW].to_numpy() for each in (frame, frame.loc[:, of_numbers])), strict=True):
        units = [cell for cell in top if cell.lower() not in MISSING]
        are_numbers = any(map(is_number, top)) and not LIMIT.fullmatch(label_of(line))
        if len(set(top)) < 2 or not any(units) or len(units) <= len(top) / 2 or are_numbers:
            break
        what = "limits" if any(map(is_number, top)) else "units or texts"
        notes.append(f"the line below the names has {what} ({', '.join(filter(None, top))[:60]}): left out")
        frame = frame.iloc[1:]
    return frame.reset_index(drop=True), True


def has_names(frame) -> bool:
    """Return whether the first row has names: texts that do not recur. It is asked for where all are numbers."""
    texts = [j for j, cell in enumerate(frame.iloc[0]) if cell and not is_number(cell)]
    if not texts and len(frame) > 1:
        shown = ", ".join(frame.iloc[0, :3])
        raise UserError(f"are {shown}, ... names or the first row? state --header yes or --header no")
    return len(frame) < 2 or not any((frame.iloc[1:, j] == frame.iloc[0, j]).any() for j in texts)


# --- other formats ----------------------------------------------------------------------------------------------------


def read_libsvm(data: bytes, asked: dict) -> Raw:
    """Return the table of a LIBSVM file; its labels are the last column, "label"."""
    X, y = load_svmlight_file(io.BytesIO(data), dtype=np.float32)
    return dense_or_sparse(sparse.hstack([X, y[:, None]], "csr"), "LIBSVM", ["label"])


def dense_or_sparse(X, kind: str, last=()) -> Raw:
    """Return a sparse table: as it is if it is wide and mostly zeros, else dense; ``last`` are its last names."""
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(f"it has a column {X.shape[1] - 1:,}; number them anew, up to {MOST_COLUMNS:,}")
    if X.shape[1] <= SPARSE_COLUMNS or X.nnz >= SPARSE_SHARE * np.prod(X.shape):
        check_bytes(8 * np.prod(X.shape))
        X = pd.DataFrame(X.toarray())
    elif not (abs(X.data) <= MOST).all():
        raise ValueError(f"it has a number that is missing or above {MOST:g}; drop or rescale its column")
    return Raw(X, [*(f"f{j}" for j in range(X.shape[1] - len(last))), *last], {"kind": kind})


def read_arff(data: bytes, asked: dict) -> Raw:
    """Return the table of an ARFF file, dense or sparse; its nominal values are texts."""
    head, body = re.split(r"^\s*@data\s*$", data.decode(asked["encoding"]), maxsplit=1, flags=re.I | re.M)
    names, kinds = zip(*ATTRIBUTE.findall(head), strict=True)
    numeric = [kind.lower().startswith(("numeric", "real", "integer")) for kind in kinds]
    lines = [line.strip() for line in body.splitlines() if line.strip() and not line.lstrip().startswith("%")]
    check_bytes(8 * len(lines) * len(names))
    # an entry that a sparse line leaves out is zero, or the first of its nominal values
    zeros = ["0" if one else CELL.findall(kind.strip("{"))[0] for one, kind in zip(numeric, kinds, strict=True)]
    rows = []
    for line in lines:
        row = dict(enumerate(zeros)) | {int(j): value for j, value in ENTRY.findall(line)}
        rows.append([*row.values()] if line.startswith("{") else CELL.findall(line)[:-1])
    if set(map(len, rows)) != {len(names)}:
        raise ValueError(f"a line has not as many cells as it names attributes, {len(names)}")
    frame, names = pd.DataFrame(rows).map(unquoted).replace("?", ""), list(map(unquoted, names))
    stated = {name: "number" if one else "text" for name, kind, one in zip(names, kinds, numeric, strict=True)
              if not kind.lower().startswith("date")}  # fmt: skip
    return Raw(frame, names, {"kind": "ARFF"}, formats=stated)


def unquoted(value: str) -> str:
    """Return a value of an ARFF file without its quotes."""
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value[:1] in ("'", '"') else value


def read_parquet(data: bytes, asked: dict) -> Raw:
    """Return the table of a Parquet file, with the names of its index as columns, and numbers and dates as such."""
    from pyarrow import parquet

    about = parquet.read_metadata(io.BytesIO(data))
    stored = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    check_bytes(max(stored, 8 * about.num_rows * about.num_columns))
    frame = pd.read_parquet(io.BytesIO(data))
    frame = frame.reset_index([name for name in frame.index.names if name is not None]).reset_index(drop=True)
    for name, column in frame.items():
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if kind == "decimal":
            frame[name] = column.astype(np.float64)
        elif kind == "time":
            frame[name] = column.map(str, na_action="ignore")
        elif isinstance(column.dtype, pd.PeriodDtype):
            frame[name] = column.dt.to_timestamp()
    return Raw(frame, frame.columns.astype(str).tolist(), {"kind": "Parquet"})


def read_arrays(data: bytes, asked: dict) -> Raw:
    """Return the table of an ``.npz``: a matrix of ``scipy.sparse.save_npz``, or a column for each vector, and for each
    column of an array.
    """
    check_bytes(sum(member.file_size for member in zipfile.ZipFile(io.BytesIO(data)).infolist()))
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        if {"format", "shape", "data"} <= set(arrays.files):
            return dense_or_sparse(sparse.load_npz(io.BytesIO(data)).tocsr().astype(np.float64), "npz")
        names, columns = [], {}
        for name, values in arrays.items():
            values = values.astype(values.dtype.newbyteorder("="))
            if values.dtype.kind == "c":
                raise ValueError(f"{name} has complex numbers; save their real and imaginary parts")
            for j, column in enumerate(values.reshape(len(values), -1).T):
                columns[len(names)] = column
                names.append(name if values.ndim == 1 else f"{name}{j + 1}")
    return Raw(pd.DataFrame(columns), names, {"kind": "npz"})


def check_bytes(number):
    """Raise ``ValueError`` for a table of more than ``MOST_BYTES``."""
    if number > MOST_BYTES:
        raise ValueError(f"its columns have more than {MOST_BYTES:,} bytes; save fewer rows or columns")


READERS = {"Parquet": read_parquet, "npz": read_arrays, "LIBSVM": read_libsvm, "ARFF": read_arff, "text": read_text}
