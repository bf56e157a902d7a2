"""Tables about the methods: which are best beside what is printed, means with their spread, and ratios of speed.

Measured cells never come from published ones: the two meet only in the rows that say whether they agree.
"""

from __future__ import annotations

import itertools
import math

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import (
    LEVEL,
    MIN_REPEATS,
    TOO_MANY,
    Best,
    best_methods,
    method_order,
    of_quantity,
    select,
    settings_of,
)
from rfstudy.report.comparisons import comparisons, threads_of
from rfstudy.report.looks import look
from rfstudy.report.notes import comparability, dataset_name, notes
from rfstudy.report.published import ids_by_name, printed_name
from rfstudy.report.times import TOO_WIDE, median_and_quartiles, summarise
from rfstudy.report.typeset import Table

#: What stands under a table of best methods, whatever its rows.
BEST_METHODS_NOTE = (
    "Measured: the best method and all that are not significantly worse. A method's score in a repeat is its mean over "
    "the sizes of the group (of the logarithm for errors); it is compared with the best method's by a two-sided paired "
    f't-test across repeats, with Holm\'s correction, at {LEVEL:.0%}. "-": {TOO_MANY} or more methods are listed. '
    f'"no verdict": fewer than {MIN_REPEATS} complete repeats.'
)

#: What stands under the comparisons of speed.
RATIOS_NOTE = (
    "A ratio is the median of the ratios by round, in which the two sides take turns; a verdict needs quartiles no "
    f"more than {TOO_WIDE:.0%} of it apart, and rounds beside which no other work ran."
)

#: Means from this on are printed with a power of ten.
LARGE = 1e5


def winners(frame, spec, methods, datasets, published) -> Table:
    """Which methods are best, by data set, criterion and group of sizes: as printed, as measured (see
    ``aggregate.best_methods``), and whether the two lists are the same, overlap or differ.
    """
    frame = select(frame, dataset=spec["datasets"], n_features_label=list(itertools.chain(*spec["groups"].values())))
    frame = pd.concat([of_quantity(frame, criterion) for criterion in spec["criteria"]])
    published = select(published, paper=spec["paper"], experiment=spec["published"])
    ids = ids_by_name(methods, "method")
    rows, agreements, left_out = [], [], []
    for dataset in spec["datasets"]:
        ours, printed = select(frame, dataset=dataset), select(published, dataset=dataset)
        cells = {}
        for criterion, (group, sizes) in itertools.product(spec["criteria"], spec["groups"].items()):
            heading = f"{criterion['label']}, {group}"
            of_cell = select(of_quantity(ours, criterion), n_features_label=sizes)
            best = best_methods(of_cell, criterion["metric"], sizes)
            as_printed = _printed_winners(printed, criterion, sizes, ids)
            agreement = "not comparable" if comparability(of_cell, datasets) else _agreement(as_printed, best)
            agreements.append(agreement)
            cells[heading] = (_label_list(as_printed, methods), _outcome(best, methods), agreement)
            if best.left_out and best.verdict != "no verdict":
                where = f"{printed_name(datasets, dataset, spec['paper'])}, {heading}"
                left_out.append(f"{where}: {_counts(best.left_out, methods)}")
        name = dataset_name(datasets, dataset, spec["paper"], ours)
        for position, source in enumerate(("published", "measured", "agreement")):
            rows.append({"data set": name, "source": source, **{key: cell[position] for key, cell in cells.items()}})
    remarks = [BEST_METHODS_NOTE, *_tally(agreements)]
    if left_out:
        remarks.append(f"Not compared, with the number of complete repeats: {'; '.join(left_out)}.")
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks + notes(frame, spec, methods, datasets))


def _counts(of: dict, methods: dict) -> str:
    return ", ".join(f"{look(method, methods, variant).label} ({n})" for (method, variant), n in of.items())


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


def _label_list(winners: list[str] | None, methods: dict) -> str:
    if winners is None:
        return "not printed"
    return ", ".join(look(method, methods).label for method in winners) or "-"


def _outcome(best: Best, methods: dict) -> str:
    if best.verdict == "listed":
        return ", ".join(look(method, methods, variant).label for method, variant in best.methods)
    return "-" if best.verdict == "none stands out" else best.verdict


def _agreement(winners: list[str] | None, best: Best) -> str:
    """ "same", "overlap" or "differs"; nothing where one of the two has no list."""
    if winners is None or best.verdict in ("no verdict", "not run"):
        return ""
    ours = {method for method, _ in best.methods} if best.verdict == "listed" else set()
    if ours == set(winners):
        return "same"
    return "overlap" if ours & set(winners) else "differs"


def grid(frame, spec, methods, datasets, published) -> Table:
    """Mean and standard deviation over repeats of one quantity, by data set, method and size; of times by rounds the
    median and the quartiles.
    """
    quantity = spec["quantity"]
    shown = of_quantity(select(select(frame, dataset=spec["datasets"]), n_features_label=spec["sizes"]), quantity)
    cells = summarise(shown)
    full = most_repeats(cells)
    rows = []
    for dataset in spec["datasets"]:
        ours = select(shown, dataset=dataset)
        name = dataset_name(datasets, dataset, spec["paper"], ours)
        for method, variant in method_order(ours, spec["methods"]):
            row = {"data set": name, "method": look(method, methods, variant).label}
            for size in spec["sizes"]:
                cell = select(cells, dataset=dataset, method=method, variant=variant, n_features_label=size)
                row[size] = cell_text(cell, quantity["metric"], full)
            rows.append(row)
        if not len(ours):
            rows.append({"data set": name, "method": "", **dict.fromkeys(spec["sizes"], "not run")})
    remarks = [f"Mean ± standard deviation over {full} repeats."] if full > 1 else []
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks + notes(shown, spec, methods, datasets))


def most_repeats(cells: pd.DataFrame) -> int:
    """The repeats of the cells that have the most; rounds are no repeats."""
    repeated = cells[cells["rounds"] == 0]
    return int(repeated["n"].max()) if len(repeated) else 0


def cell_text(cell: pd.DataFrame, metric: str, full: int) -> str:
    """One cell of ``times.summarise`` as text: mean and standard deviation, or median and quartiles over rounds."""
    by_rounds = len(cell) and cell["rounds"].iloc[0]
    return median_and_quartiles(cell) if by_rounds else mean_and_std(cell, metric, full)


def mean_and_std(cell: pd.DataFrame, metric: str, full: int) -> str:
    """One cell of a grid; repeats that are fewer than elsewhere or not ok are said in it."""
    if not len(cell):
        return "not run"
    ((mean, std, n, failed, skipped),) = cell[["mean", "std", "n", "n_failed", "n_skipped"]].itertuples(index=False)
    missing = [f"{count} {status}" for count, status in ((failed, "failed"), (skipped, "skipped")) if count]
    if not n:
        return ", ".join(missing)
    decimals = 2 if fact_of(metric).is_percentage else max(0, 2 - math.floor(math.log10(mean))) if mean > 0 else 3
    digits = ".1e" if mean >= LARGE else f".{decimals}f"
    text = (f"{mean:{digits}}" + (f" ± {std:{digits}}" if n > 1 else "")).replace("e+0", "e").replace("e+", "e")
    fewer = [f"n = {n}"] if n < full and not missing else missing
    return f"{text} ({', '.join(fewer)})" if fewer else text


def ratios(frame, spec, methods, datasets, published) -> Table:
    """Comparisons of speed: time of the one side over that of the other, with the bar that the project sets itself."""
    found = comparisons(frame)
    columns = {
        "what": [each.what for each in found],
        "d": [each.d for each in found],
        "s": [each.n_features for each in found],
        "against": [each.against for each in found],
        "ratio": [three_digits(each.ratio.value) for each in found],
        "lower quartile": [three_digits(each.ratio.lower) for each in found],
        "upper quartile": [three_digits(each.ratio.upper) for each in found],
        "at most": [three_digits(each.at_most) for each in found],
        "verdict": [each.verdict for each in found],
        "seconds": [three_digits(each.seconds) for each in found],
        "seconds of the other": [three_digits(each.seconds_other) for each in found],
    }
    table = pd.DataFrame(columns).astype({"d": "Int64", "s": "Int64"})
    return Table(spec["name"], table, spec["caption"], [*filter(None, [threads_of(frame)]), RATIOS_NOTE])


def three_digits(value: float) -> float:
    """A number to three significant digits: measured times give no more."""
    return float(f"{value:.3g}")
