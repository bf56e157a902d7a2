"""Maps of plain frequencies: their features are the trigonometry of the projections on them, column by column."""

import numpy as np
import pytest

from random_features.kernels import Gaussian
from random_features.maps import make_map

VARIANTS = {
    **{
        name: (name, {})
        for name in ("rff", "orf", "sorf", "rom", "fastfood", "qmc", "ssf", "gq", "mm", "scrf", "pmodel")
    },
    "rom-sequency": ("rom", {"n_factors": 2, "order": "sequency"}),
    "qmc-sobol": ("qmc", {"sequence": "sobol"}),
    "ssf-single": ("ssf", {"radii": "single"}),
    "ssf-grid": ("ssf", {"radii": "grid", "n_radii": 3}),
    "scrf-output": ("scrf", {"sign_side": "output"}),
    "pmodel-toeplitz": ("pmodel", {"structure": "toeplitz"}),
}


@pytest.mark.parametrize("layout", ["cos_sin", "phase"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_features_are_the_trigonometry_of_the_projections(variant, layout):
    name, options = VARIANTS[variant]
    X = np.random.default_rng(1).normal(size=(40, 6))
    phi = make_map(name, Gaussian(1.5), n_components=21, layout=layout, random_state=0, **options).fit(X)
    W = phi.dense_frequencies()
    assert W.shape == (21, 6)
    if layout == "phase":
        expected = np.sqrt(2 / 21) * np.cos(X @ W.T + phi.phases_)
    else:
        expected = np.hstack([np.cos(X @ W.T), np.sin(X @ W.T)]) / np.sqrt(21)
        # cos^2 + sin^2 = 1
        np.testing.assert_allclose((phi.transform(X) ** 2).sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(phi.transform(X), expected, atol=1e-12)
