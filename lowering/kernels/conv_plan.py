"""How a convolution is computed: the strategy, the packed filter's shape, and the tiles."""

import math
from dataclasses import dataclass

from ..targets import Target, host
from . import build as b
from .conv_winograd import winograd_filter_shape, winograd_windows_shape
from .pack import accumulator_type, packed_shape, panel_width
from .pair_matmul import PAIR
from .shapes import ConvShape

STASH = 32 << 10
"""Bytes of the stack scratch that holds a chunk's sums."""


def conv_strategy(shape: ConvShape, target: Target | None = None) -> str:
    """One of

    * `"depthwise"`: NCHW, one filter a channel,
    * `"grouped"`: NHWC, one channel or few a group,
    * `"rows"`: a product over channels, a row for each pixel (one pixel an image in NCHW),
    * `"planes"`: NCHW, filter x pixels as a product,
    * `"winograd"`: NHWC, if the shape says so,
    * `"pixels"`: any other, and any layouts.
    """
    target = target or host()
    if "nhwc" in shape.layouts:
        return _channels_last_strategy(shape, target)
    if shape.depthwise and not shape.transposed and shape.depth is None:
        return "depthwise"
    if not shape.pointwise:
        return "pixels"
    if (shape.height, shape.width) == (1, 1):
        return "rows"
    if None in (shape.height, shape.width):
        return "planes"
    pixels = shape.height * shape.width
    lanes = target.lanes(shape.bits)
    return "planes" if pixels / (-(-pixels // lanes) * lanes) > 0.8 else "pixels"


def _channels_last_strategy(shape, target):
    if shape.layouts != ("nhwc", "nhwc"):
        return "pixels"
    if shape.pointwise:
        return "rows"
    if shape.winograd:
        return "winograd"
    return "grouped" if fits_lanes(shape, target.lanes(shape.bits)) else "pixels"


def fits_lanes(shape: ConvShape, lanes: int) -> bool:
    """Whether a vector of filters holds several whole groups whose channels fill at most two vectors."""
    if shape.transposed or shape.per_group >= lanes or lanes % shape.per_group:
        return False
    return shape.groups > 1 and lanes // shape.per_group * (shape.channels // shape.groups) <= 2 * lanes


def packed_filter_shape(shape: ConvShape, element, target: Target | None = None) -> tuple | None:
    """The sizes of the packed filter of `element`s; None if the filter is used as it is stored, viewed as [filters, channels]."""
    target = target or host()
    strategy = conv_strategy(shape, target)
    if strategy == "planes":
        return None
    if strategy == "rows":
        return packed_shape(shape.channels // (PAIR if shape.pairs else 1), shape.filters, element, target)
    if strategy == "winograd":
        return winograd_filter_shape(shape, target)
    lanes = target.lanes(b.bits(accumulator_type(element)))
    if strategy == "depthwise":
        return (shape.channels, *shape.kernel)
    channels = shape.channels // shape.groups
    if strategy == "grouped":
        return (*shape.window, channels, -(-shape.filters // lanes) * lanes)
    width = panel_width(shape.per_group, accumulator_type(element), target)
    inner = channels if shape.layout_in == "nhwc" else 1
    return (shape.groups, -(-shape.per_group // width), channels // inner, *shape.window, inner // (PAIR if shape.pairs else 1), width)


def scratch_shape(shape: ConvShape, images, size: tuple, target: Target | None = None) -> tuple | None:
    """The sizes of the f32 scratch buffer that `emit_conv` needs for so many images and an output of this height and width, or None.

    These sizes may be symbolic.
    """
    target = target or host()
    return winograd_windows_shape(shape, images, size, target) if conv_strategy(shape, target) == "winograd" else None


@dataclass(frozen=True)
class PixelPlan:
    """How the `"pixels"` strategy cuts the output: register tiles of `rows` x `columns` pixels, chunks of `band_rows` x `band_columns`."""

    lanes: int
    width: int
    inner: int
    """Channels that lie together in the input: all of a group in NHWC, else 1."""
    columns: int
    rows: int
    band_rows: int
    band_columns: int | None
    """None: whole rows."""
    channel_blocks: int
    """Blocks of `inner` channels that are summed before the sums go to the stash."""

    @property
    def vectors(self) -> int:
        return self.width // self.lanes


def pixel_plan(shape: ConvShape, element, out: tuple, target: Target) -> PixelPlan:
    """`out`: height and width of the output (or of the part of it that one loop nest computes)."""
    accumulator = accumulator_type(element)
    lanes = target.lanes(b.bits(accumulator))
    width = panel_width(shape.per_group, accumulator, target)
    inner = shape.channels // shape.groups if shape.layout_in == "nhwc" else 1
    tallest = target.rows if width > lanes else 2 * target.rows - 2
    pixels = STASH * 8 // (width * b.bits(accumulator))
    height, out_width = (size if b.known(size) else None for size in out)
    if height is None or out_width is None or out_width > pixels or 0 in (height, out_width):
        bands = (1, 1, pixels // tallest * tallest)
    elif height * out_width <= pixels:
        bands = (_rows_of_tile(out_width, tallest), height, None)
    else:
        bands = (1, _even(height, pixels // out_width), None)
    columns = tallest if out_width is None else max(1, min(tallest, out_width))
    return PixelPlan(lanes, width, inner, columns, *bands, _channel_blocks(shape, inner, width * b.bits(element) // 8, target))


def _rows_of_tile(out_width, tallest):
    return max(1, tallest // out_width)


def _even(height, most):
    """Rows of a band: at most `most`, the bands about equal."""
    bands = -(-height // most)
    return -(-height // bands)


def _channel_blocks(shape, inner, bytes_of_step, target):
    """All channels, if a panel of the filter takes at most a quarter of L2."""
    steps = math.prod(shape.window) * inner
    blocks = shape.channels // shape.groups // inner
    most = max(1, target.level2 // 4 // (steps * bytes_of_step))
    return -(-blocks // -(-blocks // most))
