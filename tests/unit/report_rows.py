"""Made-up results for the tests of tables and figures.

The rows have the form of a real run; their values follow simple laws (errors fall as 1/sqrt(s), accuracies rise), so
that panels look as they will.
"""

import itertools
import json
from pathlib import Path

import numpy as np
import yaml

from rfstudy import tidy
from rfstudy.report import catalogue

ROOT = Path(__file__).resolve().parents[2]
METHODS = yaml.safe_load((ROOT / "config" / "methods.yaml").read_text(encoding="utf-8"))
CATALOGUE = yaml.safe_load((ROOT / "config" / "figures.yaml").read_text(encoding="utf-8"))
REFERENCE = ROOT / "data" / "reference"
NINE = ("rff", "orf", "sorf", "rom", "fastfood", "qmc", "ssf", "gq", "lsrff")
SIZES = (2, 4, 8, 16, 32)

#: Task: name in the survey, d, training and test rows, split.
TASKS = {
    "letter-am-nz": ("letter", 16, 12000, 6000, "published"),
    "ijcnn1": ("ijcnn1", 22, 49990, 91701, "published"),
    "covtype": ("covtype", 54, 290506, 290506, "half"),
    "cod-rna": ("cod-RNA", 8, 59535, 271617, "published"),
    "eeg": ("EEG", 14, 7490, 7490, "half"),
    "magic04": ("magic04", 10, 9510, 9510, "half"),
    "skin": ("skin", 3, 122529, 122528, "half"),
    "a8a": ("a8a", 123, 22696, 9865, "published"),
}
DATASETS = {
    task: {"label": f"{name} task", "published_as": {"survey": name}, "n": n_train + n_test}
    for task, (name, d, n_train, n_test, split) in TASKS.items()
}
DATASETS["cod-rna"]["not_comparable"] = "other test rows"


def spec_of(name):
    paper = "study" if name == "speed-ratios" else "survey"
    return catalogue.specification(CATALOGUE, paper, name)


def made_rows(tasks=TASKS, methods=NINE, repeats=3, sizes=SIZES, **columns) -> list[dict]:
    """Rows of one run with all measurements of the survey's Gaussian experiment; ``columns`` go into every row."""
    rng = np.random.default_rng(0)
    rows = []
    for task, multiple, repeat, (position, method) in itertools.product(
        tasks, sizes, range(repeats), enumerate(methods)
    ):
        _, d, n_train, n_test, _ = TASKS[task]
        shared = {
            "origin": "measured", "run": "r1", "preset": "laptop", "paper": "survey",
            "experiment": "survey-gaussian-text", "protocol": "text", "dataset": task, "kernel": "gaussian",
            "method": method, "n_features": multiple * d, "n_features_label": f"{multiple}d", "repeat": repeat,
            "n_train": n_train, "n_test": n_test, "d": d, "status": "ok", "settings": {"length_scale": 1.0},
        } | columns  # fmt: skip
        noise = rng.standard_normal(3)
        accuracy = 95 - 20 / np.sqrt(multiple) + 0.02 * position
        quantities = (
            (
                "approximation_error_frobenius",
                "",
                "train",
                (1 + 0.1 * position) * np.exp(0.02 * noise[0]) / np.sqrt(multiple * d),
            ),
            ("time_feature_s", "", "train", 1e-8 * n_train * multiple * d * np.exp(0.1 * noise[1])),
            ("accuracy_pct", "ridge", "test", accuracy + noise[1]),
            ("accuracy_pct", "svm", "test", accuracy + 0.5 + noise[2]),
        )
        rows += [
            shared | {"metric": metric, "learner": learner, "split": split, "value": value}
            for metric, learner, split, value in quantities
        ]
    return rows


def fact_rows(**facts) -> list[dict]:
    """Rows of facts about all tasks, as the study's collect stage writes them."""
    rows = []
    for task, (_, d, n_train, n_test, split) in TASKS.items():
        for name, fact in facts.items():
            settings = {"split": split, "preprocess": "standard_rows"}
            number = isinstance(fact, int | float) and not isinstance(fact, bool)
            rows.append(
                {
                    "origin": "measured", "preset": "laptop", "paper": "survey", "experiment": "survey-gaussian-text",
                    "dataset": task, "split": "all", "d": d, "n_train": n_train, "n_test": n_test, "status": "ok",
                    "metric": f"fact_{name}", "value": fact if number else None,
                    "settings": settings | ({} if number else {"detail": json.dumps(fact)}),
                }
            )  # fmt: skip
    return rows


def written(tmp_path, rows, name="rows.csv"):
    path = tmp_path / name
    tidy.write(rows, path)
    return path


def changed(rows, where, **columns):
    """Rows in which those that ``where`` accepts have other columns."""
    return [row | columns if where(row) else row for row in rows]
