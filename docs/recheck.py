"""Recompute a random share of the shipped cells, and write into their records whether they agree.

Usage: ``python docs/recheck.py [--limit SECONDS] [EXPERIMENT ...]``. A unit is one entry of an experiment on one data
set in one repeat, with all its sizes. Units are drawn by a fixed seed until they have 2 % of the experiment's cells,
and at least 5. The commands of the workflow compute them under the preset ``laptop``, in ``results/recheck``; a run
that was stopped goes on there. Units that are expected to take longer than the limit are left out, and named. A search
that is expected to take longer is not repeated: the unit takes the choices that its shipped rows state. Times are not
compared.

A value agrees if it differs by at most 1e-5 of itself and 1e-7, or, for a share of test rows, by two rows. The record
of an experiment (``data/measured/*.provenance.json``) then has the key ``recomputed``: the date, the commit, the seed,
the cells, the number of values that agree, the largest relative difference of the others, and how many units failed,
were left out, or took the shipped choices. Publishing new rows removes it.
"""

import argparse
import json
import random
import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from random_features.learners.entry import load
from rfstudy import tidy
from rfstudy.files import read_yaml, write_json
from rfstudy.planning import config
from rfstudy.planning.jobs import Jobs
from rfstudy.planning.plan import Shard
from rfstudy.study.job import kernel_id, searched, tune_scope
from rfstudy.study.kinds.grid import name_of
from rfstudy.study.kinds.registry import KINDS
from rfstudy.study.provenance import Run, code_state, write_choices

SEED, SHARE, LEAST = 33, 0.02, 5
#: The largest relative difference of a value, the resolution of features in float32, and the largest difference of a
#: share of test rows, in rows.
RELATIVE, RESOLUTION, ROWS = 1e-5, 1e-7, 2
FOLDER, SHIPPED, PRESET = Path("results/recheck"), Path("data/measured"), "config/presets/laptop.yaml"
#: Columns that identify a unit, a cell, and a value.
UNIT = ["dataset", "kernel", "method", "variant", "repeat"]
CELL = [*UNIT, "n_features_label", "axis", "at"]
VALUE = [*CELL, "n_features", "split", "learner", "metric"]


def drawn(jobs: Jobs, name: str, cells: pd.DataFrame) -> list[tuple[str, Shard]]:
    """Return the units of an experiment that have shipped cells, in random order: a stage, and a shard of one entry."""
    has_data, found = KINDS[jobs.experiments[name]["kind"]].needs_data, []
    variants = {entry.get("variant", "") for entry in jobs.experiments[name]["methods"]}
    for stage in ("train", "measure"):
        for shard in jobs.shards_of(stage, name).values():
            for part, entry in ((of, entry) for of in shard.parts for entry in of.methods):
                own = cells[cells.method.eq(entry["method"])]
                # a kind may name variants itself, as the numbers of rows of a frontier
                own = own[own.variant.eq(entry.get("variant", "")) | ~own.variant.isin(variants)]
                own = own if len(own) or cells.method.any() else cells  # yardsticks have no map
                # without data one cell may cover all repeats
                for repeats in [[each] for each in shard.repeats] if has_data else [shard.repeats]:
                    if (own.dataset.eq(part.dataset) & own.repeat.eq(repeats[0])).any() if has_data else len(own):
                        unit = Shard(shard.name, [part | {"methods": [entry], "repeats": repeats}])
                        found.append((stage, unit))
    random.Random(f"{SEED} {name}").shuffle(found)
    return found


def computed(jobs: Jobs, stage: str, unit: Shard, shipped: pd.DataFrame, *, search: bool) -> pd.DataFrame:
    """Return the rows of a unit, computed anew; without ``search`` by the choices that its shipped rows state."""
    experiment = unit.parts[0].experiment
    work = jobs.arguments(stage, experiment, unit)
    (part,) = work["parts"]
    (entry,) = part["methods"]
    own = shipped[shipped.dataset.eq(unit.datasets[0]) & shipped.repeat.eq(unit.repeats[0]) & shipped.status.eq("ok")]
    kernel = kernel_id(entry.get("kernel", part["kernel"]))
    own = own[own.method.eq(entry["method"]) & own.variant.eq(entry["variant"]) & own.kernel.eq(kernel)]
    if own.n_train.astype(float).max() > (part.get("max_rows") or np.inf):
        part["max_rows"] = None  # measured on all rows, by --config max_rows=null
    name = f"{unit.datasets[0] or 'all'}.{kernel}.{entry['method']}-{entry['variant']}"
    stem = FOLDER / experiment / name
    for folder in work["prepared_dirs"]:
        if not Path(folder, "facts.json").exists():
            command = ["snakemake", "--quiet", "--cores", "1", "--configfile", PRESET, "--", f"{folder}/facts.json"]
            subprocess.run([sys.executable, "-m", *command], check=True)
    stem_of_unit = f"{stem}.r{unit.repeats[0]}"
    if work.get("tuned") and search:
        work["tuned"] = [output("tune", *choices(jobs, unit, entry, stem))]
    elif work.get("tuned"):
        work["tuned"] = [f"{stem_of_unit}.tune.json"]
        chosen = {unit.datasets[0]: {"status": "ok", "cell": {name_of(entry): stated(own)}}}
        write_choices(chosen, Run("tune", chosen, 1).finished(), work["tuned"][0])
    return tidy.read(output(stage, work, stem_of_unit))


def stated(rows: pd.DataFrame) -> dict:
    """Return the choices that rows state, by size and repeat, as ``tune`` writes them for every cell."""
    found: dict = {}
    for row in rows.itertuples():
        settings = json.loads(row.settings)
        place = found.setdefault(row.n_features_label, {}).setdefault(str(row.repeat), {"chosen": {}})
        place["chosen"] |= {key: settings[key] for key in ("length_scale", "options") if key in settings}
        if all(map(str.isidentifier, settings["preprocess"])):  # a search chooses among steps without parameters
            place["chosen"]["preprocess"] = settings["preprocess"]
        if row.learner:
            place["chosen"].setdefault("penalty", {})[row.learner] = settings[load(row.learner).chosen]
    return found


def search_of(jobs: Jobs, unit: Shard) -> Shard | None:
    """Return the shard that makes the choices of a unit, or None if nothing is chosen."""
    shards = jobs.shards_of("tune", unit.parts[0].experiment).values()
    parts = [(shard.name, part) for shard in shards for part in shard.parts]
    return next((Shard(name, [part]) for name, part in parts if part.dataset == unit.datasets[0]), None)


def choices(jobs: Jobs, unit: Shard, entry: dict, stem: Path) -> tuple[dict, str]:
    """Return the work that makes the choices of a unit, and its place. Where methods or repeats choose for themselves,
    the others choose nothing.
    """
    work = jobs.arguments("tune", unit.parts[0].experiment, search_of(jobs, unit))
    (part,), name = work["parts"], unit.datasets[0]
    scopes = {tune_scope(part["search"], quantity) for quantity in searched(part["search"])}
    if scopes <= {"method", "method_and_size", "split", "cell"}:
        part["methods"], name = [entry], stem.name
    if scopes <= {"split", "cell"}:
        part["repeats"], name = list(unit.repeats), f"{name}.r{unit.repeats[0]}"
    return work, f"{stem.with_name(name)}.tune"


def output(stage: str, work: dict, stem: str) -> str:
    """Return the file that a stage writes with the given work. Run the stage if the file is missing."""
    path = Path(f"{stem}{Path(work['out']).suffix}")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {"out_arrays": f"{stem}.npz"} if "out_arrays" in work else {}
        write_json([work | {"out": str(path), "journal": f"{stem}.cells"} | arrays], f"{stem}.work.json")
        with open(f"{stem}.log", "w") as log:
            command = [sys.executable, "-m", "rfstudy", stage, f"{stem}.work.json", "--threads", "1"]
            subprocess.run(command, check=True, stdout=log, stderr=log)
    return str(path)


def compared(shipped: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Return the shipped values of what was computed anew, with ``beyond``, their difference over the allowed one: at
    most 1 agrees; it is infinite for a value that is missing now.
    """
    own = shipped.merge(ours[UNIT].drop_duplicates(), on=UNIT)
    own = own[own.status.eq("ok") & own.unit.ne("s") & ~own.metric.str.startswith("fact_")]
    both = own.merge(ours.loc[ours.status.eq("ok"), [*VALUE, "value"]], "left", VALUE, suffixes=("_shipped", ""))
    of_rows = both.unit.eq("%") & both.metric.str.startswith(("accuracy", "error"))
    rows = (100 * (ROWS + 0.01) / both.n_test.astype(float)).where(of_rows).fillna(0)
    allowed = np.maximum(RELATIVE * both.value_shipped.abs() + RESOLUTION, rows)
    difference = (both.value - both.value_shipped).abs()
    return both.assign(beyond=(difference / allowed).fillna(np.inf), relative=difference / both.value_shipped.abs())


def check(jobs: Jobs, name: str, limit: float) -> None:
    """Recompute units of an experiment, print what differs, and write the result into the record of its rows."""
    shipped = tidy.read(SHIPPED / f"{name}.csv.xz")
    cells = shipped[shipped.status.eq("ok") & shipped.unit.ne("s")].drop_duplicates(CELL)
    done, failed, long, given, tables = 0, 0, 0, 0, [compared(shipped.iloc[:0], shipped.iloc[:0])]
    for stage, unit in drawn(jobs, name, cells):
        if done >= max(LEAST, SHARE * len(cells)):
            break
        expected = jobs.resources(stage, unit)["expected"]
        ((entry,),) = (part.methods for part in unit.parts)
        words = f"{unit.datasets[0]}, {entry['method']} {entry['variant']}, repeat {unit.repeats[0]}"
        if expected > limit:
            print(f"{name}: {words} left out, {expected} s expected", flush=True)
            long += 1
            continue
        chooser = search_of(jobs, unit)
        search = not chooser or jobs.resources("tune", chooser)["expected"] <= limit
        try:
            ours = computed(jobs, stage, unit, shipped, search=search)
        except subprocess.CalledProcessError as error:
            print(f"{name}: {words} failed: {error}", flush=True)
            failed += 1
            continue
        given += not search
        tables.append(compared(shipped, ours))
        done += len(tables[-1].drop_duplicates(CELL))
    values = pd.concat(tables)
    differ = values[values.beyond.gt(1)].sort_values("beyond", ascending=False)
    print(f"{name}: {done} of {len(cells)} cells, {len(values)} values, {len(differ)} differ", flush=True)
    if len(differ):
        print(differ[[*VALUE, "value", "value_shipped"]].head(12).to_string(), flush=True)
    if done or failed:
        record = SHIPPED / f"{name}.provenance.json"
        found = {"date": str(date.today()), "commit": code_state()["commit"], "seed": SEED, "cells": done}
        found |= {"values": len(values), "agree": len(values) - len(differ)}
        counts = {"failed_units": failed, "units_left_out": long, "units_with_shipped_choices": given}
        found |= {key: count for key, count in counts.items() if count}
        if differ.relative.notna().any():
            found["largest_relative_difference"] = float(differ.relative.max())
        write_json(json.loads(record.read_text("utf-8")) | {"recomputed": found}, record)


def main(names: list[str], limit: float = float("inf")) -> None:
    """Check the named experiments, or all that have shipped rows."""
    given = read_yaml("config/config.yaml") | read_yaml(PRESET)
    jobs = Jobs(config.load_study(given, Path("config")), Path.cwd())
    for name in names or sorted(path.name.split(".")[0] for path in SHIPPED.glob("*.csv.xz")):
        check(jobs, name, limit)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="EXPERIMENT", help="all that have shipped rows, unless named")
    parser.add_argument("--limit", type=float, default=float("inf"), help="longest expected time of a unit, in seconds")
    main(**vars(parser.parse_args()))
