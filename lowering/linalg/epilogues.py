"""`om-attach-epilogues`: the elementwise op after a kernel updates the kernel's result in place, directly behind it.

    %1 = linalg.generic matmul outs(%0)               %1 = linalg.generic matmul outs(%0)
    %2 = ... other work ...                      ->   %2 = linalg.generic ins(%bias) outs(%1) { yield relu(%out + %bias) }
    %3 = linalg.generic ins(%1, %bias) outs(%e)

The two then stand side by side on one buffer, and the loop emission applies the epilogue to the kernel's tiles before they are stored.
Behind a kernel of bytes the op may also give elements of another type, in a tensor of its own (`ins(%1, %bias) outs(%e)` as it was), and so may
floats behind other products and convolutions: where the kernel computes it, %1 is never stored.
"""
from __future__ import annotations

from mlir import ir
from mlir.dialects import bufferization, linalg

from .fuse import Generic


CHANGES_TYPE = ("byte_matmul", "byte_conv2d")
"""Kernels whose epilogue may give another element type."""
CHANGES_FLOAT = ("matmul", "pair_matmul", "conv")
"""Kernels whose epilogue may give floats of another type."""


def attach_epilogues(module: ir.Module) -> None:
    """Attach in all functions of a module at the linalg stage."""
    with module.context, ir.Location.unknown():
        blocks: list[ir.Block] = []

        def visit(operation):
            blocks.extend(block for region in operation.regions for block in region.blocks)
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit)
        for block in blocks:
            for operation in _generics(block):
                _permute_result(Generic(operation))
            for operation in _generics(block):
                _attach(Generic(operation))
            for operation in _generics(block):
                if "om.kernel" in operation.attributes:
                    _keep_contiguous(operation)


def _generics(block: ir.Block) -> list[ir.Operation]:
    return [op.operation for op in block.operations if op.operation.name == "linalg.generic"]


def _keep_contiguous(kernel: ir.Operation) -> None:
    """Give a kernel whose result goes into a slice of a larger tensor a buffer of its own: kernels write contiguous memory."""
    if not any(use.owner.operation.name == "tensor.insert_slice" for use in _result(kernel).uses):
        return
    while not isinstance(Generic(kernel).inits[0].owner, ir.Block) and Generic(kernel).inits[0].owner.operation.name == "linalg.generic":
        kernel = Generic(kernel).inits[0].owner.operation
    init = Generic(kernel).inits[0]
    if not isinstance(init.owner, ir.Block) and init.owner.operation.name == "tensor.empty":
        with ir.InsertionPoint(kernel), kernel.location:
            own = bufferization.AllocTensorOp(init.type, list(init.owner.operation.operands)).result
        kernel.operands[len(kernel.operands) - 1] = own


def _result(kernel: ir.Operation) -> ir.Value:
    """The kernel's result, or that of its epilogue."""
    result = kernel.results[0]
    users = [use.owner.operation for use in result.uses]
    return users[0].results[0] if len(users) == 1 and "om.epilogue" in users[0].attributes else result


def _attach(op: Generic) -> None:
    if not op.is_elementwise():
        return
    found = [(number, producer) for number, producer in enumerate(_kernels(op)) if producer is not None]
    if not found:
        return
    number, producer = max(found, key=lambda pair: _position(pair[1]))
    if op.maps[number] != op.maps[-1]:
        return
    if op.inputs[number].type == op.inits[0].type:
        _sink(producer, op.operation)
        _update_in_place(op, number)
    elif _may_change_type(_kernel_name(producer), op.inits[0].type.element_type):
        _sink(producer, op.operation)
        op.operation.attributes["om.epilogue"] = ir.UnitAttr.get()


def _kernels(op: Generic) -> list[ir.Operation | None]:
    """For each input, the kernel op that makes it for this op alone, or None."""
    result = []
    for value in op.inputs:
        owner = None if isinstance(value.owner, ir.Block) else value.owner.operation
        mine = owner is not None and owner.name == "linalg.generic" and "om.kernel" in owner.attributes and owner.block == op.operation.block
        fusable = mine and "reduction" in str(owner.attributes["iterator_types"]) and len(list(value.uses)) == 1
        result.append(owner if fusable else None)
    return result


def _may_change_type(kernel: str, element: ir.Type) -> bool:
    return kernel in CHANGES_TYPE or kernel in CHANGES_FLOAT and isinstance(element, (ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type))


def _kernel_name(kernel: ir.Operation) -> str:
    return ir.StringAttr(ir.DictAttr(kernel.attributes["om.kernel"])["name"]).value


def _position(operation: ir.Operation) -> int:
    return next(i for i, other in enumerate(operation.block.operations) if other.operation == operation)


def _sink(kernel: ir.Operation, before: ir.Operation) -> None:
    """Move a kernel, and the fill of its result, to right before its epilogue."""
    init = Generic(kernel).inits[0]
    fill = None if isinstance(init.owner, ir.Block) else init.owner.operation
    if fill is not None and fill.name == "linalg.generic" and len(list(init.uses)) == 1:
        fill.move_before(before)
    kernel.move_before(before)


def _update_in_place(op: Generic, number: int) -> None:
    """Let the op read the kernel's result as its destination instead of as an input."""
    kept = [i for i in range(len(op.inputs)) if i != number]
    maps = ir.ArrayAttr.get([ir.AffineMapAttr.get(op.maps[i]) for i in kept] + [ir.AffineMapAttr.get(op.maps[-1])])
    with ir.InsertionPoint(op.operation), op.operation.location:
        new = linalg.GenericOp([op.inits[0].type], [op.inputs[i] for i in kept], [op.inputs[number]], maps, op.operation.attributes["iterator_types"])
        new.operation.attributes["om.epilogue"] = ir.UnitAttr.get()
        block = new.regions[0].blocks.append(*[v.type.element_type for v in [*[op.inputs[i] for i in kept], op.inits[0]]])
        arguments = list(block.arguments)
        values = {i: a for i, a in zip(kept, arguments)} | {number: arguments[-1], len(op.inputs): arguments[-1]}
        yielded = op.move_body(block, [values[i] for i in range(len(op.inputs) + 1)], None)
        with ir.InsertionPoint(block):
            linalg.YieldOp(yielded)
    op.operation.results[0].replace_all_uses_with(new.operation.results[0])
    op.operation.erase()


def _permute_result(op: Generic) -> None:
    """Let a matrix product write its result in the order of axes that the op, its only user, would bring it into."""
    if not op.is_elementwise() or not op.only_moves():
        return
    kernel = _kernels(op)[0]
    if kernel is None or _kernel_name(kernel) not in ("matmul", "pair_matmul"):
        return
    product = Generic(kernel)
    fill = product.inits[0].owner
    places = [ir.AffineDimExpr(e).position for e in op.maps[0].results]
    if isinstance(fill, ir.Block) or not _is_fill(fill.operation) or places[-1] != len(places) - 1:
        return
    inverse = ir.AffineMap.get(len(product.kinds), 0, [product.maps[-1].results[places.index(axis)] for axis in range(len(places))])
    with ir.InsertionPoint(op.operation), op.operation.location:
        init = _filled(op, fill.operation)
        maps = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in [*product.maps[:-1], inverse]])
        new = linalg.GenericOp([init.type], product.inputs, [init], maps, kernel.attributes["iterator_types"])
        new.operation.attributes["om.kernel"] = kernel.attributes["om.kernel"]
        block = new.regions[0].blocks.append(*[a.type for a in product.body.arguments])
        yielded = product.move_body(block, list(block.arguments), None)
        with ir.InsertionPoint(block):
            linalg.YieldOp(yielded)
    op.operation.results[0].replace_all_uses_with(new.operation.results[0])
    op.operation.erase()
    kernel.erase()


def _is_fill(operation: ir.Operation) -> bool:
    """Whether an op fills its result with one scalar from outside."""
    return operation.name == "linalg.generic" and len(operation.operands) == 1 and len(operation.regions[0].blocks[0].operations) == 1


def _filled(op: Generic, fill: ir.Operation) -> ir.Value:
    """The op's own destination, filled as `fill` does."""
    init = op.inits[0]
    scalar = fill.regions[0].blocks[0].operations[0].operands[0]
    new = linalg.GenericOp([init.type], [], [init], ir.ArrayAttr.get([ir.AffineMapAttr.get(op.maps[-1])]), op.operation.attributes["iterator_types"])
    block = new.regions[0].blocks.append(init.type.element_type)
    with ir.InsertionPoint(block):
        linalg.YieldOp([scalar])
    return new.operation.results[0]
