"""The pool: features of many frequencies, of which a map keeps some, weighted.

A pool is drawn from the kernel's spectral measure. Scores and products at pairs of rows are computed from
``Pool.blocks``. A map keeps a ``Pool.subset``, again a pool, with the features of the map.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch

from random_features.arrays import block_rows, row_blocks
from random_features.kernels.base import Kernel
from random_features.maps.blocks import CACHE_BYTES, features_of_array, features_of_tensor
from random_features.maps.spectral import SpectralMap, check_frequencies, projector, spectral_mapper
from random_features.tensors import constant, resolve_device


@dataclass(frozen=True, eq=False)
class Pool:
    """Features of frequencies w_j: cosines, pairs of cosine and sine, or activations, times a scale.

    Parameters
    ----------
    kernel : kernel object
        Its activation makes the features; the cosine if it has none.
    frequencies : ndarray of shape (J, d)
        W, in the type of the data.
    phases : ndarray of shape (J,), optional
        Added to the projections.
    layout : {"phase", "cos_sin", "split"}
        One column for each frequency; [cos(Wx) | sin(Wx)], two for each; one for each, the cosine for the first half of
        the frequencies and the sine for the second half.
    scale : float, or float64 ndarray with a number for each column
    device : {"auto", "cpu", "cuda"}
    """

    kernel: Kernel
    frequencies: np.ndarray
    phases: np.ndarray | None = None
    layout: str = "phase"
    scale: float | np.ndarray = 1.0
    device: str = "auto"

    @property
    def n_columns(self) -> int:
        """Return the number of columns of the features."""
        return (2 if self.layout == "cos_sin" else 1) * len(self.frequencies)

    def blocks(self, X):
        """Return the features of X (n, d), an array, a csr matrix or a tensor of float32 or float64.

        Returns
        -------
        iterator of (slice, ndarray of shape (rows, n_columns)); of a tensor tensors, on its device
        """
        of = self.n_columns, len(self.frequencies)
        if isinstance(X, torch.Tensor):  # next to a block, its copy in float64 needs room
            parts = row_blocks(len(X), block_rows(3 * self.n_columns * X.itemsize, X.device))
            return ((part, features_of_tensor(self.mapper, X[part], *of)) for part in parts)
        parts = row_blocks(X.shape[0], block_rows(self.n_columns * X.dtype.itemsize))
        of = *of, resolve_device(self.device), CACHE_BYTES
        return ((part, features_of_array(self.mapper, X[part], *of, sparse=True)) for part in parts)

    def subset(self, indices: np.ndarray, weights: np.ndarray) -> Self:
        """Return the features of frequencies ``indices`` (m,) times ``weights`` (m,); cosine and sine share one."""
        phases = None if self.phases is None else self.phases[indices]
        scale = self.scale * (np.tile(weights, 2) if self.layout == "cos_sin" else weights)
        return replace(self, frequencies=self.frequencies[indices], phases=phases, scale=scale)

    def reordered(self, columns: np.ndarray, weights: np.ndarray) -> Self:
        """Return as many features as in a pool of pairs, in the order of its ``columns`` and with their weights.

        The first half are cosines and the second half sines, for any order of the columns. The phases of the pool keep
        the old order, as in the code behind the published leverage-score features. With the columns in their own order,
        these are the features of the pool, weighted one by one.
        """
        frequencies = self.frequencies[columns % len(self.frequencies)]
        phases = None if self.phases is None else np.tile(self.phases, 2)
        return replace(self, frequencies=frequencies, phases=phases, layout="split", scale=self.scale * weights)

    def mapper(self, rows: int, device, dtype):
        """Return a function that writes the features of a tensor X (r, d), r <= ``rows``, into out (r, n_columns)."""
        project, pairs = projector(self.frequencies, rows, device, dtype), self.layout != "phase"
        scale = constant(self.scale, device, dtype) if isinstance(self.scale, np.ndarray) else self.scale
        phases = None if self.phases is None else constant(self.phases, device, dtype)
        return spectral_mapper(project, scale, activation=self.kernel.activation, pairs=pairs, phases=phases)


class PoolMap(SpectralMap):
    """Base class of the maps that draw a pool and keep a weighted part of it, which a subclass chooses in ``_learn``.

    ``_draw_frequencies`` of a subclass returns the frequencies of the pool, float64 (J, d).

    Attributes
    ----------
    pool_ : Pool
        Everything that was drawn, not weighted, of columns in units of their ``length_scales_``.
    chosen_ : Pool
        The part that the features are computed from.
    learned_ : dict
        ``indices`` and ``weights`` of the part in use.
    """

    @abstractmethod
    def _pool_scale(self, n_frequencies: int) -> float:
        """Return the factor of the features of a pool of so many frequencies."""

    @abstractmethod
    def _learn(self, X, y, rng) -> dict:
        """Return the ``indices`` and ``weights`` of the part that is kept of ``pool_``, which has been drawn."""

    def _draw(self, n_features, rng):
        frequencies = self._cast(self._draw_frequencies(n_features, rng))
        check_frequencies(frequencies)
        phases = self._cast(rng.uniform(0.0, 2.0 * np.pi, size=len(frequencies))) if self._has_phases() else None
        layout = "cos_sin" if self._has_pairs() else "phase"
        self.pool_ = Pool(self.kernel_, frequencies, phases, layout, self._pool_scale(len(frequencies)), self.device)

    def _use(self, learned):
        self.chosen_ = self.pool_.subset(learned["indices"], learned["weights"])

    @property
    def frequencies_(self) -> np.ndarray:
        """Return the frequencies in use."""
        return self.chosen_.frequencies

    def _count_columns(self):
        return self.chosen_.n_columns

    def _work_columns(self):
        return len(self.chosen_.frequencies)

    def _mapper(self, rows, device, dtype):
        return self.chosen_.mapper(rows, device, dtype)
