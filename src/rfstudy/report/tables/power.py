"""Differences and ratios between methods where each map was drawn several times on each split, and what tests find.

The test is ``compare.nested``: on average over the draws, on these splits. Each row states the power of the test (the
smallest difference that it would find), the sources of variance (draws, test rows, splits), and the p-value of the
corrected test for new rows (``compare.paired``).
"""

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import columns_asked_for, method_order, of_quantity, select, settings_of
from rfstudy.report.cells import each_dataset, method_cell
from rfstudy.report.chance import majority_pct
from rfstudy.report.compare import LEVEL, POWER, Estimate, family, nested, overlap_of, paired, ranking
from rfstudy.report.notes import explained
from rfstudy.report.typeset import Cell, Table

#: The axis of rows that are draws of one map on the same rows.
DRAW = "draw"

#: What a difference is called where the baseline predicts worse than naming the most frequent class.
NO_RANKING = "no ranking"


def scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the values of one cell by split (rows) and draw (columns), of the splits where all draws are ok."""
    ok = select(rows, status="ok", axis=DRAW)
    return ok.pivot(index="repeat", columns="at", values="value").dropna()


def errors_in_blocks(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean errors over the draws, in percent of the test rows, by split (rows) and block (columns)."""
    ok = select(rows, status="ok", axis=DRAW)
    counts = pd.DataFrame([settings["errors_by_block"] for settings in settings_of(ok)], index=ok["repeat"].to_numpy())
    return 100.0 * counts.groupby(level=0).mean() / ok["n_test"].iloc[0]


def components(one: pd.DataFrame, other: pd.DataFrame, of_blocks: pd.DataFrame) -> tuple[float, float, float]:
    """Return the standard deviations of a difference that come from the draws, the test rows and the splits.

    Parameters
    ----------
    one, other : scores by split and draw
    of_blocks : differences of the errors by split and block of test rows
    """
    of_draws = [each.var(axis=1, ddof=1).mean() for each in (one, other)]
    of_rows = of_blocks.shape[1] * of_blocks.var(axis=1, ddof=1).mean()
    of_means = (one.mean(axis=1) - other.mean(axis=1)).var(ddof=1)
    of_splits = of_means - sum(each / scored.shape[1] for each, scored in zip(of_draws, (one, other), strict=True))
    return tuple(np.sqrt([sum(of_draws), of_rows, max(0.0, of_splits - of_rows)]))


def power(context, *, paper, datasets, methods, baseline, quantity) -> Table:
    """Return a row per data set, number of columns and method: its difference from the baseline, and the tests.

    Methods are compared at equal numbers of columns.

    Notes
    -----
    On these rows: t-test over the draws of the maps, on these splits; Holm's correction over a data set. Better, worse:
    significant at {LEVEL:.0%} and above {margin:g} points; equal: two one-sided tests show less than {margin:g} points;
    otherwise undecided. Detectable: found with a probability of {POWER:.0%} before Holm.

    Standard deviations in points: of the difference of one draw each; of a split's mean difference over test rows, from
    the errors in blocks of them; and over splits, what is left. New rows: p-value of the corrected resampled t-test on
    the means of the splits (Nadeau and Bengio 2003), which at half splits finds next to nothing.
    """
    metric, rows = quantity["metric"], []
    frame = of_quantity(select(context.rows, dataset=datasets, axis=DRAW), quantity)
    for dataset, name, ours in each_dataset(context, datasets, paper, frame):
        if not len(ours):
            rows.append({"data set": name, "method": "not run"})
        chance = majority_pct(context.rows, dataset, context.tasks)
        for (n_columns, who), (test, one, other, of_blocks) in against(ours, methods, baseline).items():
            is_ranked = chance is None or metric != "accuracy_pct" or other.to_numpy().mean() >= chance
            deviations = zip(("draw", "test rows", "split"), components(one, other, of_blocks), strict=True)
            new = paired(one.mean(axis=1), other.mean(axis=1), overlap_of(ours, context))
            rows.append(
                {
                    "data set": name,
                    "D": n_columns,
                    "method": method_cell(context, *who),
                    context.label(baseline): round(other.to_numpy().mean(), 2),
                    "difference": difference(test),
                    "p": test.p,
                    "verdict": ranking(test, metric) if is_ranked else NO_RANKING,
                    "detectable": round(float(test.detectable), 2),
                    **{source: round(deviation, 2) for source, deviation in deviations},
                    "p, new rows": new.p,
                }
            )
    return Table(pd.DataFrame(rows), explained(power, margin=fact_of(metric).smallest_effect, POWER=POWER), shown=frame)


def against(rows: pd.DataFrame, methods: list[str], baseline: str) -> dict[tuple, tuple]:
    """Return by number of columns and method the test against the baseline on a data set, both scores by split and
    draw, and the differences of the errors in blocks.
    """
    found = {}
    for n_columns, cells in rows.groupby(columns_asked_for(rows)):
        base = select(cells, method=baseline, variant="", status="ok")
        if not len(base):
            continue
        of_base, blocks_of_base = scores(base), errors_in_blocks(base)
        for who in method_order(cells, methods):
            own = select(cells, method=who[0], variant=who[1])
            one, other = scores(own).align(of_base, join="inner", axis=0)
            if who != (baseline, "") and len(one):
                of_blocks = (errors_in_blocks(own) - blocks_of_base).loc[one.index]
                found[n_columns, who] = one, other, of_blocks
    tests = family({place: nested(one, other) for place, (one, other, _) in found.items()})
    return {place: (test, *found[place]) for place, test in tests.items()}


def difference(test: Estimate) -> Cell:
    """Return the cell of a difference with its interval."""
    values = {"": float(test.value), "low": float(test.low), "high": float(test.high), "error": float(test.error)}
    return Cell(f"{test.value:+.2f} [{test.low:+.2f}, {test.high:+.2f}]", values)


# --- error_ratios -----------------------------------------------------------------------------------------------------
# Errors of kernel matrices over the errors of a baseline, from many draws of each map.


def error_ratios(context, *, paper, datasets, methods, baseline, sizes, quantity) -> Table:
    """Return a row per data set and method: its error over the error of the baseline, with a 95 % interval, by size."""
    frame = of_quantity(select(context.rows, dataset=datasets, axis=DRAW), quantity)
    rows, headings = [], {size: {"size": size} for size in sizes}
    for _, name, ours in each_dataset(context, datasets, paper, frame):
        if not len(ours):
            rows.append({"data set": name, "method": "not run"} | dict.fromkeys(sizes, "not run"))
        cells = {size: select(ours, n_features_label=size) for size in sizes}
        others = {size: scores(select(own, method=baseline, variant="")) for size, own in cells.items()}
        for who in (each for each in method_order(ours, methods) if each != (baseline, "")):
            row = {"data set": name, "method": method_cell(context, *who)}
            for size, own in cells.items():
                one = scores(select(own, method=who[0], variant=who[1]))
                row[size] = ratio(*one.align(others[size], join="inner", axis=0))
            rows.append(row)
    note = "In brackets: the 95 % interval of the ratio, from the variance between the draws on the same rows."
    return Table(pd.DataFrame(rows), [note], headings, shown=frame)


def ratio(one: pd.DataFrame, other: pd.DataFrame) -> Cell | str:
    """Return the geometric mean over splits of the ratios of mean errors, with its interval (delta method).

    ``one`` and ``other`` have the errors by split and draw.
    """
    if not one.size or not other.size:
        return "not run"
    logs = np.log(one.mean(axis=1) / other.mean(axis=1))
    relative = [frame.var(axis=1, ddof=1) / frame.shape[1] / frame.mean(axis=1) ** 2 for frame in (one, other)]
    error = np.sqrt(sum(relative).sum()) / len(logs)
    half = error * stdtrit(len(logs) * (one.shape[1] - 1), 1.0 - LEVEL / 2)
    value, low, high = (float(np.exp(logs.mean() + step)) for step in (0.0, -half, half))
    return Cell(f"{value:.3f} [{low:.3f}, {high:.3f}]", {"": value, "low": low, "high": high})


# --- calibration ------------------------------------------------------------------------------------------------------
# How often the test between methods passes without a difference, and with one of the size that it should detect.
#
# From many draws of one map on each split, groups of as many as the experiments have are taken at random: two groups of
# one split differ by chance alone.


#: Fixed before the first draw was measured.
SEED = 20261123


def calibration(context, *, paper, datasets, quantity, draws, comparisons) -> Table:
    """Return a row per data set and number of columns: how often the test passes without and with a difference.

    Notes
    -----
    A comparison takes {draws} draws against {draws} others of each split, {comparisons:,} times. Passes: p under
    {LEVEL:.0%}, before Holm. Found: the same with the detectable difference added to one side, which it should find in
    {POWER:.0%}. In brackets: the standard error of a share.
    """
    frame = of_quantity(select(context.rows, dataset=datasets, axis=DRAW), quantity)
    rng, rows = np.random.default_rng(SEED), []
    for _, name, ours in each_dataset(context, datasets, paper, frame):
        rows += [{"data set": name, "D": "not run"}] if not len(ours) else []
        for n_columns, cell in ours.groupby("n_columns"):
            values = scores(cell).to_numpy()
            shape = comparisons, *values.shape
            shuffled = np.take_along_axis(np.broadcast_to(values, shape), rng.random(shape).argsort(axis=-1), axis=-1)
            one, other = shuffled[..., :draws], shuffled[..., draws : 2 * draws]
            # what the design detects, by the variance of all draws
            deviation, n_splits = np.sqrt(values.var(axis=1, ddof=1).mean()), len(values)
            error = deviation * np.sqrt(2.0 / (n_splits * draws))
            detectable = float(Estimate(0.0, error=error, df=2.0 * n_splits * (draws - 1)).detectable)
            found = {
                "comparisons": comparisons,
                "sd of a draw": round(deviation, 3),
                "detectable": round(detectable, 3),
                "passes": share_below(nested(one, other).p),
                "found": share_below(nested(one + detectable, other).p),
            }
            rows.append({"data set": name, "D": int(n_columns)} | found)
    remarks = explained(calibration, draws=draws, comparisons=comparisons, POWER=POWER)
    return Table(pd.DataFrame(rows), remarks, shown=frame)


def share_below(p: np.ndarray) -> Cell:
    """Return the cell of the share of p-values (m,) under ``LEVEL``, in percent with its standard error."""
    share = float(np.mean(p < LEVEL))
    error = 100.0 * float(np.sqrt(share * (1.0 - share) / len(p)))
    return Cell(f"{100.0 * share:.1f} % (± {error:.1f})", {"": 100.0 * share, "error": error})
