"""Complete the entries of ``config/datasets.yaml`` with inherited keys and with defaults.

Planning checks them (``data.registry``); tables and figures need the labels of tasks and their numbers of rows.
"""

from rfstudy.data.tasks import DROP, halves
from rfstudy.files import extended, read_yaml, shown

#: Number of rows of each part of a stand-in that does not state it.
STAND_IN_ROWS = 300

#: Keys that a stand-in has from its task.
OF_STAND_IN = ("d", "split", "target", "target_scaling")


def read_tasks(path) -> dict[str, dict]:
    """Return the tasks in a file by id, complete; the file must have been checked."""
    return complete(with_defaults(path))


def with_defaults(path) -> dict[str, dict]:
    """Return the tasks in a file with inherited keys (null removes one) and with the keys that follow from these. Raise
    ``UserError`` if a task ``extends`` itself or an unknown task.
    """
    tasks = extended(read_yaml(path), "task", over, lambda _: f"{shown(path)}: ")
    return {name: default_keys(task) for name, task in tasks.items()}


def over(base: dict, own: dict) -> dict:
    """Return a task, or another entry, with the keys of the one that it extends; null removes a key."""
    return {key: value for key, value in (base | own).items() if value is not None or not base}


def default_keys(task: dict) -> dict:
    """Return a task with derived keys: names, split, numbers of rows, and the derived keys of its stand-in."""
    task = {"published_as": {}} | task
    if "source" in task:
        files = task.get("files")
        parts = files if isinstance(files, dict) else {"all": files}
        task["files"] = {part: [names] if isinstance(names, str) else names for part, names in parts.items()}
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
    match task.get("n"), task.get("n_train"), task.get("n_test"):
        case None, int(n_train), int(n_test):
            return {"split": split, "n": n_train + n_test}
        case int(n), None, None if split == "half":
            return {"split": split, "n_train": halves(n)[0], "n_test": halves(n)[1]}
    return {"split": split}


def complete(tasks: dict[str, dict]) -> dict[str, dict]:
    """Return tasks with the keys that follow from their generators, their bases, or the tasks that they are features
    of.

    Their stand-ins are complete, too: ``in_use`` chooses between the two.
    """
    return {name: complete_task(task, tasks) for name, task in tasks.items()}


def complete_task(task: dict, tasks: dict) -> dict:
    """Return a task with the keys that follow from its generator, its base, or the task that it is features of."""
    if "features_of" in task:
        other = complete_task(tasks[task["features_of"]["task"]], tasks)
        taken = ("n", "n_train", "n_test", "split", "target", "target_scaling")
        return task | {key: other[key] for key in taken if key in other}
    if "streamed" in task:
        base = complete_task(tasks[task["streamed"]["base"]], tasks)
        counts = {"n_train": task["streamed"]["n_train"], "n_test": base["n_test"]}
        task = task | counts | {"n": sum(counts.values()), "split": "published", "target": base["target"]}
    if "generator" in task:
        counts = {key: task["generator"][key] for key in ("n_train", "n_test")}
        task = task | counts | {"n": sum(counts.values())}
    task = task | {"target": target_of(task)}
    if "stand_in" in task:
        own = {key: task[key] for key in OF_STAND_IN if key in task} | task["stand_in"]
        task["stand_in"] = complete_task(own | {"is_stand_in": True}, tasks)
    return task


def in_use(task: dict, *, embedded: bool) -> dict:
    """Return the entry of the rows that a run uses: the task's own, or its stand-in's if nothing may be downloaded.

    A task that needs no download (a generator, a local file without a stand-in) is the same in every preset.
    """
    own = {key: value for key, value in task.items() if key != "stand_in"}
    return task.get("stand_in", own) if embedded else own


def target_of(task: dict) -> str:
    """Return the kind of target: "binary", "classes" or "regression". The default follows from the values of the label
    map.
    """
    return task.get("target") or ("binary" if len(class_values(task["labels"])) == 2 else "classes")


def class_values(labels: dict) -> set[int]:
    """Return the integers that a label map gives."""
    return {value for value in labels.values() if value != DROP}
