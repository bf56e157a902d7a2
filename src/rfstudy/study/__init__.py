"""The stages of the study, and what computes their cells. Planning (``rfstudy.planning``) is above this package.

Each module imports only those above it:

| module | contents |
|---|---|
| ``job``, ``code``, ``journal`` | the description of a job; the code behind a result; finished cells on the disk |
| ``provenance``, ``sample`` | the records of runs; the rows of a repeat |
| ``engine`` | the loop over cells |
| ``peers``, ``yardsticks``, ``svm_rows``, ``kinds`` | what the kinds of experiments measure |
| ``tune``, ``train``, ``measure``, ``time``, ``collect``, ``publish`` | the stages: each a subcommand and a rule |
"""
