"""Gradients through control flow that stays in the graph: `if_`, `for_` and `while_` are those of `regions`, put on the tape.

What a body finds outside of itself and differentiates is found by walking its tape back to tensors that were made before. The
gradient of a branch records the branch again and walks back in it; that of a loop of known length keeps what each step was given, and
is a loop from the last step to the first that records the body again. Both are built with `if_` and `for_`, so that gradients have gradients.
A body that does not do the same when it is recorded again is refused, see `Body`.
"""
from __future__ import annotations

from typing import Callable, Sequence

from mlir import ir

from ..dialect import dtypes
from ..dialect.symbolic import Size
from ..errors import TraceError, UnsupportedOpError
from . import autograd, regions
from .dispatch import recording_gradients, resumed, substitutions
from .gradients.broadcasting import zeros_like
from .locations import UserLine, user_line
from .symbolic_int import size_of, SymbolicInt, wrap
from .tensor import Tensor

Tensors = Sequence[Tensor]


def on_tape() -> bool:
    """Whether what is recorded now is differentiated."""
    return recording_gradients() and autograd.grad_enabled()


class Found:
    """Tensors from outside of a body on which its results depend differentiably, each once, in the order in which they are found."""

    def __init__(self):
        self.since = autograd.next_order()
        self.tensors: dict[tuple, Tensor] = {}

    def note(self, outputs: Tensors, own: Tensors = ()) -> list[Tensor]:
        """Take what the outputs depend on; `own` are the body's arguments."""
        ours = {id(t) for t in own}
        for tensor in autograd.frontier(outputs, self.since):
            if id(tensor) not in ours:
                self.tensors.setdefault(autograd.key_of(tensor), tensor)
        return list(outputs)


def _named(function: Callable, like: Callable) -> Callable:
    """A function that messages know by the line of another."""
    def call(*args):
        return function(*args)

    call.__wrapped__ = like
    return call


def _filled(gradients: Sequence, tensors: Tensors) -> list[Tensor]:
    return [zeros_like(t) if g is None else g for g, t in zip(gradients, tensors)]


def _wanted(tensors: Tensors, wanted: Sequence[bool]) -> list[Tensor]:
    return [t for t, w in zip(tensors, wanted) if w]


def _placed(found: Sequence, wanted: Sequence[bool]) -> list:
    """Gradients of the wanted operands at their places, None elsewhere."""
    rest = iter(found)
    return [next(rest) if w else None for w in wanted]


class Body:
    """A function of tensors that is recorded several times: TraceError when it does not record the same ops on the same tensors each time.

    For it runs again when gradients are asked for, and Python's state may have changed since.
    """

    def __init__(self, recorder, function: Callable):
        self.recorder, self.function = recorder, function
        self.around = substitutions()
        self.first: list | None = None
        self.line = user_line()

    def record(self, *args, own: Tensors = ()):
        """What the function gives. own: its arguments, which are others each time."""
        block, given = self.recorder.blocks[-1], [t._node.value for t in own]
        before = len(block.operations)
        with resumed(self.around):
            result = self.function(*args)
        made = _stream(self.recorder, list(block.operations)[before:], given)
        if self.first is None:
            self.first = made
        elif made != self.first:
            number = next((i for i, (a, b) in enumerate(zip(made, self.first)) if a != b), min(len(made), len(self.first)))
            what = f"'{made[number][0].removeprefix('om.')}'" if number < len(made) else "the end"
            raise TraceError(f"the body of control flow at {self.line}\n  does something else when it is recorded again for its gradient, from {what}: it "
                             "depends on Python state that has changed since, or on random numbers\n  pass what it needs as operands or carried tensors")
        return result


def _stream(recorder, operations: Sequence, given: Sequence) -> list[tuple]:
    """The ops on tensors with their operands: numbers for what is made in the body or given to it, itself for what is outside."""
    numbers = {value: number for number, value in enumerate(given)}
    found: list[tuple] = []

    def number(value):
        if not isinstance(value.type, ir.IndexType):
            numbers[value] = len(numbers)

    def visit(operation):
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    number(argument)
        operands = [numbers.get(v, _outside(recorder, v)) for v in operation.operands if not isinstance(v.type, ir.IndexType)]
        if operation.name.startswith("om."):
            attributes = sorted(str(operation.attributes[i]) for i in range(len(operation.attributes)))
            found.append((operation.name, operands, attributes, [str(r.type) for r in operation.results]))
        for result in operation.results:
            number(result)
        return ir.WalkResult.ADVANCE

    for operation in operations:
        operation.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _outside(recorder, value: ir.Value):
    """What a value from outside is compared by: arrays that the body has captured anew by their elements."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "om.parameter":
        return value
    name = ir.StringAttr(owner.operation.attributes["name"]).value
    return recorder.weights[name].tobytes() if name.startswith("constant_") else name


# Branches.
def if_(recorder, predicate: Tensor, then: Callable[[], Tensors], otherwise: Callable[[], Tensors], **options) -> list[Tensor]:
    """`regions.build_if`; differentiable by what the branches find outside."""
    if not on_tape():
        return regions.build_if(recorder, predicate, then, otherwise, **options)
    found = Found()
    bodies = [Body(recorder, f) for f in (then, otherwise)]
    sides = [_named(lambda b=b: found.note(b.record()), b.function) for b in bodies]
    results = regions.build_if(recorder, predicate, *sides, **options)
    operands = list(found.tensors.values())

    def rule(gradients, wanted):
        chosen = _wanted(operands, wanted)
        back = [_named(lambda b=b: _branch_gradients(b, gradients, chosen), b.function) for b in bodies]
        return _placed(if_(recorder, predicate, *back), wanted)

    return autograd.record_region(operands, results, rule) if operands else results


def _branch_gradients(body: Body, gradients: Sequence, chosen: Tensors) -> list[Tensor]:
    create, since = autograd.grad_enabled(), autograd.next_order()
    with autograd.grad_mode(True):
        outputs = body.record()
    return _walked(outputs, gradients, chosen, create, since)


def _walked(outputs: Tensors, gradients: Sequence, inputs: Tensors, create: bool, since: int) -> list[Tensor]:
    """The gradients by `inputs` through what was recorded since, zeros for one that the outputs do not depend on."""
    pairs = [(t, g) for t, g in zip(outputs, gradients) if t.requires_grad and g is not None]
    found = autograd.gradients([t for t, _ in pairs], inputs, [g for _, g in pairs], create, since)
    return _filled(found, inputs)


# Loops of known length.
def for_(recorder, count: Size, init: Tensors, xs: Tensors, body: Callable, reverse: bool = False) -> tuple[list[Tensor], list[Tensor]]:
    """``carried, ys = body(k, carried, [x[k] for x in xs])`` for k from 0 to count - 1: what is carried at the end, the ys stacked.

    reverse: step k is given the xs at count - 1 - k. Differentiable by `init`, `xs` and what the body finds outside.
    """
    if not on_tape():
        place = (lambda k: _before(count, k)) if reverse else (lambda k: k)
        return regions.build_for(recorder, count, init, _named(lambda k, carried: body(k, carried, _rows(xs, place(k))), body))
    xs = [x[::-1] for x in xs] if reverse else xs
    loop = _Loop(recorder, count, list(init), list(xs), body)
    carried, stacks = regions.build_for(recorder, count, init, _named(loop.step, body))
    loop.saved = stacks[:len(carried)]
    operands = [*init, *xs, *loop.found.tensors.values()]
    if any(t.requires_grad for t in operands):
        autograd.record_region(operands, [*carried, *stacks], loop.rule)
    return carried, stacks[len(carried):]


class _Loop:
    """One loop on the tape: records the forward steps and, from what they were given, the steps back."""

    def __init__(self, recorder, count: Size, init: list[Tensor], xs: list[Tensor], body: Callable):
        self.recorder, self.count, self.init, self.xs, self.body = recorder, count, init, xs, Body(recorder, body)
        self.found = Found()
        self.saved: list[Tensor] = []

    def step(self, k, carried: Tensors):
        """A step forward, which also gives what it was given."""
        if any([*map(size_of, t.shape)] != [*map(size_of, start.shape)] for t, start in zip(carried, self.init)):
            self.recorder.refuse("a loop whose carried sizes change, where gradients are wanted",
                                 "what each step was given is kept for the gradient: carry a tensor of the final size, filled bit by bit with ops.where")
        with autograd.grad_mode(False):
            rows = _rows(self.xs, k)
        own = [*_leaves(carried), *_leaves(rows)]
        self.body.first = None  # the body is recorded again where what it carries has other types than at first
        results, ys = self.body.record(k, own[:len(carried)], own[len(carried):], own=own)
        self.found.note([*results, *ys], own)
        return results, [*carried, *ys]

    def rule(self, gradients, wanted):
        """The gradients of init, xs and what was found, from those of what is carried, of what was kept and of the ys."""
        carried = [i for i, t in enumerate(self.init) if dtypes.is_floating(t.dtype)]
        outputs = [i for i, g in enumerate(gradients) if i < len(self.init) or g is not None]
        split = len(self.init) + len(self.xs)
        chosen = _wanted(list(self.found.tensors.values()), wanted[split:])
        starts = [gradients[i] if gradients[i] is not None else zeros_like(self.init[i]) for i in carried]
        xs = [*self.saved, *self.xs, *(gradients[i] for i in outputs if i >= len(self.init))]
        back = _named(lambda k, values, rows: self._back(k, values, rows, carried, outputs, chosen), self.body.function)
        last, rows = for_(self.recorder, self.count, [*starts, *map(zeros_like, chosen)], xs, back, reverse=True)
        floating = [i for i, x in enumerate(self.xs) if dtypes.is_floating(x.dtype)]
        by_init, by_xs = dict(zip(carried, last)), dict(zip(floating, rows))
        return [*map(by_init.get, range(len(self.init))), *(by_xs[i][::-1] if i in by_xs else None for i in range(len(self.xs))),
                *_placed(last[len(carried):], wanted[split:])]

    def _back(self, k, values: Tensors, rows: Tensors, carried: list[int], outputs: list[int], chosen: Tensors):
        """A step back: the gradients of what the step was given from those of what it gave; sums for what was found."""
        create, since = autograd.grad_enabled(), autograd.next_order()
        count, inputs = len(self.init), len(self.init) + len(self.xs)
        with autograd.grad_mode(True):
            own = _starts(rows[:inputs], create)
            results, ys = self.body.record(_before(self.count, k), own[:count], own[count:], own=own)
        given = dict(zip(carried, values)) | dict(zip([i for i in outputs if i >= count], rows[inputs:]))
        by = [*(own[i] for i in carried), *(t for t in own[count:] if dtypes.is_floating(t.dtype)), *chosen]
        outs = [*results, *own[:count], *ys]
        found = _walked(outs, [given.get(i) for i in range(len(outs))], by, create, since)
        by_xs = len(by) - len(chosen)
        sums = [a + b for a, b in zip(values[len(carried):], found[by_xs:])]
        return [*found[:len(carried)], *sums], found[len(carried):by_xs]


def _before(count: Size, k: SymbolicInt):
    """The step that is k + 1 steps before the end."""
    return wrap(count - 1 - size_of(k), k.recorder)


def _leaves(tensors: Tensors) -> list[Tensor]:
    """The tensors as places of their own on the tape."""
    for tensor in tensors:
        tensor.requires_grad = dtypes.is_floating(tensor.dtype)
    return list(tensors)


def _starts(tensors: Tensors, connected: bool) -> list[Tensor]:
    """Places of their own on the tape, connected with the tensors when those are differentiated further."""
    from .ops.declared import ops
    from .ops.shape import sizes

    if connected:
        return [ops.reshape(t, shape=sizes(t)) for t in tensors]
    return _leaves(tensors)


def _rows(xs: Tensors, k) -> list[Tensor]:
    """x[k] of each, for a place that exists for certain."""
    from .ops.declared import ops
    from .ops.shape import sizes

    found = []
    for x in xs:
        shape = sizes(x)
        row = ops.slice(x, starts=(size_of(k),) + (0,) * (len(shape) - 1), shape=(1, *shape[1:]), steps=(1,) * len(shape))
        found.append(ops.reshape(row, shape=shape[1:]))
    return found


# Loops of unknown length.
def while_(recorder, init: Tensors, condition: Callable, body: Callable) -> list[Tensor]:
    """`regions.build_while`. How many steps there are is not known when memory for them would be needed: no gradient, which is said where
    one is wanted."""
    if not on_tape():
        return regions.build_while(recorder, init, condition, body)
    found, line = Found(), user_line()

    def step(carried):
        return found.note(body(_leaves(carried)), carried)

    results = regions.build_while(recorder, init, _untaped(condition), _named(step, body))
    depends = list(found.tensors.values()) + [t for t in init if t.requires_grad]
    return autograd.record_region(depends, results, lambda *_: _refuse(line)) if depends else results


def _untaped(condition: Callable) -> Callable:
    def call(carried):
        with autograd.grad_mode(False):
            return condition(carried)
    return call


def _refuse(line: UserLine):
    raise UnsupportedOpError(f"while_loop has no gradient: how many steps it makes is not known, at {line}\n"
                             "  use ops.fori_loop or ops.scan with a number of steps (and ops.where or ops.cond to do nothing in the last ones), "
                             "or detach() what goes in")
