"""The configuration: presets, experiments and what they extend, selected and checked before any work is planned.

An experiment is a mapping that says what a paper ran, with the keys of its schema (``schema``). What differs by data
set stands under ``datasets.<id>`` and is laid over the experiment there.

Imported by the workflow when it parses: the standard library, PyYAML and, to check, jsonschema only.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import yaml

from rfstudy.data import modules, registry
from rfstudy.errors import UserError, nearest
from rfstudy.files import read_yaml, shown, yaml_files
from rfstudy.maps.registry import REGISTRY, resolved_options
from rfstudy.study.code import constant, modules_in
from rfstudy.study.schema import (
    constant_or,
    learners_schema,
    problems_of,
    read_schema,
    schema_of,
    suggestion,
)

#: Who shares a choice, from the widest circle to the narrowest: all of an experiment; all methods at a size; all sizes
#: of a method; a method at a size; nobody but the cell (a method at a size in one repeat).
CIRCLES = ("experiment", "size", "method", "method_and_size", "cell")

#: What can be chosen by validation.
SEARCHED = ("preprocess", "length_scale", "bandwidth", "options", "penalty")


#: The axes by which shards may be told apart, from the outermost.
AXES = ("experiment", "dataset", "method")

#: What the names of experiments are made of: they stand in paths.
NAME = "[a-z0-9-]+"


#: Settings that name what a run is restricted to.
SELECTIONS = ("only_experiments", "only_datasets", "only_methods", "only_sizes")


#: What figures of the shipped measurements are called where others have their preset.
MEASURED = "measured"


class ConfigurationError(UserError):
    """The configuration asks for something that does not exist or makes no sense."""


def checked_settings(config: dict, config_dir: Path, files=()) -> dict:
    """The settings of a run (``load_settings``), checked by their schema.

    ``files`` are those that ``config`` was read from, the last one on top: a message names the one that a key is from.
    Raises ``ConfigurationError`` for an unknown preset, and for everything that the schema refuses.
    """
    documents = {shown(path): read_yaml(path) for path in files}  # a key that stands twice is an error there
    check_one_preset(config, Path(config_dir) / "presets", files)
    preset = shown(Path(config_dir) / "presets" / f"{config.get('preset')}.yaml")
    try:
        settings = load_settings(config, config_dir)
    except ConfigurationError as error:
        raise ConfigurationError(f"{origin_of('preset', config, documents, 'config.yaml')}: {error}") from error
    problems = problems_of(settings, settings_schema(Path(config_dir)))
    axes = settings.get("shard_by")
    if not problems and axes != list(AXES[: len(axes)]):
        problems = [f".shard_by: must be a beginning of {', '.join(AXES)}, not {', '.join(axes)}"]
    if problems:
        raise ConfigurationError(
            "\n".join(
                f"{origin_of(key_in(problem), config, documents, preset)}: {problem.lstrip('.: ')}"
                for problem in problems
            )
        )
    return settings


def check_one_preset(config: dict, folder: Path, files) -> None:
    """Raise ``ConfigurationError`` where the file of one preset is laid over another: what is measured would stand
    under a name that is not its own.
    """
    for path in map(Path, files):
        if path.resolve().parent == folder.resolve() and path.stem != config.get("preset"):
            raise ConfigurationError(
                f"{shown(path)}: is laid over the preset {config.get('preset')}: one preset is chosen at a time"
            )


def load_settings(config: dict, config_dir: Path) -> dict:
    """Merge a preset's file with the keys given on the command line or in ``--configfile``.

    ``config`` is what the workflow engine read: ``config.yaml`` overlaid by the user. The preset it names supplies
    every key that is missing. Raises ``ConfigurationError`` for an unknown preset.
    """
    folder = Path(config_dir) / "presets"
    known = [path.stem for path in yaml_files(folder)]
    preset = config.get("preset")
    if preset not in known:
        raise ConfigurationError(f"preset: there is no {preset!r}; {suggestion(preset, known)}")
    of_preset = read_yaml(folder / f"{preset}.yaml")
    if of_preset.get("preset") != preset:
        raise ConfigurationError(f"presets/{preset}.yaml names the preset {of_preset.get('preset')!r}, not {preset!r}")
    if preset == MEASURED:
        raise ConfigurationError(f"{MEASURED} is the name of the shipped measurements: call the preset something else")
    given = {key: typed(value) for key, value in config.items()}
    settings = merge(of_preset, given, null_removes=False)
    for key in SELECTIONS:
        # --config only_datasets=eeg,skin arrives as one text, only_sizes=1000 as a number
        if type(settings.get(key)) in (str, int):
            settings[key] = [part.strip() for part in str(settings[key]).split(",") if part.strip()]
    return settings


def origin_of(key: str, config: dict, documents: dict[str, dict], otherwise: str) -> str:
    """Where a setting is from: the last file that has it, the command line where it has another value, or elsewhere."""
    if key not in config:
        return otherwise
    having = [path for path, document in documents.items() if key in document]
    same = having and documents[having[-1]][key] == config[key]
    return having[-1] if same else "--config"


def key_in(problem: str) -> str:
    """The first key of the place that a problem names."""
    return re.match(r"\.?([^.:\[]*)", problem)[1]


@cache
def settings_schema(config_dir: Path) -> dict:
    """The schema of the settings of a run, with that of the options of every learner."""
    schema = read_schema(Path(config_dir), "config")
    return schema | {"properties": schema["properties"] | {"learners": learners_schema()}}


def typed(value):
    """A value of ``--config``, where numbers and words inside a mapping arrive as texts, as YAML has it."""
    if isinstance(value, dict):
        return {key: typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [typed(inner) for inner in value]
    if isinstance(value, str) and value.strip() and "," not in value:
        try:
            return float(value) if set(value) & set(".eE") else int(value)  # 1e6, too, which is a text in YAML
        except ValueError:
            try:
                word = yaml.safe_load(value)
            except yaml.YAMLError:
                return value
            return word if isinstance(word, int | float | bool | None) else value
    return value


def load_registry(config_dir: Path) -> registry.Registry:
    """Sources and tasks, checked by their schemas and against each other; ``UserError`` names what is wrong."""
    for name in ("sources", "datasets"):
        checked(config_dir, name)
    return registry.load(config_dir)


def load_looks(config_dir: Path) -> dict[str, dict]:
    """The names and looks of the methods, checked by their schema and against each other."""
    looks = checked(config_dir, "methods")
    problems = registry.claimed_twice(looks)
    if problems:
        where = shown(Path(config_dir) / "methods.yaml")
        raise ConfigurationError("\n".join(f"{where}: {problem}" for problem in problems))
    return looks


def checked(config_dir: Path, name: str) -> dict:
    """A file of the configuration that its schema accepts; ``ConfigurationError`` names everything that it does not."""
    path = Path(config_dir) / f"{name}.yaml"
    document = read_yaml(path)
    problems = problems_of(document, read_schema(Path(config_dir), name))
    if problems:
        raise ConfigurationError("\n".join(f"{shown(path)}: {problem.lstrip('.')}" for problem in problems))
    return document


def load_experiments(config_dir: Path, datasets=None) -> dict[str, dict]:
    """All experiments by name, ``extends`` resolved as ``merge`` does, ``steps`` written out, checked by their schema.

    ``datasets`` are the ids of all tasks; without them the data sets that are named are not looked up. Raises
    ``ConfigurationError`` that names file, experiment and key of everything that is wrong, where it stands first: what
    an experiment takes over from another is told of that one.
    """
    files, raw, resolved = resolved_experiments(config_dir)
    found = {
        name: problems_of_experiment(experiment, config_dir, datasets) for name, experiment in resolved.items()
    }  # fmt: skip
    problems = [
        f"{shown(files[name])}: {name}{problem}"
        for name, of_one in found.items()
        for problem in of_one
        if not any(problem in found[base] for base in bases_of(name, raw))
    ]
    if problems:
        raise ConfigurationError("\n".join(problems))
    return {name: with_steps({"name": name, **experiment}) for name, experiment in resolved.items()}


def laid_over(experiments: dict[str, dict], overlays: dict, config_dir: Path, datasets=None) -> dict[str, dict]:
    """Experiments by name as a run has them: ``overlays`` is what a preset runs of single ones in place of all that
    they say. Those that extend them keep it all. ``ConfigurationError`` names everything that is wrong with the result.
    """
    check_ids("experiments", set(overlays), set(experiments), "experiment")
    found = experiments | {name: merge(experiments[name], own) for name, own in overlays.items()}
    problems = [
        f"experiments.{name}{problem}"
        for name in overlays
        for problem in problems_of_experiment(
            {key: value for key, value in found[name].items() if key != "name"}, config_dir, datasets
        )
    ]
    if problems:
        raise ConfigurationError("\n".join(problems))
    return found


def resolved_experiments(config_dir: Path) -> tuple[dict[str, Path], dict[str, dict], dict[str, dict]]:
    """By name the files of all experiments, what stands there, and that laid over what it extends."""
    raw: dict[str, dict] = {}
    files: dict[str, Path] = {}
    problems = []
    for path in yaml_files(Path(config_dir) / "experiments"):
        for name, experiment in read_yaml(path).items():
            where = f"{shown(path)}: {name}"
            if name in raw:
                problems.append(f"{where}: {name!r} is defined twice, the second time in {path.name}")
            elif not re.fullmatch(NAME, str(name)):
                problems.append(f"{where}: the name of an experiment has lower-case letters, digits and hyphens only")
            elif not isinstance(experiment, dict):
                problems.append(f"{where}: must be a mapping from keys to values, not {experiment!r}")
            else:
                raw[name], files[name] = experiment, path
    if problems:
        raise ConfigurationError("\n".join(problems))
    return files, raw, extended(raw, "experiment", merge, lambda name: f"{shown(files[name])}: ")


def bases_of(name: str, raw: dict[str, dict]) -> list[str]:
    """The experiments that one extends, the nearest first."""
    found = []
    while raw[name].get("extends"):
        name = raw[name]["extends"]
        found.append(name)
    return found


def extended(raw: dict[str, dict], what: str, lay, where=lambda name: "") -> dict[str, dict]:
    """Entries by name, each laid (``lay(base, own)``) over the one that it ``extends``; nulls take keys away.

    ``where(name)`` is what a message begins with.
    """

    def resolve(name: str, trail: tuple[str, ...] = ()) -> dict:
        if not isinstance(name, str) or name not in raw:
            raise ConfigurationError(
                f"{where(trail[-1])}{trail[-1]}.extends: {what} {trail[-1]!r} extends {name!r}, which does not exist; "
                f"{suggestion(name, raw)}"
            )
        if name in trail:
            raise ConfigurationError(
                f"{where(name)}{name}.extends: {what}s extend each other in a circle: {' -> '.join((*trail, name))}"
            )
        own = dict(raw[name])
        base = own.pop("extends", None)
        return lay(resolve(base, (*trail, name)) if base else {}, own)

    return {name: resolve(name) for name in raw}


def problems_of_experiment(experiment: dict, config_dir: Path, datasets=None) -> list[str]:
    """What is wrong with an experiment, whose steps are not written out yet, as ``problems_of``."""
    kinds = modules_in("study.kinds")
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
        *problems_of_methods(experiment),
        *(problems_of_datasets(experiment, datasets) if datasets is not None else ()),
    ]


def without_nulls(document):
    """A document without the keys of its mappings that have no value."""
    if not isinstance(document, dict):
        return document
    return {key: without_nulls(value) for key, value in document.items() if value is not None}


def problems_of_methods(experiment: dict) -> list[str]:
    """What is wrong with the maps that an experiment names and with the options it gives them, as ``problems_of``."""
    own = constant_or(f"study.kinds.{experiment['kind']}", "OPTIONS", {})
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


def listed_twice(entries: list[dict]) -> list[tuple[str, str, str]]:
    """The method, variant and own kernel of entries that no row could tell apart, each once."""
    named = [(entry["method"], entry.get("variant", ""), own_kernel(entry)) for entry in entries]
    return [each for each in dict.fromkeys(named) if named.count(each) > 1]


def problems_of_kernels(experiment: dict) -> list[str]:
    """The entries with a kernel of their own in an experiment whose kind does not ask them for it, as
    ``problems_of``.
    """
    if constant_or(f"study.kinds.{experiment['kind']}", "KERNELS_OF_ENTRIES", False):
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


def spread(values: list, number: int | None) -> list:
    """``number`` of the values, evenly from the first to the last; None is all of them.

    >>> spread([1, 2, 4, 8, 16], 3)
    [1, 4, 16]
    """
    if number is None or number >= len(values):
        return values
    steps = max(1, number - 1)
    return [values[round(i * (len(values) - 1) / steps)] for i in range(number)]


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


def kind_constant(experiment: dict, name: str):
    """A constant of the kind of an experiment: STAGES, NEEDS_DATA or RESOURCES."""
    return constant(f"study.kinds.{experiment['kind']}", name)


def kernel_id(kernel: dict) -> str:
    """The id of a kernel as rows have it; of one that an experiment leaves open (a family), the name of the family.

    It is the ``name`` of the kernel object, read from ``KERNELS`` without an import of it.
    """
    try:
        return constant("kernels", "KERNELS")[kernel["name"]].get("id", kernel["name"]).format(**kernel)
    except KeyError:
        return kernel["name"]


def own_kernel(entry: dict) -> str:
    """The id of the kernel that an entry has in place of the experiment's; empty where it has none."""
    return kernel_id(entry["kernel"]) if "kernel" in entry else ""


def kernels_of(experiment: dict) -> list[dict]:
    """The kernels of an experiment's methods: its own, where one of them has no other, and theirs; each once."""
    found = [entry.get("kernel", experiment["kernel"]) for entry in filter(None, experiment["methods"])]
    return [kernel for i, kernel in enumerate(found) if kernel not in found[:i]]


def check_ids(where: str, used: set[str], known: set[str], what: str) -> None:
    """Raise ``ConfigurationError`` that names ids without an entry in their registry."""
    unknown = sorted(used - known)
    if unknown:
        raise ConfigurationError(f"{where} names the {what} {', '.join(unknown)}; {suggestion(unknown[0], known)}")


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
