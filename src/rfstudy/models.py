"""Typed models of the configuration: what every model has in common, and how a mistake is reported.

A mistake is one line: file, key and what to do. All mistakes of a document are reported together. The keys that belong
to one file of the package (a kind, a learner, a bandwidth rule, a step) are declared there; they become models here
without an import of that file, because planning must not wait for NumPy.
"""

import ast
from collections.abc import Iterable
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Literal

import pydantic
from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Tag, ValidationError, create_model
from pydantic_core import InitErrorDetails, PydanticCustomError

from random_features import modules
from random_features.errors import nearest, suggestion

#: The folder of the packages.
SOURCE = Path(__file__).resolve().parents[1]

#: Modules that files import the types of their declarations from.
OF_TYPES = ("typing", "annotated_types", "rfstudy.fields")

#: Longest text of a value in a message.
LONGEST_VALUE = 200


def one_line(text: str) -> str:
    """Return a text if it can be a name, a label or a caption: a line with at least one character."""
    if not text.strip() or any(character < " " or character in "\x7f\x85\u2028\u2029" for character in text):
        raise ValueError(f"{shortened(repr(text))} is not one line of text: write it without line breaks and tabs")
    return text


Text = Annotated[str, AfterValidator(one_line)]


class Model(BaseModel):
    """A mapping with these keys and no others, whose values have exactly these types."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, protected_namespaces=())

    @pydantic.model_validator(mode="wrap")
    @classmethod
    def in_our_words(cls, value, handler):
        """Validate a mapping, and report its problems in our words, with the known keys."""
        try:
            return handler(value)
        except ValidationError as error:
            refuse(list(cls.messages(error)))
            raise

    @classmethod
    def messages(cls, error: ValidationError) -> Iterable[tuple[tuple, str]]:
        """Yield the place and the message of every mistake."""
        known, found = list(cls.model_fields), error.errors(include_url=False)
        unknown = [each["loc"][-1] for each in found if each["type"] == "extra_forbidden" and len(each["loc"]) == 1]
        misspelt = {near for key in unknown for near in nearest(key, known)}
        for each in found:
            own = len(each["loc"]) == 1
            if own and each["type"] == "extra_forbidden":
                yield each["loc"], f"unknown key; {suggestion(each['loc'][0], known)}"
            elif own and each["type"] == "missing":
                if each["loc"][0] not in misspelt:
                    yield (), f"the key {each['loc'][0]!r} is missing; known are {', '.join(sorted(known))}"
            else:
                yield each["loc"], message_of(each)


def message_of(error: dict) -> str:
    """Return the message of one mistake that Pydantic found."""
    context, value = error.get("ctx", {}), shortened(repr(error["input"]))
    match error["type"]:
        case "problem":
            return context["text"]
        case "union_tag_invalid":
            known = context["expected_tags"].replace("'", "").split(", ")
            return f"there is no {context['tag']!r}; {suggestion(context['tag'], known)}"
        case "union_tag_not_found":
            return f"the key {context['discriminator']} is missing"
        case "value_error":
            return str(context["error"])
        case "predicate_failed":
            return f"{value} has a value twice"
        case "model_type" | "dict_type" | "model_attributes_type":
            return f"must be a mapping from keys to values, not {value}"
    return f"{value}: {error['msg'][:1].lower()}{error['msg'][1:]}"


def refuse(problems: list[tuple[tuple, str]]):
    """Raise one ``ValidationError`` with a message for every place."""
    errors = [(loc, PydanticCustomError("problem", "{text}", {"text": text})) for loc, text in problems]
    lines = [InitErrorDetails(type=error, loc=loc, input=None) for loc, error in errors]
    if lines:
        raise ValidationError.from_exception_data("configuration", lines)


def problems_of(model: type[Model], document, **context) -> list[str]:
    """Return the problems of a document, each as ``.key[0].key: message``; validators look up ``context``."""
    try:
        model.model_validate(document, context=context)
    except ValidationError as error:
        found = [(place(each["loc"], document), message_of(each)) for each in error.errors()]
        return list(dict.fromkeys(f"{where}: {message}" for where, message in found))
    return []


def place(loc: tuple, document) -> str:
    """Return the path of a value as ``.key[0].key``, without Pydantic's additions (the branch of a union)."""
    found = ""
    for part in loc:
        if isinstance(document, dict) and part in document:
            found, document = f"{found}.{part if str(part).isprintable() else repr(part)}", document[part]
        elif isinstance(document, list) and isinstance(part, int) and part < len(document):
            found, document = f"{found}[{part}]", document[part]
    return found


def shortened(text: str) -> str:
    """Return a text, with its middle cut out if it is long."""
    half = LONGEST_VALUE // 2
    return text if len(text) <= LONGEST_VALUE else f"{text[:half]} ... {text[-half:]}"


# --- Declarations in the files that they are about --------------------------------------------------------------------


def path_of(module: str) -> Path:
    """Return the file of a module of the packages by its full name."""
    return SOURCE.joinpath(*module.split(".")).with_suffix(".py")


def definitions(module: str) -> dict[str, ast.AST]:
    """Return the functions and classes of a module, and the values of its assignments, by name."""
    return modules.definitions(path_of(module))


def functions_of(module: str) -> list[str]:
    """Return the names of the functions of a module."""
    return [name for name, node in definitions(module).items() if isinstance(node, ast.FunctionDef)]


def literal(module: str, name: str, *default):
    """Return the value of a literal such as ``GPU = False`` of a module, or the default if the module has none."""
    if default and name not in definitions(module):
        return default[0]
    return ast.literal_eval(definitions(module)[name])


class MayBeMissing:
    """``NotRequired`` of a ``TypedDict``, for a model: a key that can be left out."""

    def __class_getitem__(cls, of):
        return Annotated[of, pydantic.Field(default=None)]


@cache
def types_of(module: str) -> dict:
    """Return the types with which a module may declare keys: those that it imports from modules of types."""
    scope: dict = {"__name__": module}
    for node in modules.statements(path_of(module)):
        if isinstance(node, ast.ImportFrom) and node.module in OF_TYPES:
            exec(compile(ast.Module([node], []), module, "exec", dont_inherit=True), scope)
    return scope | {"TypedDict": Model, "NotRequired": MayBeMissing}


@cache
def declared(module: str, name: str) -> type[Model] | None:
    """Return the ``TypedDict`` of this name in a module as a model; None if the module declares none."""
    scope = types_of(module)
    for node in modules.statements(path_of(module)):
        if isinstance(node, ast.ClassDef) and node.bases and {*map(ast.unparse, node.bases)} <= {*scope}:
            whole = ast.ClassDef(node.name, node.bases, [], node.body, [], type_params=[])
            exec(compile(ast.fix_missing_locations(ast.Module([whole], [])), module, "exec", dont_inherit=True), scope)
            if node.keywords:  # total=False
                scope[node.name] = partial(scope[node.name])
    return scope.get(name)


@cache
def parameters(module: str, function: str) -> type[Model]:
    """Return the keyword arguments of a function as a model."""
    node = definitions(module)[function]
    keys = {
        argument.arg: (eval(ast.unparse(argument.annotation), types_of(module)), ... if default is None else None)
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    }
    return create_model(module.rpartition(".")[2], __base__=Model, **keys)


def partial(model: type[Model]) -> type[Model]:
    """Return a model without required keys."""
    keys = {key: (field.rebuild_annotation(), None) for key, field in model.model_fields.items()}
    return create_model(model.__name__, __base__=Model, __doc__=model.__doc__, **keys)


def with_keys(name: str, keys: dict, base: type[Model] = Model) -> type[Model]:
    """Return a model with the keys of ``base`` and others, none of which is required."""
    return create_model(name, __base__=base, **{key: (of, None) for key, of in keys.items()})


def by_name(key: str, models: dict[str, type[Model]]):
    """Return the union of models that a key distinguishes, each with this key."""
    own = [create_model(name, __base__=model, **{key: (Literal[name], ...)}) for name, model in models.items()]
    return Annotated[reduce(or_, own), Discriminator(key)]


def either(one, is_one, other):
    """Return the type of a value that is of the type ``one`` where ``is_one(value)`` holds, and else of ``other``."""
    return Annotated[
        Annotated[one, Tag("one")] | Annotated[other, Tag("other")],
        Discriminator(lambda value: "one" if is_one(value) else "other"),
    ]
