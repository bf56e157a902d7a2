"""The claims about double descent on made rows."""

import itertools

import pytest
import report_rows
import verdict_rows
from verdict_rows import row

from rfstudy import tidy

#: Rows of the synthetic data, and s of their walks: columns of [cos | sin] are twice as many.
N, SIZES = 100, (10, 25, 50, 60, 100, 200, 400)

ERROR = "approximation_error_frobenius"


def walk(values, metric, split, layout, dataset):
    """Rows of a walk with these means, each repeat a percent apart."""
    shared = {"experiment": "survey-double-descent", "dataset": dataset, "method": "rff", "axis": "s/n", "split": split}
    shared |= {"variant": "phase" if layout == 1 else "", "learner": "" if metric == ERROR else "ridge"}
    shared |= {"n_train": N, "n_test": 50, "d": 60 if dataset == "sonar" else 784}
    return [
        row(metric, value * (1 + 0.01 * (repeat - 1)), at=s / N, n_features=s, n_features_label=f"{s / N:g}n",
            n_columns=layout * s, repeat=repeat, **shared)
        for s, value in zip(SIZES, values, strict=True)
        for repeat in range(3)
    ]  # fmt: skip


#: Means that do all that is claimed, of a peak at the third and at the fifth size.
PEAK = {2: (0.5, 0.9, 5.0, 2.0, 0.8, 0.4, 0.3), 1: (0.5, 0.6, 0.9, 1.2, 5.0, 0.8, 0.4)}
FALL = (1.0, 0.5, 0.2, 0.01, 1e-5, 1e-6, 1e-6)
DECAY = tuple(s**-0.5 for s in SIZES)


def verdict(claim, changed):
    """Verdict and evidence on walks that do all that is claimed, with changed means of one."""
    rows = []
    for dataset, layout in itertools.product(("sonar", "mnist-1-2"), (1, 2)):
        means = {("mse", "test"): PEAK[layout], ("mse", "train"): FALL, (ERROR, "train"): DECAY}
        for of, values in (means | (changed if (dataset, layout) == ("sonar", 2) else {})).items():
            rows += walk(values, *of, layout=layout, dataset=dataset)
    styles, tasks = report_rows.METHODS, report_rows.DATASETS
    return verdict_rows.found_as(claim, tidy.frame(rows), styles=styles, tasks=tasks)


@pytest.mark.parametrize("claim", ["survey-46", "survey-47", "survey-48", "survey-49"])
def test_a_walk_that_does_all_that_is_claimed_holds(claim):
    assert verdict(claim, {})[0] == "holds"


@pytest.mark.parametrize(
    ("claim", "metric", "split", "position", "value"),
    [
        ("survey-46", "mse", "train", 2, 0.6),  # a rise
        ("survey-46", "mse", "train", 5, 2e-3),  # beyond n, and not below a thousandth
        ("survey-47", ERROR, "train", 3, DECAY[2]),  # as large as the one before
        ("survey-48", "mse", "test", 1, 6.0),  # half as many columns as rows
        ("survey-49", "mse", "test", 4, 2.1),  # a rise beyond the peak
    ],
)
def test_one_value_elsewhere_and_a_claim_does_not_hold_everywhere(claim, metric, split, position, value):
    means = {"train": FALL, "test": PEAK[2]}[split] if metric == "mse" else DECAY
    assert verdict(claim, {(metric, split): [*means[:position], value, *means[position + 1 :]]})[0] == "partly"


def test_a_training_error_that_falls_and_stays_above_a_thousandth_is_no_zero():
    # at s = 2n, where the next size is below it
    reported, evidence = verdict("survey-46", {("mse", "train"): [1.0, 0.5, 0.2, 0.1, 0.01, 2e-3, 1e-6]})
    assert reported == "partly"
    assert "largest at s > n over that at s/n = 0.1: sonar 0.00200" in evidence
