"""Sorting and searching."""
from __future__ import annotations

from ... import ops
from ...ops.declared import declared
from ..registry import handles
from .reduction import ValuesIndices


@handles("sort")
def sort(input, dim=-1, descending=False, stable=False):
    if isinstance(dim, bool):
        dim, descending = -1, dim
    return ValuesIndices(ops.sort(input, axis=dim, descending=descending), ops.argsort(input, axis=dim, descending=descending))


@handles("argsort")
def argsort(input, dim=-1, descending=False, stable=False):
    return ops.argsort(input, axis=dim, descending=descending)


@handles("msort")
def msort(input):
    return ops.sort(input, axis=0)


@handles("topk")
def topk(input, k, dim=-1, largest=True, sorted=True):
    return ValuesIndices(*ops.topk(input, (k,), axis=dim, largest=largest, sorted=sorted))


@handles("kthvalue")
def kthvalue(input, k, dim=-1, keepdim=False):
    values, indices = sort(input, dim)
    pick = (slice(None),) * (dim % input.ndim) + (slice(k - 1, k) if keepdim else k - 1,)
    return ValuesIndices(values[pick], indices[pick])


@handles("median")
def median(input, dim=None, keepdim=False):
    if dim is None:
        input, dim = ops.reshape(input, shape=(-1,)), 0
        return kthvalue(input, (input.shape[0] - 1) // 2 + 1, 0)[0]
    return kthvalue(input, (input.shape[dim] - 1) // 2 + 1, dim, keepdim)


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
    if sorter is not None or out_int32:
        return NotImplemented
    return ops.searchsorted(sorted_sequence, input, right=right or side == "right")


@handles("isin")
def isin(elements, test_elements, assume_unique=False, invert=False):
    found = ops.any(ops.expand_dims(elements, -1) == ops.reshape(test_elements, shape=(-1,)), axis=-1)
    return ~found if invert else found
