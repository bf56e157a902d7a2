"""Made rows of the arena: errors of maps with known ratios to those of RFF, yardsticks and facts about data sets."""

import itertools
import json

import numpy as np
from verdict_rows import row

from rfstudy import tidy

#: Regression sets and sets with labels, the first two of over 10,000 rows.
NUMBERS = ("uci-pol", "uci-protein", "uci-yacht", "uci-gas", "uci-wine", "uci-stock", "uci-sml", "uci-airfoil")
LABELS = ("letter", "ijcnn1", "eeg", "sonar")
SETS = NUMBERS + LABELS
FOLDS, TEST_ROWS = 5, 400

SHARED = {
    "paper": "study", "protocol": "tuned", "split": "test", "n_train": 1600, "n_test": TEST_ROWS, "d": 4, "seed": 2021,
}  # fmt: skip


def metric_of(dataset, mean):
    """Metric and value of a mean error: squared, or the share of wrong labels."""
    return ("accuracy_pct", 100.0 * (1.0 - mean)) if dataset in LABELS else ("mse", mean)


def errors_by_fold(dataset, columns):
    """The errors of RFF in the folds."""
    return np.random.default_rng([SETS.index(dataset), columns]).uniform(0.2, 0.3, FOLDS)


def map_rows(ratios, sets=SETS, columns=(64, 128, 256), noise=0.001, settings=None):
    """Rows of maps: ``ratios`` has the error over RFF's by (method, variant), a number or a function of the set."""
    rng, rows = np.random.default_rng(3), []
    for dataset, at in itertools.product(sets, columns):
        plain = errors_by_fold(dataset, at)
        for (method, variant), ratio in {("rff", ""): 1.0, **ratios}.items():
            own = ratio(dataset) if callable(ratio) else ratio
            # the noise differs between sets, so that their mean has a standard error of about noise / sqrt(sets)
            jitter = 0.0 if (method, variant) == ("rff", "") else rng.normal(0.0, noise)
            shared = SHARED | {"experiment": "arena", "dataset": dataset, "method": method, "variant": variant}
            shared |= {"n_features": at if method in ("nystroem", "prf") else at // 2, "n_columns": at}
            shared |= {"n_features_label": str(at), "learner": "ridge", "settings": settings or {}}
            errors = plain * own * np.exp(jitter + rng.normal(0, noise / 10, FOLDS))
            rows += [row(*metric_of(dataset, error), repeat=fold, **shared) for fold, error in enumerate(errors)]
    return rows


def yardstick_rows(means, sets=SETS):
    """Rows of predictors without a map: by learner the error in every fold, a number or a function of the set."""
    rows = []
    for dataset, (learner, mean) in itertools.product(sets, means.items()):
        metric, value = metric_of(dataset, mean(dataset) if callable(mean) else mean)
        if metric == "mse":
            metric, value = "rmse", value**0.5
        shared = SHARED | {"experiment": "arena-yardsticks", "dataset": dataset, "learner": learner}
        shared |= {"settings": {"split": "block_folds" if dataset == "eeg" else "folds"}}
        rows += [row(metric, value, repeat=fold, **shared) for fold in range(FOLDS)]
    return rows


def fact_rows(dataset, **facts):
    """Rows of facts about a data set of 2,000 rows; texts are details."""
    shared = SHARED | {"experiment": "arena-yardsticks", "dataset": dataset, "split": "all", "status": "ok"}
    texts = {name: {"detail": json.dumps(value)} for name, value in facts.items() if isinstance(value, str)}
    return [
        row(f"fact_{name}", None if name in texts else value, settings=texts.get(name, {}), **shared)
        for name, value in facts.items()
    ]


def framed(*rows):
    return tidy.frame([row for part in rows for row in part])
