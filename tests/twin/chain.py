"""The naive twin of the chain: every row of a small experiment, in the plainest way from what the experiment says.

The chain streams its features, keeps finished cells, solves whole grids of penalties at once and hands JSON from stage
to stage. The twin does nothing of this: it holds every matrix, fits every model on its own and knows only the rules
that the documentation states. It uses the maps and kernels of the library and its seeds, and nothing of its data,
learners and stages. Times are no business of the twin.

A row is a dict of the columns of the tidy table that have a value, without those that say where and when it was
computed. ``settings`` is a dict. Two entries are the twin's own: ``doubtful`` is how far the value may be off because
of rounding (predictions that hang on it, or the tolerance of a solver), and a ``reason`` is only the part of the
sentence that says what happened.
"""

import itertools
import json
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.distance import cdist

from random_features.arrays import seed_sequence
from random_features.errors import NotDefinedError

from .data import Data, Sample, draw_sample, folds
from .learners import CHOSEN, accuracy, at_edge, best_regular, coded, cross_validated, doubtful, predicted, train
from .search import Choices, conditions, feature_map, features, id_of, laid_over, learners_of, left_out, name_of, sized

#: What rows say of who shares the bandwidth: the first of these that was chosen.
OF_MAP = ("length_scale", "bandwidth", "preprocess", "options")

#: Maps of which the first features are the map at a smaller size where this option is stated: of the sizes for which
#: the same was chosen the largest is drawn.
NESTED = {"karff": "n_candidates", "kprff": "n_candidates"}


@dataclass(frozen=True)
class Grid:
    """An accuracy grid: data sets x maps x sizes x repeats x learners."""

    data: dict[str, Data]
    scaling: dict[str, list[str]]  # by data set, steps one after the other
    # {method, variant, options}, and what is different there: kernel, scaling, length_scale, learners (None: not run),
    # searched (what of the search it takes part in), only_sizes (labels), walk ({axis, option, values})
    methods: list[dict]
    sizes: dict[str, list[int]]  # {"multiples_of_d": [1, 2]} or {"values": [6]}
    learners: dict[str, dict]  # ridge: scaling, center, penalties, n_folds; svm, l1_svm: C, n_folds
    # by quantity of ``search.QUANTITIES`` the values that are tried (grid; options also by method) and who shares_by
    search: dict[str, dict]
    search_size: dict | None = None  # like sizes, with one number: for what all sizes share
    judge: str | None = None  # the learner whose score decides; the first
    of_judge: dict = field(default_factory=dict)  # options laid over its own while it decides on anything but penalties
    held_out: float | None = None  # share of the training rows that a search is scored on, in place of folds
    length_scale: float | None = None  # stated
    rule: dict | None = None  # or found on the training rows of a repeat: {"rule": "median"}
    steps: list[dict] = field(default_factory=list)  # a walk of changes to all methods without a variant
    norm: str = "frobenius"
    error_rows: int = 1000
    repeats: int = 2
    draws: int = 0  # of each map in each repeat
    svm_repeats: int = 2
    largest_multiple_of_d: dict[str, int] = field(default_factory=dict)  # by data set
    cap: int | None = None  # rows of a part
    tuning_cap: int = 20000
    svm_limit: int | None = None  # rows x columns
    svm_solver: str = "newton"
    kernel: str = "gaussian"
    name: str = ""
    protocol: str = "text"
    paper: str = "survey"
    preset: str = "twin"
    seed: int = 7


def rows(study: Grid) -> list[dict]:
    """All rows of an experiment, in no particular order; missing columns are left out."""
    return completed(study, grid_rows(study))


def completed(study, found: list[dict]) -> list[dict]:
    """Rows with the columns that all rows of an experiment share, and without those that are missing."""
    shared = {key: getattr(study, key) for key in ("preset", "paper", "protocol", "kernel", "seed")}
    shared |= {"origin": "measured", "experiment": study.name, "status": "ok", "settings": {}}
    percent = ("accuracy_pct", "train_accuracy_pct", "error_pct", "train_error_pct", "overlap_pct")
    units = dict.fromkeys(percent, "%") | {"stored_bytes": "B"}
    complete = [shared | {"unit": units.get(row["metric"], "")} | row for row in found]
    return [{key: value for key, value in row.items() if value not in (None, "")} for row in complete]


def grid_rows(study: Grid) -> list[dict]:
    """Facts, errors and accuracies on every data set."""
    found = []
    for dataset, data in study.data.items():
        shared = {"dataset": dataset, "stand_in": data.stand_in}
        found += [shared | row for row in fact_rows(study, dataset)]
        choices = Choices(study, dataset, entries(study, dataset), sizes(study, dataset))
        for entry in entries(study, dataset):
            name = name_of(entry) | ({"kernel": id_of(entry["kernel"])} if "kernel" in entry else {})
            for place, (s, label) in itertools.product(places(study, entry), sizes(study, dataset)):
                if label not in entry.get("only_sizes", [label]):
                    continue
                if data.missing:
                    of_entry = missing_rows(study, data)
                else:
                    of_entry = [
                        {"repeat": repeat} | row
                        for repeat in range(study.repeats)
                        for row in cell_rows(study, dataset, entry, place, (s, label), repeat, choices)
                    ]
                size = sized(s) | {"n_features_label": label}
                found += [shared | size | name | place | row for row in of_entry]
    return found


def entries(study: Grid, dataset: str) -> list[dict]:
    """The entries of the methods, the steps of a walk written out; scalings by data set are those of this one."""
    found = []
    for method in study.methods:
        if not study.steps or method.get("variant"):
            found.append(method)
            continue
        entry = method
        for step in study.steps:
            if method["method"] in step.get("methods", [method["method"]]):
                changes = {key: value for key, value in step.items() if key not in ("name", "methods")}
                entry = laid_over(entry, changes) | {"variant": step["name"]}
                found.append(entry)
    found = [{"options": {}, **entry} for entry in found]
    return [
        entry | {"scaling": entry["scaling"].get(dataset)} if isinstance(entry.get("scaling"), dict) else entry
        for entry in found
    ]


def places(study: Grid, entry: dict) -> list[dict]:
    """Return the points of an entry on its axis, as columns of the table; one empty point without an axis."""
    if study.draws:
        return [{"axis": "draw", "at": draw} for draw in range(study.draws)]
    sweep = entry.get("sweep")
    return [{"axis": sweep["axis"], "at": value} for value in sweep["values"]] if sweep else [{}]


def sizes(study: Grid, dataset: str) -> list[tuple[int, str]]:
    """The numbers of frequencies with their labels."""
    d = study.data[dataset].X.shape[1]
    largest = study.largest_multiple_of_d.get(dataset, np.inf)
    multiples = [m for m in study.sizes.get("multiples_of_d", []) if m <= largest]
    found = [(m * d, "d" if m == 1 else f"{m}d") for m in multiples]
    return found + [(s, str(s)) for s in study.sizes.get("values", [])]


def cell_rows(study: Grid, dataset: str, entry: dict, place: dict, size, repeat: int, choices: Choices) -> list[dict]:
    """One map at one size in one repeat: its error, and its accuracy with every learner."""
    values, recorded = choices.of(entry, size, repeat)
    draw = {"draw": place["at"]} if study.draws else {}
    given = conditions(study, dataset, entry, values | draw, repeat)
    if "sweep" in entry:
        given["options"] = given["options"] | {entry["sweep"]["option"]: place["at"]}
    sample = draw_sample(study, dataset, given["preprocess"], repeat)
    label = {"options": given["options"], "capped": sample.capped}
    settings = label | {"preprocess": given["preprocess"]}
    settings |= {"length_scale": given["length_scale"]} if given["length_scale"] else {}
    edges = {q: edge for q, edge in recorded.pop("at_edge", {}).items() if q in study.learners or q not in entry}
    edges_of_map = {each: edge for each, edge in edges.items() if each in OF_MAP}
    settings |= {"at_edge": edges_of_map} if edges_of_map else {}
    of_map = settings | next((recorded[quantity] for quantity in OF_MAP if quantity in recorded), {})
    error_row = sample.counts | {"metric": f"approximation_error_{study.norm}", "split": "train", "settings": of_map}
    accuracy_rows = [
        sample.counts | {"metric": "accuracy_pct", "split": "test", "learner": learner}
        for learner in learners_of(study, entry)
        if repeat < (study.svm_repeats if learner == "svm" else study.repeats)
    ]
    s = size[0]
    drawn = largest_alike(study, dataset, entry, given["options"], size, repeat, choices)
    try:
        phi = feature_map(study, dataset, entry, drawn, repeat, given).fit(sample.X_train, sample.y_train)
    except (NotDefinedError, np.linalg.LinAlgError) as error:
        status, reason = "skipped" if isinstance(error, NotDefinedError) else "failed", {"reason": str(error)}
        return [
            error_row | {"status": status, "settings": of_map | reason},
            *(row | {"status": status, "settings": label | reason} for row in accuracy_rows),
        ]
    phi = phi if drawn == s else phi.prefix(s)
    columns = {"n_columns": phi.n_columns_}
    found = [error_row | columns | error_of(study, dataset, phi, sample, given, repeat, of_map)]
    if entry["method"] in ("lsrff", "slsrff", "karff"):
        n_distinct = len({tuple(frequency) for frequency in phi.frequencies_.tolist()})
        found.append(error_row | columns | {"metric": "distinct_features", "value": n_distinct})
    for row in accuracy_rows:
        learner = row["learner"]
        options, penalty = learners_of(study, entry)[learner], values.get("penalty", {}).get(learner)
        trained = accuracy_of(study, learner, options, phi, sample, repeat, penalty, recorded.get("penalty"))
        edge = trained.pop("at_edge", None)
        edge = edges.get(learner) if edge == "elsewhere" else edge
        if edge is not None:
            trained["settings"]["at_edge"] = edges_of_map | {"penalty": edge}
        errors = trained.pop("errors_by_block", None)
        trained["settings"] = settings | trained["settings"] | ({"errors_by_block": errors} if draw and errors else {})
        found.append(row | columns | trained)
    return found


def largest_alike(study: Grid, dataset: str, entry: dict, options: dict, size, repeat: int, choices: Choices) -> int:
    """The number of frequencies that is drawn for a cell: its own or, of a map whose features nest, the largest for
    which the same was chosen, penalties apart.
    """
    if options.get(NESTED.get(entry["method"])) is None:
        return size[0]

    def of_map(size):
        return choices.of(entry, size, repeat)[0] | {"penalty": None}

    named = [each for each in sizes(study, dataset) if each[1] in entry.get("only_sizes", [each[1]])]
    return max(each[0] for each in named if of_map(each) == of_map(size))


def error_of(study: Grid, dataset, phi, sample: Sample, given: dict, repeat: int, settings: dict) -> dict:
    """The relative error of the kernel matrix on random training rows, the same for all maps of a repeat."""
    n_train = len(sample.y_train)
    generator = np.random.default_rng(seed_sequence(study.seed, "approximation", dataset, repeat))
    taken = generator.choice(n_train, min(n_train, study.error_rows), replace=False)
    X = sample.X_train[taken]
    Z = features(phi, X)
    approximate, recorded = Z @ Z.T, {"rows": len(taken)}
    if hasattr(phi, "approximate_kernel"):  # a map with an estimate that is no product of its features
        approximate, recorded = phi.approximate_kernel(X), recorded | {"estimate": "approximate_kernel"}
    exact = exact_kernel(given["kernel"], given["length_scale"], X, X)
    return {"value": relative_error(exact, approximate, study.norm), "settings": settings | recorded}


def exact_kernel(kernel: dict, width: float | None, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The kernel matrix of X (n, d) and Y (m, d), float64; of arc-cosine kernels those of order 0 and 1."""
    if kernel["name"] == "gaussian":
        return gaussian(X, width, Y)
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    if kernel["name"] == "linear":
        return X @ Y.T
    if kernel["name"] == "polynomial":
        return (kernel["coef0"] + X @ Y.T) ** kernel["degree"]
    if kernel["name"] == "laplacian":
        return np.exp(-cdist(X, Y, "cityblock") / width)
    lengths = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))
    angle = np.arccos(np.clip(X @ Y.T / lengths, -1, 1))
    if kernel["order"] == 0:
        return 1 - angle / np.pi
    return lengths * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi


def gaussian(X: np.ndarray, length_scale: float, Y: np.ndarray | None = None) -> np.ndarray:
    """The Gaussian kernel matrix of X (n, d) and Y (m, d), X itself by default, float64."""
    X, Y = X.astype(np.float64), (X if Y is None else Y).astype(np.float64)
    return np.exp(-cdist(X, Y, "sqeuclidean") / (2 * length_scale**2))


def relative_error(exact: np.ndarray, approximate: np.ndarray, norm: str, ridge: float = 0.0) -> float:
    """|K - K~| / |K|, or the spectral factor: the largest |eigenvalue| of (K + r I)^-1 (K~ - K)."""
    difference = exact - approximate
    if norm == "delta_spectral":
        eigenvalues = np.linalg.eigvals(np.linalg.solve(exact + ridge * np.eye(len(exact)), difference))
        return np.abs(eigenvalues).max()
    size = {
        "frobenius": lambda K: np.sqrt((K**2).sum()),
        "spectral": lambda K: np.linalg.svd(K, compute_uv=False).max(),
        "sup": lambda K: np.abs(K).max(),
        "l2": lambda K: np.sqrt((K**2).mean()),
    }[norm]
    return size(difference) / size(exact)


def accuracy_of(study, learner: str, options: dict, phi, sample: Sample, repeat: int, penalty, recorded) -> dict:
    """The accuracy of a learner on the test rows, with the penalty that is shared or, where there is none, of this
    cell, the best that has a solution on all rows; ``recorded`` names who shares it. Where a shared one leaves a
    singular system, the cell has failed. ``at_edge`` is "elsewhere" for a choice that was made elsewhere.
    """
    n_train, recorded = len(sample.y_train), recorded or {"tune_per": "cell"}
    if left_out(study, learner, n_train, phi.n_columns_):
        reason = f"{n_train} rows x {phi.n_columns_} columns are over"
        return {"status": "skipped", "settings": recorded | {"reason": reason}}
    Z, (Y, classes) = features(phi, sample.X_train), coded(sample.y_train)
    try:
        if penalty is None:
            fold = folds(n_train, options["n_folds"], study.seed, "folds", "train", repeat)
            scores = cross_validated(learner, options, Z, sample.y_train, fold)
            used, decide = best_regular(learner, options, Z, Y, scores)
            is_edge = at_edge(used, scores)
        else:
            used, decide, is_edge = penalty, train(learner, options, Z, Y, penalty), "elsewhere"
    except np.linalg.LinAlgError:
        return {"status": "failed", "settings": recorded | {"reason": "singular"}}
    if penalty is None and "chosen_on" in recorded:  # of what was to be shared nothing has a solution
        recorded = {"tune_per": "cell", "chosen_on": [repeat]}
    decision = decide(features(phi, sample.X_test))
    solvers = {
        "ridge": "dual" if n_train <= phi.n_columns_ else "primal",
        "svm": "liblinear" if study.svm_solver == "auto" else study.svm_solver,
        "l1_svm": "libsvm",
    }
    return {
        "value": accuracy(sample.y_test, predicted(decision, classes)),
        "errors_by_block": errors_by_block(sample.y_test, predicted(decision, classes)),
        "settings": recorded | {CHOSEN[learner]: used, "solver": solvers[learner]},
        "at_edge": is_edge,
        "doubtful": doubtful(learner, decision),
    }


def errors_by_block(y: np.ndarray, guess: np.ndarray, n_blocks: int = 50) -> list[int]:
    """The number of wrong predictions in contiguous blocks of rows, the first ones a row longer."""
    return [int(part.sum()) for part in np.array_split(y != guess, n_blocks)]


def missing_rows(study: Grid, data: Data) -> list[dict]:
    """Return the rows of a cell whose data are missing."""
    because = {"status": "skipped", "settings": {"reason": data.missing}}
    return [{"metric": f"approximation_error_{study.norm}", "split": "train"} | because] + [
        {"metric": "accuracy_pct", "split": "test", "learner": learner} | because for learner in study.learners
    ]


def fact_rows(study, dataset: str) -> list[dict]:
    """Return the facts about a data set: a number as the value, anything else in the settings."""
    data = study.data[dataset]
    if data.missing:
        because = {"status": "skipped", "settings": {"reason": data.missing}}
        return [{"metric": "fact_rows", "split": "all"} | because]
    n = len(data.y)
    n_train = (n + 1) // 2 if data.n_train is None else data.n_train
    found = []
    for name, fact in data.facts.items():
        part = next((part for part in ("all", "train", "test") if name.endswith(f"_{part}")), "")
        settings = {"split": data.rule, "preprocess": "+".join(study.scaling[dataset])}
        number = fact if isinstance(fact, int | float) else None
        row = {"metric": f"fact_{name.removesuffix('_' + part) if part else name}", "split": part or "all"}
        row |= {"value": number, "n_train": n_train, "n_test": n - n_train, "d": data.X.shape[1]}
        row |= {"settings": settings if number is not None else settings | {"detail": json.dumps(fact)}}
        found.append(row)
    return found
