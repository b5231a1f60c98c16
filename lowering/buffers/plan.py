"""`om-plan-memory`: one arena for all buffers whose size is known when the function starts.

    %a = memref.alloc(%n) : memref<?x8xf32>     ->     %p = llvm.call @om_arena(%context, %bytes)        (once, at the start)
                                                       %a = memref.view %arena[%offset][%n]

Small buffers of a thread's chunk go to its stack. What remains is allocated by the checked `om_alloc` and freed when its life ends.
"""
from __future__ import annotations

from collections import defaultdict

from mlir import ir
from mlir.dialects import arith, memref

from .arena import apart, hull, place, Request, round_up, SMALL
from .bufferize import run_passes
from .checked import ALLOCATE, allocation_call, ARENA, buffer_of_pointer, declare, element_bytes, saturating_product, saturating_sum
from .functions import argument_of_role, entry_block, entry_functions, walk
from .lifetimes import is_inside, Lifetimes, THREADED
from .sizes import EntrySizes

STACK_BYTES = 16 << 10
DEALLOCATE = (
    "func.func(expand-realloc)", "canonicalize", "ownership-based-buffer-deallocation", "canonicalize",
    "buffer-deallocation-simplification", "bufferization-lower-deallocations", "cse", "canonicalize", "convert-bufferization-to-memref",
)  # fmt: skip


def plan_memory(module: ir.Module) -> None:
    """Place or check every allocation of the entry functions. Runs once, before or after `om-linalg-to-loops`."""
    with module.context, ir.Location.unknown():
        for function in entry_functions(module):
            Plan(module, function).apply()
            for allocation in walk(function, "memref.alloc"):
                _to_stack(allocation)
        if walk(module.operation, "memref.alloc"):
            run_passes(module, *DEALLOCATE)
            for function in entry_functions(module):
                _check(module, function)


class Plan:
    """The memory plan of one entry function."""

    def __init__(self, module: ir.Module, function: ir.Operation):
        self.module, self.function = module, function
        self.block = entry_block(function)
        self.point = ir.InsertionPoint.at_block_begin(self.block)
        self.sizes = EntrySizes(self.block, self.point)
        self.groups: dict[tuple, list[tuple[ir.Operation, Request]]] = defaultdict(list)

    def apply(self) -> None:
        self._collect()
        if not self.groups:
            return
        units = {key: self._unit(key) for key in self.groups}
        totals = {key: place([request for _, request in group]) for key, group in self.groups.items()}
        with self.point, self.function.location:
            bases, total = self._bases(units, totals)
            arena = self._arena(total)
        for key, group in self.groups.items():
            for allocation, request in group:
                self._view(arena, allocation, request, bases[key], units[key])

    def _collect(self) -> None:
        lifetimes = Lifetimes(self.function)
        for allocation in walk(self.function, "memref.alloc"):
            interval = lifetimes.of(allocation)
            if interval is None:
                continue
            sizes = [self.sizes.of(size) for size in allocation.operands]
            if all(size is not None for size in sizes):
                key, coefficient = self._key(allocation, sizes)
                self.groups[key].append((allocation, Request(interval, coefficient)))

    def _key(self, allocation: ir.Operation, sizes: list[ir.Value]) -> tuple[tuple, int]:
        """The group (dynamic sizes in a fixed order, whether the unit is rounded up) and the bytes for each unit."""
        bytes_ = static_bytes(allocation)
        order = {value: number for number, value in enumerate(self.sizes.known.values())}
        factors = tuple(sorted(sizes, key=lambda value: order[value]))
        rounded = bool(factors) and bytes_ < SMALL
        return (factors, rounded), bytes_ if rounded else round_up(bytes_)

    def _unit(self, key: tuple) -> ir.Value:
        factors, rounded = key
        with self.point, self.function.location:
            unit = saturating_product(list(factors), 1)
            if not rounded:
                return unit
            mask = arith.ConstantOp(unit.type, -64).result
            return arith.AndIOp(saturating_sum(unit, arith.ConstantOp(unit.type, 63).result), mask).result

    def _bases(self, units: dict, totals: dict) -> tuple[dict, ir.Value]:
        """The first byte of each group, and the size of the arena. Groups of which no two are in use at the same time share their place."""
        i64 = ir.IntegerType.get_signless(64)
        total, bases = arith.ConstantOp(i64, 0).result, {}
        spans = {key: hull([request.interval for _, request in group]) for key, group in self.groups.items()}
        for keys in apart(sorted(self.groups, key=lambda key: len(key[0])), spans):
            size = saturating_product([units[keys[0]]], totals[keys[0]])
            for key in keys[1:]:
                size = arith.MaxUIOp(size, saturating_product([units[key]], totals[key])).result
            bases.update(dict.fromkeys(keys, total))
            total = saturating_sum(total, size)
        return bases, total

    def _arena(self, total: ir.Value) -> ir.Value:
        declare(self.module, ARENA)
        context = argument_of_role(self.function, "context")
        pointer = allocation_call(ARENA, context, total)
        bytes_ = ir.MemRefType.get([ir.ShapedType.get_dynamic_size()], ir.IntegerType.get_signless(8))
        return buffer_of_pointer(pointer, bytes_, [arith.IndexCastOp(ir.IndexType.get(), total).result])

    def _view(self, arena: ir.Value, allocation: ir.Operation, request: Request, base: ir.Value, unit: ir.Value) -> None:
        with ir.InsertionPoint(allocation), allocation.location:
            distance = arith.MulIOp(unit, arith.ConstantOp(unit.type, request.offset).result).result
            offset = arith.IndexCastOp(ir.IndexType.get(), arith.AddIOp(base, distance).result).result
            view = memref.ViewOp(allocation.results[0].type, arena, offset, list(allocation.operands))
        allocation.results[0].replace_all_uses_with(view.result)
        for use in list(view.result.uses):
            if use.owner.operation.name == "memref.dealloc":
                use.owner.operation.erase()
        allocation.erase()


def static_bytes(allocation: ir.Operation) -> int:
    """Bytes of the static sizes and the element."""
    type = ir.MemRefType(allocation.results[0].type)
    total = element_bytes(type.element_type)
    for axis in range(type.rank):
        total *= 1 if type.is_dynamic_dim(axis) else type.get_dim_size(axis)
    return total


def _to_stack(allocation: ir.Operation) -> None:
    """A small buffer of a chunk of a parallel loop: the outliner moves it to the start of the chunk's function."""
    type = ir.MemRefType(allocation.results[0].type)
    if not is_inside(allocation, THREADED) or not type.has_static_shape or static_bytes(allocation) > STACK_BYTES:
        return
    with ir.InsertionPoint(allocation), allocation.location:
        stack = memref.AllocaOp(type, [], [], alignment=64)
    allocation.results[0].replace_all_uses_with(stack.result)
    allocation.erase()


def _check(module: ir.Module, function: ir.Operation) -> None:
    context = argument_of_role(function, "context")
    for allocation in walk(function, "memref.alloc"):
        declare(module, ALLOCATE)
        with ir.InsertionPoint(allocation), allocation.location:
            count = saturating_product(list(allocation.operands), static_bytes(allocation))
            pointer = allocation_call(ALLOCATE, context, count)
            buffer = buffer_of_pointer(pointer, ir.MemRefType(allocation.results[0].type), list(allocation.operands))
        allocation.results[0].replace_all_uses_with(buffer)
        allocation.erase()
