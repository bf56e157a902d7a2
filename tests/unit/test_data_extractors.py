"""Histograms of oriented gradients against known answers and a plain twin; features of a fine-tuned network."""

import numpy as np
import pytest
import torch
from data_toys import HOG, VGG
from refusals import message

from rfstudy.data.extractors import hog, vgg
from rfstudy.data.images import Given
from rfstudy.data.networks import VGG16
from rfstudy.data.tasks import without

#: As the code of the paper on learned Fourier features has them.
PAPER = without(HOG, "extractor")


def described(X, given=PAPER):
    return hog.extract(X, Given(), **given)


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


@pytest.mark.parametrize(("side", "orientations", "cell"), [(8, 8, 4), (10, 5, 3), (28, 8, 4)])
def test_grey_images_against_a_plain_twin(side, orientations, cell):
    X = images(4, side)
    given = {"orientations": orientations, "pixels_per_cell": cell, "cells_per_block": 1, "block_norm": "L1"}
    expected = [plain_hog(image.reshape(side, side) / 255, orientations, cell) for image in X]
    found = described(X, given)
    assert found.dtype == np.float32
    assert found.shape[1] == hog.columns(side * side, **given)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_colours_are_made_grey_by_their_weights():
    X = images(2, 32, (3,))
    weights = [0.2125, 0.7154, 0.0721]
    expected = [plain_hog(image.reshape(32, 32, 3) / 255 @ weights, 8, 4) for image in X]
    np.testing.assert_allclose(described(X), expected, atol=1e-6)
    assert described(X).shape[1] == hog.columns(32 * 32 * 3, **PAPER) == 512  # as in the paper
    # rows do not depend on their company
    np.testing.assert_array_equal(described(X)[1:], described(X[1:]))
    assert described(X[:0]).shape == (0, 512)


def test_stripes_have_one_orientation_and_a_plain_image_none():
    across = np.tile(np.arange(0, 128, 8, dtype=np.uint8), (16, 1))
    X = np.stack([across.ravel(), across.T.ravel(), np.full(256, 77, dtype=np.uint8)])
    cells = described(X).reshape(3, 16, 8)
    # gradients along the rows have the angle 0, along the columns 90 degrees: the fifth of eight bins
    np.testing.assert_allclose(cells[0], np.eye(8)[[0] * 16], atol=1e-3)
    np.testing.assert_allclose(cells[1], np.eye(8)[[4] * 16], atol=1e-3)
    assert (cells[2] == 0).all()


def test_a_larger_block_repeats_cells_and_normalises_them_together():
    X = images(2, 16)
    given = PAPER | {"cells_per_block": 2, "block_norm": "L2"}
    assert hog.columns(256, **given) == 3 * 3 * 2 * 2 * 8
    blocks = described(X, given).reshape(2, 9, 32)
    np.testing.assert_allclose(np.linalg.norm(blocks, axis=2), 1, atol=1e-4)


def test_what_is_no_image_is_refused():
    shapes = {64: (8, 8), 784: (28, 28), 3072: (32, 32, 3), 3: (1, 1, 3), 192: (8, 8, 3)}
    assert {d: hog.image_shape(d) for d in shapes} == shapes
    for d in (2, 65, 100 * 3 + 1, 3073):
        assert f"{d} numbers are no square image" in message(hog.image_shape, d)
    assert "reads images of bytes, not of float32" in message(described, images(1, 8).astype(np.float32))
    assert "images of 9 numbers hold no block of 1 cells of 4 pixels" in message(hog.columns, 9, **PAPER)


#: A narrow network, fitted in a second.
TINY = without(VGG, "extractor") | {"epochs": 2, "batch": 8, "milestones": [1], "width": 1 / 32}


def fitted(X, n_train=12, **changes):
    """The features of a narrow network that was fitted to the first rows, of two classes."""
    return vgg.extract(X, Given(**{"labels": 3 * (np.arange(n_train) % 2)} | changes), **TINY)


@pytest.mark.parametrize(("side", "colours"), [(32, (3,)), (8, ())])
def test_features_of_a_network_are_a_row_for_every_image(side, colours):
    X = images(15, side, colours)
    found = fitted(X)
    assert (found.dtype, found.shape) == (np.float32, (15, 128))
    assert found.shape[1] == vgg.columns(X.shape[1], **TINY)
    assert vgg.columns(3072, **TINY | {"width": 1.0}) == 4096


def test_features_of_a_batch_are_those_of_its_images_one_by_one(monkeypatch):
    """The network is at rest: neither dropout nor the company of an image has a say."""
    X = images(15, 32, (3,))
    together = fitted(X)
    monkeypatch.setattr(vgg, "block_rows", lambda *of: 1)
    np.testing.assert_allclose(fitted(X), together, rtol=1e-4, atol=1e-5)


def test_a_network_sees_the_labels_of_the_training_rows_and_nothing_of_the_others():
    X = images(15, 32, (3,))
    other = X.copy()
    other[12:] = 255 - other[12:]
    np.testing.assert_array_equal(fitted(X)[:12], fitted(other)[:12])
    assert np.abs(fitted(X, labels=np.arange(12) // 6) - fitted(X)).max() > 1e-4


def test_images_are_scaled_to_the_side_that_the_network_sees_and_grey_is_of_three_equal_colours():
    grey = np.repeat(np.arange(0, 256, 17, dtype=np.uint8), 4).reshape(1, 64)
    found = vgg.images_of(grey, 16).numpy()
    assert found.shape == (1, 3, 16, 16)
    assert (found[:, 0] == found[:, 1]).all()
    assert (found[:, 0] == found[:, 2]).all()
    assert (np.diff(found[0, 0].mean(axis=1)) >= 0).all()  # rows grow brighter as they did
    colours = images(2, 4, (3,))
    expected = colours.reshape(2, 4, 4, 3).transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(vgg.images_of(colours, 4).numpy(), expected)


def test_an_image_that_shrinks_keeps_what_lies_between_the_new_pixels():
    """Bright stripes that a bilinear choice of pixels would miss: antialiasing averages over them."""
    stripes = np.zeros((1, 16, 16), dtype=np.uint8)
    stripes[:, :, ::4] = 255
    found = vgg.images_of(stripes.reshape(1, 256), 4).numpy()
    assert found.mean() == pytest.approx(stripes.mean(), abs=3)
    assert found.min() > 30


def test_a_checkpoint_is_of_these_images_labels_weights_and_parameters(tmp_path):
    (tmp_path / "one").write_text("1", encoding="utf-8")
    (tmp_path / "other").write_text("2", encoding="utf-8")
    plain = {"images": np.arange(6), "numbers": np.array([0, 1]), "weights": None, "parameters": [1]}
    changes = [{}, {"images": np.arange(1, 7)}, {"numbers": np.array([1, 0])}, {"parameters": [2]}]
    changes += [{"weights": tmp_path / name} for name in ("one", "other")]
    keys = [vgg.key_of(**plain | change) for change in changes]
    assert len(set(keys)) == len(keys)
    assert keys[0] == vgg.key_of(**plain)


def test_a_file_of_final_weights_gives_their_features_and_is_not_fitted(tmp_path):
    """Images of 32 x 32 leave one pixel, which the network repeats 7 x 7 times: its copies' weights are added up."""
    with torch.random.fork_rng():
        network = VGG16(2, TINY["width"])
    state = {name: value.numpy() for name, value in network.features.state_dict(prefix="features.").items()}
    first = network.classifier[0].state_dict()
    folded = first["weight"].reshape(128, -1, 49).sum(2).numpy()
    np.savez(tmp_path / "final.npz", **state, **{"first.weight": folded, "first.bias": first["bias"].numpy()})
    X = images(15, 32, (3,))
    found = fitted(X, files={"published.pth": tmp_path / "final.npz"})
    np.testing.assert_allclose(found, vgg.features_of(network, X, 32), rtol=1e-4, atol=1e-5)
    np.savez(tmp_path / "other.npz", **state)
    found = message(fitted, X, files={"published.pth": tmp_path / "other.npz"})
    assert "other.npz does not hold the weights of this network" in found


def test_what_a_network_cannot_see_is_refused_and_a_gpu_that_is_not_there(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert "device='cuda': PyTorch sees 0 CUDA devices" in message(fitted, images(3, 32), device="cuda")
    assert "65 numbers are no square image" in message(vgg.columns, 65, **TINY)
    assert "reads images of bytes, not of float32" in message(fitted, images(3, 32).astype(np.float32))
