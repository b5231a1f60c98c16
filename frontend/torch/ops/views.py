"""Functions whose result shares memory with their argument: the result is a View with a way to write through it."""
from __future__ import annotations

import math

import numpy as np

from ....dialect import symbolic
from ....dialect.shapes import require_less_equal
from ....errors import UnsupportedOpError
from ... import ops
from ...ops.indexing import getitem
from ...ops.shape import expand, moveaxis, sizes, squeeze, swapaxes
from ...symbolic_int import size_of
from ...tensor import Tensor
from ..dtypes import dtype_among, to_numpy_dtype
from ..layouts import is_ordered
from ..registry import handles
from ..tensor import RecordedTensor, refuse_owned, reshape_in_place, value_of, View, view_of
from ..sizes import from_sym_int
from .values import as_dtype, as_size, as_sizes
from .writing import is_basic, put_item


def viewed(x: Tensor, get, put) -> View:
    return View(get(x), get, put)


def reshaped(x: Tensor, shape) -> View:
    """A view in another shape. Written back in the old one."""
    return viewed(x, lambda t: t if t.shape is shape else ops.reshape(t, shape=tuple(shape)), lambda base, v: ops.reshape(v, shape=base.shape))


@handles("view", "reshape", "_unsafe_view", "view_copy", kind="view")
def view(input, *shape, dtype=None):
    if shape and type(shape[0]).__name__ == "dtype" or dtype is not None:
        return _bits(input, to_numpy_dtype(dtype or shape[0]))
    return reshaped(input, as_sizes(shape))


def _bits(input: Tensor, wanted) -> View:
    """The same bits as another dtype of the same width."""
    kept = input.dtype
    if wanted.itemsize != kept.itemsize:
        raise UnsupportedOpError(f"view of {kept} data as {wanted} (the same bits) cannot be recorded: the widths differ")
    if wanted == kept:
        return viewed(input, lambda t: t, lambda base, v: v)
    return viewed(input, lambda t: ops.bitcast(t, dtype=wanted), lambda base, v: ops.bitcast(v, dtype=kept))


@handles("view_as", "reshape_as", kind="view")
def view_as(input, other):
    return reshaped(input, other.shape)


@handles("flatten", kind="view")
def flatten(input, start_dim=0, end_dim=-1):
    if input.ndim == 0:
        return reshaped(input, (1,))
    return viewed(input, lambda t: ops.flatten(t, start_dim, end_dim), lambda base, v: ops.reshape(v, shape=base.shape))


@handles("ravel", kind="view")
def ravel(input):
    return reshaped(input, (-1,))


@handles("unflatten", kind="view")
def unflatten(input, dim, sizes):
    dim %= input.ndim
    return reshaped(input, (*input.shape[:dim], *sizes, *input.shape[dim + 1:]))


@handles("squeeze", kind="view")
def squeeze_(input, dim=None):
    shape = sizes(input)
    dims = range(input.ndim) if dim is None else [d % max(input.ndim, 1) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    axes = [d for d in dims if d < input.ndim and isinstance(shape[d], int) and shape[d] == 1]
    return viewed(input, lambda t: squeeze(t, tuple(axes)) if axes else t, lambda base, v: ops.reshape(v, shape=base.shape))


@handles("unsqueeze", kind="view")
def unsqueeze(input, dim):
    return viewed(input, lambda t: ops.expand_dims(t, dim), lambda base, v: ops.reshape(v, shape=base.shape))


@handles("permute", kind="view")
def permute(input, *dims):
    order = [d % input.ndim for d in as_sizes(dims)]
    inverse = tuple(int(i) for i in np.argsort(order))
    return viewed(input, lambda t: ops.transpose(t, axes=tuple(order)), lambda base, v: ops.transpose(v, axes=inverse))


@handles("transpose", "swapaxes", "swapdims", kind="view")
def transpose(input, dim0, dim1):
    swap = lambda t: swapaxes(t, dim0, dim1) if t.ndim else t
    return viewed(input, swap, lambda base, v: swap(v))


@handles("t", "get:T", "get:mT", "adjoint", "get:H", "get:mH", kind="view")
def t(input):
    return transpose(input, -2, -1) if input.ndim >= 2 else viewed(input, lambda x: x, lambda base, v: v)


@handles("movedim", "moveaxis", kind="view")
def movedim(input, source, destination):
    return viewed(input, lambda x: moveaxis(x, source, destination), lambda base, v: moveaxis(v, destination, source))


@handles("expand", kind="view")
def expand_(input, *sizes, implicit=False):
    shape = as_sizes(sizes)
    return View(expand(input, shape), lambda x: expand(x, shape), None)


@handles("expand_as", kind="view")
def expand_as(input, other):
    shape = other.shape
    return View(expand(input, shape), lambda x: expand(x, shape), None)


@handles("broadcast_to", kind="view")
def broadcast_to(input, size):
    return expand_(input, size)


@handles("detach", "get:data", "alias", "lift_fresh", kind="view")
def detach(input):
    return viewed(input, lambda x: x, lambda base, v: v)


@handles("__getitem__", kind="view")
def getitem_(input, key):
    if not is_basic(key):
        return ops_getitem(input, key)
    return viewed(input, lambda x: ops_getitem(x, key), lambda base, v: put_item(base, key, v))


def ops_getitem(x: Tensor, key) -> Tensor:
    return getitem(x, tuple(key) if isinstance(key, list) and any(isinstance(k, (Tensor, slice)) for k in key) else key)


def _along(input: Tensor, dim: int, key) -> tuple:
    return (slice(None),) * (dim % input.ndim) + (key,)


@handles("select", kind="view")
def select(input, dim, index):
    return getitem_(input, _along(input, dim, index))


@handles("narrow", kind="view")
def narrow(input, dim, start, length):
    start = as_size(start) if isinstance(start, Tensor) else start
    if isinstance(start, int) and start < 0:
        start = input.shape[dim] + start
    return getitem_(input, _along(input, dim, slice(start, start + length)))


@handles("aten.slice", kind="view")
def slice_(input, dim=0, start=None, end=None, step=1):
    end = None if isinstance(end, int) and end >= 2**62 else end
    return getitem_(input, _along(input, dim, slice(start, end, step)))


def _pieces(input: Tensor, dim: int, counts) -> tuple[View, ...]:
    pieces, start = [], 0
    for count in counts:
        pieces.append(getitem_(input, _along(input, dim, slice(start, start + count))))
        start = start + count
    return tuple(pieces)


def _even(input: Tensor, dim: int, part) -> list:
    """Parts of size `part`, the last one smaller; a symbolic axis must divide."""
    size = size_of(input.shape[dim])
    part = size_of(part)
    if isinstance(size, int) and isinstance(part, int):
        return [min(part, size - start) for start in range(0, max(size, 1), part)]
    count = symbolic.floordiv(size, part)
    if not isinstance(count, int):
        from ....errors import TraceError
        from ...locations import user_line

        raise TraceError(f"split of the symbolic axis {size} into parts of {part} gives a number of parts that depends on it, at {user_line()}\n"
                         "  use torch.split with a list of sizes, or chunk")
    return [part] * count


@handles("split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes", kind="view")
def split(tensor, split_size_or_sections=None, dim=0, split_size=None, split_sizes=None):
    parts = next(p for p in (split_size_or_sections, split_size, split_sizes) if p is not None)
    return _pieces(tensor, dim, parts if isinstance(parts, (tuple, list)) else _even(tensor, dim, parts))


@handles("chunk", "unsafe_chunk", kind="view")
def chunk(input, chunks, dim=0):
    size = input.shape[dim]
    if isinstance(size, int):
        return _pieces(input, dim, _even(input, dim, -(-size // chunks)))
    part = (size + (chunks - 1)) // chunks
    return _pieces(input, dim, [part] * (chunks - 1) + [size - part * (chunks - 1)])


@handles("tensor_split", kind="view")
def tensor_split(input, indices_or_sections, dim=0):
    size = input.shape[dim].__index__()
    if isinstance(indices_or_sections, int):
        n = indices_or_sections
        return _pieces(input, dim, [size // n + (i < size % n) for i in range(n)])
    edges = [0, *indices_or_sections, size]
    return _pieces(input, dim, [b - a for a, b in zip(edges, edges[1:])])


@handles("unbind", kind="view")
def unbind(input, dim=0):
    return tuple(select(input, dim, i) for i in range(input.shape[dim].__index__()))


@handles("diagonal", kind="view")
def diagonal(input, offset=0, dim1=0, dim2=1):
    from ...ops import diagonal as function

    return viewed(input, lambda x: function(x, offset, dim1, dim2), lambda base, v: _put_diagonal(base, v, offset, dim1, dim2))


@handles("diagonal_scatter")
def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    return _put_diagonal(input, src, offset, dim1, dim2)


def _put_diagonal(base: Tensor, values: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    """The matrices of two axes with other diagonals, `values` (..., size of the diagonal)."""
    length = size_of(values.shape[-1])
    if length == 0:
        return base
    matrices = moveaxis(base, (dim1, dim2), (-2, -1))
    rows, columns = (ops.arange(size) for size in matrices.shape[-2:])
    places = ops.minimum(ops.maximum(rows + min(offset, 0), 0), values.shape[-1] - 1)
    spread = ops.expand_dims(ops.gather(values, places, axis=-1), -1)
    written = ops.where(ops.expand_dims(columns, 0) - ops.expand_dims(rows, 1) == offset, spread, matrices)
    return moveaxis(written, (-2, -1), (dim1, dim2))


@handles("as_strided", "prims.as_strided", kind="raw")
def as_strided(recording, input, size, stride, storage_offset=None):
    """Elements of the memory by their places; of a tensor whose elements are all that the memory has, in order."""
    tensor = recording.recorded(input)
    value = value_of(tensor)
    size, stride = (as_sizes((recording.to_ours(list(given)),)) for given in (size, stride))
    if not _covers_memory(tensor):
        return recording.missing_function("as_strided of a part or another order of a tensor")
    places = as_dtype(0 if storage_offset is None else from_sym_int(storage_offset), np.dtype("int64"))
    for axis, (n, step) in enumerate(zip(size, stride)):
        places = places + ops.reshape(ops.arange(n) * step, shape=(n,) + (1,) * (len(size) - axis - 1))
    flat = lambda t: ops.reshape(t, shape=(-1,))
    put = lambda base, v: ops.reshape(ops.scatter(flat(base), flat(places), flat(v), axis=0), shape=base.shape)
    return view_of(tensor, viewed(value, lambda t: ops.gather(flat(t), places, axis=0), put))


def _covers_memory(tensor) -> bool:
    """Whether a tensor's elements are all of its memory, in order."""
    place = root = tensor._place
    while root.base is not None:
        root = root.base
    return is_ordered(tensor) and (root is place or math.prod(place.value.shape) == math.prod(root.value.shape))


@handles("unfold", kind="view")
def unfold(input, dimension, size, step):
    if input.ndim == 0:
        return reshaped(input, (size,)) if size else View(ops.zeros((0,), input.dtype), lambda x: ops.zeros((0,), x.dtype), None)
    dim = dimension % input.ndim
    window, length = size_of(size), size_of(input.shape[dim])
    require_less_equal(window, length, f"unfold: a window of {window} is longer than axis {dim}, of size {length}")
    count = (input.shape[dim] - size) // step + 1
    places = ops.expand_dims(ops.arange(count), 1) * step + ops.arange(size)

    def get(x):
        return moveaxis(ops.gather(x, places, axis=dim), dim + 1, -1)

    def put(base, v):
        windows = moveaxis(moveaxis(v, -1, 0), dim + 1, 0)
        return moveaxis(ops.scatter_nd(moveaxis(base, dim, 0), ops.expand_dims(places, -1), windows), 0, dim)
    apart = isinstance(window, int) and isinstance(size_of(step), int) and step >= size
    return View(get(input), get, put if apart else None)


@handles("resize_", "resize_as_", kind="raw")
def resize(recording, input, *shape, memory_format=None):
    """Another shape of the same elements, in place; of several axes their order in memory is not known."""
    tensor = recording.recorded(input)
    shape = recording.to_ours(list(shape))
    wanted = tuple(shape[0].shape) if isinstance(shape[0], Tensor) else as_sizes(shape)
    old, new = (symbolic.product(map(size_of, s)) for s in (value_of(tensor).shape, wanted))
    if symbolic.equal(old, new) is not True or not is_ordered(tensor) or value_of(tensor).ndim > 1:
        return recording.missing_function(f"resize_ from {old} elements to {new}, or of a tensor of several axes")
    return reshape_in_place(tensor, reshaped(value_of(tensor), wanted))


@handles("set:data", kind="raw")
def set_data(recording, input, other):
    """``x.data = y``: x shows from now on what y shows."""
    tensor = recording.recorded(input)
    refuse_owned(tensor._place.cell)
    tensor._place = recording.recorded(other)._place


@handles("contiguous", "F.contiguous", kind="view")
def contiguous(input, memory_format=None):
    return viewed(input, lambda x: x, lambda base, v: v)


@handles("type", kind="raw")
def type_(recording, input, dtype=None, non_blocking=False):
    if dtype is None:
        return f"torch.{str(input.dtype).removeprefix('torch.').capitalize()}Tensor"
    import torch

    names = {"torch.FloatTensor": torch.float32, "torch.DoubleTensor": torch.float64, "torch.LongTensor": torch.int64, "torch.IntTensor": torch.int32,
             "torch.HalfTensor": torch.float16, "torch.BoolTensor": torch.bool, "torch.BFloat16Tensor": torch.bfloat16}
    return to(recording, input, names.get(dtype, dtype))


@handles("to", kind="raw")
def to(recording, input, *args, **kwargs):
    """The same tensor when the dtype stays, as in torch; else a converted one."""
    dtype = dtype_among(args, kwargs)
    tensor = recording.recorded(input)
    value = value_of(tensor)
    if dtype is None or to_numpy_dtype(dtype) == value.dtype:
        return RecordedTensor(value) if kwargs.get("copy") else tensor
    return RecordedTensor(value.astype(to_numpy_dtype(dtype)))


def _conversion(dtype):
    def handler(recording, input, memory_format=None):
        tensor = recording.recorded(input)
        value = value_of(tensor)
        return tensor if value.dtype == dtype else RecordedTensor(value.astype(dtype))
    return handler


def _install() -> None:
    from .elementwise import CONVERSIONS

    for name, dtype in CONVERSIONS.items():
        handles(name, kind="raw")(_conversion(dtype))


_install()
