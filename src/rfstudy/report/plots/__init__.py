"""The figures: one module per kind of plot, with a function ``draw(context, *, ...) -> Picture``.

An entry of ``config/figures`` gives its keyword arguments, by name.
"""

import importlib
import inspect
from pathlib import Path

from rfstudy.report import style
from rfstudy.report.catalogue import module_of, outputs
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.panels import finished


def draw(context: Context, spec: dict, out_dir) -> list[Path]:
    """Write one figure into ``out_dir`` and return the paths of its files; the same input gives the same bytes."""
    return style.save(picture(context, spec), spec["caption"], out_dir, outputs(spec))


def picture(context: Context, spec: dict) -> style.Picture:
    """Return the figure of a specification; its kind takes the keys that it names as arguments.

    After the notes of the kind come those on the measured rows that the figure shows.
    """
    draw_kind = importlib.import_module(module_of(spec["kind"])).draw
    names = inspect.signature(draw_kind).parameters
    with style.style():
        drawn = draw_kind(context, **{key: value for key, value in spec.items() if key in names})
        on_rows = [] if drawn.shown is None else notes(drawn.shown, spec, context)
        return finished(drawn._replace(notes=[*drawn.notes, *on_rows]))
