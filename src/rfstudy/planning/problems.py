"""Find what an experiment cannot do on its data sets, when the plan is made.

The models (``planning.models``) check an experiment as it is written. This module checks it on every data set of a run,
after all overlays: whether the search and the learners are complete, and whether there are enough rows for splits and
folds. Nothing is built here; ``planning.check`` does that.
"""

import itertools

from random_features.errors import UserError
from random_features.kernels import KERNELS
from random_features.learners.registry import LEARNERS
from random_features.maps.registry import REGISTRY
from rfstudy.data.entries import in_use
from rfstudy.data.tasks import N_FOLDS, OF_BLOCKS, halves, rows_of_blocks
from rfstudy.metrics import problem_of_metric
from rfstudy.models import problems_of, suggestion
from rfstudy.planning.entries import problems_of_options
from rfstudy.planning.models import DataOptions
from rfstudy.planning.plan import kernels_of, on_dataset
from rfstudy.study.job import kernel_id, merge, options_tried, own_kernel, searched, tune_scope

#: The rules of a split that take some of its keys.
RULES_OF_KEYS = {("n_train", "n_test"): ("random",), ("n_rows",): ("folds", "block_folds"), ("n_folds",): ("folds",)}


def problems_on_datasets(experiment: dict, settings: dict, tasks: dict) -> list[str]:
    """Return the problems of a selected experiment on its data sets, each as ``.key: message``. A problem that several
    data sets share is reported for the first.
    """
    found = {problem: problem for problem in problems_of_names(experiment)}
    for dataset in experiment["datasets"]:
        own = on_dataset(experiment, dataset)
        here = f".datasets.{dataset}"
        of_one = []
        if "preprocess" not in own:
            of_one.append(f"{here}: the key 'preprocess' is missing here and in the experiment")
        if "learners" in own:
            of_one += [f"{here}: {problem}" for problem in problems_of_choices(own)]
            of_one += [] if found else [f"{here}{problem}" for problem in problems_of_names(own)]
            of_one += problems_of_target(own, tasks[dataset]["target"], here)
        elif "kernel" in own:
            chosen = own | {"search": {}}  # a kind without learners has none
            of_one += [f"{here}: {problem}" for problem in problems_of_length_scale(chosen, own["kernel"])]
        if "sizes" in own and any(experiment["sizes"].values()) and not any(own["sizes"].values()):
            largest = own.get("largest_multiple_of_d")
            of_one.append(f"{here}: largest_multiple_of_d = {largest} leaves none of its sizes")
        of_one += problems_of_rows(own, tasks[dataset], settings, here)
        for problem in of_one:
            found.setdefault(problem.replace(dataset, "*"), problem)
    return list(found.values())


def problems_of_names(experiment: dict) -> list[str]:
    """Return the names under the keys ``time`` and ``search`` that the experiment, or its kind, does not have."""
    known = experiment.get("learners", {})
    if isinstance(experiment.get("time", {}).get("sizes"), list) and "sizes" not in experiment:
        return [f".time.sizes: only an accuracy grid takes a list; the kind {experiment['kind']} takes a number"]
    named = {key: experiment.get(key, {}).get("learner") for key in ("time", "search")}
    return [
        f".{key}.learner: there is no learner {learner!r} here; {suggestion(learner, known)}; add it under learners, "
        "or name another"
        for key, learner in named.items()
        if learner and learner not in known
    ]


def problems_of_sizes(experiment: dict, known: set[str]) -> list[str]:
    """Return the sizes that an experiment names under ``only_sizes`` and ``time`` and does not have (``known``), as it
    is written: a preset may have other sizes.
    """
    named = {".time.sizes": experiment.get("time", {}).get("sizes")} if "sizes" in experiment else {}
    for i, entry in enumerate(experiment["methods"]):
        for dataset, own in ({"": entry} | entry.get("datasets", {})).items():
            where = f".datasets.{dataset}" if dataset else ""
            named[f".methods[{i}]{where}.only_sizes"] = (own or {}).get("only_sizes")
    for dataset, own in experiment.get("datasets", {}).items():
        for method, labels in ((own or {}).get("only_sizes") or {}).items():
            named[f".datasets.{dataset}.only_sizes.{method}"] = labels
    lists = {place: map(str, labels) for place, labels in named.items() if isinstance(labels, list)}
    unknown = [(place, label) for place, labels in lists.items() for label in labels if label not in known]
    return [f"{place}: there is no size {label!r}; {suggestion(label, known)}" for place, label in unknown]


def problems_of_target(own: dict, target: str, here: str) -> list[str]:
    """Return whether the learner by which a search chooses does not serve the target of a data set, and the scores
    that are no metrics of it.
    """
    of_scores = [problem_of_metric(target, metric) for metric in own.get("scores") or []]
    found = [f"{here}.scores: {problem}" for problem in of_scores if problem]
    name = own["search"].get("learner") or next(iter(own["learners"]), None)
    served = LEARNERS[name].targets if name in own["learners"] else [target]
    if target not in served and searched(own["search"]):
        text = f"{name}, by which the search chooses, serves {' and '.join(served)}, and the target is {target}"
        found.append(f"{here}: {text}; name another in search.learner")
    return found


def problems_of_choices(experiment: dict):
    """Yield whether an experiment on a data set has no length scale for its kernel, or several, whether a map does not
    apply to its kernel, and whether nothing is named with which a shared choice can be made.
    """
    search, entries = experiment["search"], list(filter(None, experiment["methods"]))
    for entry in entries:
        method, kernel = entry["method"], kernel_id(entry.get("kernel", experiment["kernel"]))
        supported = REGISTRY[method].kernels
        # a kernel that no map names may be like one of theirs, which only its class says
        if kernel not in supported and any(kernel in each.kernels for each in REGISTRY.values()):
            yield f"{method} does not apply to the kernel {kernel}; it supports {', '.join(supported)}"
    for kernel in kernels_of(experiment):
        yield from problems_of_length_scale(experiment, kernel)
    for i, tried in enumerate(search.get("bandwidth", {}).get("grid", [])):
        for problem in problems_of(DataOptions, {"bandwidth": merge(experiment.get("bandwidth") or {}, tried)}):
            yield f"search.bandwidth.grid[{i}]: {problem.removeprefix('.bandwidth').lstrip('.: ')}"
    if len(search.get("size", ["one"])) != 1:
        yield "search.size must be one size: either multiples_of_d or values"
    try:
        scopes = {each: tune_scope(search, each) for each in ("penalty", *searched(search))}
    except UserError as error:
        yield str(error)
        return
    of_tune = {quantity: scopes[quantity] for quantity in searched(search)}
    if experiment.get("draws"):
        if any("sweep" in entry for entry in entries):
            yield "has draws and an entry with a sweep: rows have one axis"
        if any("draw" in entry for entry in entries):
            yield "has draws and an entry with draws of its own: keep one of them"
        if "time" in experiment:
            yield "has draws and a time: times are measured on one draw"
        if "cell" in of_tune.values():
            yield "search.tune_per is cell: all draws of a repeat share a choice by the scope split"
    for quantity, scope in of_tune.items():
        for missing, of_scopes in (("method", ("experiment", "size")), ("size", ("experiment", "method"))):
            if scope in of_scopes and missing not in search:
                which = f"search.{missing} must say with which {missing} {quantity} is chosen"
                yield f"{which}, which is shared by the {scope} (search.{quantity}.tune_per)"
    if of_tune.get("options") in ("experiment", "size"):  # what one map chooses is an option of all
        for named, entry in itertools.product(search.get("method", ()), entries):
            shares = own_kernel(named) == own_kernel(entry) and "options" in entry.get("searched", ["options"])
            for options in options_tried(search, named["method"]) if shares else ():
                for _, problem in problems_of_options(entry["method"], options, {}):
                    yield f"search.options is shared with {entry['method']}, which cannot take them: {problem}"
    shared = [own_kernel(entry) for entry in search.get("method", ())]
    by_all = shared and {"experiment", "size"} & {*of_tune.values()}
    rule_or_grid = experiment.get("bandwidth") or "length_scale" in search
    for named in search["method"] if by_all and not rule_or_grid else ():
        kernel = named.get("kernel", experiment["kernel"])
        if KERNELS[kernel["name"]].has_length_scale and "length_scale" not in named | kernel:
            yield f"search.method: {named['method']} needs a length_scale, as the methods have"
    for kernel in dict.fromkeys(map(own_kernel, entries)) if by_all else ():
        if shared.count(kernel) != 1:
            named = f"search.method must name one method for {kernel or 'the kernel of the experiment'}"
            yield f"{named}, it has {shared.count(kernel)}: what all methods share is shared by those of one kernel"


def problems_of_length_scale(experiment: dict, kernel: dict):
    """Yield whether the methods of a kernel do not take its length scale from exactly one place."""
    search = experiment["search"]
    has_length_scale = KERNELS[kernel["name"]].has_length_scale
    entries = [each for each in experiment["methods"] if each and each.get("kernel", experiment["kernel"]) == kernel]
    of_entries = ["length_scale" in entry for entry in entries]
    found = {"kernel": "length_scale" in kernel, "search": "length_scale" in search}
    found |= {"bandwidth": bool(experiment.get("bandwidth")), "methods": any(of_entries)}
    places = [place for place, is_there in found.items() if is_there]
    if "length_scale" in search and not has_length_scale:
        yield f"searches a length scale, the kernel {kernel['name']} has none"
    if found["kernel"] and places != ["kernel"]:
        yield f"has a length scale in kernel and in {places[1]}: keep one of them"
    stated = found["kernel"] or found["search"] or found["bandwidth"]
    if has_length_scale and not stated and not all(of_entries):
        yield "states no length scale, no bandwidth rule and no grid to search it in"


def problems_of_rows(own: dict, task: dict, settings: dict, here: str) -> list[str]:
    """Return whether a data set lacks rows for its split or for the folds of its learners."""
    counts = rows_of_split(own, task, settings)
    if isinstance(counts, str):
        return [f"{here}.split: {counts}"]
    splits = {i: merge(own.get("split") or {}, entry["split"]) for i, entry in entries_in(own) if "split" in entry}
    of_entries = {i: rows_of_split(own | {"split": of}, task, settings) for i, of in splits.items()}
    if wrong := [f".methods[{i}].split: {problem}" for i, problem in of_entries.items() if isinstance(problem, str)]:
        return wrong
    most = min(counts[0], settings["max_rows"] or counts[0])
    if own.get("search", {}).get("max_rows") and searched(own["search"]):
        most = min(most, own["search"]["max_rows"])
    # of each split that holds out whole blocks
    by_block = [of for of in (own.get("split") or {}, *splits.values()) if of.get("folds") == "blocks"]
    half = [halves(of["n_blocks"])[0] if of["rule"] != "block_folds" else of["n_blocks"] - 1 for of in by_block]
    found, most_blocks = [], min(half, default=most)
    for where, name, options in learners_of_entries(own):
        n_folds = options.get("n_folds", 2)
        if n_folds > most:
            found.append(f"{where}.{name}.n_folds: {n_folds} folds of {most} training rows")
        elif n_folds > most_blocks:
            found.append(f"{where}.{name}.n_folds: {n_folds} folds of {most_blocks} training blocks")
        missing = [key for key in (LEARNERS[name].grid, "n_folds") if key not in options]
        found += [f"{where}.{name}: the key {key!r} is missing" for key in missing]
    named = [(f".methods[{i}]", entry) for i, entry in entries_in(own)] + [(".search", own.get("search", {}))]
    for where, of in named if "learners" in own else ():
        for name in sorted(set(of.get("learners", {})) - set(own["learners"])):
            known = suggestion(name, own["learners"])
            found.append(f"{where}.learners.{name}: the experiment has no such learner; {known}")
    return found


def rows_of_split(own: dict, task: dict, settings: dict) -> tuple[int, int] | str:
    """Return the training and test rows of a repeat before any cap, or the problem of the split."""
    rows = in_use(task, embedded=settings["data"] == "embedded")
    n_train, n_test, total = rows["n_train"], rows["n_test"], rows["n"]
    how = {"rule": task["split"]} | (own.get("split") or {})
    beyond = [row for row in how.get("without", []) if row >= total]
    if beyond and settings["data"] != "embedded":  # a stand-in has fewer rows than its data
        return f"without: there is no row {beyond[0]}, the task has {total}"
    if how["rule"] == "published" and task["split"] != "published":
        return "the task has no published parts; its split is " + task["split"]
    for keys, rules in RULES_OF_KEYS.items():
        stated = [key for key in keys if key in how]
        if stated and how["rule"] not in rules:
            return f"only the rule {' or '.join(rules)} takes {' and '.join(stated)}, not the rule {how['rule']}"
    if how.get("n_rows", 0) > total and settings["data"] != "embedded":
        return f"n_rows: {how['n_rows']} are more than the {total} there are"
    total = min(total, how.get("n_rows", total))
    if ("n_blocks" in how) != (how["rule"] in OF_BLOCKS):
        return f"the rules {', '.join(OF_BLOCKS)} need n_blocks, and no other rule takes it"
    if how.get("folds") == "blocks" and how["rule"] not in OF_BLOCKS:
        return f"only the rules {', '.join(OF_BLOCKS)} have blocks for folds, not the rule {how['rule']}"
    if how["rule"] in OF_BLOCKS:
        if how["n_blocks"] > total:
            return f"{how['n_blocks']} blocks of {total} rows"
        n_train = rows_of_blocks(total, how["n_blocks"], how["rule"])
        return n_train, total - n_train
    if how["rule"] == "half":
        return halves(total)
    if how["rule"] == "folds":  # the last of ten published folds may have one row more
        if (n_folds := how.get("n_folds", N_FOLDS)) > total:
            return f"n_folds: {n_folds} folds of {total} rows"
        n_test = -(-total // n_folds)
        return total - n_test, n_test
    if how["rule"] == "random":
        n_train, n_test = how.get("n_train", n_train), how.get("n_test", n_test)
        if n_train + n_test > total:
            return f"{n_train} training and {n_test} test rows are more than the {total} there are"
    return n_train, n_test


def learners_of_entries(own: dict):
    """Yield the place, the name and the options of learners: those of the experiment on a data set, the selection
    learner of its search, and those of entries.
    """
    known = own.get("learners", {})
    yield from ((".learners", name, options) for name, options in known.items())
    over = {".search": own.get("search", {})} | {f".methods[{i}]": entry for i, entry in entries_in(own)}
    for where, of in over.items():
        for name, options in of.get("learners", {}).items():
            if name in known and options is not None:
                yield f"{where}.learners", name, merge(known[name], options)


def entries_in(own: dict):
    """Return the positions and entries that an experiment runs on a data set."""
    return ((i, entry) for i, entry in enumerate(own["methods"]) if entry)
