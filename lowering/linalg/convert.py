"""`om-to-linalg`: rebuild the entry function with linalg on tensors.

Arguments of the new @main: the inputs, one per distinct parameter, then the status cell. The messages of checks go into the module
attribute `om.messages`, the names of the parameters into each argument's `om.name`. Results have the types that `declare_results` noted.
"""
from __future__ import annotations

from contextlib import contextmanager
from functools import partial

from mlir import ir
from mlir.dialects import func, tensor

from ...dialect import dtypes
from ...dialect.analysis import ShapeAnalysis
from ...dialect.bindings import Diagnostic, location_text
from ...dialect.build import view
from ...dialect.program import entry_function
from ...dialect.shapes import TensorType
from ...dialect.symbolic import symbols_of
from ...errors import UnsupportedOpError
from ..buffers.functions import DATA_DEPENDENT, FITTED, with_attribute
from . import LOWERINGS
from .control_flow import CONTROL_FLOW
from .builder import LinalgBuilder
from .registry import LoweredOp, TensorValue


def to_linalg(module: ir.Module) -> None:
    """Replace @main by its linalg form. UnsupportedOpError lists all ops without a lowering."""
    old = entry_function(module)
    with module.context, ir.Location.unknown():
        analysis = ShapeAnalysis(old)
        refuse_unknown(old)
        old.attributes["sym_name"] = ir.StringAttr.get("main_om")
        Converter(module, old, analysis).run()
        old.erase()


def declare_results(module: ir.Module) -> None:
    """Note on @main the sizes of its results and which are data-dependent, before passes that learn more of the shapes: callers pass, and
    ask for, sizes by the program as it is now."""
    function = entry_function(module)
    block = function.regions[0].blocks[0]
    returned = list(block.operations[len(block.operations) - 1].operands)
    if all(ir.RankedTensorType(v.type).has_static_shape for v in returned):
        return
    with module.context:
        analysis = ShapeAnalysis(function)
        given = function.attributes["res_attrs"] if "res_attrs" in function.attributes else [ir.DictAttr.get({})] * len(returned)
        function.attributes["res_attrs"] = ir.ArrayAttr.get(
            [with_attribute(attributes, DECLARED, _declared(analysis, value, block)) for attributes, value in zip(given, returned)])


DECLARED = "om.declared"


def _declared(analysis: ShapeAnalysis, value: ir.Value, block: ir.Block) -> ir.Attribute:
    """Sizes as integers and, where they are symbolic, as text; an attribute without entries for a data-dependent result."""
    type = analysis.tensor(value)
    if is_data_dependent(analysis, type, block):
        return ir.ArrayAttr.get([])
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.IntegerAttr.get(i64, s) if isinstance(s, int) else ir.StringAttr.get(str(s)) for s in type.shape])


def is_data_dependent(analysis: ShapeAnalysis, type: TensorType, block: ir.Block) -> bool:
    """Whether a result has an axis which no input has: only compiled code can tell its size."""
    known = {s.name for a in block.arguments for size in analysis.tensor(a).shape for s in symbols_of(size)}
    return any(s.name not in known for size in type.shape for s in symbols_of(size))


def refuse_unknown(function: ir.Operation) -> None:
    missing: dict[str, list[ir.Location]] = {}

    def visit(operation):
        op = view(operation)
        special = op is not None and (op.declaration.typed_by_ir or op.declaration.index_operands or op.declaration.opname == "guard")
        if op is not None and not special and op.declaration not in LOWERINGS:
            missing.setdefault(operation.name, []).append(operation.location)
        return ir.WalkResult.ADVANCE

    function.walk(visit)
    if missing:
        lines = [Diagnostic(location_text(places[0]), f"no lowering for {name} ({len(places)} times)") for name, places in sorted(missing.items())]
        raise UnsupportedOpError("\n".join(map(str, lines)))


class Converter:
    """Walks the old function in order and builds the new one."""

    def __init__(self, module: ir.Module, old: ir.Operation, analysis: ShapeAnalysis):
        self.module, self.old, self.analysis = module, old, analysis
        self.tensors: dict[ir.Value, TensorValue] = {}
        self.sizes: dict[ir.Value, ir.Value] = {}
        self.parameters: dict[str, ir.Value] = {}

    def run(self) -> None:
        block = self.old.regions[0].blocks[0]
        with ir.InsertionPoint(self.old):
            function = func.FuncOp("main", ir.FunctionType.get([], []))
        self.entry = function.add_entry_block()
        arguments = [self.signless(self.analysis.tensor(a)) for a in block.arguments]
        roles = []
        for argument, type in zip(block.arguments, arguments):
            self.bind(argument, self.entry.add_argument(type, argument.location))
            roles.append(self._role("input", None))
        for name, type in self._parameters():
            self.parameters[name] = self.entry.add_argument(self.signless(type), ir.Location.unknown())
            roles.append(self._role("parameter", name))
        status = self.entry.add_argument(ir.MemRefType.get([4], ir.IntegerType.get_signless(64)), ir.Location.unknown())
        roles.append(self._role("status", None))
        self.build = LinalgBuilder(status)
        for value in self.tensors.values():
            self.build.learn_axes(value.value, value.type)
        with ir.InsertionPoint(self.entry):
            results = [Returned(self, *pair, block) for pair in zip(self.block(block), self._result_attributes(block))]
            func.ReturnOp([r.value for r in results])
        operation = function.operation
        types = ir.FunctionType.get([a.type for a in self.entry.arguments], [r.value.type for r in results])
        operation.attributes["function_type"] = ir.TypeAttr.get(types)
        operation.attributes["arg_attrs"] = ir.ArrayAttr.get(roles)
        operation.attributes["res_attrs"] = ir.ArrayAttr.get([r.attributes for r in results])
        messages = [ir.ArrayAttr.get([ir.StringAttr.get(kind), ir.StringAttr.get(text)]) for kind, text in self.build.messages]
        self.module.operation.attributes["om.messages"] = ir.ArrayAttr.get(messages)

    def _result_attributes(self, block: ir.Block) -> list:
        count = len(block.operations[len(block.operations) - 1].operands)
        return list(self.old.attributes["res_attrs"]) if "res_attrs" in self.old.attributes else [ir.DictAttr.get({})] * count

    def _role(self, role: str, name: str | None) -> ir.Attribute:
        attributes = {"om.role": ir.StringAttr.get(role)}
        if name is not None:
            attributes["om.name"] = ir.StringAttr.get(name)
        return ir.DictAttr.get(attributes)

    def signless(self, type: TensorType) -> ir.Type:
        from .builder import element_type

        shape = [s if isinstance(s, int) else ir.ShapedType.get_dynamic_size() for s in type.shape]
        return ir.RankedTensorType.get(shape, element_type(type.dtype))

    def _parameters(self) -> list[tuple[str, TensorType]]:
        """Names and types of all parameters, each once, in the order of their first use."""
        found: dict[str, TensorType] = {}

        def visit(operation):
            if operation.name == "om.parameter":
                found.setdefault(ir.StringAttr(operation.attributes["name"]).value, self.analysis.tensor(operation.results[0]))
            return ir.WalkResult.ADVANCE

        self.old.walk(visit)
        return list(found.items())

    def bind(self, old: ir.Value, new: ir.Value, constant: bool = False, literal=None) -> TensorValue:
        """Let a new value stand for an old one."""
        value = TensorValue(new, self.analysis.tensor(old), constant, literal)
        self.tensors[old] = value
        if hasattr(self, "build"):
            self.build.learn_axes(new, value.type)
        return value

    def tensor_type(self, value: ir.Value) -> ir.Type:
        """The type that a value of the old function has in the new one."""
        return self.signless(self.analysis.tensor(value))

    @contextmanager
    def scope(self):
        """What is learned inside about axes is forgotten at the end: values of a region cannot be used outside."""
        before = dict(self.build.origins)
        try:
            yield
        finally:
            self.build.origins = before

    def block(self, block: ir.Block) -> list[TensorValue]:
        """Lower the ops of a block at the insertion point; gives the operands of its terminator."""
        for operation in block.operations:
            operation = operation.operation
            if operation.name in ("func.return", "scf.yield", "scf.condition"):
                return [self.tensors[v] for v in operation.operands if isinstance(v.type, ir.RankedTensorType)]
            with operation.location:
                self._operation(operation)
        return []

    def _operation(self, operation: ir.Operation) -> None:
        name = operation.name
        if name == "om.parameter":
            self.bind(operation.results[0], self.parameters[ir.StringAttr(operation.attributes["name"]).value], constant=True)
        elif name == "om.from_size":
            self._from_size(operation)
        elif name == "om.to_size":
            self._to_size(operation)
        elif name == "om.guard":
            self._guard(operation)
        elif name in CONTROL_FLOW:
            CONTROL_FLOW[name](self, operation)
        elif name == "tensor.extract":
            return  # a condition is read where it decides
        elif all(isinstance(r.type, ir.IndexType) for r in operation.results) and operation.results:
            return  # sizes are materialized where they are used
        elif name == "tensor.cast":
            self.bind(operation.results[0], self.tensors[operation.operands[0]].value)
        else:
            self._declared(operation)

    def _declared(self, operation: ir.Operation) -> None:
        op = view(operation)
        if op is None:
            raise UnsupportedOpError(str(Diagnostic(location_text(operation.location), f"no lowering for {operation.name}")))
        operands = [None if v is None else self.tensors[v] for v in op.operands]
        attributes = self.analysis.attributes_of(op)
        results = tuple(self.analysis.tensor(r) for r in operation.results)
        lowered = LOWERINGS[op.declaration](self.build, LoweredOp(op.declaration, op.declaration.named_operands(operands), attributes, results, operation))
        constant = all(x is None or x.constant for x in operands) and not op.sizes
        literal = attributes["value"] if op.declaration.opname == "constant" else None
        for old, new in zip(operation.results, lowered if isinstance(lowered, (tuple, list)) else (lowered,)):
            self.bind(old, self.build.cast_to(new, self.analysis.tensor(old)), constant, literal)

    def _from_size(self, operation: ir.Operation) -> None:
        from mlir.dialects import arith

        size = self.build.size(self.analysis.size(operation.operands[0]))
        number = arith.IndexCastOp(ir.IntegerType.get_signless(64), size).result
        self.bind(operation.results[0], tensor.FromElementsOp(ir.RankedTensorType.get([], number.type), [number]).result)

    def _to_size(self, operation: ir.Operation) -> None:
        from mlir.dialects import arith

        from ...dialect.graph import plain_symbol

        number = self.build.read(self.tensors[operation.operands[0]], [])
        index = arith.MaxSIOp(arith.IndexCastOp(self.build.index, number).result, self.build.const_index(0)).result
        symbol = plain_symbol(self.analysis.size(operation.results[0]))
        self.build.origins[symbol.name] = (index, None)

    def _guard(self, operation: ir.Operation) -> None:
        op = view(operation)
        holds = self.build.read(self.tensors[op.operands[0]], [])
        found, expected = (None if v is None else partial(self._status_word, self.tensors[v]) for v in op.operands[1:])
        self.build.check(holds, op.attributes["kind"], op.attributes["message"], found, expected)

    def _status_word(self, scalar: TensorValue) -> ir.Value:
        """A rank-0 tensor as a word of the status record: integers as they are, floats as the bits of an f64."""
        from mlir.dialects import arith

        value, i64 = self.build.widen(self.build.read(scalar, []), scalar.dtype), ir.IntegerType.get_signless(64)
        if dtypes.is_floating(scalar.dtype):
            f64 = ir.F64Type.get()
            return arith.BitcastOp(i64, value if value.type == f64 else arith.ExtFOp(f64, value).result).result
        if value.type == i64:
            return value
        return (arith.ExtSIOp if scalar.dtype.kind == "i" else arith.ExtUIOp)(i64, value).result


class Returned:
    """A result of the function: its value, with the sizes that are declared for it, and its attributes.

    Where the function's ops tell another size than the declared one, a guard that they are equal is among them; the result is then fitted
    into the buffer that the caller hands in, which has the declared sizes.
    """

    def __init__(self, converter: Converter, result: TensorValue, attributes: ir.Attribute, block: ir.Block):
        attributes = ir.DictAttr(attributes)
        self.value, self.attributes = result.value, ir.DictAttr.get({})
        declared = list(ir.ArrayAttr(attributes[DECLARED])) if DECLARED in attributes else None
        if is_data_dependent(converter.analysis, result.type, block) if declared is None else len(declared) < result.type.rank:
            self.attributes = ir.DictAttr.get({DATA_DEPENDENT: ir.UnitAttr.get()})
        elif declared is not None:
            self._fit([s.value for s in map(ir.Attribute.maybe_downcast, declared)], result)

    def _fit(self, declared: list, result: TensorValue) -> None:
        if declared == [s if isinstance(s, int) else str(s) for s in result.shape]:
            return
        shape = [s if isinstance(s, int) else ir.ShapedType.get_dynamic_size() for s in declared]
        type = ir.RankedTensorType.get(shape, ir.RankedTensorType(result.value.type).element_type)
        self.value = result.value if result.value.type == type else tensor.CastOp(type, result.value).result
        self.attributes = ir.DictAttr.get({FITTED: ir.UnitAttr.get()})
