"""The tape of operations from which gradients are computed, and the walk back over it.

Each op on a tensor that requires gradients leaves a `TapeNode`, which holds the operands and what the results were. `run_backward` visits
the nodes from the last to the first and asks the op's rule in `gradients` for the gradients of its operands. Rules compute with
ops on tensors, so that gradients have gradients, and so that all of this works on recorded tensors too.
"""
from __future__ import annotations

import itertools
import threading
import weakref
from contextlib import contextmanager
from typing import Callable, Iterable, Sequence

import numpy as np

from ..dialect import dtypes
from ..errors import OnemlirError, ShapeError, UnsupportedOpError
from . import dispatch

_state = threading.local()
_order = itertools.count()


def grad_enabled() -> bool:
    """Whether operations on tensors that require gradients are put on the tape, in this thread."""
    return getattr(_state, "enabled", True)


@contextmanager
def grad_mode(enabled: bool):
    """Context in which operations are, or are not, put on the tape."""
    before = grad_enabled()
    _state.enabled = enabled
    try:
        yield
    finally:
        _state.enabled = before


@contextmanager
def _public_mode(enabled: bool):
    recorder = dispatch.current_recorder()
    if not dispatch.training_allowed():
        recorder.refuse("no_grad" if not enabled else "enable_grad", "gradients have no meaning in a recording for inference: leave it out")
    with grad_mode(enabled):
        yield


def no_grad():
    """Context in which operations are not put on the tape."""
    return _public_mode(False)


def enable_grad():
    """Context in which operations are put on the tape again."""
    return _public_mode(True)


def next_order() -> int:
    """A number larger than that of every operation on the tape, smaller than those of later ones."""
    return next(_order)


class TapeNode:
    """One operation on the tape. Results are kept without their own tape, so that nothing holds itself alive."""

    __slots__ = ("op", "operands", "needs", "versions", "attributes", "results", "order", "hooks", "retained", "rule", "__weakref__")

    def __init__(self, op, operands: Sequence, attributes, outputs: Sequence, rule: Callable | None = None):
        self.rule = rule  # of what is no op: gives the gradients of the operands from those of the results
        self.op, self.operands, self.attributes = op, tuple(operands), attributes
        self.needs = tuple(t is not None and t.requires_grad for t in operands)
        self.versions = tuple(0 if t is None else t._version for t in operands)
        self.results = tuple((t._array, t._node) for t in outputs)
        self.order = next_order()
        self.hooks: dict[int, list] = {}
        self.retained: dict[int, list] = {}

    def operand(self, index: int):
        """An operand as it was. OnemlirError when it was changed in place since."""
        tensor = self.operands[index]
        if tensor is not None and tensor._version != self.versions[index]:
            name = self.op.operands[min(index, len(self.op.operands) - 1)].name
            raise OnemlirError(f"the gradient of {self.op.opname} needs its operand '{name}' {tensor.dtype}{tensor.shape}, which was changed "
                               f"in place since (version {tensor._version}, recorded {self.versions[index]}): compute the gradient before the change")
        return tensor

    def result(self, index: int):
        """A result as a tensor that stands at its place on the tape."""
        from .tensor import Tensor

        array, node = self.results[index]
        tensor = Tensor._wrap(array) if node is None else Tensor._recorded(node)
        tensor._tape, tensor.requires_grad = (self, index), dtypes.is_floating(tensor.dtype)
        return tensor


class Call:
    """What a gradient rule sees of an operation: its operands, attributes and results by name; `needs` says which gradients are wanted."""

    def __init__(self, node: TapeNode, wanted: Sequence[bool]):
        self._node, self._wanted = node, wanted
        self.op = node.op

    def __getattr__(self, name: str):
        node = self._node
        for index, spec in enumerate(node.op.operands):
            if spec.name == name:
                return tuple(map(node.operand, range(index, len(node.operands)))) if spec.variadic else node.operand(index)
        if name in node.attributes:
            return node.attributes[name]
        for index, spec in enumerate(node.op.results):
            if spec.name == name:
                return node.result(index)
        raise AttributeError(f"{node.op.opname} has no operand, attribute or result '{name}'")

    def needs(self, name: str) -> bool:
        """Whether the gradient of this operand is wanted."""
        return self._wanted[[s.name for s in self._node.op.operands].index(name)]


def record(op, operands, attributes, outputs) -> None:
    """Put an operation on the tape when an operand requires gradients."""
    if not grad_enabled() or not any(t is not None and t.requires_grad for t in operands):
        return
    node = None
    for index, tensor in enumerate(outputs):
        if dtypes.is_floating(tensor.dtype):
            node = node or TapeNode(op, operands, attributes, outputs)
            tensor._tape, tensor.requires_grad = (node, index), True


def record_region(operands: Sequence, outputs: list, rule: Callable) -> list:
    """Put control flow on the tape: ``rule(gradients, wanted)`` gives the gradients of its operands from those of
    the outputs, None for one that is not used. Gives the outputs."""
    node = TapeNode(None, operands, {}, outputs, rule)
    for index, tensor in enumerate(outputs):
        if dtypes.is_floating(tensor.dtype):
            tensor._tape, tensor.requires_grad = (node, index), True
    return outputs


def check_in_place(what: str, tensor, value) -> None:
    """OnemlirError for a change in place that gradients would miss."""
    if not grad_enabled():
        return
    for name, other in (("a tensor", tensor), ("the value", value)):
        if getattr(other, "requires_grad", False):
            raise OnemlirError(f"{what}: {name} requires gradients, and the change would not be part of them: build a new tensor instead, for "
                               "instance with ops.where, or change it in no_grad()")


def apply_recorded(recorder, op, operands: Sequence, attributes):
    """An op in a recording of gradients: recorded, and put on the tape."""
    if not grad_enabled() or (op.opname == "cast" and hasattr(operands[0], "symbolic_size")):
        return recorder.apply(op, operands, attributes)
    from .ops.declared import as_tensor

    tensors = dispatch.promote(op, [as_tensor(o) if hasattr(o, "symbolic_size") else o for o in operands])
    result = recorder.apply(op, tensors, attributes)
    outputs = result if isinstance(result, tuple) else () if result is None else (result,)
    if any(t is not None and t.requires_grad for t in tensors):
        types = [None if t is None else recorder._as_node(t).type for t in tensors]
        from .recording import _plain_attribute

        checked = op.check_attributes({k: _plain_attribute(v) for k, v in attributes.items()}, types)
        record(op, tensors, checked, outputs)
    return result


# The walk back.
def key_of(tensor) -> tuple:
    """What names a tensor during the walk: its place on the tape, or itself when it is a leaf."""
    return (id(tensor), None) if tensor._tape is None else (id(tensor._tape[0]), tensor._tape[1])


def frontier(tensors: Sequence, since: int) -> list:
    """The tensors that require gradients and were made before `since`, on which the given ones depend through what was recorded after."""
    nodes = _nodes_behind(tensors, since)
    reached = [t for t in tensors if t.requires_grad]
    reached += [t for node in nodes for t, needs in zip(node.operands, node.needs) if needs]
    return [t for t in reached if t._tape is None or t._tape[0].order < since]


def _nodes_behind(tensors: Iterable, since: int = 0) -> list[TapeNode]:
    """All nodes that lead to the tensors, in the order in which they were recorded, which is at or after `since`."""
    found: dict[int, TapeNode] = {}
    open_nodes = [t._tape[0] for t in tensors if t._tape is not None]
    while open_nodes:
        node = open_nodes.pop()
        if id(node) not in found and node.order >= since:
            found[id(node)] = node
            open_nodes += [t._tape[0] for t, needs in zip(node.operands, node.needs) if needs and t._tape is not None]
    return sorted(found.values(), key=lambda n: n.order)


def _wanted_operands(nodes: Sequence[TapeNode], targets: set | None) -> dict[int, list[bool]]:
    """For each node which operands lead to a target; without targets those that require gradients."""
    wanted: dict[int, list[bool]] = {}
    for node in nodes:
        wanted[id(node)] = [needs and (targets is None or key_of(t) in targets or (t._tape is not None and any(wanted.get(id(t._tape[0]), ()))))
                            for t, needs in zip(node.operands, node.needs)]
    return wanted


def run_backward(outputs: Sequence, gradients: Sequence, targets: Sequence | None, create_graph: bool, since: int = 0) -> dict:
    """Gradients of sum(outputs * gradients) by `key_of` the targets; without targets by those of the leaves, as (leaf, gradient).

    The walk goes back to what was recorded at `since`.
    """
    nodes = _nodes_behind(outputs, since)
    keys = None if targets is None else {key_of(t) for t in targets}
    wanted = _wanted_operands(nodes, keys)
    sums: dict[tuple, object] = {}
    leaves: dict[tuple, object] = {}
    with grad_mode(create_graph):
        for tensor, gradient in zip(outputs, gradients):
            _add(sums, tensor, gradient, leaves)
        for node in reversed(nodes):
            _visit(node, wanted[id(node)], sums, leaves, keys)
        for key, leaf in leaves.items():
            sums[key] = _hooked(getattr(leaf, "_hooks", ()), sums[key])
    if targets is None:
        return {key: (leaf, sums[key]) for key, leaf in leaves.items()}
    return sums


def _add(sums: dict, tensor, gradient, leaves: dict) -> None:
    key = key_of(tensor)
    sums[key] = sums[key] + gradient if key in sums else gradient
    if tensor._tape is None:
        leaves[key] = tensor


def _hooked(hooks: Iterable[Callable], gradient):
    """A gradient as the hooks, in order, leave it."""
    for hook in tuple(hooks):
        changed = hook(gradient)
        gradient = gradient if changed is None else changed
    return gradient


def _visit(node: TapeNode, wanted: list[bool], sums: dict, leaves: dict, keys) -> None:
    own = [(id(node), index) for index in range(len(node.results))]
    if not any(key in sums for key in own):
        return
    for index, key in enumerate(own):
        if key in sums:
            sums[key] = _hooked(node.hooks.get(index, ()), sums[key])
            for reference in node.retained.get(index, ()):
                _accumulate(reference(), sums[key])
    if any(wanted):
        found = pull_back(node, [sums.get(key) for key in own], wanted)
        for tensor, gradient, wants in zip(node.operands, found, wanted):
            if wants and gradient is not None:
                _add(sums, tensor, gradient, leaves)
    for key in own:
        if keys is None or key not in keys:
            sums.pop(key, None)


def pull_back(node: TapeNode, gradients: list, wanted: Sequence[bool]) -> Sequence:
    """The gradients of a node's operands from those of its results, by the op's rule."""
    from .gradients import GRADIENTS, NO_GRADIENT
    from .gradients.broadcasting import fitted, zeros_like

    if node.rule is not None:
        return [g if w else None for g, w in zip(node.rule(gradients, wanted), wanted)]
    rule = GRADIENTS.get(node.op)
    if rule is None:
        raise UnsupportedOpError(f"{node.op.opname} has no gradient: {NO_GRADIENT.get(node.op, 'no rule is registered')}. "
                                 "Use detach() on its result, or compute it in no_grad()")
    if len(gradients) > 1:
        results = [node.result(i) for i in range(len(gradients))]
        gradients = [zeros_like(r) if g is None and r.requires_grad else g for g, r in zip(gradients, results)]
    found = rule(Call(node, wanted), *gradients)
    found = found if isinstance(found, tuple) else (found,)
    return [(zeros_like(t) if g is None else fitted(node, g, t)) if w else None for g, t, w in zip(found, node.operands, wanted)]


def _accumulate(tensor, gradient) -> None:
    if tensor is not None:
        tensor.grad = gradient if tensor.grad is None else tensor.grad + gradient


def backward(tensor, gradient=None, create_graph: bool = False) -> None:
    """Add the gradients of a tensor to `grad` of all leaves it depends on."""
    if dispatch.current_recorder() is not None:
        dispatch.current_recorder().refuse("backward()", "it changes `grad` of tensors: use om.grad or om.value_and_grad, which give "
                                           "gradients as results")
    _need_tape(tensor)
    with grad_mode(create_graph):
        for leaf, value in run_backward([tensor], [_seed(tensor, gradient)], None, create_graph).values():
            _accumulate(leaf, value)


def gradients(outputs: Sequence, inputs: Sequence, grad_outputs: Sequence | None = None, create_graph: bool = False, since: int = 0) -> list:
    """The gradients of sum(outputs * grad_outputs) by each of `inputs` (leaves or results of ops); None for one it does not depend on.

    `grad` of the leaves stays as it is. create_graph: the gradients are on the tape themselves. since: see `run_backward`.
    """
    given = grad_outputs or [None] * len(outputs)
    pairs = [(t, _seed(t, g)) for t, g in zip(outputs, given) if t.requires_grad]
    sums = run_backward([t for t, _ in pairs], [g for _, g in pairs], inputs, create_graph, since)
    return [sums.get(key_of(t)) for t in inputs]


def _need_tape(tensor) -> None:
    if not tensor.requires_grad:
        raise OnemlirError("backward() of a tensor that depends on nothing which requires gradients: set requires_grad on the leaves "
                           "before computing, outside of no_grad()")


def _seed(tensor, gradient):
    """What the walk starts with: 1 for a single element, else what is given."""
    from .ops.declared import as_tensor
    from .tensor import Tensor

    if gradient is None:
        if any(s != 1 for s in tensor.shape):
            raise ShapeError(f"a gradient is computed of one element, found shape {tensor.shape}: reduce it, for instance with sum(), "
                             "or give its gradient")
        return Tensor._wrap(np.ones((1,) * tensor.ndim, tensor.dtype))
    gradient = as_tensor(gradient)
    if gradient.shape != tensor.shape:
        raise ShapeError(f"the gradient of a tensor of shape {tensor.shape} must have that shape, found {gradient.shape}")
    return gradient.astype(tensor.dtype)


# What tensors keep for it.
class GradientHook:
    """A hook on a gradient; `remove` takes it away."""

    def __init__(self, hooks: list, hook: Callable):
        self._hooks, self._hook = hooks, hook
        hooks.append(hook)

    def remove(self) -> None:
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)


def add_hook(tensor, hook: Callable) -> GradientHook:
    """Call `hook` with the tensor's gradient when it is complete; what it returns, unless None, replaces it."""
    if not tensor.requires_grad:
        raise OnemlirError("a hook needs a tensor that requires gradients")
    if tensor._tape is not None:
        node, index = tensor._tape
        return GradientHook(node.hooks.setdefault(index, []), hook)
    if not hasattr(tensor, "_hooks"):
        tensor._hooks = []
    return GradientHook(tensor._hooks, hook)


def retain(tensor) -> None:
    """Keep the gradient of a tensor that is no leaf in its `grad` too."""
    if tensor._tape is not None:
        node, index = tensor._tape
        node.retained.setdefault(index, []).append(weakref.ref(tensor))
