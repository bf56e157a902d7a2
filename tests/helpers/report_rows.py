"""Made-up results for the tests of tables and figures.

The rows have the form of a real run; their values follow simple laws (errors fall as 1/sqrt(s), accuracies rise).
"""

import itertools
import json
from collections import namedtuple

import numpy as np
import pandas as pd
import yaml
from checkouts import CONFIG, ROOT

from rfstudy import tidy
from rfstudy.data.entries import read_tasks
from rfstudy.outputs import load_reports
from rfstudy.planning.config import load_experiments
from rfstudy.report import catalogue, plots, tables, typeset
from rfstudy.report.context import Context, read_tables

METHODS = yaml.safe_load((CONFIG / "methods.yaml").read_text(encoding="utf-8"))
EXPERIMENTS = load_experiments(CONFIG)
REGISTERED = read_tasks(CONFIG / "datasets.yaml")
REPORTS = load_reports(CONFIG, EXPERIMENTS, METHODS, REGISTERED)
REFERENCE = ROOT / "data" / "reference"
NINE = ("rff", "orf", "sorf", "rom", "fastfood", "qmc", "ssf", "gq", "lsrff")
SIZES = (2, 4, 8, 16, 32)

#: Task: name in the survey, d, training and test rows, split.
TASKS = {
    "letter-am-nz": ("letter", 16, 12000, 6000, "published"), "ijcnn1": ("ijcnn1", 22, 49990, 91701, "published"),
    "covtype": ("covtype", 54, 290506, 290506, "half"), "cod-rna": ("cod-RNA", 8, 59535, 271617, "published"),
    "eeg": ("EEG", 14, 7490, 7490, "half"), "magic04": ("magic04", 10, 9510, 9510, "half"),
    "skin": ("skin", 3, 122529, 122528, "half"), "a8a": ("a8a", 123, 22696, 9865, "published"),
}  # fmt: skip
DATASETS = REGISTERED | {
    task: {
        "label": f"{name} task",
        "published_as": {"survey": name},
        "n": n_train + n_test,
        "n_train": n_train,
        "split": split,
    }
    for task, (name, d, n_train, n_test, split) in TASKS.items()
}
DATASETS["cod-rna"]["not_comparable"] = "other test rows"

#: What the surrogate leverage paper runs; its names of the data sets are the survey's.
SURROGATE = ("rff", "qmc", "lsrff", "slsrff")
SURROGATE_TASKS = ("eeg", "cod-rna", "covtype", "magic04")
DOUBLINGS = (1, 2, 4, 8, 16, 32, 64, 128)
for _task in SURROGATE_TASKS:
    DATASETS[_task]["published_as"]["slsrff"] = TASKS[_task][0]

#: Accuracy of the weighted methods over the baselines at every step of the made ablation.
STEPS = {
    "text": -0.5, "rows": -0.5, "bandwidth": -0.4, "no-factor-n": -0.4, "centred": -0.3, "folds": -0.3, "keep": 0.0,
    "columns": 0.2, "sorted": 0.2, "code": 9.0,
}  # fmt: skip


def spec_of(name, paper="survey"):
    return catalogue.specification(REPORTS, paper, name)


def context_of(rows, styles=METHODS, tasks=DATASETS):
    """The context of rows, made ones or a data frame."""
    return Context(tidy.frame(rows) if isinstance(rows, list) else rows, styles, tasks, REFERENCE)


def context_of_files(spec, results):
    """The context of a specification from tidy files."""
    return Context.of(read_tables(results), spec["experiments"], METHODS, DATASETS, REFERENCE)


def made(spec, results):
    """The table of a specification from tidy files."""
    return tables.make(context_of_files(spec, results), spec)


def as_read(table):
    """The cells of a table as people read them, all texts, and its Markdown file."""
    cells = [["" if cell is None or cell is pd.NA or cell != cell else str(cell) for cell in row]
             for row in table.frame.itertuples(index=False, name=None)]  # fmt: skip
    return pd.DataFrame(cells, columns=table.frame.columns, dtype=object), typeset.markdown(table)


Drawn = namedtuple("Drawn", "figure notes")


def picture(spec, rows=(), tasks=DATASETS):
    """The figure of a specification from rows, or from a context."""
    context = rows if hasattr(rows, "styles") else context_of(rows if len(rows) else [], tasks=tasks)
    drawn = plots.picture(context, spec)
    return Drawn(drawn.figure, drawn.notes)


def draw(spec, results, out):
    """Draw the figure of a specification from tidy files, as the stage does; the paths."""
    return plots.draw(context_of_files(spec, results), spec, out)


def run_rows(quantities, tasks, methods, repeats, sizes, **columns) -> list[dict]:
    """Rows of one run; ``quantities(task, multiple, repeat, position, method)`` are metric, learner, split and value.
    ``columns`` go into every row."""
    rows = []
    cells = itertools.product(tasks, sizes, range(repeats), enumerate(methods))
    for task, multiple, repeat, (position, method) in cells:
        _, d, n_train, n_test, _ = TASKS[task]
        shared = {
            "origin": "measured", "run": "r1", "preset": "laptop", "protocol": "text", "dataset": task,
            "kernel": "gaussian", "method": method, "n_features": multiple * d, "repeat": repeat, "n_train": n_train,
            "n_features_label": "d" if multiple == 1 else f"{multiple}d", "n_test": n_test, "d": d, "status": "ok",
            "settings": {"length_scale": 1.0},
        } | columns  # fmt: skip
        rows += [
            shared | {"metric": metric, "learner": learner, "split": split, "value": value}
            for metric, learner, split, value in quantities(task, multiple, repeat, position, method)
        ]
    return rows


def made_rows(tasks=TASKS, methods=NINE, repeats=3, sizes=SIZES, **columns) -> list[dict]:
    """Rows of one run with all measurements of the survey's Gaussian experiment."""
    rng = np.random.default_rng(0)

    def quantities(task, multiple, repeat, position, method):
        (_, d, n_train, _, _), noise = TASKS[task], rng.standard_normal(3)
        accuracy, entries = 95 - 20 / np.sqrt(multiple) + 0.02 * position, multiple * d
        error = (1 + 0.1 * position) * np.exp(0.02 * noise[0]) / np.sqrt(entries)
        yield "approximation_error_frobenius", "", "train", error
        yield "time_feature_s", "", "train", 1e-8 * n_train * entries * np.exp(0.1 * noise[1])
        yield "accuracy_pct", "ridge", "test", accuracy + noise[1]
        yield "accuracy_pct", "svm", "test", accuracy + 0.5 + noise[2]

    columns = {"paper": "survey", "experiment": "survey-gaussian-text"} | columns
    return run_rows(quantities, tasks, methods, repeats, sizes, **columns)


def surrogate_rows(
    tasks=SURROGATE_TASKS, methods=SURROGATE, repeats=10, sizes=DOUBLINGS, gain=0.0, variant="", **columns
) -> list[dict]:
    """Rows of one run with all measurements of one of the surrogate leverage paper's experiments.
    The methods that use the data are ``gain`` points more accurate, at the first size by nothing; what a split is worth
    is shared by all methods and variants of a repeat."""

    def quantities(task, multiple, repeat, position, method):
        _, d, n_train, _, _ = TASKS[task]
        of_split = 0.5 * np.random.default_rng([d, repeat]).standard_normal()
        noise = np.random.default_rng([d, multiple, repeat, *method.encode(), *variant.encode()]).standard_normal(3)
        weighted = method in ("lsrff", "slsrff") and multiple > 1
        accuracy = 82 - 14 / np.sqrt(multiple) + gain * weighted + of_split + 0.1 * noise[0]
        seconds = 1e-8 * n_train * multiple * d * (1, 1, 1 + 0.02 * multiple, 1.2)[position % 4]
        error = (1.0, 0.7, 1.1, 1.2)[position % 4] / np.sqrt(multiple * d)
        yield "accuracy_pct", "ridge", "test", accuracy
        yield "time_feature_s", "", "train", seconds * np.exp(0.05 * noise[1])
        yield "approximation_error_spectral", "", "train", error * np.exp(0.05 * noise[2])

    columns = {"paper": "slsrff", "experiment": "slsrff-text", "variant": variant} | columns
    return run_rows(quantities, tasks, methods, repeats, sizes, **columns)


def step_rows(tasks=SURROGATE_TASKS, repeats=10, steps=STEPS) -> list[dict]:
    """Rows of the surrogate leverage paper's ablation: the baselines at the first six steps, and the controls."""
    shared = {"tasks": tasks, "repeats": repeats, "sizes": (32,), "experiment": "slsrff-ablation", "protocol": "code"}
    rows = []
    for position, (step, gain) in enumerate(steps.items()):
        methods = SURROGATE if position < 6 else SURROGATE[2:]
        rows += surrogate_rows(methods=methods, gain=gain, variant=step, **shared)
    of_columns = [(method, variant, steps["columns"]) for variant in ("trace", "permuted") for method in SURROGATE[2:]]
    identity = [("slsrff", f"identity-{step}", steps[step]) for step in ("text", "code")]
    controls = [("rff", "smaller-penalty", steps["code"]), *of_columns, *identity]
    for method, variant, gain in controls:
        of_control = surrogate_rows(methods=(method,), gain=gain if method != "rff" else 0.0, variant=variant, **shared)
        rows += [
            row | {"value": row["value"] + gain} if (method, row["metric"]) == ("rff", "accuracy_pct") else row
            for row in of_control
        ]
    return [row for row in rows if row["metric"] == "accuracy_pct"]


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
