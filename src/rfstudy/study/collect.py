"""Put the shards of an experiment together: one tidy table, the facts about its data, and the provenance of both. The
arrays that its kind measured are put together as well.
"""

import json

import pandas as pd

from random_features.errors import UserError
from rfstudy import tidy
from rfstudy.data.modules import step_text
from rfstudy.files import read_arrays
from rfstudy.study.job import NAMES, Part
from rfstudy.study.provenance import read_records, write_results
from rfstudy.study.sample import Prepared, loaded


def run(specs: list[Part], shard_files: list, prepared_dirs: list, array_files: list, out, out_arrays) -> None:
    """Write the table of an experiment, its provenance and its arrays.

    ``specs`` (one per data set, from ``planning.plan.facts_parts``) match ``prepared_dirs`` one to one. Raise
    ``UserError`` if two shards have the same row, or are of two experiments. Raise it also if a row has no record of
    its run, or if a file is not the one that its stage wrote.
    """
    tables = [tidy.read(path) for path in shard_files]
    check_of_one_experiment(dict(zip(shard_files, tables, strict=True)), specs)
    records = {run: record for path in shard_files for run, record in read_records(path).items()}
    facts = []
    for spec, prepared in loaded(specs, prepared_dirs):
        facts += fact_rows(spec, prepared)
        records |= record_of_facts(prepared)
    table = pd.concat([*tables, tidy.frame(facts)], ignore_index=True)
    if unknown := sorted(set(table["run"]) - set(records) - {""}):
        raise UserError(f"rows of run {unknown[0]} have no record: no shard, and no data set, tells of it")
    twice = table.duplicated(subset=list(tidy.KEY), keep=False)
    if twice.any():
        example = table.loc[twice, list(tidy.KEY)].iloc[0].to_dict()
        raise UserError(f"{int(twice.sum())} rows of the shards measure the same thing twice, first {example}")
    # the arrays of a cell have its name: two shards with the same array have its rows, too
    arrays = {name: array for path in array_files for name, array in read_arrays(path).items()}
    write_results(table, records, out, arrays, out_arrays)


def check_of_one_experiment(tables: dict, specs: list[Part]) -> None:
    """Raise ``UserError`` unless all rows have the names and the seed of one experiment."""
    columns = [*NAMES, "seed"]
    expected = {tuple(str(getattr(spec, column)) for column in columns): "--spec" for spec in specs}
    for path, table in tables.items():
        for found in table[columns].astype(str).drop_duplicates().itertuples(index=False, name=None):
            expected.setdefault(found, path)
    if len(expected) > 1:
        (one, where), (other, elsewhere) = list(expected.items())[:2]
        different = [f"{column} {b} joins {a}" for column, a, b in zip(columns, one, other, strict=True) if a != b]
        raise UserError(f"{elsewhere} is not of the experiment of {where}: {', '.join(different)}")


def record_of_facts(prepared: Prepared) -> dict[str, dict]:
    """Return the record of the run that prepared a data set, by run; empty if the data are missing."""
    record = prepared.facts.get("provenance")
    return {record["run"]: record} if record and not prepared.skipped else {}


def fact_rows(spec: Part, prepared: Prepared) -> list[dict]:
    """Return the facts that preprocessing found about a data set, as rows with metrics ``fact_...``; ``split`` is the
    part.
    """
    shared = spec.columns | {"stand_in": prepared.facts["stand_in"]}
    if prepared.skipped:
        reason = {"reason": prepared.skipped}
        return [shared | {"metric": "fact_rows", "split": "all", "status": "skipped", "settings": reason}]
    shared |= {key: prepared.facts[key] for key in ("n_train", "n_test", "d")}
    shared |= {"run": "".join(record_of_facts(prepared))}
    settings = {"split": prepared.facts["split"], "preprocess": "+".join(map(step_text, spec.preprocess))}
    rows = []
    for name, fact in prepared.facts["facts"].items():
        metric, _, part = name.rpartition("_")
        if part not in ("all", "train", "test"):
            metric, part = name, "all"
        number = isinstance(fact, (int, float)) and not isinstance(fact, bool)
        row = shared | {"metric": f"fact_{metric}", "split": part, "value": fact if number else None}
        rows.append(row | {"settings": settings if number else settings | {"detail": json.dumps(fact)}})
    return rows
