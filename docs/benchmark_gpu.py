"""Ratios of the library to bare PyTorch on one GPU, in one run: ``python docs/benchmark_gpu.py map ridge learners``.

It needs the library's own dependencies only. A part (all of them by default) takes under four minutes on a GPU;
``--small`` tries them on any machine, at small sizes. A row is a piece of work, its time through the
library, the time of the other side, their ratio and the bar.
"""

import argparse
import os
import platform
import statistics
import sys
import time

import numpy as np
import torch

from random_features import make_map
from random_features.kernels import Gaussian
from random_features.learners.kernel_ridge import fit_kernel_ridge_by_tiles
from random_features.learners.logistic import fit_logistic
from random_features.learners.ridge import cross_validate_ridge, fit_ridge, ridge_sums
from random_features.learners.svm import cross_validate_svm

#: Timed runs after a warm-up, of which the median counts, and seconds from which the first run is enough.
RUNS, LONG = 7, 5.0

#: Rows of a block of features.
BLOCK = 8192


def seconds(work, device) -> float:
    """Return the median time of a function without arguments, after a warm-up."""

    def once():
        start = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter() - start

    first = once()
    return first if first > LONG else statistics.median(once() for _ in range(RUNS))


def dense_map(n: int, d: int, s: int, device):
    """Return the library's dense map on tensors, and bare product, cosine and sine into one result."""
    X = torch.randn(n, d, device=device)
    phi = make_map("rff", n_components=s, random_state=0).fit(X)
    W, scale = torch.from_numpy(phi.frequencies_).to(device), s**-0.5

    def bare():
        projections, features = X @ W.T, torch.empty(n, 2 * s, device=device)
        torch.cos(projections, out=features[:, :s])
        torch.sin(projections, out=features[:, s:])
        return features.mul_(scale)

    assert torch.allclose(phi.transform(X), bare(), atol=1e-4)
    return lambda: phi.transform(X), bare


def structured_map(n: int, d: int, device):
    """Return SORF on tensors, and the dense map of as many frequencies."""
    X = torch.randn(n, d, device=device)
    maps = [make_map(name, n_components=d, random_state=0).fit(X) for name in ("sorf", "rff")]
    return [lambda phi=phi: phi.transform(X) for phi in maps]


def arrays(n: int, d: int, s: int, device):
    """Return the map from NumPy to NumPy on the device, and on the CPU."""
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    maps = [make_map("rff", n_components=s, random_state=0, device=on).fit(X) for on in (str(device), "cpu")]
    return [lambda phi=phi: phi.transform(X) for phi in maps]


def learned_map(n: int, d: int, s: int, device):
    """Return leverage-score features learned from tensors, and from arrays."""
    X = torch.randn(n, d, device=device)
    there, host = make_map("lsrff", n_components=s, random_state=0), X.cpu().numpy()
    return lambda: there.fit(X), lambda: there.fit(host)


def features(n: int, n_columns: int, device):
    """Return random features (n, D) as a stream of blocks, and two columns of signs."""
    Z = torch.randn(n, n_columns, device=device) * n_columns**-0.5
    Y = (Z[:, :2] + 0.1 * torch.randn(n, 2, device=device) * n_columns**-0.5).sign().double()
    return Z, Y, lambda: ((slice(at, min(at + BLOCK, n)), Z[at : at + BLOCK]) for at in range(0, n, BLOCK))


def products(blocks, Y, n_columns: int):
    """Return Z'Z and Z'Y in float64."""
    gram = torch.zeros(n_columns, n_columns, device=Y.device, dtype=torch.float64)
    cross = torch.zeros(n_columns, Y.shape[1], device=Y.device, dtype=torch.float64)
    for rows, block in blocks():
        block = block.double()
        gram.addmm_(block.T, block)
        cross.addmm_(block.T, Y[rows])
    return gram, cross


def gram_and_solve(blocks, Y, n_columns: int, penalty: float):
    """Return the solution of ridge regression from one Gram matrix."""
    gram, cross = products(blocks, Y, n_columns)
    gram.diagonal().add_(penalty * len(Y))
    return torch.cholesky_solve(cross, torch.linalg.cholesky(gram))


def ridge_fit(n: int, n_columns: int, device):
    """Return one ridge regression of the library, and the bare Gram matrix and solution."""
    _, Y, blocks = features(n, n_columns, device)
    model = fit_ridge(blocks, Y, 1e-3, n_columns=n_columns, center="none")
    assert torch.allclose(model.coef, gram_and_solve(blocks, Y, n_columns, 1e-3), rtol=1e-3, atol=1e-4)
    return (
        lambda: fit_ridge(blocks, Y, 1e-3, n_columns=n_columns, center="none"),
        lambda: gram_and_solve(blocks, Y, n_columns, 1e-3),
    )


def ridge_path(n: int, n_columns: int, device):
    """Return a grid of 11 penalties by five folds, and one bare Gram matrix and solution."""
    _, Y, blocks = features(n, n_columns, device)
    folds, penalties = np.arange(n) % 5, np.logspace(-7, 3, 11)
    return (
        lambda: cross_validate_ridge(blocks, Y, penalties, folds, n_columns=n_columns),
        lambda: gram_and_solve(blocks, Y, n_columns, 1e-3),
    )


def streamed_sums(n: int, d: int, s: int, device):
    """Return the sums of ridge regression over features that are made block by block, and the bare products."""
    X, Y = torch.randn(n, d, device=device), torch.randn(n, 1, device=device, dtype=torch.float64)
    phi = make_map("rff", n_components=s, random_state=0).fit(X)
    W = torch.from_numpy(phi.frequencies_).to(device)

    def bare():
        parts = (slice(at, at + BLOCK) for at in range(0, n, BLOCK))
        blocks = ((rows, X[rows] @ W.T) for rows in parts)
        stream = ((rows, torch.cat([Z.cos(), Z.sin()], dim=1).mul_(s**-0.5)) for rows, Z in blocks)
        return products(lambda: stream, Y, 2 * s)

    return lambda: ridge_sums(lambda: phi.transform_blocks(X, BLOCK), Y, n_columns=2 * s), bare


def svm(n: int, n_columns: int, device):
    """Return the search of 8 C in five folds on tensors, and on arrays."""
    Z, Y, _ = features(n, n_columns, device)
    folds, grid = np.arange(n) % 5, np.logspace(-2, 3, 8)
    return of_tensors_and_arrays(
        Z, Y[:, :1], lambda blocks, Y: cross_validate_svm(blocks, Y, grid, folds, n_columns=n_columns, solver="newton")
    )


def logistic(n: int, n_columns: int, device):
    """Return one logistic regression on tensors, and on arrays."""
    Z, Y, _ = features(n, n_columns, device)
    return of_tensors_and_arrays(Z, Y[:, :1], lambda blocks, Y: fit_logistic(blocks, Y, 1e-4, n_columns=n_columns))


def of_tensors_and_arrays(Z, Y, learn):
    """Return two functions that learn from features Z (n, D) and targets as tensors, and as arrays on the CPU."""

    def blocks_of(Z):
        return lambda: ((slice(at, min(at + BLOCK, len(Z))), Z[at : at + BLOCK]) for at in range(0, len(Z), BLOCK))

    arrays = blocks_of(Z.cpu().numpy()), Y.cpu().numpy()
    return lambda: learn(blocks_of(Z), Y), lambda: learn(*arrays)


def kernel_ridge(n: int, d: int, device):
    """Return exact kernel ridge regression of the library, and by the bare kernel matrix and its Cholesky factor."""
    X = torch.rand(n, d, device=device, dtype=torch.float64)
    Y = torch.sin(4.0 * X[:, :1]) + 0.1 * torch.randn(n, 1, device=device, dtype=torch.float64)

    def bare():
        squares = (X * X).sum(dim=1)
        K = (squares[:, None] + squares).addmm_(X, X.T, alpha=-2.0).mul_(-0.5).exp_()
        K.diagonal().add_(1e-4 * n)
        return torch.cholesky_solve(Y, torch.linalg.cholesky(K))

    return lambda: fit_kernel_ridge_by_tiles(Gaussian(1.0), X, Y, 1e-4, center="none"), bare


def map_works(n: int, w: int, device):
    """Yield the rows of the part "map" for n rows: name, the two sides, bar. Numbers of columns are divided by w."""
    yield f"map of tensors, {n:,} x 54 to 1,728 columns, to bare torch", dense_map(n, 54, 864, device), "at most 1.4"
    d = 4096 // w
    yield f"map of tensors, {n // 30:,} x {d:,} to {2 * d:,}", dense_map(n // 30, d, d, device), "at most 1.4"
    yield f"sorf, {n // 30:,} x {d:,} to {2 * d:,}, to rff", structured_map(n // 30, d, device), "at most 0.5"
    yield f"arrays, {n:,} x 54 to 1,728, to the CPU", arrays(n, 54, 864, device), "at most 0.67"
    d = 10_000 // w
    yield f"arrays, {n // 50:,} x {d:,} to {2 * d:,}, to the CPU", arrays(n // 50, d, d, device), "at most 0.67"
    yield f"lsrff learns from {n // 5:,} x 54, to arrays", learned_map(n // 5, 54, 432, device), "below 1"


def ridge_works(n: int, w: int, device):
    """Yield the rows of the part "ridge"."""
    n, few, some, many, most = 29 * n // 50, 1728 // w, 3456 // w, 10_000 // w, 16_384 // w
    yield f"ridge, {n:,} x {few:,}, to Gram matrix and solution", ridge_fit(n, few, device), "at most 1.5"
    yield f"11 penalties x 5 folds, {n:,} x {some:,}, to the same", ridge_path(n, some, device), "at most 3"
    yield f"sums of {2 * n:,} x 70 to {many:,}, to products", streamed_sums(2 * n, 70, many // 2, device), "at most 1.5"
    yield (
        f"sums of {n // 4:,} x 784 to {most:,}, to products",
        streamed_sums(n // 4, 784, most // 2, device),
        "at most 1.5",
    )


def learner_works(n: int, w: int, device):
    """Yield the rows of the part "learners"."""
    n, D = n // 5, 1728 // w
    yield f"svm, 8 C x 5 folds, {n:,} x {D:,}, to arrays on the CPU", svm(n, D, device), "at most 0.01"
    yield f"logistic, {n:,} x {D:,}, to arrays on the CPU", logistic(n, D, device), "below 1"
    n = 36 * n // 100
    yield f"kernel ridge, {n:,} x 8, to matrix and factor", kernel_ridge(n, 8, device), "library under 2 s"


PARTS = {"map": map_works, "ridge": ridge_works, "learners": learner_works}


def main():
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all by default")
    options.add_argument("--device", default="cuda")
    options.add_argument("--small", action="store_true", help="fewer rows and columns, on a CPU if there is no GPU")
    chosen = options.parse_args()
    if chosen.device != "cpu" and not torch.cuda.is_available():
        if not chosen.small:
            sys.exit("skipped: PyTorch sees no CUDA device; --small tries the script on the CPU")
        chosen.device = "cpu"
    device, n, w = torch.device(chosen.device), *((5_000, 16) if chosen.small else (500_000, 1))
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or "CPU"
    print(f"{card}; {os.cpu_count()} CPU cores; torch {torch.__version__}; medians of {RUNS} runs, or one of {LONG} s")
    print(f"{'work':58} {'library':>10} {'other':>10} {'ratio':>7}  bar")
    for part in chosen.parts or PARTS:
        for name, (ours, other), bar in PARTS[part](n, w, device):
            first, second = seconds(ours, device), seconds(other, device)
            print(f"{name:58} {first:9.4f}s {second:9.4f}s {first / second:7.2f}  {bar}", flush=True)


if __name__ == "__main__":
    main()
