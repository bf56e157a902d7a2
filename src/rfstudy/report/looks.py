"""One look per method throughout the study: label, colour, marker and line style.

Tables need the labels as figures do, and not what draws: this module does without matplotlib.
"""

from __future__ import annotations

import itertools
import zlib
from typing import NamedTuple

#: What a method without an entry can look like; the id decides.
SPARE_COLOURS = ("#4477AA", "#AA3377", "#228833", "#BB5566", "#66CCEE", "#888888")
SPARE_MARKERS = ("h", "p", "d", "H", ">", "8")
SPARE_LINESTYLES = ("dotted", "dashdot", "dashed")


class Look(NamedTuple):
    """Label, colour, marker and line style (as matplotlib takes it) of one method; ``hollow`` markers are variants."""

    label: str
    colour: str
    marker: str
    linestyle: str | tuple
    hollow: bool = False


def look(method: str, methods: dict, variant: str = "") -> Look:
    """The look of a method throughout the study.

    ``methods`` is the parsed ``methods.yaml``. A method without an entry gets a look that depends on its id
    only and that no entry uses. A variant (a differently configured entry of the same method) keeps colour and
    marker, and is dotted and hollow, unless the entry says under ``variants`` what it looks like.
    """
    entry = methods.get(method, {})
    if entry:
        chosen = Look(entry["label"], entry["colour"], entry["marker"], _linestyle(entry.get("linestyle", "solid")))
    else:
        taken = {(entry["colour"], entry["marker"]) for entry in methods.values()}
        spare = list(itertools.product(SPARE_COLOURS, SPARE_MARKERS, SPARE_LINESTYLES))
        spare = [each for each in spare if each[:2] not in taken]
        chosen = Look(method, *spare[zlib.crc32(method.encode()) % len(spare)])
    if variant:
        own = {"label": f"{chosen.label} ({variant})", "linestyle": "dotted"} | entry.get("variants", {}).get(
            variant, {}
        )
        return chosen._replace(**own | {"linestyle": _linestyle(own["linestyle"])}, hollow=True)
    return chosen


def _linestyle(told: str | list) -> str | tuple:
    """A line style as matplotlib takes it: its name, or a pattern of dashes."""
    return told if isinstance(told, str) else (0, told)
