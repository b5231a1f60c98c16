"""Pooling by torch's names: windows, whole planes, and windows adapted to a result size."""
from __future__ import annotations

import numpy as np

from ...dialect.ops.convolution import per_axis
from ...errors import OnemlirError, ShapeError
from ..tensor import Tensor
from .declared import ops

__all__ = [f"{kind}_pool{rank}d" for kind in ("max", "avg", "lp", "adaptive_avg", "adaptive_max") for rank in (1, 2, 3)]
__all__ += ["lp_pool", "global_avg_pool", "global_max_pool", "global_lp_pool", "adaptive_avg_pool", "adaptive_max_pool"]


def lp_pool(x: Tensor, kernel_size, stride=None, padding=0, dilation=1, ceil_mode: bool = False, p: float = 2.0) -> Tensor:
    """The p-norm of each window: sum(|x| ** p) ** (1 / p). Arguments as for `avg_pool`. Source: ONNX LpPool; torch's lp_pool2d."""
    powers = ops.pow(ops.abs(x), p)
    sums = ops.avg_pool(powers, kernel_size, stride, padding, dilation, ceil_mode, divisor=1)
    return ops.pow(sums, 1.0 / p)


def _spatial(x: Tensor) -> tuple[int, ...]:
    if x.ndim < 3:
        raise ShapeError(f"global pooling takes x (n, c, *spatial), found rank {x.ndim}")
    return tuple(range(2, x.ndim))


def global_avg_pool(x: Tensor) -> Tensor:
    """The mean over all spatial axes of x (n, c, *spatial), kept as size 1. Source: ONNX GlobalAveragePool."""
    return ops.mean(x, axis=_spatial(x), keepdims=True)


def global_max_pool(x: Tensor) -> Tensor:
    """The maximum over all spatial axes of x (n, c, *spatial), kept as size 1. Source: ONNX GlobalMaxPool."""
    return ops.max(x, axis=_spatial(x), keepdims=True)


def global_lp_pool(x: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm over all spatial axes of x (n, c, *spatial), kept as size 1. Source: ONNX GlobalLpPool."""
    return ops.pow(ops.sum(ops.pow(ops.abs(x), p), axis=_spatial(x), keepdims=True), 1.0 / p)


def adaptive_avg_pool(x: Tensor, output_size) -> Tensor:
    """Means over windows that divide the last axes into `output_size` parts (a tuple; None keeps an axis).

    Part i of n covers floor(i * size / n) to ceil((i + 1) * size / n). An axis may be symbolic where its part count is 1.
    Source: torch's adaptive_avg_pool2d.
    """
    return _adaptive(x, output_size, "mean")


def adaptive_max_pool(x: Tensor, output_size) -> Tensor:
    """Maxima over windows that divide the last axes into `output_size` parts; see `adaptive_avg_pool`. Source: torch's adaptive_max_pool2d."""
    return _adaptive(x, output_size, "max")


def _adaptive(x: Tensor, output_size, reduction: str) -> Tensor:
    sizes = tuple(output_size)
    if len(sizes) > x.ndim:
        raise ShapeError(f"adaptive pooling to {sizes} takes a tensor of at least {len(sizes)} axes, found rank {x.ndim}")
    axes = [(x.ndim - len(sizes) + i, count) for i, count in enumerate(sizes) if count is not None]
    axes = [(axis, count) for axis, count in axes if not (isinstance(x.shape[axis], int) and x.shape[axis] == count)]
    whole = tuple(axis for axis, count in axes if count == 1)
    x = getattr(ops, reduction)(x, axis=whole, keepdims=True) if whole else x
    parts = [(axis, count) for axis, count in axes if count != 1]
    if not parts:
        return x
    sizes = [x.shape[axis] for axis, _ in parts]
    if not all(isinstance(size, int) for size in sizes):
        raise ShapeError(f"adaptive pooling of the symbolic sizes {tuple(sizes)} to {tuple(n for _, n in parts)} has windows that depend on them: "
                         "fix the axes, or pool to 1")
    if all(size % count == 0 for size, (_, count) in zip(sizes, parts)):
        return _even_windows(x, parts, reduction)
    for axis, count in parts:
        x = _uneven_windows(x, axis, count, reduction)
    return x


def _even_windows(x: Tensor, parts, reduction: str) -> Tensor:
    kernel = [1] * (x.ndim - min(axis for axis, _ in parts))
    for axis, count in parts:
        kernel[axis - x.ndim] = x.shape[axis] // count
    return getattr(ops, "avg_pool" if reduction == "mean" else "max_pool")(x, tuple(kernel))


def _uneven_windows(x: Tensor, axis: int, count: int, reduction: str) -> Tensor:
    """Windows of different lengths along one axis: gathered, shorter ones filled by repeating their last element."""
    size = x.shape[axis]
    starts = np.arange(count) * size // count
    lengths = -(-(np.arange(count) + 1) * size // count) - starts
    taps = np.arange(lengths.max())
    places = starts[:, None] + np.minimum(taps, lengths[:, None] - 1)
    gathered = ops.gather(x, places, axis=axis)
    if reduction == "max":
        return ops.max(gathered, axis=axis + 1)
    inside = (taps < lengths[:, None]).reshape([count, taps.size] + [1] * (x.ndim - axis - 1))
    kept = ops.where(inside, gathered, np.zeros((), x.dtype))
    counts = lengths.astype(np.float32).reshape([count] + [1] * (x.ndim - axis - 1))
    return (ops.sum(kept, axis=axis + 1) / Tensor(counts).astype(x.dtype)).astype(x.dtype)


def _window(kernel_size, padding, rank: int) -> tuple:
    """The kernel's sizes. OnemlirError for padding of more than half of them, as in torch."""
    kernel = per_axis(kernel_size, rank, "kernel_size")
    pads = tuple(padding) if hasattr(padding, "__iter__") else (padding,)
    if any(2 * p > k for p, k in zip(pads * rank if len(pads) == 1 else pads, kernel * 2) if hasattr(p, "__index__") and hasattr(k, "__index__")):
        raise OnemlirError(f"'padding' must be at most half of 'kernel_size', found {padding} and {kernel_size}")
    return kernel


def _make_max(rank: int):
    def max_pool(x: Tensor, kernel_size, stride=None, padding=0, dilation=1, ceil_mode: bool = False, return_indices: bool = False):
        name = "max_pool_with_indices" if return_indices else "max_pool"
        return getattr(ops, name)(x, _window(kernel_size, padding, rank), stride, padding, dilation, ceil_mode)
    return max_pool, f"`max_pool` over the last {rank} axes; with return_indices also `max_pool_with_indices`. Source: torch's max_pool{rank}d."


def _make_avg(rank: int):
    def avg_pool(x: Tensor, kernel_size, stride=None, padding=0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override=None) -> Tensor:
        return ops.avg_pool(x, _window(kernel_size, padding, rank), stride, padding, 1, ceil_mode, count_include_pad, divisor_override)
    return avg_pool, f"`avg_pool` over the last {rank} axes; divisor_override replaces the count. Source: torch's avg_pool{rank}d."


def _make_lp(rank: int):
    def pool(x: Tensor, norm_type: float, kernel_size, stride=None, ceil_mode: bool = False) -> Tensor:
        return lp_pool(x, per_axis(kernel_size, rank, "kernel_size"), stride, ceil_mode=ceil_mode, p=norm_type)
    return pool, f"`lp_pool` over the last {rank} axes with p = norm_type. Source: torch's lp_pool{rank}d."


def _make_adaptive(rank: int, function):
    def pool(x: Tensor, output_size) -> Tensor:
        return function(x, per_axis(output_size, rank, "output_size"))
    return pool, f"`{function.__name__}` of the last {rank} axes to `output_size`, one number or {rank}. Source: torch's {function.__name__}{rank}d."


def _install() -> None:
    for rank in (1, 2, 3):
        made = {"max": _make_max(rank), "avg": _make_avg(rank), "lp": _make_lp(rank), "adaptive_avg": _make_adaptive(rank, adaptive_avg_pool),
                "adaptive_max": _make_adaptive(rank, adaptive_max_pool)}
        for kind, (function, text) in made.items():
            function.__name__ = function.__qualname__ = f"{kind}_pool{rank}d"
            function.__doc__ = text
            globals()[function.__name__] = function


_install()
