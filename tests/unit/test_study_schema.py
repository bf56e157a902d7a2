"""The schemas of the configuration: the keys of kinds, and what is said of a document that breaks its schema."""

from pathlib import Path

import pytest

from rfstudy.study import config, schema

CONFIG = Path(__file__).resolve().parents[2] / "config"
EXPERIMENTS = config.load_experiments(CONFIG)


def problems(name: str, **changes) -> list[str]:
    """What is wrong with an experiment once something of it is changed."""
    experiment = {key: value for key, value in EXPERIMENTS[name].items() if key != "name"} | changes
    return schema.problems_of(experiment, schema.schema_of(experiment["kind"], CONFIG))


@pytest.mark.parametrize(
    ("kind", "has", "lacks"),
    [
        ("grid", {"datasets", "preprocess", "split", "bandwidth", "time", "learners"}, {"grid"}),
        ("scaling", {"grid", "large", "time"}, {"preprocess", "bandwidth"}),
        ("decay", {"grid", "large"}, {"time", "preprocess"}),
    ],
)
def test_a_kind_brings_the_keys_of_what_it_says_of_itself(kind, has, lacks):
    keys = schema.kind_schema(kind)
    known = set(keys["properties"]) | set(keys["required"])
    assert has <= known
    assert not lacks & known


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kernel": {"name": "gausian"}}, ".kernel.name: there is no 'gausian'; did you mean gaussian? known are"),
        ({"kernel": {"name": "polynomial", "degre": 2}}, ".kernel.degre: not a key here; did you mean degree?"),
        ({"bandwidth": {"rule": "median", "k": 2}}, ".bandwidth.k: not a key here; known are factor, rows, rule"),
        ({"bandwidth": {"rule": "neighbour"}}, ".bandwidth: 'k' is a required property"),
        (
            {"learners": {"rigde": {}}},
            ".learners.rigde: not a key here; did you mean ridge? known are ",
        ),
        ({"learners": {"ridge": {"center": "all"}}}, ".learners.ridge.center: 'all' is not one of"),
    ],
)
def test_the_message_on_a_wrong_key_is_of_the_alternative_that_is_named(changes, message):
    (found,) = problems("slsrff-text", **changes)
    assert found.startswith(message)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"rows": 3.0}, ".rows: 3.0 is not of type 'integer'"),
        ({"rows": True}, ".rows: True is not of type 'integer'"),
        ({"rows": 3, "ends": [1.0, float("inf")]}, ".ends[1]: inf is no finite number"),
        ({"rows": 3, "ends": ["a" * 500]}, f".ends[0]: '{'a' * 99} ... {'a' * 75}' is not of type 'number'"),
        # a key that is missing because it is misspelt is told once
        ({"row": 3}, ".row: not a key here; did you mean rows? known are ends, rows"),
        ({}, ": 'rows' is a required property; known are ends, rows"),
    ],
)
def test_a_document_is_told_in_one_line_what_is_wrong_and_where(document, message):
    keys = {"rows": {"type": "integer"}, "ends": {"type": "array", "items": {"type": "number"}}}
    assert schema.problems_of(document, schema.closed(keys) | {"required": ["rows"]}) == [message]
