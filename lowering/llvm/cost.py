"""How many steps of a parallel loop are worth handing to a thread, from a count of the operations of one step."""
from __future__ import annotations

from typing import Union

from mlir import ir
from mlir.dialects import arith

from ..buffers.sizes import number_of

GRAIN = "om.grain"
WORTH = 1 << 16  # scalar operations
UNKNOWN_TRIPS = 16
VECTOR = 8  # scalar operations that one on a vector stands for
FREE = {"arith.constant", "memref.subview", "memref.cast", "memref.view", "scf.yield", "memref.dim", "memref.alloca"}

Cost = Union[int, ir.Value]


def grain_of(loop: ir.Operation) -> ir.Value:
    """The least number of steps of a chunk, at the current insertion point: attribute `om.grain`, or estimated."""
    index = ir.IndexType.get()
    if GRAIN in loop.attributes:
        return arith.ConstantOp(index, ir.IntegerAttr(loop.attributes[GRAIN]).value).result
    cost = _block(loop.regions[0].blocks[0], loop)
    for axis in range(1, len(loop.regions[0].blocks[0].arguments)):
        cost = _times(_trips(loop, axis, loop), cost)
    if isinstance(cost, int):
        return arith.ConstantOp(index, max(1, WORTH // max(cost, 1))).result
    least = arith.ConstantOp(index, 1).result
    steps = arith.DivUIOp(arith.ConstantOp(index, WORTH).result, arith.MaxSIOp(cost, least).result).result
    return arith.MaxSIOp(steps, least).result


def _block(block: ir.Block, outside: ir.Operation) -> Cost:
    total: Cost = 0
    for op in block.operations:
        total = _plus(total, _operation(op.operation, outside))
    return total


def _operation(operation: ir.Operation, outside: ir.Operation) -> Cost:
    if operation.name in FREE:
        return 0
    blocks = [block for region in operation.regions for block in region.blocks]
    if not blocks:
        return VECTOR if any(isinstance(v.type, ir.VectorType) for v in (*operation.operands, *operation.results)) else 1
    cost: Cost = 0
    for block in blocks:
        cost = _plus(cost, _block(block, outside))
    if operation.name in ("scf.for", "scf.parallel"):
        return _times(_trips(operation, 0, outside), cost)
    return _times(UNKNOWN_TRIPS, cost) if operation.name == "scf.while" else cost


def _trips(loop: ir.Operation, axis: int, outside: ir.Operation) -> Cost:
    """Steps of a loop where they are the same in each step of the loop outside."""
    dimensions = len(loop.regions[0].blocks[0].arguments) if loop.name == "scf.parallel" else 1
    lower, upper, step = (loop.operands[axis + group * dimensions] for group in range(3))
    known = [number_of(v) for v in (lower, upper, step)]
    if all(n is not None for n in known):
        return max(0, -(-(known[1] - known[0]) // known[2])) if known[2] else UNKNOWN_TRIPS
    if known[0] is not None and known[2] and known[2] > 0 and _defined_before(upper, outside):
        distance = arith.SubIOp(upper, lower).result if _defined_before(lower, outside) else upper
        return arith.CeilDivSIOp(distance, arith.ConstantOp(ir.IndexType.get(), known[2]).result).result
    return UNKNOWN_TRIPS


def _defined_before(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a value comes from outside of the loop."""
    owner = value.owner
    holder = owner.owner.operation if isinstance(owner, ir.Block) else owner.operation
    if isinstance(owner, ir.Block) and holder == loop:
        return False
    parent = holder if isinstance(owner, ir.Block) else holder.parent
    while parent is not None:
        if parent.operation == loop:
            return False
        parent = parent.operation.parent
    return True


def _plus(a: Cost, b: Cost) -> Cost:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(a, int) and a == 0:
        return b
    return arith.AddIOp(_value(a), _value(b)).result


def _times(a: Cost, b: Cost) -> Cost:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return arith.MulIOp(_value(a), _value(b)).result


def _value(cost: Cost) -> ir.Value:
    return arith.ConstantOp(ir.IndexType.get(), cost).result if isinstance(cost, int) else cost
