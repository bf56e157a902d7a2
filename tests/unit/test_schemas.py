"""The JSON schemas of the configuration: an editor finds no mistake in the shipped files, and marks common ones."""

import json

import jsonschema
import pytest
from checkouts import ROOT

from rfstudy import schemas
from rfstudy.files import read_yaml

CONFIG = ROOT / "config"
FILES = {
    "experiments": "experiments/*.yaml", "figures": "figures/*.yaml", "settings": "presets/*.yaml",
    "methods": "methods.yaml", "datasets": "datasets.yaml", "sources": "sources.yaml", "scorecard": "scorecard.yaml",
}  # fmt: skip


@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_a_schema_is_up_to_date_and_accepts_the_shipped_files(name):
    schema = json.loads((CONFIG / "schemas" / f"{name}.json").read_text("utf-8"))
    assert schema == schemas.schemas()[name], "run: python -m rfstudy readme"
    check = jsonschema.Draft202012Validator(schema)
    paths = sorted(CONFIG.glob(FILES[name]))
    assert paths
    for path in paths:
        assert [f"{path.name} {error.json_path}" for error in check.iter_errors(read_yaml(path))] == []


@pytest.mark.parametrize("wrong", [
    {"methodz": []}, {"repeats": 0}, {"kernel": {"name": "gausian"}}, {"preprocess": ["minmaxx"]},
    {"sizes": {"values": ["a"]}},
])  # fmt: skip
def test_a_schema_marks_a_mistake(wrong):
    check = jsonschema.Draft202012Validator(schemas.schemas()["experiments"])
    good = {"extends": "slsrff-text", "title": "A title", "time": None}
    assert check.is_valid({"mine": good})
    assert not check.is_valid({"mine": good | wrong})
