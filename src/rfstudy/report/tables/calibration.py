"""How often the test between methods passes without a difference, and with one of the size that it should detect.

From many draws of one map on each split, groups of as many as the experiments have are taken at random: two groups of
one split differ by chance alone.
"""

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import of_quantity, select
from rfstudy.report.cells import dataset_cell
from rfstudy.report.compare import LEVEL, POWER, Estimate, nested
from rfstudy.report.context import Context
from rfstudy.report.tables.power import DRAW, scores
from rfstudy.report.typeset import Cell, Table

#: Fixed before the first draw was measured.
SEED = 20261123

NOTE = (
    "A comparison takes {draws} draws against {draws} others of each split, {comparisons:,} times. Passes: p under "
    f"{LEVEL:.0%}, before Holm. Found: the same with the detectable difference added to one side, which it should find "
    f"in {POWER:.0%}. In brackets: the standard error of a share."
)


def make(context: Context, *, paper: str, datasets: list[str], quantity: dict, draws: int, comparisons: int) -> Table:
    """Return a row per data set and number of columns: how often the test passes without and with a difference."""
    frame = of_quantity(select(context.rows, dataset=datasets, axis=DRAW), quantity)
    rng, rows = np.random.default_rng(SEED), []
    for (dataset, n_columns), cell in frame.groupby(["dataset", "n_columns"], sort=False):
        values = scores(cell).to_numpy()
        shape = comparisons, *values.shape
        shuffled = np.take_along_axis(np.broadcast_to(values, shape), rng.random(shape).argsort(axis=-1), axis=-1)
        one, other = shuffled[..., :draws], shuffled[..., draws : 2 * draws]
        # what the design detects, by the variance of all draws
        deviation, n_splits = np.sqrt(values.var(axis=1, ddof=1).mean()), len(values)
        error = deviation * np.sqrt(2.0 / (n_splits * draws))
        detectable = float(Estimate(0.0, error=error, df=2.0 * n_splits * (draws - 1)).detectable)
        rows.append(
            {
                "data set": dataset_cell(context, dataset, paper, cell),
                "D": int(n_columns),
                "comparisons": comparisons,
                "sd of a draw": round(deviation, 3),
                "detectable": round(detectable, 3),
                "passes": share_below(nested(one, other).p),
                "found": share_below(nested(one + detectable, other).p),
            }
        )
    return Table(pd.DataFrame(rows), [NOTE.format(draws=draws, comparisons=comparisons)], shown=frame)


def share_below(p: np.ndarray) -> Cell:
    """Return the cell of the share of p-values (m,) under ``LEVEL``, in percent with its standard error."""
    share = float(np.mean(p < LEVEL))
    error = 100.0 * float(np.sqrt(share * (1.0 - share) / len(p)))
    return Cell(f"{100.0 * share:.1f} % (± {error:.1f})", {"": 100.0 * share, "error": error})
