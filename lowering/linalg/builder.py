"""Building linalg on tensors: constants, sizes, structured ops with a scalar body, imperative parts, guards."""
from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

import numpy as np
from mlir import ir
from mlir.dialects import arith, bufferization, linalg, memref, scf, tensor

from ...dialect import dtypes
from ...dialect.graph import fold_size, plain_symbol
from ...dialect.literals import dense_attribute
from ...dialect.shapes import TensorType
from ...dialect.symbolic import bounds, Dim, Size, Symbol
from .registry import TensorValue
from .reshaping import reshape

PARALLEL, REDUCTION = "parallel", "reduction"


def element_type(dtype: np.dtype) -> ir.Type:
    """The signless MLIR type of a dtype."""
    return ir.Type.parse(dtypes.MLIR_NAMES[dtype].replace("u", ""))


def compute_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype in which scalars of a dtype are computed: f32 for f16 and bf16."""
    return dtypes.float32 if dtype in (dtypes.float16, dtypes.bfloat16) else dtype


class LinalgBuilder:
    """Emits at the current insertion point and location. `messages` collects what failed checks say; their codes start at 1."""

    def __init__(self, status: ir.Value):
        self.status = status
        self.messages: list[tuple[str, str]] = []
        self.origins: dict[str, tuple] = {}
        self.index = ir.IndexType.get()

    # Types and sizes.
    def tensor_type(self, type: TensorType) -> ir.Type:
        shape = [s if isinstance(s, int) else ir.ShapedType.get_dynamic_size() for s in type.shape]
        return ir.RankedTensorType.get(shape, element_type(type.dtype))

    def memref_type(self, type: TensorType) -> ir.Type:
        shape = [s if isinstance(s, int) else ir.ShapedType.get_dynamic_size() for s in type.shape]
        return ir.MemRefType.get(shape, element_type(type.dtype))

    def learn_axes(self, value: ir.Value, type: TensorType) -> None:
        """Let the plain symbolic axes of a tensor be read from this value."""
        for axis, size in enumerate(type.shape):
            symbol = plain_symbol(size)
            if symbol is not None:
                self.origins.setdefault(symbol.name, (value, axis))

    def const_index(self, value: int) -> ir.Value:
        return arith.ConstantOp(self.index, int(value)).result

    def size(self, size: Size) -> ir.Value:
        """The index value of a size."""
        return fold_size(size, self.const_index, self._atom, lambda a, b: arith.AddIOp(a, b).result, lambda a, b: arith.MulIOp(a, b).result)

    def _atom(self, atom) -> ir.Value:
        if isinstance(atom, Symbol):
            value, axis = self.origins[atom.name]
            return value if axis is None else tensor.DimOp(value, self.const_index(axis)).result
        left, right = self.size(atom.left), self.size(atom.right)
        return self.size_function(atom.function, left, right)

    def size_function(self, function: str, left: ir.Value, right: ir.Value) -> ir.Value:
        """floordiv, mod, min, max or broadcast of two index values."""
        if function == "min":
            return arith.MinSIOp(left, right).result
        if function == "max":
            return arith.MaxSIOp(left, right).result
        if function == "broadcast":
            one = arith.CmpIOp(arith.CmpIPredicate.eq, left, self.const_index(1)).result
            return arith.SelectOp(one, right, left).result
        safe = arith.MaxSIOp(right, self.const_index(1)).result
        quotient = arith.FloorDivSIOp(left, safe).result
        return quotient if function == "floordiv" else arith.SubIOp(left, arith.MulIOp(quotient, safe).result).result

    def extent(self, size: Size) -> ir.Value:
        """The index value of the size of an axis: never negative, also where a guard on it has failed."""
        low = bounds(size)[0]
        value = self.size(size)
        return value if low is not None and low >= 0 else arith.MaxSIOp(value, self.const_index(0)).result

    def dynamic_sizes(self, shape: Sequence[Size]) -> list[ir.Value]:
        return [self.extent(s) for s in shape if isinstance(s, Dim)]

    def mixed(self, sizes: Sequence[Size]) -> tuple[list[ir.Value], list[int]]:
        """Dynamic operands and static entries, as ops with mixed sizes take them."""
        return self.dynamic_sizes(sizes), [s if isinstance(s, int) else ir.ShapedType.get_dynamic_size() for s in sizes]

    def offsets(self, starts: Sequence[Size | ir.Value]) -> tuple[list[ir.Value], list[int]]:
        """Like `mixed`, for places: sizes that may be negative, or index values."""
        dynamic = [s if isinstance(s, ir.Value) else self.size(s) for s in starts if not isinstance(s, int)]
        return dynamic, [s if isinstance(s, int) else ir.ShapedType.get_dynamic_size() for s in starts]

    # Constants and plain tensors.
    def constant(self, value, dtype: np.dtype) -> ir.Value:
        """A scalar constant."""
        type = element_type(dtype)
        if isinstance(type, ir.IntegerType):
            bits = 1 if dtype == dtypes.bool_ else dtype.itemsize * 8
            number = int(value)
            number -= (1 << bits) if bits > 1 and number >= 1 << (bits - 1) else 0
            return arith.ConstantOp(type, ir.IntegerAttr.get(type, number)).result
        return arith.ConstantOp(type, ir.FloatAttr.get(type, float(value))).result

    def literal(self, array: np.ndarray) -> ir.Value:
        """A constant tensor."""
        if array.dtype in dtypes.UNSIGNED:
            array = array.view(np.dtype(f"int{array.dtype.itemsize * 8}"))
        attribute = dense_attribute(array, ir)
        return arith.ConstantOp(attribute.type, attribute).result

    def empty(self, type: TensorType) -> ir.Value:
        """A tensor of unspecified content."""
        shape = [self.extent(s) if isinstance(s, Dim) else s for s in type.shape]
        return tensor.EmptyOp(shape, element_type(type.dtype)).result

    def filled(self, type: TensorType, scalar: ir.Value) -> ir.Value:
        """A tensor in which every element is `scalar`."""
        return self.generic([], [], type, lambda *_: scalar)

    def cast_to(self, value: ir.Value, type: TensorType) -> ir.Value:
        """The value with the static sizes of `type`."""
        wanted = self.tensor_type(type)
        return value if value.type == wanted else tensor.CastOp(wanted, value).result

    # Structured ops.
    def generic(
        self,
        inputs: Sequence[ir.Value],
        maps: Sequence[ir.AffineMap],
        result: TensorType,
        body: Callable[..., ir.Value],
        *,
        init: ir.Value | None = None,
        output_map: ir.AffineMap | None = None,
        iterators: Sequence[str] | None = None,
        kernel: Mapping[str, Any] | None = None,
    ) -> ir.Value:
        """One linalg.generic with one result. `body` gets the scalars of the inputs, then of the output, and gives the new scalar."""
        rank = result.rank if iterators is None else len(iterators)
        output_map = output_map or ir.AffineMap.get_identity(rank)
        init = self.empty(result) if init is None else init
        return self.generic_many(inputs, maps, [init], [output_map], lambda *scalars: (body(*scalars),), iterators or [PARALLEL] * rank, kernel)[0]

    def generic_many(self, inputs, maps, inits, output_maps, body, iterators, kernel: Mapping[str, Any] | None = None) -> list[ir.Value]:
        """A linalg.generic with several results."""
        attributes = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in [*maps, *output_maps]])
        kinds = ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in iterators])
        operation = linalg.GenericOp([v.type for v in inits], list(inputs), list(inits), attributes, kinds)
        if kernel:
            operation.operation.attributes["om.kernel"] = kernel_attribute(kernel)
        scalars = [v.type.element_type for v in [*inputs, *inits]]
        block = operation.regions[0].blocks.append(*scalars)
        with ir.InsertionPoint(block):
            linalg.YieldOp(list(body(*block.arguments)))
        return list(operation.results)

    def elementwise(self, inputs: Sequence[TensorValue], result: TensorType, body: Callable[..., ir.Value]) -> ir.Value:
        """`body` applied element by element over broadcast inputs; scalars of f16 and bf16 are given, and taken, as f32."""
        mapped = [x for x in inputs if not is_scalar_literal(x) and self._static_map(x, result) is not None]
        maps = [self._static_map(x, result) for x in mapped]

        def scalar_body(*scalars):
            given = dict(zip(map(id, mapped), scalars))
            return self.narrow(body(*[self._scalar(x, given.get(id(x)), result) for x in inputs]), result.dtype)

        return self.generic([x.value for x in mapped], maps, result, scalar_body)

    def _scalar(self, x: TensorValue, given: ir.Value | None, result: TensorType) -> ir.Value:
        """The current element of an input: what the op was given, a literal, or a read with a check of the axis at run time."""
        if is_scalar_literal(x):
            return self.constant(x.literal.reshape(()), compute_dtype(x.dtype))
        return self.widen(self._broadcast_read(x, result) if given is None else given, x.dtype)

    def _static_map(self, x: TensorValue, result: TensorType) -> ir.AffineMap | None:
        """The indexing map by which x broadcasts to the result, None where an axis of x may be 1 or not."""
        expressions = []
        for axis, size in enumerate(x.shape, result.rank - x.rank):
            if size == 1 and result.shape[axis] != 1:
                expressions.append(ir.AffineExpr.get_constant(0))
            elif size == result.shape[axis] or isinstance(size, int):
                expressions.append(ir.AffineExpr.get_dim(axis))
            elif isinstance(result.shape[axis], Dim) and "broadcast" in str(result.shape[axis]) or isinstance(result.shape[axis], int):
                return None
            else:
                expressions.append(ir.AffineExpr.get_dim(axis))
        return ir.AffineMap.get(result.rank, 0, expressions)

    def _broadcast_read(self, x: TensorValue, result: TensorType) -> ir.Value:
        """The element of x at the current place, where an axis of size 1 found at run time stays at 0."""
        indices = []
        zero = self.const_index(0)
        for axis in range(x.rank):
            place = linalg.IndexOp(axis + result.rank - x.rank).result
            extent = tensor.DimOp(x.value, self.const_index(axis)).result
            inside = arith.CmpIOp(arith.CmpIPredicate.slt, place, extent).result
            indices.append(arith.SelectOp(inside, place, zero).result)
        return tensor.ExtractOp(x.value, indices).result

    def pad(self, x: TensorValue, low: Sequence[Size], result: TensorType, scalar: ir.Value) -> ir.Value:
        """x placed at `low` in a tensor of the result's shape whose other elements are `scalar`."""
        if x.shape == result.shape:
            return x.value
        return self.insert_slice(x.value, x.type, self.filled(result, scalar), low)

    def gather(self, result: TensorType, element: Callable[..., ir.Value], kernel: Mapping[str, Any] | None = None) -> ir.Value:
        """A tensor whose element at the given index values is computed by `element(*indices)`, which may read other tensors."""
        def body(*_):
            return element(*[linalg.IndexOp(axis).result for axis in range(result.rank)])
        return self.generic([], [], result, body, kernel=kernel)

    def read(self, x: TensorValue | ir.Value, indices: Sequence[ir.Value]) -> ir.Value:
        """One element of a tensor."""
        return tensor.ExtractOp(x.value if isinstance(x, TensorValue) else x, list(indices)).result

    def reduce(self, x: TensorValue, axes: Sequence[int], keepdims: bool, result: TensorType, start: ir.Value, body: Callable) -> ir.Value:
        """Fold `body(element, accumulator)` over axes. `start` is a scalar of the result's element type."""
        iterators = [REDUCTION if a in axes else PARALLEL for a in range(x.rank)]
        kept = [ir.AffineExpr.get_constant(0) if a in axes else ir.AffineExpr.get_dim(a) for a in range(x.rank) if keepdims or a not in axes]
        if keepdims:
            flat = result.with_shape(s for a, s in enumerate(x.shape) if a not in axes)
            return self.reshape(self.reduce(x, axes, False, flat, start, body), flat, result)
        return self.generic([x.value], [ir.AffineMap.get_identity(x.rank)], result, body, init=self.filled(result, start),
                            output_map=ir.AffineMap.get(x.rank, 0, kept), iterators=iterators)

    # Scalars of narrow floats.
    def widen(self, scalar: ir.Value, dtype: np.dtype) -> ir.Value:
        return arith.ExtFOp(ir.F32Type.get(), scalar).result if compute_dtype(dtype) != dtype else scalar

    def narrow(self, scalar: ir.Value, dtype: np.dtype) -> ir.Value:
        return arith.TruncFOp(element_type(dtype), scalar).result if compute_dtype(dtype) != dtype and scalar.type == ir.F32Type.get() else scalar

    # Shapes.
    def reshape(self, value: ir.Value, source: TensorType, result: TensorType) -> ir.Value:
        """The elements in row-major order under another shape."""
        return reshape(self, value, source, result)

    def extract_slice(self, x: TensorValue, starts: Sequence[Size], result: TensorType, steps: Sequence[int]) -> ir.Value:
        """Elements from `starts`, every `steps`-th (positive), of the result's shape."""
        offsets, static_offsets = self.offsets(starts)
        sizes, static_sizes = self.mixed(result.shape)
        return tensor.ExtractSliceOp(self.tensor_type(result), x.value, offsets, sizes, [], static_offsets, static_sizes, list(steps)).result

    def insert_slice(self, value: ir.Value, type: TensorType, destination: ir.Value, starts: Sequence[Size], steps: Sequence[int] | None = None) -> ir.Value:
        """`destination` with `value` written at `starts`."""
        offsets, static_offsets = self.offsets(starts)
        sizes, static_sizes = self.mixed(type.shape)
        return tensor.InsertSliceOp(value, destination, offsets, sizes, [], static_offsets, static_sizes, list(steps or [1] * type.rank)).result

    # Imperative parts.
    def imperative(self, inputs: Sequence[TensorValue], results: Sequence[TensorType], body: Callable[..., None]) -> list[ir.Value]:
        """`body(*input_buffers, *result_buffers)` emits loops that read and write memory; gives the results as tensors."""
        buffers = [bufferization.ToBufferOp(self.memref_type(x.type), x.value, read_only=True).result for x in inputs]
        outputs = [memref.AllocOp(self.memref_type(t), self.dynamic_sizes(t.shape), []).result for t in results]
        body(*buffers, *outputs)
        return [bufferization.ToTensorOp(self.tensor_type(t), b, restrict=True, writable=True).result for t, b in zip(results, outputs)]

    def loop(self, low: ir.Value, high: ir.Value, body: Callable, carried: Sequence[ir.Value] = ()) -> list[ir.Value]:
        """scf.for with step 1; `body(index, *carried)` gives the carried values of the next step."""
        loop = scf.ForOp(low, high, self.const_index(1), list(carried))
        with ir.InsertionPoint(loop.body):
            next_values = body(loop.induction_variable, *loop.inner_iter_args) or ()
            scf.YieldOp(list(next_values))
        return list(loop.results)

    def nest(self, sizes: Sequence[ir.Value], body: Callable[..., None]) -> None:
        """Nested loops over index ranges; `body(*indices)`."""
        def level(done: list[ir.Value]):
            if len(done) == len(sizes):
                body(*done)
            else:
                self.loop(self.const_index(0), sizes[len(done)], lambda i: level([*done, i]))
        level([])

    def scratch(self, sizes: Sequence[ir.Value], element: ir.Type) -> ir.Value:
        """Memory for the time of an imperative part; the deallocation pass frees it."""
        dynamic = ir.ShapedType.get_dynamic_size()
        return memref.AllocOp(ir.MemRefType.get([dynamic] * len(sizes), element), list(sizes), []).result

    def choose(self, condition: ir.Value, type: ir.Type, then: Callable[[], ir.Value], otherwise: Callable[[], ir.Value]) -> ir.Value:
        """scf.if with one result."""
        branch = scf.IfOp(condition, [type], has_else=True)
        for block, body in ((branch.then_block, then), (branch.else_block, otherwise)):
            with ir.InsertionPoint(block):
                scf.YieldOp([body()])
        return branch.results[0]

    def when(self, condition: ir.Value, body: Callable[[], None]) -> None:
        """scf.if without results."""
        branch = scf.IfOp(condition)
        with ir.InsertionPoint(branch.then_block):
            body()
            scf.YieldOp([])

    # Checks.
    def check(self, holds: ir.Value, kind: str, message: str, found=None, expected=None) -> None:
        """Record a failure in the status cell when `holds` (i1) is false; the first failure stays.

        found, expected: i64 values, or functions that make them where the check has failed.
        """
        self.messages.append((kind, message))
        code = len(self.messages)
        i64 = ir.IntegerType.get_signless(64)
        const = lambda v: arith.ConstantOp(i64, ir.IntegerAttr.get(i64, v)).result
        clean = arith.CmpIOp(arith.CmpIPredicate.eq, memref.LoadOp(self.status, [self.const_index(0)]).result, const(0)).result
        true = arith.ConstantOp(ir.IntegerType.get_signless(1), ir.BoolAttr.get(True)).result
        failed = arith.AndIOp(arith.XOrIOp(holds, true).result, clean).result

        def store():
            for place, value in enumerate([const(code), found or const(0), expected or const(0)]):
                memref.StoreOp(value() if callable(value) else value, self.status, [self.const_index(place)])
        self.when(failed, store)


def is_scalar_literal(x: TensorValue) -> bool:
    """Whether a tensor is one element that is written in the IR."""
    return x.literal is not None and x.rank == 0


def kernel_attribute(kernel: Mapping[str, Any]) -> ir.Attribute:
    """`om.kernel`: the name of the kernel that may compute an op, with what it needs to know as ints, bools, strings and int tuples."""
    def encode(value) -> ir.Attribute:
        if isinstance(value, bool):
            return ir.BoolAttr.get(value)
        if isinstance(value, int):
            return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
        return ir.StringAttr.get(value) if isinstance(value, str) else ir.DenseI64ArrayAttr.get(list(value))

    return ir.DictAttr.get({name: encode(value) for name, value in kernel.items()})
