"""How fast the library is: its maps and its ridge path beside what else does the same work, and its own plan.

Comparisons and the ratios that they may have at most stand in the experiment. Rows of a comparison say ``what`` was
timed; those of the one side also against which others and how long it may take (``at_most``, by method and variant of
the others, or ``at_most_s`` in seconds). The report pairs the two sides round by round.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import Annotated, Any, Literal, TypedDict

import numpy as np
import scipy.linalg
from annotated_types import Ge, MinLen

from random_features.arrays import seed_of, seed_sequence
from random_features.kernels import make_kernel
from random_features.learners.ridge import cross_validate_ridge
from random_features.maps.registry import REGISTRY
from rfstudy.data.split import fold_of_row
from rfstudy.fields import Count, Positive, Positives
from rfstudy.study.engine import Job, Timed, entry_map
from rfstudy.study.job import Part
from rfstudy.study.peers import make_peer

#: Nothing but times is measured here.
STAGES = ()
NEEDS_DATA = False
RESOURCES = {"mb": 8000, "minutes": 120}

#: Rounds of what takes a minute or more.
FEW = 3


class ComparisonOptions(TypedDict, total=False):
    """What a comparison may say: the `phases` that are timed, and a `kernel` instead of the experiment's."""

    phases: Annotated[list[Literal["transform", "fit_transform"]], MinLen(1)]
    kernel: dict[str, Any]


class Comparison(ComparisonOptions):
    """The sides that are timed (`of`, each as `name-float32`), the shape of the data, and the largest ratio to each of
    the other sides (`at_most`).
    """

    of: Annotated[list[str], MinLen(1)]
    rows: Count
    dimension: Count
    n_features: Count
    at_most: dict[str, Positive]


class RidgePath(TypedDict):
    """The size of the problem, the grid, and the largest ratios (`at_most`) to `one-solve` and to `grid-search`."""

    rows: Count
    columns: Count
    penalties: Positives
    n_folds: Annotated[int, Ge(2)]
    at_most: dict[Literal["one-solve", "grid-search"], Positive]


class Planning(TypedDict):
    """The preset that is planned, and the seconds that this may take."""

    preset: str
    at_most_s: Positive


class Grid(TypedDict):
    """`maps` (comparisons of one side or several with others, on the same rows: a side is a map or a peer of
    src/rfstudy/study/peers.py, with its type), the path of `ridge` against one solve and a grid search, and the
    `planning` of a preset in seconds.
    """

    maps: list[Comparison]
    ridge: RidgePath
    planning: Planning


def kernels(spec: Part):
    """Pairs of a kernel and the entries whose maps are made for it: a comparison may have a kernel of its own."""
    for comparison in spec.grid["maps"]:
        names = {side.rpartition("-")[0] for side in comparison["of"]}
        own = [entry for entry in spec.methods if entry["method"] in names]
        yield comparison.get("kernel", spec.kernel), own


def check(spec: Part) -> None:
    """Raise ``ValueError`` for a side of a comparison that is neither a map nor a peer."""
    for comparison in spec.grid["maps"]:
        for name in {side.rpartition("-")[0] for side in (*comparison["of"], *comparison["at_most"])}:
            if name not in REGISTRY:
                make_peer(name, make_kernel(comparison.get("kernel", spec.kernel)), comparison["n_features"])


def timed(job: Job, chosen: dict) -> list[Timed]:
    """What ``time`` takes the times of: the sides of all comparisons, those of one comparison next to each other."""
    grid = job.spec.grid
    maps = [unit for comparison in grid["maps"] for unit in timed_maps(job.spec, comparison)]
    return [*maps, *timed_ridge(job.spec.seed, grid["ridge"]), timed_planning(grid["planning"])]


def timed_maps(spec: Part, comparison: dict) -> list[Timed]:
    """The sides of one comparison of maps, on the CPU; maps that are no methods of the experiment are left out."""
    entries = {entry["method"]: entry for entry in spec.methods}
    n, d, s = (comparison[key] for key in ("rows", "dimension", "n_features"))
    kernel = make_kernel(comparison.get("kernel", spec.kernel))
    points = standard_normal((n, d), spec.seed, "maps") / np.float32(np.sqrt(d))
    columns = {"dataset": f"made-n{n}-d{d}", "kernel": kernel.name, "n_features": s, "n_features_label": str(s)}
    columns |= {"n_train": n, "d": d}
    units = []
    for phase in comparison.get("phases", ["transform"]):
        for side in (*comparison["of"], *comparison["at_most"]):
            name, _, dtype = side.rpartition("-")
            X = points.astype(dtype, copy=False)
            if name in entries:
                seed = seed_of(spec.seed, "speed", name, s)
                entry = entries[name] | {"variant": dtype}
                transformer = entry_map(spec | {"device": "cpu"}, entry, kernel, s, seed)
            elif name in REGISTRY:
                continue
            else:
                entry, transformer = {"variant": side}, make_peer(name, kernel, s)
            settings = {"what": f"{name}.{phase}, {dtype}"}
            if side in comparison["of"]:
                settings["at_most"] = comparison["at_most"]
            units.append(Timed(entry, columns, {phase: work_of(phase, transformer, X)}, settings=settings))
    return units


def work_of(phase: str, transformer, X: np.ndarray):
    """What is called for a phase; before a transformer is timed by itself, it is fitted here."""
    if phase == "transform":
        return partial(transformer.fit(X).transform, X)
    return lambda: transformer.fit(X).transform(X)


def timed_ridge(seed: int, grid: dict) -> list[Timed]:
    """All penalties and folds of ridge regression, one Gram matrix with one solve, and scikit-learn's grid search."""
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV

    n, n_columns, penalties, n_folds = (grid[key] for key in ("rows", "columns", "penalties", "n_folds"))
    Z = standard_normal((n, n_columns), seed, "ridge") / np.float32(np.sqrt(n_columns))
    y = np.sign(Z[:, 0] + 0.02 * standard_normal(n, seed, "noise")).astype(np.float64)
    folds = fold_of_row(n, n_folds, seed, "speed")
    block = 8192

    def blocks():
        return ((slice(i, min(i + block, n)), Z[i : i + block]) for i in range(0, n, block))

    def of_ridge(variant, fit, settings, rounds=None):
        return Timed({"variant": variant}, columns, {"fit": fit}, "ridge", settings, rounds)

    def path():
        cross_validate_ridge(blocks, y[:, None], penalties, folds, n_columns=n_columns)

    def one_solve():
        Z64 = Z.astype(np.float64)
        gram = Z64.T @ Z64
        gram[np.diag_indices(n_columns)] += 1.0
        scipy.linalg.solve(gram, Z64.T @ y, assume_a="pos", overwrite_a=True)

    def grid_search():
        GridSearchCV(Ridge(solver="cholesky"), {"alpha": penalties}, cv=n_folds, refit=False).fit(Z, y)

    columns = {"dataset": f"made-n{n}", "n_columns": n_columns, "n_train": n}
    what = f"ridge, {len(penalties)} penalties x {n_folds} folds"
    return [
        of_ridge("path", path, {"what": what, "at_most": grid["at_most"]}),
        of_ridge("one-solve", one_solve, {"what": "one Gram matrix, one solve, float64"}),
        of_ridge("grid-search", grid_search, {"what": "GridSearchCV(Ridge), float32"}, rounds=FEW),
    ]


def timed_planning(grid: dict) -> Timed:
    """A dry-run of all that a preset draws, in a process of its own, in the folder of the workflow."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--nolock", "--quiet", "all", "--cores", "2"]
    command += ["--configfile", f"config/presets/{grid['preset']}.yaml"]
    settings = {"what": f"dry-run of the preset {grid['preset']}", "at_most_s": grid["at_most_s"]}
    phases = {"plan": partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)}
    return Timed({"variant": "dry-run"}, {}, phases, settings=settings)


def standard_normal(shape, seed: int, *axes) -> np.ndarray:
    """Independent standard normal numbers, float32."""
    return np.random.default_rng(seed_sequence(seed, "speed", *axes)).standard_normal(shape, dtype=np.float32)
