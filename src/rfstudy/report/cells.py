"""Cells of tables: data sets, methods, means with their spread, differences, estimates."""

import math
from collections.abc import Iterator

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import select
from rfstudy.report.compare import Estimate, note_on_tests
from rfstudy.report.context import Context
from rfstudy.report.notes import dataset_name, remark_on_data
from rfstudy.report.times import summarise
from rfstudy.report.typeset import Cell

#: Means from this value on are shown with a power of ten.
LARGE = 1e5


def dataset_cell(context: Context, dataset: str, paper: str, rows: pd.DataFrame) -> Cell:
    """Return the cell of a data set: its name in a paper, its id, and whether it is a stand-in or has fewer rows."""
    remark = remark_on_data(rows, context.tasks.get(dataset, {}))
    values = {"": context.name(dataset, paper), "id": dataset, "remark": remark}
    return Cell(dataset_name(context, dataset, paper, rows), values)


def each_dataset(context: Context, datasets, paper: str, frame: pd.DataFrame) -> Iterator[tuple]:
    """Yield every data set with its cell and its rows in a frame."""
    for dataset in datasets:
        rows = select(frame, dataset=dataset)
        yield dataset, dataset_cell(context, dataset, paper, rows), rows


def method_cell(context: Context, method: str, variant: str = "") -> Cell:
    """Return the cell of a method: its label, and the ids of the method and of its variant."""
    label = context.label(method, variant)
    return Cell(label, {"": label, "id": method, "variant": variant})


def method_columns(context: Context, methods: list[str]) -> dict[str, dict]:
    """Return the columns of methods by label, as ``Table.unfold`` takes them."""
    return {context.label(method): {"method": context.label(method), "method_id": method} for method in methods}


def note_on_differences(tests: pd.DataFrame, of_family: str, metric: str, paper: str, context: Context) -> str:
    """Return the sentence below a table of rows from ``compare.paired_differences``."""
    overlaps = tests.groupby("dataset", sort=False)["overlap"].first()
    by_name = {context.name(dataset, paper): overlap for dataset, overlap in overlaps.items()}
    return note_on_tests(by_name, of_family, [metric])


def absent(why: str, *what: str) -> Cell:
    """Return a cell without a number and without the values in ``what``; the reason is its remark."""
    return Cell(why, dict.fromkeys(("", *what)) | {"remark": why})


def most_repeats(cells: pd.DataFrame) -> int:
    """Return the largest number of repeats of a cell; rounds do not count as repeats."""
    return max(map(int, cells.loc[cells["rounds"] == 0, "n"]), default=0)


def means_by(rows: pd.DataFrame, *columns: str) -> tuple[dict[tuple, dict], int]:
    """Return the means of rows (``times.summarise``) by the values of columns, and their largest number of repeats."""
    cells = summarise(rows)
    return by_place(cells, *columns), most_repeats(cells)


def by_place(cells: pd.DataFrame, *columns: str) -> dict[tuple, dict]:
    """Return the rows of a summary as dicts, by the values of columns; ``ValueError`` if two rows share them."""
    return cells.set_index(list(columns), drop=False).to_dict("index")


def cell_text(cell: dict | None, full: int) -> Cell:
    """Return the cell of a row of ``times.summarise``: mean and standard deviation, or median and quartiles.

    Times by rounds have three digits and say whether other work ran: "0.123 [0.120, 0.131]".
    """
    if not (cell and cell["rounds"]):
        return mean_and_std(cell, full)
    remark = "machine busy" if cell["machine_busy"] else ""
    values = (cell[key] for key in ("mean", "lower", "upper"))
    return with_quartiles(*values, decimals(cell["mean"], 3), rounds=cell["rounds"], remark=remark)


def mean_and_std(cell: dict | None, full: int) -> Cell:
    """Return the cell of a row of ``aggregate.summarise``, None if nothing was run.

    It says how many repeats are missing or not ok; ``full`` is the number of repeats of the other cells.
    """
    if cell is None:
        return absent("not run", "std", "n")
    mean, std, n = cell["mean"], cell["std"], cell["n"]
    remark = ", ".join(f"{cell[f'n_{status}']} {status}" for status in ("failed", "skipped") if cell[f"n_{status}"])
    values = {"": mean, "std": std if n > 1 else None, "n": n, "remark": remark}
    if not n:
        return Cell(remark, values)
    digits = f".{2 if fact_of(cell['metric']).is_percentage else decimals(mean, 3)}f" if mean < LARGE else ".1e"
    text = (f"{mean:{digits}}" + (f" ± {std:{digits}}" if n > 1 else "")).replace("e+0", "e").replace("e+", "e")
    fewer = remark or (f"n = {n}" if n < full else "")
    return Cell(f"{text} ({fewer})" if fewer else text, values)


def with_quartiles(median: float, lower: float, upper: float, digits: int, remark: str, **values) -> Cell:
    """Return the cell of a median and its quartiles to so many decimals."""
    text = f"{median:.{digits}f} [{lower:.{digits}f}, {upper:.{digits}f}] {remark}".rstrip()
    return Cell(text, {"": median, "lower_quartile": lower, "upper_quartile": upper} | values | {"remark": remark})


def decimals(value: float, digits: int) -> int:
    """Return how many decimals show a number with so many significant digits; ``digits`` for zero and below."""
    return max(0, digits - 1 - math.floor(math.log10(value))) if value > 0 else digits


def difference_cell(test: Estimate | None, metric: str = "accuracy_pct") -> Cell | str:
    """Return a difference of two means with its p-value in brackets, if known; empty if one side has no repeat."""
    if test is None or not test.n:
        return ""
    p_value = "" if pd.isna(test.p) else " (<0.001)" if test.p < 0.001 else f" ({test.p:.3f})"
    values = {"": test.value, "std": None, "n": test.n, "p_value": test.p, "remark": ""}
    digits = "+.2f" if fact_of(metric).is_percentage else "+.3g"
    return Cell(f"{test.value:{digits}}{p_value}", values)


def three_digits(value: float) -> float:
    """Return a number to three significant digits, because measured times are not more precise."""
    return float(f"{value:.3g}")


def exponent(power: Estimate | None) -> Cell:
    """Return the cell of a fitted exponent."""
    if power is None:
        return absent("not run", "error")
    return Cell(str(power), {"": power.value, "error": power.error, "remark": ""})


def with_error(value: float, error: float) -> Cell:
    """Return a number and its standard error, to two digits of the error: "0.0241 ± 0.0018". Rounding adds no error."""
    if error <= 1e-12 * max(1.0, abs(value)):
        return Cell(f"{value:.3g} ± 0", {"": value, "error": 0.0, "remark": ""})
    digits = f".{decimals(error, 2)}f"
    return Cell(f"{value:{digits}} ± {error:{digits}}", {"": value, "error": error, "remark": ""})


def span(smallest: float, largest: float, form: str = "") -> Cell:
    """Return the ends of a range: "64 to 8192"."""
    return Cell(f"{smallest:{form}} to {largest:{form}}", {"smallest": smallest, "largest": largest})
