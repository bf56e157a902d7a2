"""One plot style per method throughout the study: label, colour, marker and line style.

Tables need the labels as figures do, but no matplotlib: this module does not import it.
"""

import itertools
import zlib
from typing import NamedTuple

#: Plot styles of methods without an entry; the id decides.
SPARE_COLOURS = ("#4477AA", "#AA3377", "#228833", "#BB5566", "#66CCEE", "#888888")
SPARE_MARKERS = ("h", "p", "d", "H", ">", "8")
SPARE_LINESTYLES = ("dotted", "dashdot", "dashed")


class PlotStyle(NamedTuple):
    """Label, colour, marker and line style (as matplotlib takes it) of a method; ``is_variant`` marks variants, and
    ``is_highlighted`` the methods of a user among shipped ones.
    """

    label: str
    colour: str
    marker: str
    linestyle: str | tuple
    is_variant: bool = False
    is_highlighted: bool = False


def plot_style(method: str, styles: dict, variant: str = "") -> PlotStyle:
    """Return the plot style of a method.

    ``styles`` is the parsed ``methods.yaml``. A method without an entry gets a style that depends on its id only and
    that no entry uses. A variant (a differently configured entry of the same method) keeps colour and marker. It is
    dotted and half filled, unless the entry gives it a style under ``variants``.
    """
    entry = styles.get(method, {})
    if entry:
        line, is_highlighted = _linestyle(entry.get("linestyle", "solid")), entry.get("highlighted", False)
        base = PlotStyle(entry["label"], entry["colour"], entry["marker"], line, is_highlighted=is_highlighted)
    else:
        taken = {(entry["colour"], entry["marker"]) for entry in styles.values()}
        every = itertools.product(SPARE_COLOURS, SPARE_MARKERS, SPARE_LINESTYLES)
        spare = [each for each in every if each[:2] not in taken]
        base = PlotStyle(method, *spare[zlib.crc32(method.encode()) % len(spare)])
    if not variant:
        return base
    own = {"label": f"{base.label} ({variant})", "linestyle": "dotted"} | entry.get("variants", {}).get(variant, {})
    return base._replace(**own | {"linestyle": _linestyle(own["linestyle"])}, is_variant=True)


def _linestyle(style: str | list) -> str | tuple:
    """Return a line style as matplotlib takes it: its name, or a pattern of dashes."""
    return style if isinstance(style, str) else (0, style)
