"""`om-linalg-to-loops`: each linalg op on memrefs becomes a loop nest; the outermost loop that may be is an `scf.parallel`.

Loop order: parallel loops outermost in the order of the result. A reduction runs innermost with its accumulators in registers when
it walks along memory; otherwise it runs outside the last parallel loop, whose rows accumulate in cache. Bodies are scalar; LLVM's
loop vectorizer makes full-width code of the innermost loop.
"""
from __future__ import annotations

import functools
import math
from typing import Callable, Sequence

from mlir import ir
from mlir.dialects import arith, linalg, memref, scf

from ..buffers.sizes import number_of
from ..targets import host
from .shared import KernelFunctions
from .structured import dimension, merge_loops, Structured, structured, with_epilogue

PARALLEL_WORK = 32768  # scalar operations below which a loop is not worth handing to another thread
KERNEL_WORK = 1 << 17  # multiply-adds of a kernel, on vectors, that are worth as much
UNKNOWN_SIZE = 64  # stands for a size known only at run time where work is estimated
FEW = 16  # steps of a parallel loop that do not give each thread its share, unless they are split further
STEP_WORK = 512  # scalar operations beside which the two divisions that find the place of a step are cheap

LONG_ROW, FEW_SUMS = 256, 64  # elements of a row, and steps of the reductions outside of it, which LLVM would unroll together
SHORT_ROW = 512  # elements of an innermost loop
UNROLLED, UNROLLED_ROW = 800, 100  # weighed operations, and elements, of a row that LLVM may unroll before it makes vectors, which then go across rows
MASKED = "#llvm.loop_annotation<vectorize = <predicateEnable = true>>"
NOT_UNROLLED = "#llvm.loop_annotation<unroll = <disable = true>>"

KERNELS: dict[str, Callable[[Structured], bool]] = {}


ANY_EPILOGUE: set[str] = set()
"""Kernels that emit their epilogue once, in a loop, so that it may be long."""


def kernel(name: str, any_epilogue: bool = False) -> Callable:
    """Register the emitter for structured ops whose ``om.kernel`` has this name; it returns False, having emitted nothing, to decline."""
    def register(function: Callable) -> Callable:
        KERNELS[name] = function
        if any_epilogue:
            ANY_EPILOGUE.add(name)
        return function
    return register


def linalg_to_loops(module: ir.Module) -> None:
    """Replace every linalg.generic on memrefs, and memref.copy, in all functions: first those that a kernel computes, then the rest."""
    with module.context, ir.Location.unknown():
        functions = KernelFunctions(module, emit_kernel)
        # Listed before any is replaced: with a kernel goes the epilogue behind it, which must not be looked at again.
        kernels = [op for op in _find(module, "linalg.generic") if "om.kernel" in op.attributes]
        for operation, epilogue in zip(kernels, _epilogues(kernels)):
            call_kernel(operation, epilogue, functions)
        for operation in _find(module, "linalg.generic", "memref.copy"):
            parallel = _may_run_parallel(operation)
            with ir.InsertionPoint(operation), operation.location:
                if operation.name == "memref.copy":
                    _emit_copy(operation, parallel)
                else:
                    Nest(merge_loops(structured(operation)), parallel).emit()
            operation.erase()


def _find(module: ir.Module, *names: str) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(operation):
        if operation.name in names:
            found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def call_kernel(operation: ir.Operation, epilogue: ir.Operation | None, functions: KernelFunctions) -> None:
    """Let a function compute the op by its kernel, where it has one, with its epilogue; the fill of its output is dropped."""
    if ir.StringAttr(ir.DictAttr(operation.attributes["om.kernel"])["name"]).value not in KERNELS or not _may_run_parallel(operation):
        return
    group = [operation] if epilogue is None else [operation, epilogue]
    fill = _fill_of(operation)  # before the call, which uses the output, too
    done = functions.call(group)
    for op in [*reversed(group[:done]), *([fill] if done and fill is not None else [])]:
        op.erase()


def emit_kernel(operation: ir.Operation) -> bool:
    """Let the op's kernel emit it, its epilogue included; the fill of its output is dropped. False where there is none or it declines."""
    op = structured(operation)
    emitter = KERNELS.get(ir.StringAttr(op.kernel["name"]).value)
    if emitter is None or not _may_run_parallel(operation):
        return False
    (epilogue,) = _epilogues([operation])
    for behind in [epilogue, None] if epilogue is not None else [None]:
        anchor = behind if behind is not None else operation
        with ir.InsertionPoint(anchor), operation.location:
            if emitter(with_epilogue(op, structured(behind)) if behind is not None else op):
                break
    else:
        return False
    _set_grain(anchor, op)
    for done in (_fill_of(operation), behind, operation):
        if done is not None:
            done.erase()
    return True


def _set_grain(anchor: ir.Operation, op: Structured) -> None:
    """How many steps of the kernel's loops before `anchor` make a chunk, where all sizes are known: cheaper than counting operations."""
    sizes = static_sizes(op)
    if None in sizes:
        return
    work = math.prod(sizes)
    operations = [o.operation for o in anchor.block.operations]
    place = next(i for i, o in enumerate(operations) if o == anchor)
    for operation in reversed(operations[:place]):
        if operation.name in ("linalg.generic", "memref.copy"):
            return
        if operation.name == "scf.parallel" and "om.explicit" in operation.attributes and "om.grain" not in operation.attributes:
            count = number_of(operation.operands[1])
            if count:
                grain = max(1, KERNEL_WORK * count // max(work, 1))
                operation.attributes["om.grain"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), grain)


def static_sizes(op: Structured) -> list[int | None]:
    """Static sizes of the loops, None where known only at run time."""
    sizes: list[int | None] = [None] * op.loops
    for operand, results in zip(op.operands, op.maps):
        type = ir.MemRefType(operand.type)
        for axis, expression in enumerate(results):
            loop = dimension(expression)
            if loop is not None and not type.is_dynamic_dim(axis):
                sizes[loop] = type.get_dim_size(axis)
    return sizes


def _epilogues(kernels: Sequence[ir.Operation]) -> list[ir.Operation | None]:
    """For each kernel's op the elementwise op behind it that it may compute too. A block's operations are listed once: that takes long."""
    blocks: dict[ir.Block, list[ir.Operation]] = {}
    places: dict[ir.Operation, int] = {}
    for block in {kernel.block: None for kernel in kernels}:
        blocks[block] = [op.operation for op in block.operations]
        places.update((op, place) for place, op in enumerate(blocks[block]))
    return [_epilogue_of(kernel, blocks[kernel.block][places[kernel] + 1:]) for kernel in kernels]


def _epilogue_of(kernel: ir.Operation, following: Sequence[ir.Operation]) -> ir.Operation | None:
    """The elementwise op that updates the kernel's output next, or takes it, when nothing that touches memory stands between."""
    output = kernel.operands[len(kernel.operands) - 1]
    for operation in following:
        if "om.epilogue" in operation.attributes:
            fits = ir.StringAttr(ir.DictAttr(kernel.attributes["om.kernel"])["name"]).value in ANY_EPILOGUE or _is_cheap(operation)
            mine = output in list(operation.operands) and not _may_overwrite(operation, kernel)
            return operation if mine and fits and _is_lanewise(operation) else None
        if operation.name not in ("memref.alloc", "memref.view", "memref.dim", "arith.constant", "memref.expand_shape", "memref.collapse_shape",
                                  "memref.reinterpret_cast", "memref.get_global", "memref.cast") and not operation.name.startswith("arith."):
            return None
    return None


def _may_overwrite(epilogue: ir.Operation, kernel: ir.Operation) -> bool:
    """Whether an epilogue with a buffer of its own might write what the kernel has still to read: a loop may carry the one as the other."""
    own = epilogue.operands[len(epilogue.operands) - 1]
    if own == kernel.operands[len(kernel.operands) - 1]:
        return False
    read = [*kernel.operands] + [op.operation.operands[0] for op in kernel.regions[0].blocks[0].operations if op.operation.name == "memref.load"]
    root = _root(own)
    roots = [_root(value) for value in read]
    return root is None or any(found is None or found == root for found in roots)


def _root(value: ir.Value) -> ir.Value | None:
    """The buffer that a view is of, as memory was planned; None for one that a loop carries."""
    while not isinstance(value.owner, ir.Block):
        operation = value.owner.operation
        if operation.name in ("memref.view", "memref.alloc", "memref.get_global"):
            return value
        if operation.name.startswith("scf.") or not operation.operands:
            return None
        value = operation.operands[0]
    return value if value.owner.owner.operation.name == "func.func" else None


def _is_lanewise(operation: ir.Operation) -> bool:
    """Whether the body computes a result from its operands alone, so that it may run on vectors: it gathers nothing and asks for no place."""
    body = [op.operation for op in operation.regions[0].blocks[0].operations]
    return all(op.name not in ("memref.load", "linalg.index") and not list(op.regions) for op in body)


def _is_cheap(operation: ir.Operation) -> bool:
    return is_short(operation.regions[0].blocks[0])


def is_short(body: ir.Block) -> bool:
    """Whether a body is short enough to be repeated in every store of a register tile; polynomials are not."""
    return sum(_cost(op.operation.name) for op in body.operations) < 20


def _fill_of(kernel: ir.Operation) -> ir.Operation | None:
    """The op that fills the kernel's output with zeros, for nobody else: kernels write without reading."""
    output = kernel.operands[len(kernel.operands) - 1]
    users = {use.owner.operation for use in output.uses} - {kernel}
    beside = [user for user in users if user.block == kernel.block and user.name != "memref.dim"]
    before = [user for user in beside if user.is_before_in_block(kernel)]
    last = functools.reduce(lambda a, b: b if a.is_before_in_block(b) else a, before) if before else None
    return last if last is not None and last.name == "linalg.generic" and len(last.operands) == 1 else None


def _may_run_parallel(operation: ir.Operation) -> bool:
    """Whether no enclosing loop runs in parallel already."""
    parent = operation.parent
    while parent is not None and parent.operation.name != "func.func":
        if parent.operation.name == "scf.parallel":
            return False
        parent = parent.operation.parent
    return True


def _emit_copy(operation: ir.Operation, parallel: bool) -> None:
    """memref.copy, as an elementwise op."""
    source, target = operation.operands
    rank = ir.MemRefType(source.type).rank
    element = ir.MemRefType(source.type).element_type
    maps = ir.ArrayAttr.get([ir.AffineMapAttr.get(ir.AffineMap.get_identity(rank))] * 2)
    kinds = ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * rank)
    generic = linalg.GenericOp([], [source], [target], maps, kinds)
    block = generic.regions[0].blocks.append(element, element)
    with ir.InsertionPoint(block):
        linalg.YieldOp([block.arguments[0]])
    Nest(merge_loops(structured(generic.operation)), parallel).emit()
    generic.operation.erase()


class Nest:
    """The loop nest of one structured op."""

    def __init__(self, op: Structured, parallel: bool):
        self.op = op
        self.parallel = parallel
        self.index = ir.IndexType.get()
        self.zero, self.one = self._const(0), self._const(1)
        self.static, self.sizes = self._extents()

    def _const(self, value: int) -> ir.Value:
        return arith.ConstantOp(self.index, value).result

    def _extents(self) -> tuple[list[int | None], list[ir.Value]]:
        """Static size (or None) and size value of each loop, read from an operand whose axis is the loop itself."""
        static: list[int | None] = [None] * self.op.loops
        where: list[tuple | None] = [None] * self.op.loops
        for operand, results in zip(self.op.operands, self.op.maps):
            type = ir.MemRefType(operand.type)
            for axis, expression in enumerate(results):
                loop = dimension(expression)
                if loop is None:
                    continue
                if not type.is_dynamic_dim(axis):
                    static[loop] = type.get_dim_size(axis)
                if where[loop] is None or operand in self.op.operands[-self.op.outputs:]:
                    where[loop] = (operand, axis)
        sizes = [self._const(s) if s is not None else memref.DimOp(w[0], self._const(w[1])).result for s, w in zip(static, where)]
        return static, sizes

    def order(self) -> list[int]:
        """Loops from outermost to innermost."""
        reductions = [i for i, kind in enumerate(self.op.kinds) if kind == "reduction"]
        parallels = [i for i, kind in enumerate(self.op.kinds) if kind == "parallel"]
        if not reductions or not parallels or self.reduces_along_memory(reductions):
            return parallels + reductions
        return parallels[:-1] + reductions + parallels[-1:]

    def reduces_along_memory(self, reductions: Sequence[int]) -> bool:
        """Whether every input's last axis either moves with a reduction or stays where it is."""
        for results in self.op.maps[:-self.op.outputs]:
            loop = dimension(results[-1]) if results else None
            if loop is not None and loop not in reductions:
                return False
        return True

    def emit(self) -> None:
        order = self.order()
        reductions = [i for i, kind in enumerate(self.op.kinds) if kind == "reduction"]
        inner = len(order)
        while inner and order[inner - 1] in reductions:
            inner -= 1
        self.accumulate = inner < len(order)
        self._level(order, 0, inner, {}, self._parallel_level(order, inner))

    def _parallel_level(self, order: list[int], inner: int) -> int | None:
        """The outermost loop that may run on threads; its grain says whether threads are worth it. Small ones too become functions: LLVM
        knows that their buffers do not overlap, and its time for one function grows with the square of its loops."""
        if not self.parallel:
            return None
        for level, loop in enumerate(order[:inner]):
            if self.op.kinds[loop] != "parallel":
                return None
            if self.static[loop] != 1:
                return level
        return None

    def _in_parallel(self, order, level: int, inner: int, indices: dict[int, ir.Value]) -> None:
        """A parallel loop over all steps of some loops together."""
        loops = self._parallel_loops(order[level:], inner - level)
        grain = self._grain(loops, self.work(order[level + len(loops):]))
        count = functools.reduce(lambda a, b: arith.MulIOp(a, b).result, (self.sizes[loop] for loop in loops))
        nest = scf.ParallelOp([], [self.zero], [count], [self.one], [])
        nest.operation.attributes["om.grain"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), grain)
        block = nest.regions[0].blocks[0] if len(nest.regions[0].blocks) else nest.regions[0].blocks.append(self.index)
        with ir.InsertionPoint(block):
            place, places = block.arguments[0], {}
            for loop in reversed(loops[1:]):
                places[loop] = arith.RemUIOp(place, self.sizes[loop]).result
                place = arith.DivUIOp(place, self.sizes[loop]).result
            self._level(order, level + len(loops), inner, {**indices, **places, loops[0]: place}, None)
            scf.ReduceOp([], 0)

    def _parallel_loops(self, order: Sequence[int], inner: int) -> Sequence[int]:
        """The first loop, with those inside of it where its steps are few, or may be."""
        count = 1
        if self._steps(order) is not None and self.work(order) < 2 * PARALLEL_WORK:
            return order[:count]
        while count < min(inner, len(order) - 1) and self.op.kinds[order[count]] == "parallel":
            steps = self._steps(order[:count])
            if steps is not None and steps >= FEW or self.work(order[count + 1:]) < STEP_WORK:
                break
            count += 1
        return order[:count]

    def _steps(self, loops: Sequence[int]) -> int | None:
        """The steps of some loops together, None where known only at run time."""
        sizes = [self.static[loop] for loop in loops]
        return None if None in sizes else math.prod(sizes)

    def _grain(self, loops: Sequence[int], work: int) -> int:
        """Steps of the parallel loops that are worth a thread: all of them, where two threads would not both have enough to do."""
        steps = self._steps(loops)
        return steps if steps is not None and steps * work < 2 * PARALLEL_WORK else max(1, PARALLEL_WORK // work)

    def work(self, loops: Sequence[int]) -> int:
        """Scalar operations in the given loops together."""
        total = max(1, sum(_cost(op.operation.name) for op in self.op.body.operations))
        for loop in loops:
            total *= UNKNOWN_SIZE if self.static[loop] is None else max(1, self.static[loop])
        return total

    def _level(self, order, level: int, inner: int, indices: dict[int, ir.Value], parallel_level: int | None) -> None:
        if level == inner:
            self._innermost(order[inner:], indices)
            return
        loop = order[level]
        if level == parallel_level:
            self._in_parallel(order, level, inner, indices)
            return
        nest = scf.ForOp(self.zero, self.sizes[loop], self.one)
        if level == len(order) - 1:
            self._annotate_row(nest, loop)
        with ir.InsertionPoint(nest.body):
            self._level(order, level + 1, inner, {**indices, loop: nest.induction_variable}, parallel_level)
            scf.YieldOp([])

    def _annotate_row(self, nest: scf.ForOp, loop: int) -> None:
        """Let LLVM make vectors along a short row, and of a longer one whole vectors, the last one under a mask: its own way leaves up to 63
        elements to scalar code."""
        size = self.static[loop]
        if self._is_row_of_few_sums(loop):
            nest.operation.attributes["llvm.loop_annotation"] = ir.Attribute.parse(NOT_UNROLLED)
            return
        if size is None or not 8 <= size < SHORT_ROW:
            return
        if size < UNROLLED_ROW and size * (2 * self.work([]) + len(self.op.operands)) < UNROLLED:
            nest.operation.attributes["llvm.loop_annotation"] = ir.Attribute.parse(NOT_UNROLLED)
        elif host().vector_bits == 512 and size % 64:
            nest.operation.attributes["llvm.loop_annotation"] = ir.Attribute.parse(MASKED)

    def _is_row_of_few_sums(self, loop: int) -> bool:
        """Whether short reductions run outside of a long parallel row: LLVM would unroll all of them, which takes it seconds."""
        reductions = [size for size, kind in zip(self.static, self.op.kinds) if kind == "reduction"]
        size, few = self.static[loop], None not in reductions and math.prod(reductions) <= FEW_SUMS
        return size is not None and size > LONG_ROW and self.op.kinds[loop] == "parallel" and bool(reductions) and few

    def _innermost(self, reductions: list[int], indices: dict[int, ir.Value]) -> None:
        """The remaining reduction loops with accumulators in registers, then the stores."""
        outputs = range(len(self.op.operands) - self.op.outputs, len(self.op.operands))
        if not self.accumulate:
            values = self._body(indices, {})
        else:
            carried = {n: self._load(n, indices) for n in outputs}
            values = self._reduce(reductions, indices, carried)
        for number, value in zip(outputs, values):
            memref.StoreOp(value, self.op.operands[number], self._place(number, indices))

    def _reduce(self, loops: list[int], indices, carried: dict[int, ir.Value]) -> list[ir.Value]:
        if not loops:
            return self._body(indices, carried)
        nest = scf.ForOp(self.zero, self.sizes[loops[0]], self.one, list(carried.values()))
        if len(loops) == 1:
            self._annotate_row(nest, loops[0])
        with ir.InsertionPoint(nest.body):
            inner = dict(zip(carried, nest.inner_iter_args))
            scf.YieldOp(self._reduce(loops[1:], {**indices, loops[0]: nest.induction_variable}, inner))
        return list(nest.results)

    def _body(self, indices: dict[int, ir.Value], carried: dict[int, ir.Value]) -> list[ir.Value]:
        """Move the body's ops to the insertion point, its arguments replaced by loaded elements."""
        for number, argument in enumerate(self.op.body.arguments):
            if number in carried:
                argument.replace_all_uses_with(carried[number])
            elif list(argument.uses):
                argument.replace_all_uses_with(self._load(number, indices))
        anchor = arith.ConstantOp(self.index, 0).operation
        for operation in list(self.op.body.operations):
            operation = operation.operation
            if operation.name == "linalg.yield":
                return list(operation.operands)
            if operation.name == "linalg.index":
                operation.results[0].replace_all_uses_with(indices[ir.IntegerAttr(operation.attributes["dim"]).value])
            else:
                operation.move_before(anchor)
        raise AssertionError("a linalg body ends with linalg.yield")

    def _load(self, number: int, indices) -> ir.Value:
        return memref.LoadOp(self.op.operands[number], self._place(number, indices)).result

    def _place(self, number: int, indices) -> list[ir.Value]:
        return [self._evaluate(e, indices) for e in self.op.maps[number]]

    def _evaluate(self, expression: ir.AffineExpr, indices) -> ir.Value:
        """An affine expression of the loops as an index value."""
        loop = dimension(expression)
        if loop is not None:
            return indices[loop]
        if isinstance(expression, ir.AffineConstantExpr):
            return self._const(ir.AffineConstantExpr(expression).value)
        binary = ir.AffineBinaryExpr(expression)
        left, right = self._evaluate(binary.lhs, indices), self._evaluate(binary.rhs, indices)
        if isinstance(expression, ir.AffineAddExpr):
            return arith.AddIOp(left, right).result
        if isinstance(expression, ir.AffineMulExpr):
            return arith.MulIOp(left, right).result
        return (arith.FloorDivSIOp if isinstance(expression, ir.AffineFloorDivExpr) else arith.RemSIOp)(left, right).result


def _cost(name: str) -> int:
    """Rough number of instructions of a scalar op."""
    return 20 if name.startswith("math.") and name not in ("math.absf", "math.sqrt", "math.fma") else 1
