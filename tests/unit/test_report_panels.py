"""Panels: differences from a method, other axes, and lines that are no measurements."""

import itertools

import numpy as np
import pytest
import report_rows
from figure_checks import assert_fit_to_print

from rfstudy import tidy
from rfstudy.report import panels
from rfstudy.report.chance import majority_pct
from rfstudy.report.plots.lines import compared


def rows_of(values, metric="approximation_error_frobenius", **columns):
    """Rows of EEG: ``values`` by method, an array (sizes, repeats)."""
    return [
        row | {"value": float(values[row["method"]][report_rows.SIZES.index(int(row["n_features_label"][:-1])), i])}
        for method in values
        for row in report_rows.made_rows(tasks=["eeg"], methods=[method], repeats=len(values[method][0]), **columns)
        if row["metric"] == metric
        for i in [row["repeat"]]
    ]


def panel_of(rows, **panel):
    own = {"metric": "approximation_error_frobenius", "label": "error", "scale": "log"} | panel
    spec = report_rows.spec_of("figure-10-text") | {"panels": [own], "datasets": ["eeg"], "width": "column"}
    return report_rows.picture(spec, rows)


def falling(factor, n=3):
    """Errors of five sizes and n repeats that fall with the size."""
    noise = np.exp(0.01 * np.random.default_rng(int(1000 * factor)).standard_normal((5, n)))
    return factor / np.sqrt(report_rows.SIZES)[:, None] * noise


def test_differences_are_paired_by_repeat():
    rng = np.random.default_rng(3)
    base = 80 + 5 * rng.standard_normal((5, 4))
    values = {"rff": base, "orf": base + 0.5 + 0.1 * rng.standard_normal((5, 4))}
    picture = panel_of(
        rows_of(values, "accuracy_pct"), metric="accuracy_pct", learner="ridge", split="test", against="rff",
        scale="linear",
    )  # fmt: skip
    (ax,) = picture.figure.axes
    gap = values["orf"] - values["rff"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), gap.mean(axis=1), rtol=1e-10)
    mean, spread = gap.mean(axis=1), gap.std(axis=1, ddof=1)
    whiskers = np.array([segment[:, 1] for segment in ax.collections[0].get_segments()])
    np.testing.assert_allclose(whiskers, np.stack([mean - spread, mean + spread], axis=1), rtol=1e-10)
    # the baseline is the line at zero, without a marker
    assert ax.lines[1].get_ydata() == [0.0, 0.0]
    handles = picture.figure.legends[0].legend_handles
    assert [(line.get_label(), line.get_marker()) for line in handles] == [("RFF", "None"), ("ORF", "s")]


def test_only_shared_repeats_are_compared_and_nothing_is_compared_with_nothing():
    rows = rows_of({"rff": falling(1.0, 2), "orf": falling(0.5, 4)})
    assert set(compared(tidy.frame(rows), "rff")["n"]) == {2}
    assert not len(compared(tidy.frame([]), "rff"))
    failed = report_rows.changed(rows, lambda row: row["method"] == "rff", status="failed", value=None)
    assert not len(compared(tidy.frame(failed), "rff"))
    picture = panel_of(failed, against="rff")
    assert picture.figure.axes == []
    assert "Not drawn: EEG (nothing to compare with rff)." in picture.notes
    # times below the resolution of the clock have no ratio
    zero = report_rows.changed(rows, lambda row: True, value=0.0)
    assert "Not drawn: EEG (nothing to compare with rff)." in panel_of(zero, against="rff").notes


def test_times_by_rounds_are_compared_round_by_round():
    def rounds(method, values, **settings):
        shared = {
            "origin": "measured", "run": "r", "experiment": "e", "dataset": "eeg", "method": method, "n_features": 28,
            "n_features_label": "2d", "metric": "time_feature_s", "axis": "round", "status": "ok", "settings": settings,
        }  # fmt: skip
        return [shared | {"at": at, "value": value} for at, value in enumerate(values)]

    pace = np.array([1.0, 8.0, 2.0, 4.0, 1.0])
    rows = [*rounds("rff", pace), *rounds("orf", pace * [3.0, 2.0, 5.0, 2.5, 4.0], machine_busy=True)]
    (cell,) = compared(tidy.frame(rows), "rff").to_dict("records")
    assert (cell["method"], cell["mean"], cell["lower"], cell["upper"]) == ("orf", 3.0, 2.5, 4.0)
    assert (cell["n"], cell["rounds"], cell["machine_busy"]) == (5, 5, True)


def walked_rows():
    """Two kernels, two methods, three repeats of an error against a distance."""
    return [
        {
            "origin": "measured", "run": "r", "preset": "laptop", "paper": "survey", "protocol": "text",
            "experiment": "e", "dataset": "eeg", "kernel": kernel, "method": method, "n_features": 64,
            "n_features_label": "64", "axis": axis, "at": at, "repeat": repeat, "metric": "kernel_bias", "status": "ok",
            "value": (1 + position) * at + 0.01 * repeat if axis == "distance" else 1e9,
        }
        for kernel, (position, method), (axis, at), repeat in itertools.product(
            ("gaussian", "laplacian"),
            enumerate(("rff", "orf")),
            [("distance", 0.5), ("distance", 1.0), ("distance", 2.0), ("penalty", 3.0)],
            range(3),
        )
    ]  # fmt: skip


WALKED = {
    "kind": "curves", "caption": "c", "paper": "survey", "width": "column", "methods": ["rff", "orf"],
    "x": {"axis": "distance", "label": "distance", "scale": "linear"},
    "datasets": ["eeg"],
    "panels": [
        {"metric": "kernel_bias", "kernel": kernel, "label": f"the bias, arc-{kernel}", "scale": "linear"}
        for kernel in ("gaussian", "laplacian", "cauchy")
    ],
}  # fmt: skip


def test_the_axis_may_be_what_an_experiment_varies_and_a_panel_that_of_a_kernel():
    figure, notes = report_rows.picture(WALKED, walked_rows())
    assert_fit_to_print(figure)
    assert [ax.get_ylabel() for ax in figure.axes] == ["the bias,\narc-gaussian", "the bias,\narc-laplacian"]
    ax = figure.axes[1]
    assert (ax.get_xscale(), ax.get_xlabel()) == ("linear", "distance")
    one, other = ax.lines
    np.testing.assert_allclose(one.get_ydata(), [0.51, 1.01, 2.01])
    np.testing.assert_allclose(other.get_ydata(), [1.01, 2.01, 4.01])
    for line in (one, other):  # a numeric axis is not shifted
        np.testing.assert_allclose(line.get_xdata(), [0.5, 1.0, 2.0])
    assert "Not drawn: EEG: the bias, arc-cauchy (not run)." in notes


def test_a_panel_that_would_mix_rows_is_an_error():
    mixed = [{"metric": "kernel_bias", "label": "bias", "scale": "linear"}]
    with pytest.raises(ValueError, match=r"two values of rff/ at 0\.5 in one panel"):
        report_rows.picture(WALKED | {"panels": mixed}, walked_rows())


TWO_CLASSES = {"eeg": {"label": "EEG", "target": "binary", "published_as": {"survey": "EEG"}}}


def fact(chance, split="all", dataset="eeg"):
    return {
        "origin": "measured", "experiment": "survey-gaussian-text", "dataset": dataset, "split": split,
        "metric": "fact_neighbours_agree_by_chance", "value": chance, "status": "ok",
    }  # fmt: skip


@pytest.mark.parametrize("share", [0.5, 0.5512, 0.7, 0.95])
def test_the_share_of_the_more_frequent_class_follows_from_the_agreement_by_chance(share):
    y = np.repeat([0, 1], [round(10000 * share), round(10000 * (1 - share))])
    counts = np.bincount(y) / len(y)
    facts = tidy.frame([fact(float(np.sum(counts**2)))])
    assert majority_pct(facts, "eeg", TWO_CLASSES) == pytest.approx(100 * counts.max(), abs=1e-6)


def test_the_part_that_is_scored_decides_and_more_classes_have_no_answer():
    facts = tidy.frame([fact(0.5, "all"), fact(0.58, "train"), fact(0.68, "test"), fact(0.5, "all", "other")])
    assert majority_pct(facts, "eeg", TWO_CLASSES) == pytest.approx(80.0)
    assert majority_pct(facts, "eeg", TWO_CLASSES, "train") == pytest.approx(70.0)
    assert majority_pct(facts, "other", TWO_CLASSES) is None
    assert majority_pct(facts, "eeg", {"eeg": {"target": "classes"}}) is None
    assert majority_pct(facts[:0], "eeg", TWO_CLASSES) is None


@pytest.mark.parametrize(("chance", "drawn"), [(0.68, True), (0.5, False)])
def test_the_more_frequent_class_is_a_line_where_there_is_room(chance, drawn):
    rows = [row for row in report_rows.made_rows(tasks=["eeg"]) if row["metric"] == "accuracy_pct"]
    spec = report_rows.spec_of("figure-10-text") | {"datasets": ["eeg"]}
    picture = report_rows.picture(spec, report_rows.context_of([*rows, fact(chance)], tasks=TWO_CLASSES))
    share = 80.0 if drawn else 50.0
    at = [line.get_ydata()[0] for line in picture.figure.axes[0].lines if list(line.get_xdata()) == [0, 1]]
    assert at == (pytest.approx([share]) if drawn else [])
    labels = [text.get_text() for text in picture.figure.legends[0].get_texts()]
    assert ("more frequent class" in labels) == drawn
    where = "dotted where the axis reaches it" if drawn else "beyond the axes"
    assert f"Always naming the more frequent class: EEG {share:.1f} %; {where}." in picture.notes
    assert_fit_to_print(picture.figure)


ENDS = [(0.9981, 1.0032), (0.97, 1.04), (0.8, 2.0), (0.7, 2.6), (19.5, 26.0), (1.0, 300.0), (1e-7, 10.0), (5.0, 5.0)]
ENDS += [(end / spread, end) for end in (1e-6, 1.0, 1e4) for spread in (1.02, 3.0, 1e5)]


@pytest.mark.parametrize("ends", ENDS)
def test_a_logarithmic_axis_has_at_least_two_labels_and_they_differ(ends):
    _, ((ax,),) = panels.grid("column", 1, 1, 1.5)
    ax.plot([1, 2], ends)
    panels.log_axis(ax.yaxis)
    ticks, (low, high) = zip(ax.get_yticks(), ax.get_yticklabels(), strict=True), ax.get_ylim()
    labels = {tick: label.get_text() for tick, label in ticks if low <= tick <= high}
    assert len(set(labels.values())) == len(labels) >= 2
    known = {(0.7, 2.6): ["0.7", "1", "1.5", "2"], (19.5, 26.0): ["20", "22", "24", "26"]}
    assert [*labels.values()] == known.get(ends, [*labels.values()])
    # numbers far from 1 are powers of ten, all or none
    assert len({"10^" in label for tick, label in labels.items() if not 0.01 <= tick < 1e4}) < 2
