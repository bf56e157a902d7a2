"""Read the mapping of an experiment: entries and steps, sizes, kernels, searches.

The workflow imports this module when it parses, so it loads no numerical library.
"""

from rfstudy.data.tasks import without
from rfstudy.study.job import merge, own_kernel, size_of
from rfstudy.study.kinds.registry import KINDS


def with_steps(experiment: dict) -> dict:
    """Return the experiment with its ``steps`` written out as entries, one per method and step.

    Every method without a variant goes through the steps. An entry has the step's name as its variant, and the changes
    of this step and of those before it. A step that names ``methods`` applies to these methods only; the others have no
    entry for it.
    """
    return without(experiment, "steps") | {"methods": [entry for _, entry in entries_with_steps(experiment)]}


def entries_with_steps(experiment: dict):
    """Yield pairs of a position in ``methods`` and an entry, one per draw, or per method and step."""
    steps = experiment.get("steps", [])
    for i, entry in enumerate(experiment["methods"]):
        if "draws" in entry:
            for draw in entry["draws"]:
                variant = "-".join(filter(None, [entry.get("variant"), f"draw-{draw}"]))
                yield i, without(entry, "draws") | ({"variant": variant, "draw": draw} if draw else {})
            continue
        if not steps or entry.get("variant"):
            yield i, entry
            continue
        for step in steps:
            if entry["method"] in step.get("methods", [entry["method"]]):
                entry = merge(entry, without(step, "name", "methods") | {"variant": step["name"]})
                yield i, entry


def listed_twice(entries: list[dict]) -> list[tuple[str, str, str]]:
    """Return the method, variant and own kernel of entries whose rows could not be distinguished, each once."""
    named = [(entry["method"], entry.get("variant", ""), own_kernel(entry)) for entry in entries]
    return [each for each in dict.fromkeys(named) if named.count(each) > 1]


def wanted_sizes(experiment_sizes: dict, largest: int | None, labels=()) -> dict:
    """Return the sizes up to the largest multiple of d, and only those with one of the labels ("8d", "4096") if there
    are any.

    A limit on multiples of d does not affect sizes that are not multiples of d.
    """

    def is_wanted(rule: str, value: int) -> bool:
        is_small = rule != "multiples_of_d" or largest is None or value <= largest
        return is_small and (not labels or size_of(rule, value, 1)[1] in labels)

    return {rule: [each for each in values if is_wanted(rule, each)] for rule, values in experiment_sizes.items()}


def size_lists(experiment: dict) -> list[dict]:
    """Return the sizes of an experiment, and those for single data sets."""
    everywhere = [experiment, *(own or {} for own in experiment.get("datasets", {}).values())]
    return [each["sizes"] for each in everywhere if "sizes" in each]


def kernels_of(experiment: dict) -> list[dict]:
    """Return the kernels of an experiment's methods, each once: those of the methods, and the experiment's own if a
    method has no other.
    """
    found = [entry.get("kernel", experiment["kernel"]) for entry in filter(None, experiment["methods"])]
    return [kernel for i, kernel in enumerate(found) if kernel not in found[:i]]


def needs_data(kind: str) -> bool:
    """Return whether a kind needs data. Such a kind names the metrics that it measures on them."""
    return KINDS[kind].metrics is not None
