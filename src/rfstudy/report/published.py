"""The published numbers as tidy rows: the only loader of ``data/reference``.

The files there keep the papers' own words. Here a method or data set gets the id that the registries give it
(``published_as: {paper: name}``), a metric gets the study's name for it, and a classifier that a paper treats as part
of a metric becomes the ``learner``. A name that no registry knows does not change. These numbers are never an input of
a measurement.
"""

import math
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd

from random_features.errors import UserError
from rfstudy import tidy
from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.catalogue import as_list
from rfstudy.report.typeset import Cell

#: The files with values. Others hold figures, claims and facts in words.
FILES = (
    *(f"survey_table{number}.csv" for number in range(1, 10)), *(f"eerf_table{number}.csv" for number in range(1, 6)),
    "nsrf_table1.csv", *(f"slsrff_table{number}.csv" for number in range(1, 4)), "text_values.csv",
)  # fmt: skip

#: The columns of these files; some also have ``item``.
COLUMNS = (
    "paper", "table", "dataset", "kernel", "method", "n_features", "n_features_value", "metric", "value", "spread",
    "spread_kind", "confidence", "note",
)  # fmt: skip

#: The survey's names of its two linear classifiers.
LEARNERS = {"lr": "ridge", "liblinear": "svm"}

#: (paper, published metric) -> (metric, learner), where they differ from the published ones.
METRICS = {
    ("survey", "approximation_error"): ("approximation_error_frobenius", ""),
    ("survey", "best_methods_approximation_error"): ("best_methods_approximation_error_frobenius", ""),
    ("survey", "best_methods_accuracy_lr"): ("best_methods_accuracy_pct", "ridge"),
    ("survey", "best_methods_accuracy_liblinear"): ("best_methods_accuracy_pct", "svm"),
    ("survey", "train_error_pct"): ("train_error_pct", "logistic"),
    ("survey", "error_pct"): ("error_pct", "logistic"),
}

#: The mark of a published number that was deduced.
RECONSTRUCTED = "*"

#: The rows that a published share of right or wrong answers is of.
SPLITS = {"accuracy_pct": "test", "error_pct": "test", "train_accuracy_pct": "train", "train_error_pct": "train"}


def ids_by_name(registry: dict) -> dict[tuple[str, str], str]:
    """Return ``(paper, published name) -> id`` from the ``published_as`` of a registry.

    The registry is ``methods.yaml`` or ``datasets.yaml``. Planning has checked that no name has two ids.
    """
    return {
        (paper, name): identifier
        for identifier, entry in registry.items()
        for paper, names in entry.get("published_as", {}).items()
        for name in as_list(names)
    }


def printed_name(registry: dict, identifier: str, paper: str) -> str:
    """Return the name of a method or data set in a paper; its label, or the id itself, if the paper does not name
    it."""
    entry = registry.get(identifier, {})
    names = as_list((entry.get("published_as") or {}).get(paper))
    return names[0] if names else entry.get("label", identifier)


def named_by(paper: str, styles: dict) -> dict:
    """Return the registry of methods with a paper's names as labels."""
    found = {}
    for method, entry in styles.items():
        name = printed_name(styles, method, paper)
        variants = {
            variant: own | ({"label": own["label"].replace(entry["label"], name)} if "label" in own else {})
            for variant, own in entry.get("variants", {}).items()
        }
        found[method] = entry | {"label": name, "variants": variants}
    return found


def load(directory, styles: dict, tasks: dict) -> pd.DataFrame:
    """Return all published values as one tidy frame (``origin`` "published").

    Parameters
    ----------
    directory : path of the folder with the table files; ``FileNotFoundError`` for one that is missing, ``UserError``
        for one that is not a table of these columns, or has words among its numbers
    styles, tasks : the parsed registries (``methods.yaml``, ``datasets.yaml``)

    Returns
    -------
    data frame of the tidy schema. ``experiment`` is the place in the paper ("Table VII"), ``n_features_label`` the
    number of features as published. ``settings`` holds the other values: ``printed`` (a number's digits), ``text`` (a
    value that is not a number: lists of winners, grids, rules), ``item`` (the subject of a row of a table of texts) and
    ``note``. A value that could not be recovered is a row with status "skipped".
    """
    method_ids, dataset_ids = ids_by_name(styles), ids_by_name(tasks)
    printed = pd.concat([_read(Path(directory) / name) for name in FILES], ignore_index=True).fillna("")
    _check_numbers(printed)
    return tidy.frame([_row(row, method_ids, dataset_ids) for row in printed.to_dict("records")])


def _read(path: Path) -> pd.DataFrame:
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except ValueError as error:  # also of an empty file, or of bytes that are no text
        raise UserError(f"{path} is no table of published numbers ({str(error).strip()}): restore it") from error
    if missing := [column for column in COLUMNS if column not in table]:
        raise UserError(f"{path} has no column {', '.join(missing)}: restore it; the columns are {', '.join(COLUMNS)}")
    return table.assign(file=str(path))


def _check_numbers(printed: pd.DataFrame) -> None:
    """Raise ``UserError`` for words where numbers belong; the values of a metric are all numbers or all words."""
    for column in ("value", "spread", "n_features_value"):
        numeric = printed[column].map(_number).notna()
        meant = numeric.groupby(printed["metric"]).transform("any") if column == "value" else True
        for row in printed[~numeric & printed[column].ne("") & meant].to_dict("records"):
            raise UserError(f"{row['file']}: {column} {row[column]!r} of {row['metric']} is no number: correct it")


def _row(row: dict, method_ids: dict, dataset_ids: dict) -> dict:
    paper = row["paper"]
    metric, learner = METRICS.get((paper, row["metric"]), (row["metric"], ""))
    method = row["method"]
    if method in LEARNERS:  # a setting of a classifier is published in the column of the methods
        method, learner = "", LEARNERS[method]
    settings = {key: row[key] for key in ("item", "note") if row.get(key)}
    value, status = _number(row["value"]), "ok"
    if row["value"] == "":
        status, settings = "skipped", {"reason": "not legible in the source", **settings}
    else:
        settings["text" if value is None else "printed"] = row["value"]
    unchanged = {column: row[column] for column in ("paper", "kernel", "spread_kind", "confidence")}
    return unchanged | {
        "origin": "published",
        "experiment": row["table"],
        "dataset": _ids(row["dataset"], paper, dataset_ids),
        "method": _ids(method, paper, method_ids),
        "n_features": _number(row["n_features_value"]),
        "n_features_label": row["n_features"],
        "split": SPLITS.get(metric, ""),
        "learner": learner,
        "metric": metric,
        "value": value,
        "spread": _number(row["spread"]),
        "status": status,
        "settings": settings,
    }


def _ids(printed: str, paper: str, ids: dict) -> str:
    """Return the id of a published name, or the list of ids of a list "a;b"."""
    if (paper, printed) in ids:
        return ids[paper, printed]
    return ";".join(ids.get((paper, name), name) for name in printed.split(";"))


def _number(text: str) -> float | None:
    try:
        return float(text) if math.isfinite(float(text)) else None
    except ValueError:
        return None


def _spread(value: float) -> str:
    """Return a published spread: with two decimals, as most are, or with all its digits."""
    text = f"{value:.2f}"
    return text if float(text) == value else f"{value:g}"


def numbers(published: pd.DataFrame, paper: str, table: str | None = None, kernel: str | None = None) -> pd.DataFrame:
    """Return the numbers among the published rows (``load``) of a paper, table and kernel, one row each.

    Columns: ``table``, ``dataset``, ``kernel``, ``size``, ``method``, ``metric``, ``learner``, ``printed`` (as
    published, "" if lost), ``published`` (NaN if lost), ``published_spread``, ``spread_kind`` and ``confidence``.
    """
    rows = select(published, paper=paper, experiment=table, kernel=kernel)
    settings = settings_of(rows)
    rows = rows.assign(printed=[s.get("printed", "") for s in settings])
    rows = rows[np.array(["text" not in s for s in settings], dtype=bool)].rename(
        columns={"experiment": "table", "n_features_label": "size", "value": "published", "spread": "published_spread"}
    )
    columns = ["table", "dataset", "kernel", "size", "method", "metric", "learner", "printed", "published"]
    return rows[[*columns, "published_spread", "spread_kind", "confidence"]]


def half_unit(printed: str) -> float:
    """Return half a unit of the last published digit.

    >>> half_unit("68.45"), half_unit("1.9e-2")
    (0.005, 0.0005)
    """
    return 0.5 * 10.0 ** Decimal(printed).as_tuple().exponent


def printed_text(number) -> Cell:
    """Return the cell of a row of ``numbers`` (or None) with its spread, and a mark if the number is deduced."""
    if number is None or not number.printed:
        remark = "not printed" if number is None else "lost"
        return Cell(remark, {"": None, "std": None, "n": None, "remark": remark})
    spread = "" if pd.isna(number.published_spread) else f" ± {_spread(number.published_spread)}"
    deduced = number.confidence == "reconstructed"
    text = number.printed + spread + (RECONSTRUCTED if deduced else "")
    remark = "deduced" if deduced else ""
    return Cell(text, {"": number.published, "std": number.published_spread, "n": None, "remark": remark})
