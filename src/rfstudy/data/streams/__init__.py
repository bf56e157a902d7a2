"""Rows without end, one maker a file: ``rows(first, last, images, labels, seed)`` makes any range of them by itself."""
