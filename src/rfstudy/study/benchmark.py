"""How fast the library is, within one run: whatever is compared runs in turn, and medians are taken.

Most rows are one comparison: ``value`` is time of the one side over time of the other, ``settings`` says what the sides
are, which bar the project sets itself and how long the sides took. Those of ``crossover`` are seconds per row of a map
by the number of columns. No test asserts any of this.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

from rfstudy.arrays import set_threads
from rfstudy.study.provenance import Run, write_records
from rfstudy.tidy import write

#: Of ``crossover``: the numbers of columns d, entries of the data at most, rows at most, and runs of each map.
DIMENSIONS = tuple(2**power for power in range(4, 13))
MOST_ENTRIES = 2**22
MOST_ROWS = 2**16
RUNS = 5


def run(name: str, out, threads: int) -> None:
    """The stage: run one family of comparisons and write its rows."""
    set_threads(threads)
    this_run = Run("benchmark", {"name": name}, threads)
    rows = [
        {
            "origin": "measured",
            "run": this_run.id,
            "experiment": "speed",
            "protocol": "ratios",
            "dataset": "made",
            "metric": "time_ratio",
            "status": "ok",
            "settings": row.pop("settings") | {"threads": threads},
            **row,
        }
        for row in BENCHMARKS[name]()
    ]
    write_records({this_run.id: this_run.finished()}, out)
    write(rows, out)


def paired(ours, theirs, runs: int) -> tuple[float, dict]:
    """Median over pairs of time(ours) / time(theirs), and the median seconds of each side; one warm-up each."""
    ours()
    theirs()
    pairs = np.array([(seconds(ours), seconds(theirs)) for _ in range(runs)])
    mine, other = np.median(pairs, axis=0)
    return float(np.median(pairs[:, 0] / pairs[:, 1])), {
        "seconds": round(float(mine), 4),
        "seconds_other": round(float(other), 4),
        "runs": runs,
    }


def seconds(function) -> float:
    """Wall seconds of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def comparison(method: str, what: str, against: str, bar: float, ours, theirs, runs: int, **columns) -> dict:
    """One row; ``bar`` is the largest ratio that the project allows itself."""
    ratio, times = paired(ours, theirs, runs)
    print(f"{what} / {against}: {ratio:.3f} (bar {bar:.3f})", file=sys.stderr)
    return {
        "method": method,
        "variant": against,
        "value": ratio,
        "settings": {"what": what, "against": against, "bar": bar, **times},
        **columns,
    }


def dense_map() -> list[dict]:
    """The dense map against its bare arithmetic, and against scikit-learn at the same number of columns."""
    import torch
    from sklearn.kernel_approximation import RBFSampler

    from rfstudy.maps import make_map

    n, d, s = 100_000, 54, 864
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    phi = make_map("rff", n_components=s, device="cpu", random_state=0).fit(X[:10])
    W = torch.randn(d, s)

    def bare():
        Z = np.empty((n, 2 * s), dtype=np.float32)
        target = torch.from_numpy(Z)
        projections = torch.from_numpy(X) @ W
        torch.cos(projections, out=target[:, :s])
        torch.sin(projections, out=target[:, s:])

    columns = {"n_features": s, "n_columns": 2 * s, "n_train": n, "d": d}
    what = "rff.transform, float32"

    def against_sampler(dtype, bar):
        data = X.astype(dtype)
        sampler = RBFSampler(gamma=0.5, n_components=2 * s, random_state=0).fit(data[:10])
        sides = (lambda: phi.transform(X)), (lambda: sampler.transform(data))
        return comparison("rff", what, f"RBFSampler, {dtype}", bar, *sides, 3, **columns)

    return [
        comparison("rff", what, "bare product, cos and sin", 0.7, lambda: phi.transform(X), bare, 7, **columns),
        against_sampler("float64", 1 / 15),
        against_sampler("float32", 1 / 1.5),
    ]


def structured_maps() -> list[dict]:
    """Structured maps against the dense one at s = d, trigonometry included."""
    from rfstudy.maps import make_map

    n = 16_000
    rows = []
    for d, bar in ((1024, 1 / 1.8), (4096, 1 / 5)):
        X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
        dense = make_map("rff", n_components=d, device="cpu", random_state=0).fit(X[:10])
        for method in ("sorf", "rom", "fastfood"):
            phi = make_map(method, n_components=d, device="cpu", random_state=0).fit(X[:10])
            rows.append(
                comparison(
                    method,
                    f"{method}.transform, float32",
                    f"rff.transform, d = {d}",
                    bar,
                    lambda phi=phi, X=X: phi.transform(X),
                    lambda dense=dense, X=X: dense.transform(X),
                    5,
                    n_features=d,
                    n_columns=2 * d,
                    n_train=n,
                    d=d,
                )
            )
    return rows


def ridge_path() -> list[dict]:
    """All penalties and folds of ridge against one Gram matrix with one solve, and against GridSearchCV."""
    import scipy.linalg
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV

    from rfstudy.data.split import fold_of_row
    from rfstudy.learners.ridge import cross_validate_ridge

    n, n_columns, n_folds = 50_000, 1408, 5
    penalties = [1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.5, 1, 5, 10]
    generator = np.random.default_rng(0)
    Z = generator.standard_normal((n, n_columns), dtype=np.float32) / np.float32(np.sqrt(n_columns))
    y = np.sign(Z[:, 0] + 0.02 * generator.standard_normal(n)).astype(np.float64)
    folds = fold_of_row(n, n_folds, 0)
    block = 8192

    def blocks():
        return ((slice(i, min(i + block, n)), Z[i : i + block]) for i in range(0, n, block))

    def path():
        cross_validate_ridge(
            blocks,
            y[:, None],
            penalties,
            folds,
            n_columns=n_columns,
            scaling="mean",
            center="targets",
            score="accuracy",
        )

    def one_solve():
        Z64 = Z.astype(np.float64)
        gram = Z64.T @ Z64
        gram[np.diag_indices(n_columns)] += 1.0
        scipy.linalg.solve(gram, Z64.T @ y, assume_a="pos", overwrite_a=True)

    def grid_search():
        GridSearchCV(Ridge(solver="cholesky"), {"alpha": penalties}, cv=n_folds, refit=False).fit(Z, y)

    columns = {"n_columns": n_columns, "n_train": n, "learner": "ridge"}
    what = "ridge, 11 penalties x 5 folds"
    return [
        comparison("", what, "one Gram matrix, one solve, float64", 5.0, path, one_solve, 3, **columns),
        comparison("", what, "GridSearchCV(Ridge), float32", 1 / 8, path, grid_search, 1, **columns),
    ]


def planning() -> list[dict]:
    """Planning the paper preset, a dry-run in a process of its own, against its ten seconds."""

    def dry_run():
        subprocess.run(
            [sys.executable, "-m", "snakemake", "--dry-run", "--nolock", "--quiet", "all", "--cores", "2",
             "--configfile", "config/presets/paper.yaml"],
            check=True, capture_output=True,
        )  # fmt: skip

    dry_run()
    time_s = float(np.median([seconds(dry_run) for _ in range(3)]))
    settings = {"what": "dry-run of preset paper", "against": "10 seconds", "bar": 1.0, "seconds": round(time_s, 2)}
    return [{"method": "", "variant": settings["against"], "value": time_s / 10, "settings": settings}]


def landmarks() -> list[dict]:
    """Nystroem features against scikit-learn's, with as many landmarks."""
    from sklearn.kernel_approximation import Nystroem

    from rfstudy.kernels import Gaussian
    from rfstudy.maps import make_map

    n, d, s = 20_000, 54, 500
    columns = {"n_features": s, "n_columns": s, "n_train": n, "d": d}
    rows = []
    for dtype in ("float64", "float32"):
        X = np.random.default_rng(0).standard_normal((n, d)).astype(dtype)
        phi = make_map("nystroem", Gaussian(5.0), n_components=s, device="cpu", random_state=0)
        other = Nystroem(gamma=1 / 50, n_components=s, random_state=0)
        rows += [
            comparison("nystroem", f"nystroem {what}, {dtype}", f"Nystroem {what}, {dtype}", 1.0, *sides, 5, **columns)
            for what, sides in {
                "fit and transform": (
                    lambda phi=phi, X=X: phi.fit(X).transform(X),
                    lambda other=other, X=X: other.fit(X).transform(X),
                ),
                "transform": (
                    lambda phi=phi, X=X: phi.transform(X),
                    lambda other=other, X=X: other.transform(X),
                ),
            }.items()
        ]
    return rows


def sketches() -> list[dict]:
    """The tensor sketch against scikit-learn's, at equal size."""
    from sklearn.kernel_approximation import PolynomialCountSketch

    from rfstudy.kernels import Polynomial
    from rfstudy.maps import make_map

    n, d, s = 20_000, 54, 1024
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    phi = make_map("ts", Polynomial(2, 1.0), n_components=s, device="cpu", random_state=0).fit(X[:10])
    other = PolynomialCountSketch(degree=2, coef0=1, n_components=s, random_state=0).fit(X[:10])
    what, against = "ts.transform, float32", "PolynomialCountSketch, float32"
    columns = {"n_features": s, "n_columns": s, "n_train": n, "d": d}
    return [
        comparison("ts", what, against, 1.0, lambda: phi.transform(X), lambda: other.transform(X), 5, **columns),
    ]


def crossover() -> list[dict]:
    """Seconds per row of the maps against d at s = d, float32, beside scikit-learn's at the same number of columns.

    At every d all maps run in turn, so that a busy moment of the machine meets them alike.
    """
    rows = []
    for d in DIMENSIONS:
        n = min(MOST_ROWS, MOST_ENTRIES // d)
        X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
        fitted = [(name, phi.fit(X[:10])) for name, phi in maps_at(d)]
        for _, phi in fitted:
            phi.transform(X)
        times = np.array([[seconds(lambda phi=phi, X=X: phi.transform(X)) for _, phi in fitted] for _ in range(RUNS)])
        print(f"d = {d} done", file=sys.stderr)
        rows += [
            {
                "protocol": "times",
                "kernel": kernel,
                "method": method,
                "variant": peer,
                "n_features": d,
                "n_features_label": str(d),
                "n_train": n,
                "d": d,
                "metric": "time_per_row_s",
                "value": time / n,
                "settings": {"runs": RUNS},
            }
            for ((kernel, method, peer), _), time in zip(fitted, np.median(times, axis=0), strict=True)
        ]
    return rows


def maps_at(d: int) -> list[tuple]:
    """The unfitted maps of ``crossover``, each with its kernel, its method, and its name if it is scikit-learn's."""
    from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler

    from rfstudy.kernels import Gaussian, Polynomial
    from rfstudy.maps import make_map

    ours = [("gaussian", method) for method in ("rff", "sorf", "rom", "fastfood", "scrf", "pmodel")]
    ours += [("polynomial", method) for method in ("rm", "trp", "ts")]
    kernels = {"gaussian": Gaussian(float(np.sqrt(d))), "polynomial": Polynomial(2, 1.0)}
    sampler = RBFSampler(gamma=0.5 / d, n_components=2 * d, random_state=0)
    sketch = PolynomialCountSketch(degree=2, coef0=1, n_components=d, random_state=0)
    return [
        *(
            ((kernel, method, ""), make_map(method, kernels[kernel], n_components=d, device="cpu", random_state=0))
            for kernel, method in ours
        ),
        (("gaussian", "", "RBFSampler"), sampler),
        (("polynomial", "", "PolynomialCountSketch"), sketch),
    ]


BENCHMARKS = {
    "dense-map": dense_map,
    "structured-maps": structured_maps,
    "landmarks": landmarks,
    "sketches": sketches,
    "crossover": crossover,
    "ridge-path": ridge_path,
    "planning": planning,
}
