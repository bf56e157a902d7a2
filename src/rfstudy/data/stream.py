"""Make the rows of a task that are too many to be held: in chunks, reduced to a few columns.

A chunk is a range of the training rows: of a file (LIBSVM text, by its bytes) or of a generator (``data/streams``, by
its numbers), images of bytes. The second moments of the chunks at unit length are added up. Their leading eigenvectors
are the principal components about the origin. The columns are not centred, as in the code of Dai et al. 2014, whose
protocol for MNIST-8M the survey follows. The components of all rows are written, block by block, into one file that is
read through a memory map. The test part is the test part of another task, the base.
"""

from pathlib import Path

import numpy as np

from random_features.arrays import row_blocks, seed_sequence
from random_features.errors import UserError
from rfstudy.data import modules
from rfstudy.data.prepared import read
from rfstudy.data.steps.unit import unit
from rfstudy.data.tasks import OF_STREAM, n_chunks, rows_per_chunk, without
from rfstudy.files import naming, save_array, write_atomically

#: Bytes of a LIBSVM file that are parsed at once, and rows whose second moment is formed at once.
WINDOW_BYTES = 2**24
BLOCK_ROWS = 4096


def made(task_id: str, streamed: dict, number: int, images, labels) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a chunk (from 0) by the generator of an entry, from the training images of its base task and
    their labels.
    """
    seed = int.from_bytes(seed_sequence("stream", task_id).generate_state(4, np.uint32).tobytes(), "little")
    first = number * rows_per_chunk(streamed)
    last = min(first + rows_per_chunk(streamed), streamed["n_train"])
    rows, parameters = modules.load("streams", streamed["generator"]).rows, without(streamed, *OF_STREAM)
    X, y = rows(first, last, images, labels, seed, **parameters)
    return X, y.astype(np.int64)


def base_images(streamed: dict, base_dir) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the images (n, columns), memory-mapped, and labels (n,) of the base task, and how many of them train."""
    images, labels, facts = read(base_dir, streamed["base"])
    if facts["status"] != "ok":
        raise UserError(f"the rows of {streamed['base']}, which this task is made of, are missing: {facts['reason']}")
    if images.dtype != np.uint8 or facts["n_train_published"] is None:
        raise UserError(f"{streamed['base']} is no base of a stream: it needs images of bytes with a published split")
    return images, labels, facts["n_train_published"]


def parsed(streamed: dict, number: int, file) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a chunk of a LIBSVM file: those whose lines begin in its share of the bytes."""
    size, of = Path(file).stat().st_size, n_chunks(streamed)
    first, last = size * number // of, size * (number + 1) // of
    none = np.empty((0, streamed["columns"]), np.uint8), np.empty(0, np.int64)
    X, y = zip(none, *libsvm_blocks(file, first, last, streamed["columns"]), strict=True)
    return np.concatenate(X), np.concatenate(y)


def libsvm_blocks(file, first: int, last: int, n_columns: int, window: int = WINDOW_BYTES):
    """Yield images (m, n_columns) uint8 and labels (m,) int64 of the lines of a LIBSVM file that begin in a range of
    bytes.

    A line belongs to the range ``first`` < b <= ``last`` that its first byte b is in, and the line at 0 to the first
    one: consecutive ranges have every line once. A ``window`` of bytes is parsed at once. Raise ``UserError`` for a
    line that is not an image; it names the bytes and the problem.
    """
    # importing it takes as long as making a small chunk
    from sklearn.datasets import load_svmlight_file

    for start in range(first, last, window):
        stop = min(start + window, last)
        with open(file, "rb") as stream:
            stream.seek(start)
            stream.readline()
            if start and stream.tell() > stop:
                continue  # all of it is the middle of one line
            stream.seek(0)
            where = f"{Path(file).name}, bytes {start:,} to {stop:,}"
            try:
                how = {"n_features": n_columns, "zero_based": False, "offset": start, "length": stop - start}
                X, labels = load_svmlight_file(stream, **how)
            except ValueError as error:
                raise UserError(f"{where}: {error}") from error
        check_whole(X.data, 0, 255, f"{where}: a pixel")
        check_whole(labels, -np.inf, np.inf, f"{where}: a class")
        yield X.toarray().astype(np.uint8), labels.astype(np.int64)


def check_whole(numbers: np.ndarray, least: float, most: float, what: str) -> None:
    """Raise ``UserError`` unless all numbers are whole and within two bounds."""
    if (wrong := (numbers != np.rint(numbers)) | (numbers < least) | (numbers > most)).any():
        between = f" from {least:g} to {most:g}" if np.isfinite(most) else ""
        raise UserError(f"{what} is a whole number{between}, not {numbers[wrong][0]:g}")


def second_moment(X: np.ndarray) -> np.ndarray:
    """Return the sum of x x' (columns, columns) over rows at unit length, float64."""
    moment = np.zeros((X.shape[1], X.shape[1]))
    for rows in row_blocks(len(X), BLOCK_ROWS):
        block = unit(X[rows].astype(np.float64))
        moment += block.T @ block
    return moment


def leading_components(moment: np.ndarray, n_components: int) -> tuple[np.ndarray, float]:
    """Return the leading eigenvectors (columns, n_components) of a second moment, and the share of its trace that they
    keep.

    The sign of each is such that its largest entry is positive. Raise ``UserError`` for more components than columns.

    >>> leading_components(np.eye(4), 5)
    Traceback (most recent call last):
    ...
    random_features.errors.UserError: a stream of 4 columns cannot be reduced to 5 components
    """
    if not 1 <= n_components <= len(moment):
        raise UserError(f"a stream of {len(moment)} columns cannot be reduced to {n_components} components")
    values, vectors = np.linalg.eigh(moment)
    vectors = vectors[:, ::-1][:, :n_components]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(n_components)])
    return vectors * signs, float(values[-n_components:].sum() / values.sum())


def gather(task_id: str, task: dict, file, base_dir, folder: Path) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Return all rows of a task, reduced: first the chunks, then the test part of the base.

    Parameters
    ----------
    file : path of the file of a stream that is read from one
    folder : where the chunks (``chunk-<number>.npy``) and the result (``reduced.npy``) are written

    Returns
    -------
    X (n, d) float32, memory-mapped; y (n,) int64; the number of training rows; and the share of the second moment that
    the components keep.

    Raises
    ------
    UserError
        The chunks do not have the rows that the entry states.
    """
    streamed, d = task["streamed"], task["d"]
    images, labels, n_base = base_images(streamed, base_dir)
    of_base = images[:n_base], labels[:n_base]
    chunks, y, moment = [], [], 0.0
    for number in range(n_chunks(streamed)):
        X, of_rows = made(task_id, streamed, number, *of_base) if file is None else parsed(streamed, number, file)
        path = folder / f"chunk-{number}.npy"
        write_atomically(path, lambda part, X=X: save_array(X, part), sync=False)
        chunks.append(np.load(path, mmap_mode="r"))
        y.append(of_rows)
        moment = moment + second_moment(X)
    n_train = sum(map(len, y))
    if n_train != streamed["n_train"]:
        raise UserError(f"the chunks have {n_train:,} rows, and datasets.yaml says {streamed['n_train']:,}")
    components, kept = leading_components(moment, d)
    y = np.concatenate([*y, labels[n_base:].astype(np.int64)])
    path, header = folder / "reduced.npy", {"descr": "<f4", "fortran_order": False, "shape": (len(y), d)}
    with naming(path), open(path, "wb") as file:  # a full disk kills a process that writes into mapped memory
        np.lib.format.write_array_header_1_0(file, header)
        for rows in (*chunks, images[n_base:]):
            for block in row_blocks(len(rows), BLOCK_ROWS):
                reduced = unit(np.asarray(rows[block], dtype=np.float64)) @ components
                file.write(reduced.astype("<f4").tobytes())
    return np.load(path, mmap_mode="r"), y, n_train, kept
