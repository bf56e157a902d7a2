"""Means of named cells as dots: a row of the picture per row, a marker per column, error bars of one deviation."""

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import by_repeat
from rfstudy.report.context import Context
from rfstudy.report.panels import draw_dots, grid, not_drawn, nothing, with_unit
from rfstudy.report.style import Picture, spare_style
from rfstudy.report.tables.crossed import crossed

#: Inches of a row; columns are spread over this share of it.
ROW, SPREAD = 0.3, 0.6


def draw(
    context: Context,
    *,
    width: str,
    quantity: dict,
    lines: list[dict],
    columns: list[dict],
) -> Picture:
    """Return the figure; ``quantity``, ``lines`` and ``columns`` select the cells as in ``tables.crossed``."""
    cells = crossed(context, {"quantity": quantity, "lines": lines, "columns": columns})
    cells = {place: rows for place, rows in cells.items() if (rows["status"] == "ok").any()}
    labels = list(dict.fromkeys(row for row, _ in cells))
    missing = dict.fromkeys([line["label"] for line in lines if line["label"] not in labels], "not run")
    if not labels:
        return nothing(width, missing)
    styles = {column["label"]: spare_style(column["label"], j) for j, column in enumerate(columns)}
    dots = [{"line": column, "row": labels.index(row)} | dot(by_repeat(rows)) for (row, column), rows in cells.items()]
    figure, ((ax,),) = grid(width, 1, 1, ROW * len(labels) + 0.35)
    draw_dots(ax, pd.DataFrame(dots), styles, len(labels), SPREAD)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_xlabel(with_unit(quantity["metric"]))
    remarks = ["Bars: one standard deviation over the repeats.", *not_drawn(missing)]
    shown = pd.concat(cells.values())
    return Picture(figure, styles.values(), remarks, shown[~shown.index.duplicated()])


def dot(values: pd.Series, *, pale: bool = False) -> dict:
    """Return the mean of values by repeat with the ends of one standard deviation, as ``draw_dots`` takes them."""
    mean, spread = values.mean(), np.nan_to_num(values.std(ddof=1))
    return {"mean": mean, "lower": mean - spread, "upper": mean + spread, "pale": pale}
