"""Files that are found by their names: what they take is read from their sources, and they keep to their contract."""

import inspect

import pytest

from random_features.errors import UserError
from rfstudy.data import modules

EVERY = [(kind, name) for kind in modules.KINDS for name in modules.names(kind)]

STEP = '''
"""A step."""

SHARE = 0.5


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


def test_all_that_there_is():
    assert modules.names("steps") == (
        "center", "divide_255", "minmax", "minmax_symmetric", "none", "pca", "standard", "standard_rows", "unit"
    )  # fmt: skip
    assert modules.names("extractors") == ("hog", "vgg")
    assert {"binary", "breast_cancer", "digits", "numeric", "regression"} <= set(modules.names("generators"))


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_what_is_read_from_a_source_is_what_python_sees(kind, name):
    function = getattr(modules.load(kind, name), modules.KINDS[kind][1])
    assert function.__doc__
    signature = inspect.signature(function).parameters.values()
    expected = {
        parameter.name: (
            getattr(parameter.annotation, "__name__", str(parameter.annotation)) if has_type(parameter) else "",
            parameter.default is parameter.empty,
        )
        for parameter in signature
        if parameter.kind is parameter.KEYWORD_ONLY and not (kind == "extractors" and parameter.name in modules.GIVEN)
    }
    assert modules.parameters(kind, name) == expected
    first = {
        "steps": ["X_train"],
        "generators": ["n", "d", "random"],
        "extractors": ["X"],
        "streams": ["first", "last", "images", "labels", "seed"],
    }
    assert [p.name for p in signature if p.kind is p.POSITIONAL_OR_KEYWORD] == first[kind]
    # a configuration can be wrong about every one of them, so each has a type
    assert all(annotation in modules.TYPES for annotation, _ in expected.values())


def test_what_an_extractor_asks_the_run_for():
    assert modules.asked_for("hog") == {"device"}
    assert modules.asked_for("vgg") == {"device", "labels", "files", "checkpoint"} == set(modules.GIVEN)


def has_type(parameter) -> bool:
    return parameter.annotation is not parameter.empty


def test_a_new_file_is_found_without_a_list(steps):
    assert modules.names("steps") == ("wide",)
    assert modules.parameters("steps", "wide") == {
        "width": ("int", True), "share": ("float", False), "name": ("str", False), "exact": ("bool", False),
        "other": ("", False),
    }  # fmt: skip
    assert modules.literal("steps", "wide", "SHARE") == 0.5
    with pytest.raises(UserError, match=r"'wide' does not say GPU in steps/wide\.py"):
        modules.literal("steps", "wide", "GPU")
    with pytest.raises(UserError, match="there is no preprocessing step 'tall'; there are wide"):
        modules.load("steps", "tall")


@pytest.mark.parametrize(
    "given",
    [
        {"width": 3},
        {"width": 3, "share": 1},
        {"width": 3, "share": 0.25, "name": "b", "exact": True},
        {"width": 3, "other": [1, "x"]},
    ],
)
def test_parameters_of_their_types_are_accepted(steps, given):
    assert modules.problems("steps", "wide", given) == []


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, ["needs the parameter 'width'"]),
        ({"width": 3.0}, ["takes 'width' as int, not 3.0"]),
        ({"width": True}, ["takes 'width' as int, not True"]),
        ({"width": None}, ["takes 'width' as int, not None"]),
        ({"width": 1, "share": "half"}, ["takes 'share' as float, not 'half'"]),
        ({"width": 1, "share": False}, ["takes 'share' as float, not False"]),
        ({"width": 1, "name": 3}, ["takes 'name' as str, not 3"]),
        ({"width": 1, "exact": 1}, ["takes 'exact' as bool, not 1"]),
        ({"widht": 1}, ["has no parameter 'widht'; it takes width, share, name, exact, other", "needs the parameter"]),
    ],
)
def test_every_wrong_parameter_is_a_problem(steps, given, found):
    problems = modules.problems("steps", "wide", given)
    assert len(problems) == len(found)
    for problem, text in zip(problems, found, strict=True):
        assert problem.startswith("the preprocessing step 'wide' ")
        assert text in problem


def test_names_that_lead_elsewhere_are_unknown():
    for name in ("../scale", "__init__", "", None, 3, ["pca"]):
        assert modules.problems("steps", name, {}) == [modules.unknown("steps", name)]


def test_the_code_of_steps():
    given = ["minmax", {"pca": {"n_components": 3}}, "minmax"]
    assert modules.code_of_steps(given) == ["rfstudy.data.steps.minmax", "rfstudy.data.steps.pca"]
