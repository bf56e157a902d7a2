"""Random feature maps: ``make_map`` builds one by its name, ``list_maps`` lists them.

The classes of the maps can be imported from here, too: ``from random_features.maps import OrthogonalRandom``.
"""

from random_features.maps.registry import HOMES, list_maps, make_map, of_class

__all__ = ["list_maps", "make_map"]


__getattr__ = of_class


def __dir__():
    return [*globals(), *sorted(HOMES)]
