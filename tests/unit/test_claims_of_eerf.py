"""Claims of EERF with a test of their own or without measured rows, at their borders.

Values that stand on a border are numbers that a computer holds exactly, so that "at least" and "more than" differ.
"""

import eerf_rows
import pytest
import verdict_rows
from eerf_rows import row
from verdict_rows import judged

#: In the order in which values of a cell are given.
FIVE = ("rff", "orf", "ses", "karff", "kprff")
THREE = ("rff", "karff", "kprff")
GAUSSIAN = ("buzz", "news", "adult", "mnist")


def errors(dataset, m, *values, methods=None, **columns):
    """One error per method at a number of features; a value may be a list, one per repeat."""
    methods = methods or (FIVE if len(values) == len(FIVE) else THREE)
    rows = []
    for method, value in zip(methods, values, strict=True):
        method, _, variant = method.partition("/")
        for repeat, each in enumerate(value if isinstance(value, list) else [value]):
            shared = {"learner": "ridge", "split": "test", "repeat": repeat, "variant": variant}
            rows.append(row(dataset, method, "error_pct", each, m, **shared | columns))
    return rows


def times(dataset, m, method="kprff", rounds=1, **phases):
    """One round, or several alike, of the phases of a method; what is not said takes no time."""
    timed = {"draw": 0.0, "transform": 0.0} | phases
    timed = {"learn": timed.pop("learn"), **timed} if "learn" in timed else timed
    return [
        row(
            dataset, method, f"time_{phase}_s", seconds, m, axis="round", at=float(at), repeat=None,
            learner="ridge" if phase == "fit" else "", split="train", settings={},
        )
        for at in range(rounds)
        for phase, seconds in timed.items()
    ]  # fmt: skip


def walks(dataset, m, axis, **by_method):
    """Errors on an axis: method=((at, value), ...)."""
    return [
        each
        for method, values in by_method.items()
        for at, value in values
        for each in errors(dataset, m, value, methods=(method,), axis=axis, at=float(at))
    ]


def steady(dataset, m, *values, **columns):
    """Errors of five repeats whose differences between methods are the same in each: intervals have no width."""
    return errors(dataset, m, *([value + i / 128 for i in range(-2, 3)] for value in values), **columns)


@pytest.mark.parametrize(("claim", "dataset"), list(zip(range(1, 5), GAUSSIAN, strict=True)))
def test_lower_than_every_baseline_at_every_size(claim, dataset):
    claim, m = f"eerf-{claim:02}", eerf_rows.SETS[dataset][1]
    below = steady(dataset, m, 10, 10, 10, 9, 8.375)
    assert judged(claim, below) == "holds"
    assert judged(claim, below + steady(dataset, m // 2, 10, 10, 9, 10, 9.5)) == "partly"
    # a lead of no more than half a point is no effect
    assert judged(claim, steady(dataset, m, 10, 10, 10, 9, 8.5)) == "fails"
    assert judged(claim, errors("year", 1000, 10, 10, 9)) == "not run"


def test_lkrf_counts_at_the_best_of_its_penalties_on_the_test_rows():
    below = steady("adult", 100, 10, 10, 10, 9, 8.375)
    own = {"methods": ("karff/divergence",), "axis": "divergence", "at": 1.0}
    for value, verdict in ((8.375, "fails"), (9, "holds")):
        swept = steady("adult", 100, value, **own)
        assert judged("eerf-03", below + swept) == verdict
    few = steady("adult", 50, 10, 10, 10, 11, 9) + steady("adult", 50, 9, **own)
    assert judged("eerf-22", below + few) == "holds"
    # without one of the baselines nothing is said
    assert judged("eerf-03", [each for each in below if each["method"] != "ses"]) == "not run"


def test_a_target_is_reached_with_no_more_features():
    def curves(*own):
        cells = zip((10, 20, 30), own, strict=True)
        return [each for m, mine in cells for each in errors("adult", m, 30 - m, 20, 20, 20, mine)]

    assert judged("eerf-05", curves(20, 10, 0)) == "holds"
    assert judged("eerf-05", curves(15, 10, 0)) == "holds"
    # RFF is at 10 with 20 features, and here nobody is before 30
    assert judged("eerf-05", curves(20, 10.25, 0)) == "partly"
    assert judged("eerf-05", curves(21, 21, 21)) == "fails"


def test_the_error_is_cut_by_a_fifth():
    assert judged("eerf-09", errors("buzz", 1000, 10, 9, 9, 9, 8)) == "holds"
    assert judged("eerf-09", errors("buzz", 1000, 10, 9, 9, 9, 8.125)) == "fails"
    assert judged("eerf-09", errors("adult", 100, 10, 9, 9, 9, 5)) == "not run"


def test_a_pool_of_five_to_twenty_times_is_enough():
    def pools(five, twenty, hundred, rff=10.0):
        five, twenty, hundred = (each if isinstance(each, list) else [each] * 5 for each in (five, twenty, hundred))
        own = walks("adult", 100, "candidates", kprff=((500, five), (2000, twenty), (10000, hundred)))
        return own + errors("adult", 100, [rff] * 5, methods=("rff",))

    assert judged("eerf-12", pools(9, 9, 9)) == "holds"
    assert judged("eerf-12", pools(9, 9, 10)) == "holds"
    assert judged("eerf-12", pools(10, 9, 9)) == "partly"
    assert judged("eerf-12", pools(9, 9, 8.75)) == "partly"
    assert judged("eerf-12", pools(11, 11, 10.5)) == "contradicted"
    # the differences to 100 M have a standard error of one
    off = [-3.0, 3.0, -1.0, 1.0, 0.0]
    assert judged("eerf-12", pools(9, 9, [9 - 0.9375 + each for each in off], 20)) == "holds"
    assert judged("eerf-12", pools(9, 9, [9 - 1.0625 + each for each in off], 20)) == "partly"
    assert judged("eerf-12", pools(9, 9, 9)[:-5]) == "not run"


def race(own, other, dataset="adult", **columns):
    """Curves of errors and times: EERF's and RKS's sizes as (seconds, error)."""
    rows = []
    for method, points in (("kprff", own), ("rff", other)):
        for i, (seconds, value) in enumerate(points):
            m = 10 * (i + 1)
            rows += errors(dataset, m, value, methods=(method,))
            more = {"learn": 0.25, "fit": seconds - 0.25} if method == "kprff" else {"fit": seconds}
            rows += times(dataset, m, method, **more)
    return [each | columns for each in rows]


@pytest.mark.parametrize(("seconds", "expected"), [(2.75, "holds"), (1.25, "fails"), (10.25, "fails")])
def test_scoring_takes_about_a_tenth_of_the_training(seconds, expected):
    assert judged("eerf-11", race([(seconds, 9)], [(1, 10)])) == expected


def test_ahead_within_every_time():
    assert judged("eerf-14", race([(1, 9), (2, 8)], [(1, 10), (2, 9)])) == "holds"
    assert judged("eerf-14", race([(1, 9), (2, 8)], [(1, 9), (2, 9)])) == "partly"
    assert judged("eerf-14", race([(1, 10), (2, 9)], [(1, 9), (2, 8)])) == "fails"
    # RKS has something before EERF has scored, which is no answer
    early = race([(1, 9), (2, 8)], [(0.5, 10), (2, 9)])
    assert judged("eerf-14", early) == "holds"
    assert "only rff (the other has nothing yet)" in verdict_rows.found("eerf-14", early)[1]
    assert judged("eerf-14", race([(1, 11), (2, 10)], [(0.5, 10), (2, 9)])) == "fails"
    # the preprocessing counts, and for RKS the drawing does not
    assert judged("eerf-14", race([(1, 9)], [(1, 10)]) + times("adult", 30, "rff", draw=9.0, fit=9.0)) == "holds"
    assert judged("eerf-14", errors("adult", 100, 9, 9, 9, 9, 8)) == "not run"


def test_the_curves_cross_once():
    assert judged("eerf-15", race([(1, 11), (2, 8)], [(1, 10), (2, 9)])) == "holds"
    assert judged("eerf-15", race([(1, 9), (2, 8)], [(0.5, 10), (2, 9)])) == "holds"
    # ahead from the start, never ahead, and ahead for a while
    assert judged("eerf-15", race([(1, 9), (2, 8)], [(1, 10), (2, 9)])) == "fails"
    assert judged("eerf-15", race([(1, 11), (2, 10)], [(1, 10), (2, 9)])) == "fails"
    assert judged("eerf-15", race([(1, 11), (2, 8), (3, 8)], [(1, 10), (2, 9), (3, 7)])) == "fails"
    # four changes are no one crossing, though the ends are right
    assert judged("eerf-15", race([(1, 11), (2, 8), (3, 8), (4, 5)], [(1, 10), (2, 9), (3, 7), (4, 6)])) == "fails"
    busy = race([(1, 11), (2, 8)], [(1, 10), (2, 9)])
    busy = [each | {"settings": {"machine_busy": True}} if each.get("axis") == "round" else each for each in busy]
    assert judged("eerf-15", busy) == "not testable"


@pytest.mark.parametrize(("gap", "verdict"), [(0.25, "holds"), (0.0, "fails"), (0.5, "fails"), (0.46875, "holds")])
def test_slightly_better_than_lkrf(gap, verdict):
    assert judged("eerf-17", errors("year", 1000, 20, 8, 8 - gap)) == verdict
    assert judged("eerf-17", errors("year", 500, 20, 8, 9) + errors("year", 1000, 20, 8, 8 - gap)) == verdict
    # LKRF as the paper has it
    walked = walks("year", 1000, "divergence", **{"karff/divergence": ((1.0, 8), (2.0, 9))})
    assert judged("eerf-17", errors("year", 1000, 20, 9, 8 - gap) + walked) == verdict


def test_clearly_better_on_hand_movement():
    others = errors("letter", 100, 20, 8.25, 8) + errors("year", 1000, 20, 8.25, 8)
    assert judged("eerf-18", others + errors("har", 80, 20, 8.75, 8)) == "holds"
    assert judged("eerf-18", others + errors("har", 80, 20, 8.5, 8)) == "partly"
    assert judged("eerf-18", errors("letter", 100, 20, 9, 8) + errors("har", 80, 20, 8.75, 8)) == "partly"
    assert judged("eerf-18", others + errors("har", 80, 20, 8.125, 8)) == "fails"
    assert judged("eerf-18", others) == "not run"


def test_at_or_below_lkrf_at_every_size_with_arc_cosine_features_too():
    assert judged("eerf-20", errors("year", 500, 20, 8, 8) + errors("year", 1000, 20, 8, 7)) == "holds"
    assert judged("eerf-20", errors("year", 1000, 20, 8, 8.125)) == "fails"
    assert judged("eerf-23", errors("year", 1000, 9, 8, 8)) == "holds"
    assert judged("eerf-23", errors("year", 1000, 9, 8, 8.125)) == "partly"
    assert judged("eerf-23", errors("year", 1000, 9, 8, 9)) == "fails"
    assert judged("eerf-23", errors("har", 80, 9, 8, 8)) == "not run"


def test_a_penalty_for_one_size_does_not_suit_another():
    def chosen(**rho):
        return [
            each
            for m, value in rho.items()
            for each in errors("adult", int(m[1:]), [9.0] * 5, methods=("karff",), settings={"options": {"rho": value}})
        ]

    def walked(m, low, high):
        return walks("adult", m, "divergence", **{"karff/divergence": ((0.1, low), (10.0, high))})

    # the losses have a standard error of one; two pairs of sizes are tested, and t(1 - 0.05 / 4; 4) is 3.495
    level, off = [9.0] * 5, [-3.0, 3.0, -1.0, 1.0, 0.0]
    below, above = ([9.0 + gap + each for each in off] for gap in (3.4375, 3.5625))
    split = chosen(m50=0.1, m100=10.0)
    assert judged("eerf-25", split + walked(50, level, above) + walked(100, level, level)) == "holds"
    assert judged("eerf-25", split + walked(50, level, below) + walked(100, level, level)) == "fails"
    # one choice for all sizes loses nothing
    alike = chosen(m50=0.1, m100=0.1)
    assert judged("eerf-25", alike + walked(50, level, above) + walked(100, level, level)) == "fails"
    assert judged("eerf-25", split) == "not run"


def test_the_score_follows_the_spectrum_for_wide_inputs():
    def correlations(*values):
        metric, axis = "score_spectrum_correlation", "input_scale"
        return [eerf_rows.made(metric, value, 0, axis=axis, at=2.0**i) for i, value in enumerate(values)]

    assert judged("eerf-27", correlations(0.5, 0.75, 0.875, 0.9375)) == "holds"
    # not rising throughout, level, and away from one
    dips = [1 - 2.0**-i for i in range(1, 9)]
    dips[3] = dips[2] - 2**-10
    assert judged("eerf-27", correlations(*dips)) == "partly"
    assert judged("eerf-27", correlations(0.875, 0.75, 0.5, 0.25)) == "fails"
    # where inputs are narrow the score knows nothing of the spectrum, which is no asymptote
    assert judged("eerf-27", correlations(0.01, 0.02, 0.03, 0.5, 0.75, 0.875)) == "holds"
    assert judged("eerf-27", correlations(0.1, 0.5, 0.7, 0.71, 0.7125, 0.75)) == "partly"
    assert judged("eerf-27", correlations(0.5, 0.75)) == "not run"
