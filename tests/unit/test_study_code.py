"""What counts as the code of a step: the files that an import reaches, the definitions that a name does."""

import os
import shutil

import pytest

from rfstudy.study import code


def closure(*modules):
    return {str(path.relative_to(code.SOURCE)) for path in code.import_closure(*modules)}


def test_the_closure_follows_imports_and_stops_at_what_is_not_imported():
    train = closure("rfstudy.study.train")
    assert {
        "rfstudy/study/train.py",
        "rfstudy/study/kinds/grid.py",
        "rfstudy/study/engine.py",
        "random_features/learners/entry.py",
        "rfstudy/tidy.py",
    } <= train
    assert not {name for name in train if name.startswith(("report/", "cli"))}
    # what is imported by name is named by whoever runs it
    assert (
        not {
            "random_features/learners/ridge.py",
            "random_features/learners/svm.py",
            "random_features/maps/quasi.py",
            "rfstudy/study/kinds/decay.py",
        }
        & train
    )
    assert not {name for name in train if name.startswith(("study/bandwidths/", "data/steps/"))} - {
        "rfstudy/study/bandwidths/__init__.py",
        "rfstudy/data/steps/__init__.py",
    }
    assert "random_features/maps/registry.py" not in train  # a list: a new entry must not rerun the old ones
    assert {"random_features/learners/ridge.py", "random_features/learners/streams.py"} <= closure(
        "rfstudy.study.train", "random_features.learners.ridge"
    )
    assert "random_features/learners/svm.py" not in closure("rfstudy.study.train", "random_features.learners.ridge")
    assert "random_features/maps/quasi.py" in closure("rfstudy.study.train", "random_features.maps.quasi")


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """A copy of both packages that may be edited, seen by the functions under test as the packages."""
    source = tmp_path / "src"
    shutil.copytree(code.SOURCE, source, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(code, "SOURCE", source)
    forget()
    yield source
    monkeypatch.undo()
    forget()


def forget():
    """Empty the caches, which hold for one state of the package."""
    for function in vars(code).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def test_a_listing_is_as_old_as_the_youngest_of_its_files_until_one_is_edited(edited, tmp_path):
    for file in edited.rglob("*.py"):
        os.utime(file, (1000, 1000))
    os.utime(edited / "rfstudy/tidy.py", (2000, 2000))
    first = code.listing(tmp_path / "code", "rfstudy.study.train", "random_features.maps.quasi")
    listed = [line.split("  ")[1] for line in first.read_text().splitlines()]
    assert set(listed) == closure("rfstudy.study.train", "random_features.maps.quasi")
    assert len(listed) == len(set(listed))
    assert first.stat().st_mtime == 2000
    assert (
        code.listing(tmp_path / "code", "random_features.maps.quasi", "rfstudy.study.train").name != first.name
    )  # named by its stage
    other = code.listing(tmp_path / "code", "rfstudy.study.train", "random_features.maps.leverage")
    assert other != first

    def listing_again(root="random_features.maps.quasi"):
        forget()
        return code.listing(tmp_path / "code", "rfstudy.study.train", root).read_text()

    before, of_other = first.read_text(), other.read_text()
    # what is touched, and what is not listed, changes nothing
    os.utime(edited / "random_features/maps/quasi.py")
    with (edited / "rfstudy/report/pages.py").open("a") as stream:
        stream.write("# an edit\n")
    assert listing_again() == before
    assert first.stat().st_mtime == 2000
    # an edit is seen even where the file keeps its age
    with (edited / "random_features/maps/quasi.py").open("a") as stream:
        stream.write("# an edit\n")
    os.utime(edited / "random_features/maps/quasi.py", (500, 500))
    after = listing_again()
    assert [line for line in after.splitlines() if line not in before] == [
        line for line in after.splitlines() if line.endswith("  random_features/maps/quasi.py")
    ] != []  # fmt: skip
    assert first.stat().st_mtime > 2000
    assert listing_again("random_features.maps.leverage") == of_other
    assert other.stat().st_mtime == 2000


def test_what_is_no_module_or_no_definition_is_an_error():
    with pytest.raises(FileNotFoundError, match=r"rfstudy\.study\.nothing"):
        code.import_closure("rfstudy.study.nothing")
    with pytest.raises(FileNotFoundError, match=r"rfstudy\.study\.nothing"):
        code.meaning("rfstudy.study.nothing")
    with pytest.raises(KeyError, match=r"random_features\.kernels\.gaussian defines no Gausian"):
        code.meaning("random_features.kernels.gaussian:Gausian")
    with pytest.raises(KeyError, match="no constant GRID"):
        code.constant("rfstudy.study.kinds.grid", "GRID")
    with pytest.raises(KeyError, match="no constant cells"):
        code.constant("rfstudy.study.kinds.decay", "cells")


def test_constants_are_read_without_an_import():
    assert code.constant("rfstudy.study.kinds.decay", "STAGES") == ("measure",)
    assert code.constant("random_features.kernels.gaussian", "KERNEL")["class"] == "Gaussian"
    assert code.defines("rfstudy.study.kinds.grid", "timed")
    assert not code.defines("rfstudy.study.kinds.grid", "seed_of")  # imported, not defined
    assert {"ridge", "svm"} <= set(code.modules_in("random_features.learners"))


MODULES = {
    "__init__": "",
    "errors": "class UserError(Exception):\n    pass\n",
    "tidy": "def frame():\n    return 1\n",
    "sums": """
import math
from rfstudy.parts import half as split, unused
from rfstudy import parts, tidy

SCALE = 2

def total(x):
    "What it does."
    def inner(y):
        return split(y) * SCALE
    return inner(x) + parts.third(x)

def other(x):
    return unused(x)

class Shape(parts.Base):
    def area(self):
        return later()

def later():
    from rfstudy.late import value
    return value

def annotated(x: parts.Base = None):
    return x

@parts.decorate
def decorated():
    return 0

def keeps():
    return tidy.frame()
""",
    "parts": """
from rfstudy.again import third

def half(x):
    return x / 2

def unused(x):
    return x

class Base:
    limit = 5

def decorate(function):
    return function
""",
    "again": "def third(x):\n    return x / 3\n",
    "late": "value = 1\nanother = 2\n",
    "always": "import sys\nsys.setrecursionlimit(5000)\n\ndef one():\n    return 1\n",
}  # fmt: skip


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package in place of ours, and its meaning after an edit."""
    monkeypatch.setattr(code, "SOURCE", tmp_path)
    (tmp_path / "rfstudy").mkdir()

    def forget():
        for function in vars(code).values():
            getattr(function, "cache_clear", lambda: None)()

    def meaning(*roots, **edits):
        for name, text in (MODULES | {name: edit(MODULES[name]) for name, edit in edits.items()}).items():
            (tmp_path / "rfstudy" / f"{name}.py").write_text(text)
        forget()
        return code.meaning(*(f"rfstudy.{root}" for root in roots))

    yield meaning
    forget()


def swap(old, new):
    def edit(text):
        assert old in text
        return text.replace(old, new)

    return edit


@pytest.mark.parametrize(
    ("root", "edits"),
    [
        ("sums:total", {"sums": swap("return inner(x)", "return 2 * inner(x)")}),
        ("sums:total", {"sums": swap("SCALE = 2", "SCALE = 3")}),
        ("sums:total", {"parts": swap("x / 2", "x / 2.5")}),  # by another name, in a function within
        ("sums:total", {"again": swap("x / 3", "x / 3.5")}),  # through a module that only passes it on
        ("sums:Shape", {"parts": swap("limit = 5", "limit = 6")}),  # the base of a class
        ("sums:Shape", {"late": swap("value = 1", "value = 2")}),  # imported where it is used
        ("sums:annotated", {"parts": swap("limit = 5", "limit = 6")}),  # what an argument is
        ("sums:decorated", {"parts": swap("return function", "return lambda: function()")}),
        ("always:one", {"always": swap("5000", "6000")}),  # what runs with its module in any case
        ("sums", {"parts": swap("def unused(x):\n    return x", "def unused(x):\n    return -x")}),  # all of a module
        ("sums:total", {"sums": swap("def total(x):", "def total(x, y=0):")}),
    ],
)
def test_an_edit_of_what_a_definition_uses_changes_its_meaning(package, root, edits):
    assert package(root) != package(root, **edits)


@pytest.mark.parametrize(
    ("root", "edits"),
    [
        ("sums:total", {"sums": swap('"What it does."', '"Another text."')}),
        ("sums:total", {"sums": swap("def other(x):", "# a comment\ndef other(x, z=3):")}),
        ("sums:total", {"sums": swap("    return inner(x) + parts", "\n    return (inner(x)) + parts")}),
        ("sums:total", {"parts": lambda text: '"""A module."""\n' + text}),
        ("sums:total", {"parts": swap("limit = 5", "limit = 6")}),
        ("sums:total", {"late": swap("value = 1", "value = 2")}),
        ("sums:Shape", {"late": swap("another = 2", "another = 3")}),
        ("sums:keeps", {"tidy": swap("return 1", "return 2")}),  # keeps numbers and computes none
        ("always:one", {"always": swap("import sys", "import os, sys")}),
    ],
)
def test_an_edit_of_anything_else_does_not(package, root, edits):
    assert package(root) == package(root, **edits)


def test_several_roots_are_one_meaning_in_any_order(package):
    assert package("sums:total", "always:one") == package("always:one", "sums:total")
    assert package("sums:total", "always:one") != package("sums:total")
