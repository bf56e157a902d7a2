"""What is wrong with an experiment as it is written: its keys and values, and ids and options that there are not.

Schemas see keys and values; what they cannot see is looked up here in the registries. What shows only on the data sets
of a run, once all overlays are laid, is found later (``check``).

Imported by the workflow when it parses: the standard library, PyYAML and, to check, jsonschema only.
"""

from __future__ import annotations

from pathlib import Path

from random_features.errors import nearest
from random_features.maps.registry import REGISTRY, resolved_options
from rfstudy.data import modules
from rfstudy.study.code import modules_in
from rfstudy.study.experiment import listed_twice, standing_for_all, walked
from rfstudy.study.job import options_by_method
from rfstudy.study.schema import constant_or, problems_of, schema_of, suggestion


def problems_of_experiment(experiment: dict, config_dir: Path, datasets=None) -> list[str]:
    """What is wrong with an experiment, whose steps are not written out yet, as ``problems_of``."""
    kinds = modules_in("rfstudy.study.kinds")
    if "kind" not in experiment:
        return [f": the key 'kind' is missing; known are {', '.join(kinds)}"]
    if experiment["kind"] not in kinds:
        return [f".kind: there is no {experiment['kind']!r}; {suggestion(experiment['kind'], kinds)}"]
    # a null takes a key away once the data set's own is laid over the experiment
    plain = experiment
    if isinstance(experiment.get("datasets"), dict):
        plain = experiment | {"datasets": {key: without_nulls(own) for key, own in experiment["datasets"].items()}}
    return problems_of(plain, schema_of(experiment["kind"], Path(config_dir))) or [
        *problems_of_steps(experiment),
        *problems_of_splits(experiment),
        *problems_of_methods(experiment),
        *(problems_of_datasets(experiment, datasets) if datasets is not None else ()),
    ]


def problems_of_splits(experiment: dict) -> list[str]:
    """The rows that all entries of an experiment are to leave out, as ``problems_of``: its rows would not say so, as
    those of a single entry do in their settings.
    """
    own = {f".datasets.{name}": of_one for name, of_one in (experiment.get("datasets") or {}).items()}
    return [
        f"{where}.split.without: stands in the split of an entry or a step alone, whose rows say what is left out"
        for where, of in {"": experiment, **own}.items()
        if "without" in ((of or {}).get("split") or {})
    ]


def without_nulls(document):
    """A document without the keys of its mappings that have no value."""
    if not isinstance(document, dict):
        return document
    return {key: without_nulls(value) for key, value in document.items() if value is not None}


def problems_of_methods(experiment: dict) -> list[str]:
    """What is wrong with the maps that an experiment names and with the options it gives them, as ``problems_of``."""
    own = constant_or(f"rfstudy.study.kinds.{experiment['kind']}", "OPTIONS", {})
    found, named = [], []
    for where, method in methods_named(experiment):
        if method in REGISTRY:
            named.append(method)
        else:
            found.append(f"{where}: there is no method {method!r}; {suggestion(method, REGISTRY)}")
    steps = [step["name"] for step in experiment.get("steps", [])]
    found += [f".steps[{i}].name: {name!r} is given twice" for i, name in enumerate(steps) if name in steps[:i]]
    if found:
        return found
    found += [
        f".methods: {method} is listed twice with the same variant {variant!r}; name variants"
        for method, variant, _ in listed_twice([entry for _, entry in walked(experiment)])
        if variant not in steps
    ]
    found += problems_of_kernels(experiment)
    everybody = list(dict.fromkeys(entry["method"] for entry in experiment["methods"]))
    for where, one, options in options_given(experiment):
        for key in options:
            without_it = [
                method
                for method in ([one] if one else everybody)
                if method in named and key not in (*resolved_options(method, {}), *own)
            ]
            if without_it:
                more = f"; nor of {', '.join(without_it[1:])}" if without_it[1:] else ""
                found.append(f"{where}.{key}: {no_option(key, without_it[0])}{more}")
        for method in ([one] if one else everybody)[:1]:
            found += problems_of_switches(where, options, resolved_options(method, {}) if method in named else {})
        found += [
            f"{where}.{key}: must be one of {', '.join(own[key])}, got {value!r}"
            for key, value in options.items()
            if key in own and value not in own[key]
        ]
    return found


def problems_of_kernels(experiment: dict) -> list[str]:
    """The entries with a kernel of their own in an experiment whose kind does not ask them for it, as
    ``problems_of``.
    """
    if constant_or(f"rfstudy.study.kinds.{experiment['kind']}", "KERNELS_OF_ENTRIES", False):
        return []
    return [
        f".methods[{i}].kernel: an experiment of the kind {experiment['kind']} has one kernel for all methods"
        for i, entry in enumerate(experiment["methods"])
        if "kernel" in entry
    ]


def problems_of_switches(where: str, options: dict, defaults: dict) -> list[str]:
    """The options that are true or false by default and are given as something else, or the other way about: Python
    takes a text for true, and true for the number 1.
    """
    given = {key: value for key, value in options.items() if value is not None and defaults.get(key) is not None}
    return [
        f"{where}.{key}: {value!r} is not of the type of the default, {defaults[key]!r}"
        for key, value in given.items()
        if isinstance(value, bool) != isinstance(defaults[key], bool)
    ]


def methods_named(experiment: dict):
    """Pairs of a place and the id of a map that stands there."""
    for i, entry in enumerate(experiment["methods"]):
        yield f".methods[{i}].method", entry["method"]
    for i, step in enumerate(experiment.get("steps", [])):
        yield from ((f".steps[{i}].methods[{j}]", method) for j, method in enumerate(step.get("methods", [])))
    yield from ((f".options.{method}", method) for method in experiment.get("options", {}))
    for dataset, own in (experiment.get("datasets") or {}).items():
        for key in ("options", "only_sizes"):
            yield from ((f".datasets.{dataset}.{key}.{method}", method) for method in (own or {}).get(key) or {})
    search = experiment.get("search", {})
    yield from ((f"{where}.method", entry["method"]) for where, entry in standing_for_all(search))
    yield from ((f".search.options.grid.{method}", method) for method, _ in options_by_method(search) if method)


def options_given(experiment: dict):
    """Triples of a place, the map whose options stand there (None: all of the experiment), and these options."""
    for i, entry in enumerate(experiment["methods"]):
        yield f".methods[{i}].options", entry["method"], entry.get("options", {})
        for dataset, own in entry.get("datasets", {}).items():
            yield f".methods[{i}].datasets.{dataset}.options", entry["method"], (own or {}).get("options", {})
        if "walk" in entry:
            yield f".methods[{i}].walk", entry["method"], {entry["walk"]["option"]: entry["walk"]["values"]}
    for i, step in enumerate(experiment.get("steps", [])):
        for method in step.get("methods", [None]):
            yield f".steps[{i}].options", method, step.get("options", {})
    for method, options in experiment.get("options", {}).items():
        yield f".options.{method}", method, options
    for dataset, own in (experiment.get("datasets") or {}).items():
        for method, options in ((own or {}).get("options") or {}).items():
            yield f".datasets.{dataset}.options.{method}", method, options
    search = experiment.get("search", {})
    for where, entry in standing_for_all(search):
        yield f"{where}.options", entry["method"], entry.get("options", {})
    for method, grid in options_by_method(search):
        where = f".search.options.grid{f'.{method}' if method else ''}"
        yield from ((f"{where}[{i}]", method, options) for i, options in enumerate(grid))


def no_option(key: str, method: str) -> str:
    """What to say of a key that is no option of a map."""
    known = list(resolved_options(method, {}))
    near = nearest(key, known)
    return f"not an option of {method}; it has {', '.join(known) or 'none'}" + (
        f" (did you mean {near[0]}?)" if near else ""
    )


def problems_of_datasets(experiment: dict, datasets) -> list[str]:
    """The data sets that an experiment or one of its entries names and that are no tasks, as ``problems_of``."""
    named = [(f".datasets.{dataset}", dataset) for dataset in experiment.get("datasets") or {}]
    for key in ("methods", "steps"):
        for i, entry in enumerate(experiment.get(key, [])):
            named += [(f".{key}[{i}].datasets.{dataset}", dataset) for dataset in entry.get("datasets", {})]
    found = [
        f"{where}: there is no data set {dataset!r}; {suggestion(dataset, datasets)}"
        for where, dataset in named
        if dataset not in datasets
    ]
    own = experiment.get("datasets") or {}
    found += [
        f".time.examples[{i}]: {dataset!r} is none of the data sets of the experiment; {suggestion(dataset, own)}"
        for i, dataset in enumerate((experiment.get("time") or {}).get("examples", []))
        if dataset not in own
    ]
    return found


def problems_of_steps(document, where: str = "") -> list[str]:
    """What is wrong with the preprocessing steps of an experiment, wherever they stand in it, as ``problems_of``."""
    found = []
    for key, value in document.items() if isinstance(document, dict) else enumerate(document):
        here = f"{where}.{key}" if isinstance(document, dict) else f"{where}[{key}]"
        if key == "preprocess":
            lists = value["grid"] if isinstance(value, dict) else [value or []]
            steps = [step for each in lists for step in each]
            found += [
                f"{here}: {problem}" for step in steps for problem in modules.problems("steps", *modules.step_of(step))
            ]
        elif isinstance(value, dict | list):
            found += problems_of_steps(value, here)
    return found
