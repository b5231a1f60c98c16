"""`om-outline-parallel`: the body of each outermost `scf.parallel` becomes a function of a range of its steps.

    scf.parallel (%i) = (%l) to (%u) step (%s) { ... }
->  func.call @om_body_0(%captured..., %c0, %count, %grain)         func.func private @om_body_0(..., %begin, %end, %grain)

The call runs all steps; `lowering.llvm.dispatch` makes it go through the thread pool. Loops with results stay sequential.
"""
from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, func, scf

from ..buffers.bufferize import run_unverified
from ..buffers.functions import entry_block, entry_functions, symbol, walk
from ..buffers.lifetimes import is_inside
from ..buffers.sizes import number_of
from ..kernels.build import EXPLICIT
from ..loops.shared import KERNEL_FUNCTION
from .cost import grain_of

BODY = "om_body_"
CHEAP = {"arith.constant", "ub.poison"}
STACK = {"memref.alloca"}
VIEWS = {"memref.cast", "memref.collapse_shape", "memref.dim", "memref.expand_shape", "memref.reinterpret_cast", "memref.subview",
         "memref.transpose", "ub.poison"}  # fmt: skip


def outline_parallel(module: ir.Module) -> None:
    """Outline in all entry functions."""
    with module.context, ir.Location.unknown():
        number = 0
        for function in [*kernel_functions(module), *entry_functions(module)]:
            loops = [loop for loop in walk(function, "scf.parallel") if not is_inside(loop, {"scf.parallel"}) and not len(loop.results)]
            for loop in loops:
                outline = _become_body if _is_all(function, loop) else _outline
                outline(function, loop, f"{BODY}{number}")
                number += 1
            if EXPLICIT in function.attributes and not loops:
                _keep_whole(function, f"{BODY}{number}")
                number += 1
        inline_kernels(module)
        for function in entry_functions(module):
            _hoist_stack(function, entry_block(function))


def kernel_functions(module: ir.Module) -> list[ir.Operation]:
    """The functions that `om-linalg-to-loops` makes of kernels."""
    functions = [op.operation for op in module.body.operations if op.operation.name == "func.func"]
    return [f for f in functions if symbol(f).startswith(KERNEL_FUNCTION)]


def inline_kernels(module: ir.Module) -> None:
    """Put what is left of kernels' functions, the calls of loop bodies, in the place of their calls."""
    if kernel_functions(module):
        run_unverified(module, "inline{default-pipeline=}")


def _is_all(function: ir.Operation, loop: ir.Operation) -> bool:
    """Whether a kernel's function is a loop of one dimension and what is computed for it from arguments, without memory of its own."""
    if not symbol(function).startswith(KERNEL_FUNCTION):
        return False
    *before, last, end = [op.operation for op in entry_block(function).operations]
    return (last == loop and not len(end.operands) and len(loop.operands) == 3
            and all(len(op.results) == 1 and not len(op.regions) and (op.name in VIEWS or op.name.startswith("arith.")) for op in before))


def _become_body(function: ir.Operation, loop: ir.Operation, name: str) -> None:
    """The function itself becomes the body, which is quicker than to move what is in it; a new one of its name calls it."""
    with ir.InsertionPoint(loop), loop.location:
        steps = [_constant(0), _count(loop), grain_of(loop)]
    if EXPLICIT in loop.attributes:
        function.attributes[EXPLICIT] = ir.UnitAttr.get()
    begin, end, _ = _call_instead(function, name, steps)
    _to_for(loop, begin, end)
    _hoist_stack(function, entry_block(function))


def _keep_whole(function: ir.Operation, name: str) -> None:
    """A kernel of a single chunk, whose loop was folded away, becomes the body of one step."""
    with ir.InsertionPoint.at_block_begin(entry_block(function)), function.location:
        _call_instead(function, name, [_constant(0), _constant(1), _constant(1)])


def _call_instead(function: ir.Operation, name: str, steps: list[ir.Value]) -> list[ir.Value]:
    """Rename a function, which gets its steps, known in its entry block, as arguments; a new one of its old name calls it."""
    block, index, where = entry_block(function), ir.IndexType.get(), function.location
    inputs, old = [a.type for a in block.arguments], symbol(function)
    function.attributes["sym_name"] = ir.StringAttr.get(name)
    with ir.InsertionPoint(function), where:
        caller = func.FuncOp(old, (inputs, []), visibility="private").add_entry_block([where] * len(inputs))
    with ir.InsertionPoint(caller), where:
        copies = dict(zip(block.arguments, caller.arguments))
        func.CallOp([], name, [*caller.arguments, *(_copy_of(v, copies) for v in steps)])
        func.ReturnOp([])
    arguments = [block.add_argument(index, where) for _ in steps]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([*inputs, *[index] * len(steps)], []))
    function.attributes["no_inline"] = ir.UnitAttr.get()
    return arguments


def _to_for(loop: ir.Operation, begin: ir.Value, end: ir.Value) -> None:
    """The steps of a loop of one dimension from begin to end, in its place."""
    lower, _, step = loop.operands
    block = loop.regions[0].blocks[0]
    with ir.InsertionPoint(loop), loop.location:
        new = ir.Operation.create("scf.for", operands=[begin, end, _constant(1)], regions=1)
    block.append_to(new.regions[0])
    list(block.operations)[-1].operation.erase()
    with ir.InsertionPoint(block), loop.location:
        scf.YieldOp([])
    if (number_of(lower), number_of(step)) != (0, 1):
        counter = block.arguments[0]
        with ir.InsertionPoint.at_block_begin(block), loop.location:
            scaled = arith.MulIOp(counter, step)
            place = arith.AddIOp(scaled.result, lower).result
        counter.replace_all_uses_except(place, scaled.operation)
    loop.erase()


def _copy_of(value: ir.Value, copies: dict[ir.Value, ir.Value]) -> ir.Value:
    """The value computed at the insertion point, from what `copies` has of the values behind it."""
    if value not in copies:
        operands = [_copy_of(v, copies) for v in value.owner.operation.operands]
        copy = value.owner.operation.clone()
        for position, operand in enumerate(operands):
            copy.operation.operands[position] = operand
        copies[value] = copy.operation.results[0]
    return copies[value]


def _outline(function: ir.Operation, loop: ir.Operation, name: str) -> None:
    captured, uses = _captured(loop)
    index = ir.IndexType.get()
    with ir.InsertionPoint(function), loop.location:
        body = func.FuncOp(name, ([v.type for v in captured] + [index] * 3, []), visibility="private")
        body.attributes["no_inline"] = ir.UnitAttr.get()
    if EXPLICIT in loop.attributes:
        body.attributes[EXPLICIT] = ir.UnitAttr.get()
    block = body.add_entry_block([loop.location] * (len(captured) + 3))
    with ir.InsertionPoint(loop), loop.location:
        func.CallOp([], name, [*captured, _constant(0), _count(loop), grain_of(loop)])
    names = dict(zip(captured, block.arguments))
    for operation, position in uses:
        operation.operands[position] = names[operation.operands[position]]
    _fill(block, loop, names)
    _hoist_stack(body.operation, block)
    loop.erase()


def _fill(block: ir.Block, loop: ir.Operation, names: dict[ir.Value, ir.Value]) -> None:
    """The steps from begin to end, with the operations of the loop moved in; further dimensions are loops inside."""
    begin, end = block.arguments[len(names)], block.arguments[len(names) + 1]
    source = loop.regions[0].blocks[0]
    dimensions = len(source.arguments)
    with ir.InsertionPoint(block), loop.location:
        operands = [v.owner.operation.clone().results[0] if _is_cheap(v) else names.get(v, v) for v in loop.operands]
        lower, step = operands[0], operands[2 * dimensions]
        outer = scf.ForOp(begin, end, _constant(1))
        func.ReturnOp([])
    inner = outer
    with ir.InsertionPoint(outer.body), loop.location:
        indices = [arith.AddIOp(arith.MulIOp(outer.induction_variable, step).result, lower).result]
    for axis in range(1, dimensions):
        with ir.InsertionPoint(inner.body), loop.location:
            nested = scf.ForOp(*(operands[axis + group * dimensions] for group in range(3)))
            scf.YieldOp([])
        inner = nested
        indices.append(nested.induction_variable)
    for argument, value in zip(list(source.arguments), indices):
        argument.replace_all_uses_with(value)
    for operation in list(source.operations)[:-1]:
        inner.body.append(operation)
    with ir.InsertionPoint(inner.body), loop.location:
        scf.YieldOp([])


def _bounds(loop: ir.Operation) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Lower, upper and step of the outermost dimension."""
    dimensions = len(loop.regions[0].blocks[0].arguments)
    return loop.operands[0], loop.operands[dimensions], loop.operands[2 * dimensions]


def _count(loop: ir.Operation) -> ir.Value:
    """The number of steps; 0 where the upper bound is below the lower one."""
    lower, upper, step = _bounds(loop)
    distance = arith.MaxSIOp(arith.SubIOp(upper, lower).result, _constant(0)).result
    return arith.CeilDivSIOp(distance, step).result


def _constant(number: int) -> ir.Value:
    return arith.ConstantOp(ir.IndexType.get(), number).result


def _captured(loop: ir.Operation) -> tuple[list[ir.Value], list[tuple[ir.Operation, int]]]:
    """Values from outside that the loop uses, and the operations with the operands' positions that use them inside of it; constants are
    copied into it instead."""
    inside: set[ir.Value] = set()
    blocks = [b for region in loop.regions for b in region.blocks]
    inside.update(argument for block in blocks for argument in block.arguments)
    operations = walk(loop)
    for operation in operations:
        inside.update(operation.results)
        if len(operation.regions):
            inside.update(a for region in operation.regions for block in region.blocks for a in block.arguments)
    lower, _, step = _bounds(loop)
    captured: dict[ir.Value, None] = {}
    dimensions = len(blocks[0].arguments)
    bounds = [v for i, v in enumerate(loop.operands) if i % dimensions or v in (lower, step)]
    captured.update((v, None) for v in bounds if not _is_cheap(v))
    copies: dict[ir.Value, ir.Value] = {}
    uses: list[tuple[ir.Operation, int]] = []
    for operation in operations:
        for position, value in enumerate(operation.operands):
            if value in inside:
                continue
            if _is_cheap(value):
                operation.operands[position] = _copy_in(value, blocks[0], copies)
            else:
                captured[value] = None
                uses.append((operation, position))
    return list(captured), uses


def _is_cheap(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name in CHEAP


def _copy_in(value: ir.Value, block: ir.Block, copies: dict[ir.Value, ir.Value]) -> ir.Value:
    if value not in copies:
        with ir.InsertionPoint.at_block_begin(block):
            copies[value] = value.owner.operation.clone().results[0]
    return copies[value]


def _hoist_stack(body: ir.Operation, block: ir.Block) -> None:
    """Scratch of a step is one piece of stack for all steps."""
    for scratch in walk(body, *STACK):
        if not len(scratch.operands):
            scratch.move_before(block.operations[0].operation)
