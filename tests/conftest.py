"""Fixtures that tests of several folders share."""

import os
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest

from random_features.compare.command import PATIENCE

os.environ.update(PATIENCE | os.environ)  # next to the other part of the tests, seconds were minutes

#: Beginnings of files whose tests fit, draw or run whole stages, so that together they take longer than all others.
SLOW = (
    "tests/twin/", "tests/property/", "tests/golden/", "tests/workflow/",
    *(f"tests/unit/test_{each}" for each in (
        "arena", "claim_helpers", "claims_of", "compare.py", "compare_add", "compare_columns", "compare_reading",
        "compare_warnings", "data_extractors", "glossary", "kernel_of_a_map", "learners_", "notebook",
        "pivoted_cholesky", "render", "report_arena", "report_figures", "report_gains", "report_panels",
        "report_scorecard", "report_times", "report_typeset", "site", "study_damage",
        "study_grid", "study_learned", "study_publish", "study_search", "study_speed", "study_splits",
        "study_stream", "study_time", "study_train",
    )),
)  # fmt: skip


def pytest_collection_modifyitems(items):
    """Mark the tests of ``SLOW`` files. Those marked ``cuda`` have a card, and are slow, too."""
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("cuda"):
            item.add_marker(pytest.mark.slow)
            item.fixturenames.insert(0, "card")


@pytest.fixture
def card():
    """A CUDA device; where there is none, one that computes on the CPU."""
    import torch
    from card import inserted

    with nullcontext() if torch.cuda.is_available() else inserted():
        yield


@pytest.fixture(scope="session")
def shipped():
    """The shipped measurements; each table and picture is made once in a session."""
    from rfstudy.render import Shipped

    return Shipped(Path(__file__).parents[1])


@pytest.fixture
def raw(tmp_path):
    """The folder of a small downloaded source."""
    from data_toys import write_toy

    return write_toy(tmp_path / "raw")


@pytest.fixture
def prepared(tmp_path):
    """The folder of a small prepared data set: 60 rows of five columns with labels, in halves."""
    from study_toys import labelled, write_data

    return write_data(tmp_path / "prepared", *labelled(60))


@pytest.fixture
def tabulated(tmp_path):
    """``tabulated(spec, rows, printed)`` has the cells and the Markdown file of a table of small made rows."""
    from verdict_rows import tabulated

    return partial(tabulated, tmp_path)
