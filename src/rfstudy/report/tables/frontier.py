"""The frontier of the arena: the error of maps and of the exact kernel at equal cost.

A cost is the seconds of all work, or the number of multiplications and additions. The exact kernel on n rows is
compared with the best map, at any number of columns and of rows, that costs no more.
"""

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import by_repeat, select, settings_of
from rfstudy.report.arena import percent
from rfstudy.report.cells import absent, each_dataset, three_digits
from rfstudy.report.compare import paired
from rfstudy.report.estimates import crossing
from rfstudy.report.notes import explained
from rfstudy.report.tables.arena import by_itself, change
from rfstudy.report.times import ROUND
from rfstudy.report.typeset import Cell, Table

#: The costs, with their headings.
COSTS = {"seconds": "time (s)", "operations": "operations"}

#: The rank of the preconditioner of the exact kernel (``study.yardsticks``), and the rows that Cholesky's factor takes.
RANK, BY_CHOLESKY = 1500, 15000


def operations(method: str, n: float, d: float, columns: float, steps: float = 0.0) -> float:
    """Return multiplications with an addition of a fit, to the leading order: of the exact kernel (``method`` "") by
    Cholesky's factor, or by ``steps`` of conjugate gradients on n x n kernel values; else of a map with D ``columns``,
    its projections or kernel values, and the Gram matrix with its factor. Nyström whitens with a second matrix.
    """
    if not method:
        return n**2 * d / 2 + n**3 / 6 if n <= BY_CHOLESKY else steps * n**2 * (d / 2 + 1) + n * RANK**2
    gram = n * columns**2 / 2 + columns**3 / 6
    return n * d * columns + gram + (n * columns**2 + columns**3 if method == "nystroem" else 0.0)


def costs_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per method, number of training rows and columns with an error: ``method``, ``n``, ``columns`` (0 for
    the exact kernel), ``errors`` (a series by repeat), ``seconds`` (median of the rounds, or NaN) and ``operations``.

    ``rows`` are of one data set.
    """
    ok = select(rows, status="ok", metric=["accuracy_pct", "rmse"], split="test", axis="")
    place = ["method", "variant", "n_features_label"]
    times = select(rows, axis=ROUND, metric="time_total_s", status="ok")
    seconds, found = times.groupby(place)["value"].median(), []
    for (method, n, label), own in ok.groupby(place, sort=False):
        steps = [each.get("steps", 0) for each in settings_of(own)]
        columns = int(label) if method else 0
        spent = seconds.get((method, n, label), np.nan)
        amount = operations(method, int(n), float(own["d"].iloc[0]), columns, float(np.mean(steps)))
        errors = by_repeat(own)
        if own["metric"].iloc[0] == "accuracy_pct":
            errors = 100.0 - errors
        found.append((method, int(n), columns, errors, spent, amount))
    return pd.DataFrame(found, columns=["method", "n", "columns", "errors", *COSTS])


def best_within(maps: pd.DataFrame, cost: str, most: float):
    """Return the row of the map with the lowest mean error among those that cost no more, or None."""
    affordable = maps[maps[cost] <= most]
    means = affordable["errors"].map(np.mean)
    return affordable.loc[means.idxmin()] if len(means) else None


def frontier(context, *, paper, datasets) -> Table:
    """Return a row per data set, cost and number of training rows of the exact kernel, and the best map for its cost.

    Notes
    -----
    The map may have any number of columns D and of training rows n. Relative: error of the exact kernel over that of
    the map, paired by repeat, mean of logarithms with a 95 % interval under the assumption of Student's t.

    Operations: multiplications with an addition, to the leading order. Crossover n*, the training rows of the exact
    kernel: beyond it one side has the lower error at equal cost; median over the repeats, with their range.
    """
    rows, remarks = [], []
    for _dataset, name, own in each_dataset(context, datasets, paper, context.rows):
        points = costs_of(own)
        exact = points[points["method"] == ""].sort_values("n")
        maps = points[points["method"] != ""]
        if not len(exact) or not len(maps):
            rows.append({"data set": name, "cost": "not run"})
            continue
        for cost, heading in COSTS.items():
            gaps = {}
            for at in exact.dropna(subset=[cost]).itertuples():
                spent = getattr(at, cost)
                best = best_within(maps, cost, spent)
                row = {"data set": name, "cost": heading, "n": at.n}
                row["exact kernel"] = Cell(f"{spent:.3g}", {"": three_digits(spent)})
                row["its error"] = three_digits(at.errors.mean())
                if best is None:
                    rows.append(row | {"best map": absent("none is as cheap")})
                    continue
                label, values = context.label(best["method"]), best[["columns", "n"]].to_dict()
                text = f"{label}, D = {best['columns']:,}, n = {best['n']:,}"
                row["best map"] = Cell(text, {"": label, "id": best["method"]} | values)
                ratio = (np.log(at.errors) - np.log(best["errors"])).dropna()
                gaps[at.n] = -ratio
                row["error of the map"] = three_digits(best["errors"].mean())
                rows.append(row | {"relative, %": relative(ratio)})
            remarks += [f"{name}, {heading}: {crossover(pd.DataFrame(gaps))}."] if gaps else []
    unit = "Errors: wrong labels in percent, or root mean squared errors."
    table = pd.DataFrame(rows)
    return Table(table, [*explained(frontier), unit, *remarks], shown=select(context.rows, dataset=datasets, axis=""))


def relative(ratio: pd.Series) -> Cell:
    """Return the cell of a mean logarithm as a change in percent, with its interval if there are several repeats."""
    test = paired(ratio)
    if test.n > 1:
        return change(by_itself(test.value, test.error**2, test.n))
    value = percent(test.value)
    return Cell(f"{value:+.1f}", {"": value})


def crossover(gaps: pd.DataFrame) -> str:
    """Return the sentence about where the gaps of repeats (rows) by numbers of training rows (columns) change sign."""
    n, complete = sorted(gaps.columns), gaps.dropna()
    if not len(complete):
        return "no repeat has all numbers of rows"
    sign = 1.0 if complete[n[-1]].mean() > 0 else -1.0
    found = sorted(crossing(n, (sign * own[n]).tolist()) for _, own in complete.iterrows())
    middle, side = found[(len(found) - 1) // 2], "the exact kernel" if sign > 0 else "the best map"
    if found[-1] == 0.0:
        return f"{side} has the lower error at every n"
    return f"{side} beyond n* = {in_words(middle, n)} ({in_words(found[0], n)} to {in_words(found[-1], n)})"


def in_words(value: float, n: list[int]) -> str:
    """Return a number of training rows, or that it is outside the measured ones."""
    if value == 0.0:
        return f"below {n[0]:,}"
    return f"over {n[-1]:,}" if np.isinf(value) else f"{three_digits(value):,.0f}"


def unit_of(metric: str) -> str:
    """Return the label of an error along an axis."""
    return "error (%)" if metric == "accuracy_pct" else fact_of(metric).label
