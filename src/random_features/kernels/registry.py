"""The exact kernels by name, with the facts about them.

Importing this module loads nothing heavy. The class of a kernel is in the file of the same name in this folder.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Facts:
    """The facts about a kernel.

    Attributes
    ----------
    class_name : its class, in the file of this folder with the kernel's name
    parameters : its parameters, all of which an experiment states
    id : its id in tables and in the registry of maps if this is not its name; a parameter in braces is replaced by
        its value
    """

    class_name: str
    parameters: tuple[str, ...]
    id: str = ""

    @property
    def has_length_scale(self) -> bool:
        """Return whether a length scale is one of the parameters."""
        return "length_scale" in self.parameters


KERNELS = {
    "arc_cosine": Facts("ArcCosine", ("order",), "arccos{order}"),
    "cauchy": Facts("Cauchy", ("length_scale",)),
    "circle": Facts("Circle", ("decay", "terms"), "circle-{decay}"),
    "exponential_power": Facts("ExponentialPower", ("length_scale", "exponent")),
    "gaussian": Facts("Gaussian", ("length_scale",)),
    "generalised_cauchy": Facts("GeneralisedCauchy", ("length_scale", "exponent", "decay")),
    "laplacian": Facts("Laplacian", ("length_scale",)),
    "linear": Facts("Linear", ()),
    "matern": Facts("Matern", ("length_scale", "nu")),
    "neural_tangent": Facts("NeuralTangent", ()),
    "polynomial": Facts("Polynomial", ("degree", "coef0")),
}

#: The name of every class of kernels.
NAMES = {kernel.class_name: name for name, kernel in KERNELS.items()}


def id_of(name: str, parameters: dict) -> str:
    """Return the id of a kernel; ``KeyError`` for a name without an entry, or without a parameter of the id."""
    return (KERNELS[name].id or name).format(**parameters)
