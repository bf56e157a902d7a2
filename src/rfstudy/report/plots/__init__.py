"""The stage that draws figures: specifications and tidy files in; PDF, PNG and what is said of them out.

One module a kind of plot, each with its ``SCHEMA`` and ``draw(context, spec) -> Figure``.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from rfstudy.report import style
from rfstudy.report.catalogue import outputs
from rfstudy.report.context import Context


def draw(context: Context, spec: dict, out_dir) -> list[Path]:
    """Write one figure into ``out_dir``; the same input gives the same bytes. Returns the paths of its files."""
    kind = importlib.import_module(f"rfstudy.report.plots.{spec['kind']}")
    return style.save(kind.draw(context, spec), spec["caption"], out_dir, outputs(spec))
