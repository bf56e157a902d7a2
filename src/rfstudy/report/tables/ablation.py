"""The table of an ablation: scores step by step, what each step changes, and controls."""

from __future__ import annotations

import pandas as pd

from rfstudy.metrics import fact_of, lower_is_better
from rfstudy.report.aggregate import of_quantity, select, summarise
from rfstudy.report.cells import by_place, dataset_cell, difference_cell, mean_and_std
from rfstudy.report.compare import family, is_effect, note_on_tests, overlap_of, paired
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.steps import Reached, controls_of, course, gain_changes, gain_of
from rfstudy.report.typeset import Cell, Table


def make(
    context: Context,
    *,
    paper: str,
    datasets: list[str],
    methods: list[str],
    baselines: list[str],
    repeats: int,
    quantity: dict,
    steps: dict[str, str],
    sizes: list[str] | None = None,
    one_at_a_time: bool = False,
    controls: list[dict] | None = None,
) -> Table:
    """Score of every method at every step of an ablation, its change from the step before, and the gain of the methods
    that use the data over the better baseline; then the controls, each minus the method it is compared with.

    ``steps`` maps the variant to the step in words, in order; ``one_at_a_time`` says whether each
    changes the first one and not the one before; ``sizes``, where the experiment has more than one of a data set;
    ``baselines``, those of the methods that the gain of the others is over; ``controls``, entries ``{method, variant,
    label, step, against}``: further variants, and the methods that each is compared with, at which step.
    """
    metric, alone = quantity["metric"], one_at_a_time
    fact, sign = fact_of(metric), -1.0 if lower_is_better(metric) else 1.0
    frame = of_quantity(select(context.rows, dataset=datasets, n_features_label=sizes), quantity)
    cells = summarise(frame)
    full = int(cells["n"].max()) if len(cells) else 0
    at = by_place(cells, "dataset", "variant", "method")
    labels = {method: plot_style(method, context.styles).label for method in methods}
    others = [method for method in methods if method not in baselines]
    columns = {labels[method]: {"quantity": fact.label, "method_id": method} for method in methods}
    columns |= {f"change {labels[method]}": {"quantity": "change", "method_id": method} for method in methods}
    columns |= {f"gain {labels[method]}": {"quantity": "gain", "method_id": method} for method in others}
    empty = dict.fromkeys(columns, "")
    rows, significant, overlaps = [], [], {}
    for dataset in datasets:
        ours = select(frame, dataset=dataset)
        name = dataset_cell(context, dataset, paper, ours)
        overlap = overlap_of(ours, context)
        if len(ours):
            overlaps[printed_name(context.tasks, dataset, paper)] = overlap
        reached = course(ours, steps, methods, alone)
        compared = controls_of(ours, reached, {"steps": steps, "controls": controls or []}, overlap)
        changes = _changes_of(reached, compared, overlap, alone)
        gained = {method: [gain_of(method, now, baselines, sign) for now in reached] for method in others}
        gains = family(
            {(step, m): paired(own, 0.0, overlap) for m, of in gained.items() for step, own in enumerate(of)}
        )
        run = set(select(ours, method=methods)["variant"])
        for position, ((step, label), now) in enumerate(zip(steps.items(), reached, strict=True)):
            if alone and next(iter(steps)) in run and step not in run:
                continue  # the data set leaves nothing to decide there
            row = {"data set": name, "step": Cell(label, {"": label, "id": step, "minus": ""})} | empty
            for method, each in now.items():
                own = mean_and_std(at.get((dataset, step, method)), metric, full)
                row[labels[method]] = "as before" if each.carried else own
                row[f"change {labels[method]}"] = difference_cell(changes.get((position, method)))
            for method in others:
                row[f"gain {labels[method]}"] = difference_cell(gains.get((position, method)))
            rows.append(row)
        found = gain_changes(gained, overlap, alone)
        if found:
            effects = {place: test for place, test in found.items() if is_effect(test, metric)}
            changed = _in_words(effects, list(steps.values()), labels)
            significant.append(f"{printed_name(context.tasks, dataset, paper)}: {changed or 'none'}")
        for position, (control, method, _) in enumerate(compared):
            values = {"": control["label"], "id": control["variant"], "minus": labels[method]}
            step = Cell(f"control: {control['label']}, minus {labels[method]}", values)
            row = {"data set": name, "step": step} | empty
            place = dataset, control["variant"], control["method"]
            row[labels[control["method"]]] = mean_and_std(at.get(place), metric, full)
            row[f"change {labels[control['method']]}"] = difference_cell(changes["control", position])
            rows.append(row)
    of_family = "all changes, all gains, and all changes of a gain of a data set, each by itself"
    better = " and ".join(labels[method] for method in baselines)
    over = f"over {'the better of ' * (len(baselines) > 1)}{better}"
    at_sizes = f" at s = {', '.join(sizes)}" if sizes else ""
    at_steps = dict.fromkeys(f'"{steps[control["step"]]}"' for control in controls or [])
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
        *notes(frame, {"paper": paper, "repeats": repeats}, context),
    ]
    unfold = {name: of | {"method": labels[of["method_id"]]} for name, of in columns.items()}
    titles = {fact.label: f"Test {fact.label}", "change": f"Change of the {fact.label}", "gain": f"Gain {over}"}
    parts = {title: [name for name, of in columns.items() if of["quantity"] == what] for what, title in titles.items()}
    return Table(pd.DataFrame(rows), remarks, unfold, parts)


def _changes_of(reached: list[dict[str, Reached]], controls: list, overlap: float, alone: bool) -> dict:
    """The changes of one data set as a family: by position of the step and method, and by ("control", position)."""
    tests = {("control", position): test for position, (*_, test) in enumerate(controls)}
    for position, now in enumerate(reached[1:], start=1):
        before = reached[0 if alone else position - 1]
        tests |= {
            (position, method): paired(each.values, before[method].values, overlap)
            for method, each in now.items()
            if not each.carried
        }
    return family(tests)


def _in_words(effects: dict, steps: list[str], labels: dict) -> str:
    """Changes of the gains, one step after the other: "all features kept (LS-RFF +0.22, SLS-RFF +0.33)"."""
    by_step: dict[int, list[str]] = {}
    for (position, method), test in sorted(effects.items(), key=lambda item: item[0][0]):
        by_step.setdefault(position, []).append(f"{labels[method]} {test.value:+.2f}")
    return ", ".join(f"{steps[position]} ({', '.join(of_step)})" for position, of_step in by_step.items())
