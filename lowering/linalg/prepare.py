"""`om-split-prepare`: what depends on weights alone moves from @main to @prepare, which runs once when a session is made.

@prepare takes the parameters it needs and the status cell; each of its results becomes a parameter of @main, named "@prepare.0" and so on.
Parameters that @main does not use any more are no longer its arguments.
"""
from __future__ import annotations

from mlir import ir
from mlir.dialects import func

from ...dialect.program import entry_function

PREPARED = "@prepare."  # an argument of @main with this name is a result of @prepare, not a weight
MOVABLE = ("linalg.generic", "tensor.empty", "tensor.collapse_shape", "tensor.expand_shape", "tensor.cast", "tensor.extract_slice",
           "tensor.insert_slice", "tensor.pad")


def split_prepare(module: ir.Module) -> None:
    """Split @main of a module at the linalg stage; leaves it alone when nothing depends on weights only."""
    with module.context, ir.Location.unknown():
        function = entry_function(module)
        Split(module, function).run()


class Split:
    def __init__(self, module: ir.Module, function: ir.Operation):
        self.module, self.function = module, function
        self.block = function.regions[0].blocks[0]
        self.roles = [ir.DictAttr(a) for a in ir.ArrayAttr(function.attributes["arg_attrs"])]
        self.parameters = [a for a, r in zip(self.block.arguments, self.roles) if ir.StringAttr(r["om.role"]).value == "parameter"]

    def run(self) -> None:
        moved = self.constant_operations()
        results = self.frontier(moved)
        if not results:
            return
        self.make_prepare(moved, results)
        self.erase_moved(moved)
        self.drop_unused_parameters()

    def constant_operations(self) -> list[ir.Operation]:
        """Ops whose operands, and what their bodies read, are parameters, constants, or results of such ops."""
        known = set(self.parameters)
        moved = []
        for operation in self.block.operations:
            operation = operation.operation
            if operation.name == "arith.constant":
                known.update(operation.results)
            elif operation.name in MOVABLE and all(v in known for v in _reads(operation)):
                known.update(operation.results)
                moved.append(operation)
        return moved

    def frontier(self, moved: list[ir.Operation]) -> list[ir.Value]:
        """Results of moved ops that the rest of @main needs: those computed from a parameter, not merely allocated."""
        inside = set()
        for operation in moved:
            inside.update(operation.results)
        needed = []
        for operation in moved:
            if operation.name != "tensor.empty" and _from_parameter(operation, self.parameters, inside):
                needed += [r for r in operation.results if any(not _within(use.owner, moved) for use in r.uses)]
        return needed

    def make_prepare(self, moved: list[ir.Operation], results: list[ir.Value]) -> None:
        """@prepare with copies of the moved ops; the results of @main's are replaced by new arguments."""
        status_type = ir.MemRefType.get([4], ir.IntegerType.get_signless(64))
        with ir.InsertionPoint(self.function):
            prepare = func.FuncOp("prepare", ir.FunctionType.get([p.type for p in self.parameters] + [status_type], [r.type for r in results]))
        entry = prepare.add_entry_block()
        parameter_roles = [r for r in self.roles if ir.StringAttr(r["om.role"]).value == "parameter"]
        prepare.operation.attributes["arg_attrs"] = ir.ArrayAttr.get(parameter_roles + [ir.DictAttr.get({"om.role": ir.StringAttr.get("status")})])
        mapping, chosen = dict(zip(self.parameters, entry.arguments)), set(moved)
        with ir.InsertionPoint(entry):
            for operation in self.block.operations:
                operation = operation.operation
                if operation.name == "arith.constant" or operation in chosen:
                    copy = operation.clone()
                    _remap(copy.operation, mapping)
                    mapping.update(zip(operation.results, copy.operation.results))
            func.ReturnOp([mapping[r] for r in results])
        self._new_arguments(results)

    def _new_arguments(self, results: list[ir.Value]) -> None:
        """Parameters named after @prepare, after all other arguments, in place of the results."""
        for number, result in enumerate(results):
            result.replace_all_uses_with(self.block.add_argument(result.type, result.owner.operation.location))
            self.roles.append(ir.DictAttr.get({"om.role": ir.StringAttr.get("parameter"), "om.name": ir.StringAttr.get(f"{PREPARED}{number}")}))

    def erase_moved(self, moved: list[ir.Operation]) -> None:
        for operation in reversed(moved):
            if not any(list(r.uses) for r in operation.results):
                operation.erase()

    def drop_unused_parameters(self) -> None:
        kept_roles = []
        for number in reversed(range(len(self.roles))):
            argument = self.block.arguments[number]
            if ir.StringAttr(self.roles[number]["om.role"]).value == "parameter" and not list(argument.uses):
                self.block.erase_argument(number)
            else:
                kept_roles.insert(0, self.roles[number])
        types = [a.type for a in self.block.arguments]
        old = ir.FunctionType(ir.TypeAttr(self.function.attributes["function_type"]).value)
        self.function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, old.results))
        self.function.attributes["arg_attrs"] = ir.ArrayAttr.get(kept_roles)


def _reads(operation: ir.Operation) -> list[ir.Value]:
    """Operands of an op, and values from outside that its regions use."""
    values = list(operation.operands)
    for region in operation.regions:
        for block in region.blocks:
            inside = set(block.arguments)
            for nested in block.operations:
                values += [v for v in _reads(nested.operation) if v not in inside]
                inside.update(nested.results)
    return values


def _from_parameter(operation: ir.Operation, parameters, inside) -> bool:
    return any(v in inside and not _is_empty(v) or v in parameters for v in _reads(operation))


def _is_empty(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == "tensor.empty"


def _within(operation, moved: list[ir.Operation]) -> bool:
    """Whether an op is one of the moved ones, or nested in one."""
    current = operation.operation
    while current is not None and current.name != "func.func":
        if any(current == m for m in moved):
            return True
        current = current.parent.operation if current.parent is not None else None
    return False


def _remap(operation: ir.Operation, mapping) -> None:
    """Replace operands by their copies, in the op and in its regions."""
    for number, value in enumerate(operation.operands):
        if value in mapping:
            operation.operands[number] = mapping[value]
    for region in operation.regions:
        for block in region.blocks:
            for nested in block.operations:
                _remap(nested.operation, mapping)
