"""Share checkpoints in memory, threads of PyTorch, and a guard of tensors that stay where they are."""

from contextlib import contextmanager

import numpy as np
import torch


class Killed(Exception):
    """The end of a process."""


class Checkpoints(list):
    """Checkpoints in memory that kill the process after so many."""

    kill_after = None

    def append(self, **arrays):
        super().append({name: np.array(value) for name, value in arrays.items()})
        if len(self) == self.kill_after:
            raise Killed

    def load(self):
        return [*self]


@contextmanager
def torch_threads(threads):
    """Let PyTorch use so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def keep_tensors_in_place(monkeypatch, most, ways):
    """Fail if a tensor of more than ``most`` numbers goes to the host, or to NumPy, by some methods of tensors."""

    def checked(name, original):
        def call(self, *arguments, **how):
            assert self.numel() <= most, f"{name} of {tuple(self.shape)} numbers"
            return original(self, *arguments, **how)

        return call

    for name in ways:
        monkeypatch.setattr(torch.Tensor, name, checked(name, getattr(torch.Tensor, name)))
