"""Endless rows, one generator per file: ``rows(first, last, images, labels, seed)`` makes any range of them."""
