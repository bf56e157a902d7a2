"""The looks of the methods and the catalogue of outputs: complete, valid, and told apart by every reader."""

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import matplotlib.markers
import numpy as np
import pytest
import yaml

from rfstudy.report import catalogue, figures, tables
from rfstudy.report.looks import look

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "config"
METHODS = yaml.safe_load((CONFIG / "methods.yaml").read_text(encoding="utf-8"))
FIGURES = yaml.safe_load((CONFIG / "figures.yaml").read_text(encoding="utf-8"))
IDS = {
    "rff", "nrff", "orf", "sorf", "rom", "fastfood", "pmodel", "scrf", "lprff", "mm", "qmc", "ssf", "gq", "sgq", "ssr",
    "lsrff", "slsrff", "karff", "kprff", "clrff", "ses", "rm", "ts", "trp", "nystroem", "nsrf", "nsrf_sphere",
}  # fmt: skip

#: Methods that a paper draws into one panel.
TOGETHER = (
    "rff orf sorf rom fastfood qmc ssf gq lsrff",
    "rff orf ses karff kprff",
    "rff karff nsrf nsrf_sphere",
    "rff qmc lsrff slsrff",
    "rm ts trp",
)

#: Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def schema(name):
    return yaml.safe_load((CONFIG / "schemas" / f"{name}.schema.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "document"), [("methods", METHODS), ("figures", FIGURES)])
def test_the_files_follow_their_schemas(name, document):
    jsonschema.Draft202012Validator.check_schema(schema(name))
    jsonschema.validate(document, schema(name), jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    ("name", "document", "message"),
    [
        ("methods", {"rff": METHODS["rff"] | {"color": "#000000"}}, "'color' was unexpected"),
        ("methods", {"rff": METHODS["rff"] | {"colour": "black"}}, "'black' does not match"),
        ("figures", {"figures": [], "tables": [], "plots": []}, "'plots' was unexpected"),
        (
            "figures",
            {"figures": [FIGURES["figures"][0] | {"kind": "pie"}], "tables": []},
            "'pie'|'curves' was expected",
        ),
        ("figures", {"figures": [], "tables": [{"id": "t"}]}, "is not valid under any of the given schemas"),
    ],
)
def test_the_schemas_refuse_what_is_wrong(name, document, message):
    with pytest.raises(jsonschema.ValidationError, match=message):
        jsonschema.validate(document, schema(name), jsonschema.Draft202012Validator)


def test_every_method_has_a_look_of_its_own():
    assert set(METHODS) >= IDS
    looks = [look(method, METHODS) for method in METHODS]
    assert len({(each.colour, each.marker) for each in looks}) == len(looks)
    assert len({each.label for each in looks}) == len(looks)
    assert {each.marker for each in looks} <= set(matplotlib.markers.MarkerStyle.markers)


def lab(colour: str, matrix) -> np.ndarray:
    """CIELAB of a hex colour as it is seen through a matrix on linear RGB (D65 white)."""
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.asarray(matrix) @ linear, 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ seen / to_xyz.sum(axis=1)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("group", TOGETHER)
def test_methods_of_one_panel_are_told_apart_by_everybody(group, vision):
    for one, other in itertools.combinations(group.split(), 2):
        distance = np.linalg.norm(
            lab(METHODS[one]["colour"], VISION[vision]) - lab(METHODS[other]["colour"], VISION[vision])
        )
        # 2.3 is a just noticeable difference of CIELAB; thin lines need several
        assert distance > 10, (one, other)
        assert METHODS[one]["marker"] != METHODS[other]["marker"]


def test_a_method_without_an_entry_gets_a_look_that_is_its_own_and_stays():
    # the looks of ids that are new to the study are part of its files: they must not depend on the process
    code = (
        "import sys, json, yaml; from rfstudy.report.looks import look;"
        "print(json.dumps([look(m, yaml.safe_load(open(sys.argv[1], encoding='utf-8'))) for m in ('newmap', 'other')]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(CONFIG / "methods.yaml")],
        env={"PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": "7"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    here = [look(method, METHODS) for method in ("newmap", "other")]
    assert json.loads(done.stdout) == [list(each) for each in here]
    assert here[0].label == "newmap"
    assert {(each.colour, each.marker) for each in here}.isdisjoint(
        {(e["colour"], e["marker"]) for e in METHODS.values()}
    )
    assert here[0][1:4] != here[1][1:4]


def test_a_variant_keeps_colour_and_marker_and_is_hollow():
    plain, variant = look("ssf", METHODS), look("ssf", METHODS, "grid")
    assert (variant.colour, variant.marker) == (plain.colour, plain.marker)
    assert variant.label == "SSF (grid)"
    assert variant.hollow
    assert variant.linestyle != plain.linestyle


def test_every_entry_and_protocol_is_one_specification():
    specs = catalogue.specifications(FIGURES)
    entries = [*FIGURES["figures"], *FIGURES["tables"]]
    assert len(specs) == sum(len(entry["experiments"]) for entry in entries)
    spec = catalogue.specification(FIGURES, "survey", "figure-09-code")
    assert (spec["experiment"], spec["protocol"], spec["form"]) == ("survey-gaussian-code", "code", "figures")
    assert catalogue.outputs(spec) == ["figure-09-code.pdf", "figure-09-code.png"]
    table = catalogue.specification(FIGURES, "survey", "table-07-text")
    assert catalogue.outputs(table) == ["table-07-text.csv", "table-07-text.md", "table-07-text.tex"]
    with pytest.raises(ValueError, match="'figure-99'; it has: figure-09-text"):
        catalogue.specification(FIGURES, "survey", "figure-99")


def test_an_output_that_is_there_twice_is_refused():
    entry = {"id": "figure-01", "paper": "eerf", "experiments": {"text": "e"}}
    with pytest.raises(ValueError, match="figure-01-text of paper eerf is in the catalogue twice"):
        catalogue.specifications({"figures": [entry], "tables": [entry]})


def test_every_kind_has_its_maker_and_every_method_named_a_look():
    for form, kinds in (("figures", figures.KINDS), ("tables", tables.KINDS)):
        for entry in FIGURES[form]:
            assert entry["kind"] in kinds
            assert set(entry.get("methods", [])) <= set(METHODS)


def test_the_catalogue_names_tasks_and_experiments_that_exist():
    tasks = yaml.safe_load((CONFIG / "datasets.yaml").read_text(encoding="utf-8"))
    experiments = "\n".join(path.read_text(encoding="utf-8") for path in (CONFIG / "experiments").glob("*.yaml"))
    for spec in catalogue.specifications(FIGURES):
        assert set(spec.get("datasets", [])) <= set(tasks)
        for experiment in catalogue.experiments_of(spec):
            assert re.search(rf"^{experiment}:", experiments, re.MULTILINE)
