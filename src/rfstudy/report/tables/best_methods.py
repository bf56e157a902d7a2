"""Which methods are best: as a paper lists them, and as measured.

Measured cells never come from published ones: the two meet only in the rows that say whether they agree.
"""

from __future__ import annotations

import itertools

import pandas as pd

from rfstudy.report.aggregate import of_quantity, select, settings_of
from rfstudy.report.cells import dataset_cell, method_cell
from rfstudy.report.compare import MIN_REPEATS, note_on_tests, overlap_of
from rfstudy.report.context import Context
from rfstudy.report.notes import comparability, notes, quantity
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import ids_by_name, printed_name
from rfstudy.report.significance import TOO_MANY, Best, best_methods
from rfstudy.report.typeset import Cell, Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("published", "datasets", "methods", "repeats", "groups", "criteria")


#: What stands under a table of best methods, whatever its rows.
BEST_METHODS_NOTE = (
    "Measured: the best method and all that are not told to be worse. A method's score in a repeat is its mean over "
    "the sizes of the group (of the logarithm for errors), which is compared with the best method's. "
    f'"-": {TOO_MANY} or more methods are listed. "no verdict": fewer than {MIN_REPEATS} complete repeats.'
)


def make(context: Context, spec: dict) -> Table:
    """Which methods are best, by data set, criterion and group of sizes: as printed, as measured (see
    ``significance.best_methods``), and whether the two lists are the same, overlap or differ.
    """
    frame = select(
        context.rows, dataset=spec["datasets"], n_features_label=list(itertools.chain(*spec["groups"].values()))
    )
    frame = pd.concat([of_quantity(frame, criterion) for criterion in spec["criteria"]])
    of_table = select(context.published, paper=spec["paper"], experiment=spec["published"])
    ids = ids_by_name(context.styles, "method")
    rows, agreements, left_out, overlaps = [], [], [], {}
    for dataset in spec["datasets"]:
        ours, printed = select(frame, dataset=dataset), select(of_table, dataset=dataset)
        found = {}
        for criterion in spec["criteria"]:
            of_criterion = of_quantity(ours, criterion)
            overlap = overlap_of(of_criterion, context)
            found[criterion["label"]] = best_methods(of_criterion, criterion["metric"], spec["groups"], overlap)
            if len(of_criterion):
                # an error of the kernel matrix has no training sets, wherever it is from
                name = printed_name(context.tasks, dataset, spec["paper"])
                overlaps[name if criterion.get("learner") else quantity(criterion["metric"])] = overlap
        cells = {}
        for criterion, (group, sizes) in itertools.product(spec["criteria"], spec["groups"].items()):
            heading = f"{criterion['label']}, {group}"
            of_cell = select(of_quantity(ours, criterion), n_features_label=sizes)
            best = found[criterion["label"]][group]
            as_printed = _printed_winners(printed, criterion, sizes, ids)
            agreement = "not comparable" if comparability(of_cell, context.tasks) else _agreement(as_printed, best)
            agreements.append(agreement)
            # the agreement stands beside the measured methods in a CSV file
            cells[heading] = (_listed(as_printed, context), _outcome(best, agreement, context), Cell(agreement, ()))
            if best.left_out and best.verdict != "no verdict":
                where = f"{printed_name(context.tasks, dataset, spec['paper'])}, {heading}"
                left_out.append(f"{where}: {_counts(best.left_out, context.styles)}")
        name = dataset_cell(context, dataset, spec["paper"], ours)
        for position, source in enumerate(("published", "measured", "agreement")):
            rows.append({"data set": name, "source": source, **{key: cell[position] for key, cell in cells.items()}})
    of_family = "the methods and groups of sizes of a data set and criterion"
    tests = note_on_tests(overlaps, of_family, [criterion["metric"] for criterion in spec["criteria"]])
    remarks = [BEST_METHODS_NOTE, tests, *_tally(agreements)]
    if left_out:
        remarks.append(f"Not compared, with the number of complete repeats: {'; '.join(left_out)}.")
    unfold = {
        f"{criterion['label']}, {group}": {"criterion": criterion["label"], "group": group}
        for criterion, group in itertools.product(spec["criteria"], spec["groups"])
    }
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks + notes(frame, spec, context), unfold)


def _counts(of: dict, styles: dict) -> str:
    return ", ".join(f"{plot_style(method, styles, variant).label} ({n})" for (method, variant), n in of.items())


def _tally(agreements: list[str]) -> list[str]:
    counts = {word: agreements.count(word) for word in ("same", "overlap", "differs")}
    if not any(counts.values()):
        return []
    told = ", ".join(f"{word} {n}" for word, n in counts.items())
    return [f"Agreement of the {sum(counts.values())} cells that can be compared: {told}."]


def _printed_winners(rows: pd.DataFrame, criterion: dict, sizes: list[str], ids: dict) -> list[str] | None:
    """Ids of the methods that a paper lists; an empty list where it prints "-", None where it prints nothing."""
    metric, learner = f"best_methods_{criterion['metric']}", criterion.get("learner", "")
    cell = select(rows, metric=metric, learner=learner, n_features_label=";".join(sizes))
    if not len(cell):
        return None
    text = settings_of(cell)[0]["text"]
    return [] if text == "none" else [ids.get((cell["paper"].iloc[0], name), name) for name in text.split(";")]


def _listed(winners: list[str] | None, context: Context) -> Cell:
    """The methods that a paper lists, one row each in a CSV file; one row as well where it lists none."""
    if not winners:
        return Cell("not printed", _winner("not printed")) if winners is None else Cell("-", _winner("none stands out"))
    methods = [method_cell(context, method) for method in winners]
    return Cell(", ".join(map(str, methods)), tuple(_winner("", method) for method in methods))


def _outcome(best: Best, agreement: str, context: Context) -> Cell:
    """The methods that are best as measured, one row each, with the adjusted p-value against the first."""
    told = {"agreement": agreement, "repeats": best.repeats}
    if best.verdict != "listed":
        return Cell("-" if best.verdict == "none stands out" else best.verdict, _winner(best.verdict) | told)
    methods = {pair: method_cell(context, *pair) for pair in best.methods}
    values = (_winner("", method) | told | {"p_value": best.adjusted.get(pair)} for pair, method in methods.items())
    return Cell(", ".join(map(str, methods.values())), tuple(values))


def _winner(remark: str, method: Cell | None = None) -> dict:
    """What a CSV file has of one winner, or in the place of winners."""
    named = {f"method {what}".rstrip(): value for what, value in (method.values if method else {}).items()}
    return dict.fromkeys(("method", "method id", "method variant", "p_value")) | named | {"remark": remark}


def _agreement(winners: list[str] | None, best: Best) -> str:
    """ "same", "overlap" or "differs"; nothing where one of the two has no list."""
    if winners is None or best.verdict in ("no verdict", "not run"):
        return ""
    ours = {method for method, _ in best.methods} if best.verdict == "listed" else set()
    if ours == set(winners):
        return "same"
    return "overlap" if ours & set(winners) else "differs"
