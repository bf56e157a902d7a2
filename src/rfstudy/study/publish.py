"""Move finished real-data results into ``data/measured``: what the repository ships and draws its figures from.

Results are published in blocks: all rows of a method and variant on a data set, and all times of a data set, which are
compared with each other. A block takes the place of the one that is there. A mean must not be over two experiments, and
methods are compared on the same rows, so a block is refused where it was measured otherwise than the other blocks of
its data set.
"""

import json
import re
from pathlib import Path

import pandas as pd

from random_features.errors import UserError
from rfstudy import tidy
from rfstudy.files import read_arrays, record_file
from rfstudy.study.provenance import read_records, write_results

#: How the name of a published file ends, which is how it is compressed.
ENDING = ".csv.xz"

#: What tells the blocks of an experiment apart; times are one block on a data set.
BLOCK = ("dataset", "method", "variant")

#: Where methods are compared: rows that differ in the method alone have these in common.
PLACE = ("dataset", "kernel", "learner", "metric", "n_features_label", "axis", "at")

#: Settings that tell such places apart: an entry may have a split of its own.
SPLIT = ("split", "split_options")

#: Columns and settings that the methods of a data set share at one place.
SHARED = ("seed", "n_train", "n_test", "capped", "chosen_on")

#: Differences that a message lists at most.
LISTED = 8


def run(results_file, out) -> None:
    """The stage: replace the blocks of an experiment's published table that a results file has.

    Raises ``UserError`` for rows that nobody could repeat (of stand-ins, of uncommitted code, without a record, times
    that were taken beside other work or by another rule than ``time``), for blocks that were measured otherwise than
    their neighbours, and for rows of another experiment.
    """
    out = Path(out)
    new, records = publishable(results_file)
    experiments = sorted(set(new["experiment"]))
    if [out.name] != [f"{experiment}{ENDING}" for experiment in experiments]:
        raise UserError(
            f"{results_file} has rows of {', '.join(experiments)}: they are published in data/measured/<experiment>"
            f"{ENDING}, not in {out}"
        )
    arrays = arrays_of(results_file)
    if out.exists():
        old = tidy.read(out)
        neighbours = old[~blocks(old).isin(set(blocks(new)))]
        check_alike(neighbours, new, results_file, out)
        new = pd.concat([neighbours, new], ignore_index=True)
        records, arrays = read_records(out) | records, arrays_of(out) | arrays
    table = new.sort_values(list(tidy.KEY), kind="stable")
    unknown = sorted(set(table["run"]) - set(records))
    if unknown:
        count = int(table["run"].isin(unknown).sum())
        raise UserError(f"{count} rows of {results_file} and {out} have no record of their run (first {unknown[0]!r})")
    pictures = [arrays, arrays_file(out)] if arrays else []
    write_results(table, {run: records[run] for run in set(table["run"])}, out, *pictures)
    size = sum(Path(file).stat().st_size for file in (out, record_file(out), *pictures[1:]))
    print(f"{out}: {len(table)} rows, {size / 1e6:.2f} MB")


def arrays_file(path) -> Path:
    """Return the file of the arrays that a kind of experiment measures beside the rows of a results file."""
    path = Path(path)
    return path.with_name(path.name.split(".")[0] + ".npz")


def arrays_of(path) -> dict:
    """Return the named arrays beside a results file; none where there is no such file."""
    file = arrays_file(path)
    return read_arrays(file) if file.exists() else {}


def blocks(table: pd.DataFrame) -> pd.Series:
    """Return the block that each row is in."""
    found = table[list(BLOCK)].astype(str)
    found.loc[table["axis"].eq("round"), ["method", "variant"]] = "times"
    return found.agg(tuple, axis=1) if len(found) else pd.Series(dtype=object)


# --- what may be published --------------------------------------------------------------------------------------------


def publishable(results_file) -> tuple[pd.DataFrame, dict[str, dict]]:
    """Return the rows of a results file that may be published, and the records of its runs; ``UserError`` says why
    not.
    """
    table, records = tidy.read(results_file), read_records(results_file)
    # data that could not be had leave rows that no run computed: nothing was measured
    table = table[table["status"].ne("skipped") | table["run"].ne("")]
    if table.empty:
        raise UserError(f"{results_file} holds no row that was measured: there is nothing to publish")
    uncommitted = {run for run, record in records.items() if not is_of_a_commit(record)}
    is_time = table["unit"].eq("s")
    seeds = table.groupby("dataset")["seed"].transform("nunique")
    busy = settings_of(table).map(lambda settings: bool(settings.get("machine_busy")))
    for wrong, column, message in (
        (table["stand_in"].ne(""), "dataset", "are of stand-ins"),
        (table["origin"].ne("measured"), "origin", "were not measured here"),
        (~table["run"].isin(list(records)), "dataset", "have no record of the run that computed them: run them again"),
        (table["run"].isin(uncommitted), "run", "were computed by uncommitted code: commit and run them again"),
        (is_time & table["axis"].ne("round"), "metric", "are times that the rule time did not take"),
        (table.duplicated(list(tidy.KEY), keep=False), "dataset", "measure the same thing twice"),
        (seeds.gt(1), "dataset", "are of several seeds on one data set"),
        (busy, "dataset", "are times beside other work: run the rule time again on an idle machine"),
    ):
        if wrong.any():
            where = ", ".join(sorted(set(table.loc[wrong, column]))[:5])
            raise UserError(f"{int(wrong.sum())} rows of {results_file} ({where}) {message}; nothing is published")
    return table, records


def is_of_a_commit(record: dict) -> bool:
    """Return whether a run was of committed code, and its record names the commit (40 hexadecimal digits)."""
    return not record.get("uncommitted", True) and bool(re.fullmatch("[0-9a-f]{40}", str(record.get("commit"))))


def settings_of(table: pd.DataFrame) -> pd.Series:
    """Return the settings of each row as a mapping."""
    return table["settings"].map(lambda text: json.loads(text or "{}"))


# --- how rows were measured -------------------------------------------------------------------------------------------


def check_alike(neighbours: pd.DataFrame, new: pd.DataFrame, results_file, out) -> None:
    """``UserError`` where the neighbours of blocks agree on something that the blocks have otherwise."""
    theirs, ours = conditions(neighbours), conditions(new)
    # what differs among the neighbours is a property of each
    place = [*PLACE, *SPLIT, "quantity"]
    agreed = theirs.groupby(place, dropna=False)["value"].agg(["nunique", "first"]).reset_index()
    compared = ours.merge(agreed[agreed["nunique"].eq(1)], on=place)
    different = compared[compared["value"].ne(compared["first"])]
    if different.empty:
        return
    counted = different.groupby(["dataset", "quantity", "value", "first"]).size()
    lines = [
        f"{dataset or 'no data set'}: {quantity} {value} joins {first} ({count} rows)"
        for (dataset, quantity, value, first), count in counted.sort_values(ascending=False).items()
    ]
    more = [f"and {len(lines) - LISTED} more differences"] if len(lines) > LISTED else []
    raise UserError(
        f"rows of {results_file} were not measured like the others of their data sets in {out}: "
        f"{'; '.join([*lines[:LISTED], *more])}; publish all methods of these data sets together"
    )


def conditions(table: pd.DataFrame) -> pd.DataFrame:
    """Return the quantities of ``SHARED`` that each row states, a line each: its place, ``quantity`` and ``value``.

    Facts about data are counted on all rows and have no neighbours; the rounds of a time are one place.
    """
    rows = table[~table["metric"].str.startswith("fact_")].copy()
    rows.loc[rows["axis"].eq("round"), "at"] = None
    stated = pd.DataFrame(list(settings_of(rows)), index=rows.index).reindex(columns=[*SHARED, *SPLIT]).astype(object)
    stated[list(SPLIT)] = stated[list(SPLIT)].map(json_text)
    columns = [name for name in SHARED if name in rows]
    stated[columns] = rows[columns]
    lines = rows[list(PLACE)].join(stated).melt(id_vars=[*PLACE, *SPLIT], var_name="quantity").dropna(subset="value")
    return lines.assign(value=lines["value"].map(json_text))


def json_text(value) -> str:
    """Return a value of a column or setting as JSON; 20 and 20.0 are the same."""
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value, default=str)
