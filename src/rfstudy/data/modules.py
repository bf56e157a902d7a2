"""Steps, generators, extractors and streams are files that are found by their names; what they take is read from
their sources.

``data/steps/pca.py`` is the step ``pca``: adding one is adding a file. Nothing is imported to say which there are, what
parameters they take and whether a configuration gives them. Imported by the workflow when it parses: standard library
only.
"""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path

from random_features.errors import UserError

#: What the files of a folder are called, and the function whose parameters a configuration gives.
KINDS = {
    "steps": ("preprocessing step", "fit"),
    "generators": ("generator", "generate"),
    "extractors": ("extractor", "extract"),
    "streams": ("stream", "rows"),
}

#: What an extractor is given by the run if it asks for it by name, and is no parameter of it.
GIVEN = {
    "device": "where it computes",
    "labels": "the labels of the training rows, which are the first ones",
    "files": "the files of its source by name",
    "checkpoint": "a path at which it may keep what it has got, and from which it goes on after it was killed",
}


@cache
def names(kind: str) -> tuple[str, ...]:
    """The steps, generators or extractors that there are, sorted."""
    return tuple(sorted(path.stem for path in (Path(__file__).parent / kind).glob("[a-z]*.py")))


def load(kind: str, name: str):
    """The module of a step, generator or extractor; ``UserError`` lists those that there are."""
    if name not in names(kind):
        raise UserError(unknown(kind, name))
    return importlib.import_module(module_name(kind, name))


def module_name(kind: str, name: str) -> str:
    """The full name of the module of a step, generator or extractor."""
    return f"rfstudy.data.{kind}.{name}"


def asked_for(name: str) -> set[str]:
    """What an extractor asks the run for, of ``GIVEN``."""
    return {argument.arg for argument, _ in keywords("extractors", name)} & set(GIVEN)


def keywords(kind: str, name: str):
    """Pairs of a keyword argument of a step, generator or extractor and its default, as syntax."""
    function = next(
        node for node in source(kind, name).body if isinstance(node, ast.FunctionDef) and node.name == KINDS[kind][1]
    )
    return zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)


def literal(kind: str, name: str, variable: str):
    """The value of a module-level literal such as ``GPU = False``; ``UserError`` where there is none."""
    for node in source(kind, name).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [variable]:
            return ast.literal_eval(node.value)
    raise UserError(f"the {KINDS[kind][0]} {name!r} does not say {variable} in {kind}/{name}.py")


def step_of(step: str | dict) -> tuple[str, dict]:
    """Name and parameters of a step, which is a name or a mapping from a name to its parameters.

    >>> step_of("minmax"), step_of({"pca": {"n_components": 50}})
    (('minmax', {}), ('pca', {'n_components': 50}))
    """
    if isinstance(step, str):
        return step, {}
    if isinstance(step, dict) and len(step) == 1 and all(isinstance(given, dict) for given in step.values()):
        return next(iter(step.items()))
    raise UserError(f"a preprocessing step is a name or a mapping {{name: {{parameter: value}}}}, not {step!r}")


def step_text(step: str | dict) -> str:
    """A step in words.

    >>> step_text({"pca": {"n_components": 50}})
    'pca(n_components=50)'
    """
    name, given = step_of(step)
    return f"{name}({', '.join(f'{key}={value}' for key, value in given.items())})" if given else name


def code_of_steps(steps) -> list[str]:
    """The full names of the modules of preprocessing steps."""
    return sorted({module_name("steps", step_of(step)[0]) for step in steps})


@cache
def source(kind: str, name: str) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse((Path(__file__).parent / kind / f"{name}.py").read_text(encoding="utf-8"))


def unknown(kind: str, name) -> str:
    """The message for a name that no file has."""
    return f"there is no {KINDS[kind][0]} {name!r}; there are {', '.join(names(kind))}"
