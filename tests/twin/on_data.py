"""An experiment on data that is no accuracy grid, and what the twins of all kinds of them ask of it."""

from dataclasses import dataclass

import numpy as np

from random_features.kernels import make_kernel

from .chain import gaussian
from .data import Data, Sample, draw_sample, length_scale_by


@dataclass(frozen=True)
class OnData:
    """An experiment on data: what its kind walks over stands in ``axes``."""

    kind: str
    data: dict[str, Data]
    scaling: dict[str, list[str]]  # by data set
    methods: list[dict]
    axes: dict
    name: str = ""
    rule: dict | None = None  # of the bandwidth; None where the kernel has none
    kernel_of_maps: dict | None = None  # None: Gaussian
    protocol: str = "text"
    repeats: int = 2
    cap: int | None = None
    paper: str = "nsrf"
    preset: str = "twin"
    seed: int = 7

    @property
    def kernel(self) -> str:
        """The id of the kernel in the rows."""
        named = self.kernel_of_maps or {"name": "gaussian"}
        return f"arccos{named['order']}" if "order" in named else named["name"]


def sample_of(study: OnData, dataset: str, repeat: int) -> tuple[Sample, float | None]:
    """The rows of a repeat, and the length scale that the rule of the bandwidth finds on them."""
    scaling = study.scaling[dataset]
    length_scale = study.rule and length_scale_by(study.rule, study, dataset, scaling, repeat)
    return draw_sample(study, dataset, scaling, repeat), length_scale


def kernel_with(study: OnData, length_scale: float | None):
    """The library's kernel of an experiment."""
    own = {} if length_scale is None else {"length_scale": length_scale}
    return make_kernel((study.kernel_of_maps or {"name": "gaussian"}) | own)


def exact_kernel(kernel: str, order: int | None, width: float | None, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The kernel matrix of X (n, d) and Y (m, d), float64: Gaussian, linear, or arc-cosine of order 0 or 1."""
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    if kernel == "gaussian":
        return gaussian(X, width, Y)
    if kernel == "linear":
        return X @ Y.T
    lengths = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))
    angle = np.arccos(np.clip(X @ Y.T / lengths, -1, 1))
    if order == 0:
        return 1 - angle / np.pi
    return lengths * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi
