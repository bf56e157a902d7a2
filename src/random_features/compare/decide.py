"""The decision: the cheapest contestant that is shown to lie within a margin of the best, or what is undecided.

Losses are compared row by row on the same held-out rows. Differences are in units of the mean loss of the best, or
of the guess if the best has none: a margin of 2 % is 1 % of the root mean squared error of a regression, and 2 % of the
errors of the best classifier.
"""

from collections import namedtuple

import numpy as np
from scipy.stats import t

from random_features.compare.contest import Contest, Result, rank
from random_features.compare.contestants import BASELINES, is_map

#: The level of the intervals.
CONFIDENCE = 0.95

#: Contestants whose seconds differ by less than this factor cost the same: the one with fewer columns is preferred.
SAME_COST = 1.5


#: A decision: the recommended result (``chosen``), of undecided ones the best; the result with the lowest mean loss
#: (``best``); ``kind``: "nothing", "map", "no map", "undecided", or "unfinished" where there is no answer yet; one or
#: two sentences (``answer``); and ``comparisons``, a dict per result: its difference to the best, with an interval and
#: a verdict.
Decision = namedtuple("Decision", "chosen best kind answer comparisons")


def paired_interval(losses, others, groups, confidence=CONFIDENCE) -> tuple[float, float]:
    """Return the mean difference of two losses of the same rows, and the half width of its confidence interval.

    Rows of one group count as one observation: their sums vary, with the groups as a ratio estimator.
    """
    difference = losses - others
    _, index = np.unique(groups, return_inverse=True)
    n_groups, mean = index.max() + 1, difference.mean()
    if n_groups < 2:
        return mean, np.inf if difference.any() else 0.0
    sums = np.bincount(index, difference - mean)
    error = np.sqrt(n_groups / (n_groups - 1) * (sums**2).sum()) / len(difference)
    return mean, t.ppf(0.5 + confidence / 2, n_groups - 1) * error


def missing(contest: Contest, names) -> dict[str, str]:
    """Return the baselines that did not run on all rows, and "all maps" if none did, with the reasons. Exact kernels
    may have fewer.
    """
    whole, why = {each.unit.name for each in contest.results if each.unit.n == contest.n_train}, contest.reasons
    lacking = {name: why.get(name, "") for name in BASELINES[1:-1] if name in names and name not in whole}
    of_maps = "; ".join(reason for name, reason in why.items() if is_map(name))
    return lacking | ({} if any(map(is_map, whole)) else {"all maps": of_maps})


def decide(results: list[Result], groups, margin: float, lacking=()) -> Decision:
    """Return the decision between results, one of which is the guess, on held-out rows of some groups; ``lacking`` are
    contestants that did not run, with the reasons.
    """
    guess = next(result for result in results if result.unit.name == "guess")
    best = min(results, key=rank)
    scale = best.losses.mean() or guess.losses.mean() or 1.0
    comparisons = []
    for result in sorted(results, key=cost_of):
        mean, half = (each / scale for each in paired_interval(result.losses, best.losses, groups))
        low, high = mean - half, mean + half
        verdict = "within the margin" if high <= margin else "worse" if low > margin else "undecided"
        comparisons.append({"result": result, "difference": mean, "low": low, "high": high, "verdict": verdict})
    if lacking:
        seen = "" if best is guess else f" So far {label(best)} is best."
        why = "did not run; the warnings say why"
        why += ", and a longer --budget may help" * any("budget" in each for each in dict(lacking).values())
        answer = f"No answer yet: {' and '.join(lacking)} {why}.{seen}"
        return Decision(best, best, "unfinished", answer, comparisons)
    shown = next(each["result"] for each in comparisons if each["verdict"] == "within the margin")
    level = 1 - (1 - CONFIDENCE) / max(1, len(results) - 1)  # Bonferroni: any of them may beat the guess by chance
    gains = (paired_interval(guess.losses, each.losses, groups, level) for each in results if each is not guess)
    beaten = any(mean > half for mean, half in gains)
    if not beaten or shown is guess:
        why = "by more than the margin" if beaten else "as far as these rows show"
        return Decision(guess, best, "nothing", f"Nothing beats {label(guess)} {why}.", comparisons)
    rows = f", fitted to {shown.unit.n:,} rows" if shown.unit.n < guess.unit.n else ""
    kind, answer = "map" if is_map(shown.unit.name) else "no map", f"Use {label(shown)}{rows}."
    maps = [each for each in comparisons if is_map(each["result"].unit.name)]
    if kind == "no map" and maps:
        worse = all(each["verdict"] == "worse" for each in maps)
        why = "every map is worse" if worse else "no map is shown to be as good and cheaper"
        most = max(each["result"].unit.columns for each in maps)
        best_map = min((each["result"] for each in maps), key=rank)
        answer = f"{answer[:-1]}: {why}, with up to {most:,} columns. The best map is {label(best_map)}."
    maybe = [each["result"] for each in comparisons if each["difference"] <= margin < each["high"]]
    if cheaper := [each for each in maybe if cost_of(each) < cost_of(shown)]:
        names = " or ".join(dict.fromkeys(label(each) for each in cheaper[:3]))
        kind, answer = "undecided", f"{answer} These rows do not show whether {names}, cheaper, is as good."
    return Decision(shown, best, kind, answer, comparisons)


def cost_of(result: Result) -> tuple:
    """Return the key that orders results by cost: the guess, then seconds in steps, then columns."""
    if result.unit.name == "guess":
        return (-np.inf, 0, "")
    step = np.round(np.log(max(result.seconds, 0.02)) / np.log(SAME_COST))
    return (step, result.unit.columns or 0, result.unit.name)


def label(result: Result) -> str:
    """Return a result in words: the contestant, and the number of columns of a map."""
    columns = f" with {result.unit.columns:,} columns" if result.unit.columns else ""
    return result.settings.get("words", result.unit.name) + columns
