"""Every row that the stages write, against the naive twin: small experiments of each kind and protocol.

The experiments share one journal, as those of a preset do: a cell that is taken for another one shows as a wrong row.
"""

import pytest

from random_features.arrays import set_threads

from . import adapter, chain, kinds, kinds_on_data
from .experiments import STUDIES
from .on_data import OnData

#: What tells rows apart.
KEY = (
    "dataset", "kernel", "method", "variant", "n_features_label", "axis", "at", "repeat", "split", "learner", "metric",
)  # fmt: skip

#: The twin of each form of experiments.
TWINS = {chain.Grid: chain, kinds.Measurement: kinds, OnData: kinds_on_data}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Everything here is small: threads would wait for each other."""
    set_threads(1)


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    """One folder of finished cells for all experiments of these tests."""
    return tmp_path_factory.mktemp("journal")


@pytest.fixture(scope="module")
def twins():
    """The twin's rows by experiment, each computed once."""
    computed = {}

    def of(study):
        if study.name not in computed:
            computed[study.name] = TWINS[type(study)].rows(study)
        return computed[study.name]

    return of


def by_key(rows: list[dict]) -> dict[tuple, dict]:
    """The rows by what tells them apart; no two may be alike in that."""
    found = {}
    for row in rows:
        key = tuple(round(value, 12) if isinstance(value, float) else value for value in map(row.get, KEY))
        assert key not in found, f"two rows of {key}"
        found[key] = row
    return found


def assert_same_rows(found: list[dict], expected: list[dict]) -> None:
    """Row by row: every column equal, numbers to rounding, accuracies to the test rows that hang on rounding."""
    found, expected = by_key(found), by_key(expected)
    assert set(found) == set(expected)
    for key in found:
        row, twin = dict(found[key]), dict(expected[key])
        settings, twin_settings = dict(row.pop("settings")), dict(twin.pop("settings"))
        assert set(settings) == set(twin_settings), key
        assert twin_settings.pop("reason", "") in settings.pop("reason", ""), key
        if "length_scale" in settings:  # of a rule: computed
            assert settings.pop("length_scale") == pytest.approx(twin_settings.pop("length_scale"), rel=1e-9), key
        assert settings == twin_settings, key
        slack = twin.pop("doubtful", 1e-12)
        for column in ("value", "spread"):
            value = twin.pop(column, None)
            assert row.pop(column, None) == (None if value is None else pytest.approx(value, rel=1e-5, abs=slack)), key
        assert row == twin, key


@pytest.mark.parametrize("name", STUDIES)
def test_every_row_of_an_experiment(name, tmp_path, journal, twins):
    assert_same_rows(adapter.rows_of_the_chain(STUDIES[name], tmp_path, journal), twins(STUDIES[name]))


@pytest.mark.parametrize("name", ["missing", "circles"])
def test_one_job_a_method_and_repeat_gives_the_same_rows(name, tmp_path, twins):
    found = adapter.rows_of_the_chain(STUDIES[name], tmp_path, tmp_path / "journal", cut="many")
    assert_same_rows(found, twins(STUDIES[name]))
