"""Typed models of the configuration: what every model has in common, and how a mistake is reported.

A mistake is one line: file, key and what to do. All mistakes of a document are reported together. The keys that belong
to a kind, a learner, a bandwidth rule or a step are declared there, as a ``TypedDict`` or as keyword arguments.
"""

import re
from collections.abc import Iterable
from functools import reduce
from inspect import signature
from operator import or_
from typing import Annotated, Literal, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

import pydantic
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Tag, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from random_features.errors import check_known, nearest, suggestion
from rfstudy.fields import listed

#: Longest text of a value in a message.
LONGEST_VALUE = 200


def checked_line(text: str) -> str:
    """Return a text if it can be a name, a label or a caption: a line with at least one character."""
    if not text.strip() or any(character < " " or character in "\x7f\x85\u2028\u2029" for character in text):
        raise ValueError(f"{shortened(repr(text))} is not one line of text: write it without line breaks and tabs")
    return text


Text = Annotated[str, AfterValidator(checked_line)]


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
    if error["input"] is None:
        return "null has nothing to remove here: give a value, or leave the key out"
    is_text = error["type"] == "float_type" and re.fullmatch(r"[+-]?[\d.]+[eE][+-]?\d+", str(error["input"]))
    hint = ", written with a point and a signed exponent, as 1.0e-3" if is_text else ""
    return f"{value}: {error['msg'][:1].lower()}{error['msg'][1:]}{hint}"


def refuse(problems: list[tuple[tuple, str]]):
    """Raise one ``ValidationError`` with a message for every place."""
    errors = [(loc, PydanticCustomError("problem", "{text}", {"text": text})) for loc, text in problems]
    if lines := [InitErrorDetails(type=error, loc=loc, input=None) for loc, error in errors]:
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
        elif part == document:  # a name in place of a mapping from it
            found = f"{found}.{part}"
    return found


def shortened(text: str) -> str:
    """Return a text, with its middle cut out if it is long."""
    half = LONGEST_VALUE // 2
    return text if len(text) <= LONGEST_VALUE else f"{text[:half]} ... {text[-half:]}"


# --- Declarations in the files that they are about --------------------------------------------------------------------


def model_of(declared: type) -> type[Model]:
    """Return the model of the keys that a ``TypedDict`` declares."""
    hints = get_type_hints(declared, include_extras=True)
    keys = {key: (with_models(of), ... if key in declared.__required_keys__ else None) for key, of in hints.items()}
    return pydantic.create_model(declared.__name__, __base__=Model, __doc__=declared.__doc__, **keys)


def with_models(of):
    """Return a type with models in place of the ``TypedDict``s in it."""
    if is_typeddict(of):
        return model_of(of)
    origin, (first, *rest) = get_origin(of), get_args(of) or (None,)
    if origin is NotRequired:
        return with_models(first)
    if origin is Annotated:
        return Annotated[with_models(first), *rest]
    return list[with_models(first)] if origin is list else of


def parameters(function) -> type[Model]:
    """Return the keyword arguments of a function as a model."""
    keywords = [each for each in signature(function).parameters.values() if each.kind is each.KEYWORD_ONLY]
    keys = {each.name: (each.annotation, ... if each.default is each.empty else None) for each in keywords}
    return pydantic.create_model(function.__module__.rpartition(".")[2], __base__=Model, **keys)


def id_in(registry, lacks: str):
    """Return the type of an id in a registry, or in the one that the validators' context has under this name, if any.

    ``lacks`` begins the message for any other id.
    """

    def known(name: str, info: pydantic.ValidationInfo) -> str:
        ids = (info.context or {}).get(registry) if isinstance(registry, str) else registry
        if ids is not None:
            check_known(lacks, name, ids)
        return name

    return Annotated[str, AfterValidator(known)]


def one_or_more(of, *constraints):
    """Return the type of a list for which a single value may stand."""
    return Annotated[list[of], *constraints, BeforeValidator(listed, json_schema_input_type=of | list[of])]


def partial(model: type[Model]) -> type[Model]:
    """Return a model without required keys."""
    keys = {key: (field.rebuild_annotation(), None) for key, field in model.model_fields.items()}
    return pydantic.create_model(model.__name__, __base__=Model, __doc__=model.__doc__, **keys)


def with_keys(name: str, keys: dict, base: type[Model] = Model) -> type[Model]:
    """Return a model with the keys of ``base`` and others, none of which is required."""
    return pydantic.create_model(name, __base__=base, **{key: (of, None) for key, of in keys.items()})


def by_name(key: str, models: dict[str, type[Model]]):
    """Return the union of models that a key distinguishes, each with this key."""
    own = [pydantic.create_model(name, __base__=model, **{key: (Literal[name], ...)}) for name, model in models.items()]
    return Annotated[reduce(or_, own), Discriminator(key)]


def either(one, is_one, other):
    """Return the type of a value that is of the type ``one`` where ``is_one(value)`` holds, and else of ``other``."""
    return Annotated[
        Annotated[one, Tag("one")] | Annotated[other, Tag("other")],
        Discriminator(lambda value: "one" if is_one(value) else "other"),
    ]
