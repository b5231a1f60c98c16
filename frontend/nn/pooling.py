"""Pooling over windows, and to a given size. Inputs: (N, C, *spatial) or (C, *spatial)."""
from __future__ import annotations

from .. import ops
from ...errors import OnemlirError
from .module import Module
from .spatial import batched, per_axis, Sizes


class WindowPool(Module):
    """Base of pooling over windows. stride None is the kernel's size; ceil_mode counts a last partial window."""

    spatial = 1

    def _configure(self, kernel_size, stride, padding, ceil_mode: bool) -> None:
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        kernel, pads = per_axis(kernel_size, self.spatial, "kernel_size"), per_axis(padding, self.spatial, "padding")
        if any(p < 0 or 2 * p > k for k, p in zip(kernel, pads)):
            raise OnemlirError(f"padding must be between 0 and half of kernel_size, found {padding} and {kernel_size}")

    def _windows(self) -> dict:
        """The settings as ops take them."""
        return {"kernel_size": per_axis(self.kernel_size, self.spatial, "kernel_size"), "stride": per_axis(self.stride, self.spatial, "stride"),
                "padding": per_axis(self.padding, self.spatial, "padding"), "ceil_mode": self.ceil_mode}

    def forward(self, x):
        return batched(x, self.spatial, self.pool, type(self).__name__)

    def pool(self, x):
        """The result for (N, C, *spatial)."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, ceil_mode={self.ceil_mode}"


class MaxPool(WindowPool):
    """Base of MaxPool1d, MaxPool2d, MaxPool3d: the maximum of each window; with return_indices also where it is (i64)."""

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
                 return_indices: bool = False, ceil_mode: bool = False):
        super().__init__()
        self._configure(kernel_size, stride, padding, ceil_mode)
        self.dilation, self.return_indices = dilation, return_indices

    def pool(self, x):
        pool = ops.max_pool_with_indices if self.return_indices else ops.max_pool
        return pool(x, dilation=per_axis(self.dilation, self.spatial, "dilation"), **self._windows())

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, dilation={self.dilation}"


class MaxPool1d(MaxPool):
    """The maximum of each window of (N, C, L)."""


class MaxPool2d(MaxPool):
    """The maximum of each window of (N, C, H, W)."""

    spatial = 2


class MaxPool3d(MaxPool):
    """The maximum of each window of (N, C, D, H, W)."""

    spatial = 3


class AvgPool(WindowPool):
    """Base of AvgPool1d, AvgPool2d, AvgPool3d: the mean of each window.

    count_include_pad: whether padding counts; divisor_override: what the sum is divided by instead.
    """

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True, divisor_override: int | None = None):
        super().__init__()
        self._configure(kernel_size, stride, padding, ceil_mode)
        if divisor_override == 0:
            raise OnemlirError("divisor_override must not be 0")
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def pool(self, x):
        return ops.avg_pool(x, count_include_pad=self.count_include_pad, divisor=self.divisor_override, **self._windows())


class AvgPool1d(AvgPool):
    """The mean of each window of (N, C, L)."""


class AvgPool2d(AvgPool):
    """The mean of each window of (N, C, H, W)."""

    spatial = 2


class AvgPool3d(AvgPool):
    """The mean of each window of (N, C, D, H, W)."""

    spatial = 3


class LPPool(WindowPool):
    """Base of LPPool1d, LPPool2d, LPPool3d: (sum of x^norm_type over each window)^(1 / norm_type)."""

    def __init__(self, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False):
        super().__init__()
        self._configure(kernel_size, stride, 0, ceil_mode)
        self.norm_type = float(norm_type)

    def pool(self, x):
        windows = self._windows()
        count = 1
        for size in windows["kernel_size"]:
            count *= size
        mean = ops.avg_pool(ops.pow(x, self.norm_type), **windows)
        return ops.pow(ops.sign(mean) * ops.relu(ops.abs(mean)) * float(count), 1 / self.norm_type)

    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class LPPool1d(LPPool):
    """Power-average pooling of (N, C, L)."""


class LPPool2d(LPPool):
    """Power-average pooling of (N, C, H, W)."""

    spatial = 2


class LPPool3d(LPPool):
    """Power-average pooling of (N, C, D, H, W)."""

    spatial = 3


class AdaptivePool(Module):
    """Base of pooling to `output_size`: along each axis window i of n spans floor(i * size / n) to ceil((i + 1) * size / n).

    None in output_size keeps the size of that axis.
    """

    spatial = 1

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, x):
        return batched(x, self.spatial, self.pool, type(self).__name__)

    def _sizes(self, x) -> tuple:
        wanted = per_axis(self.output_size, self.spatial, "output_size")
        return tuple(have if want is None else want for want, have in zip(wanted, x.shape[2:]))

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool(AdaptivePool):
    """Base of AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d: the mean of each window."""

    def pool(self, x):
        return ops.adaptive_avg_pool(x, self._sizes(x))


class AdaptiveAvgPool1d(AdaptiveAvgPool):
    """Means of (N, C, L)."""


class AdaptiveAvgPool2d(AdaptiveAvgPool):
    """Means of (N, C, H, W)."""

    spatial = 2


class AdaptiveAvgPool3d(AdaptiveAvgPool):
    """Means of (N, C, D, H, W)."""

    spatial = 3


class AdaptiveMaxPool(AdaptivePool):
    """Base of AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d: the maximum of each window."""

    def __init__(self, output_size, return_indices: bool = False):
        super().__init__(output_size)
        if return_indices:
            raise OnemlirError("adaptive max pooling has no return_indices here")

    def pool(self, x):
        return ops.adaptive_max_pool(x, self._sizes(x))


class AdaptiveMaxPool1d(AdaptiveMaxPool):
    """Maxima of (N, C, L)."""


class AdaptiveMaxPool2d(AdaptiveMaxPool):
    """Maxima of (N, C, H, W)."""

    spatial = 2


class AdaptiveMaxPool3d(AdaptiveMaxPool):
    """Maxima of (N, C, D, H, W)."""

    spatial = 3
