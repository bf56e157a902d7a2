"""The naive twins of the survey's two kinds of its own: the path across the interpolation threshold (``study.kinds.
path``) and the regression on a stream of rows (``study.kinds.stream``), on matrices that are there as a whole.

A map is asked for its frequencies and phases alone where it is plain random Fourier features, else for its features.
"""

import itertools

import numpy as np
from linear_problems import least_squares

from random_features.arrays import seed_of, seed_sequence
from random_features.kernels import make_kernel

from .chain import exact_kernel, gaussian, relative_error
from .data import length_scale_of
from .learners import accuracy, at_edge, doubtful, margins, predicted
from .on_data import OnData, kernel_with, sample_of
from .search import drawn, features, id_of, name_of, sized

#: The duality gap, as a share of the objective, at which a regression on a stream is solved (``learners.logistic``).
GAP = 1e-4


def path_rows(study: OnData, dataset: str, repeat: int) -> list[dict]:
    """Every path of a repeat, along the frequencies of every map."""
    draws = study.axes["draws"]
    return [
        {"repeat": path} | row
        for path in range(repeat * draws, (repeat + 1) * draws)
        for entry in study.methods
        for row in rows_of_path(study, dataset, {"options": {}, **entry}, path)
    ]


def rows_of_path(study: OnData, dataset: str, entry: dict, path: int) -> list[dict]:
    """At every s/n the errors of ridge regression with the first s frequencies of one map, at two penalties."""
    axes, found = study.axes, []
    sample, length_scale = sample_of(study, dataset, path)
    generator = np.random.default_rng(seed_sequence(study.seed, "path rows", path))
    n = min(axes["rows"], len(sample.y_train))
    taken = sorted(generator.choice(len(sample.y_train), n, replace=False))
    X, X_test = sample.X_train[taken].astype(np.float64), sample.X_test.astype(np.float64)
    positive = max(sample.y_train)
    y, y_test = (np.where(labels == positive, 1.0, -1.0) for labels in (sample.y_train[taken], sample.y_test))
    sizes = [max(1, round(ratio * n)) for ratio in axes["ratios"]]
    seed = seed_of(study.seed, "path", dataset, entry["method"], path)
    phi = drawn(entry, kernel_with(study, length_scale), max(sizes), seed).fit(X)
    recorded = {"length_scale": length_scale, "capped": sample.capped}
    for ratio, s in zip(axes["ratios"], sizes, strict=True):
        Z, Z_test = waves(phi, s, X), waves(phi, s, X_test)
        shared = name_of(entry) | sample.counts | {"n_train": n, "n_columns": Z.shape[1], "axis": "s/n", "at": s / n}
        shared |= {"n_features": s, "n_features_label": f"{ratio:g}n"}
        of_features = {
            "approximation_error_frobenius": relative_error(gaussian(X, length_scale), Z @ Z.T, "frobenius"),
            "smallest_singular_value": np.linalg.svd(Z, compute_uv=False).min(),
        }
        found += [
            shared | {"split": "train", "metric": metric, "value": value, "settings": recorded}
            for metric, value in of_features.items()
        ]
        gains = {penalty: -errors for penalty, errors in left_out(Z, y, axes["penalties"]).items()}
        best = max(gains, key=lambda penalty: np.mean(gains[penalty]))
        edge = at_edge(best, gains)
        chosen = {"penalty": best} | ({} if edge is None else {"at_edge": {"penalty": edge}})
        for learner, how in (("ridge", {"penalty": axes["penalty"]}), ("ridge_tuned", chosen)):
            w = least_squares(Z, y, n * how["penalty"])
            decision = (Z_test @ w)[:, None]
            wrong = 100 - accuracy(y_test, predicted(decision, np.array([-1.0, 1.0])))
            scores = [
                {"split": "train", "metric": "mse", "value": np.mean((y - Z @ w) ** 2)},
                {"split": "test", "metric": "mse", "value": np.mean((y_test - Z_test @ w) ** 2)},
                {"split": "test", "metric": "error_pct", "value": wrong, "doubtful": doubtful("ridge", decision)},
            ]
            found += [shared | {"learner": learner, "settings": recorded | how} | score for score in scores]
    return found


def waves(phi, s: int, X: np.ndarray) -> np.ndarray:
    """The features of X (n, d) of the first s frequencies: sqrt(2/s) cos(w.x + b), or [cos(w.x) | sin(w.x)] / sqrt(s)
    of a map without phases.
    """
    angles = np.array([[x @ w for w in phi.frequencies_[:s]] for x in X])
    if phi.layout == "phase":
        return np.sqrt(2 / s) * np.cos(angles + phi.phases_[:s])
    return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(s)


def left_out(Z: np.ndarray, y: np.ndarray, penalties: list[float]) -> dict[float, np.ndarray]:
    """Return by penalty the squared error at every row of the regression on the others, n times it added still."""
    n = len(y)
    errors = {}
    for penalty in penalties:
        others = [np.arange(n) != i for i in range(n)]
        of_rows = [y[i] - Z[i] @ least_squares(Z[kept], y[kept], n * penalty) for i, kept in enumerate(others)]
        errors[penalty] = np.square(of_rows)
    return errors


def stream_rows(study: OnData, dataset: str, repeat: int) -> list[dict]:
    """Every map for every kernel, and the maps that walk along the rows and the penalties for the first one."""
    axes, walks = study.axes, study.axes["sweeps"]
    stated = {"n_train": axes["rows"], "penalty": axes["penalty"]}
    runs = [(entry, kernel, stated, {}) for entry, kernel in itertools.product(study.methods, axes["kernels"])]
    runs += [
        (entry, axes["kernels"][0], stated | {axis: value}, {"axis": axis, "at": value})
        for axis in ("n_train", "penalty")
        for entry, value in itertools.product(study.methods, walks[axis])
        if entry["method"] in walks["methods"]
    ]
    return [
        place | row
        for entry, kernel, at, place in runs
        for row in rows_of_stream(study, dataset, repeat, {"options": {}, **entry}, kernel, at)
    ]


def rows_of_stream(study: OnData, dataset: str, repeat: int, entry: dict, kernel: dict, at: dict) -> list[dict]:
    """The error of the kernel matrix, those on training and test rows, and the passes that the regression takes."""
    axes, data = study.axes, study.data[dataset]
    n, n_all, s = min(at["n_train"], data.n_train), data.n_train, axes["n_features"]
    X, y, X_test, y_test = data.X[:n], data.y[:n], data.X[n_all:], data.y[n_all:]
    recorded, own = {"options": entry["options"], "capped": n < n_all}, {}
    if kernel["name"] == "gaussian":
        own = {"length_scale": length_scale_of(study.rule, X, study.seed, repeat)}
    recorded |= own
    seed = seed_of(study.seed, "features", dataset, entry["method"], s, repeat)
    phi = drawn(entry, make_kernel(kernel | own), s, seed).fit(X, y)
    Z, Z_test = features(phi, X), features(phi, X_test)
    generator = np.random.default_rng(seed_sequence(study.seed, "approximation", dataset, repeat))
    taken = generator.choice(n, min(n, axes["approximation_rows"]), replace=False)
    exact = exact_kernel(kernel, own.get("length_scale"), X[taken], X[taken])
    shared = name_of(entry) | sized(s) | {"kernel": id_of(kernel), "n_train": n, "n_test": len(y_test), "d": X.shape[1]}
    shared |= {"n_columns": Z.shape[1]}
    weights, steps = regressed(Z, y, at["penalty"])
    approximation = {"split": "train", "metric": "approximation_error_frobenius"}
    approximation |= {"value": relative_error(exact, Z[taken] @ Z[taken].T, "frobenius")}
    approximation |= {"settings": recorded | {"rows": len(taken)}}
    solved = {"learner": "logistic", "settings": recorded | {"penalty": at["penalty"], "solver": "newton"}}
    solved["settings"] |= {"tolerance": GAP}
    # how many passes a step takes is the solver's own affair: one at least, and seven at most
    errors = [{"split": "train", "metric": "passes", "value": 4 * steps, "doubtful": 3 * steps}]
    for split, metric, rows, labels in (("train", "train_error_pct", Z, y), ("test", "error_pct", Z_test, y_test)):
        value = 100 - accuracy(labels, predicted(rows @ weights, np.unique(y)))
        # the gap leaves the classes of rows open that are this near to another class
        unsure = 100 * np.mean(margins(rows @ weights) < 0.03 * np.abs(rows @ weights).max()) + 1e-9
        errors.append({"split": split, "metric": metric, "value": value, "doubtful": unsure})
    return [shared | approximation, *(shared | solved | error for error in errors)]


def regressed(Z: np.ndarray, y: np.ndarray, penalty: float) -> tuple[np.ndarray, int]:
    """The weights (D, c) of logistic regression, of two classes those of the second alone, and the steps of Newton's
    method from zero, with the Hessian of all weights written out.
    """
    classes = np.unique(y)
    targets = np.array([[label == each for each in (classes if len(classes) > 2 else classes[1:])] for label in y])
    (n, D), c = Z.shape, targets.shape[1]
    w, alone = np.zeros((D, c)), 1.0 if c == 1 else 0.0  # of two classes the first has the decision value 0
    for steps in range(1, 50):
        exponentials = np.exp(Z @ w)
        chances = exponentials / (alone + exponentials.sum(axis=1, keepdims=True))
        gradient = penalty * w + Z.T @ (chances - targets) / n
        curvature = np.array([np.diag(p) - np.outer(p, p) for p in chances])
        hessian = np.einsum("ni,nkl,nj->ikjl", Z, curvature, Z, optimize=True).reshape(D * c, D * c) / n
        step = np.linalg.solve(hessian + penalty * np.eye(D * c), gradient.ravel())
        w = w - step.reshape(D, c)
        if gradient.ravel() @ step < 1e-20:
            return w, steps
    raise AssertionError("Newton's method did not end")
