"""Convolutions by torch's names, on one, two or three spatial axes."""
from __future__ import annotations

from ...errors import OnemlirError, ShapeError
from ..tensor import Tensor
from .declared import ops
from .shape import expand_dims, squeeze

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]


def conv1d(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride=1, padding=0, dilation=1, groups: int = 1) -> Tensor:
    """`conv` over one axis: x (n, c_in, width) or (c_in, width), weight (c_out, c_in / groups, k).

    padding may be "valid" (none) or "same" (the result has the size of x; stride 1). Source: torch's conv1d.
    """
    return _convolve(1, x, weight, bias, stride, padding, dilation, groups)


def conv2d(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride=1, padding=0, dilation=1, groups: int = 1) -> Tensor:
    """`conv` over two axes: x (n, c_in, height, width) or (c_in, height, width), weight (c_out, c_in / groups, kh, kw).

    padding may be "valid" (none) or "same" (the result has the size of x; stride 1). Source: torch's conv2d.
    """
    return _convolve(2, x, weight, bias, stride, padding, dilation, groups)


def conv3d(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride=1, padding=0, dilation=1, groups: int = 1) -> Tensor:
    """`conv` over three axes: x (n, c_in, depth, height, width) or without n, weight (c_out, c_in / groups, kd, kh, kw).

    padding may be "valid" (none) or "same" (the result has the size of x; stride 1). Source: torch's conv3d.
    """
    return _convolve(3, x, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups: int = 1, dilation=1) -> Tensor:
    """`conv_transpose` over one axis: x (n, c_in, width) or (c_in, width), weight (c_in, c_out / groups, k). Source: torch's conv_transpose1d."""
    return _transposed(1, x, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups: int = 1, dilation=1) -> Tensor:
    """`conv_transpose` over two axes: x (n, c_in, height, width) or without n. Source: torch's conv_transpose2d."""
    return _transposed(2, x, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups: int = 1, dilation=1) -> Tensor:
    """`conv_transpose` over three axes: x (n, c_in, depth, height, width) or without n. Source: torch's conv_transpose3d."""
    return _transposed(3, x, weight, bias, stride, padding, output_padding, groups, dilation)


def _convolve(rank: int, x, weight, bias, stride, padding, dilation, groups: int) -> Tensor:
    if isinstance(padding, str):
        padding = _named_padding(rank, padding, weight, stride, dilation)
    return _batched("conv", rank, x, weight, bias, {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups})


def _transposed(rank: int, x, weight, bias, stride, padding, output_padding, groups: int, dilation) -> Tensor:
    attributes = {"stride": stride, "padding": padding, "output_padding": output_padding, "groups": groups, "dilation": dilation}
    return _batched("conv_transpose", rank, x, weight, bias, attributes)


def _batched(opname: str, rank: int, x, weight, bias, attributes) -> Tensor:
    """The op on x as it is, or on x with a batch of one when it has no batch axis."""
    x, weight = (t if isinstance(t, Tensor) else Tensor(t) for t in (x, weight))
    if weight.ndim != rank + 2 or x.ndim not in (rank + 1, rank + 2):
        raise ShapeError(f"{opname}{rank}d: weight must have {rank + 2} axes and x {rank + 2} (or {rank + 1} without a batch), "
                         f"found {weight.ndim} and {x.ndim}")
    single = x.ndim == rank + 1
    y = getattr(ops, opname)(expand_dims(x, 0) if single else x, weight, bias, **attributes)
    return squeeze(y, 0) if single else y


def _named_padding(rank: int, padding: str, weight, stride, dilation) -> tuple:
    strides, dilations = ((v,) * rank if isinstance(v, int) else tuple(v) for v in (stride, dilation))
    if padding == "valid":
        return (0,) * (2 * rank)
    if padding != "same":
        raise OnemlirError(f"'padding' must be 'same', 'valid', or numbers, found {padding!r}")
    if any(s != 1 for s in strides):
        raise OnemlirError(f"padding 'same' needs stride 1, found {strides}")
    total = [d * (k - 1) for d, k in zip(dilations * (rank if len(dilations) == 1 else 1), weight.shape[2:])]
    return tuple(t // 2 for t in total) + tuple(t - t // 2 for t in total)
