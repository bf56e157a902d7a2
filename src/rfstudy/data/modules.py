"""Steps, bandwidth rules, generators, extractors and streams are files that are found by their names.

``data/steps/pca.py`` is the step ``pca``: to add a step, add a file. Nothing is imported to list them. Imported by the
workflow when it parses: standard library only.
"""

import importlib
from functools import cache
from pathlib import Path

from random_features.errors import UserError, check_known

#: For each folder, the word for its files, and the function whose parameters a configuration gives.
KINDS = {
    "steps": ("preprocessing step", "fit"),
    "bandwidths": ("bandwidth rule", "length_scale"),
    "generators": ("generator", "generate"),
    "extractors": ("extractor", "extract"),
    "streams": ("stream", "rows"),
}


@cache
def names(kind: str) -> tuple[str, ...]:
    """Return the names of all steps, bandwidth rules, generators, extractors or streams, sorted."""
    return tuple(sorted(path.stem for path in (Path(__file__).parent / kind).glob("[a-z]*.py")))


def load(kind: str, name: str):
    """Return the module of a name. Otherwise raise ``UserError``, which lists those that exist."""
    check_known(f"there is no {KINDS[kind][0]}", name, names(kind))
    return importlib.import_module(module_name(kind, name))


def function(kind: str, name: str):
    """Return the function of a name whose parameters a configuration gives."""
    return getattr(load(kind, name), KINDS[kind][1])


def module_name(kind: str, name: str) -> str:
    """Return the full name of the module of a name."""
    return f"rfstudy.data.{kind}.{name}"


def step_of(step: str | dict) -> tuple[str, dict]:
    """Return the name and parameters of a step, which is a name or a mapping from a name to its parameters.

    >>> step_of("minmax"), step_of({"pca": {"n_components": 50}})
    (('minmax', {}), ('pca', {'n_components': 50}))
    """
    if isinstance(step, str):
        return step, {}
    if isinstance(step, dict) and len(step) == 1 and all(isinstance(given, dict) for given in step.values()):
        return next(iter(step.items()))
    raise UserError(f"a preprocessing step is a name or a mapping {{name: {{parameter: value}}}}, not {step!r}")


def step_text(step: str | dict) -> str:
    """Return a step in words.

    >>> step_text({"pca": {"n_components": 50}})
    'pca(n_components=50)'
    """
    name, given = step_of(step)
    return f"{name}({', '.join(f'{key}={value}' for key, value in given.items())})" if given else name


def code_of_steps(steps) -> list[str]:
    """Return the full names of the modules of preprocessing steps."""
    return sorted({module_name("steps", step_of(step)[0]) for step in steps})
