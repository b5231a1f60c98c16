"""Control flow on tensors: run as Python when eager, kept in the graph as `scf` when recorded.

The functions that are given see what is around them: tensors, parameters, sizes. What they take and give may be nested in tuples,
lists, dicts and dataclasses; Python scalars count as tensors.
"""
from __future__ import annotations

import builtins
from typing import Callable, Sequence

import numpy as np

from ...dialect import symbolic
from ...dialect.structure import flatten, rebuild
from ...errors import OnemlirError, ShapeError, TraceError
from ..dispatch import current_recorder
from ..locations import function_line, user_line
from ..symbolic_int import size_of
from ..tensor import Tensor
from .declared import as_tensor
from .joining import stack as _stack

__all__ = ["cond", "switch", "while_loop", "fori_loop", "scan", "map"]


def cond(pred, true_fn: Callable, false_fn: Callable, *operands):
    """``true_fn(*operands) if pred else false_fn(*operands)``, decided when the model runs.

    pred: one bool. Recorded, both functions are; they must give the same structure, shapes and dtypes (TraceError names both lines).
    Source: jax.lax.cond.
    """
    recorder = current_recorder()
    if recorder is None or not _is_recorded(pred):
        return (true_fn if bool(pred) else false_fn)(*operands)
    from ..region_gradients import if_

    sides = [_Side(f, operands) for f in (true_fn, false_fn)]
    results = if_(recorder, pred, *sides, agree=lambda: _same_structure(sides, "true_fn and false_fn"))
    return rebuild(sides[0].structure, results)


def switch(index, branches: Sequence[Callable], *operands):
    """``branches[index](*operands)``, decided when the model runs; an index out of range is clamped.

    index: one integer. Recorded, all branches are, with equal structures, shapes and dtypes. Source: jax.lax.switch.
    """
    branches = list(branches)
    if not branches:
        raise OnemlirError("switch needs at least one branch")
    if current_recorder() is None or not _is_recorded(index):
        return branches[min(max(int(index), 0), len(branches) - 1)](*operands)
    index = as_tensor(index)
    if len(branches) == 1:
        return branches[0](*operands)
    return cond(index <= 0, branches[0], lambda *values: switch(index - 1, branches[1:], *values), *operands)


def while_loop(cond_fn: Callable, body_fn: Callable, init):
    """``while cond_fn(*carried): carried = body_fn(*carried)``, starting with `init`; what is carried at the end.

    init: a tensor, or a tuple or list of them (and of containers), whose items are the arguments. The body keeps structure, dtypes and
    ranks; sizes may change from step to step. Source: jax.lax.while_loop, with torch's separate arguments.
    """
    several = isinstance(init, (tuple, list))
    call = (lambda f, value: f(*value)) if several else (lambda f, value: f(value))
    recorder = current_recorder()
    if recorder is None:
        while bool(call(cond_fn, init)):
            init = call(body_fn, init)
            init = tuple(init) if isinstance(init, list) else init
        return init
    from ..region_gradients import while_

    state = _Carried(init)
    results = while_(recorder, state.tensors, lambda values: as_tensor(call(cond_fn, state.unpack(values))),
                     state.named(body_fn, lambda values: state.pack(call(body_fn, state.unpack(values)), body_fn)))
    return state.unpack(results)


def fori_loop(lower, upper, body_fn: Callable, init):
    """``for i in range(lower, upper): carried = body_fn(i, carried)``, starting with `init`; what is carried at the end.

    lower, upper: ints, sizes, or integer tensors of one element. i: an i64 tensor. Source: jax.lax.fori_loop.
    """
    recorder = current_recorder()
    if recorder is None:
        for i in range(int(lower), int(upper)):
            init = body_fn(Tensor(i), init)
        return init
    from ..region_gradients import for_
    from ..regions import size_of_tensor

    if size_of(lower) is not None and size_of(upper) is not None:
        count = symbolic.maximum(size_of(upper) - size_of(lower), 0)
    else:
        count = size_of_tensor(recorder, as_tensor(upper) - as_tensor(lower), "steps")
    state = _Carried(init)
    step = lambda k, values, _: (state.pack(body_fn(_index(lower, k), state.unpack(values)), body_fn), ())
    return state.unpack(for_(recorder, count, state.tensors, (), state.named(body_fn, step))[0])


def _index(lower, k) -> Tensor:
    return as_tensor(k) if isinstance(lower, int) and lower == 0 else as_tensor(k) + as_tensor(lower)


def scan(f: Callable, init, xs, length=None, reverse: bool = False):
    """``carry, y = f(carry, x)`` for each x along the first axis of `xs`; the last carry, and the ys stacked along a new first axis.

    xs: tensors (nested in containers) of one leading size, or None with `length`. reverse: from the last x to the first. The carry
    keeps structure, dtypes and ranks; the shape of y does not depend on the step. Source: jax.lax.scan.
    """
    leaves: list = []
    structure = flatten(xs, _is_leaf, leaves)
    rows = [as_tensor(x) for _, x in leaves]
    count = _length(rows, length)
    at = lambda k: rebuild(structure, [x[k] for x in rows])
    recorder = current_recorder()
    if recorder is None:
        return _scan_eagerly(f, init, at, rows, structure, count, reverse)
    from ..region_gradients import for_

    state, ys = _Carried(init), _Side(None, ())

    def step(k, values, items):
        carry, y = _pair(f, f(state.unpack(values), rebuild(structure, items)))
        return state.pack(carry, f), ys.take(y)

    carried, stacked = for_(recorder, size_of(count), state.tensors, rows, state.named(f, step), reverse)
    return state.unpack(carried), rebuild(ys.structure, [x[::-1] if reverse else x for x in stacked])


def _pair(f: Callable, result):
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise OnemlirError(f"the function of a scan must give (carry, y), found {type(result).__name__}, at {function_line(f)}")
    return result


def _length(rows: Sequence[Tensor], length):
    sizes = [x.shape[0] if x.ndim else None for x in rows] + ([] if length is None else [length])
    if not sizes or None in [None if s is None else 0 for s in sizes]:
        raise ShapeError(f"scan needs tensors with a leading axis, or a length, at {user_line()}")
    for size in sizes[1:]:
        if size_of(size) != size_of(sizes[0]):
            raise ShapeError(f"scan: the leading sizes differ: {sizes[0]} and {size}, at {user_line()}")
    return sizes[0]


def _scan_eagerly(f, carry, at, rows, structure, count: int, reverse: bool):
    ys: list[list] = []
    form = None
    for k in reversed(range(count)) if reverse else range(count):
        carry, y = _pair(f, f(carry, at(k)))
        leaves: list = []
        form = flatten(y, _is_leaf, leaves)
        ys.append([as_tensor(leaf) for _, leaf in leaves])
    if count:
        ys = ys[::-1] if reverse else ys
        return carry, rebuild(form, [_stack(column) for column in zip(*ys)])
    zero = rebuild(structure, [Tensor(np.zeros(x.shape[1:], x.dtype)) for x in rows])
    leaves = []
    form = flatten(_pair(f, f(carry, zero))[1], _is_leaf, leaves)  # a step on zeros tells the shapes
    return carry, rebuild(form, [Tensor(np.zeros((0, *as_tensor(y).shape), as_tensor(y).dtype)) for _, y in leaves])


def map(f: Callable, xs):
    """f of each x along the first axis of `xs`, the results stacked: a `scan` that carries nothing. Source: jax.lax.map."""
    def step(carry, x):
        return carry, f(x)

    step.__wrapped__ = f
    return scan(step, (), xs)[1]


# Structures.
def _is_leaf(value) -> bool:
    return isinstance(value, (Tensor, np.ndarray, np.generic, bool, int, float)) or size_of(value) is not None


def _is_recorded(value) -> bool:
    return isinstance(value, Tensor) and value.is_recorded


class _Side:
    """A function whose results are flattened; the structure is kept from call to call."""

    def __init__(self, function: Callable | None, operands: Sequence):
        self.function, self.operands = function, operands
        self.structure = None
        self.__wrapped__ = function

    def __call__(self) -> list[Tensor]:
        return self.take(self.function(*self.operands))

    def take(self, value) -> list[Tensor]:
        leaves: list = []
        self.structure = flatten(value, _is_leaf, leaves)
        return [as_tensor(leaf) for _, leaf in leaves]


def _same_structure(sides: Sequence[_Side], what: str) -> None:
    first, second = (s.structure for s in sides)
    if first != second:
        lines = " and ".join(str(function_line(s.function)) for s in sides)
        raise TraceError(f"{what} give results of different structure: {first} and {second}, at {lines}")


class _Carried:
    """The tensors of what a loop carries, and its structure."""

    def __init__(self, init):
        leaves: list = []
        self.structure = flatten(init, _is_leaf, leaves)
        self.tensors = [as_tensor(leaf) for _, leaf in leaves]

    def unpack(self, tensors: Sequence[Tensor]):
        return rebuild(self.structure, list(tensors))

    def pack(self, value, function: Callable) -> list[Tensor]:
        leaves: list = []
        found = flatten(value, _is_leaf, leaves)
        if _shape_of(found) != _shape_of(self.structure):
            raise TraceError(f"the body gives another structure than the loop carries: {found} from {function_line(function)}\n"
                             f"  but {self.structure} at {user_line()}")
        return [as_tensor(leaf) for _, leaf in leaves]

    def named(self, function: Callable, step: Callable) -> Callable:
        """The step, which error messages know by the line of the user's function."""
        def call(*args):
            return step(*args)

        call.__wrapped__ = function
        return call


def _shape_of(structure):
    """A structure in which lists count as tuples."""
    if isinstance(structure, dict):
        return {("tuple" if k == "list" else k): _shape_of(v) for k, v in structure.items()}
    return [*builtins.map(_shape_of, structure)] if isinstance(structure, list) else structure


