"""The exact kernels as yardstick: support vector machines on the whole kernel matrix, by kernel and by width.

It is what a feature map approximates, and what a learned kernel is held against: the experiment's own kernel at
multiples of the length scale that the bandwidth rule finds (``factor``), and kernels without a length scale, the linear
one among them, which asks whether the data need a kernel at all. One map of ``methods`` stands beside them at one size.
"""

from __future__ import annotations

import numpy as np

from rfstudy.arrays import seed_of
from rfstudy.kernels import make_kernel
from rfstudy.learners.exact import fit_kernel_svm
from rfstudy.study.engine import Cell, Job, entry_map
from rfstudy.study.rows import kernel_id
from rfstudy.study.svm_rows import accuracy_rows, fit_on

STAGES = ("measure",)
NEEDS_DATA = True
METRICS = ("accuracy_pct", "train_accuracy_pct")
RESOURCES = {"mb": 8000, "bytes_per_value": 32, "minutes": 240}

#: Keys of ``grid``: kernels without a length scale; multiples of the length scale of the experiment's own kernel; s of
#: the map; C of the hinge loss.
GRID = {
    "kernels": {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
    },
    "factors": {"$ref": "#/$defs/positives"},
    "n_features": {"$ref": "#/$defs/count"},
    "C": {"$ref": "#/$defs/positive"},
}


def cells(job: Job) -> list[Cell]:
    """One cell a repeat and kernel, of the experiment's own one a width; and one an entry."""
    grid, repeats = job.spec["grid"], job.spec["repeats"]
    given, own = {"C": grid["C"]}, job.spec["kernel"]
    named = [(other, {}) for other in grid["kernels"]] + [(own, {"factor": factor}) for factor in grid["factors"]]
    exact = [
        Cell({}, {"repeat": repeat, "kernel": kernel_id(kernel), **at}, given | {"kernel": kernel})
        for repeat in repeats
        for kernel, at in named
    ]
    places = [{"repeat": repeat, "n_features": grid["n_features"]} for repeat in repeats]
    return exact + [Cell(entry, at, given) for entry in job.spec["methods"] for at in places]


def measure(job: Job, cell: Cell, checkpoints) -> tuple[list[dict], dict]:
    """The accuracies of one kernel, or of one map, on the test and on the training rows."""
    spec, repeat = job.spec, cell.at["repeat"]
    sample = job.samples.of(repeat, spec["preprocess"])
    length_scale = job.samples.length_scale(repeat, spec["preprocess"], spec["bandwidth"])
    Y, _ = job.data.target.encode(sample.y_train)
    fit = fit_map if cell.entry else fit_kernel
    columns, settings, model, features = fit(spec, cell, sample.X_train, Y, length_scale)
    settings |= {"C": cell.given["C"], "capped": sample.capped}
    return [
        row | columns | {"repeat": repeat, "settings": settings | row["settings"]}
        for row in accuracy_rows(job, sample, model, features)
    ], {}


def fit_kernel(spec: dict, cell: Cell, X, Y, length_scale: float):
    """The machine on the exact kernel matrix: columns and settings of its rows, model, and the kernel with X (n, d)."""
    told, columns, settings = cell.given["kernel"], {}, {}
    if "factor" in cell.at:
        settings = {"length_scale": cell.at["factor"] * length_scale}
        columns = {"axis": "factor", "at": cell.at["factor"]}
    kernel, X = make_kernel(told | settings), X.astype(np.float64)
    columns |= {"kernel": kernel.name, "learner": "kernel_svm"}
    return columns, settings, fit_kernel_svm(kernel(X), Y, cell.given["C"]), lambda rows: kernel(rows.astype(float), X)


def fit_map(spec: dict, cell: Cell, X, Y, length_scale: float):
    """The machine on the features of a map: columns and settings of its rows, model, and ``transform``."""
    s = cell.at["n_features"]
    seed = seed_of(spec["seed"], "features", spec["dataset"], cell.entry["method"], s, cell.at["repeat"])
    kernel = make_kernel(spec["kernel"] | {"length_scale": length_scale})
    phi = entry_map(spec, cell.entry, kernel, s, seed).fit(X, Y[:, 0])
    columns = {"n_features": s, "n_features_label": str(s), "n_columns": phi.n_columns_, "learner": "l1_svm"}
    settings = {"length_scale": length_scale, "options": cell.entry["options"]}
    return columns, settings, fit_on(phi, X, Y, cell.given["C"]), phi.transform
