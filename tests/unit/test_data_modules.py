"""Files that are found by their names: what they take is read from their sources, and they keep to their contract."""

import inspect

import pytest
from refusals import message

from rfstudy.data import modules
from rfstudy.models import parameters

#: Every file, and the positional arguments of the function in a file of each kind.
EVERY = [(kind, name) for kind in modules.KINDS for name in modules.names(kind)]

FIRST = {
    "steps": ["X_train"], "bandwidths": ["X", "rng"], "generators": ["n", "d", "random"], "extractors": ["X", "given"],
    "streams": ["first", "last", "images", "labels", "seed"],
}  # fmt: skip


@pytest.fixture
def one_step(tmp_path, monkeypatch):
    """A folder with the one step ``wide`` in place of the study's own."""
    (tmp_path / "steps").mkdir()
    for name in ("wide", "__init__"):
        (tmp_path / "steps" / f"{name}.py").touch()
    monkeypatch.setattr(modules, "__file__", str(tmp_path / "modules.py"))
    modules.names.cache_clear()
    yield
    modules.names.cache_clear()


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_the_keys_of_a_file_are_the_keyword_arguments_of_its_function(kind, name):
    function = modules.function(kind, name)
    assert function.__doc__
    signature = inspect.signature(function).parameters.values()
    own = [parameter.name for parameter in signature if parameter.kind is parameter.KEYWORD_ONLY]
    assert list(parameters(function).model_fields) == own
    assert [p.name for p in signature if p.kind is p.POSITIONAL_OR_KEYWORD] == FIRST[kind]


@pytest.mark.usefixtures("one_step")
def test_a_new_file_is_found_without_a_list():
    assert modules.names("steps") == ("wide",)
    assert "there is no preprocessing step 'tall'; known are wide" in message(modules.load, "steps", "tall")


def test_names_that_lead_elsewhere_are_unknown():
    for name in ("../scale", "__init__", "", None, 3, ["pca"]):
        assert "there is no preprocessing step" in message(modules.load, "steps", name)


def test_the_code_of_steps():
    given = ["minmax", {"pca": {"n_components": 3}}, "minmax"]
    assert modules.code_of_steps(given) == ["rfstudy.data.steps.minmax", "rfstudy.data.steps.pca"]
