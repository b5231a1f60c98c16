"""One recording of a torch program: torch functions as they are called, answered with ops of the dialect."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from ...errors import OnemlirError, UnsupportedOpError
from ..locations import user_line
from ..recording import Recorder
from ..symbolic_int import SymbolicInt
from ..tensor import Tensor
from .arrays import shared_array, to_torch
from .autocast import autocast
from .complex_tensor import call_complex, constant_parts, is_complex, no_value, RecordedComplex
from .composites import composed, fixed_sizes, python_body
from .dtypes import to_numpy_dtype
from .layouts import keep_call, shares_memory
from .names import is_reversed, names_of
from .registry import find, Handler, HANDLERS
from .script_calls import is_script_call, run_script
from .sizes import from_sym_int, to_sym_int
from .tensor import compacted, RecordedTensor, reshape_in_place, Storage, value_of, view_of, View, write

AS_THEY_ARE = ("dim", "ndimension", "is_complex", "is_floating_point", "is_conj", "is_neg", "element_size", "__hash__", "is_tensor", "result_type", "_is_view",
               "is_signed", "get_device", "is_inference")  # they answer for complex tensors, too
COMPACT = ("contiguous", "reshape", "reshape_as", "flatten", "ravel")  # they copy where the elements do not lie in order
PLAIN = (int, float, bool, str, bytes, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format, type(Ellipsis))


class FunctionMode(TorchFunctionMode):
    """Hands every torch function call of the program to the recording."""

    def __init__(self, recording: "TorchRecording"):
        super().__init__()
        self.recording = recording

    def __torch_function__(self, function, types, args=(), kwargs=None):
        return self.recording.call(function, args, kwargs or {})


class TorchRecording:
    """Maps torch tensors to the recorder's, functions to handlers; keeps what is missing until the end."""

    def __init__(self, recorder: Recorder, names: dict[int, tuple[str, torch.Tensor]]):
        self.recorder = recorder
        self.names = names  # id of a parameter or buffer -> its name and itself
        self.captured: dict[int, tuple[torch.Tensor, int, RecordedTensor | RecordedComplex]] = {}
        self.shared: dict[int, torch.Tensor] = {}  # id of our tensor of a parameter -> torch's
        self.missing: dict[tuple, str] = {}
        self.decomposing: list = []
        self.composing: list = []
        self.mode = FunctionMode(self)

    # Values.
    def recorded(self, tensor: torch.Tensor) -> RecordedTensor:
        """The recorded tensor of any torch tensor: a parameter by its name, another from outside as a constant."""
        if isinstance(tensor, RecordedTensor):
            return tensor
        if is_complex(tensor):
            return no_value(tensor)
        return self._captured(tensor, lambda: self._parameter(tensor, tensor) if id(tensor) in self.names else _outside(Tensor._wrap(shared_array(tensor).copy())))

    def recorded_complex(self, tensor: torch.Tensor) -> RecordedComplex:
        """The recorded tensor of any complex torch tensor. A parameter has its parts along one more axis, as torch.view_as_real shows it."""
        return tensor if isinstance(tensor, RecordedComplex) else self._captured(tensor, lambda: self._captured_complex(tensor))

    def _captured(self, tensor: torch.Tensor, make: Callable):
        found = self.captured.get(id(tensor))
        version = version_of(tensor)
        if found is not None and found[1] == version:
            return found[2]
        self.captured[id(tensor)] = (tensor, version, make())
        return self.captured[id(tensor)][2]

    def _captured_complex(self, tensor: torch.Tensor) -> RecordedComplex:
        if id(tensor) not in self.names:
            return RecordedComplex(*map(_outside, constant_parts(tensor)))
        with torch._C.DisableTorchFunction():
            whole = self._parameter(tensor, torch.view_as_real(tensor.detach().resolve_conj()))
        return RecordedComplex(*(self.call(torch.Tensor.select, (whole, -1, i), {}) for i in range(2)))

    def _parameter(self, tensor: torch.Tensor, data: torch.Tensor) -> RecordedTensor:
        name, _ = self.names[id(tensor)]
        ours = Tensor._wrap(shared_array(data))
        self.recorder.parameter_names[id(ours)] = name
        self.shared[id(ours)] = tensor
        value = Tensor._recorded(self.recorder.lift(ours))
        return RecordedTensor(value, Storage(value, f"the parameter or buffer '{name}'"))

    def to_ours(self, value):
        """torch's tensors, dtypes and sizes in an argument as ours."""
        if isinstance(value, torch.Tensor):
            return value_of(self.recorded(value))
        if type(value) in PLAIN:
            return value
        if isinstance(value, (tuple, list)):
            items = [self.to_ours(v) for v in value]
            return items if isinstance(value, list) else tuple(items)
        if isinstance(value, slice):
            return slice(*(self.to_ours(v) for v in (value.start, value.stop, value.step)))
        if isinstance(value, dict):
            return {k: self.to_ours(v) for k, v in value.items()}
        return from_sym_int(value)

    def to_theirs(self, value):
        """What a handler gives as the program takes it."""
        if isinstance(value, Tensor):
            return RecordedTensor(value)
        if isinstance(value, (tuple, list)):
            items = [self.to_theirs(v) for v in value]
            return type(value)(items) if not hasattr(value, "_fields") else type(value)(*items)
        return to_sym_int(value)

    # Calls.
    def call(self, function: Callable, args: tuple, kwargs: dict):
        """The result of a torch function in the recorded program. Errors name the user's line."""
        try:
            return self._call(function, args, kwargs)
        except OnemlirError as error:
            if f"{user_line().filename}:" in str(error):
                raise
            raise self.recorder.located(error) from None

    def _call(self, function: Callable, args: tuple, kwargs: dict):
        if is_script_call(function):
            return run_script(self, function, args, kwargs)
        handler, name = find(function)
        if torch.is_autocast_enabled("cpu"):
            args, kwargs = autocast(self, function, args, kwargs)
        of_complex = is_complex(args) or bool(kwargs) and is_complex(list(kwargs.values()))
        if of_complex:
            done, result = call_complex(self, function, args, kwargs)
            if done:
                return result
            if not name.startswith(("get:", "set:")) and name not in AS_THEY_ARE:
                handler = None
        if handler is not None:
            result = self._handle(function, handler, args, kwargs)
            if result is not NotImplemented or name.startswith("__"):
                keep_call(result, function, args, kwargs)
                return result
        last = names_of(function)[-1]
        if last.endswith("_") and not last.endswith("__") and not of_complex:
            done, result = self._in_place(function, args, kwargs)
            if done:
                return result
        body = python_body(function)
        if body is not None:
            with self.mode:
                return body(*args, **kwargs)
        if not self.depends(args) and not self.depends(kwargs):
            return self._constant(function, args, kwargs)
        from .decompositions import decomposed

        for take_apart in (composed, decomposed):
            done, result = take_apart(self, function, args, kwargs)
            if done:
                return result
        return self._missing(function, f"{name} of complex numbers" if of_complex else name, args, kwargs)

    def part(self, function: Callable, args: tuple, kwargs: dict):
        """The result of an ATen op that a composite function in C++ calls."""
        result = self.call(function, args, kwargs)
        if not fixed_sizes(result):
            self.recorder.refuse(f"{names_of(self.composing[-1])[-1]} of data-dependent shapes", "compose it of other functions")
        return result

    def _handle(self, function, handler: Handler, args, kwargs):
        if handler.kind == "raw":
            return handler.function(self, *args, **kwargs)
        out = kwargs.get("out")
        kwargs = {k: v for k, v in kwargs.items() if k != "out"}
        ours, named = [self.to_ours(a) for a in args], {k: self.to_ours(v) for k, v in kwargs.items()}
        if handler.kind == "view" and not (named and not handler.takes(ours, named)):
            views = handler.function(*ours, **named)
            base = self.recorded(args[0] if args else kwargs["input"])
            if views is NotImplemented or isinstance(views, View) and names_of(function)[-1] in COMPACT:
                return views if views is NotImplemented else compacted(base, views, lambda: shares_memory(function, args, kwargs))
            return self._views(base, views)
        if named and not handler.takes(ours, named):  # torch's own names of another overload
            return NotImplemented
        result = handler.function(*(reversed(ours) if is_reversed(function) else ours), **named)
        if result is NotImplemented:
            return NotImplemented
        if kwargs.get("inplace") is True:
            return self.assign(args[0] if args else kwargs["input"], result)
        if out is not None:
            return self.assign(out, result)
        return self.to_theirs(result)

    def _views(self, base: RecordedTensor, views):
        if isinstance(views, (tuple, list)):
            return tuple(self._views(base, v) for v in views)
        return view_of(base, views) if isinstance(views, View) else self.to_theirs(views)

    def _in_place(self, function, args, kwargs) -> tuple[bool, Any]:
        """``x.add_(y)`` as ``x = x.add(y)``; ``x.unsqueeze_(0)`` as another view of the memory of x."""
        for name in names_of(function):
            handler = HANDLERS.get(name[:-1]) if name.endswith("_") else None
            if handler is not None and handler.kind == "view":
                view = handler.function(*[self.to_ours(a) for a in args], **{k: self.to_ours(v) for k, v in kwargs.items()})
                return True, reshape_in_place(self.recorded(args[0]), view)
            if handler is not None and handler.kind == "pure":
                result = handler.function(*[self.to_ours(a) for a in args], **{k: self.to_ours(v) for k, v in kwargs.items()})
                return True, self.assign(args[0], result)
        return False, None

    def assign(self, target, result):
        """Write a result into a tensor that the program holds."""
        if isinstance(target, (tuple, list)):
            return type(target)(self.assign(t, r) for t, r in zip(target, result))
        from ..ops.shape import expand

        recorded = self.recorded(target)
        before = value_of(recorded)
        result = result.astype(before.dtype)
        if result.ndim != before.ndim or any(a is not b and a != b for a, b in zip(result.shape, before.shape)):
            result = expand(result, before.shape)
        write(recorded, result)
        return target

    def depends(self, value) -> bool:
        """Whether a value is known only when the model runs, or is a parameter."""
        if isinstance(value, RecordedTensor):
            return value_of(value)._node is not None
        if isinstance(value, RecordedComplex):
            return any(map(self.depends, value.parts))
        if isinstance(value, torch.Tensor):
            return id(value) in self.names
        if isinstance(value, dict):
            return any(map(self.depends, value.values()))
        if isinstance(value, (tuple, list)):
            return any(map(self.depends, value))
        return isinstance(from_sym_int(value), SymbolicInt)

    def _constant(self, function, args, kwargs):
        """A function of constants alone is computed by torch."""
        data = lambda t: to_torch(value_of(t)._array)
        result = function(*_replaced(args, data), **_replaced(kwargs, data))
        known = lambda t: RecordedComplex(*map(RecordedTensor, constant_parts(t))) if t.dtype.is_complex else RecordedTensor(Tensor._wrap(shared_array(t).copy()))
        return torch.utils._pytree.tree_map_only(torch.Tensor, known, result)

    def made_of_weights(self, old, tensor: RecordedTensor | RecordedComplex) -> bool:
        """Whether a tensor follows from weights alone and may be forgotten: it replaces one that was not looked at (weight_norm), or is cached."""
        if isinstance(tensor, RecordedComplex):
            return all(self.made_of_weights(old, part) for part in tensor.parts)
        node = value_of(tensor)._node
        if node is None or depends_on_inputs(node.value):
            return False
        return id(old) not in self.captured if isinstance(old, torch.Tensor) else old is None and depends_on_weights(node.value)

    # What is missing.
    def _missing(self, function, name: str, args, kwargs):
        line = user_line()
        if self.composing:
            name = f"{names_of(self.composing[0])[-1]} ({name.removesuffix('.default')})"
        self.missing.setdefault((name, line), f"{name} at {line}" + (f" in module '{'.'.join(self.recorder.path)}'" if self.recorder.path else ""))
        try:
            return self._stand_in(function, args, kwargs)
        except Exception:  # the function does not run on stand-ins: what is known by now is reported
            self.report()

    def missing_function(self, name: str):
        """Note what cannot be recorded, and stop."""
        self._missing(None, name, (), {})

    def _stand_in(self, function, args, kwargs):
        """Zeros of the shape that the result has in the example, so that the recording can go on and find what else is missing."""
        with torch.no_grad():
            plain = lambda t: torch.zeros(self.example_shape(t), dtype=t.dtype)
            result = function(*_replaced(args, plain), **_replaced(kwargs, plain))
        zeros = lambda t: RecordedTensor(Tensor._recorded(self.recorder.full(0, tuple(t.shape), to_numpy_dtype(t.dtype))))
        made = lambda t: RecordedComplex(*map(zeros, (t.real, t.imag))) if t.dtype.is_complex else zeros(t)
        return torch.utils._pytree.tree_map_only(torch.Tensor, made, result)

    def example_shape(self, tensor: RecordedTensor) -> tuple[int, ...]:
        return tuple(s if isinstance(s, int) else s.example for s in value_of(tensor).shape)

    def report(self) -> None:
        """UnsupportedOpError with everything that is missing, if anything is."""
        if self.missing:
            listed = "\n".join(f"  {text}" for text in self.missing.values())
            raise UnsupportedOpError(f"the program uses torch functions that cannot be recorded:\n{listed}\n"
                                     "  onemlir.frontend.torch.register_op teaches the recorder a function")

    # Reading.
    def depends_on_inputs(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor is known only when the model runs."""
        value = value_of(self.recorded(tensor))
        return value._node is not None and depends_on_inputs(value._node.value)

    def read(self, tensor: torch.Tensor, what: str) -> np.ndarray:
        """The data of a tensor: known for constants, by the recording's rule for what depends on inputs."""
        value = value_of(self.recorded(tensor))
        if value._node is not None and not self.depends_on_inputs(tensor):
            return np.asarray(self.recorder.interpreter().value(value._node.value))
        if self.missing:
            self.report()
        return value._read(what)


def _outside(value: Tensor) -> RecordedTensor:
    """A tensor with data that the program found outside."""
    return RecordedTensor(value, Storage(value, "a tensor from outside the recording"))


def _replaced(value, data: Callable[[RecordedTensor], torch.Tensor]):
    """A value with torch tensors with data for the recorded ones."""
    def of(tensor):
        return torch.complex(*map(data, tensor.parts)) if isinstance(tensor, RecordedComplex) else data(tensor)
    return torch.utils._pytree.tree_map_only((RecordedTensor, RecordedComplex), of, value)


def version_of(tensor: torch.Tensor) -> int:
    """How often a tensor was changed in place; 0 for inference tensors, which do not count."""
    with torch._C.DisableTorchFunction():
        return 0 if tensor.is_inference() else tensor._version


def depends_on_inputs(value) -> bool:
    """Whether a value of the IR follows from inputs, not from parameters and constants alone."""
    return any(operation is None or len(operation.regions) for operation in origins(value))


def depends_on_weights(value) -> bool:
    """Whether a value of the IR follows from a parameter."""
    return any(operation is not None and operation.name == "om.parameter" for operation in origins(value))


def origins(value):
    """The operations that a value follows from, as far as those without regions lead; None for an argument."""
    stack, seen = [value], set()
    while stack:
        owner = stack.pop().owner
        operation = owner.operation if hasattr(owner, "operation") else None
        if operation is not None and operation in seen:
            continue
        seen.add(operation)
        yield operation
        stack.extend(operation.operands if operation is not None else ())
