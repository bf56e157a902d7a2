"""The figure of times against d: where a map overtakes the reference, and what is drawn of it."""

import numpy as np
import pytest
import report_rows
from verdict_rows import row

DIMENSIONS = np.array([16.0, 64.0, 256.0, 1024.0])
N_TRAIN = 1000

#: How much slower the machine is in each of five rounds, for all lines alike: no ratio by round knows of it.
PACE = (1.0, 1.5, 0.8, 3.0, 0.9)


def rows(method, kernel, times, variant="", wobble=(1.0,) * 5, **settings):
    """Five rounds of a line: seconds per row by dimension, times the pace of the round and a wobble of its own."""
    return [
        row("time_transform_s", N_TRAIN * time * pace * own, axis="round", at=at, dataset=f"made-d{d:.0f}", d=d,
            kernel=kernel, method=method, variant=variant, n_train=N_TRAIN, settings={"threads": 2} | settings)
        for d, time in zip(DIMENSIONS, times, strict=True)
        for at, (pace, own) in enumerate(zip(PACE, wobble, strict=True))
    ]  # fmt: skip


def picture_of(rows):
    return report_rows.picture(report_rows.spec_of("crossover-times", "study"), rows, tasks={})


#: Seconds per row by dimension of a dense matrix, and of a fast map, which is as fast at d = 100.
DENSE, FAST = 1e-9 * DIMENSIONS**2, 1e-7 * DIMENSIONS


def test_a_crossing_next_to_ratios_that_scatter_is_none():
    narrow, wide = (1.0, 1.0, 1.1, 0.9, 1.0), (1.0, 1.0, 1.3, 0.7, 1.3)
    shown = rows("rff", "gaussian", DENSE, machine_busy=True) + rows("trp", "polynomial", DENSE)
    shown += rows("scrf", "gaussian", FAST, wobble=narrow) + rows("pmodel", "gaussian", FAST, wobble=wide)
    # one that never crosses is judged by its last ratio
    figure, notes = picture_of(shown + rows("fastfood", "gaussian", 2.0 * DENSE, wobble=wide))
    assert all(place in " ".join(notes) for place in ("SCRF from d = 100", "Fastfood too noisy", "P-model too noisy"))
    # one ring, at 1 and between two dimensions
    rings = [line for line in figure.axes[2].get_lines() if line.get_markerfacecolor() == "none"]
    assert [line.get_xdata().item() for line in rings] == [pytest.approx(100.0)]
    assert "Other work ran at the same time: RFF at all sizes." in notes


def test_bands_lie_between_the_quartiles():
    wobble = (1.0, 1.2, 0.8, 1.1, 0.9)
    others = [{**row, "metric": "cpu_transform_s", "value": 7.0} for row in rows("rff", "gaussian", DENSE)]
    others += rows("rff", "gaussian", DENSE) + rows("trp", "polynomial", DENSE)
    others += rows("rom", "gaussian", 2.0 * DENSE) + rows("fastfood", "gaussian", 0.5 * DENSE)
    others += rows("", "gaussian", 3.0 * DENSE, variant="RBFSampler")
    others += rows("", "polynomial", 3.0 * DENSE, variant="PolynomialCountSketch")
    figure, _ = picture_of([*others, *rows("sorf", "gaussian", FAST, wobble=wobble)])
    times, _, ratios, _ = figure.axes
    seconds = np.multiply(wobble, PACE)
    for ax, values in ((times, 1.6 * seconds), (ratios, np.array(wobble) * 100 / 16)):
        bands = [band.get_paths()[0].vertices for band in ax.collections]
        ends = [set(np.round(band[band[:, 0] == 16.0, 1], 6)) for band in bands]
        assert set(np.round(np.quantile(values, [0.25, 0.75]), 6)) in ends
    looks = [(line.get_color(), line.get_marker()) for line in figure.legends[0].legend_handles]
    assert len(set(looks)) == len(looks) == 7
