"""Schematics, drawn of facts and of the registry of the methods: what they show, and that it fits to print."""

import pandas as pd
import pytest
import report_rows
from figure_checks import assert_fit_to_print

from rfstudy.report import boxes
from rfstudy.report.plots import diagram, timeline

CONTEXT = report_rows.context_of([])

KINDS = {"timeline": timeline, "diagram": diagram}


@pytest.mark.parametrize("figure", [1, 2, 3, 4, 5])
def test_a_schematic_fits_to_print(figure):
    spec = report_rows.spec_of(f"figure-0{figure}-facts")
    drawn = KINDS[spec["kind"]].draw(CONTEXT, spec).figure
    assert_fit_to_print(drawn)
    shown = " ".join(text.get_text() for ax in drawn.axes for text in ax.texts).replace("\n", " ")
    for row in CONTEXT.texts(spec["facts"], figure=spec["published"]).to_dict("records"):
        assert row["text"] in shown
    if figure in (1, 2):
        assert "Fastfood" in shown


def test_boxes_do_not_overlap_and_edges_run_to_the_right():
    for number in (2, 3, 4, 5):
        facts = CONTEXT.texts("survey_diagrams", figure=f"Figure {number}")
        nodes = diagram.nodes_of(facts, CONTEXT, "survey")
        places, height = diagram.placed(nodes, 7.0)
        own = list(places.values())
        for i, one in enumerate(own):
            assert one.middle - one.height / 2 >= -1e-9
            assert one.middle + one.height / 2 <= height + 1e-9
            assert one.left + one.width <= 7.0 + 1e-9
            for other in own[i + 1 :]:
                beside = one.left + one.width <= other.left or other.left + other.width <= one.left
                assert beside or abs(one.middle - other.middle) >= (one.height + other.height) / 2 - 1e-9
        for name, node in nodes.items():
            assert all(places[edge.parent].left + places[edge.parent].width < places[name].left for edge in node.edges)


def test_a_new_map_of_a_family_stands_in_the_taxonomy():
    styles = report_rows.METHODS | {
        "mine": report_rows.METHODS["gq"] | {"label": "Mine", "year": 2030, "published_as": {}}
    }
    context = report_rows.context_of([], styles)
    nodes = diagram.nodes_of(context.texts("survey_diagrams", figure="Figure 2"), context, "survey")
    assert "Mine\u00a0(2030)" in nodes["quadrature-maps"].text


def test_an_edge_from_nowhere_is_an_error():
    facts = pd.DataFrame([{"node": "a", "parent": "b", "relation": "part", "label": "", "text": "A", "family": ""}])
    with pytest.raises(ValueError, match="a: there is no node 'b' above it"):
        diagram.nodes_of(facts, CONTEXT, "survey")


def test_lines_break_between_words_and_not_within_mathematics():
    text = r"a rate of $O(\sqrt{n} \log n)$ features"
    lines = boxes.lines_of(text, 0.5)
    assert " ".join(lines) == text
    assert any(r"$O(\sqrt{n} \log n)$" in line for line in lines)
    assert all(boxes.width_of(line) <= 0.5 or len(boxes.WORD.findall(line)) == 1 for line in lines)
    # mathematics is as wide as it is set, not as it is written
    assert boxes.width_of(r"$\omega$") < boxes.width_of("omega")
