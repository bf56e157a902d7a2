"""Tables as files: what people read and what machines read are the same numbers, and every format is sound."""

import csv
import html
import io
import itertools
import re

import numpy as np
import pandas as pd
import pytest
import report_rows

from rfstudy.report import tables, typeset
from rfstudy.report.arena import BANDS

#: One table of every kind and paper, and one of every kind.
TABLES = {(spec["kind"], spec["paper"]): spec for spec in reversed(report_rows.REPORTS) if spec["form"] == "tables"}
KINDS = {spec["kind"]: spec for spec in TABLES.values()}

#: Columns of words: names of data sets; what is claimed, its test, and what is found.
PROSE = ("data_set", "says", "test", "evidence", "result", "study", "w", "data", "diameter")

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]\d+)?")


def of_each(specs):
    return pytest.mark.parametrize("spec", specs.values(), ids=lambda spec: f"{spec['paper']}-{spec['name']}")


@of_each(TABLES)
def test_a_table_is_sound_and_the_same_in_every_format(spec, shipped):
    assert_sound(shipped.made(spec["paper"], spec["name"]))


@of_each(KINDS)
def test_a_table_without_rows_is_typeset(spec):
    assert_sound(tables.make(report_rows.context_of([]), spec))


def assert_sound(table):
    """A cell of the CSV file is one number, a text, or empty, and Markdown, LaTeX and HTML say the same."""
    assert_same_in_all_formats(table)
    header, *rows = csv.reader(io.StringIO(typeset.csv(table)))
    assert rows or not len(table.frame)
    assert len(set(header)) == len(header)
    for name, *cells in zip(header, *rows, strict=True):
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name), name
        reported = [cell for cell in cells if cell and cell not in BANDS]  # of columns, not numbers
        assert not set(reported) & {"nan", "NaN", "None", "<NA>", "inf"}, name
        numbers = [bool(NUMBER.fullmatch(cell)) for cell in reported]
        assert all(numbers) or not any(numbers), (name, reported[:5])
        if name not in PROSE:
            for cell in reported:
                assert not re.search(r"±|\[\d|\d \(|\d / \d|\d to \d|\d, \d|<\d|• ", cell), (name, cell)


@of_each(TABLES)
def test_people_and_machines_read_the_same_numbers(spec, shipped):
    """Every number of a cell is one of those that it tells machines, rounded as it is printed."""
    table, compared = shipped.made(spec["paper"], spec["name"]), 0
    for column, cell in itertools.product(table.frame.columns, range(len(table.frame))):
        cell = table.frame[column].iloc[cell]
        # names and texts may have digits in them
        if not isinstance(cell, typeset.Cell) or any(
            isinstance(record.get(name), str) for record in cell.records for name in ("", "method", "text")
        ):
            continue
        reported = [v for record in cell.records for v in record.values() if isinstance(v, int | float | np.number)]
        reported.append(len(cell.records))
        remarks = [value for record in cell.records for value in record.values() if isinstance(value, str) and value]
        text = re.sub("|".join(map(re.escape, remarks)), "", cell.text) if remarks else cell.text
        for digits in re.findall(r"(?<![<\d.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", text):
            value = float(digits.rstrip(",").replace(",", ""))
            mantissa, _, power = digits.partition("e")
            half = 0.5 * 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
            assert any(abs(value - number) <= half * (1 + 1e-9) for number in reported), (column, cell)
            compared += 1
    kinds = ("grid", "scores", "accuracy_and_time", "ablation", "pairs", "rates", "complexities")
    assert compared or spec["kind"] not in kinds


def markdown_parts(text):
    """The tables of a Markdown file, all texts."""
    parts = []
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        rows = [re.split(r"(?<!\\)\|", line.strip())[1:-1] for line in block.splitlines()]
        assert len(set(map(len, rows))) == 1
        assert all(re.fullmatch(":?-+:?", cell) for cell in rows[1])
        plain = [[re.sub(r"^\*\*(.*)\*\*$", r"\1", cell.strip()) for cell in row] for row in rows]
        unescaped = [[cell.replace(r"\|", "|") for cell in row] for row in plain]
        parts.append(pd.DataFrame(unescaped[2:], columns=unescaped[0]))
    return parts


def assert_same_in_all_formats(table):
    parts = markdown_parts(typeset.markdown(table))
    assert len(parts) == max(1, len(list(filter(None, table.parts.values()))))
    assert {name for part in parts for name in part.columns} == {str(name) for name in table.frame} - {*table.hidden}
    pieces = latex_pieces(typeset.latex(table))
    shown = re.findall(r"<t[hd]\b[^>]*>\s*(.*?)\s*</t[hd]>", typeset.html(table), re.S)
    cells = [html.unescape(re.sub("</?b>", "", cell)) for cell in shown]
    assert cells == [cell for part in parts for row in (part.columns, *part.to_numpy()) for cell in row]
    for names, rows in pieces:
        (part,) = [each for each in parts if set(names) <= set(each.columns.map(typeset.escape))][:1]
        part = part.map(typeset.escape).rename(columns=typeset.escape)
        assert rows == part[names].to_numpy().tolist()
    columns = table.frame.columns.drop(list(table.hidden))
    assert {name for names, _ in pieces for name in names} >= set(columns.map(str).map(typeset.escape))
    for note in table.notes:
        assert typeset.latex(table).count(typeset.escape(note) + r"\par") == 1


def latex_pieces(text):
    """The tables of a LaTeX file, each its names of columns and its rows; what is unsound fails."""
    assert text.startswith("% needs: booktabs, longtable, pdflscape, xltabular\n")
    text = text.split("\n", 1)[1]
    shared = r">\{\\hsize=([\d.]+)\\hsize\\raggedright\\arraybackslash\}X"
    for types in re.findall(rf"\{{((?:{shared}|[lr])+)\}}\n", text):
        shares = [float(share) for share in re.findall(shared, types[0])]
        assert sum(shares) == pytest.approx(len(shares), abs=0.01 * len(shares))
    text = re.sub(shared, "X", text)
    opened = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if what == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    for character in "%#_":
        assert text.count(character) == text.count("\\" + character)
    assert text.count("$") % 2 == 0
    assert not re.search("[±<>≥≤•]", text)
    n_tables = len(re.findall(r"\\begin\{(?:longtable|xltabular)\}", text))
    assert len(set(re.findall(r"\\label\{(.*?)\}", text))) == n_tables
    assert text.count(r"\addtocounter{table}{-1}") == n_tables - 1
    found = []
    start = r"\\begin\{(longtable|xltabular)\}(\{\\linewidth\})?\{([lrX]+)\}\n(.*?)\\end\{\1\}"
    for name, width, types, body in re.findall(start, text, re.S):
        assert bool(width) == ("X" in types) == (name == "xltabular")
        head = body.split("\\toprule\n")[1].split("\n\\midrule")[0].removesuffix(r" \\")
        rows = [re.sub(r" \\\\$", "", line) for line in body.split("\\endlastfoot\n")[1].splitlines()]
        cells = [[cell.strip() for cell in re.split(r"(?<!\\)&", row)] for row in (head, *rows)]
        cells = [[re.sub(r"^\\textbf\{(.*)\}$", r"\1", cell) for cell in row] for row in cells]
        assert {len(row) for row in cells} == {len(types)}
        found.append((cells[0], cells[1:]))
    return found


def test_numbers_in_csv_files_have_ten_digits_and_no_point_where_they_are_whole():
    values = [1 / 3, 2.0, -0.0, 1e-12, 123456789012, np.float32(0.5), np.int64(7), 6.02e23, None, np.nan, pd.NA, "a,b"]
    text = typeset.csv(typeset.Table(pd.DataFrame({"x": pd.Series(values, dtype=object)})))
    # texts among numbers are remarks
    assert text.splitlines() == [
        "x,x_remark", "0.3333333333,", "2,", "0,", "1e-12,", "123456789012,", "0.5,", "7,", "6.02e+23,", ",", ",", ",",
        ',"a,b"',
    ]  # fmt: skip


def test_the_notes_say_what_is_bold_where_something_is(shipped):
    for *name, is_there in (("nsrf", "table-01-text", True), ("survey", "table-06-code", False)):
        assert ("Bold: the best of several numbers, without a test." in shipped.made(*name).notes) == is_there


def test_the_best_number_is_bold_in_every_format():
    rows = [{"a": typeset.Cell("1 ± 2", {"": 1.0}), "b": typeset.Cell("3", {"": 3.0}), "c": typeset.Cell("no", {})}]
    table = typeset.Table(pd.DataFrame(typeset.with_best(rows, ["a", "b", "c"], lower=True)))
    assert "**1 ± 2**" in typeset.markdown(table)
    assert "<b>1 ± 2</b>" in typeset.html(table)
    assert r"\textbf{1 $\pm$ 2}" in typeset.latex(table)


def test_special_characters_are_escaped():
    table = typeset.Table(pd.DataFrame({"a|b": ["[143]", "*", "1 < 2 & <b>", "x | y"], "n": [1, 2, 3, 4]}))
    assert r"| x \| y" in typeset.markdown(table)
    assert "1 &lt; 2 &amp; &lt;b&gt;" in typeset.html(table)
    lines = typeset.latex(table).splitlines()
    start = lines.index(r"\endlastfoot") + 1
    assert lines[start : start + 2] == [r"{}[143] & 1 \\", r"{}* & 2 \\"]
    assert lines[start + 2] == r"1 \textless{} 2 \& \textless{}b\textgreater{} & 3 \\"
    assert typeset.escape("50 % of a_b {c} # $") == r"50 \% of a\_b \{c\} \# \$"
    assert typeset.escape("x^2 ~ \\ ±") == r"x\textasciicircum{}2 \textasciitilde{} \textbackslash{} $\pm$"


def test_characters_that_need_unicode_fonts_are_named_in_the_first_line():
    def first_line(label):
        table = typeset.Table(pd.DataFrame({"method": [label], "n": [1]}), caption="Naïve café ± 1")
        return typeset.latex(table).split("\n")[0]

    assert first_line("Gauß & Çelik ≥ 0") == typeset.NEEDS
    assert first_line("方法 and λ") == f"{typeset.NEEDS}; XeLaTeX or LuaLaTeX, with a font that has λ方法"
