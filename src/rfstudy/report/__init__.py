"""Tables and figures from tidy files. This package computes no results and does not use the models.

``catalogue`` lists the files to make, ``published`` reads the published numbers into the tidy schema,
``aggregate`` turns rows into means, ``compare`` tests them against one another, ``scorecard`` joins them with the
published ones, and the kinds in ``tables`` and ``plots`` show them.
"""
