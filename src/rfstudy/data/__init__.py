"""Data sets: their sources, parsing, checks, scaling, splits and stand-ins."""
