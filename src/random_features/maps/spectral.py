"""The template of the maps that are a fixed function of projections on frequencies.

A subclass of ``SpectralMap`` says where its frequencies come from and, if they are not a matrix, how to project on
them.
"""

import warnings
from abc import abstractmethod
from functools import cache
from typing import Literal

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from random_features.maps.base import RandomFeatureMap
from random_features.tensors import constant, cosine, dtype_name, needs_gradient, sine, write

#: Rounding of a phase, in radians, from which ``transform`` warns: the machine epsilon times the largest number of the
#: data in length scales.
LARGEST_ROUNDING = 0.01


class SpectralMap(RandomFeatureMap):
    r"""Base class of the maps :math:`\phi(x) = s^{-1/2} [\cos(w_i^T x) | \sin(w_i^T x)]_{i \le s}`.

    The frequencies :math:`w_i` are the rows of W (s, d). In the layout "phase" the features are :math:`\sqrt{2/s}
    \cos(w_i^T x + b_i)` with b_i uniform on [0, 2 pi). For a kernel with an activation a (arc-cosine) they are
    :math:`\sqrt{2/s}\, a(w_i^T x)` in either layout. Subclasses return W from ``_draw_frequencies``, or
    replace ``_projector`` where W is structured. Such a projector gets dense rows, unless ``_takes_sparse_rows`` says
    that it takes sparse ones.

    A phase :math:`w_i^T x` is rounded in proportion to the length of x. Centre data far from the origin, or pass
    float64: in float32, 10^6 length scales away, entries of the approximate kernel are wrong by up to 0.1.

    Attributes
    ----------
    frequencies_ : ndarray of shape (s, d)
        W, of columns in units of their ``length_scales_``; only for maps that hold it as a matrix
        (``dense_frequencies`` works for all, in units of the data).
    phases_ : ndarray of shape (s,)
        b; only in the layout "phase".
    """

    layout: Literal["cos_sin", "phase"] = "cos_sin"

    #: Random factors of the frequencies (s,), where the projector does not contain them.
    _scales = None

    @property
    def _takes_sparse_rows(self):
        return type(self)._projector is SpectralMap._projector

    @abstractmethod
    def _draw_frequencies(self, n_features: int, rng: np.random.Generator) -> np.ndarray | None:
        """Draw the numbers that determine W. Return W, float64 (s, d), or None if the map does not hold it."""

    def _draw(self, n_features, rng):
        frequencies = self._draw_frequencies(n_features, rng)
        self._scales = self.kernel_.draw_scales(rng, self.n_components)
        if frequencies is not None:
            self.frequencies_ = self._cast(frequencies)
            if self._scales is not None:
                self.frequencies_, self._scales = self._cast(self._scales[:, None] * self.frequencies_), None
        if self._has_phases():
            self.phases_ = self._cast(rng.uniform(0.0, 2.0 * np.pi, size=self.n_components))

    def _has_phases(self):
        return self.layout == "phase" and self.kernel_.activation is None

    def _has_pairs(self):
        return self.layout == "cos_sin" and self.kernel_.activation is None

    def _count_columns(self):
        return (2 if self._has_pairs() else 1) * self.n_components

    def _work_columns(self):
        return self.n_components

    def _products(self):
        return self.n_features_in_ * self.n_components if self._takes_sparse_rows else 0

    def _warn_of_rounding(self, X, extremes=None):
        dtype, largest = dtype_name(X), max(abs(float(each)) for each in extremes or (X.min(), X.max()))
        if np.finfo(dtype).eps * largest > LARGEST_ROUNDING * np.min(getattr(self._completed, "ell", np.inf)):
            warnings.warn(
                f"{self.method}: rounding in {dtype} spoils the features of numbers as large as {largest:.3g}: centre"
                " the data or take a larger length scale (float64 data have more digits)",
                stacklevel=4,
            )

    def _check_drawn(self):
        check_frequencies(self._projections(np.ones((1, self.n_features_in_), self._dtype)))

    def dense_frequencies(self) -> np.ndarray:
        """Return W as an array (s, d), the images of the unit vectors. This works for maps that never hold W, too."""
        check_is_fitted(self, "n_columns_")
        W = self._as_fitted()._projections(np.eye(self.n_features_in_, dtype=self._dtype)).T.copy()
        return W if self.length_scales_ is None else W / self.length_scales_.astype(W.dtype)

    def _projections(self, X):
        """Return ``X @ W.T`` (n, s) for an array X (n, d)."""
        X = torch.from_numpy(X)
        return self._scaled_projector(len(X), X.device, X.dtype)(X).numpy()

    def _projector(self, rows: int, device, dtype):
        """Return a function for ``X @ W.T`` (r, s), X (r, d), r <= ``rows``; a result is valid until the next call."""
        return projector(self.frequencies_, rows, device, dtype)

    def _scaled_projector(self, rows, device, dtype):
        """Return the function of ``_projector``, times the random factors of the frequencies if the kernel has some."""
        project = self._projector(rows, device, dtype)
        if self._scales is None:
            return project
        scales = constant(self._scales, device, dtype)
        return lambda X: project(X).mul_(scales)

    def _mapper(self, rows, device, dtype):
        project, pairs = self._scaled_projector(rows, device, dtype), self._has_pairs()
        scale = 1.0 / np.sqrt(self.n_components) if pairs else np.sqrt(2.0 / self.n_components)
        phases = constant(self.phases_, device, dtype) if self._has_phases() else None
        return spectral_mapper(project, scale, activation=self.kernel_.activation, pairs=pairs, phases=phases)


def check_frequencies(frequencies: np.ndarray) -> None:
    """Raise ``ValueError`` for frequencies whose products with data overflow, or might: above the root of the largest.

    Features of such frequencies would be NaN. Every smaller product, with data below that root, is finite.
    """
    largest, info = np.abs(frequencies).max(initial=0.0), np.finfo(frequencies.dtype)
    if not largest <= np.sqrt(info.max):
        raise ValueError(
            f"frequencies as large as {largest:.3g} overflow {info.dtype}: take a larger length scale, a smoother"
            " kernel or float64 data"
        )


def projector(frequencies: np.ndarray, rows: int, device, dtype):
    """Return a function for ``X @ W.T`` (r, s), with X (r, d), r <= ``rows``, and frequencies W (s, d).

    X may be sparse. The result is valid until the next call.
    """
    transposed = constant(frequencies, device, dtype).T
    projections = torch.empty(rows, transposed.shape[1], device=device, dtype=dtype)

    @cache
    def contiguous():
        """Return W.T with contiguous rows, which the entries of sparse data pick one after the other."""
        return transposed.contiguous()

    def project(X):
        if X.is_sparse:
            return X @ contiguous()
        result = projections[: len(X)]
        write(torch.mm, X, transposed, out=result)
        return result

    return project


def spectral_mapper(project, scale, *, activation=None, pairs=False, phases=None):
    """Return a function like ``_mapper``: it writes ``scale`` times a function of projections into ``out``.

    Parameters
    ----------
    project : callable
        X (r, d) -> projections (r, s), which may be overwritten.
    scale : float or tensor of shape (D,)
    activation : callable, optional
        That of a kernel; D = s. The cosine otherwise.
    pairs : bool
        Whether the left half of the features are cosines and the right half sines: of all projections where D = 2 s, of
        their left and right half where D = s.
    phases : tensor of shape (s,), optional
        Added to the projections.
    """

    def fill(X, out):
        projections = project(X)
        if phases is not None:
            projections.add_(phases)
        if pairs:
            half = out.shape[1] // 2
            left, right = projections.split(half, 1) if half < projections.shape[1] else [projections] * 2
            if needs_gradient(projections):  # slices of ``out`` would each cost two passes over its gradient
                out.copy_(torch.cat([left.cos(), right.sin()], 1))
            else:
                cosine(left, out[:, :half])
                sine(right, out[:, half:])
        else:
            (activation or cosine)(projections, out)
        out.mul_(scale)

    return fill
