"""Kernel, strides, dilations and padding of operators that slide a window, by ONNX's attributes."""
from __future__ import annotations

from dataclasses import dataclass

from ...dialect import symbolic
from ...errors import FormatError
from ..ops.declared import declared as om
from ..tensor import Tensor


@dataclass
class Window:
    """One entry for each spatial axis; padding may be symbolic where it is computed from the input's size."""

    kernel: tuple
    strides: tuple
    dilations: tuple
    low: tuple
    high: tuple

    @property
    def padding(self) -> tuple:
        """All lows, then all highs."""
        return self.low + self.high

    @property
    def is_fixed(self) -> bool:
        return all(isinstance(p, int) for p in self.padding)


def window_of(node, kernel, spatial) -> Window:
    """The window of a node over the spatial sizes. FormatError for attributes that do not fit."""
    rank = len(kernel)
    strides, dilations = (node.ints_attribute(name, (1,) * rank) for name in ("strides", "dilations"))
    pads = node.ints_attribute("pads", (0,) * (2 * rank))
    for name, values, count in (("strides", strides, rank), ("dilations", dilations, rank), ("pads", pads, 2 * rank)):
        if len(values) != count:
            raise FormatError(f"the attribute '{name}' must have {count} entries, found {len(values)}")
    if len(spatial) != rank:
        raise FormatError(f"the kernel has {rank} axes, but the input has {len(spatial)} spatial axes")
    mode = node.text("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        return Window(tuple(kernel), strides, dilations, pads[:rank], pads[rank:])
    if mode == "VALID":
        return Window(tuple(kernel), strides, dilations, (0,) * rank, (0,) * rank)
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        raise FormatError(f"the attribute 'auto_pad' must be NOTSET, SAME_UPPER, SAME_LOWER or VALID, found '{mode}'")
    total = [_same(size, k, s, d) for size, k, s, d in zip(spatial, kernel, strides, dilations)]
    half = tuple(symbolic.floordiv(t, 2) for t in total)
    rest = tuple(t - h for t, h in zip(total, half))
    return Window(tuple(kernel), strides, dilations, *((half, rest) if mode == "SAME_UPPER" else (rest, half)))


def _same(size, kernel: int, stride: int, dilation: int):
    """Padding with which ceil(size / stride) windows fit."""
    span = (kernel - 1) * dilation + 1
    if stride == 1:
        return span - 1
    return symbolic.maximum((symbolic.floordiv(size + (stride - 1), stride) - 1) * stride + span - size, 0)


def padded(x: Tensor, window: Window, value) -> Tensor:
    """x with the window's padding as elements; the window has none any more."""
    rest = x.ndim - len(window.kernel)
    y = om.pad(x, value, low=(0,) * rest + window.low, high=(0,) * rest + window.high)
    window.low = window.high = (0,) * len(window.kernel)
    return y
