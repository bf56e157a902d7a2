"""Kinds of tables, one file each, with a function ``make(context, *, ...) -> Table``.

An entry of ``config/figures`` gives its keyword arguments, by name. A cell with more than one number is a
``typeset.Cell``: a text for people and numbers for machines (``report/cells.py`` makes them).
"""

import importlib
from dataclasses import replace

from rfstudy.report.catalogue import module_of
from rfstudy.report.context import Context
from rfstudy.report.notes import made
from rfstudy.report.typeset import Table


def make(context: Context, spec: dict) -> Table:
    """Return the table of a specification."""
    table, notes = made(importlib.import_module(module_of(spec["kind"])).make, context, spec)
    return replace(table, name=spec["name"], caption=spec["caption"], notes=notes)
