"""Which code computes a number: the files that a stage imports, and the meaning of the definitions that it uses.

The workflow does not see that an imported file was edited; rules therefore declare these files as inputs
(``import_closure``), all of a job as one: a ``listing`` of them. A file says too much, though: a new kernel beside the
one in use, or a comment, changes no number. Journals therefore key finished cells by ``meaning``: the syntax trees,
without comments and docstrings, of the definitions that can be reached from the ones that compute the cell, and of no
others.

Standard library only, but for the writing of listings: no code that computes is imported.
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from rfstudy.files import write_atomically

#: The folder of the packages, and the packages whose files are code of the study.
SOURCE = Path(__file__).resolve().parents[2]
PACKAGES = ("random_features", "rfstudy")

#: Tables of ids, not computations, by module: what their entries decide of a cell (its map's options, its kernel's
#: class) is in the key of the cell by itself, so that a new entry, unit or label discards nothing.
TABLES = {
    "random_features.maps.registry": ("REGISTRY", "ALIASES"),
    "rfstudy.metrics": ("FACTS",),
}

#: Modules that plan, keep and describe numbers and compute none: what they decide of a cell is in its key.
BOOKKEEPING = (
    "rfstudy.study.config",
    "rfstudy.study.experiment",
    "rfstudy.study.selection",
    "rfstudy.study.plan",
    "rfstudy.study.rows",
    "rfstudy.study.journal",
    "rfstudy.study.provenance",
    "rfstudy.tidy",
    "rfstudy.files",
)

#: Modules whose edit reruns no job: lists of ids that the specification of a job has taken its part from.
LISTS = ("random_features/maps/registry.py",)


@cache
def import_closure(*modules: str) -> tuple[Path, ...]:
    """Files of both packages that the named modules import, directly or not, wherever the import stands.

    Parameters
    ----------
    modules : full names, e.g. ``"rfstudy.study.train"``

    Returns
    -------
    tuple of absolute paths, sorted. A name that is no module of a package raises ``FileNotFoundError``.
    """
    found: set[Path] = set()
    waiting = [file_of(module) for module in modules]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        waiting.extend(imported_files(path) - found - {SOURCE / name for name in LISTS})
    return tuple(sorted(found))


def listing(folder, *modules: str) -> Path:
    """A file in a folder that lists the ``import_closure`` of modules, a line a file with the hash of its content.

    A job that has it as its one input of code, in place of some fifty, is run again wherever one of these is edited,
    and is planned in half the time. It is written where its content changes. One that is missing is as old as the
    youngest of its files, so that nothing is run again for a listing that was removed.
    """
    own = hashlib.sha256(" ".join(sorted(modules)).encode()).hexdigest()[:12]
    path, files = Path(folder) / f"{modules[0]}-{own}.txt", import_closure(*modules)
    text = "".join(f"{hash_of(file)}  {file.relative_to(SOURCE).as_posix()}\n" for file in files)
    there = path.read_text(encoding="utf-8") if path.exists() else None
    if text != there:

        def write(temporary) -> None:
            Path(temporary).write_text(text, encoding="utf-8")
            if there is None:
                youngest = max(file.stat().st_mtime_ns for file in files)
                os.utime(temporary, ns=(youngest, youngest))

        write_atomically(path, write, sync=False)
    return path


@cache
def hash_of(file: Path) -> str:
    """The SHA-256 of a file of the package."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def imported_files(path: Path) -> frozenset[Path]:
    """Files of the package that one file names in its import statements."""
    files = set()
    for statement in statements(parsed(path)):
        for module, attribute in imports_of(statement, path).values():
            names = [*module.split("."), *([attribute] if attribute else [])]
            # importing a.b.c runs a, a.b and a.b.c
            for length in range(1, len(names) + 1):
                found = module_file(".".join(names[:length]))
                if found is not None:
                    files.add(found)
    return frozenset(files)


@cache
def meaning(*roots: str) -> str:
    """A short hash of what the named definitions do, with all that they use of the package.

    Parameters
    ----------
    roots : modules ("random_features.maps.quasi": all of it), or one definition of a module
        ("random_features.kernels.gaussian:Gaussian")

    Names that are looked up while the program runs (a module by its id) cannot be seen here: whoever looks them up
    names them as roots. A root that does not exist raises ``FileNotFoundError`` or ``KeyError``.
    """
    found: set[tuple[str, str]] = set()
    waiting: list[tuple[str, str]] = []
    for root in roots:
        module, _, name = root.partition(":")
        if name and name not in module_of(module).definitions:
            raise KeyError(f"{module} defines no {name}")
        waiting += [(module, name)] if name else module_of(module).all_of(module)
    while waiting:
        place = waiting.pop()
        if place not in found and place[0] not in BOOKKEEPING:
            found.add(place)
            waiting += uses(*place)
    state = hashlib.sha256()
    for module, name in sorted(found):
        state.update(f"{module}:{name}\n{tree(module, name)}\n".encode())
    return state.hexdigest()[:16]


@cache
def tree(module: str, name: str) -> str:
    """The syntax tree of a definition as text, without comments and docstrings."""
    return "\n".join(ast.dump(without_docstrings(node)) for node in module_of(module).definitions[name])


@cache
def uses(module: str, name: str) -> list[tuple[str, str]]:
    """The definitions (module, name) that one names, and the statements that run with its module in any case."""
    nodes = module_of(module).definitions[name]
    return [(module, ALWAYS), *(each for node in nodes for each in used_definitions(module, node))]


def constant(module: str, name: str):
    """The value of a literal constant of a module, read without importing it; ``KeyError`` if there is none."""
    nodes = module_of(module).definitions.get(name, [])
    if len(nodes) != 1 or not isinstance(nodes[0], ast.Assign | ast.AnnAssign):
        raise KeyError(f"{module} has no constant {name}")
    return ast.literal_eval(nodes[0].value)


def defines(module: str, name: str) -> bool:
    """Whether a module defines a name itself."""
    return name in module_of(module).definitions


def modules_in(package: str) -> list[str]:
    """The names of the modules in a package, e.g. "random_features.learners", in order."""
    folder = SOURCE.joinpath(*package.split("."))
    return sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")


@cache
def module_file(module: str) -> Path | None:
    """The file of a module, or None where no package has it."""
    base = SOURCE.joinpath(*module.split("."))
    for candidate in (base / "__init__.py", base.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    return None


def file_of(module: str) -> Path:
    """The file of a module; ``FileNotFoundError`` if there is none."""
    path = module_file(module)
    if path is None:
        raise FileNotFoundError(f"there is no module {module} in {' or '.join(PACKAGES)}")
    return path


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements within a node, at any depth, handlers and cases included; expressions, most of a tree, are not."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        for inner in getattr(node, name, ()):
            yield inner
            yield from statements(inner)


#: The name under which a module keeps the statements that are no definitions.
ALWAYS = "<module>"


@dataclass
class Module:
    """The top level of a file: its definitions by name, and what its imports make of names."""

    definitions: dict[str, list[ast.stmt]] = field(default_factory=lambda: {ALWAYS: []})
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)  # name -> module, attribute ("" for a module)

    def all_of(self, module: str) -> list[tuple[str, str]]:
        """All definitions as (module, name), but for its tables of ids."""
        return [(module, name) for name in self.definitions if name not in TABLES.get(module, ())]


@cache
def module_of(name: str) -> Module:
    """The top level of a module of the package."""
    path = file_of(name)
    module = Module()
    for node in parsed(path).body:
        module.imports |= imports_of(node, path)
        for defined in defined_names(node):
            module.definitions.setdefault(defined, []).append(node)
    return module


def defined_names(node: ast.stmt) -> list[str]:
    """The names that a statement at the top of a module defines; ``ALWAYS`` for one that defines none."""
    if isinstance(node, ast.Import | ast.ImportFrom) or is_docstring(node):
        return []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        if names:
            return names
    return [ALWAYS]


def imports_of(node: ast.AST, path: Path) -> dict[str, tuple[str, str]]:
    """What an import statement binds of our packages: local name -> (module, attribute); nothing for another node.

    ``import rfstudy.a`` binds the module itself ("" as attribute), as does ``from rfstudy import a``.
    """
    found: dict[str, tuple[str, str]] = {}
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.split(".")[0] in PACKAGES:
                found[alias.asname or alias.name] = (alias.name, "")
    elif isinstance(node, ast.ImportFrom):
        here = path.relative_to(SOURCE).parent.parts
        base = here[: len(here) - node.level + 1] if node.level else []
        parts = [*base, *(node.module.split(".") if node.module else [])]
        if parts and parts[0] in PACKAGES:
            stem = ".".join(parts)
            for alias in node.names:
                inner = f"{stem}.{alias.name}"
                is_module = module_file(inner) is not None
                found[alias.asname or alias.name] = (inner, "") if is_module else (stem, alias.name)
    return found


def used_definitions(module: str, node: ast.stmt) -> list[tuple[str, str]]:
    """The definitions of the package that a statement names: (module, name)."""
    path, here = file_of(module), module_of(module)
    imports = dict(here.imports)
    for inner in ast.walk(node):
        imports |= imports_of(inner, path)
    attributes: dict[str, set[str]] = {}
    bare: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
            attributes.setdefault(inner.value.id, set()).add(inner.attr)
        for child in ast.iter_child_nodes(inner):
            if isinstance(child, ast.Name) and not isinstance(inner, ast.Attribute):
                bare.add(child.id)
    if isinstance(node, ast.Name):
        bare.add(node.id)
    found = []
    for name in sorted(bare | set(attributes)):
        if name in imports:
            target, attribute = imports[name]
            if attribute:
                found += resolved(target, attribute)
            elif name in bare:
                found += module_of(target).all_of(target)
            else:
                for each in sorted(attributes[name]):
                    found += resolved(target, each)
        elif name in here.definitions and name not in TABLES.get(module, ()):
            found.append((module, name))
    return found


def resolved(module: str, name: str) -> list[tuple[str, str]]:
    """Where a name of a module is defined: there, or where that module has it from."""
    here = module_of(module)
    if name in TABLES.get(module, ()):
        return []
    if name in here.definitions:
        return [(module, name)]
    if name in here.imports:
        target, attribute = here.imports[name]
        if attribute:
            return resolved(target, attribute)
        return module_of(target).all_of(target)
    return []


def is_docstring(node: ast.AST) -> bool:
    """Whether a statement is a text by itself."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def without_docstrings(node: ast.stmt) -> ast.stmt:
    """A copy of a statement without the texts that only document it."""
    copy = ast.parse(ast.unparse(node)).body[0]
    for inner in ast.walk(copy):
        body = getattr(inner, "body", None)
        if isinstance(body, list):
            inner.body = [each for each in body if not is_docstring(each)]
    return copy
