"""Tables and figures from tidy files: this part computes no result and knows no model.

``catalogue`` says which files there are, ``published`` brings the printed numbers into the tidy schema,
``aggregate`` turns rows into means, ``compare`` tests them against one another, ``scorecard`` joins them with the
published ones, and the kinds in ``tables`` and ``plots`` show them.
"""
