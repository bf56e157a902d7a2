"""Tables of named cells: their contents, their tests and their remarks on empty cells."""

import numpy as np
import pytest
from verdict_rows import accuracies

from rfstudy import tidy
from rfstudy.report import tables
from rfstudy.report.compare import holm, paired
from rfstudy.report.context import Context
from rfstudy.report.tables.comparisons import between_columns, named_cells

STYLES = {"rff": {"label": "RFF", "colour": "#000000", "marker": "o"}}
TASKS = {"eeg": {"label": "EEG", "published_as": {}, "split": "half", "n_train": 50, "n_test": 50}}
REPEATS = 10
RNG = np.random.default_rng(0)
VALUES = {
    ("code", "halves"): 90 + RNG.normal(size=REPEATS),
    ("code", "late"): 60 + RNG.normal(size=REPEATS),
    ("controls", "halves"): 92 + RNG.normal(size=REPEATS),
    ("controls", "late"): 61 + RNG.normal(size=REPEATS),
}


def measured(experiment, variant, values, method="rff", **more):
    settings = {"split": "half" if variant == "halves" else "last_blocks"}
    shared = {"experiment": experiment, "variant": variant, "n_train": 50, "n_test": 50, "settings": settings} | more
    if experiment == "code":
        return accuracies(method, "8d", values, **shared)
    return accuracies("", "", values, learner="nearest_neighbour", **shared)


def context(*extra):
    rows = [row for (experiment, variant), values in VALUES.items() for row in measured(experiment, variant, values)]
    return Context(tidy.frame([*rows, *extra]), STYLES, TASKS)


SPEC = {
    "kind": "crossed", "name": "toy-code", "paper": "study", "caption": "A toy.", "heading": "split", "repeats": 10,
    "quantity": {"metric": "accuracy_pct", "split": "test"},
    "lines": [{"label": "random halves", "variant": "halves"}, {"label": "late", "variant": "late"}],
    "columns": [
        {"label": "RFF", "experiment": "code", "n_features_label": "8d"},
        {"label": "neighbour", "experiment": "controls"},
    ],
    "tests": [("RFF", "neighbour")],
}  # fmt: skip


def cells_of(of, spec):
    """The rows of every cell of a specification."""
    return named_cells(of, spec["quantity"], spec["lines"], spec["columns"])


def compared(of, spec):
    """The tests between columns, and the overlaps, as the table makes them."""
    return between_columns(cells_of(of, spec), [line["label"] for line in spec["lines"]], spec["tests"], of)


def test_a_cell_has_what_its_row_and_column_say():
    cells = cells_of(context(), SPEC)
    rows, columns = {"halves": "random halves", "late": "late"}, {"code": "RFF", "controls": "neighbour"}
    for (experiment, variant), values in VALUES.items():
        assert cells[rows[variant], columns[experiment]]["value"].tolist() == values.tolist()


def test_differences_are_paired_and_corrected_where_splits_are_random_and_holm_is_over_the_data_set():
    found, overlaps = compared(context(), SPEC)
    assert overlaps == {"random halves": 1.0, "late": 0.0}
    p_values = [
        paired(VALUES["code", variant], VALUES["controls", variant], overlap).p
        for variant, overlap in (("halves", 1.0), ("late", 0.0))
    ]
    assert [found[label, "RFF", "neighbour"].p for label in overlaps] == pytest.approx(holm(p_values))


def test_an_entry_without_axis_is_next_to_every_point_of_one_with_an_axis():
    of_pool, values = {"method": "lsrff", "axis": "pool"}, VALUES["code", "halves"]
    walked = [row for at in (1, 4) for row in measured("code", "halves", values + at, at=float(at), **of_pool)]
    spec = SPEC | {
        "lines": [{"label": str(at), "axis": "pool", "at": at, "variant": "halves"} for at in (1, 4)],
        "columns": [
            {"label": "RFF", "experiment": "code", "method": "rff", "axis": ""},
            {"label": "LS-RFF", "experiment": "code", "method": "lsrff"},
        ],
        "tests": [("LS-RFF", "RFF")],
    }
    found, _ = compared(context(*walked), spec)
    assert [found[at, "LS-RFF", "RFF"].value for at in ("1", "4")] == pytest.approx([1, 4])


def test_a_column_may_hold_what_the_row_says():
    spec = SPEC | {
        "lines": [{"label": "late", "variant": "la"}],
        "columns": [{"label": "RFF", "experiment": "code", "variant": "{variant}te"}],
    }
    assert cells_of(context(), spec)["late", "RFF"]["value"].tolist() == VALUES["code", "late"].tolist()


def test_what_was_not_run_is_said():
    spec = SPEC | {"lines": [*SPEC["lines"], {"label": "never", "variant": "never"}]}
    never = tables.make(context(), spec).frame.iloc[2]
    assert (str(never["RFF"]), str(never["RFF minus neighbour"])) == ("not run", "")
