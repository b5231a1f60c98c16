"""What a kernel is asked to compute: plain data, sizes known or not."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MatmulShape:
    """C[..., m, n] = A[..., m, k] B[..., k, n]; None is a size known only at run time.

    `b` says how B lies in memory: `"packed"` panels of `pack.py`, `"rows"` [k, n] or `"columns"` [n, k].
    With `a_transposed`, A is [k, m]. `batch` counts the leading axes that A, B and C share; a packed B may have none of them.
    """

    m: int | None
    n: int | None
    k: int | None
    batch: int = 0
    b: str = "packed"
    a_transposed: bool = False
    a_shared: bool = False
    """A has no batch axes."""
    b_axes: tuple[int, ...] | None = None
    """The batch axes that B has, where it has not all of them."""
    a_unsigned: bool = False
    b_unsigned: bool = False

    def batch_of_right(self, batch: list) -> list:
        """Of the places along the batch axes those that B has."""
        return list(batch) if self.b_axes is None else [batch[axis] for axis in self.b_axes]


@dataclass(frozen=True)
class Axis:
    """One spatial axis: output o under tap j reads the input at o * stride + start + j * spacing, times the filter's element first + j * step.

    `taps` counts the taps; `spacing` is positive, `step` need not be.
    """

    stride: int
    taps: int
    start: int
    spacing: int
    first: int = 0
    step: int = 1
    late: int = 0
    """Outputs at the end, at most, of which a tap lies behind the input."""

    @property
    def early(self) -> int:
        """Outputs at the start of which a tap lies before the input."""
        return max(0, -(self.start // self.stride))


@dataclass(frozen=True)
class Depth:
    """The first of three spatial axes; `size` is the input's, None where known only at run time, `pads` is (front, back)."""

    size: int | None
    kernel: int
    stride: int = 1
    pads: tuple[int, int] = (0, 0)
    dilation: int = 1


@dataclass(frozen=True)
class ConvShape:
    """A 2-d or 3-d convolution; `height` and `width` are the input's, None where known only at run time.

    `pads` is (top, left, bottom, right). `layout_in` and `layout_out` are `"nchw"` or `"nhwc"`, with the depth before the height.
    """

    channels: int
    filters: int
    height: int | None
    width: int | None
    kernel: tuple[int, int]
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilations: tuple[int, int] = (1, 1)
    groups: int = 1
    layout_in: str = "nchw"
    layout_out: str = "nchw"
    winograd: int = 0
    """Size of the output's tiles in Winograd's method, 2 or 4; 0 is the plain sum. See conv_winograd.py."""
    transposed: bool = False
    """The transpose of a convolution, from its output to its input: `strides` spread the input out, `pads` cut off the output.

    What is added to the output's end is a pad less there.
    """
    depth: Depth | None = None
    """The axis before the height, of a 3-d convolution."""
    bits: int = 32
    """Of a number that is summed: 64 for f64."""
    pairs: bool = False
    """x is bf16 and the filter words of two channels (`conv_pairs`, `pair_matmul`): NHWC in, an even number of channels a group."""

    @classmethod
    def of(cls, channels: int, filters: int, size, kernel, strides, pads, dilations, **others) -> "ConvShape":
        """From tuples with an entry for each of two or three spatial axes, of `pads` all lows, then all highs."""
        depth, two = None, [size, kernel, strides, pads, dilations]
        if len(kernel) == 3:
            depth = Depth(size[0], kernel[0], strides[0], (pads[0], pads[3]), dilations[0])
            two = [size[1:], kernel[1:], strides[1:], (*pads[1:3], *pads[4:]), dilations[1:]]
        (height, width), *rest = two
        return cls(channels, filters, height, width, *rest, depth=depth, **others)

    @property
    def window(self) -> tuple[int, ...]:
        """Taps of each spatial axis."""
        return self.kernel if self.depth is None else (self.depth.kernel, *self.kernel)

    @property
    def depthwise(self) -> bool:
        return self.groups == self.channels == self.filters

    @property
    def pointwise(self) -> bool:
        """A product over the channels of each pixel."""
        return self.groups == 1 and self.window == self.strides == (1, 1) and not any(self.pads) and not self.transposed

    @property
    def per_group(self) -> int:
        """Filters of a group."""
        return self.filters // self.groups

    @property
    def layouts(self) -> tuple[str, str]:
        return self.layout_in, self.layout_out

    def axes(self) -> tuple[Axis, Axis]:
        values = zip(self.strides, self.kernel, self.pads, self.dilations, self.pads[2:])
        return tuple(Axis(s, k, -low, d, late=max(0, -(-high // s))) for s, k, low, d, high in values)

    def depth_axis(self) -> Axis | None:
        depth = self.depth
        return depth and Axis(depth.stride, depth.kernel, -depth.pads[0], depth.dilation)

    def output_size(self) -> tuple[int | None, int | None]:
        """Height and width of the output."""
        return tuple(self._output(size, axis) for axis, size in enumerate((self.height, self.width)))

    def _output(self, size, axis):
        if size is None:
            return None
        span = self.dilations[axis] * (self.kernel[axis] - 1) + 1
        if self.transposed:
            return (size - 1) * self.strides[axis] + span - self.pads[axis] - self.pads[axis + 2]
        return (size + self.pads[axis] + self.pads[axis + 2] - span) // self.strides[axis] + 1
