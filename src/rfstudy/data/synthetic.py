"""Embedded data that stand in for a task's own where nothing may be downloaded: scikit-learn's sets and generated ones.

The generated sets have the published number of columns and class balance. Their classes are the blades of a windmill:
a plane is laid into the columns, and the sign of sin(blades x angle) in it, moved to the wanted balance, is the class.
The boundary depends on directions only, so it survives scaling of the columns and standardising of the rows; a linear
classifier cannot see it and random features can, the better the more there are of them.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from rfstudy.arrays import seed_sequence
from rfstudy.data.parse import encode_labels
from rfstudy.errors import UserError

#: Standard deviation of the noise (of the whole vector; the windmill has lengths of 0.5 to 1).
NOISE = 0.1

#: Attributes of the generated binary sets: the columns are their categories, one of each attribute is set in a row.
N_ATTRIBUTES = 14


def stand_in_rows(task_id: str, task: dict) -> tuple[np.ndarray, np.ndarray, int | None]:
    """The stand-in of a task as its ``stand_in`` entry describes it, the same in every call.

    Returns
    -------
    X : ndarray (n, d), float32 (uint8 for images)
    y : ndarray (n,), int64
    n_train : int or None
        The training rows come first where the task's split is the published one; None for half splits.

    Raises ``UserError`` if a bundled set has another number of rows than the entry says.
    """
    entry = task["stand_in"]
    n = entry["n_train"] + entry["n_test"]
    if entry["generator"] in BUNDLED:
        X, labels = BUNDLED[entry["generator"]]()
        y, keep = encode_labels(labels, entry["labels"])
        X = X[keep]
        if len(y) != n:
            raise UserError(f"{task_id}: the stand-in has {len(y)} rows, its entry says {n}")
    else:
        generator = np.random.default_rng(seed_sequence("stand-in", task_id))
        X, y = GENERATED[entry["generator"]](n, task["d"], entry["blades"], entry["positives"], generator)
    return X, y, entry["n_train"] if task["split"] == "published" else None


def windmill(n: int, blades: int, positives: float, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points of the plane (n, 2) with length in [0.5, 1] and their class, +1 for a share ``positives`` and else -1."""
    angle = generator.uniform(0, 2 * np.pi, n)
    height = np.sin(blades * angle)
    # the classes have the wanted counts exactly: the boundary is a quantile of the drawn heights
    y = np.full(n, -1, dtype=np.int64)
    y[np.argsort(height)[n - round(positives * n) :]] = 1
    length = generator.uniform(0.5, 1.0, n)
    return np.column_stack([length * np.cos(angle), length * np.sin(angle)]), y


def numeric(
    n: int, d: int, blades: int, positives: float, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """A windmill in a random plane of d columns, with noise across that plane: X (n, d) float32 and y (n,)."""
    points, y = windmill(n, blades, positives, generator)
    plane = np.linalg.qr(generator.standard_normal((d, 2)))[0]
    noise = generator.normal(0, NOISE / np.sqrt(d), (n, d))
    return (points @ plane.T + noise - noise @ plane @ plane.T).astype(np.float32), y


def binary(
    n: int, d: int, blades: int, positives: float, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """A windmill seen through categories: 0/1 columns of which one of each of ``N_ATTRIBUTES`` groups is set.

    Each attribute is a direction of the plane, cut into categories with equal numbers of rows.
    """
    points, y = windmill(n, blades, positives, generator)
    sizes = np.full(N_ATTRIBUTES, d // N_ATTRIBUTES)
    sizes[: d % N_ATTRIBUTES] += 1
    directions = generator.uniform(0, np.pi, N_ATTRIBUTES)
    X = np.zeros((n, d), dtype=np.float32)
    for direction, size, first in zip(directions, sizes, np.cumsum(sizes) - sizes, strict=True):
        position = points @ [np.cos(direction), np.sin(direction)] + generator.normal(0, NOISE, n)
        rank = np.argsort(np.argsort(position))
        X[np.arange(n), first + rank * size // n] = 1.0
    return X, y


def digits() -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's 1,797 images of 8 x 8 pixels, their 17 grey levels spread over 0 to 255 as in MNIST."""
    X, labels = load_digits(return_X_y=True)
    return np.round(X * (255 / 16)).astype(np.uint8), labels


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's 569 rows of 30 measurements, labels 0 (malignant) and 1 (benign)."""
    X, labels = load_breast_cancer(return_X_y=True)
    return X.astype(np.float32), labels


#: Stand-ins by the name that ``datasets.yaml`` uses: sets that scikit-learn brings, and generators.
BUNDLED = {"digits": digits, "breast_cancer": breast_cancer}
GENERATED = {"numeric": numeric, "binary": binary}
