"""Errors that are meant for users (mistakes that they can mend, limits of a method), checks that raise them, and
methods that leave nothing behind when they fail.
"""

from collections.abc import Iterable
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from math import inf
from numbers import Real


class UserError(ValueError):
    """An error outside the code (bad configuration, missing files); the message says what is wrong and what to do.

    The command line prints it as one line.
    """


class NotDefinedError(ValueError):
    """An error for a map that does not exist for this size or number of columns, or a learner for these classes.

    A study skips such a cell and goes on.
    """


@contextmanager
def gathered(problems: list[str]):
    """Yield a context that collects the lines of a ``UserError`` in ``problems``, so that all are reported together."""
    try:
        yield
    except UserError as error:
        problems += str(error).splitlines()


def check_positive(name: str, value) -> None:
    """Raise ``ValueError`` unless ``value`` is a finite number above 0 (``TypeError`` if it is no number)."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not 0 < value < inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}")


def check_choice(name: str, value, allowed: Iterable[str]) -> None:
    """Raise ``ValueError`` unless ``value`` is one of the allowed names."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


def nearest(word, known: Iterable) -> list[str]:
    """Return a list with the known word that resembles a word most, in capital letters or not, or an empty one."""
    words = {str(each).lower(): str(each) for each in known}
    return [words[each] for each in get_close_matches(str(word).lower(), sorted(words), n=1)]


def suggestion(word, known: Iterable) -> str:
    """Return the hint that a message gives after an unknown word: the nearest known word, if any, and all of them.

    Examples
    --------
    >>> from random_features.errors import suggestion
    >>> suggestion("OFR", ["rff", "orf"])
    'did you mean orf? known are orf, rff'
    """
    if word == "gamma":
        return (
            "scikit-learn's gamma is 1 / (2 l^2) for a length scale l (1 / l for the Laplacian kernel): state"
            " kernel=Gaussian(length_scale=l)"
        )
    near = nearest(word, known)
    return (f"did you mean {near[0]}? " if near else "") + f"known are {', '.join(sorted(map(str, known))) or 'none'}"


def check_known(what: str, name, known: Iterable, error: type[Exception] = UserError) -> None:
    """Raise an error, ``what`` and the name with a ``suggestion``, unless a name is known.

    Examples
    --------
    >>> check_known("no map is called", "OFR", ["rff", "orf"])
    Traceback (most recent call last):
    random_features.errors.UserError: no map is called 'OFR'; did you mean orf? known are orf, rff
    """
    if name not in known:
        raise error(f"{what} {name!r}; {suggestion(name, known)}")


def all_or_nothing(method):
    """Return a method that leaves its object as it was if it fails."""

    @wraps(method)
    def guarded(self, *args, **kwargs):
        before = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return guarded
