"""What an experiment says, as its mapping in the configuration does: entries and steps, sizes, kernels, searches.

Imported by the workflow when it parses: standard library and PyYAML only.
"""

from rfstudy.models import definitions
from rfstudy.study.job import merge, own_kernel, size_of


def with_steps(experiment: dict) -> dict:
    """Return the experiment with its ``steps`` written out as entries of its methods, one a method and step.

    Every method without a variant goes through the steps: an entry has the step's name as its variant, and what this
    step and those before it change. A step that names ``methods`` is one of these methods only; the others have no
    entry there.
    """
    plain = {key: value for key, value in experiment.items() if key != "steps"}
    return plain | {"methods": [entry for _, entry in entries_with_steps(experiment)]}


def entries_with_steps(experiment: dict):
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
    """Return the method, variant and own kernel of entries that no row could tell apart, each once."""
    named = [(entry["method"], entry.get("variant", ""), own_kernel(entry)) for entry in entries]
    return [each for each in dict.fromkeys(named) if named.count(each) > 1]


def wanted_sizes(experiment_sizes: dict, largest: int | None, labels=()) -> dict:
    """Return the sizes up to the largest multiple of d and, where labels ("8d", "4096") are given, with one of them.

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
    """Return the sizes of an experiment, and those that it has on single data sets."""
    everywhere = [experiment, *(own or {} for own in experiment.get("datasets", {}).values())]
    return [each["sizes"] for each in everywhere if "sizes" in each]


def kernels_of(experiment: dict) -> list[dict]:
    """Return the kernels of an experiment's methods: its own, where one of them has no other, and theirs; each once."""
    found = [entry.get("kernel", experiment["kernel"]) for entry in filter(None, experiment["methods"])]
    return [kernel for i, kernel in enumerate(found) if kernel not in found[:i]]


def module_of(kind: str) -> str:
    """Return the module of a kind."""
    return f"rfstudy.study.kinds.{kind}"


def needs_data(kind: str) -> bool:
    """Return whether a kind needs data: it then names what it measures of them."""
    return "METRICS" in definitions(module_of(kind))


def standing_for_all(search: dict) -> list[tuple[str, dict]]:
    """Pairs of a place and the entry there, of the entries that a search chooses with what several methods share: one,
    or one for each kernel.
    """
    named = search.get("method", [])
    if isinstance(named, list):
        return [(f".search.method[{i}]", entry) for i, entry in enumerate(named)]
    return [(".search.method", named)]
