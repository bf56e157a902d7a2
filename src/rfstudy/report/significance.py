"""Tests between methods: which differences over repeats are told as effects.

All tests pair the repeats, for all methods of a repeat see the same rows. Where repeats are random splits of the same
rows, their training sets overlap and the differences of the repeats are no independent draws: the variance of their
mean is larger than 1/R of theirs, by the factor 1 + R n_test/n_train (Nadeau and Bengio, Inference for the
generalization error, Machine Learning 52, 2003: the corrected resampled t-test). Where the rows stay the same and only
the map varies, the plain paired test says what holds for these rows. Holm's correction is over a family: the tests of
one table on one data set with one learner.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from rfstudy.metrics import fact_of, lower_is_better
from rfstudy.report.aggregate import check_unique, facts_of, pairs_of, select, settings_of
from rfstudy.report.context import Context

#: The level of a family of tests, the repeats that a test needs, and from how many methods on a list no longer says
#: which are best.
LEVEL = 0.05
MIN_REPEATS = 5
TOO_MANY = 5

#: Rules of ``data.split`` that draw the training rows anew in every repeat.
RANDOM_SPLITS = ("half", "random", "blocks")


class Paired(NamedTuple):
    """Mean difference over the repeats that two cells share (missing where they share none), its standard error and
    p-value (missing under ``MIN_REPEATS`` repeats), and how many repeats they are."""

    difference: float
    error: float
    p_value: float
    repeats: int

    def stands(self, metric: str) -> bool:
        """Whether the difference is told as an effect: significant at ``LEVEL`` and larger than the smallest effect of
        the metric."""
        return bool(self.p_value < LEVEL and abs(self.difference) > fact_of(metric).smallest_effect)

    def interval(self, level: float = 1 - LEVEL) -> tuple[float, float]:
        """The confidence interval of the difference; missing ends under ``MIN_REPEATS`` repeats."""
        if self.repeats < MIN_REPEATS:
            return np.nan, np.nan
        half = float(stdtrit(self.repeats - 1, 0.5 + level / 2)) * self.error
        return self.difference - half, self.difference + half


def paired_test(a, b, overlap: float = 0.0) -> tuple[float, float, float]:
    """Two-sided paired t-test of equal means: mean difference a - b, its standard error, and the p-value.

    The standard error is sqrt((1/R + ``overlap``) S^2), S^2 the variance of the R differences (ddof = 1), and the
    degrees of freedom are R - 1. Where the differences do not vary (two deterministic methods), the t statistic has no
    value: p is 1 if they are all zero, else 0.

    Parameters
    ----------
    a, b : array-likes of shape (R,), R >= 2
    overlap : n_test/n_train where the repeats are random splits of the same rows (see ``overlap_of``); 0 is the plain
        test
    """
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    mean, n = float(difference.mean()), len(difference)
    deviation = float(difference.std(ddof=1))
    # Rounding of the mean leaves a deviation of a few units in the last place where the differences are equal.
    if deviation <= 8 * np.finfo(np.float64).eps * np.abs(difference).max():
        return mean, 0.0, float(mean == 0.0)
    error = deviation * float(np.sqrt(1.0 / n + overlap))
    return mean, error, float(2.0 * stdtr(n - 1, -abs(mean) / error))


def compare(one: pd.Series, other: pd.Series, overlap: float = 0.0) -> Paired:
    """One cell against another (values by repeat), repeat by repeat, with the variance that ``overlap`` asks for."""
    common = one.index.intersection(other.index)
    if len(common) < MIN_REPEATS:
        difference = float((one[common] - other[common]).mean()) if len(common) else np.nan
        return Paired(difference, np.nan, np.nan, len(common))
    return Paired(*paired_test(one[common], other[common], overlap), len(common))


def holm(p_values) -> np.ndarray:
    """Holm's step-down adjustment of p-values of shape (m,); reject where the adjusted value is below the level."""
    p_values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * (len(p_values) - np.arange(len(p_values))))
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def family(tests: dict) -> dict:
    """The tests of one family (``Paired`` by any key) with Holm's adjusted p-values in place of their own.

    Tests without a p-value are none and do not count.
    """
    tested = [key for key, test in tests.items() if not np.isnan(test.p_value)]
    adjusted = dict(zip(tested, holm([tests[key].p_value for key in tested]).tolist(), strict=True))
    return {key: test._replace(p_value=adjusted.get(key, np.nan)) for key, test in tests.items()}


def overlap_of(rows: pd.DataFrame, context: Context) -> float:
    """n_test/n_train of rows whose repeats are random splits of the same rows; 0 where only the map varies.

    0 as well for what no learner predicts (errors of the kernel matrix) and for times. How a data set was split is said
    by the first of these that says it: ``split`` of the settings of the rows, of those of the facts about the data in
    the same experiment, and of the registry. A published training part from which a cap draws rows in every repeat, or
    in whose place the experiment has another number of rows, is split at random.

    Parameters
    ----------
    rows : measured rows of one experiment, data set and quantity; ``ValueError`` for several data sets, and for random
        splits whose numbers of rows are not said
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
    told = [s["split"] for s in (*settings_of(rows.iloc[:1]), *settings_of(facts)) if "split" in s]
    rule = (told or [task.get("split", "published")])[0]
    whole = facts["n_train"].max() if len(facts) else pd.NA
    if pd.isna(whole) and not rows["stand_in"].iloc[0]:
        whole = task.get("n_train", pd.NA)
    if rule not in RANDOM_SPLITS and (pd.isna(whole) or (rows["n_train"] == whole).fillna(True).all()):
        return 0.0
    if rows[["n_train", "n_test"]].isna().any(axis=None):
        raise ValueError(f"{dataset} was split at random, but its rows do not say how many train and test")
    return float((rows["n_test"] / rows["n_train"]).max())


def note_on_tests(overlaps: dict[str, float], of_family: str, metrics: list[str]) -> str:
    """The sentence about the tests of a table: which, over which family, and what is told as an effect.

    ``overlaps`` are those of ``overlap_of`` by the name of the data set, ``of_family`` says what Holm's correction is
    over ("all methods and sizes of a data set"), ``metrics`` what is
    compared.
    """
    corrected = [name for name, overlap in overlaps.items() if overlap]
    plain = [name for name, overlap in overlaps.items() if not overlap]
    told = [f"Tests: two-sided t-tests paired by repeat, none under {MIN_REPEATS} repeats"]
    if corrected:
        where = f" ({', '.join(corrected)})" if plain else ""
        told.append(
            f"where repeats are random splits of the same rows{where}, the variance is corrected for the overlap of "
            "their training sets by n_test/n_train (Nadeau and Bengio 2003)"
        )
    if plain:
        where = f" ({', '.join(plain)})" if corrected else ""
        told.append(f"where only the map varies{where}, the test is the plain one and holds for these rows")
    smallest = max(fact_of(metric).smallest_effect for metric in metrics)
    of = " of a percentage" if not all(fact_of(metric).is_percentage for metric in metrics) else ""
    effect = f" and exceeds {smallest:g} points{of}" if smallest else ""
    return (
        f"{'; '.join(told)}. Holm's correction is over {of_family}; a difference is told as an effect if it passes at "
        f"{LEVEL:.0%}{effect}."
    )


def all_beat(cells: dict, others: list[str], baselines: list[str], metric: str, overlap: float = 0.0) -> set:
    """The places at which each of some methods is better than each of the baselines, as an effect.

    One test for every pair and place, with Holm's correction over all of them.

    Parameters
    ----------
    cells : place (a size) -> method -> values by repeat
    others, baselines : the methods that have to be better, and those that they have to be better than
    metric : what is compared; it says which way is better
    overlap : of the data set, see ``overlap_of``
    """
    tests = {
        (place, one, other): compare(values[one], values[other], overlap)
        for place, values in cells.items()
        for one in others
        for other in baselines
    }
    sign = -1.0 if lower_is_better(metric) else 1.0
    won = {key: test.stands(metric) and sign * test.difference > 0 for key, test in family(tests).items()}
    return {place for place in cells if all(beaten for key, beaten in won.items() if key[0] == place)}


class Gain(NamedTuple):
    """Advantage of a method over the better baseline, and its test; ``values`` by repeat, for tests between steps."""

    baseline: str
    values: pd.Series
    test: Paired


def gain_of(
    method: str, values: dict[str, pd.Series], baselines: list[str], overlap: float = 0.0, *, sign: float = 1.0
) -> Gain | None:
    """The gain of a method at one step over the baseline with the better mean; None where one has no values.

    ``values`` are those of every method by repeat; ``sign`` is -1 of what is better low, so that a gain is positive.
    """
    values = {name: sign * own for name, own in values.items()}
    present = {name: values[name] for name in baselines if len(values[name])}
    if not present or not len(values[method]):
        return None
    best = max(present, key=lambda name: present[name].mean())
    gained = (values[method] - present[best]).dropna()
    return Gain(best, gained, compare(values[method], present[best], overlap))


class Turn(NamedTuple):
    """A change of the gain of a method from one step to the next; its p-value is Holm's."""

    step: str
    method: str
    test: Paired


def turns(
    values: list[dict], steps, others: list[str], baselines: list[str], overlap: float = 0.0, *,
    sign: float = 1.0, alone: bool = False,
) -> list[Turn]:  # fmt: skip
    """How the gains of the ``others`` change from step to step on one data set.

    The gain of a repeat at one step is compared with that at the step before (``alone``: at the first one); Holm's
    correction is over all steps and methods of the data set. Changes without a p-value (too few repeats, a step that
    was not run) are left out. ``values`` has for every step the values of every method by repeat; ``sign`` as in
    ``gain_of``.
    """
    found = {}
    for method in others:
        gains = [gain_of(method, each, baselines, sign=sign) for each in values]
        for position, (step, after) in enumerate(zip(list(steps)[1:], gains[1:], strict=False), start=1):
            before = gains[0 if alone else position - 1]
            if before and after:
                found[step, method] = compare(after.values, before.values, overlap)
    return [Turn(*key, test) for key, test in family(found).items() if not np.isnan(test.p_value)]


@dataclass(frozen=True)
class Best:
    """Outcome of ``best_methods``: ``verdict`` is "listed", "none stands out", "no verdict" or "not run"."""

    verdict: str
    methods: tuple[tuple[str, str], ...] = ()  # (method, variant), best first
    repeats: int = 0
    left_out: dict = field(default_factory=dict)  # (method, variant) -> complete repeats
    adjusted: dict = field(default_factory=dict)  # (method, variant) -> adjusted p-value against the best


def best_methods(frame: pd.DataFrame, metric: str, groups: dict[str, list[str]], overlap: float = 0.0) -> dict:
    """Which methods are best over groups of sizes: the best one and all that are not told to be worse.

    The unit of the test is the repeat: all methods of a repeat see the same split, but the sizes of one repeat share
    that split too and are no independent observations. So a method's score in a repeat is its mean over the sizes of
    a group (of the logarithm where it is no percentage, so that every size weighs the same), and the method with the
    best mean score is compared with every other by ``compare``. Two-sided, because the best method is chosen on the
    same repeats. The groups are one family.

    A method takes part with every repeat in which it is ok at all sizes of the group; with fewer than ``MIN_REPEATS``
    it is left out. The comparison is made on the repeats that are complete for all who take part; with too few of
    them, or one method alone, there is no verdict. If ``TOO_MANY`` methods or more are listed, none stands out.

    Parameters
    ----------
    frame : tidy rows of one experiment, data set, kernel, learner and split; ``ValueError`` otherwise
    metric : what is compared
    groups : labels of the sizes of every group, by its name, e.g. {"small s": ["2d", "4d"]}
    overlap : of these rows, see ``overlap_of``

    Returns
    -------
    dict of ``Best`` by the name of the group
    """
    scores = {group: _comparable_scores(frame, metric, sizes) for group, sizes in groups.items()}
    sign = 1.0 if lower_is_better(metric) else -1.0
    tests = {}
    for group, each in scores.items():
        if not isinstance(each, Best):
            best, *others = sorted(each.scores, key=lambda pair: sign * each.scores[pair].mean())
            tests |= {(group, best, other): compare(each.scores[other], each.scores[best], overlap) for other in others}
    tests = family(tests)
    found = {}
    for group, each in scores.items():
        if isinstance(each, Best):
            found[group] = each
            continue
        of_group = {other: test for (where, _, other), test in tests.items() if where == group}
        (best,) = {best for where, best, _ in tests if where == group}
        listed = (best, *(other for other, test in of_group.items() if not test.stands(metric)))
        verdict = "none stands out" if len(listed) >= TOO_MANY else "listed"
        adjusted = {other: test.p_value for other, test in of_group.items()}
        found[group] = Best(verdict, listed, each.repeats, each.left_out, adjusted)
    return found


class _Scores(NamedTuple):
    """Scores by repeat of the methods that take part, the number of their common repeats, and who is left out."""

    scores: dict
    repeats: int
    left_out: dict


def _comparable_scores(frame: pd.DataFrame, metric: str, sizes: list[str]) -> _Scores | Best:
    """What ``best_methods`` compares in one group, or its outcome where there is nothing to compare."""
    rows = select(frame, metric=metric, n_features_label=sizes)
    for column in ("experiment", "dataset", "kernel", "learner", "split"):
        if rows[column].nunique() > 1:
            raise ValueError(f"best_methods compares within one {column}, got {sorted(rows[column].unique())}")
    if not len(rows):
        return Best("not run")
    check_unique(rows)
    complete = complete_scores(rows, metric, sizes)
    left_out = {pair: len(scores) for pair, scores in complete.items() if len(scores) < MIN_REPEATS}
    takes_part = [pair for pair in complete if pair not in left_out]
    common = sorted(set.intersection(*(set(complete[pair].index) for pair in takes_part))) if takes_part else []
    if len(takes_part) < 2 or len(common) < MIN_REPEATS:
        return Best("no verdict", repeats=len(common), left_out=left_out)
    return _Scores({pair: complete[pair].loc[common] for pair in takes_part}, len(common), left_out)


def complete_scores(rows: pd.DataFrame, metric: str, sizes: list[str]) -> dict[tuple[str, str], pd.Series]:
    """Scores of one quantity on one data set, per method and variant and by repeat: the mean over the sizes (of the
    logarithm of what is no percentage) of the repeats in which every size is ok."""
    ok = rows[rows["status"] == "ok"]
    values = ok["value"]
    if not fact_of(metric).is_percentage:
        if (values <= 0).any():
            raise ValueError(f"{metric} must be positive to be compared on a logarithmic scale")
        values = np.log(values)
    ok = ok.assign(value=values)
    scores = {}
    for method, variant in pairs_of(rows):
        repeats = select(ok, method=method, variant=variant).groupby("repeat")["value"].agg(["mean", "size"])
        scores[method, variant] = repeats.loc[repeats["size"] == len(sizes), "mean"]
    return scores
