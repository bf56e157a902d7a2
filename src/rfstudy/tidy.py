"""The one table of the study: every measured and every published number is a row of this schema.

Stages write these rows, reports read nothing else. The module knows columns, types, the atomic write and
the checked read; it computes nothing.
"""

import json
from contextlib import suppress
from pathlib import Path

import pandas as pd
from pandas.api.types import infer_dtype

from random_features.errors import UserError
from rfstudy.files import REMEDY, check_recorded, digest_of, write_atomically, write_record
from rfstudy.metrics import FACTS, fact_of

#: Frames of a report are small and many: Python's texts are selected and compared faster than Arrow's.
pd.options.mode.string_storage = "python"

#: The columns with their meanings, for the page "Columns of the rows" and for those who read the files.
MEANINGS = {
    "origin": '"measured" by us, or "published" by a paper',
    "run": "id of the run, whose record is in `<rows>.provenance.json`: commit, versions, machine, command",
    "preset": "the preset that the row was measured under",
    "paper": "id of the paper",
    "experiment": "name of the experiment in `config/experiments`",
    "protocol": 'reading of the experiment: "text" (as written), "code" (as run) or "tuned"',
    "dataset": "id of the task in `config/datasets.yaml`",
    "stand_in": "empty, or what replaced the data of the task",
    "kernel": "id of the kernel",
    "method": "id of the map in the registry; empty for a row about no map",
    "variant": "empty, or the name of an entry of the method with other options",
    "n_features": "s, the number of frequencies",
    "n_features_label": 's as the paper counts it: "8d", "4096"',
    "n_columns": "D, the columns of the feature matrix",
    "axis": "a swept quantity without a column of its own: distance, penalty, round; empty in a plain grid",
    "at": "the value on that axis",
    "repeat": "number of the repeat, from 0: one draw of split and map",
    "split": 'rows that the value is about: "train", "test", "validation" or "all"',
    "n_train": "training rows",
    "n_test": "test rows",
    "d": "columns of the data after preprocessing",
    "learner": "id of the learner; empty for a row about a map alone",
    "metric": "what was measured",
    "value": "the value, in the unit of the metric",
    "spread": "spread of a published value, or standard error of an estimate",
    "spread_kind": "what the spread is",
    "confidence": "of a published value, how sure its reading is",
    "unit": "unit of the value",
    "status": '"ok", "failed" or "skipped"',
    "seed": "seed of the study, from which the seeds of splits and maps derive",
    "settings": "JSON: length scale, penalty and others, and the reason if the status is not ok",
}

COLUMNS = tuple(MEANINGS)

INTEGERS = ("n_features", "n_columns", "repeat", "n_train", "n_test", "d", "seed")
FLOATS = ("at", "value", "spread")
TEXTS = tuple(c for c in COLUMNS if c not in INTEGERS + FLOATS)

#: Columns that identify a measurement; the rest of a row describes it.
KEY = (
    "origin", "preset", "paper", "experiment", "protocol", "dataset", "kernel", "method", "variant",
    "n_features_label", "n_features", "axis", "at", "repeat", "split", "learner", "metric",
)  # fmt: skip

STATUSES = ("ok", "failed", "skipped")


def frame(rows) -> pd.DataFrame:
    """Return the rows (dicts or a data frame) as a data frame of the schema.

    Missing columns become missing values, and a missing ``unit`` becomes that of the metric; ``settings`` may be a
    dict. Raise ``ValueError`` for columns outside the schema, an unknown status, a unit that is not the metric's, or an
    ``axis`` without ``at``.
    """
    table = pd.DataFrame(rows)
    if unknown := [c for c in table.columns if c not in COLUMNS]:
        raise ValueError(f"columns outside the tidy schema: {', '.join(map(str, unknown))}")
    table = pd.DataFrame({column: _typed(table, column) for column in COLUMNS}, index=table.index)
    if wrong := sorted(set(table["status"]) - set(STATUSES)):
        raise ValueError(f"status must be one of {', '.join(STATUSES)}, found {wrong}")
    if ((table["axis"] != "") != table["at"].notna()).any():
        raise ValueError("a row on an axis says on which and where: axis and at go together")
    table["unit"] = pd.Series(_units(table), index=table.index, dtype="object")
    return table


def _typed(table: pd.DataFrame, column: str) -> pd.Series:
    """Return a column in its type, with missing values if the table lacks it."""
    dtype = "Int64" if column in INTEGERS else "float64" if column in FLOATS else "object"
    if column not in table:
        return pd.Series("" if column in TEXTS else None, index=table.index, dtype=dtype)
    if column not in TEXTS:
        return pd.to_numeric(table[column]).astype(dtype)
    # of objects all columns lie in one block, which is cut at once; a string dtype has an array for each
    texts = table[column].astype(dtype)
    if infer_dtype(texts, skipna=False) == "string":
        return texts
    if column == "settings":
        texts = texts.map(lambda each: json.dumps(each, sort_keys=True) if isinstance(each, dict) else each)
    return texts.where(texts.notna(), "").astype(str).astype(dtype)


def _units(table: pd.DataFrame) -> list[str]:
    """Return the units of all rows: their own, else that of the metric."""
    for metric, unit in set(zip(table["metric"], table["unit"], strict=True)):
        if metric in FACTS and unit not in ("", FACTS[metric].unit):
            raise ValueError(f"the unit of {metric} is {FACTS[metric].unit or 'none'}, not {unit}")
    return table["metric"].map({metric: fact.unit for metric, fact in FACTS.items()}).fillna(table["unit"]).tolist()


def check_settings(table: pd.DataFrame) -> None:
    """Raise ``ValueError`` if the settings of a row are neither empty nor a JSON object."""
    for text in set(table["settings"]) - {""}:
        with suppress(json.JSONDecodeError):
            if isinstance(json.loads(text), dict):
                continue
        raise ValueError(f"settings are a JSON object, found {text[:60]!r}")


def check_values(table: pd.DataFrame) -> None:
    """Raise ``ValueError`` if a successful measurement has no finite value, or one that its metric cannot have. Facts
    may be words.
    """
    measured = table[table["status"].eq("ok") & ~table["metric"].str.startswith("fact_")]
    unmeasured = measured[~measured["value"].abs().lt(float("inf"))]
    if len(unmeasured):
        raise ValueError(f"{len(unmeasured)} rows have the status ok and no finite value, first {_place(unmeasured)}")
    for metric, own in measured.groupby("metric"):
        low, high = fact_of(metric).bounds
        beyond = own[~own["value"].between(low, high)]
        if len(beyond):
            raise ValueError(
                f"{metric} lies between {low:g} and {high:g}, and in {len(beyond)} rows elsewhere, first "
                f"{_place(beyond)}: {beyond['value'].iloc[0]:g}"
            )


def _place(rows: pd.DataFrame) -> str:
    """Return the place of the first of some rows, in words."""
    row = rows.iloc[0]
    return ", ".join(str(row[c]) for c in ("dataset", "method", "n_features_label", "metric") if row[c])


def read(path) -> pd.DataFrame:
    """Return the tidy table in a CSV file (compressed or not). Raise ``UserError`` for a file that is not a tidy table,
    has no record, or is not the one that its record was written for.
    """
    check_recorded(path)
    try:
        written = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
        table = frame(written)
        if missing := [column for column in COLUMNS if column not in written]:
            raise ValueError(f"it lacks the columns {', '.join(missing)}")
        check_settings(table)
        check_values(table)
    except (ValueError, TypeError, OverflowError) as error:
        raise UserError(f"{path} is not a tidy table: {error}; {REMEDY}") from error
    return table


def write(rows, path, runs: dict[str, dict] | None = None, digests: dict[str, str] | None = None) -> pd.DataFrame:
    """Write rows as one tidy CSV file, atomically, with its record; compression follows the file's suffix.

    The record holds the records of ``runs`` and the checksums of this file and of others (``digests``, by name). It is
    written before the rows, so that a killed process never leaves rows without it.
    """
    table = frame(rows)

    def save(temporary):
        table.to_csv(temporary, index=False, lineterminator="\n")
        write_record((digests or {}) | {Path(path).name: digest_of(temporary)}, runs or {}, path)

    write_atomically(path, save)
    return table
