"""What tests of several folders share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shipped():
    """The shipped measurements; each table and picture is made once in a session."""
    from rfstudy.templates import Shipped

    return Shipped(Path(__file__).parents[1])
