"""JSON schemas of figures, of the scorecard and of claims, and messages on documents that break them."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

from random_features.errors import nearest
from rfstudy.files import read_yaml
from rfstudy.models import suggestion
from rfstudy.study.code import constant, defines

#: Letters of a message about a value, at most: a whole mapping is not printed.
LONGEST_VALUE = 200


@cache
def read_schema(config_dir: Path, name: str) -> dict:
    """A schema that stands in a file, read once for all that is checked by it; nobody changes it."""
    return read_yaml(config_dir / "schemas" / f"{name}.schema.yaml")


def closed(properties: dict, *, null: bool = False) -> dict:
    """The schema of a mapping with these keys and no others."""
    return {
        "type": ["object", "null"] if null else "object",
        "additionalProperties": False,
        "properties": properties,
    }


def constant_or(module: str, name: str, default):
    """A literal constant of a module, or the default where it has none."""
    return constant(module, name) if defines(module, name) else default


def problems_of(document: dict, schema: dict) -> list[str]:
    """What is wrong with a document, each as ``.key[0].key: message``, with the known keys where one is unknown."""
    found, misspelt = non_finite(document), set()
    endless = {problem.partition(":")[0] for problem in found}
    # what is unknown first: a key that is missing because it is misspelt is told once
    errors = sorted(validator_of()(schema).iter_errors(document), key=lambda each: each.validator == "required")
    for error in errors:
        while error.context:
            error = closest(error)
        where = place(error.absolute_path)
        if where in endless:
            continue
        known = list(error.schema.get("properties", {}))
        if error.validator == "const" and error.parent:
            names = [each.validator_value for each in error.parent.context if each.validator == "const"]
            found.append(f"{where}: there is no {error.instance!r}; {suggestion(error.instance, names)}")
        elif error.validator == "additionalProperties" and error.validator_value is False:
            for key in sorted(set(error.instance) - set(known), key=str):
                misspelt |= {(where, name) for name in nearest(key, known)}
                found.append(f"{where}.{key}: not a key here; {suggestion(key, known)}")
        elif error.validator == "required":
            missing = [key for key in error.validator_value if key not in error.instance]
            found += [
                f"{where}: {key!r} is a required property; known are {', '.join(sorted(known))}"
                for key in missing
                if (where, key) not in misspelt and error.message.startswith(repr(key))
            ]
        else:
            found.append(f"{where}: {shortened(error.message)}")
    return found


@cache
def validator_of():
    """The validator of documents: 3.0 is no integer, although JSON has it so: it counts nothing, and labels nothing."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    def is_integer(_, value) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    return extend(Draft202012Validator, type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer))


def place(path) -> str:
    """Keys and positions on the way to a value, as ``.key[0].key``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def shortened(message: str) -> str:
    """A message in which a long value is cut in its middle."""
    half = LONGEST_VALUE // 2
    return message if len(message) <= LONGEST_VALUE else f"{message[:half]} ... {message[-half:]}"


def non_finite(document, path: tuple = ()) -> list[str]:
    """The numbers of a document that are none (``.nan``) or have no end (``.inf``): every bound lets them pass."""
    if isinstance(document, float) and not math.isfinite(document):
        return [f"{place(path)}: {document} is no finite number"]
    if isinstance(document, dict):
        inner = document.items()
    else:
        inner = enumerate(document) if isinstance(document, list) else ()
    return [problem for key, value in inner for problem in non_finite(value, (*path, key))]


def closest(error):
    """What is wrong with a document beside the alternative that it comes closest to.

    Alternatives that are told apart by a name are those of another name where there is one of its own.
    """

    def distance(each) -> tuple:
        other_name = each.relative_schema_path[0] in named
        return other_name, each.validator != "const" and other_name, -len(each.absolute_path)

    named = {each.relative_schema_path[0] for each in error.context if each.validator == "const"}
    return min(error.context, key=distance)
