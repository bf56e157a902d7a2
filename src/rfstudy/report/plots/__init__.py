"""The figures: one module per kind of plot, with a function ``draw(context, *, ...) -> Picture``.

An entry of ``config/figures`` gives its keyword arguments, by name.
"""

import importlib
from pathlib import Path

from rfstudy.report import style
from rfstudy.report.catalogue import module_of, outputs
from rfstudy.report.context import Context
from rfstudy.report.notes import made
from rfstudy.report.panels import finished


def draw(context: Context, spec: dict, out_dir) -> list[Path]:
    """Write one figure into ``out_dir`` and return the paths of its files; the same input gives the same bytes."""
    return style.save(picture(context, spec), spec["caption"], out_dir, outputs(spec))


def picture(context: Context, spec: dict) -> style.Picture:
    """Return the figure of a specification."""
    with style.style():
        drawn, notes = made(importlib.import_module(module_of(spec["kind"])).draw, context, spec)
        return finished(drawn._replace(notes=notes))
