"""The types with which a file declares its configuration keys: counts, positive numbers, and lists of them.

A kind of experiment, a learner, a bandwidth rule or a preprocessing step declares its keys in its own file, as a
``TypedDict`` or as keyword arguments. Planning reads these declarations without importing the file
(``rfstudy.models``); the code that runs imports only this module, which needs nothing heavy.
"""

from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt, MinLen, Predicate

#: The names of experiments, outputs, sources and tasks: they are parts of paths.
NAME = "[a-z0-9-]{1,100}"
FORM_OF_NAME = "lower-case letters, digits and hyphens only, 100 at most"


def distinct(values: list) -> bool:
    """Return whether no value of a list appears twice."""
    return all(value not in values[:i] for i, value in enumerate(values))


def listed(value):
    """Return a list: a text or a mapping may stand for a list of itself."""
    return [value] if isinstance(value, str | dict) else value


#: The constraints on every list of values to sweep or to choose from: not empty, and no value twice.
Some = (MinLen(1), Predicate(distinct))

Count = Annotated[int, Ge(1)]
Counts = Annotated[list[Count], *Some]

#: A number whose square is a number too.
Positive = Annotated[float, Ge(1e-100), Le(1e100)]
Positives = Annotated[list[Positive], *Some]

Share = Annotated[float, Gt(0), Lt(1)]
Words = Annotated[list[str], *Some]
