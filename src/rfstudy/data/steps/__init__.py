"""Preprocessing steps, one file each: ``fit(X_train, **parameters)`` and, where a step changes it, ``columns``."""
