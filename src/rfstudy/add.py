"""Write the YAML of a permanent task and its experiment for a file of numbers: ``rfstudy add``."""

import os
import re
import unicodedata
from pathlib import Path

import yaml

from random_features.compare.question import Question, understand
from random_features.errors import UserError
from rfstudy.data.parse import read_task
from rfstudy.fields import NAME
from rfstudy.files import read_yaml, shown, write_text

#: The experiment of the survey that is repeated on the file.
BASE = "survey-gaussian-text"

#: The parsers of the study, by the format of a file.
PARSERS = {"text": "table", "ARFF": "arff", "LIBSVM": "libsvm"}


def add(file, target, folder, name=None) -> list[Path]:
    """Add a source, a task and an experiment to the configuration in ``folder``; return the files that were written.

    Raise ``UserError``, and write nothing, for a file that no parser of the study reads.
    """
    file, folder = Path(file), Path(folder)
    if name is None:
        plain = unicodedata.normalize("NFKD", file.name.split(".")[0].casefold()).encode("ascii", "ignore").decode()
        name = re.sub("[^a-z0-9]+", "-", plain).strip("-")
    if name[:1] in ("", "-") or not re.fullmatch(NAME, own := f"own-{name}"):
        raise UserError(f"--name {name}: write letters from a to z, digits and hyphens, 96 at most, such as my-table")
    if name in read_yaml(folder / "datasets.yaml") | read_yaml(folder / "sources.yaml"):
        raise UserError(f"--name {name}: config/datasets.yaml or config/sources.yaml has it already; choose another")
    task = task_of(understand(file, target), file, name)
    try:
        read_task(task | {"files": {"all": [file.name]}}, file.parent, folder)
    except UserError as error:
        wanted = "text in UTF-8 with commas and decimal points, the target last, without missing values"
        raise UserError(f"{file}: the study does not read it ({error}); save it as {wanted}") from error
    experiment = read_yaml(folder / "experiments" / "survey.yaml")[BASE]
    experiment |= {"title": f"Maps on {name}", "paper": "study", "datasets": {name: {"preprocess": ["standard"]}}}
    del experiment["time"]
    if "labels" not in task:
        del experiment["learners"]["svm"]
    blocks = {
        "sources.yaml": {name: {"title": name, "files": {file.name: {"path": str(file)}}}},
        "datasets.yaml": {name: task},
        "experiments/own.yaml": {own: experiment},
    }
    how = {"sort_keys": False, "allow_unicode": True, "width": 110}
    texts = {folder / path: yaml.safe_dump(block, **how) for path, block in blocks.items()}
    if fixed := [path for path in texts if not os.access(path.parent, os.W_OK)]:
        raise UserError(f"{fixed[0]}: its folder cannot be written; nothing was added")
    for path, added in texts.items():
        before = path.read_text(encoding="utf-8").rstrip("\n") if path.exists() else "# Your own data."
        write_text(f"{before}\n\n{added}", path)
        print(f"{shown(path)}:\n\n{added}")
    return list(texts)


def task_of(asked: Question, file: Path, name: str) -> dict:
    """Return the task of a file. Raise ``UserError`` if the study has no parser of it or needs its target elsewhere."""
    settings, how = asked.settings, asked.settings["how"]
    kind = how["kind"]
    target, classes = settings["target"], settings["classes"]
    columns = [each["column"] for each in asked.columns] or [target]
    if kind not in PARSERS:
        raise UserError(f"{file}: the study has no parser of {kind}; save it as text with commas, the target last")
    if target not in (columns[0], columns[-1]):
        raise UserError(f"{file}: the target {target!r} must be its first or last column; move it there")
    numbers = settings["columns"]["numbers"] if settings["columns"] else range(asked.table.shape[1])
    left_out = [j + 1 for j, column in enumerate(columns) if column not in (*numbers, target)]
    task = {
        "label": name, "published_as": {}, "source": name, "files": {"all": file.name}, "parser": PARSERS[kind],
        "split": "half", "n": len(asked.y), "d": len(numbers),
    }  # fmt: skip
    if kind == "text":
        task |= {"separator": how["separator"], "header_lines": how["lines"]}
    task |= {"label_column": "first"} if target != columns[-1] else {}
    task |= {"drop_columns": left_out} if left_out else {}
    labels = {str(each): code for code, each in enumerate(classes or [])}
    return task | ({"labels": labels} if labels else {"target": "regression"})
