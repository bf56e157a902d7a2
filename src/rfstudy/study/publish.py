"""Move finished real-data results into ``data/measured``, from which the repository draws its figures.

Results are published in blocks: all rows of a method and variant on a data set, and all times of a data set, which are
compared with each other. A new block replaces the old one. A mean must not mix two experiments, and methods are
compared on the same rows. A block is therefore refused if it was measured differently from the other blocks of its data
set.
"""

import json
import re
from pathlib import Path

import pandas as pd

from random_features.errors import UserError
from rfstudy import tidy
from rfstudy.files import arrays_file, read_arrays, record_file
from rfstudy.study.provenance import read_records, write_results

#: The suffix of a published file, which also sets its compression.
ENDING = ".csv.xz"

#: Columns that separate the blocks of an experiment; the times on a data set are one block.
BLOCK = ("dataset", "method", "variant")

#: Columns of a place where methods are compared: rows that differ in the method alone share them.
PLACE = ("dataset", "kernel", "learner", "metric", "n_features_label", "axis", "at")

#: Settings that separate such places: an entry may have its own split.
SPLIT = ("split", "split_options")

#: Columns and settings that the methods of a data set share at one place.
SHARED = ("seed", "n_train", "n_test", "capped", "chosen_on")

#: Largest number of differences that a message lists.
LISTED = 8


def run(results_file, out) -> None:
    """Replace the blocks of an experiment's published table by those of a results file.

    Raise ``UserError`` for rows that cannot be repeated: rows of stand-ins, of uncommitted code or without a record,
    and times that were taken while the machine was busy or by another rule than ``time``. Raise it also for blocks that
    were measured differently from their neighbours or fewer times than before, and for rows of another experiment.
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
        # all times of a data set go together, and facts are counted anew
        replaced = old.drop(neighbours.index).query("axis != 'round' and not metric.str.startswith('fact_')")
        check_repeats(replaced, new, results_file, out)
        new = pd.concat([neighbours, new], ignore_index=True)
        gone = {(dataset, "-".join(filter(None, entry))) for dataset, *entry in blocks(replaced)}
        kept = {name: each for name, each in arrays_of(out).items() if tuple(name.split("/")[:2]) not in gone}
        records, arrays = read_records(out) | records, kept | arrays
    check_one_run(new, results_file, out)
    table = new.sort_values(list(tidy.KEY), kind="stable")
    if unknown := sorted(set(table["run"]) - set(records)):
        count = int(table["run"].isin(unknown).sum())
        where = f"{results_file} and {out}"
        raise UserError(f"{count} rows of {where} have no record of their run (first {unknown[0]!r}): run them again")
    own_arrays = [arrays, arrays_file(out)] if arrays else []
    write_results(table, {run: records[run] for run in set(table["run"])}, out, *own_arrays)
    size = sum(Path(file).stat().st_size for file in (out, record_file(out), *own_arrays[1:]))
    print(f"{out}: {len(table)} rows, {size / 1e6:.2f} MB")


def arrays_of(path) -> dict:
    """Return the named arrays next to a results file; none if there is no such file."""
    file = arrays_file(path)
    return read_arrays(file) if file.exists() else {}


def blocks(table: pd.DataFrame) -> pd.Series:
    """Return the block that each row is in."""
    found = table[list(BLOCK)].astype(str)
    found.loc[table["axis"].eq("round"), ["method", "variant"]] = "times"
    return found.agg(tuple, axis=1) if len(found) else pd.Series(dtype=object)


# --- what may be published --------------------------------------------------------------------------------------------


def publishable(results_file) -> tuple[pd.DataFrame, dict[str, dict]]:
    """Return the publishable rows of a results file, and the records of its runs. Raise ``UserError`` if they cannot be
    published.
    """
    table, records = tidy.read(results_file), read_records(results_file)
    # a data set that was not available leaves rows that no run computed: nothing was measured
    table = table[table["status"].ne("skipped") | table["run"].ne("")]
    if table.empty:
        raise UserError(f"{results_file} holds no row that was measured: there is nothing to publish")
    uncommitted = {run for run, record in records.items() if not is_of_a_commit(record)}
    is_time = table["unit"].eq("s")
    busy = settings_of(table).map(lambda settings: bool(settings.get("machine_busy")))
    for wrong, column, message in (
        (table["stand_in"].ne(""), "dataset", "are of stand-ins"),
        (table["origin"].ne("measured"), "origin", "were not measured here"),
        (table["run"].isin(uncommitted), "run", "were computed by uncommitted code: commit and run them again"),
        (is_time & table["axis"].ne("round"), "metric", "are times that the rule time did not take"),
        (busy, "dataset", "are times next to other work: run the rule time again on an idle machine"),
    ):
        if wrong.any():
            where = ", ".join(sorted(set(table.loc[wrong, column]))[:5])
            raise UserError(f"{int(wrong.sum())} rows of {results_file} ({where}) {message}; nothing is published")
    return table, records


def is_of_a_commit(record: dict) -> bool:
    """Return whether a run used committed code, and its record names the commit (40 hexadecimal digits)."""
    return not record.get("uncommitted", True) and bool(re.fullmatch("[0-9a-f]{40}", str(record.get("commit"))))


def settings_of(table: pd.DataFrame) -> pd.Series:
    """Return the settings of each row as a mapping."""
    return table["settings"].map(lambda text: json.loads(text or "{}"))


# --- how rows were measured -------------------------------------------------------------------------------------------


def check_alike(neighbours: pd.DataFrame, new: pd.DataFrame, results_file, out) -> None:
    """Raise ``UserError`` if the neighbours of blocks agree on a value that differs in the blocks."""
    theirs, ours = conditions(neighbours), conditions(new)
    # a value that differs among the neighbours is a property of each
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


def check_repeats(replaced: pd.DataFrame, new: pd.DataFrame, results_file, out) -> None:
    """Raise ``UserError`` if a quantity of a block has fewer repeats than in the rows that it replaces, or none."""
    columns = [*BLOCK, "kernel", "n_features_label", "axis", "learner", "metric"]
    there, here = (table.groupby(columns)["repeat"].nunique(dropna=False) for table in (replaced, new))
    here = here.reindex(there.index, fill_value=0)
    for place, number in here[here < there].head(1).items():
        raise UserError(
            f"{results_file} has {number} repeats of {' '.join(filter(None, place))}, and {out} has {there[place]}: "
            f"publish at least as many; to ship fewer, remove {out.name} and its record first"
        )


def check_one_run(table: pd.DataFrame, results_file, out) -> None:
    """Raise ``UserError`` for rows of several seeds or presets on a data set, also at places without neighbours."""
    for column in ("seed", "preset"):
        values = table.groupby("dataset")[column].unique().map(sorted)
        for dataset, found in values[values.map(len) > 1].items():
            mixed = f"{dataset or 'no data set'} would have rows of the {column}s {', '.join(map(str, found))}"
            raise UserError(f"{results_file} into {out}: {mixed}; publish all methods of this data set together")


def conditions(table: pd.DataFrame) -> pd.DataFrame:
    """Return the quantities of ``SHARED`` that each row states, one line per quantity: its place, ``quantity`` and
    ``value``.

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
