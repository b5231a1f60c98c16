"""Functions of complex tensors, composed of torch's functions of their real and imaginary parts."""
from __future__ import annotations

import functools
import itertools
import warnings

import torch

from ..complex_tensor import constant_parts, is_complex, of_complex, OF_COMPLEX, parts_of, REAL_OF, RecordedComplex, whole_parts, write_parts
from ..dtypes import dtype_among
from ..registry import handles
from ..tensor import RecordedTensor, value_of, View, view_of
from ... import ops


# Making and taking apart.
@handles("complex", kind="raw")
def complex_(recording, real, imag, out=None):
    with recording.mode:
        return RecordedComplex(*map(recording.recorded, torch.broadcast_tensors(real, imag)))


@handles("polar", kind="raw")
def polar(recording, abs, angle, out=None):
    with recording.mode:
        return RecordedComplex(abs * torch.cos(angle), abs * torch.sin(angle))


@handles("view_as_complex", kind="raw")
def view_as_complex(recording, input):
    with recording.mode:
        return RecordedComplex(*(recording.recorded(input).select(-1, i) for i in range(2)))


@of_complex("view_as_real")
def view_as_real(recording, input):
    real, imaginary = whole_parts(recording, input)
    get = lambda x: ops.stack([x, value_of(recording.recorded(imaginary))], axis=-1)
    return view_of(recording.recorded(real), View(get(value_of(recording.recorded(real))), get, None))


@of_complex("real", "get:real")
def real_of(recording, input):
    real = whole_parts(recording, input)[0]
    return real.view_as(real)


@of_complex("imag", "get:imag")
def imaginary_of(recording, input):
    imaginary = whole_parts(recording, input)[1]
    return imaginary.view_as(imaginary)


@of_complex("conj", "conj_physical", "_conj")
def conj(recording, input):
    real, imaginary = whole_parts(recording, input)
    imaginary = recording.recorded(imaginary)
    negative = view_of(imaginary, View(-value_of(imaginary), lambda x: -x, lambda base, v: -v))
    return RecordedComplex(real.view_as(real), negative)


@of_complex("get:H", "get:mH", "adjoint")
def adjoint(recording, input):
    return conj(recording, input).transpose(-2, -1)


@of_complex("to", "type", "aten._to_copy", "aten.to.dtype")
def to(recording, input, *args, **kwargs):
    """Another precision; from real numbers; or to real ones, which leaves out the imaginary part."""
    dtype = dtype_among(args, kwargs)
    real, imaginary = whole_parts(recording, input)
    if dtype is None:
        return input
    if dtype.is_complex:
        return RecordedComplex(*(recording.recorded(p.to(REAL_OF[dtype])) for p in (real, imaginary)))
    if isinstance(input, torch.Tensor) and is_complex(input):
        warnings.warn("a complex tensor becomes real: its imaginary part is left out", stacklevel=2)
    return real.to(dtype)


for _name, _dtype in {"float": torch.float32, "double": torch.float64, "cfloat": torch.complex64, "cdouble": torch.complex128}.items():
    of_complex(_name)(lambda recording, input, memory_format=None, dtype=_dtype: to(recording, input, dtype))
for _name, _dtype in {"cfloat": torch.complex64, "cdouble": torch.complex128}.items():
    handles(_name, kind="raw")(lambda recording, input, memory_format=None, dtype=_dtype: recording.call(torch.Tensor.to, (input, dtype), {}))


# Numbers that are given.
@of_complex("tensor", "as_tensor", "asarray", "scalar_tensor")
def tensor(recording, data, *args, dtype=None, device=None, requires_grad=False, **options):
    if isinstance(data, torch.Tensor):
        return data if dtype is None else to(recording, data, dtype)
    if recording.depends(data):
        return NotImplemented
    with torch._C.DisableTorchFunction():
        made = torch.tensor(data, dtype=dtype)
    return RecordedComplex(*map(RecordedTensor, constant_parts(made)))


def _filled(function):
    def handler(recording, *args, dtype=None, **options):
        parts = [parts_of(recording, a) for a in args]
        real_dtype = REAL_OF.get(dtype, dtype)
        real = function(*(p[0] for p in parts), dtype=real_dtype, **options)
        number = [p[1] for p in parts if p[1] is not None and not isinstance(p[0], torch.Tensor)]
        imaginary = torch.zeros_like(real) if not number else function(*(p[0] if p[1] is None else p[1] for p in parts), dtype=real_dtype, **options)
        return RecordedComplex(real, imaginary)
    return handler


for _name in ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "eye"):
    of_complex(_name)(_filled(getattr(torch, _name)))
for _name in ("new_zeros", "new_ones", "new_full", "new_empty"):
    of_complex(_name)(_filled(getattr(torch.Tensor, _name)))


# Arithmetic.
@of_complex("add")
def add(recording, input, other, alpha=1):
    (a, b), (c, d) = parts_of(recording, input), parts_of(recording, multiply(recording, other, alpha) if alpha != 1 else other)
    return _made(a + c, d if b is None else b if d is None else b + d)


@of_complex("sub", "subtract")
def subtract(recording, input, other, alpha=1):
    (a, b), (c, d) = parts_of(recording, input), parts_of(recording, multiply(recording, other, alpha) if alpha != 1 else other)
    return _made(a - c, -d if b is None else b if d is None else b - d)


def _made(real, imaginary):
    """A complex tensor of parts, which may be numbers or of smaller shape; one that is no tensor stays a number."""
    if not isinstance(real, torch.Tensor) and not isinstance(imaginary, torch.Tensor):
        return complex(real, imaginary)
    real, imaginary = (torch.as_tensor(p) for p in (real, imaginary))
    dtype = torch.promote_types(real.dtype, imaginary.dtype) if real.dtype != imaginary.dtype else real.dtype
    if not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    if real.dim() and not imaginary.dim():
        dtype = real.dtype
    elif imaginary.dim() and not real.dim():
        dtype = imaginary.dtype
    return RecordedComplex(*torch.broadcast_tensors(real.to(dtype), imaginary.to(dtype)))


@of_complex("mul", "multiply")
def multiply(recording, input, other):
    (a, b), (c, d) = parts_of(recording, input), parts_of(recording, other)
    if b is None or d is None:
        real, rest = (a, (c, d)) if b is None else (c, (a, b))
        return _made(real * rest[0], real * rest[1])
    return _made(a * c - b * d, a * d + b * c)


@of_complex("square")
def square(recording, input):
    return multiply(recording, input, input)


@of_complex("div", "divide", "true_divide")
def divide(recording, input, other, rounding_mode=None):
    """By the divisor as it is where it is real; else both by its larger part first, so that its square is in range."""
    (a, b), (c, d) = parts_of(recording, input), parts_of(recording, other)
    if d is None:
        return _made(a / c, b / c)
    if not isinstance(c, torch.Tensor):
        return multiply(recording, input, 1 / complex(c, d))
    size = torch.maximum(c.abs(), d.abs())
    c, d = c / size, d / size
    square = (c * c + d * d) * size
    a, b = parts_of(recording, multiply(recording, input, RecordedComplex(c, -d)))
    return RecordedComplex(a / square, b / square)


@of_complex("reciprocal")
def reciprocal(recording, input):
    return divide(recording, 1.0, input)


@of_complex("pow")
def power(recording, input, exponent):
    """Small whole powers as products, others by logarithm and exponential."""
    if isinstance(exponent, int) and 1 <= exponent <= 4:
        return functools.reduce(lambda x, y: multiply(recording, x, y), [input] * exponent)
    if isinstance(exponent, (int, float)):
        size, angle = absolute(recording, input), angle_of(recording, input)
        return _polar(size ** exponent, angle * exponent)
    if isinstance(input, (int, float)):
        input = torch.tensor(float(input))
    if isinstance(input, torch.Tensor) and not is_complex(input):
        input = RecordedComplex(input, torch.zeros_like(input))
    return exponential(recording, multiply(recording, logarithm(recording, input), exponent))


def _polar(size, angle):
    return RecordedComplex(size * torch.cos(angle), size * torch.sin(angle))


@of_complex("abs", "absolute")
def absolute(recording, input):
    return torch.hypot(*whole_parts(recording, input))


@of_complex("angle")
def angle_of(recording, input):
    real, imaginary = whole_parts(recording, input)
    return torch.atan2(imaginary, real)


@handles("angle")
def angle_of_real(input):
    """0, or pi of a negative number; NaN of NaN."""
    from .values import floating

    (x,) = floating(input)
    return ops.where(x < 0, ops.full((), 3.141592653589793, x.dtype), x * 0.0)


@of_complex("exp")
def exponential(recording, input):
    real, imaginary = whole_parts(recording, input)
    return _polar(torch.exp(real), imaginary)


@of_complex("log")
def logarithm(recording, input):
    return RecordedComplex(torch.log(absolute(recording, input)), angle_of(recording, input))


@of_complex("sqrt")
def square_root(recording, input):
    """The root with a real part of at least 0, without cancellation."""
    real, imaginary = whole_parts(recording, input)
    larger = torch.sqrt((absolute(recording, input) + real.abs()) / 2)
    smaller = torch.where(larger == 0, larger, imaginary.abs() / (2 * larger))
    return RecordedComplex(torch.where(real >= 0, larger, smaller), torch.copysign(torch.where(real >= 0, smaller, larger), imaginary))


@of_complex("sgn")
def sgn(recording, input):
    size = absolute(recording, input)
    return RecordedComplex(*(torch.where(size == 0, p, p / size) for p in whole_parts(recording, input)))


def _of_both(function, combine):
    def handler(recording, input, *other):
        parts = [whole_parts(recording, v) for v in (input, *other)]
        return combine(*(function(*values) for values in zip(*parts)))
    return handler


for _name in ("isnan", "isinf"):
    of_complex(_name)(_of_both(getattr(torch, _name), torch.logical_or))
for _name in ("isfinite", "eq"):
    of_complex(_name)(_of_both(getattr(torch, _name), torch.logical_and))
of_complex("ne", "not_equal")(_of_both(torch.ne, torch.logical_or))


# Products of matrices, which are linear in each operand.
def _multilinear(function):
    def handler(recording, *operands, **options):
        operands = operands[0] if len(operands) == 1 else operands
        found: dict[int, list] = {0: [], 1: []}
        for chosen in itertools.product(*([(i, p) for i, p in enumerate(parts_of(recording, o)) if p is not None] for o in operands)):
            count = sum(i for i, _ in chosen)
            value = function(*(p for _, p in chosen), **options)
            found[count % 2].append(-value if count % 4 >= 2 else value)
        return RecordedComplex(*(functools.reduce(torch.add, found[i]) for i in range(2)))
    return handler


for _name in ("matmul", "mm", "bmm", "mv", "dot", "inner", "outer", "ger", "kron", "tensordot"):
    of_complex(_name)(_multilinear(getattr(torch, _name)))
of_complex("linalg_matmul")(_multilinear(torch.matmul))
of_complex("linalg_multi_dot", "chain_matmul")(_multilinear(lambda *matrices: torch.linalg.multi_dot(matrices)))


@of_complex("vdot")
def vdot(recording, input, other):
    return OF_COMPLEX["dot"](recording, conj(recording, input) if is_complex(input) else input, other)


@of_complex("einsum")
def einsum(recording, equation, *operands):
    operands = operands[0] if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else operands
    return _multilinear(lambda *values: torch.einsum(equation, *values))(recording, *operands)


@of_complex("linear", "F.linear")
def linear(recording, input, weight, bias=None):
    y = _multilinear(torch.nn.functional.linear)(recording, input, weight)
    return y if bias is None else add(recording, y, bias)


@of_complex("linalg_vector_norm", "norm", "F.norm", "linalg_norm")
def norm(recording, input, *args, **kwargs):
    return torch.norm(absolute(recording, input), *args, **kwargs)


# Choosing and writing.
@of_complex("where", "aten.where.self")
def where(recording, condition, input, other):
    pairs = [whole_parts(recording, v) for v in (input, other)]
    return RecordedComplex(*(recording.recorded(torch.where(condition, a, b)) for a, b in zip(*pairs)))


@of_complex("masked_fill")
def masked_fill(recording, input, mask, value):
    return RecordedComplex(*(p.masked_fill(mask, v) for p, v in zip(whole_parts(recording, input), whole_parts(recording, value))))


@of_complex("F.pad", "pad", "constant_pad_nd")
def pad(recording, input, pad, mode="constant", value=None):
    numbers = whole_parts(recording, 0.0 if value is None else value)
    return RecordedComplex(*(torch.nn.functional.pad(p, pad, mode, v if mode == "constant" else None)
                             for p, v in zip(whole_parts(recording, input), numbers)))


@of_complex("__setitem__")
def setitem(recording, target, key, value):
    for part, new in zip(recording.recorded_complex(target).parts, whole_parts(recording, value)):
        part[key] = new


@of_complex("copy_", "fill_", "set:data")
def copy(recording, target, source, non_blocking=False):
    return write_parts(recording, target, torch.as_tensor(source) if not isinstance(source, (torch.Tensor, complex)) else source)


@of_complex("zero_")
def zero(recording, target):
    return write_parts(recording, target, 0.0)


@of_complex("__iter__")
def iterate(recording, input):
    return iter(torch.unbind(input, 0))
