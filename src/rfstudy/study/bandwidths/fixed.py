"""The length scale that the experiment states."""

from __future__ import annotations

SCHEMA = {
    "properties": {"length_scale": {"type": "number", "minimum": 1e-100, "maximum": 1e100}},
    "required": ["length_scale"],
}


def length_scale(X, rng, *, length_scale: float) -> float:
    """The stated number, whatever the rows X (n, d)."""
    return float(length_scale)
