"""Run a comparison: understand the file, hold the contest, open the test part, write the answer."""

import json
import re
import signal
import time
from pathlib import Path

from random_features import make_map
from random_features.alarm import alarm
from random_features.compare import recipe, report, warnings
from random_features.compare.contest import Contest, OutOfTime, contestants, hold, units
from random_features.compare.contestants import folder_of, is_map
from random_features.compare.decide import Decision, decide, label, missing, paired_interval
from random_features.compare.question import Question, understand
from random_features.errors import UserError
from random_features.kernels import Gaussian

#: Seconds of a budget in the units that a user writes, and the longest one, a year.
UNITS, MOST_SECONDS = {"s": 1, "m": 60, "h": 3600, "": 60}, 365 * 24 * 3600

#: Seconds of the report, and the share of the budget in which the file is checked for warnings.
REPORT_SECONDS, CHECKED_SHARE = 4.0, 0.1


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
    if not hasattr(signal, "setitimer"):
        raise UserError("compare keeps its budget by a signal that Windows lacks: run it in WSL, on Linux or on macOS")
    end = (started or time.monotonic()) + max(seconds - REPORT_SECONDS, 0.5 * seconds)
    if not 0 <= margin <= 1:  # so is no nan
        raise UserError(f"--margin {margin}: write a share from 0 to 1, such as 0.02")
    for name in maps:
        try:
            make_map(name, Gaussian())
        except ValueError as error:
            raise UserError(f"--maps {name}: {error}") from None
    question = understand(file, target, **how)
    settings, out = question.settings, Path(out or folder_of(file))
    record, own = out / "question.json", json.dumps({"file": str(Path(file).resolve()), "target": settings["target"]})
    if out.exists() and any(out.iterdir()) and not (record.is_file() and record.read_text("utf-8") == own):
        raise UserError(f"--out {out}: has files that are no answer to this question; name another folder")
    print(*question.notes, f"budget: {seconds:,.0f} s", sep="\n", flush=True)
    found = warnings.found(question, max(3.0, CHECKED_SHARE * seconds))
    parts = recipe.final_parts(question.table, question.y, question.groups, settings)
    if settings["metric"] in recipe.RANKED and len(set(question.y[parts[1]])) == 1:
        raise UserError(f"--metric {settings['metric']}: the test part has one class; name another metric, or add rows")
    found += warnings.small_test(len(parts[1]), len(question.y))
    too_short = UserError(f"--budget {budget}: not even a guess was finished; state a longer one")
    try:
        with alarm(max(0.01, end - time.monotonic()), OutOfTime()):
            contest = Contest(question, parts[0], out / "cells")
    except OutOfTime:
        raise too_short from None
    record.write_text(own, "utf-8")
    names, contest.reasons = contestants(contest.parts[0], maps)
    hold(contest, units(names, contest.n_train, columns), end)
    if not contest.last("guess"):
        raise too_short
    decision = decide(contest.fair(), contest.groups, margin, missing(contest, names))
    scores = tested(question, contest, decision, end, *parts)
    for why in dict.fromkeys(contest.reasons.values()):
        names = ", ".join(name for name, each in contest.reasons.items() if each == why)
        found.append({"warning": "not run", "evidence": f"{names} {why}"})
    report.write_answer(out, file, question, contest, decision, scores, found, margin)
    return decision


def tested(question: Question, contest: Contest, decision: Decision, end: float, rows, test) -> list[dict]:
    """Open the test part once: return the scores of the recommended, the guess, the best, boosting, the exact kernel
    and the best map, but for those that the budget leaves out, with the reason. Rows of a group count as one.
    """
    settings, found, fair = question.settings, [], contest.fair()
    classes, metric = settings["classes"], settings["metric"]
    first = {each.unit.name: each for each in reversed(fair)}
    best_map = next((each for each in fair if is_map(each.unit.name)), None)
    opened = [decision.chosen, decision.best, first.get("guess"), first.get("boosting"), best_map]
    opened = {each.unit: each for each in [*opened, contest.last("exact-kernel")] if each}
    groups = test if question.groups is None else question.groups[test]
    y, encoded = question.y[test], {}
    more = [each for each in recipe.RARE[len(classes) > 2] if each != metric] if warnings.unequal(question) else []
    more = [each for each in more if each not in recipe.RANKED or len(set(y)) > 1]
    for unit, result in opened.items():
        n = contest.n_final if unit.n == contest.n_train else unit.n
        train = rows[recipe.drawn(question.y[rows], n)]
        try:
            with alarm(max(0.01, end - time.monotonic()) if found else 1e9, OutOfTime()):
                if n not in encoded:
                    encoder = recipe.encoder(settings)
                    Z = encoder.fit_transform(recipe.rows_of(question.table, train), question.y[train])
                    encoded[n] = Z, encoder.transform(recipe.rows_of(question.table, test))
                Z, Z_test = encoded[n]
                fitted = recipe.fitted(Z, question.y[train], settings, unit.name, result.settings, is_encoded=True)
                P = recipe.predicted(fitted, Z_test, classes)
        except (OutOfTime, KeyboardInterrupt):
            if not found:  # the recommended
                raise
            contest.reasons[f"final fit of {label(result)}"] = "for its test score: the budget does not leave the time"
            continue
        losses = recipe.losses(P, y, metric)
        mean, half = paired_interval(losses, 0 * losses, groups)
        most = float("inf") if metric in ("log-loss", *recipe.METRICS["regression"]) else 1.0
        low, high = sorted(recipe.score(min(max(each, 0.0), most), metric) for each in (mean - half, mean + half))
        found.append({
            "result": result, "rows": None if n == len(rows) else n, "score": recipe.score(losses, metric),
            "low": low, "high": high, "more": {name: recipe.score(recipe.losses(P, y, name), name) for name in more},
            "never": [each for code, each in enumerate(classes or ()) if code not in P.argmax(axis=1)] if more else [],
        })  # fmt: skip
    return found
