"""The table of an ablation: accuracies step by step, what each step changes, and controls beside the steps."""

from __future__ import annotations

import itertools

import pandas as pd

from rfstudy.report.aggregate import of_quantity, select, summarise
from rfstudy.report.cells import by_place, dataset_cell, mean_and_std
from rfstudy.report.context import Context
from rfstudy.report.looks import look
from rfstudy.report.notes import notes
from rfstudy.report.published import printed_name
from rfstudy.report.significance import Paired, Turn, compare, family, gain_of, note_on_tests, overlap_of, turns
from rfstudy.report.steps import Reached, controls_of, course
from rfstudy.report.typeset import Cell, Table

#: The keys of an entry of this kind beside those of all.
SCHEMA = {
    "properties": {
        "datasets": {"$ref": "#/$defs/names"},
        "methods": {"$ref": "#/$defs/names"},
        "baselines": {"$ref": "#/$defs/names"},
        "sizes": {"$ref": "#/$defs/one_size"},
        "repeats": {"$ref": "#/$defs/repeats"},
        "quantity": {"$ref": "#/$defs/quantity"},
        "steps": {"$ref": "#/$defs/steps_in_words"},
        "controls": {"$ref": "#/$defs/controls"},
    },
    "required": ["datasets", "methods", "baselines", "sizes", "repeats", "quantity", "steps", "controls"],
}


def make(context: Context, spec: dict) -> Table:
    """Accuracy of every method at every step of an ablation, its change from the step before, and the gain of the
    methods that use the data over the better baseline; then the controls, each minus the method it is held against.

    Of ``spec``: ``steps``, a mapping from the variant to the step in words, in order; ``baselines``, those of the
    methods that the gain of the others is over; ``controls``, entries ``{method, variant, label, step, against}``:
    further variants, and the methods that each is compared with, at which step.
    """
    metric = spec["quantity"]["metric"]
    frame = of_quantity(
        select(context.rows, dataset=spec["datasets"], n_features_label=spec["sizes"]), spec["quantity"]
    )
    cells = summarise(frame)
    full = int(cells["n"].max()) if len(cells) else 0
    at = by_place(cells, "dataset", "variant", "method")
    labels = {method: look(method, context.looks).label for method in spec["methods"]}
    others = [method for method in spec["methods"] if method not in spec["baselines"]]
    empty = {
        **dict.fromkeys(labels.values(), ""),
        **{f"change {label}": "" for label in labels.values()},
        **{f"gain {labels[method]}": "" for method in others},
    }
    rows, significant, overlaps = [], [], {}
    for dataset in spec["datasets"]:
        ours = select(frame, dataset=dataset)
        name = dataset_cell(context, dataset, spec["paper"], ours)
        overlap = overlap_of(ours, context)
        if len(ours):
            overlaps[printed_name(context.tasks, dataset, spec["paper"])] = overlap
        reached = course(ours, spec["steps"], spec["methods"])
        values = [{method: each.values for method, each in now.items()} for now in reached]
        controls = controls_of(ours, spec, overlap)
        changes, gains = _changes_of(reached, controls, overlap), _gains_of(values, others, spec["baselines"], overlap)
        for position, ((step, label), now) in enumerate(zip(spec["steps"].items(), reached, strict=True)):
            row = {"data set": name, "step": Cell(label, {"": label, "id": step, "minus": ""})} | empty
            for method, each in now.items():
                own = mean_and_std(at.get((dataset, step, method)), metric, full)
                row[labels[method]] = "as before" if each.carried else own
                row[f"change {labels[method]}"] = _difference(changes.get((position, method)))
            for method in others:
                row[f"gain {labels[method]}"] = _difference(gains.get((position, method)))
            rows.append(row)
        found = turns(values, spec["steps"], others, spec["baselines"], overlap)
        if found:
            changed = _changes([turn for turn in found if turn.test.stands(metric)], spec["steps"], labels)
            significant.append(f"{printed_name(context.tasks, dataset, spec['paper'])}: {changed or 'none'}")
        for position, (control, method, *_) in enumerate(controls):
            told = {"": control["label"], "id": control["variant"], "minus": labels[method]}
            step = Cell(f"control: {control['label']}, minus {labels[method]}", told)
            row = {"data set": name, "step": step} | empty
            place = dataset, control["variant"], control["method"]
            row[labels[control["method"]]] = mean_and_std(at.get(place), metric, full)
            row[f"change {labels[control['method']]}"] = _difference(changes["control", position])
            rows.append(row)
    of_family = "all changes, all gains, and all changes of a gain of a data set, each by itself"
    remarks = [
        f"Mean ± standard deviation over {full} repeats at s = {', '.join(spec['sizes'])}; every step keeps the ones "
        'before it. "as before": the step does not concern the method.',
        "Change: from the step before; of a control: from the method named, at the step "
        f"{_at(spec)}. Gain: over the more accurate of {' and '.join(labels[m] for m in spec['baselines'])} at the "
        "step, which is chosen on the same repeats. In brackets Holm's p-value.",
        note_on_tests(overlaps, of_family, [metric]),
    ]
    if significant:
        remarks.append(f"Steps that change a gain: {'; '.join(significant)}.")
    quantities = {"accuracy": ("", spec["methods"]), "change": ("change ", spec["methods"]), "gain": ("gain ", others)}
    unfold = {
        f"{before}{labels[method]}": {"quantity": what, "method": labels[method], "method_id": method}
        for what, (before, methods) in quantities.items()
        for method in methods
    }
    titles = {
        "accuracy": "Test accuracy",
        "change": "Change of the accuracy",
        "gain": f"Gain over the better of {' and '.join(labels[method] for method in spec['baselines'])}",
    }
    parts = {titles[what]: [name for name, of in unfold.items() if of["quantity"] == what] for what in quantities}
    remarks += notes(frame, spec, context)
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks, unfold, parts)


def _changes_of(reached: list[dict[str, Reached]], controls: list, overlap: float) -> dict:
    """The changes of one data set as a family: by position of the step and method, and by ("control", position)."""
    tests = {("control", position): test for position, (*_, test) in enumerate(controls)}
    for position, (before, now) in enumerate(itertools.pairwise(reached), start=1):
        tests |= {
            (position, method): compare(each.values, before[method].values, overlap)
            for method, each in now.items()
            if not each.carried
        }
    return family(tests)


def _gains_of(values: list[dict], others: list[str], baselines: list[str], overlap: float) -> dict:
    """The gains of one data set as a family: by position of the step and method."""
    found = {
        (position, method): gain_of(method, of_step, baselines, overlap)
        for position, of_step in enumerate(values)
        for method in others
    }
    return family({place: gain.test for place, gain in found.items() if gain})


def _at(spec: dict) -> str:
    """The steps at which the controls are compared, in words."""
    return " or ".join(dict.fromkeys(f'"{spec["steps"][control["step"]]}"' for control in spec["controls"]))


def _changes(found: list[Turn], steps: dict, labels: dict) -> str:
    """Changes of the gains in words, one step after the other: "all features kept (LS-RFF +0.22, SLS-RFF +0.33)"."""
    told = []
    for step, label in steps.items():
        of_step = [f"{labels[turn.method]} {turn.test.difference:+.2f}" for turn in found if turn.step == step]
        told += [f"{label} ({', '.join(of_step)})"] if of_step else []
    return ", ".join(told)


def _difference(test: Paired | None) -> Cell | str:
    """A difference of accuracies with its p-value in brackets, where there is one."""
    if test is None or not test.repeats:
        return ""
    known = test.p_value == test.p_value  # it is missing where the repeats are too few
    p_value = "<0.001" if test.p_value < 0.001 else f"{test.p_value:.3f}"
    text = f"{test.difference:+.2f}" + (f" ({p_value})" if known else "")
    return Cell(text, {"": test.difference, "std": None, "n": test.repeats, "p_value": test.p_value, "remark": ""})
