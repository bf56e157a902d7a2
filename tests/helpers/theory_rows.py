"""Made rows about the maps themselves: moments at pairs of points, decays of errors, and growth of costs."""

import itertools

import numpy as np
from verdict_rows import on_axis, on_circle, row

DISTANCES = (0.5, 1.0, 2.0)


def pair_row(method, metric, value, error, d=4, z=1.0, direction="random", **columns):
    """One row of a map at pairs of points at the distance z."""
    shared = {"dataset": f"pairs-{direction}-d{d}", "n_features": 2 * d, "n_features_label": "2d", "d": d}
    shared |= {"method": method} | on_axis("distance", z, direction=direction, draws=500)
    return row(metric, value, spread=error, **shared | columns)


def pair_rows(method, ratio=1.0, bias=0.0, error=0.01, repeats=2):
    """Rows of one map as the variance experiment writes them; ``ratio`` may be a function of (d, z)."""
    rows = []
    for d, direction, z, repeat in itertools.product((4, 32), ("random", "axis"), DISTANCES, range(repeats)):
        at_ratio = ratio(d, z) if callable(ratio) else ratio
        of_rff = (1 - np.exp(-(z**2))) ** 2 / (2 * 2 * d)
        metrics = {
            "variance_ratio": (at_ratio, error),
            "variance_ratio_columns": (2 * at_ratio, 2 * error),
            "kernel_variance": (at_ratio * of_rff, error * of_rff),
            "kernel_bias": (bias, error),
            "kernel_mse": (at_ratio * of_rff + bias**2, 0.01 * at_ratio * of_rff),
        }
        shared = {"experiment": "theory-variance", "repeat": repeat, "spread_kind": "standard error"}
        rows += [pair_row(method, metric, *of, d, z, direction, **shared) for metric, of in metrics.items()]
    return rows


def risk_rows(method, risks, n, decay, **columns):
    """Rows of the risks of a map by its number of features, and of the exact kernel, whose risk is one."""
    shared = {"method": method, "n_train": n, "dataset": f"circle-{decay}-n{n}"} | columns
    shared |= on_circle(decay, tolerance=0.25, draws=1, terms=9)
    sizes = [row("risk", risk, n_features=s, n_features_label=str(s), **shared) for s, risk in risks.items()]
    return [row("risk_exact", 1.0, n_features_label="exact", **shared), *sizes]


def decay_rows(method, power):
    """Errors that fall as a power of s, ``power`` a number or a function of d, with a little noise."""
    rng = np.random.default_rng(0)
    return [
        row("approximation_error_frobenius",
            s ** (power(d) if callable(power) else power) * np.exp(0.01 * rng.standard_normal()),
            experiment="theory-decay", dataset=f"points-d{d}", method=method, n_features=s, n_features_label=str(s),
            repeat=repeat, n_train=50, d=d)
        for d, s, repeat in itertools.product((2, 4, 64), (64, 128, 256, 512), range(3))
    ]  # fmt: skip


def cost_rows(method, power_of_s, power_of_d):
    """Bytes and times that grow as powers of s, at one d, and of d, at one s."""
    along = [(128, s) for s in (256, 512, 1024)] + [(d, 1024) for d in (64, 256)]
    return [
        row(metric, 3.0 * s**power_of_s * d**power_of_d, experiment="theory-scaling", dataset=f"made-d{d}",
            method=method, n_features=s, n_features_label=str(s), n_columns=2 * s, d=d, settings={"threads": 1})
        for (d, s), metric in itertools.product(along, ("stored_bytes", "time_transform_s", "time_draw_s"))
    ]  # fmt: skip
