"""The kernel that the parameter ``kernel`` of a map states: an object, or a name or kernel of scikit-learn."""

import numpy as np

from random_features.kernels.base import Kernel
from random_features.kernels.gaussian import Gaussian
from random_features.kernels.linear import Linear

#: Kernels by their names in scikit-learn's estimators.
OF_SCIKIT_LEARN = {"rbf": Gaussian("scale"), "linear": Linear()}


def as_kernel(kernel) -> Kernel:
    """Return the kernel object for a kernel, a name or a kernel of scikit-learn.

    Parameters
    ----------
    kernel : kernel object, "rbf", "linear" or scikit-learn's ``RBF``
        "rbf" is the Gaussian kernel with the length scale of scikit-learn's ``gamma="scale"``, the default of its
        ``SVC``; ``RBF(length_scale)`` of its Gaussian processes is ``Gaussian(length_scale)``.

    Raises
    ------
    TypeError
        For anything else; ``ValueError`` for an ``RBF`` with one length scale per column.

    Examples
    --------
    >>> from random_features.maps.stated import as_kernel
    >>> as_kernel("rbf")
    Gaussian(length_scale='scale')
    """
    if isinstance(kernel, str) and kernel in OF_SCIKIT_LEARN:
        return OF_SCIKIT_LEARN[kernel]
    if type(kernel).__name__ == "RBF" and type(kernel).__module__.startswith("sklearn."):
        if np.ndim(kernel.length_scale) > 0:
            raise ValueError(f"a Gaussian kernel has one length scale, got {kernel!r}: divide the columns by theirs")
        return Gaussian(float(kernel.length_scale))
    if isinstance(kernel, type):
        raise TypeError(f"kernel must be an object, got the class {kernel.__name__}: write {kernel.__name__}()")
    if not callable(kernel) or not isinstance(getattr(kernel, "name", None), str):
        raise TypeError(
            f"kernel must be an object from random_features.kernels, {', '.join(map(repr, OF_SCIKIT_LEARN))},"
            f" scikit-learn's RBF or None, got {kernel!r}"
        )
    return kernel
