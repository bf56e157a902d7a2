"""The figures of the arena on made rows with known ratios of errors."""

import arena_rows as made
import numpy as np
import pytest
from report_rows import context_of, spec_of

from rfstudy.report import arena, plots

RATIOS = {("orf", ""): 0.9, ("qmc", ""): lambda name: 1.3 if made.SETS.index(name) % 2 else 0.75}
QUANTITY = {"metric": "accuracy_pct", "learner": "ridge", "split": "test"}


def figure_of(name, rows, **changes):
    return plots.picture(context_of(rows), spec_of(f"{name}-tuned", "study") | changes).figure


def points(ax):
    """The markers of an axis: x by row."""
    return {line.get_ydata()[0]: line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1}


def test_the_forest_shows_typical_effects_and_pale_maps_without_a_verdict():
    facts = [row for name in made.SETS for row in made.fact_rows(name, duplicate_rows=0.0)]
    rows = made.framed(made.map_rows(RATIOS, columns=(64, 128, 256, 512, 1024)), facts)
    figure = figure_of("arena-forest", rows)
    results = arena.results_of(context_of(rows), list(made.SETS), "rff", QUANTITY)
    titles = ["D = 64 to 256 (12 sets)", "D = 512 to 1,024 (12 sets)"]
    assert [ax.get_title(loc="left") for ax in figure.axes] == titles
    for columns, ax in zip(arena.BANDS.values(), figure.axes, strict=True):
        own = results.effects(columns).groupby("method")["effect"]
        middle = own.agg(lambda effect: arena.typical(effect).value)
        assert points(ax) == pytest.approx({0: np.exp(middle["orf"]), 1: np.exp(middle["qmc"])})
        alphas = {line.get_ydata()[0]: line.get_alpha() for line in ax.lines if len(line.get_xdata()) == 1}
        assert alphas[0] == 1.0 > alphas[1]


def test_too_few_data_sets_are_not_drawn():
    rows = made.framed(made.map_rows(RATIOS, sets=made.SETS[:2]))
    assert not figure_of("arena-forest", rows).axes
