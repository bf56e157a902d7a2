"""VGG16: the layers and names of the official weights, what a file of weights may be, images as it takes them; and its
fine-tuning on a few images: it learns, it resumes exactly, and its augmentations are plain."""

import re

import pytest
import torch
from in_memory import Killed
from refusals import message

from rfstudy.data import finetuning
from rfstudy.data.finetuning import SHIFT, Schedule, augmented, fine_tune, load_checkpoint
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
    assert "weights.pth does not hold the weights of this network: " in message(load_weights, narrow(), path)


SCHEDULE = Schedule(epochs=5, batch=8, learning_rate=0.002, milestones=(4,), momentum=0.9, weight_decay=5e-4)


def data(n=33):
    """Dark and bright images with noise, of two classes."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(n) % 2
    noise = torch.randint(0, 60, (n, 3, 32, 32), generator=generator)
    return (60 + 80 * labels[:, None, None, None] + noise).to(torch.uint8), labels


def same(one, other):
    """Return whether two networks are the same to the last bit."""
    mine, theirs = one.state_dict(), other.state_dict()
    return list(mine) == list(theirs) and all(torch.equal(mine[name], theirs[name]) for name in mine)


@pytest.mark.slow
def test_the_loss_falls_and_the_classes_are_distinguished():
    torch.manual_seed(0)
    network, (images, labels) = VGG16(2, 1 / 16), data()
    losses = fine_tune(network, images, labels, Schedule(15, 16, 0.01, (10,), 0.9, 5e-4))
    assert len(losses) == 15
    assert losses[-1] < 0.5 * losses[0]
    network.eval()
    with torch.inference_mode():
        scores = network(finetuning.normalised(images))
    assert (scores.argmax(dim=1) == labels).float().mean() > 0.9


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_to_the_same_network(tmp_path, monkeypatch):
    epochs_before = 3  # one before the rate falls
    whole, (images, labels) = narrow(), data()
    losses = fine_tune(whole, images, labels, SCHEDULE)
    monkeypatch.setattr(finetuning, "CHECKPOINT_SECONDS", 0.0)
    epoch = finetuning.Training.epoch

    def killed_later(training, *rest):
        if len(training.losses) == epochs_before:
            raise Killed
        epoch(training, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(finetuning.Training, "epoch", killed_later)
        with pytest.raises(Killed):
            fine_tune(narrow(), images, labels, SCHEDULE, tmp_path / "checkpoint", "a")
    torch.manual_seed(123)  # a job may draw other numbers
    resumed = narrow()
    counted = []
    monkeypatch.setattr(finetuning.Training, "epoch", lambda *of: (counted.append(1), epoch(*of)))
    assert fine_tune(resumed, images, labels, SCHEDULE, tmp_path / "checkpoint", "a") == losses
    assert len(counted) == SCHEDULE.epochs - epochs_before
    assert same(resumed, whole)
    # a run that was killed behind the last epoch has none left
    finished = narrow()
    assert fine_tune(finished, images, labels, SCHEDULE, tmp_path / "checkpoint", "a") == losses
    assert len(counted) == SCHEDULE.epochs - epochs_before
    assert same(finished, whole)


def test_a_checkpoint_of_something_else_or_a_broken_one_is_none(tmp_path, capsys):
    images, labels = data(9)
    short = Schedule(1, 8, 0.01, (), 0.9, 0.0)
    path = tmp_path / "checkpoint"
    fine_tune(narrow(), images, labels, short, path, "a")
    assert load_checkpoint(path, "a")["key"] == "a"
    assert load_checkpoint(path, "b") is None
    assert "is of other settings, images or code" in capsys.readouterr().err
    path.write_bytes(path.read_bytes()[:-100])
    assert load_checkpoint(path, "a") is None
    assert "cannot be read (" in capsys.readouterr().err
    assert load_checkpoint(tmp_path / "nothing", "a") is None
    assert load_checkpoint(None, "a") is None


def test_a_loss_that_is_no_number_ends_the_run():
    images, labels = data()
    found = message(fine_tune, narrow(), images, labels, Schedule(6, 8, 1e6, (), 0.9, 0.0))
    assert re.search(r"the loss of epoch \d+ is (nan|inf): use a smaller learning_rate", found)


def test_rates_fall_at_the_milestones_and_are_those_of_the_steps(monkeypatch):
    used, step = [], finetuning.Training.step

    def noted(training, *of):
        used.append(training.optimiser.param_groups[0]["lr"])
        return step(training, *of)

    monkeypatch.setattr(finetuning.Training, "step", noted)
    images, labels = data(8)
    fine_tune(VGG16(2, 1 / 64), images, labels, Schedule(4, 8, 0.1, (1, 3), 0.9, 0.0))
    assert used == pytest.approx([0.1, 0.01, 0.01, 0.001])


def plain_augmentation(image, down, right, mirrored):
    """An image (3, side, side) moved by so many pixels within a black frame, mirrored or not, pixel by pixel."""
    _, side, _ = image.shape
    result = torch.zeros_like(image)
    for row in range(side):
        for column in range(side):
            seen = side - 1 - column if mirrored else column
            source = row + down - SHIFT, seen + right - SHIFT
            if all(0 <= each < side for each in source):
                result[:, row, column] = image[:, source[0], source[1]]
    return result


def test_augmented_images_are_shifted_and_mirrored_ones():
    images = torch.randint(1, 256, (60, 3, 6, 6), generator=torch.Generator().manual_seed(1), dtype=torch.uint8)
    torch.manual_seed(2)
    found = augmented(images)
    torch.manual_seed(2)
    down, right = torch.randint(0, 2 * SHIFT + 1, (2, 60, 1)).squeeze(2)
    mirrored = torch.randint(0, 2, (60, 1)).squeeze(1).bool()
    expected = torch.stack([plain_augmentation(*each) for each in zip(images, down, right, mirrored, strict=True)])
    assert torch.equal(found, expected)
    # every shift and both ways round occur
    assert set(down.tolist()) == set(right.tolist()) == set(range(2 * SHIFT + 1))
    assert set(mirrored.tolist()) == {False, True}
