"""Features of many rows, block by block.

Each block fits the cache of a core or the memory of a device. Several threads work on whole blocks.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from random_features.arrays import block_rows, is_sparse, one_blas_thread, row_blocks, work_alone
from random_features.tensors import constant, dtype_name, full_precision, needs_gradient, row_reader, times_columns

#: The largest size in bytes of the intermediate results of a block of rows on the CPU. The passes over it (product,
#: cosine, sine, scale) then stay in the cache of a core; 0.5 to 4 MiB gave similar times.
CACHE_BYTES = 2 * 2**20

#: The largest size in bytes of a block of rows and their features in pinned memory on its way to a GPU and back, and
#: the threads that copy such blocks. On an H200 with 16 cores (November 2026), 3.5 GB of features arrived in 0.24 s by
#: 8 threads, and in 1.09 s by the driver's copy alone.
STAGED_BYTES, STAGING_THREADS = 16 * 2**20, 8


def scaled(make_mapper, length_scales, in_double: bool):
    """Return a function like ``RandomFeatureMap._mapper``; columns are divided by length scales (d,), if not None.

    The quotients are float64 where the mapper subtracts them ``in_double``.
    """
    if length_scales is None:
        return make_mapper

    def make(rows, device, dtype):
        mapper = make_mapper(rows, device, dtype)
        factors = constant(1.0 / length_scales, device, None if in_double else dtype)
        return lambda X, out: mapper(times_columns(X, factors), out)

    return make


@full_precision
def features_of_array(
    make_mapper, X, n_columns: int, work_columns: int, device, cache_bytes: int, growth: int = 2, *, sparse: bool
) -> np.ndarray:
    """Return the features (n, n_columns) of X (n, d), an array or a csr matrix, computed block by block on a device.

    ``make_mapper`` is a function like ``RandomFeatureMap._mapper``. ``work_columns`` is the number of columns of the
    widest intermediate array of its result, and ``cache_bytes`` the bytes that this array may take on the CPU.
    ``growth`` is the power with which the features, or the numbers they are computed from, grow with the data.
    ``sparse`` says whether a sparse matrix is mapped in sparse blocks. ``ValueError`` if features overflow.
    """
    (n, d), dtype = X.shape, X.dtype
    found = np.empty((n, n_columns), dtype=dtype)
    read, features = row_reader(X, sparse=sparse), torch.from_numpy(found)
    if device.type == "cpu":
        rows, threads = max(1, cache_bytes // (dtype.itemsize * work_columns)), torch.get_num_threads()
        if is_sparse(X) and not sparse:
            rows = min(rows, block_rows(dtype.itemsize * d))
    else:
        rows, threads = staged_rows(dtype.itemsize, d, work_columns, n_columns, device)
    rows = min(rows, n)
    extremes: list[float] = []

    def make_fill_part():
        how = rows, device, features.dtype
        fill = make_mapper(*how) if device.type == "cpu" else staged(make_mapper, d, n_columns, *how)

        def fill_part(part):
            block = read(part)
            stored = block.values() if block.is_sparse else block
            extremes.extend(map(float, torch.aminmax(stored)) if stored.numel() else ())
            fill(block, features[part])

        return fill_part

    parts = list(row_blocks(n, rows))
    for_each_block(make_fill_part, parts, min(len(parts), threads))
    refuse_out_of_range(extremes, features, growth)
    return found


def staged_rows(itemsize: int, d: int, work_columns: int, n_columns: int, device) -> tuple[int, int]:
    """Return the rows of a block for ``staged``, and the threads that work on blocks: at least 2, so that one copies
    while the other computes.
    """
    threads = max(2, min(STAGING_THREADS, torch.get_num_threads()))
    rows = block_rows(threads * itemsize * (d + 2 * work_columns + n_columns), device)
    return max(1, min(rows, STAGED_BYTES // (itemsize * (d + n_columns)))), threads


def staged(make_mapper, d: int, n_columns: int, rows: int, device, dtype):
    """Return a function of a block (r, d), r <= ``rows``, that writes its features into out (r, n_columns) on the host.

    The block is mapped on a device, on a stream and through pinned buffers that the function has to itself: with one
    function per thread, copies to and from the device overlap the computation, and each other. The buffers are small,
    because the system touches each page of the features when it is first written, which takes longer than all else.
    """
    on_cuda = device.type == "cuda"
    stream = torch.cuda.Stream(device) if on_cuda else None
    pinned = {"dtype": dtype, "device": "cpu", "pin_memory": on_cuda}
    given, found = (torch.empty(rows, columns, **pinned) for columns in (d, n_columns))
    with torch.cuda.stream(stream):
        fill, result = make_mapper(rows, device, dtype), torch.empty(rows, n_columns, dtype=dtype, device=device)

    def fill_block(block, out):
        n = len(block)
        with torch.cuda.stream(stream):
            if not block.is_sparse:
                block = given[:n].copy_(block)
            fill(block.to(device, non_blocking=on_cuda), result[:n])
            found[:n].copy_(result[:n], non_blocking=on_cuda)
        if on_cuda:
            stream.synchronize()
        out.copy_(found[:n])

    return fill_block


def refuse_out_of_range(extremes, features, growth: float) -> None:
    """Raise ``ValueError`` if features, a tensor, overflow, or all features of several rows underflow.

    ``extremes`` are numbers as large as any of the data. A pass over the features would cost nearly as much as the
    features. It is made only if the data leave a doubt.
    """
    largest, dtype, limits = max(map(abs, extremes), default=0.0), dtype_name(features), torch.finfo(features.dtype)
    if largest > limits.max ** (0.5 / growth) and not torch.isfinite(features).all():
        raise ValueError(f"features of numbers as large as {largest:.3g} overflow {dtype}: scale the data")
    is_small = 0 < largest < limits.tiny ** (0.5 / growth) and len(features) > 1
    if is_small and max(map(abs, torch.aminmax(features))) < limits.tiny:
        raise ValueError(f"features of numbers as small as {largest:.3g} underflow {dtype}: scale the data")


@full_precision
def features_of_tensor(make_mapper, X, n_columns: int, work_columns: int):
    """Return the features (n, n_columns) of a tensor X (n, d), on its device; autograd sees through them.

    Other parameters are as in ``features_of_array``.
    """
    features = torch.empty(len(X), n_columns, device=X.device, dtype=X.dtype)
    if needs_gradient(X):  # a second block would overwrite what the gradient of the first one needs
        make_mapper(len(X), X.device, X.dtype)(X, features)
        return features
    rows = min(len(X), block_rows(X.itemsize * (X.shape[1] + 2 * work_columns), X.device))
    fill = make_mapper(rows, X.device, X.dtype)
    for part in row_blocks(len(X), rows):
        fill(X[part], features[part])
    return features


def for_each_block(make_function, parts, threads):
    """Call the function that ``make_function`` makes, one per thread, on every part.

    Several threads take whole blocks and run each operation alone, instead of sharing every operation. That saves a
    barrier per operation, which costs a time slice of the scheduler whenever a core is busy with other work. It also
    leaves no pool of spinning threads behind to slow down the pool of NumPy's BLAS.
    """
    if threads == 1:
        function = make_function()
        for part in parts:
            function(part)
        return
    own, in_inference = threading.local(), torch.is_inference_mode_enabled()  # a mode of the calling thread only

    def call(part):
        with torch.inference_mode(in_inference):
            if not hasattr(own, "function"):
                own.function = make_function()
            own.function(part)

    with one_blas_thread(), ThreadPoolExecutor(threads, initializer=work_alone) as pool:
        list(pool.map(call, parts))  # which raises the errors of the threads
