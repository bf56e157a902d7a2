"""VGG16 with batch normalisation: sixteen layers of weights, of which the first fully connected one yields features.

Configuration D of Simonyan and Zisserman (Very deep convolutional networks for large-scale image recognition, ICLR
2015) with the normalisation of Ioffe and Szegedy (ICML 2015) behind every convolution. Layers have the names of
torchvision's ``vgg16_bn``, so that the weights that were fitted to ImageNet load.
"""

import numpy as np
import torch
from torch import nn

from random_features.errors import UserError

#: Channels of the convolutions of 3 x 3 pixels, in groups behind each of which the image is halved.
CHANNELS = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))

#: Number of outputs of the first two fully connected layers, and the side of the images that the first of them sees.
HIDDEN = 4096
POOLED = 7

#: Mean and deviation of red, green and blue in ImageNet, in [0, 1]: what the fitted weights expect.
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)

#: Largest number of characters of an error that are reported: it may name every layer.
MOST_REPORTED = 300

#: The layer whose outputs are the classes; it is trained from scratch for other classes.
LAST = "classifier.6"


def scaled(number: int, width: float) -> int:
    """Return a share of a number of channels, but at least one."""
    return max(1, round(number * width))


class VGG16(nn.Module):
    """The network: scores (n, ``n_classes``) of images (n, 3, side, side) whose values were ``normalised``.

    ``width`` is the share of all channels; 1 is the published network, of 138,365,992 weights at 1,000 classes.
    """

    def __init__(self, n_classes: int, width: float = 1.0):
        super().__init__()
        hidden, (*_, last) = scaled(HIDDEN, width), CHANNELS[-1]
        self.features = nn.Sequential(*convolutions(width))
        # smaller images than those of ImageNet are repeated until they fill the layer
        self.avgpool = nn.AdaptiveAvgPool2d((POOLED, POOLED))
        self.classifier = nn.Sequential(
            *(nn.Linear(scaled(last, width) * POOLED**2, hidden), nn.ReLU(), nn.Dropout()),
            *(nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout()),
            nn.Linear(hidden, n_classes),
        )

    def first_layer(self, images):
        """Return the outputs of the first fully connected layer, (n, ``scaled(HIDDEN, width)``), before its
        rectification.
        """
        return self.classifier[0](self.avgpool(self.features(images)).flatten(1))

    def forward(self, images):
        """Return the scores of the classes, (n, ``n_classes``)."""
        return self.classifier[1:](self.first_layer(images))


def convolutions(width: float):
    """Yield the convolutional layers, in order."""
    before = 3
    for group in CHANNELS:
        for channels in (scaled(each, width) for each in group):
            yield nn.Conv2d(before, channels, kernel_size=3, padding=1)
            yield nn.BatchNorm2d(channels)
            yield nn.ReLU(inplace=True)
            before = channels
        yield nn.MaxPool2d(kernel_size=2)


def load_weights(network: VGG16, path) -> bool:
    """Load the weights of a file, fitted to any classes, into a network. Return whether they are to be fitted further.

    The last layer of the network stays unchanged. Arrays (``.npz``) are the final weights up to the first fully
    connected layer. That layer sees the one pixel that is left of an image of 32 x 32 many times, so the file has the
    sums of its weights. The file is read as tensors and nothing else. Raise ``UserError`` if it does not hold the
    weights of this network.
    """
    try:
        if path.suffix == ".npz":
            arrays = {name: torch.from_numpy(array).float() for name, array in np.load(path).items()}
            network.avgpool, network.classifier[0] = nn.Identity(), nn.Linear(*arrays["first.weight"].T.shape)
            network.classifier[0].load_state_dict({key: arrays.pop(f"first.{key}") for key in ("weight", "bias")})
            network.features.load_state_dict({name.removeprefix("features."): of for name, of in arrays.items()})
            return False
        state = torch.load(path, map_location="cpu", weights_only=True)
        own = network.state_dict()
        network.load_state_dict(state | {name: own[name] for name in own if name.startswith(f"{LAST}.")})
        return True
    except Exception as error:  # torch raises many kinds of errors for a wrong file
        why = " ".join(str(error).split())[:MOST_REPORTED]
        raise UserError(f"{path} does not hold the weights of this network: {why}") from error


def normalised(images):
    """Return images of bytes (n, 3, side, side) as input of the network: float32, normalised like the images of
    ImageNet."""
    mean, deviation = (images.new_tensor(of, dtype=torch.float32).view(1, 3, 1, 1) for of in (MEAN, DEVIATION))
    return (images.float() / 255 - mean) / deviation
