"""The description of a job, and how to read it: the vocabulary that planning and execution share.

Planning imports this module; it imports nothing that plans, and no package but these two.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Self

from random_features.errors import UserError
from random_features.kernels.registry import KERNELS, id_of
from random_features.learners.registry import LEARNERS
from random_features.maps.registry import REGISTRY
from rfstudy.data.modules import code_of_steps, module_name

#: Columns of the tidy table that an experiment decides as a whole.
NAMES = ("preset", "paper", "experiment", "protocol")

#: The scopes that share a choice, from the widest to the narrowest: a whole experiment; all methods at a size; all
#: sizes of a method; a method at a size; all draws of a method at a size on one split; one cell (a method at a size in
#: one repeat).
TUNE_SCOPES = ("experiment", "size", "method", "method_and_size", "split", "cell")

#: Quantities that validation can choose.
SEARCHED = ("preprocess", "length_scale", "bandwidth", "options", "penalty")


@dataclass(frozen=True)
class Part:
    """The description of a job's work on one data set, used from the plan to the row.

    The plan makes it, a work file carries it as JSON, and the engine and the kinds read it. A field that a stage does
    not need is None.
    """

    preset: str
    paper: str
    experiment: str
    protocol: str
    kind: str
    kernel: dict
    seed: int
    device: str
    dataset: str = ""  # empty if an experiment has no data
    methods: list[dict] = field(default_factory=list)  # entries: a map with its options
    preprocess: list | None = None
    bandwidth: dict | None = None
    split: dict | None = None
    max_rows: int | None = None
    repeats: list[int] | None = None
    sizes: dict | None = None
    draws: int | None = None  # of each map in each repeat
    grid: dict | None = None  # of the kind of experiment
    approximation: dict | None = None
    learners: dict | None = None
    scores: list[str] | None = None
    search: dict | None = None
    shared_methods: list[dict] | None = None
    time: dict | None = None

    def __or__(self, changes: dict) -> Self:
        """Return a copy with other values of some fields."""
        return replace(self, **changes)

    @property
    def columns(self) -> dict:
        """Return the columns of the tidy table that every row shares."""
        own = {name: getattr(self, name) for name in (*NAMES, "dataset", "seed")}
        return own | {"origin": "measured", "kernel": kernel_id(self.kernel), "status": "ok"}

    def stated(self) -> dict:
        """Return the fields that have a value, for JSON and for keys."""
        return {name: value for name, value in vars(self).items() if value is not None}


def read_parts(documents: list[dict]) -> list[Part]:
    """Return the parts in a work file. Raise ``UserError`` if a part lacks a field or has an unknown one."""
    try:
        return [Part(**each) for each in documents]
    except TypeError as error:
        raise UserError(f"the work file is no description of a job ({error}); the workflow writes it anew") from error


def merge(base: dict, overlay: dict, *, null_removes: bool = True) -> dict:
    """Return ``base`` with ``overlay`` applied: mappings merge, null removes, everything else is replaced.

    A null that finds nothing to remove stays, for later merges: an overlay of a data set may remove a key of the
    experiment. Neither argument is changed. A value that comes from one argument alone is shared with it, not copied.
    """
    result = base | {}  # of the type of the base
    for key, value in overlay.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value, null_removes=null_removes)
        elif value is None and null_removes and key in result:
            del result[key]
        else:
            result[key] = value
    return result


def spread(values: list, number: int | None) -> list:
    """Return ``number`` of the values, evenly spaced from the first to the last; None means all of them.

    >>> spread([1, 2, 4, 8, 16], 3)
    [1, 4, 16]
    """
    if number is None or number >= len(values):
        return values
    steps = max(1, number - 1)
    return [values[round(i * (len(values) - 1) / steps)] for i in range(number)]


def sizes(experiment_sizes: dict, d: int) -> list[tuple[int, str]]:
    """Return the numbers of features s with their labels, for data of ``d`` columns.

    >>> sizes({"multiples_of_d": [1, 2]}, 14)
    [(14, 'd'), (28, '2d')]
    >>> sizes({"values": [1000]}, 784)
    [(1000, '1000')]
    """
    return [size_of(rule, value, d) for rule, values in experiment_sizes.items() for value in values]


def wanted_sizes(experiment_sizes: dict, largest: int | None, labels=()) -> dict:
    """Return the sizes up to the largest multiple of d, and only those with one of the labels ("8d", "4096") if there
    are any.

    A limit on multiples of d does not affect sizes that are not multiples of d.
    """

    def is_wanted(rule: str, value: int) -> bool:
        is_small = rule != "multiples_of_d" or largest is None or value <= largest
        return is_small and (not labels or size_of(rule, value, 1)[1] in labels)

    return {rule: [each for each in values if is_wanted(rule, each)] for rule, values in experiment_sizes.items()}


def size_of(rule: str, value: int, d: int) -> tuple[int, str]:
    """Return one number of features with its label: ``value`` times d, or ``value`` itself."""
    if rule == "multiples_of_d":
        return value * d, "d" if value == 1 else f"{value}d"
    return value, str(value)


def kernel_id(kernel: dict) -> str:
    """Return the id of a kernel as it appears in rows. If an experiment leaves the kernel open (a family), return the
    name of the family.

    It is the ``name`` of the kernel object, without importing it.
    """
    try:
        return id_of(kernel["name"], kernel)
    except KeyError:
        return kernel["name"]


def own_kernel(entry: dict) -> str:
    """Return the id of the kernel that an entry uses instead of the experiment's; empty if it has none."""
    return kernel_id(entry["kernel"]) if "kernel" in entry else ""


def tune_scope(search: dict, quantity: str) -> str:
    """Return the scope that shares the choice of a quantity (one of ``TUNE_SCOPES``)."""
    scope = search.get(quantity, {}).get("tune_per", search.get("tune_per"))
    if scope not in TUNE_SCOPES:
        raise UserError(f"search.{quantity} must say by whom it is shared: one of {', '.join(TUNE_SCOPES)}")
    return scope


def searched(search: dict) -> list[str]:
    """Return the quantities of a search that ``tune`` chooses: all except a penalty that every cell chooses alone.

    Such a penalty is chosen in ``train``, on the features that it is for.
    """
    named = [quantity for quantity in SEARCHED if quantity in search]
    return [q for q in named if q != "penalty" or tune_scope(search, q) != "cell"]


def options_tried(search: dict, method: str) -> list[dict]:
    """Return the options of a map that a search tries; empty if it tries none."""
    grid = search.get("options", {}).get("grid", [])
    return grid.get(method, []) if isinstance(grid, dict) else grid


def code_roots(stage: str, part: dict) -> list[str]:
    """Return the full names of the modules that a part of a stage's work runs: the stage, its kind, and the modules
    that both load by name.

    ``part`` may be the description of a single cell; it then has ``learner`` instead of ``learners``.
    """
    roots = [f"rfstudy.study.{stage}", f"rfstudy.study.kinds.{part['kind']}"]
    entries = [*part["methods"], *part.get("shared_methods", [])]
    roots += [f"random_features.maps.{REGISTRY[entry['method']].module}" for entry in entries]
    learners = [part["learner"]] if "learner" in part else part.get("learners", [])
    # a kind may name its own predictions as a learner
    roots += [f"random_features.learners.{name}" for name in learners if name in LEARNERS]
    roots += [module_name("bandwidths", part["bandwidth"]["rule"])] if part.get("bandwidth") else []
    for each in mappings_in(part):
        roots += [f"random_features.kernels.{name}" for name in KERNELS if name == each.get("name")]
        steps = each.get("preprocess") or []
        # in a search several lists are tried
        for tried in steps["grid"] if isinstance(steps, dict) else [steps]:
            roots += code_of_steps(tried)
    return sorted(set(roots))


def mappings_in(document) -> Iterator[dict]:
    """Yield all mappings in a document, at any depth."""
    if isinstance(document, dict):
        yield document
        document = list(document.values())
    for each in document if isinstance(document, list) else []:
        yield from mappings_in(each)
