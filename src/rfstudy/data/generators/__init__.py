"""Data without files, one generator a file: ``generate(n, d, random, **parameters)`` makes rows and labels."""
