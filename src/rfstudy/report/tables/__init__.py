"""Kinds of tables, one file each, with a function ``make(context, *, ...) -> Table``.

An entry of ``config/figures`` gives its keyword arguments, by name. A cell with more than one number is a
``typeset.Cell``: a text for people and numbers for machines (``report/cells.py`` makes them).
"""

import importlib
import inspect
from dataclasses import replace

from rfstudy.report.catalogue import module_of
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.typeset import Table


def make(context: Context, spec: dict) -> Table:
    """Return the table of a specification; its kind takes the keys that it names as arguments.

    Below the notes of the kind are those on the measured rows that the table shows.
    """
    make_kind = importlib.import_module(module_of(spec["kind"])).make
    names = inspect.signature(make_kind).parameters
    table = make_kind(context, **{key: value for key, value in spec.items() if key in names})
    on_rows = [] if table.shown is None else notes(table.shown, spec, context)
    return replace(table, name=spec["name"], caption=spec["caption"], notes=[*table.notes, *on_rows])
