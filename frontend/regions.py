"""Control flow of a recording: ``scf.if``, ``scf.while`` and ``scf.for`` from Python callables over recorded tensors.

Each body is recorded into a block of its own, which may use everything recorded before it. The op itself is made when the types of
what the bodies give are known: the blocks are then moved into it. A carried tensor whose size changes from step to step gets a
dynamic size there, and the body is recorded again.
"""
from __future__ import annotations

from contextlib import contextmanager
from typing import Callable, Sequence

import numpy as np
from mlir import ir
from mlir.dialects import tensor as tensor_dialect

from ..dialect import dtypes, symbolic
from ..dialect.bindings import file_line
from ..dialect.build import mlir_type
from ..dialect.graph import Node
from ..dialect.shapes import policy, show, TensorType
from ..dialect.symbolic import Dim, Size
from ..errors import TraceError
from .locations import function_line, user_line
from .symbolic_int import SymbolicInt, wrap
from .tensor import Tensor

Tensors = Sequence[Tensor]


@contextmanager
def inside(recorder, block: ir.Block):
    """Record into a block. Sizes that are first read in it are not known outside."""
    origins = dict(recorder.origins)
    recorder.blocks.append(block)
    recorder.scopes.append(type(recorder.scope)())
    recorder.has_regions = True
    try:
        with ir.InsertionPoint(block):
            yield
    finally:
        recorder.blocks.pop()
        recorder.scopes.pop()
        recorder.origins = origins


@contextmanager
def placeholder(recorder, name: str, operands: Sequence[ir.Value], blocks: Sequence[Sequence[ir.Type]]):
    """An op without results that holds blocks while they are recorded; it goes away at the end."""
    operation = ir.Operation.create(name, operands=list(operands), regions=len(blocks), loc=recorder.locate())
    made = [region.blocks.append(*types, arg_locs=[recorder.locate()] * len(types)) for region, types in zip(operation.regions, blocks)]
    try:
        yield made
    finally:
        operation.erase()


def finished(recorder, name: str, operands: Sequence[ir.Value], types: Sequence[TensorType], blocks: Sequence[ir.Block]) -> list[Tensor]:
    """The op itself, with the blocks that were recorded; its results."""
    operation = ir.Operation.create(name, results=[mlir_type(t) for t in types], operands=list(operands), regions=len(blocks), loc=recorder.locate())
    for region, block in zip(operation.regions, blocks):
        block.append_to(region)
    return [Tensor._recorded(recorder.node(value, type), recorder.scope) for value, type in zip(operation.results, types)]


def terminate(recorder, name: str, values: Sequence[ir.Value]) -> None:
    ir.Operation.create(name, operands=list(values), loc=recorder.locate())


def scalar_of(recorder, predicate: Tensor, what: str) -> ir.Value:
    """The one bool of a tensor, as control flow takes it."""
    node = recorder._as_node(predicate)
    if any(size != 1 for size in node.shape):
        raise TraceError(f"{what} must be one bool, found {node.type}, at {user_line()}")
    if node.rank:
        node = recorder.call("reshape", node, shape=())
    return tensor_dialect.ExtractOp(recorder.cast(node, dtypes.bool_).value, [], loc=recorder.locate()).result


def cast_to(recorder, node: Node, type: TensorType) -> ir.Value:
    """The value with the written type of `type`."""
    wanted = mlir_type(type)
    return node.value if node.value.type == wanted else tensor_dialect.CastOp(wanted, node.value, loc=recorder.locate()).result


# Branches.
def build_if(recorder, predicate: Tensor, then: Callable[[], Tensors], otherwise: Callable[[], Tensors], names=("true_fn", "false_fn"),
             strict: bool = True, agree: Callable[[], None] = lambda: None) -> list[Tensor]:  # fmt: skip
    """``scf.if``: the tensors that `then` or `otherwise` gives, by a predicate of one bool.

    Both are recorded. With `strict` their results must have equal types (TraceError names both lines); else a size in which they
    differ is dynamic. Dtypes and ranks must be equal in any case. `agree` may raise when both are recorded.
    """
    functions = (then, otherwise)
    condition = scalar_of(recorder, predicate, "the predicate")
    with placeholder(recorder, "scf.if", [condition], [(), ()]) as blocks:
        sides = [_branch(recorder, block, function) for block, function in zip(blocks, functions)]
        agree()
        lines = [lambda node, f=f, n=n: f"{n} at {line_of(node, f)}" for f, n in zip(functions, names)]
        types = _joined(recorder, sides, lines, strict)
        for block, nodes in zip(blocks, sides):
            with ir.InsertionPoint(block):
                terminate(recorder, "scf.yield", [cast_to(recorder, node, type) for node, type in zip(nodes, types)])
        return finished(recorder, "scf.if", [condition], types, blocks)


def _branch(recorder, block: ir.Block, function: Callable[[], Tensors]) -> list[Node]:
    with inside(recorder, block):
        return [recorder._as_node(t) for t in function()]


def _joined(recorder, sides, lines, strict: bool) -> list[TensorType]:
    if len(sides[0]) != len(sides[1]):
        raise TraceError(f"the branches give {len(sides[0])} and {len(sides[1])} tensors, at {user_line()}")
    return [_join(recorder, a, b, lines, number, strict) for number, (a, b) in enumerate(zip(*sides))]


def _join(recorder, a: Node, b: Node, lines, number: int, strict: bool) -> TensorType:
    fixed = strict and any(isinstance(x, int) != isinstance(y, int) or (x != y and (isinstance(x, int) or not _made_inside(recorder, x, y)))
                           for x, y in zip(a.shape, b.shape))
    if a.dtype != b.dtype or a.rank != b.rank or fixed:
        raise TraceError(f"the branches give tensors of different types (result {number}): {a.type} from {lines[0](a)}\n"
                         f"  but {b.type} from {lines[1](b)}\n  make both {_difference(a, b)}")
    return a.type.with_shape(x if x == y and not _made_inside(recorder, x) else policy().fresh("size") for x, y in zip(a.shape, b.shape))


def _difference(a: Node, b: Node) -> str:
    return "one dtype with astype" if a.dtype != b.dtype else "one shape, for instance with ops.pad, ops.reshape or ops.broadcast_to"


def _made_inside(recorder, *sizes: Size) -> bool:
    """Whether a size depends on an axis that only the body of a region knows."""
    return any(s.name not in recorder.origins for size in sizes for s in symbolic.symbols_of(size))


def line_of(node: Node, function: Callable) -> str:
    """Where a value was made, else where the function that gives it stands."""
    owner = node.value.owner
    found = None if isinstance(owner, ir.Block) or owner.name == "om.parameter" else file_line(owner.location)
    return f"{found[0]}:{found[1]}" if found else str(function_line(function))


# Loops.
def build_while(recorder, init: Tensors, condition: Callable[[list[Tensor]], Tensor], body: Callable[[list[Tensor]], Tensors],
                types: Sequence[TensorType] | None = None) -> list[Tensor]:  # fmt: skip
    """``scf.while``: ``while condition(carried): carried = body(carried)``; the carried tensors at the end.

    types: the types of what is carried, where they are not those of `init`. A size that the body changes becomes dynamic; another
    dtype or rank is a TraceError that names both lines.
    """
    nodes = [recorder._as_node(t) for t in init]
    types = [n.type for n in nodes] if types is None else list(types)
    while True:
        values = [cast_to(recorder, n, t) for n, t in zip(nodes, types)]
        found = _while_once(recorder, values, types, condition, body)
        if not isinstance(found, _Widened):
            return found
        types = found.types


class _Widened:
    """What is carried needs these types; record the body again."""

    def __init__(self, types: list[TensorType]):
        self.types = types


def _while_once(recorder, values, types, condition, body):
    written, own = [mlir_type(t) for t in types], own_axes(recorder, types)
    with placeholder(recorder, "scf.while", values, [written, written]) as (before, after):
        with inside(recorder, before):
            holds = scalar_of(recorder, condition(_arguments(recorder, before.arguments, types)), "the condition of a loop")
            terminate(recorder, "scf.condition", [holds, *before.arguments])
        with inside(recorder, after):
            given = [recorder._as_node(t) for t in body(_arguments(recorder, after.arguments, types))]
            wider = widened(types, given, body, own)
            if wider != types:
                return _Widened(wider)
            terminate(recorder, "scf.yield", [cast_to(recorder, n, t) for n, t in zip(given, types)])
        return finished(recorder, "scf.while", values, _outside(recorder, types), (before, after))


def _arguments(recorder, values, types) -> list[Tensor]:
    return [Tensor._recorded(recorder.node(value, type)) for value, type in zip(values, types)]


def _outside(recorder, types: Sequence[TensorType]) -> list[TensorType]:
    """Types of results: sizes that belong to the body's arguments get axes of their own."""
    return [t.with_shape(policy().fresh("size") if _made_inside(recorder, s) else s for s in t.shape) for t in types]


def own_axes(recorder, types: Sequence[TensorType]) -> set[str]:
    """Names of the axes that stand for sizes which may be others at each step."""
    return {s.name for t in types for size in t.shape for s in symbolic.symbols_of(size) if s.name not in recorder.origins}


def widened(types: Sequence[TensorType], given: Sequence[Node], body: Callable, own: set[str]) -> list[TensorType]:
    """The carried types with a dynamic size wherever the body gives another size. TraceError for what no size can mend."""
    if len(types) != len(given):
        raise TraceError(f"the loop carries {len(types)} tensors but its body gives {len(given)}, at {function_line(body)}\n"
                         f"  the loop is at {user_line()}")
    for number, (type, node) in enumerate(zip(types, given)):
        if type.dtype != node.dtype or type.rank != node.rank:
            raise TraceError(f"the body gives another type than the loop carries (tensor {number}): {type} at {user_line()}\n"
                             f"  but {node.type} from the body at {line_of(node, body)}\n  {_loop_advice(type, node)}")
    return [t.with_shape(s if s == g or str(s) in own else policy().fresh("carried") for s, g in zip(t.shape, n.shape)) for t, n in zip(types, given)]


def _loop_advice(type: TensorType, node: Node) -> str:
    if type.dtype != node.dtype:
        return f"start with a tensor of {node.dtype}, or give the result astype({type.dtype})"
    return f"start with a tensor of rank {node.rank}, for instance with ops.broadcast_to"


def build_for(recorder, count: Size, init: Tensors, body: Callable[[SymbolicInt, list[Tensor]], tuple[Tensors, Tensors]],
              types: Sequence[TensorType] | None = None) -> tuple[list[Tensor], list[Tensor]]:  # fmt: skip
    """``scf.for`` of `count` steps: ``carried, ys = body(index, carried)``; what is carried at the end, and the ys of all steps stacked.

    index: a size that counts from 0. types: as for `build_while`. The shapes of the ys must not depend on the step (TraceError).
    """
    nodes = [recorder._as_node(t) for t in init]
    types = [n.type for n in nodes] if types is None else list(types)
    while True:
        found = _for_once(recorder, count, nodes, types, body)
        if not isinstance(found, _Widened):
            return found[:len(types)], found[len(types):]
        types = found.types


def _for_once(recorder, count: Size, nodes, types, body):
    low, high, step = (recorder.size(s) for s in (0, count, 1))
    index, own = policy().fresh("step"), own_axes(recorder, types)
    with placeholder(recorder, "scf.for", [low, high, step], [[ir.IndexType.get(), *map(mlir_type, types)]]) as (block,):
        with inside(recorder, block):
            recorder.index_origin(block.arguments[0], index)
            carried, ys = body(wrap(index, recorder), _arguments(recorder, list(block.arguments)[1:], types))
            given = [recorder._as_node(t) for t in carried]
            ys = [recorder._as_node(t) for t in ys]
            wider = widened(types, given, body, own)
            if wider != types:
                return _Widened(wider)
        stacks = [_stack_type(recorder, count, y, body) for y in ys]
        with inside(recorder, block):
            recorder.index_origin(block.arguments[0], index)
            rows = [_write_row(recorder, block, stack, y, index) for stack, y in zip(stacks, ys)]
            terminate(recorder, "scf.yield", [*(cast_to(recorder, n, t) for n, t in zip(given, types)), *rows])
        values = [cast_to(recorder, n, t) for n, t in zip(nodes, types)] + [_empty_stack(recorder, stack) for stack in stacks]
        return finished(recorder, "scf.for", [low, high, step, *values], [*_outside(recorder, types), *stacks], [block])


def _stack_type(recorder, count: Size, y: Node, body: Callable) -> TensorType:
    if any(_made_inside(recorder, size) for size in y.shape):
        raise TraceError(f"the shape of what each step gives must be known before the loop, found {show(y.shape)} at {line_of(y, body)}\n"
                         f"  the loop is at {user_line()}; carry the tensor instead, or pad it to a fixed size")
    return TensorType((count, *y.shape), y.dtype)


def _empty_stack(recorder, type: TensorType) -> ir.Value:
    return recorder.full(np.zeros((), type.dtype), type.shape, type.dtype).value


def _write_row(recorder, block: ir.Block, stack: TensorType, y: Node, index: Dim) -> ir.Value:
    """What the steps gave so far with one more row."""
    argument = Node(block.add_argument(mlir_type(stack), recorder.locate()), stack, recorder)
    row = recorder.call("reshape", y, shape=(1, *y.shape))
    return recorder.call("slice_update", argument, row, starts=(index,) + (0,) * y.rank, steps=(1,) * (y.rank + 1)).value


# Sizes.
def size_of_tensor(recorder, x: Tensor, name: str = "value") -> Size:
    """A rank-0 integer tensor as a size of the recording; negative values count as 0."""
    if not x.is_recorded:
        return max(0, int(x._array))
    return recorder.to_size(recorder._as_node(x), policy().fresh(name))
