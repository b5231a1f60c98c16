"""Rewrite patterns on the om dialect, and the driver that applies them.

    @rewrites(Transpose)
    def double_transpose(op, rewriter):
        inner = rewriter.producer(op.operand("x"), Transpose)
        if inner is None:
            return None
        ...
        return value                                   # stands for the op's result from now on

A pattern gets the op seen through its declaration and returns None where it does not apply, else a value or node (a tuple for several
results). `rewriter.ops` adds ops before this one: ``rewriter.ops.exp(rewriter.node(value))``.
"""
from __future__ import annotations

from typing import Callable

from mlir import ir
from mlir.dialects import tensor

from ...dialect.analysis import ShapeAnalysis
from ...dialect.build import OpView, view
from ...dialect.declare import Op
from ...dialect.graph import Node
from ...errors import CompileError
from .decompose import builder_for
from .effects import functions

PATTERNS: dict[type[Op], list[Callable]] = {}
MOST_ROUNDS = 100


def rewrites(*ops: type[Op]) -> Callable:
    """Register a pattern for one or several ops; it takes part in `om-simplify`."""
    def register(function: Callable) -> Callable:
        for op in ops:
            PATTERNS.setdefault(op, []).append(function)
        return function
    return register


class Rewriter:
    """What a pattern may ask and build. Symbolic types are computed when one is asked for."""

    def __init__(self, function: ir.Operation):
        self._function, self._analysis, self._builder = function, None, None

    def producer(self, value: ir.Value | None, *ops: type[Op]) -> OpView | None:
        """The op that makes a value, seen through its declaration, if it is one of `ops` (or any, when none is named)."""
        if value is None or isinstance(value.owner, ir.Block):
            return None
        found = view(value.owner)
        return found if found is not None and (not ops or found.declaration in ops) else None

    def single_use(self, value: ir.Value) -> bool:
        """Whether a value is used once."""
        return sum(1 for _ in value.uses) == 1

    def node(self, value: ir.Value) -> Node:
        """A value as a node, with its symbolic type and numpy's operators."""
        self._analyse()
        return self._builder.node(value, self._analysis.tensor(value))

    @property
    def ops(self):
        """The ops of the dialect as functions of nodes."""
        self._analyse()
        return self._builder.ops

    def call(self, name: str, *operands: Node, **attributes):
        """Add an op by its whole name, such as ``mine.op``."""
        self._analyse()
        return self._builder.call(name, *operands, **attributes)

    def _analyse(self) -> None:
        if self._analysis is None:
            self._analysis = ShapeAnalysis(self._function)
            self._builder = builder_for(self._analysis)

    def keep_type(self, old: ir.Value, new: ir.Value) -> None:
        """Let a value have the symbolic type of the one it stands for."""
        if self._analysis is not None and old in self._analysis.tensors:
            self._analysis.tensors[new] = self._analysis.tensors[old]

    def forget(self) -> None:
        """Drop what was computed about the function; it changes."""
        self._analysis = self._builder = None


def apply_patterns(module: ir.Module, patterns: dict[type[Op], list[Callable]] | None = None, apart: bool = False) -> bool:
    """Apply patterns (all registered ones by default) until none applies; whether any did. CompileError when they never come to rest.

    Patterns that work `apart` from each other build on nothing that another one of their round has built, and do not count uses of what
    they replace: a function's shapes are then computed once a round, and what was replaced goes at its end.
    """
    return any([_function(function, PATTERNS if patterns is None else patterns, apart) for function in functions(module)])


def _function(function: ir.Operation, patterns, apart: bool) -> bool:
    rewriter = Rewriter(function)
    for round in range(MOST_ROUNDS):
        replaced = [op for op in _candidates(function, patterns) if _rewrite(op, patterns, rewriter, apart)]
        if apart:
            for operation in reversed(replaced):
                operation.erase()
            rewriter.forget()
        if not replaced:
            return round > 0
    raise CompileError(f"the patterns still change the function after {MOST_ROUNDS} rounds: one undoes what another does")


def _candidates(function: ir.Operation, patterns) -> list[OpView]:
    found = []

    def visit(operation):
        op = view(operation)
        if op is not None and op.declaration in patterns:
            found.append(operation.operation)
        return ir.WalkResult.ADVANCE

    function.walk(visit)
    return found


def _rewrite(operation: ir.Operation, patterns, rewriter: Rewriter, apart: bool) -> bool:
    op = view(operation)
    for pattern in patterns[op.declaration]:
        with ir.InsertionPoint(operation), operation.location:
            found = pattern(op, rewriter)
            if found is None:
                continue
            for old, new in zip(op.results, found if isinstance(found, tuple) else (found,)):
                value = new.value if isinstance(new, Node) else new
                value = value if value.type == old.type else tensor.CastOp(old.type, value).result
                rewriter.keep_type(old, value)
                old.replace_all_uses_with(value)
        del op
        if not apart:
            rewriter.forget()
            operation.erase()
        return True
    return False
