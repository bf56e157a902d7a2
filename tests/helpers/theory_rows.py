"""Made rows about the maps themselves: moments at pairs of points, decays of errors, and growth of costs."""

import itertools

import numpy as np
from verdict_rows import on_axis, row

DISTANCES = (0.5, 1.0, 2.0)


def pair_rows(method, variant="", ratio=1.0, bias=0.0, error=0.01, dimensions=(4, 32), repeats=2, **changes):
    """Rows of one map as the variance experiment writes them; ``ratio`` and ``bias`` may be functions of (d, z)."""
    rows = []
    for d, direction, z, repeat in itertools.product(dimensions, ("random", "axis"), DISTANCES, range(repeats)):
        at_ratio = ratio(d, z) if callable(ratio) else ratio
        at_bias = bias(d, z) if callable(bias) else bias
        of_rff = (1 - np.exp(-(z**2))) ** 2 / (2 * 2 * d)
        metrics = {
            "variance_ratio": (at_ratio, error),
            "variance_ratio_columns": (2 * at_ratio, 2 * error),
            "kernel_variance": (at_ratio * of_rff, error * of_rff),
            "kernel_bias": (at_bias, error),
            "kernel_mse": (at_ratio * of_rff + at_bias**2, 0.01 * at_ratio * of_rff),
        }
        shared = {"method": method, "variant": variant, "n_features": 2 * d, "n_features_label": "2d", "d": d}
        shared |= {"dataset": f"pairs-{direction}-d{d}", "repeat": repeat, "spread_kind": "standard error", "seed": 1}
        shared |= on_axis("distance", z, direction=direction, draws=500) | {"experiment": "theory-variance"} | changes
        rows += [row(metric, value, spread=spread, **shared) for metric, (value, spread) in metrics.items()]
    return rows


def decay_rows(method, power, dimensions=(2, 4, 64), norms=("frobenius",), noise=0.01):
    """Errors that fall as a power of s, ``power`` a number or a function of d, with a little noise."""
    rng = np.random.default_rng(0)
    return [
        row(f"approximation_error_{norm}",
            s ** (power(d) if callable(power) else power) * np.exp(noise * rng.standard_normal()),
            experiment="theory-decay", dataset=f"points-d{d}", method=method, n_features=s, n_features_label=str(s),
            repeat=repeat, n_train=50, d=d)
        for d, norm, s, repeat in itertools.product(dimensions, norms, (64, 128, 256, 512), range(3))
    ]  # fmt: skip


def cost_rows(method, power_of_s, power_of_d):
    """Bytes and times that grow as powers of s, at one d, and of d, at one s."""
    along = [(128, s) for s in (256, 512, 1024)] + [(d, 1024) for d in (64, 256)]
    return [
        row(metric, 3.0 * s**power_of_s * d**power_of_d, experiment="theory-scaling", dataset=f"made-d{d}",
            method=method, n_features=s, n_features_label=str(s), n_columns=2 * s, d=d, settings={"threads": 1})
        for (d, s), metric in itertools.product(along, ("stored_bytes", "time_transform_s", "time_draw_s"))
    ]  # fmt: skip
