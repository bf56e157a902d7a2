"""Made-up results of the experiments of EERF for the tests of its tables, figures and claims.

The rows have the form of a real run; their values follow simple laws: errors fall with the number of features, those of
methods that use the labels from a better start.
"""

import itertools
import json

import numpy as np

#: Data set: kernel, largest number of features, rows, columns, whether it is a regression.
SETS = {
    "buzz": ("gaussian", 1000, (93800, 46200), 77, True),
    "news": ("gaussian", 200, (26561, 13083), 58, True),
    "adult": ("gaussian", 100, (32561, 16281), 122, False),
    "mnist": ("gaussian", 450, (60000, 10000), 784, False),
    "year": ("arccos1", 1000, (463715, 51630), 90, True),
    "letter": ("arccos2", 100, (15000, 5000), 16, False),
    "har": ("linear", 80, (7352, 2947), 561, False),
    "letter-halves": ("arccos2", 100, (15000, 5000), 16, False),
}

#: How far the errors of a method fall, and how soon.
ERRORS = {"rff": 12.0, "orf": 11.5, "ses": 11.8, "karff": 11.0, "kprff": 10.0}

RHO = [0.01, 1.0, 100.0]


def row(dataset, method, metric, value, m, **columns):
    """One row of a data set of the paper, of the experiment eerf-text where nothing else is said."""
    kernel, _, (n_train, n_test), d, _ = SETS[dataset]
    shared = {
        "origin": "measured", "run": "r1", "preset": "laptop", "paper": "eerf", "experiment": "eerf-text",
        "protocol": "text", "dataset": dataset, "kernel": kernel, "method": method, "n_features": m,
        "n_features_label": str(m), "n_columns": m, "repeat": 0, "n_train": n_train, "n_test": n_test, "d": d,
        "status": "ok", "settings": {},
    }  # fmt: skip
    return shared | {"metric": metric, "value": value} | columns


def steps(dataset, n=10):
    """Numbers of features, evenly up to the largest one."""
    return [SETS[dataset][1] * (i + 1) // n for i in range(n)]


def error(method, m, largest, repeat, learner="ridge"):
    """An error in percent."""
    noise = np.random.default_rng([m, repeat, *method.encode(), *learner.encode()]).standard_normal()
    return ERRORS[method] * (0.5 + 1.0 / (0.5 + 3 * m / largest)) - (learner == "logistic") + 0.1 * noise


def error_rows(dataset, method, m, repeat, **columns):
    """The rows of one cell: the errors of a classification by both learners, or those of a regression."""
    largest, regression = SETS[dataset][1], SETS[dataset][4]
    shared = {"repeat": repeat, "split": "test"} | columns
    if regression:
        value = error(method, m, largest, repeat)
        metrics = {"relative_squared_error_pct": value, "mse": value / 100, "rmse": np.sqrt(value / 100)}
        return [row(dataset, method, name, each, m, learner="ridge", **shared) for name, each in metrics.items()]
    return [
        row(dataset, method, "error_pct", error(method, m, largest, repeat, learner), m, learner=learner, **shared)
        for learner in ("ridge", "logistic")
    ]


def methods_on(dataset):
    """The methods that apply to the kernel of a data set."""
    return ["rff", "orf", "ses", "karff", "kprff"] if SETS[dataset][0] == "gaussian" else ["rff", "karff", "kprff"]


def time_rows(dataset, method, m, rounds=5, **columns):
    """The phases of several rounds; what is learned takes as long as the training at the middle of the sizes."""
    largest = SETS[dataset][1]
    seconds = {"draw": 0.001, "transform": m / largest, "fit": m / largest, "predict_transform": 0.1, "predict": 0.01}
    seconds |= {"learn": {"kprff": 0.8, "karff": 1.0}[method]} if method in ("kprff", "karff") else {}
    return [
        row(
            dataset, method, f"time_{phase}_s", value * (1 + 0.02 * at), m, axis="round", at=float(at), repeat=None,
            learner="ridge" if phase in ("fit", "predict") else "", settings={"threads": 1},
            split="test" if phase.startswith("predict") else "train", **columns,
        )
        for at, (phase, value) in itertools.product(range(rounds), seconds.items())
    ]  # fmt: skip


def grid_rows(protocol="text", datasets=tuple(SETS)[:7], repeats=5, timed=True):
    """The rows of eerf-text, or of eerf-tuned."""
    shared = {"experiment": f"eerf-{protocol}", "protocol": protocol}
    rows = []
    for dataset in datasets:
        for method, m in itertools.product(methods_on(dataset), steps(dataset)):
            settings = {"options": {"rho": 0.01}, "penalty": 0.1} if method == "karff" else {"penalty": 0.1}
            for repeat in range(repeats):
                rows += error_rows(dataset, method, m, repeat, settings=settings, **shared)
            rows += time_rows(dataset, method, m, **shared) if timed and method != "ses" else []
        if protocol == "text":
            for m, rho, repeat in itertools.product(steps(dataset), RHO, range(repeats)):
                rows += walked(dataset, "karff", m, repeat, "divergence", rho, abs(np.log10(rho)) - 0.3, **shared)
    return rows


def walked(dataset, method, m, repeat, axis, at, worse, variant=None, **columns):
    """The rows of one cell on an axis, their errors so many points worse than off it."""
    variant = axis if variant is None and axis == "divergence" else variant or ""
    rows = error_rows(dataset, method, m, repeat, axis=axis, at=at, variant=variant, **columns)
    return [each | {"value": each["value"] + worse} for each in rows]


def pool_rows(axis, repeats=5):
    """The rows of eerf-candidates or eerf-subsample."""
    shared = {"experiment": f"eerf-{axis if axis == 'subsample' else 'candidates'}"}
    rows = []
    for dataset in tuple(SETS)[:6]:
        m = SETS[dataset][1]
        values = (
            [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
            if axis == "subsample"
            else [m * k for k in (1, 2, 5, 10, 20, 50, 100)]
        )
        baselines = [each for each in methods_on(dataset) if each in ("rff", "orf")]
        for repeat in range(repeats):
            for method in baselines if axis == "candidates" else ["rff"]:
                rows += error_rows(dataset, method, m, repeat, **shared)
            for position, (method, at) in enumerate(itertools.product(("kprff", "karff"), values)):
                worse = 2.0 / (1 + position % len(values))
                rows += walked(dataset, method, m, repeat, axis, float(at), worse, **shared)
    return rows


def ranking_rows(repeats=5):
    """The rows of eerf-ranking."""
    rows = []
    ways = {
        ("kprff", ""): 0.0,
        ("rff", ""): 2.0,
        ("kprff", "lasso"): -0.5,
        ("kprff", "omp"): -1.0,
        ("rff", "pool"): -3.0,
    }
    for dataset, pool, repeat in itertools.product(("adult", "letter-halves"), (200, 500, 1000, 2000), range(repeats)):
        for (method, variant), worse in ways.items():
            shared = {"experiment": "eerf-ranking", "axis": "candidates", "at": float(pool), "variant": variant}
            m = pool if variant == "pool" else 100
            of_cell = error_rows(dataset, method, 100, repeat, **shared)
            of_cell = [each for each in of_cell if each["learner"] == "ridge"]
            rows += [each | {"value": each["value"] + worse, "n_features": m} for each in of_cell]
            more = {"effective_rank": 40.0 - 5 * worse, "overlap_pct": 50.0 + 10 * worse}
            rows += [
                row(dataset, method, metric, value, m, split="train", repeat=repeat, **shared)
                for metric, value in more.items()
            ]
    return rows


def more_rows(repeats=5):
    """The rows of eerf-more-features."""
    shared = {"experiment": "eerf-more-features"}
    rows = []
    for dataset in tuple(SETS)[:6]:
        m = SETS[dataset][1]
        cells = [(method, m * k) for method in ("rff", "orf") if method in methods_on(dataset) for k in (1, 2, 4, 8)]
        for method, size in [*cells, ("kprff", m)]:
            for repeat in range(repeats):
                rows += error_rows(dataset, method, size, repeat, **shared)
            rows += time_rows(dataset, method, size, **shared)
    return rows


def variant_rows(experiment, variants, datasets, repeats=5, **columns):
    """Rows at the largest number of features under variants: method -> variant -> points that it is worse by."""
    rows = []
    for dataset, repeat in itertools.product(datasets, range(repeats)):
        for method, of_method in variants.items():
            for variant, worse in of_method.items():
                of_cell = error_rows(
                    dataset, method, SETS[dataset][1], repeat, experiment=experiment, variant=variant, **columns
                )
                rows += [each | {"value": each["value"] + worse} for each in of_cell]
    return rows


def reading_rows(repeats=5):
    """The rows of eerf-readings."""
    learner = {"": 0.0, "no-intercept": 0.5, "sum-of-losses": 0.25, "one-vs-rest": 0.125}
    scores = learner | {"first-rows": 0.1, "all-rows": -0.1, "uncentred": 0.3, "as-written": 2.0}
    variants = {"rff": learner, "karff": scores, "kprff": scores}
    of_classes = {"rff": learner, "kprff": learner | {"as-numbers": 1.0}}
    return [
        *variant_rows("eerf-readings", variants, ("adult",), repeats),
        *variant_rows("eerf-readings", of_classes, ("letter",), repeats),
    ]


def ablation_rows(repeats=5):
    """The rows of eerf-ablation."""
    steps_of = {"as-written": 0.0, "intercept": -0.5, "penalty": -0.6, "bandwidth": -2.0}
    variants = {"rff": steps_of, "kprff": steps_of | {"scores": -0.1, "pool": -2.5}}
    return variant_rows("eerf-ablation", variants, ("adult", "mnist", "letter"), repeats, protocol="tuned")


def theory_rows(repeats=5):
    """The rows of eerf-energy and eerf-cost."""
    rows = []
    for repeat in range(repeats):
        for scale in (1.0, 2.0, 4.0, 8.0):
            rows.append(made("score_spectrum_correlation", 1 - 0.5 / scale, repeat, axis="input_scale", at=scale))
        for n in (100, 400, 1600, 6400):
            rows.append(made("score_deviation", n**-0.5, repeat, axis="rows", at=float(n), n_train=n))
    for method, (m, n) in itertools.product(
        ("kprff", "karff"), ((100, 4000), (200, 4000), (400, 4000), (800, 4000), (100, 1000), (100, 2000), (100, 8000))
    ):
        for at, phase in itertools.product(range(5), ("draw", "learn", "transform")):
            seconds = {"draw": 1e-9 * m, "learn": 1e-7 * m * n, "transform": 1e-8 * m * n}[phase]
            rows.append(
                made(f"cpu_{phase}_s", seconds, None, axis="round", at=float(at), experiment="eerf-cost", method=method,
                     dataset=f"made-n{n}", n_features=m, n_features_label=str(m), n_train=n, settings={"threads": 1})
            )  # fmt: skip
    return rows


def made(metric, value, repeat, **columns):
    """One row of data that an experiment makes itself."""
    shared = {
        "origin": "measured", "run": "r1", "preset": "laptop", "paper": "eerf", "experiment": "eerf-energy",
        "protocol": "text", "dataset": "made-cosines", "kernel": "gaussian", "method": "kprff", "n_features": 100,
        "n_features_label": "100", "repeat": repeat, "d": 10, "n_train": 1000, "status": "ok", "settings": {},
    }  # fmt: skip
    return shared | {"metric": metric, "value": value} | columns


def fact_rows(experiments, datasets=tuple(SETS)[:7]):
    """What preprocessing found in the data."""
    return [
        row(dataset, "", "fact_duplicate_rows", 0, None, experiment=experiment, n_features=None, n_features_label="",
            n_columns=None, split="all", kernel="", repeat=None,
            settings={"split": "published", "preprocess": "standard", "detail": json.dumps(0)})
        for experiment, dataset in itertools.product(experiments, datasets)
    ]  # fmt: skip


def all_rows(repeats=5):
    """The rows of all experiments of the paper."""
    return [
        *grid_rows(repeats=repeats), *grid_rows("tuned", repeats=repeats), *pool_rows("candidates", repeats),
        *pool_rows("subsample", repeats), *ranking_rows(repeats), *more_rows(repeats), *reading_rows(repeats),
        *ablation_rows(repeats), *theory_rows(repeats), *fact_rows(("eerf-text", "eerf-tuned")),
    ]  # fmt: skip
