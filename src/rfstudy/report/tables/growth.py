"""Tables of how errors, times and requirements grow with the size, and of the moments of kernel estimates."""

import numpy as np
import pandas as pd

from rfstudy.report import estimates
from rfstudy.report.aggregate import method_order, methods_shown, select, settings_of
from rfstudy.report.cells import absent, exponent, method_cell, span, with_error
from rfstudy.report.compare import Estimate
from rfstudy.report.estimates import SIGMAS
from rfstudy.report.notes import explained, notes_on_draws
from rfstudy.report.times import shortest
from rfstudy.report.typeset import Cell, Table

# --- rates ------------------------------------------------------------------------------------------------------------
# Fitted rates of the error of the kernel matrix and the stated ones.


#: The norms of the measured errors whose rate is stated, and by which name.
STATED_NORMS = {"sup": "sup", "l2": "lr", "delta_spectral": "delta_spectral"}


def rates(context, *, paper, published, methods, norms) -> Table:
    """Return the fitted power of s with which the error of the kernel matrix falls, and the powers of stated rates.

    A row per norm, map and dimension.

    Notes
    -----
    Fitted: least squares on the logarithms of all repeats, ± the standard error of the fit. Relative errors
    |K - K~| / |K|; delta spectral: smallest D with (1 - D)(K + n lambda I) <= K~ + n lambda I <= (1 + D)(...).

    Verdict: a stated rate is an upper bound; it holds unless the error falls more slowly by {SIGMAS:g} standard errors,
    "faster" where it falls faster by this margin. Logarithms are left out of the stated power.
    """
    frame, rows = context.rows, []
    printed = select(context.published, paper=paper, experiment=published)
    # a row may be about several maps
    printed = printed.assign(method=printed["method"].str.split(";")).explode("method")
    for norm in norms:
        stated_norm, name = STATED_NORMS.get(norm, norm), norm.replace("_", " ")
        stated = select(printed, metric=f"rate_exponent_in_s_{stated_norm}")
        words = select(printed, metric=f"convergence_rate_{stated_norm}")
        of_norm = select(frame, metric=f"approximation_error_{norm}", status="ok")
        rows += [{"norm": name, "map": absent("not run")}] if not len(of_norm) else []
        for method, variant in method_order(of_norm, methods):
            powers = sorted(set(select(stated, method=method)["value"]))
            texts = dict.fromkeys(s["text"] for s in settings_of(select(words, method=method)))
            values = {"fastest": powers[0], "slowest": powers[-1]} if powers else {"fastest": None, "slowest": None}
            for d, cell in select(of_norm, method=method, variant=variant).groupby("d"):
                fitted = estimates.power_law(cell["n_features"], cell["value"])
                rows.append(
                    {
                        "norm": name,
                        "map": method_cell(context, method, variant),
                        "d": d,
                        "stated rate": "; ".join(texts) or "none",
                        "stated power of s": Cell(", ".join(f"{power:g}" for power in powers) or "none", values),
                        "fitted power of s": exponent(fitted),
                        "s": span(cell["n_features"].min(), cell["n_features"].max()),
                        "verdict": _verdict(fitted, powers),
                    }
                )
    return Table(pd.DataFrame(rows), [*explained(rates), *_points_of(frame)], shown=frame)


def _verdict(fitted: Estimate | None, powers: list[float]) -> str:
    if not powers:
        return "no claim"
    if fitted is None:
        return "not run"
    fastest, slowest, bound = powers[0], powers[-1], SIGMAS * fitted.error
    verdict = "holds" if fitted.value <= slowest + bound else "fails"
    return f"{verdict}, faster" if fitted.value < fastest - bound else verdict


def _points_of(frame: pd.DataFrame) -> list[str]:
    counts = sorted(frame["n_train"].dropna().unique())
    ridges = sorted({s["ridge"] for s in settings_of(frame) if "ridge" in s})
    parts = [f"Normal points: {', '.join(map(str, counts))}"] if counts else []
    parts += [f"n lambda = {', '.join(f'{r:g}' for r in ridges)}"] if ridges else []
    return [f"{'; '.join(parts)}."] if parts else []


# --- complexities -----------------------------------------------------------------------------------------------------
# Cost and variance of the maps: what a paper states, and measurements.


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


def complexities(context, *, paper, published, methods) -> Table:
    """Return time, memory and variance of every map: as stated, fitted exponents, measured ratios, and a verdict.

    Notes
    -----
    Exponents: least squares on the logarithms, ± the standard error of the fit. bytes: all arrays that a map holds;
    time: CPU time of mapping rows, cosine and sine included; set-up: CPU time of drawing the map.

    Variance ratio: variance of the estimate of one kernel value over that of RFF with the same layout and number of
    frequencies, at every dimension, distance and direction. The variance of RFF is (1 - exp(-z^2))^2 / (2s) as
    [cos | sin], and 1 / (2s) more with random phases. At equal columns: over that of RFF as [cos | sin] with the same
    number of columns. Variance points: how many have a ratio in the same layout below / not different from / above 1 by
    {SIGMAS:g} standard errors.

    Verdict on the published claim: "Yes" holds if the variance is lower at every point and fails if at none; "No" is
    the opposite; "The same" holds if it differs nowhere and fails if everywhere; partly: between. A lower variance is
    no smaller error where the map is biased.
    """
    frame = shortest(context.rows)
    moments = [estimates.pooled(frame, metric) for metric in MOMENTS]
    published = select(context.published, paper=paper, experiment=published)
    exponents = {
        f"{what}, power of {symbol}": (metric, over)
        for what, metric in COSTS.items()
        for over, symbol in (("n_features", "s"), ("d", "d"))
    }
    rows, no_points = [], absent("not run", *estimates.SignCounts._fields)
    for method, variant in methods_shown(frame, methods):
        of_method = select(published, method=method)
        texts = [settings.get("text", "not listed") for settings in settings_of(of_method)]
        stated = dict(zip(of_method["metric"], texts, strict=True))
        ours = select(frame, method=method, variant=variant)
        points, at_columns, bias = (select(each, method=method, variant=variant) for each in moments)
        counts = estimates.tally(points["value"] - 1.0, points["error"])
        rows.append(
            {"method": method_cell(context, method, variant)}
            | {heading: stated.get(metric, "not listed") for heading, metric in PRINTED.items()}
            | {heading: exponent(estimates.growth(ours, metric, over)) for heading, (metric, over) in exponents.items()}
            | {
                "variance ratio": _range_of(points),
                "at equal columns": _range_of(at_columns),
                "variance points": Cell(str(counts), counts._asdict()) if any(counts) else no_points,
                "largest bias": _largest(bias),
                "verdict": estimates.lower_variance_verdict(counts, stated.get("lower_variance_than_rff", "")),
            }
        )
    table = pd.DataFrame(rows)
    parts = {"What is stated of memory, time and variance": list(PRINTED), "Measured exponents": list(exponents)}
    parts["Measured variance"] = [c for c in table.columns[1:] if c not in (*PRINTED, *exponents)]
    return Table(table, [*explained(complexities), *notes_on_draws(frame)], parts=parts, shown=frame)


def _range_of(points: pd.DataFrame) -> Cell:
    if not len(points):
        return absent("not run", "smallest", "largest")
    return span(points["value"].min(), points["value"].max(), ".2f")


def _largest(bias: pd.DataFrame) -> Cell:
    if not len(bias):
        return absent("not run", "error")
    largest = bias.loc[bias["value"].abs().idxmax()]
    return with_error(largest["value"], largest["error"])


# --- requirements -----------------------------------------------------------------------------------------------------
# How many features leverage sampling needs: the bounds of Liu et al. (AAAI 2020) next to measurements.
#
# The rows are risks by size, of the kind ``requirement``.


#: Columns that identify a requirement.
PLACE = ["decay", "n", "method", "variant"]

#: The bounds of Table 1 as published: functions of n. The polynomial decay that is measured has t = 1.
BOUNDS = {
    "log^2 n": lambda n: np.log(n) ** 2,
    "sqrt(n) loglog n": lambda n: np.sqrt(n) * np.log(np.log(n)),
    "n^(1/(4t)) log n": lambda n: n**0.25 * np.log(n),
    "sqrt(n) log n": lambda n: np.sqrt(n) * np.log(n),
}


def decay_of(printed: str) -> str:
    """Return "exponential" for "eigenvalue decay exponential: lambda_i ~ n exp(-c i), c > 0"."""
    return printed.split(":")[0].split()[-1]


def stated_bounds(published: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the name in ``BOUNDS`` of the bound for every decay and method among published rows."""
    rows = select(published, metric="required_features_bound")
    texts = [s["text"].removeprefix("s >= ") for s in settings_of(rows)]
    places = zip(map(decay_of, rows["dataset"]), rows["method"], strict=True)
    return dict(zip(places, texts, strict=True))


def features_needed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest size from which on the mean risk stays within the tolerance of the exact kernel's.

    There is one row per decay, n, method and variant (``PLACE``). It has ``s`` (missing if the largest size is not
    within the tolerance either); ``largest``, the largest size that was measured; and ``step``, the largest ratio of
    neighbouring sizes.
    """
    rows = select(frame, metric=["risk", "risk_exact"], status="ok")
    rows = rows.assign(
        n=rows["n_train"],
        decay=rows["kernel"].str.removeprefix("circle-"),
        tolerance=[s.get("tolerance", np.nan) for s in settings_of(rows)],
    )[[*PLACE, "metric", "n_features", "repeat", "value", "tolerance"]]
    found = []
    for place, cell in rows.groupby(PLACE, sort=False):
        exact = select(cell, metric="risk_exact").set_index("repeat")["value"]
        risks = select(cell, metric="risk").pivot(index="repeat", columns="n_features", values="value")
        tolerated = 1.0 + cell["tolerance"].iloc[0]
        sizes = risks.columns.to_numpy(dtype=float)
        too_small = sizes[~(risks.mean().to_numpy() <= tolerated * exact.mean())]
        enough = sizes[sizes > too_small.max(initial=0.0)]
        step = np.max(sizes[1:] / sizes[:-1], initial=1.0)
        found.append((*place, enough.min() if len(enough) else np.nan, risks.columns.max(), step))
    return pd.DataFrame(found, columns=[*PLACE, "s", "largest", "step"])


def growth_of_need(needed: pd.DataFrame) -> Estimate | None:
    """Return the power of n with which a requirement grows; None if fewer than three were met.

    The rows differ in n alone. A size is known up to the step between sizes only. Its logarithm is off by up to a step,
    evenly, which enters the error next to the error of the fit.
    """
    met = needed[needed["s"].notna()]
    power = estimates.power_law(met["n"], met["s"])
    if power is None:
        return None
    spread = np.log(met["n"].to_numpy(dtype=float))
    of_steps = np.log(met["step"].max()) / np.sqrt(12.0 * ((spread - spread.mean()) ** 2).sum())
    return power._replace(error=float(np.hypot(power.error, of_steps)))


def size_text(s: float, largest: int) -> str:
    """Return a requirement in words; one that was not met is more than the largest size."""
    return f"> {largest}" if np.isnan(s) else f"{s:.0f}"


#: The cell for an n that was not run.
NOT_RUN = absent("not run", "more than")


def requirements(context, *, paper, published, methods) -> Table:
    """Return the stated bounds on the number of features and what was needed at every n.

    A row per decay of the eigenvalues and way of sampling.

    Notes
    -----
    Needed: the smallest s from which on the mean risk of ridge regression at lambda = n^(-1/2) is within {percent:g} %
    of that of the exact kernel on the same data. The theorem behind the bounds allows a loss of 2 lambda. whole:
    frequencies drawn from the whole distribution, as in the theorems (the surrogate with its identity term); otherwise
    from a pool of s, as in the algorithms (without it).

    Power of n: ± the standard error of the fit and of the steps between sizes. Power of the bound: of its formula,
    fitted over the same n. Verdict: a bound holds unless what is needed grows faster than it by {SIGMAS:g} standard
    errors; its constant is not stated.

    Data: x uniform on a circle, labels -1 and +1 whose mean is a sum of three harmonics; kernels of {terms:,}
    harmonics, the polynomial decay with t = 1. Repeats: {repeats}, draws of a map in each: {draws}.
    """
    frame, rows = context.rows, []
    printed = select(context.published, paper=paper, experiment=published, metric="required_features_bound")
    bounds, needed = stated_bounds(printed), features_needed(frame)
    for formula in printed["dataset"].unique():
        of_decay = select(needed, decay=decay_of(formula))
        for method, variant in methods_shown(of_decay, methods):
            ours, bound = select(of_decay, method=method, variant=variant), bounds.get((decay_of(formula), method), "")
            met = ours.dropna(subset="s")["n"].to_numpy(dtype=float)
            power, stated = growth_of_need(ours), estimates.power_law(met, BOUNDS[bound](met)) if bound else None
            cells = {row.n: _needed(row.s, row.largest) for row in ours.itertuples()}
            verdict = "not run" if bound else "no claim"
            if power and stated:
                verdict = "holds" if power.value <= stated.value + SIGMAS * power.error else "fails"
            rows.append(
                {
                    "eigenvalues": formula.split(": ", 1)[1],
                    "method": method_cell(context, method, variant),
                    "stated": bound,
                    **{f"needed, n = {n}": cells.get(n, NOT_RUN) for n in sorted(set(needed["n"]))},
                    "power of n": exponent(power),
                    "power of the bound": Cell(f"{stated.value:.2f}", {"": stated.value}) if stated else "",
                    "verdict": verdict,
                }
            )
    risks = select(frame, metric="risk")
    remarks = []
    for about in settings_of(risks)[:1]:
        percent = 100 * max(each["tolerance"] for each in settings_of(risks))
        remarks = explained(requirements, percent=percent, repeats=risks["repeat"].nunique(), **about)
    return Table(pd.DataFrame(rows), remarks, shown=frame)


def _needed(s: float, largest: int) -> Cell:
    """Return the cell of a requirement; if it was not met, the largest size, which is not enough."""
    return Cell(size_text(s, largest), {"": s, "more than": largest if np.isnan(s) else None, "remark": ""})


# --- pairs ------------------------------------------------------------------------------------------------------------
# One quantity of the estimate of a kernel value, by map, direction and dimension.


def pairs(context, *, methods, quantity) -> Table:
    """Return one quantity of the estimate of a kernel value by map, direction and dimension, a column per distance.

    Notes
    -----
    z: distance of the two points in length scales. axis: they differ in the first coordinate only.

    The distances of a row share their draws.
    """
    frame, metric = context.rows, quantity["metric"]
    points = estimates.pooled(frame, metric)
    distances = {f"z = {z:g}": {"distance": z, "metric": metric} for z in sorted(set(points["distance"]))}
    rows = []
    for method, variant in methods_shown(frame, methods):
        name, ours = method_cell(context, method, variant), select(points, method=method, variant=variant)
        if not len(ours):
            rows.append({"map": name, "direction": absent("not run")})
        for (direction, d, s), group in ours.groupby(["direction", "d", "n_features"]):
            place = {"map": name, "direction": Cell(direction, {"": direction, "remark": ""}), "d": d, "s": s}
            rows.append(place | {f"z = {p.distance:g}": with_error(p.value, p.error) for p in group.itertuples()})
    columns = ["map", "direction", *(("d", "s") if distances else ()), *distances]
    remarks = [*explained(pairs), *notes_on_draws(frame)]
    return Table(pd.DataFrame(rows, columns=columns), remarks, distances, shown=frame)
