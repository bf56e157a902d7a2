"""Run a comparison: understand the file, hold the contest, open the test part, write the answer."""

import json
import re
from pathlib import Path

import numpy as np

from random_features.alarm import alarm
from random_features.compare import recipe, report, warnings
from random_features.compare.contest import Clock, Contest, OutOfTime, contestants, hold, units
from random_features.compare.contestants import BASELINES, folder_of, is_map
from random_features.compare.decide import Decision, decide, label, missing, paired_interval
from random_features.compare.files import write
from random_features.compare.question import Question, understand
from random_features.errors import UserError
from random_features.maps.registry import REGISTRY, resolve

#: Seconds of a budget in the units that a user writes, and the longest one, a year.
UNITS, MOST_SECONDS = {"s": 1, "m": 60, "h": 3600, "": 60}, 365 * 24 * 3600

#: Seconds of the report, and the share of the budget in which the file is checked for warnings.
REPORT_SECONDS, CHECKED_SHARE = 4.0, 0.1

#: The share of the smallest class below which classes are of unequal size.
UNEQUAL = 0.2


def seconds_of(text: str) -> float:
    """Return the seconds of a budget such as 90s, 10m or 1h; a bare number is minutes.

    >>> seconds_of("10m"), seconds_of("90s"), seconds_of("2")
    (600.0, 90.0, 120.0)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", str(text).strip())
    seconds = float(match[1]) * UNITS[match[2]] if match else 0
    if not 0 < seconds <= MOST_SECONDS:
        raise UserError(f"--budget {text}: write a time such as 90s, 10m or 1h, at most a year")
    return seconds


def compare(
    file, target=None, *, out=None, budget="10m", margin=0.02, maps=(), columns=4096, started=None, **how
) -> Decision:
    """Compare maps with baselines on a file, write the answer into the folder ``out``, and return the decision.

    ``how`` has the options of ``understand``. Raise ``UserError`` for a file that cannot be compared, and for a folder
    that has something else; nothing is written then.
    """
    seconds = seconds_of(budget)
    clock = Clock(max(seconds - REPORT_SECONDS, 0.5 * seconds), started)
    if not 0 <= margin <= 1:  # so is no nan
        raise UserError(f"--margin {margin}: write a share from 0 to 1, such as 0.02")
    for name in maps:
        check_map(name)
    question = understand(file, target, **how)
    settings, out = question.settings, Path(out or folder_of(file))
    own = {"file": str(Path(file).resolve()), "target": settings["target"]}
    check_folder(out, own)
    print(*question.notes, f"budget: {budget}", sep="\n", flush=True)
    parts = recipe.final_parts(question.y, question.groups, settings["task"], bool(settings["time"]))
    contest = Contest(question, parts[0], out / "cells")
    names, left_out = contestants(contest.parts[0], maps)
    todo = units(names, contest.n_train, columns)
    write(out / "question.json", json.dumps(own))
    hold(contest, todo, clock)
    if "guess" not in {result.unit.name for result in contest.results}:
        raise UserError(f"--budget {budget}: not even a guess was finished; state a longer one")
    found = warnings.found(question, max(3.0, CHECKED_SHARE * seconds))
    decision = decide(contest.fair(), contest.groups, margin, missing(contest, names))
    scores, not_opened = tested(question, contest, decision, clock, *parts)
    found += limits(contest, scores)
    reasons = left_out | contest.reasons | not_opened
    report.write_answer(out, file, question, contest, decision, scores, found, reasons, margin)
    return decision


def check_folder(out: Path, own: dict) -> None:
    """Raise ``UserError`` if a folder has files that are no answer to this question: they could be replaced."""
    record = out / "question.json"
    known = json.loads(record.read_text("utf-8")) if record.is_file() else None
    if known not in (None, own):
        raise UserError(f"--out {out}: has the answer on {known['file']}, {known['target']}; name another folder")
    clash = [name for name in report.FILES if (out / name).exists()] if known is None else []
    if clash or out.resolve() == Path(own["file"]).parent:
        some = ", ".join(clash) or "your file"
        raise UserError(f"--out {out}: has {some}, which compare did not write; name another folder")


def check_map(name: str) -> None:
    """Raise ``UserError`` for a map that is unknown, or is none of the Gaussian kernel."""
    try:
        canonical, _ = resolve(name)
    except ValueError as error:
        raise UserError(f"--maps {name}: {error}") from None
    if "gaussian" not in REGISTRY[canonical].kernels:
        raise UserError(f"--maps {name}: it does not apply to the Gaussian kernel, which is compared here")


def tested(
    question: Question, contest: Contest, decision: Decision, clock: Clock, rows, test
) -> tuple[list[dict], dict]:
    """Open the test part once: return the scores of the recommended, the guess, the best, boosting, the exact kernel
    and the best map, and the reasons for which the budget left out one of them. Rows of a group count as one.
    """
    settings, found, reasons = question.settings, [], {}
    ranked, metric = contest.fair(), settings["metric"]
    others = [next((each for each in ranked if each.unit.name == name), None) for name in BASELINES[:2]]
    others += [next((each for each in ranked if is_map(each.unit.name)), None), contest.last("exact-kernel")]
    groups = test if question.groups is None else question.groups[test]
    X, y = recipe.rows_of(question.table, test), question.y[test]
    unequal = settings["task"] == "classes" and np.bincount(y).min() < UNEQUAL * len(y)
    for result in {each.unit: each for each in (decision.chosen, decision.best, *others) if each}.values():
        n = None if result.unit.n == contest.n_train else result.unit.n
        train = recipe.sample(rows, n)
        try:
            with alarm(1e9 if result.unit == decision.chosen.unit else max(0.01, clock.left()), OutOfTime()):
                table = recipe.rows_of(question.table, train)
                best = recipe.fitted(table, question.y[train], settings, result.unit.name, result.settings)
                P = recipe.predicted(best, X, settings["task"])
        except (OutOfTime, KeyboardInterrupt):
            reasons[f"test of {label(result)}"] = "the budget does not leave its final fit"
            continue
        losses = recipe.losses(P, y, metric)
        mean, half = paired_interval(losses, 0 * losses, groups)
        low, high = sorted(recipe.score(max(0.0, bound), metric) for bound in (mean - half, mean + half))
        more = recipe.METRICS["classes"][1 : None if unequal and P.shape[1] == 2 else 2] if unequal else ()
        never = unequal and not (P.argmax(axis=1) == np.bincount(y).argmin()).any()
        found.append({
            "result": result, "rows": n, "score": recipe.score(losses, metric), "low": low, "high": high,
            "more": {name: recipe.score(recipe.losses(P, y, name), name) for name in more},
            "never": settings["classes"][np.bincount(y).argmin()] if never else None,
        })  # fmt: skip
    return found, reasons


def limits(contest: Contest, scores) -> list[dict]:
    """Return warnings: a class that is never predicted, and what did not run."""
    found = [{"warning": "not run", "evidence": f"{name} {why}"} for name, why in contest.reasons.items()]
    if scores[0]["never"] is not None:
        better = "--metric balanced-error, auc or average-precision asks for a contestant that finds it"
        found.append({"warning": "never predicts the smaller class", "evidence": f"{scores[0]['never']!r}; {better}"})
    return found
