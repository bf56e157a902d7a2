"""The decision: the cheapest contestant that is shown to lie within a margin of the best, or what is undecided.

Losses are compared row by row on the same held-out rows. Differences are in units of the mean loss of a guess (the mean
or the majority class): a margin of 2 % is 0.02 of R^2 of a regression, and 2 % of the errors of a guess.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import t

from random_features.compare.contest import Result
from random_features.compare.contestants import is_map

#: The level of the intervals.
CONFIDENCE = 0.95

#: Contestants whose seconds differ by less than this factor cost the same: the one with fewer columns is preferred.
SAME_COST = 1.5


class Decision(NamedTuple):
    """A decision.

    Attributes
    ----------
    chosen : the recommended result; of undecided ones the cheapest
    best : the result with the lowest mean loss
    kind : "nothing", "map", "no map" or "undecided"
    answer : one sentence
    comparisons : one dict per result: its difference to the best with an interval, and a verdict
    """

    chosen: Result
    best: Result
    kind: str
    answer: str
    comparisons: list[dict]


def paired_interval(losses, others, groups, confidence=CONFIDENCE) -> tuple[float, float]:
    """Return the mean difference of two losses of the same rows, and the half width of its confidence interval.

    Rows of one group count as one observation: their sums vary, with the groups as a ratio estimator.
    """
    difference = losses - others
    _, index = np.unique(groups, return_inverse=True)
    n_groups, mean = index.max() + 1, difference.mean()
    if n_groups < 2:
        return mean, np.inf
    sums = np.bincount(index, difference - mean)
    error = np.sqrt(n_groups / (n_groups - 1) * (sums**2).sum()) / len(difference)
    return mean, t.ppf(0.5 + confidence / 2, n_groups - 1) * error


def decide(results: list[Result], groups, margin: float) -> Decision:
    """Return the decision between results, one of which is the guess, on held-out rows of some groups."""
    guess = next(result for result in results if result.unit.name == "guess")
    scale = guess.losses.mean() or 1.0
    best = min(results, key=lambda result: result.losses.mean())
    comparisons = []
    for result in results:
        mean, half = paired_interval(result.losses, best.losses, groups)
        low, high = (mean - half) / scale, (mean + half) / scale
        verdict = "within the margin" if high <= margin else "worse" if low > margin else "undecided"
        comparisons.append({"result": result, "difference": mean / scale, "low": low, "high": high, "verdict": verdict})
    comparisons.sort(key=lambda each: cost_of(each["result"]))
    level = 1 - (1 - CONFIDENCE) / max(1, len(results) - 1)  # Bonferroni: any of them may beat the guess by chance
    gains = (paired_interval(guess.losses, each.losses, groups, level) for each in results if each is not guess)
    beaten = any(mean > half for mean, half in gains)
    shown = next(each["result"] for each in comparisons if each["verdict"] == "within the margin")
    maybe = [each for each in comparisons if each["verdict"] == "undecided" and each["difference"] <= margin]
    cheaper = [each["result"] for each in maybe if cost_of(each["result"]) < cost_of(shown)]
    if not beaten or (shown is guess and not cheaper):
        why = "by more than the margin" if beaten else "as far as these rows show"
        return Decision(guess, best, "nothing", f"Nothing beats the mean or majority class {why}.", comparisons)
    if cheaper:
        names = {result.unit.name: label(result) for result in reversed([*cheaper, shown])}
        answer = f"Undecided between {', '.join(reversed(names.values()))}; the cheapest is {label(cheaper[0])}."
        return Decision(cheaper[0], best, "undecided", answer, comparisons)
    if is_map(shown.unit.name):
        return Decision(shown, best, "map", f"Use {label(shown)}.", comparisons)
    maps_lose = all(each["verdict"] == "worse" for each in comparisons if is_map(each["result"].unit.name))
    why = "is better" if maps_lose or shown is best else "is as good within the margin and costs less"
    maps = sorted((each for each in results if is_map(each.unit.name)), key=lambda each: each.losses.mean())
    best_map = f" The best map is {label(maps[0])}." if maps else ""
    answer = f"Do not use random features here: {label(shown)} {why}.{best_map}"
    return Decision(shown, best, "no map", answer, comparisons)


def cost_of(result: Result) -> tuple:
    """Return the key that orders results by cost: the guess, then seconds in steps, then columns."""
    if result.unit.name == "guess":
        return (-np.inf, 0, "")
    step = np.round(np.log(max(result.seconds, 0.02)) / np.log(SAME_COST))
    return (step, result.unit.columns or 0, result.unit.name)


def label(result: Result) -> str:
    """Return a result in words: the contestant, and the number of columns of a map."""
    if result.unit.name == "guess":
        return "the mean or majority class"
    return f"{result.unit.name} with {result.unit.columns:,} columns" if result.unit.columns else result.unit.name
