"""Parameters and data at the ends of the range of floating point: features are right, or one line says why not."""

import re
import warnings

import numpy as np
import pytest
from map_variants import KERNELS, MAPS, build, data

from random_features.kernels import ExponentialPower, Gaussian, GeneralisedCauchy, Matern, Polynomial
from random_features.maps import make_map
from random_features.maps.registry import REGISTRY, supporting

#: Every kernel with frequencies, with parameters for which frequencies overflow in float32, in float64 or in both.
ROUGH = {
    **{name: [type(kernel)(1e-39)] for name, kernel in KERNELS.items() if "length_scale" in kernel.get_params()},
    "gaussian": [Gaussian(1e-39), Gaussian(1e-150)],
    "matern": [Matern(1.0, 1e-3), Matern(1.0, 1e-300)],
    "exponential_power": [ExponentialPower(1.0, 0.05), ExponentialPower(1.0, 1e-3)],
    "generalised_cauchy": [GeneralisedCauchy(1.0, 0.05, 1.0), GeneralisedCauchy(1.0, 1.0, 1e-3)],
}
PAIRS = [(name, kernel) for name in MAPS for kernel in REGISTRY[name].kernels if kernel in ROUGH]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "kernel"), PAIRS)
@pytest.mark.filterwarnings("ignore:prf|mm matches|.*rounding in")
def test_frequencies_that_overflow_are_refused(name, kernel, dtype):
    X, y = data(dtype=dtype)
    for rough in ROUGH[kernel]:
        phi = build(name, kernel=rough)
        try:
            phi.fit(X, y)
        except ValueError as error:
            assert "overflow" in str(error) or name == "nystroem"  # noqa: PT017
            assert not hasattr(phi, "n_columns_")
        else:
            assert np.isfinite(phi.transform(X)).all()


#: Kernels whose features grow with a power of the data.
POWERS = {"arccos0": 0, "arccos1": 1, "arccos2": 2, "linear": 1, "neural_tangent": 1, "polynomial": 3}
EXPONENTS = {np.float32: (-115, -90, -43, 20, 50, 90, 115), np.float64: (-900, -450, -250, 100, 450, 900)}
#: What a map says of data that are too small or too large; the scores of lsrff depend on the data over its penalty.
REFUSED = "scale the (data|targets)|every feature of the pool has the score 0|vectors sum to zero|infinity"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", POWERS)
@pytest.mark.filterwarnings("ignore:.*(singular sample|encountered in)")
def test_features_of_small_and_large_numbers_are_in_proportion_or_refused(kernel, dtype):
    (X, y), stated = data(dtype=dtype), KERNELS | {"polynomial": Polynomial(3, 0.0)}
    for name in filter(MAPS.__contains__, supporting(kernel)):
        expected = (phi := build(name, kernel=stated[kernel], n_components=5)).fit_transform(X, y).astype(np.float64)
        for exponent in EXPONENTS[dtype] if name != "lsrff" else ():
            try:
                features = phi.fit_transform(np.ldexp(X, exponent), y)
            except ValueError as error:
                assert re.search(REFUSED, str(error)), (name, exponent)  # noqa: PT017
                continue
            found, close = np.ldexp(features.astype(float), -exponent * POWERS[kernel]), 1e-3 * abs(expected).max()
            np.testing.assert_allclose(found, expected, atol=close, err_msg=f"{name} {exponent}")


OFFSET = "rounding in float32 spoils the features of numbers as large as 1e+06: centre the data"


@pytest.mark.parametrize("name", [name for name in MAPS if "gaussian" in REGISTRY[name].kernels and name != "nystroem"])
@pytest.mark.filterwarnings("ignore:prf|mm matches")
def test_float32_data_far_from_the_origin_are_warned_of(name):
    """1e6 length scales away float32 is 0.06 apart: kernel errors of 0.1. Near the origin nothing is said."""
    X, y = data(dtype=np.float32)
    phi = build(name, n_components=4).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        phi.transform(X)
        make_map("nystroem", n_components=4, random_state=0).fit(X).transform(X + np.float32(1e6))
    for features in (phi.transform, lambda rows: list(phi.transform_blocks(rows, rows=7))):
        with pytest.warns(UserWarning, match=re.escape(OFFSET)) as caught:
            features(X + np.float32(1e6))
        assert sum(OFFSET in str(each.message) for each in caught) == 1  # for all blocks
