"""Fine-tuning on a narrow network and a few images: it learns, it resumes exactly, and its augmentations are plain."""

import pytest
import torch

from random_features.errors import UserError
from rfstudy.data import finetuning
from rfstudy.data.finetuning import SHIFT, Schedule, augmented, fine_tune, load_checkpoint
from rfstudy.data.networks import VGG16

SCHEDULE = Schedule(epochs=5, batch=8, learning_rate=0.002, milestones=(4,), momentum=0.9, weight_decay=5e-4)


def narrow(n_classes=2):
    torch.manual_seed(0)
    return VGG16(n_classes, 1 / 32)


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


class Killed(Exception):
    """An error that ends a run in its middle."""


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
    with pytest.raises(UserError, match=r"the loss of epoch \d+ is (nan|inf): use a smaller learning_rate"):
        fine_tune(narrow(), images, labels, Schedule(6, 8, 1e6, (), 0.9, 0.0))


def test_rates_fall_at_the_milestones_and_are_those_of_the_steps(monkeypatch):
    used = []
    step = finetuning.Training.step
    monkeypatch.setattr(
        finetuning.Training,
        "step",
        lambda training, *of: (used.append(training.optimiser.param_groups[0]["lr"]), step(training, *of))[1],
    )
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
