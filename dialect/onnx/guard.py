"""Run-time checks: ONNX has none, so they are gathered for the export's warning or error. Those of indices are not: what ONNX's runtimes make of
an index out of range is theirs to say, as it is for the ops that check theirs without a guard."""
from __future__ import annotations

from mlir import ir

from .export import Exporter, writes_upstream
from .graph import Graph


@writes_upstream("om.guard")
def write_guard(exporter: Exporter, graph: Graph, operation: ir.Operation) -> list:
    if ir.StringAttr(operation.attributes["kind"]).value == "IndexRangeError":
        return []
    message = ir.StringAttr(operation.attributes["message"]).value.partition("; found {found")[0].replace("{{", "{").replace("}}", "}")
    if message not in exporter.guards:
        exporter.guards.append(message)
    return []
