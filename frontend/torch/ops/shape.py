"""Functions that rearrange elements into new tensors."""
from __future__ import annotations

from ... import ops
from ...tensor import Tensor
from ..registry import handles
from .values import as_dtype, as_sizes, promoted


@handles("cat", "concat", "concatenate")
def cat(tensors, dim=0, axis=None):
    tensors = promoted(*tensors)
    axis = dim if axis is None else axis
    kept = [t for t in tensors if not (t.ndim == 1 and t.shape[0].__class__ is int and t.shape[0] == 0)] if any(t.ndim > 1 for t in tensors) else tensors
    return ops.concat(kept, axis=axis) if len(kept) > 1 else kept[0] if kept else tensors[0]


@handles("stack")
def stack(tensors, dim=0):
    return ops.stack(promoted(*tensors), axis=dim)


@handles("hstack")
def hstack(tensors):
    return ops.hstack(promoted(*tensors))


@handles("vstack", "row_stack")
def vstack(tensors):
    return ops.vstack(promoted(*tensors))


@handles("flip")
def flip(input, *axes, dims=None):
    return ops.flip(input, as_sizes(axes if dims is None else (dims,)))


@handles("fliplr")
def fliplr(input):
    return ops.flip(input, (1,))


@handles("flipud")
def flipud(input):
    return ops.flip(input, (0,))


@handles("rot90")
def rot90(input, k=1, dims=(0, 1)):
    a, b = dims
    k %= 4
    if k == 2:
        return ops.flip(input, (a, b))
    return input if k == 0 else ops.flip(ops.swapaxes(input, a, b), (a if k == 1 else b,))


@handles("roll")
def roll(input, shifts, dims=None):
    return ops.roll(input, tuple(shifts) if isinstance(shifts, (list, tuple)) else shifts,
                    None if dims in (None, (), []) else tuple(dims) if isinstance(dims, (list, tuple)) else dims)


@handles("tile", "repeat")
def tile(input, *dims):
    return ops.tile(input, as_sizes(dims))


@handles("repeat_interleave")
def repeat_interleave(input, repeats=None, dim=None, output_size=None):
    if isinstance(repeats, Tensor):
        repeats = repeats.tolist() if repeats.ndim else repeats.item()
        repeats = repeats[0] if isinstance(repeats, list) and len(repeats) == 1 else repeats
    return ops.repeat(input, repeats, dim)


@handles("meshgrid")
def meshgrid(*tensors, indexing="ij"):
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    return ops.meshgrid(*tensors, indexing=indexing or "ij")


@handles("broadcast_tensors")
def broadcast_tensors(*tensors):
    return ops.broadcast_tensors(*(tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors))


def _listed(tensors):
    return tensors[0] if len(tensors) == 1 else tensors


for _rank in (1, 2, 3):
    handles(f"atleast_{_rank}d")(lambda *ts, f=getattr(ops, f"atleast_{_rank}d"): tuple(map(f, _listed(ts))) if len(ts) > 1 or isinstance(ts[0], (tuple, list)) else f(ts[0]))


@handles("F.pad", "pad", "constant_pad_nd")
def pad(input, pad, mode="constant", value=None):
    if not isinstance(mode, str):
        mode, value = "constant", mode
    widths = [(0, 0)] * (input.ndim - len(pad) // 2) + [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    names = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    return ops.pad(input, widths, mode=names[mode], constant_values=as_dtype(0 if value is None else value, input.dtype))


def _padding(mode):
    return lambda input, padding: pad(input, padding, mode)


for _rank in (1, 2, 3):
    handles(f"reflection_pad{_rank}d")(_padding("reflect"))
    handles(f"replication_pad{_rank}d")(_padding("replicate"))


@handles("F.pixel_shuffle", "pixel_shuffle")
def pixel_shuffle(input, upscale_factor):
    *lead, c, h, w = input.shape
    r, n = upscale_factor, len(lead)
    x = ops.reshape(input, shape=(*lead, c // (r * r), r, r, h, w))
    x = ops.transpose(x, axes=(*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return ops.reshape(x, shape=(*lead, c // (r * r), h * r, w * r))


@handles("F.pixel_unshuffle", "pixel_unshuffle")
def pixel_unshuffle(input, downscale_factor):
    *lead, c, h, w = input.shape
    r, n = downscale_factor, len(lead)
    x = ops.reshape(input, shape=(*lead, c, h // r, r, w // r, r))
    x = ops.transpose(x, axes=(*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return ops.reshape(x, shape=(*lead, c * r * r, h // r, w // r))


@handles("F.channel_shuffle", "channel_shuffle", "native_channel_shuffle")
def channel_shuffle(input, groups):
    n, c, *rest = input.shape
    x = ops.reshape(input, shape=(n, groups, c // groups, *rest))
    return ops.reshape(ops.swapaxes(x, 1, 2), shape=(n, c, *rest))


@handles("diag")
def diag(input, diagonal=0):
    return ops.diag(input, diagonal)


@handles("diag_embed")
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    n = input.shape[-1] + abs(offset)
    zeros = ops.zeros((*input.shape[:-1], abs(offset)), input.dtype)
    row = ops.concat([zeros, input] if offset > 0 else [input, zeros], axis=-1) if offset else input
    i, j = ops.arange(n).reshape((-1, 1)), ops.arange(n)
    spread = ops.expand_dims(row, -2)
    y = ops.where(i + offset == j, spread, as_dtype(0, input.dtype))
    return ops.moveaxis(y, (-2, -1), (dim1, dim2))


@handles("F.unfold", "im2col")
def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The windows of images as columns: a convolution with the identity as weight."""
    import numpy as np

    from .convolution import pair

    kernel = pair(kernel_size, 2)
    channels = input.shape[1]
    taps = kernel[0] * kernel[1]
    weight = np.tile(np.eye(taps, dtype=input.dtype).reshape(taps, 1, *kernel), (channels, 1, 1, 1))
    y = ops.conv(input, Tensor._wrap(weight), None, stride=pair(stride, 2), padding=pair(padding, 2), dilation=pair(dilation, 2), groups=channels)
    return ops.reshape(y, shape=(input.shape[0], channels * taps, -1))


@handles("diff")
def diff(input, n=1, dim=-1, prepend=None, append=None):
    parts = [t for t in (prepend, input, append) if t is not None]
    x = ops.concat(promoted(*parts), axis=dim) if len(parts) > 1 else input
    lead = (slice(None),) * (dim % x.ndim)
    for _ in range(n):
        after, before = x[(*lead, slice(1, None))], x[(*lead, slice(None, -1))]
        x = ops.not_equal(after, before) if x.dtype == bool else after - before
    return x


@handles("F.fold", "F.col2im", "col2im")
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The sum of overlapping windows: the transpose of `unfold`, a transposed convolution with the identity as weight."""
    import numpy as np

    from .convolution import pair

    size, kernel, dilation, padding, stride = (pair(v, 2) for v in (output_size, kernel_size, dilation, padding, stride))
    counts = [(size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in (0, 1)]
    extra = tuple(size[i] - ((counts[i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernel[i] - 1) + 1) for i in (0, 1))
    taps = kernel[0] * kernel[1]
    channels = input.shape[1] // taps
    weight = np.tile(np.eye(taps, dtype=input.dtype).reshape(taps, 1, *kernel), (channels, 1, 1, 1))
    x = ops.reshape(input, shape=(input.shape[0], input.shape[1], *counts))
    return ops.conv_transpose(x, Tensor._wrap(weight), None, stride=stride, padding=padding, output_padding=extra, groups=channels, dilation=dilation)


@handles("diagflat")
def diagflat(input, offset=0):
    return ops.diag(ops.reshape(input, shape=(-1,)), offset)


@handles("prims.broadcast_in_dim")
def broadcast_in_dim(input, shape, broadcast_dimensions):
    sizes = [1] * len(shape)
    for size, axis in zip(input.shape, broadcast_dimensions):
        sizes[axis] = size
    return ops.broadcast_to(ops.reshape(input, shape=tuple(sizes)), shape=tuple(shape))
