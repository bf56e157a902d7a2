"""Histograms of oriented gradients against known answers and a plain twin."""

import numpy as np
import pytest

from rfstudy.data import modules
from rfstudy.data.extractors import hog
from rfstudy.errors import UserError

#: As the code of the paper on learned Fourier features has them.
PAPER = {"orientations": 8, "pixels_per_cell": 4, "cells_per_block": 1, "block_norm": "L1"}


def images(n, side, colours=(), seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, side * side * (3 if colours else 1)), dtype=np.uint8)


def plain_hog(image, orientations, pixels_per_cell):
    """L1-normalised histograms of the cells of a grey image in [0, 1], pixel by pixel."""
    side = len(image)
    cells = side // pixels_per_cell
    histogram = np.zeros((cells, cells, orientations))
    for row in range(cells * pixels_per_cell):
        for column in range(cells * pixels_per_cell):
            # central differences, none across the border
            down = image[row + 1, column] - image[row - 1, column] if 0 < row < side - 1 else 0.0
            right = image[row, column + 1] - image[row, column - 1] if 0 < column < side - 1 else 0.0
            angle = np.degrees(np.arctan2(down, right)) % 180
            bin = int(angle * orientations / 180) % orientations
            histogram[row // pixels_per_cell, column // pixels_per_cell, bin] += np.hypot(down, right)
    histogram /= pixels_per_cell**2
    return (histogram / (histogram.sum(2, keepdims=True) + 1e-5)).ravel()


def test_the_papers_images_have_512_features():
    assert hog.columns(32 * 32 * 3, **PAPER) == 512
    assert hog.extract(images(3, 32, (3,)), **PAPER, device="cpu").shape == (3, 512)


@pytest.mark.parametrize(("side", "orientations", "cell"), [(8, 8, 4), (10, 5, 3), (28, 8, 4)])
def test_grey_images_against_a_plain_twin(side, orientations, cell):
    X = images(4, side)
    given = {"orientations": orientations, "pixels_per_cell": cell, "cells_per_block": 1, "block_norm": "L1"}
    expected = [plain_hog(image.reshape(side, side) / 255, orientations, cell) for image in X]
    found = hog.extract(X, **given)
    assert found.dtype == np.float32
    assert found.shape[1] == hog.columns(side * side, **given)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_colours_are_made_grey_by_their_weights():
    X = images(2, 16, (3,))
    weights = [0.2125, 0.7154, 0.0721]
    expected = [plain_hog(image.reshape(16, 16, 3) / 255 @ weights, 8, 4) for image in X]
    np.testing.assert_allclose(hog.extract(X, **PAPER), expected, atol=1e-6)


def test_stripes_have_one_orientation_and_a_plain_image_none():
    across = np.tile(np.arange(0, 128, 8, dtype=np.uint8), (16, 1))
    X = np.stack([across.ravel(), across.T.ravel(), np.full(256, 77, dtype=np.uint8)])
    cells = hog.extract(X, **PAPER).reshape(3, 16, 8)
    # gradients along the rows have the angle 0, along the columns 90 degrees: the fifth of eight bins
    np.testing.assert_allclose(cells[0], np.eye(8)[[0] * 16], atol=1e-3)
    np.testing.assert_allclose(cells[1], np.eye(8)[[4] * 16], atol=1e-3)
    assert (cells[2] == 0).all()


def test_a_larger_block_repeats_cells_and_normalises_them_together():
    X = images(2, 16)
    given = PAPER | {"cells_per_block": 2, "block_norm": "L2"}
    assert hog.columns(256, **given) == 3 * 3 * 2 * 2 * 8
    blocks = hog.extract(X, **given).reshape(2, 9, 32)
    np.testing.assert_allclose(np.linalg.norm(blocks, axis=2), 1, atol=1e-4)


def test_rows_do_not_depend_on_their_company():
    X = images(5, 16)
    np.testing.assert_array_equal(hog.extract(X, **PAPER)[3:4], hog.extract(X[3:4], **PAPER))
    assert hog.extract(X[:0], **PAPER).shape == (0, 128)


@pytest.mark.parametrize(
    ("d", "shape"), [(64, (8, 8)), (784, (28, 28)), (3072, (32, 32, 3)), (3, (1, 1, 3)), (192, (8, 8, 3))]
)
def test_the_shape_of_an_image_is_told_by_its_numbers(d, shape):
    assert hog.image_shape(d) == shape


def test_what_is_no_image_is_refused():
    for d in (2, 65, 100 * 3 + 1, 3073):
        with pytest.raises(UserError, match=f"{d} numbers are no square image"):
            hog.image_shape(d)
    with pytest.raises(UserError, match="reads images of bytes, not of float32"):
        hog.extract(images(1, 8).astype(np.float32), **PAPER)
    with pytest.raises(UserError, match="images of 9 numbers hold no block of 1 cells of 4 pixels"):
        hog.columns(9, **PAPER)


@pytest.mark.parametrize("name", modules.names("extractors"))
def test_every_extractor_says_whether_it_wants_a_gpu(name):
    assert isinstance(modules.literal("extractors", name, "GPU"), bool)
    assert modules.literal("extractors", name, "GPU") is modules.load("extractors", name).GPU
