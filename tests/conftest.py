"""What tests of several folders share."""

from functools import partial
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shipped():
    """The shipped measurements; each table and picture is made once in a session."""
    from rfstudy.templates import Shipped

    return Shipped(Path(__file__).parents[1])


@pytest.fixture
def tabulated(tmp_path):
    """``tabulated(spec, rows, printed)`` has the cells and the Markdown file of a table of small made rows."""
    from verdict_rows import tabulated

    return partial(tabulated, tmp_path)
