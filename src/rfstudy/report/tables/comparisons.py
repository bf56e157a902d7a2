"""Tables of differences between methods, with paired tests."""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd

from random_features.errors import UserError
from rfstudy.metrics import fact_of, lower_is_better
from rfstudy.report import compare
from rfstudy.report.aggregate import by_repeat, method_order, of_quantity, select, summarise
from rfstudy.report.cells import difference_cell, each_dataset, mean_and_std, means_by, method_cell, note_on_differences
from rfstudy.report.compare import POWER
from rfstudy.report.context import Context
from rfstudy.report.notes import explained
from rfstudy.report.typeset import Cell, Table

# --- differences ------------------------------------------------------------------------------------------------------
# Every method against others in points, size by size, with paired tests: which differences are effects.


def differences(context, *, paper, datasets, methods, baselines, sizes, quantity) -> Table:
    """Return mean differences of a percentage over the repeats and Holm's p-values by data set, method and baseline.

    Each method is compared with each of the ``baselines``; a column per size. All tests of a data set are one family.
    """
    metric = quantity["metric"]
    frame = of_quantity(select(context.rows, dataset=datasets, n_features_label=sizes), quantity)
    tests = compare.paired_differences(frame, baselines, "n_features_label", context)
    rows, effects, found = [], [], []
    for dataset, name, ours in each_dataset(context, datasets, paper, frame):
        own = select(tests, dataset=dataset)
        if not len(ours):
            rows.append({"data set": name, "method": "", "minus": "", **dict.fromkeys(sizes, "not run")})
            continue
        above, below = (int((own["effect"] & (sign * own["value"] > 0)).sum()) for sign in (1, -1))
        effects.append(f"{context.name(dataset, paper)}: {above} of {len(own)} above, {below} below")
        errors = own[["error", "df"]].astype(float)  # of the type object if there is no difference
        if len(smallest := pd.Series(compare.Estimate(0.0, **errors).detectable).dropna()):
            found.append(f"{context.name(dataset, paper)} {smallest.min():.1f} to {smallest.max():.1f}")
        cells = {(t.method, t.variant, t.minus, t.n_features_label): difference_cell(t) for t in own.itertuples()}
        for pair, minus in itertools.product(method_order(ours, methods), baselines):
            texts = {size: cells.get((*pair, minus, size), "") for size in sizes}
            if any(texts.values()):
                label = context.label(minus)
                who = {"method": method_cell(context, *pair), "minus": Cell(label, {"": label, "id": minus})}
                rows.append({"data set": name} | who | texts)
    remarks = ["Mean difference in points over the repeats; in brackets Holm's p-value."]
    if effects:
        remarks.append(note_on_differences(tests, "all differences of a data set", metric, paper, context))
        remarks.append(f"Effects: {'; '.join(effects)}.")
    if found:
        remarks.append(f"Points that a test finds with a probability of {POWER:.0%}, before Holm: {'; '.join(found)}.")
    table = pd.DataFrame(rows, columns=["data set", "method", "minus", *sizes])
    return Table(table, remarks, {size: {"size": size, "metric": metric} for size in sizes}, shown=frame)


# --- choices ----------------------------------------------------------------------------------------------------------
# Ways of choosing features, along an axis (the number of candidates): the gain of each.


def choices(context, *, paper, datasets, methods, axis, label, says) -> Table:
    """Return a row per data set, position on the axis and way of choosing.

    Its columns are the metrics of ``says``, and the change of the first metric from the first method.

    Notes
    -----
    Mean ± standard deviation over {full} repeats. Change: of the first quantity, against {baseline}; in brackets Holm's
    p-value.
    """
    metric, baseline = next(iter(says)), methods[0]
    shown = select(context.rows, axis=axis, dataset=datasets, metric=list(says))
    at, full = means_by(shown, "dataset", "at", "method", "variant", "metric")
    compared = compare.paired_differences(select(shown, metric=metric), [baseline], "at", context)
    tests = {(t.dataset, t.at, t.method, t.variant): difference_cell(t) for t in compared.itertuples()}
    rows = []
    for dataset, name, ours in each_dataset(context, datasets, paper, select(shown, metric=metric)):
        rows += [{"data set": name, "choice": "not run"}] if not len(ours) else []
        for place, way in itertools.product(sorted(ours["at"].unique()), method_order(ours, methods)):
            found = {h: mean_and_std(at.get((dataset, place, *way, key)), full) for key, h in says.items()}
            row = {"data set": name, label: f"{place:g}", "choice": method_cell(context, *way)}
            rows.append(row | found | {"change": tests.get((dataset, place, *way), "")})
    remarks = explained(choices, full=full, baseline=context.label(baseline))
    remarks.append(note_on_differences(compared, "all places and ways of a data set", metric, paper, context))
    frame = pd.DataFrame(rows, columns=["data set", label, "choice", *says.values(), "change"])
    return Table(frame, remarks, shown=shown)


# --- crossed ----------------------------------------------------------------------------------------------------------
# Means of named cells, rows by columns, with the differences between columns and their tests.
#
# An entry names the cells by rows and columns, perhaps of several experiments. A row and a column each select tidy rows
# (by experiment, variant, learner, size, position on an axis, ...); a cell has the rows that both select.


#: The default selection of a cell, unless its row or column says otherwise.
PLAIN = {"variant": "", "axis": ""}


def named_cells(context: Context, quantity: dict, lines: list[dict], columns: list[dict]) -> dict:
    """Return the tidy rows of every cell, by the labels of its row and column.

    ``lines`` and ``columns`` are a ``label`` each, and values of columns of the tidy table.
    """
    return {
        (row["label"], column["label"]): select(context.rows, **wanted(quantity, row, column))
        for row in lines
        for column in columns
    }


def wanted(quantity: dict, row: dict, column: dict) -> dict:
    """Return the keywords of ``select`` for a cell; column texts may use texts of the row: "{variant}-longer"."""
    filled = {key: value.format(**row) if isinstance(value, str) else value for key, value in column.items()}
    named = PLAIN | {key: value for key, value in (quantity | row | filled).items() if key != "label"}
    if not named["axis"]:
        named.pop("at", None)  # a column without an axis is compared with every position of one that has it
    return {key: value if isinstance(value, str | list) else [value] for key, value in named.items()}


def crossed(context, *, heading, quantity, lines, columns, tests=None) -> Table:
    """Return a row per line: means with their deviations over the repeats, then the differences that are tested.

    ``heading`` is the heading of the rows; ``quantity``, ``lines`` and ``columns`` select the cells (``named_cells``).
    """
    cells = named_cells(context, quantity, lines, columns)
    labels, pairs = [column["label"] for column in columns], list(map(tuple, tests or []))
    differences = {pair: " minus ".join(pair) for pair in pairs}
    tested, overlaps = between_columns(cells, [line["label"] for line in lines], pairs, context)
    means = {place: summarise(rows).iloc[0].to_dict() for place, rows in cells.items() if len(rows)}
    full = max((int(cell["n"]) for cell in means.values()), default=0)
    table = []
    for line in (line["label"] for line in lines):
        row = {heading: Cell(line, {"": line})}
        row |= {label: mean_and_std(means.get((line, label)), full) for label in labels}
        table.append(row | {name: difference_cell(tested.get((line, *pair))) for pair, name in differences.items()})
    remarks = [f"{fact_of(quantity['metric']).label}: mean ± standard deviation over {full} repeats."]
    if tested:
        of_family = "all differences of a data set; in brackets Holm's p-value"
        remarks.append(compare.note_on_tests(overlaps, of_family, [quantity["metric"]]))
    shown = pd.concat([context.rows.iloc[:0], *cells.values()])
    unfold = {name: {"column": name} for name in (*labels, *differences.values())}
    return Table(pd.DataFrame(table), remarks, unfold, shown=shown[~shown.index.duplicated()])


def between_columns(cells: dict, lines: list[str], pairs: list[tuple], context: Context) -> tuple[dict, dict]:
    """Return the tests between pairs of columns, by row and the two columns, as one family for each data set.

    The second result is the largest overlap of the repeats of each row.
    """
    by_dataset, overlaps = {}, {}
    for line in lines:
        for pair in pairs:
            one, other = (cells[line, column] for column in pair)
            if len(one) and len(other):
                overlap = max(compare.overlap_of(one, context), compare.overlap_of(other, context))
                overlaps[line] = max(overlap, overlaps.get(line, 0.0))
                test = compare.paired(by_repeat(one), by_repeat(other), overlap)
                by_dataset.setdefault(one["dataset"].iloc[0], {})[line, *pair] = test
    return {place: test for tests in by_dataset.values() for place, test in compare.family(tests).items()}, overlaps


# --- ablation ---------------------------------------------------------------------------------------------------------
# The table of an ablation: scores step by step, what each step changes, and controls.
#
# One experiment holds all steps, as variants of the methods. A step that does not concern a method has no rows of it:
# the method keeps its values. Tests pair the repeats, because all variants of a repeat use the same split.


class Reached(NamedTuple):
    """The values of a method at a step, by repeat, and whether they come from an earlier step."""

    values: pd.Series
    carried: bool = False


def course(rows: pd.DataFrame, steps, methods: list[str], alone: bool = False) -> list[dict[str, Reached]]:
    """Return the values of the methods on one data set: for each step, method -> ``Reached``.

    ``rows`` belong to one data set and quantity; ``steps`` are names of variants, in order; ``alone`` says that each
    changes the first one and not the one before. A method without rows at a step carries over its values. A step
    without rows of any method was not run, and nothing is carried over.
    """
    rows = select(rows, variant=steps, method=methods)
    cells = {place: by_repeat(cell) for place, cell in rows.groupby(["variant", "method"], sort=False)}
    reached, last = [], {}
    for step in steps:
        own = {method: Reached(cells[step, method]) for method in methods if (step, method) in cells}
        carried = {method: each._replace(carried=True) for method, each in last.items()} if own else {}
        reached.append(dict.fromkeys(methods, Reached(pd.Series(dtype=float))) | carried | own)
        if not alone or len(reached) == 1:
            last |= own
    return reached


def gain_of(method: str, reached: dict[str, Reached], baselines: list[str], sign: float = 1.0) -> pd.Series:
    """Return the gain of a method at one step over the better baseline by repeat; empty without values of both.

    ``sign`` is -1 if lower is better, so that a gain is positive.
    """
    others = [reached[name].values for name in baselines if len(reached[name].values)]
    best = max(others, key=lambda values: sign * values.mean(), default=pd.Series(dtype=float))
    return sign * (reached[method].values - best).dropna()


def changes(courses: dict[str, list[pd.Series]], overlap: float = 0.0, alone: bool = False) -> dict:
    """Return the changes of values by repeat from step to step: tests by position of the step and method.

    A step is compared with the one before (``alone``: with the first one).
    """
    return {
        (position, method): compare.paired(own[position], own[0 if alone else position - 1], overlap)
        for method, own in courses.items()
        for position in range(1, len(own))
    }


def gain_changes(gains: dict[str, list[pd.Series]], overlap: float = 0.0, alone: bool = False) -> dict:
    """Return the ``changes`` of the gains of methods on one data set, as one family.

    Changes without a p-value (too few repeats, a step that was not run) are left out.
    """
    tests = compare.family(changes(gains, overlap, alone))
    return {place: test for place, test in tests.items() if not np.isnan(test.p)}


def ablation(
    context, *, paper, datasets, methods, baselines, quantity, steps, sizes=None, one_at_a_time=False, controls=None
) -> Table:
    """Return scores of every method at every step of an ablation, their changes, and gains over the better baseline.

    A change is from the step before. Controls follow, each with its change from the method that it is compared with.

    ``steps`` maps the variant to the step in words, in order; ``one_at_a_time`` says whether each changes the first one
    and not the one before; ``sizes`` are needed if the experiment has more than one per data set; ``baselines`` are the
    methods that the gain of the others is over; ``controls``, entries ``{method, variant, label, step, against}``:
    further variants, and the methods that each is compared with, at which step.

    Notes
    -----
    Mean ± standard deviation over {full} repeats{at_sizes}; every step {kept}. "as before": the step does not concern
    the method.

    Change: from the {changed}{controls}. Gain: {over} at the step{chosen}{signed}. In brackets Holm's p-value.
    """
    metric, alone, controls = quantity["metric"], one_at_a_time, controls or []
    fact, sign = fact_of(metric), -1.0 if lower_is_better(metric) else 1.0
    frame = of_quantity(select(context.rows, dataset=datasets, method=methods, n_features_label=sizes), quantity)
    at, full = means_by(frame, "dataset", "variant", "method")
    labels = {method: context.label(method) for method in methods}
    if not (shown := [method for method in baselines if method in methods]):
        raise UserError(f"the gains of this table are over {' and '.join(baselines)}: name one of them, too")
    baselines, others = shown, [method for method in methods if method not in shown]
    unfold = {
        f"{start}{labels[method]}": {"quantity": what, "method_id": method, "method": labels[method]}
        for start, what, of in (("", fact.label, methods), ("change ", "change", methods), ("gain ", "gain", others))
        for method in of
    }
    compared = [(control, other) for control in controls for other in control["against"] if other in methods]
    rows, significant, overlaps = [], [], {}
    for dataset, name, ours in each_dataset(context, datasets, paper, frame):
        printed, overlap = context.name(dataset, paper), compare.overlap_of(ours, context)
        overlaps |= {printed: overlap} if len(ours) else {}
        reached = course(ours, steps, methods, alone)
        tests = changes({method: [now[method].values for now in reached] for method in methods}, overlap, alone)
        tests = {place: test for place, test in tests.items() if not reached[place[0]][place[1]].carried}
        for position, (control, other) in enumerate(compared):
            own = by_repeat(select(ours, method=control["method"], variant=control["variant"]))
            at_step = reached[list(steps).index(control["step"])]
            tests["control", position] = compare.paired(own, at_step[other].values, overlap)
        tests = compare.family(tests)
        gained = {method: [gain_of(method, now, baselines, sign) for now in reached] for method in others}
        gains = compare.family(
            {(step, m): compare.paired(own, 0.0, overlap) for m, of in gained.items() for step, own in enumerate(of)}
        )
        run = set(select(ours, method=methods)["variant"])
        for position, ((step, label), now) in enumerate(zip(steps.items(), reached, strict=True)):
            if alone and next(iter(steps)) in run and step not in run:
                continue  # the data set leaves nothing to decide there
            row = {"data set": name, "step": Cell(label, {"": label, "id": step, "minus": ""})}
            for method, each in now.items():
                own = mean_and_std(at.get((dataset, step, method)), full)
                row[labels[method]] = "as before" if each.carried else own
                row[f"change {labels[method]}"] = difference_cell(tests.get((position, method)))
            rows.append(row | {f"gain {labels[m]}": difference_cell(gains.get((position, m))) for m in others})
        for position, (control, method) in enumerate(compared):
            values = {"": control["label"], "id": control["variant"], "minus": labels[method]}
            own = mean_and_std(at.get((dataset, control["variant"], control["method"])), full)
            step = Cell(f"control: {control['label']} (change from {labels[method]})", values)
            row = {"data set": name, "step": step, labels[control["method"]]: own}
            rows.append(row | {f"change {labels[control['method']]}": difference_cell(tests["control", position])})
        if found := gain_changes(gained, overlap, alone):
            effects = {place: test for place, test in found.items() if compare.is_effect(test, metric)}
            significant.append(f"{printed}: {_in_words(effects, list(steps.values()), labels) or 'none'}")
    of_family = "all changes, all gains, and all changes of a gain of a data set, each by itself"
    better = " and ".join(labels[method] for method in baselines)
    over = f"over {'the better of ' * (len(baselines) > 1)}{better}"
    at_sizes = f" at s = {', '.join(sizes)}" if sizes else ""
    at_steps = " or ".join(dict.fromkeys(f'"{steps[control["step"]]}"' for control in controls))
    remarks = explained(
        ablation, full=full, over=over, at_sizes=at_sizes, changed="first step" if alone else "step before",
        kept="changes the first one alone" if alone else "keeps the ones before it",
        controls=f"; of a control: from the method named, at the step {at_steps}" * bool(controls),
        chosen=", which is chosen on the same repeats" * (len(baselines) > 1),
        signed=", positive where the error is lower" * (sign < 0),
    )  # fmt: skip
    remarks.append(compare.note_on_tests(overlaps, of_family, [metric]))
    remarks += [f"Steps that change a gain: {'; '.join(significant)}."] if significant else []
    titles = {fact.label: f"Test {fact.label}", "change": f"Change of the {fact.label}", "gain": f"Gain {over}"}
    parts = {title: [name for name, of in unfold.items() if of["quantity"] == what] for what, title in titles.items()}
    return Table(pd.DataFrame(rows, columns=["data set", "step", *unfold]), remarks, unfold, parts, shown=frame)


def _in_words(effects: dict, steps: list[str], labels: dict) -> str:
    """Return changes of the gains, one step after the other: "all features kept (LS-RFF +0.22, SLS-RFF +0.33)"."""
    by_step: dict[int, list[str]] = {}
    for (position, method), test in sorted(effects.items(), key=lambda item: item[0][0]):
        by_step.setdefault(position, []).append(f"{labels[method]} {test.value:+.2f}")
    return ", ".join(f"{steps[position]} ({', '.join(of_step)})" for position, of_step in by_step.items())
