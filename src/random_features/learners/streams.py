"""Passes over a stream of feature blocks: checks, chunks, sums of products, and features kept in memory.

All learners read their features through these functions, so none of them depends on the size of the blocks.
"""

from functools import cached_property

import numpy as np
import torch

from random_features.arrays import DIAGONALISED_ALONE, block_rows, check_numbers, decomposing, row_blocks, suit_float32
from random_features.tensors import cast, concatenated, dtype_name, empty, full_precision, namespace, product, zeros

#: Bytes within which learners keep the features in memory rather than read the stream in every pass.
MEMORY_BUDGET = 2**30
#: Rows per product of features with themselves: the sum of two D x D matrices that follows each product then costs
#: a tenth of it (measured; at 512 rows a third).
CHUNK_ROWS = 2048
#: Bytes of a chunk in float64 on a GPU, of up to eight times as many rows: each product takes launches, and copies the
#: numbers of its rows to the GPU. With 2,048 rows products were a quarter of the time (a ridge path on an H200).
GPU_CHUNK_BYTES = 2**28
#: Features are far from zero if their mean explains so many times the sum of squares around it: a Gram matrix around
#: the mean then lacks four digits of sixteen.
FAR = 1e4
#: Bytes of a chunk that is read twice (forward and backward): it should still be in the cache the second time.
CACHE_BYTES = 4 * 2**20


def checked(blocks, n_rows: int, n_columns: int, device: str | torch.device = "cpu", *, twice: bool = False):
    """Yield the (slice, block) pairs of one pass, after a check of widths, types and row numbers.

    ``device`` is where the targets are: "cpu" of an array, or the device of a tensor. Blocks that are read ``twice``
    are cut into pieces for the cache of a CPU. Raises ``ValueError`` if blocks are not there, do not cover the rows
    0..n_rows-1 in order, or are not float32 or float64 of shape (rows, n_columns).
    """
    if not callable(blocks):
        raise TypeError("features must be a function that returns a stream: lambda: phi.transform_blocks(X)")
    done = 0
    for rows, block in blocks():
        block = check_numbers(block, "the stream of features")
        block = block.detach() if isinstance(block, torch.Tensor) else block  # a solution has no gradient
        is_dense = hasattr(block, "device") and block.shape[1:] == (n_columns,)
        if not is_dense or dtype_name(block) not in ("float32", "float64"):
            what = f"{type(block).__name__} in {block.dtype} of shape {block.shape}"
            raise ValueError(f"a block must be dense, in float32 or float64, of shape (rows, {n_columns}), got {what}")
        if block.device != device:
            place = [f"tensors on {at}" if isinstance(at, torch.device) else "arrays" for at in (block.device, device)]
            raise ValueError(f"features are {place[0]} in place of {place[1]}: the targets must be of their library and"
                             " device")  # fmt: skip
        if rows.start != done or rows.stop - rows.start != len(block) or rows.stop > n_rows:
            raise ValueError(f"a block of {len(block)} rows is numbered {rows}; row {done} of {n_rows} was due")
        done = rows.stop
        on_cpu = getattr(block.device, "type", "cpu") == "cpu"
        at_once = max(64, CACHE_BYTES // (n_columns * block.itemsize)) if twice and on_cpu else max(1, len(block))
        for part in row_blocks(len(block), at_once):
            yield slice(rows.start + part.start, rows.start + part.stop), block[part]
    if done != n_rows:
        raise ValueError(f"the stream of features ended after {done} of {n_rows} rows")


def chunk_rows(n_columns: int, device) -> int:
    """Return the rows of a chunk of features on a device."""
    if getattr(device, "type", "cpu") != "cuda":
        return CHUNK_ROWS
    return max(CHUNK_ROWS, min(8 * CHUNK_ROWS, GPU_CHUNK_BYTES // (8 * n_columns)))


def weighted(blocks, weights):
    """Return a stream of the features times the roots of the weights of their rows (n,); None: the same stream.

    It is float64 where the products of float32 features would leave its range.
    """
    if weights is None:
        return blocks
    roots = weights[:, None] ** 0.5
    if suit_float32(float(roots.max())):
        return lambda: ((rows, block * cast(roots[rows], dtype_name(block))) for rows, block in blocks())
    return lambda: ((rows, block * roots[rows]) for rows, block in blocks())


def far_origin(Z):
    """Return zeros (D,), but the first row's number in columns of features Z (n, D) that are far from zero: of these a
    Gram matrix less the part of the means would have few digits left. None where no column is far.

    A number of the data is subtracted without rounding, and leaves exact zeros of a constant column.
    """
    Z = cast(Z[:CHUNK_ROWS], "float64")
    with np.errstate(over="ignore", invalid="ignore"):  # as in grams_by_group
        mean = Z.mean(axis=0)
        refuse_non_finite(mean)
        is_far = len(Z) * mean**2 > FAR * ((Z - mean) ** 2).sum(axis=0)
    return is_far * Z[0] if is_far.any() else None


def around(blocks, origin):
    """Return a stream of the features less an origin (D,); None: the same stream."""
    if origin is None:
        return blocks
    return lambda: ((rows, block - cast(origin, dtype_name(block))) for rows, block in blocks())


class Kept:
    """A stream of features in memory: one block, and the products of its rows, which are computed once."""

    def __init__(self, Z):
        self.Z = Z

    def __call__(self):
        return iter([(slice(0, len(self.Z)), self.Z)])

    @cached_property
    def row_gram(self):
        """Return Z Z' of shape (n, n) in float64, with both triangles; copy it before you change it."""
        gram = zeros((len(self.Z), len(self.Z)), self.Z)
        for columns in row_blocks(self.Z.shape[1], CHUNK_ROWS):
            chunk = cast(self.Z[:, columns], "float64")
            refuse_non_finite(chunk)
            gram += chunk @ chunk.T
        return gram


def keep_within(blocks, n_rows: int, n_columns: int, memory_budget: float | None = None, device="cpu"):
    """Return the stream, read from memory if the features fit into a budget.

    It is ``MEMORY_BUDGET`` bytes by default, and on a GPU a quarter of the free memory.
    """
    first = next(checked(blocks, n_rows, n_columns, device))[1]
    if isinstance(blocks, Kept):
        return blocks
    if memory_budget is None:
        memory_budget = block_rows(1, device) if getattr(device, "type", "") == "cuda" else MEMORY_BUDGET
    if n_rows * n_columns * first.itemsize > memory_budget:
        return blocks
    if len(first) == n_rows:
        return Kept(first)
    Z = empty((n_rows, n_columns), dtype_name(first), first)
    for rows, block in checked(blocks, n_rows, n_columns, device):
        Z[rows] = block
    return Kept(Z)


def kept(blocks, n_rows: int, n_columns: int, device="cpu") -> Kept:
    """Return the same stream, read from memory."""
    return keep_within(blocks, n_rows, n_columns, np.inf, device)


def in_row_space(blocks, n_rows: int, n_columns: int, device="cpu"):
    """Return the same problem in as few columns as possible, for learners whose solution is Z' a.

    The result is a stream of features, its number of columns, and a function that turns coefficients for these columns
    into coefficients (n_columns, c) for the original ones. With fewer rows than columns, let Z Z' = U S U'. The
    features U sqrt(S), as many as Z Z' has rank, have the same inner products. The coefficients v of a solution on them
    become Z' U v / sqrt(S). Other features do not change; they are kept in memory if they fit (``keep_within``).
    """
    if n_rows < n_columns and 8 * n_rows * n_columns <= MEMORY_BUDGET:
        features = kept(blocks, n_rows, n_columns, device)
        gram = features.row_gram
        with decomposing(n_rows, DIAGONALISED_ALONE):
            eigenvalues, U = namespace(gram).linalg.eigh(gram)
        some = eigenvalues > n_rows * np.finfo(np.float64).eps * eigenvalues[-1]
        if some.any():
            lengths, U = eigenvalues[some] ** 0.5, U[:, some]
            return Kept(U * lengths), len(lengths), lambda coef: transposed_product(features.Z, U / lengths @ coef)
    return keep_within(blocks, n_rows, n_columns, device=device), n_columns, lambda coef: coef


def grouped(blocks, groups: np.ndarray, n_groups: int, n_columns: int, dtype: str, device="cpu"):
    """Yield (group, row numbers, chunk (rows, n_columns) in ``dtype``), the rows of one pass sorted by group.

    Rows of the group -1 are left out. A chunk holds ``chunk_rows`` rows of one group for any size of the blocks; the
    last one of a group may have fewer. It is overwritten when the next one is requested.
    """
    chunks, size = None, chunk_rows(n_columns, device)
    members = np.empty((n_groups, size), dtype=np.intp)
    filled = np.zeros(n_groups, dtype=int)
    for rows, block in checked(blocks, len(groups), n_columns, device):
        chunks = empty((n_groups, size, n_columns), dtype, block) if chunks is None else chunks
        for group in range(n_groups):
            waiting = np.flatnonzero(groups[rows] == group)
            while len(waiting):
                taken, waiting = np.split(waiting, [size - filled[group]])
                place = slice(filled[group], filled[group] + len(taken))
                contiguous = taken[-1] - taken[0] + 1 == len(taken)
                chunks[group, place] = block[taken[0] : taken[-1] + 1] if contiguous else block[taken]
                members[group, place] = rows.start + taken
                filled[group] = place.stop
                if place.stop == size:
                    yield group, members[group], chunks[group]
                    filled[group] = 0
    for group in np.flatnonzero(filled):
        yield int(group), members[group, : filled[group]], chunks[group, : filled[group]]


@full_precision
def grams_by_group(
    blocks, B, groups: np.ndarray, n_groups: int, n_columns: int, dtype: str = "float64"
) -> tuple[list, list]:
    """Return Z'Z (n_columns, n_columns) and Z'B (n_columns, c) over the rows of every group, in one pass.

    The products of a chunk are formed in ``dtype`` (on the CPU by NumPy, which knows that chunk.T @ chunk is symmetric)
    and summed in float64, where the features and B (n, c) are: arrays, or tensors of one device. Raises ``ValueError``
    for features that are not finite.
    """
    xp = namespace(B)
    grams = [zeros((n_columns, n_columns), B) for _ in range(n_groups)]
    crosses = [zeros((n_columns, B.shape[1]), B) for _ in range(n_groups)]
    squares = empty((n_columns, n_columns), dtype, B)
    with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite raise an error below
        for group, members, chunk in grouped(blocks, groups, n_groups, n_columns, dtype, B.device):
            product(chunk.T, chunk, out=squares)
            grams[group] += squares
            crosses[group] += chunk.T @ cast(B[members], dtype)
    for gram in grams:
        refuse_non_finite(xp.diagonal(gram))
    return grams, crosses


def transposed_product(Z, B):
    """Return Z' B in float64, shape (n_columns, c), for features in memory, without a float64 copy of them."""
    return concatenated(cast(Z[:, columns], "float64").T @ B for columns in row_blocks(Z.shape[1], CHUNK_ROWS))


def refuse_non_finite(sums) -> None:
    """Raise ``ValueError`` if sums over the features (or features) are not finite: NaN and infinity reach every sum."""
    # of a tensor, ``isfinite`` makes several of the same size
    extremes = torch.stack(torch.aminmax(sums)) if isinstance(sums, torch.Tensor) else sums
    if not namespace(extremes).isfinite(extremes).all():
        raise ValueError("the features hold NaN, infinity or values too large for their precision")
