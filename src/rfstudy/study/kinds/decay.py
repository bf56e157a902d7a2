"""The decay of the error of an approximate kernel matrix in s, in several norms, on synthetic points (survey, Table
III).

The points are normal with the scale at which two of them lie about one length scale apart in every dimension; all maps
and sizes of a repeat see the same points. The report fits the power of s and compares it with the stated rates.
"""

import numpy as np

from random_features.arrays import seed_sequence
from random_features.kernels import make_kernel
from rfstudy.scores import approximation_error
from rfstudy.study.engine import Job, Measured


def measure(
    job: Job, entry: dict, *, d: int, repeat: int, rows: int, n_features: list, norms: list, ridge: float
) -> Measured:
    """Return the rows of one cell: the error in every norm at every size."""
    kernel = make_kernel(job.spec.kernel)
    rng = np.random.default_rng(seed_sequence(job.spec.seed, "decay", d, repeat))
    X = rng.standard_normal((rows, d)) / np.sqrt(2 * d)
    exact = kernel(X)
    found = []
    for s in n_features:
        phi = job.entry_map(entry, kernel, s, "decay", entry["method"], d, s, repeat).fit(X)
        Z = phi.transform(X)
        shared = {"dataset": f"points-d{d}", "n_features": s, "n_columns": phi.n_columns_, "n_train": rows}
        for norm in norms:
            # the survey adds the penalty of kernel ridge regression, n times lambda, to the diagonal
            added = {"ridge": rows * ridge} if norm == "delta_spectral" else {}
            value = approximation_error(exact, Z @ Z.T, norm, **added)
            found.append(shared | {"metric": f"approximation_error_{norm}", "value": value, "settings": added})
    return found, {}
