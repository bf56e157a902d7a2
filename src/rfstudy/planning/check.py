"""Build everything that the experiments name once: ``python -m rfstudy check``.

Planning checks what can be known without a computation. This command checks the rest: it makes every kernel and every
map at its sizes, fits every map and every learner to a few points, and lists the cells of every kind. It computes no
number of the study.
"""

import inspect
import json
import math
import traceback
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

from random_features.errors import NotDefinedError
from random_features.kernels import KERNELS, make_kernel
from random_features.learners.entry import load as load_learner
from random_features.learners.registry import LEARNERS
from random_features.learners.streams import Kept
from random_features.maps.registry import check_kernel, make_map, resolve
from rfstudy.data import modules
from rfstudy.data.entries import in_use
from rfstudy.data.scale import columns_after, fit_steps
from rfstudy.data.tasks import OF_FEATURES, without
from rfstudy.files import read_yaml
from rfstudy.metrics import OF_TARGET
from rfstudy.planning.config import load_study, located
from rfstudy.planning.plan import on_dataset, part_of
from rfstudy.planning.problems import entries_in, learners_of_entries, rows_of_split
from rfstudy.study.engine import Job, kind_cells, kind_module
from rfstudy.study.job import NAMES, Part, kernel_id, merge, options_tried, sizes, wanted_sizes
from rfstudy.study.kinds.registry import KINDS

#: The folder of both packages.
ROOT = Path(__file__).parents[2]

#: What separates the parts of two experiments with the same work.
NAMELESS = dict.fromkeys((*NAMES, "dataset"), "")

#: Shape of the points on which a bandwidth rule is tried.
RULE_ROWS, RULE_COLUMNS = 500, 2


def problems_of_preset(config_dir, preset: str) -> list[str]:
    """Return a line for everything in the experiments of a preset that cannot be built."""
    general = Path(config_dir) / "config.yaml"
    study = load_study(read_yaml(general) | {"preset": preset}, config_dir, [general])
    return located(problems_of_parts(study.chosen, study.settings, study.registry.tasks), config_dir)


def problems_of_parts(experiments: dict[str, dict], settings: dict, tasks: dict) -> list[tuple[str, str]]:
    """Return experiments and messages. A part that several experiments share is built once."""
    known: dict[str, str] = {}
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, experiment in experiments.items():
            for where, trial, arguments in parts(experiment, settings, tasks):
                key = json.dumps([trial.__name__, arguments], sort_keys=True, default=Part.stated)
                if key not in known:
                    known[key] = problem_of(trial, arguments)
                found += [(name, f"{where}: {known[key]}")] if known[key] else []
    return found


def problem_of(trial, arguments: dict) -> str:
    """Return the message of the error that a trial raises; empty if it raises none."""
    try:
        trial(**arguments)
    except (ValueError, TypeError, ArithmeticError) as error:  # user errors are values, too
        return " ".join(str(error).split())
    except Exception as error:  # of the code of a new map, kernel, learner or kind
        *_, (path, line, *_) = (at for at in traceback.extract_tb(error.__traceback__) if ROOT in Path(at[0]).parents)
        return " ".join(f"{Path(path).relative_to(ROOT)}, line {line}: {type(error).__name__}: {error}".split())
    return ""


# --- What is built ----------------------------------------------------------------------------------------------------


def parts(experiment: dict, settings: dict, tasks: dict):
    """Yield the place of every part of an experiment, the function that tries it, and its arguments."""
    kind = experiment["kind"]
    # a kind that completes its kernels also makes them
    own_kernels = hasattr(kind_module(kind), "kernels")
    if not own_kernels:
        yield ".kernel", try_kernel, {"kernel": experiment["kernel"]}
    for dataset, stated in experiment["datasets"].items():
        own, made = on_dataset(experiment, dataset), tasks[dataset].get("features_of")
        if made:
            counts = {"d": tasks[made["task"]]["d"], "expected": tasks[dataset]["d"]}
            yield f".datasets.{dataset}", try_extractor, {"features_of": made} | counts
        if "kernel" in stated:
            yield f".datasets.{dataset}.kernel", try_kernel, {"kernel": own["kernel"]}
        yield from parts_on(own, tasks[dataset], settings, f".datasets.{dataset}" if "preprocess" in stated else "")
        if "grid" in own:
            yield ".grid", try_kind, {"part": part_of("measure", own, dataset, settings) | NAMELESS}
    if not KINDS[kind].needs_data:
        entries = [without_own_options(entry, kind) for entry in experiment["methods"]]
        for i, entry in enumerate([] if own_kernels else entries):
            yield f".methods[{i}]", try_map, map_part(entry, experiment["kernel"], widest(experiment["grid"]))
        yield ".grid", try_kind, {"part": part_of("measure", experiment, "", settings) | NAMELESS}


def parts_on(own: dict, task: dict, settings: dict, of_steps: str):
    """Yield ``parts`` of an experiment on one data set; ``of_steps`` is the place of its preprocessing."""
    rows = in_use(task, embedded=settings["data"] == "embedded")
    d, target, search = rows["d"], rows["target"], own.get("search", {})
    step_lists = [(".search.preprocess", steps) for steps in search.get("preprocess", {}).get("grid", [])]
    step_lists += [(f"{of_steps}.preprocess", own["preprocess"])] if "preprocess" in own else []
    entries = [(f".methods[{i}]", entry) for i, entry in entries_in(own)]
    entries += [(f".search.method[{i}]", entry) for i, entry in enumerate(search.get("method", []))]
    of_entries = [(f"{where}.preprocess", entry["preprocess"]) for where, entry in entries if "preprocess" in entry]
    n_train = min(rows_of_split(own, task, settings)[0], settings["max_rows"] or math.inf)
    for where, steps in step_lists + of_entries:
        yield where, try_steps, {"steps": steps, "d": d, "n_train": min(n_train, d)}
    if own.get("bandwidth"):
        yield ".bandwidth", try_rule, {"bandwidth": own["bandwidth"], "n_train": n_train}
    for where, name, options in learners_of_entries(own):
        yield f"{where}.{name}", try_learner, {"learner": name, "options": options, "target": target}
    for where, entry in entries:
        if "kernel" in entry:
            yield f"{where}.kernel", try_kernel, {"kernel": entry["kernel"]}
        wanted = wanted_sizes(own.get("sizes", {}), None, entry.get("only_sizes", ()))
        grid = {"sizes": wanted, "d": d} if "sizes" in own else widest(own.get("grid", {}))
        sweep = entry.get("sweep", {"values": []})
        tried = options_tried(search, entry["method"]) + [{sweep["option"]: value} for value in sweep["values"]]
        for options in tried or [{}]:
            laid = without_own_options(entry | {"options": merge(entry["options"], options)}, own["kind"])
            for _, steps in [("", entry["preprocess"])] if "preprocess" in entry else step_lists:
                yield where, try_map, map_part(laid, entry.get("kernel", own["kernel"]), grid, steps)


def map_part(entry: dict, kernel: dict, grid, steps=()) -> dict:
    """Return the map of an entry at its sizes: a number, or those of an accuracy grid on d columns after some steps."""
    changing = [step for step in steps if hasattr(modules.load("steps", modules.step_of(step)[0]), "columns")]
    part = {"method": entry["method"], "options": entry["options"], "kernel": kernel, "grid": grid}
    return part | {"steps": list(steps) if changing and isinstance(grid, dict) else []}


def without_own_options(entry: dict, kind: str) -> dict:
    """Return an entry without the options that its kind takes for itself."""
    return entry | {"options": without(entry["options"], *KINDS[kind].options)}


def widest(grid: dict) -> int:
    """Return the largest number of features in a grid, 1 if it names none."""
    named = grid.get("n_features", 1)
    return max(named) if isinstance(named, list) else named


# --- How it is built --------------------------------------------------------------------------------------------------


def kernel_of(kernel: dict):
    """Return the kernel of a mapping, with length scale 1 if it states none."""
    known = KERNELS.get(kernel["name"])
    length_scale = {"length_scale": 1.0} if known and known.has_length_scale else {}
    return make_kernel(length_scale | kernel)


def try_kernel(kernel: dict):
    """Make a kernel and evaluate it."""
    made = kernel_of(kernel)
    if made.name != (name := kernel_id(kernel)):
        raise ValueError(f"{type(made).__name__}: its name must be {name!r}, as in the registry, not {made.name!r}")
    if (found := made(np.eye(2)[:, :1]).shape) != (2, 2):
        raise ValueError(f"{made.name}: the matrix of two rows must have the shape (2, 2), got {found}")


def try_map(method: str, options: dict, kernel: dict, grid, steps: list):
    """Make a map for a kernel, at a number of features or at all sizes of an accuracy grid, and fit a small one."""
    try:
        made = kernel_of(kernel)
        width = columns_after(steps, grid["d"]) if isinstance(grid, dict) else 0
    except (ValueError, TypeError):
        return  # reported for the kernel, or for the steps
    check_kernel(resolve(method)[0], made)
    for s in sorted({s for s, _ in sizes(grid["sizes"], width)} if isinstance(grid, dict) else {grid}):
        phi = make_map(method, kernel=made, n_components=s, random_state=0, **options)
        with suppress(NotDefinedError):  # a study skips such a cell
            phi.check_parameters()
    try_fit(method, json.dumps(options), json.dumps(kernel))


@cache
def try_fit(method: str, options: str, kernel: str):
    """Fit a map of two components, with options and a kernel as JSON, to a few points, and map these."""
    phi = make_map(method, kernel_of(json.loads(kernel)), n_components=2, random_state=0, **json.loads(options))
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.tile([-1.0, 1.0], 6)
    try:
        phi.fit(X, y).transform(np.eye(3))
    except NotDefinedError:  # for three columns
        with suppress(NotDefinedError):
            phi.fit(X[:, :1], y).transform(X[:, :1])


def try_learner(learner: str, options: dict, target: str):
    """Fit and cross-validate a learner on a few points, if it suits the target."""
    known = load_learner(learner)
    if unknown := set(known.targets) - set(OF_TARGET):
        raise ValueError(f"its facts name targets of the kind {', '.join(sorted(unknown))}, which there are not")
    if any(getattr(known, fact) != value for fact, value in vars(LEARNERS[learner]).items()):
        raise ValueError(f"its LEARNER must have its own facts: with_options({learner!r}, ...)")
    if target not in known.targets:
        return
    n_folds = options.get("n_folds", 2)
    n, grid = 4 * n_folds, options[known.grid]
    Z = np.random.default_rng(0).normal(size=(n, 2))
    Y = Z[:, :1] if target == "regression" else np.where(np.arange(n) // n_folds % 2, 1.0, -1.0)[:, None]
    score = "mse" if target == "regression" else "accuracy"
    with suppress(np.linalg.LinAlgError):  # because of these points, not of the options
        model = known.fit(Kept(Z), Y, float(max(grid)), n_columns=2, options=options)  # as training does
        scores = known.cross_validate(Kept(Z), Y, np.arange(n) % n_folds, n_columns=2, score=score, options=options)
        shapes = model.decision(Z).shape, np.shape(scores)
        if shapes != (expected := (Y.shape, (len(grid), n_folds))):
            raise ValueError(f"decisions and scores must have the shapes {expected}, got {shapes}")


def try_steps(steps: list, d: int, n_train: int):
    """Count the columns after preprocessing steps, and fit the steps to few training rows."""
    columns_after(steps, d)
    if n_train < d:
        fit_steps(steps, np.random.default_rng(0).normal(size=(n_train, d)))


def try_extractor(features_of: dict, d: int, expected: int):
    """Count the columns that an extractor makes from d."""
    name, parameters = features_of["extractor"], without(features_of, *OF_FEATURES)
    if (found := modules.load("extractors", name).columns(d, **parameters)) != expected:
        raise ValueError(f"{name} makes {found} columns of {d}, but datasets.yaml says {expected}")


def try_rule(bandwidth: dict, n_train: int):
    """Apply a bandwidth rule to as many rows as there are, or to a few."""
    # more rows than the neighbours it counts
    rows = min(n_train, max([RULE_ROWS, *(value + 1 for value in bandwidth.values() if isinstance(value, int))]))
    X = np.random.default_rng(0).normal(size=(rows, RULE_COLUMNS))
    try:
        modules.function("bandwidths", bandwidth["rule"])(X, np.random.default_rng(0), **without(bandwidth, "rule"))
    except ValueError:
        if rows == n_train:
            raise


def try_kind(part: Part):
    """Make the kernels and maps that a kind completes itself, run its own check, and list its cells, which ``measure``
    has to take.
    """
    module = kind_module(part.kind)
    for kernel, entries in module.kernels(part) if hasattr(module, "kernels") else ():
        kernel_of(kernel)
        for entry in entries:
            try_map(**map_part(without_own_options(entry, part.kind), kernel, 1))
    if hasattr(module, "check"):
        module.check(part)
    has_stage = KINDS[part.kind].stage == "measure"
    for cell in kind_cells(Job("measure", part, journal=None, run=None)) if has_stage else ():
        inspect.signature(module.measure).bind(None, cell.entry, **cell.coordinates, **cell.conditions)
