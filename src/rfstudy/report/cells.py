"""Cells of tables: data sets, methods, means with their spread, differences, estimates."""

from __future__ import annotations

import math

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.compare import Estimate
from rfstudy.report.context import Context
from rfstudy.report.notes import dataset_name, remark_on_data
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.times import median_and_quartiles
from rfstudy.report.typeset import Cell

#: Means from this on are printed with a power of ten.
LARGE = 1e5


def dataset_cell(context: Context, dataset: str, paper: str, rows: pd.DataFrame) -> Cell:
    """Return the cell of a data set: its name in a paper, its id, and whether it is a stand-in or capped."""
    values = {"": printed_name(context.tasks, dataset, paper), "id": dataset, "remark": remark_on_data(rows)}
    return Cell(dataset_name(context.tasks, dataset, paper, rows), values)


def method_cell(context: Context, method: str, variant: str = "") -> Cell:
    """Return the cell of a method: its label, and the ids of the method and of its variant."""
    label = plot_style(method, context.styles, variant).label
    return Cell(label, {"": label, "id": method, "variant": variant})


def method_columns(context: Context, methods: list[str]) -> dict[str, dict]:
    """Return the columns of methods by label, as ``Table.unfold`` takes them."""
    labels = {method: plot_style(method, context.styles).label for method in methods}
    return {label: {"method": label, "method_id": method} for method, label in labels.items()}


def overlaps_by_name(tests: pd.DataFrame, spec: dict, context: Context) -> dict[str, float]:
    """Return the overlap of the repeats by a paper's name of the data set, from rows of ``compare.differences``."""
    overlaps = tests.groupby("dataset", sort=False)["overlap"].first()
    return {printed_name(context.tasks, dataset, spec["paper"]): overlap for dataset, overlap in overlaps.items()}


def absent(why: str, *what: str) -> Cell:
    """Return a cell without a number and without the values in ``what``; the reason is its remark."""
    return Cell(why, dict.fromkeys(("", *what)) | {"remark": why})


def most_repeats(cells: pd.DataFrame) -> int:
    """Return the largest number of repeats of a cell; rounds are no repeats."""
    repeated = cells[cells["rounds"] == 0]
    return int(repeated["n"].max()) if len(repeated) else 0


def by_place(cells: pd.DataFrame, *columns: str) -> dict[tuple, dict]:
    """Return the rows of a summary as dicts, by the values of columns; ``ValueError`` where two rows share them."""
    found = {}
    for cell in cells.to_dict("records"):
        place = tuple(cell[column] for column in columns)
        if place in found:
            raise ValueError(f"more than one mean of {cell['metric']} for {', '.join(map(str, place))}")
        found[place] = cell
    return found


def cell_text(cell: dict | None, metric: str, full: int) -> Cell:
    """Return the cell of a row of ``times.summarise``: mean and standard deviation, or median and quartiles."""
    return median_and_quartiles(cell) if cell and cell["rounds"] else mean_and_std(cell, metric, full)


def mean_and_std(cell: dict | None, metric: str, full: int) -> Cell:
    """One cell of a grid, None where nothing was run; repeats that are fewer than elsewhere or not ok are said in
    it."""
    if cell is None:
        return absent("not run", "std", "n")
    mean, std, n, failed, skipped = (cell[key] for key in ("mean", "std", "n", "n_failed", "n_skipped"))
    missing = [f"{count} {status}" for count, status in ((failed, "failed"), (skipped, "skipped")) if count]
    remark = ", ".join(missing)
    told = {"": mean, "std": std if n > 1 else None, "n": n, "remark": remark}
    if not n:
        return Cell(remark, told)
    decimals = 2 if fact_of(metric).is_percentage else max(0, 2 - math.floor(math.log10(mean))) if mean > 0 else 3
    digits = ".1e" if mean >= LARGE else f".{decimals}f"
    text = (f"{mean:{digits}}" + (f" ± {std:{digits}}" if n > 1 else "")).replace("e+0", "e").replace("e+", "e")
    fewer = [f"n = {n}"] if n < full and not missing else missing
    return Cell(f"{text} ({', '.join(fewer)})" if fewer else text, told)


def difference_cell(test: Estimate | None) -> Cell | str:
    """A difference of two means with its p-value in brackets, where there is one; empty without a repeat of both."""
    if test is None or not test.n:
        return ""
    known = test.p == test.p  # it is missing where the repeats are too few
    p_value = "<0.001" if test.p < 0.001 else f"{test.p:.3f}"
    text = f"{test.value:+.2f}" + (f" ({p_value})" if known else "")
    return Cell(text, {"": test.value, "std": None, "n": test.n, "p_value": test.p, "remark": ""})


def three_digits(value: float) -> float:
    """A number to three significant digits: measured times give no more."""
    return float(f"{value:.3g}")


def exponent(power: Estimate | None) -> Cell:
    """A fitted exponent as a cell."""
    if power is None:
        return absent("not run", "error")
    return Cell(str(power), {"": power.value, "error": power.error, "remark": ""})


def with_error(value: float, error: float) -> Cell:
    """A number and its standard error, to two digits of the error: "0.0241 ± 0.0018"; rounding is no error."""
    if error <= 1e-12 * max(1.0, abs(value)):
        return Cell(f"{value:.3g} ± 0", {"": value, "error": 0.0, "remark": ""})
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return Cell(f"{value:.{decimals}f} ± {error:.{decimals}f}", {"": value, "error": error, "remark": ""})


def span(smallest: float, largest: float, form: str = "") -> Cell:
    """The ends of a range: "64 to 8192"."""
    return Cell(f"{smallest:{form}} to {largest:{form}}", {"smallest": smallest, "largest": largest})
