"""Made rows of the arena: errors of maps with known ratios to those of RFF, yardsticks and facts about data sets."""

import json

import numpy as np

from rfstudy import tidy

#: Regression sets and sets with labels, the first two of over 10,000 rows.
NUMBERS = ("uci-kin40k", "uci-protein", "uci-yacht", "uci-gas", "uci-wine", "uci-stock", "uci-sml", "uci-airfoil")
LABELS = ("letter", "magic04", "eeg", "sonar")
SETS = NUMBERS + LABELS
FOLDS, TEST_ROWS = 5, 400

SHARED = {
    "origin": "measured", "run": "r", "preset": "laptop", "paper": "study", "protocol": "tuned", "kernel": "gaussian",
    "split": "test", "n_train": 1600, "n_test": TEST_ROWS, "d": 4, "status": "ok", "seed": 2021, "repeat": 0,
}  # fmt: skip


def metric_of(dataset, mean):
    """Metric and value of a mean error: squared, or the share of wrong labels."""
    if dataset in LABELS:
        return {"metric": "accuracy_pct", "value": 100.0 * (1.0 - mean)}
    return {"metric": "mse", "value": mean}


def errors_by_fold(dataset, columns):
    """The errors of RFF in the folds."""
    return np.random.default_rng([SETS.index(dataset), columns]).uniform(0.2, 0.3, FOLDS)


def map_rows(ratios, sets=SETS, columns=(64, 128, 256), noise=0.001, settings=None):
    """Rows of maps: ``ratios`` has the error over RFF's by (method, variant), a number or a function of the set."""
    rng, rows = np.random.default_rng(3), []
    for dataset in sets:
        for at in columns:
            plain = errors_by_fold(dataset, at)
            for (method, variant), ratio in {("rff", ""): 1.0, **ratios}.items():
                own = ratio(dataset) if callable(ratio) else ratio
                # the noise differs between sets, so that their mean has a standard error of about noise / sqrt(sets)
                jitter = 0.0 if (method, variant) == ("rff", "") else rng.normal(0.0, noise)
                for fold, error in enumerate(plain * own * np.exp(jitter + rng.normal(0, noise / 10, FOLDS))):
                    two = method not in ("nystroem", "prf")
                    rows.append(
                        SHARED
                        | {"experiment": "arena", "dataset": dataset, "method": method, "variant": variant}
                        | {"n_features": at // 2 if two else at, "n_features_label": str(at), "n_columns": at}
                        | {"repeat": fold, "learner": "ridge", "settings": json.dumps(settings or {})}
                        | metric_of(dataset, error)
                    )
    return rows


def yardstick_rows(means, sets=SETS):
    """Rows of predictors without a map: by learner the error in every fold, a number or a function of the set."""
    rows = []
    for dataset in sets:
        for learner, mean in means.items():
            own = metric_of(dataset, mean(dataset) if callable(mean) else mean)
            if own["metric"] == "mse":
                own = {"metric": "rmse", "value": own["value"] ** 0.5}
            settings = {"split": "block_folds" if dataset == "eeg" else "folds"}
            rows += [
                SHARED
                | {"experiment": "arena-yardsticks", "dataset": dataset, "learner": learner, "repeat": fold}
                | {"settings": json.dumps(settings)}
                | own
                for fold in range(FOLDS)
            ]
    return rows


def fact_rows(dataset, **facts):
    """Rows of facts about a data set of 2,000 rows; texts are details."""
    return [
        SHARED
        | {"experiment": "arena-yardsticks", "dataset": dataset, "split": "all", "metric": f"fact_{name}"}
        | ({"settings": json.dumps({"detail": json.dumps(value)})} if isinstance(value, str) else {"value": value})
        for name, value in facts.items()
    ]


def framed(*rows):
    return tidy.frame([row for part in rows for row in part])
