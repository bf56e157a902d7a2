"""What the entry of a task in ``config/datasets.yaml`` says, for those who plan its rows and those who make them.

Standard library only.
"""

from __future__ import annotations

#: What ``streamed`` states in any case, and for a file.
STREAMED = ("base", "n_train")
OF_FILE = ("source", "file", "columns")
OF_STREAMED = (*STREAMED, *OF_FILE, "generator", "rows_per_chunk")

#: What ``sources.yaml`` says in place of a checksum that nobody knows.
UNKNOWN = "unknown"

#: Rules of ``data.split`` that keep neighbouring rows together.
OF_BLOCKS = ("blocks", "first_blocks", "last_blocks")

#: What ``features_of`` says that is no parameter of its extractor.
OF_FEATURES = ("task", "extractor", "source")

#: The value of ``rows`` for a file whose first n_train rows are the published training part.
IN_ORDER = "in_order"

#: The value of a label map for rows that are left out.
DROP = "drop"


def stands_in(task: dict, *, embedded: bool) -> bool:
    """Whether something takes the place of a task's files: in the embedded preset, of files that have to be got."""
    return embedded and "stand_in" in task


def file_names(task: dict) -> dict[str, list[str]]:
    """The files of a task by part ("all", or "train" and "test"), each a list."""
    return {part: [names] if isinstance(names, str) else list(names) for part, names in task["files"].items()}


def target_of(task: dict) -> str:
    """What is learned: "binary", "classes" or "regression"; by default what the label map has values for."""
    return task.get("target") or ("binary" if len(class_values(task["labels"])) == 2 else "classes")


def class_values(labels: dict) -> set[int]:
    """The integers that a label map gives."""
    return {value for value in labels.values() if value != DROP}


def generator_of(entry: dict) -> tuple[str, dict]:
    """Name and parameters of the ``generator`` of a task or stand-in."""
    given = entry["generator"]
    return given["name"], {key: value for key, value in given.items() if key not in ("name", "n_train", "n_test")}


def extractor_of(task: dict) -> tuple[str, dict]:
    """Name and parameters of the extractor of a task that is ``features_of`` another."""
    given = task["features_of"]
    return given["extractor"], {key: value for key, value in given.items() if key not in OF_FEATURES}


def streamed_of(task: dict, *, embedded: bool) -> dict:
    """How a task is streamed, or its stand-in; empty where it is not."""
    return (task["stand_in"] if stands_in(task, embedded=embedded) else task).get("streamed", {})


def stream_generator_of(streamed: dict) -> tuple[str, dict]:
    """Return the name and the parameters of the generator of a stream."""
    given = {key: value for key, value in streamed.items() if key not in OF_STREAMED}
    return streamed["generator"], given


def rows_per_chunk(streamed: dict) -> int:
    """The training rows of a chunk at most; all, where a stream does not say."""
    return streamed.get("rows_per_chunk", streamed["n_train"])
