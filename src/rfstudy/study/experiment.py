"""What an experiment says, as its mapping in the configuration does: entries and steps, sizes, kernels, searches.

Imported by the workflow when it parses: standard library and PyYAML only.
"""

from __future__ import annotations

from random_features.kernels import KERNELS
from rfstudy.study.code import constant

#: Who shares a choice, from the widest circle to the narrowest: all of an experiment; all methods at a size; all sizes
#: of a method; a method at a size; nobody but the cell (a method at a size in one repeat).
CIRCLES = ("experiment", "size", "method", "method_and_size", "cell")

#: What can be chosen by validation.
SEARCHED = ("preprocess", "length_scale", "bandwidth", "options", "penalty")


def merge(base: dict, overlay: dict, *, null_removes: bool = True) -> dict:
    """``overlay`` laid over ``base``: mappings merge, null removes, everything else is replaced.

    Neither is changed; what is taken over from one of them alone is shared with it.
    """
    result = base | {}  # of the type of the base
    for key, value in overlay.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value, null_removes=null_removes)
        elif value is None and null_removes:
            result.pop(key, None)
        else:
            result[key] = value
    return result


def with_steps(experiment: dict) -> dict:
    """The experiment with its ``steps`` written out as entries of its methods, one a method and step.

    Every method without a variant walks the steps: an entry has the step's name as its variant, and what this step
    and those before it change. A step that names ``methods`` is one of these methods only; the others have no entry
    there.
    """
    plain = {key: value for key, value in experiment.items() if key != "steps"}
    return plain | {"methods": [entry for _, entry in walked(experiment)]}


def walked(experiment: dict):
    """Pairs of a position in ``methods`` and an entry, one a method and step."""
    steps = experiment.get("steps", [])
    for i, entry in enumerate(experiment["methods"]):
        if not steps or entry.get("variant"):
            yield i, entry
            continue
        for step in steps:
            if entry["method"] in step.get("methods", [entry["method"]]):
                changes = {key: value for key, value in step.items() if key not in ("name", "methods")}
                entry = merge(entry, changes | {"variant": step["name"]})
                yield i, entry


def listed_twice(entries: list[dict]) -> list[tuple[str, str, str]]:
    """The method, variant and own kernel of entries that no row could tell apart, each once."""
    named = [(entry["method"], entry.get("variant", ""), own_kernel(entry)) for entry in entries]
    return [each for each in dict.fromkeys(named) if named.count(each) > 1]


def spread(values: list, number: int | None) -> list:
    """``number`` of the values, evenly from the first to the last; None is all of them.

    >>> spread([1, 2, 4, 8, 16], 3)
    [1, 4, 16]
    """
    if number is None or number >= len(values):
        return values
    steps = max(1, number - 1)
    return [values[round(i * (len(values) - 1) / steps)] for i in range(number)]


def sizes(experiment_sizes: dict, d: int) -> list[tuple[int, str]]:
    """The numbers of features s with their labels, for data of ``d`` columns.

    >>> sizes({"multiples_of_d": [1, 2]}, 14)
    [(14, 'd'), (28, '2d')]
    >>> sizes({"values": [1000]}, 784)
    [(1000, '1000')]
    """
    return [size_of(rule, value, d) for rule, values in experiment_sizes.items() for value in values]


def size_of(rule: str, value: int, d: int) -> tuple[int, str]:
    """One number of features with its label: ``value`` times d, or ``value`` itself."""
    if rule == "multiples_of_d":
        return value * d, "d" if value == 1 else f"{value}d"
    return value, str(value)


def wanted_sizes(experiment_sizes: dict, largest: int | None, labels=()) -> dict:
    """The sizes up to the largest multiple of d and, where labels ("8d", "4096") are given, with one of them.

    A limit on multiples of d says nothing of sizes that are no multiples of d.
    """
    return {
        rule: [
            value
            for value in values
            if (not labels or size_of(rule, value, 1)[1] in labels)
            and (rule != "multiples_of_d" or largest is None or value <= largest)
        ]
        for rule, values in experiment_sizes.items()
    }


def size_lists(experiment: dict) -> list[dict]:
    """The sizes of an experiment, and those that it has on single data sets."""
    everywhere = [experiment, *(own or {} for own in experiment.get("datasets", {}).values())]
    return [each["sizes"] for each in everywhere if "sizes" in each]


def step_lists(document) -> list[list]:
    """All lists of preprocessing steps in an experiment or a part of it, wherever they stand."""
    if isinstance(document, list):
        return [steps for each in document for steps in step_lists(each)]
    if not isinstance(document, dict):
        return []
    found = []
    for key, value in document.items():
        if key == "preprocess":
            # in a search several lists are tried
            found += value["grid"] if isinstance(value, dict) else [value]
        else:
            found += step_lists(value)
    return found


def kernel_id(kernel: dict) -> str:
    """The id of a kernel as rows have it; of one that an experiment leaves open (a family), the name of the family.

    It is the ``name`` of the kernel object, read from ``KERNELS`` without an import of it.
    """
    try:
        return KERNELS[kernel["name"]].get("id", kernel["name"]).format(**kernel)
    except KeyError:
        return kernel["name"]


def own_kernel(entry: dict) -> str:
    """The id of the kernel that an entry has in place of the experiment's; empty where it has none."""
    return kernel_id(entry["kernel"]) if "kernel" in entry else ""


def kernels_of(experiment: dict) -> list[dict]:
    """The kernels of an experiment's methods: its own, where one of them has no other, and theirs; each once."""
    found = [entry.get("kernel", experiment["kernel"]) for entry in filter(None, experiment["methods"])]
    return [kernel for i, kernel in enumerate(found) if kernel not in found[:i]]


def kind_constant(experiment: dict, name: str):
    """A constant of the kind of an experiment: STAGES, NEEDS_DATA or RESOURCES."""
    return constant(f"rfstudy.study.kinds.{experiment['kind']}", name)


def standing_for_all(search: dict) -> list[tuple[str, dict]]:
    """Pairs of a place and the entry there, of the entries that a search chooses with what several methods share: one,
    or one for each kernel.
    """
    named = search.get("method", [])
    if isinstance(named, list):
        return [(f".search.method[{i}]", entry) for i, entry in enumerate(named)]
    return [(".search.method", named)]


def options_by_method(search: dict):
    """Pairs of a map and the grid of its options that a search tries; None is every map."""
    grid = search.get("options", {}).get("grid", [])
    return grid.items() if isinstance(grid, dict) else [(None, grid)]


def options_tried(search: dict, method: str) -> list[dict]:
    """The options of a map that a search tries; nothing where it leaves them alone."""
    return next((grid for named, grid in options_by_method(search) if named in (None, method)), [])
