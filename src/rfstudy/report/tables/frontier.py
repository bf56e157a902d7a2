"""The frontier of the arena: the error of maps and of the exact kernel at equal cost.

A cost is the seconds of all work, on one core or on all, or the number of multiplications and additions. The exact
kernel on n rows is compared with the best map, at any number of columns and of rows, that costs no more. The map is
chosen for each repeat by its errors in the others, so that its error in this one is not low by the choice.
"""

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import by_repeat, select, settings_of
from rfstudy.report.arena import percent
from rfstudy.report.cells import absent, each_dataset, three_digits
from rfstudy.report.compare import paired
from rfstudy.report.estimates import crossing
from rfstudy.report.notes import explained
from rfstudy.report.tables.arena import by_itself, change, to_tenths
from rfstudy.report.tables.times import threads_of
from rfstudy.report.times import ROUND
from rfstudy.report.typeset import Cell, Table

#: The costs, with their headings, and the metrics of those that are times.
COSTS = {"seconds": "time (s)", "on_all_cores": "time on all cores (s)", "operations": "operations"}
TIMES = {"seconds": "time_total_s", "on_all_cores": "time_all_cores_s"}

#: The rank of the preconditioner of the exact kernel (``study.yardsticks``).
RANK = 1500

#: Up to so many rows the exact kernel is solved by Cholesky's factor.
BY_CHOLESKY = 15000

#: What an exponential, cosine or sine counts as: about its time over the time of a multiplication in a matrix product.
FUNCTION = 30


def operations(method: str, n: float, m: float, d: float, columns: float, steps: float = 0.0) -> float:
    """Return multiplications with an addition of a fit to n rows and m predictions, to the leading order.

    The exact kernel (``method`` "") has Cholesky's factor, or ``steps`` of conjugate gradients on n x n kernel values,
    with three more products for their start and certificate, and a preconditioner. A map has D ``columns``. Ridge
    regression has their Gram matrix, or the rows' if there are fewer, and its factor. Nyström computes the
    kernel values of its landmarks twice, chooses among n rows, and whitens by eigenvectors.
    """
    if not method:
        predictions = m * n * (d + 1 + FUNCTION)
        if n <= BY_CHOLESKY:
            return n**2 * (d + FUNCTION) / 2 + n**3 / 6 + predictions
        of_rank = n * RANK * (RANK + d + FUNCTION + 2 * steps)
        return (steps + 3) * n**2 * ((d + FUNCTION) / 2 + 1) + of_rank + predictions
    ridge = n * columns**2 / 2 + columns**3 / 6 if n > columns else n**2 * columns / 2 + n**3 / 6
    if method == "nystroem":
        return ridge + (2 * n + m) * columns * (d + FUNCTION) + (1.5 * n + m) * columns**2 + 4 * columns**3
    return ridge + (n + m) * columns * (d / 2 + FUNCTION)


def costs_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per method, number of training rows and columns with an error: ``method``, ``n``, ``columns`` (0 for
    the exact kernel), ``errors`` (a series by repeat) and the ``COSTS``; a time is the median of the rounds, or NaN.

    ``rows`` are of one data set.
    """
    ok = select(rows, status="ok", metric=["accuracy_pct", "rmse"], split="test", axis="")
    place = ["method", "variant", "n_features_label"]
    rounds, found = select(rows, axis=ROUND, status="ok"), []
    times = [select(rounds, metric=metric).groupby(place)["value"].median() for metric in TIMES.values()]
    for (method, n, label), own in ok.groupby(place, sort=False):
        first = own[own["repeat"] == own["repeat"].min()]
        steps = settings_of(first)[0].get("steps", 0)
        columns, m, d = int(label) if method else 0, *first[["n_test", "d"]].iloc[0].astype(float)
        spent = [seconds.get((method, n, label), np.nan) for seconds in times]
        counted = operations(method, int(n), m, d, columns, steps)
        errors = by_repeat(own)
        if own["metric"].iloc[0] == "accuracy_pct":
            errors = 100.0 - errors
        found.append((method, int(n), columns, errors, *spent, counted))
    return pd.DataFrame(found, columns=["method", "n", "columns", "errors", *COSTS])


def best_within(maps: pd.DataFrame, cost: str, most: float, without=None):
    """Return the row of the map with the lowest mean error among those that cost no more, or None.

    The mean leaves out the repeat ``without``.
    """
    affordable = maps.loc[maps[cost] <= most, "errors"]
    means = affordable.map(lambda errors: errors[errors.index != without].mean()).dropna()
    return maps.loc[means.idxmin()] if len(means) else None


def by_the_others(maps: pd.DataFrame, cost: str, most: float, repeats) -> pd.Series:
    """Return the error in each repeat of the map that ``best_within`` finds by the other repeats."""
    best = {repeat: best_within(maps, cost, most, repeat) for repeat in repeats}
    found = {repeat: one["errors"].get(repeat) for repeat, one in best.items() if one is not None}
    return pd.Series(found, dtype=np.float64)


def frontier(context, *, paper, datasets) -> Table:
    """Return a row per data set, cost and number of training rows of the exact kernel, and the best map for its cost.

    Notes
    -----
    The map may have any number of columns D and of training rows n that was measured. It is chosen for each repeat by
    its errors in the others; the one named is chosen by all. Relative: error of the exact kernel over that of the map,
    paired by repeat, mean of logarithms with a 95 % interval of Student's t over the repeats. They share training rows,
    so the intervals are too narrow.

    Cost: learn, map, fit and predict at the settings of the first repeat; their choice is not part of it. Time is on
    one thread, unless all cores are named. Operations: multiplications with an addition, to the leading order; an
    exponential, cosine or sine counts as {FUNCTION}.

    Crossover n*, the training rows of the exact kernel: beyond it one side has the lower error in every repeat, whether
    or not an interval excludes zero; median over the repeats, with their range.
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
            gaps, ended = {}, False
            for at in exact.dropna(subset=[cost]).itertuples():
                spent = getattr(at, cost)
                best = best_within(maps, cost, spent)
                row = {"data set": name, "cost": heading, "n": at.n, "exact kernel": amount(spent)}
                row["its error"] = three_digits(at.errors.mean())
                if best is None:
                    rows.append(row | {"best map": absent("none is as cheap")})
                    continue
                label, values = context.label(best["method"]), best[["columns", "n"]].to_dict()
                text = f"{label}, D = {best['columns']:,}, n = {best['n']:,}"
                row["best map"] = Cell(text, {"": label, "id": best["method"]} | values)
                row["cost of the map"] = amount(best[cost])
                of_map = by_the_others(maps, cost, spent, at.errors.index)
                ratio = np.log(at.errors / of_map).dropna()
                gaps[at.n] = -ratio
                ended = 2 * best[cost] < spent and (best[["n", "columns"]] == maps[["n", "columns"]].max()).all()
                row["error of the map"] = three_digits(of_map.mean())
                rows.append(row | {"relative, %": relative(ratio)})
            limit = "; at the most rows no larger map was tried" if ended else ""
            remarks += [f"{name}, {heading}: {crossover(pd.DataFrame(gaps))}{limit}."] if gaps else []
        unknown = int(points["seconds"].isna().sum())
        remarks += [f"{name}: {unknown} fits without a time are left out."] if unknown else []
    notes = [*explained(frontier), "Errors: wrong labels in percent, or root mean squared errors."]
    if len(parallel := select(context.rows, metric=TIMES["on_all_cores"])):
        notes.append(f"On all cores: {threads_of(parallel)} Work of under a tenth of a second is often slower there.")
    return Table(pd.DataFrame(rows), [*notes, *remarks], shown=select(context.rows, dataset=datasets, axis=""))


def amount(cost: float) -> Cell:
    """Return the cell of a cost."""
    return Cell(f"{cost:.3g}", {"": three_digits(cost)})


def relative(ratio: pd.Series) -> Cell:
    """Return the cell of a mean logarithm as a change in percent, with its interval if there are several repeats."""
    test = paired(ratio)
    if test.n > 1:
        return change(by_itself(test.value, test.error**2, test.n))
    return to_tenths(percent(test.value), "+")


def crossover(gaps: pd.DataFrame) -> str:
    """Return the sentence about where the gaps of repeats (rows) by numbers of training rows (columns) change sign for
    the last time.
    """
    n, complete = sorted(gaps.columns), gaps.dropna()
    if not len(complete):
        return "no repeat has all numbers of rows"
    last = complete[n[-1]]
    if last.min() <= 0 <= last.max():
        return f"undecided, as the repeats differ at n = {n[-1]:,}"
    sign = np.sign(last.iloc[0])
    found = sorted(crossing(n, (sign * own[n]).tolist()) for _, own in complete.iterrows())
    middle, side = found[(len(found) - 1) // 2], "the exact kernel" if sign > 0 else "the best map"
    if found[-1] == 0.0:
        return f"{side} has the lower error at every n compared"
    return f"{side} beyond n* = {in_words(middle, n)} ({in_words(found[0], n)} to {in_words(found[-1], n)})"


def in_words(value: float, n: list[int]) -> str:
    """Return a number of training rows to two digits, or that it is below the measured ones."""
    return f"{float(f'{value:.2g}'):,.0f}" if value else f"below {n[0]:,}"
