"""`om-split-batch`: layers of images whose batch does not fit the cache are computed one sample after the other.

    %0 = "om.conv"(%x, %w)               : tensor<8x32x112x112xf32>        %2 = scf.for %i = 0 to 8 ... {
    %1 = "om.max_pool"(%0)               : tensor<8x32x56x56xf32>     ->     %3 = "om.slice"(%x, %i)       : tensor<1x...>
                                                                             %4 = "om.conv"(%3, %w)        : tensor<1x32x112x112xf32>
                                                                             ...

A layer then finds what the layer before it wrote in the cache, and a symbolic batch becomes a size of 1, known to the kernels. Later layers,
whose batch fits, stay whole: their products are larger, and read the weights once. No result changes by a bit.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import scf, tensor

from ...dialect.analysis import ShapeAnalysis
from ...dialect.build import declaration_of, mlir_type, OpView
from ...dialect.declare import Op
from ...dialect.graph import GraphBuilder, Node
from ...dialect.ops import convolution, pooling
from ...dialect.shapes import policy, TensorType
from ...dialect.symbolic import Size
from .decompose import builder_for
from .effects import functions
from .samplewise import one_sample, OneSample

WINDOWS = (convolution.Conv, convolution.ConvTranspose, pooling.Pool)
TYPICAL = 8  # samples of a symbolic batch, when it is decided what to split
FEWEST = 3  # layers above the size of the cache
FURTHER = 16  # ops after the last such layer among which the end is sought where least leaves the loop


@dataclass(frozen=True)
class Member:
    """An op of the loop."""

    op: OpView
    operands: list[TensorType | None]
    result: TensorType
    sample: OneSample


def split_batch(module: ir.Module, cache: int) -> bool:
    """Split in all functions where layers read and write more than `cache` bytes, which a core finds again in its share of the caches;
    whether anything was."""
    return any([_split(function, cache) for function in functions(module) if _has_windows(function)])


def _has_windows(function: ir.Operation) -> bool:
    return any(_is_window(declaration_of(op.operation)) for op in function.regions[0].blocks[0].operations)


def _is_window(declaration: type[Op] | None) -> bool:
    return declaration is not None and issubclass(declaration, WINDOWS)


def _split(function: ir.Operation, cache: int) -> bool:
    found: dict[ir.Operation, tuple] = {}
    analysis = ShapeAnalysis(function, lambda op, operands, attributes, results: found.__setitem__(op.operation, (op, operands, attributes, results)))
    chains = [chain for run in _runs(function.regions[0].blocks[0], found) if (chain := _heavy_part(run, cache))]
    builder = builder_for(analysis) if chains else None
    for chain in reversed(chains):  # what a chain reads may be computed by one before it, which is erased
        _emit(chain, builder)
    return bool(chains)


def _runs(block: ir.Block, found: dict) -> list[list[Member]]:
    """Ops of a block in program order that compute sample by sample what ops before them in the run did. A run begins with a window op."""
    runs: list[list[Member]] = []
    inside: set[ir.Value] = set()
    count: Size = 1
    for operation in (op.operation for op in block.operations):
        member = None
        if operation in found:
            op, operands, attributes, results = found[operation]
            begins = not inside and _is_window(op.declaration) and operands[0].rank > 2 and operands[0].shape[0] != 1
            if begins:
                count = operands[0].shape[0]
            if begins or any(value in inside for value in op.operands if value is not None):
                sample = one_sample(op, operands, attributes, count)
                member = None if sample is None else Member(op, operands, results[0], sample)
                if member is not None and not inside:
                    runs.append([])
        if member is not None and all(own or value not in inside for value, own in zip(member.op.operands, member.sample.cut)):
            runs[-1].append(member)
            inside.add(operation.results[0])
        elif any(value in inside for value in _read(operation)):
            inside = set()
    return runs


def _read(operation: ir.Operation) -> list[ir.Value]:
    """What an op reads, in its regions too."""
    values: list[ir.Value] = []
    operation.walk(lambda inner: (values.extend(inner.operands), ir.WalkResult.ADVANCE)[1])
    return values


def _heavy_part(run: list[Member], cache: int) -> list[Member]:
    """From the first layer that does not fit to the last one, and on to where least leaves the loop. Empty where there are few, or where a
    size of a sample is symbolic."""
    sizes = [_bytes(member) for member in run]
    heavy = [number for number, size in enumerate(sizes) if size > cache]
    if len(heavy) < FEWEST or math.inf in sizes:
        return []
    part = run[heavy[0]:]
    last = heavy[-1] - heavy[0]
    end = min(range(last, min(last + FURTHER, len(part))), key=lambda end: _leaving(part[:end + 1]))
    while end + 1 < len(part) and not _is_window(part[end + 1].op.declaration) and _leaving(part[:end + 2]) <= _leaving(part[:end + 1]):
        end += 1  # what is fused with the last layer
    return part[:end + 1]


def _bytes(member: Member) -> float:
    """Of the cut operands and the result, for the whole batch; infinite where a size of a sample is symbolic."""
    types = [type_ for type_, own in zip(member.operands, member.sample.cut) if own] + [member.result]
    count = types[0].shape[0] if isinstance(types[0].shape[0], int) else TYPICAL
    return count * sum(_sample_bytes(type_) for type_ in types)


def _sample_bytes(type_: TensorType) -> float:
    sizes = type_.shape[1:]
    return math.prod(sizes) * type_.dtype.itemsize if all(isinstance(size, int) for size in sizes) else math.inf


def _leaving(part: list[Member]) -> float:
    return sum(_sample_bytes(member.result) for member in _used_outside(part))


def _used_outside(part: list[Member]) -> list[Member]:
    own = {member.op.operation for member in part}
    return [member for member in part if any(use.owner.operation not in own for use in member.op.results[0].uses)]


def _emit(part: list[Member], builder: GraphBuilder) -> None:
    """The loop after the last op of the part, instead of the part."""
    leaving = _used_outside(part)
    count = next(type_ for type_, own in zip(part[0].operands, part[0].sample.cut) if own).shape[0]
    with ir.InsertionPoint.after(part[-1].op.operation), part[0].op.location:
        stacks = [builder.full(0, member.result.shape, member.result.dtype) for member in leaving]
        low, high, step = (builder.size(size) for size in (0, count, 1))
        loop = scf.ForOp(low, high, step, [stack.value for stack in stacks])
        with ir.InsertionPoint(loop.body):
            number = policy().fresh("sample")
            builder.index_origin(loop.induction_variable, number)
            values = _Body(builder, number).run(part)
            scf.YieldOp([_put(builder, Node(carried, stack.type, builder), values[member.op.results[0]], number)
                         for carried, stack, member in zip(loop.inner_iter_args, stacks, leaving)])
        for member, result in zip(leaving, loop.results):
            old = member.op.results[0]
            old.replace_all_uses_with(result if result.type == old.type else tensor.CastOp(old.type, result).result)
    for member in reversed(part):
        member.op.operation.erase()


def _put(builder: GraphBuilder, stack: Node, sample: Node, number: Size) -> ir.Value:
    rank = stack.rank
    value = builder.call("slice_update", stack, sample, starts=(number, *(0,) * (rank - 1)), steps=(1,) * rank).value
    return value if value.type == stack.value.type else tensor.CastOp(mlir_type(stack.type), value).result


class _Body:
    """The ops of the part for one sample."""

    def __init__(self, builder: GraphBuilder, number: Size):
        self.builder, self.number = builder, number
        self.samples: dict[ir.Value, Node] = {}

    def run(self, part: list[Member]) -> dict[ir.Value, Node]:
        for member in part:
            with member.op.location:
                nodes = [self._operand(*operand) for operand in zip(member.op.operands, member.operands, member.sample.cut)]
                self.samples[member.op.results[0]] = self.builder.emit(member.op.declaration, nodes, member.sample.attributes)
        return self.samples

    def _operand(self, value: ir.Value | None, type_: TensorType | None, cut: bool) -> Node | None:
        if value is None or not cut:
            return None if value is None else self.builder.node(value, type_)
        if value not in self.samples:
            starts, shape = (self.number, *(0,) * (type_.rank - 1)), (1, *type_.shape[1:])
            self.samples[value] = self.builder.call("slice", self.builder.node(value, type_), starts=starts, shape=shape, steps=(1,) * type_.rank)
        return self.samples[value]
