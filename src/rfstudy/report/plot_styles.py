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
    """Label, colour, marker and line style of a method, as ``methods.yaml`` gives them; ``is_variant`` marks variants,
    and ``is_highlighted`` the methods of a user among shipped ones.
    """

    label: str
    colour: str
    marker: str
    linestyle: str | list | tuple = "solid"
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
        base = PlotStyle(**{key: entry[key] for key in PlotStyle._fields if key in entry})
    else:
        taken = {(entry["colour"], entry["marker"]) for entry in styles.values()}
        every = itertools.product(SPARE_COLOURS, SPARE_MARKERS, SPARE_LINESTYLES)
        spare = [each for each in every if each[:2] not in taken]
        base = PlotStyle(method, *spare[zlib.crc32(method.encode()) % len(spare)])
    if not variant:
        return base
    own = {"label": f"{base.label} ({variant})", "linestyle": "dotted"} | entry.get("variants", {}).get(variant, {})
    return base._replace(**own, is_variant=True)
