"""Claims of the survey with a test of their own or without measured rows, on made rows at their borders."""

import math

import numpy as np
import pytest
import verdict_rows
from report_rows import NINE
from scipy import stats
from theory_rows import pair_row
from verdict_rows import judged, row

from rfstudy import tidy

SIZES = ("2d", "4d", "16d", "32d")
ERROR, ACCURACY, TIME = "approximation_error_frobenius", "accuracy_pct", "time_feature_s"
ARC_COSINE = ("arccos0", "arccos1")
FIVE = (-0.02, -0.01, 0.0, 0.01, 0.02)


def cell(metric, method, size, value, dataset="eeg", **columns):
    """A row of a map; accuracies are those of ridge regression."""
    scored = {"learner": "ridge", "split": "test"} if metric == ACCURACY else {}
    shared = {"dataset": dataset, "method": method, "n_features_label": size, "n_features": 10 * int(size[:-1])}
    return row(metric, value, **shared | {"d": 10, "n_train": 100, "n_test": 100} | scored | columns)


def verdict(claim, rows):
    """The verdict on rows of several experiments."""
    return verdict_rows.found_as(claim, tidy.frame(rows))[0]


def lowest(dataset, *by_size):
    """Errors of the nine maps at four sizes, of which the named one has the lowest."""
    return [
        cell(ERROR, method, size, 0.1 if method == best else 0.2, dataset)
        for size, best in zip(SIZES, by_size, strict=True)
        for method in NINE
    ]


@pytest.mark.parametrize(
    ("best", "expected"),
    [
        # another map, one more and one fewer are changes; the same two in another order are none
        ((("orf", "orf", "qmc", "qmc"), ("orf", "orf", "orf", "qmc")), "holds"),
        ((("orf", "ssf", "orf", "orf"), ("ssf", "orf", "ssf", "ssf")), "holds"),
        ((("orf", "qmc", "qmc", "orf"), ("orf", "orf", "qmc", "qmc")), "partly"),  # half of them is not most
        ((("orf", "orf", "orf", "orf"), ("orf", "orf", "orf", "orf")), "fails"),
    ],
)
def test_the_best_map_at_few_features_is_not_that_at_many(best, expected):
    rows = [each for dataset, of in zip(("eeg", "magic04"), best, strict=True) for each in lowest(dataset, *of)]
    assert judged("survey-30", rows) == expected


@pytest.mark.parametrize(("error", "expected"), [(5.01, "holds"), (4.99, "fails")])
def test_errors_vary_five_times_as_much_as_accuracies(error, expected):
    # eight of nine methods off by as much: the deviation is one unit, in percent of the mean
    steps = dict(zip(NINE, [(-1) ** i * (i > 0) for i in range(9)], strict=True))
    rows = [cell(ERROR, method, "2d", 0.2 * (1 + error * step / 100)) for method, step in steps.items()]
    rows += [
        cell(ACCURACY, method, "2d", 80 * (1 + step / 100), learner=learner)
        for method, step in steps.items()
        for learner in ("ridge", "svm")
    ]
    assert judged("survey-31", rows) == expected


@pytest.mark.parametrize(
    ("small", "large", "expected"), [(0.9, 1.0, "holds"), (1.1, 1.2, "partly"), (0.9, 0.8, "partly")]
)
def test_ssf_leads_at_few_features_and_by_less_at_many(small, large, expected):
    rows = [
        cell(ERROR, method, size, value * (1.0 if method == "rff" else ratio))
        for size, value, ratio in (("2d", 4.0, small), ("4d", 2.0, small), ("16d", 1.0, large), ("32d", 0.5, large))
        for method in ("rff", "ssf")
    ]
    assert judged("survey-21", rows) == expected


@pytest.mark.parametrize(("largest", "expected"), [(0.23, "holds"), (0.21, "partly")])
def test_maps_whose_errors_differ_are_as_accurate_on_mnist(largest, expected):
    rows = [cell(ERROR, method, "2d", largest if method == "gq" else 0.2, "mnist") for method in NINE]
    rows += [
        cell(ACCURACY, method, "2d", 90.0, "mnist", learner="svm", repeat=repeat)
        for method in NINE
        for repeat in range(5)
    ]
    assert judged("survey-25", rows) == expected


@pytest.mark.parametrize(("ssf", "rff", "expected"), [
    (0.81, 0.5, "holds"), (0.79, 0.5, "fails"), (0.81, 0.39, "fails"), (0.81, 0.61, "fails"),
])  # fmt: skip
def test_the_lead_of_ssf_stops_growing_somewhere(ssf, rff, expected):
    rows = [
        cell(ERROR, method, size, value)
        for method, last in (("ssf", ssf), ("rff", rff))
        for size, value in (("8d", 1.0), ("32d", last))
    ]
    assert judged("survey-22", rows + [each | {"dataset": "magic04", "value": 1.0} for each in rows]) == expected


def with_accuracies(ranks, sizes=("2d",), **columns):
    """Errors 1, 2, ... of the nine maps and accuracies that fall with their ranks."""
    rows = []
    for size in sizes:
        rows += [cell(ERROR, method, size, 1.0 + i, **columns) for i, method in enumerate(NINE)]
        rows += [cell(ACCURACY, method, size, 90.0 - rank, **columns) for method, rank in zip(NINE, ranks, strict=True)]
    return rows


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        (range(9), "contradicted"),  # the better approximation is the more accurate
        (range(9, 0, -1), "holds"),
        ([0, 5, 1, 7, 3, 8, 2, 6, 4], "undecided"),  # neither is significant
    ],
)
def test_a_claim_of_no_correlation_needs_power(ranks, expected):
    assert judged("survey-45", with_accuracies(ranks)) == expected


def test_correlations_are_corrected_over_the_sizes_of_a_data_set_and_kernel():
    # p = 0.016: significant alone and with two others, not with three
    ranks = [1, 0, 3, 6, 2, 8, 4, 5, 7]
    rho = stats.spearmanr(range(9), ranks).statistic
    assert 0.05 / 4 < stats.norm.sf(math.atanh(rho) / math.sqrt(1.06 / 6)) < 0.05 / 3
    for n, expected in ((1, "contradicted"), (3, "contradicted"), (4, "undecided")):
        assert judged("survey-45", with_accuracies(ranks, SIZES[:n])) == expected
    of_two = with_accuracies(ranks, SIZES[:2]) + with_accuracies(ranks, SIZES[2:], kernel="arccos0")
    assert judged("survey-45", of_two) == "contradicted"


def test_other_features_do_not_decide():
    def rows(dataset, lsrff):
        return [cell(TIME, method, "2d", lsrff if method == "lsrff" else 1.0, dataset) for method in NINE]

    assert judged("survey-27", rows("mnist", 3.0) + rows("cifar10-hog", 1.0)) == "holds"
    assert judged("survey-27", rows("mnist", 1.0) + rows("cifar10-hog", 3.0)) == "partly"
    assert judged("survey-27", rows("cifar10-hog", 3.0)) == "not testable"


def cells(metric, value, kernels=ARC_COSINE, datasets=("eeg", "covtype"), **columns):
    """Rows of ``value(method)`` for every kernel and method at two sizes, five a cell."""
    experiment = "survey-gaussian-text" if kernels == ("gaussian",) else "survey-kernels-text"
    return [
        cell(metric, method, size, value(method) * (1 + off / 10), dataset, kernel=kernel, repeat=repeat,
             **{"experiment": experiment} | columns)
        for kernel in kernels for method in NINE for dataset in datasets for size in ("2d", "32d")
        for repeat, off in enumerate(FIVE)
    ]  # fmt: skip


@pytest.mark.parametrize(("ratio", "expected"), [(0.85, "holds"), (1.2, "holds"), (0.7, "partly"), (1.4, "partly")])
def test_orthogonal_maps_are_as_good_as_plain_ones(ratio, expected):
    rows = cells(ERROR, lambda method: 0.2 * (ratio if method == "orf" else 1.0))
    assert verdict("survey-35", rows) == expected
    assert verdict("survey-35", [each for each in rows if each["repeat"] < 4]) in ("undecided", "fails", "partly")


@pytest.mark.parametrize(("factor", "expected"), [(1.1, "holds"), (0.9, "contradicted")])
def test_errors_are_larger_than_with_the_gaussian_kernel_on_the_same_data(factor, expected):
    gaussian = cells(ERROR, lambda method: 0.2, kernels=("gaussian",))
    rows = cells(ERROR, lambda method: 0.2 * factor)
    assert verdict("survey-36", gaussian + rows) == expected
    assert verdict("survey-36", rows) == "not run"
    assert verdict("survey-36", [each | {"n_train": 50} for each in gaussian] + rows) == "not run"


def rounds(seconds, run="timed", kernels=ARC_COSINE, **columns):
    """Five rounds of one record."""
    rows = cells(TIME, seconds, kernels=kernels, datasets=("covtype",), **columns)
    return [each | {"run": run, "axis": "round", "at": each["repeat"], "repeat": 0} for each in rows]


def test_times_are_ranked_within_a_record():
    def ordered(method):
        return 1.0 + NINE.index(method)

    gaussian, rows = rounds(ordered, run="other", kernels=("gaussian",)), rounds(ordered)
    assert verdict("survey-38", rows + gaussian) == "holds"
    assert verdict("survey-38", rounds(lambda method: 10.0 - ordered(method)) + gaussian) == "contradicted"
    assert verdict("survey-38", rows) == "not run"
    for one, other in ((rows, gaussian), (gaussian, rows)):
        assert verdict("survey-38", one + [each | {"run": each["method"]} for each in other]) == "not testable"
    busy = [each | {"settings": {"machine_busy": True}} for each in rows]
    assert verdict("survey-38", busy + gaussian) == "not testable"
    accuracies = cells(ACCURACY, lambda method: 80.0, datasets=("covtype",))
    capped = [each | {"settings": {"capped": True}} for each in accuracies]
    assert verdict("survey-38", rows + gaussian + capped) == "holds"  # whose rows are not those of the times


def moments(method, ratio=1.0, bias=0.0, **where):
    """A ratio of variances and a bias at one point, each with a standard error of 1/16: four of them are 0.25."""
    values = {"variance_ratio": ratio, "kernel_bias": bias}
    return [pair_row(method, metric, value, 0.0625, **where) for metric, value in values.items()]


LOWER_56 = ("qmc", "nrff", "mm", "orf", "ssf", "rom", "gq", "sgq", "ssr")
BOUND_52 = 6 * (np.exp(-1) + 1 / 3) / ((1 - np.exp(-1)) ** 2 / 2)  # at z = 1


@pytest.mark.parametrize(
    ("claim", "rows", "expected"),
    [
        # an excess of the variance of at most 6 z^4 / s (exp(-z^2) + z^2 / 3)
        ("survey-52", moments("fastfood", 1 + BOUND_52 + 0.249, 0.25), "holds"),
        ("survey-52", moments("fastfood", 1 + BOUND_52 + 0.251, 0.25), "partly"),
        ("survey-52", moments("fastfood", 0.1, -0.26), "contradicted"),
        # and not below the variance of RFF, by more than three standard errors
        ("survey-52", moments("fastfood", 1 - 0.187, 0.25), "holds"),
        ("survey-52", moments("fastfood", 1 - 0.188, 0.25), "partly"),
        ("survey-52", moments("fastfood", 1 + BOUND_52 + 0.251, 0.26), "contradicted"),
        # a bias of at most 6 z / sqrt(d): 3/16 at d = 1024
        ("survey-53", moments("sorf", bias=0.1875, d=1024), "holds"),
        ("survey-53", moments("sorf", bias=-0.19, d=1024), "fails"),
        # no bias is larger than z^2 / 2 or 1 + exp(-z^2 / 2): up to d = 144, and for long z, nothing breaks the bound
        ("survey-53", moments("sorf", bias=0.1, d=144), "not testable"),
        ("survey-53", moments("sorf", bias=0.1, d=145), "holds"),
        ("survey-53", moments("sorf", bias=0.1, z=8.0, d=2300), "not testable"),
        ("survey-53", moments("sorf", bias=0.1, z=8.0, d=2305), "holds"),
        ("survey-53", moments("sorf", bias=9.0) + moments("sorf", bias=0.1875, d=1024), "holds"),
        # nine maps with a lower variance, two without
        *(("survey-56", moments(method, 0.74), "holds") for method in LOWER_56),
        ("survey-56", moments("qmc", 0.76), "fails"),
        ("survey-56", moments("ssr", 1.26), "contradicted"),
        *(("survey-56", moments(method, 0.76), "holds") for method in ("fastfood", "pmodel")),
        ("survey-56", moments("pmodel", 0.74), "contradicted"),
        ("survey-56", moments("sorf", 0.5), "not run"),
    ],
)  # fmt: skip
def test_a_claim_about_moments(claim, rows, expected):
    assert judged(claim, rows) == expected


@pytest.mark.parametrize(
    ("two", "four", "expected"),
    [
        # errors 0.3 and 0.4 of the two: four of their root sum of squares are 2
        (12.01, 10.0, "holds"), (11.99, 10.0, "fails"), (12.01, 8.01, "holds"), (12.01, 7.99, "contradicted"),
        (8.01, 10.0, "fails"), (7.99, 10.0, "contradicted"), (10.0, 12.01, "fails"),
    ],
)  # fmt: skip
def test_three_factors_against_two_and_four(two, four, expected):
    rows = [pair_row("rom", "kernel_mse", 10.0, 0.3)]
    rows += [pair_row("rom", "kernel_mse", value, 0.4, variant=name) for name, value in (("two", two), ("four", four))]
    assert judged("survey-54", rows) == expected


def at_equal_memory(bits, quantised, nystroem, rff=70.0, dataset="letter-am-nz"):
    """Accuracies of LP-RFF by width, of Nyström and of RFF at a number of bits per row, in five repeats."""
    means = {("lprff", f"{bits}-bits-by-{width}", bits // width): value for width, value in quantised.items()}
    means |= {("nystroem", f"{bits}-bits", bits // 32): nystroem, ("rff", f"{bits}-bits", bits // 64): rff}
    shared = {"dataset": dataset, "d": 16, "n_train": 100, "n_test": 100, "experiment": "survey-memory"}
    return [
        each | shared | {"method": method, "variant": variant, "n_features": size}
        for (method, variant, size), mean in means.items()
        for each in verdict_rows.accuracies(method, str(size), [mean + off for off in FIVE])
    ]


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (({8: 70.0, 4: 80.0, 2: 70.0}, 79.0), "holds"),  # one width suffices
        (({8: 80.0, 4: 80.0, 2: 80.0}, 79.7), "partly"),  # under half a point counts as none
    ],
)
def test_quantised_features_at_equal_memory(last, expected):
    rows = [each for bits in (512, 1024, 2048) for each in at_equal_memory(bits, {8: 80.0, 4: 70.0, 2: 70.0}, 75.0)]
    assert judged("survey-57", rows) == "not run"
    assert judged("survey-57", rows + at_equal_memory(4096, *last)) == expected
