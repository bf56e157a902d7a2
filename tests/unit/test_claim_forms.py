"""The forms of claims on small made rows: both sides of every border, and what turns points into a verdict."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from rfstudy import tidy
from rfstudy.report.claims import compared, entries, forms
from rfstudy.report.claims.compared import Names
from rfstudy.report.claims.judge import judge
from rfstudy.report.claims.points import Part, Point, conclude, evidence, joined, number
from rfstudy.report.context import Context

ERROR, ACCURACY, TIME = "approximation_error_frobenius", "accuracy_pct", "time_feature_s"
TASKS = {"eeg": {"label": "EEG", "split": "half"}, "letter": {"label": "letter", "split": "published"}}
STYLES = {
    method: {"label": method.upper(), "colour": "#000000", "marker": "o"} for method in ("rff", "orf", "qmc", "ssf")
}
NAMES = Names(Context(tidy.frame([]), STYLES, TASKS), "survey")

#: Five repeats of mean 0 and standard deviation 1, and five that are not correlated with them.
BASE = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]) / np.sqrt(2.5)
OTHER = np.array([1.0, -2.0, 0.0, 2.0, -1.0]) / np.sqrt(2.5)

#: The half width of a 95 % interval of five paired differences of deviation 1.
PLAIN = stats.t(4).ppf(0.975) / math.sqrt(5)
CORRECTED = stats.t(4).ppf(0.975) * math.sqrt(1 / 5 + 1)


def rows(metric, dataset="eeg", **by_method):
    """Rows by repeat: method -> size in multiples of d -> value or values."""
    made = []
    for method, by_size in by_method.items():
        for multiple, values in (by_size if isinstance(by_size, dict) else {2: by_size}).items():
            for repeat, value in enumerate(np.atleast_1d(values)):
                made.append(
                    {
                        "origin": "measured", "run": "r1", "preset": "laptop", "experiment": "e", "dataset": dataset,
                        "kernel": "gaussian", "repeat": repeat, "status": "ok", "settings": {}, "metric": metric,
                        "value": value, "method": method.partition("__")[0], "variant": method.partition("__")[2],
                        "n_features": 10 * multiple, "n_features_label": f"{multiple}d", "d": 10, "n_train": 100,
                        "n_test": 100, "split": "test" if metric == ACCURACY else "",
                    }
                )  # fmt: skip
    return made


def judged(entry, *made, names=NAMES):
    """Verdict and evidence on an entry that rests on the rows under "text"."""
    frame = tidy.frame(list(itertools.chain(*made)))
    return judge({"experiments": {"text": "e"}, "select": {"dataset": ["eeg"]}} | entry, frame, "text", names)


def verdict(entry, *made, **options):
    return judged(entry, *made, **options)[0]


# best_is


LOWEST = {"form": "best_is", "metric": ERROR, "best": ["orf", "qmc"], "among": ["rff", "orf", "qmc", "ssf"]}


def test_best_is_one_of_the_named_at_every_place():
    flat = {"orf": 0.3, "qmc": 0.2, "ssf": 0.4}
    assert verdict(LOWEST, rows(ERROR, rff=0.21, **flat)) == "holds"
    assert verdict(LOWEST, rows(ERROR, rff=0.2, **flat)) == "fails"  # as low is not lowest
    two = rows(ERROR, rff={2: 0.21, 4: 0.1}, orf={2: 0.3, 4: 0.3}, qmc={2: 0.2, 4: 0.2}, ssf={2: 0.4, 4: 0.4})
    assert judged(LOWEST, two) == ("partly", "lowest: EEG 2d QMC by 0.01000, 4d RFF by 0.100")
    # a place that lacks one of them says nothing
    assert verdict(LOWEST, rows(ERROR, rff=0.21, orf=0.3, qmc=0.2)) == "not run"
    assert verdict(LOWEST | {"metric": ACCURACY}, rows(ACCURACY, rff=0.21, **flat)) == "fails"  # high is good


@pytest.mark.parametrize(("by", "expected"), [(2.01, "holds"), (1.99, "fails")])
def test_best_is_by_pooled_standard_deviations(by, expected):
    entry = LOWEST | {"metric": ACCURACY, "by": {"pooled_sd": 2}}
    others = {"rff": 80 + OTHER, "ssf": 70 + OTHER, "qmc": 75 + OTHER}
    assert verdict(entry, rows(ACCURACY, orf=80 + by + BASE, **others)) == expected
    single = rows(ACCURACY, orf=85.0, rff=80.0, ssf=70.0, qmc=75.0)
    assert judged(entry, single) == ("not testable", "highest: EEG 2d ORF by 5.00 (a single repeat)")


@pytest.mark.parametrize(("behind", "expected"), [(1.01, "contradicted"), (0.99, "fails")])
def test_it_is_contradicted_where_another_is_best_for_sure(behind, expected):
    # errors are not corrected for their splits: only the map varies
    half = PLAIN * np.sqrt(2)
    others = {"orf": 20 + behind * half + OTHER, "qmc": 40 + OTHER, "ssf": 40 + OTHER}
    assert verdict(LOWEST, rows(ERROR, rff=20 + BASE, **others)) == expected


# none_stands_out


NOBODY = {"form": "none_stands_out", "metric": ACCURACY, "among": ["rff", "orf", "qmc"], "at_most": {"pooled_sd": 2}}


@pytest.mark.parametrize(
    ("against", "gap", "expected"),
    [("second", 1.0, "holds"), ("second", 1.9, "not testable"), ("second", 2.1, "fails"), ("median", 1.0, "holds"),
     ("median", 2.1, "fails")],
)  # fmt: skip
def test_none_stands_out_within_two_deviations(against, gap, expected):
    # standard deviations of 0.2; the best differs from the other two by its mean and by a little noise: an interval of
    # 0.06 CORRECTED
    base, noise = 0.2 * BASE, 0.06 * OTHER
    best, others = 80 + 0.2 * gap + base, 80 + base + noise
    made = rows(ACCURACY, rff=best, orf=others, qmc=60 + base if against == "second" else others)
    assert verdict(NOBODY | {"against": against}, made) == expected


@pytest.mark.parametrize(("end", "expected"), [(0.49, "holds"), (0.51, "not testable")])
def test_a_margin_of_deviations_is_no_wider_than_the_practical_one(end, expected):
    # two standard deviations are two points: within them, but only half a point is none
    best, noise = 80 + end - 0.1 * CORRECTED + BASE, 0.1 * OTHER
    made = rows(ACCURACY, rff=best, orf=80 + BASE + noise, qmc=80 + BASE + noise)
    assert verdict(NOBODY | {"against": "second"}, made) == expected
    # of errors a tenth of that with which they are compared
    lowest = 80 - 16 * end + 0.1 * PLAIN + BASE
    made = rows(ERROR, rff=lowest, orf=80 + BASE + noise, qmc=80 + BASE + noise)
    errors = NOBODY | {"against": "second", "metric": ERROR, "at_most": {"pooled_sd": 20}}
    assert verdict(errors, made) == expected


def test_who_stands_out_of_the_best_and_not_of_the_median():
    made = rows(ACCURACY, rff=90 + BASE, orf=90 + BASE, qmc=80 + BASE)
    assert verdict(NOBODY | {"against": "second"}, made) == "holds"
    five = NOBODY | {"among": ["rff", "orf", "qmc", "ssf", "ssf/other"]}
    made = rows(ACCURACY, rff=90 + BASE, orf=90 + BASE, qmc=80 + BASE, ssf=80 + BASE, ssf__other=80 + BASE)
    assert verdict(five | {"against": "second"}, made) == "holds"
    assert verdict(five | {"against": "median"}, made) == "contradicted"


# beats


BEATS = {"form": "beats", "metric": ACCURACY, "of": "orf", "over": "rff"}


@pytest.mark.parametrize(
    ("orf", "rff", "expected"), [(70.1, 70.0, "holds"), (70.0, 70.0, "fails"), (69.9, 70.0, "fails")]
)
def test_beats_by_its_mean(orf, rff, expected):
    assert verdict(BEATS, rows(ACCURACY, orf=orf, rff=rff)) == expected
    # errors are good low
    flipped = {"holds": "fails", "fails": "holds" if orf < rff else "fails"}[expected]
    assert verdict(BEATS | {"metric": ERROR}, rows(ERROR, orf=orf, rff=rff)) == flipped


@pytest.mark.parametrize(
    ("gain", "expected"), [(1.01, "holds"), (0.99, "fails"), (-0.99, "fails"), (-1.01, "contradicted")]
)
@pytest.mark.parametrize(("dataset", "half"), [("eeg", CORRECTED), ("letter", PLAIN)])
def test_beats_significantly(gain, expected, dataset, half):
    # accuracies on random halves are corrected, those on a published split are not
    entry = BEATS | {"significant": True, "select": {"dataset": dataset}}
    made = rows(ACCURACY, dataset, orf=70 + gain * half + BASE, rff=[70.0] * 5)
    assert verdict(entry, made) == expected
    few = rows(ACCURACY, dataset, orf=70 + gain * half + BASE[:4], rff=[70.0] * 4)
    assert verdict(entry, few) == "not testable"


def test_a_gain_that_is_too_small_fails_and_a_loss_contradicts():
    entry = {"form": "threshold", "metric": ACCURACY, "of": "orf", "minus": "rff", "above": 6}
    for gain, expected in ((6.1, "holds"), (6.0, "fails"), (4.0, "fails"), (-4.0, "contradicted")):
        assert verdict(entry, rows(ACCURACY, orf=[70.0 + gain] * 5, rff=[70.0] * 5)) == expected


def test_the_least_and_the_most_of_methods_are_settled_at_every_place():
    entry = BEATS | {"of": {"least": ["orf", "qmc"]}, "over": {"most": ["rff", "ssf"]}}
    made = rows(ACCURACY, orf={2: 72, 4: 71.1}, qmc={2: 71.1, 4: 72}, rff={2: 71, 4: 70}, ssf={2: 70, 4: 71})
    found, told = judged(entry, made)
    assert found == "holds"
    assert told == "worse of ORF and QMC minus better of RFF and SSF: EEG 2d +0.10, 4d +0.10"
    assert verdict(entry, [each for each in made if each["method"] != "ssf"]) == "not run"


def test_a_gain_is_told_as_one_where_lower_is_better():
    made = rows("error_pct", orf=20.0, rff=21.5)
    assert judged(BEATS | {"metric": "error_pct"}, made) == ("holds", "RFF minus ORF: EEG 2d +1.50")


# within


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("beyond", "expected"),
    # in half widths of the interval (0.3 of its unit), from where the interval touches the margin of 3
    [(-0.01, "holds"), (0.01, "not testable"), (0.99, "not testable"), (1.01, "fails"), (1.99, "fails"),
     (2.01, "contradicted")],
)  # fmt: skip
def test_within_holds_with_its_whole_interval_only(sign, beyond, expected):
    entry = {"form": "within", "metric": ACCURACY, "of": "orf", "over": "rff", "at_most": 3}
    difference = 3 + (beyond - 1) * 0.3 * CORRECTED
    made = rows(ACCURACY, orf=70 + sign * difference + BASE + 0.3 * OTHER, rff=70 + BASE)
    assert verdict(entry, made) == expected
    # under five repeats there is no interval
    few = [each for each in made if each["repeat"] < 4]
    assert verdict(entry, few) in ("not testable", "fails")


@pytest.mark.parametrize(("loss", "expected"), [(0.49, "holds"), (0.51, "contradicted"), (-9.0, "holds")])
def test_within_may_bound_the_loss_alone(loss, expected):
    entry = {"form": "within", "metric": ACCURACY, "of": "orf", "over": "rff", "worse_by": 0.5, "mean_over": "sizes"}
    # a loss of twice as much at one size, none at the other
    made = rows(ACCURACY, orf={2: [70 - 2 * loss] * 5, 4: [70.0] * 5}, rff={2: [70.0] * 5, 4: [70.0] * 5})
    assert verdict(entry, made) == expected


@pytest.mark.parametrize(("spread", "expected"), [(0.99, "holds"), (1.0, "fails"), (1.01, "contradicted")])
def test_within_takes_the_range_of_methods_and_of_sizes(spread, expected):
    methods = {"form": "within", "metric": ACCURACY, "among": ["rff", "orf", "qmc"], "below": 1}
    made = rows(ACCURACY, rff=[70.0] * 5, orf=[70 + spread] * 5, qmc=[70.3] * 5)
    assert verdict(methods, made) == expected
    sizes = {"form": "within", "metric": ACCURACY, "of": "orf", "along": "sizes", "below": 1}
    made = rows(ACCURACY, orf={2: [70 + spread] * 5, 4: [70.0] * 5, 8: [70.3] * 5})
    assert verdict(sizes, made) == expected
    assert verdict(sizes, rows(ACCURACY, orf={2: [70.0] * 5})) == "not run"


def test_a_range_is_within_only_if_every_pair_is():
    entry = {"form": "within", "metric": ACCURACY, "among": ["rff", "orf", "qmc"], "below": 1}
    for spread, expected in ((0.01, "holds"), (1.0, "not testable")):
        # the two ends go together, the one between them varies
        made = rows(ACCURACY, rff=[70.0] * 5, orf=[70.5] * 5, qmc=70.2 + spread * BASE)
        assert verdict(entry, made) == expected


@pytest.mark.parametrize(
    ("ratio", "noise", "expected"),
    [(1.24, 0.0, "holds"), (0.81, 0.0, "holds"), (1.26, 0.0, "contradicted"), (0.79, 0.0, "contradicted"),
     (1.2, 0.1, "not testable"), (1.3, 0.1, "fails")],
)  # fmt: skip
def test_within_may_bound_the_ratio(ratio, noise, expected):
    entry = {"form": "within", "metric": ERROR, "of": "orf", "over": "rff", "between": [0.8, 1.25]}
    # the interval of the logarithm is 0.12 wide to each side where there is noise
    assert verdict(entry, rows(ERROR, orf=ratio * np.exp(noise * BASE), rff=[1.0] * 5)) == expected


@pytest.mark.parametrize(("spread", "expected"), [(0.3, "holds"), (0.6, "not testable"), (2.1, "fails")])
def test_a_range_may_be_within_two_pooled_deviations(spread, expected):
    """The two ends go together, so that their difference has no interval; half a point is the practical margin."""
    entry = {"form": "within", "metric": ACCURACY, "among": ["rff", "orf", "qmc"], "below": {"pooled_sd": 2}}
    made = rows(ACCURACY, rff=70 + BASE, orf=70 + spread + BASE, qmc=70 + spread / 2 + BASE)
    assert verdict(entry, made) in (expected, "contradicted" if expected == "fails" else expected)


# threshold and ratio


@pytest.mark.parametrize(
    ("bounds", "inside", "outside"),
    [({"above": 2}, 2.1, 2.0), ({"at_least": 2}, 2.0, 1.9), ({"below": 2}, 1.9, 2.0), ({"at_most": 2}, 2.0, 2.1),
     ({"between": [1, 2]}, 2.0, 2.1), ({"between": [1, 2]}, 1.0, 0.9), ({"at_most": "n_features / d"}, 2.0, 2.1)],
)  # fmt: skip
def test_threshold_and_ratio_keep_their_bounds(bounds, inside, outside):
    threshold = {"form": "threshold", "metric": ERROR, "of": "orf"} | bounds
    ratio = {"form": "ratio", "metric": ERROR, "of": "orf", "over": "rff"} | bounds
    for value, expected in ((inside, "holds"), (outside, "fails")):
        assert verdict(threshold, rows(ERROR, orf=value)) == expected
        assert verdict(ratio, rows(ERROR, orf=10 * value, rff=10.0)) == expected


def test_a_bound_may_be_about_the_size_of_a_value():
    entry = {"form": "threshold", "metric": "kernel_bias", "of": "orf", "at_most": 2, "absolute": True}
    for value, expected in ((-2.0, "holds"), (-2.1, "fails"), (2.1, "fails")):
        assert verdict(entry, rows("kernel_bias", orf=value)) == expected


def test_each_of_several_sides_is_a_point_and_each_repeat_may_be():
    entry = {"form": "threshold", "metric": ERROR, "of": ["orf", "qmc"], "at_most": 2}
    assert verdict(entry, rows(ERROR, orf=1.0, qmc=3.0)) == "partly"
    entry = {"form": "threshold", "metric": ERROR, "of": "orf", "at_most": 2}
    assert verdict(entry, rows(ERROR, orf=[1.0, 2.9])) == "holds"
    assert verdict(entry | {"each": "repeat"}, rows(ERROR, orf=[1.0, 2.9])) == "partly"


def test_a_ratio_of_two_metrics_or_of_two_sizes():
    entry = {"form": "ratio", "of": {"method": "orf", "metric": ERROR},
             "over": {"method": "orf", "metric": "approximation_error_spectral"}, "below": 1}  # fmt: skip
    made = [rows(ERROR, orf=0.9), rows("approximation_error_spectral", orf=1.0)]
    assert verdict(entry, *made) == "holds"
    entry = {"form": "ratio", "metric": ERROR, "of": {"method": "orf", "size": "8d"},
             "over": {"method": "orf", "size": "2d"}, "above": 0.8}  # fmt: skip
    assert verdict(entry, rows(ERROR, orf={2: 1.0, 4: 0.1, 8: 0.81})) == "holds"
    assert verdict(entry, rows(ERROR, orf={2: 1.0, 4: 0.9, 8: 0.79})) == "fails"
    assert verdict(entry, rows(ERROR, orf={2: 1.0, 4: 0.9})) == "not run"


def test_the_last_size_alone_may_count():
    entry = {"form": "ratio", "metric": ERROR, "of": "orf", "over": "rff", "above": 2, "size": "last"}
    assert verdict(entry, rows(ERROR, orf={2: 1.0, 4: 3.0}, rff={2: 1.0, 4: 1.0})) == "holds"
    assert verdict(entry, rows(ERROR, orf={2: 3.0, 4: 1.0}, rff={2: 1.0, 4: 1.0})) == "fails"


def test_the_ratio_of_errors_is_contradicted_beyond_the_interval_of_its_logarithm():
    entry = {"form": "ratio", "metric": ERROR, "of": "orf", "over": "rff", "below": 1}
    for by, expected in ((1.01, "contradicted"), (0.99, "fails"), (-0.01, "holds")):
        made = rows(ERROR, orf=np.exp(0.01 * (BASE + by * PLAIN)), rff=[1.0] * 5)
        assert verdict(entry, made) == expected


# monotone


def test_monotone_step_by_step():
    entry = {"form": "monotone", "metric": ERROR, "of": "orf", "direction": "falling"}
    assert verdict(entry, rows(ERROR, orf={2: 3.0, 4: 2.0, 8: 1.0})) == "holds"
    assert verdict(entry, rows(ERROR, orf={2: 3.0, 4: 2.0, 8: 2.0})) == "partly"
    assert verdict(entry | {"direction": "rising"}, rows(ERROR, orf={2: 3.0, 4: 2.0, 8: 1.0})) == "fails"
    up = rows(ERROR, orf={2: 3 + BASE, 4: 3.5 + OTHER})
    # the error of a step is sqrt(2 / 5)
    assert verdict(entry | {"tolerance": 0.5 / math.sqrt(0.4) + 0.01}, up) == "holds"
    assert verdict(entry | {"tolerance": 0.5 / math.sqrt(0.4) - 0.01}, up) == "fails"


def test_monotone_from_sizes_to_sizes():
    entry = {"form": "monotone", "metric": ERROR, "of": "orf", "over": "rff", "direction": "rising",
             "from": ["2d", "4d"], "to": ["8d", "16d"]}  # fmt: skip
    flat = {"rff": dict.fromkeys((2, 4, 8, 16), 1.0)}
    # geometric means: 2 before, 2.01 and 1.99 after
    for last, expected in ((4.0401, "holds"), (3.9601, "fails")):
        assert verdict(entry, rows(ERROR, orf={2: 1.0, 4: 4.0, 8: 1.0, 16: last}, **flat)) == expected
    assert verdict(entry, rows(ERROR, orf={2: 1.0, 4: 4.0, 8: 5.0}, **flat)) == "not run"
    ends = {"form": "monotone", "metric": ACCURACY, "of": "orf", "minus": "rff", "direction": "rising", "from": "first",
            "to": "last", "floor": 0}  # fmt: skip
    flat = {"rff": dict.fromkeys((2, 4, 8), 70.0)}
    assert verdict(ends, rows(ACCURACY, orf={2: 71, 4: 60, 8: 71.1}, **flat)) == "holds"
    assert verdict(ends, rows(ACCURACY, orf={2: 60, 4: 60, 8: 69.9}, **flat)) == "fails"
    assert verdict(ends, rows(ACCURACY, orf={2: 60, 4: 60, 8: 70.1}, **flat)) == "holds"
    for last, expected in ((70.11, "holds"), (70.09, "fails")):
        assert verdict(ends | {"by": 0.1}, rows(ACCURACY, orf={2: 60, 4: 60, 8: last}, **flat)) == expected


# power_law


@pytest.mark.parametrize(("power", "expected"), [(-0.51, "holds"), (-0.49, "fails")])
def test_power_law_keeps_its_bound(power, expected):
    entry = {"form": "power_law", "metric": ERROR, "of": "orf", "along": "n_features", "below": -0.5, "neutral": 0}
    assert verdict(entry, rows(ERROR, orf={m: 3 * m**power for m in (2, 4, 8)})) == expected
    assert verdict(entry, rows(ERROR, orf={m: 3 * m**power for m in (2, 4)})) == "not run"
    assert verdict(entry, rows(ERROR, orf={m: 3 * m**0.1 for m in (2, 4, 8)})) == "contradicted"


def test_power_law_of_the_larger_half_and_of_a_difference():
    entry = {"form": "power_law", "metric": ERROR, "of": "orf", "along": "n_features", "at_least": 2}
    made = rows(ERROR, orf={1: 9.0, 2: 9.0, 4: 9.0, 8: 64.0, 16: 257.0, 32: 1025.0})
    assert verdict(entry, made) == "fails"
    assert verdict(entry | {"largest_half": True}, made) == "holds"
    made = rows(ERROR, orf={m: 5 + m**2.1 for m in (2, 4, 8)}, rff=dict.fromkeys((2, 4, 8), 5.0))
    assert verdict(entry | {"minus": "rff"}, made) == "holds"
    assert verdict(entry, made) == "fails"


def test_a_difference_that_is_not_above_zero_grows_with_no_power():
    entry = {"form": "power_law", "metric": ERROR, "of": "orf", "minus": "rff", "along": "n_features", "at_least": 2}
    sizes = (1, 2, 4, 8)
    level, grown = dict.fromkeys(sizes, 5.0), {m: 5 + m**3 for m in sizes}
    found, told = judged(entry, rows(ERROR, orf=grown | {4: 5.0}, rff=level))
    assert found == "fails"
    assert "not above zero at s = 40" in told
    assert verdict(entry, rows(ERROR, orf=level, rff=grown)) == "contradicted"
    assert verdict(entry | {"largest_half": True}, rows(ERROR, orf=grown | {1: 4.0}, rff=level)) == "holds"


# crosses


def curves(of, against):
    by_size = [
        {m: [float(each)] * 5 for m, each in zip((2, 4, 8, 16), of_side, strict=True)} for of_side in (of, against)
    ]
    return rows(ACCURACY, orf=by_size[0], rff=by_size[1])


@pytest.mark.parametrize(
    ("of", "against", "expected"),
    [
        # both have stopped to rise
        ((60, 69.5, 70, 70), (60, 69.4, 70, 70), "holds"),
        ((60, 69.4, 70, 70), (60, 69.4, 70, 70), "holds"),
        ((60, 69.4, 70, 70), (60, 69.5, 70, 70), "fails"),
        # one still rises: it is near its best at the last size or later
        ((60, 69.5, 70, 70), (60, 60, 69.5, 70), "holds"),
        ((60, 60, 69.4, 70), (60, 69.5, 70, 70), "fails"),
        ((60, 69.5, 69.89, 70), (60, 60, 70, 70), "not testable"),
        ((60, 69.5, 69.91, 70), (60, 60, 70, 70), "holds"),
        ((60, 60, 70, 70), (60, 69.5, 69.89, 70), "not testable"),
        ((60, 60, 70, 70), (60, 69.5, 69.91, 70), "fails"),
        # both do, or both were near it from the start
        ((60, 60, 69.4, 70), (60, 60, 69.4, 70), "not testable"),
        ((70, 70, 70, 70), (69.6, 70, 70, 70), "not testable"),
    ],
)
def test_crosses_the_line_near_its_best(of, against, expected):
    entry = {"form": "crosses", "metric": ACCURACY, "of": "orf", "against": "rff", "near_best": 0.5}
    assert verdict(entry, curves(of, against)) == expected


@pytest.mark.parametrize(
    ("noise", "expected", "told"),
    [(0.16, "holds", "4d/4d"), (0.17, "not testable", "4d to 8d/4d"), (0.5, "not testable", "2d to 8d/4d")],
)
def test_where_a_curve_is_near_its_best_is_known_to_an_interval(noise, expected, told):
    # 4d is 0.01 points behind 8d and 16d, up to 3.0413 standard deviations of what is added; half a point is reached at
    # 0.161 of them. 2d is two points behind
    best = 70 + BASE
    made = rows(ACCURACY, orf={2: best - 2.0 + noise * OTHER, 4: best - 0.01 + noise * OTHER, 8: best},
                rff={2: best - 9.0, 4: best, 8: best})  # fmt: skip
    entry = {"form": "crosses", "metric": ACCURACY, "of": "orf", "against": "rff", "near_best": 0.5}
    level = rows(ACCURACY, orf={16: best}, rff={16: best})
    assert judged(entry, made, level) == (expected, f"ORF/RFF: EEG {told}" + (" (no power)" if noise > 0.16 else ""))
    # under five repeats nothing but the best itself is known to be near it
    few = [each for each in [*made, *level] if each["repeat"] < 4]
    assert verdict(entry, few) == "not testable"


@pytest.mark.parametrize(
    ("of", "expected"),
    [((69, 69.9, 70.1, 71), "holds"), ((71, 70.1, 69, 69), "fails"), ((69, 71, 69, 71), "fails"),
     ((71, 71, 71, 71), "fails"), ((69, 69, 69, 69), "fails")],
)  # fmt: skip
def test_crosses_another_curve_once(of, expected):
    entry = {"form": "crosses", "metric": ACCURACY, "of": "orf", "against": "rff"}
    assert verdict(entry, curves(of, (70, 70, 70, 70))) == expected


# correlates


def test_correlates_with_the_size():
    entry = {"form": "correlates", "metric": ERROR, "of": ["orf", "rff"], "sign": "negative"}
    falling = {2: 4.0, 4: 3.0, 8: 2.0, 16: 1.0}
    assert verdict(entry, rows(ERROR, orf=falling, rff=falling)) == "holds"
    # two swaps of neighbours and back: rho = 0 is no fall
    uneven = {2: 3.0, 4: 1.0, 8: 4.0, 16: 2.0}
    assert compared.spearman(range(4), list(uneven.values())) == 0
    assert verdict(entry, rows(ERROR, orf=falling, rff=uneven)) == "partly"


def over_methods(ranks):
    """Errors 1, 2, ... of methods m0, m1, ... and accuracies that fall with their ranks."""
    names = [f"m{i}" for i in range(len(ranks))]
    errors = dict(zip(names, map(float, range(1, len(ranks) + 1)), strict=True))
    accuracies = {name: 90.0 - rank for name, rank in zip(names, ranks, strict=True)}
    entry = {
        "form": "correlates", "among": names, "between": [{"metric": ERROR}, {"metric": ACCURACY}],
        "sign": "not_positive", "below": 0.5,
    }  # fmt: skip
    return verdict(entry, rows(ERROR, **errors), rows(ACCURACY, **accuracies))


def test_a_claim_of_no_correlation_needs_power():
    assert over_methods(range(9)) == "contradicted"  # the better approximation is the more accurate
    assert over_methods(range(9, 0, -1)) == "holds"
    assert over_methods([0, 5, 1, 7, 3, 8, 2, 6, 4]) == "not testable"
    assert over_methods([1, 0, 2]) == "not testable"


def test_significant_correlations_are_corrected_over_the_sizes_of_a_data_set():
    names = [f"m{i}" for i in range(9)]
    entry = {
        "form": "correlates", "among": names, "between": [{"metric": ERROR}, {"metric": ACCURACY}],
        "sign": "not_positive", "below": 0.5,
    }  # fmt: skip
    # p = 0.016: significant alone and beside two others, not beside three
    ranks = [1, 0, 3, 6, 2, 8, 4, 5, 7]
    rho = compared.spearman(range(9), ranks)
    assert 0.05 / 4 < compared.positive(rho, 9) < 0.05 / 3
    for sizes, expected in (((2,), "contradicted"), ((2, 4, 8), "contradicted"), ((2, 4, 8, 16), "not testable")):
        errors = {name: dict.fromkeys(sizes, 1.0 + i) for i, name in enumerate(names)}
        accuracies = {name: dict.fromkeys(sizes, 90.0 - rank) for name, rank in zip(names, ranks, strict=True)}
        assert verdict(entry, rows(ERROR, **errors), rows(ACCURACY, **accuracies)) == expected


def test_methods_are_compared_within_one_kernel():
    names = [f"m{i}" for i in range(9)]
    entry = {
        "form": "correlates", "among": names, "between": [{"metric": ERROR}, {"metric": ACCURACY}],
        "sign": "not_positive", "below": 0.5,
    }  # fmt: skip

    def of_kernel(kernel, ranks):
        errors = {name: 1.0 + i for i, name in enumerate(names)}
        accuracies = {name: 90.0 - rank for name, rank in zip(names, ranks, strict=True)}
        made = [*rows(ERROR, **errors), *rows(ACCURACY, **accuracies)]
        return [row | {"kernel": kernel} for row in made]

    follows, against = of_kernel("gaussian", range(9)), of_kernel("arccos0", range(9, 0, -1))
    assert verdict(entry, follows, of_kernel("arccos0", range(9))) == "contradicted"
    assert verdict(entry, against, of_kernel("gaussian", range(9, 0, -1))) == "holds"
    # whichever stands last
    assert verdict(entry, follows, against) == verdict(entry, against, follows) == "partly"


def test_the_interval_of_a_rank_correlation_is_fishers():
    low, high = compared.fisher(0.5, 9)
    half = stats.norm.ppf(0.975) * math.sqrt(1.06 / 6)
    assert (math.atanh(low), math.atanh(high)) == pytest.approx((math.atanh(0.5) - half, math.atanh(0.5) + half))
    x, y = [3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]
    assert compared.spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert compared.positive(0.5, 9) == pytest.approx(stats.norm.sf(math.atanh(0.5) / math.sqrt(1.06 / 6)))


# Intervals, and which points may speak


def test_intervals_are_those_of_a_paired_test():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 10))
    expected = stats.ttest_rel(a, b).confidence_interval(0.95)
    assert compared.interval(a - b) == pytest.approx((expected.low, expected.high))
    # Nadeau and Bengio: 1/R + n_test / n_train in place of 1/R
    mean, deviation = (a - b).mean(), (a - b).std(ddof=1)
    half = stats.t(9).ppf(0.975) * deviation * math.sqrt(0.1 + 0.25)
    assert compared.interval(a - b, 0.25) == pytest.approx((mean - half, mean + half))
    assert all(map(math.isnan, compared.interval((a - b)[:4])))


def test_stand_ins_and_what_is_not_ok_say_nothing():
    made = rows(ACCURACY, orf=71.0, rff=70.0)
    for columns in ({"stand_in": "made"}, {"status": "failed", "value": None}, {"experiment": "other"}):
        assert verdict(BEATS, [each | columns for each in made]) == "not run"
    assert judge(None, tidy.frame(made), "text", NAMES) == ("not run", "")
    assert judge({"experiments": {"code": "e"}} | BEATS, tidy.frame(made), "text", NAMES) == ("not run", "")


def test_two_rows_of_one_measurement_are_refused():
    made = rows(ACCURACY, orf=71.0, rff=70.0)
    with pytest.raises(ValueError, match=r"1 rows repeat a measurement of accuracy_pct, of orf"):
        verdict(BEATS, made + [each | {"value": 1.0} for each in made if each["method"] == "orf"])


def test_an_entry_may_select_across_experiments():
    entry = {"experiments": {"text": ["e", "f"]}} | BEATS
    made = rows(ACCURACY, orf=71.0, rff=70.0)
    other = [each | {"experiment": "f", "value": 141.0 - each["value"]} for each in made]
    found, told = judged(entry, made, other)
    assert (found, told) == ("partly", "ORF minus RFF: EEG e 2d +1.00; EEG f 2d -1.00")
    assert verdict(entry | {"select": {"dataset": "eeg", "experiment": "f"}}, made, other) == "fails"


def test_data_that_cannot_speak_are_set_aside():
    entry = BEATS | {"select": {"dataset": ["eeg", "letter"]}}
    made = [rows(ACCURACY, orf=71.0, rff=70.0), rows(ACCURACY, "letter", orf=69.0, rff=70.0)]
    assert verdict(entry, *made) == "partly"
    aside = {"aside": {"letter": "another test set"}}
    told = "ORF minus RFF: EEG 2d +1.00; letter 2d -1.00 (another test set)"
    assert judged(entry | aside, *made) == ("holds", told)
    assert verdict(entry | {"aside": {"letter": "a", "eeg": "b"}}, *made) == "not testable"
    assert judged(entry | {"not_testable": "an identity"}, *made)[1].startswith("an identity; ORF minus RFF: EEG")
    assert verdict(entry | {"not_testable": {"code": "an identity"}}, *made) == "partly"
    assert judged(entry, made[0])[1].endswith("not run: letter")


@pytest.mark.parametrize(("tasks", "settings"), [({"not_comparable": "other test rows"}, {}), ({}, {"capped": True})])
def test_accuracies_on_other_rows_than_the_paper_s_are_set_aside(tasks, settings):
    names = Names(Context(tidy.frame([]), STYLES, TASKS | {"letter": TASKS["letter"] | tasks}), "survey")
    entry = BEATS | {"select": {"dataset": ["eeg", "letter"]}}
    own, other = rows(ACCURACY, orf=71.0, rff=70.0), rows(ACCURACY, "letter", orf=69.0, rff=70.0)
    other = [each | {"settings": settings} for each in other]
    told = "ORF minus RFF: EEG 2d +1.00; letter 2d -1.00 (not comparable)"
    assert judged(entry, own, other, names=names) == ("holds", told)
    assert verdict(entry, other, names=names) == "not testable"
    # errors of predictions as well
    wrong = [
        [each | {"metric": "error_pct", "value": 100 - each["value"]} for each in of_dataset]
        for of_dataset in (own, other)
    ]
    assert judged(entry | {"metric": "error_pct"}, *wrong, names=names) == (
        "holds",
        told.replace("ORF minus RFF", "RFF minus ORF"),
    )
    # errors of the kernel matrix rest on the training rows
    errors = [rows(ERROR, dataset, orf=0.1, rff=0.2) for dataset in ("eeg", "letter")]
    assert verdict(entry | {"metric": ERROR}, *errors, names=names) == "holds"


# One verdict of many points


def points(*holds, **columns):
    return [Point(1.0, 0.0, each, place=str(i), **columns) for i, each in enumerate(holds)]


@pytest.mark.parametrize(
    ("holds", "expected"),
    [
        ((True, True), "holds"), ((True, False), "partly"), ((False, False), "fails"),
        ((None, True), "not testable"),
        ((None, None), "not testable"), ((None, False), "fails"), ((None, True, False), "partly"), ((), "not run"),
    ],
)  # fmt: skip
def test_the_verdict_of_points(holds, expected):
    assert conclude([Part(points(*holds))])[0] == expected


def test_a_contradiction_is_one_at_every_point():
    against = points(False, opposite=True)
    assert conclude([Part(against * 2)])[0] == "contradicted"
    assert conclude([Part(against + points(False))])[0] == "fails"
    assert conclude([Part(against + points(True))])[0] == "partly"
    # contradicted at more points than it holds at
    assert conclude([Part(against * 2 + points(True))])[0] == "fails"
    assert conclude([Part(against * 2 + points(True, True, False))])[0] == "partly"
    assert conclude([Part(against + points(None))])[0] == "fails"


@pytest.mark.parametrize(
    ("at", "holds", "expected"),
    [
        ("most", (True, True, False), "holds"), ("most", (True, False), "fails"),
        ("most", (True, None), "not testable"),
        ("most", (True, None, False, False), "fails"), ("some", (False, True, False), "holds"),
        ("some", (False, False), "fails"), ("some", (False, None), "not testable"),
    ],
)  # fmt: skip
def test_most_or_some_points_may_decide(at, holds, expected):
    assert conclude([Part(points(*holds), at)])[0] == expected


def test_a_part_that_has_no_points_or_none_that_speak():
    good, bad = Part(points(True)), Part(points(False))
    silent = Part(points(True, aside="nothing was learned"))
    noisy = Part(points(True, aside="too noisy"))
    assert conclude([good, Part()])[0] == "not run"
    assert conclude([good, Part()], needs="any")[0] == "holds"
    assert conclude([good, silent])[0] == "not testable"
    assert conclude([good, noisy])[0] == "too noisy"
    assert conclude([bad, silent])[0] == "fails"
    assert conclude([Part(points(False, opposite=True)), silent])[0] == "fails"
    assert conclude([good, Part(points(False), beside=True)])[0] == "holds"
    # beside clear points, those that cannot speak decide nothing
    assert conclude([Part(points(True) + points(False, aside="too noisy"))])[0] == "holds"


def test_joined_tests_have_to_hold_at_the_same_places():
    tests = [Part(points(True, True, False)), Part(points(True, False, True))]
    assert conclude(joined(tests))[0] == "partly"
    assert conclude(joined([Part(points(True, False)), Part(points(False, True))]))[0] == "fails"
    assert conclude(tests)[0] == "partly"


def test_many_points_are_told_by_their_range():
    few = Part([Point(float(i), 0.0, i != 1, place=f"{i}d", group="EEG", what="gap") for i in range(3)])
    assert evidence(few) == "gap: EEG 0d 0, 1d 1.00, 2d 2.00"
    many = Part([Point(float(i), 0.0, i != 1, place=f"{i}d", group="EEG", what="gap") for i in range(30)])
    assert evidence(many) == "gap: so at 29 of 30 points, 0 to 29.0, not so at EEG 1d"
    bounds = Part([Point(float(i), 2.0 * i, True, what="gap") for i in range(1, 31)])
    assert evidence(bounds) == "gap: so at 30 of 30 points, 1.00 to 30.0, at most 0.500 of the bound"
    beside_zero = Part([Point(float(i), 2.0 * i, True, what="gap") for i in range(30)])
    assert evidence(beside_zero) == "gap: so at 30 of 30 points, 0 to 29.0"
    assert [number(v) for v in (43.71, -0.00312, 1000.4, 1e-9, 0.0)] == ["43.7", "-0.00312", "1000", "1e-09", "0"]


# The schema


def test_every_form_has_its_schema_and_takes_no_other_key():
    assert set(entries.forms()) == {
        "best_is", "none_stands_out", "beats", "within", "threshold", "ratio", "monotone", "power_law", "crosses",
        "correlates",
    }  # fmt: skip
    for form in entries.forms():
        assert getattr(forms, form).__doc__
