"""Files that are found by their names: what they take is read from their sources, and they keep to their contract."""

import inspect

import pytest

from random_features.errors import UserError
from rfstudy.data import modules
from rfstudy.models import parameters

EVERY = [(kind, name) for kind in modules.KINDS for name in modules.names(kind)]

STEP = '''
"""A step."""


def fit(X_train, *, width: int, share: float = 0.5, name: str = "a", exact: bool = False, other=None):
    return lambda X: X
'''


@pytest.fixture
def steps(tmp_path, monkeypatch):
    """A folder of steps with one that takes parameters of every type."""
    for kind in modules.KINDS:
        (tmp_path / kind).mkdir()
    (tmp_path / "steps" / "wide.py").write_text(STEP, encoding="utf-8")
    (tmp_path / "steps" / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(modules, "__file__", str(tmp_path / "modules.py"))
    modules.names.cache_clear()
    yield tmp_path / "steps"
    modules.names.cache_clear()


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_the_keys_of_a_file_are_the_keyword_arguments_of_its_function(kind, name):
    function = modules.function(kind, name)
    assert function.__doc__
    signature = inspect.signature(function).parameters.values()
    own = [parameter.name for parameter in signature if parameter.kind is parameter.KEYWORD_ONLY]
    assert list(parameters(function).model_fields) == own
    first = {
        "steps": ["X_train"],
        "bandwidths": ["X", "rng"],
        "generators": ["n", "d", "random"],
        "extractors": ["X", "given"],
        "streams": ["first", "last", "images", "labels", "seed"],
    }
    assert [p.name for p in signature if p.kind is p.POSITIONAL_OR_KEYWORD] == first[kind]


def test_a_new_file_is_found_without_a_list(steps):
    assert modules.names("steps") == ("wide",)
    with pytest.raises(UserError, match="there is no preprocessing step 'tall'; there are wide"):
        modules.load("steps", "tall")


def test_names_that_lead_elsewhere_are_unknown():
    for name in ("../scale", "__init__", "", None, 3, ["pca"]):
        with pytest.raises(UserError, match="there is no preprocessing step"):
            modules.load("steps", name)


def test_the_code_of_steps():
    given = ["minmax", {"pca": {"n_components": 3}}, "minmax"]
    assert modules.code_of_steps(given) == ["rfstudy.data.steps.minmax", "rfstudy.data.steps.pca"]
