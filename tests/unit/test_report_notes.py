"""What is said of the rows behind a table: choices that several cells share, and the repeats that they were made on."""

import pytest

from rfstudy import tidy
from rfstudy.report.context import Context
from rfstudy.report.notes import notes, quantity

BY_SIZE = "Penalty and C: tuned once per data set and size{} and shared by all methods."
BY_METHOD = (
    "Scaling, bandwidth and penalty: tuned per data set, method and size, on the rows of {}; an approximation error is "
    "that of the method's own kernel."
)


def told(*settings, status="ok"):
    rows = [
        {"dataset": "eeg", "method": "rff", "metric": "accuracy_pct", "repeat": i, "status": status, "settings": each}
        for i, each in enumerate(settings)
    ]
    return notes(tidy.frame(rows), {"paper": "survey"}, Context(tidy.frame([]), {}, {}))


@pytest.mark.parametrize(
    ("chosen_on", "by_size", "by_method"),
    [
        ([0], "", "the first repeat"),
        ([0, 1, 2], ", on the first 3 repeats,", "the first 3 repeats"),
        ([0, 4, 7], ", on repeats 0, 4, 7,", "repeats 0, 4, 7"),
        ([5], ", on repeat 5,", "repeat 5"),
    ],
)
def test_a_shared_choice_is_said_with_the_repeats_that_it_was_made_on(chosen_on, by_size, by_method):
    assert told({"shared_by": "size", "chosen_on": chosen_on}) == [BY_SIZE.format(by_size)]
    assert told({"shared_by": "method_and_size", "chosen_on": chosen_on}) == [BY_METHOD.format(by_method)]


def test_different_choices_are_said_one_after_the_other():
    one, other = {"shared_by": "size", "chosen_on": [0]}, {"shared_by": "method_and_size", "chosen_on": [0, 1]}
    expected = [BY_SIZE.format(""), BY_METHOD.format("the first 2 repeats")]
    assert told(one, other, one) == told(other, one) == expected


def test_a_choice_of_the_cell_itself_is_not_said():
    assert told({"shared_by": "cell"}, {}) == []
    # nor one of rows without a value
    assert told({"shared_by": "size", "chosen_on": [0]}, status="failed")[0].startswith("Failed and in no mean")


def test_a_quantity_in_words():
    assert quantity("accuracy_pct", "svm") == "LIBLINEAR accuracy"
    assert quantity("time_feature_s") == "generation time"
    assert quantity("ram_gb") == "ram gb"
