"""`Module`: parameters, buffers and submodules by name, training mode, state, recording."""
from __future__ import annotations

import os
from typing import Any, Callable, Iterator, Mapping

import numpy as np

from ...dialect import dtypes
from ...errors import OnemlirError
from ..dispatch import current_recorder
from ..tensor import Tensor
from . import arguments, state, weights_file
from .hooks import HookHandle, run_with_hooks
from .parameter import Parameter, replace_data

_TABLES = ("_parameters", "_buffers", "_modules")


class Module:
    """Base of all layers. Assigning a Parameter, a Module or a registered buffer to an attribute makes it part of the module.

    A subclass calls ``super().__init__()`` first and defines `forward`; calling the module runs it.
    """

    training: bool

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if cls.__module__.startswith(__package__ + ".") and "__init__" in cls.__dict__:
            cls.__init__ = arguments.checked(cls.__init__)

    def __init__(self):
        for name in (*_TABLES, "_forward_pre_hooks", "_forward_hooks"):
            object.__setattr__(self, name, {})
        object.__setattr__(self, "_non_persistent", set())
        object.__setattr__(self, "training", True)

    # Attributes.
    def __setattr__(self, name: str, value) -> None:
        if "_modules" not in self.__dict__:
            raise OnemlirError(f"{type(self).__name__}.__init__ must call super().__init__() before it sets '{name}'")
        table = self._table_for(name, value)
        for other in _TABLES:
            if other != table:
                self.__dict__[other].pop(name, None)
        if table is None:
            object.__setattr__(self, name, value)
        else:
            self.__dict__.pop(name, None)
            self.__dict__[table][name] = value

    def _table_for(self, name: str, value) -> str | None:
        """Which table an assigned value goes to; None for a plain attribute."""
        if isinstance(value, Parameter):
            return "_parameters"
        if isinstance(value, Module):
            return "_modules"
        if isinstance(value, Tensor) and name in self._parameters:
            raise OnemlirError(f"'{name}' of {type(self).__name__} is a parameter: assign a Parameter or None, found a {type(value).__name__}")
        if isinstance(value, Tensor) or value is None:
            return next((t for t in _TABLES if name in self.__dict__[t] and (value is None or t == "_buffers")), None)
        return None

    def __getattr__(self, name: str):
        for table in _TABLES:
            found = self.__dict__.get(table, {})
            if name in found:
                return found[name]
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for table in _TABLES:
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                self._non_persistent.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        return sorted({*super().__dir__(), *(name for table in _TABLES for name in self.__dict__[table])})

    def _register(self, table: str, name: str, value, kind: type, what: str) -> None:
        if not isinstance(name, str) or not name or "." in name:
            raise OnemlirError(f"the name of a {what} must be text without dots, found {name!r}")
        if value is not None and not isinstance(value, kind):
            raise OnemlirError(f"{what} '{name}' must be a {kind.__name__} or None, found a {type(value).__name__}")
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise OnemlirError(f"{type(self).__name__} has an attribute '{name}' already")
        self.__dict__[table][name] = value

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Make a tensor that is no parameter part of the module; a persistent one is part of its state."""
        self._register("_buffers", name, tensor, Tensor, "buffer")
        (self._non_persistent.discard if persistent else self._non_persistent.add)(name)

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Make a parameter (or None, for one that is left out) part of the module."""
        self._register("_parameters", name, parameter, Parameter, "parameter")

    def add_module(self, name: str, module: "Module | None") -> None:
        """Make a module part of this one under a name."""
        self._register("_modules", name, module, Module, "module")

    register_module = add_module

    # Running.
    def forward(self, *args, **kwargs):
        """What the module computes; defined by subclasses."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *args, **kwargs):
        recorder = current_recorder()
        if recorder is None:
            return self._run(args, kwargs)
        with recorder.module(self):
            return self._run(args, kwargs)

    def _run(self, args: tuple, kwargs: dict):
        if self._forward_pre_hooks or self._forward_hooks:
            return run_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def register_forward_pre_hook(self, hook: Callable) -> HookHandle:
        """Call ``hook(module, args)`` before each forward; what it returns, unless None, replaces the arguments."""
        return HookHandle(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook: Callable) -> HookHandle:
        """Call ``hook(module, args, output)`` after each forward; what it returns, unless None, replaces the output."""
        return HookHandle(self._forward_hooks, hook)

    # Walking.
    def named_modules(self, prefix: str = "", remove_duplicate: bool = True) -> Iterator[tuple[str, "Module"]]:
        """This module and all below it with their paths; each once, unless duplicates are kept."""
        return self._walk(prefix, set() if remove_duplicate else None)

    def _walk(self, prefix: str, seen: set | None) -> Iterator[tuple[str, "Module"]]:
        if seen is not None:
            if id(self) in seen:
                return
            seen.add(id(self))
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child._walk(f"{prefix}.{name}" if prefix else name, seen)

    def modules(self) -> Iterator["Module"]:
        """This module and all below it, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, "Module"]]:
        """The modules directly below this one with their names."""
        return ((name, child) for name, child in self._modules.items() if child is not None)

    def children(self) -> Iterator["Module"]:
        """The modules directly below this one."""
        return (child for _, child in self.named_children())

    def _named(self, table: str, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[tuple[str, Tensor]]:
        seen: set = set()
        for path, module in self.named_modules(prefix, remove_duplicate) if recurse else [(prefix, self)]:
            for name, tensor in module.__dict__[table].items():
                if tensor is not None and not (remove_duplicate and id(tensor) in seen):
                    seen.add(id(tensor))
                    yield (f"{path}.{name}" if path else name), tensor

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Parameters with their paths, such as ``layers.0.weight``; a shared one under its first path."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, each once."""
        return (tensor for _, tensor in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Buffers with their paths."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers, each once."""
        return (tensor for _, tensor in self.named_buffers(recurse=recurse))

    def get_submodule(self, path: str) -> "Module":
        """The module at a path such as ``layers.0.attention``; itself for the empty path. Raises AttributeError."""
        module = self
        for name in path.split(".") if path else ():
            if module._modules.get(name) is None:
                found = ", ".join(map(repr, module._modules)) or "none"
                raise AttributeError(f"no module '{name}' of the path '{path}' in {type(module).__name__}; it has {found}")
            module = module._modules[name]
        return module

    def get_parameter(self, path: str) -> Parameter:
        """The parameter at a path. Raises AttributeError."""
        return self._at("_parameters", path, "parameter")

    def get_buffer(self, path: str) -> Tensor:
        """The buffer at a path. Raises AttributeError."""
        return self._at("_buffers", path, "buffer")

    def _at(self, table: str, path: str, what: str) -> Tensor:
        owner, _, name = path.rpartition(".")
        found = self.get_submodule(owner).__dict__[table].get(name)
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no {what} '{path}'")
        return found

    def apply(self, function: Callable[["Module"], Any]) -> "Module":
        """Call a function on every module below, then on this one. Returns the module."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def num_parameters(self, trainable: bool = False) -> int:
        """How many numbers the parameters hold; of those that require gradients alone when `trainable`."""
        return sum(p.size for p in self.parameters() if p.requires_grad or not trainable)

    # Mode and gradients.
    def train(self, mode: bool = True) -> "Module":
        """Set training mode for this module and all below it."""
        for module in self.modules():
            object.__setattr__(module, "training", bool(mode))
        return self

    def eval(self) -> "Module":
        """Set evaluation mode for this module and all below it."""
        return self.train(False)

    def requires_grad_(self, mode: bool = True) -> "Module":
        """Say for all parameters whether they are learned."""
        for parameter in self.parameters():
            parameter.requires_grad = mode
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or fill them with zeros."""
        for parameter in self.parameters():
            keep = parameter.grad is not None and not set_to_none
            parameter.grad = Tensor(np.zeros(parameter.shape, parameter.dtype)) if keep else None

    # Dtype.
    def to(self, dtype) -> "Module":
        """Convert floating parameters and buffers to a dtype, in place. Returns the module."""
        dtype = dtypes.dtype_of(dtype)
        if not dtypes.is_floating(dtype):
            raise OnemlirError(f"a module is converted to a floating dtype, found {dtype}")
        for tensor in [*self.parameters(), *self.buffers()]:
            if dtypes.is_floating(tensor.dtype) and tensor.dtype != dtype:
                replace_data(tensor, tensor._array.astype(dtype))
                tensor.grad = None
        return self

    def float(self) -> "Module":
        """Convert to f32."""
        return self.to(dtypes.float32)

    def double(self) -> "Module":
        """Convert to f64."""
        return self.to(dtypes.float64)

    def half(self) -> "Module":
        """Convert to f16."""
        return self.to(dtypes.float16)

    def bfloat16(self) -> "Module":
        """Convert to bf16."""
        return self.to(dtypes.bfloat16)

    # State.
    def state_dict(self, prefix: str = "") -> dict[str, np.ndarray]:
        """Copies of all parameters and persistent buffers by name, with `prefix` before each name."""
        return {name: tensor.numpy() for name, tensor in state.named_state(self, prefix)}

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, prefix: str = "") -> state.IncompatibleKeys:
        """Copy arrays or tensors (also torch's) into the parameters and buffers of the same names, cast to their dtypes.

        With a `prefix` only the entries whose names begin with it are taken, without it. Returns the names that were missing and
        those that were not expected; with `strict` they are errors. Raises OnemlirError that lists all that does not fit
        (ShapeError where only shapes do not), and then changes nothing.
        """
        return state.load(self, state_dict, strict, prefix)

    def save_safetensors(self, path: str | os.PathLike) -> None:
        """Write the state to a safetensors file; an existing file is replaced when all is written, or not at all."""
        weights_file.write(path, self.state_dict())

    def load_safetensors(self, path: str | os.PathLike, strict: bool = True, prefix: str = "") -> state.IncompatibleKeys:
        """Load the state from a safetensors file; as `load_state_dict`, and FormatError for a damaged file."""
        return self.load_state_dict(weights_file.read(path), strict, prefix)

    # Recording and printing.
    def trace(self, *examples, **options):
        """Record the module in evaluation mode; see `onemlir.trace`."""
        from ... import trace

        return trace(self, *examples, **options)

    def extra_repr(self) -> str:
        """What stands in the parentheses when the module is printed."""
        return ""

    def __repr__(self) -> str:
        children = [f"({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._modules.items()]
        lines = ([self.extra_repr()] if self.extra_repr() and children else []) + children
        if not lines:
            return f"{type(self).__name__}({self.extra_repr()})"
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"
