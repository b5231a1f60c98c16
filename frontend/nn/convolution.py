"""Convolutions over one to three spatial axes."""
from __future__ import annotations

from .. import ops
from ...errors import OnemlirError
from . import init
from .module import Module
from .padding import pad_spatial
from .parameter import new_parameter
from .spatial import batched, per_axis, Sizes

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class ConvolutionLayer(Module):
    """Base of convolutions: settings, weight and bias, both from U(-b, b) with b = 1 / sqrt(weight.shape[1] * prod(kernel_size))."""

    spatial = 1
    transposed = False

    def _configure(self, in_channels, out_channels, kernel_size, stride, dilation, groups, bias, padding_mode, dtype) -> None:
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if groups < 1 or channels % groups:
                raise OnemlirError(f"{name} must be a multiple of groups, found {channels} and {groups}")
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, padding_mode
        self.kernel_size = per_axis(kernel_size, self.spatial, "kernel_size")
        self.stride = per_axis(stride, self.spatial, "stride")
        self.dilation = per_axis(dilation, self.spatial, "dilation")
        first, second = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = new_parameter((first, second // groups, *self.kernel_size), dtype)
        self.register_parameter("bias", new_parameter(out_channels, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.linear_default_(self.weight, self.bias)

    def extra_repr(self) -> str:
        settings = [f"{self.in_channels}, {self.out_channels}", f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        plain = {"padding": (0,) * self.spatial, "output_padding": (0,) * self.spatial, "dilation": (1,) * self.spatial, "groups": 1,
                 "padding_mode": "zeros"}
        settings += [f"{name}={getattr(self, name)!r}" for name, usual in plain.items() if getattr(self, name, usual) != usual]
        return ", ".join(settings + ([] if self.bias is not None else ["bias=False"]))


class Convolution(ConvolutionLayer):
    """Base of Conv1d, Conv2d, Conv3d.

    padding: numbers, "valid", or "same" (stride 1 alone); padding_mode: "zeros", "reflect", "replicate" or "circular".
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1, padding: Sizes | str = 0,
                 dilation: Sizes = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", dtype=None):
        super().__init__()
        if padding_mode not in _PADDING_MODES:
            raise OnemlirError(f"padding_mode must be one of {', '.join(map(repr, _PADDING_MODES))}, found {padding_mode!r}")
        self._configure(in_channels, out_channels, kernel_size, stride, dilation, groups, bias, padding_mode, dtype)
        if isinstance(padding, str):
            self._check_named_padding(padding)
        self.padding = padding if isinstance(padding, str) else per_axis(padding, self.spatial, "padding")

    def _check_named_padding(self, padding: str) -> None:
        if padding not in ("valid", "same"):
            raise OnemlirError(f"padding must be numbers, 'valid' or 'same', found {padding!r}")
        if padding == "same" and any(s != 1 for s in self.stride):
            raise OnemlirError(f"padding 'same' needs stride 1, found {self.stride}")

    def _low_high(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Padding before and after, for each axis."""
        if self.padding == "valid":
            return (0,) * self.spatial, (0,) * self.spatial
        if self.padding != "same":
            return self.padding, self.padding
        totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
        return tuple(t // 2 for t in totals), tuple(t - t // 2 for t in totals)

    def forward(self, x):
        return batched(x, self.spatial, self._convolve, type(self).__name__)

    def _convolve(self, x):
        low, high = self._low_high()
        if self.padding_mode != "zeros":
            x, low, high = pad_spatial(x, low, high, self.padding_mode), (0,) * self.spatial, (0,) * self.spatial
        return ops.conv(x, self.weight, self.bias, stride=self.stride, padding=(*low, *high), dilation=self.dilation, groups=self.groups)


class Conv1d(Convolution):
    """Cross-correlation of (N, C_in, L) or (C_in, L) with weight (C_out, C_in / groups, kernel)."""


class Conv2d(Convolution):
    """Cross-correlation of (N, C_in, H, W) or (C_in, H, W) with weight (C_out, C_in / groups, *kernel)."""

    spatial = 2


class Conv3d(Convolution):
    """Cross-correlation of (N, C_in, D, H, W) or (C_in, D, H, W) with weight (C_out, C_in / groups, *kernel)."""

    spatial = 3


class TransposedConvolution(ConvolutionLayer):
    """Base of ConvTranspose1d, ConvTranspose2d, ConvTranspose3d.

    Result: (size - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1 along each axis.
    """

    transposed = True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1, padding: Sizes = 0,
                 output_padding: Sizes = 0, groups: int = 1, bias: bool = True, dilation: Sizes = 1, padding_mode: str = "zeros", dtype=None):
        super().__init__()
        if padding_mode != "zeros":
            raise OnemlirError(f"transposed convolutions have padding_mode 'zeros' alone, found {padding_mode!r}")
        self._configure(in_channels, out_channels, kernel_size, stride, dilation, groups, bias, padding_mode, dtype)
        self.padding = per_axis(padding, self.spatial, "padding")
        self.output_padding = per_axis(output_padding, self.spatial, "output_padding")

    def forward(self, x, output_size=None):
        """`output_size` gives the spatial sizes of the result instead of output_padding."""
        extra = self.output_padding if output_size is None else self._output_padding(x, output_size)
        return batched(x, self.spatial, lambda y: self._convolve(y, extra), type(self).__name__)

    def _convolve(self, x, output_padding):
        return ops.conv_transpose(x, self.weight, self.bias, stride=self.stride, padding=self.padding * 2, output_padding=output_padding,
                                  groups=self.groups, dilation=self.dilation)

    def _output_padding(self, x, output_size) -> tuple:
        wanted = per_axis(tuple(output_size)[-self.spatial:], self.spatial, "output_size")
        smallest = [(size - 1) * s - 2 * p + d * (k - 1) + 1
                    for size, s, p, d, k in zip(x.shape[-self.spatial:], self.stride, self.padding, self.dilation, self.kernel_size)]
        extra = tuple(want - least for want, least in zip(wanted, smallest))
        if any(not 0 <= e < s for e, s in zip(extra, self.stride)):
            largest = [least + s - 1 for least, s in zip(smallest, self.stride)]
            raise OnemlirError(f"output_size {wanted} cannot be reached from {x.shape}: sizes are between {smallest} and {largest}")
        return extra


class ConvTranspose1d(TransposedConvolution):
    """The transpose of Conv1d: (N, C_in, L) or (C_in, L) with weight (C_in, C_out / groups, kernel)."""


class ConvTranspose2d(TransposedConvolution):
    """The transpose of Conv2d: (N, C_in, H, W) or (C_in, H, W) with weight (C_in, C_out / groups, *kernel)."""

    spatial = 2


class ConvTranspose3d(TransposedConvolution):
    """The transpose of Conv3d: (N, C_in, D, H, W) or (C_in, D, H, W) with weight (C_in, C_out / groups, *kernel)."""

    spatial = 3
