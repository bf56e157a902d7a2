"""Run a comparison: understand the file, print the plan, hold the contest, open the test part, write the answer."""

import json
import re
from pathlib import Path

import numpy as np
from tqdm import tqdm

from random_features.alarm import alarm
from random_features.compare import recipe, report, warnings
from random_features.compare.contest import INTERRUPTED, Clock, Contest, OutOfTime, Unit, hold, plan_lines, planned
from random_features.compare.contestants import BASELINES, SLOW, STRUCTURED, folder_of, is_map
from random_features.compare.decide import Decision, decide, label, paired_interval
from random_features.compare.files import write_text
from random_features.compare.question import Question, understand
from random_features.errors import UserError
from random_features.maps.registry import REGISTRY, resolve

#: Seconds of a budget in the units that a user writes.
UNITS = {"s": 1, "m": 60, "h": 3600, "": 60}

#: The longest budget, a year.
MOST_SECONDS = 365 * 24 * 3600

#: A budget without a limit: the workflow's.
NO_LIMIT = 1e9

#: Seconds of the report.
REPORT_SECONDS = 6.0

#: The progress bar.
BAR = "{percentage:3.0f}%|{bar:20}| {n_fmt} of {total_fmt} s: {desc}"

#: The longest unit of a fixed plan.
LONGEST_SECONDS = 3600.0

#: Seconds of a unit of the pilot, and of one in an outer fold, that the budget always leaves.
FREE_SECONDS, FREE_IN_FOLD = 6.0, 2.0

#: The fewest seconds of an outer fold.
FEWEST_IN_FOLD = 3.0

#: The share of a budget for the outer folds of few rows.
OUTER_SHARE = 0.6

#: The share of what is left of the budget in which the file is checked for warnings, and the fewest seconds.
CHECKED_SHARE, FEWEST_CHECKED = 0.2, 3.0

#: The fewest rows of a final fit that the budget shrinks.
FEWEST_FITTED = 1000


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
    file, target=None, *, out=None, budget="10m", margin=0.02, maps=(), columns=4096, stage="all", contestant="",
    started=None, **how,
) -> Decision | None:  # fmt: skip
    """Compare maps with baselines on a file, write the answer into the folder ``out``, and return the decision.

    ``stage`` is "all", or a part of it for a workflow: "plan" (pilot and plan), "run" (one contestant), "answer".
    Raise ``UserError`` for a file that cannot be compared; nothing is written then.
    """
    seconds = seconds_of(budget)
    clock = Clock(seconds - REPORT_SECONDS if stage == "all" else NO_LIMIT, started)
    if not 0 <= margin <= 1:  # so is no nan
        raise UserError(f"--margin {margin}: write a share from 0 to 1, such as 0.02")
    for name in maps:
        check_map(name)
    question = understand(file, target, **how)
    out = Path(out or folder_of(file))
    if out.resolve() == Path(file).resolve().parent:
        raise UserError(f"--out {out}: the answer could replace {file}; name a folder without the file")
    settings, few = question.settings, len(question.y) < recipe.FEW_ROWS
    parts = recipe.final_parts(question.y, question.groups, settings["task"], bool(settings["time"]))
    rows = np.arange(len(question.y)) if few else parts[0][0]
    contest = Contest(question, rows, out / "cells", json.dumps(settings, default=str))
    if stage in ("run", "answer") and not (out / "plan.json").is_file():
        raise UserError(f"--out {out}: there is no plan.json; run the stage plan first")
    made = stage in ("run", "answer")
    plan = json.loads((out / "plan.json").read_text("utf-8")) if made else planned(contest, maps, columns)
    todo = [Unit(*unit) for unit in plan["units"]]
    if stage == "run":
        mine = STRUCTURED if contestant == "structured" else (contestant,)
        hold(contest, [unit for unit in todo if unit.name in mine], clock)
        return None
    folds = OUTER_SHARE * seconds if few and stage == "all" else 0.0
    clock.end -= folds
    pilot = list({unit.name: unit for unit in reversed(todo)}.values())[::-1]  # the first of each contestant
    print(*question.notes, f"budget: {budget}; pilot: each contestant on {pilot[0].n:,} rows ...", sep="\n", flush=True)
    hold(contest, pilot, clock, free=FREE_SECONDS)
    expected = {unit: contest.expected(unit) for unit in todo if unit not in pilot}
    print(*plan_lines(contest, plan["contestants"], todo, sum(expected.values())), sep="\n", flush=True)
    if stage == "plan":
        kept = [unit for unit in todo if expected.get(unit, 0.0) <= LONGEST_SECONDS]
        write_text(json.dumps(plan | {"units": kept}, indent=2), out / "plan.json")
        return None
    checking = max(FEWEST_CHECKED, CHECKED_SHARE * clock.left())
    found = warnings.found(question, contest.parts[0].X.shape[1], checking)
    with tqdm(total=round(min(sum(expected.values()), seconds)), bar_format=BAR, leave=False) as bar:
        hold(contest, list(expected), clock, lambda words: moved(bar, words))
    if not {"guess"} < {result.unit.name for result in contest.results}:
        raise UserError(f"--budget {budget}: only a guess was finished; the same command goes on from there")
    decision = decide(contest.final(), contest.groups, margin)
    clock.end += folds
    stopped = INTERRUPTED in contest.reasons.values()
    outer = nested(question, contest, parts, todo, clock, margin) if few and not stopped else None
    scores, not_opened = tested(question, contest, decision, clock)
    reasons = plan["left_out"] | contest.reasons | not_opened
    found += cut_short(contest, plan) + edges(decision) + (unfinished(outer, len(parts)) if few else [])
    report.write(out, file, question, contest, decision, scores, outer, found, reasons, margin)
    return decision


def check_map(name: str) -> None:
    """Raise ``UserError`` for an unknown map; warn of one whose fit takes long."""
    try:
        canonical, _ = resolve(name)
    except ValueError as error:
        raise UserError(f"--maps {name}: {error}") from None
    if "gaussian" not in REGISTRY[canonical].kernels:
        raise UserError(f"--maps {name}: it does not apply to the Gaussian kernel, which is compared here")
    if canonical in SLOW:
        print(f"warning: the fit of {name} takes long; it may get few columns within the budget")


def moved(bar, words: str) -> None:
    """Move a progress bar to the seconds since its start, and name the unit that runs."""
    bar.set_description_str(words, refresh=False)
    bar.update(min(bar.total, round(bar.format_dict["elapsed"])) - bar.n)


def nested(question, contest, parts, todo, clock, margin) -> dict | None:
    """Return the cross-validated score of the whole recommendation: a contest and a decision in every outer fold.

    Ctrl-C and the end of the budget leave the score of the folds before; None if there are none.
    """
    losses, names = [], []
    for k, (train, held) in enumerate(parts):
        if clock.left() < FEWEST_IN_FOLD:
            break
        inner = Contest(question, train, contest.folder, f"{contest.identity} fold {k}")
        share, n = Clock(max(FEWEST_IN_FOLD, (clock.left() - 10) / (len(parts) - k))), inner.n_train
        fitting = [Unit(each.name, min(each.n, n), each.columns and min(each.columns, n)) for each in todo]
        hold(inner, list(dict.fromkeys(fitting)), share, free=FREE_IN_FOLD)
        if INTERRUPTED in inner.reasons.values():
            break
        own = decide(inner.final(), inner.groups, margin).chosen
        names.append(own.unit.name)
        data = (question.table, question.y, train, held, question.settings)
        losses.append(recipe.part_losses(*data, own.unit.name, own.settings))
    return {"score": recipe.score(np.concatenate(losses), contest.task), "recommended": names} if names else None


def unfinished(outer: dict | None, folds: int) -> list[dict]:
    """Return a warning if not all outer folds were finished."""
    done = len(outer["recommended"]) if outer else 0
    without = "" if outer else ": the error is that of settings chosen on the same rows, and too low"
    evidence = f"{done} of {folds} before Ctrl-C or the end of the budget{without}"
    return [{"warning": "not all outer folds", "evidence": evidence}] if done < folds else []


def tested(question: Question, contest: Contest, decision: Decision, clock: Clock) -> tuple[list[dict], dict[str, str]]:
    """Open the test part once: return the scores of the recommended, the guess, the best and the best map, and the
    reasons for which the budget shrank the first fit or left out one of the last.
    """
    ranked, found, reasons = contest.final(), [], {}
    guess = next(each for each in ranked if each.unit.name == "guess")
    best_map = [each for each in ranked if is_map(each.unit.name)][:1]
    data = (question.table, question.y, question.groups, question.settings)
    for result in {id(each): each for each in (decision.chosen, guess, decision.best, *best_map)}.values():
        rows, left = contest.rows_of_fit(result.unit), max(0.0, clock.left())
        expected = contest.final_seconds(result.unit, result)
        needed = result is decision.chosen or result is guess
        if needed and expected > left and rows > FEWEST_FITTED:
            reasons[label(result)] = f"not fitted to {rows:,} rows at last: this takes about {expected:.0f} s"
            rows = max(FEWEST_FITTED, int(rows * left / expected))
        try:
            with alarm(NO_LIMIT if needed else left, OutOfTime()):
                losses = recipe.final_losses(*data, result.unit.name, result.settings, rows)
        except OutOfTime:
            reasons[label(result)] = "not on the test part: the budget does not leave its final fit"
            continue
        difference, half = paired_interval(losses, found[0]["losses"] if found else losses, np.arange(len(losses)))
        mean, width = paired_interval(losses, 0 * losses, np.arange(len(losses)))
        low, high = (recipe.score(np.array([max(0.0, bound)]), contest.task) for bound in (mean - width, mean + width))
        score, fitted = recipe.score(losses, contest.task), rows if rows < contest.n_final else None
        found.append({"result": result, "rows": fitted, "losses": losses, "score": score, "low": low, "high": high})
        found[-1] |= {"difference": difference, "half": half}
    return found, reasons


def cut_short(contest: Contest, plan: dict) -> list[dict]:
    """Return a warning of baselines that were compared on some of the rows, and of the best map if it stopped early."""
    rows = {
        name: last.unit.n if (last := contest.last(name)) else 0 for name in BASELINES if name in plan["contestants"]
    }
    few = [f"{name} on {n:,} of {contest.n_train:,} rows" for name, n in rows.items() if n < contest.n_train]
    most = max(unit[2] or 0 for unit in plan["units"])
    best = [each for each in contest.final() if is_map(each.unit.name)][:1]
    few += [f"{label(each)} of up to {most:,}" for each in best if each.unit.name in contest.reasons]
    return [{"warning": "a larger --budget has more", "evidence": "; ".join(few)}] if few else []


def edges(decision: Decision) -> list[dict]:
    """Return a warning for each choice of the recommended or the best contestant at the edge of its grid."""
    results = {id(each): each for each in (decision.chosen, decision.best) if each.edges}.values()
    found = [f"{each.unit.name}: {', '.join(each.edges)}" for each in results]
    return [{"warning": "a choice at the edge of its grid", "evidence": evidence} for evidence in found]
