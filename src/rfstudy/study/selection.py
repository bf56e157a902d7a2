"""What a run builds of all experiments: those that it is restricted to, under and over which its preset lays its own.

Imported by the workflow when it parses: the standard library, PyYAML and, to check, jsonschema only.
"""

from __future__ import annotations

from random_features.learners import entry as learners
from random_features.maps.registry import resolved_options
from rfstudy.study.config import SELECTIONS, ConfigurationError, check_ids
from rfstudy.study.experiment import kind_constant, listed_twice, size_lists, standing_for_all, wanted_sizes
from rfstudy.study.job import merge, own_kernel, sizes, spread
from rfstudy.study.schema import closed, learner_schema, problems_of


def select(experiments: dict[str, dict], settings: dict, maps: dict[str, str], datasets: set[str]) -> dict[str, dict]:
    """The experiments that a run builds: ``only_*`` applied, every id checked against the registries.

    ``maps`` gives the modules of the feature maps by id. What the preset says of searches, learners and the largest
    size is laid under what an experiment says.
    """
    wanted = set(settings["only_experiments"])
    check_ids("only_experiments", wanted, set(experiments), "experiment")
    for name, experiment in experiments.items():
        used = {entry["method"] for entry in experiment["methods"]}
        check_ids(f"experiment {name!r}", used | set(experiment.get("options", {})), set(maps), "method")
        check_ids(f"experiment {name!r}", datasets_named(experiment), datasets, "data set")
    check_learners(settings["learners"])
    check_ids("only_methods", set(settings["only_methods"]), set(maps), "method")
    check_ids("only_datasets", set(settings["only_datasets"]), datasets, "data set")
    check_ids("prepared_together", set(settings.get("prepared_together", [])), datasets, "data set")
    labels = {label for e in experiments.values() for each in size_lists(e) for _, label in sizes(each, 1)}
    check_ids("only_sizes", set(settings["only_sizes"]), labels, "size")
    chosen = {}
    for name, experiment in experiments.items():
        if wanted and name not in wanted:
            continue
        experiment = restricted(with_preset(experiment, settings), settings, maps)
        needs_data = kind_constant(experiment, "NEEDS_DATA")
        # whoever asks for data sets does not ask for an experiment without any
        wants_data = needs_data or bool(settings["only_datasets"])
        left = size_lists(experiment)
        has_sizes = not left or any(any(of.values()) for of in left)
        if experiment["methods"] and has_sizes and (experiment["datasets"] or not wants_data):
            chosen[name] = experiment
    return chosen


def check_selection(chosen: dict[str, dict], settings: dict) -> None:
    """Raise ``ConfigurationError`` where a run has nothing to do, or something that it is restricted to is in none of
    its experiments: whoever names an id wants something of it.
    """
    everywhere = list(chosen.values())
    present = {
        "only_experiments": set(chosen),
        "only_datasets": {dataset for each in everywhere for dataset in each["datasets"]},
        "only_methods": {entry["method"] for each in everywhere for entry in each["methods"]},
        "only_sizes": {label for each in everywhere for of in size_lists(each) for _, label in sizes(of, 1)},
    }
    given = [f"{key}={','.join(settings[key])}" for key in SELECTIONS if settings[key]]
    left = f"nothing is left of it under {' '.join(given)} and the preset {settings['preset']}"
    problems = [f"{key}: {each!r}: {left}" for key in SELECTIONS for each in settings[key] if each not in present[key]]
    if not chosen and not problems:
        problems = [f"there is nothing to do under {' '.join(given)} and the preset {settings['preset']}"]
    if problems:
        raise ConfigurationError("\n".join(problems))


def check_learners(options: dict) -> None:
    """Raise ``ConfigurationError`` unless a preset's options by learner are of learners that there are."""
    check_ids("learners", set(options), set(learners.known()), "learner")
    problems = problems_of(options, closed({name: closed(learner_schema(name)) for name in options}))
    if problems:
        raise ConfigurationError("\n".join(f"learners{problem}" for problem in problems))


def with_preset(experiment: dict, settings: dict) -> dict:
    """An experiment over what the preset says of it: who shares a search, the learners' solvers and limits. What it
    says of the learners of this experiment counts more than what it says of those of all.
    """
    of_preset = {}
    if "learners" in experiment:
        own = settings.get("experiments", {}).get(experiment["name"], {})
        laid_over, of_datasets = with_own(settings["learners"], own), own.get("datasets") or {}
        of_preset = {
            "search": merge(settings["search"], experiment.get("search", {})),
            "learners": {
                name: merge(options, laid_over.get(name) or {})
                for name, options in experiment["learners"].items()
                if options is not None
            },
            "datasets": {
                name: with_learners(on_it, with_own(laid_over, of_datasets.get(name) or {}))
                for name, on_it in experiment["datasets"].items()
            },
        }
    if "time" in experiment:
        of_preset["time"] = settings["time"] | experiment["time"]
    if "grid" in experiment and settings["extent"] == "large":
        of_preset["grid"] = merge(experiment["grid"], experiment.get("large", {}))
    return experiment | of_preset


def with_own(laid_over: dict, own: dict) -> dict:
    """What a preset lays over learners, with what it says of them for one experiment, or one data set of it."""
    return merge(laid_over, own.get("learners") or {}, null_removes=False)


def with_learners(on_dataset: dict | None, laid_over: dict) -> dict | None:
    """What an experiment says of a data set, with a preset's options laid over those of learners that it states."""
    if not (on_dataset or {}).get("learners"):
        return on_dataset
    learners = {
        name: options and merge(options, laid_over.get(name) or {}) for name, options in on_dataset["learners"].items()
    }
    return on_dataset | {"learners": learners}


def restricted(experiment: dict, settings: dict, maps: dict[str, str]) -> dict:
    """An experiment with the methods, data sets and sizes that a run asks for, its entries completed."""
    twice = sorted({method for method, _, _ in listed_twice(experiment["methods"])})
    if twice:
        raise ConfigurationError(
            f"experiment {experiment['name']!r} lists {', '.join(twice)} twice with the same variant; name variants"
        )
    experiment = with_fewer_values(experiment, settings["most_values"])
    entries = [
        completed(entry, maps)
        for entry in experiment["methods"]
        if not settings["only_methods"] or entry["method"] in settings["only_methods"]
    ]
    kept = {
        key: dict(value or {})
        for key, value in experiment.get("datasets", {}).items()
        if not settings["only_datasets"] or key in settings["only_datasets"]
    }
    result = experiment | {"methods": entries, "datasets": kept}
    shared = [entry for _, entry in standing_for_all(result.get("search", {}))]
    if shared:
        check_ids(f"experiment {experiment['name']!r}", {entry["method"] for entry in shared}, set(maps), "method")
        of_run = {own_kernel(entry) for entry in entries}
        standing = [completed(entry, maps) for entry in shared if own_kernel(entry) in of_run]
        result["search"] = result["search"] | {"method": standing}
    for own in (result, *kept.values()):
        if "sizes" in own:
            own["sizes"] = wanted_sizes(own["sizes"], settings["largest_multiple_of_d"], settings["only_sizes"])
    return result


def with_fewer_values(document, number: int | None):
    """A document in which so many are left at most of the ``values`` of sizes and walks, and of the mappings that a
    search tries in its ``grid`` (of all maps, or by map), evenly from the first to the last; None is all of them.
    """
    if isinstance(document, list):
        return [with_fewer_values(each, number) for each in document]
    if not isinstance(document, dict):
        return document
    return {key: fewer_values(key, value, number) for key, value in document.items()}


def fewer_values(key: str, value, number: int | None):
    """What stands under a key, as ``with_fewer_values`` leaves it."""
    if key == "values" and isinstance(value, list):
        return spread(value, number)
    if key in ("bandwidth", "options") and "grid" in (value or {}):
        grid = value["grid"]
        by_map = {method: spread(tried, number) for method, tried in grid.items()} if isinstance(grid, dict) else None
        return value | {"grid": by_map or spread(grid, number)}
    return with_fewer_values(value, number)


def completed(entry: dict, maps: dict[str, str]) -> dict:
    """An entry with its variant and options, the module of its map, and the options that the map has by itself: the
    registry is no input of a job, so that what a job takes from it is part of its specification.
    """
    method = entry["method"]
    return {"variant": "", "options": {}, **entry, "module": maps[method], "defaults": resolved_options(method, {})}


def datasets_named(experiment: dict) -> set[str]:
    """All data sets that an experiment or one of its entries names."""
    of_entries = {dataset for entry in experiment["methods"] for dataset in entry.get("datasets", {})}
    return of_entries | set(experiment.get("datasets", {}))


def is_asked_for(experiment: dict, settings: dict) -> bool:
    """Whether a run that names no outputs makes those of an experiment: one ``on_demand`` has to be named itself."""
    return not experiment.get("on_demand", False) or experiment["name"] in settings["only_experiments"]
