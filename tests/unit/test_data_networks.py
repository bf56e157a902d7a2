"""VGG16: the layers and names of the official weights, what a file of weights may be, and images as it takes them."""

import pytest
import torch

from random_features.errors import UserError
from rfstudy.data.networks import HIDDEN, LAST, VGG16, load_weights, normalised, scaled

#: A share of the channels with which the network is fitted in seconds.
NARROW = 1 / 32


def narrow(n_classes=2, seed=0):
    torch.manual_seed(seed)
    return VGG16(n_classes, NARROW)


def images(n=4, side=32, seed=0):
    return torch.randint(0, 256, (n, 3, side, side), generator=torch.Generator().manual_seed(seed), dtype=torch.uint8)


def test_the_whole_network_has_the_layers_and_weights_of_the_official_one():
    """Positions, shapes and the number of weights as torchvision documents them: 138,365,992."""
    with torch.device("meta"):
        state = VGG16(1000).state_dict()
        parameters = sum(each.numel() for each in VGG16(1000).parameters())
    assert parameters == 138_365_992
    convolutions = {int(name.split(".")[1]): tuple(each.shape) for name, each in state.items() if each.dim() == 4}
    assert list(convolutions) == [0, 3, 7, 10, 14, 17, 20, 24, 27, 30, 34, 37, 40]
    assert [shape[:2] for shape in convolutions.values()] == [
        (64, 3), (64, 64), (128, 64), (128, 128), (256, 128), (256, 256), (256, 256), (512, 256), (512, 512),
        (512, 512), (512, 512), (512, 512), (512, 512),
    ]  # fmt: skip
    normalisations = [int(name.split(".")[1]) for name in state if name.endswith("running_mean")]
    assert normalisations == [position + 1 for position in convolutions]
    linear = {name: tuple(each.shape) for name, each in state.items() if name.startswith("classifier")}
    assert linear == {
        "classifier.0.weight": (4096, 25088), "classifier.0.bias": (4096,),
        "classifier.3.weight": (4096, 4096), "classifier.3.bias": (4096,),
        "classifier.6.weight": (1000, 4096), "classifier.6.bias": (1000,),
    }  # fmt: skip


def plain_first_layer(network, x):
    """The features of one image (3, side, side), layer by layer, with the running means of the normalisations."""
    for group in ((0, 3), (7, 10), (14, 17, 20), (24, 27, 30), (34, 37, 40)):
        for position in group:
            layer, norm = network.features[position], network.features[position + 1]
            x = torch.conv2d(x[None], layer.weight, layer.bias, padding=1)[0]
            scale = norm.weight / torch.sqrt(norm.running_var + 1e-5)
            x = (x - norm.running_mean[:, None, None]) * scale[:, None, None] + norm.bias[:, None, None]
            x = x.clamp(min=0)
        channels, side, _ = x.shape
        x = x.reshape(channels, side // 2, 2, side // 2, 2).amax(dim=(2, 4))
    assert x.shape[1:] == (1, 1)  # images of 32 pixels leave one, which fills all 7 x 7 places
    first = network.classifier[0]
    return first.weight @ x.expand(-1, 7, 7).flatten() + first.bias


def test_features_are_those_of_a_plain_twin_one_by_one():
    network, x = narrow(), normalised(images())
    network.train()
    network(x)  # running means that are not 0 and 1
    network.eval()
    with torch.inference_mode():
        expected = torch.stack([plain_first_layer(network, image) for image in x])
        torch.testing.assert_close(network.first_layer(x), expected, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(network.first_layer(x[2:3]), expected[2:3], rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(network.classifier[1:](expected), network(x), rtol=1e-4, atol=1e-5)
    assert expected.shape[1] == scaled(HIDDEN, NARROW) == 128


def test_images_have_the_mean_and_deviation_of_imagenet():
    grey = torch.full((1, 3, 2, 2), 127, dtype=torch.uint8)
    expected = [(127 / 255 - mean) / deviation for mean, deviation in ((0.485, 0.229), (0.456, 0.224), (0.406, 0.225))]
    torch.testing.assert_close(normalised(grey)[0, :, 0, 0], torch.tensor(expected))


def test_weights_load_but_for_the_last_layer_as_do_those_of_old_files(tmp_path):
    """The official file is older than the counts of batches that layers of normalisation keep today."""
    official, own = narrow(1000, seed=1), narrow(10, seed=2)
    official.train()
    official(normalised(images()))
    state = {name: each for name, each in official.state_dict().items() if not name.endswith("num_batches_tracked")}
    torch.save(state, tmp_path / "weights.pth", _use_new_zipfile_serialization=False)
    last = own.state_dict()[f"{LAST}.weight"].clone()
    load_weights(own, tmp_path / "weights.pth")
    for name, loaded in own.state_dict().items():
        if name.startswith(LAST):
            assert len(loaded) == 10
        elif not name.endswith("num_batches_tracked"):
            assert torch.equal(loaded, state[name])
    assert torch.equal(own.state_dict()[f"{LAST}.weight"], last)
    for network in (own.eval(), official.eval()):
        network.requires_grad_(False)
    assert torch.equal(own.first_layer(normalised(images())), official.first_layer(normalised(images())))


@pytest.mark.parametrize("content", ["wider", "part", "list", "text"])
def test_what_is_no_file_of_these_weights_is_refused(tmp_path, content):
    path, state = tmp_path / "weights.pth", narrow().state_dict()
    part = {name: state[name] for name in list(state)[:4]}
    saved = {"wider": VGG16(2, 2 * NARROW).state_dict(), "part": part, "list": [1, 2]}
    if content in saved:
        torch.save(saved[content], path)
    else:
        path.write_text("<html>not found</html>", encoding="utf-8")
    with pytest.raises(UserError, match=r"weights\.pth does not hold the weights of this network: \w+"):
        load_weights(narrow(), path)
