"""From a program to an ONNX model: walks ``@main`` and calls the writers."""
from __future__ import annotations

import warnings
from collections import Counter
from typing import Callable

from mlir import ir

from ...errors import OnemlirError, UnsupportedOpError
from ..analysis import ShapeAnalysis
from ..bindings import location_text, module_path
from ..build import declaration_of, view
from ..declare import with_sizes
from ..program import entry_function, Program
from .graph import Graph, Model, Value
from .registry import HIGHEST_OPSET, LOWEST_OPSET, Unwritable, writer_for, WRITERS
from .serialize import model_proto
from .written_op import WrittenOp

DEFAULT_OPSET = 21
UPSTREAM: dict[str, Callable] = {}  # ops of other dialects: (exporter, graph, operation) -> values


def writes_upstream(*names: str) -> Callable:
    """Register how ops of another dialect, such as ``scf.if``, are written."""
    def register(function: Callable) -> Callable:
        UPSTREAM.update(dict.fromkeys(names, function))
        return function
    return register


def to_onnx(program: Program, opset: int | None = None, *, decompose: Callable | None = None, guards: str = "drop"):
    """The program as an ``onnx.ModelProto``, weights inside.

    opset: of ai.onnx, 18 to 24, 21 by default. decompose: a function ``(main, keep)`` that rewrites ops, except for the classes in
    `keep`, in terms of others; used on a copy for what has no writer. guards: "drop" leaves out run-time checks, which ONNX cannot
    say, with a warning; "error" refuses a program that has them. Raises UnsupportedOpError that lists all ops ONNX cannot say.
    """
    graph = build_graph(program, opset, decompose, guards)
    return model_proto(graph, program.weights)


def build_graph(program: Program, opset: int | None = None, decompose: Callable | None = None, guards: str = "drop") -> Graph:
    """The graph of a program, before weights are put in."""
    opset = check_opset(opset)
    if guards not in ("drop", "error"):
        raise OnemlirError(f"guards must be 'drop' or 'error', found {guards!r}")
    module, refused = program.module, set()
    for _ in range(8):
        exporter = Exporter(module, program, opset)
        graph = exporter.run()
        found = {problem.op for problem in exporter.problems} - {None}
        if not exporter.problems or decompose is None or found <= refused:
            break
        refused |= found
        module = _decomposed(module, decompose, {op for op in WRITERS if writer_for(op, opset)} - refused)
    exporter.report(guards)
    return graph


def check_opset(opset: int | None) -> int:
    """The opset to write. Raises for one that is not known."""
    opset = DEFAULT_OPSET if opset is None else opset
    if not LOWEST_OPSET <= opset <= HIGHEST_OPSET:
        raise OnemlirError(f"opset must be between {LOWEST_OPSET} and {HIGHEST_OPSET}, found {opset}")
    return opset


def _decomposed(module: ir.Module, decompose: Callable, keep: set) -> ir.Module:
    with module.context, ir.Location.unknown():
        copy = ir.Module.parse(str(module.operation.get_asm(enable_debug_info=True)))
        decompose(entry_function(copy), keep)
    return copy


class Problem:
    """An op that cannot be written, and why."""

    def __init__(self, operation: ir.Operation, op, reason: str):
        self.name, self.op, self.reason, self.place = operation.name, op, reason, location_text(operation.location)


class Exporter:
    """Writes one function. `values` maps tensors and indices of the function to values of the graph (indices may be ints)."""

    def __init__(self, module: ir.Module, program: Program, opset: int):
        self.module, self.program = module, program
        self.values: dict[ir.Value, object] = {}
        self.problems: list[Problem] = []
        self.guards: list[str] = []
        self.weights: dict[str, Value] = {}
        self.graph = Graph(Model(opset))

    def run(self) -> Graph:
        """The graph of ``@main``; what cannot be written is in `problems`."""
        function = entry_function(self.module)
        with self.module.context, ir.Location.unknown():
            self.analysis = ShapeAnalysis(function)
            block = function.regions[0].blocks[0]
            for spec, argument in zip(self.program.inputs, block.arguments):
                value = Value(self.graph, spec.name, type=spec.type, name=spec.name)
                self.graph.inputs.append(value)
                self.values[argument] = value
            results = self.block(self.graph, block)
            self._outputs(results)
        return self.graph

    def _outputs(self, results) -> None:
        taken = {value.name for value in self.graph.inputs}
        for spec, value in zip(self.program.outputs, results):
            value = self.graph.own(value)
            value.type, value.name = spec.type, spec.name
            if spec.name in taken:
                value.name = f"{spec.name}_output"
                warnings.warn(f"the output '{spec.name}' is written as '{value.name}': ONNX has one name for one value", stacklevel=4)
            self.graph.outputs.append(value)

    def block(self, graph: Graph, block: ir.Block) -> list:
        """Write a block whose arguments are bound; what its terminator gives."""
        for operation in block.operations:
            operation = operation.operation
            if operation.name in ("func.return", "scf.yield", "scf.condition"):
                return [self.values[v] for v in operation.operands]
            self.operation(graph, operation)
        return []

    def operation(self, graph: Graph, operation: ir.Operation) -> None:
        before, graph.path = graph.path, module_path(operation.location) or (graph.parent.path if graph.parent else "")
        declaration = declaration_of(operation)
        try:
            results = self._write(graph, operation, declaration)
        except Unwritable as error:
            self.problems.append(Problem(operation, declaration, str(error)))
            results = [Value(graph, "unwritable") for _ in operation.results]
        for result, value in zip(operation.results, results):
            self.values[result] = value
            if isinstance(value, Value) and isinstance(result.type, ir.RankedTensorType) and value.type is None:
                value.type = self.analysis.tensor(result)
        graph.path = before

    def _write(self, graph: Graph, operation: ir.Operation, declaration) -> list:
        if operation.name in UPSTREAM:
            return UPSTREAM[operation.name](self, graph, operation)
        writer = declaration and writer_for(declaration, graph.opset)
        if writer is None:
            raise Unwritable("ONNX has no such operator" if declaration is None or declaration not in WRITERS else
                             f"needs opset {WRITERS[declaration][0][0]}, found {graph.opset}")
        results = writer(graph, self.seen(operation))
        return list(results) if isinstance(results, tuple) else [results]

    def seen(self, operation: ir.Operation) -> WrittenOp:
        """An op as its writer sees it."""
        op = view(operation)
        attributes = with_sizes(op.declaration, dict(op.attributes), [self.values[v] for v in op.sizes])
        operands = [None if v is None else self.values[v] for v in op.operands]
        types = [self.analysis.tensor(v) for v in op.results if isinstance(v.type, ir.RankedTensorType)]
        return WrittenOp(op.declaration, operands, attributes, types)

    def report(self, guards: str) -> None:
        """Raise UnsupportedOpError for all problems at once; warn of the guards that were left out."""
        lines = _problem_lines(self.problems)
        if guards == "error":
            lines += [f"om.guard: ONNX has no run-time checks: {message}" for message in self.guards]
        if lines:
            raise UnsupportedOpError("the program cannot be written to ONNX:\n  " + "\n  ".join(lines))
        if self.guards:
            warnings.warn("run-time checks are left out, since ONNX has none:\n  " + "\n  ".join(self.guards), stacklevel=4)


def _problem_lines(problems: list[Problem]) -> list[str]:
    counts = Counter((p.name, p.reason) for p in problems)
    places = {(p.name, p.reason): p.place for p in reversed(problems)}
    return [f"{name} ({count}x{', first at ' + places[name, reason] if places[name, reason] else ''}): {reason}"
            for (name, reason), count in counts.items()]
