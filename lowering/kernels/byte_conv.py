"""Convolution of bytes, NHWC, summed in 32 bits: the loops of `conv_pixels` on words of four channels, with the multiply-add of bytes.

The image's bytes are unsigned, the filters' signed, in words that lie as `conv_pixels` wants its filters. The sums are the bits of f32
numbers, as those of `byte_matmul`. A tap beyond the image adds nothing.
"""

from dataclasses import replace

from mlir import ir
from mlir.dialects import memref

from ..targets import Target, host
from . import build as b
from .byte_depthwise import ByteDepthwise, depthwise_words_shape
from .byte_matmul import SHORTS, Shorts, WORD, Words
from .conv_pairs import PairConvolution
from .conv_pixels import PixelConvolution
from .pack import panel_width
from .shapes import ConvShape


def byte_strategy(shape: ConvShape, target: Target | None = None) -> str | None:
    """`"rows"`: a product over the channels of each pixel; `"depthwise"`; `"pixels"`: any other; None where f32 is better."""
    if shape.pointwise:
        return "rows"
    target = target or host()
    if shape.depthwise and target.byte_products and shape.channels % WORD == 0:
        return "depthwise"
    whole_words = shape.groups == 1 or shape.channels // shape.groups % target.integers == 0
    few = shape.groups > 1 and 2 * shape.per_group < target.lanes(32)
    return "pixels" if whole_words and not few else None


def byte_filter_shape(shape: ConvShape, target: Target | None = None) -> tuple:
    """The sizes of the filters in words: [group][panel][1][ky][kx][word][filter]; the channels are a multiple of four."""
    if byte_strategy(shape, target) == "depthwise":
        return depthwise_words_shape(shape, target or host())
    width = panel_width(shape.per_group, ir.F32Type.get(), target)
    return (shape.groups, -(-shape.per_group // width), 1, *shape.kernel, shape.channels // shape.groups // (target or host()).integers, width)


def emit_byte_conv(x, words, y, shape: ConvShape, epilogue=None, target: Target | None = None, rolled: bool = False):
    """Emit y = epilogue(bits of x * filters): x [n, h, w, c] of bytes, or of 16 bits, y [n, h, w, f], `words` of `byte_filter_shape`.

    A `rolled` epilogue is long: it is emitted once, in a loop over the sums of a chunk.
    """
    target = target or host()
    if b.bits(b.element_type(x)) == 16:
        _ShortConvolution(x, words, y, shape, epilogue, target, rolled).emit()
    elif byte_strategy(shape, target) == "depthwise":
        ByteDepthwise(_in_words(x), words, y, shape, epilogue, target, rolled).emit()
    else:
        _ByteConvolution(_in_words(x), words, y, replace(shape, channels=shape.channels // WORD), epilogue, target, rolled).emit()


def _in_words(x):
    """Bytes [n, h, w, c] as f32 [n, h, w, c / 4]."""
    flat = b.collapse(x, [[0, 1, 2, 3]])
    *lead, channels = (b.dim(x, axis) for axis in range(4))
    sizes = [*lead, channels // WORD]
    kind = ir.MemRefType.get([size if b.known(size) else b.DYNAMIC for size in sizes], ir.F32Type.get())
    return memref.view(kind, flat, b.value(0), [size for size in sizes if not b.known(size)])


class _ByteConvolution(PixelConvolution):
    arithmetic = Words

    def __init__(self, x, words, y, shape, epilogue, target, rolled):
        super().__init__(x, words, y, shape, epilogue, target)
        self.direct = not rolled


class _ShortConvolution(PairConvolution):
    arithmetic, step = Shorts, SHORTS

    def __init__(self, x, words, y, shape, epilogue, target, rolled):
        super().__init__(x, words, y, shape, epilogue, target)
        self.accumulator = ir.F32Type.get()
        self.kind = b.vector_type(self.plan.lanes, self.accumulator)
        self.direct = not rolled
