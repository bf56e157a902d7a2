"""The stage that draws figures: one specification and tidy files in, PDF and PNG out."""

from __future__ import annotations

from pathlib import Path

import yaml

from rfstudy.report import style
from rfstudy.report.aggregate import measured
from rfstudy.report.catalogue import outputs
from rfstudy.report.plots import crossover, curves, ratios, required, steps
from rfstudy.report.times import with_printed

#: Drawers by kind: (measured rows, specification, methods, data sets) -> Figure.
KINDS = {
    "curves": curves.draw,
    "crossover": crossover.draw,
    "ratios": ratios.draw,
    "required": required.draw,
    "steps": steps.draw,
}


def run(spec: dict, results, methods, datasets, out) -> None:
    """The stage: as ``draw``, with the registries given as YAML files."""
    registries = [yaml.safe_load(Path(path).read_text(encoding="utf-8")) for path in (methods, datasets)]
    draw(spec, results, out, *registries)


def draw(spec: dict, results, out_dir, methods: dict, datasets: dict) -> list[Path]:
    """Draw one figure into ``out_dir``; the same input gives the same bytes.

    Parameters
    ----------
    spec : one of ``catalogue.specifications`` of form "figures"
    results : paths of tidy files (compressed or not); rows of other experiments in them are left alone, and what is
        not there is shown as not run
    methods, datasets : the parsed registries (``methods.yaml``, ``datasets.yaml``: id -> entry)

    Returns
    -------
    paths of the files written, as ``catalogue.outputs`` names them
    """
    figure = KINDS[spec["kind"]](with_printed(measured(spec, results)), spec, methods, datasets)
    return style.save(figure, out_dir, outputs(spec))
