"""Symbolic shapes of every value of a function, from the declarations' shape rules."""
from __future__ import annotations

from typing import Callable

from mlir import ir

from ..errors import DTypeError, VerificationError
from . import dtypes, symbolic
from .build import OpView, view
from .declare import with_sizes
from .shapes import policy, TensorType
from .symbolic import Dim, Size

_ARITH: dict[str, Callable[[Size, Size], Size]] = {
    "arith.addi": symbolic.add,
    "arith.subi": lambda a, b: symbolic.add(a, symbolic.mul(b, -1)),
    "arith.muli": symbolic.mul,
    "arith.floordivsi": symbolic.floordiv,
    "arith.divsi": symbolic.floordiv,
    "arith.minsi": symbolic.minimum,
    "arith.maxsi": symbolic.maximum,
    "om.size_mod": symbolic.mod,
    "om.size_broadcast": symbolic.broadcast,
}


class ShapeAnalysis:
    """Walks a function once; `tensors` and `sizes` then map values to TensorType and to sizes.

    `on_op(view, operand_types, attributes, result_types)` is called for each declared op in program order.
    """

    def __init__(self, function: ir.Operation, on_op: Callable | None = None):
        self.tensors: dict[ir.Value, TensorType] = {}
        self.sizes: dict[ir.Value, Size] = {}
        self.on_op = on_op
        arguments = function.regions[0].blocks[0].arguments
        attributes = function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else [None] * len(arguments)
        for number, (argument, attribute) in enumerate(zip(arguments, attributes)):
            if isinstance(argument.type, ir.RankedTensorType):
                self.tensors[argument] = argument_type(argument.type, attribute, number)
        self._block(function.regions[0].blocks[0])

    def tensor(self, value: ir.Value) -> TensorType:
        """The symbolic type of a tensor value."""
        found = self.tensors.get(value)
        if found is None:
            found = self.tensors[value] = type_with_fresh(value.type)
        return found

    def size(self, value: ir.Value) -> Size:
        """The size that an index value holds; an index that is no arithmetic on sizes becomes an axis of its own."""
        found = self.sizes.get(value)
        if found is None:
            found = self.sizes[value] = policy().fresh("size")
        return found

    def attributes_of(self, op: OpView) -> dict:
        """Attributes with symbolic entries in place of markers."""
        return with_sizes(op.declaration, dict(op.attributes), [self.size(v) for v in op.sizes])

    def operand_types(self, op: OpView) -> list[TensorType | None]:
        return [None if v is None else self.tensor(v) for v in op.operands]

    def _block(self, block: ir.Block) -> None:
        for operation in block.operations:
            self._operation(operation.operation)

    def _operation(self, operation: ir.Operation) -> None:
        name = operation.name
        if name in _ARITH and len(operation.results) == 1 and isinstance(operation.results[0].type, ir.IndexType):
            a, b = operation.operands
            self.sizes[operation.results[0]] = _ARITH[name](self.size(a), self.size(b))
        elif name == "arith.constant" and isinstance(operation.results[0].type, ir.IndexType):
            self.sizes[operation.results[0]] = ir.IntegerAttr(operation.attributes["value"]).value
        elif name == "om.dim":
            axis, shape = ir.IntegerAttr(operation.attributes["axis"]).value, self.tensor(operation.operands[0]).shape
            if not 0 <= axis < len(shape):
                raise VerificationError(f"'axis' is {axis}, but the operand has {len(shape)} axes")
            self.sizes[operation.results[0]] = shape[axis]
        elif name == "tensor.cast":
            self.tensors[operation.results[0]] = refine(self.tensor(operation.operands[0]), operation.results[0].type)
        elif name == "scf.if":
            self._if(operation)
        elif name in ("scf.for", "scf.while"):
            self._loop(operation)
        else:
            self._declared(operation)

    def _declared(self, operation: ir.Operation) -> None:
        op = view(operation)
        if op is None or op.declaration.typed_by_ir:
            for result in operation.results:
                if isinstance(result.type, ir.RankedTensorType):
                    self.tensor(result)
            return
        operands = self.operand_types(op)
        attributes = self.attributes_of(op)
        results = op.declaration.result_types(operands, attributes)
        for value, found in zip(operation.results, results):
            self.tensors[value] = refine(found, value.type)
        if self.on_op:
            self.on_op(op, operands, attributes, results)

    def _if(self, operation: ir.Operation) -> None:
        yields = []
        for region in operation.regions:
            for block in region.blocks:
                self._block(block)
                yields.append(list(block.operations[len(block.operations) - 1].operands))
        for number, result in enumerate(operation.results):
            if isinstance(result.type, ir.RankedTensorType):
                sides = [self.tensor(values[number]) for values in yields]
                self.tensors[result] = refine(_join(sides, type_with_fresh(result.type)), result.type)

    def _loop(self, operation: ir.Operation) -> None:
        """Carried tensors keep their shapes from step to step, or have unknown sizes."""
        first = 3 if operation.name == "scf.for" else 0
        initial = list(operation.operands)[first:]
        carried = [self.tensor(v) if isinstance(v.type, ir.RankedTensorType) else None for v in initial]
        blocks = [region.blocks[0] for region in operation.regions]
        keep = self.on_op
        for attempt in range(2):
            self.on_op = None if attempt == 0 else keep
            snapshot = dict(self.tensors), dict(self.sizes)
            passed = self._loop_body(operation, blocks, carried)
            stable = [before if before is None or before == after else type_with_fresh(value.type)
                      for before, after, value in zip(carried, passed, initial)]
            if stable == carried and attempt == 0 and keep is None:
                break
            if attempt == 0:
                self.tensors, self.sizes = snapshot
                carried = stable
        self.on_op = keep
        for result, found in zip(operation.results, self._loop_results(operation, blocks, carried)):
            if found is not None:
                self.tensors[result] = refine(found, result.type)

    def _loop_body(self, operation, blocks, carried) -> list[TensorType | None]:
        if operation.name == "scf.for":
            self._bind(list(blocks[0].arguments)[1:], carried)
            self._block(blocks[0])
            return self._yielded(blocks[0], 0)
        self._bind(list(blocks[0].arguments), carried)
        self._block(blocks[0])
        self._bind(list(blocks[1].arguments), self._yielded(blocks[0], 1))
        self._block(blocks[1])
        return self._yielded(blocks[1], 0)

    def _loop_results(self, operation, blocks, carried):
        return carried if operation.name == "scf.for" else self._yielded(blocks[0], 1)

    def _bind(self, arguments, types) -> None:
        for argument, found in zip(arguments, types):
            if found is not None:
                self.tensors[argument] = refine(found, argument.type)

    def _yielded(self, block, skip: int) -> list[TensorType | None]:
        values = list(block.operations[len(block.operations) - 1].operands)[skip:]
        return [self.tensor(v) if isinstance(v.type, ir.RankedTensorType) else None for v in values]


def argument_type(type_: ir.Type, attributes, number: int) -> TensorType:
    """The symbolic type of a function argument from its type and its `om.dims`."""
    shaped = ir.RankedTensorType(type_)
    names, ranges = [""] * shaped.rank, [{}] * shaped.rank
    if attributes is not None and "om.dims" in ir.DictAttr(attributes):
        names = [ir.StringAttr(a).value for a in ir.ArrayAttr(ir.DictAttr(attributes)["om.dims"])]
    if attributes is not None and "om.ranges" in ir.DictAttr(attributes):
        ranges = declared_ranges(list(ir.DenseI64ArrayAttr(ir.DictAttr(attributes)["om.ranges"])))
    sizes = []
    for axis, (size, name) in enumerate(zip(shaped.shape, names)):
        if not shaped.is_dynamic_dim(axis):
            sizes.append(size)
        else:
            sizes.append(Dim.symbol(name, **ranges[axis]) if name else Dim.symbol(f"?arg{number}_{axis}", anonymous=True))
    return TensorType(tuple(sizes), dtype_of_element(shaped))


def dtype_of_element(shaped: ir.RankedTensorType):
    """The dtype of a tensor type's elements. DTypeError for one that the dialect does not have."""
    found = dtypes.FROM_MLIR_NAME.get(str(shaped.element_type))
    if found is None:
        raise DTypeError(f"found {shaped}; the dialect has tensors of {', '.join(dtypes.FROM_MLIR_NAME)}")
    return found


def declared_ranges(numbers: list[int]) -> list[dict]:
    """What `om.ranges` says of each axis: minimum, maximum (-1: none) and multiple, three numbers an axis."""
    triples = [numbers[i:i + 3] for i in range(0, len(numbers), 3)]
    return [{"minimum": low, "maximum": None if high < 0 else high, "multiple_of": step} for low, high, step in triples]


def type_with_fresh(type_: ir.Type) -> TensorType:
    """A type in which each dynamic size is an axis of its own."""
    shaped = ir.RankedTensorType(type_)
    shape = tuple(policy().fresh("size") if shaped.is_dynamic_dim(i) else size for i, size in enumerate(shaped.shape))
    return TensorType(shape, dtype_of_element(shaped))


def refine(found: TensorType, type_: ir.Type) -> TensorType:
    """The inferred type, with sizes that only the written type knows."""
    shaped = ir.RankedTensorType(type_)
    shape = tuple(size if shaped.is_dynamic_dim(i) or isinstance(size, int) else shaped.get_dim_size(i) for i, size in enumerate(found.shape))
    return TensorType(shape, found.dtype)


def _join(sides: list[TensorType], unknown: TensorType) -> TensorType:
    shape = tuple(sizes[0] if all(s == sizes[0] for s in sizes) else fresh
                  for fresh, *sizes in zip(unknown.shape, *(side.shape for side in sides)))
    return TensorType(shape, unknown.dtype)
