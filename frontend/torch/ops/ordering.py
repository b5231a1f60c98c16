"""Sorting and searching."""
from __future__ import annotations

import numpy as np

from ... import ops
from ....dialect import symbolic
from ....dialect.shapes import policy
from ....dialect.symbolic import Dim
from ...dispatch import current_recorder
from ...ops.declared import declared
from ...symbolic_int import wrap
from ..dtypes import is_floating
from ..registry import handles
from .index_range import require_not_negative
from .reduction import ValuesIndices
from .values import as_dtype, scalars_have_an_axis, tensor_of


@handles("sort")
@scalars_have_an_axis
def sort(input, dim=-1, descending=False, stable=False):
    if isinstance(dim, bool):
        dim, descending = -1, dim
    return ValuesIndices(ops.sort(input, axis=dim, descending=descending), ops.argsort(input, axis=dim, descending=descending))


@handles("argsort")
@scalars_have_an_axis
def argsort(input, dim=-1, descending=False, stable=False):
    return ops.argsort(input, axis=dim, descending=descending)


@handles("msort")
def msort(input):
    return ops.sort(input, axis=0)


@handles("topk")
@scalars_have_an_axis
def topk(input, k, dim=-1, largest=True, sorted=True):
    return ValuesIndices(*ops.topk(input, (k,), axis=dim, largest=largest, sorted=sorted))


@handles("kthvalue")
@scalars_have_an_axis
def kthvalue(input, k, dim=-1, keepdim=False):
    values, indices = sort(input, dim)
    pick = (slice(None),) * (dim % input.ndim) + (slice(k - 1, k) if keepdim else k - 1,)
    return ValuesIndices(values[pick], indices[pick])


@handles("median")
@scalars_have_an_axis
def median(input, dim=None, keepdim=False):
    """The lower of two elements in the middle; NaN, at its first place, where there is one."""
    if dim is None:
        return median(ops.reshape(input, shape=(-1,)), 0)[0]
    values, places = kthvalue(input, (input.shape[dim] - 1) // 2 + 1, dim, keepdim)
    if not is_floating(input.dtype):
        return ValuesIndices(values, places)
    nan = ops.isnan(input)
    found, first = ops.any(nan, axis=dim, keepdims=keepdim), ops.argmax(nan.astype("uint8"), axis=dim, keepdims=keepdim)
    return ValuesIndices(ops.where(found, as_dtype(float("nan"), values.dtype), values), ops.where(found, first, places))


@handles("nanmedian")
@scalars_have_an_axis
def nanmedian(input, dim=None, keepdim=False):
    """The lower of two elements in the middle of those that are no NaN; NaN where there are none."""
    if dim is None:
        return nanmedian(ops.reshape(input, shape=(-1,)), 0)[0]
    if not is_floating(input.dtype):
        return median(input, dim, keepdim)
    order = ops.argsort(input, axis=dim)
    count = ops.sum(ops.logical_not(ops.isnan(input)).astype("int64"), axis=dim, keepdims=True)
    places = ops.take_along_axis(order, ops.maximum(count - 1, 0) // 2, axis=dim)
    values = ops.take_along_axis(input, places, axis=dim)
    return ValuesIndices(*(v if keepdim else ops.squeeze(v, axis=dim) for v in (values, places)))


@handles("nonzero", "argwhere")
def nonzero(input, as_tuple=False):
    return ops.nonzero(input) if as_tuple else ops.argwhere(input)


@handles("unique")
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    values, _, inverse, counts = declared.unique(input, axis=dim, sorted=True)
    extra = [t for wanted, t in ((return_inverse, ops.reshape(inverse, shape=input.shape) if dim is None else inverse), (return_counts, counts)) if wanted]
    return (values, *extra) if extra else values


@handles("searchsorted")
def searchsorted(sorted_sequence, input, out_int32=False, right=False, side=None, sorter=None):
    """How many elements of the sorted sequence, or of the row of the same place, are below each value (not above, from the right)."""
    if sorter is not None:
        return NotImplemented
    right = right or side == "right"
    input = tensor_of(input)
    if sorted_sequence.ndim == 1:
        places = ops.searchsorted(sorted_sequence, input, right=right)
    else:
        values, row = ops.expand_dims(input, -1), ops.expand_dims(sorted_sequence, -2)
        places = ops.count_nonzero(row <= values if right else row < values, axis=-1)
    return places.astype("int32" if out_int32 else "int64")


@handles("histc")
def histc(input, bins=100, min=0, max=0):
    """How many elements fall into each of `bins` equal parts of [min, max]; of the range of the elements where both are equal."""
    x = ops.reshape(input, shape=(-1,))
    low, high = as_dtype(min, x.dtype), as_dtype(max, x.dtype)
    if min == max:
        low, high = ops.min(x), ops.max(x)
        low, high = ops.where(low == high, low - 1.0, low), ops.where(low == high, high + 1.0, high)
    place = ops.floor((x - low) * float(bins) / (high - low)).astype("int64")
    inside = (x >= low) & (x <= high)
    place = ops.where(inside, ops.clip(place, min=0, max=bins - 1), as_dtype(-1, place.dtype))
    return ops.sum((ops.expand_dims(place, 1) == ops.arange(bins)).astype(x.dtype), axis=0)


@handles("bincount")
def bincount(input, weights=None, minlength=0):
    """How often each number from 0 occurs, or the sum of its weights: up to the largest, at least `minlength` numbers."""
    require_not_negative("bincount", input, input, 0)
    input = input.astype("int64")
    largest = ops.max(ops.concat([input, as_dtype([minlength - 1], input.dtype)], axis=0))
    if largest.is_recorded:
        recorder = current_recorder()
        name = next(iter(symbolic.symbols_of(policy().fresh("numbers")))).name
        count = wrap(recorder.to_size(recorder._as_node(largest + 1), Dim.symbol(name, minimum=minlength, anonymous=True)), recorder)
    else:
        count = int(largest.item()) + 1
    weights = ops.ones_like(input) if weights is None else weights if weights.dtype == np.float32 else weights.astype("float64")
    return ops.scatter(ops.zeros((count,), weights.dtype), input, weights, axis=0, reduction="add")


@handles("mode")
@scalars_have_an_axis
def mode(input, dim=-1, keepdim=False):
    """The element that occurs most often, the smallest of several; the last place that has it. Each is compared with all others."""
    x = ops.moveaxis(ops.sort(input, axis=dim), dim, -1)
    equal = ops.expand_dims(x, -1) == ops.expand_dims(x, -2)
    best = ops.argmax(ops.count_nonzero(equal, axis=-1), axis=-1, keepdims=True)
    values = ops.take_along_axis(x, best, -1)
    same = ops.moveaxis(input, dim, -1) == values
    if is_floating(input.dtype):
        same = same | ops.isnan(ops.moveaxis(input, dim, -1)) & ops.isnan(values)
    places = ops.max(ops.where(same, ops.arange(x.shape[-1]), as_dtype(0, np.dtype("int64"))), axis=-1, keepdims=True)
    shaped = lambda t: ops.moveaxis(t, -1, dim) if keepdim else ops.squeeze(t, -1)
    return ValuesIndices(shaped(values), shaped(places))


@handles("isin")
def isin(elements, test_elements, assume_unique=False, invert=False):
    found = ops.any(ops.expand_dims(elements, -1) == ops.reshape(test_elements, shape=(-1,)), axis=-1)
    return ~found if invert else found


@handles("unique_consecutive")
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The first of each run of equal elements; the run of each element; the length of each run."""
    if dim is not None and input.ndim != 1:
        return NotImplemented
    x = ops.reshape(input, shape=(-1,))
    size = x.shape[0]
    place = ops.arange(size)
    first = (place == 0) | (x != ops.gather(x, ops.maximum(place - 1, as_dtype(0, place.dtype)), axis=0))
    values = x[first]
    inverse = ops.cumsum(first.astype("int64"), axis=0) - 1
    counts = ops.zeros((values.shape[0],), "int64")
    counts = ops.scatter(counts, inverse, ops.ones_like(inverse), axis=0, reduction="add") if return_counts else None
    extra = [t for wanted, t in ((return_inverse, ops.reshape(inverse, shape=input.shape)), (return_counts, counts)) if wanted]
    return (values, *extra) if extra else values


@handles("quantile")
def quantile(input, q, dim=None, keepdim=False, interpolation="linear"):
    """The element at place q * (n - 1) of the sorted elements, or between the two next to it; NaN where there is a NaN."""
    rank = input.ndim
    x, axis = (ops.reshape(input, shape=(-1,)), 0) if dim is None or not rank else (input, dim % rank)
    q = as_dtype(q, x.dtype)
    place = ops.reshape(q, shape=(-1,)) * ops.cast(x.shape[axis] - 1, dtype=x.dtype)
    low, high = (f(place).astype("int64") for f in (ops.floor, ops.ceil))
    ordered = ops.moveaxis(ops.sort(x, axis=axis), axis, 0)
    below, above = ops.gather(ordered, low, axis=0), ops.gather(ordered, high, axis=0)
    share = ops.reshape(place - ops.floor(place), shape=(-1,) + (1,) * (x.ndim - 1))
    share = {"linear": share, "lower": share * 0, "higher": share * 0 + 1, "midpoint": share * 0 + 0.5, "nearest": ops.round(share)}[interpolation]
    if interpolation == "nearest":
        y = ops.gather(ordered, ops.round(place).astype("int64"), axis=0)
    else:
        y = ops.where(share == 0, below, ops.where(share == 1, above, below + share * (above - below)))
    y = ops.where(ops.any(ops.moveaxis(ops.isnan(x), axis, 0), axis=0), as_dtype(float("nan"), x.dtype), y)
    if keepdim:
        y = ops.expand_dims(y, tuple(range(1, rank + 1))) if dim is None or not rank else ops.expand_dims(y, axis + 1)
    return y if q.ndim else ops.squeeze(y, 0)
