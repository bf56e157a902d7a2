r"""The surrogate of the ridge leverage function against the function itself, on synthetic labelled points (Liu et al.,
AAAI 2020, footnote 1 and section 4.1).

For a frequency w with :math:`z_w = (e^{-i w^T x_j})_j` and the exact kernel matrix K, the ridge leverage function is
:math:`l(w) = z_w^* (K + n \lambda I)^{-1} z_w` and its surrogate :math:`L(w) = (|y^T z_w|^2 + n |z_w|^2) / (n^2
\lambda)`; the density p(w) and the factor 1 / s are common to both. An entry of SLS-RFF states whether the second term,
that of the identity, is included: the paper's theorem needs it, and its algorithm leaves it out. The integrals over
p(w) have closed forms, because that of :math:`z_w z_w^*` is K: the total leverage is :math:`\mathrm{Tr}\,K (K + n
\lambda I)^{-1}`, the total surrogate leverage :math:`(y^T K y + n\, \mathrm{Tr}\,K) / (n^2 \lambda)`.
"""

import numpy as np

from random_features.arrays import seed_sequence
from random_features.kernels import make_kernel
from rfstudy.study.engine import Job, Measured, rows_of


def measure(job: Job, entry: dict, *, d: int, n_train: int, repeat: int, penalties: list, draws: int) -> Measured:
    """Return the rows of one cell, by penalty: the fixed ones, and n^(-1/2) as in the paper's theory.

    The points are normal; their labels, -1 and +1, give the side of a plane on which they are. ``leverage_ratio_least``
    is the smallest L / l over the frequencies, ``leverage_ratio_below`` the share of the frequencies at which L is
    below l.
    """
    n, kernel = n_train, make_kernel(job.spec.kernel)
    rng = np.random.default_rng(seed_sequence(job.spec.seed, "surrogate", d, n, repeat))
    X = rng.standard_normal((n, d))
    y, W = np.where(X[:, 0] > 0, 1.0, -1.0), kernel.draw_frequencies(rng, (draws, d))
    K = kernel(X)
    eigenvalues, vectors = np.linalg.eigh(K)
    Z = np.exp(-1j * X @ W.T)
    projections = np.abs(vectors.T @ Z) ** 2
    identity = entry["options"].get("identity", False)
    alignments = np.abs(y @ Z) ** 2 + identity * n * (np.abs(Z) ** 2).sum(axis=0)
    rows = []
    for penalty, rule in [*((penalty, "fixed") for penalty in penalties), (n**-0.5, "n^(-1/2)")]:
        leverages = (projections / (eigenvalues + n * penalty)[:, None]).sum(axis=0)
        ratios = alignments / (n**2 * penalty) / leverages
        values = {
            "leverage_ratio_least": ratios.min(),
            "leverage_ratio_below": np.mean(ratios < 1.0),
            "total_surrogate_leverage": (y @ K @ y + identity * n * np.trace(K)) / (n**2 * penalty),
            "total_surrogate_bound": 2.0 * np.trace(K) / (n * penalty),
            "total_leverage": (eigenvalues / (eigenvalues + n * penalty)).sum(),
        }
        shared = {"dataset": f"labelled-d{d}-n{n}", "axis": "penalty", "at": penalty}
        shared["settings"] = {"rule": rule, "frequencies": draws}
        rows += rows_of(shared, values)
    return rows, {}
