"""Tables as files: what people read and what machines read are the same numbers, and every format is sound."""

import csv
import importlib.util
import io
import itertools
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
import report_rows

from rfstudy.report import catalogue, latex, typeset
from rfstudy.report.tables import dataset_facts

TABLES = [spec for spec in report_rows.REPORTS if spec["form"] == "tables"]

#: Columns of words: names of data sets; what is claimed, its test, and what is found.
PROSE = ("data_set", "says", "test", "evidence", "result", "study", "w", "data", "diameter")

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]\d+)?")


def rounds(method, variant, seconds, **settings):
    """Rows of the comparisons of speed."""
    shared = {
        "origin": "measured", "run": "r", "experiment": "speed", "protocol": "ratios", "dataset": "made-d8",
        "kernel": "gaussian", "metric": "time_transform_s", "status": "ok", "axis": "round", "method": method,
        "variant": variant, "d": 8, "n_features": 16, "settings": {"threads": 2, "what": method} | settings,
    }  # fmt: skip
    return [shared | {"at": at, "value": value} for at, value in enumerate(seconds)]


def theory_rows():
    """Rows of everything that is measured about the maps themselves: pairs of points, rates, costs, requirements."""
    rng = np.random.default_rng(0)
    shared = {"origin": "measured", "run": "r", "status": "ok", "kernel": "gaussian", "seed": 1}
    rows = []
    for method, d, direction, z, repeat in itertools.product(
        ("rff", "orf", "mm"), (16, 4), ("random", "axis"), (1.5, 0.5), range(2)
    ):
        place = {"dataset": f"pairs-{direction}-d{d}", "d": d, "n_features": 2 * d, "n_features_label": "2d"}
        place |= {"axis": "distance", "at": z, "settings": {"direction": direction, "draws": 100}, "repeat": repeat}
        rows += [
            shared | place | {"method": method, "metric": metric, "value": value * rng.uniform(0.9, 1.1)}
            | {"spread": 0.013, "spread_kind": "standard error"}
            for metric, value in (
                ("variance_ratio", 0.7), ("variance_ratio_columns", 1.4), ("kernel_bias", 0.02), ("kernel_mse", 0.1)
            )
        ]  # fmt: skip
    for method, d, norm, s in itertools.product(("rff", "orf"), (16, 2), ("sup", "spectral"), (64, 128, 256, 512)):
        place = {"dataset": f"points-d{d}", "d": d, "n_train": 50, "n_features": s, "n_features_label": str(s)}
        error = s**-0.5 * rng.uniform(0.9, 1.1)
        rows.append(shared | place | {"method": method, "metric": f"approximation_error_{norm}", "value": error})
    for method, (n, s) in itertools.product(("rff", "lsrff"), ((64, 32), (64, 64), (64, 128), (128, 64), (256, 64))):
        place = {"dataset": f"made-n{n}", "d": 8, "n_train": n, "n_features": s, "n_features_label": str(s)}
        place |= {"method": method, "settings": {"threads": 1}}
        for metric in ("time_fit_s", "time_transform_s", "time_draw_s", "stored_bytes"):
            rows.append(shared | place | {"metric": metric, "value": 1e-3 * n * s**1.7 * rng.uniform(0.9, 1.1)})
    settings = {"tolerance": 0.01, "draws": 3, "terms": 512}
    for method, decay, n, s in itertools.product(
        ("rff", "slsrff"), ("exponential", "slowest"), (64, 128, 256), (8, 16, 32, "exact")
    ):
        place = {"dataset": f"circle-{decay}-n{n}", "kernel": f"circle-{decay}", "n_train": n, "d": 1, "repeat": 0}
        place |= {"method": method, "n_features_label": str(s), "learner": "ridge", "split": "test"}
        risk = {"metric": "risk_exact", "value": 1.0}
        if s != "exact":
            risk = {"metric": "risk", "n_features": s, "value": 1.0 if s >= n / (8 if method == "rff" else 4) else 1.2}
        rows.append(shared | place | risk | {"settings": settings})
    return rows


@cache
def context(with_rows):
    """One context with rows for every kind of table, or without any."""
    rows = [
        *report_rows.made_rows(tasks=["skin", "letter-am-nz"], sizes=(2, 4, 16, 32), repeats=9),
        *report_rows.surrogate_rows(tasks=["eeg", "cod-rna"], sizes=(1, 2, 32), gain=3.0),
        *report_rows.fact_rows(duplicate_rows_pct=1.5, order="50 % _long_ & {odd}", spike_row_numbers=[3, 17]),
        *theory_rows(),
        *rounds("sorf", "float32", (1.0, 2.0, 3.0), at_most={"rff-float32": 0.33}),
        *rounds("rff", "float32", (4.0, 4.0, 9.0)),
    ]
    rows = report_rows.changed(
        rows, lambda row: (row["dataset"], row.get("method"), row.get("repeat")) == ("eeg", "qmc", 1),
        status="failed", value=None, settings={"reason": "qmc: singular"},
    )  # fmt: skip
    return report_rows.context_of(rows if with_rows else [])


@cache
def steps():
    return report_rows.context_of(report_rows.step_rows())


@cache
def made(number, with_rows):
    spec = TABLES[number]
    kind = importlib.import_module(f"rfstudy.report.tables.{spec['kind']}")
    return kind.make(steps() if with_rows and spec["kind"] == "ablation" else context(with_rows), spec)


every_table = pytest.mark.parametrize(
    "number", range(len(TABLES)), ids=[f"{spec['paper']}-{spec['name']}" for spec in TABLES]
)
with_and_without = pytest.mark.parametrize("with_rows", [True, False], ids=["rows", "nothing"])


@every_table
@with_and_without
def test_a_cell_of_a_csv_file_is_one_number_or_a_text_or_empty(number, with_rows):
    header, *rows = csv.reader(io.StringIO(typeset.csv(made(number, with_rows))))
    assert rows or not len(made(number, with_rows).frame)
    assert len(set(header)) == len(header)
    for name, *cells in zip(header, *rows, strict=True):
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name), name
        told = [cell for cell in cells if cell]
        assert not set(told) & {"nan", "NaN", "None", "<NA>", "inf"}, name
        numbers = [bool(NUMBER.fullmatch(cell)) for cell in told]
        assert all(numbers) or not any(numbers), (name, told[:5])
        if name not in PROSE:
            for cell in told:
                assert not re.search(r"±|\[\d|\d \(|\d / \d|\d to \d|\d, \d|<\d|• ", cell), (name, cell)


@every_table
def test_people_and_machines_read_the_same_numbers(number):
    """Every number of a cell is one of those that it tells machines, rounded as it is printed."""
    table, compared = made(number, True), 0
    for column, cell in itertools.product(table.frame.columns, range(len(table.frame))):
        cell = table.frame[column].iloc[cell]
        # names and texts may have digits in them
        if not isinstance(cell, typeset.Cell) or any(
            isinstance(record.get(name), str) for record in cell.records for name in ("", "method", "text")
        ):
            continue
        told = [v for record in cell.records for v in record.values() if isinstance(v, int | float | np.number)]
        told.append(len(cell.records))
        remarks = [value for record in cell.records for value in record.values() if isinstance(value, str) and value]
        text = re.sub("|".join(map(re.escape, remarks)), "", cell.text) if remarks else cell.text
        for digits in re.findall(r"(?<![<\d.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text):
            value = float(digits.rstrip(",").replace(",", ""))
            mantissa, _, power = digits.partition("e")
            half = 0.5 * 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
            assert any(abs(value - number) <= half * (1 + 1e-9) for number in told), (column, cell)
            compared += 1
    kinds = ("grid", "scores", "accuracy_and_time", "ablation", "pairs", "rates", "complexities", "costs")
    assert compared or TABLES[number]["kind"] not in kinds or not measured_here(table)


def measured_here(table):
    """Whether a table shows anything of the made rows."""
    return any(re.search(r"\d", typeset.text(cell)) for cell in table.frame.iloc[:, -2:].to_numpy().ravel())


@every_table
@with_and_without
def test_markdown_is_sound(number, with_rows):
    table = made(number, with_rows)
    parts = markdown_parts(typeset.markdown(table))
    assert len(parts) == (len(table.parts) if table.divided else 1)
    assert sum(len(part) for part in parts) >= (0 if table.divided else len(table.frame))
    shown = {name for part in parts for name in part.columns}
    assert shown == set(map(str, table.frame.columns))


def markdown_parts(text):
    """The tables of a Markdown file, all texts."""
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.M)
    parts = []
    for block in blocks:
        rows = [re.split(r"(?<!\\) ?\| ?", line.strip())[1:-1] for line in block.splitlines()]
        assert len(set(map(len, rows))) == 1
        assert all(re.fullmatch("---:?", cell) for cell in rows[1])
        unescaped = [[cell.replace(r"\|", "|") for cell in row] for row in rows]
        parts.append(pd.DataFrame(unescaped[2:], columns=unescaped[0]))
    return parts


@every_table
@with_and_without
def test_latex_is_sound_and_says_the_same(number, with_rows):
    table = made(number, with_rows)
    text = typeset.latex(table)
    read = [part.map(latex.escape).rename(columns=latex.escape) for part in markdown_parts(typeset.markdown(table))]
    keys = list(map(latex.escape, table.keys))
    parts = latex_parts(text)
    for names, groups, rows in parts:
        (of_part,) = [part for part in read if set(names) <= set(part.columns)][:1]
        for position, name in enumerate(names):
            told = [row[position] for row in rows]
            wanted = list(of_part[name])
            # parts share the columns that say what a row is about, and leave rows without a cell out
            keep = list if len(parts) == 1 else lambda cells: [cell for cell in cells if cell]
            assert keep(told) == keep(wanted) or (name in keys and len(parts) > 1), name
        assert groups in ([], [cell for cell in of_part.iloc[:, 0] if cell]) or len(parts) > 1
    columns = {name for names, _, _ in parts for name in names}
    assert columns >= {latex.escape(str(column)) for column in table.frame.columns[1:]}
    for note in table.notes:
        assert text.count(latex.escape(note) + r"\par") == 1


def latex_parts(text):
    """The parts of a LaTeX file, each its names of columns, headings of groups and rows; what is unsound fails."""
    first, text = text.split("\n", 1)
    packages = re.fullmatch(r"% needs: (.*)", first).group(1).split(", ")
    needed = {"booktabs": "toprule", "array": "arraybackslash", "longtable": "{longtable}", "pdflscape": "{landscape}"}
    assert packages == [package for package, sign in needed.items() if sign in text]
    assert not re.search(r"\\(tiny|scriptsize)", text)
    assert len(re.findall(r"^\\(normalsize|small|footnotesize)$", text, re.M)) == text.count(r"\caption{")
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    opened = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", text):
        if what == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    assert text.count(r"\begingroup") == text.count(r"\endgroup")
    for character in "%#_":
        assert text.count(character) == text.count("\\" + character)
    assert text.count("$") % 2 == 0
    assert "±" not in text
    assert len(set(re.findall(r"\\label\{(.*?)\}", text))) == text.count(r"\label{") == text.count(r"\caption{")
    assert text.count(r"\addtocounter{table}{-1}") == text.count(r"\caption{") - 1
    found = []
    for match in re.finditer(r"\\begin\{(tabular|longtable)\}\{([^\n]*)\}\n(.*?)\\end\{\1\}", text, re.S):
        types = re.sub(r">\{\\raggedright\\arraybackslash\}p\{(0\.\d+)\\linewidth\}", "p", match.group(2))
        assert re.fullmatch("[lrp]+", types)
        head, *rows = [
            re.split(r"(?<!\\) ?& ?", line.removesuffix(r" \\").removeprefix("{}"))
            for line in match.group(3).splitlines()
            if line.endswith(r" \\") and not line.startswith(r"\caption")
        ]
        if match.group(1) == "longtable":
            assert rows.pop(0) == head
        assert {len(row) for row in (head, *rows)} == {len(types)}
        groups = re.findall(r"^\\multicolumn\{(\d+)\}\{@\{\}l\}\{\\emph\{(.*)\}\} \\\\\*$", match.group(3), re.M)
        assert {int(span) for span, _ in groups} <= {len(types)}
        names = [re.sub(r"\\shortstack\[.\]\{(.*)\}", r"\1", name).replace(r" \\ ", " ") for name in head]
        found.append((names, [group for _, group in groups], rows))
    assert len(found) == text.count(r"\caption{")
    return found


@every_table
def test_the_same_rows_give_the_same_files(number, tmp_path):
    spec = TABLES[number]
    table = made(number, True)
    again = importlib.import_module(f"rfstudy.report.tables.{spec['kind']}").make(
        steps() if spec["kind"] == "ablation" else context(True), spec
    )
    files = [typeset.write(each, tmp_path / folder, catalogue.outputs(spec)) for each, folder in
             ((table, "one"), (again, "two"))]  # fmt: skip
    assert [path.name for path in files[0]] == catalogue.outputs(spec)
    assert [path.read_bytes() for path in files[0]] == [path.read_bytes() for path in files[1]]
    assert not any(b"\r" in path.read_bytes() for path in files[0])


def test_a_grid_for_machines_has_a_row_a_cell():
    rows = report_rows.made_rows(tasks=["eeg"], methods=["orf", "rff"], sizes=(2, 4), repeats=3)
    rows = report_rows.changed(
        rows, lambda row: (row["method"], row["repeat"], row["n_features_label"]) == ("rff", 1, "2d"),
        status="failed", value=None, settings={"reason": "singular"},
    )  # fmt: skip
    rows = report_rows.changed(rows, lambda row: True, settings={"capped": True})
    table = kind_of("values-accuracy-ridge-text", rows)
    frame = report_rows.as_computed(table)
    eeg = frame[frame["data_set_id"] == "eeg"].set_index(["method_id", "size"])
    assert set(eeg["data_set"]) == {"EEG"}
    assert set(eeg["data_set_remark"]) == {"capped"}
    assert set(eeg["metric"]) == {"accuracy_pct"}
    values = [
        row["value"]
        for row in rows
        if (row["learner"], row["method"], row["n_features_label"]) == ("ridge", "rff", "2d") and row["status"] == "ok"
    ]
    cell = eeg.loc["rff", "2d"]
    assert cell[["value", "std"]].tolist() == pytest.approx([np.mean(values), np.std(values, ddof=1)])
    assert cell[["method", "n", "remark"]].tolist() == ["RFF", 2, "1 failed"]
    missing = eeg.loc["orf", "8d"]
    assert missing["remark"] == "not run"
    assert missing[["value", "std", "n"]].isna().all()
    others = frame[frame["data_set_id"] == "skin"]
    assert set(others["remark"]) == {"not run"}
    assert others["method"].isna().all()


def kind_of(name, rows, paper="survey"):
    spec = report_rows.spec_of(name, paper)
    return importlib.import_module(f"rfstudy.report.tables.{spec['kind']}").make(report_rows.context_of(rows), spec)


def test_best_methods_for_machines_have_a_row_a_winner():
    rows = report_rows.made_rows(tasks=["letter-am-nz"], repeats=10)
    frame = report_rows.as_computed(kind_of("table-07-text", rows))
    letter = frame[(frame["data_set"] == "letter") & (frame["criterion"] == "approximation")]
    printed = letter[(letter["source"] == "published") & (letter["group"] == "large s")]
    assert printed["method_id"].tolist() == ["ssf", "orf"]
    ours = letter[(letter["source"] == "measured") & (letter["group"] == "large s")]
    assert ours[["method", "method_id", "agreement", "repeats"]].to_numpy().tolist() == [["RFF", "rff", "differs", 10]]
    ridge = frame[(frame["data_set"] == "letter") & (frame["criterion"] == "ridge") & (frame["source"] == "measured")]
    assert set(ridge["remark"]) == {"none stands out"}
    several = frame[(frame["source"] == "measured") & frame["p_value"].notna()]
    assert (several["p_value"] >= 0.05).all()
    assert set(frame["source"]) == {"published", "measured"}


def test_every_winner_but_the_best_has_a_p_value():
    rows = report_rows.made_rows(tasks=["letter-am-nz"], methods=["rff", "orf", "gq"], repeats=10)
    table = kind_of("table-07-text", rows)
    frame = report_rows.as_computed(table)
    frame = frame[(frame["data_set"] == "letter") & (frame["criterion"] == "ridge") & (frame["source"] == "measured")]
    for group, winners in frame.groupby("group"):
        read = table.frame[[str(cell) == "letter" for cell in table.frame["data set"]]].iloc[1]
        assert ", ".join(winners["method"]) == str(read[f"ridge, {group}"])
        assert winners["p_value"].isna().tolist() == [True] + [False] * (len(winners) - 1)
    assert len(frame) > 2


def test_times_by_rounds_have_quartiles():
    rows = [row for row in report_rows.surrogate_rows(tasks=["eeg"], sizes=(1,), repeats=1)
            if row["metric"] == "accuracy_pct"]  # fmt: skip
    place = {key: value for key, value in rows[0].items() if key not in ("learner", "split", "value", "metric")}
    seconds = (1.0, 2.0, 3.0, 4.0, 10.0)
    rows += [place | {"axis": "round", "at": at, "metric": f"time_{phase}_s", "value": value / 2, "method": "rff"}
             for at, value in enumerate(seconds) for phase in ("draw", "transform")]  # fmt: skip
    frame = report_rows.as_computed(kind_of("values-generation-time-text", rows, "slsrff"))
    cell = frame[(frame["method_id"] == "rff") & (frame["size"] == "d")].iloc[0]
    assert cell[["value", "lower_quartile", "upper_quartile", "rounds"]].tolist() == [3, 2, 4, 5]


def test_the_columns_that_are_explained_are_there():
    page = (report_rows.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.split("### The files of a table")[1].split("###")[0].split("Its columns:")[1]
    named = set(re.findall(r"`([a-z_]+)`", section)) - {"lost", "deduced", "contended"}
    by_rounds = {"lower_quartile", "upper_quartile", "rounds"}
    found = {column for i in range(len(TABLES)) for column in typeset.one_number_a_cell(made(i, True)).columns}
    assert named - by_rounds <= found
    assert by_rounds < named


def test_an_ablation_for_machines_has_differences_and_p_values():
    table = kind_of("ablation-code", report_rows.step_rows(tasks=["eeg"]), "slsrff")
    frame = report_rows.as_computed(table)
    eeg = frame[frame["data_set_id"] == "eeg"]
    change = eeg[(eeg["quantity"] == "change") & (eeg["step_id"] == "code") & (eeg["method_id"] == "slsrff")]
    assert len(change) == 1
    assert change["value"].iloc[0] == pytest.approx(8.8, abs=0.3)
    assert change["p_value"].iloc[0] < 1e-6
    assert change["n"].iloc[0] == 10
    carried = eeg[(eeg["quantity"] == "accuracy") & (eeg["step_id"] == "code") & (eeg["method_id"] == "rff")]
    assert carried["remark"].tolist() == ["as before"]
    controls = eeg[eeg["step_minus"].notna()]
    assert set(controls["step_id"]) == {"smaller-penalty", "trace", "permuted", "identity-text", "identity-code"}


def test_facts_stand_by_topic_and_one_row_an_entry():
    rows = report_rows.fact_rows(class_order="long runs", duplicate_rows=1200, constant_columns=[3, 17], shuffled=True)
    table = kind_of("table-06-facts-text", rows)
    assert list(table.parts) == ["Rows that occur again", "Order of the rows", "Values", dataset_facts.OTHERS]
    frame = report_rows.as_computed(table)
    eeg = frame[frame["data_set_id"] == "eeg"].set_index("fact_id")
    assert eeg.loc["duplicate_rows", "value"] == 1200
    assert eeg.loc["class_order", "text"] == "long runs"
    assert eeg.loc["shuffled", ["topic", "text"]].tolist() == [dataset_facts.OTHERS, "yes"]
    assert eeg.loc["constant_columns", ["entry", "value"]].to_numpy().tolist() == [[1, 3], [2, 17]]


def test_sizes_dimensions_and_distances_are_in_the_order_of_numbers():
    table = made(next(i for i, spec in enumerate(TABLES) if spec["name"] == "table-02-variance-text"), True)
    rff = table.frame[[str(cell) == "RFF" for cell in table.frame["map"]]]
    assert [(str(direction), d) for direction, d in zip(rff["direction"], rff["d"], strict=True)] == [
        ("axis", 4), ("axis", 16), ("random", 4), ("random", 16),
    ]  # fmt: skip
    assert list(table.frame.columns[4:]) == ["z = 0.5", "z = 1.5"]


def test_reasons_do_not_name_methods_by_their_ids():
    failed = [note for i, spec in enumerate(TABLES) if spec["paper"] == "slsrff" for note in made(i, True).notes
              if note.startswith("Failed")]  # fmt: skip
    assert any("of QMC (singular)" in note for note in failed)
    assert not any("qmc" in note for note in failed)


def test_numbers_in_csv_files_have_ten_digits_and_no_point_where_they_are_whole():
    values = [1 / 3, 2.0, -0.0, 1e-12, 123456789012, np.float32(0.5), np.int64(7), 6.02e23, None, np.nan, pd.NA, "a,b"]
    text = typeset.csv(typeset.Table("made", pd.DataFrame({"x": pd.Series(values, dtype=object)}), "Caption"))
    # texts among numbers are remarks
    assert text.splitlines() == [
        "x,x_remark", "0.3333333333,", "2,", "0,", "1e-12,", "123456789012,", "0.5,", "7,", "6.02e+23,", ",", ",", ",",
        ',"a,b"',
    ]  # fmt: skip


def made_table(n_rows, n_columns, cell="0.123"):
    frame = pd.DataFrame([[cell] * n_columns] * n_rows, columns=[f"column {i}" for i in range(n_columns)])
    # nothing is repeated in the first column: no groups
    frame.iloc[:, 0] = [f"row {i}" for i in range(n_rows)]
    return typeset.latex(typeset.Table("made", frame, "Caption.", ["A note."]))


def test_latex_chooses_size_page_and_breaks():
    # 4 x 8 characters of 4.7 pt and 8 x 6 pt between: in one of two columns
    assert r"\begin{table}" in made_table(5, 4)
    assert r"\normalsize" in made_table(5, 4)
    assert r"\begin{table*}" in made_table(5, 6)
    wide, wider = made_table(5, 12), made_table(5, 18)
    assert r"\footnotesize" in wide
    assert "landscape" not in wide
    assert wider.splitlines()[1] == r"\begin{landscape}"
    assert wider.endswith("\\end{landscape}\n")
    long = made_table(60, 4)
    assert "longtable" in long
    assert long.count("A note.") == 1
    assert long.count(r"\toprule") == 2
    assert "longtable" not in made_table(30, 4)


def test_latex_names_the_packages_that_it_needs():
    texts = made_table(12, 3, "a text that is a paragraph, since it is longer than a line may be in a cell of a table")
    assert made_table(5, 4).startswith("% needs: booktabs\n")
    assert made_table(60, 4).startswith("% needs: booktabs, longtable\n")
    assert made_table(5, 18).startswith("% needs: booktabs, pdflscape\n")
    assert texts.startswith("% needs: booktabs, array\n")


def test_latex_divides_what_fits_no_page_and_repeats_the_first_column():
    parts = latex_parts(made_table(5, 40))
    assert len(parts) == 2
    names = [name for names, _, _ in parts for name in names]
    assert names == ["column 0", *(f"column {i}" for i in range(1, 21)), "column 0",
                     *(f"column {i}" for i in range(21, 40))]  # fmt: skip
    assert all(row[0] == f"row {i}" for _, _, rows in parts for i, row in enumerate(rows))
    text = made_table(5, 40)
    assert r"\caption{Caption. (a) column 1 to column 20.}\label{tab:made}" in text
    assert r"\caption{Caption. (b) column 21 to column 39.}\label{tab:made-b}" in text
    assert text.index("(b)") < text.index("A note.")


def test_latex_divides_a_table_where_it_says():
    frame = pd.DataFrame([[f"row {i}", *["0.123 ± 0.456"] * 14, "" if i else "here"] for i in range(3)])
    frame.columns = ["key", *map(str, range(15))]
    parts = {"Some": ["0", "1", "2", "3"], "Others": [str(i) for i in range(4, 14)], "Few": ["14"]}
    found = latex_parts(typeset.latex(typeset.Table("made", frame, "Caption.", parts=parts)))
    assert [names for names, _, _ in found] == [["key", *columns] for columns in parts.values()]
    # rows without a cell in a part are left out of it
    assert [len(rows) for _, _, rows in found] == [3, 3, 1]
    whole = typeset.Table("made", frame[["key", "0", "14"]], "Caption.", parts={"Some": ["0"], "Few": ["14"]})
    assert len(latex_parts(typeset.latex(whole))) == 1
    assert typeset.markdown(whole).count("| key |") == 1


def test_latex_breaks_the_lines_of_texts_and_of_names():
    texts = made_table(12, 3, "a text that is a paragraph, since it is longer than a line may be in a cell of a table")
    assert texts.count(r"\raggedright\arraybackslash") == 2
    assert r"\shortstack[l]{column \\ 1}" in made_table(5, 4)


def test_latex_breaks_shorter_texts_only_where_nothing_else_fits():
    text = "fifty characters that are less than a line of text"
    frame = pd.DataFrame([[f"row {i}", text, *["0.123 ± 0.456"] * 9] for i in range(3)])
    assert "raggedright" not in typeset.latex(typeset.Table("made", frame.iloc[:, :8], "Caption"))
    assert "raggedright" in typeset.latex(typeset.Table("made", frame, "Caption"))


def test_latex_does_not_break_numbers():
    cell = typeset.Cell("1,234,567,890.123 ± 1,234,567,890.123 (1,234,567,890 failed)", {"": 1234567890.123})
    frame = pd.DataFrame([["row", *[cell] * 3]], columns=list("abcd"))
    assert "raggedright" not in typeset.latex(typeset.Table("made", frame, "Caption"))


def test_latex_of_a_table_that_fits_no_page_has_columns_of_positive_width():
    frame = pd.DataFrame([[f"row {i}", "a paragraph " * 8, *["0.123 ± 0.456"] * 40] for i in range(3)])
    assert r"p{0." in typeset.latex(typeset.Table("made", frame, "Caption"))
    hopeless = typeset.Cell("± 1" * 100, {"": 1.0})
    frame = pd.DataFrame([["row", hopeless, hopeless]], columns=list("abc"))
    assert len(latex_parts(typeset.latex(typeset.Table("made", frame, "Caption")))) == 2


def test_latex_sets_groups_of_rows_under_headings():
    frame = pd.DataFrame([["eeg", "rff", 1.0], ["eeg", "orf", 2.0], ["skin", "rff", 3.0]], columns=["data", "map", "x"])
    lines = typeset.latex(typeset.Table("made", frame, "Caption")).splitlines()
    start = lines.index(r"\midrule") + 1
    assert lines[start : start + 6] == [
        r"\multicolumn{2}{@{}l}{\emph{eeg}} \\*", r"rff & 1 \\", r"orf & 2 \\",
        r"\addlinespace", r"\multicolumn{2}{@{}l}{\emph{skin}} \\*", r"rff & 3 \\",
    ]  # fmt: skip


def test_a_row_that_begins_with_a_bracket_is_no_argument_of_the_line_before():
    frame = pd.DataFrame({"study": ["[143]", "*", "Liu [1]"], "of": ["[2]", "*", "x"]})
    lines = typeset.latex(typeset.Table("made", frame, "Caption")).splitlines()
    start = lines.index(r"\midrule") + 1
    assert lines[start : start + 3] == [r"{}[143] & [2] \\", r"{}* & * \\", r"Liu [1] & x \\"]


def test_escaping_of_latex():
    assert latex.escape("50 % of a_b & {c}") == r"50 \% of a\_b \& \{c\}"
    assert latex.escape("x^2 ~ \\") == r"x\textasciicircum{}2 \textasciitilde{} \textbackslash{}"
    assert latex.escape("1 ± 2") == r"1 $\pm$ 2"
