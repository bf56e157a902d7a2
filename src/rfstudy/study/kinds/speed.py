"""The speed of the library: its maps and its ridge path compared with other code for the same work, the solver that
the SVM chooses compared with the other one, and the planning of a preset.

The experiment states the comparisons and their largest ratios. Rows of a comparison say ``what`` was timed. The rows of
one side also name the other sides and the largest time (``at_most``, by method and variant of the others, or
``at_most_s`` in seconds). The report pairs the two sides round by round.
"""

import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix

from random_features.arrays import row_blocks, seed_sequence
from random_features.kernels import make_kernel
from random_features.learners.ridge import cross_validate_ridge
from random_features.learners.svm import LIBLINEAR_ENTRIES, choose_solver, fit_svm
from random_features.maps.registry import REGISTRY
from rfstudy.data.split import fold_of_row
from rfstudy.study.engine import Job, Timed
from rfstudy.study.job import Part
from rfstudy.study.kinds.fitting import normal_points
from rfstudy.study.peers import make_peer

#: Number of rounds of units that take a minute or more.
FEW = 3

#: Rows of a block of features.
BLOCK = 8192


def kernels(spec: Part):
    """Yield pairs of a kernel and the entries whose maps are made for it. A comparison may have its own kernel."""
    for comparison in spec.grid["maps"]:
        names = {side.rpartition("-")[0] for side in comparison["of"]}
        yield comparison.get("kernel", spec.kernel), [each for each in spec.methods if each["method"] in names]


def check(spec: Part) -> None:
    """Raise ``ValueError`` for a side of a comparison that is neither a map nor a peer."""
    for comparison in spec.grid["maps"]:
        for name in {side.rpartition("-")[0] for side in (*comparison["of"], *comparison["at_most"])}:
            if name not in REGISTRY:
                make_peer(name, make_kernel(comparison.get("kernel", spec.kernel)), comparison["n_features"])


def timed(job: Job, chosen: dict) -> list[Timed]:
    """Return the units that ``time`` measures: the sides of all comparisons, those of one comparison next to each
    other.
    """
    grid = job.spec.grid
    maps = [unit for comparison in grid["maps"] for unit in timed_maps(job, comparison)]
    fits = [*timed_ridge(job.spec.seed, grid["ridge"]), *timed_svm(job.spec.seed, grid["svm"])]
    return [*maps, *fits, timed_planning(grid["planning"])]


def timed_maps(job: Job, comparison: dict) -> list[Timed]:
    """Return the sides of one comparison of maps, on the CPU. Maps that are not methods of the experiment are left
    out. With ``nonzero`` the points are sparse, with so many entries in a row.
    """
    spec, on_cpu = job.spec, replace(job, spec=job.spec | {"device": "cpu"})
    entries = {entry["method"]: entry for entry in spec.methods}
    n, d, s = (comparison[key] for key in ("rows", "dimension", "n_features"))
    kernel = make_kernel(comparison.get("kernel", spec.kernel))
    columns = {"dataset": f"made-n{n}-d{d}", "kernel": kernel.name, "n_features": s, "n_train": n, "d": d}
    units, nonzero = [], comparison.get("nonzero")
    points = normal_points(spec.seed, n, nonzero or d)
    if nonzero:
        columns_of_rows = np.random.default_rng(seed_sequence(spec.seed, "columns")).integers(d, size=points.size)
        points = csr_matrix((points.ravel(), columns_of_rows, np.arange(0, points.size + 1, nonzero)), shape=(n, d))
        points.sum_duplicates()
    for phase in comparison.get("phases", ["transform"]):
        for side in (*comparison["of"], *comparison["at_most"]):
            name, _, dtype = side.rpartition("-")
            if name in entries:
                entry = entries[name] | {"variant": dtype}
                transformer = on_cpu.entry_map(entry, kernel, s, "speed", name, s)
            elif name in REGISTRY:
                continue
            else:
                entry, transformer = {"variant": side}, make_peer(name, kernel, s)
            settings = {"what": f"{name}.{phase}, {dtype}"}
            if side in comparison["of"]:
                settings["at_most"] = comparison["at_most"]
            work = work_of(phase, transformer, points.astype(dtype, copy=False))
            units.append(Timed(entry, columns, {phase: work}, settings=settings))
    return units


def work_of(phase: str, transformer, X: np.ndarray):
    """Return the function that is called for a phase. A transformer whose transformation is timed alone is fitted
    here.
    """
    if phase == "transform":
        return partial(transformer.fit(X).transform, X)
    return lambda: transformer.fit(X).transform(X)


def timed_ridge(seed: int, grid: dict) -> list[Timed]:
    """Return the units of ridge regression: all penalties and folds, one Gram matrix with one solve, and scikit-learn's
    grid search.
    """
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV

    n, n_columns, penalties, n_folds = (grid[key] for key in ("rows", "columns", "penalties", "n_folds"))
    Z = normal_points(seed, n, n_columns)
    noise = np.random.default_rng(seed_sequence(seed, "noise")).standard_normal(n)
    y = np.sign(Z[:, 0] + 0.02 * noise)

    def blocks():
        return ((rows, Z[rows]) for rows in row_blocks(n, BLOCK))

    folds = fold_of_row(n, n_folds, seed, "speed")
    path = partial(cross_validate_ridge, blocks, y[:, None], penalties, folds, n_columns=n_columns)
    search = GridSearchCV(Ridge(solver="cholesky"), {"alpha": penalties}, cv=n_folds, refit=False)
    of_path = {"what": f"ridge, {len(penalties)} penalties x {n_folds} folds", "at_most": grid["at_most"]}
    columns = {"dataset": f"made-n{n}", "n_columns": n_columns, "n_train": n}
    sides = {
        "path": (path, of_path, None),
        "one-solve": (partial(solved_once, Z, y), {"what": "one Gram matrix, one solve, float64"}, None),
        "grid-search": (partial(search.fit, Z, y), {"what": "GridSearchCV(Ridge), float32"}, FEW),
    }
    return [Timed({"variant": name}, columns, {"fit": fit}, "ridge", *how) for name, (fit, *how) in sides.items()]


def timed_svm(seed: int, grid: dict) -> list[Timed]:
    """Return the units of linear SVMs on both sides of the border between the solvers: the chosen one and the other."""
    units, D = [], grid["columns"]
    for n in (LIBLINEAR_ENTRIES // (2 * D), 2 * LIBLINEAR_ENTRIES // D):
        Z = normal_points(seed, int(n), D)
        noise = np.random.default_rng(seed_sequence(seed, "noise")).standard_normal(len(Z))
        y = np.sign(Z[:, 0] * np.sqrt(D) + noise)
        blocks = partial(iter, [(slice(0, len(Z)), Z)])
        chosen = choose_solver(Z.size, "auto")
        for solver, other in (("liblinear", "newton"), ("newton", "liblinear")):
            settings = {"what": f"svm, {solver}"} | ({"at_most": {other: grid["at_most"]}} if solver == chosen else {})
            fit = partial(fit_svm, blocks, y, grid["C"], n_columns=D, solver=solver)
            columns = {"dataset": f"made-n{len(Z)}", "n_columns": D, "n_train": len(Z)}
            units.append(Timed({"variant": solver}, columns, {"fit": fit}, "svm", settings))
    return units


def solved_once(Z, y: np.ndarray) -> np.ndarray:
    """Return the coefficients (D,) of ridge regression on Z (n, D), with the penalty 1."""
    Z = Z.astype(np.float64)
    gram = Z.T @ Z
    gram[np.diag_indices(len(gram))] += 1.0
    return scipy.linalg.solve(gram, Z.T @ y, assume_a="pos", overwrite_a=True)


def timed_planning(grid: dict) -> Timed:
    """Return the unit that plans a preset: a dry-run of all its outputs, in a separate process, in the folder of the
    workflow.
    """
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--nolock", "--quiet", "all", "--cores", "2"]
    command += ["--configfile", f"config/presets/{grid['preset']}.yaml"]
    settings = {"what": f"dry-run of the preset {grid['preset']}", "at_most_s": grid["at_most_s"]}
    phases = {"plan": partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)}
    return Timed({"variant": "dry-run"}, {}, phases, settings=settings)
