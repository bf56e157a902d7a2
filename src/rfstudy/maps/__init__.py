"""Random feature maps: ``make_map`` builds one by its name, ``list_maps`` says which there are."""

from rfstudy.maps.registry import list_maps, make_map

__all__ = ["list_maps", "make_map"]
