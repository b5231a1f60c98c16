"""`om-fuse-elementwise`: an elementwise producer moves into its one consumer, so that the value between them is never stored.

Only where each element is computed once: the consumer reads the producer along all of its loops. (Upstream's pass also fuses into
matrix products, which then compute the producer once per column.) Producers that merely permute axes fold into any consumer. A producer with
several consumers moves into each of them where computing it is as cheap as reading it: `x - mean` in a layer normalization.

    %1 = linalg.generic exp(%0)             %2 = linalg.generic exp(%0) + %b
    %2 = linalg.generic %1 + %b        ->

What only matrix products read is then computed in the order in which its inputs lie: the products read permuted axes as they are.
"""
from __future__ import annotations

from mlir import ir
from mlir.dialects import linalg, tensor

REPEATED = frozenset({"arith.addf", "arith.subf", "arith.mulf", "arith.negf", "arith.extf", "arith.truncf"})
MOST_REPEATED = 2


def fuse_elementwise(module: ir.Module) -> None:
    """Fuse in all functions of a module, until nothing fuses any more."""
    with module.context, ir.Location.unknown():
        blocks: list[ir.Block] = []

        def visit(operation):
            if operation.name in ("func.func", "scf.if", "scf.for", "scf.while"):
                blocks.extend(block for region in operation.regions for block in region.blocks)
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit)
        for block in blocks:
            _fuse_block(block)


def _fuse_block(block: ir.Block) -> None:
    operations = [op.operation for op in block.operations if op.operation.name == "linalg.generic"]
    for operation in operations:  # forwards: what is erased on the way are producers, which were visited before
        consumer = Generic(operation)
        consumer.repeat_cheap_producers()
        while (producer := consumer.fusable()) is not None:
            consumer = consumer.fuse(*producer)
    for operation in [op.operation for op in block.operations if op.operation.name == "linalg.generic"]:
        _order_as_read(Generic(operation))


def _order_as_read(op: "Generic") -> None:
    """Compute an elementwise op in the order of its inputs, which are all permuted alike, where products alone read it."""
    count, init = len(op.kinds), op.inits[0].owner
    if not op.is_elementwise() or isinstance(init, ir.Block) or init.name != "tensor.empty":
        return
    accesses = [m for m in op.maps[:-1] if _permutes(m, count)]
    if not accesses or accesses[0] == ir.AffineMap.get_identity(count) or any(m != accesses[0] for m in accesses):
        return
    order = [ir.AffineDimExpr(e).position for e in accesses[0].results]
    uses = list(op.operation.results[0].uses)
    if not all(_takes_order(use, order) for use in uses):
        return
    new = _reordered(op, order)
    for user, number in [(use.owner.operation, use.operand_number) for use in uses]:
        maps = [ir.AffineMapAttr(a).value for a in ir.ArrayAttr(user.attributes["indexing_maps"])]
        maps[number] = ir.AffineMap.get(maps[number].n_dims, 0, [maps[number].results[axis] for axis in order])
        user.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps])
        user.operands[number] = new
    op.operation.erase()


def _takes_order(use: ir.OpOperand, order: list[int]) -> bool:
    """Whether a user is a product that reads the operand with its axes in this order, the last one of which a vector runs along."""
    user, number = use.owner.operation, use.operand_number
    if "om.kernel" not in user.attributes or ir.StringAttr(ir.DictAttr(user.attributes["om.kernel"])["name"]).value != "matmul" or number > 1:
        return False
    places = [ir.AffineDimExpr(e).position if isinstance(e, ir.AffineDimExpr) else None for e in Generic(user).maps[number].results]
    columns_and_steps = range(len(Generic(user).kinds) - 2, len(Generic(user).kinds))
    return None not in places and (number == 0 or places[order[-1]] in columns_and_steps)


def _reordered(op: "Generic", order: list[int]) -> ir.Value:
    """The op's result with its axes in this order; loop i of the new op is loop order[i]."""
    count, empty = len(order), op.inits[0].owner
    type = ir.RankedTensorType(op.inits[0].type)
    shape = [type.shape[axis] for axis in order]
    sizes = dict(zip((axis for axis in range(count) if type.is_dynamic_dim(axis)), empty.operands))
    inverse = ir.AffineMap.get(count, 0, [ir.AffineDimExpr.get(order.index(loop)) for loop in range(count)])
    maps = [_compose(m, inverse) for m in op.maps[:-1]] + [ir.AffineMap.get_identity(count)]
    with ir.InsertionPoint(op.operation), op.operation.location:
        init = tensor.EmptyOp([sizes[axis] if axis in sizes else shape[i] for i, axis in enumerate(order)], type.element_type).result
        kinds = op.operation.attributes["iterator_types"]
        new = linalg.GenericOp([init.type], op.inputs, [init], ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]), kinds)
        block = new.regions[0].blocks.append(*[a.type for a in op.body.arguments])
        yielded = op.move_body(block, list(block.arguments), inverse)
        with ir.InsertionPoint(block):
            linalg.YieldOp(yielded)
    return new.operation.results[0]


class Generic:
    """A linalg.generic on tensors, taken apart."""

    def __init__(self, operation: ir.Operation):
        self.operation = operation
        self.maps = [ir.AffineMapAttr(a).value for a in ir.ArrayAttr(operation.attributes["indexing_maps"])]
        self.kinds = ["reduction" if "reduction" in str(a) else "parallel" for a in ir.ArrayAttr(operation.attributes["iterator_types"])]
        inputs, outputs = list(ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"]))
        self.inputs = list(operation.operands)[:inputs]
        self.inits = list(operation.operands)[inputs:]
        self.body = operation.regions[0].blocks[0]
        self.has_kernel = "om.kernel" in operation.attributes

    def is_elementwise(self) -> bool:
        identity = ir.AffineMap.get_identity(len(self.kinds))
        reads_init = any(list(a.uses) for a in list(self.body.arguments)[len(self.inputs):])
        return len(self.inits) == 1 and "reduction" not in self.kinds and self.maps[-1] == identity and not self.has_kernel and not reads_init

    def only_moves(self) -> bool:
        """Whether the body yields its one input as it is, over a permutation of axes."""
        operations = list(self.body.operations)
        return (len(operations) == 1 and len(self.inputs) == 1 and operations[0].operands[0] == self.body.arguments[0]
                and _permutes(self.maps[0], len(self.kinds)))

    def fusable(self) -> tuple[int, "Generic"] | None:
        """An input number and its producer that may move into this op."""
        for number, value in enumerate(self.inputs):
            if isinstance(value.owner, ir.Block):
                continue
            owner = value.owner.operation
            if owner.name != "linalg.generic" or owner.block != self.operation.block:
                continue
            if any(use.owner.operation != self.operation for use in value.uses) or value in self.inits:
                continue
            producer = Generic(owner)
            if not producer.is_elementwise() or not self._reads_once(number, value) or not self._keeps_extents(number, producer):
                continue
            if (self._covers(number) and not self.has_kernel) or (producer.only_moves() and self._reads_any_order(number, producer)):
                return number, producer
        return None

    def _reads_any_order(self, number: int, producer: "Generic") -> bool:
        """Whether the op can read the producer's operand in its own order of axes: the words of a product of words must lie as they are."""
        words = ("byte_matmul", "pair_matmul")
        if not self.has_kernel or ir.StringAttr(ir.DictAttr(self.operation.attributes["om.kernel"])["name"]).value not in words:
            return True
        return _compose(producer.maps[0], self.maps[number]).results[-1] == self.maps[number].results[-1]

    def repeat_cheap_producers(self) -> None:
        """Give this op a copy of its own of each producer that several ops read, where computing it again costs no more than reading it."""
        for number, value in enumerate(self.inputs):
            if self.has_kernel or isinstance(value.owner, ir.Block) or not self._covers(number):
                continue
            owner = value.owner.operation
            shared = owner.name == "linalg.generic" and owner.block == self.operation.block and len(list(value.uses)) > 1
            if shared and value not in self.inits and Generic(owner).is_cheap():
                with ir.InsertionPoint(self.operation):
                    copy = owner.clone().operation.results[0]
                for place in (i for i, v in enumerate(self.inputs) if v == value):
                    self.operation.operands[place] = copy
                self.inputs = [copy if v == value else v for v in self.inputs]

    def is_cheap(self) -> bool:
        """Whether this is one instruction or two on one tensor of the result's size, and others that repeat along an axis.

        Not on the result of a kernel, which such an op may follow as its epilogue.
        """
        if not 0 < len(self.body.operations) - 1 <= MOST_REPEATED:  # first, since bodies may be long
            return False
        whole = [v for v, m in zip(self.inputs, self.maps) if _permutes(m, len(self.kinds))]
        operations = [op.operation for op in self.body.operations][:-1]
        return (self.is_elementwise() and len(whole) == 1 and not _is_kernel(whole[0])
                and all(op.name in REPEATED for op in operations))

    def _reads_once(self, number: int, value: ir.Value) -> bool:
        """Whether all operands that are this value read it by the same map."""
        return all(self.maps[i] == self.maps[number] for i, other in enumerate(self.inputs) if other == value)

    def _keeps_extents(self, number: int, producer: "Generic") -> bool:
        """Whether the operands still tell how far each loop goes when the producer's stand in place of its result."""
        maps = [m for v, m in zip(self.inputs, self.maps) if v != self.inputs[number]] + self.maps[len(self.inputs):]
        maps += [_compose(m, self.maps[number]) for m in producer.maps[:len(producer.inputs)]]
        found = {ir.AffineDimExpr(e).position for m in maps for e in m.results if isinstance(e, ir.AffineDimExpr)}
        return len(found) == len(self.kinds)

    def _covers(self, number: int) -> bool:
        return _permutes(self.maps[number], len(self.kinds))

    def fuse(self, number: int, producer: "Generic") -> "Generic":
        """A new op that computes the producer's body in place of input `number`; the two old ops are erased."""
        value, access = self.inputs[number], self.maps[number]
        operands: list[tuple[ir.Value, ir.AffineMap]] = []
        sources: list[int] = []  # where each input of this op, then of the producer, is found among `operands`
        kept = [(v, m) for v, m in zip(self.inputs, self.maps) if v != value]
        moved = [(v, _compose(m, access)) for v, m in zip(producer.inputs, producer.maps)]
        if self.has_kernel:  # which knows its operands by their positions
            places = [i for i, v in enumerate(self.inputs) if v == value]
            operands = [moved[0] if i in places else pair for i, pair in enumerate(zip(self.inputs, self.maps))]
            sources = [i for i in range(len(self.inputs)) if i not in places] + [places[0]]
        else:
            for pair in kept + moved:
                if pair not in operands:
                    operands.append(pair)
                sources.append(operands.index(pair))
        with ir.InsertionPoint(self.operation), self.operation.location:
            fused = self._create(operands)
            self._move_bodies(fused, value, producer, sources, len(kept), access)
        for old, new in zip(self.operation.results, fused.results):
            old.replace_all_uses_with(new)
        self.operation.erase()
        producer.operation.erase()
        return Generic(fused)

    def _create(self, operands) -> ir.Operation:
        maps = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in [m for _, m in operands] + self.maps[len(self.inputs):]])
        operation = linalg.GenericOp([v.type for v in self.inits], [v for v, _ in operands], self.inits, maps, self.operation.attributes["iterator_types"])
        for name in self.operation.attributes:
            key = name.name if hasattr(name, "name") else name
            if key.startswith("om."):
                operation.operation.attributes[key] = self.operation.attributes[key]
        return operation.operation

    def _move_bodies(self, fused: ir.Operation, value, producer: "Generic", sources: list[int], kept: int, access: ir.AffineMap) -> None:
        """The producer's block as a whole, since in a chain it is the long one, then this op's operations."""
        if access != ir.AffineMap.get_identity(access.n_dims):
            producer.renumber_indices(access)
        block = producer.body
        block.append_to(fused.regions[0])
        old = list(block.arguments)
        arguments = [block.add_argument(v.type.element_type, fused.location) for v in fused.operands]
        for argument, source in zip(old, sources[kept:]):
            argument.replace_all_uses_with(arguments[source])
        for _ in old:
            block.erase_argument(0)
        end = block.operations[len(block.operations) - 1].operation
        result = end.operands[0]
        end.erase()
        own, rest = [], iter(sources[:kept])
        for v in self.inputs:
            own.append(result if v == value else arguments[next(rest)])
        own += arguments[len(arguments) - len(self.inits):]
        with ir.InsertionPoint(block):
            linalg.YieldOp(self.move_body(block, own, None))

    def renumber_indices(self, access: ir.AffineMap) -> None:
        """Let the body's indices be those of the loops that `access` reads along."""
        for operation in (op.operation for op in self.body.operations):
            if operation.name == "linalg.index":
                axis = ir.IntegerAttr(operation.attributes["dim"]).value
                loop = ir.AffineDimExpr(access.results[axis]).position
                operation.attributes["dim"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), loop)

    def move_body(self, block: ir.Block, values: list[ir.Value], access: ir.AffineMap | None) -> list[ir.Value]:
        """Move the ops of the body to the end of a block with its arguments replaced; gives what it yields."""
        if access is not None:
            self.renumber_indices(access)
        for argument, value in zip(self.body.arguments, values):
            argument.replace_all_uses_with(value)
        for operation in list(self.body.operations):
            operation = operation.operation
            if operation.name == "linalg.yield":
                return list(operation.operands)
            block.append(operation)
        raise AssertionError("a linalg body ends with linalg.yield")


def _is_kernel(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and "om.kernel" in value.owner.operation.attributes


def _permutes(map_: ir.AffineMap, loops: int) -> bool:
    """Whether the results of a map are all of the loops, each once."""
    results = list(map_.results)
    if not all(isinstance(e, ir.AffineDimExpr) for e in results):
        return False
    return sorted(ir.AffineDimExpr(e).position for e in results) == list(range(loops))


def _compose(inner: ir.AffineMap, access: ir.AffineMap) -> ir.AffineMap:
    """The producer's access as a function of the consumer's loops."""
    return ir.AffineMap.get(access.n_dims, 0, [e.compose(access) for e in inner.results])
