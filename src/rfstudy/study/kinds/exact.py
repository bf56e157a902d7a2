"""The exact kernels as reference: support vector machines on the whole kernel matrix, by kernel and by width.

A feature map approximates these kernels, and a learned kernel is compared with them. The experiment's own kernel
appears at multiples of the length scale that the bandwidth rule finds (``factor``). There are also kernels without a
length scale. The linear one among them shows whether the data need a kernel at all. The maps of ``methods`` are
compared at one size. If the grid asks for it, the best combination of all these kernels, each over the mean of its
diagonal, is learned instead (multiple-kernel learning). This is the kernel ``combination``.
"""

import numpy as np

from random_features.kernels import make_kernel
from random_features.learners.gram import fit_kernel_svm
from random_features.learners.l1_svm import fit_l1_svm
from random_features.learners.multiple_kernel import fit_multiple_kernel_svm
from random_features.learners.streams import Kept
from rfstudy.data.target import Target
from rfstudy.study.engine import Cell, Job, Measured, Timed, drawn_and_learned
from rfstudy.study.job import kernel_id
from rfstudy.study.sample import Sample
from rfstudy.study.svm_rows import accuracy_rows, rows_of_map

#: Name of the combination in rows.
COMBINATION = "combination"


def cells(job: Job) -> list[Cell]:
    """Return one cell per repeat and kernel (per width for the experiment's own kernel), or one per repeat for all
    kernels, and one per entry.
    """
    spec, grid = job.spec, job.spec.grid
    kernels = [{"kernel": kernel} for kernel in grid["kernels"]]
    kernels += [{"kernel": spec.kernel, "factor": factor} for factor in grid["factors"]]
    alone = [(place_of(each), [each]) for each in kernels]
    machines = [({"kernel": COMBINATION}, kernels)] if grid["combined"] else alone
    work = [({}, place, {"C": grid["C"], "kernels": own}) for place, own in machines]
    work += [(entry, {"n_features": grid["n_features"]}, {"C": grid["C"]}) for entry in spec.methods]
    return [Cell(entry, place | {"repeat": repeat}, given) for repeat in spec.repeats for entry, place, given in work]


def place_of(own: dict) -> dict:
    """Return the columns of the rows of a single kernel: its id and, for the experiment's own kernel, its width."""
    width = {"axis": "factor", "at": own["factor"]} if "factor" in own else {}
    return {"kernel": kernel_id(own["kernel"])} | width


def measure(
    job: Job, entry: dict, *, repeat: int, C: float, n_features: int = 0, kernels: list = (), **place
) -> Measured:
    """Return the accuracies of a kernel, of a combination of ``kernels``, or of a map, on the test and the training
    rows.
    """
    if entry:
        return rows_of_map(job, entry, n_features, repeat, C, {}), {}
    sample, _, length_scale = job.sample_and_kernel(repeat)
    model, features, settings = fit_kernels(kernels, sample, job.data.target, C, length_scale)
    settings |= {"C": C, "capped": sample.capped}
    return accuracy_rows(job.data.target, sample, model, features, {"learner": "kernel_svm"}, settings), {}


def timed(job: Job, chosen: dict) -> list[Timed]:
    """Return the units that ``time`` measures if kernels are combined: making all kernel matrices and learning their
    weights, next to the maps and the machines on their features.
    """
    return [timed_cell(job, cell) for cell in cells(job)]


def timed_cell(job: Job, cell: Cell) -> Timed:
    """Return the phases of a combination of kernels, or of a map."""
    sample, kernel, length_scale = job.sample_and_kernel(0)
    X, y, C, kept = sample.X_train, sample.y_train, cell.conditions["C"], {}
    Y, _ = job.data.target.encode(y)
    settings = {"length_scale": length_scale, "C": C, "capped": sample.capped}
    if not cell.entry:
        kernels = at_width(cell.conditions["kernels"], length_scale)
        phases = {
            "transform": lambda: kept.update(grams=normalised_grams(kernels, X)[0]),
            "fit": lambda: fit_multiple_kernel_svm(kept["grams"], Y, C),
        }
        return Timed({}, sample.size_columns | {"kernel": COMBINATION}, phases, "kernel_svm", settings)
    s = cell.coordinates["n_features"]
    phi = job.feature_map(cell.entry, kernel, s, 0)
    phases = drawn_and_learned(cell.entry, phi, X, y) | {
        "transform": lambda: kept.update(Z=phi.transform(X)),
        "fit": lambda: fit_l1_svm(Kept(kept["Z"]), Y, C, n_columns=phi.n_columns_),
    }
    settings["options"] = cell.entry["options"]
    return Timed(cell.entry, sample.size_columns | {"n_features": s}, phases, "l1_svm", settings)


def fit_kernels(kernels: list[dict], sample: Sample, target: Target, C: float, length_scale: float):
    """Return the machine on a kernel, or on the best combination of several. The result has the model, the kernel of
    rows with the training rows, and the settings of both for the rows.
    """
    X, (Y, _) = sample.X_train.astype(np.float64), target.encode(sample.y_train)
    made = at_width(kernels, length_scale)
    if len(made) == 1:
        settings = {"length_scale": kernels[0]["factor"] * length_scale} if "factor" in kernels[0] else {}
        return fit_kernel_svm(made[0](X), Y, C), lambda rows: made[0](rows.astype(float), X), settings
    grams, scales = normalised_grams(made, X)
    model, weights = fit_multiple_kernel_svm(grams, Y, C)

    def combined(rows):
        scaled = zip(weights / scales, made, strict=True)
        return sum(weight * kernel(rows.astype(float), X) for weight, kernel in scaled if weight > 0)

    words = [kernel_id(own["kernel"]) + (f" x {own['factor']:g}" if "factor" in own else "") for own in kernels]
    by_kernel = dict(zip(words, weights.round(4).tolist(), strict=True))
    return model, combined, {"length_scale": length_scale, "weights": by_kernel}


def at_width(kernels: list[dict], length_scale: float) -> list:
    """Return the kernels of a cell, each at its width."""
    widths = [{"length_scale": own["factor"] * length_scale} if "factor" in own else {} for own in kernels]
    return [make_kernel(own["kernel"] | width) for own, width in zip(kernels, widths, strict=True)]


def normalised_grams(kernels: list, X) -> tuple[np.ndarray, np.ndarray]:
    """Return the kernel matrices (m, n, n) of rows X (n, d), each over the mean of its diagonal, and these means
    (m,).
    """
    grams = np.stack([kernel(X.astype(np.float64)) for kernel in kernels])
    scales = np.einsum("mii->m", grams) / len(X)
    return grams / scales[:, None, None], scales
