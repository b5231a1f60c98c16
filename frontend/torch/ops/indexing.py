"""Choosing and writing elements."""
from __future__ import annotations

import numpy as np

from ....dialect import dtypes
from ....errors import UnsupportedOpError
from ... import ops
from ...tensor import Tensor
from ..dtypes import is_floating
from ..registry import handles
from ..tensor import value_of, write
from .elementwise import apply_binary
from .index_range import require_not_negative
from .values import as_dtype, scalars_have_an_axis
from .writing import put_item


def as_index(x: Tensor) -> Tensor:
    """Index tensors as i32 or i64."""
    return x if x.dtype in (dtypes.int32, dtypes.int64) else x.astype(dtypes.int64)


@handles("F.embedding", kind="pure")
def f_embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if max_norm is not None:
        raise UnsupportedOpError("embedding with max_norm changes its weight when it runs, which cannot be recorded")
    return embedding(weight, input)


@handles("embedding")
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    indices = as_index(indices)
    require_not_negative("embedding", indices, weight, 0)
    return ops.gather(weight, indices, axis=0)


@handles("F.embedding_bag")
def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """Sums, means or maxima of bags of rows: a row of `input` is a bag, or a bag begins at each offset. An empty bag is 0."""
    if max_norm is not None:
        raise UnsupportedOpError("embedding_bag with max_norm changes its weight when it runs, which cannot be recorded")
    rows = embedding(weight, input)
    rows = rows if per_sample_weights is None else rows * ops.expand_dims(per_sample_weights, -1)
    if offsets is None and padding_idx is None:
        return {"sum": ops.sum, "mean": ops.mean, "max": ops.max}[mode](rows, axis=1)
    if offsets is None:
        count, length = input.shape
        bags = ops.repeat(ops.arange(count), length, axis=0)
    else:
        count = offsets.shape[0] - int(include_last_offset)
        bags = ops.searchsorted(offsets, ops.arange(input.shape[0]).astype(offsets.dtype), right=True).astype("int64") - 1
    if padding_idx is not None:  # goes into one more bag, which is left out
        padding = padding_idx if padding_idx >= 0 else padding_idx + weight.shape[0]
        bags = ops.where(ops.reshape(input, shape=(-1,)) == padding, as_dtype(count, bags.dtype), bags)
    empty = ops.zeros((count + 1, weight.shape[1]), weight.dtype)
    rows = ops.reshape(rows, shape=(-1, weight.shape[1]))
    if mode == "sum":
        return _along(empty, 0, bags, rows, "add")[:count]
    return index_reduce(empty, 0, bags, rows, {"mean": "mean", "max": "amax"}[mode], include_self=False)[:count]


@handles("gather")
@scalars_have_an_axis
def gather(input, dim, index, sparse_grad=False):
    from ...ops.declared import declared

    if index.size == 0 if isinstance(index.size, int) else False:
        return ops.zeros(tuple(index.shape), input.dtype)
    index = as_index(index)
    require_not_negative("gather", index, input, dim)
    shape = tuple(slice(None) if i == dim % input.ndim or a is b or (isinstance(a, int) and a == b) else slice(0, a)
                  for i, (a, b) in enumerate(zip(index.shape, input.shape)))
    return declared.take_along_axis(input[shape] if any(s != slice(None) for s in shape) else input, index, axis=dim)


@handles("take_along_dim")
def take_along_dim(input, indices, dim=None):
    return ops.take_along_axis(input, indices, dim) if dim is not None else ops.take(input, ops.reshape(indices, shape=(-1,)))


@handles("take")
def take(input, index):
    return ops.take(input, index)


@handles("index_select")
def index_select(input, dim, index):
    if not input.ndim:
        return input
    index = ops.reshape(as_index(index), shape=(-1,))
    require_not_negative("index_select", index, input, dim)
    return ops.gather(input, index, axis=dim)


@handles("masked_select")
def masked_select(input, mask):
    input, mask = ops.broadcast_tensors(*(ops.reshape(t, shape=(1,)) if t.ndim == 0 else t for t in (input, mask)))
    return input[mask]


@handles("aten.index", "_unsafe_index")
def index(input, indices):
    return input[tuple(slice(None) if i is None else i for i in indices)]


@handles("index_put", "_unsafe_index_put")
def index_put(input, indices, values, accumulate=False):
    key = tuple(slice(None) if i is None else i for i in indices)
    if not accumulate:
        return put_item(input, key, values)
    return _accumulated(input, key, values)


def _accumulated(input, key, values):
    places = ops.reshape(ops.arange(_count(input)), shape=input.shape)[key]
    values = ops.broadcast_to(values.astype(input.dtype), shape=places.shape)
    flat = ops.scatter(ops.reshape(input, shape=(-1,)), ops.reshape(places, shape=(-1,)), ops.reshape(values, shape=(-1,)), axis=0, reduction="add")
    return ops.reshape(flat, shape=input.shape)


def _count(x: Tensor):
    total = 1
    for s in x.shape:
        total = total * s
    return total


@handles("__setitem__", kind="raw")
def setitem(recording, target, key, value):
    tensor = recording.recorded(target)
    before = value_of(tensor)
    value = recording.to_ours(value)
    value = value if isinstance(value, Tensor) else as_dtype(value, before.dtype)
    write(tensor, put_item(before, recording.to_ours(key), value))


def _scatter(reduction: str):
    @scalars_have_an_axis
    def handler(input, dim, index, src=None, value=None, reduce=None):
        src = value if src is None else src
        kind = {None: reduction, "add": "add", "multiply": "mul"}[reduce]
        updates = src if isinstance(src, Tensor) else ops.full(index.shape, as_dtype(src, input.dtype))
        if any(a is not b and a != b for a, b in zip(updates.shape, index.shape)):
            updates = updates[tuple(slice(0, s) for s in index.shape)]
        index = as_index(index)
        require_not_negative("scatter", index, input, dim)
        return ops.scatter(input, index, updates.astype(input.dtype), axis=dim, reduction=kind)
    return handler


handles("scatter")(_scatter("none"))
handles("scatter_add")(_scatter("add"))


@handles("scatter_reduce")
@scalars_have_an_axis
def scatter_reduce(input, dim, index, src, reduce, include_self=True):
    kinds = {"sum": "add", "mean": "add", "prod": "mul", "amax": "max", "amin": "min"}
    src = src[tuple(slice(0, s) for s in index.shape)] if any(a is not b and a != b for a, b in zip(src.shape, index.shape)) else src
    index = as_index(index)
    require_not_negative("scatter_reduce", index, input, dim)
    return _reduced(input, lambda x, source, kind: ops.scatter(x, index, source, axis=dim, reduction=kind), src, kinds[reduce], reduce, include_self)


@handles("index_reduce")
@scalars_have_an_axis
def index_reduce(input, dim, index, source, reduce, include_self=True):
    kinds = {"mean": "add", "prod": "mul", "amax": "max", "amin": "min"}
    require_not_negative("index_reduce", index, input, dim)
    return _reduced(input, lambda x, values, kind: _along(x, dim, index, values, kind), source, kinds[reduce], reduce, include_self)


def _reduced(input, scatter, source, kind: str, reduce: str, include_self: bool):
    """Sources combined with the elements that they fall on, or with each other alone where the input is not included."""
    if input.dtype == bool:
        return _reduced(input.astype(dtypes.int32), scatter, source.astype(dtypes.int32), kind, reduce, include_self).astype(bool)
    counts = scatter(ops.zeros_like(input), ops.ones_like(source), "add")
    start = input if include_self else ops.where(counts > 0, as_dtype(_neutral(kind, input.dtype), input.dtype), input)
    result = scatter(start, source, kind)
    if reduce != "mean":
        return result
    divisor = ops.maximum(counts + (1 if include_self else 0), as_dtype(1, counts.dtype))
    return result / divisor if is_floating(input.dtype) else ops.floor_divide(result, divisor)


def _neutral(kind: str, dtype):
    """The element that changes nothing."""
    if kind in ("add", "mul"):
        return 0 if kind == "add" else 1
    if is_floating(dtype):
        return float("-inf") if kind == "max" else float("inf")
    return np.iinfo(dtype).min if kind == "max" else np.iinfo(dtype).max


@handles("index_add")
@scalars_have_an_axis
def index_add(input, dim, index, source, alpha=1):
    require_not_negative("index_add", index, input, dim)
    return _along(input, dim, index, source if alpha == 1 else apply_binary("multiply", source, as_dtype(alpha, source.dtype)), "add")


@handles("index_copy")
@scalars_have_an_axis
def index_copy(input, dim, index, source):
    require_not_negative("index_copy", index, input, dim)
    return _along(input, dim, index, source, "none")


@handles("index_fill")
@scalars_have_an_axis
def index_fill(input, dim, index, value):
    dim %= input.ndim
    shape = (*input.shape[:dim], ops.reshape(index, shape=(-1,)).shape[0], *input.shape[dim + 1:])
    return _along(input, dim, index, ops.full(shape, ops.reshape(as_dtype(value, input.dtype), shape=())), "none")


def _along(input, dim, index, source, reduction):
    dim %= input.ndim
    if input.dtype == bool:
        return _along(input.astype(dtypes.uint8), dim, index, source.astype(dtypes.uint8), "max" if reduction == "add" else reduction).astype(bool)
    spread = ops.reshape(as_index(index), shape=(1,) * dim + (-1,) + (1,) * (input.ndim - dim - 1))
    return ops.scatter(input, ops.broadcast_to(spread, shape=source.shape), source.astype(input.dtype), axis=dim, reduction=reduction)


@handles("masked_scatter")
def masked_scatter(input, mask, source):
    input, mask = ops.broadcast_tensors(input, mask)
    flat = ops.reshape(mask, shape=(-1,))
    order = ops.maximum(ops.cumsum(flat.astype(dtypes.int64), axis=0) - 1, 0)
    chosen = ops.gather(ops.reshape(source, shape=(-1,)), ops.where(flat, order, 0), axis=0)
    return ops.where(mask, ops.reshape(chosen, shape=input.shape), input)


@handles("slice_scatter")
def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    end = None if isinstance(end, int) and end >= 2**62 else end
    return put_item(input, (slice(None),) * (dim % input.ndim) + (slice(start, end, step),), src)


@handles("select_scatter")
def select_scatter(input, src, dim, index):
    return put_item(input, (slice(None),) * (dim % input.ndim) + (index,), src)


@handles("bucketize")
def bucketize(input, boundaries, out_int32=False, right=False):
    places = ops.bucketize(input, boundaries, right)
    return places.astype(dtypes.int32) if out_int32 else places


@handles("put")
def put(input, index, source, accumulate=False):
    flat = ops.scatter(ops.reshape(input, shape=(-1,)), ops.reshape(as_index(index), shape=(-1,)), ops.reshape(source, shape=(-1,)), axis=0,
                       reduction="add" if accumulate else "none")
    return ops.reshape(flat, shape=input.shape)
