"""Figures: what they show of synthetic rows, of shipped rows and of facts, that nothing overlaps, and that the same
input is the same file.
"""

import json
import os
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import report_rows
import yaml
from figure_checks import assert_fit_to_print
from matplotlib.backends.backend_agg import FigureCanvasAgg
from report_rows import changed, made_rows, picture, spec_of

from rfstudy import outputs, render
from rfstudy.report import catalogue, plots
from rfstudy.report.context import Context


def drawn(name, rows, paper="survey"):
    return picture(spec_of(name, paper), rows).figure


def test_points_are_means_and_bars_standard_deviations():
    rows = made_rows(tasks=["eeg"], methods=["rff"])
    figure = drawn("figure-10-text", rows)
    values = np.array([row["value"] for row in rows if row["learner"] == "ridge"]).reshape(5, 3)
    (line,), (bars,) = figure.axes[2].lines, figure.axes[2].collections
    np.testing.assert_allclose(line.get_ydata(), values.mean(axis=1), rtol=1e-14)
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(np.diff(ends)[:, 0], 2 * values.std(axis=1, ddof=1), rtol=1e-12)
    # one method is not shifted: its points stand on the ticks, at s = 2d .. 32d
    np.testing.assert_allclose(line.get_xdata(), [28, 56, 112, 224, 448])


def test_what_is_missing_takes_no_place_and_is_said():
    rows = [row for row in made_rows(repeats=4) if row["dataset"] != "magic04"]
    rows = changed(rows, lambda row: row["dataset"] == "eeg", stand_in="generated (stand-in for EEG)")
    skipped = {"status": "skipped", "value": None, "settings": {"reason": "too many entries"}}
    rows = changed(rows, lambda row: (row["dataset"], row["learner"]) == ("a8a", "svm"), **skipped)
    gap = {"dataset": "eeg", "learner": "ridge", "method": "gq", "n_features_label": "32d"}
    failed = {"status": "failed", "value": None, "settings": {"reason": "singular matrix"}}
    rows = changed(rows, lambda row: row | gap == row, **failed)
    figure, notes = picture(spec_of("figure-10-text"), rows)
    assert_fit_to_print(figure)
    # three rows of panels, of which the last has three
    assert len(figure.axes) == 11
    assert figure.axes[0].get_title(loc="left") == "(a) EEG: generated stand-in"
    assert "Not drawn: magic04 (not run); a8a: accuracy (%), LIBLINEAR (skipped)." in notes
    assert [bool(ax.get_xlabel()) for ax in figure.axes] == [False] * 7 + [True] * 4
    # the failed size of GQ is a gap at the end of its line, not a value
    ridge = dict(zip(report_rows.NINE, figure.axes[2].lines, strict=True))
    assert len(ridge["gq"].get_xdata()) == 4
    assert len(ridge["rff"].get_xdata()) == 5


def test_new_methods_and_variants_appear_without_an_edit():
    rows = made_rows(methods=("rff", "brandnew", "ssf")) + made_rows(methods=("ssf",), variant="one-radius")
    figure = drawn("figure-09-text", rows)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["RFF", "SSF", "SSF (one-radius)", "brandnew"]
    assert_fit_to_print(figure)


def test_only_lines_that_an_axis_does_not_change_are_level():
    """The rows of a map off the axis are not drawn, and not described, where its own line is."""
    shared = {"tasks": ["eeg"], "methods": ["rff"], "sizes": [2]}
    rows = [row for at in (1e-3, 1e-2) for row in made_rows(**shared, axis="penalty", at=at)]
    for own in ({"settings": {"capped": True}}, {"variant": "other"}):
        rows += made_rows(**shared, **own)
    spec = spec_of("figure-10-text") | {"x": {"axis": "penalty", "label": "penalty", "scale": "log"}}
    figure, notes = picture(spec, rows)
    assert "Level lines with a band: RFF (other), which the horizontal axis does not change." in notes
    assert "capped" not in figure.axes[0].get_title(loc="left") + " ".join(notes)


@pytest.mark.parametrize("smallest", [0.0, 5e-324])
def test_a_logarithmic_axis_survives_values_that_it_cannot_show(smallest):
    rows = made_rows(tasks=["eeg"], methods=["rff", "orf", "sorf"])
    for shown in (rows, [row for row in rows if row["method"] == "rff"]):
        tiny = [row | {"value": smallest} if row["method"] == "rff" else row for row in shown]
        figure = drawn("figure-10-text", tiny)
        FigureCanvasAgg(figure).draw()
        assert all(np.isfinite(ax.get_ylim()).all() for ax in figure.axes)


def test_the_same_rows_are_the_same_files_in_any_process_and_with_any_settings_of_matplotlib(tmp_path):
    rows = made_rows(tasks=["letter-am-nz", "ijcnn1"], methods=report_rows.NINE[:3])
    results = report_rows.written(tmp_path, rows, "rows.csv.xz")
    (tmp_path / "datasets.yaml").write_text(yaml.safe_dump(report_rows.DATASETS))
    program = (
        "import sys, json; from rfstudy.files import read_yaml; from rfstudy.report import draw;"
        "draw.run([json.loads(sys.argv[1])], sys.argv[2:3], sys.argv[3], *map(read_yaml, sys.argv[4:6]), sys.argv[6])"
    )
    spec = spec_of("figure-09-text")
    here = report_rows.draw(spec, [results], tmp_path / "here")
    with mpl.rc_context({"axes.facecolor": "yellow", "font.size": 20, "savefig.transparent": True}):
        again = report_rows.draw(spec, [results], tmp_path / "again")
    subprocess.run(
        [sys.executable, "-c", program, json.dumps(spec), results, report_rows.REFERENCE,
         report_rows.ROOT / "config" / "methods.yaml",
         tmp_path / "datasets.yaml", tmp_path / "elsewhere"],
        env=os.environ | {"PYTHONPATH": str(report_rows.ROOT / "src"), "PYTHONHASHSEED": "11", "TZ": "Asia/Tokyo"},
        check=True,
    )  # fmt: skip
    assert [path.name for path in here] == catalogue.outputs(spec)
    for one, two in zip(here, again, strict=True):
        assert one.read_bytes() == two.read_bytes()
        assert one.read_bytes() == (tmp_path / "elsewhere" / "survey" / one.name).read_bytes()
    assert b"CreationDate" not in here[0].read_bytes()


#: The coordinates of the values that a kind draws with bars or bands: x, y, or both.
COORDINATES = {"curves": [1], "descent": [1], "crossover": [1], "gains": [0], "steps": [0], "error_by_time": [0, 1]}


def first_of(shipped, kind):
    """The first shipped figure of a kind, with its specification and axes."""
    spec = next(each for each in shipped.reports if each["kind"] == kind and shipped.has(each["experiments"]))
    return spec, (made := shipped.made(spec["paper"], spec["name"])), made.figure.axes


@pytest.mark.parametrize("kind", COORDINATES)
def test_the_file_next_to_a_figure_has_the_centres_and_ends_that_it_draws(shipped, kind):
    spec, made, axes = first_of(shipped, kind)
    cells = plots.behind(shipped.context(*spec["experiments"], kernel=spec.get("kernel", "")), spec, made)
    known = cells[["mean", "lower", "upper"]].to_numpy(dtype=float).ravel()
    for ax in axes:  # published values and rings are hollow, levels have the coordinates of the panel
        lines = [line for line in ax.lines if "none" not in (line.get_markerfacecolor(), line.get_fillstyle())]
        points = [line.get_xydata() for line in lines if line.get_transform() == ax.transData]
        points += [path.vertices for each in ax.collections for path in each.get_paths()]
        for values in np.concatenate(points)[:, COORDINATES[kind]].T:
            off = np.abs(known[:, None] - values).min(axis=0, where=~np.isnan(known)[:, None], initial=np.inf)
            assert (off <= 1e-9 * np.abs(values)).all(), (ax.get_ylabel(), values[off > 1e-9])


@pytest.mark.parametrize("kind", [*COORDINATES, "printed", "counterexample", "plane", "sphere"])
def test_a_legend_has_the_colours_and_patterns_of_the_lines_that_it_names(shipped, kind):
    (_, made, axes), looks = first_of(shipped, kind), {}
    for line in (line for ax in axes for line in ax.lines):
        looks.setdefault(line.get_label(), set()).add((line.get_color(), line.get_linestyle()))
    for entry in (each for legend in made.figure.legends for each in legend.legend_handles):
        own = looks.get(entry.get_label())
        assert not own or (entry.get_color(), entry.get_linestyle()) in own, entry.get_label()


def test_errors_are_on_logarithmic_axes_where_a_panel_has_over_a_decade(shipped):
    for name, scale in {("survey", "error-by-time-text"): "log", ("eerf", "figure-02-text"): "linear"}.items():
        assert {ax.get_yscale() for ax in shipped.made(*name).figure.axes} == {scale}


def test_a_changed_protocol_and_the_number_of_repeats_are_on_the_picture(shipped):
    spec, penalty = shipped.spec("survey", "figure-07-text"), "experiments.survey-double-descent.grid.penalty"
    spec = outputs.with_changes(spec, {spec["experiments"][0]: {tuple(penalty.split(".")): 0.01}})
    rows = shipped.context(*spec["experiments"]).rows.query("dataset == 'sonar' and repeat < 2")
    rows = rows.assign(settings=rows["settings"].str.replace('"penalty": 1e-08', '"penalty": 0.01'))
    figure, notes = picture(spec, Context(rows, shipped.styles, shipped.tasks))
    words = "Changed: penalty = 0.01. Lines and bands: medians and quartiles over 2 repeats; penalty 0.01."
    assert figure.get_supxlabel().startswith(words)
    assert "1e-8" not in " ".join([spec["caption"], *notes])


def test_the_control_that_decides_is_a_line_through_the_panel():
    rows = report_rows.step_rows()
    values = [row["value"] for row in rows if (row["dataset"], row["variant"]) == ("eeg", "smaller-penalty")]
    panel = drawn("ablation-chart-code", rows, "slsrff").axes[0]
    (line,) = [each for each in panel.lines if list(each.get_ydata()) == [0, 1]]  # of the height of the panel
    assert line.get_xdata() == pytest.approx([np.mean(values)] * 2)
    (band,) = panel.patches
    spread = np.std(values, ddof=1)
    assert band.get_x() == pytest.approx(np.mean(values) - spread)
    assert band.get_width() == pytest.approx(2 * spread)


@pytest.fixture(scope="module")
def gains(shipped):
    """The gains by row of the figure, in order, and whether the dots are filled."""
    (ax,) = shipped.made("study", "what-matters-all").figure.axes
    labels = {int(tick): label.get_text() for tick, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}
    assert [text.get_text().split(":")[0] for text in ax.texts] == [
        "Correct the penalty of RFF", "Swap RFF for another map", "Swap RFF (up to 2,048 columns) for another model"
    ]  # fmt: skip
    found = {}
    for each in (dots for dots in ax.collections if len(dots.get_offsets()) > 1):
        values, heights = each.get_offsets().T
        filled = each.get_facecolors()[:, :3].sum(axis=1) < 3
        found[labels[round(heights.mean())]] = pd.DataFrame({"gain": values, "filled": filled})
    return found


def test_the_penalty_gains_what_the_step_of_the_ablation_changes(shipped, gains):
    table = shipped.table("slsrff", "ablation-code")
    steps = render.rows(table, quantity="change", method_id="rff", step_id="no-factor-n")["value"].astype(float)
    np.testing.assert_allclose(gains["without the factor n"]["gain"], np.sort(steps), atol=0.01)
    assert gains["without the factor n"]["filled"].all()


def test_maps_gain_their_differences_at_every_place(shipped, gains):
    table = shipped.table("study", "nested-text").dropna(subset=["d"])
    for method, label in {"nystroem": "Nyström", "orf": "ORF", "qmc": "QMC", "slsrff": "SLS-RFF"}.items():
        own = render.rows(table, method_id=method)[["difference", "p"]].astype(float)
        np.testing.assert_allclose(gains[label]["gain"], np.sort(own["difference"]), atol=0.006)
        assert gains[label]["filled"].sum() == (own["p"] < 0.05).sum()


def test_models_gain_where_the_table_of_yardsticks_has_fewer_errors(shipped, gains):
    table = shipped.table("study", "arena-yardsticks-tuned").dropna(subset=["exact_kernel"])
    columns = ["error", "exact_kernel", "exact_kernel_low", "exact_kernel_high"]
    error, change, low, high = table.loc[~table["data_set_id"].str.startswith("uci-"), columns].to_numpy(float).T
    np.testing.assert_allclose(gains["exact kernel"]["gain"], np.sort(-error * change / 100), atol=0.1)
    assert gains["exact kernel"]["filled"].sum() == ((high < 0) | (low > 0)).sum()
