"""Find what modules define without importing them, where planning and ``--help`` would wait for an import: the classes
of maps load PyTorch, the kinds of figures Matplotlib.

Standard library only.
"""

import ast
import importlib
from functools import cache
from pathlib import Path

from random_features.errors import UserError, check_known


@cache
def statements(path: Path) -> list[ast.stmt]:
    """Return the statements of a module, as syntax that is not to be changed. Raise ``UserError`` if it has none."""
    try:
        return ast.parse(path.read_text(encoding="utf-8")).body
    except SyntaxError as error:
        raise UserError(f"{path}, line {error.lineno}: {error.msg}") from None


@cache
def definitions(path: Path) -> dict[str, ast.AST]:
    """Return the functions and classes of a module, and the values of its assignments, by name."""
    found: dict[str, ast.AST] = {}
    for node in statements(path):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found |= {ast.unparse(target): node.value for target in node.targets}
    return found


def class_named(package: str, homes: dict[str, str], name: str) -> type:
    """Import and return a class of a package; ``homes`` are the modules of its classes. Raise ``AttributeError`` for
    another name.
    """
    check_known(f"{package} has no", name, homes, AttributeError)
    return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
