"""The figures of the arena on made rows with known ratios of errors."""

import arena_rows as made
import numpy as np
import pytest
from report_rows import context_of, spec_of

from rfstudy.report import arena, plots
from rfstudy.report.plots.arena import relative_errors

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


def test_curves_are_ratios_to_the_exact_kernel():
    exact = made.yardstick_rows({"exact_kernel": 0.1}, sets=made.SETS[:2])
    rows = made.framed(made.map_rows({("orf", ""): 0.9}, sets=made.SETS[:3], noise=0.0), exact)
    found = relative_errors(arena.results_of(context_of(rows), list(made.SETS), "rff", QUANTITY), "rff")
    found = found.set_index(["dataset", "columns", "method"])
    first, last = made.SETS[0], made.SETS[2]
    plain = made.errors_by_fold(first, 128)
    assert found.loc[(first, 128, "orf"), "ratio"] == pytest.approx(0.9 * plain.mean() / 0.1)
    assert found.loc[(first, 128, "orf"), "exact"]
    # without an exact kernel: the baseline with the most columns
    by_size = [made.errors_by_fold(last, at).sum() for at in (64, 256)]
    assert found.loc[(last, 64, "rff"), "ratio"] == pytest.approx(by_size[0] / by_size[1])
    assert not found.loc[(last, 64, "rff"), "exact"]
    figure = figure_of("arena-curves", rows)
    assert [" *" in ax.get_title(loc="left") for ax in figure.axes].count(True) == 1
    assert len(figure.axes) == 3


def test_too_few_data_sets_are_not_drawn():
    rows = made.framed(made.map_rows(RATIOS, sets=made.SETS[:2]))
    assert not figure_of("arena-forest", rows).axes
