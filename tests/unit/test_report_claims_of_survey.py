"""The claims of the survey about the Gaussian kernel that have a test of their own, on made rows at their borders."""

import pytest
import verdict_rows

NINE = ("rff", "orf", "sorf", "rom", "fastfood", "qmc", "ssf", "gq", "lsrff")
SIZES = ("2d", "4d", "16d", "32d")
ERROR = "approximation_error_frobenius"


@pytest.fixture
def judged():
    return verdict_rows.judged


def cell(metric, method, size, value, dataset="eeg", **columns):
    shared = {
        "dataset": dataset,
        "method": method,
        "n_features_label": size,
        "n_features": 10 * int(size[:-1]),
        "d": 10,
    }
    return verdict_rows.row(metric, value, **shared | {"n_train": 100, "n_test": 100} | columns)


def lowest(dataset, *by_size):
    """Errors of the nine maps at four sizes, of which the named one has the lowest."""
    return [
        cell(ERROR, method, size, 0.1 if method == best else 0.2, dataset)
        for size, best in zip(SIZES, by_size, strict=True)
        for method in NINE
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # another map, one more and one fewer are changes; the same two in another order are none
        ((("orf", "orf", "qmc", "qmc"), ("orf", "orf", "orf", "qmc")), "holds"),
        ((("orf", "ssf", "orf", "orf"), ("ssf", "orf", "ssf", "ssf")), "holds"),
        ((("orf", "qmc", "qmc", "orf"), ("orf", "orf", "qmc", "qmc")), "partly"),  # half of them is not most
        ((("orf", "orf", "orf", "orf"), ("orf", "orf", "orf", "orf")), "fails"),
    ],
)
def test_the_best_map_at_few_features_is_not_that_at_many(judged, changes, expected):
    rows = [row for dataset, best in zip(("eeg", "magic04"), changes, strict=True) for row in lowest(dataset, *best)]
    assert judged("survey-30", rows) == expected


def spread(error, accuracy):
    """Nine errors and accuracies that vary by so many percent of their mean."""
    steps = [(-1) ** i * (i > 0) for i in range(9)]  # eight of size one about nothing: the deviation is one
    return [
        row
        for method, step in zip(NINE, steps, strict=True)
        for row in (
            cell(ERROR, method, "2d", 0.2 * (1 + error * step / 100)),
            *(
                cell("accuracy_pct", method, "2d", 80 * (1 + accuracy * step / 100), learner=learner, split="test")
                for learner in ("ridge", "svm")
            ),
        )
    ]


@pytest.mark.parametrize(("error", "expected"), [(5.01, "holds"), (4.99, "fails")])
def test_errors_vary_five_times_as_much_as_accuracies(judged, error, expected):
    assert judged("survey-31", spread(error, 1.0)) == expected


def around_the_median(best, second):
    """Errors of five repeats, each with a deviation of 0.01: seven maps at 0.5, and the two lowest."""
    off = [0.01 * each / 2.5**0.5 for each in (-2, -1, 0, 1, 2)]
    means = dict.fromkeys(NINE, 0.5) | {"orf": best, "sorf": second}
    return [
        cell(ERROR, method, "16d", mean + (each if method in ("orf", "sorf") else -each), "cod-rna", repeat=repeat)
        for method, mean in means.items()
        for repeat, each in enumerate(off)
    ]


def test_two_good_maps_do_not_hide_each_other_from_most_of_the_others(judged):
    # twenty deviations below the median, and none below each other
    assert judged("survey-06", around_the_median(0.3, 0.3)) == "contradicted"
    assert judged("survey-06", around_the_median(0.5, 0.5)) == "holds"
    # 0.02 is the margin of two deviations
    assert judged("survey-06", around_the_median(0.479, 0.479)) == "fails"
    assert judged("survey-06", around_the_median(0.485, 0.485)) == "not testable"
