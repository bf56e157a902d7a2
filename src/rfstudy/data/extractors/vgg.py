"""Features of images from a fine-tuned VGG16: the outputs of its first fully connected layer (survey, section 6.2.2).

The network starts from weights that were fitted to ImageNet, or from random ones, and is fitted to the labels of the
training rows; the features of all rows are then computed in evaluation mode (normalised by the running means, without
dropout).
"""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from random_features.arrays import block_rows, row_blocks, seed_of
from random_features.errors import UserError
from rfstudy.data.images import Given, image_shape
from rfstudy.fields import Count, Positive
from rfstudy.files import digest_of

#: Whether the extractor is faster on a GPU, the minutes that its job requests (a killed job resumes), and whether it
#: reads files of a source.
GPU = True
MINUTES = 240
FILES = True

#: Largest number of floats per pixel of an image in the network: two layers of 64 channels and the image.
FLOATS_PER_PIXEL = 160


def extract(
    X,
    given: Given,
    *,
    side: Annotated[int, Ge(32)],  # the network halves an image five times
    epochs: Count,
    batch: Count,
    learning_rate: Positive,
    milestones: list[int],
    momentum: Annotated[float, Ge(0), Lt(1)],
    weight_decay: Annotated[float, Ge(0)],
    width: Annotated[float, Gt(0), Le(1)] = 1.0,
) -> np.ndarray:
    """Return one row of features for each image: (n, ``columns(d, ...)``) float32.

    Parameters
    ----------
    X : ndarray (n, d), uint8
        Square images, pixel after pixel in rows, grey or red, green and blue of each pixel.
    given : Given
        The network is fitted to the training rows with their labels and sees no others. It starts from the weights in
        the file, or from random weights without a file. The fine-tuning resumes from the checkpoint. A file of final
        weights (``.npz``) is not fitted any more.
    side : int
        Pixels along a side of the images that the network sees: images of another side are scaled, bilinearly.
    epochs, batch, learning_rate, milestones, momentum, weight_decay
        The schedule of the fine-tuning, see ``finetuning.Schedule``.
    width : float
        Share of all channels of the network; its file of weights has them all.

    Raises
    ------
    UserError
        Images that are not square or not bytes, weights of another network, a device that is not there, or no labels.
    """
    import torch

    from random_features.tensors import resolve_device
    from rfstudy.data.finetuning import Schedule, fine_tune
    from rfstudy.data.networks import VGG16, load_weights

    if X.dtype != np.uint8:
        raise UserError(f"vgg reads images of bytes, not of {X.dtype}")
    if given.labels is None:
        raise UserError("vgg learns from published training rows, and the task that it makes features of has none")
    try:
        where = resolve_device(given.device)
    except RuntimeError as error:  # the job may have been planned on another machine
        raise UserError(str(error)) from error
    schedule = Schedule(epochs, batch, learning_rate, tuple(milestones), momentum, weight_decay)
    weights = next(iter(given.files.values()), None)
    classes, numbers = np.unique(given.labels, return_inverse=True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of("vgg"))
        network = VGG16(len(classes), width)
    is_final = weights and not load_weights(network, weights)
    network.to(where)
    if not is_final:
        training = images_of(X[: len(numbers)], side)
        key = key_of(training.numpy(), numbers, weights, [side, width, *schedule])
        fine_tune(network, training, torch.from_numpy(numbers), schedule, given.checkpoint, key)
    return features_of(network, X, side)


def columns(d: int, *, width: float = 1.0, **others) -> int:
    """Return the number of outputs of the first fully connected layer: 4,096 for the whole network.

    Raise ``UserError`` if d numbers are not a square image.
    """
    from rfstudy.data.networks import HIDDEN, scaled

    image_shape(d)
    return scaled(HIDDEN, width)


def images_of(X, side: int):
    """Return the rows of bytes (n, d) as a tensor of images (n, 3, side, side) of bytes; grey ones have three equal
    colours.
    """
    import torch
    from torch.nn import functional

    height, width, *colours = image_shape(X.shape[1])
    images = torch.from_numpy(np.array(X)).reshape(len(X), height, width, *(colours or [1])).permute(0, 3, 1, 2)
    if (height, width) != (side, side):
        scaled = functional.interpolate(images.float(), (side, side), mode="bilinear", antialias=True)
        images = scaled.round().clamp(0, 255).to(torch.uint8)
    return images.expand(-1, 3, -1, -1).contiguous()


def features_of(network, X, side: int) -> np.ndarray:
    """Return the outputs of the first fully connected layer for rows of bytes (n, d), float32, block by block."""
    import torch

    from rfstudy.data.networks import normalised

    device = next(network.parameters()).device
    rows = block_rows(4 * FLOATS_PER_PIXEL * side**2, device)
    features = np.empty((len(X), network.classifier[0].out_features), dtype=np.float32)
    network.eval()
    with torch.inference_mode():
        for part in row_blocks(len(X), rows):
            features[part] = network.first_layer(normalised(images_of(X[part], side).to(device))).cpu().numpy()
    return features


def key_of(images: np.ndarray, numbers: np.ndarray, weights, parameters: list) -> str:
    """Return the hash of everything that decides the fitted network: images, classes, weights, parameters, this code
    and its library.
    """
    from rfstudy.data import finetuning, networks

    state = hashlib.sha256(json.dumps([parameters, version("torch")]).encode())
    for array in (images, numbers):
        state.update(np.ascontiguousarray(array))
    for path in filter(None, (weights, __file__, finetuning.__file__, networks.__file__)):
        state.update(digest_of(Path(path)).encode())
    return state.hexdigest()
