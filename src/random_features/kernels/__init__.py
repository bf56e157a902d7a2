"""Exact kernels: the matrices that random features approximate, and the properties that feature maps use.

A kernel is a small immutable object. Kernels with a spectral representation also say how their frequencies are
distributed, coordinate by coordinate, and which function of the projections makes the features:
``k(x, y) = E[cos(w . (x - y))]`` for shift-invariant kernels (``activation`` is None, the map's layout decides),
``k(x, y) = 2 E[a(w . x) a(w . y)]`` for a kernel with an activation a.

A kernel is one file of this folder, named after it, and a line of ``registry.KERNELS``. The classes can be imported
from here (``from random_features.kernels import Gaussian``). Importing this module loads nothing heavy.
"""

from collections.abc import Mapping

from random_features.errors import UserError, check_known
from random_features.kernels.registry import KERNELS, NAMES
from random_features.modules import class_named


def of_class(class_name: str) -> type:
    """Import and return the kernel class of a name; ``AttributeError`` if there is none."""
    return class_named(__name__, NAMES, class_name)


__getattr__ = of_class


def make_kernel(kernel: Mapping):
    """Return the kernel that a mapping describes by its ``name`` in ``KERNELS`` and all of its parameters.

    Parameters
    ----------
    kernel : mapping
        E.g. ``{"name": "gaussian", "length_scale": 0.7}``; the length scale is in the units of the data.

    Raises
    ------
    UserError
        A ``ValueError``, for an unknown name, an unknown or missing parameter, or a value outside its range
        (``TypeError`` for one of another type).

    Examples
    --------
    >>> from random_features.kernels import make_kernel
    >>> make_kernel({"name": "polynomial", "degree": 2, "coef0": 1.0})
    Polynomial(degree=2, coef0=1.0)
    """
    if "name" not in kernel:
        raise UserError(f"a kernel needs a name, got {dict(kernel)}; there are {', '.join(KERNELS)}")
    name = kernel["name"]
    check_known("no kernel is called", name, KERNELS)
    known = KERNELS[name].parameters
    for parameter in (each for each in kernel if each != "name"):
        check_known(f"the kernel {name} has no parameter", parameter, known)
    if missing := [parameter for parameter in known if parameter not in kernel]:
        has = ", ".join(known)
        raise UserError(f"the kernel {name} needs {' and '.join(missing)}, got {dict(kernel)}; it has {has}")
    return of_class(KERNELS[name].class_name)(**{parameter: kernel[parameter] for parameter in known})
