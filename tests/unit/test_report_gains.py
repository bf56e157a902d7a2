"""Figures of paired differences as dots, what an output selects, and the table next to every figure."""

import numpy as np
import pandas as pd
import pytest
import report_rows
from figure_checks import assert_fit_to_print
from matplotlib.figure import Figure

from rfstudy.report import panels, plots, style
from rfstudy.report.plot_styles import PlotStyle


def test_dots_are_paired_differences_at_the_fewest_and_the_most_features():
    rows = report_rows.made_rows(tasks=["eeg"], methods=report_rows.NINE[:3])
    spec = report_rows.spec_of("figure-10-differences-text") | {"datasets": ["eeg"]}
    picture = plots.picture(report_rows.context_of(rows), spec)
    assert_fit_to_print(picture.figure)
    ax = picture.figure.axes[2]
    own = pd.DataFrame(rows)
    own = own[(own["metric"] == "accuracy_pct") & (own["learner"] == "ridge")]
    means = own.pivot_table(index="method", columns="n_features_label", values="value")
    for size in ("2d", "32d"):
        expected = [means.loc[method, size] - means.loc["rff", size] for method in report_rows.NINE[1:3]]
        (container,) = [each for each in ax.containers if each.get_label() == f"s = {size}"]
        np.testing.assert_allclose(container.lines[0].get_xdata(), expected)
    assert [label.get_text() for label in picture.figure.axes[0].get_yticklabels()] == ["ORF", "SORF"]


def test_labels_at_the_ends_of_lines_do_not_overlap():
    figure = Figure(figsize=(3, 2))
    ax = figure.subplots()
    ax.set(xlim=(0, 1), ylim=(0, 1))
    panels.label_ends(ax, {"a": (0.5, "black"), "b": (0.5, "red"), "c": (0.99, "blue"), "d": (1.0, "green")})
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert heights["a"] < heights["b"] < heights["c"] < heights["d"] <= 1.0
    assert min(np.diff(sorted(heights.values()))) * 2 * figure.subplotpars.top > 0.08


def test_an_output_shows_the_methods_that_it_lists_and_those_without_an_entry():
    rows = report_rows.made_rows(tasks=["eeg"], methods=("rff", "orf", "qmc", "brandnew"))
    spec = report_rows.spec_of("figure-10-text") | {"methods": ["rff", "qmc"], "colours": {"qmc": "#123456"}}
    figure = report_rows.picture(spec, rows).figure
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["RFF", "QMC", "brandnew"]
    assert "#123456" in {line.get_color() for line in figure.axes[0].lines}


def test_numbers_of_other_data_are_counted_and_not_drawn(shipped):
    drawn = shipped.made("slsrff", "printed-against-ours-all")
    labels = [text.get_text() for legend in drawn.figure.legends for text in legend.get_texts()]
    assert "not comparable" not in labels
    assert any("Not shown" in note and "not comparable" in note for note in drawn.notes)


FIGURES = [each for each in report_rows.REPORTS if each["form"] == "figures"]


@pytest.mark.parametrize("spec", FIGURES, ids=[f"{each['paper']}/{each['name']}" for each in FIGURES])
def test_every_figure_has_a_table_next_to_it(spec, shipped):
    if spec["experiments"] and not any(shipped.has([each]) for each in spec["experiments"]):
        pytest.skip("its experiments are not shipped")
    context = shipped.context(*spec["experiments"], kernel=spec.get("kernel", ""))
    table = plots.behind(context, spec, shipped.made(spec["paper"], spec["name"]))
    assert len(table)
    assert f"{spec['name']}.csv" in plots.outputs(spec)
    if "facts" not in spec:
        assert {"metric", "mean", "n"} <= set(table)
        assert not table.duplicated().any()


def test_a_table_is_written_with_its_figure(tmp_path):
    own = PlotStyle("a", "#000000", "o", "solid")
    figure = Figure(figsize=(2, 1), layout="constrained")
    figure.subplots().plot([1, 2])
    rows = pd.DataFrame({"mean": [1 / 3], "n": [2]})
    style.save(style.Picture(figure, [own], []), rows, "c", tmp_path, ["x.csv"])
    assert (tmp_path / "x.csv").read_text() == "mean,n\n0.3333333333,2\n"
