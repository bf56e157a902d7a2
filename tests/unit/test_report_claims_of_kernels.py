"""The claims of the survey on arc-cosine and polynomial kernels, on made rows in which they hold and do not."""

import pytest
import verdict_rows

from rfstudy import tidy

ARC_COSINE = ("arccos0", "arccos1")
EIGHT = ("rff", "orf", "sorf", "rom", "fastfood", "qmc", "ssf", "gq")
SKETCHES = ("rm", "ts", "trp")
SIZES = ("2d", "32d")
DATASETS = ("eeg", "covtype", "letter-am-nz")
NOISE = (-0.02, -0.01, 0.0, 0.01, 0.02)


def cells(metric, value, kernels=ARC_COSINE, methods=EIGHT, datasets=DATASETS, noise=NOISE, **columns):
    """Rows of ``value(kernel, method)`` for every kernel, method, data set and size, one a repeat."""
    experiment = "survey-gaussian-text" if kernels == ("gaussian",) else "survey-kernels-text"
    shared = {"n_train": 100, "n_test": 100, "d": 10, "experiment": experiment} | columns
    return [
        verdict_rows.row(metric, value(kernel, method) * (1 + off / 10) if metric != "accuracy_pct"
                         else value(kernel, method) + off,
                         kernel=kernel, method=method, dataset=dataset, n_features_label=size,
                         n_features=10 * int(size[:-1]), repeat=repeat, **shared)
        for kernel in kernels for method in methods for dataset in datasets for size in SIZES
        for repeat, off in enumerate(noise)
    ]  # fmt: skip


def errors(value, **options):
    return cells("approximation_error_frobenius", value, split="train", **options)


def accuracies(value, **options):
    return cells("accuracy_pct", value, learner="ridge", split="test", **options)


def rounds(value, run="timed", methods=EIGHT, **options):
    """Five rounds of one record in place of the repeats."""
    made = cells("time_feature_s", value, methods=methods, datasets=("covtype",), split="train", **options)
    return [row | {"run": run, "axis": "round", "at": row["repeat"], "repeat": 0} for row in made]


def verdict(identifier, rows):
    return verdict_rows.found_as(identifier, tidy.frame(rows))[0]


def lowest(*best):
    return lambda kernel, method: 0.1 if method in best else 0.2


def test_who_has_the_lowest_error_in_most_cells():
    assert verdict("survey-34", errors(lowest("ssf"))) == "holds"
    assert verdict("survey-34", errors(lowest("qmc"))) == "holds"
    assert verdict("survey-34", errors(lowest("orf"))) == "contradicted"
    # of both kernels together: half of the cells are not most of them
    of_one = errors(lowest("ssf"), kernels=("arccos0",)) + errors(lowest("orf"), kernels=("arccos1",))
    assert verdict("survey-34", of_one) != "holds"


@pytest.mark.parametrize(("ratio", "expected"), [(0.85, "holds"), (1.2, "holds"), (0.7, "partly"), (1.4, "partly")])
def test_orthogonal_maps_are_as_good_as_plain_ones(ratio, expected):
    made = errors(lambda kernel, method: 0.2 * (ratio if method == "orf" else 1.0))
    assert verdict("survey-35", made) == expected
    for kernels in (("arccos0",), ("arccos1",)):
        assert verdict("survey-35", [row for row in made if row["kernel"] in kernels]) == expected


@pytest.mark.parametrize(("factor", "expected"), [(1.1, "holds"), (0.9, "contradicted")])
def test_errors_are_larger_than_with_the_gaussian_kernel_on_the_same_data(factor, expected):
    nine = {"methods": (*EIGHT, "lsrff")}
    gaussian = errors(lambda kernel, method: 0.2, kernels=("gaussian",), **nine)
    made = errors(lambda kernel, method: 0.2 * factor, **nine)
    assert verdict("survey-36", gaussian + made) == expected
    assert verdict("survey-36", made) == "not run"
    assert verdict("survey-36", errors(lambda *of: 0.2, kernels=("gaussian",), n_train=50, **nine) + made) == "not run"
    # of data that the Gaussian kernel was not run on nothing is said
    elsewhere = [row for row in made if row["dataset"] != "eeg"]
    assert verdict("survey-36", [row for row in gaussian if row["dataset"] == "eeg"] + elsewhere) == "not run"


@pytest.mark.parametrize(("gap", "expected"), [(0.02, "holds"), (0.4, "fails"), (3.0, "fails")])
def test_accuracies_differ_by_less_than_two_deviations(gap, expected):
    made = accuracies(lambda kernel, method: 80.0 + gap * (method == "qmc"))
    assert verdict("survey-37", made).replace("contradicted", "fails") == expected


def ordered(kernel, method):
    return 1.0 + EIGHT.index(method)


def test_the_order_of_the_times_is_that_of_the_gaussian_kernel():
    gaussian = rounds(ordered, run="other", kernels=("gaussian",))
    assert verdict("survey-38", rounds(ordered) + gaussian) == "holds"
    assert (
        verdict("survey-38", rounds(lambda kernel, method: 9.0 - ordered(kernel, method)) + gaussian) == "contradicted"
    )
    assert verdict("survey-38", rounds(ordered)) == "not run"


@pytest.mark.parametrize("swapped", [False, True])
def test_times_that_are_of_several_records_are_not_ranked(swapped):
    gaussian = rounds(ordered, run="other", kernels=("gaussian",))
    made = rounds(ordered)
    apart = [row | {"run": row["method"]} for row in made]
    rows = gaussian + apart if not swapped else made + [row | {"run": row["method"]} for row in gaussian]
    assert verdict("survey-38", rows) == "not testable"


def test_times_beside_other_work_are_not_ranked():
    contended = [row | {"settings": {"contended": True}} for row in rounds(ordered)]
    assert verdict("survey-38", contended + rounds(ordered, run="other", kernels=("gaussian",))) == "not testable"


@pytest.mark.parametrize(
    ("ts", "trp", "expected"), [(80.0, 80.01, "holds"), (80.0, 70.0, "partly"), (60.0, 60.01, "fails")]
)
def test_two_sketches_are_alike_and_better_than_the_third(ts, trp, expected):
    level = {"rm": 70.0, "ts": ts, "trp": trp}
    made = accuracies(lambda kernel, method: level[method], kernels=("polynomial",), methods=SKETCHES)
    assert verdict("survey-39", made) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ((1.0, 3.0, 2.0), "holds"),
        ((2.0, 3.0, 1.0), "partly"),
        ((1.0, 2.0, 3.0), "partly"),
        ((3.0, 1.0, 2.0), "contradicted"),
    ],
)
def test_one_sketch_is_the_quickest_and_another_takes_the_most_time(seconds, expected):
    level = dict(zip(SKETCHES, seconds, strict=True))
    made = rounds(lambda kernel, method: level[method], kernels=("polynomial",), methods=SKETCHES)
    assert verdict("survey-40", made) == expected
    # of several records no ratio is taken
    assert verdict("survey-40", [row | {"run": row["method"]} for row in made]) == "not run"


def test_what_is_not_of_the_kernel_says_nothing():
    assert verdict("survey-37", accuracies(lambda kernel, method: 80.0, kernels=("polynomial",))) == "not run"
