"""The kinds of experiments by name: the keys of their grids, and the facts that planning needs.

A kind is a module of this folder, which computes (``rfstudy.study.engine.KindModule`` states what it defines), and an
entry here, which planning reads without the libraries that compute. Importing this module loads nothing heavy.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from annotated_types import Ge, MinLen, Predicate

from rfstudy.fields import Count, Counts, Positive, Positives, Share, Some, distinct


@dataclass(frozen=True)
class Kind:
    """The facts about a kind of experiment.

    Attributes
    ----------
    grid : the keys of its ``grid``, a ``TypedDict``; None if its axes are keys of the experiment
    metrics : what it measures on data, one row each where data are missing; None for a kind without data
    mb : memory of a job without its data
    bytes_per_value : memory per value of the data (n x d)
    stage : the stage that computes its cells; empty for a kind that only measures times
    axes : by coordinate of a cell, the key of the grid that lists its values: there is a cell for each combination,
        entry and repeat; None if the kind lists its cells itself
    timed : whether the stage ``time`` measures it
    options : by option of an entry that belongs to the kind and not to the map, its values
    bytes_per_gram : memory per entry of a matrix over the columns of the features (at most n of them)
    kept_bytes : up to so many bytes the features stay in memory
    bytes_per_pair : memory per entry of the matrix of the exact kernel
    by_cholesky, rank : most rows that the exact kernel solves by Cholesky's factor; rank of the preconditioner for more
    """

    grid: type | None
    metrics: tuple[str, ...] | None
    mb: int
    bytes_per_value: int = 0
    stage: str = "measure"
    axes: dict[str, str] | None = None
    timed: bool = False
    options: dict[str, tuple[str, ...]] = field(default_factory=dict)
    bytes_per_gram: int = 0
    kept_bytes: int = 0
    bytes_per_pair: int = 0
    by_cholesky: int = 0
    rank: int = 0

    @property
    def needs_data(self) -> bool:
        """Return whether the kind needs data."""
        return self.metrics is not None


class Controls(TypedDict):
    """`learners`: what predicts (see `study/yardsticks.py`). `most_rows`: training rows of the exact kernel and xRFM.
    The exact kernel chooses from `factors` of the median distance and `penalties`, on `splits` of a few rows; each
    scores the share `held_out`.
    """

    learners: Annotated[
        list[Literal["majority", "nearest_neighbour", "linear", "boosting", "exact_kernel", "xrfm"]], *Some
    ]
    most_rows: NotRequired[Count]
    factors: NotRequired[Positives]
    penalties: NotRequired[Positives]
    splits: NotRequired[Count]
    held_out: NotRequired[Share]


class Counterexample(TypedDict):
    """The kernel matrix of the training points and, last, of a new one (`gram`), the `labels` of the training points,
    the `target` at the new one. Lambda (`penalty`), and the possible `entries` of an added feature.
    """

    gram: Annotated[list[Annotated[list[float], MinLen(2)]], MinLen(2)]
    labels: Annotated[list[float], MinLen(1)]
    target: float
    penalty: Positive
    entries: Annotated[list[float], *Some]


class Crossover(TypedDict):
    """`dimensions` (d), at each of them at most `most_rows` rows and `most_entries` entries of the data, and the
    `peers` that map the same rows, by their names in src/rfstudy/study/peers.py.
    """

    dimensions: Counts
    most_entries: Count
    most_rows: Count
    peers: list[str]


class Decay(TypedDict):
    """`rows`, `dimensions` (d), `n_features` (s), `norms` of the error, and `ridge`: the penalty lambda that the norm
    of the spectral approximation adds to the diagonal, times the number of rows.
    """

    rows: Count
    dimensions: Counts
    n_features: Counts
    norms: Annotated[list[Literal["sup", "l2", "frobenius", "spectral", "delta_spectral"]], *Some]
    ridge: Positive


class Energy(TypedDict):
    """`dimension` (d), `candidates` of the pool, `terms` of the target, `input_scales` of the rows at n = `rows`, and
    `sample_sizes` (n) at the `fixed_input_scale`.
    """

    dimension: Count
    candidates: Count
    terms: Count
    rows: Count
    input_scales: Positives
    fixed_input_scale: Positive
    sample_sizes: Counts


class Evaluations(TypedDict):
    """`n_features` (s), the budgets `evaluations`, and `C` of the hinge loss."""

    n_features: Count
    evaluations: Counts
    C: Positive


class Exact(TypedDict):
    """`kernels` without a length scale, `factors` of the length scale of the experiment's own kernel, `combined`:
    whether their best combination is learned instead, `n_features` (s) of the maps, and `C` of the hinge loss.
    """

    kernels: list[dict[str, Any]]
    factors: Positives
    n_features: Count
    C: Positive
    combined: bool


class Fitting(TypedDict):
    """`rows` (n) while `n_features` (s) varies, `fixed_n_features` while `sample_sizes` (n) varies, at
    `fixed_dimension` (d).
    """

    fixed_dimension: Count
    rows: Count
    n_features: Counts
    fixed_n_features: Count
    sample_sizes: Counts


class Frontier(TypedDict):
    """Numbers of training rows `n_train` and of test rows `n_test`, and the columns `n_columns` (D) of the maps."""

    n_train: Counts
    n_test: Count
    n_columns: Counts


class Path(TypedDict):
    """`rows` (at most n, drawn from the training rows), `ratios` (s/n), the stated `penalty`, the `penalties` to choose
    from, and `draws`: paths per repeat, each with its own rows and its own map.
    """

    rows: Count
    ratios: Positives
    penalty: Positive
    penalties: Positives
    draws: Count


class Peaks(TypedDict):
    """`steps`: the numbers of steps of the search."""

    steps: Counts


class Penalties(TypedDict):
    """`multiples_of_d` (s), and `penalties`: what is added to the diagonal of Z'Z, as it is on the axis `penalty`,
    times the mean squared length of the features on the axis `effective_penalty`.
    """

    multiples_of_d: Counts
    penalties: Positives


class Ranking(TypedDict):
    """`candidates` of the pool, `n_features` that are chosen, and the `penalties` and `n_folds` of the ridge regression
    on them.
    """

    candidates: Counts
    n_features: Count
    penalties: Positives
    n_folds: Annotated[int, Ge(2)]


class Requirement(TypedDict):
    """`decays` of the eigenvalues, `sample_sizes` (n), `n_features` (s, in the order in which they are tried), and
    `terms` (harmonics of the kernel). There are `draws` of a map per repeat, `test_rows`, and the `tolerance` of the
    risk relative to that of the exact kernel.
    """

    decays: Annotated[list[Literal["exponential", "polynomial", "slowest"]], *Some]
    sample_sizes: Counts
    n_features: Counts
    terms: Count
    draws: Count
    test_rows: Count
    tolerance: Positive


class Rounds(TypedDict):
    """`n_features` (m) at which the game is read, `pictures`: m at which its weights are drawn (0 is the start; the
    others are less than the largest of `n_features`), and `resolution`: points along a side of a picture.
    """

    n_features: Counts
    pictures: Annotated[list[Annotated[int, Ge(0)]], Predicate(distinct)]
    resolution: Count


class Scaling(TypedDict):
    """`rows` that are mapped, `n_features` (s) at `fixed_dimension`, and `dimensions` (d) at `fixed_n_features`."""

    rows: Count
    fixed_dimension: Count
    n_features: Counts
    fixed_n_features: Count
    dimensions: Counts


class Comparison(TypedDict):
    """The sides that are timed (`of`, each as `name-float32`), the `phases` that are timed, a `kernel` instead of the
    experiment's, the shape of the data, entries per row that are not zero (`nonzero`, for sparse data), and the largest
    ratio to each of the other sides (`at_most`).
    """

    phases: NotRequired[Annotated[list[Literal["transform", "fit_transform"]], MinLen(1)]]
    kernel: NotRequired[dict[str, Any]]
    of: Annotated[list[str], MinLen(1)]
    rows: Count
    dimension: Count
    nonzero: NotRequired[Count]
    n_features: Count
    at_most: dict[str, Positive]


class RidgePath(TypedDict):
    """The size of the problem, the grid, and the largest ratios (`at_most`) to `one-solve` and to `grid-search`."""

    rows: Count
    columns: Count
    penalties: Positives
    n_folds: Annotated[int, Ge(2)]
    at_most: dict[Literal["one-solve", "grid-search"], Positive]


class Solvers(TypedDict):
    """The `columns` and `C` of SVMs with half and twice as many entries as those from which another solver is chosen,
    and the largest ratio (`at_most`) to the one that is not chosen.
    """

    columns: Count
    C: Positive
    at_most: Positive


class Planning(TypedDict):
    """The preset that is planned, and the seconds that this may take."""

    preset: str
    at_most_s: Positive


class Speed(TypedDict):
    """`maps` (comparisons of one side or several with others, on the same rows: a side is a map or a peer of
    src/rfstudy/study/peers.py, with its type), and the path of `ridge` against one solve and a grid search. The solver
    that `svm` chooses against the other, and the `planning` of a preset in seconds.
    """

    maps: list[Comparison]
    ridge: RidgePath
    svm: Solvers
    planning: Planning


class Sweeps(TypedDict):
    """Numbers of training rows, penalties, and the methods that run at them."""

    n_train: list[Count]
    penalty: list[Positive]
    methods: Annotated[list[str], Predicate(distinct)]


class Stream(TypedDict):
    """The `kernels`, training `rows` (the first ones, at most all), `n_features` (s), rows of the kernel matrix
    (`approximation_rows`), the `penalty` of the mean loss, the training rows that are timed (`timed_rows`), and
    `sweeps`: other numbers of rows and other penalties, at which some methods run for the first kernel.
    """

    kernels: Annotated[list[dict[str, Any]], *Some]
    rows: Count
    n_features: Count
    approximation_rows: Count
    penalty: Positive
    timed_rows: Count
    sweeps: Sweeps


class Surrogate(TypedDict):
    """`dimensions` (d), `sample_sizes` (n), `penalties` (lambda, next to n^(-1/2)), and `draws` of frequencies."""

    dimensions: Counts
    sample_sizes: Counts
    penalties: Positives
    draws: Count


class Variance(TypedDict):
    """`distances` in length scales, `dimensions` (d), `multiples_of_d` (s over d), and `draws` of a map per repeat."""

    distances: Positives
    dimensions: Counts
    multiples_of_d: Counts
    draws: Count


KINDS = {
    "controls": Kind(
        Controls, ("accuracy_pct", "auc_pct", "rmse", "class_share_pct"), 900, 24,
        bytes_per_pair=24, by_cholesky=15000, rank=1500,
    ),
    "counterexample": Kind(Counterexample, None, 500),
    "crossover": Kind(Crossover, None, 3000, stage="", timed=True),
    "decay": Kind(Decay, None, 3000, axes={"d": "dimensions"}),
    "energy": Kind(Energy, None, 2000),
    "evaluations": Kind(Evaluations, ("accuracy_pct", "train_accuracy_pct"), 6000, 32, axes={"budget": "evaluations"}),
    "exact": Kind(Exact, ("accuracy_pct", "train_accuracy_pct"), 8000, 32, timed=True),
    "fitting": Kind(Fitting, None, 3000, stage="", timed=True),
    "frontier": Kind(Frontier, ("accuracy_pct", "rmse"), 8000, 24, timed=True),
    "grid": Kind(None, (), 900, 16, stage="train", timed=True, bytes_per_gram=80, kept_bytes=2**28),
    "path": Kind(Path, ("mse", "error_pct", "approximation_error_frobenius", "smallest_singular_value"), 1500, 24),
    "peaks": Kind(Peaks, ("best_potential", "selected_norm"), 3000, 32, axes={"steps": "steps"}),
    "penalties": Kind(
        Penalties, ("accuracy_pct", "mean_squared_length"), 1500, 24, axes={"multiple_of_d": "multiples_of_d"},
    ),
    "ranking": Kind(
        Ranking, ("error_pct", "effective_rank", "overlap_pct"), 3000, 24, axes={"n_candidates": "candidates"},
        options={"choice": ("score", "random", "lasso", "omp", "pool")},
    ),
    "requirement": Kind(Requirement, None, 3000, options={"pool": ("whole",)}),
    "rounds": Kind(
        Rounds,
        ("accuracy_pct", "train_accuracy_pct", "margin_objective", "margin_lower", "duality_gap", "gap_bound",
         "gap_bound_mended", "dual_violation", "distinct_features", "boundary_weight_ratio", "peak_area"),
        3000, 32, axes={},
    ),
    "scaling": Kind(Scaling, None, 3000, timed=True),
    "speed": Kind(Speed, None, 8000, stage="", timed=True),
    "stream": Kind(Stream, ("approximation_error_frobenius", "train_error_pct", "error_pct"), 5000, timed=True),
    "surrogate": Kind(Surrogate, None, 3000, axes={"d": "dimensions", "n_train": "sample_sizes"}),
    "variance": Kind(Variance, None, 3000, axes={"d": "dimensions", "multiple": "multiples_of_d"}),
}  # fmt: skip
