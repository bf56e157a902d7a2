"""Data sets: where they are from, how they are read, checked, scaled and split, and what stands in for them."""
