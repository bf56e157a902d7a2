"""Tables of accuracies and errors, by data set, method and size, and of the methods that are best."""

from itertools import chain, product
from typing import NamedTuple

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of, lower_is_better
from rfstudy.report import cells, compare
from rfstudy.report.aggregate import method_order, methods_shown, of_quantity, select, settings_of
from rfstudy.report.compare import MIN_REPEATS
from rfstudy.report.context import Context
from rfstudy.report.notes import comparability, explained, quantity, status_of
from rfstudy.report.published import ids_by_name, numbers, printed_text
from rfstudy.report.times import ROUND, summarise
from rfstudy.report.typeset import Cell, Table, with_best

# --- accuracy_and_time ------------------------------------------------------------------------------------------------
# Accuracies, and times if requested, in the form of the paper: published and measured.
#
# A published number that is ``reconstructed`` in data/reference is marked, one that is ``lost`` is shown as lost. Times
# are shown as measured.


#: The mark of measured numbers that are significantly better than all baselines.
BULLET = "•"


def accuracy_and_time(context, *, paper, published, datasets, methods, baselines, sizes, quantity, time=None) -> Table:
    """Return "mean ± std (mean ± std)" of every method by data set and size: published and measured.

    The sizes of a data set are those that are published or measured for it. ``quantity`` is the number before the
    brackets, ``time`` the one in them (there is none without it). A bullet means that each method outside ``baselines``
    has an effect over each of them.

    Notes
    -----
    *: deduced from a damaged source, see data/reference/README.md; lost: not legible there.

    Times are seconds on the machine of the row and are not comparable between rows.
    """
    quantities = [quantity, *([time] if time else [])]
    metrics = [each["metric"] for each in quantities]
    frame = select(context.rows, dataset=datasets, n_features_label=sizes, variant="")
    accuracy, *times = (select(of_quantity(frame, each), method=methods) for each in quantities)
    shown = pd.concat([accuracy, *times])
    at, full = cells.means_by(shown, "dataset", "n_features_label", "method", "metric")
    in_paper = select(numbers(context.published, paper, published), method=methods)
    printed = {(each.dataset, each.size, each.method, each.metric): each for each in in_paper.itertuples()}
    others = [method for method in methods if method not in baselines]
    tests = compare.paired_differences(accuracy, baselines, "n_features_label", context)
    sign = -1.0 if lower_is_better(metrics[0]) else 1.0
    wins = tests[tests["effect"] & (sign * tests["value"] > 0)].groupby(["dataset", "n_features_label"]).size()
    marked = set(wins.index[wins == len(others) * len(baselines)])
    rows = []
    for dataset, name, _ in cells.each_dataset(context, datasets, paper, frame):
        run = set(select(accuracy, dataset=dataset)["n_features_label"])
        run |= set(select(in_paper, dataset=dataset, metric=metrics[0])["size"])
        for size in (size for size in sizes if size in run):
            row = {"data set": name, "s": size}
            theirs, ours = row | {"source": "published"}, row | {"source": "measured"}
            for method in methods:
                places = [(dataset, size, method, metric) for metric in metrics]
                is_marked = (dataset, size) in marked and method in others
                texts = [cells.cell_text(at.get(place), full) for place in places]
                theirs[context.label(method)] = _together(metrics, [printed_text(printed.get(p)) for p in places])
                ours[context.label(method)] = _together(metrics, texts, is_marked)
            rows += [with_best([each], each, sign < 0, metrics[0])[0] for each in (theirs, ours)]
    better, than = (" and ".join(map(context.label, group)) for group in (others, baselines))
    of_family = "all pairs of methods and all sizes of a data set"
    remarks = [
        f"{BULLET}: {better} are each more accurate than each of {than}. Measured cells with it: {len(marked)}.",
        cells.note_on_differences(tests, of_family, metrics[0], paper, context),
        " ".join(explained(accuracy_and_time)[: len(metrics)]),
    ]
    return Table(pd.DataFrame(rows), remarks, cells.method_columns(context, methods), shown=shown)


def _together(metrics: list[str], quantities: list[Cell], marked: bool = False) -> Cell:
    """Return quantities in one cell, the second in brackets; a value missing for both is reported once."""
    before, *inside = dict.fromkeys(cell.text for cell in quantities)
    text = f"{before} ({inside[0]})" if inside else before
    values = {
        f"{metric} {what}".rstrip(): value
        for metric, cell in zip(metrics, quantities, strict=True)
        for what, value in cell.values.items()
    }
    return Cell(f"{BULLET} {text}" if marked else text, values | {"better than all baselines": "yes" if marked else ""})


# --- best_methods -----------------------------------------------------------------------------------------------------
# Which methods are best: as a paper lists them, and as measured.
#
# Measured cells never come from published ones: the two meet only in the rows of agreements.


#: The number of methods from which a list no longer says which are best.
TOO_MANY = 5

#: The smallest error of a kernel matrix that a score distinguishes from 0: the rounding of float64 numbers.
ROUNDING = float(np.finfo(np.float64).eps)

#: The agreement of two lists that both name no method.
NEITHER = "neither names one"

#: The possible agreements of two lists.
AGREEMENTS = ("same", "overlap", "differs", "undecided", NEITHER)


class Best(NamedTuple):
    """The outcome of ``best_of``; ``verdict``: "listed", "none stands out", "undecided", "no verdict" or "not run"."""

    verdict: str
    methods: tuple[tuple[str, str], ...] = ()  # (method, variant), best first
    repeats: int = 0
    left_out: dict = {}  # (method, variant) -> complete repeats  # noqa: RUF012
    p: dict = {}  # (method, variant) -> adjusted p-value against the best  # noqa: RUF012


def best_of(frame: pd.DataFrame, metric: str, groups: dict[str, list[str]], overlap: float = 0.0) -> dict:
    """Return which methods are best over groups of sizes: the best one and all that are not shown to be worse.

    The unit of the test is the repeat: all methods of a repeat use the same split. The sizes of one repeat share that
    split too and are not independent observations. So a method's score in a repeat is its mean over the sizes of a
    group. For quantities other than percentages, the logarithm is averaged, so that every size has the same weight. The
    method with the best mean score is compared with every other by ``paired``. The test is two-sided, because the best
    method is chosen on the same repeats. The groups are one family.

    A method takes part with every repeat in which it is ok at all sizes of the group; with fewer than ``MIN_REPEATS``
    it is left out. The comparison uses the repeats that are complete for all of these methods. With too few of them, or
    a single method, there is no verdict. If ``TOO_MANY`` methods or more are listed, none stands out if as many are
    shown to be equal to the best; otherwise the group is undecided.

    Parameters
    ----------
    frame : tidy rows of one experiment, data set, kernel, learner and split; ``ValueError`` otherwise
    metric : the quantity that is compared
    groups : labels of the sizes of every group, by its name, e.g. {"small s": ["2d", "4d"]}
    overlap : of these rows, see ``compare.overlap_of``

    Returns
    -------
    dict of ``Best`` by the name of the group
    """
    found, tests, order = {}, {}, {}
    for group, sizes in groups.items():
        rows = select(frame, metric=metric, n_features_label=sizes)
        if not len(rows):
            found[group] = Best("not run")
            continue
        for column in ("experiment", "dataset", "kernel", "learner", "split"):
            if rows[column].nunique() > 1:
                raise ValueError(f"best_methods compares within one {column}, got {sorted(rows[column].unique())}")
        scores = complete_scores(rows, metric, sizes)
        repeats = scores.count()
        left_out = repeats[repeats < MIN_REPEATS].to_dict()
        scores = scores.drop(columns=list(left_out)).dropna()
        found[group] = Best("no verdict", repeats=len(scores) if scores.shape[1] else 0, left_out=left_out)
        if scores.shape[1] > 1 and len(scores) >= MIN_REPEATS:
            best, *others = scores.mean().sort_values(ascending=lower_is_better(metric), kind="stable").index
            order[group] = [best, *others]
            tests |= {(group, other): compare.paired(scores[other], scores[best], overlap) for other in others}
    tests = compare.family(tests)
    for group, (best, *others) in order.items():
        listed = (best, *(other for other in others if not compare.is_effect(tests[group, other], metric)))
        alike = [other for other in others if compare.ranking(tests[group, other], metric) == "equal"]
        none = "none stands out" if len(alike) + 1 >= TOO_MANY else "undecided"
        verdict = none if len(listed) >= TOO_MANY else "listed"
        p = {other: tests[group, other].p for other in others}
        found[group] = found[group]._replace(verdict=verdict, methods=listed, p=p)
    return found


def complete_scores(rows: pd.DataFrame, metric: str, sizes: list[str]) -> pd.DataFrame:
    """Return scores of one quantity: data sets and repeats in rows, methods with their variants in columns.

    A score is the mean over the sizes. The logarithm is averaged unless the quantity is a percentage. A score is
    missing in repeats in which some size is not ok. Errors of the kernel matrix, which are relative, count as
    ``ROUNDING`` if they are smaller: an exact map is ahead of all others, and two exact maps tie. Raises ``ValueError``
    for any other quantity that is 0, and for negative ones.
    """
    ok = select(rows, status="ok")
    if not fact_of(metric).is_percentage:
        is_relative = metric.startswith("approximation_error")
        if (ok["value"] < 0).any() or (not is_relative and (ok["value"] == 0).any()):
            raise ValueError(f"{metric} must be positive: methods are compared by its logarithm")
        ok = ok.assign(value=np.log(ok["value"].clip(lower=ROUNDING if is_relative else None)))
    means = ok.groupby(["dataset", "repeat", "method", "variant"])["value"].agg(["mean", "size"])
    complete = means["mean"].where(means["size"] == len(sizes)).unstack(["method", "variant"])
    return complete.reindex(columns=pd.MultiIndex.from_frame(rows[["method", "variant"]].drop_duplicates()))


def best_methods(context, *, paper, published, datasets, groups, criteria) -> Table:
    """Return which methods are best by data set, criterion and group of sizes: published, and measured.

    A third row says whether the two lists are the same, overlap or differ, where at least one of them names a method.

    Notes
    -----
    Measured: the best method and all that are not shown to be worse. A method's score in a repeat is its mean over the
    sizes of the group (of the logarithm for errors), which is compared with the best method's. "-": none is
    the best, because {TOO_MANY} or more are shown to be equal. "undecided": {TOO_MANY} or more are listed, but the test
    cannot show that they are equal. "no verdict": fewer than {MIN_REPEATS} complete repeats.
    """
    frame = select(context.rows, dataset=datasets, n_features_label=list(chain(*groups.values())))
    frame = pd.concat([of_quantity(frame, criterion) for criterion in criteria])
    frame = frame[~frame.index.duplicated()]  # two criteria may share rows
    of_table = select(context.published, paper=paper, experiment=published)
    ids = ids_by_name(context.styles)
    rows, agreements, left_out, overlaps, unfold = [], [], [], {}, {}
    for dataset, cell, ours in cells.each_dataset(context, datasets, paper, frame):
        printed, name, of_rows = select(of_table, dataset=dataset), context.name(dataset, paper), {"data set": cell}
        lines = {source: of_rows | {"source": source} for source in ("published", "measured", "agreement")}
        for criterion in criteria:
            of_criterion = of_quantity(ours, criterion)
            overlap = compare.overlap_of(of_criterion, context)
            if len(of_criterion):
                # an error of the kernel matrix has no training sets
                overlaps[name if criterion.get("learner") else quantity(criterion["metric"])] = overlap
            for group, best in best_of(of_criterion, criterion["metric"], groups, overlap).items():
                heading, sizes = f"{criterion['label']}, {group}", groups[group]
                unfold[heading] = {"criterion": criterion["label"], "group": group}
                listed = _printed_best(printed, criterion, sizes, ids)
                is_other = comparability(select(of_criterion, n_features_label=sizes), context.tasks)
                agreement = "not comparable" if is_other else _agreement(listed, best)
                agreements.append(agreement)
                # in a CSV file the agreement is in the rows of the measured methods
                lines["published"][heading] = _listed(listed, context)
                lines["measured"][heading] = _listed(best, context, agreement=agreement, repeats=best.repeats)
                lines["agreement"][heading] = Cell(agreement, ())
                if best.left_out and best.verdict != "no verdict":
                    labels = [f"{context.label(*pair)} ({n})" for pair, n in best.left_out.items()]
                    left_out.append(f"{name}, {heading}: {', '.join(labels)}")
        rows += lines.values()
    of_family = "the methods and groups of sizes of a data set and criterion"
    tests = compare.note_on_tests(overlaps, of_family, [criterion["metric"] for criterion in criteria])
    counts = {word: n for word in AGREEMENTS if (n := agreements.count(word))}
    decided = sum(counts.get(word, 0) for word in AGREEMENTS[:3])
    tally = ", ".join(f"{word} {n}" for word, n in counts.items())
    remarks = [*explained(best_methods), tests]
    remarks.append(
        f"Agreement: in {decided} of {sum(counts.values())} comparable cells the test decides and a method is named. "
        f"All cells: {tally}. Overlap: the two lists share a method."
    )
    remarks += [f"Not compared, with the number of complete repeats: {'; '.join(left_out)}."] if left_out else []
    return Table(pd.DataFrame(rows), remarks, unfold, shown=frame)


def _printed_best(rows: pd.DataFrame, criterion: dict, sizes: list[str], ids: dict) -> Best:
    """Return the methods that a paper lists, or "none stands out" for "-" and "not printed" without an entry."""
    metric, learner = f"best_methods_{criterion['metric']}", criterion.get("learner", "")
    cell = select(rows, metric=metric, learner=learner, n_features_label=";".join(sizes))
    if not len(cell):
        return Best("not printed")
    text = settings_of(cell)[0]["text"]
    listed = [] if text == "none" else text.split(";")
    methods = tuple((ids.get((cell["paper"].iloc[0], name), name), "") for name in listed)
    return Best("listed" if methods else "none stands out", methods)


def _listed(best: Best, context: Context, **common) -> Cell:
    """Return the cell of the methods that are best; in a CSV file each of them has a row, with the values in common."""
    values = dict.fromkeys(("method", "method id", "method variant", "p_value")) | {"remark": ""} | common
    if best.verdict != "listed":
        return Cell("-" if best.verdict == "none stands out" else best.verdict, values | {"remark": best.verdict})
    labels = {pair: context.label(*pair) for pair in best.methods}
    of_each = (
        values | {"method": label, "method id": pair[0], "method variant": pair[1], "p_value": best.p.get(pair)}
        for pair, label in labels.items()
    )
    return Cell(", ".join(labels.values()), tuple(of_each))


def _agreement(printed: Best, best: Best) -> str:
    """Return "same", "overlap", "differs", "undecided" or ``NEITHER``; "" if one of the two has no list."""
    if printed.verdict == "not printed" or best.verdict in ("no verdict", "not run"):
        return ""
    if best.verdict == "undecided":
        return "undecided"
    theirs, ours = (set(dict(each.methods)) if each.verdict == "listed" else set() for each in (printed, best))
    if ours == theirs:
        return "same" if ours else NEITHER
    return "overlap" if ours & theirs else "differs"


# --- grid -------------------------------------------------------------------------------------------------------------
# Means with their spread, by data set, method, size and metric.


def grid(context, *, paper, datasets, methods, quantity=None, says=None, sizes=None, axis=None, label="s") -> Table:
    """Return mean and standard deviation over repeats, or the median and the quartiles for times by rounds.

    Metrics are columns if there are several (``says``, with headings), otherwise ``sizes`` if they are named, otherwise
    methods. The ``axis`` is the one that the rows sweep, ``label`` the heading of the sizes.
    """
    metrics = list(says) if says else [quantity["metric"]]
    frame = select(context.rows, dataset=datasets, n_features_label=sizes, axis=[axis] if axis else ["", ROUND])
    shown = select(frame, metric=metrics) if says else of_quantity(frame, quantity)
    if says:
        across, columns, unfold = "metric", {heading: metric for metric, heading in says.items()}, {}
    elif sizes:
        across, columns = "size", {size: size for size in sizes}
        unfold = {size: {"size": size, "metric": metrics[0]} for size in sizes}
    else:
        across, columns = "pair", {context.label(*pair): pair for pair in methods_shown(shown, methods)}
        unfold = {
            name: {"method": name, "method_id": method, "method_variant": variant, "metric": metrics[0]}
            for name, (method, variant) in columns.items()
        }
    at, full = cells.means_by(shown, "dataset", "method", "variant", "n_features_label", "metric")
    rows = []
    for dataset, name, ours in cells.each_dataset(context, datasets, paper, shown):
        if across == "pair" and not (ours["status"] == "ok").any():
            rows.append({"data set": name, label: cells.absent(status_of(ours))})
            continue
        if across == "size" and not len(ours):
            rows.append({"data set": name, "method": "", **dict.fromkeys(sizes, "not run")})
            continue
        by_size = ours.sort_values("n_features", kind="stable")["n_features_label"]
        values = {"pair": method_order(ours, methods), "size": sizes or by_size.unique(), "metric": metrics}
        along, own_rows = list(values.pop(across)), []
        for place in (dict(zip(values, each, strict=True)) for each in product(*values.values())):
            cells_of = {heading: place | {across: value} for heading, value in columns.items() if value in along}
            found = {h: at.get((dataset, *of["pair"], of["size"], of["metric"])) for h, of in cells_of.items()}
            if says and not any(cell and cell["n"] for cell in found.values()):
                continue
            row = {"data set": name}
            row |= {"method": cells.method_cell(context, *place["pair"])} if "pair" in place else {}
            row |= {label: Cell(place["size"], {"": place["size"]})} if "size" in place else {}
            own_rows.append(row | {heading: cells.cell_text(cell, full) for heading, cell in found.items()})
        for column in columns if across == "size" else ():
            with_best(own_rows, [column], lower_is_better(metrics[0]))
        for row in own_rows if across == "pair" else ():
            with_best([row], columns, lower_is_better(metrics[0]))
        rows += own_rows
    keys = {"metric": ["method", label], "size": ["method"], "pair": [label]}[across]
    remarks = [f"Mean ± standard deviation over {full} repeats."] if full > 1 else []
    return Table(pd.DataFrame(rows, columns=["data set", *keys, *columns]), remarks, unfold, shown=shown)


# --- kernels ----------------------------------------------------------------------------------------------------------
# Accuracies of support vector machines on exact kernels and on maps, by data set, kernel and width.


#: The two scores of a machine: metric and split, with the heading.
SCORES = {("accuracy_pct", "test"): "test", ("train_accuracy_pct", "train"): "training"}


def kernels(context, *, paper, datasets, methods, kernels) -> Table:
    """Return a row per data set and machine: kernels by name and multiple of the median distance, then maps."""
    frame = select(context.rows, dataset=datasets, metric=[metric for metric, _ in SCORES])
    means = summarise(frame)
    full, rows = cells.most_repeats(means), []
    for dataset, name, _ in cells.each_dataset(context, datasets, paper, frame):
        own, machines = select(means, dataset=dataset), []
        for kernel, label in kernels.items():
            exact = select(own, learner="kernel_svm", kernel=kernel)
            for width, of in exact.groupby("at", dropna=False):  # in multiples of the median distance
                text, variant = (label, "") if pd.isna(width) else (f"{label}, {width:.3g} x median", f"{width:g}")
                machines.append((Cell(text, {"": label, "id": kernel, "variant": variant}), of))
        for method in methods:
            map_name = cells.method_cell(context, method)
            by_size = select(own, method=method).groupby("n_features_label", sort=False)
            machines += [(Cell(f"{map_name}, s = {size}", map_name.values), of) for size, of in by_size]
        for machine, of in machines or [(cells.absent("not run"), None)]:
            found = cells.by_place(of, "metric", "split") if len(own) else {}
            scores = {heading: cells.mean_and_std(found.get(at), full) for at, heading in SCORES.items() if found}
            rows.append({"data set": name, "machine": machine} | scores)
    return Table(pd.DataFrame(rows), shown=frame)
