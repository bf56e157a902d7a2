"""Every map of the registry with its kernels and options, and data to fit it on."""

import numpy as np

from random_features.kernels import (
    ArcCosine,
    Cauchy,
    Gaussian,
    Laplacian,
    Linear,
    NeuralTangent,
    Polynomial,
)
from random_features.maps import make_map
from random_features.maps.registry import REGISTRY, resolved_options

#: All but the one that is for three columns only: test_maps_nsrf_sphere.py.
MAPS = tuple(name for name in REGISTRY if name != "nsrf_sphere")

KERNELS = {
    kernel.name: kernel
    for kernel in (
        Gaussian(2.0),
        Laplacian(3.0),
        Cauchy(3.0),
        ArcCosine(0),
        ArcCosine(1),
        ArcCosine(2),
        NeuralTangent(),
        Polynomial(3, 0.5),
        Linear(),
    )
}

#: Maps that are learned in a game, and a search that is short enough for tests.
GAMES = ("nsrf",)
QUICK_SEARCH = {"n_copies": 12, "n_steps": 3}

#: Every map with its defaults, the options that take another path through the code, and every kernel.
VARIANTS = {
    **{name: (name, {}) for name in MAPS},
    **{f"{name}-phase": (name, {"layout": "phase"}) for name in MAPS if "layout" in resolved_options(name, {})},
    **{
        f"{name}-{kernel}": (name, {"kernel": KERNELS[kernel]})
        for name in MAPS
        for kernel in REGISTRY[name].kernels
        if kernel != "gaussian"
    },
    "rom-sequency": ("rom", {"n_factors": 2, "order": "sequency"}),
    "qmc-sobol": ("qmc", {"sequence": "sobol"}),
    "ssf-single": ("ssf", {"radii": "single"}),
    "ssf-grid": ("ssf", {"radii": "grid", "n_radii": 3}),
    "lsrff-code": ("lsrff", {"mode": "code"}),
    "scrf-output": ("scrf", {"sign_side": "output"}),
    "pmodel-toeplitz": ("pmodel", {"structure": "toeplitz"}),
    "lprff-one-bit": ("lprff", {"n_bits": 1}),
    "sgq-few": ("sgq", {"n_components": 3}),
    "sgq-sqrt-d": ("sgq", {"node": "sqrt_d"}),
    "ssr-butterfly": ("ssr", {"rotation": "butterfly", "weights": "signed"}),
    "slsrff-code": ("slsrff", {"mode": "code"}),
    "slsrff-identity": ("slsrff", {"identity": True, "center_targets": False}),
    "karff-weighted": ("karff", {"weights": "sqrt", "rho": 100.0, "n_candidates": 300}),
    "kprff-share": ("kprff", {"scoring_fraction": 0.3, "n_candidates": 50}),
    "nsrf-code": ("nsrf", {"mode": "code"}),
    "nsrf-random": ("nsrf", {"search": "random", "n_peaks": 3, "dual_step": 0}),
}


def build(variant, **params):
    name, options = VARIANTS[variant]
    options = {"n_components": 21, "random_state": 0, **options, **params}
    if name == "clrff":
        options.setdefault("n_pairs", 300)
    if name == "nsrf":
        options = QUICK_SEARCH | options
    kernel = options.get("kernel")
    if kernel is not None and kernel.name == "linear" and name != "nystroem":
        options["n_components"] = min(options["n_components"], 1 if params.get("n_components") == 1 else 4)
    return make_map(name, **options)


def data(n=40, d=5, dtype=np.float64):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, d)).astype(dtype), np.where(rng.random(n) < 0.5, -1, 1)


def needs_targets(variant):
    return VARIANTS[variant][0] in ("slsrff", "karff", "kprff", *GAMES)
