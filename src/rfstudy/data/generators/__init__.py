"""Synthetic data, one generator per file: ``generate(n, d, random, **parameters)`` makes rows and labels."""
