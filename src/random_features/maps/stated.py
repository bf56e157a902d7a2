"""The kernel that the parameter ``kernel`` of a map states: an object, a name, a kernel of scikit-learn, a function."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from random_features.arrays import check_numbers
from random_features.errors import suggestion
from random_features.kernels import of_class
from random_features.kernels.base import Kernel
from random_features.kernels.gaussian import Gaussian
from random_features.tensors import on_host


@dataclass(frozen=True)
class OfFunction(Kernel):
    """The kernel of a function of X (n, d) and Y (m, d) that returns its matrix (n, m)."""

    function: Callable
    name = "callable"
    #: A kernel of which only values are known, as maps of the data need them.
    like = "neural_tangent"

    def _values(self, X, Y):
        values = np.array(self.function(X, Y), dtype=np.float64)  # a copy: the function may keep its own
        if values.shape != (len(X), len(Y)):
            raise ValueError(f"a kernel must return the matrix {(len(X), len(Y))} of X and Y, got {values.shape}")
        return values


@dataclass(frozen=True)
class Precomputed(Kernel):
    """A kernel whose values are the data: rows of X have the values with all training rows."""

    name = "precomputed"
    like = "neural_tangent"

    def _values(self, X, Y):
        raise ValueError("kernel='precomputed' is for make_map('nystroem', kernel='precomputed') only")


#: The classes and parameters of kernels by name, and by their names in scikit-learn's estimators. Length scales are
#: as in scikit-learn's ``gamma="scale"``. A class is imported when its name is stated, so that a map depends on the
#: code of its own kernel only.
BY_NAME = {
    "gaussian": ("Gaussian", "scale"),
    "laplacian": ("Laplacian", "scale"),
    "cauchy": ("Cauchy", "scale"),
    "matern12": ("Matern", "scale", 0.5),
    "matern32": ("Matern", "scale", 1.5),
    "matern52": ("Matern", "scale", 2.5),
    "polynomial": ("Polynomial",),
    "precomputed": ("Precomputed",),
    "rbf": ("Gaussian", "scale"),
    "linear": ("Linear",),
}


def as_kernel(kernel) -> Kernel:
    """Return the kernel object for a kernel, a name, a kernel of scikit-learn or a function.

    Parameters
    ----------
    kernel : kernel object, name, scikit-learn's ``RBF``, or function of X (n, d) and Y (m, d)
        "gaussian" and "rbf" are the Gaussian kernel with the length scale of scikit-learn's ``gamma="scale"``, the
        default of its ``SVC``. So are the length scales of "laplacian", "cauchy", "matern12", "matern32", "matern52";
        the others are "polynomial", "linear" and "precomputed". ``RBF(length_scale)`` of scikit-learn's Gaussian
        processes is ``Gaussian(length_scale)``. A function returns the kernel matrix (n, m).

    Raises
    ------
    TypeError
        For anything else.

    Examples
    --------
    >>> from random_features.maps.stated import as_kernel
    >>> as_kernel("rbf")
    Gaussian(length_scale='scale')
    >>> as_kernel("matern32")
    Matern(length_scale='scale', nu=1.5)
    """
    if isinstance(kernel, str) and kernel in BY_NAME:
        name, *parameters = BY_NAME[kernel]
        return (Precomputed if name == "Precomputed" else of_class(name))(*parameters)
    if type(kernel).__name__ == "RBF" and type(kernel).__module__.startswith("sklearn."):
        return Gaussian(kernel.length_scale if np.ndim(kernel.length_scale) else float(kernel.length_scale))
    if isinstance(kernel, type):
        raise TypeError(f"kernel must be an object, got the class {kernel.__name__}: write {kernel.__name__}()")
    if callable(kernel) and isinstance(getattr(kernel, "name", None), str):
        return kernel
    if callable(kernel) and not type(kernel).__module__.startswith("sklearn."):
        return OfFunction(kernel)
    raise TypeError(
        "kernel must be an object from random_features.kernels, a function of X and Y, scikit-learn's RBF, None or a"
        f" name, got {kernel!r}; {suggestion(kernel, BY_NAME)}"
    )


class StatesKernel:
    """A mixin for estimators with a parameter ``kernel``, whose own parameters are ``kernel__<name>``."""

    #: The kernel that ``kernel=None`` means.
    default_kernel = Gaussian()

    def _kernel_object(self):
        """Return the kernel as it was stated."""
        return self.default_kernel if self.kernel is None else as_kernel(self.kernel)

    def set_params(self, **params):
        """Set parameters, as scikit-learn's estimators do; ``kernel__<name>`` is a parameter of the kernel.

        A kernel that other maps share does not change: this map gets another one.

        Returns
        -------
        self
        """
        of_kernel = {name: value for name, value in params.items() if name.startswith("kernel__")}
        super().set_params(**{name: value for name, value in params.items() if name not in of_kernel})
        if of_kernel:
            stated = {name.removeprefix("kernel__"): value for name, value in of_kernel.items()}
            self.kernel = self._kernel_object().with_params(**stated)
        return self

    def _description(self, arrays: dict) -> str:
        """Return a drawn map's method, parameters, columns of the data and shapes of learned arrays, in one line."""
        stated = [f"{name}={value}" for name, value in sorted(self._drawn_with.items())]
        shapes = [f"{name} {np.shape(array)}" for name, array in sorted(arrays.items())]
        text = f"{self.method}({', '.join(stated)}) for {self.n_features_in_} columns with {', '.join(shapes)}"
        return re.sub(r"np\.\w+\(([^()]*)\)", r"\1", text)


def copies_of(learned: dict, method: str) -> dict:
    """Return copies of learned arrays; ``ValueError`` for NaN, infinity, and what ``check_numbers`` refuses."""
    copies = {name: np.array(on_host(check_numbers(array, f"learned[{name!r}]"))) for name, array in learned.items()}
    for name, array in copies.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"{method}: what was learned holds NaN or infinity, in {name}")
    return copies


def with_length_scale(kernel, learned: dict):
    """Return the kernel with the length scale of ``learned``, if one was learned."""
    scale = learned.get("length_scale")
    return kernel if scale is None else kernel.with_params(length_scale=scale.tolist())
