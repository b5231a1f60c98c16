"""Run-time checks: ONNX has none, so they are gathered for the export's warning or error."""
from __future__ import annotations

from mlir import ir

from .export import Exporter, writes_upstream
from .graph import Graph


@writes_upstream("om.guard")
def write_guard(exporter: Exporter, graph: Graph, operation: ir.Operation) -> list:
    message = ir.StringAttr(operation.attributes["message"]).value.partition("; found {found")[0].replace("{{", "{").replace("}}", "}")
    if message not in exporter.guards:
        exporter.guards.append(message)
    return []
