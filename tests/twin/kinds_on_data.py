"""The naive twin of the experiments on data that are no accuracy grids, as ``chain`` is of those: a function a kind.

What a map finds by a search of its own (frequencies, harmonics, the best response to weights) is the library's; what
follows from it, the game that is played with it included, is computed here.
"""

import itertools
from collections.abc import Callable

import numpy as np
from closed_forms import projected_dual
from scipy.spatial.distance import cdist
from scipy.special import sph_harm_y
from sklearn.linear_model import lars_path, orthogonal_mp
from sklearn.svm import SVC

from random_features.arrays import seed_of

from .chain import completed, exact_kernel, fact_rows
from .data import Sample, folds
from .learners import accuracy, best, coded, cross_validated, doubtful, l1_svm, predicted, ridge
from .on_data import OnData, kernel_with, sample_of
from .paths_and_streams import path_rows, stream_rows  # noqa: F401 (found by name)
from .search import drawn, features, id_of, name_of, sized

#: libsvm stops once no margin is off by more than this: with weights of n rows up to C, at a duality gap of C n times
#: as much.
LIBSVM_TOLERANCE = 1e-4


def rows(study: OnData) -> list[dict]:
    """All rows of an experiment, in no particular order."""
    metrics = {
        "ranking": ["error_pct", "effective_rank", "overlap_pct"],
        "peaks": ["best_potential", "selected_norm"],
        "evaluations": ["accuracy_pct", "train_accuracy_pct"],
        "path": ["mse", "error_pct", "approximation_error_frobenius", "smallest_singular_value"],
    }
    found = []
    for dataset, data in study.data.items():
        if data.missing:
            because = {"status": "skipped", "repeat": 0, "settings": {"reason": data.missing}}
            expected = itertools.product(study.methods, metrics[study.kind])
            of_data = [name_of(entry) | because | {"metric": metric} for entry, metric in expected]
        else:
            of_kind = globals()[f"{study.kind}_rows"]
            of_repeats = [(repeat, of_kind(study, dataset, repeat)) for repeat in range(study.repeats)]
            of_data = [{"repeat": repeat} | row for repeat, found_in in of_repeats for row in found_in]
        of_data += fact_rows(study, dataset)
        found += [{"dataset": dataset, "stand_in": data.stand_in} | row for row in of_data]
    return completed(study, found)


def accuracies(sample: Sample, decide: Callable) -> list[dict]:
    """The rows of a support vector machine: its accuracy on the test and on the training rows."""
    found = []
    for split, metric, X, y in (
        ("test", "accuracy_pct", sample.X_test, sample.y_test),
        ("train", "train_accuracy_pct", sample.X_train, sample.y_train),
    ):
        decision = decide(X)
        value = accuracy(y, predicted(decision, np.unique(sample.y_train)))
        row = {"split": split, "metric": metric, "value": value, "doubtful": doubtful("l1_svm", decision)}
        found.append(row | {"settings": {"solver": "libsvm"}})
    return found


def rows_of_machine(study: OnData, dataset: str, repeat: int, entry: dict, s: int, place: dict) -> list[dict]:
    """The rows of the l1-SVM on the features of one map, at a place on an axis."""
    sample, length_scale = sample_of(study, dataset, repeat)
    seed, C = seed_of(study.seed, "features", dataset, entry["method"], s, repeat), study.axes["C"]
    phi = drawn(entry, kernel_with(study, length_scale), s, seed).fit(sample.X_train, sample.y_train)
    recorded = {"length_scale": length_scale, "options": entry["options"], "C": C, "capped": sample.capped}
    columns = name_of(entry) | sample.counts | sized(s) | {"n_columns": phi.n_columns_, "learner": "l1_svm"} | place
    decide = machine_on(phi, sample.X_train, sample.y_train, C)
    return [columns | row | {"settings": recorded | row["settings"]} for row in accuracies(sample, decide)]


def machine_on(phi, X: np.ndarray, y: np.ndarray, C: float) -> Callable:
    """The decision values of the l1-SVM on the features of a map, as a function of rows."""
    decide = l1_svm({}, features(phi, X), coded(y)[0], C)
    return lambda rows: decide(features(phi, rows))


def ranking_rows(study: OnData, dataset: str, repeat: int) -> list[dict]:
    """Ridge regression on candidates that are chosen in several ways, their effective rank, and how many of them EERF
    chooses too.
    """
    axes, found = study.axes, []
    M = axes["n_features"]
    sample, length_scale = sample_of(study, dataset, repeat)
    X, (Y, classes) = sample.X_train, coded(sample.y_train)
    y = Y[:, 0] - Y.mean()
    for J, entry in itertools.product(axes["candidates"], study.methods):
        seed = seed_of(study.seed, "ranking", dataset, J, repeat)
        eerf = drawn({"method": "kprff"}, kernel_with(study, length_scale), M, seed, n_candidates=J)
        pool = eerf.draw(X.shape[1], dtype=X.dtype).pool_
        Z, Z_test = candidates(study, pool, X), candidates(study, pool, sample.X_test)
        by_score = np.argsort(-np.abs(Z.T @ y), kind="stable")[:M]
        how = entry["options"]["choice"]
        if how in ("lasso", "omp"):
            chosen = chosen_jointly(how, (Z - Z.mean(axis=0)) / Z.std(axis=0), y, M)
        else:
            generator = np.random.default_rng(seed_of(study.seed, "random choice", dataset, J, repeat))
            at_random = generator.choice(J, M, replace=False)
            chosen = {"pool": np.arange(J), "score": by_score, "random": at_random}[how]
        weight = len(chosen) ** -0.5
        options = {"scaling": "mean", "center": "both", "penalties": axes["penalties"]}
        fold = folds(len(X), axes["n_folds"], study.seed, "folds", "train", repeat)
        penalty = best(cross_validated("ridge", options, weight * Z[:, chosen], sample.y_train, fold))
        decision = ridge(options, weight * Z[:, chosen], Y, penalty)(weight * Z_test[:, chosen])
        eigenvalues = np.linalg.eigvalsh(np.cov(Z[:, chosen], rowvar=False, bias=True))
        shares = eigenvalues[eigenvalues > 0] / eigenvalues[eigenvalues > 0].sum()
        recorded = {"choice": how, "capped": sample.capped}
        shared = name_of(entry) | sample.counts | sized(len(chosen))
        shared |= {"n_columns": len(chosen), "axis": "candidates", "at": J}
        value = 100 - accuracy(sample.y_test, predicted(decision, classes))
        error = {"split": "test", "learner": "ridge", "metric": "error_pct", "value": value}
        error |= {"doubtful": doubtful("ridge", decision), "settings": recorded | {"penalty": penalty}}
        rank = {"metric": "effective_rank", "value": np.exp(-np.sum(shares * np.log(shares)))}
        overlap = {"metric": "overlap_pct", "value": 100 * len(set(chosen) & set(by_score)) / len(chosen)}
        found += [shared | error, *(shared | {"split": "train", "settings": recorded} | row for row in (rank, overlap))]
    return found


def candidates(study: OnData, pool, X: np.ndarray) -> np.ndarray:
    """The values (n, J) of the candidates, from their frequencies and phases, in the type of the data."""
    projections = X @ pool.frequencies.T
    if study.kernel.startswith("arccos"):
        return (np.sqrt(2) * np.maximum(projections, 0) ** study.kernel_of_maps["order"]).astype(np.float64)
    return (np.sqrt(2) * np.cos(projections + pool.phases)).astype(np.float64)


def chosen_jointly(how: str, Z: np.ndarray, y: np.ndarray, M: int) -> np.ndarray:
    """The candidates that orthogonal matching pursuit takes, or the first as many on the path of the Lasso."""
    if how == "omp":
        return np.flatnonzero(orthogonal_mp(Z, y, n_nonzero_coefs=M))
    _, _, path = lars_path(Z, y, method="lasso")
    (reached, *_) = (coefficients for coefficients in path.T if np.count_nonzero(coefficients) >= M)
    return np.flatnonzero(reached)


def exact_rows(study: OnData, dataset: str, repeat: int) -> list[dict]:
    """The support vector machine on kernel matrices (several kernels, the Gaussian at several widths), and on a map."""
    axes, found = study.axes, []
    sample, length_scale = sample_of(study, dataset, repeat)
    X, Y, C = sample.X_train, coded(sample.y_train)[0], axes["C"]
    kernels = [(kernel, None) for kernel in axes["kernels"]]
    kernels += [({"name": "gaussian"}, factor) for factor in axes["factors"]]
    for kernel, factor in kernels:
        width = factor and factor * length_scale
        K = exact_kernel(kernel, width, X, X)
        machine = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, Y[:, 0])

        def decide(rows, machine=machine, kernel=kernel, width=width):
            return machine.decision_function(exact_kernel(kernel, width, rows, X))[:, None]

        columns = sample.counts | {"kernel": id_of(kernel), "learner": "kernel_svm"}
        columns |= {"axis": "factor", "at": factor} if factor else {}
        chosen = ({"length_scale": width} if factor else {}) | {"C": C, "capped": sample.capped}
        found += [columns | row | {"settings": chosen | row["settings"]} for row in accuracies(sample, decide)]
    for entry in study.methods:
        found += rows_of_machine(study, dataset, repeat, {"options": {}, **entry}, axes["n_features"], {})
    return found


def peaks_rows(study: OnData, dataset: str, repeat: int) -> list[dict]:
    """The best peak of the first potential by the steps of the search, and how long its frequency is."""
    found = []
    sample, length_scale = sample_of(study, dataset, repeat)
    X, y = sample.X_train, coded(sample.y_train)[0][:, 0]
    for entry, steps in itertools.product(study.methods, study.axes["steps"]):
        options = entry["options"] | {"n_steps": steps, "n_peaks": 1}
        seed = seed_of(study.seed, "peaks", dataset, repeat)
        phi = drawn(entry | {"options": options}, kernel_with(study, length_scale), 1, seed).fit(X, sample.y_train)
        (w,) = phi.frequencies_.astype(np.float64)
        is_code, alpha = options.get("mode") == "code", np.full(len(y), phi.C / 2)
        alpha = alpha if is_code else projected_dual(alpha, y, phi.C)
        start = options.get("initial_std") or (0.3 if is_code else np.sqrt(1.5) / length_scale)
        values = {
            "best_potential": potential(X, y * alpha, w),
            "selected_norm": np.linalg.norm(w) / (start * np.sqrt(len(w))),
        }
        shared = name_of(entry) | sample.counts | {"split": "train", "axis": "steps", "at": steps}
        shared["settings"] = {"length_scale": length_scale, "options": options, "capped": sample.capped}
        found += [shared | {"metric": metric, "value": value} for metric, value in values.items()]
    return found


def potential(X: np.ndarray, weights: np.ndarray, w: np.ndarray) -> float:
    """|sum_i u_i exp(i w.x_i) / n|^2."""
    return abs(np.mean(weights * np.exp(1j * (X.astype(np.float64) @ w)))) ** 2


def evaluations_rows(study: OnData, dataset: str, repeat: int) -> list[dict]:
    """The accuracy of the l1-SVM at one number of features by the number of candidates that a map may look at."""
    found, s = [], study.axes["n_features"]
    for entry, budget in itertools.product(study.methods, study.axes["evaluations"]):
        options = dict(entry.get("options", {}))
        if entry["method"] in ("kprff", "karff", "ses"):
            options["n_candidates"] = max(s, budget)
        elif entry["method"] == "nsrf":
            rounds = int(np.ceil(s / options["n_peaks"]))
            # a copy looks at every point that it passes, the first and the last included
            options["n_copies"] = budget // (rounds * (options["n_steps"] + 1))
        place = {"axis": "evaluations", "at": budget}
        found += rows_of_machine(study, dataset, repeat, entry | {"options": options}, s, place)
    return found


def rounds_rows(study: OnData, dataset: str, repeat: int) -> list[dict]:
    """The game that features are learned in: its readings and its looks at the weights."""
    found = []
    sample, length_scale = sample_of(study, dataset, repeat)
    for entry in study.methods:
        entry, m = {"options": {}, **entry}, max(study.axes["n_features"])
        seed = seed_of(study.seed, "rounds", dataset, entry["method"], m, repeat)
        phi = drawn(entry, kernel_with(study, length_scale), m, seed).fit(sample.X_train, sample.y_train)
        weights = weights_by_round(phi, entry["options"], sample)
        recorded = {"length_scale": length_scale, "options": entry["options"], "capped": sample.capped}
        of_game = readings(study, phi, entry["options"], sample, weights)
        of_game += looks(study, phi, entry["options"], sample, weights)
        shared = name_of(entry) | sample.counts
        found += [shared | row | {"settings": recorded | row.get("settings", {})} for row in of_game]
    return found


def weights_by_round(phi, options: dict, sample: Sample) -> list[np.ndarray]:
    """The dual weights before every round, of the game with the components that the map has found."""
    X, y, C, k = sample.X_train, coded(sample.y_train)[0][:, 0], options.get("C", 1.0), options.get("n_peaks", 1)
    alpha, found = projected_dual(np.full(len(y), C / 2), y, C), []
    for first in range(0, phi.n_components, k):
        found.append(alpha)
        gradients = []
        for waves in responses(phi, X, slice(first, first + k)).T:
            total = np.sum(y * alpha * waves)
            gradients.append(1 - 2 * y * (np.conj(total) * waves).real)
        step = options.get("dual_step", 1 / len(y))
        alpha = projected_dual(alpha + step * np.mean(gradients, axis=0), y, C)
    return found


def responses(phi, X: np.ndarray, part: slice) -> np.ndarray:
    """Return the components on rows: waves exp(i w.x), or spherical harmonics."""
    if "frequencies" in phi.learned_:
        return np.exp(1j * (X @ phi.learned_["frequencies"][part].T).astype(np.float64))
    x, y, z = X.T.astype(np.float64)[:, :, None]
    polar, azimuth = np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)
    return sph_harm_y(phi.learned_["degrees"][part], phi.learned_["orders"][part], polar, azimuth)


def readings(study: OnData, phi, options: dict, sample: Sample, weights: list[np.ndarray]) -> list[dict]:
    """Return the values that the game has once it has found so many features."""
    X, labels, C, k = sample.X_train, sample.y_train, options.get("C", 1.0), options.get("n_peaks", 1)
    y, n, found = coded(labels)[0][:, 0], len(labels), []
    for number in range(1, len(weights) + 1):
        m = min(number * k, phi.n_components)
        if m not in study.axes["n_features"]:
            continue
        Z = features(phi.prefix(m), X)
        machine = SVC(kernel="linear", C=C, tol=1e-8).fit(Z, y)
        slack = np.maximum(0, 1 - y * machine.decision_function(Z))
        upper = np.sum(machine.coef_**2) / 2 + C * np.sum(slack)
        mean = np.mean(weights[:number], axis=0)
        cost = n**2 / 2 * float(phi.best_response(X, labels, mean)["potentials"][0])
        lower = np.sum(mean) - cost
        violations = [
            max(np.max(-alpha), np.max(alpha - C), 0.0, abs(np.sum(y * alpha)) / np.sqrt(n))
            for alpha in weights[:number]
        ]
        gap = C * n * LIBSVM_TOLERANCE
        rounding = float(np.finfo(np.float32).eps) * 100 * cost  # the potential is in float32
        values = {
            "margin_objective": (upper, gap),
            "margin_lower": (lower, rounding),
            "duality_gap": (upper - lower, gap + rounding),
            "gap_bound": (3 * (C + 2 * C**2) * n / (4 * np.sqrt(number)), 1e-12),
            "gap_bound_mended": (3 * (C + 2 * C**2 * n) * n / (4 * np.sqrt(number)), 1e-12),
            "dual_violation": (max(violations), 1e-12),
            "distinct_features": (len({component(phi, i) for i in range(m)}), 1e-12),
        }
        place = {"axis": "iteration", "at": number, "n_columns": Z.shape[1]} | sized(m)
        of_game = place | {"split": "train"}
        found += [of_game | {"metric": name, "value": value, "doubtful": off} for name, (value, off) in values.items()]
        decide = machine_on(phi.prefix(m), X, labels, C)
        found += [place | {"learner": "l1_svm"} | row for row in accuracies(sample, decide)]
    return found


def component(phi, i: int) -> tuple:
    """Return the numbers that identify a component."""
    names = ["frequencies"] if "frequencies" in phi.learned_ else ["degrees", "orders"]
    return tuple(np.hstack([phi.learned_[name][i] for name in names]))


def looks(study: OnData, phi, options: dict, sample: Sample, weights: list[np.ndarray]) -> list[dict]:
    """Return how the weights lie next to the border of the classes and, in the plane, how wide the peaks of the
    potential are, before the round that follows so many features.
    """
    X, k, found = sample.X_train.astype(np.float64), options.get("n_peaks", 1), []
    y = coded(sample.y_train)[0][:, 0]
    everything = np.concatenate([sample.X_train, sample.X_test]).astype(np.float64)
    labels = np.concatenate([sample.y_train, sample.y_test])
    distances = np.where(sample.y_train[:, None] == labels, np.inf, cdist(X, everything)).min(axis=1)
    near = np.argsort(distances, kind="stable")[: max(1, len(X) // 10)]
    for number, alpha in enumerate(weights):
        m = number * k
        if m not in study.axes["pictures"]:
            continue
        far = [i for i in range(len(X)) if i not in set(near)]
        values = {"boundary_weight_ratio": (np.mean(alpha[near]) / np.mean(alpha[far]), 1e-12)}
        if X.shape[1] == 2:
            seen = phi.learned_["frequencies"][: max(study.axes["pictures"]) or None]
            half = 1.2 * float(np.abs(seen).max())
            ticks = np.linspace(-half, half, study.axes["resolution"])
            heights = np.array([potential(X, y * alpha, np.array([u, v])) for v in ticks for u in ticks])
            border = heights.max() / 2
            at_border = np.mean(np.abs(heights - border) < 1e-4 * border)  # the potential is in float32
            values["peak_area"] = (np.mean(heights > border) * (2 * half) ** 2, at_border * (2 * half) ** 2 + 1e-12)
        place = {"axis": "iteration", "at": number, "split": "train"} | sized(m)
        found += [place | {"metric": name, "value": value, "doubtful": off} for name, (value, off) in values.items()]
    return found
