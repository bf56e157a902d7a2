"""The feature maps by name: their modules, the kernels that they take, and facts about them.

The module imports the standard library only, because a workflow reads it while it parses its rules; a map's own
module is imported when a map is made. A new map is one file and one entry here.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass, field

from random_features.errors import UserError, did_you_mean


@dataclass(frozen=True)
class Entry:
    """The facts about a map.

    ``cost`` is the time to map one row after the set-up, in s frequencies and d columns; ``unbiased`` says whether
    the expectation of the approximate kernel is the kernel; ``defaults`` are the map's own options; ``prefix`` says
    whether the map has the method ``prefix``: the first features of the fitted map are the map at a smaller size, so
    that one fit serves several sizes; ``prefix_needs`` is an option that has to be stated for that.
    """

    module: str
    class_name: str
    family: str
    kernels: tuple[str, ...]
    reference: str
    cost: str = "O(s d)"
    unbiased: bool = False
    data_dependent: bool = False
    defaults: dict = field(default_factory=dict)
    prefix: bool = False
    prefix_needs: str = ""


SHIFT_INVARIANT = ("gaussian", "laplacian", "cauchy")
ARC_COSINE = ("arccos0", "arccos1", "arccos2")
#: With all frequencies of one length only the orders 0 and 1 come out right: order 2 needs E |w|^4 = d (d + 2).
FIXED_RADIUS_ARC_COSINE = ("arccos0", "arccos1")
#: Kernels with frequencies, and the one whose frequencies are normal.
SPECTRAL, GAUSSIAN = (*SHIFT_INVARIANT, *ARC_COSINE), ("gaussian",)

#: The default layout of features: a cosine and a sine of every frequency.
PAIRS = {"layout": "cos_sin"}

#: How the maps that score candidates by their correlation with the targets do it.
SCORING = {"scoring_fraction": 1.0, "scoring_rows": "random", "center_targets": True, "task": "auto"}

REGISTRY = {
    "rff": Entry(
        "montecarlo",
        "RandomFourier",
        "Monte Carlo",
        (*SPECTRAL, "linear"),
        "Rahimi and Recht, NIPS 2007",
        unbiased=True,
        defaults=PAIRS,
    ),
    "orf": Entry(
        "montecarlo",
        "OrthogonalRandom",
        "Monte Carlo",
        (*GAUSSIAN, *ARC_COSINE),
        "Yu et al., NIPS 2016",
        unbiased=True,
        defaults=PAIRS,
    ),
    "sorf": Entry(
        "structured",
        "StructuredOrthogonal",
        "structured",
        (*GAUSSIAN, *FIXED_RADIUS_ARC_COSINE),
        "Yu et al., NIPS 2016",
        "O(s log d)",
        defaults=PAIRS,
    ),
    "rom": Entry(
        "structured",
        "RandomOrthogonalMatrices",
        "structured",
        (*GAUSSIAN, *FIXED_RADIUS_ARC_COSINE),
        "Choromanski, Rowland and Weller, NIPS 2017",
        "O(s log d)",
        defaults={"n_factors": 3, "order": "natural", **PAIRS},
    ),
    "fastfood": Entry(
        "structured",
        "Fastfood",
        "structured",
        (*GAUSSIAN, *ARC_COSINE),
        "Le, Sarlos and Smola, ICML 2013",
        "O(s log d)",
        unbiased=True,
        defaults=PAIRS,
    ),
    "qmc": Entry(
        "quasi",
        "QuasiMonteCarlo",
        "quasi-Monte Carlo",
        SPECTRAL,
        "Yang et al., ICML 2014",
        unbiased=True,
        defaults={"sequence": "halton", **PAIRS},
    ),
    "ssf": Entry(
        "spherical",
        "SphericalStructured",
        "quasi-Monte Carlo",
        (*GAUSSIAN, *FIXED_RADIUS_ARC_COSINE),
        "Lyu, ICML 2017",
        defaults={"radii": "perm", "n_radii": 2, **PAIRS},
    ),
    "gq": Entry(
        "quadrature",
        "GaussianQuadrature",
        "quadrature",
        (*GAUSSIAN, *ARC_COSINE),
        "Dao, De Sa and Re, NIPS 2017",
        defaults={"n_nodes": 3, **PAIRS},
    ),
    "lsrff": Entry(
        "leverage",
        "LeverageScoreFourier",
        "leverage scores",
        SPECTRAL,
        "Li et al., ICML 2019",
        unbiased=True,
        data_dependent=True,
        defaults={"mode": "text", "pool_multiple": 1, "penalty": 0.05, **PAIRS},
    ),
    "nrff": Entry("normalised", "NormalisedFourier", "Monte Carlo", GAUSSIAN, "Li, KDD 2017"),
    "mm": Entry(
        "momentmatching",
        "MomentMatching",
        "quasi-Monte Carlo",
        (*GAUSSIAN, "cauchy", *ARC_COSINE),
        "Shen, Yang and Wang, AAAI 2017",
        defaults=PAIRS,
    ),
    "scrf": Entry(
        "circulant",
        "SignedCirculant",
        "structured",
        SPECTRAL,
        "Feng, Hu and Liao, IJCAI 2015",
        "O(s log d)",
        unbiased=True,
        defaults={"sign_side": "input", **PAIRS},
    ),
    "pmodel": Entry(
        "circulant",
        "PModel",
        "structured",
        (*GAUSSIAN, *ARC_COSINE),
        "Choromanski and Sindhwani, ICML 2016",
        "O(s log d)",
        unbiased=True,
        defaults={"structure": "circulant", **PAIRS},
    ),
    "lprff": Entry(
        "lowprecision",
        "LowPrecisionFourier",
        "low precision",
        GAUSSIAN,
        "Zhang et al., AISTATS 2019",
        unbiased=True,
        defaults={"n_bits": 4},
    ),
    "sgq": Entry(
        "cubature",
        "SparseGridQuadrature",
        "quadrature",
        (*GAUSSIAN, *ARC_COSINE),
        "Dao, De Sa and Re, NIPS 2017",
        "O(s) for s <= d, O(s d) above",
        defaults={"node": "sqrt_d_plus_2"},
    ),
    "ssr": Entry(
        "cubature",
        "SphericalRadial",
        "quadrature",
        (*GAUSSIAN, *ARC_COSINE),
        "Munkhoeva et al., NeurIPS 2018",
        "O(s d), O(s log d) with butterflies",
        defaults={"weights": "selfnorm", "rotation": "haar"},
    ),
    "slsrff": Entry(
        "alignment",
        "SurrogateLeverageFourier",
        "leverage scores",
        SPECTRAL,
        "Liu et al., AAAI 2020",
        unbiased=True,
        data_dependent=True,
        defaults={
            "mode": "text",
            "pool_multiple": 1,
            "identity": False,
            "center_targets": True,
            "task": "auto",
            **PAIRS,
        },
    ),
    "karff": Entry(
        "alignment",
        "KernelAlignmentFourier",
        "kernel alignment",
        (*SPECTRAL, "linear"),
        "Sinha and Duchi, NIPS 2016",
        data_dependent=True,
        prefix=True,
        prefix_needs="n_candidates",
        defaults={"n_candidates": None, "rho": None, "weights": "uniform", **SCORING},
    ),
    "kprff": Entry(
        "alignment",
        "KernelPolarizationFourier",
        "kernel alignment",
        (*SPECTRAL, "linear"),
        "Shahrampour, Beirami and Tarokh, AAAI 2018",
        data_dependent=True,
        prefix=True,
        prefix_needs="n_candidates",
        defaults={"n_candidates": None, **SCORING},
    ),
    "clrff": Entry(
        "compression",
        "CompressedFourier",
        "compression",
        SPECTRAL,
        "Agrawal et al., AISTATS 2019",
        data_dependent=True,
        defaults={"n_candidates": None, "n_pairs": 20_000},
    ),
    "ses": Entry(
        "compression",
        "SteinEffectFourier",
        "kernel alignment",
        GAUSSIAN,
        "Chang et al., IJCAI 2017",
        data_dependent=True,
        defaults={"penalty": 1.0},
    ),
    "rm": Entry(
        "polynomial",
        "RandomMaclaurin",
        "polynomial",
        ("polynomial",),
        "Kar and Karnick, AISTATS 2012",
        unbiased=True,
        defaults={"law": "restricted"},
    ),
    "ts": Entry(
        "polynomial",
        "TensorSketch",
        "polynomial",
        ("polynomial",),
        "Pham and Pagh, KDD 2013",
        "O(d + s log s)",
        unbiased=True,
    ),
    "trp": Entry(
        "polynomial",
        "TensorisedProjection",
        "polynomial",
        ("polynomial",),
        "Meister, Sarlos and Woodruff, NeurIPS 2019",
        unbiased=True,
    ),
    "nsrf": Entry(
        "nsrf",
        "PeakSearchFourier",
        "Fourier peaks",
        GAUSSIAN,
        "Bullins, Zhang and Zhang, ICLR 2018",
        data_dependent=True,
        prefix=True,
        defaults={
            "mode": "text",
            "C": 1.0,
            "dual_step": None,
            "n_peaks": None,
            "search": "langevin",
            "n_copies": 500,
            "n_steps": 100,
            "initial_std": None,
            "step_size": None,
            "noise": None,
            "step_factor": 1.0,
            "noise_factor": 1.0,
        },
    ),
    "nsrf_sphere": Entry(
        "nsrf_sphere",
        "PeakSearchHarmonics",
        "Fourier peaks",
        (*GAUSSIAN, *ARC_COSINE),
        "Bullins, Zhang and Zhang, ICLR 2018",
        "O(s l)",
        data_dependent=True,
        prefix=True,
        defaults={"C": 1.0, "dual_step": None, "degree": 30},
    ),
    "nystroem": Entry(
        "nystroem",
        "Nystroem",
        "Nyström",
        (*SPECTRAL, "neural_tangent", "polynomial", "linear"),
        "Williams and Seeger, NIPS 2001",
        "O(s d + s^2)",
        data_dependent=True,
    ),
}

#: Other names in use: the map they stand for and the options that make the difference.
ALIASES = {
    "rks": ("rff", {"layout": "phase"}),
    "lkrf": ("karff", {}),
    "eerf": ("kprff", {}),
}


def resolve(name: str) -> tuple[str, dict]:
    """The registry's own name and the options of a name or an alias; ``ValueError`` for an unknown one."""
    if name in REGISTRY:
        return name, {}
    if name in ALIASES:
        return ALIASES[name]
    known = [*REGISTRY, *ALIASES]
    raise ValueError(f"no feature map is called {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}")


def resolved_options(name: str, options: dict) -> dict:
    """All own options of a map: the registry's defaults, with those of an alias and then ``options`` laid over.

    Parameters
    ----------
    name : str
        A name of ``list_maps()`` or an alias; ``ValueError`` for an unknown one.
    options : dict
        What an experiment sets; not checked against the map.

    Examples
    --------
    >>> from random_features.maps.registry import resolved_options
    >>> resolved_options("rks", {})
    {'layout': 'phase'}
    """
    name, of_alias = resolve(name)
    return {**REGISTRY[name].defaults, **of_alias, **options}


def has_prefixes(name: str, options: dict) -> bool:
    """Whether one fit of a map with these options serves all sizes up to its own (``RandomFeatureMap.prefix``)."""
    entry = REGISTRY[resolve(name)[0]]
    return entry.prefix and (not entry.prefix_needs or options.get(entry.prefix_needs) is not None)


class Listing(list):
    """A list of mappings with the same keys that is shown as a table of some of them."""

    #: The keys that the table shows.
    COLUMNS = ("name", "family", "kernels", "cost", "reference")

    def __repr__(self):
        rows = [self.COLUMNS, *([_text(item[key]) for key in self.COLUMNS] for item in self)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _text(value) -> str:
    return value if isinstance(value, str) else " ".join(value)


def list_maps() -> Listing:
    """One dict per map: name, family, kernels, data_dependent, unbiased, reference, cost, defaults.

    The list is shown as a table.

    Examples
    --------
    >>> from random_features.maps import list_maps
    >>> [entry["cost"] for entry in list_maps() if entry["name"] == "rff"]
    ['O(s d)']
    """
    facts = ("family", "kernels", "data_dependent", "unbiased", "reference", "cost")
    return Listing(
        {"name": name, **{fact: getattr(entry, fact) for fact in facts}, "defaults": dict(entry.defaults)}
        for name, entry in REGISTRY.items()
    )


def described(name: str) -> str:
    """What the registry knows of a map, a line a fact; ``UserError`` for an unknown name."""
    try:
        name, of_alias = resolve(name)
    except ValueError as error:
        raise UserError(str(error)) from None
    entry = next(item for item in list_maps() if item["name"] == name)
    entry["defaults"] |= of_alias
    shown = {key: value if isinstance(value, (str, bool, dict)) else " ".join(value) for key, value in entry.items()}
    width = max(map(len, shown))
    return "\n".join(f"{key:{width}}  {value}" for key, value in shown.items())


def map_class(name: str) -> type:
    """The class of a map, imported now."""
    entry = REGISTRY[resolve(name)[0]]
    return getattr(importlib.import_module(f"random_features.maps.{entry.module}"), entry.class_name)


def class_named(class_name: str) -> type:
    """The class of maps of this name, imported now; ``AttributeError`` where there is none."""
    for entry in REGISTRY.values():
        if entry.class_name == class_name:
            return getattr(importlib.import_module(f"random_features.maps.{entry.module}"), class_name)
    near = did_you_mean(class_name, class_names())
    raise AttributeError(f"random_features.maps has no {class_name!r}{near}; there are {', '.join(class_names())}")


def class_names() -> list[str]:
    """The names of the classes of all maps."""
    return sorted({entry.class_name for entry in REGISTRY.values()})


def check_kernel(name: str, kernel) -> None:
    """Raise ``ValueError``, naming the kernels that the map supports, unless ``kernel`` is one of them.

    A kernel that is defined elsewhere names in ``like`` the one of these that it is like in all that a map asks of it.
    """
    supported = REGISTRY[name].kernels
    if kernel.name not in supported and getattr(kernel, "like", None) not in supported:
        raise ValueError(f"{name} does not apply to the kernel {kernel.name}; it supports {', '.join(supported)}")


def make_map(name: str, kernel=None, **params):
    """The feature map of a name, unfitted.

    Parameters
    ----------
    name : str
        A name of ``list_maps()`` or an alias.
    kernel : kernel object, "rbf", "linear" or scikit-learn's ``RBF``, optional
        From ``random_features.kernels``, or what ``random_features.maps.stated.as_kernel`` takes. The default is the
        map's own, for most maps the Gaussian kernel of length scale 1.
    **params
        The map's parameters: ``n_components``, ``random_state``, ``device`` and its own options.

    Raises
    ------
    ValueError
        For an unknown name, or a kernel that the map does not support.

    Examples
    --------
    >>> from random_features.kernels import Gaussian
    >>> from random_features.maps import make_map
    >>> make_map("rff", kernel=Gaussian(length_scale=2.0), n_components=64, random_state=0)
    RandomFourier(kernel=Gaussian(length_scale=2.0), n_components=64,
                  random_state=0)
    """
    name, options = resolve(name)
    make = map_class(name)
    if kernel is not None:
        from random_features.maps.stated import as_kernel

        check_kernel(name, as_kernel(kernel))
    params = {**options, **params}
    known = inspect.signature(make).parameters
    for parameter in params:
        if parameter not in known:
            near = did_you_mean(parameter, known)
            raise TypeError(f"{name} has no parameter {parameter!r}{near}; it has {', '.join(known)}")
    return make(kernel=kernel, **params)
