"""Checks of a drawn figure: its texts, and whether it can be printed as it is."""

import itertools

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from rfstudy.report.panels import WIDTHS


def texts_of(figure):
    """Visible texts of a figure with their boxes in pixels and their axes (None for the figure's own).
    Tick labels outside of the range of an axis are not drawn."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    found = [(text, None) for text in figure.texts]
    found += [(text, None) for legend in figure.legends for text in legend.get_texts()]
    for ax in figure.axes:
        found += [(text, ax) for text in ax.get_children() if isinstance(text, Text)]
        for axis in (ax.xaxis, ax.yaxis) if ax.axison else ():
            found.append((axis.label, ax))
            low, high = sorted(axis.get_view_interval())
            ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            found += [(tick.label1, ax) for tick in ticks if tick.label1.get_visible()]
    renderer = canvas.get_renderer()
    return [(t.get_text(), t.get_window_extent(renderer), ax) for t, ax in found if t.get_text().strip()]


def overlap(one, other) -> bool:
    """Return whether boxes share more than a hundredth of an inch: they contain descents that are rarely used."""
    return min(one.x1, other.x1) - max(one.x0, other.x0) > 2 and min(one.y1, other.y1) - max(one.y0, other.y0) > 2


def assert_fit_to_print(figure):
    """No text runs out of the figure, over another text or into a panel that is not its own, and none is too small."""
    assert figure.get_size_inches()[0] in WIDTHS.values()
    assert figure.dpi == 200
    texts = texts_of(figure)
    assert all(text.get_fontsize() >= 6.0 for text in figure.findobj(Text) if text.get_text().strip())
    width, height = figure.get_size_inches() * figure.dpi
    for text, box, own in texts:
        assert min(box.x0, box.y0, width - box.x1, height - box.y1) >= -1, text
        assert not [ax for ax in figure.axes if ax is not own and overlap(box, ax.bbox)], text
    for (one, a, _), (other, b, _) in itertools.combinations(texts, 2):
        assert not overlap(a, b), (one, other)
