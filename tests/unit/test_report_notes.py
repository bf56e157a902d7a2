"""The notes on the rows behind a table: what was tuned and shared, shorter searches, methods with fewer sizes."""

import pytest

from rfstudy import tidy
from rfstudy.report.context import Context
from rfstudy.report.notes import comparability, notes, notes_on_data, notes_on_searches, notes_on_sizes, remark_on_data

ROW = {
    "dataset": "eeg", "method": "rff", "metric": "accuracy_pct", "n_features_label": "2d", "n_features": 28,
    "n_train": 7490, "n_test": 7490, "status": "ok", "value": 80.0, "learner": "ridge", "repeat": 0,
}  # fmt: skip


def notes_on(*rows):
    return notes(tidy.frame([ROW | row for row in rows]), {"paper": "survey"}, Context(tidy.frame([]), {}, {}))


def test_choices_of_a_cell_or_without_a_learner_or_value_need_no_note():
    assert notes_on({"settings": {"tune_per": "cell", "penalty": 0.1}}, {"settings": {}}) == []
    assert notes_on({"settings": {"tune_per": "experiment", "chosen_on": [0]}, "learner": ""}) == []
    assert len(notes_on({"settings": {"tune_per": "size", "chosen_on": [0], "penalty": 1.0}, "status": "failed"})) == 1


@pytest.mark.parametrize(
    ("one", "other", "columns", "tuned"),
    [
        ({}, {}, {}, "Penalty"),
        ({}, {"length_scale": 0.3}, {}, "Bandwidth and penalty"),
        ({}, {"length_scale": 0.3, "preprocess": ["standard"]}, {}, "Scaling, bandwidth and penalty"),
        ({}, {"options": {"rho": 10}}, {}, "Options of the map and penalty"),
        # another entry, repeat or place on an axis is no other size
        *(({}, {"length_scale": 0.3}, of, "Penalty") for of in ({"variant": ("", "other")}, {"repeat": (0, 1)})),
        ({}, {"length_scale": 0.3}, {"axis": ("rho", "rho"), "at": (1.0, 2.0)}, "Penalty"),
    ],
)
def test_what_was_tuned_of_a_map_is_what_the_sizes_of_an_entry_differ_in(one, other, columns, tuned):
    shared = {"tune_per": "method_and_size", "chosen_on": [0], "penalty": 1, "preprocess": ["minmax"]}
    rows = [
        {"n_features": size, "n_features_label": str(size), "settings": shared | own}
        | {key: values[i] for key, values in columns.items()}
        for i, (size, own) in enumerate(((10, one), (20, other)))
    ]
    assert notes_on(*rows) == [f"{tuned} tuned per data set, method and size, for all repeats, on the first repeat."]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({}, ""),
        ({"stand_in": "digits (stand-in for MNIST)"}, "digits stand-in"),
        ({"settings": {"capped": True}}, "capped at 7,490 training and 7,490 test rows"),
        ({"settings": {"capped": True}, "axis": "n_train", "at": 7490}, ""),
        ({"dataset": "cod-rna"}, "other test rows"),
    ],
)
def test_stand_ins_capped_rows_and_other_data_are_not_comparable(columns, reason):
    assert comparability(tidy.frame([ROW | columns]), {"cod-rna": {"not_comparable": "other test rows"}}) == reason


CAPPED = "capped at 7,490 training and 7,490 test rows"


@pytest.mark.parametrize(
    ("metric", "of_fewer", "of_test"),
    [
        ("approximation_error_frobenius", "", ""), ("approximation_error_spectral", "", ""),
        ("time_feature_s", CAPPED, ""), ("cpu_transform_s", CAPPED, ""), ("time_train_s", CAPPED, ""),
        ("time_test_s", CAPPED, f"{CAPPED}; other test rows"), ("time_total_s", CAPPED, f"{CAPPED}; other test rows"),
        ("cpu_predict_transform_s", CAPPED, f"{CAPPED}; other test rows"),
        ("error_pct", CAPPED, f"{CAPPED}; other test rows"),
    ],
)  # fmt: skip
def test_rows_on_which_a_metric_does_not_depend_do_not_matter(metric, of_fewer, of_test):
    rows = tidy.frame([ROW | {"dataset": "cod-rna", "metric": metric, "settings": {"capped": True}}])
    other = {"test": "other test rows"}
    assert comparability(rows, {"cod-rna": {"n": 20_000}}) == of_fewer
    assert comparability(rows, {"cod-rna": {"n_train": 7490, "not_comparable": other}}) == of_test
    assert comparability(rows, {"cod-rna": {"n": 14_980, "not_comparable": other}}) == of_test


@pytest.mark.parametrize(
    ("n_test", "columns", "lost", "reason"),
    [
        (10_000, {}, 20, ""),
        *((10_000, of, 20, "lost") for of in ({"metric": "error_pct", "value": 1.0}, {"metric": "auc_pct"})),
        (2000, {}, 19, "lost"),
        (2000, {"metric": "time_train_s"}, 19, ""),
        (2000, {"n_train": 1981}, 19, "capped at 1,981 training and 1,981 test rows"),
        (2000, {"stand_in": "digits"}, 19, "digits stand-in; capped at 50,000 training and 1,981 test rows"),
    ],
)
def test_rows_that_a_reconstruction_lacks_are_no_cap_and_matter_above_the_margin(n_test, columns, lost, reason):
    task = {"n_train": 50_000, "n_test": n_test}
    row = ROW | {"n_train": 50_000, "n_test": n_test - lost, "value": 80.0, "settings": {"capped": True}} | columns
    words = f"{lost} of {n_test:,} test rows left out: the file is a reconstruction"
    assert comparability(tidy.frame([row]), {row["dataset"]: task}) == reason.replace("lost", words)
    assert ("capped" in remark_on_data(tidy.frame([row]), task)) == ("capped" in reason)


@pytest.mark.parametrize(("paper", "n_notes"), [("survey", 1), ("study", 0)])
def test_outputs_of_our_own_are_not_compared_with_published_numbers(paper, n_notes):
    rows = tidy.frame([ROW | {"dataset": "cod-rna"}])
    context = Context(tidy.frame([]), {}, {"cod-rna": {"label": "cod-RNA", "not_comparable": "other test rows"}})
    assert len(notes_on_data(rows, paper, context)) == n_notes


def test_searches_that_are_shorter_than_the_papers():
    def rows(*options):
        return tidy.frame([ROW | {"settings": {"options": each}} for each in options])

    assert notes_on_searches(rows({}, {"n_copies": 500, "n_steps": 100}, {"n_copies": 1000})) == []
    (note,) = notes_on_searches(rows({"n_copies": 200, "n_steps": 60}, {"n_steps": 99}, {}))
    assert note.endswith(": 200 copies and 60 steps; 99 steps.")


ERROR, SCORE = "approximation_error_frobenius", "mse"


@pytest.mark.parametrize(
    ("lsrff", "rff", "shorter"),
    [
        (lambda metric, s: "ok", None, False),
        (lambda metric, s: "ok" if s < 100 else None, None, True),
        (lambda metric, s: "ok" if s < 100 or metric == SCORE else None, None, True),
        # a size without a value is no size that a method lacks, and rows without a value have a note of their own
        (lambda metric, s: "ok" if s < 100 else None, lambda metric, s: "ok" if s < 100 else "skipped", False),
        (lambda metric, s: "ok" if s < 100 else "skipped", None, False),
    ],
)
def test_a_method_that_was_run_at_fewer_sizes_is_named_with_them(lsrff, rff, shorter):
    rows = [
        ROW | {"metric": metric, "method": method, "n_features": s, "n_features_label": str(s)}
        | {"status": status(metric, s)}
        for metric in (ERROR, SCORE)
        for s in (10, 20, 100)
        for method, status in (("rff", rff or (lambda metric, s: "ok")), ("lsrff", lsrff))
        if status(metric, s)
    ]  # fmt: skip
    expected = ["Run at fewer sizes than others: lsrff at 10, 20 features (eeg)."] if shorter else []
    assert notes_on_sizes(tidy.frame(rows), "survey", Context(tidy.frame([]), {}, {})) == expected


def test_sizes_without_a_value_are_in_order():
    sizes = [{"status": "skipped", "n_features": 14 * each, "n_features_label": f"{each}d"} for each in (32, 8)]
    assert notes_on(*sizes) == ["Skipped and in no mean: eeg, 2 values of rff at s = 8d, 32d."]


def test_choices_at_an_end_of_their_grid_are_counted():
    shared = {"tune_per": "cell"}
    edges = [{"penalty": True}, {"penalty": False, "length_scale": False}, {}, ["penalty"]]
    found = [{"repeat": i, "settings": shared | {"at_edge": edge}} for i, edge in enumerate(edges)]
    # errors of the kernel matrix are of the same map, which has no penalty
    found = notes_on(*found, *(row | {"learner": "", "metric": "approximation_error_frobenius"} for row in found))
    assert found[-1] == (
        "In 1 of 4 fits the best length scale was the largest or smallest tried; in 0 the last step still gained. "
        "In 3 of 4 fits the best penalty was the largest or smallest tried; in 1 the last step still gained."
    )


def test_accuracies_without_a_map_are_given_for_the_data_sets_shown():
    yardsticks = [
        ROW | {"experiment": experiment, "method": "", "learner": learner, "repeat": repeat, "value": value + more}
        for learner, values in (("linear", (70.0, 72.0)), ("majority", (60.0, 60.0)))
        for repeat, value in enumerate(values)
        for experiment, more in (("arena-yardsticks", 9.0), ("arena-kernel", 0.0))  # the grid of the maps
    ]
    rows = tidy.frame([ROW, *yardsticks])
    found = notes(rows[rows["method"] != ""], {"paper": "survey"}, Context(rows, {}, {}))
    words = "majority class 60.0, logistic regression on the data 71.0"
    assert found == [f"Accuracy in % without a map: eeg ({words})."]
