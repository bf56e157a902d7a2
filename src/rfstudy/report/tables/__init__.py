"""The stage that makes tables: specifications and tidy files in; CSV, Markdown, LaTeX and what is said of them out.

One module a kind of table, each with its ``SCHEMA`` and ``make(context, spec) -> Table``. A cell that tells more than
one number or name is a ``typeset.Cell``: a text for people, and numbers for machines (``report/cells.py`` makes them).
"""

from __future__ import annotations

import importlib
from pathlib import Path

from rfstudy.report import typeset
from rfstudy.report.catalogue import outputs
from rfstudy.report.context import Context


def tabulate(context: Context, spec: dict, out_dir) -> list[Path]:
    """Write one table into ``out_dir``; the same input gives the same bytes. Returns the paths of its files."""
    kind = importlib.import_module(f"rfstudy.report.tables.{spec['kind']}")
    return typeset.write(kind.make(context, spec), out_dir, outputs(spec))
