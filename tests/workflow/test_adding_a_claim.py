"""The example of docs/adding-a-claim.md works: a test adds it to a copy of the repository and makes its table."""

import json
import sys

import pandas as pd

from rfstudy import tidy

#: Prints the specifications of a table in the copy, loaded by its own package.
LOAD = """
import json, sys
from pathlib import Path
from rfstudy.data.entries import read_tasks
from rfstudy.files import read_yaml
from rfstudy.outputs import load_reports
from rfstudy.study.config import load_experiments

config = Path("config")
styles, tasks = read_yaml(config / "methods.yaml"), read_tasks(config / "datasets.yaml")
reports = load_reports(config, load_experiments(config), styles, tasks)
print(json.dumps([spec for spec in reports if [spec["paper"], spec["name"]] == sys.argv[1:]]))
"""


def table(workspace, rows):
    """The table of the new claim on measured rows, by claim."""
    workspace.environment["PYTHONPATH"] = str(workspace.folder / "src")
    specs = workspace.run(sys.executable, "-c", LOAD, "eerf", "claims-stable-text", check=True).stdout
    tidy.write(rows, workspace.folder / "rows.csv")
    (workspace.folder / "outputs.json").write_text(json.dumps(json.loads(specs)))
    workspace.rfstudy(
        "draw", "--outputs", "outputs.json", "--reference", "data/reference", "--methods", "config/methods.yaml",
        "--tasks", "config/datasets.yaml", "--out", "out", "rows.csv",
    )  # fmt: skip
    found = pd.read_csv(workspace.folder / "out/eerf/claims-stable-text.csv", keep_default_na=False)
    return found.set_index("claim").loc["eerf-30"]


def accuracies(method, *values):
    return [
        {
            "origin": "measured", "run": "r1", "preset": "laptop", "paper": "survey", "protocol": "text",
            "experiment": "survey-gaussian-text", "dataset": "a8a", "kernel": "gaussian", "method": method,
            "n_features": 246, "n_features_label": "2d", "d": 123, "n_train": 100, "n_test": 100, "repeat": repeat,
            "metric": "accuracy_pct", "value": value, "status": "ok", "settings": {}, "learner": "ridge",
            "split": "test",
        }
        for repeat, value in enumerate(values)
    ]  # fmt: skip


def test_the_example_of_the_page(workspace, page):
    section = page("adding-a-claim.md")
    (row,), (entry,) = section.blocks("csv", "An example"), section.blocks("yaml", "An example")
    function, more_import = section.blocks("python", "An example")
    reference = workspace.folder / "data/reference/claims.csv"
    reference.write_text(reference.read_text(encoding="utf-8").rstrip("\n") + "\n" + row, encoding="utf-8")
    before = workspace.sources()
    workspace.insert("src/rfstudy/report/claims/eerf.py", function, before="")
    workspace.insert("src/rfstudy/report/claims/eerf.py", more_import, before="from rfstudy.report.compare import")
    workspace.insert("config/figures/eerf.yaml", entry, before="")
    assert workspace.touched(before) == ["config/figures/eerf.yaml", "src/rfstudy/report/claims/eerf.py"]

    orf = accuracies("orf", 80.1, 79.9, 80.2, 79.8, 80.0)
    for sorf, verdict in (((80.0,) * 5, "holds"), ((81.0,) * 5, "partly"), ((80.5, 79.4, 80.8, 79.3, 80.0), "partly")):
        found = table(workspace, orf + accuracies("sorf", *sorf))
        assert found["verdict"] == verdict
    assert found["says"] == "SORF is stable and as accurate as ORF."
    assert "ORF minus SORF: a8a 2d +0.00" in found["evidence"]
    assert "standard deviation of SORF: a8a 2d 0.660" in found["evidence"]
