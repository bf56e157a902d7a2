"""Rows derived from measured ones: a paper reports a quantity that an experiment measures under another name.

A paper reports an option of a map at the best value of its grid on the test rows. The experiment sweeps the option;
here the best of the sweep is chosen, as in the paper, under a variant of its own that says so. A regression error that
a paper reports in percent, without saying of what, is read as the share of the squared responses that is not explained.
"""

import json

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of, lower_is_better
from rfstudy.report.aggregate import CELL, select, settings_of

#: The axis along which a paper reports the best value on the test rows.
SWEPT = "divergence"

#: The variant that has this best value here.
BEST_ON_TEST = "best-on-test"

#: The error in percent that papers report for any task.
ERROR = "error_pct"

#: The metric that this error means if the task is a regression.
OF_REGRESSION = "relative_squared_error_pct"

#: The columns that the rows of one sweep share: all but the position on its axis and the repeat.
SWEEP = [column for column in CELL if column != "at"]


def with_derived(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with the derived rows."""
    frame = pd.concat([frame, select(frame, metric=OF_REGRESSION).assign(metric=ERROR)], ignore_index=True)
    best = best_on_test(frame, SWEPT, BEST_ON_TEST)
    return pd.concat([frame, best], ignore_index=True) if len(best) else frame


def best_on_test(frame: pd.DataFrame, axis: str, variant: str) -> pd.DataFrame:
    """Return the rows of each sweep of a test score along an axis at the position with the best mean over the repeats.

    The first of equal ones is taken. The rows are on no axis, have the variant, and their settings give the position
    (``best_at``). For a sweep without any value, the rows of its first position say why.
    """
    swept = select(frame, axis=axis, split="test")
    swept = swept[np.array([bool(fact_of(metric).better) for metric in swept["metric"]], dtype=bool)]
    if not len(swept):
        return swept
    found = []
    for _, sweep in swept.groupby(SWEEP, dropna=False, sort=False):
        means = select(sweep, status="ok").groupby("at")["value"].mean()
        best = sweep["at"].min()
        if len(means):
            best = means.idxmin() if lower_is_better(sweep["metric"].iloc[0]) else means.idxmax()
        found.append(sweep[sweep["at"] == best])
    rows = pd.concat(found)
    places = zip(settings_of(rows), rows["at"], strict=True)
    settings = [json.dumps(own | {"best_at": at}, sort_keys=True) for own, at in places]
    return rows.assign(axis="", at=np.nan, variant=variant, settings=settings)


def undefined(metric: str, dataset: str, tasks: dict) -> str:
    """Return why a published number of a metric is not defined on a task ("" if it is)."""
    if metric != ERROR or tasks.get(dataset, {}).get("target") != "regression":
        return ""
    return "the paper does not say what the error of a regression is a percentage of"


def notes_on_derived(rows: pd.DataFrame, tasks: dict) -> list[str]:
    """Return sentences on the derived rows among those shown."""
    found = []
    if (rows["variant"] == BEST_ON_TEST).any():
        found.append(
            f"Best on test: of all values of the {SWEPT} penalty the one with the lowest mean error on the test rows, "
            "as the paper reports it; without these words it is chosen by validation."
        )
    if any(undefined(ERROR, dataset, tasks) for dataset in select(rows, metric=ERROR)["dataset"].unique()):
        found.append(
            "Error of a regression, which the paper does not define: 100 |y - f|^2 / |y|^2, responses in [-1, 1]."
        )
    return found
