"""Block sizes, threads, seeds, and where float32 is harmless. No other module decides any of these."""

import hashlib
import re
from contextlib import contextmanager, nullcontext
from functools import cache
from threading import Lock

import numpy as np

#: Bytes that a block of rows may take on the CPU: large enough for full speed of a matrix product,
#: small enough that a few of them stay below the memory of a small job.
CPU_BLOCK_BYTES = 64 * 2**20
#: Largest relative change of a solution that rounding of a Gram matrix in float32 may cause.
FLOAT32_TOLERANCE = 1e-3
#: The smallest and the largest number whose squares, and products with features, are summed in float32.
FLOAT32_RANGE = (1e-15, 1e15)

#: Multiply-adds in float32 per number that goes to a GPU or comes back, and in all, from which ``device="auto"`` maps
#: arrays on a GPU. A number takes 1.3 ns by the driver's copy, the slowest there is. On 16 cores its share of the
#: passes over features takes 0.45 ns (H200, November 2026) and a multiply-add 0.0004 to 0.001 ns: the CPU takes as long
#: at 900 to 2,100. The total is at least 0.4 s of such cores, about what a start of CUDA takes.
GPU_PER_NUMBER, GPU_TOTAL = 3_000, 1e12

#: Names of types whose numbers count an unstated unit of time, in NumPy, pandas, polars, PyArrow and Python.
TIMES = re.compile("date|time|duration|period", re.IGNORECASE)


def check_numbers(values, name: str = "X"):
    """Return values; ``ValueError`` for masked entries, ``TypeError`` for dates and durations, which NumPy converts.

    Every public function calls it for its data and targets, before anything converts them. A tensor is ``readable``.

    Parameters
    ----------
    values : array, tensor, sparse matrix, frame or series of any library, or nested lists
    name : str
        The argument, for the message.
    """
    if type(values) is np.ndarray and values.dtype.kind in "biuf":
        return values  # of a block of features in each step of a learner
    if any(map(np.ma.is_masked, values if isinstance(values, list | tuple) else [values])):
        raise ValueError(f"{name} has masked entries: fill them or leave these rows out")
    if hasattr(values, "columns"):  # a frame has a type for each column
        types = set(map(str, values.dtypes if hasattr(values, "dtypes") else values.schema.types))
    else:
        types = {str(getattr(values, "dtype", None) or np.asarray(values).dtype)}
    if types & {"object", "category"}:
        types |= {type(entry).__name__ for entry in np.asarray(values).ravel()}
    for each in filter(TIMES.search, types):
        raise TypeError(f"{name} has the dtype {each}: convert dates and durations to numbers of a stated unit")
    return readable(values)


def check_same_columns(X, Y, name: str = "Y") -> None:
    """Raise ``ValueError`` for two frames of any library whose columns have other names, or another order.

    X may also be an estimator that was fitted to a frame. ``name`` is the argument Y, for the message.
    """
    of_X, of_Y = map(_column_names, (X, Y))
    if of_X and of_Y and of_X != of_Y and all(isinstance(each, str) for each in of_X + of_Y):
        raise ValueError(f"{name}: other columns than in X, or in another order: give {name}[X.columns]")


def _column_names(X) -> list:
    if hasattr(X, "feature_names_in_"):
        return [*X.feature_names_in_]
    if not hasattr(X, "columns"):
        return []
    return [*X.columns] if hasattr(X, "dtypes") else X.schema.names


def readable(values):
    """Return values; a tensor that is the negative or conjugate of its memory, or bfloat16, as one that NumPy reads.

    A float of a type that NumPy lacks becomes float64.
    """
    if not hasattr(values, "resolve_neg"):
        return values
    values = values.resolve_conj().resolve_neg()
    lacks = values.is_floating_point() and not hasattr(np, str(values.dtype).removeprefix("torch."))
    return values.double() if lacks else values


def seed_sequence(*axes) -> np.random.SeedSequence:
    """Return a seed sequence keyed by values: the study's seed first, then the axes that should vary.

    Every axis (a number or a text) enters through a hash of its own. A new method or data set therefore changes no
    other random numbers, and the order of a configuration file does not matter. A NumPy scalar counts as the Python
    value that it equals; 1, 1.0 and "1" are three axes.
    """
    words = []
    for axis in (axis.item() if isinstance(axis, np.generic) else axis for axis in axes):
        digest = hashlib.sha256(f"{type(axis).__name__}:{axis}".encode()).digest()
        words.extend(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    return np.random.SeedSequence(words)


def generator_of(random_state) -> np.random.Generator:
    """Return a new generator for what scikit-learn takes as ``random_state``, or a ``Generator``, which moves on.

    Through RandomState, because ``random_state`` may be None or a shared RandomState.
    """
    if isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state.integers(2**32, size=4, dtype=np.uint32))
    from sklearn.utils import check_random_state

    return np.random.default_rng(check_random_state(random_state).randint(2**32, size=4, dtype=np.uint32))


def seed_of(*axes) -> int:
    """Return the 32-bit seed that belongs to the axes, as an estimator's ``random_state``."""
    return int(seed_sequence(*axes).generate_state(1)[0])


def float32_is_harmless(rows: int, trace: float, shift: float) -> bool:
    """Return whether products of features with themselves may be in float32, where a system is solved with their sum.

    Products of ``rows`` rows at a time in float32, summed in float64, give A + E in place of A = Z'Z with
    |E| <= sqrt(rows) eps trace(A): rounding errors add like a random walk (Higham & Mary 2019; eps = 2^-23 is twice
    the unit roundoff, their constant), entry by entry in proportion to |Z|'|Z|, whose norm is at most
    |Z|_F^2 = trace(A). With TF32 eps is 2^-10. From (A + E + shift) w' = (A + shift) w follows
    |w' - w| <= |E| |w'| / shift: rounding is harmless where |E| / shift is at most ``FLOAT32_TOLERANCE``.

    Parameters
    ----------
    rows : rows per product
    trace : trace of the sum, the squared norm of all features
    shift : smallest number that is added to the diagonal of the sum
    """
    import torch  # heavy, and loaded where there are features

    matmul = torch.backends.cuda.matmul
    # where a program uses the name of PyTorch 2.9, reading the older one raises an error
    is_tf32 = matmul.fp32_precision == "tf32" if hasattr(matmul, "fp32_precision") else matmul.allow_tf32
    eps = 2.0**-10 if is_tf32 else np.finfo(np.float32).eps
    return bool(np.sqrt(rows) * eps * trace <= FLOAT32_TOLERANCE * shift)


def suit_float32(*numbers) -> bool:
    """Return whether numbers, the largest of some columns each, are 0 or in ``FLOAT32_RANGE``."""
    smallest, largest = FLOAT32_RANGE
    return all(smallest <= abs(number) <= largest or number == 0 for number in numbers)


#: The share of the free memory of a GPU that a block takes: one over this number.
_gpu_share = 4


def use_smaller_blocks() -> None:
    """Let blocks on a GPU take a quarter of the share of its free memory that they took before."""
    global _gpu_share
    _gpu_share *= 4


def block_rows(bytes_per_row: int, device=None) -> int:
    """Return the rows per block for work that needs ``bytes_per_row`` bytes per row, at least 1.

    On CUDA a quarter of the free memory is used (see ``use_smaller_blocks``), on the CPU ``CPU_BLOCK_BYTES``.
    """
    budget = CPU_BLOCK_BYTES
    if getattr(device, "type", "cpu") == "cuda":
        import torch

        # what PyTorch keeps for its next tensors is free, too
        unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        budget = (torch.cuda.mem_get_info(device)[0] + unused) // _gpu_share
    return max(1, int(budget // max(1, bytes_per_row)))


def gains_on_gpu(n_rows: int, n_copied: int, products: int) -> bool:
    """Return whether a GPU, where there is one, maps arrays in float32 faster than the CPU, with the copies.

    ``n_copied`` are the numbers of a row that are copied to the GPU and back, ``products`` the multiply-adds for it.
    """
    return products >= GPU_PER_NUMBER * n_copied and n_rows * products >= GPU_TOTAL


def is_sparse(X) -> bool:
    """Return whether X (n, d) is a csr matrix or csr array."""
    return hasattr(X, "indptr")


def dense(X) -> np.ndarray:
    """Return X, an array-like or a csr matrix, as an ndarray."""
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


def without_duplicates(X):
    """Return X; if a sparse matrix stores entries in parts, a copy in which they are added up.

    ``ValueError`` if a sum is infinite.
    """
    if is_sparse(X) and not X.has_canonical_format:
        from sklearn.utils import assert_all_finite

        X = X.copy()
        X.sum_duplicates()
        assert_all_finite(X.data, input_name="X")
    return X


def row_blocks(n_rows: int, rows: int):
    """Yield consecutive slices of at most ``rows`` rows that cover ``range(n_rows)``."""
    for start in range(0, n_rows, rows):
        yield slice(start, min(start + rows, n_rows))


#: The number of threads that ``set_threads`` gave every BLAS pool; None if it was not called.
_blas_threads: int | None = None


def set_threads(threads: int) -> None:
    """Use ``threads`` CPU threads in PyTorch and in every BLAS and OpenMP pool that is loaded."""
    global _blas_threads
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(threads)
    threadpool_limits(limits=threads)
    _blas_threads = threads


#: The contexts of ``one_blas_thread`` that are open, in any thread, and the numbers of threads that the last restores.
_one_thread: dict = {"lock": Lock(), "open": set(), "before": []}


@contextmanager
def one_blas_thread():
    """Let the BLAS use one thread in a context. It does nothing if ``set_threads`` chose one thread.

    The setting is the process's: the first of the contexts that are open at once changes it, the last one restores it.
    What an alarm keeps one from restoring, the next one restores.
    """
    if _blas_threads == 1:
        yield
        return
    this = object()
    try:
        with _one_thread["lock"]:
            if not _one_thread["open"]:
                blas = [pool for pool in _thread_pools().lib_controllers if pool.user_api == "blas"]
                _one_thread["before"] = _one_thread["before"] or [(pool, pool.num_threads) for pool in blas]
                for pool in blas:
                    pool.set_num_threads(1)
            _one_thread["open"].add(this)
        yield
    finally:
        with _one_thread["lock"]:
            _one_thread["open"].discard(this)
            if not _one_thread["open"]:
                for pool, threads in _one_thread["before"]:
                    pool.set_num_threads(threads)
                _one_thread["before"] = []


#: The sizes up to which one thread factorises a matrix, and finds its eigenvectors. On two idle cores two threads would
#: take 0.8 and 0.6 of the time at 1,000 rows, and as long at 500 (November 2026); on busy ones they take many times as
#: long.
FACTORISED_ALONE, DIAGONALISED_ALONE = 2048, 1000


def decomposing(size: int, largest: int = FACTORISED_ALONE):
    """Return a context to decompose a matrix (size, size): with one BLAS thread if its size is at most ``largest``.

    The steps of a small decomposition are too short to be shared: when other processes use the cores, threads that wait
    for each other at every step made it up to a hundred times slower.
    """
    return one_blas_thread() if size <= largest else nullcontext()


def work_alone() -> None:
    """Let the operations of PyTorch in the calling thread use no other threads. No other thread's setting changes."""
    import torch

    torch.get_num_threads()  # the first question of a thread sets its number
    _thread_pools().limit(limits=1, user_api="openmp")


@cache
def _thread_pools():
    """Return the BLAS and OpenMP pools loaded so far. Finding them takes longer than a small factorisation."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
