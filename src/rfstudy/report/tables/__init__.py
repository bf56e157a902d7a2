"""Kinds of tables, one file each: ``make(context, spec)`` returns a ``typeset.Table``.

``REQUIRED`` and ``OPTIONAL`` name the keys of its entries in ``config/figures``. A cell with more than one number is a
``typeset.Cell``: a text for people and numbers for machines (``report/cells.py`` makes them).
"""

from __future__ import annotations

import importlib

from rfstudy.report.context import Context
from rfstudy.report.typeset import Table


def make(context: Context, spec: dict) -> Table:
    """Return the table of a specification."""
    return importlib.import_module(f"rfstudy.report.tables.{spec['kind']}").make(context, spec)
