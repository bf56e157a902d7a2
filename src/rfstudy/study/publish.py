"""Move finished real-data results into ``data/measured``: what the repository ships and redraws its figures from.

Rows join those that are there by key. A mean must not be over two experiments without a word, so rows join only where
they were measured like those that stay beside them; else they are refused, or replace whole cells or the experiment.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd

from random_features.errors import UserError
from rfstudy import tidy
from rfstudy.files import read_arrays, record_file
from rfstudy.study.provenance import read_records, write_results

#: How the name of a published file ends, which is how it is compressed.
ENDING = ".csv.xz"

#: What joining rows may replace beyond rows of their own key.
REPLACEABLE = ("cell", "experiment")

#: Columns that all rows of a data set share, at one place of an axis.
OF_DATASET = ("seed", "n_train", "n_test")

#: Columns that all rows of a cell share.
OF_CELL = (*OF_DATASET, "preset", "n_features")

#: Columns that all rows of a cell share, unless they are seen to differ from repeat to repeat.
MAY_VARY = ("n_columns", "d", "spread_kind", "confidence")

#: Settings that say what came out of a measurement, not how it was made.
FOUND = ("reason", "converged", "at_edge", "contended", "others", "calls", "detail")

#: What tells cells apart: rows that a report averages have these in common.
CELL = tuple(column for column in tidy.KEY if column not in ("preset", "repeat", "n_features"))

#: What tells entries on a data set apart: cells that a report draws as one curve have these in common.
ENTRY = tuple(column for column in CELL if column != "n_features_label")

#: What a search chooses for a size on its own: nothing says that it is the same at all of them.
CHOSEN = ("settings.penalty", "settings.C")
CHOSEN_WITH_OTHERS = ("settings.length_scale", "settings.options", "settings.preprocess")

#: Differences that a message tells of at most.
TOLD = 8


def run(results_file, out, replace: str = "") -> None:
    """The stage: merge an experiment's rows into its published table, newer rows replacing older ones by key; with
    ``replace`` all rows of their cells, or of the experiment.

    Raises ``UserError`` for rows that nobody could repeat (of stand-ins, of uncommitted code, without a record, times
    that were taken beside other work or by another rule than ``time``) and for rows that were measured otherwise than
    those that they join, or are of another experiment.
    """
    out = Path(out)
    if not out.name.endswith(ENDING):
        raise UserError(f"{out}: published rows are kept in data/measured/<experiment>{ENDING}")
    new, records = publishable(results_file)
    if out.exists():
        old = tidy.read(out)
        others = sorted(set(old["experiment"]) - set(new["experiment"]))
        if others:
            raise UserError(
                f"{out} holds rows of {', '.join(others)}, {results_file} has none of them: name its own file"
            )
        records = read_records(out) | records
        stay = staying(old, new, replace)
        different = differences(old, stay, new)
        if different:
            raise UserError(refusal(results_file, out, different))
        new = pd.concat([stay, new], ignore_index=True)
    table = new.sort_values(list(tidy.KEY), kind="stable")
    unknown = sorted(set(table["run"]) - set(records))
    if unknown:
        count = int(table["run"].isin(unknown).sum())
        raise UserError(f"{count} rows of {results_file} and {out} have no record of their run (first {unknown[0]!r})")
    used = set(table["run"])
    arrays = arrays_of(results_file) if replace == "experiment" else arrays_of(out) | arrays_of(results_file)
    pictures = [arrays, arrays_file(out)] if arrays else []
    write_results(table, {run: record for run, record in records.items() if run in used}, out, *pictures)
    files = [out, record_file(out), *pictures[1:]]
    size = sum(Path(file).stat().st_size for file in files)
    print(f"{out}: {len(table)} rows, {size / 1e6:.2f} MB")


def arrays_file(path) -> Path:
    """The file of the arrays that a kind of experiment measures beside the rows of a results file."""
    path = Path(path)
    return path.with_name(path.name.split(".")[0] + ".npz")


def arrays_of(path) -> dict:
    """The named arrays beside a results file; none where there is no such file."""
    file = arrays_file(path)
    return read_arrays(file) if file.exists() else {}


def publishable(results_file) -> tuple[pd.DataFrame, dict[str, dict]]:
    """The rows of a results file that may be published, and the records of its runs; ``UserError`` says why not."""
    table, records = tidy.read(results_file), read_records(results_file)
    # data that could not be had leave rows that no run computed: nothing was measured
    table = table[table["status"].ne("skipped") | table["run"].ne("")]
    if table.empty:
        raise UserError(f"{results_file} holds no row that was measured: there is nothing to publish")
    stand_ins = sorted(set(table.loc[table["stand_in"].ne(""), "dataset"]))
    if stand_ins:
        raise UserError(f"stand-ins are not published: {results_file} holds them for {', '.join(stand_ins)}")
    others = sorted(set(table["origin"]) - {"measured"})
    if others:
        raise UserError(f"only measured rows are published: {results_file} holds rows of origin {', '.join(others)}")
    without = table[~table["run"].isin(list(records))]
    if len(without):
        where = ", ".join(sorted(set(without["dataset"]))[:5])
        raise UserError(
            f"{len(without)} rows of {results_file} ({where}) have no record of the run that computed them in "
            f"{record_file(results_file).name}: they are not published; run the experiment again"
        )
    dirty = sorted(run for run in set(table["run"]) if records[run].get("uncommitted", True))
    if dirty:
        raise UserError(
            f"uncommitted code computed rows of {results_file} (runs {', '.join(dirty[:5])}); commit, rerun"
        )
    untimed = table[table["unit"].eq("s") & table["axis"].ne("round")]
    if len(untimed):
        metrics = ", ".join(sorted(set(untimed["metric"])))
        raise UserError(
            f"{len(untimed)} times of {results_file} ({metrics}) were not taken by the rule time: not published"
        )
    contended = table[[bool(json.loads(settings or "{}").get("contended")) for settings in table["settings"]]]
    if len(contended):
        raise UserError(
            f"times of {results_file} were taken beside other work ({', '.join(sorted(set(contended['dataset'])))}, "
            f"{contended['at'].nunique()} rounds); run the rule time again on an idle machine (--forcerun time)"
        )
    return table, records


def staying(old: pd.DataFrame, new: pd.DataFrame, replace: str) -> pd.DataFrame:
    """The published rows that stay when others join: all but those of a joining row's key, or of its cell."""
    if replace == "experiment":
        return old[:0]
    columns = CELL if replace == "cell" else tidy.KEY
    return old[~pd.Series(places(old, columns), index=old.index).isin(set(places(new, columns)))]


def places(table: pd.DataFrame, columns) -> list[tuple]:
    """The values of columns, a tuple a row; rounds of the same time are at one place unless repeats count, too."""
    found = table[list(columns)].astype(object).where(table[list(columns)].notna(), None)
    if "at" in columns and "repeat" not in columns:
        found.loc[table["axis"].eq("round"), "at"] = None
    return list(found.itertuples(index=False, name=None))


# --- how rows were measured -------------------------------------------------------------------------------------------


def differences(old: pd.DataFrame, stay: pd.DataFrame, new: pd.DataFrame) -> list[str]:
    """What joining rows were measured under that those that stay were not, in words; empty where they go together.

    Compared are the rows of one data set (``OF_DATASET``), of one cell, and of one entry over its sizes. What all rows
    of a cell share is a condition; what is seen to differ from repeat to repeat is a result of each.
    """
    found: Counter = Counter()

    def compare(where: str, quantity: str, there: list[dict], joining: list[dict]) -> None:
        before, after = values(there, quantity), values(joining, quantity)
        if before and after - before:
            one, other = (", ".join(sorted(each)[:3]) for each in (after - before, before))
            found[where, f"{quantity.removeprefix('settings.')} {one} joins {other}"] += len(joining)

    for where, there, joining in both(stay, new, ("dataset", "axis", "at", "metric"), kind_of_fact):
        for column in OF_DATASET:
            compare(where[0], column, there, joining)
    free = varying(old, CELL) | varying(new, CELL)
    for where, there, joining in both(stay, new, CELL):
        # times are compared within one run: rounds of several are no sample of anything
        for column in (*OF_CELL, "run") if joining[0]["axis"] == "round" else OF_CELL:
            compare(dataset_of(where), column, there, joining)
        for quantity in sorted(quantities(there + joining)):
            if (dataset_of(where), quantity) not in free:
                compare(dataset_of(where), quantity, there, joining)
    free |= varying(old, ENTRY) | varying(new, ENTRY)
    for where, there, joining in both(stay, new, ENTRY):
        if len({row["n_features_label"] for row in there}) < 2:
            continue  # nothing shows that one size has what the others have
        shared = any("settings.shared_by" in row for row in joining)
        own = {*CHOSEN, *CHOSEN_WITH_OTHERS} if shared else set(CHOSEN)
        for quantity in sorted(quantities(there + joining) - own):
            if (dataset_of(where), quantity) not in free:
                compare(dataset_of(where), quantity, there, joining)
    return [f"{dataset or 'no data set'}: {what} ({count} rows)" for (dataset, what), count in found.most_common()]


def kind_of_fact(place: tuple) -> tuple:
    """The place of a row on a data set: facts are counted on all rows, whatever is measured on how many."""
    *others, metric = place
    return (*others, metric.startswith("fact_"))


def dataset_of(place: tuple) -> str:
    """The data set in the place of a cell or an entry."""
    return place[CELL.index("dataset")]


def grouped(table: pd.DataFrame, columns, place=tuple) -> dict[tuple, list[dict]]:
    """Rows as mappings of columns and settings, by their place."""
    groups = defaultdict(list)
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    for where, row in zip(places(table, columns), rows, strict=True):
        settings = json.loads(row["settings"] or "{}")
        groups[place(where)].append(row | {f"settings.{name}": value for name, value in settings.items()})
    return groups


def both(stay: pd.DataFrame, new: pd.DataFrame, columns, place=tuple):
    """The places that have rows of both tables: the place, and the rows of each."""
    there, joining = grouped(stay, columns, place), grouped(new, columns, place)
    return [(where, there[where], joining[where]) for where in joining if where in there]


def quantities(rows: list[dict]) -> set[str]:
    """What of rows may be a condition of all of a cell: columns, and settings that are no results."""
    named = {name for row in rows for name in row if name.startswith("settings.")}
    return {*MAY_VARY, *named} - {f"settings.{name}" for name in FOUND}


def values(rows: list[dict], quantity: str) -> set[str]:
    """The values of a column or setting, as JSON; that a row without failure lacks a setting is a value, too."""
    if quantity.startswith("settings."):
        return {json.dumps(row.get(quantity)) for row in rows if row["status"] == "ok" or quantity in row}
    return {json.dumps(row[quantity]) for row in rows if row[quantity] not in (None, "")}


def varying(table: pd.DataFrame, columns) -> set[tuple[str, str]]:
    """The data sets and quantities that differ among the rows of some place: each repeat, or size, has its own."""
    return {
        (dataset_of(where), quantity)
        for where, rows in grouped(table, columns).items()
        for quantity in quantities(rows)
        if len(values(rows, quantity)) > 1
    }


def refusal(results_file, out, different: list[str]) -> str:
    """The message about rows that do not join."""
    more = [f"and {len(different) - TOLD} more differences"] if len(different) > TOLD else []
    lines = "".join(f"\n  {line}" for line in [*different[:TOLD], *more])
    return (
        f"rows of {results_file} were not measured like those of {out} that they would join:{lines}\n"
        "publish a whole cell, data set or experiment, and replace what is there: "
        f"python -m rfstudy publish --replace {'|'.join(REPLACEABLE)} --out {out} {results_file}"
    )
