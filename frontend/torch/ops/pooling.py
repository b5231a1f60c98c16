"""Pooling."""
from __future__ import annotations

import functools
import math

import numpy as np

from ....dialect import dtypes
from ... import ops
from ...ops.declared import declared
from ...tensor import Tensor
from ..dtypes import is_floating
from ..registry import handles
from .convolution import pair
from .values import as_dtype


def _flat(value, default=None):
    return default if value is None or (isinstance(value, (tuple, list)) and not value) else value


def _maximum(rank: int):
    function = getattr(ops, f"max_pool{rank}d")

    def handler(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        stride = _flat(stride)
        return function(input, pair(kernel_size, rank), None if stride is None else pair(stride, rank), pair(padding, rank), pair(dilation, rank),
                        ceil_mode, return_indices)
    return handler


def _average(rank: int):
    function = getattr(ops, f"avg_pool{rank}d")

    def handler(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        stride = _flat(stride)
        x = input if is_floating(input.dtype) else input.astype(dtypes.float64)  # torch divides integers towards zero, as the cast back does
        y = function(x, pair(kernel_size, rank), None if stride is None else pair(stride, rank), pair(padding, rank), ceil_mode,
                     count_include_pad, divisor_override)
        return y.astype(input.dtype)
    return handler


def _adaptive(kind: str, rank: int):
    function = getattr(ops, f"adaptive_{kind}_pool{rank}d")

    def handler(input, output_size, return_indices=False):
        return adaptive_with_indices(input, pair(output_size, rank)) if return_indices else function(input, pair(output_size, rank))
    return handler


def adaptive_with_indices(input, output_size) -> tuple[Tensor, Tensor]:
    """The largest element of each window and its place in the flat image. Window i of n over m elements is floor(i*m/n) to ceil((i+1)*m/n)."""
    rank = len(output_size)
    if all(o == 1 for o in output_size):
        flat = ops.reshape(input, shape=(*input.shape[:-rank], -1))
        shape = (*input.shape[:-rank], *(1,) * rank)
        return tuple(ops.reshape(t, shape=shape) for t in (ops.max(flat, axis=-1), ops.argmax(flat, axis=-1)))
    sizes = [s.__index__() for s in input.shape[-rank:]]
    wanted = [n if o is None else o.__index__() for o, n in zip(output_size, sizes)]
    windows, inside = zip(*(_windows(n, o) for n, o in zip(sizes, wanted)))
    x, places = input, np.arange(np.prod(sizes), dtype=np.int64).reshape(sizes)
    for axis, window in enumerate(windows):  # (..., out, window, out, window)
        x = ops.gather(x, Tensor._wrap(window), axis=input.ndim - rank + 2 * axis)
        places = np.take(places, window, axis=2 * axis)
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    lead = input.ndim - rank
    flat = lambda a: a.transpose(order).reshape(*wanted, -1)
    known = functools.reduce(np.logical_and, (m.reshape([1] * (2 * i) + list(m.shape) + [1] * (2 * (rank - i - 1))) for i, m in enumerate(inside)))
    known, places = flat(np.broadcast_to(known, places.shape)), flat(places)
    x = ops.reshape(ops.transpose(x, axes=(*range(lead), *(lead + o for o in order))), shape=(*input.shape[:lead], *places.shape))
    x = ops.where(Tensor._wrap(known), x, as_dtype(float("-inf"), input.dtype))
    chosen = ops.argmax(x, axis=-1, keepdims=True)
    indices = declared.take_along_axis(ops.broadcast_to(Tensor._wrap(places), shape=x.shape), chosen, axis=-1)
    return ops.max(x, axis=-1), ops.squeeze(indices, -1)


def _windows(size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The places of each window, (count, longest), and which of them belong to it."""
    starts, ends = np.arange(count) * size // count, -(-(np.arange(count) + 1) * size // count)
    places = starts[:, None] + np.arange((ends - starts).max())
    return np.minimum(places, size - 1), places < ends[:, None]


def _unpool(rank: int):
    """Elements at their places in the flat image, which max-pooling gives; 0 elsewhere."""
    def handler(input, indices, output_size, stride=None, padding=None):
        lead = input.shape[:-rank]
        flat = ops.zeros((*lead, math.prod(output_size)), input.dtype)
        rows = lambda t: ops.reshape(t, shape=(*lead, math.prod(input.shape[-rank:])))
        return ops.reshape(ops.scatter(flat, rows(indices), rows(input), axis=-1), shape=(*lead, *output_size))
    return handler


handles("max_unpool2d", "C.max_unpool2d")(_unpool(2))
handles("max_unpool3d", "C.max_unpool3d")(_unpool(3))

for _rank in (1, 2, 3):
    handles(f"max_pool{_rank}d", f"F.max_pool{_rank}d")(_maximum(_rank))
    handles(f"max_pool{_rank}d_with_indices", f"F.max_pool{_rank}d_with_indices")(lambda *a, f=_maximum(_rank), **k: f(*a, **{**k, "return_indices": True}))
    handles(f"avg_pool{_rank}d", f"F.avg_pool{_rank}d")(_average(_rank))
    handles(f"adaptive_avg_pool{_rank}d", f"F.adaptive_avg_pool{_rank}d", f"_adaptive_avg_pool{_rank}d")(_adaptive("avg", _rank))
    handles(f"F.adaptive_max_pool{_rank}d")(_adaptive("max", _rank))
    handles(f"C.adaptive_max_pool{_rank}d", f"adaptive_max_pool{_rank}d", f"F.adaptive_max_pool{_rank}d_with_indices")(
        lambda input, output_size, return_indices=True, r=_rank: adaptive_with_indices(input, pair(output_size, r)))
    if hasattr(ops, f"lp_pool{_rank}d"):
        handles(f"F.lp_pool{_rank}d")(lambda input, norm_type, kernel_size, stride=None, ceil_mode=False, f=getattr(ops, f"lp_pool{_rank}d"):
                                      f(input, float(norm_type), kernel_size, stride, ceil_mode))
