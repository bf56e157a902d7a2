"""Tables of the arena: verdicts on maps, what they rest on, and what new data sets say."""

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from rfstudy.report import arena as stats
from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.arena import BANDS, FLAGS, LEAST_SETS, LEAST_TEST_ROWS, MARGIN, Results, percent
from rfstudy.report.cells import absent, each_dataset, method_cell
from rfstudy.report.compare import LEVEL, Estimate
from rfstudy.report.context import Context
from rfstudy.report.notes import LEARNER_NAMES, YARDSTICKS, explained
from rfstudy.report.typeset import Cell, Table

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


def to_tenths(value: float, sign: str = "") -> Cell | float:
    """Return the cell of a number of percent to one decimal; a missing number is itself."""
    return value if np.isnan(value) else Cell(f"{round(value, 1) + 0.0:{sign}.1f}", {"": value})


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


def missing(results: Results, context: Context, paper: str, datasets: list[str]) -> list[str]:
    """Return a sentence on the data sets without errors of maps, if there are any."""
    without = [name for name in datasets if name not in set(results.errors["dataset"])]
    named = named_sets(without, context, paper, most=FEW)
    return [f"Not measured yet, or fewer than {LEAST_TEST_ROWS} test rows: {named}."] if without else []


def named_sets(names: list[str], context: Context, paper: str, most: int | None = None) -> str:
    """Return the number of data sets and their names; the number alone if there are more than ``most``."""
    words = f"{len(names)} data set{'s' * (len(names) != 1)}"
    if most is not None and len(names) > most:
        return words
    return f"{words} ({', '.join(context.name(name, paper) for name in names)})"


def table_of(kind, rows, first: str, results: Results, context: Context, before=(), after=(), **values) -> Table:
    """Return the table of a kind with its notes, and others ``before`` and ``after`` them. Without rows, its column
    ``first`` says so.
    """
    notes = [*before, *explained(kind, baseline=context.label(results.baseline), **values), *after]
    return Table(pd.DataFrame(rows or [{first: "not run"}]), notes, shown=results.rows)


# --- arena ------------------------------------------------------------------------------------------------------------


def arena(context: Context, *, paper, datasets, methods, baseline, quantity, scope="not flagged") -> Table:
    """Return a row per band of columns and map: its error relative to the baseline's on a typical data set of a scope,
    with its interval, and the verdict.

    Notes
    -----
    Error relative to that of {baseline} with as many columns. Typical: the pseudo-median over the data sets, with the
    exact 95 % interval of Wilcoxon's signed-rank test. Mean: with the interval of Hartung and Knapp. New set: where the
    effect on another data set is expected. Won, tied, lost: by the 95 % interval of a data set alone.

    Better, worse: p under 0.05 after Holm's correction over the maps of a band. Equal: less than {MARGIN:.0%}, by two
    one-sided tests, also on informative sets, where halving D raises the error of {baseline} by over {MARGIN:.0%}.
    Detectable: the smallest effect in the same direction that the test finds with a probability of 80 %.

    These data sets were seen before the analysis was chosen: the results are exploratory.
    """
    results = stats.results_of(context, datasets, baseline, quantity)
    rows, distinct, sets = [], results.distinct(), {}
    for each in stats.verdicts_of(results, scope, methods):
        (typical, mean, tau, new, *_), own, (method, variant) = each.found, each.own, each.who
        sets.setdefault(each.band, [name for name in datasets if name in set(own["dataset"])])
        reach = reach_of(own["variance"], own["folds"])
        won, lost = int((own["effect"] < -reach).sum()), int((own["effect"] > reach).sum())
        there = select(distinct, dataset=own["dataset"], columns=BANDS[each.band], method=method, variant=variant)
        rows.append(
            {"D": each.band, "map": method_cell(context, *each.who), "sets": len(own), "typical, %": change(typical)}
            | {"mean, %": change(mean), "new set": interval(*new), "tau": share(tau)}
            | {"won": won, "tied": len(own) - won - lost, "lost": lost}
            | {"distinct columns, %": share(there["distinct"].mean())}
            | {"detectable, %": to_tenths(percent(np.copysign(each.detectable, typical.value)))}
            | ({"verdict": each.word} if scope in ("all", "not flagged") else {})
        )
    after = missing(results, context, paper, datasets)
    after += [f"D = {band}: {named_sets(names, context, paper)}." for band, names in sets.items()]
    return table_of(arena, rows, "D", results, context, after=after)


# --- arena_distinct ---------------------------------------------------------------------------------------------------


def arena_distinct(context: Context, *, datasets, methods, baseline, quantity) -> Table:
    """Return a row per map with repeated columns and number of columns D: its error relative to that of the baseline
    with D columns, and with as many distinct columns.

    Notes
    -----
    Distinct: the share of the D columns, mean over the data sets without a flag. At D, at distinct: the typical change
    relative to {baseline} with D columns, or with as many distinct ones (its logarithm interpolated in log D), with the
    exact 95 % interval. Data sets with fewer distinct columns than {baseline} has anywhere are left out. No verdicts.
    """
    results, rows = stats.results_of(context, datasets, baseline, quantity), []
    distinct, sizes = results.distinct(), sorted(results.errors["columns"].unique())
    curves = pd.DataFrame({at: results.log_errors(at) for at in sizes})
    for at in sizes:
        effects = results.effects([at]).merge(select(distinct, columns=[at]), on=stats.EFFECT)
        for who, own in effects.groupby(["method", "variant"]):
            if who[0] not in methods or own["distinct"].mean() > 1.0 - MARGIN:
                continue
            shift = [
                curves.loc[name, at] - np.interp(np.log(at * share), np.log(known.index), known, left=np.nan)
                for name, share in zip(own["dataset"], own["distinct"], strict=True)
                for known in [curves.loc[name].dropna()]
            ]
            if len(level := (own["effect"] + shift).dropna()) >= LEAST_SETS:
                row = {"map": method_cell(context, *who), "D": at, "sets": len(level)}
                row |= {"distinct, %": share(own["distinct"].mean())}
                row["at D, %"] = change(stats.typical(own["effect"][level.index]))
                rows.append(row | {"at distinct, %": change(stats.typical(level))})
    rows.sort(key=lambda row: (str(row["map"].text), row["D"]))
    return table_of(arena_distinct, rows, "map", results, context)


# --- arena_components, arena_moderators -------------------------------------------------------------------------------


def arena_components(context: Context, *, datasets, methods, baseline, quantity) -> Table:
    """Return a row per band and map: the deviations of its effects between data sets, between draws, and by folds.

    Notes
    -----
    Standard deviations of the logarithm of the error in percent, by moments, over the data sets without a flag. Between
    sets: that of the true effects (tau). Draw: that of one draw of the map, and of {baseline}; a map with one draw per
    fold has none. Folds: the part of a set's effect that comes from its test rows and training rows. Without more
    draws, that of the map is in it.
    """
    results, rows = stats.results_of(context, datasets, baseline, quantity), []
    for each in stats.verdicts_of(results, "not flagged", methods):
        own = select(results.errors, dataset=each.own["dataset"], columns=BANDS[each.band])
        draws = own.groupby([*stats.EFFECT, "draw"])["log"].mean().groupby(stats.EFFECT)
        number, spread = (found.groupby(["method", "variant"]).mean() for found in (draws.size(), draws.var()))
        part = sum(spread[who] / number[who] for who in (each.who, (baseline, "")) if number[who] > 1)
        row = {"D": each.band, "map": method_cell(context, *each.who), "sets": len(each.own)}
        row |= {"between sets": share(each.found.tau), "draws": round(number[each.who], 1)}
        row |= {"draw of the map": share(spread[each.who] ** 0.5) if number[each.who] > 1 else ""}
        row |= {f"draw of {context.label(baseline)}": share(spread[baseline, ""] ** 0.5)}
        rows.append(row | {"folds": share(max(0.0, each.own["variance"].mean() - part) ** 0.5)})
    return table_of(arena_components, rows, "D", results, context)


def arena_moderators(context: Context, *, datasets, methods, baseline, quantity) -> Table:
    """Return a row per band and map: the rank correlation of its effects with facts about the data sets.

    Notes
    -----
    Spearman's correlation over the data sets without a flag, and its p-value by permutation, without correction.
    Positive: the larger the fact, the worse the map relative to {baseline}. Noise floor: error of the exact kernel over
    the variance, or over the error of the most frequent class. Slow decay: the error of the kernel matrix of Nyström
    (RPCholesky) at the smallest D of the band.
    """
    results, rows = stats.results_of(context, datasets, baseline, quantity), []
    sums = results.yardsticks.groupby(["dataset", "method"])["wrong"].sum().unstack("method")
    sums = sums.reindex(columns=["exact_kernel", "majority"])
    ok = select(context.rows, dataset=datasets, status="ok")
    sizes = results.rows.groupby("dataset")[["d", "n_train"]].first()
    decay = select(ok, method="nystroem", variant="rpcholesky", metric="approximation_error_frobenius")
    for each in stats.verdicts_of(results, "not flagged", methods):
        least, most = min(BANDS[each.band]), max(BANDS[each.band])
        facts = {
            "columns of the data": sizes["d"], "n / D": sizes["n_train"] / most,
            "noise floor": sums["exact_kernel"] / sums["majority"],
            "slow decay": decay[decay["n_features"] == least].groupby("dataset")["value"].mean(),
        }  # fmt: skip
        row = {"D": each.band, "map": method_cell(context, *each.who)}
        for name, fact in facts.items():
            both = each.own.set_index("dataset").assign(fact=fact)[["effect", "fact"]].dropna()
            if len(both) >= LEAST_SETS and both["fact"].nunique() > 1:
                rho, p = stats.rank_correlation(both["effect"], both["fact"])
                row[name] = Cell(f"{rho:+.2f} ({p:.2g})", {"": rho, "p_value": p})
        rows.append(row)
    return table_of(arena_moderators, rows, "D", results, context)


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


# --- arena_confirmation -----------------------------------------------------------------------------------------------


def arena_confirmation(context: Context, *, paper, datasets, baseline, quantity) -> Table:
    """Return every statement that was committed before the new data sets were run, and what these say.

    Notes
    -----
    Typical: the pseudo-median of the error relative to that of {baseline} over the new data sets without a flag, with
    the exact 95 % interval. Median: of the same effects, which differs where they are skewed. Confirmed: better, worse
    by one-sided p under 0.025 after Holm's correction over these statements; equal (less than {MARGIN:.0%}) by two
    one-sided tests under 0.05, also on informative data sets, after Holm's correction over those. Contradicted: the
    interval is wholly on the other side. Otherwise undecided.

    Predicted: the probability of a confirmation by as many data sets, simulated from the exploratory ones. Detectable:
    the smallest difference that a test finds with a probability of 80 %.

    With fewer than {directions} data sets no better or worse, and with fewer than {equalities} no equal can be
    confirmed: no p-value of the signed-rank test is small enough. There the predicted probability is 0.
    """
    results, rows, found = stats.results_of(context, datasets, baseline, quantity), [], []
    effects = {band: results.effects(columns) for band, columns in BANDS.items()}
    by_band = {
        band: [stats.together(own) for own in (effects[band], results.effects(columns, "informative"))]
        for band, columns in BANDS.items()
    }
    statements = context.texts("arena_statements").to_dict("records")
    for each in statements:
        (everywhere, informative), who = by_band[each["columns"]], (each["method"], each["variant"])
        found.append((everywhere[who], informative.get(who)) if who in everywhere else None)
    words, expected = stats.outcomes(statements, found), 0.0
    equal = sum(each["says"] == "equal" for each in statements)
    needed = {True: stats.sets_needed(equal, LEVEL), False: stats.sets_needed(len(statements) - equal)}
    for each, own, word in zip(statements, found, words, strict=True):
        row = {"smallest D": BANDS[each["columns"]][0], "largest D": BANDS[each["columns"]][-1]}
        row |= {"map": method_cell(context, each["method"], each["variant"]), "statement": each["says"]}
        by_set = select(effects[each["columns"]], method=each["method"], variant=each["variant"])["effect"]
        row["sets"] = len(by_set)
        if own is not None:
            typical, is_equal = own[0].typical, each["says"] == "equal"
            predicted = {int(key.rpartition("_")[2]): float(each[key]) for key in each if key.startswith("predicted")}
            predicted = {needed[is_equal] - 1: 0.0} | predicted
            chance = np.interp(typical.n, list(predicted), list(predicted.values()))
            row |= {"predicted": round(chance, 2), "typical, %": change(typical)}
            row["median, %"] = to_tenths(percent(by_set.median()))
            row["half-width, %"] = to_tenths(percent((typical.high - typical.low) / 2))
            size = stats.detectable(typical, equal if is_equal else len(statements) - equal)
            row["detectable, %"] = to_tenths(percent(np.copysign(size, typical.value)))
            expected += chance
        rows.append(row | {"outcome": word})
    measured, confirmed = (sum(word in own for word in words) for own in (stats.OUTCOMES, stats.OUTCOMES[:2]))
    tally = f"{len(rows)} statements, {measured} of them tested: {confirmed} confirmed, {expected:.1f} expected."
    notes = {"before": [tally], "after": missing(results, context, paper, datasets)}
    values = {"directions": needed[False], "equalities": needed[True]}
    return table_of(arena_confirmation, rows, "map", results, context, **notes, **values)


# --- arena_edges ------------------------------------------------------------------------------------------------------


def arena_edges(context: Context, *, paper, datasets, methods, baseline, quantity) -> Table:
    """Return how many choices of every map are at an end of their grid, and at how many the last step still gains.

    Notes
    -----
    At an edge: the first or the last value. Gains: the last step still improves the score by over one standard error,
    over the folds or the parts of the held-out rows. Choices on data sets where the linear model is at most one
    standard error worse than {baseline} with D columns are left out: the longest length scales stand for it.
    """
    results = stats.results_of(context, datasets, baseline, quantity)
    rows = stats.by_entry(select(results.rows, method=[*methods, baseline], metric=["mse", "accuracy_pct"]))
    found, notes = [], []
    for columns in rows["columns"].unique():
        linear = select(results.gaps(columns), method="linear")
        alike = linear.loc[linear["effect"] <= linear["variance"] ** 0.5, "dataset"]
        rows = rows[rows["columns"].ne(columns) | ~rows["dataset"].isin(alike)]
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
    shown = results._replace(rows=results.rows.loc[rows.index])
    return table_of(arena_edges, found, "map", shown, context, before=notes)


# --- arena_yardsticks -------------------------------------------------------------------------------------------------


def arena_yardsticks(context: Context, *, paper, datasets, methods, baseline, quantity) -> Table:
    """Return a row per data set: errors of the baseline at the most columns, other maps and predictors without one.

    Notes
    -----
    Error: wrong labels in percent (unbalanced sets: one minus the area under the curve), or the share of the variance
    of a regression that is not explained; the mean over the draws of {baseline}. Other columns: the change relative to
    it on the same folds, with a 95 % interval. xRFM has at most 10,000 training rows, the others have all.
    """
    results, rows = stats.results_of(context, datasets, baseline, quantity), []
    there, errors = at_most_columns(results), stats.errors_in_percent(results)
    names = {each: LEARNER_NAMES[each] for each in ("nearest_neighbour", *YARDSTICKS, "xrfm")} | {"linear": "linear"}
    names |= {method: context.label(method) for method in methods}
    for dataset, name, _ in each_dataset(context, datasets, paper, results.rows):
        if dataset not in there:
            rows.append({"data set": name, "D": absent("not run")})
            continue
        columns, gaps = there[dataset]
        cells = {"data set": name, "D": columns, "error, %": round(errors[dataset, columns, baseline, ""], 2)}
        rows.append(cells | {words: change(gaps[each]) for each, words in names.items() if each in gaps})
    return Table(pd.DataFrame(rows), explained(arena_yardsticks, baseline=context.label(baseline)), shown=results.rows)


def at_most_columns(results: Results) -> dict[str, tuple[int, dict[str, Estimate]]]:
    """Return by data set the most columns of the baseline, and the effects of yardsticks and of maps with as many."""
    most = select(results.errors, method=results.baseline, variant="").groupby("dataset")["columns"].max().astype(int)
    gaps, found = {columns: results.gaps(columns) for columns in most.unique()}, {}
    for dataset, columns in most.items():
        own = select(gaps[columns], dataset=[dataset])[["method", "effect", "variance", "folds"]]
        found[dataset] = columns, {method: by_itself(*of_folds) for method, *of_folds in own.itertuples(index=False)}
    return found


# --- arena_leaderboard ------------------------------------------------------------------------------------------------


def arena_leaderboard(context: Context, *, paper, datasets, methods, baseline, quantity) -> Table:
    """Return a row per map: its mean rank over the cells that all maps have, and its error at each number of columns.

    Notes
    -----
    Rank: 1 is the lowest error in a cell, a data set at a number of columns; the mean over the data sets, with a 95 %
    bootstrap interval over them. Other columns: the typical error relative to that of {baseline} at D columns in
    percent, over the data sets without a flag, with the exact 95 % interval of Wilcoxon's test. They have no verdicts.
    """
    results = stats.results_of(context, datasets, baseline, quantity)
    ranks = stats.rank_intervals(results.errors, methods, baseline)
    by_size = {at: stats.together(results.effects([at])) for at in sorted(results.errors["columns"].unique())}
    rows = []
    for each in ranks.itertuples():
        who = each.method, each.variant
        cells = {"map": method_cell(context, *who)}
        if each.sets >= LEAST_SETS:
            span = {"": round(each.rank, 2), "low": round(each.low, 2), "high": round(each.high, 2)}
            cells["rank"] = Cell(f"{each.rank:.1f} ({each.low:.1f} to {each.high:.1f})", span)
        rows.append(cells | {f"D = {at}": change(found[who].typical) for at, found in by_size.items() if who in found})
    after = missing(results, context, paper, datasets)
    if len(ranks):
        after.insert(0, f"Cells that all have: {ranks['cells'].iloc[0]}, of {ranks['sets'].iloc[0]} data sets.")
    return table_of(arena_leaderboard, rows, "map", results, context, after=after)
