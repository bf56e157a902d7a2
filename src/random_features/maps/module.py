"""A feature map as a module of PyTorch, for deep kernels, Gaussian processes and attention."""

from copy import copy

import numpy as np
import torch


class FeatureModule(torch.nn.Module):
    """The features of a drawn map as a module whose length scale is learned; ``RandomFeatureMap.as_module`` makes it.

    The draws are buffers, so ``state_dict`` has them, and they do not change.

    Attributes
    ----------
    log_length_scale : Parameter
        The logarithm of the length scale; None for a kernel without one.
    """

    def __init__(self, phi):
        super().__init__()
        self._map = copy(phi)
        for name, value in vars(self._map).items():
            if isinstance(value, np.ndarray):
                self.register_buffer(name, torch.from_numpy(value.copy()))
        length_scale = self._map.kernel_.get_params().get("length_scale")
        self._drawn_for = length_scale
        start = None if length_scale is None else torch.nn.Parameter(torch.tensor(float(length_scale)).log())
        self.register_parameter("log_length_scale", start)
        self.register_load_state_dict_post_hook(lambda module, _: module._use_buffers())

    def _use_buffers(self) -> None:
        """Draw no more: take the arrays of the map from the buffers that were loaded."""
        vars(self._map).update({name: buffer.cpu().numpy().copy() for name, buffer in self.named_buffers()})

    def forward(self, X):
        """Return the features (n, D) of a tensor X (n, d); autograd sees through them, to X and to the length scale."""
        if self.log_length_scale is not None:
            X = X * (self._drawn_for * torch.exp(-self.log_length_scale)).to(X)
        return self._map.transform(X)
