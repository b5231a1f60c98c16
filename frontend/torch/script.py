"""TorchScript: the graph of a scripted or traced function, run node by node through the recording's handlers."""
from __future__ import annotations

import functools
import operator as _op
import re
from typing import Any, Callable

import torch

from ...errors import TraceError, UnsupportedOpError
from .. import ops
from ..locations import UserLine
from .registry import HANDLERS
from .tensor import RecordedTensor, value_of


class ScriptRunner:
    """Runs a TorchScript graph on recorded tensors.

    An ``if`` on data stays one; other conditions, and trip counts, are read by the recording's rule.
    """

    def __init__(self, recording, module, paths):
        self.recording, self.module, self.paths = recording, module, paths  # paths: id of each submodule -> its path

    def run(self, graph, inputs) -> Any:
        """The graph's result for inputs in order, the module itself first where the graph takes it."""
        values: dict[str, Any] = {}
        arguments = list(graph.inputs())
        if len(arguments) == len(inputs) + 1:
            inputs = [self.module, *inputs]
        for argument, value in zip(arguments, inputs):
            values[argument.debugName()] = value
        outputs = self._block(graph, values)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _block(self, block, values: dict) -> list:
        for node in block.nodes():
            self._node(node, values)
        names = [o.debugName() for o in (block.outputs() if hasattr(block, "outputs") else block.return_node().inputs())]
        return [values[name] for name in names]

    def _node(self, node, values: dict) -> None:
        kind = node.kind()
        special = _SPECIAL.get(kind) or (_property if kind.startswith("prim::") else None)
        before = self.recording.recorder.user_line
        self.recording.recorder.user_line = source_line(node) or before
        try:
            inputs = [values[i.debugName()] for i in node.inputs()]
            results = special(self, node, inputs, values) if special else [self._operator(node, kind, inputs)]
        finally:
            self.recording.recorder.user_line = before
        if not special and node.outputsSize() > 1:
            results = results[0]
        for output, value in zip(node.outputs(), results):
            values[output.debugName()] = value

    def _operator(self, node, kind: str, inputs: list):
        namespace, _, name = kind.partition("::")
        plain = _PLAIN.get(name)
        if plain is not None and (name in _OF_OBJECTS or not any(isinstance(v, torch.Tensor) for v in inputs)):
            return plain(*inputs)
        overload = _overload(node, namespace, name)
        if overload is not None:
            count = len(overload._schema.arguments)
            inputs = [_DTYPES.get(v, v) if a.name == "dtype" and type(v) is int else v for a, v in zip(overload._schema.arguments, inputs)]
            positional = [a for a in overload._schema.arguments if not a.kwarg_only]
            keywords = {a.name: v for a, v in zip(overload._schema.arguments[len(positional):], inputs[len(positional):count])}
            return self.recording.call(overload, tuple(inputs[:len(positional)]), keywords)
        if name in HANDLERS:
            return self.recording._handle(torch.Tensor.add, HANDLERS[name], tuple(inputs), {})
        raise UnsupportedOpError(f"the TorchScript operator {kind} cannot be recorded, at {source_line(node)}")


def _overload(node, namespace: str, name: str):
    """The OpOverload of a node, by its schema."""
    packet = getattr(getattr(torch.ops, namespace, None), name, None)
    if packet is None:
        return None
    schema = node.schema()
    for overload in packet.overloads():
        found = getattr(packet, overload)
        if str(found._schema) == schema or str(found._schema).split("(")[0] + "(" == schema.split("(")[0] + "(":
            return found
    return None


def source_line(node) -> UserLine | None:
    """The line of the program that a node came from, which TorchScript keeps as text."""
    found = re.search(r'File "([^"]+)", line (\d+)', node.sourceRange()) or re.search(r"(\S+\.py)[(:](\d+)", node.sourceRange())
    return UserLine(found.group(1), int(found.group(2))) if found else None


# Nodes that are no operators.
_TORCHS_OWN = {"__torch__.torch.nn.functional.": torch.nn.functional, "__torch__.torch.functional.": torch.functional}


def _constant(runner, node, inputs, values):
    output = next(node.outputs())
    return [output.type().annotation_str if output.type().kind() == "FunctionType" else output.toIValue()]


def _attribute(runner, node, inputs, values):
    value = getattr(inputs[0], node.s("name"))
    return [value]


def _method(runner, node, inputs, values):
    target, *arguments = inputs
    recorder, before = runner.recording.recorder, runner.recording.recorder.path
    recorder.path = [runner.paths[id(target)]] if runner.paths.get(id(target)) else before
    try:
        return [ScriptRunner(runner.recording, target, runner.paths).run(target._c._get_method(node.s("name")).graph, arguments)]
    finally:
        recorder.path = before


def _function(runner, node, inputs, values):
    name, *arguments = inputs
    for prefix, module in _TORCHS_OWN.items():  # which the recording knows whole
        if name.startswith(prefix) and hasattr(module, name.removeprefix(prefix)):
            return [runner.recording.call(getattr(module, name.removeprefix(prefix)), tuple(arguments), {})]
    function = torch.jit._state._python_cu.find_function(name)
    return [ScriptRunner(runner.recording, None, runner.paths).run(function.graph, arguments)]


def _if(runner, node, inputs, values):
    condition, blocks = inputs[0], list(node.blocks())
    if _decided_later(runner, condition) and node.outputsSize():
        return _cond(runner, condition, blocks, values)
    return runner._block(blocks[0 if bool(_known(runner, condition)) else 1], values)


def _decided_later(runner, condition) -> bool:
    """Whether a condition is known only when the model runs, and the user did not ask for its value now."""
    recording = runner.recording
    return recording.recorder.on_read == "error" and isinstance(condition, torch.Tensor) and recording.depends_on_inputs(condition)


def _cond(runner, condition, blocks, values) -> list:
    """Both blocks of an ``if``, of which the model takes one when it runs."""
    recording = runner.recording
    outer = [(v._place.cell, v._place.cell.version) for v in values.values() if isinstance(v, RecordedTensor)]

    def side(block):
        results = tuple(map(recording.to_ours, runner._block(block, dict(values))))
        if any(cell.version != version for cell, version in outer):
            raise TraceError("a change in place in a branch that depends on data cannot be recorded: compute a new value")
        return results

    decision = value_of(recording.recorded(condition)).astype(bool)
    decision = ops.reshape(decision, shape=()) if decision.ndim else decision
    return list(recording.to_theirs(ops.cond(decision, *(functools.partial(side, block) for block in blocks))))


def _bool(runner, node, inputs, values):
    """``bool(x)``; where it decides an ``if`` alone it may stay a tensor."""
    if all(use.user.kind() == "prim::If" for use in next(node.outputs()).uses()) and _decided_later(runner, inputs[0]):
        return [inputs[0]]
    return [bool(_known(runner, inputs[0]))]


def _loop(runner, node, inputs, values):
    count, condition, *carried = inputs
    body = next(node.blocks())
    step = 0
    while step < count and bool(_known(runner, condition)):
        for name, value in zip(body.inputs(), [step, *carried]):
            values[name.debugName()] = value
        condition, *carried = runner._block(body, values)
        step += 1
    return carried


def _known(runner, value):
    return runner.recording.call(torch.Tensor.__bool__, (value,), {}) if isinstance(value, torch.Tensor) else value


def _raise(runner, node, inputs, values):
    raise RuntimeError(str(inputs[0]))


_SPECIAL: dict[str, Callable] = {
    "prim::Constant": _constant, "prim::GetAttr": _attribute, "prim::CallMethod": _method, "prim::CallFunction": _function, "prim::If": _if,
    "prim::Loop": _loop, "prim::RaiseException": _raise,
    "prim::ListConstruct": lambda r, n, i, v: [list(i)], "prim::TupleConstruct": lambda r, n, i, v: [tuple(i)],
    "prim::ListUnpack": lambda r, n, i, v: list(i[0]), "prim::TupleUnpack": lambda r, n, i, v: list(i[0]),
    "prim::TupleIndex": lambda r, n, i, v: [i[0][i[1]]],
    "prim::DictConstruct": lambda r, n, i, v: [dict(zip(i[::2], i[1::2]))],
    "prim::NumToTensor": lambda r, n, i, v: [i[0]], "prim::unchecked_cast": lambda r, n, i, v: [i[0]],
    "prim::Uninitialized": lambda r, n, i, v: [None], "prim::dtype": lambda r, n, i, v: [_DTYPE_CODES[i[0].dtype]],
    "prim::device": lambda r, n, i, v: [i[0].device],
    "prim::min": lambda r, n, i, v: [min(*i)], "prim::max": lambda r, n, i, v: [max(*i)], "aten::Int": lambda r, n, i, v: [_integer(r, i[0])],
    "aten::Bool": _bool, "aten::Float": lambda r, n, i, v: [_float(r, i[0])],
    "prim::isinstance": lambda r, n, i, v: [True], "prim::is_cuda": lambda r, n, i, v: [False],
    "aten::ScalarImplicit": lambda r, n, i, v: [_integer(r, i[0])], "aten::IntImplicit": lambda r, n, i, v: [_integer(r, i[0])],
    "prim::TupleSlice": lambda r, n, i, v: [i[0][n.i("beg"):n.i("end")]],
}


def _float(runner, value):
    return runner.recording.call(torch.Tensor.__float__, (value,), {}) if isinstance(value, torch.Tensor) else float(value)


def _listed(value):
    """TorchScript's lists and tuples of sizes compare alike."""
    return list(value) if isinstance(value, tuple) else value


def _property(runner, node, inputs, values):
    """``prim::is_nested`` and its like: a property of a tensor."""
    name = node.kind().removeprefix("prim::")
    if len(inputs) != 1 or not hasattr(torch.Tensor, name):
        raise UnsupportedOpError(f"the TorchScript node {node.kind()} cannot be recorded, at {source_line(node)}")
    with torch._C.DisableTorchFunction():
        return [getattr(inputs[0], name)]


def _integer(runner, value):
    return runner.recording.call(torch.Tensor.__int__, (value,), {}) if isinstance(value, torch.Tensor) else int(value) if isinstance(value, (bool, float)) else value


_DTYPE_CODES = {torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5, torch.float32: 6, torch.float64: 7,
                torch.bool: 11, torch.bfloat16: 15}  # fmt: skip
_DTYPES = {code: dtype for dtype, code in _DTYPE_CODES.items()}

_OF_OBJECTS = ("__is__", "__isnot__", "append")  # they take tensors as they are
_PLAIN: dict[str, Callable] = {
    "add": lambda a, b, alpha=1: a + (b if alpha == 1 else b * alpha),
    "sub": lambda a, b, alpha=1: a - (b if alpha == 1 else b * alpha), "mul": _op.mul,
    "div": lambda a, b, rounding_mode=None: a / b if rounding_mode is None else a // b, "floordiv": _op.floordiv, "remainder": _op.mod, "neg": _op.neg, "eq": lambda a, b: _listed(a) == _listed(b),
    "ne": lambda a, b: _listed(a) != _listed(b), "lt": _op.lt, "le": _op.le, "gt": _op.gt, "ge": _op.ge, "__not__": _op.not_, "__is__": _op.is_, "__isnot__": _op.is_not,
    "__and__": _op.and_, "__or__": _op.or_, "__getitem__": _op.getitem, "len": len, "Bool": bool, "Float": float, "format": str.format, "pow": _op.pow,
    "append": lambda items, value: (items.append(value), items)[1], "__contains__": _op.contains, "sqrt": lambda x: x ** 0.5, "warn": lambda *a: None,
    "__range_length": lambda low, high, step: len(range(low, high, step)), "__derive_index": lambda i, low, step: low + i * step,
    "list": list, "slice": lambda x, *bounds: x[slice(*bounds)], "all": all, "any": any,
}
