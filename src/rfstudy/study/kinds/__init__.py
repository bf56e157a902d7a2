"""Experiments that are no grid of maps x sizes x repeats x learners, one module a kind."""
