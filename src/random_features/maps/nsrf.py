"""Not-so-random features: frequencies at the peaks of a potential in the Fourier domain, found by Langevin dynamics."""

from numbers import Real
from typing import ClassVar, Literal

import numpy as np

from random_features.maps.game import GameMap, check_step, class_signs, joined
from random_features.maps.peaks import Climb, PeakSearch
from random_features.maps.spectral import SpectralMap, check_frequencies

#: The start of "text": this many times the variance of the kernel's frequencies (Appendix A.1).
VARIANCE_OF_START = 1.5

#: What the modes mean where an option is None: peaks of a round, penalty of a frequency's mean square, mass of the
#: measure in the gradient for the dual player. "code", the settings behind the published numbers, also states the
#: standard deviation of the start, the step and the noise, which follow the kernel and the data in "text".
MODES = {
    "text": {"n_peaks": 10, "decay": 0.0, "mass": 2.0},
    "code": {"n_peaks": 1, "initial_std": 0.3, "step_size": 20.0, "noise": 0.01, "decay": 0.01, "mass": 1.0},
}

#: The step of the dual player in the mode "code", times n^2.
CODE_DUAL_STEP = 2000.0


class PeakSearchFourier(GameMap, SpectralMap):
    r"""Not-so-random features: frequencies where a reweighted Fourier transform of the classes has its peaks.

    In each round copies of a Langevin dynamics climb the potential

    .. math:: v_\alpha(w) = \Big|\frac1n \sum_i y_i \alpha_i e^{i w^T x_i}\Big|^2, \qquad
       w \leftarrow w + \zeta \nabla v_\alpha(w) + \text{noise},

    and the best points of the k best copies are kept. Then the dual variables alpha of a support vector machine, which
    begin near C / 2, take a step against these frequencies (see ``GameMap``). Time O(n d) for each copy, step and round
    to learn, O(s d) per row. The search makes sparse data dense as a whole; the learned map takes them as they are.

    Parameters
    ----------
    kernel : Gaussian, default None
        None is ``Gaussian(1.0)``. The copies start from its frequencies, with a larger variance.
    n_components : int, default 100
        s, the number of frequencies.
    mode : {"text", "code"}
        "text" is the paper: the features are [cos(Wx) | sin(Wx)] / sqrt(s). "code" is the code behind the published
        numbers: sqrt(2 / s) cos(Wx + b), D = s, one frequency per round, and a potential from which 0.01 of the mean
        square of the frequency's entries is subtracted. It does not evaluate the last point of a copy.
    C : float, default 1.0
        The upper end of the dual variables.
    dual_step : float, default None
        eta of the ascent on alpha; 0 leaves alpha uniform. None is 1 / n, in "code" 2000 / n^2. The gradient is
        1 - 2 y Re(conj(F) e^{iwx}) with F = sum_i y_i alpha_i e^{iwx_i}, a mean over the round's frequencies; in "code"
        without the 2.
    n_peaks : int, default None
        k, the frequencies kept in a round; None is 10, in "code" 1.
    search : {"langevin", "random"}
        "random" evaluates as many points as Langevin would, drawn like those that it starts from. It takes no steps:
        ``step_size``, ``noise`` and their factors are not read.
    n_copies, n_steps : int, default 500 and 100
    initial_std : float, default None
        Standard deviation of the entries of a start; None is sqrt(1.5) / length scale, in "code" 0.3.
    step_size : float, default None
        zeta. None is 0.7 over the product of the data's largest variance and the copy's best potential so far: a step
        as large as the curvature of a peak allows, at any scale of data and alpha. In "code" None is 20.
    noise : float, default None
        Standard deviation of the noise added to the entries of a frequency in each step; 0 is gradient ascent. None is
        noise as long, on average, as the gradient's step; in "code" 0.01.
    step_factor, noise_factor : float, default 1.0
        Factors of ``step_size`` and ``noise``, both for stated values and for defaults. The default noise follows the
        step.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None
        With one seed a device gives the same frequencies for any number of threads. Starts are the same on all
        devices, noise is not.

    Attributes
    ----------
    learned_ : dict
        ``frequencies`` (s, d), round by round, the largest potential first, and their ``potentials`` (s,) at the time.

    References
    ----------
    Bullins, Zhang and Zhang, Not-so-random features, ICLR 2018, Algorithms 1 and 2, and Appendix A.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.kernels import Gaussian
    >>> from random_features.maps.nsrf import PeakSearchFourier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    >>> y = np.sin(20 * X[:, 0]) > 0
    >>> phi = PeakSearchFourier(Gaussian(0.2), 10, n_copies=100, n_steps=30, random_state=0).fit(X, y)
    >>> bool(np.abs(np.abs(phi.frequencies_[0]) - [20, 0]).max() < 1), phi.transform(X).shape
    (True, (300, 20))
    """

    _component_arrays = ("frequencies", "potentials")

    layout: ClassVar[str]
    mode: Literal["text", "code"] = "text"
    n_peaks: int | None = None
    search: Literal["langevin", "random"] = "langevin"
    n_copies: int = 500
    n_steps: int = 100
    initial_std: float | None = None
    step_size: Real | None = None
    noise: Real | None = None
    step_factor: float = 1.0
    noise_factor: float = 1.0

    @property
    def layout(self) -> str:
        """Return the layout of the features, which depends on the mode."""
        return "phase" if self.mode == "code" else "cos_sin"

    def _check_options(self):
        super()._check_options()
        if self._option("n_peaks") > self.n_copies:
            raise ValueError(f"n_copies={self.n_copies} copies find no {self._option('n_peaks')} peaks a round")
        for name in ("step_size", "noise"):
            check_step(name, getattr(self, name))

    def _draw_frequencies(self, n_features, rng):
        self._search_seed = int(rng.integers(2**63))

    @property
    def components_per_round_(self) -> int:
        """Return k, the frequencies that a round finds."""
        return self._as_fitted()._option("n_peaks")

    def _evaluations_per_round(self):
        return self.n_copies * self._climb().evaluations

    @property
    def _mass(self):
        return self._option("mass")

    def _dual_step(self, n_rows):
        if self.mode == "code" and self.dual_step is None:
            return CODE_DUAL_STEP / n_rows**2
        return super()._dual_step(n_rows)

    def _first_dual(self, signs):
        # the code projects only after a step
        return np.full(len(signs), self.C / 2.0) if self.mode == "code" else super()._first_dual(signs)

    def _option(self, name):
        """Return an option of the search, or what the mode means by None."""
        value = getattr(self, name, None)
        return MODES[self.mode].get(name) if value is None else value

    @property
    def start_std_(self) -> float:
        """Return the standard deviation of the entries of a start, once the map has been drawn."""
        return self._as_fitted()._option("initial_std") or VARIANCE_OF_START**0.5 * self.kernel_.frequency_scale

    def _climb(self):
        """Return how a copy climbs."""
        step_size, noise, decay = map(self._option, ("step_size", "noise", "decay"))
        return Climb(self.n_steps, step_size, noise, decay, self.mode == "text", self.step_factor, self.noise_factor)

    def _searcher(self, X):
        peaks, how, tries = PeakSearch(X, self.device), self._climb(), 1
        if self.search == "random":
            how, tries = Climb(n_steps=0), how.evaluations

        def search(weights, number):
            rng = np.random.default_rng([self._search_seed, number])
            best = {"frequencies": self._cast(np.empty((0, X.shape[1]))), "potentials": self._cast(np.empty(0))}
            for _ in range(tries):
                starts = self._cast(self.start_std_ * rng.standard_normal((self.n_copies, X.shape[1])))
                check_frequencies(starts)
                found = peaks.climb(weights, starts, how, [self._search_seed, number])
                best = highest(joined([best, dict(zip(best, found, strict=True))]), self.components_per_round_)
            return best

        return search

    def _responses(self, X, components):
        projections = (X @ components["frequencies"].T).astype(np.float64)
        return np.cos(projections) + 1j * np.sin(projections)

    def _use(self, learned):
        self.frequencies_ = self._cast(learned["frequencies"]).copy()

    def potential(self, X, y, alpha, frequencies) -> np.ndarray:
        """Return v / n^2 at ``frequencies`` (m, d) for rows X (n, d), targets y (n,) and dual variables ``alpha`` (n,).

        Frequencies are of columns in units of their length scales, as ``frequencies_``.

        Returns
        -------
        ndarray of shape (m,), in the type of the data that the map was fitted on
        """
        X = self._rows_of_game(X)
        weights = class_signs(y, self.method) * alpha / X.shape[0]
        return PeakSearch(X, self.device).evaluate(weights, self._cast(frequencies))


def highest(components: dict, count: int) -> dict:
    """Return the ``count`` components of the largest potential, largest first."""
    order = np.argsort(-components["potentials"], kind="stable")[:count]
    return {name: values[order] for name, values in components.items()}
