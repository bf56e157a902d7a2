"""Cost and variance of the maps: what a paper states, and measurements."""

import pandas as pd

from rfstudy.report.aggregate import methods_shown, select, settings_of
from rfstudy.report.cells import absent, exponent, method_cell, span, with_error
from rfstudy.report.context import Context
from rfstudy.report.estimates import SIGMAS, SignCounts, compared_with_rff, growth, lower_variance_verdict, pooled
from rfstudy.report.notes import notes_on_draws
from rfstudy.report.times import shortest
from rfstudy.report.typeset import Cell, Table

#: Published columns: heading and metric.
PRINTED = {
    "kernels": "kernels_supported",
    "extra memory": "extra_memory",
    "time": "time_complexity",
    "lower variance than RFF": "lower_variance_than_rff",
}

#: Measured exponents: what grows, in words, and its metric.
COSTS = {"bytes": "stored_bytes", "time": "time_transform_s", "set-up": "time_draw_s"}

#: Moments of the estimates: variance ratio in the layout of the map and with as many columns, and bias.
MOMENTS = ("variance_ratio", "variance_ratio_columns", "kernel_bias")

NOTES = (
    "Exponents: least squares on the logarithms, ± the standard error of the fit. bytes: all arrays that a map holds; "
    "time: CPU time of mapping rows, cosine and sine included; set-up: CPU time of drawing the map.",
    "Variance ratio: variance of the estimate of one kernel value over that of RFF in the same layout with as many "
    "frequencies, (1 - exp(-z^2))^2 / (2s) as [cos | sin] and 1 / (2s) more with random phases, at every dimension, "
    "distance and direction; at equal columns: over that of RFF as [cos | sin] with as many columns. Variance points: "
    f"how many have a ratio in the same layout below / not different from / above 1 by {SIGMAS:g} standard errors.",
    'Verdict on the published claim: "Yes" holds if the variance is lower at every point and fails if at none; "No" is '
    'the opposite; "The same" holds if it differs nowhere and fails if everywhere; partly: between. '
    "A lower variance is no smaller error where the map is biased.",
)


def make(context: Context, *, paper: str, published: str, methods: list[str]) -> Table:
    """Return time, memory and variance of every map: as stated, fitted exponents, measured ratios, and a verdict."""
    frame = shortest(context.rows)
    moments = [pooled(frame, metric) for metric in MOMENTS]
    published = select(context.published, paper=paper, experiment=published)
    exponents = {
        f"{what}, power of {symbol}": (metric, over)
        for what, metric in COSTS.items()
        for over, symbol in (("n_features", "s"), ("d", "d"))
    }
    rows = []
    for method, variant in methods_shown(frame, methods):
        of_method = select(published, method=method)
        texts = [settings.get("text", "not listed") for settings in settings_of(of_method)]
        stated = dict(zip(of_method["metric"], texts, strict=True))
        ours = select(frame, method=method, variant=variant)
        points, at_columns, bias = (select(each, method=method, variant=variant) for each in moments)
        counts = compared_with_rff(points)
        rows.append(
            {"method": method_cell(context, method, variant)}
            | {heading: stated.get(metric, "not listed") for heading, metric in PRINTED.items()}
            | {heading: exponent(growth(ours, metric, over)) for heading, (metric, over) in exponents.items()}
            | {
                "variance ratio": _range_of(points),
                "at equal columns": _range_of(at_columns),
                "variance points": _points(counts),
                "largest bias": _largest(bias),
                "verdict": lower_variance_verdict(counts, stated.get("lower_variance_than_rff", "")),
            }
        )
    table = pd.DataFrame(rows)
    parts = {"What is stated of memory, time and variance": list(PRINTED), "Measured exponents": list(exponents)}
    parts["Measured variance"] = [c for c in table.columns[1:] if c not in (*PRINTED, *exponents)]
    return Table(table, [*NOTES, *notes_on_draws(frame)], parts=parts, shown=frame)


def _range_of(points: pd.DataFrame) -> Cell:
    if not len(points):
        return absent("not run", "smallest", "largest")
    return span(points["value"].min(), points["value"].max(), ".2f")


def _points(counts: SignCounts) -> Cell:
    return Cell(str(counts), counts._asdict()) if counts.total else absent("not run", *counts._fields)


def _largest(bias: pd.DataFrame) -> Cell:
    if not len(bias):
        return absent("not run", "error")
    largest = bias.loc[bias["value"].abs().idxmax()]
    return with_error(largest["value"], largest["error"])
