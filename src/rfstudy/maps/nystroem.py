"""The Nystroem approximation, the baseline that takes its features from a sample of the data."""

from __future__ import annotations

import numpy as np
import torch

from rfstudy.arrays import block_rows, resolve_device, row_blocks
from rfstudy.maps.base import RandomFeatureMap

#: Eigenvalues of the landmarks' kernel matrix below this share of the largest one are rounding errors.
SMALLEST_EIGENVALUE = 1e-12


class Nystroem(RandomFeatureMap):
    r"""Nystroem features: kernel values at landmarks, whitened by the landmarks' own kernel matrix.

    .. math:: \phi(x) = \Lambda^{-1/2} U^T k_L(x), \qquad K_{LL} = U \Lambda U^T, \qquad
       k_L(x) = (k(x, l_1), \dots, k(x, l_s))

    with the landmarks l_i drawn from the rows uniformly without replacement (all of them where there are fewer than
    s). Eigenvalues below 1e-12 of the largest are dropped, so that D <= s. With all rows as landmarks the kernel matrix
    is exact. Kernel values are computed in float64 on the CPU. Set-up O(s^2 d + s^3), time O(s d + s D) a row.

    Parameters
    ----------
    kernel : kernel object, default None
        Any kernel; None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of landmarks.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    learned_ : dict
        ``landmarks``: (s, d), rows of the data.

    References
    ----------
    Williams and Seeger, Using the Nystroem method to speed up kernel machines, NIPS 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from rfstudy.kernels import Gaussian
    >>> from rfstudy.maps.nystroem import Nystroem
    >>> X = np.random.default_rng(0).normal(size=(30, 5))
    >>> Z = Nystroem(n_components=30, random_state=0).fit_transform(X)
    >>> bool(np.allclose(Z @ Z.T, Gaussian()(X)))
    True
    """

    method = "nystroem"

    def __init__(self, kernel=None, n_components=100, *, device="auto", random_state=None):
        self.kernel = kernel
        self.n_components = n_components
        self.device = device
        self.random_state = random_state

    def _draw(self, n_features, rng):
        """Nothing is drawn before the data are seen."""

    def _learn(self, X, y, rng):
        chosen = rng.permutation(len(X))[: self.n_components]
        return {"landmarks": X[chosen]}

    def _use(self, learned):
        self._landmarks = learned["landmarks"].astype(np.float64)
        eigenvalues, eigenvectors = np.linalg.eigh(self.kernel_(self._landmarks))
        if not eigenvalues[-1] > 0:
            raise ValueError("nystroem: the kernel is zero between all landmarks")
        kept = eigenvalues > SMALLEST_EIGENVALUE * eigenvalues[-1]
        self._whitening = eigenvectors[:, kept] / np.sqrt(eigenvalues[kept])

    def _count_columns(self):
        return self._whitening.shape[1]

    def _work_columns(self):
        # float64 kernel values at all landmarks
        return 2 * len(self._landmarks)

    def _fill(self, X, features):
        if resolve_device(self.device).type != "cpu":
            super()._fill(X, features)
            return
        # The kernels and the product are NumPy's, whose BLAS has threads of its own: no blocks side by side.
        for part in row_blocks(len(X), block_rows(8 * self._work_columns())):
            features[part] = self.kernel_(X[part].astype(np.float64, copy=False), self._landmarks) @ self._whitening

    def _mapper(self, rows, device, dtype):
        whitening = torch.from_numpy(self._whitening).to(device)

        def fill(X, out):
            values = torch.from_numpy(self.kernel_(X.cpu().double().numpy(), self._landmarks))
            out.copy_(values.to(device) @ whitening)

        return fill
