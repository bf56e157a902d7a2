"""Tables of times by rounds: in the form of a paper, at equal error, and as ratios."""

from itertools import pairwise

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import by_repeat, of_quantity, select, settings_of
from rfstudy.report.cells import absent, dataset_cell, difference_cell, each_dataset, method_cell, three_digits
from rfstudy.report.compare import Estimate, family, note_on_tests, overlap_of, paired
from rfstudy.report.notes import LEARNER_NAMES, explained, status_of
from rfstudy.report.published import numbers, printed_text
from rfstudy.report.times import ROUND, TOO_WIDE, machine_busy, ratio
from rfstudy.report.typeset import Cell, Table

# --- errors_and_times -------------------------------------------------------------------------------------------------
# Errors and times at the largest number of features of every data set, in the form of the paper on EERF.
#
# One row is published, and one per learner is ours. Seconds of two machines are not comparable, so each time has in
# brackets its ratio to the training time of the baseline in the same row.


#: The remark on a plain method if the published variant was not measured.
PLAIN = "by validation"

#: The time that all others of a row are divided by.
BASE = "time_train_s"


def errors_and_times(
    context, *, paper, published, datasets, methods, baseline, learners, quantity, settings, times, variants=None
) -> Table:
    """Return settings, errors and times of every method by data set: published, and ours for every learner.

    The size of a data set is the one that is published for it. ``quantity`` (the error, without its learner),
    ``learners``, ``times`` (metrics with their headings), ``baseline`` (whose training time the others are divided
    by), ``settings`` (other published values, with headings), ``variants`` (the published variant of a method, if it
    was measured).

    Notes
    -----
    Errors: mean ± one standard error.

    Times are in seconds on the machine of the row. In brackets they are relative to the training time of {baseline} in
    the same row. For published times this is a quotient; for ours it is the median over the rounds of the quotient.
    """
    printed, metric, variants = numbers(context.published, paper, published), quantity["metric"], variants or {}
    # a number that is published for a list of methods holds for each of them
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
        rows.append(row | _published(of_dataset, columns, settings, times, baseline))
        own = {learner: select(ours, learner=["", learner]) for learner in learners}
        own = {learner: of for learner, of in own.items() if (of["metric"] == metric).any()}
        for learner, of in own.items():
            base = select(of, axis=ROUND, metric=BASE, method=baseline, variant="", learner=learner)
            errors = select(of, metric=metric, split=quantity.get("split"), axis="")
            found = {"data set": name, "source": f"ours, {LEARNER_NAMES.get(learner, learner)}"}
            found |= _settings(errors, settings, methods[0])
            for heading, column in columns.items():
                method = column["method_id"]
                if column["quantity"] in times:
                    rounds = select(of, axis=ROUND, method=method, variant="", metric=column["quantity"], status="ok")
                    found[heading] = _time(rounds, base)
                else:
                    is_swept = variants.get(method, "") in set(frame["variant"])
                    found[heading] = _error(select(errors, method=method), variants.get(method, ""), is_swept)
            rows.append(found)
            shown.append(of)
        if not own:
            why = absent(status_of(select(ours, metric=metric)))
            rows.append({"data set": name, "source": "ours", next(iter(columns)): why})
    used = select(pd.concat(shown), metric=[metric, *times], variant=["", *variants.values()])
    table = pd.DataFrame(rows, columns=["data set", "source", *settings.values(), *columns])
    return Table(table, explained(errors_and_times, baseline=context.label(baseline)), columns, shown=used)


def _published(cells: pd.DataFrame, columns: dict[str, dict], settings: dict, times: dict, baseline: str) -> dict:
    """Return the published row of a data set."""
    number = {(each.metric, each.method): each for each in cells.itertuples()}
    setting = cells.drop_duplicates("metric").set_index("metric")["published"]
    found = {heading: setting.get(metric) for metric, heading in settings.items()}
    for heading, of in columns.items():
        own = number.get((of["quantity"], of["method_id"]))
        if own and of["quantity"] in times:
            found[heading] = _with_ratio(own.printed, own.published, own.published / number[BASE, baseline].published)
        elif own:
            found[heading] = printed_text(own)
    return found


def _with_ratio(text: str, seconds: float, over: float, **more) -> Cell:
    return Cell(text + ("" if pd.isna(over) else f" ({over:.2f})"), {"": seconds, "over_baseline": over} | more)


def _settings(rows: pd.DataFrame, settings: dict[str, str], method: str) -> dict:
    """Return our settings of a method, by the headings of the published settings."""
    own = select(rows, method=method, variant="", status="ok")
    if not len(own):
        return {}
    options = settings_of(own.iloc[:1])[0].get("options", {})
    ours = {
        "n_features_final_M": float(own["n_features"].iloc[0]),
        "n_features_initial_M0": options.get("n_candidates"),
        "preprocess_sample_pct": 100.0 * options.get("scoring_fraction", 1.0) if "n_candidates" in options else None,
    }
    return {heading: ours.get(metric) for metric, heading in settings.items()}


def _error(rows: pd.DataFrame, variant: str, is_swept: bool) -> Cell:
    """Return the mean over the repeats with its standard error, as in the paper.

    A method without rows of the published ``variant`` is shown in its plain one, which is reported if others were
    swept.
    """
    is_there = (rows["variant"] == variant).any()
    rows, remark = select(rows, variant=variant if is_there else ""), PLAIN if is_swept and not is_there else ""
    mean = paired(by_repeat(rows))
    if not mean.n:
        return absent(status_of(rows), "error", "n")
    text = f"{mean.value:.2f}" + (f" ± {mean.error:.2f}" if mean.n > 1 else "") + (f" ({remark})" if remark else "")
    return Cell(text, {"": mean.value, "error": mean.error, "n": mean.n, "remark": remark})


def _time(rounds: pd.DataFrame, base: pd.DataFrame) -> Cell | str:
    """Return the median seconds, and the median of the quotients by round; empty for a learner that was not timed."""
    if not len(rounds) or not len(base):
        return ""
    seconds, over = float(rounds["value"].median()), ratio(rounds, base) or Estimate(np.nan)
    more = {"lower_quartile": over.low, "upper_quartile": over.high, "remark": over.reason}
    cell = _with_ratio(f"{seconds:.3g}", seconds, over.value, **more)
    return Cell(f"{cell.text} {over.reason}".rstrip(), cell.values)


# --- equal_time -------------------------------------------------------------------------------------------------------
# Errors at equal time: what plain features reach in the time that a method takes to choose its own.
#
# An error is a mean over repeats, a time the median over rounds of the same size, data set and learner; a method's time
# is the sum of phases that an entry names for it. Two methods are compared at equal time on the curve of one of them:
# straight lines between neighbouring sizes, in the logarithm of the time.


def curve(rows: pd.DataFrame, method: str, quantity: dict, time: str) -> pd.DataFrame:
    """Return the sizes of a method that were measured and timed, a row each, by their number of features.

    Columns: ``label``, ``n_features``; ``errors`` (a series by repeat), their mean ``error`` and its
    ``standard_error`` (0 for a single repeat); ``seconds`` (a series by round), their median ``time``;
    ``machine_busy``. ``rows`` are of one experiment and data set; ``quantity`` is the error with its learner, ``time``
    a metric.
    """
    own = select(rows, method=method, variant="", status="ok")
    errors = select(of_quantity(own, quantity), axis="")
    rounds = select(own, metric=time, axis=ROUND, learner=["", quantity.get("learner", "")])
    found = []
    for (n_features, label), of_size in errors.groupby(["n_features", "n_features_label"], sort=True):
        timed, values = select(rounds, n_features_label=label), by_repeat(of_size)
        seconds, mean = timed.set_index("at")["value"], paired(values)
        if seconds.median() > 0:  # a time of zero is not a measurement: the clock did not resolve it
            point = {"label": label, "n_features": int(n_features), "errors": values, "error": mean.value}
            point |= {"standard_error": np.nan_to_num(mean.error), "seconds": seconds, "time": seconds.median()}
            found.append(point | {"machine_busy": machine_busy(timed).any()})
    return pd.DataFrame(found)


def behind_curves(rows: pd.DataFrame, methods: list[str], quantity: dict, times: dict[str, str]) -> pd.DataFrame:
    """Return the rows of the errors and times of methods."""
    own = select(rows, method=methods, variant="", metric=[quantity["metric"], *times.values()])
    return select(own, learner=["", quantity.get("learner", "")])


def why_no_curve(errors: pd.DataFrame) -> str:
    """Return why a data set with these errors has no curve."""
    return "not timed" if (errors["status"] == "ok").any() else status_of(errors)


def within(points: pd.DataFrame, seconds: float):
    """Return the size with the lowest error among those that take no longer; None if all take longer."""
    quick = (point for point in points.itertuples() if point.time <= seconds)
    return min(quick, key=lambda point: point.error, default=None)


def at_time(points: pd.DataFrame, seconds: float) -> tuple[pd.Series, float] | None:
    """Return the errors by repeat and the number of features on the curve of a method at a time; None beyond its ends.

    Examples
    --------
    >>> errors = [pd.Series([value]) for value in (8.0, 4.0)]
    >>> points = pd.DataFrame({"n_features": [10, 40], "errors": errors, "time": [1.0, 4.0]})
    >>> errors, n_features = at_time(points, 2.0)
    >>> float(errors[0]), round(n_features)
    (6.0, 20)
    """
    for before, after in pairwise(points.sort_values("time", kind="stable").itertuples()):
        if before.time <= seconds <= after.time:
            way = np.log(after.time / before.time)
            share = float(np.log(seconds / before.time) / way) if way else 0.0
            errors = (1 - share) * before.errors + share * after.errors
            features = before.n_features * (after.n_features / before.n_features) ** share
            return errors.dropna(), float(features)
    return None


def equal_time(context, *, paper, datasets, methods, baseline, quantity, times) -> Table:
    """Return a row per data set, method and size: its error and time, and errors of the baseline.

    The baseline is compared at as many features and at as much time. Its curve is read between two of its sizes; a time
    beyond its last one is not read.

    Notes
    -----
    Time: {kinds}, for {other} {kind_of_other}; median of the rounds. At equal time the error of {other} is read off the
    line between its two neighbouring sizes, in the logarithm of the time. In brackets Holm's p-value.
    """
    other, metric = context.label(baseline), quantity["metric"]
    frame, rows, overlaps = select(context.rows, dataset=datasets), [], {}
    for dataset, name, own in each_dataset(context, datasets, paper, frame):
        curves = {each: curve(own, each, quantity, times[each]) for each in (baseline, *methods)}
        others = curves.pop(baseline)
        errors = select(own, metric=metric, learner=quantity.get("learner"))
        if others.empty or all(own.empty for own in curves.values()):
            rows.append({"data set": name, "method": absent(why_no_curve(errors))})
            continue
        overlap = overlap_of(select(errors, method=[baseline, *methods], axis=""), context)
        overlaps[context.name(dataset, paper)] = overlap
        first, last = others.loc[others["time"].idxmin()], others.loc[others["time"].idxmax()]
        points = {(method, point.label): point for method, own in curves.items() for point in own.itertuples()}
        reads = {place: read for place, point in points.items() if (read := at_time(others, point.time))}
        sizes = {place: Cell(f"{n_features:.0f}", {"": n_features}) for place, (_, n_features) in reads.items()}
        at_size = dict(zip(others["label"], others["errors"], strict=True))
        against = {("at M", *place): at_size[place[1]] for place in points if place[1] in at_size}
        against |= {("at equal time", *place): errors for place, (errors, _) in reads.items()}
        tests = family({what: paired(points[what[1:]].errors, errors, overlap) for what, errors in against.items()})
        for place, point in points.items():
            beyond = "below its first" if point.time < first.time else f"beyond {other} at {last.label}"
            row = {"data set": name, "method": method_cell(context, place[0]), "M": point.label}
            row |= {"time (s)": three_digits(point.time), "error": rounded(point.error, metric)}
            at_equal_time = {f"M of {other} at equal time": sizes.get(place, beyond)}
            for where, size in (("at M", {}), ("at equal time", at_equal_time)):
                theirs = against.get((where, *place))
                row |= size | {f"error of {other} {where}": None if theirs is None else rounded(theirs.mean(), metric)}
                row[f"minus {other} {where}"] = difference_cell(tests.get((where, *place)), metric)
            rows.append(row)
    kinds = ", ".join(dict.fromkeys(fact_of(times[each]).label for each in methods))
    remarks = explained(equal_time, kinds=kinds, other=other, kind_of_other=fact_of(times[baseline]).label)
    remarks.append(note_on_tests(overlaps, "all comparisons of a data set", [metric]))
    return Table(pd.DataFrame(rows), remarks, shown=behind_curves(frame, [baseline, *methods], quantity, times))


def rounded(value: float, metric: str) -> float:
    """Return a value with two decimals for a percentage, else with three significant digits."""
    return round(float(value), 2) if fact_of(metric).is_percentage else three_digits(value)


# --- ratios -----------------------------------------------------------------------------------------------------------
# Ratios of speed and the bounds that the project sets itself.
#
# A ratio divides the times of two sides by rounds. The settings of the rows of one side name the others that it is
# compared with and the largest ratio that it may have (``at_most``, by method and variant of the other side), or the
# seconds that it may take (``at_most_s``).


#: Columns that the two sides of a comparison share, and columns that distinguish them.
TOGETHER = ["dataset", "kernel", "n_features_label", "learner", "metric"]
SIDE = ["method", "variant"]

#: The columns of a comparison.
COLUMNS = (
    "what", "d", "s", "against", "ratio", "lower quartile", "upper quartile", "at most", "verdict", "seconds",
    "seconds of the other",
)  # fmt: skip


def comparisons(frame: pd.DataFrame) -> pd.DataFrame:
    """Return all comparisons of an experiment that were measured, in the order of its rows.

    The verdict is "kept", "missed", or the reason why there is none (``Estimate.reason`` of the ratio); the seconds of
    both sides are medians.
    """
    rounds = select(frame, axis=ROUND, status="ok")
    rounds = rounds[rounds["metric"].str.startswith("time_")]
    found = []
    for _, together in rounds.groupby(TOGETHER, sort=False):
        sides = {"-".join(filter(None, side)): rows for side, rows in together.groupby(SIDE, sort=False)}
        for own in sides.values():
            settings = settings_of(own)[0]
            others = {
                settings_of(sides[other])[0]["what"]: (sides[other], bar)
                for other, bar in settings.get("at_most", {}).items()
                if other in sides
            }
            if "at_most_s" in settings:
                others[f"{settings['at_most_s']:g} s"] = own.assign(value=settings["at_most_s"]), 1.0
            for against, (other, bar) in others.items():
                if times := ratio(own, other):
                    verdict = times.reason or ("kept" if times.value <= bar else "missed")
                    seconds = own["value"].median(), other["value"].median()
                    place = settings["what"], *own[["d", "n_features"]].iloc[0], against
                    found.append((*place, *times[:3], bar, verdict, *seconds))
    return pd.DataFrame(found, columns=COLUMNS).astype({"d": "Int64", "s": "Int64"})


def threads_of(frame: pd.DataFrame) -> str:
    """Return a sentence on the threads of the rows, or an empty text."""
    threads = sorted({s["threads"] for s in settings_of(frame) if "threads" in s})
    return f"Threads: {', '.join(map(str, threads))}." if threads else ""


def ratios(context) -> Table:
    """Return comparisons of speed: the time of one side over the time of the other, with the bound that it must keep.

    Notes
    -----
    A ratio is the median of the ratios by round, in which the two sides take turns; a verdict needs quartiles no more
    than {TOO_WIDE:.0%} of it apart, and rounds without other work on the machine.
    """
    table = comparisons(context.rows)
    numbers = ["ratio", "lower quartile", "upper quartile", "at most", "seconds", "seconds of the other"]
    table[numbers] = table[numbers].map(three_digits)
    return Table(table, [*filter(None, [threads_of(context.rows)]), *explained(ratios, TOO_WIDE=TOO_WIDE)])
