"""The options of a map, checked by their annotations."""

from functools import cache
from numbers import Integral, Real
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.utils import check_scalar

from random_features.arrays import check_numbers
from random_features.errors import check_choice, check_positive

#: The annotations of a class by name; finding them takes longer than drawing a small map.
hints_of = cache(get_type_hints)


def check_option(name: str, value, hint) -> None:
    """Raise ``ValueError`` or ``TypeError`` for an option that does not match its annotation.

    It is one of the values of a ``Literal``, a truth value for ``bool``, at least 1 for ``int``, above 0 for ``float``,
    or None or an array if the annotation allows it. Other annotations only require that a number is finite.
    """
    if np.ndarray in get_args(hint):
        if not isinstance(value, str):
            return check_numbers(value, name)
        (hint,) = set(get_args(hint)) - {np.ndarray}
    kinds = get_args(hint) or (hint,)
    if isinstance(value, bool | np.bool_) != (bool in kinds) and {bool, int, Integral, float, Real} & set(kinds):
        raise TypeError(f"{name} must be {'True or False' if bool in kinds else 'a number'}, got {value!r}")
    if isinstance(value, float | np.floating) and not np.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value!r}")
    if get_origin(hint) is Literal:
        check_choice(name, value, kinds)
    elif value is None and type(None) in kinds:
        return
    elif int in kinds:
        check_scalar(value, name, Integral, min_val=1)
    elif float in kinds:
        check_positive(name, value)
