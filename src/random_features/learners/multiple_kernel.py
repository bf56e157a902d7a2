r"""The support vector machine on the best convex combination of kernels: multiple-kernel learning with the l1 norm.

.. math:: \min_{\mu \ge 0, \sum_m \mu_m = 1} \max_{0 \le \alpha \le C, y^T \alpha = 0}
   1^T \alpha - \frac12 \sum_m \mu_m (y \alpha)^T K_m (y \alpha)

The fit alternates between a machine on the combination and weights in closed form (Xu, Jin, Yang, King and Lyu, ICML
2010, "Simple and efficient multiple kernel learning by group lasso"), until the duality gap is a hundredth of the
objective, which is where SimpleMKL stops (Rakotomamonjy, Bach, Canu and Grandvalet, JMLR 2008).
"""

from dataclasses import replace

import numpy as np

from random_features.arrays import check_numbers
from random_features.learners.gram import fit_kernel_svm
from random_features.learners.linear_model import LinearModel
from random_features.learners.targets import sign_columns

#: The duality gap, over the objective, at which the weights count as optimal, and the largest number of turns.
GAP = 0.01
MAX_TURNS = 500


def fit_multiple_kernel_svm(grams, Y, C: float) -> tuple[LinearModel, np.ndarray]:
    """Fit the machine with the hinge loss, and the weights of its kernels.

    Parameters
    ----------
    grams : ndarray (m, n, n), the kernel matrices of the training rows, n <= 15,000
    Y : ndarray (n, 1) of -1 and +1
    C : positive number

    Returns
    -------
    model : of the kernel ``sum_m weights[m] kernel_m``; ``converged``: the gap was closed, ``n_iter``: the turns
    weights : ndarray (m,), non-negative, with the sum 1

    Notes
    -----
    Raises ``ValueError`` as ``fit_kernel_svm``.
    """
    Y = sign_columns(Y)
    if Y.shape[1] != 1:
        raise ValueError(f"the targets must have one column, got {Y.shape[1]}: fit one machine for each")
    grams = np.asarray([check_numbers(gram, "grams") for gram in grams], dtype=np.float64)
    weights = np.full(len(grams), 1.0 / len(grams))
    for turn in range(1, MAX_TURNS + 1):
        model = fit_kernel_svm(np.tensordot(weights, grams, axes=1), Y, C)
        signed = model.coef[:, 0]  # y alpha
        lengths = np.einsum("i,mij,j->m", signed, grams, signed, optimize=True)
        objective = np.abs(signed).sum() - 0.5 * weights @ lengths
        closed = 0.5 * (lengths.max() - weights @ lengths) <= GAP * objective
        if closed or turn == MAX_TURNS:
            return replace(model, converged=bool(closed), n_iter=turn), weights
        norms = weights * np.sqrt(np.maximum(lengths, 0.0))
        weights = norms / norms.sum()
