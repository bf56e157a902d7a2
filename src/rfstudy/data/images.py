"""Rows that are images (pixel after pixel; red, green and blue of each in colour images), and the input of
extractors.
"""

import math
from collections import namedtuple

from random_features.errors import UserError

#: The input that a run gives an extractor in addition to the rows: the labels (n_train,) of the training rows, which
#: come first, or None without published parts; the paths of the files of its source, by name; the path of a checkpoint,
#: where it may keep its progress, and from which it resumes after it was killed; and a device: "cpu", "cuda" or "auto".
Given = namedtuple("Given", "labels files checkpoint device", defaults=(None, {}, None, "cpu"))


def image_shape(d: int) -> tuple[int, ...]:
    """Return height, width and, for colour images, 3. Raise ``UserError`` unless d is a square or three times one."""
    for pixels, colours in ((d, ()), (d // 3, (3,))):
        side = math.isqrt(pixels)
        if side * side * (3 if colours else 1) == d:
            return side, side, *colours
    raise UserError(f"{d} numbers are no square image, neither grey nor in three colours")
