"""Learners on random features and on exact kernel matrices.

Features arrive as a *stream*: ``blocks`` is a function without arguments that returns a fresh iterator of
(slice of rows, ndarray of shape (rows, n_columns), float32 or float64), in the order of the rows. A learner may
call it several times and knows nothing of the map behind it. Its functions are imported from its own file
(``random_features.learners.ridge``), its entry comes by name from ``random_features.learners.entry``.
"""
