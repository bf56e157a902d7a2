"""Ratios of the library to bare PyTorch on one device, in one run: ``python docs/benchmark_gpu.py``.

It needs the library's own dependencies only, and takes under four minutes on a GPU; ``--small`` tries it on a CPU. A
row is a piece of work, its time through the library, the time of the bare operations, their ratio and the bar.
"""

import argparse
import os
import platform
import statistics
import time

import numpy as np
import torch

from random_features import make_map

#: Timed runs after a warm-up; the median counts.
RUNS = 7


def seconds(work, device) -> float:
    """Return the median time of a function without arguments, after a warm-up."""

    def once():
        start = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter() - start

    once()
    return statistics.median(once() for _ in range(RUNS))


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


def main():
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options.add_argument("--small", action="store_true", help="a hundredth of the rows")
    chosen = options.parse_args()
    device, n = torch.device(chosen.device), 5_000 if chosen.small else 500_000
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or "CPU"
    print(f"{card}; {os.cpu_count()} CPU cores; torch {torch.__version__}; medians of {RUNS} runs")
    print(f"{'work':52} {'library':>10} {'other':>10} {'ratio':>7}  bar")
    works = [
        (f"map of tensors, {n:,} x 54 to 1,728 columns, to bare torch", dense_map(n, 54, 864, device), "at most 1.4"),
        (f"map of tensors, {n // 30:,} x 4,096 to 8,192", dense_map(n // 30, 4096, 4096, device), "at most 1.4"),
        (f"sorf, {n // 30:,} x 4,096 to 8,192, to rff", structured_map(n // 30, 4096, device), "at most 0.5"),
        (f"arrays, {n:,} x 54 to 1,728, to the CPU", arrays(n, 54, 864, device), "at most 0.67"),
    ]
    for name, (ours, other), bar in works:
        first, second = seconds(ours, device), seconds(other, device)
        print(f"{name:52} {first:9.4f}s {second:9.4f}s {first / second:7.2f}  {bar}")


if __name__ == "__main__":
    main()
