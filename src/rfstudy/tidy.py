"""The one table of the study: every measured and every published number is a row of this schema.

Stages write these rows, reports read nothing else. The module knows columns, types, the atomic write and
the checked read; it computes nothing.
"""

from __future__ import annotations

import json

import pandas as pd

from rfstudy.files import write_atomically

COLUMNS = (
    "origin",  # measured | published
    "run",  # id of the provenance record
    "preset",
    "paper",
    "experiment",
    "protocol",  # text | code | tuned
    "dataset",  # id of the task (datasets.yaml)
    "stand_in",  # empty, or what was used in place of the task's data
    "kernel",
    "method",  # id of the map (registry)
    "variant",  # empty, or the name of a differently configured entry of the same method
    "n_features",  # s, the number of frequencies
    "n_features_label",  # as the paper counts it: "8d", "4096"
    "n_columns",  # D, the columns of the feature matrix
    "step",  # round or position of what is no grid
    "repeat",
    "split",  # train | test | validation | all
    "n_train",
    "n_test",
    "d",
    "learner",
    "metric",
    "value",
    "spread",
    "spread_kind",
    "confidence",
    "unit",
    "status",  # ok | failed | skipped
    "seed",
    "settings",  # JSON: bandwidth, penalty, ..., and the reason where the status is not ok
)

INTEGERS = ("n_features", "n_columns", "step", "repeat", "n_train", "n_test", "d", "seed")
FLOATS = ("value", "spread")
TEXTS = tuple(c for c in COLUMNS if c not in INTEGERS + FLOATS)

#: What tells two measurements apart; the rest of a row describes the measurement.
KEY = (
    "origin", "preset", "paper", "experiment", "protocol", "dataset", "kernel", "method", "variant",
    "n_features_label", "n_features", "step", "repeat", "split", "learner", "metric",
)  # fmt: skip

STATUSES = ("ok", "failed", "skipped")

#: Units by metric; a metric that is not listed is a plain number.
UNITS = {
    "accuracy_pct": "%",
    "train_accuracy_pct": "%",
    "error_pct": "%",
    "train_error_pct": "%",
    "time_feature_s": "s",
    "time_preprocess_s": "s",
    "time_train_s": "s",
    "time_test_s": "s",
    "time_total_s": "s",
    "time_draw_s": "s",
    "time_transform_s": "s",
    "time_fit_s": "s",
    "time_scores_s": "s",
    "stored_bytes": "B",
}


def frame(rows) -> pd.DataFrame:
    """Rows (dicts or a data frame) as a data frame of the schema.

    Missing columns become missing values; ``settings`` may be a dict. Raises ``ValueError`` that names
    columns outside the schema or a status that is none.
    """
    table = pd.DataFrame(rows)
    unknown = [c for c in table.columns if c not in COLUMNS]
    if unknown:
        raise ValueError(f"columns outside the tidy schema: {', '.join(map(str, unknown))}")
    table = table.reindex(columns=COLUMNS)
    for column in INTEGERS:
        table[column] = pd.to_numeric(table[column]).astype("Int64")
    for column in FLOATS:
        table[column] = pd.to_numeric(table[column]).astype("float64")
    table["settings"] = [
        json.dumps(value, sort_keys=True) if isinstance(value, dict) else value for value in table["settings"]
    ]
    for column in TEXTS:
        table[column] = table[column].astype("object").where(table[column].notna(), "").astype(str)
    wrong = sorted(set(table["status"]) - set(STATUSES))
    if wrong:
        raise ValueError(f"status must be one of {', '.join(STATUSES)}, found {wrong}")
    return table


def read(path) -> pd.DataFrame:
    """The tidy table in a CSV file (compressed or not); ``ValueError`` names a file that is none."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
        return frame(table)
    except (ValueError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a tidy table: {error}") from error


def write(rows, path) -> pd.DataFrame:
    """Write rows as one tidy CSV file, atomically; compression follows the file's suffix."""
    table = frame(rows)
    write_atomically(path, lambda temporary: table.to_csv(temporary, index=False, lineterminator="\n"))
    return table
