"""The transpose of a convolution, NHWC out: y[o] = sum over i and k of x[i] * filter[k] where o = i * stride + k * dilation - pad.

Outputs whose place has the same remainder by the stride, a phase, are reached by the same taps; so each phase is a convolution of stride 1
with some of the taps, and no zero is ever multiplied.
"""

import itertools
import math
from dataclasses import replace

from . import build as b
from .conv_pixels import Phase, PixelConvolution, spatial
from .shapes import Axis


def emit_transposed(x, filter, y, shape, epilogue, target, kind=PixelConvolution):
    """One loop nest a phase."""
    *planes, height, width = spatial(y, "nhwc")
    along = tuple(zip(shape.strides, shape.kernel, shape.dilations, zip(shape.pads, shape.pads[2:])))
    depths = [None]
    if planes:
        depth = shape.depth
        depths = _phases(planes, ((depth.stride, depth.kernel, depth.dilation, depth.pads),))
    for depth, plane in itertools.product(depths, _phases((height, width), along)):
        kind(x, filter, y, shape, epilogue, target, replace(plane, depth=depth)).emit()


def _phases(out, along) -> list[Phase]:
    """The phases that have outputs, of axes of these output sizes. `along`: stride, taps, dilation and pads of each axis."""
    found = []
    strides = tuple(stride for stride, *_ in along)
    for offset in itertools.product(*map(range, strides)):
        counts = tuple(b.div(b.add(size, step - 1 - first), step) for size, step, first in zip(out, strides, offset))
        if 0 not in [count for count in counts if b.known(count)]:
            found.append(Phase(tuple(_taps_of(*axis, first) for axis, first in zip(along, offset)), counts, strides, offset))
    return found


def _taps_of(stride: int, kernel: int, dilation: int, pads: tuple[int, int], offset: int) -> Axis:
    """The taps k with (offset + pad - k * dilation) divisible by the stride, the last first, so that they walk x upwards."""
    pad, high = pads
    taps = [k for k in range(kernel) if (offset + pad - k * dilation) % stride == 0]
    if not taps:
        return Axis(1, 0, 0, 1)
    step = stride // math.gcd(stride, dilation)
    start, spacing = (offset + pad - taps[-1] * dilation) // stride, step * dilation // stride
    longest = dilation * (kernel - 1) - pad - high  # the output is so much longer than (input - 1) * stride + 1
    late = (longest - offset) // stride + start + (len(taps) - 1) * spacing
    return Axis(1, len(taps), start, spacing, taps[-1], -step, max(0, late))
