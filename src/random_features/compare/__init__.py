"""Compare feature maps with their baselines on a file of the user's own, and recommend one.

| module | content |
|---|---|
| `reading` | how a file is written, and its cells |
| `texts` | the values of texts in a format |
| `columns` | a column in its format, of the file and of later frames |
| `formats` | the format of a column of texts |
| `question` | a file with its target, its kind of task and what happens to each column |
| `recipe` | from a table to a score: the code that `compare` runs and that `best.py` repeats |
| `contestants` | the names of the contestants |
| `contest` | the contestants are tuned and validated within a budget |
| `decide` | the decision between results |
| `warnings` | what may be wrong with the file, with evidence |
| `report` | the answer as text, page, table and `best.py` |
| `run` | a whole comparison |
| `command` | the command ``random-features compare`` |
"""
