"""The pictures of learned features, drawn of the games that are shipped: what they show is what was measured."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from rfstudy import tidy
from rfstudy.report.context import Context
from rfstudy.report.plots import game, plane, sphere

specification = importlib.util.spec_from_file_location("report_rows", Path(__file__).with_name("report_rows.py"))
report_rows = importlib.util.module_from_spec(specification)
specification.loader.exec_module(report_rows)

MEASURED = report_rows.ROOT / "data" / "measured"


def drawn(kind, name):
    spec = report_rows.spec_of(name, "nsrf")
    files = [MEASURED / f"{experiment}.csv.xz" for experiment in spec["experiments"]]
    context = Context.read(
        files, spec["experiments"], report_rows.METHODS, report_rows.REGISTERED, report_rows.REFERENCE
    )
    return kind.draw(context, spec).figure


def test_the_lines_of_the_games_are_means_over_the_repeats_and_named_once():
    figure = drawn(game, "figure-game-text")
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert sorted(set(names)) == sorted(names)
    assert {"NSRF", "no game", "random search", "bound as printed"} <= set(names)
    rows = tidy.read(MEASURED / "nsrf-windmill.csv.xz")
    own = rows[(rows["metric"] == "accuracy_pct") & (rows["method"] == "nsrf") & (rows["variant"] == "")]
    expected = own.groupby("n_features")["value"].mean()
    shown = [line.get_ydata() for line in figure.axes[0].get_lines() if len(line.get_ydata()) == len(expected)]
    assert any(np.allclose(y, expected.to_numpy(dtype=float)) for y in shown)


def test_the_games_in_numbers_are_means_over_the_repeats():
    table = report_rows.as_computed(
        report_rows.made(
            report_rows.spec_of("values-game-text", "nsrf"),
            [MEASURED / "nsrf-windmill.csv.xz", MEASURED / "nsrf-checkerboard.csv.xz"],
            tasks=report_rows.REGISTERED,
        )
    )
    rows = tidy.read(MEASURED / "nsrf-windmill.csv.xz")
    for metric, heading in (("accuracy_pct", "test"), ("duality_gap", "gap"), ("distinct_features", "distinct")):
        own = rows[(rows["metric"] == metric) & (rows["variant"] == "one") & (rows["n_features"] == 100)]
        cell = table[
            (table["data_set_id"] == "windmill")
            & (table["method_variant"] == "one")
            & (table["m"].astype(str) == "100")
        ]
        assert cell[heading].tolist() == pytest.approx([own["value"].astype(float).mean()])
    whole = table[(table["data_set_id"] == "checkerboard") & (table["m"].astype(str) == "1000")]
    assert not len(whole)  # a size that was not read has no row


@pytest.mark.parametrize(("kind", "name", "titles"), [
    (plane, "figure-01a-text", ["dual weights", "potential", "decision"]),
    (plane, "figure-01b-text", ["potential, $m$ = 0", "potential, $m$ = 300"]),
    (sphere, "figure-01c-text", ["data", "of 100"]),
])  # fmt: skip
def test_the_panels_of_the_paper_are_there(kind, name, titles):
    found = " ".join(axes.get_title() for axes in drawn(kind, name).axes) + " ".join(
        text.get_text() for text in drawn(kind, name).texts
    )
    assert all(title in found for title in titles), found
