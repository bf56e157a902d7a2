"""Tables and figures from tidy files: this part computes no result and knows no model.

``catalogue`` says which files there are, ``published`` brings the printed numbers into the tidy schema,
``aggregate`` turns rows into means and verdicts, and ``make`` writes the tables and figures.
"""
