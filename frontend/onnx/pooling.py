"""Pooling over windows and over whole planes."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes, symbolic
from ...dialect.shapes import window_output
from ..ops.declared import declared as om
from ..ops.pooling import global_lp_pool, lp_pool
from ..tensor import Tensor
from .registry import reads
from .windows import padded, window_of


def _window(node):
    kernel = node.ints_attribute("kernel_shape")
    return window_of(node, kernel, node.shape(0)[2:])


def _options(node, window) -> dict:
    return {"kernel_size": window.kernel, "stride": window.strides, "padding": window.padding, "dilation": window.dilations,
            "ceil_mode": bool(node.int("ceil_mode", 0))}


def _lowest(dtype) -> Tensor:
    return Tensor._wrap(np.asarray(-np.inf if dtypes.is_floating(dtype) else np.iinfo(dtype).min).astype(dtype))


@reads("MaxPool")
def read_max_pool(node, ops):
    x, window = node.tensor(0), _window(node)
    low, high, fixed = window.low, window.high, window.is_fixed
    if not fixed:
        x = padded(x, window, _lowest(x.dtype))
    if not node.wants(1):
        return ops.max_pool(x, **_options(node, window))
    y, places = ops.max_pool_with_indices(x, **_options(node, window))
    return y, _flat_places(node, places if fixed else _within(places, node.shape(0)[2:], low, high))


def _within(places: Tensor, spatial, low, high) -> Tensor:
    """Places of a padded plane as those of the plane; padding, which is chosen where all else is lowest, too, as the nearest element."""
    result, factor = 0, 1
    for size, before, after in list(zip(spatial, low, high))[::-1]:
        wide = _tensor(size + before + after)
        place = om.minimum(om.maximum(om.remainder(places, wide) - _tensor(before), 0), _tensor(size - 1))
        result = result + place * _tensor(factor)
        places, factor = om.floor_divide(places, wide), symbolic.mul(factor, size)
    return result


def _flat_places(node, places: Tensor) -> Tensor:
    """Positions within a plane as positions within the whole tensor; with storage_order 1 those of a column-major plane."""
    from .shape import sizes_of

    batch, channels, *spatial = node.shape(0)
    plane = symbolic.product(spatial)
    if node.int("storage_order", 0) and len(spatial) == 2:
        rows, columns = (_tensor(s) for s in spatial)
        places = om.remainder(places, columns) * rows + om.floor_divide(places, columns)
    planes = om.iota(size=(symbolic.mul(batch, channels),)) * _tensor(plane)
    return places + om.reshape(planes, shape=(batch, channels, *[1] * len(spatial))) if sizes_of(places) else places


def _tensor(size) -> Tensor:
    from .values import _scalar

    return _scalar(size)


@reads("AveragePool")
def read_average_pool(node, ops):
    x, window = node.tensor(0), _window(node)
    include = bool(node.int("count_include_pad", 0))
    if not window.is_fixed:
        if not include:
            node.refuse("an average without padding, whose padding follows from a symbolic size, cannot be read: fix the spatial axes")
        x = padded(x, window, None)
    return ops.avg_pool(x, **_options(node, window), count_include_pad=include)


@reads("LpPool")
def read_lp_pool(node, ops):
    x, window = node.tensor(0), _window(node)
    x = x if window.is_fixed else padded(x, window, None)
    return lp_pool(x, **_options(node, window), p=float(node.int("p", 2)))


@reads("GlobalAveragePool")
def read_global_average_pool(node, ops):
    return ops.mean(node.tensor(0), axis=tuple(range(2, node.rank(0))), keepdims=True)


@reads("GlobalMaxPool")
def read_global_max_pool(node, ops):
    return ops.max(node.tensor(0), axis=tuple(range(2, node.rank(0))), keepdims=True)


@reads("GlobalLpPool")
def read_global_lp_pool(node, ops):
    return global_lp_pool(node.tensor(0), p=float(node.int("p", 2)))


@reads("MaxUnpool")
def read_max_unpool(node, ops):
    """Elements at the places that the indices name in the flat result, zeros elsewhere."""
    x, indices = node.tensor(0), node.tensor(1)
    batch, channels, *spatial = node.shape(0)
    kernel = node.ints_attribute("kernel_shape")
    strides, pads = node.ints_attribute("strides", (1,) * len(kernel)), node.ints_attribute("pads", (0,) * (2 * len(kernel)))
    low, high = pads[:len(kernel)], pads[len(kernel):]
    natural = [(size - 1) * s + k - a - b for size, s, k, a, b in zip(spatial, strides, kernel, low, high)]
    shape = (batch, channels, *natural)
    target = tuple(node.sizes(2)) if node.has(2) else shape
    if target != shape:
        indices = _moved(indices, natural, target)
    total = symbolic.product(target)
    empty = ops.full(Tensor._wrap(np.zeros((), x.dtype)), shape=(total,))
    filled = ops.scatter(empty, ops.reshape(indices, shape=(-1,)), ops.reshape(x, shape=(-1,)))
    return ops.reshape(filled, shape=target)


def _moved(indices: Tensor, natural, target) -> Tensor:
    """Flat places of the natural shape as flat places of a larger one."""
    plane, result = indices, 0
    factor = 1
    for size, wide in zip(natural[::-1], target[:1:-1]):
        result = result + om.remainder(plane, _tensor(size)) * _tensor(factor)
        plane, factor = om.floor_divide(plane, _tensor(size)), symbolic.mul(factor, wide)
    return result + plane * _tensor(factor)


__all__ = ["window_output"]
