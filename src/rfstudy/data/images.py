"""Rows that are images: pixel after pixel, of colour images red, green and blue of each."""

from __future__ import annotations

import math

from random_features.errors import UserError


def image_shape(d: int) -> tuple[int, ...]:
    """Height, width and, of colour images, 3; ``UserError`` unless d is a square or three times one."""
    for pixels, colours in ((d, ()), (d // 3, (3,))):
        side = math.isqrt(pixels)
        if side * side * (3 if colours else 1) == d:
            return side, side, *colours
    raise UserError(f"{d} numbers are no square image, neither grey nor in three colours")
