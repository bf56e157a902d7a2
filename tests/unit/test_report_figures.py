"""Figures from synthetic rows: what they show, that nothing overlaps, and that the same input is the same file."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import report_rows
import yaml
from figure_checks import assert_fit_to_print
from matplotlib.backends.backend_agg import FigureCanvasAgg

from rfstudy.report import catalogue


def drawn(name, rows, **changes):
    return report_rows.picture(report_rows.spec_of(name) | changes, rows).figure


def test_points_are_means_and_bars_standard_deviations():
    rows = report_rows.made_rows(tasks=["eeg"], methods=["rff"])
    figure = drawn("figure-10-text", rows)
    values = np.array([row["value"] for row in rows if row["learner"] == "ridge"]).reshape(5, 3)
    (line,), (bars,) = figure.axes[2].lines, figure.axes[2].collections
    np.testing.assert_allclose(line.get_ydata(), values.mean(axis=1), rtol=1e-14)
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(np.diff(ends)[:, 0], 2 * values.std(axis=1, ddof=1), rtol=1e-12)
    # one method is not shifted: its points stand on the ticks, at s = 2d .. 32d
    np.testing.assert_allclose(line.get_xdata(), [28, 56, 112, 224, 448])


def test_what_is_missing_takes_no_place_and_is_said():
    rows = [row for row in report_rows.made_rows(repeats=4) if row["dataset"] != "magic04"]
    rows = report_rows.changed(rows, lambda row: row["dataset"] == "eeg", stand_in="generated (stand-in for EEG)")
    rows = report_rows.changed(
        rows, lambda row: (row["dataset"], row["learner"]) == ("a8a", "svm"),
        status="skipped", value=None, settings={"reason": "too many entries"},
    )  # fmt: skip
    rows = report_rows.changed(
        rows,
        lambda row: (row["dataset"], row["learner"], row["method"], row["n_features_label"])
        == ("eeg", "ridge", "gq", "32d"),
        status="failed", value=None, settings={"reason": "singular matrix"},
    )  # fmt: skip
    figure, notes = report_rows.picture(report_rows.spec_of("figure-10-text"), rows)
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
    rows = report_rows.made_rows(methods=("rff", "brandnew")) + report_rows.made_rows(
        methods=("ssf",), variant="one-radius"
    )
    rows += report_rows.made_rows(methods=("ssf",))
    figure = drawn("figure-09-text", rows)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["RFF", "SSF", "SSF (one-radius)", "brandnew"]
    assert_fit_to_print(figure)


def test_only_lines_that_an_axis_does_not_change_are_level():
    """The rows of a map off the axis are not drawn, and not described, where its own line is."""
    shared = {"tasks": ["eeg"], "methods": ["rff"], "sizes": [2]}
    rows = [row for at in (1e-3, 1e-2) for row in report_rows.made_rows(**shared, axis="penalty", at=at)]
    for own in ({"settings": {"capped": True}}, {"variant": "other"}):
        rows += report_rows.made_rows(**shared, **own)
    spec = report_rows.spec_of("figure-10-text") | {"x": {"axis": "penalty", "label": "penalty", "scale": "log"}}
    figure, notes = report_rows.picture(spec, rows)
    assert "Level lines with a band: RFF (other), which the horizontal axis does not change." in notes
    assert "capped" not in figure.axes[0].get_title(loc="left") + " ".join(notes)


@pytest.mark.parametrize("smallest", [0.0, 5e-324])
def test_a_logarithmic_axis_survives_values_that_it_cannot_show(smallest):
    rows = report_rows.made_rows(tasks=["eeg"], methods=["rff", "orf", "sorf"])
    for shown in (rows, [row for row in rows if row["method"] == "rff"]):
        tiny = [row | {"value": smallest} if row["method"] == "rff" else row for row in shown]
        figure = drawn("figure-10-text", tiny)
        FigureCanvasAgg(figure).draw()
        assert all(np.isfinite(ax.get_ylim()).all() for ax in figure.axes)


def test_the_same_rows_are_the_same_files(tmp_path):
    results = report_rows.written(
        tmp_path, report_rows.made_rows(tasks=["letter-am-nz", "ijcnn1"], methods=report_rows.NINE[:3]), "rows.csv.xz"
    )
    (tmp_path / "datasets.yaml").write_text(yaml.safe_dump(report_rows.DATASETS))
    program = (
        "import sys, json; from rfstudy.files import read_yaml; from rfstudy.report import draw;"
        "draw.run([json.loads(sys.argv[1])], sys.argv[2:3], sys.argv[3], *map(read_yaml, sys.argv[4:6]), sys.argv[6])"
    )
    spec = report_rows.spec_of("figure-09-text")
    here = report_rows.draw(spec, [results], tmp_path / "here")
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


def test_a_users_matplotlib_settings_do_not_change_a_figure(tmp_path):
    import matplotlib as mpl

    results = [report_rows.written(tmp_path, report_rows.made_rows(tasks=["eeg"], methods=["rff"]))]
    spec = report_rows.spec_of("figure-10-text")
    plain = report_rows.draw(spec, results, tmp_path / "plain")
    with mpl.rc_context({"axes.facecolor": "yellow", "font.size": 20, "savefig.transparent": True}):
        mine = report_rows.draw(spec, results, tmp_path / "mine")
    assert [path.read_bytes() for path in plain] == [path.read_bytes() for path in mine]


def stepwise(rows):
    return report_rows.picture(report_rows.spec_of("ablation-chart-code", "slsrff"), rows).figure


def of_eeg(rows, method, variant):
    return [r["value"] for r in rows if (r["dataset"], r["method"], r["variant"]) == ("eeg", method, variant)]


def test_the_control_that_decides_is_a_line_through_the_panel():
    rows = report_rows.step_rows()
    figure = stepwise(rows)
    values = of_eeg(rows, "rff", "smaller-penalty")
    panel = figure.axes[0]
    (line,) = [each for each in panel.lines if list(each.get_ydata()) == [0, 1]]
    assert line.get_xdata() == pytest.approx([np.mean(values)] * 2)
    assert line.get_ydata() == [0, 1]  # of the height of the panel
    (band,) = panel.patches
    spread = np.std(values, ddof=1)
    assert band.get_x() == pytest.approx(np.mean(values) - spread)
    assert band.get_width() == pytest.approx(2 * spread)
