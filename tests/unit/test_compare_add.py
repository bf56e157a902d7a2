"""A file becomes a permanent task of the study: what ``rfstudy add`` writes, and what it refuses."""

import json
import shutil

import numpy as np
import pytest
from checkouts import ROOT
from compare_tables import saved, table
from messy_files import arff
from refusals import message
from sklearn.datasets import dump_svmlight_file

from rfstudy.add import add
from rfstudy.files import read_yaml
from rfstudy.planning.check import problems_of_preset


@pytest.fixture
def configuration(tmp_path):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copytree(ROOT / "data" / "reference", tmp_path / "data" / "reference")
    return tmp_path / "config"


def test_a_permanent_task_is_written_and_the_configuration_loads(tmp_path, configuration, capsys):
    frame = table("linear", 200).assign(name=[f"row {i}" for i in range(200)])[["name", "a", "b", "c", "y"]]
    frame["y"] = np.where(frame["y"] > 0, "up", "down")
    path = saved(tmp_path, frame, "own table.csv")
    add(path, "y", configuration)
    task = read_yaml(configuration / "datasets.yaml")["own-table"]
    assert (task["d"], task["n"], task["drop_columns"], task["labels"]) == (3, 200, [1], {"down": 0, "up": 1})
    assert list(read_yaml(configuration / "experiments" / "own.yaml")) == ["own-own-table"]
    for name, of_task in (("Größe_1.csv", "grosse-1"), ("2.csv", "2")):
        add(saved(tmp_path, frame, name), "y", configuration)
        assert of_task in read_yaml(configuration / "datasets.yaml")
    assert json.dumps(problems_of_preset(configuration, "quick")) == "[]"
    before = {path: path.read_bytes() for path in configuration.rglob("*.yaml")}
    for file, name in (("---.csv", None), ("table.csv", "../evil x"), ("table.csv", "-"), (f"{97 * 'a'}.csv", None)):
        assert "letters from a to z" in message(add, saved(tmp_path, frame, file), "y", configuration, name)
    assert before == {path: path.read_bytes() for path in configuration.rglob("*.yaml")}
    assert "has it already" in message(add, path, "y", configuration)
    middle = saved(tmp_path, frame[["a", "y", "b"]], "middle.csv")
    assert "first or last" in message(add, middle, "y", configuration)


def test_a_permanent_task_may_be_arff_or_libsvm(tmp_path, configuration, capsys):
    frame = table("linear", 200)
    labels = np.where(frame["y"] > 0, 1, -1)
    dump_svmlight_file(frame[["a", "b", "c"]], labels, str(tmp_path / "l.svm"), zero_based=False)
    (tmp_path / "a.arff").write_text(arff(frame))
    add(tmp_path / "l.svm", None, configuration)
    add(tmp_path / "a.arff", "y", configuration)
    tasks = read_yaml(configuration / "datasets.yaml")
    assert (tasks["l"]["parser"], tasks["l"]["labels"], tasks["l"]["d"]) == ("libsvm", {"-1": 0, "1": 1}, 3)
    assert (tasks["a"]["parser"], tasks["a"]["target"], tasks["a"]["n"]) == ("arff", "regression", 200)
    assert json.dumps(problems_of_preset(configuration, "quick")) == "[]"


def test_add_says_how_to_save_a_file_that_the_study_does_not_read(tmp_path, configuration):
    frame = table("linear", 100)
    np.savez(tmp_path / "arrays.npz", **frame)
    saved(tmp_path, frame, "comma.csv", sep=";", decimal=",")
    saved(tmp_path, frame.assign(a=frame["a"].where(frame["a"] > 0)), "missing.csv")
    before = {path: path.read_bytes() for path in configuration.rglob("*.yaml")}
    for name, words in (("arrays.npz", "no parser of npz"), ("comma.csv", "decimal points"), ("missing.csv", "finite")):
        found = message(add, tmp_path / name, "y", configuration)
        assert words in found
        assert "save it as text" in found
    assert before == {path: path.read_bytes() for path in configuration.rglob("*.yaml")}
