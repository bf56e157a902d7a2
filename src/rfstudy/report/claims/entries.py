"""The entries of ``config/claims/<paper>.yaml``: their schema, composed of those of the forms, and what may be wrong.

An entry tests one claim of ``data/reference/claims.csv``: ``tests``, a list of forms with their keys, or the keys of
one form right in the entry. Read by the workflow when it parses, so that a wrong key, method, data set or experiment
stops it before anything runs; the forms are therefore read from their source and not imported. Standard library only.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from random_features.errors import nearest

HERE = Path(__file__).parent

#: Numbers that rows are chosen by.
RANGE = {
    "anyOf": [
        {"type": "number"},
        {"type": "array", "items": {"type": "number"}},
        {
            "type": "object",
            "additionalProperties": False,
            "minProperties": 1,
            "properties": {name: {"type": "number"} for name in ("above", "at_least", "below", "at_most")},
        },
    ]
}

NAMES = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}

BOUND_NAMES = ("above", "at_least", "below", "at_most")

DEFINITIONS = {
    "method": {"type": "string", "pattern": "^[a-z0-9_]+(/[a-z0-9-]+)?$"},
    "methods": {"type": "array", "items": {"$ref": "#/$defs/method"}, "minItems": 1},
    "metric": {"type": "string"},
    "side": {
        "anyOf": [
            {"$ref": "#/$defs/method"},
            *(
                {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {pick: {"$ref": "#/$defs/methods"}, "also": {"$ref": "#/$defs/methods"}},
                    "required": [pick],
                }
                for pick in ("least", "most")
            ),
            {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "method": {"$ref": "#/$defs/method"},
                    "metric": {"$ref": "#/$defs/metric"},
                    "size": {"type": "string"},
                    "at": {
                        "type": ["number", "string"],
                        "description": "on the axis: a number or a formula of the place",
                    },
                },
                "required": ["method"],
            },
        ]
    },
    "sides": {"anyOf": [{"$ref": "#/$defs/side"}, {"type": "array", "items": {"$ref": "#/$defs/side"}, "minItems": 1}]},
    "labels": NAMES,
    "bound": {
        "anyOf": [
            {"type": ["number", "string"]},
            {
                "type": "object",
                "additionalProperties": False,
                "minProperties": 1,
                "maxProperties": 1,
                "properties": {name: {"type": "number"} for name in ("pooled_sd", "standard_errors")},
            },
        ]
    },
    "select": {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            **dict.fromkeys(("experiment", "dataset", "kernel", "learner", "split", "sizes"), NAMES),
            **dict.fromkeys(("multiple", "share", "n_features", "n_train", "d", "at"), RANGE),
            "settings": {"type": "object"},
        },
    },
    "experiments": {"type": "object", "minProperties": 1, "additionalProperties": NAMES},
}

#: Keys that several forms share, by the names under which a form asks for them.
SHARED = {
    "metric": {"metric": {"$ref": "#/$defs/metric"}},
    "any_metric": {"metric": {"$ref": "#/$defs/metric"}},
    "bounds": {
        **{name: {"$ref": "#/$defs/bound"} for name in BOUND_NAMES},
        "between": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
        "neutral": {"type": "number"},
    },
    "errors": {"tolerance": {"type": "number", "exclusiveMinimum": 0}, "significant": {"type": "boolean"}},
    "each": {"each": {"enum": ["repeat"]}},
}

#: Keys of every test.
OF_TESTS = {"form": {}, "select": {"$ref": "#/$defs/select"}, "at": {"enum": ["every", "most", "some"]}}

#: Keys of an entry beside those of its test.
OF_ENTRIES = {
    "experiments": {"$ref": "#/$defs/experiments"},
    "select": {"$ref": "#/$defs/select"},
    "needs": {"enum": ["every", "any"]},
    "joined": {"type": "boolean"},
    "reason": {"type": "string"},
    "not_testable": {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]},
    "aside": {"type": "object", "additionalProperties": {"type": "string"}},
}


@cache
def forms() -> dict[str, dict]:
    """The schemas of all forms by name, as they stand beside the functions in ``forms.py``."""
    return {name: of_form for name, of_form in described("forms").items() if of_form is not None}


@cache
def described(module: str) -> dict[str, dict | None]:
    """The public functions of a module of this folder, each with the literal schema of its keys (its name in capitals)
    or None; nothing for a module that is not there."""
    path = HERE / f"{module}.py"
    if not path.exists():
        return {}
    body = ast.parse(path.read_text(encoding="utf-8")).body
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    literals = {
        node.targets[0].id: node.value
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    return {name: ast.literal_eval(literals[name.upper()]) if name.upper() in literals else None for name in functions}


def schema(paper: str) -> dict:
    """The JSON schema of a paper's file of claims: ids to entries. Beside the forms it may use the paper's own tests
    (``form: custom``, ``function: <name>``), each with the keys of its own."""
    known = [({"form": name}, of_form) for name, of_form in forms().items()]
    known += [({"form": "custom", "function": name}, of_form or {}) for name, of_form in described(paper).items()]
    named = {"required": ["form"], "properties": {"form": {"enum": [*sorted(forms()), "custom"]}}}
    tests = {"type": "array", "items": {"$ref": "#/$defs/test"}, "minItems": 1}
    several = {
        "additionalProperties": False,
        "required": ["experiments", "tests"],
        "properties": OF_ENTRIES | {"tests": tests, "beside": tests},
    }
    alone = named | {
        "required": ["experiments", "form"],
        "allOf": [_keys(name, of_form, OF_ENTRIES | {"beside": tests}) for name, of_form in known],
    }
    one_test = named | {"type": "object", "allOf": [_keys(name, of_form, {}) for name, of_form in known]}
    return {
        "type": "object",
        "additionalProperties": {"type": "object", "if": {"required": ["tests"]}, "then": several, "else": alone},
        "$defs": DEFINITIONS | {"test": one_test},
    }


def _keys(name: dict[str, str], of_form: dict, beside: dict) -> dict:
    """The keys of a test if it is the one of this name."""
    groups = of_form.get("with", [])
    shared = {key: value for group in groups for key, value in SHARED[group].items()}
    own = {key: value for key, value in of_form.items() if key not in ("with", "properties", "required")}
    return {
        "if": {"properties": {key: {"const": value} for key, value in name.items()}, "required": list(name)},
        "then": {
            "additionalProperties": False,
            "properties": OF_TESTS | dict.fromkeys(name, True) | shared | of_form.get("properties", {}) | beside,
            "required": [*of_form.get("required", []), *(["metric"] if "metric" in groups else [])],
            **own,
        },
    }


def tests_of(entry: dict) -> list[dict]:
    """The tests of an entry that decide, each with the entry's selection under its own."""
    own = {key: value for key, value in entry.items() if key not in OF_ENTRIES and key not in ("tests", "beside")}
    return [_with_selection(test, entry) for test in entry.get("tests", [own])]


def beside_of(entry: dict) -> list[dict]:
    """The tests of an entry that are evidence only."""
    return [_with_selection(test, entry) for test in entry.get("beside", [])]


def _with_selection(test: dict, entry: dict) -> dict:
    return test | {"select": {**entry.get("select", {}), **test.get("select", {})}}


def experiments_of(entry: dict, protocol: str) -> list[str]:
    """The experiments that a claim rests on under a protocol; none where it is not tested there."""
    named = entry.get("experiments", {}).get(protocol, [])
    return [named] if isinstance(named, str) else list(named)


def resolved(spec: dict, claims: dict) -> dict:
    """The specification of a table with the entries of its claims in it, so that the table needs no other file.

    ``claims`` are the paper's entries; a claim without one is None, which is not run.
    """
    if spec.get("kind") != "claims":
        return spec
    return spec | {"claims": {name: claims.get(name) for name in spec["claims"]}}


def problems(document: dict, paper: str, problems_of, known: dict) -> list[str]:
    """What is wrong with a paper's claims, each as ``claim.key: message``.

    ``problems_of`` holds a document against a schema (``study.schema.problems_of``); ``known`` are the ids of
    ``claims``, ``methods``, ``metrics``, ``datasets``, ``experiments`` and the labels of ``sizes``. A test of a form
    that asks for a border or a margin has to have one.
    """
    found = [problem.removeprefix(".") for problem in problems_of(document, schema(paper))]
    if found:
        return found
    for name, entry in document.items():
        if name not in known["claims"]:
            found.append(f"{name}: no claim of the reference data; {_suggestion(name, known['claims'])}")
        for key, words in _words(entry).items():
            found += [
                f"{name}: there is no {key[:-1]} {word!r}; {_suggestion(word, known[key])}"
                for word in sorted(words - set(known[key]))
            ]
        for test in [*tests_of(entry), *beside_of(entry)]:
            found += [f"{name}: {problem}" for problem in _problems_of_test(test, paper)]
    return found


def _problems_of_test(test: dict, paper: str) -> list[str]:
    form = test["form"]
    if form == "custom":
        word, known = test.get("function", ""), described(paper)
        return [] if word in known else [f"there is no function {word!r} in {paper}.py; {_suggestion(word, known)}"]
    bounds = {*BOUND_NAMES, "between"}
    bounded = "bounds" in forms()[form].get("with", []) and not test.get("worse_by")
    return [f"{form} needs a bound: {', '.join(sorted(bounds))}"] if bounded and not bounds & set(test) else []


def _words(entry: dict) -> dict[str, set[str]]:
    """The methods, metrics, data sets, experiments and sizes that an entry names."""
    found: dict[str, set[str]] = {key: set() for key in ("methods", "metrics", "datasets", "experiments", "sizes")}
    for protocol in entry["experiments"]:
        found["experiments"].update(experiments_of(entry, protocol))
    found["datasets"].update(entry.get("aside", {}))
    for test in [*tests_of(entry), *beside_of(entry)]:
        select = test["select"]
        for key, column in (("datasets", "dataset"), ("experiments", "experiment"), ("sizes", "sizes")):
            found[key].update(_listed(select.get(column, [])))
        ends = {size for end in ("from", "to", "small", "large") for size in _listed(test.get(end, []))}
        found["sizes"].update(ends - {"first", "last"})
        sides = [test[key] for key in ("of", "over", "minus", "best", "among", "against") if key in test]
        sides = [] if test["form"] == "custom" else [each for each in sides if each not in ("second", "median")]
        _collect(sides, found)
        found["metrics"].update([test["metric"]] if "metric" in test else [])
        found["metrics"].update(each["metric"] for each in test.get("between", []) if isinstance(each, dict))
    return found


def _collect(told, found: dict[str, set[str]]) -> None:
    if isinstance(told, str):
        found["methods"].add(told.partition("/")[0])
    elif isinstance(told, list):
        for each in told:
            _collect(each, found)
    else:
        for key, value in told.items():
            if key == "metric":
                found["metrics"].add(value)
            elif key == "size":
                found["sizes"].add(value)
            elif key != "at":
                _collect(value, found)


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _suggestion(word: str, known) -> str:
    near = nearest(word, known)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"
