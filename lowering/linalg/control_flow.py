"""Control flow on tensors: the same scf op with lowered regions.

The types of carried tensors follow from the symbolic shapes: an axis whose size changes from step to step is dynamic.
"""
from __future__ import annotations

from typing import Sequence

from mlir import ir
from mlir.dialects import arith, scf, tensor

from ...dialect.graph import plain_symbol
from .registry import TensorValue


def terminator(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation


def lower_if(converter, operation: ir.Operation) -> None:
    condition = _condition(converter, operation.operands[0])
    types = [converter.tensor_type(r) for r in operation.results]
    new = scf.IfOp(condition, types, has_else=True)
    for region, block in zip(operation.regions, (new.then_block, new.else_block)):
        with ir.InsertionPoint(block), converter.scope():
            values = converter.block(region.blocks[0])
            scf.YieldOp(_as_types(values, types))
    _bind_results(converter, operation, new.operation)


def lower_for(converter, operation: ir.Operation) -> None:
    """The bounds are sizes. The induction variable is a size that the body may use."""
    build, old = converter.build, operation.regions[0].blocks[0]
    low, high, step = (build.size(converter.analysis.size(v)) for v in list(operation.operands)[:3])
    carried = list(old.arguments)[1:]
    types = [converter.tensor_type(a) for a in carried]
    given = [converter.tensors[v] for v in list(operation.operands)[3:]]
    initial = _as_types(given, types)
    if any(value.value.type != type for value, type in zip(given, types)):
        _lower_for_of_other_sizes(converter, operation, (low, high, step), initial, types)
        return
    new = scf.ForOp(low, high, step, initial)
    with ir.InsertionPoint(new.body), converter.scope():
        symbol = plain_symbol(converter.analysis.size(old.arguments[0]))
        build.origins[symbol.name] = (new.induction_variable, None)
        for argument, value in zip(carried, new.inner_iter_args):
            converter.bind(argument, value)
        scf.YieldOp(_as_types(converter.block(old), types))
    _mark_fixed_sizes(converter, new.operation, carried, list(terminator(old).operands))
    _bind_results(converter, operation, new.operation)


def _lower_for_of_other_sizes(converter, operation: ir.Operation, bounds, initial: Sequence[ir.Value], types: Sequence[ir.Type]) -> None:
    """A loop that starts with a static size which does not stay, as scf.while.

    Upstream's canonicalization of scf.for pulls the cast of the initial value into the loop, as if each step kept that size.
    """
    build, old = converter.build, operation.regions[0].blocks[0]
    low, high, step = bounds
    carried = [build.index, *types]
    new = scf.WhileOp(carried, [low, *initial])
    with ir.InsertionPoint(_block(new.before, carried)) as point:
        index = point.block.arguments[0]
        scf.ConditionOp(arith.CmpIOp(arith.CmpIPredicate.slt, index, high).result, list(point.block.arguments))
    with ir.InsertionPoint(_block(new.after, carried)) as point, converter.scope():
        index, *values = point.block.arguments
        build.origins[plain_symbol(converter.analysis.size(old.arguments[0])).name] = (index, None)
        for argument, value in zip(list(old.arguments)[1:], values):
            converter.bind(argument, value)
        scf.YieldOp([arith.AddIOp(index, step).result, *_as_types(converter.block(old), types)])
    for result, value in zip(operation.results, list(new.results)[1:]):
        converter.bind(result, value)


def lower_while(converter, operation: ir.Operation) -> None:
    before, after = (region.blocks[0] for region in operation.regions)
    types = [converter.tensor_type(a) for a in before.arguments]
    handed = [converter.tensor_type(a) for a in after.arguments]
    initial = _as_types([converter.tensors[v] for v in operation.operands], types)
    new = scf.WhileOp(handed, initial)
    with ir.InsertionPoint(_block(new.before, types)) as point, converter.scope():
        _bind_arguments(converter, before, point.block)
        values = converter.block(before)
        scf.ConditionOp(_condition(converter, terminator(before).operands[0]), _as_types(values, handed))
    with ir.InsertionPoint(_block(new.after, handed)) as point, converter.scope():
        _bind_arguments(converter, after, point.block)
        scf.YieldOp(_as_types(converter.block(after), types))
    _mark_fixed_sizes(converter, new.operation, list(before.arguments), list(terminator(after).operands))
    _bind_results(converter, operation, new.operation)


def _block(region: ir.Region, types: Sequence[ir.Type]) -> ir.Block:
    return region.blocks.append(*types) if not len(region.blocks) else region.blocks[0]


def _bind_arguments(converter, old: ir.Block, new: ir.Block) -> None:
    for argument, value in zip(old.arguments, new.arguments):
        converter.bind(argument, value)


def _bind_results(converter, old: ir.Operation, new: ir.Operation) -> None:
    for result, value in zip(old.results, new.results):
        converter.bind(result, value)


def _condition(converter, value: ir.Value) -> ir.Value:
    """The scalar that tensor.extract takes out of a rank-0 tensor."""
    return converter.build.read(converter.tensors[value.owner.operands[0]], [])


def _as_types(values: Sequence[TensorValue], types: Sequence[ir.Type]) -> list[ir.Value]:
    return [v.value if v.value.type == t else tensor.CastOp(t, v.value).result for v, t in zip(values, types)]


def _mark_fixed_sizes(converter, loop: ir.Operation, carried: Sequence[ir.Value], following: Sequence[ir.Value]) -> None:
    """Say that no carried tensor changes its shape, where the symbolic shapes show it: bufferization then keeps each in one buffer."""
    shapes = [(converter.analysis.tensor(a).shape, converter.analysis.tensor(b).shape) for a, b in zip(carried, following)]
    if all(a == b for a, b in shapes):
        loop.attributes["om.fixed_sizes"] = ir.UnitAttr.get()


CONTROL_FLOW = {"scf.if": lower_if, "scf.for": lower_for, "scf.while": lower_while}
