"""The learners by name: their options in an experiment, and the facts about them that planning needs.

Importing this module loads nothing heavy. The functions of a learner are in the file of the same name in this folder.
"""

from dataclasses import dataclass
from typing import Literal, TypedDict


@dataclass(frozen=True)
class Facts:
    """The facts about a learner.

    Attributes
    ----------
    options : its options in an experiment, a ``TypedDict``; the grid, ``n_folds`` and ``repeats`` are options of all
    grid : the option that holds the grid of values to choose from, e.g. "penalties"
    chosen : the name of the chosen value in the settings of a row, e.g. "penalty"
    targets : the kinds of targets that it supports ("binary", "classes", "regression")
    bytes_per_entry : memory that it asks for, in bytes for each of the n_rows x n_columns features; 0 where they are
        streamed
    """

    options: type
    grid: str
    chosen: str
    targets: tuple[str, ...]
    bytes_per_entry: int = 0


class L1Svm(TypedDict, total=False):
    """The loss is the hinge loss, the intercept is unpenalised, and the solver is libsvm."""


class Logistic(TypedDict, total=False):
    """`scaling`: the penalty over two times the squared weights is added to the `mean` of the losses, to their `sum`,
    or to the sum after a division by the number of columns (`per_column`). `classes`: one `multinomial` model, or
    `one_vs_rest`, a binary model for each class.
    """

    scaling: Literal["mean", "sum", "per_column"]
    intercept: Literal["none", "unpenalised"]
    classes: Literal["multinomial", "one_vs_rest"]


class Ridge(TypedDict, total=False):
    """`scaling` of the penalty: `mean` (times the number of rows), `sum` (as it is) or `per_column` (over the number of
    columns). `center`: `targets` (their mean is the intercept), `both` (an unpenalised intercept) or `none`. `choice`
    of the penalty: the `best` score (the default), or `one_standard_error`: the largest penalty whose score is within
    one standard error of the best.
    """

    scaling: Literal["mean", "sum", "per_column"]
    center: Literal["targets", "both", "none"]
    choice: Literal["best", "one_standard_error"]


class Svm(TypedDict, total=False):
    """The loss is the squared hinge loss, without an intercept. `scaling` of C: `sum` (as it is, the default) or
    `per_column` (times the number of columns). `solver`: `liblinear`, `newton` (the same objective), or `auto` (the
    default), which is LIBLINEAR below 1e5 entries of the features. `tolerance`: both stop where the gradient is this
    number times the share of the rarer sign of the gradient without weights, LIBLINEAR's rule, whose own number is
    0.01; null (the default) for tighter rules of their own. `max_entries`: rows x columns above which the learner is
    skipped; null for no limit.
    """

    scaling: Literal["sum", "per_column"]
    solver: Literal["auto", "liblinear", "newton"]
    tolerance: float | None
    max_entries: float | None


CLASSES = ("binary", "classes")

LEARNERS = {
    "l1_svm": Facts(L1Svm, "C", "C", CLASSES, 40),
    "logistic": Facts(Logistic, "penalties", "penalty", CLASSES, 8),
    "ridge": Facts(Ridge, "penalties", "penalty", (*CLASSES, "regression")),
    "svm": Facts(Svm, "C", "C", CLASSES, 40),
}
