"""The registries of data: files with their addresses and checksums, and the tasks that are made from them.

``config/sources.yaml`` names files, ``config/datasets.yaml`` names tasks on them; both are read and checked against
each other here. Imported by the workflow when it parses: standard library and PyYAML only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from rfstudy.errors import UserError

#: The part of a file name that a task's ``files`` may hold: one file for everything, or one for each published part.
PARTS = (("all",), ("train", "test"))


@dataclass(frozen=True)
class Registry:
    """The sources and the tasks, by id, as the YAML files have them."""

    sources: dict[str, dict]
    tasks: dict[str, dict]

    def source_of(self, task_id: str) -> str:
        """The id of the source that a task is made from; ``UserError`` for an unknown task."""
        return self.task(task_id)["source"]

    def task(self, task_id: str) -> dict:
        """A task's entry; ``UserError`` lists the known ids."""
        if task_id not in self.tasks:
            raise UserError(f"there is no data set {task_id!r} in datasets.yaml; known are {', '.join(self.tasks)}")
        return self.tasks[task_id]


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML in which a key that stands twice is an error: the second entry would silently replace the first."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = sorted({str(key) for key in keys if keys.count(key) > 1})
        if twice:
            raise yaml.constructor.ConstructorError(
                "while reading a mapping", node.start_mark, f"found twice: {', '.join(twice)}", node.start_mark
            )
        return super().construct_mapping(node, deep)


def load(config_dir) -> Registry:
    """Read ``sources.yaml`` and ``datasets.yaml`` in a folder and check them against each other.

    Raises ``UserError`` with one line for each problem: a source or a file that is named and does not exist, numbers
    of rows that do not add up, a published name that two tasks claim.
    """
    sources = _read(Path(config_dir) / "sources.yaml")
    tasks = _read(Path(config_dir) / "datasets.yaml")
    problems = [
        f"datasets.yaml, {task_id}: {problem}"
        for task_id, task in tasks.items()
        for problem in _problems(task, sources)
    ]
    problems += _claimed_twice(tasks)
    if problems:
        raise UserError("the registries of data are wrong:\n  " + "\n  ".join(problems))
    return Registry(sources, tasks)


def file_names(task: dict) -> dict[str, list[str]]:
    """The files of a task by part ("all", or "train" and "test"), each a list."""
    return {part: [names] if isinstance(names, str) else list(names) for part, names in task["files"].items()}


def _read(path: Path) -> dict:
    try:
        # the loader is a safe one, with one more check
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist") from error
    except yaml.YAMLError as error:
        raise UserError(f"{path}: {error}") from error
    if not isinstance(content, dict):
        raise UserError(f"{path} must be a mapping from ids to entries")
    return content


def _problems(task: dict, sources: dict):
    if task["source"] not in sources:
        yield f"there is no source {task['source']!r} in sources.yaml; known are {', '.join(sources)}"
        return
    known = sources[task["source"]]["files"]
    parts = file_names(task)
    if tuple(parts) not in PARTS:
        yield f"files must name 'all', or 'train' and 'test' in this order, not {', '.join(parts)}"
    for name in (name for names in parts.values() for name in names):
        if name not in known:
            yield f"the source {task['source']!r} has no file {name!r}; it has {', '.join(known)}"
    if task["n_train"] + task["n_test"] != task["n"]:
        yield f"n_train + n_test = {task['n_train'] + task['n_test']} is not n = {task['n']}"
    if task["split"] == "half" and task["n_train"] != (task["n"] + 1) // 2:
        yield f"a half split of {task['n']} rows has {(task['n'] + 1) // 2} training rows, not {task['n_train']}"
    if task["split"] == "half" and tuple(parts) != ("all",):
        yield "a task with published parts has the split 'published', not 'half'"
    if task["split"] == "published" and tuple(parts) == ("all",) and "rows" not in task:
        yield "the split 'published' needs the files of both parts, or a list of rows"


def _claimed_twice(tasks: dict) -> list[str]:
    claims: dict[tuple, list[str]] = {}
    for task_id, task in tasks.items():
        for paper, names in task["published_as"].items():
            for name in [names] if isinstance(names, str) else names:
                claims.setdefault((paper, name), []).append(task_id)
    return [
        f"datasets.yaml: {' and '.join(ids)} are both published as {name!r} in {paper}"
        for (paper, name), ids in claims.items()
        if len(ids) > 1
    ]
