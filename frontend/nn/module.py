"""`Module`: parameters, buffers and submodules by name, training mode, state, recording."""
from __future__ import annotations

from typing import Iterator

import numpy as np

from ...errors import OnemlirError
from ..dispatch import current_recorder
from ..tensor import Tensor


class Parameter(Tensor):
    """A tensor that a module learns."""

    __slots__ = ()

    def __init__(self, data, requires_grad: bool = True):
        super().__init__(data, None, requires_grad)


class Module:
    """Base of all layers. Assigning a Parameter, a Module or a registered buffer to an attribute makes it part of the module."""

    def __init__(self):
        for name in ("_parameters", "_buffers", "_modules"):
            object.__setattr__(self, name, {})
        object.__setattr__(self, "training", True)

    def __setattr__(self, name: str, value) -> None:
        if "_modules" not in self.__dict__:
            raise OnemlirError(f"{type(self).__name__}.__init__ must call super().__init__() before it sets '{name}'")
        for table in (self._parameters, self._buffers, self._modules):
            table.pop(name, None)
        table = self._parameters if isinstance(value, Parameter) else self._modules if isinstance(value, Module) else None
        if table is not None:
            self.__dict__.pop(name, None)
            table[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str):
        for table in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(table, {})
            if name in found:
                return found[name]
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")

    def register_buffer(self, name: str, tensor: Tensor | None) -> None:
        """Make a tensor part of the module's state that is no parameter."""
        self.__dict__.pop(name, None)
        self._buffers[name] = tensor

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Make a parameter (or None, for one that is left out) part of the module."""
        self.__dict__.pop(name, None)
        self._parameters[name] = parameter

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *args, **kwargs):
        recorder = current_recorder()
        if recorder is None:
            return self.forward(*args, **kwargs)
        with recorder.module(self):
            return self.forward(*args, **kwargs)

    # Walking.
    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, "Module"]]:
        """This module and all below it with their paths; each once."""
        yield from self._walk(prefix, set())

    def _walk(self, prefix: str, seen: set) -> Iterator[tuple[str, "Module"]]:
        if id(self) in seen:
            return
        seen.add(id(self))
        yield prefix, self
        for name, child in self._modules.items():
            yield from child._walk(f"{prefix}.{name}" if prefix else name, seen)

    def modules(self) -> Iterator["Module"]:
        return (module for _, module in self.named_modules())

    def children(self) -> Iterator["Module"]:
        return iter(self._modules.values())

    def named_children(self) -> Iterator[tuple[str, "Module"]]:
        return iter(self._modules.items())

    def _named(self, table: str) -> Iterator[tuple[str, Tensor]]:
        seen: set = set()
        for path, module in self.named_modules():
            for name, tensor in getattr(module, table).items():
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield (f"{path}.{name}" if path else name), tensor

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        return self._named("_parameters")

    def parameters(self) -> Iterator[Parameter]:
        return (tensor for _, tensor in self.named_parameters())

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        return self._named("_buffers")

    def buffers(self) -> Iterator[Tensor]:
        return (tensor for _, tensor in self.named_buffers())

    # Mode and state.
    def train(self, mode: bool = True) -> "Module":
        """Set training mode for this module and all below it."""
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self) -> "Module":
        """Set evaluation mode for this module and all below it."""
        return self.train(False)

    def state_dict(self) -> dict[str, np.ndarray]:
        """Copies of all parameters and buffers by name."""
        return {name: tensor.numpy() for name, tensor in [*self.named_parameters(), *self.named_buffers()]}

    def load_state_dict(self, state, strict: bool = True) -> None:
        """Copy arrays or tensors into the parameters and buffers of the same names.

        Raises OnemlirError listing missing, unexpected and wrongly shaped entries; nothing is changed then.
        """
        own = dict([*self.named_parameters(), *self.named_buffers()])
        arrays = {name: np.asarray(value) for name, value in state.items()}
        problems = [f"'{n}' is missing" for n in own if n not in arrays] + [f"'{n}' is not in the module" for n in arrays if n not in own] if strict else []
        problems += [f"'{n}' has shape {arrays[n].shape}, expected {own[n].shape}" for n in own if n in arrays and arrays[n].shape != own[n].shape]
        if problems:
            raise OnemlirError("state does not fit: " + "; ".join(problems))
        for name in own:
            if name in arrays:
                own[name]._array[...] = arrays[name]
                own[name]._version += 1

    def trace(self, *examples, **options):
        """Record the module in evaluation mode; see `onemlir.trace`."""
        from ... import trace

        return trace(self, *examples, **options)

    def extra_repr(self) -> str:
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._modules.items()]
        if not lines:
            return f"{type(self).__name__}({self.extra_repr()})"
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"
