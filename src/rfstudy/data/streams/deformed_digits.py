"""Make images by small deformations of others, in any number: an affine map and an elastic displacement each.

MNIST-8M was made from MNIST in this way (Loosli, Canu and Bottou 2007, "Training invariant support vector machines
using selective sampling"). The sizes of the deformations are our own, since theirs are not published.
"""

from functools import cache

import numpy as np

#: Largest rotation (radians), change of scale and shear (shares), and shift (share of a side), uniform to both sides.
ROTATION, SCALE, SHEAR, SHIFT = 0.17, 0.1, 0.15, 0.05

#: Points along a side of the grid whose random displacements a smooth field goes through, and the largest of them, as
#: a share of a side.
KNOTS, ELASTIC = 5, 0.045

#: Random numbers per row: affine ones and two displacements per knot. One step of the generator makes four.
AFFINE = 6
NUMBERS = AFFINE + 2 * KNOTS**2
PER_STEP = 4

#: Number of rows that are made at once.
BATCH = 1024


def rows(first: int, last: int, images, labels, seed: int):
    """Return the rows ``first`` to ``last`` - 1: X (m, d) uint8 and labels (m,), functions of the seed and the row
    alone.

    Parameters
    ----------
    images : uint8 ndarray (n, d), square ones; row i is made of image i modulo n
    labels : ndarray (n,)
    seed : of 128 bits at most
    """
    numbers = np.arange(first, last)
    sources = numbers % len(images)
    X = np.empty((len(numbers), images.shape[1]), dtype=np.uint8)
    for start in range(0, len(numbers), BATCH):
        part = slice(start, min(start + BATCH, len(numbers)))
        X[part] = deformed(np.asarray(images[sources[part]]), random_numbers(first + start, first + part.stop, seed))
    return X, np.asarray(labels)[sources]


def random_numbers(first: int, last: int, seed: int) -> np.ndarray:
    """Return uniform numbers in [-1, 1) for some rows (m, ``NUMBERS``). The number of a row is its place in the
    sequence.
    """
    steps = -(-NUMBERS // PER_STEP)
    generator = np.random.Generator(np.random.Philox(key=seed, counter=first * steps))
    return 2.0 * generator.random((last - first, PER_STEP * steps))[:, :NUMBERS] - 1.0


def deformed(images: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return images (m, d) uint8 after the deformations that their numbers (m, ``NUMBERS``) define."""
    side = round(np.sqrt(images.shape[1]))
    turn, wider, higher, shear, right, down = numbers[:, :AFFINE].T[:, :, None]
    y, x = (axis.ravel() - (side - 1) / 2 for axis in np.mgrid[:side, :side].astype(np.float64))
    cosine, sine = np.cos(ROTATION * turn), np.sin(ROTATION * turn)
    u, v = (1 + SCALE * wider) * (x + SHEAR * shear * y), (1 + SCALE * higher) * y
    field = ELASTIC * side * numbers[:, AFFINE:].reshape(len(numbers), 2, -1) @ smooth_field(side)
    places_x = cosine * u - sine * v + SHIFT * side * right + field[:, 0]
    places_y = sine * u + cosine * v + SHIFT * side * down + field[:, 1]
    return interpolated(images.reshape(-1, side, side), places_x + (side - 1) / 2, places_y + (side - 1) / 2)


@cache
def smooth_field(side: int) -> np.ndarray:
    """Return the weights (``KNOTS``^2, side^2) that extend displacements of knots to all pixels: Gaussian bumps, whose
    squares add up to one at every pixel.
    """
    knots = np.linspace(0, side - 1, KNOTS)
    along = np.exp(-0.5 * ((np.arange(side) - knots[:, None]) / (knots[1] - knots[0])) ** 2)
    bumps = np.einsum("ai,bj->abij", along, along).reshape(KNOTS**2, side**2)
    return bumps / np.sqrt((bumps**2).sum(axis=0))


def interpolated(images: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the grey levels of images (m, side, side) at places (m, d) in pixels, bilinear, 0 outside; uint8 (m,
    d).
    """
    side = images.shape[1]
    framed = np.pad(images, ((0, 0), (1, 1), (1, 1))).astype(np.float64)
    # a pixel beyond the frame is as dark as the frame
    x, y = np.clip(x + 1, 0, side + 0.999), np.clip(y + 1, 0, side + 0.999)
    column, row = x.astype(np.intp), y.astype(np.intp)
    right, down = x - column, y - row
    which = np.arange(len(images))[:, None]
    above = (1 - right) * framed[which, row, column] + right * framed[which, row, column + 1]
    below = (1 - right) * framed[which, row + 1, column] + right * framed[which, row + 1, column + 1]
    return np.rint((1 - down) * above + down * below).astype(np.uint8)
