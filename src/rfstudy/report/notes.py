"""What a reader has to know about the numbers shown: stand-ins, caps, fewer repeats, shared tuning, missing rows.

Every table and figure prints these notes; they are read off the rows, never typed in by hand.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import CELL, reasons, select, settings_of
from rfstudy.report.context import Context
from rfstudy.report.derived import notes_on_derived
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.times import ROUND, by_rounds, contended

#: Names of the learners as the study prints them.
LEARNER_NAMES = {
    "ridge": "ridge",
    "ridge_tuned": "ridge, penalty tuned",
    "svm": "LIBLINEAR",
    "l1_svm": "l1-SVM",
    "kernel_svm": "kernel SVM",
    "logistic": "logistic regression",
    "nearest_neighbour": "nearest neighbour",
    "majority": "majority class",
}

#: What has to be said of a choice that several cells share, by ``shared_by`` of the settings of a row; ``what`` was
#: chosen, ``on`` are the repeats that it was made on.
SHARED_NOTES = {
    "experiment": "{what}: tuned once per data set{on} at one size and shared by all methods and sizes.",
    "size": "{what}: tuned once per data set and size{on} and shared by all methods.",
    "method_and_size": "{what}: tuned per data set, method and size, on the rows of {on}.",
}

#: What notes call the settings of a row that may have been chosen: of its map and data, and of its learner.
CHOSEN_OF_MAP = {"preprocess": "scaling", "length_scale": "bandwidth", "options": "options of the map"}
CHOSEN_OF_LEARNER = {"penalty": "penalty", "C": "C"}

#: What tells the rows of one entry and repeat apart from all others, whatever their size.
OF_SIZES = ("dataset", "kernel", "method", "variant", "axis", "at", "repeat")

#: Copies and steps of a search for features, by the options that set them, and what they are called (Bullins, Zhang and
#: Zhang, ICLR 2018, Appendix A.1).
SEARCHES = {"n_copies": (500, "copies"), "n_steps": (100, "steps")}

#: What a mean is over repeats of, whatever number of features its label stands for.
OF_MEAN = [column for column in CELL if column != "n_features"]

#: What all rows of a mean have in common, in words; ``n_rows`` are those of both parts.
MUST_NOT_MIX = {
    "seed": "seeds", "n_train": "training rows", "n_test": "test rows", "n_rows": "rows", "n_features": "s =",
}  # fmt: skip


def stand_in_of(rows: pd.DataFrame) -> str:
    """What stood in for a data set ("" for its own data): "digits (stand-in for MNIST)" is a "digits stand-in"."""
    names = dict.fromkeys(name.split(" (stand-in")[0] for name in rows["stand_in"] if name)
    return ", ".join(f"{name} stand-in" for name in names)


def cap_of(rows: pd.DataFrame) -> str:
    """How the rows of a data set were capped ("" if they were not), by the ``capped`` of the settings."""
    capped = rows[[bool(s.get("capped")) for s in settings_of(rows)]]
    if not len(capped):
        return ""
    return f"capped at {capped['n_train'].max():,} training and {capped['n_test'].max():,} test rows"


def comparability(rows: pd.DataFrame, tasks: dict) -> str:
    """Why rows may not be set against a published number ("" if they may): a stand-in, a cap, or what the registry
    of the data sets says under ``not_comparable``."""
    told = [tasks.get(dataset, {}).get("not_comparable", "") for dataset in dict.fromkeys(rows["dataset"])]
    return "; ".join(filter(None, (stand_in_of(rows), cap_of(rows), *told)))


def remark_on_data(rows: pd.DataFrame) -> str:
    """What a reader must not miss of the data behind rows: "generated stand-in", "capped", or nothing."""
    return ", ".join(filter(None, (stand_in_of(rows), cap_of(rows) and "capped")))


def dataset_name(tasks: dict, dataset: str, paper: str, rows: pd.DataFrame) -> str:
    """The name a paper gives a data set, and what a reader must not miss: "EEG: generated stand-in", "skin: capped"."""
    return ": ".join(filter(None, (printed_name(tasks, dataset, paper), remark_on_data(rows))))


def quantity(metric: str, learner: str = "") -> str:
    """A metric in words: "LIBLINEAR accuracy", "approximation error"."""
    name = fact_of(metric).label
    return f"{LEARNER_NAMES.get(learner, learner)} {name}" if learner else name


def why_not(rows: pd.DataFrame) -> str:
    """The reason why rows are not ok; of several the first, and how many more there are."""
    given = reasons(rows)
    more = f" and {len(given) - 1} more reason{'s' if len(given) > 2 else ''} like it" if len(given) > 1 else ""
    return given[0] + more if given else ""


def absence(rows: pd.DataFrame) -> str:
    """Why there is nothing to show in rows none of which is ok: "not run", or their status and its reason."""
    if not len(rows):
        return "not run"
    status = " and ".join(sorted(set(rows["status"])))
    why = why_not(rows)
    return f"{status}: {why}" if why else status


def not_drawn(by_reason: dict[str, list[str]]) -> list[str]:
    """A sentence on what a figure has no panel for, by the reason; none where nothing is missing."""
    told = "; ".join(f"{', '.join(what)} ({why})" for why, what in by_reason.items())
    return [f"Not drawn: {told}."] if told else []


def notes_on_data(frame: pd.DataFrame, spec: dict, tasks: dict) -> list[str]:
    """Sentences about stand-ins, caps and other differences to the paper's data among the rows that are shown."""
    groups = [(printed_name(tasks, d, spec["paper"]), rows) for d, rows in frame.groupby("dataset", sort=False)]
    stand_ins = [f"{name} ({stand_in_of(rows)})" for name, rows in groups if stand_in_of(rows)]
    capped = [f"{name} ({cap_of(rows)})" for name, rows in groups if cap_of(rows)]
    others = [
        f"{printed_name(tasks, dataset, spec['paper'])} ({tasks[dataset]['not_comparable']})"
        for dataset in dict.fromkeys(select(frame, stand_in="")["dataset"])
        if tasks.get(dataset, {}).get("not_comparable")
    ]
    told = (
        ("Not the paper's data", stand_ins),
        ("Fewer rows than the paper", capped),
        ("Not comparable with the printed numbers", others),
    )
    return [f"{what}: {', '.join(of)}." for what, of in told if of]


def notes(frame: pd.DataFrame, spec: dict, context: Context) -> list[str]:
    """Sentences about the rows behind a table or figure: the data, how they were run, and what is missing.

    ``frame`` holds the rows that it shows; of ``spec`` the keys ``paper``, ``repeats`` (what the paper averages
    over) and ``sizes`` are used where they are given.
    """
    ok = frame[frame["status"] == "ok"]
    found = notes_on_data(frame, spec, context.tasks) + _repeats(ok, spec.get("repeats"))
    presets = {preset: rows["dataset"].unique() for preset, rows in ok.groupby("preset")}
    if len(presets) > 1:
        names = {p: ", ".join(printed_name(context.tasks, d, spec["paper"]) for d in ds) for p, ds in presets.items()}
        found.append(f"Presets: {'; '.join(f'{preset} for {of}' for preset, of in names.items())}.")
    found += notes_on_mixtures(ok, spec["paper"], context.tasks) + notes_on_derived(ok, context.tasks)
    found += notes_on_searches(ok)
    found += notes_on_choices(ok) + notes_on_rounds(ok, spec["paper"], context.styles, context.tasks)
    if any(s.get("solver") == "newton" for s in settings_of(select(ok, learner="svm"))):
        found.append("LIBLINEAR's objective minimised by Newton's method where the rows' settings say so.")
    unfinished = sum(s.get("converged") is False for s in settings_of(ok))
    if unfinished:
        found.append(f"Solver stopped before convergence: {unfinished} of {len(ok)} values.")
    absent = [size for size in spec.get("sizes", []) if size not in set(ok["n_features_label"])]
    if absent and len(ok):
        found.append(f"Not run: s = {', '.join(absent)}.")
    return found + _left_out(frame, spec["paper"], context.styles, context.tasks)


def notes_on_mixtures(ok: pd.DataFrame, paper: str, tasks: dict) -> list[str]:
    """A sentence on means that are over rows of several experiments: other seeds, numbers of rows, or sizes that one
    label stands for. There should be none; ``publish`` refuses such rows.
    """
    by_repeat = np.array([_parts_vary(settings) for settings in settings_of(ok)], dtype=bool)
    of_parts = {column: ok[column].mask(by_repeat) for column in ("n_train", "n_test")}
    ok = ok.assign(n_rows=(ok["n_train"] + ok["n_test"]).where(by_repeat), **of_parts)
    # rounds of one time are its repeats
    of_mean = ok.assign(at=ok["at"].where(ok["axis"] != ROUND)).groupby(OF_MEAN, dropna=False, sort=False)
    spread = of_mean[list(MUST_NOT_MIX)].nunique()
    found = []
    for dataset, cells in spread.groupby(level="dataset", sort=False):
        told = []
        for column, name in MUST_NOT_MIX.items():
            mixed = cells.index[cells[column] > 1]
            if len(mixed):
                rows = of_mean.get_group(mixed[0])
                values = " and ".join(
                    f"{value:,}" if column != "seed" else f"{value}" for value in sorted(set(rows[column].dropna()))
                )
                told.append(f"{name} {values} in {len(mixed)} mean{'s' if len(mixed) > 1 else ''}")
        if told:
            found.append(f"{printed_name(tasks, dataset, paper)}: {', '.join(told)}")
    return [f"Mixed, rows of several experiments in one mean: {'; '.join(found)}."] if found else []


def _parts_vary(settings: dict) -> bool:
    """Whether a split gives other numbers of training and test rows in every repeat, of as many rows in all: blocks
    differ by a row, and rows that are left out stand in the one part or the other.
    """
    return settings.get("split") == "blocks" or "without" in settings.get("split_options", {})


def notes_on_searches(ok: pd.DataFrame) -> list[str]:
    """A sentence on searches for features with fewer copies or steps than in the paper that they are from."""
    told = set()
    for settings in settings_of(ok):
        own = {name: (settings.get("options") or {}).get(name, most) for name, (most, _) in SEARCHES.items()}
        short = [f"{own[name]} {word}" for name, (most, word) in SEARCHES.items() if own[name] < most]
        told |= {" of ".join(short)} if short else set()
    whole = " of ".join(f"{most} {word}" for most, word in SEARCHES.values())
    return [f"Shorter searches for features than {whole}, as in the paper: {'; '.join(sorted(told))}."] if told else []


def notes_on_choices(ok: pd.DataFrame) -> list[str]:
    """Sentences about what was chosen once for several cells, and on which repeats (``chosen_on`` of the settings)."""
    shared: dict[tuple, list[int]] = {}
    for i, (s, learner) in enumerate(zip(settings_of(ok), ok["learner"], strict=True)):
        # without a learner it is the bandwidth that an experiment shares
        if s.get("shared_by") in SHARED_NOTES and (learner or s["shared_by"] != "experiment"):
            shared.setdefault((s["shared_by"], tuple(s["chosen_on"])), []).append(i)
    order = list(SHARED_NOTES)
    return [
        _shared_note(way, repeats, ok.iloc[shared[way, repeats]])
        for way, repeats in sorted(shared, key=lambda pair: (order.index(pair[0]), pair[1]))
    ]


def _shared_note(way: str, repeats: tuple[int, ...], rows: pd.DataFrame) -> str:
    """The sentence about one choice and the rows that have it; repeats count from 0."""
    chosen = _chosen_by_entries(rows) if way == "method_and_size" else []
    chosen += [name for key, name in CHOSEN_OF_LEARNER.items() if any(key in s for s in settings_of(rows))]
    words = f"{', '.join(chosen[:-1])} and {chosen[-1]}" if len(chosen) > 1 else "".join(chosen) or "what is chosen"
    what = words[0].upper() + words[1:]
    if way in ("experiment", "size"):
        return SHARED_NOTES[way].format(what=what, on="" if repeats == (0,) else f", on {_repeats_in_words(repeats)},")
    told = SHARED_NOTES[way].format(what=what, on=_repeats_in_words(repeats))
    if "bandwidth" in chosen and rows["metric"].str.startswith("approximation_error").any():
        told = f"{told[:-1]}; an approximation error is that of the method's own kernel."
    return told


def _chosen_by_entries(rows: pd.DataFrame) -> list[str]:
    """What of their maps and data was chosen for rows by entry and size: what the sizes of an entry differ in."""
    seen: dict[tuple, set[str]] = {}
    places = rows[list(OF_SIZES)].astype(str).itertuples(index=False, name=None)
    for place, settings in zip(places, settings_of(rows), strict=True):
        for key in CHOSEN_OF_MAP:
            seen.setdefault((key, *place), set()).add(str(settings.get(key)))
    differing = {key for (key, *_), values in seen.items() if len(values) > 1}
    return [name for key, name in CHOSEN_OF_MAP.items() if key in differing]


def notes_on_rounds(ok: pd.DataFrame, paper: str, styles: dict, tasks: dict) -> list[str]:
    """Sentences about times by rounds: how many there are, and beside which of them other work ran."""
    rounds = by_rounds(ok)
    if not len(rounds):
        return []
    counts = rounds.groupby(["dataset", "method", "variant", "n_features", "metric", "learner"])["at"].nunique()
    number = f"{counts.min()}" if counts.min() == counts.max() else f"{counts.min()} to {counts.max()}"
    found = [f"Times by rounds, in which the methods take turns: the median of {number}, with the quartiles."]
    told = [
        f"{printed_name(tasks, dataset, paper)}: {where}"
        for dataset, of_dataset in rounds.groupby("dataset", sort=False)
        if (where := contended_where(of_dataset, styles))
    ]
    return [*found, f"Contended, other work ran beside it: {'. '.join(told)}."] if told else found


def contended_where(rounds: pd.DataFrame, styles: dict, place: str = "n_features_label") -> str:
    """Where other work ran beside rounds of one data set: "all", or methods with their places; "" where nowhere."""
    of = ["method", "variant"]
    marked = rounds.assign(contended=contended(rounds))
    beside = marked.groupby([*of, place], sort=False)["contended"].any()
    if beside.all():
        return "all"
    found = []
    for (method, variant), cells in beside.groupby(level=of, sort=False):
        places = [str(each) for each in cells[cells].index.get_level_values(place)]
        if places:
            at = "all sizes" if len(places) == len(cells) > 1 else ", ".join(places)
            found.append(f"{plot_style(method, styles, variant).label if method else variant} at {at}")
    return "; ".join(found)


def notes_on_sizes(frame: pd.DataFrame, paper: str, styles: dict, tasks: dict) -> list[str]:
    """A sentence on methods that have no row at sizes at which others of the same data and quantity have a value: a
    line that ends where a preset stops the method is not one that ends where its axis does.
    """
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    sized = frame[(frame["n_features_label"] != "") & (frame["method"] != "")]
    for (dataset, _, metric, learner), rows in sized.groupby(["dataset", "kernel", "metric", "learner"], sort=False):
        ok = select(rows, status="ok").sort_values("n_features", kind="stable")
        shown = dict.fromkeys(ok["n_features_label"])
        for (method, variant), own in rows.groupby(["method", "variant"], sort=False):
            at = [label for label in shown if label in set(own["n_features_label"])]
            if at and len(at) < len(shown):
                of_line = found.setdefault((plot_style(method, styles, variant).label, ", ".join(at)), {})
                of_line.setdefault(printed_name(tasks, dataset, paper), []).append(quantity(metric, learner))
    told = []
    for (label, at), by_dataset in found.items():
        places: dict[str, list[str]] = {}
        for name, quantities in by_dataset.items():
            places.setdefault(", ".join(dict.fromkeys(quantities)), []).append(name)
        where = "; ".join(f"{what} on {', '.join(names)}" for what, names in places.items())
        told.append(f"{label} at s = {at} ({where})")
    return [f"Run at fewer sizes than others: {'; '.join(told)}."] if told else []


def _repeats_in_words(repeats: tuple[int, ...]) -> str:
    """ "the first repeat", "the first 3 repeats", or by their numbers: "repeats 0, 4, 7"."""
    if repeats == tuple(range(len(repeats))):
        return "the first repeat" if len(repeats) == 1 else f"the first {len(repeats)} repeats"
    return f"repeat{'s' if len(repeats) > 1 else ''} {', '.join(map(str, repeats))}"


def _repeats(ok: pd.DataFrame, expected: int | None) -> list[str]:
    """Where fewer repeats than expected were run, by quantity."""
    counts: dict[str, list[int]] = {}
    repeated = ok[ok["repeat"].notna() & (ok["axis"] != ROUND)]
    for (metric, learner, _), rows in repeated.groupby(["metric", "learner", "dataset"], sort=False):
        counts.setdefault(quantity(metric, learner), []).append(rows["repeat"].nunique())
    few = {name: n for name, n in counts.items() if expected and min(n) < expected}
    if not few:
        return []
    told = [f"{name} ({min(n)})" if min(n) == max(n) else f"{name} ({min(n)} to {max(n)})" for name, n in few.items()]
    return [f"Fewer repeats than the paper's {expected}: {', '.join(told)}."]


def _left_out(frame: pd.DataFrame, paper: str, styles: dict, tasks: dict) -> list[str]:
    """How many rows are in no mean, by status, data set and reason, and of which methods."""
    found = []
    for status in ("failed", "skipped"):
        told = []
        for dataset, rows in select(frame, status=status).groupby("dataset", sort=False):
            pairs = dict.fromkeys(zip(rows["method"], rows["variant"], strict=True))
            names = [plot_style(method, styles, variant).label for method, variant in pairs if method]
            of = f" of {', '.join(names)}" if 0 < len(names) <= 4 else ""
            why = why_not(rows)
            number = f"{len(rows)} value{'s' if len(rows) > 1 else ''}"
            told.append(f"{printed_name(tasks, dataset, paper)}: {number}{of}" + (f" ({why})" if why else ""))
        if told:
            found.append(f"{status.capitalize()} and in no mean: {'; '.join(told)}.")
    return found


def notes_on_draws(frame: pd.DataFrame) -> list[str]:
    """A sentence on how many draws of a map the moments of its estimates are from."""
    rows = select(frame, metric="kernel_bias")
    numbers = {s["draws"] for s in settings_of(rows)}
    sizes = dict.fromkeys(rows["n_features_label"])
    if not numbers:
        return []
    draws = max(numbers) * rows["repeat"].nunique()
    return [f"Draws of a map at every dimension: {draws}; s = {', '.join(sizes)}. ±: one standard error."]
