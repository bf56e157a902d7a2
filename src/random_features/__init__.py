"""Random features for kernel methods: feature maps, exact kernels, and learners that read features block by block.

``make_map`` builds a map by its name and ``list_maps`` lists them. Import everything else from its module: kernels from
``random_features.kernels``, the classes of maps from ``random_features.maps``, learners from the files of
``random_features.learners``. Importing this package loads neither NumPy nor PyTorch.
"""

from random_features.maps.registry import list_maps, make_map

__all__ = ["__version__", "list_maps", "make_map"]

__version__ = "2.0.0"
