"""Constants, and tensors made of sizes."""
from __future__ import annotations

import math

import numpy as np
import onnx

from ...dialect import dtypes, symbolic
from ..tensor import Tensor
from .narrow import NARROW, narrow_value, stored_tensor
from .node import REQUIRED
from .recorder import LARGE
from .registry import reads
from .values import Value


@reads("Constant")
def read_constant(node, ops):
    for name, read, dtype in (("value_float", node.float, np.float32), ("value_int", node.int, np.int64),
                              ("value_floats", node.floats, np.float32), ("value_ints", node.ints_attribute, np.int64)):
        if name in node.attributes:
            return Tensor._wrap(np.asarray(read(name), dtype))
    if "value" not in node.attributes:
        node.refuse(f"constants of {', '.join(node.attributes) or 'no value'} cannot be read")
    proto = node.attributes["value"].t
    if proto.data_type in NARROW:
        return narrow_value(Tensor._wrap(stored_tensor(proto, node.graph.files)), proto.data_type)
    return Tensor._wrap(node.tensor_attribute("value"))


@reads("ConstantOfShape")
def read_constant_of_shape(node, ops):
    value = node.tensor_attribute("value", np.zeros(1, np.float32))
    if value.size != 1:
        raise ValueError(f"the attribute 'value' must have one element, found shape {value.shape}")
    return ops.full(Tensor._wrap(value.reshape(())), shape=tuple(node.sizes(0)))


@reads("Shape")
def read_shape(node, ops):
    shape = node.shape(0)
    start, end = node.int("start", 0), node.int("end")
    return Value.sizes(np.array([*shape, None], object)[:-1][slice(start, end)])


@reads("Size")
def read_size(node, ops):
    return Value.sizes(np.array(symbolic.product(node.shape(0)), object))


@reads("Range")
def read_range(node, ops):
    """start, start + delta, …: max(ceil((limit - start) / delta), 0) elements."""
    values, count = [node.value(i) for i in range(3)], None
    if all(v.array is not None for v in values):
        start, limit, delta = (v.array.reshape(()).item() for v in values)
        count = max(math.ceil((limit - start) / delta), 0) if delta else 0
        if count < LARGE:
            return Tensor._wrap((np.arange(count) * delta + start).astype(values[0].dtype) if count else np.zeros(0, values[0].dtype))
    elif all(v.content is not None for v in values):
        count = _known_count(node)
    start, limit, delta = (node.tensor(i).reshape(()) if node.rank(i) else node.tensor(i) for i in range(3))
    if count is None:
        wide = dtypes.float64 if dtypes.is_floating(start.dtype) else dtypes.int64
        a, b, c = (t.astype(wide) for t in (start, limit, delta))
        steps = ops.ceil((b - a) / c).astype(dtypes.int64) if wide == dtypes.float64 else -ops.floor_divide(a - b, c)
        count = node.recorder.size_of_tensor(steps)
    places = ops.iota(size=(count,), dtype=start.dtype if not dtypes.is_floating(start.dtype) else dtypes.int64).astype(start.dtype)
    return start + places * delta


def _known_count(node):
    start, limit, delta = (node.sizes(i)[0] for i in range(3))
    if not isinstance(delta, int) or delta == 0:
        return None
    span = limit - start if delta > 0 else start - limit
    return symbolic.maximum(symbolic.floordiv(span + (abs(delta) - 1), abs(delta)), 0)


@reads("EyeLike")
def read_eye_like(node, ops):
    rows, columns = node.shape(0)
    dtype = node.dtype_attribute("dtype", node.value(0).dtype)
    row = ops.reshape(ops.iota(size=(rows,)), shape=(rows, 1))
    column = ops.reshape(ops.iota(size=(columns,)), shape=(1, columns))
    return (column - row == node.int("k", 0)).astype(dtype)


__all__ = ["REQUIRED", "onnx"]
