"""The helpers of claims on small made rows, on both sides of each border."""

import math

import numpy as np
import pytest
from claim_rows import ACCURACY, BASE, BIAS, CORRECTED, ERROR, OTHER, PLAIN, TIME, fixed, found, made, verdict
from scipy import stats

from rfstudy.report.claims import samples
from rfstudy.report.claims.helpers import (
    all_alike,
    better_than,
    changes,
    correlates_with_size,
    fits_power,
    is_best,
    keeps_bound,
    no_difference,
    none_stands_out,
)
from rfstudy.report.claims.samples import highest, lowest, side

MORE_ACCURATE = better_than, ACCURACY, "orf", "rff"


@pytest.mark.parametrize(("gain", "expected"), [(0.1, "holds"), (0.0, "fails"), (-0.1, "contradicted")])
def test_better_than_needs_a_better_mean(gain, expected):
    assert verdict(*MORE_ACCURATE, rows=made(ACCURACY, orf=fixed(70 + gain), rff=fixed(70))) == expected
    # errors are good low
    assert verdict(better_than, ERROR, "orf", "rff", rows=made(ERROR, orf=fixed(70 - gain), rff=fixed(70))) == expected
    few = made(ACCURACY, orf=fixed(70 + gain, 4), rff=fixed(70, 4))
    assert verdict(*MORE_ACCURATE, rows=few) == expected.replace("contradicted", "fails")


@pytest.mark.parametrize(
    ("options", "border"),
    # two standard errors, or pooled deviations, of two samples of deviation 1
    [({"errors": 2}, 2 * math.sqrt(2 * (1 / 5 + 1))), ({"deviations": 2}, 2.0)],
)
def test_better_than_may_need_a_larger_gain(options, border):
    for gain, expected in ((border + 0.01, "holds"), (border - 0.01, "fails")):
        rows = made(ACCURACY, orf=70 + gain + BASE, rff=70 + OTHER)
        assert verdict(*MORE_ACCURATE, rows=rows, **options) == expected
    if "deviations" in options:
        single = found(*MORE_ACCURATE, rows=made(ACCURACY, orf=80.0, rff=70.0), **options)
        assert single == ("not testable", "ORF minus RFF: EEG 2d +10.00 (a single repeat)")


@pytest.mark.parametrize(
    ("gain", "expected"), [(1.01, "holds"), (0.99, "fails"), (-0.99, "fails"), (-1.01, "contradicted")]
)
@pytest.mark.parametrize(("dataset", "half"), [("eeg", CORRECTED), ("letter", PLAIN)])
def test_an_effect_is_significant(gain, expected, dataset, half):
    # accuracies on random halves are corrected, those on a published split are not
    def verdict_of(n):
        rows = made(ACCURACY, dataset, orf=70 + gain * half + BASE[:n], rff=fixed(70, n))
        return verdict(*MORE_ACCURATE, rows=rows, datasets=[dataset], effect=True)

    assert verdict_of(5) == expected
    assert verdict_of(4) == ("not testable" if gain > 0 else "fails")


@pytest.mark.parametrize(("gain", "expected"), [(0.51, "holds"), (0.49, "fails")])
def test_an_effect_is_larger_than_the_smallest_one(gain, expected):
    rows = made(ACCURACY, orf=fixed(70 + gain), rff=fixed(70))
    assert verdict(*MORE_ACCURATE, rows=rows, effect=True) == expected


def test_the_lowest_and_the_highest_of_methods_are_picked_at_each_place():
    rows = made(ACCURACY, orf={2: 72, 4: 71.1}, qmc={2: 71.1, 4: 72}, rff={2: 71, 4: 70}, ssf={2: 70, 4: 71})
    sides = lowest("orf", "qmc"), highest("rff", "ssf")
    text = "lowest of ORF and QMC minus highest of RFF and SSF: EEG 2d +0.10, 4d +0.10"
    assert found(better_than, ACCURACY, *sides, rows=rows) == ("holds", text)
    without = [row for row in rows if row["method"] != "ssf"]
    assert verdict(better_than, ACCURACY, *sides, rows=without) == "not run"
    # one that need not have been measured counts where it was
    also = lowest("orf", also=("qmc",)), highest("rff", also=("ssf",))
    assert found(better_than, ACCURACY, *also, rows=without)[1].endswith("EEG 2d +0.10, 4d +1.10")


@pytest.mark.parametrize(
    ("sign", "beyond", "expected"),
    # in half widths of the interval, from where it touches the margin
    [(1, -0.01, "holds"), (-1, 0.01, "undecided"), (1, 0.99, "undecided"), (-1, 1.01, "fails"),
     (1, 1.99, "fails"), (-1, 2.01, "contradicted")],
)  # fmt: skip
def test_no_difference_needs_the_whole_interval(sign, beyond, expected):
    # two deviations of 0.1; half a point is wider, as is the interval of 0.03 deviations
    margin, noise = 2 * math.sqrt((0.01 + 0.01 + 0.0003**2 / 0.01) / 2), 0.003 * OTHER
    difference = margin + (beyond - 1) * 0.003 * CORRECTED
    rows = made(ACCURACY, orf=70 + sign * difference + 0.1 * BASE + noise, rff=70 + 0.1 * BASE)
    assert verdict(no_difference, ACCURACY, "orf", "rff", deviations=2, rows=rows) == expected
    few = [row for row in rows if row["repeat"] < 4]
    assert verdict(no_difference, ACCURACY, "orf", "rff", deviations=2, rows=few) == "not testable"


@pytest.mark.parametrize(("end", "expected"), [(0.49, "holds"), (0.51, "undecided")])
def test_a_margin_of_deviations_is_no_wider_than_the_practical_one(end, expected):
    # two deviations are two points, and only half a point is none
    best, noise = 80 + end - 0.1 * CORRECTED + BASE, 0.1 * OTHER
    rows = made(ACCURACY, orf=best, rff=80 + BASE + noise, qmc=80 + BASE + noise)
    assert verdict(no_difference, ACCURACY, "orf", "rff", deviations=2, rows=rows) == expected
    assert verdict(none_stands_out, ACCURACY, ("orf", "rff", "qmc"), over="second", rows=rows) == expected
    assert verdict(all_alike, ACCURACY, ("orf", "rff", "qmc"), rows=rows) == expected
    # of errors, a tenth of that with which they are compared
    lowest_error = 80 - 16 * end + 0.1 * PLAIN + 5 * BASE
    rows = made(ERROR, rff=lowest_error, orf=80 + 5 * BASE + noise, qmc=80 + 5 * BASE + noise)
    assert verdict(none_stands_out, ERROR, ("orf", "rff", "qmc"), over="second", rows=rows) == expected


@pytest.mark.parametrize(
    ("sign", "value", "expected"),
    [(1, 1.99, "holds"), (-1, 2.01, "fails"), (1, 2.77, "fails"), (-1, 2.79, "contradicted")],
)
def test_no_difference_within_standard_errors(sign, value, expected):
    error = math.sqrt(2 / 5)
    rows = made(ERROR, orf=10 + sign * value * error + BASE, rff=10 + OTHER)
    assert verdict(no_difference, ERROR, "orf", "rff", errors=2, rows=rows) == expected
    # a value of its own, whose error is that of the repeats
    rows = made(BIAS, orf=3 + sign * value / math.sqrt(5) + BASE)
    assert verdict(no_difference, BIAS, "orf", value=3, errors=2, rows=rows) == expected
    # an effect smaller than the smallest one is no opposite
    rows = made(ACCURACY, orf=10 + sign * 0.49 + 1e-3 * BASE, rff=fixed(10))
    assert verdict(no_difference, ACCURACY, "orf", "rff", errors=2, rows=rows) == "fails"


@pytest.mark.parametrize(
    ("spread", "expected", "of_few"),
    [(0.99, "holds", "undecided"), (1.0, "fails", "not testable"), (1.01, "contradicted", "not testable")],
)
def test_all_alike_is_about_the_range(spread, expected, of_few):
    rows = made(ACCURACY, rff=fixed(70), orf=fixed(70 + spread), qmc=fixed(70.3))
    assert verdict(all_alike, ACCURACY, ("rff", "orf", "qmc"), margin=1, rows=rows) == expected
    few = [row for row in rows if row["repeat"] < 4]
    assert verdict(all_alike, ACCURACY, ("rff", "orf", "qmc"), margin=1, rows=few) == of_few


@pytest.mark.parametrize(("noise", "expected"), [(0.01, "holds"), (1.0, "undecided")])
def test_a_range_is_within_only_if_every_pair_is(noise, expected):
    # the two ends do not vary, the method between them does
    rows = made(ACCURACY, rff=fixed(70), orf=fixed(70.5), qmc=70.2 + noise * BASE)
    assert verdict(all_alike, ACCURACY, ("rff", "orf", "qmc"), margin=1, rows=rows) == expected


BEST = "orf", "qmc"
FOUR = ("rff", "orf", "qmc", "ssf")


@pytest.mark.parametrize(
    ("rff", "expected"), [({2: 0.21}, "holds"), ({2: 0.2}, "fails"), ({2: 0.21, 4: 0.1}, "partly")]
)
def test_is_best_means_better_than_all_others(rff, expected):
    others = {name: dict.fromkeys(rff, value) for name, value in (("orf", 0.3), ("qmc", 0.2), ("ssf", 0.4))}
    assert verdict(is_best, ERROR, BEST, FOUR, rows=made(ERROR, rff=rff, **others)) == expected
    without = made(ERROR, rff=rff, **{name: others[name] for name in BEST})
    assert verdict(is_best, ERROR, BEST, FOUR, rows=without) == "not run"


@pytest.mark.parametrize(("gain", "expected"), [(2.01, "holds"), (1.99, "fails")])
def test_is_best_by_pooled_deviations(gain, expected):
    rows = made(ACCURACY, orf=80 + gain + BASE, rff=80 + OTHER, ssf=70 + OTHER, qmc=75 + OTHER)
    assert verdict(is_best, ACCURACY, BEST, FOUR, deviations=2, rows=rows) == expected
    single = made(ACCURACY, orf=85.0, rff=80.0, ssf=70.0, qmc=75.0)
    text = "highest: EEG 2d ORF by 5.00 (a single repeat)"
    assert found(is_best, ACCURACY, BEST, FOUR, deviations=2, rows=single) == ("not testable", text)


@pytest.mark.parametrize(("behind", "expected"), [(1.01, "contradicted"), (0.99, "fails")])
def test_is_best_is_contradicted_if_another_surely_is(behind, expected):
    # errors are not corrected for their splits: only the map varies
    lead = behind * PLAIN * math.sqrt(2)
    rows = made(ERROR, rff=20 + BASE, orf=20 + lead + OTHER, qmc=40 + OTHER, ssf=40 + OTHER)
    assert verdict(is_best, ERROR, BEST, FOUR, rows=rows) == expected


@pytest.mark.parametrize(
    ("over", "gap", "expected"),
    [("second", 1.0, "holds"), ("second", 1.9, "undecided"), ("second", 2.1, "fails"), ("median", 1.0, "holds"),
     ("median", 2.1, "fails")],
)  # fmt: skip
def test_none_stands_out_within_two_deviations(over, gap, expected):
    # deviations of 0.2; the best differs from the others by its mean and a little noise
    base, noise = 0.2 * BASE, 0.06 * OTHER
    others = 80 + base + noise
    rows = made(ACCURACY, rff=80 + 0.2 * gap + base, orf=others, qmc=60 + base if over == "second" else others)
    assert verdict(none_stands_out, ACCURACY, ("rff", "orf", "qmc"), over=over, rows=rows) == expected
    if over == "median":
        assert verdict(all_alike, ACCURACY, ("rff", "orf", "qmc"), rows=rows) == expected


@pytest.mark.parametrize("among", [("rff", "orf", "qmc", "ssf"), ("rff", "orf", "qmc", "ssf", "ssf/other")])
def test_two_good_methods_hide_each_other_from_the_second_and_not_from_the_median(among):
    # the median of an even number is the worse of the two in the middle
    rows = made(ACCURACY, rff=90 + BASE, orf=90 + BASE, qmc=80 + BASE, ssf=80 + BASE, ssf__other=80 + BASE)
    assert verdict(none_stands_out, ACCURACY, among, over="second", rows=rows) == "holds"
    assert verdict(none_stands_out, ACCURACY, among, over="median", rows=rows) == "contradicted"


@pytest.mark.parametrize(
    ("limits", "inside", "outside"),
    [({"above": 2}, 2.1, 2.0), ({"at_least": 2}, 2.0, 1.9), ({"below": 2}, 1.9, 2.0), ({"at_most": 2}, 2.0, 2.1),
     ({"between": (1, 2)}, 2.0, 2.1), ({"between": (1, 2)}, 1.0, 0.9), ({"above": 1, "below": 2}, 1.5, 2.0),
     ({"at_most": lambda where: where["n_features"] / where["d"]}, 2.0, 2.1)],
)  # fmt: skip
def test_keeps_bound(limits, inside, outside):
    for value, expected in ((inside, "holds"), (outside, "fails")):
        assert verdict(keeps_bound, ERROR, "qmc", rows=made(ERROR, qmc=value), **limits) == expected


@pytest.mark.parametrize(
    ("limits", "values"),
    [
        # a gain that is too small fails, a loss contradicts; more than a stated size is not its opposite
        ({"above": 6}, {6.1: "holds", 6.0: "fails", 4.0: "fails", -4.0: "contradicted"}),
        ({"at_most": -6}, {-6.0: "holds", -4.0: "fails", 4.0: "contradicted"}),
        ({"between": (1, 2)}, {1.5: "holds", 2.5: "fails", 0.5: "fails", -0.5: "contradicted"}),
        ({"between": (-1, 2)}, {1.5: "holds", 2.5: "contradicted", -1.5: "contradicted"}),
        ({"at_most": 1}, {1.0: "holds", 1.5: "contradicted"}),
    ],
)
def test_the_opposite_of_a_difference_is_on_the_other_side_of_none(limits, values):
    for value, expected in values.items():
        rows = made(ACCURACY, orf=fixed(70 + value), rff=fixed(70))
        assert verdict(keeps_bound, ACCURACY, "orf", minus="rff", rows=rows, **limits) == expected
        rows = made(ERROR, orf=fixed(math.exp(value)), rff=fixed(1))  # of a ratio it is beyond one
        limits_of_ratio = {
            key: tuple(map(math.exp, bound)) if key == "between" else math.exp(bound) for key, bound in limits.items()
        }
        if value not in (6.0, -6.0, 1.0):
            assert verdict(keeps_bound, ERROR, "orf", over="rff", rows=rows, **limits_of_ratio) == expected


@pytest.mark.parametrize(("metric", "half"), [(ERROR, PLAIN), (ACCURACY, CORRECTED)])
@pytest.mark.parametrize(("by", "expected"), [(1.01, "contradicted"), (0.99, "fails"), (-0.01, "holds")])
def test_the_interval_of_a_ratio_is_that_of_its_logarithm(metric, half, by, expected):
    rows = made(metric, orf=np.exp(0.01 * (BASE + by * half)), rff=fixed(1))
    assert verdict(keeps_bound, metric, "orf", over="rff", below=1, rows=rows) == expected


@pytest.mark.parametrize(
    ("options", "border"),
    [({"at_most": 2, "errors": 4}, 2 + 4 / math.sqrt(5)), ({"below": 2, "significant": True}, 2 - PLAIN)],
)
def test_a_bound_may_count_standard_errors_or_the_whole_interval(options, border):
    for value, expected in ((border - 0.01, "holds"), (border + 0.01, "fails")):
        reported = verdict(keeps_bound, BIAS, "orf", rows=made(BIAS, orf=value + BASE), **options)
        assert reported.replace("contradicted", "fails") == expected
    if "significant" in options:
        assert verdict(keeps_bound, BIAS, "orf", rows=made(BIAS, orf=0 * BASE[:4]), **options) == "not testable"


def test_each_side_is_a_point_and_each_repeat_may_be():
    assert verdict(keeps_bound, ERROR, ("orf", "qmc"), at_most=2, rows=made(ERROR, orf=1.0, qmc=3.0)) == "partly"
    rows = made(ERROR, orf=[1.0, 2.9])
    assert verdict(keeps_bound, ERROR, "orf", at_most=2, rows=rows) == "holds"
    assert verdict(keeps_bound, ERROR, "orf", at_most=2, by_repeat=True, rows=rows) == "partly"


def test_sides_may_differ_in_metric_size_and_place():
    rows = made(ERROR, orf=0.9) + made("approximation_error_spectral", orf=1.0)
    sides = side("orf", metric=ERROR), side("orf", metric="approximation_error_spectral")
    assert verdict(keeps_bound, ERROR, sides[0], over=sides[1], below=1, rows=rows) == "holds"
    # what a map takes is compared with what each learner takes
    train = [row | {"metric": "time_train_s", "learner": learner} for row in made(TIME, orf=2.0) for learner in "ab"]
    times = side("orf", metric=TIME), side("orf", metric="time_train_s")
    assert found(keeps_bound, TIME, times[0], over=times[1], below=1, rows=made(TIME, orf=1.0) + train)[0] == "holds"
    sizes = {"of": side("orf", size="8d"), "over": side("orf", size="2d"), "above": 0.8}
    for last, expected in ((0.81, "holds"), (0.79, "fails")):
        rows = made(ERROR, orf={2: 1.0, 4: 0.1, 8: last})
        assert verdict(keeps_bound, ERROR, rows=rows, **sizes) == expected
    assert verdict(keeps_bound, ERROR, rows=made(ERROR, orf={2: 1.0}), **sizes) == "not run"
    (row,), sides = made(ERROR, orf=1.0), (side("orf", at=60), side("orf", at=100))
    on_axis = [row | {"axis": "candidates", "at": at, "value": at} for at in (60.0, 100.0)]
    assert found(keeps_bound, ERROR, sides[0], over=sides[1], above=0.5, rows=on_axis) == (
        "holds", "ORF at 60/ORF at 100: EEG 2d 0.600",
    )  # fmt: skip


def rounds(runs=("r1", "r1"), busy=False, **seconds):
    """Rounds of times: method -> seconds."""
    return [
        row | {"axis": "round", "at": row["repeat"], "repeat": 0, "run": run, "settings": {"machine_busy": busy}}
        for (method, values), run in zip(seconds.items(), runs, strict=True)
        for row in made(TIME, **{method: values})
    ]


@pytest.mark.parametrize(
    ("rows", "expected", "remark"),
    [
        (rounds(orf=[3.0, 30.0, 0.3, 3.0, 3.0], rff=[1.0, 10.0, 0.1, 1.0, 4.0]), "holds", ""),  # the median counts
        (rounds(orf=[1.9] * 5, rff=[1.0] * 5), "fails", ""),
        (rounds(orf=[1.0, 2.5, 2.5, 2.5, 4.0], rff=[1.0] * 5), "holds", ""),
        (rounds(orf=[1.0, 2.2, 2.5, 2.9, 4.0], rff=[1.0] * 5), "not testable", "(too noisy)"),  # quartiles over 0.25
        (rounds(busy=True, orf=[3.0] * 5, rff=[1.0] * 5), "not testable", "(machine busy)"),
        (rounds(("r1", "r2"), orf=[3.0] * 5, rff=[1.0] * 5), "not run", ""),
        (made(TIME, orf=3.0, rff=1.0), "holds", ""),
    ],
)
def test_times_are_compared_round_by_round_within_a_record(rows, expected, remark):
    reported, text = found(keeps_bound, TIME, "orf", over="rff", above=2, rows=rows)
    assert reported == expected
    assert text.endswith(remark)


def test_a_value_falls_from_size_to_size():
    for values, expected in (((3.0, 2.0, 1.0), "holds"), ((3.0, 2.0, 2.0), "partly"), ((1.0, 2.0, 3.0), "fails")):
        rows = made(ERROR, orf=dict(zip((2, 4, 8), values, strict=True)), rff=dict.fromkeys((2, 4, 8), 1.0))
        assert verdict(changes, ERROR, "orf", falls=True, rows=rows) == expected
        assert verdict(changes, ERROR, "orf", falls=True, over="rff", rows=rows) == expected
    rows = made(ERROR, orf={2: 3 + BASE, 4: 3.5 + OTHER})  # the error of the step is sqrt(2 / 5)
    for slack, expected in ((0.01, "holds"), (-0.01, "fails")):
        assert verdict(changes, ERROR, "orf", falls=True, errors=0.5 / math.sqrt(0.4) + slack, rows=rows) == expected
    for rise, expected in ((2.01, "contradicted"), (1.99, "fails")):  # two intervals that lie apart
        rows = made(ERROR, orf={2: 3 + BASE, 4: 3 + rise * PLAIN + OTHER})
        assert verdict(changes, ERROR, "orf", falls=True, rows=rows) == expected


def test_changes_between_sizes():
    flat = {"rff": dict.fromkeys((2, 4, 8, 16), 1.0)}
    sizes = {"over": "rff", "start": ("2d", "4d"), "end": ("8d", "16d")}
    # geometric means: 2 before (the arithmetic one is 2.5), 2.01 and 1.99 after
    for last, expected in ((2.01, "holds"), (1.99, "fails")):
        rows = made(ERROR, orf={2: 1.0, 4: 4.0, 8: last, 16: last}, **flat)
        assert verdict(changes, ERROR, "orf", rows=rows, **sizes) == expected
        assert verdict(changes, ERROR, "orf", falls=True, rows=rows, **sizes) != expected
    assert verdict(changes, ERROR, "orf", rows=made(ERROR, orf={2: 1.0, 4: 4.0, 8: 5.0}, **flat), **sizes) == "not run"


@pytest.mark.parametrize(
    ("values", "options", "expected"),
    [
        ((71, 60, 71.1), {}, "holds"), ((60, 60, 69.9), {}, "contradicted"), ((60, 60, 70.1), {}, "holds"),
        ((60, 60, 70.11), {"by": 0.1}, "holds"), ((60, 60, 70.09), {"by": 0.1}, "fails"),
        ((72, 60, 71.1), {}, "contradicted"),
    ],
)  # fmt: skip
def test_a_gap_grows_from_a_floor(values, options, expected):
    by_size = {size: fixed(value) for size, value in zip((2, 4, 8), values, strict=True)}
    rows = made(ACCURACY, orf=by_size, rff=dict.fromkeys((2, 4, 8), fixed(70)))
    ends = {"minus": "rff", "start": "first", "end": "last", "floor": 0.0}
    assert verdict(changes, ACCURACY, "orf", rows=rows, **ends, **options) == expected


@pytest.mark.parametrize(("power", "expected"), [(-0.51, "holds"), (-0.49, "fails"), (0.1, "contradicted")])
def test_fits_power(power, expected):
    limits = {"below": -0.5, "neutral": 0.0}
    rows = made(ERROR, orf={m: 3 * m**power for m in (2, 4, 8)})
    assert verdict(fits_power, ERROR, "orf", "n_features", rows=rows, **limits) == expected
    assert verdict(fits_power, ERROR, "orf", "n_features", rows=rows[:2], **limits) == "not run"


def test_a_power_of_the_larger_half_by_a_column_or_at_one_value_of_it():
    rows = made(ERROR, orf={1: 9.0, 2: 9.0, 4: 9.0, 8: 64.0, 16: 257.0, 32: 1025.0})
    arguments = fits_power, ERROR, "orf", "n_features"
    assert verdict(*arguments, at_least=2, rows=rows) == "fails"
    assert verdict(*arguments, at_least=2, half=True, rows=rows) == "holds"
    # in four dimensions the power is one, in eight it is two, of fewer sizes
    rows = [row | {"d": d} for d, sizes in ((4, (2, 4, 8, 16)), (8, (2, 4, 8)))
            for row in made(ERROR, orf={m: float(m ** (d // 4)) for m in sizes})]  # fmt: skip
    assert verdict(*arguments, by="d", at_least=1.5, rows=rows, datasets=None) == "partly"
    assert verdict(*arguments, held="d", between=(0.99, 1.01), rows=rows, datasets=None) == "holds"


def test_a_power_may_be_known_to_its_errors():
    noise = (0.02, -0.04, 0.02)
    rows = made(ERROR, orf={m: m * math.exp(off) for m, off in zip((1, 2, 4), noise, strict=True)})
    arguments = fits_power, ERROR, "orf", "n_features"
    error = math.sqrt(sum(off**2 for off in noise)) / math.sqrt(2 * math.log(2) ** 2)
    for power, expected in ((1 - 4 * error, "contradicted"), (1 - 4 * error + 0.002, "holds")):
        assert verdict(*arguments, at_most=power - 1e-3, errors=4, rows=rows) == expected


def test_correlates_with_size():
    falling, uneven = {2: 4.0, 4: 3.0, 8: 2.0, 16: 1.0}, {2: 3.0, 4: 1.0, 8: 4.0, 16: 2.0}  # the second has rho = 0
    rows = made(ERROR, orf=falling, rff=uneven)
    assert verdict(correlates_with_size, ERROR, "orf", below=0, rows=rows) == "holds"
    assert verdict(correlates_with_size, ERROR, ("orf", "rff"), below=0, rows=rows) == "partly"
    assert verdict(correlates_with_size, ERROR, "orf", above=0, rows=rows) == "fails"
    many = made(ERROR, orf={m: float(m) for m in range(1, 9)})
    assert verdict(correlates_with_size, ERROR, "orf", below=0, rows=many) == "contradicted"
    assert verdict(correlates_with_size, ERROR, "orf", below=0, rows=made(ERROR, orf={2: 2.0, 4: 1.0})) == "not run"


def test_an_interval_is_around_the_value_where_repeats_are_missing():
    # six repeats of one, five of the other: the value is that of all of them
    one, other = (samples.Sample(("a", ""), dict(enumerate(np.exp(values)))) for values in ([*BASE, 5], OTHER))
    found = samples.difference(one, other)
    assert found.value == pytest.approx(one.mean - other.mean)
    assert (found.low + found.high) / 2 == pytest.approx(found.value)
    ratio = samples.quotient(one, other)
    assert ratio.value == pytest.approx(one.mean / other.mean)
    assert math.sqrt(ratio.low * ratio.high) == pytest.approx(ratio.value)
    for kind, reason in (("repeats", ""), ("rounds", "too noisy")):
        none, some = (samples.Sample(("a", ""), dict.fromkeys(range(6), value), kind) for value in (0.0, 1.0))
        assert [samples.quotient(*two).reason for two in ((none, some), (some, none))] == [reason, "a divisor is zero"]
    assert samples.difference(samples.Sample(("a", ""), dict(enumerate((1, 2, 3, 4, 9))), "rounds"))[:3] == (3, 1, 9)


def test_the_interval_of_a_rank_correlation_is_fishers():
    x, y = [3, 1, 4, 1.5, 5, 9, 2, 6, 7], [2, 7, 1, 8, 2.5, 8.5, 1.5, 8, 3]
    rho, half = stats.spearmanr(x, y).statistic, stats.norm.ppf(0.975) * math.sqrt(1.06 / 6)
    estimate = samples.rank_correlation(x, y)
    ends = [math.atanh(end) for end in (estimate.low, estimate.high)]
    assert [estimate.value, *ends] == pytest.approx([rho, math.atanh(rho) - half, math.atanh(rho) + half])
    assert estimate.p == pytest.approx(stats.norm.sf(math.atanh(rho) / math.sqrt(1.06 / 6)))
    assert samples.rank_correlation(x, np.negative(y))[:3] == pytest.approx((-rho, -estimate.high, -estimate.low))
    assert np.isnan(samples.rank_correlation(x, [1.0] * 9)[:3]).all()
    assert samples.rank_correlation([1, 2, 3, 4], [1, 2, 3, 4])[3:5] == pytest.approx((math.nan, 1.0), nan_ok=True)
