"""What LLVM is told about functions: linkage, vector width, and which pointers do not alias."""
from __future__ import annotations

from mlir import ir

from ..buffers.functions import entry_block, entry_functions, roles, symbol, walk
from ..buffers.lifetimes import VIEWS
from ..kernels.build import EXPLICIT
from ..targets import Target
from .dispatch import callee
from .outline import BODY
from .support import EXPORTED

KERNEL = "om-kernel"
"""A string attribute of functions that are written out in vectors: LLVM has little to add."""
ONCE = "prepare_entry"
"""The entry that runs once: what only it calls is compiled for size, which is quicker."""
SMALL = "minsize"
SCALAR = "scalar"
ANY = "any"  # a buffer that may be one of several


class NoAlias:
    """Positions of the lowered arguments that may be `noalias`, by function.

    Two views of one buffer may overlap; two buffers that are alive together never do, and the session promises the same of outputs
    and the arena against the inputs. Inputs may be the same memory, which is no conflict: they are only read.
    """

    def __init__(self, module: ir.Module):
        self.positions: dict[str, list[int]] = {}
        self.kernels = explicit = {
            symbol(f) for f in (op.operation for op in module.body.operations) if f.name == "func.func" and EXPLICIT in f.attributes
        }
        for function in entry_functions(module):
            kinds = roles(function)
            self._record(symbol(function), list(entry_block(function).arguments), [kind != "status" for kind in kinds])
            for call in walk(function, "func.call"):
                name = callee(call)
                if name and name.startswith(BODY) and name not in explicit:
                    roots = [root_of(v) if isinstance(v.type, ir.MemRefType) else SCALAR for v in call.operands]
                    alone = [roots.count(root) == 1 and ANY not in roots for root in roots]
                    self._record(name, list(call.operands), alone)

    def _record(self, name: str, values: list[ir.Value], alone: list[bool]) -> None:
        position, found = 0, []
        for value, single in zip(values, alone):
            if isinstance(value.type, ir.MemRefType):
                if single:
                    found.append(position + 1)
                position += 3 + 2 * ir.MemRefType(value.type).rank
            else:
                position += 1
        known = self.positions.get(name, found)
        self.positions[name] = [position for position in found if position in known]  # of all calls: equal bodies are one function

    def keep(self, kept: dict[str, list[int]]) -> None:
        """Number the arguments anew, of which only those at the positions in `kept` are left."""
        for name, positions in self.positions.items():
            number = {position: i for i, position in enumerate(kept[name])}
            self.positions[name] = [number[p] for p in positions if p in number]


def root_of(value: ir.Value):
    """The buffer that a memref is part of: an argument or an allocation, or ANY."""
    while True:
        owner = value.owner
        if isinstance(owner, ir.Block):
            return value if owner.owner.operation.name == "func.func" else ANY
        operation = owner.operation
        if operation.name == "memref.view" or operation.name in ("memref.alloc", "memref.alloca"):
            return value  # views of the arena are planned apart
        if operation.name == "builtin.unrealized_conversion_cast":
            return value
        if operation.name not in VIEWS or operation.name == "arith.select":
            return ANY
        value = operation.operands[0]


def annotate(module: ir.Module, entries: list[str], no_alias: NoAlias, target: Target) -> None:
    width = ir.ArrayAttr.get([ir.StringAttr.get("prefer-vector-width"), ir.StringAttr.get(str(target.vector_bits))])
    internal = ir.Attribute.parse("#llvm.linkage<internal>")
    defined = {ir.StringAttr(op.attributes["sym_name"]).value: op.operation for op in module.body.operations
               if op.operation.name == "llvm.func" and len(op.regions[0].blocks)}  # fmt: skip
    uses = {n: [] if n in no_alias.kernels else used_symbols(f) for n, f in defined.items()}
    repeated = _reachable(uses, [n for n in entries if n != ONCE] + list(EXPORTED))
    once = _reachable(uses, [n for n in entries if n == ONCE]) - repeated
    for name, function in defined.items():
        if name not in repeated and name not in once:
            function.erase()
            continue
        flags = ["nounwind"] + [KERNEL] * (name in no_alias.kernels) + [SMALL, "optsize"] * (name in once and not is_support(name))
        function.attributes["passthrough"] = ir.ArrayAttr.get([*map(ir.StringAttr.get, flags), width])
        if name not in entries and name not in EXPORTED:
            function.attributes["linkage"] = internal
            if "sym_visibility" in function.attributes:
                del function.attributes["sym_visibility"]
        if name.startswith(BODY) and not name.endswith("_thunk"):
            function.attributes["no_inline"] = ir.UnitAttr.get()
        if name in no_alias.positions:
            _set_no_alias(function, no_alias.positions[name])


def is_support(name: str) -> bool:
    """Whether a function is none of the model's, but of `support` or `float_state`."""
    return name.startswith(("om_", "onemlir_")) and not name.startswith(BODY)


def _reachable(uses: dict[str, list[str]], roots: list[str]) -> set[str]:
    """Names of the functions that the roots call or pass on, directly or through others."""
    found, waiting = set(), [name for name in roots if name in uses]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [used for used in uses[name] if used in uses]
    return found


def used_symbols(function: ir.Operation) -> list[str]:
    """What a function in the LLVM dialect uses by name."""
    uses = walk(function, "llvm.call", "llvm.mlir.addressof")
    names = [callee(op) if op.name == "llvm.call" else op.attributes["global_name"].value for op in uses]
    return [name for name in names if name]


def _set_no_alias(function: ir.Operation, positions: list[int]) -> None:
    arguments = function.regions[0].blocks[0].arguments
    mark = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()})
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([mark if i in positions else ir.DictAttr.get({}) for i in range(len(arguments))])
