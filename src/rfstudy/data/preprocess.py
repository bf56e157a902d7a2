"""Make a task's rows and write the arrays and facts that every later stage reads.

The rows are parsed from files and checked, or drawn by a generator. They may also be features of the rows of another
prepared task, or be made in chunks and reduced. If nothing may be downloaded, the entry of a stand-in is used
(``entries.in_use``).
"""

from collections import namedtuple
from pathlib import Path

import numpy as np

from random_features.arrays import seed_sequence
from random_features.errors import UserError
from rfstudy.data import modules, stream
from rfstudy.data.facts import describe
from rfstudy.data.images import Given
from rfstudy.data.parse import encode_labels, read_folds, read_task
from rfstudy.data.prepared import digest, read, read_record, write
from rfstudy.data.tasks import OF_FEATURES, OF_GENERATOR, halves, without
from rfstudy.files import digest_of, shown

#: The checkpoint of an extractor that takes long; it is removed when the arrays are written.
CHECKPOINT = "checkpoint"


class Missing(Exception):
    """A source is not available, and the configuration allows that; the message says why."""


#: The rows of a task: X (n, d), y (n,) and how many are published training rows, which come first, or None if the rows
#: have no parts; their expected sizes (n, d, n_train, n_test); ``reported``, entries for their facts (the label of a
#: stand-in, or the rows that substitutes leave out); and the facts of rows that are too many for ``describe``.
Rows = namedtuple("Rows", "X y n_train_published expected reported described", defaults=({}, None))


def run(task_id: str, task: dict, raw_dir, out, *, reference_dir, base_dir=None, device="cpu", record_of=dict) -> dict:
    """Write ``X.npy``, ``y.npy`` and ``facts.json`` of a task.

    Parameters
    ----------
    task_id : str
    task : dict
        The entry that is in use (``entries.in_use``): the task's own in ``datasets.yaml``, or its stand-in's.
    raw_dir : path or None
        The folder of the source of the task, or of its extractor, with its ``record.json``; None if it needs none.
    out : path
        Folder of the three files. X (n, d) is float32, or uint8 for images; y (n,) is int64, or float64 where the
        target is regression; published training rows come first.
    reference_dir : path
        Folder of the published lists of rows.
    base_dir : path, optional
        Folder of the three files of the task that this one is ``features_of``, or whose rows it is streamed from.
    device : {"cpu", "cuda", "auto"}
        The device of an extractor.
    record_of : callable, optional
        Function that returns the provenance record of this run after the rows are made.

    Returns
    -------
    dict
        The content of ``facts.json``: status ("ok", or "skipped" with the reason if the source is missing; the arrays
        then have no rows), label, stand_in ("" for a task's own data), split, target, target_scaling (where the task
        has one: the arrays hold the targets as they are), substitutes and left_out (where files are not the published
        ones: their names, and how many rows of each part are missing for that), sizes, classes with their counts (not
        of a regression), the digest of the arrays, under "facts" the counts of ``describe``, and under "provenance" the
        record of the run.

    Raises
    ------
    UserError
        The numbers of rows or columns differ from ``datasets.yaml``, the labels do not suit the target, or files cannot
        be read.
    """
    stand_in = task["label"] if "is_stand_in" in task else ""
    record = {"task": task_id, "label": task["label"], "stand_in": stand_in, "split": task["split"]}
    record |= {key: task[key] for key in ("target", "target_scaling") if key in task}
    checkpoint = Path(out) / CHECKPOINT
    try:
        if "features_of" in task:
            rows = extracted(task, base_dir, raw_dir, checkpoint, device)
        elif "streamed" in task:
            rows = gathered(task_id, task, raw_dir, base_dir, Path(out))
        elif "generator" in task:
            rows = Rows(*generated(task_id, task), sizes_of(task))
        else:
            rows = parsed(task, raw_dir, reference_dir)
    except Missing as missing:
        record |= {"status": "skipped", "reason": str(missing)} | sizes_of(task)
        record |= {"n_train_published": None, "sha256": "", "facts": {}, "provenance": record_of()}
        y_type = np.float64 if task["target"] == "regression" else np.int64
        return write(out, record, np.empty((0, task["d"]), dtype=np.float32), np.empty(0, dtype=y_type))
    record |= rows.reported | {"status": "ok", "reason": ""} | checked_sizes(task_id, rows, record)
    train_share = record["n_train"] / record["n"] if record["split"] == "random" else 0.5
    record["facts"] = rows.described or describe(rows.X, rows.y, rows.n_train_published, train_share)
    written = write(out, record | {"provenance": record_of()}, rows.X, rows.y)
    checkpoint.unlink(missing_ok=True)
    return written


def downloaded(source_id: str, raw_dir, names=None) -> dict[str, dict]:
    """Return the record of a download by file of the source. The named files (by default all) are checked against it.
    Raise ``Missing`` if they are not available.
    """
    raw_dir = Path(raw_dir)
    advice = f"remove {shown(raw_dir / 'record.json')} and run again: the download checks every file, and gets it again"
    source = read_record(raw_dir / "record.json", "run the download of this source first")
    known = source.get("files", {})
    of_files = known.values() if isinstance(known, dict) else [None]
    if source["status"] not in ("ok", "missing") or not all(isinstance(each, dict) for each in of_files):
        raise UserError(f"{shown(raw_dir / 'record.json')} is broken: it is no record of a download; {advice}")
    if source.get("source", source_id) != source_id:
        raise UserError(f"{shown(raw_dir)} holds the files of {source['source']}, not of {source_id}; {advice}")
    if source["status"] != "ok":
        raise Missing(source.get("reason", ""))
    for name in known if names is None else names:
        found = known.get(name, {})
        check_raw(raw_dir / found.get("file", name), found.get("sha256"), advice)
    return known


def check_raw(path: Path, expected: str | None, advice: str) -> None:
    """Raise ``UserError`` unless a raw file is the one that was downloaded: it may have been edited since."""
    if expected is None:
        raise UserError(f"{shown(path.with_name('record.json'))} does not name {path.name}; {advice}")
    if not path.is_file():
        raise UserError(f"{shown(path)} does not exist, although it was downloaded; {advice}")
    if (actual := digest_of(path)) != expected:
        wrong = f"expected sha256 {expected}, actual {actual}"
        raise UserError(f"{shown(path)} is not the file that was downloaded: {wrong}; {advice}")


def parsed(task: dict, raw_dir, reference_dir) -> Rows:
    """Return the rows of a task from its files. Raise ``Missing`` if these are not available."""
    names = [name for of_part in task["files"].values() for name in of_part]
    folds = task.get("folds")
    known = downloaded(task["source"], raw_dir, [*names, folds] if folds else names)
    substitutes = {name: known[name] for name in names if "file" in known[name]}
    *rows, left_out = read_task(task, raw_dir, reference_dir, substitutes)
    reported = {"substitutes": list(substitutes), "left_out": left_out} if substitutes else {}
    if folds:
        reported["fold_of_row"] = read_folds(Path(raw_dir) / folds, len(rows[1]))
    return Rows(*rows, sizes_of(task, left_out), reported)


def generated(task_id: str, task: dict) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Return X, y and the number of published training rows that the generator of an entry makes, the same every time.

    The seed is the task's id, and whether the entry belongs to a stand-in.
    """
    given = task["generator"]
    random = np.random.default_rng(seed_sequence("stand-in" if "is_stand_in" in task else "generator", task_id))
    generate = modules.load("generators", given["name"]).generate
    X, y = generate(given["n_train"] + given["n_test"], task["d"], random, **without(given, *OF_GENERATOR))
    if "labels" in task:
        y, keep = encode_labels(y, task["labels"])
        X, y = X[keep], y[keep]
    return X, y, given["n_train"] if task["split"] == "published" else None


def gathered(task_id: str, task: dict, raw_dir, base_dir, out_dir: Path) -> Rows:
    """Return the rows of a stream, reduced and memory-mapped. Raise ``Missing`` if its file is not available."""
    streamed, file = task["streamed"], None
    if "file" in streamed:
        known = downloaded(streamed["source"], raw_dir, [streamed["file"]])
        file = Path(raw_dir) / known[streamed["file"]].get("file", streamed["file"])
    out_dir.mkdir(parents=True, exist_ok=True)
    X, y, n_train, kept = stream.gather(task_id, task, file, base_dir, out_dir)
    for path in (*out_dir.glob("chunk-*.npy"), out_dir / "reduced.npy"):
        path.unlink()  # a mapped array stays until it is copied
    # the test rows are all of the base's, which may be those of its stand-in
    expected = sizes_of(task) | {"n": len(y), "n_test": len(y) - n_train}
    return Rows(X, y, n_train, expected, described={"second_moment_kept_pct": round(100 * kept, 4)})


def extracted(task: dict, base_dir, raw_dir, checkpoint: Path, device: str) -> Rows:
    """Return the features of another task's rows, or of its stand-in's. Raise ``Missing`` if it has no rows, or if the
    files of the extractor are not available.
    """
    base_dir = Path(base_dir or "")
    read_record(base_dir / "facts.json", "prepare the task that this one is features of first")
    images, y, base = read(base_dir, task["features_of"]["task"])
    if base["status"] != "ok":
        raise Missing(base["reason"])
    of, n_train = task["features_of"], base["n_train_published"]
    name, parameters = of["extractor"], without(of, *OF_FEATURES)
    known = downloaded(of["source"], raw_dir) if "source" in of else {}
    files = {file: Path(raw_dir) / found.get("file", file) for file, found in known.items()}
    extractor = modules.load("extractors", name)
    labels = None if n_train is None else y[:n_train]
    X = extractor.extract(images, Given(labels, files, checkpoint, device), **parameters)
    if base["stand_in"]:
        label = f"{name} of {base['stand_in']}"
        expected = sizes_of(base) | {"d": extractor.columns(images.shape[1], **parameters)}
        return Rows(X, y, n_train, expected, {"label": label, "stand_in": label})
    reported = {key: base[key] for key in ("substitutes", "left_out") if key in base}
    if others := [file for file, found in known.items() if "file" in found]:
        reported["substitutes"] = [*reported.get("substitutes", []), *others]
    return Rows(X, y, n_train, sizes_of(task, reported.get("left_out", {})), reported)


def sizes_of(entry: dict, left_out: dict[str, int] | None = None) -> dict:
    """Return the numbers of rows and columns that a task's entry or facts state, less the rows left out by part."""
    lost = left_out or {}
    lost = {"n": sum(lost.values()), "d": 0, "n_train": lost.get("train", 0), "n_test": lost.get("test", 0)}
    return {key: entry[key] - number for key, number in lost.items()}


def checked_sizes(task_id: str, rows: Rows, record: dict) -> dict:
    """Return the sizes, classes and digest of a task's arrays.

    Raise ``UserError`` if the sizes are not the expected ones, or the labels do not suit the target.
    """
    y, n_train, expected = rows.y, rows.n_train_published, rows.expected
    first = halves(len(y))[0] if n_train is None else n_train
    found = {"d": rows.X.shape[1], "n_train": first, "n_test": len(y) - first, "n": len(y)}
    if record["split"] == "random":
        found |= {key: expected[key] for key in ("n_train", "n_test")}
    wrong = [f"{key} is {value}, expected {expected[key]}" for key, value in found.items() if value != expected[key]]
    if wrong:
        raise UserError(f"the data of {task_id} are not those of datasets.yaml: {'; '.join(wrong)}")
    check_target(task_id, y, record["target"])
    found |= {"n_train_published": n_train, "dtype": str(rows.X.dtype), "sha256": digest(rows.X, y, n_train)}
    return found if record["target"] == "regression" else found | class_counts(y, n_train)


def check_target(task_id: str, y: np.ndarray, target: str) -> None:
    """Raise ``UserError`` unless labels suit a target: numbers (float64), two integers, two or more."""
    if target == "regression" and y.dtype != np.float64:
        raise UserError(f"{task_id} is a regression, but its labels are of type {y.dtype} and no numbers (float64)")
    n_classes = len(np.unique(y))
    if target != "regression" and (y.dtype.kind != "i" or n_classes < 2 or (target == "binary" and n_classes > 2)):
        wanted = "two classes" if target == "binary" else "two or more classes"
        raise UserError(f"{task_id} needs {wanted} as integers, its labels are {n_classes} values of type {y.dtype}")


def class_counts(y: np.ndarray, n_train: int | None) -> dict:
    """Return the classes, and the number of rows of each by part."""
    parts = {"all": y} if n_train is None else {"train": y[:n_train], "test": y[n_train:]}
    counts = {part: zip(*np.unique(of, return_counts=True), strict=True) for part, of in parts.items()}
    by_part = {part: {str(value): int(count) for value, count in of} for part, of in counts.items()}
    return {"classes": np.unique(y).tolist(), "class_counts": by_part}
