"""The exact kernels as yardstick: support vector machines on the whole kernel matrix, by kernel and by width.

It is what a feature map approximates, and what a learned kernel is held against: the experiment's own kernel at
multiples of the length scale that the bandwidth rule finds (``factor``), and kernels without a length scale, the linear
one among them, which asks whether the data need a kernel at all. Maps of ``methods`` stand beside them at one size.
Where the grid asks for it, the best combination of all these kernels, each over the mean of its diagonal, is learned in
their place (multiple-kernel learning); it is the kernel ``combination``.
"""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np

from random_features.kernels import make_kernel
from random_features.learners.exact import fit_kernel_svm
from random_features.learners.l1_svm import fit_l1_svm
from random_features.learners.multiple_kernel import fit_multiple_kernel_svm
from rfstudy.fields import Count, Positive, Positives
from rfstudy.study.engine import Cell, Job, Timed, drawn_and_learned, entry_map, feature_seed
from rfstudy.study.job import Part, kernel_id
from rfstudy.study.svm_rows import accuracy_rows, fit_on

STAGES = ("measure",)
NEEDS_DATA = True
METRICS = ("accuracy_pct", "train_accuracy_pct")
RESOURCES = {"mb": 8000, "bytes_per_value": 32, "minutes": 240}

#: What rows call the combination.
COMBINATION = "combination"


class Grid(TypedDict):
    """`kernels` without a length scale, `factors` of the length scale of the experiment's own kernel, `combined`:
    whether their best combination is learned instead, `n_features` (s) of the maps, and `C` of the hinge loss.
    """

    kernels: list[dict[str, Any]]
    factors: Positives
    n_features: Count
    C: Positive
    combined: bool


def cells(job: Job) -> list[Cell]:
    """One cell a repeat and kernel, of the experiment's own one a width, or one a repeat for them all; one an entry."""
    grid, repeats = job.spec.grid, job.spec.repeats
    conditions = {"C": grid["C"]}
    exact = [
        Cell({}, {"repeat": repeat, **at}, conditions | told)
        for repeat in repeats
        for at, told in (combination(job.spec) if grid["combined"] else single_kernels(job.spec))
    ]
    places = [{"repeat": repeat, "n_features": grid["n_features"]} for repeat in repeats]
    return exact + [Cell(entry, at, conditions) for entry in job.spec.methods for at in places]


def single_kernels(spec: Part) -> list[tuple[dict, dict]]:
    """Every kernel of the grid: where its cell stands, and what it is computed under."""
    own, grid = spec.kernel, spec.grid
    named = [(kernel, {}) for kernel in grid["kernels"]] + [(own, {"factor": factor}) for factor in grid["factors"]]
    return [({"kernel": kernel_id(kernel), **at}, {"kernel": kernel}) for kernel, at in named]


def combination(spec: Part) -> list[tuple[dict, dict]]:
    """The combination of all kernels of the grid, in the same way."""
    return [({"kernel": COMBINATION}, {"kernels": [at | told for at, told in single_kernels(spec)]})]


def measure(job: Job, cell: Cell, checkpoints) -> tuple[list[dict], dict]:
    """The accuracies of one kernel, or of one map, on the test and on the training rows."""
    spec, repeat = job.spec, cell.coordinates["repeat"]
    sample = job.samples.of(repeat, spec.preprocess)
    length_scale = job.samples.length_scale(repeat, spec.preprocess, spec.bandwidth)
    Y, _ = job.data.target.encode(sample.y_train)
    fit = fit_map if cell.entry else fit_combination if "kernels" in cell.conditions else fit_kernel
    columns, settings, model, features = fit(spec, cell, sample.X_train, Y, length_scale)
    settings |= {"C": cell.conditions["C"], "capped": sample.capped}
    return [
        row | columns | {"repeat": repeat, "settings": settings | row["settings"]}
        for row in accuracy_rows(job, sample, model, features)
    ], {}


def timed(job: Job, chosen: dict) -> list[Timed]:
    """What ``time`` takes the times of, where kernels are combined: making all kernel matrices and learning their
    weights beside the maps and the machines on their features.
    """
    return [timed_cell(job, cell) for cell in cells(job) if cell.coordinates["repeat"] == 0]


def timed_cell(job: Job, cell: Cell) -> Timed:
    """The phases of a combination of kernels, or of a map."""
    spec, sample = job.spec, job.samples.of(0, job.spec.preprocess)
    length_scale = job.samples.length_scale(0, spec.preprocess, spec.bandwidth)
    Y, _ = job.data.target.encode(sample.y_train)
    settings = {"length_scale": length_scale, "C": cell.conditions["C"], "capped": sample.capped}
    if not cell.entry:
        phases = phases_of_combination(cell, sample.X_train, Y, length_scale)
        return Timed({}, sample.size_columns | {"kernel": COMBINATION}, phases, "kernel_svm", settings)
    s, phi = cell.coordinates["n_features"], unfitted_map(spec, cell, length_scale)
    columns = sample.size_columns | {"n_features": s, "n_features_label": str(s)}
    phases = phases_of_map(cell, phi, sample.X_train, Y)
    return Timed(cell.entry, columns, phases, "l1_svm", settings | {"options": cell.entry["options"]})


def phases_of_combination(cell: Cell, X, Y, length_scale: float) -> dict:
    """Making the kernel matrices, and learning their weights with the machine."""
    kernels, kept = base_kernels(cell, length_scale), {}
    return {
        "transform": lambda: kept.update(grams=normalised_grams(kernels, X)[0]),
        "fit": lambda: fit_multiple_kernel_svm(kept["grams"], Y, cell.conditions["C"]),
    }


def phases_of_map(cell: Cell, phi, X, Y) -> dict:
    """Drawing and learning a map, mapping the rows, and the machine on features that are ready."""
    kept: dict = {}

    def blocks():
        return iter([(slice(0, len(X)), kept["Z"])])

    return drawn_and_learned(cell.entry, phi, X, Y[:, 0]) | {
        "transform": lambda: kept.update(Z=phi.transform(X)),
        "fit": lambda: fit_l1_svm(blocks, Y, cell.conditions["C"], n_columns=phi.n_columns_),
    }


def fit_kernel(spec: Part, cell: Cell, X, Y, length_scale: float):
    """The machine on the exact kernel matrix: columns and settings of its rows, model, and the kernel with X (n, d)."""
    told, columns, settings = cell.conditions["kernel"], {}, {}
    if "factor" in cell.coordinates:
        settings = {"length_scale": cell.coordinates["factor"] * length_scale}
        columns = {"axis": "factor", "at": cell.coordinates["factor"]}
    kernel, X = make_kernel(told | settings), X.astype(np.float64)
    columns |= {"kernel": kernel.name, "learner": "kernel_svm"}
    return (
        columns,
        settings,
        fit_kernel_svm(kernel(X), Y, cell.conditions["C"]),
        lambda rows: kernel(rows.astype(float), X),
    )


def fit_combination(spec: Part, cell: Cell, X, Y, length_scale: float):
    """The machine on the best combination of the kernels, as ``fit_kernel``; the settings have its weights."""
    kernels = base_kernels(cell, length_scale)
    grams, scales = normalised_grams(kernels, X)
    model, weights = fit_multiple_kernel_svm(grams, Y, cell.conditions["C"])
    told = map(in_words, cell.conditions["kernels"])
    settings = {"length_scale": length_scale, "weights": dict(zip(told, weights.round(4).tolist(), strict=True))}

    def combined(rows):
        scaled = zip(weights / scales, kernels, strict=True)
        return sum(weight * kernel(rows.astype(float), X.astype(float)) for weight, kernel in scaled if weight > 0)

    return {"kernel": COMBINATION, "learner": "kernel_svm"}, settings, model, combined


def in_words(told: dict) -> str:
    """A kernel of a combination: its id and, of the experiment's own one, its width."""
    return kernel_id(told["kernel"]) + (f" x {told['factor']:g}" if "factor" in told else "")


def base_kernels(cell: Cell, length_scale: float) -> list:
    """The kernels of a combination, each at its width."""
    return [
        make_kernel(told["kernel"] | ({"length_scale": told["factor"] * length_scale} if "factor" in told else {}))
        for told in cell.conditions["kernels"]
    ]


def normalised_grams(kernels: list, X) -> tuple[np.ndarray, np.ndarray]:
    """The kernel matrices (m, n, n) of rows X (n, d), each over the mean of its diagonal, and these means (m,)."""
    grams = np.stack([kernel(X.astype(np.float64)) for kernel in kernels])
    scales = np.einsum("mii->m", grams) / len(X)
    return grams / scales[:, None, None], scales


def unfitted_map(spec: Part, cell: Cell, length_scale: float):
    """The map of an entry at the size of the grid."""
    s = cell.coordinates["n_features"]
    seed = feature_seed(spec, cell.entry, s, cell.coordinates["repeat"])
    return entry_map(spec, cell.entry, make_kernel(spec.kernel | {"length_scale": length_scale}), s, seed)


def fit_map(spec: Part, cell: Cell, X, Y, length_scale: float):
    """The machine on the features of a map: columns and settings of its rows, model, and ``transform``."""
    s, phi = cell.coordinates["n_features"], unfitted_map(spec, cell, length_scale).fit(X, Y[:, 0])
    columns = {"n_features": s, "n_features_label": str(s), "n_columns": phi.n_columns_, "learner": "l1_svm"}
    settings = {"length_scale": length_scale, "options": cell.entry["options"]}
    return columns, settings, fit_on(phi, X, Y, cell.conditions["C"]), phi.transform
