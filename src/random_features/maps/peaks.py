"""Peaks of a Fourier potential: batches of frequencies, their potentials and gradients, climbed by Langevin dynamics.

The potential of weights u (n,) is :math:`v(w) = |\\sum_i u_i e^{i w^T x_i}|^2`. Frequencies are processed in blocks of
fixed size, each on one thread, so a result does not depend on the number of threads.
"""

from dataclasses import dataclass

import numpy as np
import torch

from random_features.arrays import dense, one_blas_thread, row_blocks
from random_features.maps.blocks import for_each_block
from random_features.tensors import as_tensor, cosine, product, resolve_device, sine

#: Frequencies that a thread processes at once, and the largest number of entries in their product with the data: so few
#: on the CPU that they stay in a cache.
BLOCK = {"cpu": (128, 2**21), "cuda": (512, 2**28)}

#: The default step of a copy, over the largest variance of the data and the copy's best potential. At a peak the
#: logarithm of the potential is curved by at most twice that variance: 1 is where ascent begins to oscillate.
RELATIVE_STEP = 0.7


@dataclass(frozen=True)
class Climb:
    """Settings of the Langevin dynamics: the step on the potential, the standard deviation of the noise, the decay.

    A step of None is as large as the curvature of a peak allows (``RELATIVE_STEP``); a noise of None as long, on
    average, as the gradient's step. Each is multiplied by its factor. ``decay`` is the penalty of a frequency's mean
    square. With ``last`` the point after the last step is evaluated too.
    """

    n_steps: int
    step_size: float | None = None
    noise: float | None = None
    decay: float = 0.0
    last: bool = True
    step_factor: float = 1.0
    noise_factor: float = 1.0

    @property
    def evaluations(self) -> int:
        """Return the number of evaluations of the potential for each copy."""
        return self.n_steps + self.last


class PeakSearch:
    """A search for peaks of the potentials of rows X (n, d), float32 or float64, an array or a csr matrix."""

    def __init__(self, X, device: str = "auto"):
        # the order of the entries in memory changes the last bits, and a search amplifies them
        self.device, X = resolve_device(device), np.ascontiguousarray(dense(X))
        self.X = as_tensor(X, self.device).clone()
        self.largest_variance = largest_variance(X)

    def evaluate(self, weights: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
        """Return the potentials (m,) of ``frequencies`` (m, d) for ``weights`` (n,)."""
        return self.climb(weights, frequencies, Climb(n_steps=0), [])[1]

    def climb(self, weights: np.ndarray, starts: np.ndarray, how: Climb, seed) -> tuple[np.ndarray, np.ndarray]:
        """Return the best point on the path of each copy.

        Parameters
        ----------
        weights : ndarray of shape (n,)
        starts : ndarray of shape (copies, d)
        how : Climb
        seed : sequence of integers, of the noise

        Returns
        -------
        the points, ndarray of shape (copies, d), and their potentials (copies,)
        """
        like_rows = {"device": self.device, "dtype": self.X.dtype}
        points, weights = torch.tensor(starts, **like_rows), torch.tensor(weights, **like_rows)
        potentials, weighted = torch.empty_like(points[:, 0]), self.X * (2.0 * weights)[:, None]
        most, entries = BLOCK[self.device.type]
        blocks = -(-len(points) // max(1, min(most, entries // len(self.X))))
        rows = -(-len(points) // blocks)

        def make():
            potential = Potential(self.X, weights, weighted, rows)

            def climb_block(part):
                words = np.random.SeedSequence([*seed, part.start]).generate_state(1, np.uint64)
                generator = torch.Generator(self.device).manual_seed(int(words[0] >> 1))
                points[part], potentials[part] = self._climbed(potential, points[part], how, generator)

            return climb_block

        parts = list(row_blocks(len(points), rows))
        threads = min(len(parts), torch.get_num_threads()) if self.device.type == "cpu" else 1
        with one_blas_thread():
            for_each_block(make, parts, threads)
        return points.cpu().numpy(), potentials.cpu().numpy()

    def _climbed(self, potential, W, how, generator):
        """Return the best points on the paths of the copies of a block, and their potentials."""
        best, highest = W.clone(), torch.full((len(W),), -1.0, device=W.device, dtype=W.dtype)
        noise, tiny = torch.empty_like(W), torch.finfo(W.dtype).tiny
        for _ in range(how.n_steps):
            values, step = potential.with_gradient(W)
            _keep_best(best, highest, W, values)
            if how.step_size is None:
                longest = how.step_factor * RELATIVE_STEP / max(self.largest_variance, tiny)
                step.mul_((longest / highest.clamp(min=tiny))[:, None])
            else:
                step.mul_(how.step_factor * how.step_size)
            if how.decay:
                step.sub_(W, alpha=2.0 * how.step_factor * how.step_size * how.decay / W.shape[1])
            if how.noise != 0:
                noise.normal_(generator=generator)
                scale = how.noise if how.noise else step.square().mean(dim=1, keepdim=True).sqrt_()
                step.add_(noise.mul_(how.noise_factor * scale))
            W = W + step
        if how.last:
            _keep_best(best, highest, W, potential.at(W))
        return best, highest


class Potential:
    """The potential of rows X (n, d) and weights (n,), at up to ``rows`` frequencies at once.

    ``weighted`` (n, d) are the rows times twice their weights.
    """

    def __init__(self, X, weights, weighted, rows: int):
        self.X, self.weights, self.weighted = X, weights, weighted
        self.cosines = torch.empty(rows, len(X), device=X.device, dtype=X.dtype)
        self.sines = torch.empty_like(self.cosines)

    def at(self, W):
        """Return the potentials (r,) of frequencies W (r, d)."""
        real, imaginary = self._transform(W)
        return real.square() + imaginary.square()

    def with_gradient(self, W):
        """Return the potentials (r,) of frequencies W (r, d), and their gradients (r, d)."""
        real, imaginary = self._transform(W)
        slopes = self.cosines[: len(W)].mul_(imaginary[:, None])
        slopes.addcmul_(self.sines[: len(W)], real[:, None], value=-1.0)
        gradients = torch.empty_like(W)
        product(slopes, self.weighted, gradients)
        return real.square() + imaginary.square(), gradients

    def _transform(self, W):
        """Return the real and imaginary parts of sum_i u_i exp(i w.x_i), (r,) each, and leave the buffers filled."""
        cosines, sines = self.cosines[: len(W)], self.sines[: len(W)]
        product(W, self.X.T, sines)
        cosine(sines, cosines)
        sine(sines, sines)
        return cosines @ self.weights, sines @ self.weights


def largest_variance(X: np.ndarray) -> float:
    """Return the largest variance of the rows X (n, d) along a direction."""
    covariance = np.cov(X, rowvar=False, bias=True, dtype=np.float64)
    if not np.isfinite(covariance).all():
        raise ValueError(f"the variances of numbers as large as {np.abs(X).max():.3g} overflow: scale the data")
    return float(np.linalg.eigvalsh(np.atleast_2d(covariance))[-1])


def _keep_best(best, highest, W, values):
    """Write the frequencies W whose ``values`` are the highest so far into ``best``, and these into ``highest``."""
    better = values > highest
    torch.where(better, values, highest, out=highest)
    torch.where(better[:, None], W, best, out=best)
