"""Preprocessing steps, one file each: ``fit(X_train, **parameters)`` and, if a step changes the number of columns,
``columns``.
"""
