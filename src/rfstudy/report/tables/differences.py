"""Every method against others in points, size by size, with paired tests: which differences are effects."""

from __future__ import annotations

import itertools

import pandas as pd

from rfstudy.report.aggregate import by_repeat, method_order, of_quantity, select
from rfstudy.report.cells import dataset_cell, difference_cell, method_cell
from rfstudy.report.compare import Estimate, family, is_effect, note_on_tests, overlap_of, paired
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.typeset import Cell, Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("datasets", "methods", "baselines", "sizes", "repeats", "quantity")


def make(context: Context, spec: dict) -> Table:
    """Mean difference of a percentage over the repeats and Holm's p-value, by data set, method and baseline; one column
    a size.

    Of ``spec``: ``baselines``, the methods that all others are held against, one after the other. All tests of a data
    set are one family.
    """
    metric = spec["quantity"]["metric"]
    frame = of_quantity(
        select(context.rows, dataset=spec["datasets"], n_features_label=spec["sizes"]), spec["quantity"]
    )
    rows, overlaps, effects = [], {}, []
    for dataset in spec["datasets"]:
        ours = select(frame, dataset=dataset)
        name = dataset_cell(context, dataset, spec["paper"], ours)
        if not len(ours):
            rows.append({"data set": name, "method": "", "minus": "", **dict.fromkeys(spec["sizes"], "not run")})
            continue
        overlap, printed = overlap_of(ours, context), printed_name(context.tasks, dataset, spec["paper"])
        tests = _tests(ours, spec, overlap)
        overlaps[printed] = overlap
        effects.append(f"{printed}: {_effects(tests, metric)}")
        for pair, baseline in dict.fromkeys(place[:2] for place in tests):
            label = plot_style(baseline, context.styles).label
            row = {"data set": name, "method": method_cell(context, *pair)}
            row["minus"] = Cell(label, {"": label, "id": baseline})
            rows.append(row | {size: difference_cell(tests.get((pair, baseline, size))) for size in spec["sizes"]})
    remarks = ["Mean difference in points over the repeats; in brackets Holm's p-value."]
    if effects:
        remarks += [
            note_on_tests(overlaps, "all differences of a data set", [metric]),
            f"Effects: {'; '.join(effects)}.",
        ]
    unfold = {size: {"size": size, "metric": metric} for size in spec["sizes"]}
    frame_of_rows = pd.DataFrame(rows, columns=["data set", "method", "minus", *spec["sizes"]])
    return Table(spec["name"], frame_of_rows, spec["caption"], remarks + notes(frame, spec, context), unfold)


def _tests(ours: pd.DataFrame, spec: dict, overlap: float) -> dict:
    """The tests of one data set as a family: by method and variant, baseline and size, where both have repeats."""
    values = {
        (*pair, size): by_repeat(select(ours, method=pair[0], variant=pair[1], n_features_label=size))
        for pair in method_order(ours, spec["methods"])
        for size in spec["sizes"]
    }
    pairs = [pair for pair in dict.fromkeys(place[:2] for place in values) if pair not in _plain(spec["baselines"])]
    found = {}
    for pair, baseline, size in itertools.product(pairs, spec["baselines"], spec["sizes"]):
        other = values.get((baseline, "", size))
        test = paired(values[*pair, size], other, overlap) if other is not None else None
        if test and test.n:
            found[pair, baseline, size] = test
    return family(found)


def _plain(baselines: list[str]) -> set[tuple[str, str]]:
    return {(baseline, "") for baseline in baselines}


def _effects(tests: dict[tuple, Estimate], metric: str) -> str:
    """How many differences are effects, by their sign: "3 of 24 above, 5 below"."""
    told = [test.value for test in tests.values() if is_effect(test, metric)]
    above = sum(difference > 0 for difference in told)
    return f"{above} of {len(tests)} above, {len(told) - above} below"
