"""The table of an ablation: scores step by step, what each step changes, and controls.

One experiment holds all steps, as variants of the methods. A step that does not concern a method has no rows of it: the
method stays where it was. Tests pair the repeats, since all variants of a repeat see the same split.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of, lower_is_better
from rfstudy.report.aggregate import by_repeat, of_quantity, select, summarise
from rfstudy.report.cells import by_place, dataset_cell, difference_cell, mean_and_std
from rfstudy.report.compare import Estimate, family, is_effect, note_on_tests, overlap_of, paired
from rfstudy.report.context import Context
from rfstudy.report.typeset import Cell, Table


class Reached(NamedTuple):
    """What a method reaches at a step: its values by repeat, and whether they are those of an earlier step."""

    values: pd.Series
    carried: bool = False


def course(rows: pd.DataFrame, steps, methods: list[str], alone: bool = False) -> list[dict[str, Reached]]:
    """Return what the methods reach on one data set: for each step, method -> ``Reached``.

    ``rows`` are those of one data set and quantity; ``steps`` are names of variants, in order; ``alone`` says that each
    changes the first one and not the one before. A method without rows at a step carries over what it reached there. A
    step without rows of any method was not run, and nothing carries over.
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
        (position, method): paired(own[position], own[0 if alone else position - 1], overlap)
        for method, own in courses.items()
        for position in range(1, len(own))
    }


def gain_changes(gains: dict[str, list[pd.Series]], overlap: float = 0.0, alone: bool = False) -> dict:
    """Return the ``changes`` of the gains of methods on one data set, as one family.

    Changes without a p-value (too few repeats, a step that was not run) are left out.
    """
    tests = family(changes(gains, overlap, alone))
    return {place: test for place, test in tests.items() if not np.isnan(test.p)}


def controls_of(
    rows: pd.DataFrame, reached: list, spec: dict, overlap: float = 0.0
) -> list[tuple[dict, str, Estimate]]:
    """Return each comparison with a control on one data set, without Holm's correction.

    That is the control's entry of ``spec``, the method that it is compared with, and control minus method at the step
    that the entry names. ``reached`` is the ``course``.
    """
    steps = list(spec["steps"])
    found = []
    for control in spec.get("controls", []):
        own = by_repeat(select(rows, method=control["method"], variant=control["variant"]))
        of_step = reached[steps.index(control["step"])]
        found += [(control, method, paired(own, of_step[method].values, overlap)) for method in control["against"]]
    return found


def make(
    context: Context,
    *,
    paper: str,
    datasets: list[str],
    methods: list[str],
    baselines: list[str],
    quantity: dict,
    steps: dict[str, str],
    sizes: list[str] | None = None,
    one_at_a_time: bool = False,
    controls: list[dict] | None = None,
) -> Table:
    """Return scores of every method at every step of an ablation, their changes, and gains over the better baseline.

    A change is from the step before. The controls follow, each minus the method that it is compared with.

    ``steps`` maps the variant to the step in words, in order; ``one_at_a_time`` says whether each changes the first one
    and not the one before; ``sizes``, where the experiment has more than one of a data set; ``baselines``, the methods
    that the gain of the others is over; ``controls``, entries ``{method, variant, label, step, against}``: further
    variants, and the methods that each is compared with, at which step.
    """
    metric, alone, controls = quantity["metric"], one_at_a_time, controls or []
    fact, sign = fact_of(metric), -1.0 if lower_is_better(metric) else 1.0
    frame = of_quantity(select(context.rows, dataset=datasets, n_features_label=sizes), quantity)
    cells = summarise(frame)
    full = int(cells["n"].max()) if len(cells) else 0
    at = by_place(cells, "dataset", "variant", "method")
    labels = {method: context.label(method) for method in methods}
    others = [method for method in methods if method not in baselines]
    unfold = {labels[method]: {"quantity": fact.label, "method_id": method} for method in methods}
    unfold |= {f"change {labels[method]}": {"quantity": "change", "method_id": method} for method in methods}
    unfold |= {f"gain {labels[method]}": {"quantity": "gain", "method_id": method} for method in others}
    rows, significant, overlaps = [], [], {}
    for dataset in datasets:
        ours = select(frame, dataset=dataset)
        name, printed, overlap = dataset_cell(context, dataset, paper, ours), context.name(dataset, paper), 0.0
        if len(ours):
            overlap = overlaps[printed] = overlap_of(ours, context)
        reached = course(ours, steps, methods, alone)
        compared = controls_of(ours, reached, {"steps": steps, "controls": controls}, overlap)
        tests = changes({method: [now[method].values for now in reached] for method in methods}, overlap, alone)
        tests = {place: test for place, test in tests.items() if not reached[place[0]][place[1]].carried}
        tests = family(tests | {("control", position): test for position, (*_, test) in enumerate(compared)})
        gained = {method: [gain_of(method, now, baselines, sign) for now in reached] for method in others}
        gains = family(
            {(step, m): paired(own, 0.0, overlap) for m, of in gained.items() for step, own in enumerate(of)}
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
            for method in others:
                row[f"gain {labels[method]}"] = difference_cell(gains.get((position, method)))
            rows.append(row)
        for position, (control, method, _) in enumerate(compared):
            values = {"": control["label"], "id": control["variant"], "minus": labels[method]}
            own = mean_and_std(at.get((dataset, control["variant"], control["method"])), full)
            row = {"data set": name, "step": Cell(f"control: {control['label']}, minus {labels[method]}", values)}
            row |= {labels[control["method"]]: own}
            rows.append(row | {f"change {labels[control['method']]}": difference_cell(tests["control", position])})
        found = gain_changes(gained, overlap, alone)
        if found:
            effects = {place: test for place, test in found.items() if is_effect(test, metric)}
            significant.append(f"{printed}: {_in_words(effects, list(steps.values()), labels) or 'none'}")
    of_family = "all changes, all gains, and all changes of a gain of a data set, each by itself"
    better = " and ".join(labels[method] for method in baselines)
    over = f"over {'the better of ' * (len(baselines) > 1)}{better}"
    at_sizes = f" at s = {', '.join(sizes)}" if sizes else ""
    at_steps = dict.fromkeys(f'"{steps[control["step"]]}"' for control in controls)
    remarks = [
        f"Mean ± standard deviation over {full} repeats{at_sizes}; every step "
        + ("changes the first one alone" if alone else "keeps the ones before it")
        + '. "as before": the step does not concern the method.',
        f"Change: from the {'first step' if alone else 'step before'}"
        + (f"; of a control: from the method named, at the step {' or '.join(at_steps)}" if at_steps else "")
        + f". Gain: {over} at the step"
        + (", which is chosen on the same repeats" if len(baselines) > 1 else "")
        + (", positive where the error is lower" if sign < 0 else "")
        + ". In brackets Holm's p-value.",
        note_on_tests(overlaps, of_family, [metric]),
        *([f"Steps that change a gain: {'; '.join(significant)}."] if significant else []),
    ]
    titles = {fact.label: f"Test {fact.label}", "change": f"Change of the {fact.label}", "gain": f"Gain {over}"}
    parts = {title: [name for name, of in unfold.items() if of["quantity"] == what] for what, title in titles.items()}
    unfold = {name: of | {"method": labels[of["method_id"]]} for name, of in unfold.items()}
    table = pd.DataFrame(rows, columns=["data set", "step", *unfold])
    return Table(table, remarks, unfold, parts, shown=frame)


def _in_words(effects: dict, steps: list[str], labels: dict) -> str:
    """Return changes of the gains, one step after the other: "all features kept (LS-RFF +0.22, SLS-RFF +0.33)"."""
    by_step: dict[int, list[str]] = {}
    for (position, method), test in sorted(effects.items(), key=lambda item: item[0][0]):
        by_step.setdefault(position, []).append(f"{labels[method]} {test.value:+.2f}")
    return ", ".join(f"{steps[position]} ({', '.join(of_step)})" for position, of_step in by_step.items())
