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
    a_unsigned: bool = False
    b_unsigned: bool = False


@dataclass(frozen=True)
class ConvShape:
    """A 2-d convolution; `height` and `width` are the input's, None where known only at run time.

    `pads` is (top, left, bottom, right). `layout_in` and `layout_out` are `"nchw"` or `"blocked"`, [n, c / lanes, h, w, lanes].
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
    winograd: bool = False
    """Winograd's method may be used: faster and less exact, see conv_winograd.py."""

    @property
    def depthwise(self) -> bool:
        return self.groups == self.channels == self.filters

    def output_size(self) -> tuple[int | None, int | None]:
        """Height and width of the output."""
        return tuple(self._output(size, axis) for axis, size in enumerate((self.height, self.width)))

    def _output(self, size, axis):
        if size is None:
            return None
        span = self.dilations[axis] * (self.kernel[axis] - 1) + 1
        return (size + self.pads[axis] + self.pads[axis + 2] - span) // self.strides[axis] + 1
