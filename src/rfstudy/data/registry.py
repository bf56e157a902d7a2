"""The registries of data: files with their addresses and checksums, and the tasks that are made from them.

``config/sources.yaml`` names files and ``config/datasets.yaml`` names tasks; both are read here and checked against
each other. A task is made from the files of a ``source``, by a ``generator``, as ``features_of`` another task, or it is
``streamed``: made in chunks, and reduced. Jobs that compute get the entry of their task.
"""

import re
import sys
from collections import namedtuple
from pathlib import Path

from random_features.errors import UserError
from rfstudy.data import entries, modules
from rfstudy.data.forms import FORMS
from rfstudy.data.sources import Source
from rfstudy.data.tasks import UNKNOWN
from rfstudy.fields import FORM_OF_NAME, NAME, listed
from rfstudy.files import read_yaml, shown
from rfstudy.models import problems_of, shortened

#: Minutes that a job requests which makes rows without an extractor: in the study it takes under a minute, except for
#: a stream of millions of rows.
MINUTES, OF_STREAM = 60, 240


#: The sources and the tasks, dicts of their entries by id. The tasks are complete: each task, of any origin, has ``n``,
#: ``d``, ``n_train``, ``n_test``, ``split`` and ``target``.
Registry = namedtuple("Registry", "sources tasks")


def load(config_dir) -> Registry:
    """Return the sources and tasks of a folder, checked against each other and complete.

    Raise ``UserError`` with a line per problem.
    """
    files = {name: Path(config_dir) / f"{name}.yaml" for name in ("sources", "datasets")}
    sources, tasks = read_yaml(files["sources"]), entries.with_defaults(files["datasets"])
    context = {"sources": sources, "tasks": tasks, "reference": Path(config_dir).parent / "data" / "reference"}
    of_sources = problems_by_name(sources, lambda source: problems_of(Source, source))
    found = [f"{shown(files['sources'])}: {problem}" for problem in of_sources]
    if not found:  # tasks are checked against sources that are in order
        of_tasks = problems_by_name(tasks, lambda task: problems_of_task(task, context))
        found = [f"{shown(files['datasets'])}: {problem}" for problem in of_tasks or claimed_twice(tasks)]
    if found:
        raise UserError("\n".join(found))
    return Registry({name: complete_source(source) for name, source in sources.items()}, entries.complete(tasks))


def problems_by_name(entries: dict, check) -> list[str]:
    """Return the names that are not part of a path; if there are none, the problems that ``check`` finds in entries."""
    bad = [f"{shortened(repr(name))}: a name has {FORM_OF_NAME}" for name in entries if not re.fullmatch(NAME, name)]
    return bad or [f"{name}{problem}" for name, each in entries.items() for problem in check(each)]


def problems_of_task(task: dict, context: dict) -> list[str]:
    """Return the problems of the entry of a task, each as ``problems_of`` does."""
    forms = [form for form in FORMS if form in task]
    if len(forms) != 1:
        one = " and ".join(forms) or "none of them"
        return [f": a task is made from one of {', '.join(FORMS)}; this one has {one}"]
    return problems_of(FORMS[forms[0]], task, **context)


def complete_source(source: dict) -> dict:
    """Return a source with the derived keys of its local files: their first content is trusted, at any length."""
    of_path = {"sha256": UNKNOWN, "most_bytes": sys.maxsize, "addresses": []}
    files = {name: entry | of_path if "path" in entry else entry for name, entry in source["files"].items()}
    return {"licence": "not stated"} | source | {"files": files}


def claimed_twice(entries: dict) -> list[str]:
    """Return the names in a paper (``published_as``) that two entries claim."""
    claims: dict[tuple, list[str]] = {}
    for name, entry in entries.items():
        for paper, names in entry.get("published_as", {}).items():
            for each in listed(names):
                claims.setdefault((paper, each), []).append(name)
    twice = {claim: ids for claim, ids in claims.items() if len(ids) > 1}
    return [f"{' and '.join(ids)} are both published as {name!r} in {paper}" for (paper, name), ids in twice.items()]


# --- What the plan reads from the entry of a task that is in use ------------------------------------------------------


def source_of(task: dict) -> str:
    """Return the source whose files a task, or its extractor, needs; empty if there is none."""
    places = (task, task.get("features_of", {}), task.get("streamed", {}))
    return next((each["source"] for each in places if "source" in each), "")


def base_of(task: dict) -> str:
    """Return the task whose prepared rows a task is made from; empty if there is none."""
    return task.get("streamed", {}).get("base", "") or task.get("features_of", {}).get("task", "")


def code_of(task: dict) -> list[str]:
    """Return the modules that make a task's rows, without the common ones."""
    if "streamed" in task:
        generator = task["streamed"].get("generator")
        return [modules.module_name("streams", generator)] if generator else []
    if "features_of" in task:
        return [modules.module_name("extractors", task["features_of"]["extractor"])]
    return [modules.module_name("generators", task["generator"]["name"])] if "generator" in task else []


def extractor_of(task: dict):
    """Return the module of the extractor of a task that is features of another."""
    return modules.load("extractors", task["features_of"]["extractor"])


def wants_gpu(task: dict) -> bool:
    """Return whether a GPU makes the rows of a task faster, as stated by its extractor."""
    return "features_of" in task and extractor_of(task).GPU


def minutes_of(task: dict) -> int:
    """Return the minutes that the job of a task's rows requests: as its extractor says, or enough to read files."""
    if "features_of" in task:
        return extractor_of(task).MINUTES
    return OF_STREAM if "streamed" in task else MINUTES
