"""Schematics, drawn of facts and of the registry of the methods: what they show, and that it fits to print."""

import pytest
import report_rows
from figure_checks import assert_fit_to_print

from rfstudy.report.plots.schematics import nodes_and_edges

CONTEXT = report_rows.context_of([])


@pytest.mark.slow
@pytest.mark.parametrize("figure", [1, 2, 3, 4, 5])
def test_a_schematic_fits_to_print(figure):
    spec = report_rows.spec_of(f"figure-0{figure}-facts")
    drawn = report_rows.picture(spec, CONTEXT).figure
    assert_fit_to_print(drawn)
    shown = " ".join(text.get_text() for ax in drawn.axes for text in ax.texts).replace("\n", " ")
    for row in CONTEXT.texts(spec["facts"], figure=spec["published"]).to_dict("records"):
        assert row["text"] in shown
    if figure in (1, 2):
        assert "Fastfood" in shown


def test_a_new_map_of_a_family_is_in_the_taxonomy():
    styles = report_rows.METHODS | {
        "mine": report_rows.METHODS["gq"] | {"label": "Mine", "year": 2030, "published_as": {}}
    }
    context = report_rows.context_of([], styles)
    texts, _ = nodes_and_edges(context.texts("survey_diagrams", figure="Figure 2"), context, "survey")
    assert "Mine\u00a0(2030)" in texts["quadrature-maps"]
