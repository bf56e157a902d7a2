"""Maps against a baseline at equal columns over many data sets; docs/arena.md states the protocol.

The effect on a data set is the logarithm of the error of a map less the logarithm of the baseline's error, each the
mean over all draws and over the numbers of columns of a band. Its variance is the jackknife's over the folds. The data
sets are a sample of others. The typical effect is the pseudo-median of Hodges and Lehmann (Annals of Mathematical
Statistics 34, 1963) with the exact interval of Wilcoxon's signed-rank test. The interval of the mean follows Hartung
and Knapp (Statistics in Medicine 20, 2001) with equal weights, and the deviation between data sets follows Hedges and
Olkin (Statistical Methods for Meta-Analysis, 1985, chapter 9).
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import bisect
from scipy.special import stdtrit
from scipy.stats import permutation_test, rankdata, wilcoxon

from rfstudy.report.aggregate import columns_asked_for, facts_of, of_quantity, select, settings_of
from rfstudy.report.compare import LEVEL, POWER, Estimate, holm
from rfstudy.report.context import Context

#: Two maps are equal if their errors differ by less than this share.
MARGIN = 0.02

#: Draws of a simulated power: its standard error is 0.006.
SIMULATIONS = 4000

#: The seed of permutations and of the bootstrap.
SEED = 0

#: Orders of a permutation test: all of up to eight data sets, and as many at random of more.
ORDERS = 40320

#: A classification set has at least so many test rows.
LEAST_TEST_ROWS = 500

#: A verdict needs at least so many data sets.
LEAST_SETS = 6

#: The bands of columns.
BANDS = {"64 to 256": (64, 128, 256), "512 to 1,024": (512, 1024)}

#: What identifies an effect: a data set and an entry.
EFFECT = ["dataset", "method", "variant"]

#: The flags of a data set and their thresholds: the share of its rows that repeat an earlier one, the correlation of
#: the target with the target of the next row, and the share of the variance that a yardstick explains.
FLAGS = {"duplicates": 0.2, "ordered": 0.5, "no signal": 0.05}

#: Data sets whose rows or target come from a formula or a simulator, which are flagged.
SYNTHETIC = (
    "magic04", "uci-kin40k", "uci-pendulum", "uci-bike", "tab-ailerons", "tab-waveform", "tab-kropt", "tab-fried",
    "tab-naval",
)  # fmt: skip

#: Data sets with few cases of a class, judged by one minus the area under the ROC curve.
UNBALANCED = ("tab-jm1", "tab-enhancer", "tab-ozone", "tab-mammography", "tab-w8a")

#: Variants that are further draws of an entry.
DRAW = r"-?(?:draw|control)-\d+$"


# --- errors and effects -----------------------------------------------------------------------------------------------


def errors_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the error of every cell, with the columns ``dataset``, ``columns``, ``method``, ``variant``, ``draw`` (the
    variant that names it) and ``repeat``, and the columns of ``summed``.
    """
    return summed(by_entry(rows).dropna(subset=["n_test"]))


def by_entry(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the ok rows of maps with the ``columns`` that they asked for, and the variant of the entry in place of the
    one that names the ``draw``.
    """
    ok = select(rows, status="ok").dropna(subset=["n_columns", "n_features"])
    entry = ok["variant"].str.replace(DRAW, "", regex=True)
    return ok.assign(columns=columns_asked_for(ok), draw=ok["variant"], variant=entry)


def yardsticks_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the errors of predictors without a map as ``errors_of`` does: ``method`` is the learner, ``columns`` is 0.

    The exact kernel on the grid of the maps replaces the other one: its experiments are the first by name.
    """
    own = select(rows, status="ok", metric=["accuracy_pct", "auc_pct", "rmse"], method="", split="test")
    own = own.sort_values("experiment", kind="stable").drop_duplicates(["dataset", "learner", "repeat", "metric"])
    return summed(own.assign(method=own["learner"], columns=0, draw=""))


def summed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with ``wrong``, the error summed over the test rows of a fold (squared errors, wrong labels, or one
    minus the area under the curve), ``counts``, whether it counts labels, and two logarithms: ``log`` of the sum over
    the folds, and ``left_out`` of the sum over the others. Numbers of labels have one half added.

    Draws on fewer folds than others of their data set are left out, and so are data sets with too few test rows.
    """
    judged = rows["metric"].eq("auc_pct") == rows["dataset"].isin(UNBALANCED)
    draw = [*EFFECT, "columns", "draw"]
    rows = rows[judged].drop_duplicates([*draw, "repeat"])
    counts, share = rows["metric"].eq("accuracy_pct"), 1.0 - rows["value"] / 100.0
    wrong = np.select(
        [counts, rows["metric"].eq("auc_pct"), rows["metric"].eq("rmse")],
        [(share * rows["n_test"]).round(), share, rows["value"] ** 2 * rows["n_test"]],
        rows["value"] * rows["n_test"],
    )
    found = rows.assign(wrong=wrong, counts=counts)[[*draw, "repeat", "wrong", "counts", "n_test"]]
    draws, half = found.groupby(draw), 0.5 * counts
    folds, total = draws["repeat"].transform("size"), draws["wrong"].transform("sum") + half
    large = ~counts | (draws["n_test"].transform("sum") >= LEAST_TEST_ROWS)
    complete = folds.ge(2) & folds.eq(folds.groupby(found["dataset"]).transform("max"))
    return found.assign(log=np.log(total), left_out=np.log(total - wrong))[large & complete]


def effects_of(errors: pd.DataFrame, baseline: str, columns) -> pd.DataFrame:
    """Return the effect of every entry against the baseline on the data sets that have errors at all these numbers of
    columns, with the columns of ``EFFECT``, ``effect``, ``variance`` and ``folds``.
    """
    cells = errors[errors["columns"].isin(columns)].groupby([*EFFECT, "repeat", "columns"])[["log", "left_out"]].mean()
    at = cells.groupby([*EFFECT, "repeat"])
    means = at.mean()[at.size().eq(len(columns))].reset_index()
    is_baseline = means["method"].eq(baseline) & means["variant"].eq("")
    both = means[~is_baseline].merge(means[is_baseline], on=["dataset", "repeat"], suffixes=("", "_of_baseline"))
    gaps = both.assign(**{key: both[key] - both[f"{key}_of_baseline"] for key in ("log", "left_out")}).groupby(EFFECT)
    found = gaps["log"].agg(effect="first", folds="size")
    return found.assign(variance=gaps["left_out"].var(ddof=0) * (found["folds"] - 1)).reset_index()


# --- over data sets ---------------------------------------------------------------------------------------------------


class Combined(NamedTuple):
    """Effects of several data sets together: the ``typical`` one, their ``mean``, each with its interval, the deviation
    ``tau`` of the true effects, the interval in which a ``new`` data set is expected, and p-values of one side: of "not
    lower", "not higher" and "not equal".
    """

    typical: Estimate
    mean: Estimate
    tau: float
    new: tuple[float, float]
    p_lower: float
    p_higher: float
    p_equal: float


def typical(effect) -> Estimate:
    """Return the pseudo-median of effects, with its exact interval and the p-value of Wilcoxon's signed-rank test."""
    effect = np.asarray(effect, dtype=np.float64)
    k, (i, j) = len(effect), np.triu_indices(len(effect))
    means, end = np.sort((effect[i] + effect[j]) / 2), max(1, critical_rank_sum(k, LEVEL))
    low, high = means[end - 1], means[-end]
    error = (high - low) / 2 / stdtrit(k - 1, 1.0 - LEVEL / 2)
    p = float(wilcoxon(effect, method="exact").pvalue)
    return Estimate(float(np.median(means)), low, high, error, p, k, df=k - 1.0)


@cache
def critical_rank_sum(k: int, level: float) -> int:
    """Return the smallest sum of signed ranks of k effects whose two-sided p-value is not below a level, from the
    number of subsets of 1 to k by their sum. An interval ends at this one of the sorted means of pairs, from either
    end.
    """
    share = np.ones(1)
    for rank in range(1, k + 1):
        share = np.convolve(share, np.r_[0.5, np.zeros(rank - 1), 0.5])
    return int(np.searchsorted(np.cumsum(share), level / 2))


def combined(effect, variance) -> Combined:
    """Return effects with variances, of at least three data sets, as a sample of data sets.

    All data sets count alike. The deviation between data sets is the moment estimator, the variance of the effects
    without the mean of their own variances. The prediction interval has k - 2 degrees of freedom.
    """
    effect, k = np.asarray(effect, dtype=np.float64), len(effect)
    spread, quantile = effect.var(ddof=1), stdtrit([k - 1.0, k - 2.0], 1.0 - LEVEL / 2)
    tau_squared, value, error = max(0.0, spread - np.mean(variance)), effect.mean(), np.sqrt(spread / k)
    half, new = quantile * np.sqrt([error**2, tau_squared + error**2])
    sides = (0.0, "less"), (0.0, "greater"), (np.log1p(MARGIN), "less"), (-np.log1p(MARGIN), "greater")
    p = [float(wilcoxon(effect - at, alternative=side, method="exact").pvalue) for at, side in sides]
    mean = Estimate(value, value - half, value + half, error, n=k, df=k - 1.0)
    return Combined(typical(effect), mean, np.sqrt(tau_squared), (value - new, value + new), *p[:2], max(p[2:]))


def detectable(found: Estimate, tests: int) -> float:
    """Return the smallest effect that one of so many tests, with Holm's correction, finds with the probability
    ``POWER``, or NaN if no effect could: the p-value of the signed-rank test is never that small.
    """
    if found.n < sets_needed(tests):
        return np.nan
    return shift_found(found.n, tests) * found.error * np.sqrt(found.n)


@cache
def shift_found(k: int, tests: int) -> float:
    """Return the mean of k normal effects, in standard deviations, that the signed-rank test finds with the probability
    ``POWER`` at the first step of Holm's correction, by simulation.
    """
    drawn, least = np.random.default_rng(k).standard_normal((SIMULATIONS, k)), critical_rank_sum(k, LEVEL / tests)

    def excess(shift):
        below = (rankdata(np.abs(drawn + shift), axis=1) * (drawn + shift < 0)).sum(axis=1)
        return (np.minimum(below, k * (k + 1) / 2 - below) < least).mean() - POWER

    return bisect(excess, 0.0, 10.0, xtol=0.001)


def rank_correlation(x, y) -> tuple[float, float]:
    """Return Spearman's correlation and its p-value by permutation; Student's t gives too small ones for few sets."""
    ranks = rankdata([x, y], axis=1) - (len(x) + 1) / 2
    x, y = ranks / np.linalg.norm(ranks, axis=1, keepdims=True)

    def of(orders, axis):
        return (orders * y).sum(axis)

    found = permutation_test((x,), of, permutation_type="pairings", n_resamples=ORDERS, rng=SEED)
    return float(found.statistic), float(found.pvalue)


def sets_needed(tests: int, level: float = LEVEL / 2) -> int:
    """Return from how many data sets on the p-value of one side, at least one half to the power of their number, can be
    below a level after Holm's correction over so many tests.
    """
    return int(np.floor(np.log2(max(tests, 1) / level))) + 1


def decided(found: list[Combined | None], informative: list[Combined | None]) -> list[str]:
    """Return the verdicts on a family of maps: better, worse, equal, different but negligibly, or undecided.

    Maps are equal only if they are so on the informative data sets, too. A map with too few data sets (None) counts in
    Holm's correction, so that the verdicts on the others do not depend on the number of its data sets.
    """
    known = [(0.0, 1.0, 1.0) if each is None else (each.typical.value, each.typical.p, each.p_equal) for each in found]
    value, p, own = np.reshape(known, (-1, 3)).T
    there = [1.0 if each is None else each.p_equal for each in informative]
    is_effect, is_equal = holm(p) < LEVEL, holm(np.maximum(own, there)) < LEVEL
    rules = {NEGLIGIBLE: is_effect & is_equal, "better": is_effect & (value < 0), "worse": is_effect, "equal": is_equal}
    return np.select(list(rules.values()), list(rules), "undecided").tolist()


#: The verdict on an effect that is significant and within the margin, and the outcomes of a statement.
NEGLIGIBLE = "different, negligibly"
OUTCOMES = ("confirmed", NEGLIGIBLE, "contradicted", "undecided")
TOO_FEW = f"fewer than {LEAST_SETS} sets"


def outcomes(statements: list[dict], found: list[tuple | None]) -> list[str]:
    """Return what new data sets say about each statement: confirmed, contradicted, undecided, or too few sets.

    ``found`` has, by statement, the effects together on all new data sets without a flag and on the informative ones.
    """
    is_equal = np.array([each["says"] == "equal" for each in statements], dtype=bool)
    p = np.ones(len(found))
    for i, (each, own) in enumerate(zip(statements, found, strict=True)):
        if own is not None:
            everywhere, informative = own
            sides = {"better": everywhere.p_lower, "worse": everywhere.p_higher}
            p[i] = sides.get(each["says"], max(everywhere.p_equal, informative.p_equal if informative else 1.0))
    adjusted, words = holm(np.where(is_equal, np.nan, p)), []
    adjusted[is_equal] = holm(p[is_equal]) / 2  # both kinds are confirmed below half the level
    for each, own, q in zip(statements, found, adjusted, strict=True):
        if own is None:
            words.append(TOO_FEW)
            continue
        low, high = own[0].typical[1:3]
        other_side = {"better": low > 0, "worse": high < 0}.get(each["says"], max(low, -high) > np.log1p(MARGIN))
        negligible = own[0].typical.p < LEVEL if each["says"] == "equal" else own[0].p_equal < LEVEL
        confirmed = NEGLIGIBLE if negligible else "confirmed"
        words.append(confirmed if q < LEVEL / 2 else "contradicted" if other_side else "undecided")
    return words


# --- data sets and their flags ----------------------------------------------------------------------------------------


def flaws(rows: pd.DataFrame, yardsticks: pd.DataFrame) -> pd.DataFrame:
    """Return what the flags of data sets are decided by, a row per data set, and their ``flags`` in words.

    ``duplicates`` is the share of rows that repeat an earlier one, ``order`` the correlation of the target with
    the target of the next row (of labels "sorted", "long runs" or "mixed"), ``signal`` the largest share of the
    variance that a yardstick explains, of a regression, and ``spikes`` the number of rows with a spike
    (``rfstudy.data.facts``) that are not left out. No map takes part.
    """
    found, guesses = [], select(rows, learner="majority")
    for dataset, facts in facts_of(select(rows, status="ok")).groupby("dataset", sort=False):
        facts = facts.drop_duplicates(["metric", "split"])
        number = facts.groupby("metric")["value"].sum()
        counted = facts[["n_train", "n_test"]].sum(axis=1).max()
        again = number.get("fact_duplicate_rows", 0.0) + number.get("fact_test_rows_in_training", 0.0)
        of_labels = settings_of(select(facts, metric="fact_class_order"))
        orders = [str(each.get("detail", "")).strip('"') for each in of_labels]
        correlation = select(facts, metric="fact_neighbours_correlation")["value"].max()
        order = correlation if not orders else "long runs" if "long runs" in orders else orders[0]
        signal = np.nan if dataset in UNBALANCED else explained_by(select(yardsticks, dataset=dataset))
        split_rows = select(guesses, dataset=dataset)
        splits = settings_of(split_rows)
        # such a rule holds out blocks of rows in their order, so that an order is no flaw
        in_blocks = any("block" in each.get("split", "") for each in splits)
        is_capped = any(each.get("capped") for each in splits)
        left_out = 0 if is_capped or not splits else counted - split_rows[["n_train", "n_test"]].sum(axis=1).max()
        spikes = int(number.get("fact_spike_rows", 0.0))
        # A split leaves out rows with spikes by their numbers. More rows than that are missing from a random sample.
        spikes -= int(left_out) if left_out <= spikes else 0
        flags = {
            "duplicates": again / counted > FLAGS["duplicates"],
            "ordered": not in_blocks and (order == "long runs" if orders else correlation > FLAGS["ordered"]),
            "no signal": signal < FLAGS["no signal"],
            "spikes": spikes > 0,
            "synthetic": dataset in SYNTHETIC,
        }
        flagged = ", ".join(flag for flag, is_flagged in flags.items() if is_flagged)
        found.append((dataset, again / counted, order, signal, spikes, flagged))
    return pd.DataFrame(found, columns=["dataset", "duplicates", "order", "signal", "spikes", "flags"])


def explained_by(yardsticks: pd.DataFrame) -> float:
    """Return the largest share of the variance that nearest neighbour, linear model or boosting explains on a data set,
    or NaN of labels and if one of them was not run.
    """
    sums = yardsticks.groupby("method")["wrong"].sum()
    named = ["nearest_neighbour", "linear", "boosting"]
    if not {"majority", *named} <= set(sums.index) or yardsticks["counts"].any():
        return np.nan
    return float(1.0 - sums[named].min() / sums["majority"])


# --- all of it --------------------------------------------------------------------------------------------------------


class Results(NamedTuple):
    """The rows of the arena, their errors, the errors of yardsticks, the flags of data sets, their tasks (regression or
    labels), and the baseline.
    """

    rows: pd.DataFrame
    errors: pd.DataFrame
    yardsticks: pd.DataFrame
    flaws: pd.DataFrame
    kinds: dict[str, str]
    baseline: str

    def effects(self, columns, scope: str = "not flagged") -> pd.DataFrame:
        """Return the effects of maps on the data sets of a scope: all, the ones of one task, the ones without a flag,
        or the informative ones of these.

        Informative is a data set at which halving D raises the error of the baseline by over ``MARGIN``, over the two
        halvings down to a quarter of the largest D.
        """
        found, kept = effects_of(self.errors, self.baseline, columns), set(self.kinds)
        if scope in self.kinds.values():
            kept = {name for name in kept if self.kinds[name] == scope}
        elif scope != "all":
            kept = set(self.flaws.loc[self.flaws["flags"] == "", "dataset"])
        if scope == "informative":
            gain = (self.log_errors(max(columns) // 4) - self.log_errors(max(columns))) / 2
            kept &= set(gain.index[gain > np.log1p(MARGIN)])
        return found[found["dataset"].isin(kept)]

    def log_errors(self, columns: int) -> pd.Series:
        """Return the logarithm of the baseline's error by data set, the mean over its draws."""
        return select(self.errors, method=self.baseline, variant="", columns=[columns]).groupby("dataset")["log"].mean()

    def gaps(self, columns: int) -> pd.DataFrame:
        """Return the effects of the yardsticks, and of the maps without a variant, against the baseline."""
        both = pd.concat([select(self.errors, variant="", columns=[columns]), self.yardsticks.assign(columns=columns)])
        there = both.groupby("dataset")["method"].transform(lambda methods: (methods == self.baseline).any())
        return effects_of(both[there.astype(bool)], self.baseline, [columns])

    def distinct(self) -> pd.DataFrame:
        """Return the share of columns that are ``distinct``, by data set, method, variant and ``columns``."""
        ok = by_entry(self.rows)
        counted = ok["metric"].eq("distinct_features")
        share = (ok["value"] / ok["n_features"]).where(counted, ok["n_columns"] / ok["columns"])
        means = ok.assign(distinct=share, counted=counted).groupby([*EFFECT, "columns", "counted"])["distinct"].mean()
        return means.groupby([*EFFECT, "columns"]).min().reset_index()


def results_of(context: Context, datasets, baseline: str, quantity: dict) -> Results:
    """Return the results of the arena on data sets.

    The metric of ``quantity`` is for data sets with labels; the error of a regression is its ``mse``, the error of an
    unbalanced set its ``auc_pct``.
    """
    return context.once(_results_of, datasets, baseline, quantity)


def _results_of(context: Context, datasets: list[str], baseline: str, quantity: dict) -> Results:
    rows = select(context.rows, dataset=datasets)
    scores = of_quantity(rows, quantity | {"metric": [quantity["metric"], "mse", "auc_pct"]})
    shown = pd.concat([scores, select(rows, metric="distinct_features")])
    kinds = {name: "regression" if context.tasks[name].get("target") == "regression" else "labels" for name in datasets}
    yardsticks = yardsticks_of(rows)
    return Results(shown, errors_of(scores), yardsticks, flaws(rows, yardsticks), kinds, baseline)


def errors_in_percent(results: Results) -> dict[tuple, float]:
    """Return the error by data set, number of columns (0 of yardsticks), method and variant, as the geometric mean over
    draws: wrong labels, one minus the area under the curve, or the share of the variance that is not explained.
    """
    cells = pd.concat([results.errors, results.yardsticks])
    whole = cells.groupby(["dataset", "columns", "method", "variant", "draw"]).agg(
        log=("log", "first"), tested=("n_test", "sum"), folds=("n_test", "size"), counts=("counts", "any")
    )
    mean = select(results.yardsticks, method="majority").groupby("dataset")["log"].first()  # has the whole variance
    names = whole.index.get_level_values("dataset")
    under = np.where(whole["counts"], np.log(whole["tested"]), mean.reindex(names))
    under = np.where(names.isin(UNBALANCED), np.log(whole["folds"]), under)
    return (100.0 * np.exp((whole["log"] - under).groupby(level=[0, 1, 2, 3]).mean())).to_dict()


class Verdict(NamedTuple):
    """A verdict on a map in one band of columns: its effects on data sets, these together, the verdict, and the
    smallest effect that the test finds.
    """

    band: str
    who: tuple[str, str]  # method and variant
    own: pd.DataFrame
    found: Combined
    word: str
    detectable: float


def together(effects: pd.DataFrame) -> dict[tuple[str, str], Combined]:
    """Return the effects of each entry together, if it has as many data sets as a verdict needs."""
    groups = {who: own for who, own in effects.groupby(["method", "variant"]) if len(own) >= LEAST_SETS}
    return {who: combined(own["effect"], own["variance"]) for who, own in groups.items()}


def verdicts_of(results: Results, scope: str, methods: list[str]) -> list[Verdict]:
    """Return the verdicts on maps on the data sets of a scope; the maps of one band are a family."""
    made = []
    for band, columns in BANDS.items():
        effects = results.effects(columns, scope)
        found, informative = together(effects), together(results.effects(columns, "informative"))
        groups = {who: own for who, own in effects.groupby(["method", "variant"]) if who[0] in methods}
        named = sorted(groups, key=lambda who: (methods.index(who[0]), who[1]))
        words = decided([found.get(who) for who in named], [informative.get(who) for who in named])
        for who, word in zip(named, words, strict=True):
            if who in found:
                size = detectable(found[who].typical, len(named))
                made.append(Verdict(band, who, groups[who], found[who], word, size))
    return made


#: Draws of data sets for the intervals of ranks.
DRAWS = 2000


def rank_intervals(errors: pd.DataFrame, methods: list[str], baseline: str) -> pd.DataFrame:
    """Return the mean rank of every entry with over half of the cells, over the cells that all of these have, with a
    95 % interval: ``method``, ``variant``, ``rank``, ``low``, ``high``, ``cells`` and ``sets``; the best first. Fewer
    than ``LEAST_SETS`` data sets give no ranks.

    A cell is a data set at a number of columns; entries are ranked by their errors in it, the mean over draws. The
    ranks are averaged by data set and then over the data sets, which the bootstrap draws anew.
    """
    entries = select(errors, method=[baseline, *methods])
    cells = entries.groupby([*EFFECT, "columns"])["log"].mean().unstack(["method", "variant"])
    cells = cells.loc[:, cells.notna().mean() > 0.5].dropna()
    by_set = cells.rank(axis=1).groupby("dataset").mean()
    names = by_set.columns.to_frame(index=False)
    if len(by_set) < LEAST_SETS:
        return names.assign(rank=np.nan, low=np.nan, high=np.nan, cells=len(cells), sets=len(by_set))
    drawn = np.random.default_rng(SEED).integers(len(by_set), size=(DRAWS, len(by_set)))
    low, high = np.quantile(by_set.to_numpy()[drawn].mean(axis=1), [LEVEL / 2, 1 - LEVEL / 2], axis=0)
    found = names.assign(rank=by_set.mean().to_numpy(), low=low, high=high, cells=len(cells), sets=len(by_set))
    return found.sort_values("rank", kind="stable", ignore_index=True)


def percent(ratio: float) -> float:
    """Return the logarithm of a ratio as a change in percent, unrounded: a page rounds it and compares it with zero."""
    return 100.0 * float(np.expm1(ratio))
