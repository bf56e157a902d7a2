"""Elementwise functions of tensors against NumPy's in float64."""

import numpy as np
import pytest
import torch

from random_features.arrays import seed_of, seed_sequence
from random_features.tensors import cosine, exponential, sine


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("function", "exact"), [(cosine, np.cos), (sine, np.sin), (exponential, np.exp)])
def test_functions_of_tensors_are_right_to_the_last_digits(function, exact, dtype):
    values = np.random.default_rng(0).normal(scale=20.0, size=(50, 40)).astype(dtype)
    out = np.full((50, 100), np.nan, dtype=dtype)
    function(torch.from_numpy(values), torch.from_numpy(out)[:, 30:70])
    # four units in the last place, of 1 where the function is bounded by it
    expected = exact(values.astype(np.float64))
    tolerance = 4 * np.finfo(dtype).eps * (1.0 if function is not exponential else expected)
    assert (np.abs(out[:, 30:70] - expected) <= tolerance).all()
    assert np.isnan(out[:, :30]).all()
    assert np.isnan(out[:, 70:]).all()


@pytest.mark.parametrize(("function", "exact"), [(cosine, np.cos), (sine, np.sin)])
def test_angles_far_from_zero_keep_their_digits(function, exact):
    angles = np.float32([1e4, 1e5, 1e6, 3e7, -1e9])
    out = torch.empty(5)
    function(torch.from_numpy(angles), out)
    np.testing.assert_allclose(out.numpy(), exact(angles.astype(np.float64)), rtol=0, atol=4 * np.finfo(np.float32).eps)


def test_a_seed_is_that_of_its_values_with_any_numpy_type():
    """The numbers are those of every journal and every published row: no change of the code may move them."""
    assert seed_of(2021, "features", 4, 0.5, True) == 1589111322
    assert seed_sequence(1).entropy == seed_sequence(np.int64(1)).entropy
    alike = [np.int64(2021), np.str_("features"), np.int32(4), np.float64(0.5), np.bool_(True)]
    assert seed_of(*alike) == seed_of(2021, "features", 4, 0.5, True)
    assert len({seed_of(axis) for axis in (1, 1.0, "1", True)}) == 4
