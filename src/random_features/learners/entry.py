"""Learners by name: the facts and functions of each of them, and the functions that find them.

A learner is one file of this folder, named after it, with ``LEARNER``, its ``Learner``, and an entry of its ``Facts``
in ``registry.LEARNERS``, which planning reads without the libraries that compute.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from random_features.errors import UserError, check_known
from random_features.learners.registry import LEARNERS, Facts


def load(name: str) -> Learner:
    """Return the learner with an id; ``ValueError`` lists the known ids."""
    check_known("there is no learner", name, tuple(LEARNERS), ValueError)  # a name may be anything
    return importlib.import_module(f"random_features.learners.{name}").LEARNER


def required(options: dict, *names: str) -> dict:
    """Return the named options; ``UserError`` names missing ones, so that no objective is a silent default."""
    if missing := [name for name in names if name not in options]:
        raise UserError(f"the learner's options do not say {', '.join(missing)}; they say {', '.join(options)}")
    return {name: options[name] for name in names}


def always_solvable(blocks, Y, values, *, n_columns: int, options: dict) -> list[bool]:
    """Return True for every value: the ``has_solution`` of a learner that always has a solution."""
    return [True] * len(values)


@dataclass(frozen=True, kw_only=True)
class Learner(Facts):
    """A learner: its facts and functions. ``options`` of these is its mapping in an experiment.

    Attributes
    ----------
    fit : callable (blocks, Y, value, *, n_columns, options) -> ``LinearModel``, for one value of the grid, as a float;
        ``blocks`` is the stream of features (see ``random_features.learners``), Y (n, c) float64 the encoded targets
    cross_validate : callable (blocks, Y, folds, *, n_columns, score, options) -> ndarray (len(grid), n_folds) of
        held-out scores; ``folds`` (n,) holds the fold in which a row is held out, ``score`` is "accuracy" or "mse"
    has_solution : callable (blocks, Y, values, *, n_columns, options) -> for each of the values whether ``fit`` has a
        solution there
    limit : callable (options, n_rows, n_columns) -> the reason why features of this shape are left out, or ""

    Notes
    -----
    ``fit`` and ``cross_validate`` raise ``ValueError`` for options, targets and scores that they do not take, ``fit``
    ``numpy.linalg.LinAlgError`` where the system is singular (a singular fold scores NaN).
    """

    fit: Callable
    cross_validate: Callable
    has_solution: Callable = always_solvable
    limit: Callable = lambda options, n_rows, n_columns: ""

    def left_out(self, target: str, options: dict, n_rows: int, n_columns: int) -> str:
        """Return why a kind of target, or features of this shape, are not for the learner, or an empty text."""
        if target not in self.targets:
            return f"the learner serves targets that are {' or '.join(self.targets)}, not {target}"
        return self.limit(options, n_rows, n_columns)

    def smallest_with_solution(self, blocks, Y, *, n_columns: int, options: dict) -> float:
        """Return the smallest value of the grid at which there is a solution; parameters are as in ``fit``.

        Raises ``numpy.linalg.LinAlgError`` if there is none.
        """
        from numpy.linalg import LinAlgError

        values = sorted(required(options, self.grid)[self.grid])
        solvable = self.has_solution(blocks, Y, values, n_columns=n_columns, options=options)
        if not any(solvable):
            raise LinAlgError(f"the system is singular at every value of the grid {values}")
        return next(value for value, found in zip(values, solvable, strict=True) if found)


def with_options(name: str, fit: Callable, cross_validate: Callable, *, stated=(), optional=(), **more) -> Learner:
    """Return the learner whose functions take single options, of which an experiment has to state some.

    ``cross_validate`` takes the grid after the targets. Learners of classes only are scored by their accuracy.
    """
    about = LEARNERS[name]

    def keywords(options):
        return required(options, *stated) | {each: options[each] for each in optional if each in options}

    def fit_value(blocks, Y, value, *, n_columns, options):
        return fit(blocks, Y, value, n_columns=n_columns, **keywords(options))

    def cross_validate_grid(blocks, Y, folds, *, n_columns, score, options):
        if score != "accuracy" and "regression" not in about.targets:
            raise ValueError(f"the learner {name} is scored by its accuracy, not by {score!r}")
        grid = required(options, about.grid)[about.grid]
        return cross_validate(blocks, Y, grid, folds, n_columns=n_columns, score=score, **keywords(options))

    return Learner(**vars(about), fit=fit_value, cross_validate=cross_validate_grid, **more)
