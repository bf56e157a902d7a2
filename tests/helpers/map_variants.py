"""Every map of the registry with its kernels and options, and data to fit it on."""

from functools import cache

import numpy as np
import pytest

from random_features import kernels
from random_features.maps import make_map
from random_features.maps.registry import REGISTRY, resolved_options

#: All but the one that is for three columns only: test_maps_nsrf_sphere.py.
MAPS = tuple(name for name in REGISTRY if name != "nsrf_sphere")

KERNELS = {
    kernel.name: kernel
    for kernel in (
        kernels.Gaussian(2.0), kernels.Laplacian(3.0), kernels.Cauchy(3.0), kernels.Matern(3.0, 1.5),
        kernels.ExponentialPower(3.0, 1.5), kernels.GeneralisedCauchy(3.0, 1.5, 2.0),
        *(kernels.ArcCosine(order) for order in (0, 1, 2)), kernels.NeuralTangent(), kernels.Polynomial(3, 0.5),
        kernels.Linear(),
    )
}  # fmt: skip

#: Maps that are learned in a game, and a search that is short enough for tests.
GAMES = ("nsrf",)
QUICK_SEARCH = {"n_copies": 12, "n_steps": 3}

#: Every map with every other kernel that it takes.
WITH_KERNELS = {
    f"{name}-{kernel}": (name, {"kernel": KERNELS[kernel]})
    for name in MAPS
    for kernel in REGISTRY[name].kernels
    if kernel != "gaussian"
}

#: One map for every way in which a kernel goes through the code of the maps: frequencies without moments and by
#: quantiles, every activation, candidates that are columns, and kernels without frequencies.
KERNEL_PATHS = (
    "rff-laplacian", "rff-arccos0", "rff-linear", "qmc-cauchy", "fastfood-arccos2", "scrf-cauchy", "lsrff-arccos1",
    "sgq-arccos0", "ssr-arccos1", "karff-linear", "kprff-linear", "clrff-arccos2", "nystroem-laplacian",
    "nystroem-polynomial", "rff-matern", "orf-exponential_power", "sorf-matern", "pmodel-generalised_cauchy",
    "sgq-matern", "lsrff-matern",
)  # fmt: skip

#: Every map with its defaults, the options that take another path through the code, and the kernels that do.
VARIANTS = {
    **{name: (name, {}) for name in MAPS},
    **{f"{name}-phase": (name, {"layout": "phase"}) for name in ("rff", "sorf", "lsrff")},
    **{variant: WITH_KERNELS[variant] for variant in KERNEL_PATHS},
    "rom-sequency": ("rom", {"n_factors": 2, "order": "sequency"}),
    "qmc-sobol": ("qmc", {"sequence": "sobol"}),
    "ssf-single": ("ssf", {"radii": "single"}),
    "ssf-grid": ("ssf", {"radii": "grid", "n_radii": 3}),
    "lsrff-code": ("lsrff", {"mode": "code"}),
    "prf-independent": ("prf", {"directions": "independent"}),
    "prf-simplex": ("prf", {"directions": "simplex"}),
    "scrf-output": ("scrf", {"sign_side": "output"}),
    "pmodel-toeplitz": ("pmodel", {"structure": "toeplitz"}),
    "lprff-one-bit": ("lprff", {"n_bits": 1}),
    "sgq-few": ("sgq", {"n_components": 3}),
    "sgq-sqrt-d": ("sgq", {"node": "sqrt_d"}),
    "ssr-butterfly": ("ssr", {"rotation": "butterfly", "weights": "signed"}),
    "slsrff-code": ("slsrff", {"mode": "code"}),
    "slsrff-identity": ("slsrff", {"identity": True, "center_targets": False}),
    "karff-weighted": ("karff", {"weights": "sqrt", "rho": 100.0, "n_candidates": 300}),
    "karff-distinct": ("karff", {"distinct": True}),
    "kprff-share": ("kprff", {"scoring_fraction": 0.3, "n_candidates": 50}),
    "orf-paired": ("orf", {"lengths": "paired"}),
    "lprff-lloyd-max": ("lprff", {"rounding": "lloyd_max"}),
    "trp-complex": ("trp", {"entries": "complex"}),
    "nystroem-kmeans": ("nystroem", {"landmarks": "kmeans"}),
    "nystroem-rpcholesky": ("nystroem", {"landmarks": "rpcholesky"}),
    "nsrf-code": ("nsrf", {"mode": "code"}),
    "nsrf-random": ("nsrf", {"search": "random", "n_peaks": 3, "dual_step": 0}),
}

#: The layouts of the maps of which ``VARIANTS`` has one only.
WITH_PHASES = {f"{name}-phase": (name, {"layout": "phase"}) for name in MAPS if "layout" in resolved_options(name, {})}

#: All of them.
EVERY = WITH_KERNELS | WITH_PHASES | VARIANTS


def slow_unless_plain(variants):
    """The variants as parameters of a test, all but maps with their defaults marked as slow."""
    return [variant if variant in MAPS else pytest.param(variant, marks=pytest.mark.slow) for variant in variants]


every_map = pytest.mark.parametrize("variant", slow_unless_plain(VARIANTS))


def tolerance(variant, dtype):
    """Return how far features of a type may be off, relative to the largest: in float32 by some roundings of angles up
    to about 50, where a float32 is 4e-6 apart. The Laplacian kernel's frequencies have no bound."""
    if dtype == np.float64:
        return 1e-11
    return 5e-3 if "laplacian" in variant else 5e-5


def build(variant, **params):
    """The map of a variant of ``EVERY``, with 21 components unless ``params`` say otherwise."""
    name, options = EVERY[variant]
    options = {"n_components": 21, "random_state": 0, **options, **params}
    if name == "clrff":
        options.setdefault("n_pairs", 300)
    if name == "nsrf":
        options = QUICK_SEARCH | options
    kernel = options.get("kernel")
    if kernel is not None and kernel.name == "linear" and name != "nystroem":
        options["n_components"] = min(options["n_components"], 1 if params.get("n_components") == 1 else 4)
    return make_map(name, **options)


@cache
def fitted(variant, dtype=np.float64):
    """The map of a variant fitted on ``data`` by the CPU, and its features of these rows: shared, so only read them."""
    X, y = data(dtype=dtype)
    phi = build(variant, device="cpu").fit(X, y)  # a test with a card may be the first to ask
    Z = phi.transform(X)
    Z.flags.writeable = False
    return phi.set_params(device="auto"), Z


def data(n=40, d=5, dtype=np.float64):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, d)).astype(dtype), np.where(rng.random(n) < 0.5, -1, 1)
