"""Tables that set what a paper states about the maps themselves beside measurements: costs, variances and rates."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import method_order, select, settings_of
from rfstudy.report.estimates import (
    SIGMAS,
    Power,
    Tally,
    compared_with_rff,
    growth,
    lower_variance_verdict,
    of_map,
    pooled,
    power_law,
)
from rfstudy.report.looks import look
from rfstudy.report.notes import notes
from rfstudy.report.times import shortest
from rfstudy.report.typeset import Table

#: Printed columns: heading and metric.
PRINTED = {
    "kernels": "kernels_supported",
    "extra memory": "extra_memory",
    "time": "time_complexity",
    "lower variance than RFF": "lower_variance_than_rff",
}

#: Measured exponents: what grows, in words, and its metric.
COSTS = {"bytes": "stored_bytes", "time": "time_transform_s", "set-up": "time_draw_s"}

#: The norms of the measured errors whose rate is stated, and by which name.
STATED_NORMS = {"sup": "sup", "l2": "lr", "delta_spectral": "delta_spectral"}

COSTS_NOTE = (
    "Exponents: least squares on the logarithms, ± the standard error of the fit. bytes: all arrays that a map holds; "
    "time: CPU time of mapping rows, cosine and sine included; set-up: CPU time of drawing the map."
)
VARIANCE_NOTE = (
    "Variance ratio: variance of the estimate of one kernel value over that of RFF with as many frequencies, "
    "(1 - exp(-z^2))^2 / (2s), at every dimension, distance and direction that was measured. Lower / even / higher: "
    f"points whose ratio is below 1, not told apart from 1, above 1, by {SIGMAS:g} standard errors."
)
VERDICT_NOTE = (
    'Verdict on the printed claim: "Yes" holds if the variance is lower at every point and fails if at none; "No" the '
    'other way round; "The same" holds if it differs nowhere and fails if everywhere; partly: between. '
    "A lower variance is no smaller error where the map is biased."
)


def complexities(frame, spec, methods, datasets, published) -> Table:
    """Time, memory and variance of every map: as stated, with fitted exponents and measured ratios, and a verdict."""
    frame = shortest(frame)
    ratios, biases = pooled(frame, "variance_ratio"), pooled(frame, "kernel_bias")
    printed = select(published, paper=spec["paper"], experiment=spec["published"])
    rows = []
    for method, variant in _maps(frame, spec):
        stated = _stated(select(printed, method=method))
        ours, points, bias = (
            select(frame, method=method, variant=variant),
            *(of_map(each, method, variant) for each in (ratios, biases)),
        )
        row = {"method": look(method, methods, variant).label}
        row |= {heading: stated.get(metric, "not listed") for heading, metric in PRINTED.items()}
        for what, metric in COSTS.items():
            for over, symbol in (("n_features", "s"), ("d", "d")):
                row[f"{what}, power of {symbol}"] = exponent(growth(ours, metric, over))
        counts = compared_with_rff(points)
        row |= _ratio_cells(points, bias, counts)
        row["verdict"] = lower_variance_verdict(counts, stated.get("lower_variance_than_rff", ""))
        rows.append(row)
    remarks = [COSTS_NOTE, VARIANCE_NOTE, VERDICT_NOTE, *_draws(frame), *_columns(frame, methods), *_threads(frame)]
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks + notes(frame, spec, methods, datasets))


def _maps(frame: pd.DataFrame, spec: dict) -> list[tuple[str, str]]:
    """(method, variant) of every map in the rows; where there are no rows, the maps that the table is about."""
    return method_order(frame, spec["methods"]) or [(method, "") for method in spec["methods"]]


def _stated(printed: pd.DataFrame) -> dict[str, str]:
    return {metric: s["text"] for metric, s in zip(printed["metric"], settings_of(printed), strict=True) if "text" in s}


def exponent(power: Power | None) -> str:
    """A fitted exponent as a cell."""
    return "not run" if power is None else str(power)


def _ratio_cells(points: pd.DataFrame, bias: pd.DataFrame, counts: Tally) -> dict:
    if not counts.total:
        return dict.fromkeys(("variance ratio", "lower / even / higher", "largest bias"), "not run")
    largest = bias.loc[bias["value"].abs().idxmax()]
    return {
        "variance ratio": f"{points['value'].min():.2f} to {points['value'].max():.2f}",
        "lower / even / higher": str(counts),
        "largest bias": with_error(largest["value"], largest["error"]),
    }


def with_error(value: float, error: float) -> str:
    """A number and its standard error, to two digits of the error: "0.0241 ± 0.0018"; rounding is no error."""
    if error <= 1e-12 * max(1.0, abs(value)):
        return f"{value:.3g} ± 0"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def _draws(frame: pd.DataFrame) -> list[str]:
    rows = select(frame, metric="kernel_bias")
    numbers = {s["draws"] for s in settings_of(rows)}
    sizes = dict.fromkeys(rows["n_features_label"])
    if not numbers:
        return []
    draws = max(numbers) * rows["repeat"].nunique()
    return [f"Draws of a map at every dimension: {draws}; s = {', '.join(sizes)}. ±: one standard error."]


def _columns(frame: pd.DataFrame, methods: dict) -> list[str]:
    rows = frame[frame["n_columns"].notna()]
    halves = rows[rows["n_columns"] == rows["n_features"]]["method"].unique()
    if not len(halves):
        return []
    names = ", ".join(look(method, methods).label for method in halves)
    return [f"{names}: s columns, half those of RFF; at the same number of columns the ratio is half of what is shown."]


def _threads(frame: pd.DataFrame) -> list[str]:
    threads = sorted({s["threads"] for s in settings_of(select(frame, metric="time_draw_s"))})
    return [f"Threads of the timings: {', '.join(map(str, threads))}."] if threads else []


def pairs(frame, spec, methods, datasets, published) -> Table:
    """One quantity of the estimate of a kernel value, by map, direction and dimension; one column a distance."""
    points = pooled(frame, spec["quantity"]["metric"])
    rows = []
    for method, variant in _maps(frame, spec):
        ours = of_map(points, method, variant)
        if not len(ours):
            rows.append({"map": look(method, methods, variant).label, "direction": "not run"})
        for (direction, d, s), group in ours.groupby(["direction", "d", "n_features"], sort=False):
            cells = {
                f"z = {z:g}": with_error(value, error)
                for z, value, error in zip(group["distance"], group["value"], group["error"], strict=True)
            }
            rows.append({"map": look(method, methods, variant).label, "direction": direction, "d": d, "s": s, **cells})
    remarks = [
        "z: distance of the two points in length scales. axis: they differ in the first coordinate only.",
        "The distances of a row share their draws.",
        *_draws(frame),
    ]
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks + notes(frame, spec, methods, datasets))


def rates(frame, spec, methods, datasets, published) -> Table:
    """The fitted power of s with which the error of the kernel matrix falls, by norm, map and dimension, beside the
    powers of the stated rates.
    """
    printed = select(published, paper=spec["paper"], experiment=spec["published"])
    rows = []
    for norm in spec["norms"]:
        metric = f"approximation_error_{norm}"
        stated = select(printed, metric=f"rate_exponent_in_s_{STATED_NORMS.get(norm, norm)}")
        words = select(printed, metric=f"convergence_rate_{STATED_NORMS.get(norm, norm)}")
        of_norm = select(frame, metric=metric, status="ok")
        if not len(of_norm):
            rows.append({"norm": norm.replace("_", " "), "map": "not run"})
        for method, variant in method_order(of_norm, spec["methods"]):
            powers = sorted(set(_about(stated, method)["value"]))
            texts = [s["text"] for s in settings_of(_about(words, method))]
            for d, cell in select(of_norm, method=method, variant=variant).groupby("d"):
                fitted = power_law(cell["n_features"], cell["value"])
                rows.append(
                    {
                        "norm": norm.replace("_", " "),
                        "map": look(method, methods, variant).label,
                        "d": d,
                        "stated rate": "; ".join(dict.fromkeys(texts)) or "none",
                        "stated power of s": ", ".join(f"{p:g}" for p in powers) or "none",
                        "fitted power of s": exponent(fitted),
                        "s": f"{cell['n_features'].min()} to {cell['n_features'].max()}",
                        "verdict": _rate_verdict(fitted, powers),
                    }
                )
    remarks = [
        "Fitted: least squares on the logarithms of all repeats, ± the standard error of the fit. Relative errors "
        "|K - K~| / |K|; delta spectral: smallest D with (1 - D)(K + n lambda I) <= K~ + n lambda I <= (1 + D)(...).",
        f"Verdict: a stated rate is an upper bound; it holds unless the error falls more slowly by {SIGMAS:g} standard "
        'errors, "faster" where it falls faster by as much. Logarithms are left out of the stated power.',
        *_points(frame),
    ]
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks + notes(frame, spec, methods, datasets))


def _about(printed: pd.DataFrame, method: str) -> pd.DataFrame:
    """The printed rows about a map; a row may be about several."""
    return printed[np.array([method in names.split(";") for names in printed["method"]], dtype=bool)]


def _rate_verdict(fitted: Power | None, powers: list[float]) -> str:
    if not powers:
        return "no claim"
    if fitted is None:
        return "not run"
    slowest, bound = max(powers), SIGMAS * fitted.error
    if fitted.exponent > slowest + bound:
        return "fails"
    return "holds, faster" if fitted.exponent < min(powers) - bound else "holds"


def _points(frame: pd.DataFrame) -> list[str]:
    counts = sorted(frame["n_train"].dropna().unique())
    ridges = sorted({s["ridge"] for s in settings_of(frame) if "ridge" in s})
    told = [f"Normal points: {', '.join(map(str, counts))}"] if counts else []
    told += [f"n lambda = {', '.join(f'{r:g}' for r in ridges)}"] if ridges else []
    return [f"{'; '.join(told)}."] if told else []
