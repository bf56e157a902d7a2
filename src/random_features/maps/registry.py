"""The feature maps by name: where each lives, which kernels it takes and what is known of it.

The module imports the standard library only, because a workflow reads it while it parses its rules; a map's own
module is imported when a map is made. A new map is one file and one entry here.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass, field
from pathlib import Path

from random_features.errors import UserError, did_you_mean


@dataclass(frozen=True)
class Entry:
    """What the registry knows of a map.

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
    cost: str
    unbiased: bool
    data_dependent: bool = False
    defaults: dict = field(default_factory=dict)
    prefix: bool = False
    prefix_needs: str = ""


SHIFT_INVARIANT = ("gaussian", "laplacian", "cauchy")
ARC_COSINE = ("arccos0", "arccos1", "arccos2")
#: With all frequencies of one length only the orders 0 and 1 come out right: order 2 needs E |w|^4 = d (d + 2).
FIXED_RADIUS_ARC_COSINE = ("arccos0", "arccos1")

#: How the maps that score candidates by their correlation with the targets do it.
SCORING = {"scoring_fraction": 1.0, "scoring_rows": "random", "center_targets": True, "task": "auto"}

REGISTRY = {
    "rff": Entry(
        "montecarlo",
        "RandomFourier",
        "Monte Carlo",
        (*SHIFT_INVARIANT, *ARC_COSINE, "linear"),
        unbiased=True,
        reference="Rahimi and Recht, NIPS 2007",
        cost="O(s d)",
        defaults={"layout": "cos_sin"},
    ),
    "orf": Entry(
        "montecarlo",
        "OrthogonalRandom",
        "Monte Carlo",
        ("gaussian", *ARC_COSINE),
        unbiased=True,
        reference="Yu et al., NIPS 2016",
        cost="O(s d)",
        defaults={"layout": "cos_sin"},
    ),
    "sorf": Entry(
        "structured",
        "StructuredOrthogonal",
        "structured",
        ("gaussian", *FIXED_RADIUS_ARC_COSINE),
        unbiased=False,
        reference="Yu et al., NIPS 2016",
        cost="O(s log d)",
        defaults={"layout": "cos_sin"},
    ),
    "rom": Entry(
        "structured",
        "RandomOrthogonalMatrices",
        "structured",
        ("gaussian", *FIXED_RADIUS_ARC_COSINE),
        unbiased=False,
        reference="Choromanski, Rowland and Weller, NIPS 2017",
        cost="O(s log d)",
        defaults={"n_factors": 3, "order": "natural", "layout": "cos_sin"},
    ),
    "fastfood": Entry(
        "structured",
        "Fastfood",
        "structured",
        ("gaussian", *ARC_COSINE),
        unbiased=True,
        reference="Le, Sarlos and Smola, ICML 2013",
        cost="O(s log d)",
        defaults={"layout": "cos_sin"},
    ),
    "qmc": Entry(
        "quasi",
        "QuasiMonteCarlo",
        "quasi-Monte Carlo",
        (*SHIFT_INVARIANT, *ARC_COSINE),
        unbiased=True,
        reference="Yang et al., ICML 2014",
        cost="O(s d)",
        defaults={"sequence": "halton", "layout": "cos_sin"},
    ),
    "ssf": Entry(
        "spherical",
        "SphericalStructured",
        "quasi-Monte Carlo",
        ("gaussian", *FIXED_RADIUS_ARC_COSINE),
        unbiased=False,
        reference="Lyu, ICML 2017",
        cost="O(s d)",
        defaults={"radii": "perm", "n_radii": 2, "layout": "cos_sin"},
    ),
    "gq": Entry(
        "quadrature",
        "GaussianQuadrature",
        "quadrature",
        ("gaussian", *ARC_COSINE),
        unbiased=False,
        reference="Dao, De Sa and Re, NIPS 2017",
        cost="O(s d)",
        defaults={"n_nodes": 3, "layout": "cos_sin"},
    ),
    "lsrff": Entry(
        "leverage",
        "LeverageScoreFourier",
        "leverage scores",
        (*SHIFT_INVARIANT, *ARC_COSINE),
        data_dependent=True,
        unbiased=True,
        reference="Li et al., ICML 2019",
        cost="O(s d)",
        defaults={"mode": "text", "pool_multiple": 1, "penalty": 0.05, "layout": "cos_sin"},
    ),
    "nrff": Entry(
        "normalised",
        "NormalisedFourier",
        "Monte Carlo",
        ("gaussian",),
        unbiased=False,
        reference="Li, KDD 2017",
        cost="O(s d)",
    ),
    "mm": Entry(
        "momentmatching",
        "MomentMatching",
        "quasi-Monte Carlo",
        ("gaussian", "cauchy", *ARC_COSINE),
        unbiased=False,
        reference="Shen, Yang and Wang, AAAI 2017",
        cost="O(s d)",
        defaults={"layout": "cos_sin"},
    ),
    "scrf": Entry(
        "circulant",
        "SignedCirculant",
        "structured",
        (*SHIFT_INVARIANT, *ARC_COSINE),
        unbiased=True,
        reference="Feng, Hu and Liao, IJCAI 2015",
        cost="O(s log d)",
        defaults={"sign_side": "input", "layout": "cos_sin"},
    ),
    "pmodel": Entry(
        "circulant",
        "PModel",
        "structured",
        ("gaussian", *ARC_COSINE),
        unbiased=True,
        reference="Choromanski and Sindhwani, ICML 2016",
        cost="O(s log d)",
        defaults={"structure": "circulant", "layout": "cos_sin"},
    ),
    "lprff": Entry(
        "lowprecision",
        "LowPrecisionFourier",
        "low precision",
        ("gaussian",),
        unbiased=True,
        reference="Zhang et al., AISTATS 2019",
        cost="O(s d)",
        defaults={"n_bits": 4},
    ),
    "sgq": Entry(
        "cubature",
        "SparseGridQuadrature",
        "quadrature",
        ("gaussian", *ARC_COSINE),
        unbiased=False,
        reference="Dao, De Sa and Re, NIPS 2017",
        cost="O(s) for s <= d, O(s d) above",
        defaults={"node": "sqrt_d_plus_2"},
    ),
    "ssr": Entry(
        "cubature",
        "SphericalRadial",
        "quadrature",
        ("gaussian", *ARC_COSINE),
        unbiased=False,
        reference="Munkhoeva et al., NeurIPS 2018",
        cost="O(s d), O(s log d) with butterflies",
        defaults={"weights": "selfnorm", "rotation": "haar"},
    ),
    "slsrff": Entry(
        "alignment",
        "SurrogateLeverageFourier",
        "leverage scores",
        (*SHIFT_INVARIANT, *ARC_COSINE),
        data_dependent=True,
        unbiased=True,
        reference="Liu et al., AAAI 2020",
        cost="O(s d)",
        defaults={
            "mode": "text",
            "pool_multiple": 1,
            "identity": False,
            "center_targets": True,
            "task": "auto",
            "layout": "cos_sin",
        },
    ),
    "karff": Entry(
        "alignment",
        "KernelAlignmentFourier",
        "kernel alignment",
        (*SHIFT_INVARIANT, *ARC_COSINE, "linear"),
        data_dependent=True,
        unbiased=False,
        reference="Sinha and Duchi, NIPS 2016",
        cost="O(s d)",
        defaults={"n_candidates": None, "rho": None, "weights": "uniform", **SCORING},
        prefix=True,
        prefix_needs="n_candidates",
    ),
    "kprff": Entry(
        "alignment",
        "KernelPolarizationFourier",
        "kernel alignment",
        (*SHIFT_INVARIANT, *ARC_COSINE, "linear"),
        data_dependent=True,
        unbiased=False,
        reference="Shahrampour, Beirami and Tarokh, AAAI 2018",
        cost="O(s d)",
        defaults={"n_candidates": None, **SCORING},
        prefix=True,
        prefix_needs="n_candidates",
    ),
    "clrff": Entry(
        "compression",
        "CompressedFourier",
        "compression",
        (*SHIFT_INVARIANT, *ARC_COSINE),
        data_dependent=True,
        unbiased=False,
        reference="Agrawal et al., AISTATS 2019",
        cost="O(s d)",
        defaults={"n_candidates": None, "n_pairs": 20_000},
    ),
    "ses": Entry(
        "compression",
        "SteinEffectFourier",
        "kernel alignment",
        ("gaussian",),
        data_dependent=True,
        unbiased=False,
        reference="Chang et al., IJCAI 2017",
        cost="O(s d)",
        defaults={"penalty": 1.0},
    ),
    "rm": Entry(
        "polynomial",
        "RandomMaclaurin",
        "polynomial",
        ("polynomial",),
        unbiased=True,
        reference="Kar and Karnick, AISTATS 2012",
        cost="O(s d)",
        defaults={"law": "restricted"},
    ),
    "ts": Entry(
        "polynomial",
        "TensorSketch",
        "polynomial",
        ("polynomial",),
        unbiased=True,
        reference="Pham and Pagh, KDD 2013",
        cost="O(d + s log s)",
    ),
    "trp": Entry(
        "polynomial",
        "TensorisedProjection",
        "polynomial",
        ("polynomial",),
        unbiased=True,
        reference="Meister, Sarlos and Woodruff, NeurIPS 2019",
        cost="O(s d)",
    ),
    "nsrf": Entry(
        "nsrf",
        "PeakSearchFourier",
        "Fourier peaks",
        ("gaussian",),
        data_dependent=True,
        unbiased=False,
        reference="Bullins, Zhang and Zhang, ICLR 2018",
        cost="O(s d)",
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
        prefix=True,
    ),
    "nsrf_sphere": Entry(
        "nsrf_sphere",
        "PeakSearchHarmonics",
        "Fourier peaks",
        ("gaussian", *ARC_COSINE),
        data_dependent=True,
        unbiased=False,
        reference="Bullins, Zhang and Zhang, ICLR 2018",
        cost="O(s l)",
        defaults={"C": 1.0, "dual_step": None, "degree": 30},
        prefix=True,
    ),
    "nystroem": Entry(
        "nystroem",
        "Nystroem",
        "Nyström",
        (*SHIFT_INVARIANT, *ARC_COSINE, "neural_tangent", "polynomial", "linear"),
        data_dependent=True,
        unbiased=False,
        reference="Williams and Seeger, NIPS 2001",
        cost="O(s d + s^2)",
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
    return Listing(
        {
            "name": name,
            "family": entry.family,
            "kernels": entry.kernels,
            "data_dependent": entry.data_dependent,
            "unbiased": entry.unbiased,
            "reference": entry.reference,
            "cost": entry.cost,
            "defaults": dict(entry.defaults),
        }
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


def module_path(name: str) -> Path:
    """The file that defines a map, found without importing it."""
    return Path(__file__).with_name(REGISTRY[resolve(name)[0]].module + ".py")


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
