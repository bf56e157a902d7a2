"""The registries of data: files with their addresses and checksums, and the tasks that are made from them.

``config/sources.yaml`` names files and ``config/datasets.yaml`` names tasks; both are read here and checked against
each other. A task is made from the files of a ``source``, by a ``generator``, as ``features_of`` another task, or it is
``streamed``: made in chunks, and reduced. Only planning imports this module; a job gets the entry of its task.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from random_features.errors import UserError
from rfstudy.data import modules
from rfstudy.data.forms import FORMS
from rfstudy.data.sources import Source
from rfstudy.data.tasks import (
    IN_ORDER,
    UNKNOWN,
    extractor_of,
    generator_of,
    rows_per_chunk,
    stands_in,
    streamed_of,
    target_of,
)
from rfstudy.files import read_yaml, shown
from rfstudy.models import problems_of

#: Minutes that the job asks for which makes the rows of a task, unless its extractor says otherwise.
MINUTES = 60

#: Rows of each part of a stand-in, where it does not state them.
STAND_IN_ROWS = 300


@dataclass(frozen=True)
class Registry:
    """The sources and the tasks, by id.

    The tasks are complete: whatever one is made from, it has ``n``, ``d``, ``n_train``, ``n_test``, ``split`` and
    ``target``.
    """

    sources: dict[str, dict]
    tasks: dict[str, dict]


def load(config_dir) -> Registry:
    """Return the sources and tasks of a folder, checked against each other and complete.

    Raises ``UserError`` with a line per problem.
    """
    files = {name: Path(config_dir) / f"{name}.yaml" for name in ("sources", "datasets")}
    sources, raw = map(read_yaml, files.values())
    tasks = {name: with_defaults(extended(name, raw)) for name in raw}
    context = {"sources": sources, "tasks": tasks, "reference": Path(config_dir).parent / "data" / "reference"}
    found = {
        "sources": [f"{name}{problem}" for name, each in sources.items() for problem in problems_of(Source, each)],
        "datasets": [f"{name}{problem}" for name, each in tasks.items() for problem in problems_of_task(each, context)],
    }
    found["datasets"] += [] if found["datasets"] else claimed_twice(tasks)
    problems = [f"{shown(files[name])}: {problem}" for name, of_file in found.items() for problem in of_file]
    if problems:
        raise UserError("\n".join(problems))
    return Registry(
        {name: complete_source(source) for name, source in sources.items()},
        {name: complete(task, tasks) for name, task in tasks.items()},
    )


def extended(name: str, tasks: dict, trail: tuple[str, ...] = ()):
    """Return the entry of a task with the keys of the one that it ``extends``, unless it states them; null removes."""
    own = tasks.get(name)
    if not isinstance(own, dict) or "extends" not in own:
        return own
    base = own["extends"]
    if base not in tasks or base in (name, *trail):
        return own  # unknown key: see with_defaults
    inherited = extended(base, tasks, (*trail, name))
    return {key: value for key, value in (inherited | own).items() if key != "extends" and value is not None}


def with_defaults(task):
    """Return a task with what follows from what it states: names, split, numbers of rows, and its stand-in's."""
    if not isinstance(task, dict):
        return task
    task = {"published_as": {}} | task
    if "source" in task:
        files = task.get("files")
        task["files"] = files if isinstance(files, dict) else {"all": files}
        task |= default_rows(task, "train" in task["files"] or "rows" in task)
    if isinstance(task.get("stand_in"), dict):
        own = {"label": f"generated (stand-in for {task.get('label')})"} | task["stand_in"]
        if isinstance(own.get("generator"), dict):
            own["generator"] = {"n_train": STAND_IN_ROWS, "n_test": STAND_IN_ROWS} | own["generator"]
        task["stand_in"] = own
    return task


def default_rows(task: dict, has_parts: bool) -> dict:
    """Return the split of a task of files, and the numbers of rows that follow from those that it states."""
    split = task.get("split", "published" if has_parts else "half")
    n, n_train, n_test = (task.get(key) for key in ("n", "n_train", "n_test"))
    found = {"split": split}
    if isinstance(n_train, int) and isinstance(n_test, int) and n is None:
        found["n"] = n_train + n_test
    if isinstance(n, int) and split == "half" and n_train is None and n_test is None:
        found |= {"n_train": (n + 1) // 2, "n_test": n // 2}
    return found


def problems_of_task(task, context: dict) -> list[str]:
    """Return what is wrong with the entry of a task, each as ``problems_of`` does."""
    if not isinstance(task, dict):
        return [f": must be a mapping from keys to values, not {task!r}"]
    forms = [form for form in FORMS if form in task]
    if len(forms) != 1:
        one = " and ".join(forms) or "none of them"
        return [f": a task is made from one of {', '.join(FORMS)}; this one has {one}"]
    return problems_of(FORMS[forms[0]], task, **context)


def complete_source(source: dict) -> dict:
    """Return a source with what follows for its files of this machine: the first content is trusted, however long."""
    of_path = {"sha256": UNKNOWN, "most_bytes": sys.maxsize, "addresses": []}
    files = {name: entry | of_path if "path" in entry else entry for name, entry in source["files"].items()}
    return {"licence": "not stated"} | source | {"files": files}


def complete(task: dict, tasks: dict) -> dict:
    """Return a task with what follows from its generator, from its base, or from the task that it is features of."""
    if "features_of" in task:
        other = complete(tasks[task["features_of"]["task"]], tasks)
        taken = ("n", "n_train", "n_test", "split", "target", "target_range")
        return task | {key: other[key] for key in taken if key in other}
    if "streamed" in task:
        base = complete(tasks[task["streamed"]["base"]], tasks)
        counts = {"n_train": task["streamed"]["n_train"], "n_test": base["n_test"]}
        return task | counts | {"n": sum(counts.values()), "split": "published", "target": base["target"]}
    if "generator" in task:
        counts = {key: task["generator"][key] for key in ("n_train", "n_test")}
        task = task | counts | {"n": sum(counts.values())}
    return task | {"target": target_of(task)}


def claimed_twice(entries: dict) -> list[str]:
    """Return the names in a paper (``published_as``) that two entries claim."""
    claims: dict[tuple, list[str]] = {}
    for name, entry in entries.items():
        for paper, names in entry.get("published_as", {}).items():
            for each in [names] if isinstance(names, str) else names:
                claims.setdefault((paper, each), []).append(name)
    return [
        f"{' and '.join(ids)} are both published as {name!r} in {paper}"
        for (paper, name), ids in claims.items()
        if len(ids) > 1
    ]


# --- What the plan reads from a task ----------------------------------------------------------------------------------


def is_generated(task: dict, *, embedded: bool) -> bool:
    """Return whether a generator makes a task's rows: its own, or its stand-in's."""
    return "generator" in task or stands_in(task, embedded=embedded)


def list_of_rows(task: dict) -> str:
    """Return the file of the rows that a paper used of a source, in data/reference; empty where there is none."""
    rows = task.get("rows", IN_ORDER)
    return "" if rows == IN_ORDER else rows


def source_of(task: dict) -> str:
    """Return the source whose files a task, or its extractor, needs; empty where there is none."""
    places = (task, task.get("features_of", {}), task.get("streamed", {}))
    return next((each["source"] for each in places if "source" in each), "")


def sizes_of_stand_in(task: dict) -> dict[str, int]:
    """Return the training and test rows of a stand-in; the test rows of a stream are at most those of its base."""
    if "streamed" in task["stand_in"]:
        return {"n_train": task["stand_in"]["streamed"]["n_train"], "n_test": task["n_test"]}
    return {key: task["stand_in"]["generator"][key] for key in ("n_train", "n_test")}


def n_chunks(streamed: dict) -> int:
    """Return the number of chunks of a stream."""
    return -(-streamed["n_train"] // rows_per_chunk(streamed))


def base_of(task: dict, *, embedded: bool) -> str:
    """Return the task whose prepared rows a task is made from; empty where there is none."""
    return streamed_of(task, embedded=embedded).get("base", "") or task.get("features_of", {}).get("task", "")


def code_of(task: dict, *, embedded: bool) -> list[str]:
    """Return the modules that make a task's rows, next to the common ones."""
    streamed = streamed_of(task, embedded=embedded)
    if streamed:
        generators = [modules.module_name("streams", streamed["generator"])] if "generator" in streamed else []
        return ["rfstudy.data.stream", *generators]
    if "features_of" in task:
        return [modules.module_name("extractors", extractor_of(task)[0])]
    entry = task if "generator" in task else task["stand_in"] if stands_in(task, embedded=embedded) else None
    return [modules.module_name("generators", generator_of(entry)[0])] if entry else []


def wants_gpu(task: dict) -> bool:
    """Return whether a GPU makes the rows of a task faster: its extractor says so."""
    return "features_of" in task and bool(modules.literal("extractors", extractor_of(task)[0], "GPU"))


def minutes_of(task: dict) -> int:
    """Return the minutes that the job asks for which makes the rows of a task."""
    return modules.literal("extractors", extractor_of(task)[0], "MINUTES") if "features_of" in task else MINUTES
