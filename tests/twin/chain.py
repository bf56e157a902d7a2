"""The naive twin of the chain: every row of a small experiment, in the plainest way from what the experiment says.

The chain streams its features, keeps finished cells, solves whole grids of penalties at once and hands JSON from stage
to stage. The twin does nothing of this: it holds every matrix, fits every model on its own and knows only the rules
that the documentation states. It uses the maps and kernels of the library and its seeds, and nothing of its data,
learners and stages. Times are no business of the twin.

A row is a dict of the columns of the tidy table that have a value, without those that say where and when it was
computed. ``settings`` is a dict. Two entries are the twin's own: ``doubtful`` counts the test rows whose prediction
hangs on rounding, and a ``reason`` is only the part of the sentence that says what happened.
"""

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.svm import LinearSVC

from rfstudy.arrays import seed_of, seed_sequence
from rfstudy.errors import NotDefinedError
from rfstudy.kernels import Gaussian
from rfstudy.maps import make_map

#: On how many repeats, the first ones, a choice is made where several repeats share it.
SHARED_ON = 3

#: What rows call the circle that shares a choice of a penalty.
SHARED_BY = {"shared": "size", "per_method": "method_and_size", "per_cell": "cell"}

#: Of a learner: the option that holds its grid, what a row calls the chosen value, and the distance from the boundary,
#: as a share of the largest decision value, below which rounding (or the tolerance of a solver) may change the class.
GRID = {"ridge": "penalties", "svm": "C"}
CHOSEN = {"ridge": "penalty", "svm": "C"}
UNSURE = {"ridge": 1e-4, "svm": 2e-3}


@dataclass(frozen=True)
class Data:
    """A data set: rows and labels, how it is split, and what is known of it."""

    X: np.ndarray  # (n, d) float32
    y: np.ndarray  # (n,) int
    n_train: int | None = None  # published training rows, which come first; None: random halves
    stand_in: str = ""
    facts: dict = field(default_factory=dict)
    missing: str = ""  # why it could not be had

    @property
    def rule(self) -> str:
        """The name of the rule that splits it."""
        return "half" if self.n_train is None else "published"


@dataclass(frozen=True)
class Grid:
    """An accuracy grid: data sets x maps x sizes x repeats x learners."""

    name: str
    protocol: str
    data: dict[str, Data]
    scaling: dict[str, list[str]]  # by data set, steps one after the other
    methods: list[dict]  # {method, variant, options}, and in place of the experiment's: scaling, length_scale, learners
    sizes: dict[str, list[int]]  # {"multiples_of_d": [1, 2]} or {"values": [6]}
    # {"value": 1.0}; {"grid": [...], "multiple_of_d": 2}: of ridge on plain random Fourier features of that size;
    # {"grid": [...], "scalings": [[...], [...]]}: with the scaling, for every method and size, and for every repeat
    # where the tuning is "per_cell"
    bandwidth: dict
    learners: dict[str, dict]  # ridge: scaling, center, penalties, n_folds; svm: C, n_folds
    tuning: str  # who shares a penalty: "shared" (everyone, by size), "per_method" (its repeats, by size), "per_cell"
    steps: list[dict] = field(default_factory=list)  # a walk of changes to all methods without a variant
    norm: str = "frobenius"
    error_rows: int = 1000
    repeats: int = 2
    svm_repeats: int = 2
    largest_multiple_of_d: dict[str, int] = field(default_factory=dict)  # by data set
    cap: int | None = None  # rows of a part
    tuning_cap: int = 20000
    svm_limit: int | None = None  # rows x columns
    svm_solver: str = "newton"
    kernel: str = "gaussian"
    paper: str = "survey"
    preset: str = "twin"
    seed: int = 7


def rows(study: Grid) -> list[dict]:
    """All rows of an experiment, in no particular order; missing columns are left out."""
    return completed(study, grid_rows(study))


def completed(study, found: list[dict]) -> list[dict]:
    """Rows with the columns that all rows of an experiment share, and without those that are missing."""
    shared = {
        "origin": "measured",
        "preset": study.preset,
        "paper": study.paper,
        "experiment": study.name,
        "protocol": study.protocol,
        "kernel": study.kernel,
        "seed": study.seed,
        "status": "ok",
        "settings": {},
    }
    units = {"accuracy_pct": "%", "stored_bytes": "B"}
    complete = [shared | {"unit": units.get(row["metric"], "")} | row for row in found]
    return [{key: value for key, value in row.items() if value not in (None, "")} for row in complete]


# --- the rows of a repeat ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """Scaled training and test rows, float32, and whether a cap left rows out."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    capped: bool


def draw_sample(study: Grid, dataset: str, scaling: list[str], repeat: int) -> Sample:
    """Split, cap, and scale by what the training rows say."""
    data = study.data[dataset]
    n = len(data.y)
    if data.rule == "published":
        train, test = np.arange(n)[: data.n_train], np.arange(n)[data.n_train :]
    else:
        order = np.random.default_rng(seed_sequence(study.seed, "split", repeat)).permutation(n)
        train, test = order[: (n + 1) // 2], order[(n + 1) // 2 :]
    capped = False
    if study.cap is not None:
        generator = np.random.default_rng(seed_sequence(study.seed, "cap", repeat))
        parts = []
        for part in (train, test):
            if len(part) > study.cap:
                part, capped = np.sort(generator.choice(part, study.cap, replace=False)), True
            parts.append(part)
        train, test = parts
    X_train, X_test = data.X[train].astype(np.float64), data.X[test].astype(np.float64)
    for step in scaling:
        X_train, X_test = scaled(step, X_train, X_train), scaled(step, X_test, X_train)
    return Sample(X_train.astype(np.float32), data.y[train], X_test.astype(np.float32), data.y[test], capped)


def scaled(step: str, X: np.ndarray, X_train: np.ndarray) -> np.ndarray:
    """X (n, d) after one step that is fitted on X_train; a column that is constant there becomes 0."""
    low, high = X_train.min(axis=0), X_train.max(axis=0)
    varies = np.where(high > low, 1.0, 0.0)
    width = np.where(high > low, high - low, 1.0)
    if step == "none":
        return X
    if step == "minmax":
        return (X - low) / width * varies
    if step == "minmax_symmetric":
        return (2 * (X - low) / width - 1) * varies
    if step == "standard":
        return (X - X_train.mean(axis=0)) / np.where(high > low, X_train.std(axis=0), 1.0) * varies
    if step == "standard_rows":
        return (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, ddof=1, keepdims=True)
    raise NotImplementedError(step)


def folds(n: int, n_folds: int, *axes) -> np.ndarray:
    """The fold of every row: rows in random order are dealt to the folds in turn."""
    fold = np.empty(n, dtype=int)
    for place, row in enumerate(np.random.default_rng(seed_sequence(*axes)).permutation(n)):
        fold[row] = place % n_folds
    return fold


# --- learners ---------------------------------------------------------------------------------------------------------


def train(learner: str, options: dict, Z: np.ndarray, Y: np.ndarray, value: float) -> Callable:
    """The function from features to decision values that a learner finds with this penalty, or C."""
    return ridge(options, Z, Y, value) if learner == "ridge" else svm(Z, Y, value)


def ridge(options: dict, Z: np.ndarray, Y: np.ndarray, penalty: float) -> Callable:
    """Ridge regression by its normal equations; ``LinAlgError`` where they have no solution that means anything."""
    n, n_columns = Z.shape
    shift = {"mean": n * penalty, "sum": penalty, "per_column": penalty / n_columns}[options["scaling"]]
    z_mean = Z.mean(axis=0) if options["center"] == "both" else np.zeros(n_columns)
    y_mean = np.zeros(Y.shape[1]) if options["center"] == "none" else Y.mean(axis=0)
    system = (Z - z_mean).T @ (Z - z_mean) + shift * np.eye(n_columns)
    lengths = np.sqrt(np.diag(system))
    if np.linalg.cond(system / np.outer(lengths, lengths)) > 1 / (n_columns * np.finfo(float).eps):
        raise np.linalg.LinAlgError("singular")
    weights = np.linalg.solve(system, (Z - z_mean).T @ (Y - y_mean))
    return lambda Z: (Z - z_mean) @ weights + y_mean


def svm(Z: np.ndarray, Y: np.ndarray, C: float) -> Callable:
    """Linear support vector machines with the squared hinge loss and no intercept, one a column."""
    machines = [
        LinearSVC(C=C, loss="squared_hinge", dual=False, fit_intercept=False, tol=1e-8, max_iter=100_000).fit(Z, y)
        for y in Y.T
    ]
    return lambda Z: np.column_stack([Z @ machine.coef_[0] for machine in machines])


def coded(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels as columns of -1 and +1, one for two classes (+1 sorts last), else one a class; and the classes."""
    classes = np.unique(y)
    positives = classes[1:] if len(classes) == 2 else classes
    return np.where(y[:, None] == positives, 1.0, -1.0), classes


def predicted(decision: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The class of every row: by the sign of a single column, else by the largest."""
    return classes[(decision[:, 0] > 0).astype(int)] if decision.shape[1] == 1 else classes[decision.argmax(axis=1)]


def accuracy(y: np.ndarray, labels: np.ndarray) -> float:
    """Percent of equal labels."""
    return 100 * np.mean(y == labels)


def cross_validated(learner: str, options: dict, Z: np.ndarray, y: np.ndarray, fold: np.ndarray) -> dict[float, float]:
    """The mean accuracy over the folds by value of the grid; NaN where there is no model in one of them."""
    Y, classes = coded(y)
    scores = {}
    for value in options[GRID[learner]]:
        of_folds = []
        for held_out in (fold == k for k in range(fold.max() + 1)):
            try:
                decide = train(learner, options, Z[~held_out], Y[~held_out], value)
                of_folds.append(accuracy(y[held_out], predicted(decide(Z[held_out]), classes)))
            except np.linalg.LinAlgError:
                of_folds.append(np.nan)
        scores[value] = np.mean(of_folds)
    return scores


def best(scores: dict[float, float]) -> float:
    """The value with the best score, of equal ones the largest; ``LinAlgError`` where none has a score."""
    known = {value: score for value, score in scores.items() if not np.isnan(score)}
    if not known:
        raise np.linalg.LinAlgError("singular")
    return max(value for value, score in known.items() if score > max(known.values()) - 1e-9)


# --- choices that several cells share ---------------------------------------------------------------------------------


def shared_on(study: Grid) -> list[int]:
    """The repeats that a choice is made on where several repeats share it."""
    return list(range(min(SHARED_ON, study.repeats)))


def tuning_scores(study: Grid, dataset: str, repeats: list[int], entry: dict, s: int, scaling, length_scale, learner):
    """The cross-validated scores of a learner's grid on training rows, at most ``tuning_cap`` of them, of each repeat:
    their means over the repeats by value of the grid.
    """
    scores = []
    for repeat in repeats:
        sample = draw_sample(study, dataset, scaling, repeat)
        X, y = sample.X_train, sample.y_train
        if len(y) > study.tuning_cap:
            generator = np.random.default_rng(seed_sequence(study.seed, "tuning rows"))
            taken = np.sort(generator.choice(len(y), study.tuning_cap, replace=False))
            X, y = X[taken], y[taken]
        options = study.learners[learner]
        phi = feature_map(study, dataset, entry, s, repeat, length_scale).fit(X, y)
        fold = folds(len(y), options["n_folds"], study.seed, "folds", "train", repeat)
        scores.append(cross_validated(learner, options, features(phi, X), y, fold))
    return {value: np.mean([of_repeat[value] for of_repeat in scores]) for value in scores[0]}


def chosen_with(study: Grid, dataset: str, entry: dict, s: int, repeats: list[int]) -> dict:
    """What is chosen on some repeats with one map: the scaling, the length scale and the penalty of every learner, and
    what rows say of who shares the bandwidth and the penalty.
    """
    scaling, rule = study.scaling[dataset], study.bandwidth

    def scores(size, steps, length_scale, learner="ridge"):
        return tuning_scores(study, dataset, repeats, entry, size, steps, length_scale, learner)

    def score(size, steps, length_scale):
        return np.nanmax(list(scores(size, steps, length_scale).values()))

    def told(shared_by):
        return {"shared_by": shared_by} | ({"chosen_on": repeats} if shared_by != "cell" else {})

    of_bandwidth = {}
    if "value" in rule:
        length_scale = rule["value"]
    elif "scalings" in rule:
        of_bandwidth, top = told(SHARED_BY[study.tuning]), -np.inf
        # of equal ones the scaling that is named first, then the largest length scale
        for steps, candidate in itertools.product(rule["scalings"], sorted(rule["grid"], reverse=True)):
            reached = score(s, steps, candidate)
            if reached > top + 1e-9:
                top, scaling, length_scale = reached, steps, candidate
    else:
        of_bandwidth = told("experiment")
        size = rule["multiple_of_d"] * study.data[dataset].X.shape[1]
        length_scale = best({candidate: score(size, scaling, candidate) for candidate in rule["grid"]})
    penalties, of_penalties = {}, {learner: told("cell") for learner in study.learners}
    for learner in study.learners if study.tuning != "per_cell" else ():
        n_train = len(draw_sample(study, dataset, scaling, 0).y_train)
        if learner != "svm" or study.svm_limit is None or n_train * 2 * s <= study.svm_limit:
            penalties[learner] = best(scores(s, scaling, length_scale, learner))
        of_penalties[learner] = told(SHARED_BY[study.tuning])
    return {
        "scaling": scaling,
        "length_scale": length_scale,
        "penalties": penalties,
        "of_bandwidth": of_bandwidth,
        "of_penalties": of_penalties,
    }


# --- the accuracy grid ------------------------------------------------------------------------------------------------


def grid_rows(study: Grid) -> list[dict]:
    """Facts, errors and accuracies on every data set."""
    found = []
    for dataset, data in study.data.items():
        shared = {"dataset": dataset, "stand_in": data.stand_in}
        found += [shared | row for row in fact_rows(study, dataset)]
        for s, label in sizes(study, dataset):
            everyones = "scalings" not in study.bandwidth and not data.missing
            plain = {"method": "rff", "options": {}}
            chosen = chosen_with(study, dataset, plain, s, shared_on(study)) if everyones else {}
            for entry in entries(study, dataset):
                if data.missing:
                    of_entry = missing_rows(study, data)
                else:
                    of_entry = []
                    for repeat in range(study.repeats):
                        if not everyones:
                            chosen_on = [repeat] if study.tuning == "per_cell" else shared_on(study)
                            chosen = chosen_with(study, dataset, entry, s, chosen_on)
                        rows_of_cell = cell_rows(study, dataset, entry, s, repeat, chosen)
                        of_entry += [{"repeat": repeat} | row for row in rows_of_cell]
                size = {"n_features": s, "n_features_label": label}
                name = {"method": entry["method"], "variant": entry.get("variant", "")}
                found += [shared | size | name | row for row in of_entry]
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


def laid_over(base, change):
    """A mapping with another laid over it, level by level."""
    if not isinstance(base, dict) or not isinstance(change, dict):
        return change
    return base | {key: laid_over(base.get(key), value) for key, value in change.items()}


def sizes(study: Grid, dataset: str) -> list[tuple[int, str]]:
    """The numbers of frequencies with their labels."""
    d = study.data[dataset].X.shape[1]
    largest = study.largest_multiple_of_d.get(dataset, np.inf)
    multiples = [m for m in study.sizes.get("multiples_of_d", []) if m <= largest]
    return [(m * d, "d" if m == 1 else f"{m}d") for m in multiples] + [
        (s, str(s)) for s in study.sizes.get("values", [])
    ]


def feature_map(study: Grid, dataset: str, entry: dict, s: int, repeat: int, length_scale: float):
    """The unfitted map of a cell: its seed depends on data set, method, size and repeat."""
    return make_map(
        entry["method"],
        kernel=Gaussian(length_scale=length_scale),
        n_components=s,
        device="cpu",
        random_state=seed_of(study.seed, "features", dataset, entry["method"], s, repeat),
        **entry["options"],
    )


def features(phi, X: np.ndarray) -> np.ndarray:
    """The features of X, float64."""
    return phi.transform(X).astype(np.float64)


def cell_rows(study: Grid, dataset: str, entry: dict, s: int, repeat: int, chosen: dict) -> list[dict]:
    """One map in one repeat: its error, and its accuracy with every learner."""
    scaling = entry.get("scaling") or chosen["scaling"]
    length_scale = entry.get("length_scale") or chosen["length_scale"]
    sample = draw_sample(study, dataset, scaling, repeat)
    label = {"options": entry["options"], "capped": sample.capped}
    settings = label | {"length_scale": length_scale, "preprocess": scaling}
    counts = {"n_train": len(sample.y_train), "n_test": len(sample.y_test), "d": sample.X_train.shape[1]}
    of_map = settings | chosen["of_bandwidth"]
    error_row = counts | {"metric": f"approximation_error_{study.norm}", "split": "train", "settings": of_map}
    accuracy_rows = [
        counts | {"metric": "accuracy_pct", "split": "test", "learner": learner}
        for learner in study.learners
        if repeat < (study.svm_repeats if learner == "svm" else study.repeats)
    ]
    try:
        phi = feature_map(study, dataset, entry, s, repeat, length_scale).fit(sample.X_train, sample.y_train)
    except (NotDefinedError, np.linalg.LinAlgError) as error:
        status, reason = "skipped" if isinstance(error, NotDefinedError) else "failed", {"reason": str(error)}
        return [
            error_row | {"status": status, "settings": of_map | reason},
            *(row | {"status": status, "settings": label | reason} for row in accuracy_rows),
        ]
    columns = {"n_columns": phi.n_columns_}
    found = [error_row | columns | error_of(study, dataset, phi, sample, length_scale, repeat, of_map)]
    for row in accuracy_rows:
        options = laid_over(study.learners[row["learner"]], entry.get("learners", {}).get(row["learner"], {}))
        trained = accuracy_of(study, row["learner"], options, phi, sample, repeat, chosen["penalties"])
        trained["settings"] = settings | chosen["of_penalties"][row["learner"]] | trained["settings"]
        found.append(row | columns | trained)
    return found


def error_of(study: Grid, dataset, phi, sample: Sample, length_scale, repeat: int, settings: dict) -> dict:
    """The relative error of the kernel matrix on random training rows, the same for all maps of a repeat."""
    n_train = len(sample.y_train)
    generator = np.random.default_rng(seed_sequence(study.seed, "approximation", dataset, repeat))
    taken = generator.choice(n_train, min(n_train, study.error_rows), replace=False)
    X = sample.X_train[taken]
    Z = features(phi, X)
    approximate, told = Z @ Z.T, {"rows": len(taken)}
    if hasattr(phi, "approximate_kernel"):  # a map with an estimate that is no product of its features
        approximate, told = phi.approximate_kernel(X), told | {"estimate": "approximate_kernel"}
    return {"value": relative_error(gaussian(X, length_scale), approximate, study.norm), "settings": settings | told}


def gaussian(X: np.ndarray, length_scale: float) -> np.ndarray:
    """The Gaussian kernel matrix of X (n, d), float64."""
    return np.exp(-cdist(X.astype(np.float64), X.astype(np.float64), "sqeuclidean") / (2 * length_scale**2))


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


def accuracy_of(study: Grid, learner: str, options: dict, phi, sample: Sample, repeat: int, penalties: dict) -> dict:
    """The accuracy of a learner on the test rows, with the penalty of this cell or the shared one.

    Where that leaves a singular system, the next of the grid is taken, and the row says so.
    """
    n_train, n_columns = len(sample.y_train), phi.n_columns_
    if learner == "svm" and study.svm_limit is not None and n_train * n_columns > study.svm_limit:
        return {"status": "skipped", "settings": {"reason": f"{n_train} rows x {n_columns} columns are over"}}
    Z, (Y, classes) = features(phi, sample.X_train), coded(sample.y_train)
    grid = options[GRID[learner]]
    try:
        if study.tuning == "per_cell":
            fold = folds(n_train, options["n_folds"], study.seed, "folds", "train", repeat)
            wanted = best(cross_validated(learner, options, Z, sample.y_train, fold))
        else:
            wanted = penalties[learner]
        used, decide = first_regular(learner, options, Z, Y, [wanted, *sorted(v for v in grid if v > wanted)])
    except np.linalg.LinAlgError:
        return {"status": "failed", "settings": {"reason": "singular"}}
    decision = decide(features(phi, sample.X_test))
    ridge_solver = "dual" if n_train <= n_columns else "primal"
    svm_solver = "liblinear" if study.svm_solver == "auto" else study.svm_solver
    settings = {CHOSEN[learner]: used, "solver": ridge_solver if learner == "ridge" else svm_solver}
    if used != wanted:
        settings["singular_at"] = wanted
    return {
        "value": accuracy(sample.y_test, predicted(decision, classes)),
        "settings": settings,
        "doubtful": int(np.sum(margins(decision) < UNSURE[learner] * np.abs(decision).max())),
    }


def first_regular(learner: str, options: dict, Z: np.ndarray, Y: np.ndarray, values: list[float]):
    """The first value whose system has a solution, and the model."""
    for value in values:
        try:
            return value, train(learner, options, Z, Y, value)
        except np.linalg.LinAlgError:
            pass
    raise np.linalg.LinAlgError("singular")


def margins(decision: np.ndarray) -> np.ndarray:
    """How far each row is from another class."""
    if decision.shape[1] == 1:
        return np.abs(decision[:, 0])
    ordered = np.sort(decision, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def missing_rows(study: Grid, data: Data) -> list[dict]:
    """What stands in place of the numbers of a cell whose data are missing."""
    because = {"status": "skipped", "settings": {"reason": data.missing}}
    return [{"metric": f"approximation_error_{study.norm}", "split": "train"} | because] + [
        {"metric": "accuracy_pct", "split": "test", "learner": learner} | because for learner in study.learners
    ]


def fact_rows(study: Grid, dataset: str) -> list[dict]:
    """What is known of a data set: a number as the value, anything else as a detail of the settings."""
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
        found.append(
            {
                "metric": f"fact_{name.removesuffix('_' + part) if part else name}",
                "split": part or "all",
                "value": number,
                "n_train": n_train,
                "n_test": n - n_train,
                "d": data.X.shape[1],
                "settings": settings if number is not None else settings | {"detail": json.dumps(fact)},
            }
        )
    return found
