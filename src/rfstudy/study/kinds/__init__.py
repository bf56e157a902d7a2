"""Experiments that are not a grid of maps x sizes x repeats x learners, one module per kind."""
