"""config/README.md explains every key there is, and none that there is not."""

import re
from pathlib import Path

import pytest
import yaml

from random_features.kernels import KERNELS
from random_features.learners.entry import known
from rfstudy.report import catalogue
from rfstudy.study.code import constant, modules_in
from rfstudy.study.schema import bandwidth_schema, kind_schema, learner_schema

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
SCHEMAS = {
    path.name.removesuffix(".schema.yaml"): yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in (ROOT / "config" / "schemas").glob("*.yaml")
}
COMMON = SCHEMAS["experiments"]
KINDS = modules_in("rfstudy.study.kinds")

#: Definitions that have a table of their own, or are no mapping of fixed keys.
ELSEWHERE = {f"#/$defs/{name}" for name in ("search", "time", "overlay", "entry", "bandwidth", "learners")}


def keys(schema: dict, definitions: dict, prefix: str = "") -> set[str]:
    """The keys of a mapping; those of a mapping in it, or of the entries of one, with a dot."""
    found = set()
    for name, inner in schema.get("properties", {}).items():
        below = set()
        if inner.get("$ref") not in ELSEWHERE:
            if "$ref" in inner:
                inner = definitions[inner["$ref"].rpartition("/")[2]]
            for each in (inner, inner.get("items", {}), inner.get("additionalProperties", {})):
                if isinstance(each, dict):
                    below |= keys(each, definitions, f"{prefix}{name}.")
        # a mapping is told by its keys
        found |= below or {prefix + name}
    return found


def tables() -> dict[str, list[list[str]]]:
    """Rows of cells by the heading that they stand under."""
    found = {}
    for part in re.split(r"^##+ ", README, flags=re.MULTILINE)[1:]:
        heading, text = part.split("\n", 1)
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
        found[heading] = rows[2:]
    return found


def spans(cell: str) -> list[str]:
    """The words in code style."""
    return re.findall(r"`([^`]+)`", cell)


def first_column(heading: str) -> list[str]:
    return [word for row in tables()[heading] for word in spans(row[0])]


def of_experiments() -> set[str]:
    found = keys({"properties": {k: v for k, v in COMMON["properties"].items() if k != "steps"}}, {}) | {"steps"}
    for kind in KINDS:
        own = kind_schema(kind)["properties"]
        plain = {name: {} if name in ("grid", "large") else schema for name, schema in own.items()}
        found |= keys({"properties": plain}, COMMON["$defs"])
    return found | {"extends"}


EXPECTED = {
    "Settings of a run": keys(SCHEMAS["config"], SCHEMAS["config"]["$defs"]),
    "Experiments (`experiments/*.yaml`)": of_experiments(),
    "`datasets.<id>`": set(COMMON["$defs"]["overlay"]["properties"]),
    "An entry of `methods`": set(COMMON["$defs"]["entry"]["properties"]),
    "A step of `steps`": set(COMMON["properties"]["steps"]["items"]["properties"]),
    "`search`": keys(
        {"properties": {k: {} if k == "size" else v for k, v in COMMON["$defs"]["search"]["properties"].items()}},
        COMMON["$defs"],
    ),
    "`time`": set(COMMON["$defs"]["time"]["properties"]),
    "Kinds": {kind for kind in KINDS if kind != "grid"},
    "Kernels": set(KERNELS),
    "Learners": {"repeats"}
    | {f"{learner}.{option}" for learner in known() for option in learner_schema(learner) if option != "repeats"},
    "Bandwidth rules": {"rule"}
    | {
        f"{rule}.{key}"
        for rule in modules_in("rfstudy.study.bandwidths")
        for key in bandwidth_schema(rule)["properties"]
        if key != "rule"
    },
    "Tables and figures (`figures/<paper>.yaml`)": {"extends", *SCHEMAS["figures"]["properties"]},
    "Where the printed numbers are measured (`scorecard.yaml`)": keys(
        SCHEMAS["scorecard"]["$defs"]["paper"], SCHEMAS["scorecard"]["$defs"]
    ),
    "`sources.yaml`": keys(SCHEMAS["sources"]["additionalProperties"], SCHEMAS["sources"]["$defs"]) | {"files"},
    "`methods.yaml`": set(SCHEMAS["methods"]["additionalProperties"]["properties"]),
}


def test_every_table_is_held():
    assert {heading for heading, rows in tables().items() if rows} == set(EXPECTED)


@pytest.mark.parametrize("heading", EXPECTED)
def test_a_table_has_every_key_and_no_other(heading):
    found = first_column(heading)
    assert len(found) == len(set(found))
    assert set(found) == EXPECTED[heading]


def test_the_keys_of_the_grids_of_all_kinds():
    for name, _measured, of_grid in tables()["Kinds"]:
        (kind,) = spans(name)
        assert sorted(spans(of_grid)) == sorted(constant(f"rfstudy.study.kinds.{kind}", "GRID"))


def test_the_parameters_of_all_kernels():
    for name, parameters in tables()["Kernels"]:
        (kernel,) = spans(name)
        assert tuple(spans(parameters)) == KERNELS[kernel]["parameters"]


def test_every_bandwidth_rule_is_named():
    (row,) = [row for row in tables()["Bandwidth rules"] if spans(row[0]) == ["rule"]]
    assert sorted(spans(row[1])) == modules_in("rfstudy.study.bandwidths")


def test_the_keys_of_tasks_are_explained_on_their_page():
    page = (ROOT / "docs" / "adding-a-dataset.md").read_text(encoding="utf-8")
    page = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    known_keys = set(SCHEMAS["datasets"]["additionalProperties"]["properties"])
    rows = [line.split("|")[1] for line in page.splitlines() if re.match(r" +\| `", line)]
    in_table = {word for row in rows for word in spans(row)}
    assert in_table <= known_keys
    assert known_keys <= {word.split(":")[0] for word in spans(page)}


def test_every_kind_of_table_and_figure_is_named():
    (row,) = [row for row in tables()["Tables and figures (`figures/<paper>.yaml`)"] if spans(row[0]) == ["kind"]]
    assert sorted(spans(row[1])) == sorted(catalogue.kinds())
