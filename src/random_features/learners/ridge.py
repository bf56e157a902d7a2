"""Ridge regression on a stream of features: one fit, or a whole grid of penalties over all folds in two passes.

The blocks of rows are summed into one Gram matrix Z'Z per fold; the training Gram of a fold is the sum of the others.
The penalties of a fold share its Gram matrix (``shifted``), and one more pass predicts every row with the models of its
fold. The memory holds n_folds + 3 matrices of n_columns x n_columns, for any n. With no more rows than columns,
the same problem is solved in its dual form on ZZ', and the features are kept in memory. These are n x D numbers, no
more than the D x D of the primal form.
"""

import itertools
from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np

from random_features.arrays import float32_is_harmless, suit_float32
from random_features.errors import check_choice
from random_features.learners import streams
from random_features.learners.entry import required, with_options
from random_features.learners.gram import CENTERS, ridge_on_gram, ridge_scores_on_gram
from random_features.learners.linear_model import LinearModel
from random_features.learners.penalties import check_grid, effective_penalties
from random_features.learners.scoring import check_folds, score_sum
from random_features.learners.shifted import refuse_singular, solve_shifted
from random_features.learners.targets import as_columns, as_weights, average
from random_features.tensors import cast, dtype_name, full_precision, like, namespace, on_host, zeros


def fit_ridge(
    blocks, Y, penalty: float, *, n_columns: int, scaling="mean", center="targets", weights=None
) -> LinearModel:
    """Fit ridge regression: minimise ``(1/n) |Z w + b - y|^2 + penalty |w|^2`` for every column of the targets.

    Parameters
    ----------
    blocks : callable, the stream of features (see ``random_features.learners``)
    Y : ndarray (n,) or (n, c), numbers: a regression target, or columns of -1 and +1 for classes. Features that are
        tensors need a tensor on their device, where all sums and solutions are then
    penalty : non-negative number
    n_columns : D, the columns of the features
    scaling : "mean", the objective above, that is (Z'Z + n penalty I) w = Z'y, or
        "sum", ``|Z w + b - y|^2 + penalty |w|^2``, that is (Z'Z + penalty I) w = Z'y, or
        "per_column", the same with penalty / D
    center : "targets", y is centred and b its mean over the training rows (the survey's code);
             "both", the features too: b is the unpenalised intercept; "none", b = 0
    weights : ndarray (n,) of numbers >= 0, or None: the squared errors are multiplied by them, n and all means are
        weighted ones, so that a row of weight 2 counts as two rows

    Notes
    -----
    Products with the features are in float64, unless the blocks are float32 and rounding is harmless
    (``random_features.arrays.float32_is_harmless``). Sums, solutions and the whole dual form are always float64.

    Raises ``ValueError`` for NaN or infinity in features or targets and for options that do not exist, and
    ``numpy.linalg.LinAlgError`` if the system is singular.
    """
    coef, intercept, solver, shifts = _solutions(blocks, Y, penalty, n_columns, scaling, center, weights)
    refuse_singular(coef, shifts)
    return LinearModel(coef[0], intercept[0], solver)


def _solutions(blocks, Y, penalties, n_columns, scaling, center, weights=None):
    """Return coefficients (g, D, c), NaN as in ``solve_shifted``, intercepts (g, c), the solver and the shifts."""
    Y, penalties = as_columns(Y), check_grid(penalties, "penalty", zero_allowed=True)
    weights = as_weights(weights, len(Y))
    shifts = effective_penalties(penalties, len(Y) if weights is None else weights.sum(), scaling, n_columns)
    check_choice("center", center, CENTERS)
    if len(Y) > n_columns:
        one_fold = np.zeros(len(Y), dtype=int)
        sums, _ = _sums_per_fold(blocks, Y, one_fold, 1, n_columns, shifts.min(), weights, center)
        return *_solve(sums, shifts, center), "primal", shifts
    rank = len(Y) - (center == "both")
    unique = (penalties > 0) | (rank >= n_columns)  # K may have an inverse where the coefficients are not unique
    features, origin = _kept_around(blocks, Y, n_columns, center)
    dual, intercept = ridge_on_gram(features.row_gram, Y, shifts, center, weights)
    dual[~unique] = np.nan
    coef = namespace(Y).stack([streams.transposed_product(features.Z, each) for each in dual])
    return coef, intercept if origin is None else intercept - origin @ coef, "dual", shifts


def _kept_around(blocks, Y, n_columns, center) -> tuple:
    """Return the features in memory, less an origin where this keeps their digits, and the origin or None."""
    features = streams.kept(blocks, len(Y), n_columns, Y.device)
    origin = streams.far_origin(features.Z) if center == "both" else None
    if origin is None:
        return features, None
    return streams.kept(streams.around(features, origin), len(Y), n_columns, Y.device), origin


def cross_validate_ridge(
    blocks, Y, penalties, folds, *, n_columns: int, scaling="mean", center="targets", score="accuracy", weights=None
) -> np.ndarray:
    """Return held-out scores of ridge regression, shape (len(penalties), n_folds).

    Other parameters and errors are as in ``fit_ridge``.

    Parameters
    ----------
    penalties : ndarray (g,) of non-negative numbers. n in the scaling "mean" is the number of training rows of the
        fold, and centring uses those rows only
    folds : integer ndarray (n,), the fold in which a row is held out: 0..k-1. Rows of -1 are in none; where there are
        some, they alone train, and the folds are parts of the others
    score : "accuracy", in percent, of columns of -1 and +1, or "mse", the squared error averaged over rows and
        columns

    Notes
    -----
    A penalty at which the system of a fold is singular to working precision scores NaN there, and ``best_penalty``
    does not choose it. Raises ``ValueError`` also for an empty fold or one whose training rows hold a single class.
    """
    Y, penalties = as_columns(Y), check_grid(penalties, "penalties", zero_allowed=True)
    weights = as_weights(weights, len(Y))
    folds, training = check_folds(folds, Y, score, weights=weights)
    check_choice("center", center, CENTERS)
    totals = training.sum(axis=0) if weights is None else weights @ training
    shifts = [effective_penalties(penalties, n, scaling, n_columns) for n in totals]
    if len(Y) <= n_columns:
        K = _kept_around(blocks, Y, n_columns, center)[0].row_gram
        scores = ridge_scores_on_gram(K, Y, shifts, folds, training, score, center, weights)
        scores[penalties == 0] = np.nan  # fewer training rows than columns: only K may have an inverse
        return scores
    n_folds, some_train_only = training.shape[1], folds.min() == -1
    groups, n_groups = (np.where(folds == -1, 0, -1), 1) if some_train_only else (folds, n_folds)  # -1: not summed
    sums, dtype = _sums_per_fold(blocks, Y, groups, n_groups, n_columns, np.min(shifts), weights, center)
    if some_train_only:
        models = [_solve(sums, shifts[0], center)] * n_folds
    else:
        models = [_solve(sums[:fold] + sums[fold + 1 :], shifts[fold], center) for fold in range(n_folds)]
    zero = sums[0].zero
    del sums
    scores = _score_held_out(blocks, Y, folds, models, n_columns, dtype, zero, score, weights)
    return scores / np.bincount(folds[folds >= 0], None if weights is None else weights[folds >= 0])


def have_solutions(blocks, Y, penalties, *, n_columns: int, scaling="mean", center="targets") -> np.ndarray:
    """Return at which penalties ``fit_ridge`` has a solution, bool (len(penalties),), from one pass.

    Parameters and errors are as in ``cross_validate_ridge``.
    """
    coef, *_ = _solutions(blocks, Y, penalties, n_columns, scaling, center)
    return ~on_host(namespace(coef).isnan(coef).any(axis=(1, 2)))


@dataclass(frozen=True)
class Sums:
    """The sums over rows that determine ridge regression: Z'Z, Z'[Y, 1], 1'Y, |Y|^2 by column and the number of rows.

    With weights of the rows all of them are weighted; ``count`` is the number of those above 0. Y are the targets less
    an ``origin`` (c,), their mean where an intercept is fitted: sums of targets far from 0 would cancel. Z are the
    features less a ``zero`` (D,), which is 0 in columns that are not far from it (``streams.far_origin``). Sums of
    different rows add up, around the mean of all of their targets, in the library and on the device of the first.
    """

    gram: np.ndarray
    cross: np.ndarray
    targets: np.ndarray
    squares: np.ndarray
    n_rows: float
    count: int
    origin: np.ndarray | float = 0.0
    zero: np.ndarray | float = 0.0

    def __add__(self, other):
        arrays = [each.name for each in fields(Sums) if each.name not in ("n_rows", "count")]
        other = replace(other, **{name: like(getattr(other, name), self.gram) for name in arrays})
        origin = self.origin + (other.origin - self.origin) * (other.n_rows / (self.n_rows + other.n_rows))
        one, two = self.around(origin), other.around(origin).of_features_from(self.zero)
        added = [getattr(one, each.name) + getattr(two, each.name) for each in fields(Sums)[:-2]]
        return Sums(*added, origin, self.zero)

    def around(self, origin):
        """Return the same sums for another origin."""
        step, cross = self.origin - origin, 1.0 * self.cross
        cross[:, :-1] += cross[:, -1:] * step
        targets = self.targets + self.n_rows * step
        squares = self.squares + step * (self.targets + targets)
        return replace(self, cross=cross, targets=targets, squares=squares, origin=origin)

    def of_features_from(self, zero):
        """Return the same sums for another zero of the features."""
        step = self.zero - zero + 0.0 * self.cross[:, -1]
        if not step.any():
            return self
        gram = self.gram + step[:, None] * self.cross[:, -1]
        cross = 1.0 * self.cross
        cross[:, :-1] += step[:, None] * self.targets
        cross[:, -1] += self.n_rows * step
        gram += cross[:, -1:] * step
        return replace(self, gram=gram, cross=cross, zero=zero)


def ridge_sums(blocks, Y, *, n_columns: int, weights=None) -> Sums:
    """Return the ``Sums`` of all rows, from products in float64; parameters and errors are as in ``fit_ridge``."""
    Y = as_columns(Y)
    one_fold, weights = np.zeros(len(Y), dtype=int), as_weights(weights, len(Y))
    return _sums_per_fold(blocks, Y, one_fold, 1, n_columns, 0.0, weights)[0][0]


def solve_ridge(sums: Sums, penalty: float) -> LinearModel:
    """Return the model of ``fit_ridge``, with the scaling "mean" and ``center="both"``, of the rows in sums."""
    shifts = np.array([sums.n_rows * penalty])
    coef, intercept = _solve([sums], shifts, "both")
    refuse_singular(coef, shifts)
    return LinearModel(coef[0], intercept[0], "primal")


def _sums_per_fold(blocks, Y, folds, n_folds, n_columns, smallest_shift, weights=None, center="both"):
    """Return the ``Sums`` of every fold, and the type of their products.

    The trace is estimated from the rows of the first block. If they were not a fair sample, the pass is repeated in
    float64.
    """
    weights, xp = like(weights, Y), namespace(Y)
    origin = 0.0 if center == "none" else average(Y, weights)
    Y = Y - origin
    heads, stream = [], streams.checked(blocks, len(Y), n_columns, Y.device)
    for rows, block in stream:  # as many rows for any size of the blocks
        if rows.stop >= streams.CHUNK_ROWS:
            heads.append((rows, block))
            break
        heads.append((rows, xp.asarray(block, copy=True)))  # the next block may overwrite it
    some = xp.concatenate([block[: streams.CHUNK_ROWS] for _, block in heads])
    zero = streams.far_origin(some) if center == "both" else None

    def prepared(blocks):
        return streams.weighted(streams.around(blocks, zero), weights)

    # the first blocks are computed once
    blocks, once = prepared(blocks), prepared(partial(itertools.chain, heads, stream))
    first = next(prepared(partial(iter, heads))())[1]
    flat = cast(first.reshape(-1), "float64")
    trace = len(Y) * float(xp.vdot(flat, flat)) / len(first)
    at_once = streams.chunk_rows(n_columns, Y.device)
    typical, largest = np.sqrt(trace / (len(Y) * n_columns)), on_host(xp.amax(abs(Y), 0))
    is_single = dtype_name(first) == "float32" and suit_float32(typical, *largest)
    is_single &= float32_is_harmless(at_once, trace, smallest_shift)
    dtype = "float32" if is_single else "float64"
    ones = xp.ones_like(Y[:, 0])
    of_rows = ones if weights is None else weights
    Y1 = xp.column_stack([Y, ones]) * xp.sqrt(of_rows)[:, None]
    grams, crosses = streams.grams_by_group(once, Y1, folds, n_folds, n_columns, dtype)
    trace = sum(float(xp.trace(gram)) for gram in grams)
    if is_single and not float32_is_harmless(at_once, trace, smallest_shift):
        del grams
        dtype = "float64"
        grams, crosses = streams.grams_by_group(blocks, Y1, folds, n_folds, n_columns, dtype)
    weighted = of_rows[:, None] * Y
    squares, zero, sums = weighted * Y, 0.0 if zero is None else zero, []
    for fold, (gram, cross) in enumerate(zip(grams, crosses, strict=True)):
        rows = folds == fold
        totals = weighted[rows].sum(axis=0), squares[rows].sum(axis=0), float(of_rows[rows].sum())
        sums.append(Sums(gram, cross, *totals, int((of_rows[rows] > 0).sum()), origin, zero))
    return sums, dtype


def _solve(sums, shifts, center):
    """Return coefficients (g, D, c) and intercepts (g, c) for every shift on the rows of some sums."""
    gram = 1.0 * sums[0].gram
    for each in sums[1:]:
        gram += each.gram
    cross, n_rows = sum(each.cross for each in sums), sum(each.n_rows for each in sums)
    target_mean = sum(each.targets for each in sums) / n_rows
    rhs, column_mean = cross[:, :-1], cross[:, -1] / n_rows
    if center != "none":
        rhs = rhs - cross[:, -1:] * target_mean
    if center == "both":
        gram -= (n_rows * column_mean)[:, None] * column_mean
    coef = solve_shifted(gram, rhs, shifts)
    intercept = zeros((len(shifts), rhs.shape[1]), gram)
    if center != "none":
        intercept += target_mean + sums[0].origin
    if center == "both":
        intercept -= (column_mean + sums[0].zero) @ coef
    return coef, intercept


@full_precision
def _score_held_out(blocks, Y, folds, models, n_columns, dtype, zero, score, weights=None):
    """Return the sums of the score over each fold under the models of that fold, (g, n_folds), in one pass.

    As in the sums, features that are far from zero keep their digits in float32 less their ``zero``.
    """
    if np.ndim(zero):
        blocks = streams.around(blocks, zero)
        models = [(coef, intercept + zero @ coef) for coef, intercept in models]
    (n_grid, n_targets), weights = models[0][1].shape, like(weights, Y)
    columns = [cast(namespace(Y).moveaxis(coef, 1, 0).reshape(n_columns, -1), dtype) for coef, _ in models]
    totals = [zeros(n_grid, Y) for _ in models]
    for fold, rows, chunk in streams.grouped(blocks, folds, len(models), n_columns, dtype, Y.device):
        streams.refuse_non_finite(chunk)
        decision = (chunk @ columns[fold]).reshape(-1, n_grid, n_targets) + models[fold][1]
        totals[fold] += score_sum(Y[rows], decision, score, None if weights is None else weights[rows])
    return np.column_stack([on_host(total) for total in totals])


#: The options that an experiment has to state.
STATED = ("scaling", "center")


def _has_solution(blocks, Y, values, *, n_columns, options):
    return have_solutions(blocks, Y, values, n_columns=n_columns, **required(options, *STATED))


LEARNER = with_options("ridge", fit_ridge, cross_validate_ridge, stated=STATED, has_solution=_has_solution)
