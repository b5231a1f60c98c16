"""Gradients of pooling."""
from __future__ import annotations

import numpy as np

from ...dialect import symbolic
from ...dialect.ops import pooling as om
from ...errors import UnsupportedOpError
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from .broadcasting import zeros
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
    flat = lambda t: ops.reshape(t, shape=(*sizes(t)[:lead], symbolic.product(sizes(t)[lead:])))
    gradient = ops.where(indices < 0, 0.0, gradient)
    target = zeros((*shape[:lead], symbolic.product(shape[lead:])), call.x.dtype)
    return ops.reshape(ops.scatter(target, flat(ops.maximum(indices, 0)), flat(gradient), axis=-1, reduction="add"), shape=shape)


@gradient_of(om.AvgPool)
def avg_pool(call, gradient):
    """Each window's gradient over its count, added at all of its taps: a transposed convolution with ones."""
    rank, lead = len(call.kernel_size), call.x.ndim - len(call.kernel_size)
    shape, out = sizes(call.x), sizes(gradient)
    batch = symbolic.product(shape[:lead])
    shares = ops.reshape(gradient / _counts(call, out[lead:]), shape=(batch, 1, *out[lead:]))
    ones = ops.full(call.x.dtype.type(1), shape=(1, 1, *call.kernel_size))
    spans = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(out[lead:], call.stride, call.dilation, call.kernel_size)]
    full = ops.conv_transpose(shares, ones, stride=call.stride, dilation=call.dilation)
    missing = tuple(symbolic.maximum(low + size - span, 0) for low, size, span in zip(call.padding, shape[lead:], spans))
    full = ops.pad_constant(full, call.x.dtype.type(0), low=(0,) * (rank + 2), high=(0, 0, *missing))
    inner = ops.slice(full, starts=(0, 0, *call.padding[:rank]), shape=(batch, 1, *shape[lead:]), steps=(1,) * (rank + 2))
    return ops.reshape(inner, shape=shape)


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
