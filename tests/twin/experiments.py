"""The experiments that the chain and its naive twin are both run on: small, of synthetic data, each there to show
something, as the last tests of ``test_twin_of_the_chain`` hold.
"""

from dataclasses import replace

import numpy as np

from .chain import Grid
from .data import Data
from .kinds import Measurement
from .on_data import OnData


def made(n: int, d: int, *, seed: int, n_classes: int = 2, noise: float = 0.3, constant: bool = False, **known):
    """Columns of different location and length; the classes are the sign, or the thirds, of a noisy wave across two of
    them. ``constant``: the last column does not vary in the published training rows, and does in the others.
    """
    generator = np.random.default_rng(seed)
    U = generator.standard_normal((n, d))
    wave = np.sin(2 * U[:, 0]) + U[:, 1] * U[:, 0] / 2 + noise * generator.standard_normal(n)
    X = U * 4.0 ** np.arange(d) / 4 + np.arange(d)
    if constant:
        X[: known["n_train"], -1] = 1.5
    y = np.searchsorted(np.quantile(wave, np.arange(1, n_classes) / n_classes), wave)
    labels = np.array([-1, 1]) if n_classes == 2 else np.arange(n_classes) + 4
    return Data(X.astype(np.float32), labels[y], **known)


HALVES = made(121, 4, seed=1)
PARTS = made(90, 4, seed=3, n_train=40)
NOWHERE = made(20, 4, seed=1, missing="the address does not answer")

STEPS, RAMPS = ({"name": "arc_cosine", "order": order} for order in (0, 1))
SQUARES = {"name": "polynomial", "degree": 2, "coef0": 1}
DISTANCES = {"name": "laplacian"}
PENALTIES = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0]
RIDGE = {"scaling": "mean", "center": "targets", "penalties": PENALTIES, "n_folds": 5}
SVM = {"C": [0.1, 1, 10, 100], "n_folds": 3}
FACTS = {
    "minimum_train": -3.25, "minimum_test": 2, "class_order_train": "mixed", "spike_rows": 3,
    "spike_rule": "far off", "constant_columns_test": [2, 3],
}  # fmt: skip


def of(method: str, variant: str = "", **options) -> dict:
    """An entry of the methods; what is different there is laid over it."""
    named = {"method": method, "variant": variant, "options": options}
    return {key: value for key, value in named.items() if value}


def alone(circle: str, **grids) -> dict:
    """A search in which one circle chooses everything."""
    found = {quantity: {"grid": grid, "tune_per": circle} for quantity, grid in grids.items()}
    return found | {"penalty": {"tune_per": circle}}


SINGULAR = Grid(
    data={"plane": made(130, 2, seed=6, noise=0.1, n_train=64)}, scaling={"plane": ["standard"]},
    methods=[
        of("rff"), of("gq", n_nodes=2),
        of("gq", "hopeless", n_nodes=2) | {"learners": {"ridge": {"penalties": [1e-25, 1e-20]}}},
        of("lsrff", "hopeless", penalty=1e-300) | {"length_scale": 1e6},
    ],
    sizes={"values": [8, 16]}, length_scale=0.8,
    learners={"ridge": RIDGE | {"penalties": [1e-25, 1e-20, 0.3, 3.0]}}, search={"penalty": {"tune_per": "size"}},
)  # fmt: skip

TUNED = Grid(
    protocol="tuned", data={"halves": HALVES}, scaling={"halves": ["minmax"]},
    methods=[of("rff"), of("lsrff", "code", mode="code", penalty=0.05), of("slsrff", mode="text")],
    sizes={"values": [6, 11]},
    learners={"ridge": RIDGE | {"center": "both", "penalties": PENALTIES[::2], "n_folds": 3}, "svm": SVM},
    # equal scalings and nearly equal length scales: what is as good as another
    search=alone(
        "method_and_size",
        preprocess=[["standard_rows"], ["minmax"], ["none", "minmax"]],
        length_scale=[0.3, 1, 1.00001],
    ),
    judge="ridge", svm_repeats=1, norm="l2", repeats=4,
)  # fmt: skip

DRAWS = replace(
    TUNED,
    sizes={"values": [6]}, learners={"ridge": RIDGE | {"penalties": PENALTIES[::2], "n_folds": 3}},
    search=alone("split", length_scale=[0.3, 1, 3]), draws=4, repeats=2,
)  # fmt: skip

GRIDS = {
    # the survey's text: one bandwidth and one penalty a size for everyone, of plain random Fourier features
    "text": Grid(
        data={"halves": made(121, 4, seed=1, stand_in="made (stand-in for nothing)", facts=FACTS)},
        scaling={"halves": ["minmax"]},
        methods=[
            of("rff"), of("qmc", sequence="halton"), of("lsrff", mode="text", penalty=0.01),
            of("slsrff", mode="text", center_targets=False), of("ssr", weights="signed"), of("sgq", node="sqrt_3"),
            of("rff", "own") | {"length_scale": 0.5},  # regardless of the choice
        ],
        sizes={"multiples_of_d": [1, 2, 8]}, learners={"ridge": RIDGE, "svm": SVM},
        # two lengths of which are as good
        search=alone("experiment", length_scale=[0.1, 0.2, 0.8, 0.80001]) | {"penalty": {"tune_per": "size"}},
        search_size={"multiples_of_d": 2}, error_rows=40, repeats=3, svm_limit=3000,
    ),
    # five kernels, of which each shares its penalties
    "kernels": Grid(
        data={"halves": HALVES}, scaling={"halves": ["standard"]},
        methods=[
            of("rff"), of("lsrff"), of("rff") | {"kernel": STEPS}, of("lsrff") | {"kernel": STEPS},
            of("gq") | {"kernel": RAMPS}, of("rm") | {"kernel": SQUARES}, of("trp") | {"kernel": SQUARES},
            of("qmc") | {"kernel": DISTANCES},
        ],
        sizes={"multiples_of_d": [1, 4]}, length_scale=2.0, learners={"ridge": RIDGE},
        search={"penalty": {"tune_per": "size"}}, repeats=3,
    ),
    # every cell its own penalty; three classes, published parts, choices on a part of the training rows
    "per-cell": Grid(
        data={"parts": made(140, 5, seed=2, n_classes=3, n_train=80, constant=True)},
        scaling={"parts": ["standard", "minmax_symmetric"]},
        methods=[of("rff"), of("rff", "phase", layout="phase"), of("slsrff"), of("nystroem")],
        sizes={"multiples_of_d": [2, 3]}, learners={"ridge": RIDGE, "svm": SVM | {"n_folds": 2}},
        search=alone("experiment", length_scale=[0.2, 0.5, 1.0]) | {"penalty": {"tune_per": "cell"}},
        search_size={"multiples_of_d": 3}, tuning_cap=50, svm_solver="auto", error_rows=30, norm="sup",
    ),
    # the code of a group: rows standardised, no factor n, centred labels; a cap that reaches both parts, one, or none
    "code": Grid(
        protocol="code",
        data={"halves": HALVES, "parts": made(100, 4, seed=3, n_train=40), "few": made(70, 4, seed=5)},
        scaling={"halves": ["standard_rows"], "parts": ["standard"], "few": ["standard_rows"]},
        methods=[
            of("rff"), of("sgq", node="sqrt_3"), of("lsrff", mode="code", penalty=0.05),
            of("slsrff", mode="code", center_targets=False), of("slsrff", "identity", mode="code", identity=True),
        ],
        sizes={"multiples_of_d": [1, 2, 4]}, largest_multiple_of_d={"parts": 2, "few": 1}, length_scale=1.0,
        learners={"ridge": RIDGE | {"scaling": "sum", "n_folds": 3}}, search={"penalty": {"tune_per": "cell"}},
        norm="spectral", cap=52,
    ),
    # scaling, bandwidth and penalty of every method at every size, for all repeats or for every repeat by itself
    "tuned": TUNED,
    "tuned-per-cell": replace(
        TUNED,
        sizes={"values": [6]}, learners={"ridge": TUNED.learners["ridge"]},
        search={quantity: how | {"tune_per": "cell"} for quantity, how in TUNED.search.items()}, tuning_cap=45,
        repeats=3,
    ),
    # from text to code, one decision at a time, next to an entry that is in no step
    "steps": Grid(
        protocol="code", data={"halves": HALVES, "parts": PARTS},
        scaling={"halves": ["minmax"], "parts": ["minmax"]},
        methods=[
            of("rff"), of("slsrff", mode="text", center_targets=False),
            of("rff", "smaller-penalty")
            | {"scaling": {"halves": ["standard_rows"]}, "length_scale": 1.5}
            | {"learners": {"ridge": {"scaling": "per_column"}}},
        ],
        steps=[
            {"name": "text"},
            {"name": "rows", "scaling": {"halves": ["standard_rows"]}},
            {"name": "bandwidth", "length_scale": 2.0},
            {"name": "no-factor-n", "learners": {"ridge": {"scaling": "sum"}}},
            {"name": "centred", "learners": {"ridge": {"center": "both"}}},
            {"name": "folds", "learners": {"ridge": {"n_folds": 3}}},
            {"name": "code", "methods": ["slsrff"], "options": {"mode": "code"}},
        ],
        sizes={"multiples_of_d": [3]}, length_scale=0.5**0.5, learners={"ridge": RIDGE | {"center": "none"}},
        search={"penalty": {"tune_per": "cell"}},
    ),
    # one quantity for each circle, from the widest to the narrowest, entries that take part in some or at some sizes
    "circles": Grid(
        protocol="tuned", data={"halves": made(101, 4, seed=22)}, scaling={"halves": ["minmax"]},
        methods=[
            of("rff"), of("rff", "by-the-rule") | {"searched": ["penalty"]},
            of("slsrff", mode="keep"),  # the choice replaces it
            of("kprff") | {"only_sizes": ["11"], "learners": {"svm": None}},
            of("karff", n_candidates=30, rho=0.5)
            | {"learners": {"ridge": {"center": "both"}}, "scaling": ["standard_rows"]},
        ],
        sizes={"multiples_of_d": [1], "values": [11]}, rule={"rule": "neighbour", "k": 3, "rows": 35},
        learners={"ridge": RIDGE | {"n_folds": 3}, "svm": SVM},
        search={
            "bandwidth": {"grid": [{"factor": 0.5}, {"factor": 3}, {"k": 9}], "tune_per": "experiment"},
            "preprocess": {"grid": [["minmax"], ["standard"]], "tune_per": "size"},
            "options": {
                "grid": {
                    "slsrff": [{"mode": "text"}, {"mode": "code"}],
                    "kprff": [{"n_candidates": 40}, {"n_candidates": 15}],
                },
                "tune_per": "method",
            },
            "penalty": {"tune_per": "method_and_size"},
        },
        search_size={"values": 11}, svm_repeats=1, repeats=4,
    ),
    # a judge that neither trained on nor learned from the rows that it judges, of which a part is searched with
    "held-out": Grid(
        protocol="tuned", data={"halves": made(150, 4, seed=1)}, scaling={"halves": ["standard"]},
        methods=[of("rff"), of("kprff", n_candidates=30), of("slsrff", mode="text")],
        sizes={"values": [5, 10]}, learners={"ridge": RIDGE | {"penalties": [1e-25, *PENALTIES]}, "l1_svm": SVM},
        search={
            "length_scale": {"grid": [0.5, 1, 4], "tune_per": "method"},
            "options": {"grid": {"kprff": [{}, {"scoring_fraction": 0.3}]}, "tune_per": "cell"},
            "penalty": {"tune_per": "method"},
        },
        search_size={"values": 10}, judge="l1_svm", held_out=0.25, tuning_cap=60, paper="nsrf",
    ),
    # an option that takes one value after another, on which the number of features that share a draw depends
    "sweep": Grid(
        data={"nowhere": NOWHERE, "parts": made(90, 4, seed=3, n_train=50)},
        scaling={"nowhere": ["none"], "parts": ["standard"]},
        methods=[
            of("rff", layout="phase"),
            of("kprff") | {"sweep": {"axis": "candidates", "option": "n_candidates", "values": [12, 30]}},
            of("karff", n_candidates=24)
            | {"sweep": {"axis": "divergence", "option": "rho", "values": [0.1, 3, 100]}}
            | {"only_sizes": ["4", "12"], "searched": []},
        ],
        sizes={"values": [4, 8, 12]}, rule={"rule": "median", "factor": 0.5}, learners={"ridge": RIDGE},
        search={"penalty": {"tune_per": "method"}}, search_size={"values": 8}, paper="eerf",
    ),
    # a map with equal features: the penalty that is best for others leaves its system singular; a map without a fit
    "singular": SINGULAR,
    "singular-everywhere": replace(
        SINGULAR,
        methods=SINGULAR.methods[:2],
        learners={"ridge": SINGULAR.learners["ridge"] | {"penalties": [1e-25, 1e-20]}},
    ),
    # the code's penalty under the bandwidth that the text's finds; the larger penalty where the score is flat
    "judge": Grid(
        protocol="code", data={"halves": HALVES}, scaling={"halves": ["minmax"]},
        methods=[of("rff"), of("lsrff", mode="code", penalty=0.05)],
        sizes={"multiples_of_d": [1, 2, 4]},
        learners={
            "ridge": RIDGE
            | {"scaling": "sum", "n_folds": 3, "penalties": [1e-3, 1e-2, 0.1, 1.0], "choice": "one_standard_error"}
        },
        search=alone("experiment", length_scale=[0.1, 0.2, 0.4]) | {"penalty": {"tune_per": "size"}},
        search_size={"multiples_of_d": 1}, of_judge={"scaling": "mean", "n_folds": 5},
    ),
    # three of the draws of each split choose bandwidth and penalty together
    "draws": DRAWS,
    "draws-per-cell": replace(DRAWS, search=DRAWS.search | {"penalty": {"tune_per": "cell"}}, draws=2),
    "singular-draws": replace(SINGULAR, search={"penalty": {"tune_per": "split"}}, draws=2),
    "singular-per-cell": replace(SINGULAR, search={"penalty": {"tune_per": "cell"}}),
    # nothing to choose from where the data could not be had
    "missing": Grid(
        data={"nowhere": NOWHERE, "parts": PARTS},
        scaling={"nowhere": ["none"], "parts": ["none"]}, methods=[of("rff")],
        sizes={"multiples_of_d": [1]}, length_scale=4.0, learners={"ridge": RIDGE, "svm": SVM},
        search={"penalty": {"tune_per": "size"}}, svm_solver="liblinear",
    ),
}  # fmt: skip

MEASUREMENTS = {
    "variance": Measurement(
        kind="variance", paper="survey",
        methods=[of("rff"), of("sorf"), of("qmc", "sobol", sequence="sobol"), of("ssr", "signed", weights="signed")],
        axes={"distances": [0.3, 1.5], "dimensions": [3, 4], "multiples_of_d": [2], "draws": 12},
    ),
    "decay": Measurement(
        kind="decay", paper="survey", methods=[of("rff"), of("orf")],
        axes={
            "rows": 25, "dimensions": [2, 5], "n_features": [8, 32], "ridge": 0.01,
            "norms": ["sup", "l2", "frobenius", "spectral", "delta_spectral"],
        },
    ),
    "surrogate": Measurement(
        kind="surrogate",
        methods=[of("slsrff"), of("slsrff", "identity", identity=True)],
        axes={"dimensions": [2, 3], "sample_sizes": [10, 20], "penalties": [0.001, 1.0], "draws": 15},
    ),
    "requirement": Measurement(
        kind="requirement", kernel="circle",
        methods=[
            of("rff"), of("lsrff", mode="text"), of("slsrff", mode="text", center_targets=False),
            of("lsrff", "whole", pool="whole"), of("slsrff", "whole", pool="whole", identity=True),
        ],
        axes={
            "decays": ["exponential", "polynomial", "slowest"], "sample_sizes": [20, 30],
            "n_features": [4, 8, 16, 32], "terms": 40, "draws": 3, "test_rows": 25, "tolerance": 0.05,
        },
        repeats=3,  # the median of two is their mean
    ),
    "memory": Measurement(
        kind="scaling", paper="survey",
        methods=[of("rff"), of("rff", "phase", layout="phase")],
        axes={"rows": 10, "fixed_dimension": 8, "n_features": [16, 32], "fixed_n_features": 16, "dimensions": [4, 8]},
    ),
    "energy": Measurement(
        kind="energy", paper="eerf", methods=[of("kprff")],
        axes={
            "dimension": 3, "candidates": 25, "terms": 4, "rows": 60, "input_scales": [0.5, 2.0],
            "fixed_input_scale": 1.5, "sample_sizes": [30, 90],
        },
    ),
}  # fmt: skip

#: Classes in a plane and on a sphere: the quadrants, and the sides of a wave around the axis.
PLANE = np.random.default_rng(8).uniform(-1, 1, (110, 2)).astype(np.float32)
SPHERE = np.random.default_rng(9).standard_normal((100, 3))
SPHERE = (SPHERE / np.linalg.norm(SPHERE, axis=1, keepdims=True)).astype(np.float32)
QUADRANTS = Data(PLANE, np.where(PLANE[:, 0] * PLANE[:, 1] > 0, 1, -1))
WAVE = Data(SPHERE, np.where(np.cos(2 * np.arctan2(SPHERE[:, 1], SPHERE[:, 0])) > 0, 7, 3), n_train=60)

#: Classes of rows on both sides of a bent border: three, and two of them.
ROWS = np.random.default_rng(10).standard_normal((110, 4)).astype(np.float32)
BENT = np.digitize(ROWS[:, 0] + 0.3 * ROWS[:, 1] ** 2, [-0.3, 0.9]) + 4

NSRF = {"n_copies": 20, "n_steps": 8, "n_peaks": 2, "dual_step": 0.004, "initial_std": 6.0, "noise": 0.05}

ON_DATA = {
    "ranking": OnData(
        kind="ranking", paper="eerf", data={"halves": made(121, 4, seed=1, stand_in="made"), "nowhere": NOWHERE},
        scaling={"halves": ["standard"], "nowhere": ["standard"]},
        methods=[
            of("rff", choice="random"), of("rff", "pool", choice="pool"), of("kprff", choice="score"),
            of("kprff", "lasso", choice="lasso"), of("kprff", "omp", choice="omp"),
        ],
        rule={"rule": "neighbour", "k": 5},
        axes={"candidates": [20, 40], "n_features": 8, "penalties": PENALTIES[::2], "n_folds": 3}, cap=50,
    ),
    "ranking-of-activations": OnData(
        kind="ranking", paper="eerf", kernel_of_maps={"name": "arc_cosine", "order": 2}, data={"parts": PARTS},
        scaling={"parts": ["standard"]},
        methods=[of("kprff", choice="score"), of("kprff", "omp", choice="omp")],
        axes={"candidates": [30], "n_features": 6, "penalties": PENALTIES, "n_folds": 4},
    ),
    "exact": OnData(
        kind="exact", data={"plane": QUADRANTS, "parts": PARTS}, scaling={"plane": ["none"], "parts": ["standard"]},
        methods=[of("rff"), of("slsrff", mode="text")], rule={"rule": "median"},
        axes={
            "kernels": [STEPS, RAMPS, {"name": "linear"}], "factors": [0.25, 1, 2], "n_features": 12, "C": 2.0,
            "combined": False,
        },
        cap=45,
    ),
    "peaks": OnData(
        kind="peaks", data={"plane": QUADRANTS, "parts": PARTS, "nowhere": NOWHERE},
        scaling={"plane": ["none"], "parts": ["standard"], "nowhere": ["none"]},
        methods=[
            of("nsrf", n_copies=20), of("nsrf", "wide", n_copies=20, initial_std=5.0, C=0.5),
            of("nsrf", "code", n_copies=20, mode="code"),
        ],
        rule={"rule": "median"}, axes={"steps": [1, 12]},
    ),
    "evaluations": OnData(
        kind="evaluations", data={"halves": HALVES, "nowhere": NOWHERE},
        scaling={"halves": ["standard"], "nowhere": ["none"]},
        methods=[
            of("rff", layout="phase"), of("karff"), of("kprff"), of("nsrf", n_peaks=2, n_steps=4),
            of("nsrf", "random", n_peaks=3, n_steps=4, search="random"),
        ],
        rule={"rule": "median"}, axes={"n_features": 7, "evaluations": [90, 250], "C": 0.5},
    ),
    "few-evaluations": OnData(
        kind="evaluations", data={"halves": HALVES}, scaling={"halves": ["standard"]},
        methods=[of("rff", layout="phase"), of("kprff")], rule={"rule": "median"},
        axes={"n_features": 7, "evaluations": [5, 12], "C": 0.5}, cap=40,
    ),
    "rounds": OnData(
        kind="rounds", data={"plane": QUADRANTS}, scaling={"plane": ["none"]},
        methods=[
            of("nsrf", **NSRF), of("nsrf", "uniform", **(NSRF | {"dual_step": 0})),
            of("nsrf", "one", **(NSRF | {"n_peaks": 1, "C": 0.3, "dual_step": 0.05})),
        ],
        rule={"rule": "median"}, axes={"n_features": [2, 6, 12], "pictures": [0, 2, 8], "resolution": 15},
    ),
    "rounds-on-the-sphere": OnData(
        kind="rounds", data={"sphere": WAVE}, scaling={"sphere": ["none"]},
        methods=[of("nsrf_sphere", degree=6, dual_step=0.01)], rule={"rule": "median"},
        axes={"n_features": [3, 10], "pictures": [0, 5], "resolution": 5},
    ),
    "path": OnData(
        kind="path", paper="survey", data={"halves": HALVES, "parts": PARTS, "nowhere": NOWHERE},
        scaling={"halves": ["standard"], "parts": ["minmax"], "nowhere": ["none"]},
        methods=[of("rff"), of("rff", "phase", layout="phase")],
        rule={"rule": "median"},
        axes={
            "rows": 16, "ratios": [0.01, 0.25, 0.5, 1, 2.5], "penalty": 1e-6, "penalties": [1e-3, 0.03, 0.1, 1.0],
            "draws": 2,
        },
        cap=45,
    ),
    "stream": OnData(
        kind="stream", paper="survey",
        data={"classes": Data(ROWS, BENT, n_train=70), "two": Data(ROWS, np.where(BENT > 4, 1, -1), n_train=50)},
        scaling={"classes": ["none"], "two": ["none"]},
        methods=[of("rff"), of("orf"), of("lsrff", mode="text")],
        rule={"rule": "median", "factor": 0.7},
        axes={
            "kernels": [{"name": "gaussian"}, {"name": "arc_cosine", "order": 1}], "rows": 60, "n_features": 8,
            "approximation_rows": 25, "penalty": 0.01, "timed_rows": 20,
            "sweeps": {"n_train": [20, 200], "penalty": [0.1], "methods": ["orf"]},
        },
    ),
}  # fmt: skip


#: All experiments, each with its key as its name.
STUDIES = {key: replace(study, name=f"twin-{key}") for key, study in (GRIDS | MEASUREMENTS | ON_DATA).items()}
