"""Compare feature maps with their baselines on a file of the user's own, and recommend one.

| module | content |
|---|---|
| `recipe` | from a file to a score: the code that `compare` runs and that `best.py` repeats |
| `sniff` | how a file is to be read |
| `question` | a file with its target, its kind of task and what happens to each column |
| `contest` | the contestants, their rounds within a budget, and the decision |
| `warnings` | what may be wrong with the file, with evidence |
| `command` | the command ``random-features compare`` |
| `report` | the answer as text, page, tables, figures and `best.py` |
| `files` | files that are written whole or not at all |
"""
