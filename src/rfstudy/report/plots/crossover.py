"""Time per row against the number of columns: where a fast transform overtakes the product with a dense matrix.

The survey compares its maps by MATLAB times at small d, where nothing is gained. Here one panel a kernel shows seconds
per row at s = d, and the panel below it the same over the time of a dense reference: a structured map pays where its
line falls below 1, and a ring marks the place.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from rfstudy.report.aggregate import select
from rfstudy.report.comparisons import threads_of
from rfstudy.report.context import Context
from rfstudy.report.looks import Look, look
from rfstudy.report.style import TEXT_WIDTH, Picture, style
from rfstudy.report.times import by_rounds, contended, ratio

#: The keys of an entry of this kind beside those of all.
SCHEMA = {
    "properties": {
        "panels": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["kernel", "label", "reference", "methods"],
                "properties": {
                    "kernel": {"$ref": "#/$defs/text"},
                    "label": {"$ref": "#/$defs/text"},
                    "reference": {"$ref": "#/$defs/text"},
                    "methods": {"$ref": "#/$defs/names"},
                },
            },
        }
    },
    "required": ["panels"],
}


#: Inches: margins, the gap between the panels side by side, the heights from top to bottom.
LEFT, RIGHT, BETWEEN = 0.42, 0.06, 0.44
TITLE, TIMES, GAP, RATIOS, AXIS, NOTE = 0.22, 1.95, 0.08, 0.95, 0.36, 0.28

#: What is drawn of the rounds: a line through the medians, a band between the other two.
QUARTILES = (0.25, 0.5, 0.75)

#: How a transformer of scikit-learn is drawn; its line styles tell two of one panel apart.
PEER = Look("", "#777777", "x", "dashed")


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "crossover".

    Parameters
    ----------
    context : its rows are tidy rows by rounds of the metric ``time_transform_s``, the time of ``n_train`` rows; a row
        without a method is scikit-learn's, named by its variant
    spec : ``panels``, one a kernel: ``kernel``, ``label``, ``reference`` (the method that the others are held against)
        and ``methods`` (their order)

    Returns
    -------
    Picture as wide as a text block
    """
    frame = select(by_rounds(context.rows), metric="time_transform_s", status="ok")
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
            remarks.append(
                _panel(axes, select(frame, kernel=panel["kernel"]), panel, context.looks, first=position == 0)
            )
        remarks.append(threads_of(frame))
        if contended(frame).any():
            remarks.append("Contended: other work ran beside it.")
        note = "\n".join([remarks[0], " ".join(filter(None, remarks[1:]))])
        figure.text(0.06 / TEXT_WIDTH, 0.05 / height, note, fontsize=6.5, va="bottom", linespacing=1.2)
    return Picture(figure, list(filter(None, remarks)))


def _panel(axes: dict, rows, panel: dict, looks: dict, *, first: bool) -> str:
    """Times above, ratios to the reference below; returns what is said about the crossings."""
    reference = _cells(rows, panel["reference"], "")
    name = look(panel["reference"], looks).label
    places = {}
    for method, variant in _lines(rows, panel["methods"]):
        each = look(method, looks) if method else PEER._replace(label=f"{variant} (scikit-learn)")
        cells = _cells(rows, method, variant)
        dimensions = np.array([d for d in cells if d in reference])
        seconds = [(cells[d]["value"] / cells[d]["n_train"]).quantile(QUARTILES).to_numpy(float) for d in dimensions]
        ratios = [ratio(cells[d], reference[d]) for d in dimensions]
        drawn = {
            "color": each.colour,
            "marker": each.marker,
            "linestyle": each.linestyle,
            "markeredgewidth": 0.5 if method else 0.8,
            "zorder": 3 if method == panel["reference"] else 2,
        }
        _line(axes["times"], dimensions, 1e6 * np.array(seconds), label=each.label, **drawn)
        _line(axes["ratios"], dimensions, np.array([(r.lower, r.value, r.upper) for r in ratios]), **drawn)
        if method in ("", panel["reference"]):
            continue
        place = crossing(dimensions, np.array([r.value for r in ratios]))
        beside = np.searchsorted(dimensions, place or np.inf)
        noisy = any(r.too_noisy for r in ratios[max(0, beside - 1) : beside + 1])
        places[each.label] = "too noisy to tell" if noisy else place or "nowhere"
        if place and not noisy:
            ring = {"marker": "o", "markersize": 6.5, "markerfacecolor": "none", "zorder": 4}
            axes["ratios"].plot(place, 1.0, color=each.colour, linestyle="none", **ring)
    _finish(axes, panel, np.array(list(reference)), name, first)
    return f"{panel['label']}, faster than {name}: {_told(places)}."


def _line(ax, dimensions: np.ndarray, values: np.ndarray, **drawn) -> None:
    """A line through medians, with a band between the quartiles; values of shape (m, 3)."""
    lower, median, upper = values.T
    ax.fill_between(dimensions, lower, upper, color=drawn["color"], alpha=0.2, linewidth=0)
    ax.plot(dimensions, median, **drawn)


def _told(places: dict[str, float | str]) -> str:
    """The crossings in words, to two digits: measured times give no more. Words in place of one stand as they are."""
    found = [f"{float(f'{place:.2g}'):.0f} ({label})" for label, place in places.items() if not isinstance(place, str)]
    parts = [f"from about d = {', '.join(found)}"] if found else []
    for word in ("nowhere", "too noisy to tell"):
        labels = [label for label, place in places.items() if place == word]
        parts += [f"{word} ({', '.join(labels)})"] if labels else []
    return "; ".join(parts)


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


def _cells(rows, method: str, variant: str) -> dict:
    """The rounds of a line by dimension, rising."""
    return {float(d): cell for d, cell in select(rows, method=method, variant=variant).groupby("d", sort=True)}


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
    axes["times"].legend(loc="upper left", fontsize=7, borderpad=0.2, labelspacing=0.25, handlelength=2.6)
    axes["ratios"].yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axes["ratios"].axhline(1.0, color="black", linewidth=0.6, zorder=1)
    axes["ratios"].set_xlabel("columns d = number of features s")
    axes["ratios"].set_ylabel(f"over {reference}")
    if first:
        axes["times"].set_ylabel("microseconds per row")
