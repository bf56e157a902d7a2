"""The configuration: presets, registries, and experiments with what they extend, read and checked before any work is
planned.

An experiment is a mapping that says what a paper ran, with the keys of its schema (``schema``). What differs by data
set stands under ``datasets.<id>`` and is laid over the experiment there.

Imported by the workflow when it parses: the standard library, PyYAML and, to check, jsonschema only.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import yaml

from random_features.errors import UserError
from rfstudy.data import registry
from rfstudy.files import read_yaml, shown, yaml_files
from rfstudy.study.experiment import with_steps
from rfstudy.study.job import merge
from rfstudy.study.schema import learners_schema, problems_of, read_schema, suggestion
from rfstudy.study.validate import problems_of_experiment

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


def load_methods(config_dir: Path) -> dict[str, dict]:
    """Labels, plot styles and published names of the methods, checked by their schema and against each other."""
    methods = checked(config_dir, "methods")
    problems = registry.claimed_twice(methods)
    if problems:
        where = shown(Path(config_dir) / "methods.yaml")
        raise ConfigurationError("\n".join(f"{where}: {problem}" for problem in problems))
    return methods


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


def check_ids(where: str, used: set[str], known: set[str], what: str) -> None:
    """Raise ``ConfigurationError`` that names ids without an entry in their registry."""
    unknown = sorted(used - known)
    if unknown:
        raise ConfigurationError(f"{where} names the {what} {', '.join(unknown)}; {suggestion(unknown[0], known)}")
