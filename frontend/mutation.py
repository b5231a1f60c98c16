"""In-place changes in a recording: tensors made in it change functionally, with the views that share their elements.

A view knows its parent and how it was made of it. A change of a view is written back through its parents; other views are made
anew from the changed parent when they are next used. Inputs, parameters and tensors from outside are refused.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

import numpy as np
from mlir import ir


from ..dialect.declare import Op, REGISTRY
from ..errors import OnemlirError
from .dispatch import apply, recording_gradients
from .symbolic_int import size_of
from .tensor import Tensor

VIEWS = ("om.reshape", "om.transpose", "om.slice", "om.broadcast_to")
ADVICE = "build a new tensor instead (y = x + 1; ops.where; ops.concat), or change a copy: x = x.copy()"


@dataclass
class View:
    """How a tensor was made of its parent, the version of the parent's elements that it shows, and whether those were recorded."""

    parent: Tensor
    op: type[Op]
    attributes: Mapping[str, Any]
    seen: int
    recorded: bool


def remember_view(op: type[Op], operands, attributes, result: Tensor) -> None:
    """Link the result of an op that shares elements with its operand."""
    parent = operands[0]
    if isinstance(parent, Tensor) and result is not parent:
        root = root_of(parent)
        result._view = View(parent, op, attributes, root._version, root._node is not None)


def root_of(tensor: Tensor) -> Tensor:
    """The tensor that owns the elements."""
    while tensor._view is not None:
        tensor = tensor._view.parent
    return tensor


def refresh(tensor: Tensor) -> None:
    """Make a view anew when the tensor that it shows was changed."""
    view, root = tensor._view, root_of(tensor)
    if (view.seen, view.recorded) == (root._version, root._node is not None):
        return
    refresh_parent(view.parent)
    made = apply(view.op, [view.parent], view.attributes)
    tensor._node, tensor._array = made._node, made._array
    view.seen, view.recorded = root._version, root._node is not None


def refresh_parent(tensor: Tensor) -> None:
    if tensor._view is not None:
        refresh(tensor)


# Changes.
def check_changeable(recorder, tensor: Tensor, what: str) -> None:
    """TraceError unless the elements of the tensor were made in this recording, in the body that is being recorded."""
    if recording_gradients():
        recorder.refuse(f"{what} where gradients are wanted", ADVICE)
    root = root_of(tensor)
    if root._scope is recorder.scope:
        return
    if root._scope is not None and root._scope in recorder.scopes:
        recorder.refuse(f"{what} of a tensor from outside the body of control flow",
                        "carry the tensor through the loop, or return the new one from the branch")
    kind = "an argument of a body of control flow" if root is not tensor and root._node is not None and recorder.blocks[1:] else _kind(recorder, root)
    recorder.refuse(f"{what} of {kind}", ADVICE)


def _kind(recorder, root: Tensor) -> str:
    if root._node is not None:
        is_input = isinstance(root._node.value.owner, ir.Block) and root._node.value.owner == recorder.block
        return "an input" if is_input else "a tensor that a body of control flow is given"
    name = recorder.parameter_names.get(id(root))
    return f"the parameter '{name}'" if name else "a tensor from outside the recording"


def update(recorder, tensor: Tensor, function: str, other) -> Tensor:
    """``tensor op= other``."""
    check_changeable(recorder, tensor, f"in-place {function}")
    result = apply(REGISTRY[f"om.{function}"], (tensor, other), {})
    if result.dtype != tensor.dtype or tuple(map(size_of, result.shape)) != tuple(map(size_of, tensor.shape)):
        recorder.refuse(f"in-place {function} that changes {tensor.dtype}{list(tensor.shape)} to {result.dtype}{list(result.shape)}",
                        "write x = x + y instead, or cast the operand")
    return replace(recorder, tensor, result)


def set_item(recorder, tensor: Tensor, key, value) -> None:
    """``tensor[key] = value``."""
    from .ops.assignment import assigned

    check_changeable(recorder, tensor, "setitem (x[...] = ...)")
    replace(recorder, tensor, assigned(tensor, key, value))


def replace(recorder, tensor: Tensor, new: Tensor) -> Tensor:
    """Give a tensor new elements, and what shares them with it."""
    if new._node is None and tensor._node is None:
        _copy_elements(recorder, tensor, new._array)
        return tensor
    changed, value = tensor, new
    while changed._view is not None and _shares(recorder, changed._view):
        refresh_parent(changed._view.parent)
        value, changed = written_back(changed._view, value), changed._view.parent
    if changed._view is not None:  # numpy copied the elements here: they are its own
        changed._view, changed._scope = None, recorder.scope
    _set(recorder, changed, value)
    if tensor is not changed:
        refresh(tensor)
    return tensor


def _set(recorder, root: Tensor, new: Tensor) -> None:
    root._node, root._array = recorder._as_node(new), None
    root._version += 1


def _copy_elements(recorder, tensor: Tensor, array: np.ndarray) -> None:
    if not tensor._array.flags.writeable:
        recorder.refuse("a change of a broadcast tensor", "several of its elements are one; change a copy: x = x.copy()")
    tensor._array[...] = array
    root = root_of(tensor)
    root._version += 1
    if tensor is root:
        return
    if np.shares_memory(tensor._array, root._array):
        tensor._view.seen = root._version
    else:
        tensor._view, tensor._scope = None, recorder.scope


def written_back(view: View, new: Tensor) -> Tensor:
    """The parent of a view with the view's elements replaced by `new`."""
    from .ops.declared import ops

    parent, attributes, name = view.parent, view.attributes, view.op.opname
    if name == "reshape":
        return ops.reshape(new, shape=tuple(map(size_of, parent.shape)))
    if name == "transpose":
        axes = attributes["axes"] if attributes.get("axes") is not None else tuple(reversed(range(parent.ndim)))
        return ops.transpose(new, axes=tuple(int(a) for a in np.argsort([a % parent.ndim for a in axes])))
    if name == "slice":
        return slice_written(parent, new, attributes["starts"], attributes["shape"], attributes["steps"])
    raise OnemlirError("a broadcast tensor cannot be changed in place: several of its elements are one; change a copy: x = x.copy()")


def slice_written(x: Tensor, new: Tensor, starts, shape, steps) -> Tensor:
    """x with `new` at the places of a slice; negative steps from the other end."""
    from .ops.declared import ops

    backwards = [axis for axis, step in enumerate(steps) if step < 0]
    if backwards:
        new = new[tuple(slice(None, None, -1) if axis in backwards else slice(None) for axis in range(x.ndim))]
    starts = tuple(size_of(s) + (size_of(n) - 1) * step if step < 0 else size_of(s) for s, n, step in zip(starts, shape, steps))
    return ops.slice_update(x, new, starts=starts, steps=tuple(abs(step) for step in steps))


def _shares(recorder, view: View) -> bool:
    """Whether the view shows its parent's elements: numpy copies when a reshape of a transposed or sliced tensor needs it."""
    if view.op.opname != "reshape" or view.parent._view is None:
        return True
    parent = _replayed(recorder, view.parent)
    return np.shares_memory(_viewed(recorder, view, parent), parent)


def _replayed(recorder, tensor: Tensor) -> np.ndarray:
    """An array of the example's size that is laid out in memory as the tensor is in an eager run."""
    if tensor._view is None:
        return np.empty(_sizes(recorder, tensor.shape), np.bool_)
    return _viewed(recorder, tensor._view, _replayed(recorder, tensor._view.parent))


def _sizes(recorder, values) -> tuple[int, ...]:
    return tuple(recorder.example_size(size_of(v)) for v in values)


def _viewed(recorder, view: View, array: np.ndarray) -> np.ndarray:
    attributes = {k: _sizes(recorder, v) if k in ("shape", "starts") else v for k, v in view.attributes.items()}
    if view.op.opname == "transpose" and attributes.get("axes") is None:
        attributes["axes"] = tuple(reversed(range(array.ndim)))
    return view.op.reference(array, **attributes)
