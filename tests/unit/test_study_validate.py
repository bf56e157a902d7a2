"""What is wrong with an experiment as it is written; the messages for whole files are in ``test_study_config``."""

from rfstudy.study import validate


def test_a_kernel_of_an_entry_is_for_the_kinds_that_ask_for_it():
    methods = [{"method": "rff"}, {"method": "orf", "kernel": {"name": "arc_cosine", "order": 0}}]
    assert validate.problems_of_kernels({"kind": "grid", "methods": methods}) == []
    (told,) = validate.problems_of_kernels({"kind": "variance", "methods": methods})
    assert told.startswith(".methods[1].kernel: an experiment of the kind variance has one kernel")


def test_rows_are_left_out_by_entries_alone():
    left_out = {"split": {"without": [3]}}
    of_entries = {"methods": [{"method": "rff"} | left_out], "steps": [{"name": "less"} | left_out]}
    plain = {"split": {"rule": "half"}, "datasets": {"eeg": {}, "skin": None}}
    assert validate.problems_of_splits(of_entries | plain) == []
    told = ".split.without: stands in the split of an entry or a step alone, whose rows say what is left out"
    assert validate.problems_of_splits(left_out) == [told]
    assert validate.problems_of_splits(plain | {"datasets": {"eeg": left_out}}) == [f".datasets.eeg{told}"]
