"""Bias and variance of the estimate of one kernel value, over many independent draws of a map (survey, section 3.1).

A pair of points is the origin and a point at distance z, in units of the length scale; the estimate is the product of
their features. Every draw has its own map and its own random direction. It is also evaluated in the direction of the
first axis, on which the structured maps depend. The reference is the variance of plain random Fourier features in two
forms: in the layout of the map, with as many frequencies, and as [cos | sin], with as many columns.
"""

import itertools

import numpy as np

from random_features.arrays import seed_sequence
from random_features.kernels import make_kernel
from random_features.maps.registry import make_map
from rfstudy.study.engine import Job, Measured
from rfstudy.study.job import Part, size_of

DIRECTIONS = ("random", "axis")


def measure(
    job: Job, entry: dict, *, d: int, multiple: int, repeat: int, distances: list[float], draws: int
) -> Measured:
    """Return the rows of one cell by direction and distance: bias, variance, mean squared error, and variance over that
    of RFF.

    ``spread`` is the standard error over the draws.
    """
    s, label = size_of("multiples_of_d", multiple, d)
    estimates, n_columns = kernel_estimates(job.spec, entry, d, s, repeat, draws, np.array(distances))
    size = {"n_features": s, "n_features_label": label, "n_columns": n_columns}
    rows = []
    for (i, direction), (j, distance) in itertools.product(enumerate(DIRECTIONS), enumerate(distances)):
        shared = size | {"dataset": f"pairs-{direction}-d{d}", "axis": "distance", "at": distance}
        shared |= {"spread_kind": "standard error", "settings": {"direction": direction, "draws": draws}}
        for metric, (value, error) in moments(estimates[:, i, j], distance, s, n_columns).items():
            rows.append(shared | {"metric": metric, "value": value, "spread": error})
    return rows, {}


def kernel_estimates(
    spec: Part, entry: dict, d: int, s: int, repeat: int, draws: int, distances: np.ndarray
) -> tuple[np.ndarray, int]:
    """Return estimates of the kernel, one per draw, direction and distance, shape (draws, 2, distances), and the number
    of columns of the map.
    """
    kernel = make_kernel(spec.kernel)
    seeds = seed_sequence(spec.seed, "variance", entry["method"], d, s, repeat).generate_state(draws)
    directions = np.random.default_rng(seed_sequence(spec.seed, "directions", d, s, repeat)).standard_normal((draws, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    origin, along_axis = np.zeros((1, d)), distances[:, None] * np.eye(1, d)
    options = {"device": spec.device} | entry["options"]
    estimates = np.empty((draws, len(DIRECTIONS), len(distances)))
    for draw in range(draws):
        phi = make_map(entry["method"], kernel, n_components=s, random_state=int(seeds[draw]), **options)
        phi.restore(d, dtype=np.float64)
        points = np.vstack([distances[:, None] * directions[draw], along_axis])
        estimates[draw].flat = products(phi, origin, points)
    return estimates, phi.n_columns_


def products(phi, x: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the approximate kernel of one point (1, d) with others (m, d), shape (m,).

    The products are those of the features, or the map's own estimate if that is not a product of features (signed
    quadrature weights).
    """
    if hasattr(phi, "approximate_kernel"):
        return phi.approximate_kernel(x, Y)[0]
    Z = phi.transform(np.vstack([x, Y]))
    return Z[1:] @ Z[0]


def moments(estimates: np.ndarray, distance: float, n_features: int, n_columns: int) -> dict[str, tuple[float, float]]:
    """Return a mapping from metric to (value, standard error), for independent estimates (n,) of the Gaussian kernel at
    a distance.

    The standard error of the variance is that of a sample variance: ``sqrt((m4 - (n - 3) / (n - 1) v^2) / n)``. A map
    with one column per frequency has the layout with phases; columns beyond two per frequency are constants.
    """
    n = len(estimates)
    deviations = estimates - np.exp(-(distance**2) / 2)
    squares = deviations**2
    variance = float(estimates.var(ddof=1))
    fourth = np.mean((estimates - estimates.mean()) ** 4)
    variance_error = float(np.sqrt(max(fourth - (n - 3) / (n - 1) * variance**2, 0.0) / n))
    of_layout = rff_variance(distance, n_features, "phase" if n_columns == n_features else "cos_sin")
    of_columns = rff_variance(distance, n_columns / 2)
    return {
        "kernel_bias": (float(deviations.mean()), float(np.sqrt(variance / n))),
        "kernel_mse": (float(squares.mean()), float(squares.std(ddof=1) / np.sqrt(n))),
        "kernel_variance": (variance, variance_error),
        "variance_ratio": (variance / of_layout, variance_error / of_layout),
        "variance_ratio_columns": (variance / of_columns, variance_error / of_columns),
    }


def rff_variance(distance: float, n_features: float, layout: str = "cos_sin") -> float:
    """Return the variance of the RFF estimate of the Gaussian kernel at a distance in length scales.

    With s frequencies as [cos | sin] it is (1 - exp(-z^2))^2 / (2 s) (survey, section 3.1), with random phases, one
    column per frequency, 1 / (2 s) more (Sutherland and Schneider, On the error of random Fourier features, UAI 2015).
    """
    of_phases = 1.0 if layout == "phase" else 0.0
    return float((of_phases + (1 - np.exp(-(distance**2))) ** 2) / (2 * n_features))
