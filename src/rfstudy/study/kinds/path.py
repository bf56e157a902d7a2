"""Double descent: ridge regression on random Fourier features as their number exceeds that of the training rows
(survey, section 7 and Figure 7).

A path follows the frequencies of one map: at a ratio s/n the features are those of its first s frequencies, which are
the map of that size because frequencies are independent. Everything is in float64. The stated penalty interpolates the
training rows as soon as there are enough columns. It is compared with the best penalty of a grid by the leave-one-out
error of the training rows.
"""

import numpy as np

from random_features.arrays import seed_sequence
from random_features.errors import UserError
from random_features.learners.decomposed import decompose, leave_one_out, ridge_coefficients
from random_features.learners.penalties import best_penalty, edge_of
from rfstudy import scores
from rfstudy.data.tasks import without
from rfstudy.study.engine import Cell, Job, Measured, rows_of
from rfstudy.study.job import Part
from rfstudy.study.sample import Sample

#: Maps whose first frequencies are the map of a smaller size.
INDEPENDENT = ("rff",)

#: Values of the column of the learner in rows of the stated and of the chosen penalty.
STATED, CHOSEN = "ridge", "ridge_tuned"


def check(spec: Part) -> None:
    """Raise ``ValueError`` for a map whose frequencies are not independent."""
    if others := sorted({entry["method"] for entry in spec.methods} - set(INDEPENDENT)):
        raise ValueError(f"a path follows independent frequencies, those of {', '.join(INDEPENDENT)}; not of "
                         f"{', '.join(others)}")  # fmt: skip


def cells(job: Job) -> list[Cell]:
    """Return one cell per entry and path; paths are numbered as repeats."""
    grid = job.spec.grid
    conditions = without(grid, "draws")
    paths = [repeat * grid["draws"] + draw for repeat in job.spec.repeats for draw in range(grid["draws"])]
    return [Cell(entry, {"repeat": path}, conditions) for path in paths for entry in job.spec.methods]


def measure(
    job: Job, entry: dict, *, repeat: int, rows: int, ratios: list[float], penalty: float, penalties: list[float]
) -> Measured:
    """Return the rows of one path. At every s/n they have the error of the kernel matrix of the training rows and the
    smallest singular value of their features. For both penalties they have the errors of ridge regression on labels of
    -1 and +1.
    """
    spec = job.spec
    sample, kernel, length_scale = job.sample_and_kernel(repeat)
    n_all, rng = len(sample.y_train), np.random.default_rng(seed_sequence(spec.seed, "path rows", repeat))
    chosen = np.sort(rng.choice(n_all, min(rows, n_all), replace=False))
    X_train, X_test = sample.X_train[chosen].astype(np.float64), sample.X_test.astype(np.float64)
    y_train, y_test = signs(job, sample)
    y_train, n = y_train[chosen], len(chosen)
    sizes = [max(1, round(ratio * n)) for ratio in ratios]
    phi = job.entry_map(entry, kernel, max(sizes), "path", spec.dataset, entry["method"], repeat).fit(X_train)
    features, exact = (phi.transform(X_train), phi.transform(X_test)), kernel(X_train)
    settings = {"length_scale": length_scale, "capped": sample.capped}
    shared = {"n_train": n, "n_test": len(y_test), "d": X_train.shape[1], "axis": "s/n"}
    found = []
    for s, ratio in zip(sizes, ratios, strict=True):
        Z, Z_test = (first_frequencies(part, s, max(sizes)) for part in features)
        parts = decompose(Z)
        place = shared | {"n_features": s, "n_features_label": f"{ratio:g}n", "n_columns": Z.shape[1], "at": s / n}
        of_features = {
            "approximation_error_frobenius": scores.approximation_error(exact, Z @ Z.T),
            "smallest_singular_value": float(parts.values[-1]),
        }
        found += rows_of(place | {"split": "train", "settings": settings}, of_features)
        left_out = leave_one_out(parts, y_train, n * np.array(penalties))
        best = best_penalty(left_out**2, penalties, "mse")
        edge = edge_of(best, penalties, left_out**2, "mse")
        at_edge = {} if edge is None else {"at_edge": {"penalty": edge}}
        for learner, how in ((STATED, {"penalty": penalty}), (CHOSEN, {"penalty": best} | at_edge)):
            coef = ridge_coefficients(parts, y_train, n * how["penalty"])
            own = place | {"learner": learner, "settings": settings | how}
            found += [own | score for score in scores_of(y_train, Z @ coef, y_test, Z_test @ coef)]
    return found, {}


def signs(job: Job, sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the training and of the test rows as -1 and +1. Raise ``UserError`` unless the data set has
    two classes.
    """
    columns, classes = job.data.target.encode(np.concatenate([sample.y_train, sample.y_test]))
    if classes is None or len(classes) != 2:
        raise UserError(f"{job.spec.dataset} has not two classes; a path is about labels of -1 and +1")
    return columns[: len(sample.y_train), 0], columns[len(sample.y_train) :, 0]


def first_frequencies(features: np.ndarray, s: int, largest: int) -> np.ndarray:
    """Return the features (n, D) of the first s frequencies of a map with ``largest`` frequencies: those of the map of
    size s. The features of the large map are columns of cosines, then of sines, or of one kind.
    """
    by_kind = features.reshape(len(features), -1, largest)
    return np.sqrt(largest / s) * by_kind[:, :, :s].reshape(len(features), -1)


def scores_of(y_train, predicted_train, y_test, predicted_test) -> list[dict]:
    """Return the squared errors of both parts and the wrong signs among the test rows, as columns of rows; all (n,)."""
    wrong = scores.error_pct(y_test, np.where(predicted_test > 0, 1.0, -1.0))
    return [
        {"split": "train", "metric": "mse", "value": scores.mse(y_train, predicted_train)},
        {"split": "test", "metric": "mse", "value": scores.mse(y_test, predicted_test)},
        {"split": "test", "metric": "error_pct", "value": wrong},
    ]
