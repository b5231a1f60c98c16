"""Methods of `Tensor` for gradients, installed as those of `tensor_methods` are."""
from __future__ import annotations

from typing import Callable

from . import autograd
from ..dialect import dtypes
from ..errors import DTypeError
from .dispatch import current_recorder, recording_gradients
from .tensor import Tensor


def backward(self: Tensor, gradient=None, retain_graph: bool | None = None, create_graph: bool = False) -> None:
    """Add the gradient of this tensor to `grad` of every leaf that requires gradients and that it depends on.

    gradient: of this tensor's shape; 1 for a tensor of one element, ShapeError without it for others. create_graph: the gradients are
    on the tape too, for second derivatives. The tape is kept, so `retain_graph` changes nothing. Raises OnemlirError where an
    operand that is needed was changed in place. Source: torch.
    """
    autograd.backward(self, gradient, create_graph)


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Say whether gradients are wanted for this tensor; DTypeError unless it is floating. Returns the tensor."""
    if requires_grad and not dtypes.is_floating(self.dtype):
        raise DTypeError(f"only floating tensors have gradients, found {self.dtype}")
    self.requires_grad = bool(requires_grad)
    return self


def detach(self: Tensor) -> Tensor:
    """The same data, cut off from gradients."""
    recorder = current_recorder()
    if recorder is None:
        return Tensor._wrap(self._array)
    if not recording_gradients() or not self.requires_grad:
        return self
    return Tensor._recorded(recorder._as_node(self), self._scope)


def register_hook(self: Tensor, hook: Callable):
    """Call ``hook(gradient)`` when this tensor's gradient is complete; what it returns, unless None, replaces it. The result has `remove`."""
    return autograd.add_hook(self, hook)


def retain_grad(self: Tensor) -> None:
    """Keep this tensor's gradient in `grad` although it is no leaf."""
    autograd.retain(self)


def is_leaf(self: Tensor) -> bool:
    """Whether no op on the tape made this tensor."""
    return self._tape is None


def install() -> None:
    """Give Tensor these methods."""
    for function in (backward, requires_grad_, detach, register_hook, retain_grad):
        function.__qualname__ = f"Tensor.{function.__name__}"
        setattr(Tensor, function.__name__, function)
    Tensor.is_leaf = property(is_leaf)


install()
