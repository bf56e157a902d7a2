"""What an axis shows: limits that cut nothing, ticks that can be read, and where it is broken.

A method that is far from all others would press them into a line: ``outlier`` says when the axis has to be broken for
it. On a logarithmic axis all is reckoned in powers of ten.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

#: An axis is broken where it would be more than so many times as long as without one of its lines.
FLATTENED = 3.0

#: A line that is no measurement may make an axis at most so many times as long: what is measured keeps half of it.
REACH = 2.0

#: Share of its range that an axis has beyond it at either end; a strip of a broken axis has more.
MARGIN, STRIP_MARGIN = 0.06, 0.18

#: Ticks of an axis, of a strip and, where labels stand side by side in a narrow panel, of either axis, at most.
TICKS, STRIP_TICKS, FEW_TICKS = 6, 3, 4

#: What stands between two powers of ten on a logarithmic axis, by choice: the first that does not crowd it.
BETWEEN_DECADES = ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))

#: The smallest size that an axis tells from zero: far below it a number has lost its digits.
SMALLEST = 1e-300


class Span(NamedTuple):
    """The smallest and the largest of some values."""

    low: float
    high: float


def span_of(values: Iterable[float], *, log: bool) -> Span | None:
    """The span of the values that an axis can show (on a logarithmic one: from ``SMALLEST`` on), None without any."""
    values = np.asarray(list(values), dtype=float)
    values = values[np.isfinite(values) & ((values >= SMALLEST) | (not log))]
    return Span(float(values.min()), float(values.max())) if len(values) else None


def length(span: Span, *, log: bool) -> float:
    """How long an axis has to be for a span: the difference, or in powers of ten."""
    return float(np.log10(span.high / span.low)) if log else span.high - span.low


def outlier(spans: dict[Hashable, Span], *, log: bool, always: Iterable[float] = ()) -> Hashable | None:
    """The line without which the axis of three or more would be ``FLATTENED`` times shorter, where there is one.

    Parameters
    ----------
    spans : what every line covers, its error bars included
    always : values that the axis shows whatever the lines are

    Examples
    --------
    >>> outlier({"a": Span(1, 2), "b": Span(1.5, 3), "c": Span(100, 2000)}, log=True)
    'c'
    >>> outlier({"a": Span(1, 2), "b": Span(1.5, 3), "c": Span(2, 4)}, log=True) is None
    True
    """
    fixed = [Span(value, value) for value in always]
    if len(spans) < 3:
        return None
    whole = length(united([*spans.values(), *fixed]), log=log)
    for line in spans:
        rest = united([*(span for other, span in spans.items() if other != line), *fixed])
        if 0 < FLATTENED * length(rest, log=log) < whole:
            return line
    return None


def united(spans: Iterable[Span]) -> Span:
    """The span of spans."""
    lows, highs = zip(*spans, strict=True)
    return Span(min(lows), max(highs))


def beyond(values, limits: Span, side: str) -> np.ndarray:
    """Which values the limits cut off "above" or "below", as truth values: what a strip of a broken axis shows."""
    values = np.asarray(values, dtype=float)
    return values > limits.high if side == "above" else values < limits.low


def limits(span: Span, *, log: bool, margin: float = MARGIN) -> Span:
    """A span with a margin at either end; one value alone gets a tenth of itself, or of a power of ten."""
    if log:
        low, high = np.log10(span.low), np.log10(span.high)
        own = margin * (high - low) if high > low else 0.1
        return Span(float(10.0 ** (low - own)), float(10.0 ** (high + own)))
    size = max(abs(span.low), abs(span.high))
    apart = span.high - span.low
    own = margin * apart if apart >= SMALLEST else 0.1 * (size if size >= SMALLEST else 1.0)
    return Span(span.low - own, span.high + own)


def reaches(span: Span, value: float, *, log: bool) -> bool:
    """Whether an axis that shows a span has room for a value beside it, by ``REACH``."""
    return length(united([span, Span(value, value)]), log=log) <= REACH * length(span, log=log)


def set_upright(ax, own: Span, *, log: bool) -> None:
    """Scale, limits and ticks of the upright axis."""
    _set(ax, "y", own, ticks_of(own, TICKS, log=log), log=log)


def set_both(ax, own: Span, *, log: bool) -> None:
    """Scale, limits and ticks of both axes of a narrow panel, which are alike."""
    for name in ("x", "y"):
        _set(ax, name, own, ticks_of(own, FEW_TICKS, log=log), log=log)


def set_strip(ax, own: Span, *, log: bool) -> None:
    """As ``set_upright`` for a strip of a broken axis."""
    _set(ax, "y", own, ticks_of(own, STRIP_TICKS, log=log), log=log)


def _set(ax, name: str, own: Span, ticks: np.ndarray, *, log: bool) -> None:
    """Scale, limits and ticks of the axis "x" or "y"."""
    axis = {"x": ax.xaxis, "y": ax.yaxis}[name]
    ax.set(**{f"{name}scale": "log" if log else "linear"})
    ax.set(**{f"{name}lim": own})
    axis.set_major_locator(FixedLocator(ticks))
    if log:
        axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
        axis.set_minor_locator(NullLocator())


def ticks_of(own: Span, most: int, *, log: bool) -> np.ndarray:
    """Ticks within limits: two at least, for one label alone gives no scale, and hardly more than ``most``.

    On a logarithmic axis they stand at powers of ten and between them as far as there is room; where there are less
    than two of these, and on a linear one, they are evenly spaced.
    """
    if log:
        powers = 10.0 ** np.arange(np.floor(np.log10(own.low)) - 1, np.ceil(np.log10(own.high)) + 2)
        for between in BETWEEN_DECADES:
            ticks = _within(np.outer(powers, between).ravel(), own)
            if len(ticks) <= most:
                break
        else:
            ticks = ticks[:: -(-len(ticks) // most)]
        if len(ticks) >= 2:
            return ticks
    for n in range(most - 1, 3 * most):
        ticks = _within(MaxNLocator(n, min_n_ticks=2).tick_values(*own), own)
        if len(ticks) >= 2:
            break
    return ticks


def _within(ticks: np.ndarray, own: Span) -> np.ndarray:
    return ticks[(ticks >= own.low) & (ticks <= own.high)]


def plain(value: float) -> str:
    """A number without superscripts, which nobody can read at the size of a tick.

    >>> [plain(value) for value in (0.001, 0.05, 1, 2000, 1e-5, 5e7)]
    ['0.001', '0.05', '1', '2000', '1e-5', '5e7']
    """
    exponent = int(np.floor(np.log10(abs(value)) + 1e-9)) if value else 0
    if -3 <= exponent <= 3:
        return f"{value:g}"
    return f"{value / 10.0**exponent:g}e{exponent}"


def whisker_ends(lower, mean, limit: float, *, log: bool) -> np.ndarray:
    """Where error bars begin: at their lower ends; on a logarithmic axis, where zero is nowhere, at its own lower limit
    if they reach zero, and nowhere above the mean."""
    lower = np.asarray(lower, dtype=float)
    return np.where(lower > 0, lower, np.minimum(limit, mean)) if log else lower
