"""The table of an ablation: scores step by step, what each step changes, and controls."""

import pandas as pd

from rfstudy.metrics import fact_of, lower_is_better
from rfstudy.report.aggregate import of_quantity, select, summarise
from rfstudy.report.cells import by_place, dataset_cell, difference_cell, mean_and_std
from rfstudy.report.compare import family, is_effect, note_on_tests, overlap_of, paired
from rfstudy.report.context import Context
from rfstudy.report.steps import changes, controls_of, course, gain_changes, gain_of
from rfstudy.report.typeset import Cell, Table


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
