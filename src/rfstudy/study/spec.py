"""From configuration to work: experiments, their shards, and what each stage has to know of a shard.

A *shard* is one job of ``generate`` or ``train``: one experiment x data set x method with all its variants, or what is
left when a preset's ``shard_by`` drops axes. An experiment that is no accuracy grid (its ``kind`` says so) has no data
sets; its shards are jobs of ``measure``. Each stage receives its own part of a shard as plain JSON, so that a change of
the penalties does not regenerate features and every command of a log can be run by hand.

Imported by the workflow when it parses: standard library and PyYAML only.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path

import yaml

from rfstudy.data.modules import check_steps
from rfstudy.errors import UserError

#: What a method's entry may have of its own in place of its experiment's.
OWN = ("preprocess", "length_scale", "learners")

#: Kinds of experiments that measure time, beside the accuracy grids.
TIMED_KINDS = ("scaling", "fitting")


class ConfigurationError(UserError):
    """The configuration asks for something that does not exist or makes no sense."""


def load_settings(config: dict, config_dir: Path) -> dict:
    """Merge a preset's file with the keys given on the command line or in ``--configfile``.

    ``config`` is what the workflow engine read: ``config.yaml`` overlaid by the user. The preset it names supplies
    every key that is missing. Raises ``ConfigurationError`` for an unknown preset.
    """
    preset_file = Path(config_dir) / "presets" / f"{config['preset']}.yaml"
    if not preset_file.is_file():
        known = sorted(p.stem for p in preset_file.parent.glob("*.yaml"))
        raise ConfigurationError(f"preset {config['preset']!r} does not exist; choose one of {', '.join(known)}")
    # a word given by --config arrives as text
    words = {"true": True, "false": False, "null": None}
    given = {key: words.get(value, value) if isinstance(value, str) else value for key, value in config.items()}
    settings = {**read_yaml(preset_file), **given}
    for key in ("only_experiments", "only_datasets", "only_methods", "only_sizes"):
        # --config only_datasets=eeg,skin arrives as one text
        if isinstance(settings[key], str):
            settings[key] = [part.strip() for part in settings[key].split(",") if part.strip()]
    return settings


def load_experiments(config_dir: Path) -> dict[str, dict]:
    """All experiments by name, ``extends`` resolved as ``merge`` does."""
    raw: dict[str, dict] = {}
    for path in sorted((Path(config_dir) / "experiments").glob("*.yaml")):
        for name, experiment in read_yaml(path).items():
            if name in raw:
                raise ConfigurationError(f"experiment {name!r} is defined twice, the second time in {path.name}")
            raw[name] = experiment

    def resolve(name: str, trail: tuple[str, ...] = ()) -> dict:
        if name not in raw:
            raise ConfigurationError(f"experiment {trail[-1]!r} extends {name!r}, which does not exist")
        if name in trail:
            raise ConfigurationError(f"experiments extend each other in a circle: {' -> '.join((*trail, name))}")
        own = dict(raw[name])
        base = own.pop("extends", None)
        return merge(resolve(base, (*trail, name)), own) if base else own

    return {name: with_steps({"name": name, **resolve(name)}) for name in raw}


def with_steps(experiment: dict) -> dict:
    """The experiment with its ``steps`` written out as entries of its methods, one a method and step.

    Every method without a variant walks the steps: an entry has the step's name as its variant, and what this step
    and those before it change. A step that names ``methods`` is one of these methods only; the others have no entry
    there.
    """
    experiment = dict(experiment)
    steps = experiment.pop("steps", [])
    entries = []
    for entry in experiment["methods"]:
        if not steps or entry.get("variant"):
            entries.append(entry)
            continue
        for step in steps:
            if entry["method"] in step.get("methods", [entry["method"]]):
                changes = {key: value for key, value in step.items() if key not in ("name", "methods")}
                entry = merge(entry, changes | {"variant": step["name"]})
                entries.append(entry)
    return experiment | {"methods": entries}


def merge(base: dict, overlay: dict) -> dict:
    """A copy of ``base`` with ``overlay`` laid over it: mappings merge, null removes, everything else is replaced."""
    result = copy.deepcopy(base)
    for key, value in overlay.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value)
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = copy.deepcopy(value)
    return result


def read_yaml(path: Path) -> dict:
    """A YAML mapping; ``ConfigurationError`` names the file and the line of a syntax error."""
    try:
        return yaml.safe_load(Path(path).read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{path}: {error}") from error


def select(
    experiments: dict[str, dict], settings: dict, methods: dict[str, str], datasets: set[str]
) -> dict[str, dict]:
    """The experiments that a run builds: ``only_*`` applied, every id checked against the registries.

    ``methods`` maps the ids of feature maps to where they are defined ("quasi.QuasiMonteCarlo").
    """
    wanted = set(settings["only_experiments"])
    missing = wanted - set(experiments)
    if missing:
        raise ConfigurationError(
            f"only_experiments names {sorted(missing)}; known are {', '.join(sorted(experiments))}"
        )
    for name, experiment in experiments.items():
        used = {m["method"] for m in experiment["methods"]}
        if is_grid(experiment):
            used.add(experiment["tuning_method"])
            unscaled = sorted(d for d, entry in experiment["datasets"].items() if "preprocess" not in entry)
            if unscaled:
                raise ConfigurationError(f"experiment {name!r} says no preprocess for {', '.join(unscaled)}")
        check_ids(f"experiment {name!r}", used, set(methods), "method")
        named = {d for m in experiment["methods"] if isinstance(m.get("preprocess"), dict) for d in m["preprocess"]}
        check_ids(f"experiment {name!r}", named | set(experiment.get("datasets", {})), datasets, "data set")
        if is_grid(experiment):
            try:
                check_steps([step for dataset in experiment["datasets"] for step in steps_of(experiment, dataset)])
            except UserError as error:
                raise ConfigurationError(f"experiment {name!r}: {error}") from error
    check_ids("only_methods", set(settings["only_methods"]), set(methods), "method")
    check_ids("only_datasets", set(settings["only_datasets"]), datasets, "data set")
    labels = {label for e in experiments.values() if is_grid(e) for _, label in sizes(e["sizes"], 1)}
    check_ids("only_sizes", set(settings["only_sizes"]), labels, "size")
    chosen = {}
    for name, experiment in experiments.items():
        if wanted and name not in wanted:
            continue
        experiment = dict(experiment)
        experiment["methods"] = [
            complete_entry(m, experiment["methods"], methods)
            for m in experiment["methods"]
            if not settings["only_methods"] or m["method"] in settings["only_methods"]
        ]
        experiment["datasets"] = {
            key: value
            for key, value in experiment.get("datasets", {}).items()
            if not settings["only_datasets"] or key in settings["only_datasets"]
        }
        if is_grid(experiment):
            experiment["sizes"] = wanted_sizes(experiment["sizes"], settings)
            # the map that bandwidth and shared penalties are tuned with
            experiment["tuning_method"] = complete_entry({"method": experiment["tuning_method"]}, [], methods)
        # whoever asks for data sets does not ask for an experiment without any
        wants_data = is_grid(experiment) or bool(settings["only_datasets"])
        has_sizes = not is_grid(experiment) or any(experiment["sizes"].values())
        if experiment["methods"] and has_sizes and (experiment["datasets"] or not wants_data):
            chosen[name] = experiment
    return chosen


def wanted_sizes(experiment_sizes: dict, settings: dict) -> dict:
    """The sizes of an experiment that a run builds: up to the preset's largest multiple of d and, where labels ("8d",
    "4096") are given, with one of them.
    """
    labels, largest = settings["only_sizes"], settings["largest_multiple_of_d"]
    return {
        rule: [
            value
            for value in values
            if (not labels or size_of(rule, value, 1)[1] in labels)
            and (rule != "multiples_of_d" or largest is None or value <= largest)
        ]
        for rule, values in experiment_sizes.items()
    }


def is_grid(experiment: dict) -> bool:
    """Whether an experiment is a grid of data sets x maps x sizes x learners; the other kinds are ``measure``'s."""
    return experiment["kind"] == "grid"


def is_timed(experiment: dict) -> bool:
    """Whether the measurement of an experiment that is no grid is one of time, and has to run alone."""
    return experiment["kind"] in TIMED_KINDS


def check_ids(where: str, used: set[str], known: set[str], what: str) -> None:
    """Raise ``ConfigurationError`` that names ids without an entry in their registry."""
    unknown = sorted(used - known)
    if unknown:
        raise ConfigurationError(f"{where} names the {what} {', '.join(unknown)}; known are {', '.join(sorted(known))}")


def complete_entry(entry: dict, entries: list[dict], methods: dict[str, str]) -> dict:
    """A method's entry with its defaults and the place of its code.

    Two entries of one method must tell themselves apart by ``variant``. What an entry changes of its experiment
    (``OWN``) stays in it.
    """
    variant = entry.get("variant", "")
    if sum((e["method"], e.get("variant", "")) == (entry["method"], variant) for e in entries) > 1:
        raise ConfigurationError(f"method {entry['method']!r} is listed twice with the same variant; name variants")
    return {
        "method": entry["method"],
        "variant": variant,
        "options": entry.get("options", {}),
        "map": methods[entry["method"]],
        **{key: entry[key] for key in OWN if key in entry},
    }


@dataclass(frozen=True)
class Shard:
    """One job of ``generate`` and one of ``train``, or one of ``measure``: the methods and repeats in it."""

    experiment: str
    dataset: str  # empty where an experiment has none
    name: str
    methods: tuple[int, ...]  # positions in the experiment's list
    repeats: tuple[int, ...]


def shards(experiment: dict, settings: dict) -> list[Shard]:
    """The shards of one experiment under a preset's ``shard_by`` and ``repeats_per_shard``."""
    axes = settings["shard_by"]
    if not {"experiment", "dataset"} <= set(axes):
        raise ConfigurationError("shard_by must name experiment and dataset; method is optional")
    entries = [entry["method"] for entry in experiment["methods"]]
    # the variants of a method stay together: a job each would spend its time on imports
    names = list(dict.fromkeys(entries)) if "method" in axes else [""]
    groups = {name: tuple(i for i, method in enumerate(entries) if name in ("", method)) for name in names}
    repeats = list(range(min(settings["repeats"], experiment.get("repeats", settings["repeats"]))))
    # only a grid is cut by repeats: of another kind a cell may cover them all
    size = (is_grid(experiment) and settings["repeats_per_shard"]) or len(repeats)
    chunks = [tuple(repeats[i : i + size]) for i in range(0, len(repeats), size)]
    result = []
    for dataset in experiment["datasets"] or [""]:
        for name, group in groups.items():
            for chunk in chunks:
                parts = [part for part in (dataset, name) if part]
                if len(chunks) > 1:
                    parts.append(f"r{chunk[0]}-{chunk[-1]}")
                result.append(Shard(experiment["name"], dataset, ".".join(parts) or "all", group, chunk))
    return result


def entries_of(experiment: dict, shard: Shard) -> list[dict]:
    """The entries of the methods of a shard, as they are on its data set."""
    return [on_dataset(experiment["methods"][i], shard.dataset) for i in shard.methods]


def sample_spec(experiment: dict, dataset: str, settings: dict) -> dict:
    """What every stage must know to load a repeat's training and test rows."""
    fixed = experiment["bandwidth"]["rule"] == "fixed"
    return {
        "preset": settings["preset"],
        "paper": experiment["paper"],
        "experiment": experiment["name"],
        "protocol": experiment["protocol"],
        "dataset": dataset,
        "length_scale": experiment["bandwidth"]["value"] if fixed else None,
        "kernel": experiment["kernel"],
        "preprocess": experiment["datasets"][dataset]["preprocess"],
        "max_rows": settings["max_rows"],
        "seed": settings["seed"],
        "device": settings["device"],
    }


def on_dataset(entry: dict, dataset: str) -> dict:
    """A method's entry as it is on one data set: of a ``preprocess`` by data sets the steps of this one.

    Where that names other data sets only, the entry has no steps of its own.
    """
    own = entry.get("preprocess")
    return merge(entry, {"preprocess": own.get(dataset)}) if isinstance(own, dict) else entry


def steps_of(experiment: dict, dataset: str) -> list:
    """All preprocessing steps that an experiment applies to a data set: its own, those of its methods and those that
    its bandwidth rule tries.
    """
    lists = [experiment["datasets"][dataset]["preprocess"], *experiment["bandwidth"].get("preprocess", [])]
    lists += [on_dataset(entry, dataset).get("preprocess", []) for entry in experiment["methods"]]
    return [step for steps in lists for step in steps]


def sizes_of(experiment: dict, dataset: str) -> dict:
    """The sizes of an experiment on a data set: its own, up to the data set's largest one."""
    largest = experiment["datasets"][dataset].get("largest_multiple_of_d")
    if largest is None:
        return experiment["sizes"]
    return {rule: [value for value in values if value <= largest] for rule, values in experiment["sizes"].items()}


def tuning(experiment: dict, settings: dict) -> str:
    """How penalties are chosen: as the experiment says, else as the preset does; where every method has choices of its
    own, what would be shared by all is shared by the repeats of a method ("per_method").
    """
    how = experiment.get("tuning", settings["tuning"])
    return "per_method" if how == "shared" and experiment["bandwidth"]["rule"] == "each_method" else how


def is_tuned(experiment: dict, settings: dict) -> bool:
    """Whether anything of an experiment is chosen before its cells are: a bandwidth or shared penalties."""
    return experiment["bandwidth"]["rule"] != "fixed" or tuning(experiment, settings) != "per_cell"


def tuned_methods(experiment: dict) -> list[dict]:
    """The entries whose maps ``tune`` works with: the one that all share, or every method's own."""
    each = experiment["bandwidth"]["rule"] == "each_method"
    return experiment["methods"] if each else [experiment["tuning_method"]]


def learners(experiment: dict, settings: dict) -> dict:
    """An experiment's learners with what the preset decides about them: the solver of the support vector machine."""
    own = experiment["learners"]
    return own | {"svm": own["svm"] | {"solver": settings["svm_solver"]}} if "svm" in own else own


def tune_spec(experiment: dict, dataset: str, settings: dict) -> dict:
    """The work of ``tune``: the bandwidth, and the penalties where they are not chosen for every cell by itself."""
    spec = sample_spec(experiment, dataset, settings) | {
        "bandwidth": experiment["bandwidth"],
        "methods": [on_dataset(entry, dataset) for entry in tuned_methods(experiment)],
        "max_tuning_rows": settings["tuning_max_rows"],
        "learners": learners(experiment, settings),
        "share_penalties": tuning(experiment, settings) == "shared",
    }
    if spec["share_penalties"] or spec["bandwidth"]["rule"] == "each_method":
        spec |= {"sizes": sizes_of(experiment, dataset), "max_svm_entries": settings["max_svm_entries"]}
    return spec


def same_choices(one: dict, other: dict) -> bool:
    """Whether what ``tune`` finds for one ``tune_spec`` is what it would find for the other.

    It is where the two differ in names only, and the other has no size that the one has not.
    """

    def work(spec: dict) -> dict:
        return {key: value for key, value in spec.items() if key not in ("paper", "experiment", "protocol", "sizes")}

    def labels(spec: dict) -> set:
        return set(sizes(spec["sizes"], 1)) if "sizes" in spec else set()

    return work(one) == work(other) and labels(one) >= labels(other)


def generate_spec(experiment: dict, shard: Shard, settings: dict) -> dict:
    """The work of ``generate``: the maps, their sizes, the error and the timing."""
    return sample_spec(experiment, shard.dataset, settings) | {
        # what a method changes of the learners is nothing to a map
        "methods": [
            {key: value for key, value in entry.items() if key != "learners"} for entry in entries_of(experiment, shard)
        ],
        "sizes": sizes_of(experiment, shard.dataset),
        "repeats": list(shard.repeats),
        "approximation": experiment["approximation"],
        "timing_runs": settings["timing_runs"],
    }


def train_spec(experiment: dict, shard: Shard, settings: dict) -> dict:
    """The work of ``train``: the maps again, the learners and how their penalties are chosen."""
    return sample_spec(experiment, shard.dataset, settings) | {
        "methods": entries_of(experiment, shard),
        "sizes": sizes_of(experiment, shard.dataset),
        "repeats": {
            learner: [r for r in shard.repeats if r < settings[key]]
            for learner, key in (("ridge", "repeats"), ("svm", "svm_repeats"))
            if learner in experiment["learners"]
        },
        "learners": learners(experiment, settings),
        "tuning": tuning(experiment, settings),
        "max_svm_entries": settings["max_svm_entries"],
    }


def measure_spec(experiment: dict, shard: Shard, settings: dict) -> dict:
    """The work of ``measure``: the maps, and the grid of the experiment's kind, the ``large`` one where asked for."""
    large = experiment.get("large", {}) if settings["extent"] == "large" else {}
    return {
        "preset": settings["preset"],
        "experiment": experiment["name"],
        **{key: experiment[key] for key in ("paper", "protocol", "kind", "kernel")},
        "seed": settings["seed"],
        "device": settings["device"],
        "methods": entries_of(experiment, shard),
        "repeats": list(shard.repeats),
        "timing_runs": settings["timing_runs"],
        "grid": merge(experiment["grid"], large),
    }


def sizes(spec_sizes: dict, d: int) -> list[tuple[int, str]]:
    """The numbers of features s with their labels, for data of ``d`` columns.

    >>> sizes({"multiples_of_d": [1, 2]}, 14)
    [(14, 'd'), (28, '2d')]
    >>> sizes({"values": [1000]}, 784)
    [(1000, '1000')]
    """
    return [size_of(rule, value, d) for rule, values in spec_sizes.items() for value in values]


def size_of(rule: str, value: int, d: int) -> tuple[int, str]:
    """One number of features with its label: ``value`` times d, or ``value`` itself."""
    if rule == "multiples_of_d":
        return value * d, "d" if value == 1 else f"{value}d"
    return value, str(value)
