"""Convolutions."""
from __future__ import annotations

from ... import ops
from ..registry import handles


def pair(value, rank: int) -> tuple:
    """One number, or one per axis, as one per axis."""
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return items * rank if len(items) == 1 else items


def _convolution(rank: int):
    function = getattr(ops, f"conv{rank}d")

    def handler(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        padding = padding if isinstance(padding, str) else pair(padding, rank)
        return function(input, weight, bias, pair(stride, rank), padding, pair(dilation, rank), groups)
    return handler


def _transposed(rank: int):
    function = getattr(ops, f"conv_transpose{rank}d")

    def handler(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        return function(input, weight, bias, pair(stride, rank), pair(padding, rank), pair(output_padding, rank), groups, pair(dilation, rank))
    return handler


for _rank in (1, 2, 3):
    handles(f"conv{_rank}d", f"F.conv{_rank}d")(_convolution(_rank))
    handles(f"conv_transpose{_rank}d", f"F.conv_transpose{_rank}d")(_transposed(_rank))


@handles("convolution", "_convolution")
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, *_):
    rank = weight.ndim - 2
    if transposed:
        return _transposed(rank)(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return _convolution(rank)(input, weight, bias, stride, padding, dilation, groups)
