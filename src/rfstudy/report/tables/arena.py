"""Maps against a baseline at equal columns over many data sets; docs/arena.md states the protocol.

The effect on a data set is the logarithm of the ratio of two errors, each summed over the folds of the data set. Its
variance is the jackknife's over the folds. Over the data sets, a random-effects mean has the interval of Hartung and
Knapp (Statistics in Medicine 20, 2001), by statsmodels.
"""

import hashlib
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit
from statsmodels.stats.meta_analysis import combine_effects

from rfstudy.report.aggregate import of_quantity, select
from rfstudy.report.cells import method_cell
from rfstudy.report.compare import LEVEL, Estimate, holm
from rfstudy.report.context import Context
from rfstudy.report.typeset import Cell, Table

#: Two maps are equivalent if their errors differ by less than this share.
MARGIN = 0.02

#: A data set with labels counts where the baseline makes as many errors.
LEAST_ERRORS = 50

#: What identifies an effect: a data set, a number of columns, and an entry.
EFFECT = ["dataset", "columns", "method", "variant"]


class Combined(NamedTuple):
    """Effects of several data sets together: ``mean`` with its interval, the deviation ``tau`` of the true effects, the
    interval in which a new data set is expected, and the p-value of "not equivalent".
    """

    mean: Estimate
    tau: float
    new: tuple[float, float]
    p_equivalent: float


def errors_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the error of every cell, summed over its test rows: squared errors (``mse``) or wrong labels
    (``accuracy_pct``). Columns: those of ``EFFECT``, ``repeat``, ``wrong`` (the sum) and ``counts`` (whether it is a
    number of labels).
    """
    ok = select(rows, status="ok").dropna(subset=["n_columns", "n_features", "n_test"])
    counts = ok["metric"].eq("accuracy_pct")
    share = ok["value"].where(~counts, 1.0 - ok["value"] / 100.0)
    # the number asked for: Nyström drops columns where the rank of its kernel matrix is lower
    per_feature = (ok["n_columns"] / ok["n_features"]).groupby([ok["method"], ok["variant"]]).transform("max")
    columns = (ok["n_features"] * per_feature).round().astype(int)
    return ok.assign(columns=columns, wrong=share * ok["n_test"], counts=counts)[[*EFFECT, "repeat", "wrong", "counts"]]


def effects_of(errors: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Return the effect of every entry against the baseline: columns of ``EFFECT``, ``effect``, ``variance``, ``folds``
    and ``wrong`` (the errors of the baseline, of labels only).
    """
    of_baseline = select(errors, method=baseline, variant="").groupby(["dataset", "columns"])
    at_baseline = {place: own.set_index("repeat")["wrong"] for place, own in of_baseline}
    found = []
    for cell, own in errors.groupby(EFFECT, sort=False):
        dataset, columns, method, variant = cell
        if (method, variant) == (baseline, "") or (dataset, columns) not in at_baseline:
            continue
        one, other = own.set_index("repeat")["wrong"].align(at_baseline[dataset, columns], join="inner")
        half = 0.5 if own["counts"].iloc[0] else 0.0
        if len(one) < 2 or (half and other.sum() < LEAST_ERRORS):
            continue
        left_out = log_ratio(one.sum() - one, other.sum() - other, half)
        variance = (len(one) - 1) * left_out.var(ddof=0)
        effect = log_ratio(one.sum(), other.sum(), half)
        found.append((*cell, effect, variance, len(one), other.sum() if half else np.nan))
    return pd.DataFrame(found, columns=[*EFFECT, "effect", "variance", "folds", "wrong"])


def log_ratio(one, other, half: float):
    """Return the logarithm of the ratio of two sums of errors; of labels, one half is added to both."""
    return np.log((one + half) / (other + half))


def combined(effect, variance) -> Combined:
    """Return the random-effects mean of effects (k,) with variances (k,), k >= 3.

    The deviation between data sets is that of Paule and Mandel, the interval that of Hartung and Knapp. The prediction
    interval has k - 2 degrees of freedom.
    """
    effect, variance = np.asarray(effect, dtype=np.float64), np.maximum(np.asarray(variance, dtype=np.float64), 1e-12)
    found, k = combine_effects(effect, variance, method_re="iterated", use_t=True), len(effect)
    value, tau_squared = float(found.mean_effect_re), max(0.0, float(found.tau2))
    error, df = float(found.sd_eff_w_re_hksj), k - 1.0
    half = stdtrit(df, 1.0 - LEVEL / 2) * error
    new = stdtrit(k - 2.0, 1.0 - LEVEL / 2) * np.sqrt(tau_squared + error**2)
    p = float(2.0 * stdtr(df, -abs(value) / error))
    p_equivalent = float(stdtr(df, (abs(value) - np.log1p(MARGIN)) / error))
    mean = Estimate(value, value - half, value + half, error, p, k, df=df)
    return Combined(mean, float(np.sqrt(tau_squared)), (value - new, value + new), p_equivalent)


def verdicts(of_maps: list[Combined], controls: list[Combined]) -> list[str]:
    """Return better, worse, equal or undecided for the maps at one number of columns, by Holm's correction.

    No map is equal unless the controls are: other draws of the baseline, of whose p-values the median counts.
    """
    ps = holm([each.mean.p for each in of_maps])
    is_fine = bool(controls) and np.median([each.p_equivalent for each in controls]) < LEVEL
    return [
        ("better" if each.mean.value < 0 else "worse")
        if p < LEVEL
        else "equal"
        if is_fine and each.p_equivalent < LEVEL
        else "undecided"
        for each, p in zip(of_maps, ps, strict=True)
    ]


def half_of(datasets: pd.DataFrame) -> pd.Series:
    """Return 0 or 1, the half of each data set, by its id. ``datasets`` has the columns dataset and ``stratum``.

    Within a stratum, the ids in the order of their SHA-256 take turns.
    """
    digest = datasets["dataset"].map(lambda name: hashlib.sha256(name.encode()).hexdigest())
    turn = datasets.assign(digest=digest).sort_values("digest").groupby("stratum").cumcount()
    return (turn % 2).reindex(datasets.index).set_axis(datasets["dataset"])


def false_verdicts(variances: list[np.ndarray], taus: list[float], simulations: int, seed: int) -> float:
    """Return the share of simulations in which any map is better or worse, although no effect differs from zero.

    ``variances`` and ``taus`` are those of the maps at one number of columns.
    """
    rng, found = np.random.default_rng(seed), 0
    for _ in range(simulations):
        drawn = [
            combined(rng.standard_normal(len(of)) * np.sqrt(of + tau**2), of)
            for of, tau in zip(variances, taus, strict=True)
        ]
        found += min(holm([each.mean.p for each in drawn])) < LEVEL
    return found / simulations


def percent(ratio: float) -> float:
    """Return the logarithm of a ratio as a change in percent."""
    return round(100.0 * float(np.expm1(ratio)), 1)


def arena(context: Context, *, paper, datasets, methods, baseline, quantity) -> Table:
    """Return a row per number of columns and map: its error relative to the baseline's over the data sets, with its
    interval, and the verdict.

    The metric of ``quantity`` is that of data sets with labels; the error of a regression is its ``mse``.
    """
    rows = select(context.rows, dataset=datasets)
    frame = pd.concat([of_quantity(rows, quantity), of_quantity(rows, quantity | {"metric": "mse"})])
    effects, rows = effects_of(errors_of(frame), baseline), []
    for columns, at_columns in effects.groupby("columns"):
        cells = [(who, own) for who, own in at_columns.groupby(["method", "variant"]) if len(own) >= 3]
        found = {who: combined(own["effect"], own["variance"]) for who, own in cells}
        controls = [each for who, each in found.items() if who[0] == baseline]
        named = [who for who in found if who[0] in methods]
        for who, verdict in zip(named, verdicts([found[who] for who in named], controls), strict=True):
            mean, tau, new, _ = found[who]
            own = dict(cells)[who]
            reach = own["variance"] ** 0.5 * stdtrit(own["folds"] - 1.0, 1.0 - LEVEL / 2)
            low, high = percent(mean.low), percent(mean.high)
            rows.append(
                {
                    "D": columns,
                    "map": method_cell(context, *who),
                    "sets": len(own),
                    "error, %": percent(mean.value),
                    "interval": Cell(f"{low:+.1f} to {high:+.1f}", {"low": low, "high": high}),
                    "new set": Cell(f"{percent(new[0]):+.1f} to {percent(new[1]):+.1f}"),
                    "tau": round(100.0 * tau, 1),
                    "won": int((own["effect"] < -reach).sum()),
                    "lost": int((own["effect"] > reach).sum()),
                    "detectable, %": percent(float(mean.detectable)),
                    "verdict": verdict,
                }
            )
    note = (
        f"Error relative to {context.label(baseline)}'s: random-effects mean over the data sets, interval of Hartung "
        "and Knapp; Holm's correction over the maps at one D. Equal: less than "
        f"{MARGIN:.0%}, by two one-sided tests, and other draws of it are equal, too (median of their p-values)."
    )
    return Table(pd.DataFrame(rows or [{"D": "not run"}]), [note], shown=frame)
