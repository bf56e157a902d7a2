"""Pictures that show no measurements: schematics, drawn of facts and of the registry of the methods, and globes."""

import numpy as np
import pytest
import report_rows
from figure_checks import assert_fit_to_print
from report_rows import picture, spec_of

from rfstudy.report.plots import games
from rfstudy.report.plots.schematics import nodes_and_edges

CONTEXT = report_rows.context_of([])


@pytest.mark.slow
@pytest.mark.parametrize("figure", [1, 2, 3, 4, 5])
def test_a_schematic_fits_to_print(figure):
    spec = spec_of(f"figure-0{figure}-facts")
    drawn = picture(spec, CONTEXT).figure
    assert_fit_to_print(drawn)
    shown = " ".join(text.get_text() for ax in drawn.axes for text in ax.texts).replace("\n", " ")
    for row in CONTEXT.texts(spec["facts"], figure=spec["published"]).to_dict("records"):
        assert row["text"] in shown
    if figure in (1, 2):
        assert "Fastfood" in shown


def test_a_new_map_of_a_family_is_in_the_taxonomy():
    mine = report_rows.METHODS["gq"] | {"label": "Mine", "year": 2030, "published_as": {}}
    context = report_rows.context_of([], report_rows.METHODS | {"mine": mine})
    texts, _ = nodes_and_edges(context.texts("survey_diagrams", figure="Figure 2"), context, "survey")
    assert "Mine\u00a0(2030)" in texts["quadrature-maps"]


def test_a_globe_shows_the_side_that_is_seen():
    """Each coordinate, as a function on the sphere, is at a point of the picture that of the point behind it."""
    polar = np.linspace(0, np.pi, 181)[:, None]
    azimuth = np.radians(np.arange(360))
    coordinates = [np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar) + 0 * azimuth]
    pictures = [games.on_globe(each) for each in coordinates]
    right, up, towards = games.seen()
    np.testing.assert_allclose(towards, [0.8517, 0.3100, 0.4226], atol=1e-4)  # 20 degrees east, 25 north
    ticks = np.linspace(-1, 1, games.PIXELS)
    for i, j in ((200, 200), (100, 250), (330, 180), (60, 200)):
        a, b = ticks[j], ticks[i]
        point = a * right + b * up + np.sqrt(1 - a * a - b * b) * towards
        np.testing.assert_allclose([each[i, j] for each in pictures], point, atol=0.02)
    assert np.isnan(pictures[0][0, 0])
