"""Gradients of pooling."""
from __future__ import annotations

import numpy as np

from ...dialect import symbolic
from ...dialect.ops import pooling as om
from ...errors import UnsupportedOpError
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from .broadcasting import zeros
from .convolution import by_input
from .registry import gradient_of


@gradient_of(om.MaxPool)
def max_pool(call, gradient):
    options = {name: getattr(call, name) for name in ("kernel_size", "stride", "padding", "dilation", "ceil_mode")}
    return _to_places(call, gradient, ops.max_pool_with_indices(call.x, **options)[1])


@gradient_of(om.MaxPoolWithIndices)
def max_pool_with_indices(call, gradient, _):
    return _to_places(call, gradient, call.indices)


def _to_places(call, gradient, indices):
    """Each window's gradient goes to its maximum; windows of padding alone (-1) have none."""
    shape, lead = sizes(call.x), call.x.ndim - len(call.kernel_size)
    if _tiles(call, gradient):
        here = _tiled(call, indices) == _places(shape[lead:])
        return ops.where(here, _tiled(call, gradient), 0.0)
    flat = lambda t: ops.reshape(t, shape=(*sizes(t)[:lead], symbolic.product(sizes(t)[lead:])))
    gradient = ops.where(indices < 0, 0.0, gradient)
    target = zeros((*shape[:lead], symbolic.product(shape[lead:])), call.x.dtype)
    return ops.reshape(ops.scatter(target, flat(ops.maximum(indices, 0)), flat(gradient), axis=-1, reduction="add"), shape=shape)


def _tiles(call, gradient) -> bool:
    """Whether the windows cover x without gaps and overlaps, so that each element belongs to one."""
    lead = call.x.ndim - len(call.kernel_size)
    plain = call.stride == call.kernel_size and not any(call.padding) and all(d == 1 for d in call.dilation)
    return plain and all(n * k == size for n, k, size in zip(sizes(gradient)[lead:], call.kernel_size, sizes(call.x)[lead:]))


def _tiled(call, x):
    """What belongs to each window repeated for its elements."""
    lead, out = x.ndim - len(call.kernel_size), sizes(x)
    apart = [size for n, k in zip(out[lead:], call.kernel_size) for size in (n, 1)]
    spread = [size for n, k in zip(out[lead:], call.kernel_size) for size in (n, k)]
    x = ops.broadcast_to(ops.reshape(x, shape=(*out[:lead], *apart)), shape=(*out[:lead], *spread))
    return ops.reshape(x, shape=sizes(call.x))


def _places(spatial):
    """The row-major place of each element within the pooled axes."""
    return ops.reshape(ops.iota(size=(symbolic.product(spatial),)), shape=tuple(spatial))


@gradient_of(om.AvgPool)
def avg_pool(call, gradient):
    """Each window's gradient over its count, at all of its elements: where windows overlap, the gradient of a convolution with ones."""
    lead = call.x.ndim - len(call.kernel_size)
    shape, out = sizes(call.x), sizes(gradient)
    shares = gradient / _counts(call, out[lead:])
    if _tiles(call, gradient):
        return _tiled(call, shares)
    batch = symbolic.product(shape[:lead])
    ones = ops.full(call.x.dtype.type(1), shape=(1, 1, *call.kernel_size))
    padding = _padding(call, shape[lead:], out[lead:])
    image = ops.reshape(call.x, shape=(batch, 1, *shape[lead:]))
    found = by_input(image, ones, ops.reshape(shares, shape=(batch, 1, *out[lead:])), call.stride, padding, call.dilation, 1)
    return ops.reshape(found, shape=shape)


def _padding(call, spatial, out):
    """The padding with which the windows end exactly where the last one does, also where that is beyond the padding (ceil_mode)."""
    rank = len(call.kernel_size)
    spans = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(out, call.stride, call.dilation, call.kernel_size)]
    return (*call.padding[:rank], *(symbolic.maximum(span - low - size, 0) for span, low, size in zip(spans, call.padding, spatial)))


def _counts(call, out):
    """What each window's sum was divided by."""
    if call.divisor is not None:
        return float(call.divisor)
    rank, lead = len(call.kernel_size), call.x.ndim - len(call.kernel_size)
    spatial = sizes(call.x)[lead:]
    if not any(call.padding) and not call.ceil_mode:
        return float(np.prod(call.kernel_size))
    if not all(isinstance(size, int) for size in spatial):
        raise UnsupportedOpError(f"the gradient of a padded avg_pool needs fixed sizes, found x {call.x.shape}")
    counts = np.ones((), call.x.dtype)
    for i in range(rank):
        taps = om.tap_counts(out[i], spatial[i], call.kernel_size[i], call.stride[i], call.padding[i], call.padding[rank + i], call.dilation[i],
                             call.count_include_pad)
        counts = counts * taps.astype(call.x.dtype).reshape(-1, *[1] * (rank - 1 - i))
    return counts
