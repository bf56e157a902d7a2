"""Run a comparison: understand the file, print the plan, hold the contest, open the test part once, write the answer."""

import json
import re
import time
from pathlib import Path

import numpy as np
from tqdm import tqdm

from random_features.errors import UserError
from random_features.learners.gram import MAX_ROWS
from random_features.maps.registry import resolve
from rfstudy.compare import recipe, report, warnings
from rfstudy.compare.contest import (
    COLUMNS,
    SLOW,
    Clock,
    Contest,
    Unit,
    contestants,
    hold,
    is_map,
    units,
)
from rfstudy.compare.decide import Decision, decide, paired_interval
from rfstudy.compare.question import Question, understand
from rfstudy.files import digest_of, read_json, write_json

#: Seconds of a budget in the units that a user writes.
UNITS = {"s": 1, "m": 60, "h": 3600, "": 60}

#: A budget without a limit: the workflow's.
NO_LIMIT = 1e9

#: The rows of the pilot, and the longest unit of a fixed plan.
PILOT_ROWS, LONGEST_SECONDS = 1000, 3600.0


def seconds_of(text: str) -> float:
    """Return the seconds of a budget such as 90s, 10m or 1h; a bare number is minutes.

    >>> seconds_of("10m"), seconds_of("90s"), seconds_of("2")
    (600.0, 90.0, 120.0)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", str(text).strip())
    if not match or float(match[1]) == 0:
        raise UserError(f"--budget {text}: write a time such as 90s, 10m or 1h")
    return float(match[1]) * UNITS[match[2]]


def compare(
    file, target=None, *, out=None, budget="10m", margin=0.02, maps=(), columns=COLUMNS[-1], stage="all", contestant=None,
    started=None, **how,
) -> Decision | None:  # fmt: skip
    """Compare maps with baselines on a file, and write the answer into the folder ``out``.

    ``stage`` is "all", or a part of it for a workflow: "plan" (pilot and plan), "run" (one contestant), "answer".
    Raise ``UserError`` for a file that cannot be compared; nothing is written then.
    """
    clock = Clock(seconds_of(budget) if stage == "all" else NO_LIMIT, started)
    for name in maps:
        check_map(name)
    question = understand(file, target, **how)
    out = Path(out or f"compare-{Path(file).name.split('.')[0] or 'file'}")
    say = print if stage != "run" else (lambda *words: None)
    for note in question.notes:
        say(note)
    identity = json.dumps([digest_of(file), question.settings, margin], default=str)
    parts = recipe.test_parts(question.y, question.groups, question.settings["task"], bool(question.settings["time"]))
    few = len(question.y) < recipe.FEW_ROWS
    rows = np.arange(len(question.y)) if few else parts[0][0]
    contest = Contest(question, rows, out / "cells", identity)
    plan_file = out / "plan.json"
    if stage in ("all", "plan"):
        names, left_out = contestants(contest.parts[0], maps)
        todo = units(names, contest.n_train, columns)
    else:
        plan = read_json(plan_file)
        names, left_out, todo = plan["contestants"], plan["left_out"], [Unit(*unit) for unit in plan["units"]]
    if stage == "run":
        hold(contest, [unit for unit in todo if unit.name in (contestant, "guess")], clock, say)
        return None
    if few:
        clock.end -= 0.5 * clock.left() if stage == "all" else 0  # half of the time is for the outer folds
    pilot = [unit for unit in todo if unit.n <= min(PILOT_ROWS, contest.n_train)]
    budget_seconds = clock.left()
    skipped = hold(contest, pilot if stage != "answer" else [], clock)
    expected = {unit: clock.expected(unit, contest.parts) for unit in todo if unit not in pilot}
    if stage != "answer":
        say(*plan_lines(question, contest, names, todo, expected, budget_seconds if stage == "all" else None), sep="\n")
    if stage == "plan":
        kept = [unit for unit in todo if expected.get(unit, 0.0) <= LONGEST_SECONDS]
        write_json({"contestants": names, "left_out": left_out, "units": kept}, plan_file)
        return None
    if "interrupted" not in skipped.values():
        with tqdm(total=round(min(sum(expected.values()), budget_seconds)), unit="s", bar_format="{l_bar}{bar}| {n_fmt} of {total_fmt} s, {desc}", leave=False) as bar:  # fmt: skip
            skipped |= hold(contest, [unit for unit in todo if unit not in pilot], clock, lambda unit: moved(bar, unit))
    if "guess" not in {result.unit.name for result in contest.results}:
        raise UserError("interrupted before anything was finished; the same command goes on")
    decision = decide(contest.final(), contest.groups, margin)
    outer = nested(question, contest, parts, todo, decision, clock, margin) if few else None
    tested = test(question, contest, decision)
    found = warnings.found(question, contest.parts[0].X.shape[1]) + edges(decision)
    reasons = left_out | reasons_of(skipped, contest)
    report.write(out, file, question, contest, decision, tested, outer, found, reasons, margin)
    return decision


def check_map(name: str) -> None:
    """Raise ``UserError`` for an unknown map; warn of one whose fit takes long."""
    try:
        canonical, _ = resolve(name)
    except ValueError as error:
        raise UserError(f"--maps {name}: {error}") from None
    if "gaussian" not in recipe_kernels(canonical):
        raise UserError(f"--maps {name}: it does not apply to the Gaussian kernel, which is compared here")
    if canonical in SLOW:
        print(f"warning: the fit of {name} takes long; it may get few columns within the budget")


def recipe_kernels(name: str) -> tuple[str, ...]:
    """Return the kernels of a map."""
    from random_features.maps.registry import REGISTRY

    return REGISTRY[name].kernels


def moved(bar, unit: Unit) -> None:
    """Move a progress bar to the seconds since its start, and name the unit that runs."""
    bar.n = min(bar.total, round(time.time() - bar.start_t))
    words = f"{unit.name} on {unit.n:,} rows" + (f", {unit.columns} columns" if unit.columns else "")
    bar.set_description_str(words)


def plan_lines(question, contest, names, todo, expected, budget) -> list[str]:
    """Return what will be done and what it is expected to take, from the pilot."""
    d, n = contest.parts[0].X.shape[1], contest.n_train
    most = max((unit.columns or 0 for unit in todo), default=0)
    memory = 0.5 + (len(question.y) * d * 12 + 8 * 8 * most**2 + (3 * 8 * min(n, MAX_ROWS) ** 2)) / 1e9
    total = sum(expected.values()) / 60
    lines = [
        f"contestants: {', '.join(names)}",
        f"rounds: {', '.join(f'{n:,}' for n in sorted({unit.n for unit in todo}))} training rows; maps with up to {most:,} columns",
        f"expected: {total:.1f} minutes for everything, up to {memory:.1f} GB of memory",
    ]
    if budget is not None:
        lines.append(
            f"budget: {budget / 60:.1f} minutes"
            + ("; larger units that do not fit are left out" if 60 * total > budget else "")
        )
    return lines


def nested(question, contest, parts, todo, decision, clock, margin) -> dict:
    """Return the cross-validated score of the whole recommendation: a contest and a decision in every outer fold."""
    clock.end += clock.end - time.monotonic() if clock.left() > 0 and clock.left() < NO_LIMIT / 2 else 0
    losses, names = [], []
    for k, (train, test_rows) in enumerate(parts):
        inner = Contest(question, train, contest.folder, f"{contest.identity} fold {k}")
        share = Clock(max(5.0, clock.left() / (len(parts) - k)))
        share.factors = dict(clock.factors)
        mine = [unit._replace(n=min(unit.n, inner.n_train)) for unit in todo if (unit.columns or 0) <= inner.n_train]
        hold(inner, list(dict.fromkeys(mine)), share)
        own = decide(inner.final(), inner.groups, margin).chosen
        names.append(own.unit.name)
        settings = question.settings
        losses.append(
            recipe.part_losses(question.table, question.y, train, test_rows, settings, own.unit.name, own.settings)
        )
    return {"score": recipe.score(np.concatenate(losses), contest.task), "recommended": names}


def rows_used(contest: Contest, unit: Unit) -> int | None:
    """Return the training rows of the final fit: None for all, or those of the contest where it had not all of them."""
    if unit.name == "exact kernel":
        return min(unit.n, MAX_ROWS) if unit.n < contest.n_train else MAX_ROWS
    return unit.n if unit.n < contest.n_train else None


def test(question: Question, contest: Contest, decision: Decision) -> list[dict]:
    """Open the test part once: return the scores of the recommended, the best, the best map and the guess."""
    results = contest.final()
    maps = sorted((each for each in results if is_map(each.unit.name)), key=lambda each: each.losses.mean())
    guess = [each for each in results if each.unit.name == "guess"]
    scored, reference = [], None
    for result in dict.fromkeys(map(id, [decision.chosen, decision.best, *maps[:1], *guess])):
        result = next(each for each in [*results, decision.chosen, decision.best] if id(each) == result)
        unit, most = result.unit, rows_used(contest, result.unit)
        args = (question.table, question.y, question.groups, question.settings)
        losses = recipe.test_losses(*args, unit.name, result.settings, most)
        reference = losses if reference is None else reference
        mean, half = paired_interval(losses, reference, np.arange(len(losses)))
        alone = paired_interval(losses, np.zeros_like(losses), np.arange(len(losses)))
        bounds = [recipe.score(np.array([max(0.0, alone[0] + sign * alone[1])]), contest.task) for sign in (-1, 1)]
        scored.append({
            "result": result, "rows": most, "losses": losses, "score": recipe.score(losses, contest.task),
            "low": bounds[0], "high": bounds[1], "difference": mean, "half": half,
        })  # fmt: skip
    return scored


def edges(decision: Decision) -> list[dict]:
    """Return a warning for each choice of the recommended or the best contestant at the edge of its grid."""
    results = {id(each): each for each in (decision.chosen, decision.best)}.values()
    return [
        {"warning": "a choice at the edge of its grid", "evidence": f"{each.unit.name}: {', '.join(each.edges)}"}
        for each in results
        if each.edges
    ]


def reasons_of(skipped: dict[Unit, str], contest: Contest) -> dict[str, str]:
    """Return for each contestant the largest unit that did not run, and why."""
    found = dict(contest.failures)
    for unit, reason in skipped.items():
        size = f" with {unit.columns:,} columns" if unit.columns else ""
        found.setdefault(unit.name, f"not on {unit.n:,} rows{size}: {reason}")
    if contest.n_train > MAX_ROWS:
        found.setdefault("exact kernel", f"not on more than {MAX_ROWS:,} rows: its matrix is too large")
    return found
