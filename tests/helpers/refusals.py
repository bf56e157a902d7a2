"""The lines in which a call says what is wrong with what it was given."""

import pytest

from random_features.errors import UserError


def messages(call, *arguments, **options) -> list[str]:
    """The lines of the error of a call."""
    with pytest.raises(UserError) as caught:
        call(*arguments, **options)
    return str(caught.value).splitlines()


def message(call, *arguments, **options) -> str:
    """The error of a call, which is one line."""
    (line,) = messages(call, *arguments, **options)
    return line
