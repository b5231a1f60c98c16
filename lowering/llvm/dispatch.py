"""Calls of outlined bodies go through the runtime's `parallel_for`.

    llvm.call @om_body_0(%a, %b, %begin, %count, %grain)
->  %s = llvm.alloca ...; llvm.store {%a, %b}, %s                  llvm.func @om_body_0_thunk(%s, %begin, %end):
    llvm.call %parallel_for(%pool, @om_body_0_thunk, %s, ...)        loads %a, %b and calls @om_body_0

A call whose steps are known to be fewer than its grain stays direct.
"""
from __future__ import annotations

from mlir import ir

from ..buffers.functions import walk
from .float_state import DECLARATIONS, RESTORE, SET
from .outline import BODY
from .support import PARALLEL_FOR, POOL


def dispatch(module: ir.Module, contexts: dict[str, int]) -> None:
    """`contexts` maps the name of each entry function to the position of its context argument (lowered)."""
    with module.context, ir.Location.unknown():
        thunks: set[str] = set()
        for function in list(module.body.operations):
            name = ir.StringAttr(function.attributes["sym_name"]).value
            if name not in contexts:
                continue
            context = function.regions[0].blocks[0].arguments[contexts[name]]
            for call in walk(function.operation, "llvm.call"):
                body = callee(call)
                if body and body.startswith(BODY) and not _is_small(call):
                    _through_pool(function.operation, call, body, context)
                    thunks.add(body)
        for body in sorted(thunks):
            _thunk(module, body)


def callee(call: ir.Operation) -> str | None:
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value if "callee" in call.attributes else None


def _is_small(call: ir.Operation) -> bool:
    count, grain = (constant(v) for v in list(call.operands)[-2:])
    return count is not None and grain is not None and count <= grain


def constant(value: ir.Value) -> int | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "llvm.mlir.constant":
        return None
    attribute = owner.operation.attributes["value"]
    return ir.IntegerAttr(attribute).value if isinstance(attribute, ir.IntegerAttr) else None


def _struct(types: list[ir.Type]) -> ir.Type:
    return ir.Type.parse(f"!llvm.struct<({', '.join(str(t) for t in types)})>")


def _through_pool(function: ir.Operation, call: ir.Operation, body: str, context: ir.Value) -> None:
    *captured, _, count, grain = call.operands
    kind = _struct([v.type for v in captured])
    pointer, i64 = ir.Type.parse("!llvm.ptr"), ir.IntegerType.get_signless(64)
    create = ir.Operation.create
    with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]), call.location:
        one = create("llvm.mlir.constant", [i64], [], {"value": ir.IntegerAttr.get(i64, 1)}).results[0]
        place = create("llvm.alloca", [pointer], [one], {"elem_type": ir.TypeAttr.get(kind)}).results[0]
    with ir.InsertionPoint(call), call.location:
        packed = create("llvm.mlir.poison", [kind]).results[0]
        for position, value in enumerate(captured):
            packed = create("llvm.insertvalue", [kind], [packed, value], {"position": ir.DenseI64ArrayAttr.get([position])}).results[0]
        create("llvm.store", [], [packed, place])
        target = create("llvm.mlir.addressof", [pointer], [], {"global_name": ir.FlatSymbolRefAttr.get(f"{body}_thunk")}).results[0]
        parallel_for, pool = load_word(context, PARALLEL_FOR), load_word(context, POOL)
        call_pointer(parallel_for, [pool, target, place, count, grain])
    call.erase()


def load_word(base: ir.Value, index: int, type: ir.Type | None = None) -> ir.Value:
    """Word `index` of an array of 64-bit words, a pointer unless said otherwise."""
    pointer = ir.Type.parse("!llvm.ptr")
    i64 = ir.TypeAttr.get(ir.IntegerType.get_signless(64))
    at = ir.Operation.create("llvm.getelementptr", [pointer], [base], {
        "rawConstantIndices": ir.DenseI32ArrayAttr.get([index]), "elem_type": i64, "noWrapFlags": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 0),
    }).results[0]  # fmt: skip
    return ir.Operation.create("llvm.load", [type or pointer], [at]).results[0]


def call_pointer(function: ir.Value, operands: list[ir.Value]) -> None:
    ir.Operation.create("llvm.call", [], [function, *operands], {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1 + len(operands), 0]), "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
    })  # fmt: skip


def _thunk(module: ir.Module, body: str) -> None:
    target = next(op for op in module.body.operations if ir.StringAttr(op.attributes["sym_name"]).value == body)
    types = [argument.type for argument in target.regions[0].blocks[0].arguments]
    kind = _struct(types[:-3])
    lines = [f"%v{i} = llvm.extractvalue %s[{i}] : {kind}" for i in range(len(types) - 3)]
    values = ", ".join([f"%v{i}" for i in range(len(types) - 3)] + ["%begin", "%end", "%grain"])
    signature = ", ".join(str(t) for t in types)
    text = f"""
llvm.func @{body}({signature})
{DECLARATIONS}
llvm.func internal @{body}_thunk(%context: !llvm.ptr, %begin: i64, %end: i64) {{
  %grain = llvm.mlir.constant(1 : i64) : i64
  %s = llvm.load %context : !llvm.ptr -> {kind}
  {chr(10).join(lines)}
  %state = llvm.call @{SET}() : () -> i64
  llvm.call @{body}({values}) : ({signature}) -> ()
  llvm.call @{RESTORE}(%state) : (i64) -> ()
  llvm.return
}}"""
    parsed = ir.Module.parse(text, module.context)
    with ir.InsertionPoint(module.body):
        parsed.body.operations[len(parsed.body.operations) - 1].operation.clone()
