"""Time per row against the number of columns: where a fast transform overtakes the product with a dense matrix.

The survey compares its maps by MATLAB times at small d, where nothing is gained. Here one panel a kernel shows seconds
per row at s = d, and the panel below it the same over the time of a dense reference: a structured map pays where its
line falls below 1, and a ring marks the place.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.looks import Look, look
from rfstudy.report.style import TEXT_WIDTH, style

#: Inches: margins, the gap between the panels side by side, the heights from top to bottom.
LEFT, RIGHT, BETWEEN = 0.42, 0.06, 0.44
TITLE, TIMES, GAP, RATIOS, AXIS, NOTE = 0.22, 1.95, 0.08, 0.95, 0.36, 0.28

#: How a transformer of scikit-learn is drawn; its line styles tell two of one panel apart.
PEER = Look("", "#777777", "x", "dashed")


def draw(frame, spec: dict, methods: dict, datasets: dict) -> Figure:
    """The figure of one specification of kind "crossover".

    Parameters
    ----------
    frame : tidy rows with the metric ``time_per_row_s``; a row without a method is scikit-learn's, named by its variant
    spec : ``panels``, one a kernel: ``kernel``, ``label``, ``reference`` (the method that the others are held against)
        and ``methods`` (their order)
    methods, datasets : the parsed registries

    Returns
    -------
    Figure as wide as a text block
    """
    frame = select(frame, metric="time_per_row_s", status="ok")
    n_panels = len(spec["panels"])
    height = TITLE + TIMES + GAP + RATIOS + AXIS + NOTE
    width = (TEXT_WIDTH - LEFT - RIGHT - (n_panels - 1) * BETWEEN) / n_panels
    with style():
        figure = Figure(figsize=(TEXT_WIDTH, height))
        remarks = []
        for position, panel in enumerate(spec["panels"]):
            left = (LEFT + position * (width + BETWEEN)) / TEXT_WIDTH
            box = {"times": (AXIS + NOTE + RATIOS + GAP, TIMES), "ratios": (AXIS + NOTE, RATIOS)}
            axes = {
                name: figure.add_axes((left, bottom / height, width / TEXT_WIDTH, tall / height))
                for name, (bottom, tall) in box.items()
            }
            remarks.append(_panel(axes, select(frame, kernel=panel["kernel"]), panel, methods, first=position == 0))
        threads = sorted({s["threads"] for s in settings_of(frame) if "threads" in s})
        remarks.append(f"Threads: {', '.join(map(str, threads))}." if threads else "")
        note = "\n".join([remarks[0], " ".join(filter(None, remarks[1:]))])
        figure.text(0.06 / TEXT_WIDTH, 0.05 / height, note, fontsize=6.5, va="bottom", linespacing=1.2)
    return figure


def _panel(axes: dict, rows, panel: dict, methods: dict, *, first: bool) -> str:
    """Times above, ratios to the reference below; returns what is said about the crossings."""
    reference = _series(rows, panel["reference"], "")
    name = look(panel["reference"], methods).label
    places = {}
    for method, variant in _lines(rows, panel["methods"]):
        each = look(method, methods) if method else PEER._replace(label=f"{variant} (scikit-learn)")
        dimensions, seconds = _series(rows, method, variant)
        drawn = {
            "color": each.colour,
            "marker": each.marker,
            "linestyle": each.linestyle,
            "markeredgewidth": 0.5 if method else 0.8,
            "zorder": 3 if method == panel["reference"] else 2,
        }
        axes["times"].plot(dimensions, 1e6 * seconds, label=each.label, **drawn)
        axes["ratios"].plot(dimensions, seconds / reference[1], **drawn)
        if method in ("", panel["reference"]):
            continue
        places[each.label] = crossing(dimensions, seconds / reference[1])
        if places[each.label]:
            ring = {"marker": "o", "markersize": 6.5, "markerfacecolor": "none", "zorder": 4}
            axes["ratios"].plot(places[each.label], 1.0, color=each.colour, linestyle="none", **ring)
    _finish(axes, panel, reference[0], name, first)
    return f"{panel['label']}, faster than {name} from d = about {_told(places)}."


def _told(places: dict[str, float | None]) -> str:
    """The crossings in words, to two digits: measured times give no more."""
    return ", ".join(f"{float(f'{d:.2g}'):.0f} ({name})" if d else f"nowhere ({name})" for name, d in places.items())


def crossing(dimensions: np.ndarray, ratios: np.ndarray) -> float | None:
    """Where a ratio of times falls below 1 for good: d on the straight line, in logarithms, between two measurements.

    Parameters
    ----------
    dimensions, ratios : ndarray of shape (m,), the dimensions rising

    Returns
    -------
    the first dimension if all ratios are below 1; None if the last one is not

    Examples
    --------
    >>> round(crossing(np.array([16.0, 64.0, 256.0]), np.array([4.0, 2.0, 0.5])))
    128
    """
    slower = np.flatnonzero(ratios >= 1.0)
    if not len(slower):
        return float(dimensions[0])
    last = slower[-1]
    if last == len(ratios) - 1:
        return None
    (low, high), (above, below) = np.log(dimensions[last : last + 2]), np.log(ratios[last : last + 2])
    return float(np.exp(low + (high - low) * above / (above - below)))


def _lines(rows, listed: list[str]) -> list[tuple[str, str]]:
    """The listed methods that were measured, then those of scikit-learn."""
    measured = set(rows["method"])
    peers = sorted(set(select(rows, method="")["variant"]))
    return [(method, "") for method in listed if method in measured] + [("", peer) for peer in peers]


def _series(rows, method: str, variant: str) -> tuple[np.ndarray, np.ndarray]:
    """Dimensions, rising, and seconds per row."""
    own = select(rows, method=method, variant=variant).sort_values("d")
    return own["d"].to_numpy(dtype=float), own["value"].to_numpy()


def _finish(axes: dict, panel: dict, dimensions: np.ndarray, reference: str, first: bool) -> None:
    for ax in axes.values():
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xticks(dimensions, [f"{d:.0f}" for d in dimensions])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
    axes["times"].tick_params(labelbottom=False)
    axes["times"].set_title(panel["label"], pad=3)
    axes["times"].legend(loc="lower right", fontsize=7, borderpad=0.2, labelspacing=0.25, handlelength=2.6)
    axes["ratios"].yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axes["ratios"].axhline(1.0, color="black", linewidth=0.6, zorder=1)
    axes["ratios"].set_xlabel("columns d = number of features s")
    axes["ratios"].set_ylabel(f"over {reference}")
    if first:
        axes["times"].set_ylabel("microseconds per row")
