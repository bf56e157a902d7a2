"""Fine-tune a network on labelled images by stochastic gradient descent with a schedule; a killed job resumes.

Every epoch has its own seed. It determines the order of the images, their shifts and mirrors, and the dropout. On a
CPU, a network that resumes from a checkpoint is therefore bitwise equal to one that was never interrupted. On CUDA the
arithmetic is in mixed precision, and its sums have no fixed order.
"""

import math
import sys
import time
from collections import namedtuple
from pathlib import Path

import torch
from torch.nn import functional
from tqdm import tqdm

from random_features.arrays import seed_of
from random_features.errors import UserError
from rfstudy.data.networks import normalised
from rfstudy.files import write_atomically

#: Largest shift of an image in pixels, in both directions; new pixels are black.
SHIFT = 4

#: Seconds between two checkpoints: one of the whole network takes a gigabyte.
CHECKPOINT_SECONDS = 120.0


class Schedule(namedtuple("Schedule", "epochs batch learning_rate milestones momentum weight_decay")):
    """The schedule of a fit: ``epochs`` over all images in batches of ``batch``, by steps of ``learning_rate`` that are
    divided by ten at each of the ``milestones`` (epochs), with ``momentum`` and ``weight_decay``.
    """

    def rate(self, epoch: int) -> float:
        """Return the learning rate in an epoch, from 0.

        >>> schedule = Schedule(240, 64, 0.1, (120, 160, 200), 0.9, 5e-4)
        >>> [round(schedule.rate(epoch), 6) for epoch in (0, 119, 120, 160, 200, 239)]
        [0.1, 0.1, 0.01, 0.001, 0.0001, 0.0001]
        """
        return self.learning_rate * 0.1 ** sum(epoch >= milestone for milestone in self.milestones)


class Training:
    """A network (on its device) with its optimiser and its finished epochs, those of an earlier ``state`` if there is
    one.
    """

    def __init__(self, network, schedule: Schedule, state: dict | None):
        self.network, self.schedule = network, schedule
        self.device = next(network.parameters()).device
        how = {key: getattr(schedule, key) for key in ("momentum", "weight_decay")}
        self.optimiser = torch.optim.SGD(network.parameters(), lr=schedule.learning_rate, **how)
        self.is_mixed = self.device.type == "cuda"  # bfloat16 and this layout take 0.55 times as long (H200)
        if self.is_mixed:
            network.to(memory_format=torch.channels_last)
        self.losses: list[float] = state["losses"] if state else []  # mean over the images, by epoch
        if state:
            network.load_state_dict(state["network"])
            self.optimiser.load_state_dict(state["optimiser"])

    def state(self) -> dict:
        """Return the state on which the remaining epochs depend."""
        return {"network": self.network.state_dict(), "optimiser": self.optimiser.state_dict(), "losses": self.losses}

    def epoch(self, images, labels, progress) -> None:
        """Run one pass over the images of bytes (n, 3, side, side) and their labels (n,), on the device of the network.

        Raise ``UserError`` if the loss is no longer finite.
        """
        number, total = len(self.losses), 0.0
        for group in self.optimiser.param_groups:
            group["lr"] = self.schedule.rate(number)
        torch.manual_seed(seed_of("fine-tuning", number))
        self.network.train()
        for rows in torch.randperm(len(images)).split(self.schedule.batch):
            if len(rows) > 1:  # a single image has no deviation to normalise by
                total += len(rows) * self.step(augmented(images[rows.to(self.device)]), labels[rows.to(self.device)])
            progress.update(len(rows))
        mean = float(total) / len(images)
        if not math.isfinite(mean):
            raise UserError(f"the loss of epoch {number + 1} is {mean}: use a smaller learning_rate")
        self.losses.append(mean)
        progress.set_postfix(epoch=number + 1, loss=f"{mean:.4f}")

    def step(self, images, labels):
        """Make one step of the descent and return the mean loss before it, a detached tensor."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.is_mixed):
            loss = functional.cross_entropy(self.network(normalised(images)), labels)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        return loss.detach()


def fine_tune(network, images, labels, schedule: Schedule, checkpoint=None, key: str = "") -> list[float]:
    """Fit a network in place to images of bytes (n, 3, side, side) with labels (n,) 0 to classes - 1.

    Parameters
    ----------
    network : module
        It is on its device, to which the tensors are moved.
    images, labels : tensor
    checkpoint : path, optional
        The state from which a killed run resumes; it is written every ``CHECKPOINT_SECONDS``, and after the last epoch.
    key : str
        Hash of everything that decides the result: a checkpoint with another key is ignored.

    Returns
    -------
    list of float
        The mean loss of every epoch, under its augmentations.
    """
    with torch.random.fork_rng():
        training = Training(network, schedule, load_checkpoint(checkpoint, key))
        images, labels = images.to(training.device), labels.to(training.device)
        written, done = time.monotonic(), len(training.losses)
        with tqdm(
            total=schedule.epochs * len(images), initial=done * len(images), desc="fine-tuning", unit="image",
            unit_scale=True, file=sys.stderr, mininterval=5,
        ) as progress:  # fmt: skip
            while len(training.losses) < schedule.epochs:
                training.epoch(images, labels, progress)
                is_last = len(training.losses) == schedule.epochs
                if checkpoint and (is_last or time.monotonic() - written >= CHECKPOINT_SECONDS):
                    save_checkpoint(checkpoint, training.state() | {"key": key})
                    written = time.monotonic()
    return training.losses


def save_checkpoint(path, state: dict) -> None:
    """Write a state. If the process is killed meanwhile, the previous state remains."""

    def write(temporary):
        with open(temporary, "wb") as stream:  # torch requires more of a name than that it can be opened
            torch.save(state, stream)

    write_atomically(path, write)


def load_checkpoint(path, key: str) -> dict | None:
    """Return the state of an earlier run with this key; None if there is none, or none that can be read."""
    if path is None or not Path(path).exists():
        return None
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        if state["key"] == key:
            return state
        why = "is of other settings, images or code"
    except Exception as error:  # a file that was cut or changed fails in many ways
        why = f"cannot be read ({error})"
    print(f"{path} {why}: fine-tuning starts anew", file=sys.stderr)
    return None


def augmented(images):
    """Return images (n, 3, side, side), each randomly mirrored or not and shifted by up to ``SHIFT`` pixels."""
    n, _, height, width = images.shape
    padded = functional.pad(images, (SHIFT,) * 4)
    down, right = torch.randint(0, 2 * SHIFT + 1, (2, n, 1))
    mirrored = torch.randint(0, 2, (n, 1)).bool()
    rows, columns = down + torch.arange(height), right + torch.arange(width)
    columns = torch.where(mirrored, columns.flip(1), columns)
    rows, columns = (of.to(images.device) for of in (rows[:, None, :, None], columns[:, None, None, :]))
    return padded[torch.arange(n)[:, None, None, None], torch.arange(3)[None, :, None, None], rows, columns]
