"""Claims of Liu et al. (AAAI 2020) about accuracy, approximation error and time on their data sets, tested on rows.

They rest on one accuracy grid, that of a protocol, and are about means over repeats, as the tests in
``data/reference/claims.csv`` are. A claim about all sizes is tested at those that were measured, which the evidence
names. Rows of stand-ins say nothing about the data that a claim is about and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import select
from rfstudy.report.estimates import of_all
from rfstudy.report.times import Ratio, by_rounds, ratio

NOT_RUN = ("not run", "")

BASELINES, WEIGHTED = ["rff", "qmc"], ["lsrff", "slsrff"]
FOUR = [*BASELINES, *WEIGHTED]

ACCURACY, ERROR, TIME = "accuracy_pct", "approximation_error_spectral", "time_feature_s"

#: Names of the data sets in the evidence.
NAMES = {"eeg": "EEG", "cod-rna": "cod-RNA", "covtype": "covtype", "magic04": "magic04"}

#: slsrff-19: bytes of a double, and those that programs have of 16 GiB.
DOUBLE, MEMORY = 8, 16e9


def by_size(frame: pd.DataFrame, dataset: str, metric: str, methods=FOUR, from_multiple: int = 1) -> pd.DataFrame:
    """Means over repeats on one data set, one row a size s >= ``from_multiple`` d, one column a method.

    The index holds the labels of the sizes in order; sizes that one of the methods lacks are left out.
    """
    rows = select(frame, dataset=dataset, metric=metric, method=methods, variant="", stand_in="", status="ok")
    rows = rows[rows["n_features"] >= from_multiple * rows["d"]]
    cells = rows.pivot_table(index=["n_features", "n_features_label"], columns="method", values="value")
    return cells.reindex(columns=methods).dropna().droplevel("n_features")


def gap(cells: pd.DataFrame) -> pd.Series:
    """The worse of the two weighted methods minus the better of the two baselines, by size."""
    return cells[WEIGHTED].min(axis=1) - cells[BASELINES].max(axis=1)


def told(values: pd.Series, digits: str = "+.2f") -> str:
    """Numbers with their sizes: "2d +1.44, 4d +3.50"."""
    return ", ".join(f"{label} {value:{digits}}" for label, value in values.items())


def found_on(datasets, frame: pd.DataFrame, metric: str, **wanted) -> Iterator[tuple[str, pd.DataFrame]]:
    """Name and cells of every data set that was measured."""
    for dataset in datasets:
        cells = by_size(frame, dataset, metric, **wanted)
        if len(cells):
            yield NAMES[dataset], cells


def verdict(checks, evidence) -> tuple[str, str]:
    """Of all checks together, or "not run" where there are none."""
    checks = list(checks)
    return (of_all(checks), "; ".join(evidence)) if checks else NOT_RUN


def time_ratios(frame, dataset: str, one: str, other: str, from_multiple: int = 1) -> dict[str, Ratio]:
    """The time of one method over that of another, by the label of the size s >= ``from_multiple`` d, in order.

    By rounds where there are rounds; else of the means over repeats, at the sizes that all four methods have.
    """
    rows = select(frame, dataset=dataset, metric=TIME, method=FOUR, variant="", stand_in="", status="ok")
    if not len(by_rounds(rows)):
        cells = by_size(frame, dataset, TIME, from_multiple=from_multiple)
        return {label: Ratio(value) for label, value in (cells[one] / cells[other]).items()}
    rows = rows[rows["n_features"] >= from_multiple * rows["d"]].sort_values("n_features", kind="stable")
    found = {
        label: ratio(select(of_size, method=one), select(of_size, method=other))
        for label, of_size in rows.groupby("n_features_label", sort=False)
    }
    return {label: each for label, each in found.items() if each}


def told_ratios(ratios: dict[str, Ratio], digits: str) -> str:
    """Ratios with their sizes, and what stands in the way of a verdict: "8d 1.2, 16d 1.9 (too noisy)"."""
    remarks = {label: f" ({each.remark})" if each.remark else "" for label, each in ratios.items()}
    return ", ".join(f"{label} {each.value:{digits}}{remarks[label]}" for label, each in ratios.items())


def timed(checks, ratios, evidence) -> tuple[str, str]:
    """As ``verdict``; where nothing is left to check because the ratios are too noisy or contended, it says so.

    ``checks`` are of clear ratios only, ``ratios`` all that the claim is about.
    """
    checks = list(checks)
    if not checks and any(each.remark for each in ratios):
        return "too noisy", "; ".join(evidence)
    return verdict(checks, evidence)


def lowest_error(frame):
    """slsrff-01: QMC has the lowest approximation error on EEG."""
    cells = by_size(frame, "eeg", ERROR)
    return verdict(cells["qmc"] <= cells.min(axis=1), [f"lowest: {told(cells.idxmin(axis=1), '')}"])


def more_accurate_on_eeg(frame):
    """slsrff-02: on EEG both weighted methods are more accurate from 2d on, and the gap grows.

    A gap that stays negative has not grown.
    """
    gaps = gap(by_size(frame, "eeg", ACCURACY, from_multiple=2))
    grows = [gaps.iloc[-1] > max(gaps.iloc[0], 0)] if len(gaps) > 1 else []
    return verdict([*(gaps > 0), *grows], [f"gap: {told(gaps)}"])


def error_is_not_accuracy(frame):
    """slsrff-03: on EEG QMC approximates best and is not the most accurate."""
    errors, accuracies = by_size(frame, "eeg", ERROR), by_size(frame, "eeg", ACCURACY)
    errors, accuracies = errors.align(accuracies, join="inner", axis=0)
    lowest, highest = errors.idxmin(axis=1) == "qmc", accuracies.idxmax(axis=1) != "qmc"
    return verdict(
        lowest & highest,
        [f"lowest error at {lowest.sum()} and not the most accurate at {highest.sum()} of {len(lowest)} sizes"],
    )


def leverage_becomes_slow(frame):
    """slsrff-04: on EEG leverage-RFF takes over twice as long as RFF at the largest s, and by a larger factor than at
    8d.
    """
    ratios = time_ratios(frame, "eeg", "lsrff", "rff")
    *_, last = ratios or [None]
    if "8d" not in ratios or last == "8d":
        return NOT_RUN
    largest, before = ratios[last], ratios["8d"]
    clear = not (largest.remark or before.remark)
    checks = [largest.value > 2, largest.value > before.value] if clear else []
    return timed(checks, [largest, before], [f"leverage-RFF/RFF: {told_ratios(ratios, '.1f')}"])


def surrogate_is_quick(frame):
    """slsrff-05: SLS-RFF takes less than twice as long as RFF, from 8d on."""
    found = {name: time_ratios(frame, dataset, "slsrff", "rff", 8) for dataset, name in NAMES.items()}
    ratios = [each for of_dataset in found.values() for each in of_dataset.values()]
    evidence = [f"{name} SLS-RFF/RFF: {told_ratios(of, '.1f')}" for name, of in found.items() if of]
    return timed([each.value < 2 for each in ratios if not each.remark], ratios, evidence)


def quicker(identifier: str, dataset: str):
    """The claim that SLS-RFF is quicker than leverage-RFF at every size on a data set."""

    def test(frame):
        ratios = time_ratios(frame, dataset, "lsrff", "slsrff")
        checks = [each.value > 1 for each in ratios.values() if not each.remark]
        return timed(checks, ratios.values(), [f"leverage-RFF/SLS-RFF: {told_ratios(ratios, '.2f')}"])

    test.__doc__ = f"{identifier}: SLS-RFF is quicker than leverage-RFF on {NAMES[dataset]} at every s."
    return test


def ratio_grows(frame):
    """slsrff-10: the time of leverage-RFF over that of SLS-RFF is larger at the largest s than at 4d."""
    checks, compared, evidence = [], [], []
    for dataset, name in NAMES.items():
        ratios = time_ratios(frame, dataset, "lsrff", "slsrff", 4)
        if len(ratios) > 1 and next(iter(ratios)) == "4d":
            ends = {label: ratios[label] for label in ("4d", list(ratios)[-1])}
            first, last = ends.values()
            checks += [last.value > first.value] if not (first.remark or last.remark) else []
            compared += [first, last]
            evidence.append(f"{name}: {told_ratios(ends, '.2f')}")
    return timed(checks, compared, evidence)


def gain_on_eeg(frame):
    """slsrff-11: on EEG the gap is about 1 point at 2d and nearly 11 at 128d."""
    gaps = gap(by_size(frame, "eeg", ACCURACY))
    bounds = {"2d": (0.5, 2.0), "128d": (9.0, 13.0)}
    if not set(bounds) <= set(gaps.index):
        return NOT_RUN
    return verdict([low <= gaps[size] <= high for size, (low, high) in bounds.items()], [f"gap: {told(gaps)}"])


def gain_on_cod_rna(frame):
    """slsrff-12: on cod-RNA SLS-RFF is over 6 points above RFF and QMC from 4d on."""
    cells = by_size(frame, "cod-rna", ACCURACY, from_multiple=4)
    gaps = cells["slsrff"] - cells[BASELINES].max(axis=1)
    return verdict(gaps > 6, [f"SLS-RFF minus the better of RFF and QMC: {told(gaps)}"])


def flat_on_cod_rna(frame):
    """slsrff-13: on cod-RNA the accuracy of RFF and QMC varies by less than half a point over s."""
    cells = by_size(frame, "cod-rna", ACCURACY, methods=BASELINES)
    if len(cells) < 2:
        return NOT_RUN
    ranges = cells.max() - cells.min()
    return verdict(ranges < 0.5, [f"range over s: RFF {ranges['rff']:.2f}, QMC {ranges['qmc']:.2f}"])


def more_accurate(identifier: str, datasets, from_multiple: int):
    """The claim that both weighted methods are more accurate than both baselines from a size on."""

    def test(frame):
        gaps = {name: gap(cells) for name, cells in found_on(datasets, frame, ACCURACY, from_multiple=from_multiple)}
        checks = [value > 0 for values in gaps.values() for value in values]
        return verdict(checks, [f"{name} gap: {told(values)}" for name, values in gaps.items()])

    where = " and ".join(NAMES[dataset] for dataset in datasets)
    test.__doc__ = f"{identifier}: both weighted methods are more accurate on {where} from {from_multiple}d on."
    return test


def similar_on_covtype(frame):
    """slsrff-15: on covtype all methods are within one point of each other."""
    cells = by_size(frame, "covtype", ACCURACY)
    ranges = cells.max(axis=1) - cells.min(axis=1)
    return verdict(ranges < 1, [f"range over the methods: {told(ranges, '.2f')}"])


def as_accurate(frame):
    """slsrff-17: SLS-RFF is at most half a point less accurate than leverage-RFF, in the mean over s."""
    differences = {name: (cells["slsrff"] - cells["lsrff"]).mean() for name, cells in found_on(NAMES, frame, ACCURACY)}
    evidence = [f"{name} {difference:+.2f}" for name, difference in differences.items()]
    return verdict([each > -0.5 for each in differences.values()], evidence)


def memory_on_covtype(frame):
    """slsrff-19: from 32d on the features of covtype no longer fit into 16 GB.

    By the bytes of the training matrix in double precision and of one copy of it, which any solver makes: it holds if
    they fit at 16d and do not at 32d.
    """
    rows = select(frame, dataset="covtype", method="rff", metric=ACCURACY, stand_in="", status="ok")
    if not len(rows):
        return NOT_RUN
    first = rows.iloc[0]
    columns = first["d"] * first["n_columns"] / first["n_features"]
    half, full = (2 * first["n_train"] * multiple * columns * DOUBLE for multiple in (16, 32))
    return verdict(
        [half <= MEMORY < full],
        [
            f"{first['n_train']} rows twice: {half / 1e9:.1f} GB at 16d ({16 * columns:.0f} columns), "
            f"{full / 1e9:.1f} at 32d"
        ],
    )


def features_in_practice(frame):
    """slsrff-24: SLS-RFF is within half a point of its best accuracy at no larger s than leverage-RFF."""
    checks, evidence = [], []
    for name, cells in found_on(NAMES, frame, ACCURACY):
        near = cells >= cells.max() - 0.5
        first = {method: near[method].to_numpy().argmax() for method in WEIGHTED}
        checks.append(first["slsrff"] <= first["lsrff"])
        evidence.append(f"{name} {cells.index[first['slsrff']]}/{cells.index[first['lsrff']]}")
    return verdict(checks, [f"SLS-RFF/leverage-RFF: {', '.join(evidence)}"])


def identity_term(frame):
    """slsrff-25: the identity term changes the accuracy by less than two standard deviations."""
    checks, evidence = [], []
    for dataset, name in NAMES.items():
        rows = select(frame, dataset=dataset, metric=ACCURACY, method="slsrff", stand_in="", status="ok")
        cells = rows.pivot_table(
            index="n_features", columns="variant", values="value", aggfunc=["mean", "std"]
        ).dropna()
        if not {("mean", ""), ("mean", "identity"), ("std", "")} <= set(cells.columns):
            continue
        difference = (cells["mean", "identity"] - cells["mean", ""]).abs()
        allowed = 2 * np.sqrt((cells["std", ""] ** 2 + cells["std", "identity"] ** 2) / 2)
        within = difference <= allowed
        checks += list(within)
        evidence.append(
            f"{name} within at {within.sum()} of {len(within)} sizes, at most {difference.max():.2f} points"
        )
    return verdict(checks, evidence)


CLAIMS = {
    "slsrff-01": lowest_error,
    "slsrff-02": more_accurate_on_eeg,
    "slsrff-03": error_is_not_accuracy,
    "slsrff-04": leverage_becomes_slow,
    "slsrff-05": surrogate_is_quick,
    "slsrff-06": quicker("slsrff-06", "eeg"),
    "slsrff-07": quicker("slsrff-07", "cod-rna"),
    "slsrff-08": quicker("slsrff-08", "covtype"),
    "slsrff-09": quicker("slsrff-09", "magic04"),
    "slsrff-10": ratio_grows,
    "slsrff-11": gain_on_eeg,
    "slsrff-12": gain_on_cod_rna,
    "slsrff-13": flat_on_cod_rna,
    "slsrff-14": more_accurate("slsrff-14", ("eeg", "cod-rna"), 2),
    "slsrff-15": similar_on_covtype,
    "slsrff-16": more_accurate("slsrff-16", ("magic04",), 16),
    "slsrff-17": as_accurate,
    "slsrff-19": memory_on_covtype,
    "slsrff-24": features_in_practice,
    "slsrff-25": identity_term,
}
