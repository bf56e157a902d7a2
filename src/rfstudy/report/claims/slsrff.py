"""Claims of Liu et al. (AAAI 2020) on surrogate leverage scores."""

import math
from dataclasses import replace

import numpy as np

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.claims import helpers as check
from rfstudy.report.claims.points import Part, Point, joined, only_evidence
from rfstudy.report.claims.registry import AS_EFFECT, INTERVAL_WITHIN, claim
from rfstudy.report.claims.rows import Rows
from rfstudy.report.claims.samples import Sample, difference, highest, lowest, shifted, side
from rfstudy.report.compare import Estimate, paired
from rfstudy.report.estimates import largest_half, varying
from rfstudy.report.tables.growth import features_needed, size_text

GRIDS = {"text": "slsrff-text", "code": "slsrff-code", "tuned": "slsrff-tuned"}
COST, SURROGATE = {"text": "slsrff-cost"}, {"text": "slsrff-surrogate"}
DATASETS = ("eeg", "cod-rna", "covtype", "magic04")
FOUR = ("rff", "qmc", "lsrff", "slsrff")
WEIGHTED, BASELINES = lowest("lsrff", "slsrff"), highest("rff", "qmc")
ACCURACY, ERROR, TIME = "accuracy_pct", "approximation_error_spectral", "time_feature_s"

#: Bytes of a double, and of the paper's memory (16 GiB).
DOUBLE, MEMORY = 8, 16 * 2**30

#: Points that a curve gains in its last step if its best may lie beyond the sizes measured.
STILL_GAINS = 0.1

OURS = "of our implementation, on one thread"
OTHER_KERNELS = {
    "code": (
        "the weights of leverage-RFF and SLS-RFF have no 1/(2s), so that their kernel matrices are off by a factor of "
        "20 and more: two of the four methods could not come out otherwise"
    ),
    "tuned": "every method has a scaling and a bandwidth of its own, so that these are errors of different kernel "
    "matrices",
}


@claim("slsrff-01", GRIDS, not_testable=OTHER_KERNELS, datasets="eeg")
def lowest_error(rows: Rows):
    return check.is_best(rows, ERROR, "qmc", FOUR)


@claim("slsrff-02", GRIDS, datasets="eeg", where="n_features >= 2 * d")
def growing_gap(rows: Rows):
    """Return the tests of a gap and of its growth by more than 0.1 points.

    Stricter: a gap counts as an effect only, significant and over half a point; one that stays a loss or grows by less
    has not grown.
    """
    grows = check.changes(rows, ACCURACY, WEIGHTED, minus=BASELINES, start="first", end="last", floor=0.0, by=0.1)
    return [check.better_than(rows, ACCURACY, WEIGHTED, BASELINES, effect=True), grows]


@claim("slsrff-03", GRIDS, not_testable=OTHER_KERNELS, datasets="eeg", where="n_features >= 2 * d")
def best_error_without_best_accuracy(rows: Rows):
    not_qmc = check.is_best(rows, ACCURACY, ("rff", "lsrff", "slsrff"), FOUR)
    return joined(check.is_best(rows, ERROR, "qmc", FOUR), not_qmc)


@claim("slsrff-04", GRIDS, datasets="eeg")
def slow_when_large(rows: Rows):
    above_two, above_one = (check.keeps_bound(rows, TIME, "lsrff", over="rff", above=ratio) for ratio in (2, 1))
    grows = check.changes(rows, TIME, "lsrff", over="rff", start="8d", end="last")
    return [replace(above_two, points=above_two.points[-1:]), grows, only_evidence(above_one)]


@claim(
    "slsrff-05", GRIDS, datasets=DATASETS, where="n_features >= 8 * d",
    stricter=f"{OURS}; about as long is neither over twice nor under half",
)  # fmt: skip
def about_as_quick(rows: Rows):
    """Return the test of half to twice the time of RFF.

    Not testable: it maps the training rows twice, once for the scores, so that no ratio below 2 could come out.
    """
    return check.keeps_bound(rows, TIME, "slsrff", over="rff", above=0.5, below=2)


@claim("slsrff-06", GRIDS, stricter=OURS, datasets="eeg")
@claim("slsrff-07", GRIDS, stricter=OURS, datasets="cod-rna")
@claim("slsrff-08", GRIDS, stricter=OURS, datasets="covtype", where="n_features <= 16 * d")
@claim("slsrff-09", GRIDS, stricter=OURS, datasets="magic04")
def quicker(rows: Rows):
    return check.keeps_bound(rows, TIME, "lsrff", over="slsrff", above=1)


@claim("slsrff-10", GRIDS, datasets=DATASETS)
def growing_ratio(rows: Rows):
    return check.changes(rows, TIME, "lsrff", over="slsrff", start="4d", end="last")


@claim("slsrff-11", GRIDS, datasets="eeg")
def gap_at_both_ends(rows: Rows):
    return [
        check.keeps_bound(rows.of(sizes=[size]), ACCURACY, WEIGHTED, minus=BASELINES, between=between)
        for size, between in (("2d", (0.5, 2)), ("128d", (9, 13)))
    ]


@claim("slsrff-12", GRIDS, datasets="cod-rna", where="n_features >= 4 * d")
def six_points(rows: Rows):
    return check.keeps_bound(rows, ACCURACY, "slsrff", minus=BASELINES, above=6)


@claim("slsrff-13", GRIDS, stricter=INTERVAL_WITHIN, datasets="cod-rna")
def flat_baselines(rows: Rows):
    points = []
    for method in ("rff", "qmc"):
        for where, found in check.along_sizes(rows.places(ACCURACY, method)):
            if len(found) > 1:
                samples, what = [each for _, (each,) in found], f"range over s of {rows.name(method)}"
                points.append(check.range_of(where, samples, ACCURACY, 0.5, what))
    return rows.part(points, ACCURACY, "rff", "qmc")


@claim("slsrff-14", GRIDS, stricter=AS_EFFECT, datasets=("eeg", "cod-rna"), where="n_features >= 2 * d")
@claim("slsrff-16", GRIDS, stricter=AS_EFFECT, datasets="magic04", where="n_features >= 16 * d")
@claim(
    "slsrff-18", GRIDS, stricter=AS_EFFECT, datasets=DATASETS,
    not_testable="the paper's marks are not legible in the source, so that there is nothing to hold ours against",
)  # fmt: skip
def both_more_accurate(rows: Rows):
    return check.better_than(rows, ACCURACY, WEIGHTED, BASELINES, effect=True)


@claim("slsrff-15", GRIDS, stricter=INTERVAL_WITHIN, datasets="covtype", where="n_features <= 16 * d")
def similar_on_covtype(rows: Rows):
    return check.all_alike(rows, ACCURACY, FOUR, margin=1)


@claim(
    "slsrff-17", GRIDS, datasets=DATASETS,
    stricter=f"and below 1, as slightly better is up to a point; {INTERVAL_WITHIN}",
)  # fmt: skip
def equally_well_on_average(rows: Rows):
    """Return the test of the mean over the sizes; its interval is over the repeats with all sizes."""
    points, what = [], f"{rows.name('slsrff')} minus {rows.name('lsrff')}, mean over s"
    for where, found in check.along_sizes(rows.places(ACCURACY, "slsrff", "lsrff")):
        pairs = [samples for _, samples in found]
        complete = sorted(set.intersection(*(set(each.values) for samples in pairs for each in samples)), key=str)
        gaps = [np.mean([one.values[unit] - two.values[unit] for one, two in pairs]) for unit in complete]
        value = float(np.mean([one.mean - two.mean for one, two in pairs]))
        estimate = shifted(paired(gaps, 0.0, pairs[0][0].overlap), value)
        text = check.with_interval(estimate, ACCURACY)
        points.append(check.bounded(where, estimate, what, text, agree=True, above=-0.5, below=1))
    return rows.part(points, ACCURACY, "slsrff", "lsrff")


@claim("slsrff-19", GRIDS, datasets="covtype")
def out_of_memory(rows: Rows):
    """Return the test of whether the n x 2s training matrix fits into memory at 16d and not at 32d.

    If it fits at 32d as well, nothing is shown: the peak memory of the code is unknown.
    """
    points = []
    for _, first in rows.usable(method="rff", variant="", metric=ACCURACY)[:1].iterrows():
        columns = first["d"] * first["n_columns"] / first["n_features"]
        half, full = (float(first["n_train"] * multiple * columns * DOUBLE) for multiple in (16, 32))
        size = f"{first['n_train']} x {32 * columns:.0f} doubles at 32d"
        text = f"{size}: {full:.3g} bytes of {MEMORY:.4g}, {half:.3g} at 16d"
        reason = "it fits, and what else the code holds is not known" if full <= MEMORY else ""
        holds, where = half <= MEMORY < full, {"dataset": first["dataset"]}
        points.append(Point(full - MEMORY, holds, where, text=text, reason=reason))
    return rows.part(points)


@claim("slsrff-20", COST)
def cost_of_leverage(rows: Rows):
    """Return the test of the growth of the cost; a difference that is not above zero fails the claim.

    Such a difference does not grow with any power.

    Stricter: and at most 3.2, as the difference is of order s^3.
    """
    metric, along = "time_fit_s", "n_features"
    frame = varying(rows.measured(metric, "lsrff", "slsrff"), metric, along, "n_train")
    lsrff, slsrff = (select(frame, method=method).groupby(along)["value"].mean() for method in ("lsrff", "slsrff"))
    gaps = (lsrff - slsrff).dropna()
    gaps = gaps[gaps.index.isin(largest_half(gaps.index))] if len(gaps) else gaps
    what = f"{rows.name('lsrff')} minus {rows.name('slsrff')}, {fact_of(metric).label}, power of s"
    points = check.power_between({}, what, gaps.index, gaps, "s", at_least=2, at_most=3.2, neutral=0.0)
    if len(lost := gaps[gaps <= 0]):
        text = f"not above zero at s = {', '.join(f'{each:g}' for each in lost.index)}"
        points = [Point(gaps.min(), False, {}, what, text, opposite=len(lost) == len(gaps))]
    scores = check.fits_power(rows, "time_scores_s", ("lsrff", "slsrff"), along, held="n_train", half=True, at_least=0)
    return [rows.part(points), only_evidence(scores)]


@claim("slsrff-21", SURROGATE)
def never_below(rows: Rows):
    """Return the test of surrogate scores that are not below the leverage scores.

    Not testable: an identity: the surrogate puts 1/(n lambda), the largest that an eigenvalue of the inverse can be, in
    the place of the inverse, so that no data can show otherwise; the rows check our scores.
    """
    least, below = "leverage_ratio_least", "leverage_ratio_below"
    return [
        check.keeps_bound(rows, least, "slsrff/identity", by_repeat=True, at_least=1),
        # the score of the algorithm, which drops the identity term
        only_evidence(check.keeps_bound(rows, below, "slsrff", by_repeat=True, at_most=0)),
        only_evidence(check.keeps_bound(rows, least, "slsrff", by_repeat=True, at_least=1)),
    ]


@claim("slsrff-22", SURROGATE)
def total_below_its_bound(rows: Rows):
    """Return the tests of the total of the surrogate scores.

    Not testable: an identity: for labels of size one the total is (y'Ky/n + Tr K) / (n lambda), of which no kernel
    matrix makes more than the bound; the rows check our scores.
    """
    metrics = "total_surrogate_leverage", "total_surrogate_bound", "total_leverage"
    total, bound, leverage = (side("slsrff/identity", metric=metric) for metric in metrics)
    root = replace(rows, frame=rows.frame.loc[[each.get("rule") == "n^(-1/2)" for each in settings_of(rows.frame)]])
    return [
        check.keeps_bound(rows, total.metric, total, over=bound, by_repeat=True, at_most=1),
        check.fits_power(root, total.metric, "slsrff/identity", "n_train", by="d", errors=4, at_most=0.5),
        only_evidence(check.keeps_bound(rows, total.metric, total, over=leverage, by_repeat=True, at_least=1)),
    ]


@claim("slsrff-23", {"text": "slsrff-required-features"})
def required_features(rows: Rows):
    """Return the tests of required features, drawn from the whole distribution (as in the theorems) and from a pool.

    A requirement beyond the largest size is at least as large as any other.

    Not testable: about two upper bounds, which are algebra: what is needed below them may be in any order and speaks
    against neither; the rows show what was needed.
    """
    needed = features_needed(rows.frame)
    whole = "whole" if "whole" in set(needed["variant"]) else ""
    return [_required(rows, needed, whole), only_evidence(_required(rows, needed, ""))]


def _required(rows: Rows, needed, variant: str) -> Part:
    own, exact = (select(needed, method=method, variant=variant) for method in ("slsrff", "lsrff"))
    both = own.merge(exact, on=["decay", "n"], suffixes=("", "_exact")).sort_values("n", kind="stable")
    drawn = "the whole distribution" if variant else "a pool of s"
    points = []
    for row in both.to_dict("records"):
        s, s_exact = (math.inf if math.isnan(row[name]) else row[name] for name in ("s", "s_exact"))
        text = f"{size_text(row['s'], row['largest'])}/{size_text(row['s_exact'], row['largest_exact'])}"
        what = f"{rows.name('slsrff')}/{rows.name('lsrff')} drawn from {drawn}, {row['decay']}"
        reason = "cut off by the grid" if math.isinf(s) and math.isinf(s_exact) else ""
        value = 0.0 if s == s_exact else s - s_exact
        points.append(Point(value, s >= s_exact, {"n_train": row["n"]}, what, text, reason=reason))
    return rows.part(points)


@claim("slsrff-24", GRIDS, datasets=DATASETS)
def needs_no_more_features(rows: Rows):
    """Return the test of the sizes from which curves are within half a point of their own best.

    Such a size is known to an interval, by the differences from the best. If two intervals overlap, the test has no
    power. A curve that still rises at the last size gets there at that size or later. Two curves that are there from
    the first size on got there at that size or earlier, because the grid ends there.
    """
    points, what = [], f"{rows.name('slsrff')}/{rows.name('lsrff')}"
    for where, found in check.along_sizes(rows.places(ACCURACY, "slsrff", "lsrff")):
        labels = [where["n_features_label"] for where, _ in found]
        curves = list(zip(*(samples for _, samples in found), strict=True))
        (own_first, own_last), (first, last) = map(_near_best, curves)
        # the last step still gains, so that the best may lie beyond the grid
        rises = [len(curve) < 2 or curve[-1].mean - curve[-2].mean > STILL_GAINS for curve in curves]
        holds = True if own_last <= first else False if own_first > last else None
        # a rising curve gets there no earlier
        cut_off = any(rises) if holds is None else rises[0] if holds else rises[1]
        reason = "cut off by the grid" if cut_off or not own_last + last else ""
        text = "/".join(
            (labels[a] if a == b else f"{labels[a]} to {labels[b]}") + (" or later" if rising else "")
            for (a, b), rising in zip(((own_first, own_last), (first, last)), rises, strict=True)
        )
        points.append(Point(float(last - own_last), holds, where, what, text, reason=reason))
    return rows.part(points, ACCURACY, "slsrff", "lsrff")


def _near_best(curve: list[Sample]) -> tuple[int, int]:
    """Return the first size at which a curve may be within half a point of its best, and where it surely is.

    The two follow from the lower and the upper end of the interval. Without an interval, only the best is near.
    """
    best = max(curve, key=lambda each: each.mean)
    behind = [difference(best, each) if each is not best else Estimate(0.0, 0.0, 0.0) for each in curve]
    # a difference by rounding does not count as a distance from the best
    may_be = [not round(each.low, 9) > 0.5 for each in behind]
    surely = [bool(round(each.high, 9) <= 0.5) for each in behind]
    return may_be.index(True), surely.index(True)


@claim("slsrff-25", GRIDS, datasets=DATASETS)
def identity_term(rows: Rows):
    """Return the test of no difference without the identity term.

    Stricter: a claim of no difference holds only where the 95 % interval is within the margin, and within half a point
    where the margin, so many standard deviations, is wider.
    """
    return check.no_difference(rows, ACCURACY, "slsrff/identity", "slsrff", deviations=2)
