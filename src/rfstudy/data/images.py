"""Rows that are images (pixel after pixel; red, green and blue of each in colour images), and the input of
extractors.
"""

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from random_features.errors import UserError


@dataclass(frozen=True)
class Given:
    """The input that a run gives an extractor in addition to the rows."""

    labels: np.ndarray | None = None  # (n_train,) of the training rows, which come first; None without published parts
    files: dict = field(default_factory=dict)  # paths of the files of its source, by name
    checkpoint: Path | None = None  # where it may keep its progress, and from which it resumes after it was killed
    device: str = "cpu"  # "cpu", "cuda" or "auto"


def image_shape(d: int) -> tuple[int, ...]:
    """Return height, width and, for colour images, 3. Raise ``UserError`` unless d is a square or three times one."""
    for pixels, colours in ((d, ()), (d // 3, (3,))):
        side = math.isqrt(pixels)
        if side * side * (3 if colours else 1) == d:
            return side, side, *colours
    raise UserError(f"{d} numbers are no square image, neither grey nor in three colours")
