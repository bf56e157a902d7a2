"""Tables of the arena: verdicts on maps, and what they rest on."""

from itertools import groupby

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from rfstudy.report import arena as stats
from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.arena import FLAGS, LEAST_SETS, MARGIN, Results, Statement, percent
from rfstudy.report.cells import absent, dataset_cell, each_dataset, method_cell
from rfstudy.report.compare import LEVEL, Estimate
from rfstudy.report.context import Context
from rfstudy.report.notes import LEARNER_NAMES, YARDSTICKS, explained
from rfstudy.report.typeset import Cell, Table

#: Simulations of data sets without a difference, and their seed.
SIMULATIONS, SEED = 4000, 0

#: Names of missing data sets that a note lists.
FEW = 6


# --- cells and notes --------------------------------------------------------------------------------------------------


def interval(low: float, high: float) -> Cell:
    """Return the cell of an interval of changes in percent."""
    low, high = percent(low), percent(high)
    return Cell(f"{low:+.1f} to {high:+.1f}", {"low": low, "high": high})


def change(estimate: Estimate) -> Cell:
    """Return the cell of a change in percent with its interval in brackets."""
    value, low, high = (percent(each) for each in estimate[:3])
    return Cell(f"{value:+.1f} ({low:+.1f} to {high:+.1f})", {"": value, "low": low, "high": high})


def share(part: float) -> float:
    """Return a number in percent, to one decimal."""
    return round(100.0 * part, 1)


def by_itself(effect: float, variance: float, folds: int) -> Estimate:
    """Return the effect on one data set with its interval, of Student's t over its folds."""
    reach = reach_of(variance, folds)
    return Estimate(effect, effect - reach, effect + reach, n=int(folds))


def reach_of(variance, folds):
    """Return half of the width of the interval of effects with these variances, of Student's t over their folds."""
    return stdtrit(folds - 1.0, 1.0 - LEVEL / 2) * variance**0.5


def on_sets(effects: pd.DataFrame, context: Context, paper: str, datasets: list[str]) -> list[str]:
    """Return sentences that list the data sets at each number of columns, and those without any row."""
    found = []
    for columns, own in effects.groupby("columns")["dataset"]:
        there = [name for name in datasets if name in set(own)]
        few = f"; no verdict on fewer than {LEAST_SETS}" if len(there) < LEAST_SETS else ""
        found.append(f"D = {columns:,}: {named_sets(there, context, paper)}{few}.")
    return found


def missing(results: Results, context: Context, paper: str, datasets: list[str]) -> list[str]:
    """Return a sentence on the data sets without errors of maps, and one on those without an exact kernel."""
    measured = set(results.errors["dataset"])
    known = set(select(results.yardsticks, learner="exact_kernel")["dataset"])
    without = {"Not measured yet": [name for name in datasets if name not in measured]}
    without["No exact kernel yet, so not known to be informative"] = [n for n in datasets if n in measured - known]
    return [f"{words}: {named_sets(names, context, paper, most=FEW)}." for words, names in without.items() if names]


def named_sets(names: list[str], context: Context, paper: str, most: int | None = None) -> str:
    """Return the number of data sets and their names; the number alone if there are more than ``most``."""
    words = f"{len(names)} data set{'s' * (len(names) != 1)}"
    if most is not None and len(names) > most:
        return words
    return f"{words} ({', '.join(context.name(name, paper) for name in names)})"


def or_not_run(rows: list[dict], first: str) -> pd.DataFrame:
    """Return rows as a frame, with one that says so if there are none."""
    return pd.DataFrame(rows or [{first: "not run"}])


# --- arena ------------------------------------------------------------------------------------------------------------


def arena(context: Context, *, paper, datasets, methods, baseline, quantity, scope="all") -> Table:
    """Return a row per number of columns and map: its error relative to the baseline's over the data sets of a scope,
    with its interval, and the verdict.

    Notes
    -----
    Error relative to that of {baseline}: mean of logarithms over the data sets, with a 95 % interval. New set: the
    interval in which the effect on another data set is expected. Won, lost: by the interval of a data set alone.

    Better, worse: Holm's correction over the maps at one D. Equal: less than {margin}, by two one-sided tests, on all
    data sets and on informative ones, where other draws of {baseline} are equal, too.

    Verdict: the one relative to most draws of {baseline}; undecided if no verdict has most draws. Draws: how many give
    it. Median: of the errors relative to each of the draws; the other numbers are relative to the first.

    Informative: data sets at which the error of the exact kernel is over {margin} lower at that D. Not flagged: see
    the table of flags.
    """
    results = stats.results_of(context, datasets, baseline, quantity)
    made = [each for each in stats.statements_of(results, scope, methods, baseline) if each.verdict]
    of = len(results.by_draw)
    rows = [{"D": each.columns, "map": method_cell(context, *each.who)} | verdict_cells(each, of) for each in made]
    notes = stats_notes(arena, context, baseline)
    notes += on_sets(results.of_scope(scope), context, paper, datasets) + missing(results, context, paper, datasets)
    return Table(or_not_run(rows, "D"), notes, hidden=("data sets",) if rows else (), shown=results.rows)


def verdict_cells(each: Statement, of: int) -> dict:
    """Return the cells of a statement by column; the baseline has ``of`` draws."""
    (mean, tau, new, _), own = each.found, each.own
    reach = reach_of(own["variance"], own["folds"])
    return {
        "sets": len(own),
        "error, %": percent(mean.value),
        "median, %": percent(each.median),
        "interval": interval(mean.low, mean.high),
        "new set": interval(*new),
        "tau": share(float(tau)),
        "won": int((own["effect"] < -reach).sum()),
        "lost": int((own["effect"] > reach).sum()),
        "detectable, %": percent(float(mean.detectable)),
        "verdict": each.verdict,
        "draws": Cell(f"{each.draws} of {of}", {"": each.draws, "of": of}),
        "data sets": " ".join(own["dataset"]),
    }


def stats_notes(function, context: Context, baseline: str, **values) -> list[str]:
    """Return the notes of a table of the arena from its docstring, with ``values`` for other names in braces."""
    return explained(function, baseline=context.label(baseline), margin=f"{MARGIN:.0%}", **values)


# --- arena_flags ------------------------------------------------------------------------------------------------------


def arena_flags(context: Context, *, paper, datasets) -> Table:
    """Return the flags of every data set, with the numbers that decide them. No feature map takes part."""
    rows = select(context.rows, dataset=datasets)
    flaws = stats.flaws(rows, stats.yardsticks_of(rows)).set_index("dataset").to_dict("index")
    found = []
    for dataset, name, _ in each_dataset(context, datasets, paper, rows):
        own = flaws.get(dataset)
        if own is None:
            found.append({"data set": name, "flags": "not run"})
            continue
        order, signal = own["order"], own["signal"]
        order = "" if pd.isna(order) else order if isinstance(order, str) else f"correlation {order:.2f}"
        cells = {"data set": name, "duplicates, %": share(own["duplicates"]), "next row": order}
        cells |= {"explained, %": share(signal) if pd.notna(signal) else "", "spikes": own["spikes"]}
        found.append(cells | {"flags": own["flags"] or "none"})
    note = (
        f"Duplicates: over {FLAGS['duplicates']:.0%} of the rows repeat an earlier one. Ordered: random folds, and the "
        f"target correlates with that of the next row by over {FLAGS['ordered']}, or labels come in long runs; sorted "
        "labels say nothing about time. No signal: nearest neighbour, linear model and boosting explain less than "
        f"{FLAGS['no signal']:.0%} of the variance of a regression. Spikes: rows with a value far outside "
        "its column (docs/arena.md has the rule), unless they are left out."
    )
    return Table(pd.DataFrame(found), [note])


# --- arena_control ----------------------------------------------------------------------------------------------------


def arena_control(context: Context, *, paper, datasets, methods, baseline, quantity) -> Table:
    """Return a row per number of columns: other draws of the baseline compared with it, and false verdicts.

    Notes
    -----
    Largest: the mean of the draw that differs most from {baseline}, with its 95 % interval. Not equal: the median of
    the p-values of "not equal by {margin}"; below 0.05, maps can be equal at this D.

    False verdicts: the share of {SIMULATIONS:,} simulations in which any map is better or worse, although no mean
    over data sets differs; numbers of data sets and folds, variances and tau are those of the maps.
    """
    results, rows = stats.results_of(context, datasets, baseline, quantity), []
    for columns, own in groups_of(stats.statements_on(results.effects, methods, baseline)):
        draws = [each for each in own if not each.verdict]
        maps = [each for each in own if each.verdict]
        cells = {"D": columns, "draws": len(draws)}
        if draws:
            most = max(draws, key=lambda each: abs(each.found.mean.value))
            p = float(np.median([each.found.p_equivalent for each in draws]))
            cells |= {"sets": len(most.own), "largest, %": change(most.found.mean), "not equal": round(p, 4)}
            cells["control"] = "equal" if p < LEVEL else "undecided"
        if maps:
            variances, folds = ([each.own[name].to_numpy() for each in maps] for name in ("variance", "folds"))
            taus = [float(each.found.tau) for each in maps]
            cells["false verdicts, %"] = share(stats.false_verdicts(variances, taus, folds, SIMULATIONS, SEED))
        rows.append(cells)
    notes = stats_notes(arena_control, context, baseline) + missing(results, context, paper, datasets)
    return Table(or_not_run(rows, "D"), notes, shown=results.rows)


def groups_of(statements: list[Statement]) -> list[tuple[int, list[Statement]]]:
    """Return statements by their number of columns."""
    return [(columns, list(own)) for columns, own in groupby(statements, key=lambda each: each.columns)]


# --- arena_confirmation -----------------------------------------------------------------------------------------------


def arena_confirmation(context: Context, *, paper, datasets, methods, baseline, quantity) -> Table:
    """Return every statement from the first half of the data sets, and whether the second half confirms it.

    Notes
    -----
    Better, worse and equal as in the table of verdicts, on all data sets of the first half. Lower, higher: the interval
    of the first half excludes zero, but Holm's correction gives no verdict. Confirmed: the interval of the second half
    excludes zero with the same sign; of "equal", it is within {margin}.

    Chance: the probability of this if the mean of the first half were exact, with the standard error of the second.
    """
    results = stats.results_of(context, datasets, baseline, quantity)
    half = stats.half_of(stats.strata_of(context.tasks, datasets))
    by_half = [results.effects[results.effects["dataset"].isin(half.index[half == which])] for which in (0, 1)]
    first, second = (stats.statements_on(effects, methods, baseline) for effects in by_half)
    others = {(each.columns, each.who): each for each in second}
    rows, chances, confirmed = [], [], []
    for each in first:
        statement = stats.statement_in_words(each)
        if not statement:
            continue
        row = {"D": each.columns, "map": method_cell(context, *each.who), "statement": statement}
        row |= {"first half, %": change(each.found.mean), "sets": len(each.own)}
        other = others.get((each.columns, each.who))
        if other is None:
            rows.append(row | {"confirmed": "not run"})
            continue
        test = each.verdict, each.found.mean, other.found.mean
        chances.append(stats.chance_of_confirmation(*test))
        confirmed.append(stats.is_confirmed(*test))
        row |= {"second half, %": change(other.found.mean), "sets ": len(other.own)}
        rows.append(row | {"chance": round(chances[-1], 2), "confirmed": "yes" if confirmed[-1] else "no"})
    tally = (
        f"{len(rows)} statements from the first half, {len(chances)} of them with a second half: {sum(confirmed)} "
        f"confirmed, {sum(chances):.1f} expected."
    )
    halves = [
        f"{words} half: {named_sets(list(half.index[half == which]), context, paper)}."
        for which, words in enumerate(("First", "Second"))
    ]
    state = [] if rows else ["The first half makes no statement yet."]
    left = set(half.index[half == 1]) - set(results.errors["dataset"])
    state += [f"{len(left)} data sets of the second half have no rows yet: no answer is final."] if left else []
    notes = [tally, *state, *stats_notes(arena_confirmation, context, baseline), *halves]
    return Table(or_not_run(rows, "D"), notes + missing(results, context, paper, datasets), shown=results.rows)


# --- arena_edges ------------------------------------------------------------------------------------------------------


def arena_edges(context: Context, *, paper, datasets, methods, baseline, quantity) -> Table:
    """Return how many choices of every map are at an end of their grid, and at how many the last step still gains.

    Notes
    -----
    At an edge: the first or the last value. Gains: the last step still improves the score by over one standard error,
    over the folds or the parts of the held-out rows.
    """
    rows = select(stats.results_of(context, datasets, baseline, quantity).rows, status="ok")
    rows, found, notes = rows[rows["method"].isin([*methods, baseline])], [], []
    at_edge = [settings.get("at_edge", {}) for settings in settings_of(rows)]
    edges = pd.DataFrame(at_edge, rows.index, ["bandwidth", "penalty"]).set_axis(["length scale", "penalty"], axis=1)
    for who, own in edges.groupby([rows["method"], rows["variant"]], sort=False):
        cells = {"map": method_cell(context, *who), "choices": len(own)}
        for words in edges:
            cells[f"{words}: at an edge, %"] = share(own[words].notna().mean())
            cells[f"{words}: gains, %"] = share(own[words].eq(True).mean())
        found.append(cells)
    for words, gains in edges.eq(True).items() if len(edges) else ():
        most = gains.groupby(rows["dataset"]).sum().nlargest(2)
        where = [f"{count} on {context.name(dataset, paper)}" for dataset, count in most.items() if count]
        named = f", {' and '.join(where)}" if where else ""
        notes.append(f"Gains by the {words}: {gains.sum():,} of {len(rows):,} ({share(gains.mean()):g} %){named}.")
    return Table(or_not_run(found, "map"), [*notes, *stats_notes(arena_edges, context, baseline)], shown=rows)


# --- arena_choice -----------------------------------------------------------------------------------------------------


def arena_choice(context: Context, *, paper, datasets, methods, baseline, quantity) -> Table:
    """Return which map to take: a row per number of columns, and one per kind of data at the most columns.

    Notes
    -----
    Map: the one with the lowest mean error of those that are better than {baseline} relative to most of its {of} draws.
    Draws, also in brackets: how many give this verdict. Errors are squared errors, or numbers of wrong labels. Change:
    relative to the first draw, with a 95 % interval before Holm's correction. Median: over all draws.

    Exact kernel: kernel ridge regression on all training rows, the mean over the data sets that have it.
    """
    results = stats.results_of(context, datasets, baseline, quantity)
    by_columns = groups_of(stats.statements_of(results, "all", methods, baseline))
    rows = [choice(context, f"D = {columns:,}", own, results) for columns, own in by_columns]
    for stratum, names in stats.strata_of(context.tasks, datasets).groupby("stratum")["dataset"]:
        gaps, by_draw = select(results.gaps, dataset=names), [select(each, dataset=names) for each in results.by_draw]
        of_stratum = results._replace(by_draw=by_draw, gaps=gaps)
        size, kind = stratum.split()
        for columns, own in groups_of(stats.statements_of(of_stratum, "all", methods, baseline))[-1:]:
            where = f"{kind}, {'over' if size == 'large' else 'up to'} {stats.LARGE:,} rows, D = {columns:,}"
            rows.append(choice(context, where, own, of_stratum))
    notes = stats_notes(arena_choice, context, baseline, of=len(results.by_draw))
    return Table(or_not_run(rows, "when"), notes + missing(results, context, paper, datasets), shown=results.rows)


def choice(context: Context, when: str, statements: list[Statement], results: Results) -> dict:
    """Return the row of the table ``arena_choice`` about some statements at one number of columns."""
    ordered = sorted(statements, key=lambda each: each.found.mean.value)
    better, worse = ([each for each in ordered if each.verdict == verdict] for verdict in ("better", "worse"))
    row = {"when": when, "sets": max(len(each.own) for each in statements)}
    row["map"] = method_cell(context, *better[0].who) if better else absent("none is better", "id", "variant")
    row["change, %"] = change(better[0].found.mean) if better else ""
    row["median, %"] = percent(better[0].median) if better else ""
    row["draws"] = better[0].draws if better else ""
    for heading, others in {"also better": better[1:], "worse": worse}.items():
        row[heading] = ", ".join(f"{context.label(*each.who)} ({each.draws})" for each in others)
    exact = select(results.gaps, learner="exact_kernel", columns=[statements[0].columns])
    if len(exact) >= LEAST_SETS:
        row["exact kernel, %"] = change(stats.combined(exact["effect"], exact["variance"]).mean)
    return row


# --- arena_yardsticks -------------------------------------------------------------------------------------------------


def arena_yardsticks(context: Context, *, paper, datasets, baseline, quantity) -> Table:
    """Return a row per data set: the error of the baseline at the most columns, and those of predictors without a map.

    Notes
    -----
    Error: wrong labels in percent, or the share of the variance of a regression that is not explained. Other columns:
    the change relative to {baseline} on the same folds, with a 95 % interval.
    """
    results, rows = stats.results_of(context, datasets, baseline, quantity), []
    learners = ["nearest_neighbour", *YARDSTICKS]
    for dataset in datasets:
        errors = select(results.errors, dataset=[dataset], method=baseline, variant="")
        cells = {"data set": dataset_cell(context, dataset, paper, select(results.rows, dataset=[dataset]))}
        if errors.empty:
            rows.append(cells | {"D": absent("not run")})
            continue
        columns = errors["columns"].max()
        own, known = select(errors, columns=[columns]), select(results.yardsticks, dataset=[dataset])
        whole = select(results.rows, dataset=[dataset], method=baseline, variant="", repeat=own["repeat"])
        tested = whole.drop_duplicates("repeat")["n_test"].sum()
        if not own["counts"].any():  # the mean of the training targets has the whole variance
            tested = select(known, learner="majority", repeat=own["repeat"])["wrong"].sum() or np.nan
        cells |= {"D": int(columns), "error, %": round(100.0 * own["wrong"].sum() / tested, 2)}
        gaps = select(results.gaps, dataset=[dataset], columns=[columns]).set_index("learner")
        for learner in learners:
            if learner in gaps.index:
                gap = by_itself(*gaps.loc[learner, ["effect", "variance", "folds"]])
                cells[LEARNER_NAMES[learner].replace("logistic regression on the data", "linear")] = change(gap)
        rows.append(cells)
    return Table(pd.DataFrame(rows), stats_notes(arena_yardsticks, context, baseline), shown=results.rows)


# --- arena_leaderboard ------------------------------------------------------------------------------------------------


def arena_leaderboard(context: Context, *, paper, datasets, methods, baseline, quantity) -> Table:
    """Return a row per map: its mean rank over the cells that all maps have, and its error at each number of columns.

    Notes
    -----
    Rank: 1 is the lowest error in a cell, a data set at a number of columns; the mean over the data sets, with a 95 %
    bootstrap interval over them. Other columns: error relative to that of {baseline} at D columns in percent, mean over
    all data sets, with a 95 % interval.
    """
    results = stats.results_of(context, datasets, baseline, quantity)
    ranks = stats.rank_intervals(results.errors, methods, baseline)
    found = {(s.columns, s.who): s for s in stats.statements_of(results, "all", methods, baseline)}
    columns, rows = sorted({columns for columns, _ in found}), []
    for each in ranks.itertuples():
        who = each.method, each.variant
        cells = {"map": method_cell(context, *who)}
        if each.sets >= LEAST_SETS:
            span = {"": round(each.rank, 2), "low": round(each.low, 2), "high": round(each.high, 2)}
            cells["rank"] = Cell(f"{each.rank:.1f} ({each.low:.1f} to {each.high:.1f})", span)
        rows.append(cells | {f"D = {at}": change(found[at, who].found.mean) for at in columns if (at, who) in found})
    notes = stats_notes(arena_leaderboard, context, baseline)
    if len(ranks):
        notes.append(f"Cells that all have: {ranks['cells'].iloc[0]}, of {ranks['sets'].iloc[0]} data sets.")
    return Table(or_not_run(rows, "map"), notes + missing(results, context, paper, datasets), shown=results.rows)
