"""Read the configuration of a run (settings, registries and experiments), merge it, and check it before any work is
planned: ``load_study``.

An experiment states what a paper ran (``planning.models``). Keys that differ on a data set are below
``datasets.<id>`` and override the experiment there. The preset overrides both, and selects what a run builds. The
workflow imports this module when it parses, so it imports nothing that computes.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import yaml

from random_features.errors import check_known, gathered
from random_features.maps.registry import REGISTRY
from rfstudy.data import registry as data_registry
from rfstudy.data.tasks import without
from rfstudy.fields import FORM_OF_NAME, NAME, listed
from rfstudy.files import ConfigurationError, extended, read_yaml, shown, yaml_files
from rfstudy.models import problems_of, suggestion
from rfstudy.planning.models import entries_with_steps, problems_of_experiment, with_steps, without_nulls
from rfstudy.planning.plan import on_dataset
from rfstudy.planning.problems import problems_of_sizes, problems_on_datasets
from rfstudy.planning.settings import Method, Settings
from rfstudy.study.job import merge, own_kernel, sizes, spread, wanted_sizes
from rfstudy.study.kinds.registry import KINDS

#: Settings that restrict a run.
SELECTIONS = ("only_experiments", "only_datasets", "only_methods", "only_sizes")

#: Settings with parts of protocols, and keys in them that are amounts of work.
PROTOCOL = ("search", "learners", "experiments", "seed")
AMOUNTS = {"repeats", "max_rows", "max_entries", "time", "only_sizes", "largest_multiple_of_d"}

#: Settings that are names. Snakemake takes some for numbers or for YAML (``restore_names``).
NAMES = ("own", "target", "preset", "mirror", *SELECTIONS)

#: The name that figures of the shipped measurements use instead of a preset.
MEASURED = "measured"

#: The name that figures use in which a run's own methods are next to the shipped measurements.
YOURS = "yours"


def stop_at(problems: list[str]) -> None:
    """Raise ``ConfigurationError`` with a line per problem, if there are any."""
    if problems:
        raise ConfigurationError("\n".join(problems))


class Study(NamedTuple):
    """The configuration of a run: its settings, the registries, all experiments, those that it builds, and by their
    names what it changes in them (``changes_in``).
    """

    settings: dict
    registry: data_registry.Registry
    methods: dict[str, dict]
    experiments: dict[str, dict]
    chosen: dict[str, dict]
    changes: dict[str, dict]


def load_study(given: dict, config_dir, files=()) -> Study:
    """Return the checked configuration of a run; parameters are as in ``checked_settings``.

    Raise ``ConfigurationError`` with a line for every problem.
    """
    problems: list[str] = []
    with gathered(problems):
        settings = checked_settings(given, config_dir, files)
    with gathered(problems):
        registry = data_registry.load(config_dir)
    with gathered(problems):
        methods = load_methods(config_dir)
    stop_at(problems)
    datasets = set(registry.tasks)
    experiments = load_experiments(config_dir, datasets)
    of_preset = f"presets/{settings['preset']}.yaml"
    origin = origin_of("experiments", given, files, shown(Path(config_dir) / of_preset))
    of_run = laid_over(experiments, settings.get("experiments", {}), datasets, f"{origin}: experiments")
    chosen = select(of_run, settings, datasets)
    check_selection(chosen, settings)
    found = [(name, p) for name, each in chosen.items() for p in problems_on_datasets(each, settings, registry.tasks)]
    if found:
        stop_at(located(found, config_dir))
    usual, changes = reduce(merge, (read_yaml(Path(config_dir) / name) for name in ("config.yaml", of_preset))), {}
    if changed := protocol_changes(settings, usual):
        plain = settings | {"experiments": {}} | {key: usual[key] for key in PROTOCOL if key in usual}
        before = selected(laid_over(experiments, plain["experiments"]), plain)
        for name, each in chosen.items():
            other = before.get(name, {"datasets": {}, "methods": []}) | {"seed": plain["seed"]}
            changes[name] = changes_in(each | {"seed": settings["seed"]}, other, changed)
    return Study(settings, registry, methods, experiments, chosen, changes)


# --- Settings ---------------------------------------------------------------------------------------------------------


def checked_settings(config: dict, config_dir: Path, files=()) -> dict:
    """Return the checked settings of a run (``load_settings``).

    ``files`` are the sources of ``config``; later files override earlier ones. A message names the file that a key is
    from. Raise ``ConfigurationError`` for an unknown preset and for every key or value that the model refuses.
    """
    general = Path(config_dir, "config.yaml").resolve()
    usual = read_yaml(general)
    for path in files:  # Snakemake, which has read them, takes the last of equal keys
        usual = usual if Path(path).resolve() == general else without(usual, *read_yaml(path))
    presets = Path(config_dir) / "presets"
    why = f"is laid over the preset {config.get('preset')}: one preset is chosen at a time"
    given = [path for path in map(Path, files) if path.resolve().parent == presets.resolve()]
    stop_at([f"{shown(path)}: {why}" for path in given if path.stem != config.get("preset")])
    try:
        settings = load_settings(config, config_dir, usual.items())
    except ConfigurationError as error:
        raise ConfigurationError(f"{origin_of('preset', config, files, 'config.yaml')}: {error}") from error
    of_preset = shown(presets / f"{settings['preset']}.yaml")
    found = [problem.lstrip(".: ") for problem in problems_of(Settings, settings)]
    keys = [re.match(r"[^.:\[]*", problem)[0] for problem in found]
    stop_at([f"{origin_of(key, config, files, of_preset)}: {p}" for key, p in zip(keys, found, strict=True)])
    return settings


def load_settings(config: dict, config_dir: Path, usual=()) -> dict:
    """Return the settings of a preset, overridden by the keys of the command line or of ``--configfile``.

    ``config`` is the mapping that Snakemake read: ``config.yaml``, overridden by the user's keys. The preset overrides
    the pairs of a key and its value in ``usual``, which only ``config.yaml`` states. Raise ``ConfigurationError`` for
    an unknown preset.
    """
    folder = Path(config_dir) / "presets"
    known = [path.stem for path in yaml_files(folder)]
    check_known("preset: there is no", preset := config.get("preset"), known, ConfigurationError)
    of_preset = read_yaml(folder / f"{preset}.yaml")
    if of_preset.get("preset") != preset:
        raise ConfigurationError(f"presets/{preset}.yaml names the preset {of_preset.get('preset')!r}, not {preset!r}")
    if preset in (MEASURED, YOURS):
        what = "the shipped measurements" if preset == MEASURED else "figures next to the shipped measurements"
        raise ConfigurationError(f"{preset} is the name of {what}: call the preset something else")
    given = {key: value for key, value in config.items() if key not in of_preset or (key, value) not in usual}
    given = {key: value if key in NAMES and value != "null" else typed(value) for key, value in given.items()}
    settings = merge(of_preset, given, null_removes=False)
    for key in SELECTIONS:
        # --config only_datasets=eeg,skin arrives as one text, only_sizes=1000 as a number
        if type(settings.get(key)) in (str, int):
            named = [part.strip() for part in str(settings[key]).split(",")]
            if len(named) > 1 and "" in named:
                raise ConfigurationError(f"{key}: {settings[key]!r} has a comma that no name follows or precedes")
            settings[key] = [part for part in named if part]
    return settings


def protocol_changes(settings: dict, of_preset: dict) -> dict[tuple[str, ...], object]:
    """Return the values that a run changes in the protocols of its preset, by their keys from the top.

    Amounts of work (``AMOUNTS``), which notes report, and keys that it removes are no changes.
    """
    both = [dict(_leaves({key: each.get(key, {}) for key in PROTOCOL})) for each in (of_preset, settings)]
    new = {key: value for key, value in both[1].items() if both[0].get(key) != value and value is not None}
    return {key: value for key, value in new.items() if not set(key) & AMOUNTS}


def changes_in(experiment: dict, before: dict, changes: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], object]:
    """Return the values of an experiment that are other than ``before`` on one of its data sets, by the changed keys of
    the settings. A key that one of the data set overrides has no effect, and is left out.
    """
    found = {}
    for key in changes:
        own, path = (key[:2], key[2:]) if key[0] == "experiments" else ((), key)
        here = experiment["datasets"] or [""]
        if path[0] == "datasets":
            own, here, path = key[:4], path[1:2], path[2:]
        if own[1:2] in ((), (experiment["name"],)):
            pairs = ([reduce(_inner, path, on_dataset(of, each)) for of in (experiment, before)] for each in here)
            found |= {(*own, *path): new for new, old in pairs if new != old}
    return found


def _inner(document, key: str):
    return document.get(key) if isinstance(document, dict) else None


def _leaves(value, key: tuple[str, ...] = ()):
    """Yield the values of nested mappings with their keys from the top."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, (*key, str(name)))
    else:
        yield key, value


def restore_names(config: dict, arguments: list[str]) -> None:
    """Set each name in the settings to the text of the command line, which Snakemake may have read as something else:
    007 as 7, 2024_01 as 202401, "a #1" as "a", an empty text as null. ``arguments`` are the words of the command line.

    Raise ``ConfigurationError`` for a name from elsewhere that is not a text.
    """
    written = {key: value.strip("'\"") for key, _, value in (word.partition("=") for word in arguments)}
    for key in NAMES:
        if written.get(key) == "" or (key in written and not isinstance(config.get(key), list | None)):
            config[key] = written[key]
    # labels of sizes are numbers too
    found = [(key, config[key]) for key in NAMES if not isinstance(config.get(key), str | list | None)]
    stop_at([
        f"{key}: {value!r} is not a text: write {key}=NAME after --config, or {key}: \"NAME\", in quotes, in a file"
        for key, value in found if key != "only_sizes"
    ])  # fmt: skip


def origin_of(key: str, config: dict, files, otherwise: str) -> str:
    """Return the origin of a setting: the last file that has it, or the command line if that gives another value."""
    if key not in config:
        return otherwise
    having = [(shown(path), document[key]) for path in files if key in (document := read_yaml(path))]
    return having[-1][0] if having and having[-1][1] == config[key] else "--config"


def typed(value):
    """Return a value of ``--config`` as YAML reads it. Numbers and words inside a mapping arrive as texts."""
    if isinstance(value, dict):
        return {key: typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [typed(inner) for inner in value]
    if isinstance(value, str) and value.strip() and "," not in value:
        with suppress(ValueError):
            return float(value) if set(value) & set(".eE") else int(value)  # also 1e6, which is a text in YAML
        with suppress(yaml.YAMLError):
            word = yaml.safe_load(value)
            return word if isinstance(word, int | float | bool | None) else value
    return value


# --- Registries -------------------------------------------------------------------------------------------------------


def load_methods(config_dir: Path) -> dict[str, dict]:
    """Return labels, plot styles and published names of the methods, checked."""
    path = Path(config_dir) / "methods.yaml"
    methods = read_yaml(path)
    found = [f"{name}{problem}" for name, entry in methods.items() for problem in problems_of(Method, entry)]
    stop_at([f"{shown(path)}: {problem}" for problem in found or data_registry.claimed_twice(methods)])
    return methods


# --- Experiments ------------------------------------------------------------------------------------------------------


def load_experiments(config_dir: Path, datasets=None) -> dict[str, dict]:
    """Return all experiments by name, with ``extends`` resolved and ``steps`` written out, checked by their models.

    ``datasets`` are the ids of all tasks; without them the names of data sets are not looked up. Raise
    ``ConfigurationError`` with file, experiment and key of every problem. An inherited problem is reported once, for
    the experiment that states it.
    """
    files, raw, resolved = resolved_experiments(config_dir)
    found = {name: problems_of_experiment(each, datasets) for name, each in resolved.items()}
    for name in (name for name in resolved if not found[name]):
        found[name] = problems_of_sizes(resolved[name], size_labels([resolved[name]]))
    stop_at(lines_of(found, files, raw))
    return {name: with_steps({"name": name, **experiment}) for name, experiment in resolved.items()}


def laid_over(experiments: dict[str, dict], overlays: dict, datasets=None, where="experiments") -> dict[str, dict]:
    """Return the experiments of a run, with ``overlays``. An overlay applies to one experiment, not to those that
    extend it. Raise ``ConfigurationError`` for every problem of the result, with the place of the overlays (``where``).
    """
    check_ids((where, overlays, experiments, "experiment"))
    found = experiments | {name: merge(experiments[name], own) for name, own in overlays.items()}
    plain = {name: without(found[name], "name") for name in overlays}
    stop_at([f"{where}.{name}{p}" for name, each in plain.items() for p in problems_of_experiment(each, datasets)])
    return found


def resolved_experiments(config_dir: Path) -> tuple[dict[str, Path], dict[str, dict], dict[str, dict]]:
    """Return, by name, the files of all experiments, their content, and this content merged into what it extends."""
    raw: dict[str, dict] = {}
    files: dict[str, Path] = {}
    problems = []
    for path in yaml_files(Path(config_dir) / "experiments"):
        for name, experiment in read_yaml(path).items():
            where = f"{shown(path)}: {name}"
            if name in raw:
                problems.append(f"{where}: {shown(files[name])} has an experiment of this name, too: rename one")
            elif not re.fullmatch(NAME, name):
                problems.append(f"{where}: the name of an experiment has {FORM_OF_NAME}")
            else:
                raw[name], files[name] = experiment, path
    stop_at(problems)
    return files, raw, extended(raw, "experiment", merge, lambda name: f"{shown(files[name])}: ")


def lines_of(found: dict[str, list[str]], files: dict[str, Path], raw: dict[str, dict]) -> list[str]:
    """Return a line per problem with its file. An inherited problem is reported for the experiment that states it."""
    return [
        f"{shown(files[name])}: {name}{problem}"
        for name, problems in found.items()
        for problem in dict.fromkeys(problems)
        if not any(problem in found.get(base, []) for base in bases_of(name, raw))
    ]


def bases_of(name: str, raw: dict[str, dict]):
    """Yield the experiments that an experiment extends, the nearest first."""
    while name := raw[name].get("extends"):
        yield name


def located(found: list[tuple[str, str]], config_dir) -> list[str]:
    """Return ``lines_of`` problems that ``found`` has by experiment, with the positions of entries in the files."""
    files, raw, resolved = resolved_experiments(config_dir)
    of_one: dict[str, dict[str, str]] = {name: {} for name, _ in found}
    for name, problem in found:
        # the same mistake appears on every data set, with other numbers
        mistake = re.sub(r"\d+ (columns|training rows)|there are \d+", "", problem)
        # the position of an entry is that in the file, which does not write out the steps
        positions = [i for i, _ in entries_with_steps(resolved[name])]
        head, _, rest = problem.partition("]")
        if head.startswith(".methods["):
            problem = f".methods[{positions[int(head.removeprefix('.methods['))]}]{rest}"
        of_one[name].setdefault(mistake, problem)
    return lines_of({name: list(first.values()) for name, first in of_one.items()}, files, raw)


def check_ids(*named: tuple) -> None:
    """Raise one ``ConfigurationError`` for all ids that do not exist. ``named`` has where ids are used, the ids, the
    known ones, and what they name.
    """
    stop_at([
        f"{where} names the {what} {', '.join(unknown)}; {suggestion(unknown[0], known)}"
        for where, used, known, what in named
        if (unknown := sorted(set(used) - set(known)))
    ])  # fmt: skip


# --- The experiments of a run -----------------------------------------------------------------------------------------


def select(experiments: dict[str, dict], settings: dict, datasets: set[str]) -> dict[str, dict]:
    """Return the experiments that a run builds, with every id of the settings checked."""
    check_ids(
        ("only_experiments", settings["only_experiments"], experiments, "experiment"),
        ("only_methods", settings["only_methods"], REGISTRY, "method"),
        ("only_datasets", settings["only_datasets"], datasets, "data set"),
        ("prepared_together", settings.get("prepared_together", []), datasets, "data set"),
        ("only_sizes", settings["only_sizes"], size_labels(experiments.values()), "size"),
    )
    return selected(experiments, settings)


def selected(experiments: dict[str, dict], settings: dict) -> dict[str, dict]:
    """Return experiments with ``only_*`` applied, without those of which nothing is left.

    An experiment overrides what the preset says about searches, learners and the largest size.
    """
    wanted, chosen = settings["only_experiments"], {}
    for name, experiment in experiments.items():
        if wanted and name not in wanted:
            continue
        experiment = restricted(with_preset(experiment, settings), settings)
        # a user who asks for data sets does not ask for an experiment without any
        wants_data = KINDS[experiment["kind"]].needs_data or bool(settings["only_datasets"])
        if experiment["methods"] and has_sizes(experiment) and (experiment["datasets"] or not wants_data):
            chosen[name] = experiment
    return chosen


def has_sizes(experiment: dict) -> bool:
    """Return whether an entry of an experiment runs at a size, if its kind has sizes. A data set without any size is
    no reason to leave the experiment out: it is reported later.
    """
    left = size_lists(experiment)
    if not any(any(of.values()) for of in left):
        return not left
    there = (on_dataset(experiment, dataset) for dataset in experiment["datasets"])  # most often the first decides
    pairs = (({label for _, label in sizes(own["sizes"], 1)}, filter(None, own["methods"])) for own in there)
    return any(not at or any(at & {*entry.get("only_sizes", at)} for entry in entries) for at, entries in pairs)


def size_lists(experiment: dict) -> list[dict]:
    """Return the sizes of an experiment, and those for single data sets."""
    everywhere = [experiment, *(own or {} for own in experiment.get("datasets", {}).values())]
    return [without_nulls(each["sizes"]) for each in everywhere if "sizes" in each]


def size_labels(experiments: Iterable[dict]) -> set[str]:
    """Return the labels of all sizes of some experiments."""
    return {label for each in experiments for of in size_lists(each) for _, label in sizes(of, 1)}


def check_selection(chosen: dict[str, dict], settings: dict) -> None:
    """Raise ``ConfigurationError`` if a run has nothing to do, or nothing for an id to which it is restricted."""
    everywhere = list(chosen.values())
    present = {
        "only_experiments": set(chosen),
        "only_datasets": {dataset for each in everywhere for dataset in each["datasets"]},
        "only_methods": {entry["method"] for each in everywhere for entry in each["methods"]},
        "only_sizes": size_labels(everywhere),
    }
    given = " ".join(f"{key}={','.join(settings[key])}" for key in SELECTIONS if settings[key])
    under = f"under {given} and the preset {settings['preset']}" if given else f"under the preset {settings['preset']}"
    absent = [(key, each) for key in SELECTIONS for each in settings[key] if each not in present[key]]
    problems = [f"{key}: {each!r}: nothing is left of it {under}" for key, each in absent]
    stop_at(problems or ([] if chosen else [f"there is nothing to do {under}"]))


def with_preset(experiment: dict, settings: dict) -> dict:
    """Return an experiment with the defaults of the preset: the scope of a search, the learners' solvers and limits.

    The preset's options for the learners of this experiment override its options for those of all experiments.
    """
    of_preset = {}
    if "learners" in experiment:
        own = settings.get("experiments", {}).get(experiment["name"], {})
        options, of_datasets = with_own(settings["learners"], own), own.get("datasets") or {}
        learners = {name: each for name, each in experiment["learners"].items() if each is not None}
        datasets = dict(experiment["datasets"])
        for name in (name for name, each in datasets.items() if each and each.get("learners")):
            on_it = with_own(options, of_datasets.get(name) or {})
            datasets[name] = datasets[name] | {"learners": overridden(datasets[name]["learners"], on_it)}
        for name in (name for name, each in datasets.items() if each and "search" in each and each["search"] is None):
            # null removes the experiment's own search, and leaves the preset's
            datasets[name] = datasets[name] | {
                "search": dict.fromkeys(experiment.get("search", {})) | settings["search"]
            }
        search = merge(settings["search"], experiment.get("search", {}))
        of_preset = {"search": search, "learners": overridden(learners, options), "datasets": datasets}
    if "time" in experiment:
        of_preset["time"] = settings["time"] | experiment["time"]
    return experiment | of_preset


def with_own(options: dict, own: dict) -> dict:
    """Return the options that a preset sets for learners, including those for one experiment or one data set of it."""
    return merge(options, own.get("learners") or {}, null_removes=False)


def overridden(learners: dict, options: dict) -> dict:
    """Return the options of learners, overridden by a preset's; None stays: it removes a learner on a data set."""
    return {name: own and merge(own, options.get(name) or {}) for name, own in learners.items()}


def restricted(experiment: dict, settings: dict) -> dict:
    """Return an experiment with the methods, data sets and sizes that a run asks for, and complete entries. A data set
    without any of these sizes is left out.
    """
    experiment = with_fewer_values(experiment, settings["most_values"])
    methods, datasets = settings["only_methods"], settings["only_datasets"]
    entries = [completed(each) for each in experiment["methods"] if not methods or each["method"] in methods]
    stated = experiment.get("datasets", {})
    kept = {key: dict(own or {}) for key, own in stated.items() if not datasets or key in datasets}
    result = experiment | {"methods": entries, "datasets": kept}
    if "method" in result.get("search", {}):
        kernels, shared = {own_kernel(entry) for entry in entries}, listed(result["search"]["method"])
        standing = [completed(entry) for entry in shared if own_kernel(entry) in kernels]
        result["search"] = result["search"] | {"method": standing}
    for own in (result, *kept.values()):
        if "sizes" in own:
            stated = without_nulls(own["sizes"])  # null removes sizes of the experiment on a data set
            wanted = wanted_sizes(stated, settings["largest_multiple_of_d"], settings["only_sizes"])
            own["sizes"] = own["sizes"] | wanted
    if "sizes" in result and settings["only_sizes"]:
        result["datasets"] = {name: kept[name] for name in kept if any(on_dataset(result, name)["sizes"].values())}
    return result


def with_fewer_values(document, number: int | None, key: str = ""):
    """Return a document, the value of a key, with a limited number of values, evenly spaced from the first to the last.
    The limit applies to the ``values`` of sizes and sweeps, and to the mappings that a search tries in its ``grid``
    (for all maps, or by map). None keeps all.
    """
    if isinstance(document, list):
        return spread(document, number) if key == "values" else [with_fewer_values(each, number) for each in document]
    if not isinstance(document, dict):
        return document
    if key in ("bandwidth", "options") and "grid" in document:
        grid = document["grid"]
        of = grid if isinstance(grid, dict) else {}
        by_map = {method: tried and spread(tried, number) for method, tried in of.items()}  # null removes a map's
        return document | {"grid": by_map or spread(grid, number)}
    return {name: with_fewer_values(value, number, name) for name, value in document.items()}


def completed(entry: dict) -> dict:
    """Return an entry with its variant and options."""
    return {"variant": "", "options": {}, **entry}


def is_asked_for(experiment: dict, settings: dict) -> bool:
    """Return whether a run that names no outputs makes those of an experiment. An experiment ``on_demand`` must be
    named.
    """
    return not experiment.get("on_demand", False) or experiment["name"] in settings["only_experiments"]
