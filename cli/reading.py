"""The om dialect in a short form for reading: ops without types and brackets, the module path as a comment where it changes.

    # layers.0
    %3 = linear(%input, layers.0.weight, layers.0.bias)          # batch x 8 float32

`onemlir show --short` prints it. It does not parse; `onemlir show` prints the IR itself.
"""
from __future__ import annotations

import inspect

from mlir import ir

from ..dialect.analysis import ShapeAnalysis
from ..dialect.bindings import module_path
from ..dialect.build import OpView, view
from ..dialect.program import Program

WIDTH = 72
LONGEST = 8  # elements of a literal that are printed


def short_form(program: Program) -> str:
    """The entry function, an op a line."""
    return "\n".join(_Reader(program).lines)


class _Reader:
    def __init__(self, program: Program):
        self.lines: list[str] = []
        self.names: dict[ir.Value, str] = {}
        self.path = ""
        function = program.main
        with program.context:
            self.analysis = ShapeAnalysis(function)
            block = function.regions[0].blocks[0]
            for argument, spec in zip(block.arguments, program.inputs):
                self.names[argument] = f"%{spec.name}"
                self._line(0, f"input %{spec.name}", self._type(argument))
            self._block(block, 0)

    def _line(self, indent: int, text: str, note: str = "") -> None:
        text = "  " * indent + text
        self.lines.append(f"{text:<{WIDTH}} # {note}" if note else text)

    def _type(self, value: ir.Value) -> str:
        if not isinstance(value.type, ir.RankedTensorType):
            return str(value.type)
        type_ = self.analysis.tensor(value)
        return " x ".join(map(str, type_.shape)) + f" {type_.dtype.name}" if type_.shape else type_.dtype.name

    def _name(self, value: ir.Value) -> str:
        if value in self.analysis.sizes:
            return str(self.analysis.sizes[value])
        return self.names.setdefault(value, f"%{len(self.names)}")

    def _block(self, block: ir.Block, indent: int) -> None:
        for operation in block.operations:
            self._operation(operation.operation, indent)

    def _operation(self, operation: ir.Operation, indent: int) -> None:
        name = operation.name
        if name == "om.parameter":
            self.names[operation.results[0]] = ir.StringAttr(operation.attributes["name"]).value
            return
        if operation.results and all(isinstance(r.type, ir.IndexType) for r in operation.results) and name != "om.to_size":
            return  # sizes stand where they are used
        path = module_path(operation.location)
        if path != self.path:
            self.path = path
            self._line(indent, f"# {path or 'outside of modules'}")
        words = self._words(operation)
        if name in ("func.return", "scf.yield", "scf.condition"):
            self._line(indent, words)
            return
        results = ", ".join(self._name(r) for r in operation.results)
        self._line(indent, f"{results} = {words}" if results else words, "; ".join(self._type(r) for r in operation.results))
        for region in operation.regions:
            for inner in region.blocks:
                self._block(inner, indent + 1)

    def _words(self, operation: ir.Operation) -> str:
        op = view(operation)
        if op is None:
            return f"{operation.name.rpartition('.')[2]}({', '.join(self._name(v) for v in operation.operands)})"
        if op.declaration.opname == "constant":
            return _literal(op.attributes["value"])
        operands = [self._name(v) for v in op.operands if v is not None]
        return f"{op.declaration.opname}({', '.join([*operands, *self._attributes(op)])})"

    def _attributes(self, op: OpView) -> list[str]:
        """Attributes that are not at their default."""
        values = self.analysis.attributes_of(op)
        differs = lambda a: a.default is inspect.Parameter.empty or values[a.name] != a.default
        changed = [(a, values[a.name]) for a in op.declaration.attributes if differs(a)]
        return [f"{a.name}={_attribute(value)}" for a, value in changed]


def _attribute(value) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(map(str, value)) + ("," if len(value) == 1 else "") + ")"
    return value.name if hasattr(value, "name") and hasattr(value, "itemsize") else repr(value)


def _literal(array) -> str:
    return str(array.tolist()) if array.size <= LONGEST else f"literal({'x'.join(map(str, array.shape))} {array.dtype.name})"
