"""The feature maps by name: their modules, the kernels that they support, and facts about them.

The module imports only the standard library, because a workflow reads it while it parses its rules. A map's own module
is imported when a map is made. A new map is one file and one entry here.
"""

import ast
import inspect
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from random_features.errors import UserError, check_known
from random_features.modules import class_named, definitions, statements


@dataclass(frozen=True)
class Entry:
    """The facts about a map.

    ``path`` is its class, after its module in this folder. ``fit`` is the time to draw and learn the map, ``cost`` the
    time to map one row afterwards, for n rows of d columns, s frequencies and J candidates. ``unbiased`` says whether
    the expectation of the approximate kernel is the kernel. ``prefix`` says whether the map has the method ``prefix``:
    the first features of the fitted map are the map at a smaller size, so one fit serves several sizes.
    """

    path: str
    family: str
    kernels: tuple[str, ...]
    reference: str
    fit: str = "O(s d)"
    cost: str = "O(s d)"
    unbiased: bool = False
    data_dependent: bool = False
    prefix: bool = False

    @property
    def module(self) -> str:
        """Return the module of this folder that the class is in."""
        return self.path.partition(".")[0]

    @property
    def class_name(self) -> str:
        """Return the name of the class."""
        return self.path.partition(".")[2]


#: Mixtures of Gaussian kernels: their frequencies are normal, times a random factor each.
MIXTURES = ("matern", "exponential_power", "generalised_cauchy")
SHIFT_INVARIANT = ("gaussian", "laplacian", "cauchy", *MIXTURES)
ARC_COSINE = ("arccos0", "arccos1", "arccos2")
#: Kernels with frequencies, and those whose frequencies are normal, with random factors or without.
SPECTRAL, NORMAL = (*SHIFT_INVARIANT, *ARC_COSINE), ("gaussian", *ARC_COSINE, *MIXTURES)
SPECTRAL_OR_LINEAR, GAUSSIAN = (*SPECTRAL, "linear"), ("gaussian",)
POLYNOMIAL, EVERY = ("polynomial",), (*SPECTRAL, "neural_tangent", "polynomial", "linear")
#: With all frequencies of one length, only the orders 0 and 1 are correct: order 2 needs E |w|^4 = d (d + 2).
ONE_LENGTH = ("gaussian", "arccos0", "arccos1", *MIXTURES)


def family(name: str, usual_fit: str = "O(s d)", usual_cost: str = "O(s d)", **usual):
    """Return a function that returns the facts about a map of a family, whose maps share what is ``usual``."""

    def entry(path: str, kernels: tuple[str, ...], reference: str, fit=usual_fit, cost=usual_cost, **own) -> Entry:
        return Entry(path, name, kernels, reference, fit, cost, **usual | own)

    return entry


#: The makers of entries.
monte_carlo, quasi_monte_carlo = family("Monte Carlo", unbiased=True), family("quasi-Monte Carlo")
structured, quadrature = family("structured", "O(s)", "O(s log d)"), family("quadrature", "O(s d^2)")
leverage = family("leverage scores", unbiased=True, data_dependent=True)
alignment = family("kernel alignment", "O(n J d)", data_dependent=True, prefix=True)
polynomial = family("polynomial", unbiased=True)
compression, nystroem = family("compression", data_dependent=True), family("Nyström", data_dependent=True)
peaks = family("Fourier peaks", data_dependent=True, prefix=True)

#: The reference of several maps.
BULLINS = "Bullins, Zhang and Zhang, ICLR 2018"

REGISTRY = {
    "rff": monte_carlo("montecarlo.RandomFourier", SPECTRAL_OR_LINEAR, "Rahimi and Recht, NIPS 2007"),
    "orf": monte_carlo("montecarlo.OrthogonalRandom", NORMAL, "Yu et al., NIPS 2016", "O(s d^2)"),
    "sorf": structured("structured.StructuredOrthogonal", ONE_LENGTH, "Yu et al., NIPS 2016"),
    "rom": structured("structured.RandomOrthogonalMatrices", ONE_LENGTH, "Choromanski, Rowland and Weller, NIPS 2017"),
    "fastfood": structured("structured.Fastfood", NORMAL, "Le, Sarlos and Smola, ICML 2013", unbiased=True),
    "prf": monte_carlo(
        "positive.PositiveRandom", GAUSSIAN, "Choromanski et al., ICLR 2021; Reid et al., ICML 2023", "O(s d^2)"
    ),
    "qmc": quasi_monte_carlo("quasi.QuasiMonteCarlo", SPECTRAL, "Yang et al., ICML 2014", unbiased=True),
    "ssf": quasi_monte_carlo("spherical.SphericalStructured", ONE_LENGTH, "Lyu, ICML 2017", "O(s d log s)"),
    "gq": quadrature("quadrature.GaussianQuadrature", NORMAL, "Dao, De Sa and Re, NIPS 2017", "O(s d)"),
    "lsrff": leverage("leverage.LeverageScoreFourier", SPECTRAL, "Li et al., ICML 2019", "O(n s^2 + s^3)"),
    "nrff": monte_carlo("normalised.NormalisedFourier", GAUSSIAN, "Li, KDD 2017", unbiased=False),
    "mm": quasi_monte_carlo(
        "momentmatching.MomentMatching", (*NORMAL, "cauchy"), "Shen, Yang and Wang, AAAI 2017", "O(s d^2)"
    ),
    "scrf": structured("circulant.SignedCirculant", SPECTRAL, "Feng, Hu and Liao, IJCAI 2015", unbiased=True),
    "pmodel": structured("circulant.PModel", NORMAL, "Choromanski and Sindhwani, ICML 2016", unbiased=True),
    "lprff": Entry(
        "lowprecision.LowPrecisionFourier", "low precision", GAUSSIAN, "Zhang et al., AISTATS 2019", unbiased=True
    ),
    "sgq": quadrature(
        "cubature.SparseGridQuadrature", NORMAL, "Dao, De Sa and Re, NIPS 2017", cost="O(s) for s <= d, O(s d) above"
    ),
    "ssr": quadrature(
        "cubature.SphericalRadial", NORMAL, "Munkhoeva et al., NeurIPS 2018", cost="O(s d), O(s log d) with butterflies"
    ),
    "slsrff": leverage("alignment.SurrogateLeverageFourier", SPECTRAL, "Liu et al., AAAI 2020", "O(n s d)"),
    "karff": alignment("alignment.KernelAlignmentFourier", SPECTRAL_OR_LINEAR, "Sinha and Duchi, NIPS 2016"),
    "kprff": alignment(
        "alignment.KernelPolarizationFourier", SPECTRAL_OR_LINEAR, "Shahrampour, Beirami and Tarokh, AAAI 2018"
    ),
    "clrff": compression("compression.CompressedFourier", SPECTRAL, "Agrawal et al., AISTATS 2019", "O(s J) per pair"),
    "ses": alignment("compression.SteinEffectFourier", GAUSSIAN, "Chang et al., IJCAI 2017", "O(s^3)", prefix=False),
    "rm": polynomial("polynomial.RandomMaclaurin", POLYNOMIAL, "Kar and Karnick, AISTATS 2012"),
    "ts": polynomial("polynomial.TensorSketch", POLYNOMIAL, "Pham and Pagh, KDD 2013", "O(d)", "O(d + s log s)"),
    "trp": polynomial("polynomial.TensorisedProjection", POLYNOMIAL, "Meister, Sarlos and Woodruff, NeurIPS 2019"),
    "nsrf": peaks("nsrf.PeakSearchFourier", GAUSSIAN, BULLINS, "O(n s d), times 5,000"),
    "nsrf_sphere": peaks("nsrf_sphere.PeakSearchHarmonics", (*GAUSSIAN, *ARC_COSINE), BULLINS, "O(n s l^2)", "O(s l)"),
    "nystroem": nystroem(
        "nystroem.Nystroem", EVERY, "Williams and Seeger, NIPS 2001", "O(s^2 d + s^3)", "O(s d + s^2)"
    ),
}

#: The module of every class of maps.
HOMES = {entry.class_name: entry.module for entry in REGISTRY.values()}
#: The name of every class of maps.
NAMES = {entry.class_name: name for name, entry in REGISTRY.items()}

#: Other names in use: the map that each means, and the options that make the difference.
ALIASES = {"rks": ("rff", {"layout": "phase"}), "lkrf": ("karff", {}), "eerf": ("kprff", {})}


def resolve(name: str) -> tuple[str, dict]:
    """Return the registry's own name and the options of a name or an alias; ``UserError`` for an unknown one."""
    check_known("no feature map is called", name, [*REGISTRY, *ALIASES])
    return ALIASES.get(name, (name, {}))


def resolved_options(name: str, options: dict) -> dict:
    """Return all own options of a map: the defaults, overridden by the options of an alias and then by ``options``.

    Parameters
    ----------
    name : str
        A name of ``list_maps()`` or an alias; ``ValueError`` for an unknown one.
    options : dict
        The options that an experiment sets; they are not checked against the map.

    Examples
    --------
    >>> from random_features.maps.registry import resolved_options
    >>> resolved_options("rks", {})
    {'layout': 'phase'}
    """
    name, of_alias = resolve(name)
    entry = REGISTRY[name]
    return {**defaults_of(entry.module, entry.class_name), **of_alias, **options}


@cache
def defaults_of(module: str, class_name: str) -> dict:
    """Read the options of a class of maps with their defaults, base classes first, without an import; return them.

    Options are the annotated fields of the class; a ``ClassVar`` removes an option of a base class.
    """
    if class_name == "RandomFeatureMap":
        return {}
    path = Path(__file__).with_name(f"{module}.py")
    found = definitions(path).get(class_name) if path.exists() else None
    if not isinstance(found, ast.ClassDef):
        raise UserError(f"{path.name} in the folder of the maps must define the class {class_name}, as REGISTRY says")
    imports = [node for node in statements(path) if isinstance(node, ast.ImportFrom)]
    home = {alias.name: node.module.rpartition(".")[2] for node in imports for alias in node.names}
    options: dict = {}
    for base in reversed(found.bases):
        options |= defaults_of(home.get(base.id, module), base.id)
    for field in (node for node in found.body if isinstance(node, ast.AnnAssign)):
        if ast.unparse(field.annotation).startswith("ClassVar"):
            options.pop(field.target.id, None)
        else:
            options[field.target.id] = plain_default(class_name, field)
    return options


def plain_default(class_name: str, field: ast.AnnAssign):
    """Return the default of an annotated field, which has to be there, and a number, a text or the like."""
    try:
        return ast.literal_eval(field.value or "")
    except (ValueError, SyntaxError):
        stated = ast.unparse(field)
        raise UserError(f"{class_name}: an option needs a plain value as its default, got {stated!r}") from None


def has_prefixes(name: str, options: dict) -> bool:
    """Return whether one fit of a map with these options serves all sizes up to its own (see ``prefix``)."""
    # the number of candidates has to be the same at every size
    return REGISTRY[resolve(name)[0]].prefix and resolved_options(name, options).get("n_candidates", 0) is not None


class Listing(list):
    """A list of mappings with the same keys that is shown as a table of some of them."""

    #: The keys that the table shows.
    COLUMNS = ("name", "family", "kernels", "fit", "cost", "reference")

    def __repr__(self):
        rows = [self.COLUMNS, *([_text(item[key]) for key in self.COLUMNS] for item in self)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _text(value):
    """Return a fact as it is shown: kernels in one text."""
    return " ".join(value) if isinstance(value, tuple) else value


def list_maps(kernel=None) -> Listing:
    """Return one dict per map: name, family, kernels, data_dependent, unbiased, reference, fit, cost, defaults.

    The list is shown as a table. ``fit`` is the time to fit a map on n rows, ``cost`` the time to map one row.

    Parameters
    ----------
    kernel : str or any kernel that ``make_map`` takes, optional
        Lists only the maps that support this kernel: a name such as "gaussian", "rbf" or "polynomial", or an object.

    Raises
    ------
    ValueError
        For a name that no map supports.

    Examples
    --------
    >>> from random_features.maps import list_maps
    >>> [entry["name"] for entry in list_maps(kernel="polynomial")]
    ['rm', 'ts', 'trp', 'nystroem']
    """
    return Listing(map(facts_of, REGISTRY if kernel is None else supporting(kernel)))


def facts_of(name: str) -> dict:
    """Return the facts of ``list_maps`` about a map, with the defaults of a name or an alias."""
    facts, canonical = ("family", "kernels", "data_dependent", "unbiased", "reference", "fit", "cost"), resolve(name)[0]
    known = {fact: getattr(REGISTRY[canonical], fact) for fact in facts}
    return {"name": canonical, **known, "defaults": resolved_options(name, {})}


def supporting(kernel) -> list[str]:
    """Return the names of the maps that support a kernel, stated as for ``list_maps``."""
    known, stated = sorted({name for entry in REGISTRY.values() for name in entry.kernels}), {kernel}
    if kernel not in known:
        from random_features.maps.stated import BY_NAME, as_kernel

        if isinstance(kernel, str):
            check_known("no map supports a kernel called", kernel, {*known, *BY_NAME}, ValueError)
        kernel = as_kernel(kernel)
        stated = {kernel.name, getattr(kernel, "like", None)}
    return [name for name, entry in REGISTRY.items() if stated & set(entry.kernels)]


def described(name: str) -> str:
    """Return the registry's facts about a map, one per line; ``UserError`` for an unknown name."""
    shown = {key: _text(value) for key, value in facts_of(name).items()}
    width = max(map(len, shown))
    return "\n".join(f"{key:{width}}  {value}" for key, value in shown.items())


def map_class(name: str) -> type:
    """Import and return the class of a map."""
    return of_class(REGISTRY[resolve(name)[0]].class_name)


def of_class(class_name: str) -> type:
    """Import and return the map class of a name; ``AttributeError`` if there is none."""
    return class_named("random_features.maps", HOMES, class_name)


def check_kernel(name: str, kernel) -> None:
    """Raise ``ValueError``, naming the kernels that the map supports, unless ``kernel`` is one of them.

    A kernel that is defined elsewhere names in ``like`` the supported kernel whose properties it shares.
    """
    if name not in supporting(kernel):
        supported = ", ".join(REGISTRY[name].kernels)
        raise ValueError(f"{name} does not apply to the kernel {kernel.name}; it supports {supported}")


def make_map(name: str, kernel=None, **params):
    """Return the unfitted feature map of a name.

    Parameters
    ----------
    name : str
        A name of ``list_maps()`` or an alias.
    kernel : kernel object, "rbf", "linear" or scikit-learn's ``RBF``, optional
        A kernel from ``random_features.kernels``, or any value that ``random_features.maps.stated.as_kernel`` takes.
        The default is the map's own, for most maps the Gaussian kernel of length scale 1.
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
        check_known(f"{name} has no parameter", parameter, known, TypeError)
    return make(kernel=kernel, **params)
