"""Read the configuration (settings, registries and experiments), merge it, and check it before any work is planned.

An experiment states what a paper ran (``study.models``). Keys that differ on a data set are below ``datasets.<id>`` and
override the experiment there. The workflow imports this module when it parses, so it imports nothing that computes.
"""

import re
from contextlib import suppress
from pathlib import Path

import yaml

from rfstudy.data import registry
from rfstudy.data.tasks import without
from rfstudy.fields import FORM_OF_NAME, NAME
from rfstudy.files import ConfigurationError, extended, read_yaml, shown, yaml_files
from rfstudy.models import problems_of, suggestion
from rfstudy.study.experiment import with_steps
from rfstudy.study.job import merge
from rfstudy.study.models import problems_of_experiment
from rfstudy.study.settings import Method, Settings

#: Settings that restrict a run.
SELECTIONS = ("only_experiments", "only_datasets", "only_methods", "only_sizes")

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


# --- Settings ---------------------------------------------------------------------------------------------------------


def checked_settings(config: dict, config_dir: Path, files=()) -> dict:
    """Return the checked settings of a run (``load_settings``).

    ``files`` are the sources of ``config``; later files override earlier ones. A message names the file that a key is
    from. Raise ``ConfigurationError`` for an unknown preset and for every key or value that the model refuses.
    """
    documents = {shown(path): read_yaml(path) for path in files}
    presets = Path(config_dir) / "presets"
    why = f"is laid over the preset {config.get('preset')}: one preset is chosen at a time"
    given = [path for path in map(Path, files) if path.resolve().parent == presets.resolve()]
    stop_at([f"{shown(path)}: {why}" for path in given if path.stem != config.get("preset")])
    try:
        settings = load_settings(config, config_dir)
    except ConfigurationError as error:
        raise ConfigurationError(f"{origin_of('preset', config, documents, 'config.yaml')}: {error}") from error
    of_preset = shown(presets / f"{settings['preset']}.yaml")
    found = [problem.lstrip(".: ") for problem in problems_of(Settings, settings)]
    keys = [re.match(r"[^.:\[]*", problem)[0] for problem in found]
    stop_at([f"{origin_of(key, config, documents, of_preset)}: {p}" for key, p in zip(keys, found, strict=True)])
    return settings


def load_settings(config: dict, config_dir: Path) -> dict:
    """Return the settings of a preset, overridden by the keys of the command line or of ``--configfile``.

    ``config`` is the mapping that Snakemake read: ``config.yaml``, overridden by the user's keys. Raise
    ``ConfigurationError`` for an unknown preset.
    """
    folder = Path(config_dir) / "presets"
    known = [path.stem for path in yaml_files(folder)]
    preset = config.get("preset")
    if preset not in known:
        raise ConfigurationError(f"preset: there is no {preset!r}; {suggestion(preset, known)}")
    of_preset = read_yaml(folder / f"{preset}.yaml")
    if of_preset.get("preset") != preset:
        raise ConfigurationError(f"presets/{preset}.yaml names the preset {of_preset.get('preset')!r}, not {preset!r}")
    if preset in (MEASURED, YOURS):
        what = "the shipped measurements" if preset == MEASURED else "figures next to the shipped measurements"
        raise ConfigurationError(f"{preset} is the name of {what}: call the preset something else")
    given = {key: value if key in NAMES and value != "null" else typed(value) for key, value in config.items()}
    settings = merge(of_preset, given, null_removes=False)
    for key in SELECTIONS:
        # --config only_datasets=eeg,skin arrives as one text, only_sizes=1000 as a number
        if type(settings.get(key)) in (str, int):
            named = [part.strip() for part in str(settings[key]).split(",")]
            if len(named) > 1 and "" in named:
                raise ConfigurationError(f"{key}: {settings[key]!r} has a comma that no name follows or precedes")
            settings[key] = [part for part in named if part]
    return settings


def restore_names(config: dict, arguments: list[str]) -> None:
    """Set each name in the settings to the text of the command line, which Snakemake may have read as something else:
    007 as 7, 2024_01 as 202401, "a #1" as "a". ``arguments`` are the words of the command line.

    Raise ``ConfigurationError`` for a name from elsewhere that is not a text.
    """
    written = {key: value.strip("'\"") for key, _, value in (word.partition("=") for word in arguments)}
    for key in NAMES:
        if key in written and not isinstance(config.get(key), list | None):
            config[key] = written[key]
    # labels of sizes are numbers too
    found = [(key, config[key]) for key in NAMES if not isinstance(config.get(key), str | list | None)]
    stop_at([
        f"{key}: {value!r} is not a text: write {key}=NAME after --config, or {key}: \"NAME\", in quotes, in a file"
        for key, value in found if key != "only_sizes"
    ])  # fmt: skip


def origin_of(key: str, config: dict, documents: dict[str, dict], otherwise: str) -> str:
    """Return the origin of a setting: the last file that has it, or the command line if that gives another value."""
    if key not in config:
        return otherwise
    having = [path for path, document in documents.items() if key in document]
    same = having and documents[having[-1]][key] == config[key]
    return having[-1] if same else "--config"


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
    stop_at([f"{shown(path)}: {problem}" for problem in found or registry.claimed_twice(methods)])
    return methods


# --- Experiments ------------------------------------------------------------------------------------------------------


def load_experiments(config_dir: Path, datasets=None) -> dict[str, dict]:
    """Return all experiments by name, with ``extends`` resolved and ``steps`` written out, checked by their models.

    ``datasets`` are the ids of all tasks; without them the names of data sets are not looked up. Raise
    ``ConfigurationError`` with file, experiment and key of every problem. An inherited problem is reported once, for
    the experiment that states it.
    """
    files, raw, resolved = resolved_experiments(config_dir)
    found = {name: problems_of_experiment(experiment, datasets) for name, experiment in resolved.items()}
    stop_at(lines_of(found, files, raw))
    return {name: with_steps({"name": name, **experiment}) for name, experiment in resolved.items()}


def laid_over(experiments: dict[str, dict], overlays: dict, datasets=None) -> dict[str, dict]:
    """Return the experiments of a run, with a preset's ``overlays``. An overlay applies to one experiment, not to those
    that extend it. Raise ``ConfigurationError`` for every problem of the result.
    """
    check_ids("experiments", set(overlays), set(experiments), "experiment")
    found = experiments | {name: merge(experiments[name], own) for name, own in overlays.items()}
    plain = {name: without(found[name], "name") for name in overlays}
    stop_at([f"experiments.{name}{p}" for name, each in plain.items() for p in problems_of_experiment(each, datasets)])
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
                problems.append(f"{where}: {name!r} is defined twice, the second time in {path.name}")
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


def bases_of(name: str, raw: dict[str, dict]) -> list[str]:
    """Return the experiments that an experiment extends, the nearest first."""
    found = []
    while raw[name].get("extends"):
        name = raw[name]["extends"]
        found.append(name)
    return found


def check_ids(where: str, used: set[str], known: set[str], what: str) -> None:
    """Raise ``ConfigurationError`` for ids that do not exist."""
    unknown = sorted(used - known)
    if unknown:
        raise ConfigurationError(f"{where} names the {what} {', '.join(unknown)}; {suggestion(unknown[0], known)}")
