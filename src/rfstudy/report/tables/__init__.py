"""Kinds of tables: every function that returns a ``Table`` is a kind with its name. Similar kinds share a file.

An entry of ``config/figures`` gives its keyword arguments, by name; ``output_models.Output`` has their types. A cell
with more than one number is a ``typeset.Cell``: a text for people and numbers for machines (``report/cells.py``).
"""

from dataclasses import replace

from rfstudy.report.context import Context
from rfstudy.report.notes import made
from rfstudy.report.typeset import Cell, Table


def make(context: Context, spec: dict) -> Table:
    """Return the table of a specification."""
    table, notes = made(context, spec)
    if any(isinstance(cell, Cell) and cell.is_best for cell in table.frame.to_numpy(dtype=object).flat):
        notes.append("Bold: the best of several numbers, without a test.")
    return replace(table, name=spec["name"], caption=spec["caption"], notes=notes)
