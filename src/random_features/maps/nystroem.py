"""The Nystroem approximation, the baseline that takes its features from a sample of the data."""

from typing import Literal

import numpy as np
import torch
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.utils import check_array

from random_features.arrays import DIAGONALISED_ALONE, check_same_columns, decomposing, dense, suit_float32
from random_features.length_scales import in_length_scales
from random_features.maps.base import RandomFeatureMap
from random_features.pivoted_cholesky import pivoted_cholesky
from random_features.tensors import constant, on_host, product

#: Eigenvalues of the landmarks' kernel matrix below this share of the largest one count as rounding errors.
SMALLEST_EIGENVALUE = 1e-12

#: How far below 0 eigenvalues, relative to the largest, and how far from symmetric a kernel may be: float32 rounding.
NEGATIVE = 1e-5

#: The largest ratio of two eigenvalues whose features are computed in float32 together: whitening then amplifies the
#: rounding errors of what enters by its square root, 64, at most.
SINGLE_PRECISION_RANGE = 2.0**12

#: The share of entries that are not zero below which landmarks are held as a sparse matrix.
SPARSE_SHARE = 0.1


class Nystroem(RandomFeatureMap):
    r"""Nystroem features: kernel values at landmarks, whitened by the landmarks' own kernel matrix.

    .. math:: \phi(x) = \Lambda^{-1/2} U^T k_L(x), \qquad K_{LL} = U \Lambda U^T, \qquad
       k_L(x) = (k(x, l_1), \dots, k(x, l_s))

    with the landmarks l_i drawn from the rows uniformly without replacement (all of them if there are fewer than s), or
    chosen as ``landmarks`` says. Eigenvalues below 1e-12 of the largest are dropped, so D <= s. With all rows as
    landmarks the kernel matrix is exact. Set-up O(s^2 d + s^3), time O(s d + s D) per row.

    The whitening and the kernel values are computed in float64 for float32 data, too; features of small eigenvalues are
    as accurate as the others, a few 1e-6 of the length of a row. Sparse rows stay sparse in the kernels that
    ``takes_sparse_rows``; the others make one block of them dense at a time. For k-means all rows are held dense.

    From a tensor on a GPU, landmarks are learned there if they are uniform or of pivoted Cholesky. They come to the
    host, where their matrix is decomposed; for pivoted Cholesky one number per row does, once per 100 candidates.

    Parameters
    ----------
    kernel : kernel object, default None
        Any kernel, also a function of X (n, d) and Y (m, d), or "precomputed": then ``fit`` takes the kernel matrix
        (n, n) of the training rows, ``transform`` the matrix of new rows with them. None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of landmarks; not used if ``landmarks`` is an array.
    landmarks : {"uniform", "kmeans", "rpcholesky"} or data of shape (s, d), default "uniform"
        Rows drawn uniformly; the centres of k-means, O(n s d) per iteration; rows drawn by randomly pivoted Cholesky,
        O(n s^2 + n s d), which finds small clusters and outliers that a uniform sample misses; or these points,
        array-like, sparse matrix or tensor, with the columns of X.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    Attributes
    ----------
    learned_ : dict
        ``landmarks``: (s, d), rows of the data, centres or the points of the option, in units of the length scales
        of the columns, where the kernel has one per column.

    References
    ----------
    Williams and Seeger, Using the Nystroem method to speed up kernel machines, NIPS 2001; Zhang, Tsang and Kwok,
    Improved Nystroem low-rank approximation, ICML 2008 (k-means); Chen, Epperly, Tropp and Webber, Randomly pivoted
    Cholesky, 2023 (arXiv 2207.06503).

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.kernels import Gaussian
    >>> from random_features.maps.nystroem import Nystroem
    >>> X = np.random.default_rng(0).normal(size=(30, 5))
    >>> Z = Nystroem(n_components=30, random_state=0).fit_transform(X)
    >>> bool(np.allclose(Z @ Z.T, Gaussian()(X)))
    True
    """

    _in_double = True
    _caches_per_block = 4

    landmarks: Literal["uniform", "kmeans", "rpcholesky"] | np.ndarray = "uniform"

    @property
    def _learns_on_device(self):
        return (
            isinstance(self.landmarks, str)
            and self.landmarks != "kmeans"
            and self._kernel_object().name != "precomputed"
        )

    def _draw(self, n_features, rng):
        """Draw nothing: the landmarks need data."""
        if isinstance(self.landmarks, str):
            return
        shape = tuple(np.shape(self.landmarks))
        refused = ValueError(f"landmarks must be a finite array of shape (s, {n_features}), got the shape {shape}")
        try:
            points = check_array(on_host(self.landmarks), accept_sparse="csr", dtype=self._dtype)
            # entries that a sparse matrix stores in parts are added up, to infinity if they are large
            self._points = check_array(dense(points), order="C", copy=True)
        except ValueError as error:
            raise refused from error
        if self._points.shape[1] != n_features:
            raise refused
        if self.n_components not in (type(self).n_components, len(self._points)):
            raise ValueError(
                f"n_components={self.n_components} with {len(self._points)} landmarks: leave it out, they are used"
            )

    def _rows_to_learn(self, X, y, **checks):
        check_same_columns(X, self.landmarks, "landmarks")
        return super()._rows_to_learn(X, y, **checks)

    def _learn(self, X, y, rng):
        if not isinstance(self.landmarks, str):
            return {"landmarks": in_length_scales(self._points, self.length_scales_, True)}
        n_landmarks = min(self.n_components, X.shape[0])
        if self.kernel_.name == "precomputed":
            if X.shape[0] != X.shape[1] or self.landmarks != "uniform":
                raise ValueError(f"kernel='precomputed' needs a matrix (n, n) and landmarks='uniform', got {X.shape}")
            columns = rng.permutation(X.shape[0])[:n_landmarks]
            return {"landmarks": dense(X[columns])[:, columns], "columns": columns}
        if self.landmarks == "kmeans":
            seed = int(rng.integers(2**31))
            return {"landmarks": KMeans(n_landmarks, n_init=1, random_state=seed).fit(dense(X)).cluster_centers_}
        if self.landmarks == "rpcholesky":
            chosen, _ = pivoted_cholesky(self.kernel_, X, n_landmarks, rng)
            chosen = chosen if len(chosen) else np.arange(1)  # no row has a kernel value: ``_use`` says so
        else:
            chosen = rng.permutation(X.shape[0])[:n_landmarks]
        return {"landmarks": dense(on_host(X[chosen]))}

    def _use(self, learned):
        landmarks, self._columns = learned["landmarks"], learned.get("columns")
        filled = np.flatnonzero(landmarks != 0)
        # among sparse rows products of sparse ones are faster, unless the landmarks are means
        if self._columns is None and filled.size < SPARSE_SHARE * landmarks.size:
            places = np.divmod(filled, landmarks.shape[1])
            self._landmarks = csr_matrix((landmarks[places].astype(np.float64), places), landmarks.shape)
        else:
            self._landmarks = landmarks.astype(np.float64)
        with decomposing(len(landmarks), DIAGONALISED_ALONE):
            K = self.kernel_(self._landmarks) if self._columns is None else self._landmarks
            eigenvalues, eigenvectors = np.linalg.eigh(K if np.isfinite(K).all() else np.zeros_like(K))
        smallest = np.finfo(np.float64).tiny / SMALLEST_EIGENVALUE
        if not (np.isfinite(eigenvalues).all() and np.abs(eigenvalues).max() > smallest):
            raise ValueError("nystroem: the kernel matrix of the landmarks is near 0 or not finite: scale the data")
        if eigenvalues[0] < -NEGATIVE * eigenvalues[-1] or np.abs(K - K.T).max() > NEGATIVE * np.abs(K).max():
            raise ValueError(
                f"nystroem: the kernel is not symmetric and positive semi-definite: on landmarks its eigenvalues are"
                f" {eigenvalues[0]:.3g} to {eigenvalues[-1]:.3g}"
            )
        kept = eigenvalues > SMALLEST_EIGENVALUE * eigenvalues[-1]
        self._eigenvalues = eigenvalues[kept]
        self._whitening = eigenvectors[:, kept] / np.sqrt(self._eigenvalues)

    def _count_columns(self):
        return self._whitening.shape[1]

    def _growth(self):
        """Without a limit for kernels that have none: their values grow with the landmarks, too."""
        return 2 if getattr(self.kernel_, "activation", False) is None else np.inf

    def _work_columns(self):
        # kernel values at all landmarks in float64
        return 2 * self._landmarks.shape[0]

    @property
    def _takes_sparse_rows(self):
        return self.kernel_.takes_sparse_rows

    def _mapper(self, rows, device, dtype):
        if dtype == torch.float32 and suit_float32(self._eigenvalues[-1] ** 0.5):
            return self._single_mapper(rows, device)
        values, whitening = self._values(rows, device, torch.float64), constant(self._whitening, device)
        return lambda X, out: product(values(X), whitening, out)

    def _values(self, rows, device, dtype):
        """Return a function of X (r, d) for its kernel values at the landmarks, as ``Kernel.against`` does."""
        if self._columns is None:
            return self.kernel_.against(self._landmarks, rows, device, dtype)
        columns = constant(self._columns, device)
        return lambda X: X[:, columns].to(dtype)

    def _single_mapper(self, rows, device):
        """Return a function for float32 features that computes the features of the extreme eigenvalues in float64.

        Rounding leaves in every kernel value an error in proportion to it. In the direction of a small eigenvalue a
        kernel vector is short, so the error would be enlarged 1 / sqrt(eigenvalue) times. Therefore the part of the
        kernel vector in the leading directions is subtracted before rounding, and the directions of eigenvalues that
        are still too small stay in float64; ``split`` says which and how many.
        """
        n_last, n_leading = split(self._eigenvalues)
        n_middle = len(self._eigenvalues) - n_last - n_leading
        values = self._values(rows, device, torch.float64 if n_last + n_leading else torch.float32)
        parts = np.split(self._whitening, [n_last, n_last + n_middle], axis=1)
        last, middle, leading = (constant(np.ascontiguousarray(columns), device) for columns in parts)
        middle = middle.float()
        back = (leading * constant(self._eigenvalues[n_last + n_middle :], device)).T.contiguous()

        def fill(X, out):
            vectors = values(X)
            if n_leading:
                coefficients = vectors @ leading
                out[:, n_last + n_middle :] = coefficients
                vectors.addmm_(coefficients, back, alpha=-1.0)
            if n_last:
                out[:, :n_last] = vectors @ last
            product(vectors.float(), middle, out[:, n_last : n_last + n_middle])

        return fill


def split(eigenvalues: np.ndarray) -> tuple[int, int]:
    """Return how many of rising eigenvalues > 0 need float64: of the smallest, and of the leading ones.

    The others lie within ``SINGLE_PRECISION_RANGE``. A leading direction costs twice, because its part of the kernel
    vector is computed and subtracted. The sum of the costs is minimal.
    """
    falling = eigenvalues[::-1]
    n_last = np.searchsorted(eigenvalues, falling / SINGLE_PRECISION_RANGE)
    n_leading = int(np.argmin(2 * np.arange(len(falling)) + n_last))
    return int(n_last[n_leading]), n_leading
