"""Reductions, positions of extremes, running sums."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ...dialect.shapes import normalize_axes, normalize_axis
from ..ops.declared import declared as om
from ..ops.repeating import flip
from ..tensor import Tensor
from .registry import reads
from .shape import axes_of, sizes_of


def _floating(x: Tensor) -> Tensor:
    return x if dtypes.is_floating(x.dtype) else x.astype(dtypes.float64 if x.dtype.itemsize > 2 else dtypes.float32)


def _kept(function):
    """Compute, then give back the operand's dtype."""
    return lambda x, axis, keep: function(x, axis, keep).astype(x.dtype)


def _extreme(name: str):
    def reduce(x, axis, keep):
        """Over an empty axis: the identity of the extreme."""
        if any(size == 0 for i, size in enumerate(sizes_of(x)) if i in axis):
            shape = tuple(1 if i in axis else size for i, size in enumerate(sizes_of(x)) if keep or i not in axis)
            return om.full(Tensor._wrap(np.asarray(_identity(name, x.dtype)).astype(x.dtype)), shape=shape)
        if x.dtype == dtypes.bool_:
            return getattr(om, {"max": "any", "min": "all"}[name])(x, axis=axis, keepdims=keep)
        return getattr(om, name)(x, axis=axis, keepdims=keep)
    return reduce


def _identity(name: str, dtype):
    if dtypes.is_floating(dtype):
        return -np.inf if name == "max" else np.inf
    if dtype == dtypes.bool_:
        return name == "min"
    return np.iinfo(dtype).min if name == "max" else np.iinfo(dtype).max


_REDUCTIONS = {
    "ReduceSum": _kept(lambda x, a, k: om.sum(x, axis=a, keepdims=k)),
    "ReduceProd": _kept(lambda x, a, k: om.prod(x, axis=a, keepdims=k)),
    "ReduceMean": _kept(lambda x, a, k: om.mean(_floating(x), axis=a, keepdims=k)),
    "ReduceMax": _extreme("max"), "ReduceMin": _extreme("min"),
    "ReduceL1": _kept(lambda x, a, k: om.sum(om.abs(x), axis=a, keepdims=k)),
    "ReduceL2": _kept(lambda x, a, k: om.norm(_floating(x), axis=a, keepdims=k)),
    "ReduceSumSquare": _kept(lambda x, a, k: om.sum(x * x, axis=a, keepdims=k)),
    "ReduceLogSum": _kept(lambda x, a, k: om.log(_floating(om.sum(x, axis=a, keepdims=k)))),
    "ReduceLogSumExp": _kept(lambda x, a, k: om.logsumexp(_floating(x), axis=a, keepdims=k)),
}


@reads(*_REDUCTIONS)
def read_reduction(node, ops):
    x, axes = node.tensor(0), axes_of(node)
    if axes is not None and not len(axes):
        axes = None
    if axes is None and node.int("noop_with_empty_axes", 0):
        return _without_axes(node.op_type, x)
    return _REDUCTIONS[node.op_type](x, normalize_axes(None if axes is None else tuple(axes), x.ndim), bool(node.int("keepdims", 1)))


def _without_axes(op_type: str, x: Tensor) -> Tensor:
    """What a reduction does to each element by itself."""
    return _REDUCTIONS[op_type](om.reshape(x, shape=(*sizes_of(x), 1)), (x.ndim,), False)


@reads("ArgMax", "ArgMin")
def read_position(node, ops):
    x, axis = node.tensor(0), normalize_axis(node.int("axis", 0), node.rank(0))
    function = ops.argmax if node.op_type == "ArgMax" else ops.argmin
    keep = bool(node.int("keepdims", 1))
    if not node.int("select_last_index", 0):
        return function(x, axis=axis, keepdims=keep)
    from .values import _scalar

    return _scalar(node.shape(0)[axis] - 1) - function(flip(x, axis), axis=axis, keepdims=keep)


@reads("CumSum", "CumProd")
def read_running(node, ops):
    x = node.tensor(0)
    axis, = node.ints(1)
    function = ops.cumsum if node.op_type == "CumSum" else ops.cumprod
    return function(x, axis=axis, exclusive=bool(node.int("exclusive", 0)), reverse=bool(node.int("reverse", 0))).astype(x.dtype)
