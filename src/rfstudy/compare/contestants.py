"""The names of the contestants. The module imports only the standard library: a workflow reads it while it parses."""

#: Contestants without a map, and the maps that always compete; the fastest structured map for the data is added.
BASELINES = ("guess", "linear", "boosting", "exact-kernel")
MAPS = ("nystroem", "rff", "orf", "qmc", "kprff")
LABELLED = ("kprff", "karff", "lkrf", "eerf")
STRUCTURED = ("sorf", "rom", "fastfood")

#: Maps that a user may ask for, but whose fit takes long.
SLOW = ("clrff", "lsrff", "nsrf", "nsrf_sphere", "ses")

#: The jobs of a workflow.
CONTESTANTS = (*BASELINES, *MAPS, "structured")


def is_map(name: str) -> bool:
    """Return whether a contestant is a feature map."""
    return name not in BASELINES
