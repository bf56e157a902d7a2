"""The accuracy grid: maps x sizes x repeats, each with its approximation error, and learners on the features.

A cell is one map at one size in one repeat, and at one value of the option that its entry sweeps. It has all sizes if a
prefix of the features is the map at a smaller size. ``tune``, ``train`` and ``time`` work on these cells. This module
lists the cells, and returns the conditions and the map of each.
"""

from collections import deque
from functools import partial

import numpy as np

from random_features.kernels import KERNELS
from random_features.learners.entry import load
from random_features.learners.streams import keep_within
from random_features.maps.registry import has_prefixes
from random_features.tensors import as_tensor
from rfstudy.data.scale import columns_after
from rfstudy.data.split import fold_of_block, fold_of_row
from rfstudy.data.target import Target
from rfstudy.data.tasks import without
from rfstudy.study.engine import Cell, Job, Timed, drawn_and_learned, name_of
from rfstudy.study.job import SEARCHED, TUNE_SCOPES, Part, merge, own_kernel, sizes
from rfstudy.study.kinds.registry import KINDS
from rfstudy.study.sample import Sample

#: Bytes up to which the features of one map are kept for all learners and passes; above, they are streamed.
KEPT_BYTES = KINDS["grid"].kept_bytes

#: Quantities of a search that decide a map, in the order in which its rows name their scopes.
OF_MAP = ("length_scale", "bandwidth", "preprocess", "options")

#: Options of a learner that only concern the choice of its penalty; they do not matter once the penalty is fixed.
OF_CHOICE = ("n_folds", "choice")


def grid_cells(spec: Part, chosen: dict, d: int, learner: str = "", *, together: bool = True) -> list[Cell]:
    """Return all cells of a part, repeats outermost, so that a repeat's data are loaded once.

    ``chosen`` holds the choices of ``tune`` for the data set; ``d`` is the number of columns of the prepared data.
    Sizes in multiples of d refer to the columns that the map sees. Without ``together`` every size is a cell, even for
    a map whose sizes share their work.
    """
    named = sizes(spec.sizes, d)
    limits = (spec.learners or {}).get(learner, {})
    return [
        grid_cell(spec, choices, entry, group, d, repeat, learner, place)
        for repeat in spec.repeats
        if repeat < limits.get("repeats", repeat + 1)
        for entry in spec.methods
        if is_learned(entry, learner)
        for place in places_of(spec, entry)
        for group, choices in sharing(chosen, entry, place, sizes_of(entry, named), repeat, together)
    ]


def sizes_of(entry: dict, named: list) -> list:
    """Return the sizes of an entry, as numbers with labels: all sizes, or those that it names."""
    return [(s, label) for s, label in named if is_run(entry, label)]


def places_of(spec: Part, entry: dict) -> list[dict]:
    """Return the draws of an entry's map in a repeat, or the values that it sweeps, as columns of the tidy table; one
    empty mapping if there are neither.
    """
    if spec.draws:
        return draws(spec.draws)
    sweep = entry.get("sweep")
    return [{"axis": sweep["axis"], "at": value} for value in sweep["values"]] if sweep else [{}]


def draws(number: int) -> list[dict]:
    """Return the draws of a map on the same rows, as columns of the tidy table."""
    return [{"axis": "draw", "at": draw} for draw in range(number)]


def sharing(chosen: dict, entry: dict, place: dict, named: list, repeat: int, together: bool):
    """Return the sizes of an entry in groups, one cell per group, each with the choices for its sizes.

    ``together`` are the sizes at which one map was chosen, if its prefixes are the maps at the smaller ones.
    """
    groups: dict = {}
    for position, (s, label) in enumerate(named):
        choice = choice_for(chosen, entry, label, repeat)
        values = {quantity: value for quantity, value in choice[0].items() if quantity != "penalty"}
        shared = together and has_prefixes(entry["method"], options_of(entry, place, values.get("options", {})))
        group, choices = groups.setdefault(repr(values) if shared else position, ([], []))
        group.append((s, label))
        choices.append(choice)
    return groups.values()


def options_of(entry: dict, place: dict, chosen: dict) -> dict:
    """Return the options of an entry's map at a value of its sweep. Chosen options override the entry's own."""
    swept = {entry["sweep"]["option"]: place["at"]} if place and "sweep" in entry else {}
    return merge(entry["options"], chosen) | swept


def grid_cell(
    spec: Part, choices: list, entry: dict, group: list, d: int, repeat: int, learner: str, place: dict
) -> Cell:
    """Return one cell: an entry at a size, or at several that share their work (``group``: numbers with labels).

    ``choices`` are the results of ``choice_for`` for these sizes; they differ in their penalties and edges only.
    ``place`` is the value of its sweep (``places_of``). If a choice for the map is at an edge of its grid, the
    condition ``at_edge`` has the quantities by size, and whether the last step still gains (``penalties.edge_of``).
    """
    conditions = conditions_of(spec, choices[-1], entry, learner)
    penalties = [values.get("penalty", {}).get(learner) for values, _ in choices]
    if len(set(penalties)) > 1:
        conditions["penalty"] = penalties
    edges = [how.get("at_edge", {}) for _, how in choices]
    of_map = [{q: edge for q, edge in each.items() if q in OF_MAP and q not in entry} for each in edges]
    conditions |= {"at_edge": of_map} if any(of_map) else {}  # by size
    if any(learner in each for each in edges):
        conditions["penalty_at_edge"] = [each.get(learner) for each in edges]
    width = columns_after(conditions["preprocess"], d)
    numbers = [s * width // d if label.endswith("d") else s for s, label in group]
    at = {"n_features": numbers, "label": [label for _, label in group], "repeat": repeat} | place
    entry = entry | {"options": options_of(entry, place, conditions.pop("options"))}
    return Cell(entry, at, conditions)


def prefixes(phi, cell: Cell):
    """Yield pairs of a cell's map at each of its sizes and that size as columns of the tidy table.

    ``phi`` is the fitted map at the largest size, or None if there is none; every size then has None.
    """
    numbers, labels = cell.coordinates["n_features"], cell.coordinates["label"]
    for s, label in zip(numbers, labels, strict=True):
        yield phi and (phi if s == numbers[-1] else phi.prefix(s)), {"n_features": s, "n_features_label": label}


def conditions_of(spec: Part, choice: tuple, entry: dict, learner: str) -> dict:
    """Return the conditions of a cell: the entry's own values, else the choices of ``tune``, else the experiment's
    values.

    The conditions are the ``split`` and the ``kernel`` if the entry has its own, the steps of ``preprocess``, the
    ``length_scale``, the rule of the ``bandwidth``, the chosen ``options`` of the map, and ``choice``. The
    ``length_scale`` is None if a rule finds it on the training rows, or if the kernel has none. ``choice`` states the
    scope that shares the choices, and the repeats used for them. A learner also has its ``learner`` id, its
    ``settings`` and the ``penalty``. The penalty is None if the cell chooses its own, and a list if its sizes have
    different ones.
    """
    values, how = choice
    conditions = {
        "preprocess": entry.get("preprocess") or values.get("preprocess") or spec.preprocess,
        "length_scale": entry.get("length_scale") or values.get("length_scale"),
        "bandwidth": None,
        "options": values.get("options", {}),
        "choice": next((how[quantity] for quantity in OF_MAP if quantity in how), {}),
    }
    if "split" in entry:
        conditions["split"] = merge(spec.split or {}, entry["split"])
    if "kernel" in entry:
        conditions["kernel"] = entry["kernel"]
    kernel = entry.get("kernel", spec.kernel)
    if conditions["length_scale"] is None and KERNELS[kernel["name"]].has_length_scale:
        conditions["bandwidth"] = spec.bandwidth and merge(spec.bandwidth, values.get("bandwidth", {}))
    if learner:
        penalty, settings = values.get("penalty", {}).get(learner), learner_settings(spec, entry, learner)
        conditions |= {"learner": learner, "penalty": penalty, "choice": how.get("penalty", {"tune_per": "cell"})}
        conditions["settings"] = settings if penalty is None else without(settings, *OF_CHOICE)
        conditions["scores"] = spec.scores
    else:
        conditions["approximation"] = spec.approximation
    return conditions


def is_run(entry: dict, label: str) -> bool:
    """Return whether an entry is run at a size."""
    return label in entry.get("only_sizes", [label])


def is_learned(entry: dict, learner: str) -> bool:
    """Return whether a learner is run on the features of an entry: a null under its ``learners`` leaves it out."""
    return entry.get("learners", {}).get(learner, {}) is not None


def learner_settings(spec: Part, entry: dict, learner: str) -> dict:
    """Return the options of a learner for an entry: the experiment's, overridden by the entry's own."""
    return without(merge(spec.learners[learner], entry.get("learners", {}).get(learner, {})), "repeats")


def choice_for(chosen: dict, entry: dict, label: str, repeat: int) -> tuple[dict, dict]:
    """Return the choices of ``tune`` for a cell, from every scope that it is in. For each quantity they state the scope
    that shares it (``tune_per``) and the repeats used for it (``chosen_on``). ``at_edge`` is as in ``tune.Search``.

    >>> scale = {"chosen": {"length_scale": 2.0}, "chosen_on": [0], "at_edge": {"length_scale": True}}
    >>> maps = {"rff-b": {"chosen": {"options": {"a": 1}}, "chosen_on": [0, 1], "draws": 3}}
    >>> penalty = {"chosen": {"penalty": {"ridge": 0.1}}, "chosen_on": [1], "at_edge": {"ridge": False}}
    >>> chosen = {"experiment": scale, "method": maps, "cell": {"rff-b": {"2d": {"1": penalty}}}}
    >>> entry = {"method": "rff", "variant": "b"}
    >>> values, how = choice_for(chosen, entry, "2d", 1)
    >>> values
    {'length_scale': 2.0, 'options': {'a': 1}, 'penalty': {'ridge': 0.1}}
    >>> how["length_scale"], how["at_edge"]
    ({'tune_per': 'experiment', 'chosen_on': [0]}, {'length_scale': True, 'ridge': False})
    >>> how["options"], how["penalty"]
    ({'tune_per': 'method', 'chosen_on': [0, 1], 'draws': 3}, {'tune_per': 'cell'})

    Another repeat has no penalty of this one, and an entry that is not searched for a quantity has neither its choice
    nor its edge.

    >>> values, how = choice_for(chosen, entry, "2d", 0)
    >>> sorted(values), how["at_edge"]
    (['length_scale', 'options'], {'length_scale': True})
    >>> choice_for({"experiment": scale}, entry | {"searched": ["penalty"]}, "2d", 1)
    ({}, {})
    """
    values: dict = {}
    how: dict = {}
    for scope in TUNE_SCOPES:
        found = chosen.get(scope, {})
        for word in place_of(scope, entry, label, repeat):
            found = found.get(word, {})
        own = {quantity: value for quantity, value in found.get("chosen", {}).items() if is_searched(entry, quantity)}
        values |= own
        shared = {key: found[key] for key in ("chosen_on", "draws") if key in found and scope != "cell"}
        how |= dict.fromkeys(own, {"tune_per": scope} | shared)
        edges = found.get("at_edge", {}).items()
        if of_own := {each: edge for each, edge in edges if each in own or ("penalty" in own and each not in OF_MAP)}:
            how["at_edge"] = how.get("at_edge", {}) | of_own
    return values, how


def is_searched(entry: dict, quantity: str) -> bool:
    """Return whether an entry takes part in the search of a quantity. An entry may list the quantities it takes part
    in.
    """
    return quantity in entry.get("searched", SEARCHED)


def place_of(scope: str, entry: dict, label: str, repeat: int | None) -> tuple[str, ...]:
    """Return the place, within its scope, of the choice that a cell shares: by method, size and repeat, as needed.

    All methods are those of one kernel.

    >>> [place_of(scope, {"method": "rff"}, "2d", 0) for scope in ("size", "method", "method_and_size", "split")]
    [('2d',), ('rff',), ('rff', '2d'), ('rff', '2d', '0')]
    >>> laplacian = {"method": "rff", "kernel": {"name": "laplacian"}}
    >>> [place_of("experiment", entry, "2d", 0) for entry in ({"method": "rff"}, laplacian)]
    [(), ('laplacian',)]
    """
    if scope in ("experiment", "size"):
        return tuple(filter(None, [own_kernel(entry), label if scope == "size" else ""]))
    length = {"method": 1, "method_and_size": 2}.get(scope, 3)
    return (name_of(entry), label, str(repeat))[:length]


def folds_of(spec: Part, n_rows: int, n_folds: int, repeat: int, blocks=None):
    """Return the fold (n_rows,) in which a training row of a repeat is held out, the same for all methods and learners;
    ``blocks`` (n_rows,) are held out whole.
    """
    if blocks is not None:
        return fold_of_block(blocks, n_folds, spec.seed, "train", repeat)
    return fold_of_row(n_rows, n_folds, spec.seed, "train", repeat)


def map_of(job: Job, cell: Cell):
    """Return the unfitted feature map of a cell, and ``sample_and_kernel``: its rows, kernel and length scale."""
    s, repeat = cell.coordinates["n_features"][-1], cell.coordinates["repeat"]
    sample, kernel, length_scale = job.sample_and_kernel(repeat, cell.conditions)
    draw = [cell.entry["draw"]] if "draw" in cell.entry else []
    if cell.coordinates.get("axis") == "draw":
        draw = [cell.coordinates["at"]]
    return job.feature_map(cell.entry, kernel, s, repeat, *draw), sample, kernel, length_scale


def placed(phi, array):
    """Return an array where a map of a job, or its specification, says: a tensor on a GPU, or the array itself."""
    return array if phi.device == "cpu" else as_tensor(array, phi.device)


def features_of(phi, X):
    """Return the features of X (n, d) as a stream of blocks. Few of them are kept: on a GPU in its free memory, else
    in ``KEPT_BYTES``.
    """
    X = placed(phi, X)
    budget, device = (KEPT_BYTES, "cpu") if isinstance(X, np.ndarray) else (None, X.device)
    return keep_within(lambda: phi.transform_blocks(X), len(X), phi.n_columns_, budget, device)


def timed(job: Job, chosen: dict) -> list[Timed]:
    """Return the units that ``time`` measures: every map of the first repeat at every size. If the experiment names a
    learner, its fit and its predictions are measured as well. If no penalty was chosen, the learner uses the smallest
    value of its grid that has a solution.
    """
    spec, learner = job.spec, next(iter(job.spec.learners), "")
    cells = grid_cells(spec, chosen, job.data.facts["d"], learner, together=False)
    return [timed_cell(job, cell, learner) for cell in cells]


def timed_cell(job: Job, cell: Cell, learner: str) -> Timed:
    """Return the phases of one cell, in the order in which a user meets them."""
    phi, sample, _kernel, length_scale = map_of(job, cell)
    X, y = sample.X_train, sample.y_train
    phases = drawn_and_learned(cell.entry, phi, X, y) | {"transform": lambda: exhaust(phi.transform_blocks(X))}
    if learner:
        phases |= phases_of_learner(job.data.target, cell, phi, sample)
    (s,), (label,) = cell.coordinates["n_features"], cell.coordinates["label"]
    columns = sample.size_columns | {"n_features": s, "n_features_label": label}
    return Timed(cell.entry, columns, phases, learner, cell_settings(cell, length_scale, sample.capped))


def phases_of_learner(target: Target, cell: Cell, phi, sample: Sample) -> dict:
    """Return the phases of a learner: to fit it on features that are ready, and to map and predict the test rows."""
    learner, options = load(cell.conditions["learner"]), cell.conditions["settings"]
    Y, classes = target.encode(sample.y_train)
    kept: dict = {"penalty": cell.conditions["penalty"]}

    def features(part):
        if part not in kept:
            kept[part] = list(phi.transform_blocks(getattr(sample, part)))
        return iter(kept[part])

    def fit():
        train, how = partial(features, "X_train"), {"n_columns": phi.n_columns_, "options": options}
        if kept["penalty"] is None:
            kept["penalty"] = learner.smallest_with_solution(train, Y, **how)
        kept["model"] = learner.fit(train, Y, kept["penalty"], **how)

    def predict():
        for _rows, block in features("X_test"):
            target.decode(kept["model"].decision(block), classes)

    return {"fit": fit, "predict_transform": lambda: exhaust(phi.transform_blocks(sample.X_test)), "predict": predict}


def exhaust(blocks) -> None:
    """Compute all blocks and keep none."""
    deque(blocks, maxlen=0)


def cell_settings(cell: Cell, length_scale: float | None, capped: bool, position: int = 0) -> dict:
    """Return the settings in the rows of a cell, which tell how it was computed; a size has a ``position`` in it."""
    conditions = cell.conditions
    found = {"preprocess": conditions["preprocess"], "options": cell.entry["options"], "capped": capped}
    at_edge = conditions["at_edge"][position] if "at_edge" in conditions else {}
    found |= conditions["choice"] | ({"at_edge": at_edge} if at_edge else {})
    own_split = conditions.get("split", {})
    found |= {"split": own_split["rule"]} if "rule" in own_split else {}
    found |= {"split_options": options} if (options := without(own_split, "rule")) else {}
    return found if length_scale is None else found | {"length_scale": length_scale}


def all_places(spec: Part, d: int, measurements: list[dict]) -> list[tuple[dict, dict]]:
    """Return a pair of the entry and the columns of a row for every method, size and measurement."""
    return [
        (entry, {"n_features": s, "n_features_label": label} | place | measurement)
        for entry in spec.methods
        for place in places_of(spec, entry)
        for s, label in sizes_of(entry, sizes(spec.sizes, d))
        for measurement in measurements
    ]
