"""Select the experiments of a run, and merge them with the defaults and overrides of its preset."""

from typing import NamedTuple

from random_features.errors import gathered
from random_features.maps.registry import REGISTRY
from rfstudy.data import registry as data_registry
from rfstudy.fields import listed
from rfstudy.study import config
from rfstudy.study.check import check_on_datasets
from rfstudy.study.config import SELECTIONS, check_ids, stop_at
from rfstudy.study.experiment import needs_data, size_lists, wanted_sizes
from rfstudy.study.job import merge, own_kernel, sizes, spread


class Study(NamedTuple):
    """The configuration of a run: its settings, the registries, all experiments, and those that it builds."""

    settings: dict
    registry: data_registry.Registry
    methods: dict[str, dict]
    experiments: dict[str, dict]
    chosen: dict[str, dict]


def load_study(given: dict, config_dir, files=()) -> Study:
    """Return the checked configuration of a run; parameters are those of ``config.checked_settings``.

    Raise ``ConfigurationError`` with a line for every problem.
    """
    problems: list[str] = []
    with gathered(problems):
        settings = config.checked_settings(given, config_dir, files)
    with gathered(problems):
        registry = data_registry.load(config_dir)
    with gathered(problems):
        methods = config.load_methods(config_dir)
    stop_at(problems)
    datasets = set(registry.tasks)
    experiments = config.load_experiments(config_dir, datasets)
    of_run = config.laid_over(experiments, settings.get("experiments", {}), datasets)
    chosen = select(of_run, settings, datasets)
    check_selection(chosen, settings)
    check_on_datasets(chosen, settings, registry.tasks, config_dir)
    return Study(settings, registry, methods, experiments, chosen)


def select(experiments: dict[str, dict], settings: dict, datasets: set[str]) -> dict[str, dict]:
    """Return the experiments that a run builds: ``only_*`` applied, and every id of the settings checked.

    An experiment overrides what the preset says about searches, learners and the largest size.
    """
    wanted = set(settings["only_experiments"])
    check_ids("only_experiments", wanted, set(experiments), "experiment")
    check_ids("only_methods", set(settings["only_methods"]), set(REGISTRY), "method")
    check_ids("only_datasets", set(settings["only_datasets"]), datasets, "data set")
    check_ids("prepared_together", set(settings.get("prepared_together", [])), datasets, "data set")
    labels = {label for e in experiments.values() for each in size_lists(e) for _, label in sizes(each, 1)}
    check_ids("only_sizes", set(settings["only_sizes"]), labels, "size")
    chosen = {}
    for name, experiment in experiments.items():
        if wanted and name not in wanted:
            continue
        experiment = restricted(with_preset(experiment, settings), settings)
        # a user who asks for data sets does not ask for an experiment without any
        wants_data = needs_data(experiment["kind"]) or bool(settings["only_datasets"])
        left = size_lists(experiment)
        has_sizes = not left or any(any(of.values()) for of in left)
        if experiment["methods"] and has_sizes and (experiment["datasets"] or not wants_data):
            chosen[name] = experiment
    return chosen


def check_selection(chosen: dict[str, dict], settings: dict) -> None:
    """Raise ``ConfigurationError`` if a run has nothing to do, or nothing for an id to which it is restricted."""
    everywhere = list(chosen.values())
    present = {
        "only_experiments": set(chosen),
        "only_datasets": {dataset for each in everywhere for dataset in each["datasets"]},
        "only_methods": {entry["method"] for each in everywhere for entry in each["methods"]},
        "only_sizes": {label for each in everywhere for of in size_lists(each) for _, label in sizes(of, 1)},
    }
    given = " ".join(f"{key}={','.join(settings[key])}" for key in SELECTIONS if settings[key])
    under = f"under {given} and the preset {settings['preset']}"
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
        laid_over, of_datasets = with_own(settings["learners"], own), own.get("datasets") or {}
        learners = {name: options for name, options in experiment["learners"].items() if options is not None}
        datasets = dict(experiment["datasets"])
        for name in (name for name, each in datasets.items() if each and each.get("learners")):
            on_it = with_own(laid_over, of_datasets.get(name) or {})
            datasets[name] = datasets[name] | {"learners": overridden(datasets[name]["learners"], on_it)}
        search = merge(settings["search"], experiment.get("search", {}))
        of_preset = {"search": search, "learners": overridden(learners, laid_over), "datasets": datasets}
    if "time" in experiment:
        of_preset["time"] = settings["time"] | experiment["time"]
    if "grid" in experiment and settings["extent"] == "large":
        of_preset["grid"] = merge(experiment["grid"], experiment.get("large", {}))
    return experiment | of_preset


def with_own(laid_over: dict, own: dict) -> dict:
    """Return the options that a preset sets for learners, including those for one experiment or one data set of it."""
    return merge(laid_over, own.get("learners") or {}, null_removes=False)


def overridden(learners: dict, laid_over: dict) -> dict:
    """Return the options of learners, overridden by a preset's; None stays: it removes a learner on a data set."""
    return {name: options and merge(options, laid_over.get(name) or {}) for name, options in learners.items()}


def restricted(experiment: dict, settings: dict) -> dict:
    """Return an experiment with the methods, data sets and sizes that a run asks for, and complete entries."""
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
            own["sizes"] = wanted_sizes(own["sizes"], settings["largest_multiple_of_d"], settings["only_sizes"])
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
        by_map = {method: spread(tried, number) for method, tried in grid.items()} if isinstance(grid, dict) else None
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
