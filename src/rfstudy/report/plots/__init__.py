"""Kinds of figures: every function that returns a ``Picture`` is a kind with its name. Similar kinds share a file.

An entry of ``config/figures`` gives its keyword arguments, by name; ``output_models.Output`` has their types.
"""

from pathlib import Path

import pandas as pd

from random_features.errors import UserError
from rfstudy.report import style
from rfstudy.report.catalogue import outputs
from rfstudy.report.context import Context
from rfstudy.report.notes import made
from rfstudy.report.panels import finished
from rfstudy.report.times import summarise

#: Inches of a title above a figure.
TITLE_LINE = 0.25


def draw(context: Context, spec: dict, out_dir) -> list[Path]:
    """Write one figure into ``out_dir`` and return the paths of its files; the same input gives the same bytes.

    ``UserError`` if there is no measurement to show; a file of an earlier run is removed.
    """
    drawn = picture(context, spec)
    if not drawn.figure.axes:
        for name in outputs(spec):
            (Path(out_dir) / name).unlink(missing_ok=True)
        raise UserError(f"{spec['paper']}/{spec['name']} is not drawn, for no measurement is there. {drawn.notes[0]}")
    return style.save(drawn, behind(context, spec, drawn), spec["caption"], out_dir, outputs(spec))


def behind(context: Context, spec: dict, drawn: style.Picture) -> pd.DataFrame:
    """Return the table next to a figure: centre, bar, spread and counts of every cell that it draws, or the facts that
    it shows. Columns without a value are left out.
    """
    if "facts" in spec:
        return context.texts(spec["facts"], figure=spec["published"])
    cells = drawn.cells
    if cells is None:
        cells = summarise(context.rows if drawn.shown is None else drawn.shown)
    return cells.replace("", None).dropna(axis="columns", how="all")


def picture(context: Context, spec: dict) -> style.Picture:
    """Return the figure of a specification."""
    with style.style():
        drawn, notes = made(context, spec)
        notes = [*([f"Changed: {spec['changed']}."] if "changed" in spec and drawn.figure.axes else []), *notes]
        return finished(drawn._replace(notes=notes), spec.get("width"))
