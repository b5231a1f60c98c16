"""Complex tensors while a torch program is recorded: two recorded tensors, the real part and the imaginary one.

The dialect has no complex dtypes. A function of complex tensors is composed of functions of the parts (`OF_COMPLEX`), or is done to each part
(`TO_EACH_PART`: what moves, chooses or adds up elements). Its results may be real; a complex result cannot leave the recording.
"""
from __future__ import annotations

from typing import Any, Callable

import torch

from ...errors import TraceError, UnsupportedOpError
from ..locations import user_line
from ..tensor import Tensor
from .names import is_reversed, names_of
from .registry import HANDLERS
from .tensor import dispatched, RecordedTensor, value_of

OF_COMPLEX: dict[str, Callable] = {}
REAL_OF = {torch.complex64: torch.float32, torch.complex128: torch.float64, torch.complex32: torch.float16}
COMPLEX_OF = {real: wide for wide, real in REAL_OF.items()}
TO_EACH_PART = frozenset((
    "sum", "mean", "cumsum", "neg", "negative", "flip", "fliplr", "flipud", "rot90", "roll", "tile", "repeat", "repeat_interleave", "index_select", "gather",
    "take_along_dim", "index_add", "scatter_add", "index_copy", "clone", "detach", "contiguous", "diag", "diag_embed", "diagflat", "tril", "triu", "trace",
    "fft_fftshift", "fft_ifftshift", "F.fold", "diff", "trapezoid", "positive", "atleast_1d", "atleast_2d", "atleast_3d", "aten.index",
    "__getitem__", "resolve_conj", "resolve_neg", "requires_grad_", "cpu", "__deepcopy__", "hstack", "vstack", "cat", "concat", "concatenate", "stack",
    "zeros_like", "empty_like", "new_zeros", "new_empty", "broadcast_tensors",
))  # and all functions whose result is a view
OF_REAL_PART = frozenset(("get:shape", "dim", "ndimension", "get:ndim", "size", "numel", "nelement", "stride", "__len__", "is_contiguous", "storage_offset", "sym_size", "sym_numel"))


class RecordedComplex(torch.Tensor):
    """A complex torch tensor without data: `parts` are recorded tensors of one shape and dtype."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, real: RecordedTensor, imaginary: RecordedTensor):
        with torch._C.DisableTorchFunction():
            dtype, sizes = COMPLEX_OF[real.dtype], tuple(real.shape)
            self = torch.Tensor._make_wrapper_subclass(cls, sizes, dtype=dtype)
        self.parts = (real, imaginary)
        return self

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return dispatched(function, args, kwargs or {})


def of_complex(*names: str) -> Callable:
    """Register the decorated function of complex tensors for torch functions of these names: it takes the recording and torch's arguments."""
    def register(function: Callable) -> Callable:
        for name in names:
            OF_COMPLEX[name] = function
        return function
    return register


def is_complex(value) -> bool:
    """Whether an argument is complex: a tensor, a number, a dtype, or a list of them."""
    if isinstance(value, torch.Tensor):
        return isinstance(value, RecordedComplex) or not isinstance(value, RecordedTensor) and value.dtype.is_complex
    if isinstance(value, (tuple, list)):
        return any(map(is_complex, value))
    return isinstance(value, complex) or isinstance(value, torch.dtype) and value.is_complex


def parts_of(recording, value) -> tuple[Any, Any]:
    """The real and the imaginary part of a tensor or number; None for an imaginary part that is 0 throughout."""
    if isinstance(value, RecordedComplex):
        return value.parts
    if isinstance(value, complex):
        return value.real, value.imag
    if isinstance(value, torch.Tensor) and is_complex(value):
        return recording.recorded_complex(value).parts
    return value, None


def zero_like(value):
    return torch.zeros_like(value) if isinstance(value, torch.Tensor) else 0.0


def whole_parts(recording, value) -> tuple[Any, Any]:
    """The parts, with zeros for an imaginary one that is 0 throughout."""
    real, imaginary = parts_of(recording, value)
    return real, zero_like(real) if imaginary is None else imaginary


def joined(real, imaginary):
    """Complex results of the two parts of a result: of tensors, or of tuples of them."""
    if isinstance(real, torch.Tensor):
        return RecordedComplex(real, imaginary)
    if isinstance(real, (tuple, list)):
        return type(real)(joined(r, i) for r, i in zip(real, imaginary))
    return real


def call_complex(recording, function: Callable, args: tuple, kwargs: dict) -> tuple[bool, Any]:
    """(True, result) of a torch function some of whose arguments are complex, where it is known."""
    names = names_of(function)
    if is_reversed(function):
        args = tuple(reversed(args))
    with recording.mode:
        for name in names:
            handler = _handler(name)
            result = NotImplemented if handler is None else handler(recording, function, args, kwargs)
            if result is not NotImplemented:
                return True, result
    return False, None


def _handler(name: str) -> Callable | None:
    if name in OF_COMPLEX:
        return lambda recording, function, args, kwargs: OF_COMPLEX[name](recording, *args, **kwargs)
    if name in OF_REAL_PART:
        return lambda recording, function, args, kwargs: function(whole_parts(recording, args[0])[0], *args[1:], **kwargs)
    if name in TO_EACH_PART or name in HANDLERS and HANDLERS[name].kind == "view":
        return _each_part
    if name.endswith("_") and not name.endswith("__") and (name[:-1] in OF_COMPLEX or name[:-1] in TO_EACH_PART):
        return lambda recording, function, args, kwargs: _in_place(recording, _handler(name[:-1]), getattr(torch, name[:-1], None), args, kwargs)
    return None


def _each_part(recording, function, args, kwargs):
    """The function of the real parts and of the imaginary ones; integers and booleans among the tensors are indices."""
    def pick(part: int):
        def of(value):
            if isinstance(value, (tuple, list)):
                return type(value)(map(of, value))
            if not isinstance(value, torch.Tensor) or not (is_complex(value) or value.dtype.is_floating_point):
                return value
            return whole_parts(recording, value)[part]
        return of
    results = [function(*map(pick(i), args), **{k: pick(i)(v) for k, v in kwargs.items()}) for i in range(2)]
    return joined(*results)


def _in_place(recording, handler, function, args, kwargs):
    """``z.mul_(w)``: the result is written into the parts of z."""
    result = handler(recording, function, args, kwargs)
    if result is NotImplemented or function is None and handler is _each_part:
        return NotImplemented
    return write_parts(recording, args[0], result)


def write_parts(recording, target, value):
    """Give a complex tensor, and all that share its storage, a new value."""
    parts = [torch.as_tensor(p) for p in whole_parts(recording, value)]
    for part, new in zip(recording.recorded_complex(target).parts, parts):
        recording.assign(part, value_of(recording.recorded(new)))
    return target


def refuse_output(path: str) -> None:
    """TraceError for a complex result of the program."""
    which = f"output '{path}'" if path else "output"
    raise TraceError(f"the {which} is complex, which a recorded model cannot give, at {user_line()}\n"
                     "  return torch.view_as_real(...), or its real and imaginary parts")


def refuse_input(name: str, dtype) -> None:
    """TraceError for a complex input."""
    raise TraceError(f"input '{name}' is of {dtype}, which a recorded model cannot take\n"
                     "  give torch.view_as_real(...), and begin the model with torch.view_as_complex")


def no_value(tensor: RecordedComplex):
    raise UnsupportedOpError(f"a complex tensor stands where only real ones can be recorded, at {user_line()}\n  give its real and imaginary parts")


def constant_parts(tensor: torch.Tensor) -> list[Tensor]:
    """The parts of a complex tensor with data."""
    from .arrays import shared_array

    with torch._C.DisableTorchFunction():
        parts = torch.view_as_real(tensor.detach().resolve_conj())
        return [Tensor._wrap(shared_array(parts[..., i]).copy()) for i in range(2)]
