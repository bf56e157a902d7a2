"""What is said of the rows behind a table: choices that several cells share, and the repeats that they were made on."""

import pytest

from rfstudy import tidy
from rfstudy.report.context import Context
from rfstudy.report.notes import notes, notes_on_searches, notes_on_sizes, quantity

BY_SIZE = "{}: tuned once per data set and size{} and shared by all methods."
BY_METHOD = "{}: tuned per data set, method and size, on the rows of {}."


def told(*settings, status="ok", learner="", metric="accuracy_pct", **columns):
    rows = [
        {
            "dataset": "eeg", "method": "rff", "metric": metric, "repeat": i, "status": status,
            "settings": each, "learner": learner,
        } | columns
        for i, each in enumerate(settings)
    ]  # fmt: skip
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
    shared = {"chosen_on": chosen_on, "penalty": 0.1}
    assert told(shared | {"shared_by": "size"}, learner="ridge") == [BY_SIZE.format("Penalty", by_size)]
    assert told(shared | {"shared_by": "method_and_size"}, learner="ridge") == [BY_METHOD.format("Penalty", by_method)]


def test_a_penalty_that_an_experiment_shares_is_said_and_a_bandwidth_is_not():
    shared = {"shared_by": "experiment", "chosen_on": [0, 1, 2]}
    (note,) = told(shared | {"C": 10}, learner="svm")
    assert note.startswith("C: tuned once per data set, on the first 3 repeats, at one size and shared by")
    assert told(shared) == []


def test_only_what_the_rows_have_is_named():
    shared = {"shared_by": "size", "chosen_on": [0]}
    both = [shared | {"C": 1.0}, shared | {"penalty": 1.0}]
    assert told(both[0], learner="svm") == [BY_SIZE.format("C", "")]
    assert told(both[1], learner="ridge") == [BY_SIZE.format("Penalty", "")]
    assert told(*both, learner="svm") == [BY_SIZE.format("Penalty and C", "")]
    # of another learner the value has a name that no note knows
    assert told(shared | {"shrinkage": 0.1}, learner="own") == [BY_SIZE.format("What is chosen", "")]


def by_size(one, other, learner="ridge", metric="accuracy_pct", **columns):
    """The notes on two sizes of an entry with these settings."""
    shared = {"dataset": "eeg", "method": "rff", "repeat": 0, "status": "ok", "metric": metric, "learner": learner}
    rows = [
        shared | {"n_features": s, "n_features_label": str(s), "settings": settings}
        | ({key: value[i] for key, value in columns.items()})
        for i, (s, settings) in enumerate(zip((10, 20), (one, other), strict=True))
    ]  # fmt: skip
    return notes(tidy.frame(rows), {"paper": "survey"}, Context(tidy.frame([]), {}, {}))


def test_what_an_entry_chose_of_its_map_is_what_its_sizes_differ_in():
    shared = {"shared_by": "method_and_size", "chosen_on": [0], "preprocess": ["minmax"], "length_scale": 1.0}
    narrow, scaled = shared | {"length_scale": 0.3}, shared | {"preprocess": ["standard"], "length_scale": 0.3}
    learned, searched = {"penalty": 0.1}, shared | {"options": {"rho": 10}}
    of = BY_METHOD.format
    first = "the first repeat"
    assert by_size(shared | learned, shared | learned) == [of("Penalty", first)]
    assert by_size(shared | learned, narrow | learned) == [of("Bandwidth and penalty", first)]
    assert by_size(shared | learned, scaled | learned) == [of("Scaling, bandwidth and penalty", first)]
    assert by_size(shared, searched, learner="") == [of("Options of the map", first)]
    assert by_size(shared, narrow, learner="", metric="approximation_error_frobenius") == [
        of("Bandwidth", first)[:-1] + "; an approximation error is that of the method's own kernel."
    ]
    # what another entry, repeat or place has is nothing that was chosen by size
    for columns in ({"variant": ("", "other")}, {"repeat": (0, 1)}, {"axis": ("rho", "rho"), "at": (1.0, 2.0)}):
        assert by_size(shared | learned, narrow | learned, **columns) == [of("Penalty", first)]


def test_different_choices_are_said_one_after_the_other():
    one = {"shared_by": "size", "chosen_on": [0], "penalty": 0.1}
    other = {"shared_by": "method_and_size", "chosen_on": [0, 1], "C": 0.1}
    expected = [BY_SIZE.format("Penalty", ""), BY_METHOD.format("C", "the first 2 repeats")]
    assert told(one, other, one, learner="x") == told(other, one, learner="x") == expected


def test_a_choice_of_the_cell_itself_is_not_said():
    assert told({"shared_by": "cell"}, {}) == []
    # nor one of rows without a value
    assert told({"shared_by": "size", "chosen_on": [0]}, status="failed")[0].startswith("Failed and in no mean")


def test_a_quantity_in_words():
    assert quantity("accuracy_pct", "svm") == "LIBLINEAR accuracy"
    assert quantity("time_feature_s") == "generation time"
    assert quantity("ram_gb") == "ram gb"


# --- means over several experiments -----------------------------------------------------------------------------------

SHARED = {
    "dataset": "eeg", "method": "rff", "metric": "accuracy_pct", "n_features_label": "2d", "n_features": 28,
    "seed": 2021, "n_train": 7490, "n_test": 7490, "status": "ok", "value": 80.0,
}  # fmt: skip


def mixtures(*changes):
    rows = [SHARED | {"repeat": i} | change for i, change in enumerate(changes)]
    found = notes(tidy.frame(rows), {"paper": "survey"}, Context(tidy.frame([]), {}, {}))
    return [note for note in found if note.startswith("Mixed")]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": 7}, "seeds 7 and 2021"),
        ({"n_train": 1000}, "training rows 1,000 and 7,490"),
        ({"n_test": 1000}, "test rows 1,000 and 7,490"),
        ({"n_features": 30}, "s = 28 and 30"),
    ],
)
def test_a_mean_over_several_experiments_is_said(change, told):
    assert mixtures({}, {}, {}) == []
    assert mixtures({}, {}, change) == [f"Mixed, rows of several experiments in one mean: eeg: {told} in 1 mean."]
    # of the rows of no mean nothing is said, nor of those of another one
    for elsewhere in ({"status": "failed"}, {"method": "orf"}, {"dataset": "skin"}, {"metric": "mse"}):
        assert mixtures({}, {}, change | elsewhere) == []
    assert mixtures({}, change | {"axis": "n", "at": 1.0}) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"split_options": {"without": [898, 10386, 11509, 13179]}},
        {"split": "blocks", "split_options": {"n_blocks": 50}},
    ],
)
def test_parts_that_a_split_makes_larger_or_smaller_by_repeat_are_of_one_experiment(settings):
    parts = [{"settings": settings, "n_train": n, "n_test": 14976 - n} for n in (7487, 7488, 7489)]
    assert mixtures(*parts) == []
    # another cap, or other rows left out, is another experiment
    (told,) = mixtures(*parts, parts[0] | {"n_train": 7486})
    assert "eeg: rows 14,975 and 14,976 in 1 mean" in told
    # where the split leaves parts as they are
    (told,) = mixtures(*({"n_train": each["n_train"], "n_test": 7490} for each in parts))
    assert "training rows 7,487 and 7,488 and 7,489 in 1 mean" in told


def test_the_rounds_of_a_time_are_one_mean():
    rounds = [{"axis": "round", "at": float(i), "metric": "time_fit_s", "repeat": 0} for i in range(3)]
    assert mixtures(*rounds) == []
    (told,) = mixtures(*rounds[:2], rounds[2] | {"n_train": 1000})
    assert "training rows 1,000 and 7,490 in 1 mean" in told


def test_all_mixed_means_are_counted_by_data_set():
    seven, orf, skin = {"seed": 7}, {"method": "orf"}, {"dataset": "skin"}
    (told,) = mixtures({}, seven, orf, orf | seven, skin, skin | seven | {"n_test": 3})
    assert told == (
        "Mixed, rows of several experiments in one mean: eeg: seeds 7 and 2021 in 2 means; "
        "skin: seeds 7 and 2021 in 1 mean, test rows 3 and 7,490 in 1 mean."
    )


def test_shorter_searches_than_the_papers_are_told():
    def rows(*options):
        shared = {"origin": "measured", "metric": "accuracy_pct", "value": 1.0, "status": "ok"}
        return tidy.frame([shared | {"settings": {"options": each}} for each in options])

    assert notes_on_searches(rows({}, {"n_copies": 500, "n_steps": 100}, {"n_copies": 1000})) == []
    assert notes_on_searches(rows({"n_copies": 200, "n_steps": 60}, {"n_steps": 99}, {})) == [
        "Shorter searches for features than 500 copies of 100 steps, as in the paper: 200 copies of 60 steps; 99 steps."
    ]


# --- sizes ------------------------------------------------------------------------------------------------------------

ERROR, SCORE = "approximation_error_frobenius", "mse"


def on_sizes(lsrff, rff=lambda metric, s: "ok"):
    """The notes on rows at s = 10, 20 and 100 of two methods, each with the status that its function of metric and s
    gives; None is no row.
    """
    rows = [
        SHARED
        | {"metric": metric, "method": method, "n_features": s, "n_features_label": str(s), "status": status(metric, s)}
        for metric in (ERROR, SCORE)
        for s in (10, 20, 100)
        for method, status in (("rff", rff), ("lsrff", lsrff))
        if status(metric, s)
    ]
    return notes_on_sizes(tidy.frame(rows), "survey", {}, {})


def test_a_method_that_stops_before_the_others_is_told_with_its_sizes():
    told = "Run at fewer sizes than others: lsrff at s = 10, 20 ({} on eeg)."
    both = "approximation error, mean squared error"
    assert on_sizes(lambda metric, s: "ok") == []
    assert on_sizes(lambda metric, s: "ok" if s < 100 else None) == [told.format(both)]
    assert on_sizes(lambda metric, s: "ok" if s < 100 or metric == SCORE else None) == [
        told.format("approximation error")
    ]


def test_a_size_without_a_value_is_no_size_that_a_method_lacks():
    def until_20(metric, s):
        return "ok" if s < 100 else None

    def skipped(metric, s):
        return "ok" if s < 100 else "skipped"

    assert on_sizes(until_20, skipped) == []
    # of a row that has no value other notes tell
    assert on_sizes(skipped) == []
