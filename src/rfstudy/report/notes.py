"""Notes that a reader needs next to the numbers: stand-ins, caps, fewer repeats, shared choices, missing rows.

All notes are derived from the rows of the table or figure that shows them.
"""

import importlib
import inspect
import math
import re
from collections.abc import Iterable

import pandas as pd

from random_features.errors import UserError
from rfstudy.metrics import fact_of, parts_behind
from rfstudy.report.aggregate import have_setting, reasons, select, settings_of
from rfstudy.report.catalogue import kinds
from rfstudy.report.context import Context
from rfstudy.report.derived import notes_on_derived
from rfstudy.report.times import ROUND, machine_busy
from rfstudy.tidy import KEY

#: Names of the learners in the study's texts.
LEARNER_NAMES = {
    "ridge": "ridge",
    "ridge_tuned": "ridge, penalty tuned",
    "svm": "LIBLINEAR",
    "l1_svm": "l1-SVM",
    "kernel_svm": "kernel SVM",
    "logistic": "logistic regression",
    "nearest_neighbour": "nearest neighbour",
    "majority": "majority class",
    "linear": "logistic regression on the data",
    "boosting": "gradient boosting",
    "exact_kernel": "exact kernel",
    "xrfm": "xRFM",
}

#: The predictors without a map to which accuracies are compared, in the order of the note.
YARDSTICKS = ("majority", "linear", "boosting", "exact_kernel")

#: The outputs that are of no paper, with no published numbers.
OWN = "study"

#: Which cells share what was tuned, by ``tune_per`` of the settings of a row.
SHARED = {
    "experiment": "once per data set, for all methods and sizes",
    "size": "once per data set and size, for all methods",
    "method_and_size": "per data set, method and size, for all repeats",
}

#: Settings that may be tuned, and their names in notes: settings of the map and the data, and of the learner.
TUNED_OF_MAP = {"preprocess": "scaling", "length_scale": "bandwidth", "options": "options of the map"}
TUNED_OF_LEARNER = {"penalty": "penalty", "C": "C"}

#: Percentages of the test rows: rows that are left out change them by at most their share.
MEANS = ("accuracy_pct", "error_pct")

#: Copies and steps of a search for features in the paper, by option (Bullins, Zhang and Zhang, ICLR 2018, A.1).
SEARCHES = {"n_copies": (500, "copies"), "n_steps": (100, "steps")}


# --- the data behind rows ---------------------------------------------------------------------------------------------


def stand_in_of(rows: pd.DataFrame) -> str:
    """Return the replacement of a data set, "" for its own data.

    "digits (stand-in for MNIST)" is a "digits stand-in".
    """
    names = dict.fromkeys(name.split(" (stand-in")[0] for name in rows["stand_in"] if name)
    return ", ".join(f"{name} stand-in" for name in names)


def fewer_rows(rows: pd.DataFrame, task: dict) -> tuple[dict[str, str], int]:
    """Return how a data set has fewer rows than the paper's, in words by the remark "capped" or "rows left out", and
    how many test rows its files lack.

    A cap is the same for both parts: a test part below a training part that is whole was not capped. Its files are a
    reconstruction without some rows.
    """
    is_capped = have_setting(rows["settings"], "capped") & (rows["axis"] != "n_train")
    if not is_capped.any():  # as in most cells: there are thousands
        return {}, 0
    fewer = rows[is_capped]
    is_whole = (fewer["n_train"] == task.get("n_train", 0)) & (fewer["n_test"] < fewer["n_train"])
    is_whole = is_whole.fillna(False).astype(bool) & (fewer["stand_in"] == "")
    capped, whole, found = fewer[~is_whole], fewer[is_whole], {}
    if len(capped):
        most = capped[["n_train", "n_test"]].max()
        found["capped"] = f"capped at {most['n_train']:,} training and {most['n_test']:,} test rows"
    lost = int(task["n_test"] - whole["n_test"].min()) if len(whole) else 0
    if lost:
        found["rows left out"] = f"{lost:,} of {task['n_test']:,} test rows left out: the file is a reconstruction"
    return found, lost


def comparability(rows: pd.DataFrame, tasks: dict) -> str:
    """Return why rows cannot be compared with published numbers, "" if they can.

    The reason is a stand-in, fewer rows, or the text that the registry of the data sets has under ``not_comparable``.
    Fewer rows or a text about parts of the data on which the metric does not depend are none. Nor are rows that the
    files lack, if they cannot change a percentage of the test rows by more than its margin.
    """
    found = {stand_in_of(rows): None}
    for (dataset, metric), own in rows.groupby(["dataset", "metric"], sort=False):
        task, parts = tasks.get(dataset, {}), parts_behind(metric)
        n_train = task.get("n_train") or task.get("n", math.inf) / 2
        fewer, lost = fewer_rows(own, task)
        alike = "test" not in parts and ("train" not in parts or (own["n_train"] >= n_train).all())
        if lost and "capped" not in fewer and metric in MEANS:
            alike = 100.0 * lost / task["n_test"] <= fact_of(metric).margin(own["value"].mean())
        found |= {"" if alike else "; ".join(fewer.values()): None, difference_of(task, [metric]): None}
    return "; ".join(filter(None, found))


def difference_of(task: dict, metrics: Iterable[str]) -> str:
    """Return why the data of a task are other than the paper's for some of these metrics, "" if they are not."""
    why = task.get("not_comparable") or ""
    parts = {part for metric in metrics for part in parts_behind(metric)}
    return why if isinstance(why, str) else "; ".join(text for part, text in why.items() if part in parts)


def remark_on_data(rows: pd.DataFrame, task: dict) -> str:
    """Return the remark that the name of a data set must have: a stand-in, "capped", "rows left out", or nothing."""
    remarks, _ = fewer_rows(rows, task)
    return ", ".join(filter(None, (stand_in_of(rows), *remarks)))


def dataset_name(context: Context, dataset: str, paper: str, rows: pd.DataFrame) -> str:
    """Return a paper's name of a data set with the remark on its data: "EEG: generated stand-in", "skin: capped"."""
    return ": ".join(filter(None, (context.name(dataset, paper), remark_on_data(rows, context.tasks.get(dataset, {})))))


def notes_on_data(frame: pd.DataFrame, paper: str, context: Context) -> list[str]:
    """Return sentences about stand-ins, caps and other differences from the paper's data among the rows shown."""
    kinds = "Not the paper's data", "Fewer rows than the paper", "Not comparable with the published numbers"
    found = {kind: [] for kind in kinds}
    for dataset, rows in frame.groupby("dataset", sort=False):
        has_no_numbers = stand_in_of(rows) or paper == OWN
        task = context.tasks.get(dataset, {})
        other = "" if has_no_numbers else difference_of(task, rows["metric"].unique())
        fewer, _ = fewer_rows(rows, task)
        why_of_each = stand_in_of(rows), "; ".join(fewer.values()), other
        for names, why in zip(found.values(), why_of_each, strict=True):
            names += [f"{context.name(dataset, paper)} ({why})"] if why else []
    return [f"{what}: {', '.join(names)}." for what, names in found.items() if names]


# --- words ------------------------------------------------------------------------------------------------------------


def quantity(metric: str, learner: str = "") -> str:
    """Return a metric in words: "LIBLINEAR accuracy", "approximation error"."""
    name = fact_of(metric).label
    return f"{LEARNER_NAMES.get(learner, learner)} {name}" if learner else name


def span(smallest: int, largest: int) -> str:
    """Return the ends of a range of whole numbers: "5 to 10", or "5"."""
    return f"{smallest}" if smallest == largest else f"{smallest} to {largest}"


def by_reason(reasons: Iterable[tuple[str, str]]) -> str:
    """Return names with their reasons in words, each reason once: "EEG, skin (not run); covtype (not timed)"."""
    names: dict[str, dict] = {}
    for name, reason in reasons:
        names.setdefault(reason, {})[name] = None
    return "; ".join(f"{', '.join(of_reason)} ({reason})" for reason, of_reason in names.items())


def status_of(rows: pd.DataFrame) -> str:
    """Return the status of rows without an ok one in words: "skipped", "failed and skipped", or "not run"."""
    return " and ".join(sorted(set(rows["status"]))) or "not run"


def absence(rows: pd.DataFrame) -> str:
    """Return why rows without an ok one show nothing: their status and the first of its reasons."""
    first, *more = reasons(rows) or [""]
    others = f" and {len(more)} more reason{'s' if len(more) > 1 else ''} like it" if more else ""
    return ": ".join(filter(None, (status_of(rows), first + others)))


def explained(function, **values) -> list[str]:
    """Return the section "Notes" of a function's docstring, a sentence or more each, which are printed under its
    output.

    Names in braces are constants of its module, or among ``values``.
    """
    section = inspect.getdoc(function).partition("\nNotes\n-----\n")[2]
    return [" ".join(each.split()).format(**function.__globals__ | values) for each in section.split("\n\n") if each]


# --- the notes of a table or figure -----------------------------------------------------------------------------------


def made(context: Context, spec: dict):
    """Return the table or picture of an output, with the notes on the rows that it shows.

    The function of the kind takes the keys of ``spec`` that it names as arguments.
    """
    module = importlib.import_module(kinds()[spec["kind"]][1])
    kind, context = getattr(module, spec["kind"]), context.of_output(spec)
    found = kind(context, **{key: value for key, value in spec.items() if key in inspect.signature(kind).parameters})
    if not hasattr(found, "notes"):
        raise UserError(f"{module.__file__}: {spec['kind']} returned {found!r}: it must return a Table or a Picture")
    return found, [*found.notes, *([] if found.shown is None else notes(found.shown, spec, context))]


def notes(frame: pd.DataFrame, spec: dict, context: Context) -> list[str]:
    """Return sentences about the rows behind a table or figure: the data, how they were run, and the missing cells.

    ``spec`` has the ``paper`` and, if known, the number of ``repeats`` that the paper averages over.
    """
    ok, paper = frame[frame["status"] == "ok"], spec["paper"]
    unfinished = sum(settings.get("converged") is False for settings in settings_of(ok))
    return [
        *notes_on_data(frame, paper, context),
        *notes_on_repeats(ok, spec.get("repeats")),
        *notes_on_derived(ok, context.tasks),
        *notes_on_searches(ok),
        *notes_on_tuning(ok),
        *notes_on_edges(ok),
        *notes_on_yardsticks(ok, paper, context),
        *notes_on_rounds(ok, paper, context),
        *([f"Solver stopped before convergence: {unfinished} of {len(ok)} values."] if unfinished else []),
        *notes_on_missing(frame, paper, context),
    ]


def notes_on_repeats(ok: pd.DataFrame, expected: int | None) -> list[str]:
    """Return a sentence about the quantities with fewer repeats than the paper."""
    repeated = ok[ok["repeat"].notna() & (ok["axis"] != ROUND)]
    counts = repeated.groupby(["metric", "learner", "dataset"], sort=False)["repeat"].nunique()
    ends = counts.groupby(level=["metric", "learner"], sort=False).agg(["min", "max"])
    few = [f"{quantity(*what)} ({span(*own)})" for what, *own in ends.itertuples(name=None) if own[0] < (expected or 0)]
    return [f"Fewer repeats than the paper's {expected}: {', '.join(few)}."] if few else []


def notes_on_searches(ok: pd.DataFrame) -> list[str]:
    """Return a sentence about searches for features with fewer copies or steps than in their paper."""
    shorter = set()
    for settings in settings_of(ok.drop_duplicates("settings")):
        own = {name: (settings.get("options") or {}).get(name, most) for name, (most, _) in SEARCHES.items()}
        words = [f"{own[name]} {word}" for name, (most, word) in SEARCHES.items() if own[name] < most]
        shorter |= {" and ".join(words)} if words else set()
    whole = " and ".join(f"{most} {word}" for most, word in SEARCHES.values())
    return [f"Shorter searches than the paper's {whole}: {'; '.join(sorted(shorter))}."] if shorter else []


def notes_on_tuning(ok: pd.DataFrame) -> list[str]:
    """Return a sentence for each way in which cells share tuned values, and for the repeats used for tuning."""
    settings = dict(zip(ok["settings"], settings_of(ok), strict=True))
    ways = {text: (each.get("tune_per", ""), tuple(each.get("chosen_on", ()))) for text, each in settings.items()}
    found = []
    for scope, repeats in sorted(set(ways.values()), key=lambda way: ([*SHARED, way[0]].index(way[0]), way[1])):
        own = [text for text, way in ways.items() if way == (scope, repeats)]
        rows, keys = ok[ok["settings"].isin(own)], {key for text in own for key in settings[text]}
        tuned = _tuned_of_map(rows) if scope == "method_and_size" else []
        tuned += [name for key, name in TUNED_OF_LEARNER.items() if key in keys]
        if not tuned and (rows["learner"] != "").any():
            tuned = ["parameters"]
        if scope in SHARED and tuned:
            words = " and ".join(filter(None, (", ".join(tuned[:-1]), tuned[-1])))
            found.append(f"{words[0].upper()}{words[1:]} tuned {SHARED[scope]}, on {_in_words(repeats)}.")
    return found


def notes_on_edges(ok: pd.DataFrame) -> list[str]:
    """Return sentences on the fits with a choice at an end of its grid, and how many of them a wider grid might change.

    Fits may share a choice (``notes_on_tuning``).
    """
    results = select(ok[ok["metric"] != "distinct_features"], axis=["", "draw"])  # columns are counted, not chosen
    fits = results.drop_duplicates([column for column in KEY if column not in ("metric", "split")])
    # a map by itself has the length scale of its learner, and no penalty
    fits = fits[fits["learner"].ne("") | fits["learner"].eq("").all()]
    chosen = [settings for settings in settings_of(fits) if "tune_per" in settings]
    found = []
    for name in sorted({name for settings in chosen for name in settings.get("at_edge", ())}):
        edges = [settings["at_edge"] for settings in chosen if name in settings.get("at_edge", ())]
        known = [edge[name] for edge in edges if isinstance(edge, dict)]
        gains = f"; in {sum(known):,} the last step still gained" if known else ""
        words = f"the best {name.replace('_', ' ')} was the largest or smallest tried"
        found.append(f"In {len(edges):,} of {len(chosen):,} fits {words}{gains}.")
    return [" ".join(found)] if found else []


def notes_on_yardsticks(ok: pd.DataFrame, paper: str, context: Context) -> list[str]:
    """Return a sentence with the accuracies of predictors without a map, on the data sets shown."""
    scored = ok[ok["metric"].isin(["accuracy_pct", "error_pct"]) & ~ok["learner"].isin(["", *YARDSTICKS])]
    rows = select(context.rows, metric="accuracy_pct", learner=YARDSTICKS, variant="", status="ok")
    of_one = rows.groupby(["dataset", "learner"])
    # of two grids of the exact kernel the one that the arena shows: its experiment is the first by name
    means = rows[rows["experiment"] == of_one["experiment"].transform("min")].groupby(of_one.keys)["value"].mean()
    found = []
    for dataset in (each for each in scored["dataset"].unique() if each in means):
        own = [f"{LEARNER_NAMES[each]} {means[dataset, each]:.1f}" for each in YARDSTICKS if each in means[dataset]]
        found.append(f"{context.name(dataset, paper)} ({', '.join(own)})")
    return [f"Accuracy in % without a map: {'; '.join(found)}."] if found else []


def _tuned_of_map(rows: pd.DataFrame) -> list[str]:
    """Return which settings of maps and data were tuned: those that differ between the sizes of a method."""
    settings = settings_of(rows)
    values = pd.DataFrame({key: [str(s.get(key)) for s in settings] for key in TUNED_OF_MAP}, index=rows.index)
    entry = [rows[column] for column in ("dataset", "kernel", "method", "variant", "axis", "at", "repeat")]
    differ = values.groupby(entry, dropna=False).nunique().gt(1).any()
    return [name for key, name in TUNED_OF_MAP.items() if differ[key]]


def _in_words(repeats: tuple[int, ...]) -> str:
    """Return "the first repeat", "the first 3 repeats", or their numbers: "repeats 0, 4, 7"."""
    if repeats == tuple(range(len(repeats))):
        return "the first repeat" if len(repeats) == 1 else f"the first {len(repeats)} repeats"
    return f"repeat{'s' if len(repeats) > 1 else ''} {', '.join(map(str, repeats))}"


def notes_on_rounds(ok: pd.DataFrame, paper: str, context: Context) -> list[str]:
    """Return sentences about times by rounds: how many there are, and during which of them the machine was busy."""
    rounds = select(ok, axis=ROUND)
    if not len(rounds):
        return []
    counts = rounds.groupby(["dataset", "method", "variant", "n_features", "metric", "learner"])["at"].nunique()
    busy = [
        f"{context.name(dataset, paper)}: {where}"
        for dataset, own in rounds.groupby("dataset", sort=False)
        if (where := machine_busy_where(own, context))
    ]
    number = span(counts.min(), counts.max())
    found = [f"Times are medians of {number} rounds in which the methods take turns, with the quartiles."]
    return [*found, f"The machine was busy with other work: {'. '.join(busy)}."] if busy else found


def machine_busy_where(rounds: pd.DataFrame, context: Context, place: str = "n_features_label") -> str:
    """Return where the machine was busy during rounds of one data set: "all", methods with their sizes, or ""."""
    busy = rounds.assign(busy=machine_busy(rounds)).groupby(["method", "variant", place], sort=False)["busy"].any()
    if busy.all():
        return "all"
    found = []
    for (method, variant), cells in busy.groupby(level=["method", "variant"], sort=False):
        if sizes := [str(size) for size in cells[cells].index.get_level_values(place)]:
            where = "all sizes" if len(sizes) == len(cells) > 1 else ", ".join(sizes)
            found.append(f"{context.label(method, variant) if method else variant} at {where}")
    return "; ".join(found)


def notes_on_sizes(frame: pd.DataFrame, paper: str, context: Context) -> list[str]:
    """Return a sentence about methods that were run at fewer sizes than others on the same data.

    Their lines end earlier.
    """
    sized = frame[(frame["n_features_label"] != "") & (frame["method"] != "")]
    found: dict[str, dict[str, None]] = {}
    for (dataset, *_), rows in sized.groupby(["dataset", "kernel", "metric", "learner"], sort=False):
        shown = dict.fromkeys(select(rows, status="ok").sort_values("n_features", kind="stable")["n_features_label"])
        for (method, variant), own in rows.groupby(["method", "variant"], sort=False):
            sizes = [size for size in shown if size in set(own["n_features_label"])]
            if sizes and len(sizes) < len(shown):
                where = f"{context.label(method, variant)} at {', '.join(sizes)} features"
                found.setdefault(where, {})[context.name(dataset, paper)] = None
    places = "; ".join(f"{where} ({', '.join(names)})" for where, names in found.items())
    return [f"Run at fewer sizes than others: {places}."] if places else []


def notes_on_missing(frame: pd.DataFrame, paper: str, context: Context) -> list[str]:
    """Return sentences about the failed and the skipped rows: how many, of which methods, and why."""
    found = []
    for status in ("failed", "skipped"):
        places_of: dict[str, list[str]] = {}
        for dataset, rows in select(frame, status=status).groupby("dataset", sort=False):
            pairs = rows[rows["method"] != ""].groupby(["method", "variant"], sort=False).groups
            names = [context.label(method, variant) for method, variant in pairs]
            sizes = rows.sort_values("n_features", kind="stable")["n_features_label"].unique()
            sizes = [size for size in sizes if size]
            of = f" of {', '.join(names)}" if 0 < len(names) <= 4 else ""
            of += f" at s = {', '.join(sizes)}" if 0 < len(sizes) <= 4 else ""
            number = f"{len(rows)} value{'s' if len(rows) > 1 else ''}"
            # the numbers of a reason differ between data sets
            why = re.sub(r" at a diagonal term of \S+(?=:)", "", next(iter(reasons(rows)), ""))
            places_of.setdefault(why, []).append(f"{context.name(dataset, paper)}, {number}{of}")
        places = [f"{'; '.join(places)}{why and f' ({why})'}" for why, places in places_of.items()]
        if places:
            found.append(f"{status.capitalize()} and in no mean: {'; '.join(places)}.")
    return found


def notes_on_draws(frame: pd.DataFrame) -> list[str]:
    """Return a sentence about the number of draws of a map behind the moments of its estimates."""
    rows = select(frame, metric="kernel_bias")
    if not len(rows):
        return []
    draws = max(settings["draws"] for settings in settings_of(rows)) * rows["repeat"].nunique()
    sizes = ", ".join(dict.fromkeys(rows["n_features_label"]))
    return [f"Draws of a map at every dimension: {draws}; s = {sizes}. ±: one standard error."]
