"""The three rules for reading a recorded value or size: refuse, freeze, guard."""
from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import lcm
from typing import Callable

import numpy as np
from mlir import ir

from ..dialect import dtypes, symbolic
from ..dialect.graph import Node, plain_symbol
from ..dialect.shapes import size_policy, SizePolicy
from ..dialect.symbolic import Call, Dim
from ..errors import FrozenValueWarning, TraceError
from .expressions import expression
from .intervals import known_element
from .locations import user_line, UserLine
from .size_rules import condition_text, condition_words, literal
from .tensor import Tensor

RULES = ("error", "freeze", "guard")
TOLERANCE = {dtypes.float64: 1e-12, dtypes.float32: 1e-5, dtypes.float16: 1e-2, dtypes.bfloat16: 5e-2}
LOOPS = ("iteration", "len", "index", "range")


@dataclass(frozen=True)
class Answer:
    """What a read of the program was answered, for repeats."""

    what: str
    line: UserLine
    value: object


class Answers:
    """The answers of a recording in order; a repeat gets those of the first one."""

    def __init__(self, replay: "Answers | None" = None):
        self.given: list[Answer] = []
        self.replay = None if replay is None else iter(replay.given)

    def add(self, what: str, value):
        self.given.append(Answer(what, user_line(), value))
        return value

    def next(self, what: str):
        """The answer that the first recording gave. TraceError when it read something else here."""
        found = next(self.replay, None)
        line = user_line()
        if found is None or (found.what, found.line) != (what, line):
            earlier = "no value" if found is None else f"{found.what} at {found.line}"
            raise TraceError(f"recorded a second time, the program reads {what} at {line}\n  where it read {earlier} the first time: "
                             "it depends on something besides its inputs")
        return self.add(what, found.value)


def advice_for(what: str) -> str:
    """What to do instead of reading."""
    if what in ("bool", "=="):
        graph = "keep the decision in the graph (ops.where for elements, ops.cond for a branch, ops.while_loop for a loop)"
    elif what in LOOPS:
        graph = "keep the loop in the graph (ops.scan or ops.map over an axis, ops.fori_loop over a range; ops.gather to index by a tensor)"
    else:
        graph = "compute with tensors and ops.* instead (ops.where, ops.cond and ops.while_loop decide in the graph)"
    return f"{graph}, or use on_read='guard' to check the value on every run, or on_read='freeze'"


def from_weights_alone(value) -> bool:
    """Whether a value depends on weights and literals only, through ops without regions."""
    pending, seen = [value], set()
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        if isinstance(current.owner, ir.Block) or len(current.owner.operation.regions):
            return False
        pending.extend(current.owner.operation.operands)
    return True


def size_advice(what: str) -> str:
    """The same for a size."""
    return ("ops.sym_min and ops.sym_max keep a size symbolic; " if what in ("<", ">", "<=", ">=") else "") + advice_for(what)


def range_advice(kind: str, left, right) -> str:
    """The axis's range in which a condition on it always holds, where it is one on the plain size."""
    if kind == "ne" and right == 1 and plain_symbol(left) is not None:
        return f"om.Axis('{left}', min=2) says that it is never 1 (nor 0), which decides this. "
    if kind == "le" and plain_symbol(right) is not None and isinstance(left, int):
        return f"om.Axis('{right}', min={left}) decides this. "
    if kind == "le" and plain_symbol(left) is not None and isinstance(right, int):
        return f"om.Axis('{left}', max={right}) decides this. "
    return multiple_advice(kind, left, right)


def multiple_advice(kind: str, left, right) -> str:
    """The multiple of an axis for which a condition on its quotients is decided."""
    condition = symbolic.less_equal if kind == "le" else symbolic.equal
    for axis in sorted(symbolic.symbols_of(left) | symbolic.symbols_of(right)):
        multiple = lcm(*divisors(left, axis), *divisors(right, axis))
        multiple = lcm(multiple, axis.multiple_of)
        better = Dim.symbol(axis.name, minimum=axis.minimum, maximum=axis.maximum, multiple_of=multiple)
        if 1 < multiple <= 4096 and not axis.anonymous and condition(*(symbolic.substitute(s, {axis.name: better}) for s in (left, right))) is not None:
            return f"om.Axis('{axis}', multiple_of={multiple}) decides this. "
    return ""


def divisors(size, axis) -> list[int]:
    """What an axis is divided by in a size."""
    calls = [] if isinstance(size, int) else [a for m in size.terms for a in m if isinstance(a, Call)]
    inner = [d for c in calls for part in (c.left, c.right) for d in divisors(part, axis)]
    return inner + [c.right for c in calls if c.function == "floordiv" and isinstance(c.right, int) and c.right > 0 and axis in symbolic.symbols_of(c.left)]


# Values.
def read_value(recorder, tensor: Tensor, what: str) -> np.ndarray:
    """The example's value of a recorded tensor, frozen or guarded. TraceError by default, and in the body of control flow."""
    node = recorder._as_node(tensor)
    if recorder.defined_inside(node):
        recorder.refuse(f"{what} of a tensor in the body of control flow",
                        "the body runs when the model runs: decide with ops.where, ops.cond or ops.while_loop")
    text = expression(recorder, node.value)
    if from_weights_alone(node.value):  # the same in every run of these weights
        recorder.assume("weights", what, text)
        return example_value(recorder, node)
    known = known_element(recorder, node)
    if known is not None:
        return known
    if recorder.on_read == "error":
        recorder.refuse(f"{what} of a recorded tensor ({text}, {node.type})", f"its value in another run may be another: {advice_for(what)}")
    for size in node.shape:
        if isinstance(size, Dim):  # an array is read with its sizes
            read_size(recorder, what, lambda size=size: recorder.example_size(size), lambda value, size=size: ("eq", size, value))
    if recorder.answers.replay is not None:
        value = recorder.answers.next(what)
    else:
        value = recorder.answers.add(what, example_value(recorder, node))
    shown = f"{what}({text}) is {_shown(what, value)}"
    if recorder.on_read == "guard":
        recorder.assume("guarded value", what, shown)
        _guard(recorder, node, value, what, text)
    else:
        recorder.assume("frozen value", what, shown)
        warn_frozen(recorder, shown)
    return value


def example_value(recorder, node: Node) -> np.ndarray:
    """The value of a recorded tensor for the example."""
    with size_policy(SizePolicy()):
        return np.array(recorder.interpreter().value(node.value))


def _shown(what: str, value: np.ndarray) -> str:
    if what == "bool":
        return str(bool(value.reshape(())))
    return np.array2string(value, threshold=8, separator=", ").replace("\n", "")


def _guard(recorder, node: Node, value: np.ndarray, what: str, text: str) -> None:
    predicate, found, expected, words = _predicate(recorder, node, value, what)
    recorder.call("guard", predicate, found, expected, kind="GuardError",
                  message=literal(f"the recording assumes that {what}({text}) is {_shown(what, value)}; ") + words + literal(f", at {user_line()}"))


def _predicate(recorder, node: Node, value: np.ndarray, what: str):
    """Whether the value is that of the example, what was found and expected as integers or floats, and the words for them."""
    if what == "bool":
        found = recorder.call("reshape", recorder.cast(node, dtypes.bool_), shape=())
        held = found if value.reshape(()) else recorder.call("logical_not", found)
        return held, found, recorder.scalar(bool(value.reshape(())), dtypes.bool_), "found {found:bool}, expected {expected:bool}"
    if value.size != 1:
        return _array_predicate(recorder, node, value)
    node = recorder.call("reshape", node, shape=())
    value = value.reshape(())
    if what in ("int", "index") and dtypes.is_floating(value.dtype):
        node, value = recorder.cast(recorder.call("trunc", node), dtypes.int64), np.array(int(value))
    return _same(recorder, node, value), node, recorder.constant(value), _words(value.dtype)


def _words(dtype: np.dtype) -> str:
    spec = "f64" if dtypes.is_floating(dtype) else "bool" if dtype == dtypes.bool_ else "d"
    return f"found {{found:{spec}}}, expected {{expected:{spec}}}"


def _array_predicate(recorder, node: Node, value: np.ndarray):
    """The same for an array: what is found and expected is its first element that differs."""
    if not value.size:
        return recorder.scalar(True, dtypes.bool_), None, None, ""
    same = recorder.call("reshape", _same(recorder, node, value), shape=(value.size,))
    differs = recorder.cast(recorder.call("logical_not", same), dtypes.int64)
    first = recorder.call("argmax", differs, axis=0)
    element = lambda x: recorder.call("reshape", recorder.call("gather", recorder.call("reshape", x, shape=(value.size,)), first), shape=())
    found, expected = element(node), element(recorder.lift(Tensor._wrap(value)))
    holds = recorder.call("equal", recorder.call("sum", differs), 0)
    return holds, found, expected, "in its first element that differs " + _words(value.dtype)


def _same(recorder, node: Node, value: np.ndarray) -> Node:
    """Elementwise: equal; for floats as near as rounding in another order may bring them, NaN equal to NaN."""
    other = recorder.lift(Tensor._wrap(value))
    same = recorder.call("equal", node, other)
    if not dtypes.is_floating(value.dtype):
        return same
    distance = recorder.call("abs", node - other)
    near = recorder.call("less_equal", distance, recorder.call("abs", other) * TOLERANCE[value.dtype])
    finite = recorder.call("isfinite", other)
    both_nan = recorder.call("logical_and", recorder.call("isnan", node), recorder.call("isnan", other))
    return recorder.call("logical_or", recorder.call("logical_or", same, recorder.call("logical_and", near, finite)), both_nan)


def warn_frozen(recorder, text: str) -> None:
    """One FrozenValueWarning per line of the user's program."""
    line = user_line()
    if recorder.answers.replay is None and (line.filename, line.line) not in recorder.warned:
        recorder.warned.add((line.filename, line.line))
        warnings.warn(f"{line}\n  {text} in the example, and is taken as constant", FrozenValueWarning, stacklevel=2)


# Sizes.
def read_size(recorder, what: str, answer: Callable, condition: Callable):
    """The rule for deciding on, or converting, a symbolic size.

    `answer()` looks at the example; `condition(answer)` gives the (kind, left, right) that holds with that answer.
    """
    if recorder.on_read == "error":
        condition_now = condition(answer())
        recorder.refuse(f"{what} of the symbolic size {next(size for size in condition_now[1:] if isinstance(size, Dim))}",
                        f"in the example {condition_text(*condition_now)}; the recording would be right for such sizes alone: {size_advice(what)}. "
                        f"{range_advice(*condition_now)}An axis without a name has a fixed size")
    replayed = recorder.answers.replay is not None
    value = recorder.answers.next(f"{what} of a size") if replayed else recorder.answers.add(f"{what} of a size", answer())
    kind, left, right = condition(value)
    text = condition_text(kind, left, right)
    if kind == "eq" and isinstance(right, int) and plain_symbol(left) is not None:
        recorder.facts[str(left)] = right
    if recorder.on_read == "guard":
        recorder.assume("guarded size", text, text)
        words = condition_words(kind, left, right)
        recorder.guard_size(kind, left, right, literal(f"the recording assumes {text}; ") + words + literal(f", at {user_line()}"))
    else:
        recorder.assume("frozen size", text, text)
        warn_frozen(recorder, text)
    return value
