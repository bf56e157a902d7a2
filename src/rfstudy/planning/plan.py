"""Turn experiments into jobs: shards, and their parts.

A *shard* is one job of a stage: one experiment x data set x method with all its variants, or more if a preset's
``shard_by`` drops axes. It has a list of *parts*: one per data set, or a single part if an experiment has none. A part
describes the experiment on that data set, with only what the stage needs, and a job receives it as plain JSON. A change
of the penalties therefore does not regenerate features, and every command of a log can be run by hand.

The workflow imports this module when it parses, so it loads no numerical library.
"""

from dataclasses import dataclass
from functools import partial
from typing import Self

from rfstudy.data.tasks import without
from rfstudy.fields import listed
from rfstudy.study.job import Part, merge, searched, sizes, spread, tune_scope, wanted_sizes
from rfstudy.study.kinds.registry import KINDS


@dataclass(frozen=True, eq=False)
class Shard:
    """One job of a stage in an experiment: its name, its parts, and the method that it is for."""

    name: str
    parts: list[Part]
    method: str = ""  # empty for several

    @property
    def datasets(self) -> tuple[str, ...]:
        """Return the data sets; one empty id if the experiment has none."""
        return tuple(part.dataset for part in self.parts)

    @property
    def repeats(self) -> list[int]:
        """Return the repeats, which all parts share."""
        return self.parts[0].repeats

    def cut(self, size: int) -> list[Self]:
        """Return shards with at most ``size`` of the repeats each."""
        chunks = [self.repeats[i : i + size] for i in range(0, len(self.repeats), size)]
        names = (f"{self.name}.r{chunk[0]}-{chunk[-1]}" for chunk in chunks)
        parts = ([part | {"repeats": chunk} for part in self.parts] for chunk in chunks)
        return [Shard(*each, self.method) for each in zip(names, parts, strict=True)]


def shards_of(stage: str, experiment: dict, settings: dict) -> list[Shard]:
    """Return the jobs of a stage in an experiment, cut by its own ``shard_by`` or the preset's; none if the stage has
    nothing to do.
    """
    if not has_stage(stage, experiment):
        return []
    # one job for each paper (``["paper"]``) works on several shards, one for each experiment
    axes, found = experiment.get("shard_by", settings["shard_by"]), []
    # choices are made, and times compared, with all methods together. The variants of a method stay together: one job
    # per variant would spend its time on imports
    by_method = "method" in axes and stage not in ("tune", "time")
    methods = dict.fromkeys(entry["method"] for entry in experiment["methods"]) if by_method else [""]
    datasets = datasets_of(stage, experiment)
    for group in [[each] for each in datasets] if "dataset" in axes else [datasets]:
        there = {dataset: on_dataset(experiment, dataset) for dataset in group}
        parts = [part_of(stage, own, dataset, settings) for dataset, own in there.items() if any(own["methods"])]
        for method in methods:
            of_method = [part | {"methods": [e for e in part.methods if method in ("", e["method"])]} for part in parts]
            own = [part for part in of_method if part.methods or stage == "tune"]
            words = [group[0] if len(group) == 1 else "", method.replace("_", "-")]
            found += [Shard(".".join(filter(None, words)) or "all", own, method)] if own else []
    return found


def has_stage(stage: str, experiment: dict) -> bool:
    """Return whether a stage has something to do in an experiment."""
    if stage == "tune":
        return bool(searched(experiment.get("search", {})))
    return "time" in experiment if stage == "time" else stage == KINDS[experiment["kind"]].stage


def datasets_of(stage: str, experiment: dict) -> list[str]:
    """Return the data sets of an experiment, or those that the preset times; one empty id if it has none."""
    datasets = list(experiment["datasets"])
    if stage == "time" and experiment["time"]["datasets"] == "examples":
        return [each for each in datasets if each in experiment["time"].get("examples", [])] if datasets else [""]
    return datasets or [""]


def repeats_of(experiment: dict, settings: dict) -> list[int]:
    """Return the repeats of an experiment: those of the preset, or its own smaller number."""
    return list(range(min(settings["repeats"], experiment.get("repeats", settings["repeats"]))))


def on_dataset(experiment: dict, dataset: str) -> dict:
    """Return an experiment as it is on one data set. The keys under ``datasets.<id>`` override it and its entries.

    ``options`` by method are defaults for those of its entries, and so are ``only_sizes``. An entry that is not run
    there is None.
    """
    own = merge(without(experiment, "datasets"), experiment["datasets"].get(dataset, {}))
    sizes_of = {method: {"only_sizes": [*map(str, named)]} for method, named in own.get("only_sizes", {}).items()}
    entries = [sizes_of.get(entry["method"], {}) | entry for entry in own["methods"]]
    here = partial(entry_on, dataset=dataset, options=own.get("options", {}))
    own["methods"] = list(map(here, entries))
    if "method" in own.get("search", {}):
        shared = filter(None, map(here, listed(own["search"]["method"])))
        own["search"] = own["search"] | {"method": list(shared)}
    if "sizes" in own:
        stated = {rule: values for rule, values in own["sizes"].items() if values is not None}
        own["sizes"] = wanted_sizes(stated, own.get("largest_multiple_of_d"))
    return own


def entry_on(entry: dict, dataset: str, options: dict) -> dict | None:
    """Return an entry of an experiment's methods as it is on one data set; None if a null under its ``datasets`` leaves
    it out there.
    """
    there = entry.get("datasets", {}).get(dataset, {})
    own = {"options": merge(options.get(entry["method"], {}), entry["options"])}
    return None if there is None else merge(without(entry, "datasets") | own, there)


def kernels_of(experiment: dict) -> list[dict]:
    """Return the kernels of an experiment's methods, each once. A method without a kernel has the experiment's."""
    found = [entry.get("kernel", experiment["kernel"]) for entry in filter(None, experiment["methods"])]
    return [kernel for i, kernel in enumerate(found) if kernel not in found[:i]]


def part_of(stage: str, experiment: dict, dataset: str, settings: dict) -> Part:
    """Return what a stage needs of an experiment on a data set (``on_dataset``), with all methods and repeats."""
    own = {"tune": tuned, "time": timed}.get(stage, computed)
    return part(experiment, dataset, settings) | own(experiment, settings)


def part(experiment: dict, dataset: str, settings: dict) -> Part:
    """Return the fields that every stage needs about an experiment on a data set. If its kind needs data, they include
    those that decide the training and test rows of a repeat.
    """
    of_run = {key: settings[key] for key in ("preset", "seed", "device")}
    stated = {key: experiment[key] for key in ("paper", "protocol", "kind", "kernel")}
    if KINDS[experiment["kind"]].needs_data:
        of_run["max_rows"] = settings["max_rows"]
        stated |= {key: experiment.get(key) for key in ("preprocess", "bandwidth", "split", "draws")}
    return Part(**of_run, **stated, experiment=experiment["name"], dataset=dataset)


def facts_parts(experiment: dict, settings: dict) -> list[Part]:
    """Return the parts that tell ``collect`` about the data of an experiment: one per data set, none if it has no
    data.
    """
    return [part(on_dataset(experiment, name), name, settings) for name in experiment["datasets"]]


def tuned(experiment: dict, settings: dict) -> dict:
    """Return the fields of ``tune``: what is searched, who shares the choice, and the learners that decide."""
    search, entries = experiment["search"], list(filter(None, experiment["methods"]))
    scopes = {tune_scope(search, quantity) for quantity in searched(search)}
    # all members that share a penalty need a solution at it; else one entry, or one size, may represent all
    by_method = "penalty" in searched(search) or not scopes <= {"experiment", "size"}
    by_size = "penalty" in searched(search) or not scopes <= {"experiment", "method"}
    return {
        "search": without(search, "method"),
        "methods": entries if by_method else [],
        "shared_methods": search.get("method", []),
        # the number of training repeats does not affect a learner's choices
        "learners": {name: without(options, "repeats") for name, options in experiment["learners"].items()},
        "repeats": repeats_of(experiment, settings),
        "sizes": experiment["sizes"] if by_size else None,
    }


def computed(experiment: dict, settings: dict) -> dict:
    """Return the fields of ``train`` and ``measure``: the entries, the repeats and the grid of the kind; of an accuracy
    grid the sizes, the error, the learners and the scores.
    """
    keys = ("grid",) if "grid" in experiment else ("sizes", "approximation", "learners", "scores")
    own = {"methods": list(filter(None, experiment["methods"])), "repeats": repeats_of(experiment, settings)}
    return own | {key: experiment.get(key) for key in keys}


def timed(experiment: dict, settings: dict) -> dict:
    """Return the fields of ``time``: all methods together, how often and what to measure; one repeat."""
    how = experiment["time"]
    spec = {
        # an entry that sweeps an option is not timed
        "methods": [without(entry, "learners") for entry in experiment["methods"] if entry and "sweep" not in entry],
        "time": without(how, "datasets", "examples", "sizes", "learner"),
        "repeats": [0],
    }
    if "grid" in experiment:
        return spec | {"grid": experiment["grid"] | ({"ends": how["sizes"]} if how["sizes"] else {})}
    learner = how.get("learner")
    learners = {learner: experiment["learners"][learner]} if learner else {}
    return spec | {"sizes": timed_sizes(experiment["sizes"], how["sizes"]), "learners": learners}


def timed_sizes(experiment_sizes: dict, which: int | list | None) -> dict:
    """Return the named sizes of an experiment, or a number of them from the smallest to the largest; None means all of
    them.

    >>> timed_sizes({"multiples_of_d": [1, 2, 4, 8]}, 2)
    {'multiples_of_d': [1, 8]}
    >>> timed_sizes({"multiples_of_d": [1, 2, 4, 8], "values": [1000, 2000]}, ["2d", 1000])
    {'multiples_of_d': [2], 'values': [1000]}
    """
    if isinstance(which, list):
        return wanted_sizes(experiment_sizes, None, [*map(str, which)])
    return {rule: spread(values, which) for rule, values in experiment_sizes.items()}


def number_of_cells(part: Part) -> int:
    """Return the number of cells in a part of an accuracy grid: maps x sizes x repeats, each alone and with every
    learner that an entry and a repeat have.
    """
    found = 0
    for entry in part.methods:
        labels = [label for _, label in sizes(part.sizes, 1) if label in entry.get("only_sizes", [label])]
        maps = (part.draws or 1) * len(entry.get("sweep", {}).get("values", [None])) * len(labels)
        learners = [each for name, each in part.learners.items() if entry.get("learners", {}).get(name, {}) is not None]
        found += maps * sum(1 + sum(r < each.get("repeats", r + 1) for each in learners) for r in part.repeats)
    return found
