"""Write the tables of ``config/README.md`` from the models that check the configuration: ``python -m rfstudy readme``.

The text around the tables is written by hand. A table is between two comments that name its subject.
"""

import inspect
import re
from importlib import import_module
from pathlib import Path

from random_features.kernels import KERNELS
from random_features.learners.registry import LEARNERS
from rfstudy import output_models
from rfstudy.data import forms, modules, sources
from rfstudy.files import write_text
from rfstudy.models import Model, parameters
from rfstudy.planning import entries, models, settings
from rfstudy.study.kinds.registry import KINDS

BLOCK = re.compile(r"<!-- table: (?P<name>[\w -]+) -->\n.*?<!-- end -->", re.DOTALL)


def run(path) -> None:
    """Write a page with all of its tables regenerated."""
    write_text(written(Path(path).read_text(encoding="utf-8")), path)


def written(page: str) -> str:
    """Return a page with all of its tables regenerated."""
    made = tables()
    return BLOCK.sub(lambda block: f"<!-- table: {block['name']} -->\n{made[block['name']]}<!-- end -->", page)


def tables() -> dict[str, str]:
    """Return all tables by subject."""
    of_models = {
        "settings": [settings.Settings],
        "preset search": [settings.SearchDefaults],
        "preset time": [models.Timing],
        "experiment": [models.Experiment, models.WithGrid, models.OnData, models.AccuracyGrid],
        "data set": [models.Overlay],
        "entry": [entries.Entry],
        "sweep": [entries.Sweep],
        "step": [entries.Decision],
        "split": [entries.Split],
        "sizes": [entries.Sizes],
        "approximation": [entries.Approximation],
        "search": [models.Search],
        "time": [models.TimedExperiment],
        "source": [sources.Source],
        "file": [sources.LocalFile, sources.RemoteFile],
        "substitute": [sources.Substitute],
        "address": [sources.Address],
        "task": [forms.FileTask],
        "other tasks": [forms.GeneratedTask, forms.FeaturesTask, forms.StreamedTask],
        "stand-in": [forms.StandIn],
        "method": [settings.Method],
        "output": [output_models.Output],
        "scorecard": [output_models.Scorecard],
        "numbers": [output_models.Numbers],
        "measured": [output_models.Measured],
        "not scored": [output_models.NotScored],
    }
    return {name: table(["key", "meaning"], keys_of(each)) for name, each in of_models.items()} | {
        "kinds": table(["kind", "what it measures", "keys of its `grid`"], map(of_kind, KINDS)),
        "kernels": table(["name", "parameters"], [(name, spans(of.parameters)) for name, of in KERNELS.items()]),
        "learners": table(["learner", "grid", "options"], map(of_learner, LEARNERS)),
        "rules": table(["rule", "parameters", "meaning"], rows_of_files("bandwidths")),
        "preprocessing": table(["step", "parameters", "meaning"], rows_of_files("steps")),
    }


def of_kind(kind: str) -> tuple[str, str, str]:
    """Return the row of a kind of experiment."""
    grid, module = KINDS[kind].grid, import_module(f"rfstudy.study.kinds.{kind}")
    return kind, first_sentence(module), one_line(grid.__doc__) if grid else "none: see above"


def of_learner(name: str) -> tuple[str, str, str]:
    """Return the row of a learner."""
    options = LEARNERS[name].options
    return name, spans([LEARNERS[name].grid]), f"{spans(options.__annotations__)}. {one_line(options.__doc__)}"


def rows_of_files(kind: str) -> list[tuple[str, str, str]]:
    """Return a row for each bandwidth rule, or for each preprocessing step."""
    keys = {name: parameters(modules.function(kind, name)).model_fields for name in modules.names(kind)}
    return [(name, spans(own), first_sentence(modules.load(kind, name))) for name, own in keys.items()]


def keys_of(owners: list[type[Model]]) -> list[tuple[str, str]]:
    """Return the keys of models with their meanings; a key of several models is listed once."""
    meanings: dict[str, str] = {}
    for owner in owners:
        documented = documented_keys(owner)
        own_first = sorted(owner.model_fields, key=lambda key: key not in owner.__annotations__)
        meanings |= {key: documented[key] for key in own_first if key not in meanings}
    return list(meanings.items())


def documented_keys(model: type[Model]) -> dict[str, str]:
    """Return the keys that the docstrings of a model and of its bases explain."""
    found: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        text = inspect.cleandoc(owner.__dict__.get("__doc__") or "") + "\n"
        items = re.findall(r"^(\w+) : (.*(?:\n +.*)*)", text.partition("Attributes\n----------\n")[2], re.MULTILINE)
        found |= {key: one_line(meaning) for key, meaning in items}
    return found


def first_sentence(module) -> str:
    """Return the first sentence of the docstring of a module."""
    return re.split(r"(?<=[.:])\s", one_line(module.__doc__))[0].rstrip(".:")


def table(heading: list[str], rows) -> str:
    """Return a Markdown table; the first column is code."""
    lines = [heading, ["---"] * len(heading), *([f"`{first}`", *rest] for first, *rest in rows)]
    return "".join(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def spans(words) -> str:
    """Return words in code style."""
    return ", ".join(f"`{word}`" for word in words) or "none"


def one_line(text: str | None) -> str:
    """Return a text without line breaks."""
    return " ".join((text or "").split())
