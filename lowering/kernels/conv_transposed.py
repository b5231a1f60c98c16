"""The transpose of a convolution, NHWC out: y[o] = sum over i and k of x[i] * filter[k] where o = i * stride + k * dilation - pad.

Outputs whose place has the same remainder by the stride, a phase, are reached by the same taps; so each phase is a convolution of stride 1
with some of the taps, and no zero is ever multiplied.
"""

import math

from . import build as b
from .conv_pixels import Phase, PixelConvolution
from .shapes import Axis


def emit_transposed(x, filter, y, shape, epilogue, target):
    """One loop nest a phase."""
    out = b.dim(y, 1), b.dim(y, 2)
    for row in range(shape.strides[0]):
        for column in range(shape.strides[1]):
            offset = row, column
            counts = tuple(b.div(b.add(size, step - 1 - first), step) for size, step, first in zip(out, shape.strides, offset))
            if 0 in [count for count in counts if b.known(count)]:
                continue
            axes = tuple(_taps_of(shape, axis, offset[axis]) for axis in range(2))
            PixelConvolution(x, filter, y, shape, epilogue, target, Phase(axes, counts, shape.strides, offset)).emit()


def _taps_of(shape, axis: int, offset: int) -> Axis:
    """The taps k with (offset + pad - k * dilation) divisible by the stride, the last first, so that they walk x upwards."""
    stride, dilation, pad = shape.strides[axis], shape.dilations[axis], shape.pads[axis]
    taps = [k for k in range(shape.kernel[axis]) if (offset + pad - k * dilation) % stride == 0]
    if not taps:
        return Axis(1, 0, 0, 1)
    step = stride // math.gcd(stride, dilation)
    start, spacing = (offset + pad - taps[-1] * dilation) // stride, step * dilation // stride
    longest = dilation * (shape.kernel[axis] - 1) - pad - shape.pads[axis + 2]  # the output is so much longer than (input - 1) * stride + 1
    late = (longest - offset) // stride + start + (len(taps) - 1) * spacing
    return Axis(1, len(taps), start, spacing, taps[-1], -step, max(0, late))
