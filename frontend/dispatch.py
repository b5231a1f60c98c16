"""One call of an op: computed at once with its `reference`, or added to the recording that is under way."""
from __future__ import annotations

import threading
from contextlib import contextmanager, ExitStack
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ..dialect.calling import bind_arguments, common_dtype
from ..dialect.declare import Op
from ..dialect.masked import refuse_masked
from ..dialect.shapes import TensorType
from ..errors import TraceError

_state = threading.local()


def current_recorder():
    """The recorder of this thread, or None."""
    return getattr(_state, "recorder", None)


def set_recorder(recorder) -> None:
    _state.recorder = recorder


def current_scope():
    """What marks tensors as made in the recording of this thread, or None."""
    recorder = getattr(_state, "recorder", None)
    return None if recorder is None else recorder.scope


def recording_gradients() -> bool:
    """Whether this thread records a function that is being differentiated: there is a tape of recorded ops."""
    return getattr(_state, "differentiating", 0) > 0


@contextmanager
def differentiating():
    """What is recorded inside is put on the tape. Gives whether it was already."""
    depth = getattr(_state, "differentiating", 0)
    _state.differentiating = depth + 1
    try:
        yield depth > 0
    finally:
        _state.differentiating = depth


def substitutions() -> tuple:
    """What stands in the place of modules' parameters in this thread: functions that make contexts in which it does."""
    return getattr(_state, "substitutions", ())


@contextmanager
def substituted(make: Callable):
    """The context that `make()` gives; it is entered again where what is recorded inside is recorded again."""
    before = substitutions()
    _state.substitutions = (*before, make)
    try:
        with make():
            yield
    finally:
        _state.substitutions = before


@contextmanager
def resumed(makes: Sequence[Callable]):
    """The substitutions that were there when something was recorded first."""
    with ExitStack() as stack:
        for make in makes:
            stack.enter_context(make())
        yield


def training_allowed() -> bool:
    """Whether the recording of this thread, if any, may hold what belongs to training: losses, dropout, no_grad."""
    recorder = current_recorder()
    return recorder is None or recording_gradients() or getattr(recorder, "training", False)


def call(op: type[Op], args: Sequence, keywords: Mapping[str, Any]):
    """A call with the arguments as the user wrote them."""
    operands, attributes = bind_arguments(op, args, keywords)
    return apply(op, operands, attributes)


def apply(op: type[Op], operands: Sequence, attributes: Mapping[str, Any]):
    """An op on tensors, arrays and Python scalars. Returns a Tensor, a tuple of them, or None."""
    recorder = current_recorder()
    if recorder is None:
        return _eager(op, operands, attributes)
    if recorder.takes(operands, attributes):
        if recording_gradients():
            from .autograd import apply_recorded

            return apply_recorded(recorder, op, operands, attributes)
        return recorder.apply(op, operands, attributes)
    return recorder.computed(op, operands, attributes, _eager(op, operands, attributes))


def _eager(op: type[Op], operands: Sequence, attributes: Mapping[str, Any]):
    from . import autograd
    from .tensor import Tensor

    tensors = promote(op, operands)
    stray = next((t for t in tensors if t is not None and t._node is not None), None)
    if stray is not None:
        error = TraceError(f"{op.opname}: a tensor of a recording is used outside of it; it has no data. Return it from the recorded function instead")
        stray._node.builder.refusal = error  # a program that does this in another thread while recording, and catches it, is refused in the end
        raise error
    types = [None if t is None else TensorType(t._array.shape, t._array.dtype) for t in tensors]
    op.check_operands(types)
    checked = op.check_attributes(attributes, types)
    results = op.result_types(types, checked)
    arrays = op.reference(**op.named_operands([None if t is None else t._array for t in tensors]), **checked)
    arrays = arrays if isinstance(arrays, tuple) else (arrays,)
    outputs = tuple(Tensor._wrap(_as_result(a, t)) for a, t in zip(arrays, results))
    autograd.record(op, tensors, checked, outputs)
    return outputs if len(outputs) > 1 else outputs[0] if outputs else None


def _as_result(array, type: TensorType) -> np.ndarray:
    return np.asarray(array, type.dtype)


def promote(op: type[Op], operands: Sequence) -> list:
    """Operands as eager tensors, those that share a dtype variable cast to their common dtype (differentiably)."""
    from .tensor import Tensor

    pairs = list(op.operand_specs([normalize(o) for o in operands]))
    groups: dict[str, list] = {}
    for spec, value in pairs:
        if spec.variable and value is not None:
            groups.setdefault(spec.variable, []).append(value)
    tensors = []
    for spec, value in pairs:
        if value is None:
            tensors.append(None)
            continue
        dtype = common_dtype(groups[spec.variable] if spec.variable else [value], spec.dtypes)
        if not isinstance(value, Tensor):
            value = Tensor._wrap(np.asarray(value, dtype))
        elif value.dtype != dtype:
            value = value.astype(dtype)
        tensors.append(value)
    return tensors


def normalize(value):
    """Lists as arrays, numpy scalars as rank-0 arrays; tensors, arrays and Python scalars as they are."""
    if value is None or isinstance(value, (bool, int, float)) or hasattr(value, "_array"):
        return value
    from .tensor import tensor

    if isinstance(value, (list, tuple, np.generic)):
        return tensor(value)
    if isinstance(value, np.ndarray):
        refuse_masked(value, "an operand")
        return tensor(value.tolist()) if value.dtype == object else value
    if hasattr(value, "__index__"):
        return value.__index__()
    return tensor(value)
