"""Say what a job costs: its expected run time and the memory and time that it requests.

The run time is a sum over *units* of work: a map, a learner, a kind of experiment or the rows of a data set. A unit has
an amount (cells, cells x rows x columns) and seconds per amount. ``planning/cost_fit.py`` fits these seconds to the
shipped records and writes them to ``config/costs.json``.

The workflow imports this module when it parses, so it loads no numerical library.
"""

import math
from collections import Counter

from random_features.learners.registry import LEARNERS
from random_features.maps.registry import has_prefixes, resolved_options
from rfstudy.planning.plan import Shard, shards_of
from rfstudy.study.job import Part, options_tried, searched, sizes, tune_scope
from rfstudy.study.kinds.registry import KINDS

#: Least request: minutes and MB.
LEAST_MINUTES, LEAST_MB = 5, 1000

#: Minutes in which a node starts Snakemake and loads the libraries, and those that a job without records requests.
START_MINUTES, UNKNOWN_MINUTES = 1, 240

#: Memory of Snakemake in a job, next to the job's process.
SNAKEMAKE_MB = 200

#: The search for a penalty with five folds, in fits: folds and penalties share passes over the features. Measured in
#: processor time on one thread, n = 5,000 and D = 200 and 800: ridge 3 and 4, l1_svm 41; svm (November 2026) 4 to 10 at
#: n = 5,000 to 100,000 and D = 216 to 1,728.
SEARCH, OTHER_SEARCH = {"ridge": 4, "svm": 7, "l1_svm": 40}, 25

#: The time of a search relative to the time of as much training: 25 jobs of `tune` on one thread (November 2026).
OF_SEARCH = 0.37

#: Predictors without a map that hold a kernel matrix.
OF_MATRICES = {"exact_kernel", "xrfm"}

#: Repeats are separated in a job of more than this many times `minutes_per_shard`.
LONGEST = 4

#: Maps whose search for frequencies gains from a GPU, in jobs of this many expected seconds: to start CUDA and PyTorch
#: takes about ten.
LEARNED, LONG_SEARCH = ("nsrf", "nsrf_sphere"), 600

#: Options of a map that multiply its work, and the frequencies that a round of its search keeps if no option says it.
MULTIPLIERS, KEPT = ("n_copies", "n_steps"), {"text": 10, "code": 1}


def work_of(stage: str, part: Part, n: int, d: int, *, share: float = 1.0, alone: bool = False) -> Counter:
    """Return the amount of work in a part of a stage, by unit and measure: ``map rff/cells``.

    ``n`` and ``d`` are the rows and columns of its data; both are 1 without data. A ``share`` of the rows trains.
    ``alone`` says that every cell chooses its own penalty.
    """
    if stage == "tune":
        return work_of_search(part, n, d, share)
    if stage != "train":
        return work_of_kind(stage, part, n, d)
    found, repeats = Counter(), len(part.repeats)
    for entry in part.methods:
        cells = repeats * (part.draws or 1) * len(entry.get("sweep", {}).get("values", [0]))
        wanted = columns_of(part.sizes, d, entry.get("only_sizes"))
        for columns in wanted:
            if columns == max(wanted) or not has_prefixes(entry["method"], entry["options"]):
                found += work_of_map(entry, cells, n, columns)
            for name, options in part.learners.items():
                fitted = cells * sum(r < (options.get("repeats") or math.inf) for r in part.repeats) / repeats
                found += work_of_fits(name, options, fitted, share * n, columns, alone)
    return found


def work_of_search(part: Part, n: int, d: int, share: float) -> Counter:
    """Return the work of ``tune``: as ``study/tune.py``, maps and learners for every candidate of every scope."""
    found, search = Counter(), part.search
    for scope in {tune_scope(search, quantity) for quantity in searched(search)}:
        quantities = [name for name in searched(search) if tune_scope(search, name) == scope]
        entries = part.shared_methods if scope in ("experiment", "size") else part.methods
        repeats = len(part.repeats) if scope in ("split", "cell") else min(3, len(part.repeats))
        learners = part.learners if "penalty" in quantities else [search.get("learner") or next(iter(part.learners))]
        for entry in entries:
            tried = [
                len(options_tried(search, entry["method"]) if name == "options" else search[name]["grid"]) or 1
                for name in quantities
                if name != "penalty"
            ]
            cells = repeats * min(3, part.draws or 1) * math.prod(tried)
            for columns in columns_of(size_of_search(search) if scope in ("experiment", "method") else part.sizes, d):
                found += work_of_map(entry, cells * len(learners), n, columns)
                for name in learners:
                    found += work_of_fits(name, part.learners.get(name, {}), cells, share * n, columns, True)
    return found


def columns_of(named: dict | None, d: int, only: list[str] | None = None) -> list[int]:
    """Return the numbers of columns of the features at named sizes, or ``only`` at some labels of these: most maps have
    two for each frequency.
    """
    return [2 * s for s, label in sizes(named or {}, d) if only is None or label in only]


def work_of_map(entry: dict, cells: float, n: int, columns: int) -> Counter:
    """Return the work of an entry's map in cells; copies and steps of a search multiply it.

    A search of ``nsrf`` works by its rounds alone: its data have about as many rows, and columns only add rounds.
    """
    stated = resolved_options(entry["method"], entry["options"])
    unit, cells = f"map {entry['method']}", cells * math.prod(stated.get(key) or 1 for key in MULTIPLIERS)
    if entry["method"] == "nsrf":
        return Counter({f"{unit}/cells": cells * columns / 2 / (stated.get("n_peaks") or KEPT[stated["mode"]])})
    return amounts(unit, cells, n, columns)


def work_of_fits(name: str, options: dict, cells: float, n: float, columns: int, chooses: bool) -> Counter:
    """Return the work of a learner in cells, where each ``chooses`` its penalty or has one; none where the learner is
    left out. One penalty leaves nothing to choose. A learner that stops by a stated ``tolerance`` is a unit of its own.
    """
    if n * columns > (options.get("max_entries") or math.inf):
        return Counter()
    chooses = chooses and len(options.get(LEARNERS[name].grid, "unknown")) > 1
    stops = f" to {options['tolerance']:g}" if options.get("tolerance") else ""
    # in fits, as the records have them: one, and the search for a penalty
    fits = 1 + SEARCH.get(name, OTHER_SEARCH) if chooses else 1
    return amounts(f"learner {name}{stops}", cells * fits, n, columns)


def amounts(unit: str, cells: float, n: float, columns: float) -> Counter:
    """Return the measures of cells of a unit: their number, and those times rows x columns, x columns again, and
    columns^3 (a decomposition of their Gram matrix).
    """
    by = {"cells": 1, "nD": n * columns, "nDD": n * columns**2, "DDD": columns**3}
    return Counter({f"{unit}/{measure}": cells * amount for measure, amount in by.items()})


def work_of_kind(stage: str, part: Part, n: int, d: int) -> Counter:
    """Return the amount of work in a part whose kind counts its own cells: entries x repeats x values of the grid.

    Learners of a grid have work of their own, and the columns of the exact kernel are those of its matrix.
    """
    grid = dict(part.grid or {})
    cells, learners = max(1, len(part.methods)) * len(part.repeats or [0]), grid.pop("learners", None)
    cells *= math.prod(len(value) for value in grid.values() if isinstance(value, list | dict) and value)
    if learners:
        sides = dict.fromkeys(learners, (n, d))
        sides |= {name: matrix_of_kernel(part.kind, grid, n) for name in learners if name in OF_MATRICES}
        return sum((amounts(f"{stage} {name}", cells, *sides[name]) for name in learners), Counter())
    if stage == "time" and part.sizes:
        columns = sum(2 * s for s, _ in sizes(part.sizes, d))
        return amounts(f"{stage} {part.kind}", cells * (part.time or {}).get("rounds", 1), n, columns)
    return amounts(f"{stage} {part.kind}", cells, n, d)


def seconds_of(work: Counter, model: dict) -> float:
    """Return the expected seconds of work: a map or a learner without records takes as long as the slowest."""
    known = model["seconds"]
    slowest = {key: known.get(f"{key.partition(' ')[0]} any/{key.partition('/')[2]}", 0.0) for key in work}
    return sum(amount * known.get(key, slowest[key]) for key, amount in work.items())


def seconds_of_shard(stage: str, experiment: dict, shard: Shard, work: Counter, model: dict) -> float:
    """Return the expected seconds of a job.

    The records of its stage, of its experiment and of its data sets say how many times the seconds of their work such
    jobs took. A search has no records: the records of training count.
    """
    is_search = stage == "tune"
    times = model["times"].get("train" if is_search else stage, {})
    of_data = [times.get(f"dataset {each}", 1) for each in shard.datasets]
    of_all = times.get("all", 1) * times.get(f"experiment {experiment['name']}", 1) * (OF_SEARCH if is_search else 1)
    return seconds_of(work, model) * of_all * math.prod(of_data) ** (1 / len(of_data))


def memory_of_shard(shard: Shard, tasks: dict, settings: dict) -> int:
    """Return the memory (MB) that a job requests: what its kind states, and what its largest part takes."""
    parts = [part for part in shard.parts if part.dataset]
    of_data = max((memory_of(part, *sides_of(part, tasks, settings)) for part in parts), default=0.0)
    return max(LEAST_MB, SNAKEMAKE_MB + int(KINDS[shard.parts[0].kind].mb + of_data))


def memory_of(part: Part, n: int, d: int) -> float:
    """Return the memory (MB) of a part that grows with its rows and columns. It follows from the ``Kind`` and, for the
    features (n x D), from the ``bytes_per_entry`` of the learners.
    """
    kind, work = KINDS[part.kind], 0
    if part.grid is None:
        columns = max(columns_of(part.sizes, d) + columns_of(size_of_search(part.search or {}), d), default=0)
        entries = columns * n
        limits = {name: options.get("max_entries") or 1e8 for name, options in (part.learners or {}).items()}
        of_learners = (LEARNERS[name].bytes_per_entry * min(entries, most) for name, most in limits.items())
        work = kind.bytes_per_gram * min(columns, n) ** 2 + max(of_learners, default=0)
        work += 2 * min(4 * entries, kind.kept_bytes)  # the features in float32, and a copy
    elif not OF_MATRICES.isdisjoint(part.grid.get("learners", [])):
        work = kind.bytes_per_pair * math.prod(matrix_of_kernel(part.kind, part.grid, n))
    return (kind.bytes_per_value * n * d + work) / 2**20


def size_of_search(search: dict) -> dict:
    """Return the size at which a search chooses what all sizes share, as ``sizes``; empty if it names none."""
    return {rule: [value] for rule, value in search.get("size", {}).items()}


def requested_minutes(seconds: float, model: dict) -> int:
    """Return the minutes that a job requests, with which 90 % of the recorded jobs would have finished."""
    return max(LEAST_MINUTES, START_MINUTES + math.ceil(seconds * model["factor"] / 60))


def sides_of(part: Part, tasks: dict, settings: dict) -> tuple[int, int]:
    """Return the rows and columns of the data of a part; both are 1 without data."""
    return rows_of(tasks[part.dataset], settings, part.split, part.search) if part.dataset else (1, 1)


def rows_of(task: dict, settings: dict, split: dict | None = None, search: dict | None = None) -> tuple[int, int]:
    """Return the largest number of rows and columns of a task that a run can use, with a ``split`` and in a
    ``search``.

    >>> task, settings = {"n": 90_000, "d": 7, "source": {}}, {"data": "original", "max_rows": 40_000}
    >>> rows_of(task, settings), rows_of(task, settings, {"rule": "folds", "n_rows": 30_000})
    ((80000, 7), (30000, 7))
    """
    # generated rows, and those of a file of this machine, are the same in every preset
    own = "generator" in task or (("source" in task or "streamed" in task) and "stand_in" not in task)
    stands_in = settings["data"] == "embedded" and not own
    n, d = (1000, 128) if stands_in else (task["n"], task["d"])
    in_search = 2 * ((search or {}).get("max_rows") or n)
    return min(n, 2 * (settings["max_rows"] or n), (split or {}).get("n_rows", n), in_search), d


def share_that_trains(part: Part, n: int, tasks: dict, settings: dict) -> float:
    """Return the share of the ``n`` rows of a part that are training rows, with its split, caps and search."""
    if not part.dataset:
        return 1.0
    published = min(n, (part.split or {}).get("n_train") or tasks[part.dataset]["n_train"])
    return min(published, *(limits.get("max_rows") or n for limits in (settings, part.search or {}))) / n


def matrix_of_kernel(kind: str, grid: dict, n: int) -> tuple[int, int]:
    """Return the rows and columns of the kernel matrix that a learner holds: that of its at most ``most_rows`` rows; of
    more rows than the kind solves by Cholesky's factor, that of a preconditioner.

    >>> [matrix_of_kernel("controls", {}, n) for n in (9_000, 40_000)]  # of the second, as many rows take part
    [(9000, 9000), (15000, 15000)]
    >>> [matrix_of_kernel("controls", {"most_rows": 60_000}, n) for n in (15_000, 40_000)]  # the second in blocks
    [(15000, 15000), (40000, 1500)]
    """
    limits = KINDS[kind]
    n = min(n, grid.get("most_rows", limits.by_cholesky))
    return n, n if n <= limits.by_cholesky else limits.rank


def work_of_shard(stage: str, experiment: dict, shard: Shard, tasks: dict, settings: dict) -> Counter:
    """Return the amount of work in a job."""
    search = experiment.get("search", {})
    alone = "penalty" in search and "penalty" not in searched(search)
    found = Counter()
    for part in shard.parts:
        n, d = sides_of(part, tasks, settings)
        found += work_of(stage, part, n, d, share=share_that_trains(part, n, tasks, settings), alone=alone)
    return found


def sized(stage: str, experiment: dict, tasks: dict, settings: dict, model: dict) -> list[Shard]:
    """Return the jobs of a stage in an experiment, sized by the model if the preset has ``minutes_per_shard``."""
    target, found = settings["minutes_per_shard"], shards_of(stage, experiment, settings)
    if not target or stage == "time":  # compared methods are timed together, on one data set
        return found
    groups: list[list[tuple[float, Shard]]] = []
    for shard in found:
        work = work_of_shard(stage, experiment, shard, tasks, settings)
        minutes = seconds_of_shard(stage, experiment, shard, work, model) / 60
        number = len(shard.repeats)
        if stage != "tune" and minutes > LONGEST * target and number > 1 and KINDS[experiment["kind"]].needs_data:
            # repeats are cut only if they are separate cells: elsewhere one cell may cover them all
            groups += [[(minutes, each)] for each in shard.cut(max(1, int(number * LONGEST * target / minutes)))]
        elif groups and joins(groups[-1], shard) and minutes + sum(m for m, _ in groups[-1]) <= target:
            groups[-1].append((minutes, shard))
        else:
            groups.append([(minutes, shard)])
    return [together([shard for _, shard in group]) for group in groups]


def joins(group: list, shard: Shard) -> bool:
    """Return whether a shard has the data or the method of all shards of a group, so that they can be one job."""
    others = [each for _, each in group]
    same_data = all(each.datasets == shard.datasets for each in others)
    return same_data or all(each.method == shard.method for each in others)


def together(shards: list[Shard]) -> Shard:
    """Return one shard with the methods, or the data sets, of several, named after the first and the last."""
    first, last = shards[0], shards[-1]
    if first == last:
        return first
    parts: dict[str, Part] = {}
    for part in (part for shard in shards for part in shard.parts):
        methods = parts[part.dataset].methods if part.dataset in parts else []
        parts[part.dataset] = part | {"methods": [*methods, *part.methods]}
    return Shard(f"{first.name}-to-{last.name.rpartition('.')[2]}", list(parts.values()))


def needs(stage: str, experiment: dict, shard: Shard, tasks: dict, settings: dict, model: dict) -> dict:
    """Return what a job requests at its first attempt (``mem_mb``, minutes of ``runtime``, ``gpu``), and its
    ``expected`` seconds, 0 without records.
    """
    work = work_of_shard(stage, experiment, shard, tasks, settings)
    seconds = seconds_of_shard(stage, experiment, shard, work, model)
    return {
        "mem_mb": memory_of_shard(shard, tasks, settings),
        "runtime": requested_minutes(seconds, model) if seconds else UNKNOWN_MINUTES,
        "gpu": int(wants_gpu(work, shard, seconds, settings)),
        "expected": round(seconds),
    }


def wants_gpu(work: Counter, shard: Shard, seconds: float, settings: dict) -> bool:
    """Return whether a job requests a GPU: at ``device: cuda`` all jobs do. At ``auto`` jobs do whose maps learn
    frequencies for long, or whose maps or exact kernel are as large as ``device_from``.
    """
    if settings["device"] != "auto" or not settings["device_from"]:
        return settings["device"] == "cuda"
    learned = any(entry["method"] in LEARNED for part in shard.parts for entry in part.methods)
    large = ("map ", "measure exact_kernel/")
    dense = max((amount for key, amount in work.items() if key.startswith(large) and key.endswith("nDD")), default=0)
    return (learned and seconds >= LONG_SEARCH) or dense >= settings["device_from"]


def of_all(needs_of_shards: list[dict], model: dict) -> dict:
    """Return what one job of several shards, one after the other, requests: the largest memory of one, the time of all.
    It is at least the largest time of one, which may have no records.
    """
    most = {key: max(each[key] for each in needs_of_shards) for key in needs_of_shards[0]}
    seconds = sum(each["expected"] for each in needs_of_shards)
    together = requested_minutes(seconds, model) if len(needs_of_shards) > 1 else 0
    return most | {"runtime": max(most["runtime"], together), "expected": seconds}


def grown(needed: dict, attempt: int, settings: dict) -> dict:
    """Return the request of an attempt: as many times the first one, up to ``max_mem_mb`` and ``max_runtime``."""
    limits = {"mem_mb": settings["max_mem_mb"], "runtime": settings["max_runtime"]}
    return needed | {key: min(attempt * needed[key], limits[key] or math.inf) for key in limits}


def too_large(what: str, needed: dict, settings: dict) -> list[str]:
    """Return a line for each limit that the first request of a job exceeds: what, where, and what to do."""
    advice = {
        "mem_mb": "set max_rows, leave the data set out (only_datasets), or raise max_mem_mb to the memory of a node",
        "runtime": "set minutes_per_shard lower, or raise max_runtime to the limit of a partition",
    }
    return [
        f"{what} requests {key}={needed[key]}, more than max_{key}={settings[f'max_{key}']}: {change}"
        for key, change in advice.items()
        if settings[f"max_{key}"] and needed[key] > settings[f"max_{key}"]
    ]
