"""Find the code that a result depends on: the modules that a stage imports, hashed without comments and docstrings.

The workflow does not see that an imported file was edited. A rule therefore has a small file as a parameter that lists
the hashes of the modules that its job runs (``stamp``), and the journal keeps a finished cell under the ``code_hash``
of the modules that compute it. Both change together, and neither changes with a comment.

Standard library only: nothing that computes is imported.
"""

import ast
import hashlib
import importlib.util
import itertools
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from random_features.errors import UserError
from rfstudy.files import write_text

#: The folder of the packages, and the packages whose files are code of the study.
SOURCE = Path(__file__).resolve().parents[2]
PACKAGES = ("random_features", "rfstudy")

#: The version of Python, on which syntax trees and so the hashes of modules depend.
PYTHON = "python  {}.{}".format(*sys.version_info)

#: What can have a docstring.
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

#: Modules that name and describe other code. The key of a cell holds what its entry takes from them (a class, the
#: defaults of its options), so a new entry, label or unit must change no hash.
REGISTRIES = (
    "random_features.kernels.registry", "random_features.learners.registry", "random_features.maps.registry",
    "rfstudy.metrics", "rfstudy.study.kinds.registry",
)  # fmt: skip


@cache
def import_closure(*modules: str) -> tuple[str, ...]:
    """Return the names of the given modules and of all modules of both packages that they import, directly or not.

    Imports inside functions count. Modules that a registry names are not followed: code that loads a module by its id
    adds that module to the roots. A name that is not a module raises ``FileNotFoundError``.

    Parameters
    ----------
    modules : full names, e.g. ``"rfstudy.study.train"``
    """
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found and module not in REGISTRIES:
            found.add(module)
            waiting += facts_of(module)[1]
    return tuple(sorted(found))


@cache
def code_hash(*modules: str) -> str:
    """Return the SHA-256 of the import closure of modules, without comments, docstrings and layout."""
    return hashlib.sha256(listing(*modules).encode()).hexdigest()


def listing(*modules: str) -> str:
    """Return the import closure of modules as text, one line per module with the hash of its code."""
    return "".join(f"{facts_of(module)[0]}  {module}\n" for module in import_closure(*modules))


def stamp(folder, *modules: str) -> Path:
    """Return the file in ``folder`` that holds the ``listing`` of modules; its name contains the hash of its
    content.
    """
    text = f"{PYTHON}\n{listing(*modules)}"
    path = Path(folder) / f"{modules[0]}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.txt"
    if not path.exists():
        write_text(text, path, sync=False)
    return path


def load_as_planned(path) -> None:
    """Import the modules that a plan's ``stamp`` lists. Raise ``UserError`` if one of them was edited since.

    They are imported before anything runs, so a later edit changes neither what a job computes nor the hashes under
    which it keeps its cells. Another version of Python gives other hashes, so nothing is compared then.
    """
    python, *lines = Path(path).read_text(encoding="utf-8").splitlines()
    if python != PYTHON:
        return
    planned = [line.split() for line in lines]
    edited = [module for digest, module in planned if not module_file(module) or facts_of(module)[0] != digest]
    if not edited:
        before = {module: file_of(module).stat().st_mtime_ns for _, module in planned}
        for module in before:
            importlib.import_module(module)
        edited = [module for module, time in before.items() if file_of(module).stat().st_mtime_ns != time]
    if edited:
        raise UserError(f"{edited[0]} was edited after the plan was made: run the same command again")


#: By module: time and size of its file, its hash and the modules that it imports. Parsing all modules takes seconds, so
#: the workflow keeps this between plans.
KNOWN: dict[str, list] = {}


def load_known(path) -> None:
    """Load what an earlier plan found about modules that have not changed since."""
    with suppress(OSError, ValueError):
        KNOWN.update(json.loads(Path(path).read_text(encoding="utf-8")))


def save_known(path) -> None:
    """Write what this plan found about modules, for the next plan."""
    write_text(json.dumps(KNOWN, sort_keys=True), path, only_if_changed=True, sync=False)


@cache
def facts_of(module: str) -> tuple[str, list[str]]:
    """Return the ``module_hash`` of a module and its ``imported_modules``."""
    state = file_of(module).stat()
    found = f"{state.st_mtime_ns} {state.st_size} {sys.version_info[:3]}"
    if KNOWN.get(module, [""])[0] != found:
        KNOWN[module] = [found, module_hash(module), sorted(imported_modules(module))]
    return KNOWN[module][1], KNOWN[module][2]


def module_hash(module: str) -> str:
    """Return the SHA-256 of the syntax tree of a module without docstrings."""
    tree = parsed(module)
    for node in [tree, *statements(tree)]:
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def imported_modules(module: str) -> frozenset[str]:
    """Return the modules of both packages that a module names in import statements, with their packages."""
    package = module if file_of(module).name == "__init__.py" else module.rpartition(".")[0]
    names = set()
    for node in statements(parsed(module)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            stem = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names |= {f"{stem}.{alias.name}" for alias in node.names}
    # importing a.b.c runs a, a.b and a.b.c; the last part may be an attribute
    found = itertools.chain(*(itertools.accumulate(name.split("."), "{}.{}".format) for name in names))
    return frozenset(each for each in found if module_file(each))


@cache
def module_file(module: str) -> Path | None:
    """Return the file of a module of the packages by its full name, or None."""
    base = SOURCE.joinpath(*module.split("."))
    candidates = (base / "__init__.py", base.with_suffix(".py")) if module.split(".")[0] in PACKAGES else ()
    return next((path for path in candidates if path.is_file()), None)


def file_of(module: str) -> Path:
    """Return the file of a module; ``FileNotFoundError`` if there is none."""
    if (path := module_file(module)) is None:
        raise FileNotFoundError(f"{module} is no module of the packages")
    return path


def parsed(module: str) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(file_of(module).read_text(encoding="utf-8"))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements within a node, at any depth; expressions, which are most of a tree, are not visited."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        for inner in getattr(node, name, ()):
            yield inner
            yield from statements(inner)
