"""Learners on random features and on exact kernel matrices.

Features arrive as a *stream*: ``blocks`` is a function without arguments that returns a fresh iterator of (slice of
rows, ndarray of shape (rows, n_columns), float32 or float64), in the order of the rows. A learner may call it several
times and does not depend on the map behind it. Import its functions from its own file
(``random_features.learners.ridge``), and its entry by name from ``random_features.learners.entry``.
"""
