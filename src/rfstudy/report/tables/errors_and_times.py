"""Errors and times at the largest number of features of every data set, in the form of the paper on EERF.

One row is published, and one per learner is ours. Seconds of two machines are not comparable, so each time has in
brackets its ratio to the training time of the baseline in the same row.
"""

from __future__ import annotations

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import by_repeat, select, settings_of
from rfstudy.report.cells import absent, dataset_cell
from rfstudy.report.compare import paired
from rfstudy.report.context import Context
from rfstudy.report.notes import LEARNER_NAMES, absence, notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import numbers, printed_text
from rfstudy.report.times import by_rounds, ratio
from rfstudy.report.typeset import Cell, Table

#: What is said of a plain method where the variant that is printed was not measured.
PLAIN = "by validation"

#: The time that all others of a row are divided by.
BASE = "time_train_s"

TIMES_NOTE = (
    "Times in seconds on the machine of the row, in brackets over the training time of {name} in the same row: "
    "printed, a quotient; ours, the median over rounds of the quotient in a round."
)


def make(
    context: Context,
    *,
    paper: str,
    published: str,
    datasets: list[str],
    methods: list[str],
    baselines: list[str],
    learners: list[str],
    quantity: dict,
    settings: dict[str, str],
    times: dict[str, str],
    repeats: int | None = None,
    variants: dict[str, str] | None = None,
) -> Table:
    """Settings, errors and times of every method by data set: printed, and ours for every learner.

    The size of a data set is the one that is printed for it. ``quantity`` (the error, without its
    learner), ``learners``, ``times`` (metrics with their headings), ``baselines`` (whose training time the others are
    divided by), ``settings`` (what else is printed, with headings), ``variants`` (of a method the
    one printed, where it was measured).
    """
    printed = numbers(context.published, paper, published)
    # a number that is printed for a list of methods is that of each of them
    printed = printed.assign(method=printed["method"].str.split(";")).explode("method")
    printed_variants = variants or {}
    columns = _columns(printed, quantity, times, methods, context)
    frame = select(context.rows, dataset=datasets, method=methods)
    rows, shown = [], []
    for dataset in datasets:
        of_dataset = select(printed, dataset=dataset)
        sizes = list(of_dataset["size"].unique())
        ours = select(frame, dataset=dataset, n_features_label=sizes)
        name = dataset_cell(context, dataset, paper, ours)
        rows.append(
            {"data set": name, "source": "published"} | _published(of_dataset, columns, settings, times, baselines[0])
        )
        for learner in learners:
            own = select(ours, learner=["", learner])
            if not len(select(own, metric=quantity["metric"])):
                continue
            source = f"ours, {LEARNER_NAMES.get(learner, learner)}"
            base = select(by_rounds(own), metric=BASE, method=baselines, variant="", learner=learner)
            errors = select(own, metric=quantity["metric"], split=quantity.get("split"), axis="")
            found = {heading: _setting(errors, metric, methods[0]) for metric, heading in settings.items()}
            found |= _measured(own, errors, base, columns, printed_variants, set(frame["variant"]))
            rows.append({"data set": name, "source": source} | found)
            shown.append(own)
        if rows[-1]["source"] == "published":
            why = absent(absence(select(ours, metric=quantity["metric"])).split(":")[0])
            cells = dict.fromkeys(settings.values()) | dict.fromkeys(columns, "") | {next(iter(columns)): why}
            rows.append({"data set": name, "source": "ours"} | cells)
    metrics = [quantity["metric"], *times]
    used = select(pd.concat(shown) if shown else frame.iloc[:0], metric=metrics)
    used = used[(used["variant"] == "") | used["variant"].isin(printed_variants.values())]
    remarks = [
        "Errors: mean ± one standard error.",
        TIMES_NOTE.format(name=plot_style(baselines[0], context.styles).label),
    ]
    remarks += notes(used, {"paper": paper, "repeats": repeats}, context)
    return Table(pd.DataFrame(rows), remarks, columns)


def _columns(
    printed: pd.DataFrame, quantity: dict, times: dict, methods: list[str], context: Context
) -> dict[str, dict]:
    """The columns of numbers that are printed, by their heading, each with the metric and method that it is of."""
    there = set(zip(printed["metric"], printed["method"], strict=True))
    found = {}
    headings = {quantity["metric"]: fact_of(quantity["metric"]).label} | times
    for metric, heading in headings.items():
        for method in (method for method in methods if (metric, method) in there):
            label = plot_style(method, context.styles).label
            found[f"{heading}, {label}"] = {"quantity": metric, "method": label, "method_id": method}
    return found


def _published(cells: pd.DataFrame, columns: dict[str, dict], settings: dict, times: dict, baseline: str) -> dict:
    """The printed row of a data set."""
    number = {(each.metric, each.method): each for each in cells.itertuples()}
    setting = cells.drop_duplicates("metric").set_index("metric")["published"]
    found = {heading: setting.get(metric) for metric, heading in settings.items()}
    base = number.get((BASE, baseline))
    for heading, of in columns.items():
        own = number.get((of["quantity"], of["method_id"]))
        if own is None:
            found[heading] = ""
        elif of["quantity"] in times:
            found[heading] = _with_ratio(own.printed, own.published, own.published / base.published)
        else:
            found[heading] = printed_text(own)
    return found


def _with_ratio(text: str, seconds: float, over: float | None, **more) -> Cell:
    brackets = "" if over is None else f" ({over:.2f})"
    return Cell(text + brackets, {"": seconds, "over_baseline": over} | more)


def _measured(rows, errors, base, columns: dict[str, dict], variants: dict[str, str], swept: set[str]) -> dict:
    """Our row of a data set and learner; ``swept`` are the variants that were measured of any."""
    found = {}
    for heading, of in columns.items():
        own = select(rows, method=of["method_id"], variant="")
        if not of["quantity"].startswith("time_"):
            own = select(errors, method=of["method_id"])
            variant = variants.get(of["method_id"], "")
            is_there = variant in set(own["variant"])
            remark = PLAIN if variant in swept and not is_there else ""
            found[heading] = _error(select(own, variant=variant if is_there else ""), remark)
        else:
            found[heading] = _time(select(own, metric=of["quantity"]), base)
    return found


def _setting(rows: pd.DataFrame, printed: str, method: str) -> float | None:
    """What we ran a method with, by the name of the printed setting."""
    own = select(rows, method=method, variant="", status="ok")
    if not len(own):
        return None
    options = settings_of(own.iloc[:1])[0].get("options", {})
    ours = {
        "n_features_final_M": float(own["n_features"].iloc[0]),
        "n_features_initial_M0": options.get("n_candidates"),
        "preprocess_sample_pct": 100.0 * options["scoring_fraction"] if "scoring_fraction" in options else None,
    }
    return ours.get(printed)


def _error(rows: pd.DataFrame, remark: str = "") -> Cell:
    """The mean over the repeats with its standard error, as the paper has it."""
    mean = paired(by_repeat(rows))
    if not mean.n:
        return absent(absence(rows).split(":")[0], "error", "n")
    text = f"{mean.value:.2f}" + (f" ± {mean.error:.2f}" if mean.n > 1 else "") + (f" ({remark})" if remark else "")
    return Cell(text, {"": mean.value, "error": mean.error, "n": mean.n, "remark": remark})


def _time(rows: pd.DataFrame, base: pd.DataFrame) -> Cell | str:
    """Median seconds, and the median of the quotients by round; nothing of a learner that was not timed."""
    rounds = by_rounds(select(rows, status="ok"))
    if not len(rounds) or not len(base):
        return ""
    seconds, over = float(rounds["value"].median()), ratio(rounds, base)
    remark = over.reason if over else ""
    quartiles = {"lower_quartile": over and over.low, "upper_quartile": over and over.high}
    cell = _with_ratio(f"{seconds:.3g}", seconds, over and over.value, **quartiles, remark=remark)
    return Cell(" ".join(filter(None, (cell.text, remark))), cell.values)
