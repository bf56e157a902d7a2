"""The fast Walsh-Hadamard transform against the matrix of scipy."""

import numpy as np
import pytest
import torch
from scipy.linalg import hadamard

from random_features.hadamard import next_power_of_two, sequency_order, walsh_hadamard


@pytest.mark.parametrize("p", [1, 2, 4, 32, 64, 128, 512, 1024])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_transform_is_the_matrix_product(p, dtype):
    values = torch.randn(3, 2, p, generator=torch.Generator().manual_seed(0), dtype=dtype)
    expected = values.numpy() @ (hadamard(p) / np.sqrt(p))
    result, _ = walsh_hadamard(values.clone(), torch.empty_like(values))
    # Orthonormal: rounding grows like sqrt(p) eps at most, the values are of order 1.
    np.testing.assert_allclose(result.numpy(), expected, atol=4 * np.sqrt(p) * torch.finfo(dtype).eps)


@pytest.mark.parametrize("p", [3, 12])
def test_order_must_be_a_power_of_two(p):
    with pytest.raises(ValueError, match=f"power of two, got {p}"):
        walsh_hadamard(torch.zeros(1, p), torch.zeros(1, p))


@pytest.mark.parametrize("p", [1, 2, 8, 64])
def test_sequency_order_sorts_by_sign_changes(p):
    changes = (np.diff(hadamard(p)[sequency_order(p)], axis=1) != 0).sum(axis=1)
    np.testing.assert_array_equal(changes, np.arange(p))


def test_next_power_of_two():
    assert [next_power_of_two(n) for n in (1, 2, 3, 4, 5, 1000, 1024)] == [1, 2, 4, 4, 8, 1024, 1024]
