"""Errors and times at the largest number of features of every data set, in the form of the paper on EERF.

One row is published, and one per learner is ours. Seconds of two machines are not comparable, so each time has in
brackets its ratio to the training time of the baseline in the same row.
"""

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import by_repeat, select, settings_of
from rfstudy.report.cells import absent, dataset_cell
from rfstudy.report.compare import paired
from rfstudy.report.context import Context
from rfstudy.report.notes import LEARNER_NAMES, absence
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
    variants: dict[str, str] | None = None,
) -> Table:
    """Return settings, errors and times of every method by data set: published, and ours for every learner.

    The size of a data set is the one that is published for it. ``quantity`` (the error, without its learner),
    ``learners``, ``times`` (metrics with their headings), ``baselines`` (whose training time the others are divided
    by), ``settings`` (what else is published, with headings), ``variants`` (of a method the one published, where it was
    measured).
    """
    printed, metric, variants = numbers(context.published, paper, published), quantity["metric"], variants or {}
    # a number that is printed for a list of methods is that of each of them
    printed = printed.assign(method=printed["method"].str.split(";")).explode("method")
    there = set(zip(printed["metric"], printed["method"], strict=True))
    columns = {
        f"{heading}, {context.label(method)}": {"quantity": each, "method": context.label(method), "method_id": method}
        for each, heading in ({metric: fact_of(metric).label} | times).items()
        for method in methods
        if (each, method) in there
    }
    frame = select(context.rows, dataset=datasets, method=methods)
    rows, shown = [], [frame.iloc[:0]]
    for dataset in datasets:
        of_dataset = select(printed, dataset=dataset)
        ours = select(frame, dataset=dataset, n_features_label=of_dataset["size"].unique())
        name = dataset_cell(context, dataset, paper, ours)
        row = {"data set": name, "source": "published"}
        rows.append(row | _published(of_dataset, columns, settings, times, baselines[0]))
        own = {learner: select(ours, learner=["", learner]) for learner in learners}
        own = {learner: of for learner, of in own.items() if (of["metric"] == metric).any()}
        for learner, of in own.items():
            base = select(by_rounds(of), metric=BASE, method=baselines, variant="", learner=learner)
            errors = select(of, metric=metric, split=quantity.get("split"), axis="")
            found = {"data set": name, "source": f"ours, {LEARNER_NAMES.get(learner, learner)}"}
            found |= _settings(errors, settings, methods[0])
            for heading, column in columns.items():
                method = column["method_id"]
                if column["quantity"] in times:
                    rounds = select(of, method=method, variant="", metric=column["quantity"], status="ok")
                    found[heading] = _time(by_rounds(rounds), base)
                else:
                    is_swept = variants.get(method, "") in set(frame["variant"])
                    found[heading] = _error(select(errors, method=method), variants.get(method, ""), is_swept)
            rows.append(found)
            shown.append(of)
        if not own:
            why = absent(absence(select(ours, metric=metric)).split(":")[0])
            rows.append({"data set": name, "source": "ours", next(iter(columns)): why})
    used = select(pd.concat(shown), metric=[metric, *times], variant=["", *variants.values()])
    remarks = ["Errors: mean ± one standard error.", TIMES_NOTE.format(name=context.label(baselines[0]))]
    table = pd.DataFrame(rows, columns=["data set", "source", *settings.values(), *columns])
    return Table(table, remarks, columns, shown=used)


def _published(cells: pd.DataFrame, columns: dict[str, dict], settings: dict, times: dict, baseline: str) -> dict:
    """Return the published row of a data set."""
    number = {(each.metric, each.method): each for each in cells.itertuples()}
    setting = cells.drop_duplicates("metric").set_index("metric")["published"]
    found = {heading: setting.get(metric) for metric, heading in settings.items()}
    base = number.get((BASE, baseline))
    for heading, of in columns.items():
        own = number.get((of["quantity"], of["method_id"]))
        if own is None:
            continue
        if of["quantity"] in times:
            found[heading] = _with_ratio(own.printed, own.published, own.published / base.published)
        else:
            found[heading] = printed_text(own)
    return found


def _with_ratio(text: str, seconds: float, over: float | None, **more) -> Cell:
    brackets = "" if pd.isna(over) else f" ({over:.2f})"
    return Cell(text + brackets, {"": seconds, "over_baseline": over} | more)


def _settings(rows: pd.DataFrame, settings: dict[str, str], method: str) -> dict:
    """Return what we ran a method with, by the headings of the published settings."""
    own = select(rows, method=method, variant="", status="ok")
    if not len(own):
        return {}
    options = settings_of(own.iloc[:1])[0].get("options", {})
    ours = {
        "n_features_final_M": float(own["n_features"].iloc[0]),
        "n_features_initial_M0": options.get("n_candidates"),
        "preprocess_sample_pct": 100.0 * options["scoring_fraction"] if "scoring_fraction" in options else None,
    }
    return {heading: ours.get(metric) for metric, heading in settings.items()}


def _error(rows: pd.DataFrame, variant: str, is_swept: bool) -> Cell:
    """Return the mean over the repeats with its standard error, as the paper has it.

    A method without rows of the published ``variant`` is shown in its plain one, which is said if others were swept.
    """
    is_there = (rows["variant"] == variant).any()
    rows, remark = select(rows, variant=variant if is_there else ""), PLAIN if is_swept and not is_there else ""
    mean = paired(by_repeat(rows))
    if not mean.n:
        return absent(absence(rows).split(":")[0], "error", "n")
    text = f"{mean.value:.2f}" + (f" ± {mean.error:.2f}" if mean.n > 1 else "") + (f" ({remark})" if remark else "")
    return Cell(text, {"": mean.value, "error": mean.error, "n": mean.n, "remark": remark})


def _time(rounds: pd.DataFrame, base: pd.DataFrame) -> Cell | str:
    """Return median seconds, and the median of the quotients by round; nothing of a learner that was not timed."""
    if not len(rounds) or not len(base):
        return ""
    seconds, over = float(rounds["value"].median()), ratio(rounds, base)
    remark = over.reason if over else ""
    quartiles = {"lower_quartile": over and over.low, "upper_quartile": over and over.high}
    cell = _with_ratio(f"{seconds:.3g}", seconds, over and over.value, **quartiles, remark=remark)
    return Cell(" ".join(filter(None, (cell.text, remark))), cell.values)
