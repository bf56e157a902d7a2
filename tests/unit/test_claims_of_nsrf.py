"""Claims of the paper on learned features with a test of their own or without measured rows, at their borders."""

import itertools
import math

import pytest
from verdict_rows import judged, repeated, row

from rfstudy.report.claims.nsrf import EIGHT

TRUCK = "cifar10-auto-truck"
SETTINGS = ("/half-copies", "/twice-copies", "/half-step", "/twice-step", "/half-noise", "/twice-noise")


def cell(method, size, value, dataset="windmill", metric="accuracy_pct", **columns):
    """A row of a map at a size; ``method`` may have a variant behind a stroke."""
    method, _, variant = method.partition("/")
    learner = {"learner": "l1_svm"} if metric.endswith("accuracy_pct") else {}
    split = "train" if metric.startswith("train") else "test"
    shared = {"dataset": dataset, "method": method, "variant": variant, "split": split}
    shared |= {"n_features": size, "n_features_label": str(size)}
    return row(metric, value, **shared | learner | columns)


def grid(dataset=TRUCK, **by_method):
    """Accuracies of maps, as rff={100: 70, 500: 71}."""
    return [cell(method, size, value, dataset) for method, of in by_method.items() for size, value in of.items()]


def exact(kernel, value, dataset="windmill", factor=None, split="test"):
    """A row of a machine on an exact kernel."""
    axis = {} if factor is None else {"axis": "factor", "at": factor}
    return row("accuracy_pct", value, dataset=dataset, kernel=kernel, learner="kernel_svm", split=split, **axis)


def taken(total, phases, dataset, **columns):
    """Five rounds of training in so many seconds, the same in each of its phases."""
    return [
        row(f"time_{phase}_s", total / len(phases), dataset=dataset, axis="round", at=float(number), split="train",
            **columns, **({"learner": learner} if phase == "fit" else {}))
        for number in range(5) for phase, learner in phases.items()
    ]  # fmt: skip


def combined(total, dataset="windmill"):
    """The times of a learned combination of kernels."""
    return taken(total, {"transform": "", "fit": "kernel_svm"}, dataset, method="", kernel="combination")


def learned(method, total, dataset="windmill"):
    """The times of a learned map and of the machine on its features."""
    phases = {"draw": "", "learn": "", "transform": "", "fit": "l1_svm"}
    return taken(total, phases, dataset, method=method, n_features=100, n_features_label="100")


def along(axis, values, metric, method="nsrf", dataset="windmill", repeat=0, **sizes):
    """Rows of a metric along an axis, as {at: value}; ``sizes`` gives m where it is not the place."""
    m = sizes.get("m", {})
    return [
        cell(method, int(m.get(at, at)), value, dataset, metric, axis=axis, at=float(at), repeat=repeat)
        for at, value in values.items()
    ]


def steps(values, metric="best_potential", dataset="mnist-4-9", **columns):
    return along("steps", values, metric, dataset=dataset, **columns)


def boxes(gaps, size=100):
    """Gaps of variants by C; the method itself has the default, C = 1."""
    return [
        cell("nsrf" if C == 1 else f"nsrf/box-{i}", size, gap, metric="duality_gap", axis="iteration", at=10.0,
             settings={"options": {} if C == 1 else {"C": C}})
        for i, (C, gap) in enumerate(gaps.items())
    ]  # fmt: skip


def around_a_power(power, error):
    """Gaps by C whose least-squares power has, to 2 %, this standard error: the residuals are quadratic in log C."""
    residuals = dict(zip((0.25, 0.5, 1, 2, 4), (2, -1, -2, -1, 2), strict=True))
    return {C: C**power * math.exp(error * residual) for C, residual in residuals.items()}


def timed(method, size, seconds, dataset="mnist-4-9"):
    """Five rounds of a time."""
    return [cell(method, size, seconds, dataset, "time_learn_s", axis="round", at=float(i)) for i in range(5)]


def accuracy_of_two(one, ten):
    values = itertools.product(("mnist-4-9", TRUCK), (("nsrf", ten), ("nsrf/one", one)))
    return repeated([cell(method, 100, value, dataset) for dataset, (method, value) in values])


def times_of_two(one, ten):
    return [each for d in ("mnist-4-9", TRUCK) for each in timed("nsrf", 20, ten, d) + timed("nsrf/one", 20, one, d)]


#: Exact kernels with their accuracies and widths: 92 is the best.
RIVALS = (("gaussian", 90, 1), ("gaussian", 92, 0.5), ("arccos0", 91, None), ("arccos1", 60, None))

CASES = [
    # no width of the Gaussian kernel reaches 95 %
    ("nsrf-01", [exact("gaussian", 94.99, factor=1), exact("gaussian", 80, factor=2)], "holds"),
    ("nsrf-01", [exact("gaussian", 92, factor=1), exact("gaussian", 95, factor=0.5)], "fails"),
    ("nsrf-01", [exact("gaussian", 92, factor=1), exact("gaussian", 99, factor=0.5, split="train")], "holds"),
    ("nsrf-01", [exact("gaussian", 89.2, factor=1), exact("gaussian", 80, factor=0.5)], "fails"),
    ("nsrf-01", [exact("arccos0", 99)], "not run"),
    # no order of the arc-cosine kernel reaches 97 % on the sphere; the checkerboard was chosen by that
    ("nsrf-02", [exact("arccos0", 96.9, "checkerboard"), exact("arccos1", 53, "checkerboard")], "holds"),
    ("nsrf-02", [exact("arccos0", 97, "checkerboard"), exact("arccos1", 53, "checkerboard")], "fails"),
    ("nsrf-02", [exact("arccos0", 97, "checkerboard"), exact("arccos1", 53, "checkerboard")], "not testable"),
    ("nsrf-02", [exact("arccos0", 93.2, "checkerboard"), exact("arccos1", 53, "checkerboard")], "fails"),
    ("nsrf-02", [exact("arccos0", 90)], "not run"),
    # three points over the best exact kernel at the median width, on both
    *(
        ("nsrf-06", [
            cell("nsrf", 1000, plane), cell("nsrf_sphere", 100, sphere, "checkerboard"),
            *(exact(k, v, d, f) for d in ("windmill", "checkerboard") for k, v, f in RIVALS),
        ], verdict)
        for plane, sphere, verdict in ((95, 95, "holds"), (94.99, 95, "partly"), (94, 94.9, "fails"))
    ),
    ("nsrf-06", [cell("nsrf", 1000, 99), exact("gaussian", 90, factor=1)], "not run"),
    # the best of three at every size, each on its own data set
    *(
        (f"nsrf-{7 + i:02d}", [
            each | {"repeat": repeat} for repeat in range(trials)
            for each in grid(dataset, rff={100: 80, 500: 81}, karff={100: 79, 500: 82}, nsrf={100: own, 500: 83})
        ], verdict)
        for i, dataset in enumerate(EIGHT)
        for own, trials, verdict in ((80.1, 2, "holds"), (80, 2, "partly"), (80.1, 1, "not testable"))
    ),
    *((f"nsrf-{7 + i:02d}", grid(EIGHT[i - 1], rff={100: 1}, karff={100: 1}, nsrf={100: 2}), "not run")
      for i in range(8)),
    # under 30 seconds with 100 features
    *(
        ("nsrf-19", timed("nsrf", 100, took) + timed("nsrf", 500, 99.0), verdict)
        for took, verdict in ((29.9, "holds"), (30.0, "fails"), (29.9, "not testable"))
    ),
    # the gap over the better of the two is largest at the smallest size
    ("nsrf-15", grid(rff={100: 70, 500: 71}, karff={100: 72, 500: 70}, nsrf={100: 74.1, 500: 73}), "holds"),
    ("nsrf-15", grid(rff={100: 70, 500: 71}, karff={100: 72, 500: 70}, nsrf={100: 74, 500: 73}), "fails"),
    ("nsrf-15", grid(rff={100: 70}, karff={100: 72}, nsrf={100: 74}), "not run"),
    # 100 features above 5000 of either
    ("nsrf-16", grid(rff={5000: 80}, karff={5000: 81}, nsrf={100: 81.1}), "holds"),
    ("nsrf-16", grid(rff={5000: 80}, karff={5000: 81}, nsrf={100: 81}), "fails"),
    ("nsrf-16", grid(rff={5000: 80}, karff={5000: 79}, nsrf={100: 80}), "fails"),
    ("nsrf-16", grid(rff={1000: 80}, karff={1000: 79}, nsrf={100: 90}), "not run"),
    # no dip of more than 0.2, and no less at 5000 than at 1000
    ("nsrf-17", grid(nsrf={100: 80, 500: 79.8125, 1000: 85, 5000: 85}), "holds"),
    ("nsrf-17", grid(nsrf={100: 80, 500: 79.79, 1000: 85, 5000: 85}), "partly"),
    ("nsrf-17", grid(nsrf={100: 80, 500: 79, 1000: 85, 5000: 84.9}), "fails"),
    # the mean over all cells within half a point
    ("nsrf-18", [each for d in EIGHT for each in grid(d, rff={100: 70, 500: 71}, karff={100: 71, 500: 71})], "holds"),
    ("nsrf-18", [each for d in EIGHT for each in grid(d, rff={100: 70, 500: 71}, karff={100: 71.1, 500: 71})],
     "contradicted"),
    ("nsrf-18",
     [each for i, d in enumerate(EIGHT) for each in grid(d, rff={100: 70}, karff={100: 70.4 + (i % 2) * 2 - 1})],
     "undecided"),
    ("nsrf-18", grid(rff={100: 70}, karff={100: 70}), "undecided"),
    # a standard deviation below half a point, and at most the one of plain features; 0, 1, 2, 3, 4 have sqrt(5/2)
    *(
        ("nsrf-20",
         [cell(m, 100, 80 + by * i, TRUCK, repeat=i) for m, by in (("nsrf", a), ("rff", b)) for i in range(repeats)],
         verdict)
        for a, b, repeats, verdict in (
            (0.31, 0.31, 5, "holds"), (0.32, 2, 5, "fails"), (0.3, 0.2, 5, "fails"), (0.31, 2, 5, "holds"),
            (0.31, 2, 4, "not testable"),
        )
    ),
    # nine tenths of the best of 1000 steps after 100
    ("nsrf-21", steps({10: 0.1, 100: 0.9, 1000: 1.0}), "holds"),
    ("nsrf-21", steps({100: 0.89, 1000: 1.0}), "fails"),
    ("nsrf-21", steps({10: 0.9, 1000: 1.0}), "not run"),
    # starts within ten percent, and lengths that do not grow
    *(
        (
            "nsrf-22",
            [each for i, value in enumerate(found) for each in steps({100: value, 1000: 1.0}, repeat=i)]
            + [each for i in (0, 1) for each in steps({100: length, 1000: 1.0}, "selected_norm", repeat=i)],
            verdict,
        )
        for found, length, verdict in (
            ((0.9, 1.0), 0.9, "holds"), ((0.89, 1.0), 0.9, "partly"), ((0.89, 1.0), 0.89, "fails"),
        )
    ),
    # more at 5000 than at 100
    ("nsrf-23", grid(nsrf={100: 80, 5000: 80.1}), "holds"),
    ("nsrf-23", grid(nsrf={100: 80, 5000: 80}), "fails"),
    # weights that move to the border at every look
    ("nsrf-24", along("iteration", {0: 1, 1: 1.1, 5: 2, 30: 7}, "boundary_weight_ratio"), "holds"),
    ("nsrf-24", along("iteration", {0: 1, 1: 1.1, 5: 1.1}, "boundary_weight_ratio"), "fails"),
    ("nsrf-24", along("iteration", {0: 3, 1: 2, 5: 1}, "boundary_weight_ratio"), "contradicted"),
    ("nsrf-24", along("iteration", {0: 3}, "boundary_weight_ratio"), "not run"),
    # a larger area at 300 than at the start
    ("nsrf-25", along("iteration", {0: 30, 30: 30.1}, "peak_area", m={30: 300}), "holds"),
    ("nsrf-25", along("iteration", {0: 30, 30: 30}, "peak_area", m={30: 300}), "fails"),
    ("nsrf-25", along("iteration", {0: 30, 30: 29}, "peak_area", m={30: 300}), "contradicted"),
    ("nsrf-25", along("iteration", {0: 30, 5: 90}, "peak_area", m={5: 50}), "not run"),
    # a hundred times the time, kernel matrices and maps included
    ("nsrf-26", combined(100.1) + learned("nsrf", 1), "holds"),
    ("nsrf-26", combined(100) + learned("nsrf", 1), "fails"),
    ("nsrf-26", combined(0.9) + learned("nsrf", 1), "contradicted"),
    *(("nsrf-26", combined(101) + more, "not run") for more in (learned("nsrf", 1, "checkerboard"), [])),
    # ten of a round as good as one, and five times as quick
    ("nsrf-27", accuracy_of_two(90, 89.51) + times_of_two(5, 1), "holds"),
    ("nsrf-27", accuracy_of_two(90, 89.5) + times_of_two(5, 1), "partly"),
    *(("nsrf-27", accuracy_of_two(90, 90) + times_of_two(few, 1), "partly") for few in (4.9, 20.1)),
    ("nsrf-27", accuracy_of_two(90, 89) + times_of_two(4, 1), "fails"),
    *(
        ("nsrf-29", [cell("nsrf_sphere", 100, 99, "checkerboard-fine"),
                     cell("nsrf_sphere/degree-62", 100, more, "checkerboard-fine")], verdict)
        for more, verdict in ((99.25, "holds"), (98.75, "holds"), (99.31, "fails"), (98.69, "fails"))
    ),
    *(
        ("nsrf-30", repeated([cell("nsrf", size, 85.3, TRUCK), cell("nsrf/half-copies", size, 85, TRUCK),
                              *(cell(f"nsrf{v}", size, 85.2, TRUCK) for v in SETTINGS[1:-1]),
                              cell(f"nsrf{SETTINGS[-1]}", size, 85 + most, TRUCK)]), verdict)
        for size, most, verdict in (
            (1000, 0.99, "holds"), (1000, 1.0, "fails"), (1000, 1.01, "contradicted"), (100, 0.5, "not run"),
        )
    ),
    ("nsrf-30", [cell(f"nsrf{v}", 1000, 85, TRUCK) for v in ("", *SETTINGS)], "undecided"),
    # a power of C from one to two
    ("nsrf-31", boxes({0.5: 0.5, 1: 1, 2: 2, 4: 4}), "holds"),
    ("nsrf-31", boxes({0.5: 0.25, 1: 1, 2: 4, 4: 16}), "holds"),
    ("nsrf-31", boxes({0.5: 0.24, 1: 1, 2: 4.2, 4: 17}), "contradicted"),
    # 2.10 with a standard error of 0.10 is no other power than 2, with one of 0.02 it is
    ("nsrf-31", boxes(around_a_power(2.1, 0.1)), "holds"),
    ("nsrf-31", boxes(around_a_power(2.1, 0.02)), "contradicted"),
    ("nsrf-31", boxes({0.5: 0.6, 1: 1, 2: 1.7, 4: 3}), "contradicted"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "rows", "verdict"), CASES)
def test_a_claim_at_its_border(claim, rows, verdict):
    # its tests alone are what a border is of, also where the claim is set aside
    alone = {} if verdict == "not testable" else {"not_testable": ""}
    assert judged(claim, rows, **alone) == verdict
