"""The registries of data: files with their addresses and checksums, and the tasks that are made from them.

``config/sources.yaml`` names files, ``config/datasets.yaml`` names tasks; both are read and checked against each other
here. A task is made from the files of a ``source``, by a ``generator``, it is ``features_of`` another task, or it is
``streamed``: made in chunks of a file or by a maker of rows, and reduced. Imported by the workflow when it parses:
standard library and PyYAML only.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from random_features.errors import UserError
from rfstudy.data import modules
from rfstudy.data.raw import problems_of_name
from rfstudy.data.tasks import (
    IN_ORDER,
    OF_FILE,
    STREAMED,
    UNKNOWN,
    class_values,
    extractor_of,
    file_names,
    generator_of,
    maker_of,
    rows_per_chunk,
    stands_in,
    streamed_of,
    target_of,
)
from rfstudy.files import read_yaml, shown

#: The part of a file name that a task's ``files`` may hold: one file for everything, or one for each published part.
PARTS = (("all",), ("train", "test"))

#: What every task says, and what else it has to and may say by what it is made from.
EVERY = ("label", "published_as", "d")
FORMS = {
    "source": (
        ("files", "parser", "n", "n_train", "n_test", "split", "stand_in"),
        (
            *("separator", "header_lines", "label_column", "drop_columns"),
            *("rows", "labels", "target", "target_range"),
        ),
    ),
    "generator": (("split",), ("labels", "target", "target_range")),
    "features_of": ((), ()),
    "streamed": ((), ("stand_in",)),
}
REMARKS = ("note", "not_comparable", "in_place_of")

#: The files that a parser reads as one part; of one that is not listed any number.
FILES_OF_PARSER = {"libsvm": 1, "table": 1, "arff": 1, "idx": 2, "pair": 2}

#: What a source says of files that others can get; of files of this machine it need not.
OF_PUBLISHED = ("citation", "licence", "page")

#: Minutes that the job asks for which makes the rows of a task, unless its extractor says otherwise.
MINUTES = 60


@dataclass(frozen=True)
class Registry:
    """The sources and the tasks, by id.

    The tasks are complete: whatever one is made from, it has ``n``, ``d``, ``n_train``, ``n_test``, ``split`` and
    ``target``.
    """

    sources: dict[str, dict]
    tasks: dict[str, dict]


def load(config_dir) -> Registry:
    """Read ``sources.yaml`` and ``datasets.yaml`` in a folder, check them against each other and complete the tasks.

    Raises ``UserError`` with one line for each problem: a source, file, generator, extractor or task that is named and
    does not exist, a key that is missing or out of place, numbers of rows that do not add up, tasks that are features
    of each other, a published name that two tasks claim.
    """
    sources = read_yaml(Path(config_dir) / "sources.yaml")
    tasks = read_yaml(Path(config_dir) / "datasets.yaml")
    where = shown(Path(config_dir) / "datasets.yaml")
    problems = [
        f"{shown(Path(config_dir) / 'sources.yaml')}: {source_id}.files: {problem}"
        for source_id, source in sources.items()
        for name in source["files"]
        for problem in problems_of_name(name)
    ]
    problems += [
        f"{where}: {task_id}: {problem}"
        for task_id, task in tasks.items()
        for problem in _problems(task_id, tasks, sources)
    ]
    problems += [
        f"{where}: {task_id}.rows: there is no file {rows!r} in data/reference"
        for task_id, task in tasks.items()
        if (rows := list_of_rows(task)) and not (Path(config_dir).parent / "data" / "reference" / rows).is_file()
    ]
    problems += [f"{where}: {problem}" for problem in claimed_twice(tasks)]
    problems += [f"{shown(Path(config_dir) / 'sources.yaml')}: {problem}" for problem in _problems_of_sources(sources)]
    if problems:
        raise UserError("\n".join(problems))
    return Registry(
        {source_id: _complete_source(source) for source_id, source in sources.items()},
        {task_id: _complete(task, tasks) for task_id, task in tasks.items()},
    )


def is_local(source: dict) -> bool:
    """Whether all files of a source are files of this machine."""
    return all("path" in entry for entry in source["files"].values())


def is_generated(task: dict, *, embedded: bool) -> bool:
    """Whether a generator makes a task's rows: its own, or its stand-in's."""
    return "generator" in task or stands_in(task, embedded=embedded)


def list_of_rows(task: dict) -> str:
    """The file of the rows that a paper used of a source, in data/reference; empty where there is no such list."""
    rows = task.get("rows", IN_ORDER)
    return "" if rows == IN_ORDER else rows


def source_of(task: dict) -> str:
    """The source whose files a task needs: it is made from them, or its extractor asks for them; empty where none."""
    return next(
        (of["source"] for of in (task, *map(task.get, ("features_of", "streamed"))) if of and "source" in of), ""
    )


def sizes_of_stand_in(task: dict) -> dict[str, int]:
    """The training and test rows of a stand-in; the test rows of a stream are those of its base, at most the task's."""
    if "streamed" in task["stand_in"]:
        return {"n_train": task["stand_in"]["streamed"]["n_train"], "n_test": task["n_test"]}
    return {key: task["stand_in"]["generator"][key] for key in ("n_train", "n_test")}


def n_chunks(streamed: dict) -> int:
    """The chunks of a stream."""
    return -(-streamed["n_train"] // rows_per_chunk(streamed))


def base_of(task: dict, *, embedded: bool) -> str:
    """The task whose prepared rows a task is made of; empty where there is none."""
    return streamed_of(task, embedded=embedded).get("base", "") or task.get("features_of", {}).get("task", "")


def code_of(task: dict, *, embedded: bool) -> list[str]:
    """The modules that a task's rows are made by beside the common ones: full names."""
    streamed = streamed_of(task, embedded=embedded)
    if streamed:
        makers = [modules.module_name("streams", streamed["maker"])] if "maker" in streamed else []
        return ["rfstudy.data.stream", *makers]
    if "features_of" in task:
        return [modules.module_name("extractors", extractor_of(task)[0])]
    entry = task if "generator" in task else task["stand_in"] if stands_in(task, embedded=embedded) else None
    return [modules.module_name("generators", generator_of(entry)[0])] if entry else []


def wants_gpu(task: dict) -> bool:
    """Whether the rows of a task are made faster with a GPU: where its extractor says so."""
    return "features_of" in task and bool(modules.literal("extractors", extractor_of(task)[0], "GPU"))


def minutes_of(task: dict) -> int:
    """The minutes that the job asks for which makes the rows of a task."""
    return modules.literal("extractors", extractor_of(task)[0], "MINUTES") if "features_of" in task else MINUTES


def _complete_source(source: dict) -> dict:
    """A source with what follows for its files of this machine: the first content is trusted, however long."""
    of_path = {"sha256": UNKNOWN, "most_bytes": sys.maxsize, "addresses": []}
    files = {name: entry | of_path if "path" in entry else entry for name, entry in source["files"].items()}
    return {"licence": "not stated"} | source | {"files": files}


def _complete(task: dict, tasks: dict) -> dict:
    """A task with what follows from its generator, or from the task that it is features of."""
    if "features_of" in task:
        other = _complete(tasks[task["features_of"]["task"]], tasks)
        taken = ("n", "n_train", "n_test", "split", "target", "target_range")
        return task | {key: other[key] for key in taken if key in other}
    if "streamed" in task:
        base = _complete(tasks[task["streamed"]["base"]], tasks)
        counts = {"n_train": task["streamed"]["n_train"], "n_test": base["n_test"]}
        return task | counts | {"n": sum(counts.values()), "split": "published", "target": base["target"]}
    if "generator" in task:
        counts = {key: task["generator"][key] for key in ("n_train", "n_test")}
        task = task | counts | {"n": sum(counts.values())}
    return task | {"target": target_of(task)}


def _problems(task_id: str, tasks: dict, sources: dict):
    task = tasks[task_id]
    forms = [form for form in FORMS if form in task]
    if len(forms) != 1:
        yield f"a task is made from one of {', '.join(FORMS)}; this one has {' and '.join(forms) or 'none of them'}"
        return
    (form,) = forms
    needed, optional = FORMS[form]
    if form == "source" and task["source"] in sources and is_local(sources[task["source"]]):
        # files that are at hand need nothing in their place
        needed, optional = [key for key in needed if key != "stand_in"], (*optional, "stand_in")
    missing = [key for key in (*EVERY, *needed) if key not in task]
    yield from (f"it needs the key {key!r}" for key in missing)
    for key in task:
        if key not in (*EVERY, form, *needed, *optional, *REMARKS):
            yield f"a task that has {form!r} has no key {key!r}"
    if missing:
        return
    if form == "features_of":
        yield from _problems_of_features(task_id, tasks, sources)
        return
    if form == "streamed":
        yield from _problems_of_streamed(task, tasks, sources)
        return
    yield from _problems_of_target(task)
    if form == "source":
        yield from _problems_of_files(task, sources)
        if "stand_in" in task:
            yield from (f"stand_in: {problem}" for problem in _problems_of_stand_in(task))
    else:
        yield from _problems_of_generator(task, task["split"])


def _problems_of_files(task: dict, sources: dict):
    if task["source"] not in sources:
        yield unknown_source(task["source"], sources)
        return
    known = sources[task["source"]]["files"]
    parts = file_names(task)
    if tuple(parts) not in PARTS:
        yield f"files must name 'all', or 'train' and 'test' in this order, not {', '.join(parts)}"
    for name in (name for names in parts.values() for name in names):
        if name not in known:
            yield f"the source {task['source']!r} has no file {name!r}; it has {', '.join(known)}"
    needed = FILES_OF_PARSER.get(task["parser"])
    yield from (
        f"files.{part}: the parser {task['parser']} reads {needed} of them as one part, not {len(names)}"
        for part, names in parts.items()
        if needed and len(names) != needed
    )
    named = [name for names in parts.values() for name in names]
    yield from (f"files: {name!r} stands there twice" for name in sorted({n for n in named if named.count(n) > 1}))
    if not _is_expression(task.get("separator", ",")):
        yield f"separator: {task['separator']!r} is no regular expression"
    in_use = task["n_train"] + task["n_test"]
    if task["split"] == "random" and in_use > task["n"]:
        yield f"n_train + n_test = {in_use} is more than n = {task['n']}"
    if task["split"] != "random" and in_use != task["n"]:
        yield f"n_train + n_test = {in_use} is not n = {task['n']}"
    has_parts = tuple(parts) != ("all",) or "rows" in task
    if task["split"] == "half":
        yield from _problems_of_half(task["n"], task["n_train"])
    if task["split"] != "published" and has_parts:
        yield f"a task with published parts has the split 'published', not {task['split']!r}"
    if task["split"] == "published" and not has_parts:
        yield "the split 'published' needs the files of both parts, or a list of rows (or rows: in_order)"


def unknown_source(name: str, sources: dict) -> str:
    """The message for a source that ``sources.yaml`` does not have."""
    return f"there is no source {name!r} in sources.yaml; known are {', '.join(sources)}"


def _is_expression(separator: str) -> bool:
    """Whether a separator of several letters, which is a regular expression, is one."""
    try:
        return len(separator) == 1 or bool(re.compile(separator))
    except re.error:
        return False


def _problems_of_half(n: int, n_train: int):
    if n_train != (n + 1) // 2:
        yield f"a half split of {n} rows has {(n + 1) // 2} training rows, not {n_train}"


def _problems_of_target(task: dict):
    labels, interval = task.get("labels"), task.get("target_range")
    if interval is not None and task.get("target") != "regression":
        yield "target_range is of a task with the target 'regression'"
    if interval is not None and not interval[0] < interval[1]:
        yield f"target_range must go from a smaller to a larger number, not {interval}"
    if task.get("target") == "regression":
        if labels is not None:
            yield "a task with the target 'regression' has no labels"
        return
    if labels is None:
        if "generator" not in task:
            yield "it needs labels, or the target 'regression'"
        elif "target" not in task:
            yield "a task that is generated needs a target, or labels"
        return
    yield from _problems_of_labels(labels, target_of(task))


def _problems_of_labels(labels: dict, target: str):
    values = class_values(labels)
    if len(values) < 2 or (target == "binary" and len(values) != 2):
        wanted = "two" if target == "binary" else "at least two"
        yield f"the target {target!r} needs labels of {wanted} values, not {sorted(values)}"


def _problems_of_stand_in(task: dict):
    entry = task["stand_in"]
    missing = [key for key in ("label", "generator") if key not in entry]
    yield from (f"it needs the key {key!r}" for key in missing)
    yield from (f"it has no key {key!r}" for key in entry if key not in ("label", "generator", "d", "labels"))
    if missing:
        return
    if "labels" in entry and task.get("target") == "regression":
        yield "the target 'regression' has no labels"
    elif "labels" in entry and "labels" in task:
        yield from _problems_of_labels(entry["labels"], target_of(task))
    yield from _problems_of_generator(entry, task["split"])


def _problems_of_generator(entry: dict, split: str):
    given = entry["generator"]
    missing = [key for key in ("name", "n_train", "n_test") if key not in given]
    yield from (f"generator needs the key {key!r}" for key in missing)
    if missing:
        return
    yield from modules.problems("generators", *generator_of(entry))
    if split == "half":
        yield from _problems_of_half(given["n_train"] + given["n_test"], given["n_train"])


def _problems_of_features(task_id: str, tasks: dict, sources: dict):
    given = tasks[task_id]["features_of"]
    missing = [key for key in ("task", "extractor") if key not in given]
    yield from (f"features_of needs the key {key!r}" for key in missing)
    if missing:
        return
    name, parameters = extractor_of(tasks[task_id])
    yield from modules.problems("extractors", name, parameters)
    if "source" in given and given["source"] not in sources:
        yield unknown_source(given["source"], sources)
    if name in modules.names("extractors") and ("source" in given) != ("files" in modules.asked_for(name)):
        yield f"the extractor {name!r} {'reads no files of a source' if 'source' in given else 'needs a source'}"
    trail = [task_id]
    while "features_of" in tasks[trail[-1]]:
        other = tasks[trail[-1]]["features_of"].get("task")
        if other not in tasks:
            if len(trail) == 1:
                yield f"there is no task {other!r} in datasets.yaml; known are {', '.join(tasks)}"
            return
        if other in trail:
            yield f"tasks are features of each other in a circle: {' -> '.join((*trail, other))}"
            return
        trail.append(other)


def _problems_of_streamed(task: dict, tasks: dict, sources: dict):
    if "in_place_of" in task and task["in_place_of"] not in tasks:
        yield f"in_place_of: there is no task {task['in_place_of']!r} in datasets.yaml; known are {', '.join(tasks)}"
    yield from _problems_of_stream(task["streamed"], tasks, sources)
    if "stand_in" in task:
        missing = [key for key in ("label", "streamed") if key not in task["stand_in"]]
        yield from (f"stand_in: it needs the key {key!r}" for key in missing)
        if not missing:
            problems = _problems_of_stream(task["stand_in"]["streamed"], tasks, sources)
            yield from (f"stand_in: {problem}" for problem in problems)
    elif "file" in task["streamed"]:
        yield "it needs the key 'stand_in'"


def _problems_of_stream(given: dict, tasks: dict, sources: dict):
    if ("file" in given) == ("maker" in given):
        yield "streamed: rows come from a 'file' of a 'source', or from a 'maker'"
        return
    missing = [key for key in (*STREAMED, *(OF_FILE if "file" in given else ())) if key not in given]
    yield from (f"streamed needs the key {key!r}" for key in missing)
    if missing:
        return
    base = tasks.get(given["base"], {})
    if "source" not in base or base.get("split") != "published":
        yield f"streamed.base: {given['base']!r} is no task of files with a published split"
    if "maker" in given:
        yield from modules.problems("streams", *maker_of(given))
    elif given["file"] not in sources.get(given["source"], {"files": {}})["files"]:
        yield f"streamed: sources.yaml has no file {given['file']!r} of a source {given['source']!r}"


def _problems_of_sources(sources: dict):
    for source_id, source in sources.items():
        missing = [] if is_local(source) else [key for key in OF_PUBLISHED if key not in source]
        yield from (f"{source_id}: a source with files to download needs the key {key!r}" for key in missing)
        for name, entry in source["files"].items():
            yield from (f"{source_id}: {name}: {problem}" for problem in _problems_of_file(entry))


def _problems_of_file(entry: dict):
    if "path" in entry:
        others = ", ".join(map(repr, sorted(set(entry) - {"path"})))
        if others:
            yield f"a file of this machine has 'path' and nothing else, not {others}"
        return
    missing = [key for key in ("sha256", "addresses") if key not in entry]
    yield from (f"a file needs 'path' where it is on this machine, else {key!r}" for key in missing)
    if missing:
        return
    needed, other = ("most_bytes", "bytes") if entry["sha256"] == UNKNOWN else ("bytes", "most_bytes")
    if needed not in entry or other in entry:
        checksum = "an unknown checksum" if entry["sha256"] == UNKNOWN else "a checksum"
        yield f"a file with {checksum} has {needed!r} and no {other!r}"


def claimed_twice(tasks: dict) -> list[str]:
    """The names that two entries say a paper has for them (``published_as``): its numbers would be of either."""
    claims: dict[tuple, list[str]] = {}
    for task_id, task in tasks.items():
        for paper, names in task.get("published_as", {}).items():
            for name in [names] if isinstance(names, str) else names:
                claims.setdefault((paper, name), []).append(task_id)
    return [
        f"{' and '.join(ids)} are both published as {name!r} in {paper}"
        for (paper, name), ids in claims.items()
        if len(ids) > 1
    ]
