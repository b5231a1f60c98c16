"""Pooling."""
from __future__ import annotations

from ... import ops
from ..registry import handles
from .convolution import pair


def _flat(value, default=None):
    return default if value is None or (isinstance(value, (tuple, list)) and not value) else value


def _maximum(rank: int):
    function = getattr(ops, f"max_pool{rank}d")

    def handler(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        stride = _flat(stride)
        return function(input, pair(kernel_size, rank), None if stride is None else pair(stride, rank), pair(padding, rank), pair(dilation, rank),
                        ceil_mode, return_indices)
    return handler


def _average(rank: int):
    function = getattr(ops, f"avg_pool{rank}d")

    def handler(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        stride = _flat(stride)
        return function(input, pair(kernel_size, rank), None if stride is None else pair(stride, rank), pair(padding, rank), ceil_mode,
                        count_include_pad, divisor_override)
    return handler


def _adaptive(kind: str, rank: int):
    function = getattr(ops, f"adaptive_{kind}_pool{rank}d")

    def handler(input, output_size, return_indices=False):
        return NotImplemented if return_indices else function(input, pair(output_size, rank))
    return handler


for _rank in (1, 2, 3):
    handles(f"max_pool{_rank}d", f"F.max_pool{_rank}d")(_maximum(_rank))
    handles(f"max_pool{_rank}d_with_indices", f"F.max_pool{_rank}d_with_indices")(lambda *a, f=_maximum(_rank), **k: f(*a, **{**k, "return_indices": True}))
    handles(f"avg_pool{_rank}d", f"F.avg_pool{_rank}d")(_average(_rank))
    handles(f"adaptive_avg_pool{_rank}d", f"F.adaptive_avg_pool{_rank}d", f"_adaptive_avg_pool{_rank}d")(_adaptive("avg", _rank))
    handles(f"F.adaptive_max_pool{_rank}d")(_adaptive("max", _rank))
    handles(f"C.adaptive_max_pool{_rank}d")(lambda *args, **kwargs: NotImplemented)  # it gives positions too
    if hasattr(ops, f"lp_pool{_rank}d"):
        handles(f"F.lp_pool{_rank}d")(lambda input, norm_type, kernel_size, stride=None, ceil_mode=False, f=getattr(ops, f"lp_pool{_rank}d"):
                                      f(input, float(norm_type), kernel_size, stride, ceil_mode))
