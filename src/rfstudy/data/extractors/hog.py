"""Histograms of oriented gradients (Dalal and Triggs, CVPR 2005) as scikit-image computes them."""

from typing import Literal

import numpy as np
from tqdm import tqdm

from random_features.errors import UserError
from rfstudy.data.images import Given, image_shape
from rfstudy.fields import Count

#: Whether the extractor is faster on a GPU, the minutes that its job requests, and whether it reads files of a source.
GPU = False
MINUTES = 60
FILES = False

#: The norm by which the histograms of a block are divided.
BlockNorm = Literal["L1", "L1-sqrt", "L2", "L2-Hys"]


def extract(
    X, given: Given, *, orientations: Count, pixels_per_cell: Count, cells_per_block: Count, block_norm: BlockNorm
) -> np.ndarray:
    """Return one row of histograms for each image: (n, ``columns(d, ...)``) float32.

    Parameters
    ----------
    X : ndarray (n, d), uint8
        Square images, pixel after pixel in rows: grey (d is a square) or red, green and blue of each pixel (d is three
        times a square). Colours are made grey as scikit-image's ``rgb2gray`` weighs them, of values in [0, 1].
    given : Given
        Not used: rows are described one by one.
    orientations : int
        Bins of the half circle.
    pixels_per_cell, cells_per_block : int
        Both ways. Pixels at the right and at the bottom that fill no cell are left out.
    block_norm : {"L1", "L1-sqrt", "L2", "L2-Hys"}
        scikit-image's own default has changed over the years.

    Raises
    ------
    UserError
        Images that are not square or not bytes, or that are smaller than a block.
    """
    from skimage.color import rgb2gray
    from skimage.feature import hog

    if X.dtype != np.uint8:
        raise UserError(f"hog reads images of bytes, not of {X.dtype}")
    shape = image_shape(X.shape[1])
    width = columns(X.shape[1], orientations, pixels_per_cell, cells_per_block, block_norm)
    result = np.empty((len(X), width), dtype=np.float32)
    for row, image in enumerate(tqdm(X, desc="hog", mininterval=5)):
        values = image.reshape(shape) / 255.0
        grey = rgb2gray(values) if len(shape) == 3 else values
        result[row] = hog(grey, orientations, (pixels_per_cell,) * 2, (cells_per_block,) * 2, block_norm)
    return result


def columns(d: int, orientations: int, pixels_per_cell: int, cells_per_block: int, block_norm: str) -> int:
    """Return blocks x cells in a block x orientations for images of d numbers. Raise ``UserError`` if an image is
    smaller than a block.
    """
    blocks = image_shape(d)[0] // pixels_per_cell - cells_per_block + 1
    if blocks < 1:
        raise UserError(f"images of {d} numbers hold no block of {cells_per_block} cells of {pixels_per_cell} pixels")
    return blocks**2 * cells_per_block**2 * orientations
