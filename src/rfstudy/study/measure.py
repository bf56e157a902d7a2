"""Measure what is no grid of accuracies: the stage around the modules in ``kinds``, one module a kind of experiment.

A kind says which cells an experiment has (``cells``) and what is measured in one for one map (``measure``); this
module resumes, records where the numbers come from and writes the rows.
"""

from __future__ import annotations

import importlib
import sys

from tqdm import tqdm

from rfstudy.arrays import set_threads
from rfstudy.study import code
from rfstudy.study.journal import Journal, key_of
from rfstudy.study.provenance import Run, write_records
from rfstudy.tidy import write

#: What decides a cell beside the cell itself and the entry of its map.
RELEVANT = ("kind", "kernel", "seed", "device", "timing_runs")


def run(spec: dict, journal_dir, out, threads: int) -> None:
    """The stage: write the rows of a shard and their provenance."""
    set_threads(threads)
    # by name, so that a change of one kind is no change of another
    kind = importlib.import_module(f"rfstudy.study.kinds.{spec['kind']}")
    this_run, journal = Run("measure", spec, threads), Journal(journal_dir)
    cells = kind.cells(spec)
    rows, records = [], {}
    for entry in tqdm(spec["methods"], desc=spec["experiment"], file=sys.stderr, mininterval=5):
        digest = code.digest(
            "study.measure", f"study.kinds.{spec['kind']}", f"maps.{entry['map'].split('.')[0]}", "maps.registry"
        )
        for cell in cells:
            key = key_of("measure", {name: spec[name] for name in RELEVANT}, threads, entry, cell, digest)
            stored = journal.get(key)
            if stored is None:
                stored = {"rows": kind.measure(spec, entry, cell), "record": this_run.finished()}, {}
                journal.put(key, *stored)
            content, _ = stored
            record = content["record"]
            records[record["run"]] = record
            rows.extend(base_row(spec, entry) | {"run": record["run"]} | row for row in content["rows"])
    write_records(records, out)
    write(rows, out)


def base_row(spec: dict, entry: dict) -> dict:
    """The columns that all rows of a map share."""
    return {
        "origin": "measured",
        **{key: spec[key] for key in ("preset", "paper", "experiment", "protocol", "kernel", "seed")},
        "method": entry["method"],
        "variant": entry["variant"],
        "status": "ok",
    }
