"""The naive twin of the experiments without data of their own, in the manner of ``chain``: one function a kind."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from random_features.arrays import seed_of, seed_sequence
from random_features.kernels import Circle, Gaussian

from .chain import completed, gaussian, relative_error
from .learners import ridge
from .search import drawn, features, name_of, sized


@dataclass(frozen=True)
class Measurement:
    """An experiment without data of its own: ``axes`` has the coordinates of its kind."""

    kind: str
    methods: list[dict]
    axes: dict
    name: str = ""
    kernel: str = "gaussian"
    protocol: str = "text"
    repeats: int = 2
    paper: str = "slsrff"
    preset: str = "twin"
    seed: int = 7


def rows(study: Measurement) -> list[dict]:
    """All rows of an experiment, in no particular order."""
    return completed(study, globals()[f"{study.kind}_rows"](study))


def cells_of(study: Measurement, *names: str):
    """Entries x values of the named axes x repeats."""
    for entry in study.methods:
        columns = name_of(entry)
        for *values, repeat in itertools.product(*(study.axes[name] for name in names), range(study.repeats)):
            yield {"options": {}, **entry}, *values, repeat, columns | {"repeat": repeat}


def variance_rows(study: Measurement) -> list[dict]:
    """Moments of the estimate of one kernel value over independent draws, in a random direction and along an axis."""
    found, draws = [], study.axes["draws"]
    for entry, d, multiple, repeat, columns in cells_of(study, "dimensions", "multiples_of_d"):
        s = multiple * d
        seeds = seed_sequence(study.seed, "variance", entry["method"], d, s, repeat).generate_state(draws)
        randoms = np.random.default_rng(seed_sequence(study.seed, "directions", d, s, repeat)).normal(size=(draws, d))
        for direction, distance in itertools.product(("random", "axis"), study.axes["distances"]):
            estimates = []
            for draw in range(draws):
                phi = drawn(entry, Gaussian(), s, int(seeds[draw]))
                unit = randoms[draw] / np.linalg.norm(randoms[draw]) if direction == "random" else np.eye(d)[0]
                origin, point = np.zeros((1, d)), distance * unit[None, :]
                phi.fit(np.vstack([origin, point]))
                if hasattr(phi, "approximate_kernel"):
                    estimates.append(phi.approximate_kernel(origin, point)[0, 0])
                else:
                    estimates.append(phi.transform(origin)[0] @ phi.transform(point)[0])
            columns = columns | {
                "dataset": f"pairs-{direction}-d{d}", "n_features": s, "n_features_label": f"{multiple}d",
                "n_columns": phi.transform(origin).shape[1], "d": d, "axis": "distance", "at": distance,
                "spread_kind": "standard error", "settings": {"direction": direction, "draws": draws},
            }  # fmt: skip
            found += [columns | row for row in moments(np.array(estimates), distance, s, columns["n_columns"])]
    return found


def moments(estimates: np.ndarray, distance: float, s: int, n_columns: int) -> list[dict]:
    """Bias, mean squared error and variance with their standard errors, and the variance over that of plain RFF: in the
    same layout, and with as many columns."""
    n = len(estimates)
    off = estimates - np.exp(-(distance**2) / 2)
    centred = estimates - estimates.mean()
    variance = (centred**2).sum() / (n - 1)
    # the variance of a sample variance (e.g. Casella and Berger, exercise 5.8)
    variance_error = np.sqrt(max(((centred**4).mean() - (n - 3) / (n - 1) * variance**2) / n, 0.0))
    of_pairs = (1 - np.exp(-(distance**2))) ** 2 / 2  # times s
    of_layout = (of_pairs + (0.5 if n_columns == s else 0.0)) / s
    of_columns = 2 * of_pairs / n_columns
    return [
        {"metric": "kernel_bias", "value": off.mean(), "spread": np.sqrt(variance / n)},
        {"metric": "kernel_mse", "value": (off**2).mean(), "spread": np.std(off**2, ddof=1) / np.sqrt(n)},
        {"metric": "kernel_variance", "value": variance, "spread": variance_error},
        {"metric": "variance_ratio", "value": variance / of_layout, "spread": variance_error / of_layout},
        {"metric": "variance_ratio_columns", "value": variance / of_columns, "spread": variance_error / of_columns},
    ]


def decay_rows(study: Measurement) -> list[dict]:
    """Errors of the kernel matrix of normal points, in several norms and at several sizes."""
    found, n = [], study.axes["rows"]
    for entry, d, s, norm, repeat, columns in cells_of(study, "dimensions", "n_features", "norms"):
        generator = np.random.default_rng(seed_sequence(study.seed, "decay", d, repeat))
        X = generator.standard_normal((n, d)) / np.sqrt(2 * d)
        phi = drawn(entry, Gaussian(), s, seed_of(study.seed, "decay", entry["method"], d, s, repeat)).fit(X)
        Z = features(phi, X)
        ridge = n * study.axes["ridge"]
        row = {
            "dataset": f"points-d{d}", "n_columns": Z.shape[1], "n_train": n, "d": d,
            "metric": f"approximation_error_{norm}", "value": relative_error(gaussian(X, 1.0), Z @ Z.T, norm, ridge),
            "settings": {"ridge": ridge} if norm == "delta_spectral" else {},
        }  # fmt: skip
        found.append(columns | sized(s) | row)
    return found


def surrogate_rows(study: Measurement) -> list[dict]:
    """The ridge leverage function and its surrogate at frequencies of the kernel, and their integrals."""
    found, draws = [], study.axes["draws"]
    for entry, d, n, repeat, columns in cells_of(study, "dimensions", "sample_sizes"):
        generator = np.random.default_rng(seed_sequence(study.seed, "surrogate", d, n, repeat))
        X, W = generator.standard_normal((n, d)), generator.standard_normal((draws, d))
        y, K, Z = np.where(X[:, 0] > 0, 1.0, -1.0), gaussian(X, 1.0), np.exp(-1j * X @ W.T)
        # the second term of the surrogate: |z|^2 = n
        identity = 1 if entry["options"].get("identity") else 0
        for penalty, rule in [*((penalty, "fixed") for penalty in study.axes["penalties"]), (n**-0.5, "n^(-1/2)")]:
            inverse = np.linalg.inv(K + n * penalty * np.eye(n))
            leverage = np.array([(z.conj() @ inverse @ z).real for z in Z.T])
            surrogate = (np.abs(y @ Z) ** 2 + identity * n * n) / (n**2 * penalty)
            values = {
                "leverage_ratio_least": (surrogate / leverage).min(),
                "leverage_ratio_below": np.mean(surrogate < leverage),
                "total_surrogate_leverage": (y @ K @ y + identity * n * np.trace(K)) / (n**2 * penalty),
                "total_surrogate_bound": 2 * np.trace(K) / (n * penalty),
                "total_leverage": np.trace(K @ inverse),
            }
            columns |= {"dataset": f"labelled-d{d}-n{n}", "n_train": n, "d": d, "axis": "penalty", "at": penalty}
            columns |= {"settings": {"rule": rule, "frequencies": draws}}
            found += [columns | {"metric": metric, "value": value} for metric, value in values.items()]
    return found


def requirement_rows(study: Measurement) -> list[dict]:
    """The risk of ridge regression on the circle, with the exact kernel and with s = 4, 8, ... features, upwards until
    two sizes running are within the tolerance of the exact kernel.
    """
    axes, found = study.axes, []
    for entry, decay, n in itertools.product(study.methods, axes["decays"], axes["sample_sizes"]):
        entry = {"variant": "", "options": {}, **entry}
        penalty, harmonics = n**-0.5, np.arange(1, axes["terms"] + 1)
        mass = {"exponential": np.exp(-harmonics / 2), "polynomial": 1 / harmonics**2, "slowest": 1 / harmonics}[decay]
        mass = mass / mass.sum()
        shared = name_of(entry) | {"kernel": f"circle-{decay}", "dataset": f"circle-{decay}-n{n}", "learner": "ridge"}
        shared |= {"n_train": n, "n_test": axes["test_rows"], "d": 1, "split": "test"}
        shared["settings"] = {"penalty": penalty} | {key: axes[key] for key in ("terms", "draws", "tolerance")}
        samples = [circle_sample(study, n, repeat) for repeat in range(study.repeats)]
        exact = []
        for X, y, X_test, f_test in samples:
            dual = np.linalg.solve(circle_kernel(X, X, mass) + n * penalty * np.eye(n), y)
            exact.append(risk(circle_kernel(X_test, X, mass) @ dual, f_test))
        found += [
            shared | {"n_features_label": "exact", "repeat": repeat, "metric": "risk_exact", "value": value}
            for repeat, value in enumerate(exact)
        ]
        running = 0
        for s in axes["n_features"]:
            risks = []
            for repeat, (X, y, X_test, f_test) in enumerate(samples):
                of_draws = []
                for draw in range(axes["draws"]):
                    own = (entry["method"], entry["variant"], decay, n, s, repeat, draw)
                    seed = seed_of(study.seed, "requirement", *own)
                    map_features = circle_features(entry, s, seed, (X, y, penalty), decay, mass)
                    options = {"scaling": "mean", "center": "none"}
                    decide = ridge(options, map_features(X), y[:, None], penalty)
                    of_draws.append(risk(decide(map_features(X_test))[:, 0], f_test))
                risks.append(np.mean(of_draws))
            size = sized(s) | {"n_columns": 2 * s, "metric": "risk"}
            found += [shared | size | {"repeat": repeat, "value": value} for repeat, value in enumerate(risks)]
            running = running + 1 if np.mean(risks) <= (1 + axes["tolerance"]) * np.mean(exact) else 0
            if running == 2:
                break
    return found


def circle_sample(study: Measurement, n: int, repeat: int):
    """Points on [0, 1) with labels -1 and +1, and fresh points with the mean of theirs."""
    generator = np.random.default_rng(seed_sequence(study.seed, "requirement", n, repeat))
    X, X_test = generator.uniform(size=(n, 1)), generator.uniform(size=(study.axes["test_rows"], 1))

    def mean_label(x):
        return 0.5 * np.sin(2 * np.pi * x) + 0.3 * np.sin(4 * np.pi * x) + 0.15 * np.sin(6 * np.pi * x)

    y = np.where(generator.uniform(size=n) < (1 + mean_label(X[:, 0])) / 2, 1.0, -1.0)
    return X, y, X_test, mean_label(X_test[:, 0])


def circle_kernel(X: np.ndarray, Y: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """sum_j mu_j cos(2 pi j (x - y))."""
    return sum(mu * np.cos(2 * np.pi * (j + 1) * (X - Y.T)) for j, mu in enumerate(mass))


def risk(predictions: np.ndarray, f: np.ndarray) -> float:
    """The expected squared error at points whose labels are -1 and +1 with the mean f."""
    return np.mean(predictions**2 - 2 * predictions * f + 1)


def circle_features(entry: dict, s: int, seed: int, training, decay: str, mass) -> Callable:
    """The features of a map, or of harmonics that are drawn from the whole of a data-dependent distribution."""
    X, y, penalty = training
    n, options = len(y), dict(entry["options"])
    if options.pop("pool", None) != "whole":
        if entry["method"] == "lsrff":
            options = {"penalty": penalty, **options}
        phi = drawn(entry | {"options": options}, Circle(decay, len(mass)), s, seed).fit(X, y)
        return lambda points: features(phi, points)
    frequencies = 2 * np.pi * np.arange(1, len(mass) + 1)
    if entry["method"] == "lsrff":
        middle = np.linalg.inv(circle_kernel(X, X, mass) + n * penalty * np.eye(n))
    else:
        middle = np.outer(y, y) + n * np.eye(n) * (1 if options.get("identity") else 0)
    waves = [np.exp(1j * w * X[:, 0]) for w in frequencies]
    scored = mass * [(z.conj() @ middle @ z).real for z in waves]
    scored = scored / scored.sum()
    taken = np.random.default_rng(seed).choice(len(mass), size=s, p=scored)
    weights = np.sqrt(mass[taken] / (s * scored[taken]))
    drawn_ones = frequencies[taken]
    return lambda X: np.hstack([weights * np.cos(X * drawn_ones), weights * np.sin(X * drawn_ones)])


def scaling_rows(study: Measurement) -> list[dict]:
    """The bytes that plain random Fourier features keep: float32 frequencies and, in the layout "phase", phases."""
    axes, found = study.axes, []
    pairs = [(axes["fixed_dimension"], s) for s in axes["n_features"]]
    pairs += [(d, axes["fixed_n_features"]) for d in axes["dimensions"]]
    for entry, (d, s) in itertools.product(study.methods, dict.fromkeys(pairs)):
        phases = entry.get("options", {}).get("layout") == "phase"
        row = {"metric": "stored_bytes", "value": 4 * s * (d + phases), "n_columns": s if phases else 2 * s, "d": d}
        found.append(name_of(entry) | sized(s) | {"dataset": f"made-d{d}"} | row)
    return found


def energy_rows(study: Measurement) -> list[dict]:
    """Correlations of normal rows with candidates, where the target is a sum of the first of these: along the scale of
    the rows next to the spectrum of the target, along their number next to their expectation.
    """
    axes, found = study.axes, []
    d, J, K = axes["dimension"], axes["candidates"], axes["terms"]
    places = [("input_scale", scale, axes["rows"], scale) for scale in axes["input_scales"]]
    places += [("rows", n, n, axes["fixed_input_scale"]) for n in axes["sample_sizes"]]
    for entry, repeat, columns in cells_of(study):
        seed = seed_of(study.seed, "energy pool", d, J, repeat)
        pool = drawn(entry, Gaussian(), J, seed, n_candidates=J).draw(d, dtype=np.float64).pool_
        W, b = pool.frequencies, pool.phases
        for axis, at, n, scale in places:
            generator = np.random.default_rng(seed_sequence(study.seed, "energy", d, n, scale, repeat))
            X = scale * generator.standard_normal((n, d))
            c = generator.uniform(0.5, 1.5, K)
            cosines = np.cos(X @ W.T + b)
            y = cosines[:, :K] @ c
            scores = np.array([np.mean(y * np.sqrt(2) * cosines[:, j]) for j in range(J)])
            row = {"dataset": f"cosines-d{d}", "n_train": n, "d": d, "axis": axis, "at": at}
            row["settings"] = {"terms": K, "input_scale": scale}
            if axis == "rows":
                value = max(abs(scores[j] - expected_score(W, b, c, j, scale)) for j in range(J))
                row |= {"metric": "score_deviation", "value": value}
            else:
                value = np.corrcoef(np.abs(scores), np.concatenate([c, np.zeros(J - K)]))[0, 1]
                row |= {"metric": "score_spectrum_correlation", "value": value}
            found.append(columns | sized(J) | row)
    return found


def expected_score(W: np.ndarray, b: np.ndarray, c: np.ndarray, j: int, scale: float) -> float:
    """E y sqrt(2) cos(w_j.x + b_j) for normal x: a product of cosines is half the cosines of difference and sum, and
    E cos(w.x + b) = exp(-scale^2 |w|^2 / 2) cos(b).
    """

    def mean_cosine(w, angle):
        return np.exp(-(scale**2) * (w @ w) / 2) * np.cos(angle)

    halves = [mean_cosine(W[k] - W[j], b[k] - b[j]) + mean_cosine(W[k] + W[j], b[k] + b[j]) for k in range(len(c))]
    return np.sqrt(2) * sum(c * np.array(halves) / 2)
