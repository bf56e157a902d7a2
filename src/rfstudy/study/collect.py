"""Put the shards of an experiment together: one tidy table, the facts about its data, and where all of it is from; and
the arrays that its kind measured beside the rows.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from rfstudy import tidy
from rfstudy.data.modules import step_text
from rfstudy.files import write_arrays
from rfstudy.study.provenance import read_records, write_records
from rfstudy.study.rows import base_row
from rfstudy.study.sample import load_prepared


def run(specs: list[dict], shard_files: list, prepared_dirs: list, array_files: list, out, out_arrays) -> None:
    """The stage: write an experiment's table, its provenance and its arrays.

    ``specs`` (one a data set, as ``study.plan.facts_parts``) go with ``prepared_dirs`` one to one. Raises
    ``ValueError`` where two shards have the same row or the same array.
    """
    tables = [tidy.read(path) for path in shard_files]
    facts = [row for spec, directory in zip(specs, prepared_dirs, strict=True) for row in fact_rows(spec, directory)]
    records: dict[str, dict] = {}
    for path in shard_files:
        records |= read_records(path)
    table = pd.concat([*tables, tidy.frame(facts)], ignore_index=True)
    twice = table.duplicated(subset=list(tidy.KEY), keep=False)
    if twice.any():
        example = table.loc[twice, list(tidy.KEY)].iloc[0].to_dict()
        raise ValueError(f"{int(twice.sum())} rows of the shards measure the same thing twice, first {example}")
    write_arrays(collected_arrays(array_files), out_arrays)
    write_records(records, out)
    tidy.write(table, out)


def collected_arrays(array_files: list) -> dict:
    """The arrays of all files by name."""
    arrays: dict = {}
    for path in array_files:
        with np.load(path, allow_pickle=False) as stored:
            twice = sorted(arrays.keys() & stored.keys())
            if twice:
                raise ValueError(f"{path} has arrays that another shard has, too, first {twice[0]}")
            arrays |= dict(stored)
    return arrays


def fact_rows(spec: dict, prepared_dir) -> list[dict]:
    """What preprocessing found about a data set, as rows with metrics ``fact_...``; ``split`` is the part."""
    prepared = load_prepared(prepared_dir)
    shared = base_row(spec, prepared)
    if prepared.skipped:
        reason = {"reason": prepared.skipped}
        return [shared | {"metric": "fact_rows", "split": "all", "status": "skipped", "settings": reason}]
    shared |= {key: prepared.facts[key] for key in ("n_train", "n_test", "d")}
    settings = {"split": prepared.facts["split"], "preprocess": "+".join(map(step_text, spec["preprocess"]))}
    rows = []
    for name, fact in prepared.facts["facts"].items():
        metric, _, part = name.rpartition("_")
        if part not in ("all", "train", "test"):
            metric, part = name, "all"
        number = isinstance(fact, (int, float)) and not isinstance(fact, bool)
        rows.append(
            shared
            | {
                "metric": f"fact_{metric}",
                "split": part,
                "value": fact if number else None,
                "settings": settings if number else settings | {"detail": json.dumps(fact)},
            }
        )
    return rows
