"""What a paper states about cost and variance of the maps, beside measurements."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import methods_shown, select, settings_of
from rfstudy.report.cells import absent, exponent, method_cell, span, with_error
from rfstudy.report.context import Context
from rfstudy.report.estimates import (
    SIGMAS,
    Tally,
    compared_with_rff,
    growth,
    lower_variance_verdict,
    of_map,
    pooled,
)
from rfstudy.report.notes import notes, notes_on_draws
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.times import shortest
from rfstudy.report.typeset import Cell, Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("published", "methods")


#: Printed columns: heading and metric.
PRINTED = {
    "kernels": "kernels_supported",
    "extra memory": "extra_memory",
    "time": "time_complexity",
    "lower variance than RFF": "lower_variance_than_rff",
}

#: Measured exponents: what grows, in words, and its metric.
COSTS = {"bytes": "stored_bytes", "time": "time_transform_s", "set-up": "time_draw_s"}

#: What variances are judged by: in the layout of the map, with as many columns, and the bias beside them.
MOMENTS = ("variance_ratio", "variance_ratio_columns", "kernel_bias")

COSTS_NOTE = (
    "Exponents: least squares on the logarithms, ± the standard error of the fit. bytes: all arrays that a map holds; "
    "time: CPU time of mapping rows, cosine and sine included; set-up: CPU time of drawing the map."
)

VARIANCE_NOTE = (
    "Variance ratio: variance of the estimate of one kernel value over that of RFF in the same layout with as many "
    "frequencies, (1 - exp(-z^2))^2 / (2s) as [cos | sin] and 1 / (2s) more with random phases, at every dimension, "
    "distance and direction that was measured; at equal columns: over that of RFF as [cos | sin] with as many columns. "
    "Variance points, lower / even / higher: points whose ratio in the same layout is below 1, not told "
    f"from 1, above 1, by {SIGMAS:g} standard errors."
)

VERDICT_NOTE = (
    'Verdict on the printed claim: "Yes" holds if the variance is lower at every point and fails if at none; "No" the '
    'other way round; "The same" holds if it differs nowhere and fails if everywhere; partly: between. '
    "A lower variance is no smaller error where the map is biased."
)


def make(context: Context, spec: dict) -> Table:
    """Time, memory and variance of every map: as stated, with fitted exponents and measured ratios, and a verdict."""
    frame = shortest(context.rows)
    moments = [pooled(frame, metric) for metric in MOMENTS]
    printed = select(context.published, paper=spec["paper"], experiment=spec["published"])
    rows = []
    for method, variant in methods_shown(frame, spec["methods"]):
        stated = _stated(select(printed, method=method))
        ours = select(frame, method=method, variant=variant)
        points, at_columns, bias = (of_map(each, method, variant) for each in moments)
        row = {"method": method_cell(context, method, variant)}
        row |= {heading: stated.get(metric, "not listed") for heading, metric in PRINTED.items()}
        for what, metric in COSTS.items():
            for over, symbol in (("n_features", "s"), ("d", "d")):
                row[f"{what}, power of {symbol}"] = exponent(growth(ours, metric, over))
        counts = compared_with_rff(points)
        row |= _ratio_cells(points, at_columns, bias, counts)
        row["verdict"] = lower_variance_verdict(counts, stated.get("lower_variance_than_rff", ""))
        rows.append(row)
    remarks = [
        COSTS_NOTE,
        VARIANCE_NOTE,
        VERDICT_NOTE,
        *notes_on_draws(frame),
        *_columns(frame, context.styles),
        *_threads(frame),
    ]
    table = pd.DataFrame(rows)
    measured = [f"{what}, power of {symbol}" for what in COSTS for symbol in ("s", "d")]
    parts = {"What is stated of memory, time and variance": list(PRINTED), "Measured exponents": measured}
    parts["Measured variance"] = [c for c in table.columns[1:] if c not in (*PRINTED, *measured)]
    remarks += notes(frame, spec, context)
    return Table(spec["name"], table, spec["caption"], remarks, parts=parts)


def _stated(printed: pd.DataFrame) -> dict[str, str]:
    return {metric: s["text"] for metric, s in zip(printed["metric"], settings_of(printed), strict=True) if "text" in s}


def _range_of(points: pd.DataFrame) -> Cell:
    if not len(points):
        return absent("not run", "smallest", "largest")
    return span(points["value"].min(), points["value"].max(), ".2f")


def _ratio_cells(points: pd.DataFrame, at_columns: pd.DataFrame, bias: pd.DataFrame, counts: Tally) -> dict:
    ratios = {"variance ratio": _range_of(points), "at equal columns": _range_of(at_columns)}
    if not counts.total:
        return ratios | {
            "variance points": absent("not run", "lower", "even", "higher"),
            "largest bias": absent("not run", "error"),
        }
    largest = bias.loc[bias["value"].abs().idxmax()]
    return ratios | {
        "variance points": Cell(str(counts), counts._asdict()),
        "largest bias": with_error(largest["value"], largest["error"]),
    }


def _columns(frame: pd.DataFrame, styles: dict) -> list[str]:
    rows = frame[frame["n_columns"].notna()]
    halves = rows[rows["n_columns"] == rows["n_features"]]["method"].unique()
    if not len(halves):
        return []
    names = ", ".join(plot_style(method, styles).label for method in halves)
    return [f"{names}: features with random phases, s columns, half those of [cos | sin]."]


def _threads(frame: pd.DataFrame) -> list[str]:
    threads = sorted({s["threads"] for s in settings_of(select(frame, metric="time_draw_s"))})
    return [f"Threads of the timings: {', '.join(map(str, threads))}."] if threads else []
