"""The study that compares random feature maps. The maps, kernels and learners themselves are ``random_features``.

The modules of the library were once part of this package. Their old names (``rfstudy.kernels``, ``rfstudy.maps.quasi``)
still import, with a ``FutureWarning``: they are the same modules, so old scripts run and old pickles load.
"""

import sys
import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec

from random_features import __version__

__all__ = ["__version__", "draw", "load", "measured"]

MOVED = {"arrays", "errors", "hadamard", "kernels", "learners", "length_scales", "maps"}


class OldNames(MetaPathFinder, Loader):
    """Imports ``rfstudy.<moved module>`` as the module of ``random_features`` of the same name."""

    def find_spec(self, name, path=None, target=None):
        package, *below = name.split(".")
        return ModuleSpec(name, self) if package == __name__ and below and below[0] in MOVED else None

    def create_module(self, spec):
        new = spec.name.replace(__name__, "random_features", 1)
        warnings.warn(f"import {new}: the name {spec.name} goes in a later major version", FutureWarning, stacklevel=2)
        module = import_module(new)
        spec.loader_state = module.__spec__  # the import system overwrites it
        return module

    def exec_module(self, module):
        module.__spec__ = module.__spec__.loader_state


sys.meta_path.insert(0, OldNames())


def __getattr__(name):
    """Return a function for notebooks; its libraries are imported when it is asked for."""
    if name in ("draw", "load", "measured"):
        return getattr(import_module("rfstudy.notebook"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
