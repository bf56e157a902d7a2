"""A CUDA device that computes on the CPU, for machines without a GPU.

Its tensors refuse what tensors of a GPU refuse: an operation with a tensor of the host, and NumPy on their memory.
Their numbers are the CPU's, so that the card shows neither the rounding of a GPU nor its time.
"""

import threading
from contextlib import ExitStack, contextmanager, nullcontext
from unittest.mock import MagicMock, patch

import torch
from torch.overrides import TorchFunctionMode

DEVICE = torch.device("cuda:0")

#: Attributes that depend on the device, as functions of torch, with their values for a tensor on the card.
ATTRIBUTES = {
    torch.Tensor.device.__get__: DEVICE,
    torch.Tensor.is_cuda.__get__: True,
    torch.Tensor.is_cpu.__get__: False,
}

#: Functions that read memory of the host.
OF_THE_HOST = {"numpy", "__array__", "__dlpack__"}

#: Functions that take tensors of two devices: copies, and indices from the host.
OF_BOTH = {"copy_", "__getitem__", "__setitem__", "index_put_"}

MEMORY = 1 << 33


class CardTensor(torch.Tensor):
    """A tensor on the card."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return computed(function, args, kwargs or {})

    def __deepcopy__(self, memo):
        return self.clone()


class Card(TorchFunctionMode):
    """All functions of torch within it, also those that make tensors."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        return computed(function, args, kwargs or {})


@contextmanager
def inserted():
    """Let PyTorch see the card within this context, in threads that start in it, too."""
    run, generator = threading.Thread.run, torch.Generator

    def run_with_card(thread):
        with Card():
            run(thread)

    in_cuda = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "mem_get_info": lambda device: (MEMORY, MEMORY),
        "memory_reserved": lambda device: 0,
        "memory_allocated": lambda device: 0,
        "Stream": MagicMock(),
        "stream": nullcontext,
    }
    with ExitStack() as stack:
        stack.enter_context(patch.multiple(torch.cuda, **in_cuda))
        stack.enter_context(patch.object(torch, "Generator", lambda device: generator()))
        stack.enter_context(patch.object(threading.Thread, "run", run_with_card))
        yield stack.enter_context(Card())


def computed(function, args, options):
    """Return what a function of torch returns, with its tensors on the device where they would be."""
    name, tensors = function.__name__, list(tensors_in((args, options)))
    on_card = [tensor for tensor in tensors if isinstance(tensor, CardTensor)]
    with torch._C.DisableTorchFunctionSubclass():
        if on_card and function in ATTRIBUTES:
            return ATTRIBUTES[function]
        if on_card and name in OF_THE_HOST:
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        if name in ("cpu", "cuda"):
            return moved(args[0], torch.device(name), args[0].dtype)
        if name == "to" and "meta" not in map(str, args[1:]):
            device, dtype, *_ = torch._C._nn._parse_to(*args[1:], **options)
            return moved(args[0], device or (DEVICE if on_card else torch.device("cpu")), dtype or args[0].dtype)
        if on_card and name not in OF_BOTH and any(t.ndim and not isinstance(t, CardTensor) for t in tensors):
            raise RuntimeError(f"Expected all tensors to be on the same device, but {name} has one on the CPU")
        options = {key: value for key, value in options.items() if key != "pin_memory"}
        goes_to_card = bool(on_card) and (name not in OF_BOTH or isinstance(args[0], CardTensor))
        if options.get("device") is not None:
            goes_to_card = torch.device(options["device"]).type == "cuda"
            options["device"] = "cpu"
        result = function(*args, **options)
        return result if any(result is tensor for tensor in tensors) else placed(result, goes_to_card)


def tensors_in(values):
    """Yield the tensors in nested containers."""
    for value in values.values() if isinstance(values, dict) else values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple | dict):
            yield from tensors_in(value)


def moved(tensor, device, dtype):
    """Return a tensor on a device and in a type; the tensor itself if it has both."""
    is_there = isinstance(tensor, CardTensor) == (device.type == "cuda")
    return tensor if is_there and tensor.dtype == dtype else placed(tensor.to(dtype, copy=True), device.type == "cuda")


def placed(value, on_card: bool):
    """Return the tensors in a result of torch on the card, or on the host; anything else is returned as it is."""
    if isinstance(value, tuple) and type(value) is not torch.Size:
        return type(value)([placed(each, on_card) for each in value])
    if not isinstance(value, torch.Tensor) or isinstance(value, CardTensor) == on_card:
        return value
    if value.layout == torch.strided:
        return value.as_subclass(CardTensor if on_card else torch.Tensor)
    if on_card:
        return torch.Tensor._make_subclass(CardTensor, value)
    how = {"is_coalesced": value.is_coalesced(), "check_invariants": False}
    return torch.sparse_coo_tensor(value._indices(), value._values(), value.shape, **how)
