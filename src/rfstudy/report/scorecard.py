"""The frame of published numbers and ours: each number of a paper joined with the measured rows of its cell.

``config/scorecard.yaml`` names, for each published table, the experiment that measures its numbers under each protocol,
and selects the rows. Every table and figure that shows published numbers next to ours reads this frame.
"""

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import by_repeat, facts_of, select
from rfstudy.report.cells import absent, with_quartiles
from rfstudy.report.compare import CELL_VERDICTS, Estimate, with_verdicts
from rfstudy.report.context import Context
from rfstudy.report.derived import undefined
from rfstudy.report.notes import absence, comparability, quantity, stand_in_of
from rfstudy.report.published import half_unit, numbers, printed_text
from rfstudy.report.times import ROUND, ratios
from rfstudy.report.typeset import Cell

#: The values behind a verdict, as columns of a table.
JUDGED = ("difference", "margin", "standard error", "in standard errors")


def scorecard(context: Context, paper: str, experiments: list[str], scorecard: dict) -> pd.DataFrame:
    """Return one row per published number and protocol, with our number and the verdict.

    Columns: as in ``published.numbers`` (``published`` is the quotient if ``over`` names the method that a number is
    divided by); ``protocol``, ``experiment``, ``learner``; ours (``value``, ``low``, ``high``, ``std``, ``error``,
    ``n``; quartiles of the ratio in a round for times, whose ``std`` is missing); ``difference``, ``margin``,
    ``standard_error``, ``is_result``, ``verdict`` (``compare.with_verdicts``); ``reason`` why a number or a comparison
    is missing; ``rows``, the index of the measured rows.

    Parameters
    ----------
    context : with the measured rows
    experiments : those that may have our numbers
    paper, scorecard : the paper, and its entry in ``config/scorecard.yaml``
    """
    return context.once(_scorecard, paper, experiments, scorecard)


def _scorecard(context: Context, paper: str, own: list[str], scorecard: dict) -> pd.DataFrame:
    groups = select(context.rows, axis=["", ROUND]).groupby("experiment", sort=False)
    measured = {name: dict(iter(of.groupby("dataset", sort=False))) for name, of in groups}
    found = []
    for entry in scorecard["numbers"]:
        printed = numbers(context.published, paper, entry["table"], entry.get("kernel"))
        for protocol, experiment in ((p, name) for p, name in entry["experiments"].items() if name in own):
            rows, repeats, places = measured.get(experiment, {}), {"repeats": entry.get("repeats")}, []
            for metric, source in entry["metrics"].items():
                cells = _published(select(printed, metric=metric), source | repeats)
                for place, of in cells.groupby(["dataset", "kernel"], sort=False):
                    places.append(of.join(_measured(of, *place, metric, source, rows, context)))
            if places:
                found.append(pd.concat(places).sort_index().assign(protocol=protocol, experiment=experiment))
    cells = pd.concat(found, ignore_index=True)
    # the distance of a stand-in from a published number is meaningless
    judged = with_verdicts(cells.assign(published=cells["published"].mask(cells["stand_in"])))
    cells = judged.assign(published=cells["published"])
    lost = cells["published"].isna() & cells["value"].notna()
    reason = cells["reason"].mask(lost, "the printed number is lost, or is zero where it divides")
    reason = reason.where(cells["verdict"].isin(["not run", "not comparable"]), "")
    is_unexplained = (cells["verdict"] == "not comparable") & (reason == "")
    return cells.assign(reason=reason.mask(is_unexplained, "other data than the paper's"))


def _published(cells: pd.DataFrame, source: dict) -> pd.DataFrame:
    """Return published numbers with spread, repeats and rounding, divided by the numbers of the method ``over``."""
    kind = cells["spread_kind"]
    runs = kind.str.extract(r"over (\d+) runs", expand=False).astype(float)
    cells = cells.assign(
        learner=source.get("learner", ""),
        over=source.get("over", ""),
        published_std=cells["published_spread"].where(kind.str.startswith("std")),
        published_error=cells["published_spread"].where(kind == "standard error"),
        published_n=runs.fillna(source["repeats"] or np.nan),
        rounding=[half_unit(text) if text else np.nan for text in cells["printed"]],
    )
    if "over" not in source:
        return cells
    columns = ["dataset", "kernel", "size"]
    under = select(cells, method=source["over"]).set_index(columns)[["published", "rounding"]]
    cells = cells[cells["method"] != source["over"]].join(under.add_suffix("_under"), on=columns)
    value = cells["published"] / cells["published_under"]
    # rounding: the largest distance of the true quotient
    most = (cells["published"] + cells["rounding"]) / (cells["published_under"] - cells["rounding_under"])
    least = (cells["published"] - cells["rounding"]) / (cells["published_under"] + cells["rounding_under"])
    return cells.assign(
        published=value.where(cells["published_under"] > cells["rounding_under"]),
        rounding=np.maximum(most - value, value - least),
        published_std=np.nan,
        published_error=np.nan,
    )


def measured_as(printed: str, measured: set[str], tasks: dict) -> str:
    """Return the data set measured for a published one: the same, or the one that is registered ``in_place_of`` it."""
    others = [each for each in sorted(measured) if tasks.get(each, {}).get("in_place_of") == printed]
    return printed if printed in measured or not others else others[0]


def _measured(
    cells: pd.DataFrame, dataset: str, kernel: str, metric: str, source: dict, measured: dict, context: Context
) -> pd.DataFrame:
    """Return our numbers for published cells of one data set and kernel, with the index of these cells: the rows by
    data set (``measured``) that ``source`` selects.
    """
    dataset = measured_as(dataset, set(measured), context.tasks)
    rows = measured.get(dataset, context.rows.iloc[:0])
    not_defined, is_fact = undefined(metric, dataset, context.tasks), "column" in source
    if is_fact:  # of the data; only without facts, of the rows, which may be capped
        rows = facts if len(facts := facts_of(rows)) else rows
        fact = Estimate(rows[source["column"]].astype(float).max())
    else:
        rows = select(rows, metric=metric, learner=source.get("learner"), split=source.get("split"))
        rows = select(rows, kernel=kernel) if rows["kernel"].nunique() > 1 else rows
        variants = source.get("variants", {})
        rows = rows[rows["variant"] == rows["method"].map(lambda method: variants.get(method, ""))]
    stand_in, place, nothing = bool(stand_in_of(rows)), ["n_features_label", "method"], rows.iloc[:0]
    comparable = is_fact or not (comparability(rows, context.tasks) or not_defined)
    groups = {} if is_fact else dict(iter(rows.groupby(place, sort=False)))
    sizes = set(rows["n_features_label"])
    over = select(rows, method=source.get("over", ""))
    is_timed = ROUND in set(over["axis"])
    timed = ratios(rows, over, place[:1], place).itertuples(name=None) if is_timed else ()
    by_rounds = {cell: Estimate(*of) for cell, *of in timed}
    ours = []
    for cell in cells.itertuples():
        # a stand-in that was run at a single size has that size
        size = next(iter(sizes)) if stand_in and len(sizes) == 1 else cell.size
        own = rows if is_fact else groups.get((size, cell.method), nothing)
        if is_fact or is_timed:
            number, std = fact if is_fact else by_rounds.get((size, cell.method), Estimate(np.nan)), np.nan
        else:
            number, std = _over_repeats(own, groups.get((size, cell.over), nothing) if cell.over else None)
        busy = number.reason == "machine busy"
        remarks = (comparability(own, context.tasks) or not_defined, number.reason if busy else "")
        ours.append(
            number._asdict()
            | {"std": std, "comparable": comparable and not busy, "stand_in": stand_in}
            | {"too_noisy": number.reason == "too noisy", "rows": own.index}
            | {"reason": absence(own) if pd.isna(number.value) else "; ".join(filter(None, remarks))}
        )
    return pd.DataFrame(ours, index=cells.index)


def _over_repeats(rows: pd.DataFrame, over: pd.DataFrame | None) -> tuple[Estimate, float]:
    """Return our mean over repeats, or the mean of the ratio to another method, and the standard deviation."""
    values = by_repeat(rows)
    if over is not None:
        values = (values / by_repeat(over)).dropna()
    return Estimate(float(values.mean()), n=len(values)), float(values.std(ddof=1))


def our_cell(cell) -> Cell:
    """Return our number of a row of ``scorecard`` with its spread, or with its quartiles, or why there is none."""
    if pd.isna(cell.value):
        return absent(cell.reason, "std")
    decimals = 2 if cell.over or fact_of(cell.metric).is_percentage else 4
    if pd.notna(cell.low):
        remark = "machine busy" if "machine busy" in cell.reason else ""
        return with_quartiles(cell.value, cell.low, cell.high, decimals, remark)
    text = f"{cell.value:.{decimals}f}" + ("" if pd.isna(cell.std) else f" ± {cell.std:.{decimals}f}")
    return Cell(text, {"": cell.value, "std": cell.std, "remark": ""})


def printed_cell(cell) -> Cell:
    """Return the published number of a row of ``scorecard``, or the quotient that is compared."""
    if not cell.over:
        return printed_text(cell)
    if pd.isna(cell.published):
        return absent("lost")
    return Cell(f"{cell.published:.2f}", {"": cell.published, "remark": ""})


def judgement(cell) -> dict:
    """Return the verdict on a row of ``scorecard`` and the rounded values behind it, by columns."""
    in_errors = cell.difference / cell.standard_error if cell.standard_error else np.nan
    values = (cell.difference, cell.margin, cell.standard_error, in_errors)
    decimals = (2, 2, 3, 1) if fact_of(cell.metric).is_percentage or cell.over else (4, 4, 4, 1)
    rounded = [round(value, n) for value, n in zip(values, decimals, strict=True)]
    return dict(zip(JUDGED, rounded, strict=True)) | {"verdict": cell.verdict}


def quantity_in_words(cell, context: Context) -> str:
    """Return the quantity of a row of ``scorecard`` in words: "ridge accuracy", "generation time over that of RFF"."""
    label = quantity(cell.metric, cell.learner)
    return f"{label} over that of {context.label(cell.over)}" if cell.over else label


def counts(cells: pd.DataFrame, lead: str) -> str:
    """Return how often each verdict was given: "Verdicts, 4 published results: reproduced 3, better 1.".

    Counts of rows and columns of the data are no results; they come last.
    """
    results, facts, parts = cells[cells["is_result"]], cells[~cells["is_result"]], []
    if len(results):
        number = results["verdict"].value_counts()
        words = ", ".join(f"{word} {number[word]}" for word in CELL_VERDICTS if word in number)
        parts.append(f"{lead}, {len(results)} published result{'s' if len(results) > 1 else ''}: {words}.")
    if len(facts):
        same = (facts["verdict"] == "reproduced").sum()
        parts.append(f"{lead}, {len(facts)} counts of rows and columns of the data: {same} as published.")
    return " ".join(parts)
