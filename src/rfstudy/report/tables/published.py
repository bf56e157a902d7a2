"""Tables of the contents of a paper: its texts, and its numbers next to ours."""

import numpy as np
import pandas as pd

from random_features.errors import UserError
from rfstudy.metrics import POINTS, SHARE, fact_of, lower_is_better
from rfstudy.report import scorecard as compared
from rfstudy.report.aggregate import of_quantity, select, settings_of
from rfstudy.report.cells import absent, dataset_cell, method_cell, method_columns
from rfstudy.report.compare import with_verdicts
from rfstudy.report.context import Context
from rfstudy.report.notes import by_reason, explained
from rfstudy.report.published import RECONSTRUCTED, printed_name
from rfstudy.report.times import TOO_WIDE
from rfstudy.report.typeset import Cell, Table, with_best

#: The rule behind the verdicts.
RULE = explained(with_verdicts, POINTS=POINTS, SHARE=SHARE)

# --- scorecard --------------------------------------------------------------------------------------------------------
# The scorecard of a paper: every published number next to ours, with a verdict.


A_RATIO = "A time is its ratio to that of another method in the same cell, which has no row itself."

#: The columns for machines only.
HIDDEN = ("kernel", "published spread", "confidence", "our spread", "repeats", *compared.JUDGED)

#: The columns that hold numbers.
NUMBERS = ("published", "published spread", "ours", "our spread", *compared.JUDGED)


def scorecard(context, *, paper, experiments, scorecard) -> Table:
    """Return a row per published number and protocol: published, ours, the verdict, and the values behind it.

    A number that no experiment measures has one row, without a protocol. The remark names the missing value or says why
    the two are not comparable.
    """
    cells = compared.scorecard(context, paper, experiments, scorecard)
    table = pd.DataFrame([_row(cell, context, paper) for cell in cells.itertuples()])
    tallies = [
        compared.counts(of_protocol, f"Protocol {protocol}" if protocol else "Without an experiment")
        for protocol, of_protocol in cells.groupby("protocol", sort=False)
    ]
    others = [(entry["table"], entry["why"]) for entry in scorecard.get("not_scored", [])]
    remarks = [*RULE, A_RATIO, *tallies, *([f"Printed as well: {by_reason(others)}."] if others else [])]
    return Table(table.astype(dict.fromkeys(NUMBERS, float) | {"repeats": "Int64"}), remarks, hidden=HIDDEN)


def _row(cell, context: Context, paper: str) -> dict:
    # half the distance of the quartiles over rounds takes the place of a standard deviation
    spread = cell.std if pd.isna(cell.low) else (cell.high - cell.low) / 2
    name, kernel = context.name(cell.dataset, paper), cell.kernel if cell.kernel != "gaussian" else ""
    return {
        "protocol": cell.protocol,
        "table": cell.table,
        "data set": Cell(", ".join(filter(None, [name, kernel])), {"": name}),
        "kernel": cell.kernel,
        "s": cell.size,
        "method": context.label(cell.method) if cell.method else "",
        "quantity": compared.quantity_in_words(cell, context),
        "published": _number(cell.published, cell),
        "published spread": np.nan if cell.over or pd.isna(cell.published) else cell.published_spread,
        "confidence": cell.confidence,
        "ours": _number(cell.value, cell),
        "our spread": _number(spread, cell),
        "repeats": cell.n or None,
        **compared.judgement(cell),
        "remark": "" if cell.reason == cell.verdict else cell.reason,
    }


def _number(value: float, cell) -> float:
    """Return a number to the digits of a table: two decimals for percentages and ratios, otherwise six digits."""
    return round(value, 2) if cell.over or fact_of(cell.metric).is_percentage else float(f"{value:.6g}")


# --- next_to_published ------------------------------------------------------------------------------------------------
# Published numbers with ours below them: a row per kernel, quantity and source, a column per method.


#: The cell of the method that all others are divided by.
ONE = Cell("1", {"": 1.0})

#: Other values that a missing number lacks.
QUARTILES = ("std", "lower_quartile", "upper_quartile")


def next_to_published(context, *, paper, experiments, scorecard, published, methods, kernels) -> Table:
    """Return every published number of a table and ours; ``kernels`` are ids with their names in the table.

    Notes
    -----
    Ours: mean ± standard deviation where there are repeats; of times the median over rounds and its quartiles.
    """
    cells = select(compared.scorecard(context, paper, experiments, scorecard), table=published)
    found = {(cell.kernel, cell.metric, cell.method): cell for cell in cells.itertuples()}
    quantities = {cell.metric: compared.quantity_in_words(cell, context) for cell in found.values()}
    rows = []
    for kernel, name in kernels.items():
        for metric, words in quantities.items():
            own = {method: found.get((kernel, metric, method)) for method in methods}
            if not any(own.values()):
                continue  # of a kernel that these experiments do not have
            # a method that is divided by one without a number of its own has measured that method, too
            measured = any(cell and pd.notna(cell.value) for cell in own.values())
            units = ONE, ONE if measured else absent("not run", *QUARTILES)
            cell_of = compared.printed_cell, compared.our_cell
            for source, text, unit in zip(("published", "ours"), cell_of, units, strict=True):
                texts = {context.label(method): text(cell) if cell else unit for method, cell in own.items()}
                row = {"kernel": name, "quantity": words, "source": source} | texts
                rows += with_best([row], texts, lower_is_better(metric))
    shown = context.rows.loc[sorted({row for index in cells["rows"] for row in index})]
    others = sorted(set(shown["n_features_label"]) - set(cells["size"]))
    remarks = [*explained(next_to_published), *([f"Ours at s = {', '.join(others)}."] if others else [])]
    return Table(pd.DataFrame(rows), remarks, method_columns(context, methods), shown=shown)


# --- scores -----------------------------------------------------------------------------------------------------------
# Published means next to ours, cell by cell, with a verdict.
#
# A published number that is lost is not compared. Times are compared only as ratios between methods.


def scores(context, *, paper, experiments, scorecard, published, datasets, methods, sizes, quantity) -> Table:
    """Return a row per published cell of one quantity: published, ours, the verdict and the values behind it.

    The ``quantity`` is joined and, for times, divided as ``config/scorecard.yaml`` says.

    Notes
    -----
    Ratios to {name} in the same cell; ours are medians over rounds of the ratio in a round, with the quartiles, or
    means over repeats of the ratio in a repeat. Too noisy as well: quartiles that are further apart than
    {TOO_WIDE:.0%} of the ratio. Busy times are not compared.
    """
    wanted = {"metric": quantity["metric"], "learner": quantity.get("learner")}
    cells = select(compared.scorecard(context, paper, experiments, scorecard), table=published, **wanted)
    places = pd.MultiIndex.from_product([datasets, sizes, methods])
    cells = cells.set_index(["dataset", "size", "method"], drop=False)
    cells = cells.reindex(places.intersection(cells.index, sort=False))
    if cells.empty:
        raise UserError(f"{published} has no number to compare with these methods and data sets: name others, too")
    shown = of_quantity(select(context.rows, dataset=datasets, n_features_label=sizes, variant=""), quantity)
    names = {d: dataset_cell(context, d, paper, select(shown, dataset=d)) for d in datasets}
    rows = []
    for cell in cells.itertuples():
        row = {"data set": names[cell.dataset], "s": cell.size, "method": method_cell(context, cell.method)}
        row |= {"published": compared.printed_cell(cell), "confidence": cell.confidence}
        rows.append(row | {"ours": compared.our_cell(cell)} | compared.judgement(cell))
    over = next(filter(None, cells["over"]), "")
    ratios = explained(scores, name=context.label(over), TOO_WIDE=TOO_WIDE) if over else []
    kinds = cells.groupby("confidence", sort=False)
    parts = [compared.counts(of_kind, kind.capitalize()) for kind, of_kind in kinds] if len(kinds) > 1 else []
    remarks = [*ratios, *RULE, compared.counts(cells, "Verdicts"), *parts]
    return Table(pd.DataFrame(rows).astype(dict.fromkeys(compared.JUDGED, float)), remarks, shown=shown)


# --- facts ------------------------------------------------------------------------------------------------------------
# Facts in tables of a paper that nobody can measure, typeset as published.
#
# They are the requirements of a method, the meaning of a symbol, the assumptions of a theorem: texts of
# ``data/reference``, with a row per subject and a column per kind of fact. Numbers that can be measured have kinds of
# their own.


MARK_NOTE = f"{RECONSTRUCTED}: deduced, see data/reference/README.md."


def facts(context, *, paper, published, about, says) -> Table:
    """Return a row per thing that the published table is about, in the order of the paper.

    ``ValueError`` if the entry names a metric that the published table does not have.
    """
    printed = select(context.published, paper=paper, experiment=published)
    if absent := [metric for metric in says if metric not in set(printed["metric"])]:
        raise ValueError(f"{published} of {paper} says nothing of: {', '.join(absent)}")
    printed = select(printed, metric=list(says))
    settings = settings_of(printed)
    printed = printed.assign(item=[each.get("item", "") for each in settings])
    metrics = {heading: [m for m, of in says.items() if of == heading] for heading in says.values()}
    rows = []
    for what, own in printed.groupby(list(about), sort=False):
        names = (_name(context, column, value, paper) for column, value in zip(about, what, strict=True))
        row = dict(zip(about.values(), names, strict=True))
        rows.append(row | {heading: _said(select(own, metric=names)) for heading, names in metrics.items()})
    remarks = [f"{remark}." for remark in dict.fromkeys(each["note"] for each in settings if each.get("note"))]
    remarks += [MARK_NOTE] if printed["confidence"].eq("reconstructed").any() else []
    return Table(pd.DataFrame(rows), remarks)


def _name(context: Context, column: str, identifier: str, paper: str) -> str:
    """Return the subject of a row by its name in the paper; all names if there are several."""
    registry = {"method": context.styles, "dataset": context.tasks}.get(column, {})
    return ", ".join(printed_name(registry, each, paper) for each in identifier.split(";"))


def _said(rows: pd.DataFrame) -> Cell:
    """Return the published text on one subject, its parts and lists joined; for machines with ``confidence``."""
    texts = [s.get("text", s.get("printed", "lost")) for s in settings_of(rows)]
    joined = "; ".join(", ".join(part.strip() for part in text.split(";")) for text in texts)
    deduced = rows["confidence"].eq("reconstructed").any()
    confidence = "; ".join(dict.fromkeys(rows["confidence"]))
    return Cell(joined + (RECONSTRUCTED if deduced and joined else ""), {"": joined, "confidence": confidence})
