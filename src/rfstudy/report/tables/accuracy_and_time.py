"""Accuracies and times in the form of the paper, as printed and as measured.

A printed number that is ``reconstructed`` in data/reference is marked, one that is ``lost`` is shown as that. Times are
shown as they were measured.
"""

from __future__ import annotations

import itertools

import pandas as pd

from rfstudy.report.aggregate import (
    LEVEL,
    MIN_REPEATS,
    by_repeat,
    of_quantity,
    paired,
    select,
)
from rfstudy.report.cells import cell_text, dataset_cell, method_columns, most_repeats
from rfstudy.report.context import Context
from rfstudy.report.looks import look
from rfstudy.report.notes import notes
from rfstudy.report.published import printed_text
from rfstudy.report.times import summarise
from rfstudy.report.typeset import Cell, Table

#: The keys of an entry of this kind beside those of all.
SCHEMA = {
    "properties": {
        "published": {"$ref": "#/$defs/text"},
        "datasets": {"$ref": "#/$defs/names"},
        "methods": {"$ref": "#/$defs/names"},
        "baselines": {"$ref": "#/$defs/names"},
        "sizes": {"$ref": "#/$defs/names"},
        "repeats": {"$ref": "#/$defs/repeats"},
        "quantity": {"$ref": "#/$defs/quantity"},
        "time": {"$ref": "#/$defs/quantity"},
    },
    "required": ["published", "datasets", "methods", "baselines", "sizes", "repeats", "quantity", "time"],
}


#: What stands before the measured numbers that are significant.
BULLET = "•"

MARKS_NOTE = (
    "*: deduced from a damaged source, see data/reference/README.md; lost: not legible there. Times are seconds on the "
    "machine of the row and are not comparable between rows."
)


def make(context: Context, spec: dict) -> Table:
    """Accuracy and generation time of every method by data set and size, "mean ± std (mean ± std)", as printed and as
    measured; a bullet where the methods that use the data beat the ones that do not.

    The sizes of a data set are those that are printed or measured for it. Of ``spec``: ``quantity`` is what stands
    before the brackets, ``time`` what stands in them, ``baselines`` the methods that the others are tested against
    (see ``all_beat``).
    """
    frame = select(context.rows, dataset=spec["datasets"], n_features_label=spec["sizes"], variant="")
    accuracy, time = (select(of_quantity(frame, spec[key]), method=spec["methods"]) for key in ("quantity", "time"))
    metrics = (spec["quantity"]["metric"], spec["time"]["metric"])
    printed = select(context.published, paper=spec["paper"], experiment=spec["published"])
    cells = summarise(pd.concat([accuracy, time]))
    full = most_repeats(cells)
    others = [method for method in spec["methods"] if method not in spec["baselines"]]
    rows, bullets = [], 0
    for dataset in spec["datasets"]:
        name = dataset_cell(context, dataset, spec["paper"], select(frame, dataset=dataset))
        for size in spec["sizes"]:
            of_size = {"dataset": dataset, "n_features_label": size}
            as_printed, ours = select(printed, **of_size), select(accuracy, **of_size)
            if not len(as_printed) and not len(ours):
                continue
            marked = all_beat({method: by_repeat(select(ours, method=method)) for method in spec["methods"]}, others)
            bullets += marked
            texts = {"published": {}, "measured": {}}
            for method in spec["methods"]:
                heading = look(method, context.looks).label
                before, inside = (printed_text(select(as_printed, method=method, metric=metric)) for metric in metrics)
                texts["published"][heading] = _both(metrics, before, inside)
                of_method = select(cells, **of_size, method=method)
                before, inside = (cell_text(select(of_method, metric=metric), metric, full) for metric in metrics)
                texts["measured"][heading] = _both(metrics, before, inside, marked and method in others)
            rows += [{"data set": name, "s": size, "source": source, **of} for source, of in texts.items()]
    names = [" and ".join(look(m, context.looks).label for m in group) for group in (others, spec["baselines"])]
    remarks = [
        f"{BULLET}: {names[0]} are each more accurate than each of {names[1]}, by a two-sided paired t-test across the "
        f"repeats of the cell at {LEVEL:.0%}, {len(others) * len(spec['baselines'])} tests of which none may fail; not "
        f"corrected for the number of cells; none under {MIN_REPEATS} repeats. Measured cells with it: {bullets}.",
        MARKS_NOTE,
    ]
    shown = pd.concat([accuracy, time])
    remarks += notes(shown, spec, context)
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks, method_columns(context, spec["methods"]))


def all_beat(values: dict[str, pd.Series], others: list[str]) -> bool:
    """Whether each of some methods is significantly better than each of the rest of the methods in one cell.

    One ``paired`` test for every pair, over the repeats in which both are ok. That all of them must come out keeps
    the level of the whole at that of one test, so that no correction over the pairs is needed.

    Parameters
    ----------
    values : method -> accuracies by repeat
    others : the methods that have to be better than those that are not listed
    """
    baselines = [method for method in values if method not in others]
    return all(paired(values[one], values[other]).better() for one, other in itertools.product(others, baselines))


def _both(metrics: tuple[str, str], before: Cell, inside: Cell, marked: bool = False) -> Cell:
    """Two quantities in one cell, the second in brackets; what is missing of both is said once."""
    text = before.text if before.text == inside.text else f"{before} ({inside})"
    values = {
        f"{metric} {what}".rstrip(): value
        for metric, cell in zip(metrics, (before, inside), strict=True)
        for what, value in cell.values.items()
    }
    return Cell(f"{BULLET} {text}" if marked else text, values | {"better than all baselines": "yes" if marked else ""})
