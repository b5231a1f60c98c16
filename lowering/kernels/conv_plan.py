"""How a convolution is computed: the strategy, the packed filter's shape, and the tiles."""

from dataclasses import dataclass

from ..targets import Target, host
from . import build as b
from .conv_winograd import winograd_filter_shape, winograd_plan, winograd_windows_shape
from .pack import accumulator_type, packed_shape, panel_width
from .shapes import ConvShape

STASH = 32 << 10
"""Bytes of the stack scratch that holds a chunk's sums."""


def conv_strategy(shape: ConvShape, target: Target | None = None) -> str:
    """One of

    * `"depthwise"`,
    * `"rows"`: a product over channels, one pixel an image,
    * `"planes"`: filter x pixels as a product,
    * `"pixels"`: any other,
    * `"winograd"`: if the shape allows it and it pays.
    """
    target = target or host()
    if shape.depthwise and shape.layout_in == shape.layout_out:
        return "depthwise"
    if shape.winograd and winograd_plan(shape, target):
        return "winograd"
    pointwise = shape.groups == 1 and shape.kernel == shape.strides == (1, 1) and not any(shape.pads)
    if not pointwise or "blocked" in (shape.layout_in, shape.layout_out):
        return "pixels"
    if (shape.height, shape.width) == (1, 1):
        return "rows"
    if None in (shape.height, shape.width):
        return "planes"
    pixels = shape.height * shape.width
    lanes = target.lanes(32)
    return "planes" if pixels / (-(-pixels // lanes) * lanes) > 0.8 else "pixels"


def packed_filter_shape(shape: ConvShape, element, target: Target | None = None) -> tuple | None:
    """The sizes of the packed filter; None if the filter is used as it is stored, viewed as [filters, channels]."""
    target = target or host()
    strategy = conv_strategy(shape, target)
    if strategy == "planes":
        return None
    if strategy == "rows":
        return packed_shape(shape.channels, shape.filters, element, target)
    if strategy == "winograd":
        return winograd_filter_shape(shape, winograd_plan(shape, target))
    lanes = target.lanes(b.bits(accumulator_type(element)))
    if strategy == "depthwise":
        blocks = -(-shape.channels // lanes)
        return (blocks, *shape.kernel, lanes) if shape.layout_in == "blocked" else (shape.channels, *shape.kernel)
    width = panel_width(shape.filters // shape.groups, accumulator_type(element), target)
    inner = lanes if shape.layout_in == "blocked" else 1
    panels = -(-(shape.filters // shape.groups) // width)
    return (shape.groups, panels, shape.channels // shape.groups // inner, *shape.kernel, inner, width)


def scratch_shape(shape: ConvShape, images, target: Target | None = None) -> tuple | None:
    """The sizes of the f32 scratch buffer that `emit_conv` needs for so many images, or None."""
    target = target or host()
    if conv_strategy(shape, target) != "winograd":
        return None
    return winograd_windows_shape(shape, winograd_plan(shape, target), images)


@dataclass(frozen=True)
class PixelPlan:
    """How the `"pixels"` strategy cuts the output: register tiles of `rows` x `columns` pixels, chunks of `band_rows` x `band_columns`."""

    lanes: int
    width: int
    inner: int
    """Channels that lie together in the input: the lanes of a blocked input, else 1."""
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


def pixel_plan(shape: ConvShape, element, target: Target) -> PixelPlan:
    accumulator = accumulator_type(element)
    lanes = target.lanes(b.bits(accumulator))
    width = panel_width(shape.filters // shape.groups, accumulator, target)
    inner = lanes if shape.layout_in == "blocked" else 1
    tallest = target.rows if width > lanes else 2 * target.rows - 2
    pixels = STASH * 8 // (width * b.bits(accumulator))
    height, out_width = shape.output_size()
    if height is None or out_width is None or out_width > pixels:
        bands = (1, 1, pixels // tallest * tallest)
    elif height * out_width <= pixels:
        bands = (_rows_of_tile(out_width, tallest), height, None)
    else:
        bands = (1, _even(height, pixels // out_width), None)
    columns = tallest if out_width is None else min(tallest, out_width)
    return PixelPlan(lanes, width, inner, columns, *bands, _channel_blocks(shape, inner, width * b.bits(element) // 8, target))


def _rows_of_tile(out_width, tallest):
    return max(1, tallest // out_width)


def _even(height, most):
    """Rows of a band: at most `most`, the bands about equal."""
    bands = -(-height // most)
    return -(-height // bands)


def _channel_blocks(shape, inner, bytes_of_step, target):
    """All channels, if a panel of the filter takes at most a quarter of L2."""
    steps = shape.kernel[0] * shape.kernel[1] * inner
    blocks = shape.channels // shape.groups // inner
    most = max(1, target.level2 // 4 // (steps * bytes_of_step))
    return -(-blocks // -(-blocks // most))
