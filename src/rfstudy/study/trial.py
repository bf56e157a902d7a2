"""Build what experiments name, in a process of its own: a list of parts on the standard input, problems on the output.

``study.check`` says what the parts are and where they stand. Nothing here computes a number of the study: maps are made
and their parameters checked, learners fitted to a few points.
"""

from __future__ import annotations

import gc
import importlib
import json
import signal
import sys
import warnings
from types import SimpleNamespace

#: Rows that a rule for the bandwidth is tried on, and columns.
RULE_ROWS, RULE_COLUMNS = 500, 2


def problems(parts: list[dict]) -> list[tuple[int, str, str]]:
    """What cannot be built: the position of a part, where in it the mistake is (".options"), and a message."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for position, part in enumerate(parts):
            told = dict(part)
            for where, build in TRIALS[told.pop("what")](**told):
                try:
                    build()
                except (ValueError, TypeError, ArithmeticError) as error:  # user errors are values too
                    found.append((position, where, " ".join(str(error).split())))
                    break
    return found


def try_kernel(kernel: dict):
    """A kernel with its parameters; a length scale that it leaves open is found by somebody else."""
    import numpy as np

    yield "", lambda: kernel_of(kernel)(np.eye(2)[:, :1])


def kernel_of(kernel: dict):
    """The kernel of a mapping, of length scale 1 where it leaves that open."""
    from random_features.kernels import KERNELS, make_kernel

    known = KERNELS.get(kernel["name"], {"parameters": ()})["parameters"]
    return make_kernel({key: 1.0 for key in known if key == "length_scale"} | kernel)


def try_map(method: str, options: dict, kernel: dict, sizes, steps=()):
    """A map for a kernel, at a number of features or at all sizes of an accuracy grid (``sizes`` on ``d``)."""
    from random_features.errors import NotDefinedError
    from random_features.maps.registry import check_kernel, make_map, resolve

    try:
        made = kernel_of(kernel)
    except (ValueError, TypeError):
        return  # told of the kernel
    yield ".method", lambda: check_kernel(resolve(method)[0], made)

    def build():
        for s in numbers(sizes, steps):
            phi = make_map(method, kernel=made, n_components=s, random_state=0, **options)
            try:
                phi.check_parameters()
            except NotDefinedError:
                continue  # a study skips such a cell

    yield ".options", build


def numbers(sizes, steps) -> list[int]:
    """The numbers of features: one, or the sizes of an accuracy grid on the columns that steps leave of d."""
    from rfstudy.data.scale import columns_after
    from rfstudy.study.job import sizes as named

    if isinstance(sizes, int):
        return [sizes]
    try:
        width = columns_after(steps, sizes["d"])
    except ValueError:
        return []  # told of the steps
    return sorted({s for s, _ in named(sizes["sizes"], width)})


def try_learner(learner: str, options: dict, target: str):
    """A learner's fit and cross-validation on a few points, where it serves the target."""
    import numpy as np

    from random_features.learners.entry import load

    entry = load(learner)
    n_folds = options.get("n_folds", 2)
    n, grid = 4 * n_folds, options[entry.grid]
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 2))
    Y = Z[:, :1] if target == "regression" else np.where(np.arange(n) // n_folds % 2, 1.0, -1.0)[:, None]

    def blocks():
        yield slice(0, n), Z

    def build():
        if target not in entry.targets:
            return
        score = "mse" if target == "regression" else "accuracy"
        try:
            entry.fit(blocks, Y, max(grid), n_columns=2, options=options)
            entry.cross_validate(blocks, Y, np.arange(n) % n_folds, n_columns=2, score=score, options=options)
        except np.linalg.LinAlgError:
            pass  # of these points, not of the options

    yield "", build


def try_steps(steps: list, d: int, n_train: int):
    """Preprocessing steps on d columns, fitted where the training rows are fewer than those."""
    from rfstudy.data.scale import columns_after, fit_steps

    yield "", lambda: columns_after(steps, d)
    if n_train < d:
        import numpy as np

        yield "", lambda: fit_steps(steps, np.random.default_rng(0).normal(size=(n_train, d)))


def try_extractor(features_of: dict, d: int, expected: int):
    """The columns that an extractor makes of d."""
    from rfstudy.data.modules import load
    from rfstudy.data.registry import extractor_of

    name, parameters = extractor_of({"features_of": features_of})

    def build():
        found = load("extractors", name).columns(d, **parameters)
        if found != expected:
            raise ValueError(f"{name} makes {found} columns of {d}, and datasets.yaml says {expected}")

    yield "", build


def try_rule(bandwidth: dict, n_train: int):
    """A rule for the bandwidth on as many rows as there are, or on a few."""
    import numpy as np

    # more than it counts neighbours
    rows = min(n_train, max([RULE_ROWS, *(value + 1 for value in bandwidth.values() if isinstance(value, int))]))
    module = importlib.import_module(f"rfstudy.study.bandwidths.{bandwidth['rule']}")
    X = np.random.default_rng(0).normal(size=(rows, RULE_COLUMNS))
    parameters = {key: value for key, value in bandwidth.items() if key != "rule"}

    def build():
        try:
            module.length_scale(X, np.random.default_rng(0), **parameters)
        except ValueError:
            if rows == n_train:
                raise

    yield "", build


def try_scores(metric: str, target: str):
    """A metric of the predictions of a target."""
    from rfstudy.data.target import make_target

    yield "", lambda: make_target(target).evaluate(metric, [0, 1], [0, 1])


def try_kind(kind: str, spec: dict):
    """The cells of a kind of experiment, the ``kernels`` that it completes itself with the maps that are made for them,
    and what it checks itself (``check(spec)``).
    """
    module = importlib.import_module(f"rfstudy.study.kinds.{kind}")
    if hasattr(module, "kernels"):
        for kernel, entries in module.kernels(spec):
            yield "", lambda kernel=kernel: kernel_of(kernel)
            for entry in entries:
                for _, build in try_map(entry["method"], entry["options"], kernel, 1):
                    yield "", build
    if hasattr(module, "check"):
        yield "", lambda: module.check(spec)
    if hasattr(module, "cells"):
        yield "", lambda: module.cells(SimpleNamespace(spec=spec))


#: What is built, by the ``what`` of a part: each yields pairs of a place in it and a function that raises.
TRIALS = {
    "kernel": try_kernel,
    "map": try_map,
    "learner": try_learner,
    "steps": try_steps,
    "extractor": try_extractor,
    "rule": try_rule,
    "scores": try_scores,
    "kind": try_kind,
}


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is told by the workflow
    gc.disable()  # what is imported lives as long as the process
    json.dump(problems(json.load(sys.stdin)), sys.stdout)
