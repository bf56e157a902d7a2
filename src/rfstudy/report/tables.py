"""The stage that makes tables: one specification and tidy files in, CSV, Markdown and LaTeX out."""

from __future__ import annotations

from pathlib import Path

import yaml

from rfstudy.report import (
    claims,
    published,
    tables_of_data,
    tables_of_leverage,
    tables_of_methods,
    tables_of_scores,
    tables_of_steps,
    tables_of_theory,
    typeset,
)
from rfstudy.report.aggregate import measured
from rfstudy.report.catalogue import outputs
from rfstudy.report.times import with_printed

#: Makers by kind: (measured rows, specification, methods, data sets, published rows or claims) -> Table.
KINDS = {
    "dataset_statistics": tables_of_data.dataset_statistics,
    "dataset_facts": tables_of_data.dataset_facts,
    "best_methods": tables_of_methods.winners,
    "grid": tables_of_methods.grid,
    "ratios": tables_of_methods.ratios,
    "complexities": tables_of_theory.complexities,
    "pairs": tables_of_theory.pairs,
    "rates": tables_of_theory.rates,
    "claims": claims.table,
    "accuracy_and_time": tables_of_scores.accuracy_and_time,
    "scores": tables_of_scores.scores,
    "ablation": tables_of_steps.ablation,
    "costs": tables_of_leverage.costs,
    "requirements": tables_of_leverage.requirements,
}


def run(spec: dict, results, reference, methods, datasets, out) -> None:
    """The stage: as ``tabulate``, with the registries given as YAML files."""
    registries = [yaml.safe_load(Path(path).read_text(encoding="utf-8")) for path in (methods, datasets)]
    tabulate(spec, results, out, *registries, reference)


def tabulate(spec: dict, results, out_dir, methods: dict, datasets: dict, reference_dir) -> list[Path]:
    """Write one table into ``out_dir``; the same input gives the same bytes.

    Parameters
    ----------
    spec : one of ``catalogue.specifications`` of form "tables"
    results : paths of tidy files (compressed or not); rows of other experiments in them are left alone, and what is
        not there is shown as not run
    methods, datasets : the parsed registries (``methods.yaml``, ``datasets.yaml``: id -> entry)
    reference_dir : folder of the published numbers

    Returns
    -------
    paths of the files written, as ``catalogue.outputs`` names them
    """
    if spec["kind"] == "claims":
        printed = published.claims(reference_dir)
    else:
        printed = published.load(reference_dir, methods, datasets)
    table = KINDS[spec["kind"]](with_printed(measured(spec, results)), spec, methods, datasets, printed)
    return typeset.write(table, out_dir, outputs(spec))
