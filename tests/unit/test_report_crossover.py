"""The figure of times against d: where a map overtakes the reference, and what is drawn of it."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from rfstudy import tidy
from rfstudy.report import catalogue
from rfstudy.report.plots.crossover import crossing, draw

CONFIG = Path(__file__).resolve().parents[2] / "config"
METHODS, FIGURES = (yaml.safe_load((CONFIG / f"{name}.yaml").read_text("utf-8")) for name in ("methods", "figures"))
DIMENSIONS = np.array([16.0, 64.0, 256.0, 1024.0])


def rows(method, kernel, times, variant=""):
    return [
        {
            "origin": "measured", "experiment": "speed", "protocol": "times", "metric": "time_per_row_s",
            "kernel": kernel, "method": method, "variant": variant, "d": d, "value": time, "status": "ok",
            "settings": {"threads": 2, "runs": 5},
        }
        for d, time in zip(DIMENSIONS, times, strict=True)
    ]  # fmt: skip


@pytest.fixture
def frame():
    dense = 1e-9 * DIMENSIONS**2
    return tidy.frame(
        [
            *rows("rff", "gaussian", dense),
            *rows("sorf", "gaussian", 1e-7 * DIMENSIONS),  # as fast as d^2 at d = 100
            *rows("rom", "gaussian", 2.0 * dense),
            *rows("fastfood", "gaussian", 0.5 * dense),
            *rows("", "gaussian", 3.0 * dense, variant="RBFSampler"),
            *rows("trp", "polynomial", dense),
            {"metric": "time_ratio", "method": "rff", "value": 0.5, "status": "ok", "settings": {"bar": 1.0}},
        ]
    )


def test_the_crossing_of_power_laws_is_exact():
    # between two measurements a power law is a straight line in logarithms
    assert crossing(DIMENSIONS, 100.0 / DIMENSIONS) == pytest.approx(100.0)
    assert crossing(DIMENSIONS, np.array([0.5, 2.0, 2.0, 0.5])) == pytest.approx(512.0)


def test_a_map_that_is_always_or_never_faster_has_no_crossing_inside():
    assert crossing(DIMENSIONS, np.full(4, 0.9)) == DIMENSIONS[0]
    assert crossing(DIMENSIONS, np.array([0.5, 0.5, 0.5, 1.0])) is None


def test_every_map_is_a_line_above_and_a_ratio_below(frame):
    figure = draw(frame, catalogue.specification(FIGURES, "study", "crossover-times"), METHODS, {})
    times, ratios, *_ = figure.axes
    labels = [text.get_text() for text in times.get_legend().get_texts()]
    assert labels == ["RFF", "SORF", "ROM", "Fastfood", "RBFSampler (scikit-learn)"]
    lines = dict(zip(labels, times.get_lines(), strict=True))
    np.testing.assert_allclose(lines["SORF"].get_ydata(), 0.1 * DIMENSIONS)  # in microseconds
    drawn = [line.get_ydata() for line in ratios.get_lines()]
    assert any(np.allclose(each, 2.0) for each in drawn)
    text = " ".join(text.get_text() for text in figure.texts)
    assert "faster than RFF from d = about 100 (SORF), nowhere (ROM), 16 (Fastfood)." in text
    assert "Threads: 2." in text
