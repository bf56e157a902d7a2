"""Read the entry of a task in ``config/datasets.yaml``, and the names of the files of its source, for planning and for
the jobs that make its rows.

Standard library only.
"""

from itertools import pairwise

#: Keys of a generator, of an extractor and of a stream that are not parameters of the function in its file.
OF_GENERATOR = ("name", "n_train", "n_test")
OF_FEATURES = ("task", "extractor", "source")
OF_STREAM = ("base", "generator", "n_train", "rows_per_chunk")

#: Suffixes of the archives and compressed files that may hold the content of a file, tried in this order.
ARCHIVE_ENDINGS = ("", ".xz", ".gz", ".bz2", ".zip")

#: The file in the folder of a source that records the origin of the others.
RECORD = "record.json"

#: The value in ``sources.yaml`` for an unknown checksum.
UNKNOWN = "unknown"

#: Rules of ``data.split`` that keep neighbouring rows together, by the word in their names, and all rules.
OF_BLOCKS = ("blocks", "first_blocks", "last_blocks", "block_folds")
SPLITS = ("published", "half", "random", "folds", *OF_BLOCKS)

#: The folds of the rule ``folds``, of which a repeat tests on one.
N_FOLDS = 10

#: The value of ``rows`` for a file whose first n_train rows are the published training part.
IN_ORDER = "in_order"

#: The value of a label map for rows that are left out.
DROP = "drop"


def without(mapping: dict, *keys: str) -> dict:
    """Return a copy of a mapping without some of its keys."""
    return {key: value for key, value in mapping.items() if key not in keys}


def rows_per_chunk(streamed: dict) -> int:
    """Return the largest number of training rows of a chunk; all rows if a stream does not state it."""
    return streamed.get("rows_per_chunk", streamed["n_train"])


def n_chunks(streamed: dict) -> int:
    """Return the number of chunks of a stream."""
    return -(-streamed["n_train"] // rows_per_chunk(streamed))


def halves(n: int) -> tuple[int, int]:
    """Return how many of n rows (or blocks) train and test in a half split. If n is odd, one more trains.

    The papers' code has MATLAB's ``round(n / 2)``, which takes a half up. Python's ``round`` takes it to the even
    number.

    >>> halves(208), halves(245057)
    ((104, 104), (122529, 122528))
    """
    return n - n // 2, n // 2


def rows_of_blocks(n: int, n_blocks: int, rule: str) -> int:
    """Return how many of n rows train if half of the blocks do, or all but one; of random blocks, and of any one, the
    smallest possible number.

    Block i has the rows r with floor(r n_blocks / n) = i.

    >>> [rows_of_blocks(101, 10, rule) for rule in OF_BLOCKS]
    [50, 51, 50, 90]
    """
    starts = [-(-n * block // n_blocks) for block in range(n_blocks + 1)]
    lengths = [end - start for start, end in pairwise(starts)]
    if rule in ("blocks", "block_folds"):
        lengths.sort()
    half = halves(n_blocks)[0]
    training = {"last_blocks": lengths[-half:], "block_folds": lengths[:-1]}
    return sum(training.get(rule, lengths[:half]))
