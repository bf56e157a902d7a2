"""Only the corrected test keeps its level for equal methods on overlapping training sets."""

import numpy as np
import pytest

from rfstudy.report.compare import LEVEL, paired

SAMPLES, REPEATS, ROWS = 2000, 10, 120

#: Four binomial standard errors of a rate at the level.
NEAR = 4 * np.sqrt(LEVEL * (1 - LEVEL) / SAMPLES)


def false_alarms(n_train: int, n_test: int, overlap: float) -> float:
    """Return how often two methods that are equally good over all data sets pass as different on one.
    Each predicts its own target (equal in distribution) by the mean over the training rows; its score is the mean
    squared error on the test rows. The data set is drawn anew, its rows are split at random ``REPEATS`` times."""
    rng = np.random.default_rng([n_train, n_test])
    rejected = 0
    for _ in range(SAMPLES):
        targets = rng.standard_normal((2, ROWS))
        order = rng.permuted(np.tile(np.arange(ROWS), (REPEATS, 1)), axis=1)
        train, test = targets[:, order[:, :n_train]], targets[:, order[:, n_train : n_train + n_test]]
        errors = ((test - train.mean(axis=2, keepdims=True)) ** 2).mean(axis=2)
        rejected += paired(*errors, overlap).p < LEVEL
    return rejected / SAMPLES


@pytest.mark.parametrize(("n_train", "n_test"), [(60, 60), (80, 40)])
def test_the_corrected_test_keeps_its_level(n_train, n_test):
    assert abs(false_alarms(n_train, n_test, n_test / n_train) - LEVEL) < NEAR


def test_the_plain_test_does_not():
    assert false_alarms(60, 60, 0.0) > LEVEL + 10 * NEAR
