"""Control flow: scf.if, scf.while and scf.for become If and Loop; bodies see the values around them by name."""
from __future__ import annotations

from typing import Callable, Mapping, Sequence

import numpy as np
from mlir import ir

from ..build import view
from ..shapes import TensorType
from .export import Exporter, writes_upstream
from .graph import Graph, Value
from .registry import Unwritable
from .sizes import as_value, subtract


def loop(graph: Graph, count: Value | None, condition: Value | None, carried: Sequence[Value], step: Callable,
         types: Sequence[TensorType | None] | None = None) -> list[Value]:
    """A Loop. `step(body, iteration, carried)` gives the condition to go on (None: always) and what is carried to the next step, then
    what is stacked over all steps; so are the results.

    count: how many steps at most (None: no limit). condition: whether there is a first step (None: yes).
    """
    body = graph.body()
    iteration = Value(body, "iteration", type=TensorType((), np.dtype(np.int64)))
    before = Value(body, "condition", type=TensorType((), np.dtype(bool)))
    inside = [Value(body, "carried", value.dtype, type) for value, type in zip(carried, types or [None] * len(carried))]
    body.inputs = [iteration, before, *inside]
    again, passed = step(body, iteration, inside)
    expected = [before.type, *(v.type for v in inside), *[None] * (len(passed) - len(inside))]
    for value, type in zip([before if again is None else again, *passed], expected):
        own = body.own(value)
        own.type = own.type or type
        body.outputs.append(own)
    if condition is None and not carried:
        condition = graph.constant(True)  # a Loop has two inputs at least
    results = graph.node("Loop", [count, condition, *carried], outputs=max(len(passed), 1), body=body)
    results = results if isinstance(results, tuple) else (results,)
    for value, given in zip(results, inside):
        value._dtype = given.dtype
    return list(results)[:len(passed)]


def _tensor_values(exporter: Exporter, values) -> None:
    for value in values:
        if not isinstance(value.type, ir.RankedTensorType):
            raise Unwritable(f"ONNX carries tensors, found a value of type {value.type}")


@writes_upstream("scf.if")
def write_if(exporter: Exporter, graph: Graph, operation: ir.Operation) -> list:
    _tensor_values(exporter, operation.results)
    bodies = []
    for region in operation.regions:
        body = graph.body()
        for result, value in zip(operation.results, exporter.block(body, region.blocks[0])):
            own = body.own(value)
            own.type = exporter.analysis.tensor(result)
            body.outputs.append(own)
        bodies.append(body)
    results = graph.node("If", [exporter.values[operation.operands[0]]], outputs=len(operation.results), then_branch=bodies[0], else_branch=bodies[1])
    return list(results) if isinstance(results, tuple) else [results]


@writes_upstream("scf.while")
def write_while(exporter: Exporter, graph: Graph, operation: ir.Operation) -> list:
    """Loop tests its condition at the end, so the first test stands before it; what scf.condition passes is carried."""
    before, after = (region.blocks[0] for region in operation.regions)
    _tensor_values(exporter, [*before.arguments, *after.arguments])
    types = [exporter.analysis.tensor(a) for a in after.arguments]

    def test(inner: Graph, values):
        exporter.values.update(zip(before.arguments, values))
        condition, *passed = exporter.block(inner, before)
        return condition, passed

    def step(body: Graph, iteration: Value, carried):
        exporter.values.update(zip(after.arguments, carried))
        return test(body, exporter.block(body, after))

    first, passed = test(graph, [exporter.values[v] for v in operation.operands])
    return loop(graph, None, first, passed, step, types)


@writes_upstream("scf.for")
def write_for(exporter: Exporter, graph: Graph, operation: ir.Operation) -> list:
    """A Loop of a number of steps. A carried tensor that only takes one row a step is stacked by the Loop itself."""
    block = operation.regions[0].blocks[0]
    index, *arguments = block.arguments
    low, high, stride = (exporter.values[v] for v in list(operation.operands)[:3])
    if not isinstance(stride, int) or stride < 1:
        raise Unwritable("the step of a loop must be a positive constant")
    _tensor_values(exporter, arguments)
    stacks = _stacks(exporter, operation) if low == 0 and stride == 1 else {}
    kept = [i for i in range(len(arguments)) if i not in stacks]
    types = [exporter.analysis.tensor(arguments[i]) for i in kept]

    def step(body: Graph, iteration: Value, carried):
        place = body.Reshape(iteration, [1])
        place = place if stride == 1 else body.Mul(place, [stride])
        exporter.values[index] = place if low == 0 else body.Add(place, as_value(body, low))
        exporter.values.update(zip([arguments[i] for i in kept], carried))
        return None, _passed(exporter, body, block, kept, stacks)

    count = subtract(graph, high, low)
    if stride > 1:
        count = -(-count // stride) if isinstance(count, int) else graph.Div(graph.Add(count, [stride - 1]), [stride])
    count = graph.constant(max(count, 0), np.int64) if isinstance(count, int) else graph.Squeeze(count, [0])
    initial = list(operation.operands)[3:]
    results = loop(graph, count, None, [exporter.values[initial[i]] for i in kept], step, types)
    return [results[[*kept, *stacks].index(i)] for i in range(len(arguments))]


def _passed(exporter: Exporter, body: Graph, block: ir.Block, kept: Sequence[int], stacks: Mapping[int, ir.Operation]) -> list[Value]:
    """Write the body without the ops that only store a row; what is carried, then the rows."""
    *operations, terminator = block.operations
    for inner in operations:
        if inner.operation not in stacks.values():
            exporter.operation(body, inner.operation)
    rows = []
    for store in stacks.values():
        row = body.Squeeze(exporter.values[store.operands[1]], [0])
        stack = exporter.analysis.tensor(store.operands[0])
        row.type = stack.with_shape(stack.shape[1:])
        rows.append(row)
    return [exporter.values[terminator.operands[i]] for i in kept] + rows


def _stacks(exporter: Exporter, loop_operation: ir.Operation) -> dict[int, ir.Operation]:
    """Carried tensors of as many rows as there are steps, of which step i writes row i and nothing else is asked; with the writing op."""
    block = loop_operation.regions[0].blocks[0]
    terminator = block.operations[len(block.operations) - 1].operation
    count = exporter.analysis.size(loop_operation.operands[1])
    found = {}
    for number, (argument, passed) in enumerate(zip(list(block.arguments)[1:], terminator.operands)):
        uses = [use.owner.operation for use in argument.uses]
        if len(uses) == 1 and uses[0].name == "om.slice_update" and uses[0].results[0] == passed and _writes_row(exporter, uses[0], block, count):
            found[number] = uses[0]
    return found


def _writes_row(exporter: Exporter, operation: ir.Operation, block: ir.Block, count) -> bool:
    store = view(operation)
    stack, row = (exporter.analysis.tensor(v) for v in store.operands)
    once = len(list(operation.results[0].uses)) == 1 and operation.block == block
    starts_at_step = store.sizes == [block.arguments[0]] and all(start == 0 for start in store.attributes["starts"][1:])
    whole = row.shape[0] == 1 and row.shape[1:] == stack.shape[1:] and stack.shape[0] == count and set(store.attributes["steps"]) == {1}
    return once and starts_at_step and whole


@writes_upstream("tensor.extract")
def write_extract(exporter: Exporter, graph: Graph, operation: ir.Operation) -> list:
    value, *places = (exporter.values[v] for v in operation.operands)
    return [graph.GatherND(value, graph.vector(places))] if places else [value]


@writes_upstream("tensor.cast")
def write_tensor_cast(exporter: Exporter, graph: Graph, operation: ir.Operation) -> list:
    return [exporter.values[operation.operands[0]]]
