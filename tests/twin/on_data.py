"""An experiment on data that is no accuracy grid, and what the twins of all kinds of them ask of it."""

from dataclasses import dataclass

from random_features.kernels import make_kernel

from .data import Data, Sample, draw_sample, length_scale_by
from .search import id_of


@dataclass(frozen=True)
class OnData:
    """An experiment on data: ``axes`` has the coordinates of its kind."""

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
        return id_of(self.kernel_of_maps or {"name": "gaussian"})


def sample_of(study: OnData, dataset: str, repeat: int) -> tuple[Sample, float | None]:
    """The rows of a repeat, and the length scale that the rule of the bandwidth finds on them."""
    scaling = study.scaling[dataset]
    length_scale = study.rule and length_scale_by(study.rule, study, dataset, scaling, repeat)
    return draw_sample(study, dataset, scaling, repeat), length_scale


def kernel_with(study: OnData, length_scale: float | None):
    """The library's kernel of an experiment."""
    own = {} if length_scale is None else {"length_scale": length_scale}
    return make_kernel((study.kernel_of_maps or {"name": "gaussian"}) | own)
