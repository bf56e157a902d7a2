"""The exact kernels by name: the class, the parameters that an experiment states, and the id in tables if it is not the
name.

Importing this module loads nothing heavy. The class of a kernel is in the file of the same name in this folder.
"""

KERNELS = {
    "arc_cosine": {"class": "ArcCosine", "parameters": ("order",), "id": "arccos{order}"},
    "cauchy": {"class": "Cauchy", "parameters": ("length_scale",)},
    "circle": {"class": "Circle", "parameters": ("decay", "terms"), "id": "circle-{decay}"},
    "exponential_power": {"class": "ExponentialPower", "parameters": ("length_scale", "exponent")},
    "gaussian": {"class": "Gaussian", "parameters": ("length_scale",)},
    "generalised_cauchy": {"class": "GeneralisedCauchy", "parameters": ("length_scale", "exponent", "decay")},
    "laplacian": {"class": "Laplacian", "parameters": ("length_scale",)},
    "linear": {"class": "Linear", "parameters": ()},
    "matern": {"class": "Matern", "parameters": ("length_scale", "nu")},
    "neural_tangent": {"class": "NeuralTangent", "parameters": ()},
    "polynomial": {"class": "Polynomial", "parameters": ("degree", "coef0")},
}
