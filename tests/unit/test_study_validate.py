"""What is wrong with an experiment as it is written; the messages for whole files are in ``test_study_config``."""

from rfstudy.study import validate


def test_a_kernel_of_an_entry_is_for_the_kinds_that_ask_for_it():
    methods = [{"method": "rff"}, {"method": "orf", "kernel": {"name": "arc_cosine", "order": 0}}]
    assert validate.problems_of_kernels({"kind": "grid", "methods": methods}) == []
    (told,) = validate.problems_of_kernels({"kind": "variance", "methods": methods})
    assert told.startswith(".methods[1].kernel: an experiment of the kind variance has one kernel")
