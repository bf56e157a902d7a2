"""Names that a reader of the study meets are terms of the field, ordinary English or entries of the glossary.

It checks the classes of ``rfstudy.study`` and ``rfstudy.report``, the configuration keys and the columns of the
tidy table, word by word: ``NotScored`` and ``not_scored`` are "not" and "scored". A word is known if

* it is in the first column of the glossary of docs/architecture.md,
* it is a word of the name of a class, a function or a parameter of scikit-learn, pandas or Snakemake, or
* it is ordinary English: at least five docstrings of these packages use it.

A word with an ending of English grammar ("sizes", "scored", "timing") is known if the word without it is.
"""

import ast
import importlib.util
import re
from collections import Counter
from pathlib import Path

from rfstudy import models, readme, tidy
from rfstudy.study.kinds.registry import KINDS

ROOT = Path(__file__).resolve().parents[2]
PACKAGES, COMMON, ENTRIES = ("sklearn", "pandas", "snakemake"), 5, 30
ENDING = re.compile("(s|es|d|ed|ing|est)$")


def words_of(name):
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def known():
    """The words of the names in the documentation of the packages, and those that many of their docstrings use."""
    names, uses = set(), Counter()
    for package in PACKAGES:
        for path in Path(importlib.util.find_spec(package).origin).parent.rglob("*.py"):
            if {"tests", "_vendored", "externals"}.isdisjoint(path.parts):
                text = path.read_text(encoding="utf-8")
                names |= set(re.findall(r"^(?:class |def |    (?=[a-z]\w* : ))([A-Za-z]\w*)", text, re.MULTILINE))
                for docstring in re.findall(r'"""(.+?)"""', text, re.DOTALL):
                    uses.update(set(re.findall(r"[a-z]+", docstring.lower())))
    common = {word for word, number in uses.items() if number >= COMMON}
    return common | {word for name in names for word in words_of(name)}


def glossary():
    """The first column of the glossary, a term with its keys a row."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.split("\n## Glossary\n")[1].split("\n## ")[0]
    return re.findall(r"^\| (?!term|-)(.+?) \|", section, re.MULTILINE)


def models_below(model):
    return {model}.union(*map(models_below, model.__subclasses__()))


def names():
    """Classes, configuration keys and columns, each with where it is."""
    of_kinds = {kind.grid.__name__ for kind in KINDS.values() if kind.grid}  # named after a kind, which has a page
    for folder in ("study", "report"):
        for path in sorted((ROOT / "src" / "rfstudy" / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef) and node.name not in of_kinds:
                    yield node.name, path.name
    readme.tables()  # which imports every model of the configuration
    for model in models_below(models.Model):
        if model.__module__.startswith(("rfstudy.study", "rfstudy.output_models")):
            yield from ((key, model.__qualname__) for key in model.model_fields)
    yield from ((column, "tidy table") for column in tidy.COLUMNS)


def test_every_name_is_a_term_of_the_field_or_in_a_short_glossary():
    assert 10 < len(glossary()) <= ENTRIES
    terms = known() | {word for entry in glossary() for word in words_of(entry)}
    unknown = {
        f"{name} ({where})": word
        for name, where in names()
        for word in words_of(name)
        if terms.isdisjoint({word, ENDING.sub("", word), ENDING.sub("e", word)})
    }
    assert unknown == {}, "rename these, or explain them in the glossary of docs/architecture.md"
