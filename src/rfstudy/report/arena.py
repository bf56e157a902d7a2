"""Maps against a baseline at equal columns over many data sets; docs/arena.md states the protocol.

The effect on a data set is the logarithm of the ratio of two errors, each summed over the folds of the data set. Its
variance is the jackknife's over the folds. The data sets are a sample: a mean over them says what is expected on
others. Its interval is that of Hartung and Knapp (Statistics in Medicine 20, 2001) with equal weights, and the
deviation between data sets is that of Hedges and Olkin (Statistical Methods for Meta-Analysis, 1985, chapter 9).
"""

import hashlib
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from rfstudy.report.aggregate import columns_asked_for, facts_of, of_quantity, select, settings_of
from rfstudy.report.compare import LEVEL, Estimate, holm
from rfstudy.report.context import Context

#: Two maps are equivalent if their errors differ by less than this share.
MARGIN = 0.02

#: A data set with labels counts where the baseline makes as many errors.
LEAST_ERRORS = 50

#: A mean over data sets needs as many.
LEAST_SETS = 3

#: What identifies an effect: a data set, a number of columns, and an entry.
EFFECT = ["dataset", "columns", "method", "variant"]

#: The flags of a data set and their thresholds: the share of its rows that repeat an earlier one, the correlation of
#: the target with that of the next row, and the share of the variance that a yardstick explains.
FLAGS = {"duplicates": 0.2, "ordered": 0.5, "no signal": 0.05}

#: Rows from which a data set tests on three folds; it and the task are the strata of the halves.
LARGE = 10_000


# --- errors and effects -----------------------------------------------------------------------------------------------


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
    return summed(ok.assign(columns=columns_asked_for(ok)), [*EFFECT, "repeat"])


def yardsticks_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the errors of predictors without a map as ``errors_of`` does, by ``dataset`` and ``learner``."""
    own = select(rows, status="ok", metric=["accuracy_pct", "rmse"], method="", split="test")
    return summed(own, ["dataset", "learner", "repeat"])


def summed(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return rows with ``wrong``, the error summed over the test rows, and ``counts``, whether it is a whole number of
    labels.
    """
    counts, squared = rows["metric"].eq("accuracy_pct"), rows["metric"].eq("rmse")
    mean = rows["value"].where(~squared, rows["value"] ** 2).where(~counts, 1.0 - rows["value"] / 100.0)
    wrong = mean * rows["n_test"]
    return rows.assign(wrong=wrong.where(~counts, wrong.round()), counts=counts)[[*columns, "wrong", "counts"]]


def effects_of(errors: pd.DataFrame, baseline: str, draw: str = "") -> pd.DataFrame:
    """Return the effect of every entry against a draw (a variant) of the baseline: columns of ``EFFECT``, ``effect``,
    ``variance``, ``folds`` and ``wrong`` (the errors of the baseline, of labels only).
    """
    found = []
    for place, own in errors.groupby(["dataset", "columns"], sort=False):
        by_entry = own.set_index(["repeat", "method", "variant"])["wrong"].unstack(["method", "variant"])
        if (baseline, draw) in by_entry:
            found += against(by_entry, by_entry[baseline, draw], own["counts"].any(), place)
    effects = pd.DataFrame(found, columns=[*EFFECT, "effect", "variance", "folds", "wrong"])
    return effects[(effects["method"] != baseline) | (effects["variant"] != draw)].reset_index(drop=True)


def gaps_of(errors: pd.DataFrame, yardsticks: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Return the effect of the yardsticks against the baseline on its folds, as ``effects_of`` does, by ``learner``."""
    found = []
    for place, own in select(errors, method=baseline, variant="").groupby(["dataset", "columns"], sort=False):
        of_set = select(yardsticks, dataset=[place[0]]).set_index(["repeat", "learner"])["wrong"].unstack("learner")
        found += against(of_set, own.set_index("repeat")["wrong"], own["counts"].any(), place)
    return pd.DataFrame(found, columns=["dataset", "columns", "learner", "effect", "variance", "folds", "wrong"])


def against(errors: pd.DataFrame, other: pd.Series, counts: bool, place: tuple) -> list[tuple]:
    """Return ``place``, the name of a column of errors by repeat, its effect against ``other``, the variance, the
    number of folds that both have, and the errors of ``other`` there if they count labels.

    There is no effect with fewer than two folds, or with fewer than ``LEAST_ERRORS`` wrong labels.
    """
    half, others, found = 0.5 if counts else 0.0, other.to_numpy(dtype=np.float64), []
    for name, one in errors.reindex(other.index).astype(np.float64).items():
        there = one.notna().to_numpy()
        own, theirs = one.to_numpy()[there], others[there]
        total, errors_of_other = own.sum(), theirs.sum()
        if len(own) < 2 or (counts and errors_of_other < LEAST_ERRORS):
            continue
        left_out = log_ratio(total - own, errors_of_other - theirs, half)
        effect, variance = log_ratio(total, errors_of_other, half), (len(own) - 1) * left_out.var()
        who = name if isinstance(name, tuple) else (name,)
        found.append((*place, *who, effect, variance, len(own), errors_of_other if counts else np.nan))
    return found


def log_ratio(one, other, half: float):
    """Return the logarithm of the ratio of two sums of errors; of labels, one half is added to both."""
    return np.log((one + half) / (other + half))


# --- over data sets ---------------------------------------------------------------------------------------------------


def combined(effect, variance) -> Combined:
    """Return the mean of effects (..., k) with variances (..., k), k >= 3, as a sample of data sets.

    All data sets count alike, and the interval is that of Student's t: Hartung and Knapp's with equal weights. Weights
    by the variances would be larger where a variance happens to be small, and three folds estimate it too badly
    (``false_verdicts``). The deviation between data sets is the moment estimator, the variance of the effects without
    the mean of their own variances. The prediction interval has k - 2 degrees of freedom. Of leading axes, all fields
    are arrays.
    """
    effect, variance = np.asarray(effect, dtype=np.float64), np.asarray(variance, dtype=np.float64)
    k, value, spread = effect.shape[-1], effect.mean(axis=-1), effect.var(axis=-1, ddof=1)
    error, df = np.sqrt(np.maximum(spread, 1e-24) / k), k - 1.0
    tau_squared = np.maximum(spread - variance.mean(axis=-1), 0.0)
    half = stdtrit(df, 1.0 - LEVEL / 2) * error
    new = stdtrit(k - 2.0, 1.0 - LEVEL / 2) * np.sqrt(tau_squared + error**2)
    p = 2.0 * stdtr(df, -abs(value) / error)
    p_equivalent = stdtr(df, (abs(value) - np.log1p(MARGIN)) / error)
    mean = Estimate(value, value - half, value + half, error, p, k, df=df)
    return Combined(mean, np.sqrt(tau_squared), (value - new, value + new), p_equivalent)


def verdicts(of_maps: list[Combined], controls: list[Combined]) -> list[str]:
    """Return better, worse, equal or undecided for the maps at one number of columns, by Holm's correction.

    No map is equal unless the controls are: other draws of the baseline, of whose p-values the median counts.
    """
    found = [(each.mean.value, each.mean.p, each.p_equivalent) for each in of_maps]
    value, p, p_equivalent = np.reshape(found, (-1, 3)).T
    is_effect, is_fine = holm(p) < LEVEL, bool(controls) and np.median([c.p_equivalent for c in controls]) < LEVEL
    rules = {"better": is_effect & (value < 0), "worse": is_effect, "equal": is_fine & (p_equivalent < LEVEL)}
    return np.select(list(rules.values()), list(rules), "undecided").tolist()


def half_of(datasets: pd.DataFrame) -> pd.Series:
    """Return 0 or 1, the half of each data set, by its id. ``datasets`` has the columns dataset and ``stratum``.

    Within a stratum, the ids in the order of their SHA-256 take turns.
    """
    digest = datasets["dataset"].map(lambda name: hashlib.sha256(name.encode()).hexdigest())
    turn = datasets.assign(digest=digest).sort_values("digest").groupby("stratum").cumcount()
    return (turn % 2).reindex(datasets.index).set_axis(datasets["dataset"])


def strata_of(tasks: dict, datasets: list[str]) -> pd.DataFrame:
    """Return the stratum of data sets, by the registry: regression or labels, and whether they have over ``LARGE``
    rows.
    """
    kinds = ["regression" if tasks[name].get("target") == "regression" else "labels" for name in datasets]
    size = ["large" if tasks[name]["n"] > LARGE else "small" for name in datasets]
    return pd.DataFrame({"dataset": datasets, "stratum": [" ".join(each) for each in zip(size, kinds, strict=True)]})


def false_verdicts(variances: list, taus: list[float], folds: list, simulations: int, seed: int) -> float:
    """Return the share of simulations in which any map is better or worse, although no mean differs from zero.

    ``variances``, ``taus`` and ``folds`` are those of the maps at one number of columns. An effect is the mean over its
    folds, whose deviations are normal, and its variance is estimated from them.
    """
    rng, least = np.random.default_rng(seed), []
    for variance, tau, n_folds in zip(variances, taus, folds, strict=True):
        variance, df = np.asarray(variance, dtype=np.float64), np.asarray(n_folds) - 1.0
        shape = (simulations, len(variance))
        effect = rng.standard_normal(shape) * np.sqrt(variance + tau**2)
        least.append(combined(effect, variance * rng.chisquare(df, shape) / df).mean.p)
    # the smallest of Holm's p-values is the smallest times their number
    return float((len(least) * np.min(least, axis=0) < LEVEL).mean())


# --- data sets: flags, and where a map has something to approximate ---------------------------------------------------


def flaws(rows: pd.DataFrame, yardsticks: pd.DataFrame) -> pd.DataFrame:
    """Return what the flags of data sets are decided by, a row per data set, and their ``flags`` in words.

    ``duplicates`` is the share of rows that repeat an earlier one, ``order`` the correlation of the target with that of
    the next row (of labels "sorted", "long runs" or "mixed"), ``signal`` the largest share of the variance that a
    yardstick explains, of a regression, and ``spikes`` the number of rows with a spike (``rfstudy.data.facts``) that
    are not left out. No map takes part.
    """
    found = []
    for dataset, facts in facts_of(select(rows, status="ok")).groupby("dataset", sort=False):
        facts = facts.drop_duplicates(["metric", "split"])
        number = facts.groupby("metric")["value"].sum()
        counted = facts[["n_train", "n_test"]].sum(axis=1).max()
        again = number.get("fact_duplicate_rows", 0.0) + number.get("fact_test_rows_in_training", 0.0)
        of_labels = settings_of(select(facts, metric="fact_class_order"))
        orders = [str(each.get("detail", "")).strip('"') for each in of_labels]
        correlation = select(facts, metric="fact_neighbours_correlation")["value"].max()
        order = correlation if not orders else "long runs" if "long runs" in orders else orders[0]
        signal = explained_by(select(yardsticks, dataset=dataset))
        split_rows = select(rows, dataset=[dataset], learner="majority")
        splits = settings_of(split_rows)
        # such a rule holds out blocks of rows in their order, so that an order is no flaw
        in_blocks = any("block" in each.get("split", "") for each in splits)
        is_capped = any(each.get("capped") for each in splits)
        left_out = 0 if is_capped or not splits else counted - split_rows[["n_train", "n_test"]].sum(axis=1).max()
        spikes = int(max(number.get("fact_spike_rows", 0.0) - left_out, 0))
        flags = {
            "duplicates": again / counted > FLAGS["duplicates"],
            "ordered": not in_blocks and (order == "long runs" if orders else correlation > FLAGS["ordered"]),
            "no signal": signal < FLAGS["no signal"],
            "spikes": spikes > 0,
        }
        flagged = ", ".join(flag for flag, is_flagged in flags.items() if is_flagged)
        found.append((dataset, again / counted, order, signal, spikes, flagged))
    return pd.DataFrame(found, columns=["dataset", "duplicates", "order", "signal", "spikes", "flags"])


def explained_by(yardsticks: pd.DataFrame) -> float:
    """Return the largest share of the variance that nearest neighbour, linear model or boosting explains on a data set,
    or NaN of labels and if one of them was not run.
    """
    sums = yardsticks.groupby("learner")["wrong"].sum()
    named = ["nearest_neighbour", "linear", "boosting"]
    if not {"majority", *named} <= set(sums.index) or yardsticks["counts"].any():
        return np.nan
    return float(1.0 - sums[named].min() / sums["majority"])


# --- all of it --------------------------------------------------------------------------------------------------------


class Results(NamedTuple):
    """The rows of the arena, their errors, their effects against each draw of the baseline, the gaps of the yardsticks,
    and the flags of data sets.
    """

    rows: pd.DataFrame
    errors: pd.DataFrame
    by_draw: list[pd.DataFrame]
    yardsticks: pd.DataFrame
    gaps: pd.DataFrame
    flaws: pd.DataFrame

    @property
    def effects(self) -> pd.DataFrame:
        """Return the effects against the first draw of the baseline, on all data sets."""
        return self.by_draw[0]

    def of_scope(self, scope: str) -> pd.DataFrame:
        """Return the effects on all data sets, on informative ones, or on those without a flag.

        Informative is a data set at D if the exact kernel beats the baseline there by over ``MARGIN``.
        """
        if scope == "all":
            return self.effects
        if scope == "informative":
            ahead = select(self.gaps, learner="exact_kernel")
            places = ahead.loc[ahead["effect"] < -np.log1p(MARGIN), ["dataset", "columns"]]
            return self.effects.merge(places, on=["dataset", "columns"])
        plain = self.flaws.loc[self.flaws["flags"] == "", "dataset"]
        return self.effects[self.effects["dataset"].isin(plain)]


def results_of(context: Context, datasets, baseline: str, quantity: dict) -> Results:
    """Return the results of the arena on data sets.

    The metric of ``quantity`` is that of data sets with labels; the error of a regression is its ``mse``.
    """
    return context.once(_results_of, datasets, baseline, quantity)


def _results_of(context: Context, datasets: list[str], baseline: str, quantity: dict) -> Results:
    rows = select(context.rows, dataset=datasets)
    frame = pd.concat([of_quantity(rows, quantity), of_quantity(rows, quantity | {"metric": "mse"})])
    errors, yardsticks = errors_of(frame), yardsticks_of(rows)
    gaps = gaps_of(errors, yardsticks, baseline)
    draws = sorted({"", *select(errors, method=baseline)["variant"]})
    by_draw = [effects_of(errors, baseline, draw) for draw in draws]
    return Results(frame, errors, by_draw, yardsticks, gaps, flaws(rows, yardsticks))


class Statement(NamedTuple):
    """A verdict on a map at one number of columns: its data sets, their effects together relative to the first draw of
    the baseline, the verdict, the number of draws that give it, and the median of the mean effects over all draws.
    """

    columns: int
    who: tuple[str, str]  # method and variant
    own: pd.DataFrame
    found: Combined
    verdict: str
    draws: int = 1
    median: float = np.nan


def statements_on(effects: pd.DataFrame, methods: list[str], baseline: str) -> list[Statement]:
    """Return the statements on maps and on other draws of the baseline (whose verdict is empty) from some effects.

    Fewer than ``LEAST_SETS`` data sets give none.
    """
    made = []
    for columns, at_columns in effects.groupby("columns"):
        cells = {who: own for who, own in at_columns.groupby(["method", "variant"]) if len(own) >= LEAST_SETS}
        found = {who: combined(own["effect"], own["variance"]) for who, own in cells.items()}
        named = sorted((who for who in found if who[0] in methods), key=lambda who: (methods.index(who[0]), who[1]))
        draws = [who for who in found if who[0] == baseline]
        of_maps = verdicts([found[who] for who in named], [found[who] for who in draws])
        verdict_of = dict(zip(named, of_maps, strict=True)) | dict.fromkeys(draws, "")
        made += [Statement(columns, who, cells[who], found[who], each) for who, each in verdict_of.items()]
    return made


def statements_of(results: Results, scope: str, methods: list[str], baseline: str) -> list[Statement]:
    """Return the statements on the data sets of a scope. Their verdict is what most draws of the baseline give, if most
    give the same; otherwise it is undecided.
    """
    made = [_statements_of(results._replace(by_draw=[each]), scope, methods, baseline) for each in results.by_draw]
    found = []
    for each in made[0]:
        of_draws = [other for own in made for other in own if (other.columns, other.who) == (each.columns, each.who)]
        median = float(np.median([other.found.mean.value for other in of_draws]))
        given = [other.verdict for other in of_draws]
        verdict = next((word for word in set(given) if 2 * given.count(word) > len(given)), "undecided")
        found.append(each._replace(verdict=verdict, draws=given.count(verdict), median=median))
    return found


def _statements_of(results: Results, scope: str, methods: list[str], baseline: str) -> list[Statement]:
    """Return the statements on the data sets of a scope, relative to the first draw. A map is equal only if it is so on
    all data sets and on the informative ones.
    """
    equal_in = [
        {(each.columns, each.who) for each in statements_on(effects, methods, baseline) if each.verdict == "equal"}
        for effects in (results.effects, results.of_scope("informative"))
    ]
    return [
        each._replace(verdict="undecided")
        if each.verdict == "equal" and not all((each.columns, each.who) in own for own in equal_in)
        else each
        for each in statements_on(results.of_scope(scope), methods, baseline)
    ]


# --- confirmation and ranks -------------------------------------------------------------------------------------------


def statement_in_words(each: Statement) -> str:
    """Return what is to be confirmed: the verdict, or whether an undecided error is lower or higher by its interval
    alone. It is empty if there is nothing.
    """
    if each.verdict != "undecided":
        return each.verdict
    mean = each.found.mean
    return "lower" if mean.high < 0 else "higher" if mean.low > 0 else ""


def is_confirmed(verdict: str, first: Estimate, second: Estimate) -> bool:
    """Return whether the interval of the second half excludes zero with the sign of the first, or is within the margin
    if the statement is "equal".
    """
    if verdict == "equal":
        return bool(max(abs(second.low), abs(second.high)) < np.log1p(MARGIN))
    return bool(second.low * second.high > 0 and second.value * first.value > 0)


def chance_of_confirmation(verdict: str, first: Estimate, second: Estimate) -> float:
    """Return the probability that ``is_confirmed`` holds if the mean of the first half is the true one and the second
    half has its own standard error: that of Student's t around it.
    """
    reach = (second.high - second.low) / 2
    if verdict == "equal":
        room = np.log1p(MARGIN) - reach
        ends = [stdtr(second.df, (end - first.value) / second.error) for end in (-room, room)]
        return float(max(0.0, ends[1] - ends[0])) if room > 0 else 0.0
    return float(stdtr(second.df, (abs(first.value) - reach) / second.error))


#: Draws of data sets for the intervals of ranks, and their seed.
DRAWS, SEED = 2000, 0


def rank_intervals(errors: pd.DataFrame, methods: list[str], baseline: str) -> pd.DataFrame:
    """Return the mean rank of every entry over the cells that all entries have, with a 95 % interval: ``method``,
    ``variant``, ``rank``, ``low``, ``high``, ``cells`` and ``sets``; the best first. Fewer than ``LEAST_SETS`` data
    sets give no ranks.

    A cell is a data set at a number of columns; entries are ranked by their errors in it. The ranks are averaged by
    data set and then over the data sets, which the bootstrap draws anew. Other draws of the baseline take no part.
    """
    entries = errors[errors["method"].isin(methods) | (errors["method"].eq(baseline) & errors["variant"].eq(""))]
    sums = entries.set_index([*EFFECT, "repeat"])["wrong"].unstack(["method", "variant"]).dropna()
    by_set = sums.groupby(["dataset", "columns"]).sum().rank(axis=1).groupby("dataset").mean()
    names, cells = by_set.columns.to_frame(index=False), len(sums.groupby(["dataset", "columns"]))
    if len(by_set) < LEAST_SETS:
        return names.assign(rank=np.nan, low=np.nan, high=np.nan, cells=cells, sets=len(by_set))
    drawn = np.random.default_rng(SEED).integers(len(by_set), size=(DRAWS, len(by_set)))
    low, high = np.quantile(by_set.to_numpy()[drawn].mean(axis=1), [LEVEL / 2, 1 - LEVEL / 2], axis=0)
    found = names.assign(rank=by_set.mean().to_numpy(), low=low, high=high, cells=cells, sets=len(by_set))
    return found.sort_values("rank", kind="stable", ignore_index=True)


def percent(ratio: float) -> float:
    """Return the logarithm of a ratio as a change in percent."""
    return round(100.0 * float(np.expm1(ratio)), 1)
