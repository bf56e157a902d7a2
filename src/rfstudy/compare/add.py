"""Write the YAML of a permanent task and its experiment for a file of numbers: ``rfstudy add``."""

from pathlib import Path

from random_features.errors import UserError
from rfstudy.compare.question import understand
from rfstudy.files import read_yaml, shown, write_text

BASE = "survey-gaussian-text"


def add(file, target, folder, name=None) -> list[Path]:
    """Add a source, a task and an experiment to the configuration in ``folder``; return the files that were written.

    Raise ``UserError``, and write nothing, for a file that the parser of tables does not read.
    """
    asked, file, folder = understand(file, target), Path(file), Path(folder)
    how, settings, columns = asked.settings["how"], asked.settings, [each["column"] for each in asked.columns]
    name = name or "".join(sign if sign.isalnum() else "-" for sign in file.name.split(".")[0].lower()).strip("-")
    options = how["options"]
    if (
        how["format"] != "text"
        or options["decimal"] != "."
        or "index_col" in options
        or settings["target"] not in (columns[0], columns[-1])
    ):
        raise UserError(
            f"{file}: a permanent task is text with decimal points and the target first or last; save it so"
        )
    if name in read_yaml(folder / "datasets.yaml") | read_yaml(folder / "sources.yaml"):
        raise UserError(f"--name {name}: config/datasets.yaml or config/sources.yaml has it already; choose another")
    if any(each["missing"] for each in asked.columns):
        raise UserError(f"{file}: has missing values, which the study does not fill; fill them or leave these rows out")
    left_out = [
        j + 1 for j, column in enumerate(columns) if column not in (*settings["columns"]["numbers"], settings["target"])
    ]
    d, n = len(settings["columns"]["numbers"]), len(asked.y)
    task = {
        "label": name, "published_as": {}, "source": name, "files": {"all": file.name}, "parser": "table",
        "separator": options["sep"], "header_lines": int(options["header"] == 0), "split": "half", "n": n, "d": d,
    }  # fmt: skip
    task |= {"label_column": "first"} if settings["target"] == columns[0] else {}
    task |= {"drop_columns": left_out} if left_out else {}
    classes = settings["classes"]
    task |= {"labels": {each: code for code, each in enumerate(classes)}} if classes else {"target": "regression"}
    others = dict.fromkeys(read_yaml(folder / "experiments" / "survey.yaml")[BASE]["datasets"])
    experiment = {
        "extends": BASE,
        "title": f"Maps on {name}",
        "datasets": others | {name: {"preprocess": ["standard"]}},
        "time": None,
    }
    experiment |= {} if classes else {"learners": {"svm": None}}
    source = {"title": name, "files": {file.name: {"path": str(file)}}}
    blocks = {
        "sources.yaml": {name: source},
        "datasets.yaml": {name: task},
        "experiments/survey.yaml": {f"own-{name}": experiment},
    }
    for path, block in blocks.items():
        text = (folder / path).read_text(encoding="utf-8").rstrip("\n")
        write_text(f"{text}\n\n{as_yaml(block)}", folder / path)
        print(f"{shown(folder / path)}:\n\n{as_yaml(block)}")
    return [folder / path for path in blocks]


def as_yaml(block: dict) -> str:
    """Return a mapping as YAML, in its order."""
    import yaml

    return yaml.safe_dump(block, sort_keys=False, allow_unicode=True, width=110)
