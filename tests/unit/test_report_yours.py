"""Figures of a run's own methods next to the shipped rows."""

from pathlib import Path

import arena_rows as made
import pandas as pd
import pytest
from report_rows import METHODS, context_of

from random_features.errors import UserError
from rfstudy import outputs
from rfstudy.report.context import highlighted, next_to_shipped
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.style import drawn_as

SHIPPED, OWN = Path("data/measured/arena.csv.xz"), Path("results/laptop/arena.csv")


def test_shipped_rows_of_own_methods_and_own_times_are_left_out():
    shipped = made.framed(made.map_rows({("orf", ""): 0.9}))
    own = made.framed(made.map_rows({("orf", ""): 0.5}))
    own = own[own["method"] == "orf"]
    timed = own.iloc[:1].assign(axis="round", metric="time_fit_s")
    found = next_to_shipped({SHIPPED: shipped, OWN: pd.concat([own, timed])}, ["orf"])
    assert set(found[SHIPPED]["method"]) == {"rff"}
    assert len(found[OWN]) == len(own)
    assert "round" not in set(found[OWN]["axis"])


def test_rows_of_another_preset_are_refused():
    shipped = made.framed(made.map_rows({}))
    own = made.framed(made.map_rows({("orf", ""): 0.5})).assign(preset="paper")
    with pytest.raises(UserError, match="use --configfile"):
        next_to_shipped({SHIPPED: shipped, OWN: own}, ["orf"])


@pytest.mark.parametrize("method", ["orf", "new_map"])
def test_own_methods_have_thick_lines_and_a_label(method):
    styles = highlighted(METHODS, [method])
    own, other = plot_style(method, styles), plot_style("rff", styles)
    assert own.label == f"{plot_style(method, METHODS).label} (yours)"
    assert own.colour == plot_style(method, METHODS).colour
    assert drawn_as(own)["linewidth"] > 2
    assert "linewidth" not in drawn_as(other)
    assert context_of([], styles).label(method).endswith("(yours)")


def test_outputs_list_own_methods_after_theirs():
    spec = {"name": "a", "methods": ["rff", "orf"]}
    assert outputs.with_methods(spec, ["new_map", "orf"])["methods"] == ["rff", "orf", "new_map"]
    assert outputs.with_methods({"name": "b"}, ["new_map"]) == {"name": "b", "yours": ["new_map"]}
