"""Which files of the package a stage runs: the import closure of a module, read from the sources.

The workflow does not see that an imported file was edited; rules therefore declare these files as inputs, and
journals key finished cells by their content. Standard library only: nothing of the package is imported.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]

#: Lists of ids, not computations: what an entry decides travels with the specification of a job, so that adding a
#: method reruns nothing.
LISTS = (PACKAGE / "maps" / "registry.py",)


@cache
def import_closure(*modules: str) -> tuple[Path, ...]:
    """Files of the package that the named modules import, directly or not, wherever the import stands.

    Parameters
    ----------
    modules : dotted names below the package, e.g. ``"study.train"``

    Returns
    -------
    tuple of absolute paths, sorted. A name that is no file of the package raises ``FileNotFoundError``.
    """
    found: set[Path] = set()
    waiting = []
    for module in modules:
        path = module_file(module)
        if path is None:
            raise FileNotFoundError(f"rfstudy.{module} is no module of the package")
        waiting.append(path)
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        waiting.extend(imported_files(path) - found - set(LISTS))
    return tuple(sorted(found))


@cache
def imported_files(path: Path) -> frozenset[Path]:
    """Files of the package that one file names in its import statements."""
    names: set[str] = set()
    here = ["rfstudy", *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            stem = ".".join([*base, *filter(None, [node.module])])
            names.add(stem)
            names.update(f"{stem}.{alias.name}" for alias in node.names)
    files = set()
    for name in names:
        parts = name.split(".")
        if parts[0] != "rfstudy":
            continue
        # importing a.b.c runs a, a.b and a.b.c
        for length in range(1, len(parts) + 1):
            file = module_file(".".join(parts[1:length]))
            if file is not None:
                files.add(file)
    return frozenset(files)


def module_file(module: str) -> Path | None:
    """The file of a dotted name below the package ("" is the package itself), or None."""
    base = PACKAGE.joinpath(*filter(None, module.split(".")))
    for candidate in (base / "__init__.py", base.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    return None


def digest(*modules: str) -> str:
    """A short hash of the content of the import closure of ``modules``."""
    state = hashlib.sha256()
    for path in import_closure(*modules):
        state.update(str(path.relative_to(PACKAGE)).encode())
        state.update(path.read_bytes())
    return state.hexdigest()[:16]
