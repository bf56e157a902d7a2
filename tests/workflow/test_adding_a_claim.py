"""What docs/adding-a-claim.md shows works: its blocks go into a copy of the repository and the claims are tabled.

The stage of the tables is run on made rows, which the verdicts follow; a wrong key stops it before.
"""

import json
import re
import sys
from pathlib import Path

import pandas as pd
import pytest

from random_features.errors import UserError
from rfstudy import tidy
from rfstudy.files import read_yaml
from rfstudy.outputs import load_reports
from rfstudy.study.config import load_experiments

#: Loads the reports of the copy, by its package, and prints the specifications of a paper's claims.
LOAD = """
import json, sys
from pathlib import Path
from rfstudy.files import read_yaml
from rfstudy.outputs import load_reports
from rfstudy.study.config import load_experiments

config = Path("config")
styles, tasks = (read_yaml(config / name) for name in ("methods.yaml", "datasets.yaml"))
reports = load_reports(config, load_experiments(config), styles, tasks)
print(json.dumps([spec for spec in reports if [spec["paper"], spec["id"]] == sys.argv[1:]]))
"""


def specifications(workspace, paper, table="claims"):
    workspace.environment["PYTHONPATH"] = str(workspace.folder / "src")
    return workspace.run(sys.executable, "-c", LOAD, paper, table, check=True)


def tabled(workspace, paper, rows, table="claims"):
    """A table of the claims of a paper under "text" on rows, by claim."""
    specs = [spec for spec in json.loads(specifications(workspace, paper, table).stdout) if spec["protocol"] == "text"]
    tidy.write(rows, workspace.folder / "rows.csv")
    (workspace.folder / "outputs.json").write_text(json.dumps(specs))
    workspace.rfstudy(
        "draw", "--outputs", "outputs.json", "--reference", "data/reference", "--methods", "config/methods.yaml",
        "--tasks", "config/datasets.yaml", "--out", "out", "rows.csv",
    )  # fmt: skip
    return pd.read_csv(workspace.folder / f"out/{paper}/{table}-text.csv", keep_default_na=False).set_index("claim")


def row(metric, method, dataset, value, repeat, **columns):
    return {
        "origin": "measured", "run": "r1", "preset": "laptop", "paper": "survey", "experiment": "survey-gaussian-text",
        "protocol": "text", "dataset": dataset, "kernel": "gaussian", "method": method, "n_features": 246,
        "n_features_label": "2d", "d": 123, "n_train": 100, "n_test": 100, "repeat": repeat, "metric": metric,
        "value": value, "status": "ok", "settings": {},
    } | columns  # fmt: skip


def accuracy(method, dataset, value, repeat):
    return row("accuracy_pct", method, dataset, value, repeat, learner="ridge", split="test")


@pytest.fixture
def workspace(workspace):
    """A workspace without the entries of the paper that the page starts with."""
    for folder in ("claims", "figures"):
        (workspace.folder / "config" / folder / "eerf.yaml").unlink()
    return workspace


def test_a_claim_of_a_known_form(workspace, page):
    before = workspace.sources()
    for block in page("adding-a-claim.md").blocks("yaml", "A claim of a known form"):
        workspace.add(block)
    assert workspace.touched(before) == ["config/claims/eerf.yaml", "config/figures/eerf.yaml"]
    wiggle = (0.1, -0.1, 0.2, -0.2, 0.0)
    rows = [accuracy("orf", "a8a", 80.0 + off, i) for i, off in enumerate(wiggle)]
    rows += [accuracy("sorf", "a8a", 80.0, i) for i in range(5)]
    rows += [
        row("approximation_error_frobenius", method, dataset, value, 0)
        for dataset in ("eeg", "magic04")
        for method, value in (("orf", 0.1), ("sorf", 0.2))
    ]
    found = tabled(workspace, "eerf", rows).loc["eerf-24"]
    assert found["verdict"] == "holds"
    assert found["evidence"].startswith("ORF minus SORF: a8a 2d +0.00")
    assert "SORF minus ORF: EEG 2d +0.100; magic04 2d +0.100" in found["evidence"]
    apart = [each | {"value": 81.0} if (each["method"], each["dataset"]) == ("sorf", "a8a") else each for each in rows]
    assert tabled(workspace, "eerf", apart).loc["eerf-24", "verdict"] == "partly"


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        ("at_mots:", "at_most:", ".eerf-24.tests[0].at_mots: not a key here; did you mean at_most?"),
        ("form: beat", "form: beats", "'beat' is not one of"),
        ("over: sorff", "over: sorf", "eerf-24: there is no method 'sorff'; did you mean sorf?"),
        ("[covtype, a8b]", "[covtype, a8a]", "eerf-24: there is no dataset 'a8b'; did you mean a8a?"),
        ("text: survey-gaussian-txt", "text: survey-gaussian-text", "eerf-24: there is no experiment"),
        ("metric: accuracy", "metric: accuracy_pct", "eerf-24: there is no metric 'accuracy'"),
        ("eerf-99:", "eerf-24:", "eerf-99: no claim of the reference data"),
    ],
)
def test_a_typo_is_named_with_its_claim_and_key(workspace, page, wrong, right, message, monkeypatch):
    block = page("adding-a-claim.md").blocks("yaml", "A claim of a known form")[0]
    assert right in block
    workspace.add(block.replace(right, wrong, 1))
    monkeypatch.chdir(workspace.folder)
    config = Path("config")
    styles, tasks = (read_yaml(config / name) for name in ("methods.yaml", "datasets.yaml"))
    with pytest.raises(UserError) as caught:
        load_reports(config, load_experiments(config), styles, tasks)
    told = str(caught.value)
    assert f"config/claims/eerf.yaml: {message.removeprefix('.')}" in told or message in told


def test_a_claim_of_a_new_form(workspace, page):
    entries = workspace.folder / "config/claims/survey.yaml"
    text, without = entries.read_text(), re.compile(r"^survey-37:\n(?:  .*\n)+", re.MULTILINE)
    assert without.search(text)
    entries.write_text(without.sub("", text))
    before = workspace.sources()
    section = page("adding-a-claim.md")
    (function,) = section.blocks("python", "A claim of a new form")
    workspace.insert("src/rfstudy/report/claims/forms.py", function, before="")
    for block in section.blocks("yaml", "A claim of a new form"):
        where, _, entry = block.partition("\n")
        workspace.insert(where.removeprefix("# "), f"\n{entry}", before="")
    assert workspace.touched(before) == [
        "config/claims/survey.yaml", "config/figures/survey.yaml", "src/rfstudy/report/claims/forms.py",
    ]  # fmt: skip
    # two values 2 x apart have the deviation sqrt(2) x
    for apart, verdict in ((0.7, "holds"), (0.72, "fails")):
        rows = [accuracy("rff", "eeg", 80.0 + apart * repeat, repeat) for repeat in (0, 1)]
        found = tabled(workspace, "survey", rows, "claims-steady").loc["survey-37"]
        assert found["verdict"] == verdict
        assert found["evidence"].startswith("standard deviation of RFF: EEG 2d 0.")
