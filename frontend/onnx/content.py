"""Computing with shapes: operators on integers of which some are symbolic sizes. What comes out are sizes, not tensors at run time."""
from __future__ import annotations

from typing import Callable

import numpy as np

from ...dialect import symbolic
from ...dialect.symbolic import Dim
from .node import OnnxNode
from .values import Value

CONTENT: dict[str, Callable] = {}


class Undecided(Exception):
    """The result is not known from the sizes alone: the operator works on tensors."""


def content_of(*op_types: str) -> Callable:
    def register(function):
        CONTENT.update(dict.fromkeys(op_types, function))
        return function
    return register


def read_content(node: OnnxNode) -> Value | None:
    """The result of an operator on known integers, when one of them is symbolic; else None."""
    function = CONTENT.get(node.op_type)
    given = [v for v in node.inputs if v is not None]
    if function is None or node.domain not in ("", "ai.onnx") or not any(v.is_symbolic for v in given) or any(v.content is None for v in given):
        return None
    try:
        return function(node, *[None if v is None else v.content for v in node.inputs])
    except Undecided:
        return None


def _value(node: OnnxNode, content) -> Value:
    return Value.sizes(content, node.inputs[0].dtype)


def _elementwise(function: Callable) -> Callable:
    apply = np.frompyfunc(function, 2, 1)
    return lambda node, x, y: _value(node, apply(x, y))


def _non_negative(size) -> bool:
    low, _ = symbolic.bounds(size)
    return low is not None and low >= 0


def _divide(a, b):
    if b == 0 or not _non_negative(a) or not _non_negative(b):
        raise Undecided
    return symbolic.floordiv(a, b)


def _mod(a, b):
    if b == 0 or not _non_negative(a) or not _non_negative(b):
        raise Undecided
    return symbolic.mod(a, b)


CONTENT.update({
    "Add": _elementwise(symbolic.add), "Sub": _elementwise(lambda a, b: symbolic.add(a, symbolic.mul(b, -1))), "Mul": _elementwise(symbolic.mul),
    "Div": _elementwise(_divide), "Mod": _elementwise(_mod),
})


@content_of("Max", "Min")
def _extreme(node, *arrays):
    apply = np.frompyfunc(symbolic.maximum if node.op_type == "Max" else symbolic.minimum, 2, 1)
    result = arrays[0]
    for other in arrays[1:]:
        result = apply(result, other)
    return _value(node, result)


@content_of("Identity")
def _identity(node, x):
    return _value(node, x)


@content_of("Cast")
def _cast(node, x):
    dtype = node.dtype_attribute("to")
    if dtype.kind not in "iu" or dtype.itemsize < 4:
        raise Undecided
    return Value.sizes(x, dtype)


@content_of("Neg")
def _negative(node, x):
    return _value(node, np.frompyfunc(lambda a: symbolic.mul(a, -1), 1, 1)(x))


@content_of("Gather")
def _gather(node, x, indices):
    if any(isinstance(i, Dim) for i in indices.flat) or x.ndim == 0:
        raise Undecided
    return _value(node, np.take(x, indices.astype(np.int64), axis=node.int("axis", 0)))


@content_of("Concat")
def _concat(node, *arrays):
    return _value(node, np.concatenate(arrays, axis=node.int("axis", 0)))


@content_of("Unsqueeze")
def _unsqueeze(node, x, axes=None):
    axes = node.ints_attribute("axes") if axes is None else tuple(axes.reshape(-1))
    return _value(node, np.expand_dims(x, tuple(int(a) for a in axes)))


@content_of("Squeeze")
def _squeeze(node, x, axes=None):
    axes = node.ints_attribute("axes") if axes is None else tuple(axes.reshape(-1))
    return _value(node, np.squeeze(x) if axes is None else np.squeeze(x, tuple(int(a) for a in axes)))


@content_of("Reshape")
def _reshape(node, x, shape):
    return _value(node, x.reshape([int(s) for s in shape.reshape(-1)]))


@content_of("Slice")
def _slice(node, x, starts=None, ends=None, axes=None, steps=None):
    if starts is None:
        starts, ends, axes = (node.ints_attribute(name) for name in ("starts", "ends", "axes"))
    parts = [list(np.reshape(p, -1)) if p is not None else None for p in (starts, ends, axes, steps)]
    if any(isinstance(item, Dim) for part in parts if part is not None for item in part):
        raise Undecided
    starts, ends, axes, steps = parts
    for i, start in enumerate(starts):
        axis = int(axes[i]) if axes is not None else i
        key = [slice(None)] * x.ndim
        key[axis] = slice(int(start), int(ends[i]), int(steps[i]) if steps is not None else 1)
        if int(ends[i]) < -x.shape[axis] and (steps is None or int(steps[i]) > 0):
            key[axis] = slice(0, 0)
        elif int(ends[i]) < -x.shape[axis]:
            key[axis] = slice(int(start), None, int(steps[i]))
        x = x[tuple(key)]
    return _value(node, x)


@content_of("ReduceProd")
def _product(node, x, axes=None):
    if x.ndim > 1 or (axes is None and node.ints_attribute("axes") is None and x.ndim == 0):
        raise Undecided
    total = symbolic.product(x.reshape(-1))
    return _value(node, np.array([total], object) if node.int("keepdims", 1) else np.array(total, object))


@content_of("ReduceSum")
def _sum(node, x, axes=None):
    if x.ndim != 1:
        raise Undecided
    total = sum(x.reshape(-1), 0)
    return _value(node, np.array([total], object) if node.int("keepdims", 1) else np.array(total, object))


def _decided(function: Callable) -> Callable:
    def compare(node, x, y):
        def element(a, b):
            answer = function(a, b)
            if answer is None:
                raise Undecided
            return answer
        return Value.sizes(np.frompyfunc(element, 2, 1)(x, y), np.bool_)
    return compare


def _less(a, b):
    answer = symbolic.less_equal(b, a)
    return None if answer is None else not answer


CONTENT.update({"Equal": _decided(symbolic.equal), "LessOrEqual": _decided(symbolic.less_equal), "Less": _decided(_less),
                "Greater": _decided(lambda a, b: _less(b, a)), "GreaterOrEqual": _decided(lambda a, b: symbolic.less_equal(b, a))})


@content_of("Where")
def _where(node, condition, x, y):
    if any(isinstance(c, Dim) for c in condition.flat):
        raise Undecided
    return Value.sizes(np.where(condition.astype(bool), x, y), node.inputs[1].dtype)
