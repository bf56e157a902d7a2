"""Turn experiments into jobs: shards, and the description of a shard for each stage.

A *shard* is one job of a stage: one experiment x data set x method with all its variants, or more if a preset's
``shard_by`` drops axes. A stage receives a list of *parts* as plain JSON: one per data set, or a single part if an
experiment has none. A part describes the experiment on that data set, with only what the stage needs. A change of the
penalties therefore does not regenerate features, and every command of a log can be run by hand.

The workflow imports this module when it parses, so it loads no numerical library.
"""

import math
from dataclasses import dataclass

from random_features.learners.entry import facts
from rfstudy.data.tasks import without
from rfstudy.fields import listed
from rfstudy.study.experiment import needs_data, wanted_sizes
from rfstudy.study.job import Part, merge, searched, sizes, spread, tune_scope
from rfstudy.study.kinds.registry import KINDS


@dataclass(frozen=True)
class Shard:
    """One job of every stage of an experiment: the data sets, methods and repeats in it."""

    experiment: str
    name: str
    datasets: tuple[str, ...]  # one empty id if an experiment has none
    methods: tuple[int, ...]  # positions in the experiment's list
    repeats: tuple[int, ...]


def shards_of(stage: str, experiment: dict, settings: dict) -> list[Shard]:
    """Return the jobs of a stage in an experiment; none if the stage has nothing to do."""
    of_all = {"tune": tune_shards, "time": time_shards, KINDS[experiment["kind"]].stage: shards}
    return of_all[stage](experiment, settings) if stage in of_all else []


def shards(experiment: dict, settings: dict, repeats_per_shard: int | None = None) -> list[Shard]:
    """Return the shards of one experiment, cut by its own ``shard_by`` or the preset's, each with all repeats or with
    at most ``repeats_per_shard``.
    """
    axes = axes_of(experiment, settings)
    entries = experiment["methods"]
    # the variants of a method stay together: one job per variant would spend its time on imports
    names = list(dict.fromkeys(entry["method"] for entry in entries)) if "method" in axes else [""]
    groups = {name: tuple(i for i, entry in enumerate(entries) if name in ("", entry["method"])) for name in names}
    datasets = list(experiment["datasets"]) or [""]
    parts = [(dataset,) for dataset in datasets] if "dataset" in axes else [tuple(datasets)]
    repeats = repeats_of(experiment, settings)
    # repeats are cut only if they are separate cells: elsewhere one cell may cover them all
    size = (needs_data(experiment["kind"]) and repeats_per_shard) or len(repeats)
    chunks = [tuple(repeats[i : i + size]) for i in range(0, len(repeats), size)]
    result = []
    for part in parts:
        for name, group in groups.items():
            if not any(is_run_on(entries[i], dataset) for i in group for dataset in part):
                continue
            for chunk in chunks:
                words = [part[0] if len(part) == 1 else "", name.replace("_", "-")]
                if len(chunks) > 1:
                    words.append(f"r{chunk[0]}-{chunk[-1]}")
                result.append(Shard(experiment["name"], ".".join(filter(None, words)) or "all", part, group, chunk))
    return result


def axes_of(experiment: dict, settings: dict) -> list[str]:
    """Return the axes that separate the jobs of an experiment: its own ``shard_by``, or the preset's.

    A preset with one job for each paper still has one shard for each experiment: a job then works on several shards.
    """
    axes = experiment.get("shard_by", settings["shard_by"])
    return ["experiment"] if axes == ["paper"] else axes


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
    own["methods"] = [
        entry_on(entry, dataset, own.get("options", {})) if is_run_on(entry, dataset) else None for entry in entries
    ]
    if "method" in own.get("search", {}):
        shared = [entry_on(entry, dataset, own.get("options", {})) for entry in listed(own["search"]["method"])]
        own["search"] = own["search"] | {"method": shared}
    if "sizes" in own:
        own["sizes"] = wanted_sizes(own["sizes"], own.get("largest_multiple_of_d"))
    return own


def is_run_on(entry: dict, dataset: str) -> bool:
    """Return whether an entry is run on a data set: a null under its ``datasets`` leaves it out there."""
    return entry.get("datasets", {}).get(dataset, {}) is not None


def entry_on(entry: dict, dataset: str, options: dict) -> dict:
    """Return an entry of an experiment's methods as it is on one data set."""
    own = {"options": merge(options.get(entry["method"], {}), entry["options"])}
    return merge(without(entry, "datasets") | own, entry.get("datasets", {}).get(dataset, {}))


def part(experiment: dict, dataset: str, settings: dict) -> Part:
    """Return the fields that every stage needs about an experiment on a data set. If its kind needs data, they include
    those that decide the training and test rows of a repeat. ``experiment`` is the one on the data set.
    """
    of_run = {key: settings[key] for key in ("preset", "seed", "device")}
    stated = {key: experiment[key] for key in ("paper", "protocol", "kind", "kernel")}
    if needs_data(experiment["kind"]):
        of_run["max_rows"] = settings["max_rows"]
        stated |= {key: experiment.get(key) for key in ("preprocess", "bandwidth", "split", "draws")}
    return Part(**of_run, **stated, experiment=experiment["name"], dataset=dataset)


def facts_parts(experiment: dict, settings: dict) -> list[Part]:
    """Return the parts that tell ``collect`` about the data of an experiment: one per data set, none if it has no
    data.
    """
    return [part(on_dataset(experiment, name), name, settings) for name in experiment["datasets"]]


def parts_of(stage: str, experiment: dict, shard: Shard, settings: dict) -> list[Part]:
    """Return the specification of a stage's job: one part per data set of the shard."""
    make = {"tune": tune_part, "time": time_part}.get(stage, shard_part)
    return [make(on_dataset(experiment, dataset), dataset, shard, settings) for dataset in shard.datasets]


def tune_part(experiment: dict, dataset: str, shard: Shard, settings: dict) -> Part:
    """Return the work of ``tune``: what is searched, who shares the choice, and the learners that decide."""
    search, entries = experiment["search"], list(filter(None, experiment["methods"]))
    scopes = {tune_scope(search, quantity) for quantity in searched(search)}
    # all members that share a penalty need a solution at it; else one entry, or one size, may represent all
    by_method = "penalty" in searched(search) or not scopes <= {"experiment", "size"}
    by_size = "penalty" in searched(search) or not scopes <= {"experiment", "method"}
    return part(experiment, dataset, settings) | {
        "search": without(search, "method"),
        "methods": entries if by_method else [],
        "shared_methods": search.get("method", []),
        # the number of training repeats does not affect a learner's choices
        "learners": {name: without(options, "repeats") for name, options in experiment["learners"].items()},
        "repeats": repeats_of(experiment, settings),
        "sizes": experiment["sizes"] if by_size else None,
    }


def shard_part(experiment: dict, dataset: str, shard: Shard, settings: dict) -> Part:
    """Return the work of ``train`` or ``measure``: the repeats of a shard, its entries that are run on the data set,
    and the grid of the kind; of an accuracy grid the sizes, the error, the learners and the scores.
    """
    entries = list(filter(None, (experiment["methods"][i] for i in shard.methods)))
    keys = ("grid",) if "grid" in experiment else ("sizes", "approximation", "learners", "scores")
    own = {"methods": entries, "repeats": list(shard.repeats)} | {key: experiment.get(key) for key in keys}
    return part(experiment, dataset, settings) | own


def time_part(experiment: dict, dataset: str, shard: Shard, settings: dict) -> Part:
    """Return the work of ``time``: all methods together, how often and what to measure; one repeat."""
    how = experiment["time"]
    spec = part(experiment, dataset, settings) | {
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


def time_shards(experiment: dict, settings: dict) -> list[Shard]:
    """Return the jobs of ``time``: one per data set that the preset times, with all its methods."""
    if "time" not in experiment:
        return []
    how, datasets = experiment["time"], experiment["datasets"]
    if how["datasets"] == "examples":
        datasets = {name: own for name, own in datasets.items() if name in how.get("examples", [])}
        if experiment["datasets"] and not datasets:
            return []
    return shards_of_all_methods(experiment | {"datasets": datasets, "repeats": 1}, settings)


def tune_shards(experiment: dict, settings: dict) -> list[Shard]:
    """Return the jobs of ``tune``: like the shards of the other stages, but with all methods together."""
    return shards_of_all_methods(experiment, settings) if searched(experiment.get("search", {})) else []


def shards_of_all_methods(experiment: dict, settings: dict) -> list[Shard]:
    """Return the shards of an experiment, with all methods and repeats together."""
    return shards(experiment | {"shard_by": axes_of(experiment, settings)[:2]}, settings)


def same_choices(one: Part, other: Part) -> bool:
    """Return whether ``tune`` would find the same for both parts.

    It would if the two differ in names only, and ``other`` has no size that ``one`` lacks.
    """
    work, same = (without(vars(each), "paper", "experiment", "protocol", "sizes") for each in (one, other))
    own, others = (set(sizes(each.sizes or {}, 1)) for each in (one, other))
    return work == same and own >= others


def number_of_cells(part: Part) -> int:
    """Return the number of cells in a part of an accuracy grid: maps x sizes x repeats, each alone and with every
    learner.
    """
    values = sum(len(entry.get("sweep", {}).get("values", [None])) for entry in part.methods)
    maps = (part.draws or 1) * values * len(sizes(part.sizes, 1)) * len(part.repeats)
    return maps * (1 + len(part.learners))


def learners_in(stage: str, experiment: dict) -> list[str]:
    """Return the learners that a job of a stage runs."""
    if stage == "time":
        return [name for name in experiment.get("learners", {}) if name == experiment["time"].get("learner")]
    return list(experiment.get("learners", {})) if stage in ("tune", "train") else []


def resources(stage: str, experiment: dict, shard: Shard, tasks: dict, settings: dict) -> dict:
    """Return the stated memory and its part that grows with the data (MB), and the run time (minutes) of a job.

    They follow from its ``Kind`` and, for the features (n x D), from the ``bytes_per_entry`` of its learners.
    """
    needs = KINDS[experiment["kind"]]
    most = needs.mb
    for dataset in filter(None, shard.datasets):
        own = on_dataset(experiment, dataset)
        n, d = rows_of(tasks[dataset], settings, own.get("split"), own.get("search") if stage == "tune" else None)
        if "sizes" in own:
            columns = 2 * max((s for s, _ in sizes(own["sizes"], d)), default=0)
            entries = columns * n
            of_learners = [
                facts(name)["bytes_per_entry"] * min(entries, own["learners"][name].get("max_entries") or 1e8)
                for name in learners_in(stage, own)
            ]
            work = needs.bytes_per_gram * min(columns, n) ** 2 + max(of_learners, default=0)
            work += 2 * min(4 * entries, needs.kept_bytes)  # the features in float32, and a copy
        else:
            has_pairs, work = "exact_kernel" in own.get("grid", {}).get("learners", []), 0
            if has_pairs:
                work = needs.bytes_per_pair * math.prod(matrix_of_kernel(own["kind"], own["grid"], n))
        most = max(most, needs.mb + (needs.bytes_per_value * n * d + work) / 2**20)
    return {"mem_mb": int(most), "of_data": most - needs.mb, "runtime": needs.minutes}


def matrix_of_kernel(kind: str, grid: dict, n: int) -> tuple[int, int]:
    """Return the rows and columns of the matrix that the exact kernel holds: that of its at most ``most_rows`` rows; of
    more rows than the kind solves by Cholesky's factor, that of a preconditioner.
    """
    limits = KINDS[kind]
    n = min(n, grid.get("most_rows", limits.by_cholesky))
    return n, n if n <= limits.by_cholesky else limits.rank


def rows_of(task: dict, settings: dict, split: dict | None = None, search: dict | None = None) -> tuple[int, int]:
    """Return the largest number of rows and columns of a task that a run can use, with a ``split`` and in a
    ``search``.
    """
    # generated rows, and those of a file of this machine, are the same in every preset
    own = "generator" in task or (("source" in task or "streamed" in task) and "stand_in" not in task)
    stands_in = settings["data"] == "embedded" and not own
    n, d = (1000, 128) if stands_in else (task["n"], task["d"])
    in_search = 2 * ((search or {}).get("max_rows") or n)
    return min(n, 2 * (settings["max_rows"] or n), (split or {}).get("n_rows", n), in_search), d
