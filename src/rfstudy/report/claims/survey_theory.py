"""Claims of the survey on double descent and on the theory of the maps."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rfstudy.metrics import fact_of
from rfstudy.report.claims.helpers import better_than, fits_power, keeps_bound, no_difference
from rfstudy.report.claims.points import Part, Point, joined, number, only_evidence
from rfstudy.report.claims.registry import claim
from rfstudy.report.claims.rows import Rows

DESCENT, VARIANCE = {"text": "survey-double-descent"}, {"text": "theory-variance"}
SWEPT, LAYOUTS = ("sonar", "mnist-1-2"), ("rff", "rff/phase")
ERROR = "approximation_error_frobenius"
FOUR_ERRORS = "a difference counts from four standard errors on"


def _sweeps(rows: Rows, metric: str) -> Iterator[tuple[dict, str, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield, for each layout and data set, the coordinates, a name, and the values from few features to many.

    The values are frequencies over n, columns over n, and the mean over the repeats.
    """
    for method in LAYOUTS:
        name = f"{rows.name(method)}, {fact_of(metric).label}"
        for dataset, own in rows.measured(metric, method).groupby("dataset", sort=False):
            steps = own.groupby("n_features")[["value", "n_columns", "n_train"]].mean().sort_index().astype(float)
            n, s = steps["n_train"].to_numpy(), steps.index.to_numpy(dtype=float)
            yield {"dataset": dataset}, name, s / n, steps["n_columns"].to_numpy() / n, steps["value"].to_numpy()


def _falling(where: dict, what: str, frequencies: np.ndarray, means: np.ndarray, strictly: bool = True) -> list[Point]:
    """Return a point, if there is a step: whether means fall at every step, or rise at none.

    The value is the largest ratio of neighbours.
    """
    ratios = means[1:] / means[:-1]
    if not len(ratios):
        return []
    most, steps = float(ratios.max()), len(ratios)
    wrong = int((ratios >= 1).sum() if strictly else (ratios > 1).sum())
    place = f"s/n = {frequencies[int(ratios.argmax()) + 1]:.3g}"
    text = f"at {steps - wrong} of {steps} steps" + (f", times {number(most)} to {place}" if wrong else "")
    return [Point(most, not wrong, where, what, text)]


@claim("survey-46", DESCENT, datasets=SWEPT, learner="ridge", split="train")
def training_error_vanishes(rows: Rows):
    """Return the test of errors below a thousandth of the first one, at every size with more frequencies than rows."""
    falls, points = [], []
    for where, name, frequencies, _, means in _sweeps(rows, "mse"):
        falls += _falling(where, f"{name}, falls", frequencies, means, strictly=False)
        if len(beyond := means[frequencies > 1]):
            share = float(beyond.max() / means[0])
            what = f"{name}, largest at s > n over that at s/n = {frequencies[0]:.3g}"
            points.append(Point(share, share < 1e-3, where, what))
    return [rows.part(falls), rows.part(points)]


@claim("survey-47", DESCENT, stricter="about -1/2 is -0.6 to -0.4")
def error_falls_throughout(rows: Rows):
    power = fits_power(rows, ERROR, LAYOUTS, "n_features", by="d", between=(-0.6, -0.4))
    rows, falls = rows.of(SWEPT), []
    for where, name, frequencies, _, means in _sweeps(rows, ERROR):
        falls += _falling(where, f"{name}, falls", frequencies, means)
    return [rows.part(falls), power]


@claim("survey-48", DESCENT, datasets=SWEPT, learner="ridge", split="test")
def peaks_at_interpolation(rows: Rows):
    """Return the test of the peak, counted by columns; frequencies, two columns each in [cos | sin], are evidence."""
    by_columns, by_frequencies = [], []
    for where, name, frequencies, columns, means in _sweeps(rows, "mse"):
        for counted, points, n in (("columns", by_columns, columns), ("frequencies", by_frequencies, frequencies)):
            place = float(n[means.argmax()])
            points.append(Point(place, 0.8 <= place <= 1.25, where, f"{name}, largest at {counted}/n"))
    return [rows.part(by_columns), only_evidence(rows.part(by_frequencies))]


@claim("survey-49", DESCENT, datasets=SWEPT, learner="ridge", split="test")
def falls_from_the_peak(rows: Rows):
    """Return the test of a fall from the peak.

    The error has to be below the peak where the columns are half and twice the training rows, and to fall at every step
    beyond it.
    """
    points = []
    for where, name, frequencies, columns, means in _sweeps(rows, "mse"):
        top = int(means.argmax())
        for multiple in (0.5, 2.0):
            near = int(np.abs(np.log(columns / multiple)).argmin())
            share = float(means[near] / means[top])
            what = f"{name}, at columns/n = {columns[near]:.3g} over the peak"
            points.append(Point(share, share < 1, where, what))
        points += _falling(where, f"{name}, falls beyond it", frequencies[top:], means[top:])
    return rows.part(points)


def _unbiased(rows: Rows, method: str) -> Part:
    return no_difference(rows, "kernel_bias", method, errors=4)


@claim("survey-50", VARIANCE)
def rff_as_in_the_formulas(rows: Rows):
    return [_unbiased(rows, "rff"), no_difference(rows, "variance_ratio", "rff", value=1, errors=4)]


@claim("survey-51", VARIANCE, stricter=FOUR_ERRORS)
def orf_has_less_variance(rows: Rows):
    wide = rows.of(where="d >= 32 and at <= 1")
    return [keeps_bound(wide, "variance_ratio", "orf", below=1, significant=True), _unbiased(rows, "orf")]


@claim("survey-52", VARIANCE)
def variance_of_fastfood(rows: Rows):
    def bound(where: dict) -> float:
        """Return the bound over the variance of RFF, in which s cancels."""
        square = where["at"] ** 2
        return 1 + 6 * square**2 * (np.exp(-square) + square / 3) / ((1 - np.exp(-square)) ** 2 / 2)

    not_higher = keeps_bound(rows, "variance_ratio", "fastfood", at_most=bound, errors=4)
    not_lower = keeps_bound(rows, "variance_ratio", "fastfood", at_least=1, errors=3)
    return [_unbiased(rows, "fastfood"), *joined(not_higher, not_lower)]


@claim("survey-53", VARIANCE, stricter="a bound that no features of these lengths could break shows nothing")
def bias_of_sorf(rows: Rows):
    def bound(where: dict) -> float:
        return 6 * where["at"] / np.sqrt(where["d"])

    def largest(where: dict) -> float:
        """Return the largest difference that is possible between kernel and approximation.

        Both lie between 1 - t^2/2 and 1, and within -1 and 1. The mean of (w'z)^2 is t^2.
        """
        square = where["at"] ** 2
        return min(square / 2, 1 + np.exp(-square / 2))

    part = keeps_bound(rows, "kernel_bias", "sorf", at_least=lambda where: -bound(where), at_most=bound)
    points = []
    for each in part.points:
        reason = "nothing could break the bound" if largest(each.where) <= bound(each.where) else each.reason
        points.append(replace(each, value=abs(each.value), text="", reason=reason))
    return [replace(part, points=points), only_evidence(_unbiased(rows, "sorf"))]


@claim("survey-54", VARIANCE, stricter=FOUR_ERRORS)
def three_blocks_of_rom(rows: Rows):
    four = keeps_bound(rows, "kernel_mse", "rom", minus="rom/four", at_most=0, errors=4)
    return joined(better_than(rows, "kernel_mse", "rom", "rom/two", errors=4), four)


@claim("survey-55", {"text": "theory-decay"})
def decay_of_qmc(rows: Rows):
    def decay(rows: Rows, method: str, **limits) -> Part:
        return fits_power(rows, ERROR, method, "n_features", by="d", **limits)

    return [
        decay(rows.of(where="d <= 4"), "qmc", below=-0.75, neutral=-0.5),
        decay(rows.of(where="d >= 32"), "qmc", between=(-0.6, -0.4)),
        only_evidence(decay(rows.of(where="d > 4 and d < 32"), "qmc", below=-0.5)),
        only_evidence(decay(rows, "rff", below=-0.4)),
    ]


@claim("survey-56", VARIANCE, needs="any", stricter=FOUR_ERRORS)
def maps_with_less_variance(rows: Rows):
    """Return the tests of maps with less variance.

    Features with random phases have half the columns. The experiments use SSF with one radius, which is biased.
    """
    less = ("qmc", "nrff", "mm", "orf", "ssf", "rom", "gq", "sgq", "ssr")
    significant = {"below": 1, "significant": True}
    return [
        keeps_bound(rows, "variance_ratio", less, **significant),
        keeps_bound(rows, "variance_ratio", ("fastfood", "pmodel"), at_least=1, errors=4),
        only_evidence(keeps_bound(rows, "variance_ratio", "ssf/single", **significant)),
        only_evidence(keeps_bound(rows, "variance_ratio_columns", "nrff", **significant)),
    ]
