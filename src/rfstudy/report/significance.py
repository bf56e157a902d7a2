"""Statements made of several tests: gains over baselines and their changes, and lists of best methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of, lower_is_better
from rfstudy.report.aggregate import check_unique, pairs_of, select
from rfstudy.report.compare import MIN_REPEATS, Estimate, family, is_effect, paired

#: From how many methods on a list no longer says which are best.
TOO_MANY = 5


def all_beat(cells: dict, others: list[str], baselines: list[str], metric: str, overlap: float = 0.0) -> set:
    """The places at which each of some methods is better than each of the baselines, as an effect.

    One test for every pair and place, with Holm's correction over all of them.

    Parameters
    ----------
    cells : place (a size) -> method -> values by repeat
    others, baselines : the methods that have to be better, and those that they have to be better than
    metric : what is compared; it says which way is better
    overlap : of the data set, see ``compare.overlap_of``
    """
    tests = {
        (place, one, other): paired(values[one], values[other], overlap)
        for place, values in cells.items()
        for one in others
        for other in baselines
    }
    sign = -1.0 if lower_is_better(metric) else 1.0
    won = {key: is_effect(test, metric) and sign * test.value > 0 for key, test in family(tests).items()}
    return {place for place in cells if all(beaten for key, beaten in won.items() if key[0] == place)}


class Gain(NamedTuple):
    """Advantage of a method over the better baseline, and its test; ``values`` by repeat, for tests between steps."""

    baseline: str
    values: pd.Series
    test: Estimate


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
    return Gain(best, gained, paired(values[method], present[best], overlap))


class Turn(NamedTuple):
    """A change of the gain of a method from one step to the next; its p-value is Holm's."""

    step: str
    method: str
    test: Estimate


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
                found[step, method] = paired(after.values, before.values, overlap)
    return [Turn(*key, test) for key, test in family(found).items() if not np.isnan(test.p)]


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
    best mean score is compared with every other by ``paired``. Two-sided, because the best method is chosen on the
    same repeats. The groups are one family.

    A method takes part with every repeat in which it is ok at all sizes of the group; with fewer than ``MIN_REPEATS``
    it is left out. The comparison is made on the repeats that are complete for all who take part; with too few of
    them, or one method alone, there is no verdict. If ``TOO_MANY`` methods or more are listed, none stands out.

    Parameters
    ----------
    frame : tidy rows of one experiment, data set, kernel, learner and split; ``ValueError`` otherwise
    metric : what is compared
    groups : labels of the sizes of every group, by its name, e.g. {"small s": ["2d", "4d"]}
    overlap : of these rows, see ``compare.overlap_of``

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
            tests |= {(group, best, other): paired(each.scores[other], each.scores[best], overlap) for other in others}
    tests = family(tests)
    found = {}
    for group, each in scores.items():
        if isinstance(each, Best):
            found[group] = each
            continue
        of_group = {other: test for (where, _, other), test in tests.items() if where == group}
        (best,) = {best for where, best, _ in tests if where == group}
        listed = (best, *(other for other, test in of_group.items() if not is_effect(test, metric)))
        verdict = "none stands out" if len(listed) >= TOO_MANY else "listed"
        adjusted = {other: test.p for other, test in of_group.items()}
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
