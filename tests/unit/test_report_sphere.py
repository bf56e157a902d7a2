"""The globes on which learned features of the sphere are drawn."""

import numpy as np

from rfstudy.report.plots import games


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
