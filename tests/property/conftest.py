"""What the property tests of the maps share: comparisons of samples with closed forms, and the candidates of a pool."""

import numpy as np
import pytest


@pytest.fixture
def assert_mean():
    def compare(sample, expected):
        """The mean over the first axis, whose entries are independent, against its expectation."""
        sample = np.asarray(sample)
        error = sample.std(axis=0, ddof=1) / np.sqrt(len(sample))
        # Where nothing varies, rounding is left.
        assert np.all(np.abs(sample.mean(axis=0) - expected) < 4 * error + 1e-12 * (1 + np.abs(expected)))

    return compare


@pytest.fixture
def assert_variance():
    def compare(sample, expected, remainder=0.0):
        """The variance of independent draws, whose standard error is sigma^2 sqrt((kurtosis - 1) / N).

        ``remainder`` is a relative error that the formula may have beside that.
        """
        centred = np.asarray(sample) - np.mean(sample)
        variance = (centred**2).mean()
        kurtosis = (centred**4).mean() / variance**2
        error = variance * np.sqrt((kurtosis - 1) / len(centred))
        assert abs(variance - expected) < 4 * error + remainder * expected

    return compare


@pytest.fixture
def candidates():
    def values(phi, X):
        """The candidates' values sqrt(2) cos(w.x + b) or sqrt(2) a(w.x), written out."""
        projections = X @ phi.pool_.frequencies.T
        if phi.kernel_.name == "linear":
            return projections
        if phi.kernel_.name.startswith("arccos"):
            order = phi.kernel_.order
            return np.sqrt(2) * (np.heaviside(projections, 0.5) if order == 0 else np.maximum(projections, 0) ** order)
        return np.sqrt(2) * np.cos(projections + phi.pool_.phases)

    return values
