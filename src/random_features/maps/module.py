"""A feature map as a module of PyTorch, for deep kernels, Gaussian processes and attention."""

from copy import copy

import numpy as np
import torch

from random_features.tensors import on_host


class FeatureModule(torch.nn.Module):
    """The features of a drawn map as a module whose length scale is learned; ``RandomFeatureMap.as_module`` makes it.

    The draws, and the length scale that they are for, are buffers: ``state_dict`` has them, and they do not change.

    Attributes
    ----------
    log_length_scale : Parameter
        The logarithm of the length scale; None for a kernel without one.
    """

    def __init__(self, phi):
        super().__init__()
        self._map = copy(phi)
        for name, value in vars(self._map).items():
            for buffer, part in _parts(name, value).items():
                self.register_buffer(buffer, torch.tensor(np.array(part)))
        length_scale = self._map.kernel_.get_params().get("length_scale")
        self.register_parameter("log_length_scale", None)
        if length_scale is not None:
            self.register_buffer("drawn_for", torch.tensor(float(length_scale), dtype=torch.float64))
            self.log_length_scale = torch.nn.Parameter(self.drawn_for.log())
        self.register_load_state_dict_post_hook(_use_buffers)

    def _apply(self, fn, recurse=True):
        """Move the module, or change the type of its parameter: draws keep theirs, because rounding spoils phases."""
        draws = self._buffers.copy()
        super()._apply(fn, recurse)
        for name, moved in self._buffers.items():
            self._buffers[name] = moved if moved.dtype == draws[name].dtype else draws[name].to(moved.device)
        return self

    def forward(self, X):
        """Return the features (..., D) of a tensor X (..., d), of its type if this is a float, else float64.

        Autograd sees through them, to X and to the length scale.
        """
        rows = X.reshape(-1, X.shape[-1])  # other types become float64 here: they would round the factor
        rows = rows if rows.dtype == torch.float32 else rows.double()
        if self.log_length_scale is not None:
            rows = rows * (self.drawn_for * torch.exp(-self.log_length_scale)).to(rows)
        # ``transform`` would return a frame where ``set_output`` of scikit-learn asks for one
        ((_, features),) = self._map.transform_blocks(rows, len(rows))
        features = features.reshape(*X.shape[:-1], -1)
        return features.to(X.dtype) if X.is_floating_point() else features


def _parts(name: str, value) -> dict:
    """Return the arrays and numbers of an attribute of a map, by the names of their buffers."""
    parts = {f"{name}_{i}": part for i, part in enumerate(value)} if isinstance(value, list) else {name: value}
    return {buffer: part for buffer, part in parts.items() if isinstance(part, np.ndarray | float)}


def _use_buffers(module, _keys) -> None:
    """Give the map of a module the draws that were loaded into its buffers, and the length scale that they are for."""
    phi, loaded = module._map, {name: on_host(buffer).copy() for name, buffer in module.named_buffers()}
    for name, value in list(vars(phi).items()):
        if own := [loaded[buffer][()] for buffer in _parts(name, value)]:
            setattr(phi, name, own if isinstance(value, list) else own[0])
    if "drawn_for" in loaded:
        phi.kernel_ = phi.kernel_.with_params(length_scale=float(loaded["drawn_for"]))
