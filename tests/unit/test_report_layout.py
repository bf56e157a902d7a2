"""Where things stand on a figure, what its axes show, and the lines that are no measurements of a method."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import report_rows
from figure_checks import all_text, assert_fit_to_print
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rfstudy import tidy
from rfstudy.report.against import compared
from rfstudy.report.chance import majority_pct
from rfstudy.report.layout import NOTHING, PAD, STRIP, WIDTHS, Panel, Row, labels_apart, laid_out, text_width, wrapped
from rfstudy.report.notes import machine_busy_where
from rfstudy.report.plots import curves, required
from rfstudy.report.requirements import BOUNDS, features_needed
from rfstudy.report.scales import FEW_TICKS, Span, outlier, plain, reaches, set_both, ticks_of

# --- places -----------------------------------------------------------------------------------------------------------


def labelled(y_label):
    def draw(ax):
        ax.plot([0, 1], [0, 1])
        ax.set_yticks([0, 1], [y_label, "0"])

    return draw


def boxes(figure):
    """Left, bottom, width and height of the axes in inches."""
    size = np.tile(figure.get_size_inches(), 2)
    return [np.array(ax.get_position().bounds) * size for ax in figure.axes]


@pytest.mark.parametrize("width", WIDTHS)
def test_panels_are_aligned_and_equally_large_whatever_their_labels_are(width):
    long = "a label of an axis"
    rows = [
        Row([Panel(labelled("1"), "one"), Panel(labelled(long))], 1.0, "first"),
        Row([Panel(labelled("100")), None], 0.8),
    ]
    handles = [Line2D([], [], label=f"method number {i}") for i in range(5)]
    picture = laid_out(width, rows, handles, ["A note."] * 40)
    assert picture.figure.get_size_inches()[0] == WIDTHS[width]
    assert_fit_to_print(picture.figure)
    (one, two, three) = boxes(picture.figure)
    assert one[0] == pytest.approx(three[0])
    assert one[1] == pytest.approx(two[1])
    assert {round(box[2], 9) for box in (one, two, three)} == {round(one[2], 9)}
    assert [box[3] for box in (one, two, three)] == pytest.approx([1.0, 1.0, 0.8])
    # the longer label takes what it needs, to the left of its panel
    assert two[0] - one[0] - one[2] > text_width(long, 7.0) > 0.5


def test_titles_stand_over_the_middle_of_their_parts_of_a_row():
    row = Row([Panel(labelled(name)) for name in ("1", "a label of an axis", "2", "3")], 1.0, ("left", "right"))
    figure = laid_out("page", [row], [], []).figure
    places = boxes(figure)
    for text, part in zip(figure.texts, (places[:2], places[2:]), strict=False):
        middle = text.get_position()[0] * WIDTHS["page"]
        assert middle == pytest.approx((part[0][0] + part[1][0] + part[1][2]) / 2)
    assert [text.get_text() for text in figure.texts][:2] == ["left", "right"]
    assert_fit_to_print(figure)


def test_a_row_hangs_on_the_one_above_and_takes_its_axis():
    rows = [Row([Panel(labelled("1"))], 1.0), Row([Panel(labelled("1"))], 0.5, joined=True)]
    figure = laid_out("column", rows, [], []).figure
    upper, lower = boxes(figure)
    assert 0 < upper[1] - (lower[1] + 0.5) < 0.1
    assert not any(label.get_visible() for label in figure.axes[0].get_xticklabels())
    assert_fit_to_print(figure)


def test_strips_of_a_broken_axis_stand_at_their_sides_and_keep_the_height():
    panel = Panel(labelled("main"), "title", above=labelled("above"), below=labelled("below"))
    figure = laid_out("column", [Row([panel], 2.0)], [], []).figure
    (above, main, below), axes = boxes(figure), figure.axes
    assert (above[3], below[3]) == pytest.approx((STRIP, STRIP))
    assert above[1] > main[1] + main[3] > main[1] > below[1] + below[3]
    assert above[1] + above[3] - below[1] == pytest.approx(2.0)
    assert [ax.spines.bottom.get_visible() for ax in axes] == [False, False, True]
    assert [ax.spines.top.get_visible() for ax in axes] == [True, False, False]
    assert [ax.get_title() for ax in axes] == ["title", "", ""]
    assert [any(label.get_visible() for label in ax.get_xticklabels()) for ax in axes] == [False, False, True]
    assert_fit_to_print(figure)


def test_a_figure_without_panels_says_so_in_a_line():
    picture = laid_out("column", [], [], ["Not drawn: all (not run)."])
    assert [text.get_text() for text in picture.figure.texts] == [NOTHING, "Not drawn: all (not run)."]
    assert picture.figure.get_size_inches()[1] < 0.7
    assert picture.notes == ["Not drawn: all (not run)."]
    assert_fit_to_print(picture.figure)


def test_lines_are_as_long_as_they_may_be():
    words = [f"word{i}" for i in range(60)]
    lines = wrapped(" ".join(words), 2.0)
    assert " ".join(lines).split() == words
    assert all(text_width(line, 6.5) <= 2.0 for line in lines)
    assert all(text_width(f"{line} {other.split()[0]}", 6.5) > 2.0 / 1.05 for line, other in itertools.pairwise(lines))
    assert wrapped("a" * 200, 2.0) == ["a" * 200]
    assert PAD > 0


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_labels_of_horizontal_ticks_that_would_touch_are_left_out(width, log):
    at = [1000, 2000, 5000, 6000, 8000, 10000, 12000]
    shown = []

    def draw(ax):
        ax.set_xscale("log" if log else "linear")
        ax.set_xlim(600, 12600)
        shown.append(labels_apart(ax, at, [str(value) for value in at]))
        ax.set_xticks(at, shown[-1])
        ax.minorticks_off()

    figure = laid_out(width, [Row([Panel(draw)] * 3, 1.0)], [], []).figure
    figure.draw_without_rendering()
    for ax, labels in zip(figure.axes, shown, strict=True):
        assert labels[0] == "1000"
        assert labels.count("") < len(labels) - 1
        assert len(ax.get_xticks()) == len(at)
        extents = [label.get_window_extent() for label in ax.get_xticklabels() if label.get_text()]
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(extents))
        # nothing is left out that has room
        for i in (i for i, label in enumerate(labels) if not label):
            before = max(j for j in range(i) if labels[j])
            apart = np.diff(ax.transData.transform([(at[before], 1), (at[i], 1)])[:, 0]) / figure.dpi
            halves = text_width(labels[before], 7.0) / 2 + text_width(str(at[i]), 7.0) / 2
            assert apart < 1.05 * (halves + 0.1)


def test_there_is_one_way_to_lay_out_a_figure():
    plots = sorted(Path(curves.__file__).parent.glob("*.py"))
    assert len(plots) > 4
    for path in plots:
        text = path.read_text(encoding="utf-8")
        for word in (
            "add_axes",
            "subplots",
            "Figure(",
            "figsize",
            "constrained",
            "set_position",
            "legend(",
            "set_title",
        ):
            assert word not in text, (path.name, word)
        assert ("laid_out(" in text) == (path.stem != "__init__")


# --- what an axis shows -----------------------------------------------------------------------------------------------


def test_an_axis_is_broken_for_the_line_that_makes_it_three_times_as_long():
    others = {"a": Span(1.0, 10.0), "b": Span(2.0, 10.0)}
    assert outlier(others | {"c": Span(10.0, 1001.0)}, log=True) == "c"
    assert outlier(others | {"c": Span(10.0, 999.0)}, log=True) is None
    # below, and on a linear axis
    assert outlier(others | {"c": Span(-17.1, 10.0)}, log=False) == "c"
    assert outlier(others | {"c": Span(-16.9, 10.0)}, log=False) is None
    # what has to be shown anyway makes room
    assert outlier(others | {"c": Span(-17.1, 10.0)}, log=False, always=[0.0]) is None
    # of two lines none is the odd one; lines that are one line leave no scale
    assert outlier({"a": Span(1.0, 2.0), "b": Span(500.0, 900.0)}, log=True) is None
    assert outlier({"a": Span(1.0, 1.0), "b": Span(1.0, 1.0), "c": Span(5.0, 5.0)}, log=False) is None


def test_a_line_that_is_no_measurement_takes_half_of_an_axis_at_most():
    assert reaches(Span(80.0, 90.0), 70.0, log=False)
    assert not reaches(Span(80.0, 90.0), 69.9, log=False)
    assert reaches(Span(80.0, 90.0), 85.0, log=False)


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("low", [3e-7, 0.02, 0.95, 1.0, 82.6])
@pytest.mark.parametrize("factor", [1.001, 1.2, 2.0, 7.0, 1e3, 1e9])
@pytest.mark.parametrize("most", [3, 6])
def test_there_are_two_ticks_and_not_many_more(log, low, factor, most):
    own = Span(low, low * factor)
    ticks = ticks_of(own, most, log=log)
    assert 2 <= len(ticks) <= most + 1
    assert own.low <= ticks.min() < ticks.max() <= own.high
    assert len({plain(tick) for tick in ticks}) == len(ticks)


@pytest.mark.parametrize(("value", "text"), [(0.001, "0.001"), (0.0002, "2e-4"), (16384.0, "1.6384e4"), (1e12, "1e12")])
def test_numbers_of_ticks_have_no_superscripts(value, text):
    assert plain(value) == text


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
    spec = report_rows.spec_of("figure-10-text")
    own = {"metric": "approximation_error_frobenius", "label": "error", "scale": "log"} | panel
    return curves.draw(report_rows.context_of(rows), spec | {"panels": [own], "datasets": ["eeg"], "width": "column"})


def whiskers(container):
    """The ends (n, 2) of the error bars of a line."""
    return np.array([segment[:, 1] for segment in container[2][0].get_segments()])


def test_error_bars_on_a_logarithmic_axis_are_drawn_in_full():
    # one size whose bar ends at a hundredth of its mean, which used to be cut at a tenth, and one that reaches zero
    near, beyond = np.array([1.0 - 0.99, 1.0, 1.0 + 0.99]), np.array([0.1, 0.2, 2.7])
    values = np.array([near, beyond, [1.0, 1.1, 1.2], [0.5, 0.6, 0.7], [0.3, 0.4, 0.5]])
    figure = panel_of(rows_of({"rff": values})).figure
    (ax,) = figure.axes
    ends = whiskers(ax.containers[0])
    mean, spread = values.mean(axis=1), values.std(axis=1, ddof=1)
    assert mean[1] < spread[1]
    np.testing.assert_allclose(ends[:, 1], mean + spread, rtol=1e-12)
    np.testing.assert_allclose(ends[[0, 2, 3, 4], 0], (mean - spread)[[0, 2, 3, 4]], rtol=1e-9)
    low, high = ax.get_ylim()
    assert ends[1, 0] == pytest.approx(low)  # down to the end of the axis
    assert low < ends[0, 0]
    assert (ends[:, 1] < high).all()
    assert_fit_to_print(figure)


def test_ticks_of_a_narrow_panel_can_be_read():
    # what lies within a tenth has no power of ten between its ends, and labels side by side have little room
    figure = Figure(figsize=(1.4, 1.4))
    ax = figure.add_subplot()
    set_both(ax, Span(0.93, 1.12), log=True)
    figure.draw_without_rendering()
    for axis in (ax.xaxis, ax.yaxis):
        texts = [label.get_text() for label in axis.get_ticklabels(which="both") if label.get_text()]
        assert 2 <= len(texts) <= FEW_TICKS + 1
        assert all(float(text) for text in texts)
    ends = sorted((box.x0, box.x1) for box in (label.get_window_extent() for label in ax.get_xticklabels()))
    assert all(before[1] < after[0] for before, after in itertools.pairwise(ends))
    assert (ax.get_xlim(), ax.get_xscale()) == (ax.get_ylim(), ax.get_yscale()) == ((0.93, 1.12), "log")


def test_a_bar_that_a_logarithmic_axis_cannot_show_in_full_is_told():
    told = "A bar that goes to the lower edge of its panel: the standard deviation is larger than the mean."
    values = np.array([[0.1, 0.2, 2.7], [0.5, 0.6, 0.7]] * 2 + [[0.3, 0.4, 0.5]])
    assert told in panel_of(rows_of({"rff": values})).notes
    assert told not in panel_of(rows_of({"rff": falling(1.0)})).notes


def test_the_strip_of_a_broken_axis_shows_nothing_of_the_panel():
    # a margin of the strip would reach into the panel: the outlier ends just below the others
    values = {"rff": falling(1.0), "orf": falling(0.9), "gq": falling(0.8)}
    values["gq"] = values["gq"] * np.array([0.9, 1e-2, 1e-4, 1e-5, 1e-6])[:, None]
    main, strip = panel_of(rows_of(values)).figure.axes
    assert strip.get_ylim()[1] <= main.get_ylim()[0]


def falling(factor, n=3):
    """Errors of five sizes and n repeats that fall with the size."""
    noise = np.exp(0.01 * np.random.default_rng(int(1000 * factor)).standard_normal((5, n)))
    return factor / np.sqrt(report_rows.SIZES)[:, None] * noise


def test_a_method_far_from_all_others_has_a_strip_of_its_own():
    values = {"rff": falling(1.0), "orf": falling(0.5), "lsrff": 1e5 / falling(1.0)}
    picture = panel_of(rows_of(values))
    strip, main = picture.figure.axes
    assert main.get_ylim()[1] < 2.0
    # all of the outlier, and nothing else, is in the strip, with its error bars
    (line,) = strip.containers
    np.testing.assert_allclose(line.lines[0].get_ydata(), values["lsrff"].mean(axis=1))
    assert (whiskers(line) > strip.get_ylim()[0]).all()
    assert (whiskers(line) < strip.get_ylim()[1]).all()
    assert strip.get_xlim() == main.get_xlim()
    low, high = main.get_ylim()
    for container in main.containers[:2]:
        assert (whiskers(container) > low).all()
        assert (whiskers(container) < high).all()
    assert "Axis broken for LS-RFF: error (EEG)." in picture.notes
    assert_fit_to_print(picture.figure)


def test_an_outlier_below_has_its_strip_below_and_only_what_the_panel_cuts_off():
    values = {"rff": falling(1.0), "orf": falling(0.9), "gq": falling(0.8)}
    values["gq"][2:] /= 1e4
    figure = panel_of(rows_of(values)).figure
    main, strip = figure.axes
    (line,) = strip.containers
    assert line.lines[0].get_ydata() == pytest.approx(values["gq"][2:].mean(axis=1))
    assert strip.get_xlabel() == "number of features s"
    assert main.get_xlabel() == ""
    assert strip.get_ylim()[1] <= main.get_ylim()[0]
    assert_fit_to_print(figure)


def test_a_method_that_is_not_far_breaks_no_axis():
    picture = panel_of(rows_of({"rff": falling(1.0), "orf": falling(0.5), "lsrff": falling(5.0)}))
    assert len(picture.figure.axes) == 1
    assert not [note for note in picture.notes if "broken" in note]


# --- against a method -------------------------------------------------------------------------------------------------


def test_differences_are_paired_by_repeat():
    rng = np.random.default_rng(3)
    base = 80 + 5 * rng.standard_normal((5, 4))
    values = {"rff": base, "orf": base + 0.5 + 0.1 * rng.standard_normal((5, 4))}
    picture = panel_of(
        rows_of(values, "accuracy_pct"), metric="accuracy_pct", learner="ridge", split="test", against="rff",
        scale="linear",
    )  # fmt: skip
    (ax,) = picture.figure.axes
    (container,) = ax.containers
    gap = values["orf"] - values["rff"]
    np.testing.assert_allclose(container.lines[0].get_ydata(), gap.mean(axis=1), rtol=1e-10)
    mean, spread = gap.mean(axis=1), gap.std(axis=1, ddof=1)
    np.testing.assert_allclose(whiskers(container), np.stack([mean - spread, mean + spread], axis=1), rtol=1e-10)
    # the baseline is the line at zero
    assert [line.get_ydata() for line in ax.lines if line not in container.lines][-1] == [0.0, 0.0]
    assert [text.get_text() for text in picture.figure.legends[0].get_texts()] == ["RFF", "ORF"]
    assert "differences in points: mean and standard deviation over the repeats" in picture.notes[0]
    assert "ratios" not in picture.notes[0]


def test_ratios_of_errors_are_geometric_means():
    values = {"rff": falling(1.0, 4), "orf": falling(0.25, 4)}
    picture = panel_of(rows_of(values), against="rff")
    (container,) = picture.figure.axes[0].containers
    logarithm = np.log(values["orf"] / values["rff"])
    np.testing.assert_allclose(container.lines[0].get_ydata(), np.exp(logarithm.mean(axis=1)), rtol=1e-10)
    half = logarithm.std(axis=1, ddof=1)
    ends = np.exp(logarithm.mean(axis=1)[:, None] + np.stack([-half, half], axis=1))
    np.testing.assert_allclose(whiskers(container), ends, rtol=1e-10)
    assert "geometric mean" in picture.notes[0]


def test_only_shared_repeats_are_compared_and_nothing_is_compared_with_nothing():
    rows = rows_of({"rff": falling(1.0, 2), "orf": falling(0.5, 4)})
    assert set(compared(tidy.frame(rows), "rff")["n"]) == {2}
    assert not len(compared(tidy.frame([]), "rff"))
    failed = report_rows.changed(rows, lambda row: row["method"] == "rff", status="failed", value=None)
    assert not len(compared(tidy.frame(failed), "rff"))
    picture = panel_of(failed, against="rff")
    assert picture.figure.axes == []
    assert "Not drawn: EEG (nothing to compare with RFF)." in picture.notes
    with pytest.raises(ValueError, match="positive"):
        compared(tidy.frame(report_rows.changed(rows, lambda row: True, value=0.0)), "rff")


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


# --- other axes and rows ----------------------------------------------------------------------------------------------


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
    "rows": {"by": "kernel", "titles": {"gaussian": "Gaussian kernel", "laplacian": "Laplacian kernel", "cauchy": "C"}},
    "panels": [{"metric": "kernel_bias", "label": "bias", "scale": "linear"}],
}  # fmt: skip


def test_what_runs_along_the_axis_and_what_the_rows_are_may_be_something_else():
    picture = curves.draw(report_rows.context_of(walked_rows()), WALKED)
    assert_fit_to_print(picture.figure)
    assert len(picture.figure.axes) == 2
    ax = picture.figure.axes[1]
    assert ax.get_xscale() == "linear"
    assert ax.get_xlabel() == "distance"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.5", "1", "2"]
    one, other = (container.lines[0] for container in ax.containers)
    np.testing.assert_allclose(one.get_ydata(), [0.51, 1.01, 2.01])
    np.testing.assert_allclose(other.get_ydata(), [1.01, 2.01, 4.01])
    # beside each other, on both sides of where they belong
    np.testing.assert_allclose((one.get_xdata() + other.get_xdata()) / 2, [0.5, 1.0, 2.0])
    assert (one.get_xdata() < other.get_xdata()).all()
    text = all_text(picture.figure)
    assert "(a) Gaussian kernel" in text
    assert "(b) Laplacian kernel" in text
    assert "Not drawn: C (not run)." in text


@pytest.mark.parametrize("there", [3, 2, 1])
def test_rows_of_panels_may_stand_abreast(there):
    """Two side by side, what is not run left out before: the last one of three leaves a place free, and what is lowest
    in its column names the axis.
    """
    kernels = ["gaussian", "laplacian", "arccos0"][:there]
    rows = [row | {"kernel": kernel} for kernel in kernels for row in walked_rows() if row["kernel"] == "gaussian"]
    titles = {"cauchy": "Cauchy", **{kernel: kernel for kernel in kernels}}
    spec = WALKED | {"width": "page", "abreast": 2, "rows": {"by": "kernel", "titles": titles}}
    figure = curves.draw(report_rows.context_of(rows), spec).figure
    assert_fit_to_print(figure)
    places = boxes(figure)
    assert len(places) == there
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "distance", "distance"][-there:]
    named = [text.get_text() for text in figure.texts][:there]
    assert named == [f"({letter}) {kernel}" for letter, kernel in zip("bcd", kernels, strict=False)]
    if there > 1:
        assert places[0][1] == pytest.approx(places[1][1])
        assert places[0][0] + places[0][2] < places[1][0]
    if there > 2:
        assert places[2][0] == pytest.approx(places[0][0])
        assert places[2][1] + places[2][3] < places[0][1]


def test_a_panel_that_would_mix_rows_is_an_error():
    with pytest.raises(ValueError, match=r"more than one value of rff at distance 0\.5 in a panel"):
        curves.draw(report_rows.context_of(walked_rows()), {k: v for k, v in WALKED.items() if k != "rows"})


# --- lines that are no measurements -----------------------------------------------------------------------------------


TWO_CLASSES = {"eeg": {"label": "EEG", "labels": {"0": -1, "1": 1}, "published_as": {"survey": "EEG"}}}


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
    assert majority_pct(facts, "eeg", {"eeg": {"labels": {"a": 0, "b": 1, "c": 2}}}) is None
    assert majority_pct(facts, "eeg", {"eeg": {"labels": {"a": 0, "b": 1, "rest": "drop"}}}) == pytest.approx(80.0)
    assert majority_pct(facts, "eeg", {"eeg": {"target": "binary"}}) == pytest.approx(80.0)
    of_other = {"eeg": {"features_of": {"task": "base"}}, "base": {"target": "regression"}}
    assert majority_pct(facts, "eeg", of_other) is None
    assert majority_pct(facts[:0], "eeg", TWO_CLASSES) is None


@pytest.mark.parametrize(("chance", "drawn"), [(0.68, True), (0.5, False)])
def test_the_more_frequent_class_is_a_line_where_there_is_room(chance, drawn):
    rows = [row for row in report_rows.made_rows(tasks=["eeg"]) if row["metric"] == "accuracy_pct"]
    spec = report_rows.spec_of("figure-10-text") | {"datasets": ["eeg"]}
    context = report_rows.context_of([*rows, fact(chance)], tasks=TWO_CLASSES)
    picture = curves.draw(context, spec)
    share = 80.0 if drawn else 50.0
    at = [line.get_ydata()[0] for line in picture.figure.axes[0].lines if list(line.get_xdata()) == [0, 1]]
    assert at == (pytest.approx([share]) if drawn else [])
    labels = [text.get_text() for text in picture.figure.legends[0].get_texts()]
    assert ("more frequent class" in labels) == drawn
    where = "dotted where the axis reaches it" if drawn else "beyond the axes"
    assert f"Always naming the more frequent class: EEG {share:.1f} %; {where}." in picture.notes
    assert_fit_to_print(picture.figure)


def need(excess, n=64, method="lsrff", variant="whole", sizes=(8, 16, 32, 64)):
    """Rows of one requirement: by how much the risk exceeds the tolerated one, an array (repeats, sizes)."""
    shared = {
        "origin": "measured", "run": "r", "experiment": "slsrff-required-features", "paper": "slsrff",
        "protocol": "text", "dataset": f"circle-exponential-n{n}", "kernel": "circle-exponential", "n_train": n,
        "method": method, "variant": variant, "status": "ok", "settings": {"tolerance": 0.01, "draws": 3},
    }  # fmt: skip
    rows = []
    for repeat, own in enumerate(excess):
        exact = 0.8 + 0.05 * repeat
        rows.append(shared | {"metric": "risk_exact", "repeat": repeat, "value": exact})
        rows += [
            shared | {"metric": "risk", "repeat": repeat, "n_features": s, "n_features_label": str(s), "value": v}
            for s, v in zip(sizes, 1.01 * exact + np.array(own), strict=True)
        ]
    return rows


def five_repeats(deviation=0.01):
    """Five values around zero, and the half width of their interval: Student's t at 97.5 % is 2.776 for them."""
    pattern = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]) / np.sqrt(2.5)
    return deviation * pattern, 2.7764451051977987 / np.sqrt(5) * deviation


def test_the_interval_of_a_requirement_is_what_the_repeats_do_not_rule_out():
    pattern, half = five_repeats()
    means = np.array([1.1 * half, 0.5 * half, -0.5 * half, -1.1 * half])
    (found,) = features_needed(tidy.frame(need(pattern[:, None] + means))).to_dict("records")
    assert (found["lower"], found["s"], found["upper"]) == (16.0, 32.0, 64.0)
    # without a size that is surely enough the interval is open, under five repeats there is none
    (found,) = features_needed(tidy.frame(need(pattern[:, None] + means + 0.2 * half))).to_dict("records")
    assert (found["lower"], found["s"], found["upper"]) == (16.0, 32.0, np.inf)
    (found,) = features_needed(tidy.frame(need(pattern[:4, None] * 0 + means))).to_dict("records")
    assert found["s"] == 32.0
    assert np.isnan([found["lower"], found["upper"]]).all()
    (found,) = features_needed(tidy.frame(need(pattern[:, None] + np.full(4, 2 * half)))).to_dict("records")
    assert np.isnan(found["s"])
    assert (found["lower"], found["upper"]) == (np.inf, np.inf)


def test_the_figure_of_requirements_has_intervals_and_bounds_through_the_first_point():
    pattern, half = five_repeats()
    pattern = pattern[:, None]
    means = half * np.array([1.1, 0.5, -0.5, -1.1])
    rows = need(pattern + means) + need(pattern + np.roll(means, 0), n=256)
    rows += need(pattern + means, variant="")
    spec = report_rows.spec_of("figure-theory-required-text", "slsrff")
    picture = required.draw(report_rows.context_of(rows), spec)
    (ax,) = picture.figure.axes
    segments = [segment[:, 1].tolist() for collection in ax.collections for segment in collection.get_segments()]
    assert segments == [[16.0, 64.0]] * 3
    (bound,) = [line for line in ax.lines if line.get_alpha() is not None]
    n, s = bound.get_xdata(), bound.get_ydata()
    assert (n[0], n[-1], s[0]) == (64.0, 256.0, 32.0)
    assert s[-1] / s[0] == pytest.approx((np.log(256) / np.log(64)) ** 2)
    assert BOUNDS["log^2 n"](np.e) == pytest.approx(1.0)
    low, high = ax.get_ylim()
    assert low < 16.0
    assert s.max() < high
    assert "scaled to pass through the first point of its method (whole)" in " ".join(picture.notes)
    assert_fit_to_print(picture.figure)


def test_where_all_points_are_machine_busy_it_says_all():
    def rounds(dataset, method, size, busy):
        return [
            {
                "origin": "measured", "dataset": dataset, "method": method, "n_features_label": size, "axis": "round",
                "at": at, "metric": "time_feature_s", "status": "ok", "settings": {"machine_busy": busy and at == 1},
            }
            for at in range(3)
        ]  # fmt: skip

    def told(*cells):
        return machine_busy_where(
            tidy.frame([row for cell in cells for row in rounds("eeg", *cell)]), report_rows.METHODS
        )

    grid = list(itertools.product(("rff", "orf"), ("2d", "4d", "8d")))
    assert told(*((*cell, True) for cell in grid)) == "all"
    assert told(*((*cell, False) for cell in grid)) == ""
    assert told(*((*cell, cell[0] == "orf") for cell in grid)) == "ORF at all sizes"
    assert told(*((*cell, cell[1] != "4d") for cell in grid)) == "RFF at 2d, 8d; ORF at 2d, 8d"
