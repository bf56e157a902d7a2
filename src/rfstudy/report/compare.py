"""The one comparison of the study: a paired test between methods, and a rule for published against measured numbers.

All methods of a repeat use the same rows, so every test pairs the repeats. If repeats are random splits of the same
rows, their training sets overlap and the differences are not independent: the variance of their mean is larger than 1/R
of theirs by the factor 1 + R n_test/n_train (Nadeau and Bengio, Inference for the generalization error, Machine
Learning 52, 2003: the corrected resampled t-test). If the rows stay the same and only the map varies, the plain paired
test says what holds for these rows. If each map was drawn several times on each split, ``nested`` says what holds on
average over the maps' draws on these splits. This test has power: a result that is not significant, next to a small
``detectable`` effect, is evidence.

Two means, one published and one ours, agree if they differ by less than the larger of a practical margin (``metrics``)
and the half-width of the interval of their difference (``CONFIDENCE``, by Student's t). If the half-width exceeds
``MARGINS`` margins, the verdict is "too noisy". A difference beyond the interval counts, however wide that is.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from rfstudy.metrics import FACTS, fact_of, lower_is_better
from rfstudy.report.aggregate import by_repeat, facts_of, select, settings_of

#: Level of a test (or of a family of tests), and the number of repeats that a test needs.
LEVEL = 0.05
MIN_REPEATS = 5

#: The probability with which a test finds what it is said to detect.
POWER = 0.8

#: Confidence of the interval within which a published and a measured mean are the same: three standard errors if both
#: are known well.
CONFIDENCE = 0.9973

#: The half-width of this interval may reach so many margins.
MARGINS = 2.0

#: The verdicts on a published number and ours.
CELL_VERDICTS = ("reproduced", "better", "worse", "too noisy", "not comparable", "not run")

#: Split rules of ``data.split`` that draw new training rows in every repeat.
RANDOM_SPLITS = ("half", "random", "blocks")


class Estimate(NamedTuple):
    """A number and how well it is known; unknown values are NaN.

    ``value`` with the ends ``low`` and ``high`` of its interval (by default 95 % of Student's t; quartiles for ratios
    of times), its standard ``error``, the ``p``-value of "no difference", the number ``n`` of repeats or rounds, the
    ``reason`` why it must not decide anything ("" if it may), and the degrees of freedom ``df`` of the error.
    """

    value: float
    low: float = np.nan
    high: float = np.nan
    error: float = np.nan
    p: float = np.nan
    n: int = 0
    reason: str = ""
    df: float = np.nan

    @property
    def detectable(self) -> float:
        """Return the smallest true difference that the test would find with the probability ``POWER``."""
        return (stdtrit(self.df, 1.0 - LEVEL / 2) + stdtrit(self.df, POWER)) * self.error

    def is_within(self, margin: float) -> bool:
        """Return whether two one-sided t-tests at ``LEVEL`` show that the difference is smaller than a margin."""
        return bool(abs(self.value) + stdtrit(self.df, 1.0 - LEVEL) * self.error < margin)

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {self.error:.2f}".replace("-0.00", "0.00")


def paired(one, other=0.0, overlap: float = 0.0) -> Estimate:
    """Return the mean of ``one - other`` with the two-sided paired t-test of no difference.

    The standard error is sqrt((1/R + ``overlap``) S^2), S^2 the variance of the R differences (ddof = 1, so NaN for a
    single one), and the degrees of freedom are R - 1. Interval and p-value are NaN under ``MIN_REPEATS`` repeats. If
    the differences do not vary (two deterministic methods), t has no value: p is 1 if they are all zero, else 0.

    Parameters
    ----------
    one, other : series by repeat, paired on the repeats that both have; or array-likes of shape (R,) in the same order;
        ``other`` may be one number
    overlap : n_test/n_train if the repeats are random splits of the same rows (see ``overlap_of``); 0 is the plain test
    """
    if isinstance(one, pd.Series) and isinstance(other, pd.Series):
        one, other = one.align(other, join="inner")
    differences = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    n = len(differences)
    value = float(differences.mean()) if n else np.nan
    if n < 2:
        return Estimate(value, n=n)
    deviation = float(differences.std(ddof=1))
    # rounding leaves a deviation of a few units in the last place if the differences are equal
    if deviation <= 8 * np.finfo(np.float64).eps * np.abs(differences).max():
        deviation = 0.0
    error = deviation * float(np.sqrt(1.0 / n + overlap))
    if n < MIN_REPEATS:
        return Estimate(value, error=error, n=n)
    half = float(stdtrit(n - 1, 1.0 - LEVEL / 2)) * error
    p = float(2.0 * stdtr(n - 1, -abs(value) / error)) if error else float(value == 0.0)
    return Estimate(value, value - half, value + half, error, p, n, df=n - 1.0)


def nested(one, other) -> Estimate:
    """Return the mean of ``one - other`` over splits and draws with the t-test of no difference on these splits.

    The splits are fixed, so the error is the error of the draws alone, sqrt((S1^2 + S2^2) / (I J)). The variances S^2
    within splits are pooled over the splits. They have I (J - 1) degrees of freedom each, and the degrees of Welch and
    Satterthwaite together. If no draw differs from another, p is 1 for equal means, else 0.

    Parameters
    ----------
    one, other : scores of shape (..., I, J) of I splits, the same for both, and J >= 2 draws on each; of leading axes
        the fields of the estimate are arrays
    """
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    n_splits = one.shape[-2]
    within = [each.var(axis=-1, ddof=1).mean(axis=-1) / (n_splits * each.shape[-1]) for each in (one, other)]
    freedom = [n_splits * (each.shape[-1] - 1.0) for each in (one, other)]
    value, variance = one.mean(axis=(-2, -1)) - other.mean(axis=(-2, -1)), within[0] + within[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        df = variance**2 / (within[0] ** 2 / freedom[0] + within[1] ** 2 / freedom[1])
        df, error = np.where(variance > 0, df, sum(freedom)), np.sqrt(variance)
        p = np.where(variance > 0, 2.0 * stdtr(df, -np.abs(value) / error), value == 0.0)
    half = stdtrit(df, 1.0 - LEVEL / 2) * error
    return Estimate(value, value - half, value + half, error, p, n_splits, df=df)


def ranking(test: Estimate, metric: str) -> str:
    """Return "better" or "worse" for an effect, "equal" for a difference that is shown to be no effect of the metric
    (two one-sided tests), and "undecided" otherwise.
    """
    if is_effect(test, metric):
        return "better" if (test.value < 0) == lower_is_better(metric) else "worse"
    return "equal" if test.is_within(fact_of(metric).smallest_effect) else "undecided"


def is_effect(estimate: Estimate, metric: str) -> bool:
    """Return whether a difference is significant at ``LEVEL`` and larger than the smallest effect of the metric."""
    return bool(estimate.p < LEVEL and abs(estimate.value) > fact_of(metric).smallest_effect)


def holm(p_values) -> np.ndarray:
    """Return Holm's adjustment of p-values of shape (m,); those that are NaN stay so and do not count.

    The same as ``statsmodels.stats.multitest.multipletests``, which collects garbage in every call: with the objects of
    a report this takes a thousand times as long as the adjustment.
    """
    adjusted = np.array(p_values, dtype=np.float64)
    order = np.argsort(adjusted)[: np.count_nonzero(~np.isnan(adjusted))]  # NaN are sorted to the end
    adjusted[order] = np.minimum(np.maximum.accumulate(adjusted[order] * np.arange(len(order), 0, -1)), 1.0)
    return adjusted


def family(tests: dict) -> dict:
    """Return the tests of one family (estimates by any key) with Holm's adjusted p-values."""
    adjusted = holm([test.p for test in tests.values()]).tolist()
    return {key: test._replace(p=p) for (key, test), p in zip(tests.items(), adjusted, strict=True)}


def paired_differences(rows: pd.DataFrame, baselines: list[str], place: str, context) -> pd.DataFrame:
    """Return each method and variant against each baseline at the same place, with Holm's correction over a data set.

    Parameters
    ----------
    rows : measured rows of one experiment and quantity
    baselines : ids of the methods that the others are compared with, in their plain variant
    place : column that the two share in addition to the data set, such as the size
    context : of the report, see ``overlap_of``

    Returns
    -------
    data frame with a row per test: ``dataset``, ``place``, ``method``, ``variant``, ``minus`` (the baseline), the
    fields of ``Estimate``, ``effect`` (see ``is_effect``) and ``overlap``; pairs that share no repeat are left out
    """
    overlaps = {dataset: overlap_of(own, context) for dataset, own in rows.groupby("dataset", sort=False)}
    found = []
    for (dataset, where), cells in rows.groupby(["dataset", place], sort=False):
        values = {who: by_repeat(cell) for who, cell in cells.groupby(["method", "variant"], sort=False)}
        plain = {baseline: values.pop((baseline, "")) for baseline in baselines if (baseline, "") in values}
        for (who, own), (minus, other) in itertools.product(values.items(), plain.items()):
            found.append((dataset, where, *who, minus, *paired(own, other, overlaps[dataset]), overlaps[dataset]))
    tests = pd.DataFrame(found, columns=["dataset", place, "method", "variant", "minus", *Estimate._fields, "overlap"])
    tests = tests[tests["n"] > 0]
    tests = tests.assign(p=tests.groupby("dataset", sort=False)["p"].transform(holm))
    effects = [is_effect(test, rows["metric"].iloc[0]) for test in tests.itertuples()]
    return tests.assign(effect=np.array(effects, dtype=bool))


def overlap_of(rows: pd.DataFrame, context) -> float:
    """Return n_test/n_train if the repeats are random splits of the same rows; 0 if only the map varies.

    It is also 0 for quantities that no learner predicts (errors of the kernel matrix) and for times. The first of these
    that has a ``split`` says how a data set was split: the settings of the rows, the settings of the facts about the
    data in the same experiment, and the registry. A published training part counts as split at random if a cap draws
    rows of it in every repeat, or if the experiment has another number of rows in its place.

    Parameters
    ----------
    rows : measured rows of one experiment, data set and quantity; ``ValueError`` for several data sets, and for random
        splits whose numbers of rows are missing
    context : of the report, with the facts about the data among its rows
    """
    rows = select(rows, status="ok")
    if not len(rows):
        return 0.0
    fact = fact_of(rows["metric"].iloc[0])
    if not (rows["learner"].iloc[0] or fact.is_percentage) or fact.unit == "s":
        return 0.0
    if rows["dataset"].nunique() > 1:
        raise ValueError(f"a test is within one data set, got {sorted(rows['dataset'].unique())}")
    dataset = rows["dataset"].iloc[0]
    facts = facts_of(select(context.rows, dataset=dataset, experiment=rows["experiment"].iloc[0]))
    task = context.tasks.get(dataset, {})
    stated = [s["split"] for s in (*settings_of(rows.iloc[:1]), *settings_of(facts)) if "split" in s]
    rule = (stated or [task.get("split", "published")])[0]
    whole = facts["n_train"].max() if len(facts) else pd.NA
    if pd.isna(whole) and not rows["stand_in"].iloc[0]:
        whole = task.get("n_train", pd.NA)
    if rule not in RANDOM_SPLITS and (pd.isna(whole) or (rows["n_train"] == whole).fillna(True).all()):
        return 0.0
    if rows[["n_train", "n_test"]].isna().any(axis=None):
        raise ValueError(f"{dataset} was split at random, but its rows lack the numbers of training and test rows")
    return float((rows["n_test"] / rows["n_train"]).max())


def note_on_tests(overlaps: dict[str, float], of_family: str, metrics: list[str]) -> str:
    """Return the sentence under a table about its tests: which test, over which family, and the smallest effect.

    Parameters
    ----------
    overlaps : result of ``overlap_of`` by name of the data set
    of_family : the tests that Holm's correction covers ("all methods and sizes of a data set")
    metrics : the quantities that are compared
    """
    corrected = [name for name, overlap in overlaps.items() if overlap]
    plain = [name for name, overlap in overlaps.items() if not overlap]
    parts = [f"Tests: two-sided t-tests paired by repeat, none under {MIN_REPEATS} repeats"]
    for where, names, text in (
        ("where repeats are random splits of the same rows", corrected, "the variance is corrected for the overlap of "
         "their training sets by n_test/n_train (Nadeau and Bengio 2003)"),
        ("where only the map varies", plain, "the test is the plain one and holds for these rows"),
    ):  # fmt: skip
        of = f" ({', '.join(names)})" if corrected and plain else ""
        parts += [f"{where}{of}, {text}"] if names else []
    smallest = max(fact_of(metric).smallest_effect for metric in metrics)
    of = " of a percentage" if not all(fact_of(metric).is_percentage for metric in metrics) else ""
    effect = f" and exceeds {smallest:g} points{of}" if smallest else ""
    return (
        f"{'; '.join(parts)}. Holm's correction is over {of_family}; a difference counts as an effect if it passes at "
        f"{LEVEL:.0%}{effect}."
    )


def with_verdicts(cells: pd.DataFrame) -> pd.DataFrame:
    """Return published and measured numbers with the columns difference, margin, standard_error, half_width,
    is_result (counts of rows and columns of the data are none) and verdict.

    The standard error of the difference combines both means and the rounding of the published one. A mean without a
    spread uses the other's: our spread over the published number of repeats (over ours if that is unknown), and the
    published spread for a single repeat of ours. A single repeat of ours without any spread is too noisy. The
    half-width of the interval is the standard error times the quantile of Student's t whose degrees of freedom are
    Welch's (1947), from the repeats behind each spread; unknown numbers of repeats count as many.

    Parameters
    ----------
    cells : one row per cell, with ``metric``; ``published``, its ``published_std``, ``published_error`` (standard
        error), ``published_n`` and ``rounding`` (half a unit of the last digit); our ``value``, ``std``, ``error`` and
        ``n``; booleans: whether the two are ``comparable``, and whether ours is ``too_noisy`` by itself. Numbers that
        are not known are NaN. ``KeyError`` for an unknown metric

    Notes
    -----
    Reproduced: the difference is under the larger of the margin and the half-width of its interval ({CONFIDENCE:.1%},
    Student's t with Welch's degrees of freedom); better, worse: it is not, as the metric has it; too noisy: it is, but
    the half-width is more than {MARGINS:g} margins. Margin: {POINTS:g} points of accuracy, of an error in percent the
    smaller of {POINTS:g} points and {SHARE:.0%} of it, {SHARE:.0%} of any other value; numbers of rows and columns are
    the same or not comparable. Standard error of the difference: both spreads over the square roots of their repeats,
    ours where none is published (and the published one for a single repeat of ours; with neither it is not known and
    the cell too noisy), and half a unit of the last published digit.
    """
    published, value = cells["published"], cells["value"]
    their_spread = cells["published_std"].fillna(cells["published_error"] * np.sqrt(cells["published_n"]))
    our_spread = cells["std"].fillna(cells["error"] * np.sqrt(cells["n"]))
    their_error = cells["published_error"].fillna(cells["published_std"] / np.sqrt(cells["published_n"]))
    our_error = cells["error"].fillna(cells["std"] / np.sqrt(cells["n"]))
    their_error = their_error.fillna(our_spread / np.sqrt(cells["published_n"])).fillna(our_error)
    our_error = our_error.fillna(their_spread / np.sqrt(cells["n"]))
    theirs, ours, rounding = (each.fillna(0.0) ** 2 for each in (their_error, our_error, cells["rounding"]))
    error = np.sqrt(theirs + ours + rounding)
    half_width = error * t_quantile(theirs + ours + rounding, theirs, ours, cells)
    facts = [FACTS[metric] for metric in cells["metric"]]
    margin = pd.Series([f.margin(v) for f, v in zip(facts, published, strict=True)], cells.index, dtype=float)
    is_result = pd.Series([f.tolerance is not None for f in facts], cells.index, dtype=bool)
    low = pd.Series([f.better == "low" for f in facts], cells.index, dtype=bool)

    difference = value - published
    compared = cells["comparable"].astype(bool) & difference.notna()
    within = (difference.abs() < np.maximum(margin, half_width)) | cells["too_noisy"]
    noisy = (half_width > MARGINS * margin) | cells["too_noisy"]
    single = (cells["n"] == 1) & our_spread.isna() & their_spread.isna()
    rules = {
        "not run": value.isna(),
        "not comparable": ~compared | (~is_result & (difference != 0)),
        "reproduced": ~is_result | (within & ~noisy & ~single),
        "too noisy": within | single,
        "better": (difference < 0) == low,
    }
    return cells.assign(
        difference=difference,
        margin=margin.where(compared),
        standard_error=error.where(compared & is_result & ~single),
        half_width=half_width.where(compared & is_result & ~single),
        is_result=is_result,
        verdict=np.select(list(rules.values()), list(rules), "worse"),
    )


def t_quantile(variance, theirs, ours, cells: pd.DataFrame) -> np.ndarray:
    """Return the quantiles of Student's t (m,) for a ``variance`` (m,) that is the sum of the variances of both means
    and more.

    A mean with the spread of the other has the degrees of freedom of the other.
    """
    their_n = cells["published_n"].where(cells["published_std"].notna() | cells["published_error"].notna(), cells["n"])
    our_n = cells["n"].where(cells["std"].notna() | cells["error"].notna(), cells["published_n"])
    squares = [mean**2 / (n - 1).where(n > 1).fillna(np.inf) for mean, n in ((theirs, their_n), (ours, our_n))]
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (variance**2 / sum(squares)).fillna(np.inf)
    return stdtrit(freedom, 0.5 + CONFIDENCE / 2)
