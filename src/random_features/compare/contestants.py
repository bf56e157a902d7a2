"""The names of the contestants and of the folder of an answer. The module imports only the standard library: a workflow
reads it while it parses.
"""

import re
from pathlib import Path

#: Contestants without a map, in their order, the maps that always compete, and maps that learn from labels.
BASELINES = ("guess", "boosting", "linear", "exact-kernel")
MAPS = ("nystroem", "rff", "orf", "qmc", "kprff", "sorf")
LABELLED = ("kprff", "karff", "lkrf", "eerf")

#: Endings of the names of files that the name of a folder of answers does not have.
ENDINGS = re.compile(r"(\.(csv|tsv|tab|txt|dat|data|parquet|arff|svm|libsvm|npz|gz|bz2|xz|zip))+$", re.IGNORECASE)


def folder_of(file) -> str:
    """Return the name of the folder of the answer on a file."""
    return f"compare-{ENDINGS.sub('', Path(str(file)).name) or 'file'}"


def is_map(name: str) -> bool:
    """Return whether a contestant is a feature map."""
    return name not in BASELINES


def has_kernel(name: str) -> bool:
    """Return whether a contestant is a feature map or the exact kernel."""
    return name not in BASELINES[:-1]
